/* SPDX-License-Identifier: Apache-2.0
 * cpu_running.c - running sums along one axis, line by line and chunk by chunk. */
#include <string.h>
#include "cpu_fold.h"

enum { CHUNK_BYTES = VT_FOLD_CHUNK * 8 };

typedef struct running {
  vt_cpu_running_fn *kernel;
  const vt_view *x, *y;
  vt_cpu_axes lines;
  int64_t size, n, x_stride, y_stride; /* of the axis; negative when it is gone through backwards */
  int64_t x_first, y_first;
  int exclusive;
  uint64_t jobs;
} running;

/* With `exclusive` each sum goes one place further and the last one nowhere. */
static void run_line(const running *r, const char *x, char *y) {
  _Alignas(64) char room[CHUNK_BYTES];
  _Alignas(64) char sums[CHUNK_BYTES];
  char carry[8] = {0};
  const int64_t late = r->exclusive;
  if (late && r->n > 0) memcpy(y, carry, (size_t)r->size);
  for (int64_t i = 0, n; i < r->n; i += n) {
    const char *from = x + i * r->x_stride * r->size;
    n = r->n - i < VT_FOLD_CHUNK ? r->n - i : VT_FOLD_CHUNK;
    if (r->x_stride != 1) vt_cpu_spread(room, 1, from, r->x_stride, n, r->size);
    r->kernel(r->x_stride == 1 ? from : room, n, carry, sums);
    const int64_t some = i + n + late > r->n ? n - late : n;
    vt_cpu_spread(y + (i + late) * r->y_stride * r->size, r->y_stride, sums, 1, some, r->size);
  }
}

static void run_job(void *context, uint64_t job) {
  const running *r = context;
  const int64_t end = vt_cpu_first(r->lines.count, r->jobs, job + 1);
  int64_t x, y;
  for (int64_t i = vt_cpu_first(r->lines.count, r->jobs, job); i < end; i++) {
    vt_cpu_axes_at(&r->lines, i, &x, &y);
    run_line(r, (const char *)r->x->data + (r->x_first + x) * r->size,
             (char *)r->y->data + (r->y_first + y) * r->size);
  }
}

static void turn_round(running *r) {
  r->x_first = (r->n - 1) * r->x_stride;
  r->y_first = (r->n - 1) * r->y_stride;
  r->x_stride = -r->x_stride;
  r->y_stride = -r->y_stride;
}

vt_status run_cumsum(vt_cpu_call *c) {
  const vt_attr_cumsum *a = c->attrs;
  const vt_view *x = &c->in[0], *y = c->out;
  running r = {.kernel = c->team->kernels->folds->running[x->dtype],
               .x = x,
               .y = y,
               .size = (int64_t)vt_cpu_bytes_of(x->dtype),
               .n = x->dim[a->axis],
               .x_stride = x->stride[a->axis],
               .y_stride = y->stride[a->axis],
               .exclusive = a->exclusive != 0};
  vt_cpu_axes_of(x, y, ~(1u << a->axis), &r.lines);
  if (r.n == 0 || r.lines.count == 0) return VT_OK;
  if (a->reverse) turn_round(&r);
  r.jobs = vt_cpu_jobs(c->team, (uint64_t)r.lines.count, 20.0 + 1.0 * (double)r.n);
  vt_cpu_share(c->team, r.jobs, run_job, &r);
  return VT_OK;
}
