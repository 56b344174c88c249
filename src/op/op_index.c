/* SPDX-License-Identifier: Apache-2.0
 * op_index.c - gathers of elements by several coordinates (gather_nd) or with one coordinate
 * replaced (gather_elements), and one_hot; gather itself is in op_move.c. A composition is
 * written as ops (the definition) and as a kernel (the second implementation). The last axis of
 * the index of gather_nd holds coordinates: one of its lines is a row. */
#include <string.h>
#include "op_move.h"
#include "vt_num.h"

/* ---- rules ---- */

vt_status check_index(const vt_rule *r, vt_diag *d) {
  char type[VT_TYPE_TEXT];
  if (r->in[0].dtype == VT_DTYPE_I32 || r->in[0].dtype == VT_DTYPE_I64) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "operand 1 is %s, expected an index of i32 or i64",
                 vt_type_text(r->dims, &r->in[0], type));
}

/* The number of coordinates in a row of the index. The rank of the result depends on it, so it must
 * not be symbolic. */
static vt_status coordinate_count(const vt_rule *r, uint32_t batch, uint32_t *out, vt_diag *d) {
  const vt_type *x = &r->in[0], *index = &r->in[1];
  const int64_t depth = index->dim[index->rank - 1];
  char tx[VT_TYPE_TEXT], ti[VT_TYPE_TEXT];
  if (vt_dim_is_symbolic(depth))
    return VT_FAIL(d, VT_VERIFY, "the last axis of the index %s must be known",
                   vt_type_text(r->dims, index, ti));
  if (depth < 0 || depth > (int64_t)(x->rank - batch))
    return VT_FAIL(d, VT_VERIFY,
                   "the last axis of the index %s holds more coordinates than %s has "
                   "axes after the first %u",
                   vt_type_text(r->dims, index, ti), vt_type_text(r->dims, x, tx), batch);
  *out = (uint32_t)depth;
  return VT_OK;
}

vt_status shape_gather_nd(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t batch = ((const vt_attr_gather_nd *)r->attrs)->batch;
  const vt_type *x = &r->in[0], *index = &r->in[1];
  char tx[VT_TYPE_TEXT], ti[VT_TYPE_TEXT];
  uint32_t depth = 0;
  int fits = batch >= 0 && batch <= (int64_t)x->rank && batch < (int64_t)index->rank;
  for (int64_t i = 0; fits && i < batch; i++) fits = x->dim[i] == index->dim[i];
  if (!fits)
    return VT_FAIL(d, VT_VERIFY,
                   "%s by coordinates %s with %lld batch axes: both must have the same batch axes",
                   vt_type_text(r->dims, x, tx), vt_type_text(r->dims, index, ti),
                   (long long)batch);
  VT_TRY(coordinate_count(r, (uint32_t)batch, &depth, d));
  const uint32_t rest = (uint32_t)batch + depth;
  if (index->rank - 1 + x->rank - rest > VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "the result would have a rank over %d", VT_MAX_RANK);
  out->dtype = x->dtype;
  for (uint32_t i = 0; i + 1 < index->rank; i++) out->dim[out->rank++] = index->dim[i];
  for (uint32_t i = rest; i < x->rank; i++) out->dim[out->rank++] = x->dim[i];
  return VT_OK;
}

/* The index has as many axes as x, and along axes other than `axis` it may be shorter than x.
 * Symbolic lengths are checked again once they are bound. */
vt_status shape_gather_elements(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t axis = ((const vt_attr_axis *)r->attrs)->axis;
  const vt_type *x = &r->in[0], *index = &r->in[1];
  char tx[VT_TYPE_TEXT], ti[VT_TYPE_TEXT];
  int fits = axis >= 0 && axis < (int64_t)x->rank && index->rank == x->rank;
  for (uint32_t i = 0; fits && i < x->rank; i++)
    fits = i == axis || vt_dim_is_symbolic(x->dim[i]) || vt_dim_is_symbolic(index->dim[i]) ||
           index->dim[i] <= x->dim[i];
  if (!fits)
    return VT_FAIL(d, VT_VERIFY,
                   "%s by an index %s along axis %lld: it may be longer on that axis "
                   "only",
                   vt_type_text(r->dims, x, tx), vt_type_text(r->dims, index, ti), (long long)axis);
  *out = *index;
  out->dtype = x->dtype;
  return VT_OK;
}

