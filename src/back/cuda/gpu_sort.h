/* SPDX-License-Identifier: Apache-2.0
 * gpu_sort.h - records in the order of their keys, equal ones in the order they had. A record is a
 * key and a number: one word with the key above where both have 32 bits, else two. Read by C and by
 * CUDA. */
#ifndef VT_GPU_SORT_H
#define VT_GPU_SORT_H
#include "gpu_walk.h"

typedef struct vt_gpu_record {
  uint64_t key, at;
} vt_gpu_record;

/* What an element is, for its key. */
enum {
  VT_GPU_KEY_U8,
  VT_GPU_KEY_I8,
  VT_GPU_KEY_I32,
  VT_GPU_KEY_I64,
  VT_GPU_KEY_F32,
  VT_GPU_KEY_F64
};

/* Lines of a tensor, and where what comes first of each goes. */
typedef struct vt_gpu_lines {
  const void *x;
  void *values; /* NULL: only the indices are wanted */
  int64_t *indices;
  vt_gpu_walk walk; /* along the other axes; operand 0: x, 1: values, 2: indices */
  int64_t n, x_step, values_step, indices_step;
  uint64_t turned; /* what a key is turned over by: all its bits when descending */
  uint32_t kind, bytes;
} vt_gpu_lines;

enum { VT_GPU_SLOTS = 2048 }; /* the most that one block sorts by itself */
/* Each block sorts up to `slots` neighbours of a line and hands on the `best` of them. */
typedef struct vt_gpu_squares {
  vt_gpu_lines lines;
  const void *from;              /* records; NULL: the elements of the lines */
  void *to;                      /* records; NULL: what the lines want */
  int64_t count, n, best, tiles; /* lines, records of each, how many go on from each tile */
  uint32_t slots, reserved;      /* a power of two */
} vt_gpu_squares;

enum { VT_GPU_DIGITS = 256, VT_GPU_DEALT = 2048 }; /* records of a tile */
/* By one digit of the key. */
typedef struct vt_gpu_deal {
  const void *from;
  void *to;
  uint64_t *counts, *totals; /* [line][digit][tile], [line][digit] */
  int64_t count, n, tiles;   /* lines, records of each, tiles of each */
  uint32_t shift, reserved;
} vt_gpu_deal;

/* Rows of numbers, each replaced by the sum of those before it. */
typedef struct vt_gpu_scan {
  uint64_t *x, *totals;
  int64_t rows, n;
} vt_gpu_scan;

/* Between lines and records, one for each element or for each that is wanted. */
typedef struct vt_gpu_keys {
  vt_gpu_lines lines;
  void *records;
  int64_t count, n, best;
} vt_gpu_keys;
#endif
