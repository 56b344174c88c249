/* SPDX-License-Identifier: Apache-2.0
 * op_attention.c - attention: q (B,H,Tq,d), k (B,G,Tk,d), v (B,G,Tk,e) -> (B,H,Tq,e). Head h
 * reads key head floor(h*G/H). With `causal`, query i sees keys 0 .. i + (L - Tq), where L is
 * the number of keys. A key that a query may not see is absent: it keeps its position in S and D
 * (the ordered sum and the contraction of docs/numerics.md), counts as +0 in S, and its product
 * with v is not formed, whatever v holds. The result of a query without keys is +0. The optional
 * operands (the extras) are told apart by their types: a mask is bool, a bias f32, lengths are
 * integers. */
#include "formula.h"
#include "op_rows.h"
#include "vt_num.h"

/* ---- the optional operands ---- */

typedef struct extras { /* operand index of each extra; 0 if the node does not have it */
  uint32_t mask, bias, length;
} extras;

/* Finds the extras by their types; they are in the order mask, bias, length. *stray is the index of
 * the first operand that does not fit, or n if all fit. */
static extras find_extras(const uint32_t *dtype, uint32_t n, uint32_t *stray) {
  extras x = {0, 0, 0};
  uint32_t i = 3;
  if (i < n && dtype[i] == VT_DTYPE_BOOL) x.mask = i++;
  if (i < n && dtype[i] == VT_DTYPE_F32) x.bias = i++;
  if (i < n && (dtype[i] == VT_DTYPE_I32 || dtype[i] == VT_DTYPE_I64)) x.length = i++;
  *stray = i;
  return x;
}

static extras extras_of_rule(const vt_rule *r, uint32_t *stray) {
  uint32_t dtype[6] = {0};
  for (uint32_t i = 0; i < r->n_in && i < 6; i++) dtype[i] = r->in[i].dtype;
  return find_extras(dtype, r->n_in, stray);
}

static extras extras_of_values(vt_builder *b, const uint32_t *in, uint32_t n) {
  uint32_t dtype[6] = {0}, stray;
  for (uint32_t i = 0; i < n && i < 6; i++)
    dtype[i] = b->type(b, in[i]) == NULL ? 0 : b->type(b, in[i])->dtype;
  return find_extras(dtype, n, &stray);
}

vt_status check_attention(const vt_rule *r, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  uint32_t stray;
  const vt_rule three = {.dims = r->dims, .in = r->in, .n_in = 3, .attrs = r->attrs};
  VT_TRY(check_f32(&three, d));
  extras_of_rule(r, &stray);
  if (stray == r->n_in) return VT_OK;
  return VT_FAIL(d, VT_VERIFY,
                 "operand %u is %s, expected a mask of bool, a bias of f32 or lengths of i32 or "
                 "i64, in this order",
                 stray + 1, vt_type_text(r->dims, &r->in[stray], text));
}

/* ---- shape ---- */

/* Whether the numbers of heads of q and k are both known. If one of them is symbolic, that of k is
 * only sure to divide that of q if the two are the same. */
static int are_head_counts_known(const vt_type *q, const vt_type *k) {
  return !vt_dim_is_symbolic(q->dim[1]) && !vt_dim_is_symbolic(k->dim[1]);
}

static int heads_divide(const vt_type *q, const vt_type *k) {
  if (!are_head_counts_known(q, k)) return q->dim[1] == k->dim[1];
  return k->dim[1] > 0 && q->dim[1] % k->dim[1] == 0;
}

/* Checks that a mask or bias broadcasts to the shape of the scores. */
static vt_status check_broadcasts_to_scores(const vt_rule *r, uint32_t i, vt_diag *d) {
  const vt_type *x = &r->in[i], *q = &r->in[0], *k = &r->in[1];
  const int64_t scores[4] = {q->dim[0], q->dim[1], q->dim[2], k->dim[2]};
  char text[VT_TYPE_TEXT];
  int fits = x->rank <= 4;
  for (uint32_t a = 0; fits && a < x->rank; a++)
    fits = x->dim[a] == 1 || x->dim[a] == scores[4 - x->rank + a];
  if (fits) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "operand %u is %s, which does not broadcast to [B, H, Tq, Tk]",
                 i + 1, vt_type_text(r->dims, x, text));
}

