/* SPDX-License-Identifier: Apache-2.0
 * kern_avx512.c - the kernels for one row of isa.def; cmake/isa.cmake says with which options. */
#include "vec_avx512.h"
#include "vec_int_avx512.h"
#define VT_ISA_WORD avx512
#include "kern_all.inc"
