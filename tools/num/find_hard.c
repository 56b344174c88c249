/* SPDX-License-Identifier: Apache-2.0
 * find_hard.c - writes the rows of src/num/edges.def and src/num/hard.def: for each function the
 * inputs that distinguish a correctly rounded implementation from a nearly right one, and MPFR's
 * results for them.
 *
 *   gcc -O2 tools/num/find_hard.c -o find_hard -lmpfr -lgmp -lm
 *   ./find_hard                (all functions: about half an hour of processor time)
 *   ./find_hard log sin pow    (the rows of three)
 *
 * VT_EDGE: the inputs on both sides of every point at which the kind of the result changes (NaN,
 * infinite, normal, of size 1, subnormal, zero), and for trigonometric functions arguments around
 * multiples of pi/2 and huge ones.
 *
 * VT_HARD: the inputs whose real result is nearest to a midpoint between two f32, but not on it:
 * the EASY hardest with |x| below 2^-10, where a short series decides, and the REAL hardest
 * elsewhere. The C library's f64 function finds candidates (its error is less than 2^-27 of a place
 * of f32, and everything within 2^-20 is a candidate); MPFR orders them.
 *
 * VT_STRIDE: a digest of the results for `count` inputs whose patterns are `step` apart.
 *
 * VT_HARD_POW and VT_RANDOM_POW: the same for pow, the former from 2^29 pairs.
 *
 * Every result printed is MPFR's. The rows are the same on every machine with a C library whose f64
 * functions keep the bound above. */
#include <math.h>
#include <mpfr.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REAL = 10, EASY = 4, MOST_EDGES = 16, PRECISION = 300 };

/* ---- the functions ---- */

/* sigmoid with 400 bits and unbounded exponents: e^-x may be outside the range of f32 when the
 * quotient is not. */
static int sigmoid_by_mpfr(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t round) {
  const mpfr_exp_t emin = mpfr_get_emin(), emax = mpfr_get_emax();
  mpfr_t t;
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  mpfr_init2(t, 400);
  mpfr_neg(t, x, MPFR_RNDN);
  mpfr_exp(t, t, MPFR_RNDN);
  mpfr_add_ui(t, t, 1, MPFR_RNDN);
  mpfr_ui_div(t, 1, t, MPFR_RNDN);
  mpfr_set_emin(emin);
  mpfr_set_emax(emax);
  int inexact = mpfr_set(y, t, round);
  inexact = mpfr_check_range(y, inexact, round);
  mpfr_clear(t);
  return inexact;
}

static double sigmoid(double x) { return 1.0 / (1.0 + exp(-x)); }
static double rsqrt(double x) { return 1.0 / sqrt(x); }

