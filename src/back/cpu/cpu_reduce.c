/* SPDX-License-Identifier: Apache-2.0
 * cpu_reduce.c - reductions: sum, prod, max, min, argmax, argmin, and compositions of one of them
 * and an operation on its result: mean, sum_square, norm_l1, norm_l2, any, all.
 *
 * The tensor is viewed as [outer, reduced, inner]. If the inner axis is contiguous, its lines are
 * reduced together; so are short lines, which are transposed first. Otherwise each line is reduced
 * by itself, and copied first if it has gaps. S is the ordered sum of docs/numerics.md: chunks of
 * 1024 elements, then of 1024 chunks, and so on, level by level: a chunk of level 0
 * is 1024 elements, one of level n is 1024 chunks of level n - 1. A long reduction with few results
 * is split at the chunks of S, and their results are then reduced in turn. A tile is as many lines
 * as are reduced together. */
#include <string.h>
#include "cpu_reduce.h"
#include "vt_num.h"

enum { CHUNK_BYTES = VT_REDUCE_CHUNK * 8, LANES_BYTES = VT_REDUCE_LANES * VT_REDUCE_ROW_BYTES };
enum { SHORT = 64 }; /* lines up to this length are too short to be reduced one by one */

/* ---- the ops ---- */

typedef struct op_kind {
  uint32_t op;
  vt_cpu_reduction_kind kind, above; /* `above` reduces the results of chunks */
  /* divides: the result by the count; roots: then takes the square root */
  int divides, roots;
} op_kind;

static const op_kind op_kinds[] = {
    {VT_OP_sum, VT_REDUCE_SUM, VT_REDUCE_SUM, 0, 0},
    {VT_OP_prod, VT_REDUCE_PROD, VT_REDUCE_PROD, 0, 0},
    {VT_OP_max, VT_REDUCE_MAX, VT_REDUCE_MAX, 0, 0},
    {VT_OP_min, VT_REDUCE_MIN, VT_REDUCE_MIN, 0, 0},
    {VT_OP_argmax, VT_REDUCE_MAX, VT_REDUCE_MAX, 0, 0},
    {VT_OP_argmin, VT_REDUCE_MIN, VT_REDUCE_MIN, 0, 0},
    {VT_OP_mean, VT_REDUCE_SUM, VT_REDUCE_SUM, 1, 0},
    {VT_OP_sum_square, VT_REDUCE_SQUARES, VT_REDUCE_SUM, 0, 0},
    {VT_OP_norm_l1, VT_REDUCE_ABS, VT_REDUCE_SUM, 0, 0},
    {VT_OP_norm_l2, VT_REDUCE_SQUARES, VT_REDUCE_SUM, 0, 1},
    {VT_OP_any, VT_REDUCE_MAX, VT_REDUCE_MAX, 0, 0},
    {VT_OP_all, VT_REDUCE_MIN, VT_REDUCE_MIN, 0, 0},
};

static const op_kind *op_kind_of(uint32_t op) {
  for (size_t i = 0; i < sizeof op_kinds / sizeof *op_kinds; i++)
    if (op_kinds[i].op == op) return &op_kinds[i];
  return NULL;
}

/* ---- the view ---- */

typedef struct reduction {
  const vt_cpu_reduce *reduce, *above;
  const vt_cpu_argreduce *argreduce; /* finds positions for argmax and argmin; NULL for other ops */
  const op_kind *op_kind;
  uint32_t dtype;
  int64_t size; /* bytes of an element */
  const char *x;
  char *y;
  vt_cpu_axes outer, reduced;
  int64_t inner;              /* lines that are reduced together; 0: lines are reduced one by one */
  int64_t inner_x, inner_y;   /* distance of neighbouring lines in x, of their results in y */
  vt_cpu_plane_fn *transpose; /* transposes short lines; NULL if the inner axis is contiguous */
  int64_t tile, tiles;        /* lines per tile; tiles of the inner axis */
  /* if not 0: each line is split into this number of chunks */
  int64_t chunks;
  int64_t divisor;
} reduction;

