/* SPDX-License-Identifier: Apache-2.0
 * op_conv.c - convolutions over one to three spatial axes: conv, conv_transpose, the gradient of
 * their weights, and conv_int. Every float result is one contraction D (docs/numerics.md). Its
 * operands are gathered into scratch in the order of D, padding as +0, so that the kernels read
 * like the definition. A patch is the elements of x that one output position reads; k is the
 * position of a tap within the kernel, c a channel of x, o a channel of the result, dy the
 * gradient of the result. */
#include <string.h>
#include "op_rows.h"
#include "vt_num.h"
#include "vt_window.h"

/* ---- attributes ---- */

static vt_window_lists conv_window_lists(const vt_attr_conv *a) {
  return (vt_window_lists){
      .stride = &a->stride, .dilation = &a->dilation, .low = &a->low, .high = &a->high};
}

static vt_window_lists conv_transpose_window_lists(const vt_attr_conv_transpose *a) {
  return (vt_window_lists){
      .stride = &a->stride, .dilation = &a->dilation, .low = &a->low, .high = &a->high};
}

static vt_window_lists weight_grad_window_lists(const vt_attr_conv_weight_grad *a) {
  return (vt_window_lists){
      .kernel = &a->kernel, .stride = &a->stride, .dilation = &a->dilation, .low = &a->low};
}

static vt_window_lists conv_int_window_lists(const vt_attr_conv_int *a) {
  return (vt_window_lists){
      .stride = &a->stride, .dilation = &a->dilation, .low = &a->low, .high = &a->high};
}

/* ---- shapes ---- */

static vt_status check_order(int64_t order, vt_diag *d) {
  if (order == VT_ORDER_FMA256) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "order %lld of a contraction does not exist", (long long)order);
}

/* The channels of each group: the length of `axis` of an operand divided by the number of
 * groups. */
static vt_status channels_per_group(const vt_rule *r, uint32_t operand, uint32_t axis,
                                    int64_t groups, int64_t *out, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  if (groups < 1 || groups > VT_DIM_MAX)
    return VT_FAIL(d, VT_VERIFY, "groups=%lld: expected at least 1", (long long)groups);
  if (vt_dim_div(r->dims, r->in[operand].dim[axis], groups, out, NULL) == VT_OK) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "axis %u of %s is not a multiple of groups=%lld", axis,
                 vt_type_text(r->dims, &r->in[operand], text), (long long)groups);
}

/* Checks the attributes of the window, and that x and w have the same number of spatial axes. */
static vt_status check_windows_and_ranks(const vt_rule *r, const vt_window_lists *l, vt_diag *d) {
  char x[VT_TYPE_TEXT], w[VT_TYPE_TEXT];
  VT_TRY(vt_window_check_rank(r, 0, d));
  if (r->in[0].rank != r->in[1].rank)
    return VT_FAIL(d, VT_VERIFY, "x is %s and the weight %s: expected the same number of axes",
                   vt_type_text(r->dims, &r->in[0], x), vt_type_text(r->dims, &r->in[1], w));
  return vt_window_check(l, r->in[1].dim + 2, r->in[0].rank - 2, d);
}

static vt_status check_channels(const vt_rule *r, int64_t x, int64_t w, vt_diag *d) {
  char tx[VT_TYPE_TEXT], tw[VT_TYPE_TEXT];
  if (x == w) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "x is %s and the weight %s: their channels in a group differ",
                 vt_type_text(r->dims, &r->in[0], tx), vt_type_text(r->dims, &r->in[1], tw));
}

static vt_status check_bias(const vt_rule *r, uint32_t operand, int64_t outputs, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  if (r->n_in <= operand) return VT_OK;
  if (r->in[operand].rank == 1 && r->in[operand].dim[0] == outputs) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "the bias is %s, expected one number for each output channel",
                 vt_type_text(r->dims, &r->in[operand], text));
}

static vt_status conv_shape(const vt_rule *r, const vt_window_lists *l, int64_t groups,
                            vt_type *out, vt_diag *d) {
  int64_t depth, unused;
  VT_TRY(check_windows_and_ranks(r, l, d));
  VT_TRY(channels_per_group(r, 0, 1, groups, &depth, d));
  VT_TRY(channels_per_group(r, 1, 0, groups, &unused, d));
  VT_TRY(check_channels(r, depth, r->in[1].dim[1], d));
  out->rank = r->in[0].rank;
  out->dim[0] = r->in[0].dim[0];
  out->dim[1] = r->in[1].dim[0];
  for (uint32_t i = 0; i + 2 < out->rank; i++) {
    const vt_window w = vt_window_axis(l, i, r->in[1].dim[2 + i], 1);
    VT_TRY(vt_window_count(r, i, &w, 0, &out->dim[2 + i], d));
  }
  return VT_OK;
}

