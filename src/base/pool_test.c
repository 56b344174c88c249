/* SPDX-License-Identifier: Apache-2.0
 * pool_test.c - each job is executed once; results do not depend on the number of threads; every
 * thread computes in the environment of the numerics; the caller's environment is restored; nothing
 * leaks when threads or memory run out. */
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

static vt_pool *new_pool(unsigned threads, vt_fault *f) {
  vt_pool *p = NULL;
  vt_diag d = {0};
  CHECK(vt_pool_new(threads, vt_fault_alloc(f), &p, &d) == VT_OK);
  CHECK(p != NULL && d.code == VT_OK);
  return p;
}

/* ---- jobs --------------------------------------------------------------------------------- */

typedef struct job_results {
  float result[MAX_JOBS];
  /* How often each job was executed; not atomic, so that a sanitizer sees a job executed twice
   * as a race. */
  int times[MAX_JOBS];
} job_results;

static void compute_job(void *context, uint64_t job) {
  job_results *w = context;
  volatile float x = (float)(job + 1), tiny = 0x1p-127f;
  float s = 0.0f;
  for (int i = 1; i < 50; i++) s += x / (float)(i * 3);
  w->result[job] = s + tiny * x;
  w->times[job]++;
}

static int each_job_done_once(const job_results *w, uint64_t n) {
  for (uint64_t i = 0; i < MAX_JOBS; i++)
    if (w->times[i] != (i < n)) return 0;
  return 1;
}

static void test_results_do_not_depend_on_threads(void) {
  static job_results want, got;
  static const unsigned threads[] = {0, 1, 2, 3, 8};
  static const uint64_t jobs[] = {0, 1, 2, 3, 7, 8, 9, 100, MAX_JOBS};
  vt_fault f = {0};
  for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
    vt_pool *p = new_pool(threads[t], &f);
    for (size_t j = 0; p != NULL && j < sizeof jobs / sizeof jobs[0]; j++) {
      memset(&want, 0, sizeof want);
      memset(&got, 0, sizeof got);
      for (uint64_t i = 0; i < jobs[j]; i++) compute_job(&want, i);
      vt_pool_run(p, jobs[j], compute_job, &got);
      CHECK(each_job_done_once(&got, jobs[j]));
      CHECK(memcmp(got.result, want.result, sizeof want.result) == 0);
    }
    vt_pool_free(p);
  }
  CHECK(f.live == 0);
}

/* Many short batches: a worker that is late for one batch must not disturb the next. */
static void test_each_job_once_in_many_batches(void) {
  static job_results w;
  vt_fault f = {0};
  vt_pool *p = new_pool(4, &f);
  int wrong = 0;
  for (int round = 0; round < 3000 && wrong == 0; round++) {
    const uint64_t n = (uint64_t)(round % 9);
    memset(w.times, 0, sizeof w.times);
    vt_pool_run(p, n, compute_job, &w);
    wrong += !each_job_done_once(&w, n);
  }
  CHECK(wrong == 0);
  vt_pool_free(p);
  CHECK(f.live == 0);
}

/* Pauses after which the workers still spin, are about to sleep, or sleep. The smaller pool has no
 * more threads than most machines have processors, so that it spins at all. */
static void test_each_job_once_after_pauses(void) {
  static job_results w;
  static const long pauses[] = {0, 1000, 10000, 40000, 60000, 100000, 300000};
  vt_fault f = {0};
  for (unsigned threads = 2; threads <= 5; threads += 3) {
    vt_pool *p = new_pool(threads, &f);
    int wrong = 0;
    for (int round = 0; round < 280 && wrong == 0; round++) {
      const struct timespec pause = {0, pauses[round % 7]};
      const uint64_t n = 2 + (uint64_t)(round % 5);
      (void)nanosleep(&pause, NULL);
      memset(w.times, 0, sizeof w.times);
      vt_pool_run(p, n, compute_job, &w);
      wrong += !each_job_done_once(&w, n);
    }
    CHECK(wrong == 0);
    vt_pool_free(p);
  }
  CHECK(f.live == 0);
}

