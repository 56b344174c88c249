/* SPDX-License-Identifier: Apache-2.0
 * cpu_copy.c - elements from one set of strides to another: as few and as long lines as there are,
 * tiles where the lines of the two places lie across each other. */
#include <string.h>
#include "cpu_move.h"

/* ---- views ---- */

int64_t vt_cpu_count(const vt_view *v) {
  int64_t n = 1;
  for (uint32_t i = 0; i < v->rank; i++) n *= v->dim[i];
  return n;
}

uint64_t vt_cpu_bytes_of(uint32_t dtype) { return (uint64_t)vt_dtype_bytes(dtype); }

vt_view vt_cpu_at(const vt_view *v, uint32_t axis, int64_t i) {
  vt_view one = *v;
  one.rank--;
  for (uint32_t k = axis; k < one.rank; k++) {
    one.dim[k] = v->dim[k + 1];
    one.stride[k] = v->stride[k + 1];
  }
  one.dim[one.rank] = one.stride[one.rank] = 0;
  one.data = (char *)v->data + i * v->stride[axis] * (int64_t)vt_cpu_bytes_of(v->dtype);
  return one;
}

/* What has no elements stays where it is: the first one might lie beyond the end. */
vt_view vt_cpu_part(const vt_view *v, uint32_t axis, int64_t first, int64_t n) {
  vt_view part = *v;
  part.dim[axis] = n;
  if (vt_cpu_count(&part) > 0)
    part.data = (char *)v->data + first * v->stride[axis] * (int64_t)vt_cpu_bytes_of(v->dtype);
  return part;
}

vt_view vt_cpu_axes(const vt_view *v, uint32_t first, uint32_t n) {
  vt_view some = {.dtype = v->dtype, .rank = n, .data = v->data};
  memcpy(some.dim, v->dim + first, n * sizeof *some.dim);
  memcpy(some.stride, v->stride + first, n * sizeof *some.stride);
  return some;
}

vt_view vt_cpu_everywhere(const vt_view *shape, const void *element) {
  vt_view v = *shape;
  memset(v.stride, 0, sizeof v.stride);
  memcpy(&v.data, &element, sizeof element); /* read alone */
  return v;
}

int vt_cpu_is_dense(const vt_view *v) {
  int64_t stride = 1;
  for (uint32_t i = v->rank; i-- > 0; stride *= v->dim[i])
    if (v->dim[i] > 1 && v->stride[i] != stride) return 0;
  return 1;
}

vt_view vt_cpu_reshaped(const vt_view *v, uint32_t rank, const int64_t *dim) {
  vt_view as = {.dtype = v->dtype, .rank = rank, .data = v->data};
  int64_t stride = 1;
  memcpy(as.dim, dim, rank * sizeof *dim);
  for (uint32_t i = rank; i-- > 0; stride *= dim[i]) as.stride[i] = stride;
  return as;
}

/* ---- paths ---- */

typedef struct axes {
  uint32_t n;
  int64_t dim[VT_MAX_RANK], to[VT_MAX_RANK], from[VT_MAX_RANK];
} axes;

static void set_axis(axes *a, uint32_t i, int64_t dim, int64_t to, int64_t from) {
  a->dim[i] = dim, a->to[i] = to, a->from[i] = from;
}

static void take_axis(axes *a, uint32_t i) {
  for (a->n--; i < a->n; i++) set_axis(a, i, a->dim[i + 1], a->to[i + 1], a->from[i + 1]);
}

/* Axis i goes to place `at`; those between move by one. */
static void move_axis(axes *a, uint32_t i, uint32_t at) {
  const int64_t dim = a->dim[i], to = a->to[i], from = a->from[i];
  for (; i > at; i--) set_axis(a, i, a->dim[i - 1], a->to[i - 1], a->from[i - 1]);
  for (; i < at; i++) set_axis(a, i, a->dim[i + 1], a->to[i + 1], a->from[i + 1]);
  set_axis(a, at, dim, to, from);
}

static axes axes_of(const vt_view *to, const vt_view *from) {
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
    take_axis(a, i);
  }
}

