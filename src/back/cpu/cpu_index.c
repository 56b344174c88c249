/* SPDX-License-Identifier: Apache-2.0
 * cpu_index.c - the ops that read through an index: gathers, and nonzero. Every index is checked
 * before any element is moved. */
#include <stdatomic.h>
#include <string.h>
#include "cpu_lookup.h"

/* ---- lookups ---- */

static void add_walk_axis(vt_cpu_lookup *l, int64_t dim, int64_t row_stride, int64_t x_stride,
                          int64_t index_stride) {
  const int64_t size = (int64_t)vt_cpu_bytes_of(l->slice.dtype);
  vt_cpu_walk_add_axis(&l->walk, dim, row_stride * size, x_stride * size, index_stride);
}

static void add_coordinate(vt_cpu_lookup *l, const vt_view *x, uint32_t axis) {
  l->limit[l->depth] = x->dim[axis];
  l->bytes[l->depth++] = x->stride[axis] * (int64_t)vt_cpu_bytes_of(x->dtype);
}

/* The lookup of gather, with the shapes x (B..., M..., axis, R...), index (B..., I...) and rows
 * (B..., M..., I..., R...). */
static vt_cpu_lookup lookup_gather(const vt_view *x, const vt_view *index, const vt_view *rows,
                                   uint32_t axis, uint32_t batch) {
  const uint32_t inner = index->rank - batch, rest = x->rank - axis - 1;
  vt_cpu_lookup l = {.index = index,
                     .slice = vt_cpu_select_axes(x, axis + 1, rest),
                     .row = vt_cpu_select_axes(rows, axis + inner, rest)};
  for (uint32_t i = 0; i < axis; i++)
    add_walk_axis(&l, x->dim[i], rows->stride[i], x->stride[i], i < batch ? index->stride[i] : 0);
  for (uint32_t i = 0; i < inner; i++)
    add_walk_axis(&l, index->dim[batch + i], rows->stride[axis + i], 0, index->stride[batch + i]);
  add_coordinate(&l, x, axis);
  return l;
}

/* The lookup of gather_nd and scatter_nd, with the shapes x (B..., D..., R...), index (B..., I...,
 * depth) and rows (B..., I..., R...). */
vt_cpu_lookup vt_cpu_lookup_nd(const vt_view *x, const vt_view *index, const vt_view *rows,
                               uint32_t batch) {
  const uint32_t lead = index->rank - 1, depth = (uint32_t)index->dim[lead];
  const uint32_t rest = x->rank - batch - depth;
  vt_cpu_lookup l = {.index = index,
                     .coordinate_stride = index->stride[lead],
                     .slice = vt_cpu_select_axes(x, batch + depth, rest),
                     .row = vt_cpu_select_axes(rows, lead, rest)};
  for (uint32_t i = 0; i < lead; i++)
    add_walk_axis(&l, index->dim[i], rows->stride[i], i < batch ? x->stride[i] : 0,
                  index->stride[i]);
  for (uint32_t i = 0; i < depth; i++) add_coordinate(&l, x, batch + i);
  return l;
}

/* The lookup of gather_elements: index and rows have the same shape; on all axes but `axis`, x is
 * at least as long. */
static vt_cpu_lookup lookup_gather_elements(const vt_view *x, const vt_view *index,
                                            const vt_view *rows, uint32_t axis) {
  vt_cpu_lookup l = {
      .index = index, .slice = vt_cpu_select_axes(x, 0, 0), .row = vt_cpu_select_axes(rows, 0, 0)};
  for (uint32_t i = 0; i < index->rank; i++)
    add_walk_axis(&l, index->dim[i], rows->stride[i], i == axis ? 0 : x->stride[i],
                  index->stride[i]);
  add_coordinate(&l, x, axis);
  return l;
}

/* ---- indices out of range ---- */

typedef struct index_check {
  const vt_cpu_lookup *l;
  int64_t count;
  uint64_t jobs;
  atomic_uint_fast64_t lowest; /* lowest faulty position found so far */
} index_check;

static int64_t read_index(const vt_view *index, int64_t at) {
  return index->dtype == VT_DTYPE_I32 ? ((const int32_t *)index->data)[at]
                                      : ((const int64_t *)index->data)[at];
}

static void record_lowest_fault(index_check *k, uint64_t position) {
  uint_fast64_t lowest = atomic_load_explicit(&k->lowest, memory_order_relaxed);
  while (position < lowest &&
         !atomic_compare_exchange_weak_explicit(&k->lowest, &lowest, position, memory_order_relaxed,
                                                memory_order_relaxed))
    continue;
}

/* How many of n indices of a line are valid before the first that is out of range. */
static int64_t count_leading_valid(const vt_view *index, int64_t at, int64_t step, int64_t n,
                                   int64_t limit) {
  int64_t i = 0;
  while (i < n && (uint64_t)read_index(index, at + i * step) < (uint64_t)limit) i++;
  return i;
}

