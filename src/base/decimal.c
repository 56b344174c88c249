/* SPDX-License-Identifier: Apache-2.0
 * decimal.c - text to binary and back with integer arithmetic and bit operations only, so that
 * neither the rounding mode, nor flush-to-zero, nor the locale can change a result.
 *
 * Reading: the digits become an integer D, and the value is D * 5^e * 2^e. One exact long division
 * gives the first 63 or 64 bits of the value and whether the remainder is 0; these are rounded
 * once, straight to the target type. Writing: the same division gives the first 18 decimal digits
 * of the exact value and whether more follow; the result is the smallest number of digits that
 * reads back. */
#include "vt_decimal.h"
#include <assert.h>
#include <string.h>

/* ---- big integers ------------------------------------------------------------------------- */

/* Big integers: 32-bit words, little-endian, without leading zero words; n == 0 is zero. The
 * largest are 800 digits, or 5^1126, or either one shifted to give a quotient of 64 bits: under
 * 2,800 bits. */
enum { BIG_WORDS = 96 };
typedef struct big {
  uint32_t n;
  uint32_t w[BIG_WORDS];
} big;

static void big_set(big *x, uint64_t v) {
  x->n = 0;
  for (; v != 0; v >>= 32) x->w[x->n++] = (uint32_t)v;
}