/* A few elements that lie side by side in both places are one, where there is a size for it. */
static int64_t grow_element(axes *a, int64_t size) {
  if (a->n < 2) return size;
  const uint32_t last = a->n - 1;
  const int64_t grown = a->dim[last] * size;
  if (a->to[last] != size || a->from[last] != size || grown > 16 || (grown & (grown - 1)) != 0)
    return size;
  take_axis(a, last);
  return grown;
}

static unsigned size_index(int64_t size) {
  unsigned i = 0;
  while ((INT64_C(1) << i) < size) i++;
  return i;
}

/* What is dense in `from` becomes the rows of the plane; what is dense in `to` is its columns. */
static int find_rows(axes *a, int64_t size) {
  const uint32_t last = a->n - 1;
  if (a->to[last] != size || a->from[last] == size) return 0;
  for (uint32_t i = 0; i < last; i++)
    if (a->from[i] == size && a->from[last] != 0) {
      move_axis(a, i, last - 1);
      return 1;
    }
  return 0;
}

static void pick_copy(vt_cpu_path *p, const vt_cpu_kernels *k, axes *a) {
  const unsigned s = size_index(p->size);
  const uint32_t last = a->n - 1;
  if (a->to[last] == p->size && a->from[last] == p->size) {
    p->copy = NULL;
    p->cost = (double)p->size * 0.1;
  } else if (find_rows(a, p->size)) {
    p->copy = k->moves->turn[s];
    p->cost = (double)p->size * 0.25;
  } else {
    p->copy = k->moves->each[s];
    p->cost = a->from[last] == 0 ? (double)p->size * 0.1 : 1.0;
  }
}

vt_cpu_path vt_cpu_path_of(const vt_cpu_kernels *k, const vt_view *to, const vt_view *from) {
  vt_cpu_path p = {.size = (int64_t)vt_cpu_bytes_of(to->dtype), .count = vt_cpu_count(to)};
  if (p.count == 0) return p;
  axes a = axes_of(to, from);
  join_axes(&a);
  const int64_t small = p.size;
  p.size = grow_element(&a, small);
  p.count /= p.size / small;
  if (a.n == 0) set_axis(&a, a.n++, 1, p.size, p.size);
  pick_copy(&p, k, &a);
  p.outer = a.n < 2 ? 0 : a.n - 2;
  memcpy(p.dim, a.dim, sizeof p.dim);
  memcpy(p.to, a.to, sizeof p.to);
  memcpy(p.from, a.from, sizeof p.from);
  const uint32_t last = a.n - 1;
  p.plane = (vt_cpu_plane){
      .rows = 1, .columns = a.dim[last], .to_column = a.to[last], .from_column = a.from[last]};
  if (last == 0) return p;
  p.plane.rows = a.dim[last - 1];
  p.plane.to_row = a.to[last - 1];
  p.plane.from_row = a.from[last - 1];
  return p;
}

/* ---- going ---- */

static void copy_plane(const vt_cpu_path *path, const vt_cpu_plane *p) {
  if (path->copy != NULL) {
    path->copy(p);
    return;
  }
  for (int64_t r = 0; r < p->rows; r++)
    memcpy(p->to + r * p->to_row, p->from + r * p->from_row, (size_t)(p->columns * path->size));
}

/* The planes of a path, cut into equal pieces, in order. */
typedef struct walk {
  const vt_cpu_path *path;
  int64_t rows, columns; /* of a piece, but for those at the edges */
  int64_t index[VT_MAX_RANK], row, column;
  int64_t to, from; /* of the plane */
} walk;

static int64_t pieces_of(int64_t n, int64_t cut) { return n / cut + (n % cut != 0); }

static int64_t count_pieces(const walk *w) {
  const vt_cpu_plane *p = &w->path->plane;
  int64_t n = pieces_of(p->rows, w->rows) * pieces_of(p->columns, w->columns);
  for (uint32_t i = 0; i < w->path->outer; i++) n *= w->path->dim[i];
  return n;
}

