/* SPDX-License-Identifier: Apache-2.0
 * op_scatter_grad.c - gradients of the scatters. The three families (along an axis, of elements,
 * by coordinates) differ only in the ops that read and write at the positions of the index. dy
 * is the gradient of the result. The number of an update is its row-major position in the
 * updates. */
#include "op_move.h"

typedef struct family {
  uint32_t gather, scatter, scatter_min;
} family;
static const family by_axis = {VT_OP_gather, VT_OP_scatter, VT_OP_scatter_min};
static const family by_elements = {VT_OP_gather_elements, VT_OP_scatter_elements,
                                   VT_OP_scatter_elements_min};
static const family by_coordinates = {VT_OP_gather_nd, VT_OP_scatter_nd, VT_OP_scatter_nd_min};

static uint32_t gather_at(const vt_gradient *g, const family *w, uint32_t x) {
  const uint32_t in[2] = {x, g->in[1]};
  return g->b->node(g->b, w->gather, in, 2, g->attrs);
}

static uint32_t scatter_at(const vt_gradient *g, uint32_t op, uint32_t base, uint32_t updates) {
  const uint32_t in[3] = {base, g->in[1], updates};
  return g->b->node(g->b, op, in, 3, g->attrs);
}

static uint32_t build_zeros(const vt_gradient *g, const vt_type *like) {
  vt_type dy;
  if (!vt_build_read_type(g->b, g->d_out[0], &dy)) return VT_NO_VALUE;
  return vt_build_full(g->b, dy.dtype, 0.0, like);
}

/* dy of a destination goes to the update that was written last. To find it, the numbers of the
 * updates are scattered in the same way: the number that arrives is that of the last update. */
static void grad_last_update(const vt_gradient *g, const family *w) {
  vt_builder *b = g->b;
  vt_type base, updates;
  if (!vt_build_read_type(b, g->in[0], &base) || !vt_build_read_type(b, g->in[2], &updates)) return;
  const uint32_t zero = build_zeros(g, &updates);
  g->d_in[0] = scatter_at(g, w->scatter, g->d_out[0], zero);
  const uint32_t number = vt_build_row_major_positions(b, &updates);
  const uint32_t none = vt_build_full(b, VT_DTYPE_I64, -1.0, &base);
  const uint32_t last = gather_at(g, w, scatter_at(g, w->scatter, none, number));
  const uint32_t counts = vt_build2(b, VT_OP_eq, last, number);
  g->d_in[2] = vt_build3(b, VT_OP_select, counts, gather_at(g, w, g->d_out[0]), zero);
}

static void grad_sum(const vt_gradient *g, const family *w) {
  g->d_in[0] = g->d_out[0];
  g->d_in[2] = gather_at(g, w, g->d_out[0]);
}

/* Whether x and y are the same number: both NaN, or equal and not zeros of different signs, which
 * the signs of 1/x and 1/y tell apart. */
static uint32_t is_same_number(vt_builder *b, uint32_t x, uint32_t y) {
  const uint32_t one = vt_build_scalar_of_same_dtype(b, x, 1.0);
  const uint32_t p = vt_build2(b, VT_OP_div, one, x), q = vt_build2(b, VT_OP_div, one, y);
  const uint32_t same = vt_build2(b, VT_OP_eq, x, y);
  const uint32_t equal = vt_build2(b, VT_OP_and, same, vt_build2(b, VT_OP_eq, p, q));
  const uint32_t none = vt_build2(b, VT_OP_ne, x, x);
  const uint32_t nan = vt_build2(b, VT_OP_and, none, vt_build2(b, VT_OP_ne, y, y));
  return vt_build2(b, VT_OP_or, equal, nan);
}

/* Writes for each update its number if it equals the result and base does not, otherwise a number
 * above all numbers of updates. */
static uint32_t numbers_of_holding_updates(const vt_gradient *g, const family *w,
                                           uint32_t base_holds, const vt_type *updates) {
  vt_builder *b = g->b;
  const uint32_t open = vt_build1(b, VT_OP_not, gather_at(g, w, base_holds));
  const uint32_t held = is_same_number(b, g->in[2], gather_at(g, w, g->out[0]));
  const int64_t n = vt_count_elements(updates->dim, updates->rank);
  const uint32_t counts = vt_build2(b, VT_OP_and, open, held);
  const uint32_t number = vt_build_row_major_positions(b, updates);
  return vt_build3(b, VT_OP_select, counts, number, vt_build_int(b, VT_DTYPE_I64, n));
}

/* dy of a destination goes to the first operand that equals the result (the maximum or minimum):
 * base, otherwise the first such update. */
static void grad_extreme(const vt_gradient *g, const family *w) {
  vt_builder *b = g->b;
  vt_type base, updates;
  if (!vt_build_read_type(b, g->in[0], &base) || !vt_build_read_type(b, g->in[2], &updates)) return;
  const uint32_t zero = vt_build_scalar_of_same_dtype(b, g->d_out[0], 0.0);
  const uint32_t base_holds = is_same_number(b, g->in[0], g->out[0]);
  g->d_in[0] = vt_build3(b, VT_OP_select, base_holds, g->d_out[0], zero);
  const uint32_t number = numbers_of_holding_updates(g, w, base_holds, &updates);
  const int64_t n = vt_count_elements(updates.dim, updates.rank);
  const uint32_t none =
      vt_build_broadcast(b, vt_build_int(b, VT_DTYPE_I64, n), base.rank, base.dim);
  const uint32_t first = gather_at(g, w, scatter_at(g, w->scatter_min, none, number));
  const uint32_t counts = vt_build2(b, VT_OP_eq, first, vt_build_row_major_positions(b, &updates));
  g->d_in[2] = vt_build3(b, VT_OP_select, counts, gather_at(g, w, g->d_out[0]), zero);
}

void grad_scatter(const vt_gradient *g) { grad_last_update(g, &by_axis); }
void grad_scatter_add(const vt_gradient *g) { grad_sum(g, &by_axis); }
void grad_scatter_max(const vt_gradient *g) { grad_extreme(g, &by_axis); }
void grad_scatter_min(const vt_gradient *g) { grad_extreme(g, &by_axis); }
void grad_scatter_elements(const vt_gradient *g) { grad_last_update(g, &by_elements); }
void grad_scatter_elements_add(const vt_gradient *g) { grad_sum(g, &by_elements); }
void grad_scatter_elements_max(const vt_gradient *g) { grad_extreme(g, &by_elements); }
void grad_scatter_elements_min(const vt_gradient *g) { grad_extreme(g, &by_elements); }
void grad_scatter_nd(const vt_gradient *g) { grad_last_update(g, &by_coordinates); }
void grad_scatter_nd_add(const vt_gradient *g) { grad_sum(g, &by_coordinates); }
void grad_scatter_nd_max(const vt_gradient *g) { grad_extreme(g, &by_coordinates); }
void grad_scatter_nd_min(const vt_gradient *g) { grad_extreme(g, &by_coordinates); }