vt_status shape_conv(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_conv *a = r->attrs;
  const vt_window_lists l = conv_window_lists(a);
  VT_TRY(check_order(a->order, d));
  VT_TRY(conv_shape(r, &l, a->groups, out, d));
  VT_TRY(check_bias(r, 2, out->dim[1], d));
  out->dtype = r->in[0].dtype;
  return VT_OK;
}

/* The length of spatial axis i of the result of conv_transpose: (I-1)*stride - low - high + extent
 * + extra, where I is the length in x and extent that of the kernel. */
static vt_status conv_transpose_length(const vt_rule *r, uint32_t i, const vt_window *w,
                                       int64_t extra, int64_t *out, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  const int64_t rest = vt_window_extent(w) + extra - w->low - w->high - w->stride;
  int64_t n;
  VT_TRY(vt_dim_mul(r->dims, r->in[0].dim[2 + i], w->stride, &n, d));
  VT_TRY(vt_dim_add(r->dims, n, rest, &n, d));
  if (!vt_dim_is_symbolic(n) && n < 0)
    return VT_FAIL(d, VT_VERIFY, "axis %u of %s would give %lld positions", i + 2,
                   vt_type_text(r->dims, &r->in[0], text), (long long)n);
  *out = n;
  return VT_OK;
}

vt_status shape_conv_transpose(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_conv_transpose *a = r->attrs;
  const vt_window_lists l = conv_transpose_window_lists(a);
  int64_t unused;
  VT_TRY(check_order(a->order, d));
  VT_TRY(check_windows_and_ranks(r, &l, d));
  VT_TRY(vt_window_check_list(&a->extra, "extra", r->in[0].rank - 2, 0, d));
  VT_TRY(channels_per_group(r, 1, 0, a->groups, &unused, d));
  VT_TRY(check_channels(r, r->in[0].dim[1], r->in[1].dim[0], d));
  *out = (vt_type){.dtype = r->in[0].dtype, .rank = r->in[0].rank, .dim = {r->in[0].dim[0]}};
  VT_TRY(vt_dim_mul(r->dims, r->in[1].dim[1], a->groups, &out->dim[1], d));
  for (uint32_t i = 0; i + 2 < out->rank; i++) {
    const vt_window w = vt_window_axis(&l, i, r->in[1].dim[2 + i], 1);
    const int64_t extra = vt_window_entry(&a->extra, i, 0);
    VT_TRY(conv_transpose_length(r, i, &w, extra, &out->dim[2 + i], d));
  }
  return check_bias(r, 2, out->dim[1], d);
}

/* Checks that the position of x that the last element of dy reads is far enough below 2^63: no
 * other rule limits the size of dy. */
static vt_status check_last_position(const vt_rule *r, uint32_t i, const vt_window *w, vt_diag *d) {
  const int64_t most = INT64_C(1) << 62, n = r->in[1].dim[2 + i];
  char text[VT_TYPE_TEXT];
  int64_t last;
  if (vt_dim_is_symbolic(n)) return VT_OK; /* checked again once it is bound */
  if (vt_i64_mul(n - 1, w->stride, &last) && last <= most - vt_window_extent(w)) return VT_OK;
  return VT_FAIL(d, VT_LIMIT, "axis %u of dy %s reaches beyond 2^62 with a stride of %lld", i + 2,
                 vt_type_text(r->dims, &r->in[1], text), (long long)w->stride);
}

