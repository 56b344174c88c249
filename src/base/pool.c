/* SPDX-License-Identifier: Apache-2.0
 * pool.c - workers that wait between runs: for a short while by looking, as the next run is often
 * near, then asleep. A job is taken by counting down how many are left, which one step does, so
 * that whoever has taken one knows that its run is not over; nobody else looks at what the run
 * consists of. A run is over when all its jobs are done, whether all workers took part or none. */
#include "vt_pool.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include "vt_cpu.h"
#include "vt_fpenv.h"

/* A look and a pause take some 10 to 50 nanoseconds, so these are one or two tenths of a
 * millisecond: longer than it takes to fall asleep and to be woken, also where the processor itself
 * is put to sleep, as by a hypervisor. */
enum { LOOKS = 5000 };

struct vt_pool {
  vt_alloc a;
  size_t bytes;
  unsigned n_workers; /* started and not joined */
  int looks;          /* before anybody sleeps; 0 where there are more threads than processors */
  pthread_mutex_t lock;
  pthread_cond_t wake, idle;
  atomic_uint_fast64_t round;  /* how many runs have begun */
  atomic_uint sleepers;        /* workers that wait for `wake`, or are about to */
  atomic_int stop, is_waiting; /* is_waiting: the caller waits for `idle`, or is about to */
  /* The run: written before `left`, read by who has taken a job, until it is done. */
  vt_job_fn *fn;
  void *context;
  uint64_t n;
  atomic_uint_fast64_t left, done; /* jobs that nobody has taken; jobs that are finished */
  pthread_t workers[];
};

/* The number of a job that is now the caller's own; 0 when there is none left. Whoever gets one
 * sees what was written before `left` was. */
static int take_job(vt_pool *p, uint64_t *out) {
  uint_fast64_t left = atomic_load_explicit(&p->left, memory_order_relaxed);
  do {
    if (left == 0) return 0;
  } while (!atomic_compare_exchange_weak_explicit(&p->left, &left, left - 1, memory_order_acquire,
                                                  memory_order_relaxed));
  *out = p->n - left;
  return 1;
}

/* Either the caller sees the last job done, or who has done it sees that the caller is waiting: all
 * of that is in one order (seq_cst). */
static void finish_job(vt_pool *p, uint64_t n) {
  if (atomic_fetch_add(&p->done, 1) + 1 < n || !atomic_load(&p->is_waiting)) return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_signal(&p->idle);
  pthread_mutex_unlock(&p->lock);
}

/* Once its last job is done a run is over, and what it consisted of may change. */
static void take_jobs(vt_pool *p) {
  uint64_t job;
  while (take_job(p, &job)) {
    const uint64_t n = p->n;
    p->fn(p->context, job);
    finish_job(p, n);
  }
}

/* Likewise either who begins a run sees the sleeper or the sleeper sees the round. */
static void sleep_till_round(vt_pool *p, uint64_t seen) {
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&p->sleepers, 1);
  while (atomic_load(&p->round) == seen && !atomic_load(&p->stop))
    pthread_cond_wait(&p->wake, &p->lock);
  atomic_fetch_sub(&p->sleepers, 1);
  pthread_mutex_unlock(&p->lock);
}

/* Until a round after `seen` begins. Returns 0 when the pool is closing. */
static int wait_for_round(vt_pool *p, uint64_t *seen) {
  for (int i = 0; i < p->looks && atomic_load_explicit(&p->round, memory_order_relaxed) == *seen;
       i++)
    vt_cpu_pause();
  if (atomic_load(&p->round) == *seen) sleep_till_round(p, *seen);
  *seen = atomic_load(&p->round);
  return !atomic_load(&p->stop);
}

/* A thread inherits the environment of whoever started it, which may be anything. */
static void *work(void *arg) {
  vt_pool *p = arg;
  vt_fpenv inherited;
  uint64_t seen = 0;
  vt_fpenv_enter(&inherited);
  while (wait_for_round(p, &seen)) take_jobs(p);
  return NULL;
}

