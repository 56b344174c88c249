/* SPDX-License-Identifier: Apache-2.0
 * cuda_rows.h - what softmax and norms share: the choice of a kernel variant by the shape of a row,
 * and per-line statistics in scratch. */
#ifndef VT_CUDA_ROWS_H
#define VT_CUDA_ROWS_H
#include "cuda_bundle.h"
#include "cuda_lines.h"
#include "gpu_rows.h"

/* Kernel variants for softmax and norms. */
typedef enum vt_cuda_rows_variant {
  /* several launches, which work for any tensor: reductions, then the results */
  VT_CUDA_ROWS_PARTS,
  VT_CUDA_ROWS_WARPS, /* one warp per row, with the row in registers */
  VT_CUDA_ROWS_BLOCK, /* one thread block per row, with the row in registers */
  /* several thread blocks per row, with the row in their shared memory (gpu_row_layout.h) */
  VT_CUDA_ROWS_LONG,
  /* lines along any axis, in shared memory or one per thread in registers (gpu_bundle.h) */
  VT_CUDA_ROWS_BUNDLE
} vt_cuda_rows_variant;

/* Chooses the variant for f32 rows; `l` has operands x and y. Rows that are not contiguous, that
 * are short, or that are longer than 2^20 get the variant PARTS or BUNDLE. */
vt_cuda_rows_variant vt_cuda_rows_choose(const vt_cuda_call *c, const vt_cuda_lines *l);
/* Chooses between PARTS and BUNDLE for lines of any type. */
vt_cuda_rows_variant vt_cuda_rows_choose_any_layout(const vt_cuda_call *c, const vt_cuda_lines *l);
/* Returns the bytes of scratch that the variant needs. */
uint64_t vt_cuda_rows_scratch(const vt_cuda_call *c, vt_cuda_rows_variant how,
                              const vt_cuda_lines *l);
/* Issues the kernel of the variant. `warps` has the kernels for 8, 16, 24 and 32 elements per lane.
 */
#define VT_CUDA_WARPS(name)                                                      \
  ((const uint32_t[]){VT_GPU_##name##_8, VT_GPU_##name##_16, VT_GPU_##name##_24, \
                      VT_GPU_##name##_32})
vt_status vt_cuda_rows_launch(vt_cuda_call *c, vt_cuda_rows_variant how,
                              const uint32_t *warp_kernels, uint32_t block_kernel,
                              uint32_t long_kernel, vt_gpu_rows *a);
/* Issues the kernel that computes the results of all elements from the statistics of their lines.
 */
vt_status vt_cuda_rows_launch_results(vt_cuda_call *c, uint32_t kernel, vt_gpu_rows *a);

/* ---- scratch: two numbers per line, then the scratch of the reductions ---- */

typedef struct vt_cuda_line_stats {
  void *shift, *sum, *rest;
} vt_cuda_line_stats;
uint64_t vt_cuda_line_stats_scratch(int64_t lines, int64_t n, uint32_t dtype);
vt_cuda_line_stats vt_cuda_line_stats_in_scratch(const vt_cuda_call *c, int64_t lines,
                                                 uint32_t dtype);
/* Returns the bytes of the two statistics per line, without the scratch of the reductions. */
uint64_t vt_cuda_line_stats_bytes(int64_t lines, uint32_t dtype);
/* Reduces each line of x to one number in `to`; kind and final_steps are the fields kind and touch
 * of vt_gpu_reduce. */
vt_status vt_cuda_line_stats_reduce(vt_cuda_call *c, const vt_cuda_lines *l, uint32_t kind,
                                    uint32_t final_steps, const void *shift, void *to,
                                    void *scratch);
#endif
