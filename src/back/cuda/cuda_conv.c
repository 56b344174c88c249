/* SPDX-License-Identifier: Apache-2.0
 * cuda_conv.c - convolutions in floating point: chooses the kernel. A convolution that is a matrix
 * product without copying x runs as one. One with several rows and usual strides runs as tiled
 * matrix products (cuda_conv_tiles.c). The others run as direct convolutions, one thread per
 * output. */
#include "cuda_epilogue.h"

static int has_f32_result(const vt_cuda_call *c) { return c->out->dtype == VT_DTYPE_F32; }

static vt_status run_direct_conv(vt_cuda_call *c, const vt_gpu_direct_conv *s) {
  static const uint32_t kernels[2][2] = {{VT_GPU_conv_huge_f64, VT_GPU_conv_huge_f32},
                                         {VT_GPU_conv_each_f64, VT_GPU_conv_each_f32}};
  const vt_cuda_grid grid =
      vt_cuda_grid_over(c, vt_cuda_direct_conv_output_count(s), 1, s->small ? 256 : 128);
  return vt_cuda_launch(c, kernels[s->small][has_f32_result(c)], grid, s);
}

/* ---- conv ---- */

static vt_gpu_direct_conv direct_conv_of(const vt_cuda_call *c) {
  const vt_attr_conv *a = c->attrs;
  const vt_window_lists l = {
      .stride = &a->stride, .dilation = &a->dilation, .low = &a->low, .high = &a->high};
  vt_gpu_direct_conv s = vt_cuda_direct_conv(c, &l, a->groups);
  if (c->n_in > 2) {
    s.bias = c->in[2].data;
    s.bias_step = c->in[2].stride[0];
  }
  return s;
}

int vt_cuda_product_of_conv(const vt_cuda_call *c, vt_cuda_product *out) {
  const vt_gpu_direct_conv s = direct_conv_of(c);
  out->tiled = !vt_cuda_conv_describe_gemm(&s, &out->v.g);
  return !out->tiled || vt_cuda_conv_describe_tiled(c, &s, &out->v);
}

uint64_t vt_cuda_scratch_conv(const vt_cuda_call *c) {
  vt_gpu_gemm g;
  vt_gpu_conv v;
  if (vt_cuda_element_count(c->out) == 0) return 0;
  const vt_gpu_direct_conv s = direct_conv_of(c);
  if (vt_cuda_conv_describe_gemm(&s, &g)) return vt_cuda_gemm_scratch(c, c->out->dtype, &g);
  return vt_cuda_conv_describe_tiled(c, &s, &v) ? vt_cuda_conv_scratch(c, &v) : 0;
}

vt_status vt_cuda_run_conv(vt_cuda_call *c) {
  vt_gpu_gemm g;
  vt_gpu_conv v;
  if (vt_cuda_element_count(c->out) == 0) return VT_OK;
  const vt_gpu_direct_conv s = direct_conv_of(c);
  if (vt_cuda_conv_describe_gemm(&s, &g)) return vt_cuda_gemm_run(c, c->out->dtype, &g);
  return vt_cuda_conv_describe_tiled(c, &s, &v) ? vt_cuda_conv_run(c, &v) : run_direct_conv(c, &s);
}

/* ---- conv_transpose ---- */

static vt_status store_uncovered_results(vt_cuda_call *c, const vt_gpu_direct_conv *s) {
  const uint32_t kernel = has_f32_result(c) ? VT_GPU_conv_uncovered_f32 : VT_GPU_conv_uncovered_f64;
  return vt_cuda_launch(c, kernel, vt_cuda_grid_over(c, vt_cuda_element_count(c->out), 4, 256), s);
}

vt_status vt_cuda_run_conv_transpose(vt_cuda_call *c) {
  if (vt_cuda_element_count(c->out) == 0) return VT_OK;
  const vt_gpu_direct_conv s = vt_cuda_direct_conv_transpose(c);
  if (!vt_cuda_direct_conv_covers_all(&s)) VT_TRY(store_uncovered_results(c, &s));
  return run_direct_conv(c, &s);
}

vt_status vt_cuda_run_conv_weight_grad(vt_cuda_call *c) {
  if (vt_cuda_element_count(c->out) == 0) return VT_OK;
  const vt_gpu_direct_conv s = vt_cuda_direct_conv_weight_grad(c);
  return run_direct_conv(c, &s);
}
