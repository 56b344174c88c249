/* SPDX-License-Identifier: Apache-2.0
 * cuda_walk.c - builds walks: merges the axes of a shape as far as all operands allow. */
#include "cuda_walk.h"
#include <string.h>

/* Returns the stride of a view along an axis of a walk of `rank` axes; leading axes that the view
 * lacks have stride 0. */
static int64_t broadcast_stride(const vt_view *v, uint32_t rank, uint32_t axis) {
  const uint32_t missing = rank - v->rank;
  if (axis < missing || v->dim[axis - missing] == 1) return 0;
  return v->stride[axis - missing];
}

static int axis_merges_with_last(const vt_gpu_fused_walk *w, const int64_t *stride, uint32_t n,
                                 int64_t dim) {
  int all = w->rank > 0;
  for (uint32_t k = 0; all && k < n; k++) all = w->stride[k][w->rank - 1] == stride[k] * dim;
  return all;
}

static void add_or_merge_axis(vt_gpu_fused_walk *w, const int64_t *stride, uint32_t n,
                              int64_t dim) {
  if (dim == 1) return;
  if (axis_merges_with_last(w, stride, n, dim)) {
    w->dim[w->rank - 1] *= dim;
  } else {
    w->dim[w->rank++] = dim;
  }
  for (uint32_t k = 0; k < n; k++) w->stride[k][w->rank - 1] = stride[k];
}

static int offsets_fit_31_bits(const vt_gpu_fused_walk *w, uint32_t n) {
  int64_t far = w->n;
  for (uint32_t k = 0; k < n; k++) {
    int64_t reach = 0;
    for (uint32_t i = 0; i < w->rank; i++) {
      const int64_t s = w->stride[k][i] < 0 ? -w->stride[k][i] : w->stride[k][i];
      reach += (w->dim[i] - 1) * s;
    }
    if (reach > far) far = reach;
  }
  return far < INT32_MAX;
}

void vt_cuda_fused_walk(const vt_view *const *v, uint32_t n, vt_gpu_fused_walk *w) {
  const uint32_t rank = v[0]->rank;
  memset(w, 0, sizeof *w);
  w->n = 1;
  for (uint32_t i = 0; i < rank; i++) w->n *= v[0]->dim[i];
  for (uint32_t i = 0; w->n > 0 && i < rank; i++) {
    int64_t stride[VT_FUSED_OPERANDS] = {0};
    for (uint32_t k = 0; k < n; k++) stride[k] = broadcast_stride(v[k], rank, i);
    add_or_merge_axis(w, stride, n, v[0]->dim[i]);
  }
  w->small = (uint32_t)offsets_fit_31_bits(w, n);
}

vt_gpu_walk vt_cuda_walk(const vt_view *const *v, uint32_t n) {
  vt_gpu_fused_walk wide;
  vt_cuda_fused_walk(v, n, &wide);
  vt_gpu_walk w = {.n = wide.n, .rank = wide.rank, .small = wide.small};
  memcpy(w.dim, wide.dim, sizeof w.dim);
  memcpy(w.stride, wide.stride, sizeof w.stride);
  return w;
}
