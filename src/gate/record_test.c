/* SPDX-License-Identifier: Apache-2.0
 * record_test.c - checks the times of steps from a backend with metrics, from one with progress
 * reports, from one with neither, and from one with wrong metrics. The registry of this program has
 * the reference behind a table of functions that tests change. A session is a device, a plan and an
 * execution of one sample graph. */
#include <string.h>
#include "registry.h"
#include "vt_clock.h"
#include "vt_test.h"

vt_backend_query_fn vt_reference_query;

/* ---- the reference behind a changed table ---- */

enum { GOOD, NOTHING, TOO_FEW, NO_ARRAYS, BACKWARDS, BEYOND, FAILS };
static struct {
  int has_metrics;  /* 1: the table has the function `metrics` */
  int answer;       /* which times `metrics` returns: GOOD .. FAILS */
  int no_progress;  /* 1: the backend is opened without a function for progress reports */
  uint32_t asked;   /* number of calls of `metrics` */
  uint32_t measure; /* the field `measure` of the host when the device was opened */
  uint64_t n_steps; /* number of steps of the program that ran last */
} fake;
static vt_bk_host quiet_host;
static const vt_bk_api *real;
static uint64_t begins[16], ends[16];
static struct built {
  vt_bk_program *prog;
  uint64_t n;
} built[8];
static uint32_t n_built;

static int32_t open_device(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out) {
  quiet_host = *host;
  fake.measure = host->measure;
  if (fake.no_progress) quiet_host.progress = NULL;
  return real->device_open(&quiet_host, ordinal, out);
}

static int32_t build_and_count_steps(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n,
                                     vt_bk_program **out) {
  const int32_t s = real->program_build(dev, steps, n, out);
  if (s == VT_OK && n_built < 8) built[n_built++] = (struct built){*out, n};
  return s;
}

static int32_t give_times(vt_bk_program *prog, vt_bk_metrics *out) {
  fake.asked++;
  for (uint32_t i = 0; i < n_built; i++)
    if (built[i].prog == prog) fake.n_steps = built[i].n;
  for (uint64_t i = 0; i < 16; i++) {
    begins[i] = i;
    ends[i] = i + 1;
  }
  if (fake.answer == BACKWARDS) ends[0] = 0, begins[0] = 5;
  if (fake.answer == BEYOND) ends[0] = begins[2] = ends[2] = UINT64_MAX;
  out->n_steps = fake.answer == NOTHING ? 0 : fake.n_steps - (fake.answer == TOO_FEW);
  out->begin = fake.answer == NO_ARRAYS ? NULL : begins;
  out->end = ends;
  return fake.answer == FAILS ? VT_BACKEND : VT_OK;
}

static const vt_bk_api *query_changed_table(const vt_bk_host *host) {
  static vt_bk_api api;
  real = vt_reference_query(host);
  memcpy(&api, real, real->size < sizeof api ? real->size : sizeof api);
  api.size = sizeof api;
  api.device_open = open_device;
  api.program_build = build_and_count_steps;
  api.metrics = fake.has_metrics ? give_times : NULL;
  return &api;
}

static vt_proofs proofs;
static const vt_registry_row row = {"fake", query_changed_table, VT_KIND_TEST, &proofs};
uint32_t vt_registry_backend_count(void) { return 1; }
const vt_registry_row *vt_registry_row_at(uint32_t i) { return i == 0 ? &row : NULL; }

/* ---- h = matmul(x, w); s = add(h, h); y = matmul(s, w) ---- */

enum { X, W, H, S, Y, N_STEPS = 3 };

static vt_graph *sample_graph(void) {
  vt_graph_builder gb;
  vt_graph *g = NULL;
  const vt_type square = {VT_DTYPE_F32, 2, {4, 4}};
  const vt_init_info *zeros = vt_init_find("zeros");
  CHECK(vt_graph_begin(&gb, "sample", vt_alloc_default(), NULL) == VT_OK);
  vt_graph_add_port(&gb, &(vt_port){.name = "x", .kind = VT_PORT_INPUT}, &square);
  vt_graph_add_port(&gb,
                    &(vt_port){.name = "w",
                               .kind = VT_PORT_PARAM,
                               .init = zeros->number,
                               .init_attrs = zeros->attrs->defaults},
                    &square);
  vt_graph_name_value(&gb, vt_build2(&gb.b, VT_OP_matmul, X, W), "h");
  vt_graph_name_value(&gb, vt_build2(&gb.b, VT_OP_add, H, H), "s");
  vt_graph_name_value(&gb, vt_build2(&gb.b, VT_OP_matmul, S, W), "y");
  vt_graph_add_result(&gb, "y", Y);
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1);
  return g;
}

