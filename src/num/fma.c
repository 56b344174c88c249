/* SPDX-License-Identifier: Apache-2.0
 * fma.c - fused multiply-add: a*b + c with one rounding, to nearest even.
 * The software versions are right for every input: subnormals, overflow, signed zeros, infinities
 * and NaN. vt_f32_fma and vt_f64_fma use the processor's instruction where it has one; the same
 * bits. */
#include <string.h>
#include "vt_dot.h"
#include "vt_num.h"

/* The patterns, inlined: a call would cost as much as the arithmetic. */
static inline uint64_t bits_of(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
static inline double from_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

float vt_f32_fma(float a, float b, float c) { return vt_dot_kernels_here()->fma_f32(a, b, c); }
double vt_f64_fma(double a, double b, double c) { return vt_dot_kernels_here()->fma_f64(a, b, c); }

/* ---- f32: through f64, rounding to odd on the way ----
 * The product of two f32 is exact in f64 (48 of 53 bits, exponents within +-298). The sum with c is
 * not, and to round it to nearest twice is wrong: with a = b = 1 + 2^-12 and c = 2^-80, the f64 sum
 * drops c and leaves a tie that c should have decided. So the sum is rounded to odd: when it is
 * inexact, of the two f64 around it the one with an odd last bit is taken. An odd last bit stands
 * for "something more beyond", is never a tie of a shorter format, and 53 >= 24 + 2 bits make the
 * second rounding the only one that counts, for subnormal results too. */
float vt_f32_fma_soft(float a, float b, float c) {
  const double p = (double)a * (double)b, z = (double)c;
  const double s = p + z;
  /* p + z = s + e exactly (Knuth's two-sum); NaN when s is not finite. */
  const double zz = s - p, pp = s - zz;
  const double e = (p - pp) + (z - zz);
  uint64_t u = bits_of(s);
  if (s - s == 0.0 && e != 0.0 && (u & 1) == 0) {
    /* s is even and the real sum lies between s and its neighbour on the side of e. In both signs
     * the pattern grows away from zero. e is not 0, therefore s is not 0 either. */
    u = (e > 0.0) == (s > 0.0) ? u + 1 : u - 1;
  }
  return (float)from_bits(u);
}

/* ---- f64: in integers ---- */
__extension__ typedef unsigned __int128 u128;

/* The value (-1)^negative * mant * 2^exp. */
typedef struct wide {
  u128 mant;
  int exp, negative;
} wide;

enum { TOP = 125 }; /* the highest set bit of a normalised mant: one bit above it takes a carry */

static int highest_bit(u128 m) {
  const uint64_t high = (uint64_t)(m >> 64);
  return high != 0 ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)m);
}

/* Moves the highest set bit of a mant that is not 0 to TOP (it may lie one above: then bit 0 is a
 * sticky bit or 0, and is kept as one). */
static wide normalised(wide x) {
  const int up = TOP - highest_bit(x.mant);
  if (up >= 0) x.mant <<= up;
  if (up < 0) x.mant = (x.mant >> 1) | (x.mant & 1);
  x.exp -= up;
  return x;
}

/* A finite double that is not 0. */
static wide unpacked(double x) {
  const uint64_t u = bits_of(x), fraction = u & 0xfffffffffffffu;
  const int e = (int)(u >> 52 & 0x7ff);
  wide w = {.negative = (int)(u >> 63)};
  w.mant = e == 0 ? fraction : fraction | (uint64_t)1 << 52;
  w.exp = (e == 0 ? 1 : e) - 1075;
  return w;
}

/* m >> by, with a last bit that says whether anything was lost. */
static u128 shifted_sticky(u128 m, int by) {
  if (by == 0) return m;
  if (by >= 128) return m != 0;
  return m >> by | ((m << (128 - by)) != 0);
}

/* x + y, up to a sticky last bit. Both are normalised and end in at least 20 zeros (a product has
 * 106 bits, a double 53), so bits are lost only when the exponents differ by more than 20. Then at
 * most one leading bit cancels, and the sticky bit stays far below the 53 bits that count. */
static wide sum_of(wide x, wide y) {
  if (x.exp < y.exp) {
    const wide t = x;
    x = y, y = t;
  }
  y.mant = shifted_sticky(y.mant, x.exp - y.exp);
  if (x.negative == y.negative) {
    x.mant += y.mant;
  } else if (x.mant >= y.mant) {
    x.mant -= y.mant;
  } else { /* only with equal exponents */
    x.mant = y.mant - x.mant;
    x.negative = y.negative;
  }
  return x;
}

/* Nearest even, once. The last place of the result is worth 2^q, q >= -1074. An exponent field and
 * a fraction that meet by addition let a carry run from the fraction into the exponent, from the
 * subnormals into the normals, and from the largest finite value to infinity. */
static double rounded(wide x) {
  x = normalised(x);
  const int q = x.exp + TOP - 52 > -1074 ? x.exp + TOP - 52 : -1074;
  const int drop = q - x.exp; /* >= 73 */
  uint64_t r = 0;             /* drop > 126: less than half of the smallest subnormal */
  if (drop <= TOP + 1) {
    const u128 half = (u128)1 << (drop - 1), rest = x.mant & ((half << 1) - 1);
    r = (uint64_t)(x.mant >> drop);
    r += rest > half || (rest == half && (r & 1) != 0);
  }
  const uint64_t infinity = (uint64_t)0x7ff << 52;
  uint64_t u = ((uint64_t)(q + 1074) << 52) + r;
  if (u > infinity) u = infinity;
  return from_bits(u | (uint64_t)x.negative << 63);
}

static int is_finite(double x) { return x - x == 0.0; }

double vt_f64_fma_soft(double a, double b, double c) {
  if (!is_finite(a) || !is_finite(b)) return a * b + c; /* the product is inf or NaN: exact */
  if (!is_finite(c)) return c + c;                      /* whatever the product overflows to */
  if (a == 0.0 || b == 0.0) return a * b + c;           /* the product is a signed 0: exact */
  if (c == 0.0) return a * b; /* a product that underflows keeps its own sign */
  const wide x = unpacked(a), y = unpacked(b);
  wide p = {.mant = x.mant * y.mant, .exp = x.exp + y.exp, .negative = x.negative ^ y.negative};
  const wide s = sum_of(normalised(p), normalised(unpacked(c)));
  return s.mant == 0 ? 0.0 : rounded(s); /* exact cancellation is +0 */
}