static void start_at(walk *w, int64_t piece) {
  const vt_cpu_path *p = w->path;
  const int64_t columns = pieces_of(p->plane.columns, w->columns);
  const int64_t rows = pieces_of(p->plane.rows, w->rows);
  w->column = piece % columns * w->columns;
  w->row = piece / columns % rows * w->rows;
  piece = piece / columns / rows;
  for (uint32_t i = p->outer; i-- > 0; piece /= p->dim[i]) {
    w->index[i] = piece % p->dim[i];
    w->to += w->index[i] * p->to[i];
    w->from += w->index[i] * p->from[i];
  }
}

static void step_plane(walk *w) {
  const vt_cpu_path *p = w->path;
  for (uint32_t i = p->outer; i-- > 0;) {
    const int wrap = ++w->index[i] == p->dim[i];
    const int64_t by = wrap ? 1 - p->dim[i] : 1;
    w->to += by * p->to[i];
    w->from += by * p->from[i];
    if (!wrap) return;
    w->index[i] = 0;
  }
}

static void step(walk *w) {
  w->column += w->columns;
  if (w->column < w->path->plane.columns) return;
  w->column = 0;
  w->row += w->rows;
  if (w->row < w->path->plane.rows) return;
  w->row = 0;
  step_plane(w);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void go_pieces(walk *w, char *to, const char *from, int64_t n) {
  const vt_cpu_plane *all = &w->path->plane;
  vt_cpu_plane p = *all;
  for (int64_t i = 0; i < n; i++, step(w)) {
    p.rows = least(w->rows, all->rows - w->row);
    p.columns = least(w->columns, all->columns - w->column);
    p.to = to + w->to + w->row * p.to_row + w->column * p.to_column;
    p.from = from + w->from + w->row * p.from_row + w->column * p.from_column;
    copy_plane(w->path, &p);
  }
}

void vt_cpu_path_go(const vt_cpu_path *p, char *to, const char *from) {
  walk w = {.path = p, .rows = p->plane.rows, .columns = p->plane.columns};
  if (p->count > 0) go_pieces(&w, to, from, count_pieces(&w));
}

typedef struct shared {
  walk start;
  char *to;
  const char *from;
  int64_t pieces;
  uint64_t jobs;
} shared;

static void go_job(void *context, uint64_t job) {
  const shared *s = context;
  const int64_t first = vt_cpu_first(s->pieces, s->jobs, job);
  walk w = s->start;
  start_at(&w, first);
  go_pieces(&w, s->to, s->from, vt_cpu_first(s->pieces, s->jobs, job + 1) - first);
}

/* Pieces of about `most` elements: whole planes, rows of them, or parts of rows; tiles stay whole.
 */
static walk cut(const vt_cpu_path *p, int64_t most) {
  enum { GRAIN = 64 };
  walk w = {.path = p, .rows = p->plane.rows, .columns = p->plane.columns};
  if (w.columns > most) w.columns = (most + GRAIN - 1) / GRAIN * GRAIN;
  int64_t rows = most / w.columns + (most < w.columns);
  if (p->copy != NULL) rows = (rows + GRAIN - 1) / GRAIN * GRAIN;
  w.rows = least(rows, w.rows);
  return w;
}

void vt_cpu_path_share(const vt_cpu_team *t, const vt_cpu_path *p, char *to, const char *from) {
  if (p->count == 0) return;
  shared s = {.to = to, .from = from};
  s.jobs = vt_cpu_jobs(t, (uint64_t)p->count, p->cost);
  if (s.jobs == 1) {
    vt_cpu_path_go(p, to, from);
    return;
  }
  s.start = cut(p, p->count / (int64_t)s.jobs + 1);
  s.pieces = count_pieces(&s.start);
  if (s.jobs > (uint64_t)s.pieces) s.jobs = (uint64_t)s.pieces;
  vt_cpu_share(t, s.jobs, go_job, &s);
}

void vt_cpu_copy(const vt_cpu_team *t, const vt_view *to, const vt_view *from) {
  const vt_cpu_path p = vt_cpu_path_of(t->kernels, to, from);
  vt_cpu_path_share(t, &p, to->data, from->data);
}
