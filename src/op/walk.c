/* SPDX-License-Identifier: Apache-2.0
 * walk.c - walks of kernels over strided and broadcast tensors in row-major order. */
#include <string.h>
#include "op_rows.h"

void vt_walk_init(vt_walk *w, uint32_t rank, const int64_t *dim) {
  memset(w, 0, sizeof *w);
  w->rank = rank;
  w->count = 1;
  for (uint32_t i = 0; i < rank; i++) {
    w->dim[i] = dim[i];
    w->count *= dim[i];
  }
}

/* An axis that has length 1 in the view, or that the view does not have, gets stride 0. */
void vt_walk_view(vt_walk *w, const vt_view *v) {
  int64_t *stride = w->stride[w->n_views++];
  const uint32_t lead = w->rank - v->rank;
  for (uint32_t i = 0; i < v->rank; i++) stride[lead + i] = v->dim[i] == 1 ? 0 : v->stride[i];
}

void vt_walk_next(vt_walk *w) {
  for (uint32_t i = w->rank; i-- > 0;) {
    const int wrap = ++w->index[i] == w->dim[i];
    const int64_t by = wrap ? 1 - w->dim[i] : 1;
    for (uint32_t v = 0; v < w->n_views; v++) w->at[v] += by * w->stride[v][i];
    if (!wrap) return;
    w->index[i] = 0;
  }
}

int64_t vt_view_count(const vt_view *v) {
  int64_t n = 1;
  for (uint32_t i = 0; i < v->rank; i++) n *= v->dim[i];
  return n;
}

vt_view vt_view_drop_axis(const vt_view *v, uint32_t axis) {
  vt_view r = *v;
  r.rank--;
  for (uint32_t i = axis; i < r.rank; i++) {
    r.dim[i] = v->dim[i + 1];
    r.stride[i] = v->stride[i + 1];
  }
  return r;
}

int64_t vt_load_int(const void *data, uint32_t dtype, int64_t at) {
  switch (dtype) {
    case VT_DTYPE_I8:
      return ((const int8_t *)data)[at];
    case VT_DTYPE_I32:
      return ((const int32_t *)data)[at];
    case VT_DTYPE_I64:
      return ((const int64_t *)data)[at];
    default:
      return ((const uint8_t *)data)[at]; /* u8 or bool */
  }
}

void vt_store_int(void *data, uint32_t dtype, int64_t at, int64_t x) {
  switch (dtype) {
    case VT_DTYPE_I8:
      ((int8_t *)data)[at] = (int8_t)(uint8_t)(uint64_t)x;
      return;
    case VT_DTYPE_I32:
      ((int32_t *)data)[at] = (int32_t)(uint32_t)(uint64_t)x;
      return;
    case VT_DTYPE_I64:
      ((int64_t *)data)[at] = x;
      return;
    default:
      ((uint8_t *)data)[at] = (uint8_t)(uint64_t)x;
      return;
  }
}
