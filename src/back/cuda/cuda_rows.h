/* SPDX-License-Identifier: Apache-2.0
 * cuda_rows.h - what softmax and norms share: rows that fit on chip, and numbers of lines in
 * scratch. */
#ifndef VT_CUDA_ROWS_H
#define VT_CUDA_ROWS_H
#include "cuda_bundle.h"
#include "cuda_lines.h"
#include "gpu_rows.h"

/* How rows are gone through. */
typedef enum vt_cuda_rowing {
  VT_CUDA_ROWS_PARTS, /* by folds, and a kernel for the results: any tensor */
  VT_CUDA_ROWS_WARPS, /* a warp for a row */
  VT_CUDA_ROWS_BLOCK, /* a block for a row, in registers */
  VT_CUDA_ROWS_LONG,  /* blocks for a row, in shared memory: gpu_share.h */
  VT_CUDA_ROWS_BUNDLE /* blocks for several, or a thread, wherever they lie: gpu_bundle.h */
} vt_cuda_rowing;

/* Of f32 rows; `l` has operands x and y. Those that have gaps, are short or longer than 2^20 are
 * PARTS or BUNDLE. */
vt_cuda_rowing vt_cuda_rows_how(const vt_cuda_call *c, const vt_cuda_lines *l);
/* The same for lines of any type: PARTS or BUNDLE. */
vt_cuda_rowing vt_cuda_rows_anywhere(const vt_cuda_call *c, const vt_cuda_lines *l);
/* Of scratch. */
uint64_t vt_cuda_rows_bytes(const vt_cuda_call *c, vt_cuda_rowing how, const vt_cuda_lines *l);
/* Issues the kernel; `warps` are those for 8, 16, 24 and 32 elements a lane. */
#define VT_CUDA_WARPS(name)                                                      \
  ((const uint32_t[]){VT_GPU_##name##_8, VT_GPU_##name##_16, VT_GPU_##name##_24, \
                      VT_GPU_##name##_32})
vt_status vt_cuda_rows_launch(vt_cuda_call *c, vt_cuda_rowing how, const uint32_t *warps,
                              uint32_t block, uint32_t longer, vt_gpu_rows *a);
/* Issues the kernel that makes the results of all elements of lines. */
vt_status vt_cuda_rows_out(vt_cuda_call *c, uint32_t kernel, vt_gpu_rows *a);

/* ---- scratch: two numbers a line, then what the folds need ---- */

typedef struct vt_cuda_marks {
  void *shift, *sum, *rest;
} vt_cuda_marks;
uint64_t vt_cuda_marks_bytes(int64_t lines, int64_t n, uint32_t dtype);
vt_cuda_marks vt_cuda_marks_of(const vt_cuda_call *c, int64_t lines, uint32_t dtype);
/* Of the numbers without the folds. */
uint64_t vt_cuda_marks_alone(int64_t lines, uint32_t dtype);
/* A fold of x into a number a line. */
vt_status vt_cuda_marks_reduce(vt_cuda_call *c, const vt_cuda_lines *l, uint32_t kind,
                               uint32_t touch, const void *shift, void *to, void *rest);
#endif
