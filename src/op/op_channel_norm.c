/* SPDX-License-Identifier: Apache-2.0
 * op_channel_norm.c - norms of x [N, C, ...] with one gamma and beta per channel: group_norm,
 * instance_norm, batch_norm in training and in inference. Each is written twice: as ops (the
 * definition) and as a kernel that computes one index set (the elements that are normalised
 * together) after the other. In formulas S is the ordered sum of docs/numerics.md, h the
 * normalised x before gamma and beta, r = 1/sqrt(variance + eps), dy the gradient of the result. */
#include "op_norm.h"
#include "vt_num.h"

/* ---- shapes ---- */

static vt_status check_channels(const vt_rule *r, uint32_t least_rank, vt_diag *d) {
  const vt_type *x = &r->in[0];
  char tx[VT_TYPE_TEXT], tg[VT_TYPE_TEXT];
  if (x->rank < least_rank)
    return VT_FAIL(d, VT_VERIFY, "operand 1 is %s, expected %s", vt_type_text(r->dims, x, tx),
                   least_rank == 2 ? "[N, C, ...]" : "[N, C, ...] with a spatial axis");
  for (uint32_t i = 1; i < r->n_in; i++)
    if (r->in[i].rank != 1 || r->in[i].dim[0] != x->dim[1])
      return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected one number for each channel of %s",
                     i + 1, vt_type_text(r->dims, &r->in[i], tg), vt_type_text(r->dims, x, tx));
  return VT_OK;
}

vt_status shape_group_norm(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t groups = ((const vt_attr_groups *)r->attrs)->groups;
  int64_t unused;
  char tx[VT_TYPE_TEXT];
  VT_TRY(check_channels(r, 2, d));
  if (groups < 1 || groups > VT_DIM_MAX)
    return VT_FAIL(d, VT_VERIFY, "groups=%lld: at least 1", (long long)groups);
  if (vt_dim_div(r->dims, r->in[0].dim[1], groups, &unused, NULL) != VT_OK)
    return VT_FAIL(d, VT_VERIFY, "the channels of %s do not divide into %lld groups",
                   vt_type_text(r->dims, &r->in[0], tx), (long long)groups);
  *out = r->in[0];
  return VT_OK;
}

vt_status shape_instance_norm(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(check_channels(r, 3, d));
  *out = r->in[0];
  return VT_OK;
}

/* The axes over which the mean and variance of a channel are computed, as a bit mask: all but axis
 * 1. */
static unsigned all_but_channels(uint32_t rank) { return ((1u << rank) - 1) & ~2u; }

static vt_status check_has_variance(const vt_rule *r, vt_diag *d) {
  const vt_type *x = &r->in[0];
  char tx[VT_TYPE_TEXT];
  /* a symbolic length is checked again once it is bound */
  for (uint32_t i = 0; i < x->rank; i++)
    if (i != 1 && x->dim[i] != 1) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "%s has one element for each channel: it has no variance",
                 vt_type_text(r->dims, x, tx));
}

vt_status shape_batch_norm(const vt_rule *r, vt_type *out, vt_diag *d) {
  const double momentum = ((const vt_attr_batch_norm *)r->attrs)->momentum;
  VT_TRY(check_channels(r, 2, d));
  VT_TRY(check_has_variance(r, d));
  if (!(momentum >= 0.0 && momentum <= 1.0))
    return VT_FAIL(d, VT_VERIFY, "momentum=%g is not in 0..1", momentum);
  out[0] = r->in[0];
  out[1] = r->in[3];
  out[2] = r->in[4];
  return VT_OK;
}

vt_status shape_batch_norm_inference(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(check_channels(r, 2, d));
  *out = r->in[0];
  return VT_OK;
}

/* ---- as ops ---- */

