/* SPDX-License-Identifier: Apache-2.0
 * gpu_attention.h - the argument struct and sizes of the attention kernels; C and CUDA include
 * it. D, S and T are the summation orders of docs/numerics.md: T sums fma chains of 256 keys
 * (blocks), groups of 8 blocks and levels of groups; S sums chunks of 1024. The tiled kernels are
 * in attention.cu, the split kernels in attention_split.cu.
 *
 * A row is one query of one head. Rows are numbered row-major by (batch, head, query), so the rows
 * of all heads that share a key head are consecutive. */
#ifndef VT_GPU_ATTENTION_H
#define VT_GPU_ATTENTION_H
#include <stdint.h>

enum {
  VT_ATTEND_BLOCK = 256,    /* keys per fma chain of weights times v, which is one block */
  VT_ATTEND_GROUP = 8,      /* blocks of keys per group in the order T */
  VT_ATTEND_CHUNK = 1024,   /* keys per chunk of the sum S of weights */
  VT_ATTEND_TILE = 64,      /* keys per tile in shared memory */
  VT_ATTEND_THREADS = 128,  /* threads of a block of the tiled kernels */
  VT_ATTEND_ROWS = 8,       /* rows per thread block of the split kernels */
  VT_ATTEND_LEVELS = 12,    /* levels of the order T, enough for any number of keys */
  VT_ATTEND_DEEP = 256 * 8, /* depth above which q*k needs more than one level of T */
  /* most keys that the tiled kernels support, so that S has two levels of chunks */
  VT_ATTEND_LONGEST = 1 << 20
};

/* Bytes of dynamic shared memory of the tiled kernels for depths 64 and 128, and of the split
 * kernels for scores and values. */
enum {
  VT_ATTEND_64_SHARED = 4 * (64 + 2 * 64) * (64 + 4) + 64 * (4 * (64 + 4) + 12) + 64 + 4 * 8 * 128,
  VT_ATTEND_128_SHARED =
      4 * (32 + 2 * 64) * (128 + 4) + 32 * (4 * (64 + 4) + 12) + 64 + 4 * 4 * 128,
  VT_ATTEND_SCORES_SHARED = 4 * (256 + 8) * (32 + 4) + 4 * 8 * 8 + 8 * 32,
  VT_ATTEND_VALUES_SHARED = 4 * 256 * 64 + 4 * 8 * (256 + 4) + 4 * 8 + 8 * 32
};

/* A tensor of shape [b, h, i, j]; strides may be 0. */
typedef struct vt_gpu_attended {
  const void *data; /* NULL if the operand is absent */
  int64_t step[4];  /* strides in elements */
} vt_gpu_attended;

typedef struct vt_gpu_attention {
  vt_gpu_attended q, k, v, out, bias, mask;
  /* lengths, i64 if `long_length` is set, else i32; NULL if every key counts */
  const void *length;
  int64_t length_step;
  int64_t heads, groups, queries, keys, depth, width, window;
  float scale;
  uint32_t causal, long_length;
  /* 1 for each of q, k, v and out that allows 16-byte accesses along its last axis */
  uint32_t wide[3], wide_out;

  /* Tiled kernels. Each thread block keeps the scores of one block of queries, `stride` floats per
   * thread block; the kernels called _long store no scores. */
  int64_t pairs; /* pairs of a batch and a head */
  float *upper;  /* sums of the levels of T above the first, as [level - 1][row][width] */
  int64_t levels;

  /* Split kernels, which keep all scores in memory. A unit is up to VT_ATTEND_ROWS rows of one key
   * head. The arrays have VT_ATTEND_ROWS rows for each unit of this launch. */
  int64_t first;            /* number of this launch's first unit */
  int64_t per_group, units; /* rows and units of one key head */
  float *scores;            /* scores as [row][key], later replaced by weights */
  float *most;              /* greatest score in each block of keys, as [row][block] */
  /* for each block of keys the chains of weights times v, as [row][block][width] */
  float *products;
  int64_t stride, blocks; /* floats per row of scores; blocks of keys per row */

  /* Both. */
  /* for each row: S of each chunk of weights, then S of chunks of these sums, and so on */
  float *sums;
  int64_t sums_stride;
} vt_gpu_attention;
#endif
