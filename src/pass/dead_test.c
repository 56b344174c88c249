/* SPDX-License-Identifier: Apache-2.0
 * dead_test.c - tests that the nodes which no output needs are removed, and no others. */
#include "pass_text_test.h"

#define X "input x: f32[2, 3]\ninput i: i32[2] in 0..1\nparam w: f32[3] = ones\n"
#define LOOP "y, z = loop(x, count=4, carried=1) (i, h) {\n"

static void expect_after_dead(const char *body, const char *want) {
  const vt_pass_options o = {.alloc = vt_alloc_default()};
  expect_pass_result(VT_PASS_dead, VT_PASS_COUNT, &o, body, want);
}

int main(void) {
  const char *all = X "a = exp(x)\nb = a * w\noutput y = b + a";
  expect_after_dead(all, all);
  expect_after_dead(X "a = exp(x)\nb = a * w\nc = b + a\noutput y = a", X "output y = exp(x)");
  /* ports stay, even if nothing reads them */
  expect_after_dead(X "a = gather(x, i)\noutput x0 = w", X "output x0 = w");
  expect_after_dead(X "v, k = sort(x)\na = exp(v)\noutput y = k", X "v, k = sort(x)\noutput y = k");
  /* A body loses the nodes that none of its results needs. A node stays if one of its results is
   * needed. */
  expect_after_dead(X LOOP "  a = exp(h)\n  b = a * h\n  give neg(h), h + 1\n}\noutput y",
                    X LOOP "  give neg(h), h + 1\n}\noutput y");
  expect_after_dead(X "a = exp(x)\n" LOOP "  give neg(h), a + 1\n}\noutput o = w",
                    X "output o = w");
  check_pass_returns_nomem(VT_PASS_dead, (vt_pass_options){0},
                           X LOOP "  give neg(h), h + 1\n}\noutput y");
  TEST_DONE();
}
