/* SPDX-License-Identifier: Apache-2.0
 * cuda_bundle.h - launching the kernels of bundle.cu: lines that lie anywhere and fit on chip. */
#ifndef VT_CUDA_BUNDLE_H
#define VT_CUDA_BUNDLE_H
#include "cuda_lines.h"
#include "gpu_bundle.h"

/* What of the card decides how blocks share lines. */
static inline vt_gpu_room vt_cuda_room(const vt_cuda_call *c) {
  return (vt_gpu_room){c->traits->processors, c->traits->shared, VT_CUDA_SYSTEM,
                       c->traits->at_once ? VT_CUDA_COUNTERS : 0};
}

/* 1 when the lines fit; operands 0 and 1 are x, which is that of the call, and y. */
int vt_cuda_bundle_fits(const vt_cuda_call *c, const vt_cuda_lines *l);
/* Of scratch: where teams of blocks meet. */
uint64_t vt_cuda_bundle_bytes(const vt_cuda_call *c, const vt_cuda_lines *l);

typedef struct vt_cuda_bundle_kernels {
  uint32_t bundle, shortest;
} vt_cuda_bundle_kernels;
/* What is not about lines and sharing has been put into `a`. */
vt_status vt_cuda_bundle_launch(vt_cuda_call *c, vt_cuda_bundle_kernels k, const vt_cuda_lines *l,
                                vt_gpu_bundle *a, void *rooms);
#endif
