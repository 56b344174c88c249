/* SPDX-License-Identifier: Apache-2.0
 * pool.c - worker threads that execute batches of jobs; a batch is one call of vt_pool_run. Between
 * batches a worker first spins, because the next batch often comes soon, then sleeps. A thread
 * claims a job by decrementing the atomic count of unclaimed jobs. A claimed job keeps its batch
 * from ending, so only threads with a claimed job may read the fields of the batch. A batch ends
 * when all its jobs are done, however many workers took part. */
#include "vt_pool.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include "vt_cpu.h"
#include "vt_fpenv.h"

/* Iterations of a spinning wait. One takes 10 to 50 nanoseconds, so the wait lasts 0.05 to 0.25
 * milliseconds: longer than falling asleep and being woken takes, also if a hypervisor suspends an
 * idle processor. */
enum { SPINS = 5000 };

struct vt_pool {
  vt_alloc a;
  size_t bytes;
  unsigned n_workers; /* workers that are running: started and not yet joined */
  /* Iterations of spinning before a thread sleeps; 0 if there are more threads than processors. */
  int spins;
  pthread_mutex_t lock;
  pthread_cond_t wake, idle;
  atomic_uint_fast64_t batch; /* number of batches begun so far */
  atomic_uint sleepers;       /* workers that are asleep on `wake`, or about to sleep */
  atomic_int stop;            /* 1 when the pool is closing */
  atomic_int is_waiting;      /* 1 while the caller sleeps on `idle`, or is about to */
  /* The fields of the batch: written before `left`; read only by threads that hold a claimed job.
   */
  vt_job_fn *fn;
  void *context;
  uint64_t n;
  atomic_uint_fast64_t left, done; /* jobs that nobody has claimed yet; jobs that are finished */
  pthread_t workers[];
};

/* Claims a job for the calling thread and writes its number; returns 0 when no job is left. The
 * acquire order makes everything visible that was written before `left` was set. */
static int claim_job(vt_pool *p, uint64_t *out) {
  uint_fast64_t left = atomic_load_explicit(&p->left, memory_order_relaxed);
  do {
    if (left == 0) return 0;
  } while (!atomic_compare_exchange_weak_explicit(&p->left, &left, left - 1, memory_order_acquire,
                                                  memory_order_relaxed));
  *out = p->n - left;
  return 1;
}

/* Counts a job of the batch as done and wakes the caller after the last one. All accesses are
 * sequentially consistent, so either the caller sees that the last job is done, or this thread sees
 * that the caller is waiting. */
static void count_job_as_done(vt_pool *p, uint64_t jobs_of_batch) {
  if (atomic_fetch_add(&p->done, 1) + 1 < jobs_of_batch || !atomic_load(&p->is_waiting)) return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_signal(&p->idle);
  pthread_mutex_unlock(&p->lock);
}

/* Claims and executes jobs until none is left. `n` is read before the job is counted as done: after
 * the last job the caller may overwrite the fields of the batch. */
static void claim_and_run_jobs(vt_pool *p) {
  uint64_t job;
  while (claim_job(p, &job)) {
    const uint64_t n = p->n;
    p->fn(p->context, job);
    count_job_as_done(p, n);
  }
}

/* Sleeps until a batch after number `seen` begins or the pool closes. As in count_job_as_done,
 * either the thread that begins a batch sees the sleeper, or the sleeper sees the new batch. */
static void sleep_until_batch(vt_pool *p, uint64_t seen) {
  pthread_mutex_lock(&p->lock);
  atomic_fetch_add(&p->sleepers, 1);
  while (atomic_load(&p->batch) == seen && !atomic_load(&p->stop))
    pthread_cond_wait(&p->wake, &p->lock);
  atomic_fetch_sub(&p->sleepers, 1);
  pthread_mutex_unlock(&p->lock);
}

