/* SPDX-License-Identifier: Apache-2.0
 * kern_map.h - pointwise kernels over arrays without gaps: the rows of maps.def, select and
 * casts. */
#ifndef VT_KERN_MAP_H
#define VT_KERN_MAP_H
#include <stdint.h>
#include "kern_types.h"
#include "vt_maps.h"

/* Computes y[i] from x[0][i], x[1][i], ... for i in 0 .. n-1. y may be one of the x; otherwise it
 * overlaps none of them. */
typedef void vt_cpu_map_fn(void *y, const void *const *x, int64_t n);

typedef struct vt_cpu_maps {
  /* Kernels by row of maps.def and operand type; NULL: no kernel. */
  vt_cpu_map_fn *of[VT_MAPS][VT_CPU_TYPES];
  vt_cpu_map_fn *select[VT_CPU_TYPES];             /* x[0] holds truth values */
  vt_cpu_map_fn *cast[VT_CPU_TYPES][VT_CPU_TYPES]; /* by [source type][destination type] */
  vt_cpu_map_fn *canonical[VT_CPU_TYPES]; /* makes each NaN canonical and each truth value 0 or 1;
                                             NULL: the type needs neither */
  /* y[i] = exp(x[i] - m), the subtraction and exp each rounded once; y may be x. */
  void (*exp_sub)(float *y, const float *x, float m, int64_t n);
} vt_cpu_maps;
#endif
