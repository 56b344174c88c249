/* SPDX-License-Identifier: Apache-2.0
 * graph_state_test.c - tests the states of graphs: how their next values are set, printed and
 * hashed, and that the verifier notices a next value that is missing or cannot be one. */
#include <string.h>
#include "vt_graph.h"
#include "vt_test.h"

static const vt_type row = {VT_DTYPE_F32, 1, {4}}, column = {VT_DTYPE_F32, 2, {4, 1}};

static uint32_t add_state(vt_graph_builder *gb, const char *name, const vt_type *type) {
  const vt_init_info *zeros = vt_init_find("zeros");
  const vt_port p = {.name = name,
                     .kind = VT_PORT_STATE,
                     .init = zeros->number,
                     .init_attrs = zeros->attrs->defaults};
  return vt_graph_add_port(gb, &p, type);
}

/* The values of the graph below. */
enum { X, A, B, C, D, SUM, N_VALUES };

/* input x, states a, b, c, d; _0 = a + x; next a = _0, next b = c, next c = b, next d = d. The next
 * values are set in another order than that of the declarations. */
static void write_graph(vt_graph_builder *gb) {
  vt_graph_add_port(gb, &(vt_port){.name = "x", .kind = VT_PORT_INPUT}, &row);
  add_state(gb, "a", &row);
  add_state(gb, "b", &row);
  add_state(gb, "c", &row);
  add_state(gb, "d", &row);
  vt_build2(&gb->b, VT_OP_add, A, X);
  vt_graph_set_next(gb, D, D);
  vt_graph_set_next(gb, B, C);
  vt_graph_set_next(gb, A, SUM);
  vt_graph_set_next(gb, C, B);
  vt_graph_add_result(gb, "y", SUM);
}

static vt_status build_graph(vt_alloc a, vt_graph **out, vt_diag *d) {
  vt_graph_builder gb;
  VT_TRY(vt_graph_begin(&gb, "states", a, d));
  write_graph(&gb);
  return vt_graph_freeze(&gb, out);
}

static vt_graph *new_graph(void) {
  vt_graph *g = NULL;
  vt_diag d = {0};
  CHECK(build_graph(vt_alloc_default(), &g, &d) == VT_OK);
  if (g == NULL) fprintf(stderr, "  %s\n", d.text);
  if (g == NULL) exit(1); /* the test cannot continue */
  return g;
}

static vt_hash256 graph_hash(const vt_graph *g) {
  vt_hash256 h = {{0}};
  CHECK(vt_graph_hash(g, &h) == VT_OK);
  return h;
}

/* Next values are printed in the order of the declarations, between the nodes and the outputs. */
static void test_printed_text(void) {
  static const char want[] =
      "volta 1\n"
      "model states {\n"
      "  input x: f32[4]\n"
      "  state a: f32[4] = zeros\n"
      "  state b: f32[4] = zeros\n"
      "  state c: f32[4] = zeros\n"
      "  state d: f32[4] = zeros\n"
      "  _0: f32[4] = add(a, x)\n"
      "  next a = _0\n"
      "  next b = c\n"
      "  next c = b\n"
      "  next d = d\n"
      "  output y = _0\n"
      "}\n";
  vt_graph *g = new_graph();
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_graph_print(g, 0, &t);
  CHECK(vt_text_status(&t) == VT_OK && strcmp(t.s, want) == 0);
  if (strcmp(t.s, want) != 0) fprintf(stderr, "%s", t.s);
  vt_text_done(&t);
  vt_graph_free(g);
}

static void test_hash_depends_on_next_values(void) {
  vt_graph *g = new_graph();
  const vt_hash256 before = graph_hash(g);
  const uint32_t others[] = {B, C, D, X};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    g->ports[1].next = others[i];
    const vt_hash256 h = graph_hash(g);
    CHECK(vt_graph_verify(g, NULL) == VT_OK && memcmp(&h, &before, sizeof h) != 0);
  }
  g->ports[1].next = SUM;
  g->ports[1].kind = VT_PORT_PARAM;
  g->ports[1].next = VT_NO_VALUE;
  const vt_hash256 param = graph_hash(g);
  CHECK(vt_graph_verify(g, NULL) == VT_OK && memcmp(&param, &before, sizeof param) != 0);
  vt_graph_free(g);
}

/* ---- faults of a finished graph ---- */

