/* SPDX-License-Identifier: Apache-2.0
 * dot_long_test.c - the kernels equal the definition of the contraction D (dot.inc: chains of fma
 * over blocks of 256 products, added in groups of 8) for up to 2^31 products. Nearly all operands
 * are zeros, which the system provides without memory (anonymous pages that are only read); the
 * others are at the borders of blocks and of groups of blocks, at the end, and at random positions.
 */
#define _DEFAULT_SOURCE /* defines MAP_ANONYMOUS and MAP_NORESERVE */
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include "num_test.h"
#include "vt_dot.h"

enum { N_NONZERO = 2500, COLUMNS = 8, SPARE = 4096 };

static int64_t positions[N_NONZERO];
static int n_positions;
static const vt_dot_kernels *fastest;

static int compare_positions(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The tested lengths are 2^power + offset. At the powers below 2^30 groups of 8, 64, ... blocks
 * begin. */
static const int powers[] = {11, 14, 17, 20, 23, 26, 29, 30, 31};
static const int64_t offsets[] = {-257, -256, -1, 0, 1, 255, 256, 1023, 2048};
enum { POWERS = sizeof powers / sizeof *powers, N_OFFSETS = sizeof offsets / sizeof *offsets };

static void choose_positions(void) {
  uint64_t seed = 31;
  int n = 0;
  for (int i = 0; i < POWERS; i++)
    for (int k = 0; k < N_OFFSETS; k++) positions[n++] = (INT64_C(1) << powers[i]) + offsets[k];
  for (; n < 1500; n++) /* positions of which several are in the same block */
    positions[n] = (int64_t)(random_u64(&seed) >> 33 & 0x7ffffff8) | (n & 7);
  for (; n < N_NONZERO; n++) positions[n] = (int64_t)(random_u64(&seed) % (1 << 20));
  qsort(positions, N_NONZERO, sizeof *positions, compare_positions);
  for (int i = n_positions = 0; i < N_NONZERO; i++)
    if (n_positions == 0 || positions[i] != positions[n_positions - 1])
      positions[n_positions++] = positions[i];
}

/* Maps `bytes` bytes of zeros; returns NULL if that fails. */
static void *map_zeros(size_t bytes) {
  void *p =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

#define REAL float
#define NAME(x) x##_f32
#define FMA fmaf
#include "dot_long_test.inc"

#define REAL double
#define NAME(x) x##_f64
#define FMA fma
#include "dot_long_test.inc"

/* The largest power of two to test for each type, and the reason for not testing more. */
typedef struct limits {
  int f32, f64;
  const char *why;
} limits;

static limits limits_of_this_run(void) {
  const limits slow = {23, 23, SANITIZED ? "sanitized" : "no fma here"};
  const limits ordinary = {26, 26, "left to the full form"},
               full = {31, 30, "too many memory pages"};
  if (fastest == &vt_dot_soft || SANITIZED) return slow;
  return is_long_form() ? full : ordinary;
}

static void print_limits(limits to) {
  printf("contractions of up to 2^%d products of f32 and 2^%d of f64\n", to.f32, to.f64);
  if (to.f32 < 31) {
    printf("SKIPPED: %s: to 2^%d only\n", to.why, to.f32);
    return;
  }
  printf("at 2^31 of f32: dot and row; SKIPPED: f64 above 2^%d: %s\n", to.f64, to.why);
}

/* f64 is tested less, because it has the same code as f32. */
int main(void) {
  choose_positions();
  fastest = vt_dot_best_kernels();
  const limits to = limits_of_this_run();
  const int f32 = test_f32(to.f32), f64 = test_f64(to.f64);
  if (f32 && f64) print_limits(to);
  if (!f32) puts("SKIPPED: no address space for the operands of f32");
  if (!f64) puts("SKIPPED: no address space for the operands of f64");
  return vt_test_failed != 0 ? 1 : !f32 || !f64 ? 77 : 0;
}
