/* SPDX-License-Identifier: Apache-2.0
 * lanes_texts_test.h - the shared texts (code of src/num that is compiled for every width) other
 * than the functions: compiled over vectors of VT_LANES lanes, they equal the scalar library lane
 * for lane. Tests the operations of texts.def, casts between every two types, random numbers, S and
 * D; also the functions with a float-float phase. */
#ifndef VT_LANES_TEXTS_TEST_H
#define VT_LANES_TEXTS_TEST_H
#include "texts_test.inc"
#include "texts_oracle_test.h"
#include "num_test.h"

/* The numbers first, first + 1, ..., one in each of VT_LANES lanes. */
static vt_w consecutive_numbers(uint64_t first) {
  vt_w n = vt_w_num(first);
  for (int k = 0; k < VT_LANES; k++) n[k] += (uint64_t)k;
  return n;
}

static int report_if_different(const char *name, uint64_t number, int k, uint64_t got,
                               uint64_t want) {
  if (got != want)
    fprintf(stderr, "%s: case %llu, lane %d of %d: %llx, alone %llx\n", name,
            (unsigned long long)number, k, VT_LANES, (unsigned long long)got,
            (unsigned long long)want);
  return got != want;
}

/* Returns how many of `all` cases are tested: a quarter of them in the short form, because four
 * programs of different widths draw their own cases. */
static int lanes_case_count(int all) { return is_long_form() ? all : all / 4; }

/* ---- texts.def ---- */

/* a test stops after MAX_DIFFERENCES differences */
enum { TEXT_CASES = 300000, MAX_DIFFERENCES = 5 };

static const struct {
  const char *name;
  int kind;
  vt_w (*text)(case3 x);
  uint64_t (*oracle)(uint64_t a, uint64_t b, uint64_t c);
} lanes_texts[] = {
#define VT_TEXT(name, kind) {#name, CASE_##kind, text_##name, oracle_##name},
#include "texts.def"
#undef VT_TEXT
};
enum { N_TEXTS = sizeof lanes_texts / sizeof *lanes_texts };

static void lanes_test_text(int t) {
  int bad = 0;
  const uint64_t cases = (uint64_t)lanes_case_count(TEXT_CASES);
  for (uint64_t at = 0; at < cases && bad < MAX_DIFFERENCES; at += VT_LANES) {
    const case3 x = case_operands(lanes_texts[t].kind, consecutive_numbers(at));
    const vt_w y = lanes_texts[t].text(x);
    for (int k = 0; k < VT_LANES; k++)
      bad += report_if_different(lanes_texts[t].name, at, k, y[k],
                                 lanes_texts[t].oracle(x.a[k], x.b[k], x.c[k]));
  }
  CHECK(bad == 0);
}

/* ---- casts ---- */

static void lanes_test_cast(uint32_t from, uint32_t to) {
  int bad = 0;
  char name[32];
  snprintf(name, sizeof name, "cast %u to %u", from, to);
  for (uint64_t at = 0; at < 65536 && bad < MAX_DIFFERENCES; at += VT_LANES) {
    const vt_w x = text_cast_source(consecutive_numbers(at), from),
               y = vt_cast_pattern(x, from, to);
    for (int k = 0; k < VT_LANES; k++)
      bad += report_if_different(name, x[k], k, y[k], oracle_cast(x[k], from, to));
  }
  CHECK(bad == 0);
}

/* ---- random numbers ---- */

/* Compares a known answer of Random123 in every lane, then random blocks with the library. */
static void lanes_test_random_numbers(void) {
  const vt_four zero = vt_philox_block(0, 0, 0, vt_w_num(0));
  int bad = 0;
  for (int k = 0; k < VT_LANES; k++)
    CHECK(zero.w[0][k] == 0x6627e8d5u && zero.w[1][k] == 0xe169c58du &&
          zero.w[2][k] == 0xbc57ac4cu && zero.w[3][k] == 0x9b00dbd8u);
  for (uint64_t at = 0; at < 12000 && bad < MAX_DIFFERENCES; at += VT_LANES) {
    const vt_w block = case_i64(consecutive_numbers(at));
    const uint64_t seed = case_random(vt_w_num(at))[0];
    const int draw = (int)(at / VT_LANES % TEXT_RANDOM_DRAWS);
    const vt_w y = text_random(block, seed, draw);
    for (int k = 0; k < VT_LANES; k++)
      bad +=
          report_if_different("random numbers", at, k, y[k], oracle_random(block[k], seed, draw));
  }
  CHECK(bad == 0);
}

