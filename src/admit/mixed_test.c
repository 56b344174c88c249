/* SPDX-License-Identifier: Apache-2.0
 * mixed_test.c - an output of a forward pass is fed to its backward pass. On one backend that is
 * always allowed; between backends the policy must allow it, and the program is marked as mixed.
 * The bits are the same in every case. */
#include "suite_test.h"

static const char cases[] =
    "case softmax\n"
    "mix ordinary\n"
    "  input x: f32[3, 5]\n"
    "  output y = softmax(x)\n"
    "grad x\n"
    "end\n";

static vt_model *forward, *backward;

static vt_model *parse_or_exit(const char *text, size_t n) {
  vt_model *m = NULL;
  vt_diag d = {0};
  CHECK(vt_model_parse(text, n, NULL, &m, &d) == VT_OK);
  if (m == NULL) fprintf(stderr, "%s\n%s\n", text, d.text);
  if (m == NULL) exit(1);
  return m;
}

static void read_forward_and_backward_models(void) {
  vt_text text;
  write_text_in_folder("a.cts", cases);
  vt_suite *s = read_small_suite(0);
  for (uint32_t i = 0; i < s->n_cases; i++) {
    vt_text_init(&text, vt_alloc_default());
    CHECK(vt_case_model_text(s, i, &text, NULL) == VT_OK);
    vt_model **into = s->cases[i].gradient ? &backward : &forward;
    vt_model_free(*into); /* cases of each mix have the same model: only the last one is needed */
    *into = parse_or_exit(text.s, text.n);
    vt_text_done(&text);
  }
  vt_suite_free(s);
  CHECK(forward != NULL && backward != NULL);
}

static vt_program *make_program_on_backend(const vt_model *m, const char *backend,
                                           uint32_t mixed_path) {
  const vt_policy policy = {.size = sizeof policy, .mixed_path = mixed_path};
  const vt_options o = {.size = sizeof o, .backend = backend, .policy = &policy};
  vt_program *p = NULL;
  CHECK(vt_program_new(m, &o, &p, NULL) == VT_OK);
  if (p == NULL) exit(1);
  return p;
}

/* The result of a forward pass on one backend and a backward pass on another. */
typedef struct outcome {
  vt_status status; /* status and message of vt_program_feed */
  vt_diag d;
  int mixed;          /* 1: the backward program is marked as mixed */
  uint8_t digest[32]; /* digest of the backward run, if it ran */
} outcome;

static outcome feed_forward_output_to_backward(const char *first, const char *second,
                                               uint32_t mixed_path) {
  vt_program *f = make_program_on_backend(forward, first, VT_MIXED_PATH_REFUSED);
  vt_program *b = make_program_on_backend(backward, second, mixed_path);
  outcome o = {0};
  CHECK(vt_program_random_inputs(f, 9, NULL) == VT_OK && vt_program_run(f, NULL) == VT_OK);
  o.status = vt_program_feed(b, "dy.y", f, 0, &o.d);
  o.mixed = vt_program_mixed(b);
  CHECK(!vt_program_mixed(f));
  if (o.status != VT_OK) { /* the feed failed: the input has no value, so a run must fail */
    vt_diag d = {0};
    CHECK(vt_program_run(b, &d) == VT_NAME);
  } else {
    CHECK(vt_program_random_inputs(b, 9, NULL) == VT_OK && vt_program_run(b, NULL) == VT_OK);
    CHECK(vt_program_digest(b, o.digest, NULL) == VT_OK && vt_program_mixed(b) == o.mixed);
  }
  vt_program_free(f);
  vt_program_free(b);
  return o;
}

static void test_policy_of_mixed_pairs(void) {
  static const char *const names[] = {"reference:0", "reference:1", "island:0", "island:1"};
  const outcome right =
      feed_forward_output_to_backward("reference:0", "reference:0", VT_MIXED_PATH_REFUSED);
  CHECK(right.status == VT_OK && !right.mixed);
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++) {
      /* Two devices of one backend are not a mixed path. */
      const int same = i / 2 == k / 2;
      const outcome strict =
          feed_forward_output_to_backward(names[i], names[k], VT_MIXED_PATH_REFUSED);
      const outcome allowed =
          feed_forward_output_to_backward(names[i], names[k], VT_MIXED_PATH_ALLOWED);
      char words[160];
      CHECK(strict.status == (same ? VT_OK : VT_UNSUPPORTED) && !strict.mixed);
      snprintf(words, sizeof words,
               "'dy.y' on %s would take 'y' from %s: the policy does not allow a "
               "mixed path",
               names[k], names[i]);
      CHECK(same || strcmp(strict.d.text, words) == 0);
      CHECK(allowed.status == VT_OK && allowed.mixed == !same);
      CHECK(memcmp(allowed.digest, right.digest, 32) == 0);
      CHECK(!same || memcmp(strict.digest, right.digest, 32) == 0);
    }
}

/* Invalid calls of vt_program_feed fail, and a failed call does not mark the program as mixed. */
static void test_invalid_feeds_fail(void) {
  vt_program *f = make_program_on_backend(forward, "reference", VT_MIXED_PATH_REFUSED);
  vt_program *b = make_program_on_backend(backward, "island", VT_MIXED_PATH_ALLOWED);
  vt_diag d = {0};
  /* The feed is refused, because f has not run. */
  CHECK(vt_program_feed(b, "dy.y", f, 0, &d) == VT_NAME && d.text[0] != 0);
  CHECK(vt_program_random_inputs(f, 9, NULL) == VT_OK && vt_program_run(f, NULL) == VT_OK);
  CHECK(vt_program_feed(b, "dy.y", f, 1, NULL) == VT_NAME);
  CHECK(vt_program_feed(b, "nosuch", f, 0, NULL) == VT_NAME);
  CHECK(vt_program_feed(f, "x", b, 0, NULL) == VT_NAME);
  CHECK(!vt_program_mixed(b) && !vt_program_mixed(f));
  /* A program may be fed its own output. */
  CHECK(vt_program_feed(f, "x", f, 0, NULL) == VT_OK && !vt_program_mixed(f));
  CHECK(vt_program_feed(b, "dy.y", f, 0, NULL) == VT_OK && vt_program_mixed(b));
  CHECK(vt_program_random_inputs(b, 1, NULL) == VT_OK && vt_program_run(b, NULL) == VT_OK);
  const char *name;
  vt_tensor t;
  CHECK(vt_program_output(f, 0, &name, &t, NULL) == VT_OK);
  /* Setting the input later does not clear the mark of a mixed program. */
  CHECK(vt_program_set_input(b, "dy.y", &t, NULL) == VT_OK && vt_program_mixed(b));
  vt_program_free(f);
  vt_program_free(b);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  unsetenv("VOLTA_THREADS");
  make_test_folder();
  read_forward_and_backward_models();
  test_policy_of_mixed_pairs();
  test_invalid_feeds_fail();
  vt_model_free(forward);
  vt_model_free(backward);
  remove_test_folder();
  TEST_DONE();
}
