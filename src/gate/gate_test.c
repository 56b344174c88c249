/* SPDX-License-Identifier: Apache-2.0
 * gate_test.c - runs the gateway with a fake backend that misbehaves on request. Every failure must
 * become the right status with a message that names the backend, nothing may leak, and every call
 * must arrive in the numerics environment. This program has a registry of its own. A session opens
 * the device, plans a sample graph and runs it. */
#include <string.h>
#include "hostile_fpenv.h"
#include "registry.h"
#include "vt_test.h"

/* ---- the fake backend ---- */

enum {
  COUNT,
  OPEN,
  CLOSE,
  CAPS,
  LISTED,
  CHECK_STEP,
  SCRATCH,
  BUILD,
  FREE,
  NEW,
  DROP,
  COPY,
  RUN,
  WAIT,
  N_CALLS
};

static struct fake {
  int failing_call;       /* the call that fails, COUNT .. WAIT; -1: no call */
  uint32_t succeed_first; /* number of calls that succeed before it fails */
  int32_t status;         /* the status that the failing call returns */
  const char *why;        /* the reason that the failing call gives, or NULL */
  int returns_nothing;    /* OPEN or BUILD: this call returns VT_OK without an object */
  uint32_t refuses;       /* the op that step_check refuses */
  int leaves_mode;        /* 1: a run leaves the floating-point mode changed */
  uint64_t scratch;       /* bytes of scratch that each step asks for */
  vt_bk_caps caps;
  vt_bk_error error;       /* the error that `wait` reports */
  uint32_t calls[N_CALLS]; /* number of calls of each function */
  uint32_t bad_modes;      /* number of calls that arrived in the wrong floating-point mode */
  uint32_t outside_calls;  /* number of calls while the test was not in the gateway */
  int inside;              /* 1 while the test is in the gateway */
  long devices, programs, buffers;
  uint64_t copied, taken, built_steps, run_buffers;
  uint64_t bytes_written; /* by the steps of the last plan with states, by their definition */
} fake;

static const vt_bk_host *fake_host;

static void reset_fake(void) {
  fake = (struct fake){.failing_call = -1,
                       .returns_nothing = -1,
                       .caps = {.size = sizeof(vt_bk_caps),
                                .alignment = 64,
                                .about = "does as it is told",
                                .fingerprint = "fake-1",
                                .has = UINT64_MAX,
                                .determinism = VT_BK_DETERMINISM_STRICT,
                                .serves = VT_BK_INFERENCE | VT_BK_TRAINING},
                       .error = {.size = sizeof(vt_bk_error)}};
}

static int32_t count_call_and_maybe_fail(int call) {
  const int fails = fake.failing_call == call && fake.calls[call] >= fake.succeed_first;
  fake.calls[call]++;
  fake.bad_modes += !hostile_words_equal(hostile_read_words(), hostile_numerics_words());
  fake.outside_calls += !fake.inside;
  if (fails && fake.why != NULL) fake_host->diag(fake_host->user, fake.status, fake.why);
  return fails ? fake.status : VT_OK;
}

static int32_t device_count(const vt_bk_host *host, uint32_t *out) {
  fake_host = host;
  *out = 2;
  return count_call_and_maybe_fail(COUNT);
}
static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out) {
  static int device;
  (void)ordinal;
  fake_host = host;
  const int32_t s = count_call_and_maybe_fail(OPEN);
  *out = fake.returns_nothing == OPEN
             ? NULL
             : (vt_bk_device
                    *)(void *)&device; /* also set if the call fails: the gateway must not use it */
  fake.devices += s == VT_OK && fake.returns_nothing != OPEN;
  return s;
}
static void device_close(vt_bk_device *dev) {
  (void)dev;
  (void)count_call_and_maybe_fail(CLOSE);
  fake.devices--;
}
static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  (void)dev;
  memcpy(out, &fake.caps, out->size < fake.caps.size ? out->size : fake.caps.size);
  return count_call_and_maybe_fail(CAPS);
}
static int32_t op_listed(vt_bk_device *dev, uint32_t op) {
  (void)dev;
  (void)count_call_and_maybe_fail(LISTED);
  return op == VT_OP_softmax ? 1 : op == VT_OP_gelu ? 2 : -1; /* only the answer 1 means yes */
}
static const char *op_way(vt_bk_device *dev, uint32_t op) {
  (void)dev;
  if (op == VT_OP_relu) return NULL;
  if (op == VT_OP_gelu) return "with\nlines";
  return op == VT_OP_softmax ? "vector" : "muchtoolongaword";
}
static int32_t step_check(vt_bk_device *dev, const vt_bk_step *step) {
  (void)dev;
  const int32_t s = count_call_and_maybe_fail(CHECK_STEP);
  return step->op == fake.refuses ? VT_UNSUPPORTED : s;
}
static int32_t workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out) {
  (void)dev, (void)step;
  *out = fake.scratch;
  return count_call_and_maybe_fail(SCRATCH);
}
static int32_t program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                             vt_bk_program **out) {
  static int program;
  (void)dev, (void)steps;
  const int32_t s = count_call_and_maybe_fail(BUILD);
  fake.built_steps = n;
  *out = fake.returns_nothing == BUILD ? NULL : (vt_bk_program *)(void *)&program;
  fake.programs += s == VT_OK && fake.returns_nothing != BUILD;
  return s;
}
static void program_free(vt_bk_program *prog) {
  (void)prog;
  (void)count_call_and_maybe_fail(FREE);
  fake.programs--;
}
static int32_t buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out) {
  (void)dev;
  const int32_t s = count_call_and_maybe_fail(NEW);
  *out = s == VT_OK ? (uint64_t)(uintptr_t)calloc(1, (size_t)bytes + 1) : 7;
  fake.buffers += s == VT_OK;
  fake.taken += bytes;
  return s;
}
static void buffer_free(vt_bk_device *dev, uint64_t handle) {
  (void)dev;
  (void)count_call_and_maybe_fail(DROP);
  free((void *)(uintptr_t)handle);
  fake.buffers--;
}
static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  char *at = (char *)(uintptr_t)handle + offset;
  (void)dev;
  const int32_t s = count_call_and_maybe_fail(COPY);
  if (s != VT_OK) return s;
  memcpy(to_device ? at : host, to_device ? host : at, (size_t)bytes);
  fake.copied += bytes;
  return VT_OK;
}
static int32_t run(vt_bk_program *prog, const uint64_t *buffers, uint64_t n) {
  (void)prog, (void)buffers;
  fake.run_buffers = n;
  for (uint64_t i = 0; i < fake.built_steps; i++) fake_host->progress(fake_host->user, i);
  fake_host->progress(fake_host->user, 99); /* no such step: must be ignored */
  return count_call_and_maybe_fail(RUN);
}
static int32_t wait(vt_bk_program *prog, vt_bk_error *out) {
  (void)prog;
  *out = fake.error;
  const int32_t s = count_call_and_maybe_fail(WAIT);
  if (fake.leaves_mode) hostile_write_words(hostile_worst_words());
  return s;
}

