/* SPDX-License-Identifier: Apache-2.0
 * cache_test.c - a cache gives the same results as no cache: plans, hashes, outputs, and the line
 * that the message of a failing step names. Also what the key of a plan contains, forced collisions
 * of file names, limits, threads and failed allocations. A report is all that a program tells about
 * itself. */
#include <pthread.h>
#include <time.h>
#include "cache_test.h"
#include "plan_key.h"

static const vt_binding two[] = {{"B", 2}};

/* ---- the same results with and without a cache ---- */

typedef struct report {
  char *plan, *last; /* texts of the plan and of the graph after the last pass */
  /* Digests of the plan and of the run, and the hash of the graph after each pass. */
  uint8_t core[32], target[32], digest[32], pass[VT_PASS_COUNT][32];
  uint32_t passes;
} report;

static void fill_report(vt_program *p, report *r) {
  const char *last = NULL;
  r->plan = strdup(vt_program_plan(p));
  vt_program_plan_digest(p, r->core, r->target);
  r->passes = vt_program_passes(p);
  for (uint32_t i = 0; i < r->passes && i < VT_PASS_COUNT; i++) {
    last = vt_program_pass(p, i);
    CHECK(vt_program_pass_hash(p, last, r->pass[i]) == VT_OK);
  }
  last = vt_program_pass_text(p, last);
  r->last = strdup(last != NULL ? last : "");
}

static report run_program(const vt_model *m, vt_options o, vt_cache *c) {
  report r = {0};
  vt_program *p = NULL;
  vt_diag d = {0};
  o.size = sizeof o;
  o.cache = c;
  vt_status s = vt_program_new(m, &o, &p, &d);
  if (s == VT_OK) fill_report(p, &r);
  if (s == VT_OK) s = vt_program_init_params(p, 0, &d);
  if (s == VT_OK) s = vt_program_random_inputs(p, 7, &d);
  if (s == VT_OK) s = vt_program_run(p, &d);
  if (s == VT_OK) s = vt_program_digest(p, r.digest, &d);
  CHECK(s == VT_OK);
  if (s != VT_OK) fprintf(stderr, "%s\n", d.text);
  vt_program_free(p);
  return r;
}

/* Checks that both reports are equal; frees the texts of `b`. */
static void check_equal_then_free_second(report a, report b) {
  CHECK(a.plan != NULL && b.plan != NULL && strcmp(a.plan, b.plan) == 0);
  CHECK(a.last != NULL && b.last != NULL && strcmp(a.last, b.last) == 0 && a.last[0] != 0);
  CHECK(a.passes == b.passes && memcmp(a.pass, b.pass, sizeof a.pass) == 0);
  CHECK(memcmp(a.core, b.core, 32) == 0 && memcmp(a.target, b.target, 32) == 0);
  CHECK(memcmp(a.digest, b.digest, 32) == 0);
  free(b.plan);
  free(b.last);
}

/* Runs the model without a cache, with an empty cache, with the plan in memory, and with the plan
 * on disk; checks that all reports are equal. */
static void check_cached_run(const vt_model *m, vt_options o) {
  vt_cache *first = new_cache(folder, 0, 0, VT_CACHE_DIGITS);
  const report plain = run_program(m, o, NULL);
  check_equal_then_free_second(plain, run_program(m, o, first));
  check_equal_then_free_second(plain, run_program(m, o, first));
  vt_cache_counts n = read_counts(first);
  CHECK(n.misses == 1 && n.hits_memory == 1 && n.hits_disk == 0 && n.stored == 1);
  vt_cache_free(first);
  vt_cache *second = new_cache(folder, 0, 0, VT_CACHE_DIGITS);
  check_equal_then_free_second(plain, run_program(m, o, second));
  n = read_counts(second);
  CHECK(n.misses == 0 && n.hits_memory == 0 && n.hits_disk == 1 && n.ignored == 0);
  if (n.ignored != 0) fprintf(stderr, "%s\n", n.reason);
  vt_cache_free(second);
  free(plain.plan);
  free(plain.last);
}

typedef struct example {
  const char *path;
  int64_t b, t; /* sizes of the dims B and T; t is 0 if the model has no T */
  int runs;     /* 1: the model is small enough to run in this test */
} example;

