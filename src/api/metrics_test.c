/* SPDX-License-Identifier: Apache-2.0
 * metrics_test.c - the metrics of a program and its runs: steps, copies, phases and counts. Also
 * thousands of runs of one program, during which no memory is allocated. */
#include <string.h>
#include "num_test.h"
#include "process_test.h"
#include "volta/volta_tools.h"

/* Transposing w makes a view with strides. A backend that takes no strides gets a dense copy of
 * it. */
static const char text[] =
    "volta 1\n"
    "model m {\n"
    "  dim B\n"
    "  input x: f32[B, 6]\n"
    "  param w: f32[8, 6] = normal(std=0.5, stream=1)\n"
    "  h = exp(matmul(x, transpose(w, perm=[1, 0])))\n"
    "  output y = h * 2.0\n"
    "  output z = sum(h)\n"
    "}\n";

static vt_model *model;

static vt_program *open_program_on(const char *backend, uint32_t measure, const char *stream,
                                   const vt_alloc *a) {
  static const vt_binding bind[] = {{"B", 5}};
  const vt_options o = {.size = sizeof o,
                        .n_bind = 1,
                        .bind = bind,
                        .backend = backend,
                        .alloc = a,
                        .stream = stream,
                        .measure = measure};
  vt_program *p = NULL;
  CHECK(vt_program_new(model, &o, &p, NULL) == VT_OK);
  if (p == NULL) exit(1);
  CHECK(vt_program_init_params(p, 1, NULL) == VT_OK);
  CHECK(vt_program_random_inputs(p, 2, NULL) == VT_OK);
  return p;
}

static vt_run_info read_run_info(const vt_program *p) {
  vt_run_info r = {.size = sizeof r};
  vt_program_info(p, &r);
  return r;
}

/* ---- steps ---- */

static void expect_step(vt_program *p, uint32_t i, const char *name, const char *op,
                        const char *type, uint64_t flops, int dense_copy) {
  vt_step_info s = {.size = sizeof s};
  CHECK(vt_program_step(p, i, &s, NULL) == VT_OK);
  const int right = strcmp(s.name, name) == 0 && strcmp(s.op_name, op) == 0 &&
                    strcmp(s.type, type) == 0 && s.flops == flops &&
                    s.dense_copy == (uint32_t)dense_copy;
  CHECK(right);
  if (!right)
    fprintf(stderr, "  step %u: %s = %s: %s, %llu flops\n", i, s.name, s.op_name, s.type,
            (unsigned long long)s.flops);
}

static void test_step_metrics(void) {
  vt_program *p = open_program_on("reference:0", 1, NULL, NULL);
  vt_step_info s = {.size = sizeof s};
  vt_diag d = {0};
  CHECK(vt_program_step(p, 0, &s, NULL) == VT_OK && s.begin_ns == 0 && s.end_ns == 0);
  CHECK(vt_program_run(p, NULL) == VT_OK);
  expect_step(p, 0, "_1", "matmul", "f32[5, 8]", 2 * 40 * 6, 0);
  expect_step(p, 1, "h", "exp", "f32[5, 8]", 40, 0);
  CHECK(vt_program_step(p, 0, &s, NULL) == VT_OK && s.begin_ns != 0 && s.end_ns >= s.begin_ns);
  CHECK(s.op == VT_OP_matmul && s.bytes_read == 4 * (30 + 48) && s.bytes_written == 160);
  CHECK(vt_program_step(p, vt_program_steps(p), &s, &d) == VT_NAME && d.code == VT_NAME);
  vt_step_info early = {.size = offsetof(vt_step_info, flops), .flops = 77};
  CHECK(vt_program_step(p, 0, &early, NULL) == VT_OK && early.flops == 77);
  CHECK(read_run_info(p).timed == vt_program_steps(p));
  vt_program_free(p);
}

static void test_dense_copy_is_reported(void) {
  vt_program *p = open_program_on("island:1", 1, NULL, NULL);
  vt_step_info s = {.size = sizeof s};
  uint32_t copies = 0;
  CHECK(vt_program_run(p, NULL) == VT_OK);
  for (uint32_t i = 0; vt_program_step(p, i, &s, NULL) == VT_OK; i++) {
    CHECK(s.begin_ns != 0);
    copies += s.dense_copy;
  }
  CHECK(copies == 1 && vt_program_steps(p) == read_run_info(p).steps + 1);
  expect_step(p, 0, "_0", "transpose", "f32[6, 8]", 0, 1);
  vt_program_free(p);
}

