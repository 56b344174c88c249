/* SPDX-License-Identifier: Apache-2.0
 * truth_test.c - checks that backends are called only through the gateway. Every function of every
 * backend checks that the gateway made the call, during inference, folding, initialisers,
 * gradients, plans, listings, caches and progress. The gateway counts each call, and a call that
 * bypasses it is noticed. */
#include "suite_test.h"
#include "volta/volta_tools.h"
#include "wrapped_test.h"

static const char *const backends[] = {"reference:0", "reference:1", "island:0", "island:1",
                                       "fake"};
enum { BACKENDS = sizeof backends / sizeof *backends };

static vt_model *model;

/* ---- what the gateway counted since the mark ---- */

static vt_gate_counts mark;

static vt_gate_counts take_counts_since_mark(void) {
  const vt_gate_counts now = vt_gate_get_counts();
  const vt_gate_counts n = {.devices = now.devices - mark.devices,
                            .programs = now.programs - mark.programs,
                            .runs = now.runs - mark.runs,
                            .copies = now.copies - mark.copies,
                            .checks = now.checks - mark.checks};
  mark = now;
  return n;
}

static uint32_t calls_of_function(int call) {
  uint32_t n = 0;
  for (int row = 0; row < WRAPPED_ROWS; row++) n += wrapped.calls[row][call];
  return n;
}

static void begin_counting(void) {
  wrapped_reset();
  (void)take_counts_since_mark();
}

/* Checks that all calls came from the gateway in the right floating-point mode, and that the
 * gateway and the backends counted the same calls. Returns the gateway's counts. */
static vt_gate_counts end_counting_and_check(void) {
  const vt_gate_counts n = take_counts_since_mark();
  CHECK(wrapped.outside == 0 && wrapped.bad_modes == 0 && wrapped.live == 0);
  CHECK(n.devices == calls_of_function(WRAPPED_OPEN) &&
        n.devices == calls_of_function(WRAPPED_CLOSE));
  CHECK(n.programs == calls_of_function(WRAPPED_BUILD) &&
        n.programs == calls_of_function(WRAPPED_FREE));
  CHECK(n.runs == calls_of_function(WRAPPED_RUN) && n.runs == calls_of_function(WRAPPED_WAIT));
  CHECK(n.copies == calls_of_function(WRAPPED_COPY) &&
        (n.checks > 0) == (calls_of_function(WRAPPED_CHECK) > 0));
  CHECK(!vt_gate_is_inside_call());
  return n;
}

/* ---- programs ---- */

static void count_report(void *user, const char *what, uint64_t done, uint64_t total) {
  (void)what, (void)done, (void)total;
  ++*(uint32_t *)user;
}

