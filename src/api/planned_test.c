/* SPDX-License-Identifier: Apache-2.0
 * planned_test.c - the plan of vt_planned_new is the plan that runs, to the byte. An allocator that
 * records every request shows that the buffers of a program are as large as the memory classes of
 * the plan, and that a run allocates nothing. With VOLTA_TEST_FULL also for GPT-2. A job is an
 * example model with its options; a lifetime is a block of memory with the steps that use it. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "volta/volta_tools.h"
#include "vt_test.h"

/* ---- an allocator that records requests ---- */

enum { MOST_REQUESTS = 1 << 20 };
typedef struct ledger {
  size_t *size; /* bytes of each request, in order; a release is recorded as 0 */
  uint32_t n;   /* number of requests */
  long live;    /* blocks that are not released yet */
} ledger;

static void *record_request(void *user, void *p, size_t old_size, size_t new_size) {
  ledger *l = user;
  (void)old_size;
  if (l->n < MOST_REQUESTS) l->size[l->n++] = new_size;
  l->live += (p == NULL) - (new_size == 0);
  if (new_size != 0) return realloc(p, new_size);
  free(p);
  return NULL;
}

static uint64_t largest_request(const ledger *l) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < l->n; i++)
    if (l->size[i] > most) most = l->size[i];
  return most;
}

/* ---- jobs ---- */

typedef struct job {
  const char *path, *stream, *schedule;
  uint32_t n_bind;
  vt_binding bind[2];
} job;

static vt_options options_of_job(const job *j, const vt_alloc *a) {
  return (vt_options){.size = sizeof(vt_options),
                      .n_bind = j->n_bind,
                      .bind = j->bind,
                      .backend = "reference:0",
                      .alloc = a,
                      .schedule = j->schedule,
                      .stream = j->stream};
}

static void exit_unless_ok(vt_status s, const vt_diag *d, const char *what) {
  CHECK(s == VT_OK);
  if (s == VT_OK) return;
  fprintf(stderr, "  %s: %s\n", what, d->text);
  exit(1); /* the rest of the test needs what failed here */
}

/* ---- buffers ---- */

/* Bytes that the reference adds to each buffer: its size and start, and space to align it. */
enum { HEADER = 16 + 64 };

static uint64_t class_bytes(const vt_plan_info *info, uint32_t class) {
  return class < 8 ? info->bytes[class] : class == 8 ? info->bytes_state : info->bytes_backend;
}

/* Returns the bytes of arena number `arena`, a sum over the memory classes in it; 0 if the class of
 * that number is in the arena of another class. */
static uint64_t arena_bytes(const vt_plan_info *info, uint32_t arena) {
  uint64_t bytes = 0;
  for (uint32_t c = 0; c < VT_MEMORY_CLASSES; c++)
    if (vt_memory_class_arena(c) == arena) bytes += class_bytes(info, c);
  return bytes;
}

/* Returns how often the recorded requests have, one after the other, the sizes of the arenas on the
 * device and then of those in host memory. */
static uint32_t count_full_buffer_sets(const ledger *l, const vt_plan_info *info) {
  uint64_t want[VT_MEMORY_CLASSES];
  uint32_t n = 0, found = 0;
  for (uint32_t c = 0; c < 7; c++) want[n++] = arena_bytes(info, c) + HEADER;
  for (uint32_t c = 0; c < VT_MEMORY_CLASSES; c++)
    if (!vt_memory_class_on_device(c) && class_bytes(info, c) != 0)
      want[n++] = class_bytes(info, c);
  for (uint32_t i = 0; i + n <= l->n; i++) {
    uint32_t k = 0;
    while (k < n && l->size[i + k] == want[k]) k++;
    found += k == n;
  }
  return found;
}

