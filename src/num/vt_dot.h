/* SPDX-License-Identifier: Apache-2.0
 * vt_dot.h - private to this room: the kernels that depend on the kind of fused multiply-add.
 * dot.inc is compiled twice, with the fma in software (dot_soft.c) and with the processor's
 * (dot_fma.c); dot.c and fma.c pick the table that runs here. Both tables give the same bits. */
#ifndef VT_DOT_H
#define VT_DOT_H
#include <stdint.h>

/* The order fma256: chains of 256 products, added in groups of 8. The levels of groups suffice for
 * every n: 2^63 products are 2^55 blocks, and 8^20 = 2^60 of them would be needed to overflow. */
enum { VT_DOT_BLOCK = 256, VT_DOT_GROUP = 8, VT_DOT_LEVELS = 20 };

/* When the table may be called. */
enum { VT_FMA_NEVER, VT_FMA_IF_CPU_SAYS, VT_FMA_ALWAYS };

typedef struct vt_dot_kernels {
  int usable; /* data and not a function: asking must not run an instruction of that object */
  float (*fma_f32)(float a, float b, float c);
  double (*fma_f64)(double a, double b, double c);
  float (*dot_f32)(const float *a, int64_t sa, const float *b, int64_t sb, const uint8_t *present,
                   int64_t sp, int64_t n);
  double (*dot_f64)(const double *a, int64_t sa, const double *b, int64_t sb,
                    const uint8_t *present, int64_t sp, int64_t n);
  void (*row_f32)(float *y, int64_t sy, const float *a, int64_t sa, const float *b, int64_t sbk,
                  int64_t sbj, const uint8_t *present, int64_t sp, int64_t n, int64_t m);
  void (*row_f64)(double *y, int64_t sy, const double *a, int64_t sa, const double *b, int64_t sbk,
                  int64_t sbj, const uint8_t *present, int64_t sp, int64_t n, int64_t m);
} vt_dot_kernels;

extern const vt_dot_kernels vt_dot_soft, vt_dot_fma;

/* The fastest table that this processor can run. */
const vt_dot_kernels *vt_dot_kernels_here(void);
#endif
