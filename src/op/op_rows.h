/* SPDX-License-Identifier: Apache-2.0
 * op_rows.h - declares the functions that the rows of the op table name, from the rows
 * themselves, and helpers that the families of ops share. Private to src/op. A walk visits the
 * elements of several views together. */
#ifndef VT_OP_ROWS_H
#define VT_OP_ROWS_H
#include "vt_builder.h"
#include "vt_op.h"

/* This use of the table also declares `none` and `no_work`, which are never defined: where they
 * stand in a row, op.c puts NULL. */
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

/* Broadcasts the shapes of n operands as NumPy does; writes the result to out->rank and
 * out->dim. */
vt_status vt_broadcast_shapes(const vt_rule *r, const vt_type *in, uint32_t n, vt_type *out,
                              vt_diag *d);

/* ---- walks over strided tensors, for kernels ---- */

/* A walk visits the index tuples of `rank` axes in row-major order; index[] is the current tuple.
 * at[v] is the offset of its element in view v, in elements; a view can be broadcast. */
enum { VT_WALK_VIEWS = 4 };
typedef struct vt_walk {
  uint32_t rank, n_views;
  int64_t dim[VT_MAX_RANK], index[VT_MAX_RANK], count;
  int64_t stride[VT_WALK_VIEWS][VT_MAX_RANK], at[VT_WALK_VIEWS];
} vt_walk;
/* vt_walk_init starts a walk over the shape `dim`, with `count` tuples and no views; vt_walk_view
 * adds a view, broadcast to the shape; vt_walk_next goes to the next tuple. */
void vt_walk_init(vt_walk *w, uint32_t rank, const int64_t *dim);
void vt_walk_view(vt_walk *w, const vt_view *v);
void vt_walk_next(vt_walk *w);

/* The number of elements of a view. It cannot overflow, because the plan checked the dimensions. */
int64_t vt_view_count(const vt_view *v);
/* The view without axis `axis`: only its first element along that axis. The caller keeps the length
 * and stride of the axis if it needs them. */
vt_view vt_view_drop_axis(const vt_view *v, uint32_t axis);
/* Load and store an integer or bool of any width as int64_t; a store wraps to the width. */
int64_t vt_load_int(const void *data, uint32_t dtype, int64_t at);
void vt_store_int(void *data, uint32_t dtype, int64_t at, int64_t x);
#endif
