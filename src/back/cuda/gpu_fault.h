/* SPDX-License-Identifier: Apache-2.0
 * gpu_fault.h - the record of a run's first index fault, in device memory. All its bits are set
 * until a fault is found; the host reads it after the run. Kernels that check indices store the
 * lowest faulty position of their step in `pending`; the kernel record_fault, issued after them,
 * adds the step. C and CUDA include it. */
#ifndef VT_GPU_FAULT_H
#define VT_GPU_FAULT_H
#include <stdint.h>
#include "gpu_walk.h"

typedef struct vt_gpu_fault {
  /* lowest faulty position of the current step, or UINT64_MAX */
  unsigned long long pending;
  uint32_t none, reserved; /* none: 0 if a fault is recorded in the fields below */
  uint64_t step, position;
  int64_t value;
} vt_gpu_fault;

typedef struct vt_gpu_record_fault {
  vt_gpu_fault *fault;
  uint64_t step;
  const void *index;
  uint32_t wide, reserved; /* wide: 1 if indices are i64, 0 if they are i32 */
  vt_gpu_walk walk;        /* walk over the index tensor */
} vt_gpu_record_fault;
#endif