/* ---- S ---- */

enum { LONGEST_LIST = 1024 * 1024 + 1100, GROUPS = 130 };

/* Tests the sum S of the first n[k] elements of a list in lane k; `longest` is the largest n[k],
 * and shorter lanes are padded with +0. */
static void lanes_test_sums(vt_w list, const int64_t n[VT_LANES], int64_t longest) {
  vt_sum_s s;
  vt_sum_d d;
  int bad = 0;
  vt_sum_s_init(&s), vt_sum_d_init(&d);
  for (int64_t i = 0; i < longest; i++) {
    vt_w x = case_element_f32(list, i), z = case_element_f64(list, i);
    for (int k = 0; k < VT_LANES; k++) x[k] = i < n[k] ? x[k] : 0, z[k] = i < n[k] ? z[k] : 0;
    vt_sum_s_push(&s, 0, text_to_f32(x)), vt_sum_d_push(&d, 0, text_to_f64(z));
  }
  const vt_w y = text_from_f32(vt_sum_s_done(&s)), w = text_from_f64(vt_sum_d_done(&d));
  for (int k = 0; k < VT_LANES; k++) {
    vt_sum_f32 scalar;
    vt_sum_f64 scalar64;
    vt_sum_f32_init(&scalar), vt_sum_f64_init(&scalar64);
    for (int64_t i = 0; i < n[k]; i++) {
      vt_sum_f32_add(&scalar, pattern_to_f32(case_element_f32(list, i)[k]));
      vt_sum_f64_add(&scalar64, pattern_to_f64(case_element_f64(list, i)[k]));
    }
    bad +=
        report_if_different("S of f32", list[0], k, y[k], f32_to_pattern(vt_sum_f32_done(&scalar)));
    bad += report_if_different("S of f64", list[0], k, w[k],
                               f64_to_pattern(vt_sum_f64_done(&scalar64)));
  }
  CHECK(bad == 0);
}

static void lanes_test_all_sums(void) {
  int64_t n[VT_LANES];
  for (int64_t g = 0; g < GROUPS;
       /* first all lanes with the same length, then with different lengths */
       g++) {
    const vt_w list = consecutive_numbers((uint64_t)g * VT_LANES);
    for (int k = 0; k < VT_LANES; k++) n[k] = case_list_length(g);
    lanes_test_sums(list, n, case_list_length(g));
    int64_t longest = 0;
    for (int k = 0; k < VT_LANES; k++) {
      n[k] = case_list_length((g * 7 + k * 11) % GROUPS);
      longest = n[k] > longest ? n[k] : longest;
    }
    lanes_test_sums(list, n, longest);
  }
  if (SANITIZED) return;
  /* so long a list that S (sum.inc) has a third level */
  for (int k = 0; k < VT_LANES; k++) n[k] = LONGEST_LIST;
  lanes_test_sums(consecutive_numbers(0), n, LONGEST_LIST);
}

/* ---- D ---- */

/* Enough columns that a row has full tiles of 8 vectors and narrower ones. */
enum { COLUMNS = 11 * VT_LANES, MAX_PRODUCTS = 4100 };
typedef struct operands {
  float a[MAX_PRODUCTS], b[MAX_PRODUCTS * COLUMNS], y[COLUMNS];
  double a64[MAX_PRODUCTS], b64[MAX_PRODUCTS * COLUMNS], y64[COLUMNS];
  uint8_t present[MAX_PRODUCTS];
} operands;
static operands lanes_operands;

static void fill_operands(operands *o, uint64_t list, int64_t n) {
  for (int64_t k = 0; k < n; k++) {
    o->a[k] = pattern_to_f32(case_element_f32(vt_w_num(list), k)[0]);
    o->a64[k] = pattern_to_f64(case_element_f64(vt_w_num(list), k)[0]);
    o->present[k] = case_is_product_present(list, k);
    for (int64_t j = 0; j < COLUMNS; j += VT_LANES) {
      const vt_w number = consecutive_numbers(list + 1 + (uint64_t)j);
      const vt_w x = case_element_f32(number, k), z = case_element_f64(number, k);
      for (int l = 0; l < VT_LANES; l++) {
        o->b[k * COLUMNS + j + l] = pattern_to_f32(x[l]);
        o->b64[k * COLUMNS + j + l] = pattern_to_f64(z[l]);
      }
    }
  }
}

/* Compares a row of outputs with single products. With sbj == 1 the columns are one element
 * apart; with sbk == 1 each column is contiguous, in the same memory. */