/* A pool can be freed while its workers spin, fall asleep or sleep. */
static void test_free_at_any_time(void) {
  static job_results w;
  static const long pauses[] = {0, 1000, 20000, 50000, 200000};
  vt_fault f = {0};
  for (int i = 0; i < 100; i++) {
    const struct timespec pause = {0, pauses[i % 5]};
    vt_pool *p = new_pool(3, &f);
    memset(w.times, 0, sizeof w.times);
    if (i % 3 > 0) vt_pool_run(p, (uint64_t)i, compute_job, &w);
    CHECK(each_job_done_once(&w, i % 3 > 0 ? (uint64_t)i : 0));
    (void)nanosleep(&pause, NULL);
    vt_pool_free(p);
  }
  CHECK(f.live == 0);
}

static void add_job_number(void *context, uint64_t job) {
  atomic_fetch_add((atomic_ullong *)context, job + 1);
}

/* Tiny jobs make the threads contend for the counter of unclaimed jobs. */
static void test_tiny_jobs_are_each_done_once(void) {
  const uint64_t n = 500000;
  atomic_ullong total;
  vt_fault f = {0};
  atomic_init(&total, 0);
  vt_pool *p = new_pool(4, &f);
  vt_pool_run(p, n, add_job_number, &total);
  CHECK(atomic_load(&total) == n * (n + 1) / 2);
  vt_pool_free(p);
}

/* ---- environment -------------------------------------------------------------------------- */

enum { THREADS = 4 };
typedef struct thread_records {
  atomic_int present;
  hostile_probe probe[THREADS];
  hostile_words words[THREADS];
  pthread_t who[THREADS];
  int sigint_blocked[THREADS];
} thread_records;

/* Waits until all threads are in this job, so that every thread of the pool has exactly one. */
static void record_thread_environment(void *context, uint64_t job) {
  thread_records *c = context;
  sigset_t mask;
  atomic_fetch_add(&c->present, 1);
  while (atomic_load(&c->present) < THREADS) sched_yield();
  c->probe[job] = hostile_run_probe();
  c->words[job] = hostile_read_words();
  c->who[job] = pthread_self();
  pthread_sigmask(SIG_SETMASK, NULL, &mask);
  c->sigint_blocked[job] = sigismember(&mask, SIGINT);
}

/* The pool is created and used by a thread in the worst environment, which new threads inherit. */
static void test_caller_in_hostile_environment(void) {
  static thread_records c;
  const hostile_words before = hostile_read_words();
  vt_fault f = {0};
  hostile_write_words(hostile_worst_words());
  vt_pool *p = new_pool(THREADS, &f);
  const hostile_words made = hostile_read_words();
  vt_pool_run(p, THREADS, record_thread_environment, &c);
  const hostile_words after = hostile_read_words();
  vt_pool_free(p);
  hostile_write_words(before);
  CHECK(hostile_words_equal(made, hostile_worst_words()) &&
        hostile_words_equal(after, hostile_worst_words()));
  for (int i = 0; i < THREADS; i++) {
    const int is_caller = pthread_equal(c.who[i], pthread_self()) != 0;
    CHECK(hostile_probe_is_right(c.probe[i]) &&
          hostile_words_equal(c.words[i], hostile_numerics_words()));
    CHECK(c.sigint_blocked[i] == !is_caller);
    for (int j = 0; j < i; j++) CHECK(!pthread_equal(c.who[i], c.who[j]));
  }
  CHECK(f.live == 0);
}

typedef struct late {
  atomic_int present;
  pthread_t caller;
  int done[THREADS];
} late;

static void finish_job_late(void *context, uint64_t job) {
  late *l = context;
  const struct timespec pause = {0, 30000000};
  atomic_fetch_add(&l->present, 1);
  while (atomic_load(&l->present) < THREADS) sched_yield();
  if (!pthread_equal(pthread_self(), l->caller)) (void)nanosleep(&pause, NULL);
  l->done[job] = 1;
}

