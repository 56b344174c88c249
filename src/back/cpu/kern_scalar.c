/* SPDX-License-Identifier: Apache-2.0
 * kern_scalar.c - the kernels for one row of isa.def; cmake/isa.cmake says with which options. */
#include "vec_scalar.h"
#include "vec_int_scalar.h"
#define VT_ISA_WORD scalar
#include "kern_all.inc"
