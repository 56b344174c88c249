/* SPDX-License-Identifier: Apache-2.0
 * fold_test.c - tests that constants whose elements are all equal become literals. Constants that
 * are large, costly, not uniform, or fail to run must stay as nodes. */
#include "pass_text_test.h"
#include "pipeline.h"

#define X "input x: f32[4]\ninput s: i64[] in 0..9\n"

static vt_alloc eval_alloc;
static int n_runs; /* how often the pass ran a graph of constants */

static vt_status run_constants_and_count(void *user, const vt_graph *g, void *const *out,
                                         vt_diag *d) {
  n_runs++;
  CHECK(g->n_ports == 0 && g->n_results > 0);
  return vt_pipeline_eval_constants(user, g, out, d);
}
static const vt_eval eval = {run_constants_and_count, &eval_alloc};

static void expect_after_folding(const char *body, const char *want) {
  const vt_pass_options o = {.eval = &eval, .alloc = vt_alloc_default()};
  eval_alloc = o.alloc;
  expect_pass_result(VT_PASS_fold, VT_PASS_dead, &o, body, want);
}

static void expect_unchanged(const char *body) { expect_after_folding(body, body); }

static void test_uniform_constants_become_literals(void) {
  expect_after_folding(X "output y = x * (f32(2) + f32(3))", X "output y = x * f32(5)");
  expect_after_folding(X "output y = x + sqrt(f32(4) * exp(f32(0)))", X "output y = x + f32(2)");
  expect_after_folding("output y = f32(1) / f32(0)", "output y = f32(inf)");
  expect_after_folding("output y = f32(0) / f32(0)", "output y = f32(nan)");
  expect_after_folding("output y = neg(f32(0))", "output y = f32(-0.0)");
  expect_after_folding("output y = f32(0) < f32(1)", "output y = true");
  expect_after_folding("output y = cast(f64(-3.7), dtype=i8)", "output y = i8(-3)");
  expect_after_folding("output y = sum(broadcast(f32(0.5), shape=[4, 6]), axes=[1])",
                       "output y = broadcast(f32(3), shape=[4])");
  expect_after_folding(X "output y = x * transpose(broadcast(f32(2), shape=[4, 4]), perm=[1, 0])",
                       X "output y = x * broadcast(f32(2), shape=[4, 4])");
  expect_after_folding(X "output y = x + cast(iota(shape=[4], axis=0, dtype=i64) < 9, dtype=f32)",
                       X "output y = x + broadcast(f32(1), shape=[4])");
  expect_after_folding(X "output y = x * random_uniform(i64(1), i64(2), shape=[])",
                       X "output y = x * f32(0.1870749)");
  /* A composition is folded like a prim, without being decomposed. */
  expect_after_folding(X "output y = x * relu(f32(-2))", X "output y = x * f32(0)");
  /* Only the uniform one of two results becomes a literal. */
  expect_after_folding("a, b = sort(broadcast(f32(2), shape=[3]))\noutput a\noutput b",
                       "x = broadcast(f32(2), shape=[3])\na = broadcast(f32(2), shape=[3])\n"
                       "_, b = sort(x)\noutput a\noutput b");
}

static void test_constants_in_bodies(void) {
  expect_after_folding(X
                       "y = loop(x, count=3, carried=1) (i, h) {\n  give h * (f32(2) + f32(1))\n}\n"
                       "output u = y + (f32(1) + f32(1))",
                       X
                       "y = loop(x, count=3, carried=1) (i, h) {\n  give h * f32(3)\n}\n"
                       "output u = y + f32(2)");
  expect_after_folding(
      "y = cond(true) {\n  give f32(1) + f32(1)\n} else {\n  give f32(2) + f32(2)\n}\noutput y",
      "y = cond(true) {\n  give f32(2)\n} else {\n  give f32(4)\n}\noutput y");
}

static void test_other_constants_stay(void) {
  expect_unchanged(X "output y = x * f32(2)");
  expect_unchanged(X "output y = x * broadcast(f32(2), shape=[4])");
  /* The elements of the constant differ. */
  expect_unchanged(X "output y = x + cast(iota(shape=[4], axis=0, dtype=i64), dtype=f32)");
  expect_unchanged(X "output y = x + cast(iota(shape=[4], axis=0, dtype=i64) / 3, dtype=f32)");
  /* The constant has too many elements. */
  expect_unchanged("output y = sum(broadcast(f32(0), shape=[65537]))");
  /* The constant has no elements. */
  expect_unchanged("output y = concat(broadcast(f32(1), shape=[0]), axis=0)");
  /* Ops with bodies are never folded. */
  expect_unchanged("y = loop(f32(1), count=3, carried=1) (i, h) {\n  give h + h\n}\noutput y");
  /* The product would cost too much. */
  expect_unchanged(
      "output y = matmul(broadcast(f32(1), shape=[256, 256]),"
      " broadcast(f32(1), shape=[256, 256]))");
}

static uint32_t count_nodes_after_folding(const char *body) {
  const vt_pass_options o = {.eval = &eval, .alloc = vt_alloc_default()};
  vt_graph *g = apply_pass(VT_PASS_dead, &o, apply_pass(VT_PASS_fold, &o, parse_graph(body)));
  const uint32_t n = g->n_nodes;
  vt_graph_free(g);
  return n;
}

/* If one constant fails, nothing is folded, so that the failure is reported by the model's run. */
static void test_failing_constant_folds_nothing(void) {
  const char *good =
      "table = broadcast(f32(1), shape=[3])\n"
      "output y = gather(table, broadcast(i64(2), shape=[1])) + (f32(1) + f32(1))";
  const char *bad =
      "table = broadcast(f32(1), shape=[3])\n"
      "output y = gather(table, broadcast(i64(3), shape=[1])) + (f32(1) + f32(1))";
  CHECK(count_nodes_after_folding(good) == 2 && count_nodes_after_folding(bad) == 9);
  expect_unchanged(bad);
}

static void test_constants_run_once(void) {
  n_runs = 0;
  CHECK(count_nodes_after_folding(X "a = x * (f32(2) + f32(3))\nb = a - (f32(7) / f32(2))\n"
                                    "output y = select(f32(1) < f32(2), b, a)") == 6);
  CHECK(n_runs == 1);
  /* The pass runs nothing if there is no constant to compute. */
  CHECK(count_nodes_after_folding(X "output y = x * f32(2)") == 2 && n_runs == 1);
  const vt_pass_options o = {.alloc = vt_alloc_default()};
  vt_graph *g = apply_pass(VT_PASS_fold, &o, parse_graph("output y = f32(1) + f32(2)"));
  CHECK(g->n_nodes == 3 && n_runs == 1); /* nothing ran: `eval` is NULL */
  vt_graph_free(g);
}

int main(void) {
  eval_alloc = vt_alloc_default();
  test_uniform_constants_become_literals();
  test_constants_in_bodies();
  test_other_constants_stay();
  test_failing_constant_folds_nothing();
  test_constants_run_once();
  check_pass_returns_nomem(
      VT_PASS_fold, (vt_pass_options){.eval = &eval},
      X "output y = x * (f32(2) + f32(3)) + broadcast(f32(1), shape=[4]) * f32(2)");
  TEST_DONE();
}
