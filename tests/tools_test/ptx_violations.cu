/* SPDX-License-Identifier: Apache-2.0
 * ptx_violations.cu - one kernel per operation that the numerics forbid. ptx_catch.py compiles them
 * without -fmad=false and tests that tools/check_ptx.py reports each of them. */
#define VIOLATION(name) extern "C" __global__ void name(float *x, double *d, const float *y)

VIOLATION(bad_fused_f32) { x[0] = x[1] * y[2] + x[3]; }
VIOLATION(bad_fused_f64) { d[0] = d[1] * d[2] + d[3]; }
VIOLATION(bad_power) { x[0] = exp2f(x[1]); }
VIOLATION(bad_quick_exp) { x[0] = __expf(x[1]); }
VIOLATION(bad_quick_log) { x[0] = __logf(x[1]); }
VIOLATION(bad_quick_sine) { x[0] = __sinf(x[1]); }
VIOLATION(bad_quick_cosine) { x[0] = __cosf(x[1]); }
VIOLATION(bad_quotient) { x[0] = __fdividef(x[1], x[2]); }
VIOLATION(bad_saturated) { x[0] = __saturatef(x[1]); }
VIOLATION(bad_root) { x[0] = rsqrtf(x[1]); }
VIOLATION(bad_towards_zero) { x[0] = __fmul_rz(x[1], x[2]); }
VIOLATION(bad_narrowed_up) { x[0] = __double2float_ru(d[1]); }
VIOLATION(bad_atomic_f32) { atomicAdd(x, y[0]); }
VIOLATION(bad_atomic_f64) { x[0] = (float)atomicAdd(d, d[1]); }
static __device__ __noinline__ float called(float a) { return __fmaf_rn(a, a, a); }
VIOLATION(bad_called) { x[0] = called(x[1]); }
VIOLATION(bad_matrix) {
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%4}, {%4}, "
      "{%0,%1,%2,%3};"
      : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3])
      : "r"(7));
}