/* x and dy may have any spatial sizes: a position of dy that reads outside x multiplies +0. */
vt_status shape_conv_weight_grad(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_conv_weight_grad *a = r->attrs;
  const vt_window_lists l = weight_grad_window_lists(a);
  char x[VT_TYPE_TEXT], dy[VT_TYPE_TEXT];
  const uint32_t axes = r->in[0].rank - 2;
  int64_t kernel[VT_SPATIAL_MAX], unused;
  VT_TRY(check_order(a->order, d));
  VT_TRY(vt_window_check_rank(r, 0, d));
  if (r->in[1].rank != r->in[0].rank || r->in[1].dim[0] != r->in[0].dim[0])
    return VT_FAIL(d, VT_VERIFY, "x is %s and dy %s: expected the same axes and the same N",
                   vt_type_text(r->dims, &r->in[0], x), vt_type_text(r->dims, &r->in[1], dy));
  if (a->kernel.n == 0) return VT_FAIL(d, VT_VERIFY, "kernel has no entries");
  VT_TRY(vt_window_check_list(&a->kernel, "kernel", axes, 1, d));
  for (uint32_t i = 0; i < axes; i++) kernel[i] = vt_window_entry(&a->kernel, i, 1);
  VT_TRY(vt_window_check(&l, kernel, axes, d));
  for (uint32_t i = 0; i < axes; i++) {
    const vt_window w = vt_window_axis(&l, i, kernel[i], 1);
    VT_TRY(check_last_position(r, i, &w, d));
  }
  VT_TRY(channels_per_group(r, 1, 1, a->groups, &unused, d));
  *out = (vt_type){.dtype = r->in[0].dtype, .rank = axes + 2, .dim = {r->in[1].dim[1]}};
  VT_TRY(channels_per_group(r, 0, 1, a->groups, &out->dim[1], d));
  memcpy(out->dim + 2, kernel, axes * sizeof *kernel);
  return VT_OK;
}

/* ---- the input elements of an output ---- */

/* The spatial axes of an input [N, C, spatial...]: their lengths, their strides and the window
 * along each. */
typedef struct field {
  uint32_t axes, size; /* size: bytes per element */
  vt_window w[VT_SPATIAL_MAX];
  int64_t dim[VT_SPATIAL_MAX], stride[VT_SPATIAL_MAX];
} field;

static field describe_spatial_axes(const vt_view *x, const vt_window_lists *l,
                                   const int64_t *kernel) {
  field f = {.axes = x->rank - 2, .size = (uint32_t)vt_dtype_bytes(x->dtype)};
  for (uint32_t i = 0; i < f.axes; i++) {
    f.w[i] = vt_window_axis(l, i, kernel[i], 1);
    f.dim[i] = x->dim[2 + i];
    f.stride[i] = x->stride[2 + i];
  }
  return f;
}

/* Whether tap k of output position p reads an element of the input, not padding; *out_at is the
 * offset of the element in its channel. */
static int locate_input(const field *f, const int64_t *p, const int64_t *k, int64_t *out_at) {
  int64_t at = 0;
  for (uint32_t i = 0; i < f->axes; i++) {
    const int64_t x = p[i] * f->w[i].stride + k[i] * f->w[i].dilation - f->w[i].low;
    if (x < 0 || x >= f->dim[i]) return 0;
    at += x * f->stride[i];
  }
  *out_at = at;
  return 1;
}

/* Whether tap k has a product at output position j of a transposed convolution; a tap without a
 * product has no index in D. *out_inside tells whether the product reads the input or padding. */
static int locate_transposed_input(const field *f, const int64_t *j, const int64_t *k,
                                   int *out_inside, int64_t *out_at) {
  int64_t at = 0;
  int inside = 1;
  for (uint32_t i = 0; i < f->axes; i++) {
    const int64_t x = j[i] + f->w[i].low - k[i] * f->w[i].dilation;
    if (x % f->w[i].stride != 0) return 0;
    inside &= x >= 0 && x / f->w[i].stride < f->dim[i];
    at += inside ? x / f->w[i].stride * f->stride[i] : 0;
  }
  *out_inside = inside;
  *out_at = at;
  return 1;
}

/* Copies element `at` of `from`, or writes +0 if it is not inside the input. All bits of +0 are 0
 * in every type. */
static void copy_or_zero(char *to, const char *from, int inside, int64_t at, uint32_t size) {
  if (!inside) {
    memset(to, 0, size);
  } else {
    memcpy(to, from + at * (int64_t)size, size);
  }
}

static int64_t count_taps(const int64_t *kernel, uint32_t axes) {
  int64_t n = 1;
  for (uint32_t i = 0; i < axes; i++) n *= kernel[i];
  return n;
}

static const char *channel_data(const vt_view *v, int64_t n, int64_t c) {
  return (const char *)v->data +
         (n * v->stride[0] + c * v->stride[1]) * (int64_t)vt_dtype_bytes(v->dtype);
}

