/* SPDX-License-Identifier: Apache-2.0
 * integer.c - integer arithmetic (integer.inc), compiled as scalar C11. */
#include "vt_num.h"
#include "integer.inc"

int64_t vt_i64_wrap_add(int64_t a, int64_t b) { return vt_i_add(a, b); }
int64_t vt_i64_wrap_sub(int64_t a, int64_t b) { return vt_i_sub(a, b); }
int64_t vt_i64_wrap_mul(int64_t a, int64_t b) { return vt_i_mul(a, b); }
int64_t vt_i64_div(int64_t a, int64_t b) { return vt_i_div(a, b); }
int64_t vt_i64_mod(int64_t a, int64_t b) { return vt_i_mod(a, b); }