typedef struct session {
  vt_fault fault;
  vt_graph *g;
  vt_device *dev;
  vt_plan *p;
  vt_exec *x;
} session;

static void begin_session(session *t, uint32_t measure, int streamed) {
  static const char *const all[] = {"*"};
  const vt_alloc a = vt_fault_alloc(&t->fault);
  const vt_plan_options o = {.n_stream = streamed ? 1 : 0, .stream = all};
  const vt_device_options how = {.measure = measure};
  n_built = 0;
  t->g = sample_graph();
  CHECK(vt_device_open_with_options(&how, "fake", a, &t->dev, NULL) == VT_OK);
  const vt_target target = vt_device_target(t->dev);
  CHECK(vt_plan_build(t->g, &o, &target, a, &t->p, NULL) == VT_OK);
  CHECK(vt_exec_new(t->dev, t->p, a, &t->x, NULL) == VT_OK);
  CHECK(fake.measure == measure);
}

static void end_session(session *t) {
  vt_exec_free(t->x);
  vt_plan_free(t->p);
  vt_device_close(t->dev);
  vt_graph_free(t->g);
  CHECK(t->fault.live == 0);
}

/* Runs twice, so that the record must be that of the second run; runs must not allocate. */
static void run_twice_and_read(session *t) {
  float data[16] = {1, 2, 3}, y[16];
  CHECK(vt_exec_write(t->x, W, data, NULL) == VT_OK);
  for (int i = 0; i < 2; i++) {
    const long asked = t->fault.asked;
    CHECK(vt_exec_write(t->x, X, data, NULL) == VT_OK);
    CHECK(vt_exec_run(t->x, NULL) == VT_OK);
    CHECK(vt_exec_read(t->x, Y, y, NULL) == VT_OK);
    CHECK(t->fault.asked == asked);
  }
}

/* The number of steps that have a time. Each time must be within the run, and not begin before that
 * of the previous step. */
static uint64_t count_timed_steps(const session *t) {
  const vt_exec_counts c = vt_exec_get_counts(t->x);
  uint64_t n = 0, last = c.begin_ns;
  for (uint32_t i = 0; i < N_STEPS; i++) {
    uint64_t from = 7, to = 7;
    if (!vt_exec_step_time(t->x, i, &from, &to)) {
      CHECK(from == 7 && to == 7);
      continue;
    }
    CHECK(last <= from && from <= to && to <= c.begin_ns + c.wall_ns);
    last = from;
    n++;
  }
  CHECK(n == c.timed && c.runs == 2 && c.begin_ns <= vt_clock_ns());
  return n;
}

static uint64_t count_timed_steps_with(int has_metrics, int answer, int no_progress,
                                       uint32_t measure, int streamed) {
  session t = {0};
  fake.has_metrics = has_metrics;
  fake.answer = answer;
  fake.no_progress = no_progress;
  fake.asked = 0;
  begin_session(&t, measure, streamed);
  run_twice_and_read(&t);
  const uint64_t n = count_timed_steps(&t);
  /* `metrics` is called once per segment and run. */
  CHECK(fake.asked == (has_metrics && measure ? (streamed ? 4 : 2) : 0));
  end_session(&t);
  return n;
}

static void test_step_times_of_each_source(void) {
  for (int streamed = 0; streamed < 2; streamed++) {
    CHECK(count_timed_steps_with(1, GOOD, 0, 1, streamed) == N_STEPS);
    CHECK(count_timed_steps_with(1, GOOD, 1, 1, streamed) == N_STEPS);
    /* Without metrics the times come from progress reports. */
    CHECK(count_timed_steps_with(0, GOOD, 0, 1, streamed) == N_STEPS);
    /* There are neither metrics nor progress reports, so no times. */
    CHECK(count_timed_steps_with(0, GOOD, 1, 1, streamed) == 0);
    CHECK(count_timed_steps_with(1, GOOD, 0, 0, streamed) == 0); /* not measured */
  }
}

