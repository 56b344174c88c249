/* SPDX-License-Identifier: Apache-2.0
 * policy_test.c - policies: the default is strict, and unknown values are refused. With a fallback
 * the whole plan runs on the CPU and gives the same bits, and the program says why; this happens
 * only if the device is the cause of the failure. An inject_ function makes the device `fake`
 * misbehave in one way. */
#include "volta/volta_tools.h"
#include "wrapped_test.h"

/* The model of all tests: it has a symbolic dim, constants, and the op neg, which is in no
 * probe. */
static vt_model *model;
static uint8_t expected[32];

static const vt_policy falls_back = {.size = sizeof falls_back, .fallback = VT_FALLBACK_CPU};
static const vt_binding four = {"B", 4};

static vt_options options_of(const char *backend, const vt_policy *policy) {
  return (vt_options){
      .size = sizeof(vt_options), .n_bind = 1, .bind = &four, .backend = backend, .policy = policy};
}

static vt_status run_and_digest(vt_program *p, uint8_t digest[32], vt_diag *d) {
  VT_TRY(vt_program_init_params(p, 3, d));
  VT_TRY(vt_program_random_inputs(p, 4, d));
  VT_TRY(vt_program_run(p, d));
  return vt_program_digest(p, digest, d);
}

static vt_program *open_program(const vt_options *o) {
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(vt_program_new(model, o, &p, &d) == VT_OK && d.code == VT_OK);
  if (p == NULL) fprintf(stderr, "  %s\n", d.text);
  if (p == NULL) exit(1);
  return p;
}

/* ---- reading the policy ---- */

static vt_policy policy_of(const vt_program *p) {
  vt_policy out = {.size = sizeof out};
  vt_program_policy(p, &out);
  return out;
}

static void test_default_is_strict(void) {
  const vt_policy zero = {.size = sizeof zero}, unsized = {.fallback = 7}, early = {.size = 8};
  const vt_policy *const all[] = {NULL, &zero, &unsized, &early};
  for (int i = 0; i < 4; i++) { /* fields of a policy beyond its size are not read */
    const vt_options o = options_of("reference", all[i]);
    vt_program *p = open_program(&o);
    const vt_policy in_force = policy_of(p);
    CHECK(memcmp(&in_force, &zero, sizeof zero) == 0 && vt_program_fallback(p) == NULL);
    CHECK(!vt_program_mixed(p) && !vt_program_unadmitted(p));
    vt_program_free(p);
  }
}

static void test_given_policy_is_in_force(void) {
  const vt_policy given = {.size = sizeof given,
                           .fallback = VT_FALLBACK_CPU,
                           .mixed_path = VT_MIXED_PATH_ALLOWED,
                           .admission = VT_ADMISSION_WAIVED};
  const vt_options o = options_of("reference", &given);
  vt_program *p = open_program(&o);
  const vt_policy in_force = policy_of(p);
  CHECK(memcmp(&in_force, &given, sizeof given) == 0);
  /* Admission was waived, but a built-in backend does not need that. */
  CHECK(!vt_program_unadmitted(p));
  vt_policy part;
  memset(&part, 0x5a, sizeof part);
  part.size = offsetof(vt_policy, mixed_path);
  vt_program_policy(p, &part);
  CHECK(part.fallback == VT_FALLBACK_CPU && part.mixed_path == 0x5a5a5a5a);
  vt_program_free(p);
}

/* Checks that every function that takes options refuses these, before it opens a device. */
static void expect_options_refused(const vt_options *o, vt_status want, const char *words) {
  vt_program *p = NULL;
  vt_planned *q = NULL;
  int lists = 7;
  for (int call = 0; call < 3; call++) {
    vt_diag d = {0};
    const vt_status s = call == 0   ? vt_program_new(model, o, &p, &d)
                        : call == 1 ? vt_planned_new(model, o, &q, &d)
                                    : vt_op_supported_by(o, VT_OP_add, &lists, &d);
    CHECK(s == want && d.code == want && strstr(d.text, words) != NULL);
    if (strstr(d.text, words) == NULL) fprintf(stderr, "  %d: %s\n", call, d.text);
  }
  CHECK(p == NULL && q == NULL && lists == 7);
  CHECK(wrapped.calls[WRAPPED_REFERENCE][WRAPPED_OPEN] == 0 && wrapped.live == 0);
}

