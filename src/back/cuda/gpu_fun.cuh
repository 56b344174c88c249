/* SPDX-License-Identifier: Apache-2.0
 * gpu_fun.cuh - the functions of maps.def, for f32: the sources of src/num compiled for one lane
 * per thread, and the compositions of one function. Part of gpu_map.cuh. A function uses its quick
 * phase if it has one, and the accurate phase for the arguments that the quick phase does not
 * decide. That is faster on GPUs with slow f64 and no slower on others. */
#ifndef VT_GPU_FUN_CUH
#define VT_GPU_FUN_CUH
#include "vt_words_cuda.h"
#include "fn_all.inc"
#include "fs_all.inc"

#define VT_FF_FUNCTION(name, from, to, rare)              \
  VT_GPU_FN float f32_##name(float a, float b, float c) { \
    return (void)b, (void)c, vt_ff_##name(a);             \
  }
#include "ff_functions.def"
#undef VT_FF_FUNCTION

/* Defines an accurate phase as a function that is called, not inlined: it is long, and inlining
 * would copy it several times. */
#define VT_BY_CORE(name)                                   \
  VT_RARE_FN float f32_##name(float a, float b, float c) { \
    return (void)b, (void)c, vt_s_##name(a);               \
  }
VT_BY_CORE(asin)
VT_BY_CORE(acos)
VT_BY_CORE(atan)
VT_BY_CORE(asinh)
VT_BY_CORE(acosh)
VT_BY_CORE(atanh)
#undef VT_BY_CORE
VT_RARE_FN float f32_pow(float a, float b, float c) {
  (void)c;
  return vt_s_pow(a, b);
}

/* ---- compositions, as docs/ops.md has them ---- */

/* Computes (0.5*x) * (1 + y). */
VT_GPU_FN float f32_half_x_times_1_plus(float x, float y) { return (0.5f * x) * (1.0f + y); }

VT_GPU_FN float f32_silu(float a, float b, float c) { return a * f32_sigmoid(a, b, c); }
VT_GPU_FN float f32_gelu(float a, float b, float c) {
  return f32_half_x_times_1_plus(a, f32_erf(0x1.6a09e6p-1f * a, b, c)); /* 3f3504f3 */
}
VT_GPU_FN float f32_gelu_tanh(float a, float b, float c) { /* 3d372713, 3f4c422a */
  const float cubic = a + 0x1.6e4e26p-5f * ((a * a) * a);
  return f32_half_x_times_1_plus(a, f32_tanh(0x1.988454p-1f * cubic, b, c));
}
VT_GPU_FN float f32_swiglu(float a, float b, float c) { return f32_silu(a, c, c) * b; }
VT_GPU_FN float f32_geglu(float a, float b, float c) { return f32_gelu(a, c, c) * b; }
#endif
