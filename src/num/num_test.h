/* SPDX-License-Identifier: Apache-2.0
 * num_test.h - shared by the tests of src/num: comparison of bits in which all NaN are equal, and
 * random patterns from a fixed seed: any_* gives numbers of every class, ordinary_* finite numbers
 * near 1 in size. */
#ifndef VT_NUM_TEST_H
#define VT_NUM_TEST_H
#include <stdint.h>
#include <string.h>
#include "vt_num.h"
#include "vt_test.h"

static inline int same_f32(float a, float b) {
  return (a != a && b != b) || vt_f32_bits(a) == vt_f32_bits(b);
}
static inline int same_f64(double a, double b) {
  return (a != a && b != b) || vt_f64_bits(a) == vt_f64_bits(b);
}

/* The next pseudo-random number: splitmix64. */
static inline uint64_t random_u64(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

enum {
#define VT_FUNCTION(name, estimate, oracle) FUNCTION_##name,
#include "functions.def"
#undef VT_FUNCTION
  N_FUNCTIONS
};

/* Adds a result to a digest as in hard.def: results in order, all NaN equal. */
static inline uint64_t digest_add_result(uint64_t h, float y) {
  h = (h ^ (y != y ? 0x7fc00000u : vt_f32_bits(y))) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

/* A random pair of VT_RANDOM_POW: x from 2^-16 to 2^17, |y| from 2^-4 to 2^4. */
static inline void random_pow_pair(uint64_t *state, float *x, float *y) {
  const uint64_t r = random_u64(state);
  const uint32_t e = 111 + (uint32_t)(r >> 55) % 33, d = 123 + (uint32_t)(r >> 46) % 8;
  *x = vt_f32_from_bits(e << 23 | ((uint32_t)r & 0x7fffff));
  *y = vt_f32_from_bits((uint32_t)(r >> 54) << 31 | d << 23 | ((uint32_t)(r >> 23) & 0x7fffff));
}

/* Sanitizers make everything several times slower, so long tests do less with them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

/* Returns whether this is `make test-full`, which runs the long forms of tests. */
static inline int is_long_form(void) { return getenv("VOLTA_TEST_FULL") != NULL; }

/* A random number near 1 in size, so that sums and products of several stay finite and are rounded.
 */
static inline float ordinary_f32(uint64_t *state) {
  const uint64_t r = random_u64(state);
  const uint32_t sign = (uint32_t)(r >> 63) << 31, exponent = 120 + (uint32_t)(r >> 40) % 12;
  return vt_f32_from_bits(sign | exponent << 23 | ((uint32_t)r & 0x7fffff));
}
static inline double ordinary_f64(uint64_t *state) {
  const uint64_t r = random_u64(state), e = 1016 + random_u64(state) % 12;
  return vt_f64_from_bits((r & UINT64_C(0x800fffffffffffff)) | e << 52);
}

/* A random number of any class: any pattern, sparse fractions (ties), zeros, subnormals,
 * infinities, NaN. */
static inline float any_f32(uint64_t *state) {
  const uint64_t r = random_u64(state);
  const uint32_t u = (uint32_t)(r >> 32), sign = u & 0x80000000u;
  switch (r % 16) {
    case 0:
      return vt_f32_from_bits(sign);
    case 1:
      return vt_f32_from_bits(sign | (u & 0x7fffff));
    case 2:
      return vt_f32_from_bits(sign | 0x7f800000u);
    case 3:
      return vt_f32_from_bits(u | 0x7fc00000u);
    case 4:
    case 5:
    case 6:
      return vt_f32_from_bits(u & 0xff801001u);
    default:
      return vt_f32_from_bits(u);
  }
}
static inline double any_f64(uint64_t *state) {
  const uint64_t r = random_u64(state), u = random_u64(state), sign = u & UINT64_C(1) << 63;
  switch (r % 16) {
    case 0:
      return vt_f64_from_bits(sign);
    case 1:
      return vt_f64_from_bits(sign | (u & UINT64_C(0xfffffffffffff)));
    case 2:
      return vt_f64_from_bits(sign | UINT64_C(0x7ff0000000000000));
    case 3:
      return vt_f64_from_bits(u | UINT64_C(0x7ff8000000000000));
    case 4:
    case 5:
    case 6:
      return vt_f64_from_bits(u & UINT64_C(0xfff0000004000001));
    default:
      return vt_f64_from_bits(u);
  }
}
#endif
