/* SPDX-License-Identifier: Apache-2.0
 * cuda_fused.c - chains of pointwise steps as one generated kernel: every operand is read once, and
 * intermediate values stay in registers. src/emit writes the source text from the steps. It
 * contains no sizes, so one kernel serves all shapes. */
#include "cuda_chain.h"
#include "cuda_generated.h"
#include "vt_emit.h"

enum { THREADS = 256 };

struct vt_cuda_fused {
  void *function;
  const vt_bk_tensor *to, *from[VT_FUSED_SOURCES];
  uint32_t n;
};

static void write_text(const void *chain, const char *name, vt_text *out) {
  vt_emit_chain(chain, &vt_dialect_cuda, name, out);
}

int32_t vt_cuda_fused_new(vt_bk_device *dev, const vt_bk_step *const *s, uint32_t n,
                          vt_cuda_fused **out) {
  vt_chain chain;
  void *function = NULL;
  const vt_cuda_source source = {.prefix = "fused",
                                 .write = write_text,
                                 .what = &chain,
                                 .otherwise = "a group of steps runs step by step"};
  int32_t status = vt_chain_read(s, n, VT_FUSED_SOURCES, &chain);
  if (status == VT_OK) status = vt_cuda_generated_get(dev, &source, &function);
  if (status != VT_OK) return status;
  vt_cuda_fused *f = vt_cuda_host_memory_new(dev->host, 1, sizeof *f);
  if (f == NULL) return VT_NOMEM;
  *f = (vt_cuda_fused){.function = function, .to = chain.result, .n = chain.n_sources};
  for (uint32_t i = 0; i < chain.n_sources; i++) f->from[i] = chain.source[i];
  *out = f;
  return VT_OK;
}

void vt_cuda_fused_free(vt_bk_device *dev, vt_cuda_fused *fused) {
  vt_cuda_host_memory_free(dev->host, fused, 1, sizeof *fused);
}

vt_status vt_cuda_fused_run(const vt_cuda_fused *f, vt_cuda_call *c, char *const *base) {
  vt_gpu_fused args;
  vt_cuda_pointwise_args(f->to, f->from, f->n, base, &args);
  return vt_cuda_launch_function(c, f->function,
                                 vt_cuda_grid_over(c, args.walk.n + args.rest, 1, THREADS), &args);
}
