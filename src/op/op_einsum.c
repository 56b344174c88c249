/* SPDX-License-Identifier: Apache-2.0
 * op_einsum.c - einsum as ops: repeated labels of an operand are gathered from its diagonal, two
 * operands at a time are contracted by one matmul [batch, rows, summed] x [batch, columns,
 * summed], and movement ops do the rest. A factor is a graph value with one axis for each of its
 * labels. S is the ordered sum and D the contraction of docs/numerics.md. */
#include "equation.h"
#include "op_move.h"

/* ---- the shape ---- */

/* Checks that no intermediate result, after the contraction of operands 0 .. i, has more than
 * VT_MAX_RANK axes. */
static vt_status check_intermediate_ranks(const vt_equation *q, vt_diag *d) {
  uint64_t now = q->has[0];
  uint8_t label[VT_EQUATION_LABELS];
  for (uint32_t i = 1; i < q->n; i++) {
    now = (now | q->has[i]) & vt_equation_remaining_labels(q, i);
    if (vt_equation_sort_labels(q, now, label) > VT_MAX_RANK)
      return VT_FAIL(d, VT_VERIFY, "operands 1 to %u contracted have more than %d axes", i + 1,
                     VT_MAX_RANK);
  }
  return VT_OK;
}

vt_status shape_einsum(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_einsum *a = r->attrs;
  vt_equation q;
  if (a->order != VT_ORDER_FMA256)
    return VT_FAIL(d, VT_VERIFY, "order %lld of a contraction does not exist", (long long)a->order);
  if (r->n_in > VT_EQUATION_OPERANDS)
    return VT_FAIL(d, VT_VERIFY, "%u operands; an einsum takes at most %d", r->n_in,
                   VT_EQUATION_OPERANDS);
  VT_TRY(vt_equation_read(r, &q, d));
  VT_TRY(check_intermediate_ranks(&q, d));
  out->dtype = r->in[0].dtype;
  out->rank = q.rank[q.n];
  for (uint32_t i = 0; i < out->rank; i++) out->dim[i] = q.dim[q.label[q.n][i]];
  return VT_OK;
}

/* ---- factors: values with one axis for each of their labels ---- */

typedef struct factor {
  uint32_t value, n;          /* id of the graph value; number of its axes */
  uint8_t label[VT_MAX_RANK]; /* label of each axis, all different */
} factor;

static uint64_t label_set_of(const factor *f) {
  uint64_t all = 0;
  for (uint32_t i = 0; i < f->n; i++) all |= (uint64_t)1 << f->label[i];
  return all;
}

static uint32_t axis_of(const factor *f, uint32_t label) {
  uint32_t i = 0;
  while (i < f->n && f->label[i] != label) i++;
  return i;
}

static int64_t product_of_lengths(const vt_equation *q, const uint8_t *label, uint32_t n) {
  int64_t dim[VT_EQUATION_LABELS];
  for (uint32_t i = 0; i < n; i++) dim[i] = q->dim[label[i]];
  return vt_count_elements(dim, n);
}

/* The row-major positions of the elements of operand i on its diagonal, as i64 in the shape of
 * factor f. */
static uint32_t diagonal_element_positions(vt_builder *b, const vt_equation *q, uint32_t i,
                                           const vt_type *x, const factor *f) {
  vt_type to = {.dtype = VT_DTYPE_I64, .rank = f->n};
  for (uint32_t k = 0; k < f->n; k++) to.dim[k] = q->dim[f->label[k]];
  uint32_t sum = vt_build_full(b, VT_DTYPE_I64, 0.0, &to);
  for (uint32_t k = 0; k < f->n; k++) {
    int64_t step = 0;
    for (uint32_t axis = 0; axis < q->rank[i]; axis++)
      if (q->label[i][axis] == f->label[k])
        step += vt_count_elements(x->dim + axis + 1, x->rank - axis - 1);
    const uint32_t along = vt_build_iota(b, f->n, k, to.dim[k]);
    const uint32_t scale = vt_build_int(b, VT_DTYPE_I64, step);
    sum = vt_build2(b, VT_OP_add, sum, vt_build2(b, VT_OP_mul, along, scale));
  }
  return sum;
}

/* Writes each label of operand i once to out->label; returns whether a label occurs twice in the
 * operand. */
static int collapse_repeated_labels(const vt_equation *q, uint32_t i, factor *out) {
  int twice = 0;
  out->n = 0;
  for (uint32_t k = 0; k < q->rank[i]; k++) {
    const uint8_t label = q->label[i][k];
    if (label == VT_EQUATION_REPEATED) continue;
    if (axis_of(out, label) < out->n)
      twice = 1;
    else
      out->label[out->n++] = label;
  }
  return twice;
}

static uint32_t reshape_to_labels(vt_builder *b, const vt_equation *q, uint32_t x,
                                  const factor *f) {
  int64_t dim[VT_MAX_RANK];
  for (uint32_t k = 0; k < f->n; k++) dim[k] = q->dim[f->label[k]];
  return vt_build_reshape(b, x, f->n, dim);
}

