/* SPDX-License-Identifier: Apache-2.0
 * cpu_attention.c - attention whole: q (B,H,Tq,d), k (B,G,Tk,d), v (B,G,Tk,e) -> (B,H,Tq,e).
 *
 * The heads that read one key head, and their queries, are rows of one matrix; rows are cut into
 * chunks. A chunk has the scores of its rows against all keys it sees, never more, and passes over
 * the keys twice: products with k, then, weighed, products with v.
 *
 *   many rows   keys are packed once for all chunks; a chunk is done by one thread
 *   few rows    (decoding) each thread has some blocks of 256 keys: their scores, and, when all
 *               scores have been weighed, their part of the products with v
 *
 * What a row may not see has the weight +0, and its products with v are formed all the same where v
 * is finite. That changes no bit: fma(+0, v, p) is p, or a zero in place of a zero of the other
 * sign; a chain that has been zero so far goes on the same whatever the sign of that zero, up to
 * the sign of a zero; and T adds the chain to what is never -0. Where v is not finite the products
 * are left out one by one. */
#include <stdatomic.h>
#include <string.h>
#include "cpu_backend.h"
#include "vt_alloc.h"
#include "vt_num.h"

enum {
  BLOCK = 256, /* of the order fma256 */
  GROUP = 8,
  LEVELS = 20,                   /* 8^20 blocks are more than there can be */
  CHUNK = 8 * VT_CPU_PATCH_ROWS, /* rows of a chunk at most */
  FEW = 2 * VT_CPU_PATCH_ROWS,   /* rows for which keys are split instead */
  CHUNK_SCORES = 128 * 1024,     /* what a chunk has in fast memory, about */
  SUM_LANES = 32                 /* of the ordered sum */
};

/* ---- sizes ---- */

typedef struct extras { /* which operand each is; 0: there is none */
  uint32_t mask, bias, length;
} extras;

typedef struct sizes {
  int64_t batch, heads, groups, queries, keys, depth, width;
  int64_t pairs;               /* of a batch and a key head */
  int64_t rows, chunk, chunks; /* of a pair: rows, rows of a chunk, chunks */
  int64_t wide;                /* `width`, filled up to whole vectors */
  int64_t panels, panel;       /* of k: how many, and floats of one */
  int64_t blocks, levels;      /* of keys */
  int64_t stride;              /* from a row of scores to the next */
  int split, packed;           /* the keys are split; all panels are packed beforehand */
  uint32_t workers;
} sizes;

/* The operands after v tell themselves apart by their types. */
static extras extras_of(const vt_cpu_call *c) {
  extras x = {0, 0, 0};
  for (uint32_t i = 3; i < c->n_in; i++) {
    const uint32_t dtype = c->in[i].dtype;
    *(dtype == VT_DTYPE_BOOL ? &x.mask : dtype == VT_DTYPE_F32 ? &x.bias : &x.length) = i;
  }
  return x;
}

static int64_t parts(int64_t n, int64_t each) { return n / each + (n % each != 0); }
static int64_t whole(int64_t n, int64_t each) { return parts(n, each) * each; }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

/* Enough chunks for every thread to have several, and their scores not too many for the cache. */
static int64_t chunk_rows(const vt_cpu_team *t, const sizes *s) {
  const int64_t shares = (int64_t)t->threads * 4;
  int64_t rows = least(CHUNK, most(CHUNK_SCORES / most(s->keys, 1), 1));
  if (t->threads > 1) rows = least(rows, s->pairs * parts(s->rows, shares));
  return least(whole(most(rows, 1), VT_CPU_PATCH_ROWS), CHUNK);
}

static uint32_t workers_of(const vt_cpu_team *t, const sizes *s, int64_t items) {
  const double row = (double)s->keys * ((double)(s->depth + s->width) / 32 + 1);
  const double all = (double)s->pairs * (double)s->rows * row;
  const uint64_t jobs = vt_cpu_jobs(t, (uint64_t)items, all / (double)most(items, 1));
  return jobs < t->threads ? (uint32_t)jobs : t->threads;
}

