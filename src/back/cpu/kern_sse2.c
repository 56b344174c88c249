/* SPDX-License-Identifier: Apache-2.0
 * kern_sse2.c - compiles the kernels for the row sse2 of isa.def, with the options that
 * cmake/isa.cmake sets. */
#include "vec_sse2.h"
#include "vec_int_sse2.h"
#define VT_ISA_WORD sse2
#include "kern_all.inc"
