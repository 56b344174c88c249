/* SPDX-License-Identifier: Apache-2.0
 * bench_num.c - measures what a call of each function costs, next to the functions of the C library
 * and of SLEEF.
 *
 *   bench_num [FUNCTION]...
 *
 * Prints a Markdown table. Each row of bench_num.def is measured in rounds; in a round every
 * implementation processes the same inputs once, call by call through a pointer, so that other load
 * on the machine affects all of them alike. The C library itself picks variants with fused
 * multiply-add; SLEEF does not, so both of its variants are measured, and the faster one is shown.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "vt_num.h"
#include "bench_sleef.h"
#include "bench_ticks.h"

enum { OURS, LIBRARY, SLEEF_PLAIN, SLEEF_FMA, IMPLEMENTATIONS };
enum { INPUTS = 1 << 13, ROUNDS = 301 };

/* ---- the tables ---- */

static float library_sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
static float library_rsqrt(float x) { return 1.0f / sqrtf(x); }

typedef struct function {
  const char *name;
  float (*one[IMPLEMENTATIONS])(float x);
  float (*two[IMPLEMENTATIONS])(float x, float y);
} function;

#define BENCH_ROW(name, how, x_from, x_to, y_from, y_to)
static function functions[] = {
#define BENCH_ONE(name, library, sleef) {#name, {vt_f32_##name, library, sleef, 0}, {0, 0, 0, 0}},
#define BENCH_TWO(name, library, sleef) {#name, {0, 0, 0, 0}, {vt_f32_##name, library, sleef, 0}},
#include "bench_num.def"
#undef BENCH_ONE
#undef BENCH_TWO
};
enum { /* AT_name is the index of a function in `functions` */
#define BENCH_ONE(name, library, sleef) AT_##name,
#define BENCH_TWO(name, library, sleef) AT_##name,
#include "bench_num.def"
#undef BENCH_ONE
#undef BENCH_TWO
};
#undef BENCH_ROW

typedef enum spread { EVEN, BITS } spread;
typedef struct row {
  const function *f;
  spread how;
  float x_from, x_to, y_from, y_to;
} row;

#define BENCH_ONE(name, library, sleef)
#define BENCH_TWO(name, library, sleef)
static const row rows[] = {
#define BENCH_ROW(name, how, x_from, x_to, y_from, y_to) \
  {&functions[AT_##name], how, (float)(x_from), (float)(x_to), (float)(y_from), (float)(y_to)},
#include "bench_num.def"
#undef BENCH_ROW
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* ---- inputs ---- */

static uint64_t random_state = 1;

static uint32_t random_word(void) { /* the generator splitmix64 */
  uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (uint32_t)(z >> 32);
}

static float random_between(spread how, float from, float to) {
  const double u = (double)random_word() * 0x1p-32;
  if (how == EVEN) return (float)((double)from + u * ((double)to - (double)from));
  const uint32_t low = vt_f32_bits(from), high = vt_f32_bits(to);
  return vt_f32_from_bits(low + (uint32_t)(u * (double)(high - low)));
}

static float x[INPUTS], y[INPUTS], result[IMPLEMENTATIONS][INPUTS];

static void draw_inputs(const row *r) {
  for (int i = 0; i < INPUTS; i++) {
    x[i] = random_between(r->how, r->x_from, r->x_to);
    y[i] = random_between(EVEN, r->y_from, r->y_to);
  }
}

/* ---- measuring ---- */

static int is_implemented(const function *f, int implementation) {
  return f->one[implementation] != NULL || f->two[implementation] != NULL;
}

static void call_on_all_inputs(const function *f, int implementation) {
  float (*const one)(float) = f->one[implementation];
  float (*const two)(float, float) = f->two[implementation];
  float *out = result[implementation];
  if (one != NULL)
    for (int i = 0; i < INPUTS; i++) out[i] = one(x[i]);
  else
    for (int i = 0; i < INPUTS; i++) out[i] = two(x[i], y[i]);
}

/* Returns the percentage of an implementation's results that are not correctly rounded. */
static double percent_misrounded(int implementation) {
  int off = 0;
  for (int i = 0; i < INPUTS; i++)
    off += vt_f32_bits(result[implementation][i]) != vt_f32_bits(result[OURS][i]);
  return 100.0 * off / INPUTS;
}

static int compare_ticks(const void *a, const void *b) {
  const uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
  return (p > q) - (p < q);
}

typedef struct cost {
  /* least and median cost of all rounds, in ticks per input; 0 if the function is missing */
  double least, median;
  double off; /* percentage of results that are not correctly rounded */
} cost;

static void measure_row(const row *r, cost out[IMPLEMENTATIONS]) {
  static uint64_t spent[IMPLEMENTATIONS][ROUNDS];
  const function *f = r->f;
  draw_inputs(r);
  for (int round = -2; round < ROUNDS; round++) /* two rounds warm up and are not counted */
    for (int implementation = 0; implementation < IMPLEMENTATIONS; implementation++) {
      if (!is_implemented(f, implementation)) continue;
      const uint64_t start = ticks();
      call_on_all_inputs(f, implementation);
      if (round >= 0) spent[implementation][round] = ticks() - start;
    }
  memset(out, 0, IMPLEMENTATIONS * sizeof *out);
  for (int implementation = 0; implementation < IMPLEMENTATIONS; implementation++) {
    if (!is_implemented(f, implementation)) continue;
    qsort(spent[implementation], ROUNDS, sizeof spent[implementation][0], compare_ticks);
    out[implementation].least = (double)spent[implementation][0] / INPUTS;
    out[implementation].median = (double)spent[implementation][ROUNDS / 2] / INPUTS;
    out[implementation].off = percent_misrounded(implementation);
  }
}

/* ---- the table ---- */

/* Returns the value of a key in /proc/cpuinfo, for the first processor. */
static const char *read_cpu_info(const char *key) {
  static char line[4096];
  const char *value = "unknown";
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, key, strlen(key)) != 0 || strchr(line, ':') == NULL) continue;
    line[strcspn(line, "\n")] = 0;
    value = strchr(line, ':') + 2;
    break;
  }
  if (file != NULL) fclose(file);
  return value;
}

