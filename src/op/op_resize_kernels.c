/* SPDX-License-Identifier: Apache-2.0
 * op_resize_kernels.c - resize and its gradient one element at a time: the second implementation
 * of op_resize.c. The elements of x that a result reads along an axis are its taps; a tap with
 * weight 0 is absent. The taps of an element along an axis are computed whenever they are
 * needed, so nothing is stored between the axes. dx and dy are the gradients of x and of the
 * result. */
#include <string.h>
#include "op_float.h"
#include "op_resize.h"
#include "op_rows.h"

/* ---- the taps of a result along one axis ---- */

typedef struct line { /* an axis that is resized from n elements to m */
  int64_t n, m;
  const vt_resizing *z;
} line;

typedef struct taps { /* at[]: the taps that are not absent, ascending; least .. most: the range of
                         all taps */
  int count;
  int64_t at[4], least, most;
  float weight[4];
} taps;

static int64_t clamp_index(int64_t x, int64_t most) { return x < 0 ? 0 : x > most ? most : x; }

static int64_t floor_of(double c) {
  const int64_t t = (int64_t)c;
  return (double)t > c ? t - 1 : t;
}

static int64_t ceil_of(double c) { return -floor_of(-c); }

static double source_coordinate(const line *l, int64_t i) {
  const double at = (double)i;
  const double ratio = l->z->scale != 0.0 ? 1.0 / l->z->scale : (double)l->n / (double)l->m;
  switch (l->z->coordinates) {
    case VT_WORD_align_corners:
      return l->m == 1 ? 0.0 : (at * (double)(l->n - 1)) / (double)(l->m - 1);
    case VT_WORD_asymmetric:
      return at * ratio;
    case VT_WORD_pytorch_half_pixel:
      return l->m == 1 ? 0.0 : ((at + 0.5) * ratio) - 0.5;
    default:
      return ((at + 0.5) * ratio) - 0.5;
  }
}

static int64_t nearest_tap(const line *l, double c) {
  switch (l->z->rounding) {
    case VT_WORD_floor:
      return clamp_index(floor_of(c), l->n - 1);
    case VT_WORD_ceil:
      return clamp_index(ceil_of(c), l->n - 1);
    case VT_WORD_round_prefer_ceil:
      return clamp_index(floor_of(c + 0.5), l->n - 1);
    default:
      return clamp_index(ceil_of(c - 0.5), l->n - 1);
  }
}

static void add_tap(const line *l, taps *r, int64_t at, double weight) {
  const float w = (float)weight;
  if (w == 0.0f) return; /* the tap is absent */
  r->at[r->count] = clamp_index(at, l->n - 1);
  r->weight[r->count++] = w;
}

static double near_cubic_weight(double a, double t) {
  return ((((a + 2) * t) - (a + 3)) * t) * t + 1;
}

static double far_cubic_weight(double a, double t) {
  return ((((a * t) - (5 * a)) * t) + (8 * a)) * t - (4 * a);
}

static taps taps_of(const line *l, int64_t i) {
  taps r = {0};
  double c = source_coordinate(l, i);
  if (l->z->mode == VT_WORD_nearest) {
    r.at[r.count++] = r.least = r.most = nearest_tap(l, c);
    return r;
  }
  if (l->z->mode == VT_WORD_linear) {
    if (!(c > 0.0)) c = 0.0;
    if (c > (double)(l->n - 1)) c = (double)(l->n - 1);
  }
  const int64_t j = floor_of(c);
  const double f = c - (double)j, a = l->z->a;
  r.least = clamp_index(l->z->mode == VT_WORD_linear ? j : j - 1, l->n - 1);
  r.most = clamp_index(l->z->mode == VT_WORD_linear ? j + 1 : j + 2, l->n - 1);
  if (l->z->mode == VT_WORD_linear) {
    add_tap(l, &r, j, 1.0 - f);
    add_tap(l, &r, j + 1, f);
    return r;
  }
  add_tap(l, &r, j - 1, far_cubic_weight(a, f + 1.0));
  add_tap(l, &r, j, near_cubic_weight(a, f));
  add_tap(l, &r, j + 1, near_cubic_weight(a, 1.0 - f));
  add_tap(l, &r, j + 2, far_cubic_weight(a, 2.0 - f));
  return r;
}

