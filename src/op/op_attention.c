/* SPDX-License-Identifier: Apache-2.0
 * op_attention.c - attention: q (B,H,Tq,d), k (B,G,Tk,d), v (B,G,Tk,e) -> (B,H,Tq,e).
 * Head h reads key head floor(h*G/H). With `causal`, query i sees keys 0 .. i + (Tk - Tq). A key
 * that a query may not see is absent: it keeps its place in the numbering of S and D, counts +0 in
 * S, and its product with v is not formed whatever v holds. A query without any key gives +0. */
#include "op_rows.h"
#include "vt_num.h"

/* ---- shape ---- */

/* Whether one symbolic number of heads divides another cannot be told, unless they are the same. */
static int heads_known(const vt_type *q, const vt_type *k) {
  return !vt_dim_is_symbolic(q->dim[1]) && !vt_dim_is_symbolic(k->dim[1]);
}

static int heads_fit(const vt_type *q, const vt_type *k) {
  if (!heads_known(q, k)) return q->dim[1] == k->dim[1];
  return k->dim[1] > 0 && q->dim[1] % k->dim[1] == 0;
}

vt_status shape_attention(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_type *q = &r->in[0], *k = &r->in[1], *v = &r->in[2];
  char tq[VT_TYPE_TEXT], tk[VT_TYPE_TEXT], tv[VT_TYPE_TEXT];
  int fits = q->rank == 4 && k->rank == 4 && v->rank == 4;
  for (uint32_t i = 0; fits && i < 3; i++) fits = k->dim[i] == v->dim[i];
  fits = fits && q->dim[0] == k->dim[0] && q->dim[3] == k->dim[3];
  if (((const vt_attr_attention *)r->attrs)->order != VT_ORDER_FMA256)
    return VT_FAIL(d, VT_VERIFY, "this order of a contraction does not exist");
  if (fits && !heads_known(q, k) && !heads_fit(q, k))
    return VT_FAIL(d, VT_VERIFY, "attention of q %s, k %s: head counts that differ must be numbers",
                   vt_type_text(r->dims, q, tq), vt_type_text(r->dims, k, tk));
  if (!fits || !heads_fit(q, k))
    return VT_FAIL(d, VT_VERIFY,
                   "attention of q %s, k %s, v %s: expected [B, H, Tq, d], [B, G, Tk, d], "
                   "[B, G, Tk, e] with H a multiple of G",
                   vt_type_text(r->dims, q, tq), vt_type_text(r->dims, k, tk),
                   vt_type_text(r->dims, v, tv));
  *out = *q;
  out->dim[3] = v->dim[3];
  return VT_OK;
}

/* ---- as ops ---- */

/* (B,G,R,T,d) for queries and (B,G,1,T,d) for keys, so that the group axis broadcasts. */
static uint32_t grouped(vt_builder *b, uint32_t x, int64_t groups) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const int64_t dim[5] = {t->dim[0], groups, groups ? t->dim[1] / groups : 0, t->dim[2], t->dim[3]};
  return vt_build_reshape(b, x, 5, dim);
}

static uint32_t iota_along(vt_builder *b, int64_t rows, int64_t columns, int64_t axis) {
  const vt_attr_iota a = {.size = sizeof a,
                          .shape = {.n = 2, .v = {rows, columns}},
                          .axis = axis,
                          .dtype = VT_DTYPE_I64};
  return b->node(b, VT_OP_iota, NULL, 0, &a);
}

/* present (Tq,Tk): key j <= i + (Tk - Tq) */
static uint32_t causal_mask(vt_builder *b, int64_t tq, int64_t tk) {
  const uint32_t shift = vt_build_int(b, VT_DTYPE_I64, tk - tq);
  const uint32_t last = vt_build2(b, VT_OP_add, iota_along(b, tq, 1, 0), shift);
  return vt_build2(b, VT_OP_le, iota_along(b, 1, tk, 1), last);
}

static uint32_t product(vt_builder *b, uint32_t x, uint32_t y, uint32_t present, int transpose) {
  const vt_attr_matmul a = {.size = sizeof a, .transpose_b = transpose, .order = VT_ORDER_FMA256};
  const uint32_t in[3] = {x, y, present};
  if (present == VT_NO_VALUE) return b->node(b, VT_OP_matmul, in, 2, &a);
  return b->node(b, VT_OP_matmul_masked, in, 3, &a);
}

/* e and its sum l from the scores; absent keys are selected away, never multiplied by 0. */
static uint32_t weigh(vt_builder *b, uint32_t s, uint32_t present, uint32_t *out_sum) {
  const uint32_t zero = vt_build_number(b, VT_DTYPE_F32, 0.0);
  const uint32_t least = vt_build_bits(b, VT_DTYPE_F32, 0xff800000u); /* -inf */
  const int masked = present != VT_NO_VALUE;
  const uint32_t seen = masked ? vt_build3(b, VT_OP_select, present, s, least) : s;
  const uint32_t m = vt_build_reduce(b, VT_OP_max, seen, 4, 1);
  uint32_t e = vt_build1(b, VT_OP_exp, vt_build2(b, VT_OP_sub, s, m));
  if (masked) e = vt_build3(b, VT_OP_select, present, e, zero);
  *out_sum = vt_build_reduce(b, VT_OP_sum, e, 4, 1);
  return e;
}