static void lanes_test_dots(operands *o, int64_t n, const uint8_t *present, int64_t sbk,
                            int64_t sbj) {
  int bad = 0;
  vt_dot_s_row(o->y, 1, o->a, 1, o->b, sbk, sbj, present, 1, n, COLUMNS);
  vt_dot_d_row(o->y64, 1, o->a64, 1, o->b64, sbk, sbj, present, 1, n, COLUMNS);
  const vt_s first = vt_dot_s_dot(o->a, 1, o->b, sbk, sbj, present, 1, n);
  const vt_d first64 = vt_dot_d_dot(o->a64, 1, o->b64, sbk, sbj, present, 1, n);
  for (int j = 0; j < COLUMNS; j++) {
    const float want = vt_dot_f32(o->a, 1, o->b + j * sbj, sbk, present, 1, n);
    const double want64 = vt_dot_f64(o->a64, 1, o->b64 + j * sbj, sbk, present, 1, n);
    bad += report_if_different("D of f32", (uint64_t)n, j, f32_to_pattern(o->y[j]),
                               f32_to_pattern(want));
    bad += report_if_different("D of f64", (uint64_t)n, j, f64_to_pattern(o->y64[j]),
                               f64_to_pattern(want64));
    if (j >= VT_LANES) continue;
    bad += report_if_different("D of f32", (uint64_t)n, j, f32_to_pattern(first[j]),
                               f32_to_pattern(want));
    bad += report_if_different("D of f64", (uint64_t)n, j, f64_to_pattern(first64[j]),
                               f64_to_pattern(want64));
  }
  CHECK(bad == 0);
}

static void lanes_test_all_dots(void) {
  static const int64_t lengths[] = {0,   1,   2,    7,    255,  256,  257,  511,
                                    513, 600, 2047, 2048, 2049, 2303, 2305, 4097};
  for (uint64_t list = 0; list < 8; list++) {
    fill_operands(&lanes_operands, list * 1000, SANITIZED ? 600 : MAX_PRODUCTS);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
      if (SANITIZED && lengths[i] > 600) continue;
      lanes_test_dots(&lanes_operands, lengths[i], NULL, COLUMNS, 1);
      lanes_test_dots(&lanes_operands, lengths[i], lanes_operands.present, COLUMNS, 1);
      if (list < 2) lanes_test_dots(&lanes_operands, lengths[i], NULL, 1, lengths[i]);
    }
  }
}

/* ---- functions with a float-float phase ---- */

static const struct {
  const char *name;
  vt_s (*two_phase)(vt_s x);
  float (*expected)(float x);
} lanes_float_floats[] = {
#define VT_FF_FUNCTION(name, from, to, rare) {#name, vt_ff_##name, vt_f32_##name},
#include "ff_functions.def"
#undef VT_FF_FUNCTION
};

/* Six ranges of 2^15 consecutive patterns that start at common inputs of both signs, then inputs of
 * every class. */
static void lanes_test_float_float(size_t f) {
  int bad = 0;
  for (uint32_t i = 0; i < 1u << 18 && bad < MAX_DIFFERENCES; i += VT_LANES) {
    const uint32_t piece = i >> 15,
                   base = 0x3b000000u + piece * 0x00a12345u + (piece & 1) * (1u << 31);
    const vt_w classes = case_f32(consecutive_numbers(i));
    const vt_w n = piece < 6 ? consecutive_numbers(base + (i & 32767)) & 0xffffffffu : classes;
    const vt_w y = text_from_f32(lanes_float_floats[f].two_phase(text_to_f32(n)));
    for (int k = 0; k < VT_LANES; k++)
      bad +=
          report_if_different(lanes_float_floats[f].name, n[k], k, y[k],
                              f32_to_pattern(lanes_float_floats[f].expected(pattern_to_f32(n[k]))));
  }
  CHECK(bad == 0);
}

static void lanes_test_texts(void) {
  for (int t = 0; t < N_TEXTS; t++) lanes_test_text(t);
  for (uint32_t from = VT_CAST_F32; from <= VT_CAST_BF16; from++)
    for (uint32_t to = VT_CAST_F32; to <= VT_CAST_BF16; to++) lanes_test_cast(from, to);
  lanes_test_random_numbers();
  lanes_test_all_sums();
  lanes_test_all_dots();
  for (size_t f = 0; f < sizeof lanes_float_floats / sizeof *lanes_float_floats; f++)
    lanes_test_float_float(f);
}
#endif