/* Makes a plan that is only inspected; returns its sums and its text. */
static vt_plan_info make_inspected_plan(const vt_model *m, const job *j, ledger *l,
                                        char **out_text) {
  const vt_alloc a = {l, record_request};
  const vt_options o = options_of_job(j, &a);
  vt_plan_info info = {.size = sizeof info};
  vt_planned *p = NULL;
  vt_diag d = {0};
  exit_unless_ok(vt_planned_new(m, &o, &p, &d), &d, "planning");
  vt_planned_info(p, &info);
  const size_t n = strlen(vt_planned_text(p)) + 1;
  *out_text = malloc(n);
  if (*out_text == NULL) exit(1);
  memcpy(*out_text, vt_planned_text(p), n);
  vt_planned_free(p);
  CHECK(l->live == 0);
  return info;
}

static void check_runs_allocate_nothing(vt_program *p, ledger *l) {
  vt_diag d = {0};
  exit_unless_ok(vt_program_init_params(p, 0, &d), &d, "parameters");
  exit_unless_ok(vt_program_random_inputs(p, 7, &d), &d, "inputs");
  l->n = 0;
  exit_unless_ok(vt_program_run(p, &d), &d, "the first run");
  exit_unless_ok(vt_program_run(p, &d), &d, "the second run");
  CHECK(l->n == 0); /* the two runs allocated and released nothing */
}

static void check_plan_matches_buffers(const job *j, ledger *l) {
  const vt_alloc a = {l, record_request};
  vt_model *m = NULL;
  vt_program *p = NULL;
  char *text = NULL;
  vt_diag d = {0};
  vt_run_info cost = {.size = sizeof cost};
  exit_unless_ok(vt_model_read(j->path, NULL, &m, &d), &d, j->path);
  *l = (ledger){.size = l->size};
  const vt_plan_info info = make_inspected_plan(m, j, l, &text);
  CHECK(count_full_buffer_sets(l, &info) ==
        0); /* no program exists, so none of its buffers is allocated */
  CHECK(info.peak < UINT64_C(1) << 26 || largest_request(l) < info.peak / 8);
  *l = (ledger){.size = l->size};
  const vt_options o = options_of_job(j, &a);
  exit_unless_ok(vt_program_new(m, &o, &p, &d), &d, "opening");
  CHECK(count_full_buffer_sets(l, &info) == 1);
  CHECK(strcmp(text, vt_program_plan(p)) == 0);
  vt_program_info(p, &cost);
  CHECK(cost.bytes_input + cost.bytes_param + cost.bytes_temp + cost.bytes_output == info.peak);
  check_runs_allocate_nothing(p, l);
  vt_program_free(p);
  CHECK(l->live == 0);
  vt_model_free(m);
  free(text);
}

static void test_buffer_sizes(ledger *l) {
  static const job jobs[] = {
      {"examples/mlp.vt", NULL, NULL, 1, {{"B", 3}}},
      {"examples/mlp.vt", "all", "memory", 1, {{"B", 3}}},
      {"examples/cnn.vt", NULL, NULL, 1, {{"B", 2}}},
      {"examples/lstm.vt", "all", NULL, 2, {{"B", 2}, {"T", 4}}},
      {"examples/tiny_transformer.vt", NULL, NULL, 2, {{"B", 1}, {"T", 16}}},
      {"examples/tiny_transformer.vt", "wpe,head.weight", "memory", 2, {{"B", 2}, {"T", 3}}}};
  static const job gpt2 = {"examples/gpt2_124m.vt", NULL, NULL, 2, {{"B", 1}, {"T", 16}}};
  for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) check_plan_matches_buffers(&jobs[i], l);
  if (getenv("VOLTA_TEST_FULL") != NULL) check_plan_matches_buffers(&gpt2, l);
}

/* ---- lifetimes, steps and sums ---- */

static vt_planned *plan_job_on(const job *j, const char *backend) {
  vt_options o = options_of_job(j, NULL);
  vt_model *m = NULL;
  vt_planned *p = NULL;
  vt_diag d = {0};
  o.backend = backend;
  exit_unless_ok(vt_model_read(j->path, NULL, &m, &d), &d, j->path);
  exit_unless_ok(vt_planned_new(m, &o, &p, &d), &d, "planning");
  vt_model_free(m); /* the plan does not need its model any longer */
  return p;
}

