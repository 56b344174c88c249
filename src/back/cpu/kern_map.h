/* SPDX-License-Identifier: Apache-2.0
 * kern_map.h - one table of the kernels of an instruction set. */
#ifndef VT_KERN_MAP_H
#define VT_KERN_MAP_H
#include <stdint.h>

typedef struct vt_cpu_maps {
  int unused;
} vt_cpu_maps;
#endif
