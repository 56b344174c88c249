/* SPDX-License-Identifier: Apache-2.0
 * cpu_grid.c - fields that taps slide over: x copied into a grid or gathered into panels, places
 * counted, and sums of blocks added up in their order. cpu_slide.h has the picture. */
#include <string.h>
#include "cpu_slide.h"

const vt_cpu_conv_type *vt_cpu_conv_of(const vt_cpu_team *t, uint32_t dtype) {
  return dtype == VT_DTYPE_F32 ? t->kernels->convs->f32 : t->kernels->convs->f64;
}

uint64_t vt_cpu_to_line(uint64_t bytes) { return (bytes + 63) / 64 * 64; }
int64_t vt_cpu_parts(int64_t n, int64_t each) { return n / each + (n % each != 0); }

vt_cpu_axis vt_cpu_axis_none(void) {
  return (vt_cpu_axis){.dim = 1, .step = 1, .places = 1, .taps = 1};
}

int64_t vt_cpu_taps(const vt_cpu_axis axis[VT_CPU_AXES]) {
  return axis[0].taps * axis[1].taps * axis[2].taps;
}

/* ---- grids ---- */

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t r = a % b;
    a = b, b = r;
  }
  return a;
}

/* The least offset of a tap: the place of the grid's first element in x. */
static int64_t least(const vt_cpu_axis *a) {
  return a->base + (a->delta < 0 ? (a->taps - 1) * a->delta : 0);
}
static int64_t reach(const vt_cpu_axis *a) {
  return (a->taps - 1) * (a->delta < 0 ? -a->delta : a->delta);
}

int vt_cpu_grid_of(const vt_cpu_axis axis[VT_CPU_AXES], vt_cpu_grid *out) {
  double field = 1, places = 1, all = 1;
  for (int i = 0; i < VT_CPU_AXES; i++) {
    const vt_cpu_axis *a = &axis[i];
    const int64_t cycle = a->step / gcd(a->step, a->delta == 0  ? a->step
                                                 : a->delta < 0 ? -a->delta
                                                                : a->delta);
    if (a->taps == 0 || a->places == 0) return 0;
    out->phases[i] = a->taps < cycle ? a->taps : cycle;
    out->length[i] = a->places + reach(a) / a->step;
    field *= (double)a->dim, places *= (double)a->places;
    all *= (double)out->phases[i] * (double)out->length[i];
  }
  if (all > 4 * (field + places) + 4096) return 0;
  out->phase = out->length[0] * out->length[1] * out->length[2];
  out->channel = out->phases[0] * out->phases[1] * out->phases[2] * out->phase;
  return 1;
}

int64_t vt_cpu_grid_at(const vt_cpu_grid *g, const vt_cpu_axis axis[VT_CPU_AXES], int64_t number) {
  int64_t phase = 0, at = 0, phases = 1, length = 1;
  for (int i = VT_CPU_AXES; i-- > 0;) {
    const vt_cpu_axis *a = &axis[i];
    const int64_t t = number % a->taps, offset = a->base + t * a->delta - least(a);
    phase += t % g->phases[i] * phases;
    at += offset / a->step * length;
    phases *= g->phases[i], length *= g->length[i];
    number /= a->taps;
  }
  return phase * g->phase + at;
}

/* Which of n elements at step*i + base are inside of 0 .. dim-1: those from *out_first on. */
static int64_t inside(int64_t base, int64_t step, int64_t n, int64_t dim, int64_t *out_first) {
  int64_t first = base < 0 ? vt_cpu_parts(-base, step) : 0;
  int64_t end = base < dim ? vt_cpu_parts(dim - base, step) : 0;
  if (end > n) end = n;
  if (first > end) first = end;
  *out_first = first;
  return end - first;
}

/* A row with what stands outside of x where it is there. */
static void line(const vt_cpu_conv_type *k, const vt_cpu_axis *a, const char *x, int64_t base,
                 int64_t n, uint8_t outside, char *to) {
  const int64_t bytes = k->bytes;
  int64_t first;
  const int64_t count = inside(base, a->step, n, a->dim, &first);
  memset(to, outside, (size_t)(first * bytes));
  if (count > 0)
    k->copy(to + first * bytes, x + (base + first * a->step) * a->stride * bytes,
            a->step * a->stride, count);
  memset(to + (first + count) * bytes, outside, (size_t)((n - first - count) * bytes));
}

static int64_t grid_index(const vt_cpu_axis *a, int64_t phase, int64_t i) {
  const int64_t remainder = a->step == 1 ? 0 : phase * a->delta % a->step;
  return i * a->step + remainder + least(a);
}

