/* SPDX-License-Identifier: Apache-2.0
 * op_move.h - helpers that the movement families share (op_move, op_arrange, op_index,
 * op_scatter*, op_sort, op_random): copies between views, checks of indices, ranking, and short
 * ways to write the nodes of their decompositions and gradients. Private to src/op. The one
 * order is the total order of numbers: -0 < +0, and NaN is the greatest. */
#ifndef VT_OP_MOVE_H
#define VT_OP_MOVE_H
#include "op_rows.h"

/* ---- views ---- */

/* Copies src into dst, dst[i] = src[i] over the shape of dst; an axis of src may have length 1 or
 * stride 0 and is then repeated. */
void vt_view_copy(const vt_view *dst, const vt_view *src);
/* The view of `length` elements of v along `axis`, starting at `offset`. */
vt_view vt_view_slice(const vt_view *v, uint32_t axis, int64_t offset, int64_t length);
/* The view of v with only the axes whose bit is set in `mask`, in their order. */
vt_view vt_view_pick_axes(const vt_view *v, unsigned mask);

/* ---- rules and indices ---- */

/* Resolves an axis, which if negative counts from the end: returns 1 and the axis as 0 .. rank-1,
 * or 0 if it does not exist. */
int vt_axis_resolve(int64_t axis, int64_t rank, uint32_t *out);
/* Checks that every element of operand 1 is in 0 .. limit-1; VT_RANGE with the first one in
 * row-major order that is not. */
vt_status vt_check_indices(vt_kernel *k, int64_t limit);
/* The same check for an index of coordinates: element j of its last axis is an index into axis
 * batch + j of operand 0. */
vt_status vt_check_coordinates(vt_kernel *k, uint32_t batch);

/* ---- ranking ---- */

/* Whether number i ranks before number j: a strict order of the numbers 0 .. n-1, of which no two
 * are equal. */
typedef int vt_before_fn(const void *context, int64_t i, int64_t j);
/* Writes those k of the numbers 0 .. n-1 that rank first to at[0], at[stride], ..., in the order of
 * `before`. */
void vt_rank_best(vt_before_fn *before, const void *context, int64_t n, int64_t *at, int64_t stride,
                  int64_t k);
/* Whether the element of x at offset p is above the one at offset q in the one order (NaN highest,
 * -0 < +0). An offset is the distance from x->data in elements, with the strides multiplied in. */
int vt_view_is_above(const vt_view *x, int64_t p, int64_t q);

/* ---- nodes ---- */

/* Reads the type of value x into *out; returns 0 if an earlier node failed. */
int vt_build_read_type(const vt_builder *b, uint32_t x, vt_type *out);
/* The product of n dimensions; INT64_MAX if it overflows, which the next node that gets it as a
 * dimension refuses. */
int64_t vt_count_elements(const int64_t *dim, uint32_t n);
uint32_t vt_build_transpose(vt_builder *b, uint32_t x, const uint32_t *perm, uint32_t rank);
/* Writes the slice of the elements from .. to-1 of x along one axis. */
uint32_t vt_build_slice(vt_builder *b, uint32_t x, uint32_t axis, int64_t from, int64_t to);
/* Writes a tensor of `dtype` with the shape of `like`, all of whose elements are `value`. */
uint32_t vt_build_full(vt_builder *b, uint32_t dtype, double value, const vt_type *like);
/* Writes the i64 numbers 0 .. length-1 along `axis` of a tensor of `rank` axes; the other axes have
 * length 1. */
uint32_t vt_build_iota(vt_builder *b, uint32_t rank, uint32_t axis, int64_t length);
/* Writes an i64 tensor with the shape of `like`, each element of which is its own row-major
 * position. */
uint32_t vt_build_row_major_positions(vt_builder *b, const vt_type *like);
/* Writes the index as i64. An element outside 0 .. limit-1 is an index fault when the program runs,
 * which names the position of the element. */
uint32_t vt_build_checked_index(vt_builder *b, uint32_t index, int64_t limit);
/* Writes, in the shape of `index`, the row-major positions of the elements that gather_elements
 * reads from a tensor of type `x`. */
uint32_t vt_build_gather_elements_positions(vt_builder *b, const vt_type *x, uint32_t index,
                                            uint32_t axis);
#endif
