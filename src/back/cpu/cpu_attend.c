/* SPDX-License-Identifier: Apache-2.0
 * cpu_attend.c - computes one chunk of attention: some rows (queries of the heads that share a key
 * head) against the keys that they see. D, S and T are the sums of docs/numerics.md: D of a
 * product, S of weights, T of the fma chains of blocks of 256 keys. A panel holds packed keys, a
 * patch is a tile of a product, and a piece is the part of a block of keys that the rows see.
 *
 * A key that a row must not see gets the weight +0, and its product with v is added all the same
 * if v is finite. This changes no bit: fma(+0, v, p) differs from p at most in the sign of a zero,
 * which later products cannot turn into another difference. T then adds the fma chain to a sum that
 * is never -0, so the sign is lost. Where v is not finite, such products are skipped. */
#include <string.h>
#include "cpu_attention.h"
#include "vt_num.h"

/* ---- the keys that a row sees ---- */

/* Returns the offset of element [b, h, i, 0] of a bias or mask, which may be broadcast, and sets
 * *key_step to its stride along the keys. */
static int64_t mask_or_bias_offset(const vt_view *v, const int64_t position[3], int64_t *key_step) {
  int64_t place = 0;
  *key_step = 0;
  for (uint32_t a = 0; a < v->rank; a++) {
    const uint32_t axis = 4 - v->rank + a;
    if (v->dim[a] == 1) continue;
    if (axis == 3) {
      *key_step = v->stride[a];
    } else {
      place += position[axis] * v->stride[a];
    }
  }
  return place;
}

static int64_t key_count_of_batch(const vt_view *lengths, int64_t batch) {
  const int64_t at = batch * lengths->stride[0];
  return lengths->dtype == VT_DTYPE_I32 ? ((const int32_t *)lengths->data)[at]
                                        : ((const int64_t *)lengths->data)[at];
}

/* Sets which keys the row at [b, h, i] sees. A length may be any number, so sums of positions wrap,
 * as in the formula of the op. */
static void find_visible_keys(const vt_attend_task *t, const int64_t at[3], vt_attend_visible *x) {
  const vt_attr_attention *a = t->attrs;
  const vt_view *in = t->call->in;
  const int64_t keys = t->size.keys;
  const int64_t length =
      t->optional.length == 0 ? keys : key_count_of_batch(&in[t->optional.length], at[0]);
  const int64_t p = vt_i64_wrap_add(at[2], vt_i64_wrap_sub(length, t->size.queries));
  const int64_t before = vt_i64_wrap_sub(p, a->window), after = vt_i64_wrap_add(p, a->window);
  *x = (vt_attend_visible){.hi = vt_cpu_max(0, vt_cpu_min(keys, length)),
                           .row = {.scale = t->scale}};
  if (a->causal && p < x->hi) x->hi = vt_cpu_max(0, p + 1);
  if (a->window > 0 && before >= 0) x->lo = before < keys ? before + 1 : keys;
  if (a->window > 0 && !a->causal) x->hi = vt_cpu_max(0, vt_cpu_min(x->hi, after));
  if (t->optional.bias != 0)
    x->row.bias = (const float *)in[t->optional.bias].data +
                  mask_or_bias_offset(&in[t->optional.bias], at, &x->row.bias_step);
  if (t->optional.mask != 0)
    x->row.mask = (const uint8_t *)in[t->optional.mask].data +
                  mask_or_bias_offset(&in[t->optional.mask], at, &x->row.mask_step);
  if (x->lo >= x->hi) x->lo = x->hi = 0;
}

/* The position [b, h, i] of row r. */
static void position_of_row(const vt_attend_chunk *c, int64_t r, int64_t at[3]) {
  const vt_attend_sizes *s = &c->t->size;
  const int64_t row = c->first + r;
  at[0] = c->batch;
  at[1] = c->group * (s->heads / s->groups) + row / s->queries;
  at[2] = row % s->queries;
}

static float *row_address(const vt_view *v, const int64_t at[3]) {
  return (float *)v->data + at[0] * v->stride[0] + at[1] * v->stride[1] + at[2] * v->stride[2];
}

/* The smallest range of keys that contains every key seen by any of the rows; hi is 0 if no row
 * sees a key. */
static void keys_seen_by_any(const vt_attend_visible *x, int64_t rows, int64_t *lo, int64_t *hi) {
  *lo = INT64_MAX;
  *hi = 0;
  for (int64_t r = 0; r < rows; r++) {
    if (x[r].hi == 0) continue;
    *lo = vt_cpu_min(*lo, x[r].lo);
    *hi = vt_cpu_max(*hi, x[r].hi);
  }
  if (*hi == 0) *lo = 0;
}

