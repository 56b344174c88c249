/* SPDX-License-Identifier: Apache-2.0
 * cpu_attention.h - private to attention: how its work is cut (cpu_attention.c), and what is done
 * to a chunk of rows (cpu_attend.c). */
#ifndef VT_CPU_ATTENTION_H
#define VT_CPU_ATTENTION_H
#include <stdatomic.h>
#include "cpu_levels.h"

enum { VT_ATTEND_CHUNK = 8 * VT_CPU_PATCH_ROWS }; /* rows of a chunk at most */

typedef struct vt_attend_extras { /* which operand each is; 0: there is none */
  uint32_t mask, bias, length;
} vt_attend_extras;

typedef struct vt_attend_sizes {
  int64_t batch, heads, groups, queries, keys, depth, width;
  int64_t pairs;               /* of a batch and a key head */
  int64_t rows, chunk, chunks; /* of a pair: rows, rows of a chunk, chunks */
  int64_t wide;                /* `width`, filled up to whole vectors */
  int64_t panels, panel;       /* of k: how many, and floats of one */
  int64_t blocks;              /* of keys */
  int levels;                  /* of their sums */
  int64_t stride;              /* from a row of scores to the next */
  int split, packed;           /* the keys are split; all panels are packed beforehand */
  uint32_t workers;
} vt_attend_sizes;

typedef struct vt_attend_scratch {        /* in floats */
  uint64_t panels;                        /* of all pairs */
  uint64_t q, e, t, panel, values, chain; /* of a worker: see vt_attend_chunk */
  uint64_t scores, sums, totals;          /* of all pairs, when keys are split */
} vt_attend_scratch;

typedef struct vt_attend_task {
  const vt_cpu_call *call;
  const vt_cpu_attentions *table;
  vt_cpu_add_fn *add;
  const vt_attr_attention *attrs;
  vt_attend_sizes size;
  vt_attend_scratch room;
  vt_attend_extras more;
  float scale;
  float *panels, *workers, *scores, *sums, *totals;
  uint64_t of_worker; /* floats from the scratch of a worker to that of the next */
  void (*item)(struct vt_attend_task *t, uint64_t worker, int64_t i);
  int64_t items;
  atomic_int_fast64_t next;
} vt_attend_task;

typedef struct vt_attend_seen { /* by one row: keys lo .. hi - 1, as far as its mask says so */
  int64_t lo, hi;
  vt_cpu_row row;
} vt_attend_seen;

typedef struct vt_attend_chunk {
  const vt_attend_task *t;
  int64_t pair, batch, group;
  int64_t first, rows; /* rows first .. first + rows - 1 of the pair */
  const float *panels; /* of the pair, or NULL */
  float *q, *e;        /* queries without gaps; scores, then weights */
  float *sum;          /* levels of T of the products with v */
  float *panel;        /* of k */
  float *values;       /* a block of v, where it needs to be copied */
  float *chain;        /* one row of a block */
  vt_attend_seen see[VT_ATTEND_CHUNK];
} vt_attend_chunk;

/* ---- what is done to a chunk, in this order ---- */

/* Rows first .. first + rows - 1 of a pair, in the scratch of a worker. */
void vt_attend_begin(const vt_attend_task *t, uint64_t worker, int64_t pair, int64_t first,
                     int64_t rows, vt_attend_chunk *c);
/* The products with keys from .. to - 1, from and to multiples of 256 or the last key. */
void vt_attend_scores(vt_attend_chunk *c, int64_t from, int64_t to);
/* The weights of a row in place of its products; gives their sum, 0 when it sees nothing. */
float vt_attend_weigh(const vt_attend_chunk *c, int64_t r);
/* Adds to sum[row] what block `block` of the keys gives, for every row. */
void vt_attend_values(const vt_attend_chunk *c, int64_t block, float *sum);
/* The result of a row from its product with v and the sum of its weights. */
void vt_attend_give(const vt_attend_chunk *c, int64_t r, const float *o, float sum);

/* Keys first .. first + columns - 1 of a pair as panel[depth][columns]; those past the last one
 * are +0. */
void vt_attend_pack(const vt_attend_task *t, int64_t pair, int64_t first, float *panel);

/* The sums of n numbers a level at `at`. */
vt_cpu_levels vt_attend_levels(const vt_attend_task *t, float *at, int64_t n, int count);
#endif