/* Checks that two lifetimes of one arena that share a step do not overlap in memory. */
static void check_no_overlap(const vt_plan_lifetime *a, const vt_plan_lifetime *b) {
  const int together =
      vt_memory_class_arena(a->memory_class) == vt_memory_class_arena(b->memory_class) &&
      a->first <= b->last && b->first <= a->last;
  const int disjoint = a->offset + a->bytes <= b->offset || b->offset + b->bytes <= a->offset;
  CHECK(!together || disjoint);
}

static const job transformer = {
    "examples/tiny_transformer.vt", "wpe", NULL, 2, {{"B", 2}, {"T", 16}}};

/* Checks that each lifetime is inside its arena, and that any two that share a step are disjoint in
 * memory. */
static void check_lifetimes(const job *j, const char *backend) {
  vt_planned *p = plan_job_on(j, backend);
  vt_plan_info info = {.size = sizeof info};
  const uint32_t n = vt_planned_lifetimes(p);
  uint64_t top[VT_MEMORY_CLASSES] = {0};
  vt_planned_info(p, &info);
  CHECK(n > info.steps / 2);
  for (uint32_t i = 0; i < n; i++) {
    vt_plan_lifetime a = {.size = sizeof a}, b = {.size = sizeof b};
    CHECK(vt_planned_lifetime(p, i, &a) == VT_OK && a.bytes > 0 && a.name[0] != 0);
    CHECK(a.first <= a.last && a.first < info.steps && a.last <= info.steps);
    uint64_t *end = &top[vt_memory_class_arena(a.memory_class)];
    if (a.offset + a.bytes > *end) *end = a.offset + a.bytes;
    for (uint32_t k = 0; k < i; k++)
      if (vt_planned_lifetime(p, k, &b) == VT_OK) check_no_overlap(&a, &b);
  }
  /* The size of an arena is rounded up, so it may exceed the end of its last lifetime. */
  for (uint32_t c = 0; c < VT_MEMORY_CLASSES; c++)
    CHECK(top[c] <= arena_bytes(&info, c) && arena_bytes(&info, c) - top[c] < 256);
  vt_planned_free(p);
}

/* Checks plans with parameters copied from host memory, with scratch, and with bodies. */
static void test_lifetimes(void) {
  static const job images = {"examples/cnn.vt", NULL, NULL, 1, {{"B", 2}}};
  static const job cells = {"examples/lstm.vt", "all", "memory", 2, {{"B", 8}, {"T", 16}}};
  check_lifetimes(&transformer, "reference:0");
  check_lifetimes(&transformer, "island:1");
  check_lifetimes(&images, "reference:0");
  check_lifetimes(&cells, "reference:0");
}

/* Returns the most bytes in use at one step, computed from the lifetimes. */
static uint64_t max_live_bytes(const vt_planned *p, uint32_t steps) {
  uint64_t most = 0;
  for (uint32_t i = 0; i < steps; i++) {
    vt_plan_lifetime s = {.size = sizeof s};
    uint64_t alive = 0;
    for (uint32_t k = 0; vt_planned_lifetime(p, k, &s) == VT_OK; k++)
      if (s.first <= i && i <= s.last && vt_memory_class_on_device(s.memory_class))
        alive += s.bytes;
    if (alive > most) most = alive;
  }
  return most;
}

/* On a target that takes no strides, the lifetimes include the dense copies of views. */
static void test_dense_copy_lifetimes(void) {
  vt_planned *p = plan_job_on(&transformer, "island:1");
  vt_plan_info info = {.size = sizeof info};
  vt_plan_lifetime s = {.size = sizeof s};
  uint32_t n = 0;
  vt_planned_info(p, &info);
  for (uint32_t i = 0; vt_planned_lifetime(p, i, &s) == VT_OK; i++) {
    const char *end = strstr(s.name, " dense");
    if (end == NULL || end[6] != 0) continue;
    CHECK(strcmp(vt_memory_class(s.memory_class), "workspace") == 0 && s.type[0] != 0);
    CHECK(s.last < info.steps);
    n++;
  }
  CHECK(info.dense_copies > 0 && n == info.dense_copies);
  vt_planned_free(p);
}

