/* SPDX-License-Identifier: Apache-2.0
 * quant_test.c - tests quantisation and integer products against their definitions, restated;
 * their decompositions against the kernels; and their type rules. A level is the integer that a
 * number is quantised to. */
#include "eager_test.h"

enum { F32 = VT_DTYPE_F32, I8 = VT_DTYPE_I8, U8 = VT_DTYPE_U8, I32 = VT_DTYPE_I32 };

static int64_t quantized_level(float x, float scale, int64_t zero, int64_t lo, int64_t hi) {
  const float v = rintf(x / scale) + (float)zero;
  if (isnan(v)) return 0;
  return v < (float)lo ? lo : v > (float)hi ? hi : (int64_t)v;
}

static void expect_same_bits(const char *name, const vt_view *a, const vt_view *b) {
  if (b->data == NULL || count_of_view(a) != count_of_view(b))
    report_test_failure(name, "is not decomposed");
  for (int64_t i = 0; b->data != NULL && i < count_of_view(a); i++)
    expect_bits(name, a, i, get_bits(b, i));
}

/* The bits of a scale or zero point: one for all elements, or one per position along the axis. */
static uint64_t scale_or_zero_point_bits(const vt_view *v, int64_t along) {
  return get_bits(v, v->rank ? along : 0);
}

static void check_quantize(uint32_t zero_dtype, int axis, int layout, uint64_t *state) {
  const int64_t dim[3] = {3, 4, 5}, one = axis < 0 ? 1 : dim[axis];
  const vt_attr_quant attrs = {.size = sizeof attrs, .axis = axis < 0 ? 2 : axis};
  const uint32_t rank = axis < 0 ? 0 : 1;
  vt_view in[3] = {fill_any(view_new(F32, 3, dim, layout), state),
                   fill_ordinary(view_new(F32, rank, &one, layout), state),
                   fill_any(view_new(zero_dtype, rank, &one, layout), state)};
  for (int64_t i = 0; i < 60; i += 2)
    put_bits(&in[0], i, vt_f32_bits((float)((int64_t)(random_u64(state) % 600) - 300) * 0.5f));
  if (axis < 0) put_bits(&in[1], 0, vt_f32_bits(1.0f));
  const run_result q = run_op(VT_OP_quantize, &attrs, in, 3, layout);
  const run_result f = run_op(VT_OP_fake_quantize, &attrs, in, 3, layout);
  CHECK(q.status == VT_OK && f.status == VT_OK && q.out.dtype == zero_dtype);
  for (int64_t i = 0; i < 60; i++) {
    const int64_t index[3] = {i / 20, i / 5 % 4, i % 5}, along = axis < 0 ? 0 : index[axis];
    const float scale = vt_f32_from_bits((uint32_t)scale_or_zero_point_bits(&in[1], along));
    const int64_t zero = integer_of(zero_dtype, scale_or_zero_point_bits(&in[2], along));
    const int64_t want = quantized_level(get_f32(&in[0], i), scale, zero,
                                         zero_dtype == I8 ? -128 : 0, zero_dtype == I8 ? 127 : 255);
    expect_bits("quantize", &q.out, i, truncate_bits(zero_dtype, (uint64_t)want));
    expect_bits("fake_quantize", &f.out, i, vt_f32_bits((float)(want - zero) * scale));
  }
  const vt_view lq = run_decomposition(VT_OP_quantize, &attrs, in, 3);
  const vt_view lf = run_decomposition(VT_OP_fake_quantize, &attrs, in, 3);
  expect_same_bits("quantize", &q.out, &lq);
  expect_same_bits("fake_quantize", &f.out, &lf);
  free_held();
}

static void test_quantize(void) {
  uint64_t state = 5;
  for (int axis = -1; axis < 3; axis++)
    for (int layout = 0; layout < LAYOUTS; layout++) {
      test_seed = state;
      check_quantize(I8, axis, layout, &state);
      check_quantize(U8, axis, layout, &state);
    }
}

