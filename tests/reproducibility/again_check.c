/* SPDX-License-Identifier: Apache-2.0
 * again_check.c - tests that a program gives the same results for the same inputs again: after runs
 * with other inputs or parameters, next to other programs, when measured, cached or planned
 * otherwise. State that a backend keeps between runs, such as packed weights, must never show in
 * results. again_check ROOT BACKEND [ISA [THREADS [RUNS]]] ISA may be `-` for the best that there
 * is. With RUNS every model also runs RUNS times, and neither the memory of the process may grow
 * nor the free memory of the device shrink; if the latter seems to shrink, the runs are repeated up
 * to four times. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "process_test.h"
#include "volta/volta_tools.h"

/* An input of an example, and the range of its values. */
typedef struct input {
  const char *name;
  uint32_t dtype, rank;
  int64_t dim[4];
  int32_t least, most; /* range of integers; floats are from -1 to 1 */
} input;
/* An example with bindings and inputs. */
typedef struct subject {
  const char *name;
  uint32_t n_bind, n_inputs;
  vt_binding bind[2];
  input inputs[2];
} subject;
#define TOKENS(most) \
  { "tokens", VT_DTYPE_I32, 2, {2, 16}, 0, most }
static const subject subjects[] = {
    {"mlp", 1, 1, {{"B", 3}}, {{"x", VT_DTYPE_F32, 2, {3, 784}, 0, 0}}},
    {"cnn", 1, 1, {{"B", 2}}, {{"x", VT_DTYPE_F32, 4, {2, 1, 28, 28}, 0, 0}}},
    {"quant_mlp", 1, 1, {{"B", 3}}, {{"x", VT_DTYPE_F32, 2, {3, 784}, 0, 0}}},
    {"lstm", 2, 1, {{"B", 2}, {"T", 16}}, {TOKENS(95)}},
    {"encoder",
     2,
     2,
     {{"B", 2}, {"T", 16}},
     {TOKENS(999), {"length", VT_DTYPE_I32, 1, {2}, 1, 16}}},
    {"tiny_transformer", 2, 1, {{"B", 2}, {"T", 16}}, {TOKENS(95)}},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects, MAX_ELEMENTS = 4096 };

/* A model under test, and the options of its programs. */
typedef struct trial {
  const subject *s;
  vt_model *m;
  vt_options how;
} trial;
typedef struct digest {
  uint8_t b[32];
} digest;

static unsigned failures, checks;

static _Noreturn void die(const char *what, const vt_diag *d) {
  fprintf(stderr, "again_check: %s: %s\n", what, d->text);
  exit(2);
}

/* Fails with this message unless the digests are equal, or differ if `same` is 0. */
static void expect_digests(const trial *t, const char *what, digest a, digest b, int same) {
  checks++;
  if ((memcmp(a.b, b.b, sizeof a.b) == 0) == same) return;
  failures++;
  printf("FAILED %s: %s\n", t->s->name, what);
}

/* ---- programs ---- */

static void set_random_input(vt_program *p, const input *x, uint64_t seed) {
  static union {
    float f[MAX_ELEMENTS];
    int32_t i[MAX_ELEMENTS];
  } values;
  vt_tensor v = {.dtype = x->dtype, .rank = x->rank, .data = &values};
  vt_diag d = {0};
  uint64_t count = 1;
  for (uint32_t i = 0; i < x->rank; i++) v.dim[i] = x->dim[i], count *= (uint64_t)x->dim[i];
  for (uint64_t i = 0; i < count; i++) {
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    const uint32_t r = (uint32_t)(seed >> 40);
    if (x->dtype == VT_DTYPE_F32)
      values.f[i] = (float)r * 0x1p-23f - 1.0f;
    else
      values.i[i] = x->least + (int32_t)(r % (uint32_t)(x->most - x->least + 1));
  }
  if (vt_program_set_input(p, x->name, &v, &d) != VT_OK) die(x->name, &d);
}

static void set_random_inputs(const trial *t, vt_program *p, uint64_t seed) {
  for (uint32_t i = 0; i < t->s->n_inputs; i++) set_random_input(p, &t->s->inputs[i], seed + i);
}

static void init_params(const trial *t, vt_program *p, uint64_t seed) {
  vt_diag d = {0};
  if (vt_program_init_params(p, seed, &d) != VT_OK) die(t->s->name, &d);
}

