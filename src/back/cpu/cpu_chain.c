/* SPDX-License-Identifier: Apache-2.0
 * cpu_chain.c - pointwise steps, each block of elements through all of them while it is in cache.
 */
#include "cpu_backend.h"

int vt_cpu_chain_lists(uint32_t op) {
  (void)op;
  return 0;
}

int vt_cpu_chain_takes(const vt_cpu_team *t, const vt_bk_step *s) {
  (void)t, (void)s;
  return 0;
}

int32_t vt_cpu_chain_new(const vt_bk_host *host, const vt_cpu_team *t, const vt_bk_step *const *s,
                         uint32_t n, vt_cpu_chain **out) {
  (void)host, (void)t, (void)s, (void)n, (void)out;
  return VT_UNSUPPORTED;
}

void vt_cpu_chain_free(vt_cpu_chain *c) { (void)c; }
void vt_cpu_chain_place(vt_cpu_chain *c, char *const *base) { (void)c, (void)base; }
void vt_cpu_chain_part(const vt_cpu_chain *c, int64_t first, int64_t n) {
  (void)c, (void)first, (void)n;
}
void vt_cpu_chain_run(const vt_cpu_chain *c) { (void)c; }
