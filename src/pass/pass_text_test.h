/* SPDX-License-Identifier: Apache-2.0
 * pass_text_test.h - shared by the tests of single passes: they write graphs in the text form,
 * apply a pass to them, and compare the result with the graph of another text. */
#ifndef VT_PASS_TEXT_TEST_H
#define VT_PASS_TEXT_TEST_H
#include <string.h>
#include "vt_parse.h"
#include "vt_pass.h"
#include "vt_test.h"

/* Parses a model without symbolic dimensions; `body` is the text of its statements. */
static inline vt_graph *parse_graph(const char *body) {
  static char text[8000];
  vt_graph *g = NULL;
  vt_diag d = {0};
  snprintf(text, sizeof text, "volta 1\nmodel m {\n%s\n}\n", body);
  CHECK(vt_parse(text, strlen(text), vt_alloc_default(), &g, &d) == VT_OK);
  if (g == NULL) {
    fprintf(stderr, "  %u:%u: %s\n%s\n", d.line, d.column, d.text, text);
    exit(1); /* the test cannot continue */
  }
  return g;
}

static inline void print_to_stderr(const vt_graph *g) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_graph_print(g, 0, &t);
  fprintf(stderr, "%s", t.s);
  vt_text_done(&t);
}

static inline int same_graph(const vt_graph *a, const vt_graph *b) {
  vt_hash256 x, y;
  CHECK(vt_graph_hash(a, &x) == VT_OK && vt_graph_hash(b, &y) == VT_OK);
  return memcmp(&x, &y, sizeof x) == 0;
}

/* Applies a pass to g and frees g. */
static inline vt_graph *apply_pass(uint32_t pass, const vt_pass_options *o, vt_graph *g) {
  vt_graph *out = NULL;
  vt_diag d = {0};
  CHECK(vt_pass_run(pass, g, o, &out, &d) == VT_OK);
  if (out == NULL) {
    fprintf(stderr, "  %s: %s\n", vt_pass_at(pass)->name, d.text);
    exit(1);
  }
  vt_graph_free(g);
  return out;
}

/* Checks that pass `pass`, and after it pass `next_pass` unless that is VT_PASS_COUNT, changes the
 * graph of `body` into that of `want`, and that a second `pass` changes nothing. */
static inline void expect_pass_result(uint32_t pass, uint32_t next_pass, const vt_pass_options *o,
                                      const char *body, const char *want) {
  vt_graph *g = apply_pass(pass, o, parse_graph(body)), *w = parse_graph(want);
  if (next_pass != VT_PASS_COUNT) g = apply_pass(next_pass, o, g);
  const int same = same_graph(g, w);
  CHECK(same);
  if (!same) {
    fprintf(stderr, "%s gives\n", body);
    print_to_stderr(g);
    fprintf(stderr, "and not\n");
    print_to_stderr(w);
  }
  vt_graph *again = apply_pass(pass, o, parse_graph(body)), *twice = NULL;
  vt_diag d = {0};
  CHECK(vt_pass_run(pass, again, o, &twice, &d) == VT_OK && same_graph(again, twice));
  vt_graph_free(again);
  vt_graph_free(twice);
  vt_graph_free(g);
  vt_graph_free(w);
}

/* Lets each allocation of a pass fail in turn: the pass must return VT_NOMEM and leak nothing. */
static inline void check_pass_returns_nomem(uint32_t pass, vt_pass_options o, const char *body) {
  vt_graph *g = parse_graph(body);
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    vt_graph *out = NULL;
    vt_diag d = {0};
    o.alloc = vt_fault_alloc(&fault);
    const vt_status s = vt_pass_run(pass, g, &o, &out, &d);
    if (left == 0) asked = fault.asked;
    CHECK(s == (left == 0 ? VT_OK : VT_NOMEM) && d.code == s && (s == VT_OK) == (out != NULL));
    vt_graph_free(out);
    CHECK(fault.live == 0);
  }
  CHECK(asked > 3);
  vt_graph_free(g);
}
#endif
