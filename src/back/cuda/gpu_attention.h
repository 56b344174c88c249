/* SPDX-License-Identifier: Apache-2.0
 * gpu_attention.h - attention: what its kernels are given. Read by C and by CUDA.
 *
 * A row is a query of a head; rows count (batch, head, query) row-major, so the rows of the heads
 * that read one key head stand together. */
#ifndef VT_GPU_ATTENTION_H
#define VT_GPU_ATTENTION_H
#include <stdint.h>

enum {
  VT_ATTEND_BLOCK = 256,      /* keys whose products with v are one chain */
  VT_ATTEND_GROUP = 8,        /* blocks that are added before others join */
  VT_ATTEND_CHUNK = 1024,     /* keys whose weights are summed together */
  VT_ATTEND_TILE = 64,        /* keys that are on chip at once */
  VT_ATTEND_THREADS = 128,    /* of a block of the kernels with tiles */
  VT_ATTEND_ROWS = 8,         /* rows of a block of the others */
  VT_ATTEND_LEVELS = 12,      /* of T, for any number of keys that there may be */
  VT_ATTEND_DEEP = 256 * 8,   /* depth from which on T has levels */
  VT_ATTEND_LONGEST = 1 << 20 /* keys of the kernels with tiles: chunks of chunks are one chunk */
};

/* Bytes on chip that launches ask for. */
enum {
  VT_ATTEND_64_ROOM = 4 * (64 + 2 * 64) * (64 + 4) + 64 * (4 * (64 + 4) + 12) + 64 + 4 * 8 * 128,
  VT_ATTEND_128_ROOM = 4 * (32 + 2 * 64) * (128 + 4) + 32 * (4 * (64 + 4) + 12) + 64 + 4 * 4 * 128,
  VT_ATTEND_SCORES_ROOM = 4 * (256 + 8) * (32 + 4) + 4 * 8 * 8 + 8 * 32,
  VT_ATTEND_VALUES_ROOM = 4 * 256 * 64 + 4 * 8 * (256 + 4) + 4 * 8 + 8 * 32
};

/* A tensor of [b, h, i, j], some strides of which may be 0. */
typedef struct vt_gpu_attended {
  const void *data; /* NULL: it is not there */
  int64_t step[4];  /* elements */
} vt_gpu_attended;

typedef struct vt_gpu_attention {
  vt_gpu_attended q, k, v, out, bias, mask;
  const void *length; /* of i64 when `long_length`, else of i32; or NULL */
  int64_t length_step;
  int64_t heads, groups, queries, keys, depth, width, window;
  float scale;
  uint32_t causal, long_length;
  uint32_t wide[3], wide_out; /* q, k, v, out: four neighbours can be had at once */

  /* kernels with tiles; their `scores` are those of one block of queries for each block of threads,
   * `stride` from one to the next, and those called _long have none */
  int64_t pairs; /* of a batch and a head */
  float *upper;  /* levels of T above the first: [level - 1][row][width] */
  int64_t levels;

  /* kernels with scores in memory; a unit is up to VT_ATTEND_ROWS rows of one key head, and what
   * follows is of the units that are done at once, VT_ATTEND_ROWS to each */
  int64_t first;            /* unit */
  int64_t per_group, units; /* of a key head: its rows, its units */
  float *scores;            /* [row][key], then the weights */
  float *most;              /* [row][block]: the greatest score */
  float *products;          /* [row][block][width] */
  int64_t stride, blocks;   /* from a row of scores to the next; blocks of keys */

  /* both */
  float *sums; /* [row][...]: S of chunks, then of chunks of these */
  int64_t sums_stride;
} vt_gpu_attention;
#endif
