/* SPDX-License-Identifier: Apache-2.0
 * cuda_lookup.h - what gathers and scatters share: an index names slices of a tensor. */
#ifndef VT_CUDA_LOOKUP_H
#define VT_CUDA_LOOKUP_H
#include "cuda_backend.h"
#include "gpu_lookup.h"

/* The coordinates of a row lie `apart` elements from one another; none of them is known yet. */
vt_gpu_lookup vt_cuda_lookup(const vt_view *index, int64_t apart);
/* One more: what it must be less than, and how far apart two places along it are. */
void vt_cuda_lookup_axis(vt_gpu_lookup *l, int64_t limit, int64_t stride);
/* Looks at all of the second operand, and keeps the first that lies outside as the run's fault. */
vt_status vt_cuda_lookup_check(vt_cuda_call *c, const vt_gpu_lookup *l);
#endif
