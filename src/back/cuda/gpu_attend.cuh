/* SPDX-License-Identifier: Apache-2.0
 * gpu_attend.cuh - what the attention kernels share: which keys a row attends to, scores,
 * weights, and the sums T and S. A row is one query of a head. D, S and T are the summation
 * orders of docs/numerics.md.
 *
 * A weight is never -0. So -0 marks a key that the row does not attend to: it adds nothing to S,
 * and its product with v is skipped. */
#ifndef VT_GPU_ATTEND_CUH
#define VT_GPU_ATTEND_CUH
#include "gpu_exp.cuh"
#include "gpu_attention.h"

#define ATTEND_ALL 0xffffffffu /* mask of all lanes of a warp */
#define ATTEND_ABSENT 0x80000000u

VT_GPU_FN int64_t attend_min(int64_t a, int64_t b) { return a < b ? a : b; }
VT_GPU_FN int64_t attend_max(int64_t a, int64_t b) { return a > b ? a : b; }
VT_GPU_FN int64_t attend_ceil_div(int64_t n, int64_t each) { return n / each + (n % each != 0); }

/* ---- the keys of a row ---- */

/* keys lo .. hi - 1 that lengths, causality and the window allow; the mask may exclude more. 0, 0
 * if none */
struct attend_range {
  int64_t lo, hi;
};

/* Returns the range of keys that a query of a batch attends to. A length may be any integer, so the
 * arithmetic of positions wraps, as in the op's formula. */
VT_GPU_FN attend_range attend_key_range_of(const vt_gpu_attention &a, int64_t batch,
                                           int64_t query) {
  int64_t length = a.keys;
  if (a.length != nullptr && a.long_length)
    length = ((const int64_t *)a.length)[batch * a.length_step];
  if (a.length != nullptr && !a.long_length)
    length = ((const int32_t *)a.length)[batch * a.length_step];
  const uint64_t p = (uint64_t)query + (uint64_t)length - (uint64_t)a.queries;
  const int64_t at = (int64_t)p, before = (int64_t)(p - (uint64_t)a.window);
  attend_range x = {0, attend_max(0, attend_min(a.keys, length))};
  if (a.causal && at < x.hi) x.hi = attend_max(0, at + 1);
  if (a.window > 0 && before >= 0) x.lo = before < a.keys ? before + 1 : a.keys;
  if (a.window > 0 && !a.causal)
    x.hi = attend_max(0, attend_min(x.hi, (int64_t)(p + (uint64_t)a.window)));
  if (x.lo >= x.hi) x.lo = x.hi = 0;
  return x;
}

/* Returns the address of row [batch, head, position] of an operand. */
template <class T>
VT_GPU_FN const T *attend_row(const vt_gpu_attended &x, int64_t batch, int64_t head,
                              int64_t position) {
  return (const T *)x.data + (batch * x.step[0] + head * x.step[1] + position * x.step[2]);
}

/* Returns the score of a key from d = D(q, k); `bias` has the biases of the row, or is NULL. */
VT_GPU_FN float attend_score(const vt_gpu_attention &a, float d, const float *bias, int64_t key) {
  const float s = d * a.scale;
  return bias == nullptr ? s : s + bias[key * a.bias.step[3]];
}

/* ---- weights ---- */

VT_GPU_FN float attend_absent_weight() { return __uint_as_float(ATTEND_ABSENT); }
VT_GPU_FN bool attend_is_absent_weight(float weight) {
  return __float_as_uint(weight) == ATTEND_ABSENT;
}

/* Returns the greater score; it may ignore NaN, because the exp of a NaN score is NaN whatever the
 * maximum is, and makes the sum and the row NaN. */
VT_GPU_FN float attend_max_score(float a, float b) { return max(a, b); }
VT_GPU_FN float attend_minus_infinity() { return __uint_as_float(0xff800000u); }

/* ---- sums ---- */

/* Computes the tree of S over the values s of 2*HALF neighbouring threads. Every thread gets the
 * result, because a + b equals b + a. */
template <int HALF>
VT_GPU_FN float attend_sum_lanes(float s) {
  VT_UNROLL
  for (int h = HALF; h > 0; h /= 2) s = s + __shfl_xor_sync(ATTEND_ALL, s, h);
  return s;
}
template <int HALF>
VT_GPU_FN float attend_max_lanes(float m) {
  VT_UNROLL
  for (int h = HALF; h > 0; h /= 2) m = attend_max_score(m, __shfl_xor_sync(ATTEND_ALL, m, h));
  return m;
}

/* State of a sum in the order T: the sum of a complete level is added to the level above, and the
 * level is cleared. */
struct attend_levels {
  float t[VT_ATTEND_LEVELS];
};
VT_GPU_FN void attend_levels_clear(attend_levels &x) {
  VT_UNROLL
  for (int i = 0; i < VT_ATTEND_LEVELS; i++) x.t[i] = 0.0f;
}
VT_GPU_FN void attend_levels_add(attend_levels &x, int64_t block, float block_sum) {
  int64_t n = block + 1;
  bool whole = true;
  x.t[0] = x.t[0] + block_sum;
  VT_UNROLL
  for (int i = 0; i + 1 < VT_ATTEND_LEVELS; i++) {
    whole = whole && n % VT_ATTEND_GROUP == 0;
    n /= VT_ATTEND_GROUP;
    x.t[i + 1] = whole ? x.t[i + 1] + x.t[i] : x.t[i + 1];
    x.t[i] = whole ? 0.0f : x.t[i];
  }
}
VT_GPU_FN float attend_levels_sum(const attend_levels &x) {
  float sum = x.t[0];
  VT_UNROLL
  for (int i = 1; i < VT_ATTEND_LEVELS; i++) sum = x.t[i] + sum;
  return sum;
}
#endif
