/* SPDX-License-Identifier: Apache-2.0
 * integer.c - integers are two's complement and wrap; division is total.
 * Narrower types compute here as well and are cut to their width afterwards: wrapping commutes with
 * the cut, and a quotient that overflows a narrow type (MIN / -1) is cut to MIN. */
#include "vt_num.h"

/* The arithmetic itself is unsigned, where wrapping is defined. */
int64_t vt_i64_wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
int64_t vt_i64_wrap_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
int64_t vt_i64_wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

/* Truncates; x/0 = 0; MIN/-1 = MIN, which is -MIN wrapped. */
int64_t vt_i64_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return vt_i64_wrap_sub(0, a);
  return a / b;
}

/* Has the sign of a; x mod 0 = x. MIN % -1 is 0, though the machine instruction would trap. */
int64_t vt_i64_mod(int64_t a, int64_t b) {
  if (b == 0) return a;
  if (b == -1) return 0;
  return a % b;
}
