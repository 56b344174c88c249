/* SPDX-License-Identifier: Apache-2.0
 * fuse_test.c - tests which nodes become a group and which do not, and that invalid groups in a
 * model's text are refused. */
#include "pass_text_test.h"

#define X "input x: f32[4, 4]\ninput z: f32[4, 4]\ninput v: f32[4]\n"

static void expect_after_fuse(const char *body, const char *want) {
  const vt_pass_options o = {.alloc = vt_alloc_default()};
  expect_pass_result(VT_PASS_fuse, VT_PASS_COUNT, &o, body, want);
}

static void test_grouped_nodes(void) {
  /* A single node is not a group. */
  expect_after_fuse(X "output y = exp(x)", X "output y = exp(x)");
  expect_after_fuse(X "a = exp(x)\noutput y = a + v", X "a = exp(x) @1\ny = a + v @1\noutput y");
  /* One value is read twice within the epilogue. */
  expect_after_fuse(X "a = matmul(x, z)\nb = a + v\ns = sigmoid(b)\noutput y = b * s", X
                    "a = matmul(x, z) @1\nb = a + v @1\ns = sigmoid(b) @1\ny = b * s @1\noutput y");
  /* The members of a group move next to the node that reads them, past a node that is not a member.
   */
  expect_after_fuse(
      X "a = exp(x)\nb = sum(z)\nc = tanh(z)\nd = a * c\noutput y = d\noutput u = b",
      X "b = sum(z)\na = exp(x) @1\nc = tanh(z) @1\nd = a * c @1\noutput y = d\noutput u = b");
  /* A group takes one anchor, the latest. */
  expect_after_fuse(X "a = matmul(x, z)\nb = matmul(z, x)\noutput y = a + b",
                    X "a = matmul(x, z)\nb = matmul(z, x) @1\ny = a + b @1\noutput y");
  expect_after_fuse(X "a = sum(x, axes=[1])\nb = sqrt(a)\noutput y = b / v",
                    X "a = sum(x, axes=[1]) @1\nb = sqrt(a) @1\ny = b / v @1\noutput y");
  /* There are two groups, numbered in order. */
  expect_after_fuse(
      X "a = exp(x)\nb = a * z\nc = sum(b, axes=[0])\nd = sqrt(c)\noutput y = d + v", X
      "a = exp(x) @1\nb = a * z @1\nc = sum(b, axes=[0]) @2\nd = sqrt(c) @2\ny = d + v @2\n"
      "output y");
  /* The members' dtypes may differ, but not their shapes. */
  expect_after_fuse(X "a = x > z\noutput y = select(a, x, z)",
                    X "a = x > z @1\ny = select(a, x, z) @1\noutput y");
}