/* Reshapes v, which has one number per channel, so that it broadcasts along axis 1 of x. */
static uint32_t align_with_channels(vt_builder *b, uint32_t v, uint32_t x) {
  const vt_type *t = b->type(b, x);
  return t == NULL ? VT_NO_VALUE : vt_build_restore_axes(b, v, x, all_but_channels(t->rank));
}

/* (y * gamma) + beta, without the operand gamma or beta if the node does not have it */
static uint32_t apply_affine(vt_builder *b, uint32_t y, const uint32_t *in, uint32_t n_in) {
  if (n_in > 1) y = vt_build2(b, VT_OP_mul, y, align_with_channels(b, in[1], in[0]));
  return n_in > 2 ? vt_build2(b, VT_OP_add, y, align_with_channels(b, in[2], in[0])) : y;
}

/* Reshapes x to [N, G, M], so that each index set of a group_norm or instance_norm is one line of
 * the last axis. An empty x keeps its shape, because there is nothing to reduce. */
static uint32_t reshape_by_groups(vt_builder *b, uint32_t x, int64_t groups) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const int64_t all = vt_axes_element_count(t->rank, t->dim, ~1u);
  if (vt_axes_element_count(t->rank, t->dim, ~0u) == 0) return x;
  return vt_build_reshape(b, x, 3, (const int64_t[3]){t->dim[0], groups, all / groups});
}

static uint32_t reshape_like(vt_builder *b, uint32_t y, uint32_t x) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const vt_type to = *t;
  return vt_build_reshape(b, y, to.rank, to.dim);
}

static unsigned last_axis_mask(const vt_builder *b, uint32_t x) {
  const vt_type *t = b->type(b, x);
  return t == NULL ? 0 : 1u << (t->rank - 1);
}

static uint32_t lower_norm_of_groups(const vt_lowering *l, int64_t groups, double eps) {
  vt_builder *b = l->b;
  const uint32_t x = reshape_by_groups(b, l->in[0], groups);
  const vt_norm_parts p = vt_build_norm(b, x, last_axis_mask(b, x), eps, 1);
  const uint32_t y = reshape_like(b, vt_build2(b, VT_OP_mul, p.d, p.r), l->in[0]);
  return apply_affine(b, y, l->in, l->n_in);
}

uint32_t lower_group_norm(const vt_lowering *l) {
  const vt_attr_groups *a = l->attrs;
  return lower_norm_of_groups(l, a->groups, a->eps);
}

uint32_t lower_instance_norm(const vt_lowering *l) {
  const vt_type *x = l->b->type(l->b, l->in[0]);
  const double eps = ((const vt_attr_norm *)l->attrs)->eps;
  return x == NULL ? VT_NO_VALUE : lower_norm_of_groups(l, x->dim[1], eps);
}

/* ((1 - momentum)*old) + (momentum*next), with next reshaped like old */
static uint32_t build_running_average(vt_builder *b, uint32_t old, uint32_t next, double momentum) {
  const uint32_t flat = reshape_like(b, next, old);
  const uint32_t keep = vt_build_scalar_of_same_dtype(b, old, 1.0 - momentum);
  const uint32_t weight = vt_build_scalar_of_same_dtype(b, old, momentum);
  const uint32_t kept = vt_build2(b, VT_OP_mul, keep, old);
  return vt_build2(b, VT_OP_add, kept, vt_build2(b, VT_OP_mul, weight, flat));
}

uint32_t lower_batch_norm(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_attr_batch_norm *a = l->attrs;
  const vt_type *t = b->type(b, l->in[0]);
  if (t == NULL) return VT_NO_VALUE;
  const uint32_t dtype = t->dtype;
  const unsigned mask = all_but_channels(t->rank);
  const int64_t n = vt_axes_element_count(t->rank, t->dim, mask);
  const vt_norm_parts p = vt_build_norm(b, l->in[0], mask, a->eps, 1);
  const uint32_t v = vt_build2(b, VT_OP_div, p.squares, vt_build_int(b, dtype, n - 1));
  l->out[1] = build_running_average(b, l->in[3], p.u, a->momentum);
  l->out[2] = build_running_average(b, l->in[4], v, a->momentum);
  return apply_affine(b, vt_build2(b, VT_OP_mul, p.d, p.r), l->in, 3);
}

