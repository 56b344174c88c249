// SPDX-License-Identifier: Apache-2.0
// base.cu - kernels that every program needs: one records index faults, the others write the
// canonical NaN.
#include "gpu_words.cuh"
#include "gpu_fault.h"
#include "gpu_canonical.h"

VT_KERNEL(record_fault, vt_gpu_record_fault, 32) {
  vt_gpu_fault *f = a.fault;
  if (threadIdx.x != 0 || f->pending == UINT64_MAX) return;
  int64_t at[1];
  vt_offsets<1>(a.walk, (int64_t)f->pending, at);
  if (f->none != 0) {
    f->none = 0;
    f->step = a.step;
    f->position = f->pending;
    f->value = a.wide ? ((const int64_t *)a.index)[at[0]] : ((const int32_t *)a.index)[at[0]];
  }
  f->pending = UINT64_MAX;
}

VT_KERNEL(fix_nan_f32, vt_gpu_canonical, 256) {
  float *x = (float *)a.data;
  for (int64_t i = vt_gpu_first_item(); i < a.n; i += vt_gpu_grid_stride())
    if (x[i] != x[i]) ((uint32_t *)a.data)[i] = 0x7fc00000u;
}

VT_KERNEL(fix_nan_f64, vt_gpu_canonical, 256) {
  double *x = (double *)a.data;
  for (int64_t i = vt_gpu_first_item(); i < a.n; i += vt_gpu_grid_stride())
    if (x[i] != x[i]) ((uint64_t *)a.data)[i] = 0x7ff8000000000000u;
}

VT_KERNEL(fix_nan_half, vt_gpu_canonical, 256) {
  uint16_t *x = (uint16_t *)a.data;
  const uint32_t quiet = a.infinity | (a.infinity == 0x7c00u ? 0x200u : 0x40u);
  for (int64_t i = vt_gpu_first_item(); i < a.n; i += vt_gpu_grid_stride())
    if ((x[i] & 0x7fffu) > a.infinity) x[i] = (uint16_t)quiet;
}