/* Finds SLEEF's functions with fused multiply-add, which are in the library but not in every
 * header. */
static void look_up_sleef_fma_functions(void) {
  char name[64];
  void *self = dlopen(NULL, RTLD_NOW);
  if (self == NULL || strstr(read_cpu_info("flags"), " fma ") == NULL) return;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    function *f = &functions[i];
    snprintf(name, sizeof name, "Sleef_finz_%sf1_u10purecfma", f->name);
    if (f->one[SLEEF_PLAIN] != NULL) *(void **)&f->one[SLEEF_FMA] = dlsym(self, name);
    if (f->two[SLEEF_PLAIN] != NULL) *(void **)&f->two[SLEEF_FMA] = dlsym(self, name);
  }
}

static void print_machine(void) {
  char version[64] = "unknown";
  confstr(_CS_GNU_LIBC_VERSION, version, sizeof version);
  printf("CPU: %s. Compiler: %s. C library: %s.\n\n", read_cpu_info("model name"),
         VOLTA_BENCH_COMPILER, version);
}

static void print_name_and_ranges(const row *r) {
  printf("| %s | %s[%g, %g]", r->f->name, r->how == BITS ? "bits of " : "", (double)r->x_from,
         (double)r->x_to);
  if (r->y_from < r->y_to) printf(", y [%g, %g]", (double)r->y_from, (double)r->y_to);
}

static void print_cost(const cost *c, const char *mark) {
  if (c->least > 0)
    printf(" | %.1f / %.1f%s", c->least, c->median, mark);
  else
    printf(" | ");
}

static void print_row_of_costs(const row *r, const cost c[IMPLEMENTATIONS]) {
  const cost *plain = &c[SLEEF_PLAIN], *fma = &c[SLEEF_FMA];
  const int is_fma = fma->least > 0 && fma->least < plain->least;
  const cost *sleef = is_fma ? fma : plain;
  print_name_and_ranges(r);
  print_cost(&c[OURS], "");
  print_cost(&c[LIBRARY], "");
  print_cost(sleef, is_fma ? " fma" : "");
  printf(" | %.2f / %.2f | %.1f |", c[OURS].least / c[LIBRARY].least,
         c[OURS].median / c[LIBRARY].median, c[LIBRARY].off);
  if (sleef->least > 0) printf(" %.1f", sleef->off);
  puts(" |");
  fflush(stdout);
}

static int is_wanted(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(name, argv[i]) == 0) return 1;
  return argc < 2;
}

int main(int argc, char **argv) {
  print_machine();
  look_up_sleef_fma_functions();
  printf(
      "Least / median of %d rounds, in %s per element; the ratio is Volta's to the C library's; the"
      "\nlast columns say how many of the results are not correctly rounded. SLEEF's faster "
      "variant is"
      "\nshown; fma marks the one with fused multiply-add.\n\n",
      ROUNDS, BENCH_TICK);
  puts("| function | inputs | Volta | C library | SLEEF | ratio | C library off % | SLEEF off % |");
  puts("|---|---|---|---|---|---|---|---|");
  for (int i = 0; i < N_ROWS; i++) {
    cost c[IMPLEMENTATIONS];
    if (!is_wanted(rows[i].f->name, argc, argv)) continue;
    measure_row(&rows[i], c);
    print_row_of_costs(&rows[i], c);
  }
  return 0;
}
