/* SPDX-License-Identifier: Apache-2.0
 * cpu_norm.c - the ops layer_norm, rms_norm, group_norm, instance_norm, batch_norm in training and
 * in inference, var and std. */
#include <string.h>
#include "cpu_rows.h"
#include "vt_num.h"

static const vt_cpu_rows *row_kernels_of(const vt_cpu_rowwise *r) {
  return &r->call->team->kernels->reductions->rows[r->dtype];
}

/* ---- gamma and beta ---- */

/* Returns the elements of operand i (gamma or beta) without gaps: in place, or copied to *scratch,
 * which then advances. NULL if the step lacks the operand. */
static const void *weights_without_gaps(const vt_cpu_call *c, uint32_t i, char **scratch) {
  if (i >= c->n_in) return NULL;
  const vt_view *v = &c->in[i];
  const int64_t size = (int64_t)vt_cpu_bytes_of(v->dtype);
  vt_cpu_axes a;
  int64_t at, none;
  vt_cpu_axes_select(v, NULL, ~0u, &a);
  if (a.count <= 1 || (a.n == 1 && a.x[0] == 1)) return v->data;
  char *to = *scratch;
  for (int64_t k = 0, run; k < a.count; k += run) {
    run = vt_cpu_axes_count_evenly_spaced(&a, k, a.count - k);
    vt_cpu_axes_offsets(&a, k, &at, &none);
    vt_cpu_copy_line(to + k * size, size, (const char *)v->data + at * size, a.x[a.n - 1] * size,
                     size, run);
  }
  *scratch += vt_cpu_round_up(a.count * size, VT_CPU_LINE);
  return to;
}

/* Bytes of scratch for the copies that weights_without_gaps may make; reserved even if none is
 * made, because they are few. */
static int64_t weight_copies_bytes(const vt_cpu_call *c) {
  int64_t bytes = 0;
  for (uint32_t i = 1; i < c->n_in; i++)
    bytes += vt_cpu_round_up(vt_cpu_count(&c->in[i]) * (int64_t)vt_cpu_bytes_of(c->in[i].dtype),
                             VT_CPU_LINE);
  return bytes;
}

/* ---- views: the rows of each op, and the gamma and beta of a row ---- */

static void layer_or_rms_norm_row(const vt_cpu_rowwise *r, int64_t line, const void *x, void *y) {
  (void)line;
  row_kernels_of(r)->norm(&r->norm, x, y, NULL);
}

static void init_layer_or_rms_norm_rows(vt_cpu_rowwise *r, const vt_cpu_call *c) {
  const vt_view *x = &c->in[0];
  const uint32_t lead = x->rank - (c->n_in > 1 ? c->in[1].rank : 1);
  vt_cpu_rows_init(r, c, ~0u << lead);
  r->row = layer_or_rms_norm_row;
  r->norm = (vt_cpu_norm){.n = r->n,
                          .eps = ((const vt_attr_norm *)c->attrs)->eps,
                          .centred = c->step->op == VT_OP_layer_norm,
                          .shared_by = 1};
}

/* A row of group_norm is (channels of the group, spatial axes); each channel of a row has its own
 * gamma and beta. */
static void group_norm_row(const vt_cpu_rowwise *r, int64_t line, const void *x, void *y) {
  const int64_t channels = r->n / r->norm.shared_by, groups = r->call->in[0].dim[1] / channels;
  const int64_t skip = line % groups * channels * r->size;
  vt_cpu_norm p = r->norm;
  if (p.gamma != NULL) p.gamma = (const char *)p.gamma + skip;
  if (p.beta != NULL) p.beta = (const char *)p.beta + skip;
  row_kernels_of(r)->norm(&p, x, y, NULL);
}

/* x [N, C, ...] as [N, groups][C/groups, ...]; the last axes form a row. */
static void init_group_norm_rows(vt_cpu_rowwise *r, const vt_cpu_call *c) {
  const int by_group = c->step->op == VT_OP_group_norm;
  const vt_view *x = &c->in[0], *y = c->out;
  const int64_t groups = by_group ? ((const vt_attr_groups *)c->attrs)->groups : x->dim[1];
  const int64_t channels = groups > 0 ? x->dim[1] / groups : 0;
  vt_cpu_rows_init(r, c, ~3u);
  r->row = group_norm_row;
  r->norm = (vt_cpu_norm){.eps = by_group ? ((const vt_attr_groups *)c->attrs)->eps
                                          : ((const vt_attr_norm *)c->attrs)->eps,
                          .centred = 1,
                          .shared_by = r->n};
  memset(&r->along, 0, sizeof r->along);
  memset(&r->lines, 0, sizeof r->lines);
  vt_cpu_axes_append(&r->lines, x->dim[0], x->stride[0], y->stride[0]);
  vt_cpu_axes_append(&r->lines, groups, x->stride[1] * channels, y->stride[1] * channels);
  vt_cpu_axes_append(&r->along, channels, x->stride[1], y->stride[1]);
  for (uint32_t i = 2; i < x->rank; i++)
    vt_cpu_axes_append(&r->along, x->dim[i], x->stride[i], y->stride[i]);
  r->n = r->norm.n = r->along.count;
}