vt_status shape_one_hot(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_one_hot *a = r->attrs;
  if (!vt_dim_is_symbolic(a->depth) && (a->depth < 0 || a->depth > VT_DIM_MAX))
    return VT_FAIL(d, VT_VERIFY, "depth=%lld is outside 0..2^40", (long long)a->depth);
  if (a->dtype < 0 || a->dtype > UINT32_MAX || vt_dtype_name((uint32_t)a->dtype) == NULL)
    return VT_FAIL(d, VT_VERIFY, "a one_hot of type number %lld, which does not exist",
                   (long long)a->dtype);
  if (r->in[0].rank == VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "the result would have a rank over %d", VT_MAX_RANK);
  *out = r->in[0];
  out->dtype = (uint32_t)a->dtype;
  out->dim[out->rank++] = a->depth;
  return VT_OK;
}

/* ---- gather_nd ---- */

vt_status vt_check_coordinates(vt_kernel *k, uint32_t batch) {
  const vt_view *index = &k->in[1];
  vt_walk w;
  vt_walk_init(&w, index->rank, index->dim);
  vt_walk_view(&w, index);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t v = vt_load_int(index->data, index->dtype, w.at[0]);
    if (v >= 0 && v < k->in[0].dim[batch + w.index[index->rank - 1]]) continue;
    k->position = (uint64_t)i;
    k->value = v;
    return VT_RANGE;
  }
  return VT_OK;
}

/* The slice of x that one row of coordinates selects. The coordinates fix `depth` axes of x after
 * its batch axes, and the batch axes are fixed by the position of the row. */
static vt_view slice_at_row(const vt_view *x, uint32_t batch, const vt_walk *row,
                            const vt_view *index, int64_t at) {
  const uint32_t depth = (uint32_t)index->dim[index->rank - 1];
  int64_t from = 0;
  for (uint32_t i = 0; i < batch; i++) from += row->index[i] * x->stride[i];
  for (uint32_t i = 0; i < depth; i++)
    from += vt_load_int(index->data, index->dtype, at + i * index->stride[index->rank - 1]) *
            x->stride[batch + i];
  vt_view slice = vt_view_pick_axes(x, ~0u << (batch + depth));
  slice.data = (char *)x->data + from * (int64_t)vt_dtype_bytes(x->dtype);
  return slice;
}

vt_status kernel_gather_nd(vt_kernel *k) {
  const uint32_t batch = (uint32_t)((const vt_attr_gather_nd *)k->attrs)->batch;
  const vt_view *x = &k->in[0], *index = &k->in[1], *y = k->out;
  const vt_view rows = vt_view_drop_axis(index, index->rank - 1);
  const vt_view lead = vt_view_pick_axes(y, (1u << rows.rank) - 1);
  VT_TRY(vt_check_coordinates(k, batch));
  if (vt_view_count(y) == 0) return VT_OK;
  vt_walk w;
  vt_walk_init(&w, rows.rank, rows.dim);
  vt_walk_view(&w, &lead);
  vt_walk_view(&w, &rows);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const vt_view slice = slice_at_row(x, batch, &w, index, w.at[1]);
    vt_view to = vt_view_pick_axes(y, ~0u << rows.rank);
    to.data = (char *)y->data + w.at[0] * (int64_t)vt_dtype_bytes(y->dtype);
    vt_view_copy(&to, &slice);
  }
  return VT_OK;
}

void grad_gather_nd(const vt_gradient *g) {
  vt_type x, y;
  if (!vt_build_read_type(g->b, g->in[0], &x) || !vt_build_read_type(g->b, g->d_out[0], &y)) return;
  const uint32_t in[3] = {vt_build_full(g->b, y.dtype, 0.0, &x), g->in[1], g->d_out[0]};
  g->d_in[0] = g->b->node(g->b, VT_OP_scatter_nd_add, in, 3, g->attrs);
}

