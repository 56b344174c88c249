/* SPDX-License-Identifier: Apache-2.0
 * op_move.c - the prims that copy elements without computing. literal and iota create them, the
 * others select the elements of x that the result gets: each is one strided copy of a view.
 * Their gradients are movements too; dy is the gradient of the result, S the ordered sum of
 * docs/numerics.md. */
#include <string.h>
#include "op_move.h"
#include "vt_num.h"

/* ---- shapes ---- */

int vt_axis_resolve(int64_t axis, int64_t rank, uint32_t *out) {
  if (axis < -rank || axis >= rank) return 0;
  *out = (uint32_t)(axis < 0 ? axis + rank : axis);
  return 1;
}

static vt_status shape_from_list(const vt_attr_list *list, vt_type *out, vt_diag *d) {
  if (list->n < 0 || list->n > VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "a shape of rank %lld: at most %d", (long long)list->n,
                   VT_MAX_RANK);
  out->rank = (uint32_t)list->n;
  memcpy(out->dim, list->v, (size_t)list->n * sizeof *out->dim);
  return VT_OK;
}

vt_status shape_literal(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_literal *a = r->attrs;
  if (a->dtype < 0 || a->dtype > UINT32_MAX || vt_dtype_name((uint32_t)a->dtype) == NULL)
    return VT_FAIL(d, VT_VERIFY, "a literal of type number %lld, which does not exist",
                   (long long)a->dtype);
  out->dtype = (uint32_t)a->dtype;
  return VT_OK;
}

vt_status shape_iota(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_iota *a = r->attrs;
  VT_TRY(shape_from_list(&a->shape, out, d));
  uint32_t axis;
  if (!vt_axis_resolve(a->axis, a->shape.n, &axis))
    return VT_FAIL(d, VT_VERIFY, "axis %lld of iota does not exist: its shape has rank %lld",
                   (long long)a->axis, (long long)a->shape.n);
  const int64_t type = a->dtype;
  if (type != VT_DTYPE_I32 && type != VT_DTYPE_I64 && type != VT_DTYPE_F32 && type != VT_DTYPE_F64)
    return VT_FAIL(d, VT_VERIFY, "iota makes i32, i64, f32 or f64");
  out->dtype = (uint32_t)type;
  return VT_OK;
}

static vt_status symbolic_element_count(vt_dims *dims, const vt_type *t, int64_t *out, vt_diag *d) {
  int64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++) VT_TRY(vt_dim_mul(dims, n, t->dim[i], &n, d));
  *out = n;
  return VT_OK;
}

vt_status shape_reshape(const vt_rule *r, vt_type *out, vt_diag *d) {
  char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  int64_t before, after;
  out->dtype = r->in[0].dtype;
  VT_TRY(shape_from_list(&((const vt_attr_shape *)r->attrs)->shape, out, d));
  VT_TRY(symbolic_element_count(r->dims, &r->in[0], &before, d));
  VT_TRY(symbolic_element_count(r->dims, out, &after, d));
  if (before == after) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "%s does not have as many elements as %s",
                 vt_type_text(r->dims, &r->in[0], x), vt_type_text(r->dims, out, y));
}

vt_status shape_broadcast_to(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_type *x = &r->in[0];
  char before[VT_TYPE_TEXT], after[VT_TYPE_TEXT];
  out->dtype = x->dtype;
  VT_TRY(shape_from_list(&((const vt_attr_shape *)r->attrs)->shape, out, d));
  int fits = out->rank >= x->rank;
  for (uint32_t i = 1; fits && i <= x->rank; i++) {
    const int64_t have = x->dim[x->rank - i];
    fits = have == 1 || have == out->dim[out->rank - i];
  }
  if (fits) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "%s does not broadcast to %s", vt_type_text(r->dims, x, before),
                 vt_type_text(r->dims, out, after));
}

