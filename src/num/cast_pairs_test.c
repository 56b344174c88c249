/* SPDX-License-Identifier: Apache-2.0
 * cast_pairs_test.c - casts between all pairs of types equal an independent statement of the rules.
 * A source value is read exactly into a long double (which holds every f64 and every i64) or an
 * i64, and the rules are restated on that. Sources: all patterns of the 8- and 16-bit types; for
 * wider types the ends of the ranges, the ties of every narrower type with their neighbours, and
 * random patterns. */
#include <float.h>
#include <math.h>
#include <string.h>
#include "num_test.h"
#include "volta/volta_ops.h"

_Static_assert(LDBL_MANT_DIG >= 64, "a long double must hold every i64");

enum { FIRST = VT_DTYPE_F32, LAST = VT_DTYPE_BF16, BATCH = 1000 };

typedef struct kind {
  const char *name;
  size_t bytes;
  int is_float;
  int64_t lo, hi; /* range of an integer type */
} kind;
static const kind kinds[LAST + 1] = {
    [VT_DTYPE_F32] = {"f32", 4, 1, 0, 0},
    [VT_DTYPE_F64] = {"f64", 8, 1, 0, 0},
    [VT_DTYPE_I8] = {"i8", 1, 0, INT8_MIN, INT8_MAX},
    [VT_DTYPE_U8] = {"u8", 1, 0, 0, UINT8_MAX},
    [VT_DTYPE_I32] = {"i32", 4, 0, INT32_MIN, INT32_MAX},
    [VT_DTYPE_I64] = {"i64", 8, 0, INT64_MIN, INT64_MAX},
    [VT_DTYPE_BOOL] = {"bool", 1, 0, 0, 1},
    [VT_DTYPE_F16] = {"f16", 2, 1, 0, 0},
    [VT_DTYPE_BF16] = {"bf16", 2, 1, 0, 0},
};

/* ---- the 16-bit formats: all finite non-negative values, indexed by their patterns ---- */

static double values16[2][0x7f80];

static void init_values_of_16_bit_patterns(void) {
  for (int h = 0; h < 0x7c00; h++) {
    const int e = h >> 10, m = h & 0x3ff;
    values16[0][h] = e == 0 ? ldexp(m, -24) : ldexp(m + 0x400, e - 25);
  }
  for (int h = 0; h < 0x7f80; h++) {
    const int e = h >> 7, m = h & 0x7f;
    values16[1][h] = e == 0 ? ldexp(m, -133) : ldexp(m + 0x80, e - 134);
  }
}

/* The nearest 16-bit value, found by bisection: ties go to the even pattern, and infinity counts as
 * the value after the largest finite one. */
static uint64_t nearest_16_bit_pattern(long double v, int is_bf16) {
  const int infinity = is_bf16 ? 0x7f80 : 0x7c00;
  const double *value = values16[is_bf16];
  const long double a = fabsl(v);
  int lo = 0, hi = infinity; /* value[lo] <= a < value[hi] */
  if (v != v) return is_bf16 ? 0x7fc0 : 0x7e00;
  while (hi - lo > 1) {
    const int mid = (lo + hi) / 2;
    if ((long double)value[mid] <= a) lo = mid;
    if ((long double)value[mid] > a) hi = mid;
  }
  const double place = lo == infinity - 1 ? value[lo] - value[lo - 1] : value[lo + 1] - value[lo];
  const long double midpoint = (long double)value[lo] + (long double)place / 2;
  const int up = a > midpoint || (a == midpoint && lo % 2 != 0);
  return (uint64_t)(lo + up) | (signbit(v) != 0 ? 0x8000 : 0);
}

/* ---- the rules ---- */

static uint64_t load_pattern(const void *p, size_t bytes) {
  uint64_t u = 0;
  memcpy(&u, p, bytes); /* patterns are little-endian, as in files and digests */
  return u;
}

static long double real_value(uint64_t u, uint32_t from) {
  const int is_bf16 = from == VT_DTYPE_BF16, infinity = is_bf16 ? 0x7f80 : 0x7c00;
  const int h = (int)(u & 0x7fff);
  if (from == VT_DTYPE_F32) return (long double)vt_f32_from_bits((uint32_t)u);
  if (from == VT_DTYPE_F64) return (long double)vt_f64_from_bits(u);
  if (h > infinity) return (long double)NAN;
  const double a = h == infinity ? (double)INFINITY : values16[is_bf16][h];
  return (long double)((u & 0x8000) != 0 ? -a : a);
}

