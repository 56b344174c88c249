/* SPDX-License-Identifier: Apache-2.0
 * fun_avx512.c - the functions for one row of isa.def; cmake/isa.cmake says with which options. */
#include "words_avx512.h"
#define VT_ISA_WORD avx512
#include "fun_all.inc"
