/* SPDX-License-Identifier: Apache-2.0
 * cuda_walk.h - making what gpu_walk.h describes. */
#ifndef VT_CUDA_WALK_H
#define VT_CUDA_WALK_H
#include "gpu_fused.h"
#include "gpu_walk.h"
#include "vt_op.h"

/* Over the shape of v[0], which the others have too, or broadcast to (their strides are 0 along an
 * axis of length 1; missing leading axes count as that). n is at most VT_GPU_OPERANDS. */
vt_gpu_walk vt_cuda_walk(const vt_view *const *v, uint32_t n);
/* The same for at most VT_FUSED_OPERANDS of them. */
void vt_cuda_walk_wide(const vt_view *const *v, uint32_t n, vt_gpu_fused_walk *out);

/* Joins elements to pieces of up to 16 bytes where the first n operands, which begin at `data`,
 * have them side by side: n, dim and stride count pieces then. Returns the bytes of a piece. */
uint32_t vt_cuda_pieces(vt_gpu_walk *w, uint32_t n, const void *const *data, uint32_t bytes);
#endif
