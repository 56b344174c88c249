/* SPDX-License-Identifier: Apache-2.0
 * op_contract.c - matmul, matmul with a mask of products that are absent (not formed), and
 * linear. Every element of the result is one contraction D (docs/numerics.md) over k. The
 * leading axes, called batch axes, broadcast. In the gradients, `full` is the type of the
 * result, `over` a bit mask of batch axes along which an operand was repeated: its gradient sums
 * over them. da, db and dw are the gradients of a, b and w. */
#include "op_rows.h"
#include "vt_num.h"

/* ---- shapes ---- */

static vt_status check_least_rank(const vt_rule *r, uint32_t i, uint32_t rank, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  if (r->in[i].rank >= rank) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected at least rank %u", i + 1,
                 vt_type_text(r->dims, &r->in[i], text), rank);
}

/* Number of rows and columns of a matrix, the last two axes, after the transpose that `transposed`
 * asks for. */
static void matrix_dims(const vt_type *t, int64_t transposed, int64_t *rows, int64_t *columns) {
  *rows = t->dim[t->rank - (transposed ? 1 : 2)];
  *columns = t->dim[t->rank - (transposed ? 2 : 1)];
}

/* Broadcasts the batch axes of the first n operands. */
static vt_status broadcast_batch_dims(const vt_rule *r, uint32_t n, vt_type *out, vt_diag *d) {
  vt_type lead[3];
  for (uint32_t i = 0; i < n; i++) {
    lead[i] = r->in[i];
    lead[i].rank -= 2;
  }
  return vt_broadcast_shapes(r, lead, n, out, d);
}

static vt_status product_shape(const vt_rule *r, uint32_t n, vt_type *out, vt_diag *d) {
  const vt_attr_matmul *a = r->attrs;
  char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  if (a->order != VT_ORDER_FMA256)
    return VT_FAIL(d, VT_VERIFY, "order %lld of a contraction does not exist", (long long)a->order);
  for (uint32_t i = 0; i < n; i++) VT_TRY(check_least_rank(r, i, 2, d));
  int64_t m, k, k2, cols;
  matrix_dims(&r->in[0], a->transpose_a, &m, &k);
  matrix_dims(&r->in[1], a->transpose_b, &k2, &cols);
  if (k != k2)
    return VT_FAIL(d, VT_VERIFY, "%s%s times %s%s: the contracted axes differ",
                   vt_type_text(r->dims, &r->in[0], x), a->transpose_a ? " transposed" : "",
                   vt_type_text(r->dims, &r->in[1], y), a->transpose_b ? " transposed" : "");
  VT_TRY(broadcast_batch_dims(r, n, out, d));
  out->dtype = r->in[0].dtype;
  out->dim[out->rank++] = m;
  out->dim[out->rank++] = cols;
  return VT_OK;
}

vt_status shape_matmul(const vt_rule *r, vt_type *out, vt_diag *d) {
  return product_shape(r, 2, out, d);
}

vt_status shape_matmul_masked(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_matmul *a = r->attrs;
  const vt_type *present = &r->in[2];
  char text[VT_TYPE_TEXT];
  VT_TRY(product_shape(r, 3, out, d));
  int64_t m, k;
  matrix_dims(&r->in[0], a->transpose_a, &m, &k);
  if (present->dim[present->rank - 2] != m || present->dim[present->rank - 1] != k)
    return VT_FAIL(d, VT_VERIFY, "operand 3 is %s, expected a mask of rows by contracted axis",
                   vt_type_text(r->dims, present, text));
  return VT_OK;
}

