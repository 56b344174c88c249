/* SPDX-License-Identifier: Apache-2.0
 * cuda_conv.h - private to src/back/cuda: convolutions as products of matrices. */
#ifndef VT_CUDA_CONV_H
#define VT_CUDA_CONV_H
#include "cuda_gemm.h"
#include "cuda_direct_conv.h"
#include "gpu_conv.h"

/* 1 when a convolution is a product of matrices as it lies in memory, and *out says which. */
int vt_cuda_conv_product(const vt_gpu_direct_conv *s, vt_gpu_gemm *out);
/* 1 when there are tiles for it and it is worth them, and *out says how. */
int vt_cuda_conv_tiled(const vt_cuda_call *c, const vt_gpu_direct_conv *s, vt_gpu_conv *out);
uint64_t vt_cuda_conv_work(const vt_cuda_call *c, const vt_gpu_conv *v);
vt_status vt_cuda_conv_run(vt_cuda_call *c, const vt_gpu_conv *v);

/* The kernel that stores the results, VT_GPU_TOTAL when it is none that can have a tail. */
uint32_t vt_cuda_conv_kernel(const vt_cuda_call *c, const vt_gpu_conv *v);

/* For tests: the ways that there are, numbered; 0 behind the last one. No bit depends on it. */
int vt_cuda_conv_variant(const vt_cuda_traits *t, uint32_t dtype, const vt_gpu_conv *v, uint32_t i,
                         vt_cuda_variant *out);
uint64_t vt_cuda_conv_variant_work(uint32_t dtype, const vt_gpu_conv *v,
                                   const vt_cuda_variant *way);
vt_status vt_cuda_conv_by(vt_cuda_call *c, const vt_gpu_conv *v, const vt_cuda_variant *way);
#endif