/* ---- the run ---- */

static void test_run_counts(void) {
  vt_program *p = open_program_on("island:0", 1, "w", NULL);
  CHECK(read_run_info(p).runs == 0);
  for (uint64_t i = 1; i <= 3; i++) {
    uint8_t digest[32];
    CHECK(vt_program_run(p, NULL) == VT_OK);
    CHECK(read_run_info(p).copies_from_device == 0); /* no output was read yet */
    for (int k = 0; k < 2; k++)
      CHECK(vt_program_digest(p, digest, NULL) == VT_OK); /* only the first digest copies outputs */
    const vt_run_info r = read_run_info(p);
    CHECK(r.runs == i && r.allocations == 0);
    CHECK(r.flops == 2 * 40 * 6 + 40 + 40 + 40);
    CHECK(r.to_device == (i == 1 ? 120 : 0) + 192); /* x is copied once, w in each run */
    CHECK(r.copies_to_device == (i == 1 ? 2 : 1));
    CHECK(r.from_device == 160 + 4 && r.copies_from_device == 2);
    vt_copy_info c = {.size = sizeof c};
    const uint32_t w = i == 1 ? 1 : 0;
    CHECK(vt_program_copies(p) == w + 3);
    CHECK(vt_program_copy(p, w, &c, NULL) == VT_OK && strcmp(c.name, "w") == 0 && c.to_device);
    CHECK(c.bytes == 192 && c.begin_ns >= r.begin_ns && c.end_ns <= r.begin_ns + r.wall_ns);
    CHECK(vt_program_copy(p, w + 1, &c, NULL) == VT_OK && strcmp(c.name, "y") == 0);
    CHECK(!c.to_device && c.begin_ns >= r.begin_ns + r.wall_ns);
    CHECK(vt_program_copy(p, w + 3, &c, NULL) == VT_NAME);
  }
  vt_program_free(p);
}

/* A run's digest is the same with parameters on the device or on the host, and with times measured
 * or not. */
static void test_run_digest_is_same_everywhere(void) {
  static const char *const backends[] = {"reference:0", "reference:1", "island:0", "island:1",
                                         "cpu:0"};
  uint8_t first[32], digest[32];
  for (int i = 0; i < 20; i++) {
    vt_program *p =
        open_program_on(backends[i / 4], (uint32_t)i % 2, i % 4 < 2 ? NULL : "all", NULL);
    for (int k = 0; k < 2; k++) CHECK(vt_program_run(p, NULL) == VT_OK);
    CHECK(vt_program_digest(p, i == 0 ? first : digest, NULL) == VT_OK);
    CHECK(i == 0 || memcmp(first, digest, sizeof first) == 0);
    vt_program_free(p);
  }
}

/* ---- phases ---- */

static int find_phase(const vt_program *p, const char *name, vt_phase_info *out) {
  for (uint32_t i = 0; vt_program_phase(p, i, out) == VT_OK; i++)
    if (strcmp(out->name, name) == 0) return out->begin_ns <= out->end_ns;
  return 0;
}

static void test_phases_in_order(void) {
  static const char *const names[] = {"device", "bind", "lower", "canonical", "fold",  "cse",
                                      "dead",   "fuse", "state", "plan",      "check", "open"};
  vt_program *p = open_program_on("reference:0", 0, NULL, NULL);
  vt_phase_info all = {.size = sizeof all}, one = {.size = sizeof one};
  uint64_t last = 0;
  CHECK(find_phase(p, "program", &all) && find_phase(p, "parameters", &one));
  CHECK(one.begin_ns >= all.end_ns);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    CHECK(find_phase(p, names[i], &one));
    CHECK(one.begin_ns >= last && one.begin_ns >= all.begin_ns && one.end_ns <= all.end_ns);
    last = one.end_ns;
  }
  CHECK(vt_program_phase(p, vt_program_phases(p), &one) == VT_NAME);
  vt_program_free(p);
}

