/* SPDX-License-Identifier: Apache-2.0
 * exhaustive.c - checks every function of functions.def on all 2^32 inputs against MPFR.
 *
 *   exhaustive [--func NAME]... [--slices A..B] [--jobs N] [--state DIR] [--fresh] [--table]
 *              [--digests FILE]       write the digests of all results, one per slice
 *              [--against FILE]       compare the results with such a file, without MPFR
 *              [--plant SEED] [--plant-estimate]      plant faults that must be noticed
 *
 * oracle.h describes how the right result of an input is decided, estimate_*.h the estimates and
 * the proofs of their bounds. In every slice the estimate is also compared with MPFR on a
 * pseudo-random sample, one input in 2^16. An estimate beyond its bound ends the run as broken, and
 * so does a result that the estimate decided and MPFR does not confirm.
 *
 * The unit of work is a slice: 2^24 consecutive bit patterns. A run continues where an earlier run
 * of the same build stopped (crew.h), unless --fresh. --table prints the report as Markdown rows.
 *
 * --plant flips, in each slice, one bit of one result, chosen by the seed; --plant-estimate makes
 * the estimates wrong by four times their bound. Such runs check the first 2^20 inputs of a slice
 * only, have ledgers of their own and never continue an earlier run. */
#include <errno.h>
#include <math.h>
#include <sodium/core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "estimate_angle.h"
#include "estimate_exp.h"
#include "estimate_log.h"
#include "oracle.h"
#include "oracle_by_hand.h"
#include "vt_hash.h"

enum { SLICE_BITS = 24, SLICE = 1 << SLICE_BITS, SLICES = 256, BLOCK = 4096, SAMPLE = 1 << 16 };
enum { PLANTED_INPUTS = 1 << 20 };

/* ---- the table ---- */

static inline int is_special(float x) { return (f32_bits(x) << 1) - 1 >= 0xff000000u - 1; }

/* The estimate for an x that is NaN, 0 or infinite: NaN gives NaN; for zeros and infinities there
 * is none, so that MPFR decides. */
static inline double estimate_special(float x) { return x != x ? ESTIMATE_NAN : 0; }

/* Estimates a block. Always inlined, so that each function gets a loop of its own with its
 * estimator. */
static inline __attribute__((always_inline)) void estimate_block(double (*estimate)(double x),
                                                                 const float *x, double *out) {
  for (unsigned i = 0; i < BLOCK; i++)
    out[i] = is_special(x[i]) ? estimate_special(x[i]) : estimate((double)x[i]);
}

#define VT_FUNCTION(name, estimate, oracle)                           \
  static void estimate_block_of_##name(const float *x, double *out) { \
    estimate_block(estimate, x, out);                                 \
  }                                                                   \
  static int oracle_of_##name(mpfr_t y) { return oracle; }
#include "functions.def"
#undef VT_FUNCTION

