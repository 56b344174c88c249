/* SPDX-License-Identifier: Apache-2.0
 * parse_literal.c - converts a number in the text to a literal of its type, rounded once.
 *
 * For the half types, f16 and bf16, rounding through f64 rounds twice. The second rounding can only
 * be wrong if the f64 is exactly a midpoint of two neighbours of the half type. Then the text is
 * compared with the f64 digit by digit, and the f64 is moved one step towards the text.
 *
 * It also makes the value of a dimension, i64(T), which is known once T is bound. */
#include <stdio.h>
#include <string.h>
#include "parse_state.h"
#include "vt_decimal.h"

int vt_token_is_bool_literal(const vt_token *t) {
  return vt_token_is(t, "true") || vt_token_is(t, "false");
}

int vt_token_starts_literal(const vt_token *t) {
  return t->kind == VT_TOKEN_INT || t->kind == VT_TOKEN_REAL || vt_token_is_bool_literal(t);
}

/* The literal as text for messages, "-129"; a long one is cut. */
static const char *literal_text(const vt_operand *o, char out[VT_TOKEN_TEXT]) {
  const int n = o->at.n > 40 ? 40 : (int)o->at.n;
  snprintf(out, VT_TOKEN_TEXT, "%s%.*s%s", o->negative ? "-" : "", n, o->at.s,
           o->at.n > 40 ? "..." : "");
  return out;
}

/* ---- exact comparison of a decimal with a short f64 ---- */

/* The number 0.d[n-1] d[n-2] ... d[0] times 10^point; the lowest digit comes first. */
enum { DIGITS = 192 };
typedef struct digits {
  int n, point;            /* number of digits, exponent of 10 */
  unsigned char d[DIGITS]; /* decimal digits, 0 to 9 */
} digits;

static void multiply_digits(digits *x, unsigned by) {
  unsigned carry = 0;
  for (int i = 0; i < x->n; i++) {
    const unsigned v = x->d[i] * by + carry;
    x->d[i] = (unsigned char)(v % 10);
    carry = v / 10;
  }
  for (; carry != 0 && x->n < DIGITS; carry /= 10) x->d[x->n++] = (unsigned char)(carry % 10);
}

/* All decimal digits of m * 2^e. Multiplying by 2^-1 is multiplying by 5 and moving the decimal
 * point, so with m < 2^12 and e in -160..160 there are at most 4 + 112 digits. */
static digits exact_digits(uint64_t m, int e) {
  digits x = {0};
  for (; m != 0; m /= 10) x.d[x.n++] = (unsigned char)(m % 10);
  for (int i = 0; i < (e < 0 ? -e : e); i++) multiply_digits(&x, e < 0 ? 5 : 2);
  x.point = x.n + (e < 0 ? e : 0);
  return x;
}

/* A decimal number in the text, without leading zeros. */
typedef struct decimal {
  const char *s, *end; /* its digits; they may contain a '.' */
  int64_t point;       /* number of digits before the decimal point, with the exponent added */
} decimal;

static int64_t parse_exponent(const char *s, const char *end) {
  int64_t v = 0;
  const int negative = s < end && *s == '-';
  if (s < end && (*s == '-' || *s == '+')) s++;
  for (; s < end; s++)
    if (v < INT64_MAX / 16) v = v * 10 + (*s - '0');
  return negative ? -v : v;
}

static decimal parse_decimal(const vt_token *t) {
  decimal x = {.s = t->s, .end = t->s + t->n};
  const char *e = t->s;
  while (e < x.end && *e != 'e' && *e != 'E') e++;
  if (e < x.end) x.point = parse_exponent(e + 1, x.end);
  x.end = e;
  const char *dot = memchr(x.s, '.', (size_t)(x.end - x.s));
  while (x.s < x.end && (*x.s == '0' || *x.s == '.')) x.s++;
  if (dot == NULL) dot = x.end;
  x.point += dot - x.s + (dot < x.s);
  return x;
}

