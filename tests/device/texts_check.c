/* SPDX-License-Identifier: Apache-2.0
 * texts_check.c - checks what texts_device.cu computed against the library on the CPU. Operands
 * are generated again from their numbers, and results are compared as bits. A text is source of
 * the numerics that is compiled for CPU and device; a list is the operands of one sum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device_crew.h"
#include "texts_check.h"
#include "texts_device.h"
#include "vt_words.h"
#include "texts_test.inc"
#include "texts_oracle_test.h"

static uint64_t result_bits(const fd_slot *s, size_t i) {
  uint64_t y;
  memcpy(&y, (const char *)s->host + i * sizeof y, sizeof y);
  return y;
}

/* ---- texts.def: the item is the text's index ---- */

static const struct {
  const char *name;
  int kind;
  uint64_t (*expected)(uint64_t a, uint64_t b, uint64_t c);
} texts[] = {
#define VT_TEXT(name, kind) {#name, CASE_##kind, oracle_##name},
#include "texts.def"
#undef VT_TEXT
};
enum { N_TEXTS = sizeof texts / sizeof *texts, TEXT_SLICES = 16 };

static const char *compute_text(const work *w, fd_slot *s, unsigned slice) {
  return td_compute_text(s, w->item, (uint64_t)slice * TD_SLICE);
}
static unsigned long long count_wrong_texts(const work *w, const fd_slot *s, unsigned slice) {
  unsigned long long bad = 0;
  for (uint64_t i = 0; i < TD_SLICE; i++) {
    const case3 x = case_operands(texts[w->item].kind, (uint64_t)slice * TD_SLICE + i);
    bad += result_bits(s, i) != texts[w->item].expected(x.a, x.b, x.c);
  }
  return bad;
}

/* ---- casts: the item is the source type; consecutive slices go to each destination type ---- */

enum { CAST_TYPES = VT_CAST_BF16, CAST_SLICES = 4 * CAST_TYPES };

static uint32_t cast_type_to(unsigned slice) { return slice % CAST_TYPES + 1; }
static uint64_t cast_first_number(unsigned slice) {
  return (uint64_t)(slice / CAST_TYPES) * TD_SLICE;
}

static const char *compute_cast(const work *w, fd_slot *s, unsigned slice) {
  return td_compute_casts(s, (uint32_t)w->item, cast_type_to(slice), cast_first_number(slice));
}
static unsigned long long count_wrong_casts(const work *w, const fd_slot *s, unsigned slice) {
  const uint32_t from = (uint32_t)w->item;
  unsigned long long bad = 0;
  for (uint64_t i = 0; i < TD_SLICE; i++) {
    const uint64_t x = text_cast_source(cast_first_number(slice) + i, from);
    bad += result_bits(s, i) != oracle_cast(x, from, cast_type_to(slice));
  }
  return bad;
}

/* ---- random numbers: a slice has one seed and one kind ---- */

enum { RANDOM_SLICES = 8 * TEXT_RANDOM_DRAWS };

static uint64_t random_seed_of(unsigned slice) { return case_random(slice); }
static int random_variant_of(unsigned slice) { return (int)(slice % TEXT_RANDOM_DRAWS); }
static const char *compute_random(const work *w, fd_slot *s, unsigned slice) {
  (void)w;
  return td_compute_randoms(s, random_seed_of(slice), random_variant_of(slice), 0);
}
static unsigned long long count_wrong_randoms(const work *w, const fd_slot *s, unsigned slice) {
  unsigned long long bad = 0;
  (void)w;
  for (uint64_t i = 0; i < TD_SLICE; i++)
    bad += result_bits(s, i) !=
           oracle_random(case_i64(i), random_seed_of(slice), random_variant_of(slice));
  return bad;
}

/* ---- S: one length per slice; item 0 is f32, 1 is f64. The last length has three levels. ---- */

enum { LENGTHS = 130, LONG_SUM = 1024 * 1024 + 1100, COMPARED_LONG = 8 };

static int64_t sum_length(unsigned slice) {
  return slice < LENGTHS ? case_list_length(slice) : LONG_SUM;
}
static uint64_t sum_first_list(unsigned slice) { return (uint64_t)slice * TD_LISTS; }

static const char *compute_sum(const work *w, fd_slot *s, unsigned slice) {
  return w->item == 0 ? td_compute_sums_f32(s, sum_first_list(slice), sum_length(slice))
                      : td_compute_sums_f64(s, sum_first_list(slice), sum_length(slice));
}
static uint64_t reference_sum(int item, uint64_t list, int64_t n) {
  vt_sum_f32 s;
  vt_sum_f64 d;
  vt_sum_f32_init(&s), vt_sum_f64_init(&d);
  for (int64_t i = 0; item == 0 && i < n; i++)
    vt_sum_f32_add(&s, pattern_to_f32(case_element_f32(list, i)));
  for (int64_t i = 0; item == 1 && i < n; i++)
    vt_sum_f64_add(&d, pattern_to_f64(case_element_f64(list, i)));
  return item == 0 ? f32_to_pattern(vt_sum_f32_done(&s)) : f64_to_pattern(vt_sum_f64_done(&d));
}
static unsigned long long count_wrong_sums(const work *w, const fd_slot *s, unsigned slice) {
  const size_t lists = slice < LENGTHS ? TD_LISTS : COMPARED_LONG;
  unsigned long long bad = 0;
  for (size_t i = 0; i < lists; i++)
    bad +=
        result_bits(s, i) != reference_sum(w->item, sum_first_list(slice) + i, sum_length(slice));
  return bad;
}

