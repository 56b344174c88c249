/* SPDX-License-Identifier: Apache-2.0
 * build_move.c - short ways to write the nodes of movement: slices, iotas, checked indices. Each
 * function whose name starts with vt_build returns the id of the result of the node that it
 * writes; vt_build_read_type only reads the type of a value. */
#include <string.h>
#include "op_move.h"

int vt_build_read_type(const vt_builder *b, uint32_t x, vt_type *out) {
  const vt_type *t = b->type(b, x);
  if (t != NULL) *out = *t;
  return t != NULL;
}

int64_t vt_count_elements(const int64_t *dim, uint32_t n) {
  int64_t count = 1;
  for (uint32_t i = 0; i < n; i++)
    if (!vt_i64_mul(count, dim[i], &count)) return INT64_MAX;
  return count;
}

uint32_t vt_build_transpose(vt_builder *b, uint32_t x, const uint32_t *perm, uint32_t rank) {
  vt_attr_perm a = {.size = sizeof a, .perm = {.n = rank}};
  int same = 1;
  for (uint32_t i = 0; i < rank; i++) {
    a.perm.v[i] = perm[i];
    same &= perm[i] == i;
  }
  return same ? x : b->node(b, VT_OP_transpose, &x, 1, &a);
}

uint32_t vt_build_slice(vt_builder *b, uint32_t x, uint32_t axis, int64_t from, int64_t to) {
  vt_attr_slice a = {.size = sizeof a};
  vt_type t;
  if (!vt_build_read_type(b, x, &t)) return VT_NO_VALUE;
  a.start.n = a.stop.n = t.rank;
  memcpy(a.stop.v, t.dim, sizeof a.stop.v);
  a.start.v[axis] = from;
  a.stop.v[axis] = to;
  return b->node(b, VT_OP_slice, &x, 1, &a);
}

uint32_t vt_build_full(vt_builder *b, uint32_t dtype, double value, const vt_type *like) {
  return vt_build_broadcast(b, vt_build_number(b, dtype, value), like->rank, like->dim);
}

uint32_t vt_build_iota(vt_builder *b, uint32_t rank, uint32_t axis, int64_t length) {
  vt_attr_iota a = {.size = sizeof a, .shape = {.n = rank}, .axis = axis, .dtype = VT_DTYPE_I64};
  for (uint32_t i = 0; i < rank; i++) a.shape.v[i] = i == axis ? length : 1;
  return b->node(b, VT_OP_iota, NULL, 0, &a);
}

uint32_t vt_build_row_major_positions(vt_builder *b, const vt_type *like) {
  const uint32_t line = vt_build_iota(b, 1, 0, vt_count_elements(like->dim, like->rank));
  return vt_build_reshape(b, line, like->rank, like->dim);
}

/* Gathers from the numbers 0 .. limit-1 at `index`. The result equals the index, and the gather
 * fails if an element of the index is out of range. */
uint32_t vt_build_checked_index(vt_builder *b, uint32_t index, int64_t limit) {
  return vt_build2(b, VT_OP_gather, vt_build_iota(b, 1, 0, limit), index);
}

uint32_t vt_build_gather_elements_positions(vt_builder *b, const vt_type *x, uint32_t index,
                                            uint32_t axis) {
  vt_type t;
  if (!vt_build_read_type(b, index, &t)) return VT_NO_VALUE;
  uint32_t at = vt_build_checked_index(b, index, x->dim[axis]);
  at = vt_build2(
      b, VT_OP_mul, at,
      vt_build_int(b, VT_DTYPE_I64, vt_count_elements(x->dim + axis + 1, x->rank - axis - 1)));
  for (uint32_t i = 0; i < x->rank; i++) {
    if (i == axis || t.dim[i] == 1) continue;
    const int64_t stride = vt_count_elements(x->dim + i + 1, x->rank - i - 1);
    const uint32_t count = vt_build_iota(b, x->rank, i, t.dim[i]);
    const uint32_t off = vt_build2(b, VT_OP_mul, count, vt_build_int(b, VT_DTYPE_I64, stride));
    at = vt_build2(b, VT_OP_add, at, off);
  }
  return at;
}
