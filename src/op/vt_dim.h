/* SPDX-License-Identifier: Apache-2.0
 * vt_dim.h - dimensions that may be known later.
 * A dimension is an int64_t: a constant, or a handle to a polynomial with integer coefficients in
 * the model's symbols (B*T + 1). Polynomials are kept in one normal form and interned, so two
 * dimensions are provably equal exactly when their int64_t are equal. */
#ifndef VT_DIM_H
#define VT_DIM_H
#include "vt_arena.h"
#include "vt_text.h"

enum { VT_MAX_SYMBOLS = 8, VT_MAX_TERMS = 12 };
#define VT_DIM_MAX ((int64_t)1 << 40) /* the largest constant dimension accepted anywhere */

typedef struct vt_term {
  int64_t coef;
  uint8_t power[VT_MAX_SYMBOLS];
} vt_term;
typedef struct vt_poly { /* terms in descending order of powers, no zero coefficient */
  uint32_t n;
  vt_term term[VT_MAX_TERMS];
} vt_poly;
typedef struct vt_dims {
  vt_arena *arena;
  uint32_t n_symbols, n_polys, cap_polys;
  const char *symbol[VT_MAX_SYMBOLS];
  vt_poly *poly;
} vt_dims;

static inline int vt_dim_is_symbolic(int64_t d) { return d < INT64_MIN + ((int64_t)1 << 31); }

void vt_dims_init(vt_dims *t, vt_arena *arena);
/* A copy that can grow on its own, in another arena; handles stay valid in it. */
void vt_dims_copy(vt_dims *t, const vt_dims *from, vt_arena *arena);

/* Declares a symbol (once; too many is VT_LIMIT) or finds it (0: not there). */
vt_status vt_dim_declare(vt_dims *t, const char *name, int64_t *out, vt_diag *d) VT_NODISCARD;
int vt_dim_find(const vt_dims *t, const char *name, int64_t *out);

/* Exact arithmetic; overflow or too many terms is VT_LIMIT. */
vt_status vt_dim_add(vt_dims *t, int64_t a, int64_t b, int64_t *out, vt_diag *d) VT_NODISCARD;
vt_status vt_dim_sub(vt_dims *t, int64_t a, int64_t b, int64_t *out, vt_diag *d) VT_NODISCARD;
vt_status vt_dim_mul(vt_dims *t, int64_t a, int64_t b, int64_t *out, vt_diag *d) VT_NODISCARD;
/* a / b where b divides every coefficient; VT_VERIFY where it does not. b is a constant > 0. */
vt_status vt_dim_div(vt_dims *t, int64_t a, int64_t b, int64_t *out, vt_diag *d) VT_NODISCARD;

/* The value under value[i] for symbol i. */
vt_status vt_dim_bind(const vt_dims *t, const int64_t *value, int64_t dim, int64_t *out,
                      vt_diag *d) VT_NODISCARD;
/* "B*T + 1", "16" */
void vt_dim_print(const vt_dims *t, int64_t dim, vt_text *out);
#endif
