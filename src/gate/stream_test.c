/* SPDX-License-Identifier: Apache-2.0
 * stream_test.c - runs the real backends with no, some and all parameters streamed from host
 * memory. Results must have the same bits, copies must be those of the plan, errors and progress
 * must name the same steps, and runs must not allocate. A session is a device, a plan and an
 * execution of one sample graph. `stream` is the number of streamed parameters, or 3 for "*". */
#include <string.h>
#include <sys/resource.h>
#include "process_test.h"
#include "vt_gate.h"
#include "vt_test.h"

/* ---- h = matmul(x, w); t = matmul(h, transpose(v)); s = add(t, t); y = gather(s, index) ---- */

enum { X, W, V, INDEX, H, TRANSPOSED, T, S, Y };

static vt_graph *sample_graph(void) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  const vt_type x = {VT_DTYPE_F32, 2, {4, 6}}, index = {VT_DTYPE_I64, 1, {3}};
  const vt_type w = {VT_DTYPE_F32, 2, {6, 5}}, v = {VT_DTYPE_F32, 2, {7, 5}};
  const vt_init_info *zeros = vt_init_find("zeros");
  const vt_attr_perm swap = {.size = sizeof swap, .perm = {.n = 2, .v = {1, 0}}};
  vt_port param = {.kind = VT_PORT_PARAM, .init = zeros->number};
  param.init_attrs = zeros->attrs->defaults;
  CHECK(vt_graph_begin(&gb, "sample", vt_alloc_default(), NULL) == VT_OK);
  vt_graph_add_port(&gb, &(vt_port){.name = "x", .kind = VT_PORT_INPUT}, &x);
  param.name = "w";
  vt_graph_add_port(&gb, &param, &w);
  param.name = "v";
  vt_graph_add_port(&gb, &param, &v);
  vt_graph_add_port(&gb, &(vt_port){.name = "index", .kind = VT_PORT_INPUT}, &index);
  vt_graph_name_value(&gb, vt_build2(&gb.b, VT_OP_matmul, X, W), "h");
  vt_graph_name_value(&gb, gb.b.node(&gb.b, VT_OP_transpose, &(uint32_t){V}, 1, &swap), "turned");
  vt_graph_name_value(&gb, vt_build2(&gb.b, VT_OP_matmul, H, TRANSPOSED), "t");
  vt_graph_name_value(&gb, vt_build2(&gb.b, VT_OP_add, T, T), "s");
  vt_graph_name_value(&gb, vt_build2(&gb.b, VT_OP_gather, S, INDEX), "y");
  vt_graph_add_result(&gb, "y", Y);
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1); /* the tests cannot go on without a graph */
  return g;
}

/* ---- one execution ---- */

static const char *const devices[] = {"reference:0", "reference:1", "island:0", "island:1"};
/* The argument `stream` of the functions below: 0, 1 or 2 is the number of streamed parameters; 3
 * means "*". */
static const char *const streams[] = {"w", "v", "*"};
enum { N_DEVICES = sizeof devices / sizeof *devices, N_STREAMS = 4 };

static vt_plan_options options_for_stream(uint32_t stream) {
  if (stream == 3) return (vt_plan_options){.n_stream = 1, .stream = &streams[2]};
  return (vt_plan_options){.n_stream = stream, .stream = streams};
}

typedef struct session {
  vt_fault fault;
  vt_graph *g;
  vt_device *dev;
  vt_plan *p;
  vt_exec *x;
  vt_diag d;
} session;

static vt_status begin_session(session *t, const char *device, uint32_t stream) {
  const vt_alloc a = vt_fault_alloc(&t->fault);
  const vt_plan_options o = options_for_stream(stream);
  t->g = sample_graph();
  VT_TRY(vt_device_open(device, a, &t->dev, &t->d));
  const vt_target target = vt_device_target(t->dev);
  VT_TRY(vt_plan_build(t->g, &o, &target, a, &t->p, &t->d));
  return vt_exec_new(t->dev, t->p, a, &t->x, &t->d);
}

static void end_session(session *t) {
  vt_exec_free(t->x);
  vt_plan_free(t->p);
  vt_device_close(t->dev);
  vt_graph_free(t->g);
  CHECK(t->fault.live == 0);
}

static float value_at_index(int i) { return (float)(i * 37 % 23 - 11) / 8; }

static void write_inputs(session *t, int64_t last_index) {
  const int64_t index[3] = {2, 0, last_index};
  float data[42];
  for (int i = 0; i < 42; i++) data[i] = value_at_index(i);
  CHECK(vt_exec_write(t->x, X, data, NULL) == VT_OK);
  CHECK(vt_exec_write(t->x, INDEX, index, NULL) == VT_OK);
}

