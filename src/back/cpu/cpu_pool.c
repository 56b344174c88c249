/* SPDX-License-Identifier: Apache-2.0
 * cpu_pool.c - max_pool and avg_pool, whole: a line of windows along the last axis at a time, one
 * tap of all of them after the other. */
#include <string.h>
#include "cpu_move.h"
#include "op_pool.h"
#include "vt_num.h"

typedef struct pooling {
  const vt_cpu_team *team;
  const vt_view *x, *y;
  uint32_t axes;               /* spatial ones */
  vt_window w[VT_SPATIAL_MAX]; /* low before x, but nothing of padding is ever read */
  int64_t taps, size;
  int count_padding;
  uint64_t jobs;
  int64_t count; /* lines */
  void (*line)(const struct pooling *p, const int64_t *at, char *to, const char *plane);
} pooling;

/* Where tap k of the window at `at` lies along axis i; may be outside of x. */
static int64_t tap_at(const pooling *p, uint32_t i, int64_t at, int64_t k) {
  return at * p->w[i].stride + k * p->w[i].dilation - p->w[i].low;
}

static int is_inside(const pooling *p, uint32_t i, int64_t at) {
  return at >= 0 && at < p->x->dim[2 + i];
}

/* Tap number n, row-major, as coordinates. */
static void tap_of(const pooling *p, int64_t n, int64_t k[VT_SPATIAL_MAX]) {
  for (uint32_t i = p->axes; i-- > 0; n /= p->w[i].kernel) k[i] = n % p->w[i].kernel;
}

static int64_t ceil_div(int64_t a, int64_t b) { return a <= 0 ? 0 : (a + b - 1) / b; }

/* The windows first .. end-1 along the last axis whose tap k lies on x. */
static void windows_of(const pooling *p, int64_t k, int64_t *first, int64_t *end) {
  const uint32_t last = p->axes - 1;
  const vt_window *w = &p->w[last];
  const int64_t before = w->low - k * w->dilation, n = p->y->dim[2 + last];
  *first = ceil_div(before, w->stride);
  *end = ceil_div(p->x->dim[2 + last] + before, w->stride);
  if (*end > n) *end = n;
  if (*first > *end) *first = *end;
}

/* Where the tap of a line of windows starts in bytes, for the window in front; 0 when it is outside
 * of x on another axis than the last. */
static int line_of(const pooling *p, const int64_t *at, const int64_t *k, int64_t *out) {
  const uint32_t last = p->axes - 1;
  int64_t from = 0;
  for (uint32_t i = 0; i < last; i++) {
    const int64_t x = tap_at(p, i, at[i], k[i]);
    if (!is_inside(p, i, x)) return 0;
    from += x * p->x->stride[2 + i];
  }
  *out = (from + tap_at(p, last, 0, k[last]) * p->x->stride[2 + last]) * p->size;
  return 1;
}

static vt_cpu_landing landing_of(const pooling *p, char *to, const char *plane, int64_t first,
                                 int64_t end) {
  const uint32_t last = p->axes + 1;
  const int64_t step = p->w[p->axes - 1].stride * p->x->stride[last] * p->size;
  return (vt_cpu_landing){.to = to + first * p->y->stride[last] * p->size,
                          .from = plane + first * step,
                          .n = 1,
                          .columns = end - first,
                          .to_step = p->y->stride[last] * p->size,
                          .from_step = step};
}

/* ---- max: every window has an element, and starts from less than any ---- */

static void fill_least(const pooling *p, char *to) {
  static const uint64_t bits[] = {
      [VT_DTYPE_F32] = 0xff800000, [VT_DTYPE_F64] = UINT64_C(0xfff0000000000000),
      [VT_DTYPE_I8] = 0x80,        [VT_DTYPE_U8] = 0,
      [VT_DTYPE_I32] = 0x80000000, [VT_DTYPE_I64] = UINT64_C(1) << 63};
  const uint32_t last = p->y->rank - 1;
  for (int64_t i = 0; i < p->y->dim[last]; i++)
    memcpy(to + i * p->y->stride[last] * p->size, &bits[p->y->dtype], (size_t)p->size);
}

static void max_line(const pooling *p, const int64_t *at, char *to, const char *plane) {
  vt_cpu_record row = {0};
  int64_t k[VT_SPATIAL_MAX], first, end;
  fill_least(p, to);
  for (int64_t t = 0; t < p->taps; t++) {
    tap_of(p, t, k);
    windows_of(p, k[p->axes - 1], &first, &end);
    if (first == end || !line_of(p, at, k, &row.at)) continue;
    vt_cpu_landing l = landing_of(p, to, plane, first, end);
    l.rows = &row;
    p->team->kernels->moves->greatest[p->x->dtype](&l);
  }
}

/* ---- avg ---- */

/* Taps of a window that count: those on x, or on x and its padding. */
static int64_t counted(const pooling *p, const int64_t *at) {
  int64_t all = 1;
  for (uint32_t i = 0; i < p->axes; i++) {
    const vt_window *w = &p->w[i];
    const int64_t from = p->count_padding ? -w->low : 0;
    const int64_t to = p->x->dim[2 + i] + (p->count_padding ? w->high : 0);
    int64_t n = 0;
    for (int64_t k = 0; k < w->kernel; k++)
      n += tap_at(p, i, at[i], k) >= from && tap_at(p, i, at[i], k) < to;
    all *= n;
  }
  return all;
}

