/* SPDX-License-Identifier: Apache-2.0
 * kern_avx512.c - compiles the kernels for the row avx512 of isa.def, with the options that
 * cmake/isa.cmake sets. */
#include "vec_avx512.h"
#include "vec_int_avx512.h"
#define VT_ISA_WORD avx512
#include "kern_all.inc"
