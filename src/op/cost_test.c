/* SPDX-License-Identifier: Apache-2.0
 * cost_test.c - tests the cost of steps: flops and bytes against numbers that are written out or
 * counted one by one. */
#include <string.h>
#include "vt_op.h"
#include "vt_test.h"
#include "volta/volta_backend.h"

/* ---- steps ---- */

static vt_bk_tensor dense_tensor(uint32_t dtype, uint32_t rank, const int64_t *dim) {
  vt_bk_tensor t = {.size = sizeof t, .dtype = dtype, .rank = rank};
  int64_t n = 1;
  for (uint32_t i = rank; i-- > 0;) {
    t.dim[i] = dim[i];
    t.stride[i] = n;
    /* strides that overflow are not read by any test */
    if (dim[i] != 0 && !vt_i64_mul(n, dim[i], &n)) n = INT64_MAX;
  }
  return t;
}
#define T(dtype, ...)                                                                \
  dense_tensor(VT_DTYPE_##dtype, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), \
               (const int64_t[]){__VA_ARGS__})

static vt_cost cost_of_step(uint32_t op, const void *attrs, uint32_t n_in, const vt_bk_tensor *in,
                            uint32_t n_out, const vt_bk_tensor *out) {
  const vt_bk_step s = {.size = sizeof s,
                        .op = op,
                        .n_in = n_in,
                        .n_out = n_out,
                        .in = in,
                        .out = out,
                        .attrs = attrs};
  vt_cost c = {0};
  vt_diag d = {0};
  CHECK(vt_step_cost(&s, vt_alloc_default(), &c, &d) == VT_OK);
  if (d.text[0] != 0) fprintf(stderr, "  op %u: %s\n", op, d.text);
  return c;
}

static void expect_cost(const char *what, vt_cost got, uint64_t flops, uint64_t bytes_read,
                        uint64_t bytes_written) {
  const int right =
      got.flops == flops && got.bytes_read == bytes_read && got.bytes_written == bytes_written;
  CHECK(right);
  if (!right)
    fprintf(stderr, "  %s: %llu flops, %llu read, %llu written\n", what,
            (unsigned long long)got.flops, (unsigned long long)got.bytes_read,
            (unsigned long long)got.bytes_written);
}

/* ---- prims ---- */

static void test_pointwise_costs(void) {
  const vt_bk_tensor x = T(F32, 3, 5), y = T(F32, 3, 5), pair[3] = {x, y, y};
  vt_bk_tensor row[2] = {x, T(F32, 3, 5)};
  row[1].stride[0] = 0; /* a row of five elements, broadcast to three rows */
  expect_cost("exp", cost_of_step(VT_OP_exp, NULL, 1, &x, 1, &y), 15, 60, 60);
  expect_cost("add", cost_of_step(VT_OP_add, NULL, 2, pair, 1, &y), 15, 120, 60);
  expect_cost("repeated", cost_of_step(VT_OP_add, NULL, 2, row, 1, &y), 15, 80, 60);
  expect_cost("fma", cost_of_step(VT_OP_fma, NULL, 3, pair, 1, &y), 30, 180, 60);
  const vt_bk_tensor none = T(F32, 0, 5), half = T(F16, 3, 5);
  const vt_attr_cast to = {.size = sizeof to, .dtype = VT_DTYPE_F16};
  expect_cost("nothing", cost_of_step(VT_OP_exp, NULL, 1, &none, 1, &none), 0, 0, 0);
  expect_cost("cast", cost_of_step(VT_OP_cast, &to, 1, &x, 1, &half), 15, 60, 30);
  const vt_attr_literal one = {.size = sizeof one, .dtype = VT_DTYPE_F32};
  const vt_bk_tensor scalar = dense_tensor(VT_DTYPE_F32, 0, NULL);
  expect_cost("literal", cost_of_step(VT_OP_literal, &one, 0, NULL, 1, &scalar), 0, 0, 4);
}

static void test_reduction_costs(void) {
  const vt_attr_reduce last = {.size = sizeof last, .axes = {.n = 1, .v = {1}}};
  const vt_attr_sort along = {.size = sizeof along, .axis = 1};
  const vt_bk_tensor x = T(F64, 3, 5), y = T(F64, 3), sorted[2] = {x, T(I64, 3, 5)};
  expect_cost("sum", cost_of_step(VT_OP_sum, &last, 1, &x, 1, &y), 15, 120, 24);
  expect_cost("max", cost_of_step(VT_OP_max, &last, 1, &x, 1, &y), 15, 120, 24);
  expect_cost("sort", cost_of_step(VT_OP_sort, &along, 1, &x, 2, sorted), 45, 120, 240);
}

