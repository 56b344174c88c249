/* SPDX-License-Identifier: Apache-2.0
 * kern_attention.h - the attention kernels of one instruction set: tiles of matrix products whose
 * operands are read in place instead of from panels (patches), and passes over one row of
 * scores. */
#ifndef VT_KERN_ATTENTION_H
#define VT_KERN_ATTENTION_H
#include <stdint.h>

/* Largest patch: rows, and vectors of columns. */
enum { VT_CPU_PATCH_ROWS = 6, VT_CPU_PATCH_VECTORS = 4 };

/* c[r, j] = (first ? +0 : c[r, j]) + the fma chain over k of a[r, k] * b[k, j]. a is contiguous
 * along k, b and c along j; the other strides are in elements. */
typedef struct vt_cpu_patch {
  const float *a, *b;
  float *c;
  int64_t a_row, b_row, c_row;
  int64_t k; /* at most 256 */
  int first;
} vt_cpu_patch;
typedef void vt_cpu_patch_fn(const vt_cpu_patch *p);

/* How products become scores, and which scores the mask hides. */
typedef struct vt_cpu_row {
  float scale;
  const float *bias; /* added to the scores; NULL: no bias */
  int64_t bias_step;
  const uint8_t *mask; /* 0 hides a key; NULL: no mask */
  int64_t mask_step;
} vt_cpu_row;

typedef struct vt_cpu_attentions {
  int64_t lanes;   /* lanes of a vector */
  int64_t columns; /* columns of the widest patch, a multiple of `lanes` */
  /* Patches by [rows - 1][vectors of columns - 1]. */
  vt_cpu_patch_fn *patch[VT_CPU_PATCH_ROWS][VT_CPU_PATCH_VECTORS];
  /* s[j] = s[j]*scale + bias[j], or -inf if the mask hides j. Returns 1 if at least one j is not
   * hidden. */
  int (*score)(float *s, int64_t n, const vt_cpu_row *r);
  /* p[j] = fma(a, b[j], p[j]) */
  void (*accumulate)(float *p, float a, const float *b, int64_t n);
  void (*divide)(float *y, const float *x, float by, int64_t n); /* y[j] = x[j] / by */
  int (*finite)(const float *x, int64_t n);                      /* 1 if all n numbers are finite */
} vt_cpu_attentions;
#endif