/* The kept axis whose lines are reduced together: one along which x is contiguous or, if lines are
 * short, the longest. x->rank if no axis qualifies. */
static uint32_t choose_inner_axis(const vt_view *x, unsigned mask, int is_short) {
  uint32_t best = x->rank;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!(mask >> i & 1) && x->stride[i] == 1 && x->dim[i] > 1) best = i;
  if (best < x->rank || !is_short) return best;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!(mask >> i & 1) && x->dim[i] > 1 && (best == x->rank || x->dim[i] > x->dim[best]))
      best = i;
  return best;
}

/* The kernel that copies short lines so that element i of all lines is contiguous. The transpose,
 * which is faster, needs lines without gaps. */
static vt_cpu_plane_fn *choose_transpose(const reduction *f, const vt_cpu_moves *moves) {
  const int dense = f->reduced.x[f->reduced.n - 1] == 1;
  return (dense ? moves->transpose : moves->strided)[vt_cpu_size_index(f->size)];
}

static void init_inner_axis(reduction *f, const vt_view *x, const vt_view *y, unsigned mask,
                            const vt_cpu_moves *moves) {
  const int is_short = f->reduced.count <= SHORT && f->argreduce == NULL;
  const uint32_t axis = choose_inner_axis(x, mask, is_short);
  unsigned kept = ~mask;
  f->tile = f->tiles = 1;
  if (axis < x->rank) {
    kept &= ~(1u << axis);
    f->inner = x->dim[axis];
    f->inner_x = x->stride[axis];
    f->inner_y = y->stride[axis];
    f->transpose = f->inner_x == 1 ? NULL : choose_transpose(f, moves);
    f->tile = VT_REDUCE_ROW_BYTES / f->size;
    f->tiles = vt_cpu_div_up(f->inner, f->tile);
  }
  vt_cpu_axes_select(x, y, kept, &f->outer);
}

static void init_reduction_view(reduction *f, const vt_view *x, const vt_view *y, unsigned mask,
                                const vt_cpu_moves *moves) {
  const vt_view kept = vt_cpu_keepdims_view(y, x, mask);
  f->dtype = x->dtype;
  f->size = (int64_t)vt_cpu_bytes_of(x->dtype);
  f->x = x->data;
  f->y = y->data;
  vt_cpu_axes_select(x, NULL, mask, &f->reduced);
  init_inner_axis(f, x, &kept, mask, moves);
}

static void read_step(reduction *f, const vt_cpu_call *c) {
  const op_kind *w = op_kind_of(c->step->op);
  const int finds_position = w->op == VT_OP_argmax || w->op == VT_OP_argmin;
  const vt_view *x = &c->in[0];
  const unsigned mask = finds_position
                            ? 1u << ((const vt_attr_axis *)c->attrs)->axis
                            : vt_cpu_axis_mask(&((const vt_attr_reduce *)c->attrs)->axes, x->rank);
  memset(f, 0, sizeof *f);
  f->op_kind = w;
  f->reduce = &c->team->kernels->reductions->reduce[w->kind][x->dtype];
  f->above = &c->team->kernels->reductions->reduce[w->above][x->dtype];
  f->argreduce = finds_position ? &c->team->kernels->reductions->argreduce[x->dtype] : NULL;
  init_reduction_view(f, x, c->out, mask, c->team->kernels->moves);
  f->divisor = f->reduced.count;
}

/* ---- one line ---- */

static int64_t elements_of_chunk(int level) {
  int64_t n = VT_REDUCE_CHUNK;
  for (; level > 0; level--) n *= VT_REDUCE_CHUNK;
  return n;
}

/* The lowest level of S at which `count` elements are one chunk; level 0 has chunks of 1024
 * elements. */
static int level_of_chunk(int64_t count) {
  int level = 0;
  while ((count - 1) / elements_of_chunk(level) > 0) level++;
  return level;
}

