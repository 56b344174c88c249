/* SPDX-License-Identifier: Apache-2.0
 * gpu_leave.h - results that the host looks at: every NaN becomes the canonical one. Read by C and
 * by CUDA. */
#ifndef VT_GPU_LEAVE_H
#define VT_GPU_LEAVE_H
#include <stdint.h>

typedef struct vt_gpu_leave {
  void *data; /* dense */
  int64_t n;
  uint32_t infinity, reserved; /* of leave_half: the bits of +inf in f16 or bf16 */
} vt_gpu_leave;
#endif
