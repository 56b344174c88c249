/* SPDX-License-Identifier: Apache-2.0
 * cpu_attention.c - the op attention: q (B,H,Tq,d), k (B,G,Tk,d), v (B,G,Tk,e) -> (B,H,Tq,e).
 *
 * A pair is one batch and one key head. Its rows, the queries of all heads that share the key head,
 * are split into chunks. A chunk stores the scores of its rows against the keys that they see, and
 * passes over the keys twice: once for the products with k, once for the weighted products with v.
 * Items of work are taken by workers, at most one per thread:
 *
 *   many rows   keys are packed once for all chunks; one thread computes a whole chunk
 *   few rows    (decoding) each thread takes blocks of 256 keys: first their scores, then, when
 *               all weights are known, their part of the products with v */
#include "cpu_attention.h"
#include <string.h>
#include "vt_alloc.h"
#include "vt_num.h"

enum {
  /* if a pair has at most this many rows, its keys are split among the threads */
  SPLIT_ROWS = 2 * VT_CPU_PATCH_ROWS,
  CHUNK_SCORES =
      128 * 1024 /* a chunk has about this many scores at most, so that they stay in cache */
};

/* ---- sizes ---- */

/* Optional operands follow v; each is recognised by its type. */
static vt_attend_optional find_optional_operands(const vt_cpu_call *c) {
  vt_attend_optional x = {0, 0, 0};
  for (uint32_t i = 3; i < c->n_in; i++) {
    const uint32_t dtype = c->in[i].dtype;
    *(dtype == VT_DTYPE_BOOL ? &x.mask : dtype == VT_DTYPE_F32 ? &x.bias : &x.length) = i;
  }
  return x;
}

/* The number of rows of a chunk: few enough that every thread gets several chunks and that the
 * scores of a chunk fit the cache. */
static int64_t choose_chunk_rows(const vt_cpu_team *t, const vt_attend_sizes *s) {
  const int64_t shares = (int64_t)t->threads * 4;
  int64_t rows = vt_cpu_min(VT_ATTEND_CHUNK, vt_cpu_max(CHUNK_SCORES / vt_cpu_max(s->keys, 1), 1));
  if (t->threads > 1) rows = vt_cpu_min(rows, s->pairs * vt_cpu_div_up(s->rows, shares));
  return vt_cpu_min(vt_cpu_round_up(vt_cpu_max(rows, 1), VT_CPU_PATCH_ROWS), VT_ATTEND_CHUNK);
}

static uint32_t count_workers(const vt_cpu_team *t, const vt_attend_sizes *s, int64_t items) {
  const double row = (double)s->keys * ((double)(s->depth + s->width) / 32 + 1);
  const double all = (double)s->pairs * (double)s->rows * row;
  const uint64_t jobs = vt_cpu_job_count(t, (uint64_t)items, all / (double)vt_cpu_max(items, 1));
  return jobs < t->threads ? (uint32_t)jobs : t->threads;
}

/* 1 if the result has no elements, or there are no keys. */
static int is_empty_or_keyless(const vt_cpu_call *c) {
  const int64_t *dim = c->out[0].dim;
  return dim[0] == 0 || dim[1] == 0 || dim[2] == 0 || dim[3] == 0 || c->in[1].dim[2] == 0;
}

/* Must not be called if is_empty_or_keyless; then products of the result's sizes do not overflow.
 */
static vt_attend_sizes sizes_of(const vt_cpu_call *c) {
  const vt_view *q = &c->in[0], *k = &c->in[1], *v = &c->in[2];
  const vt_cpu_attentions *table = c->team->kernels->attentions;
  int64_t items;
  vt_attend_sizes s = {.batch = q->dim[0],
                       .heads = q->dim[1],
                       .groups = k->dim[1],
                       .queries = q->dim[2],
                       .keys = k->dim[2],
                       .depth = q->dim[3],
                       .width = v->dim[3]};
  s.pairs = s.batch * s.groups;
  s.rows = s.heads / s.groups * s.queries;
  s.padded_width = vt_cpu_round_up(s.width, table->lanes);
  s.panels = vt_cpu_div_up(s.keys, table->columns);
  s.panel = s.depth * table->columns;
  s.blocks = vt_cpu_div_up(s.keys, VT_CPU_BLOCK);
  s.stride = vt_cpu_round_up(s.keys, VT_CPU_BLOCK);
  s.levels = vt_cpu_levels_needed(s.blocks);
  s.split = s.rows <= SPLIT_ROWS && s.blocks > 1;
  s.chunk = s.split ? s.rows : choose_chunk_rows(c->team, &s);
  s.chunks = vt_cpu_div_up(s.rows, s.chunk);
  s.packed = s.chunks > 1;
  if (!vt_i64_mul(s.pairs, s.split ? s.blocks : s.chunks, &items)) items = INT64_MAX;
  s.workers = count_workers(c->team, &s, items);
  return s;
}

/* ---- scratch ----
 * | packed k | scores, sums and totals, if keys are split | the scratch of each worker | */

