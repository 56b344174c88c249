/* SPDX-License-Identifier: Apache-2.0
 * lanes_test.h - the functions compiled over vectors of VT_LANES lanes equal the scalar functions,
 * bit for bit, whatever the other lanes contain; lanes_texts_test.h tests the rest of the numerics
 * likewise. The includer defines VT_LANES and LANES_MAY_RUN (an expression: does this processor
 * have the instructions that the file was compiled for?); main is in this file. */
#ifndef VT_LANES_TEST_H
#define VT_LANES_TEST_H
#include "vt_words_vector.h"
#include "lanes_texts_test.h"

static vt_d widen_lanes(const float *x) {
  vt_d v;
  for (int k = 0; k < VT_LANES; k++) v[k] = (double)x[k];
  return v;
}
static void narrow_lanes(vt_d v, float *y) {
  for (int k = 0; k < VT_LANES; k++) y[k] = (float)v[k];
}

#define VT_FUNCTION(name, estimate, oracle)            \
  static void lanes_##name(const float *x, float *y) { \
    narrow_lanes(vt_core_##name(widen_lanes(x)), y);   \
  }
#include "functions.def"
#undef VT_FUNCTION
static void lanes_pow(const float *x, const float *y, float *z) {
  narrow_lanes(vt_core_pow(widen_lanes(x), widen_lanes(y)), z);
}

typedef struct lanes_function {
  const char *name;
  float (*scalar)(float x);
  void (*lanes)(const float *x, float *y);
} lanes_function;
static const lanes_function lanes_functions[N_FUNCTIONS] = {
#define VT_FUNCTION(name, estimate, oracle) {#name, vt_f32_##name, lanes_##name},
#include "functions.def"
#undef VT_FUNCTION
};

/* The rows of edges.def and hard.def: the number of a function and an input of it. After them,
 * inputs that are special for all functions. */
static const struct {
  int function;
  uint32_t x;
} lanes_rows[] = {
#define VT_EDGE(name, x, want) {FUNCTION_##name, x},
#include "edges.def"
#define VT_HARD(name, x, want) {FUNCTION_##name, x},
#include "hard.def"
};
static const struct {
  uint32_t x, y;
} lanes_pow_rows[] = {
#define VT_HARD_POW(x, y, want) {x, y},
#include "hard.def"
};
static const uint32_t lanes_special[] = {
    0,           0x80000000u, 1,           0x80000001u, 0x007fffffu, 0x807fffffu, 0x00800000u,
    0x3f800000u, 0xbf800000u, 0x3f7fffffu, 0x3f800001u, 0x40000000u, 0xc0400000u, 0x3f000000u,
    0x7f7fffffu, 0xff7fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffa00001u, 0x4b800000u};
enum { SPECIALS = sizeof lanes_special / sizeof *lanes_special };

static int lanes_equal_scalar(const lanes_function *f, const float *x) {
  float y[VT_LANES];
  int ok = 1;
  f->lanes(x, y);
  for (int k = 0; k < VT_LANES; k++)
    if (!same_f32(y[k], f->scalar(x[k]))) {
      fprintf(stderr, "%s: lane %d of %d: %08x gives %08x, alone %08x\n", f->name, k, VT_LANES,
              vt_f32_bits(x[k]), vt_f32_bits(y[k]), vt_f32_bits(f->scalar(x[k])));
      ok = 0;
    }
  return ok;
}

static int lanes_equal_scalar_pow(const float *x, const float *y) {
  float z[VT_LANES];
  int ok = 1;
  lanes_pow(x, y, z);
  for (int k = 0; k < VT_LANES; k++)
    if (!same_f32(z[k], vt_f32_pow(x[k], y[k]))) {
      fprintf(stderr, "pow: lane %d of %d: %08x, %08x\n", k, VT_LANES, vt_f32_bits(x[k]),
              vt_f32_bits(y[k]));
      ok = 0;
    }
  return ok;
}

/* Tests one input in every lane in turn, with ordinary numbers in the other lanes, and in all lanes
 * at once. */
static int every_lane_equals_scalar(const lanes_function *f, uint32_t u, uint64_t *seed) {
  float x[VT_LANES];
  int ok = 1;
  for (int at = 0; at <= VT_LANES; at++) {
    for (int k = 0; k < VT_LANES; k++)
      x[k] = k == at || at == VT_LANES ? vt_f32_from_bits(u) : ordinary_f32(seed);
    ok &= lanes_equal_scalar(f, x);
  }
  return ok;
}

