/* SPDX-License-Identifier: Apache-2.0
 * kern_vnni.c - integer kernels for processors with VNNI, which multiply and add four bytes in one
 * instruction. They replace those of avx512; cmake/isa.cmake sets the compiler options. */
#include "vec_int_vnni.h"
#include "kern_int.h"
#define VT_INT_TABLE const vt_cpu_ints vt_cpu_ints_vnni
#include "kern_int.inc"
