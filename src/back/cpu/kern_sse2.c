/* SPDX-License-Identifier: Apache-2.0
 * kern_sse2.c - the kernels for one row of isa.def; cmake/isa.cmake says with which options. */
#include "vec_sse2.h"
#include "vec_int_sse2.h"
#define VT_ISA_WORD sse2
#include "kern_all.inc"
