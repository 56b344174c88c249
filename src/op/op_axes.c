/* SPDX-License-Identifier: Apache-2.0
 * op_axes.c - compositions that add, remove, merge or split axes: stack, split, squeeze,
 * unsqueeze, flatten. Each is written twice: as ops (the definition) and as a kernel (the second
 * implementation). An axis of the result may be negative, counted from the result's end, so
 * these ops resolve it themselves. */
#include <string.h>
#include "op_move.h"

/* ---- stack: the operands one after the other along a new axis ---- */

vt_status shape_stack(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t axis = ((const vt_attr_stack *)r->attrs)->axis;
  const vt_type *x = &r->in[0];
  char first[VT_TYPE_TEXT], other[VT_TYPE_TEXT];
  uint32_t at = 0;
  if (x->rank == VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "the result would have a rank over %d", VT_MAX_RANK);
  if (!vt_axis_resolve(axis, (int64_t)x->rank + 1, &at))
    return VT_FAIL(d, VT_VERIFY, "axis %lld does not exist in a result of rank %u", (long long)axis,
                   x->rank + 1);
  for (uint32_t i = 1; i < r->n_in; i++)
    if (!vt_type_equal(&r->in[i], x))
      return VT_FAIL(d, VT_VERIFY, "operand %u is %s where operand 1 is %s", i + 1,
                     vt_type_text(r->dims, &r->in[i], other), vt_type_text(r->dims, x, first));
  out->dtype = x->dtype;
  for (uint32_t i = 0; i <= x->rank; i++)
    out->dim[out->rank++] = i == at ? (int64_t)r->n_in : x->dim[i - (i > at)];
  return VT_OK;
}

enum { MOST_STACKED = 4096 }; /* the greatest number of operands that a node can have */
uint32_t lower_stack(const vt_lowering *l) {
  vt_attr_axis along = {.size = sizeof along};
  uint32_t in[MOST_STACKED], axis = 0;
  vt_type x;
  if (!vt_build_read_type(l->b, l->in[0], &x)) return VT_NO_VALUE;
  (void)vt_axis_resolve(((const vt_attr_stack *)l->attrs)->axis, (int64_t)x.rank + 1, &axis);
  memmove(x.dim + axis + 1, x.dim + axis, (x.rank - axis) * sizeof *x.dim);
  x.dim[axis] = 1;
  along.axis = axis;
  for (uint32_t i = 0; i < l->n_in; i++)
    in[i] = vt_build_reshape(l->b, l->in[i], x.rank + 1, x.dim);
  return l->b->node(l->b, VT_OP_concat, in, l->n_in, &along);
}

/* Second implementation: copies each operand into its slice of the result. */
vt_status kernel_stack(vt_kernel *k) {
  uint32_t axis = 0;
  (void)vt_axis_resolve(((const vt_attr_stack *)k->attrs)->axis, k->out->rank, &axis);
  if (vt_view_count(k->out) == 0) return VT_OK;
  for (uint32_t i = 0; i < k->n_in; i++) {
    const vt_view part = vt_view_slice(k->out, axis, i, 1), slice = vt_view_drop_axis(&part, axis);
    vt_view_copy(&slice, &k->in[i]);
  }
  return VT_OK;
}

void grad_stack(const vt_gradient *g) {
  vt_type x;
  uint32_t axis = 0;
  if (!vt_build_read_type(g->b, g->in[0], &x)) return;
  (void)vt_axis_resolve(((const vt_attr_stack *)g->attrs)->axis, (int64_t)x.rank + 1, &axis);
  for (uint32_t i = 0; i < g->n_in; i++)
    g->d_in[i] = vt_build_reshape(g->b, vt_build_slice(g->b, g->d_out[0], axis, i, (int64_t)i + 1),
                                  x.rank, x.dim);
}

/* ---- split: x cut along an axis ---- */

static vt_status shape_of_equal_parts(const vt_rule *r, const vt_attr_split *a, vt_type *out,
                                      vt_diag *d) {
  char x[VT_TYPE_TEXT];
  int64_t length = 0;
  if (a->parts < 1 || a->parts > VT_MAX_RESULTS)
    return VT_FAIL(d, VT_VERIFY, "split into %lld parts: 1 to %d, or sizes instead",
                   (long long)a->parts, VT_MAX_RESULTS);
  if (vt_dim_div(r->dims, r->in[0].dim[a->axis], a->parts, &length, NULL) != VT_OK)
    return VT_FAIL(d, VT_VERIFY, "axis %lld of %s cannot be cut into %lld parts of one length",
                   (long long)a->axis, vt_type_text(r->dims, &r->in[0], x), (long long)a->parts);
  for (int64_t i = 0; i < a->parts; i++) {
    out[i] = r->in[0];
    out[i].dim[a->axis] = length;
  }
  return VT_OK;
}

