/* SPDX-License-Identifier: Apache-2.0
 * cpu_grid.c - copies x into a padded grid or gathers it into panels, and counts places for direct
 * convolutions. cpu_direct_conv.h draws the grid. */
#include <string.h>
#include "cpu_direct_conv.h"

const vt_cpu_conv_type *vt_cpu_conv_of(const vt_cpu_team *t, uint32_t dtype) {
  return dtype == VT_DTYPE_F32 ? t->kernels->convs->f32 : t->kernels->convs->f64;
}

vt_cpu_axis vt_cpu_axis_absent(void) {
  return (vt_cpu_axis){.dim = 1, .step = 1, .places = 1, .taps = 1};
}

int64_t vt_cpu_tap_count(const vt_cpu_axis axis[VT_CPU_AXES]) {
  return axis[0].taps * axis[1].taps * axis[2].taps;
}

/* ---- grids ---- */

int64_t vt_cpu_gcd(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* The least offset of a tap, which is the index in x of the grid's first element. */
static int64_t lowest_tap_offset(const vt_cpu_axis *a) {
  return a->base + (a->delta < 0 ? (a->taps - 1) * a->delta : 0);
}
static int64_t distance_of_outer_taps(const vt_cpu_axis *a) {
  return (a->taps - 1) * (a->delta < 0 ? -a->delta : a->delta);
}

int vt_cpu_grid_layout(const vt_cpu_axis axis[VT_CPU_AXES], vt_cpu_grid *out) {
  double field = 1, all = 1;
  for (int i = 0; i < VT_CPU_AXES; i++) {
    const vt_cpu_axis *a = &axis[i];
    const int64_t cycle = a->step / vt_cpu_gcd(a->step, a->delta == 0  ? a->step
                                                        : a->delta < 0 ? -a->delta
                                                                       : a->delta);
    if (a->taps == 0 || a->places == 0) return 0;
    out->phases[i] = a->taps < cycle ? a->taps : cycle;
    out->length[i] = a->places + distance_of_outer_taps(a) / a->step;
    field *= (double)a->dim;
    all *= (double)out->phases[i] * (double)out->length[i];
  }
  if (all > 4 * field + 1024) return 0;
  out->phase = out->length[0] * out->length[1] * out->length[2];
  out->channel = out->phases[0] * out->phases[1] * out->phases[2] * out->phase;
  return 1;
}

int64_t vt_cpu_grid_tap_offset(const vt_cpu_grid *g, const vt_cpu_axis axis[VT_CPU_AXES],
                               int64_t tap) {
  int64_t phase = 0, at = 0, phases = 1, length = 1;
  for (int i = VT_CPU_AXES; i-- > 0;) {
    const vt_cpu_axis *a = &axis[i];
    const int64_t t = tap % a->taps, offset = a->base + t * a->delta - lowest_tap_offset(a);
    phase += t % g->phases[i] * phases;
    at += offset / a->step * length;
    phases *= g->phases[i];
    length *= g->length[i];
    tap /= a->taps;
  }
  return phase * g->phase + at;
}

int64_t vt_cpu_count_inside(int64_t base, int64_t step, int64_t n, int64_t dim,
                            int64_t *out_first) {
  int64_t first = base < 0 ? vt_cpu_div_up(-base, step) : 0;
  int64_t end = base < dim ? vt_cpu_div_up(dim - base, step) : 0;
  if (end > n) end = n;
  if (first > end) first = end;
  *out_first = first;
  return end - first;
}

/* A rectangle to copy from x: `rows` rows of n elements each, whose first has index `base` along
 * the last axis of x. Elements outside of x become `outside`. */
typedef struct rect {
  const char *from;
  int64_t from_row, base, to_row, rows, n;
  uint8_t outside;
} rect;

static void copy_rect_with_padding(const rect *s, const vt_cpu_axis *a, const vt_cpu_conv_type *k,
                                   char *to) {
  const int64_t bytes = k->bytes, row = s->to_row * bytes;
  int64_t first;
  const int64_t count = vt_cpu_count_inside(s->base, a->step, s->n, a->dim, &first),
                end = first + count;
  if (count > 0)
    k->copy(to + first * bytes, s->to_row,
            s->from + (s->base + first * a->step) * a->stride * bytes, s->from_row,
            a->step * a->stride, s->rows, count);
  for (int64_t i = 0; i < s->rows && first > 0; i++)
    memset(to + i * row, s->outside, (size_t)(first * bytes));
  for (int64_t i = 0; i < s->rows && end < s->n; i++)
    memset(to + i * row + end * bytes, s->outside, (size_t)((s->n - end) * bytes));
}

static void fill_rect_with_outside(const rect *s, const vt_cpu_conv_type *k, char *to) {
  for (int64_t i = 0; i < s->rows; i++)
    memset(to + i * s->to_row * k->bytes, s->outside, (size_t)(s->n * k->bytes));
}

int64_t vt_cpu_grid_index_in_x(const vt_cpu_axis *a, int64_t phase, int64_t i) {
  const int64_t remainder = a->step == 1 ? 0 : phase * a->delta % a->step;
  return i * a->step + remainder + lowest_tap_offset(a);
}

static void copy_grid_plane(const vt_cpu_grid *g, const vt_cpu_axis axis[VT_CPU_AXES],
                            const vt_cpu_conv_type *k, const char *x, const int64_t *phase,
                            char *to) {
  const vt_cpu_axis *a = &axis[1];
  const int64_t base = vt_cpu_grid_index_in_x(a, phase[1], 0), row = g->length[2];
  int64_t first;
  const int64_t rows = vt_cpu_count_inside(base, a->step, g->length[1], a->dim, &first);
  rect s = {.from = x + (base + first * a->step) * a->stride * k->bytes,
            .from_row = a->step * a->stride,
            .base = vt_cpu_grid_index_in_x(&axis[2], phase[2], 0),
            .to_row = row,
            .rows = rows,
            .n = row};
  memset(to, 0, (size_t)(first * row * k->bytes));
  if (rows > 0) copy_rect_with_padding(&s, &axis[2], k, to + first * row * k->bytes);
  memset(to + (first + rows) * row * k->bytes, 0,
         (size_t)((g->length[1] - first - rows) * row * k->bytes));
}

static void copy_grid_phase(const vt_cpu_grid *g, const vt_cpu_axis axis[VT_CPU_AXES],
                            const vt_cpu_conv_type *k, const char *x, const int64_t *phase,
                            char *to) {
  const int64_t plane = g->length[1] * g->length[2] * k->bytes;
  for (int64_t i = 0; i < g->length[0]; i++, to += plane) {
    const int64_t at = vt_cpu_grid_index_in_x(&axis[0], phase[0], i);
    if (at < 0 || at >= axis[0].dim) {
      memset(to, 0, (size_t)plane);
    } else {
      copy_grid_plane(g, axis, k, x + at * axis[0].stride * k->bytes, phase, to);
    }
  }
}

void vt_cpu_grid_copy_channel(const vt_cpu_grid *g, const vt_cpu_axis axis[VT_CPU_AXES],
                              const vt_cpu_conv_type *k, const char *x, char *to) {
  int64_t phase[VT_CPU_AXES];
  for (phase[0] = 0; phase[0] < g->phases[0]; phase[0]++)
    for (phase[1] = 0; phase[1] < g->phases[1]; phase[1]++)
      for (phase[2] = 0; phase[2] < g->phases[2]; phase[2]++, to += g->phase * k->bytes)
        copy_grid_phase(g, axis, k, x, phase, to);
}

/* ---- places ---- */

vt_cpu_places vt_cpu_next_places(const vt_cpu_axis axis[VT_CPU_AXES], const int64_t *length,
                                 int64_t from, int64_t end) {
  vt_cpu_places p = {0};
  int64_t at = from;
  while (at < end) {
    p.place[2] = at % length[2];
    p.place[1] = at / length[2] % length[1];
    p.place[0] = at / length[2] / length[1];
    if (p.place[1] < axis[1].places && p.place[2] < axis[2].places) break;
    at += length[2] - p.place[2];
  }
  p.skipped = at - from;
  if (at >= end) return p; /* n is 0 */
  p.n = axis[2].places - p.place[2];
  if (p.n > end - at) p.n = end - at;
  return p;
}

/* Gathers the elements that one tap reads at neighbouring places, for several channels. */
static void gather_places(const vt_cpu_direct_conv *s, const vt_cpu_places *p, const int64_t *tap,
                          rect *one, char *to, const vt_cpu_conv_type *k) {
  const vt_cpu_axis *a = s->axis;
  const int64_t u = p->place[0] * a[0].step + a[0].base + tap[0] * a[0].delta;
  const int64_t v = p->place[1] * a[1].step + a[1].base + tap[1] * a[1].delta;
  const char *from = one->from;
  one->n = p->n;
  if (u < 0 || u >= a[0].dim || v < 0 || v >= a[1].dim) {
    fill_rect_with_outside(one, k, to);
    return;
  }
  one->from += (u * a[0].stride + v * a[1].stride) * k->bytes;
  one->base = p->place[2] * a[2].step + a[2].base + tap[2] * a[2].delta;
  copy_rect_with_padding(one, &a[2], k, to);
  one->from = from;
}

/* Goes through the taps of one channel; each is gathered for all channels in which it is among the
 * requested ones. */
void vt_cpu_gather_columns(const vt_cpu_direct_conv *s, const char *x, const vt_cpu_columns *c,
                           char *to, const vt_cpu_conv_type *k) {
  const vt_cpu_axis *a = s->axis;
  const int64_t length[VT_CPU_AXES] = {a[0].places, a[1].places, a[2].places};
  const int64_t taps = vt_cpu_tap_count(a), end = c->first + c->n;
  const int64_t different = c->n < taps ? c->n : taps;
  for (int64_t i = c->first; i < c->first + different; i++, to += c->width * k->bytes) {
    const int64_t t = i % taps;
    const int64_t tap[VT_CPU_AXES] = {t / a[2].taps / a[1].taps, t / a[2].taps % a[1].taps,
                                      t % a[2].taps};
    rect one = {.from = x + i / taps * s->x_channel * k->bytes,
                .from_row = s->x_channel,
                .to_row = taps * c->width,
                .rows = vt_cpu_div_up(end - i, taps),
                .outside = s->outside};
    for (int64_t at = 0; at < c->count;) {
      const vt_cpu_places p = vt_cpu_next_places(a, length, c->from + at, c->from + c->count);
      gather_places(s, &p, tap, &one, to + at * k->bytes, k);
      at += p.n;
    }
  }
}
