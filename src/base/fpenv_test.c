/* SPDX-License-Identifier: Apache-2.0
 * fpenv_test.c - inside, the environment of the numerics; outside, the caller's own. */
#include "vt_fpenv.h"
#include "hostile_fpenv.h"
#include "vt_test.h"

/* The test must be able to see a wrong environment, or it proves nothing. */
static void test_the_probe_sees_a_hostile_environment(void) {
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
  const hostile_probe p = hostile_compute(); /* which leaves flags behind */
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

/* What we compute raises no exception flag in the caller's environment. */
static void test_flags_are_the_callers(void) {
  vt_fpenv saved;
  hostile_clear_flags();
  vt_fpenv_enter(&saved);
  (void)hostile_compute(); /* 2/3 is inexact */
  const int inside = hostile_inexact();
  vt_fpenv_leave(&saved);
  const int after = hostile_inexact();
  CHECK(inside && !after);
}

/* Every way to be elsewhere is seen; flags are no other environment. */
static void test_kept(void) {
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
  const int flagged = vt_fpenv_kept() && hostile_inexact();
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
  test_the_probe_sees_a_hostile_environment();
  test_enter_and_leave();
  test_nested();
  test_flags_are_the_callers();
  test_kept();
  TEST_DONE();
}
