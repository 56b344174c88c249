/* SPDX-License-Identifier: Apache-2.0
 * philox_test.c - the known answers of Random123, and the numbers made of the words. */
#include <math.h>
#include "num_test.h"

static void test_known_answers(void) {
  static const struct {
    uint64_t seed;
    uint32_t stream, step;
    uint64_t block;
    uint32_t want[4];
  } row[] = {
      {0, 0, 0, 0, {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}},
      {UINT64_MAX,
       UINT32_MAX,
       UINT32_MAX,
       UINT64_MAX,
       {0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}},
      {UINT64_C(0x299f31d0a4093822),
       0x13198a2eu,
       0x03707344u,
       UINT64_C(0x85a308d3243f6a88),
       {0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}},
  };
  for (int i = 0; i < 3; i++) {
    uint32_t out[4];
    vt_philox(row[i].seed, row[i].stream, row[i].step, row[i].block, out);
    for (int k = 0; k < 4; k++) CHECK(out[k] == row[i].want[k]);
  }
}

static void test_uniform(void) {
  const uint32_t words[4] = {0, UINT32_MAX, 0x80000000u, 0x000001ffu};
  CHECK(same_f32(vt_philox_uniform(words, 0), 0.0f));
  CHECK(same_f32(vt_philox_uniform(words, 1), 1.0f - 0x1p-24f)); /* never 1 */
  CHECK(same_f32(vt_philox_uniform(words, 2), 0.5f));
  CHECK(same_f32(vt_philox_uniform(words, 3), 0x1p-24f));
  CHECK(same_f32(vt_philox_uniform(words, UINT64_C(1) << 40 | 6), 0.5f)); /* i mod 4 */
}

/* The first eight normals of seed 0, stream 0, step 0: worked out once in high precision, rounding
 * to f32 after every operation. */
static void test_normal(void) {
  static const uint32_t want[8] = {0x3f7dbb34u, 0xbf6cb6adu, 0xbf1e1ba1u, 0xbef6d1acu,
                                   0xbe1d534eu, 0x3e392a6cu, 0x3f54ec98u, 0x3e4a2d9au};
  for (uint64_t i = 0; i < 8; i++) {
    uint32_t words[4];
    vt_philox(0, 0, 0, i / 4, words);
    CHECK(vt_f32_bits(vt_philox_normal(words, i)) == want[i]);
  }
  const uint32_t ends[4] = {0, 0, UINT32_MAX, UINT32_MAX}; /* the smallest and the largest u */
  CHECK(isfinite(vt_philox_normal(ends, 0)) && vt_philox_normal(ends, 0) > 5.0f);
  CHECK(vt_philox_normal(ends, 2) == 0.0f && vt_philox_normal(ends, 3) == 0.0f);
}

/* Not a test of the generator, but of the mapping: a swapped word or a wrong pair would show. */
static void test_moments(void) {
  enum { N = 1 << 18 };
  double sum = 0, squares = 0, pairs = 0, last = 0;
  for (uint64_t i = 0; i < N; i++) {
    uint32_t words[4];
    vt_philox(42, 1, 0, i / 4, words);
    const double x = (double)vt_philox_normal(words, i);
    sum += x, squares += x * x, pairs += x * last, last = x;
  }
  CHECK(fabs(sum / N) < 0.01 && fabs(squares / N - 1.0) < 0.02 && fabs(pairs / N) < 0.01);
}

int main(void) {
  test_known_answers();
  test_uniform();
  test_normal();
  test_moments();
  TEST_DONE();
}