static void check_cached_plan(const vt_model *m, vt_options o) {
  vt_cache *c = new_cache(folder, 0, 0, VT_CACHE_DIGITS);
  CHECK(gives_same_plan(m, o, c) && gives_same_plan(m, o, c) && read_counts(c).hits_memory == 1);
  vt_cache_free(c);
  c = new_cache(folder, 0, 0, VT_CACHE_DIGITS);
  CHECK(gives_same_plan(m, o, c) && read_counts(c).hits_disk == 1);
  vt_cache_free(c);
}

static void check_cached_example(const example *e) {
  static const vt_options settings[] = {
      {.backend = "reference:0"},
      {.backend = "reference:0", .schedule = "memory"},
      {.backend = "reference:1", .schedule = "memory"},
      {.backend = "island:0", .stream = "all"},
      {.backend = "island:1"},
      {.backend = "island:1", .schedule = "memory", .stream = "all"},
  };
  const vt_binding bind[] = {{"B", e->b}, {"T", e->t}};
  vt_model *m = NULL;
  CHECK(vt_model_read(e->path, NULL, &m, NULL) == VT_OK);
  for (size_t i = 0; m != NULL && i < sizeof settings / sizeof *settings; i++) {
    vt_options o = settings[i];
    o.bind = bind;
    o.n_bind = e->t != 0 ? 2 : 1;
    (e->runs ? check_cached_run : check_cached_plan)(m, o);
  }
  vt_model_free(m);
}

static void test_cached_examples(void) {
  static const example examples[] = {
      {"examples/mlp.vt", 2, 0, 1},       {"examples/tiny_transformer.vt", 1, 4, 1},
      {"examples/lstm.vt", 1, 3, 1},      {"examples/encoder.vt", 1, 3, 1},
      {"examples/quant_mlp.vt", 2, 0, 1}, {"examples/cnn.vt", 1, 0, 0},
      {"examples/resnet18.vt", 1, 0, 0},  {"examples/gpt2_124m.vt", 1, 8, 0},
  };
  folder_new();
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
    check_cached_example(&examples[i]);
  folder_done();
}

/* ---- the key of a plan ---- */

/* Returns the number of misses when this plan is requested: 1 if its key is new, else 0. */
static uint64_t count_misses(vt_cache *c, const vt_model *m, vt_options o) {
  const uint64_t before = read_counts(c).misses;
  CHECK(gives_same_plan(m, o, c));
  return read_counts(c).misses - before;
}

static void test_what_changes_key(void) {
  static const vt_binding three[] = {{"B", 3}};
  const vt_options o = {.bind = two, .n_bind = 1, .backend = "reference"};
  vt_model *m = parse_model(small_model);
  char text[sizeof small_model + 2] = "\n";
  strcat(text, small_model);
  vt_model *lower = parse_model(text); /* the text of `m` moved down by one line */
  vt_cache *c = new_cache(NULL, 0, 0, VT_CACHE_DIGITS);
  vt_options x = o;
  CHECK(count_misses(c, m, o) == 1 && count_misses(c, m, o) == 0);
  /* `lower` has another key, because messages of its failing steps name other lines. */
  CHECK(count_misses(c, lower, o) == 1);
  x.bind = three;
  CHECK(count_misses(c, m, x) == 1);
  x = o, x.schedule = "memory";
  CHECK(count_misses(c, m, x) == 1);
  x = o, x.schedule = "source";
  CHECK(count_misses(c, m, x) == 0);
  x = o, x.stream = "w";
  CHECK(count_misses(c, m, x) == 1);
  x = o, x.passes = "bind,lower";
  CHECK(count_misses(c, m, x) == 1);
  x = o, x.passes = "bind,lower,dead,fold";
  CHECK(count_misses(c, m, x) == 1);
  x = o, x.passes = "bind,lower,fold,dead";
  CHECK(count_misses(c, m, x) == 1);
  x = o, x.backend = "reference:1";
  CHECK(count_misses(c, m, x) == 1);
  x = o, x.backend = "island:0";
  CHECK(count_misses(c, m, x) == 1);
  x = o, x.backend = "reference";
  CHECK(count_misses(c, m, x) == 0);
  x = o, x.memory_budget = (uint64_t)1 << 40;
  CHECK(count_misses(c, m, x) == 0);
  vt_cache_free(c);
  vt_model_free(lower);
  vt_model_free(m);
}

