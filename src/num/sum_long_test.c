/* SPDX-License-Identifier: Apache-2.0
 * sum_long_test.c - the stream equals the definition of S around 2^20, 2^30 and 2^31 elements,
 * where a third and a fourth level begin. Nearly all elements are zeros; the others are at the
 * borders of chunks and of groups of chunks, at the end, and at random positions. */
#include <string.h>
#include "num_test.h"

enum { N_NONZERO = 3000 };

/* Positions of the elements that are not zero, ascending, each position once. */
static int64_t positions[N_NONZERO];
static int n_positions;

static int compare_positions(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The tested lengths: powers of 1024 and others, and offsets from them. */
static const int64_t around[] = {INT64_C(1) << 20, INT64_C(1) << 26, INT64_C(1) << 30,
                                 (INT64_C(1) << 30) + (INT64_C(1) << 20), INT64_C(1) << 31};
static const int64_t offsets[] = {-1024, -1023, -33, -32, -1, 0, 1, 32, 1023, 1024, 1025};
enum { AROUND = sizeof around / sizeof *around, N_OFFSETS = sizeof offsets / sizeof *offsets };

static void choose_positions(int64_t limit) {
  uint64_t seed = 21;
  int n = 0;
  for (int i = 0; i < AROUND; i++)
    for (int k = 0; k < N_OFFSETS; k++) positions[n++] = around[i] + offsets[k];
  for (int k = 1; n < 1000; k++) /* positions on both sides of multiples of 2^10, 2^20 and 2^25 */
    positions[n++] = ((int64_t)(k % 97) << (k % 3 == 0 ? 10 : k % 3 == 1 ? 20 : 25)) + k % 2;
  for (; n < 2000; n++) positions[n] = (int64_t)(random_u64(&seed) % (uint64_t)limit);
  for (; n < N_NONZERO; n++)
    positions[n] = (int64_t)(random_u64(&seed) % (1 << 21)); /* more densely */
  qsort(positions, N_NONZERO, sizeof *positions, compare_positions);
  for (int i = n_positions = 0; i < N_NONZERO; i++)
    if (n_positions == 0 || positions[i] != positions[n_positions - 1])
      positions[n_positions++] = positions[i];
}

#define REAL float
#define STATE vt_sum_f32
#define NAME(x) x##_f32
#define SUM(verb) vt_sum_f32_##verb
#define BACKGROUND 0.0f
#include "sum_long_test.inc"

#define REAL double
#define STATE vt_sum_f64
#define NAME(x) x##_f64
#define SUM(verb) vt_sum_f64_##verb
/* the zeros between are -0: no lane of a sum is ever -0, so adding -0 changes nothing */
#define BACKGROUND -0.0
#include "sum_long_test.inc"

/* f64 has the same code as f32, so the short form tests it for small lengths only. */
int main(void) {
  choose_positions((INT64_C(1) << 31) + 2048);
  const int n32 = SANITIZED ? 2 : AROUND, n64 = is_long_form() ? n32 : 2;
  test_f32(n32);
  test_f64(n64);
  printf("sums of up to %lld elements of f32 and %lld of f64\n", (long long)around[n32 - 1] + 1025,
         (long long)around[n64 - 1] + 1025);
  if (n32 < AROUND) puts("SKIPPED: sanitized: to 2^26 only");
  if (n64 < n32) puts("SKIPPED: f64 above 2^26: left to the full form");
  TEST_DONE();
}
