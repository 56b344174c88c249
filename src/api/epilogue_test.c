/* SPDX-License-Identifier: Apache-2.0
 * epilogue_test.c - a convolution and its epilogue run as one group on the CPU. The number of
 * threads decides how the result is split into the parts that the epilogue gets; no bit depends on
 * it. */
#include <string.h>
#include "volta/volta.h"
#include "vt_test.h"

static const char model[] =
    "volta 1\n"
    "model with_epilogue {\n"
    "  input x: f32[1, 3, 64, 64]\n"
    "  param w: f32[9, 3, 7, 7] = normal(std=0.1)\n"
    "  output y = abs(conv(x, w, stride=[2, 2], low=[3, 3], high=[3, 3])) + 1.0\n"
    "}\n";

static void digest_of_run(const vt_model *m, const char *backend, uint32_t threads,
                          uint8_t out[32]) {
  const vt_options o = {.size = sizeof o, .backend = backend, .threads = threads};
  vt_program *p = NULL;
  CHECK(vt_program_new(m, &o, &p, NULL) == VT_OK);
  if (p == NULL) return;
  CHECK(vt_program_init_params(p, 0, NULL) == VT_OK);
  CHECK(vt_program_random_inputs(p, 7, NULL) == VT_OK);
  CHECK(vt_program_run(p, NULL) == VT_OK && vt_program_digest(p, out, NULL) == VT_OK);
  vt_program_free(p);
}

static void test_thread_counts_agree(void) {
  vt_model *m = NULL;
  uint8_t expected[32] = {0}, digest[32];
  CHECK(vt_model_parse(model, sizeof model - 1, NULL, &m, NULL) == VT_OK);
  if (m == NULL) return;
  digest_of_run(m, "reference", 1, expected);
  for (uint32_t threads = 1; threads <= 24; threads++) {
    memset(digest, 0, sizeof digest);
    digest_of_run(m, "cpu", threads, digest);
    CHECK(memcmp(digest, expected, sizeof expected) == 0);
  }
  vt_model_free(m);
}

int main(void) {
  test_thread_counts_agree();
  TEST_DONE();
}
