/* SPDX-License-Identifier: Apache-2.0
 * kern_map.h - pointwise kernels over arrays without gaps: the rows of maps.def, selections and
 * casts. */
#ifndef VT_KERN_MAP_H
#define VT_KERN_MAP_H
#include <stdint.h>
#include "kern_types.h"
#include "vt_maps.h"

/* y[i] from x[0][i], x[1][i], ... for i in 0..n-1. y may be one of x; otherwise it overlaps none.
 */
typedef void vt_cpu_map_fn(void *y, const void *const *x, int64_t n);

typedef struct vt_cpu_maps {
  vt_cpu_map_fn *of[VT_MAPS][VT_CPU_TYPES];        /* by row and type of operands; NULL: none */
  vt_cpu_map_fn *select[VT_CPU_TYPES];             /* x[0] are truth values */
  vt_cpu_map_fn *cast[VT_CPU_TYPES][VT_CPU_TYPES]; /* from, to */
  vt_cpu_map_fn *canonical[VT_CPU_TYPES]; /* every NaN as the one, truth as 1; NULL: as it is */
  /* y[i] = exp(x[i] - m), each operation rounded; y may be x. */
  void (*exp_less)(float *y, const float *x, float m, int64_t n);
} vt_cpu_maps;
#endif
