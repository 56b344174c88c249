/* SPDX-License-Identifier: Apache-2.0
 * kern_avx2.c - compiles the kernels for the row avx2 of isa.def, with the options that
 * cmake/isa.cmake sets. */
#include "vec_avx2.h"
#include "vec_int_avx2.h"
#define VT_ISA_WORD avx2
#include "kern_all.inc"
