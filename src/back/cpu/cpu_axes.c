/* SPDX-License-Identifier: Apache-2.0
 * cpu_axes.c - vt_cpu_axes: axes of one or two views that are walked together in row-major order;
 * neighbouring axes are joined if they are evenly spaced together. Also the view of a reduction's
 * result in which reduced axes have length 1. A mask has one bit per axis. */
#include <string.h>
#include "cpu_reduce.h"
#include "vt_alloc.h"

unsigned vt_cpu_axis_mask(const vt_attr_list *axes, uint32_t rank) {
  unsigned mask = axes->n == 0 ? (1u << rank) - 1 : 0;
  for (int64_t i = 0; i < axes->n; i++) mask |= 1u << axes->v[i];
  return mask;
}

vt_view vt_cpu_keepdims_view(const vt_view *y, const vt_view *x, unsigned mask) {
  vt_view kept = *y;
  uint32_t from = 0;
  if (y->rank == x->rank) return kept;
  kept.rank = x->rank;
  for (uint32_t i = 0; i < x->rank; i++) {
    const int gone = mask >> i & 1;
    kept.dim[i] = gone ? 1 : y->dim[from];
    kept.stride[i] = gone ? 0 : y->stride[from];
    from += !gone;
  }
  return kept;
}

/* Whether a new axis inside the last axis of *a can be joined with it, because together they are
 * evenly spaced in both views. */
static int can_be_joined(const vt_cpu_axes *a, int64_t dim, int64_t x_stride, int64_t y_stride) {
  const uint32_t last = a->n - 1;
  return a->n > 0 &&
         (a->dim[last] == 1 || (a->x[last] == x_stride * dim && a->y[last] == y_stride * dim));
}

void vt_cpu_axes_append(vt_cpu_axes *a, int64_t dim, int64_t x_stride, int64_t y_stride) {
  if (a->n == 0) a->count = 1;
  if (!vt_i64_mul(a->count, dim, &a->count)) a->count = INT64_MAX;
  if (a->n > 0 && dim == 1) return;
  const int joined = can_be_joined(a, dim, x_stride, y_stride);
  const uint32_t at = joined ? a->n - 1 : a->n++;
  a->dim[at] = joined ? a->dim[at] * dim : dim;
  a->x[at] = x_stride;
  a->y[at] = y_stride;
}

/* If one selected axis is empty, the others are left out, because their product might overflow. */
void vt_cpu_axes_select(const vt_view *x, const vt_view *y, unsigned mask, vt_cpu_axes *out) {
  int empty = 0;
  memset(out, 0, sizeof *out);
  for (uint32_t i = 0; i < x->rank; i++) empty |= (mask >> i & 1) && x->dim[i] == 0;
  for (uint32_t i = 0; i < x->rank && !empty; i++)
    if (mask >> i & 1)
      vt_cpu_axes_append(out, x->dim[i], x->stride[i], y == NULL ? 0 : y->stride[i]);
  if (out->n == 0) vt_cpu_axes_append(out, empty ? 0 : 1, 1, 1);
}

void vt_cpu_axes_offsets(const vt_cpu_axes *a, int64_t i, int64_t *out_x, int64_t *out_y) {
  int64_t x = 0, y = 0;
  for (uint32_t k = a->n; k-- > 1;) {
    x += i % a->dim[k] * a->x[k];
    y += i % a->dim[k] * a->y[k];
    i /= a->dim[k];
  }
  *out_x = x + i * a->x[0];
  *out_y = y + i * a->y[0];
}

int64_t vt_cpu_axes_count_evenly_spaced(const vt_cpu_axes *a, int64_t i, int64_t left) {
  const int64_t dim = a->dim[a->n - 1], rest = dim - i % dim;
  return rest < left ? rest : left;
}