/* Copies a view into contiguous memory in row-major order. */
static void pack_view(const vt_view *v, char *to) {
  const uint32_t size = (uint32_t)vt_dtype_bytes(v->dtype);
  vt_walk w;
  vt_walk_init(&w, v->rank, v->dim);
  vt_walk_view(&w, v);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    copy_or_zero(to + i * (int64_t)size, v->data, 1, w.at[0], size);
}

/* Adds the bias b[o] to each element of channel o of the result, if the node has a bias. */
static void add_bias(const vt_kernel *k) {
  if (k->n_in < 3) return;
  const vt_view *y = k->out;
  const int64_t step = k->in[2].stride[0];
  vt_walk w;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    if (y->dtype == VT_DTYPE_F32) {
      ((float *)y->data)[w.at[0]] += ((const float *)k->in[2].data)[w.index[1] * step];
    } else {
      ((double *)y->data)[w.at[0]] += ((const double *)k->in[2].data)[w.index[1] * step];
    }
  }
}

/* ---- conv ---- */

/* The scratch bytes for the packed weight and the patch of one output position; never 0, so that
 * the kernel gets a pointer. */
uint64_t scratch_conv(const vt_view *in, uint32_t n_in) {
  if (n_in < 2) return 0;
  const int64_t row = in[1].dim[1] * count_taps(in[1].dim + 2, in[1].rank - 2);
  return (uint64_t)(in[1].dim[0] + 1) * (uint64_t)row * vt_dtype_bytes(in[1].dtype) + 1;
}

/* Copies the patch of output position p in `channels` channels from first_channel on, in the order
 * (c, k...). */
static void gather_patch(const field *f, const vt_view *x, int64_t n, int64_t first_channel,
                         int64_t channels, const int64_t *p, const int64_t *kernel, char *to) {
  int64_t at = 0;
  vt_walk k;
  for (int64_t c = first_channel; c < first_channel + channels; c++) {
    vt_walk_init(&k, f->axes, kernel);
    for (int64_t i = 0; i < k.count; i++, vt_walk_next(&k), to += f->size) {
      const int inside = locate_input(f, p, k.index, &at);
      copy_or_zero(to, channel_data(x, n, c), inside, at, f->size);
    }
  }
}

/* Computes all output channels of a group at one position: each is the contraction D of the same
 * patch with one row of the weight. */
static void dot_patch_with_rows(const vt_view *y, int64_t at, int64_t outputs, const void *a,
                                const char *rows, int64_t length) {
  if (y->dtype == VT_DTYPE_F32) {
    vt_dot_row_f32((float *)y->data + at, y->stride[1], a, 1, (const float *)(const void *)rows, 1,
                   length, NULL, 0, length, outputs);
  } else {
    vt_dot_row_f64((double *)y->data + at, y->stride[1], a, 1, (const double *)(const void *)rows,
                   1, length, NULL, 0, length, outputs);
  }
}

vt_status kernel_conv(vt_kernel *k) {
  const vt_attr_conv *a = k->attrs;
  const vt_window_lists l = conv_window_lists(a);
  const vt_view *x = &k->in[0], *w = &k->in[1], *y = k->out;
  const int64_t *kernel = w->dim + 2, depth = w->dim[1], outputs = w->dim[0] / a->groups;
  const field f = describe_spatial_axes(x, &l, kernel);
  const int64_t length = depth * count_taps(kernel, f.axes), row = length * (int64_t)f.size;
  char *rows = k->work, *met = rows + w->dim[0] * row;
  vt_view where = vt_view_drop_axis(y, 1); /* y without its axis of channels: [N, positions...] */
  if (vt_view_count(y) == 0) return VT_OK;
  pack_view(w, rows);
  vt_walk at;
  vt_walk_init(&at, where.rank, where.dim);
  vt_walk_view(&at, &where);
  for (int64_t i = 0; i < at.count; i++, vt_walk_next(&at))
    for (int64_t g = 0; g < a->groups; g++) {
      gather_patch(&f, x, at.index[0], g * depth, depth, at.index + 1, kernel, met);
      dot_patch_with_rows(y, at.at[0] + g * outputs * y->stride[1], outputs, met,
                          rows + g * outputs * row, length);
    }
  add_bias(k);
  return VT_OK;
}

/* ---- conv_transpose ---- */