/* Narrows from .. to - 1 to the keys that every row sees; the range may become empty. */
static void narrow_to_keys_seen_by_all(const vt_attend_visible *x, int64_t rows, int64_t *from,
                                       int64_t *to) {
  for (int64_t r = 0; r < rows; r++) {
    *from = vt_cpu_max(*from, x[r].lo);
    *to = vt_cpu_min(*to, x[r].hi);
    if (x[r].row.mask != NULL) *to = *from;
  }
}

void vt_attend_begin_chunk(const vt_attend_task *t, uint64_t worker, int64_t pair, int64_t first,
                           int64_t rows, vt_attend_chunk *c) {
  const vt_attend_sizes *s = &t->size;
  const vt_attend_scratch *x = &t->scratch;
  c->t = t;
  c->pair = pair;
  c->batch = pair / s->groups;
  c->group = pair % s->groups;
  c->first = first;
  c->rows = rows;
  c->panels = s->packed ? t->panels + pair * s->panels * s->panel : NULL;
  c->q = t->workers + worker * t->worker_floats;
  c->sum = c->q + x->q;
  c->panel = c->sum + x->t;
  c->values = c->panel + x->panel;
  c->chain = c->values + x->values;
  c->e = s->split ? t->scores + (pair * s->rows + first) * s->stride : c->chain + x->chain;
  for (int64_t r = 0; r < rows; r++) {
    int64_t at[3];
    position_of_row(c, r, at);
    find_visible_keys(t, at, &c->visible[r]);
  }
}

/* ---- scores ---- */

static void copy_queries_to_scratch(vt_attend_chunk *c) {
  const vt_view *q = &c->t->call->in[0];
  const int64_t depth = c->t->size.depth, step = q->stride[3];
  for (int64_t r = 0; r < c->rows; r++) {
    int64_t at[3];
    position_of_row(c, r, at);
    const float *from = row_address(q, at);
    if (step == 1) {
      memcpy(c->q + r * depth, from, (size_t)depth * sizeof *from);
    } else {
      for (int64_t i = 0; i < depth; i++) c->q[r * depth + i] = from[i * step];
    }
  }
}

void vt_attend_pack_keys(const vt_attend_task *t, int64_t pair, int64_t first, float *panel) {
  const vt_view *k = &t->call->in[1];
  const vt_cpu_moves *moves = t->call->team->kernels->moves;
  const int64_t columns = t->table->columns, count = vt_cpu_min(columns, t->size.keys - first);
  const int64_t at[3] = {pair / t->size.groups, pair % t->size.groups, first};
  const vt_cpu_plane plane = {.to = (char *)panel,
                              .from = (const char *)row_address(k, at),
                              .rows = t->size.depth,
                              .columns = count,
                              .to_row = columns * (int64_t)sizeof(float),
                              .to_column = sizeof(float),
                              .from_row = k->stride[3] * (int64_t)sizeof(float),
                              .from_column = k->stride[2] * (int64_t)sizeof(float)};
  if (count < columns) memset(panel, 0, (size_t)t->size.panel * sizeof *panel);
  (k->stride[3] == 1 ? moves->transpose : moves->strided)[2](&plane);
}

vt_cpu_levels vt_attend_init_levels(const vt_attend_task *t, float *at, int64_t n, int count) {
  return vt_cpu_levels_init(t->add, sizeof *at, at, n, count);
}

/* Computes a patch of D(q, k) whose depth is more than 8 blocks, so that groups of blocks need sums
 * of their own. */
static void multiply_patch_by_levels(const vt_attend_task *t, vt_cpu_patch p,
                                     vt_cpu_patch_fn *patch, int64_t rows) {
  float sums_buffer[VT_CPU_LEVELS][VT_CPU_PATCH_ROWS * VT_CPU_PATCH_VECTORS * 16] = {{0}};
  const int64_t columns = t->table->columns, depth = t->size.depth, row = p.c_row;
  const int levels = vt_cpu_levels_needed(vt_cpu_div_up(depth, VT_CPU_BLOCK));
  const vt_cpu_levels sums =
      vt_attend_init_levels(t, sums_buffer[0], VT_CPU_PATCH_ROWS * columns, levels);
  float *to = p.c;
  p.c = sums_buffer[0];
  p.c_row = columns;
  p.first = 0;
  for (int64_t k = 0; k < depth; k += VT_CPU_BLOCK) {
    p.k = vt_cpu_min(VT_CPU_BLOCK, depth - k);
    patch(&p);
    vt_cpu_levels_carry(&sums, k / VT_CPU_BLOCK);
    p.a += VT_CPU_BLOCK;
    p.b += VT_CPU_BLOCK * p.b_row;
  }
  const float *from = vt_cpu_levels_total(&sums);
  for (int64_t r = 0; r < rows; r++)
    memcpy(to + r * row, from + r * columns, (size_t)columns * sizeof *to);
}