static const vt_bk_api *fake_query(const vt_bk_host *host) {
  static const vt_bk_api api = {.size = sizeof api,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "fake",
                                .device_count = device_count,
                                .device_open = device_open,
                                .device_close = device_close,
                                .capabilities = capabilities,
                                .op_listed = op_listed,
                                .op_way = op_way,
                                .step_check = step_check,
                                .workspace = workspace,
                                .program_build = program_build,
                                .program_free = program_free,
                                .buffer_new = buffer_new,
                                .buffer_free = buffer_free,
                                .copy = copy,
                                .run = run,
                                .wait = wait};
  (void)host;
  return &api;
}

/* ---- the registry of this program, in place of the gateway's own ---- */

vt_backend_query_fn vt_island_query, vt_null_query, vt_reference_query;
static vt_proofs proofs[4];
static const vt_registry_row rows[] = {{"fake", fake_query, VT_KIND_GPU, &proofs[0]},
                                       {"null", vt_null_query, VT_KIND_TEST, &proofs[1]},
                                       {"reference", vt_reference_query, VT_KIND_CPU, &proofs[2]},
                                       {"island", vt_island_query, VT_KIND_TEST, &proofs[3]}};

uint32_t vt_registry_backend_count(void) { return sizeof rows / sizeof *rows; }
const vt_registry_row *vt_registry_row_at(uint32_t i) {
  return i < vt_registry_backend_count() ? &rows[i] : NULL;
}

/* ---- a graph: h = matmul(x, w), y = gather(h, index) ---- */

enum { X, W, INDEX, H, Y };

static vt_graph *sample_graph(void) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  const vt_type x = {VT_DTYPE_F32, 2, {4, 6}}, index = {VT_DTYPE_I64, 1, {3}};
  const vt_type w = {VT_DTYPE_F32, 2, {6, 5}};
  const vt_init_info *zeros = vt_init_find("zeros");
  CHECK(vt_graph_begin(&gb, "sample", vt_alloc_default(), NULL) == VT_OK);
  vt_graph_add_port(&gb, &(vt_port){.name = "x", .kind = VT_PORT_INPUT}, &x);
  vt_graph_add_port(&gb,
                    &(vt_port){.name = "w",
                               .kind = VT_PORT_PARAM,
                               .init = zeros->number,
                               .init_attrs = zeros->attrs->defaults},
                    &w);
  vt_graph_add_port(&gb, &(vt_port){.name = "index", .kind = VT_PORT_INPUT}, &index);
  vt_graph_name_value(&gb, vt_build2(&gb.b, VT_OP_matmul, X, W), "h");
  vt_graph_name_value(&gb, vt_build2(&gb.b, VT_OP_gather, H, INDEX), "y");
  vt_graph_add_result(&gb, "y", Y);
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1); /* the tests cannot go on without a graph */
  return g;
}

/* ---- a session: open, plan, run once and close, stopping at the first failure ---- */

typedef struct session {
  vt_status status;
  vt_diag d;
  uint64_t wall_ns;
  float y[15];
  vt_exec_report *report;
  void *user;
  vt_plan_options options;
} session;

static vt_status write_run_and_read(vt_exec *x, session *l) {
  static float in[30];
  VT_TRY(vt_exec_write(x, X, in, &l->d));
  VT_TRY(vt_exec_write(x, W, in, &l->d));
  VT_TRY(vt_exec_write(x, INDEX, in, &l->d));
  if (l->report != NULL) vt_exec_set_progress(x, l->report, l->user);
  VT_TRY(vt_exec_run(x, &l->d));
  l->wall_ns = vt_exec_last_run_ns(x);
  return vt_exec_read(x, Y, l->y, &l->d);
}

static vt_status build_and_run(vt_device *dev, const vt_graph *g, vt_alloc a, session *l) {
  const vt_target target = vt_device_target(dev);
  vt_plan *p = NULL;
  vt_exec *x = NULL;
  vt_status s = vt_plan_build(g, &l->options, &target, a, &p, &l->d);
  if (s == VT_OK) s = vt_exec_new(dev, p, a, &x, &l->d);
  if (s == VT_OK) s = write_run_and_read(x, l);
  vt_exec_free(x);
  vt_plan_free(p);
  return s;
}

