/* SPDX-License-Identifier: Apache-2.0
 * cuda_pool.c - max_pool and avg_pool. */
#include "cuda_backend.h"
#include "gpu_pool.h"
#include "op_pool.h"

static vt_gpu_pool_axis unused_axis(void) {
  return (vt_gpu_pool_axis){.dim = 1, .places = 1, .kernel = 1, .step = 1, .dilation = 1, .to = 1};
}

/* Describes axis i. If padding counts for averages, it counts up to the attribute `high` only,
 * although the last window may reach further. */
static vt_gpu_pool_axis pool_axis_of(const vt_cuda_call *c, const vt_pooling *attrs, uint32_t i) {
  const vt_view *x = &c->in[0], *y = c->out;
  const vt_window w = vt_pooling_axis(attrs, i);
  return (vt_gpu_pool_axis){.dim = x->dim[2 + i],
                            .places = y->dim[2 + i],
                            .kernel = w.kernel,
                            .step = w.stride,
                            .dilation = w.dilation,
                            .low = w.low,
                            .x = x->stride[2 + i],
                            .y = y->stride[2 + i],
                            .from = attrs->count_padding ? -w.low : 0,
                            .to = x->dim[2 + i] + (attrs->count_padding ? w.high : 0)};
}

static vt_gpu_pool pool_args(const vt_cuda_call *c, const vt_pooling *attrs) {
  const vt_view *x = &c->in[0], *y = c->out;
  const uint32_t axes = x->rank - 2, missing = VT_GPU_POOL_AXES - axes;
  vt_gpu_pool p = {.x = x->data,
                   .y = y->data,
                   .images = x->dim[0],
                   .channels = x->dim[1],
                   .x_image = x->stride[0],
                   .x_channel = x->stride[1],
                   .y_image = y->stride[0],
                   .y_channel = y->stride[1],
                   .taps = 1,
                   .total = vt_cuda_element_count(y)};
  for (uint32_t i = 0; i < missing; i++) p.axis[i] = unused_axis();
  for (uint32_t i = 0; i < axes; i++) p.axis[missing + i] = pool_axis_of(c, attrs, i);
  for (uint32_t i = 0; i < VT_GPU_POOL_AXES; i++) p.taps *= p.axis[i].kernel;
  p.small = p.total <= INT32_MAX && p.taps <= INT32_MAX;
  return p;
}

static uint32_t max_pool_kernel_of(uint32_t dtype) {
  switch (dtype) {
    case VT_DTYPE_F32:
      return VT_GPU_max_pool_f32;
    case VT_DTYPE_F64:
      return VT_GPU_max_pool_f64;
    case VT_DTYPE_I8:
      return VT_GPU_max_pool_i8;
    case VT_DTYPE_U8:
      return VT_GPU_max_pool_u8;
    case VT_DTYPE_I32:
      return VT_GPU_max_pool_i32;
    default:
      return VT_GPU_max_pool_i64;
  }
}

vt_status vt_cuda_run_max_pool(vt_cuda_call *c) {
  const vt_pooling attrs = vt_pooling_max(c->attrs);
  if (vt_cuda_element_count(c->out) == 0) return VT_OK;
  const vt_gpu_pool p = pool_args(c, &attrs);
  return vt_cuda_launch(c, max_pool_kernel_of(c->out->dtype), vt_cuda_grid_over(c, p.total, 1, 256),
                        &p);
}

vt_status vt_cuda_run_avg_pool(vt_cuda_call *c) {
  static const uint32_t kernels[2][3] = {
      {VT_GPU_avg_pool_4_f32, VT_GPU_avg_pool_16_f32, VT_GPU_avg_pool_many_f32},
      {VT_GPU_avg_pool_4_f64, VT_GPU_avg_pool_16_f64, VT_GPU_avg_pool_many_f64}};
  const vt_pooling attrs = vt_pooling_avg(c->attrs);
  if (vt_cuda_element_count(c->out) == 0) return VT_OK;
  const vt_gpu_pool p = pool_args(c, &attrs);
  const int size = p.taps <= 4 ? 0 : p.taps <= 16 ? 1 : 2;
  const int64_t threads = size < 2 ? p.total : 32 * p.total;
  return vt_cuda_launch(c, kernels[c->out->dtype == VT_DTYPE_F64][size],
                        vt_cuda_grid_over(c, threads, 1, 256), &p);
}