/* Computes D(q, k) of a few rows with the first `columns` keys of a panel, which begins with key
 * `first`. */
static void multiply_queries_by_keys(const vt_attend_chunk *c, int64_t row, int64_t rows,
                                     const float *panel, int64_t first, int64_t columns) {
  const vt_attend_sizes *s = &c->t->size;
  const vt_cpu_attentions *table = c->t->table;
  vt_cpu_patch_fn *patch = table->patch[rows - 1][vt_cpu_div_up(columns, table->lanes) - 1];
  vt_cpu_patch p = {.a = c->q + row * s->depth,
                    .a_row = s->depth,
                    .b = panel,
                    .b_row = table->columns,
                    .c = c->e + row * s->stride + first,
                    .c_row = s->stride,
                    .first = 1};
  if (s->depth > VT_CPU_BLOCK * VT_CPU_GROUP) {
    multiply_patch_by_levels(
        c->t, p, table->patch[rows - 1][vt_cpu_div_up(table->columns, table->lanes) - 1], rows);
    return;
  }
  for (int64_t k = 0; k == 0 || k < s->depth; k += VT_CPU_BLOCK) {
    p.k = vt_cpu_min(VT_CPU_BLOCK, s->depth - k);
    patch(&p);
    p.first = 0;
    p.a += VT_CPU_BLOCK;
    p.b += VT_CPU_BLOCK * p.b_row;
  }
}

/* Computes the products of all rows with the keys of panel `number`. */
static void score_panel(vt_attend_chunk *c, int64_t number) {
  const int64_t columns = c->t->table->columns, first = number * columns;
  const float *panel = c->panels == NULL ? c->panel : c->panels + number * c->t->size.panel;
  for (int64_t r = 0; r < c->rows; r += VT_CPU_PATCH_ROWS) {
    const int64_t rows = vt_cpu_min(VT_CPU_PATCH_ROWS, c->rows - r);
    int64_t lo, hi;
    keys_seen_by_any(&c->visible[r], rows, &lo, &hi);
    if (lo < first + columns && hi > first)
      multiply_queries_by_keys(c, r, rows, panel, first, vt_cpu_min(columns, hi - first));
  }
}

void vt_attend_score_keys(vt_attend_chunk *c, int64_t from, int64_t to) {
  const int64_t columns = c->t->table->columns;
  int64_t lo, hi;
  copy_queries_to_scratch(c);
  keys_seen_by_any(c->visible, c->rows, &lo, &hi);
  lo = vt_cpu_max(lo, from);
  hi = vt_cpu_min(hi, to);
  for (int64_t j = lo / columns * columns; j < hi; j += columns) {
    if (c->panels == NULL) vt_attend_pack_keys(c->t, c->pair, j, c->panel);
    score_panel(c, j / columns);
  }
}

/* ---- weights ---- */

static float reduce_chunk(const vt_attend_task *t, vt_cpu_reduction_kind what, const float *x,
                          int64_t n) {
  float y;
  t->call->team->kernels->reductions->reduce[what][VT_DTYPE_F32].line(x, n, &y);
  return y;
}

/* The maximum of n scores. */
static float max_of_scores(const vt_attend_task *t, const float *x, int64_t n) {
  float m = reduce_chunk(t, VT_REDUCE_MAX, x, vt_cpu_min(n, VT_REDUCE_CHUNK));
  for (int64_t i = VT_REDUCE_CHUNK; i < n; i += VT_REDUCE_CHUNK)
    m = vt_f32_max(m, reduce_chunk(t, VT_REDUCE_MAX, x + i, vt_cpu_min(n - i, VT_REDUCE_CHUNK)));
  return m;
}

/* S of the weights e of keys 0 .. hi - 1, of which those before lo are +0. Later keys would have
 * the weight +0 too and add nothing. S of a single chunk of 1024 is the sum of that chunk. */
