/* SPDX-License-Identifier: Apache-2.0
 * state_run_test.c - runs a model with states on the real backends, several times, in both orders
 * of steps and with both modes of states. States and results must have the bits that plain loops
 * compute, and a run that fails in the safe mode must leave every state as it was. */
#include <string.h>
#include "vt_gate.h"
#include "vt_test.h"

/* ---- the model ---- */

enum { N = 96, RUNS = 5 };
/* Its ports. `sum` is written in place; `last` gets x; `a` and `b` are swapped; `late` is read once
 * more after its next value is computed, and that value depends on an index; `from` gets a param;
 * `kept` does not change; `transposed` is transposed in every run. */
enum { X, INDEX, PARAM, SUM, LAST, A, B, LATE, FROM, KEPT, TRANSPOSED, N_PORTS };
enum { FIRST_STATE = SUM };

static uint32_t add_port(vt_graph_builder *gb, const char *name, uint32_t kind, vt_type type) {
  const vt_init_info *zeros = vt_init_find("zeros");
  vt_port p = {.name = name, .kind = kind};
  if (kind != VT_PORT_INPUT) p.init = zeros->number;
  if (kind != VT_PORT_INPUT) p.init_attrs = zeros->attrs->defaults;
  return vt_graph_add_port(gb, &p, &type);
}

static void store(vt_graph_builder *gb, uint32_t state, uint32_t next) {
  const vt_type type = *gb->b.type(&gb->b, state);
  vt_graph_set_next(gb, state, vt_build_reshape(&gb->b, next, type.rank, type.dim));
}

/* The stores, and the copies before them, are those of the pass `state`. */
static vt_graph *state_graph(uint32_t out_results[4]) {
  vt_graph_builder gb;
  vt_builder *b = &gb.b;
  vt_graph *g = NULL;
  const vt_type row = {VT_DTYPE_F32, 1, {N}}, square = {VT_DTYPE_F32, 2, {8, 8}};
  static const char *const names[N_PORTS] = {"x", "index", "param", "sum",  "last",      "a",
                                             "b", "late",  "from",  "kept", "transposed"};
  const vt_attr_perm swap = {.size = sizeof swap, .perm = {.n = 2, .v = {1, 0}}};
  const vt_attr_gather first = {.size = sizeof first};
  CHECK(vt_graph_begin(&gb, "states", vt_alloc_default(), NULL) == VT_OK);
  for (uint32_t i = 0; i < N_PORTS; i++)
    add_port(&gb, names[i],
             i < PARAM    ? VT_PORT_INPUT
             : i == PARAM ? VT_PORT_PARAM
                          : VT_PORT_STATE,
             i == TRANSPOSED ? square
             : i == INDEX    ? (vt_type){VT_DTYPE_I64, 1, {N}}
                             : row);
  const uint32_t late =
      vt_build2(b, VT_OP_add, LATE, b->node(b, VT_OP_gather, (uint32_t[]){X, INDEX}, 2, &first));
  const uint32_t sum = vt_build2(b, VT_OP_add, SUM, X);
  out_results[0] = vt_build1(b, VT_OP_neg, sum);
  out_results[1] = vt_build2(b, VT_OP_sub, LATE, A);
  out_results[2] = vt_build2(b, VT_OP_add, KEPT, B);
  const uint32_t transposed = b->node(b, VT_OP_transpose, &(uint32_t){TRANSPOSED}, 1, &swap);
  const uint32_t a = vt_build_reshape(b, B, 1, row.dim), c = vt_build_reshape(b, A, 1, row.dim);
  out_results[3] = a; /* the old value of b */
  for (uint32_t i = 0; i < 4; i++) {
    const char name[3] = {'r', (char)('0' + i), 0};
    vt_graph_add_result(&gb, name, out_results[i]);
  }
  vt_graph_set_next(&gb, KEPT, KEPT);
  store(&gb, SUM, sum);
  store(&gb, LAST, X);
  store(&gb, A, a);
  store(&gb, B, c);
  store(&gb, LATE, late);
  store(&gb, FROM, PARAM);
  store(&gb, TRANSPOSED, transposed);
  CHECK(vt_graph_freeze(&gb, &g) == VT_OK);
  if (g == NULL) exit(1); /* the tests cannot go on without a graph */
  return g;
}

/* ---- the model in plain loops ---- */

typedef struct values { /* of ports and results; numbers are small and whole, so sums are exact */
  float port[N_PORTS][N], result[4][N];
  int64_t index[N];
} values;

static void set_first_values(values *v) {
  for (int p = 0; p < N_PORTS; p++)
    for (int i = 0; i < N; i++) v->port[p][i] = (float)((i * 7 + p * 31) % 53 - 26);
}

static void set_inputs(values *v, int run) {
  for (int i = 0; i < N; i++) {
    v->port[X][i] = (float)((i * 5 + run * 17) % 41 - 20);
    v->index[i] = (i * 3 + run) % N;
  }
}

