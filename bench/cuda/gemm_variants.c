/* SPDX-License-Identifier: Apache-2.0
 * gemm_variants.c - runs cuda_gemm.c and cuda_copy.c with the benchmark's launches instead of the
 * driver. */
#include "gemm_variants.h"
#include <stdio.h>
#include "cuda_gemm.h"

static const char *const kernels[] = {
#define VT_GPU(name, args) #name,
#include "kernels.def"
#undef VT_GPU
};

/* ---- functions that they call ---- */

uint32_t vt_cuda_bytes_of(uint32_t dtype) { return dtype == VT_DTYPE_F64 ? 8 : 4; }

vt_cuda_grid vt_cuda_grid_over(const vt_cuda_call *c, int64_t items, int64_t items_per_thread,
                               uint32_t threads) {
  const int64_t blocks = vt_cuda_ceil_div(items, items_per_thread * threads),
                most = 32 * c->traits->processors;
  return (vt_cuda_grid){.x = (uint32_t)vt_cuda_min(blocks, most), 1, 1, threads, 0};
}

vt_status vt_cuda_launch(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid g, const void *args) {
  (void)c;
  if (g.x == 0) return VT_OK;
  return gemm_launch_kernel(kernels[kernel], g.x, g.y, g.threads, g.shared, args) == 0 ? VT_OK
                                                                                       : VT_BACKEND;
}

vt_status vt_cuda_launch_product(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid g, const void *args,
                                 size_t size) {
  (void)size;
  return vt_cuda_launch(c, kernel, g, args);
}

/* These two replace functions of the backend. No tensor counts as dense, so that cuda_copy.c never
 * uses a plain memory copy. */
int vt_cuda_is_dense(const vt_view *v) { return v == NULL; }
vt_status vt_cuda_copy_on_device(vt_cuda_call *c, void *to, const void *from, uint64_t bytes) {
  (void)c, (void)to, (void)from, (void)bytes;
  return VT_BACKEND;
}

/* ---- variants ---- */

static vt_cuda_traits traits_of(const gemm_product *p) {
  return (vt_cuda_traits){
      .major = 9, .processors = p->processors, .shared = p->shared, .memory = UINT64_MAX};
}

static vt_gpu_gemm gemm_args(const gemm_product *p) {
  return (vt_gpu_gemm){.a = {.data = p->a, .across = p->a_row, .along = p->a_column},
                       .b = {.data = p->b, .across = p->b_column, .along = p->b_row},
                       .y = p->y,
                       .y_row = p->n,
                       .y_column = 1,
                       .m = p->m,
                       .n = p->n,
                       .k = p->k,
                       .products = 1};
}

static const char *const tiles[] = {
#define VT_TILE(name, ...) #name,
#include "tiles.def"
#undef VT_TILE
};

int gemm_describe_variant(const gemm_product *p, uint32_t i, char *name, size_t name_bytes,
                          uint64_t *scratch_bytes) {
  const vt_cuda_traits t = traits_of(p);
  const vt_gpu_gemm g = gemm_args(p);
  vt_cuda_variant variant;
  if (!vt_cuda_gemm_variant_at(&t, VT_DTYPE_F32, &g, i, &variant)) return 0;
  const char *const called = variant.tile == VT_CUDA_SKINNY   ? "few"
                             : variant.tile == VT_CUDA_STREAM ? "stream"
                             : variant.tile == VT_CUDA_BAND   ? "band"
                                                              : tiles[variant.tile];
  snprintf(name, name_bytes, "%s/%d%s", called, (int)variant.slice,
           variant.transpose_b ? " transposed" : "");
  *scratch_bytes = vt_cuda_gemm_variant_scratch(VT_DTYPE_F32, &g, &variant);
  return 1;
}

int gemm_issue_variant(const gemm_product *p, int i) {
  const vt_cuda_traits t = traits_of(p);
  const vt_gpu_gemm g = gemm_args(p);
  vt_bk_device dev = {.counters = p->counters};
  vt_cuda_call c = {.dev = &dev, .traits = &t, .work = p->work};
  vt_cuda_variant variant;
  if (i < 0) return vt_cuda_gemm_run(&c, VT_DTYPE_F32, &g) != VT_OK;
  if (!vt_cuda_gemm_variant_at(&t, VT_DTYPE_F32, &g, (uint32_t)i, &variant)) return 1;
  return vt_cuda_gemm_run_variant(&c, VT_DTYPE_F32, &g, &variant) != VT_OK;
}

uint64_t gemm_scratch_bytes(const gemm_product *p) {
  const vt_cuda_traits t = traits_of(p);
  const vt_gpu_gemm g = gemm_args(p);
  const vt_cuda_call c = {.traits = &t};
  return vt_cuda_gemm_scratch(&c, VT_DTYPE_F32, &g);
}
