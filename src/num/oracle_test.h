/* SPDX-License-Identifier: Apache-2.0
 * oracle_test.h - a test of functions against MPFR, which rounds correctly at any precision. The
 * includer defines TESTED_FAMILY as one of the families below. Each test also checks that every
 * function of functions.def is in exactly one family. main is in this file. Without MPFR the
 * program tests the families only and reports that it was skipped. */
#ifndef VT_ORACLE_TEST_H
#define VT_ORACLE_TEST_H
#include "num_test.h"

enum { FAMILY_EXP, FAMILY_HYP, FAMILY_LOG, FAMILY_TRIG, N_FAMILIES };
static const char *const families[N_FAMILIES] = {
    [FAMILY_EXP] = " exp exp2 expm1 sigmoid tanh ",
    [FAMILY_HYP] = " sinh cosh asinh acosh atanh erf ",
    [FAMILY_LOG] = " log log2 log10 log1p rsqrt ",
    [FAMILY_TRIG] = " sin cos tan asin acos atan ",
};
static const char *const function_names[] = {
#define VT_FUNCTION(name, estimate, oracle) #name,
#include "functions.def"
#undef VT_FUNCTION
};

static int is_of_family(const char *name, int family) {
  char word[32];
  snprintf(word, sizeof word, " %s ", name);
  return strstr(families[family], word) != NULL;
}

/* Each function is in exactly one family, and each word of the families is a function. */
static void test_each_function_has_a_family(void) {
  int words = 0;
  for (int f = 0; f < N_FAMILIES; f++)
    for (const char *p = families[f]; p[1] != 0; p = strchr(p + 1, ' ')) words++;
  CHECK(words == N_FUNCTIONS);
  for (int i = 0; i < N_FUNCTIONS; i++) {
    int found = 0;
    for (int f = 0; f < N_FAMILIES; f++) found += is_of_family(function_names[i], f);
    if (found != 1) fprintf(stderr, "%s is in %d families\n", function_names[i], found);
    CHECK(found == 1);
  }
}

#ifdef VOLTA_HAVE_MPFR
#include <mpfr.h>
#include "exhaustive/oracle_by_hand.h"

/* Sets up MPFR for f32 results: 24 bits, the exponents of f32, subnormals included. */
static void init_mpfr_for_f32(mpfr_t y) {
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
  mpfr_init2(y, 24);
}
static void clear_mpfr(mpfr_t y) {
  mpfr_clear(y);
  mpfr_free_cache();
}

/* The oracles of functions.def: y becomes the function of y; they return MPFR's ternary value. */
#define VT_FUNCTION(name, estimate, oracle) \
  static int oracle_of_##name(mpfr_ptr y) { return oracle; }
#include "functions.def"
#undef VT_FUNCTION

typedef struct tested_function {
  const char *name;
  float (*ours)(float x);
  int (*oracle)(mpfr_ptr y);
} tested_function;
static const tested_function tested_functions[] = {
#define VT_FUNCTION(name, estimate, oracle) {#name, vt_f32_##name, oracle_of_##name},
#include "functions.def"
#undef VT_FUNCTION
};

static float mpfr_result(const tested_function *f, float x, mpfr_t y) {
  mpfr_set_flt(y, x, MPFR_RNDN);
  const int inexact = f->oracle(y);
  mpfr_subnormalize(y, inexact, MPFR_RNDN);
  return mpfr_get_flt(y, MPFR_RNDN);
}

static int agrees_with_mpfr(const tested_function *f, float x, mpfr_t y) {
  const float ours = f->ours(x), expected = mpfr_result(f, x, y);
  if (!same_f32(ours, expected))
    fprintf(stderr, "%s(%08x) = %08x, MPFR says %08x\n", f->name, vt_f32_bits(x), vt_f32_bits(ours),
            vt_f32_bits(expected));
  return same_f32(ours, expected);
}

/* The expected results in the tables are still those of MPFR, which also has the special values of
 * IEEE 754. */
static void test_table_rows(const tested_function *f, mpfr_t y) {
  static const struct {
    const char *name;
    uint32_t x, want;
  } row[] = {
#define VT_EDGE(name, x, want) {#name, x, want},
#include "edges.def"
#define VT_HARD(name, x, want) {#name, x, want},
#include "hard.def"
#define VT_SPECIAL(name, a, b, c, d, e, f, g, h)                                  \
  {#name, 0, a}, {#name, 0x80000000u, b}, {#name, 1, c}, {#name, 0x80000001u, d}, \
      {#name, 0x3f800000u, e}, {#name, 0xbf800000u, f}, {#name, 0x7f800000u, g},  \
      {#name, 0xff800000u, h},
#include "specials.def"
#undef VT_SPECIAL
  };
  for (size_t i = 0; i < sizeof row / sizeof *row; i++)
    if (strcmp(row[i].name, f->name) == 0)
      CHECK(same_f32(mpfr_result(f, vt_f32_from_bits(row[i].x), y), vt_f32_from_bits(row[i].want)));
}

/* Random inputs. Half of them are any pattern; the others have exponents between 2^-30 and 2^9,
 * where most functions have neither reached their limit nor become the identity. */
static void test_random_inputs(const tested_function *f, uint64_t seed, mpfr_t y) {
  enum { MILLION = 1000000 };
  uint64_t state = seed;
  int bad = 0;
  for (int i = 0; i < MILLION && bad < 5; i++) {
    const uint64_t r = random_u64(&state);
    const uint32_t u = (uint32_t)r, within = (97 + (uint32_t)(r >> 32) % 39) << 23;
    bad += !agrees_with_mpfr(f, vt_f32_from_bits(i % 2 != 0 ? u : (u & 0x807fffffu) | within), y);
  }
  if (bad > 0) fprintf(stderr, "%s: seed %llu\n", f->name, (unsigned long long)seed);
  CHECK(bad == 0);
}

int main(void) {
  mpfr_t y;
  test_each_function_has_a_family();
  init_mpfr_for_f32(y);
  for (unsigned i = 0; i < N_FUNCTIONS; i++)
    if (is_of_family(tested_functions[i].name, TESTED_FAMILY)) {
      test_table_rows(&tested_functions[i], y);
      test_random_inputs(&tested_functions[i], 100 + i, y);
    }
  clear_mpfr(y);
  TEST_DONE();
}

#else
int main(void) {
  test_each_function_has_a_family();
  puts("SKIPPED: built without MPFR (libmpfr-dev)");
  return vt_test_failed != 0 ? 1 : 77;
}
#endif
#endif