/* ---- batch_norm in training ---- */

/* Stores the running statistic (1 - w)*old + w*next of a channel, where w is next_weight,
 * computed in the type of the statistic. */
static void store_running_statistic(const vt_view *to, const vt_view *old, int64_t channel,
                                    double next, double next_weight) {
  if (to->dtype == VT_DTYPE_F32) {
    const float was = ((const float *)old->data)[channel * old->stride[0]];
    ((float *)to->data)[channel * to->stride[0]] =
        ((float)(1.0 - next_weight) * was) + ((float)next_weight * (float)next);
  } else {
    const double was = ((const double *)old->data)[channel * old->stride[0]];
    ((double *)to->data)[channel * to->stride[0]] =
        ((1.0 - next_weight) * was) + (next_weight * next);
  }
}

static double divide_in_type(uint32_t dtype, double a, int64_t b) {
  return dtype == VT_DTYPE_F64 ? a / (double)b : (double)((float)a / (float)b);
}

/* A row of batch_norm is a channel. */
static void batch_norm_row(const vt_cpu_rowwise *r, int64_t line, const void *x, void *y) {
  const vt_cpu_call *c = r->call;
  const double w = ((const vt_attr_batch_norm *)c->attrs)->momentum;
  vt_cpu_norm p = r->norm;
  vt_cpu_moments m;
  p.gamma = (const char *)p.gamma + line * r->size;
  p.beta = (const char *)p.beta + line * r->size;
  row_kernels_of(r)->norm(&p, x, y, &m);
  store_running_statistic(&c->out[1], &c->in[3], line, m.mean, w);
  store_running_statistic(&c->out[2], &c->in[4], line,
                          divide_in_type(r->dtype, m.squares, r->n - 1), w);
}

static void init_batch_norm_rows(vt_cpu_rowwise *r, const vt_cpu_call *c) {
  vt_cpu_rows_init(r, c, ~2u);
  r->row = batch_norm_row;
  r->norm = (vt_cpu_norm){.n = r->n,
                          .eps = ((const vt_attr_batch_norm *)c->attrs)->eps,
                          .centred = 1,
                          .shared_by = r->n};
}

/* ---- var and std ---- */

static void variance_row(const vt_cpu_rowwise *r, int64_t line, const void *x, void *y) {
  const int64_t left = r->n - ((const vt_attr_var *)r->call->attrs)->correction;
  const int roots = r->call->step->op == VT_OP_std;
  vt_cpu_moments m;
  (void)line;
  row_kernels_of(r)->moments(x, r->n, &m);
  const double v = divide_in_type(r->dtype, m.squares, left);
  if (r->dtype == VT_DTYPE_F32) {
    *(float *)y = roots ? vt_f32_sqrt((float)v) : (float)v;
  } else {
    *(double *)y = roots ? vt_f64_sqrt(v) : v;
  }
}

static void init_variance_rows(vt_cpu_rowwise *r, const vt_cpu_call *c) {
  vt_cpu_rows_init(r, c, vt_cpu_axis_mask(&((const vt_attr_var *)c->attrs)->axes, c->in[0].rank));
  r->row = variance_row;
  r->one = 1;
}

/* ---- all of them ---- */

static void init_rows(vt_cpu_rowwise *r, const vt_cpu_call *c) {
  switch (c->step->op) {
    case VT_OP_group_norm:
    case VT_OP_instance_norm:
      init_group_norm_rows(r, c);
      break;
    case VT_OP_batch_norm:
      init_batch_norm_rows(r, c);
      break;
    case VT_OP_var:
    case VT_OP_std:
      init_variance_rows(r, c);
      break;
    default:
      init_layer_or_rms_norm_rows(r, c);
  }
  r->cost = 0.3;
  r->head = weight_copies_bytes(c);
}

uint64_t vt_cpu_scratch_norm(const vt_cpu_call *c) {
  vt_cpu_rowwise r;
  init_rows(&r, c);
  return vt_cpu_rows_scratch_bytes(&r);
}

vt_status vt_cpu_run_norm(vt_cpu_call *c) {
  vt_cpu_rowwise r;
  init_rows(&r, c);
  if (!r.one) {
    char *scratch = c->work;
    r.norm.gamma = weights_without_gaps(c, 1, &scratch);
    r.norm.beta = weights_without_gaps(c, 2, &scratch);
  }
  vt_cpu_rows_run(c, &r);
  return VT_OK;
}