static void compute_run(values *v) {
  float transposed[64];
  for (int i = 0; i < 64; i++) transposed[i] = v->port[TRANSPOSED][i % 8 * 8 + i / 8];
  memcpy(v->port[TRANSPOSED], transposed, sizeof transposed);
  for (int i = 0; i < N; i++) {
    const float a = v->port[A][i], b = v->port[B][i];
    v->result[1][i] = v->port[LATE][i] - a;
    v->result[2][i] = v->port[KEPT][i] + b;
    v->result[3][i] = b;
    v->port[SUM][i] += v->port[X][i];
    v->result[0][i] = -v->port[SUM][i];
    v->port[LATE][i] += v->port[X][v->index[i]];
    v->port[LAST][i] = v->port[X][i];
    v->port[FROM][i] = v->port[PARAM][i];
    v->port[A][i] = b;
    v->port[B][i] = a;
  }
}

/* ---- runs ---- */

typedef struct session {
  vt_graph *g;
  vt_device *dev;
  vt_plan *p;
  vt_exec *x;
  uint32_t results[4];
} session;

static void begin_session(session *t, const char *device, const vt_plan_options *o) {
  vt_diag d = {0};
  t->g = state_graph(t->results);
  CHECK(vt_device_open(device, vt_alloc_default(), &t->dev, NULL) == VT_OK);
  if (t->dev == NULL) exit(1);
  const vt_target target = vt_device_target(t->dev);
  CHECK(vt_plan_build(t->g, o, &target, vt_alloc_default(), &t->p, &d) == VT_OK);
  CHECK(t->p != NULL && vt_exec_new(t->dev, t->p, vt_alloc_default(), &t->x, &d) == VT_OK);
  if (t->x == NULL) fprintf(stderr, "  %s: %s\n", device, d.text);
  if (t->x == NULL) exit(1);
}

static void end_session(session *t) {
  vt_exec_free(t->x);
  vt_plan_free(t->p);
  vt_device_close(t->dev);
  vt_graph_free(t->g);
}

static void write_inputs(session *t, const values *v) {
  CHECK(vt_exec_write(t->x, X, v->port[X], NULL) == VT_OK);
  CHECK(vt_exec_write(t->x, INDEX, v->index, NULL) == VT_OK);
}

static void check_states(session *t, const values *want, const char *device) {
  for (uint32_t s = FIRST_STATE; s < N_PORTS; s++) {
    float have[N] = {0};
    CHECK(vt_exec_read(t->x, s, have, NULL) == VT_OK);
    const int same = memcmp(have, want->port[s], (size_t)t->p->buffers[s].bytes) == 0;
    CHECK(same);
    if (!same) fprintf(stderr, "  state %s on %s\n", t->g->ports[s].name, device);
  }
}

static void check_results(session *t, const values *want) {
  for (uint32_t i = 0; i < 4; i++) {
    float have[N] = {0};
    CHECK(vt_exec_read(t->x, t->results[i], have, NULL) == VT_OK);
    CHECK(memcmp(have, want->result[i], sizeof have) == 0);
  }
}

/* Runs several times and compares all states and results; then a run fails at an index out of
 * range, which in the safe mode changes no state, and one more run works. */
static void check_runs(const char *device, const vt_plan_options *o) {
  static values v;
  session t = {0};
  begin_session(&t, device, o);
  set_first_values(&v);
  for (uint32_t s = PARAM; s < N_PORTS; s++) CHECK(vt_exec_write(t.x, s, v.port[s], NULL) == VT_OK);
  for (int run = 0; run < RUNS; run++) {
    set_inputs(&v, run);
    write_inputs(&t, &v);
    CHECK(vt_exec_run(t.x, NULL) == VT_OK && !vt_exec_may_have_written_state(t.x));
    compute_run(&v);
    check_states(&t, &v, device);
    check_results(&t, &v);
  }
  if (o->safe_state) {
    values wrong = v;
    wrong.index[7] = N;
    write_inputs(&t, &wrong);
    CHECK(vt_exec_run(t.x, NULL) == VT_RANGE && !vt_exec_may_have_written_state(t.x));
    check_states(&t, &v, device);
    write_inputs(&t, &v);
    CHECK(vt_exec_run(t.x, NULL) == VT_OK);
    compute_run(&v);
    check_states(&t, &v, device);
  }
  end_session(&t);
}

int main(void) {
  static const char *const devices[] = {"reference:0", "reference:1", "island:0",
                                        "island:1",    "cpu:0",       "cuda:0"};
  const char *all = "*";
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    vt_device *dev = NULL;
    const int there = vt_device_open(devices[i], vt_alloc_default(), &dev, NULL) == VT_OK;
    vt_device_close(dev);
    if (!there) printf("SKIPPED on %s: it is not available here\n", devices[i]);
    for (uint32_t k = 0; there && k < 8; k++) {
      const vt_plan_options o = {
          .schedule = k & 1, .safe_state = k >> 1 & 1, .n_stream = k >> 2, .stream = &all};
      check_runs(devices[i], &o);
    }
  }
  TEST_DONE();
}
