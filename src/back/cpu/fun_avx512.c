/* SPDX-License-Identifier: Apache-2.0
 * fun_avx512.c - compiles the functions of src/num for the row avx512 of isa.def, with the options
 * that cmake/isa.cmake sets. */
#include "words_avx512.h"
#define VT_ISA_WORD avx512
#include "fun_all.inc"