static float sum_of_weights(const vt_attend_task *t, const float *e, int64_t lo, int64_t hi) {
  vt_sum_f32 s;
  lo = lo / VT_REDUCE_LANES * VT_REDUCE_LANES;
  if (hi <= VT_REDUCE_CHUNK) return reduce_chunk(t, VT_REDUCE_SUM, e + lo, hi - lo);
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < hi; i += VT_REDUCE_CHUNK) {
    const int64_t from = vt_cpu_max(i, lo), to = vt_cpu_min(hi, i + VT_REDUCE_CHUNK);
    vt_sum_f32_add(&s, from < to ? reduce_chunk(t, VT_REDUCE_SUM, e + from, to - from) : 0.0f);
  }
  return vt_sum_f32_done(&s);
}

/* Replaces the products of a row by the weights of the keys that it sees, and by +0 for the other
 * keys fill_lo .. fill_hi - 1. Returns the sum of the weights, 0 if the row sees no key. A key that
 * the mask hides gets the score -inf and hence the weight +0, unless the maximum m of the scores is
 * -inf or NaN. In that case either the row sees no key, or its weights and their sum are NaN. */
static float make_row_weights_and_sum(const vt_attend_task *t, float *e, const vt_attend_visible *x,
                                      int64_t fill_lo, int64_t fill_hi) {
  const int64_t n = x->hi - x->lo;
  vt_cpu_row row = x->row;
  fill_lo = fill_lo / VT_REDUCE_LANES * VT_REDUCE_LANES;
  if (row.bias != NULL) row.bias += x->lo * row.bias_step;
  if (row.mask != NULL) row.mask += x->lo * row.mask_step;
  if (n == 0 || !t->table->score(e + x->lo, n, &row)) {
    memset(e + fill_lo, 0, (size_t)(fill_hi - fill_lo) * sizeof *e);
    return 0;
  }
  const float m = max_of_scores(t, e + x->lo, n);
  t->call->team->kernels->maps->exp_sub(e + x->lo, e + x->lo, m, n);
  memset(e + fill_lo, 0, (size_t)(x->lo - fill_lo) * sizeof *e);
  memset(e + x->hi, 0, (size_t)(fill_hi - x->hi) * sizeof *e);
  return sum_of_weights(t, e, x->lo, x->hi);
}

float vt_attend_make_row_weights_and_sum(const vt_attend_chunk *c, int64_t r) {
  const int64_t first = r / VT_CPU_PATCH_ROWS * VT_CPU_PATCH_ROWS;
  int64_t lo, hi;
  keys_seen_by_any(&c->visible[first], vt_cpu_min(VT_CPU_PATCH_ROWS, c->rows - first), &lo, &hi);
  return make_row_weights_and_sum(c->t, c->e + r * c->t->size.stride, &c->visible[r], lo, hi);
}

/* ---- values ---- */

/* Returns rows first .. first + count - 1 of v as the kernels need them, contiguous and in whole
 * vectors, and sets *row_step to the elements from one to the next. They are copied if v is not
 * stored like that. */
static const float *contiguous_values(const vt_attend_chunk *c, int64_t first, int64_t count,
                                      int64_t *row_step) {
  const vt_view *v = &c->t->call->in[2];
  const vt_attend_sizes *s = &c->t->size;
  const int64_t at[3] = {c->batch, c->group, first};
  const float *from = row_address(v, at);
  *row_step = v->stride[2];
  if (v->stride[3] == 1 && s->padded_width == s->width) return from;
  *row_step = s->padded_width;
  for (int64_t j = 0; j < count; j++)
    for (int64_t i = 0; i < s->padded_width; i++)
      c->values[j * s->padded_width + i] =
          i < s->width ? from[j * v->stride[2] + i * v->stride[3]] : 0.0f;
  return c->values;
}

static int rows_are_finite(const vt_cpu_attentions *table, const float *v, int64_t row_step,
                           int64_t width, int64_t rows) {
  for (int64_t j = 0; j < rows; j++)
    if (!table->finite(v + j * row_step, width)) return 0;
  return 1;
}

/* Keys from .. to - 1 of one block, and their rows of v. */
typedef struct piece {
  int64_t from, to;
  const float *v; /* rows of v, starting with that of key `from` */
  int64_t v_row;
  int unseen_finite; /* 1: v is finite at every key that some row does not see */
} piece;

/* Adds the weighted values of a piece to the sum of one row, without the keys that the row does not
 * see. */
