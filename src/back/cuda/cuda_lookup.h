/* SPDX-License-Identifier: Apache-2.0
 * cuda_lookup.h - what gathers and scatters share: an index tensor whose rows are coordinates of
 * slices of another tensor. A lookup (vt_gpu_lookup) tells kernels how to read a row of
 * coordinates and check it. */
#ifndef VT_CUDA_LOOKUP_H
#define VT_CUDA_LOOKUP_H
#include "cuda_backend.h"
#include "gpu_lookup.h"

/* Returns a lookup without axes. Neighbouring coordinates of a row are `coordinate_step` elements
 * apart in the index. */
vt_gpu_lookup vt_cuda_lookup_of(const vt_view *index, int64_t coordinate_step);
/* Adds an axis to a lookup: its coordinates must be below `limit`, and slices at neighbouring
 * coordinates are `stride` elements apart. */
void vt_cuda_lookup_add_axis(vt_gpu_lookup *l, int64_t limit, int64_t stride);
/* Issues a check of all indices in the step's second operand; the first one out of range becomes
 * the run's index fault. */
vt_status vt_cuda_lookup_check_range(vt_cuda_call *c, const vt_gpu_lookup *l);
#endif