/* ---- D: one length per slice, with and without absent products ---- */

static const int64_t dot_lengths[] = {0,   1,   2,    7,    255,  256,  257,  511,
                                      513, 600, 2047, 2048, 2049, 2303, 2305, 4097};
enum { DOT_LENGTHS = sizeof dot_lengths / sizeof *dot_lengths, DOT_SLICES = 4 * 2 * DOT_LENGTHS };

static int64_t dot_length(unsigned slice) { return dot_lengths[slice % DOT_LENGTHS]; }
static int dot_has_holes(unsigned slice) { return slice / DOT_LENGTHS % 2 != 0; }
static uint64_t dot_first_list(unsigned slice) { return (uint64_t)slice * 1001; }

static const char *compute_dot(const work *w, fd_slot *s, unsigned slice) {
  return w->item == 0 ? td_compute_dots_f32(s, dot_first_list(slice), dot_length(slice),
                                            dot_has_holes(slice))
                      : td_compute_dots_f64(s, dot_first_list(slice), dot_length(slice),
                                            dot_has_holes(slice));
}

/* Operands of one dot product, and which products are present. */
typedef struct column {
  float a[TD_MOST_PRODUCTS], b[TD_MOST_PRODUCTS];
  double a64[TD_MOST_PRODUCTS], b64[TD_MOST_PRODUCTS];
  uint8_t present[TD_MOST_PRODUCTS];
} column;

static uint64_t reference_dot(column *c, int item, uint64_t first, uint64_t list, int64_t n,
                              int holes) {
  const uint8_t *present = holes ? c->present : NULL;
  for (int64_t k = 0; k < n; k++) {
    c->present[k] = case_is_product_present(first, k);
    c->a[k] = pattern_to_f32(case_element_f32(first, k)),
    c->b[k] = pattern_to_f32(case_element_f32(list, k));
    c->a64[k] = pattern_to_f64(case_element_f64(first, k)),
    c->b64[k] = pattern_to_f64(case_element_f64(list, k));
  }
  return item == 0 ? f32_to_pattern(vt_dot_f32(c->a, 1, c->b, 1, present, 1, n))
                   : f64_to_pattern(vt_dot_f64(c->a64, 1, c->b64, 1, present, 1, n));
}
static unsigned long long count_wrong_dots(const work *w, const fd_slot *s, unsigned slice) {
  const uint64_t first = dot_first_list(slice);
  unsigned long long bad = 0;
  column *c = malloc(sizeof *c);
  if (c == NULL) return 1;
  for (size_t i = 0; i < TD_LISTS; i++)
    bad += result_bits(s, i) !=
           reference_dot(c, w->item, first, first + 1 + i, dot_length(slice), dot_has_holes(slice));
  free(c);
  return bad;
}

/* ---- reports ---- */

static int check_and_report(const char *name, work *w, unsigned long long results) {
  const double start = crew_seconds();
  const char *error = crew_check_slices(w);
  if (error != NULL) {
    fprintf(stderr, "%s: %s\n", name, error);
    return 1;
  }
  printf("%-16s %llu results, %llu differ (%.1f s)\n", name, results, (unsigned long long)w->bad,
         crew_seconds() - start);
  fflush(stdout);
  return w->bad != 0;
}

static int check_casts(int plant) {
  static const char *const names[] = {"",    "f32", "f64",  "i8",  "u8",
                                      "i32", "i64", "bool", "f16", "bf16"};
  int failed = 0;
  for (int from = VT_CAST_F32; from <= VT_CAST_BF16; from++) {
    work w = {compute_cast, count_wrong_casts, .item = from, .plant = plant,
              .n_slices = CAST_SLICES};
    char name[32];
    snprintf(name, sizeof name, "cast from %s", names[from]);
    failed |= check_and_report(name, &w, (unsigned long long)CAST_SLICES * TD_SLICE);
  }
  return failed;
}

int texts_check(int plant) {
  int failed = 0;
  for (int t = 0; t < N_TEXTS; t++) {
    work w = {compute_text, count_wrong_texts, .item = t, .plant = plant, .n_slices = TEXT_SLICES};
    failed |= check_and_report(texts[t].name, &w, (unsigned long long)TEXT_SLICES * TD_SLICE);
  }
  failed |= check_casts(plant);
  work random = {compute_random, count_wrong_randoms, .plant = plant, .n_slices = RANDOM_SLICES};
  failed |=
      check_and_report("random numbers", &random, (unsigned long long)RANDOM_SLICES * TD_SLICE);
  for (int item = 0; item < 2; item++) {
    work s = {compute_sum, count_wrong_sums, .item = item, .plant = plant, .n_slices = LENGTHS + 1};
    work d = {compute_dot, count_wrong_dots, .item = item, .plant = plant, .n_slices = DOT_SLICES};
    failed |= check_and_report(item == 0 ? "sum f32" : "sum f64", &s,
                               (unsigned long long)LENGTHS * TD_LISTS + COMPARED_LONG);
    failed |= check_and_report(item == 0 ? "contraction f32" : "contraction f64", &d,
                               (unsigned long long)DOT_SLICES * TD_LISTS);
  }
  return failed;
}