static void add_values_seen_by_row(const vt_attend_chunk *c, int64_t r, const piece *b,
                                   float *sum) {
  const vt_attend_sizes *s = &c->t->size;
  const vt_attend_visible *x = &c->visible[r];
  const float *e = c->e + r * s->stride;
  float *p = c->chain;
  memset(p, 0, (size_t)s->padded_width * sizeof *p);
  for (int64_t j = vt_cpu_max(b->from, x->lo); j < vt_cpu_min(b->to, x->hi); j++)
    if (x->row.mask == NULL || x->row.mask[j * x->row.mask_step] != 0)
      c->t->table->accumulate(p, e[j], b->v + (j - b->from) * b->v_row, s->padded_width);
  c->t->add(sum, p, s->padded_width);
}

/* Adds the weighted values of a piece to the sums of a few rows, with a patch kernel. */
static void add_values_with_patch_kernel(const vt_attend_chunk *c, int64_t r, int64_t rows,
                                         const piece *b, float *sum) {
  const vt_attend_sizes *s = &c->t->size;
  const vt_cpu_attentions *table = c->t->table;
  vt_cpu_patch p = {.a = c->e + r * s->stride + b->from,
                    .a_row = s->stride,
                    .b_row = b->v_row,
                    .c_row = s->padded_width,
                    .k = b->to - b->from};
  for (int64_t i = 0; i < s->padded_width; i += table->columns) {
    const int64_t columns = vt_cpu_min(table->columns, s->padded_width - i);
    p.b = b->v + i;
    p.c = sum + i;
    table->patch[rows - 1][columns / table->lanes - 1](&p);
  }
}

/* Whether v is finite at all keys of the piece that some row does not see; keys that all rows see
 * need no check. */
static int are_unseen_values_finite(const vt_attend_chunk *c, const piece *b) {
  const vt_cpu_attentions *table = c->t->table;
  const int64_t width = c->t->size.padded_width;
  int64_t from = b->from, to = b->to;
  narrow_to_keys_seen_by_all(c->visible, c->rows, &from, &to);
  from = vt_cpu_min(from, b->to);
  to = vt_cpu_max(from, to);
  return rows_are_finite(table, b->v, b->v_row, width, from - b->from) &&
         rows_are_finite(table, b->v + (to - b->from) * b->v_row, b->v_row, width, b->to - to);
}

/* Adds the weighted values of a piece to the sums of a few rows; keys that none of these rows sees
 * are skipped. */
static void add_piece_values(const vt_attend_chunk *c, int64_t r, int64_t rows, const piece *b,
                             float *sum) {
  const int64_t wide = c->t->size.padded_width;
  int64_t from, to;
  keys_seen_by_any(&c->visible[r], rows, &from, &to);
  from = vt_cpu_max(from, b->from);
  to = vt_cpu_min(to, b->to);
  if (from >= to) return;
  if (b->unseen_finite) {
    const piece part = {from, to, b->v + (from - b->from) * b->v_row, b->v_row, 1};
    add_values_with_patch_kernel(c, r, rows, &part, sum);
    return;
  }
  for (int64_t i = 0; i < rows; i++) add_values_seen_by_row(c, r + i, b, sum + i * wide);
}

void vt_attend_add_values(const vt_attend_chunk *c, int64_t block, float *sum) {
  piece b;
  keys_seen_by_any(c->visible, c->rows, &b.from, &b.to);
  b.from = vt_cpu_max(b.from, block * VT_CPU_BLOCK);
  b.to = vt_cpu_min(b.to, block * VT_CPU_BLOCK + VT_CPU_BLOCK);
  if (b.from >= b.to) return;
  b.v = contiguous_values(c, b.from, b.to - b.from, &b.v_row);
  b.unseen_finite = are_unseen_values_finite(c, &b);
  for (int64_t r = 0; r < c->rows; r += VT_CPU_PATCH_ROWS)
    add_piece_values(c, r, vt_cpu_min(VT_CPU_PATCH_ROWS, c->rows - r), &b,
                     sum + r * c->t->size.padded_width);
}

/* ---- results ---- */

void vt_attend_divide_and_store_row(const vt_attend_chunk *c, int64_t r, const float *o,
                                    float sum) {
  const vt_view *y = &c->t->call->out[0];
  const int64_t width = c->t->size.width, step = y->stride[3];
  int64_t at[3];
  position_of_row(c, r, at);
  float *to = row_address(y, at);
  if (sum == 0) { /* the sum is 0 if and only if the row sees no key */
    for (int64_t i = 0; i < width; i++) to[i * step] = 0.0f;
  } else if (step == 1) {
    c->t->table->divide(to, o, sum, width);
  } else {
    for (int64_t i = 0; i < width; i++) to[i * step] = o[i] / sum;
  }
}
