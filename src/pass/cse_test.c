/* SPDX-License-Identifier: Apache-2.0
 * cse_test.c - tests that equal nodes are computed once, and that nodes which differ in an operand,
 * an attribute or a body both stay. */
#include "pass_text_test.h"

#define X "input x: f32[4, 4]\ninput z: f32[4, 4]\ninput seed: i64[] in 0..9\n"
#define LOOP(body) "loop(x, count=3, carried=1) (i, h) {\n" body "}\n"

static void expect_after_cse(const char *body, const char *want) {
  const vt_pass_options o = {.alloc = vt_alloc_default()};
  expect_pass_result(VT_PASS_cse, VT_PASS_COUNT, &o, body, want);
}

static void test_equal_nodes_merge(void) {
  expect_after_cse(X "a = exp(x)\nb = exp(x)\noutput y = a + b", X "a = exp(x)\noutput y = a + a");
  expect_after_cse(X "output y = (x + z) * (x + z)", X "a = x + z\noutput y = a * a");
  expect_after_cse(X "output y = sum(x, axes=[0])\noutput u = sum(x, axes=[0])",
                   X "a = sum(x, axes=[0])\noutput y = a\noutput u = a");
  expect_after_cse(X "a, i = sort(x)\nb, k = sort(x)\noutput y = a\noutput u = k",
                   X "a, i = sort(x)\noutput y = a\noutput u = i");
  expect_after_cse(
      X
      "a = random_uniform(seed, seed, shape=[4])\nb = random_uniform(seed, seed, shape=[4])\n"
      "output y = a - b",
      X "a = random_uniform(seed, seed, shape=[4])\noutput y = a - a");
  /* Merging a and b makes c and d equal. */
  expect_after_cse(X "a = exp(x)\nb = exp(x)\nc = tanh(a)\nd = tanh(b)\noutput y = c * d",
                   X "a = exp(x)\nc = tanh(a)\noutput y = c * c");
  expect_after_cse(X "output y = f32(1.5) + (x + f32(1.5))",
                   X "a = f32(1.5)\noutput y = a + (x + a)");
}

static void test_different_nodes_stay(void) {
  static const char *const bodies[] = {
      X "output y = (x + z) * (z + x)", /* nodes differ if the order of their operands does */
      X "output y = sum(x, axes=[0]) + sum(x, axes=[1])",
      X "output y = sum(x, axes=[0], keep=true) + sum(x, axes=[0])",
      X "output y = (x * f32(0.0)) + (x * f32(-0.0))",
      X "output y = cast(f32(1) + x, dtype=f64) + cast(cast(x, dtype=i32), dtype=f64)",
      X "output y = clamp(x, lo=0.0, hi=1.0) + clamp(x, lo=-0.0, hi=1.0)",
      X /* the two equations differ only at the end */
      "output y = einsum(x, z, equation=\"it, tj -> ij\") + einsum(x, z, equation=\"it, tj -> "
      "ji\")",
      X
      "output y = random_uniform(seed, seed, shape=[4], stream=1)"
      " - random_uniform(seed, seed, shape=[4], stream=2)",
  };
  for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
    expect_after_cse(bodies[i], bodies[i]);
}

static void test_equal_nodes_in_bodies(void) {
  /* Nodes in a body are merged, and so are equal bodies, whatever their arguments are called and
   * whether or not they repeat a node. */
  expect_after_cse(X "y = " LOOP("  give exp(h) + exp(h)\n") "output y",
                   X "y = " LOOP("  a = exp(h)\n  give a + a\n") "output y");
  expect_after_cse(X "y = " LOOP("  give exp(h) + exp(h)\n") "u = loop(x, count=3, carried=1) (k, g) {\n"
           "  a = exp(g)\n  give a + a\n}\noutput v = y * u",
         X "y = " LOOP("  a = exp(h)\n  give a + a\n") "output v = y * y");
  const char *other =
      X "y = " LOOP("  give exp(h) + h\n") "u = " LOOP("  give exp(h) - h\n") "output v = y * u";
  expect_after_cse(other, other);
  const char *count = X "y = " LOOP("  give exp(h)\n")
      "u = loop(x, count=4, carried=1) (i, h) {\n  give exp(h)\n}\noutput v = y * u";
  expect_after_cse(count, count);
  /* If two results of a body become the same value, the second is copied. */
  expect_after_cse(
      X "y, u = " LOOP("  give exp(h), exp(h)\n") "output y\noutput u",
      X "y, u = " LOOP("  a = exp(h)\n  give a, reshape(a, shape=[4, 4])\n") "output y\noutput u");
}

int main(void) {
  test_equal_nodes_merge();
  test_different_nodes_stay();
  test_equal_nodes_in_bodies();
  check_pass_returns_nomem(VT_PASS_cse, (vt_pass_options){0},
                           X "y = " LOOP("  give exp(h) + exp(h)\n") "output v = y * y");
  TEST_DONE();
}
