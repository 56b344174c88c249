/* SPDX-License-Identifier: Apache-2.0
 * cuda_gemm.h - matrix products: chooses the kernel and the grid. The caller sets the operands
 * (data, strides, steps), y, bias, sizes and leading axes of a vt_gpu_gemm; the functions set the
 * other fields. */
#ifndef VT_CUDA_GEMM_H
#define VT_CUDA_GEMM_H
#include "cuda_backend.h"
#include "gpu_gemm.h"

/* A kernel variant for a product. */
typedef struct vt_cuda_variant {
  uint32_t tile; /* row number of tiles.def, or VT_CUDA_SKINNY, _STREAM, _BAND: skinny kernels */
  uint32_t transpose_b; /* 1 to copy b first, transposed so that neighbouring columns, not
                           neighbouring k, are contiguous */
  int64_t slice;        /* blocks of 256 k per slice of k; 0 if k is not sliced */
} vt_cuda_variant;
enum { VT_CUDA_SKINNY = 1000, VT_CUDA_STREAM, VT_CUDA_BAND };

/* vt_cuda_gemm_scratch returns the bytes of scratch that a product needs, vt_cuda_gemm_run issues
 * the product. No bit of it depends on the GPU. */
uint64_t vt_cuda_gemm_scratch(const vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g);
vt_status vt_cuda_gemm_run(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g);

/* vt_cuda_gemm_result_kernel returns the kernel that stores the results of a product;
 * vt_cuda_gemm_runs_transposed tells whether the transpose of y is computed. */
uint32_t vt_cuda_gemm_result_kernel(const vt_cuda_traits *t, uint32_t dtype, const vt_gpu_gemm *g);
int vt_cuda_gemm_runs_transposed(const vt_gpu_gemm *g);

/* vt_cuda_gemm_redirect_to_partials makes the slices of k of a product leave their results in
 * `partials`, one slice after the other. vt_cuda_gemm_sum_slices adds what slices of `slice` k have
 * left in `partials`. vt_cuda_gemm_sum_kernel names the kernel that adds them. */
void vt_cuda_gemm_redirect_to_partials(vt_gpu_gemm *g, void *partials);
vt_status vt_cuda_gemm_sum_slices(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g,
                                  int64_t slice, void *partials);
uint32_t vt_cuda_gemm_sum_kernel(uint32_t dtype);

/* For tests: describes kernel variant number `index` of a product; returns 0 if there are not that
 * many. */
int vt_cuda_gemm_variant_at(const vt_cuda_traits *t, uint32_t dtype, const vt_gpu_gemm *g,
                            uint32_t index, vt_cuda_variant *out);
uint64_t vt_cuda_gemm_variant_scratch(uint32_t dtype, const vt_gpu_gemm *g,
                                      const vt_cuda_variant *variant);
vt_status vt_cuda_gemm_run_variant(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g,
                                   const vt_cuda_variant *variant);
#endif
