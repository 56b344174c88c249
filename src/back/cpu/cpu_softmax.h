/* SPDX-License-Identifier: Apache-2.0
 * cpu_softmax.h - the steps of a softmax along one row without gaps. Private to src/back/cpu. */
#ifndef VT_CPU_SOFTMAX_H
#define VT_CPU_SOFTMAX_H
#include "cpu_backend.h"

float vt_cpu_row_max(const vt_cpu_kernels *k, const float *x, int64_t n);
/* S(e), e = exp(x - m); e is left in y unless that is NULL. */
float vt_cpu_row_exp(const vt_cpu_kernels *k, const float *x, float m, int64_t n, float *y);
#endif
