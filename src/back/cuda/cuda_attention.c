/* SPDX-License-Identifier: Apache-2.0
 * cuda_attention.c - attention: chooses the kernels and how many rows are processed at a time.
 *
 *   many queries          attention.cu: stores the scores of resident rows, or none
 *   few, or wide heads    attention_split.cu: stores the scores of some rows; scratch is limited
 *                         unless a single row needs more */
#include "cuda_backend.h"
#include "gpu_attention.h"
#include "vt_alloc.h"
#include "vt_num.h"

enum {
  /* fewest queries for which the tiled kernels are faster than the split ones */
  LEAST_QUERIES = 32,
  SCORES_SHARE = 64,       /* scores may take 1/SCORES_SHARE of the card's memory */
  SPLIT_SCRATCH = 1 << 26, /* approximate limit of the split kernels' scratch in bytes */
  MAX_UNITS = 65535 / 2    /* most units in one launch */
};

/* ---- sizes ---- */

typedef struct sizes {
  int64_t batch, heads, groups, queries, keys, depth, width;
  /* rows (queries of all heads); blocks of 256 and chunks of 1024 keys */
  int64_t rows, blocks, chunks;
  /* levels of the order T of docs/numerics.md; partial sums per row in the order S */
  int64_t levels, sums;
  int64_t per_group, units;      /* rows of one key head; units (8 rows each) of one key head */
  int64_t all, units_per_launch; /* units of the whole step; units per launch */
} sizes;

/* Returns 1 if the step's result has no elements. */
static int result_is_empty(const vt_cuda_call *c) {
  const int64_t *dim = c->out[0].dim;
  return dim[0] == 0 || dim[1] == 0 || dim[2] == 0 || dim[3] == 0;
}

