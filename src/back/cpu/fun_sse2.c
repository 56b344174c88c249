/* SPDX-License-Identifier: Apache-2.0
 * fun_sse2.c - compiles the functions of src/num for the row sse2 of isa.def, with the options that
 * cmake/isa.cmake sets. */
#include "words_sse2.h"
#define VT_ISA_WORD sse2
#include "fun_all.inc"