static int64_t integer_value(uint64_t u, uint32_t from) {
  if (from == VT_DTYPE_I8) return (int8_t)u;
  if (from == VT_DTYPE_I32) return (int32_t)u;
  if (from == VT_DTYPE_BOOL) return u != 0;
  return (int64_t)u; /* for i64 and u8 */
}

static uint64_t round_to_float(long double v, uint32_t to) {
  if (to == VT_DTYPE_F32) return v != v ? 0x7fc00000u : vt_f32_bits((float)v);
  if (to == VT_DTYPE_F64) return v != v ? UINT64_C(0x7ff8000000000000) : vt_f64_bits((double)v);
  return nearest_16_bit_pattern(v, to == VT_DTYPE_BF16);
}

/* Truncates towards zero and saturates; NaN gives 0. */
static int64_t truncated_and_saturated(long double v, const kind *to) {
  if (v != v) return 0;
  if (v <= (long double)to->lo) return to->lo;
  if (v >= (long double)to->hi) return to->hi;
  return (int64_t)v;
}

static uint64_t expected_pattern(uint64_t u, uint32_t from, uint32_t to) {
  const int floating = kinds[from].is_float;
  const long double v = floating ? real_value(u, from) : (long double)integer_value(u, from);
  if (to == VT_DTYPE_BOOL) return v != 0; /* NaN gives true */
  if (kinds[to].is_float) return round_to_float(v, to);
  const int64_t i = floating ? truncated_and_saturated(v, &kinds[to]) : integer_value(u, from);
  return load_pattern(&i, kinds[to].bytes); /* the result is the low bytes, because integers wrap */
}

/* ---- the sources ---- */

static unsigned char source[BATCH * 8], result[BATCH * 8];
static int n_source;

/* Casts the collected sources to every type and compares the results with the rules. */
static void check_casts_of_sources(uint32_t from) {
  for (uint32_t to = FIRST; to <= LAST; to++) {
    int bad = 0;
    memset(result, 0xa5, sizeof result);
    vt_cast(source, 1, from, result, 1, to, (uint64_t)n_source);
    for (int i = 0; i < n_source; i++) {
      const uint64_t u = load_pattern(source + (size_t)i * kinds[from].bytes, kinds[from].bytes);
      const uint64_t got = load_pattern(result + (size_t)i * kinds[to].bytes, kinds[to].bytes);
      const uint64_t want = expected_pattern(u, from, to);
      if (got != want && bad++ == 0)
        fprintf(stderr, "%s %llx to %s: %llx, want %llx\n", kinds[from].name, (unsigned long long)u,
                kinds[to].name, (unsigned long long)got, (unsigned long long)want);
    }
    CHECK(bad == 0);
  }
  n_source = 0;
}

static void add_source(uint32_t from, uint64_t u) {
  memcpy(source + (size_t)n_source * kinds[from].bytes, &u, kinds[from].bytes);
  if (++n_source == BATCH) check_casts_of_sources(from);
}

/* Adds a number and its neighbours, with both signs. */
static void add_number_and_neighbours(uint32_t from, double v) {
  for (int step = -2; step <= 2; step++)
    if (from == VT_DTYPE_F32) {
      const uint32_t u = vt_f32_bits((float)v) + (uint32_t)step;
      add_source(from, u), add_source(from, u ^ 0x80000000u);
    } else {
      const uint64_t u = vt_f64_bits(v) + (uint64_t)(int64_t)step;
      add_source(from, u), add_source(from, u ^ UINT64_C(1) << 63);
    }
}

/* Adds all values of the 16-bit formats and the midpoints between them, where a cast through f32
 * would round twice; also powers of two and their neighbours, where the ranges of integers end. */
