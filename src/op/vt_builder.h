/* SPDX-License-Identifier: Apache-2.0
 * vt_builder.h - how decompositions and initialisers write nodes without knowing the graph.
 * Failure is sticky: after the first one every call returns VT_NO_VALUE and does nothing, and the
 * stage that owns the builder reports it once. */
#ifndef VT_BUILDER_H
#define VT_BUILDER_H
#include "vt_op.h"

#define VT_NO_VALUE UINT32_MAX

struct vt_builder {
  void *self;
  vt_dims *dims;
  /* Appends a node and returns its value; further results follow it as value + 1, + 2, ...
   * `attrs` is copied; NULL means the group's defaults. */
  uint32_t (*node)(vt_builder *b, uint32_t op, const uint32_t *in, uint32_t n_in,
                   const void *attrs);
  /* Valid until the next node is added; NULL for VT_NO_VALUE. */
  const vt_type *(*type)(const vt_builder *b, uint32_t value);
  /* Opens a body for the next node, whose op takes bodies, and returns what writes it: the values
   * 0 .. n - 1 there are its arguments. NULL after a failure. */
  vt_builder *(*open)(vt_builder *b, const vt_type *in, uint32_t n);
  /* Ends the body with the values it gives. */
  void (*close)(vt_builder *body, const uint32_t *out, uint32_t n);
};

uint32_t vt_build1(vt_builder *b, uint32_t op, uint32_t x);
uint32_t vt_build2(vt_builder *b, uint32_t op, uint32_t x, uint32_t y);
uint32_t vt_build3(vt_builder *b, uint32_t op, uint32_t x, uint32_t y, uint32_t z);
/* A scalar literal: `x` rounded once to `dtype`. */
uint32_t vt_build_number(vt_builder *b, uint32_t dtype, double x);
uint32_t vt_build_int(vt_builder *b, uint32_t dtype, int64_t x);
uint32_t vt_build_bits(vt_builder *b, uint32_t dtype, uint64_t bits);
uint32_t vt_build_reduce(vt_builder *b, uint32_t op, uint32_t x, uint32_t axis, int keep);
uint32_t vt_build_reshape(vt_builder *b, uint32_t x, uint32_t rank, const int64_t *dim);
uint32_t vt_build_broadcast(vt_builder *b, uint32_t x, uint32_t rank, const int64_t *dim);
/* `dy` summed over the axes along which an operand like `x` was repeated, as one axis in row-major
 * order, in the shape of x: the gradient of a broadcast. An axis of 1 was not repeated. */
uint32_t vt_build_sum_to(vt_builder *b, uint32_t dy, uint32_t x);
/* A scalar of the type of `x`. */
uint32_t vt_build_like(vt_builder *b, uint32_t x, double value);
uint32_t vt_build_cast(vt_builder *b, uint32_t x, uint32_t dtype);
#endif