static uint64_t multiply_saturated(uint64_t a, uint64_t b) {
  uint64_t out;
  return vt_size_mul(a, b, &out) ? out : UINT64_MAX;
}
static uint64_t add_saturated(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
/* a * b * c floats, rounded up to whole cache lines; UINT64_MAX on overflow. */
static uint64_t floats_in_whole_lines(int64_t a, int64_t b, int64_t c) {
  const uint64_t n = multiply_saturated(multiply_saturated((uint64_t)a, (uint64_t)b), (uint64_t)c);
  return n > UINT64_MAX - 15 ? UINT64_MAX : (n + 15) & ~(uint64_t)15;
}

static vt_attend_scratch scratch_sizes_in_floats(const vt_attend_sizes *s) {
  vt_attend_scratch x = {0};
  x.q = floats_in_whole_lines(s->chunk, s->depth, 1);
  x.values = floats_in_whole_lines(VT_CPU_BLOCK, s->padded_width, 1);
  x.chain = floats_in_whole_lines(s->padded_width, 1, 1);
  if (s->packed) {
    x.panels = floats_in_whole_lines(s->pairs, s->panels, s->panel);
  } else {
    x.panel = floats_in_whole_lines(s->panel, 1, 1);
  }
  if (s->split) {
    x.scores = floats_in_whole_lines(s->pairs, s->rows, s->stride);
    x.sums = multiply_saturated((uint64_t)s->blocks,
                                floats_in_whole_lines(s->pairs, s->rows, s->padded_width));
    x.totals = floats_in_whole_lines(s->pairs, s->rows, 1);
    x.t = floats_in_whole_lines(s->levels, s->padded_width, 1);
  } else {
    x.e = floats_in_whole_lines(s->chunk, s->stride, 1);
    x.t = floats_in_whole_lines(s->levels, s->chunk, s->padded_width);
  }
  return x;
}

static uint64_t worker_floats(const vt_attend_scratch *x) {
  return add_saturated(add_saturated(add_saturated(x->q, x->e), add_saturated(x->t, x->panel)),
                       add_saturated(x->values, x->chain));
}

uint64_t vt_cpu_scratch_attention(const vt_cpu_call *c) {
  if (is_empty_or_keyless(c)) return 0;
  const vt_attend_sizes s = sizes_of(c);
  const vt_attend_scratch x = scratch_sizes_in_floats(&s);
  const uint64_t shared =
      add_saturated(add_saturated(x.panels, x.totals), add_saturated(x.scores, x.sums));
  return multiply_saturated(add_saturated(shared, multiply_saturated(worker_floats(&x), s.workers)),
                            sizeof(float));
}

/* ---- sharing work among the workers ---- */

/* Workers take one item after the other; the result of an item does not depend on the worker. */
static void run_items_of_worker(void *context, uint64_t worker) {
  vt_attend_task *t = context;
  for (;;) {
    const int64_t i = atomic_fetch_add_explicit(&t->next, 1, memory_order_relaxed);
    if (i >= t->items) return;
    t->item(t, worker, i);
  }
}

static void run_workers(vt_attend_task *t, int64_t items,
                        void (*item)(vt_attend_task *t, uint64_t worker, int64_t i)) {
  const int64_t workers = vt_cpu_max(1, vt_cpu_min(items, t->size.workers));
  t->item = item;
  t->items = items;
  atomic_store_explicit(&t->next, 0, memory_order_relaxed);
  vt_cpu_run_jobs(t->call->team, (uint64_t)workers, run_items_of_worker, t);
}

/* ---- many rows: an item is a panel of keys to pack, then a chunk ---- */

static void pack_keys_item(vt_attend_task *t, uint64_t worker, int64_t i) {
  const vt_attend_sizes *s = &t->size;
  (void)worker;
  vt_attend_pack_keys(t, i / s->panels, i % s->panels * t->table->columns,
                      t->panels + i * s->panel);
}

/* Chunks are computed from the last to the first: with causal attention the last rows see most keys
 * and take longest. */
static void compute_chunk_item(vt_attend_task *t, uint64_t worker, int64_t i) {
  const vt_attend_sizes *s = &t->size;
  const int64_t first = (s->chunks - 1 - i % s->chunks) * s->chunk;
  float total[VT_ATTEND_CHUNK];
  vt_attend_chunk c;
  vt_attend_begin_chunk(t, worker, i / s->chunks, first, vt_cpu_min(s->chunk, s->rows - first), &c);
  const int64_t n = c.rows * s->padded_width;
  vt_attend_score_keys(&c, 0, s->keys);
  for (int64_t r = 0; r < c.rows; r++) total[r] = vt_attend_make_row_weights_and_sum(&c, r);
  const vt_cpu_levels sums = vt_attend_init_levels(t, c.sum, n, s->levels);
  vt_cpu_levels_clear(&sums);
  for (int64_t block = 0; block < s->blocks; block++) {
    vt_attend_add_values(&c, block, c.sum);
    vt_cpu_levels_carry(&sums, block);
  }
  const float *o = vt_cpu_levels_total(&sums);
  for (int64_t r = 0; r < c.rows; r++)
    vt_attend_divide_and_store_row(&c, r, o + r * s->padded_width, total[r]);
}

/* ---- few rows: an item is a block of keys, or a row ---- */

static void begin_chunk_of_all_rows(const vt_attend_task *t, uint64_t worker, int64_t pair,
                                    vt_attend_chunk *c) {
  vt_attend_begin_chunk(t, worker, pair, 0, t->size.rows, c);
}

static void score_block_item(vt_attend_task *t, uint64_t worker, int64_t i) {
  const int64_t block = i % t->size.blocks;
  vt_attend_chunk c;
  begin_chunk_of_all_rows(t, worker, i / t->size.blocks, &c);
  vt_attend_score_keys(&c, block * VT_CPU_BLOCK, block * VT_CPU_BLOCK + VT_CPU_BLOCK);
}

static void make_row_weights_item(vt_attend_task *t, uint64_t worker, int64_t i) {
  vt_attend_chunk c;
  begin_chunk_of_all_rows(t, worker, i / t->size.rows, &c);
  t->totals[i] = vt_attend_make_row_weights_and_sum(&c, i % t->size.rows);
}

/* The address of the sums of key block `block` of a pair, one row after the other. */
static float *address_of_block_sums(const vt_attend_task *t, int64_t pair, int64_t block) {
  return t->sums + (pair * t->size.blocks + block) * t->size.rows * t->size.padded_width;
}

static void add_block_values_item(vt_attend_task *t, uint64_t worker, int64_t i) {
  const int64_t pair = i / t->size.blocks, block = i % t->size.blocks;
  float *sum = address_of_block_sums(t, pair, block);
  vt_attend_chunk c;
  begin_chunk_of_all_rows(t, worker, pair, &c);
  memset(sum, 0, (size_t)(t->size.rows * t->size.padded_width) * sizeof *sum);
  vt_attend_add_values(&c, block, sum);
}

static void store_row_item(vt_attend_task *t, uint64_t worker, int64_t i) {
  const vt_attend_sizes *s = &t->size;
  const int64_t pair = i / s->rows, r = i % s->rows;
  vt_attend_chunk c;
  begin_chunk_of_all_rows(t, worker, pair, &c);
  const vt_cpu_levels sums = vt_attend_init_levels(t, c.sum, s->padded_width, s->levels);
  vt_cpu_levels_clear(&sums);
  for (int64_t block = 0; block < s->blocks; block++) {
    t->add(c.sum, address_of_block_sums(t, pair, block) + r * s->padded_width, s->padded_width);
    vt_cpu_levels_carry(&sums, block);
  }
  vt_attend_divide_and_store_row(&c, r, vt_cpu_levels_total(&sums), t->totals[i]);
}

/* ---- the op ---- */

static void fill_result_with_zeros(const vt_cpu_call *c) {
  const float zero = 0;
  vt_view from = c->out[0];
  from.data = (void *)(uintptr_t)&zero;
  memset(from.stride, 0, sizeof from.stride);
  vt_cpu_copy(c->team, &c->out[0], &from);
}

static void assign_scratch(vt_attend_task *t) {
  const vt_attend_scratch *x = &t->scratch;
  t->panels = t->call->work;
  t->scores = t->panels + x->panels;
  t->sums = t->scores + x->scores;
  t->totals = t->sums + x->sums;
  t->workers = t->totals + x->totals;
  t->worker_floats = worker_floats(x);
}

vt_status vt_cpu_run_attention(vt_cpu_call *c) {
  const vt_cpu_kernels *k = c->team->kernels;
  vt_attend_task t = {.call = c,
                      .table = k->attentions,
                      .add = k->convs->f32->add,
                      .attrs = c->attrs,
                      .optional = find_optional_operands(c)};
  const vt_attend_sizes *s = &t.size;
  if (is_empty_or_keyless(c)) { /* without keys the result is +0 */
    fill_result_with_zeros(c);
    return VT_OK;
  }
  t.size = sizes_of(c);
  t.scratch = scratch_sizes_in_floats(s);
  /* The default scale is 1 / sqrt(f32(d)), each operation rounded once. */
  t.scale = t.attrs->scale == 0.0 ? 1.0f / vt_f32_sqrt((float)s->depth) : (float)t.attrs->scale;
  assign_scratch(&t);
  if (s->split) {
    run_workers(&t, s->pairs * s->blocks, score_block_item);
    run_workers(&t, s->pairs * s->rows, make_row_weights_item);
    run_workers(&t, s->pairs * s->blocks, add_block_values_item);
    run_workers(&t, s->pairs * s->rows, store_row_item);
    return VT_OK;
  }
  if (s->packed) run_workers(&t, s->pairs * s->panels, pack_keys_item);
  run_workers(&t, s->pairs * s->chunks, compute_chunk_item);
  return VT_OK;
}
