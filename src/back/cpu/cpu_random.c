/* SPDX-License-Identifier: Apache-2.0
 * cpu_random.c - the ops that draw random numbers. A number is a function of seed, stream, step and
 * position, so any thread can draw any part of a tensor. */
#include <string.h>
#include "cpu_move.h"

typedef struct drawing {
  vt_cpu_random_source source;
  vt_cpu_draw_fn *draw;
  const vt_view *y;
  int dense;
  int64_t count, blocks; /* elements; blocks of four elements */
  uint64_t jobs;
} drawing;

/* Draws n blocks into a local buffer and copies them to the result: for parts that end inside a
 * block, and for results with gaps. */
enum { PART = 64 };
static void draw_blocks_through_buffer(const drawing *d, int64_t block, int64_t n) {
  const int64_t size = (int64_t)vt_cpu_bytes_of(d->y->dtype), first = 4 * block;
  const int64_t left = d->count - first < 4 * n ? d->count - first : 4 * n;
  char *to = d->y->data, drawn[4 * PART * 8];
  d->draw(&d->source, (uint64_t)block, n, drawn);
  if (d->dense) {
    memcpy(to + first * size, drawn, (size_t)(left * size));
    return;
  }
  vt_cpu_walk w = vt_cpu_walk_of(d->y);
  vt_cpu_walk_set(&w, first);
  for (int64_t i = 0; i < left; i++, vt_cpu_walk_advance(&w, 1))
    memcpy(to + w.at[0] * size, drawn + i * size, (size_t)size);
}

static void draw_job(void *context, uint64_t job) {
  const drawing *d = context;
  const int64_t size = (int64_t)vt_cpu_bytes_of(d->y->dtype), whole = d->count / 4;
  const int64_t end = vt_cpu_job_first(d->blocks, d->jobs, job + 1);
  int64_t i = vt_cpu_job_first(d->blocks, d->jobs, job);
  if (d->dense && i < whole) {
    const int64_t n = (end < whole ? end : whole) - i;
    d->draw(&d->source, (uint64_t)i, n, (char *)d->y->data + 4 * i * size);
    i += n;
  }
  for (; i < end; i += PART) draw_blocks_through_buffer(d, i, end - i < PART ? end - i : PART);
}

static vt_status draw_result(vt_cpu_call *c, vt_cpu_draw_fn *fn, double cost) {
  const vt_attr_random *a = c->attrs;
  drawing d = {.draw = fn, .y = c->out, .dense = vt_cpu_is_dense(c->out)};
  d.source = (vt_cpu_random_source){.seed = *(const uint64_t *)c->in[0].data,
                                    .stream = (uint32_t)a->stream,
                                    .step = (uint32_t) * (const uint64_t *)c->in[1].data};
  d.count = vt_cpu_count(c->out);
  d.blocks = vt_cpu_div_up(d.count, 4);
  d.jobs = vt_cpu_job_count(c->team, (uint64_t)d.blocks, cost);
  vt_cpu_run_jobs(c->team, d.jobs, draw_job, &d);
  return VT_OK;
}

vt_status vt_cpu_run_random_uniform(vt_cpu_call *c) {
  return draw_result(c, c->team->kernels->moves->uniform, 5.0);
}
vt_status vt_cpu_run_random_normal(vt_cpu_call *c) {
  return draw_result(c, c->team->kernels->moves->normal, 30.0);
}
vt_status vt_cpu_run_random_bits(vt_cpu_call *c) {
  return draw_result(c, c->team->kernels->moves->bits, 5.0);
}
