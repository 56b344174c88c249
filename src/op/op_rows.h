/* SPDX-License-Identifier: Apache-2.0
 * op_rows.h - the functions that the rows name, declared from the rows themselves, and the few
 * helpers that the families of ops share. Private to src/op. */
#ifndef VT_OP_ROWS_H
#define VT_OP_ROWS_H
#include "vt_builder.h"
#include "vt_op.h"

/* `none` and `no_work` are declared too and never defined: the table turns them into NULL. */
#define grad(function) vt_grad_fn function;
#define flat(why)
#define VT_OP(name, no, class, lo, hi, operands, results, attrs, num, needs, form, verify, shape, \
              gradient, lower, kernel, work, help)                                                \
  vt_check_fn verify;                                                                             \
  vt_shape_fn shape;                                                                              \
  gradient vt_lower_fn lower;                                                                     \
  vt_kernel_fn kernel;                                                                            \
  vt_work_fn work;
#include "ops.def"
#undef VT_OP
#undef flat
#undef grad
#define VT_INIT(name, no, attrs, build, formula) vt_init_fn build;
#include "inits.def"
#undef VT_INIT

/* Several operands broadcast to one shape, as NumPy does; the result is in out->rank, out->dim. */
vt_status vt_broadcast_shapes(const vt_rule *r, const vt_type *in, uint32_t n, vt_type *out,
                              vt_diag *d);

/* ---- walking strided tensors in kernels ---- */

/* An odometer over `rank` axes; `at[v]` follows view v in elements. */
enum { VT_WALK_VIEWS = 4 };
typedef struct vt_walk {
  uint32_t rank, n_views;
  int64_t dim[VT_MAX_RANK], index[VT_MAX_RANK], count;
  int64_t stride[VT_WALK_VIEWS][VT_MAX_RANK], at[VT_WALK_VIEWS];
} vt_walk;
/* Walks the axes of `shape`; add views with their own axes broadcast against it, then step. */
void vt_walk_init(vt_walk *w, uint32_t rank, const int64_t *dim);
void vt_walk_view(vt_walk *w, const vt_view *v);
void vt_walk_next(vt_walk *w);

/* Number of elements; dimensions were checked when the plan was made. */
int64_t vt_view_count(const vt_view *v);
/* A view of `v` without axis `axis` (its length and stride are then the caller's business). */
vt_view vt_view_drop(const vt_view *v, uint32_t axis);
/* Integers of any width as int64_t. */
int64_t vt_load_int(const void *data, uint32_t dtype, int64_t at);
void vt_store_int(void *data, uint32_t dtype, int64_t at, int64_t x);
#endif
