/* SPDX-License-Identifier: Apache-2.0
 * build.c - short ways to write nodes through a vt_builder. Each function returns the id of the
 * first result of the node that it writes. */
#include <string.h>
#include "vt_builder.h"
#include "vt_num.h"

uint32_t vt_build1(vt_builder *b, uint32_t op, uint32_t x) { return b->node(b, op, &x, 1, NULL); }

uint32_t vt_build2(vt_builder *b, uint32_t op, uint32_t x, uint32_t y) {
  const uint32_t in[2] = {x, y};
  return b->node(b, op, in, 2, NULL);
}

uint32_t vt_build3(vt_builder *b, uint32_t op, uint32_t x, uint32_t y, uint32_t z) {
  const uint32_t in[3] = {x, y, z};
  return b->node(b, op, in, 3, NULL);
}

uint32_t vt_build_bits(vt_builder *b, uint32_t dtype, uint64_t bits) {
  const vt_attr_literal a = {.size = sizeof a, .dtype = dtype, .bits = bits};
  return b->node(b, VT_OP_literal, NULL, 0, &a);
}

/* Writes a scalar literal of `dtype`. *value has the type `value_dtype` and is cast to `dtype`, the
 * only rounding; the bits of the result are zero-extended to u64. */
static uint32_t build_literal_from(vt_builder *b, uint32_t dtype, const void *value,
                                   uint32_t value_dtype) {
  uint64_t bits = 0;
  vt_cast(value, 1, value_dtype, &bits, 1, dtype, 1);
  return vt_build_bits(b, dtype, bits);
}

uint32_t vt_build_number(vt_builder *b, uint32_t dtype, double x) {
  return build_literal_from(b, dtype, &x, VT_DTYPE_F64);
}

uint32_t vt_build_int(vt_builder *b, uint32_t dtype, int64_t x) {
  return build_literal_from(b, dtype, &x, VT_DTYPE_I64);
}

uint32_t vt_build_reduce(vt_builder *b, uint32_t op, uint32_t x, uint32_t axis, int keep) {
  const vt_attr_reduce a = {.size = sizeof a, .axes = {.n = 1, .v = {axis}}, .keep = keep};
  return b->node(b, op, &x, 1, &a);
}

static uint32_t build_node_with_shape(vt_builder *b, uint32_t op, uint32_t x, uint32_t rank,
                                      const int64_t *dim) {
  vt_attr_shape a = {.size = sizeof a, .shape = {.n = rank}};
  if (rank > 0) memcpy(a.shape.v, dim, rank * sizeof *dim); /* `dim` of a scalar may be NULL */
  return b->node(b, op, &x, 1, &a);
}

uint32_t vt_build_reshape(vt_builder *b, uint32_t x, uint32_t rank, const int64_t *dim) {
  return build_node_with_shape(b, VT_OP_reshape, x, rank, dim);
}

uint32_t vt_build_broadcast(vt_builder *b, uint32_t x, uint32_t rank, const int64_t *dim) {
  return build_node_with_shape(b, VT_OP_broadcast, x, rank, dim);
}

uint32_t vt_build_cast(vt_builder *b, uint32_t x, uint32_t dtype) {
  const vt_attr_cast a = {.size = sizeof a, .dtype = dtype};
  return b->node(b, VT_OP_cast, &x, 1, &a);
}

uint32_t vt_build_scalar_of_same_dtype(vt_builder *b, uint32_t x, double value) {
  const vt_type *t = b->type(b, x);
  return t == NULL ? VT_NO_VALUE : vt_build_number(b, t->dtype, value);
}

uint32_t vt_build_sum_to(vt_builder *b, uint32_t dy, uint32_t x) {
  const vt_type *t = b->type(b, x), *s = b->type(b, dy);
  if (t == NULL || s == NULL) return VT_NO_VALUE;
  const vt_type to = *t, from = *s;
  vt_attr_reduce a = {.size = sizeof a};
  const uint32_t lead = from.rank - to.rank;
  for (uint32_t i = 0; i < from.rank; i++)
    if (i < lead ? from.dim[i] != 1 : to.dim[i - lead] != from.dim[i]) a.axes.v[a.axes.n++] = i;
  if (a.axes.n > 0) dy = b->node(b, VT_OP_sum, &dy, 1, &a);
  return from.rank == to.rank && a.axes.n == 0 ? dy : vt_build_reshape(b, dy, to.rank, to.dim);
}
