/* SPDX-License-Identifier: Apache-2.0
 * fpenv_test.c - between enter and leave the environment is that of the numerics; afterwards it is
 * the caller's again. */
#include "vt_fpenv.h"
#include "hostile_fpenv.h"
#include "vt_test.h"

/* The probe must detect a wrong environment, or the other tests prove nothing. */
static void test_probe_detects_hostile_environment(void) {
  const hostile_words before = hostile_read();
  CHECK(hostile_right(hostile_compute()));
  hostile_write(hostile_worst());
  const hostile_probe p = hostile_compute();
  hostile_write(before);
  CHECK(!hostile_right(p) && p.two_thirds == 0x3f2aaaaau);
}

static void test_enter_and_leave(void) {
  const hostile_words before = hostile_read();
  vt_fpenv saved;
  hostile_write(hostile_worst());
  const int outside = vt_fpenv_kept();
  vt_fpenv_enter(&saved);
  const hostile_words inside = hostile_read();
  const hostile_probe p = hostile_compute(); /* the computation raises exception flags */
  const int holds = vt_fpenv_kept();
  vt_fpenv_leave(&saved);
  const hostile_words after = hostile_read();
  hostile_write(before);
  CHECK(hostile_same(inside, hostile_numerics()));
  CHECK(hostile_right(p));
  CHECK(hostile_same(after, hostile_worst()));
  CHECK(holds && !outside);
}

static void test_nested(void) {
  const hostile_words before = hostile_read();
  vt_fpenv outer, inner;
  hostile_write(hostile_worst());
  vt_fpenv_enter(&outer);
  vt_fpenv_enter(&inner);
  vt_fpenv_leave(&inner);
  const hostile_words still_inside = hostile_read();
  vt_fpenv_leave(&outer);
  const hostile_words after = hostile_read();
  hostile_write(before);
  CHECK(hostile_same(still_inside, hostile_numerics()));
  CHECK(hostile_same(after, hostile_worst()));
}

/* Exception flags that are raised inside do not reach the caller's environment. */
static void test_flags_stay_inside(void) {
  vt_fpenv saved;
  hostile_clear_flags();
  vt_fpenv_enter(&saved);
  (void)hostile_compute(); /* 2/3 is inexact */
  const int inside = hostile_is_inexact();
  vt_fpenv_leave(&saved);
  const int after = hostile_is_inexact();
  CHECK(inside && !after);
}

/* Every single deviation from the environment is detected; exception flags are not a deviation. */
static void test_deviations_are_detected(void) {
  static const hostile_words others[] = {
#if defined(__x86_64__)
    {0x3f80, 0x037f},
    {0x5f80, 0x037f},
    {0x7f80, 0x037f},
    {0x9f80, 0x037f},
    {0x1fc0, 0x037f},
    {0x1f00, 0x037f},
    {0x1f80, 0x007f},
    {0x1f80, 0x0b7f},
    {0x1f80, 0x037e},
#endif
    {0xffffffff, 0}
  };
  const hostile_words before = hostile_read();
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  hostile_clear_flags();
  const int fresh = vt_fpenv_kept();
  (void)hostile_compute();
  const int flagged = vt_fpenv_kept() && hostile_is_inexact();
  vt_fpenv_leave(&saved);
  CHECK(fresh && flagged);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    hostile_write(others[i].control == 0xffffffff ? hostile_worst() : others[i]);
    const int kept = vt_fpenv_kept();
    hostile_write(before);
    CHECK(!kept);
  }
}

int main(void) {
  test_probe_detects_hostile_environment();
  test_enter_and_leave();
  test_nested();
  test_flags_stay_inside();
  test_deviations_are_detected();
  TEST_DONE();
}
