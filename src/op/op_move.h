/* SPDX-License-Identifier: Apache-2.0
 * op_move.h - what the families of movement (op_move, op_arrange, op_index, op_scatter*, op_sort,
 * op_random) share: copies between views, indices that are checked, ranking, and short ways to
 * write the nodes their decompositions and gradients are made of. Private to src/op. */
#ifndef VT_OP_MOVE_H
#define VT_OP_MOVE_H
#include "op_rows.h"

/* ---- views ---- */

/* dst[i] = src[i] over the shape of dst; src may have axes of length 1 or stride 0. */
void vt_view_copy(const vt_view *dst, const vt_view *src);
/* The part of `v` that starts at `offset` on `axis`. */
vt_view vt_view_part(const vt_view *v, uint32_t axis, int64_t offset, int64_t length);
/* Those axes of `v` whose bit is set in `mask`, in their order. */
vt_view vt_view_pick(const vt_view *v, unsigned mask);

/* ---- rules and indices ---- */

/* An axis counted from the end when negative; 0 when there is none such among `rank`. */
int vt_axis_resolve(int64_t axis, int64_t rank, uint32_t *out);
/* Every element of operand 1 lies in 0 .. limit-1, or VT_RANGE with the first that does not. */
vt_status vt_index_check(vt_kernel *k, int64_t limit);
/* The same for coordinates: element j along the last axis of operand 1 belongs to axis batch + j
 * of operand 0. */
vt_status vt_coordinate_check(vt_kernel *k, uint32_t batch);

/* ---- ranking ---- */

/* `before` is a strict order of the numbers 0 .. n-1 in which no two are equal. */
typedef int vt_before_fn(const void *context, int64_t i, int64_t j);
/* The first `k` of 0 .. n-1 in that order go to at[0], at[stride], ... */
void vt_rank_best(vt_before_fn *before, const void *context, int64_t n, int64_t *at, int64_t stride,
                  int64_t k);
/* 1 when element p of a tensor comes above element q in the one order. */
int vt_view_above(const vt_view *x, int64_t p, int64_t q);

/* ---- nodes ---- */

/* A copy of the type of a value; 0 after a failure. */
int vt_build_type(const vt_builder *b, uint32_t x, vt_type *out);
/* The product of dimensions, INT64_MAX where it overflows: the next node then refuses it. */
int64_t vt_count_of(const int64_t *dim, uint32_t n);
uint32_t vt_build_transpose(vt_builder *b, uint32_t x, const uint32_t *perm, uint32_t rank);
/* Elements from .. to-1 along one axis. */
uint32_t vt_build_part(vt_builder *b, uint32_t x, uint32_t axis, int64_t from, int64_t to);
/* `value` everywhere in the shape of `like`. */
uint32_t vt_build_full(vt_builder *b, uint32_t dtype, double value, const vt_type *like);
/* i64 of `rank` axes that counts along `axis`; the other axes have length 1. */
uint32_t vt_build_count(vt_builder *b, uint32_t rank, uint32_t axis, int64_t length);
/* i64 in the shape of `like` that counts its elements row-major. */
uint32_t vt_build_positions(vt_builder *b, const vt_type *like);
/* The index as i64. An element outside 0 .. limit-1 is an error of the run, with its position. */
uint32_t vt_build_checked(vt_builder *b, uint32_t index, int64_t limit);
/* Where gather_elements reads: row-major positions in a tensor of type `x`, in the shape of
 * `index`. */
uint32_t vt_build_targets(vt_builder *b, const vt_type *x, uint32_t index, uint32_t axis);
#endif