/* Returns elements first .. first + n - 1 of a line, at most a chunk, without gaps: in place, or
 * copied to `buffer`. */
static const char *contiguous_chunk(const reduction *f, const char *x, int64_t first, int64_t n,
                                    char *buffer) {
  const vt_cpu_axes *a = &f->reduced;
  int64_t at = 0, none;
  for (int64_t i = 0, run; i < n; i += run) {
    run = vt_cpu_axes_count_evenly_spaced(a, first + i, n - i);
    vt_cpu_axes_offsets(a, first + i, &at, &none);
    if (run == n && (a->x[a->n - 1] == 1 || n == 1)) return x + at * f->size;
    vt_cpu_copy_line(buffer + i * f->size, f->size, x + at * f->size, a->x[a->n - 1] * f->size,
                     f->size, run);
  }
  return buffer;
}

static void reduce_chunk_of_line(const reduction *f, const char *x, int level, int64_t first,
                                 int64_t count, void *y) {
  _Alignas(64) char buffer[CHUNK_BYTES];
  if (level == 0) {
    f->reduce->line(contiguous_chunk(f, x, first, count, buffer), count, y);
    return;
  }
  const int64_t each = elements_of_chunk(level - 1), n = vt_cpu_div_up(count, each);
  for (int64_t c = 0; c < n; c++) {
    const int64_t left = count - c * each;
    reduce_chunk_of_line(f, x, level - 1, first + c * each, left < each ? left : each,
                         buffer + c * f->size);
  }
  f->above->line(buffer, n, y);
}

static int64_t argreduce_line(const reduction *f, const char *x, const void *extreme) {
  _Alignas(64) char buffer[CHUNK_BYTES];
  int64_t found = 0;
  for (int64_t i = 0, n; i < f->reduced.count; i += n) {
    n = f->reduced.count - i < VT_REDUCE_CHUNK ? f->reduced.count - i : VT_REDUCE_CHUNK;
    found = f->argreduce->line(contiguous_chunk(f, x, i, n, buffer), n, extreme);
    if (found < n) return i + found;
  }
  return 0;
}

/* ---- several lines together ---- */

/* Adds a chunk of rows to the lanes of S, transposing short lines first. Row i has element i of all
 * lines. */
static void add_rows_to_lanes(const reduction *f, const char *x, int64_t width, int64_t first,
                              int64_t count, void *lanes) {
  _Alignas(64) char buffer[SHORT * VT_REDUCE_ROW_BYTES];
  const vt_cpu_axes *a = &f->reduced;
  const int64_t size = f->size, stride = a->x[a->n - 1];
  for (int64_t i = 0, run, at, none; i < count; i += run) {
    run = vt_cpu_axes_count_evenly_spaced(a, first + i, count - i);
    vt_cpu_axes_offsets(a, first + i, &at, &none);
    if (f->transpose == NULL) {
      f->reduce->rows(lanes, width, x + at * size, stride, i, run);
      continue;
    }
    f->transpose(&(vt_cpu_plane){buffer, x + at * size, run, width, width * size, size,
                                 stride * size, f->inner_x * size});
    f->reduce->rows(lanes, width, buffer, width, i, run);
  }
}

static void reduce_rows(const reduction *f, const char *x, int64_t width, int level, int64_t first,
                        int64_t count, void *y) {
  _Alignas(64) char lanes[LANES_BYTES];
  _Alignas(64) char part[VT_REDUCE_ROW_BYTES];
  if (level == 0) {
    f->reduce->start(lanes, width, count);
    add_rows_to_lanes(f, x, width, first, count, lanes);
    f->reduce->finish(lanes, width, count, y);
    return;
  }
  const int64_t each = elements_of_chunk(level - 1), n = vt_cpu_div_up(count, each);
  f->above->start(lanes, width, n);
  for (int64_t c = 0; c < n; c++) {
    const int64_t left = count - c * each;
    reduce_rows(f, x, width, level - 1, first + c * each, left < each ? left : each, part);
    f->above->rows(lanes, width, part, width, c, 1);
  }
  f->above->finish(lanes, width, n, y);
}