static void test_movement_costs(void) {
  const vt_attr_gather rows = {.size = sizeof rows};
  const vt_bk_tensor in[2] = {T(F32, 1000, 8), T(I32, 6)}, y = T(F32, 6, 8);
  expect_cost("gather", cost_of_step(VT_OP_gather, &rows, 2, in, 1, &y), 0, 6 * 32 + 24, 6 * 32);
  expect_cost("embedding", cost_of_step(VT_OP_embedding, NULL, 2, in, 1, &y), 0, 6 * 32 + 24,
              6 * 32);
  const vt_attr_axis a = {.size = sizeof a, .axis = 0};
  const vt_bk_tensor parts[2] = {T(F32, 2, 8), T(F32, 4, 8)}, row = T(F32, 1, 8);
  vt_bk_tensor many[20];
  for (int i = 0; i < 20; i++) many[i] = row;
  const vt_bk_tensor long_y = T(F32, 20, 8);
  expect_cost("many", cost_of_step(VT_OP_concat, &a, 20, many, 1, &long_y), 0, 640, 640);
  expect_cost("concat", cost_of_step(VT_OP_concat, &a, 2, parts, 1, &y), 0, 6 * 32, 6 * 32);
}

/* A scatter over its first operand moves the updates and not the whole operand. */
static void test_scatter_costs(void) {
  const vt_attr_gather_nd rows = {.size = sizeof rows};
  const vt_bk_tensor in[3] = {T(F32, 1000, 8), T(I64, 6, 1), T(F32, 6, 8)};
  vt_bk_tensor y = T(F32, 1000, 8);
  const uint64_t all = 1000 * 32, some = 6 * 32, index = 6 * 8;
  y.offset = 32000;
  expect_cost("scatter", cost_of_step(VT_OP_scatter_nd, &rows, 3, in, 1, &y), 0, all + index + some,
              all);
  expect_cost("add", cost_of_step(VT_OP_scatter_nd_add, &rows, 3, in, 1, &y), 48,
              all + index + some, all);
  y.offset = 0;
  expect_cost("scatter over", cost_of_step(VT_OP_scatter_nd, &rows, 3, in, 1, &y), 0, index + some,
              some);
  expect_cost("add over", cost_of_step(VT_OP_scatter_nd_add, &rows, 3, in, 1, &y), 48,
              index + some + some, some);
  y.arena = 3;
  expect_cost("other arena", cost_of_step(VT_OP_scatter_nd, &rows, 3, in, 1, &y), 0,
              all + index + some, all);
  const vt_bk_tensor many[3] = {T(F32, 2, 8), T(I64, 6, 1), T(F32, 6, 8)}, two = T(F32, 2, 8);
  expect_cost("more updates", cost_of_step(VT_OP_scatter_nd, &rows, 3, many, 1, &two), 0,
              index + some, 64); /* no more than the operand has */
}

/* ---- contractions ---- */

static void test_product_costs(void) {
  const vt_attr_matmul plain = {.size = sizeof plain},
                       transposed = {.size = sizeof transposed, .transpose_a = 1};
  const vt_bk_tensor in[2] = {T(F32, 7, 3, 4), T(F32, 4, 5)}, y = T(F32, 7, 3, 5);
  const vt_bk_tensor back[2] = {T(F32, 7, 4, 3), T(F32, 4, 5)};
  const uint64_t flops = 2 * 7 * 3 * 5 * 4, read = 4 * (7 * 3 * 4 + 4 * 5);
  expect_cost("matmul", cost_of_step(VT_OP_matmul, &plain, 2, in, 1, &y), flops, read,
              4 * 7 * 3 * 5);
  expect_cost("transposed", cost_of_step(VT_OP_matmul, &transposed, 2, back, 1, &y), flops, read,
              4 * 7 * 3 * 5);
  const vt_bk_tensor bytes[2] = {T(I8, 3, 4), T(I8, 4, 5)}, whole = T(I32, 3, 5);
  expect_cost("int", cost_of_step(VT_OP_matmul_int, NULL, 2, bytes, 1, &whole), 2 * 15 * 4, 32, 60);
  const vt_bk_tensor with[3] = {T(F32, 3, 4), T(F32, 4, 5), T(F32, 5)}, z = T(F32, 3, 5);
  expect_cost("linear", cost_of_step(VT_OP_linear, NULL, 3, with, 1, &z), 2 * 15 * 4 + 15, 4 * 37,
              60);
}

