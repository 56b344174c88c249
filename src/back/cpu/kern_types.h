/* SPDX-License-Identifier: Apache-2.0
 * kern_types.h - how many rows a table has that is indexed by the type of an element. */
#ifndef VT_KERN_TYPES_H
#define VT_KERN_TYPES_H
#include "volta/volta_ops.h"

enum { VT_CPU_TYPES = 10 };
_Static_assert((int)VT_DTYPE_BF16 < (int)VT_CPU_TYPES, "the last type of dtypes.def has a row");
#endif