static void run_session(session *l) {
  vt_fault fault = {0};
  const vt_alloc a = vt_fault_alloc(&fault);
  vt_graph *g = sample_graph();
  vt_device *dev = NULL;
  memset(&l->d, 0, sizeof l->d);
  fake.inside = 1;
  l->status = vt_device_open("fake", a, &dev, &l->d);
  if (l->status == VT_OK) l->status = build_and_run(dev, g, a, l);
  vt_device_close(dev);
  fake.inside = 0;
  vt_graph_free(g);
  CHECK(fault.live == 0 && fake.devices == 0 && fake.programs == 0 && fake.buffers == 0);
  CHECK(fake.bad_modes == 0 && fake.outside_calls == 0);
  CHECK(l->d.code == l->status && (l->status == VT_OK) == (l->d.text[0] == 0));
}

static void expect_message(const session *l, const char *text) {
  CHECK(strstr(l->d.text, text) != NULL);
  if (strstr(l->d.text, text) == NULL) fprintf(stderr, "  '%s' has no '%s'\n", l->d.text, text);
}

/* The caller has a hostile floating-point mode. The backend must not see it, and the caller must
 * get it back. */
static void test_calls_of_successful_run(void) {
  static const uint32_t want[N_CALLS] = {
      [COUNT] = 1,   [OPEN] = 1,  [CLOSE] = 1, [CAPS] = 2, [CHECK_STEP] = 2,
      [SCRATCH] = 2, [BUILD] = 1, [FREE] = 1,  [NEW] = 7,  [DROP] = 7,
      [COPY] = 4,    [RUN] = 1,   [WAIT] = 1};
  const hostile_words mine = hostile_read_words();
  session l = {0};
  reset_fake();
  hostile_write_words(hostile_worst_words());
  run_session(&l);
  const hostile_words succeed_first = hostile_read_words();
  hostile_write_words(mine);
  CHECK(hostile_words_equal(succeed_first, hostile_worst_words()));
  CHECK(l.status == VT_OK && memcmp(fake.calls, want, sizeof want) == 0);
  CHECK(fake.copied == 96 + 120 + 24 + 60 && fake.built_steps == 2 && fake.run_buffers == 7);
  reset_fake(); /* the counters work: a call that bypasses the gateway arrives in the caller's mode
                 */
  hostile_write_words(hostile_worst_words());
  (void)capabilities(NULL, &(vt_bk_caps){.size = 0});
  hostile_write_words(mine);
  CHECK(fake.bad_modes == 1 && fake.outside_calls == 1);
}

/* ---- failures ---- */

static const struct {
  int call;
  uint32_t succeed_first;
  const char *what;
} failures[] = {
    {COUNT, 0, "count its devices"},
    {OPEN, 0, "open its device"},
    {CAPS, 0, "state its capabilities"},
    {CAPS, 1, "state its capabilities"},
    {SCRATCH, 0, "size its scratch"},
    {SCRATCH, 1, "size its scratch"},
    {BUILD, 0, "build the program"},
    {NEW, 0, "take memory"},
    {NEW, 6, "take memory"},
    {COPY, 0, "copy a tensor"},
    {COPY, 3, "copy a tensor"},
    {RUN, 0, "run"},
    {WAIT, 0, "run"},
};

/* The status that the gateway must return for a status of a backend. Four are passed on, and any
 * other number becomes VT_BACKEND, so that no backend chooses the exit code of the process. */
static vt_status expected_status(int32_t given) {
  const int passes =
      given == VT_UNSUPPORTED || given == VT_BACKEND || given == VT_ABI || given == VT_NOMEM;
  return passes ? (vt_status)given : VT_BACKEND;
}

static void expect_failing_call(size_t point, int32_t given, const char *why) {
  const vt_status want = expected_status(given);
  char odd[40];
  session l = {0};
  reset_fake();
  fake.failing_call = failures[point].call;
  fake.succeed_first = failures[point].succeed_first;
  fake.status = given;
  fake.why = why;
  run_session(&l);
  CHECK(l.status == want);
  expect_message(&l, "'fake:0'");
  /* The message for lack of memory has other words, see test_failing_buffers_are_reported. */
  if (fake.failing_call == NEW && given == VT_NOMEM) return;
  expect_message(&l, failures[point].what);
  expect_message(&l, why != NULL ? why : vt_status_text(want));
  snprintf(odd, sizeof odd, "(it answers %d)", (int)given);
  CHECK((strstr(l.d.text, odd) != NULL) == ((int32_t)want != given));
}

static void test_each_failing_call_is_reported(void) {
  static const int32_t far[] = {999, 9999, -999, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
    for (int32_t given = -5; given <= 25; given++) {
      if (given == VT_OK) continue;
      expect_failing_call(i, given, NULL);
      expect_failing_call(i, given, "the cat sat on it");
    }
    for (size_t k = 0; k < sizeof far / sizeof *far; k++) expect_failing_call(i, far[k], NULL);
  }
}

/* Tries each status as the error that `wait` reports. They are handled as in
 * test_each_failing_call_is_reported, except that VT_RANGE is passed on. */
static void test_status_of_each_run_error(void) {
  for (int32_t given = -5; given <= 25; given++) {
    session l = {0};
    reset_fake();
    fake.error.status = given;
    run_session(&l);
    const vt_status want =
        given == VT_OK || given == VT_RANGE ? (vt_status)given : expected_status(given);
    CHECK(l.status == want);
  }
}

static void test_failing_buffers_are_reported(void) {
  for (uint32_t c = 0; c < VT_CLASS_HOST; c++) {
    session l = {0};
    char text[80];
    reset_fake();
    fake.failing_call = NEW;
    fake.succeed_first = c;
    fake.status = VT_NOMEM;
    run_session(&l);
    CHECK(l.status == VT_NOMEM && fake.calls[NEW] == c + 1 && fake.calls[DROP] == c);
    snprintf(text, sizeof text, "bytes for the %s tensors", vt_class_name(c));
    expect_message(&l, "'fake:0'");
    expect_message(&l, text);
  }
}