static sizes sizes_of(const vt_cpu_call *c) {
  const vt_view *q = &c->in[0], *k = &c->in[1], *v = &c->in[2];
  const vt_cpu_attentions *table = c->team->kernels->attentions;
  sizes s = {.batch = q->dim[0],
             .heads = q->dim[1],
             .groups = k->dim[1],
             .queries = q->dim[2],
             .keys = k->dim[2],
             .depth = q->dim[3],
             .width = v->dim[3]};
  s.pairs = s.batch * s.groups;
  s.rows = s.heads / s.groups * s.queries;
  s.wide = whole(s.width, table->lanes);
  s.panels = parts(s.keys, table->columns);
  s.panel = s.depth * table->columns;
  s.blocks = parts(s.keys, BLOCK);
  s.stride = whole(s.keys, BLOCK);
  for (int64_t m = s.blocks; m > 0; m /= GROUP) s.levels++;
  s.split = s.rows <= FEW && s.blocks > 1;
  s.chunk = s.split ? most(s.rows, 1) : chunk_rows(c->team, &s);
  s.chunks = parts(s.rows, s.chunk);
  s.packed = s.chunks > 1;
  s.workers = workers_of(c->team, &s, s.pairs * (s.split ? s.blocks : s.chunks));
  return s;
}

/* ---- scratch ----
 * | k in panels, of all pairs | what each worker has | scores and blocks of split keys | */

typedef struct scratch {                  /* in floats */
  uint64_t panels;                        /* of all pairs */
  uint64_t q, e, t, panel, values, chain; /* of a worker: see chunk */
  uint64_t scores, sums, totals;          /* of all pairs, when keys are split */
} scratch;