vt_status shape_linear(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_rule product = {
      .dims = r->dims, .in = r->in, .n_in = 2, .attrs = vt_attr_group_matmul.defaults};
  char text[VT_TYPE_TEXT];
  VT_TRY(product_shape(&product, 2, out, d));
  if (r->in[1].rank != 2)
    return VT_FAIL(d, VT_VERIFY, "the weight is %s, expected rank 2",
                   vt_type_text(r->dims, &r->in[1], text));
  if (r->n_in == 3 && (r->in[2].rank != 1 || r->in[2].dim[0] != r->in[1].dim[1]))
    return VT_FAIL(d, VT_VERIFY,
                   "the bias is %s, expected one number for each column of the weight",
                   vt_type_text(r->dims, &r->in[2], text));
  return VT_OK;
}

/* ---- kernels ---- */

typedef struct matrix { /* strides of the rows and columns of a view's matrices, swapped if it is
                           transposed */
  int64_t row, column;
} matrix;

static matrix matrix_strides(const vt_view *v, int64_t transposed) {
  const int64_t outer = v->stride[v->rank - 2], inner = v->stride[v->rank - 1];
  return transposed ? (matrix){inner, outer} : (matrix){outer, inner};
}

static vt_view leading_axes(const vt_view *v) {
  vt_view lead = *v;
  lead.rank -= 2;
  return lead;
}

/* Multiplies row by row: y[m, :] = a[m, :] b, where each element is a D of its own. `ta` and `tb`
 * tell whether a and b are transposed. */
static void multiply_matrices(const vt_kernel *k, const vt_view *mask, int64_t ta, int64_t tb) {
  const vt_view *y = k->out, *a = &k->in[0], *b = &k->in[1];
  const matrix my = matrix_strides(y, 0), ma = matrix_strides(a, ta), mb = matrix_strides(b, tb);
  const matrix mp = mask == NULL ? (matrix){0, 0} : matrix_strides(mask, 0);
  const int64_t rows = y->dim[y->rank - 2], columns = y->dim[y->rank - 1];
  const int64_t depth = a->dim[a->rank - (ta ? 2 : 1)];
  const vt_view ly = leading_axes(y), la = leading_axes(a), lb = leading_axes(b),
                lp = leading_axes(mask ? mask : y);
  vt_walk w;
  vt_walk_init(&w, ly.rank, ly.dim);
  vt_walk_view(&w, &ly);
  vt_walk_view(&w, &la);
  vt_walk_view(&w, &lb);
  vt_walk_view(&w, &lp);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    for (int64_t m = 0; m < rows; m++) {
      const int64_t py = w.at[0] + m * my.row, pa = w.at[1] + m * ma.row, pb = w.at[2];
      const uint8_t *p = mask == NULL ? NULL : (const uint8_t *)mask->data + w.at[3] + m * mp.row;
      if (y->dtype == VT_DTYPE_F32) {
        vt_dot_row_f32((float *)y->data + py, my.column, (const float *)a->data + pa, ma.column,
                       (const float *)b->data + pb, mb.row, mb.column, p, mp.column, depth,
                       columns);
      } else {
        vt_dot_row_f64((double *)y->data + py, my.column, (const double *)a->data + pa, ma.column,
                       (const double *)b->data + pb, mb.row, mb.column, p, mp.column, depth,
                       columns);
      }
    }
}

vt_status kernel_matmul(vt_kernel *k) {
  const vt_attr_matmul *a = k->attrs;
  multiply_matrices(k, NULL, a->transpose_a, a->transpose_b);
  return VT_OK;
}

vt_status kernel_matmul_masked(vt_kernel *k) {
  const vt_attr_matmul *a = k->attrs;
  multiply_matrices(k, &k->in[2], a->transpose_a, a->transpose_b);
  return VT_OK;
}

/* ---- linear: matmul, then + bias ---- */

uint32_t lower_linear(const vt_lowering *l) {
  const uint32_t y = vt_build2(l->b, VT_OP_matmul, l->in[0], l->in[1]);
  return l->n_in == 2 ? y : vt_build2(l->b, VT_OP_add, y, l->in[2]);
}

