/* SPDX-License-Identifier: Apache-2.0
 * vt_sort.h - a stable merge sort. If several items may have equal keys and their order matters,
 * `order` must compare an id last. */
#ifndef VT_SORT_H
#define VT_SORT_H
#include "vt_alloc.h"

typedef int vt_order_fn(const void *a, const void *b, const void *context);
/* Sorts `n` items of `size` bytes in place; allocates n*size bytes of scratch from `a` and frees
 * them. */
vt_status vt_sort(void *items, size_t n, size_t size, vt_order_fn *order, const void *context,
                  vt_alloc a) VT_NODISCARD;
#endif
