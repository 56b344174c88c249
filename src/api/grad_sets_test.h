/* SPDX-License-Identifier: Apache-2.0
 * grad_sets_test.h - for tests that compute reductions, norms and losses by their formulas: the
 * sets of elements that are reduced together, and arithmetic that rounds to the type of the test
 * case. */
#ifndef VT_SETS_TEST_H
#define VT_SETS_TEST_H
#include "grad_case_test.h"

/* The elements of a row-major array, divided into sets of equal size. */
typedef struct sets {
  int64_t count, n; /* number of sets; elements of each set */
  int64_t *at;      /* indices: set s has at[s*n .. s*n + n - 1], in row-major order */
} sets;

/* The sets that a reduction over the axes in `mask` sums, in row-major order of the other axes. */
static inline sets sets_over(const grad_array *x, unsigned mask) {
  sets s = {.count = 1, .n = 1};
  for (uint32_t i = 0; i < x->rank; i++) *(mask >> i & 1 ? &s.n : &s.count) *= x->dim[i];
  s.at = malloc(((size_t)x->n + 1) * sizeof *s.at);
  int64_t *filled = calloc((size_t)s.count + 1, sizeof *filled);
  for (int64_t i = 0; i < x->n; i++) {
    int64_t set = 0, step = 1, rest = i;
    for (uint32_t axis = x->rank; axis-- > 0; rest /= x->dim[axis]) {
      if (mask >> axis & 1) continue;
      set += rest % x->dim[axis] * step;
      step *= x->dim[axis];
    }
    s.at[set * s.n + filled[set]++] = i;
  }
  free(filled);
  return s;
}

/* Sets of n consecutive elements each. */
static inline sets sets_of_rows(const grad_array *x, int64_t n) {
  sets s = {.count = n == 0 ? 0 : x->n / n, .n = n};
  s.at = malloc(((size_t)x->n + 1) * sizeof *s.at);
  for (int64_t i = 0; i < x->n; i++) s.at[i] = i;
  return s;
}

/* The ordered sum S over set i of v. */
static inline double set_sum(uint32_t dtype, const sets *s, int64_t i, const double *v) {
  double *part = malloc(((size_t)s->n + 1) * sizeof *part);
  for (int64_t k = 0; k < s->n; k++) part[k] = v[s->at[i * s->n + k]];
  const double y = ordered_sum(dtype, part, s->n, 1);
  free(part);
  return y;
}

/* The type that the current test case computes in. Each function below rounds once to it. */
static uint32_t case_type;
static inline double rounded(double x) { return round_to_type(case_type, x); }
static inline double plus(double a, double b) { return rounded(a + b); }
static inline double minus(double a, double b) { return rounded(a - b); }
static inline double times(double a, double b) { return rounded(a * b); }
static inline double over(double a, double b) { return rounded(a / b); }
static inline double root(double a) { return rounded(sqrt(a)); }
/* In f32 whatever the type is, because functions exist in f32 only. */
static inline double exp_of(double a) { return (double)vt_f32_exp((float)a); }
static inline double log_of(double a) { return (double)vt_f32_log((float)a); }

/* An array of n zeros; the caller frees it. */
static inline double *new_array(int64_t n) { return calloc((size_t)n + 1, sizeof(double)); }

/* Index of the first maximum of a set, or of its first minimum with `least`. A NaN wins both, and
 * +0 is above -0. */
static inline int64_t set_extreme(const sets *s, int64_t i, const double *v, int least) {
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