/* Waits until a batch after number `*seen` begins; returns 0 when the pool is closing. */
static int wait_for_batch(vt_pool *p, uint64_t *seen) {
  for (int i = 0; i < p->spins && atomic_load_explicit(&p->batch, memory_order_relaxed) == *seen;
       i++)
    vt_cpu_pause();
  if (atomic_load(&p->batch) == *seen) sleep_until_batch(p, *seen);
  *seen = atomic_load(&p->batch);
  return !atomic_load(&p->stop);
}

/* The main function of a worker. It sets the environment of the numerics, because a thread inherits
 * an arbitrary one from the thread that started it. */
static void *worker_main(void *arg) {
  vt_pool *p = arg;
  vt_fpenv inherited;
  uint64_t seen = 0;
  vt_fpenv_enter(&inherited);
  while (wait_for_batch(p, &seen)) claim_and_run_jobs(p);
  return NULL;
}

/* Starts n workers with all signals blocked, because the host program's signal handlers must not
 * run on our threads. Returns 1 if all have started. */
static int start_workers(vt_pool *p, unsigned n) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (p->n_workers < n && pthread_create(&p->workers[p->n_workers], NULL, worker_main, p) == 0)
    p->n_workers++;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return p->n_workers == n;
}

static int init_lock_and_conditions(vt_pool *p) {
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

/* Publishes a new batch to the workers that spin, and wakes those that sleep. */
static void publish_batch(vt_pool *p) {
  atomic_fetch_add(&p->batch, 1);
  if (atomic_load(&p->sleepers) == 0) return;
  pthread_mutex_lock(&p->lock);
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
}

vt_status vt_pool_new(unsigned threads, vt_alloc a, vt_pool **out, vt_diag *d) {
  if (threads > VT_POOL_MAX_THREADS)
    return VT_FAIL(d, VT_LIMIT, "%u threads asked for, at most %d are accepted", threads,
                   VT_POOL_MAX_THREADS);
  const unsigned workers = threads > 1 ? threads - 1 : 0;
  const size_t bytes = sizeof(vt_pool) + workers * sizeof(pthread_t);
  vt_pool *p = vt_alloc_new(a, bytes);
  if (p == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for a pool of %u threads", threads);
  p->a = a;
  p->bytes = bytes;
  p->spins = threads <= vt_cpu_get()->cores ? SPINS : 0;
  if (!init_lock_and_conditions(p)) {
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
  publish_batch(p);
  while (p->n_workers > 0) pthread_join(p->workers[--p->n_workers], NULL);
  pthread_cond_destroy(&p->idle);
  pthread_cond_destroy(&p->wake);
  pthread_mutex_destroy(&p->lock);
  vt_alloc_free(p->a, p, p->bytes);
}

static void begin_batch(vt_pool *p, uint64_t n, vt_job_fn *fn, void *context) {
  p->fn = fn;
  p->context = context;
  p->n = n;
  atomic_store_explicit(&p->done, 0, memory_order_relaxed);
  atomic_store_explicit(&p->left, n, memory_order_release);
  publish_batch(p);
}

static void wait_until_batch_is_done(vt_pool *p) {
  for (int i = 0; i < p->spins && atomic_load(&p->done) < p->n; i++) vt_cpu_pause();
  if (atomic_load(&p->done) == p->n) return;
  pthread_mutex_lock(&p->lock);
  atomic_store(&p->is_waiting, 1);
  while (atomic_load(&p->done) < p->n) pthread_cond_wait(&p->idle, &p->lock);
  atomic_store(&p->is_waiting, 0);
  pthread_mutex_unlock(&p->lock);
}

/* With a single job or no worker the caller executes everything: waking a worker would cost more
 * than it could save. */
void vt_pool_run(vt_pool *p, uint64_t n, vt_job_fn *fn, void *context) {
  vt_fpenv caller;
  vt_fpenv_enter(&caller);
  if (n < 2 || p->n_workers == 0) {
    for (uint64_t job = 0; job < n; job++) fn(context, job);
  } else {
    begin_batch(p, n, fn, context);
    claim_and_run_jobs(p);
    wait_until_batch_is_done(p);
  }
  vt_fpenv_leave(&caller);
}
