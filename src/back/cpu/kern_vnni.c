/* SPDX-License-Identifier: Apache-2.0
 * kern_vnni.c - integers for processors that multiply and add four bytes in one instruction, beside
 * the other kernels of avx512; cmake/isa.cmake says with which options. */
#include "vec_int_vnni.h"
#include "kern_int.h"
#define VT_INT_TABLE const vt_cpu_ints vt_cpu_ints_vnni
#include "kern_int.inc"
