/* SPDX-License-Identifier: Apache-2.0
 * grad_sets_test.h - for tests that compute reductions, norms and losses by their formulas: the
 * sets of elements that are reduced together, and arithmetic (plus, minus, times, over, root) that
 * rounds each result to the type of the test case. */
#ifndef VT_SETS_TEST_H
#define VT_SETS_TEST_H
#include "grad_case_test.h"

/* The elements of a row-major array, divided into sets of equal size. */
typedef struct sets {
  int64_t count, n; /* number of sets; elements of each set */
  /* Element indices: those of set s are at[s*n .. s*n + n - 1], in row-major order. */
  int64_t *at;
} sets;

/* Returns the sets of elements that a reduction over the axes in the bit set `axes` combines, in
 * row-major order of the other axes. */
static inline sets sets_over_axes(const grad_array *x, unsigned axes) {
  sets s = {.count = 1, .n = 1};
  for (uint32_t i = 0; i < x->rank; i++) *(axes >> i & 1 ? &s.n : &s.count) *= x->dim[i];
  s.at = malloc(((size_t)x->n + 1) * sizeof *s.at);
  int64_t *filled = calloc((size_t)s.count + 1, sizeof *filled);
  for (int64_t i = 0; i < x->n; i++) {
    int64_t set = 0, step = 1, rest = i;
    for (uint32_t axis = x->rank; axis-- > 0; rest /= x->dim[axis]) {
      if (axes >> axis & 1) continue;
      set += rest % x->dim[axis] * step;
      step *= x->dim[axis];
    }
    s.at[set * s.n + filled[set]++] = i;
  }
  free(filled);
  return s;
}

/* Returns sets of `row_length` consecutive elements each. */
static inline sets sets_of_rows(const grad_array *x, int64_t row_length) {
  sets s = {.count = row_length == 0 ? 0 : x->n / row_length, .n = row_length};
  s.at = malloc(((size_t)x->n + 1) * sizeof *s.at);
  for (int64_t i = 0; i < x->n; i++) s.at[i] = i;
  return s;
}

/* Returns the ordered sum S of the elements of v that are in set i. */
static inline double sum_of_set(uint32_t dtype, const sets *s, int64_t i, const double *v) {
  double *part = malloc(((size_t)s->n + 1) * sizeof *part);
  for (int64_t k = 0; k < s->n; k++) part[k] = v[s->at[i * s->n + k]];
  const double y = ordered_sum_s(dtype, part, s->n, 1);
  free(part);
  return y;
}

/* The type that the current test case computes in. Each function from `rounded` to `root` rounds
 * its result to it once. */
static uint32_t case_type;
static inline double rounded(double x) { return round_to_type(case_type, x); }
static inline double plus(double a, double b) { return rounded(a + b); }
static inline double minus(double a, double b) { return rounded(a - b); }
static inline double times(double a, double b) { return rounded(a * b); }
static inline double over(double a, double b) { return rounded(a / b); }
static inline double root(double a) { return rounded(sqrt(a)); }
/* exp_in_f32 and log_in_f32 round to f32 whatever the type is, because these functions exist in f32
 * only. */
static inline double exp_in_f32(double a) { return (double)vt_f32_exp((float)a); }
static inline double log_in_f32(double a) { return (double)vt_f32_log((float)a); }

/* An array of n zeros; the caller frees it. */
static inline double *new_zeros(int64_t n) { return calloc((size_t)n + 1, sizeof(double)); }

/* Returns the index of the first maximum of set i, or with `least` of its first minimum. If the set
 * has a NaN, it is the first NaN; +0 is above -0. */
static inline int64_t first_extreme_of_set(const sets *s, int64_t i, const double *v, int least) {
  int64_t best = s->at[i * s->n];
  for (int64_t k = 1; k < s->n; k++) {
    const int64_t at = s->at[i * s->n + k];
    const int nan_wins = isnan(v[at]) && !isnan(v[best]);
    const int better = least ? !isnan(v[at]) && !isnan(v[best]) && comes_above(v[best], v[at])
                             : comes_above(v[at], v[best]);
    if (nan_wins || better) best = at;
  }
  return best;
}
#endif