static void test_nodes_that_stay_alone(void) {
  static const char *const bodies[] = {
      /* a is an output, so it is read outside of a group */
      X "a = exp(x)\noutput y = a + v\noutput a",
      X "a = exp(v)\noutput y = a + x", /* a and y have different shapes */
      /* a is read by nodes of two groups */
      X "a = exp(x)\nb = sum(a)\noutput y = tanh(a)\noutput b",
      X "a = exp(x)\noutput y = matmul(a, z)", /* a is read by an op that is not pointwise */
      X "a = exp(x)\noutput y = transpose(a, perm=[1, 0])",
      X "a, i = sort(x)\noutput y = exp(a)",
      X "a = transpose(x, perm=[1, 0])\noutput y = exp(a)",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
    expect_after_fuse(bodies[i], bodies[i]);
}

static void test_groups_in_bodies(void) {
  expect_after_fuse(
      X
      "y = loop(x, count=3, carried=1) (i, h) {\n  a = exp(h)\n  b = a * z\n  give b\n}\n"
      "c = exp(y)\noutput u = tanh(c)",
      X
      "y = loop(x, count=3, carried=1) (i, h) {\n  a = exp(h) @1\n  b = a * z @1\n  give b\n}\n"
      "c = exp(y) @1\nu = tanh(c) @1\noutput u");
}

/* Every pass before `fuse` drops the groups; `state`, which comes after it, keeps them. */
static void test_other_passes_drop_groups(void) {
  const vt_pass_options o = {.alloc = vt_alloc_default()};
  for (uint32_t i = 0; i < vt_pass_total(); i++) {
    if (i == VT_PASS_fuse || i == VT_PASS_state) continue;
    vt_graph *g = parse_graph(X "a = exp(x) @1\ny = a + v @1\noutput y");
    vt_graph *plain = parse_graph(X "a = exp(x)\ny = a + v\noutput y");
    CHECK(!same_graph(g, plain)); /* groups are part of a graph's hash */
    g = apply_pass(i, &o, g);
    CHECK(same_graph(g, plain));
    vt_graph_free(g);
    vt_graph_free(plain);
  }
}

static void expect_text_refused(const char *body, vt_status want, const char *words) {
  char text[1000];
  vt_graph *g = NULL;
  vt_diag d = {0};
  snprintf(text, sizeof text, "volta 1\nmodel m {\n" X "%s\n}\n", body);
  const vt_status s = vt_parse(text, strlen(text), vt_alloc_default(), &g, &d);
  CHECK(s == want && g == NULL && strstr(d.text, words) != NULL);
  if (s != want || strstr(d.text, words) == NULL) fprintf(stderr, "  %s: %s\n", body, d.text);
  vt_graph_free(g);
}

static void test_invalid_groups_refused(void) {
  expect_text_refused("a = exp(x) @2\noutput y = a", VT_VERIFY, "group 2, expected 1");
  expect_text_refused("a = exp(x) @1\nb = x + z\nc = tanh(a) @1\noutput y = c + b", VT_VERIFY,
                      "group 1, expected 2");
  expect_text_refused("a = transpose(x, perm=[1, 0]) @1\nb = exp(a) @1\noutput b", VT_VERIFY,
                      "node 0 cannot be a member of group 1");
  expect_text_refused("a, i = sort(x) @1\noutput a", VT_VERIFY, "cannot be a member");
  expect_text_refused("a = exp(v) @1\nb = a + x @1\noutput b", VT_VERIFY,
                      "node 1 cannot be a member");
  expect_text_refused("a = matmul(x, z) @1\nb = matmul(z, x) @1\nc = a + b @1\noutput c", VT_VERIFY,
                      "node 1 cannot be a member");
  expect_text_refused("a = exp(x) @1\nb = tanh(a) @1\noutput c = a + b", VT_VERIFY,
                      "inside group 1");
  expect_text_refused("a = exp(x) @1\nb = matmul(a, z) @1\noutput b", VT_VERIFY, "inside group 1");
  expect_text_refused("a = exp(x) @1\nb = tanh(a) @1\noutput b\noutput a", VT_VERIFY,
                      "'a' is inside a group");
  expect_text_refused("a = exp(x) @0\noutput a", VT_SYNTAX, "must be 1 or more");
  expect_text_refused("a = exp(x) @4294967297\noutput a", VT_SYNTAX, "must be 1 or more");
  expect_text_refused("a = exp(x) @\noutput a", VT_SYNTAX, "the number of a group");
  expect_text_refused("a = exp(x) @x\noutput a", VT_SYNTAX, "the number of a group");
  expect_text_refused("a = exp(x) @1 @1\noutput a", VT_SYNTAX, "end of the line");
  expect_text_refused("a = exp(tanh(x)) @1\noutput a", VT_SYNTAX, "one op");
  expect_text_refused("a = x @1\noutput a", VT_SYNTAX, "one op");
  expect_text_refused("output a = exp(x) @1", VT_SYNTAX, "end of the line");
  expect_text_refused("a = loop(x, count=2, carried=1) (i, h) {\n  give h\n} @1\noutput a",
                      VT_SYNTAX, "one op");
}

int main(void) {
  test_grouped_nodes();
  test_nodes_that_stay_alone();
  test_groups_in_bodies();
  test_other_passes_drop_groups();
  test_invalid_groups_refused();
  check_pass_returns_nomem(VT_PASS_fuse, (vt_pass_options){0}, X "a = exp(x)\noutput y = a + v");
  TEST_DONE();
}
