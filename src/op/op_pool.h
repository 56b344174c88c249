/* SPDX-License-Identifier: Apache-2.0
 * op_pool.h - reads the attributes of the different pools into one struct, because their groups
 * differ in fields but not in meaning. Private to src/op. The one order is the total order of
 * numbers: -0 < +0, and NaN is the greatest. */
#ifndef VT_OP_POOL_H
#define VT_OP_POOL_H
#include "vt_builder.h"
#include "vt_window.h"

typedef struct vt_pooling {
  vt_window_lists l;       /* the attributes kernel, stride, dilation, low, high */
  int ceil, count_padding; /* ceil: the number of windows is rounded up; count_padding: taps on
                              padding count in an average */
} vt_pooling;

static inline vt_pooling vt_pooling_max(const vt_attr_max_pool *a) {
  return (vt_pooling){{&a->kernel, &a->stride, &a->dilation, &a->low, &a->high}, a->ceil != 0, 0};
}

static inline vt_pooling vt_pooling_avg(const vt_attr_avg_pool *a) {
  return (vt_pooling){{&a->kernel, &a->stride, &a->dilation, &a->low, &a->high},
                      a->ceil != 0,
                      a->count_padding != 0};
}

static inline vt_pooling vt_pooling_avg_grad(const vt_attr_avg_pool_grad *a) {
  return (vt_pooling){{&a->kernel, &a->stride, &a->dilation, &a->low, &a->high},
                      a->ceil != 0,
                      a->count_padding != 0};
}

/* The window along spatial axis i. If the node has no stride, the stride is the kernel size, so
 * that the windows do not overlap. */
static inline vt_window vt_pooling_axis(const vt_pooling *p, uint32_t i) {
  const int64_t kernel = vt_window_entry(p->l.kernel, i, 1);
  return vt_window_axis(&p->l, i, kernel, kernel);
}

/* Writes a literal of the least value of the type that is not a NaN, in the one order: -inf for
 * floats. */
uint32_t vt_pooling_least_value(vt_builder *b, uint32_t dtype);
#endif