vt_status shape_transpose(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_list *perm = &((const vt_attr_perm *)r->attrs)->perm;
  const vt_type *x = &r->in[0];
  unsigned seen = 0;
  if (perm->n != (int64_t)x->rank)
    return VT_FAIL(d, VT_VERIFY, "perm has %lld axes, the operand has rank %u", (long long)perm->n,
                   x->rank);
  *out = *x;
  for (uint32_t i = 0; i < x->rank; i++) {
    if (perm->v[i] < 0 || perm->v[i] >= (int64_t)x->rank || seen >> perm->v[i] & 1)
      return VT_FAIL(d, VT_VERIFY, "perm is not a permutation of 0..%u", x->rank - 1);
    seen |= 1u << perm->v[i];
    out->dim[i] = x->dim[perm->v[i]];
  }
  return VT_OK;
}

static vt_status slice_length(const vt_rule *r, uint32_t i, int64_t step, int64_t *out,
                              vt_diag *d) {
  const vt_attr_slice *a = r->attrs;
  const int64_t start = a->start.v[i], stop = a->stop.v[i], dim = r->in[0].dim[i];
  const int known = !vt_dim_is_symbolic(start) && !vt_dim_is_symbolic(stop);
  char type[VT_TYPE_TEXT];
  if (step < 1)
    return VT_FAIL(d, VT_VERIFY, "step %lld of axis %u of %s: at least 1", (long long)step, i,
                   vt_type_text(r->dims, &r->in[0], type));
  if (!vt_dim_is_symbolic(start) && start < 0)
    return VT_FAIL(d, VT_VERIFY, "start %lld of axis %u of %s: at least 0", (long long)start, i,
                   vt_type_text(r->dims, &r->in[0], type));
  if (known && start > stop)
    return VT_FAIL(d, VT_VERIFY, "axis %u of %s is sliced from %lld to %lld", i,
                   vt_type_text(r->dims, &r->in[0], type), (long long)start, (long long)stop);
  if (!vt_dim_is_symbolic(stop) && !vt_dim_is_symbolic(dim) && stop > dim)
    return VT_FAIL(d, VT_VERIFY, "axis %u of %s is sliced up to %lld, its length is %lld", i,
                   vt_type_text(r->dims, &r->in[0], type), (long long)stop, (long long)dim);
  if (!known && step != 1)
    return VT_FAIL(d, VT_VERIFY, "axis %u of %s: a symbolic slice needs step 1", i,
                   vt_type_text(r->dims, &r->in[0], type));
  VT_TRY(vt_dim_sub(r->dims, stop, start, out, d));
  if (known) *out = *out / step + (*out % step != 0);
  return VT_OK;
}

vt_status shape_slice(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_slice *a = r->attrs;
  const int64_t rank = r->in[0].rank;
  if (a->start.n != rank || a->stop.n != rank || (a->step.n != 0 && a->step.n != rank))
    return VT_FAIL(d, VT_VERIFY, "start, stop and step need one entry for each of %lld axes",
                   (long long)rank);
  *out = r->in[0];
  for (uint32_t i = 0; i < out->rank; i++)
    VT_TRY(slice_length(r, i, a->step.n == 0 ? 1 : a->step.v[i], &out->dim[i], d));
  return VT_OK;
}

vt_status shape_pad(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_pad *a = r->attrs;
  *out = r->in[0];
  if (r->in[1].rank != 0) return VT_FAIL(d, VT_VERIFY, "the padding value must be a scalar");
  if (a->low.n != (int64_t)out->rank || a->high.n != (int64_t)out->rank)
    return VT_FAIL(d, VT_VERIFY, "low and high need one entry for each of %u axes", out->rank);
  for (uint32_t i = 0; i < out->rank; i++) {
    if (a->low.v[i] < 0 || a->high.v[i] < 0 || a->low.v[i] > VT_DIM_MAX ||
        a->high.v[i] > VT_DIM_MAX)
      return VT_FAIL(d, VT_VERIFY, "axis %u: padding must lie in 0..2^40", i);
    VT_TRY(vt_dim_add(r->dims, out->dim[i], a->low.v[i] + a->high.v[i], &out->dim[i], d));
  }
  return VT_OK;
}

