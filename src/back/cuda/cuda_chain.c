/* SPDX-License-Identifier: Apache-2.0
 * cuda_chain.c - pointwise steps. A single step uses a kernel of this binary. Several steps are
 * compiled as one kernel if that is possible (cuda_fused.c). */
#include "cuda_chain.h"
#include <string.h>
#include "vt_maps.h"

enum { TYPES = VT_DTYPE_BF16 + 1, MOST_OPERANDS = 3, THREADS = 256 };

struct vt_cuda_chain {
  vt_cuda_fused *fused; /* kernel generated for all steps; NULL if the chain is a single step */
  const vt_bk_step *step[VT_CHAIN_STEPS];
  uint32_t n, kernel;
};

/* ---- the kernel of a step: its number plus one, or 0 if there is no kernel ---- */

#define VT_ROW_no(op, type) 0
#define VT_ROW_yes(op, type) VT_GPU_map_##type##_##op + 1
#define VT_ROW_fused VT_ROW_yes
#define VT_ROW_f32(op, type) VT_ROW_f32_##type(op)
#define VT_ROW_f32_f32(op) VT_GPU_map_f32_##op + 1
#define VT_ROW_f32_f64(op) 0
static const uint16_t maps[VT_MAPS][TYPES] = {
#define VT_MAP(op, n, result, f, i, t, cost)                                                    \
  [VT_MAP_##op] = {[VT_DTYPE_F32] = VT_ROW_##f(op, f32),  [VT_DTYPE_F64] = VT_ROW_##f(op, f64), \
                   [VT_DTYPE_I8] = VT_ROW_##i(op, i8),    [VT_DTYPE_U8] = VT_ROW_##i(op, u8),   \
                   [VT_DTYPE_I32] = VT_ROW_##i(op, i32),  [VT_DTYPE_I64] = VT_ROW_##i(op, i64), \
                   [VT_DTYPE_BOOL] = VT_ROW_##t(op, bool)},
#include "maps.def"
#undef VT_MAP
};

enum {
#define VT_DTYPE(name, NAME, number, bytes, class) TYPE_##name = VT_DTYPE_##NAME,
#include "dtypes.def"
#undef VT_DTYPE
};
static const uint16_t casts[TYPES][TYPES] = {
#define VT_CAST(from, to) [TYPE_##from][TYPE_##to] = VT_GPU_map_cast_##from##_##to + 1,
#include "gpu_casts.def"
#undef VT_CAST
};

static uint32_t pointwise_kernel_of(const vt_bk_step *s) {
  const uint32_t map = vt_map_of_step(s);
  if (map == VT_MAP_none) return 0;
  const uint32_t type = s->in[s->n_in - 1].dtype;
  if (map == VT_MAP_cast) return casts[type][s->out[0].dtype];
  if (map == VT_MAP_choice) return VT_CUDA_SIZES(map_choice)[vt_cuda_bytes_of(type)] + 1;
  return maps[map][type];
}

int vt_cuda_is_pointwise(uint32_t op) { return vt_map_of_op(op) != VT_MAP_none; }
int vt_cuda_has_pointwise_kernel(const vt_bk_step *s) { return pointwise_kernel_of(s) != 0; }

/* ---- building ---- */

static int32_t init_chain(vt_bk_device *dev, const vt_bk_step *const *s, uint32_t n,
                          vt_cuda_chain *c) {
  if (n > VT_CHAIN_STEPS) return VT_UNSUPPORTED;
  c->n = n;
  for (uint32_t i = 0; i < n; i++) c->step[i] = s[i];
  if (n > 1) return vt_cuda_fused_new(dev, s, n, &c->fused);
  const uint32_t kernel = pointwise_kernel_of(s[0]);
  if (kernel == 0) return VT_UNSUPPORTED;
  c->kernel = kernel - 1;
  return VT_OK;
}

int32_t vt_cuda_chain_new(vt_bk_device *dev, const vt_bk_step *const *s, uint32_t n,
                          vt_cuda_chain **out) {
  if (n == 0) return VT_UNSUPPORTED;
  vt_cuda_chain *c = vt_cuda_host_memory_new(dev->host, 1, sizeof *c);
  if (c == NULL) return VT_NOMEM;
  const int32_t status = init_chain(dev, s, n, c);
  if (status == VT_OK) {
    *out = c;
  } else {
    vt_cuda_host_memory_free(dev->host, c, 1, sizeof *c);
  }
  return status;
}

void vt_cuda_chain_free(vt_bk_device *dev, vt_cuda_chain *chain) {
  if (chain->fused != NULL) vt_cuda_fused_free(dev, chain->fused);
  vt_cuda_host_memory_free(dev->host, chain, 1, sizeof *chain);
}

int32_t vt_cuda_chain_describe(const vt_cuda_chain *chain, uint32_t max_sources, vt_chain *out) {
  return vt_chain_read(chain->step, chain->n, max_sources, out);
}

/* ---- running ---- */

/* Converts arguments to the struct of kernels that have at most three operands. */
static vt_gpu_map narrow_args(const vt_gpu_fused *f) {
  vt_gpu_map m = {.to = f->to, .grouped = f->grouped, .one = f->one, .rest = f->rest};
  memcpy(m.from, f->from, sizeof m.from);
  m.walk = (vt_gpu_walk){.n = f->walk.n, .rank = f->walk.rank, .small = f->walk.small};
  memcpy(m.walk.dim, f->walk.dim, sizeof m.walk.dim);
  memcpy(m.walk.stride, f->walk.stride, sizeof m.walk.stride);
  return m;
}

static vt_status run_single_step(const vt_bk_step *s, uint32_t kernel, vt_cuda_call *c,
                                 char *const *base) {
  const vt_bk_tensor *from[MOST_OPERANDS] = {NULL};
  vt_gpu_fused wide;
  for (uint32_t k = 0; k < s->n_in; k++) from[k] = &s->in[k];
  vt_cuda_pointwise_args(&s->out[0], from, s->n_in, base, &wide);
  const vt_gpu_map m = narrow_args(&wide);
  return vt_cuda_launch(c, kernel, vt_cuda_grid_over(c, m.walk.n + m.rest, 1, THREADS), &m);
}

vt_status vt_cuda_chain_run(const vt_cuda_chain *chain, vt_cuda_call *c, char *const *base) {
  if (chain->fused != NULL) return vt_cuda_fused_run(chain->fused, c, base);
  return run_single_step(chain->step[0], chain->kernel, c, base);
}