static void make_and_run_program(const vt_options *o, int runs, uint8_t digest[32]) {
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(vt_program_new(model, o, &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "%s\n", d.text);
  if (p == NULL) exit(1);
  CHECK(vt_program_init_params(p, 5, NULL) == VT_OK);
  CHECK(vt_program_random_inputs(p, 6, NULL) == VT_OK);
  for (int i = 0; i < runs; i++) CHECK(vt_program_run(p, NULL) == VT_OK);
  CHECK(vt_program_digest(p, digest, NULL) == VT_OK);
  vt_program_free(p);
}

/* Without constant folding, the counted runs are those of the model and of its initialisers. With
 * folding, the reference has one run more, which computes the constants. */
static void test_each_run_is_counted(void) {
  uint8_t first[32], digest[32];
  for (int i = 0; i < BACKENDS; i++) {
    uint32_t reports = 0;
    vt_options o = {.size = sizeof o,
                    .backend = backends[i],
                    .passes = "bind,lower",
                    .progress = count_report,
                    .progress_user = &reports};
    /* The first program of a backend runs its probes, which must not be counted below. */
    make_and_run_program(&o, 1, i == 0 ? first : digest);
    begin_counting();
    make_and_run_program(&o, 3, digest);
    const vt_gate_counts plain = end_counting_and_check();
    CHECK(memcmp(digest, first, 32) == 0 && reports > 0);
    const uint32_t inits = wrapped.calls[WRAPPED_REFERENCE][WRAPPED_OPEN] - (i < 2);
    CHECK(plain.runs == 3 + 1 + inits && plain.programs == 1 + 1 + inits);
    o.passes = NULL;
    begin_counting();
    make_and_run_program(&o, 3, digest);
    const vt_gate_counts folded = end_counting_and_check();
    CHECK(memcmp(digest, first, 32) == 0);
    const uint32_t constants = wrapped.calls[WRAPPED_REFERENCE][WRAPPED_OPEN] - (i < 2) - inits;
    CHECK(constants == 1 && folded.runs == plain.runs + 1 && folded.devices == plain.devices + 1);
  }
}

/* ---- gradients of the conformance suite ---- */

static void test_gradient_runs_are_counted(void) {
  make_test_folder();
  write_small_suite();
  vt_suite *s = read_small_suite(1);
  uint32_t gradients = 0;
  for (int b = 0; b < BACKENDS; b++)
    for (uint32_t i = 0; i < s->n_cases; i++) {
      const vt_options how = {.size = sizeof how, .backend = backends[b]};
      vt_case_result r;
      begin_counting();
      vt_case_run(s, i, &how, &r);
      const vt_gate_counts n = end_counting_and_check();
      CHECK(r.outcome == VT_CASE_PASSED && n.runs >= 1);
      gradients += s->cases[i].gradient != 0;
    }
  CHECK(gradients > 0);
  vt_suite_free(s);
  remove_test_folder();
}

/* ---- queries that run nothing ---- */

static void test_queries_run_nothing(void) {
  for (int i = 0; i < BACKENDS; i++) {
    const vt_options o = {.size = sizeof o, .backend = backends[i], .passes = "bind,lower"};
    vt_planned *p = NULL;
    int lists = -1;
    begin_counting();
    CHECK(vt_planned_new(model, &o, &p, NULL) == VT_OK);
    vt_planned_free(p);
    vt_gate_counts n = end_counting_and_check();
    CHECK(n.devices == 1 && n.checks >= 1 && n.runs == 0 && n.programs == 0);
    begin_counting();
    CHECK(vt_op_supported(backends[i], VT_OP_add, &lists, NULL) == VT_OK && lists == 1);
    n = end_counting_and_check();
    CHECK(n.devices == 1 && n.checks == 0 && calls_of_function(WRAPPED_LISTED) == 1);
  }
  begin_counting();
  CHECK(vt_backend_count() == 6);
  for (uint32_t i = 0; i < 6; i++) {
    vt_backend_row row = {0};
    CHECK(vt_backend_row_at(i, &row, NULL) == VT_OK);
  }
  (void)end_counting_and_check();
  CHECK(calls_of_function(WRAPPED_COUNT) > 0 && calls_of_function(WRAPPED_QUERY) > 0);
}

/* A cached plan is checked by the device and run like any other. */
static void test_cached_plan_runs_are_counted(void) {
  uint8_t first[32], digest[32];
  vt_options o = {.size = sizeof o, .backend = "fake", .passes = "bind,lower"};
  CHECK(vt_cache_new(NULL, &o.cache, NULL) == VT_OK);
  make_and_run_program(&o, 1, first);
  begin_counting();
  make_and_run_program(&o, 2, digest);
  const vt_gate_counts n = end_counting_and_check();
  vt_cache_counts kept = {.size = sizeof kept};
  vt_cache_info(o.cache, &kept);
  CHECK(kept.hits_memory == 1 && memcmp(first, digest, 32) == 0);
  CHECK(n.checks >= 2 && n.runs >= 3 && wrapped.ran[WRAPPED_FAKE][VT_OP_matmul] == 2);
  vt_cache_free(o.cache);
}

/* ---- after a failure the thread is not inside the gateway ---- */

static void test_failing_calls_leave_gateway(void) {
  for (int call = WRAPPED_COUNT; call < WRAPPED_CALLS; call++) {
    const vt_options o = {.size = sizeof o, .backend = "fake", .passes = "bind,lower"};
    vt_program *p = NULL;
    begin_counting();
    wrapped.fails = call;
    wrapped.status = VT_BACKEND;
    vt_status s = vt_program_new(model, &o, &p, NULL);
    if (s == VT_OK) s = vt_program_init_params(p, 5, NULL);
    if (s == VT_OK) s = vt_program_random_inputs(p, 5, NULL);
    if (s == VT_OK) s = vt_program_run(p, NULL);
    vt_program_free(p);
    const int cannot = call == WRAPPED_CLOSE || call == WRAPPED_FREE || call == WRAPPED_DROP ||
                       call == WRAPPED_LISTED;
    CHECK((s == VT_OK) == cannot);
    CHECK(wrapped.outside == 0 && wrapped.bad_modes == 0 && wrapped.live == 0);
    CHECK(!vt_gate_is_inside_call());
  }
}

/* ---- calls that bypass the gateway are noticed ---- */

static void *plain_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  (void)user, (void)old_size;
  if (new_size > 0) return realloc(p, (size_t)new_size);
  free(p);
  return NULL;
}

static void test_bypass_is_noticed(void) {
  const vt_bk_host host = {
      .size = sizeof host, .abi_major = VT_BK_ABI_MAJOR, .resize = plain_resize};
  vt_bk_device *dev = NULL;
  uint32_t devices = 0;
  begin_counting();
  const vt_bk_api *api = vt_registry_row_at(WRAPPED_FAKE)->query(&host);
  CHECK(wrapped.outside == 1);
  CHECK(api->device_count(&host, &devices) == VT_OK && wrapped.outside == 2);
  CHECK(api->device_open(&host, 0, &dev) == VT_OK && wrapped.outside == 3);
  CHECK(api->op_listed(dev, VT_OP_add) == 1 && wrapped.outside == 4);
  api->device_close(dev);
  CHECK(wrapped.outside == 5);
  const vt_gate_counts n = take_counts_since_mark(); /* the gateway did not count these calls */
  CHECK(n.devices == 0 && n.programs == 0 && n.runs == 0 && n.copies == 0 && n.checks == 0);
}

int main(void) {
  static const char text[] =
      "volta 1\nmodel m {\n input x: f32[4, 8]\n param w: f32[8, 8] = normal(std=0.3)\n"
      " h = matmul(x, w) + exp(f32(1.5))\n output y = relu(h)\n}\n";
  unsetenv("VOLTA_BACKEND");
  unsetenv("VOLTA_THREADS");
  hostile_write_words(hostile_worst_words()); /* the caller's mode must not matter */
  wrapped_reset();
  CHECK(vt_model_parse(text, sizeof text - 1, NULL, &model, NULL) == VT_OK);
  test_each_run_is_counted();
  test_gradient_runs_are_counted();
  test_queries_run_nothing();
  test_cached_plan_runs_are_counted();
  test_failing_calls_leave_gateway();
  test_bypass_is_noticed();
  vt_model_free(model);
  CHECK(hostile_words_equal(hostile_read_words(), hostile_worst_words()));
  TEST_DONE();
}
