/* SPDX-License-Identifier: Apache-2.0
 * random_test.c - random_uniform and random_normal: Philox restated word by word, the numbers made
 * of its words, and that an element depends on its row-major index alone. */
#include "op_test.h"

enum { F32 = VT_DTYPE_F32, I64 = VT_DTYPE_I64 };
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* Philox4x32: ten rounds on (block low, block high, stream, step) with the key (seed low, high). */
static void philox(uint64_t seed, uint32_t stream, uint32_t step, uint64_t block, uint32_t c[4]) {
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  c[0] = (uint32_t)block;
  c[1] = (uint32_t)(block >> 32);
  c[2] = stream;
  c[3] = step;
  for (int round = 0; round < 10; round++) {
    const uint64_t even = UINT64_C(0xD2511F53) * c[0], odd = UINT64_C(0xCD9E8D57) * c[2];
    const uint32_t next[4] = {(uint32_t)(odd >> 32) ^ c[1] ^ k0, (uint32_t)odd,
                              (uint32_t)(even >> 32) ^ c[3] ^ k1, (uint32_t)even};
    memcpy(c, next, sizeof next);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
}

static float uniform(const uint32_t w[4], int64_t i) {
  return (float)(w[i % 4] / 256) / 16777216.0f; /* 24 bits: both steps are exact */
}

static float normal(const uint32_t w[4], int64_t i) {
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

static vt_view scalar(int64_t x) {
  const vt_view v = view_new(I64, 0, NULL, DENSE);
  put_bits(&v, 0, (uint64_t)x);
  return v;
}

static ran run_draw(uint32_t op, const draw *d, const vt_attr_list *shape, int layout) {
  const vt_attr_random a = {.size = sizeof a, .shape = *shape, .stream = d->stream};
  const vt_view in[2] = {scalar(d->seed), scalar(d->step)};
  return run_op(op, &a, in, 2, layout);
}

static void test_draw(uint32_t op, const draw *d, const vt_attr_list *shape, int layout) {
  test_seed = (uint64_t)d->seed;
  const ran r = run_draw(op, d, shape, layout);
  CHECK(r.status == VT_OK && r.out.dtype == F32 && r.out.rank == (uint32_t)shape->n);
  const int64_t n = count_of_view(&r.out);
  for (int64_t i = 0; i < n; i++) {
    uint32_t w[4];
    philox((uint64_t)d->seed, (uint32_t)d->stream, (uint32_t)d->step, (uint64_t)i / 4, w);
    const float want = op == VT_OP_random_uniform ? uniform(w, i) : normal(w, i);
    if (!expect_bits(vt_op_get(op)->name, &r.out, i, vt_f32_bits(want))) break;
  }
  drop_all();
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

static void test_draws(void) {
  for (int64_t d = 0; d < COUNT(draws); d++)
    for (int64_t s = 0; s < COUNT(shapes); s++)
      for (int layout = 0; layout < LAYOUTS; layout++) {
        test_draw(VT_OP_random_uniform, &draws[d], &shapes[s], layout);
        test_draw(VT_OP_random_normal, &draws[d], &shapes[s], layout);
      }
}

/* The first words of seed 0, as Random123 publishes them, through the whole op. */
static void test_known(void) {
  static const uint32_t words[4] = {0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u};
  const vt_attr_list four = {1, {4}};
  const ran r = run_draw(VT_OP_random_uniform, &draws[0], &four, DENSE);
  CHECK(r.status == VT_OK);
  for (int64_t i = 0; i < 4; i++) CHECK(get_f32(&r.out, i) == (float)(words[i] >> 8) * 0x1p-24f);
  drop_all();
}

/* A longer tensor starts with the shorter one; other seeds, steps and streams are other numbers. */
static void test_index_alone(void) {
  const vt_attr_list small = {2, {3, 7}}, large = {1, {100}};
  const ran a = run_draw(VT_OP_random_normal, &draws[5], &small, TURNED);
  const ran b = run_draw(VT_OP_random_normal, &draws[5], &large, GAPS);
  for (int64_t i = 0; i < 21; i++) CHECK(get_bits(&a.out, i) == get_bits(&b.out, i));
  drop_all();
  for (int64_t d = 1; d < COUNT(draws); d++) {
    const ran x = run_draw(VT_OP_random_uniform, &draws[0], &large, DENSE);
    const ran y = run_draw(VT_OP_random_uniform, &draws[d], &large, DENSE);
    int64_t same = 0;
    for (int64_t i = 0; i < 100; i++) same += get_bits(&x.out, i) == get_bits(&y.out, i);
    CHECK(same < 3);
    drop_all();
  }
}

/* ---- type rules ---- */

static void test_rules(void) {
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

int main(void) {
  test_draws();
  test_known();
  test_index_alone();
  test_rules();
  TEST_DONE();
}
