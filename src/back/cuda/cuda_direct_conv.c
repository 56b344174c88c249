/* SPDX-License-Identifier: Apache-2.0
 * cuda_direct_conv.c - brings all kinds of convolutions into the form of gpu_direct_conv.h. A
 * class is the outputs of a transposed convolution that use the same taps. */
#include "cuda_direct_conv.h"

/* ---- sizes ---- */

static vt_gpu_direct_conv_axis unused_axis(void) {
  return (vt_gpu_direct_conv_axis){.dim = 1, .places = 1, .taps = 1, .outputs = 1};
}

static int64_t absolute(int64_t v) { return v < 0 ? -v : v; }

int64_t vt_cuda_direct_conv_output_count(const vt_gpu_direct_conv *s) {
  int64_t n = s->images * s->rows * s->groups;
  for (int i = 0; i < VT_GPU_AXES; i++) n *= s->axis[i].places * vt_cuda_max(s->axis[i].classes, 1);
  return n;
}

/* Adds |a|*n to *sum; returns 0 if the sum would not fit in 31 bits. */
static int add_product_if_31_bits(int64_t *sum, int64_t a, int64_t n) {
  const int64_t most = INT32_MAX, by = absolute(a);
  if (n <= 0 || by == 0) return 1;
  if (by > most || n > most || by * n > most - *sum) return 0;
  *sum += by * n;
  return 1;
}

static int offsets_fit_31_bits(const vt_gpu_direct_conv *s) {
  int64_t x = 0, w = 0, y = 0, all = 1, k = 1;
  int fits = s->depth <= INT32_MAX;
  fits &= add_product_if_31_bits(&x, s->x_image, s->images) &&
          add_product_if_31_bits(&x, s->x_group, s->groups) &&
          add_product_if_31_bits(&x, s->x_channel, s->depth) &&
          add_product_if_31_bits(&w, s->w_group, s->groups) &&
          add_product_if_31_bits(&w, s->w_row, s->rows) &&
          add_product_if_31_bits(&w, s->w_channel, s->depth) &&
          add_product_if_31_bits(&y, s->y_image, s->images) &&
          add_product_if_31_bits(&y, s->y_group, s->groups) &&
          add_product_if_31_bits(&y, s->y_row, s->rows);
  for (int i = 0; fits && i < VT_GPU_AXES; i++) {
    const vt_gpu_direct_conv_axis *a = &s->axis[i];
    int64_t met = 0;
    fits &= add_product_if_31_bits(&met, a->step, a->places) &&
            add_product_if_31_bits(&met, a->delta, a->taps) &&
            add_product_if_31_bits(&met, a->base, 1) && add_product_if_31_bits(&met, a->dim, 1) &&
            add_product_if_31_bits(&met, a->low, 1) &&
            add_product_if_31_bits(&met, a->dilation, a->kernel) &&
            add_product_if_31_bits(&met, a->conv_stride, 1);
    fits &= add_product_if_31_bits(&x, a->stride, met) &&
            add_product_if_31_bits(&w, a->weight, a->taps) &&
            add_product_if_31_bits(&w, a->w_one, a->kernel) &&
            add_product_if_31_bits(&y, a->out, a->places) &&
            add_product_if_31_bits(&y, a->y_one, a->conv_stride);
  }
  const int64_t factor[] = {s->images, s->groups, s->rows};
  for (int i = 0; fits && i < 3; i++)
    fits = add_product_if_31_bits(&(int64_t){0}, all *= factor[i], 1);
  for (int i = 0; fits && i < VT_GPU_AXES; i++) {
    all *= s->axis[i].places * vt_cuda_max(s->axis[i].classes, 1);
    fits = all <= INT32_MAX;
  }
  for (int i = 0; fits && i < VT_GPU_AXES; i++) fits = (k *= s->axis[i].taps) <= INT32_MAX;
  return fits && k * s->depth <= INT32_MAX;
}

static void set_length_and_index_width(vt_gpu_direct_conv *s) {
  s->length = s->depth;
  for (int i = 0; i < VT_GPU_AXES; i++) s->length *= s->axis[i].taps;
  s->small = (uint32_t)offsets_fit_31_bits(s);
}

static const void *bias_and_step_of(const vt_cuda_call *c, vt_gpu_direct_conv *s) {
  if (c->n_in < 3) return NULL;
  s->bias_step = c->in[2].stride[0];
  return c->in[2].data;
}

/* ---- conv ---- */

static int is_identity_axis(const vt_gpu_direct_conv_axis *a) {
  return a->taps == 1 && a->step == 1 && a->base == 0 && a->places == a->dim;
}

