/* SPDX-License-Identifier: Apache-2.0
 * fun_scalar.c - the functions for one row of isa.def; cmake/isa.cmake says with which options. */
#include "words_scalar.h"
#define VT_ISA_WORD scalar
#include "fun_all.inc"
