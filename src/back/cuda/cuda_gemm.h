/* SPDX-License-Identifier: Apache-2.0
 * cuda_gemm.h - products of matrices: which kernel does one, and how it is cut. What is described
 * is a vt_gpu_gemm with its operands (data, strides, steps), y, bias, sizes and leading axes; the
 * rest is filled in here. */
#ifndef VT_CUDA_GEMM_H
#define VT_CUDA_GEMM_H
#include "cuda_backend.h"
#include "gpu_gemm.h"

/* One way to do a product. */
typedef struct vt_cuda_variant {
  uint32_t tile; /* a row of tiles.def; VT_CUDA_FEW and what follows: few rows */
  uint32_t turn; /* 1: b is copied first, so that its neighbours across lie side by side */
  int64_t unit;  /* blocks of 256 that are computed apart from others; 0: all of k together */
} vt_cuda_variant;
enum { VT_CUDA_FEW = 1000, VT_CUDA_STREAM, VT_CUDA_BAND };

/* Bytes of scratch that a product needs, and the product. No bit depends on the GPU. */
uint64_t vt_cuda_gemm_work(const vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g);
vt_status vt_cuda_gemm(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g);

/* The kernel that stores the results of a product, and whether its transpose is what is computed.
 */
uint32_t vt_cuda_gemm_kernel(const vt_cuda_traits *t, uint32_t dtype, const vt_gpu_gemm *g);
int vt_cuda_gemm_is_turned(const vt_gpu_gemm *g);

/* Has the units of a product leave their results in `part`, one after the other. What units of
 * `unit` k have left there becomes the product; and the kernel that does it. */
void vt_cuda_gemm_apart(vt_gpu_gemm *g, void *part);
vt_status vt_cuda_gemm_sum(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g, int64_t unit,
                           void *part);
uint32_t vt_cuda_gemm_summing(uint32_t dtype);

/* For tests: the ways that there are for a product, numbered; 0 behind the last one. */
int vt_cuda_gemm_variant(const vt_cuda_traits *t, uint32_t dtype, const vt_gpu_gemm *g, uint32_t i,
                         vt_cuda_variant *out);
uint64_t vt_cuda_variant_work(uint32_t dtype, const vt_gpu_gemm *g, const vt_cuda_variant *way);
vt_status vt_cuda_gemm_by(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g,
                          const vt_cuda_variant *way);
#endif
