/* SPDX-License-Identifier: Apache-2.0
 * pass_state_test.c - tests that every pass carries the next values of states, and that the pass
 * `state` stores them. Graphs are built by hand and compared in printed form. */
#include <string.h>
#include "vt_pass.h"
#include "vt_test.h"

/* ---- graphs ---- */

static const vt_type row = {VT_DTYPE_F32, 1, {4}}, square = {VT_DTYPE_F32, 2, {2, 2}};

static uint32_t add_input(vt_graph_builder *gb, const char *name, vt_type type) {
  return vt_graph_add_port(gb, &(vt_port){.name = name, .kind = VT_PORT_INPUT}, &type);
}

static uint32_t add_port_with_init(vt_graph_builder *gb, const char *name, uint32_t kind,
                                   vt_type type) {
  const vt_init_info *ones = vt_init_find("ones");
  const vt_port p = {
      .name = name, .kind = kind, .init = ones->number, .init_attrs = ones->attrs->defaults};
  return vt_graph_add_port(gb, &p, &type);
}

static uint32_t add_state(vt_graph_builder *gb, const char *name, vt_type type) {
  return add_port_with_init(gb, name, VT_PORT_STATE, type);
}

static uint32_t add_transpose_node(vt_builder *b, uint32_t x) {
  const vt_attr_perm a = {.size = sizeof a, .perm = {.n = 2, .v = {1, 0}}};
  return b->node(b, VT_OP_transpose, &x, 1, &a);
}

static void begin_graph(vt_graph_builder *gb, vt_alloc a) {
  if (vt_graph_begin(gb, "m", a, NULL) != VT_OK) exit(1);
}

static vt_graph *freeze_or_exit(vt_graph_builder *gb) {
  vt_graph *g = NULL;
  CHECK(vt_graph_freeze(gb, &g) == VT_OK);
  if (g == NULL) exit(1); /* the test cannot continue */
  return g;
}

static vt_graph *apply_pass_or_exit(uint32_t pass, const vt_pass_options *o, const vt_graph *g) {
  vt_graph *out = NULL;
  vt_diag d = {0};
  CHECK(vt_pass_run(pass, g, o, &out, &d) == VT_OK);
  if (out == NULL) fprintf(stderr, "  %s\n", d.text);
  if (out == NULL) exit(1);
  return out;
}

/* The text of a graph after its first line, without the lines of inputs and states. */
static void expect_text(const vt_graph *g, const char *want) {
  vt_text t;
  char got[4000] = "";
  vt_text_init(&t, vt_alloc_default());
  vt_graph_print(g, 0, &t);
  CHECK(vt_text_status(&t) == VT_OK && t.n < sizeof got);
  for (const char *at = t.s, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
    const int port = strncmp(at, "  input ", 8) == 0 || strncmp(at, "  state ", 8) == 0;
    if (at[0] == ' ' && !port) strncat(got, at + 2, (size_t)(end - at) - 1);
  }
  CHECK(strcmp(got, want) == 0);
  if (strcmp(got, want) != 0) fprintf(stderr, "%s", t.s);
  vt_text_done(&t);
}

/* Freezes the graph, applies a pass and compares the result. */
static void expect_after_pass(uint32_t pass, vt_graph_builder *gb, const char *want) {
  const vt_pass_options o = {.alloc = vt_alloc_default()};
  vt_graph *g = freeze_or_exit(gb), *out = apply_pass_or_exit(pass, &o, g);
  expect_text(out, want);
  vt_graph_free(g);
  vt_graph_free(out);
}

/* ---- the passes before `state` ---- */

