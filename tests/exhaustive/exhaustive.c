/* SPDX-License-Identifier: Apache-2.0
 * exhaustive.c - every function of functions.def on all 2^32 inputs against MPFR.
 *
 *   exhaustive [--func NAME]... [--slices A..B] [--jobs N] [--state DIR] [--digests FILE] [--plant]
 *
 * How an input is settled. The C library's f64 function estimates the value; we grant it a relative
 * error of 2^-40, some thousand times what any such library has. If both ends of that interval
 * round to the same f32, this is the correctly rounded result. Otherwise MPFR, which rounds
 * correctly at any precision, computes the f32 itself. The estimate is compared with MPFR on a
 * sample of inputs of every slice, and an estimate that settles wrongly ends the run.
 *
 * The unit of work is a slice: 2^24 consecutive bit patterns. A finished slice is a line in
 * DIR/NAME: slice, mismatches, inputs judged by MPFR, digest of the results. A run goes on where an
 * earlier one stopped; a change of the sources is the caller's to notice (remove DIR).
 * --plant makes every function wrong on one input a slice, which must be found. */
#include <errno.h>
#include <math.h>
#include <mpfr.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "vt_fpenv.h"
#include "vt_hash.h"
#include "vt_num.h"

enum { SLICE_BITS = 24, SLICE = 1 << SLICE_BITS, SLICES = 256, MOST_JOBS = 64, DIGEST_BYTES = 16 };

/* ---- the table ---- */