static vt_status check_extras(const vt_rule *r, vt_diag *d) {
  uint32_t stray;
  char text[VT_TYPE_TEXT];
  const extras x = extras_of_rule(r, &stray);
  const int64_t window = ((const vt_attr_attention *)r->attrs)->window;
  if (window < 0 || window > VT_DIM_MAX)
    return VT_FAIL(d, VT_VERIFY, "window=%lld, expected 1 to 2^40, or 0 for none",
                   (long long)window);
  if (x.mask != 0) VT_TRY(check_broadcasts_to_scores(r, x.mask, d));
  if (x.bias != 0) VT_TRY(check_broadcasts_to_scores(r, x.bias, d));
  if (x.length != 0 && (r->in[x.length].rank != 1 || r->in[x.length].dim[0] != r->in[0].dim[0]))
    return VT_FAIL(d, VT_VERIFY, "the lengths are %s, expected one for each of the batch",
                   vt_type_text(r->dims, &r->in[x.length], text));
  return VT_OK;
}

vt_status shape_attention(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_type *q = &r->in[0], *k = &r->in[1], *v = &r->in[2];
  char tq[VT_TYPE_TEXT], tk[VT_TYPE_TEXT], tv[VT_TYPE_TEXT];
  int fits = q->rank == 4 && k->rank == 4 && v->rank == 4;
  for (uint32_t i = 0; fits && i < 3; i++) fits = k->dim[i] == v->dim[i];
  fits = fits && q->dim[0] == k->dim[0] && q->dim[3] == k->dim[3];
  if (((const vt_attr_attention *)r->attrs)->order != VT_ORDER_FMA256)
    return VT_FAIL(d, VT_VERIFY, "this order of a contraction does not exist");
  if (fits && !are_head_counts_known(q, k) && !heads_divide(q, k))
    return VT_FAIL(d, VT_VERIFY, "attention of q %s, k %s: head counts that differ must be numbers",
                   vt_type_text(r->dims, q, tq), vt_type_text(r->dims, k, tk));
  if (!fits || !heads_divide(q, k))
    return VT_FAIL(d, VT_VERIFY,
                   "attention of q %s, k %s, v %s: expected [B, H, Tq, d], [B, G, Tk, d], "
                   "[B, G, Tk, e] with H a multiple of G",
                   vt_type_text(r->dims, q, tq), vt_type_text(r->dims, k, tk),
                   vt_type_text(r->dims, v, tv));
  VT_TRY(check_extras(r, d));
  *out = *q;
  out->dim[3] = v->dim[3];
  return VT_OK;
}

/* ---- as ops ---- */

typedef struct scores { /* ids of the graph values that decomposition and gradient share; scores
                           have the shape (B,G,R,Tq,Tk) with R = H/G */
  vt_builder *b;
  const vt_attr_attention *a;
  int64_t batch, heads, groups, queries, keys, depth, width;
  uint32_t q, k, v; /* values of shapes (B,G,R,Tq,d), (B,G,1,Tk,d), (B,G,1,Tk,e) */
  uint32_t present; /* bool: the query sees the key; broadcast to the scores, or VT_NO_VALUE */
  uint32_t scale, e, sum; /* e: exp(score - maximum of the query); sum: S(e) */
  int may_be_empty;       /* 1 if some query may have no key */
} scores;

/* Reshapes x to (B,G,R,T,d) if x is q and to (B,G,1,T,d) if x is k or v, so that the heads of a
 * group read the same keys by a broadcast. */
static uint32_t split_heads(vt_builder *b, uint32_t x, int64_t groups) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const int64_t dim[5] = {t->dim[0], groups, groups ? t->dim[1] / groups : 0, t->dim[2], t->dim[3]};
  return vt_build_reshape(b, x, 5, dim);
}

