/* SPDX-License-Identifier: Apache-2.0
 * cuda_fused.c - several pointwise steps as one kernel. */
#include "cuda_chain.h"

int32_t vt_cuda_fused_new(vt_bk_device *dev, const vt_bk_step *const *s, uint32_t n,
                          vt_cuda_fused **out) {
  (void)dev, (void)s, (void)n, (void)out;
  return VT_UNSUPPORTED;
}
void vt_cuda_fused_free(vt_bk_device *dev, vt_cuda_fused *fused) { (void)dev, (void)fused; }
vt_status vt_cuda_fused_run(const vt_cuda_fused *fused, vt_cuda_call *c, char *const *base) {
  (void)fused, (void)c, (void)base;
  return VT_INTERNAL;
}