static void test_bind_carries_next_values(void) {
  vt_graph_builder gb;
  int64_t n = 0;
  const vt_binding b = {"N", 3};
  const vt_pass_options o = {.bind = &b, .n_bind = 1, .alloc = vt_alloc_default()};
  begin_graph(&gb, vt_alloc_default());
  CHECK(vt_dim_declare(&gb.g->dims, "N", &n, NULL) == VT_OK);
  const uint32_t a = add_state(&gb, "a", (vt_type){VT_DTYPE_F32, 1, {n}});
  const uint32_t s = add_state(&gb, "s", (vt_type){VT_DTYPE_F32, 1, {n}});
  const uint32_t y = vt_build1(&gb.b, VT_OP_neg, a);
  vt_graph_set_next(&gb, a, s);
  vt_graph_set_next(&gb, s, y);
  vt_graph_add_result(&gb, "y", y);
  vt_graph *g = freeze_or_exit(&gb), *out = apply_pass_or_exit(VT_PASS_bind, &o, g);
  expect_text(out, "_0: f32[3] = neg(a)\nnext a = s\nnext s = _0\noutput y = _0\n");
  vt_graph_free(g);
  vt_graph_free(out);
}

static void test_lower_carries_next_values(void) {
  vt_graph_builder gb;
  begin_graph(&gb, vt_alloc_default());
  const uint32_t a = add_state(&gb, "a", row);
  vt_graph_set_next(&gb, a, vt_build1(&gb.b, VT_OP_relu, a));
  vt_graph_add_result(&gb, "y", a);
  expect_after_pass(VT_PASS_lower, &gb,
                    "_0: f32[] = f32(0.0)\n_1: f32[4] = maximum(a, _0)\n"
                    "next a = _1\noutput y = a\n");
}

/* An identity that replaces a next value by the state makes it one that does not change. */
static void test_canonical_carries_next_values(void) {
  vt_graph_builder gb;
  begin_graph(&gb, vt_alloc_default());
  const uint32_t a = add_state(&gb, "a", row), b = add_state(&gb, "b", row);
  vt_graph_set_next(&gb, a, vt_build_reshape(&gb.b, a, 1, row.dim));
  vt_graph_set_next(&gb, b, vt_build_reshape(&gb.b, vt_build1(&gb.b, VT_OP_neg, b), 1, row.dim));
  vt_graph_add_result(&gb, "y", b);
  expect_after_pass(VT_PASS_canonical, &gb,
                    "_0: f32[4] = neg(b)\nnext a = a\nnext b = _0\noutput y = b\n");
}

static void test_cse_carries_next_values(void) {
  vt_graph_builder gb;
  begin_graph(&gb, vt_alloc_default());
  const uint32_t a = add_state(&gb, "a", row), b = add_state(&gb, "b", row);
  vt_graph_add_result(&gb, "y", vt_build1(&gb.b, VT_OP_neg, a));
  vt_graph_set_next(&gb, b, vt_build1(&gb.b, VT_OP_neg, a));
  vt_graph_set_next(&gb, a, vt_build1(&gb.b, VT_OP_neg, a));
  expect_after_pass(VT_PASS_cse, &gb,
                    "_0: f32[4] = neg(a)\nnext a = _0\nnext b = _0\noutput y = _0\n");
}

/* Nodes that only a next value needs stay, also those that a next value needs through others. */
static void test_dead_keeps_next_values(void) {
  vt_graph_builder gb;
  begin_graph(&gb, vt_alloc_default());
  const uint32_t a = add_state(&gb, "a", row);
  vt_build1(&gb.b, VT_OP_exp, a);
  const uint32_t inner = vt_build1(&gb.b, VT_OP_neg, a);
  vt_graph_set_next(&gb, a, vt_build1(&gb.b, VT_OP_abs, inner));
  vt_graph_add_result(&gb, "y", a);
  expect_after_pass(VT_PASS_dead, &gb,
                    "_0: f32[4] = neg(a)\n_1: f32[4] = abs(_0)\nnext a = _1\noutput y = a\n");
}

static vt_status eval_ones(void *user, const vt_graph *g, void *const *out, vt_diag *d) {
  (void)d;
  for (uint32_t i = 0; i < g->n_results; i++)
    for (uint32_t k = 0; k < 4; k++) ((float *)out[i])[k] = 1;
  *(uint32_t *)user += g->n_results;
  return VT_OK;
}