typedef struct stored_norm { /* graph values of batch_norm_inference, which uses the running mean
                                and variance: h = (x - mean)*r */
  uint32_t h, r;
} stored_norm;

static stored_norm build_norm_by_running_moments(vt_builder *b, const uint32_t *in, double eps) {
  const uint32_t mean = align_with_channels(b, in[3], in[0]),
                 var = align_with_channels(b, in[4], in[0]);
  const uint32_t dev = vt_build2(b, VT_OP_sub, in[0], mean);
  const uint32_t shifted = vt_build2(b, VT_OP_add, var, vt_build_scalar_of_same_dtype(b, var, eps));
  const uint32_t root = vt_build1(b, VT_OP_sqrt, shifted);
  stored_norm s = {.r = vt_build2(b, VT_OP_div, vt_build_scalar_of_same_dtype(b, var, 1.0), root)};
  s.h = vt_build2(b, VT_OP_mul, dev, s.r);
  return s;
}

uint32_t lower_batch_norm_inference(const vt_lowering *l) {
  const stored_norm s =
      build_norm_by_running_moments(l->b, l->in, ((const vt_attr_norm *)l->attrs)->eps);
  return apply_affine(l->b, s.h, l->in, 3);
}

/* ---- gradients ---- */

/* S(each) of each channel, the sum over all axes but axis 1, reshaped to the shape of `like`, which
 * has one element for each channel. */
static uint32_t sum_per_channel(vt_builder *b, uint32_t each, uint32_t like) {
  const vt_type *t = b->type(b, each);
  if (t == NULL) return VT_NO_VALUE;
  return reshape_like(b, vt_build_reduce_over(b, VT_OP_sum, each, all_but_channels(t->rank)), like);
}

/* dgamma = S(dy*h), dbeta = S(dy) */
static void grad_affine(const vt_gradient *g, uint32_t h) {
  vt_builder *b = g->b;
  if (g->n_in > 1)
    g->d_in[1] = sum_per_channel(b, vt_build2(b, VT_OP_mul, g->d_out[0], h), g->in[1]);
  if (g->n_in > 2) g->d_in[2] = sum_per_channel(b, g->d_out[0], g->in[2]);
}

/* dy*gamma, or dy if the node has no gamma */
static uint32_t dy_times_gamma(const vt_gradient *g) {
  if (g->n_in < 2) return g->d_out[0];
  const uint32_t gamma = align_with_channels(g->b, g->in[1], g->in[0]);
  return vt_build2(g->b, VT_OP_mul, g->d_out[0], gamma);
}

static void grad_norm_of_groups(const vt_gradient *g, int64_t groups, double eps) {
  vt_builder *b = g->b;
  const uint32_t x = reshape_by_groups(b, g->in[0], groups);
  const unsigned mask = last_axis_mask(b, x);
  const vt_norm_parts p = vt_build_norm(b, x, mask, eps, 1);
  const uint32_t a = reshape_like(b, dy_times_gamma(g), x);
  const uint32_t dx = vt_build_norm_gradient(b, &p, a, mask, 1);
  g->d_in[0] = reshape_like(b, dx, g->in[0]);
  grad_affine(g, reshape_like(b, vt_build2(b, VT_OP_mul, p.d, p.r), g->in[0]));
}

void grad_group_norm(const vt_gradient *g) {
  const vt_attr_groups *a = g->attrs;
  grad_norm_of_groups(g, a->groups, a->eps);
}

void grad_instance_norm(const vt_gradient *g) {
  const vt_type *x = g->b->type(g->b, g->in[0]);
  if (x != NULL) grad_norm_of_groups(g, x->dim[1], ((const vt_attr_norm *)g->attrs)->eps);
}

