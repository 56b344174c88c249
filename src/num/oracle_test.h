/* SPDX-License-Identifier: Apache-2.0
 * oracle_test.h - a test of functions against MPFR, which rounds correctly at any precision.
 * The includer says which: JUDGED_FAMILY is one of the families below. Each also sees that every
 * function of functions.def is in one of them. main is here. Without MPFR the functions are not
 * judged and the program is skipped. */
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
#define VT_FUNCTION(name, estimate, judge) #name,
#include "functions.def"
#undef VT_FUNCTION
};

static int is_of_family(const char *name, int family) {
  char word[32];
  snprintf(word, sizeof word, " %s ", name);
  return strstr(families[family], word) != NULL;
}

/* Each function is judged by one of the programs, and each word above is a function. */
static void test_families(void) {
  int words = 0;
  for (int f = 0; f < N_FAMILIES; f++)
    for (const char *p = families[f]; p[1] != 0; p = strchr(p + 1, ' ')) words++;
  CHECK(words == N_FUNCTIONS);
  for (int i = 0; i < N_FUNCTIONS; i++) {
    int found = 0;
    for (int f = 0; f < N_FAMILIES; f++) found += is_of_family(function_names[i], f);
    if (found != 1) fprintf(stderr, "%s is judged by %d tests\n", function_names[i], found);
    CHECK(found == 1);
  }
}

#ifdef VOLTA_HAVE_MPFR
#include <mpfr.h>
#include "exhaustive/oracle_by_hand.h"

/* A finite f32 result: 24 bits, the exponents of f32, subnormals included. */
static void judge_open(mpfr_t y) {
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
  mpfr_init2(y, 24);
}
static void judge_close(mpfr_t y) {
  mpfr_clear(y);
  mpfr_free_cache();
}

/* The judges of functions.def. */
#define VT_FUNCTION(name, estimate, judge) \
  static int judge_of_##name(mpfr_ptr y) { return judge; }
#include "functions.def"
#undef VT_FUNCTION

typedef struct judged_function {
  const char *name;
  float (*ours)(float x);
  int (*judge)(mpfr_ptr y);
} judged_function;
static const judged_function judged_functions[] = {
#define VT_FUNCTION(name, estimate, judge) {#name, vt_f32_##name, judge_of_##name},
#include "functions.def"
#undef VT_FUNCTION
};

static float judged(const judged_function *f, float x, mpfr_t y) {
  mpfr_set_flt(y, x, MPFR_RNDN);
  const int inexact = f->judge(y);
  mpfr_subnormalize(y, inexact, MPFR_RNDN);
  return mpfr_get_flt(y, MPFR_RNDN);
}

static int agrees(const judged_function *f, float x, mpfr_t y) {
  const float ours = f->ours(x), right = judged(f, x, y);
  if (!same_f32(ours, right))
    fprintf(stderr, "%s(%08x) = %08x, MPFR says %08x\n", f->name, vt_f32_bits(x), vt_f32_bits(ours),
            vt_f32_bits(right));
  return same_f32(ours, right);
}

/* The rows of the tables were MPFR's when they were made, and are still; MPFR has the special
 * values of IEEE 754. */
static void judge_rows(const judged_function *f, mpfr_t y) {
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
      CHECK(same_f32(judged(f, vt_f32_from_bits(row[i].x), y), vt_f32_from_bits(row[i].want)));
}

/* Half of the inputs are any pattern; the exponents of the others are between 2^-30 and 2^9, where
 * most functions have neither gone to their limit nor become the identity. */
static void judge_random(const judged_function *f, uint64_t seed, mpfr_t y) {
  enum { MILLION = 1000000 };
  uint64_t state = seed;
  int bad = 0;
  for (int i = 0; i < MILLION && bad < 5; i++) {
    const uint64_t r = random_u64(&state);
    const uint32_t u = (uint32_t)r, within = (97 + (uint32_t)(r >> 32) % 39) << 23;
    bad += !agrees(f, vt_f32_from_bits(i % 2 != 0 ? u : (u & 0x807fffffu) | within), y);
  }
  if (bad > 0) fprintf(stderr, "%s: seed %llu\n", f->name, (unsigned long long)seed);
  CHECK(bad == 0);
}

int main(void) {
  mpfr_t y;
  test_families();
  judge_open(y);
  for (unsigned i = 0; i < N_FUNCTIONS; i++)
    if (is_of_family(judged_functions[i].name, JUDGED_FAMILY)) {
      judge_rows(&judged_functions[i], y);
      judge_random(&judged_functions[i], 100 + i, y);
    }
  judge_close(y);
  TEST_DONE();
}

#else
int main(void) {
  test_families();
  puts("SKIPPED: built without MPFR (libmpfr-dev)");
  return vt_test_failed != 0 ? 1 : 77;
}
#endif
#endif