static void test_invalid_options(void) {
  static const struct {
    vt_policy policy;
    vt_status want;
    const char *words;
  } rows[] = {
      {{.determinism = 1}, VT_UNSUPPORTED, "determinism must be strict (0), not 1"},
      {{.determinism = UINT32_MAX}, VT_UNSUPPORTED, "determinism must be strict"},
      {{.precision = 1}, VT_UNSUPPORTED, "precision must be locked (0), not 1"},
      {{.precision = 2}, VT_UNSUPPORTED, "precision must be locked"},
      {{.fallback = 2}, VT_USAGE, "must be 0 or 1"},
      {{.mixed_path = 2}, VT_USAGE, "must be 0 or 1"},
      {{.admission = 2}, VT_USAGE, "must be 0 or 1"},
      /* an invalid policy is no reason for a fallback */
      {{.determinism = 1, .fallback = 1}, VT_UNSUPPORTED, "determinism must be strict"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    vt_policy policy = rows[i].policy;
    policy.size = sizeof policy;
    const vt_options o = options_of("reference", &policy);
    wrapped_reset();
    expect_options_refused(&o, rows[i].want, rows[i].words);
  }
  vt_options o = options_of("reference", NULL);
  wrapped_reset();
  o.threads = 4097;
  expect_options_refused(&o, VT_USAGE, "1 to 4096 threads, not 4097");
  o.threads = 0;
  o.isa = "avx512_and_then_some";
  expect_options_refused(&o, VT_USAGE, "no instruction set 'avx512_and_then_some'");
}

/* ---- faults of a device, which a fallback hides ---- */

typedef struct fault {
  const char *backend;
  const char *reason; /* a part of the error message */
  vt_status without;  /* the status if there is no fallback */
  /* Makes `wrapped` misbehave; NULL if the name of the backend is the fault. */
  void (*inject)(void);
} fault;

static void inject_no_devices(void) { wrapped.devices = 0; }
static void inject_unsupported_neg(void) { wrapped.refused_op = VT_OP_neg; }
static void inject_no_rounded_math(void) { wrapped.declares = ~VT_BK_ROUNDED_MATH; }
static void inject_not_strict(void) { wrapped.determinism = 0; }
static void inject_training_only(void) { wrapped.serves = VT_BK_TRAINING; }
static void inject_false_capability(void) { wrapped.broken_capability = VT_BK_ROUNDED_MATH; }
static void inject_small_memory(void) { wrapped.memory = 1; }
/* Makes the device's function `call` fail with `status`. */
static void make_function_fail(int call, int32_t status) {
  wrapped.fails = call;
  wrapped.status = status;
}
static void inject_failing_device_open(void) { make_function_fail(WRAPPED_OPEN, VT_BACKEND); }
static void inject_failing_device_count(void) { make_function_fail(WRAPPED_COUNT, VT_BACKEND); }
static void inject_failing_buffers(void) { make_function_fail(WRAPPED_NEW, VT_NOMEM); }
static void inject_failing_run(void) { make_function_fail(WRAPPED_RUN, VT_BACKEND); }

static const fault faults[] = {
    {"fake:9", "'fake' has 2 devices, there is no number 9", VT_BACKEND, NULL},
    {"./nosuch.so", "plug-in './nosuch.so' is refused", VT_BACKEND, NULL},
    {"gpu", "no GPU that a backend of this build can use", VT_BACKEND, inject_no_devices},
    {"gpu", "'fake:0' does not run 'y' = neg", VT_UNSUPPORTED, inject_unsupported_neg},
    {"gpu", "does not declare correctly_rounded_math", VT_UNSUPPORTED, inject_no_rounded_math},
    {"gpu", "does not promise the bits", VT_UNSUPPORTED, inject_not_strict},
    {"gpu", "does not serve inference", VT_UNSUPPORTED, inject_training_only},
    {"gpu", "declares correctly_rounded_math and does not keep it", VT_BACKEND,
     inject_false_capability},
    {"gpu", "the program needs ", VT_NOMEM, inject_small_memory},
    {"fake", "cannot open its device", VT_BACKEND, inject_failing_device_open},
    {"fake", "cannot count its devices", VT_BACKEND, inject_failing_device_count},
    {"fake", "has no ", VT_NOMEM, inject_failing_buffers},
    {"fake", "trying ", VT_BACKEND, inject_failing_run},
};

static void inject_fault(const fault *f) {
  wrapped_reset();
  wrapped_forget_capability_trials();
  if (f->inject != NULL) f->inject();
}

static void expect_fallback(const fault *f) {
  const vt_options o = options_of(f->backend, &falls_back);
  uint8_t digest[32];
  inject_fault(f);
  vt_program *p = open_program(&o);
  const char *why = vt_program_fallback(p);
  CHECK(why != NULL && strstr(why, f->reason) != NULL);
  if (why == NULL || strstr(why, f->reason) == NULL) fprintf(stderr, "  %s\n", why);
  CHECK(strcmp(vt_program_backend(p), "reference:0") == 0);
  CHECK(policy_of(p).fallback == VT_FALLBACK_CPU);
  CHECK(run_and_digest(p, digest, NULL) == VT_OK && memcmp(digest, expected, 32) == 0);
  CHECK(wrapped.ran[WRAPPED_FAKE][VT_OP_neg] == 0); /* nothing of the model ran on the device */
  vt_program_free(p);
  CHECK(wrapped.live == 0 && wrapped.outside == 0);
  vt_planned *q = NULL;
  inject_fault(f);
  CHECK(vt_planned_new(model, &o, &q, NULL) == VT_OK);
  if (q == NULL) exit(1);
  CHECK(vt_planned_fallback(q) != NULL && strcmp(vt_planned_backend(q), "reference:0") == 0);
  vt_planned_free(q);
}

static void expect_failure_without_fallback(const fault *f) {
  const vt_options o = options_of(f->backend, NULL);
  vt_program *p = NULL;
  vt_diag d = {0};
  inject_fault(f);
  CHECK(vt_program_new(model, &o, &p, &d) == f->without && p == NULL);
  CHECK(strstr(d.text, f->reason) != NULL && wrapped.live == 0);
  if (strstr(d.text, f->reason) == NULL) fprintf(stderr, "  %s\n", d.text);
}

static void test_fallback_for_each_fault(void) {
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
    expect_failure_without_fallback(&faults[i]);
    expect_fallback(&faults[i]);
  }
  /* The device has no fault, so there is no fallback. */
  const vt_options o = options_of("gpu", &falls_back);
  uint8_t digest[32];
  wrapped_reset();
  vt_program *p = open_program(&o);
  CHECK(vt_program_fallback(p) == NULL && strcmp(vt_program_backend(p), "fake:0") == 0);
  CHECK(run_and_digest(p, digest, NULL) == VT_OK && memcmp(digest, expected, 32) == 0);
  vt_program_free(p);
}

