/* SPDX-License-Identifier: Apache-2.0
 * cpu_pool.c - max_pool and avg_pool, whole: a line of windows along the last axis at a time, one
 * tap of all of them after the other. Where there is padding a plane is copied into the midst of
 * some that a job keeps, so that no tap needs to be asked whether it lies on x. */
#include "cpu_move.h"
#include "op_pool.h"

typedef struct pooling {
  const vt_cpu_team *team;
  const vt_view *x, *y;
  uint32_t axes; /* spatial ones */
  vt_window w[VT_SPATIAL_MAX];
  int count_padding;
  int64_t taps, size;
  int is_padded;
  vt_view inner, outer; /* one plane of x, and what the windows go over: it or the padded one */
  vt_cpu_path path;     /* x into the midst of a padded plane, which starts at `middle` */
  int64_t middle;
  vt_cpu_record *rows; /* of each tap: where it lies from the start of its window, in bytes */
  int64_t *counts;     /* taps along the last axis that count, for each window of a line */
  char *padded;        /* planes, one for each job */
  int64_t each;        /* bytes of one */
  int64_t items;       /* planes where they are padded, else lines */
  uint64_t jobs;
  void (*line)(const struct pooling *p, const int64_t *at, vt_cpu_landing *l);
  uint64_t around; /* the bits of a number of the padding */
} pooling;

/* ---- what there is to do ---- */

/* How far the windows reach along an axis; what is left of x behind them is never looked at. */
static int64_t reach(const pooling *p, uint32_t i) {
  return (p->y->dim[2 + i] - 1) * p->w[i].stride + (p->w[i].kernel - 1) * p->w[i].dilation + 1;
}

static void plan_padding(pooling *p) {
  int64_t dim[VT_SPATIAL_MAX], stride = 1;
  p->inner = p->outer = vt_cpu_some_axes(p->x, 2, p->axes);
  for (uint32_t i = 0; i < p->axes; i++) {
    dim[i] = reach(p, i);
    p->is_padded |= p->w[i].low > 0 || dim[i] > p->x->dim[2 + i];
  }
  if (!p->is_padded) return;
  p->outer = vt_cpu_reshaped(p->x, p->axes, dim);
  vt_view middle = p->outer;
  for (uint32_t i = 0; i < p->axes; i++) {
    const int64_t room = dim[i] - p->w[i].low, n = p->inner.dim[i];
    middle.dim[i] = p->inner.dim[i] = room <= 0 ? 0 : n < room ? n : room;
    p->middle += p->w[i].low * p->outer.stride[i] * p->size;
    stride *= dim[i];
  }
  p->path = vt_cpu_path_of(p->team->kernels, &middle, &p->inner);
  p->each = vt_cpu_whole(stride * p->size, VT_CPU_LINE);
}

static void plan_jobs(pooling *p) {
  const vt_view *y = p->y;
  const int64_t count = vt_cpu_count(y);
  p->items = p->is_padded ? y->dim[0] * y->dim[1] : count / y->dim[y->rank - 1];
  p->jobs = vt_cpu_jobs(p->team, (uint64_t)p->items,
                        (double)(count / p->items) * (double)p->taps * 0.3 + (double)p->each * 0.1);
  if (p->is_padded && p->jobs > p->team->threads) p->jobs = p->team->threads;
}

/* Without results there is nothing to do, and nothing is known. */
static int plan(const vt_cpu_call *c, const vt_pooling *attrs, pooling *p) {
  if (vt_cpu_count(c->out) == 0) return 0;
  p->team = c->team;
  p->x = &c->in[0];
  p->y = c->out;
  p->axes = c->out->rank - 2;
  p->count_padding = attrs->count_padding;
  p->size = (int64_t)vt_cpu_bytes_of(c->out->dtype);
  p->taps = 1;
  for (uint32_t i = 0; i < p->axes; i++) {
    p->w[i] = vt_pooling_axis(attrs, i);
    p->taps *= p->w[i].kernel;
  }
  plan_padding(p);
  plan_jobs(p);
  return 1;
}