/* If a program needs one byte more than is free, the message has the exact numbers, and nothing is
 * allocated or built. */
static void test_too_little_memory_is_refused(void) {
  session l = {0};
  reset_fake();
  run_session(&l);
  CHECK(l.status == VT_OK && fake.taken > 0);
  const uint64_t needed = fake.taken;
  for (int short_of = 0; short_of < 2; short_of++) {
    char text[200];
    reset_fake();
    fake.caps.memory = needed - (uint64_t)short_of;
    run_session(&l);
    CHECK(l.status == (short_of ? VT_NOMEM : VT_OK) && (fake.calls[NEW] == 0) == short_of);
    CHECK((fake.calls[BUILD] == 0) == short_of);
    if (!short_of) continue;
    snprintf(text, sizeof text, "the program needs %llu bytes (host_input 512, parameter 256, ",
             (unsigned long long)needed);
    expect_message(&l, text);
    snprintf(text, sizeof text, "output 256) on 'fake:0', which has %llu left",
             (unsigned long long)needed - 1);
    expect_message(&l, text);
  }
  reset_fake(); /* 0 means that the free memory is unknown */
  fake.caps.memory = 0;
  run_session(&l);
  CHECK(l.status == VT_OK);
  reset_fake(); /* a backend older than the field `determinism` promises nothing */
  fake.caps.size = offsetof(vt_bk_caps, has);
  run_session(&l);
  CHECK(l.status == VT_UNSUPPORTED);
  expect_message(&l, "does not promise the bits of the reference");
}

static void test_refused_step_is_reported(void) {
  session l = {0};
  reset_fake();
  fake.refuses = VT_OP_gather;
  run_session(&l);
  CHECK(l.status == VT_UNSUPPORTED && fake.calls[BUILD] == 0 && fake.calls[NEW] == 0);
  CHECK(strcmp(l.d.text, "backend 'fake:0' does not run 'y' = gather giving f32[3, 5]") == 0);
  reset_fake();
  fake.failing_call = CHECK_STEP; /* any error of step_check means that the step is refused */
  fake.status = VT_NOMEM;
  fake.why = "too wide";
  run_session(&l);
  CHECK(l.status == VT_UNSUPPORTED && fake.calls[CHECK_STEP] == 1);
  CHECK(strcmp(l.d.text, "backend 'fake:0' does not run 'h' = matmul giving f32[4, 5]: too wide") ==
        0);
}

static void test_run_error_messages(void) {
  session l = {0};
  reset_fake();
  fake.error.status = VT_RANGE;
  fake.error.step = 1;
  fake.error.position = 2;
  fake.error.value = -7;
  run_session(&l);
  CHECK(l.status == VT_RANGE && fake.calls[COPY] == 3); /* only the three inputs were copied */
  CHECK(strcmp(l.d.text, "'y' = gather: index -7 at position 2 is out of range") == 0);
  reset_fake();
  fake.error.status = VT_NOMEM;
  run_session(&l);
  CHECK(l.status == VT_NOMEM);
  CHECK(strcmp(l.d.text, "backend 'fake:0' cannot run 'h': out of memory") == 0);
  reset_fake();
  fake.error.status = 9999; /* not a number of vt_status */
  fake.error.step = UINT64_MAX;
  run_session(&l);
  CHECK(l.status == VT_BACKEND);
  expect_message(&l, "backend 'fake:0' cannot run '?': backend unavailable (it answers 9999)");
  reset_fake();
  fake.error.status = VT_RANGE;
  fake.error.step = UINT64_MAX; /* the program has no such step */
  run_session(&l);
  CHECK(l.status == VT_RANGE);
  expect_message(&l, "'?' = ?: index 0 at position 0");
  CHECK(l.d.line == 0);
}

/* A run that leaves the mode changed may have computed in it, so the run fails. */
static void test_changed_mode_fails_the_run(void) {
  const hostile_words mine = hostile_read_words();
  session l = {0};
  reset_fake();
  fake.leaves_mode = 1;
  run_session(&l); /* also checks the mode of every call after the run */
  CHECK(hostile_words_equal(hostile_read_words(), mine));
  CHECK(l.status == VT_BACKEND && fake.calls[COPY] == 3);
  CHECK(strcmp(l.d.text, "backend 'fake:0' leaves another floating-point mode behind") == 0);
  reset_fake(); /* the backend's own error takes precedence */
  fake.leaves_mode = 1;
  fake.failing_call = WAIT;
  fake.status = VT_UNSUPPORTED;
  run_session(&l);
  CHECK(l.status == VT_UNSUPPORTED && hostile_words_equal(hostile_read_words(), mine));
}

