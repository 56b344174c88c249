/* SPDX-License-Identifier: Apache-2.0
 * kern_scalar.c - compiles the kernels for the row scalar of isa.def, with the options that
 * cmake/isa.cmake sets. */
#include "vec_scalar.h"
#include "vec_int_scalar.h"
#define VT_ISA_WORD scalar
#include "kern_all.inc"
