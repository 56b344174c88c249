/* SPDX-License-Identifier: Apache-2.0
 * kern_move.h - one table of the kernels of an instruction set. */
#ifndef VT_KERN_MOVE_H
#define VT_KERN_MOVE_H
#include <stdint.h>

typedef struct vt_cpu_moves {
  int unused;
} vt_cpu_moves;
#endif
