/* SPDX-License-Identifier: Apache-2.0
 * op_reduce_grad.c - gradients of the ops of op_reduce.c. dy is the gradient of the result, dx
 * that of x. A line is the elements that are reduced to one result; the other axes are kept. */
#include "op_reduction.h"

/* Reads the axes of a node with attributes of the group `reduce` as a bit mask; returns 0 if an
 * earlier node failed. */
static int read_axes_mask(const vt_gradient *g, unsigned *mask) {
  const vt_type *x = g->b->type(g->b, g->in[0]);
  const vt_attr_reduce *a = g->attrs;
  return x != NULL && vt_axes_mask(&a->axes, x->rank, mask, NULL) == VT_OK;
}

/* dx = dy, broadcast to the shape of x */
void grad_sum_over(const vt_gradient *g) {
  unsigned mask;
  if (!read_axes_mask(g, &mask)) return;
  const uint32_t dy = vt_build_restore_axes(g->b, g->d_out[0], g->in[0], mask);
  g->d_in[0] = vt_build_broadcast_like(g->b, dy, g->in[0]);
}

/* dx = dy/n, broadcast to the shape of x, where n is the number of elements of a line */
void grad_mean(const vt_gradient *g) {
  vt_builder *b = g->b;
  unsigned mask;
  if (!read_axes_mask(g, &mask)) return;
  const vt_type *x = b->type(b, g->in[0]);
  const uint32_t dtype = x->dtype;
  const int64_t n = vt_axes_element_count(x->rank, x->dim, mask);
  const uint32_t dy = vt_build_restore_axes(b, g->d_out[0], g->in[0], mask);
  const uint32_t part = vt_build2(b, VT_OP_div, dy, vt_build_int(b, dtype, n));
  g->d_in[0] = vt_build_broadcast_like(b, part, g->in[0]);
}

/* dx is the cumsum of dy in the opposite direction. */
void grad_cumsum(const vt_gradient *g) {
  vt_attr_cumsum a = *(const vt_attr_cumsum *)g->attrs;
  a.reverse = !a.reverse;
  g->d_in[0] = g->b->node(g->b, VT_OP_cumsum, g->d_out, 1, &a);
}

/* ---- lines: the reduced axes merged into one axis, before or after the others ---- */

typedef struct lines {
  vt_type x; /* the type of x */
  /* the permutation of the axes of x that puts the reduced axes next to each other */
  vt_attr_perm perm;
  uint32_t n_kept;
  int64_t kept[VT_MAX_RANK], n; /* dimensions of the kept axes; length of a line, the merged axis */
} lines;

static lines lines_of(const vt_type *x, unsigned mask, int lines_first) {
  lines l = {.x = *x, .perm = {.size = sizeof l.perm}};
  for (int pass = 0; pass < 2; pass++)
    for (uint32_t i = 0; i < x->rank; i++)
      if ((int)(mask >> i & 1) == (pass == 0 ? lines_first : !lines_first))
        l.perm.perm.v[l.perm.perm.n++] = i;
  for (uint32_t i = 0; i < x->rank; i++)
    if (!(mask >> i & 1)) l.kept[l.n_kept++] = x->dim[i];
  l.n = vt_axes_element_count(x->rank, x->dim, mask);
  return l;
}

static uint32_t to_lines(vt_builder *b, const lines *l, uint32_t x, int lines_first) {
  int64_t dim[VT_MAX_RANK];
  const uint32_t moved = b->node(b, VT_OP_transpose, &x, 1, &l->perm);
  for (uint32_t i = 0; i < l->n_kept; i++) dim[lines_first ? i + 1 : i] = l->kept[i];
  dim[lines_first ? 0 : l->n_kept] = l->n;
  return vt_build_reshape(b, moved, l->n_kept + 1, dim);
}

static uint32_t from_lines(vt_builder *b, const lines *l, uint32_t y) {
  vt_attr_perm back = {.size = sizeof back, .perm = {.n = l->x.rank}};
  int64_t dim[VT_MAX_RANK];
  for (uint32_t i = 0; i < l->x.rank; i++) {
    back.perm.v[l->perm.perm.v[i]] = i;
    dim[i] = l->x.dim[l->perm.perm.v[i]];
  }
  const uint32_t separate = vt_build_reshape(b, y, l->x.rank, dim);
  return b->node(b, VT_OP_transpose, &separate, 1, &back);
}

