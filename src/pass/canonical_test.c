/* SPDX-License-Identifier: Apache-2.0
 * canonical_test.c - tests each identity on graphs to which it applies, and on similar graphs to
 * which no identity applies. */
#include "identities.h"
#include "pass_text_test.h"

typedef struct example {
  /* the first identity that applies; "" if none applies, or several in turn */
  const char *identity;
  /* statements before the pass and after; `want` is NULL if nothing changes */
  const char *body, *want;
} example;

#define F "input x: f32[2, 3]\n"
#define D "input x: f64[2, 3]\n"
#define I "input x: i32[2, 3] in 0..9\n"
#define B "input x: bool[2, 3]\ninput p: bool[2, 3]\n"
#define Y F "output y = x"

static const example examples[] = {
    {"mul_one", F "output y = x * 1", Y},
    {"mul_one", F "output y = 1 * x", Y},
    {"mul_one", D "output y = x * f64(1)", D "output y = x"},
    {"mul_one", I "output y = x * 1", I "output y = x"},
    {"mul_one", F "output y = x * broadcast(f32(1), shape=[3])", Y},
    {"mul_one", F "output y = x * reshape(broadcast(f32(1), shape=[6]), shape=[2, 3])", Y},
    /* y has more elements than x */
    {"", F "output y = x * broadcast(f32(1), shape=[4, 2, 3])", NULL},
    {"", F "output y = x * -1", NULL},
    {"", F "output y = x * 0", NULL},
    {"div_one", F "output y = x / 1", Y},
    {"div_one", I "output y = x / 1", I "output y = x"},
    {"", F "output y = 1 / x", NULL},
    {"sub_zero", F "output y = x - 0", Y},
    {"sub_zero", I "output y = x - 0", I "output y = x"},
    {"", F "output y = x - f32(-0.0)", NULL}, /* -0 - -0 is +0 */
    {"", F "output y = f32(0) - x", NULL},    /* +0 - +0 is +0, but neg(+0) is -0 */
    {"add_minus_zero", F "output y = x + f32(-0.0)", Y},
    {"add_minus_zero", F "output y = f32(-0.0) + x", Y},
    {"add_minus_zero", D "output y = x + f64(-0.0)", D "output y = x"},
    {"", F "output y = x + 0", NULL}, /* -0 + +0 is +0 */
    {"", F "output y = 0 + x", NULL},
    {"", D "output y = x + f64(0)", NULL},
    {"add_zero_integer", I "output y = x + 0", I "output y = x"},
    {"add_zero_integer", I "output y = 0 + x", I "output y = x"},
    {"neg_neg", F "output y = neg(neg(x))", Y},
    {"neg_neg", F "output y = neg(neg(neg(neg(x))))", Y},
    {"neg_neg", F "output y = -(-(-x))", F "output y = -x"},
    {"not_not", B "output y = not(not(x))", B "output y = x"},
    {"not_not", I "output y = not(not(x))", I "output y = x"},
    {"abs_abs", F "output y = abs(abs(x))", F "output y = abs(x)"},
    {"abs_neg", F "output y = abs(neg(x))", F "output y = abs(x)"},
    {"", F "output y = neg(abs(x))", NULL},
    {"choice_of_equals", F "output y = maximum(x, x)", Y},
    {"choice_of_equals", F "output y = minimum(x, x)", Y},
    {"choice_of_equals", B "output y = and(x, x)", B "output y = x"},
    {"choice_of_equals", I "output y = or(x, x)", I "output y = x"},
    {"", I "output y = xor(x, x)", NULL},
    {"", F "output y = x - x", NULL},
    {"or_zero", I "output y = or(x, 0)", I "output y = x"},
    {"or_zero", B "output y = or(false, x)", B "output y = x"},
    {"or_zero", I "output y = xor(x, 0)", I "output y = x"},
    {"", I "output y = or(x, 1)", NULL},
    {"and_all_ones", I "output y = and(x, i32(-1))", I "output y = x"},
    {"and_all_ones", B "output y = and(true, x)", B "output y = x"},
    {"", I "output y = and(x, 1)", NULL},
    {"shift_zero", I "output y = shl(x, 0)", I "output y = x"},
    {"shift_zero", I "output y = shr(x, 0)", I "output y = x"},
    {"", I "output y = shl(i32(0), x)", NULL},
    {"select_equals", F "input p: bool[2, 1]\noutput y = select(p, x, x)",
     F "input p: bool[2, 1]\noutput y = x"},
    {"", F "input p: bool[4, 2, 3]\noutput y = select(p, x, x)", NULL},
    {"select_known", F "output y = select(true, x, f32(2))", Y},
    {"select_known", F "output y = where(false, f32(2), x)", Y},
    /* the result is a broadcast of 2, not the scalar itself */
    {"", F "output y = select(true, f32(2), x)", NULL},
    {"cast_to_same", F "output y = cast(x, dtype=f32)", Y},
    {"", F "output y = cast(x, dtype=f64)", NULL},
    {"", F "output y = cast(cast(x, dtype=f16), dtype=f32)", NULL},
    {"reshape_same", F "output y = reshape(x, shape=[2, 3])", Y},
    {"reshape_twice", F "output y = reshape(reshape(x, shape=[6]), shape=[3, 2])",
     F "output y = reshape(x, shape=[3, 2])"},
    {"reshape_twice", F "output y = reshape(reshape(x, shape=[6]), shape=[2, 3])", Y},
    {"", F "output y = reshape(x, shape=[3, 2])", NULL},
    {"transpose_same", F "output y = transpose(x, perm=[0, 1])", Y},
    {"transpose_twice", F "output y = transpose(transpose(x, perm=[1, 0]), perm=[1, 0])", Y},
    {"transpose_twice",
     "input x: f32[2, 3, 4]\n"
     "output y = transpose(transpose(x, perm=[1, 2, 0]), perm=[1, 0, 2])",
     "input x: f32[2, 3, 4]\noutput y = transpose(x, perm=[2, 1, 0])"},
    {"", "input x: f32[2, 2]\noutput y = transpose(x, perm=[1, 0])",
     NULL}, /* y has the shape of x, but other elements */
    {"broadcast_same", F "output y = broadcast(x, shape=[2, 3])", Y},
    {"broadcast_twice",
     "input x: f32[1, 3]\noutput y = broadcast(broadcast(x, shape=[2, 3]), shape=[4, 2, 3])",
     "input x: f32[1, 3]\noutput y = broadcast(x, shape=[4, 2, 3])"},
    {"slice_all", F "output y = slice(x, start=[0, 0], stop=[2, 3])", Y},
    {"slice_all", F "output y = slice(x, start=[0, 0], stop=[2, 3], step=[1, 1])", Y},
    {"", F "output y = slice(x, start=[0, 1], stop=[2, 3])", NULL},
    {"", F "output y = slice(x, start=[0, 0], stop=[2, 3], step=[1, 2])", NULL},
    {"pad_zero", F "output y = pad(x, 1, low=[0, 0], high=[0, 0])", Y},
    {"", F "output y = pad(x, 1, low=[0, 0], high=[0, 1])", NULL},
    {"concat_one", F "output y = concat(x, axis=0)", Y},
    {"", F "output y = concat(x, x, axis=0)", NULL},
    /* a sum is +0 + x, which turns -0 into +0 */
    {"", F "output y = sum(x, axes=[0], keep=true)", NULL},
    /* One identity makes the next one apply. */
    {"", F "output y = (x * 1) * 2", F "output y = x * 2"},
    {"", F "output y = neg(neg(x * 1) / 1)", Y},
    {"", F "output y = abs(neg(abs(neg(x))))", F "output y = abs(x)"},
};
enum { N_EXAMPLES = sizeof examples / sizeof *examples };

