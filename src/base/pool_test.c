/* SPDX-License-Identifier: Apache-2.0
 * pool_test.c - every job once, the same bits whoever runs it, the numerics environment in every
 * thread, the caller's own given back, and nothing leaked when threads or memory run out. */
#include "vt_pool.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "hostile_fpenv.h"
#include "vt_test.h"

enum { MAX_JOBS = 2000 };

static vt_pool *pool(unsigned threads, vt_fault *f) {
  vt_pool *p = NULL;
  vt_diag d = {0};
  CHECK(vt_pool_new(threads, vt_fault_alloc(f), &p, &d) == VT_OK);
  CHECK(p != NULL && d.code == VT_OK);
  return p;
}

/* ---- jobs --------------------------------------------------------------------------------- */

typedef struct work_list {
  float result[MAX_JOBS];
  int times[MAX_JOBS]; /* not atomic on purpose: a job run twice is a race to be seen */
} work_list;

static void compute(void *context, uint64_t job) {
  work_list *w = context;
  volatile float x = (float)(job + 1), tiny = 0x1p-127f;
  float s = 0.0f;
  for (int i = 1; i < 50; i++) s += x / (float)(i * 3);
  w->result[job] = s + tiny * x;
  w->times[job]++;
}

static int each_once(const work_list *w, uint64_t n) {
  for (uint64_t i = 0; i < MAX_JOBS; i++)
    if (w->times[i] != (i < n)) return 0;
  return 1;
}

static void test_results_do_not_depend_on_threads(void) {
  static work_list want, got;
  static const unsigned threads[] = {0, 1, 2, 3, 8};
  static const uint64_t jobs[] = {0, 1, 2, 3, 7, 8, 9, 100, MAX_JOBS};
  vt_fault f = {0};
  for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
    vt_pool *p = pool(threads[t], &f);
    for (size_t j = 0; p != NULL && j < sizeof jobs / sizeof jobs[0]; j++) {
      memset(&want, 0, sizeof want);
      memset(&got, 0, sizeof got);
      for (uint64_t i = 0; i < jobs[j]; i++) compute(&want, i);
      vt_pool_run(p, jobs[j], compute, &got);
      CHECK(each_once(&got, jobs[j]));
      CHECK(memcmp(got.result, want.result, sizeof want.result) == 0);
    }
    vt_pool_free(p);
  }
  CHECK(f.live == 0);
}

/* Many short rounds: a worker that is late for one must not spoil the next. */
static void test_many_rounds(void) {
  static work_list w;
  vt_fault f = {0};
  vt_pool *p = pool(4, &f);
  int wrong = 0;
  for (int round = 0; round < 3000 && wrong == 0; round++) {
    const uint64_t n = (uint64_t)(round % 9);
    memset(w.times, 0, sizeof w.times);
    vt_pool_run(p, n, compute, &w);
    wrong += !each_once(&w, n);
  }
  CHECK(wrong == 0);
  vt_pool_free(p);
  CHECK(f.live == 0);
}

/* Pauses after which the workers are still looking, about to sleep, or asleep; a pool with no more
 * threads than most machines have processors looks before it sleeps. */
static void test_pauses(void) {
  static work_list w;
  static const long pauses[] = {0, 1000, 10000, 40000, 60000, 100000, 300000};
  vt_fault f = {0};
  for (unsigned threads = 2; threads <= 5; threads += 3) {
    vt_pool *p = pool(threads, &f);
    int wrong = 0;
    for (int round = 0; round < 280 && wrong == 0; round++) {
      const struct timespec pause = {0, pauses[round % 7]};
      const uint64_t n = 2 + (uint64_t)(round % 5);
      (void)nanosleep(&pause, NULL);
      memset(w.times, 0, sizeof w.times);
      vt_pool_run(p, n, compute, &w);
      wrong += !each_once(&w, n);
    }
    CHECK(wrong == 0);
    vt_pool_free(p);
  }
  CHECK(f.live == 0);
}

