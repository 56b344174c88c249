/* SPDX-License-Identifier: Apache-2.0
 * vt_builder.h - the interface through which decompositions, gradients and initialisers write nodes
 * without knowing the graph. A failure is sticky: after the first one every call returns
 * VT_NO_VALUE and does nothing, and the owner of the builder reports it once. */
#ifndef VT_BUILDER_H
#define VT_BUILDER_H
#include "vt_op.h"

#define VT_NO_VALUE UINT32_MAX

struct vt_builder {
  void *self;
  vt_dims *dims;
  /* Appends a node and returns the id of its first result; further results have the next ids.
   * `attrs` is copied; NULL means the defaults of the op's attributes. */
  uint32_t (*node)(vt_builder *b, uint32_t op, const uint32_t *in, uint32_t n_in,
                   const void *attrs);
  /* The type of a value, valid until the next node is added; NULL for VT_NO_VALUE. */
  const vt_type *(*type)(const vt_builder *b, uint32_t value);
  /* If a value is the result of a transpose, returns the transposed value and sets *out_perm; else
   * returns VT_NO_VALUE. NULL in a builder that does not keep its nodes. */
  uint32_t (*untransposed)(const vt_builder *b, uint32_t value, vt_attr_list *out_perm);
  /* Opens a body for the next node, whose op has bodies, and returns the builder that writes it. In
   * that builder the values 0 .. n - 1 are the arguments of the body, of types in[0 .. n-1]. NULL
   * after a failure. */
  vt_builder *(*open)(vt_builder *b, const vt_type *in, uint32_t n);
  /* Ends the body; `out` lists the values that it returns. */
  void (*close)(vt_builder *body, const uint32_t *out, uint32_t n);
};

/* Append a node that has one result, default attributes and one, two or three operands. */
uint32_t vt_build1(vt_builder *b, uint32_t op, uint32_t x);
uint32_t vt_build2(vt_builder *b, uint32_t op, uint32_t x, uint32_t y);
uint32_t vt_build3(vt_builder *b, uint32_t op, uint32_t x, uint32_t y, uint32_t z);
/* Append a scalar literal of `dtype`: the number x, rounded once, or a bit pattern. */
uint32_t vt_build_number(vt_builder *b, uint32_t dtype, double x);
uint32_t vt_build_int(vt_builder *b, uint32_t dtype, int64_t x);
uint32_t vt_build_bits(vt_builder *b, uint32_t dtype, uint64_t bits);
/* Appends the reduction `op` of x over one axis. If `keep`, the axis stays, with length 1. */
uint32_t vt_build_reduce(vt_builder *b, uint32_t op, uint32_t x, uint32_t axis, int keep);
uint32_t vt_build_reshape(vt_builder *b, uint32_t x, uint32_t rank, const int64_t *dim);
uint32_t vt_build_broadcast(vt_builder *b, uint32_t x, uint32_t rank, const int64_t *dim);
/* Appends the gradient of a broadcast of x, given `dy`, that of its result: dy summed over the axes
 * along which x was repeated, merged into one axis in row-major order, in the shape of x. An axis
 * of length 1 in both was not repeated. */
uint32_t vt_build_sum_to(vt_builder *b, uint32_t dy, uint32_t x);
/* Appends `value` as a scalar literal of the dtype of x. */
uint32_t vt_build_scalar_of_same_dtype(vt_builder *b, uint32_t x, double value);
uint32_t vt_build_cast(vt_builder *b, uint32_t x, uint32_t dtype);
#endif