static uint64_t times(uint64_t a, uint64_t b) {
  uint64_t out;
  return vt_size_mul(a, b, &out) ? out : UINT64_MAX;
}
static uint64_t plus(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
/* A product of three sizes, in whole cache lines. */
static uint64_t floats(int64_t a, int64_t b, int64_t c) {
  const uint64_t n = times(times((uint64_t)a, (uint64_t)b), (uint64_t)c);
  return n > UINT64_MAX - 15 ? UINT64_MAX : (n + 15) & ~(uint64_t)15;
}

static scratch scratch_of(const sizes *s) {
  scratch x = {0};
  x.q = floats(s->chunk, s->depth, 1);
  x.values = floats(BLOCK, s->wide, 1);
  x.chain = floats(s->wide, 1, 1);
  if (s->packed) {
    x.panels = floats(s->pairs, s->panels, s->panel);
  } else {
    x.panel = floats(s->panel, 1, 1);
  }
  if (s->split) {
    x.scores = floats(s->pairs, s->rows, s->stride);
    x.sums = times((uint64_t)s->blocks, floats(s->pairs, s->rows, s->wide));
    x.totals = floats(s->pairs, s->rows, 1);
    x.t = floats(s->levels, s->wide, 1);
  } else {
    x.e = floats(s->chunk, s->stride, 1);
    x.t = floats(s->levels, s->chunk, s->wide);
  }
  return x;
}

static uint64_t of_worker(const scratch *x) {
  return plus(plus(plus(x->q, x->e), plus(x->t, x->panel)), plus(x->values, x->chain));
}

uint64_t work_attention_whole(const vt_cpu_call *c) {
  const sizes s = sizes_of(c);
  const scratch x = scratch_of(&s);
  const uint64_t shared = plus(plus(x.panels, x.totals), plus(x.scores, x.sums));
  return times(plus(shared, times(of_worker(&x), s.workers)), sizeof(float));
}

/* ---- a call, and a chunk of it ---- */

typedef struct task {
  const vt_cpu_call *call;
  const vt_cpu_attentions *table;
  const vt_attr_attention *attrs;
  sizes size;
  scratch room;
  extras more;
  float scale;
  float *panels, *workers, *scores, *sums, *totals;
  void (*item)(struct task *t, uint64_t worker, int64_t i);
  int64_t items;
  atomic_int_fast64_t next;
} task;

typedef struct seen { /* by one row: keys lo .. hi - 1, as far as its mask says so */
  int64_t lo, hi;
  vt_cpu_row row;
} seen;

typedef struct chunk {
  const task *t;
  int64_t batch, group, first, rows; /* rows first .. first + rows - 1 of a pair */
  const float *panels;               /* of the pair, or NULL */
  float *q, *e;                      /* queries without gaps; scores, then weights */
  float *sum;                        /* levels of T of the products with v */
  float *panel;                      /* of k */
  float *values;                     /* a block of v, where it needs to be copied */
  float *chain;                      /* one row of a block */
  seen see[CHUNK];
} chunk;

/* Workers take item after item; what an item gives does not depend on who takes it. */
static void take_items(void *context, uint64_t worker) {
  task *t = context;
  for (;;) {
    const int64_t i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
    if (i >= t->items) return;
    t->item(t, worker, i);
  }
}

static void share(task *t, int64_t items, void (*item)(task *t, uint64_t worker, int64_t i)) {
  const int64_t workers = most(1, least(items, t->size.workers));
  t->item = item;
  t->items = items;
  atomic_store_explicit(&t->next, 0, memory_order_relaxed);
  vt_cpu_share(t->call->team, (uint64_t)workers, take_items, t);
}

/* ---- what a row sees ---- */

/* Where [b, h, i, 0] of an operand that broadcasts lies, and its stride along the keys. */
static int64_t place_of(const vt_view *v, const int64_t at[3], int64_t *step) {
  int64_t place = 0;
  *step = 0;
  for (uint32_t a = 0; a < v->rank; a++) {
    const uint32_t axis = 4 - v->rank + a;
    if (v->dim[a] == 1) continue;
    if (axis == 3) {
      *step = v->stride[a];
    } else {
      place += at[axis] * v->stride[a];
    }
  }
  return place;
}

static int64_t length_at(const vt_view *v, int64_t i) {
  const int64_t at = i * v->stride[0];
  return v->dtype == VT_DTYPE_I32 ? ((const int32_t *)v->data)[at] : ((const int64_t *)v->data)[at];
}

/* Lengths are anything: sums of positions wrap, as they do in the formula. */
static void look(const task *t, const int64_t at[3], seen *x) {
  const vt_attr_attention *a = t->attrs;
  const vt_view *in = t->call->in;
  const int64_t keys = t->size.keys;
  const int64_t length = t->more.length == 0 ? keys : length_at(&in[t->more.length], at[0]);
  const int64_t p = vt_i64_wrap_add(at[2], vt_i64_wrap_sub(length, t->size.queries));
  const int64_t before = vt_i64_wrap_sub(p, a->window), after = vt_i64_wrap_add(p, a->window);
  *x = (seen){.hi = most(0, least(keys, length)), .row = {.scale = t->scale}};
  if (a->causal && p < x->hi) x->hi = most(0, p + 1);
  if (a->window > 0 && before >= 0) x->lo = before < keys ? before + 1 : keys;
  if (a->window > 0 && !a->causal) x->hi = most(0, least(x->hi, after));
  if (t->more.bias != 0)
    x->row.bias =
        (const float *)in[t->more.bias].data + place_of(&in[t->more.bias], at, &x->row.bias_step);
  if (t->more.mask != 0)
    x->row.mask =
        (const uint8_t *)in[t->more.mask].data + place_of(&in[t->more.mask], at, &x->row.mask_step);
  if (x->lo >= x->hi) x->lo = x->hi = 0;
}

/* [b, h, i] of row r. */
static void place_row(const chunk *c, int64_t r, int64_t at[3]) {
  const sizes *s = &c->t->size;
  const int64_t row = c->first + r;
  at[0] = c->batch;
  at[1] = c->group * (s->heads / s->groups) + row / s->queries;
  at[2] = row % s->queries;
}

static float *row_of(const vt_view *v, const int64_t at[3]) {
  return (float *)v->data + at[0] * v->stride[0] + at[1] * v->stride[1] + at[2] * v->stride[2];
}

/* The keys that any of the rows sees; hi is 0 when there is none. */
static void union_of(const seen *x, int64_t rows, int64_t *lo, int64_t *hi) {
  *lo = INT64_MAX, *hi = 0;
  for (int64_t r = 0; r < rows; r++) {
    if (x[r].hi == 0) continue;
    *lo = least(*lo, x[r].lo), *hi = most(*hi, x[r].hi);
  }
  if (*hi == 0) *lo = 0;
}

/* Those among lo .. hi - 1 that none of the rows lacks: from .. to - 1, or none of them. */
static void common_of(const seen *x, int64_t rows, int64_t *from, int64_t *to) {
  for (int64_t r = 0; r < rows; r++) {
    *from = most(*from, x[r].lo), *to = least(*to, x[r].hi);
    if (x[r].row.mask != NULL) *to = *from;
  }
}

static void chunk_of(const task *t, uint64_t worker, int64_t pair, int64_t first, int64_t rows,
                     chunk *c) {
  const sizes *s = &t->size;
  const scratch *x = &t->room;
  c->t = t;
  c->batch = pair / s->groups, c->group = pair % s->groups;
  c->first = first, c->rows = rows;
  c->panels = s->packed ? t->panels + pair * s->panels * s->panel : NULL;
  c->q = t->workers + worker * of_worker(x);
  c->sum = c->q + x->q;
  c->panel = c->sum + x->t;
  c->values = c->panel + x->panel;
  c->chain = c->values + x->values;
  c->e = s->split ? t->scores + (pair * s->rows + first) * s->stride : c->chain + x->chain;
  for (int64_t r = 0; r < rows; r++) {
    int64_t at[3];
    place_row(c, r, at);
    look(t, at, &c->see[r]);
  }
}

/* ---- scores ---- */

static void take_queries(chunk *c) {
  const vt_view *q = &c->t->call->in[0];
  const int64_t depth = c->t->size.depth, step = q->stride[3];
  for (int64_t r = 0; r < c->rows; r++) {
    int64_t at[3];
    place_row(c, r, at);
    const float *from = row_of(q, at);
    for (int64_t i = 0; i < depth; i++) c->q[r * depth + i] = from[i * step];
  }
}

/* Keys first .. first + columns - 1 of a pair as panel[depth][columns]; those past the last one
 * are +0. */
static void pack_panel(const task *t, int64_t batch, int64_t group, int64_t first, float *panel) {
  const vt_view *k = &t->call->in[1];
  const vt_cpu_moves *moves = t->call->team->kernels->moves;
  const int64_t columns = t->table->columns, count = least(columns, t->size.keys - first);
  const int64_t at[3] = {batch, group, first};
  const vt_cpu_plane plane = {.to = (char *)panel,
                              .from = (const char *)row_of(k, at),
                              .rows = t->size.depth,
                              .columns = count,
                              .to_row = columns * (int64_t)sizeof(float),
                              .to_column = sizeof(float),
                              .from_row = k->stride[3] * (int64_t)sizeof(float),
                              .from_column = k->stride[2] * (int64_t)sizeof(float)};
  if (count < columns) memset(panel, 0, (size_t)t->size.panel * sizeof *panel);
  (k->stride[3] == 1 ? moves->turn : moves->each)[2](&plane);
}

static void pack_item(task *t, uint64_t worker, int64_t i) {
  const sizes *s = &t->size;
  const int64_t pair = i / s->panels, at = i % s->panels;
  (void)worker;
  pack_panel(t, pair / s->groups, pair % s->groups, at * t->table->columns,
             t->panels + i * s->panel);
}

/* t[0] gathers blocks, t[l] complete groups of 8^l of them, each from +0; n numbers a level. After
 * block `block` what is complete is handed on. */
static void hand_on(const vt_cpu_attentions *table, float *t, int64_t n, int64_t block) {
  int64_t full = block + 1;
  for (; full % GROUP == 0; full /= GROUP, t += n) {
    table->add(t + n, t, n);
    memset(t, 0, (size_t)n * sizeof *t);
  }
}

/* All levels into the last one. */
static float *gather_levels(const vt_cpu_attentions *table, float *t, int64_t n, int64_t levels) {
  for (int64_t l = 1; l < levels; l++, t += n) table->add(t + n, t, n);
  return t;
}

/* D over a width of more than 8 blocks. */
static void long_patch(const vt_cpu_attentions *table, vt_cpu_patch p, vt_cpu_patch_fn *patch,
                       int64_t rows, int64_t depth) {
  float t[LEVELS][VT_CPU_PATCH_ROWS * VT_CPU_PATCH_VECTORS * 16] = {{0}};
  const int64_t n = VT_CPU_PATCH_ROWS * table->columns, row = p.c_row;
  float *to = p.c;
  int64_t levels = 1;
  for (int64_t m = parts(depth, BLOCK); m >= GROUP; m /= GROUP) levels++;
  p.c = t[0], p.c_row = table->columns, p.first = 0;
  for (int64_t k = 0; k < depth; k += BLOCK) {
    p.k = least(BLOCK, depth - k);
    patch(&p);
    hand_on(table, t[0], n, k / BLOCK);
    p.a += BLOCK, p.b += BLOCK * p.b_row;
  }
  const float *from = gather_levels(table, t[0], n, levels);
  for (int64_t r = 0; r < rows; r++)
    memcpy(to + r * row, from + r * p.c_row, (size_t)table->columns * sizeof *to);
}

/* D(q, k) of a few rows and the keys of one panel, of which `columns` are wanted. */
static void multiply_keys(const chunk *c, int64_t row, int64_t rows, const float *panel,
                          int64_t first, int64_t columns) {
  const sizes *s = &c->t->size;
  const vt_cpu_attentions *table = c->t->table;
  vt_cpu_patch_fn *patch = table->patch[rows - 1][parts(columns, table->lanes) - 1];
  vt_cpu_patch p = {.a = c->q + row * s->depth,
                    .a_row = s->depth,
                    .b = panel,
                    .b_row = table->columns,
                    .c = c->e + row * s->stride + first,
                    .c_row = s->stride,
                    .first = 1};
  if (s->depth > BLOCK * GROUP) {
    long_patch(table, p, table->patch[rows - 1][parts(table->columns, table->lanes) - 1], rows,
               s->depth);
    return;
  }
  for (int64_t k = 0; k == 0 || k < s->depth; k += BLOCK) {
    p.k = least(BLOCK, s->depth - k);
    patch(&p);
    p.first = 0;
    p.a += BLOCK, p.b += BLOCK * p.b_row;
  }
}

/* The products of all rows with the keys of one panel. */
static void panel_scores(chunk *c, int64_t number) {
  const int64_t columns = c->t->table->columns, first = number * columns;
  const float *panel = c->panels == NULL ? c->panel : c->panels + number * c->t->size.panel;
  for (int64_t r = 0; r < c->rows; r += VT_CPU_PATCH_ROWS) {
    const int64_t rows = least(VT_CPU_PATCH_ROWS, c->rows - r);
    int64_t lo, hi;
    union_of(&c->see[r], rows, &lo, &hi);
    if (lo < first + columns && hi > first)
      multiply_keys(c, r, rows, panel, first, least(columns, hi - first));
  }
}

static void scores_between(chunk *c, int64_t from, int64_t to) {
  const int64_t columns = c->t->table->columns;
  int64_t lo, hi;
  union_of(c->see, c->rows, &lo, &hi);
  lo = most(lo, from), hi = least(hi, to);
  for (int64_t j = lo / columns * columns; j < hi; j += columns) {
    if (c->panels == NULL) pack_panel(c->t, c->batch, c->group, j, c->panel);
    panel_scores(c, j / columns);
  }
}

/* ---- weights ---- */

static float fold(const task *t, vt_cpu_folding what, const float *x, int64_t n) {
  float y;
  t->call->team->kernels->folds->fold[what][VT_DTYPE_F32].line(x, n, &y);
  return y;
}

/* The greatest of x. */
static float greatest(const task *t, const float *x, int64_t n) {
  float m = fold(t, VT_FOLD_MAX, x, least(n, VT_FOLD_CHUNK));
  for (int64_t i = VT_FOLD_CHUNK; i < n; i += VT_FOLD_CHUNK)
    m = vt_f32_max(m, fold(t, VT_FOLD_MAX, x + i, least(n - i, VT_FOLD_CHUNK)));
  return m;
}

/* S over keys 0 .. hi - 1, which are +0 before lo. What is after the last one is +0 too and adds
 * nothing; and neither does S of a single chunk to the sum of that chunk. */
static float sum_of(const task *t, const float *e, int64_t lo, int64_t hi) {
  vt_sum_f32 s;
  lo = lo / SUM_LANES * SUM_LANES;
  if (hi <= VT_FOLD_CHUNK) return fold(t, VT_FOLD_SUM, e + lo, hi - lo);
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < hi; i += VT_FOLD_CHUNK) {
    const int64_t from = most(i, lo), to = least(hi, i + VT_FOLD_CHUNK);
    vt_sum_f32_add(&s, from < to ? fold(t, VT_FOLD_SUM, e + from, to - from) : 0.0f);
  }
  return vt_sum_f32_done(&s);
}