static void grid_phase(const vt_cpu_grid *g, const vt_cpu_axis axis[VT_CPU_AXES],
                       const vt_cpu_conv_type *k, const char *x, const int64_t *phase, char *to) {
  const int64_t row = g->length[2] * k->bytes;
  for (int64_t i = 0; i < g->length[0]; i++)
    for (int64_t j = 0; j < g->length[1]; j++, to += row) {
      const int64_t u = grid_index(&axis[0], phase[0], i), v = grid_index(&axis[1], phase[1], j);
      if (u < 0 || u >= axis[0].dim || v < 0 || v >= axis[1].dim) {
        memset(to, 0, (size_t)row);
      } else {
        line(k, &axis[2], x + (u * axis[0].stride + v * axis[1].stride) * k->bytes,
             grid_index(&axis[2], phase[2], 0), g->length[2], 0, to);
      }
    }
}

void vt_cpu_grid_fill(const vt_cpu_grid *g, const vt_cpu_axis axis[VT_CPU_AXES],
                      const vt_cpu_conv_type *k, const char *x, char *to) {
  int64_t phase[VT_CPU_AXES];
  for (phase[0] = 0; phase[0] < g->phases[0]; phase[0]++)
    for (phase[1] = 0; phase[1] < g->phases[1]; phase[1]++)
      for (phase[2] = 0; phase[2] < g->phases[2]; phase[2]++, to += g->phase * k->bytes)
        grid_phase(g, axis, k, x, phase, to);
}

/* ---- places ---- */

vt_cpu_places vt_cpu_places_at(const vt_cpu_axis axis[VT_CPU_AXES], const int64_t *length,
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
  p.n = at < end ? axis[2].places - p.place[2] : 0;
  if (p.n > end - at) p.n = end - at;
  return p;
}

static void gather_row(const vt_cpu_slide *s, const char *x, const int64_t *tap, int64_t from,
                       int64_t count, char *to, const vt_cpu_conv_type *k) {
  const vt_cpu_axis *a = s->axis;
  const int64_t length[VT_CPU_AXES] = {a[0].places, a[1].places, a[2].places};
  while (count > 0) {
    const vt_cpu_places p = vt_cpu_places_at(a, length, from, from + count);
    const int64_t u = p.place[0] * a[0].step + a[0].base + tap[0] * a[0].delta;
    const int64_t v = p.place[1] * a[1].step + a[1].base + tap[1] * a[1].delta;
    if (u < 0 || u >= a[0].dim || v < 0 || v >= a[1].dim) {
      memset(to, s->outside, (size_t)(p.n * k->bytes));
    } else {
      line(k, &a[2], x + (u * a[0].stride + v * a[1].stride) * k->bytes,
           p.place[2] * a[2].step + a[2].base + tap[2] * a[2].delta, p.n, s->outside, to);
    }
    to += p.n * k->bytes;
    from += p.n, count -= p.n;
  }
}

void vt_cpu_gather(const vt_cpu_slide *s, const char *x, int64_t first, int64_t n, int64_t from,
                   int64_t count, int64_t width, char *to, const vt_cpu_conv_type *k) {
  const int64_t taps = vt_cpu_taps(s->axis);
  for (int64_t i = first; i < first + n; i++, to += width * k->bytes) {
    const int64_t t = i % taps;
    const int64_t tap[VT_CPU_AXES] = {t / s->axis[2].taps / s->axis[1].taps,
                                      t / s->axis[2].taps % s->axis[1].taps, t % s->axis[2].taps};
    gather_row(s, x + i / taps * s->x_channel * k->bytes, tap, from, count, to, k);
  }
}

/* ---- levels ---- */

int vt_cpu_levels_for(int64_t blocks) {
  int n = 1;
  for (int64_t m = blocks; m >= VT_CPU_GROUP; m /= VT_CPU_GROUP) n++;
  return n;
}

static char *level(const vt_cpu_levels *l, int i) { return l->at + i * l->n * l->k->bytes; }

void vt_cpu_levels_clear(const vt_cpu_levels *l) {
  memset(l->at, 0, (size_t)(l->count * l->n * l->k->bytes));
}

void vt_cpu_levels_carry(const vt_cpu_levels *l, int64_t b) {
  int64_t full = b + 1;
  for (int i = 0; full % VT_CPU_GROUP == 0; i++, full /= VT_CPU_GROUP) {
    l->k->add(level(l, i + 1), level(l, i), l->n);
    memset(level(l, i), 0, (size_t)(l->n * l->k->bytes));
  }
}

const char *vt_cpu_levels_end(const vt_cpu_levels *l) {
  for (int i = 1; i < l->count; i++) l->k->add(level(l, i), level(l, i - 1), l->n);
  return level(l, l->count - 1);
}
