/* SPDX-License-Identifier: Apache-2.0
 * cuda_walk.h - builds the structs of gpu_walk.h from views. */
#ifndef VT_CUDA_WALK_H
#define VT_CUDA_WALK_H
#include "gpu_fused.h"
#include "gpu_walk.h"
#include "vt_op.h"

/* Builds a walk over the shape of v[0], to which the other views are broadcast: their strides are 0
 * along an axis of length 1, and missing leading axes count as such. n is at most VT_GPU_OPERANDS.
 */
vt_gpu_walk vt_cuda_walk(const vt_view *const *v, uint32_t n);
/* Like vt_cuda_walk, for at most VT_FUSED_OPERANDS views. */
void vt_cuda_fused_walk(const vt_view *const *v, uint32_t n, vt_gpu_fused_walk *out);

/* Merges contiguous elements into pieces of up to 16 bytes if the first n operands, which begin at
 * data[0..n-1], allow it; n, dim and stride of the walk then count pieces. Returns the bytes of a
 * piece. */
uint32_t vt_cuda_merge_pieces(vt_gpu_walk *w, uint32_t n, const void *const *data, uint32_t bytes);
#endif
