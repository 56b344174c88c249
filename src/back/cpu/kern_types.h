/* SPDX-License-Identifier: Apache-2.0
 * kern_types.h - the number of rows in tables that are indexed by the dtype of an element. */
#ifndef VT_KERN_TYPES_H
#define VT_KERN_TYPES_H
#include "volta/volta_ops.h"

enum { VT_CPU_TYPES = 10 };
#define VT_DTYPE(name, NAME, number, bytes, class) \
  _Static_assert(number < VT_CPU_TYPES, "tables by type have a row for " #name);
#include "dtypes.def"
#undef VT_DTYPE
#endif