/* The taps and the counts of a line, then the padded planes. */
static uint64_t table_bytes(const pooling *p) {
  const uint64_t columns = (uint64_t)p->y->dim[p->axes + 1];
  return vt_cpu_to_line((uint64_t)p->taps * sizeof *p->rows + columns * sizeof *p->counts);
}

static uint64_t bytes(const vt_cpu_call *c, const vt_pooling *attrs) {
  pooling p = {0};
  return plan(c, attrs, &p) ? table_bytes(&p) + p.jobs * (uint64_t)p.each : 0;
}

static void find_taps(const pooling *p) {
  vt_cpu_walk w = {0};
  for (uint32_t i = 0; i < p->axes; i++)
    vt_cpu_walk_axis(&w, p->w[i].kernel, p->w[i].dilation * p->outer.stride[i] * p->size, 0, 0);
  for (int64_t t = 0; t < p->taps; t++, vt_cpu_walk_on(&w, 1))
    p->rows[t] = (vt_cpu_record){.at = w.at[0]};
}

/* Taps along axis i of the window at `at` that count: those on x, or on x and its padding. */
static int64_t counted(const pooling *p, uint32_t i, int64_t at) {
  const vt_window *w = &p->w[i];
  const int64_t from = p->count_padding ? 0 : w->low;
  const int64_t to = w->low + p->x->dim[2 + i] + (p->count_padding ? w->high : 0);
  int64_t n = 0;
  for (int64_t k = 0; k < w->kernel; k++) {
    const int64_t x = at * w->stride + k * w->dilation;
    n += x >= from && x < to;
  }
  return n;
}

static void find_counts(const pooling *p) {
  for (int64_t i = 0; i < p->y->dim[p->axes + 1]; i++) p->counts[i] = counted(p, p->axes - 1, i);
}

/* ---- lines of windows ---- */

/* The number of the padding at n places. */
static void fill(const pooling *p, char *to, int64_t n, int64_t step) {
  const vt_cpu_plane all = {
      .to = to, .from = (const char *)&p->around, .rows = 1, .columns = n, .to_column = step};
  p->team->kernels->moves->each[vt_cpu_size_index(p->size)](&all);
}

/* The result starts as less than any number, then each tap is compared with it. */
static void max_line(const pooling *p, const int64_t *at, vt_cpu_landing *l) {
  (void)at;
  fill(p, l->to, l->columns, l->to_step);
  p->team->kernels->moves->greatest[p->x->dtype](l);
}

/* S is added to +0, which leaves it as it is. */
static void avg_line(const pooling *p, const int64_t *at, vt_cpu_landing *l) {
  int64_t others = 1;
  for (uint32_t i = 0; i + 1 < p->axes; i++) others *= counted(p, i, at[i]);
  fill(p, l->to, l->columns, l->to_step);
  p->team->kernels->moves->sum[p->x->dtype](l);
  for (int64_t i = 0; i < l->columns; i++) {
    char *to = l->to + i * l->to_step;
    if (p->size == 4) *(float *)(void *)to /= (float)(others * p->counts[i]);
    if (p->size == 8) *(double *)(void *)to /= (double)(others * p->counts[i]);
  }
}

/* The windows at at[0], at[1], ... besides the last axis; `to` and `from` are planes. */
static void do_line(const pooling *p, const int64_t *at, char *to, const char *from) {
  const uint32_t last = p->axes - 1;
  for (uint32_t i = 0; i < last; i++) {
    to += at[i] * p->y->stride[2 + i] * p->size;
    from += at[i] * p->w[i].stride * p->outer.stride[i] * p->size;
  }
  vt_cpu_landing l = {.to = to,
                      .from = from,
                      .rows = p->rows,
                      .n = p->taps,
                      .columns = p->y->dim[2 + last],
                      .to_step = p->y->stride[2 + last] * p->size,
                      .from_step = p->w[last].stride * p->outer.stride[last] * p->size};
  p->line(p, at, &l);
}

