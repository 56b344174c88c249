/* SPDX-License-Identifier: Apache-2.0
 * cuda_chain.h - chains of pointwise steps as one generated kernel, which NVRTC compiles while the
 * program is built. */
#ifndef VT_CUDA_CHAIN_H
#define VT_CUDA_CHAIN_H
#include "cuda_backend.h"
#include "gpu_fused.h"
#include "vt_emit.h"

typedef struct vt_cuda_fused vt_cuda_fused;
/* VT_UNSUPPORTED if the steps cannot be compiled as one kernel on this machine. Each step is then
 * launched by itself and gives the same bits. */
int32_t vt_cuda_fused_new(vt_bk_device *dev, const vt_bk_step *const *s, uint32_t n,
                          vt_cuda_fused **out) VT_NODISCARD;
void vt_cuda_fused_free(vt_bk_device *dev, vt_cuda_fused *fused);
vt_status vt_cuda_fused_run(const vt_cuda_fused *fused, vt_cuda_call *c, char *const *base);

/* Describes what a chain computes; VT_UNSUPPORTED if it has more than `max_sources` sources. */
int32_t vt_cuda_chain_describe(const vt_cuda_chain *chain, uint32_t sources,
                               vt_chain *out) VT_NODISCARD;

/* Describes a result and at most VT_FUSED_SOURCES operands, which are broadcast to its shape, as
 * the struct that a pointwise kernel takes. */
void vt_cuda_pointwise_args(const vt_bk_tensor *to, const vt_bk_tensor *const *from, uint32_t n,
                            char *const *base, vt_gpu_fused *out);
#endif