/* Compares the decimal number in token `t`, which is not 0, with `x`: the sign of t - x. */
static int compare_digits(const vt_token *t, const digits *x) {
  decimal a = parse_decimal(t);
  if (a.point != x->point) return a.point > x->point ? 1 : -1;
  int i = x->n - 1;
  for (; a.s < a.end; a.s++) {
    if (*a.s == '.') continue;
    const int right = i >= 0 ? x->d[i--] : 0;
    if (*a.s - '0' != right) return *a.s - '0' > right ? 1 : -1;
  }
  for (; i >= 0; i--)
    if (x->d[i] != 0) return -1;
  return 0;
}

/* ---- types ---- */

/* Moves a positive f64 one step towards the text if its significand has 12 bits or fewer. All
 * values of the half types and the midpoints between them have this form. */
static double move_towards_text(const vt_token *t, double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  int e = (int)(u >> 52) - 1075;
  uint64_t m = (u & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
  for (; (m & 1) == 0; m >>= 1) e++;
  if (m >= 4096 || e < -160 || e > 160) return x;
  const digits exact = exact_digits(m, e);
  u += (uint64_t)compare_digits(t, &exact);
  memcpy(&x, &u, sizeof x);
  return x;
}

/* Number of digits of a hexadecimal float, without leading zeros. */
static uint32_t count_hex_digits(const vt_token *t) {
  uint32_t i = 2, n = 0;
  while (i < t->n && (t->s[i] == '0' || t->s[i] == '.')) i++;
  for (; i < t->n && (t->s[i] | 0x20) != 'p'; i++) n += t->s[i] != '.';
  return n;
}

static vt_status add_half_literal(vt_parser *p, const vt_operand *o, uint32_t dtype,
                                  uint32_t *out) {
  const vt_token *t = &o->at;
  const int hex = t->n > 1 && (t->s[1] | 0x20) == 'x';
  double x;
  if (!vt_decimal_f64(t->s, t->n, &x)) return VT_FAIL_AT(p, t, VT_SYNTAX, "malformed number");
  if (hex && count_hex_digits(t) > 13)
    return VT_FAIL_AT(p, t, VT_LIMIT, "a hexadecimal %s has at most 13 digits",
                      vt_dtype_name(dtype));
  const int digits_only = !hex && t->s[0] >= '0' && t->s[0] <= '9';
  if (digits_only && x > 0x1p-160 && x < 0x1p160) x = move_towards_text(t, x);
  *out = vt_build_number(&p->gb->b, dtype, o->negative && x == x ? -x : x);
  return vt_parse_check_builder(p, t);
}

static vt_status add_float_literal(vt_parser *p, const vt_operand *o, uint32_t dtype,
                                   uint32_t *out) {
  const vt_token *t = &o->at;
  uint64_t bits = 0;
  double x = 0;
  float y = 0;
  const int wide = dtype == VT_DTYPE_F64;
  if (!(wide ? vt_decimal_f64(t->s, t->n, &x) : vt_decimal_f32(t->s, t->n, &y)))
    return VT_FAIL_AT(p, t, VT_SYNTAX, "malformed number");
  if (o->negative && x == x) x = -x;
  if (o->negative && y == y) y = -y;
  uint32_t narrow;
  memcpy(&bits, &x, sizeof x);
  memcpy(&narrow, &y, sizeof y);
  *out = vt_build_bits(&p->gb->b, dtype, wide ? bits : narrow);
  return vt_parse_check_builder(p, t);
}

/* The greatest magnitude of a negative or a positive integer of this type. */
static uint64_t max_magnitude_of_integer(uint32_t dtype, int negative) {
  switch (dtype) {
    case VT_DTYPE_I8:
      return negative ? 128 : 127;
    case VT_DTYPE_U8:
      return negative ? 0 : 255;
    case VT_DTYPE_I32:
      return (uint64_t)INT32_MAX + (uint64_t)negative;
    default:
      return (uint64_t)INT64_MAX + (uint64_t)negative;
  }
}

static vt_status add_int_literal(vt_parser *p, const vt_operand *o, uint32_t dtype, uint32_t *out) {
  const vt_token *t = &o->at;
  const uint64_t most = max_magnitude_of_integer(dtype, o->negative != 0);
  uint64_t v = 0;
  char shown[VT_TOKEN_TEXT];
  if (t->kind != VT_TOKEN_INT) {
    const vt_status s = VT_FAIL_AT(p, t, VT_VERIFY, "%s cannot be of type %s",
                                   literal_text(o, shown), vt_dtype_name(dtype));
    vt_parse_add_hint(p, "a whole number is needed here");
    return s;
  }
  for (uint32_t i = 0; i < t->n; i++) {
    const uint64_t digit = (uint64_t)(t->s[i] - '0');
    if (v > (most - (digit <= most ? digit : most)) / 10 || digit > most)
      return VT_FAIL_AT(p, t, VT_VERIFY, "%s does not fit into %s", literal_text(o, shown),
                        vt_dtype_name(dtype));
    v = v * 10 + digit;
  }
  const int64_t value = o->negative ? -(int64_t)(v - (v != 0)) - (v != 0) : (int64_t)v;
  *out = vt_build_int(&p->gb->b, dtype, value);
  return vt_parse_check_builder(p, t);
}

static vt_status add_bool_literal(vt_parser *p, const vt_operand *o, uint32_t *out) {
  if (o->negative) return VT_FAIL_AT(p, &o->at, VT_VERIFY, "a truth value has no sign");
  *out = vt_build_bits(&p->gb->b, VT_DTYPE_BOOL, (uint64_t)vt_token_is(&o->at, "true"));
  return vt_parse_check_builder(p, &o->at);
}

vt_status vt_parse_literal(vt_parser *p, const vt_operand *o, uint32_t dtype, uint32_t *out) {
  char shown[VT_TOKEN_TEXT];
  const int truth = vt_token_is_bool_literal(&o->at);
  if (truth != (dtype == VT_DTYPE_BOOL))
    return VT_FAIL_AT(p, &o->at, VT_VERIFY, "%s cannot be of type %s", literal_text(o, shown),
                      vt_dtype_name(dtype));
  p->gb->line = o->at.line;
  p->gb->column = o->at.column;
  if (truth) return add_bool_literal(p, o, out);
  if (dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64) return add_float_literal(p, o, dtype, out);
  if (dtype == VT_DTYPE_F16 || dtype == VT_DTYPE_BF16) return add_half_literal(p, o, dtype, out);
  return add_int_literal(p, o, dtype, out);
}

/* ---- dimensions as values ---- */

int vt_parse_starts_dimension(vt_parser *p) {
  char name[VT_NAME_MAX + 1];
  const uint32_t after = p->next.kind;
  const vt_token *t = p->tok.kind == '-' ? &p->next : &p->tok;
  if (t->kind == '(') return 1;
  if (t->kind == VT_TOKEN_INT)
    return t == &p->tok && (after == '+' || after == '-' || after == '*' || after == '/');
  if (t->kind != VT_TOKEN_NAME || vt_token_is_bool_literal(t)) return 0;
  vt_parse_copy_name(t, name);
  const vt_entry *e = vt_scope_find(p, name);
  return e != NULL && (e->kind == VT_ENTRY_SYMBOL || e->kind == VT_ENTRY_CONSTANT);
}

/* A dimension with symbols is the last element of 0, 1, ... , dim: ops that become a literal when
 * the symbols are bound. */
vt_status vt_parse_dim_as_value(vt_parser *p, const vt_token *at, int64_t dim, uint32_t *out) {
  vt_builder *b = &p->gb->b;
  vt_attr_iota upto = {.size = sizeof upto, .shape = {.n = 1}, .dtype = VT_DTYPE_I64};
  vt_attr_slice last = {.size = sizeof last, .start = {1, {dim}}, .stop = {.n = 1}};
  p->gb->line = at->line;
  p->gb->column = at->column;
  if (vt_dim_is_symbolic(dim)) {
    VT_TRY(vt_parse_set_failure_position(p, at,
                                         vt_dim_add(b->dims, dim, 1, &upto.shape.v[0], &p->diag)));
    last.stop.v[0] = upto.shape.v[0];
    const uint32_t all = b->node(b, VT_OP_iota, NULL, 0, &upto);
    *out = vt_build_reshape(b, b->node(b, VT_OP_slice, &all, 1, &last), 0, NULL);
  } else {
    *out = vt_build_int(b, VT_DTYPE_I64, dim);
  }
  return vt_parse_check_builder(p, at);
}