/* quantize rounds ties to even and clamps values out of range. */
static void test_quantize_rounds_and_clamps(void) {
  static const float x[8] = {0.5f, 1.5f, -0.5f, -2.5f, 1000.0f, -1000.0f, NAN, INFINITY};
  static const int64_t want[8] = {0, 2, 0, -2, 127, -128, 0, 127};
  const int64_t eight = 8;
  const vt_view in[3] = {view_new(F32, 1, &eight, DENSE), view_new(F32, 0, NULL, DENSE),
                         view_new(I8, 0, NULL, DENSE)};
  memcpy(in[0].data, x, sizeof x);
  put_bits(&in[1], 0, vt_f32_bits(1.0f));
  put_bits(&in[2], 0, 0);
  const run_result r = run_op(VT_OP_quantize, NULL, in, 3, DENSE);
  CHECK(r.status == VT_OK);
  for (int64_t i = 0; i < 8; i++)
    expect_bits("quantize", &r.out, i, truncate_bits(I8, (uint64_t)want[i]));
  free_held();
}

static void test_dequantize(void) {
  static const uint32_t types[3] = {I8, U8, I32};
  const int64_t n = 300;
  uint64_t state = 9;
  for (int t = 0; t < 3; t++) {
    const vt_view in[3] = {fill_any(view_new(types[t], 1, &n, GAPS), &state),
                           fill_any(view_new(F32, 1, &n, DENSE), &state),
                           fill_any(view_new(types[t], 0, NULL, DENSE), &state)};
    const vt_attr_quant attrs = {.size = sizeof attrs, .axis = 0};
    const run_result r = run_op(VT_OP_dequantize, &attrs, in, 3, DENSE);
    CHECK(r.status == VT_OK);
    for (int64_t i = 0; i < n; i++) {
      const int64_t off =
          integer_of(types[t], get_bits(&in[0], i)) - integer_of(types[t], get_bits(&in[2], 0));
      const int64_t wrapped = integer_of(I32, truncate_bits(I32, (uint64_t)off));
      expect_bits("dequantize", &r.out, i, vt_f32_bits((float)wrapped * get_f32(&in[1], i)));
    }
    const vt_view l = run_decomposition(VT_OP_dequantize, &attrs, in, 3);
    expect_same_bits("dequantize", &r.out, &l);
    free_held();
  }
}

/* ---- products ---- */

static void check_matmul_int(uint32_t dtype_a, uint32_t dtype_b, uint32_t zero_points,
                             int64_t depth, uint64_t *state) {
  const int64_t a[2] = {3, depth}, b[2] = {depth, 4}, columns = 4;
  const vt_view in[4] = {
      fill_any(view_new(dtype_a, 2, a, GAPS), state),
      fill_any(view_new(dtype_b, 2, b, TRANSPOSED), state),
      fill_any(view_new(dtype_a, 0, NULL, DENSE), state),
      fill_any(view_new(dtype_b, zero_points == 2 ? 1 : 0, &columns, DENSE), state)};
  const run_result r = run_op(VT_OP_matmul_int, NULL, in, zero_points == 0 ? 2 : 4, TRANSPOSED);
  CHECK(r.status == VT_OK && r.out.dtype == I32);
  for (int64_t i = 0; i < 12; i++) {
    const int64_t za = zero_points ? integer_of(dtype_a, get_bits(&in[2], 0)) : 0;
    const int64_t zb =
        zero_points ? integer_of(dtype_b, scale_or_zero_point_bits(&in[3], i % 4)) : 0;
    int64_t sum = 0;
    for (int64_t j = 0; j < depth; j++)
      sum += (integer_of(dtype_a, get_bits(&in[0], i / 4 * depth + j)) - za) *
             (integer_of(dtype_b, get_bits(&in[1], j * 4 + i % 4)) - zb);
    expect_bits("matmul_int", &r.out, i, truncate_bits(I32, (uint64_t)sum));
  }
  free_held();
}

static void test_matmul_int(void) {
  static const int64_t lengths[5] = {0, 1, 9, 257, 3000};
  uint64_t state = 17;
  for (int64_t i = 0; i < COUNT(lengths); i++)
    for (uint32_t bits = 0; bits < 12; bits++)
      check_matmul_int(bits & 1 ? U8 : I8, bits & 2 ? U8 : I8, bits >> 2, lengths[i], &state);
}

/* Checks linear_int with x of shape [2, 3, k] and the first n_in of its operands: x, w, zero points
 * of x and w, bias. */
