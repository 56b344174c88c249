/* SPDX-License-Identifier: Apache-2.0
 * pow_check.c - vt_f32_pow against MPFR: the pairs that can be constructed, and many random ones.
 *
 *   exhaustive_pow [--part NAME]... [--pairs LOG2] [--short] [--jobs N] [--state DIR]
 *                  [--fresh] [--table] [--plant SEED] [--plant-estimate]
 *
 * Parts, which are divided into units:
 *
 *   special   all pairs of values at which rules change (signs, zeros, infinities, NaN, odd and
 * even integers, the ends of the format); exact     every pair whose power is an f32 or exactly a
 * midpoint between two, by construction, with the neighbours of both operands, with signs changed,
 * and the powers of two; y=...     one exponent with all 2^32 x; random    2^LOG2 pairs (2^30),
 * most with a power in range, over all exponents of x and of the power: subnormal powers, powers
 * next to 1, x next to 1, small dyadic y; some beyond the range.
 *
 * --short leaves out the sweeps y=... and takes 2^20 random pairs. oracle.h describes how the right
 * result of a pair is decided; the estimate is that of estimate_pow.h, which is also compared with
 * MPFR on a sample. --plant and --plant-estimate are those of exhaustive.c. src/num/fn_pow.inc has
 * the argument for the pairs that are not enumerated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "estimate_pow.h"
#include "oracle.h"

enum { UNIT_BITS = 20, UNIT = 1 << UNIT_BITS, MOST_PAIRS_LOG2 = 32, SAMPLE = 1 << 14 };
enum { LEAST_EXPONENT = -149, EXPONENTS = 277, SWEEPS = 7, SLICES = 256 };
enum { N_PARTS = 3 + SWEEPS };

static struct options {
  const char *state, *part[N_PARTS];
  unsigned n_part, jobs, pairs_log2, seed;
  int brief, table, fresh, plant, plant_estimate;
} opt;

/* ---- one pair ---- */

typedef struct pair_run {
  mpfr_t x, y, result, wide;
  uint64_t planted; /* number of the pair whose result is made wrong */
  outcome *out;
} pair_run;