/* Reshapes a mask or bias in the same way to five axes; its own axes may be missing or have length
 * 1. With `over_queries_and_keys` it is also broadcast to all queries and keys. */
static uint32_t split_extra_heads(const scores *s, uint32_t x, int over_queries_and_keys) {
  const vt_type *t = s->b->type(s->b, x);
  int64_t dim[4] = {1, 1, 1, 1};
  if (t == NULL) return VT_NO_VALUE;
  for (uint32_t i = 0; i < t->rank; i++) dim[4 - t->rank + i] = t->dim[i];
  const int whole = dim[1] == s->heads;
  int64_t five[5] = {dim[0], whole ? s->groups : 1, whole ? s->heads / s->groups : 1, dim[2],
                     dim[3]};
  x = vt_build_reshape(s->b, x, 5, five);
  if (!over_queries_and_keys || (dim[2] == s->queries && dim[3] == s->keys)) return x;
  five[3] = s->queries, five[4] = s->keys;
  return vt_build_broadcast(s->b, x, 5, five);
}

static uint32_t iota_along(vt_builder *b, int64_t rows, int64_t columns, int64_t axis) {
  const vt_attr_iota a = {.size = sizeof a,
                          .shape = {.n = 2, .v = {rows, columns}},
                          .axis = axis,
                          .dtype = VT_DTYPE_I64};
  return b->node(b, VT_OP_iota, NULL, 0, &a);
}

static uint32_t and_masks(vt_builder *b, uint32_t x, uint32_t y) {
  return x == VT_NO_VALUE ? y : y == VT_NO_VALUE ? x : vt_build2(b, VT_OP_and, x, y);
}

/* Writes the mask for `causal` and `window`, which compares key j with p = i + (L - Tq), the last
 * key that causal query i sees. `length` is (B,1,1,1,1), or VT_NO_VALUE if L is Tk. */
static uint32_t mask_by_position(const scores *s, uint32_t length) {
  vt_builder *b = s->b;
  uint32_t shift, present = VT_NO_VALUE;
  if (length == VT_NO_VALUE) {
    shift = vt_build_int(b, VT_DTYPE_I64, s->keys - s->queries);
  } else {
    shift = minus(b, length, vt_build_int(b, VT_DTYPE_I64, s->queries));
  }
  const uint32_t p = vt_build2(b, VT_OP_add, iota_along(b, s->queries, 1, 0), shift);
  const uint32_t j = iota_along(b, 1, s->keys, 1);
  if (s->a->causal) present = vt_build2(b, VT_OP_le, j, p);
  if (s->a->window == 0) return present;
  const uint32_t w = vt_build_int(b, VT_DTYPE_I64, s->a->window);
  const uint32_t after = vt_build2(b, VT_OP_gt, j, minus(b, p, w));
  if (s->a->causal) return and_masks(b, present, after);
  return and_masks(b, after, vt_build2(b, VT_OP_lt, j, plus(b, p, w)));
}

static uint32_t key_mask(const scores *s, const uint32_t *in, extras x) {
  vt_builder *b = s->b;
  uint32_t length = VT_NO_VALUE, present = VT_NO_VALUE;
  if (x.length != 0) {
    const int64_t dim[5] = {s->batch, 1, 1, 1, 1};
    length = vt_build_cast(b, vt_build_reshape(b, in[x.length], 5, dim), VT_DTYPE_I64);
  }
  if (s->a->causal || s->a->window != 0) present = mask_by_position(s, length);
  if (x.length != 0) {
    const int64_t dim[5] = {s->batch, 1, 1, s->queries, s->keys};
    const uint32_t within_it = vt_build2(b, VT_OP_lt, iota_along(b, 1, s->keys, 1), length);
    present = and_masks(b, present, vt_build_broadcast(b, within_it, 5, dim));
  }
  if (x.mask != 0) present = and_masks(b, present, split_extra_heads(s, in[x.mask], 1));
  return present;
}

