/* SPDX-License-Identifier: Apache-2.0
 * cuda_conv.h - private to src/back/cuda: convolutions that are computed as matrix products. */
#ifndef VT_CUDA_CONV_H
#define VT_CUDA_CONV_H
#include "cuda_gemm.h"
#include "cuda_direct_conv.h"
#include "gpu_conv.h"

/* Returns 1 if the convolution is a matrix product of x and w as they are in memory; *out then
 * describes it. */
int vt_cuda_conv_describe_gemm(const vt_gpu_direct_conv *s, vt_gpu_gemm *out);
/* Returns 1 if the kernels of conv_tiles.def should compute the convolution; *out then describes
 * it. */
int vt_cuda_conv_describe_tiled(const vt_cuda_call *c, const vt_gpu_direct_conv *s,
                                vt_gpu_conv *out);
uint64_t vt_cuda_conv_scratch(const vt_cuda_call *c, const vt_gpu_conv *v);
vt_status vt_cuda_conv_run(vt_cuda_call *c, const vt_gpu_conv *v);

/* Returns the kernel that stores the results of the convolution, or VT_GPU_TOTAL if that kernel
 * cannot run an epilogue. */
uint32_t vt_cuda_conv_result_kernel(const vt_cuda_call *c, const vt_gpu_conv *v);

/* For tests: describes kernel variant number `index` of a convolution; returns 0 if there are not
 * that many. All variants give the same bits. */
int vt_cuda_conv_variant_at(const vt_cuda_traits *t, uint32_t dtype, const vt_gpu_conv *v,
                            uint32_t index, vt_cuda_variant *out);
uint64_t vt_cuda_conv_variant_scratch(uint32_t dtype, const vt_gpu_conv *v,
                                      const vt_cuda_variant *variant);
vt_status vt_cuda_conv_run_variant(vt_cuda_call *c, const vt_gpu_conv *v,
                                   const vt_cuda_variant *variant);
#endif