/* A constant that only a next value needs is computed. */
static void test_constant_next_values_are_computed(void) {
  vt_graph_builder gb;
  uint32_t computed = 0;
  const vt_eval eval = {eval_ones, &computed};
  const vt_pass_options o = {.eval = &eval, .alloc = vt_alloc_default()};
  begin_graph(&gb, vt_alloc_default());
  const uint32_t a = add_state(&gb, "a", row);
  const uint32_t half = vt_build_number(&gb.b, VT_DTYPE_F32, 0.5);
  const uint32_t halves = vt_build_broadcast(&gb.b, half, 1, row.dim);
  vt_graph_set_next(&gb, a, vt_build2(&gb.b, VT_OP_add, halves, halves));
  vt_graph_add_result(&gb, "y", a);
  vt_graph *g = freeze_or_exit(&gb), *out = apply_pass_or_exit(VT_PASS_fold, &o, g);
  CHECK(computed == 1 && out->n_nodes == 4);
  CHECK(out->nodes[out->values[out->ports[0].next].node].op == VT_OP_broadcast);
  vt_graph_free(g);
  vt_graph_free(out);
}

/* A group ends with a next value, although only one pointwise node reads it. */
static void test_fuse_ends_groups_at_next_values(void) {
  for (int with_state = 0; with_state < 2; with_state++) {
    vt_graph_builder gb;
    begin_graph(&gb, vt_alloc_default());
    const uint32_t x = add_input(&gb, "x", row);
    const uint32_t a = with_state ? add_state(&gb, "a", row) : VT_NO_VALUE;
    const uint32_t inner = vt_build1(&gb.b, VT_OP_neg, x);
    const uint32_t next = vt_build1(&gb.b, VT_OP_abs, inner);
    vt_graph_add_result(&gb, "y", vt_build1(&gb.b, VT_OP_neg, next));
    if (with_state) vt_graph_set_next(&gb, a, next);
    expect_after_pass(VT_PASS_fuse, &gb,
                      with_state ? "_0: f32[4] = neg(x) @1\n_1: f32[4] = abs(_0) @1\n"
                                   "_2: f32[4] = neg(_1)\nnext a = _1\noutput y = _2\n"
                                 : "_0: f32[4] = neg(x) @1\n_1: f32[4] = abs(_0) @1\n"
                                   "_2: f32[4] = neg(_1) @1\noutput y = _2\n");
  }
}

/* An op that can be computed in place of its first operand is in no group. */
static void test_fuse_leaves_updates_out(void) {
  CHECK(vt_op_form(VT_OP_scatter_nd) == VT_FORM_UPDATE);
  CHECK(!vt_form_can_be_in_group(VT_FORM_UPDATE) && !vt_form_can_be_in_group(VT_FORM_NONE));
  CHECK(vt_form_can_be_in_group(VT_FORM_POINTWISE) && vt_form_can_be_in_group(VT_FORM_ANCHOR));
}

/* ---- the pass `state` ---- */

static void test_store_of_each_state(void) {
  vt_graph_builder gb;
  begin_graph(&gb, vt_alloc_default());
  const uint32_t x = add_input(&gb, "x", row);
  const uint32_t a = add_state(&gb, "a", row), b = add_state(&gb, "b", row);
  const uint32_t c = add_state(&gb, "c", row);
  const uint32_t sum = vt_build2(&gb.b, VT_OP_add, a, x), less = vt_build1(&gb.b, VT_OP_neg, b);
  vt_graph_set_next(&gb, c, less);
  vt_graph_set_next(&gb, b, x);
  vt_graph_set_next(&gb, a, sum);
  vt_graph_add_result(&gb, "y", sum);
  expect_after_pass(VT_PASS_state, &gb,
                    "_0: f32[4] = add(a, x)\n_1: f32[4] = neg(b)\n"
                    "_2: f32[4] = reshape(_0, shape=[4])\n_3: f32[4] = reshape(x, shape=[4])\n"
                    "_4: f32[4] = reshape(_1, shape=[4])\n"
                    "next a = _2\nnext b = _3\nnext c = _4\noutput y = _0\n");
}