static void add_ties_of_16_bits(uint32_t from) {
  for (int f = 0; f < 2; f++)
    for (int h = 0; h + 1 < (f == 1 ? 0x7f80 : 0x7c00); h++) {
      add_number_and_neighbours(from, (values16[f][h] + values16[f][h + 1]) / 2);
      if (h % 8 == 0) add_number_and_neighbours(from, values16[f][h]);
    }
  for (int e = -150; e <= 128; e++) add_number_and_neighbours(from, ldexp(1.0, e));
  add_number_and_neighbours(from, 65520.0); /* the smallest value that becomes infinite as f16 */
  add_number_and_neighbours(from,
                            0x1.ffp127); /* the smallest value that becomes infinite as bf16 */
  if (from == VT_DTYPE_F64)
    add_number_and_neighbours(from,
                              0x1.ffffffp127); /* the smallest f64 that becomes infinite as f32 */
}

/* Adds midpoints between two f32, and the f64 next to them. */
static void add_f32_ties(uint64_t *seed) {
  for (int i = 0; i < 200000; i++) {
    const uint32_t u = (uint32_t)random_u64(seed) % 0x7f7fffffu;
    const double lo = (double)vt_f32_from_bits(u), hi = (double)vt_f32_from_bits(u + 1);
    add_number_and_neighbours(VT_DTYPE_F64, (lo + hi) / 2);
  }
}

/* Adds midpoints between two numbers of 8, 11, 24 and 53 bits, and the integers next to them. f64
 * cannot hold the longer ones, so a cast through f64 would round twice. */
static void add_i64_ties(uint64_t *seed) {
  static const int bits[] = {7, 10, 23, 52};
  for (int f = 0; f < 4; f++)
    for (int up = 1; up + bits[f] < 63; up++)
      for (int i = 0; i < 20; i++) {
        const uint64_t one = UINT64_C(1) << bits[f], lo = one | (random_u64(seed) & (one - 1));
        const uint64_t midpoint = (lo << up) + (UINT64_C(1) << (up - 1));
        for (int step = -1; step <= 1; step++) {
          add_source(VT_DTYPE_I64, midpoint + (uint64_t)(int64_t)step);
          add_source(VT_DTYPE_I64, 0 - (midpoint + (uint64_t)(int64_t)step));
        }
      }
}

static void add_i64_sources(uint64_t *seed) {
  add_i64_ties(seed);
  for (int e = 0; e < 64; e++)
    for (int step = -3; step <= 3; step++) {
      add_source(VT_DTYPE_I64, (UINT64_C(1) << e) + (uint64_t)(int64_t)step);
      add_source(VT_DTYPE_I64, 0 - (UINT64_C(1) << e) + (uint64_t)(int64_t)step);
    }
  for (int i = 0; i < 300000; i++) { /* numbers of every length; sparse ones are ties */
    const uint64_t r = random_u64(seed), sparse = random_u64(seed) & random_u64(seed);
    add_source(VT_DTYPE_I64, (i % 2 != 0 ? r : r & sparse & sparse >> 20) >> (i % 61));
    add_source(VT_DTYPE_I64, 0 - (r >> (i % 61)));
  }
}

static void add_random_patterns(uint32_t from, uint64_t *seed, int n) {
  for (int i = 0; i < n; i++) add_source(from, random_u64(seed));
}

int main(void) {
  uint64_t seed = 41;
  init_values_of_16_bit_patterns();
  for (uint32_t from = FIRST; from <= LAST; from++) {
    if (kinds[from].bytes <= 2)
      for (uint32_t u = 0; u < (kinds[from].bytes == 1 ? 256u : 65536u); u++) add_source(from, u);
    if (from == VT_DTYPE_F32)
      for (uint32_t i = 0; i < 1u << 20; i++) add_source(from, i * 4099);
    if (from == VT_DTYPE_F32 || from == VT_DTYPE_F64) add_ties_of_16_bits(from);
    if (from == VT_DTYPE_F64) add_f32_ties(&seed), add_random_patterns(from, &seed, 200000);
    if (from == VT_DTYPE_I64) add_i64_sources(&seed);
    if (from == VT_DTYPE_I32)
      for (uint32_t i = 0; i < 1u << 18; i++)
        add_source(from, i * 16411), add_source(from, 0x80000000u - 131072 + i);
    check_casts_of_sources(from);
  }
  TEST_DONE();
}
