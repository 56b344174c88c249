/* SPDX-License-Identifier: Apache-2.0
 * op_pool_kernels.c - kernels of pools and their gradients, one window or one element at a time:
 * the second implementation of op_pool.c. A tap is an element of a window, on x or on padding; a
 * plane is the spatial elements of one channel; dx and dy are the gradients of x and of the
 * result. The one order is the total order of numbers: -0 < +0, and NaN is the greatest. */
#include <string.h>
#include "op_float.h"
#include "op_pool.h"
#include "op_rows.h"

/* ---- windows over the spatial axes of a view ---- */

typedef struct sweep { /* the windows of a pool, and the lengths and strides of x, for each spatial
                          axis */
  uint32_t axes;
  vt_window w[VT_SPATIAL_MAX];
  int64_t kernel[VT_SPATIAL_MAX], dim[VT_SPATIAL_MAX], stride[VT_SPATIAL_MAX];
} sweep;

static sweep sweep_of(const vt_pooling *p, const vt_view *x) {
  sweep s = {.axes = x->rank - 2};
  for (uint32_t i = 0; i < s.axes; i++) {
    s.w[i] = vt_pooling_axis(p, i);
    s.kernel[i] = s.w[i].kernel;
    s.dim[i] = x->dim[2 + i];
    s.stride[i] = x->stride[2 + i];
  }
  return s;
}

/* Whether tap k of window p is on x. *out_at is the offset of its element in a plane in memory,
 * *out_flat the row-major position in the plane. */
static int locate_tap(const sweep *s, const int64_t *p, const int64_t *k, int64_t *out_at,
                      int64_t *out_flat) {
  *out_at = *out_flat = 0;
  for (uint32_t i = 0; i < s->axes; i++) {
    const int64_t x = p[i] * s->w[i].stride + k[i] * s->w[i].dilation - s->w[i].low;
    if (x < 0 || x >= s->dim[i]) return 0;
    *out_at += x * s->stride[i];
    *out_flat = *out_flat * s->dim[i] + x;
  }
  return 1;
}

/* The number of taps of window p that count in an average: those on x, or with count_padding those
 * on x and on its padding. */
static int64_t count_averaged_taps(const sweep *s, const vt_pooling *pool, const int64_t *p) {
  int64_t all = 1;
  for (uint32_t i = 0; i < s->axes; i++) {
    const vt_window *w = &s->w[i];
    const int64_t from = pool->count_padding ? -w->low : 0;
    const int64_t to = s->dim[i] + (pool->count_padding ? w->high : 0);
    int64_t n = 0;
    for (int64_t k = 0; k < w->kernel; k++) {
      const int64_t x = p[i] * w->stride + k * w->dilation - w->low;
      n += x >= from && x < to;
    }
    all *= n;
  }
  return all;
}

static int64_t plane_offset(const vt_view *v, int64_t n, int64_t c) {
  return n * v->stride[0] + c * v->stride[1];
}

/* ---- max ---- */

/* Whether the element at offset a is above the one at offset b in the one order. */
static int is_above(const vt_view *x, int64_t a, int64_t b) {
  if (x->dtype == VT_DTYPE_F32)
    return vt_f32_above(((const float *)x->data)[a], ((const float *)x->data)[b]);
  if (x->dtype == VT_DTYPE_F64)
    return vt_f64_above(((const double *)x->data)[a], ((const double *)x->data)[b]);
  return vt_load_int(x->data, x->dtype, a) > vt_load_int(x->data, x->dtype, b);
}

/* The offset in x of the first element of window p that holds the maximum of the window; *out_flat
 * is its row-major position in the plane. Every window contains an element. */
static int64_t find_maximum(const sweep *s, const vt_view *x, int64_t base, const int64_t *p,
                            int64_t *out_flat) {
  int64_t best = base, at, flat;
  int any = 0;
  vt_walk k;
  vt_walk_init(&k, s->axes, s->kernel);
  for (int64_t i = 0; i < k.count; i++, vt_walk_next(&k)) {
    if (!locate_tap(s, p, k.index, &at, &flat)) continue;
    if (any && !is_above(x, base + at, best)) continue;
    any = 1;
    best = base + at;
    *out_flat = flat;
  }
  return best;
}

vt_status kernel_max_pool(vt_kernel *k) {
  const vt_pooling p = vt_pooling_max(k->attrs);
  const vt_view *x = &k->in[0], *y = k->out;
  const sweep s = sweep_of(&p, x);
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype);
  int64_t flat = 0;
  vt_walk w;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t from =
        find_maximum(&s, x, plane_offset(x, w.index[0], w.index[1]), w.index + 2, &flat);
    memcpy((char *)y->data + w.at[0] * size, (const char *)x->data + from * size, (size_t)size);
  }
  return VT_OK;
}