/* The scratch bytes for both operands of the longest contraction of conv_transpose. */
uint64_t scratch_conv_transpose(const vt_view *in, uint32_t n_in) {
  if (n_in < 2) return 0;
  const int64_t most = in[1].dim[0] * count_taps(in[1].dim + 2, in[1].rank - 2);
  return 2 * (uint64_t)most * vt_dtype_bytes(in[1].dtype) + 1;
}

static void dot_contiguous(const vt_view *y, int64_t at, const void *a, const void *b, int64_t n) {
  if (y->dtype == VT_DTYPE_F32) {
    ((float *)y->data)[at] = vt_dot_f32(a, 1, b, 1, NULL, 0, n);
  } else {
    ((double *)y->data)[at] = vt_dot_f64(a, 1, b, 1, NULL, 0, n);
  }
}

/* Gathers the operands a (from x) and b (from w) of the contraction for one output [n, o, j...], in
 * the order (c, k...) of the taps that have a product; returns the number of products. */
static int64_t gather_transposed_taps(const field *f, const vt_view *x, const vt_view *w,
                                      const int64_t *index, int64_t groups, char *a, char *b) {
  const int64_t depth = w->dim[0] / groups, first = index[1] / w->dim[1] * depth;
  int64_t n = 0, at = 0;
  int inside = 0;
  vt_walk k;
  for (int64_t c = first; c < first + depth; c++) {
    vt_view kernel = vt_view_drop_axis(w, 0);
    kernel = vt_view_drop_axis(&kernel, 0);
    vt_walk_init(&k, f->axes, kernel.dim);
    vt_walk_view(&k, &kernel);
    for (int64_t i = 0; i < k.count; i++, vt_walk_next(&k)) {
      if (!locate_transposed_input(f, index + 2, k.index, &inside, &at)) continue;
      copy_or_zero(a + n * f->size, channel_data(x, index[0], c), inside, at, f->size);
      copy_or_zero(b + n * f->size, channel_data(w, c, index[1] % w->dim[1]), 1, k.at[0], f->size);
      n++;
    }
  }
  return n;
}

vt_status kernel_conv_transpose(vt_kernel *k) {
  const vt_attr_conv_transpose *a = k->attrs;
  const vt_window_lists l = conv_transpose_window_lists(a);
  const vt_view *x = &k->in[0], *w = &k->in[1], *y = k->out;
  const field f = describe_spatial_axes(x, &l, w->dim + 2);
  char *from_x = k->work, *from_w = from_x + w->dim[0] * count_taps(w->dim + 2, f.axes) * f.size;
  vt_walk at;
  vt_walk_init(&at, y->rank, y->dim);
  vt_walk_view(&at, y);
  for (int64_t i = 0; i < at.count; i++, vt_walk_next(&at)) {
    const int64_t n = gather_transposed_taps(&f, x, w, at.index, a->groups, from_x, from_w);
    dot_contiguous(y, at.at[0], from_x, from_w, n);
  }
  add_bias(k);
  return VT_OK;
}

/* ---- conv_weight_grad ---- */

/* The scratch bytes for one channel of dy over (n, positions...) and for the elements of x that it
 * multiplies. */
uint64_t scratch_conv_weight_grad(const vt_view *in, uint32_t n_in) {
  if (n_in < 2) return 0;
  const int64_t length = in[1].dim[0] * count_taps(in[1].dim + 2, in[1].rank - 2);
  return 2 * (uint64_t)length * vt_dtype_bytes(in[1].dtype) + 1;
}

vt_status kernel_conv_weight_grad(vt_kernel *k) {
  const vt_attr_conv_weight_grad *a = k->attrs;
  const vt_window_lists l = weight_grad_window_lists(a);
  const vt_view *x = &k->in[0], *dy = &k->in[1], *y = k->out;
  const field f = describe_spatial_axes(x, &l, y->dim + 2);
  const int64_t outputs = dy->dim[1] / a->groups; /* output channels per group */
  /* dy without its axis of channels: [N, positions...] */
  const vt_view one = vt_view_drop_axis(dy, 1);
  const int64_t length = vt_view_count(&one);
  char *from_dy = k->work, *from_x = from_dy + length * f.size;
  int64_t met = 0;
  vt_walk at, p;
  vt_walk_init(&at, y->rank, y->dim);
  vt_walk_view(&at, y);
  for (int64_t i = 0; i < at.count; i++, vt_walk_next(&at)) {
    const int64_t o = at.index[0], c = o / outputs * y->dim[1] + at.index[1];
    vt_walk_init(&p, one.rank, one.dim);
    vt_walk_view(&p, &one);
    for (int64_t j = 0; j < p.count; j++, vt_walk_next(&p)) {
      const int inside = locate_input(&f, p.index + 1, at.index + 2, &met);
      copy_or_zero(from_dy + j * f.size, channel_data(dy, 0, o), 1, p.at[0], f.size);
      copy_or_zero(from_x + j * f.size, channel_data(x, p.index[0], c), inside, met, f.size);
    }
    dot_contiguous(y, at.at[0], from_dy, from_x, length);
  }
  return VT_OK;
}

