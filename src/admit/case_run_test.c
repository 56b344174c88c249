/* SPDX-License-Identifier: Apache-2.0
 * case_run_test.c - tests all outcomes of a case (passed, differs, unsupported, failed, unknown),
 * cases in several threads, running out of memory at each allocation, and opening a case. */
#include "suite_test.h"
#include "vt_pool.h"

static vt_case_result run_case_on_backend(const vt_suite *s, uint32_t i, const char *backend) {
  const vt_options how = {.size = sizeof how, .backend = backend};
  vt_case_result r;
  memset(&r, 0x5a, sizeof r);
  vt_case_run(s, i, &how, &r);
  return r;
}

static int has_digest(const vt_case_result *r) {
  static const uint8_t none[32];
  return memcmp(r->digest, none, sizeof none) != 0;
}

/* ---- outcomes ---- */

static void test_cases_pass_on_each_backend(const vt_suite *s) {
  static const char *const backend[] = {"reference:0", "reference:1", "island"};
  for (uint32_t b = 0; b < 3; b++)
    for (uint32_t i = 0; i < s->n_cases; i++) {
      const vt_case_result r = run_case_on_backend(s, i, backend[b]);
      CHECK(r.outcome == VT_CASE_PASSED && r.text[0] == 0 && has_digest(&r));
      CHECK(r.status == (strncmp(s->cases[i].name, "gather", 6) == 0 ? VT_RANGE : VT_OK));
    }
}

static void test_wrong_stored_digest(const vt_suite *s) {
  for (uint32_t i = 0; i < s->n_cases; i++) {
    vt_case *c = &s->cases[i];
    const uint8_t *right = c->expected;
    uint8_t wrong[8];
    char stored[40];
    memcpy(wrong, right, 8);
    wrong[7] ^= 1;
    (void)snprintf(stored, sizeof stored, "%02x, stored is %02x", right[7], right[0]);
    c->expected = wrong;
    const vt_case_result r = run_case_on_backend(s, i, "reference");
    const char *words = strncmp(c->name, "gather", 6) == 0
                            ? "it fails differently than stored: 'y' = gather: index "
                            : stored;
    CHECK(r.outcome == VT_CASE_DIFFERS && strstr(r.text, words) != NULL);
    if (strstr(r.text, words) == NULL) fprintf(stderr, "  %s\n", r.text);
    CHECK(memcmp(r.digest, right, 8) == 0);
    c->expected = NULL;
    CHECK(run_case_on_backend(s, i, "reference").outcome == VT_CASE_UNKNOWN);
    c->expected = right;
  }
}

static void test_unsupported_and_failed_outcomes(const vt_suite *s) {
  const vt_case_result unsupported = run_case_on_backend(s, 0, "null"),
                       nowhere = run_case_on_backend(s, 0, "nowhere");
  CHECK(unsupported.outcome == VT_CASE_UNSUPPORTED && unsupported.status == VT_UNSUPPORTED);
  CHECK(unsupported.text[0] != 0 && !has_digest(&unsupported));
  CHECK(nowhere.outcome == VT_CASE_FAILED && nowhere.status == VT_BACKEND);
  CHECK(strstr(nowhere.text, "nowhere") != NULL && !has_digest(&nowhere));
}

/* Cases whose model has a mistake must fail with the right status and message. */
static void test_cases_with_faulty_models_fail(void) {
  static const struct {
    const char *text, *words;
    vt_status status;
  } row[] = {
      {"case relu\n  output y = tanh(f32(1))\nend\n", "does not use 'relu'", VT_FORMAT},
      {"case relu\n  output y = relu(\nend\n", "the model does not parse: line 4", VT_SYNTAX},
      {"case relu\n  output y = relu(f32)\nend\n", "the model does not parse: line 3", VT_SYNTAX},
      {"case relu\n  dim B\n  input x: f32[B]\n  output y = relu(x)\nend\n",
       "the symbolic type f32[B]", VT_FORMAT},
      {"case relu\n  dim B\n  input x: f32[2, 2*B]\n  output y = relu(x)\nend\n",
       "the symbolic type f32[2, 2*B]", VT_FORMAT},
      {"case gather\n  input x: f32[2]\n  input i: i32[9] in 2..3\n  output y = gather(x, "
       "i)\nend\n",
       "out of range", VT_RANGE},
      {"case relu\n  input x: f32[2]\n  output y = relu(x)\n  output z = relu(x * 2.0)\ngrad "
       "q\nend\n",
       "no gradient: the model has no input 'q'", VT_UNSUPPORTED},
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    write_text_in_folder("a.cts", row[i].text);
    vt_suite *s = read_small_suite(0);
    uint32_t at = 0; /* number of the first gradient case, or 0 if there is none */
    while (at + 1 < s->n_cases && !s->cases[at].gradient) at++;
    if (!s->cases[at].gradient) at = 0;
    const vt_case_result r = run_case_on_backend(s, at, "reference");
    CHECK(r.outcome == VT_CASE_FAILED && r.status == row[i].status && !has_digest(&r));
    CHECK(strstr(r.text, row[i].words) != NULL);
    if (strstr(r.text, row[i].words) == NULL || r.status != row[i].status)
      fprintf(stderr, "  %s: %s: %s\n", row[i].words, vt_status_name(r.status), r.text);
    vt_suite_free(s);
  }
}