static void lanes_test_table_rows(uint64_t *seed) {
  int bad = 0;
  for (size_t i = 0; i < sizeof lanes_rows / sizeof *lanes_rows; i++)
    bad +=
        !every_lane_equals_scalar(&lanes_functions[lanes_rows[i].function], lanes_rows[i].x, seed);
  for (int f = 0; f < N_FUNCTIONS; f++)
    for (int i = 0; i < SPECIALS; i++)
      bad += !every_lane_equals_scalar(&lanes_functions[f], lanes_special[i], seed);
  CHECK(bad == 0);
}

/* Vectors that mix hard, special and ordinary inputs. */
static void lanes_test_mixed_inputs(uint64_t *seed) {
  int bad = 0;
  for (int f = 0; f < N_FUNCTIONS; f++)
    for (int i = 0; i < 2000; i++) {
      float x[VT_LANES];
      for (int k = 0; k < VT_LANES; k++) {
        const uint64_t r = random_u64(seed);
        const size_t row = (size_t)(r >> 8) % (sizeof lanes_rows / sizeof *lanes_rows);
        x[k] = r % 3 == 0   ? vt_f32_from_bits(lanes_special[(r >> 8) % SPECIALS])
               : r % 3 == 1 ? vt_f32_from_bits(lanes_rows[row].x)
                            : ordinary_f32(seed);
      }
      bad += !lanes_equal_scalar(&lanes_functions[f], x);
    }
  CHECK(bad == 0);
}

static void lanes_test_random_inputs(uint64_t *seed) {
  const int rounds = lanes_case_count(1000000) / VT_LANES;
  for (int f = 0; f < N_FUNCTIONS; f++) {
    int bad = 0;
    for (int i = 0; i < rounds && bad < 5; i++) {
      float x[VT_LANES];
      for (int k = 0; k < VT_LANES; k++)
        x[k] = i % 2 != 0 ? any_f32(seed) : vt_f32_from_bits((uint32_t)random_u64(seed));
      bad += !lanes_equal_scalar(&lanes_functions[f], x);
    }
    CHECK(bad == 0);
  }
}

/* Tests each pair of hard.def and each pair of special values in every lane, then random pairs. */
static void lanes_test_pow(uint64_t *seed) {
  const int rows = sizeof lanes_pow_rows / sizeof *lanes_pow_rows;
  const int rounds = lanes_case_count(1000000) / VT_LANES;
  float x[VT_LANES], y[VT_LANES];
  int bad = 0;
  for (int i = 0; i < rows + SPECIALS * SPECIALS; i++)
    for (int at = 0; at < VT_LANES; at++) {
      const int special = i - rows;
      for (int k = 0; k < VT_LANES; k++) random_pow_pair(seed, &x[k], &y[k]);
      x[at] =
          vt_f32_from_bits(special < 0 ? lanes_pow_rows[i].x : lanes_special[special / SPECIALS]);
      y[at] =
          vt_f32_from_bits(special < 0 ? lanes_pow_rows[i].y : lanes_special[special % SPECIALS]);
      bad += !lanes_equal_scalar_pow(x, y);
    }
  for (int i = 0; i < rounds && bad < 5; i++) {
    for (int k = 0; k < VT_LANES; k++) {
      random_pow_pair(seed, &x[k], &y[k]);
      if ((i + k) % 5 == 0) x[k] = any_f32(seed), y[k] = any_f32(seed);
    }
    bad += !lanes_equal_scalar_pow(x, y);
  }
  CHECK(bad == 0);
}

/* Not inlined into main, because main must check first that the processor has the instructions. */
static __attribute__((noinline)) void lanes_test_all(void) {
  uint64_t seed = 11;
  lanes_test_table_rows(&seed);
  lanes_test_mixed_inputs(&seed);
  lanes_test_random_inputs(&seed);
  lanes_test_pow(&seed);
  if (vt_test_failed == 0)
    lanes_test_texts(); /* runs last, because a wrong primitive may make a division trap */
}

int main(void) {
  if (!(LANES_MAY_RUN)) {
    puts("SKIPPED: this processor, or this compiler, has no such vectors");
    return 77;
  }
  lanes_test_all();
  TEST_DONE();
}
#endif