/* How many of the next n indices along the last axis are valid before the first that is out of
 * range. If rows have several coordinates, this axis holds them, and each has its own limit. */
static int64_t count_leading_valid_in_row(const vt_cpu_lookup *l, const vt_cpu_walk *w, int64_t n) {
  const uint32_t last = w->rank - 1;
  const int64_t step = w->rank == 0 ? 0 : w->stride[0][last];
  if (l->depth == 1) return count_leading_valid(l->index, w->at[0], step, n, l->limit[0]);
  int64_t i = 0;
  while (i < n &&
         count_leading_valid(l->index, w->at[0] + i * step, 0, 1, l->limit[w->index[last] + i]))
    i++;
  return i;
}

static void check_indices_job(void *context, uint64_t job) {
  index_check *k = context;
  const int64_t end = vt_cpu_job_first(k->count, k->jobs, job + 1);
  vt_cpu_walk w = vt_cpu_walk_of(k->l->index);
  int64_t i = vt_cpu_job_first(k->count, k->jobs, job);
  vt_cpu_walk_set(&w, i);
  while (i < end) {
    const int64_t n = vt_cpu_walk_left_in_line(&w, end - i),
                  good = count_leading_valid_in_row(k->l, &w, n);
    if (good < n) {
      record_lowest_fault(k, (uint64_t)(i + good));
      return;
    }
    vt_cpu_walk_advance(&w, n);
    i += n;
  }
}

vt_status vt_cpu_lookup_check(vt_cpu_call *c, const vt_cpu_lookup *l) {
  index_check k = {.l = l, .count = vt_cpu_count(l->index)};
  if (k.count == 0) return VT_OK;
  atomic_init(&k.lowest, UINT64_MAX);
  k.jobs = vt_cpu_job_count(c->team, (uint64_t)k.count, 1.0);
  vt_cpu_run_jobs(c->team, k.jobs, check_indices_job, &k);
  const uint64_t lowest = atomic_load_explicit(&k.lowest, memory_order_relaxed);
  if (lowest == UINT64_MAX) return VT_OK;
  vt_cpu_walk w = vt_cpu_walk_of(l->index);
  vt_cpu_walk_set(&w, (int64_t)lowest);
  c->position = lowest;
  c->value = read_index(l->index, w.at[0]);
  return VT_RANGE;
}

/* ---- gathers ---- */

typedef struct gathering {
  const vt_cpu_lookup *l;
  vt_cpu_path path;
  int64_t bytes; /* bytes of a slice that is contiguous in both tensors; 0: it is not */
  int64_t count;
  uint64_t jobs;
  char *to;
  const char *from;
} gathering;

/* Copies the slices that the next n indices name to n rows along the last axis. Slices of 4 and 8
 * bytes are copied with a constant size, which is faster. */
static void gather_rows(const gathering *g, const vt_cpu_walk *w, int64_t n) {
  const int64_t coordinate_stride = w->rank == 0 ? 0 : w->stride[0][w->rank - 1];
  char *to = g->to + w->at[0];
  for (int64_t i = 0; i < n; i++, to += coordinate_stride) {
    const char *from = g->from + vt_cpu_lookup_offset(g->l, w, i);
    if (g->bytes == 4) {
      memcpy(to, from, 4);
    } else if (g->bytes == 8) {
      memcpy(to, from, 8);
    } else if (g->bytes > 0) {
      memcpy(to, from, (size_t)g->bytes);
    } else {
      vt_cpu_path_copy(&g->path, to, from);
    }
  }
}

static void gather_job(void *context, uint64_t job) {
  const gathering *g = context;
  const int64_t end = vt_cpu_job_first(g->count, g->jobs, job + 1);
  int64_t i = vt_cpu_job_first(g->count, g->jobs, job), n = 0;
  vt_cpu_walk w = g->l->walk;
  for (vt_cpu_walk_set(&w, i); i < end; i += n) {
    n = vt_cpu_walk_left_in_line(&w, end - i);
    gather_rows(g, &w, n);
    vt_cpu_walk_advance(&w, n);
  }
}

static vt_status run_gather(vt_cpu_call *c, const vt_cpu_lookup *l) {
  gathering g = {.l = l,
                 .path = vt_cpu_path_of(c->team->kernels, &l->row, &l->slice),
                 .count = vt_cpu_walk_count(&l->walk),
                 .to = c->out->data,
                 .from = c->in[0].data};
  VT_TRY(vt_cpu_lookup_check(c, l));
  if (vt_cpu_count(c->out) == 0) return VT_OK;
  const int64_t bytes = g.path.count * g.path.size;
  if (g.path.copy == NULL && g.path.plane.columns == g.path.count) g.bytes = bytes;
  g.jobs = vt_cpu_job_count(c->team, (uint64_t)g.count, 3.0 + (double)bytes * 0.1);
  vt_cpu_run_jobs(c->team, g.jobs, gather_job, &g);
  return VT_OK;
}

