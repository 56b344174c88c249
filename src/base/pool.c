/* SPDX-License-Identifier: Apache-2.0
 * pool.c - workers that wait between runs. A run is announced by a new round number under the
 * lock; every worker takes part in every round, if only to find that no job is left, and the run
 * is over when all have come back. So the fields of a round never change under a worker.
 *
 * Who waits looks for a while before it sleeps. The steps of a program follow each other within
 * microseconds and waking a thread takes tens of them. Between two looks the processor is left to
 * whoever else wants it: where there are more threads than processors, to the one that is waited
 * for. What is seen without the lock only ends the looking; the lock decides. */
#include "vt_pool.h"
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include "vt_fpenv.h"

enum { MAX_THREADS = 1024 };
enum { LOOKS_IDLE = 200, LOOKS_BUSY = 4000 }; /* for the next round; for the end of one */

struct vt_pool {
  vt_alloc a;
  size_t bytes;
  unsigned n_workers; /* started and not joined */
  pthread_mutex_t lock;
  pthread_cond_t wake, idle;
  /* Written under the lock. */
  atomic_uint_fast64_t round;
  atomic_uint busy; /* workers that have not finished this round */
  int stop;
  /* The round: written under the lock before the workers wake, read-only until all are back. */
  vt_job_fn *fn;
  void *context;
  uint64_t n;
  atomic_uint_fast64_t next; /* the first job that nobody has taken */
  pthread_t workers[];
};

/* Relaxed is enough: the counter only deals out numbers, the lock publishes the data. */
static void take_jobs(vt_pool *p) {
  for (;;) {
    const uint64_t job = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
    if (job >= p->n) return;
    p->fn(p->context, job);
  }
}

static void look_for_round(vt_pool *p, uint64_t seen) {
  for (int i = 0; i < LOOKS_IDLE && atomic_load(&p->round) == seen; i++) sched_yield();
}

static void look_for_end(vt_pool *p) {
  for (int i = 0; i < LOOKS_BUSY && atomic_load(&p->busy) != 0; i++) sched_yield();
}

/* Waits until a round after `seen` begins. Returns 0 when the pool is closing. */
static int wait_for_round(vt_pool *p, uint64_t *seen) {
  look_for_round(p, *seen);
  pthread_mutex_lock(&p->lock);
  while (p->round == *seen && !p->stop) pthread_cond_wait(&p->wake, &p->lock);
  *seen = p->round;
  const int go = !p->stop;
  pthread_mutex_unlock(&p->lock);
  return go;
}

static void finish_round(vt_pool *p) {
  pthread_mutex_lock(&p->lock);
  if (--p->busy == 0) pthread_cond_signal(&p->idle);
  pthread_mutex_unlock(&p->lock);
}

/* A thread inherits the environment of whoever started it, which may be anything. */
static void *work(void *arg) {
  vt_pool *p = arg;
  vt_fpenv inherited;
  uint64_t seen = 0;
  vt_fpenv_enter(&inherited);
  while (wait_for_round(p, &seen)) {
    take_jobs(p);
    finish_round(p);
  }
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

vt_status vt_pool_new(unsigned threads, vt_alloc a, vt_pool **out, vt_diag *d) {
  if (threads > MAX_THREADS)
    return VT_FAIL(d, VT_LIMIT, "%u threads asked for, at most %d are accepted", threads,
                   MAX_THREADS);
  const unsigned workers = threads > 1 ? threads - 1 : 0;
  const size_t bytes = sizeof(vt_pool) + workers * sizeof(pthread_t);
  vt_pool *p = vt_alloc_new(a, bytes);
  if (p == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for a pool of %u threads", threads);
  p->a = a;
  p->bytes = bytes;
  atomic_init(&p->next, 0);
  atomic_init(&p->round, 0);
  atomic_init(&p->busy, 0);
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
  pthread_mutex_lock(&p->lock);
  p->stop = 1;
  p->round++;
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
  while (p->n_workers > 0) pthread_join(p->workers[--p->n_workers], NULL);
  pthread_cond_destroy(&p->idle);
  pthread_cond_destroy(&p->wake);
  pthread_mutex_destroy(&p->lock);
  vt_alloc_free(p->a, p, p->bytes);
}

static void begin_round(vt_pool *p, uint64_t n, vt_job_fn *fn, void *context) {
  pthread_mutex_lock(&p->lock);
  p->fn = fn;
  p->context = context;
  p->n = n;
  atomic_store_explicit(&p->next, 0, memory_order_relaxed);
  p->busy = p->n_workers;
  p->round++;
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
}

static void end_round(vt_pool *p) {
  look_for_end(p);
  pthread_mutex_lock(&p->lock);
  while (p->busy != 0) pthread_cond_wait(&p->idle, &p->lock);
  pthread_mutex_unlock(&p->lock);
}

/* One job, or no worker: waking anybody would cost more than it could save. */
void vt_pool_run(vt_pool *p, uint64_t n, vt_job_fn *fn, void *context) {
  vt_fpenv caller;
  vt_fpenv_enter(&caller);
  if (n < 2 || p->n_workers == 0) {
    for (uint64_t job = 0; job < n; job++) fn(context, job);
  } else {
    begin_round(p, n, fn, context);
    take_jobs(p);
    end_round(p);
  }
  vt_fpenv_leave(&caller);
}