vt_status shape_concat(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t axis = ((const vt_attr_axis *)r->attrs)->axis;
  char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  *out = r->in[0];
  if (axis < 0 || axis >= (int64_t)out->rank)
    return VT_FAIL(d, VT_VERIFY, "axis %lld does not exist: the operands have rank %u",
                   (long long)axis, out->rank);
  for (uint32_t i = 1; i < r->n_in; i++) {
    int fits = r->in[i].rank == out->rank;
    for (uint32_t k = 0; fits && k < out->rank; k++)
      fits = k == axis || r->in[i].dim[k] == r->in[0].dim[k];
    if (!fits)
      return VT_FAIL(d, VT_VERIFY, "%s and %s may differ on axis %lld only",
                     vt_type_text(r->dims, &r->in[0], x), vt_type_text(r->dims, &r->in[i], y),
                     (long long)axis);
    VT_TRY(vt_dim_add(r->dims, out->dim[axis], r->in[i].dim[axis], &out->dim[axis], d));
  }
  return VT_OK;
}

vt_status shape_gather(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_gather *a = r->attrs;
  const vt_type *x = &r->in[0], *index = &r->in[1];
  char tx[VT_TYPE_TEXT], ti[VT_TYPE_TEXT];
  if (a->axis < 0 || a->axis >= (int64_t)x->rank || a->batch < 0 || a->batch > a->axis ||
      a->batch > (int64_t)index->rank)
    return VT_FAIL(
        d, VT_VERIFY,
        "gather along axis %lld with %lld batch axes from %s by %s: there are no such axes",
        (long long)a->axis, (long long)a->batch, vt_type_text(r->dims, x, tx),
        vt_type_text(r->dims, index, ti));
  for (int64_t i = 0; i < a->batch; i++)
    if (x->dim[i] != index->dim[i])
      return VT_FAIL(d, VT_VERIFY, "batch axis %lld differs between %s and %s", (long long)i,
                     vt_type_text(r->dims, x, tx), vt_type_text(r->dims, index, ti));
  if (x->rank - 1 + index->rank - (uint32_t)a->batch > VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "the result of gather would have a rank over %d", VT_MAX_RANK);
  out->dtype = x->dtype;
  for (int64_t i = 0; i < a->axis; i++) out->dim[out->rank++] = x->dim[i];
  for (uint32_t i = (uint32_t)a->batch; i < index->rank; i++) out->dim[out->rank++] = index->dim[i];
  for (uint32_t i = (uint32_t)a->axis + 1; i < x->rank; i++) out->dim[out->rank++] = x->dim[i];
  return VT_OK;
}

vt_status shape_embedding(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_rule gather = {
      .dims = r->dims, .in = r->in, .n_in = 2, .attrs = vt_attr_group_gather.defaults};
  char text[VT_TYPE_TEXT];
  if (r->in[0].rank != 2)
    return VT_FAIL(d, VT_VERIFY, "the table is %s, expected rank 2",
                   vt_type_text(r->dims, &r->in[0], text));
  return shape_gather(&gather, out, d);
}

/* ---- kernels ---- */

void vt_view_copy(const vt_view *dst, const vt_view *src) {
  const int64_t size = (int64_t)vt_dtype_bytes(dst->dtype);
  vt_walk w;
  vt_walk_init(&w, dst->rank, dst->dim);
  vt_walk_view(&w, dst);
  vt_walk_view(&w, src);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    memcpy((char *)dst->data + w.at[0] * size, (const char *)src->data + w.at[1] * size,
           (size_t)size);
}

vt_view vt_view_slice(const vt_view *v, uint32_t axis, int64_t offset, int64_t length) {
  vt_view part = *v;
  part.dim[axis] = length;
  part.data = (char *)v->data + offset * v->stride[axis] * (int64_t)vt_dtype_bytes(v->dtype);
  return part;
}

vt_view vt_view_pick_axes(const vt_view *v, unsigned mask) {
  vt_view r = *v;
  for (uint32_t i = v->rank; i-- > 0;)
    if (!(mask >> i & 1)) r = vt_view_drop_axis(&r, i);
  return r;
}

vt_status kernel_literal(vt_kernel *k) {
  const vt_attr_literal *a = k->attrs;
  memcpy(k->out->data, &a->bits,
         vt_dtype_bytes(k->out->dtype)); /* the low bytes of the u64 come first: every supported
                                            machine is little-endian */
  return VT_OK;
}