/* The operands running mean and running variance get no gradient. */
void grad_batch_norm(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_type *t = b->type(b, g->in[0]);
  if (t == NULL || g->d_out[0] == VT_NO_VALUE) return;
  vt_gradient shared = *g;
  shared.n_in = 3;
  const unsigned mask = all_but_channels(t->rank);
  const double eps = ((const vt_attr_batch_norm *)g->attrs)->eps;
  const vt_norm_parts p = vt_build_norm(b, g->in[0], mask, eps, 1);
  g->d_in[0] = vt_build_norm_gradient(b, &p, dy_times_gamma(&shared), mask, 1);
  grad_affine(&shared, vt_build2(b, VT_OP_mul, p.d, p.r));
}

void grad_batch_norm_inference(const vt_gradient *g) {
  vt_gradient shared = *g;
  shared.n_in = 3;
  const stored_norm s =
      build_norm_by_running_moments(g->b, g->in, ((const vt_attr_norm *)g->attrs)->eps);
  g->d_in[0] = vt_build2(g->b, VT_OP_mul, dy_times_gamma(&shared), s.r);
  grad_affine(&shared, s.h);
}

/* ---- second implementation: one index set after the other ---- */

/* Starts a walk over one index set of y and x: the axes of `mask`, with `channels` as the length of
 * axis 1. The walk also visits the first n_affine of the operands gamma and beta, which advance
 * along axis 1 only. */
static vt_walk walk_of_set(const vt_kernel *k, unsigned mask, int64_t channels, uint32_t n_affine) {
  const vt_view *x = &k->in[0];
  int64_t dim[VT_MAX_RANK];
  uint32_t rank = 0;
  vt_walk w;
  for (uint32_t i = 0; i < x->rank; i++)
    if (mask >> i & 1) dim[rank++] = i == 1 ? channels : x->dim[i];
  vt_walk_init(&w, rank, dim);
  w.n_views = 2 + n_affine;
  for (uint32_t v = 0; v < w.n_views; v++) {
    const vt_view *view = v == 0 ? k->out : &k->in[v - 1];
    rank = 0;
    for (uint32_t i = 0; i < x->rank; i++)
      if (mask >> i & 1)
        w.stride[v][rank++] = v < 2 ? view->stride[i] : i == 1 ? view->stride[0] : 0;
  }
  return w;
}

static const char *element_at(const vt_view *v, int64_t at) {
  return (const char *)v->data + at * (int64_t)vt_dtype_bytes(v->dtype);
}

/* Normalises the index set whose first element is channel c of sample n. */
static void norm_one_set(const vt_kernel *k, vt_norm_set *s, int64_t n, int64_t c) {
  const vt_view *x = &k->in[0], *y = k->out;
  s->x = element_at(x, n * x->stride[0] + c * x->stride[1]);
  s->y =
      (char *)y->data + (n * y->stride[0] + c * y->stride[1]) * (int64_t)vt_dtype_bytes(y->dtype);
  s->gamma = s->walk.n_views > 2 ? element_at(&k->in[1], c * k->in[1].stride[0]) : NULL;
  s->beta = s->walk.n_views > 3 ? element_at(&k->in[2], c * k->in[2].stride[0]) : NULL;
  vt_norm_set_run(s, x->dtype);
}

static vt_status norm_all_groups(const vt_kernel *k, int64_t channels_per_group, double eps) {
  const vt_view *x = &k->in[0];
  const unsigned mask = ((1u << x->rank) - 1) & ~1u;
  vt_norm_set s = {.eps = eps, .centred = 1};
  if (vt_view_count(x) == 0) return VT_OK;
  s.walk = walk_of_set(k, mask, channels_per_group, k->n_in - 1);
  for (int64_t n = 0; n < x->dim[0]; n++)
    for (int64_t c = 0; c < x->dim[1]; c += channels_per_group) norm_one_set(k, &s, n, c);
  return VT_OK;
}

