/* SPDX-License-Identifier: Apache-2.0
 * device_crew.c - see device_crew.h. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>
#include "device_crew.h"
#include "vt_fpenv.h"

enum {
  MOST_THREADS = 64,
  PLANTED = 9 /* PLANTED: index of the result in which a bit is inverted; every slice has a result
                 with this index */
};

typedef struct worker {
  pthread_t thread;
  fd_slot slot;
  work *work;
} worker;
static worker workers[MOST_THREADS];
static unsigned n_workers;

static void run_slices(work *w, fd_slot *s) {
  for (unsigned i; w->error == NULL && (i = w->next++) < w->n_slices;) {
    const char *error = w->compute(w, s, i);
    if (error != NULL) {
      w->error = error;
      return;
    }
    if (w->plant) s->host[PLANTED] ^= 1;
    w->bad += w->compare(w, s, i);
  }
}

static void *run_worker(void *context) {
  worker *me = context;
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  run_slices(me->work, &me->slot);
  vt_fpenv_leave(&saved);
  return NULL;
}

const char *crew_check_slices(work *w) {
  unsigned started = 0;
  for (; started < n_workers; started++) {
    workers[started].work = w;
    if (pthread_create(&workers[started].thread, NULL, run_worker, &workers[started]) != 0) break;
  }
  for (unsigned i = 0; i < started; i++) pthread_join(workers[i].thread, NULL);
  return started == 0 ? "no thread could be started" : w->error;
}

const char *crew_open_slots(void) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const unsigned wanted = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (unsigned)cores;
  for (; n_workers < wanted; n_workers++) {
    const char *error = fd_slot_open(&workers[n_workers].slot);
    if (error != NULL) return error;
  }
  return NULL;
}

void crew_close_slots(void) {
  for (unsigned i = 0; i < n_workers; i++) fd_slot_close(&workers[i].slot);
}

unsigned crew_slot_count(void) { return n_workers; }
fd_slot *crew_first_slot(void) { return &workers[0].slot; }

double crew_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