/* ---- the operation on the result: a division, a root ---- */

static void finish_f32(const reduction *f, float *y, int64_t n) {
  const float by = (float)f->divisor;
  for (int64_t j = 0; j < n && f->op_kind->divides; j++) y[j] = y[j] / by;
  for (int64_t j = 0; j < n && f->op_kind->roots; j++) y[j] = vt_f32_sqrt(y[j]);
}

static void finish_f64(const reduction *f, double *y, int64_t n) {
  const double by = (double)f->divisor;
  for (int64_t j = 0; j < n && f->op_kind->divides; j++) y[j] = y[j] / by;
  for (int64_t j = 0; j < n && f->op_kind->roots; j++) y[j] = vt_f64_sqrt(y[j]);
}

/* Applies the op's division or root to n results. Truth values are u8 here, and `all` of nothing
 * starts as 255, the value of the least key: so the last bit is the truth value. */
static void finish_results(const reduction *f, void *y, int64_t n) {
  if (f->dtype == VT_DTYPE_F32) finish_f32(f, y, n);
  if (f->dtype == VT_DTYPE_F64) finish_f64(f, y, n);
  for (int64_t j = 0; j < n && f->dtype == VT_DTYPE_BOOL; j++) ((uint8_t *)y)[j] &= 1;
}

/* ---- jobs ---- */

typedef struct reduce_jobs {
  const reduction *f;
  uint64_t jobs;
  int64_t items; /* number of tiles of lines, or of their chunks */
} reduce_jobs;

/* Reduces tile number `item`. */
static void reduce_tile(const reduction *f, int64_t item) {
  _Alignas(64) char y[VT_REDUCE_ROW_BYTES];
  int64_t index[VT_REDUCE_ROW_BYTES], x_at, y_at;
  const int64_t first = item % f->tiles * f->tile, n = f->reduced.count;
  const int64_t width = f->inner == 0 ? 1 : f->inner - first < f->tile ? f->inner - first : f->tile;
  vt_cpu_axes_offsets(&f->outer, item / f->tiles, &x_at, &y_at);
  const char *x = f->x + (x_at + first * f->inner_x) * f->size;
  y_at += first * f->inner_y;
  if (f->inner == 0) {
    reduce_chunk_of_line(f, x, level_of_chunk(n), 0, n, y);
    if (f->argreduce != NULL) index[0] = argreduce_line(f, x, y);
  } else {
    reduce_rows(f, x, width, level_of_chunk(n), 0, n, y);
    if (f->argreduce != NULL) f->argreduce->rows(x, f->reduced.x[0], n, width, y, index);
  }
  if (f->argreduce != NULL) {
    vt_cpu_copy_line(f->y + y_at * 8, f->inner_y * 8, (const char *)index, 8, 8, width);
    return;
  }
  finish_results(f, y, width);
  vt_cpu_copy_line(f->y + y_at * f->size, f->inner_y * f->size, y, f->size, f->size, width);
}

/* Reduces one chunk of one tile; the results are stored as [outer, chunks, inner] without gaps. */
static void reduce_chunk(const reduction *f, int64_t item) {
  const int64_t lines = f->inner == 0 ? 1 : f->inner;
  const int64_t chunk = item / f->tiles % f->chunks, outer = item / f->tiles / f->chunks;
  const int64_t first = item % f->tiles * f->tile, from = chunk * VT_REDUCE_CHUNK;
  const int64_t left = f->reduced.count - from, n = left < VT_REDUCE_CHUNK ? left : VT_REDUCE_CHUNK;
  const int64_t width = lines - first < f->tile ? lines - first : f->tile;
  int64_t x_at, y_at;
  vt_cpu_axes_offsets(&f->outer, outer, &x_at, &y_at);
  const char *x = f->x + (x_at + first * f->inner_x) * f->size;
  char *y = f->y + ((outer * f->chunks + chunk) * lines + first) * f->size;
  if (f->inner == 0) {
    reduce_chunk_of_line(f, x, 0, from, n, y);
  } else {
    reduce_rows(f, x, width, 0, from, n, y);
  }
}