static void check_linear_int(uint32_t dtype_x, uint32_t dtype_w, uint32_t n_in, int64_t depth,
                             uint64_t *state) {
  const int64_t x[3] = {2, 3, depth}, w[2] = {depth, 4}, columns = 4;
  const vt_view in[5] = {fill_any(view_new(dtype_x, 3, x, TRANSPOSED), state),
                         fill_any(view_new(dtype_w, 2, w, GAPS), state),
                         fill_any(view_new(dtype_x, 0, NULL, DENSE), state),
                         fill_any(view_new(dtype_w, (uint32_t)depth & 1, &columns, GAPS), state),
                         fill_any(view_new(I32, 1, &columns, GAPS), state)};
  const run_result r = run_op(VT_OP_linear_int, NULL, in, n_in, TRANSPOSED);
  CHECK(r.status == VT_OK && r.out.dtype == I32);
  for (int64_t i = 0; i < 24; i++) {
    const int64_t zx = n_in > 2 ? integer_of(dtype_x, get_bits(&in[2], 0)) : 0;
    const int64_t zw = n_in > 3 ? integer_of(dtype_w, scale_or_zero_point_bits(&in[3], i % 4)) : 0;
    int64_t sum = n_in > 4 ? integer_of(I32, get_bits(&in[4], i % 4)) : 0;
    for (int64_t j = 0; j < depth; j++)
      sum += (integer_of(dtype_x, get_bits(&in[0], i / 4 * depth + j)) - zx) *
             (integer_of(dtype_w, get_bits(&in[1], j * 4 + i % 4)) - zw);
    expect_bits("linear_int", &r.out, i, truncate_bits(I32, (uint64_t)sum));
  }
  free_held();
}

static void test_linear_int(void) {
  static const int64_t lengths[5] = {0, 1, 8, 257, 3000};
  uint64_t state = 18;
  for (int64_t i = 0; i < COUNT(lengths); i++)
    for (uint32_t bits = 0; bits < 16; bits++)
      check_linear_int(bits & 1 ? U8 : I8, bits & 2 ? U8 : I8, 2 + (bits >> 2), lengths[i], &state);
}

/* The longest sum that is allowed, of the largest products, fits into i32. */
static void test_largest_sum_fits_i32(void) {
  const int64_t a[2] = {1, 131071}, b[2] = {131071, 1};
  const vt_view in[2] = {view_new(I8, 2, a, DENSE), view_new(I8, 2, b, DENSE)};
  memset(in[0].data, 0x80, 131071);
  memset(in[1].data, 0x80, 131071);
  const run_result r = run_op(VT_OP_matmul_int, NULL, in, 2, DENSE);
  CHECK(r.status == VT_OK && get_bits(&r.out, 0) == 131071u * 16384u);
  free_held();
}

static const vt_attr_quant far_axis = {.size = sizeof far_axis, .axis = INT64_MIN};
static const vt_attr_quant low_axis = {.size = sizeof low_axis, .axis = -2};