/* Errors of the caller, which the CPU would report too, cause no fallback. */
static void test_no_fallback_for_caller_error(void) {
  const vt_binding unknown = {"Q", 4};
  vt_options o[6];
  for (int i = 0; i < 6; i++) o[i] = options_of("gpu", &falls_back);
  o[0].schedule = "backwards";
  o[1].passes = "bind,nosuch";
  o[2].n_bind = 0;
  o[3].bind = &unknown;
  o[4].memory_budget = 1;
  o[5].stream = "a,,b";
  for (int i = 0; i < 6; i++) {
    vt_program *p = NULL;
    vt_planned *q = NULL;
    vt_diag with = {0}, without = {0}, planned = {0};
    wrapped_reset();
    const vt_status s = vt_program_new(model, &o[i], &p, &with);
    /* The reference is opened for constant folding. */
    const uint32_t opened = wrapped.calls[WRAPPED_REFERENCE][WRAPPED_OPEN];
    CHECK(s == VT_USAGE || s == VT_BIND || s == VT_BUDGET || s == VT_NAME);
    CHECK(vt_planned_new(model, &o[i], &q, &planned) == s);
    o[i].policy = NULL;
    wrapped_reset();
    CHECK(vt_program_new(model, &o[i], &p, &without) == s && p == NULL && q == NULL);
    /* No fallback opened the reference once more. */
    CHECK(wrapped.calls[WRAPPED_REFERENCE][WRAPPED_OPEN] == opened);
    CHECK(memcmp(&with, &without, sizeof with) == 0 && memcmp(&with, &planned, sizeof with) == 0);
    CHECK(with.code == s && wrapped.live == 0);
  }
}