/* Signals of the host are the host's: its handlers must not run on our threads. */
static int start_workers(vt_pool *p, unsigned n) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (p->n_workers < n && pthread_create(&p->workers[p->n_workers], NULL, work, p) == 0)
    p->n_workers++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return p->n_workers == n;
}

static int init_sync(vt_pool *p) {
  if (pthread_mutex_init(&p->lock, NULL) != 0) return 0;
  if (pthread_cond_init(&p->wake, NULL) != 0) goto no_wake;
  if (pthread_cond_init(&p->idle, NULL) != 0) goto no_idle;
  return 1;
no_idle:
  pthread_cond_destroy(&p->wake);
no_wake:
  pthread_mutex_destroy(&p->lock);
  return 0;
}

/* A new round, for those who look and for those who sleep. */
static void announce(vt_pool *p) {
  atomic_fetch_add(&p->round, 1);
  if (atomic_load(&p->sleepers) == 0) return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
}

vt_status vt_pool_new(unsigned threads, vt_alloc a, vt_pool **out, vt_diag *d) {
  if (threads > VT_POOL_MOST)
    return VT_FAIL(d, VT_LIMIT, "%u threads asked for, at most %d are accepted", threads,
                   VT_POOL_MOST);
  const unsigned workers = threads > 1 ? threads - 1 : 0;
  const size_t bytes = sizeof(vt_pool) + workers * sizeof(pthread_t);
  vt_pool *p = vt_alloc_new(a, bytes);
  if (p == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for a pool of %u threads", threads);
  p->a = a;
  p->bytes = bytes;
  p->looks = threads <= vt_cpu_get()->cores ? LOOKS : 0;
  if (!init_sync(p)) {
    vt_alloc_free(a, p, bytes);
    return VT_FAIL(d, VT_NOMEM, "the system has no resources for a lock");
  }
  if (!start_workers(p, workers)) {
    const unsigned started = p->n_workers;
    vt_pool_free(p);
    return VT_FAIL(d, VT_NOMEM, "the system started only %u of %u threads", started, workers);
  }
  *out = p;
  return VT_OK;
}

void vt_pool_free(vt_pool *p) {
  if (p == NULL) return;
  atomic_store(&p->stop, 1);
  announce(p);
  while (p->n_workers > 0) pthread_join(p->workers[--p->n_workers], NULL);
  pthread_cond_destroy(&p->idle);
  pthread_cond_destroy(&p->wake);
  pthread_mutex_destroy(&p->lock);
  vt_alloc_free(p->a, p, p->bytes);
}

static void begin_run(vt_pool *p, uint64_t n, vt_job_fn *fn, void *context) {
  p->fn = fn;
  p->context = context;
  p->n = n;
  atomic_store_explicit(&p->done, 0, memory_order_relaxed);
  atomic_store_explicit(&p->left, n, memory_order_release);
  announce(p);
}

static void end_run(vt_pool *p) {
  for (int i = 0; i < p->looks && atomic_load(&p->done) < p->n; i++) vt_cpu_pause();
  if (atomic_load(&p->done) == p->n) return;
  pthread_mutex_lock(&p->lock);
  atomic_store(&p->is_waiting, 1);
  while (atomic_load(&p->done) < p->n) pthread_cond_wait(&p->idle, &p->lock);
  atomic_store(&p->is_waiting, 0);
  pthread_mutex_unlock(&p->lock);
}

/* One job, or no worker: waking anybody would cost more than it could save. */
void vt_pool_run(vt_pool *p, uint64_t n, vt_job_fn *fn, void *context) {
  vt_fpenv caller;
  vt_fpenv_enter(&caller);
  if (n < 2 || p->n_workers == 0) {
    for (uint64_t job = 0; job < n; job++) fn(context, job);
  } else {
    begin_run(p, n, fn, context);
    take_jobs(p);
    end_run(p);
  }
  vt_fpenv_leave(&caller);
}
