/* SPDX-License-Identifier: Apache-2.0
 * op_einsum_kernel.c - einsum one element of the result at a time, as loops over labels: the
 * second implementation of op_einsum.c. It stores no intermediate results, but computes them
 * again whenever they are read. The contraction D of docs/numerics.md sums fma chains of 256
 * products; the chains are added in groups of 8 at level 0, the sums of groups in groups of 8 at
 * level 1, and so on. */
#include "equation.h"
#include "op_float.h"
#include "op_move.h"

/* ---- D, fed one product at a time ---- */

enum { CHAIN = 256, GROUP = 8, LEVELS = 21 };
typedef struct contraction_sum { /* the state of a contraction D after some of its products */
  uint32_t dtype;
  int64_t chained; /* number of products in the current fma chain */
  /* sum of the current chain; sum of the current group of each level */
  double chain, total[LEVELS];
  int32_t n[LEVELS]; /* how many numbers were added to the current group of each level */
} contraction_sum;

static double add_in_type(uint32_t dtype, double a, double b) {
  return dtype == VT_DTYPE_F32 ? (double)((float)a + (float)b) : a + b;
}

static void contraction_init(contraction_sum *r, uint32_t dtype) {
  *r = (contraction_sum){.dtype = dtype};
}

/* Adds x, the sum of a chain, to the group of level 0. The sum of a full group is added to the next
 * level at once. By its definition D adds it only when the next number arrives; the difference is
 * an addition of +0, which changes nothing, because no sum is -0. */
static void contraction_add_chain(contraction_sum *r, double x) {
  for (int level = 0; level < LEVELS; level++) {
    r->total[level] = add_in_type(r->dtype, r->total[level], x);
    if (++r->n[level] < GROUP) return;
    x = r->total[level];
    r->total[level] = 0;
    r->n[level] = 0;
  }
}

static void contraction_add_product(contraction_sum *r, double a, double b) {
  r->chain = r->dtype == VT_DTYPE_F32 ? (double)vt_f32_fma((float)a, (float)b, (float)r->chain)
                                      : vt_f64_fma(a, b, r->chain);
  if (++r->chained < CHAIN) return;
  contraction_add_chain(r, r->chain);
  r->chain = 0;
  r->chained = 0;
}

static double contraction_done(contraction_sum *r) {
  if (r->chained > 0) contraction_add_chain(r, r->chain);
  double x = 0;
  int any = 0;
  for (int level = 0; level < LEVELS; level++) {
    if (r->n[level] == 0 && !any) continue;
    x = any ? add_in_type(r->dtype, r->total[level], x) : r->total[level];
    any = 1;
  }
  return x;
}

/* ---- loops over labels ---- */

typedef struct nest {
  const vt_kernel *k;
  vt_equation q;
  int64_t index[VT_EQUATION_LABELS]; /* current index of each label */
  struct loops {
    uint32_t n;
    uint8_t label[VT_EQUATION_LABELS];
    int64_t count;
  } step[VT_EQUATION_OPERANDS]; /* loops over the labels that are summed when operand i is
                                   contracted */
} nest;

static struct loops loops_of(const vt_equation *q, uint64_t mask) {
  struct loops l;
  int64_t dim[VT_EQUATION_LABELS];
  l.n = vt_equation_sort_labels(q, mask, l.label);
  for (uint32_t i = 0; i < l.n; i++) dim[i] = q->dim[l.label[i]];
  l.count = vt_count_elements(dim, l.n);
  return l;
}

/* Advances the indices of the labels of l to the next tuple; after the last tuple all are 0
 * again. */
static void advance_indices(nest *n, const struct loops *l) {
  for (uint32_t i = l->n; i-- > 0;) {
    if (++n->index[l->label[i]] < n->q.dim[l->label[i]]) return;
    n->index[l->label[i]] = 0;
  }
}

/* The element of operand i at the current indices; a label that occurs twice moves along the
 * diagonal. */
static double operand_element(const nest *n, uint32_t i) {
  const vt_view *x = &n->k->in[i];
  int64_t at = 0;
  for (uint32_t axis = 0; axis < x->rank; axis++)
    if (n->q.label[i][axis] != VT_EQUATION_REPEATED)
      at += n->index[n->q.label[i][axis]] * x->stride[axis];
  return vt_float_load(x, at);
}

/* The value of the contraction of operands 0 .. i at the current indices of the labels that
 * remain. */
static double contract_up_to_operand(nest *n, uint32_t i) {
  if (i == 0) return operand_element(n, 0);
  const struct loops *l = &n->step[i];
  contraction_sum d;
  contraction_init(&d, n->k->out->dtype);
  for (int64_t j = 0; j < l->count; j++) {
    const double left = contract_up_to_operand(n, i - 1);
    contraction_add_product(&d, left, operand_element(n, i));
    advance_indices(n, l);
  }
  return contraction_done(&d);
}

static double sum_one_operand(nest *n) {
  const struct loops *l = &n->step[0];
  vt_float_sum s;
  if (l->n == 0) return operand_element(n, 0);
  vt_float_sum_init(&s, n->k->out->dtype);
  for (int64_t j = 0; j < l->count; j++) {
    vt_float_sum_add(&s, operand_element(n, 0));
    advance_indices(n, l);
  }
  return vt_float_sum_done(&s);
}

vt_status kernel_einsum(vt_kernel *k) {
  const vt_view *y = k->out;
  vt_type types[VT_EQUATION_OPERANDS];
  nest n = {.k = k};
  for (uint32_t i = 0; i < k->n_in; i++) {
    types[i] = (vt_type){.dtype = k->in[i].dtype, .rank = k->in[i].rank};
    for (uint32_t axis = 0; axis < types[i].rank; axis++) types[i].dim[axis] = k->in[i].dim[axis];
  }
  const vt_rule r = {.in = types, .n_in = k->n_in, .attrs = k->attrs};
  VT_TRY(vt_equation_read(&r, &n.q, NULL));
  uint64_t now = n.q.has[0];
  n.step[0] = loops_of(&n.q, now & ~n.q.has[n.q.n]); /* only used if the einsum has one operand */
  for (uint32_t i = 1; i < n.q.n; i++) {
    const uint64_t kept = vt_equation_remaining_labels(&n.q, i);
    now |= n.q.has[i];
    n.step[i] = loops_of(&n.q, now & ~kept);
    now &= kept;
  }
  vt_walk w;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    for (uint32_t axis = 0; axis < y->rank; axis++) n.index[n.q.label[n.q.n][axis]] = w.index[axis];
    vt_float_store(y, w.at[0],
                   n.q.n == 1 ? sum_one_operand(&n) : contract_up_to_operand(&n, n.q.n - 1));
  }
  return VT_OK;
}
