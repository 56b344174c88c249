/* SPDX-License-Identifier: Apache-2.0
 * measured_test.c - measuring and progress reports do not change anything. Some conformance cases
 * and the examples run with and without them (watched and plain), on devices with shared and with
 * separate memory. Digests, plans and traffic must be the same, and a second run must not allocate.
 * The cost of a composition must not depend on whether it is kept whole. The long form runs the
 * whole short form of the suite, and every example on every device. */
#include <string.h>
#include "vt_suite.h"
#include "vt_test.h"
#include "volta/volta_tools.h"

static const char *const devices[] = {"reference:0", "reference:1", "island:0", "island:1",
                                      "cpu:0"};
enum { N_DEVICES = sizeof devices / sizeof *devices };

/* ---- observing a run ---- */

typedef struct seen {
  uint8_t digest[32], core[32], target[32];
  vt_run_info info;
} seen;

static uint64_t reports; /* number of progress reports received */

static void count_report(void *user, const char *what, uint64_t done, uint64_t total) {
  (void)user, (void)what;
  CHECK(done <= total);
  reports++;
}

static void store_observation(vt_program *p, const uint8_t digest[32], seen *out) {
  out->info.size = sizeof out->info;
  memcpy(out->digest, digest, sizeof out->digest);
  vt_program_plan_digest(p, out->core, out->target);
  vt_program_info(p, &out->info);
}

static int is_same_observation(const seen *a, const seen *b) {
  const vt_run_info *x = &a->info, *y = &b->info;
  return memcmp(a->digest, b->digest, 32) == 0 && memcmp(a->core, b->core, 32) == 0 &&
         memcmp(a->target, b->target, 32) == 0 && x->steps == y->steps && x->flops == y->flops &&
         x->bytes_read == y->bytes_read && x->bytes_written == y->bytes_written &&
         x->to_device == y->to_device && x->from_device == y->from_device &&
         x->copies_to_device == y->copies_to_device &&
         x->copies_from_device == y->copies_from_device;
}

/* 1 if every step has a time within the run, in order, and the listed copies have together the
 * bytes that the run counted. */
static int has_times_of_all_steps(vt_program *p, const vt_run_info *run) {
  uint64_t last = run->begin_ns, bytes = 0;
  for (uint32_t i = 0; i < vt_program_steps(p); i++) {
    vt_step_info s = {.size = sizeof s};
    if (vt_program_step(p, i, &s, NULL) != VT_OK) return 0;
    if (s.begin_ns < last || s.end_ns < s.begin_ns) return 0;
    last = s.end_ns;
  }
  for (uint32_t i = 0; i < vt_program_copies(p); i++) {
    vt_copy_info c = {.size = sizeof c};
    if (vt_program_copy(p, i, &c, NULL) != VT_OK || c.end_ns < c.begin_ns) return 0;
    bytes += c.bytes;
  }
  return last <= run->begin_ns + run->wall_ns && run->timed == vt_program_steps(p) &&
         bytes == run->to_device + run->from_device;
}

/* 1 if a second run does not allocate, by the library's count and by the test's, and gives the same
 * digest. */
static int second_run_is_equal(vt_program *p, const vt_fault *fault, const uint8_t digest[32]) {
  vt_run_info info = {.size = sizeof info};
  uint8_t again[32];
  const long asked = fault->asked;
  if (vt_program_run(p, NULL) != VT_OK || fault->asked != asked) return 0;
  vt_program_info(p, &info);
  if (info.allocations != 0 || info.runs != 2) return 0;
  return vt_program_digest(p, again, NULL) == VT_OK && memcmp(again, digest, 32) == 0;
}

/* ---- cases ---- */

/* Runs a case, which must pass. Returns 1 and sets *out; returns 0 if the expected result is an
 * index out of range. */
static int run_and_observe_case(const vt_suite *s, uint32_t i, const char *device, int watched,
                                seen *out) {
  vt_fault fault = {0};
  const vt_alloc a = vt_fault_alloc(&fault);
  const vt_options how = {.size = sizeof how,
                          .backend = device,
                          .alloc = &a,
                          .progress = watched ? count_report : NULL,
                          .measure = (uint32_t)watched};
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_case_inputs in = {0};
  vt_case_result r = {0};
  CHECK(vt_case_open(s, i, &a, &m, &in, NULL) == VT_OK);
  vt_case_run_opened(s, i, m, &in, &how, &p, &r);
  const int ok = r.outcome == VT_CASE_PASSED && r.status == VT_OK;
  CHECK(r.outcome == VT_CASE_PASSED);
  if (ok) {
    store_observation(p, r.digest, out);
    CHECK(out->info.allocations == 0 && out->info.runs == 1);
    CHECK(watched ? has_times_of_all_steps(p, &out->info)
                  : out->info.timed == 0 && vt_program_copies(p) == 0);
    CHECK(second_run_is_equal(p, &fault, r.digest));
  }
  vt_program_free(p);
  vt_case_inputs_done(&in);
  vt_model_free(m);
  CHECK(fault.live == 0);
  return ok;
}

