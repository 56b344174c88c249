/* SPDX-License-Identifier: Apache-2.0
 * vt_decimal.h - exact conversion between numbers and text, independent of the locale. Reading
 * rounds once, to nearest even, straight to the target type, however many digits the text has.
 * Writing gives the shortest decimal that reads back as the same value. */
#ifndef VT_DECIMAL_H
#define VT_DECIMAL_H
#include <stddef.h>
#include <stdint.h>

/* Reads all of s[0..n): [+-] digits [. digits] [e[+-]digits], or a hexadecimal float such as
 * 0x1.8p-3, or inf, or nan (which gives the canonical NaN). A value too large becomes an infinity,
 * as rounding requires. Returns 1, or 0 when the text is not a number; an empty text and trailing
 * bytes are not numbers. */
int vt_decimal_f64(const char *s, size_t n, double *out);
int vt_decimal_f32(const char *s, size_t n, float *out);
/* Reads a decimal integer with an optional sign. Returns 0 also when it does not fit. */
int vt_decimal_i64(const char *s, size_t n, int64_t *out);

/* Write the shortest text that reads back: "0.5", "1e-05", "-0.0", "inf", "nan", "3.4028235e+38".
 * Decimal exponents -4..15 give plain notation, others scientific. An integral value ends in ".0"
 * ("2.0"), so that it cannot be taken for an integer. At most 32 bytes with the 0. */
enum { VT_DECIMAL_MAX = 32 };
void vt_decimal_print_f64(double x, char out[VT_DECIMAL_MAX]);
void vt_decimal_print_f32(float x, char out[VT_DECIMAL_MAX]);
#endif