/* ---- gradients ---- */

/* Cuts x to the dimensions of `want`, from index 0 along every axis; returns x itself if it has
 * these dimensions. */
static uint32_t slice_to_shape(vt_builder *b, uint32_t x, const vt_type *want) {
  const vt_type *have = b->type(b, x);
  if (have == NULL || vt_type_equal(have, want)) return x;
  vt_attr_slice a = {.size = sizeof a, .start = {.n = want->rank}, .stop = {.n = want->rank}};
  memcpy(a.stop.v, want->dim, want->rank * sizeof *want->dim);
  return b->node(b, VT_OP_slice, &x, 1, &a);
}

/* Writes conv(x, w) with as many positions as `want` has: pads x by a `high` that is large enough
 * and cuts the result. */
static uint32_t build_conv_sized(vt_builder *b, uint32_t x, uint32_t w, const vt_attr_conv *like,
                                 const vt_type *want) {
  const vt_type *tx = b->type(b, x), *tw = b->type(b, w);
  if (tx == NULL || tw == NULL) return VT_NO_VALUE;
  const vt_window_lists l = conv_window_lists(like);
  const uint32_t in[2] = {x, w}, axes = tx->rank - 2;
  vt_attr_conv a = *like;
  a.high = (vt_attr_list){.n = axes};
  for (uint32_t i = 0; i < axes; i++) {
    const vt_window v = vt_window_axis(&l, i, tw->dim[2 + i], 1);
    const int64_t end = (want->dim[2 + i] - 1) * v.stride + vt_window_extent(&v) - v.low;
    a.high.v[i] = end > tx->dim[2 + i] ? end - tx->dim[2 + i] : 0;
  }
  return slice_to_shape(b, b->node(b, VT_OP_conv, in, 2, &a), want);
}

/* Writes conv_transpose(dy, w) with the spatial sizes of `want`. */
static uint32_t build_transposed_sized(vt_builder *b, uint32_t dy, uint32_t w,
                                       const vt_attr_conv *like, const vt_type *want) {
  const vt_type *ty = b->type(b, dy), *tw = b->type(b, w);
  if (ty == NULL || tw == NULL) return VT_NO_VALUE;
  const vt_window_lists l = conv_window_lists(like);
  const uint32_t in[2] = {dy, w}, axes = ty->rank - 2;
  vt_attr_conv_transpose a = {.size = sizeof a,
                              .stride = like->stride,
                              .dilation = like->dilation,
                              .low = like->low,
                              .high = {.n = axes},
                              .groups = like->groups,
                              .order = like->order,
                              .extra = {.n = axes}};
  for (uint32_t i = 0; i < axes; i++) {
    const vt_window v = vt_window_axis(&l, i, tw->dim[2 + i], 1);
    const int64_t end = (ty->dim[2 + i] - 1) * v.stride + vt_window_extent(&v) - v.low;
    const int64_t over = end - want->dim[2 + i];
    a.high.v[i] = over > 0 ? over : 0;
    a.extra.v[i] = over < 0 ? -over : 0;
  }
  return b->node(b, VT_OP_conv_transpose, in, 2, &a);
}

/* Writes the weight gradient [O, C/groups, kernel...] from the input x of a convolution and dy. */
static uint32_t build_weight_gradient(vt_builder *b, uint32_t x, uint32_t dy,
                                      const vt_attr_conv *like, const vt_type *w) {
  const uint32_t in[2] = {x, dy};
  vt_attr_conv_weight_grad a = {.size = sizeof a,
                                .kernel = {.n = w->rank - 2},
                                .stride = like->stride,
                                .dilation = like->dilation,
                                .low = like->low,
                                .groups = like->groups,
                                .order = like->order};
  memcpy(a.kernel.v, w->dim + 2, (w->rank - 2) * sizeof *w->dim);
  return b->node(b, VT_OP_conv_weight_grad, in, 2, &a);
}