vt_status kernel_iota(vt_kernel *k) {
  const int64_t size = (int64_t)vt_dtype_bytes(k->out->dtype);
  uint32_t axis = 0;
  vt_walk w;
  (void)vt_axis_resolve(((const vt_attr_iota *)k->attrs)->axis, k->out->rank, &axis);
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    vt_cast(&w.index[axis], 1, VT_DTYPE_I64, (char *)k->out->data + w.at[0] * size, 1,
            k->out->dtype, 1);
  return VT_OK;
}

vt_status kernel_reshape(vt_kernel *k) {
  const vt_view *x = &k->in[0], *y = k->out;
  const int64_t size = (int64_t)vt_dtype_bytes(y->dtype);
  vt_walk from, to; /* `from` walks over x and `to` over the result, whose shapes differ but have
                       equally many elements */
  vt_walk_init(&from, x->rank, x->dim);
  vt_walk_view(&from, x);
  vt_walk_init(&to, y->rank, y->dim);
  vt_walk_view(&to, y);
  for (int64_t i = 0; i < to.count; i++, vt_walk_next(&from), vt_walk_next(&to))
    memcpy((char *)y->data + to.at[0] * size, (const char *)x->data + from.at[0] * size,
           (size_t)size);
  return VT_OK;
}

vt_status kernel_transpose(vt_kernel *k) {
  const vt_attr_list *perm = &((const vt_attr_perm *)k->attrs)->perm;
  vt_view moved = k->in[0];
  for (uint32_t i = 0; i < moved.rank; i++) {
    moved.dim[i] = k->in[0].dim[perm->v[i]];
    moved.stride[i] = k->in[0].stride[perm->v[i]];
  }
  vt_view_copy(k->out, &moved);
  return VT_OK;
}

vt_status kernel_broadcast(vt_kernel *k) {
  vt_view_copy(k->out, &k->in[0]);
  return VT_OK;
}

vt_status kernel_slice(vt_kernel *k) {
  const vt_attr_slice *a = k->attrs;
  vt_view part = k->in[0];
  if (vt_view_count(k->out) == 0) return VT_OK;
  for (uint32_t i = 0; i < part.rank; i++) {
    part = vt_view_slice(&part, i, a->start.v[i], k->out->dim[i]);
    if (k->out->dim[i] > 1) /* with one element the stride is not used, and its product with the
                               step could overflow */
      part.stride[i] *= a->step.n == 0 ? 1 : a->step.v[i];
  }
  vt_view_copy(k->out, &part);
  return VT_OK;
}

vt_status kernel_pad(vt_kernel *k) {
  const vt_attr_pad *a = k->attrs;
  vt_view middle = *k->out;
  /* fill the result with the padding value, then copy x to its part */
  vt_view_copy(k->out, &k->in[1]);
  if (vt_view_count(&k->in[0]) == 0) return VT_OK;
  for (uint32_t i = 0; i < middle.rank; i++)
    middle = vt_view_slice(&middle, i, a->low.v[i], k->in[0].dim[i]);
  vt_view_copy(&middle, &k->in[0]);
  return VT_OK;
}

vt_status kernel_concat(vt_kernel *k) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)k->attrs)->axis;
  int64_t at = 0;
  for (uint32_t i = 0; i < k->n_in; i++) {
    const int64_t length = k->in[i].dim[axis];
    if (vt_view_count(&k->in[i]) > 0) {
      const vt_view part = vt_view_slice(k->out, axis, at, length);
      vt_view_copy(&part, &k->in[i]);
    }
    at += length;
  }
  return VT_OK;
}

/* All indices are checked before any element is moved. The error names the first index in row-major
 * order that is out of range. */
vt_status vt_check_indices(vt_kernel *k, int64_t limit) {
  const vt_view *index = &k->in[1];
  vt_walk w;
  vt_walk_init(&w, index->rank, index->dim);
  vt_walk_view(&w, index);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t v = vt_load_int(index->data, index->dtype, w.at[0]);
    if (v >= 0 && v < limit) continue;
    k->position = (uint64_t)i;
    k->value = v;
    return VT_RANGE;
  }
  return VT_OK;
}