/* A state that does not change is not stored; two states with one next value have two stores. */
static void test_unchanged_and_equal_states(void) {
  vt_graph_builder gb;
  begin_graph(&gb, vt_alloc_default());
  const uint32_t a = add_state(&gb, "a", row), b = add_state(&gb, "b", row);
  const uint32_t c = add_state(&gb, "c", row);
  const uint32_t less = vt_build1(&gb.b, VT_OP_neg, a);
  vt_graph_set_next(&gb, a, a);
  vt_graph_set_next(&gb, b, less);
  vt_graph_set_next(&gb, c, less);
  vt_graph_add_result(&gb, "y", a);
  expect_after_pass(VT_PASS_state, &gb,
                    "_0: f32[4] = neg(a)\n_1: f32[4] = reshape(_0, shape=[4])\n"
                    "_2: f32[4] = reshape(_0, shape=[4])\n"
                    "next a = a\nnext b = _1\nnext c = _2\noutput y = a\n");
}

/* Next values that are values of other states, and an output that is the value of a state which
 * changes, are copied before the first store. */
static void test_values_of_states_are_copied_first(void) {
  vt_graph_builder gb;
  begin_graph(&gb, vt_alloc_default());
  const uint32_t a = add_state(&gb, "a", row), b = add_state(&gb, "b", row);
  const uint32_t c = add_state(&gb, "c", row), d = add_state(&gb, "d", row);
  vt_graph_set_next(&gb, a, b);
  vt_graph_set_next(&gb, b, a);
  vt_graph_set_next(&gb, c, b);
  vt_graph_set_next(&gb, d, d);
  vt_graph_add_result(&gb, "old", b);
  vt_graph_add_result(&gb, "c", c);
  vt_graph_add_result(&gb, "d", d);
  expect_after_pass(VT_PASS_state, &gb,
                    "_0: f32[4] = reshape(b, shape=[4])\n_1: f32[4] = reshape(a, shape=[4])\n"
                    "_2: f32[4] = reshape(c, shape=[4])\n_3: f32[4] = reshape(_0, shape=[4])\n"
                    "_4: f32[4] = reshape(_1, shape=[4])\n_5: f32[4] = reshape(_0, shape=[4])\n"
                    "next a = _3\nnext b = _4\nnext c = _5\nnext d = d\n"
                    "output old = _0\noutput c = _2\noutput d\n");
}

/* A next value that may be a view of a state needs no copy: the planner never makes it a view. */
static void test_groups_and_names_stay(void) {
  vt_graph_builder gb;
  begin_graph(&gb, vt_alloc_default());
  const uint32_t a = add_state(&gb, "a", square);
  gb.group = 1;
  const uint32_t inner = vt_build1(&gb.b, VT_OP_neg, a), h = vt_build1(&gb.b, VT_OP_abs, inner);
  gb.group = 0;
  vt_graph_name_value(&gb, h, "h");
  vt_graph_set_next(&gb, a, add_transpose_node(&gb.b, a));
  vt_graph_add_result(&gb, "h", h);
  expect_after_pass(VT_PASS_state, &gb,
                    "_0: f32[2, 2] = neg(a) @1\nh: f32[2, 2] = abs(_0) @1\n"
                    "_2: f32[2, 2] = transpose(a, perm=[1, 0])\n"
                    "_3: f32[2, 2] = reshape(_2, shape=[2, 2])\nnext a = _3\noutput h\n");
}