/* Writes the bias gradient: for each channel the ordered sum of dy over (n, positions...). */
static uint32_t build_bias_gradient(vt_builder *b, uint32_t dy, uint32_t rank) {
  vt_attr_reduce a = {.size = sizeof a, .axes = {.n = rank - 1}};
  for (uint32_t i = 1; i < rank - 1; i++) a.axes.v[i] = i + 1;
  return b->node(b, VT_OP_sum, &dy, 1, &a);
}

void grad_conv(const vt_gradient *g) {
  const vt_type *x = g->b->type(g->b, g->in[0]), *w = g->b->type(g->b, g->in[1]);
  if (x == NULL || w == NULL) return;
  const vt_type tx = *x, tw = *w;
  g->d_in[0] = build_transposed_sized(g->b, g->d_out[0], g->in[1], g->attrs, &tx);
  g->d_in[1] = build_weight_gradient(g->b, g->in[0], g->d_out[0], g->attrs, &tw);
  if (g->n_in == 3) g->d_in[2] = build_bias_gradient(g->b, g->d_out[0], tx.rank);
}

void grad_conv_transpose(const vt_gradient *g) {
  const vt_attr_conv_transpose *a = g->attrs;
  const vt_type *x = g->b->type(g->b, g->in[0]), *w = g->b->type(g->b, g->in[1]);
  if (x == NULL || w == NULL) return;
  const vt_type tx = *x, tw = *w;
  const vt_attr_conv like = {.size = sizeof like,
                             .stride = a->stride,
                             .dilation = a->dilation,
                             .low = a->low,
                             .groups = a->groups,
                             .order = a->order};
  g->d_in[0] = build_conv_sized(g->b, g->d_out[0], g->in[1], &like, &tx);
  g->d_in[1] = build_weight_gradient(g->b, g->d_out[0], g->in[0], &like, &tw);
  if (g->n_in == 3) g->d_in[2] = build_bias_gradient(g->b, g->d_out[0], tx.rank);
}

void grad_conv_weight_grad(const vt_gradient *g) {
  const vt_attr_conv_weight_grad *a = g->attrs;
  const vt_type *x = g->b->type(g->b, g->in[0]), *dy = g->b->type(g->b, g->in[1]);
  if (x == NULL || dy == NULL) return;
  const vt_type tx = *x, ty = *dy;
  const vt_attr_conv like = {.size = sizeof like,
                             .stride = a->stride,
                             .dilation = a->dilation,
                             .low = a->low,
                             .groups = a->groups,
                             .order = a->order};
  g->d_in[0] = build_transposed_sized(g->b, g->in[1], g->d_out[0], &like, &tx);
  g->d_in[1] = build_conv_sized(g->b, g->in[0], g->d_out[0], &like, &ty);
}

/* ---- conv_int ---- */

static int is_byte(uint32_t dtype) { return dtype == VT_DTYPE_I8 || dtype == VT_DTYPE_U8; }

/* Checks the types of conv_int: x and w are i8 or u8, each zero point has the type of x or w, and a
 * bias is i32. */
vt_status check_conv_int(const vt_rule *r, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  for (uint32_t i = 0; i < r->n_in; i++) {
    const vt_type *t = &r->in[i];
    if (i < 2 && !is_byte(t->dtype))
      return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected i8 or u8", i + 1,
                     vt_type_text(r->dims, t, text));
    if ((i == 2 || i == 3) && t->dtype != r->in[i - 2].dtype)
      return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected a zero point of %s", i + 1,
                     vt_type_text(r->dims, t, text), vt_dtype_name(r->in[i - 2].dtype));
    if (i == 4 && t->dtype != VT_DTYPE_I32)
      return VT_FAIL(d, VT_VERIFY, "operand 5 is %s, expected a bias of i32",
                     vt_type_text(r->dims, t, text));
  }
  return VT_OK;
}

/* The largest number of products of 8-bit integers whose sum fits i32, whatever the operands
 * hold. */