/* ---- memory ---- */

/* The names of steps and copies are made when they are first requested. If an allocation fails
 * then, the status is VT_NOMEM, and a later request succeeds. */
static void test_names_out_of_memory(void) {
  vt_fault fault = {0};
  const vt_alloc a = vt_fault_alloc(&fault);
  vt_program *p = open_program_on("reference:0", 1, NULL, &a);
  vt_step_info s = {.size = sizeof s};
  vt_copy_info c = {.size = sizeof c};
  long failed = 0;
  CHECK(vt_program_run(p, NULL) == VT_OK);
  for (long k = 1; vt_test_failed == 0; k++) {
    vt_diag d = {0};
    fault.left = fault.asked + k;
    const vt_status status =
        k % 2 != 0 ? vt_program_step(p, 0, &s, &d) : vt_program_copy(p, 0, &c, &d);
    const int reached = fault.asked >= fault.left;
    fault.left = 0;
    if (!reached) {
      CHECK(status == VT_OK);
      break;
    }
    CHECK(status == VT_NOMEM && d.code == VT_NOMEM);
    failed++;
  }
  CHECK(failed > 0 && vt_program_step(p, 0, &s, NULL) == VT_OK && strcmp(s.name, "_1") == 0);
  vt_program_free(p);
  CHECK(fault.live == 0);
}

static void count_progress(void *user, const char *what, uint64_t done, uint64_t total) {
  (void)what, (void)total;
  *(uint64_t *)user += done != 0;
}

/* Sets the input before each run, as a server does; vt_program_set_input may allocate a buffer,
 * which it frees before it returns. */
static void expect_runs_allocate_nothing(const char *backend, uint32_t measure, int runs) {
  static const vt_binding bind[] = {{"B", 5}};
  static float x[30];
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {5, 6}, .data = x};
  uint64_t heard = 0;
  vt_fault fault = {0};
  const vt_alloc a = vt_fault_alloc(&fault);
  const vt_options o = {.size = sizeof o,
                        .n_bind = 1,
                        .bind = bind,
                        .backend = backend,
                        .alloc = &a,
                        .progress = measure ? count_progress : NULL,
                        .progress_user = &heard,
                        .measure = measure};
  vt_program *p = NULL;
  uint64_t before = 0;
  long requests = 0, live = 0;
  CHECK(vt_program_new(model, &o, &p, NULL) == VT_OK);
  if (p == NULL) exit(1);
  CHECK(vt_program_init_params(p, 1, NULL) == VT_OK);
  for (int i = 0; i < runs; i++) {
    x[i % 30] += 0.5f;
    CHECK(vt_program_set_input(p, "x", &t, NULL) == VT_OK);
    if (i == 100) before = process_resident_bytes();
    requests = fault.asked;
    live = i == 0 ? fault.live : live;
    CHECK(vt_program_run(p, NULL) == VT_OK);
    CHECK(fault.asked == requests && fault.live == live && read_run_info(p).allocations == 0);
  }
  CHECK(read_run_info(p).runs == (uint64_t)runs && (heard > 0) == (measure != 0));
  /* The C library may take 64 KiB once. Not checked with a sanitizer, which does not return freed
   * memory. */
  CHECK(SANITIZED || process_resident_bytes() <= before + 64 * 1024);
  vt_program_free(p);
  CHECK(fault.live == 0);
}

static void test_many_runs_allocate_nothing(void) {
  static const char *const backends[] = {"reference:0", "reference:1", "island:0", "island:1",
                                         "cpu:0"};
  for (int i = 0; i < 5; i++)
    for (uint32_t measure = 0; measure < 2; measure++)
      expect_runs_allocate_nothing(backends[i], measure, 2000);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  CHECK(vt_model_parse(text, sizeof text - 1, NULL, &model, NULL) == VT_OK);
  if (model == NULL) return 1;
  test_step_metrics();
  test_dense_copy_is_reported();
  test_run_counts();
  test_run_digest_is_same_everywhere();
  test_phases_in_order();
  test_names_out_of_memory();
  test_many_runs_allocate_nothing();
  vt_model_free(model);
  TEST_DONE();
}
