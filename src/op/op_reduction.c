/* SPDX-License-Identifier: Apache-2.0
 * op_reduction.c - sets of axes, nodes over them, and the walks of kernels that reduce. */
#include "op_reduction.h"
#include "vt_alloc.h"

vt_status vt_axes_mask(const vt_attr_list *axes, uint32_t rank, unsigned *out, vt_diag *d) {
  unsigned mask = axes->n == 0 ? (1u << rank) - 1 : 0;
  for (int64_t i = 0; i < axes->n; i++) {
    if (axes->v[i] < 0 || axes->v[i] >= (int64_t)rank)
      return VT_FAIL(d, VT_VERIFY, "axis %lld does not exist: the operand has rank %u",
                     (long long)axes->v[i], rank);
    if (mask >> axes->v[i] & 1)
      return VT_FAIL(d, VT_VERIFY, "axis %lld is named twice", (long long)axes->v[i]);
    mask |= 1u << axes->v[i];
  }
  *out = mask;
  return VT_OK;
}

int64_t vt_axes_element_count(uint32_t rank, const int64_t *dim, unsigned mask) {
  int64_t count = 1;
  for (uint32_t i = 0; i < rank; i++)
    if ((mask >> i & 1) && dim[i] == 0) return 0;
  for (uint32_t i = 0; i < rank; i++)
    if ((mask >> i & 1) && !vt_i64_mul(count, dim[i], &count)) return INT64_MAX;
  return count;
}

/* ---- nodes ---- */

uint32_t vt_build_reduce_over(vt_builder *b, uint32_t op, uint32_t x, unsigned mask) {
  vt_attr_reduce a = {.size = sizeof a, .keep = 1};
  for (uint32_t i = 0; i < VT_MAX_RANK; i++)
    if (mask >> i & 1) a.axes.v[a.axes.n++] = i;
  return b->node(b, op, &x, 1, &a);
}

uint32_t vt_build_mean(vt_builder *b, uint32_t x, unsigned mask) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const uint32_t dtype = t->dtype;
  const int64_t n = vt_axes_element_count(t->rank, t->dim, mask);
  const uint32_t sum = vt_build_reduce_over(b, VT_OP_sum, x, mask);
  return vt_build2(b, VT_OP_div, sum, vt_build_int(b, dtype, n));
}

uint32_t vt_build_restore_axes(vt_builder *b, uint32_t y, uint32_t x, unsigned mask) {
  const vt_type *tx = b->type(b, x), *ty = b->type(b, y);
  if (tx == NULL || ty == NULL) return VT_NO_VALUE;
  vt_type kept = *tx;
  kept.dtype = ty->dtype;
  for (uint32_t i = 0; i < kept.rank; i++)
    if (mask >> i & 1) kept.dim[i] = 1;
  return vt_type_equal(ty, &kept) ? y : vt_build_reshape(b, y, kept.rank, kept.dim);
}

uint32_t vt_build_broadcast_like(vt_builder *b, uint32_t y, uint32_t x) {
  const vt_type *t = b->type(b, x);
  if (t == NULL) return VT_NO_VALUE;
  const vt_type to = *t;
  return vt_build_broadcast(b, y, to.rank, to.dim);
}

uint32_t vt_build_y_times_sign_of_x(vt_builder *b, uint32_t x, uint32_t y) {
  const uint32_t zero = vt_build_scalar_of_same_dtype(b, x, 0.0);
  const uint32_t above = vt_build2(b, VT_OP_gt, x, zero);
  const uint32_t below = vt_build2(b, VT_OP_lt, x, zero);
  const uint32_t other = vt_build3(b, VT_OP_select, below, vt_build1(b, VT_OP_neg, y), zero);
  return vt_build3(b, VT_OP_select, above, y, other);
}

/* ---- kernels ---- */

/* The views for two nested loops over x: the outer one goes over `kept` and `out`, x and the result
 * along the axes that stay; the inner one over `inner`, x along the reduced axes. */
typedef struct split {
  vt_view kept, inner, out;
} split;

static split split_axes(const vt_kernel *k, unsigned mask) {
  const vt_view *x = &k->in[0];
  split s = {*x, *x, *k->out};
  s.kept.rank = s.inner.rank = 0;
  for (uint32_t i = 0; i < x->rank; i++) {
    vt_view *part = mask >> i & 1 ? &s.inner : &s.kept;
    part->dim[part->rank] = x->dim[i];
    part->stride[part->rank++] = x->stride[i];
  }
  if (s.out.rank == x->rank) /* with keep=true the result has the reduced axes with length 1; they
                                are removed from the view */
    for (uint32_t i = x->rank; i-- > 0;)
      if (mask >> i & 1) s.out = vt_view_drop_axis(&s.out, i);
  return s;
}

vt_status vt_reduce_run(const vt_kernel *k, const vt_attr_list *axes, const vt_reduction *f) {
  unsigned mask;
  VT_TRY(vt_axes_mask(axes, k->in[0].rank, &mask, NULL));
  const split s = split_axes(k, mask);
  const uint32_t dtype = k->in[0].dtype;
  const int64_t size = (int64_t)vt_dtype_bytes(dtype);
  vt_walk outer, inner;
  vt_walk_init(&outer, s.kept.rank, s.kept.dim);
  vt_walk_view(&outer, &s.out);
  vt_walk_view(&outer, &s.kept);
  vt_walk_init(&inner, s.inner.rank, s.inner.dim);
  vt_walk_view(&inner, &s.inner);
  for (int64_t i = 0; i < outer.count; i++, vt_walk_next(&outer)) {
    const char *x = (const char *)s.kept.data + outer.at[1] * size;
    if (dtype == VT_DTYPE_F32) {
      f->f32(inner, (const float *)(const void *)x, (float *)s.out.data + outer.at[0]);
    } else if (dtype == VT_DTYPE_F64) {
      f->f64(inner, (const double *)(const void *)x, (double *)s.out.data + outer.at[0]);
    } else {
      vt_store_int(s.out.data, dtype, outer.at[0], f->whole(inner, x, dtype));
    }
  }
  return VT_OK;
}