static void test_conv_costs(void) {
  const vt_attr_conv a = {
      .size = sizeof a, .low = {.n = 1, .v = {1}}, .high = {.n = 1, .v = {1}}, .groups = 2};
  const vt_bk_tensor in[3] = {T(F32, 2, 4, 8, 8), T(F32, 6, 2, 3, 3), T(F32, 6)};
  const vt_bk_tensor y = T(F32, 2, 6, 8, 8);
  const uint64_t outputs = 2 * 6 * 8 * 8, products = outputs * 2 * 9;
  CHECK(cost_of_step(VT_OP_conv, &a, 2, in, 1, &y).flops == 2 * products);
  CHECK(cost_of_step(VT_OP_conv, &a, 3, in, 1, &y).flops == 2 * products + outputs);
  const vt_attr_conv_weight_grad w = {
      .size = sizeof w, .kernel = {.n = 1, .v = {3}}, .low = {.n = 1, .v = {1}}, .groups = 2};
  const vt_bk_tensor back[2] = {in[0], y};
  CHECK(cost_of_step(VT_OP_conv_weight_grad, &w, 2, back, 1, &in[1]).flops ==
        2 * (6 * 2 * 9) * (2 * 8 * 8));
}

/* Counts one by one the pairs of an output position and a tap that are multiplied by an element of
 * x: their distance is divisible by the stride. */
static uint64_t count_output_tap_pairs(int64_t outputs, int64_t kernel, int64_t stride,
                                       int64_t dilation, int64_t low) {
  uint64_t pairs = 0;
  for (int64_t j = 0; j < outputs; j++)
    for (int64_t k = 0; k < kernel; k++) pairs += (j + low - k * dilation) % stride == 0;
  return pairs;
}

static void test_conv_transpose_costs(void) {
  for (int64_t stride = 1; stride <= 4; stride++)
    for (int64_t dilation = 1; dilation <= 3; dilation++)
      for (int64_t kernel = 1; kernel <= 5; kernel++)
        for (int64_t low = 0; low <= 2; low++) {
          const vt_attr_conv_transpose a = {.size = sizeof a,
                                            .stride = {.n = 1, .v = {stride}},
                                            .dilation = {.n = 1, .v = {dilation}},
                                            .low = {.n = 1, .v = {low}},
                                            .groups = 3};
          const int64_t n = 4 * stride + dilation * (kernel - 1) + 1 - low;
          const vt_bk_tensor in[3] = {T(F32, 2, 6, 5), T(F32, 6, 4, kernel), T(F32, 12)};
          const vt_bk_tensor y = T(F32, 2, 12, n);
          const uint64_t products =
              2 * 12 * 2 * count_output_tap_pairs(n, kernel, stride, dilation, low);
          CHECK(cost_of_step(VT_OP_conv_transpose, &a, 2, in, 1, &y).flops == 2 * products);
          CHECK(cost_of_step(VT_OP_conv_transpose, &a, 3, in, 1, &y).flops ==
                2 * products + 24 * (uint64_t)n);
        }
}

/* ---- compositions and ops with bodies ---- */

static void test_composition_costs(void) {
  const vt_attr_axis last = {.size = sizeof last, .axis = 1};
  const vt_bk_tensor x = T(F32, 3, 5), y = T(F32, 3, 5);
  /* softmax needs five flops per element: max, subtract, exp, sum, divide */
  expect_cost("softmax", cost_of_step(VT_OP_softmax, &last, 1, &x, 1, &y), 5 * 15, 60, 60);
  const vt_attr_reduce over = {.size = sizeof over, .axes = {.n = 1, .v = {1}}};
  const vt_bk_tensor short_y = T(F32, 3);
  expect_cost("mean", cost_of_step(VT_OP_mean, &over, 1, &x, 1, &short_y), 15 + 3, 60, 12);
}

/* The decomposition of rnn is a loop over time, so twice the steps cost twice as much. */
static void test_rnn_costs(void) {
  const vt_attr_rnn a = *(const vt_attr_rnn *)vt_op_get(VT_OP_rnn)->attrs->defaults;
  uint64_t flops[2];
  for (int64_t t = 4; t <= 8; t += 4) {
    const vt_bk_tensor in[3] = {T(F32, t, 2, 3), T(F32, 3, 6), T(F32, 6, 6)};
    const vt_bk_tensor out[2] = {T(F32, t, 2, 6), T(F32, 2, 6)};
    flops[t / 8] = cost_of_step(VT_OP_rnn, &a, 3, in, 2, out).flops;
  }
  /* each time step needs two products, and per element one flop to add both and one for tanh */
  CHECK(flops[0] == 4 * (2 * 2 * 6 * 3 + 2 * 2 * 6 * 6 + 2 * 2 * 6));
  CHECK(flops[1] == 2 * flops[0]);
}