/* A misspelt backend is an error under any policy. */
static void test_misspelt_backend(void) {
  static const char *const names[] = {"nosuch", "referense", "gpus", "gp", "auto:1", "fake:x", ""};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const vt_options o = options_of(names[i], &falls_back);
    vt_program *p = NULL;
    vt_planned *q = NULL;
    vt_diag d = {0};
    wrapped_reset();
    CHECK(vt_program_new(model, &o, &p, &d) == VT_BACKEND && p == NULL && d.code == VT_BACKEND);
    CHECK(strstr(d.text, "there are: reference, island, fake") != NULL);
    CHECK(vt_planned_new(model, &o, &q, NULL) == VT_BACKEND && q == NULL && wrapped.live == 0);
  }
}

/* A run that fails on the device is not repeated on the CPU. */
static void test_failed_run_does_not_fall_back(void) {
  const vt_options o = options_of("gpu", &falls_back);
  uint8_t digest[32];
  vt_diag d = {0};
  wrapped_reset();
  vt_program *p = open_program(&o);
  CHECK(vt_program_init_params(p, 3, NULL) == VT_OK);
  wrapped.fails = WRAPPED_RUN;
  wrapped.status = VT_BACKEND;
  CHECK(run_and_digest(p, digest, &d) == VT_BACKEND &&
        strstr(d.text, "'fake:0' cannot run") != NULL);
  CHECK(vt_program_fallback(p) == NULL);
  vt_program_free(p);
}

/* If any allocation fails, before the fallback or in it, the status is VT_NOMEM and nothing
 * leaks. */
static void test_out_of_memory_in_fallback(void) {
  long asked = 0;
  for (long left = 0; left <= asked; left += 1 + asked / 150) {
    vt_fault spent = {.left = left};
    const vt_alloc a = vt_fault_alloc(&spent);
    vt_options o = options_of("gpu", &falls_back);
    vt_program *p = NULL;
    vt_diag d = {0};
    o.alloc = &a;
    wrapped_reset();
    wrapped_forget_capability_trials();
    wrapped.broken_capability = VT_BK_ROUNDED_MATH;
    const vt_status s = vt_program_new(model, &o, &p, &d);
    if (left == 0) asked = spent.asked;
    CHECK(s == (left == 0 ? VT_OK : VT_NOMEM) && d.code == s);
    CHECK((s == VT_OK) == (p != NULL));
    vt_program_free(p);
    CHECK(spent.live == 0 && wrapped.live == 0 && wrapped.outside == 0);
  }
  CHECK(asked > 100);
}

/* ---- auto, and the environment ---- */

