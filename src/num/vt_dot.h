/* SPDX-License-Identifier: Apache-2.0
 * vt_dot.h - private to src/num: the kernels that use a fused multiply-add. dot.inc is compiled
 * twice: with the fma in software (dot_soft.c) and with the processor's instruction (dot_fma.c).
 * dot.c and fma.c choose the table for this processor; both tables give the same bits. */
#ifndef VT_DOT_H
#define VT_DOT_H
#include <stdint.h>

/* Constants of the order fma256: a block is a chain of 256 products, and blocks are added in groups
 * of 8. The number of levels suffices for every n: 2^63 products are 2^55 blocks, and only 8^20 =
 * 2^60 blocks would overflow them. */
enum { VT_DOT_BLOCK = 256, VT_DOT_GROUP = 8, VT_DOT_LEVELS = 20 };

/* On which processors a table of kernels may be called. */
enum { VT_FMA_NEVER, VT_FMA_IF_CPU_HAS, VT_FMA_ALWAYS };

typedef struct vt_dot_kernels {
  /* One of VT_FMA_*. It is data and not a function, because a function of an object file compiled
   * for another processor could already contain an instruction that this processor lacks. */
  int usable;
  float (*fma_f32)(float a, float b, float c);
  double (*fma_f64)(double a, double b, double c);
  /* one product; see vt_dot_f32 in vt_num.h */
  float (*dot_f32)(const float *a, int64_t sa, const float *b, int64_t sb, const uint8_t *present,
                   int64_t sp, int64_t n);
  double (*dot_f64)(const double *a, int64_t sa, const double *b, int64_t sb,
                    const uint8_t *present, int64_t sp, int64_t n);
  /* a row of m products; see vt_dot_row_f32 in vt_num.h */
  void (*row_f32)(float *y, int64_t sy, const float *a, int64_t sa, const float *b, int64_t sbk,
                  int64_t sbj, const uint8_t *present, int64_t sp, int64_t n, int64_t m);
  void (*row_f64)(double *y, int64_t sy, const double *a, int64_t sa, const double *b, int64_t sbk,
                  int64_t sbj, const uint8_t *present, int64_t sp, int64_t n, int64_t m);
} vt_dot_kernels;

extern const vt_dot_kernels vt_dot_soft, vt_dot_fma;

/* Returns the fastest table that this processor can execute. */
const vt_dot_kernels *vt_dot_best_kernels(void);
#endif