/* Operand i as a factor: one axis for each of its labels. */
static factor operand_factor(vt_builder *b, const vt_equation *q, uint32_t i, uint32_t x) {
  factor f = {.value = x};
  vt_type t;
  const int twice = collapse_repeated_labels(q, i, &f);
  if (!vt_build_read_type(b, x, &t)) return f;
  if (twice) {
    const int64_t count = vt_count_elements(t.dim, t.rank);
    const uint32_t line = vt_build_reshape(b, x, 1, &count);
    f.value = vt_build2(b, VT_OP_gather, line, diagonal_element_positions(b, q, i, &t, &f));
  } else if (f.n != q->rank[i]) {
    f.value = reshape_to_labels(b, q, x, &f);
  }
  return f;
}

/* Undoes operand_factor, for gradients: returns f in the shape of operand i, with +0 off the
 * diagonal. */
static uint32_t factor_to_operand(vt_builder *b, const vt_equation *q, uint32_t i, uint32_t like,
                                  const factor *f) {
  factor labels;
  vt_type t;
  const int twice = collapse_repeated_labels(q, i, &labels);
  if (!vt_build_read_type(b, like, &t)) return VT_NO_VALUE;
  if (!twice && f->n == q->rank[i]) return f->value;
  if (!twice) return vt_build_reshape(b, f->value, t.rank, t.dim);
  const vt_type line = {.dtype = t.dtype, .rank = 1, .dim = {vt_count_elements(t.dim, t.rank)}};
  const uint32_t zeros = vt_build_full(b, t.dtype, 0.0, &line);
  const uint32_t index = diagonal_element_positions(b, q, i, &t, f);
  const uint32_t y = vt_build3(b, VT_OP_scatter, zeros, index, f->value);
  return vt_build_reshape(b, y, t.rank, t.dim);
}

/* Returns f with its axes in the order of `label`, broadcast along labels that f does not have. */
static factor reorder_axes(vt_builder *b, const vt_equation *q, const factor *f,
                           const uint8_t *label, uint32_t n) {
  uint32_t perm[VT_MAX_RANK] = {0}, own = 0;
  int64_t one[VT_MAX_RANK], full[VT_MAX_RANK];
  factor y = {.n = n};
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t axis = axis_of(f, label[i]);
    if (axis < f->n) perm[own++] = axis;
    full[i] = q->dim[label[i]];
    one[i] = axis < f->n ? full[i] : 1;
    y.label[i] = label[i];
  }
  y.value = vt_build_transpose(b, f->value, perm, f->n);
  if (own < n) y.value = vt_build_broadcast(b, vt_build_reshape(b, y.value, n, one), n, full);
  return y;
}

/* ---- contraction of two factors ---- */

typedef struct axes { /* a list of labels, outermost first */
  uint32_t n;
  uint8_t label[VT_EQUATION_LABELS];
} axes;

typedef struct product { /* the roles that labels have in the product of two factors */
  axes batch, rows, columns, summed;
} product;

static axes list_labels(const vt_equation *q, uint64_t mask) {
  axes a;
  a.n = vt_equation_sort_labels(q, mask, a.label);
  return a;
}

/* Returns f as [batch, rows, summed], broadcast along summed labels that f does not have. */
static uint32_t to_matrix(vt_builder *b, const vt_equation *q, const factor *f, const product *p,
                          const axes *rows) {
  uint32_t perm[VT_MAX_RANK] = {0}, n = 0;
  for (uint32_t i = 0; i < p->batch.n; i++) perm[n++] = axis_of(f, p->batch.label[i]);
  for (uint32_t i = 0; i < rows->n; i++) perm[n++] = axis_of(f, rows->label[i]);
  int64_t before = product_of_lengths(q, p->batch.label, p->batch.n), after = 1;
  const int64_t batch = before, height = product_of_lengths(q, rows->label, rows->n);
  before = vt_count_elements((int64_t[2]){batch, height}, 2);
  axes own = {0};
  for (uint32_t i = 0; i < p->summed.n; i++) {
    const uint32_t axis = axis_of(f, p->summed.label[i]);
    if (axis < f->n) perm[n++] = axis, own.label[own.n++] = p->summed.label[i];
  }
  uint32_t x = vt_build_transpose(b, f->value, perm, n);
  for (uint32_t i = 0, k = 0; i < p->summed.n; i++) {
    const int64_t length = q->dim[p->summed.label[i]];
    const int missing = axis_of(f, p->summed.label[i]) == f->n;
    k += !missing;
    after = product_of_lengths(q, own.label + k, own.n - k);
    const int64_t one[3] = {before, 1, after}, full[3] = {before, length, after};
    if (missing) x = vt_build_broadcast(b, vt_build_reshape(b, x, 3, one), 3, full);
    before = vt_count_elements((int64_t[2]){before, length}, 2);
  }
  const int64_t dim[3] = {batch, height, product_of_lengths(q, p->summed.label, p->summed.n)};
  return vt_build_reshape(b, x, 3, dim);
}

/* Contracts f and g: D over the labels that are not in the bit set `kept`, in the order of the
 * equation, the first one outermost. */
