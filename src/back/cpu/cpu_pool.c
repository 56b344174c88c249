/* SPDX-License-Identifier: Apache-2.0
 * cpu_pool.c - the ops max_pool and avg_pool. A line of windows along the last axis is computed
 * together, one tap of all windows after the other. If there is padding, each plane of x is first
 * copied into a padded plane of the job, so that no tap needs a test whether it is inside of x. */
#include "cpu_move.h"
#include "op_pool.h"

typedef struct pooling {
  const vt_cpu_team *team;
  const vt_view *x, *y;
  uint32_t axes; /* spatial axes */
  vt_window w[VT_SPATIAL_MAX];
  int count_padding;
  int64_t taps, size;
  int is_padded;
  vt_view inner, outer; /* a plane of x; the plane that windows read: the same, or a padded one */
  vt_cpu_path path;     /* copies a plane of x into a padded plane, at offset `middle` */
  int64_t middle;
  vt_cpu_record *rows; /* for each tap: its offset from the start of the window, in bytes */
  int64_t *counts;     /* for each window of a line: the taps along the last axis that count */
  char *padded;        /* one padded plane per job */
  int64_t each;        /* bytes of a padded plane */
  int64_t items;       /* number of planes if they are padded, else of lines */
  uint64_t jobs;
  void (*line)(const struct pooling *p, const int64_t *at, vt_cpu_row_updates *l);
  uint64_t padding_bits; /* bits of a padding element */
} pooling;

/* ---- planning ---- */

/* The extent that windows read along an axis, padding included; elements of x beyond it are not
 * read. */
static int64_t extent_of_windows(const pooling *p, uint32_t i) {
  return (p->y->dim[2 + i] - 1) * p->w[i].stride + (p->w[i].kernel - 1) * p->w[i].dilation + 1;
}

static void plan_padding(pooling *p) {
  int64_t dim[VT_SPATIAL_MAX], stride = 1;
  p->inner = p->outer = vt_cpu_select_axes(p->x, 2, p->axes);
  for (uint32_t i = 0; i < p->axes; i++) {
    dim[i] = extent_of_windows(p, i);
    p->is_padded |= p->w[i].low > 0 || dim[i] > p->x->dim[2 + i];
  }
  if (!p->is_padded) return;
  p->outer = vt_cpu_reshape_view(p->x, p->axes, dim);
  vt_view middle = p->outer;
  for (uint32_t i = 0; i < p->axes; i++) {
    const int64_t room = dim[i] - p->w[i].low, n = p->inner.dim[i];
    middle.dim[i] = p->inner.dim[i] = room <= 0 ? 0 : n < room ? n : room;
    p->middle += p->w[i].low * p->outer.stride[i] * p->size;
    stride *= dim[i];
  }
  p->path = vt_cpu_path_of(p->team->kernels, &middle, &p->inner);
  p->each = vt_cpu_round_up(stride * p->size, VT_CPU_LINE);
}

static void plan_jobs(pooling *p) {
  const vt_view *y = p->y;
  const int64_t count = vt_cpu_count(y);
  p->items = p->is_padded ? y->dim[0] * y->dim[1] : count / y->dim[y->rank - 1];
  p->jobs =
      vt_cpu_job_count(p->team, (uint64_t)p->items,
                       (double)(count / p->items) * (double)p->taps * 0.3 + (double)p->each * 0.1);
  if (p->is_padded && p->jobs > p->team->threads) p->jobs = p->team->threads;
}

