/* SPDX-License-Identifier: Apache-2.0
 * vt_dim.h - symbolic dimensions: an int64_t that is a constant, or a handle to a polynomial with
 * integer coefficients in the symbols of the model (B*T + 1). Polynomials are stored in one normal
 * form and interned, so two dimensions are provably equal exactly if their int64_t are equal.
 *
 *     int64_t dim:   -2^62 .. 2^62         a constant
 *                    INT64_MIN + i         poly[i] of the vt_dims, for i < 2^31 */
#ifndef VT_DIM_H
#define VT_DIM_H
#include "vt_arena.h"
#include "vt_text.h"

enum { VT_MAX_SYMBOLS = 8, VT_MAX_TERMS = 12 };
#define VT_DIM_MAX ((int64_t)1 << 40) /* the largest constant dimension accepted anywhere */

typedef struct vt_term { /* a term: coef * the product of symbol[s]^power[s] over all symbols s */
  int64_t coef;
  uint8_t power[VT_MAX_SYMBOLS];
} vt_term;
typedef struct vt_poly { /* a polynomial: the sum of its terms, in descending order of powers, none
                            with coefficient 0 */
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
/* Copies `from` into another arena. The copy can grow independently; the handles of `from` are
 * valid in it. */
void vt_dims_copy(vt_dims *t, const vt_dims *from, vt_arena *arena);

/* Adds a symbol, whose name must be new; beyond VT_MAX_SYMBOLS it is VT_LIMIT. vt_dim_find returns
 * 0 if no symbol has the name. */
vt_status vt_dim_declare(vt_dims *t, const char *name, int64_t *out, vt_diag *d) VT_NODISCARD;
int vt_dim_find(const vt_dims *t, const char *name, int64_t *out);

/* Exact arithmetic on dimensions; VT_LIMIT if a coefficient overflows or the result has more than
 * VT_MAX_TERMS terms. */
vt_status vt_dim_add(vt_dims *t, int64_t a, int64_t b, int64_t *out, vt_diag *d) VT_NODISCARD;
vt_status vt_dim_sub(vt_dims *t, int64_t a, int64_t b, int64_t *out, vt_diag *d) VT_NODISCARD;
vt_status vt_dim_mul(vt_dims *t, int64_t a, int64_t b, int64_t *out, vt_diag *d) VT_NODISCARD;
/* a / divisor, where the divisor is a constant > 0; VT_VERIFY unless it divides every coefficient
 * of a. */
vt_status vt_dim_div(vt_dims *t, int64_t a, int64_t divisor, int64_t *out, vt_diag *d) VT_NODISCARD;

/* The value of `dim` with value[i] for symbol i; VT_BIND if it overflows. */
vt_status vt_dim_bind(const vt_dims *t, const int64_t *value, int64_t dim, int64_t *out,
                      vt_diag *d) VT_NODISCARD;
/* 1 if `dim` depends on symbol number `symbol`. */
int vt_dim_uses_symbol(const vt_dims *t, int64_t dim, uint32_t symbol);
/* Appends "B*T + 1" or "16". */
void vt_dim_print(const vt_dims *t, int64_t dim, vt_text *out);
#endif