/* Checks the text of the key for parts in which no two backends of this test differ. */
static void test_key_parts(void) {
  static const char *const parts[] = {
      "\nnumerics 1\n",
      VT_VERSION,
      "\nsources ",
      "\npass bind\npass lower\n",
      "\nschedule 1\nsafe_state 0\n",
      "\nbind 1:B 2\n",
      "\nstream 1:w\n",
      "\nbackend 6:island\n",
      "\nfingerprint 14:island-1 dense\n",
      "\ndense_only 1\n",
      "\nlists ",
      "\nplaces 7:",
      "\nmodel\nvolta 1\nmodel small {\n  dim B\n",
  };
  static const char *const streamed[] = {"w"};
  const vt_plan_options plan = {.schedule = VT_SCHEDULE_MEMORY, .n_stream = 1, .stream = streamed};
  const vt_pass_options passes = {.bind = two, .n_bind = 1};
  vt_model *m = parse_model(small_model);
  vt_device *dev = NULL;
  vt_pass_list list;
  vt_text key;
  vt_text_init(&key, vt_alloc_default());
  CHECK(vt_device_open("island:1", vt_alloc_default(), &dev, NULL) == VT_OK);
  CHECK(vt_pass_list_parse("bind,lower", &list, NULL) == VT_OK);
  CHECK(vt_plan_key(m, &list, &passes, &plan, dev, &key, NULL) == VT_OK);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    CHECK(strstr(key.s, parts[i]) != NULL);
    if (strstr(key.s, parts[i]) == NULL) fprintf(stderr, "'%s' in:\n%s", parts[i], key.s);
  }
  CHECK(strspn(strstr(key.s, "\nsources ") + 9, "0123456789abcdef") == 64);
  vt_text_done(&key);
  vt_device_close(dev);
  vt_model_free(m);
}

/* The order of bindings and of streamed params does not change the key. */
static void test_key_ignores_order(void) {
  static const vt_binding xy[] = {{"X", 2}, {"Y", 3}}, yx[] = {{"Y", 3}, {"X", 2}};
  vt_model *m = parse_model(
      "volta 1\nmodel m {\n  dim X, Y\n  input a: f32[X, Y]\n  param v: f32[Y] = zeros\n"
      "  param w: f32[Y] = ones\n  output b = a * v + w\n}\n");
  vt_cache *c = new_cache(NULL, 0, 0, VT_CACHE_DIGITS);
  CHECK(count_misses(
            c, m, (vt_options){.bind = xy, .n_bind = 2, .backend = "reference", .stream = "v,w"}) ==
        1);
  CHECK(count_misses(
            c, m, (vt_options){.bind = yx, .n_bind = 2, .backend = "reference", .stream = "w,v"}) ==
        0);
  vt_cache_free(c);
  vt_model_free(m);
}

/* The memory budget is checked for a cached plan as for a new one. */
static void test_budget_checked_for_cached_plan(void) {
  vt_model *m = parse_model(small_model);
  vt_cache *c = new_cache(NULL, 0, 0, VT_CACHE_DIGITS);
  vt_options o = {.size = sizeof o, .bind = two, .n_bind = 1, .backend = "reference", .cache = c};
  vt_planned *p = NULL;
  CHECK(gives_same_plan(m, o, c));
  o.memory_budget = 1;
  CHECK(vt_planned_new(m, &o, &p, NULL) == VT_BUDGET && p == NULL);
  CHECK(read_counts(c).hits_memory == 1);
  o.memory_budget = 0;
  o.bind = NULL, o.n_bind = 0;
  CHECK(vt_planned_new(m, &o, &p, NULL) == VT_BIND); /* a failure is not cached */
  CHECK(vt_planned_new(m, &o, &p, NULL) == VT_BIND && read_counts(c).misses == 3);
  vt_cache_free(c);
  vt_model_free(m);
}

