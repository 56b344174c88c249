/* SPDX-License-Identifier: Apache-2.0
 * results_test.c - outputs that are read in the device's own memory equal copied outputs: their
 * NaNs are canonical, no output changes with another even if they share bytes, and each run renews
 * them. */
#include <string.h>
#include "vt_test.h"
#include "volta/volta_tools.h"

/* A model with an empty output, which has the same address as another output. */
static const char few[] =
    "volta 1\n"
    "model few {\n"
    "  input x: f32[70]\n"
    "  output y = x / x\n"
    "  output none = slice(x, start=[3], stop=[3])\n"
    "}\n";

static const char text[] =
    "volta 1\n"
    "model results {\n"
    "  input x: f32[70]\n"
    "  param p: f32[3] = ones\n"
    "  y = x / x\n"
    "  output y\n"
    "  output again = y\n"
    "  output grid = reshape(y, shape=[7, 10])\n"
    "  output same = x\n"
    "  output w = p\n"
    "  output root = sqrt(x)\n"
    "  g = reshape(x, shape=[7, 10])\n"
    "  output rows = softmax(g / g)\n"
    "  output norm = layer_norm(log(g))\n"
    "  output most = logsumexp(log(g), axes=[0])\n"
    "  output product = matmul(g / (g - g), transpose(g, perm=[1, 0]))\n"
    "  output tail = relu(matmul(g, sqrt(transpose(g, perm=[1, 0])))) * 2.0\n"
    "  output wide = cast(y, dtype=f64) * cast(x, dtype=f64)\n"
    "  output half = cast(y, dtype=f16)\n"
    "  output total = sum(y, axes=[0])\n"
    "  output positive = y > x\n"
    "  output none = slice(x, start=[3], stop=[3])\n"
    "}\n";
enum { N = 70 };

static vt_program *open_program_on(const char *model, const char *backend) {
  const vt_options o = {.size = sizeof o, .backend = backend};
  vt_model *m = NULL;
  vt_program *p = NULL;
  CHECK(vt_model_parse(model, strlen(model), NULL, &m, NULL) == VT_OK);
  if (m != NULL) CHECK(vt_program_new(m, &o, &p, NULL) == VT_OK);
  vt_model_free(m);
  if (p != NULL) CHECK(vt_program_init_params(p, 0, NULL) == VT_OK);
  return p;
}

/* Runs with an input of zeros and negative numbers, for which ops give NaNs whose sign depends on
 * the processor. */
static void run_with_inputs_giving_nans(vt_program *p, float offset) {
  float x[N];
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {N}, .data = x};
  for (int i = 0; i < N; i++) x[i] = i % 3 == 0 ? 0 : offset - (float)i;
  CHECK(vt_program_set_input(p, "x", &t, NULL) == VT_OK);
  CHECK(vt_program_run(p, NULL) == VT_OK);
}

/* Compares the bytes of all outputs, because vt_tensor_compare treats all NaNs as equal. */
static void check_same_output_bytes(vt_program *p, vt_program *q) {
  const char *a, *b;
  vt_tensor x, y;
  CHECK(vt_program_outputs(p) == vt_program_outputs(q));
  for (uint32_t i = 0; i < vt_program_outputs(p); i++) {
    uint64_t count, bytes;
    CHECK(vt_program_output(p, i, &a, &x, NULL) == VT_OK);
    CHECK(vt_program_output(q, i, &b, &y, NULL) == VT_OK);
    CHECK(vt_tensor_bytes(&x, &count, &bytes, NULL) == VT_OK && strcmp(a, b) == 0);
    CHECK(bytes == 0 || memcmp(x.data, y.data, (size_t)bytes) == 0);
  }
}

/* Overwrites the data of output i. The caller checks that no other output changes and that the next
 * run renews this one. */
static void overwrite_output(vt_program *p, uint32_t i) {
  const char *name;
  vt_tensor t;
  uint64_t count, bytes;
  CHECK(vt_program_output(p, i, &name, &t, NULL) == VT_OK);
  CHECK(vt_tensor_bytes(&t, &count, &bytes, NULL) == VT_OK);
  if (bytes > 0) memset(t.data, 0x5a, (size_t)bytes);
}

static void test_outputs_match_reference(const char *model, const char *backend) {
  vt_program *reference = open_program_on(model, "reference"), *p = open_program_on(model, backend);
  for (int run = 0; p != NULL && reference != NULL && run < 3; run++) {
    run_with_inputs_giving_nans(reference, (float)(run + 20));
    run_with_inputs_giving_nans(p, (float)(run + 20));
    check_same_output_bytes(reference, p);
    for (uint32_t i = 0; i < vt_program_outputs(p); i++) {
      overwrite_output(reference, i);
      overwrite_output(p, i);
      check_same_output_bytes(reference, p);
    }
    vt_run_info info = {.size = sizeof info};
    vt_program_info(p, &info);
    CHECK(info.allocations == 0);
  }
  vt_program_free(reference);
  vt_program_free(p);
}

int main(void) {
  test_outputs_match_reference(few, "cpu");
  test_outputs_match_reference(text, "island:0"); /* all outputs on this device are copies */
  test_outputs_match_reference(text, "cpu");
  TEST_DONE();
}
