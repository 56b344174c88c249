/* SPDX-License-Identifier: Apache-2.0
 * device_check.c - checks the numerics on a device. Each function runs on all 2^32 inputs, in every
 * variant that it has, and is compared with exhaustive.digests. pow on pseudo-random pairs, and
 * everything that is not a function (texts_check.c) on pseudo-random operands, are compared with
 * the CPU.
 *
 *   functions_device [--func NAME | --texts] [--pow-slices N] [--plant] [DIGESTS]
 *
 * The device computes a slice of results while CPU threads check others. Output has one line per
 * function and variant, with its inputs, the slices whose digest differs, and the speed over an
 * ordinary range. It has one line per text, with its results and how many differ. --texts skips the
 * functions, --func all but one. --plant inverts one bit per slice, which must be found. Exit 0 if
 * all are equal, 1 if not, 2 for wrong usage, 77 without a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device_crew.h"
#include "functions_device.h"
#include "pow_pairs.h"
#include "texts_check.h"
#include "vt_hash.h"
#include "vt_num.h"

enum { SLICES = 256, DIGITS = 32 };

/* ---- the table ---- */

static const char *const names[] = {
#define VT_FUNCTION(name, ...) #name,
#include "functions.def"
#undef VT_FUNCTION
};
enum { N_FUNCTIONS = sizeof names / sizeof *names };

/* The range of arguments over which a function is timed. */
typedef struct range {
  const char *name;
  float from, to;
} range;
static const range ranges[] = {
#define VT_FF_FUNCTION(name, from, to, rare) {#name, from, to},
#include "ff_functions.def"
#undef VT_FF_FUNCTION
    {"acosh", 1.0f, 100.0f},
    {"asinh", -100.0f, 100.0f},
    {"atan", -100.0f, 100.0f},
    {NULL, -1.0f, 1.0f}};

static range timing_range_of(const char *name) {
  const range *r = ranges;
  while (r->name != NULL && strcmp(r->name, name) != 0) r++;
  return *r;
}

/* ---- the digests ---- */

static char digests[N_FUNCTIONS][SLICES][DIGITS + 1];

static int function_index(const char *name) {
  for (int f = 0; f < N_FUNCTIONS; f++)
    if (strcmp(names[f], name) == 0) return f;
  return -1;
}

static int read_digests(const char *path) {
  char name[32], hex[DIGITS + 1];
  unsigned slice, read = 0;
  FILE *file = fopen(path, "r");
  if (file == NULL) return 0;
  while (fscanf(file, "%31s %u %32s", name, &slice, hex) == 3) {
    const int f = function_index(name);
    if (f < 0 || slice >= SLICES) continue;
    memcpy(digests[f][slice], hex, sizeof hex);
    read++;
  }
  fclose(file);
  return read == (unsigned)N_FUNCTIONS * SLICES;
}

/* ---- slices of one function, or of pairs ---- */

static const char *compute_function_slice(const work *w, fd_slot *s, unsigned slice) {
  return fd_compute_slice(s, w->variant, w->item, slice);
}
static unsigned long long slice_digest_differs(const work *w, const fd_slot *s, unsigned slice) {
  char hex[65];
  const vt_hash256 h = vt_hash_bytes(s->host, (size_t)FD_SLICE * sizeof *s->host);
  vt_hash_hex(&h, hex);
  return memcmp(hex, digests[w->item][slice], DIGITS) != 0;
}

static const char *compute_pow_pairs(const work *w, fd_slot *s, unsigned slice) {
  (void)w;
  return fd_compute_pow(s, (uint64_t)slice * FD_SLICE);
}
static unsigned long long count_wrong_pow_pairs(const work *w, const fd_slot *s, unsigned slice) {
  unsigned long long bad = 0;
  (void)w;
  for (uint32_t i = 0; i < FD_SLICE; i++) {
    const uint64_t pair = pow_pair_bits((uint64_t)slice * FD_SLICE + i);
    const float x = vt_f32_from_bits((uint32_t)pair), y = vt_f32_from_bits((uint32_t)(pair >> 32));
    const float z = vt_f32_pow(x, y);
    bad += s->host[i] != (z != z ? 0x7fc00000u : vt_f32_bits(z));
  }
  return bad;
}

/* ---- reports ---- */

static const char *const variant_names[] = {"f64", "short"};