/* The weights of a row in place of its products, +0 elsewhere between lo and hi; gives their sum,
 * 0 for a row that sees nothing. A key that the mask hides has the score -inf and so the weight +0,
 * unless m is -inf or NaN: then the row sees nothing, or all it sees, and the sum, is NaN. */
static float weigh(const task *t, float *e, const seen *x, int64_t lo, int64_t hi) {
  const int64_t n = x->hi - x->lo;
  vt_cpu_row row = x->row;
  lo = lo / SUM_LANES * SUM_LANES;
  if (row.bias != NULL) row.bias += x->lo * row.bias_step;
  if (row.mask != NULL) row.mask += x->lo * row.mask_step;
  if (n == 0 || !t->table->score(e + x->lo, n, &row)) {
    memset(e + lo, 0, (size_t)(hi - lo) * sizeof *e);
    return 0;
  }
  const float m = greatest(t, e + x->lo, n);
  t->call->team->kernels->maps->exp_less(e + x->lo, e + x->lo, m, n);
  memset(e + lo, 0, (size_t)(x->lo - lo) * sizeof *e);
  memset(e + x->hi, 0, (size_t)(hi - x->hi) * sizeof *e);
  return sum_of(t, e, x->lo, x->hi);
}

/* ---- values ---- */

/* Row `first` of v of the chunk's pair as the kernels want it: neighbours side by side, in whole
 * vectors. What is not so is copied, `count` rows of it. */
