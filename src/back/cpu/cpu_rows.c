/* SPDX-License-Identifier: Apache-2.0
 * cpu_rows.c - shares the rows of an op among the threads, and copies rows that have gaps. */
#include "cpu_rows.h"
#include <string.h>

enum { MAX_ROWS = 64, BLOCK = 64, GROUP_BYTES = 1 << 19 };

typedef struct row_jobs {
  const vt_cpu_rowwise *r;
  uint64_t jobs;
  int64_t group;          /* rows that are copied together */
  int64_t pitch, scratch; /* bytes of one copied row; bytes of scratch for copies of x and y; 0:
                          nothing is copied */
} row_jobs;

void vt_cpu_rows_init(vt_cpu_rowwise *r, const vt_cpu_call *c, unsigned mask) {
  const vt_view *x = &c->in[0];
  const vt_view y = vt_cpu_keepdims_view(c->out, x, mask);
  memset(r, 0, sizeof *r);
  r->call = c;
  r->x = x->data;
  r->y = y.data;
  r->dtype = x->dtype;
  r->size = (int64_t)vt_cpu_bytes_of(x->dtype);
  vt_cpu_axes_select(x, &y, ~mask, &r->lines);
  vt_cpu_axes_select(x, &y, mask, &r->along);
  r->n = r->along.count;
}

static int has_gaps(const vt_cpu_rowwise *r) {
  const vt_cpu_axes *a = &r->along;
  return r->n > 1 && (a->n > 1 || a->x[0] != 1 || (a->y[0] != 1 && !r->one));
}

/* Rows with gaps are copied in groups that fit the cache; then there is one job per thread, which
 * has one group of copies. */
static row_jobs row_jobs_of(const vt_cpu_rowwise *r) {
  const vt_cpu_team *t = r->call->team;
  row_jobs s = {.r = r, .group = 1};
  if (r->lines.count == 0) return s;
  s.jobs = vt_cpu_job_count(t, (uint64_t)r->lines.count, 20.0 + r->cost * (double)r->n);
  if (!has_gaps(r)) return s;
  s.pitch = vt_cpu_round_up(r->n * r->size, VT_CPU_LINE) +
            /* not a power of two, at which rows would compete for the same lines of cache */
            VT_CPU_LINE;
  const int64_t fit = GROUP_BYTES / (2 * s.pitch);
  s.group = fit < 1 ? 1 : fit > MAX_ROWS ? MAX_ROWS : fit;
  s.scratch = 2 * s.group * s.pitch;
  if (s.jobs > t->threads) s.jobs = t->threads;
  return s;
}

uint64_t vt_cpu_rows_scratch_bytes(const vt_cpu_rowwise *r) {
  const row_jobs s = row_jobs_of(r);
  return (uint64_t)(r->head + (int64_t)s.jobs * s.scratch);
}

/* If neighbouring rows are contiguous they are transposed, so that each cache line is read once. */
static vt_cpu_plane_fn *choose_copy_kernel(const vt_cpu_rowwise *r, int64_t distance) {
  const vt_cpu_moves *moves = r->call->team->kernels->moves;
  return (distance == 1 ? moves->transpose : moves->strided)[vt_cpu_size_index(r->size)];
}

/* Copies a group of evenly spaced rows to `scratch`. */
static void copy_rows_in(const row_jobs *s, int64_t rows, const char *x, char *scratch) {
  const vt_cpu_rowwise *r = s->r;
  const vt_cpu_axes *a = &r->along;
  const int64_t size = r->size, distance = r->lines.x[r->lines.n - 1];
  for (int64_t i = 0, run, at, none; i < r->n; i += run) {
    run = vt_cpu_axes_count_evenly_spaced(a, i, r->n - i < BLOCK ? r->n - i : BLOCK);
    vt_cpu_axes_offsets(a, i, &at, &none);
    const vt_cpu_plane p = {scratch + i * size, x + at * size,        rows, run, s->pitch, size,
                            distance * size,    a->x[a->n - 1] * size};
    choose_copy_kernel(r, distance)(&p);
  }
}

/* Copies a group of results from `scratch` to y. */
static void copy_rows_out(const row_jobs *s, int64_t rows, const char *scratch, char *y) {
  const vt_cpu_rowwise *r = s->r;
  const vt_cpu_axes *a = &r->along;
  const int64_t size = r->size, distance = r->lines.y[r->lines.n - 1];
  for (int64_t i = 0, run, at, none; i < r->n; i += run) {
    run = vt_cpu_axes_count_evenly_spaced(a, i, r->n - i < BLOCK ? r->n - i : BLOCK);
    vt_cpu_axes_offsets(a, i, &none, &at);
    const vt_cpu_plane p = {y + at * size,         scratch + i * size, run,  rows,
                            a->y[a->n - 1] * size, distance * size,    size, s->pitch};
    choose_copy_kernel(r, distance)(&p);
  }
}

/* Computes one row and, if the host reads the result, makes its NaNs canonical while it is in
 * cache. */
static void compute_row(const vt_cpu_rowwise *r, int64_t i, const char *x, char *y) {
  r->row(r, i, x, y);
  if (r->call->leaves & 1) vt_cpu_canonicalize_part(r->call->team, r->dtype, y, r->one ? 1 : r->n);
}

static void compute_copied_rows(const row_jobs *s, int64_t first, int64_t rows, char *scratch) {
  const vt_cpu_rowwise *r = s->r;
  char *made = scratch + s->group * s->pitch;
  int64_t x_at, y_at, none;
  vt_cpu_axes_offsets(&r->lines, first, &x_at, &y_at);
  copy_rows_in(s, rows, r->x + x_at * r->size, scratch);
  for (int64_t j = 0; j < rows; j++) {
    if (r->one) vt_cpu_axes_offsets(&r->lines, first + j, &none, &y_at);
    char *y = r->one ? r->y + y_at * r->size : made + j * s->pitch;
    compute_row(r, first + j, scratch + j * s->pitch, y);
  }
  if (!r->one) copy_rows_out(s, rows, made, r->y + y_at * r->size);
}

static void compute_row_in_place(const row_jobs *s, int64_t i) {
  const vt_cpu_rowwise *r = s->r;
  int64_t x, y;
  vt_cpu_axes_offsets(&r->lines, i, &x, &y);
  compute_row(r, i, r->x + x * r->size, r->y + y * r->size);
}

static void rows_job(void *context, uint64_t job) {
  const row_jobs *s = context;
  const vt_cpu_rowwise *r = s->r;
  const int64_t end = vt_cpu_job_first(r->lines.count, s->jobs, job + 1);
  int64_t i = vt_cpu_job_first(r->lines.count, s->jobs, job), rows;
  for (; s->scratch == 0 && i < end; i++) compute_row_in_place(s, i);
  for (; i < end; i += rows) {
    rows = vt_cpu_axes_count_evenly_spaced(&r->lines, i, end - i < s->group ? end - i : s->group);
    compute_copied_rows(s, i, rows, (char *)r->call->work + r->head + (int64_t)job * s->scratch);
  }
}

/* Rows without elements are skipped, however many there are, unless each row becomes a number. */
void vt_cpu_rows_run(vt_cpu_call *c, const vt_cpu_rowwise *r) {
  row_jobs s = row_jobs_of(r);
  const int empty = r->n == 0 && !r->one && c->n_out == 1;
  if (s.jobs > 0 && !empty) vt_cpu_run_jobs(c->team, s.jobs, rows_job, &s);
  c->leaves &= ~1u;
}
