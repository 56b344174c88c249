/* SPDX-License-Identifier: Apache-2.0
 * kern_fold.h - one table of the kernels of an instruction set. */
#ifndef VT_KERN_FOLD_H
#define VT_KERN_FOLD_H
#include <stdint.h>

typedef struct vt_cpu_folds {
  int unused;
} vt_cpu_folds;
#endif