static const float *values_at(const chunk *c, int64_t first, int64_t count, int64_t *row) {
  const vt_view *v = &c->t->call->in[2];
  const sizes *s = &c->t->size;
  const int64_t at[3] = {c->batch, c->group, first};
  const float *from = row_of(v, at);
  *row = v->stride[2];
  if (v->stride[3] == 1 && s->wide == s->width) return from;
  *row = s->wide;
  for (int64_t j = 0; j < count; j++)
    for (int64_t i = 0; i < s->wide; i++)
      c->values[j * s->wide + i] = i < s->width ? from[j * v->stride[2] + i * v->stride[3]] : 0.0f;
  return c->values;
}

static int is_finite(const vt_cpu_attentions *table, const float *v, int64_t row, int64_t width,
                     int64_t rows) {
  for (int64_t j = 0; j < rows; j++)
    if (!table->finite(v + j * row, width)) return 0;
  return 1;
}

/* One block of one row, leaving out what it does not see. */
static void careful_values(const chunk *c, int64_t r, int64_t from, int64_t to, const float *v,
                           int64_t v_row, float *sum) {
  const sizes *s = &c->t->size;
  const seen *x = &c->see[r];
  const float *e = c->e + r * s->stride;
  float *p = c->chain;
  memset(p, 0, (size_t)s->wide * sizeof *p);
  for (int64_t j = most(from, x->lo); j < least(to, x->hi); j++)
    if (x->row.mask == NULL || x->row.mask[j * x->row.mask_step] != 0)
      c->t->table->accumulate(p, e[j], v + (j - from) * v_row, s->wide);
  c->t->table->add(sum, p, s->wide);
}