/* A pool may be closed while its workers look, while they fall asleep and while they sleep. */
static void test_closing(void) {
  static work_list w;
  static const long pauses[] = {0, 1000, 20000, 50000, 200000};
  vt_fault f = {0};
  for (int i = 0; i < 100; i++) {
    const struct timespec pause = {0, pauses[i % 5]};
    vt_pool *p = pool(3, &f);
    memset(w.times, 0, sizeof w.times);
    if (i % 3 > 0) vt_pool_run(p, (uint64_t)i, compute, &w);
    CHECK(each_once(&w, i % 3 > 0 ? (uint64_t)i : 0));
    (void)nanosleep(&pause, NULL);
    vt_pool_free(p);
  }
  CHECK(f.live == 0);
}

static void add_number(void *context, uint64_t job) {
  atomic_fetch_add((atomic_ullong *)context, job + 1);
}

/* Tiny jobs, so that the threads meet at the counter that deals them out. */
static void test_contention(void) {
  const uint64_t n = 500000;
  atomic_ullong total;
  vt_fault f = {0};
  atomic_init(&total, 0);
  vt_pool *p = pool(4, &f);
  vt_pool_run(p, n, add_number, &total);
  CHECK(atomic_load(&total) == n * (n + 1) / 2);
  vt_pool_free(p);
}

/* ---- environment -------------------------------------------------------------------------- */

enum { CREW = 4 };
typedef struct crew {
  atomic_int present;
  hostile_probe probe[CREW];
  hostile_words words[CREW];
  pthread_t who[CREW];
  int sigint_blocked[CREW];
} crew;

/* Nobody leaves before everybody is there, so every thread of the pool has exactly one job. */
static void muster(void *context, uint64_t job) {
  crew *c = context;
  sigset_t mask;
  atomic_fetch_add(&c->present, 1);
  while (atomic_load(&c->present) < CREW) sched_yield();
  c->probe[job] = hostile_compute();
  c->words[job] = hostile_read();
  c->who[job] = pthread_self();
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  c->sigint_blocked[job] = sigismember(&mask, SIGINT);
}

/* The pool is made and run by a thread in the worst environment, which new threads inherit. */
static void test_hostile_caller(void) {
  static crew c;
  const hostile_words before = hostile_read();
  vt_fault f = {0};
  hostile_write(hostile_worst());
  vt_pool *p = pool(CREW, &f);
  const hostile_words made = hostile_read();
  vt_pool_run(p, CREW, muster, &c);
  const hostile_words after = hostile_read();
  vt_pool_free(p);
  hostile_write(before);
  CHECK(hostile_same(made, hostile_worst()) && hostile_same(after, hostile_worst()));
  for (int i = 0; i < CREW; i++) {
    const int is_caller = pthread_equal(c.who[i], pthread_self()) != 0;
    CHECK(hostile_right(c.probe[i]) && hostile_same(c.words[i], hostile_numerics()));
    CHECK(c.sigint_blocked[i] == !is_caller);
    for (int j = 0; j < i; j++) CHECK(!pthread_equal(c.who[i], c.who[j]));
  }
  CHECK(f.live == 0);
}

typedef struct late {
  atomic_int present;
  pthread_t caller;
  int done[CREW];
} late;

static void straggle(void *context, uint64_t job) {
  late *l = context;
  const struct timespec pause = {0, 30000000};
  atomic_fetch_add(&l->present, 1);
  while (atomic_load(&l->present) < CREW) sched_yield();
  if (!pthread_equal(pthread_self(), l->caller)) (void)nanosleep(&pause, NULL);
  l->done[job] = 1;
}

/* The run is not over while a worker is still at its job. */
static void test_waits_for_the_last(void) {
  static late l;
  vt_fault f = {0};
  l.caller = pthread_self();
  vt_pool *p = pool(CREW, &f);
  vt_pool_run(p, CREW, straggle, &l);
  for (int i = 0; i < CREW; i++) CHECK(l.done[i]);
  vt_pool_free(p);
}