/* Second implementation of linear: one dot product for each element. */
vt_status kernel_linear(vt_kernel *k) {
  const vt_view *y = k->out, *x = &k->in[0], *w = &k->in[1], *b = k->n_in == 3 ? &k->in[2] : NULL;
  const int64_t depth = w->dim[0];
  const vt_view row_y = vt_view_drop_axis(y, y->rank - 1),
                row_x = vt_view_drop_axis(x, x->rank - 1);
  vt_walk rows;
  vt_walk_init(&rows, row_y.rank, row_y.dim);
  vt_walk_view(&rows, &row_y);
  vt_walk_view(&rows, &row_x);
  for (int64_t i = 0; i < rows.count; i++, vt_walk_next(&rows))
    for (int64_t j = 0; j < w->dim[1]; j++) {
      const int64_t at = rows.at[0] + j * y->stride[y->rank - 1];
      const int64_t xs = x->stride[x->rank - 1], ws = w->stride[0], wj = j * w->stride[1];
      const int64_t bj = b == NULL ? 0 : j * b->stride[0];
      if (y->dtype == VT_DTYPE_F32) {
        const float v = vt_dot_f32((const float *)x->data + rows.at[1], xs,
                                   (const float *)w->data + wj, ws, NULL, 0, depth);
        ((float *)y->data)[at] = b == NULL ? v : v + ((const float *)b->data)[bj];
      } else {
        const double v = vt_dot_f64((const double *)x->data + rows.at[1], xs,
                                    (const double *)w->data + wj, ws, NULL, 0, depth);
        ((double *)y->data)[at] = b == NULL ? v : v + ((const double *)b->data)[bj];
      }
    }
  return VT_OK;
}

/* ---- gradients: they are contractions too. If an operand was repeated along batch axes, these
 * axes are contracted together with its rows or columns as one axis, the batch axes outermost.
 * ---- */

typedef struct side { /* an operand of a contraction: a value [rows, contracted], or if transposed
                         [contracted, rows] */
  uint32_t value;
  int transposed;
} side;

/* The length that x has along batch axis i of `full`; 1 if x does not have the axis. */
static int64_t batch_dim(const vt_type *x, const vt_type *full, uint32_t i) {
  const uint32_t missing = full->rank - x->rank;
  return i < missing ? 1 : x->dim[i - missing];
}

/* The batch axes of `full` along which x was repeated, as a bit mask. */
static uint32_t repeated_axes(const vt_type *x, const vt_type *full) {
  uint32_t axes = 0;
  for (uint32_t i = 0; i + 2 < full->rank; i++)
    if (batch_dim(x, full, i) != full->dim[i]) axes |= 1u << i;
  return axes;
}

static uint32_t transpose_axes(vt_builder *b, uint32_t x, uint32_t rank, const uint32_t *perm) {
  vt_attr_perm a = {.size = sizeof a, .perm = {.n = rank}};
  for (uint32_t i = 0; i < rank; i++) a.perm.v[i] = perm[i];
  return b->node(b, VT_OP_transpose, &x, 1, &a);
}

/* Reshapes x to have all batch axes of `full`, and broadcasts it along those in `over`. */
static uint32_t broadcast_batch(vt_builder *b, uint32_t x, const vt_type *full, uint32_t over) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  vt_type to = *full;
  for (uint32_t i = 0; i + 2 < full->rank; i++) to.dim[i] = batch_dim(t, full, i);
  for (uint32_t i = 1; i <= 2; i++) to.dim[to.rank - i] = t->dim[t->rank - i];
  x = vt_build_reshape(b, x, to.rank, to.dim);
  for (uint32_t i = 0; i + 2 < full->rank; i++)
    if (over >> i & 1) to.dim[i] = full->dim[i];
  return vt_build_broadcast(b, x, to.rank, to.dim);
}

/* Moves the batch axes in `over` into the contracted axis of s: [other batch axes..., rows,
 * (over..., contracted)]. */