static const vt_pass_options options = {0};

static vt_pass_options options_with_allocator(void) {
  vt_pass_options o = options;
  o.alloc = vt_alloc_default();
  return o;
}

static void test_examples_of_identities(void) {
  const vt_pass_options o = options_with_allocator();
  for (int i = 0; i < N_EXAMPLES; i++)
    expect_pass_result(VT_PASS_canonical, VT_PASS_dead, &o, examples[i].body,
                       examples[i].want != NULL ? examples[i].want : examples[i].body);
}

/* Every identity has an example and states its reason. */
static void test_every_identity_has_example(void) {
  for (uint32_t k = 0; k < vt_identity_total(); k++) {
    int found = 0;
    for (int i = 0; i < N_EXAMPLES; i++)
      found |= strcmp(examples[i].identity, vt_identity_at(k)->name) == 0;
    CHECK(found);
    if (!found) fprintf(stderr, "  no example of '%s'\n", vt_identity_at(k)->name);
    CHECK(strlen(vt_identity_at(k)->why) > 10);
  }
  CHECK(vt_identity_at(vt_identity_total()) == NULL);
}

/* Tries all identities on the node that the last statement of an example writes. The first that
 * applies must be the example's, and none may apply if the example's graph stays. */
static void test_first_identity_that_applies(void) {
  for (int i = 0; i < N_EXAMPLES; i++) {
    const example *x = &examples[i];
    /* an example of several identities in turn names none */
    if (x->identity[0] == 0 && x->want != NULL) continue;
    vt_graph *g = parse_graph(x->body);
    vt_graph_builder gb = {.g = g};
    const vt_node *n = &g->nodes[g->n_nodes - 1];
    const vt_pending_node s = {
        &gb, n->op, n->n_in, &g->operands[n->first_in], n->attrs, g->values[n->first_out].type};
    const char *first = "";
    for (uint32_t k = 0; first[0] == 0 && k < vt_identity_total(); k++) {
      /* a failed builder, so that an identity cannot add a node to g, which is finished */
      gb.status = VT_LIMIT;
      const int applies = vt_identity_at(k)->apply(&s) != VT_NO_VALUE;
      if (applies) first = vt_identity_at(k)->name;
    }
    const int twice = strstr(x->identity, "twice") != NULL || strcmp(x->identity, "abs_neg") == 0;
    CHECK(twice || strcmp(first, x->identity) == 0);
    if (!twice && strcmp(first, x->identity) != 0)
      fprintf(stderr, "  %s: '%s' and not '%s'\n", x->body, first, x->identity);
    vt_graph_free(g);
  }
}