/* Merges neighbouring axes that have a single tap and no padding and are contiguous in x and y. */
static void merge_identity_axes(vt_gpu_direct_conv_axis axis[VT_GPU_AXES]) {
  for (int i = VT_GPU_AXES - 1; i-- > 0;) {
    vt_gpu_direct_conv_axis *a = &axis[i], *b = &axis[VT_GPU_AXES - 1];
    if (!is_identity_axis(a) || !is_identity_axis(b)) return;
    if (a->dim != 1 && (a->stride != b->stride * b->dim || a->out != b->out * b->dim)) return;
    b->dim *= a->dim;
    b->places = b->dim;
    *a = unused_axis();
  }
}

vt_gpu_direct_conv vt_cuda_direct_conv(const vt_cuda_call *c, const vt_window_lists *l,
                                       int64_t groups) {
  const vt_view *x = &c->in[0], *w = &c->in[1], *y = c->out;
  const uint32_t axes = x->rank - 2, missing = VT_GPU_AXES - axes;
  vt_gpu_direct_conv s = {.x = x->data,
                          .w = w->data,
                          .y = y->data,
                          .images = x->dim[0],
                          .groups = groups,
                          .rows = w->dim[0] / groups,
                          .depth = w->dim[1],
                          .x_image = x->stride[0],
                          .x_group = w->dim[1] * x->stride[1],
                          .x_channel = x->stride[1],
                          .w_group = w->dim[0] / groups * w->stride[0],
                          .w_row = w->stride[0],
                          .w_channel = w->stride[1],
                          .y_image = y->stride[0],
                          .y_group = w->dim[0] / groups * y->stride[1],
                          .y_row = y->stride[1]};
  for (uint32_t i = 0; i < missing; i++) s.axis[i] = unused_axis();
  for (uint32_t i = 0; i < axes; i++) {
    const vt_window v = vt_window_axis(l, i, w->dim[2 + i], 1);
    s.axis[missing + i] = (vt_gpu_direct_conv_axis){.dim = x->dim[2 + i],
                                                    .stride = x->stride[2 + i],
                                                    .step = v.stride,
                                                    .base = -v.low,
                                                    .delta = v.dilation,
                                                    .places = y->dim[2 + i],
                                                    .taps = v.kernel,
                                                    .weight = w->stride[2 + i],
                                                    .out = y->stride[2 + i]};
  }
  merge_identity_axes(s.axis);
  set_length_and_index_width(&s);
  return s;
}

/* ---- conv_transpose ---- */