/* ---- jobs ---- */

static void do_lines(const pooling *p, vt_cpu_walk *w, int64_t n) {
  for (; n > 0; n--, vt_cpu_walk_on(w, 1))
    do_line(p, w->index + 2, (char *)p->y->data + w->at[0] * p->size,
            (const char *)p->x->data + w->at[1] * p->size);
}

static void do_planes(const pooling *p, vt_cpu_walk *w, int64_t n, char *padded) {
  vt_cpu_walk lines = {0};
  fill(p, padded, p->each / p->size, p->size);
  for (uint32_t i = 0; i + 1 < p->axes; i++) vt_cpu_walk_axis(&lines, p->y->dim[2 + i], 0, 0, 0);
  for (; n > 0; n--, vt_cpu_walk_on(w, 1)) {
    vt_cpu_path_go(&p->path, padded + p->middle, (const char *)p->x->data + w->at[1] * p->size);
    for (int64_t i = vt_cpu_walk_count(&lines); i > 0; i--, vt_cpu_walk_on(&lines, 1))
      do_line(p, lines.index, (char *)p->y->data + w->at[0] * p->size, padded);
  }
}

static void pool_job(void *context, uint64_t job) {
  const pooling *p = context;
  const int64_t first = vt_cpu_first(p->items, p->jobs, job);
  const int64_t n = vt_cpu_first(p->items, p->jobs, job + 1) - first;
  vt_cpu_walk w = {0};
  for (uint32_t i = 0; i < 2; i++)
    vt_cpu_walk_axis(&w, p->y->dim[i], p->y->stride[i], p->x->stride[i], 0);
  for (uint32_t i = 0; !p->is_padded && i + 1 < p->axes; i++)
    vt_cpu_walk_axis(&w, p->y->dim[2 + i], 0, 0, 0); /* do_line knows where they lie */
  vt_cpu_walk_to(&w, first);
  if (p->is_padded) {
    do_planes(p, &w, n, p->padded + (int64_t)job * p->each);
  } else {
    do_lines(p, &w, n);
  }
}

static vt_status pool(vt_cpu_call *c, const vt_pooling *attrs, pooling *p) {
  if (!plan(c, attrs, p)) return VT_OK;
  p->rows = c->work;
  p->padded = (char *)c->work + table_bytes(p);
  p->counts = (int64_t *)(void *)(p->rows + p->taps);
  find_taps(p);
  find_counts(p);
  vt_cpu_share(c->team, p->jobs, pool_job, p);
  return VT_OK;
}

/* ---- handlers ---- */

uint64_t vt_cpu_work_max_pool(const vt_cpu_call *c) {
  const vt_pooling attrs = vt_pooling_max(c->attrs);
  return bytes(c, &attrs);
}

vt_status vt_cpu_run_max_pool(vt_cpu_call *c) {
  static const uint64_t least[] = {
      [VT_DTYPE_F32] = 0xff800000, [VT_DTYPE_F64] = UINT64_C(0xfff0000000000000),
      [VT_DTYPE_I8] = 0x80,        [VT_DTYPE_U8] = 0,
      [VT_DTYPE_I32] = 0x80000000, [VT_DTYPE_I64] = UINT64_C(1) << 63};
  const vt_pooling attrs = vt_pooling_max(c->attrs);
  pooling p = {.line = max_line, .around = least[c->out->dtype]};
  return pool(c, &attrs, &p);
}

uint64_t vt_cpu_work_avg_pool(const vt_cpu_call *c) {
  const vt_pooling attrs = vt_pooling_avg(c->attrs);
  return bytes(c, &attrs);
}

vt_status vt_cpu_run_avg_pool(vt_cpu_call *c) {
  const vt_pooling attrs = vt_pooling_avg(c->attrs);
  pooling p = {.line = avg_line};
  return pool(c, &attrs, &p);
}