static uint64_t multiply_saturating(uint64_t a, uint64_t b) {
  uint64_t out;
  return vt_size_mul(a, b, &out) ? out : UINT64_MAX;
}
static uint64_t add_saturating(uint64_t a, uint64_t b) {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
static uint64_t float_array_bytes(int64_t dim0, int64_t dim1, int64_t dim2) {
  return multiply_saturating(
      multiply_saturating(multiply_saturating((uint64_t)dim0, (uint64_t)dim1), (uint64_t)dim2),
      sizeof(float));
}

/* Rounds bytes up, so that the array stored after them is aligned for vectors. */
static uint64_t aligned_bytes(uint64_t bytes) {
  return bytes > UINT64_MAX - VT_CUDA_ALIGNMENT ? UINT64_MAX : vt_cuda_align_up(bytes);
}

typedef struct scratch { /* bytes of each array in scratch */
  uint64_t upper, scores, most, products, sums;
} scratch;

static uint64_t total_scratch_bytes(const scratch *x) {
  return add_saturating(
      add_saturating(add_saturating(x->upper, x->scores), add_saturating(x->most, x->products)),
      x->sums);
}

/* Returns the scratch that the split kernels need for `units` units in one launch; a unit is
 * VT_ATTEND_ROWS rows of one key head. */
static scratch split_scratch(const sizes *s, int64_t units) {
  const int64_t rows = units * VT_ATTEND_ROWS;
  return (scratch){.scores = aligned_bytes(float_array_bytes(rows, s->keys, 1)),
                   .most = aligned_bytes(float_array_bytes(rows, s->blocks, 1)),
                   .products = aligned_bytes(float_array_bytes(rows, s->blocks, s->width)),
                   .sums = aligned_bytes(float_array_bytes(rows, s->sums, 1))};
}
static int64_t count_levels_of_t(int64_t blocks) {
  int64_t n = 1;
  for (; blocks > VT_ATTEND_GROUP; blocks = vt_cuda_ceil_div(blocks, VT_ATTEND_GROUP)) n++;
  return n;
}
static int64_t chunk_sums_per_row(int64_t keys) {
  int64_t n = 0;
  do {
    keys = vt_cuda_ceil_div(keys, VT_ATTEND_CHUNK);
    n += keys;
  } while (keys > 1);
  return n;
}

/* Returns the sizes of the step. Its result must not be empty, because then products of the sizes
 * cannot overflow. */
static sizes sizes_of(const vt_cuda_call *c) {
  const vt_view *q = &c->in[0], *k = &c->in[1];
  sizes s = {.batch = q->dim[0],
             .heads = q->dim[1],
             .groups = k->dim[1],
             .queries = q->dim[2],
             .keys = k->dim[2],
             .depth = q->dim[3],
             .width = c->in[2].dim[3]};
  s.rows = s.batch * s.heads * s.queries;
  s.blocks = vt_cuda_ceil_div(s.keys, VT_ATTEND_BLOCK);
  s.chunks = vt_cuda_ceil_div(s.keys, VT_ATTEND_CHUNK);
  s.levels = count_levels_of_t(s.blocks);
  s.sums = chunk_sums_per_row(s.keys);
  s.per_group = s.heads / s.groups * s.queries;
  s.units = vt_cuda_ceil_div(s.per_group, VT_ATTEND_ROWS);
  s.all = s.batch * s.groups * s.units;
  const scratch one = split_scratch(&s, 1);
  const uint64_t fit = SPLIT_SCRATCH / (total_scratch_bytes(&one) + 1);
  s.units_per_launch = fit > MAX_UNITS ? MAX_UNITS : vt_cuda_max((int64_t)fit, 1);
  s.units_per_launch = vt_cuda_min(s.units_per_launch, s.all);
  return s;
}

/* ---- tiled kernels ---- */

typedef struct tiles {
  /* the kernel that stores scores; the kernel that computes them twice */
  uint32_t kernel, recomputing;
  int64_t most; /* largest depth and width that the kernels support */
  uint32_t rows, shared, resident;
} tiles;
static const tiles kinds[] = {
    {VT_GPU_attend_64, VT_GPU_attend_64_long, 64, 64, VT_ATTEND_64_SHARED, 3},
    {VT_GPU_attend_128, VT_GPU_attend_128_long, 128, 32, VT_ATTEND_128_SHARED, 2}};

/* Returns the tiled kernel for the step; NULL if the split kernels must compute it. */
static const tiles *tiled_kernel_of(const vt_cuda_call *c, const sizes *s) {
  const int64_t most = vt_cuda_max(s->depth, s->width);
  const tiles *t = most <= kinds[0].most ? &kinds[0] : &kinds[1];
  if (most > t->most || s->queries < LEAST_QUERIES || s->keys > VT_ATTEND_LONGEST) return NULL;
  return t->shared <= c->traits->shared ? t : NULL;
}

static int64_t count_query_blocks(const sizes *s, const tiles *t) {
  return vt_cuda_ceil_div(s->queries, t->rows) * s->batch * s->heads;
}
/* Returns how many thread blocks of the kernel are resident on the card at the same time. */
static int64_t count_resident_blocks(const vt_cuda_call *c, const sizes *s, const tiles *t) {
  const int64_t resident = vt_cuda_resident_per_processor(c->traits, t->shared, t->resident);
  return vt_cuda_min(count_query_blocks(s, t), c->traits->processors * resident);
}
/* Returns how many scores a thread block stores; the number of keys is rounded up to whole
 * tiles. */
static int64_t scores_per_block(const sizes *s, const tiles *t) {
  return vt_cuda_ceil_div(s->keys, VT_ATTEND_TILE) * VT_ATTEND_TILE * t->rows;
}

/* Returns the scratch of the tiled kernels. Its field `scores` is 0 if the scores would take too
 * much of the card's memory; then the kernel computes them twice. */
static scratch tiled_scratch(const vt_cuda_call *c, const sizes *s, const tiles *t) {
  const uint64_t stores =
      float_array_bytes(count_resident_blocks(c, s, t), scores_per_block(s, t), 1);
  return (scratch){
      .upper = aligned_bytes(float_array_bytes(s->levels - 1, s->rows, s->width)),
      .scores = stores <= c->traits->memory / SCORES_SHARE ? aligned_bytes(stores) : 0,
      .sums = s->chunks > 1 ? aligned_bytes(float_array_bytes(s->rows, s->chunks, 1)) : 0};
}

static scratch scratch_of(const vt_cuda_call *c, const sizes *s) {
  const tiles *t = tiled_kernel_of(c, s);
  return t != NULL ? tiled_scratch(c, s, t) : split_scratch(s, s->units_per_launch);
}

uint64_t vt_cuda_scratch_attention(const vt_cuda_call *c) {
  if (result_is_empty(c)) return 0;
  const sizes s = sizes_of(c);
  const scratch x = scratch_of(c, &s);
  return total_scratch_bytes(&x);
}

/* ---- arguments of the kernels ---- */

static vt_gpu_attended attended_operand_of(const vt_view *v) {
  vt_gpu_attended x = {.data = v->data};
  for (uint32_t i = 0; i < v->rank; i++)
    x.step[4 - v->rank + i] = v->dim[i] == 1 ? 0 : v->stride[i];
  return x;
}

/* Returns 1 if every row of the operand consists of aligned vectors of four floats. */
static uint32_t allows_vector_loads(const vt_view *v) {
  int wide = (v->stride[3] == 1 || v->dim[3] == 1) && v->dim[3] % 4 == 0;
  for (uint32_t i = 0; i < 3; i++) wide = wide && (v->dim[i] == 1 || v->stride[i] % 4 == 0);
  return wide && (uintptr_t)v->data % 16 == 0;
}

/* The optional operands after v are identified by their types. */
static void add_optional_operands(const vt_cuda_call *c, vt_gpu_attention *a) {
  for (uint32_t i = 3; i < c->n_in; i++) {
    const vt_view *v = &c->in[i];
    if (v->dtype == VT_DTYPE_BOOL) {
      a->mask = attended_operand_of(v);
    } else if (v->dtype == VT_DTYPE_F32) {
      a->bias = attended_operand_of(v);
    } else {
      a->length = v->data;
      a->length_step = v->stride[0];
      a->long_length = v->dtype == VT_DTYPE_I64;
    }
  }
}

static void place_scratch(vt_gpu_attention *a, void *work, const scratch *x) {
  char *at = work;
  a->upper = (float *)(void *)at;
  if (at != NULL) at += x->upper;
  a->scores = (float *)(void *)at;
  if (at != NULL) at += x->scores;
  a->most = (float *)(void *)at;
  if (at != NULL) at += x->most;
  a->products = (float *)(void *)at;
  if (at != NULL) at += x->products;
  a->sums = (float *)(void *)at;
}

/* The default scale is 1 / sqrt(f32(d)), each operation rounded once. */
static vt_gpu_attention attention_args(const vt_cuda_call *c, const sizes *s) {
  const vt_attr_attention *attrs = c->attrs;
  const float default_scale = 1.0f / vt_f32_sqrt((float)s->depth);
  const scratch sizes_of_scratch = scratch_of(c, s);
  vt_gpu_attention a = {.q = attended_operand_of(&c->in[0]),
                        .k = attended_operand_of(&c->in[1]),
                        .v = attended_operand_of(&c->in[2]),
                        .out = attended_operand_of(&c->out[0]),
                        .heads = s->heads,
                        .groups = s->groups,
                        .queries = s->queries,
                        .keys = s->keys,
                        .depth = s->depth,
                        .width = s->width,
                        .window = attrs->window,
                        .scale = attrs->scale == 0.0 ? default_scale : (float)attrs->scale,
                        .causal = attrs->causal != 0,
                        .wide_out = allows_vector_loads(&c->out[0]),
                        .pairs = s->batch * s->heads,
                        .levels = s->levels,
                        .per_group = s->per_group,
                        .units = s->units,
                        .stride = s->keys,
                        .blocks = s->blocks};
  for (uint32_t i = 0; i < 3; i++) a.wide[i] = allows_vector_loads(&c->in[i]);
  add_optional_operands(c, &a);
  place_scratch(&a, c->work, &sizes_of_scratch);
  return a;
}

/* ---- the op ---- */

static vt_status run_tiled_kernel(vt_cuda_call *c, const sizes *s, const tiles *t) {
  vt_gpu_attention a = attention_args(c, s);
  const int stores = tiled_scratch(c, s, t).scores > 0;
  const int64_t blocks = stores ? count_resident_blocks(c, s, t) : count_query_blocks(s, t);
  a.stride = scores_per_block(s, t);
  a.sums_stride = vt_cuda_max(s->chunks, 1);
  return vt_cuda_launch(c, stores ? t->kernel : t->recomputing,
                        (vt_cuda_grid){(uint32_t)blocks, 1, 1, VT_ATTEND_THREADS, t->shared}, &a);
}

static vt_status run_split_kernels(vt_cuda_call *c, const vt_gpu_attention *a, int64_t units) {
  const int deep = a->depth > VT_ATTEND_DEEP;
  const uint32_t keys = (uint32_t)a->blocks, rows = (uint32_t)units;
  const vt_cuda_grid first = {keys, rows, 1, VT_ATTEND_BLOCK, VT_ATTEND_SCORES_SHARED};
  const vt_cuda_grid second = {keys, rows, 1, VT_ATTEND_BLOCK, VT_ATTEND_VALUES_SHARED};
  VT_TRY(vt_cuda_launch(c, deep ? VT_GPU_attend_deep : VT_GPU_attend_scores, first, a));
  VT_TRY(vt_cuda_launch(c, VT_GPU_attend_values, second, a));
  return vt_cuda_launch(c, VT_GPU_attend_results,
                        (vt_cuda_grid){rows * VT_ATTEND_ROWS, 1, 1, 128, 0}, a);
}

vt_status vt_cuda_run_attention(vt_cuda_call *c) {
  if (result_is_empty(c)) return VT_OK;
  const sizes s = sizes_of(c);
  const tiles *t = tiled_kernel_of(c, &s);
  if (t != NULL) return run_tiled_kernel(c, &s, t);
  vt_gpu_attention a = attention_args(c, &s);
  a.sums_stride = s.sums;
  for (a.first = 0; a.first < s.all; a.first += s.units_per_launch)
    VT_TRY(run_split_kernels(c, &a, vt_cuda_min(s.units_per_launch, s.all - a.first)));
  return VT_OK;
}