/* Sets up *p. Returns 0 if there are no results; then *p is not set. */
static int init_pooling_if_not_empty(const vt_cpu_call *c, const vt_pooling *attrs, pooling *p) {
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

/* Bytes of `rows` and `counts`, which precede the padded planes in the scratch. */
static uint64_t tap_tables_bytes(const pooling *p) {
  const uint64_t columns = (uint64_t)p->y->dim[p->axes + 1];
  return vt_cpu_round_to_line((uint64_t)p->taps * sizeof *p->rows + columns * sizeof *p->counts);
}

static uint64_t scratch_bytes(const vt_cpu_call *c, const vt_pooling *attrs) {
  pooling p = {0};
  return init_pooling_if_not_empty(c, attrs, &p) ? tap_tables_bytes(&p) + p.jobs * (uint64_t)p.each
                                                 : 0;
}

static void list_tap_offsets(const pooling *p) {
  vt_cpu_walk w = {0};
  for (uint32_t i = 0; i < p->axes; i++)
    vt_cpu_walk_add_axis(&w, p->w[i].kernel, p->w[i].dilation * p->outer.stride[i] * p->size, 0, 0);
  for (int64_t t = 0; t < p->taps; t++, vt_cpu_walk_advance(&w, 1))
    p->rows[t] = (vt_cpu_record){.at = w.at[0]};
}

/* How many taps of window number `window` along an axis count: those inside of x, or also those in
 * its padding. */
static int64_t count_averaged_taps(const pooling *p, uint32_t axis, int64_t window) {
  const vt_window *w = &p->w[axis];
  const int64_t from = p->count_padding ? 0 : w->low;
  const int64_t to = w->low + p->x->dim[2 + axis] + (p->count_padding ? w->high : 0);
  int64_t n = 0;
  for (int64_t k = 0; k < w->kernel; k++) {
    const int64_t x = window * w->stride + k * w->dilation;
    n += x >= from && x < to;
  }
  return n;
}

/* ---- lines of windows ---- */

/* Writes the padding element n times. */
static void write_padding(const pooling *p, char *to, int64_t n, int64_t step) {
  const vt_cpu_plane all = {
      .to = to, .from = (const char *)&p->padding_bits, .rows = 1, .columns = n, .to_column = step};
  p->team->kernels->moves->strided[vt_cpu_size_index(p->size)](&all);
}

/* Computes a line of max_pool: results start with the least value of the type (the padding
 * element), and each tap is compared with them. */
static void max_pool_line(const pooling *p, const int64_t *at, vt_cpu_row_updates *l) {
  (void)at;
  write_padding(p, l->to, l->columns, l->to_step);
  p->team->kernels->moves->max[p->x->dtype](l);
}

/* Computes a line of avg_pool: the ordered sum S of the taps is added to +0, which does not change
 * S, and divided by the number of taps that count. */
static void avg_pool_line(const pooling *p, const int64_t *at, vt_cpu_row_updates *l) {
  int64_t others = 1;
  for (uint32_t i = 0; i + 1 < p->axes; i++) others *= count_averaged_taps(p, i, at[i]);
  write_padding(p, l->to, l->columns, l->to_step);
  p->team->kernels->moves->sum[p->x->dtype](l);
  for (int64_t i = 0; i < l->columns; i++) {
    char *to = l->to + i * l->to_step;
    if (p->size == 4) *(float *)(void *)to /= (float)(others * p->counts[i]);
    if (p->size == 8) *(double *)(void *)to /= (double)(others * p->counts[i]);
  }
}

/* Computes the line of windows at at[0], at[1], ... on all axes but the last; `to` and `from` are
 * planes. */
static void pool_line(const pooling *p, const int64_t *at, char *to, const char *from) {
  const uint32_t last = p->axes - 1;
  for (uint32_t i = 0; i < last; i++) {
    to += at[i] * p->y->stride[2 + i] * p->size;
    from += at[i] * p->w[i].stride * p->outer.stride[i] * p->size;
  }
  vt_cpu_row_updates l = {.to = to,
                          .from = from,
                          .rows = p->rows,
                          .n = p->taps,
                          .columns = p->y->dim[2 + last],
                          .to_step = p->y->stride[2 + last] * p->size,
                          .from_step = p->w[last].stride * p->outer.stride[last] * p->size};
  p->line(p, at, &l);
}

/* ---- jobs ---- */

static void pool_lines(const pooling *p, vt_cpu_walk *w, int64_t n) {
  for (; n > 0; n--, vt_cpu_walk_advance(w, 1))
    pool_line(p, w->index + 2, (char *)p->y->data + w->at[0] * p->size,
              (const char *)p->x->data + w->at[1] * p->size);
}

static void pool_planes(const pooling *p, vt_cpu_walk *w, int64_t n, char *padded) {
  vt_cpu_walk lines = {0};
  write_padding(p, padded, p->each / p->size, p->size);
  for (uint32_t i = 0; i + 1 < p->axes; i++)
    vt_cpu_walk_add_axis(&lines, p->y->dim[2 + i], 0, 0, 0);
  for (; n > 0; n--, vt_cpu_walk_advance(w, 1)) {
    vt_cpu_path_copy(&p->path, padded + p->middle, (const char *)p->x->data + w->at[1] * p->size);
    for (int64_t i = vt_cpu_walk_count(&lines); i > 0; i--, vt_cpu_walk_advance(&lines, 1))
      pool_line(p, lines.index, (char *)p->y->data + w->at[0] * p->size, padded);
  }
}

static void pool_job(void *context, uint64_t job) {
  const pooling *p = context;
  const int64_t first = vt_cpu_job_first(p->items, p->jobs, job);
  const int64_t n = vt_cpu_job_first(p->items, p->jobs, job + 1) - first;
  vt_cpu_walk w = {0};
  for (uint32_t i = 0; i < 2; i++)
    vt_cpu_walk_add_axis(&w, p->y->dim[i], p->y->stride[i], p->x->stride[i], 0);
  for (uint32_t i = 0; !p->is_padded && i + 1 < p->axes; i++)
    /* strides 0, because pool_line adds the offsets */
    vt_cpu_walk_add_axis(&w, p->y->dim[2 + i], 0, 0, 0);
  vt_cpu_walk_set(&w, first);
  if (p->is_padded) {
    pool_planes(p, &w, n, p->padded + (int64_t)job * p->each);
  } else {
    pool_lines(p, &w, n);
  }
}

static vt_status run_pool(vt_cpu_call *c, const vt_pooling *attrs, pooling *p) {
  if (!init_pooling_if_not_empty(c, attrs, p)) return VT_OK;
  p->rows = c->work;
  p->padded = (char *)c->work + tap_tables_bytes(p);
  p->counts = (int64_t *)(void *)(p->rows + p->taps);
  list_tap_offsets(p);
  for (int64_t i = 0; i < p->y->dim[p->axes + 1]; i++)
    p->counts[i] = count_averaged_taps(p, p->axes - 1, i);
  vt_cpu_run_jobs(c->team, p->jobs, pool_job, p);
  return VT_OK;
}

/* ---- handlers ---- */

uint64_t vt_cpu_scratch_max_pool(const vt_cpu_call *c) {
  const vt_pooling attrs = vt_pooling_max(c->attrs);
  return scratch_bytes(c, &attrs);
}

vt_status vt_cpu_run_max_pool(vt_cpu_call *c) {
  static const uint64_t least[] = {
      [VT_DTYPE_F32] = 0xff800000, [VT_DTYPE_F64] = UINT64_C(0xfff0000000000000),
      [VT_DTYPE_I8] = 0x80,        [VT_DTYPE_U8] = 0,
      [VT_DTYPE_I32] = 0x80000000, [VT_DTYPE_I64] = UINT64_C(1) << 63};
  const vt_pooling attrs = vt_pooling_max(c->attrs);
  pooling p = {.line = max_pool_line, .padding_bits = least[c->out->dtype]};
  return run_pool(c, &attrs, &p);
}

uint64_t vt_cpu_scratch_avg_pool(const vt_cpu_call *c) {
  const vt_pooling attrs = vt_pooling_avg(c->attrs);
  return scratch_bytes(c, &attrs);
}

vt_status vt_cpu_run_avg_pool(vt_cpu_call *c) {
  const vt_pooling attrs = vt_pooling_avg(c->attrs);
  pooling p = {.line = avg_pool_line};
  return run_pool(c, &attrs, &p);
}
