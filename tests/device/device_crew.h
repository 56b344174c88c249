/* SPDX-License-Identifier: Apache-2.0
 * device_crew.h - work in slices: the device computes one, a thread here judges it, while others
 * do the same with slots of their own. */
#ifndef VT_DEVICE_CREW_H
#define VT_DEVICE_CREW_H
#include <stdatomic.h>
#include "functions_device.h"

typedef struct work work;
struct work {
  /* Leaves the results of a slice in s->host; 0, or a line that says what went wrong. */
  const char *(*compute)(const work *w, fd_slot *s, unsigned slice);
  /* How many results (or digests) differ. */
  unsigned long long (*judge)(const work *w, const fd_slot *s, unsigned slice);
  int item, way, plant; /* what it is, as the two know it; plant: turn one bit a slice */
  unsigned n_slices;
  atomic_uint next;
  atomic_ullong bad;
  _Atomic(const char *) error;
};

/* A thread and a slot for each core. 0, or what went wrong. */
const char *crew_open(void);
void crew_close(void);
unsigned crew_size(void);
fd_slot *crew_slot(void); /* the first, for what one thread does alone */
/* All slices of w. 0, or what went wrong. */
const char *crew_run(work *w);
double crew_now(void); /* seconds */
#endif
