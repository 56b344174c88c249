/* SPDX-License-Identifier: Apache-2.0
 * cpu_conv.c - the op conv as a direct convolution, and the axes of all kinds of convolutions. */
#include "cpu_conv.h"
#include "cpu_move.h"

/* ---- shapes ---- */

void vt_cpu_conv_read_axes(const vt_view *x, const vt_window_lists *l, const int64_t *kernel,
                           const int64_t *places, vt_cpu_axis axis[VT_CPU_AXES]) {
  const uint32_t axes = x->rank - 2, missing = VT_CPU_AXES - axes;
  for (uint32_t i = 0; i < missing; i++) axis[i] = vt_cpu_axis_absent();
  for (uint32_t i = 0; i < axes; i++) {
    const vt_window w = vt_window_axis(l, i, kernel[i], 1);
    axis[missing + i] = (vt_cpu_axis){.dim = x->dim[2 + i],
                                      .stride = x->stride[2 + i],
                                      .step = w.stride,
                                      .places = places[i],
                                      .taps = kernel[i],
                                      .base = -w.low,
                                      .delta = w.dilation};
  }
}

static int is_identity_axis(const vt_cpu_axis *a) {
  return a->taps == 1 && a->step == 1 && a->base == 0 && a->places == a->dim;
}

void vt_cpu_conv_join_axes(vt_cpu_axis axis[VT_CPU_AXES]) {
  for (int i = VT_CPU_AXES - 1; i-- > 0;) {
    vt_cpu_axis *a = &axis[i], *b = &axis[VT_CPU_AXES - 1];
    if (!is_identity_axis(a) || !is_identity_axis(b)) return;
    if (a->dim != 1 && (a->stride != b->stride * b->dim || a->out != b->out * b->dim)) return;
    b->dim *= a->dim;
    b->places = b->dim;
    *a = vt_cpu_axis_absent();
  }
}

/* ---- conv ---- */

static void read_step(const vt_cpu_call *c, vt_cpu_direct_conv *out) {
  const vt_attr_conv *a = c->attrs;
  const vt_view *x = &c->in[0], *w = &c->in[1], *y = c->out;
  const vt_window_lists l = {
      .stride = &a->stride, .dilation = &a->dilation, .low = &a->low, .high = &a->high};
  const uint32_t axes = x->rank - 2, missing = VT_CPU_AXES - axes;
  *out = (vt_cpu_direct_conv){.dtype = x->dtype,
                              .images = x->dim[0],
                              .groups = a->groups,
                              .rows = w->dim[0] / a->groups,
                              .depth = w->dim[1],
                              .x = x->data,
                              .w = w->data,
                              .bias = c->n_in > 2 ? c->in[2].data : NULL,
                              .y = y->data,
                              .x_image = x->stride[0],
                              .x_channel = x->stride[1],
                              .w_group = w->dim[0] / a->groups * w->stride[0],
                              .w_row = w->stride[0],
                              .w_channel = w->stride[1],
                              .y_image = y->stride[0],
                              .y_channel = y->stride[1],
                              .bias_step = c->n_in > 2 ? c->in[2].stride[0] : 0,
                              .epilogue = c->epilogue};
  vt_cpu_conv_read_axes(x, &l, w->dim + 2, y->dim + 2, out->axis);
  for (uint32_t i = 0; i < axes; i++) {
    out->axis[missing + i].weight = w->stride[2 + i];
    out->axis[missing + i].out = y->stride[2 + i];
  }
  vt_cpu_conv_join_axes(out->axis);
}

uint64_t vt_cpu_scratch_conv(const vt_cpu_call *c) {
  vt_cpu_direct_conv s;
  read_step(c, &s);
  return vt_cpu_direct_conv_scratch_bytes(c->team, &s);
}

uint64_t vt_cpu_cache_bytes_conv(const vt_cpu_call *c) {
  vt_cpu_direct_conv s;
  read_step(c, &s);
  return vt_cpu_bytes_to_cache(c, 1, vt_cpu_direct_conv_pack_bytes(c->team, &s));
}

vt_status vt_cpu_run_conv(vt_cpu_call *c) {
  vt_cpu_direct_conv s;
  int stale;
  read_step(c, &s);
  void *panels = vt_cpu_cached_data(c, 1, &stale);
  if (panels != NULL && stale) vt_cpu_direct_conv_pack(c->team, &s, panels);
  s.packed = panels;
  vt_cpu_direct_conv_run(c->team, &s, c->work);
  return VT_OK;
}
