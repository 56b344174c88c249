/* SPDX-License-Identifier: Apache-2.0
 * op_contract.c - matmul, matmul in which some products are absent, and linear over matmul.
 * Every output element is one contraction D over k; leading axes broadcast. */
#include "op_rows.h"
#include "vt_num.h"

/* ---- shapes ---- */

static vt_status need_rank(const vt_rule *r, uint32_t i, uint32_t rank, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  if (r->in[i].rank >= rank) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected at least rank %u", i + 1,
                 vt_type_text(r->dims, &r->in[i], text), rank);
}

/* (M, K) and (K, N) of the last two axes, after the transposes. */
static void matrix_dims(const vt_type *t, int64_t transposed, int64_t *rows, int64_t *columns) {
  *rows = t->dim[t->rank - (transposed ? 1 : 2)];
  *columns = t->dim[t->rank - (transposed ? 2 : 1)];
}

/* The leading axes of several operands, broadcast. */
static vt_status batch_dims(const vt_rule *r, uint32_t n, vt_type *out, vt_diag *d) {
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
  for (uint32_t i = 0; i < n; i++) VT_TRY(need_rank(r, i, 2, d));
  int64_t m, k, k2, cols;
  matrix_dims(&r->in[0], a->transpose_a, &m, &k);
  matrix_dims(&r->in[1], a->transpose_b, &k2, &cols);
  if (k != k2)
    return VT_FAIL(d, VT_VERIFY, "%s%s times %s%s: the contracted axes differ",
                   vt_type_text(r->dims, &r->in[0], x), a->transpose_a ? " transposed" : "",
                   vt_type_text(r->dims, &r->in[1], y), a->transpose_b ? " transposed" : "");
  VT_TRY(batch_dims(r, n, out, d));
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

typedef struct matrix { /* the last two axes of a view, transposed or not */
  int64_t row, column;  /* strides */
} matrix;

static matrix matrix_of(const vt_view *v, int64_t transposed) {
  const int64_t outer = v->stride[v->rank - 2], inner = v->stride[v->rank - 1];
  return transposed ? (matrix){inner, outer} : (matrix){outer, inner};
}

static vt_view lead_of(const vt_view *v) {
  vt_view lead = *v;
  lead.rank -= 2;
  return lead;
}

/* One output row at a time: y[m, :] = a[m, :] b, each element a D of its own. */
static void product(const vt_kernel *k, const vt_view *mask, int64_t ta, int64_t tb) {
  const vt_view *y = k->out, *a = &k->in[0], *b = &k->in[1];
  const matrix my = matrix_of(y, 0), ma = matrix_of(a, ta), mb = matrix_of(b, tb);
  const matrix mp = mask == NULL ? (matrix){0, 0} : matrix_of(mask, 0);
  const int64_t rows = y->dim[y->rank - 2], columns = y->dim[y->rank - 1];
  const int64_t depth = a->dim[a->rank - (ta ? 2 : 1)];
  const vt_view ly = lead_of(y), la = lead_of(a), lb = lead_of(b), lp = lead_of(mask ? mask : y);
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
  product(k, NULL, a->transpose_a, a->transpose_b);
  return VT_OK;
}

vt_status kernel_matmul_masked(vt_kernel *k) {
  const vt_attr_matmul *a = k->attrs;
  product(k, &k->in[2], a->transpose_a, a->transpose_b);
  return VT_OK;
}

/* ---- linear: matmul, then + bias ---- */

uint32_t lower_linear(const vt_lowering *l) {
  const uint32_t y = vt_build2(l->b, VT_OP_matmul, l->in[0], l->in[1]);
  return l->n_in == 2 ? y : vt_build2(l->b, VT_OP_add, y, l->in[2]);
}

/* Second implementation: element by element, with one dot product each. */
vt_status kernel_linear(vt_kernel *k) {
  const vt_view *y = k->out, *x = &k->in[0], *w = &k->in[1], *b = k->n_in == 3 ? &k->in[2] : NULL;
  const int64_t depth = w->dim[0];
  const vt_view row_y = vt_view_drop(y, y->rank - 1), row_x = vt_view_drop(x, x->rank - 1);
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