static void expect_backend(const char *requested, const char *opened, int fell_back,
                           uint32_t policy_fallback) {
  const vt_options o = options_of(requested, NULL);
  uint8_t digest[32];
  vt_program *p = open_program(&o);
  CHECK(strcmp(vt_program_backend(p), opened) == 0 &&
        (vt_program_fallback(p) != NULL) == fell_back);
  CHECK(policy_of(p).fallback == policy_fallback);
  CHECK(run_and_digest(p, digest, NULL) == VT_OK && memcmp(digest, expected, 32) == 0);
  vt_program_free(p);
}

static void test_backend_auto(void) {
  wrapped_reset();
  expect_backend("auto", "fake:0", 0, VT_FALLBACK_CPU);
  wrapped.devices = 0; /* "auto" does not need a GPU, so this is no fallback */
  expect_backend("auto", "reference:0", 0, VT_FALLBACK_CPU);
  wrapped_reset();
  wrapped_forget_capability_trials();
  wrapped.broken_capability = VT_BK_ROUNDED_MATH;
  expect_backend("auto", "reference:0", 1, VT_FALLBACK_CPU);
}

/* If neither an option nor the environment names a backend, it is "auto". */
static void test_default_backend(void) {
  const vt_options *const none = NULL;
  int lists = 0;
  unsetenv("VOLTA_BACKEND");
  wrapped_reset();
  expect_backend(NULL, "fake:0", 0, VT_FALLBACK_CPU);
  wrapped.refused_op = VT_OP_neg;
  expect_backend(NULL, "reference:0", 1, VT_FALLBACK_CPU);
  wrapped.refused_op = 0;
  wrapped.devices = 0;
  expect_backend(NULL, "reference:0", 0, VT_FALLBACK_CPU);
  setenv("VOLTA_BACKEND", "island", 1);
  expect_backend(NULL, "island:0", 0, VT_FALLBACK_NONE);
  expect_backend("auto", "reference:0", 0, VT_FALLBACK_CPU);
  unsetenv("VOLTA_BACKEND");
  /* A device that is opened without a program is chosen in the same way, and if the GPU does not
   * open, it is the CPU. */
  wrapped_reset();
  CHECK(vt_op_supported_by(none, VT_OP_add, &lists, NULL) == VT_OK && lists == 1);
  CHECK(wrapped.calls[WRAPPED_FAKE][WRAPPED_OPEN] == 1);
  make_function_fail(WRAPPED_OPEN, VT_BACKEND);
  CHECK(vt_op_supported_by(none, VT_OP_add, &lists, NULL) == VT_OK && lists == 1);
  CHECK(wrapped.calls[WRAPPED_REFERENCE][WRAPPED_OPEN] == 1 && wrapped.live == 0);
  CHECK(vt_op_supported("gpu", VT_OP_add, &lists, NULL) == VT_BACKEND);
}

/* The CPU is not tried twice, and its own failure is reported, not a fallback to itself. */
static void test_no_fallback_from_cpu_to_itself(void) {
  const vt_options o = {.size = sizeof o, .passes = "bind"}; /* relu stays, which the CPU lacks */
  vt_model *m = model_of_expression("x: f32[4]", "relu(x)");
  vt_program *p = NULL;
  vt_diag d = {0};
  wrapped_reset();
  wrapped.devices = 0;
  CHECK(vt_program_new(m, &o, &p, &d) == VT_UNSUPPORTED && p == NULL);
  vt_model_free(m);
  CHECK(strstr(d.text, "'reference:0' does not run") != NULL && wrapped.live == 0);
  CHECK(wrapped.calls[WRAPPED_REFERENCE][WRAPPED_OPEN] == 1);
}

