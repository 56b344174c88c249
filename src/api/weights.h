/* SPDX-License-Identifier: Apache-2.0
 * weights.h - the fields of weights. Private to the api. */
#ifndef VT_WEIGHTS_H
#define VT_WEIGHTS_H
#include <pthread.h>
#include <stdatomic.h>
#include "vt_weight_files.h"

struct vt_weights {
  vt_alloc a;
  atomic_uint_fast64_t references;
  vt_weight_list list;
  uint32_t ignore_extra, convert; /* as in vt_weights_options */
  /* Copies on devices, which programs share; see weights_device.c. The lock protects the list. */
  pthread_mutex_t lock;
  struct vt_device_weights *copies;
};
#endif