static uint32_t merge_batch_into_contracted(vt_builder *b, side s, const vt_type *full,
                                            uint32_t over) {
  const uint32_t x = broadcast_batch(b, s.value, full, over), rank = full->rank;
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  vt_type to = {.rank = 0};
  uint32_t perm[VT_MAX_RANK], n = 0;
  for (uint32_t i = 0; i + 2 < rank; i++)
    if ((over >> i & 1) == 0) perm[n++] = i, to.dim[to.rank++] = t->dim[i];
  const uint32_t row = s.transposed ? rank - 1 : rank - 2,
                 column = s.transposed ? rank - 2 : rank - 1;
  perm[n++] = row, to.dim[to.rank++] = t->dim[row];
  int64_t length = t->dim[column];
  for (uint32_t i = 0; i + 2 < rank; i++)
    if (over >> i & 1) perm[n++] = i, length *= t->dim[i];
  perm[n++] = column, to.dim[to.rank++] = length;
  return vt_build_reshape(b, transpose_axes(b, x, rank, perm), to.rank, to.dim);
}

/* Contracts every row of x with every row of y, along the contracted axis and the axes in `over`.
 * `present` is the mask for x, or no_mask. */
static uint32_t contract_sides(vt_builder *b, side x, side y, side present, const vt_type *full,
                               uint32_t over) {
  vt_attr_matmul a = {.size = sizeof a,
                      .transpose_a = x.transposed,
                      .transpose_b = !y.transposed,
                      .order = VT_ORDER_FMA256};
  const int masked = present.value != VT_NO_VALUE;
  uint32_t in[3] = {x.value, y.value, present.value};
  if (over != 0) {
    in[0] = merge_batch_into_contracted(b, x, full, over);
    in[1] = merge_batch_into_contracted(b, y, full, over);
    a.transpose_a = 0, a.transpose_b = 1;
  }
  if (masked && (over != 0 || present.transposed))
    in[2] = merge_batch_into_contracted(b, present, full, over);
  return b->node(b, masked ? VT_OP_matmul_masked : VT_OP_matmul, in, masked ? 3 : 2, &a);
}

static uint32_t reshape_like(vt_builder *b, uint32_t x, uint32_t like) {
  const vt_type *t = b->type(b, like), *now = b->type(b, x);
  if (t == NULL || now == NULL) return VT_NO_VALUE;
  const vt_type to = *t;
  int same = now->rank == to.rank;
  for (uint32_t i = 0; same && i < to.rank; i++) same = now->dim[i] == to.dim[i];
  return same ? x : vt_build_reshape(b, x, to.rank, to.dim);
}

static const side no_mask = {VT_NO_VALUE, 0};

void grad_matmul(const vt_gradient *g) {
  const vt_attr_matmul *a = g->attrs;
  vt_builder *b = g->b;
  const vt_type *ta = b->type(b, g->in[0]), *tb = b->type(b, g->in[1]), *ty = b->type(b, g->out[0]);
  if (ta == NULL || tb == NULL || ty == NULL) return;
  const vt_type full = *ty;
  const uint32_t over_a = repeated_axes(ta, ty), over_b = repeated_axes(tb, ty);
  const side by_m = {g->d_out[0], 0}, by_n = {g->d_out[0], 1};
  const side of_b = {g->in[1], a->transpose_b != 0}, of_a = {g->in[0], a->transpose_a == 0};
  const uint32_t da = a->transpose_a ? contract_sides(b, of_b, by_m, no_mask, &full, over_a)
                                     : contract_sides(b, by_m, of_b, no_mask, &full, over_a);
  g->d_in[0] = reshape_like(b, da, g->in[0]);
  const uint32_t db = a->transpose_b ? contract_sides(b, by_n, of_a, no_mask, &full, over_b)
                                     : contract_sides(b, of_a, by_n, no_mask, &full, over_b);
  g->d_in[1] = reshape_like(b, db, g->in[1]);
}

/* ---- with a mask ---- */