static vt_status shape_of_sized_parts(const vt_rule *r, const vt_attr_split *a, vt_type *out,
                                      vt_diag *d) {
  char x[VT_TYPE_TEXT];
  int64_t sum = 0;
  if (a->sizes.n < 0 || a->sizes.n > VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "%lld sizes: at most %d", (long long)a->sizes.n, VT_MAX_RANK);
  for (int64_t i = 0; i < a->sizes.n; i++) {
    const int64_t size = a->sizes.v[i];
    if (!vt_dim_is_symbolic(size) && (size < 0 || size > VT_DIM_MAX))
      return VT_FAIL(d, VT_VERIFY, "part %lld has length %lld", (long long)i, (long long)size);
    VT_TRY(vt_dim_add(r->dims, sum, size, &sum, d));
    out[i] = r->in[0];
    out[i].dim[a->axis] = size;
  }
  if (sum == r->in[0].dim[a->axis]) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "the sizes do not add up to axis %lld of %s", (long long)a->axis,
                 vt_type_text(r->dims, &r->in[0], x));
}

vt_status shape_split(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_split *a = r->attrs;
  vt_type parts[VT_MAX_RESULTS] = {{0}};
  char x[VT_TYPE_TEXT];
  if (a->axis < 0 || a->axis >= (int64_t)r->in[0].rank)
    return VT_FAIL(d, VT_VERIFY, "axis %lld does not exist in %s", (long long)a->axis,
                   vt_type_text(r->dims, &r->in[0], x));
  if (a->sizes.n != 0 && a->parts != 0)
    return VT_FAIL(d, VT_VERIFY, "split takes parts or sizes, not both");
  VT_TRY(a->sizes.n != 0 ? shape_of_sized_parts(r, a, parts, d)
                         : shape_of_equal_parts(r, a, parts, d));
  memcpy(out, parts, sizeof parts);
  return VT_OK;
}

static int64_t part_length(const vt_attr_split *a, int64_t dim, int64_t i) {
  return a->sizes.n != 0 ? a->sizes.v[i] : dim / a->parts;
}

uint32_t lower_split(const vt_lowering *l) {
  const vt_attr_split *a = l->attrs;
  vt_type x;
  int64_t at = 0;
  if (!vt_build_read_type(l->b, l->in[0], &x)) return VT_NO_VALUE;
  const int64_t n = a->sizes.n != 0 ? a->sizes.n : a->parts;
  for (int64_t i = 0; i < n; i++) {
    const int64_t next = at + part_length(a, x.dim[a->axis], i);
    l->out[i] = vt_build_slice(l->b, l->in[0], (uint32_t)a->axis, at, next);
    at = next;
  }
  return l->out[0];
}

/* Second implementation: copies slices of x to the results. The shapes of the results give the
 * lengths of the slices. */
vt_status kernel_split(vt_kernel *k) {
  const uint32_t axis = (uint32_t)((const vt_attr_split *)k->attrs)->axis;
  int64_t at = 0;
  for (uint32_t i = 0; i < k->n_out; i++) {
    const int64_t length = k->out[i].dim[axis];
    if (vt_view_count(&k->out[i]) > 0) {
      const vt_view part = vt_view_slice(&k->in[0], axis, at, length);
      vt_view_copy(&k->out[i], &part);
    }
    at += length;
  }
  return VT_OK;
}

/* The gradient of the first result that has a gradient. grad_split puts +0 of its type for every
 * result without a gradient. */
static uint32_t first_gradient(const vt_gradient *g) {
  uint32_t i = 0;
  while (g->d_out[i] == VT_NO_VALUE) i++;
  return g->d_out[i];
}

void grad_split(const vt_gradient *g) {
  const vt_attr_axis along = {.size = sizeof along,
                              .axis = ((const vt_attr_split *)g->attrs)->axis};
  uint32_t parts[VT_MAX_RESULTS];
  vt_type dy, y;
  if (!vt_build_read_type(g->b, first_gradient(g), &dy)) return;
  for (uint32_t i = 0; i < g->n_out; i++) {
    parts[i] = g->d_out[i];
    if (parts[i] != VT_NO_VALUE) continue;
    if (!vt_build_read_type(g->b, g->out[i], &y)) return;
    parts[i] = vt_build_full(g->b, dy.dtype, 0.0, &y);
  }
  g->d_in[0] = g->b->node(g->b, VT_OP_concat, parts, g->n_out, &along);
}