/* ---- gather_elements ---- */

uint32_t lower_gather_elements(const vt_lowering *l) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)l->attrs)->axis;
  vt_type x;
  if (!vt_build_read_type(l->b, l->in[0], &x)) return VT_NO_VALUE;
  const int64_t count = vt_count_elements(x.dim, x.rank);
  const uint32_t at = vt_build_gather_elements_positions(l->b, &x, l->in[1], axis);
  return vt_build2(l->b, VT_OP_gather, vt_build_reshape(l->b, l->in[0], 1, &count), at);
}

/* Second implementation: one walk goes over the result and the index together and copies element by
 * element. */
vt_status kernel_gather_elements(vt_kernel *k) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)k->attrs)->axis;
  const vt_view *x = &k->in[0], *index = &k->in[1], *y = k->out;
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype);
  VT_TRY(vt_check_indices(k, x->dim[axis]));
  vt_walk w;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  vt_walk_view(&w, index);
  for (int64_t n = 0; n < w.count; n++, vt_walk_next(&w)) {
    int64_t from = vt_load_int(index->data, index->dtype, w.at[1]) * x->stride[axis];
    for (uint32_t i = 0; i < x->rank; i++)
      if (i != axis) from += w.index[i] * x->stride[i];
    memcpy((char *)y->data + w.at[0] * size, (const char *)x->data + from * size, (size_t)size);
  }
  return VT_OK;
}

void grad_gather_elements(const vt_gradient *g) {
  vt_type x, y;
  if (!vt_build_read_type(g->b, g->in[0], &x) || !vt_build_read_type(g->b, g->d_out[0], &y)) return;
  const uint32_t in[3] = {vt_build_full(g->b, y.dtype, 0.0, &x), g->in[1], g->d_out[0]};
  g->d_in[0] = g->b->node(g->b, VT_OP_scatter_elements_add, in, 3, g->attrs);
}

/* ---- one_hot ---- */

uint32_t lower_one_hot(const vt_lowering *l) {
  const vt_attr_one_hot *a = l->attrs;
  vt_builder *b = l->b;
  vt_type t;
  if (!vt_build_read_type(b, l->in[0], &t)) return VT_NO_VALUE;
  t.dim[t.rank] = 1;
  const uint32_t index = vt_build_cast(b, l->in[0], VT_DTYPE_I64);
  const uint32_t column = vt_build_reshape(b, index, t.rank + 1, t.dim);
  const uint32_t hot = vt_build2(b, VT_OP_eq, column, vt_build_iota(b, 1, 0, a->depth));
  const uint32_t on = vt_build_number(b, (uint32_t)a->dtype, a->on);
  const uint32_t off = vt_build_number(b, (uint32_t)a->dtype, a->off);
  return vt_build3(b, VT_OP_select, hot, on, off);
}

/* Second implementation: fills the result with `off`, then writes `on` to one element of each
 * row. */
vt_status kernel_one_hot(vt_kernel *k) {
  const vt_attr_one_hot *a = k->attrs;
  const vt_view *index = &k->in[0], *y = k->out;
  const int64_t size = (int64_t)vt_dtype_bytes(y->dtype), depth = y->dim[y->rank - 1];
  char on[8], off[8];
  vt_cast(&a->on, 1, VT_DTYPE_F64, on, 1, y->dtype, 1);
  vt_cast(&a->off, 1, VT_DTYPE_F64, off, 1, y->dtype, 1);
  const vt_view cold = {.dtype = y->dtype, .data = off};
  vt_view_copy(y, &cold);
  const vt_view rows = vt_view_drop_axis(y, y->rank - 1);
  vt_walk w;
  vt_walk_init(&w, index->rank, index->dim);
  vt_walk_view(&w, &rows);
  vt_walk_view(&w, index);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t v = vt_load_int(index->data, index->dtype, w.at[1]);
    if (v < 0 || v >= depth) continue;
    memcpy((char *)y->data + (w.at[0] + v * y->stride[rows.rank]) * size, on, (size_t)size);
  }
  return VT_OK;
}
