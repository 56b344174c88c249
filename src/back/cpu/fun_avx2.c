/* SPDX-License-Identifier: Apache-2.0
 * fun_avx2.c - compiles the functions of src/num for the row avx2 of isa.def, with the options that
 * cmake/isa.cmake sets. */
#include "words_avx2.h"
#define VT_ISA_WORD avx2
#include "fun_all.inc"
