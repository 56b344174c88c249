/* SPDX-License-Identifier: Apache-2.0
 * cpu_copy.c - copies elements between layouts. A path is a prepared copy: the axes, joined into
 * as few and as long ones as possible, and a kernel. The kernel copies planes, the last two axes,
 * and does it in tiles if one layout is the transpose of the other; a piece is a part of a plane.
 */
#include <string.h>
#include "cpu_move.h"

/* ---- paths ---- */

typedef vt_cpu_joint_axes axes;

static void set_axis(axes *a, uint32_t i, int64_t dim, int64_t to, int64_t from) {
  a->dim[i] = dim;
  a->to[i] = to;
  a->from[i] = from;
}

static void remove_axis(axes *a, uint32_t i) {
  for (a->n--; i < a->n; i++) set_axis(a, i, a->dim[i + 1], a->to[i + 1], a->from[i + 1]);
}

/* Moves axis i to position `at`; the axes between move by one. */
static void move_axis(axes *a, uint32_t i, uint32_t at) {
  const int64_t dim = a->dim[i], to = a->to[i], from = a->from[i];
  for (; i > at; i--) set_axis(a, i, a->dim[i - 1], a->to[i - 1], a->from[i - 1]);
  for (; i < at; i++) set_axis(a, i, a->dim[i + 1], a->to[i + 1], a->from[i + 1]);
  set_axis(a, at, dim, to, from);
}

static axes sorted_axes(const vt_view *to, const vt_view *from) {
  const int64_t size = (int64_t)vt_cpu_bytes_of(to->dtype);
  axes a = {0};
  for (uint32_t i = 0; i < to->rank; i++) {
    uint32_t at = a.n;
    if (to->dim[i] == 1) continue;
    set_axis(&a, a.n++, to->dim[i], to->stride[i] * size, from->stride[i] * size);
    while (at > 0 && a.to[at - 1] < a.to[a.n - 1]) at--;
    move_axis(&a, a.n - 1, at);
  }
  return a;
}

static void join_axes(axes *a) {
  for (uint32_t i = a->n; i-- > 1;) {
    const int64_t n = a->dim[i];
    if (a->to[i - 1] != a->to[i] * n || a->from[i - 1] != a->from[i] * n) continue;
    set_axis(a, i - 1, a->dim[i - 1] * n, a->to[i], a->from[i]);
    remove_axis(a, i);
  }
}

/* Joins a few elements that are contiguous in both layouts into one larger element, if it has a
 * size that the kernels know. */
static int64_t widen_element(axes *a, int64_t size) {
  if (a->n < 2) return size;
  const uint32_t last = a->n - 1;
  const int64_t grown = a->dim[last] * size;
  if (a->to[last] != size || a->from[last] != size || grown > 16 || (grown & (grown - 1)) != 0)
    return size;
  remove_axis(a, last);
  return grown;
}

unsigned vt_cpu_size_index(int64_t size) {
  unsigned i = 0;
  while ((INT64_C(1) << i) < size) i++;
  return i;
}

/* Makes the axis that is contiguous in `from` the rows of the plane, if the last axis is contiguous
 * in `to` only. Returns 1 if it did: the plane is then a transpose. */
static int arrange_transpose(axes *a, int64_t size) {
  const uint32_t last = a->n - 1;
  if (a->to[last] != size || a->from[last] == size) return 0;
  for (uint32_t i = 0; i < last; i++)
    if (a->from[i] == size && a->from[last] != 0) {
      move_axis(a, i, last - 1);
      return 1;
    }
  return 0;
}

static void arrange_axes_and_choose_kernel(vt_cpu_path *p, const vt_cpu_kernels *k, axes *a) {
  const unsigned s = vt_cpu_size_index(p->size);
  const uint32_t last = a->n - 1;
  if (a->to[last] == p->size && a->from[last] == p->size) {
    p->copy = NULL;
    p->cost = (double)p->size * 0.1;
  } else if (arrange_transpose(a, p->size)) {
    p->copy = k->moves->transpose[s];
    p->cost = (double)p->size * 0.25;
  } else {
    p->copy = k->moves->strided[s];
    p->cost = a->from[last] == 0 ? (double)p->size * 0.1 : 1.0;
  }
}

vt_cpu_joint_axes vt_cpu_joint_axes_of(const vt_view *to, const vt_view *from) {
  const int64_t size = (int64_t)vt_cpu_bytes_of(to->dtype);
  axes a = sorted_axes(to, from);
  join_axes(&a);
  if (a.n == 0) set_axis(&a, a.n++, 1, size, size);
  return a;
}