/* A few rows of a block. */
static void patch_values(const chunk *c, int64_t r, int64_t rows, int64_t from, int64_t to,
                         const float *v, int64_t v_row, float *sum) {
  const sizes *s = &c->t->size;
  const vt_cpu_attentions *table = c->t->table;
  vt_cpu_patch p = {.a = c->e + r * s->stride + from,
                    .a_row = s->stride,
                    .b_row = v_row,
                    .c_row = s->wide,
                    .k = to - from};
  for (int64_t i = 0; i < s->wide; i += table->columns) {
    const int64_t columns = least(table->columns, s->wide - i);
    p.b = v + i, p.c = sum + i;
    table->patch[rows - 1][columns / table->lanes - 1](&p);
  }
}

/* A block: keys from .. to - 1 of it, and v from `from` on. */
typedef struct piece {
  int64_t from, to;
  const float *v;
  int64_t v_row;
  int plain; /* what some row does not see is finite */
} piece;

/* Only keys that are not seen by all rows need be looked at. */
static int is_plain(const chunk *c, const piece *b) {
  const vt_cpu_attentions *table = c->t->table;
  const int64_t width = c->t->size.wide;
  int64_t from = b->from, to = b->to;
  common_of(c->see, c->rows, &from, &to);
  from = least(from, b->to), to = most(from, to);
  return is_finite(table, b->v, b->v_row, width, from - b->from) &&
         is_finite(table, b->v + (to - b->from) * b->v_row, b->v_row, width, b->to - to);
}

