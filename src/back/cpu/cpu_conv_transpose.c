/* SPDX-License-Identifier: Apache-2.0 cpu_conv_transpose.c - the op conv_transpose as several
 * direct convolutions. Outputs are classified along every axis by their remainder modulo the
 * stride: all outputs of a class read the same taps, a fixed period of the kernel apart, and
 * neighbouring outputs read them shifted by one element of x. Outputs that no tap reads for are +0
 * plus the bias. */
#include "cpu_conv.h"
#include <string.h>
#include "cpu_move.h"

/* Axis i has classes 0 .. n[i]-1. The number of a class is its first tap. A class may have no
 * outputs. */
typedef struct classes {
  uint32_t axes;
  int64_t n[VT_CPU_AXES], total;
  vt_window w[VT_CPU_AXES];
  int64_t period[VT_CPU_AXES]; /* taps from one tap of a class to the next */
} classes;

static classes classes_of(const vt_cpu_call *c) {
  const vt_attr_conv_transpose *a = c->attrs;
  const vt_window_lists l = {.stride = &a->stride, .dilation = &a->dilation, .low = &a->low};
  classes s = {.axes = c->out->rank - 2, .total = 1};
  for (uint32_t i = 0; i < s.axes; i++) {
    const int64_t kernel = c->in[1].dim[2 + i];
    s.w[i] = vt_window_axis(&l, i, kernel, 1);
    s.period[i] = s.w[i].stride / vt_cpu_gcd(s.w[i].stride, s.w[i].dilation);
    s.n[i] = kernel < s.period[i] ? kernel : s.period[i];
    s.total *= s.n[i];
  }
  return s;
}

/* The remainder, modulo the stride, of the outputs that read tap k. */
static int64_t remainder_of_tap(const vt_window *w, int64_t k) {
  const int64_t r = (k * w->dilation - w->low) % w->stride;
  return r < 0 ? r + w->stride : r;
}

/* 1 if every output belongs to a class. */
static int every_output_has_a_class(const classes *s, const vt_view *y) {
  for (uint32_t i = 0; i < s->axes; i++) {
    int64_t met = 0;
    const int64_t outputs = y->dim[2 + i];
    for (int64_t k = 0; k < s->n[i]; k++) met += remainder_of_tap(&s->w[i], k) < outputs;
    if (met < outputs && met < s->w[i].stride) return 0;
  }
  return 1;
}

/* ---- one class ---- */

static vt_cpu_axis class_axis(const vt_cpu_call *c, const classes *s, uint32_t i, int64_t first,
                              int64_t remainder) {
  const vt_view *x = &c->in[0], *w = &c->in[1], *y = c->out;
  const vt_window *v = &s->w[i];
  const int64_t outputs = y->dim[2 + i];
  return (vt_cpu_axis){
      .dim = x->dim[2 + i],
      .stride = x->stride[2 + i],
      .step = 1,
      .places = remainder < outputs ? vt_cpu_div_up(outputs - remainder, v->stride) : 0,
      .taps = vt_cpu_div_up(v->kernel - first, s->period[i]),
      .base = (remainder + v->low - first * v->dilation) / v->stride,
      .delta = -(s->period[i] * v->dilation / v->stride),
      .weight = s->period[i] * w->stride[2 + i],
      .out = v->stride * y->stride[2 + i]};
}

static void init_class_conv(const vt_cpu_call *c, const classes *s, int64_t number,
                            vt_cpu_direct_conv *out) {
  const vt_attr_conv_transpose *a = c->attrs;
  const vt_view *x = &c->in[0], *w = &c->in[1], *y = c->out;
  const int64_t depth = w->dim[0] / a->groups, bytes = (int64_t)vt_cpu_bytes_of(x->dtype);
  int64_t from_w = 0, from_y = 0;
  *out = (vt_cpu_direct_conv){.dtype = x->dtype,
                              .images = x->dim[0],
                              .groups = a->groups,
                              .rows = w->dim[1],
                              .depth = depth,
                              .x = x->data,
                              .bias = c->n_in > 2 ? c->in[2].data : NULL,
                              .x_image = x->stride[0],
                              .x_channel = x->stride[1],
                              .w_group = depth * w->stride[0],
                              .w_row = w->stride[1],
                              .w_channel = w->stride[0],
                              .y_image = y->stride[0],
                              .y_channel = y->stride[1],
                              .bias_step = c->n_in > 2 ? c->in[2].stride[0] : 0};
  for (uint32_t i = 0; i < VT_CPU_AXES - s->axes; i++) out->axis[i] = vt_cpu_axis_absent();
  for (uint32_t i = s->axes; i-- > 0; number /= s->n[i]) {
    const int64_t first = number % s->n[i], remainder = remainder_of_tap(&s->w[i], first);
    out->axis[VT_CPU_AXES - s->axes + i] = class_axis(c, s, i, first, remainder);
    from_w += first * w->stride[2 + i];
    from_y += remainder * y->stride[2 + i];
  }
  if (w->data != NULL) out->w = (const char *)w->data + from_w * bytes;
  if (y->data != NULL) out->y = (char *)y->data + from_y * bytes;
  vt_cpu_conv_join_axes(out->axis);
}