/* Returns a program with parameters from seed 0 and inputs from seed 7. */
static vt_program *new_program(const trial *t, const vt_options *how) {
  vt_program *p = NULL;
  vt_diag d = {0};
  vt_options o = *how;
  o.n_bind = t->s->n_bind;
  o.bind = t->s->bind;
  if (vt_program_new(t->m, &o, &p, &d) != VT_OK) die(t->s->name, &d);
  init_params(t, p, 0);
  set_random_inputs(t, p, 7);
  return p;
}

/* Runs the program and returns the digest of its outputs. */
static digest run_once(const trial *t, vt_program *p) {
  digest x;
  vt_diag d = {0};
  if (vt_program_run(p, &d) != VT_OK || vt_program_digest(p, x.b, &d) != VT_OK) die(t->s->name, &d);
  return x;
}

/* Returns the digest of one run of a new program. */
static digest run_in_new_program(const trial *t, const vt_options *how) {
  vt_program *p = new_program(t, how);
  const digest x = run_once(t, p);
  vt_program_free(p);
  return x;
}

/* ---- comparisons ---- */

/* Runs a program again, with other inputs and with other parameters in between. */
static void check_repeated_runs(const trial *t, digest first) {
  vt_program *p = new_program(t, &t->how);
  expect_digests(t, "a second program gives something else", first, run_once(t, p), 1);
  expect_digests(t, "a second run gives something else", first, run_once(t, p), 1);
  set_random_inputs(t, p, 8);
  const digest other = run_once(t, p);
  expect_digests(t, "other inputs give the same", first, other, 0);
  set_random_inputs(t, p, 7);
  expect_digests(t, "the first inputs give something else after others", first, run_once(t, p), 1);
  init_params(t, p, 1);
  const digest weights = run_once(t, p);
  expect_digests(t, "other parameters give the same", first, weights, 0);
  /* this program never ran with the parameters of seed 0 */
  vt_program *fresh = new_program(t, &t->how);
  init_params(t, fresh, 1);
  expect_digests(t, "earlier parameters show in a run with others", weights, run_once(t, fresh), 1);
  vt_program_free(fresh);
  init_params(t, p, 0);
  expect_digests(t, "the first parameters give something else after others", first, run_once(t, p),
                 1);
  vt_program_free(p);
}

/* Runs two programs of one model in turn; neither may change the results of the other. */
static void check_two_programs(const trial *t, digest first) {
  vt_program *p = new_program(t, &t->how), *q = new_program(t, &t->how);
  init_params(t, q, 1);
  set_random_inputs(t, q, 8);
  const digest other = run_once(t, q);
  expect_digests(t, "next to another program it gives something else", first, run_once(t, p), 1);
  expect_digests(t, "the other program gives something else", other, run_once(t, q), 1);
  vt_program_free(q);
  expect_digests(t, "after the other is freed it gives something else", first, run_once(t, p), 1);
  vt_program_free(p);
}

/* Runs the model with other options, none of which may change the digest. */
static void check_same_with_other_options(const trial *t, digest first) {
  vt_options o = t->how;
  o.measure = 1;
  expect_digests(t, "measured, it gives something else", first, run_in_new_program(t, &o), 1);
  o = t->how;
  o.schedule = "memory";
  expect_digests(t, "in another order of steps it gives something else", first,
                 run_in_new_program(t, &o), 1);
  o = t->how;
  o.stream = "all";
  expect_digests(t, "with streamed parameters it gives something else", first,
                 run_in_new_program(t, &o), 1);
  o = t->how;
  o.passes = "bind,lower,dead";
  expect_digests(t, "without fusion it gives something else", first, run_in_new_program(t, &o), 1);
}

static void check_same_from_cache(const trial *t, digest first) {
  vt_cache *cache = NULL;
  vt_cache_counts n = {.size = sizeof n};
  vt_diag d = {0};
  vt_options o = t->how;
  if (vt_cache_new(NULL, &cache, &d) != VT_OK) die("a cache", &d);
  o.cache = cache;
  expect_digests(t, "with a cache it gives something else", first, run_in_new_program(t, &o), 1);
  expect_digests(t, "with a plan from the cache it gives something else", first,
                 run_in_new_program(t, &o), 1);
  vt_cache_info(cache, &n);
  if (n.hits_memory == 0) {
    failures++;
    printf("FAILED %s: no plan came from the cache\n", t->s->name);
  }
  vt_cache_free(cache);
}

/* Compares the backend with the reference, which runs before and after it. */
static void check_same_as_reference(const trial *t, digest first) {
  const vt_options right = {.size = sizeof right, .backend = "reference:0"};
  vt_program *p = new_program(t, &right);
  expect_digests(t, "the reference gives something else", first, run_once(t, p), 1);
  expect_digests(t, "it gives something else after the reference", first,
                 run_in_new_program(t, &t->how), 1);
  expect_digests(t, "the reference gives something else after it", first, run_once(t, p), 1);
  vt_program_free(p);
}