/* The product of x and y. If `present` is a mask, only the products that it marks are formed. */
static uint32_t masked_product(vt_builder *b, uint32_t x, uint32_t y, uint32_t present,
                               int transpose) {
  const vt_attr_matmul a = {.size = sizeof a, .transpose_b = transpose, .order = VT_ORDER_FMA256};
  const uint32_t in[3] = {x, y, present};
  if (present == VT_NO_VALUE) return b->node(b, VT_OP_matmul, in, 2, &a);
  return b->node(b, VT_OP_matmul_masked, in, 3, &a);
}

/* Sets s->e and s->sum from the scores. A select makes e of an absent key +0; a product with 0
 * would not if the score is NaN. */
static void exp_and_sum(scores *s, uint32_t score) {
  vt_builder *b = s->b;
  const uint32_t zero = vt_build_number(b, VT_DTYPE_F32, 0.0);
  const uint32_t least = vt_build_bits(b, VT_DTYPE_F32, 0xff800000u); /* -inf */
  const int masked = s->present != VT_NO_VALUE;
  const uint32_t seen = masked ? vt_build3(b, VT_OP_select, s->present, score, least) : score;
  const uint32_t m = vt_build_reduce(b, VT_OP_max, seen, 4, 1);
  s->e = vt_build1(b, VT_OP_exp, vt_build2(b, VT_OP_sub, score, m));
  if (masked) s->e = vt_build3(b, VT_OP_select, s->present, s->e, zero);
  s->sum = vt_build_reduce(b, VT_OP_sum, s->e, 4, 1);
}

/* The scale of the scores: the attribute, by default 1 / sqrt(f32(d)), each operation rounded
 * once. */
static uint32_t scale_of(vt_builder *b, const vt_attr_attention *a, int64_t d) {
  const float usual = 1.0f / vt_f32_sqrt((float)d);
  return vt_build_number(b, VT_DTYPE_F32, a->scale == 0.0 ? (double)usual : a->scale);
}

static int read_sizes(scores *s, const uint32_t *in) {
  const vt_type *tq = s->b->type(s->b, in[0]), *tv = s->b->type(s->b, in[2]);
  if (tq == NULL || tv == NULL) return 0;
  s->batch = tq->dim[0], s->heads = tq->dim[1], s->queries = tq->dim[2], s->depth = tq->dim[3];
  s->groups = tv->dim[1], s->keys = tv->dim[2], s->width = tv->dim[3];
  return 1;
}

/* Writes the nodes from the operands up to s->e and s->sum. There must be at least one key. */
static void build_exp_of_scores(scores *s, const uint32_t *in, uint32_t n) {
  vt_builder *b = s->b;
  const extras x = extras_of_values(b, in, n);
  s->q = split_heads(b, in[0], s->groups);
  s->k = split_heads(b, in[1], s->groups);
  s->v = split_heads(b, in[2], s->groups);
  uint32_t score = vt_build2(b, VT_OP_mul, masked_product(b, s->q, s->k, VT_NO_VALUE, 1), s->scale);
  if (x.bias != 0) score = plus(b, score, split_extra_heads(s, in[x.bias], 0));
  s->present = key_mask(s, in, x);
  s->may_be_empty =
      x.mask != 0 || x.length != 0 || ((s->a->causal || s->a->window != 0) && s->queries > s->keys);
  exp_and_sum(s, score);
}

uint32_t lower_attention(const vt_lowering *l) {
  vt_builder *b = l->b;
  scores s = {.b = b, .a = l->attrs};
  if (!read_sizes(&s, l->in)) return VT_NO_VALUE;
  const int64_t dim[4] = {s.batch, s.heads, s.queries, s.width};
  s.scale = scale_of(b, s.a, s.depth);
  const uint32_t zero = vt_build_number(b, VT_DTYPE_F32, 0.0);
  if (s.keys == 0)
    return vt_build_broadcast(b, zero, 4, dim); /* there are no keys, so every result is +0 */
  build_exp_of_scores(&s, l->in, l->n_in);
  uint32_t o = vt_build2(b, VT_OP_div, masked_product(b, s.e, s.v, s.present, 0), s.sum);
  if (s.may_be_empty) /* the sum of e is 0 only for a query without keys */
    o = vt_build3(b, VT_OP_select, vt_build2(b, VT_OP_eq, s.sum, zero), zero, o);
  return vt_build_reshape(b, o, 4, dim);
}

