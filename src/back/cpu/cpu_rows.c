/* SPDX-License-Identifier: Apache-2.0
 * cpu_rows.c - rows shared by the team, and brought together where they have gaps. */
#include "cpu_rows.h"
#include <string.h>

enum { MOST_ROWS = 16, BLOCK = 64, GROUP_BYTES = 1 << 17 };

typedef struct share {
  const vt_cpu_rowing *r;
  uint64_t jobs;
  int64_t group, room; /* rows that are copied at once, and the bytes that takes; 0: none is */
} share;

void vt_cpu_rows_view(vt_cpu_rowing *r, const vt_cpu_call *c, unsigned mask) {
  const vt_view *x = &c->in[0];
  const vt_view y = vt_cpu_kept_view(c->out, x, mask);
  memset(r, 0, sizeof *r);
  r->call = c;
  r->dtype = x->dtype;
  r->size = (int64_t)vt_cpu_bytes_of(x->dtype);
  vt_cpu_axes_of(x, &y, ~mask, &r->lines);
  vt_cpu_axes_of(x, &y, mask, &r->along);
  r->n = r->along.count;
}

static int has_gaps(const vt_cpu_rowing *r) {
  const vt_cpu_axes *a = &r->along;
  return r->n > 1 && (a->n > 1 || a->x[0] != 1 || (a->y[0] != 1 && !r->one));
}

/* Copied rows go in groups as large as the cache likes, and one group a thread. */
static share share_of(const vt_cpu_rowing *r) {
  const vt_cpu_team *t = r->call->team;
  share s = {.r = r, .group = 1};
  if (r->lines.count == 0) return s;
  s.jobs = vt_cpu_jobs(t, (uint64_t)r->lines.count, 20.0 + r->cost * (double)r->n);
  if (!has_gaps(r)) return s;
  const int64_t bytes = r->n * r->size * 2, fit = GROUP_BYTES / (bytes > 0 ? bytes : 1);
  s.group = fit < 1 ? 1 : fit > MOST_ROWS ? MOST_ROWS : fit;
  s.room = (s.group * bytes + 63) / 64 * 64;
  if (s.jobs > t->threads) s.jobs = t->threads;
  return s;
}

uint64_t vt_cpu_rows_work(const vt_cpu_rowing *r) {
  const share s = share_of(r);
  return (uint64_t)(r->head + (int64_t)s.jobs * s.room);
}

/* Element i of rows that begin at `at`: blocks of each row in turn, since neighbours share lines of
 * cache. To the room, or back from it. */
static void copy_rows(const vt_cpu_rowing *r, int64_t rows, const int64_t *at, char *data,
                      char *room, int back) {
  const vt_cpu_axes *a = &r->along;
  for (int64_t i = 0, run; i < r->n; i += run) {
    int64_t x, y;
    run = vt_cpu_axes_run(a, i, r->n - i < BLOCK ? r->n - i : BLOCK);
    vt_cpu_axes_at(a, i, &x, &y);
    for (int64_t j = 0; j < rows; j++) {
      char *there = data + (at[j] + (back ? y : x)) * r->size,
           *here = room + (j * r->n + i) * r->size;
      if (back) {
        vt_cpu_spread(there, a->y[a->n - 1], here, 1, run, r->size);
      } else {
        vt_cpu_spread(here, 1, there, a->x[a->n - 1], run, r->size);
      }
    }
  }
}

static void run_group(const share *s, int64_t first, int64_t rows, char *room) {
  const vt_cpu_rowing *r = s->r;
  char *x = r->call->in[0].data, *y = r->call->out[0].data;
  char *made = room + rows * r->n * r->size;
  const int64_t row = r->n * r->size;
  int64_t x_at[MOST_ROWS], y_at[MOST_ROWS];
  for (int64_t j = 0; j < rows; j++) vt_cpu_axes_at(&r->lines, first + j, &x_at[j], &y_at[j]);
  if (s->room > 0) copy_rows(r, rows, x_at, x, room, 0);
  for (int64_t j = 0; j < rows; j++) {
    const char *from = s->room > 0 ? room + j * row : x + x_at[j] * r->size;
    char *to = s->room > 0 && !r->one ? made + j * row : y + y_at[j] * r->size;
    r->row(r, first + j, from, to);
    if (r->call->leaves & 1) vt_cpu_leave_part(r->call->team, r->dtype, to, r->one ? 1 : r->n);
  }
  if (s->room > 0 && !r->one) copy_rows(r, rows, y_at, y, made, 1);
}

static void run_job(void *context, uint64_t job) {
  const share *s = context;
  const int64_t end = vt_cpu_first(s->r->lines.count, s->jobs, job + 1);
  char *room = s->room > 0 ? (char *)s->r->call->work + s->r->head + (int64_t)job * s->room : NULL;
  for (int64_t i = vt_cpu_first(s->r->lines.count, s->jobs, job); i < end; i += s->group)
    run_group(s, i, end - i < s->group ? end - i : s->group, room);
}

/* Rows of nothing may still become numbers; otherwise there is nothing to do, however many. */
void vt_cpu_rows_run(const vt_cpu_rowing *r) {
  share s = share_of(r);
  const int empty = r->n == 0 && !r->one && r->call->n_out == 1;
  if (s.jobs > 0 && !empty) vt_cpu_share(r->call->team, s.jobs, run_job, &s);
}