typedef struct function {
  const char *name;
  float (*ours)(float x);
  void (*estimates)(const float *x, double *out); /* estimates the results for a block of inputs */
  int (*oracle)(mpfr_t y);
} function;
static const function functions[] = {
#define VT_FUNCTION(name, estimate, oracle) \
  {#name, vt_f32_##name, estimate_block_of_##name, oracle_of_##name},
#include "functions.def"
#undef VT_FUNCTION
};
enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

/* ---- options ---- */

typedef struct options {
  const char *func[N_FUNCTIONS], *state, *digests, *against;
  unsigned n_func, from, to, jobs, seed;
  int table, fresh, plant, plant_estimate;
} options;
static options opt;

static int is_fault_planted(void) { return opt.plant || opt.plant_estimate; }

/* ---- one slice ---- */

typedef struct slice_run {
  const function *f;
  uint32_t slice;
  mpfr_t y, wide;
  float x[BLOCK], ours[BLOCK];
  double estimate[BLOCK];
  outcome *out;
} slice_run;

/* Mixes two numbers into a pseudo-random one (the finaliser of MurmurHash3). */
static uint32_t mix_bits(uint32_t a, uint32_t b) {
  uint32_t h = a * 0x9e3779b9u ^ b;
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  return h ^ h >> 16;
}

/* Flips the planted bit if it is in this block: the seed, the function and the slice choose the
 * input and the bit. */
static void flip_planted_bit(slice_run *r, uint32_t first) {
  const uint32_t h = mix_bits(opt.seed, (uint32_t)(r->f - functions) << 8 | r->slice);
  const uint32_t at = h % PLANTED_INPUTS - first, bit = mix_bits(h, 1) % 32;
  if (at >= BLOCK) return;
  const float y = r->ours[at];
  r->ours[at] = y != y ? 0 : f32_from_bits(f32_bits(y) ^ UINT32_C(1) << bit);
}

static void compute_block(slice_run *r, uint32_t first) {
  for (uint32_t i = 0; i < BLOCK; i++)
    r->x[i] = f32_from_bits(r->slice << SLICE_BITS | (first + i));
  for (uint32_t i = 0; i < BLOCK; i++) r->ours[i] = r->f->ours(r->x[i]);
  if (opt.plant) flip_planted_bit(r, first);
}

static float mpfr_result(slice_run *r, float x) {
  mpfr_set_flt(r->y, x, MPFR_RNDN);
  return rounded_to_f32(r->y, r->f->oracle(r->y));
}

/* Compares the estimate of a sampled input with MPFR at high precision. */
static void measure_estimate(slice_run *r, float x, double estimate) {
  char where[16];
  snprintf(where, sizeof where, "%08x", f32_bits(x));
  set_mpfr_widest_exponents();
  mpfr_set_flt(r->wide, x, MPFR_RNDN);
  r->f->oracle(r->wide);
  record_estimate_error(r->out, error_of_estimate(estimate, r->wide), ESTIMATE_BOUND, where);
  set_mpfr_f32_exponents();
}

/* Decides an input by MPFR: if the estimate does not decide it, if it is in the sample, and before
 * a result is called wrong. */
static void check_with_mpfr(slice_run *r, unsigned i, int decided, float estimated) {
  const float right = mpfr_result(r, r->x[i]);
  if (!decided) r->out->by_mpfr++;
  if (decided && !same_bits(right, estimated)) {
    r->out->broken = 1;
    outcome_set_message(r->out, "the estimate decides %08x wrongly", f32_bits(r->x[i]));
  }
  if (same_bits(r->ours[i], right)) return;
  r->out->mismatches++;
  outcome_set_message(r->out, "the first at %08x: %08x, expected %08x", f32_bits(r->x[i]),
                      f32_bits(r->ours[i]), f32_bits(right));
}

static void check_block(slice_run *r, uint32_t first) {
  const uint32_t group = r->slice << (SLICE_BITS - 16) | first / SAMPLE;
  const uint32_t sampled = (mix_bits(group, 0) % SAMPLE) - first % SAMPLE;
  r->f->estimates(r->x, r->estimate);
  for (uint32_t i = 0; i < BLOCK; i++) {
    const double estimate =
        opt.plant_estimate ? r->estimate[i] * (1 + 4 * ESTIMATE_BOUND) : r->estimate[i];
    float estimated;
    const int decided = estimate_decides(estimate, ESTIMATE_BOUND, &estimated);
    if (!decided || i == sampled || !same_bits(r->ours[i], estimated))
      check_with_mpfr(r, i, decided, estimated);
    if (i == sampled) measure_estimate(r, r->x[i], estimate);
  }
}

static void add_to_digest(vt_hasher *h, const float *y) {
  uint32_t u[BLOCK];
  for (unsigned i = 0; i < BLOCK; i++) u[i] = y[i] != y[i] ? 0x7fc00000u : f32_bits(y[i]);
  vt_hash_add(h, u, sizeof u);
}

static void check_slice(const part *p, unsigned unit, outcome *out) {
  const uint32_t inputs = is_fault_planted() ? PLANTED_INPUTS : SLICE;
  slice_run r = {.f = p->what, .slice = unit, .out = out};
  char hex[65];
  vt_hasher h;
  vt_hash_init(&h);
  set_mpfr_f32_exponents();
  mpfr_init2(r.y, 24);
  mpfr_init2(r.wide, WIDE_BITS);
  for (uint32_t first = 0; first < inputs; first += BLOCK) {
    compute_block(&r, first);
    if (opt.against == NULL) check_block(&r, first);
    add_to_digest(&h, r.ours);
  }
  mpfr_clears(r.y, r.wide, (mpfr_ptr)0);
  const vt_hash256 digest = vt_hash_done(&h);
  vt_hash_hex(&digest, hex);
  memcpy(out->digest, hex, DIGEST_DIGITS);
  out->inputs = inputs;
}

/* ---- reports ---- */

static int print_table_row(const part *p, const ledger *l) {
  printf("| `%s` | %llu | %llu | %llu | %llu |\n", p->name, (unsigned long long)l->sum.inputs,
         (unsigned long long)l->sum.mismatches, (unsigned long long)l->sum.by_mpfr,
         (unsigned long long)(l->sum.milliseconds + 500) / 1000);
  return l->sum.mismatches == 0;
}

static int print_report_line(const part *p, const ledger *l) {
  printf("%s %llu inputs, %llu mismatches, %llu decided by MPFR, %llu s of processor time", p->name,
         (unsigned long long)l->sum.inputs, (unsigned long long)l->sum.mismatches,
         (unsigned long long)l->sum.by_mpfr,
         (unsigned long long)(l->sum.milliseconds + 500) / 1000);
  if (l->sum.worst > 0)
    printf(", estimates off by 2^%.1f at most in the sample", log2(l->sum.worst));
  putchar('\n');
  return l->sum.mismatches == 0;
}

/* Returns 1 if the file has this digest for a function and a slice. */
static int is_digest_published(const char *text, const char *name, unsigned slice,
                               const char *digest) {
  char line[96];
  const int n = snprintf(line, sizeof line, "%s %3u %s\n", name, slice, digest);
  for (const char *at = text; at != NULL && *at != 0; at = strchr(at, '\n')) {
    at += *at == '\n';
    if (strncmp(at, line, (size_t)n) == 0) return 1;
  }
  return 0;
}

static int print_digest_comparison(const part *p, const ledger *l, const char *text) {
  unsigned differ = 0;
  for (unsigned s = opt.from; s < opt.to; s++) {
    if (!l->has[s] || is_digest_published(text, p->name, s, l->digest[s])) continue;
    if (differ++ < 8) fprintf(stderr, "%s: slice %u is %s\n", p->name, s, l->digest[s]);
  }
  printf("%s %llu inputs, %u of %u digests differ, %llu s of processor time\n", p->name,
         (unsigned long long)l->sum.inputs, differ, l->done,
         (unsigned long long)(l->sum.milliseconds + 500) / 1000);
  return differ == 0;
}

static int report_error(const char *verb, const char *path) {
  fprintf(stderr, "exhaustive: cannot %s %s: %s\n", verb, path, strerror(errno));
  return 0;
}

static int write_digests(const crew *c, const part *parts, unsigned n, FILE *file) {
  ledger *l = malloc(sizeof *l);
  for (unsigned i = 0; l != NULL && i < n; i++) {
    crew_read_ledger(c, &parts[i], 0, SLICES, l);
    for (unsigned s = 0; s < SLICES; s++)
      fprintf(file, "%s %3u %s\n", parts[i].name, s, l->digest[s]);
  }
  const int good = l != NULL && !ferror(file);
  free(l);
  return fclose(file) == 0 && good;
}

/* Writes the digests under another name first, so that the file is complete, old or new, whenever
 * the run ends. */
static int save_digests(const crew *c, const part *parts, unsigned n) {
  char path[600];
  const int length = snprintf(path, sizeof path, "%s.new", opt.digests);
  if (length < 0 || (size_t)length >= sizeof path) {
    errno = ENAMETOOLONG;
    return report_error("write", opt.digests);
  }
  FILE *file = fopen(path, "w");
  if (file == NULL) return report_error("write", path);
  if (write_digests(c, parts, n, file) && rename(path, opt.digests) == 0) return 1;
  report_error("write", opt.digests);
  remove(path);
  return 0;
}

/* Reads a file as text that ends in 0; returns NULL and prints the reason if it cannot be read. */
static char *read_text(const char *path) {
  enum { ROOM = 1 << 20 };
  char *text = malloc(ROOM);
  FILE *file = text == NULL ? NULL : fopen(path, "r");
  const size_t n = file == NULL ? 0 : fread(text, 1, ROOM - 1, file);
  const int good = file != NULL && !ferror(file);
  if (!good) report_error("read", path);
  if (file != NULL) fclose(file);
  if (good) {
    text[n] = 0;
    return text;
  }
  free(text);
  return NULL;
}

/* ---- arguments ---- */

static int print_usage(void) {
  fputs(
      "usage: exhaustive [--func NAME]... [--slices A..B] [--jobs N] [--state DIR] [--fresh]\n"
      "                  [--table] [--digests FILE | --against FILE] [--plant SEED] "
      "[--plant-estimate]\n",
      stderr);
  return 2;
}

static int parse_flag(const char *flag) {
  if (strcmp(flag, "--table") == 0) return opt.table = 1;
  if (strcmp(flag, "--fresh") == 0) return opt.fresh = 1;
  if (strcmp(flag, "--plant-estimate") == 0) return opt.plant_estimate = 1;
  return 0;
}

static int parse_value(const char *flag, const char *value) {
  if (strcmp(flag, "--slices") == 0)
    return sscanf(value, "%u..%u", &opt.from, &opt.to) == 2 && opt.to++ < SLICES;
  if (strcmp(flag, "--jobs") == 0) return sscanf(value, "%u", &opt.jobs) == 1;
  if (strcmp(flag, "--plant") == 0) return opt.plant = sscanf(value, "%u", &opt.seed) == 1;
  if (strcmp(flag, "--state") == 0) return (opt.state = value) != NULL;
  if (strcmp(flag, "--digests") == 0) return (opt.digests = value) != NULL;
  if (strcmp(flag, "--against") == 0) return (opt.against = value) != NULL;
  if (strcmp(flag, "--func") != 0 || opt.n_func == N_FUNCTIONS) return 0;
  opt.func[opt.n_func++] = value;
  return 1;
}

static int parse_arguments(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    if (parse_flag(argv[i])) continue;
    if (i + 1 == argc || !parse_value(argv[i], argv[i + 1])) return 0;
    i++;
  }
  return opt.from < opt.to && opt.jobs >= 1 && opt.jobs <= MAX_JOBS;
}