static uint32_t transpose_last_two(vt_builder *b, uint32_t x) {
  const vt_type *t = b->type(b, x);
  uint32_t perm[VT_MAX_RANK];
  if (t == NULL) return VT_NO_VALUE;
  const uint32_t rank = t->rank;
  for (uint32_t i = 0; i < rank; i++) perm[i] = i;
  perm[rank - 1] = rank - 2, perm[rank - 2] = rank - 1;
  return transpose_axes(b, x, rank, perm);
}

/* Removes the batch axes in `over` from the mask. The mask has length 1 along them, and the
 * contraction sums over them. */
static uint32_t drop_mask_axes(vt_builder *b, uint32_t present, const vt_type *full,
                               uint32_t over) {
  const vt_type *t = b->type(b, present);
  if (t == NULL) return VT_NO_VALUE;
  vt_type to = {.rank = 0};
  for (uint32_t i = 0; i + 2 < full->rank; i++)
    if ((over >> i & 1) == 0) to.dim[to.rank++] = batch_dim(t, full, i);
  to.dim[to.rank++] = t->dim[t->rank - 2];
  to.dim[to.rank++] = t->dim[t->rank - 1];
  return vt_build_reshape(b, present, to.rank, to.dim);
}

/* Reorders a mask [batch..., m, k] that differs along `over` to [other batch axes..., k, m,
 * (over..., n)], repeated n times: the mask of build_masked_da_for_each_k. */
static uint32_t mask_for_each_k(vt_builder *b, uint32_t present, const vt_type *full, uint32_t over,
                                int64_t n) {
  const uint32_t x = broadcast_batch(b, present, full, over), rank = full->rank;
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  vt_type to = {.rank = 0};
  uint32_t perm[VT_MAX_RANK], at = 0;
  int64_t outer = 1, inner = 1;
  for (uint32_t i = 0; i + 2 < rank; i++)
    if ((over >> i & 1) == 0) perm[at++] = i, to.dim[to.rank++] = t->dim[i];
  perm[at++] = rank - 1, to.dim[to.rank++] = t->dim[rank - 1];
  perm[at++] = rank - 2, to.dim[to.rank++] = t->dim[rank - 2];
  for (uint32_t i = 0; i < to.rank; i++) outer *= to.dim[i];
  for (uint32_t i = 0; i + 2 < rank; i++)
    if (over >> i & 1) perm[at++] = i, inner *= t->dim[i];
  const int64_t flat[3] = {outer, inner, 1}, wide[3] = {outer, inner, n};
  to.dim[to.rank++] = inner * n;
  const uint32_t moved = transpose_axes(b, x, rank, perm);
  const uint32_t spread = vt_build_broadcast(b, vt_build_reshape(b, moved, 3, flat), 3, wide);
  return vt_build_reshape(b, spread, to.rank, to.dim);
}

/* da[m, k] if the mask differs along the axes in `over`. The sum over these axes then has another
 * mask for each k, so it is one masked product for each k. */
static uint32_t build_masked_da_for_each_k(const vt_gradient *g, side of_b, const vt_type *full,
                                           uint32_t over) {
  vt_builder *b = g->b;
  const side by_m = {g->d_out[0], 0};
  uint32_t in[3] = {merge_batch_into_contracted(b, by_m, full, over), VT_NO_VALUE, VT_NO_VALUE};
  in[1] = merge_batch_into_contracted(b, of_b, full, over);
  const vt_type *t = b->type(b, in[0]), *s = b->type(b, in[1]);
  if (t == NULL || s == NULL) return VT_NO_VALUE;
  vt_type rows = *t, columns = *s;
  const uint32_t last = rows.rank++;
  rows.dim[last] = rows.dim[last - 1], rows.dim[last - 1] = rows.dim[last - 2];
  rows.dim[last - 2] = 1;
  columns.dim[columns.rank++] = 1;
  in[0] = vt_build_reshape(b, in[0], rows.rank, rows.dim);
  in[1] = vt_build_reshape(b, in[1], columns.rank, columns.dim);
  in[2] = mask_for_each_k(b, g->in[2], full, over, full->dim[full->rank - 1]);
  const uint32_t y =
      b->node(b, VT_OP_matmul_masked, in, 3, NULL); /* [other batch axes..., k, m, 1] */
  const vt_type *made = b->type(b, y);
  if (made == NULL) return VT_NO_VALUE;
  const vt_type flat = *made;
  return transpose_last_two(b, vt_build_reshape(b, y, flat.rank - 1, flat.dim));
}