/* Identities also apply in bodies. A result of a body that becomes an argument is copied. */
static void test_identities_in_bodies(void) {
  const vt_pass_options o = options_with_allocator();
  const char *head = "input x: f32[3]\n";
  char body[400], want[400];
  snprintf(body, sizeof body,
           "%sy = loop(x, count=4, carried=1) (i, h) {\n  t = neg(neg(h)) * 1\n"
           "  give t + x\n}\noutput y",
           head);
  snprintf(want, sizeof want,
           "%sy = loop(x, count=4, carried=1) (i, h) {\n  give h + x\n}\noutput y", head);
  expect_pass_result(VT_PASS_canonical, VT_PASS_dead, &o, body, want);
  snprintf(body, sizeof body,
           "%sy = loop(x, count=4, carried=1) (i, h) {\n  give h * 1\n}\noutput y", head);
  snprintf(want, sizeof want,
           "%sy = loop(x, count=4, carried=1) (i, h) {\n  give reshape(h, shape=[3])\n}\noutput y",
           head);
  expect_pass_result(VT_PASS_canonical, VT_PASS_dead, &o, body, want);
}

int main(void) {
  test_examples_of_identities();
  test_every_identity_has_example();
  test_first_identity_that_applies();
  test_identities_in_bodies();
  check_pass_returns_nomem(
      VT_PASS_canonical, options_with_allocator(),
      F "output y = transpose(transpose(x * 1, perm=[1, 0]), perm=[1, 0]) + abs(-x)");
  TEST_DONE();
}
