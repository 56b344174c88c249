/* SPDX-License-Identifier: Apache-2.0
 * cpu_conv_int.c - the op conv_int as an integer product: weights are rows, output places are
 * columns. Padding holds the zero point of x, so that it adds 0. */
#include "cpu_conv.h"
#include "cpu_int.h"
#include "cpu_move.h"

typedef struct conv_int {
  const vt_cpu_call *c;
  vt_cpu_direct_conv s;
  int64_t places;
} conv_int;

static void copy_byte_rows(void *to, int64_t to_row, const void *from, int64_t from_row,
                           int64_t step, int64_t rows, int64_t n) {
  uint8_t *y = to;
  const uint8_t *x = from;
  for (int64_t i = 0; i < rows; i++, y += to_row, x += from_row)
    for (int64_t j = 0; j < n; j++) y[j] = x[j * step];
}
static const vt_cpu_conv_type byte_type = {.bytes = 1, .copy = copy_byte_rows};

/* Gathers a panel of columns into `scratch` as [k][count]. */
static vt_cpu_bytes gather_columns(const void *context, int64_t product, int64_t first,
                                   int64_t count, void *scratch) {
  const conv_int *v = context;
  const vt_cpu_direct_conv *s = &v->s;
  const int64_t image = product / s->groups, channel = product % s->groups * s->depth;
  const char *x = (const char *)s->x + image * s->x_image + channel * s->x_channel;
  const vt_cpu_columns all = {0, s->depth * vt_cpu_tap_count(s->axis), first, count, count};
  vt_cpu_gather_columns(s, x, &all, scratch, &byte_type);
  return (vt_cpu_bytes){scratch, count, 1};
}

/* The weights of one group as rows, with (channel, tap...) along k. The weights must be dense;
 * others are copied beforehand. */
static vt_cpu_bytes get_weight_rows(const void *context, int64_t group) {
  const conv_int *v = context;
  return (vt_cpu_bytes){(const uint8_t *)v->s.w + group * v->s.w_group, 1, v->s.w_row};
}

/* The zero points or biases in operand number `operand`, from output channel `first_channel` on;
 * the operand may be a scalar. */
static vt_cpu_numbers numbers_of_channels(const vt_cpu_call *c, uint32_t operand,
                                          int64_t first_channel) {
  if (c->n_in <= operand) return (vt_cpu_numbers){.data = NULL};
  const vt_view *v = &c->in[operand];
  const int64_t step = v->rank == 0 || v->dim[0] == 1 ? 0 : v->stride[0];
  const int64_t at = first_channel * step * (int64_t)vt_cpu_bytes_of(v->dtype);
  return (vt_cpu_numbers){(const char *)v->data + at, v->dtype, step};
}

static void get_result_place(const void *context, int64_t product, vt_cpu_int_place *out) {
  const conv_int *v = context;
  const int64_t group = product % v->s.groups;
  *out = (vt_cpu_int_place){.y = (int32_t *)v->s.y + product * v->s.rows * v->places,
                            .row = v->places,
                            .za = numbers_of_channels(v->c, 3, group * v->s.rows),
                            .zb = numbers_of_channels(v->c, 2, 0),
                            .row_bias = numbers_of_channels(v->c, 4, group * v->s.rows)};
}

static void read_step(const vt_cpu_call *c, conv_int *v, vt_cpu_int_products *out) {
  const vt_attr_conv_int *a = c->attrs;
  const vt_view *x = &c->in[0], *w = &c->in[1], *y = c->out;
  const vt_window_lists l = {
      .stride = &a->stride, .dilation = &a->dilation, .low = &a->low, .high = &a->high};
  const int64_t outputs = w->dim[0] / a->groups;
  *v = (conv_int){.c = c,
                  .places = 1,
                  .s = {.images = x->dim[0],
                        .groups = a->groups,
                        .rows = outputs,
                        .depth = w->dim[1],
                        .x = x->data,
                        .w = w->data,
                        .y = y->data,
                        .x_image = x->stride[0],
                        .x_channel = x->stride[1]}};
  vt_cpu_conv_read_axes(x, &l, w->dim + 2, y->dim + 2, v->s.axis);
  vt_cpu_conv_join_axes(v->s.axis);
  for (uint32_t i = 2; i < y->rank; i++) v->places *= y->dim[i];
  const int64_t k = w->dim[1] * vt_cpu_tap_count(v->s.axis);
  v->s.w_row = k;
  v->s.w_group = outputs * k;
  *out = (vt_cpu_int_products){.products = x->dim[0] * a->groups,
                               .m = outputs,
                               .n = v->places,
                               .k = k,
                               .row_sets = a->groups,
                               .row_type = w->dtype,
                               .column_type = x->dtype,
                               .scratch_bytes = (uint64_t)k * VT_CPU_INT_COLUMNS_MAX,
                               .rows = get_weight_rows,
                               .columns = gather_columns,
                               .place = get_result_place,
                               .context = v};
}

/* A weight that is not dense is copied to dense scratch first. */
static uint64_t bytes_of_dense_copy(const vt_view *w) {
  return vt_cpu_is_dense(w) ? 0 : vt_cpu_round_to_line((uint64_t)vt_cpu_count(w));
}

uint64_t vt_cpu_scratch_conv_int(const vt_cpu_call *c) {
  conv_int v;
  vt_cpu_int_products all;
  if (vt_cpu_count(c->out) == 0) return 0;
  read_step(c, &v, &all);
  return bytes_of_dense_copy(&c->in[1]) + vt_cpu_int_scratch_bytes(c->team, &all);
}

uint64_t vt_cpu_cache_bytes_conv_int(const vt_cpu_call *c) {
  conv_int v;
  vt_cpu_int_products all;
  read_step(c, &v, &all);
  return vt_cpu_bytes_to_cache(c, 1, vt_cpu_int_packed_rows_bytes(c->team, &all));
}

static void copy_weights_dense(const vt_cpu_call *c, conv_int *v) {
  vt_view dense = c->in[1];
  int64_t step = 1;
  for (uint32_t i = dense.rank; i-- > 0; step *= dense.dim[i]) dense.stride[i] = step;
  dense.data = c->work;
  vt_cpu_copy(c->team, &dense, &c->in[1]);
  v->s.w = c->work;
}

vt_status vt_cpu_run_conv_int(vt_cpu_call *c) {
  const uint64_t dense = bytes_of_dense_copy(&c->in[1]);
  conv_int v;
  vt_cpu_int_products all;
  int stale;
  if (vt_cpu_count(c->out) == 0) return VT_OK;
  read_step(c, &v, &all);
  if (c->n_in > 2) v.s.outside = *(const uint8_t *)c->in[2].data;
  void *panels = vt_cpu_cached_data(c, 1, &stale);
  if (dense > 0 && stale) copy_weights_dense(c, &v);
  if (panels != NULL && stale) vt_cpu_int_rows_pack(c->team, &all, panels);
  all.packed_rows = panels;
  vt_cpu_int_multiply(c->team, &all, (char *)c->work + dense);
  return VT_OK;
}