static uint32_t build_masked_da(const vt_gradient *g, const vt_type *full, uint32_t over,
                                uint32_t mask_differs) {
  const vt_attr_matmul *a = g->attrs;
  vt_builder *b = g->b;
  const side by_m = {g->d_out[0], 0}, of_b = {g->in[1], a->transpose_b != 0};
  uint32_t da;
  if ((over & mask_differs) != 0) {
    da = build_masked_da_for_each_k(g, of_b, full, over);
  } else {
    const uint32_t sum = contract_sides(b, by_m, of_b, no_mask, full, over);
    const uint32_t present = drop_mask_axes(b, g->in[2], full, over);
    da = vt_build3(b, VT_OP_select, present, sum, vt_build_scalar_of_same_dtype(b, sum, 0.0));
  }
  if (a->transpose_a) da = transpose_last_two(b, da);
  return reshape_like(b, da, g->in[0]);
}

/* A product that is absent in the result adds nothing to da and db either. */
void grad_matmul_masked(const vt_gradient *g) {
  const vt_attr_matmul *a = g->attrs;
  vt_builder *b = g->b;
  const vt_type *ta = b->type(b, g->in[0]), *tb = b->type(b, g->in[1]);
  const vt_type *tp = b->type(b, g->in[2]), *ty = b->type(b, g->out[0]);
  if (ta == NULL || tb == NULL || tp == NULL || ty == NULL) return;
  const vt_type full = *ty;
  const uint32_t over_a = repeated_axes(ta, ty), over_b = repeated_axes(tb, ty);
  const uint32_t same = repeated_axes(tp, ty);
  g->d_in[0] = build_masked_da(g, &full, over_a, ~same);
  const side by_n = {g->d_out[0], 1}, of_a = {g->in[0], a->transpose_a == 0};
  uint32_t db = contract_sides(b, of_a, by_n, (side){g->in[2], 1}, &full, over_b);
  if (a->transpose_b) db = transpose_last_two(b, db);
  g->d_in[1] = reshape_like(b, db, g->in[1]);
}

/* dw is contracted over all leading axes of x, as one axis. */
void grad_linear(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_attr_matmul with_w = {.size = sizeof with_w, .transpose_b = 1, .order = VT_ORDER_FMA256};
  const vt_attr_matmul with_x = {.size = sizeof with_x, .transpose_a = 1, .order = VT_ORDER_FMA256};
  const vt_type *tx = b->type(b, g->in[0]), *tw = b->type(b, g->in[1]);
  if (tx == NULL || tw == NULL) return;
  int64_t rows[2] = {1, tx->dim[tx->rank - 1]}, columns[2] = {1, tw->dim[1]};
  for (uint32_t i = 0; i + 1 < tx->rank; i++) rows[0] *= tx->dim[i];
  columns[0] = rows[0];
  const uint32_t for_x[2] = {g->d_out[0], g->in[1]};
  g->d_in[0] = b->node(b, VT_OP_matmul, for_x, 2, &with_w);
  uint32_t for_w[2] = {vt_build_reshape(b, g->in[0], 2, rows), VT_NO_VALUE};
  for_w[1] = vt_build_reshape(b, g->d_out[0], 2, columns);
  g->d_in[1] = b->node(b, VT_OP_matmul, for_w, 2, &with_x);
  if (g->n_in == 3) g->d_in[2] = vt_build_sum_to(b, g->d_out[0], g->in[2]);
}