static void test_impossible_caps_are_refused(void) {
  static const vt_bk_caps wrong[] = {
      {.size = sizeof *wrong, .alignment = 0, .about = "a", .fingerprint = "f"},
      {.size = sizeof *wrong, .alignment = 3, .about = "a", .fingerprint = "f"},
      {.size = sizeof *wrong, .alignment = 96, .about = "a", .fingerprint = "f"},
      {.size = sizeof *wrong, .alignment = 512, .about = "a", .fingerprint = "f"},
      {.size = sizeof *wrong, .alignment = 0x80000000u, .about = "a", .fingerprint = "f"},
      {.size = sizeof *wrong, .alignment = 64, .fingerprint = "f"},
      {.size = sizeof *wrong, .alignment = 64, .about = "a"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    session l = {0};
    reset_fake();
    fake.caps = wrong[i];
    run_session(&l);
    CHECK(l.status == VT_ABI && fake.calls[CLOSE] == 1);
    CHECK(strstr(l.d.text, "backend 'fake:0' states impossible capabilities: ") == l.d.text);
  }
  for (uint32_t alignment = 1; alignment <= VT_PLAN_ALIGNMENT; alignment *= 2) {
    session l = {0};
    reset_fake();
    fake.caps.alignment = alignment;
    run_session(&l);
    CHECK(l.status == VT_OK);
  }
}

static void test_calls_that_return_no_object(void) {
  for (int call = OPEN; call <= BUILD; call += BUILD - OPEN) {
    session l = {0};
    reset_fake();
    fake.returns_nothing = call;
    run_session(&l);
    CHECK(l.status == VT_ABI && fake.calls[RUN] == 0);
    CHECK(fake.calls[CLOSE] == (call == BUILD) && fake.calls[FREE] == 0);
    expect_message(&l, "'fake:0'");
  }
}

static void test_scratch_limit_is_enforced(void) {
  session l = {0};
  reset_fake();
  fake.scratch = 1000;
  run_session(&l);
  CHECK(l.status == VT_OK);
  reset_fake();
  fake.scratch = UINT64_MAX;
  run_session(&l);
  CHECK(l.status == VT_LIMIT && fake.calls[BUILD] == 0);
}

/* A reason appears in one message only: a later failure without a reason does not repeat it. */
static void test_reasons_do_not_linger(void) {
  vt_graph *g = sample_graph();
  vt_device *dev = NULL;
  vt_plan *p = NULL;
  vt_exec *x = NULL;
  float data[30] = {0};
  vt_diag first = {0}, second = {0}, third = {0}, fourth = {0};
  reset_fake();
  CHECK(vt_device_open("fake:1", vt_alloc_default(), &dev, NULL) == VT_OK);
  const vt_target target = vt_device_target(dev);
  CHECK(vt_plan_build(g, &(vt_plan_options){0}, &target, vt_alloc_default(), &p, NULL) == VT_OK);
  CHECK(vt_exec_new(dev, p, vt_alloc_default(), &x, NULL) == VT_OK);
  fake.failing_call = COPY;
  fake.status = VT_BACKEND;
  fake.why = "the cat sat on it";
  CHECK(vt_exec_write(x, X, data, &first) == VT_BACKEND);
  fake.why = NULL;
  CHECK(vt_exec_write(x, X, data, &second) == VT_BACKEND);
  CHECK(strcmp(first.text, "backend 'fake:1' cannot copy a tensor: the cat sat on it") == 0);
  CHECK(strcmp(second.text, "backend 'fake:1' cannot copy a tensor: backend unavailable") == 0);
  vt_exec_free(x);
  x = NULL;
  fake.failing_call = NEW;
  fake.status = VT_NOMEM;
  fake.why = "the dog ate it";
  CHECK(vt_exec_new(dev, p, vt_alloc_default(), &x, &third) == VT_NOMEM && x == NULL);
  fake.why = NULL;
  CHECK(vt_exec_new(dev, p, vt_alloc_default(), &x, &fourth) == VT_NOMEM && x == NULL);
  CHECK(strstr(third.text, "tensors: the dog ate it") != NULL);
  CHECK(strstr(fourth.text, "bytes for the") != NULL && strstr(fourth.text, "dog") == NULL);
  vt_plan_free(p);
  vt_device_close(dev);
  vt_graph_free(g);
}

/* A plan that fails verification never reaches the backend. */
static void test_broken_plan_is_refused(void) {
  vt_graph *g = sample_graph();
  vt_device *dev = NULL;
  vt_plan *p = NULL;
  vt_exec *x = NULL;
  reset_fake();
  CHECK(vt_device_open("fake", vt_alloc_default(), &dev, NULL) == VT_OK);
  const vt_target target = vt_device_target(dev);
  CHECK(vt_plan_build(g, &(vt_plan_options){0}, &target, vt_alloc_default(), &p, NULL) == VT_OK);
  const uint64_t right = p->buffers[H].offset;
  p->buffers[H].offset = p->class_bytes[VT_CLASS_TEMP];
  CHECK(vt_exec_new(dev, p, vt_alloc_default(), &x, NULL) == VT_INTERNAL && x == NULL);
  p->buffers[H].offset = right;
  uint8_t *const digests[] = {p->core.b, p->target.b};
  for (int i = 0; i < 64; i++) { /* a valid plan with a wrong digest */
    vt_diag d = {0};
    digests[i / 32][i % 32] ^= 1;
    CHECK(vt_exec_new(dev, p, vt_alloc_default(), &x, &d) == VT_INTERNAL && x == NULL);
    CHECK(strstr(d.text, "does not match its digest") != NULL);
    digests[i / 32][i % 32] ^= 1;
  }
  CHECK(fake.calls[CHECK_STEP] == 0 && fake.calls[BUILD] == 0);
  vt_plan_free(p);
  vt_device_close(dev);
  vt_graph_free(g);
}

/* ---- progress ---- */

typedef struct progress_record {
  uint32_t n;
  uint64_t done[4], total;
} progress_record;

static void record_progress(void *user, uint64_t done, uint64_t total) {
  progress_record *h = user;
  if (h->n < 4) h->done[h->n] = done;
  h->n++;
  h->total = total;
  hostile_write_words(hostile_worst_words()); /* this must not change the mode of later calls */
}

static void test_progress_reports(void) {
  const hostile_words mine = hostile_read_words();
  progress_record h = {0};
  session l = {.report = record_progress, .user = &h};
  reset_fake();
  run_session(&l); /* also checks the mode of every call after a report */
  CHECK(hostile_words_equal(hostile_read_words(), mine));
  CHECK(l.status == VT_OK && h.n == 2 && h.done[0] < h.done[1] && h.done[1] == h.total);
}

/* ---- names and the registry ---- */

static void expect_device_of_name(const char *name, vt_status want, const char *name_or_error) {
  vt_device *dev = NULL;
  vt_diag d = {0};
  reset_fake();
  CHECK(vt_device_open(name, vt_alloc_default(), &dev, &d) == want);
  CHECK((dev != NULL) == (want == VT_OK));
  if (dev != NULL) CHECK(strcmp(vt_device_name(dev), name_or_error) == 0);
  if (want != VT_OK) CHECK(strstr(d.text, name_or_error) != NULL);
  if (want != VT_OK && strstr(d.text, name_or_error) == NULL) fprintf(stderr, "  %s\n", d.text);
  vt_device_close(dev);
}

static void test_device_names(void) {
  expect_device_of_name("fake", VT_OK, "fake:0");
  expect_device_of_name("fake:0", VT_OK, "fake:0");
  expect_device_of_name("fake:1", VT_OK, "fake:1");
  expect_device_of_name("null", VT_OK, "null:0");
  expect_device_of_name("reference:1", VT_OK, "reference:1");
  expect_device_of_name("fake:2", VT_BACKEND, "'fake' has 2 devices, there is no number 2");
  expect_device_of_name("null:1", VT_BACKEND, "'null' has 1 device, there is no number 1");
  expect_device_of_name("nobody", VT_BACKEND,
                        "no backend 'nobody'; there are: fake, null, reference, island");
  expect_device_of_name("", VT_BACKEND, "no backend ''");
  expect_device_of_name("fake:", VT_BACKEND, "no backend 'fake:'");
  expect_device_of_name("fake:x", VT_BACKEND, "no backend 'fake:x'");
  expect_device_of_name("fake:1x", VT_BACKEND, "no backend 'fake:1x'");
  expect_device_of_name("fake:-1", VT_BACKEND, "no backend 'fake:-1'");
  expect_device_of_name("fake:00000", VT_BACKEND, "no backend 'fake:00000'");
  expect_device_of_name("fak", VT_BACKEND, "no backend 'fak'");
  expect_device_of_name("FAKE", VT_BACKEND, "no backend 'FAKE'");
}

static void test_registry_rows(void) {
  const char *name = NULL;
  uint32_t devices = 0;
  vt_diag d = {0};
  reset_fake();
  CHECK(vt_registry_backend_at(0, &name, &devices, &d) == VT_OK);
  CHECK(strcmp(name, "fake") == 0 && devices == 2);
  CHECK(vt_registry_backend_at(4, &name, &devices, &d) == VT_BACKEND && d.code == VT_BACKEND);
  /* Both are unchanged, because outputs are written only on success. */
  CHECK(strcmp(name, "fake") == 0 && devices == 2);
  fake.failing_call = COUNT;
  fake.status = VT_BACKEND;
  memset(&d, 0, sizeof d);
  CHECK(vt_registry_backend_at(0, &name, &devices, &d) == VT_BACKEND && d.text[0] != 0);
}

static void test_listed_ops(void) {
  vt_device *dev = NULL;
  reset_fake();
  CHECK(vt_device_open("fake", vt_alloc_default(), &dev, NULL) == VT_OK);
  CHECK(vt_device_lists_op(dev, VT_OP_softmax) == 1);
  CHECK(vt_device_lists_op(dev, VT_OP_gelu) == 0 && vt_device_lists_op(dev, VT_OP_relu) == 0);
  CHECK(strcmp(vt_device_caps(dev)->about, "does as it is told") == 0);
  vt_device_close(dev);
}

/* The name that a backend gives for a kernel variant is used only if it is one short word, because
 * it appears in tables. */
static void test_variant_names(void) {
  static const struct {
    uint32_t op;
    const char *word;
  } words[] = {{VT_OP_softmax, "vector"}, {VT_OP_gelu, ""}, {VT_OP_relu, ""}, {VT_OP_tanh, ""}};
  vt_device *dev = NULL;
  reset_fake();
  CHECK(vt_device_open("fake", vt_alloc_default(), &dev, NULL) == VT_OK);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    char word[VT_DEVICE_VARIANT];
    vt_device_kernel_variant(dev, words[i].op, word);
    CHECK(strcmp(word, words[i].word) == 0);
  }
  vt_device_close(dev);
}