static int64_t gcd(int64_t a, int64_t b) {
  while (b != 0) {
    const int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* Describes an axis of a transposed convolution with stride 1 as that of an ordinary convolution,
 * because one class contains all its outputs. */
static vt_gpu_direct_conv_axis transpose_axis_of_stride_1(const vt_view *x, const vt_view *w,
                                                          const vt_view *y, uint32_t axis,
                                                          const vt_window *window) {
  return (vt_gpu_direct_conv_axis){.dim = x->dim[axis],
                                   .stride = x->stride[axis],
                                   .step = 1,
                                   .base = window->low,
                                   .delta = -window->dilation,
                                   .places = y->dim[axis],
                                   .taps = window->kernel,
                                   .weight = w->stride[axis],
                                   .out = y->stride[axis],
                                   .outputs = y->dim[axis],
                                   .y_one = y->stride[axis]};
}

static vt_gpu_direct_conv_axis transpose_axis_with_classes(const vt_view *x, const vt_view *w,
                                                           const vt_view *y, uint32_t axis,
                                                           const vt_window *window) {
  const int64_t common = gcd(window->stride, window->dilation), period = window->stride / common;
  const int64_t taps = vt_cuda_ceil_div(window->kernel, period),
                places = vt_cuda_ceil_div(y->dim[axis], window->stride);
  return (vt_gpu_direct_conv_axis){.dim = x->dim[axis],
                                   .stride = x->stride[axis],
                                   .step = 1,
                                   .delta = -(window->dilation / common),
                                   .places = places,
                                   .taps = taps,
                                   .weight = taps > 1 ? period * w->stride[axis] : 0,
                                   .out = places > 1 ? window->stride * y->stride[axis] : 0,
                                   .classes = vt_cuda_min(window->kernel, period),
                                   .period = period,
                                   .conv_stride = window->stride,
                                   .dilation = window->dilation,
                                   .low = window->low,
                                   .kernel = window->kernel,
                                   .outputs = y->dim[axis],
                                   .w_one = w->stride[axis],
                                   .y_one = y->stride[axis]};
}

vt_gpu_direct_conv vt_cuda_direct_conv_transpose(const vt_cuda_call *c) {
  const vt_attr_conv_transpose *a = c->attrs;
  const vt_window_lists l = {.stride = &a->stride, .dilation = &a->dilation, .low = &a->low};
  const vt_view *x = &c->in[0], *w = &c->in[1], *y = c->out;
  const uint32_t axes = x->rank - 2, missing = VT_GPU_AXES - axes;
  const int64_t depth = w->dim[0] / a->groups;
  vt_gpu_direct_conv s = {.x = x->data,
                          .w = w->data,
                          .y = y->data,
                          .images = x->dim[0],
                          .groups = a->groups,
                          .rows = w->dim[1],
                          .depth = depth,
                          .x_image = x->stride[0],
                          .x_group = depth * x->stride[1],
                          .x_channel = x->stride[1],
                          .w_group = depth * w->stride[0],
                          .w_row = w->stride[1],
                          .w_channel = w->stride[0],
                          .y_image = y->stride[0],
                          .y_group = w->dim[1] * y->stride[1],
                          .y_row = y->stride[1]};
  s.bias = bias_and_step_of(c, &s);
  for (uint32_t i = 0; i < missing; i++) s.axis[i] = unused_axis();
  for (uint32_t i = 0; i < axes; i++) {
    const vt_window v = vt_window_axis(&l, i, w->dim[2 + i], 1);
    s.axis[missing + i] = v.stride == 1 ? transpose_axis_of_stride_1(x, w, y, 2 + i, &v)
                                        : transpose_axis_with_classes(x, w, y, 2 + i, &v);
  }
  set_length_and_index_width(&s);
  return s;
}

int vt_cuda_direct_conv_covers_all(const vt_gpu_direct_conv *s) {
  for (int i = 0; i < VT_GPU_AXES; i++) {
    const vt_gpu_direct_conv_axis *a = &s->axis[i];
    int64_t met = 0;
    for (int64_t k = 0; k < a->classes; k++) {
      const int64_t r = (k * a->dilation - a->low) % a->conv_stride;
      met += (r < 0 ? r + a->conv_stride : r) < a->outputs;
    }
    if (a->classes > 0 && met < vt_cuda_min(a->outputs, a->conv_stride)) return 0;
  }
  return 1;
}

/* ---- conv_weight_grad ---- */

/* The gradient of the weight as a convolution of x with dy: positions of dy act as taps, taps of
 * the kernel as output positions, channels of x as images, and images of x as the channels, over
 * which it sums. */
vt_gpu_direct_conv vt_cuda_direct_conv_weight_grad(const vt_cuda_call *c) {
  const vt_attr_conv_weight_grad *a = c->attrs;
  const vt_window_lists l = {
      .kernel = &a->kernel, .stride = &a->stride, .dilation = &a->dilation, .low = &a->low};
  const vt_view *x = &c->in[0], *dy = &c->in[1], *y = c->out;
  const uint32_t axes = x->rank - 2, missing = VT_GPU_AXES - axes;
  const int64_t rows = dy->dim[1] / a->groups;
  vt_gpu_direct_conv s = {.x = x->data,
                          .w = dy->data,
                          .y = y->data,
                          .images = y->dim[1],
                          .groups = a->groups,
                          .rows = rows,
                          .depth = x->dim[0],
                          .x_image = x->stride[1],
                          .x_group = y->dim[1] * x->stride[1],
                          .x_channel = x->stride[0],
                          .w_group = rows * dy->stride[1],
                          .w_row = dy->stride[1],
                          .w_channel = dy->stride[0],
                          .y_image = y->stride[1],
                          .y_group = rows * y->stride[0],
                          .y_row = y->stride[0]};
  for (uint32_t i = 0; i < missing; i++) s.axis[i] = unused_axis();
  for (uint32_t i = 0; i < axes; i++) {
    const vt_window v = vt_window_axis(&l, i, y->dim[2 + i], 1);
    s.axis[missing + i] = (vt_gpu_direct_conv_axis){.dim = x->dim[2 + i],
                                                    .stride = x->stride[2 + i],
                                                    .step = v.dilation,
                                                    .base = -v.low,
                                                    .delta = v.stride,
                                                    .places = y->dim[2 + i],
                                                    .taps = dy->dim[2 + i],
                                                    .weight = dy->stride[2 + i],
                                                    .out = y->stride[2 + i]};
  }
  set_length_and_index_width(&s);
  return s;
}