vt_status vt_cpu_run_gather(vt_cpu_call *c) {
  const vt_attr_gather *a = c->attrs;
  const vt_cpu_lookup l =
      lookup_gather(&c->in[0], &c->in[1], c->out, (uint32_t)a->axis, (uint32_t)a->batch);
  return run_gather(c, &l);
}

vt_status vt_cpu_run_embedding(vt_cpu_call *c) {
  const vt_cpu_lookup l = lookup_gather(&c->in[0], &c->in[1], c->out, 0, 0);
  return run_gather(c, &l);
}

vt_status vt_cpu_run_gather_nd(vt_cpu_call *c) {
  const vt_attr_gather_nd *a = c->attrs;
  const vt_cpu_lookup l = vt_cpu_lookup_nd(&c->in[0], &c->in[1], c->out, (uint32_t)a->batch);
  return run_gather(c, &l);
}

vt_status vt_cpu_run_gather_elements(vt_cpu_call *c) {
  const vt_attr_axis *a = c->attrs;
  const vt_cpu_lookup l = lookup_gather_elements(&c->in[0], &c->in[1], c->out, (uint32_t)a->axis);
  return run_gather(c, &l);
}

/* ---- nonzero: each part counts its elements, then knows where to write their positions ---- */

typedef struct nonzero_list {
  const vt_view *x, *places;
  int64_t *before; /* for each part: its number of nonzero elements, later the number in all parts
                      before it */
  int64_t count;
  uint64_t jobs;
} nonzero_list;

/* Whether the element is zero: NaN is not; +0 and -0 are. */
static int is_zero(const vt_view *x, int64_t at) {
  switch (x->dtype) {
    case VT_DTYPE_F32:
      return ((const float *)x->data)[at] == 0;
    case VT_DTYPE_F64:
      return ((const double *)x->data)[at] == 0;
    case VT_DTYPE_I64:
      return ((const int64_t *)x->data)[at] == 0;
    case VT_DTYPE_I32:
      return ((const int32_t *)x->data)[at] == 0;
    case VT_DTYPE_F16:
    case VT_DTYPE_BF16:
      return (((const uint16_t *)x->data)[at] & 0x7fff) == 0;
    default:
      return ((const uint8_t *)x->data)[at] == 0;
  }
}

static void count_nonzero_job(void *context, uint64_t job) {
  const nonzero_list *l = context;
  const int64_t first = vt_cpu_job_first(l->count, l->jobs, job);
  int64_t n = 0;
  vt_cpu_walk w = vt_cpu_walk_of(l->x);
  vt_cpu_walk_set(&w, first);
  for (int64_t i = vt_cpu_job_first(l->count, l->jobs, job + 1) - first; i > 0; i--) {
    n += !is_zero(l->x, w.at[0]);
    vt_cpu_walk_advance(&w, 1);
  }
  l->before[job] = n;
}

static void list_nonzero_job(void *context, uint64_t job) {
  const nonzero_list *l = context;
  const vt_view *y = l->places;
  const int64_t first = vt_cpu_job_first(l->count, l->jobs, job);
  int64_t row = l->before[job];
  vt_cpu_walk w = vt_cpu_walk_of(l->x);
  vt_cpu_walk_set(&w, first);
  for (int64_t n = vt_cpu_job_first(l->count, l->jobs, job + 1) - first; n > 0; n--) {
    if (!is_zero(l->x, w.at[0]) && row++ < y->dim[0])
      for (uint32_t i = 0; i < w.rank; i++)
        ((int64_t *)y->data)[(row - 1) * y->stride[0] + i * y->stride[1]] = w.index[i];
    vt_cpu_walk_advance(&w, 1);
  }
}

static uint64_t nonzero_job_count(const vt_cpu_call *c) {
  return vt_cpu_job_count(c->team, (uint64_t)vt_cpu_count(&c->in[0]), 3.0);
}

uint64_t vt_cpu_scratch_nonzero(const vt_cpu_call *c) {
  return nonzero_job_count(c) * sizeof(int64_t);
}

vt_status vt_cpu_run_nonzero(vt_cpu_call *c) {
  static const int64_t none = -1;
  nonzero_list l = {&c->in[0], &c->out[0], c->work, vt_cpu_count(&c->in[0]), nonzero_job_count(c)};
  int64_t total = 0;
  vt_cpu_run_jobs(c->team, l.jobs, count_nonzero_job, &l);
  for (uint64_t j = 0; j < l.jobs; j++) {
    const int64_t n = l.before[j];
    l.before[j] = total;
    total += n;
  }
  vt_cpu_run_jobs(c->team, l.jobs, list_nonzero_job, &l);
  *(int64_t *)c->out[1].data = total;
  const int64_t bound = c->out->dim[0], listed = total < bound ? total : bound;
  const vt_view rest = vt_cpu_slice(&c->out[0], 0, listed, bound - listed);
  const vt_view filling = vt_cpu_repeat_element(&rest, &none);
  vt_cpu_copy(c->team, &rest, &filling);
  return VT_OK;
}