static void piece_values(const chunk *c, int64_t r, int64_t rows, const piece *b, float *sum) {
  const int64_t wide = c->t->size.wide;
  int64_t from, to;
  union_of(&c->see[r], rows, &from, &to);
  from = most(from, b->from), to = least(to, b->to);
  if (from >= to) return;
  if (b->plain) {
    patch_values(c, r, rows, from, to, b->v + (from - b->from) * b->v_row, b->v_row, sum);
    return;
  }
  for (int64_t i = 0; i < rows; i++)
    careful_values(c, r + i, b->from, b->to, b->v, b->v_row, sum + i * wide);
}

/* Adds to sum[row] the block `block` of every row. */
static void block_values(const chunk *c, int64_t block, float *sum) {
  piece b;
  union_of(c->see, c->rows, &b.from, &b.to);
  b.from = most(b.from, block * BLOCK), b.to = least(b.to, block * BLOCK + BLOCK);
  if (b.from >= b.to) return;
  b.v = values_at(c, b.from, b.to - b.from, &b.v_row);
  b.plain = is_plain(c, &b);
  for (int64_t r = 0; r < c->rows; r += VT_CPU_PATCH_ROWS)
    piece_values(c, r, least(VT_CPU_PATCH_ROWS, c->rows - r), &b, sum + r * c->t->size.wide);
}

/* ---- results ---- */

static void give(const chunk *c, int64_t r, float *o, float sum) {
  const vt_view *y = &c->t->call->out[0];
  const int64_t width = c->t->size.width, step = y->stride[3];
  int64_t at[3];
  place_row(c, r, at);
  float *to = row_of(y, at);
  if (sum == 0) { /* of a row that sees nothing, and only of it */
    for (int64_t i = 0; i < width; i++) to[i * step] = 0.0f;
  } else if (step == 1) {
    c->t->table->divide(to, o, sum, width);
  } else {
    for (int64_t i = 0; i < width; i++) to[i * step] = o[i] / sum;
  }
}

/* ---- many rows: an item is a chunk ---- */

static float weigh_row(const chunk *c, int64_t r) {
  const int64_t first = r / VT_CPU_PATCH_ROWS * VT_CPU_PATCH_ROWS;
  int64_t lo, hi;
  union_of(&c->see[first], least(VT_CPU_PATCH_ROWS, c->rows - first), &lo, &hi);
  return weigh(c->t, c->e + r * c->t->size.stride, &c->see[r], lo, hi);
}

/* The last rows first: where rows see what is before them, these have the most to do. */
static void chunk_item(task *t, uint64_t worker, int64_t i) {
  const sizes *s = &t->size;
  const int64_t first = (s->chunks - 1 - i % s->chunks) * s->chunk;
  float total[CHUNK];
  chunk c;
  chunk_of(t, worker, i / s->chunks, first, least(s->chunk, s->rows - first), &c);
  const int64_t n = c.rows * s->wide;
  take_queries(&c);
  scores_between(&c, 0, s->keys);
  for (int64_t r = 0; r < c.rows; r++) total[r] = weigh_row(&c, r);
  memset(c.sum, 0, (size_t)(s->levels * n) * sizeof *c.sum);
  for (int64_t block = 0; block < s->blocks; block++) {
    block_values(&c, block, c.sum);
    hand_on(t->table, c.sum, n, block);
  }
  float *o = gather_levels(t->table, c.sum, n, s->levels);
  for (int64_t r = 0; r < c.rows; r++) give(&c, r, o + r * s->wide, total[r]);
}

