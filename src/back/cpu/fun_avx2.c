/* SPDX-License-Identifier: Apache-2.0
 * fun_avx2.c - the functions for one row of isa.def; cmake/isa.cmake says with which options. */
#include "words_avx2.h"
#define VT_ISA_WORD avx2
#include "fun_all.inc"