/* ---- gradient ---- */

static uint32_t zeros_like(vt_builder *b, uint32_t x) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const vt_type to = *t;
  return vt_build_broadcast(b, vt_build_number(b, to.dtype, 0.0), to.rank, to.dim);
}

/* The mask s->present for products along the queries: the heads of a group and the queries become
 * one axis, and the keys come before it: (B,G,Tk,R*Tq). */
static uint32_t mask_with_keys_first(const scores *s) {
  const vt_type *t = s->b->type(s->b, s->present);
  if (s->present == VT_NO_VALUE || t == NULL) return VT_NO_VALUE;
  const int64_t lead[2] = {t->rank == 5 ? t->dim[0] : 1, t->rank == 5 ? t->dim[1] : 1};
  const int64_t per_group = s->heads / s->groups;
  const int64_t wide[5] = {lead[0], lead[1], per_group, s->queries, s->keys};
  const int64_t flat[4] = {lead[0], lead[1], per_group * s->queries, s->keys};
  const vt_attr_perm swap_last = {.size = sizeof swap_last, .perm = {.n = 4, .v = {0, 1, 3, 2}}};
  const uint32_t spread = vt_build_broadcast(s->b, s->present, 5, wide);
  const uint32_t four = vt_build_reshape(s->b, spread, 4, flat);
  return s->b->node(s->b, VT_OP_transpose, &four, 1, &swap_last);
}

/* The contraction D of x (B,G,R,Tq,Tk) and y (B,G,R,Tq,columns) over (head in the group,
 * query): (B,G,Tk,columns). */
static uint32_t contract_queries(const scores *s, uint32_t x, uint32_t y, uint32_t mask,
                                 int64_t columns) {
  vt_builder *b = s->b;
  const vt_attr_matmul a = {.size = sizeof a, .transpose_a = 1, .order = VT_ORDER_FMA256};
  const int64_t rows = s->heads / s->groups * s->queries;
  const int64_t of_x[4] = {s->batch, s->groups, rows, s->keys};
  const int64_t of_y[4] = {s->batch, s->groups, rows, columns};
  uint32_t in[3] = {vt_build_reshape(b, x, 4, of_x), VT_NO_VALUE, mask};
  in[1] = vt_build_reshape(b, y, 4, of_y);
  if (mask == VT_NO_VALUE) return b->node(b, VT_OP_matmul, in, 2, &a);
  return b->node(b, VT_OP_matmul_masked, in, 3, &a);
}

static void grad_bias(const vt_gradient *g, const scores *s, uint32_t slope) {
  const extras x = extras_of_values(s->b, g->in, g->n_in);
  const int64_t dim[4] = {s->batch, s->heads, s->queries, s->keys};
  if (x.bias == 0) return;
  if (s->present != VT_NO_VALUE) slope = value_or_zero(s->b, s->present, slope);
  g->d_in[x.bias] = vt_build_sum_to(s->b, vt_build_reshape(s->b, slope, 4, dim), g->in[x.bias]);
}

static void grad_without_keys(const vt_gradient *g) {
  const extras x = extras_of_values(g->b, g->in, g->n_in);
  for (uint32_t i = 0; i < 3; i++) g->d_in[i] = zeros_like(g->b, g->in[i]);
  if (x.bias != 0) g->d_in[x.bias] = zeros_like(g->b, g->in[x.bias]);
}

/* With l = S(e), o the result and do its gradient: r = 1/l; p = e*r; delta = S(do*o); dp = D(do,
 * v); g = p*(dp - delta); ds = g*scale is the gradient of the product of q and k. */