vt_status kernel_group_norm(vt_kernel *k) {
  const vt_attr_groups *a = k->attrs;
  return norm_all_groups(k, k->in[0].dim[1] / a->groups, a->eps);
}

vt_status kernel_instance_norm(vt_kernel *k) {
  return norm_all_groups(k, 1, ((const vt_attr_norm *)k->attrs)->eps);
}

/* Stores element c of the running mean or variance: (1 - w)*old + w*next. */
static void store_running_average(const vt_view *to, const vt_view *old, int64_t c, double next,
                                  double w) {
  if (to->dtype == VT_DTYPE_F32) {
    const float was = ((const float *)old->data)[c * old->stride[0]];
    ((float *)to->data)[c * to->stride[0]] = ((float)(1.0 - w) * was) + ((float)w * (float)next);
  } else {
    const double was = ((const double *)old->data)[c * old->stride[0]];
    ((double *)to->data)[c * to->stride[0]] = ((1.0 - w) * was) + (w * next);
  }
}

static double unbiased_variance(uint32_t dtype, double squares, int64_t n) {
  if (dtype == VT_DTYPE_F64) return squares / (double)(n - 1);
  return (double)((float)squares / (float)(n - 1));
}

vt_status kernel_batch_norm(vt_kernel *k) {
  const vt_attr_batch_norm *a = k->attrs;
  const vt_view *x = &k->in[0];
  vt_norm_set s = {.eps = a->eps, .centred = 1};
  s.walk = walk_of_set(k, all_but_channels(x->rank), 0, 2);
  for (int64_t c = 0; c < x->dim[1]; c++) {
    norm_one_set(k, &s, 0, c);
    store_running_average(&k->out[1], &k->in[3], c, s.mean, a->momentum);
    store_running_average(&k->out[2], &k->in[4], c,
                          unbiased_variance(x->dtype, s.squares, s.walk.count), a->momentum);
  }
  return VT_OK;
}

/* Computes channel c of batch_norm_inference. The walk w visits the elements of y and x; every
 * other operand has one number per channel. */
static void run_inference_f32(const vt_kernel *k, vt_walk w, int64_t c, float eps) {
  const vt_view *x = &k->in[0], *y = k->out;
  float v[5] = {0};
  for (uint32_t i = 1; i < 5; i++) v[i] = ((const float *)k->in[i].data)[c * k->in[i].stride[0]];
  const float r = 1.0f / vt_f32_sqrt(v[4] + eps);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const float dev = ((const float *)x->data)[c * x->stride[1] + w.at[1]] - v[3];
    ((float *)y->data)[c * y->stride[1] + w.at[0]] = ((dev * r) * v[1]) + v[2];
  }
}

static void run_inference_f64(const vt_kernel *k, vt_walk w, int64_t c, double eps) {
  const vt_view *x = &k->in[0], *y = k->out;
  double v[5] = {0};
  for (uint32_t i = 1; i < 5; i++) v[i] = ((const double *)k->in[i].data)[c * k->in[i].stride[0]];
  const double r = 1.0 / vt_f64_sqrt(v[4] + eps);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const double dev = ((const double *)x->data)[c * x->stride[1] + w.at[1]] - v[3];
    ((double *)y->data)[c * y->stride[1] + w.at[0]] = ((dev * r) * v[1]) + v[2];
  }
}

vt_status kernel_batch_norm_inference(vt_kernel *k) {
  const double eps = ((const vt_attr_norm *)k->attrs)->eps;
  const vt_walk w = walk_of_set(k, all_but_channels(k->in[0].rank), 0, 0);
  for (int64_t c = 0; c < k->in[0].dim[1]; c++) {
    if (k->out->dtype == VT_DTYPE_F32) {
      run_inference_f32(k, w, c, (float)eps);
    } else {
      run_inference_f64(k, w, c, eps);
    }
  }
  return VT_OK;
}
