/* SPDX-License-Identifier: Apache-2.0
 * cpu_attention.h - private to attention: the sizes and scratch of a step, which cpu_attention.c
 * splits into chunks of rows, and the functions that compute one chunk (cpu_attend.c). */
#ifndef VT_CPU_ATTENTION_H
#define VT_CPU_ATTENTION_H
#include <stdatomic.h>
#include "cpu_levels.h"

enum { VT_ATTEND_CHUNK = 8 * VT_CPU_PATCH_ROWS }; /* most rows of a chunk */

typedef struct vt_attend_optional { /* index of each optional operand; 0: the step lacks it */
  uint32_t mask, bias, length;
} vt_attend_optional;

/* `depth` is the length of a query or key, `width` of a value. The heads that share a key head form
 * a group; a pair is one batch and one group, and its rows are the queries of the group's heads. */
typedef struct vt_attend_sizes {
  int64_t batch, heads, groups, queries, keys, depth, width;
  int64_t pairs;               /* batch * groups */
  int64_t rows, chunk, chunks; /* of a pair: its rows, the rows of a chunk, the chunks */
  int64_t padded_width;        /* `width`, rounded up to whole vectors */
  int64_t panels, panel;       /* panels of the packed keys; floats of one panel */
  int64_t blocks;              /* blocks of 256 keys */
  int levels;                  /* levels (cpu_levels.h) of a sum over `blocks` blocks */
  int64_t stride;              /* floats from one row of scores to the next */
  /* split: threads share the keys of a pair; packed: all keys are packed beforehand */
  int split, packed;
  uint32_t workers;
} vt_attend_sizes;

/* Sizes of the parts of the scratch, in floats. */
typedef struct vt_attend_scratch {
  uint64_t panels; /* packed keys of all pairs */
  /* of one worker, for fields of vt_attend_chunk; t: its `sum` */
  uint64_t q, e, t, panel, values, chain;
  uint64_t scores, sums, totals; /* of all pairs, used only if `split` */
} vt_attend_scratch;

/* One step of attention while it runs. */
typedef struct vt_attend_task {
  const vt_cpu_call *call;
  const vt_cpu_attentions *table;
  vt_cpu_add_fn *add;
  const vt_attr_attention *attrs;
  vt_attend_sizes size;
  vt_attend_scratch scratch;
  vt_attend_optional optional;
  float scale;
  float *panels, *workers, *scores, *sums, *totals; /* addresses of the parts of the scratch */
  uint64_t worker_floats; /* floats from the scratch of one worker to that of the next */
  /* computes item i: a panel of keys, a block of scores, a row or a chunk */
  void (*item)(struct vt_attend_task *t, uint64_t worker, int64_t i);
  int64_t items;
  atomic_int_fast64_t next; /* first item that no worker has taken */
} vt_attend_task;

/* The keys that one row may see: lo .. hi - 1, less those that its mask hides. */
typedef struct vt_attend_visible {
  int64_t lo, hi;
  vt_cpu_row row;
} vt_attend_visible;

/* Rows of a pair that one worker computes together, and the scratch of this worker. */
typedef struct vt_attend_chunk {
  const vt_attend_task *t;
  int64_t pair, batch, group;
  int64_t first, rows; /* rows first .. first + rows - 1 of the pair */
  const float *panels; /* packed keys of the pair; NULL if they are not packed beforehand */
  float *q, *e;        /* q: queries without gaps; e: scores, later weights */
  float *sum;          /* levels of sums of the products with v */
  float *panel;        /* packed keys of one panel, if `panels` is NULL */
  float *values;       /* a copy of a block of v, if the kernels cannot read v in place */
  float *chain;        /* the fma chains of one row in a block */
  vt_attend_visible visible[VT_ATTEND_CHUNK];
} vt_attend_chunk;

/* ---- the steps of a chunk, in the order in which they run ---- */

/* Sets up rows first .. first + rows - 1 of a pair in the scratch of a worker. */
void vt_attend_begin_chunk(const vt_attend_task *t, uint64_t worker, int64_t pair, int64_t first,
                           int64_t rows, vt_attend_chunk *c);
/* Computes the products of all rows with keys from .. to - 1. `from` must be a multiple of 256, and
 * `to` a multiple of 256 or the number of keys. */
void vt_attend_score_keys(vt_attend_chunk *c, int64_t from, int64_t to);
/* Replaces the products of a row by its weights; returns the sum of the weights, 0 if the row sees
 * no key. */
float vt_attend_make_row_weights_and_sum(const vt_attend_chunk *c, int64_t r);
/* For every row, adds the weighted values of key block `block` to sum[row]. */
void vt_attend_add_values(const vt_attend_chunk *c, int64_t block, float *sum);
/* Stores the result of a row: its weighted sum `o` of values, divided by the sum of its weights. */
void vt_attend_divide_and_store_row(const vt_attend_chunk *c, int64_t r, const float *o, float sum);

/* Packs keys first .. first + columns - 1 of a pair as panel[depth][columns]; columns past the last
 * key are +0. */
void vt_attend_pack_keys(const vt_attend_task *t, int64_t pair, int64_t first, float *panel);

/* Prepares `count` levels (cpu_levels.h) of sums of n numbers each, stored at `at`. */
vt_cpu_levels vt_attend_init_levels(const vt_attend_task *t, float *at, int64_t n, int count);
#endif
