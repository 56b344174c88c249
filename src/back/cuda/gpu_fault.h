/* SPDX-License-Identifier: Apache-2.0
 * gpu_fault.h - what a run leaves about the first index that was out of range: one record on the
 * card, all bits set until something is found, and read after a run. Kernels put the lowest faulty
 * position of their step into `pending`; what settles it knows the step. Read by C and by CUDA. */
#ifndef VT_GPU_FAULT_H
#define VT_GPU_FAULT_H
#include <stdint.h>
#include "gpu_walk.h"

typedef struct vt_gpu_fault {
  unsigned long long pending; /* UINT64_MAX: nothing was at fault */
  uint32_t none, reserved;    /* 0: the rest is set */
  uint64_t step, position;
  int64_t value;
} vt_gpu_fault;

typedef struct vt_gpu_settle {
  vt_gpu_fault *fault;
  uint64_t step;
  const void *index;
  uint32_t wide, reserved; /* 1: i64, 0: i32 */
  vt_gpu_walk walk;        /* of the index alone */
} vt_gpu_settle;
#endif
