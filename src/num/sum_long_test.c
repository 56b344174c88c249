/* SPDX-License-Identifier: Apache-2.0
 * sum_long_test.c - the stream equals the definition of S around 2^20, 2^30 and 2^31 elements,
 * where a third and a fourth level begin. Nearly all elements are zeros; the others stand at the
 * borders of chunks and of groups of chunks, at the end, and at random places. */
#include <string.h>
#include "num_test.h"

enum { PLANTS = 3000 };

/* Where something stands that is not zero, ascending and each place once. */
static int64_t places[PLANTS];
static int n_places;

static int ascending(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The ends of the lengths that are asked for: powers of 1024, of 2^31, and what lies beside them.
 */
static const int64_t around[] = {INT64_C(1) << 20, INT64_C(1) << 26, INT64_C(1) << 30,
                                 (INT64_C(1) << 30) + (INT64_C(1) << 20), INT64_C(1) << 31};
static const int64_t beside[] = {-1024, -1023, -33, -32, -1, 0, 1, 32, 1023, 1024, 1025};
enum { AROUND = sizeof around / sizeof *around, BESIDE = sizeof beside / sizeof *beside };

static void choose_places(int64_t limit) {
  uint64_t seed = 21;
  int n = 0;
  for (int i = 0; i < AROUND; i++)
    for (int k = 0; k < BESIDE; k++) places[n++] = around[i] + beside[k];
  for (int k = 1; n < 1000; k++) /* both sides of borders of 2^10, 2^20 and 2^25 elements */
    places[n++] = ((int64_t)(k % 97) << (k % 3 == 0 ? 10 : k % 3 == 1 ? 20 : 25)) + k % 2;
  for (; n < 2000; n++) places[n] = (int64_t)(random_u64(&seed) % (uint64_t)limit);
  for (; n < PLANTS; n++) places[n] = (int64_t)(random_u64(&seed) % (1 << 21)); /* denser */
  qsort(places, PLANTS, sizeof *places, ascending);
  for (int i = n_places = 0; i < PLANTS; i++)
    if (n_places == 0 || places[i] != places[n_places - 1]) places[n_places++] = places[i];
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
#define BACKGROUND -0.0 /* no lane is ever -0, so this changes nothing */
#include "sum_long_test.inc"

/* The long form goes as far with f64, which has the same code, as with f32. */
int main(void) {
  choose_places((INT64_C(1) << 31) + 2048);
  const int n32 = SANITIZED ? 2 : AROUND, n64 = is_long_form() ? n32 : 2;
  test_f32(n32);
  test_f64(n64);
  printf("sums of up to %lld elements of f32 and %lld of f64\n", (long long)around[n32 - 1] + 1025,
         (long long)around[n64 - 1] + 1025);
  if (n32 < AROUND) puts("SKIPPED: sanitized: to 2^26 only");
  if (n64 < n32) puts("SKIPPED: f64 above 2^26: left to the full form");
  TEST_DONE();
}
