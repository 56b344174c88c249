/* SPDX-License-Identifier: Apache-2.0
 * emit_test.c - chains are read correctly although their steps reuse places, and the text of one
 * chain is compared word for word. */
#include <string.h>
#include "vt_emit.h"
#include "vt_test.h"

static vt_bk_tensor tensor_at(uint64_t offset, uint32_t dtype, int64_t n) {
  return (vt_bk_tensor){.size = sizeof(vt_bk_tensor),
                        .dtype = dtype,
                        .rank = 1,
                        .dim = {n},
                        .stride = {n > 1},
                        .offset = offset};
}

static vt_bk_step make_step(uint32_t op, const vt_bk_tensor *in, uint32_t n_in,
                            const vt_bk_tensor *out) {
  return (vt_bk_step){
      .size = sizeof(vt_bk_step), .op = op, .n_in = n_in, .n_out = 1, .in = in, .out = out};
}

/* ---- a chain with every kind of step ---- */

enum { X = 0, W = 1000, V = 2000, T = 3000, Y = 4000 };
static const char expected_text[] =
    "#define VT_GPU_WITHOUT_FUN\n"
    "#include \"gpu_fused.cuh\"\n\n"
    "struct vt_fused_steps {\n"
    "  enum { N = 2, BYTES = 4 };\n"
    "  template <int G>\n"
    "  VT_GPU_FN void run(const vt_gpu_fused &m, const int64_t (&at)[N + 1]) {\n"
    "    const vt_fused_group<float, G> x0 = vt_fused_load<float, G>(m, 0, at[1 + 0]);\n"
    "    const vt_fused_group<float, G> x1 = vt_fused_load<float, G>(m, 1, at[1 + 1]);\n"
    "    vt_fused_group<uint16_t, G> y;\n"
    "    VT_UNROLL\n"
    "    for (int k = 0; k < G; k++) {\n"
    "      const float v0 = f32_add(x0.v[k], x1.v[k], 0);\n"
    "      const float v1 = f32_neg(v0, 0, 0);\n"
    "      const uint8_t v2 = f32_lt(v1, x0.v[k]) != 0;\n"
    "      const float v3 = v2 ? v1 : x1.v[k];\n"
    "      const uint16_t v4 = cast_f32_bf16(v3);\n"
    "      y.v[k] = v4;\n"
    "    }\n"
    "    vt_fused_store<uint16_t, G>(m, at[0], y);\n"
    "  }\n"
    "};\n\n"
    "VT_KERNEL(some, vt_gpu_fused, VT_FUSED_THREADS) { vt_fused_run<vt_fused_steps>(a); }\n";

static void test_text_of_chain(void) {
  const vt_bk_tensor x = tensor_at(X, VT_DTYPE_F32, 9), w = tensor_at(W, VT_DTYPE_F32, 1),
                     v = tensor_at(V, VT_DTYPE_F32, 9), t = tensor_at(T, VT_DTYPE_BOOL, 9),
                     y = tensor_at(Y, VT_DTYPE_BF16, 9);
  const vt_bk_tensor add[2] = {x, w}, lt[2] = {v, x}, select[3] = {t, v, w};
  const vt_bk_step s[] = {make_step(VT_OP_add, add, 2, &v), make_step(VT_OP_neg, &v, 1, &v),
                          make_step(VT_OP_lt, lt, 2, &t), make_step(VT_OP_select, select, 3, &v),
                          make_step(VT_OP_cast, &v, 1, &y)};
  const vt_bk_step *const steps[] = {&s[0], &s[1], &s[2], &s[3], &s[4]};
  vt_chain c;
  vt_text text;
  vt_text_init(&text, vt_alloc_default());
  CHECK(vt_chain_read(steps, 5, 2, &c) == VT_OK);
  CHECK(c.n_sources == 2 && c.result == s[4].out);
  /* The chain has two sources, and only one is allowed. */
  CHECK(vt_chain_read(steps, 5, 1, &c) == VT_UNSUPPORTED);
  vt_emit_chain(&c, &vt_dialect_cuda, "some", &text);
  CHECK(vt_text_status(&text) == VT_OK);
  if (text.s != NULL && strcmp(text.s, expected_text) != 0) fprintf(stderr, "%s", text.s);
  CHECK(text.s != NULL && strcmp(text.s, expected_text) == 0);
  vt_text_done(&text);
}

/* ---- lists of steps that are not chains ---- */

static void test_refused_chains(void) {
  const vt_bk_tensor h = tensor_at(X, VT_DTYPE_BF16, 9), y = tensor_at(Y, VT_DTYPE_BF16, 9),
                     d = tensor_at(X, VT_DTYPE_F64, 9), e = tensor_at(Y, VT_DTYPE_F64, 9);
  const vt_bk_step halves = make_step(VT_OP_neg, &h, 1, &y), wide = make_step(VT_OP_exp, &d, 1, &e),
                   sum = make_step(VT_OP_sum, &d, 1, &e);
  const vt_bk_step *const steps[] = {&halves, &wide, &sum};
  vt_chain c;
  for (uint32_t i = 0; i < 3; i++) CHECK(vt_chain_read(&steps[i], 1, 4, &c) == VT_UNSUPPORTED);
  CHECK(vt_chain_read(steps, 0, 4, &c) == VT_UNSUPPORTED);
  CHECK(vt_chain_read(steps, VT_CHAIN_STEPS + 1, 4, &c) == VT_UNSUPPORTED);
}

int main(void) {
  test_text_of_chain();
  test_refused_chains();
  TEST_DONE();
}
