/* SPDX-License-Identifier: Apache-2.0
 * cuda_bundle.h - launches the kernels of bundle.cu: softmax and norms along any axis, for lines
 * that fit in shared memory. Lines are those of cuda_lines.h; a team is the thread blocks that
 * share a line. */
#ifndef VT_CUDA_BUNDLE_H
#define VT_CUDA_BUNDLE_H
#include "cuda_lines.h"
#include "gpu_bundle.h"

/* Returns the limits of the card that decide how thread blocks share lines. */
static inline vt_gpu_limits vt_cuda_layout_limits(const vt_cuda_call *c) {
  return (vt_gpu_limits){c->traits->processors, c->traits->shared, VT_CUDA_RESERVED_SHARED,
                         c->traits->cooperative ? VT_CUDA_COUNTERS : 0};
}

/* Returns 1 if the lines fit in shared memory. Operand 0 of l is x, the call's first operand;
 * operand 1 is y. */
int vt_cuda_bundle_fits(const vt_cuda_call *c, const vt_cuda_lines *l);
/* Returns the bytes of scratch for the exchange buffers, through which the blocks of a team
 * exchange partial results. */
uint64_t vt_cuda_bundle_scratch(const vt_cuda_call *c, const vt_cuda_lines *l);

typedef struct vt_cuda_bundle_kernels {
  uint32_t bundle, shortest;
} vt_cuda_bundle_kernels;
/* Launches kernel k.shortest or k.bundle. The caller sets the fields of `a` that do not describe
 * lines and sharing; this function sets the others. `exchange` is scratch for the exchange buffers.
 */
vt_status vt_cuda_bundle_launch(vt_cuda_call *c, vt_cuda_bundle_kernels k, const vt_cuda_lines *l,
                                vt_gpu_bundle *a, void *exchange);
#endif