/* ---- few rows: an item is a block of keys, or a row ---- */

static void split_chunk(const task *t, uint64_t worker, int64_t pair, chunk *c) {
  chunk_of(t, worker, pair, 0, t->size.rows, c);
}

static void split_scores(task *t, uint64_t worker, int64_t i) {
  const int64_t block = i % t->size.blocks;
  chunk c;
  split_chunk(t, worker, i / t->size.blocks, &c);
  take_queries(&c);
  scores_between(&c, block * BLOCK, block * BLOCK + BLOCK);
}

static void split_weights(task *t, uint64_t worker, int64_t i) {
  chunk c;
  split_chunk(t, worker, i / t->size.rows, &c);
  t->totals[i] = weigh_row(&c, i % t->size.rows);
}

/* Where block `block` of a pair has its sums, a row after the other. */
static float *block_sums(const task *t, int64_t pair, int64_t block) {
  return t->sums + (pair * t->size.blocks + block) * t->size.rows * t->size.wide;
}

static void split_values(task *t, uint64_t worker, int64_t i) {
  const int64_t pair = i / t->size.blocks, block = i % t->size.blocks;
  float *sum = block_sums(t, pair, block);
  chunk c;
  split_chunk(t, worker, pair, &c);
  memset(sum, 0, (size_t)(t->size.rows * t->size.wide) * sizeof *sum);
  block_values(&c, block, sum);
}

static void split_results(task *t, uint64_t worker, int64_t i) {
  const sizes *s = &t->size;
  const int64_t pair = i / s->rows, r = i % s->rows;
  chunk c;
  split_chunk(t, worker, pair, &c);
  memset(c.sum, 0, (size_t)(s->levels * s->wide) * sizeof *c.sum);
  for (int64_t block = 0; block < s->blocks; block++) {
    t->table->add(c.sum, block_sums(t, pair, block) + r * s->wide, s->wide);
    hand_on(t->table, c.sum, s->wide, block);
  }
  give(&c, r, gather_levels(t->table, c.sum, s->wide, s->levels), t->totals[i]);
}

/* ---- the op ---- */

static void clear(const vt_cpu_call *c) {
  const float zero = 0;
  vt_view from = c->out[0];
  from.data = (void *)(uintptr_t)&zero;
  memset(from.stride, 0, sizeof from.stride);
  vt_cpu_copy(c->team, &c->out[0], &from);
}

/* The default is 1 / sqrt(f32(d)), each operation rounded once. */
static float scale_of(const vt_attr_attention *a, int64_t depth) {
  return a->scale == 0.0 ? 1.0f / vt_f32_sqrt((float)depth) : (float)a->scale;
}

static void place_scratch(task *t) {
  const scratch *x = &t->room;
  t->panels = t->call->work;
  t->scores = t->panels + x->panels;
  t->sums = t->scores + x->scores;
  t->totals = t->sums + x->sums;
  t->workers = t->totals + x->totals;
}

vt_status run_attention_whole(vt_cpu_call *c) {
  task t = {.call = c,
            .table = c->team->kernels->attentions,
            .attrs = c->attrs,
            .size = sizes_of(c),
            .more = extras_of(c)};
  const sizes *s = &t.size;
  if (s->pairs == 0 || s->rows == 0 || s->width == 0) return VT_OK;
  if (s->keys == 0) {
    clear(c);
    return VT_OK;
  }
  t.room = scratch_of(s);
  t.scale = scale_of(t.attrs, s->depth);
  place_scratch(&t);
  if (s->split) {
    share(&t, s->pairs * s->blocks, split_scores);
    share(&t, s->pairs * s->rows, split_weights);
    share(&t, s->pairs * s->blocks, split_values);
    share(&t, s->pairs * s->rows, split_results);
    return VT_OK;
  }
  if (s->packed) share(&t, s->pairs * s->panels, pack_item);
  share(&t, s->pairs * s->chunks, chunk_item);
  return VT_OK;
}
