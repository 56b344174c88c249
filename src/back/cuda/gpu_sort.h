/* SPDX-License-Identifier: Apache-2.0
 * gpu_sort.h - argument structs of sorting: records are sorted by key, records with equal keys keep
 * their order. A record is a key and a number: one 64-bit word with the key in the upper half if
 * both fit in 32 bits, else two words. C and CUDA include it. */
#ifndef VT_GPU_SORT_H
#define VT_GPU_SORT_H
#include "gpu_walk.h"

typedef struct vt_gpu_record {
  uint64_t key, at;
} vt_gpu_record;

/* Types of elements; they decide how an element becomes a key, an unsigned integer that orders as
 * the elements do. */
enum {
  VT_GPU_KEY_U8,
  VT_GPU_KEY_I8,
  VT_GPU_KEY_I32,
  VT_GPU_KEY_I64,
  VT_GPU_KEY_F32,
  VT_GPU_KEY_F64
};

/* The lines to sort, and where their first values and indices are stored. */
typedef struct vt_gpu_lines {
  const void *x;
  void *values; /* NULL if only the indices are wanted */
  int64_t *indices;
  vt_gpu_walk walk; /* walk over the lines; operand 0 is x, 1 values, 2 indices */
  int64_t n, x_step, values_step, indices_step;
  /* bits of a key to invert: all of them for a descending sort, none for an ascending one */
  uint64_t invert;
  uint32_t kind, bytes;
} vt_gpu_lines;

enum { VT_GPU_SLOTS = 2048 }; /* most records that one thread block sorts */
/* Bitonic sorts: a thread block sorts up to `slots` neighbouring records of a line and passes on
 * the `best` first of them. */
typedef struct vt_gpu_sort_tiles {
  vt_gpu_lines lines;
  const void *from; /* input records; NULL to make records from the elements of the lines */
  void *to;         /* output records; NULL to store values and indices */
  /* lines; records per line; records that a tile passes on; tiles per line */
  int64_t count, n, best, tiles;
  uint32_t slots, reserved; /* slots: most records that a tile may have, a power of two */
} vt_gpu_sort_tiles;

enum {
  VT_GPU_DIGITS = 256,
  VT_GPU_RADIX_TILE = 2048
}; /* possible values of a digit in a radix pass; records per tile */
/* A radix sort pass, by the digit of the key at bit `shift`. */
typedef struct vt_gpu_sort_digit {
  const void *from;
  void *to;
  /* how many records have a digit: [line][digit][tile] and [line][digit] */
  uint64_t *counts, *totals;
  int64_t count, n, tiles; /* lines, records per line, tiles per line */
  uint32_t shift, reserved;
} vt_gpu_sort_digit;

/* Computes exclusive prefix sums of `rows` rows of n numbers in place; the sum of each row goes to
 * `totals`. */
typedef struct vt_gpu_scan {
  uint64_t *x, *totals;
  int64_t rows, n;
} vt_gpu_scan;

/* Makes a record of each element of the lines, or stores the `best` first records of each line as
 * results. */
typedef struct vt_gpu_sort_keys {
  vt_gpu_lines lines;
  void *records;
  int64_t count, n, best;
} vt_gpu_sort_keys;
#endif