static void reduce_job(void *context, uint64_t job) {
  const reduce_jobs *s = context;
  const int64_t end = vt_cpu_job_first(s->items, s->jobs, job + 1);
  for (int64_t i = vt_cpu_job_first(s->items, s->jobs, job); i < end; i++) {
    if (s->f->chunks > 0) {
      reduce_chunk(s->f, i);
    } else {
      reduce_tile(s->f, i);
    }
  }
}

static int64_t count_tiles(const reduction *f) { return f->outer.count * f->tiles; }

/* Approximate nanoseconds for a tile of lines of n elements. */
static double cost_of_tile(const reduction *f, int64_t n) {
  const double lines = f->inner == 0 ? 1.0 : (double)(f->inner < f->tile ? f->inner : f->tile);
  return 20.0 + 0.03 * (double)n * lines * (double)f->size;
}

static void run_reduction(const vt_cpu_team *t, const reduction *f) {
  const int64_t chunks = f->chunks > 0 ? f->chunks : 1;
  const int64_t n = f->chunks > 0 ? VT_REDUCE_CHUNK : f->reduced.count;
  reduce_jobs s = {f, 1, count_tiles(f) * chunks};
  s.jobs = vt_cpu_job_count(t, (uint64_t)s.items, cost_of_tile(f, n));
  if (s.items > 0) vt_cpu_run_jobs(t, s.jobs, reduce_job, &s);
}

/* How many chunks to split lines into: 0 unless there are too few results to keep the team busy,
 * and enough elements. */
static int64_t choose_chunk_count(const vt_cpu_team *t, const reduction *f) {
  const int64_t items = count_tiles(f), n = f->reduced.count;
  if (f->argreduce != NULL || t->threads == 1 || items == 0 || items >= 2 * (int64_t)t->threads)
    return 0;
  if (n <= 4 * VT_REDUCE_CHUNK || (double)items * cost_of_tile(f, n) < 20000.0) return 0;
  return vt_cpu_div_up(n, VT_REDUCE_CHUNK);
}

uint64_t vt_cpu_scratch_reduce(const vt_cpu_call *c) {
  reduction f;
  read_step(&f, c);
  const int64_t lines = f.outer.count * (f.inner == 0 ? 1 : f.inner);
  return (uint64_t)(lines * choose_chunk_count(c->team, &f) * f.size);
}

/* The second reduction, of the chunks' results, which are stored as [outer, chunks, inner]. */
static reduction reduction_of_chunk_results(const reduction *f, const reduction *parts) {
  reduction g = *f;
  const int64_t lines = f->inner == 0 ? 1 : f->inner;
  g.reduce = f->above;
  g.x = parts->y;
  g.chunks = 0;
  g.reduced = (vt_cpu_axes){.n = 1, .count = parts->chunks};
  g.reduced.dim[0] = parts->chunks;
  g.reduced.x[0] = lines;
  g.inner_x = 1;
  for (uint32_t k = g.outer.n, each = 0; k-- > 0; each = 1) {
    const int64_t inside = each ? g.outer.x[k + 1] * g.outer.dim[k + 1] : parts->chunks * lines;
    g.outer.x[k] = inside;
  }
  return g;
}

vt_status vt_cpu_run_reduce(vt_cpu_call *c) {
  reduction f;
  read_step(&f, c);
  const int64_t chunks = choose_chunk_count(c->team, &f);
  if (chunks == 0) {
    run_reduction(c->team, &f);
    return VT_OK;
  }
  reduction parts = f;
  parts.chunks = chunks;
  parts.y = c->work;
  run_reduction(c->team, &parts);
  const reduction above = reduction_of_chunk_results(&f, &parts);
  run_reduction(c->team, &above);
  return VT_OK;
}
