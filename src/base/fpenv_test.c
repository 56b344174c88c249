/* SPDX-License-Identifier: Apache-2.0
 * fpenv_test.c - between enter and leave the environment is that of the numerics; afterwards it is
 * the caller's again. */
#include "vt_fpenv.h"
#include "hostile_fpenv.h"
#include "vt_test.h"

/* The probe must detect a wrong environment, or the other tests prove nothing. */
static void test_probe_detects_hostile_environment(void) {
  const hostile_words before = hostile_read_words();
  CHECK(hostile_probe_is_right(hostile_run_probe()));
  hostile_write_words(hostile_worst_words());
  const hostile_probe p = hostile_run_probe();
  hostile_write_words(before);
  CHECK(!hostile_probe_is_right(p) && p.two_thirds == 0x3f2aaaaau);
}

static void test_enter_and_leave(void) {
  const hostile_words before = hostile_read_words();
  vt_fpenv saved;
  hostile_write_words(hostile_worst_words());
  const int outside = vt_fpenv_is_active();
  vt_fpenv_enter(&saved);
  const hostile_words inside = hostile_read_words();
  const hostile_probe p = hostile_run_probe(); /* the computation raises exception flags */
  const int holds = vt_fpenv_is_active();
  vt_fpenv_leave(&saved);
  const hostile_words after = hostile_read_words();
  hostile_write_words(before);
  CHECK(hostile_words_equal(inside, hostile_numerics_words()));
  CHECK(hostile_probe_is_right(p));
  CHECK(hostile_words_equal(after, hostile_worst_words()));
  CHECK(holds && !outside);
}

static void test_nested_enter_and_leave(void) {
  const hostile_words before = hostile_read_words();
  vt_fpenv outer, inner;
  hostile_write_words(hostile_worst_words());
  vt_fpenv_enter(&outer);
  vt_fpenv_enter(&inner);
  vt_fpenv_leave(&inner);
  const hostile_words still_inside = hostile_read_words();
  vt_fpenv_leave(&outer);
  const hostile_words after = hostile_read_words();
  hostile_write_words(before);
  CHECK(hostile_words_equal(still_inside, hostile_numerics_words()));
  CHECK(hostile_words_equal(after, hostile_worst_words()));
}

/* Exception flags that are raised inside do not reach the caller's environment. */
static void test_flags_stay_inside(void) {
  vt_fpenv saved;
  hostile_clear_flags();
  vt_fpenv_enter(&saved);
  (void)hostile_run_probe(); /* 2/3 is inexact */
  const int inside = hostile_inexact_is_raised();
  vt_fpenv_leave(&saved);
  const int after = hostile_inexact_is_raised();
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
  const hostile_words before = hostile_read_words();
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  hostile_clear_flags();
  const int fresh = vt_fpenv_is_active();
  (void)hostile_run_probe();
  const int flagged = vt_fpenv_is_active() && hostile_inexact_is_raised();
  vt_fpenv_leave(&saved);
  CHECK(fresh && flagged);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    hostile_write_words(others[i].control == 0xffffffff ? hostile_worst_words() : others[i]);
    const int kept = vt_fpenv_is_active();
    hostile_write_words(before);
    CHECK(!kept);
  }
}

int main(void) {
  test_probe_detects_hostile_environment();
  test_enter_and_leave();
  test_nested_enter_and_leave();
  test_flags_stay_inside();
  test_deviations_are_detected();
  TEST_DONE();
}
