/* SPDX-License-Identifier: Apache-2.0
 * cuda_lines.c - views of tensors as lines. cuda_lines.h explains what a line is. */
#include "cuda_lines.h"
#include "cuda_walk.h"

int vt_cuda_is_empty(const vt_view *v) {
  int empty = 0;
  for (uint32_t i = 0; i < v->rank; i++) empty |= v->dim[i] == 0;
  return empty;
}

unsigned vt_cuda_axes_mask(const vt_attr_list *axes, uint32_t rank) {
  unsigned mask = axes->n == 0 ? (1u << rank) - 1 : 0;
  for (int64_t i = 0; i < axes->n; i++) mask |= 1u << axes->v[i];
  return mask;
}

vt_view vt_cuda_keepdims_view(const vt_view *y, const vt_view *x, unsigned axes_mask) {
  vt_view kept = *y;
  uint32_t from = 0;
  if (y->rank == x->rank) return kept;
  kept.rank = x->rank;
  for (uint32_t i = 0; i < x->rank; i++) {
    const int gone = axes_mask >> i & 1;
    kept.dim[i] = gone ? 1 : y->dim[from];
    kept.stride[i] = gone ? 0 : y->stride[from];
    from += !gone;
  }
  return kept;
}

static int64_t absolute(int64_t n) { return n < 0 ? -n : n; }

/* Writes the axes whose bits are set in a mask, in ascending order, and returns their number. If
 * one of them has length 0, writes only that axis. */
static uint32_t list_axes_of_mask(const vt_view *x, unsigned axes_mask, uint32_t *axis) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < x->rank; i++)
    if (axes_mask >> i & 1) axis[n++] = i;
  for (uint32_t i = 0; i < n; i++)
    if (x->dim[axis[i]] == 0) {
      axis[0] = axis[i];
      return 1;
    }
  return n;
}

/* Sorts axes by descending stride in x; axes with equal strides keep their order. */
static void sort_axes_by_stride(const vt_view *x, uint32_t *axis, uint32_t n) {
  for (uint32_t i = 1; i < n; i++) {
    const uint32_t a = axis[i];
    uint32_t k = i;
    for (; k > 0 && absolute(x->stride[axis[k - 1]]) < absolute(x->stride[a]); k--)
      axis[k] = axis[k - 1];
    axis[k] = a;
  }
}

static vt_gpu_walk walk_along_axes(const vt_view *const *v, uint32_t n, const uint32_t *axis,
                                   uint32_t axes) {
  vt_view part[VT_GPU_OPERANDS];
  const vt_view *all[VT_GPU_OPERANDS];
  for (uint32_t k = 0; k < n; k++) {
    part[k] = *v[k];
    part[k].rank = axes;
    for (uint32_t i = 0; i < axes; i++) {
      part[k].dim[i] = v[k]->dim[axis[i]];
      part[k].stride[i] = v[k]->stride[axis[i]];
    }
    all[k] = &part[k];
  }
  return vt_cuda_walk(all, n);
}

vt_cuda_lines vt_cuda_lines_of(const vt_view *const *v, uint32_t n, unsigned axes_mask) {
  uint32_t axis[VT_MAX_RANK] = {0};
  vt_cuda_lines l;
  uint32_t axes = list_axes_of_mask(v[0], axes_mask, axis);
  l.along = walk_along_axes(v, n, axis, axes);
  axes = list_axes_of_mask(v[0], ~axes_mask, axis);
  sort_axes_by_stride(v[0], axis, axes);
  l.lines = walk_along_axes(v, n, axis, axes);
  return l;
}

static int64_t last_stride(const vt_gpu_walk *w, uint32_t k) {
  return w->rank == 0 ? INT64_MAX : absolute(w->stride[k][w->rank - 1]);
}
int vt_cuda_lines_are_interleaved(const vt_cuda_lines *l, uint32_t operand) {
  return l->lines.n > 1 && last_stride(&l->lines, operand) < last_stride(&l->along, operand);
}

void vt_cuda_lines_set_consecutive(vt_gpu_walk *lines, uint32_t operand,
                                   int64_t elements_per_line) {
  if (lines->n > 0 && lines->n * elements_per_line >= INT32_MAX) lines->small = 0;
  for (uint32_t i = lines->rank; i-- > 0;) {
    lines->stride[operand][i] = elements_per_line;
    elements_per_line *= lines->dim[i];
  }
}