static void test_loop_and_cond_costs(void) {
  const vt_bk_tensor x = T(F32, 3, 5), y = T(F32, 3, 5);
  const vt_bk_step inner[2] = {
      {.size = sizeof *inner, .op = VT_OP_exp, .n_in = 1, .n_out = 1, .in = &x, .out = &y},
      {.size = sizeof *inner, .op = VT_OP_neg, .n_in = 1, .n_out = 1, .in = &x, .out = &y}};
  const vt_bk_body both[2] = {{.size = sizeof *both, .n_steps = 2, .steps = inner},
                              {.size = sizeof *both, .n_steps = 1, .steps = inner}};
  const vt_attr_loop seven = {.size = sizeof seven, .count = 7, .carried = 1};
  const vt_attr_cond which = {.size = sizeof which, .first = 1};
  vt_bk_step s = {.size = sizeof s, .op = VT_OP_loop, .n_in = 1, .n_out = 1, .in = &x, .out = &y};
  vt_cost c = {0};
  s.attrs = &seven;
  s.n_body = 1;
  s.body = both;
  CHECK(vt_step_cost(&s, vt_alloc_default(), &c, NULL) == VT_OK);
  expect_cost("loop", c, 7 * 30, 7 * 120, 7 * 120);
  s.op = VT_OP_cond;
  s.attrs = &which;
  s.n_body = 2;
  CHECK(vt_step_cost(&s, vt_alloc_default(), &c, NULL) == VT_OK);
  expect_cost("cond", c, 30, 120, 120);
}

/* ---- every row of the op table, and numbers that do not fit ---- */

static void test_ordered_prims_have_costs(void) {
  for (uint32_t i = 0; i < vt_op_total(); i++) {
    const vt_op_info *op = vt_op_at(i);
    const int needs = op->prim && op->numerics == VT_NUMERICS_ordered;
    CHECK(!needs || vt_cost_has_row(op->number));
    if (needs && !vt_cost_has_row(op->number)) fprintf(stderr, "  %s\n", op->name);
  }
}

static void test_costs_saturate(void) {
  const int64_t big = (int64_t)1 << 40;
  const vt_attr_matmul plain = {.size = sizeof plain};
  const vt_bk_tensor in[2] = {T(F32, big, big), T(F32, big, big)}, y = T(F32, big, big);
  expect_cost("beyond", cost_of_step(VT_OP_matmul, &plain, 2, in, 1, &y), UINT64_MAX, UINT64_MAX,
              UINT64_MAX);
  vt_cost sum = {UINT64_MAX - 1, 1, 2};
  vt_cost_add(&sum, &(vt_cost){2, 3, 4});
  expect_cost("sum", sum, UINT64_MAX, 4, 6);
  const vt_bk_step unknown = {.size = sizeof unknown, .op = 999999};
  CHECK(vt_step_cost(&unknown, vt_alloc_default(), &sum, NULL) == VT_INTERNAL);
}

/* Each allocation fails in turn: the call must return VT_NOMEM, leak nothing and not write *out. */
static void test_cost_out_of_memory(void) {
  const vt_attr_rnn a = *(const vt_attr_rnn *)vt_op_get(VT_OP_rnn)->attrs->defaults;
  const vt_bk_tensor in[3] = {T(F32, 4, 2, 3), T(F32, 3, 6), T(F32, 6, 6)};
  const vt_bk_tensor out[2] = {T(F32, 4, 2, 6), T(F32, 2, 6)};
  const vt_bk_step s = {
      .size = sizeof s, .op = VT_OP_rnn, .n_in = 3, .n_out = 2, .in = in, .out = out, .attrs = &a};
  vt_fault fault = {0};
  vt_cost c = {0};
  CHECK(vt_step_cost(&s, vt_fault_alloc(&fault), &c, NULL) == VT_OK && fault.live == 0);
  const long asked = fault.asked;
  CHECK(asked > 2);
  for (long left = 1; left <= asked; left++) {
    vt_cost untouched = {1, 2, 3};
    vt_diag d = {0};
    fault = (vt_fault){.left = left};
    CHECK(vt_step_cost(&s, vt_fault_alloc(&fault), &untouched, &d) == VT_NOMEM);
    CHECK(d.code == VT_NOMEM && fault.live == 0);
    expect_cost("untouched", untouched, 1, 2, 3);
  }
}

int main(void) {
  test_pointwise_costs();
  test_reduction_costs();
  test_movement_costs();
  test_scatter_costs();
  test_product_costs();
  test_conv_costs();
  test_conv_transpose_costs();
  test_composition_costs();
  test_rnn_costs();
  test_loop_and_cond_costs();
  test_ordered_prims_have_costs();
  test_costs_saturate();
  test_cost_out_of_memory();
  TEST_DONE();
}