/* Gathers from x along `axis`. The axes of the result are those of x before `axis`, those of the
 * index after its batch axes, and those of x after `axis`. */
static vt_status run_gather(vt_kernel *k, uint32_t axis, uint32_t batch) {
  const vt_view *x = &k->in[0], *index = &k->in[1], *y = k->out;
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype);
  /* number of axes of the result that come from the index */
  const uint32_t inner = index->rank - batch;
  VT_TRY(vt_check_indices(k, x->dim[axis]));
  vt_walk w;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  for (int64_t n = 0; n < w.count; n++, vt_walk_next(&w)) {
    int64_t where = 0, from = 0;
    for (uint32_t i = 0; i < index->rank; i++)
      where += w.index[i < batch ? i : axis + i - batch] * index->stride[i];
    for (uint32_t i = 0; i < x->rank; i++)
      if (i != axis) from += w.index[i < axis ? i : i + inner - 1] * x->stride[i];
    from += vt_load_int(index->data, index->dtype, where) * x->stride[axis];
    memcpy((char *)y->data + w.at[0] * size, (const char *)x->data + from * size, (size_t)size);
  }
  return VT_OK;
}

vt_status kernel_gather(vt_kernel *k) {
  const vt_attr_gather *a = k->attrs;
  return run_gather(k, (uint32_t)a->axis, (uint32_t)a->batch);
}

/* ---- embedding: gather of rows ---- */

uint32_t lower_embedding(const vt_lowering *l) {
  return vt_build2(l->b, VT_OP_gather, l->in[0], l->in[1]);
}

/* Second implementation of embedding: copies one row of the table at a time. */
vt_status kernel_embedding(vt_kernel *k) {
  const vt_view *table = &k->in[0], *index = &k->in[1];
  const int64_t size = (int64_t)vt_dtype_bytes(table->dtype), width = table->dim[1];
  VT_TRY(vt_check_indices(k, table->dim[0]));
  const vt_view rows = vt_view_drop_axis(k->out, k->out->rank - 1);
  vt_walk w;
  vt_walk_init(&w, rows.rank, rows.dim);
  vt_walk_view(&w, &rows);
  vt_walk_view(&w, index);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t row = vt_load_int(index->data, index->dtype, w.at[1]);
    for (int64_t j = 0; j < width; j++)
      memcpy((char *)k->out->data + (w.at[0] + j * k->out->stride[rows.rank]) * size,
             (const char *)table->data + (row * table->stride[0] + j * table->stride[1]) * size,
             (size_t)size);
  }
  return VT_OK;
}

/* ---- gradients ---- */

/* Reshapes dy to the shape of x; squeeze, unsqueeze and flatten use this gradient too. */
void grad_reshape(const vt_gradient *g) {
  vt_type x;
  if (vt_build_read_type(g->b, g->in[0], &x))
    g->d_in[0] = vt_build_reshape(g->b, g->d_out[0], x.rank, x.dim);
}

void grad_transpose(const vt_gradient *g) {
  const vt_attr_list *perm = &((const vt_attr_perm *)g->attrs)->perm;
  uint32_t back[VT_MAX_RANK];
  for (int64_t i = 0; i < perm->n; i++) back[perm->v[i]] = (uint32_t)i;
  g->d_in[0] = vt_build_transpose(g->b, g->d_out[0], back, (uint32_t)perm->n);
}

void grad_broadcast(const vt_gradient *g) {
  g->d_in[0] = vt_build_sum_to(g->b, g->d_out[0], g->in[0]);
}

/* Writes the elements of dy along one axis, whose length becomes `dim`, to positions start, start +
 * step, ..., and +0 elsewhere. */