static void write_params(session *t) {
  float data[42];
  for (int i = 0; i < 42; i++) data[i] = value_at_index(i + 5);
  CHECK(vt_exec_write(t->x, W, data, NULL) == VT_OK);
  for (int i = 0; i < 42; i++) data[i] = value_at_index(i + 11);
  CHECK(vt_exec_write(t->x, V, data, NULL) == VT_OK);
}

/* Computes the expected result by plain loops. Every product and sum is exact, so the order does
 * not matter. */
static void compute_expected(float y[21]) {
  static const int rows[3] = {2, 0, 3};
  for (int i = 0; i < 3; i++)
    for (int n = 0; n < 7; n++) {
      float sum = 0;
      for (int k = 0; k < 5; k++) {
        float h = 0;
        for (int j = 0; j < 6; j++)
          h += value_at_index(rows[i] * 6 + j) * value_at_index(j * 5 + k + 5);
        sum += h * value_at_index(n * 5 + k + 11);
      }
      y[i * 7 + n] = sum + sum;
    }
}

/* Sums the bytes of the plan's transfers to the device, from the device, and of streamed
 * parameters. */
static void sum_transfer_bytes(const vt_plan *p, uint64_t *to_device, uint64_t *from_device,
                               uint64_t *streamed) {
  *to_device = *from_device = *streamed = 0;
  for (uint32_t i = 0; i < p->n_transfers; i++) {
    const vt_transfer *t = &p->transfers[i];
    *(t->direction == VT_TO_DEVICE ? to_device : from_device) += t->bytes;
    if (p->buffers[t->value].class == VT_CLASS_HOST) *streamed += t->bytes;
  }
}

/* ---- results and traffic ---- */

static void run_and_check_result(session *t) {
  float want[21], y[21] = {0};
  compute_expected(want);
  CHECK(vt_exec_run(t->x, &t->d) == VT_OK);
  CHECK(vt_exec_read(t->x, Y, y, &t->d) == VT_OK);
  CHECK(memcmp(y, want, sizeof y) == 0);
}

static void expect_traffic(const session *t, uint64_t to_device, uint64_t from_device) {
  uint64_t was_to = 1, was_from = 1;
  vt_exec_bytes_copied(t->x, &was_to, &was_from);
  CHECK(was_to == to_device && was_from == from_device);
}

static void check_results_and_traffic(const char *device, uint32_t stream) {
  static const uint64_t cost[N_STREAMS] = {0, 120, 120 + 140, 120 + 140};
  session t = {0};
  uint64_t to, from, streamed;
  float back[35] = {0};
  CHECK(begin_session(&t, device, stream) == VT_OK);
  if (t.x == NULL) fprintf(stderr, "  %s %u: %s\n", device, stream, t.d.text);
  if (t.x == NULL) exit(1);
  const long asked = t.fault.asked;
  sum_transfer_bytes(t.p, &to, &from, &streamed);
  CHECK(streamed == cost[stream] && to == 96 + 24 + streamed && from == 84);
  CHECK((t.p->class_bytes[VT_CLASS_HOST] > 0) == (stream > 0));
  write_params(&t);
  write_inputs(&t, 3);
  run_and_check_result(&t);
  expect_traffic(&t, to, from);
  write_inputs(&t, 3); /* the counts must start at zero for the next run */
  run_and_check_result(&t);
  expect_traffic(&t, to, from);
  run_and_check_result(&t); /* a run without new inputs must not copy inputs */
  expect_traffic(&t, streamed, from);
  CHECK(vt_exec_read(t.x, V, back, &t.d) == VT_OK && back[34] == value_at_index(34 + 11));
  CHECK(t.fault.asked == asked && t.d.code == VT_OK);
  end_session(&t);
}

/* ---- progress, and the names in errors ---- */

typedef struct progress_record {
  uint32_t n;
  uint64_t done, total;
} progress_record;

static void record_progress(void *user, uint64_t done, uint64_t total) {
  progress_record *h = user;
  CHECK(done > h->done && done <= total && (h->n == 0 || h->total == total));
  *h = (progress_record){h->n + 1, done, total};
}

static void check_progress_and_errors(const char *device, uint32_t stream) {
  session t = {0};
  progress_record h = {0};
  CHECK(begin_session(&t, device, stream) == VT_OK);
  if (t.x == NULL) fprintf(stderr, "  %s %u: %s\n", device, stream, t.d.text);
  if (t.x == NULL) exit(1);
  write_params(&t);
  write_inputs(&t, 3);
  vt_exec_set_progress(t.x, record_progress, &h);
  run_and_check_result(&t);
  CHECK(h.n == t.p->n_bk_steps && h.done == h.total);
  h = (progress_record){0};
  run_and_check_result(&t);
  CHECK(h.n == t.p->n_bk_steps && h.done == h.total);
  CHECK(t.p->n_bk_steps == (strcmp(device, "island:1") == 0 ? 5 : 4));
  vt_exec_set_progress(t.x, NULL, NULL);
  write_inputs(&t, -9);
  CHECK(vt_exec_run(t.x, &t.d) == VT_RANGE);
  CHECK(strcmp(t.d.text, "'y' = gather: index -9 at position 2 is out of range") == 0);
  t.d = (vt_diag){0};
  write_inputs(&t, 3); /* a run after a failed one must work */
  run_and_check_result(&t);
  end_session(&t);
}

