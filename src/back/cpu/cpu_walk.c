/* SPDX-License-Identifier: Apache-2.0
 * cpu_walk.c - views of parts of tensors, and walks: a walk goes through the positions of a shape
 * in row-major order and keeps the offset in up to three tensors, whose strides are added axis by
 * axis. */
#include <string.h>
#include "cpu_move.h"

/* ---- views ---- */

int64_t vt_cpu_count(const vt_view *v) {
  int64_t n = 1;
  for (uint32_t i = 0; i < v->rank; i++) n *= v->dim[i];
  return n;
}

uint64_t vt_cpu_bytes_of(uint32_t dtype) { return (uint64_t)vt_dtype_bytes(dtype); }

vt_view vt_cpu_drop_axis(const vt_view *v, uint32_t axis, int64_t i) {
  vt_view one = *v;
  one.rank--;
  for (uint32_t k = axis; k < one.rank; k++) {
    one.dim[k] = v->dim[k + 1];
    one.stride[k] = v->stride[k + 1];
  }
  one.dim[one.rank] = one.stride[one.rank] = 0;
  one.data = (char *)v->data + i * v->stride[axis] * (int64_t)vt_cpu_bytes_of(v->dtype);
  return one;
}

/* `data` of an empty part stays where it is, because it might otherwise point past the end of the
 * tensor. */
vt_view vt_cpu_slice(const vt_view *v, uint32_t axis, int64_t first, int64_t n) {
  vt_view part = *v;
  part.dim[axis] = n;
  if (vt_cpu_count(&part) > 0)
    part.data = (char *)v->data + first * v->stride[axis] * (int64_t)vt_cpu_bytes_of(v->dtype);
  return part;
}

vt_view vt_cpu_select_axes(const vt_view *v, uint32_t first, uint32_t n) {
  vt_view some = {.dtype = v->dtype, .rank = n, .data = v->data};
  memcpy(some.dim, v->dim + first, n * sizeof *some.dim);
  memcpy(some.stride, v->stride + first, n * sizeof *some.stride);
  return some;
}

vt_view vt_cpu_repeat_element(const vt_view *shape, const void *element) {
  vt_view v = *shape;
  memset(v.stride, 0, sizeof v.stride);
  memcpy(&v.data, &element, sizeof element); /* the element is only read through the view v */
  return v;
}

int vt_cpu_is_dense(const vt_view *v) {
  int64_t stride = 1;
  for (uint32_t i = v->rank; i-- > 0; stride *= v->dim[i])
    if (v->dim[i] > 1 && v->stride[i] != stride) return 0;
  return 1;
}

vt_view vt_cpu_reshape_view(const vt_view *v, uint32_t rank, const int64_t *dim) {
  vt_view as = {.dtype = v->dtype, .rank = rank, .data = v->data};
  int64_t stride = 1;
  memcpy(as.dim, dim, rank * sizeof *dim);
  for (uint32_t i = rank; i-- > 0; stride *= dim[i]) as.stride[i] = stride;
  return as;
}

/* ---- walks ---- */

void vt_cpu_walk_add_axis(vt_cpu_walk *w, int64_t dim, int64_t stride_0, int64_t stride_1,
                          int64_t stride_2) {
  w->stride[0][w->rank] = stride_0;
  w->stride[1][w->rank] = stride_1;
  w->stride[2][w->rank] = stride_2;
  w->dim[w->rank++] = dim;
}

vt_cpu_walk vt_cpu_walk_of(const vt_view *v) {
  vt_cpu_walk w = {0};
  for (uint32_t i = 0; i < v->rank; i++) vt_cpu_walk_add_axis(&w, v->dim[i], v->stride[i], 0, 0);
  return w;
}

int64_t vt_cpu_walk_count(const vt_cpu_walk *w) {
  int64_t n = 1;
  for (uint32_t i = 0; i < w->rank; i++) n *= w->dim[i];
  return n;
}

/* Position 0 may be set even if the shape has no elements. */
void vt_cpu_walk_set(vt_cpu_walk *w, int64_t position) {
  for (uint32_t i = w->rank; position > 0 && i-- > 0; position /= w->dim[i]) {
    w->index[i] = position % w->dim[i];
    for (int k = 0; k < VT_CPU_WALK_TENSORS; k++) w->at[k] += w->index[i] * w->stride[k][i];
  }
}

int64_t vt_cpu_walk_left_in_line(const vt_cpu_walk *w, int64_t most) {
  if (w->rank == 0) return most < 1 ? most : 1;
  const int64_t left = w->dim[w->rank - 1] - w->index[w->rank - 1];
  return left < most ? left : most;
}

void vt_cpu_walk_advance(vt_cpu_walk *w, int64_t n) {
  for (uint32_t i = w->rank; i-- > 0; n = 1) {
    w->index[i] += n;
    const int wrap = w->index[i] == w->dim[i];
    const int64_t by = wrap ? n - w->dim[i] : n;
    for (int k = 0; k < VT_CPU_WALK_TENSORS; k++) w->at[k] += by * w->stride[k][i];
    if (!wrap) return;
    w->index[i] = 0;
  }
}
