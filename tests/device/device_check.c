/* SPDX-License-Identifier: Apache-2.0
 * device_check.c - the numerics on a device: the functions on all 2^32 inputs of each by every way
 * it has, against exhaustive.digests; pow on pseudo-random pairs, and everything that is no
 * function (texts_check.c) on pseudo-random operands, against this processor.
 *
 *   functions_device [--func NAME | --texts] [--pow-slices N] [--plant] [DIGESTS]
 *
 * The device computes a slice of results, threads here judge it. One line a function and way:
 * inputs, slices whose digest differs, and the speed over an ordinary range; one line a text:
 * results, and how many differ. --texts leaves the functions out, --func all but one. --plant turns
 * one bit a slice, which must be found. Exit 0 all equal, 1 not, 2 usage, 77 no device. */
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

/* The range over which a function is timed. */
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

static range range_of(const char *name) {
  const range *r = ranges;
  while (r->name != NULL && strcmp(r->name, name) != 0) r++;
  return *r;
}

/* ---- the digests ---- */

static char digests[N_FUNCTIONS][SLICES][DIGITS + 1];

static int place_of(const char *name) {
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
    const int f = place_of(name);
    if (f < 0 || slice >= SLICES) continue;
    memcpy(digests[f][slice], hex, sizeof hex);
    read++;
  }
  fclose(file);
  return read == (unsigned)N_FUNCTIONS * SLICES;
}

/* ---- slices of one function, or of pairs ---- */

static const char *compute_slice(const work *w, fd_slot *s, unsigned slice) {
  return fd_slice(s, w->way, w->item, slice);
}
static unsigned long long judge_slice(const work *w, const fd_slot *s, unsigned slice) {
  char hex[65];
  const vt_hash256 h = vt_hash_bytes(s->host, (size_t)FD_SLICE * sizeof *s->host);
  vt_hash_hex(&h, hex);
  return memcmp(hex, digests[w->item][slice], DIGITS) != 0;
}

static const char *compute_pairs(const work *w, fd_slot *s, unsigned slice) {
  (void)w;
  return fd_pow(s, (uint64_t)slice * FD_SLICE);
}
static unsigned long long judge_pairs(const work *w, const fd_slot *s, unsigned slice) {
  unsigned long long bad = 0;
  (void)w;
  for (uint32_t i = 0; i < FD_SLICE; i++) {
    const uint64_t pair = pair_of((uint64_t)slice * FD_SLICE + i);
    const float x = vt_f32_from_bits((uint32_t)pair), y = vt_f32_from_bits((uint32_t)(pair >> 32));
    const float z = vt_f32_pow(x, y);
    bad += s->host[i] != (z != z ? 0x7fc00000u : vt_f32_bits(z));
  }
  return bad;
}

/* ---- reports ---- */

static const char *const way_names[] = {"f64", "short"};

static int give_up(const char *error) {
  fprintf(stderr, "functions_device: %s\n", error);
  return 1;
}

/* 1 when something differs or fails. `speed`: elements a second of each way. */
static int check_function(int f, int way, int plant, double speed[FD_WAYS]) {
  work w = {compute_slice, judge_slice, .item = f, .way = way, .plant = plant, .n_slices = SLICES};
  const range r = range_of(names[f]);
  const double start = crew_now();
  double seconds;
  const char *error = crew_run(&w);
  if (error == NULL) error = fd_time(crew_slot(), way, f, r.from, r.to, &seconds);
  if (error != NULL) return give_up(error);
  speed[way] = 0x1p32 / seconds;
  printf("%-8s %-5s %llu inputs, %llu of %d slices differ; %.1f G/s over %g..%g", names[f],
         way_names[way], 1ull << 32, (unsigned long long)w.bad, SLICES, speed[way] / 1e9,
         (double)r.from, (double)r.to);
  if (way == FD_SHORT) printf(", %.2f times f64", speed[FD_SHORT] / speed[FD_F64]);
  printf(" (%.1f s)\n", crew_now() - start);
  fflush(stdout);
  return w.bad != 0;
}

static int check_pow(unsigned n_slices, int plant) {
  work w = {compute_pairs, judge_pairs, .plant = plant, .n_slices = n_slices};
  const double start = crew_now();
  const char *error = crew_run(&w);
  if (error != NULL) return give_up(error);
  printf("%-8s %-5s %llu pairs, %llu differ (%.1f s)\n", "pow", "f64",
         (unsigned long long)n_slices * FD_SLICE, (unsigned long long)w.bad, crew_now() - start);
  return w.bad != 0;
}

/* ---- arguments ---- */

typedef struct options {
  const char *func, *digests;
  unsigned pow_slices;
  int plant, texts_only;
} options;

static int parse(int argc, char **argv, options *o) {
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
  return o->func == NULL || place_of(o->func) >= 0 || strcmp(o->func, "pow") == 0;
}

static int wanted(const options *o, const char *name) {
  return !o->texts_only && (o->func == NULL || strcmp(o->func, name) == 0);
}

static int check_all(const options *o) {
  int failed = o->func == NULL && texts_check(o->plant);
  for (int f = 0; f < N_FUNCTIONS; f++) {
    double speed[FD_WAYS] = {0};
    for (int way = 0; way < FD_WAYS; way++)
      if (wanted(o, names[f]) && fd_has(way, f)) failed |= check_function(f, way, o->plant, speed);
  }
  if (wanted(o, "pow")) failed |= check_pow(o->pow_slices, o->plant);
  return failed;
}

int main(int argc, char **argv) {
  options o = {.digests = "src/num/exhaustive.digests", .pow_slices = 32};
  char device[256] = "";
  if (!parse(argc, argv, &o)) {
    fputs("usage: functions_device [--func NAME | --texts] [--pow-slices N] [--plant] [DIGESTS]\n",
          stderr);
    return 2;
  }
  const char *error = fd_device(device);
  if (error != NULL) {
    printf("SKIPPED: no device (%s)\n", error);
    return 77;
  }
  if (!read_digests(o.digests)) return give_up("the digests cannot be read, or are not complete");
  error = crew_open();
  if (error != NULL) return give_up(error);
  printf("%s, %u threads\n", device, crew_size());
  const int failed = check_all(&o);
  crew_close();
  puts(failed ? "DIFFERENT" : "all equal");
  return failed;
}