/* ---- squeeze: without axes of length 1 ---- */

/* The axes that squeeze removes, as a bit mask; an empty list means all axes of length 1. */
static unsigned squeezed_mask(const vt_attr_list *axes, uint32_t rank, const int64_t *dim) {
  unsigned mask = 0;
  for (int64_t i = 0; i < axes->n; i++) mask |= 1u << axes->v[i];
  for (uint32_t i = 0; axes->n == 0 && i < rank; i++) mask |= (unsigned)(dim[i] == 1) << i;
  return mask;
}

vt_status shape_squeeze(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_list *axes = &((const vt_attr_axes *)r->attrs)->axes;
  const vt_type *x = &r->in[0];
  char type[VT_TYPE_TEXT];
  vt_type same;
  VT_TRY(shape_flip(r, &same, d)); /* checks that the axes exist and that none is named twice */
  for (int64_t i = 0; i < axes->n; i++)
    if (x->dim[axes->v[i]] != 1)
      return VT_FAIL(d, VT_VERIFY, "axis %lld of %s is not of length 1", (long long)axes->v[i],
                     vt_type_text(r->dims, x, type));
  for (uint32_t i = 0; axes->n == 0 && i < x->rank; i++)
    if (vt_dim_is_symbolic(x->dim[i]))
      return VT_FAIL(d, VT_VERIFY, "name the axes: whether axis %u of %s has length 1 is not known",
                     i, vt_type_text(r->dims, x, type));
  const unsigned mask = squeezed_mask(axes, x->rank, x->dim);
  out->dtype = x->dtype;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!(mask >> i & 1)) out->dim[out->rank++] = x->dim[i];
  return VT_OK;
}

uint32_t lower_squeeze(const vt_lowering *l) {
  vt_type x;
  int64_t dim[VT_MAX_RANK];
  uint32_t rank = 0;
  if (!vt_build_read_type(l->b, l->in[0], &x)) return VT_NO_VALUE;
  const unsigned mask = squeezed_mask(&((const vt_attr_axes *)l->attrs)->axes, x.rank, x.dim);
  for (uint32_t i = 0; i < x.rank; i++)
    if (!(mask >> i & 1)) dim[rank++] = x.dim[i];
  return vt_build_reshape(l->b, l->in[0], rank, dim);
}

/* Second implementation: copies x, seen without the removed axes, to the result. */
vt_status kernel_squeeze(vt_kernel *k) {
  const vt_view *x = &k->in[0];
  const vt_attr_list *axes = &((const vt_attr_axes *)k->attrs)->axes;
  const vt_view less = vt_view_pick_axes(x, ~squeezed_mask(axes, x->rank, x->dim));
  vt_view_copy(k->out, &less);
  return VT_OK;
}

/* ---- unsqueeze: with axes of length 1 ---- */

/* The positions of the new axes in the result of unsqueeze, as a bit mask; the 0 bits are the axes
 * of x. */
static vt_status unsqueezed_mask(const vt_attr_list *axes, uint32_t rank, unsigned *out,
                                 vt_diag *d) {
  unsigned mask = 0;
  if (axes->n < 0 || axes->n > VT_MAX_RANK - (int64_t)rank)
    return VT_FAIL(d, VT_LIMIT, "%lld axes more than %u: at most %d in all", (long long)axes->n,
                   rank, VT_MAX_RANK);
  for (int64_t i = 0; i < axes->n; i++) {
    uint32_t at = 0;
    if (!vt_axis_resolve(axes->v[i], (int64_t)rank + axes->n, &at))
      return VT_FAIL(d, VT_VERIFY, "axis %lld does not exist in a result of rank %lld",
                     (long long)axes->v[i], (long long)rank + axes->n);
    if (mask >> at & 1) return VT_FAIL(d, VT_VERIFY, "axis %u is named twice", at);
    mask |= 1u << at;
  }
  *out = mask;
  return VT_OK;
}