/* The passes are "bind,lower" unless the caller gives others. */
static void test_passes_default_to_bind_lower(const vt_suite *s) {
  vt_options how = {.size = sizeof how, .backend = "reference"};
  vt_model *m = NULL;
  vt_case_inputs in = {0};
  vt_program *p = NULL;
  CHECK(vt_case_open(s, 0, NULL, &m, &in, NULL) == VT_OK);
  if (m == NULL) return;
  CHECK(vt_case_run_program(m, &in, &how, &p, NULL) == VT_OK && vt_program_passes(p) == 2);
  CHECK(strcmp(vt_program_pass(p, 0), "bind") == 0 && strcmp(vt_program_pass(p, 1), "lower") == 0);
  vt_program_free(p);
  how.passes = "bind,lower,dead";
  CHECK(vt_case_run_program(m, &in, &how, &p, NULL) == VT_OK && vt_program_passes(p) == 3);
  vt_program_free(p);
  vt_case_inputs_done(&in);
  vt_model_free(m);
}

/* ---- opening a case ---- */

static void test_open_gradient_case(const vt_suite *s) {
  const uint32_t i = vt_suite_find(s, "relu/T=f64/S=3/A=1/gradient.special");
  vt_model *m = NULL;
  vt_case_inputs in = {0};
  vt_text text;
  CHECK(i < s->n_cases && vt_case_open(s, i, NULL, &m, &in, NULL) == VT_OK);
  if (m == NULL) return;
  CHECK(in.n == 2 && strcmp(in.input[0].info.name, "x") == 0);
  CHECK(strcmp(in.input[1].info.name, "dy.y") == 0 && in.input[1].t.dim[0] == 3);
  CHECK(in.input[0].t.dtype == VT_DTYPE_F64 && in.input[0].t.rank == 1);
  vt_text_init(&text, vt_alloc_default());
  CHECK(vt_case_model_text(s, i, &text, NULL) == VT_OK && strcmp(text.s, vt_model_text(m)) == 0);
  CHECK(strstr(text.s, "output dx.x") != NULL);
  vt_text_done(&text);
  vt_case_inputs_done(&in);
  vt_model_free(m);
}

/* ---- several threads ---- */

typedef struct crowd {
  const vt_suite *s;
  vt_case_result result[8 * SMALL_CASES];
} crowd;

static void run_case_job(void *context, uint64_t i) {
  crowd *c = context;
  c->result[i] = run_case_on_backend(c->s, (uint32_t)(i % c->s->n_cases), "reference");
}

static void test_cases_pass_in_threads(const vt_suite *s) {
  static crowd c;
  vt_pool *pool = NULL;
  c.s = s;
  CHECK(vt_pool_new(4, vt_alloc_default(), &pool, NULL) == VT_OK);
  vt_pool_run(pool, 8 * SMALL_CASES, run_case_job, &c);
  for (uint32_t i = 0; i < 8 * SMALL_CASES; i++) CHECK(c.result[i].outcome == VT_CASE_PASSED);
  vt_pool_free(pool);
}

/* ---- out of memory ---- */

static long fail_each_allocation_of_case(const vt_suite *s, uint32_t i) {
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    const vt_alloc a = vt_fault_alloc(&fault);
    const vt_options how = {.size = sizeof how, .backend = "reference", .alloc = &a};
    vt_case_result r;
    vt_case_run(s, i, &how, &r);
    if (left == 0) asked = fault.asked;
    const int right = left == 0 ? r.outcome == VT_CASE_PASSED
                                : r.outcome == VT_CASE_FAILED && r.status == VT_NOMEM;
    CHECK(right && fault.live == 0);
    if (!right) fprintf(stderr, "  request %ld: %s: %s\n", left, vt_status_name(r.status), r.text);
  }
  return asked;
}

int main(void) {
  make_test_folder();
  write_small_suite();
  vt_suite *s = read_small_suite(1);
  CHECK(s->n_cases == SMALL_CASES);
  test_cases_pass_on_each_backend(s);
  test_wrong_stored_digest(s);
  test_unsupported_and_failed_outcomes(s);
  test_passes_default_to_bind_lower(s);
  test_open_gradient_case(s);
  test_cases_pass_in_threads(s);
  CHECK(fail_each_allocation_of_case(s, vt_suite_find(s, "relu/T=f32/S=3/A=1/few")) > 20);
  CHECK(fail_each_allocation_of_case(s, vt_suite_find(s, "relu/T=f32/S=3/A=1/gradient.ordinary")) >
        20);
  vt_suite_free(s);
  remove_file_in_folder("b.cts");
  remove_file_in_folder("cts.digests");
  test_cases_with_faulty_models_fail();
  remove_test_folder();
  TEST_DONE();
}