/* ---- plans for the real backends: the same core, different targets ---- */

static void get_plan_digests(const char *device, const vt_graph *g, vt_hash256 *core,
                             vt_hash256 *target) {
  vt_device *dev = NULL;
  vt_plan *p = NULL;
  CHECK(vt_device_open(device, vt_alloc_default(), &dev, NULL) == VT_OK);
  if (dev == NULL) exit(1);
  const vt_target t = vt_device_target(dev);
  CHECK(vt_plan_build(g, &(vt_plan_options){0}, &t, vt_alloc_default(), &p, NULL) == VT_OK);
  *core = p->core;
  *target = p->target;
  vt_plan_free(p);
  vt_device_close(dev);
}

static void test_backends_share_core_digest(void) {
  static const char *const names[] = {"null", "reference:0", "reference:1",
                                      "fake", "island:0",    "island:1"};
  enum { N = sizeof names / sizeof *names };
  vt_hash256 core[N], target[N];
  vt_graph *g = sample_graph();
  reset_fake();
  for (int i = 0; i < N; i++) {
    get_plan_digests(names[i], g, &core[i], &target[i]);
    CHECK(memcmp(&core[i], &core[0], sizeof *core) == 0);
    for (int k = 0; k < i; k++) CHECK(memcmp(&target[i], &target[k], sizeof *target) != 0);
  }
  vt_graph_free(g);
}

/* ---- states ---- */

