/* SPDX-License-Identifier: Apache-2.0
 * kern_attention.h - what attention has in each instruction set: tiles of products whose operands
 * lie as they are, and the passes over one row of scores. */
#ifndef VT_KERN_ATTENTION_H
#define VT_KERN_ATTENTION_H
#include <stdint.h>

enum { VT_CPU_PATCH_ROWS = 6, VT_CPU_PATCH_VECTORS = 4 };

/* c[r, j] = (first ? +0 : c[r, j]) + the chain over k of a[r, k] * b[k, j]. Neighbours along k in
 * a, and along j in b and c, lie side by side; the other strides are elements. */
typedef struct vt_cpu_patch {
  const float *a, *b;
  float *c;
  int64_t a_row, b_row, c_row;
  int64_t k; /* 256 at most */
  int first;
} vt_cpu_patch;
typedef void vt_cpu_patch_fn(const vt_cpu_patch *p);

/* Scores from products, and which of them there are. */
typedef struct vt_cpu_row {
  float scale;
  const float *bias; /* NULL: none */
  int64_t bias_step;
  const uint8_t *mask; /* NULL: none */
  int64_t mask_step;
} vt_cpu_row;

typedef struct vt_cpu_attentions {
  int64_t lanes;   /* of a vector */
  int64_t columns; /* of the widest patch, a multiple of lanes */
  /* [rows - 1][vectors of columns - 1] */
  vt_cpu_patch_fn *patch[VT_CPU_PATCH_ROWS][VT_CPU_PATCH_VECTORS];
  /* s[j] = s[j]*scale + bias[j]; -inf where the mask says no. 1 when it says yes somewhere. */
  int (*score)(float *s, int64_t n, const vt_cpu_row *r);
  /* p[j] = fma(a, b[j], p[j]) */
  void (*accumulate)(float *p, float a, const float *b, int64_t n);
  void (*divide)(float *y, const float *x, float by, int64_t n); /* y[j] = x[j] / by */
  int (*finite)(const float *x, int64_t n); /* 1 when neither infinity nor NaN is among them */
} vt_cpu_attentions;
#endif
