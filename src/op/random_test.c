/* SPDX-License-Identifier: Apache-2.0
 * random_test.c - tests the random ops. Philox and the numbers made from its words are restated;
 * an element depends only on its row-major index. Tests uniform, random_integer, bernoulli,
 * dropout, categorical and shuffle, which use these numbers, and the type rules. A draw is a seed,
 * a step and a stream, which select a sequence of words. */
#include "op_test.h"

enum { F32 = VT_DTYPE_F32, I64 = VT_DTYPE_I64 };
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* Philox4x32-10: ten rounds on the counter (block low, block high, stream, step) with the key (seed
 * low, seed high). */
static void philox(uint64_t seed, uint32_t stream, uint32_t step, uint64_t block,
                   uint32_t words[4]) {
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  words[0] = (uint32_t)block;
  words[1] = (uint32_t)(block >> 32);
  words[2] = stream;
  words[3] = step;
  for (int round = 0; round < 10; round++) {
    const uint64_t even = UINT64_C(0xD2511F53) * words[0], odd = UINT64_C(0xCD9E8D57) * words[2];
    const uint32_t next[4] = {(uint32_t)(odd >> 32) ^ words[1] ^ k0, (uint32_t)odd,
                              (uint32_t)(even >> 32) ^ words[3] ^ k1, (uint32_t)even};
    memcpy(words, next, sizeof next);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

static float uniform_from_words(const uint32_t w[4], int64_t i) {
  /* w / 256 has 24 bits, so the conversion and the division by 2^24 are exact. */
  return (float)(w[i % 4] / 256) / 16777216.0f;
}

static float normal_from_words(const uint32_t w[4], int64_t i) {
  const uint32_t even = w[i % 4 < 2 ? 0 : 2], odd = w[i % 4 < 2 ? 1 : 3];
  const float u = ((float)(even / 256) + 1.0f) / 16777216.0f;
  const float t = (float)(odd / 256) / 16777216.0f;
  const float r = vt_f32_sqrt(-2.0f * vt_f32_log(u));
  const float a = t * vt_f32_from_bits(0x40c90fdbu);
  return i % 2 == 0 ? r * vt_f32_cos(a) : r * vt_f32_sin(a);
}

typedef struct draw {
  int64_t seed, step, stream;
} draw;

static vt_view scalar_i64_view(int64_t x) {
  const vt_view v = view_new(I64, 0, NULL, DENSE);
  put_bits(&v, 0, (uint64_t)x);
  return v;
}

static run_result run_random_op(uint32_t op, const draw *d, const vt_attr_list *shape, int layout) {
  const vt_attr_random a = {.size = sizeof a, .shape = *shape, .stream = d->stream};
  const vt_view in[2] = {scalar_i64_view(d->seed), scalar_i64_view(d->step)};
  return run_op(op, &a, in, 2, layout);
}

static void check_random_op(uint32_t op, const draw *d, const vt_attr_list *shape, int layout) {
  test_seed = (uint64_t)d->seed;
  const run_result r = run_random_op(op, d, shape, layout);
  CHECK(r.status == VT_OK && r.out.rank == (uint32_t)shape->n);
  CHECK(r.out.dtype == (op == VT_OP_random_bits ? I64 : F32));
  const int64_t n = count_of_view(&r.out);
  for (int64_t i = 0; i < n; i++) {
    uint32_t w[4];
    philox((uint64_t)d->seed, (uint32_t)d->stream, (uint32_t)d->step, (uint64_t)i / 4, w);
    const uint64_t want = op == VT_OP_random_bits      ? w[i % 4]
                          : op == VT_OP_random_uniform ? vt_f32_bits(uniform_from_words(w, i))
                                                       : vt_f32_bits(normal_from_words(w, i));
    if (!expect_bits(vt_op_get(op)->name, &r.out, i, want)) break;
  }
  free_held();
}

static const draw draws[] = {{0, 0, 0},
                             {1, 0, 0},
                             {0, 1, 0},
                             {0, 0, 1},
                             {-1, 0, 0xffffffff},
                             {INT64_MIN, 7, 12345},
                             {INT64_C(0x0123456789abcdef), 0xffffffff, 0x80000000}};
static const vt_attr_list shapes[] = {{0, {0}},       {1, {0}},       {1, {1}},
                                      {1, {3}},       {1, {4}},       {1, {5}},
                                      {1, {8}},       {1, {257}},     {2, {3, 5}},
                                      {3, {2, 0, 3}}, {3, {5, 1, 7}}, {8, {1, 2, 1, 3, 1, 2, 1, 2}},
                                      {1, {4099}}};

static void test_uniform_and_normal(void) {
  for (int64_t d = 0; d < COUNT(draws); d++)
    for (int64_t s = 0; s < COUNT(shapes); s++)
      for (int layout = 0; layout < LAYOUTS; layout++) {
        check_random_op(VT_OP_random_uniform, &draws[d], &shapes[s], layout);
        check_random_op(VT_OP_random_normal, &draws[d], &shapes[s], layout);
        check_random_op(VT_OP_random_bits, &draws[d], &shapes[s], layout);
      }
}

/* The numbers of random_uniform are made from the words that Random123 publishes for seed 0. */
static void test_published_words(void) {
  static const uint32_t words[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  const vt_attr_list four = {1, {4}};
  const run_result r = run_random_op(VT_OP_random_uniform, &draws[0], &four, DENSE);
  CHECK(r.status == VT_OK);
  for (int64_t i = 0; i < 4; i++) CHECK(get_f32(&r.out, i) == (float)(words[i] >> 8) * 0x1p-24f);
  free_held();
}

/* A longer tensor starts with the elements of a shorter one. Another seed, step or stream gives
 * other numbers. */
static void test_elements_depend_only_on_index(void) {
  const vt_attr_list small = {2, {3, 7}}, large = {1, {100}};
  const run_result a = run_random_op(VT_OP_random_normal, &draws[5], &small, TRANSPOSED);
  const run_result b = run_random_op(VT_OP_random_normal, &draws[5], &large, GAPS);
  for (int64_t i = 0; i < 21; i++) CHECK(get_bits(&a.out, i) == get_bits(&b.out, i));
  free_held();
  for (int64_t d = 1; d < COUNT(draws); d++) {
    const run_result x = run_random_op(VT_OP_random_uniform, &draws[0], &large, DENSE);
    const run_result y = run_random_op(VT_OP_random_uniform, &draws[d], &large, DENSE);
    int64_t same = 0;
    for (int64_t i = 0; i < 100; i++) same += get_bits(&x.out, i) == get_bits(&y.out, i);
    CHECK(same < 3);
    free_held();
  }
}

/* ---- ops that use the words ---- */

static uint32_t random_word(const draw *d, int64_t i) {
  uint32_t w[4];
  philox((uint64_t)d->seed, (uint32_t)d->stream, (uint32_t)d->step, (uint64_t)i / 4, w);
  return w[i % 4];
}

static float random_fraction(const draw *d, int64_t i) {
  return (float)(random_word(d, i) / 256) / 16777216.0f;
}

static void test_uniform(void) {
  static const struct {
    double low, high;
  } spans[] = {{0, 1}, {0.1, 0.3}, {-1e300, 1e300}, {1, -1}, {3, 3}};
  for (int64_t d = 0; d < COUNT(draws); d++)
    for (int64_t s = 0; s < COUNT(spans); s++) {
      const vt_attr_random_uniform_range a = {.size = sizeof a,
                                              .shape = {2, {5, 7}},
                                              .low = spans[s].low,
                                              .high = spans[s].high,
                                              .stream = draws[d].stream};
      const vt_view in[2] = {scalar_i64_view(draws[d].seed), scalar_i64_view(draws[d].step)};
      const run_result r = run_op(VT_OP_uniform, &a, in, 2, (int)s % LAYOUTS);
      const float low = (float)a.low, span = (float)(a.high - a.low);
      CHECK(r.status == VT_OK);
      for (int64_t i = 0; i < 35; i++) {
        const float low_part = random_fraction(&draws[d], i) * span;
        expect_bits("uniform", &r.out, i, vt_f32_bits(low + low_part));
      }
      free_held();
    }
}

static void test_random_integer(void) {
  static const int64_t spans[][2] = {{0, 1},
                                     {-5, 5},
                                     {7, 7},
                                     {0, 0xffffffff},
                                     {INT64_MIN, INT64_MIN + 0xffffffff},
                                     {INT64_MAX - 2, INT64_MAX}};
  for (int64_t d = 0; d < COUNT(draws); d++)
    for (int64_t s = 0; s < COUNT(spans); s++) {
      const vt_attr_random_integer a = {.size = sizeof a,
                                        .shape = {2, {5, 7}},
                                        .low = spans[s][0],
                                        .high = spans[s][1],
                                        .stream = draws[d].stream};
      const vt_view in[2] = {scalar_i64_view(draws[d].seed), scalar_i64_view(draws[d].step)};
      const run_result r = run_op(VT_OP_random_integer, &a, in, 2, (int)s % LAYOUTS);
      const uint64_t count = (uint64_t)a.high - (uint64_t)a.low + 1;
      CHECK(r.status == VT_OK && r.out.dtype == I64);
      for (int64_t i = 0; i < 35; i++) /* computes word * count / 2^32 bit by bit */
      {
        uint64_t high = 0, low_part = 0; /* the product is high * 2^32 + low_part */
        for (int b = 31; b >= 0; b--) {
          high = high * 2 + low_part / 0x80000000u;
          low_part = low_part * 2 % 0x100000000u;
          low_part += (random_word(&draws[d], i) >> b & 1) * (count % 0x100000000u);
          high += low_part / 0x100000000u +
                  (random_word(&draws[d], i) >> b & 1) * (count / 0x100000000u);
          low_part %= 0x100000000u;
        }
        expect_bits("random_integer", &r.out, i, (uint64_t)a.low + high);
      }
      free_held();
    }
}

/* Makes an operand of bernoulli, dropout or categorical: half of its elements are random in 0..1,
 * the others of any class. */
static vt_view random_operand(const int64_t dim[3], int layout, uint64_t *state) {
  vt_view x = fill_any(view_new(F32, 3, dim, layout), state);
  for (int64_t i = 0; i < count_of_view(&x); i += 2)
    put_bits(&x, i, vt_f32_bits((float)(random_u64(state) >> 40) * 0x1p-24f));
  return x;
}

static void test_bernoulli_and_dropout(void) {
  static const int64_t dim[3] = {4, 3, 5};
  static const double ps[] = {0.5, 0, 1, 0.1, 0.99999999999};
  uint64_t state = 41;
  for (int64_t d = 0; d < COUNT(draws); d++)
    for (int64_t n = 0; n < COUNT(ps); n++) {
      const int layout = (int)(d + n) % LAYOUTS;
      const vt_view in[3] = {random_operand(dim, layout, &state), scalar_i64_view(draws[d].seed),
                             scalar_i64_view(draws[d].step)};
      const vt_attr_stream a = {.size = sizeof a, .stream = draws[d].stream};
      const vt_attr_dropout b = {.size = sizeof b, .p = ps[n], .stream = draws[d].stream};
      const run_result r = run_op(VT_OP_bernoulli, &a, in, 3, (layout + 1) % LAYOUTS);
      const run_result s = run_op(VT_OP_dropout, &b, in, 3, (layout + 1) % LAYOUTS);
      CHECK(r.status == VT_OK && s.status == VT_OK && r.out.dtype == VT_DTYPE_BOOL);
      for (int64_t i = 0; i < 60; i++) {
        const float u = random_fraction(&draws[d], i), x = get_f32(&in[0], i);
        const float kept = x * (float)(1 / (1 - ps[n]));
        expect_bits("bernoulli", &r.out, i, u < x);
        expect_bits("dropout", &s.out, i, u >= (float)ps[n] ? vt_f32_bits(kept) : 0);
      }
      free_held();
    }
}

/* Returns element i of x plus Gumbel noise: x - log(-log(v)), where v is the centre of one of 2^23
 * equal intervals of (0, 1). */
static float perturbed_by_gumbel_noise(const draw *d, const vt_view *x, int64_t i) {
  const float v = ((float)(random_word(d, i) / 512) + 0.5f) / 8388608.0f;
  return get_f32(x, i) - vt_f32_log(-vt_f32_log(v));
}

/* Sorts the n elements i, i + step, i + 2*step, ... of x by their perturbed values, the greatest
 * first, and returns the position of the element i + j*step. */
static int64_t position_by_perturbed_value(const draw *d, const vt_view *x, int64_t first,
                                           int64_t step, int64_t n, int64_t member) {
  const float own = perturbed_by_gumbel_noise(d, x, first + member * step);
  int64_t before = 0;
  for (int64_t k = 0; k < n; k++) {
    const float other = perturbed_by_gumbel_noise(d, x, first + k * step);
    before += comes_above((double)other, (double)own) ||
              (k < member && !comes_above((double)own, (double)other));
  }
  return before;
}

static void test_categorical(void) {
  static const int64_t dim[3] = {4, 6, 5};
  uint64_t state = 42;
  for (int64_t d = 0; d < COUNT(draws); d++)
    for (int64_t k = 0; k < 7; k += 2) {
      const vt_attr_categorical a = {
          .size = sizeof a, .axis = 1, .k = k, .stream = draws[d].stream};
      const vt_view in[3] = {random_operand(dim, (int)d % LAYOUTS, &state),
                             scalar_i64_view(draws[d].seed), scalar_i64_view(draws[d].step)};
      const run_result r = run_op(VT_OP_categorical, &a, in, 3, (int)(d + k) % LAYOUTS);
      CHECK(r.status == VT_OK && r.out.dtype == I64 && r.out.rank == (k == 0 ? 2 : 3));
      for (int64_t line = 0; line < 20; line++)
        for (int64_t j = 0; j < 6; j++) {
          const int64_t at =
              position_by_perturbed_value(&draws[d], &in[0], line / 5 * 30 + line % 5, 5, 6, j);
          if (at < k || at == 0)
            expect_bits("categorical", &r.out, k == 0 ? line : line / 5 * 5 * k + at * 5 + line % 5,
                        (uint64_t)j);
        }
      free_held();
    }
}

/* Tests pairs whose perturbed values are as near to each other as a choice of x can make them, so
 * that every bit of v matters. */
static void test_categorical_near_ties(void) {
  static const int64_t dim[2] = {300, 2};
  const vt_attr_categorical a = {.size = sizeof a, .axis = 1, .stream = draws[5].stream};
  const vt_view in[3] = {view_new(F32, 2, dim, DENSE), scalar_i64_view(draws[5].seed),
                         scalar_i64_view(draws[5].step)};
  for (int64_t i = 0; i < 600; i++) put_bits(&in[0], i, 0);
  for (int64_t i = 1; i < 600; i += 2) {
    const float difference = perturbed_by_gumbel_noise(&draws[5], &in[0], i - 1) -
                             perturbed_by_gumbel_noise(&draws[5], &in[0], i);
    put_bits(&in[0], i, vt_f32_bits(difference));
  }
  const run_result r = run_op(VT_OP_categorical, &a, in, 3, DENSE);
  CHECK(r.status == VT_OK);
  for (int64_t i = 0; i < 300; i++) {
    const float p = perturbed_by_gumbel_noise(&draws[5], &in[0], 2 * i);
    const float q = perturbed_by_gumbel_noise(&draws[5], &in[0], 2 * i + 1);
    expect_bits("categorical", &r.out, i, comes_above((double)q, (double)p) ? 1 : 0);
  }
  free_held();
}

/* The tensor has enough elements that some have the same first word, so that the second word
 * decides. */
static void test_shuffle_with_equal_words(void) {
  enum { N = 200000 };
  const vt_attr_shuffle a = {.size = sizeof a, .n = N};
  const vt_view in[2] = {scalar_i64_view(0), scalar_i64_view(0)};
  const run_result r = run_op(VT_OP_shuffle, &a, in, 2, DENSE);
  uint8_t *seen = calloc(N, 1);
  int64_t equal = 0, out_of_order = 0;
  CHECK(r.status == VT_OK && seen != NULL);
  for (int64_t i = 0; i < N; i++) {
    const int64_t q = (int64_t)get_bits(&r.out, i),
                  p = i == 0 ? q : (int64_t)get_bits(&r.out, i - 1);
    CHECK(q >= 0 && q < N && !seen[q]);
    seen[q] = 1;
    if (i == 0) continue;
    const uint32_t p0 = random_word(&draws[0], 4 * p), q0 = random_word(&draws[0], 4 * q);
    CHECK(p0 < q0 ||
          (p0 == q0 && random_word(&draws[0], 4 * p + 1) <= random_word(&draws[0], 4 * q + 1)));
    equal += p0 == q0;
    out_of_order += p0 == q0 && p > q;
  }
  CHECK(equal > 0 && out_of_order > 0);
  free(seen);
  free_held();
}

static void test_shuffle(void) {
  static const int64_t sizes[] = {0, 1, 2, 3, 33, 257};
  for (int64_t d = 0; d < COUNT(draws); d++)
    for (int64_t s = 0; s < COUNT(sizes); s++) {
      const int64_t n = sizes[s];
      const vt_attr_shuffle a = {.size = sizeof a, .n = n, .stream = draws[d].stream};
      const vt_view in[2] = {scalar_i64_view(draws[d].seed), scalar_i64_view(draws[d].step)};
      const run_result r = run_op(VT_OP_shuffle, &a, in, 2, (int)s % LAYOUTS);
      CHECK(r.status == VT_OK && r.out.dtype == I64 && r.out.dim[0] == n);
      for (int64_t i = 0; i < n; i++) {
        int64_t before = 0;
        for (int64_t j = 0; j < n; j++) {
          const uint64_t p =
              (uint64_t)random_word(&draws[d], 4 * j) << 32 | random_word(&draws[d], 4 * j + 1);
          const uint64_t q =
              (uint64_t)random_word(&draws[d], 4 * i) << 32 | random_word(&draws[d], 4 * i + 1);
          before += p < q || (p == q && j < i);
        }
        expect_bits("shuffle", &r.out, before, (uint64_t)i);
      }
      free_held();
    }
}

/* ---- type rules ---- */

static void test_uniform_and_normal_rules(void) {
  static const vt_attr_random plain = {.size = sizeof plain, .shape = {2, {4, 5}}};
  static const vt_attr_random last = {.size = sizeof last, .stream = 0xffffffff};
  static const vt_attr_random over = {.size = sizeof over, .stream = INT64_C(1) << 32};
  static const vt_attr_random under = {.size = sizeof under, .stream = -1};
  static const vt_attr_random negative = {.size = sizeof negative, .shape = {1, {-4}}};
  static const vt_attr_random nine = {.size = sizeof nine, .shape = {9, {1}}};
  static const rule_case cases[] = {
      {VT_OP_random_uniform, &plain, "i64[]; i64[]", "f32[4, 5]"},
      {VT_OP_random_normal, &last, "i64[]; i64[]", "f32[]"},
      {VT_OP_random_normal, &over, "i64[]; i64[]",
       "!verify: stream 4294967296 is outside 0..2^32-1"},
      {VT_OP_random_uniform, &under, "i64[]; i64[]", "!verify: stream -1 is outside"},
      {VT_OP_random_uniform, &negative, "i64[]; i64[]", "!verify: dimension -4 on axis 0"},
      {VT_OP_random_uniform, &nine, "i64[]; i64[]", "!limit: rank 9: at most 8"},
      {VT_OP_random_uniform, &plain, "i32[]; i64[]", "!verify: operand 1 is i32[], expected i64"},
      {VT_OP_random_uniform, &plain, "i64[]; f32[]", "!verify: operand 2 is f32[], expected i64"},
      {VT_OP_random_normal, &plain, "i64[1]; i64[]",
       "!verify: operand 1 is i64[1], expected a scalar"},
      {VT_OP_random_normal, &plain, "i64[]; i64[1]",
       "!verify: operand 2 is i64[1], expected a scalar"},
      {VT_OP_random_normal, &plain, "i64[]", "!verify: takes 2 operands (seed, step), got 1"},
  };
  CHECK_RULES(cases);
}

static void test_rules_of_random_choices(void) {
  const int64_t b = INT64_MIN;
  const vt_attr_random_uniform_range span = {.size = sizeof span, .shape = {1, {b}}, .high = 1};
  const vt_attr_random_uniform_range wide = {.size = sizeof wide, .high = INFINITY};
  const vt_attr_random_uniform_range odd = {.size = sizeof odd, .low = NAN, .high = 1};
  const vt_attr_random_integer die = {
      .size = sizeof die, .shape = {2, {3, b}}, .low = 1, .high = 6};
  const vt_attr_random_integer none = {.size = sizeof none, .low = 1, .high = 0};
  const vt_attr_random_integer many = {.size = sizeof many, .low = 0, .high = INT64_C(1) << 32};
  const vt_attr_random_integer all = {.size = sizeof all, .low = INT64_MIN, .high = INT64_MAX};
  const vt_attr_stream over = {.size = sizeof over, .stream = INT64_C(1) << 32};
  const vt_attr_dropout minus = {.size = sizeof minus, .p = -0.1},
                        nan = {.size = sizeof nan, .p = NAN};
  const vt_attr_dropout under = {.size = sizeof under, .p = 0.5, .stream = -1};
  const vt_attr_categorical first = {.size = sizeof first};
  const vt_attr_categorical two = {.size = sizeof two, .axis = 1, .k = 2};
  const vt_attr_categorical less = {.size = sizeof less, .k = -1};
  const vt_attr_categorical off = {.size = sizeof off, .axis = 2};
  const vt_attr_shuffle cards = {.size = sizeof cards, .n = b},
                        far = {.size = sizeof far, .n = INT64_C(1) << 39};
  const vt_attr_shuffle below = {.size = sizeof below, .n = -1};
  const rule_case cases[] = {
      {VT_OP_uniform, &span, "i64[]; i64[]", "f32[B]"},
      {VT_OP_uniform, &wide, "i64[]; i64[]", "!verify: uniform needs a finite low"},
      {VT_OP_uniform, &odd, "i64[]; i64[]", "!verify: uniform needs a finite low"},
      {VT_OP_random_integer, &die, "i64[]; i64[]", "i64[3, B]"},
      {VT_OP_random_integer, &none, "i64[]; i64[]", "!verify: the range 1..0 holds no integer or"},
      {VT_OP_random_integer, &many, "i64[]; i64[]", "!verify: more than 2^32"},
      {VT_OP_random_integer, &all, "i64[]; i64[]", "!verify: more than 2^32"},
      {VT_OP_bernoulli, NULL, "f32[B, 3]; i64[]; i64[]", "bool[B, 3]"},
      {VT_OP_bernoulli, &over, "f32[B, 3]; i64[]; i64[]", "!verify: stream 4294967296 is outside"},
      {VT_OP_bernoulli, NULL, "f64[B, 3]; i64[]; i64[]",
       "!verify: operand 1 is f64[B, 3], expected f32"},
      {VT_OP_bernoulli, NULL, "f32[3]; i64[1]; i64[]",
       "!verify: operand 2 is i64[1], expected i64[]"},
      {VT_OP_bernoulli, NULL, "f32[3]; i64[]; i32[]",
       "!verify: operand 3 is i32[], expected i64[]"},
      {VT_OP_dropout, NULL, "f32[B, 3]; i64[]; i64[]", "f32[B, 3]"},
      {VT_OP_dropout, &minus, "f32[3]; i64[]; i64[]", "!verify: p must lie in 0..1"},
      {VT_OP_dropout, &nan, "f32[3]; i64[]; i64[]", "!verify: p must lie in 0..1"},
      {VT_OP_dropout, &under, "f32[3]; i64[]; i64[]", "!verify: stream -1 is outside"},
      {VT_OP_categorical, &first, "f32[3, B]; i64[]; i64[]", "i64[B]"},
      {VT_OP_categorical, &two, "f32[3, B]; i64[]; i64[]", "i64[3, 2]"},
      {VT_OP_categorical, &two, "f32[3, 1]; i64[]; i64[]", "!verify: k=2 of axis 1 of f32[3, 1]"},
      {VT_OP_categorical, &less, "f32[3]; i64[]; i64[]", "!verify: k=-1 of axis 0"},
      {VT_OP_categorical, &off, "f32[3]; i64[]; i64[]",
       "!verify: nothing to draw from along axis 2"},
      {VT_OP_categorical, &first, "f32[0, 3]; i64[]; i64[]", "!verify: nothing to draw from along"},
      {VT_OP_shuffle, &cards, "i64[]; i64[]", "i64[B]"},
      {VT_OP_shuffle, &far, "i64[]; i64[]", "!verify: n=549755813888 is outside 0..2^38"},
      {VT_OP_shuffle, &below, "i64[]; i64[]", "!verify: n=-1 is outside"},
      {VT_OP_shuffle, &cards, "i32[]; i64[]", "!verify: operand 1 is i32[], expected i64"},
  };
  CHECK_RULES(cases);
}

int main(void) {
  test_uniform_and_normal();
  test_published_words();
  test_elements_depend_only_on_index();
  test_uniform();
  test_random_integer();
  test_bernoulli_and_dropout();
  test_categorical();
  test_categorical_near_ties();
  test_shuffle();
  test_shuffle_with_equal_words();
  test_uniform_and_normal_rules();
  test_rules_of_random_choices();
  TEST_DONE();
}