/* The default is 1 / sqrt(f32(d)), each operation rounded once. */
static uint32_t scale_of(vt_builder *b, const vt_attr_attention *a, int64_t d) {
  const float usual = 1.0f / vt_f32_sqrt((float)d);
  return vt_build_number(b, VT_DTYPE_F32, a->scale == 0.0 ? (double)usual : a->scale);
}

uint32_t lower_attention(const vt_lowering *l) {
  vt_builder *b = l->b;
  const vt_attr_attention *a = l->attrs;
  const vt_type *tq = b->type(b, l->in[0]), *tv = b->type(b, l->in[2]);
  if (tq == NULL || tv == NULL) return VT_NO_VALUE;
  const int64_t groups = tv->dim[1], queries = tq->dim[2], keys = tv->dim[2];
  const int64_t dim[4] = {tq->dim[0], tq->dim[1], queries, tv->dim[3]};
  const uint32_t scale = scale_of(b, a, tq->dim[3]);
  const uint32_t zero = vt_build_number(b, VT_DTYPE_F32, 0.0);
  if (keys == 0) return vt_build_broadcast(b, zero, 4, dim); /* no query has a key */
  const uint32_t q = grouped(b, l->in[0], groups), k = grouped(b, l->in[1], groups),
                 v = grouped(b, l->in[2], groups);
  const uint32_t s = vt_build2(b, VT_OP_mul, product(b, q, k, VT_NO_VALUE, 1), scale);
  const uint32_t present = a->causal ? causal_mask(b, queries, keys) : VT_NO_VALUE;
  uint32_t sum;
  const uint32_t e = weigh(b, s, present, &sum);
  uint32_t o = vt_build2(b, VT_OP_div, product(b, e, v, present, 0), sum);
  if (a->causal &&
      queries > keys) /* the first queries see nothing: their sum is 0, and only theirs */
    o = vt_build3(b, VT_OP_select, vt_build2(b, VT_OP_eq, sum, zero), zero, o);
  return vt_build_reshape(b, o, 4, dim);
}

/* ---- second implementation: one query at a time, its weights in scratch ---- */

uint64_t work_attention(const vt_view *in, uint32_t n_in) {
  return n_in < 3 ? 0 : (uint64_t)in[1].dim[2] * sizeof(float);
}

typedef struct query {
  const float *q, *k, *v;
  float *o, *e;                  /* e: one weight a key */
  int64_t keys;                  /* those it may see: 0 .. keys-1 */
  int64_t d, qs, kd, kt, vd, vt; /* strides along the width and along the keys */
  int64_t width, os;
  float scale;
} query;

static void attend(const query *x) {
  vt_sum_f32 l;
  float m = 0;
  for (int64_t j = 0; j < x->keys; j++) {
    x->e[j] = vt_dot_f32(x->q, x->qs, x->k + j * x->kt, x->kd, NULL, 0, x->d) * x->scale;
    m = j == 0 ? x->e[0] : vt_f32_max(m, x->e[j]);
  }
  vt_sum_f32_init(&l);
  for (int64_t j = 0; j < x->keys; j++) {
    x->e[j] = vt_f32_exp(x->e[j] - m);
    vt_sum_f32_add(&l, x->e[j]);
  }
  const float sum = vt_sum_f32_done(&l);
  for (int64_t c = 0; c < x->width; c++) {
    const float o = vt_dot_f32(x->e, 1, x->v + c * x->vd, x->vt, NULL, 0, x->keys);
    x->o[c * x->os] = x->keys == 0 ? 0.0f : o / sum;
  }
}

static int64_t keys_seen(const vt_kernel *k, int64_t i) {
  const int64_t tq = k->in[0].dim[2], tk = k->in[1].dim[2];
  if (!((const vt_attr_attention *)k->attrs)->causal) return tk;
  const int64_t n = i + 1 + tk - tq; /* at most tk, since i < tq */
  return n < 0 ? 0 : n;
}

vt_status kernel_attention(vt_kernel *k) {
  const vt_attr_attention *a = k->attrs;
  const vt_view *q = &k->in[0], *key = &k->in[1], *v = &k->in[2], *o = k->out;
  const int64_t per_group = q->dim[1] / key->dim[1];
  query x = {.e = k->work,
             .d = q->dim[3],
             .qs = q->stride[3],
             .kd = key->stride[3],
             .kt = key->stride[2],
             .vd = v->stride[3],
             .vt = v->stride[2],
             .width = v->dim[3],
             .os = o->stride[3],
             .scale = (float)a->scale};
  if (a->scale == 0.0) { /* the default, worked out apart from the decomposition */
    const float root = vt_f32_sqrt((float)q->dim[3]);
    x.scale = 1.0f / root;
  }
  for (int64_t b = 0; b < q->dim[0]; b++)
    for (int64_t h = 0; h < q->dim[1]; h++)
      for (int64_t i = 0; i < q->dim[2]; i++) {
        const int64_t g = h / per_group;
        x.q = (const float *)q->data + b * q->stride[0] + h * q->stride[1] + i * q->stride[2];
        x.k = (const float *)key->data + b * key->stride[0] + g * key->stride[1];
        x.v = (const float *)v->data + b * v->stride[0] + g * v->stride[1];
        x.o = (float *)o->data + b * o->stride[0] + h * o->stride[1] + i * o->stride[2];
        x.keys = keys_seen(k, i);
        attend(&x);
      }
  return VT_OK;
}
