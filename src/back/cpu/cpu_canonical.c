/* SPDX-License-Identifier: Apache-2.0
 * cpu_canonical.c - makes every NaN canonical in results that the host reads after a run. This is
 * cheap while a result is in cache, so chains and row ops do it block by block; the team passes
 * over other results once more. */
#include "cpu_backend.h"

void vt_cpu_canonicalize_part(const vt_cpu_team *t, uint32_t dtype, void *data, int64_t n) {
  vt_cpu_map_fn *canonical = t->kernels->maps->canonical[dtype];
  const void *x[1] = {data};
  if (canonical != NULL) canonical(data, x, n);
}

typedef struct nan_jobs {
  const vt_cpu_team *team;
  const vt_view *v;
  uint64_t jobs;
  int64_t count;
} nan_jobs;

enum { PART = 4096 };

static int64_t first_element_of_job(const nan_jobs *l, uint64_t job) {
  const int64_t first = vt_cpu_job_first(vt_cpu_div_up(l->count, PART), l->jobs, job) * PART;
  return first < l->count ? first : l->count;
}

static void canonicalize_job(void *context, uint64_t job) {
  const nan_jobs *l = context;
  const int64_t first = first_element_of_job(l, job), end = first_element_of_job(l, job + 1);
  char *data = l->v->data;
  vt_cpu_canonicalize_part(l->team, l->v->dtype,
                           data + first * (int64_t)vt_cpu_bytes_of(l->v->dtype), end - first);
}

void vt_cpu_canonicalize(const vt_cpu_team *t, const vt_view *v) {
  nan_jobs l = {t, v, 1, vt_cpu_count(v)};
  if (l.count == 0 || t->kernels->maps->canonical[v->dtype] == NULL) return;
  l.jobs = vt_cpu_job_count(t, (uint64_t)vt_cpu_div_up(l.count, PART), 0.1 * PART);
  vt_cpu_run_jobs(t, l.jobs, canonicalize_job, &l);
}