/* ---- resize ---- */

typedef struct resizer {
  const vt_view *x, *y; /* the operand and the result of resize; for its gradient dx and dy */
  vt_resizing z;
} resizer;

static line line_of(const resizer *s, uint32_t axis) {
  return (line){s->x->dim[axis], s->y->dim[axis], &s->z};
}

/* The element at `index` of x resized along `axis` and the axes after it. `at` is the offset in x
 * from the axes before it. The recursion ends with the last axis, because it is resized first. */
static float resized_at(const resizer *s, uint32_t axis, const int64_t *index, int64_t at) {
  if (axis == s->x->rank) return ((const float *)s->x->data)[at];
  const line l = line_of(s, axis);
  const taps r = taps_of(&l, index[axis]);
  float sum = 0.0f;
  for (int t = 0; t < r.count; t++) {
    const float term =
        r.weight[t] * resized_at(s, axis + 1, index, at + r.at[t] * s->x->stride[axis]);
    sum = t == 0 ? term : sum + term;
  }
  return sum;
}

static int64_t nearest_offset(const resizer *s, const int64_t *index) {
  int64_t at = index[0] * s->x->stride[0] + index[1] * s->x->stride[1];
  for (uint32_t axis = 2; axis < s->x->rank; axis++) {
    const line l = line_of(s, axis);
    at += taps_of(&l, index[axis]).at[0] * s->x->stride[axis];
  }
  return at;
}

vt_status kernel_resize(vt_kernel *k) {
  const vt_view *x = &k->in[0], *y = k->out;
  const resizer s = {x, y, vt_resizing_of(k->attrs)};
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype);
  vt_walk w;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    if (s.z.mode == VT_WORD_nearest) {
      memcpy((char *)y->data + w.at[0] * size,
             (const char *)x->data + nearest_offset(&s, w.index) * size, (size_t)size);
    } else {
      const int64_t plane = w.index[0] * x->stride[0] + w.index[1] * x->stride[1];
      ((float *)y->data)[w.at[0]] = resized_at(&s, 2, w.index, plane);
    }
  }
  return VT_OK;
}

/* ---- its gradient ---- */

/* The first result whose range of taps, absent taps included, ends at or after the element. The
 * ranges ascend with the results, but the taps that are not absent need not, so the search uses the
 * ranges. */
static int64_t first_result_reading(const line *l, int64_t element) {
  int64_t lo = 0, hi = l->m;
  while (lo < hi) {
    const int64_t mid = lo + (hi - lo) / 2;
    if (taps_of(l, mid).most < element) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  return lo;
}

/* The gradient of element index[axis] along `axis`: the ordered sum over the results that read it;
 * `at` is the offset in dy from the axes after it. The recursion ends with the first axis, because
 * its gradient is computed first. */
static double gradient_at(const resizer *s, uint32_t axis, const int64_t *index, int64_t at) {
  if (axis == 1) return vt_float_load(s->y, at);
  const line l = line_of(s, axis);
  const int64_t e = index[axis];
  vt_float_sum sum;
  vt_float_sum_init(&sum, s->y->dtype);
  for (int64_t i = first_result_reading(&l, e); i < l.m; i++) {
    const taps r = taps_of(&l, i);
    if (r.least > e) break;
    for (int t = 0; t < r.count; t++) {
      if (r.at[t] != e) continue;
      const double g = gradient_at(s, axis - 1, index, at + i * s->y->stride[axis]);
      vt_float_sum_add(&sum, s->z.mode == VT_WORD_nearest ? g : (double)(r.weight[t] * (float)g));
    }
  }
  return vt_float_sum_done(&sum);
}

vt_status kernel_resize_grad(vt_kernel *k) {
  const vt_view *dy = &k->in[0], *dx = k->out;
  const resizer s = {dx, dy, vt_resizing_of_grad(k->attrs)};
  vt_walk w;
  vt_walk_init(&w, dx->rank, dx->dim);
  vt_walk_view(&w, dx);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t plane = w.index[0] * dy->stride[0] + w.index[1] * dy->stride[1];
    vt_float_store(dx, w.at[0], gradient_at(&s, dx->rank - 1, w.index, plane));
  }
  return VT_OK;
}