/* Incomplete metrics are ignored; times later than now are cut off. */
static void test_wrong_metrics_are_ignored(void) {
  CHECK(count_timed_steps_with(1, NOTHING, 0, 1, 0) == 0);
  CHECK(count_timed_steps_with(1, TOO_FEW, 0, 1, 0) == 0);
  CHECK(count_timed_steps_with(1, NO_ARRAYS, 0, 1, 0) == 0);
  CHECK(count_timed_steps_with(1, FAILS, 0, 1, 0) == 0);
  CHECK(count_timed_steps_with(1, BACKWARDS, 0, 1, 0) == N_STEPS - 1);
  CHECK(count_timed_steps_with(1, BEYOND, 0, 1, 0) == N_STEPS);
}

/* A backend counts time from the start of its program, and each segment is a program that starts at
 * another time. */
static void test_times_of_segments(void) {
  session t = {0};
  uint64_t at[N_STEPS][2];
  fake.has_metrics = 1;
  fake.answer = GOOD;
  begin_session(&t, 1, 1);
  run_twice_and_read(&t);
  CHECK(n_built == 2 && built[0].n + built[1].n == N_STEPS);
  for (uint32_t i = 0; i < N_STEPS; i++)
    CHECK(vt_exec_step_time(t.x, i, &at[i][0], &at[i][1]) == 1);
  for (uint32_t i = 0; i < N_STEPS; i++) CHECK(at[i][1] - at[i][0] == 1);
  for (uint32_t i = 1; i < built[0].n; i++) CHECK(at[i][0] == at[0][0] + i);
  CHECK(at[built[0].n][0] > at[built[0].n - 1][1]);
  end_session(&t);
}

/* ---- copies ---- */

static void test_recorded_copies(void) {
  for (uint32_t measure = 0; measure < 2; measure++) {
    session t = {0};
    fake.has_metrics = 0;
    begin_session(&t, measure, 1);
    run_twice_and_read(&t);
    const vt_exec_counts c = vt_exec_get_counts(t.x);
    CHECK(c.copies_to_device == 3 && c.to_device == 3 * 64); /* x is copied once, w for two steps */
    CHECK(c.copies_from_device == 1 && c.from_device == 64);
    static const uint32_t values[] = {X, W, W, Y};
    for (uint32_t i = 0; i < 4; i++) {
      const vt_copy_record *one = vt_exec_copy_at(t.x, i);
      CHECK((one != NULL) == (measure == 1));
      if (one == NULL) continue;
      CHECK(one->value == values[i] && one->bytes == 64);
      CHECK(one->direction == (i == 3 ? VT_FROM_DEVICE : VT_TO_DEVICE));
      CHECK(one->begin_ns != 0 && one->begin_ns <= one->end_ns);
    }
    CHECK(vt_exec_copy_at(t.x, 4) == NULL);
    float y[16];
    for (int i = 0; i < 50; i++) CHECK(vt_exec_read(t.x, Y, y, NULL) == VT_OK);
    /* All copies are counted, but not all are listed. */
    CHECK(vt_exec_get_counts(t.x).copies_from_device == 51);
    CHECK(vt_exec_copy_at(t.x, 40) == NULL);
    end_session(&t);
  }
}

/* ---- costs and phases ---- */

static void test_step_costs(void) {
  session t = {0};
  begin_session(&t, 0, 0);
  static const uint64_t flops[N_STEPS] = {2 * 16 * 4, 16, 2 * 16 * 4};
  for (uint32_t i = 0; i < N_STEPS; i++) {
    const vt_cost c = vt_exec_step_cost(t.x, i);
    CHECK(c.flops == flops[i] && c.bytes_read == 128 && c.bytes_written == 64);
  }
  end_session(&t);
}

static void test_recorded_phases(void) {
  session t = {0};
  begin_session(&t, 0, 0);
  const vt_phase *first = vt_device_phase(t.dev, 0);
  CHECK(first != NULL && strcmp(first->name, "device") == 0 && first->begin_ns <= first->end_ns);
  CHECK(vt_device_phase(t.dev, 1) == NULL);
  for (int i = 0; i < 2 * VT_PHASES; i++) vt_phase_end(t.dev, "more", vt_phase_begin());
  CHECK(vt_device_phase(t.dev, VT_PHASES - 1) != NULL);
  CHECK(vt_device_phase(t.dev, VT_PHASES) == NULL);
  end_session(&t);
}

int main(void) {
  test_step_times_of_each_source();
  test_wrong_metrics_are_ignored();
  test_times_of_segments();
  test_recorded_copies();
  test_step_costs();
  test_recorded_phases();
  TEST_DONE();
}