/* One window at the edge: a tap that is absent keeps its number. */
static void avg_edge(const pooling *p, const int64_t *at, char *to, const char *plane) {
  int64_t k[VT_SPATIAL_MAX];
  vt_sum_f32 s;
  vt_sum_f64 d;
  vt_sum_f32_init(&s);
  vt_sum_f64_init(&d);
  for (int64_t t = 0; t < p->taps; t++) {
    int64_t from = 0;
    int inside = 1;
    tap_of(p, t, k);
    for (uint32_t i = 0; i < p->axes; i++) {
      const int64_t x = tap_at(p, i, at[i], k[i]);
      inside &= is_inside(p, i, x);
      from += x * p->x->stride[2 + i];
    }
    if (p->size == 4) vt_sum_f32_add(&s, inside ? ((const float *)(const void *)plane)[from] : 0);
    if (p->size == 8) vt_sum_f64_add(&d, inside ? ((const double *)(const void *)plane)[from] : 0);
  }
  if (p->size == 4) *(float *)(void *)to = vt_sum_f32_done(&s) / (float)counted(p, at);
  if (p->size == 8) *(double *)(void *)to = vt_sum_f64_done(&d) / (double)counted(p, at);
}

static void divide(const pooling *p, char *to, int64_t n, int64_t step) {
  for (int64_t i = 0; i < n; i++, to += step) {
    if (p->size == 4) *(float *)(void *)to /= (float)p->taps;
    if (p->size == 8) *(double *)(void *)to /= (double)p->taps;
  }
}

enum { MOST_TAPS = 256 }; /* more are taken one window at a time */

/* The windows first .. end-1 of a line, none of whose taps is outside: +0 + S is S. 0 when there
 * are such taps on other axes. */
static int avg_inside(const pooling *p, const int64_t *at, char *to, const char *plane,
                      int64_t first, int64_t end) {
  vt_cpu_record rows[MOST_TAPS];
  int64_t k[VT_SPATIAL_MAX];
  if (p->taps > MOST_TAPS) return 0;
  for (int64_t t = 0; t < p->taps; t++) {
    tap_of(p, t, k);
    rows[t].key = 0;
    if (!line_of(p, at, k, &rows[t].at)) return 0;
  }
  vt_cpu_landing l = landing_of(p, to, plane, first, end);
  l.rows = rows;
  l.n = p->taps;
  for (int64_t i = 0; i < l.columns; i++) memset(l.to + i * l.to_step, 0, (size_t)p->size);
  p->team->kernels->moves->sum[p->x->dtype](&l);
  divide(p, l.to, l.columns, l.to_step);
  return 1;
}

static void avg_line(const pooling *p, const int64_t *at, char *to, const char *plane) {
  const uint32_t last = p->axes - 1;
  const int64_t n = p->y->dim[2 + last], step = p->y->stride[2 + last] * p->size;
  int64_t own[VT_SPATIAL_MAX], first, end, other;
  memcpy(own, at, sizeof own);
  windows_of(p, 0, &first, &other);
  windows_of(p, p->w[last].kernel - 1, &other, &end);
  if (first >= end || !avg_inside(p, at, to, plane, first, end)) first = end = 0;
  for (int64_t i = 0; i < n; i++) {
    if (i >= first && i < end) continue;
    own[last] = i;
    avg_edge(p, own, to + i * step, plane);
  }
}

/* ---- all lines ---- */

static void pool_job(void *context, uint64_t job) {
  const pooling *p = context;
  const int64_t first = vt_cpu_first(p->count, p->jobs, job);
  vt_cpu_walk w = {0};
  for (uint32_t i = 0; i + 1 < p->y->rank; i++)
    vt_cpu_walk_axis(&w, p->y->dim[i], p->y->stride[i], i < 2 ? p->x->stride[i] : 0, 0);
  vt_cpu_walk_to(&w, first);
  for (int64_t n = vt_cpu_first(p->count, p->jobs, job + 1) - first; n > 0; n--) {
    int64_t at[VT_SPATIAL_MAX] = {0};
    for (uint32_t i = 0; i + 1 < p->axes; i++) at[i] = w.index[2 + i];
    p->line(p, at, (char *)p->y->data + w.at[0] * p->size,
            (const char *)p->x->data + w.at[1] * p->size);
    vt_cpu_walk_on(&w, 1);
  }
}

static vt_status pool(vt_cpu_call *c, const vt_pooling *attrs, pooling *p) {
  const int64_t count = vt_cpu_count(c->out);
  if (count == 0) return VT_OK;
  p->team = c->team;
  p->x = &c->in[0];
  p->y = c->out;
  p->axes = c->out->rank - 2;
  p->taps = 1;
  p->size = (int64_t)vt_cpu_bytes_of(c->out->dtype);
  p->count_padding = attrs->count_padding;
  for (uint32_t i = 0; i < p->axes; i++) {
    p->w[i] = vt_pooling_axis(attrs, i);
    p->taps *= p->w[i].kernel;
  }
  p->count = count / c->out->dim[c->out->rank - 1];
  p->jobs = vt_cpu_jobs(c->team, (uint64_t)p->count, (double)(count / p->count * p->taps) * 0.5);
  vt_cpu_share(c->team, p->jobs, pool_job, p);
  return VT_OK;
}

vt_status run_max_pool(vt_cpu_call *c) {
  const vt_pooling attrs = vt_pooling_max(c->attrs);
  pooling p = {.line = max_line};
  return pool(c, &attrs, &p);
}

vt_status run_avg_pool(vt_cpu_call *c) {
  const vt_pooling attrs = vt_pooling_avg(c->attrs);
  pooling p = {.line = avg_line};
  return pool(c, &attrs, &p);
}
