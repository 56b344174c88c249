/* SPDX-License-Identifier: Apache-2.0
 * cli_values.c - converts digests, types, indices and elements to text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cli.h"

void cli_hex(const uint8_t digest[32], char out[CLI_HEX_SIZE]) {
  for (int i = 0; i < 32; i++) snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* Appends "[1, 2, 3]" to the text in `out`. */
static void append_bracketed_list(const int64_t *v, uint32_t n, char out[CLI_TYPE_SIZE]) {
  size_t at = strlen(out);
  at += (size_t)snprintf(out + at, CLI_TYPE_SIZE - at, "[");
  for (uint32_t i = 0; i < n && at < CLI_TYPE_SIZE; i++)
    at += (size_t)snprintf(out + at, CLI_TYPE_SIZE - at, "%s%" PRId64, i == 0 ? "" : ", ", v[i]);
  if (at < CLI_TYPE_SIZE) snprintf(out + at, CLI_TYPE_SIZE - at, "]");
}

void cli_type_text(const vt_tensor *t, char out[CLI_TYPE_SIZE]) {
  const char *name = vt_dtype_name(t->dtype);
  snprintf(out, CLI_TYPE_SIZE, "%s", name != NULL ? name : "?");
  append_bracketed_list(t->dim, t->rank, out);
}

void cli_index_text(const vt_tensor *t, uint64_t i, char out[CLI_TYPE_SIZE]) {
  int64_t at[VT_MAX_RANK] = {0};
  for (uint32_t a = t->rank; a-- > 0;) {
    const uint64_t size = t->dim[a] > 0 ? (uint64_t)t->dim[a] : 1;
    at[a] = (int64_t)(i % size);
    i /= size;
  }
  out[0] = '\0';
  append_bracketed_list(at, t->rank, out);
}

int cli_dtype_is_float(uint32_t dtype) {
  return dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64 || dtype == VT_DTYPE_F16 ||
         dtype == VT_DTYPE_BF16;
}

int cli_is_nan(double v) { return v != v; }

int cli_is_inf(double v) { return v == v && v - v != 0; }

static uint64_t element_bits(const vt_tensor *t, uint64_t i) {
  const uint64_t size = vt_dtype_bytes(t->dtype);
  const char *p = (const char *)t->data + i * size;
  uint8_t b8;
  uint16_t b16;
  uint32_t b32;
  uint64_t b64;
  if (size == 1) return memcpy(&b8, p, 1), b8;
  if (size == 2) return memcpy(&b16, p, 2), b16;
  if (size == 4) return memcpy(&b32, p, 4), b32;
  return memcpy(&b64, p, 8), b64;
}

static double f32_value(uint64_t bits) {
  const uint32_t low = (uint32_t)bits;
  float f;
  memcpy(&f, &low, sizeof f);
  return (double)f;
}

/* A normal f16 becomes an f32 with a wider exponent; a subnormal f16 is a multiple of 2^-24. */
static double f16_value(uint64_t bits) {
  const uint64_t sign = bits >> 15 & 1, exponent = bits >> 10 & 31, fraction = bits & 1023;
  if (exponent == 0) return (sign != 0 ? -0x1p-24 : 0x1p-24) * (double)fraction;
  const uint64_t wide = exponent == 31 ? 255 : exponent + 112;
  return f32_value(sign << 31 | wide << 23 | fraction << 13);
}

static double float_value(uint32_t dtype, uint64_t bits) {
  double d;
  if (dtype == VT_DTYPE_F32) return f32_value(bits);
  if (dtype == VT_DTYPE_BF16) return f32_value(bits << 16);
  if (dtype == VT_DTYPE_F16) return f16_value(bits);
  return memcpy(&d, &bits, sizeof d), d;
}

static int64_t integer_value(uint32_t dtype, uint64_t bits) {
  if (dtype == VT_DTYPE_I8) return (int8_t)(uint8_t)bits;
  if (dtype == VT_DTYPE_I32) return (int32_t)(uint32_t)bits;
  return (int64_t)bits;
}

/* 1 if `text` parses to `value` in the type `dtype`. Fewer digits are enough for a type that is
 * narrower than f64. */
static int reads_back(uint32_t dtype, double value, const char *text) {
  if (dtype == VT_DTYPE_F64) return strtod(text, NULL) == value;
  return strtof(text, NULL) == (float)value;
}

/* Prints the fewest digits that parse back to `value`. Whole numbers below 10^9 get no exponent. */
static void float_text(uint32_t dtype, double value, char out[CLI_VALUE_SIZE]) {
  const double size = value < 0 ? -value : value;
  if (size < 1e9 && size == (double)(int64_t)size && size != 0) {
    snprintf(out, CLI_VALUE_SIZE, "%.0f", value);
    return;
  }
  snprintf(out, CLI_VALUE_SIZE, "%s", "nan");
  for (int digits = 1; digits <= 17 && !cli_is_nan(value); digits++) {
    snprintf(out, CLI_VALUE_SIZE, "%.*g", digits, value);
    if (reads_back(dtype, value, out)) return;
  }
}

void cli_text_of_element_bits(uint32_t dtype, uint64_t bits, char out[CLI_VALUE_SIZE]) {
  if (cli_dtype_is_float(dtype))
    float_text(dtype, float_value(dtype, bits), out);
  else if (dtype == VT_DTYPE_BOOL)
    snprintf(out, CLI_VALUE_SIZE, "%s", bits != 0 ? "true" : "false");
  else
    snprintf(out, CLI_VALUE_SIZE, "%" PRId64, integer_value(dtype, bits));
}

void cli_element_text(const vt_tensor *t, uint64_t i, char out[CLI_VALUE_SIZE]) {
  cli_text_of_element_bits(t->dtype, element_bits(t, i), out);
}

double cli_element_number(const vt_tensor *t, uint64_t i) {
  const uint64_t bits = element_bits(t, i);
  if (cli_dtype_is_float(t->dtype)) return float_value(t->dtype, bits);
  return (double)integer_value(t->dtype, bits);
}

void cli_print_first_elements(const vt_tensor *t, uint64_t count) {
  for (uint64_t i = 0; i < count && i < CLI_FIRST_VALUES; i++) {
    char text[CLI_VALUE_SIZE];
    cli_element_text(t, i, text);
    cli_print("%s%s", i == 0 ? "" : " ", text);
  }
  if (count > CLI_FIRST_VALUES) cli_print(" ...");
}