/* the i64 numbers 0, 1, ... n - 1 */
static uint32_t build_iota(vt_builder *b, int64_t n) {
  const vt_attr_iota a = {.size = sizeof a, .shape = {1, {n}}, .dtype = VT_DTYPE_I64};
  return b->node(b, VT_OP_iota, NULL, 0, &a);
}

/* ---- max and min: dy goes to the first index that holds the result ---- */

static void grad_extreme(const vt_gradient *g, uint32_t arg_op) {
  vt_builder *b = g->b;
  unsigned mask;
  if (!read_axes_mask(g, &mask)) return;
  const lines l = lines_of(b->type(b, g->in[0]), mask, 0);
  const vt_attr_axis last = {.size = sizeof last, .axis = l.n_kept};
  const uint32_t flat = to_lines(b, &l, g->in[0], 0);
  const uint32_t held =
      vt_build_restore_axes(b, b->node(b, arg_op, &flat, 1, &last), g->in[0], mask);
  const uint32_t place = vt_build_restore_axes(b, build_iota(b, l.n), g->in[0], ~mask);
  const uint32_t here = vt_build2(b, VT_OP_eq, place, held);
  const uint32_t dy = vt_build_restore_axes(b, g->d_out[0], g->in[0], mask);
  g->d_in[0] = vt_build3(b, VT_OP_select, here, dy, vt_build_scalar_of_same_dtype(b, dy, 0.0));
}

void grad_max(const vt_gradient *g) { grad_extreme(g, VT_OP_argmax); }
void grad_min(const vt_gradient *g) { grad_extreme(g, VT_OP_argmin); }

/* ---- prod: dx[i] = dy*(l[i]*r[i]), the products of the elements before and after i ---- */

/* Reverses x along its first axis, of length n. */
static uint32_t reverse_first_axis(vt_builder *b, uint32_t x, int64_t n) {
  const vt_attr_gather a = {.size = sizeof a};
  const uint32_t last = vt_build_int(b, VT_DTYPE_I64, n - 1);
  const uint32_t in[2] = {x, vt_build2(b, VT_OP_sub, last, build_iota(b, n))};
  return b->node(b, VT_OP_gather, in, 2, &a);
}

/* Writes one loop over the lines x, which are its first axis. It returns at each i the product of
 * the elements before i as the value l, and the same of the reversed lines as the value r. Returns
 * the id of l; that of r is the next. */
static uint32_t exclusive_products_both_directions(vt_builder *b, const lines *l, uint32_t x) {
  const vt_attr_loop a = {.size = sizeof a, .count = l->n, .carried = 2, .each = 2};
  vt_type one = {.dtype = l->x.dtype, .rank = l->n_kept};
  for (uint32_t i = 0; i < l->n_kept; i++) one.dim[i] = l->kept[i];
  const vt_type takes[5] = {{.dtype = VT_DTYPE_I64}, one, one, one, one};
  const uint32_t start =
      vt_build_broadcast(b, vt_build_number(b, one.dtype, 1.0), one.rank, one.dim);
  const uint32_t in[4] = {start, start, x, reverse_first_axis(b, x, l->n)};
  vt_builder *body = b->open(b, takes, 5);
  if (body == NULL) return VT_NO_VALUE;
  const uint32_t up = vt_build2(body, VT_OP_mul, 1, 3), down = vt_build2(body, VT_OP_mul, 2, 4);
  const uint32_t gives[4] = {up, down, 1, 2};
  b->close(body, gives, 4);
  const uint32_t loop = b->node(b, VT_OP_loop, in, 4, &a);
  return loop == VT_NO_VALUE ? loop : loop + 2;
}

void grad_prod(const vt_gradient *g) {
  vt_builder *b = g->b;
  unsigned mask;
  if (!read_axes_mask(g, &mask)) return;
  const lines l = lines_of(b->type(b, g->in[0]), mask, 1);
  if (vt_axes_element_count(l.x.rank, l.x.dim, ~0u) == 0) {
    g->d_in[0] = vt_build_broadcast_like(b, vt_build_number(b, l.x.dtype, 0.0), g->in[0]);
    return;
  }
  const uint32_t before = exclusive_products_both_directions(b, &l, to_lines(b, &l, g->in[0], 1));
  if (before == VT_NO_VALUE) return;
  const uint32_t behind = reverse_first_axis(b, before + 1, l.n);
  const uint32_t both = vt_build2(b, VT_OP_mul, before, behind);
  const uint32_t dy = vt_build_reshape(b, g->d_out[0], l.n_kept, l.kept);
  g->d_in[0] = from_lines(b, &l, vt_build2(b, VT_OP_mul, dy, both));
}
