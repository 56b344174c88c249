/* SPDX-License-Identifier: Apache-2.0
 * philox_test.c - the known answers of Random123, and the uniform and normal numbers made from the
 * words.
 *
 *   philox_test SEED STREAM STEP FIRST COUNT    prints words, uniforms and normals instead;
 *                                               philox_page_test.py compares them */
#include <inttypes.h>
#include <math.h>
#include "num_test.h"

/* The three rows "philox4x32 10" of kat_vectors, as published with Random123: counter and key are
 * all zeros, all ones, and digits of pi. */
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

static void test_uniform_numbers(void) {
  const uint32_t words[4] = {0, UINT32_MAX, 0x80000000u, 0x000001ffu};
  CHECK(same_f32(vt_philox_uniform(words, 0), 0.0f));
  /* The largest uniform number is below 1. */
  CHECK(same_f32(vt_philox_uniform(words, 1), 1.0f - 0x1p-24f));
  CHECK(same_f32(vt_philox_uniform(words, 2), 0.5f));
  CHECK(same_f32(vt_philox_uniform(words, 3), 0x1p-24f));
  /* Element i uses word i mod 4. */
  CHECK(same_f32(vt_philox_uniform(words, UINT64_C(1) << 40 | 6), 0.5f));
}

/* The first eight normal numbers of seed 0, stream 0, step 0, computed once in high precision with
 * a rounding to f32 after every operation. */
static void test_normal_numbers(void) {
  static const uint32_t want[8] = {0x3f7dbb34u, 0xbf6cb6adu, 0xbf1e1ba1u, 0xbef6d1acu,
                                   0xbe1d534eu, 0x3e392a6cu, 0x3f54ec98u, 0x3e4a2d9au};
  for (uint64_t i = 0; i < 8; i++) {
    uint32_t words[4];
    vt_philox(0, 0, 0, i / 4, words);
    CHECK(vt_f32_bits(vt_philox_normal(words, i)) == want[i]);
  }
  /* words that give the smallest u, then the largest */
  const uint32_t ends[4] = {0, 0, UINT32_MAX, UINT32_MAX};
  CHECK(isfinite(vt_philox_normal(ends, 0)) && vt_philox_normal(ends, 0) > 5.0f);
  /* u = 1: the radius is sqrt(-2 * +0) = -0, and the angle is just below a full circle. */
  CHECK(same_f32(vt_philox_normal(ends, 2), -0.0f) && same_f32(vt_philox_normal(ends, 3), 0.0f));
}

/* Every single bit of key and counter changes all four words; the same key and counter give the
 * same words again. */
static void test_every_bit_of_key_and_counter(void) {
  uint32_t base[4], other[4];
  vt_philox(5, 6, 7, 8, base);
  for (int bit = 0; bit < 192; bit++) {
    const uint64_t in_seed = bit < 64 ? UINT64_C(1) << bit : 0;
    const uint64_t in_block = bit >= 64 && bit < 128 ? UINT64_C(1) << (bit - 64) : 0;
    const uint32_t in_stream = bit >= 128 && bit < 160 ? 1u << (bit - 128) : 0;
    const uint32_t in_step = bit >= 160 ? 1u << (bit - 160) : 0;
    vt_philox(5 ^ in_seed, 6 ^ in_stream, 7 ^ in_step, 8 ^ in_block, other);
    for (int k = 0; k < 4; k++) CHECK(other[k] != base[k]);
  }
  vt_philox(5, 6, 7, 8, other);
  for (int k = 0; k < 4; k++) CHECK(other[k] == base[k]);
}

/* Compares the uniform and normal numbers with their definition, recomputed from the words by
 * public functions. */
static void test_numbers_by_definition(void) {
  uint64_t seed = 53;
  for (int i = 0; i < 100000; i++) {
    const uint64_t key = random_u64(&seed), at = random_u64(&seed);
    uint32_t w[4];
    vt_philox(key, (uint32_t)i, (uint32_t)(at >> 7), at / 4, w);
    const uint32_t even = w[at % 4 / 2 * 2], odd = w[at % 4 / 2 * 2 + 1];
    const float u = (float)((even >> 8) + 1) / 0x1p24f, t = (float)(odd >> 8) / 0x1p24f;
    const float log_u = vt_f32_log(u), square = -2.0f * log_u, angle = t * 0x1.921fb6p+2f;
    const float r = vt_f32_sqrt(square);
    const float want = at % 2 == 0 ? r * vt_f32_cos(angle) : r * vt_f32_sin(angle);
    CHECK(same_f32(vt_philox_normal(w, at), want));
    CHECK(same_f32(vt_philox_uniform(w, at), (float)(w[at % 4] / 256) / 0x1p24f));
  }
}

/* Mean, variance and correlation of the normal numbers. They test not the generator but how words
 * become numbers: a swapped word or a wrong pair would show. */
static void test_moments_of_normal_numbers(void) {
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

static int print_draws(char **argv) {
  const uint64_t seed = strtoull(argv[1], NULL, 0), first = strtoull(argv[4], NULL, 0);
  const uint32_t stream = (uint32_t)strtoul(argv[2], NULL, 0);
  const uint32_t step = (uint32_t)strtoul(argv[3], NULL, 0);
  for (uint64_t i = first; i < first + strtoull(argv[5], NULL, 0); i++) {
    uint32_t w[4];
    vt_philox(seed, stream, step, i / 4, w);
    printf("%08" PRIx32 " %08" PRIx32 " %08" PRIx32 "\n", w[i % 4],
           vt_f32_bits(vt_philox_uniform(w, i)), vt_f32_bits(vt_philox_normal(w, i)));
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 6) return print_draws(argv);
  test_known_answers();
  test_every_bit_of_key_and_counter();
  test_numbers_by_definition();
  test_uniform_numbers();
  test_normal_numbers();
  test_moments_of_normal_numbers();
  TEST_DONE();
}