/* The state k of 64 rows gets two rows of x at the rows `index`; the state s gets x. */
enum { STATE_K, STATE_S, ROWS, ROW_INDEX, SCATTERED };
static vt_graph *graph_with_states(void) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  const vt_type k = {VT_DTYPE_F32, 2, {64, 4}}, two = {VT_DTYPE_F32, 2, {2, 4}};
  const vt_type index = {VT_DTYPE_I64, 2, {2, 1}};
  const vt_init_info *zeros = vt_init_find("zeros");
  vt_port state = {.kind = VT_PORT_STATE, .init = zeros->number};
  state.init_attrs = zeros->attrs->defaults;
  CHECK(vt_graph_begin(&gb, "states", vt_alloc_default(), NULL) == VT_OK);
  state.name = "k";
  vt_graph_add_port(&gb, &state, &k);
  state.name = "s";
  vt_graph_add_port(&gb, &state, &two);
  vt_graph_add_port(&gb, &(vt_port){.name = "x", .kind = VT_PORT_INPUT}, &two);
  vt_graph_add_port(&gb, &(vt_port){.name = "index", .kind = VT_PORT_INPUT}, &index);
  const uint32_t in[3] = {STATE_K, ROW_INDEX, ROWS};
  vt_graph_name_value(&gb, gb.b.node(&gb.b, VT_OP_scatter_nd, in, 3, NULL), "k2");
  vt_graph_add_result(&gb, "y", vt_build1(&gb.b, VT_OP_neg, ROWS));
  vt_graph_set_next(&gb, STATE_K, vt_build_reshape(&gb.b, SCATTERED, 2, k.dim));
  vt_graph_set_next(&gb, STATE_S, vt_build_reshape(&gb.b, ROWS, 2, two.dim));
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1); /* the tests cannot go on without a graph */
  return g;
}

/* Plans the graph for the fake device and makes an execution. */
static vt_status open_states(const vt_plan_options *o, vt_diag *d) {
  vt_graph *g = graph_with_states();
  vt_device *dev = NULL;
  vt_plan *p = NULL;
  vt_exec *x = NULL;
  fake.inside = 1;
  CHECK(vt_device_open("fake", vt_alloc_default(), &dev, NULL) == VT_OK);
  const vt_target target = vt_device_target(dev);
  CHECK(vt_plan_build(g, o, &target, vt_alloc_default(), &p, NULL) == VT_OK);
  const vt_status s = vt_exec_new(dev, p, vt_alloc_default(), &x, d);
  if (s == VT_OK) CHECK(vt_exec_run(x, NULL) == VT_OK);
  fake.bytes_written = 0;
  for (uint32_t i = 0; s == VT_OK && i < p->n_bk_steps; i++)
    fake.bytes_written += vt_exec_step_cost(x, i).bytes_written;
  vt_exec_free(x);
  vt_plan_free(p);
  vt_device_close(dev);
  fake.inside = 0;
  vt_graph_free(g);
  CHECK(fake.devices == 0 && fake.programs == 0 && fake.buffers == 0);
  return s;
}

/* A scatter over its first operand needs a device that declares that it can. An old plug-in does
 * not write the field. States do not make a plan one for training. */
static void test_updates_in_place_must_be_declared(void) {
  const vt_plan_options in_place = {0}, safe = {.safe_state = 1};
  for (int i = 0; i < 3; i++) {
    vt_diag d = {0};
    reset_fake();
    fake.caps.serves = VT_BK_INFERENCE;
    fake.caps.updates_in_place = i != 0;
    if (i == 2) fake.caps.size = offsetof(vt_bk_caps, updates_in_place);
    const vt_status s = open_states(&in_place, &d);
    CHECK(s == (i == 1 ? VT_OK : VT_UNSUPPORTED));
    if (i == 1) continue;
    CHECK(strcmp(d.text,
                 "backend 'fake:0' does not run 'k2' = scatter_nd giving f32[64, 4]: it does "
                 "not update operands in place") == 0);
    CHECK(strstr(d.hint, "safe") != NULL && fake.calls[BUILD] == 0 && fake.calls[NEW] == 0);
    CHECK(open_states(&safe, &d) == VT_OK);
  }
}

/* Safe stores are a program of their own, which runs after the other. */
static void test_safe_stores_are_a_segment(void) {
  const vt_plan_options in_place = {0}, safe = {.safe_state = 1};
  reset_fake();
  fake.caps.updates_in_place = 1;
  CHECK(open_states(&in_place, NULL) == VT_OK && fake.calls[BUILD] == 1 && fake.calls[RUN] == 1);
  CHECK(fake.built_steps == 3);              /* the scatter, the negation, and the store of s */
  CHECK(fake.bytes_written == 32 + 32 + 32); /* two rows of k, y, and s */
  reset_fake();
  CHECK(open_states(&safe, NULL) == VT_OK && fake.calls[BUILD] == 2 && fake.calls[RUN] == 2);
  CHECK(fake.built_steps == 2 && fake.run_buffers == 7);
  CHECK(fake.bytes_written == 1024 + 32 + 1024 + 32); /* k twice: the scatter and its copy */
  reset_fake(); /* the first run fails: the stores do not run */
  fake.error.status = VT_RANGE;
  vt_graph *g = graph_with_states();
  vt_device *dev = NULL;
  vt_plan *p = NULL;
  vt_exec *x = NULL;
  fake.inside = 1;
  CHECK(vt_device_open("fake", vt_alloc_default(), &dev, NULL) == VT_OK);
  const vt_target target = vt_device_target(dev);
  CHECK(vt_plan_build(g, &safe, &target, vt_alloc_default(), &p, NULL) == VT_OK);
  CHECK(vt_exec_new(dev, p, vt_alloc_default(), &x, NULL) == VT_OK);
  CHECK(vt_exec_run(x, NULL) == VT_RANGE && fake.calls[RUN] == 1);
  CHECK(!vt_exec_may_have_written_state(x));
  vt_exec_free(x);
  vt_plan_free(p);
  vt_device_close(dev);
  fake.inside = 0;
  vt_graph_free(g);
}