/* Each allocation fails in turn: VT_NOMEM with a message, and everything must be freed. */
static void test_each_failing_allocation(void) {
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    session t = {.fault = {.left = left}};
    const vt_status s = begin_session(&t, "island:1", 3);
    if (left == 0) asked = t.fault.asked;
    CHECK(s == (left == 0 ? VT_OK : VT_NOMEM) && t.d.code == s && (t.x != NULL) == (left == 0));
    end_session(&t);
  }
  CHECK(asked > 10);
}

/* ---- parameters that fit into device memory one at a time, but not into host memory ---- */

enum { MIB = 1 << 20, LONG = 25 * MIB }; /* LONG elements of f32 are 100 MiB */

static vt_graph *graph_of_two_sums(void) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  const vt_type w = {VT_DTYPE_F32, 1, {LONG}};
  const vt_init_info *zeros = vt_init_find("zeros");
  vt_port param = {.kind = VT_PORT_PARAM, .init = zeros->number};
  param.init_attrs = zeros->attrs->defaults;
  CHECK(vt_graph_begin(&gb, "two_sums", vt_alloc_default(), NULL) == VT_OK);
  param.name = "w";
  vt_graph_add_port(&gb, &param, &w);
  param.name = "v";
  vt_graph_add_port(&gb, &param, &w);
  const uint32_t a = vt_build_reduce(&gb.b, VT_OP_sum, 0, 0, 0);
  const uint32_t b = vt_build_reduce(&gb.b, VT_OP_sum, 1, 0, 0);
  vt_graph_add_result(&gb, "y", vt_build2(&gb.b, VT_OP_add, a, b));
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1);
  return g;
}

/* The parameters are uploaded one at a time, but the device's memory is the host's, so the program
 * needs the memory of both sides. `mib` limits the process to that many MiB more, which is too
 * little. */
static void check_too_little_host_memory(const char *device, rlim_t mib) {
  char want[200];
  struct rlimit old, limit;
  session t = {.g = graph_of_two_sums()};
  const vt_plan_options o = options_for_stream(3);
  const vt_alloc a = vt_fault_alloc(&t.fault);
  CHECK(vt_device_open(device, a, &t.dev, NULL) == VT_OK);
  const vt_target target = vt_device_target(t.dev);
  CHECK(vt_plan_build(t.g, &o, &target, a, &t.p, &t.d) == VT_OK && getrlimit(RLIMIT_AS, &old) == 0);
  if (t.p == NULL || process_virtual_bytes() == 0) exit(vt_test_failed != 0 ? 1 : 77);
  const uint64_t temporary = t.p->class_bytes[VT_CLASS_TEMP];
  snprintf(want, sizeof want,
           "the program needs %llu bytes (temporary %llu, output 256, host_parameter %d) on the "
           "host, which has ",
           (unsigned long long)(temporary + 256 + 200 * MIB), (unsigned long long)temporary,
           200 * MIB);
  CHECK(temporary >= 100 * MIB && temporary < 101 * MIB);
  limit = (struct rlimit){process_virtual_bytes() + mib * MIB, old.rlim_max};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  CHECK(vt_exec_new(t.dev, t.p, a, &t.x, &t.d) == VT_NOMEM);
  CHECK(strncmp(t.d.text, want, strlen(want)) == 0);
  if (strncmp(t.d.text, want, strlen(want)) != 0) fprintf(stderr, "  %s\n", t.d.text);
  CHECK(setrlimit(RLIMIT_AS, &old) == 0);
  end_session(&t);
}

/* 150 MiB are too little for the parameters on the host; 250 MiB are enough for either side, but
 * not for both. */
static void test_host_memory_is_checked(void) {
  for (uint32_t i = 0; i < N_DEVICES; i++) {
    check_too_little_host_memory(devices[i], 150);
    check_too_little_host_memory(devices[i], 250);
  }
}

int main(void) {
  for (uint32_t i = 0; i < N_DEVICES; i++)
    for (uint32_t stream = 0; stream < N_STREAMS; stream++) {
      check_results_and_traffic(devices[i], stream);
      check_progress_and_errors(devices[i], stream);
    }
  test_each_failing_allocation();
  test_host_memory_is_checked();
  TEST_DONE();
}