/* ---- collisions ---- */

/* With file names of one hexadecimal digit, thirty keys share sixteen files. */
static void test_name_collisions(void) {
  vt_model *m = parse_model(small_model);
  folder_new();
  for (int round = 0; round < 3; round++) {
    vt_cache *c = new_cache(folder, 1, 0, 1); /* with a limit of 1 byte no plan stays in memory */
    for (int64_t b = 1; b <= 30; b++) {
      const vt_binding bind[] = {{"B", b}};
      CHECK(gives_same_plan(m, (vt_options){.bind = bind, .n_bind = 1, .backend = "reference"}, c));
    }
    const vt_cache_counts n = read_counts(c);
    CHECK(n.collisions >= 14 && n.misses >= n.collisions && n.hits_memory == 0 && n.ignored == 0);
    vt_cache_free(c);
  }
  CHECK(for_each_file(NULL) <= 16);
  folder_done();
  vt_model_free(m);
}

/* ---- limits ---- */

/* Requests one plan for each size of the dim B from `first_b` to `last_b`. */
static void request_plans_of_sizes(vt_cache *c, const vt_model *m, int64_t first_b,
                                   int64_t last_b) {
  for (int64_t b = first_b; b <= last_b; b++) {
    const vt_binding bind[] = {{"B", b}};
    CHECK(gives_same_plan(m, (vt_options){.bind = bind, .n_bind = 1, .backend = "reference"}, c));
  }
}

static void test_memory_limit(void) {
  vt_model *m = parse_model(small_model);
  vt_cache *c = new_cache(NULL, 0, 0, VT_CACHE_DIGITS);
  request_plans_of_sizes(c, m, 1, 1);
  const uint64_t one = read_counts(c).bytes_memory;
  CHECK(one > 1000);
  vt_cache_free(c);
  c = new_cache(NULL, one * 4, 0, VT_CACHE_DIGITS);
  request_plans_of_sizes(c, m, 1, 3);
  /* Plan 1 is used again, so that plan 2 becomes the least recently used. */
  request_plans_of_sizes(c, m, 1, 1);
  request_plans_of_sizes(c, m, 4, 5);
  CHECK(read_counts(c).bytes_memory <= one * 4 && read_counts(c).evicted_memory >= 1);
  const uint64_t misses = read_counts(c).misses;
  request_plans_of_sizes(c, m, 1, 1);
  CHECK(read_counts(c).misses == misses);
  request_plans_of_sizes(c, m, 2, 2);
  CHECK(read_counts(c).misses == misses + 1);
  vt_cache_free(c);
  vt_model_free(m);
}

/* The disk limit evicts the plan that was used least recently, not the one that was written
 * first. */
static void test_disk_evicts_least_used(void) {
  static const int64_t order[] = {1, 2, 3, 1, 4, 5};
  const struct timespec tick = {0, 20000000}; /* longer than the resolution of file times */
  vt_model *m = parse_model(small_model);
  folder_new();
  vt_cache *c = new_cache(folder, 1, 0, VT_CACHE_DIGITS);
  request_plans_of_sizes(c, m, 9, 9);
  const uint64_t one = read_counts(c).bytes_disk;
  (void)for_each_file(remove_file);
  vt_cache_free(c);
  c = new_cache(folder, 1, one * 7 / 2, VT_CACHE_DIGITS);
  for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
    request_plans_of_sizes(c, m, order[i], order[i]);
    (void)nanosleep(&tick, NULL);
  }
  CHECK(read_counts(c).hits_disk == 1 && read_counts(c).evicted_disk == 2);
  request_plans_of_sizes(c, m, 1, 1);
  CHECK(read_counts(c).hits_disk == 2);
  vt_cache_free(c);
  folder_done();
  vt_model_free(m);
}