static factor contract(vt_builder *b, const vt_equation *q, const factor *f, const factor *g,
                       uint64_t kept) {
  const vt_attr_matmul across = {.size = sizeof across, .transpose_b = 1, .order = VT_ORDER_FMA256};
  const uint64_t of_f = label_set_of(f), of_g = label_set_of(g);
  const product p = {list_labels(q, of_f & of_g & kept), list_labels(q, of_f & ~of_g & kept),
                     list_labels(q, of_g & ~of_f & kept), list_labels(q, (of_f | of_g) & ~kept)};
  const axes *parts[3] = {&p.batch, &p.rows, &p.columns};
  factor y = {.n = 0};
  uint32_t in[2] = {to_matrix(b, q, f, &p, &p.rows), VT_NO_VALUE};
  in[1] = to_matrix(b, q, g, &p, &p.columns);
  for (uint32_t i = 0; i < 3; i++)
    for (uint32_t k = 0; k < parts[i]->n; k++) y.label[y.n++] = parts[i]->label[k];
  y.value = reshape_to_labels(b, q, b->node(b, VT_OP_matmul, in, 2, &across), &y);
  return y;
}

/* ---- as ops ---- */

static int read_equation(vt_builder *b, const uint32_t *in, uint32_t n, const void *attrs,
                         vt_equation *q) {
  vt_type t[VT_EQUATION_OPERANDS];
  for (uint32_t i = 0; i < n; i++)
    if (i == VT_EQUATION_OPERANDS || !vt_build_read_type(b, in[i], &t[i])) return 0;
  const vt_rule r = {.dims = b->dims, .in = t, .n_in = n, .attrs = attrs};
  return vt_equation_read(&r, q, NULL) == VT_OK;
}

/* An einsum of one operand: S over the labels that the result does not have, which become the last
 * axes and are summed as one. */
static uint32_t sum_one_operand(vt_builder *b, const vt_equation *q, const factor *f) {
  axes all = {.n = q->rank[1]};
  for (uint32_t i = 0; i < all.n; i++) all.label[i] = q->label[1][i];
  const axes rest = list_labels(q, q->has[0] & ~q->has[1]);
  vt_attr_reduce over = {.size = sizeof over};
  for (uint32_t i = 0; i < rest.n; i++) {
    over.axes.v[over.axes.n++] = all.n;
    all.label[all.n++] = rest.label[i];
  }
  const factor y = reorder_axes(b, q, f, all.label, all.n);
  return rest.n == 0 ? y.value : b->node(b, VT_OP_sum, &y.value, 1, &over);
}

uint32_t lower_einsum(const vt_lowering *l) {
  vt_builder *b = l->b;
  vt_equation q;
  if (!read_equation(b, l->in, l->n_in, l->attrs, &q)) return VT_NO_VALUE;
  factor y = operand_factor(b, &q, 0, l->in[0]);
  if (q.n == 1) return sum_one_operand(b, &q, &y);
  for (uint32_t i = 1; i < q.n; i++) {
    const factor next = operand_factor(b, &q, i, l->in[i]);
    y = contract(b, &q, &y, &next, vt_equation_remaining_labels(&q, i));
  }
  return reorder_axes(b, &q, &y, q.label[q.n], q.rank[q.n]).value;
}

/* ---- gradients ---- */

/* The gradient of factor f, which was contracted with `other` to a result with gradient dy: D over
 * the labels of dy and `other` that f does not have, broadcast along labels that only f has. */
static factor factor_gradient(vt_builder *b, const vt_equation *q, const factor *dy,
                              const factor *other, const factor *f) {
  const factor d = contract(b, q, dy, other, label_set_of(f));
  return reorder_axes(b, q, &d, f->label, f->n);
}

/* Goes through the contractions from the last to the first; the nodes of their intermediate results
 * are written again. */
void grad_einsum(const vt_gradient *g) {
  vt_builder *b = g->b;
  vt_equation q;
  factor step[VT_EQUATION_OPERANDS], x[VT_EQUATION_OPERANDS] = {{0}};
  if (!read_equation(b, g->in, g->n_in, g->attrs, &q)) return;
  for (uint32_t i = 0; i < q.n; i++) x[i] = operand_factor(b, &q, i, g->in[i]);
  step[0] = x[0];
  for (uint32_t i = 1; i + 1 < q.n; i++)
    step[i] = contract(b, &q, &step[i - 1], &x[i], vt_equation_remaining_labels(&q, i));
  factor dy = {.value = g->d_out[0], .n = q.rank[q.n]};
  for (uint32_t i = 0; i < dy.n; i++) dy.label[i] = q.label[q.n][i];
  for (uint32_t i = q.n - 1; i > 0; i--) {
    const factor dx = factor_gradient(b, &q, &dy, &step[i - 1], &x[i]);
    dy = factor_gradient(b, &q, &dy, &x[i], &step[i - 1]);
    g->d_in[i] = factor_to_operand(b, &q, i, g->in[i], &dx);
  }
  if (q.n == 1) dy = reorder_axes(b, &q, &dy, x[0].label, x[0].n);
  g->d_in[0] = factor_to_operand(b, &q, 0, g->in[0], &dy);
}