void grad_attention(const vt_gradient *g) {
  vt_builder *b = g->b;
  scores s = {.b = b, .a = g->attrs};
  if (!read_sizes(&s, g->in)) return;
  if (s.keys == 0) {
    grad_without_keys(g);
    return;
  }
  const int64_t of_q[4] = {s.batch, s.heads, s.queries, s.depth};
  s.scale = scale_of(b, s.a, s.depth);
  build_exp_of_scores(&s, g->in, g->n_in);
  const uint32_t dout = split_heads(b, g->d_out[0], s.groups),
                 o = split_heads(b, g->out[0], s.groups);
  const uint32_t r = over(b, vt_build_number(b, VT_DTYPE_F32, 1.0), s.sum);
  const uint32_t p = times(b, s.e, r);
  const uint32_t delta = vt_build_reduce(b, VT_OP_sum, times(b, dout, o), 4, 1);
  const uint32_t dp = masked_product(b, dout, s.v, VT_NO_VALUE, 1);
  const uint32_t slope = times(b, p, minus(b, dp, delta));
  const uint32_t ds = times(b, slope, s.scale);
  const uint32_t mask = mask_with_keys_first(&s);
  g->d_in[0] = vt_build_reshape(b, masked_product(b, ds, s.k, s.present, 0), 4, of_q);
  g->d_in[1] = contract_queries(&s, ds, s.q, mask, s.depth);
  g->d_in[2] = contract_queries(&s, p, dout, mask, s.width);
  grad_bias(g, &s, slope);
}

/* ---- second implementation: one query at a time, its weights in scratch ---- */

uint64_t scratch_attention(const vt_view *in, uint32_t n_in) {
  return n_in < 3 ? 0 : (uint64_t)in[1].dim[2] * (sizeof(float) + 1);
}

typedef struct query {
  const float *q, *k, *v;
  float *o, *e;                  /* o: the result; e: scratch, one weight per key */
  uint8_t *seen;                 /* scratch: 1 for each key that the query sees */
  int64_t keys;                  /* number of keys, Tk */
  int64_t d, qs, kd, kt, vd, vt; /* strides of q, k and v along the width of a head (qs, kd, vd),
                                    and of k and v along the keys (kt, vt) */
  int64_t width, os;             /* width of a row of v; stride of o */
  const float *bias;             /* the bias of this query for key 0, or NULL */
  int64_t bs;                    /* stride of the bias along the keys */
  float scale;
} query;

/* Writes the scores of the keys that the query sees into e and returns the greatest. *any is set to
 * 0 if the query sees no key. */
static float score_keys(const query *x, int *any) {
  float m = 0;
  *any = 0;
  for (int64_t j = 0; j < x->keys; j++) {
    if (!x->seen[j]) continue;
    x->e[j] = vt_dot_f32(x->q, x->qs, x->k + j * x->kt, x->kd, NULL, 0, x->d) * x->scale;
    if (x->bias != NULL) x->e[j] = x->e[j] + x->bias[j * x->bs];
    m = *any ? vt_f32_max(m, x->e[j]) : x->e[j];
    *any = 1;
  }
  return m;
}

static void attend_query(const query *x) {
  vt_sum_f32 l;
  int any;
  const float m = score_keys(x, &any);
  vt_sum_f32_init(&l);
  for (int64_t j = 0; j < x->keys; j++) {
    x->e[j] = x->seen[j] ? vt_f32_exp(x->e[j] - m) : 0.0f;
    vt_sum_f32_add(&l, x->e[j]);
  }
  const float sum = vt_sum_f32_done(&l);
  for (int64_t c = 0; c < x->width; c++) {
    const float o = vt_dot_f32(x->e, 1, x->v + c * x->vd, x->vt, x->seen, 1, x->keys);
    x->o[c * x->os] = any ? o / sum : 0.0f;
  }
}

/* The offset of [b, h, i, 0] in an operand that broadcasts to the scores, and its stride along the
 * keys. */
static int64_t broadcast_offset(const vt_view *v, const int64_t at[3], int64_t *stride) {
  int64_t place = 0;
  *stride = 0;
  for (uint32_t a = 0; a < v->rank; a++) {
    const uint32_t axis = 4 - v->rank + a;
    if (v->dim[a] == 1) continue;
    if (axis == 3) {
      *stride = v->stride[a];
    } else {
      place += at[axis] * v->stride[a];
    }
  }
  return place;
}