/* x = x * m + add */
static void big_mul_add(big *x, uint32_t m, uint32_t add) {
  uint64_t carry = add;
  for (uint32_t i = 0; i < x->n; i++) {
    carry += (uint64_t)x->w[i] * m;
    x->w[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry == 0) return;
  assert(x->n < BIG_WORDS);
  x->w[x->n++] = (uint32_t)carry;
}

static void big_mul_pow5(big *x, unsigned e) {
  const uint32_t five_to_13 = 1220703125; /* the largest power of five in 32 bits */
  for (; e >= 13; e -= 13) big_mul_add(x, five_to_13, 0);
  for (; e > 0; e--) big_mul_add(x, 5, 0);
}

static void big_shift_left(big *x, unsigned bits) {
  const uint32_t words = bits / 32, rest = bits % 32;
  if (x->n == 0) return;
  if (rest != 0) big_mul_add(x, (uint32_t)1 << rest, 0);
  assert(x->n + words <= BIG_WORDS);
  memmove(x->w + words, x->w, x->n * sizeof x->w[0]);
  memset(x->w, 0, words * sizeof x->w[0]);
  x->n += words;
}

static unsigned leading_zeros32(uint32_t v) {
  unsigned n = 0;
  for (; n < 32 && (v >> 31) == 0; n++) v <<= 1;
  return n;
}

static int big_bit_length(const big *x) {
  return x->n == 0 ? 0 : (int)(32 * x->n - leading_zeros32(x->w[x->n - 1]));
}

/* w[0..den->n] -= q * den; returns whether the result is negative. */
static int subtract_product(uint32_t *w, uint32_t q, const big *den) {
  uint64_t carry = 0;
  uint32_t borrow = 0;
  for (uint32_t i = 0; i <= den->n; i++) {
    carry += (uint64_t)q * (i < den->n ? den->w[i] : 0);
    const uint64_t t = (uint64_t)w[i] - (uint32_t)carry - borrow;
    w[i] = (uint32_t)t;
    borrow = (uint32_t)(t >> 63);
    carry >>= 32;
  }
  return borrow != 0;
}

/* w[0..den->n] += den; returns the carry, which cancels the borrow of subtract_product. */
static int add_back(uint32_t *w, const big *den) {
  uint64_t carry = 0;
  for (uint32_t i = 0; i <= den->n; i++) {
    carry += (uint64_t)w[i] + (i < den->n ? den->w[i] : 0);
    w[i] = (uint32_t)carry;
    carry >>= 32;
  }
  return carry != 0;
}

/* Divides one word and leaves the remainder in w. The highest bit of den is set, so the quotient
 * guessed from the leading words is never too small and at most two too large. */
static uint32_t divide_word(uint32_t *w, const big *den) {
  const uint64_t lead = (uint64_t)w[den->n] << 32 | w[den->n - 1];
  const uint64_t guess = lead / den->w[den->n - 1];
  uint32_t q = guess > UINT32_MAX ? UINT32_MAX : (uint32_t)guess;
  for (int below = subtract_product(w, q, den); below; q--) below = !add_back(w, den);
  return q;
}

/* Returns floor(num / den), which must be below 2^64; sets *out_has_rest if the remainder is not 0.
 * Both operands are overwritten. */
static uint64_t big_divide(big *num, big *den, int *out_has_rest) {
  const unsigned shift = leading_zeros32(den->w[den->n - 1]);
  big_shift_left(num, shift);
  big_shift_left(den, shift);
  assert(num->n <= den->n + 2 && den->n + 3 <= BIG_WORDS);
  for (; num->n < den->n + 3; num->n++) num->w[num->n] = 0;
  uint64_t q = 0;
  for (int i = 2; i >= 0; i--) q = q << 32 | divide_word(num->w + i, den);
  uint32_t rest = 0;
  for (uint32_t i = 0; i < num->n; i++) rest |= num->w[i];
  *out_has_rest = rest != 0;
  return q;
}

/* ---- rounding to a format ----------------------------------------------------------------- */

typedef struct format {
  int precision;     /* bits of the significand, the hidden bit included */
  int min_exponent;  /* exponent of the smallest subnormal */
  int digits;        /* decimal digits that always suffice to read back the value */
  uint64_t infinity; /* bit pattern of infinity */
} format;

static const format binary32 = {24, -149, 9, 0x7f800000};
static const format binary64 = {53, -1074, 17, 0x7ff0000000000000};

/* Rounds m * 2^e to nearest even; if `has_rest`, the value is larger by something below 2^e. m is
 * not 0 and, if `has_rest`, has at least 61 bits. The exponent field is above the fraction in the
 * pattern, so a carry out of the fraction increments the exponent, up to infinity. */
static uint64_t round_binary(uint64_t m, int64_t e, int has_rest, const format *f) {
  for (; m >> 63 == 0; e--) m <<= 1;
  if (e > 2000) return f->infinity;
  if (e < -2000) return 0;
  int unit = (int)e + 64 - f->precision; /* exponent of the last bit that is kept */
  if (unit < f->min_exponent) unit = f->min_exponent;
  const int drop = unit - (int)e; /* number of low bits to drop, at least 11 */
  if (drop > 64) return 0;
  const uint64_t kept = drop == 64 ? 0 : m >> drop;
  const uint64_t half = (uint64_t)1 << (drop - 1), dropped = m & (half | (half - 1));
  const int up = dropped > half || (dropped == half && (has_rest || (kept & 1) != 0));
  const uint64_t field = (uint64_t)(unit - f->min_exponent);
  const uint64_t bits = (field << (f->precision - 1)) + kept + (uint64_t)up;
  return bits < f->infinity ? bits : f->infinity;
}

/* Rounds d * 10^e; if `has_rest`, the value is larger by something below 10^e. d is not 0 and is
 * overwritten. */
static uint64_t round_big_times_pow10(big *d, int e, int has_rest, const format *f) {
  big den;
  big_set(&den, 1);
  if (e >= 0)
    big_mul_pow5(d, (unsigned)e);
  else
    big_mul_pow5(&den, (unsigned)-e);
  /* with this shift the quotient has 63 or 64 bits */
  const int shift = big_bit_length(&den) + 63 - big_bit_length(d);
  if (shift >= 0)
    big_shift_left(d, (unsigned)shift);
  else
    big_shift_left(&den, (unsigned)-shift);
  int left;
  const uint64_t q = big_divide(d, &den, &left);
  return round_binary(q, (int64_t)e - shift, has_rest || left, f);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* How many leading digits of a number are kept, in base 10 and in base 16. A midpoint between two
 * f64 has at most 768 significant decimal digits, so beyond 800 digits it only matters whether all
 * others are zero. The same holds beyond sixteen hexadecimal digits, which have at least 61 bits.
 */
enum { DIGITS_10 = 800, DIGITS_16 = 16 };
typedef struct digits {
  uint8_t digit[DIGITS_10];
  int n, max;
  int rest;      /* 1 if a digit that was dropped is not zero */
  int64_t scale; /* exponent: the value is the digits kept, read as an integer, times base^scale */
} digits;

typedef struct cursor {
  const char *p, *end;
} cursor;

static int parse_letter(cursor *c, char lower) {
  if (c->p == c->end || (*c->p | 0x20) != lower) return 0;
  c->p++;
  return 1;
}

static int parse_char(cursor *c, char ch) {
  if (c->p == c->end || *c->p != ch) return 0;
  c->p++;
  return 1;
}

static int parse_sign_is_negative(cursor *c) {
  if (parse_char(c, '-')) return 1;
  (void)parse_char(c, '+');
  return 0;
}

/* Returns whether the rest of the text is exactly `word`. */
static int rest_equals(const cursor *c, const char *word) {
  const size_t n = strlen(word);
  return (size_t)(c->end - c->p) == n && memcmp(c->p, word, n) == 0;
}

static int digit_value(char ch, int base) {
  if (ch >= '0' && ch <= '9') return ch - '0';
  if (base == 16 && ch >= 'a' && ch <= 'f') return ch - 'a' + 10;
  if (base == 16 && ch >= 'A' && ch <= 'F') return ch - 'A' + 10;
  return -1;
}

static void add_digit(digits *x, int v, int after_point) {
  const int leading_zero = x->n == 0 && v == 0, kept = !leading_zero && x->n < x->max;
  if (kept) x->digit[x->n++] = (uint8_t)v;
  if (!kept && !leading_zero) {
    x->rest |= v != 0;
    x->scale += !after_point;
  } else {
    x->scale -= after_point;
  }
}

/* Parses digits; returns 0 if there is not at least one. */
static int parse_digits(cursor *c, int base, int after_point, digits *x) {
  const char *start = c->p;
  for (; c->p != c->end; c->p++) {
    const int v = digit_value(*c->p, base);
    if (v < 0) break;
    add_digit(x, v, after_point);
  }
  return c->p != start;
}

static int parse_mantissa(cursor *c, int base, digits *x) {
  x->n = x->rest = 0;
  x->max = base == 16 ? DIGITS_16 : DIGITS_10;
  x->scale = 0;
  if (!parse_digits(c, base, 0, x)) return 0;
  return !parse_char(c, '.') || parse_digits(c, base, 1, x);
}

/* Parses an optional exponent up to the end of the text. A huge exponent saturates at a number so
 * far out that no digits of a text could bring the value back into range. */
static int parse_exponent(cursor *c, char letter, int64_t *out) {
  int64_t e = 0;
  *out = 0;
  if (c->p == c->end) return 1;
  if (!parse_letter(c, letter)) return 0;
  const int negative = parse_sign_is_negative(c);
  if (c->p == c->end) return 0;
  for (; c->p != c->end; c->p++) {
    const int v = digit_value(*c->p, 10);
    if (v < 0) return 0;
    if (e < 100000000000000000) e = e * 10 + v;
  }
  *out = negative ? -e : e;
  return 1;
}

static int parse_hex(cursor *c, const format *f, uint64_t *out) {
  digits x;
  int64_t e;
  if (!parse_mantissa(c, 16, &x) || !parse_exponent(c, 'p', &e)) return 0;
  uint64_t m = 0;
  for (int i = 0; i < x.n; i++) m = m << 4 | x.digit[i];
  *out = m == 0 ? 0 : round_binary(m, x.scale * 4 + e, x.rest, f);
  return 1;
}

/* Rounds the digits times 10^e. Values of at least 1e310 become infinity and those below 1e-325
 * zero without arithmetic, which keeps the big integers within their bounds. */
static uint64_t round_decimal(const digits *x, int64_t e, const format *f) {
  const int64_t magnitude = x->n + e;
  if (x->n == 0 || magnitude < -325) return 0;
  if (magnitude > 310) return f->infinity;
  big d;
  big_set(&d, 0);
  for (int i = 0; i < x->n; i++) big_mul_add(&d, 10, x->digit[i]);
  return round_big_times_pow10(&d, (int)e, x->rest, f);
}

static int parse_decimal(cursor *c, const format *f, uint64_t *out) {
  digits x;
  int64_t e;
  if (!parse_mantissa(c, 10, &x) || !parse_exponent(c, 'e', &e)) return 0;
  *out = round_decimal(&x, x.scale + e, f);
  return 1;
}

/* Parses a number without its sign and gives the bits of its magnitude. */
static int parse_magnitude(cursor *c, const format *f, uint64_t *out) {
  if (rest_equals(c, "inf")) return *out = f->infinity, 1;
  cursor hex = *c;
  if (parse_char(&hex, '0') && parse_letter(&hex, 'x')) return parse_hex(&hex, f, out);
  return parse_decimal(c, f, out);
}

/* A sign before "nan" is accepted and ignored, because there is only one NaN. */
static int parse_float_bits(const char *s, size_t n, const format *f, int sign_shift,
                            uint64_t *out) {
  if (n == 0) return 0;
  cursor c = {s, s + n};
  uint64_t bits = 0;
  const int negative = parse_sign_is_negative(&c);
  if (rest_equals(&c, "nan")) {
    *out = f->infinity | (uint64_t)1 << (f->precision - 2);
    return 1;
  }
  if (!parse_magnitude(&c, f, &bits)) return 0;
  *out = bits | (uint64_t)negative << sign_shift;
  return 1;
}

int vt_decimal_f64(const char *s, size_t n, double *out) {
  uint64_t bits;
  if (!parse_float_bits(s, n, &binary64, 63, &bits)) return 0;
  memcpy(out, &bits, sizeof bits);
  return 1;
}

int vt_decimal_f32(const char *s, size_t n, float *out) {
  uint64_t bits;
  if (!parse_float_bits(s, n, &binary32, 31, &bits)) return 0;
  const uint32_t narrow = (uint32_t)bits;
  memcpy(out, &narrow, sizeof narrow);
  return 1;
}

int vt_decimal_i64(const char *s, size_t n, int64_t *out) {
  if (n == 0) return 0;
  cursor c = {s, s + n};
  const int negative = parse_sign_is_negative(&c);
  const uint64_t limit = (uint64_t)INT64_MAX + (uint64_t)negative;
  uint64_t u = 0;
  if (c.p == c.end) return 0;
  for (; c.p != c.end; c.p++) {
    const int v = digit_value(*c.p, 10);
    if (v < 0 || u > (limit - (uint64_t)v) / 10) return 0;
    u = u * 10 + (uint64_t)v;
  }
  if (!negative)
    *out = (int64_t)u;
  else
    *out = u == 0 ? 0 : -(int64_t)(u - 1) - 1; /* INT64_MIN has no positive counterpart */
  return 1;
}

/* ---- writing ------------------------------------------------------------------------------ */

/* The value m * 2^q in the form d.dddd... * 10^k: its first 18 digits as an integer, the exponent
 * k, and whether a digit after them is not zero. */
enum { FIRST_DIGITS = 18 };
typedef struct decimal {
  uint64_t digits;
  int k, rest;
} decimal;

static uint64_t pow10_u64(int e) {
  uint64_t p = 1;
  for (; e > 0; e--) p *= 10;
  return p;
}

/* Returns floor(m * 2^exponent2 * 10^(17 - exponent10)), and whether the remainder is not 0. */
static uint64_t scale_to_18_digits(uint64_t m, int exponent2, int exponent10, int *out_has_rest) {
  big num, den;
  const int e = FIRST_DIGITS - 1 - exponent10, shift = exponent2 + e;
  big_set(&num, m);
  big_set(&den, 1);
  if (e >= 0)
    big_mul_pow5(&num, (unsigned)e);
  else
    big_mul_pow5(&den, (unsigned)-e);
  if (shift >= 0)
    big_shift_left(&num, (unsigned)shift);
  else
    big_shift_left(&den, (unsigned)-shift);
  return big_divide(&num, &den, out_has_rest);
}

/* floor(x * log10(2)), exact for every exponent of f64. */
static int floor_log10_pow2(int x) {
  const int64_t t = (int64_t)x * 78913, unit = 1 << 18;
  return (int)(t >= 0 ? t / unit : -((-t + unit - 1) / unit));
}

static decimal first_18_digits(uint64_t m, int exponent2) {
  int high = 63;
  while (m >> high == 0) high--;
  decimal x = {.k = floor_log10_pow2(high + exponent2)}; /* k is the exponent, or one too small */
  x.digits = scale_to_18_digits(m, exponent2, x.k, &x.rest);
  if (x.digits < pow10_u64(FIRST_DIGITS)) return x;
  x.k++;
  x.digits = scale_to_18_digits(m, exponent2, x.k, &x.rest);
  return x;
}

/* Rounds x to `n` digits, to nearest even or up. The result has exactly `n` digits; 999 rounded to
 * two digits becomes 10 with an exponent one larger. */
static decimal round_to_digits(decimal x, int n, int upwards) {
  const uint64_t unit = pow10_u64(FIRST_DIGITS - n), half = unit / 2, dropped = x.digits % unit;
  uint64_t kept = x.digits / unit;
  const int odd = (kept & 1) != 0;
  const int up = upwards || dropped > half || (dropped == half && (x.rest || odd));
  kept += (uint64_t)up;
  if (kept == pow10_u64(n)) {
    kept /= 10;
    x.k++;
  }
  return (decimal){.digits = kept, .k = x.k};
}

static int reads_back(decimal x, int n, uint64_t bits, const format *f) {
  big d;
  big_set(&d, x.digits);
  return round_big_times_pow10(&d, x.k - (n - 1), 0, f) == bits;
}

/* Returns whether some decimal of `n` digits reads back as `bits`, and writes this decimal to *out.
 * If any decimal does, the one nearest to x does, with one exception: above a power of two, values
 * are twice as far apart as below it, so the next decimal upwards may read back when the nearest
 * decimal is below x and does not. */
static int try_digit_count(decimal x, int n, uint64_t bits, const format *f, decimal *out) {
  const uint64_t fraction = bits & (((uint64_t)1 << (f->precision - 1)) - 1);
  *out = round_to_digits(x, n, 0);
  if (reads_back(*out, n, bits, f)) return 1;
  if (fraction != 0) return 0;
  *out = round_to_digits(x, n, 1);
  return reads_back(*out, n, bits, f);
}

/* Finds the shortest decimal that reads back as `bits`, by bisection over the number of digits: a
 * decimal of n digits is also one of n + 1 digits, so if n digits suffice, n + 1 do as well. */
static decimal shortest_decimal(uint64_t bits, const format *f, int *out_n) {
  const int exponent = (int)(bits >> (f->precision - 1));
  const uint64_t hidden = (uint64_t)1 << (f->precision - 1), fraction = bits & (hidden - 1);
  const uint64_t m = exponent != 0 ? fraction | hidden : fraction;
  const decimal x = first_18_digits(m, f->min_exponent + (exponent != 0 ? exponent - 1 : 0));
  int low = 1, high = f->digits;
  decimal best = round_to_digits(x, high, 0), candidate;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (try_digit_count(x, middle, bits, f, &candidate)) {
      best = candidate;
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  *out_n = high;
  return best;
}

static char *append_bytes(char *out, const char *s, int n) {
  memcpy(out, s, (size_t)n);
  return out + n;
}

static char *append_repeated(char *out, char ch, int n) {
  memset(out, ch, (size_t)n);
  return out + n;
}

/* Appends the exponent as e+XX, with at least two digits. */
static char *append_exponent(char *out, int exponent10) {
  const int e = exponent10 < 0 ? -exponent10 : exponent10;
  *out++ = 'e';
  *out++ = exponent10 < 0 ? '-' : '+';
  if (e >= 100) *out++ = (char)('0' + e / 100);
  *out++ = (char)('0' + e / 10 % 10);
  *out++ = (char)('0' + e % 10);
  return out;
}

/* Writes the digits d[0..n), with the point after the first, times 10^exponent10. The longest text
 * is 17 digits with sign, point and "e+308"; plain notation adds at most 15 zeros to few digits. */
static void format_digits(const char *d, int n, int exponent10, char *out) {
  if (exponent10 < -4 || exponent10 > 15) {
    *out++ = d[0];
    if (n > 1) *out++ = '.';
    out = append_exponent(append_bytes(out, d + 1, n - 1), exponent10);
  } else if (exponent10 < 0) {
    out = append_repeated(append_bytes(out, "0.", 2), '0', -exponent10 - 1);
    out = append_bytes(out, d, n);
  } else if (n <= exponent10 + 1) {
    out = append_repeated(append_bytes(out, d, n), '0', exponent10 + 1 - n);
    out = append_bytes(out, ".0", 2);
  } else {
    out = append_bytes(out, d, exponent10 + 1);
    *out++ = '.';
    out = append_bytes(out, d + exponent10 + 1, n - exponent10 - 1);
  }
  *out = 0;
}

static void print_float_bits(uint64_t bits, int negative, const format *f,
                             char out[VT_DECIMAL_MAX]) {
  if (bits > f->infinity) {
    memcpy(out, "nan", 4);
    return;
  }
  if (negative) *out++ = '-';
  if (bits == f->infinity) {
    memcpy(out, "inf", 4);
  } else if (bits == 0) {
    memcpy(out, "0.0", 4);
  } else {
    int n;
    char d[FIRST_DIGITS];
    decimal x = shortest_decimal(bits, f, &n);
    for (int i = n - 1; i >= 0; i--, x.digits /= 10) d[i] = (char)('0' + x.digits % 10);
    format_digits(d, n, x.k, out);
  }
}

void vt_decimal_print_f64(double x, char out[VT_DECIMAL_MAX]) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  print_float_bits(bits & INT64_MAX, (int)(bits >> 63), &binary64, out);
}

void vt_decimal_print_f32(float x, char out[VT_DECIMAL_MAX]) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  print_float_bits(bits & INT32_MAX, (int)(bits >> 31), &binary32, out);
}