static int64_t max_exact_products(const vt_rule *r) {
  const int u = (r->in[0].dtype == VT_DTYPE_U8) + (r->in[1].dtype == VT_DTYPE_U8);
  if (r->n_in > 2) return 33025;
  return u == 0 ? 131071 : u == 1 ? 65793 : 33025;
}

static vt_status check_product_count(const vt_rule *r, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  int64_t n = r->in[1].dim[1];
  if (vt_dim_is_symbolic(n)) return VT_OK; /* checked again once it is bound */
  for (uint32_t i = 2; i < r->in[1].rank; i++)
    if (!vt_i64_mul(n, r->in[1].dim[i], &n)) n = INT64_MAX;
  if (n <= max_exact_products(r)) return VT_OK;
  return VT_FAIL(d, VT_LIMIT, "the weight is %s: at most %lld products are exact in i32",
                 vt_type_text(r->dims, &r->in[1], text), (long long)max_exact_products(r));
}

vt_status shape_conv_int(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_conv_int *a = r->attrs;
  const vt_window_lists l = conv_int_window_lists(a);
  char text[VT_TYPE_TEXT];
  VT_TRY(conv_shape(r, &l, a->groups, out, d));
  VT_TRY(check_product_count(r, d));
  if (r->n_in > 2 && r->in[2].rank != 0)
    return VT_FAIL(d, VT_VERIFY, "the zero point of x is %s, expected a scalar",
                   vt_type_text(r->dims, &r->in[2], text));
  if (r->n_in > 3 && r->in[3].rank != 0 && (r->in[3].rank != 1 || r->in[3].dim[0] != out->dim[1]))
    return VT_FAIL(d, VT_VERIFY,
                   "the zero point of the weight is %s, expected a scalar or one for each output "
                   "channel",
                   vt_type_text(r->dims, &r->in[3], text));
  VT_TRY(check_bias(r, 4, out->dim[1], d));
  out->dtype = VT_DTYPE_I32;
  return VT_OK;
}

/* Element o of an optional operand that is a scalar or has one number per output channel; 0 if the
 * node does not have the operand. */
static int64_t optional_number(const vt_kernel *k, uint32_t operand, int64_t o) {
  if (k->n_in <= operand) return 0;
  const vt_view *v = &k->in[operand];
  return vt_load_int(v->data, v->dtype, v->rank == 0 || v->dim[0] == 1 ? 0 : o * v->stride[0]);
}

/* One element of the result without its bias. Padding holds the zero point of x, so its products
 * are 0 and are left out. */
static int64_t conv_int_element(const vt_kernel *k, const field *f, const int64_t *index,
                                int64_t first_channel) {
  const vt_view *x = &k->in[0], *w = &k->in[1];
  const int64_t o = index[1], zx = optional_number(k, 2, 0), zw = optional_number(k, 3, o);
  /* the weight of one output channel: [C/groups, kernel...] */
  vt_view row = vt_view_drop_axis(w, 0);
  int64_t sum = 0, at = 0;
  vt_walk t;
  vt_walk_init(&t, row.rank, row.dim);
  vt_walk_view(&t, &row);
  for (int64_t i = 0; i < t.count; i++, vt_walk_next(&t)) {
    if (!locate_input(f, index + 2, t.index + 1, &at)) continue;
    const int64_t a =
        vt_load_int(channel_data(x, index[0], first_channel + t.index[0]), x->dtype, at);
    const int64_t b = vt_load_int(channel_data(w, o, 0), w->dtype, t.at[0]);
    sum += (a - zx) * (b - zw);
  }
  return sum;
}

vt_status kernel_conv_int(vt_kernel *k) {
  const vt_attr_conv_int *a = k->attrs;
  const vt_window_lists l = conv_int_window_lists(a);
  const vt_view *w = &k->in[1], *y = k->out;
  const field f = describe_spatial_axes(&k->in[0], &l, w->dim + 2);
  const int64_t outputs = w->dim[0] / a->groups;
  vt_walk at;
  vt_walk_init(&at, y->rank, y->dim);
  vt_walk_view(&at, y);
  for (int64_t i = 0; i < at.count; i++, vt_walk_next(&at)) {
    const int64_t o = at.index[1];
    const int64_t sum = conv_int_element(k, &f, at.index, o / outputs * w->dim[1]);
    vt_store_int(y->data, VT_DTYPE_I32, at.at[0],
                 sum + optional_number(k, 4, o)); /* the sum with the bias wraps in i32 */
  }
  return VT_OK;
}