static void test_disk_limit(void) {
  vt_model *m = parse_model(small_model);
  folder_new();
  vt_cache *c = new_cache(folder, 1, 0, VT_CACHE_DIGITS);
  request_plans_of_sizes(c, m, 1, 1);
  const uint64_t one = read_counts(c).bytes_disk;
  vt_cache_free(c);
  c = new_cache(folder, 1, one * 4, VT_CACHE_DIGITS);
  request_plans_of_sizes(c, m, 1, 12);
  vt_cache_counts n = read_counts(c);
  CHECK(n.bytes_disk <= one * 4 && n.evicted_disk >= 8 &&
        for_each_file(NULL) == 12 - (int)n.evicted_disk);
  CHECK(n.stored == 11 && n.hits_disk == 1);
  request_plans_of_sizes(c, m, 12, 12);
  CHECK(read_counts(c).hits_disk == 2); /* the newest plan was not evicted */
  vt_cache_free(c);
  c = new_cache(folder, 1, 100, VT_CACHE_DIGITS); /* a disk limit too small for a single plan */
  request_plans_of_sizes(c, m, 20, 20);
  n = read_counts(c);
  CHECK(n.stored == 0 && n.ignored == 1 && strstr(n.reason, "larger than all") != NULL);
  vt_cache_free(c);
  folder_done();
  vt_model_free(m);
}

/* ---- lifetimes ---- */

/* Programs may outlive their cache. */
static void test_programs_outlive_cache(void) {
  vt_model *m = parse_model(small_model);
  vt_cache *c = new_cache(NULL, 0, 0, VT_CACHE_DIGITS);
  const vt_options o = {
      .size = sizeof o, .bind = two, .n_bind = 1, .backend = "reference", .cache = c};
  vt_program *p[2] = {NULL, NULL};
  uint8_t digest[2][32] = {{1}, {2}};
  for (int i = 0; i < 2; i++) CHECK(vt_program_new(m, &o, &p[i], NULL) == VT_OK);
  vt_cache_free(c);
  vt_model_free(m);
  for (int i = 0; i < 2; i++) {
    CHECK(vt_program_init_params(p[i], 1, NULL) == VT_OK);
    CHECK(vt_program_random_inputs(p[i], 1, NULL) == VT_OK);
    CHECK(vt_program_run(p[i], NULL) == VT_OK && vt_program_digest(p[i], digest[i], NULL) == VT_OK);
    /* Only the last pass of a cached plan has a text. */
    CHECK(vt_program_pass_text(p[i], "lower") == NULL);
    CHECK(vt_program_pass_text(p[i], "state") != NULL);
    vt_program_free(p[i]);
  }
  CHECK(memcmp(digest[0], digest[1], 32) == 0);
}

typedef struct worker {
  pthread_t thread;
  const vt_model *m;
  vt_cache *c;
  uint32_t seed;
  const char *const *expected;
  int wrong;
} worker;

static void *request_random_plans(void *user) {
  worker *w = user;
  for (int i = 0; i < 60; i++) {
    w->seed = w->seed * 1664525 + 1013904223;
    const int64_t b = 1 + (w->seed >> 16) % 6;
    const vt_binding bind[] = {{"B", b}};
    vt_options o = {
        .size = sizeof o, .bind = bind, .n_bind = 1, .backend = "reference", .cache = w->c};
    vt_planned *p = NULL;
    if (vt_planned_new(w->m, &o, &p, NULL) != VT_OK) return w->wrong++, NULL;
    w->wrong += strcmp(vt_planned_text(p), w->expected[b - 1]) != 0;
    vt_planned_free(p);
  }
  return NULL;
}

static void test_cache_in_threads(void) {
  vt_model *m = parse_model(small_model);
  vt_planned *plans[6];
  const char *expected[6];
  worker w[4];
  folder_new();
  for (int64_t b = 1; b <= 6; b++) {
    const vt_binding bind[] = {{"B", b}};
    plans[b - 1] =
        plan_model(m, (vt_options){.bind = bind, .n_bind = 1, .backend = "reference"}, NULL);
    expected[b - 1] = vt_planned_text(plans[b - 1]);
  }
  /* The cache has space for some of the six plans. */
  vt_cache *c = new_cache(folder, 60000, 30000, VT_CACHE_DIGITS);
  for (uint32_t i = 0; i < 4; i++) {
    w[i] = (worker){.m = m, .c = c, .seed = i + 1, .expected = expected};
    CHECK(pthread_create(&w[i].thread, NULL, request_random_plans, &w[i]) == 0);
  }
  for (uint32_t i = 0; i < 4; i++) {
    CHECK(pthread_join(w[i].thread, NULL) == 0);
    CHECK(w[i].wrong == 0);
  }
  const vt_cache_counts n = read_counts(c);
  CHECK(n.hits_memory + n.hits_disk + n.misses == 240 && n.evicted_memory > 0);
  CHECK(n.hits_memory > 0 && n.bytes_memory <= 60000);
  vt_cache_free(c);
  for (int i = 0; i < 6; i++) vt_planned_free(plans[i]);
  folder_done();
  vt_model_free(m);
}