static void no_next(vt_graph *g) { g->ports[1].next = VT_NO_VALUE; }
static void next_past_end(vt_graph *g) { g->ports[1].next = N_VALUES; }
static void next_of_other_type(vt_graph *g) { g->values[g->ports[1].next = B].type = column; }
static void next_of_input(vt_graph *g) { g->ports[0].next = SUM; }
static void next_of_param(vt_graph *g) { g->ports[1].kind = VT_PORT_PARAM; }
static void no_initialiser(vt_graph *g) { g->ports[1].init = 0; }
static void no_initialiser_attrs(vt_graph *g) { g->ports[4].init_attrs = NULL; }
static void a_range(vt_graph *g) { g->ports[2].has_range = 1; }
static void another_kind(vt_graph *g) { g->ports[2].kind = VT_PORT_OUTPUT; }

static void test_verify_finds_each_fault(void) {
  static const struct {
    void (*plant)(vt_graph *g);
    const char *text;
  } faults[] = {
      {no_next, "the state 'a' has no next value: write next a = ..."},
      {next_past_end, "the next value of the state 'a' is not a value of its type"},
      {next_of_other_type, "the next value of the state 'a' is not a value of its type"},
      {next_of_input, "'x' has a next value, but is not a state"},
      {next_of_param, "'a' has a next value, but is not a state"},
      {no_initialiser, "the state 'a' has initialiser number 0, which is not valid"},
      {no_initialiser_attrs, "the state 'd' has initialiser number 1 without its attributes"},
      {a_range, "'b' is f32: only an input of integers has a range"},
      {another_kind, "the port 'b' is neither an input, a param nor a state"},
  };
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    vt_graph *g = new_graph();
    vt_diag d = {0};
    CHECK(vt_graph_verify(g, &d) == VT_OK);
    faults[i].plant(g);
    const int found = vt_graph_verify(g, &d) == VT_VERIFY && strcmp(d.text, faults[i].text) == 0;
    CHECK(found);
    if (!found) fprintf(stderr, "  '%s' instead of '%s'\n", d.text, faults[i].text);
    vt_graph_free(g);
  }
}

/* The next value of a state is read outside of a group, so it must be the value of the group's last
 * member. */
static void test_next_value_ends_its_group(void) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  vt_diag d = {0};
  CHECK(vt_graph_begin(&gb, "group", vt_alloc_default(), &d) == VT_OK);
  const uint32_t a = add_state(&gb, "a", &row);
  gb.group = 1;
  const uint32_t inner = vt_build1(&gb.b, VT_OP_neg, a), outer = vt_build1(&gb.b, VT_OP_abs, inner);
  gb.group = 0;
  vt_graph_set_next(&gb, a, outer);
  vt_graph_add_result(&gb, "y", outer);
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1);
  g->ports[0].next = inner;
  CHECK(vt_graph_verify(g, &d) == VT_VERIFY);
  CHECK(strcmp(d.text, "the next value of 'a' is inside a group") == 0);
  vt_graph_free(g);
}

/* x, h = x; h = h + h in a loop of one iteration. */
static vt_graph *graph_with_body(void) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  CHECK(vt_graph_begin(&gb, "body", vt_alloc_default(), NULL) == VT_OK);
  vt_graph_add_port(&gb, &(vt_port){.name = "x", .kind = VT_PORT_INPUT}, &row);
  const vt_attr_loop once = {.size = sizeof once, .count = 1, .carried = 1};
  const vt_type takes[2] = {{.dtype = VT_DTYPE_I64}, row};
  const char *const names[2] = {"i", "h"};
  vt_graph_builder *body = vt_graph_open_body(&gb, names, takes, 2);
  if (body == NULL) exit(1);
  const uint32_t out = vt_build2(&body->b, VT_OP_add, 1, 1);
  vt_graph_close_body(body, &out, 1);
  vt_graph_add_result(&gb, "y", gb.b.node(&gb.b, VT_OP_loop, &(uint32_t){0}, 1, &once));
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1);
  return g;
}

static void test_state_in_body_is_refused(void) {
  vt_graph *g = graph_with_body();
  vt_port *h = &g->nodes[0].body[0]->ports[1];
  vt_diag d = {0};
  h->kind = VT_PORT_STATE;
  h->next = h->value;
  CHECK(vt_graph_verify(g, &d) == VT_VERIFY);
  CHECK(strcmp(d.text, "'h' is a state in a body, which has only inputs") == 0);
  vt_graph_free(g);
}

/* ---- setting next values ---- */