static int is_wanted(const char *name) {
  for (unsigned i = 0; i < opt.n_func; i++)
    if (strcmp(opt.func[i], name) == 0) return 1;
  return opt.n_func == 0;
}

/* Makes parts of the chosen functions; returns 0 if a name is unknown. */
static unsigned make_chosen_parts(part parts[N_FUNCTIONS]) {
  unsigned n = 0;
  for (unsigned i = 0; i < N_FUNCTIONS; i++)
    if (is_wanted(functions[i].name))
      parts[n++] = (part){functions[i].name, SLICES, check_slice, &functions[i]};
  return n < opt.n_func ? 0 : n;
}

/* A file of digests may only be written with all functions and slices, checked against MPFR. */
static int can_write_digests(unsigned n) {
  if (n == N_FUNCTIONS && opt.to - opt.from == SLICES && opt.against == NULL && !is_fault_planted())
    return 1;
  fputs("exhaustive: --digests is for all functions and slices, checked\n", stderr);
  return 0;
}

static int print_report(const crew *c, const part *parts, unsigned n, const char *text) {
  ledger *l = malloc(sizeof *l);
  int good = l != NULL;
  for (unsigned i = 0; l != NULL && i < n; i++) {
    crew_read_ledger(c, &parts[i], opt.from, opt.to, l);
    good &= l->done == opt.to - opt.from;
    if (text != NULL) good &= print_digest_comparison(&parts[i], l, text);
    if (text == NULL)
      good &= opt.table ? print_table_row(&parts[i], l) : print_report_line(&parts[i], l);
  }
  free(l);
  return good;
}

static const char *ledger_mode(void) {
  if (is_fault_planted()) return "planted";
  return opt.against != NULL ? "computed" : "checked";
}

int main(int argc, char **argv) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  part parts[N_FUNCTIONS];
  char *text = NULL;
  opt =
      (options){.state = "exhaustive.state", .to = SLICES, .jobs = cores > 0 ? (unsigned)cores : 1};
  const unsigned n = parse_arguments(argc, argv) ? make_chosen_parts(parts) : 0;
  if (n == 0) return print_usage();
  if (opt.digests != NULL && !can_write_digests(n)) return 2;
  if (opt.against != NULL && (text = read_text(opt.against)) == NULL) return 1;
  crew *c = crew_new(opt.state, ledger_mode(), opt.fresh || is_fault_planted());
  if (c == NULL || sodium_init() < 0) return 1; /* sodium_init selects the fastest hash function */
  estimate_init_constants();
  for (unsigned i = 0; i < n; i++) crew_add_unfinished_units(c, &parts[i], opt.from, opt.to);
  int good = crew_run(c, opt.jobs);
  good &= print_report(c, parts, n, text);
  if (good && opt.digests != NULL) good = save_digests(c, parts, n);
  crew_free(c);
  free(text);
  return good ? 0 : 1;
}
