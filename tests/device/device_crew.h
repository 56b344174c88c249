/* SPDX-License-Identifier: Apache-2.0
 * device_crew.h - work in slices: the device computes a slice and a CPU thread checks it, while
 * other threads do the same with slots of their own. A slot is one thread's stream and memory on
 * the device. */
#ifndef VT_DEVICE_CREW_H
#define VT_DEVICE_CREW_H
#include <stdatomic.h>
#include "functions_device.h"

typedef struct work work;
struct work {
  /* Computes a slice into s->host. Returns NULL or an error message. */
  const char *(*compute)(const work *w, fd_slot *s, unsigned slice);
  /* Checks the slice in s->host. Returns how many results (or digests) differ. */
  unsigned long long (*compare)(const work *w, const fd_slot *s, unsigned slice);
  /* item and variant: what compute and compare work on; plant: 1 to invert one bit per slice */
  int item, variant, plant;
  unsigned n_slices;
  atomic_uint next;
  atomic_ullong bad;
  _Atomic(const char *) error;
};

/* Opens a slot for each core; crew_check_slices runs a thread per slot. Returns NULL or an error
 * message. */
const char *crew_open_slots(void);
void crew_close_slots(void);
unsigned crew_slot_count(void);
fd_slot *crew_first_slot(void); /* the first slot, for single-threaded work */
/* Computes and checks all slices of w. Returns NULL or an error message. */
const char *crew_check_slices(work *w);
double crew_seconds(void); /* returns the monotonic time in seconds */
#endif