static uint64_t mix_bits(uint64_t z) { /* mixes z into a pseudo-random number: splitmix64 */
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static int is_finite_nonzero(float x) { return (f32_bits(x) << 1) - 1 < 0xff000000u - 1; }

static double estimate_pair(float x, float y) {
  /* no estimate for zeros, infinities and NaN, so that MPFR decides */
  if (!is_finite_nonzero(x) || !is_finite_nonzero(y)) return 0;
  const double v = estimate_pow((double)x, (double)y);
  return opt.plant_estimate ? v * (1 + 4 * POW_BOUND) : v;
}

static float mpfr_result(pair_run *r, float x, float y) {
  mpfr_set_flt(r->x, x, MPFR_RNDN);
  mpfr_set_flt(r->y, y, MPFR_RNDN);
  return rounded_to_f32(r->result, mpfr_pow(r->result, r->x, r->y, MPFR_RNDN));
}

/* Compares the estimate of x^y with MPFR; returns whether the exact x^y has at most WIDE_BITS bits.
 */
static int measure_estimate(pair_run *r, float x, float y) {
  char where[32];
  snprintf(where, sizeof where, "%08x %08x", f32_bits(x), f32_bits(y));
  set_mpfr_widest_exponents();
  mpfr_set_flt(r->x, x, MPFR_RNDN);
  mpfr_set_flt(r->y, y, MPFR_RNDN);
  const int inexact = mpfr_pow(r->wide, r->x, r->y, MPFR_RNDN);
  const double v = estimate_pair(x, y);
  record_estimate_error(r->out, error_of_estimate(v, r->wide), POW_BOUND, where);
  set_mpfr_f32_exponents();
  return inexact == 0;
}

static void check_with_mpfr(pair_run *r, float x, float y, float ours, int decided,
                            float estimated) {
  const float right = mpfr_result(r, x, y);
  if (!decided) r->out->by_mpfr++;
  if (decided && !same_bits(right, estimated)) {
    r->out->broken = 1;
    outcome_set_message(r->out, "the estimate decides %08x %08x wrongly", f32_bits(x), f32_bits(y));
  }
  if (same_bits(ours, right)) return;
  r->out->mismatches++;
  outcome_set_message(r->out, "the first at %08x %08x: %08x, expected %08x", f32_bits(x),
                      f32_bits(y), f32_bits(ours), f32_bits(right));
}

static void check_pair(pair_run *r, float x, float y, int ask_mpfr) {
  float ours = vt_f32_pow(x, y), estimated;
  if (opt.plant && r->out->inputs == r->planted)
    ours = ours != ours
               ? 0
               : f32_from_bits(f32_bits(ours) ^ UINT32_C(1) << (mix_bits(r->planted) & 31));
  const int decided = estimate_decides(estimate_pair(x, y), POW_BOUND, &estimated);
  if (!decided || ask_mpfr || !same_bits(ours, estimated))
    check_with_mpfr(r, x, y, ours, decided, estimated);
  r->out->inputs++;
}

static void begin_unit(pair_run *r, unsigned unit, outcome *out) {
  mpfr_inits2(24, r->x, r->y, r->result, (mpfr_ptr)0);
  mpfr_init2(r->wide, WIDE_BITS);
  set_mpfr_f32_exponents();
  r->out = out;
  r->planted = mix_bits((uint64_t)opt.seed << 32 | unit) % 256;
}
static void end_unit(pair_run *r) { mpfr_clears(r->x, r->y, r->result, r->wide, (mpfr_ptr)0); }

/* ---- special ---- */

static unsigned list_special_values(float *out) {
  static const float whole[] = {0, 1, 2, 3, 4, 5, 7, 8, 10, 16, 100, 127, 128, 129, 149, 150, 151};
  static const float others[] = {0.5f, 1.5f, 2.5f, 0.25f, 0.75f, 1.25f, 33.33f, 1e10f, 1e-10f};
  static const uint32_t edges[] = {0x00000001, 0x00000003, 0x007fffff, 0x00800000, 0x3f7fffff,
                                   0x3f800001, 0x4a800000, 0x4a800001, 0x4b000000, 0x4b000001,
                                   0x4b7fffff, 0x4b800000, 0x4c000000, 0x5f000000, 0x5f800000,
                                   0x7f000000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7f800001};
  unsigned n = 0;
  for (unsigned i = 0; i < sizeof whole / sizeof *whole; i++) out[n++] = whole[i];
  for (unsigned i = 0; i < sizeof others / sizeof *others; i++) out[n++] = others[i];
  for (unsigned i = 0; i < sizeof edges / sizeof *edges; i++) out[n++] = f32_from_bits(edges[i]);
  for (unsigned i = 0, half = n; i < half; i++) out[n++] = -out[i];
  for (int e = LEAST_EXPONENT; e < 128; e += 7) out[n++] = (float)power_of_two(e);
  for (unsigned i = 0; i < 100; i++) out[n++] = f32_from_bits((uint32_t)mix_bits(i));
  return n;
}

static void check_special(const part *p, unsigned unit, outcome *out) {
  float v[512];
  pair_run r;
  const unsigned n = list_special_values(v);
  (void)p;
  begin_unit(&r, unit, out);
  for (unsigned i = 0; i < n; i++)
    for (unsigned j = 0; j < n; j++) check_pair(&r, v[i], v[j], 1);
  end_unit(&r);
}

/* ---- exact ---- */

/* Checks a pair whose power is exact, and its neighbours. */
static void check_exact_pair_and_neighbours(pair_run *r, float x, float y) {
  const uint32_t u = f32_bits(x), w = f32_bits(y);
  for (int sign = 0; sign < 2; sign++) {
    const float sx = sign == 0 ? x : -x;
    check_pair(r, sx, y, 1);
    check_pair(r, sx, -y, 0);
    check_pair(r, sx, f32_from_bits(w - 1), 0);
    check_pair(r, sx, f32_from_bits(w + 1), 0);
  }
  check_pair(r, f32_from_bits(u - 1), y, 0);
  check_pair(r, f32_from_bits(u + 1), y, 0);
  check_pair(r, -f32_from_bits(u + 1), y, 0);
  if (measure_estimate(r, x, y) || r->out->broken) return;
  r->out->broken = 1;
  outcome_set_message(r->out, "%08x %08x should be exact", u, w);
}

/* base^n if it is below the limit, otherwise 0. */
static uint64_t power_below_limit(uint64_t base, unsigned n, uint64_t limit) {
  uint64_t product = 1;
  while (n-- > 0)
    if ((product *= base) >= limit) return 0;
  return product;
}

/* Checks x = S^(2^j) 2^e, y = n/2^j, S odd and above 1, for which x^y = S^n 2^(e n/2^j). The power
 * has at most 25 bits if S^n < 2^25, and x is an f32 if S^(2^j) < 2^24 (fn_pow.inc, point 2, proves
 * that these are all). n = 1 with j = 0 is the sweep y=1. */
static void check_exact_powers(pair_run *r, int e, unsigned j, unsigned n) {
  for (uint64_t s = 3;; s += 2) {
    const uint64_t base = power_below_limit(s, 1u << j, 1 << 24);
    if (base == 0 || power_below_limit(s, n, 1 << 25) == 0) return;
    const double x = (double)base * power_of_two(e);
    if (x < 0x1p128) check_exact_pair_and_neighbours(r, (float)x, (float)n / (float)(1 << j));
  }
}

/* Checks x = 2^e with y = k/e, for which x^y = 2^k if y is an f32, and with the f32 next to y. Also
 * checks x with y in sixteenths. */
static void check_powers_of_two(pair_run *r, int e) {
  const float x = (float)power_of_two(e);
  for (int k = -152; k <= 130 && e != 0; k++) {
    const float y = (float)k / (float)e;
    if (y == 0) continue;
    for (uint32_t step = 0; step < 3; step++)
      check_pair(r, x, f32_from_bits(f32_bits(y) - 1 + step), 1);
  }
  for (int k = -2400; k <= 2400; k++) check_pair(r, x, (float)k / 16, k % 16 == 0);
}

static void check_exact(const part *p, unsigned unit, outcome *out) {
  const int e = (int)unit + LEAST_EXPONENT;
  pair_run r;
  (void)p;
  begin_unit(&r, unit, out);
  check_powers_of_two(&r, e);
  for (unsigned j = 0; j <= 3 && e % (1 << j) == 0; j++)
    for (unsigned n = j == 0 ? 2 : 1; n <= 15; n += j == 0 ? 1 : 2) check_exact_powers(&r, e, j, n);
  end_unit(&r);
}

/* ---- one y, all x ---- */

static void check_all_x_for_one_y(const part *p, unsigned unit, outcome *out) {
  const float y = *(const float *)p->what;
  pair_run r;
  begin_unit(&r, unit, out);
  for (uint32_t i = 0; i < 1u << 24; i++) {
    const float x = f32_from_bits(unit << 24 | i);
    check_pair(&r, x, y, 0);
    if (i % (1 << 16) == 0x1234) measure_estimate(&r, x, y);
  }
  end_unit(&r);
}

/* ---- random ---- */

typedef struct source {
  uint64_t state;
} source;

static uint64_t draw_bits(source *s) { return mix_bits(s->state++); }
static double draw_from_0_to_1(source *s) {
  return (double)(draw_bits(s) >> 11) * 0x1p-53;
} /* uniform in [0, 1) */

/* 2^-t with t in [0, 26), linear in each binade. */
static double draw_scale(source *s) {
  return power_of_two(-(int)(draw_bits(s) % 26) - 1) * (1 + draw_from_0_to_1(s));
}

static float draw_x(source *s) {
  const uint64_t a = draw_bits(s);
  const uint32_t low = (uint32_t)a;
  switch (a >> 61) {
    case 0:
      return f32_from_bits(0x3f000000u + low % 0x1000000u); /* x from 1/2 to 2 */
    case 1:
      return f32_from_bits(0x3f800000u - 0x800u + low % 0x1000); /* x next to 1 */
    case 2:
      return f32_from_bits(0x3f800000u - 0x200000u + low % 0x400000u);
    case 3:
      return f32_from_bits(low % 0x800000u); /* x subnormal */
    default:
      return f32_from_bits(low % 0x7f800000u);
  }
}

/* Draws log2(x^y), from which draw_y computes y. */
static double draw_log2_of_power(source *s) {
  switch (draw_bits(s) % 10) {
    case 0:
      return -126 - 24 * draw_from_0_to_1(s); /* powers that are subnormal */
    case 1:
      return (draw_from_0_to_1(s) - 0.5) * 4;
    case 2:
      return draw_scale(s); /* powers next to 1 */
    case 3:
      return -draw_scale(s);
    case 4:
      /* powers near overflow; the next line draws powers near underflow */
      return 127.5 + draw_from_0_to_1(s);
    case 5:
      return -148.5 - 3 * draw_from_0_to_1(s);
    case 6:
      /* in most cases the logarithm of a power outside the range of f32 */
      return (draw_from_0_to_1(s) - 0.5) * 0x1p26 * draw_scale(s);
    default:
      return draw_from_0_to_1(s) * 278 - 150;
  }
}

/* Draws a y that is a small number of halves, quarters, ... 64ths, or next to such a number. */
static float draw_dyadic(source *s) {
  const uint64_t a = draw_bits(s);
  const float y = (float)((int)(a % 64) - 32) / (float)(1 << (a >> 8) % 7);
  return y != 0 && (a >> 12 & 3) == 0 ? f32_from_bits(f32_bits(y) + (uint32_t)(a >> 14) % 5 - 2)
                                      : y;
}

static float draw_y(source *s, float x) {
  const double log = log_of((double)x) * constants.log2e, y = draw_log2_of_power(s) / log;
  return magnitude(y) < 0x1p127 ? (float)y : 1.5f;
}

/* Returns the integer nearest to y, but a small random integer instead of 0. */
static float nearest_nonzero_integer(source *s, float y) {
  if (magnitude((double)y) >= 0x1p23) return y;
  const float whole = (float)nearest_integer((double)y);
  return whole != 0 ? whole : (float)(int)(draw_bits(s) % 40) - 20.0f;
}

static void draw_pair(source *s, float *x, float *y) {
  const uint64_t kind = draw_bits(s) % 32;
  *x = draw_x(s);
  if (*x == 0) *x = 0.75f;
  *y = kind < 4 ? draw_dyadic(s) : draw_y(s, *x);
  if (kind == 4) { /* any patterns */
    *x = f32_from_bits((uint32_t)draw_bits(s));
    *y = f32_from_bits((uint32_t)draw_bits(s));
  }
  if (kind < 8 && kind > 4) *x = -*x;
  if (kind < 8 && kind > 5) *y = nearest_nonzero_integer(s, *y);
}

static void check_random(const part *p, unsigned unit, outcome *out) {
  source s = {(uint64_t)(unit + 1) << 40};
  pair_run r;
  (void)p;
  begin_unit(&r, unit, out);
  for (uint32_t i = 0; i < UNIT; i++) {
    float x, y;
    draw_pair(&s, &x, &y);
    check_pair(&r, x, y, 0);
    if (i % SAMPLE == 0) measure_estimate(&r, x, y);
  }
  end_unit(&r);
}

/* ---- parts and report ---- */

static unsigned make_all_parts(part parts[N_PARTS]) {
  static const float exponents[SWEEPS] = {-1, -0.5f, 0.5f, 1, 1.5f, 2, 3};
  static const char *const names[SWEEPS] = {"y=-1",  "y=-0.5", "y=0.5", "y=1",
                                            "y=1.5", "y=2",    "y=3"};
  unsigned n = 0;
  parts[n++] = (part){"special", 1, check_special, NULL};
  parts[n++] = (part){"exact", EXPONENTS, check_exact, NULL};
  for (unsigned i = 0; i < SWEEPS && !opt.brief; i++)
    parts[n++] = (part){names[i], SLICES, check_all_x_for_one_y, &exponents[i]};
  parts[n++] = (part){"random", 1u << (opt.pairs_log2 - UNIT_BITS), check_random, NULL};
  return n;
}

static int is_wanted(const char *name) {
  for (unsigned i = 0; i < opt.n_part; i++)
    if (strcmp(opt.part[i], name) == 0) return 1;
  return opt.n_part == 0;
}

static void print_result(const char *name, const outcome *o) {
  const unsigned long long pairs = o->inputs, wrong = o->mismatches, checked_by_mpfr = o->by_mpfr;
  const unsigned long long seconds = (o->milliseconds + 500) / 1000;
  if (opt.table) {
    printf("| `pow`, %s | %llu | %llu | %llu | %llu |\n", name, pairs, wrong, checked_by_mpfr,
           seconds);
    return;
  }
  printf("pow, %s: %llu pairs, %llu mismatches, %llu decided by MPFR, %llu s of processor time",
         name, pairs, wrong, checked_by_mpfr, seconds);
  if (o->worst > 0) printf(", estimates off by 2^%.1f at most in the sample", log2(o->worst));
  putchar('\n');
}

static void add_outcome(outcome *sum, const outcome *o) {
  sum->inputs += o->inputs;
  sum->mismatches += o->mismatches;
  sum->by_mpfr += o->by_mpfr;
  sum->milliseconds += o->milliseconds;
  if (o->worst > sum->worst) sum->worst = o->worst;
}

static int print_report(const crew *c, const part *parts, unsigned n) {
  outcome sum = {0};
  ledger *l = malloc(sizeof *l);
  if (l == NULL) return 0;
  for (unsigned i = 0; i < n; i++) {
    if (!is_wanted(parts[i].name)) continue;
    crew_read_ledger(c, &parts[i], 0, parts[i].units, l);
    print_result(parts[i].name, &l->sum);
    add_outcome(&sum, &l->sum);
  }
  print_result("all", &sum);
  free(l);
  return sum.mismatches == 0;
}

/* ---- arguments ---- */

static int print_usage(void) {
  fputs(
      "usage: exhaustive_pow [--part NAME]... [--pairs LOG2] [--short] [--jobs N] [--state DIR]\n"
      "                      [--fresh] [--table] [--plant SEED] [--plant-estimate]\n"
      "parts: special exact random y=-1 y=-0.5 y=0.5 y=1 y=1.5 y=2 y=3\n",
      stderr);
  return 2;
}

static int parse_flag(const char *flag) {
  if (strcmp(flag, "--table") == 0) return opt.table = 1;
  if (strcmp(flag, "--fresh") == 0) return opt.fresh = 1;
  if (strcmp(flag, "--plant-estimate") == 0) return opt.plant_estimate = 1;
  if (strcmp(flag, "--short") != 0) return 0;
  opt.pairs_log2 = UNIT_BITS;
  return opt.brief = 1;
}

static int parse_value(const char *flag, const char *value) {
  if (strcmp(flag, "--pairs") == 0) return sscanf(value, "%u", &opt.pairs_log2) == 1;
  if (strcmp(flag, "--jobs") == 0) return sscanf(value, "%u", &opt.jobs) == 1;
  if (strcmp(flag, "--plant") == 0) return opt.plant = sscanf(value, "%u", &opt.seed) == 1;
  if (strcmp(flag, "--state") == 0) return (opt.state = value) != NULL;
  if (strcmp(flag, "--part") != 0 || opt.n_part == N_PARTS) return 0;
  opt.part[opt.n_part++] = value;
  return 1;
}

static int parse_arguments(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (parse_flag(argv[i])) continue;
    if (i + 1 == argc || !parse_value(argv[i], argv[i + 1])) return 0;
    i++;
  }
  return opt.jobs >= 1 && opt.jobs <= MAX_JOBS && opt.pairs_log2 >= UNIT_BITS &&
         opt.pairs_log2 <= MOST_PAIRS_LOG2;
}

int main(int argc, char **argv) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  part parts[N_PARTS];
  unsigned found = 0;
  opt.state = "exhaustive.state";
  opt.pairs_log2 = 30;
  opt.jobs = cores > 0 ? (unsigned)cores : 1;
  if (!parse_arguments(argc, argv)) return print_usage();
  const unsigned n = make_all_parts(parts);
  for (unsigned i = 0; i < n; i++) found += (unsigned)is_wanted(parts[i].name);
  if (found < opt.n_part) return print_usage();
  /* runs with planted faults never continue an earlier run */
  const int planted = opt.plant || opt.plant_estimate;
  crew *c = crew_new(opt.state, planted ? "pow_planted" : "pow", opt.fresh || planted);
  if (c == NULL) return 1;
  estimate_init_constants();
  for (unsigned i = 0; i < n; i++)
    if (is_wanted(parts[i].name)) crew_add_unfinished_units(c, &parts[i], 0, parts[i].units);
  int good = crew_run(c, opt.jobs);
  good &= print_report(c, parts, n);
  crew_free(c);
  return good ? 0 : 1;
}