vt_status kernel_max_pool_index(vt_kernel *k) {
  const vt_pooling p = vt_pooling_max(k->attrs);
  const vt_view *x = &k->in[0], *y = k->out;
  const sweep s = sweep_of(&p, x);
  int64_t flat = 0;
  vt_walk w;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    (void)find_maximum(&s, x, plane_offset(x, w.index[0], w.index[1]), w.index + 2, &flat);
    ((int64_t *)y->data)[w.at[0]] = flat;
  }
  return VT_OK;
}

/* ---- avg ---- */

vt_status kernel_avg_pool(vt_kernel *k) {
  const vt_pooling p = vt_pooling_avg(k->attrs);
  const vt_view *x = &k->in[0], *y = k->out;
  const sweep s = sweep_of(&p, x);
  int64_t at, flat;
  vt_walk w, t;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t base = plane_offset(x, w.index[0], w.index[1]);
    vt_float_sum sum;
    vt_float_sum_init(&sum, x->dtype);
    vt_walk_init(&t, s.axes, s.kernel);
    for (int64_t j = 0; j < t.count;
         j++, vt_walk_next(&t)) /* a tap on padding keeps its position in the ordered sum */
      vt_float_sum_add(&sum, locate_tap(&s, w.index + 2, t.index, &at, &flat)
                                 ? vt_float_load(x, base + at)
                                 : 0.0);
    vt_float_store(y, w.at[0],
                   vt_float_divide(x->dtype, vt_float_sum_done(&sum),
                                   count_averaged_taps(&s, &p, w.index + 2)));
  }
  return VT_OK;
}

/* ---- gradients: each element of x adds up the windows that contain it, in ascending order ---- */

/* The windows first .. first+n-1 of each axis whose extent, from first to last tap, includes
 * element e: they start at or before e and end at or after it. */
typedef struct span {
  int64_t first[VT_SPATIAL_MAX], n[VT_SPATIAL_MAX];
} span;

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static span windows_covering_element(const sweep *s, const int64_t *element,
                                     const int64_t *windows) {
  span r = {0};
  for (uint32_t i = 0; i < s->axes; i++) {
    const int64_t end = element[i] + s->w[i].low, start = end - vt_window_extent(&s->w[i]) + 1;
    int64_t first = floor_div(start + s->w[i].stride - 1, s->w[i].stride);
    int64_t last = floor_div(end, s->w[i].stride);
    if (first < 0) first = 0;
    if (last > windows[i] - 1) last = windows[i] - 1;
    r.first[i] = first;
    r.n[i] = last < first ? 0 : last - first + 1;
  }
  return r;
}

/* Whether window p, whose extent includes the element, has a tap on it: with a dilation, the
 * element may be between two taps. */
static int window_has_tap_on(const sweep *s, const int64_t *p, const int64_t *element) {
  for (uint32_t i = 0; i < s->axes; i++)
    if ((element[i] + s->w[i].low - p[i] * s->w[i].stride) % s->w[i].dilation != 0) return 0;
  return 1;
}

typedef struct element_gradient { /* computes the gradient of one element of x from one plane of dy
                                   */
  const sweep *s;
  const vt_pooling *p;
  const vt_view *dy;
  /* offset of the plane in dy; row-major position of the element in its plane */
  int64_t base, flat;
  const int64_t *best; /* position of the maximum of each window of the plane; NULL for avg_pool,
                          where every window that has a tap on the element adds to its gradient */
} element_gradient;

static double gradient_from_windows(const element_gradient *a, const int64_t *element) {
  const int64_t *windows = a->dy->dim + 2;
  const span near = windows_covering_element(a->s, element, windows);
  vt_float_sum sum;
  vt_walk w;
  vt_float_sum_init(&sum, a->dy->dtype);
  vt_walk_init(&w, a->s->axes, near.n);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    int64_t p[VT_SPATIAL_MAX], at = a->base, flat = 0;
    for (uint32_t j = 0; j < a->s->axes; j++) {
      p[j] = near.first[j] + w.index[j];
      at += p[j] * a->dy->stride[2 + j];
      flat = flat * windows[j] + p[j];
    }
    if (a->best != NULL && a->best[flat] == a->flat)
      vt_float_sum_add(&sum, vt_float_load(a->dy, at));
    if (a->best == NULL && window_has_tap_on(a->s, p, element))
      vt_float_sum_add(&sum, vt_float_divide(a->dy->dtype, vt_float_load(a->dy, at),
                                             count_averaged_taps(a->s, a->p, p)));
  }
  return vt_float_sum_done(&sum);
}

