/* SPDX-License-Identifier: Apache-2.0
 * dot.c - the public functions of the contraction D, a sum of products in the order of dot.inc.
 * They choose a table of kernels; the choice affects the speed only, because both tables give the
 * same bits. sa, sb, sbk (along k), sbj (between columns), sp and sy are strides in elements; a k
 * whose `present` is 0 is left out. */
#include "vt_cpu.h"
#include "vt_dot.h"
#include "vt_num.h"

const vt_dot_kernels *vt_dot_best_kernels(void) {
  if (vt_dot_fma.usable == VT_FMA_ALWAYS) return &vt_dot_fma;
  if (vt_dot_fma.usable == VT_FMA_NEVER) return &vt_dot_soft;
  const vt_cpu *cpu = vt_cpu_get();
  return cpu->fma && cpu->avx2 ? &vt_dot_fma : &vt_dot_soft;
}

float vt_dot_f32(const float *a, int64_t sa, const float *b, int64_t sb, const uint8_t *present,
                 int64_t sp, int64_t n) {
  return vt_dot_best_kernels()->dot_f32(a, sa, b, sb, present, sp, n);
}

double vt_dot_f64(const double *a, int64_t sa, const double *b, int64_t sb, const uint8_t *present,
                  int64_t sp, int64_t n) {
  return vt_dot_best_kernels()->dot_f64(a, sa, b, sb, present, sp, n);
}

void vt_dot_row_f32(float *y, int64_t sy, const float *a, int64_t sa, const float *b, int64_t sbk,
                    int64_t sbj, const uint8_t *present, int64_t sp, int64_t n, int64_t m) {
  vt_dot_best_kernels()->row_f32(y, sy, a, sa, b, sbk, sbj, present, sp, n, m);
}

void vt_dot_row_f64(double *y, int64_t sy, const double *a, int64_t sa, const double *b,
                    int64_t sbk, int64_t sbj, const uint8_t *present, int64_t sp, int64_t n,
                    int64_t m) {
  vt_dot_best_kernels()->row_f64(y, sy, a, sa, b, sbk, sbj, present, sp, n, m);
}