static void test_type_rules(void) {
  static const rule_case cases[] = {
      {VT_OP_matmul_int, NULL, "i8[B, 131071]; i8[131071, T]", "i32[B, T]"},
      {VT_OP_matmul_int, NULL, "i8[B, 131072]; i8[131072, T]", "!limit: the most is 131071"},
      {VT_OP_matmul_int, NULL, "u8[2, 65793]; i8[65793, 3]", "i32[2, 3]"},
      {VT_OP_matmul_int, NULL, "i8[2, 65794]; u8[65794, 3]", "!limit: the most is 65793"},
      {VT_OP_matmul_int, NULL, "u8[2, 33025]; u8[33025, 3]", "i32[2, 3]"},
      {VT_OP_matmul_int, NULL, "u8[2, 33026]; u8[33026, 3]", "!limit: the most is 33025"},
      {VT_OP_matmul_int, NULL, "i8[2, 33026]; i8[33026, 3]; i8[]", "!limit: the most is 33025"},
      {VT_OP_matmul_int, NULL, "i8[2, 4]; u8[4, 3]; i8[]; u8[3]", "i32[2, 3]"},
      {VT_OP_matmul_int, NULL, "i8[2, 4]; u8[4, 3]; u8[]",
       "!verify: operand 3 is u8[], expected i8"},
      {VT_OP_matmul_int, NULL, "i8[2, 4]; u8[4, 3]; i8[2]", "!verify: expected a scalar"},
      {VT_OP_matmul_int, NULL, "i8[2, 4]; u8[4, 3]; i8[]; u8[4]", "!verify: one for each column"},
      {VT_OP_matmul_int, NULL, "i32[2, 4]; i8[4, 3]", "!verify: expected i8 or u8"},
      {VT_OP_matmul_int, NULL, "i8[2, 4]; i8[5, 3]", "!verify: the contracted axes differ"},
      {VT_OP_linear_int, NULL, "i8[B, T, 4]; u8[4, 3]; i8[]; u8[3]; i32[3]", "i32[B, T, 3]"},
      {VT_OP_linear_int, NULL, "i8[4]; u8[4, 3]", "!verify: operand 1 is i8[4], expected at least"},
      {VT_OP_linear_int, NULL, "i8[B, 4]; u8[B, 4, 3]", "!verify: expected a weight of rank 2"},
      {VT_OP_linear_int, NULL, "i8[2, 4]; i8[4, 3]; i8[]; i8[]; i32[]", "!verify: each column of"},
      {VT_OP_linear_int, NULL, "i8[2, 4]; i8[4, 3]; i8[]; i8[]; i8[3]", "!verify: expected i32"},
      {VT_OP_linear_int, NULL, "i8[2, 4]; i8[4, 3]; i32[3]", "!verify: expected i8"},
      {VT_OP_linear_int, NULL, "i8[2, 33026]; i8[33026, 3]; i8[]", "!limit: the most is 33025"},
      {VT_OP_quantize, NULL, "f32[B, 3]; f32[]; u8[]", "u8[B, 3]"},
      {VT_OP_quantize, NULL, "f32[]; f32[]; u8[]", "u8[]"},
      {VT_OP_quantize, NULL, "f32[]; f32[1]; u8[]", "!verify: along the axis"},
      {VT_OP_quantize, &far_axis, "f32[B, 3]; f32[3]; u8[]", "!verify: along the axis"},
      {VT_OP_quantize, &low_axis, "f32[B, 3]; f32[B]; u8[B]", "u8[B, 3]"},
      {VT_OP_quantize, NULL, "f32[B, 3]; f32[]; i32[]", "!verify: expected i8 or u8"},
      {VT_OP_quantize, NULL, "f64[B, 3]; f64[]; i8[]", "!verify: expected f32"},
      {VT_OP_quantize, NULL, "f32[B, 3]; f32[3, 1]; i8[]", "!verify: along the axis"},
      {VT_OP_dequantize, NULL, "i32[B, 3]; f32[]; i32[]", "f32[B, 3]"},
      {VT_OP_dequantize, NULL, "i8[B, 3]; f32[]; u8[]", "!verify: operand 3 is u8[], expected i8"},
      {VT_OP_dequantize, NULL, "i64[B, 3]; f32[]; i64[]", "!verify: expected i8 or u8"},
      {VT_OP_dynamic_quantize, NULL, "f32[3, 0]", "!verify: at least one element"},
      {VT_OP_requantize, NULL, "i32[B, 3]; f32[]; f32[]; f32[]; u8[]", "u8[B, 3]"},
      {VT_OP_requantize, NULL, "i32[B, 3]; f32[3]; f32[]; f32[]; u8[]", "!verify: a scalar"},
      {VT_OP_rope, NULL, "f32[B, T, 4]; i64[T]", "f32[B, T, 4]"},
      {VT_OP_rope, NULL, "f32[B, T, 5]; i64[T]", "!verify: an even number"},
      {VT_OP_rope, NULL, "f32[B, T, V]; i64[T]", "!verify: must be a number"},
      {VT_OP_rope, NULL, "f32[B, T, 4]; i64[B]", "!verify: do not broadcast"},
      {VT_OP_rope, NULL, "f32[B, T, 4]; f32[T]", "!verify: positions of i32 or i64"},
      {VT_OP_rope, NULL, "f32[]; i64[]", "!verify: needs an axis"},
  };
  CHECK_RULES(cases);
}

int main(void) {
  test_quantize();
  test_quantize_rounds_and_clamps();
  test_dequantize();
  test_matmul_int();
  test_linear_int();
  test_largest_sum_fits_i32();
  test_type_rules();
  TEST_DONE();
}