/* A single job, and a pool of one, run on the caller's thread: in the environment all the same. */
static void test_hostile_caller_alone(void) {
  static crew c;
  const hostile_words before = hostile_read();
  vt_fault f = {0};
  for (unsigned threads = 1; threads <= 2; threads++) {
    vt_pool *p = pool(threads, &f);
    atomic_store(&c.present, CREW);
    memset(c.probe, 0, sizeof c.probe);
    hostile_write(hostile_worst());
    vt_pool_run(p, 1, muster, &c);
    const hostile_words after = hostile_read();
    hostile_write(before);
    vt_pool_free(p);
    CHECK(hostile_right(c.probe[0]) && hostile_same(after, hostile_worst()));
  }
  CHECK(f.live == 0);
}

/* ---- costs and failures ------------------------------------------------------------------- */

static int64_t cpu_ns(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void test_idle_workers_sleep(void) {
  static work_list w;
  vt_fault f = {0};
  vt_pool *p = pool(8, &f);
  vt_pool_run(p, 100, compute, &w);
  const struct timespec pause = {0, 200000000};
  const int64_t start = cpu_ns();
  (void)nanosleep(&pause, NULL);
  CHECK(cpu_ns() - start < 100000000); /* seven spinning workers would use far more */
  vt_pool_free(p);
}

static void test_refusals(void) {
  vt_pool *p = NULL;
  vt_diag d = {0};
  vt_fault f = {.left = 1};
  CHECK(vt_pool_new(3, vt_fault_alloc(&f), &p, &d) == VT_NOMEM);
  CHECK(p == NULL && d.code == VT_NOMEM && f.live == 0);
  d = (vt_diag){0};
  f = (vt_fault){0};
  CHECK(vt_pool_new(1000000, vt_fault_alloc(&f), &p, &d) == VT_LIMIT);
  CHECK(p == NULL && f.asked == 0);
  vt_pool_free(NULL);
}

static void *wait_for_release(void *arg) {
  while (atomic_load((atomic_int *)arg) == 0) sched_yield();
  return NULL;
}

/* How many threads of `n` this process may have, found without the pool. */
static int threads_allowed(int n) {
  static pthread_t t[64];
  static atomic_int released;
  int started = 0;
  while (started < n && pthread_create(&t[started], NULL, wait_for_release, &released) == 0)
    started++;
  atomic_store(&released, 1);
  for (int i = 0; i < started; i++) pthread_join(t[i], NULL);
  return started;
}

/* In a child without privileges, allowed few threads: 0 when the pool failed cleanly, 77 when
 * this system would not refuse. */
static int starve(void) {
  const struct rlimit few = {4, 4};
  vt_fault f = {0};
  vt_pool *p = NULL;
  vt_diag d = {0};
  if (geteuid() == 0 && setuid(65534) != 0) return 77;
  if (setrlimit(RLIMIT_NPROC, &few) != 0) return 77;
  if (threads_allowed(63) == 63) return 77;
  const vt_status s = vt_pool_new(64, vt_fault_alloc(&f), &p, &d);
  (void)fprintf(stderr, "pool_test: %s\n", d.text);
  return s == VT_NOMEM && p == NULL && f.live == 0 ? 0 : 1;
}

static void test_no_more_threads(void) {
  int status = 0;
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(starve()); /* no exit handlers: the parent's test goes on */
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    (void)fprintf(stderr, "pool_test: thread limit SKIPPED: this system does not refuse threads\n");
}

int main(void) {
  test_no_more_threads(); /* first, while this process has one thread */
  test_results_do_not_depend_on_threads();
  test_many_rounds();
  test_pauses();
  test_closing();
  test_contention();
  test_hostile_caller();
  test_hostile_caller_alone();
  test_waits_for_the_last();
  test_idle_workers_sleep();
  test_refusals();
  TEST_DONE();
}