/* vt_pool_run does not return while a worker still executes a job. */
static void test_run_waits_for_the_last_job(void) {
  static late l;
  vt_fault f = {0};
  l.caller = pthread_self();
  vt_pool *p = new_pool(THREADS, &f);
  vt_pool_run(p, THREADS, finish_job_late, &l);
  for (int i = 0; i < THREADS; i++) CHECK(l.done[i]);
  vt_pool_free(p);
}

/* A single job, and any job of a pool of one, run on the caller's thread, but inside the
 * environment of the numerics. */
static void test_single_job_of_hostile_caller(void) {
  static thread_records c;
  const hostile_words before = hostile_read_words();
  vt_fault f = {0};
  for (unsigned threads = 1; threads <= 2; threads++) {
    vt_pool *p = new_pool(threads, &f);
    atomic_store(&c.present, THREADS);
    memset(c.probe, 0, sizeof c.probe);
    hostile_write_words(hostile_worst_words());
    vt_pool_run(p, 1, record_thread_environment, &c);
    const hostile_words after = hostile_read_words();
    hostile_write_words(before);
    vt_pool_free(p);
    CHECK(hostile_probe_is_right(c.probe[0]) && hostile_words_equal(after, hostile_worst_words()));
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
  static job_results w;
  vt_fault f = {0};
  vt_pool *p = new_pool(8, &f);
  vt_pool_run(p, 100, compute_job, &w);
  const struct timespec pause = {0, 200000000};
  const int64_t start = cpu_ns();
  (void)nanosleep(&pause, NULL);
  /* seven workers that spin would use far more processor time */
  CHECK(cpu_ns() - start < 100000000);
  vt_pool_free(p);
}

static void test_no_memory_or_too_many_threads(void) {
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

/* Returns how many of `n` threads the system lets this process start, measured without the pool. */
static int count_startable_threads(int n) {
  static pthread_t t[64];
  static atomic_int released;
  int started = 0;
  while (started < n && pthread_create(&t[started], NULL, wait_for_release, &released) == 0)
    started++;
  atomic_store(&released, 1);
  for (int i = 0; i < started; i++) pthread_join(t[i], NULL);
  return started;
}

/* Runs in a child process without privileges that may start few threads. Returns 0 if creating the
 * pool failed cleanly, 77 if this system does not refuse threads. */
static int create_pool_without_threads(void) {
  const struct rlimit few = {4, 4};
  vt_fault f = {0};
  vt_pool *p = NULL;
  vt_diag d = {0};
  if (geteuid() == 0 && setuid(65534) != 0) return 77;
  if (setrlimit(RLIMIT_NPROC, &few) != 0) return 77;
  if (count_startable_threads(63) == 63) return 77;
  const vt_status s = vt_pool_new(64, vt_fault_alloc(&f), &p, &d);
  (void)fprintf(stderr, "pool_test: %s\n", d.text);
  return s == VT_NOMEM && p == NULL && f.live == 0 ? 0 : 1;
}

static void test_thread_creation_fails(void) {
  int status = 0;
  const pid_t child = fork();
  CHECK(child >= 0);
  /* _exit, because exit handlers belong to the parent process */
  if (child == 0) _exit(create_pool_without_threads());
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
    (void)fprintf(stderr, "pool_test: thread limit SKIPPED: this system does not refuse threads\n");
}

int main(void) {
  test_thread_creation_fails(); /* runs first, while this process still has a single thread */
  test_results_do_not_depend_on_threads();
  test_each_job_once_in_many_batches();
  test_each_job_once_after_pauses();
  test_free_at_any_time();
  test_tiny_jobs_are_each_done_once();
  test_caller_in_hostile_environment();
  test_single_job_of_hostile_caller();
  test_run_waits_for_the_last_job();
  test_idle_workers_sleep();
  test_no_memory_or_too_many_threads();
  TEST_DONE();
}
