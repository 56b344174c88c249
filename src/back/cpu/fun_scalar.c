/* SPDX-License-Identifier: Apache-2.0
 * fun_scalar.c - compiles the functions of src/num for the row scalar of isa.def, with the options
 * that cmake/isa.cmake sets. */
#include "words_scalar.h"
#define VT_ISA_WORD scalar
#include "fun_all.inc"