static int report_error(const char *error) {
  fprintf(stderr, "functions_device: %s\n", error);
  return 1;
}

/* Checks one variant of a function on all inputs. Returns 1 if a digest differs or the device
 * fails. speed[v] gets the elements per second of variant v. */
static int check_function(int f, int variant, int plant, double speed[FD_VARIANTS]) {
  work w = {compute_function_slice, slice_digest_differs, .item = f,
            .variant = variant,     .plant = plant,       .n_slices = SLICES};
  const range r = timing_range_of(names[f]);
  const double start = crew_seconds();
  double seconds;
  const char *error = crew_check_slices(&w);
  if (error == NULL)
    error = fd_time_function(crew_first_slot(), variant, f, r.from, r.to, &seconds);
  if (error != NULL) return report_error(error);
  speed[variant] = 0x1p32 / seconds;
  printf("%-8s %-5s %llu inputs, %llu of %d slices differ; %.1f G/s over %g..%g", names[f],
         variant_names[variant], 1ull << 32, (unsigned long long)w.bad, SLICES,
         speed[variant] / 1e9, (double)r.from, (double)r.to);
  if (variant == FD_SHORT) printf(", %.2f times f64", speed[FD_SHORT] / speed[FD_F64]);
  printf(" (%.1f s)\n", crew_seconds() - start);
  fflush(stdout);
  return w.bad != 0;
}

static int check_pow(unsigned n_slices, int plant) {
  work w = {compute_pow_pairs, count_wrong_pow_pairs, .plant = plant, .n_slices = n_slices};
  const double start = crew_seconds();
  const char *error = crew_check_slices(&w);
  if (error != NULL) return report_error(error);
  printf("%-8s %-5s %llu pairs, %llu differ (%.1f s)\n", "pow", "f64",
         (unsigned long long)n_slices * FD_SLICE, (unsigned long long)w.bad,
         crew_seconds() - start);
  return w.bad != 0;
}

/* ---- arguments ---- */

typedef struct options {
  const char *func, *digests;
  unsigned pow_slices;
  int plant, texts_only;
} options;

static int parse_options(int argc, char **argv, options *o) {
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (strcmp(argv[i], "--plant") == 0)
      o->plant = 1;
    else if (strcmp(argv[i], "--texts") == 0)
      o->texts_only = 1;
    else if (strcmp(argv[i], "--func") == 0 && value != NULL)
      o->func = argv[++i];
    else if (strcmp(argv[i], "--pow-slices") == 0 && value != NULL)
      o->pow_slices = (unsigned)strtoul(argv[++i], NULL, 10);
    else if (argv[i][0] != '-')
      o->digests = argv[i];
    else
      return 0;
  }
  return o->func == NULL || function_index(o->func) >= 0 || strcmp(o->func, "pow") == 0;
}

static int is_function_wanted(const options *o, const char *name) {
  return !o->texts_only && (o->func == NULL || strcmp(o->func, name) == 0);
}

static int check_texts_and_functions(const options *o) {
  int failed = o->func == NULL && texts_check(o->plant);
  for (int f = 0; f < N_FUNCTIONS; f++) {
    double speed[FD_VARIANTS] = {0};
    for (int variant = 0; variant < FD_VARIANTS; variant++)
      if (is_function_wanted(o, names[f]) && fd_has_variant(variant, f))
        failed |= check_function(f, variant, o->plant, speed);
  }
  if (is_function_wanted(o, "pow")) failed |= check_pow(o->pow_slices, o->plant);
  return failed;
}

int main(int argc, char **argv) {
  options o = {.digests = "src/num/exhaustive.digests", .pow_slices = 32};
  char device[256] = "";
  if (!parse_options(argc, argv, &o)) {
    fputs("usage: functions_device [--func NAME | --texts] [--pow-slices N] [--plant] [DIGESTS]\n",
          stderr);
    return 2;
  }
  const char *error = fd_device_name(device);
  if (error != NULL) {
    printf("SKIPPED: no device (%s)\n", error);
    return 77;
  }
  if (!read_digests(o.digests))
    return report_error("the digests cannot be read, or are not complete");
  error = crew_open_slots();
  if (error != NULL) return report_error(error);
  printf("%s, %u threads\n", device, crew_slot_count());
  const int failed = check_texts_and_functions(&o);
  crew_close_slots();
  puts(failed ? "DIFFERENT" : "all equal");
  return failed;
}