/* ---- failed allocations ---- */

/* Lets each allocation fail in turn: with `of_cache` those of the cache, else those of the plan.
 * The plan is right or the status is VT_NOMEM, and nothing leaks. With `empty_folder` the folder is
 * emptied before each attempt. */
static void fail_allocations(const vt_model *m, int of_cache, int empty_folder,
                             const char *expected) {
  long requests = 1;
  for (long left = 1; left <= requests; left++) {
    vt_fault fault = {.left = left};
    const vt_alloc a = vt_fault_alloc(&fault);
    const vt_cache_options co = {.size = sizeof co, .dir = folder, .alloc = of_cache ? &a : NULL};
    vt_options o = {.size = sizeof o,
                    .bind = two,
                    .n_bind = 1,
                    .backend = "reference",
                    .alloc = of_cache ? NULL : &a};
    vt_planned *p = NULL;
    vt_diag d = {0};
    if (empty_folder) (void)for_each_file(remove_file);
    vt_status s = vt_cache_new(&co, &o.cache, &d);
    if (s == VT_OK) s = vt_planned_new(m, &o, &p, &d);
    CHECK((s == VT_OK && strcmp(vt_planned_text(p), expected) == 0) ||
          (s == VT_NOMEM && d.code == VT_NOMEM && d.text[0] != 0 && p == NULL));
    vt_planned_free(p);
    if (o.cache != NULL) vt_cache_free(o.cache);
    CHECK(fault.live == 0);
    /* Allocation number `left` was reached, so try the next one. */
    if (fault.asked >= left) requests = left + 1;
  }
  CHECK(requests > 20);
}

static void test_failed_allocations(void) {
  vt_model *m = parse_model(small_model);
  vt_planned *p =
      plan_model(m, (vt_options){.bind = two, .n_bind = 1, .backend = "reference"}, NULL);
  folder_new();
  for (int k = 0; k < 4; k++) fail_allocations(m, k & 1, k >> 1, vt_planned_text(p));
  folder_done();
  vt_planned_free(p);
  vt_model_free(m);
}

/* The path of the folder that a backend gets is absolute, so that it is valid after the process
 * changes its working directory; the limit is that of the cache. */
static void test_backend_folder_is_absolute(void) {
  char start[4096];
  uint64_t limit = 0;
  folder_new();
  CHECK(getcwd(start, sizeof start) != NULL && chdir(folder) == 0);
  vt_cache *c = new_cache("cache", 0, 12345, VT_CACHE_DIGITS);
  CHECK(chdir(start) == 0);
  const char *path = vt_cache_folder(c, &limit);
  CHECK(path != NULL && path[0] == '/' && access(path, W_OK) == 0 && limit == 12345);
  CHECK(path != NULL && strncmp(path, folder, strlen(folder)) == 0);
  vt_cache_free(c);
  c = new_cache(folder, 0, 0, VT_CACHE_DIGITS);
  path = vt_cache_folder(c, &limit);
  CHECK(path != NULL && strcmp(path, folder) == 0 && limit == (uint64_t)256 << 20);
  vt_cache_free(c);
  folder_done();
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  test_what_changes_key();
  test_key_parts();
  test_key_ignores_order();
  test_budget_checked_for_cached_plan();
  test_name_collisions();
  test_memory_limit();
  test_disk_limit();
  test_disk_evicts_least_used();
  test_programs_outlive_cache();
  test_cache_in_threads();
  test_failed_allocations();
  test_backend_folder_is_absolute();
  test_cached_examples();
  TEST_DONE();
}