/* Sets seen[j] to 1 for every key j that query i of head h of batch member b sees, otherwise to 0;
 * at[] = [b, h, i]. */
static void find_seen_keys(const vt_kernel *k, extras x, const int64_t at[3], uint8_t *seen) {
  const vt_attr_attention *a = k->attrs;
  const int64_t keys = k->in[1].dim[2], queries = k->in[0].dim[2];
  const vt_view *lengths = &k->in[x.length], *mask = &k->in[x.mask];
  int64_t length = keys, stride = 0;
  if (x.length != 0)
    length = vt_load_int(lengths->data, lengths->dtype, at[0] * lengths->stride[0]);
  const uint8_t *row =
      x.mask == 0 ? NULL : (const uint8_t *)mask->data + broadcast_offset(mask, at, &stride);
  const int64_t p = vt_i64_wrap_add(at[2], vt_i64_wrap_sub(length, queries));
  for (int64_t j = 0; j < keys; j++) {
    int here = x.length == 0 || j < length;
    if (a->causal) here = here && j <= p;
    if (a->window > 0) here = here && j > vt_i64_wrap_sub(p, a->window);
    if (a->window > 0 && !a->causal) here = here && j < vt_i64_wrap_add(p, a->window);
    if (row != NULL) here = here && row[j * stride] != 0;
    seen[j] = here ? 1 : 0;
  }
}

static extras extras_of_views(const vt_kernel *k) {
  uint32_t dtype[6] = {0}, stray;
  for (uint32_t i = 0; i < k->n_in && i < 6; i++) dtype[i] = k->in[i].dtype;
  return find_extras(dtype, k->n_in, &stray);
}

static void attend_query_at(const vt_kernel *k, extras more, query *x, const int64_t at[3]) {
  const vt_view *q = &k->in[0], *key = &k->in[1], *v = &k->in[2], *o = k->out;
  const int64_t g = at[1] / (q->dim[1] / key->dim[1]);
  x->q =
      (const float *)q->data + at[0] * q->stride[0] + at[1] * q->stride[1] + at[2] * q->stride[2];
  x->k = (const float *)key->data + at[0] * key->stride[0] + g * key->stride[1];
  x->v = (const float *)v->data + at[0] * v->stride[0] + g * v->stride[1];
  x->o = (float *)o->data + at[0] * o->stride[0] + at[1] * o->stride[1] + at[2] * o->stride[2];
  if (more.bias != 0)
    x->bias =
        (const float *)k->in[more.bias].data + broadcast_offset(&k->in[more.bias], at, &x->bs);
  find_seen_keys(k, more, at, x->seen);
  attend_query(x);
}

vt_status kernel_attention(vt_kernel *k) {
  const vt_attr_attention *a = k->attrs;
  const vt_view *q = &k->in[0], *key = &k->in[1], *v = &k->in[2];
  query x = {.e = k->work,
             .keys = key->dim[2],
             .d = q->dim[3],
             .qs = q->stride[3],
             .kd = key->stride[3],
             .kt = key->stride[2],
             .vd = v->stride[3],
             .vt = v->stride[2],
             .width = v->dim[3],
             .os = k->out->stride[3],
             .scale = (float)a->scale};
  x.seen = x.keys == 0 ? NULL : (uint8_t *)(x.e + x.keys);
  if (a->scale == 0.0) { /* the attribute is not set: 1 / sqrt(d), computed independently of the
                            decomposition */
    const float root = vt_f32_sqrt((float)q->dim[3]);
    x.scale = 1.0f / root;
  }
  const extras more = extras_of_views(k);
  int64_t at[3];
  for (at[0] = 0; at[0] < q->dim[0]; at[0]++)
    for (at[1] = 0; at[1] < q->dim[1]; at[1]++)
      for (at[2] = 0; at[2] < q->dim[2]; at[2]++) attend_query_at(k, more, &x, at);
  return VT_OK;
}
