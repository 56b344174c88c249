/* SPDX-License-Identifier: Apache-2.0
 * cuda_chain.c - pointwise steps. */
#include "cuda_backend.h"

int vt_cuda_chain_lists(uint32_t op) { return op == 0; }
int vt_cuda_chain_takes(const vt_bk_device *dev, const vt_bk_step *s) { return dev == NULL && s == NULL; }
int32_t vt_cuda_chain_new(vt_bk_device *dev, const vt_bk_step *const *s, uint32_t n, vt_cuda_chain **out) {
  (void)dev, (void)s, (void)n, (void)out;
  return VT_UNSUPPORTED;
}
void vt_cuda_chain_free(vt_bk_device *dev, vt_cuda_chain *chain) { (void)dev, (void)chain; }
vt_status vt_cuda_chain_run(const vt_cuda_chain *chain, vt_cuda_call *c, char *const *base) {
  (void)chain, (void)c, (void)base;
  return VT_INTERNAL;
}
