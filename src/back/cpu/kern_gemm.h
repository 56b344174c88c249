/* SPDX-License-Identifier: Apache-2.0
 * kern_gemm.h - one table of the kernels of an instruction set. */
#ifndef VT_KERN_GEMM_H
#define VT_KERN_GEMM_H
#include <stdint.h>

typedef struct vt_cpu_gemms {
  int unused;
} vt_cpu_gemms;
#endif
