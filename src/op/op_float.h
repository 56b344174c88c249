/* SPDX-License-Identifier: Apache-2.0
 * op_float.h - helpers for kernels of f32 and f64 alike. A number of either type is carried as a
 * double, which holds an f32 exactly, and every operation is done in the type itself. S is the
 * ordered sum of docs/numerics.md. */
#ifndef VT_OP_FLOAT_H
#define VT_OP_FLOAT_H
#include "vt_num.h"
#include "vt_op.h"

static inline double vt_float_load(const vt_view *v, int64_t at) {
  if (v->dtype == VT_DTYPE_F32) return (double)((const float *)v->data)[at];
  return ((const double *)v->data)[at];
}

static inline void vt_float_store(const vt_view *v, int64_t at, double x) {
  if (v->dtype == VT_DTYPE_F32) {
    ((float *)v->data)[at] = (float)x;
  } else {
    ((double *)v->data)[at] = x;
  }
}

/* x / count; the count is converted with one rounding. */
static inline double vt_float_divide(uint32_t dtype, double x, int64_t count) {
  return dtype == VT_DTYPE_F32 ? (double)((float)x / (float)count) : x / (double)count;
}

/* The ordered sum S of numbers of type `dtype`. */
typedef struct vt_float_sum {
  uint32_t dtype;
  union {
    vt_sum_f32 f32;
    vt_sum_f64 f64;
  } s;
} vt_float_sum;

static inline void vt_float_sum_init(vt_float_sum *o, uint32_t dtype) {
  o->dtype = dtype;
  if (dtype == VT_DTYPE_F32) {
    vt_sum_f32_init(&o->s.f32);
  } else {
    vt_sum_f64_init(&o->s.f64);
  }
}

static inline void vt_float_sum_add(vt_float_sum *o, double x) {
  if (o->dtype == VT_DTYPE_F32) {
    vt_sum_f32_add(&o->s.f32, (float)x);
  } else {
    vt_sum_f64_add(&o->s.f64, x);
  }
}

static inline double vt_float_sum_done(vt_float_sum *o) {
  return o->dtype == VT_DTYPE_F32 ? (double)vt_sum_f32_done(&o->s.f32) : vt_sum_f64_done(&o->s.f64);
}
#endif