static void test_environment_variables(void) {
  static const char *const bad[] = {"0", "-1", "4097", "x", "1x", " 1", "1.5", "00001", "99999"};
  const vt_options o = options_of("reference", &falls_back);
  wrapped_reset();
  setenv("VOLTA_BACKEND", "gpu", 1);
  expect_backend(NULL, "fake:0", 0, VT_FALLBACK_NONE);
  setenv("VOLTA_BACKEND", "auto", 1);
  expect_backend(NULL, "fake:0", 0, VT_FALLBACK_CPU);
  setenv("VOLTA_BACKEND", "nosuch", 1);
  /* The option overrides the variable. */
  expect_backend("reference", "reference:0", 0, VT_FALLBACK_NONE);
  setenv("VOLTA_BACKEND", "", 1);
  expect_backend(NULL, "fake:0", 0, VT_FALLBACK_CPU); /* empty is as if it were not set */
  unsetenv("VOLTA_BACKEND");
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    setenv("VOLTA_THREADS", bad[i], 1);
    wrapped_reset();
    expect_options_refused(&o, VT_USAGE, "VOLTA_THREADS is a number from 1 to 4096, not '");
  }
  vt_options threads = options_of("reference", NULL);
  threads.threads = 2; /* the option is set, so the variable is not read */
  vt_program_free(open_program(&threads));
  setenv("VOLTA_THREADS", "4096", 1);
  expect_backend("reference", "reference:0", 0, VT_FALLBACK_NONE);
  unsetenv("VOLTA_THREADS");
}

/* ---- cached plans ---- */

static void target_plan_digest_of(const vt_options *o, uint8_t out[32]) {
  uint8_t core[32];
  vt_program *p = open_program(o);
  vt_program_plan_digest(p, core, out);
  vt_program_free(p);
}

/* A cached plan of one backend is never used for another, whichever was cached first. */
static void test_cached_plan_per_backend(void) {
  uint8_t on_fake[32], on_reference[32], again[32];
  vt_options o = options_of("fake", NULL), reference = options_of("reference", NULL);
  wrapped_reset();
  target_plan_digest_of(&o, on_fake);
  target_plan_digest_of(&reference, on_reference);
  CHECK(memcmp(on_fake, on_reference, 32) != 0);
  o.policy = &falls_back;
  for (int first = 0; first < 2; first++) {
    CHECK(vt_cache_new(NULL, &o.cache, NULL) == VT_OK);
    for (int i = 0; i < 6; i++) {
      const int falls = (i + first) % 2;
      wrapped_reset();
      wrapped_forget_capability_trials();
      wrapped.broken_capability = falls ? VT_BK_ROUNDED_MATH : 0;
      target_plan_digest_of(&o, again);
      CHECK(memcmp(again, falls ? on_reference : on_fake, 32) == 0);
    }
    vt_cache_free(o.cache);
  }
}

int main(void) {
  static const char text[] =
      "volta 1\nmodel m {\n dim B\n input x: f32[B, 8]\n param w: f32[8, 8] = normal(std=0.3)\n"
      " h = matmul(exp(x), w) + exp(f32(1.5))\n y = neg(h)\n output y\n}\n";
  unsetenv("VOLTA_BACKEND");
  unsetenv("VOLTA_THREADS");
  unsetenv("VOLTA_ISA");
  wrapped_reset();
  CHECK(vt_model_parse(text, sizeof text - 1, NULL, &model, NULL) == VT_OK);
  const vt_options o = options_of("reference", NULL);
  vt_program *p = open_program(&o);
  CHECK(run_and_digest(p, expected, NULL) == VT_OK);
  vt_program_free(p);
  test_default_is_strict();
  test_given_policy_is_in_force();
  test_invalid_options();
  test_fallback_for_each_fault();
  test_no_fallback_for_caller_error();
  test_misspelt_backend();
  test_failed_run_does_not_fall_back();
  test_out_of_memory_in_fallback();
  test_backend_auto();
  test_default_backend();
  test_no_fallback_from_cpu_to_itself();
  test_environment_variables();
  test_cached_plan_per_backend();
  vt_model_free(model);
  TEST_DONE();
}
