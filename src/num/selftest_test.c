/* SPDX-License-Identifier: Apache-2.0
 * selftest_test.c - the self-test passes here, and fails in a wrong floating-point environment.
 * Another test (scripts/check_fast_math.sh) builds it with wrong compiler flags. */
#include <fenv.h>
#include <string.h>
#include "num_test.h"
#if defined(__SSE2__)
#include <immintrin.h>
#endif

static int text_mentions(const char *text, const char *word) {
  return text != NULL && strstr(text, word) != NULL;
}

static void test_rounding_modes(void) {
  static const int mode[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  for (int i = 0; i < 3; i++) {
    CHECK(fesetround(mode[i]) == 0);
    const char *text = vt_num_self_test();
    fesetround(FE_TONEAREST);
    CHECK(text_mentions(text, "nearest"));
  }
}

static void test_subnormals(void) {
#if defined(__SSE2__)
  enum { DAZ = 0x0040, FTZ = 0x8000 };
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | FTZ);
  const char *flush = vt_num_self_test();
  _mm_setcsr(saved | DAZ);
  const char *ignore = vt_num_self_test();
  _mm_setcsr(saved);
  CHECK(text_mentions(flush, "flushes"));
  CHECK(text_mentions(ignore, "operands"));
#endif
}

int main(void) {
  const char *text = vt_num_self_test();
  if (text != NULL) fprintf(stderr, "self-test: this binary %s\n", text);
  CHECK(text == NULL);
  test_rounding_modes();
  test_subnormals();
  CHECK(vt_num_self_test() == NULL);
  TEST_DONE();
}