/* The state a gets -x, the state f the param w, the state b gets x. */
static vt_graph *graph_with_stored_param(void) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  const vt_type row = {VT_DTYPE_F32, 1, {4}};
  static const char *const names[] = {"x", "w", "a", "f", "b"};
  static const uint32_t kinds[] = {VT_PORT_INPUT, VT_PORT_PARAM, VT_PORT_STATE, VT_PORT_STATE,
                                   VT_PORT_STATE};
  CHECK(vt_graph_begin(&gb, "stored", vt_alloc_default(), NULL) == VT_OK);
  for (uint32_t i = 0; i < 5; i++) {
    const vt_init_info *zeros = vt_init_find("zeros");
    vt_port p = {.name = names[i], .kind = kinds[i]};
    if (i > 0) p.init = zeros->number;
    if (i > 0) p.init_attrs = zeros->attrs->defaults;
    vt_graph_add_port(&gb, &p, &row);
  }
  const uint32_t less = vt_build1(&gb.b, VT_OP_neg, 0);
  vt_graph_add_result(&gb, "y", less);
  vt_graph_set_next(&gb, 2, vt_build_reshape(&gb.b, less, 1, row.dim));
  vt_graph_set_next(&gb, 3, vt_build_reshape(&gb.b, 1, 1, row.dim));
  vt_graph_set_next(&gb, 4, vt_build_reshape(&gb.b, 0, 1, row.dim));
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1);
  return g;
}

/* Safe stores begin a segment, and so does a step that reads a streamed parameter, which here is
 * one of the stores but not the first. */
static void test_segments_of_safe_stores_and_uploads(void) {
  const char *all = "*";
  for (uint32_t k = 0; k < 4; k++) {
    const vt_plan_options o = {.safe_state = k & 1, .n_stream = k >> 1, .stream = &all};
    vt_graph *g = graph_with_stored_param();
    vt_device *dev = NULL;
    vt_plan *p = NULL;
    vt_exec *x = NULL;
    reset_fake();
    fake.inside = 1;
    CHECK(vt_device_open("fake", vt_alloc_default(), &dev, NULL) == VT_OK);
    const vt_target target = vt_device_target(dev);
    CHECK(vt_plan_build(g, &o, &target, vt_alloc_default(), &p, NULL) == VT_OK);
    CHECK(vt_exec_new(dev, p, vt_alloc_default(), &x, NULL) == VT_OK && p->n_steps == 4);
    static const uint64_t last[4] = {4, 3, 2, 2}; /* steps of the last segment */
    CHECK(fake.calls[BUILD] == 1 + (k & 1) + (k >> 1) && fake.built_steps == last[k]);
    vt_exec_free(x);
    vt_plan_free(p);
    vt_device_close(dev);
    fake.inside = 0;
    vt_graph_free(g);
  }
}

/* The bytes of states are in the arena STATE, and in the message about memory. */
static void test_states_need_memory(void) {
  const vt_plan_options o = {0};
  vt_diag d = {0};
  reset_fake();
  fake.caps.updates_in_place = 1;
  fake.caps.memory = 100;
  CHECK(open_states(&o, &d) == VT_NOMEM && fake.calls[NEW] == 0);
  CHECK(strcmp(d.text,
               "the program needs 2048 bytes (host_input 512, output 256, state 1280) on 'fake:0', "
               "which has 100 left") == 0);
  reset_fake();
  fake.caps.updates_in_place = 1;
  fake.caps.memory = 5000;
  fake.failing_call = BUILD;
  fake.status = VT_NOMEM;
  d = (vt_diag){0};
  CHECK(open_states(&o, &d) == VT_NOMEM);
  CHECK(strcmp(d.hint, "its tensors need 2048 more bytes, and 'fake:0' has 5000 left") == 0);
}

/* Each allocation fails in turn: VT_NOMEM with a message, and everything is freed. */
static void test_session_out_of_memory(void) {
  vt_graph *g = sample_graph();
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    const vt_alloc a = vt_fault_alloc(&fault);
    session l = {0};
    vt_device *dev = NULL;
    reset_fake();
    vt_status s = vt_device_open("reference", a, &dev, &l.d);
    if (s == VT_OK) s = build_and_run(dev, g, a, &l);
    vt_device_close(dev);
    if (left == 0) asked = fault.asked;
    CHECK(s == (left == 0 ? VT_OK : VT_NOMEM) && l.d.code == s && fault.live == 0);
    CHECK((s == VT_OK) == (l.d.text[0] == 0));
  }
  CHECK(asked > 10);
  vt_graph_free(g);
}

int main(void) {
  test_calls_of_successful_run();
  test_each_failing_call_is_reported();
  test_status_of_each_run_error();
  test_failing_buffers_are_reported();
  test_too_little_memory_is_refused();
  test_refused_step_is_reported();
  test_run_error_messages();
  test_changed_mode_fails_the_run();
  test_impossible_caps_are_refused();
  test_calls_that_return_no_object();
  test_scratch_limit_is_enforced();
  test_reasons_do_not_linger();
  test_broken_plan_is_refused();
  test_progress_reports();
  test_device_names();
  test_registry_rows();
  test_listed_ops();
  test_variant_names();
  test_backends_share_core_digest();
  test_updates_in_place_must_be_declared();
  test_safe_stores_are_a_segment();
  test_segments_of_safe_stores_and_uploads();
  test_states_need_memory();
  test_session_out_of_memory();
  TEST_DONE();
}