vt_cpu_path vt_cpu_path_of(const vt_cpu_kernels *k, const vt_view *to, const vt_view *from) {
  const int64_t small = (int64_t)vt_cpu_bytes_of(to->dtype);
  vt_cpu_path p = {.size = small, .count = vt_cpu_count(to)};
  if (p.count == 0) return p;
  p.axes = vt_cpu_joint_axes_of(to, from);
  p.size = widen_element(&p.axes, small);
  p.count /= p.size / small;
  arrange_axes_and_choose_kernel(&p, k, &p.axes);
  const axes *a = &p.axes;
  const uint32_t last = a->n - 1;
  p.plane = (vt_cpu_plane){
      .rows = 1, .columns = a->dim[last], .to_column = a->to[last], .from_column = a->from[last]};
  if (last == 0) return p;
  p.plane.rows = a->dim[last - 1];
  p.plane.to_row = a->to[last - 1];
  p.plane.from_row = a->from[last - 1];
  return p;
}

/* ---- copying ---- */

static void copy_plane(const vt_cpu_path *path, const vt_cpu_plane *p) {
  if (path->copy != NULL) {
    path->copy(p);
    return;
  }
  for (int64_t r = 0; r < p->rows; r++)
    memcpy(p->to + r * p->to_row, p->from + r * p->from_row, (size_t)(p->columns * path->size));
}

/* The planes of a path, split into pieces of `rows` x `columns`; pieces at the edges may be
 * smaller. */
typedef struct pieces {
  const vt_cpu_path *path;
  int64_t rows, columns;
  /* Walks over the outer axes, then over the pieces along the rows, then over those along the
   * columns. */
  vt_cpu_walk walk;
} pieces;

static pieces pieces_of(const vt_cpu_path *path, int64_t rows, int64_t columns) {
  const vt_cpu_plane *p = &path->plane;
  pieces s = {.path = path, .rows = rows, .columns = columns};
  for (uint32_t i = 0; i + 2 < path->axes.n; i++)
    vt_cpu_walk_add_axis(&s.walk, path->axes.dim[i], path->axes.to[i], path->axes.from[i], 0);
  vt_cpu_walk_add_axis(&s.walk, vt_cpu_div_up(p->rows, rows), rows * p->to_row, rows * p->from_row,
                       0);
  vt_cpu_walk_add_axis(&s.walk, vt_cpu_div_up(p->columns, columns), columns * p->to_column,
                       columns * p->from_column, 0);
  return s;
}

static void copy_pieces(pieces *s, char *to, const char *from, int64_t n) {
  const vt_cpu_plane *all = &s->path->plane;
  const uint32_t row = s->walk.rank - 2, column = s->walk.rank - 1;
  vt_cpu_plane p = *all;
  for (int64_t i = 0; i < n; i++, vt_cpu_walk_advance(&s->walk, 1)) {
    p.rows = vt_cpu_min(s->rows, all->rows - s->walk.index[row] * s->rows);
    p.columns = vt_cpu_min(s->columns, all->columns - s->walk.index[column] * s->columns);
    p.to = to + s->walk.at[0];
    p.from = from + s->walk.at[1];
    copy_plane(s->path, &p);
  }
}

void vt_cpu_path_copy(const vt_cpu_path *p, char *to, const char *from) {
  if (p->count == 0) return;
  pieces s = pieces_of(p, p->plane.rows, p->plane.columns);
  copy_pieces(&s, to, from, vt_cpu_walk_count(&s.walk));
}

typedef struct path_jobs {
  pieces start;
  char *to;
  const char *from;
  int64_t count;
  uint64_t jobs;
} path_jobs;

static void copy_job(void *context, uint64_t job) {
  const path_jobs *s = context;
  const int64_t first = vt_cpu_job_first(s->count, s->jobs, job);
  pieces own = s->start;
  vt_cpu_walk_set(&own.walk, first);
  copy_pieces(&own, s->to, s->from, vt_cpu_job_first(s->count, s->jobs, job + 1) - first);
}

/* Splits a path into pieces of about `most` elements: whole planes, some rows of them, or parts of
 * rows. Pieces are never smaller than a tile of a transpose. */
static pieces split_path(const vt_cpu_path *p, int64_t most) {
  enum { GRAIN = 64 };
  int64_t columns = p->plane.columns;
  if (columns > most) columns = vt_cpu_round_up(most, GRAIN);
  int64_t rows = most / columns + (most < columns);
  if (p->copy != NULL) rows = vt_cpu_round_up(rows, GRAIN);
  return pieces_of(p, vt_cpu_min(rows, p->plane.rows), columns);
}

static void copy_with_team(const vt_cpu_team *t, const vt_cpu_path *p, char *to, const char *from) {
  path_jobs s = {.to = to, .from = from};
  s.jobs = vt_cpu_job_count(t, (uint64_t)p->count, p->cost);
  s.start = split_path(p, p->count / (int64_t)s.jobs + 1);
  s.count = vt_cpu_walk_count(&s.start.walk);
  if (s.jobs > (uint64_t)s.count) s.jobs = (uint64_t)s.count;
  vt_cpu_run_jobs(t, s.jobs, copy_job, &s);
}

void vt_cpu_copy(const vt_cpu_team *t, const vt_view *to, const vt_view *from) {
  const vt_cpu_path p = vt_cpu_path_of(t->kernels, to, from);
  if (p.count > 0) copy_with_team(t, &p, to->data, from->data);
}
