/* SPDX-License-Identifier: Apache-2.0
 * shared_threads_test.c - several threads share one loaded model and one cache. Each thread makes
 * its own programs on every backend and runs them with its own inputs. Some threads have a hostile
 * floating-point mode, or a progress callback that sets one. All bits are right, every call goes
 * through the gateway, and every thread gets its mode back. */
#include <pthread.h>
#include "wrapped_test.h"

enum { THREADS = 6, SEEDS = 5, RUNS = 3 };
static const char *const backends[] = {"reference:0", "reference:1", "cpu:0",  "island:0",
                                       "island:1",    "fake:0",      "fake:1", "gpu"};
enum { BACKENDS = sizeof backends / sizeof *backends };

static vt_model *model;
static vt_cache *cache;
static uint8_t expected[SEEDS][32];
static _Atomic uint32_t reports; /* number of calls of the progress callback */

static void change_mode_in_callback(void *user, const char *what, uint64_t done, uint64_t total) {
  (void)user, (void)what, (void)done, (void)total;
  reports++;
  hostile_write_words(hostile_worst_words());
}

static vt_status set_random_input(vt_program *p, uint64_t seed, vt_diag *d) {
  float data[40];
  uint64_t state = seed + 1;
  for (int i = 0; i < 40; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int32_t whole = (int32_t)(state >> 44) - (1 << 19);
    data[i] = (float)whole; /* an exact conversion, so that no rounding mode changes it */
  }
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {5, 8}, .data = data};
  return vt_program_set_input(p, "x", &t, d);
}

/* Runs one program with every input seed and returns how many digests are wrong; if `out_digests`
 * is not NULL, the digests are stored there instead of being compared. */
static uint32_t count_wrong_digests(const char *backend, uint32_t first_seed, int hostile_progress,
                                    uint8_t out_digests[SEEDS][32]) {
  const vt_binding b = {"B", 5};
  const vt_options o = {.size = sizeof o,
                        .n_bind = 1,
                        .bind = &b,
                        .backend = backend,
                        .cache = cache,
                        .progress = hostile_progress ? change_mode_in_callback : NULL};
  vt_program *p = NULL;
  vt_diag d = {0};
  uint32_t wrong = 0;
  vt_status s = vt_program_new(model, &o, &p, &d);
  if (s == VT_OK) s = vt_program_init_params(p, 3, &d);
  for (uint32_t i = 0; s == VT_OK && i < SEEDS * RUNS; i++) {
    const uint32_t seed = (first_seed + i) % SEEDS;
    s = set_random_input(p, seed, &d);
    if (s == VT_OK) s = vt_program_run(p, &d);
    uint8_t digest[32];
    if (s == VT_OK) s = vt_program_digest(p, digest, &d);
    if (s == VT_OK && out_digests != NULL) memcpy(out_digests[seed], digest, 32);
    wrong += s != VT_OK ||
             memcmp(digest, out_digests != NULL ? out_digests[seed] : expected[seed], 32) != 0;
  }
  vt_program_free(p);
  if (s != VT_OK) fprintf(stderr, "%s\n", d.text);
  return wrong + (s != VT_OK);
}

typedef struct task {
  uint32_t number; /* index of the thread */
  uint32_t wrong;  /* wrong digests and failures */
  uint32_t lost;   /* number of programs after which the thread's mode was another */
} task;

static void *run_on_all_backends(void *context) {
  task *t = context;
  const hostile_words mine = t->number % 2 ? hostile_worst_words() : hostile_read_words();
  hostile_write_words(mine);
  for (uint32_t i = 0; i < BACKENDS; i++) {
    const char *backend = backends[(t->number + i) % BACKENDS];
    t->wrong += count_wrong_digests(backend, t->number, t->number % 3 == 0, NULL);
    t->lost += !hostile_words_equal(hostile_read_words(), mine);
  }
  return NULL;
}

static void run_threads_and_check(void) {
  pthread_t thread[THREADS];
  task tasks[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    tasks[i] = (task){.number = i};
    CHECK(pthread_create(&thread[i], NULL, run_on_all_backends, &tasks[i]) == 0);
  }
  for (uint32_t i = 0; i < THREADS; i++) {
    CHECK(pthread_join(thread[i], NULL) == 0);
    CHECK(tasks[i].wrong == 0 && tasks[i].lost == 0);
  }
}

int main(void) {
  static const char text[] =
      "volta 1\nmodel m {\n dim B\n input x: f32[B, 8]\n param w: f32[8, 8] = normal(std=0.3)\n"
      " h = softmax(matmul(x * 1e-5, w) + exp(f32(1.5)))\n"
      " output y = h / 3\n output tiny = x * 1e-43\n}\n";
  unsetenv("VOLTA_BACKEND");
  unsetenv("VOLTA_THREADS");
  wrapped_reset();
  CHECK(vt_model_parse(text, sizeof text - 1, NULL, &model, NULL) == VT_OK);
  CHECK(count_wrong_digests("reference", 0, 0, expected) == 0);
  for (int i = 1; i < SEEDS; i++) CHECK(memcmp(expected[i], expected[0], 32) != 0);
  /* Round 0 has no cache, round 1 a cache, round 2 a cache that stores nothing. */
  for (int round = 0; round < 3; round++) {
    const vt_cache_options o = {.size = sizeof o, .memory_bytes = round == 2 ? 1 : 0};
    if (round > 0) CHECK(vt_cache_new(&o, &cache, NULL) == VT_OK);
    wrapped_reset();
    wrapped_forget_capability_trials(); /* so that several threads try capabilities at the same time
                                         */
    reports = 0;
    run_threads_and_check();
    CHECK(wrapped.outside == 0 && wrapped.bad_modes == 0 && wrapped.live == 0 && reports > 0);
    vt_cache_free(cache);
    cache = NULL;
  }
  vt_model_free(model);
  TEST_DONE();
}