static int judge_sigmoid(mpfr_t y) {
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_t t;
  mpfr_set_emin(mpfr_get_emin_min()); /* e^-x may lie beyond f32 where the quotient does not */
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_init2(t, 400);
  mpfr_neg(t, y, MPFR_RNDN); /* exact: y holds an f32 */
  mpfr_exp(t, t, MPFR_RNDN);
  mpfr_add_ui(t, t, 1, MPFR_RNDN);
  mpfr_ui_div(t, 1, t, MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  int inexact = mpfr_set(y, t, MPFR_RNDN);
  inexact = mpfr_check_range(y, inexact, MPFR_RNDN);
  mpfr_clear(t);
  return inexact;
}

#define VT_FUNCTION(name, estimate, judge)                     \
  static double estimate_##name(double x) { return estimate; } \
  static int judge_##name##_(mpfr_t y) { return judge; }
#include "functions.def"
#undef VT_FUNCTION

typedef struct function {
  const char *name;
  float (*ours)(float x);
  double (*estimate)(double x);
  int (*judge)(mpfr_t y);
} function;
static const function functions[] = {
#define VT_FUNCTION(name, estimate, judge) {#name, vt_f32_##name, estimate_##name, judge_##name##_},
#include "functions.def"
#undef VT_FUNCTION
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- one input ---- */

/* The correctly rounded f32, by MPFR: 24 bits, the exponents of f32, subnormals included. */
static float judged(const function *f, float x, mpfr_t y) {
  mpfr_set_flt(y, x, MPFR_RNDN);
  const int inexact = f->judge(y);
  mpfr_subnormalize(y, inexact, MPFR_RNDN);
  return mpfr_get_flt(y, MPFR_RNDN);
}

static int same(float a, float b) { return (a != a && b != b) || vt_f32_bits(a) == vt_f32_bits(b); }

/* 1 and the result when the estimate settles it: both ends of its interval round alike, or the
 * library says that there is no value. */
static int settled(double estimate, float *out) {
  const float lo = (float)(estimate * (1 - 0x1p-40)), hi = (float)(estimate * (1 + 0x1p-40));
  *out = lo;
  return same(lo, hi);
}

typedef struct outcome {
  uint64_t mismatches, judged;
  float first;
  vt_hash256 digest;
  int bad_estimate;
} outcome;

static int planted;

static void check_slice(const function *f, uint32_t slice, mpfr_t y, uint32_t *results,
                        outcome *out) {
  memset(out, 0, sizeof *out);
  for (uint32_t i = 0; i < SLICE; i++) {
    const float x = vt_f32_from_bits(slice << SLICE_BITS | i);
    float ours = f->ours(x), right, estimated;
    if (planted && i == SLICE / 3) ours = vt_f32_from_bits(vt_f32_bits(ours) ^ 1);
    const int easy = settled(f->estimate((double)x), &estimated);
    const int sample = (i & 0xffff) == 0x1234;
    right = estimated;
    if (!easy || sample) {
      right = judged(f, x, y);
      out->judged++;
      if (easy && !same(right, estimated)) out->bad_estimate = 1;
    }
    if (!same(ours, right) && out->mismatches++ == 0) out->first = x;
    results[i] = ours != ours ? 0x7fc00000u : vt_f32_bits(ours);
  }
  out->digest = vt_hash_bytes(results, (size_t)SLICE * sizeof *results);
}

/* ---- the work ---- */

typedef struct task {
  const function *f;
  uint32_t slice;
} task;

typedef struct work {
  task *tasks;
  uint32_t n_tasks;
  atomic_uint next, done;
  atomic_ullong mismatches;
  atomic_int broken;
  const char *state;
  pthread_mutex_t lock;
} work;

static void record(work *w, const task *t, const outcome *o) {
  char path[512], hex[65];
  snprintf(path, sizeof path, "%s/%s", w->state, t->f->name);
  vt_hash_hex(&o->digest, hex);
  pthread_mutex_lock(&w->lock);
  FILE *file = fopen(path, "a");
  if (file != NULL) {
    fprintf(file, "%u %llu %llu %.*s\n", t->slice, (unsigned long long)o->mismatches,
            (unsigned long long)o->judged, 2 * DIGEST_BYTES, hex);
    fclose(file);
  }
  if (file == NULL) w->broken = 1;
  if (o->mismatches > 0)
    fprintf(stderr, "\r%s: slice %u: %llu wrong, the first at %08x\n", t->f->name, t->slice,
            (unsigned long long)o->mismatches, vt_f32_bits(o->first));
  if (o->bad_estimate) fprintf(stderr, "\r%s: the estimate is beyond its bound\n", t->f->name);
  pthread_mutex_unlock(&w->lock);
}

static void *worker(void *context) {
  work *w = context;
  vt_fpenv saved;
  mpfr_t y;
  uint32_t *results = malloc((size_t)SLICE * sizeof *results);
  if (results == NULL) w->broken = 1;
  vt_fpenv_enter(&saved);
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
  mpfr_init2(y, 24);
  for (uint32_t i; !w->broken && (i = w->next++) < w->n_tasks; w->done++) {
    outcome o;
    check_slice(w->tasks[i].f, w->tasks[i].slice, y, results, &o);
    w->mismatches += o.mismatches;
    if (o.bad_estimate) w->broken = 1;
    record(w, &w->tasks[i], &o);
  }
  mpfr_clear(y);
  mpfr_free_cache();
  vt_fpenv_leave(&saved);
  free(results);
  return NULL;
}

static void show_progress(work *w) {
  const time_t start = time(NULL);
  for (;;) {
    const uint32_t done = w->done;
    const double spent = difftime(time(NULL), start);
    const double left = done == 0 ? 0 : spent / done * (w->n_tasks - done);
    fprintf(stderr, "\r%u of %u slices, %.0f s, about %.0f s left   ", done, w->n_tasks, spent,
            left);
    if (done == w->n_tasks || w->broken) break;
    sleep(1);
  }
  fputc('\n', stderr);
}

/* ---- what earlier runs finished ---- */

typedef struct ledger {
  int done[SLICES];
  uint64_t mismatches, judged;
  char digest[SLICES][2 * DIGEST_BYTES + 1];
} ledger;

static void read_ledger(const char *state, const function *f, ledger *l) {
  char path[512], hex[2 * DIGEST_BYTES + 1];
  unsigned slice;
  unsigned long long mismatches, judged_count;
  memset(l, 0, sizeof *l);
  snprintf(path, sizeof path, "%s/%s", state, f->name);
  FILE *file = fopen(path, "r");
  if (file == NULL) return;
  while (fscanf(file, "%u %llu %llu %32s", &slice, &mismatches, &judged_count, hex) == 4) {
    if (slice >= SLICES || l->done[slice]) continue;
    l->done[slice] = 1;
    l->mismatches += mismatches;
    l->judged += judged_count;
    memcpy(l->digest[slice], hex, sizeof hex);
  }
  fclose(file);
}

static void add_tasks(work *w, const function *f, unsigned from, unsigned to) {
  ledger l;
  read_ledger(w->state, f, &l);
  for (unsigned s = from; s < to; s++)
    if (!l.done[s]) w->tasks[w->n_tasks++] = (task){f, s};
}

/* One line a function; a function with slices missing says so and has no digests written. */
static int report(const work *w, const function *f, FILE *digests) {
  ledger l;
  unsigned done = 0;
  read_ledger(w->state, f, &l);
  for (unsigned s = 0; s < SLICES; s++) done += (unsigned)l.done[s];
  printf("%-8s %10llu inputs, %llu mismatches, %llu judged by MPFR\n", f->name,
         (unsigned long long)done * SLICE, (unsigned long long)l.mismatches,
         (unsigned long long)l.judged);
  for (unsigned s = 0; digests != NULL && done == SLICES && l.mismatches == 0 && s < SLICES; s++)
    fprintf(digests, "%s %3u %s\n", f->name, s, l.digest[s]);
  return l.mismatches == 0;
}

/* ---- arguments ---- */

typedef struct options {
  const char *func[N_FUNCTIONS], *state, *digests;
  unsigned n_func, from, to, jobs;
} options;

static int usage(void) {
  fputs(
      "usage: exhaustive [--func NAME]... [--slices A..B] [--jobs N] [--state DIR]"
      " [--digests FILE] [--plant]\n",
      stderr);
  return 2;
}

static int parse(int argc, char **argv, options *o) {
  for (int i = 1; i < argc; i++) {
    const char *flag = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(flag, "--plant") == 0) {
      planted = 1;
      continue;
    }
    if (value == NULL) return 0;
    i++;
    if (strcmp(flag, "--func") == 0 && o->n_func < N_FUNCTIONS)
      o->func[o->n_func++] = value;
    else if (strcmp(flag, "--slices") == 0 && sscanf(value, "%u..%u", &o->from, &o->to) == 2)
      o->to++;
    else if (strcmp(flag, "--jobs") == 0 && sscanf(value, "%u", &o->jobs) == 1)
      continue;
    else if (strcmp(flag, "--state") == 0)
      o->state = value;
    else if (strcmp(flag, "--digests") == 0)
      o->digests = value;
    else
      return 0;
  }
  return o->from < o->to && o->to <= SLICES && o->jobs >= 1 && o->jobs <= MOST_JOBS;
}

static int wanted(const options *o, const function *f) {
  for (unsigned i = 0; i < o->n_func; i++)
    if (strcmp(o->func[i], f->name) == 0) return 1;
  return o->n_func == 0;
}

static void run(work *w, unsigned jobs) {
  pthread_t threads[MOST_JOBS];
  unsigned started = 0;
  for (; started < jobs; started++)
    if (pthread_create(&threads[started], NULL, worker, w) != 0) break;
  if (started == 0) w->broken = 1;
  show_progress(w);
  for (unsigned i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  options o = {.state = "exhaustive", .to = SLICES, .jobs = cores > 0 ? (unsigned)cores : 1};
  if (!parse(argc, argv, &o)) return usage();
  work w = {.state = o.state, .lock = PTHREAD_MUTEX_INITIALIZER};
  w.tasks = malloc(sizeof *w.tasks * N_FUNCTIONS * SLICES);
  if (w.tasks == NULL || (mkdir(o.state, 0777) != 0 && errno != EEXIST)) return 1;
  unsigned found = 0;
  for (unsigned i = 0; i < N_FUNCTIONS; i++)
    if (wanted(&o, &functions[i])) {
      add_tasks(&w, &functions[i], o.from, o.to);
      found++;
    }
  if (found < o.n_func) return usage();
  if (w.n_tasks > 0) run(&w, o.jobs);
  FILE *digests = o.digests == NULL ? NULL : fopen(o.digests, "w");
  int good = !w.broken && (o.digests == NULL || digests != NULL);
  for (unsigned i = 0; i < N_FUNCTIONS; i++)
    if (wanted(&o, &functions[i])) good &= report(&w, &functions[i], digests);
  if (digests != NULL && fclose(digests) != 0) good = 0;
  free(w.tasks);
  return good ? 0 : 1;
}
