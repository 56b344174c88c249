/* SPDX-License-Identifier: Apache-2.0
 * kern_int.h - one table of the kernels of an instruction set. */
#ifndef VT_KERN_INT_H
#define VT_KERN_INT_H
#include <stdint.h>

typedef struct vt_cpu_ints {
  int unused;
} vt_cpu_ints;
#endif
