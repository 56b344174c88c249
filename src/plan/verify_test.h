/* SPDX-License-Identifier: Apache-2.0
 * verify_test.h - a target, graphs and plans for the tests of the planner and the verifiers. */
#ifndef VERIFY_TEST_H
#define VERIFY_TEST_H
#include "vt_plan.h"
#include "vt_test.h"

/* ---- a target ---- */

/* The function `workspace` of the test's target. `self` points to the scratch bytes per operand. */
static inline vt_status scratch_of_step(void *self, const vt_bk_step *step, uint64_t *out,
                                        vt_diag *d) {
  (void)d;
  *out = step->n_in > 0 ? *(const uint64_t *)self * step->n_in : 0;
  return VT_OK;
}

/* A verified plan. `scratch_per_operand` is the number of bytes per operand. */
static inline vt_plan *build_plan_with_options(const vt_graph *g, const vt_plan_options *o,
                                               uint32_t dense_only, uint64_t scratch_per_operand) {
  const vt_target t = {"test", dense_only, &scratch_per_operand, scratch_of_step, NULL};
  vt_plan *p = NULL;
  vt_diag d = {0};
  CHECK(vt_plan_build(g, o, &t, vt_alloc_default(), &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "  %s\n", d.text);
  if (p == NULL) exit(1); /* the test cannot go on without a plan */
  CHECK(vt_plan_verify(p, &d) == VT_OK && d.code == VT_OK);
  return p;
}

/* A verified plan; `streamed_param` names a streamed parameter, "*" means all, NULL none. */
static inline vt_plan *build_plan_or_exit(const vt_graph *g, uint32_t schedule, uint32_t dense_only,
                                          uint64_t scratch_per_operand,
                                          const char *streamed_param) {
  const vt_plan_options o = {
      .schedule = schedule, .n_stream = streamed_param != NULL, .stream = &streamed_param};
  return build_plan_with_options(g, &o, dense_only, scratch_per_operand);
}

/* ---- a graph with every feature ---- */

static inline uint32_t add_port(vt_graph_builder *gb, const char *name, uint32_t kind,
                                vt_type type) {
  const vt_init_info *zeros = vt_init_find("zeros");
  const int has_init = kind != VT_PORT_INPUT;
  const vt_port p = {.name = name,
                     .kind = kind,
                     .init = has_init ? zeros->number : 0,
                     .init_attrs = has_init ? zeros->attrs->defaults : NULL};
  return vt_graph_add_port(gb, &p, &type);
}

static inline void begin_graph(vt_graph_builder *gb, const char *name) {
  if (vt_graph_begin(gb, name, vt_alloc_default(), NULL) != VT_OK) exit(1);
}

static inline vt_graph *freeze_or_exit(vt_graph_builder *gb) {
  vt_graph *g = NULL;
  CHECK(vt_graph_freeze(gb, &g) == VT_OK);
  if (g == NULL) exit(1);
  return g;
}

static const int64_t wide[2] = {4, 64};
static const vt_type tall_type = {VT_DTYPE_F32, 2, {64, 4}}, wide_type = {VT_DTYPE_F32, 2, {4, 64}};

static inline uint32_t add_transpose_node(vt_builder *b, uint32_t x) {
  const vt_attr_perm a = {.size = sizeof a, .perm = {.n = 2, .v = {1, 0}}};
  return b->node(b, VT_OP_transpose, &x, 1, &a);
}

/* Rows 16 to 47 of `x`, which has 64 rows of 16 bytes; the view starts at byte 256. */
static inline uint32_t add_slice_rows_node(vt_builder *b, uint32_t x) {
  const vt_attr_slice a = {
      .size = sizeof a, .start = {.n = 2, .v = {16, 0}}, .stop = {.n = 2, .v = {48, 4}}};
  return b->node(b, VT_OP_slice, &x, 1, &a);
}

/* A cond whose first body negates and takes the absolute value of a twice transposed operand; the
 * second body takes the absolute value. */
static inline uint32_t add_cond(vt_builder *b, uint32_t which, uint32_t x, uint32_t y) {
  const vt_attr_cond a = {.size = sizeof a, .first = 1};
  const uint32_t in[3] = {which, x, y};
  vt_builder *body = b->open(b, &wide_type, 1);
  uint32_t out = vt_build1(body, VT_OP_neg, add_transpose_node(body, 0));
  out = vt_build1(body, VT_OP_abs, add_transpose_node(body, vt_build1(body, VT_OP_neg, out)));
  b->close(body, &out, 1);
  body = b->open(b, &wide_type, 1);
  out = vt_build1(body, VT_OP_abs, 0);
  b->close(body, &out, 1);
  return b->node(b, VT_OP_cond, in, 3, &a);
}

/* A loop that carries x, reads a slice of `all` in each iteration and the whole w, and collects the
 * values that it carried. */
static inline uint32_t add_loop(vt_builder *b, uint32_t x, uint32_t all, uint32_t w,
                                uint32_t which) {
  const vt_attr_loop a = {.size = sizeof a, .count = 3, .carried = 1, .each = 1};
  const vt_type takes[5] = {
      {.dtype = VT_DTYPE_I64}, wide_type, wide_type, tall_type, {.dtype = VT_DTYPE_BOOL}};
  const uint32_t in[4] = {x, all, w, which};
  vt_builder *body = b->open(b, takes, 5);
  const uint32_t sum = vt_build2(body, VT_OP_add, 1, 2);
  const uint32_t transposed = vt_build2(body, VT_OP_mul, add_transpose_node(body, sum), 3);
  const uint32_t back = add_transpose_node(body, transposed),
                 less = vt_build1(body, VT_OP_neg, sum);
  const uint32_t both = vt_build2(body, VT_OP_add, back, less);
  const uint32_t out[2] = {add_cond(body, 4, both, vt_build1(body, VT_OP_abs, both)), both};
  b->close(body, out, 2);
  return b->node(b, VT_OP_loop, in, 4, &a);
}

/* Adds the store of a state, as the pass `state` does. */
static inline void add_store_node(vt_graph_builder *gb, uint32_t state, uint32_t next) {
  const vt_type type = *gb->b.type(&gb->b, state);
  vt_graph_set_next(gb, state, vt_build_reshape(&gb->b, next, type.rank, type.dim));
}

/* The first two rows of `x`, which has 64 rows. */
static inline uint32_t add_first_rows_node(vt_builder *b, uint32_t x) {
  const vt_attr_slice a = {.size = sizeof a, .start = {.n = 2}, .stop = {.n = 2, .v = {2, 4}}};
  return b->node(b, VT_OP_slice, &x, 1, &a);
}

/* `base`, which has 64 rows, with two rows replaced by `rows`. */
static inline uint32_t add_scatter_node(vt_builder *b, uint32_t base, uint32_t rows) {
  const uint32_t at = vt_build_cast(b, vt_build_number(b, VT_DTYPE_F32, 7), VT_DTYPE_I64);
  const uint32_t in[3] = {base, vt_build_broadcast(b, at, 2, (int64_t[]){2, 1}), rows};
  return b->node(b, VT_OP_scatter_nd, in, 3, NULL);
}

/* A graph with views of values, of views and of parameters; chains written in place; bodies with
 * views and with bodies of their own; a group; tensors without bytes; results that are ports; and
 * states: `cache` is written in place by a scatter, `moved` by the last member of a group; `old` is
 * stored, because it is read once more after its next value is computed; `kept` never changes;
 * `nothing` has no bytes. */
static inline vt_graph *graph_with_every_feature(void) {
  vt_graph_builder gb;
  vt_builder *b = &gb.b;
  begin_graph(&gb, "everything");
  const uint32_t x = add_port(&gb, "x", VT_PORT_INPUT, tall_type);
  const uint32_t w = add_port(&gb, "w", VT_PORT_PARAM, tall_type);
  const uint32_t s = add_port(&gb, "s", VT_PORT_PARAM, (vt_type){VT_DTYPE_F32, 1, {64}});
  const uint32_t none = add_port(&gb, "none", VT_PORT_INPUT, (vt_type){VT_DTYPE_F32, 2, {0, 4}});
  const uint32_t q = add_port(&gb, "q", VT_PORT_INPUT, (vt_type){.dtype = VT_DTYPE_BOOL});
  const uint32_t all = add_port(&gb, "all", VT_PORT_INPUT, (vt_type){VT_DTYPE_F32, 3, {3, 4, 64}});
  const uint32_t kept = add_port(&gb, "kept", VT_PORT_STATE, tall_type);
  const uint32_t cache = add_port(&gb, "cache", VT_PORT_STATE, tall_type);
  const uint32_t moved = add_port(&gb, "moved", VT_PORT_STATE, wide_type);
  const uint32_t old = add_port(&gb, "old", VT_PORT_STATE, wide_type);
  const uint32_t nothing =
      add_port(&gb, "nothing", VT_PORT_STATE, (vt_type){VT_DTYPE_F32, 2, {0, 4}});
  const uint32_t a = vt_build2(b, VT_OP_add, x, w);
  const uint32_t t = add_transpose_node(b, a), r = vt_build_reshape(b, a, 2, wide);
  const uint32_t u = vt_build2(b, VT_OP_add, t, r);
  const uint32_t repeated = vt_build_broadcast(b, s, 2, wide);
  gb.group = 1;
  const uint32_t v = vt_build2(b, VT_OP_mul, u, repeated);
  const uint32_t n = vt_build1(b, VT_OP_neg, v);
  gb.group = 0;
  const uint32_t part = vt_build1(b, VT_OP_neg, add_transpose_node(b, add_slice_rows_node(b, a)));
  const uint32_t again =
      vt_build2(b, VT_OP_mul, add_transpose_node(b, add_slice_rows_node(b, w)), part);
  const uint32_t l = add_loop(b, n, all, w, q);
  const uint32_t y = vt_build2(b, VT_OP_add, l, vt_build_reshape(b, w, 2, wide));
  const uint32_t scaled = vt_build2(b, VT_OP_mul, y, vt_build_number(b, VT_DTYPE_F32, 0.5));
  vt_graph_add_result(&gb, "y", vt_build2(b, VT_OP_add, scaled, add_cond(b, q, l, y)));
  vt_graph_add_result(&gb, "again", again);
  vt_graph_add_result(&gb, "collected", l + 1);
  vt_graph_add_result(&gb, "x", x);
  vt_graph_add_result(&gb, "w", w);
  vt_graph_add_result(&gb, "same", again);
  vt_graph_add_result(
      &gb, "none", vt_build1(b, VT_OP_neg, add_transpose_node(b, vt_build1(b, VT_OP_neg, none))));
  const uint32_t rows = add_first_rows_node(b, vt_build2(b, VT_OP_add, kept, w));
  const uint32_t cached = add_scatter_node(b, cache, rows);
  const uint32_t next_old = vt_build2(b, VT_OP_add, old, add_transpose_node(b, cached));
  gb.group = 2;
  const uint32_t scaled_move = vt_build2(b, VT_OP_mul, moved, u);
  const uint32_t next_moved = vt_build2(b, VT_OP_add, scaled_move, moved);
  gb.group = 0;
  vt_graph_add_result(&gb, "before", vt_build1(b, VT_OP_neg, old));
  const uint32_t next_nothing = vt_build1(b, VT_OP_neg, nothing);
  vt_graph_set_next(&gb, kept, kept);
  add_store_node(&gb, old, next_old);
  add_store_node(&gb, cache, cached);
  add_store_node(&gb, nothing, next_nothing);
  add_store_node(&gb, moved, next_moved);
  return freeze_or_exit(&gb);
}
#endif