static void check_max_live_bytes(const job *j, const char *backend) {
  vt_planned *p = plan_job_on(j, backend);
  vt_plan_info info = {.size = sizeof info};
  vt_planned_info(p, &info);
  CHECK(max_live_bytes(p, info.steps) == info.live);
  vt_planned_free(p);
}

/* The plan's number `live` is the most bytes in use at one step. At that step the encoder has dense
 * copies, and the transformer has a parameter copied for a whole group. */
static void test_max_live_bytes(void) {
  static const job encoder = {"examples/encoder.vt", NULL, NULL, 2, {{"B", 2}, {"T", 16}}};
  static const job streamed = {
      "examples/tiny_transformer.vt", "all", NULL, 2, {{"B", 2}, {"T", 16}}};
  check_max_live_bytes(&encoder, "reference:0");
  check_max_live_bytes(&encoder, "island:1");
  check_max_live_bytes(&streamed, "reference:0");
  check_max_live_bytes(&streamed, "island:1");
}

static void test_caller_struct_sizes(void) {
  vt_planned *p = plan_job_on(&transformer, "reference:0");
  vt_plan_info info = {.size = sizeof info}, part = {.size = 12, .steps = 99};
  vt_plan_lifetime s = {.size = 5}, whole = {.size = sizeof whole}, early, longer[2];
  vt_planned_info(p, &info);
  CHECK(vt_planned_step(p, info.steps) == NULL && vt_planned_step(p, info.steps - 1) != NULL);
  CHECK(vt_planned_lifetime(p, vt_planned_lifetimes(p), &s) == VT_NAME && s.size == 5);
  vt_planned_info(p, &part); /* for a caller with the smaller struct of an older header */
  CHECK(part.nodes == info.nodes && part.steps == info.steps && part.views == 0);
  CHECK(vt_planned_lifetime(p, 0, &whole) == VT_OK && whole.size == sizeof whole);
  memset(&early, 0x5a, sizeof early);
  early.size = offsetof(vt_plan_lifetime, bytes);
  CHECK(vt_planned_lifetime(p, 0, &early) == VT_OK && early.offset == whole.offset);
  CHECK(early.size == offsetof(vt_plan_lifetime, bytes) && early.last == whole.last);
  /* A field beyond the caller's struct stays unchanged. */
  CHECK(early.bytes == UINT64_C(0x5a5a5a5a5a5a5a5a));
  memset(longer, 0x5a, sizeof longer);
  longer[0].size = sizeof longer; /* for a caller with the larger struct of a newer header */
  CHECK(vt_planned_lifetime(p, 0, longer) == VT_OK && longer[0].size == sizeof longer);
  CHECK(longer[0].name == whole.name && longer[1].size == 0x5a5a5a5a);
  CHECK(strcmp(vt_planned_backend(p), "reference:0") == 0);
  CHECK(vt_memory_class(VT_MEMORY_CLASSES) == NULL && vt_memory_class_on_device(99) == 0);
  /* The parameter wpe stays in host memory. */
  CHECK(info.transfers == 3 && info.bytes[7] == 65536 && info.bytes_state == 0);
  CHECK(strcmp(vt_memory_class(8), "state") == 0 && vt_memory_class_arena(8) == 3);
  CHECK(info.peak >= info.live);
  vt_planned_free(p);
  vt_planned_free(NULL);
}

/* ---- states ---- */

static const char cached_model[] =
    "volta 1\nmodel m {\n  input x: f32[2, 4]\n  state k: f32[16, 4] = zeros\n"
    "  state n: i64[] = zeros\n  i = reshape(iota(shape=[2], dtype=i64) + n, shape=[2, 1])\n"
    "  cached = scatter_nd(k, i, x)\n  y = sum(cached, axes=[0])\n"
    "  next k = cached\n  next n = n + 2\n  output y\n}\n";

