/* SPDX-License-Identifier: Apache-2.0
 * cuda_walk.h - making what gpu_walk.h describes. */
#ifndef VT_CUDA_WALK_H
#define VT_CUDA_WALK_H
#include "gpu_walk.h"
#include "vt_op.h"

/* Over the shape of v[0], which the others have too, or broadcast to (their strides are 0 along an
 * axis of length 1; missing leading axes count as that). n is at most VT_GPU_OPERANDS. */
vt_gpu_walk vt_cuda_walk(const vt_view *const *v, uint32_t n);
#endif