typedef struct function {
  const char *name;
  int (*mpfr_function)(mpfr_ptr y, mpfr_srcptr x, mpfr_rnd_t round);
  double (*estimate)(double x);
  /* 1 if the function is odd or even: only positive inputs are searched, and the rows have inputs
   * of both signs. */
  int symmetric;
} function;
#define ROW(name, symmetric) \
  { #name, mpfr_##name, name, symmetric }
static const function functions[] = {
    ROW(exp, 0),
    ROW(exp2, 0),
    ROW(expm1, 0),
    ROW(log, 0),
    ROW(log2, 0),
    ROW(log10, 0),
    ROW(log1p, 0),
    ROW(sin, 1),
    ROW(cos, 1),
    ROW(tan, 1),
    ROW(asin, 1),
    ROW(acos, 0),
    ROW(atan, 1),
    ROW(sinh, 1),
    ROW(cosh, 1),
    ROW(tanh, 1),
    ROW(asinh, 1),
    ROW(acosh, 0),
    ROW(atanh, 1),
    ROW(erf, 1),
    {"sigmoid", sigmoid_by_mpfr, sigmoid, 0},
    /* for rsqrt the input -0 is left out: MPFR has a rule of its own for it */
    {"rsqrt", mpfr_rec_sqrt, rsqrt, 0},
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static int is_trigonometric(const function *f) {
  return f->estimate == sin || f->estimate == cos || f->estimate == tan;
}

/* ---- patterns ---- */

static float from_bits(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}
static uint32_t pattern_of(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return x != x ? 0x7fc00000u : u;
}

/* Set MPFR's exponents to those of f32, so that with 24 bits it rounds to an f32, subnormals
 * included. finish_rounding_to_f32 returns that f32 and makes the exponents unbounded again. */
static float finish_rounding_to_f32(mpfr_t y, int inexact) {
  mpfr_subnormalize(y, inexact, MPFR_RNDN);
  const float r = mpfr_get_flt(y, MPFR_RNDN);
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
  return r;
}
static void limit_mpfr_to_f32(void) {
  mpfr_set_emin(-148);
  mpfr_set_emax(128);
}

/* The pattern of the correctly rounded result. */
static uint32_t mpfr_pattern(const function *f, uint32_t u) {
  mpfr_t y;
  mpfr_init2(y, 24);
  limit_mpfr_to_f32();
  mpfr_set_flt(y, from_bits(u), MPFR_RNDN);
  const float r = finish_rounding_to_f32(y, f->mpfr_function(y, y, MPFR_RNDN));
  mpfr_clear(y);
  return pattern_of(r);
}

/* ---- distance from a midpoint ---- */

/* The exponent of the last place of the f32 nearest to y. */
static int exponent_of_last_place(double y) {
  const int e = ilogb(y) - 23;
  return e > -149 ? e : -149;
}

/* The distance of an f64 from the nearest midpoint between two f32, in places of f32. */
static double distance_of_f64_to_midpoint(double y) {
  const double a = fabs(y);
  if (a >= 0x1p-126 && a < 0x1p128) {
    uint64_t u;
    memcpy(&u, &y, sizeof u);
    const int64_t beyond = (int64_t)(u & 0x1fffffff) - 0x10000000;
    return (double)llabs(beyond) * 0x1p-29;
  }
  if (!(a > 0 && a < 0x1p-126)) return 1;
  const double places = a * 0x1p149;
  return fabs(places - floor(places) - 0.5);
}

static double distance_to_midpoint(const function *f, uint32_t u) {
  mpfr_t y;
  mpfr_init2(y, PRECISION);
  mpfr_set_flt(y, from_bits(u), MPFR_RNDN);
  f->mpfr_function(y, y, MPFR_RNDN);
  mpfr_mul_2si(y, y, -exponent_of_last_place(f->estimate((double)from_bits(u))), MPFR_RNDN);
  mpfr_frac(y, y, MPFR_RNDN);
  mpfr_abs(y, y, MPFR_RNDN);
  mpfr_sub_d(y, y, 0.5, MPFR_RNDN);
  const double d = fabs(mpfr_get_d(y, MPFR_RNDN));
  mpfr_clear(y);
  return d;
}

typedef struct candidate {
  uint32_t u;
  double distance;
} candidate;

typedef struct list {
  candidate *at;
  size_t n, capacity;
} list;

static void append_candidate(list *l, uint32_t u) {
  if (l->n == l->capacity) {
    l->capacity = l->capacity == 0 ? 4096 : 2 * l->capacity;
    l->at = realloc(l->at, l->capacity * sizeof *l->at);
    if (l->at == NULL) exit(1);
  }
  l->at[l->n++] = (candidate){u, 0};
}

static int order_by_distance(const void *a, const void *b) {
  const candidate *p = a, *q = b;
  if (p->distance != q->distance) return p->distance < q->distance ? -1 : 1;
  return p->u < q->u ? -1 : p->u > q->u;
}

/* ---- the rows of the functions of one argument ---- */

static void print_table_row(const char *kind, const function *f, uint32_t u) {
  printf("%s(%s, 0x%08xu, 0x%08xu)\n", kind, f->name, u, mpfr_pattern(f, u));
}

enum { NOT_A_NUMBER, INFINITE, ONE, NORMAL, SUBNORMAL, NOTHING };
static int result_kind(const function *f, double y) {
  const float a = fabsf((float)y);
  if (a != a) return NOT_A_NUMBER;
  if (a == INFINITY) return INFINITE;
  if (a == 1.0f && !is_trigonometric(f)) return ONE;
  if (a >= 0x1p-126f) return NORMAL;
  return a > 0 ? SUBNORMAL : NOTHING;
}

static void print_both_sides_of_edge(const function *f, uint32_t u, uint32_t last_printed) {
  if (u - 1 != last_printed) print_table_row("VT_EDGE", f, u - 1);
  print_table_row("VT_EDGE", f, u);
  if (f->symmetric) print_table_row("VT_EDGE", f, u ^ 0x80000000u);
}

/* Collects the candidates among the patterns of one sign, and prints the edges that it passes.
 * Zeros are left out: MPFR has a rule of its own for rsqrt(-0). */
static void find_candidates_and_print_edges(const function *f, uint32_t sign, list *found) {
  int last = -1, edges = 0;
  uint32_t printed = 0;
  for (uint32_t u = sign + 1; u <= sign + 0x7f800000u; u++) {
    const double y = f->estimate((double)from_bits(u));
    const int kind = result_kind(f, y);
    if (kind != last && last >= 0 && edges++ < MOST_EDGES) {
      print_both_sides_of_edge(f, u, printed);
      printed = u;
    }
    last = kind;
    if (distance_of_f64_to_midpoint(y) < 0x1p-20) append_candidate(found, u);
  }
}

/* Returns whether candidate i is new: 4^k x is as hard for rsqrt as x, so of equal significands the
 * first is enough. */
static int is_new_candidate(const list *found, size_t i) {
  for (size_t k = i; k-- > 0 && i - k < 1000;)
    if ((found->at[k].u & 0x7fffff) == (found->at[i].u & 0x7fffff)) return 0;
  return found->at[i].distance > 0;
}

static void print_hardest_inputs(const function *f) {
  list found = {NULL, 0, 0};
  int real = 0, easy = 0;
  find_candidates_and_print_edges(f, 0, &found);
  if (!f->symmetric) find_candidates_and_print_edges(f, 0x80000000u, &found);
  for (size_t i = 0; i < found.n; i++)
    found.at[i].distance = distance_to_midpoint(f, found.at[i].u);
  qsort(found.at, found.n, sizeof *found.at, order_by_distance);
  for (size_t i = 0; i < found.n && (real < REAL || easy < EASY); i++) {
    const uint32_t u = found.at[i].u, other = f->symmetric && i % 2 != 0 ? 0x80000000u : 0;
    const int small = fabsf(from_bits(u)) < 0x1p-10f;
    if (!is_new_candidate(&found, i) || (small ? easy == EASY : real == REAL)) continue;
    if (small) easy++;
    if (!small) real++;
    print_table_row("VT_HARD", f, u ^ other);
  }
  fprintf(stderr, "%s: %zu candidates\n", f->name, found.n);
  free(found.at);
}

/* Prints edges around multiples of pi/2, at the limits of each method of argument reduction, and
 * far away. 0x6f79be45 is the f32 nearest to a multiple of pi/2, relatively. */
static void print_angle_edges(const function *f) {
  static const uint32_t at[] = {0x3f490fdbu, 0x3fc90fdbu, 0x40490fdbu, 0x4096cbe4u,
                                0x40c90fdbu, 0x42c8f5c3u, 0x461c4000u, 0x49ffffffu,
                                0x4a000000u, 0x4b7fffffu, 0x4b800000u, 0x5922aa80u,
                                0x5f800000u, 0x6f79be45u, 0x7f000000u, 0x7f7fffffu};
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
    for (uint32_t near = at[i] - 1; near <= at[i] + 1; near++)
      if (near < 0x7f800000u) print_table_row("VT_EDGE", f, near);
    print_table_row("VT_EDGE", f, at[i] | 0x80000000u);
  }
}

/* Adds a result to a digest, in the order of the inputs. */
static uint64_t digest_add(uint64_t h, uint32_t result) {
  h = (h ^ result) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

static void print_stride_digest(const function *f, uint32_t first, uint32_t step, uint32_t count) {
  uint64_t h = 0;
  for (uint32_t i = 0; i < count; i++) h = digest_add(h, mpfr_pattern(f, first + i * step));
  printf("VT_STRIDE(%s, 0x%08xu, %uu, %uu, UINT64_C(0x%016llx))\n", f->name, first, step, count,
         (unsigned long long)h);
}

/* Prints digests over all patterns; over 2^-8 to 2^8, where tables are read, more densely; over
 * subnormal inputs of both signs; and over inputs with subnormal results, for functions that have
 * others than those of subnormal inputs: exp, exp2, sigmoid. */
static void print_stride_digests(const function *f) {
  print_stride_digest(f, 0, 4099, 1u << 20);
  print_stride_digest(f, 0x3b800000u, 127, 1056832);
  if (!f->symmetric) print_stride_digest(f, 0xbb800000u, 509, 263692);
  print_stride_digest(f, 1, 1021, 8216);
  print_stride_digest(f, 0x80000001u, 1021, 8216);
  if (f->estimate == exp || f->estimate == sigmoid) print_stride_digest(f, 0xc2aeac00u, 131, 17000);
  if (f->estimate == exp2) print_stride_digest(f, 0xc2fc0000u, 101, 16000);
}

/* ---- pow ---- */

/* The next pseudo-random number: splitmix64. */
static uint64_t random_u64(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Draws x from 2^-16 to 2^17 and |y| from 2^-4 to 2^4: most results are finite, some are not. */
static void random_pair(uint64_t *state, float *x, float *y) {
  const uint64_t r = random_u64(state);
  const uint32_t e = 111 + (uint32_t)(r >> 55) % 33, d = 123 + (uint32_t)(r >> 46) % 8;
  *x = from_bits(e << 23 | ((uint32_t)r & 0x7fffff));
  *y = from_bits((uint32_t)(r >> 54) << 31 | d << 23 | ((uint32_t)(r >> 23) & 0x7fffff));
}

static int compute_pow_by_mpfr(mpfr_t z, float x, float y) {
  mpfr_t e;
  mpfr_init2(e, 24);
  mpfr_set_flt(e, y, MPFR_RNDN);
  mpfr_set_flt(z, x, MPFR_RNDN);
  const int inexact = mpfr_pow(z, z, e, MPFR_RNDN);
  mpfr_clear(e);
  return inexact;
}

static uint32_t mpfr_pow_pattern(float x, float y) {
  mpfr_t z;
  mpfr_init2(z, 24);
  limit_mpfr_to_f32();
  const float r = finish_rounding_to_f32(z, compute_pow_by_mpfr(z, x, y));
  mpfr_clear(z);
  return pattern_of(r);
}

static double pow_distance_to_midpoint(float x, float y) {
  mpfr_t z;
  mpfr_init2(z, PRECISION);
  compute_pow_by_mpfr(z, x, y);
  mpfr_mul_2si(z, z, -exponent_of_last_place(pow((double)x, (double)y)), MPFR_RNDN);
  mpfr_frac(z, z, MPFR_RNDN);
  mpfr_sub_d(z, z, 0.5, MPFR_RNDN);
  const double d = fabs(mpfr_get_d(z, MPFR_RNDN));
  mpfr_clear(z);
  return d;
}

/* The pair with number i; a candidate of pow is the number of a pair. */
static void numbered_pair(uint32_t i, float *x, float *y) {
  uint64_t state = (uint64_t)i << 32;
  random_pair(&state, x, y);
}

static void print_hard_pow(void) {
  enum { ROWS = 24 };
  list found = {NULL, 0, 0};
  float x, y;
  for (uint32_t i = 0; i < 1u << 29; i++) {
    numbered_pair(i, &x, &y);
    if (distance_of_f64_to_midpoint(pow((double)x, (double)y)) < 0x1p-20)
      append_candidate(&found, i);
  }
  for (size_t i = 0; i < found.n; i++) {
    numbered_pair(found.at[i].u, &x, &y);
    found.at[i].distance = pow_distance_to_midpoint(x, y);
  }
  qsort(found.at, found.n, sizeof *found.at, order_by_distance);
  for (size_t i = 0; i < found.n && i < ROWS; i++) {
    numbered_pair(found.at[i].u, &x, &y);
    printf("VT_HARD_POW(0x%08xu, 0x%08xu, 0x%08xu)\n", pattern_of(x), pattern_of(y),
           mpfr_pow_pattern(x, y));
  }
  free(found.at);
}

static void print_random_pow(uint64_t seed, uint32_t count) {
  uint64_t h = 0, state = seed;
  for (uint32_t i = 0; i < count; i++) {
    float x, y;
    random_pair(&state, &x, &y);
    h = digest_add(h, mpfr_pow_pattern(x, y));
  }
  printf("VT_RANDOM_POW(%u, %uu, UINT64_C(0x%016llx))\n", (unsigned)seed, count,
         (unsigned long long)h);
}

static int is_wanted(int argc, char **argv, const char *name) {
  int wanted = argc == 1;
  for (int a = 1; a < argc; a++) wanted |= strcmp(argv[a], name) == 0;
  return wanted;
}

int main(int argc, char **argv) {
  for (int i = 0; i < N_FUNCTIONS; i++) {
    if (!is_wanted(argc, argv, functions[i].name)) continue;
    print_hardest_inputs(&functions[i]);
    if (is_trigonometric(&functions[i])) print_angle_edges(&functions[i]);
    print_stride_digests(&functions[i]);
    fflush(stdout);
  }
  if (is_wanted(argc, argv, "pow")) {
    print_hard_pow();
    print_random_pow(1, 1u << 20);
  }
  mpfr_free_cache();
  return 0;
}