static uint32_t spread_by_step(vt_builder *b, uint32_t dy, uint32_t axis, int64_t dim,
                               int64_t start, int64_t step) {
  vt_type t;
  if (!vt_build_read_type(b, dy, &t)) return VT_NO_VALUE;
  const uint32_t count = vt_build_iota(b, 1, 0, t.dim[axis]);
  const uint32_t spread = vt_build2(b, VT_OP_mul, count, vt_build_int(b, VT_DTYPE_I64, step));
  const uint32_t at = vt_build2(b, VT_OP_add, spread, vt_build_int(b, VT_DTYPE_I64, start));
  t.dim[axis] = dim;
  const vt_attr_gather a = {.size = sizeof a, .axis = axis};
  const uint32_t in[3] = {vt_build_full(b, t.dtype, 0.0, &t), at, dy};
  return b->node(b, VT_OP_scatter, in, 3, &a);
}

/* dx is dy with +0 for the elements that were not sliced: along axes with step 1 one pad adds them,
 * along the others spread_by_step. */
void grad_slice(const vt_gradient *g) {
  const vt_attr_slice *a = g->attrs;
  uint32_t dy = g->d_out[0];
  vt_type x, y;
  vt_attr_pad pad = {.size = sizeof pad};
  if (!vt_build_read_type(g->b, g->in[0], &x) || !vt_build_read_type(g->b, dy, &y)) return;
  pad.low.n = pad.high.n = x.rank;
  for (uint32_t i = 0; i < x.rank; i++) {
    const int64_t step = a->step.n == 0 || y.dim[i] < 2 ? 1 : a->step.v[i];
    if (step > 1) {
      dy = spread_by_step(g->b, dy, i, x.dim[i], a->start.v[i], step);
      continue;
    }
    pad.low.v[i] = a->start.v[i];
    pad.high.v[i] = x.dim[i] - a->start.v[i] - y.dim[i];
  }
  const uint32_t in[2] = {dy, vt_build_scalar_of_same_dtype(g->b, dy, 0.0)};
  g->d_in[0] = g->b->node(g->b, VT_OP_pad, in, 2, &pad);
}

/* dx is the part of dy at the elements of x. The gradient of the padding value is S over all of dy,
 * with +0 for the part of x. */
void grad_pad(const vt_gradient *g) {
  const vt_attr_pad *a = g->attrs;
  vt_builder *b = g->b;
  vt_attr_slice middle = {.size = sizeof middle, .start = a->low, .stop = a->low};
  vt_type x;
  if (!vt_build_read_type(b, g->in[0], &x)) return;
  for (uint32_t i = 0; i < x.rank; i++) middle.stop.v[i] += x.dim[i];
  g->d_in[0] = b->node(b, VT_OP_slice, &g->d_out[0], 1, &middle);
  uint32_t mask[2];
  mask[0] = vt_build_full(b, VT_DTYPE_BOOL, 1.0, &x);
  mask[1] = vt_build_number(b, VT_DTYPE_BOOL, 0.0);
  const uint32_t inside = b->node(b, VT_OP_pad, mask, 2, a);
  const uint32_t zero = vt_build_scalar_of_same_dtype(b, g->d_out[0], 0.0);
  const uint32_t rest = vt_build3(b, VT_OP_select, inside, zero, g->d_out[0]);
  g->d_in[1] = vt_build1(b, VT_OP_sum, rest);
}

void grad_concat(const vt_gradient *g) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)g->attrs)->axis;
  int64_t at = 0;
  for (uint32_t i = 0; i < g->n_in; i++) {
    vt_type x;
    if (!vt_build_read_type(g->b, g->in[i], &x)) return;
    g->d_in[i] = vt_build_slice(g->b, g->d_out[0], axis, at, at + x.dim[axis]);
    at += x.dim[axis];
  }
}

/* The gradient of an element that was read several times is S of the dy of all reads, in ascending
 * position. */
void grad_gather(const vt_gradient *g) {
  vt_type x, y;
  if (!vt_build_read_type(g->b, g->in[0], &x) || !vt_build_read_type(g->b, g->d_out[0], &y)) return;
  const uint32_t in[3] = {vt_build_full(g->b, y.dtype, 0.0, &x), g->in[1], g->d_out[0]};
  g->d_in[0] = g->b->node(g->b, VT_OP_scatter_add, in, 3, g->attrs);
}

void grad_embedding(const vt_gradient *g) {
  vt_gradient rows = *g;
  rows.attrs = vt_attr_group_gather.defaults;
  grad_gather(&rows);
}