vt_status shape_unsqueeze(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_list *axes = &((const vt_attr_unsqueeze *)r->attrs)->axes;
  const vt_type *x = &r->in[0];
  unsigned mask = 0;
  VT_TRY(unsqueezed_mask(axes, x->rank, &mask, d));
  out->dtype = x->dtype;
  out->rank = x->rank + (uint32_t)axes->n;
  for (uint32_t i = 0, from = 0; i < out->rank; i++)
    out->dim[i] = mask >> i & 1 ? 1 : x->dim[from++];
  return VT_OK;
}

uint32_t lower_unsqueeze(const vt_lowering *l) {
  const vt_attr_list *axes = &((const vt_attr_unsqueeze *)l->attrs)->axes;
  vt_type x;
  int64_t dim[VT_MAX_RANK];
  unsigned mask = 0;
  if (!vt_build_read_type(l->b, l->in[0], &x) ||
      unsqueezed_mask(axes, x.rank, &mask, NULL) != VT_OK)
    return VT_NO_VALUE;
  const uint32_t rank = x.rank + (uint32_t)axes->n;
  for (uint32_t i = 0, from = 0; i < rank; i++) dim[i] = mask >> i & 1 ? 1 : x.dim[from++];
  return vt_build_reshape(l->b, l->in[0], rank, dim);
}

/* Second implementation: copies x into the result, seen without its new axes. */
vt_status kernel_unsqueeze(vt_kernel *k) {
  unsigned mask = 0;
  VT_TRY(unsqueezed_mask(&((const vt_attr_unsqueeze *)k->attrs)->axes, k->in[0].rank, &mask, NULL));
  const vt_view less = vt_view_pick_axes(k->out, ~mask);
  vt_view_copy(&less, &k->in[0]);
  return VT_OK;
}

/* ---- flatten: the axes start to end merged into one ---- */

/* A scalar becomes a vector of one element. */
vt_status shape_flatten(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_flatten *a = r->attrs;
  const vt_type *x = &r->in[0];
  const int64_t rank = x->rank > 0 ? (int64_t)x->rank : 1;
  char type[VT_TYPE_TEXT];
  uint32_t start = 0, end = 0;
  if (!vt_axis_resolve(a->start, rank, &start) || !vt_axis_resolve(a->end, rank, &end) ||
      start > end)
    return VT_FAIL(d, VT_VERIFY, "axes %lld to %lld of %s do not exist or are out of order",
                   (long long)a->start, (long long)a->end, vt_type_text(r->dims, x, type));
  int64_t one = 1;
  for (uint32_t i = start; i <= end && i < x->rank; i++)
    VT_TRY(vt_dim_mul(r->dims, one, x->dim[i], &one, d));
  out->dtype = x->dtype;
  for (uint32_t i = 0; i < start; i++) out->dim[out->rank++] = x->dim[i];
  out->dim[out->rank++] = one;
  for (uint32_t i = end + 1; i < x->rank; i++) out->dim[out->rank++] = x->dim[i];
  return VT_OK;
}

uint32_t lower_flatten(const vt_lowering *l) {
  vt_type x, y = {0};
  if (!vt_build_read_type(l->b, l->in[0], &x)) return VT_NO_VALUE;
  const vt_rule r = {.dims = l->b->dims, .in = &x, .n_in = 1, .attrs = l->attrs};
  if (shape_flatten(&r, &y, NULL) != VT_OK) return VT_NO_VALUE;
  return vt_build_reshape(l->b, l->in[0], y.rank, y.dim);
}

/* Second implementation: copies element by element; the index along the merged axis is computed
 * from the indices along the axes of x. */
vt_status kernel_flatten(vt_kernel *k) {
  const vt_attr_flatten *a = k->attrs;
  const vt_view *x = &k->in[0], *y = k->out;
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype), rank = x->rank > 0 ? x->rank : 1;
  uint32_t start = 0, end = 0;
  (void)vt_axis_resolve(a->start, rank, &start);
  (void)vt_axis_resolve(a->end, rank, &end);
  vt_walk w;
  vt_walk_init(&w, x->rank, x->dim);
  vt_walk_view(&w, x);
  for (int64_t n = 0; n < w.count; n++, vt_walk_next(&w)) {
    int64_t to = 0, one = 0;
    for (uint32_t i = 0; i < x->rank; i++) {
      if (i < start) to += w.index[i] * y->stride[i];
      if (i >= start && i <= end) one = one * x->dim[i] + w.index[i];
      if (i > end) to += w.index[i] * y->stride[i - (end - start)];
    }
    memcpy((char *)y->data + (to + one * y->stride[start]) * size,
           (const char *)x->data + w.at[0] * size, (size_t)size);
  }
  return VT_OK;
}