static void test_no_states_no_change(void) {
  vt_graph_builder gb;
  const vt_pass_options o = {.alloc = vt_alloc_default()};
  begin_graph(&gb, vt_alloc_default());
  const uint32_t x = add_input(&gb, "x", row);
  gb.group = 1;
  const uint32_t inner = vt_build1(&gb.b, VT_OP_neg, x), h = vt_build1(&gb.b, VT_OP_abs, inner);
  vt_graph_add_result(&gb, "h", h);
  vt_graph *g = freeze_or_exit(&gb), *out = apply_pass_or_exit(VT_PASS_state, &o, g);
  vt_hash256 before = {{0}}, after = {{1}};
  CHECK(vt_graph_hash(g, &before) == VT_OK && vt_graph_hash(out, &after) == VT_OK);
  CHECK(memcmp(&before, &after, sizeof before) == 0);
  vt_graph_free(g);
  vt_graph_free(out);
}

/* ---- initialisers ---- */

static void test_init_graphs_of_params_and_states(void) {
  vt_graph_builder gb;
  const vt_pass_options o = {.alloc = vt_alloc_default()};
  begin_graph(&gb, vt_alloc_default());
  add_port_with_init(&gb, "w", VT_PORT_PARAM, row);
  const uint32_t a = add_state(&gb, "a", square);
  vt_graph_set_next(&gb, a, a);
  vt_graph_add_result(&gb, "y", a);
  vt_graph *g = freeze_or_exit(&gb), *params = NULL, *states = NULL, *none = g;
  CHECK(vt_pass_build_init(g, VT_PORT_PARAM, &o, &params, NULL) == VT_OK && params->n_results == 1);
  CHECK(strcmp(params->results[0].name, "w") == 0);
  CHECK(vt_pass_build_init(g, VT_PORT_STATE, &o, &states, NULL) == VT_OK && states->n_results == 1);
  CHECK(strcmp(states->results[0].name, "a") == 0 && states->n_ports == 2);
  CHECK(vt_type_equal(&states->values[states->results[0].value].type, &square));
  CHECK(vt_pass_build_init(params, VT_PORT_STATE, &o, &none, NULL) == VT_OK && none == NULL);
  vt_graph_free(states);
  vt_graph_free(params);
  vt_graph_free(g);
}

/* ---- every allocation failing in turn ---- */

static void test_out_of_memory(void) {
  vt_graph_builder gb;
  begin_graph(&gb, vt_alloc_default());
  const uint32_t a = add_state(&gb, "a", row), b = add_state(&gb, "b", row);
  vt_graph_set_next(&gb, a, b);
  vt_graph_set_next(&gb, b, vt_build1(&gb.b, VT_OP_neg, a));
  vt_graph_add_result(&gb, "y", b);
  vt_graph *g = freeze_or_exit(&gb);
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    vt_graph *out = NULL;
    vt_diag d = {0};
    const vt_pass_options o = {.alloc = vt_fault_alloc(&fault)};
    const vt_status s = vt_pass_run(VT_PASS_state, g, &o, &out, &d);
    if (left == 0) asked = fault.asked;
    CHECK(s == (left == 0 ? VT_OK : VT_NOMEM) && d.code == s && (s == VT_OK) == (out != NULL));
    vt_graph_free(out);
    CHECK(fault.live == 0);
  }
  CHECK(asked > 3);
  vt_graph_free(g);
}

int main(void) {
  test_bind_carries_next_values();
  test_lower_carries_next_values();
  test_canonical_carries_next_values();
  test_cse_carries_next_values();
  test_dead_keeps_next_values();
  test_constant_next_values_are_computed();
  test_fuse_ends_groups_at_next_values();
  test_fuse_leaves_updates_out();
  test_store_of_each_state();
  test_unchanged_and_equal_states();
  test_values_of_states_are_copied_first();
  test_groups_and_names_stay();
  test_no_states_no_change();
  test_init_graphs_of_params_and_states();
  test_out_of_memory();
  TEST_DONE();
}