static void compare_watched_with_plain_case(const vt_suite *s, uint32_t i) {
  seen plain[N_DEVICES], watched;
  int ran = 0;
  const int failed = vt_test_failed;
  for (uint32_t k = 0; k < N_DEVICES; k++) {
    ran = run_and_observe_case(s, i, devices[k], 0, &plain[k]);
    CHECK(run_and_observe_case(s, i, devices[k], 1, &watched) == ran);
    CHECK(!ran || is_same_observation(&plain[k], &watched));
  }
  /* The cost does not depend on the device: reference:0 decomposes compositions, reference:1 keeps
   * them whole. */
  if (ran) CHECK(plain[0].info.flops == plain[1].info.flops);
  if (ran) CHECK(plain[0].info.flops == plain[2].info.flops);
  if (vt_test_failed != failed) fprintf(stderr, "  %s\n", s->cases[i].name);
}

static void test_watched_cases_equal_plain(const vt_suite *s) {
  uint8_t *chosen = calloc(s->n_cases, 1);
  const uint32_t every = vt_test_is_long() ? 1 : 23;
  uint32_t n = 0, compared = 0;
  if (chosen == NULL) exit(1);
  CHECK(vt_suite_choose_short(s, chosen, NULL) == VT_OK);
  for (uint32_t i = 0; i < s->n_cases; i++)
    if (chosen[i] && n++ % every == 0) {
      compare_watched_with_plain_case(s, i);
      compared++;
    }
  CHECK(compared >= 100 && reports > compared);
  printf("%u cases on %d devices, %llu reports\n", compared, (int)N_DEVICES,
         (unsigned long long)reports);
  free(chosen);
}

/* ---- examples ---- */

static void run_and_observe_example(const vt_suite_example *x, const char *device, int measure,
                                    int progress, seen *out) {
  vt_fault fault = {0};
  const vt_alloc a = vt_fault_alloc(&fault);
  const vt_options o = {.size = sizeof o,
                        .n_bind = x->n_bind,
                        .bind = x->bind,
                        .backend = device,
                        .alloc = &a,
                        .progress = progress ? count_report : NULL,
                        .measure = (uint32_t)measure};
  vt_model *m = NULL;
  vt_program *p = NULL;
  uint8_t digest[32];
  CHECK(vt_model_parse(x->text, strlen(x->text), &a, &m, NULL) == VT_OK);
  CHECK(vt_program_new(m, &o, &p, NULL) == VT_OK);
  CHECK(vt_program_init_params(p, x->seed, NULL) == VT_OK);
  CHECK(vt_program_random_inputs(p, x->inputs_seed, NULL) == VT_OK);
  CHECK(vt_program_run(p, NULL) == VT_OK && vt_program_digest(p, digest, NULL) == VT_OK);
  CHECK(memcmp(digest, x->digest, sizeof digest) == 0);
  store_observation(p, digest, out);
  CHECK(out->info.allocations == 0 && out->info.flops > 0);
  CHECK(!measure || has_times_of_all_steps(p, &out->info));
  /* The next run of a model with states gives other results, unless they have their first values.
   */
  vt_state *state = vt_program_state(p);
  if (state != NULL) CHECK(vt_state_reset(state, 0, NULL) == VT_OK);
  CHECK(second_run_is_equal(p, &fault, digest));
  vt_program_free(p);
  vt_model_free(m);
  CHECK(fault.live == 0);
}

static int is_large_example(const char *name) {
  return strcmp(name, "resnet18.vt") == 0 || strcmp(name, "gpt2_124m.vt") == 0;
}

static void test_watched_examples_equal_plain(const vt_suite *s) {
  for (uint32_t i = 0; i < s->n_examples; i++) {
    const vt_suite_example *x = &s->example[i];
    const int failed = vt_test_failed;
    if (is_large_example(x->name) && !vt_test_is_long()) continue;
    for (uint32_t k = 0; k < N_DEVICES; k++) {
      seen plain, observed;
      run_and_observe_example(x, devices[k], 0, 0, &plain);
      for (int w = is_large_example(x->name) ? 3 : 1; w < 4; w++) {
        run_and_observe_example(x, devices[k], w & 1, w >> 1, &observed);
        CHECK(is_same_observation(&plain, &observed));
      }
    }
    if (vt_test_failed != failed) fprintf(stderr, "  %s\n", x->name);
  }
}

int main(void) {
  vt_suite *s = NULL;
  unsetenv("VOLTA_BACKEND");
  CHECK(vt_suite_built_in(NULL, &s, NULL) == VT_OK);
  if (s == NULL) return 1;
  test_watched_cases_equal_plain(s);
  test_watched_examples_equal_plain(s);
  vt_suite_free(s);
  TEST_DONE();
}