/* ---- all classes ---- */

uint64_t vt_cpu_scratch_conv_transpose(const vt_cpu_call *c) {
  const classes s = classes_of(c);
  uint64_t most = 0;
  vt_cpu_direct_conv one;
  for (int64_t i = 0; i < s.total; i++) {
    init_class_conv(c, &s, i, &one);
    const uint64_t bytes = vt_cpu_direct_conv_scratch_bytes(c->team, &one);
    if (bytes > most) most = bytes;
  }
  return most;
}

uint64_t vt_cpu_cache_bytes_conv_transpose(const vt_cpu_call *c) {
  const classes s = classes_of(c);
  uint64_t bytes = 0;
  vt_cpu_direct_conv one;
  for (int64_t i = 0; i < s.total; i++) {
    init_class_conv(c, &s, i, &one);
    bytes += vt_cpu_round_to_line(vt_cpu_direct_conv_pack_bytes(c->team, &one));
  }
  return vt_cpu_bytes_to_cache(c, 1, bytes);
}

typedef struct bias_fill {
  const vt_cpu_call *c;
  const vt_cpu_conv_type *k;
  int64_t channels, each; /* channels: output channels of all images; each: elements of one */
  uint64_t jobs;
} bias_fill;

/* Fills whole channels with +0, to which the bias is then added as to any other result. */
static void fill_with_bias_job(void *context, uint64_t job) {
  const bias_fill *f = context;
  const vt_view *y = f->c->out, *b = &f->c->in[2];
  const int64_t bytes = f->k->bytes, end = vt_cpu_job_first(f->channels, f->jobs, job + 1);
  for (int64_t i = vt_cpu_job_first(f->channels, f->jobs, job); i < end; i++) {
    char *to = (char *)y->data + i * f->each * bytes;
    memset(to, 0, (size_t)(f->each * bytes));
    if (f->c->n_in > 2)
      f->k->store(to, 1, to, f->each, (const char *)b->data + i % y->dim[1] * b->stride[0] * bytes);
  }
}

static void fill_with_bias(const vt_cpu_call *c) {
  const vt_view *y = c->out;
  bias_fill f = {.c = c, .k = vt_cpu_conv_of(c->team, y->dtype), .channels = y->dim[0] * y->dim[1]};
  f.each = vt_cpu_count(y) / f.channels;
  f.jobs = vt_cpu_job_count(c->team, (uint64_t)f.channels, (double)f.each / 4);
  vt_cpu_run_jobs(c->team, f.jobs, fill_with_bias_job, &f);
}

vt_status vt_cpu_run_conv_transpose(vt_cpu_call *c) {
  const classes s = classes_of(c);
  vt_cpu_direct_conv one;
  int stale;
  if (vt_cpu_count(c->out) == 0) return VT_OK;
  char *panels = vt_cpu_cached_data(c, 1, &stale);
  if (!every_output_has_a_class(&s, c->out)) fill_with_bias(c);
  for (int64_t i = 0; i < s.total; i++) {
    init_class_conv(c, &s, i, &one);
    if (panels != NULL) {
      if (stale) vt_cpu_direct_conv_pack(c->team, &one, panels);
      one.packed = panels;
      panels += vt_cpu_round_to_line(vt_cpu_direct_conv_pack_bytes(c->team, &one));
    }
    vt_cpu_direct_conv_run(c->team, &one, c->work);
  }
  return VT_OK;
}