/* Computes all elements of plane [n, c] of dx, whose offset is `base`. */
static void fill_plane_of_dx(element_gradient *a, const vt_view *dx, int64_t base) {
  vt_walk e;
  vt_view spatial = vt_view_drop_axis(dx, 0);
  spatial = vt_view_drop_axis(&spatial, 0);
  vt_walk_init(&e, spatial.rank, spatial.dim);
  vt_walk_view(&e, &spatial);
  for (int64_t i = 0; i < e.count; i++, vt_walk_next(&e)) {
    a->flat = i;
    vt_float_store(dx, base + e.at[0], gradient_from_windows(a, e.index));
  }
}

vt_status kernel_avg_pool_grad(vt_kernel *k) {
  const vt_pooling p = vt_pooling_avg_grad(k->attrs);
  const vt_view *dy = &k->in[0], *dx = k->out;
  const sweep s = sweep_of(&p, dx);
  for (int64_t n = 0; n < dx->dim[0]; n++)
    for (int64_t c = 0; c < dx->dim[1]; c++) {
      element_gradient a = {.s = &s, .p = &p, .dy = dy, .base = plane_offset(dy, n, c)};
      fill_plane_of_dx(&a, dx, plane_offset(dx, n, c));
    }
  return VT_OK;
}

/* The scratch bytes for the position of the maximum of each window of a plane. */
uint64_t scratch_max_pool_grad(const vt_view *in, uint32_t n_in) {
  uint64_t n = n_in < 2 ? 0 : sizeof(int64_t);
  for (uint32_t i = 2; n_in >= 2 && i < in[1].rank; i++) n *= (uint64_t)in[1].dim[i];
  return n + 1; /* one byte or more even for an empty plane, because best != NULL tells
                   max_pool_grad from avg_pool_grad */
}

vt_status kernel_max_pool_grad(vt_kernel *k) {
  const vt_pooling p = vt_pooling_max(k->attrs);
  const vt_view *x = &k->in[0], *dy = &k->in[1], *dx = k->out;
  const sweep s = sweep_of(&p, x);
  int64_t *best = k->work;
  vt_walk w;
  for (int64_t n = 0; n < x->dim[0]; n++)
    for (int64_t c = 0; c < x->dim[1]; c++) {
      vt_walk_init(&w, s.axes, dy->dim + 2);
      for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
        (void)find_maximum(&s, x, plane_offset(x, n, c), w.index, &best[i]);
      element_gradient a = {
          .s = &s, .p = &p, .dy = dy, .base = plane_offset(dy, n, c), .best = best};
      fill_plane_of_dx(&a, dx, plane_offset(dx, n, c));
    }
  return VT_OK;
}

/* ---- global ---- */

/* A view of the spatial axes of one plane. */
static vt_view spatial_view(const vt_view *x) {
  const vt_view c = vt_view_drop_axis(x, 0);
  return vt_view_drop_axis(&c, 0);
}

vt_status kernel_global_max_pool(vt_kernel *k) {
  const vt_view *x = &k->in[0], *y = k->out, inner = spatial_view(x);
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype);
  vt_walk w, e;
  vt_walk_init(&w, 2, y->dim);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t base = plane_offset(x, w.index[0], w.index[1]);
    int64_t best = base;
    vt_walk_init(&e, inner.rank, inner.dim);
    vt_walk_view(&e, &inner);
    for (int64_t j = 0; j < e.count; j++, vt_walk_next(&e))
      if (is_above(x, base + e.at[0], best)) best = base + e.at[0];
    memcpy((char *)y->data + plane_offset(y, w.index[0], w.index[1]) * size,
           (const char *)x->data + best * size, (size_t)size);
  }
  return VT_OK;
}

vt_status kernel_global_avg_pool(vt_kernel *k) {
  const vt_view *x = &k->in[0], *y = k->out, inner = spatial_view(x);
  vt_walk w, e;
  vt_walk_init(&w, 2, y->dim);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t base = plane_offset(x, w.index[0], w.index[1]);
    vt_float_sum sum;
    vt_float_sum_init(&sum, x->dtype);
    vt_walk_init(&e, inner.rank, inner.dim);
    vt_walk_view(&e, &inner);
    for (int64_t j = 0; j < e.count; j++, vt_walk_next(&e))
      vt_float_sum_add(&sum, vt_float_load(x, base + e.at[0]));
    vt_float_store(y, plane_offset(y, w.index[0], w.index[1]),
                   vt_float_divide(x->dtype, vt_float_sum_done(&sum), e.count));
  }
  return VT_OK;
}
