/* SPDX-License-Identifier: Apache-2.0
 * cpu_scatter.c - the ops scatter_nd, scatter_nd_add, _max and _min. Rows of updates are sorted by
 * destination, in ascending position for the same destination; one thread then handles all updates
 * of a destination. */
#include "cpu_lookup.h"

typedef struct scattering {
  const vt_cpu_lookup *l;
  const vt_cpu_team *team;
  /* rows of updates, sorted by destination: key * unit bytes from the start of the result */
  vt_cpu_record *rows;
  int64_t n, unit;
  uint64_t jobs;
  char *to;
  const char *from;
  /* Combines updates with the result; NULL: the last update is copied. */
  vt_cpu_scatter_fn *combine;
  vt_cpu_path path;        /* copies a slice of updates to the result */
  vt_cpu_joint_axes lines; /* the axes of a slice, for `combine` */
} scattering;

/* An upper bound on the number of destinations from the size of the result: it has one per slice if
 * it is dense, else one per element. */
static uint64_t bound_destination_count(const vt_view *y, int64_t slice, int64_t *out_unit) {
  const int64_t size = (int64_t)vt_cpu_bytes_of(y->dtype);
  int64_t last = 0;
  *out_unit = vt_cpu_is_dense(y) ? slice * size : size;
  for (uint32_t i = 0; i < y->rank; i++) last += (y->dim[i] - 1) * y->stride[i];
  return (uint64_t)(last * size / *out_unit) + 1;
}

/* Whether to sort with one counter per destination: if there are rows for at least a quarter of the
 * destinations. */
static int is_counting_sort_worthwhile(uint64_t destinations, int64_t rows) {
  return destinations / 4 <= (uint64_t)rows;
}

/* Bytes of scratch for the rows, a second buffer to sort them with, and the counters. */
uint64_t vt_cpu_scratch_scatter(const vt_cpu_call *c) {
  const vt_view *y = c->out, *index = &c->in[1];
  const vt_view lead = vt_cpu_select_axes(index, 0, index->rank - 1);
  const int64_t rows = vt_cpu_count(&lead);
  int64_t unit;
  if (vt_cpu_count(&c->in[2]) == 0) return 0;
  const uint64_t places = bound_destination_count(y, vt_cpu_count(&c->in[2]) / rows, &unit);
  const uint64_t table = is_counting_sort_worthwhile(places, rows) ? places * sizeof(int64_t) : 0;
  return 2 * sizeof(vt_cpu_record) * (uint64_t)rows + table;
}

static void find_destinations_job(void *context, uint64_t job) {
  const scattering *s = context;
  const int64_t end = vt_cpu_job_first(s->n, s->jobs, job + 1);
  vt_cpu_walk w = s->l->walk;
  int64_t i = vt_cpu_job_first(s->n, s->jobs, job);
  for (vt_cpu_walk_set(&w, i); i < end; i++) {
    s->rows[i] = (vt_cpu_record){(uint64_t)(vt_cpu_lookup_offset(s->l, &w, 0) / s->unit), w.at[0]};
    vt_cpu_walk_advance(&w, 1);
  }
}

/* Applies rows first .. first + n - 1, which have the same destination. */
static void apply_updates_of_destination(const scattering *s, int64_t first, int64_t n) {
  char *to = s->to + (int64_t)s->rows[first].key * s->unit;
  if (s->combine == NULL) {
    vt_cpu_path_copy(&s->path, to, s->from + s->rows[first + n - 1].at);
    return;
  }
  const uint32_t last = s->lines.n - 1;
  vt_cpu_row_updates one = {.to = to,
                            .from = s->from,
                            .rows = s->rows + first,
                            .n = n,
                            .columns = s->lines.dim[last],
                            .to_step = s->lines.to[last],
                            .from_step = s->lines.from[last]};
  if (last == 0) {
    s->combine(&one);
    return;
  }
  vt_cpu_walk w = {0};
  for (uint32_t i = 0; i < last; i++)
    vt_cpu_walk_add_axis(&w, s->lines.dim[i], s->lines.to[i], s->lines.from[i], 0);
  for (int64_t i = vt_cpu_walk_count(&w); i > 0; i--, vt_cpu_walk_advance(&w, 1)) {
    one.to = to + w.at[0];
    one.from = s->from + w.at[1];
    s->combine(&one);
  }
}