/* Builds the graph, sets one more next value, and expects a failure with this text. */
static void expect_refused(uint32_t state, uint32_t next, vt_status want, const char *text) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  vt_diag d = {0};
  CHECK(vt_graph_begin(&gb, "states", vt_alloc_default(), &d) == VT_OK);
  write_graph(&gb);
  const uint32_t other = add_state(&gb, "other", &column);
  CHECK(other == N_VALUES && gb.status == VT_OK);
  vt_graph_set_next(&gb, state, next);
  CHECK(gb.status == want && strcmp(d.text, text) == 0);
  if (strcmp(d.text, text) != 0) fprintf(stderr, "  '%s' instead of '%s'\n", d.text, text);
  vt_graph_set_next(&gb, other, other); /* valid, but the first failure stays */
  CHECK(vt_graph_freeze(&gb, &g) == want && g == NULL);
}

static void test_wrong_next_values_refused(void) {
  expect_refused(A, SUM, VT_VERIFY, "the state 'a' gets its next value twice");
  expect_refused(D, A, VT_VERIFY, "the state 'd' gets its next value twice");
  expect_refused(N_VALUES, SUM, VT_VERIFY,
                 "the state 'other' is f32[4, 1], but its next value is f32[4]");
  expect_refused(X, SUM, VT_INTERNAL, "value 5 cannot be the next value of value 0");
  expect_refused(SUM, SUM, VT_INTERNAL, "value 5 cannot be the next value of value 5");
  expect_refused(N_VALUES, 99, VT_INTERNAL, "value 99 cannot be the next value of value 6");
  expect_refused(99, SUM, VT_INTERNAL, "value 5 cannot be the next value of value 99");
}

/* A state without a next value is found when the graph is frozen. */
static void test_missing_next_value_is_refused(void) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  vt_diag d = {0};
  CHECK(vt_graph_begin(&gb, "states", vt_alloc_default(), &d) == VT_OK);
  write_graph(&gb);
  add_state(&gb, "k", &row);
  CHECK(gb.status == VT_OK && vt_graph_freeze(&gb, &g) == VT_VERIFY && g == NULL);
  CHECK(strcmp(d.text, "the state 'k' has no next value: write next k = ...") == 0);
}

/* A model that changes states needs no output; any other model does. */
static void test_states_without_output(void) {
  for (uint32_t kind = VT_PORT_STATE; kind != 0; kind = kind == VT_PORT_STATE ? VT_PORT_PARAM : 0) {
    vt_graph_builder gb;
    vt_graph *g = NULL;
    const vt_init_info *zeros = vt_init_find("zeros");
    const vt_port p = {
        .name = "a", .kind = kind, .init = zeros->number, .init_attrs = zeros->attrs->defaults};
    CHECK(vt_graph_begin(&gb, "states", vt_alloc_default(), NULL) == VT_OK);
    const uint32_t a = vt_graph_add_port(&gb, &p, &row), y = vt_build1(&gb.b, VT_OP_neg, a);
    if (kind == VT_PORT_STATE) vt_graph_set_next(&gb, a, y);
    CHECK(vt_graph_freeze(&gb, &g) == (kind == VT_PORT_STATE ? VT_OK : VT_VERIFY));
    vt_graph_free(g);
  }
}

/* A caller's `next` is not copied: only vt_graph_set_next sets it. */
static void test_next_of_callers_port_is_ignored(void) {
  vt_graph_builder gb;
  CHECK(vt_graph_begin(&gb, "states", vt_alloc_default(), NULL) == VT_OK);
  const vt_port p = {.name = "x", .kind = VT_PORT_INPUT, .next = 5};
  vt_graph_add_port(&gb, &p, &row);
  CHECK(gb.g->ports[0].next == VT_NO_VALUE);
  vt_graph_drop(&gb);
}

static void test_build_out_of_memory(void) {
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    vt_graph *g = NULL;
    vt_diag d = {0};
    const vt_status s = build_graph(vt_fault_alloc(&fault), &g, &d);
    if (left == 0) asked = fault.asked;
    CHECK(s == (left == 0 ? VT_OK : VT_NOMEM) && d.code == s);
    vt_graph_free(g);
    CHECK(fault.live == 0);
  }
  CHECK(asked > 3);
}

int main(void) {
  test_printed_text();
  test_hash_depends_on_next_values();
  test_verify_finds_each_fault();
  test_next_value_ends_its_group();
  test_state_in_body_is_refused();
  test_wrong_next_values_refused();
  test_missing_next_value_is_refused();
  test_states_without_output();
  test_next_of_callers_port_is_ignored();
  test_build_out_of_memory();
  TEST_DONE();
}
