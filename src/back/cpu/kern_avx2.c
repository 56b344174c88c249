/* SPDX-License-Identifier: Apache-2.0
 * kern_avx2.c - the kernels for one row of isa.def; cmake/isa.cmake says with which options. */
#include "vec_avx2.h"
#include "vec_int_avx2.h"
#define VT_ISA_WORD avx2
#include "kern_all.inc"