static vt_planned *plan_with_state_mode(const char *mode, vt_status want, vt_diag *d) {
  const vt_options o = {.size = sizeof o, .backend = "reference:0", .state_mode = mode};
  vt_model *m = NULL;
  vt_planned *p = NULL;
  exit_unless_ok(vt_model_parse(cached_model, strlen(cached_model), NULL, &m, d), d, "the model");
  CHECK(vt_planned_new(m, &o, &p, d) == want && (p != NULL) == (want == VT_OK));
  if (want == VT_OK && p == NULL) exit_unless_ok(d->code, d, "planning");
  vt_model_free(m);
  return p;
}

/* States have a class of their own, which counts in the peak; each has one lifetime, over the whole
 * run. Both are written in place, unless they are kept safe. */
static void test_class_of_states(void) {
  static const char *const modes[] = {NULL, "in_place", "safe"};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    vt_diag d = {0};
    vt_planned *p = plan_with_state_mode(modes[i], VT_OK, &d);
    vt_plan_info info = {.size = sizeof info};
    uint32_t states = 0;
    uint64_t all = 0;
    vt_planned_info(p, &info);
    for (uint32_t c = 0; c < VT_MEMORY_CLASSES; c++)
      if (vt_memory_class_on_device(c)) all += class_bytes(&info, c);
    CHECK(info.bytes_state == 256 + 256 && info.peak == all);
    CHECK((strstr(vt_planned_text(p), "\n  state_mode safe\n") != NULL) == (i == 2));
    CHECK((strstr(vt_planned_text(p), ": cached = scatter_nd(") != NULL));
    CHECK((strstr(vt_planned_text(p), " = reshape(cached, ") != NULL) == (i == 2));
    for (uint32_t k = 0; k < vt_planned_lifetimes(p); k++) {
      vt_plan_lifetime l = {.size = sizeof l};
      CHECK(vt_planned_lifetime(p, k, &l) == VT_OK);
      if (strcmp(vt_memory_class(l.memory_class), "state") != 0) continue;
      CHECK(strcmp(l.name, states == 0 ? "k" : "n") == 0 && l.offset == 256 * states);
      CHECK(l.first == 0 && l.last == info.steps);
      states++;
    }
    CHECK(states == 2);
    vt_planned_free(p);
  }
  vt_diag d = {0};
  (void)plan_with_state_mode("sure", VT_USAGE, &d);
  CHECK(strcmp(d.text, "there is no mode of states 'sure'; there are: in_place, safe") == 0);
}

static void test_budget_of_peak_suffices(void) {
  job j = {"examples/mlp.vt", NULL, NULL, 1, {{"B", 3}}};
  vt_options o = options_of_job(&j, NULL);
  vt_plan_info info = {.size = sizeof info};
  vt_model *m = NULL;
  vt_planned *p = NULL, *none = NULL;
  vt_diag d = {0};
  exit_unless_ok(vt_model_read(j.path, NULL, &m, &d), &d, j.path);
  exit_unless_ok(vt_planned_new(m, &o, &p, &d), &d, "planning");
  vt_planned_info(p, &info);
  vt_planned_free(p);
  o.memory_budget = info.peak - 1;
  CHECK(vt_planned_new(m, &o, &none, &d) == VT_BUDGET && none == NULL && d.code == VT_BUDGET);
  o.memory_budget = info.peak;
  CHECK(vt_planned_new(m, &o, &p, NULL) == VT_OK);
  vt_planned_free(p);
  vt_model_free(m);
}

int main(void) {
  ledger l = {.size = malloc(MOST_REQUESTS * sizeof *l.size)};
  if (l.size == NULL) return 1;
  test_buffer_sizes(&l);
  test_lifetimes();
  test_dense_copy_lifetimes();
  test_max_live_bytes();
  test_caller_struct_sizes();
  test_class_of_states();
  test_budget_of_peak_suffices();
  free(l.size);
  TEST_DONE();
}