/* Handles the destinations whose first row is among the rows of this job. */
static void scatter_job(void *context, uint64_t job) {
  const scattering *s = context;
  const vt_cpu_record *r = s->rows;
  const int64_t end = vt_cpu_job_first(s->n, s->jobs, job + 1);
  int64_t i = vt_cpu_job_first(s->n, s->jobs, job), next = i;
  while (i > 0 && i < s->n && r[i].key == r[i - 1].key) i++;
  for (; i < end; i = next) {
    for (next = i + 1; next < s->n && r[next].key == r[i].key; next++) continue;
    apply_updates_of_destination(s, i, next - i);
  }
}

static int bits_to_represent(uint64_t most) {
  int bits = 0;
  while (bits < 64 && most >> bits != 0) bits++;
  return bits;
}

static void sort_rows_by_destination(scattering *s, uint64_t destinations) {
  vt_cpu_record *rows = s->rows, *other = rows + s->n;
  if (is_counting_sort_worthwhile(destinations, s->n)) {
    s->rows =
        vt_cpu_counting_sort(rows, other, s->n, (int64_t *)(void *)(other + s->n), destinations);
  } else {
    s->rows = vt_cpu_radix_sort(rows, other, s->n, bits_to_represent(destinations - 1));
  }
}

static void scatter_rows(scattering *s, const vt_view *y) {
  const int64_t slice = vt_cpu_count(&s->l->slice);
  const uint64_t places = bound_destination_count(y, slice, &s->unit);
  s->jobs = vt_cpu_job_count(s->team, (uint64_t)s->n, 5.0);
  vt_cpu_run_jobs(s->team, s->jobs, find_destinations_job, s);
  sort_rows_by_destination(s, places);
  const double bytes = (double)slice * (double)vt_cpu_bytes_of(y->dtype);
  s->jobs = vt_cpu_job_count(s->team, (uint64_t)s->n, 10.0 + bytes * 0.2);
  vt_cpu_run_jobs(s->team, s->jobs, scatter_job, s);
}

static vt_status run_scatter(vt_cpu_call *c, vt_cpu_scatter_fn *const *combine) {
  const vt_attr_gather_nd *a = c->attrs;
  const vt_view *y = c->out, *updates = &c->in[2];
  const vt_cpu_lookup l = vt_cpu_lookup_nd(y, &c->in[1], updates, (uint32_t)a->batch);
  VT_TRY(vt_cpu_lookup_check(c, &l));
  if (y->data != c->in[0].data) vt_cpu_copy(c->team, y, &c->in[0]); /* else it is in place */
  if (vt_cpu_count(updates) == 0) return VT_OK;
  scattering s = {.l = &l,
                  .team = c->team,
                  .rows = c->work,
                  .n = vt_cpu_walk_count(&l.walk),
                  .to = y->data,
                  .from = updates->data,
                  .combine = combine == NULL ? NULL : combine[y->dtype],
                  .path = vt_cpu_path_of(c->team->kernels, &l.slice, &l.row),
                  .lines = vt_cpu_joint_axes_of(&l.slice, &l.row)};
  scatter_rows(&s, y);
  return VT_OK;
}

vt_status vt_cpu_run_scatter_nd(vt_cpu_call *c) { return run_scatter(c, NULL); }
vt_status vt_cpu_run_scatter_nd_add(vt_cpu_call *c) {
  return run_scatter(c, c->team->kernels->moves->sum);
}
vt_status vt_cpu_run_scatter_nd_max(vt_cpu_call *c) {
  return run_scatter(c, c->team->kernels->moves->max);
}
vt_status vt_cpu_run_scatter_nd_min(vt_cpu_call *c) {
  return run_scatter(c, c->team->kernels->moves->min);
}