/* ---- growth ---- */

/* Returns the free bytes of the device, or 0 if it shares the host's memory. */
static uint64_t device_free_bytes(const char *backend) {
  char name[64];
  snprintf(name, sizeof name, "%s%s", backend, strchr(backend, ':') == NULL ? ":0" : "");
  for (uint32_t i = 0; i < vt_backend_count(); i++) {
    vt_backend_row r = {.size = sizeof r};
    vt_diag d = {0};
    if (vt_backend_row_at(i, &r, &d) != VT_OK) die("backends", &d);
    if (strcmp(r.name, name) == 0) return r.shares_host ? 0 : r.memory;
  }
  return 0;
}

/* Runs the program many times; returns by how many bytes the device's free memory has shrunk. */
static uint64_t run_and_measure_loss(const trial *t, vt_program *p, long runs, digest *last) {
  const uint64_t before = device_free_bytes(t->how.backend);
  for (long i = 0; i < runs; i++) *last = run_once(t, p);
  const uint64_t after = device_free_bytes(t->how.backend);
  return after < before ? before - after : 0;
}

/* Runs a program many times and fails if memory leaks. WARM runs first allocate everything that is
 * allocated once, and listing the devices opens them. After that the process may grow by
 * FIRST_TOUCHES bytes, which is less than a page per run. Other users of the device can look like a
 * leak, but a leak loses memory in every round, so one round without a loss is enough to pass. A
 * GPU allocates 2 MiB at a time, so small leaks are found reliably only if nobody else uses the
 * device. */
enum { WARM = 20, ROUNDS = 5, FIRST_TOUCHES = 256 * 1024 };
static void check_memory_does_not_grow(const trial *t, digest first, long runs) {
  vt_program *p = new_program(t, &t->how);
  digest last = first;
  (void)run_and_measure_loss(t, p, WARM, &last);
  const uint64_t start = process_resident_bytes();
  uint64_t lost = run_and_measure_loss(t, p, runs, &last);
  const uint64_t end = process_resident_bytes(), more = end > start ? end - start : 0;
  for (int i = 1; i < ROUNDS && lost > 0; i++) lost = run_and_measure_loss(t, p, runs, &last);
  expect_digests(t, "after many runs it gives something else", first, last, 1);
  checks++;
  if (more > FIRST_TOUCHES || lost > 0) {
    failures++;
    printf("FAILED %s: %ld runs and the process has %llu bytes more, the device %llu bytes less\n",
           t->s->name, runs, (unsigned long long)more, (unsigned long long)lost);
  }
  vt_program_free(p);
}

static void check_subject(const char *root, const subject *s, const vt_options *how, long runs) {
  char path[4096];
  vt_diag d = {0};
  trial t = {.s = s, .how = *how};
  snprintf(path, sizeof path, "%s/examples/%s.vt", root, s->name);
  if (vt_model_read(path, NULL, &t.m, &d) != VT_OK) die(path, &d);
  const digest first = run_in_new_program(&t, how);
  check_repeated_runs(&t, first);
  check_two_programs(&t, first);
  check_same_with_other_options(&t, first);
  check_same_from_cache(&t, first);
  check_same_as_reference(&t, first);
  if (runs > 0) check_memory_does_not_grow(&t, first, runs);
  vt_model_free(t.m);
}

int main(int argc, char **argv) {
  if (argc < 3 || argc > 6) {
    fprintf(stderr, "usage: again_check ROOT BACKEND [ISA [THREADS [RUNS]]]\n");
    return 2;
  }
  const vt_options how = {.size = sizeof how,
                          .backend = argv[2],
                          .isa = argc > 3 && strcmp(argv[3], "-") != 0 ? argv[3] : NULL,
                          .threads = argc > 4 ? (uint32_t)atoi(argv[4]) : 0};
  const long runs = argc > 5 ? atol(argv[5]) : 0;
  if (runs > 0 && process_resident_bytes() == 0) {
    fputs("again_check: the system does not tell what memory the process has\n", stderr);
    return 2;
  }
  for (int i = 0; i < SUBJECTS; i++) check_subject(argv[1], &subjects[i], &how, runs);
  printf("again: %u comparisons of %d examples on", checks, SUBJECTS);
  for (int i = 2; i < argc; i++) printf(" %s", argv[i]);
  printf(": %u failures\n", failures);
  return failures != 0;
}
