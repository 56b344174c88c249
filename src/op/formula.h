/* SPDX-License-Identifier: Apache-2.0
 * formula.h - short names for nodes, so that decompositions and gradients read like their
 * formulas: over(b, x, y) writes x / y, at_least(b, x, bound) the maximum of both. C does not
 * fix the order in which arguments are evaluated, and nodes are numbered in the order in which
 * they are written. At most one argument of a call may therefore write nodes; then every
 * compiler writes the same graph. Private to src/op. */
#ifndef VT_FORMULA_H
#define VT_FORMULA_H
#include "vt_builder.h"

static inline uint32_t plus(vt_builder *b, uint32_t x, uint32_t y) {
  return vt_build2(b, VT_OP_add, x, y);
}
static inline uint32_t minus(vt_builder *b, uint32_t x, uint32_t y) {
  return vt_build2(b, VT_OP_sub, x, y);
}
static inline uint32_t times(vt_builder *b, uint32_t x, uint32_t y) {
  return vt_build2(b, VT_OP_mul, x, y);
}
static inline uint32_t over(vt_builder *b, uint32_t x, uint32_t y) {
  return vt_build2(b, VT_OP_div, x, y);
}
static inline uint32_t negative(vt_builder *b, uint32_t x) { return vt_build1(b, VT_OP_neg, x); }
static inline uint32_t square_root(vt_builder *b, uint32_t x) {
  return vt_build1(b, VT_OP_sqrt, x);
}

/* Operations on x and a number. The number is rounded once to the type of x; scaled_bits gets it as
 * the bits of an f32. */
static inline uint32_t scaled(vt_builder *b, uint32_t x, double by) {
  return times(b, vt_build_scalar_of_same_dtype(b, x, by), x);
}
static inline uint32_t scaled_bits(vt_builder *b, uint32_t x, uint32_t bits) {
  return times(b, x, vt_build_bits(b, VT_DTYPE_F32, bits));
}
static inline uint32_t one_plus(vt_builder *b, uint32_t x) {
  return plus(b, vt_build_scalar_of_same_dtype(b, x, 1.0), x);
}
static inline uint32_t one_minus(vt_builder *b, uint32_t x) {
  return minus(b, vt_build_scalar_of_same_dtype(b, x, 1.0), x);
}
static inline uint32_t at_least(vt_builder *b, uint32_t x, double bound) {
  return vt_build2(b, VT_OP_maximum, x, vt_build_scalar_of_same_dtype(b, x, bound));
}
static inline uint32_t at_most(vt_builder *b, uint32_t x, double bound) {
  return vt_build2(b, VT_OP_minimum, x, vt_build_scalar_of_same_dtype(b, x, bound));
}

/* Compares x with a number; `op` is eq, lt, le, gt or ge. */
static inline uint32_t compared(vt_builder *b, uint32_t op, uint32_t x, double with) {
  return vt_build2(b, op, x, vt_build_scalar_of_same_dtype(b, x, with));
}
static inline uint32_t is_positive(vt_builder *b, uint32_t x) {
  return compared(b, VT_OP_gt, x, 0.0);
}
/* Whether x is between lo and hi: lo <= x <= hi if the ops are ge and le, lo < x < hi if they are
 * gt and lt. */
static inline uint32_t within(vt_builder *b, uint32_t x, uint32_t op_lo, double lo, uint32_t op_hi,
                              double hi) {
  const uint32_t low = compared(b, op_lo, x, lo);
  return vt_build2(b, VT_OP_and, low, compared(b, op_hi, x, hi));
}

/* select_by is which ? x : y, value_or_zero which ? x : +0, zero_or_value which ? +0 : x. */
static inline uint32_t select_by(vt_builder *b, uint32_t which, uint32_t x, uint32_t y) {
  return vt_build3(b, VT_OP_select, which, x, y);
}
static inline uint32_t value_or_zero(vt_builder *b, uint32_t which, uint32_t x) {
  return select_by(b, which, x, vt_build_scalar_of_same_dtype(b, x, 0.0));
}
static inline uint32_t zero_or_value(vt_builder *b, uint32_t which, uint32_t x) {
  return select_by(b, which, vt_build_scalar_of_same_dtype(b, x, 0.0), x);
}

/* The derivatives of silu and gelu at x. The gradients of swiglu and geglu use them too. */
uint32_t vt_silu_slope(vt_builder *b, uint32_t x);
uint32_t vt_gelu_slope(vt_builder *b, uint32_t x);
#endif
