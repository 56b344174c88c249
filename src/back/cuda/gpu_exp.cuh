/* SPDX-License-Identifier: Apache-2.0
 * gpu_exp.cuh - exp of arguments that are not above 0, for kernels that compute many of them: a
 * shorter quick phase than that of num/fs_exp.inc. Each lane of a warp holds one entry of the
 * table.
 *
 * x = n*ln(2) + r, with n a multiple of 1/32 and |r| slightly above ln(2)/64 at most. 2^n = T*(1 +
 * t), with T an f32 from the table and the exponent of 2^n. ln(2) is LN2 + LN2_LO. r is computed
 * with LN2 only and is exact: a multiple of 2^-30 of at most 24 bits. With d = t - n*LN2_LO,
 *
 *   e^x = T*(1 + r) + T*(q + d*(1 + r)),   q = e^r - 1 - r,
 *
 * up to terms that the error bound covers. s = T*(1 + r) is rounded, and its rounding error is
 * computed exactly: T - s is exact, and T*r is added to it. The error bound, in units of T, with
 * half units of the rounded terms of 2^-39: the square and the polynomial 2^-38 each; the sums of
 * the low part 2^-39 thrice; the first omitted term 2^-39.5; that of d 2^-36.3; together below
 * 2^-35.1. If the two ends of the interval around the value round to different f32, the quick phase
 * does not decide and vt_ff_exp computes the result. */
#ifndef VT_GPU_EXP_CUH
#define VT_GPU_EXP_CUH
#include "gpu_lanes.cuh"
#include "vt_words_cuda.h"
#include "vt_core.h"
#include "fn_exp.inc"
#include "fn_log.inc"
#include "fn_trig.inc"
#include "fn_arc.inc"
#include "fn_erf.inc"
#include "fs_all.inc"

#define VT_EXP_LN2 0x1.62e43p-1f
#define VT_EXP_LN2_LO -0x1.05c61p-29f
#define VT_EXP_PER_LN2 0x1.715476p+0f
#define VT_EXP_MAGIC                                                                               \
  0x1.8p18f /* adding it rounds a number to a multiple of 1/32, because the unit in its last place \
               is 1/32 */
#define VT_EXP_ERROR 0x1.3p-35f
/* for x not below this, no relevant term underflows, and e^x > 2^-100 */
#define VT_EXP_LEAST -69.0f
#define VT_EXP_ZERO -104.0f /* for x below this the result is 0: e^-104 < 2^-150 */

/* Table entry for 2^(lane/32): `t` has the bits of T, less what
 * the code adds to them with the shifted n; `low` is the header's t minus the error bound. */
struct vt_exp_entry {
  uint32_t t;
  float low;
};
VT_GPU_FN vt_exp_entry vt_exp_load_entry() {
  const uint32_t lane = threadIdx.x % 32;
  const float t = fs_exp_table[4 * lane], low = fs_exp_table[4 * lane + 1];
  return vt_exp_entry{__float_as_uint(t) - (lane << 18), low / t - VT_EXP_ERROR};
}

/* Bounds of e^x: the approximation minus and plus its error bound. All lanes of a warp must call
 * vt_exp_bounds together. It has no branches, so several evaluations can overlap. */
struct vt_exp_interval {
  float low, high;
};
VT_GPU_FN vt_exp_interval vt_exp_bounds(vt_exp_entry table, float x) {
  const float shifted = __fmaf_rn(x, VT_EXP_PER_LN2, VT_EXP_MAGIC), n = shifted - VT_EXP_MAGIC;
  const uint32_t bits = __float_as_uint(shifted);
  const float t = __uint_as_float(__shfl_sync(0xffffffffu, table.t, (int)bits) + (bits << 18));
  const float d = __fmaf_rn(n, -VT_EXP_LN2_LO, __shfl_sync(0xffffffffu, table.low, (int)bits));
  const float r = __fmaf_rn(n, -VT_EXP_LN2, x), h = r * r;
  const float rest = __fmaf_rn(__fmaf_rn(1.0f / 24, r, 1.0f / 6), r, 0.5f);
  const float low = __fmaf_rn(h, rest, __fmaf_rn(r, d, d));
  const float s = __fmaf_rn(t, r, t), below = __fmaf_rn(t, low, __fmaf_rn(t, r, t - s));
  return vt_exp_interval{s + below, s + __fmaf_rn(s, 2 * VT_EXP_ERROR, below)};
}

/* Computes e^x in y for x <= 0. Returns whether y is decided; if not, the accurate phase must
 * compute it. */
VT_GPU_FN bool vt_exp_quick(vt_exp_entry table, float x, float &y) {
  const vt_exp_interval e = vt_exp_bounds(table, x);
  const bool none = x < VT_EXP_ZERO;
  y = none ? 0.0f : e.low;
  return none | ((x >= VT_EXP_LEAST) & (e.low == e.high));
}

/* Like vt_exp_quick, for x not below VT_EXP_LEAST. Returns 0 if y is decided and 1 if not: both
 * bounds are positive and equal or neighbouring floats, so their bits differ by 0 or 1. */
VT_GPU_FN uint32_t vt_exp_undecided_above_least(vt_exp_entry table, float x, float &y) {
  const vt_exp_interval e = vt_exp_bounds(table, x);
  y = e.low;
  return __float_as_uint(e.high) - __float_as_uint(e.low);
}

/* Reducer for the sum of e^(x - m), m being the maximum of a line. */
struct vt_reducer_exp : vt_reducer_sum<float> {
  VT_GPU_FN float in(float x, float m) { return vt_ff_exp(x - m); }
};
#endif
