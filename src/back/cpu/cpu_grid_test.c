/* SPDX-License-Identifier: Apache-2.0
 * cpu_grid_test.c - counting places on a grid with gaps, split into strips of any length: together
 * the strips contain every place once, in order, and no gap. */
#include "cpu_direct_conv.h"
#include "vt_test.h"

/* ---- places ---- */

static int64_t number_of_place(const vt_cpu_axis *a, const int64_t *place) {
  return (place[0] * a[1].places + place[1]) * a[2].places + place[2];
}

/* Counts the places of one strip and checks that the first one is number *next. */
static void check_strip(const vt_cpu_axis *a, const int64_t *length, int64_t from, int64_t end,
                        int64_t *next) {
  int64_t at = from;
  while (at < end) {
    const vt_cpu_places r = vt_cpu_next_places(a, length, at, end);
    CHECK(r.n >= 0 && r.skipped >= 0);
    if (r.n <= 0) return;
    CHECK(number_of_place(a, r.place) == *next);
    *next += r.n;
    at += r.skipped + r.n;
  }
  CHECK(at == end);
}

static void check_strips(int64_t rows, int64_t columns, int64_t gap, int64_t strip) {
  const vt_cpu_axis a[VT_CPU_AXES] = {{.places = 1}, {.places = rows}, {.places = columns}};
  const int64_t length[VT_CPU_AXES] = {1, rows, columns + gap};
  const int64_t span = (rows - 1) * length[2] + columns;
  int64_t next = 0;
  for (int64_t from = 0; from < span; from += strip)
    check_strip(a, length, from, from + strip < span ? from + strip : span, &next);
  CHECK(next == rows * columns);
}

static void test_strips_contain_every_place(void) {
  for (int64_t columns = 1; columns <= 9; columns++)
    for (int64_t gap = 0; gap <= 4; gap++)
      for (int64_t strip = 1; strip <= 30; strip++) check_strips(5, columns, gap, strip);
}

int main(void) {
  test_strips_contain_every_place();
  TEST_DONE();
}
