/* SPDX-License-Identifier: Apache-2.0
 * reduce_test.c - tests sum, prod, max, min, argmax, argmin and cumsum over sets of axes, dtypes
 * and layouts, and the type rules of reductions. The test gathers the elements of each result into
 * an array, in row-major order of the reduced axes, and reduces it by the restated definition. S
 * is the order in which sums are added (docs/numerics.md): chunks of 1024 elements first. */
#include "op_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64 };
#define NUMBERS "f32 f64 i8 u8 i32 i64 "
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* ---- the definitions, on arrays of bits ---- */

static uint64_t bits_of_sum(uint32_t dtype, const uint64_t *x, int64_t n) {
  uint64_t total = 0;
  float *f = malloc(((size_t)n + 1) * sizeof *f);
  double *g = malloc(((size_t)n + 1) * sizeof *g);
  for (int64_t i = 0; i < n; i++) {
    f[i] = vt_f32_from_bits((uint32_t)x[i]);
    g[i] = vt_f64_from_bits(x[i]);
    total += (uint64_t)integer_of(dtype, x[i]);
  }
  if (dtype == F32) total = vt_f32_bits(s_f32(f, n));
  if (dtype == F64) total = vt_f64_bits(s_f64(g, n));
  free(f);
  free(g);
  return truncate_bits(dtype, total);
}

/* The product in order S: multiplications in place of additions, starting from 1. */
static double product_in_order_s(uint32_t dtype, const double *x, int64_t n) {
  double s[32], *p = n > 1024 ? malloc((size_t)n * sizeof *p) : NULL;
  for (int64_t c = 0; n > 1024 && c < n; c += 1024)
    p[c / 1024] = product_in_order_s(dtype, x + c, n - c < 1024 ? n - c : 1024);
  const double *from = n > 1024 ? p : x;
  const int64_t m = n > 1024 ? (n + 1023) / 1024 : n;
  for (int l = 0; l < 32; l++) s[l] = 1;
  for (int64_t i = 0; i < m; i++)
    s[i % 32] = dtype == F32 ? (double)(float)(s[i % 32] * from[i]) : s[i % 32] * from[i];
  for (int h = 16; h > 0; h /= 2)
    for (int l = 0; l < h; l++)
      s[l] = dtype == F32 ? (double)(float)(s[l] * s[l + h]) : s[l] * s[l + h];
  free(p);
  return s[0];
}

static uint64_t bits_of_product(uint32_t dtype, const uint64_t *x, int64_t n) {
  uint64_t total = 1;
  double *g = malloc(((size_t)n + 1) * sizeof *g);
  for (int64_t i = 0; i < n; i++) {
    g[i] = dtype == F32 ? (double)vt_f32_from_bits((uint32_t)x[i]) : vt_f64_from_bits(x[i]);
    total *= (uint64_t)integer_of(dtype, x[i]);
  }
  if (dtype == F32) total = vt_f32_bits((float)product_in_order_s(F32, g, n));
  if (dtype == F64) total = vt_f64_bits(product_in_order_s(F64, g, n));
  free(g);
  return truncate_bits(dtype, total);
}

/* 1 if a is above b in the total order of the dtype. */
static int is_above_in_total_order(uint32_t dtype, uint64_t a, uint64_t b) {
  if (dtype == F64) return comes_above(vt_f64_from_bits(a), vt_f64_from_bits(b));
  if (dtype == F32)
    return comes_above((double)vt_f32_from_bits((uint32_t)a),
                       (double)vt_f32_from_bits((uint32_t)b));
  return integer_of(dtype, a) > integer_of(dtype, b);
}

static int is_nan(uint32_t dtype, uint64_t x) {
  if (dtype == F64) return isnan(vt_f64_from_bits(x));
  return dtype == F32 && isnan(vt_f32_from_bits((uint32_t)x));
}

/* The index of the first element that no other is above. */
static int64_t index_of_first_greatest(uint32_t dtype, const uint64_t *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    int beaten = 0;
    for (int64_t j = 0; j < n && !beaten; j++) beaten = is_above_in_total_order(dtype, x[j], x[i]);
    if (!beaten) return i;
  }
  return -1;
}

static uint64_t bits_of_least(uint32_t dtype, const uint64_t *x, int64_t n) {
  uint64_t least = x[0];
  for (int64_t i = 0; i < n; i++) {
    if (is_nan(dtype, x[i])) return x[i];
    if (is_above_in_total_order(dtype, least, x[i])) least = x[i];
  }
  return least;
}

/* The index of the first element that equals the minimum. */
static int64_t index_of_first_least(uint32_t dtype, const uint64_t *x, int64_t n) {
  const uint64_t least = bits_of_least(dtype, x, n);
  for (int64_t i = 0; i < n; i++)
    if (is_nan(dtype, least) ? is_nan(dtype, x[i]) : x[i] == least) return i;
  return -1;
}

static uint64_t expected_reduction_bits(uint32_t op, uint32_t dtype, const uint64_t *x, int64_t n) {
  if (op == VT_OP_sum) return bits_of_sum(dtype, x, n);
  if (op == VT_OP_min) return bits_of_least(dtype, x, n);
  if (op == VT_OP_max) return x[index_of_first_greatest(dtype, x, n)];
  if (op == VT_OP_prod) return bits_of_product(dtype, x, n);
  if (op == VT_OP_argmin) return (uint64_t)index_of_first_least(dtype, x, n);
  return (uint64_t)index_of_first_greatest(dtype, x, n);
}

/* ---- the elements that are reduced to one result ---- */

/* Copies the elements of x that are reduced to element `result` of the result, and returns their
 * number. Bit k of `axis_mask` is 1 if axis k is reduced. */
static int64_t gather_elements_of_result(const vt_view *x, unsigned axis_mask, int64_t result,
                                         uint64_t *out) {
  int64_t n = 0;
  const int64_t total = count_of_view(x);
  for (int64_t i = 0; i < total; i++) {
    int64_t kept = 0, step = 1, rest = i;
    for (uint32_t axis = x->rank; axis-- > 0; rest /= x->dim[axis]) {
      if (axis_mask >> axis & 1) continue;
      kept += rest % x->dim[axis] * step;
      step *= x->dim[axis];
    }
    if (kept == result) out[n++] = get_bits(x, i);
  }
  return n;
}

static void check_reduction(uint32_t op, const vt_view *x, unsigned axis_mask,
                            const run_result *r) {
  const char *name = vt_op_get(op)->name;
  CHECK(r->status == VT_OK);
  if (r->status != VT_OK) return;
  uint64_t *part = malloc(((size_t)count_of_view(x) + 1) * sizeof *part);
  const int64_t results = count_of_view(&r->out);
  for (int64_t i = 0; i < results; i++) {
    const int64_t n = gather_elements_of_result(x, axis_mask, i, part);
    if (!expect_bits(name, &r->out, i, expected_reduction_bits(op, x->dtype, part, n))) break;
  }
  free(part);
}

/* The attributes that reduce the axes of `axis_mask`. With `backwards` the axes are listed from the
 * last to the first, which must not matter. */
static vt_attr_reduce reduce_attrs(unsigned axis_mask, int keep, int backwards) {
  vt_attr_reduce a = {.size = sizeof a, .keep = keep};
  for (int n = 0; n < VT_MAX_RANK; n++) {
    const int axis = backwards ? VT_MAX_RANK - 1 - n : n;
    if (axis_mask >> axis & 1) a.axes.v[a.axes.n++] = axis;
  }
  return a;
}

/* ---- every set of axes ---- */

static const struct {
  uint32_t rank;
  int64_t dim[8];
} shapes[] = {{0, {0}},       {1, {1}},          {1, {9}},
              {2, {3, 5}},    {2, {1, 33}},      {3, {3, 4, 5}},
              {3, {2, 1, 3}}, {4, {2, 3, 2, 3}}, {8, {2, 1, 2, 1, 3, 1, 2, 2}},
              {3, {0, 2, 3}}, {3, {2, 0, 3}}};

static int has_empty_reduction(const vt_view *x, unsigned axis_mask) {
  for (uint32_t i = 0; i < x->rank; i++)
    if ((axis_mask >> i & 1) && x->dim[i] == 0) return 1;
  return 0;
}

static void test_set_of_axes(uint32_t op, const vt_view *x, unsigned axis_mask, int layout) {
  const int empty = has_empty_reduction(x, axis_mask);
  for (int keep = 0; keep < 2; keep++) {
    const vt_attr_reduce a = reduce_attrs(axis_mask, keep, layout == GAPS);
    const run_result r = run_op(op, &a, x, 1, layout);
    if (empty && op != VT_OP_sum && op != VT_OP_prod) {
      CHECK(r.status == VT_VERIFY);
    } else {
      check_reduction(op, x, axis_mask, &r);
      CHECK(!keep || r.out.rank == x->rank);
    }
  }
}

static void test_all_sets_of_axes(uint32_t op, uint64_t seed) {
  uint64_t state = seed;
  for (int64_t s = 0; s < COUNT(shapes); s++)
    for (uint32_t dtype = 1; dtype <= 6; dtype++)
      for (int layout = 0; layout < LAYOUTS; layout++) {
        const unsigned all = (1u << shapes[s].rank) - 1;
        /* of rank 8 only 24 of the 255 sets of axes are tested */
        const unsigned step = shapes[s].rank == 8 ? 11 : 1;
        for (unsigned axis_mask = all; axis_mask > 0 && axis_mask <= all; axis_mask -= step) {
          test_seed = state;
          const vt_view x = fill_any(
              view_new(dtype, shapes[s].rank, shapes[s].dim, (layout + 1) % LAYOUTS), &state);
          test_set_of_axes(op, &x, axis_mask, layout);
          free_held();
          if (axis_mask < step) break;
        }
      }
}

/* An empty list of axes means all axes. The reduction of a scalar is the scalar. */
static void test_empty_list_of_axes(uint32_t op) {
  uint64_t state = 5;
  for (int64_t s = 0; s < COUNT(shapes) - 2; s++) {
    test_seed = state;
    const vt_view x = fill_any(view_new(F32, shapes[s].rank, shapes[s].dim, TRANSPOSED), &state);
    const run_result r = run_op(op, NULL, &x, 1, DENSE);
    CHECK(r.status == VT_OK && r.out.rank == 0);
    check_reduction(op, &x, (1u << shapes[s].rank) - 1, &r);
    free_held();
  }
}

/* ---- lengths around the lanes and chunks of S ---- */

static const int64_t lengths[] = {0,   1,    2,    7,    8,    9,    15,   16,   17,   31,
                                  32,  33,   63,   64,   65,   255,  256,  257,  511,  513,
                                  992, 1023, 1024, 1025, 1056, 2047, 2048, 2049, 3072, 33797};

static void test_reduction_of_length(uint32_t op, uint32_t dtype, int64_t n, int any_class,
                                     uint64_t *state) {
  const int64_t dim[2] = {n, 2};
  const vt_attr_reduce a = reduce_attrs(1, 0, 0);
  test_seed = *state;
  vt_view x = view_new(dtype, 2, dim, n % 2 ? TRANSPOSED : DENSE);
  x = any_class ? fill_any(x, state) : fill_ordinary(x, state);
  const run_result r = run_op(op, &a, &x, 1, DENSE);
  check_reduction(op, &x, 1, &r);
  free_held();
}

static void test_reductions_of_all_lengths(void) {
  uint64_t state = 1234;
  for (int64_t i = 0; i < COUNT(lengths); i++)
    for (uint32_t dtype = 1; dtype <= 6; dtype++) {
      test_reduction_of_length(VT_OP_sum, dtype, lengths[i], 0, &state);
      if (lengths[i] > 3000) continue;
      test_reduction_of_length(VT_OP_sum, dtype, lengths[i], 1, &state);
      test_reduction_of_length(VT_OP_prod, dtype, lengths[i], 0, &state);
      test_reduction_of_length(VT_OP_prod, dtype, lengths[i], 1, &state);
      if (lengths[i] == 0) continue;
      test_reduction_of_length(VT_OP_max, dtype, lengths[i], 1, &state);
      test_reduction_of_length(VT_OP_min, dtype, lengths[i], 0, &state);
    }
}

/* The axis has more than 1024 chunks, so that the sums of the chunks are summed in chunks too. */
static void test_sum_of_many_chunks(void) {
  const int64_t dim[1] = {1024 * 1024 + 1025};
  uint64_t state = 8;
  test_seed = state;
  const vt_view x = fill_ordinary(view_new(F32, 1, dim, DENSE), &state);
  const run_result r = run_op(VT_OP_sum, NULL, &x, 1, DENSE);
  CHECK(r.status == VT_OK && expect_bits("sum", &r.out, 0, vt_f32_bits(s_f32(x.data, dim[0]))));
  free_held();
}

/* The axis has more than 1024 chunks; the factors are near 1, so that the product stays finite. */
static void test_product_of_many_chunks(void) {
  const int64_t n = 1024 * 1024 + 1025;
  uint64_t state = 9;
  test_seed = state;
  const vt_view x = view_new(F32, 1, &n, DENSE);
  double *p = malloc(1026 * sizeof *p), *part = malloc(1024 * sizeof *part);
  for (int64_t i = 0; i < n; i++)
    ((float *)x.data)[i] = 1.0f + (float)(int64_t)(random_u64(&state) >> 50) * 0x1p-24f - 0x1p-11f;
  for (int64_t c = 0; c < 1026; c++) {
    const int64_t length = c == 1025 ? 1 : 1024;
    for (int64_t i = 0; i < length; i++) part[i] = (double)((float *)x.data)[1024 * c + i];
    p[c] = product_in_order_s(F32, part, length);
  }
  const run_result r = run_op(VT_OP_prod, NULL, &x, 1, DENSE);
  const float want = (float)product_in_order_s(F32, p, 1026);
  CHECK(r.status == VT_OK && expect_bits("prod", &r.out, 0, vt_f32_bits(want)) && want != 1);
  free(p);
  free(part);
  free_held();
}

/* Reducing several axes gives the same bits as reducing one axis that has their elements in
 * row-major order, whatever the layout. */
static void test_axes_reduce_as_one_axis(void) {
  const int64_t dim[3] = {33, 4, 40}, flat[1] = {33 * 4 * 40};
  uint64_t state = 17;
  for (int layout = 0; layout < LAYOUTS; layout++) {
    test_seed = state;
    const vt_view x = fill_ordinary(view_new(F32, 3, dim, layout), &state);
    const vt_view y = view_new(F32, 1, flat, DENSE);
    for (int64_t i = 0; i < flat[0]; i++) put_bits(&y, i, get_bits(&x, i));
    const run_result r = run_op(VT_OP_sum, NULL, &x, 1, DENSE),
                     q = run_op(VT_OP_sum, NULL, &y, 1, DENSE);
    CHECK(r.status == VT_OK && q.status == VT_OK);
    CHECK(get_bits(&r.out, 0) == get_bits(&q.out, 0));
    free_held();
  }
}

/* The sum of zeros of either sign is +0. Integers wrap to their width. */
static void test_zero_and_wrapping_sums(void) {
  const int64_t dim[1] = {3};
  const vt_view zeros = view_new(F32, 1, dim, DENSE), bytes = view_new(VT_DTYPE_I8, 1, dim, DENSE);
  for (int64_t i = 0; i < 3; i++) {
    put_bits(&zeros, i, 0x80000000u);
    put_bits(&bytes, i, 100);
  }
  const run_result r = run_op(VT_OP_sum, NULL, &zeros, 1, DENSE);
  const run_result q = run_op(VT_OP_sum, NULL, &bytes, 1, DENSE);
  CHECK(r.status == VT_OK && get_bits(&r.out, 0) == 0);
  CHECK(q.status == VT_OK && get_bits(&q.out, 0) == 300 % 256);
  free_held();
}

/* ---- argmax and argmin ---- */

static void test_argmax_and_argmin(uint32_t op) {
  uint64_t state = 77;
  for (int64_t s = 1; s < COUNT(shapes); s++)
    for (uint32_t axis = 0; axis < shapes[s].rank; axis++)
      for (uint32_t dtype = 1; dtype <= 6; dtype++) {
        const vt_attr_axis a = {.size = sizeof a, .axis = axis};
        const int layout = (int)(dtype + axis) % LAYOUTS;
        test_seed = state;
        const vt_view x = fill_any(view_new(dtype, shapes[s].rank, shapes[s].dim, layout), &state);
        const run_result r = run_op(op, &a, &x, 1, (layout + 1) % LAYOUTS);
        if (shapes[s].dim[axis] == 0) {
          CHECK(r.status == VT_VERIFY);
        } else {
          CHECK(r.status == VT_OK && r.out.dtype == VT_DTYPE_I64 && r.out.rank == x.rank - 1);
          check_reduction(op, &x, 1u << axis, &r);
        }
        free_held();
      }
}

/* Results written by hand: the first of equal elements counts, a NaN wins, +0 is above -0. */
static void test_arg_reductions_by_hand(void) {
  static const struct {
    float x[4];
    int64_t most, least;
  } rows[] = {{{1, 3, 3, 2}, 1, 0},
              {{0.0f, 0.0f, -0.0f, -0.0f}, 0, 2},
              {{-0.0f, 0.0f, -0.0f, 0.0f}, 1, 0},
              {{1, NAN, INFINITY, NAN}, 1, 1},
              {{1, -INFINITY, 5, NAN}, 3, 3},
              {{-INFINITY, -INFINITY, -INFINITY, -INFINITY}, 0, 0},
              {{0, -1, -2, 0x1p-149f}, 3, 2}};
  const vt_attr_axis a = {.size = sizeof a, .axis = 0};
  const int64_t dim[1] = {4};
  for (int64_t i = 0; i < COUNT(rows); i++) {
    const vt_view x = view_new(F32, 1, dim, DENSE);
    memcpy(x.data, rows[i].x, sizeof rows[i].x);
    const run_result r = run_op(VT_OP_argmax, &a, &x, 1, DENSE);
    CHECK(r.status == VT_OK && (int64_t)get_bits(&r.out, 0) == rows[i].most);
    const run_result q = run_op(VT_OP_argmin, &a, &x, 1, DENSE);
    CHECK(q.status == VT_OK && (int64_t)get_bits(&q.out, 0) == rows[i].least);
    free_held();
  }
}

/* ---- cumsum ---- */

static double rounded_add(uint32_t dtype, double a, double b) {
  return dtype == F32 ? (double)(float)(a + b) : a + b;
}

/* Replaces a line of n elements by its cumulative sums. A sum is carry + (b + a): a is the sum in
 * the current row of 32 elements, b that of the rows before it in its chunk of 1024, carry that of
 * the chunks before. */
static void replace_by_cumulative_sums(uint32_t dtype, uint64_t *line, int64_t n, int exclusive) {
  double a = 0, b = 0, z = 0, carry = 0, last = 0;
  uint64_t integer_sum = 0;
  for (int64_t i = 0; i < n; i++) {
    const double v =
        dtype == F32 ? (double)vt_f32_from_bits((uint32_t)line[i]) : vt_f64_from_bits(line[i]);
    const uint64_t before = integer_sum;
    integer_sum += (uint64_t)integer_of(dtype, line[i]);
    if (i % 1024 == 0) b = 0;
    if (i % 32 == 0) a = 0;
    a = rounded_add(dtype, a, v);
    z = rounded_add(dtype, b, a);
    const double y = rounded_add(dtype, carry, z), result = exclusive ? last : y;
    last = y;
    if (i % 32 == 31) b = z;
    if (i % 1024 == 1023) carry = y;
    line[i] = truncate_bits(dtype, exclusive ? before : integer_sum);
    if (dtype == F32) line[i] = vt_f32_bits((float)result);
    if (dtype == F64) line[i] = vt_f64_bits(result);
  }
}

static void check_cumsum(const vt_view *x, const vt_view *y, const vt_attr_cumsum *a) {
  const int64_t n = x->dim[a->axis], total = count_of_view(x);
  int64_t step = 1;
  uint64_t *line = malloc(((size_t)n + 1) * sizeof *line);
  for (uint32_t i = (uint32_t)a->axis + 1; i < x->rank; i++) step *= x->dim[i];
  for (int64_t from = 0; from < total; from++) {
    if (from / step % n != 0) continue; /* goes on for the first element of each line only */
    for (int64_t i = 0; i < n; i++)
      line[i] = get_bits(x, from + (a->reverse ? n - 1 - i : i) * step);
    replace_by_cumulative_sums(x->dtype, line, n, (int)a->exclusive);
    for (int64_t i = 0; i < n; i++)
      if (!expect_bits("cumsum", y, from + (a->reverse ? n - 1 - i : i) * step, line[i])) break;
  }
  free(line);
}

static void test_cumsum(uint32_t rank, const int64_t *dim, uint64_t *state) {
  for (uint32_t axis = 0; axis < rank; axis++)
    for (uint32_t dtype = 1; dtype <= 6; dtype++)
      for (int mix = 0; mix < 8; mix++) {
        const vt_attr_cumsum a = {
            .size = sizeof a, .axis = axis, .exclusive = mix & 1, .reverse = mix >> 1 & 1};
        const int layout = mix % LAYOUTS;
        test_seed = *state;
        vt_view x = view_new(dtype, rank, dim, layout);
        x = mix < 4 ? fill_any(x, state) : fill_ordinary(x, state);
        const run_result r = run_op(VT_OP_cumsum, &a, &x, 1, (layout + 1) % LAYOUTS);
        CHECK(r.status == VT_OK);
        if (r.status == VT_OK) check_cumsum(&x, &r.out, &a);
        free_held();
      }
}

static void test_cumsums(void) {
  uint64_t state = 31;
  for (int64_t s = 1; s < COUNT(shapes); s++) test_cumsum(shapes[s].rank, shapes[s].dim, &state);
  for (int64_t i = 0; i < COUNT(lengths) - 1; i++) test_cumsum(1, &lengths[i], &state);
}

/* ---- type rules ---- */

static const vt_attr_reduce axes_01 = {.size = sizeof axes_01, .axes = {2, {0, 1}}};
static const vt_attr_reduce axes_1_keep = {.size = sizeof axes_1_keep, .axes = {1, {1}}, .keep = 1};
static const vt_attr_reduce axis_2 = {.size = sizeof axis_2, .axes = {1, {2}}};
static const vt_attr_reduce axis_before = {.size = sizeof axis_before, .axes = {1, {-1}}};
static const vt_attr_reduce axis_twice = {.size = sizeof axis_twice, .axes = {2, {1, 1}}};
static const vt_attr_axis along_0 = {.size = sizeof along_0, .axis = 0};
static const vt_attr_axis along_1 = {.size = sizeof along_1, .axis = 1};
static const vt_attr_cumsum cumsum_0 = {.size = sizeof cumsum_0};
static const vt_attr_cumsum cumsum_1 = {.size = sizeof cumsum_1, .axis = 1};
static const vt_attr_cumsum cumsum_before = {.size = sizeof cumsum_before, .axis = -1};
static const vt_attr_axis along_before = {.size = sizeof along_before, .axis = -1};

static void test_type_rules(void) {
  static const rule_case cases[] = {
      {VT_OP_sum, NULL, "f32[B, 3]", "f32[]"},
      {VT_OP_sum, &axes_01, "i8[B, 3, T]", "i8[T]"},
      {VT_OP_sum, &axes_1_keep, "f64[B, 3, T]", "f64[B, 1, T]"},
      {VT_OP_sum, &axes_1_keep, "f32[2, 0]", "f32[2, 1]"},
      {VT_OP_sum, &axis_2, "f32[2, 3]", "!verify: axis 2 does not exist: the operand has rank 2"},
      {VT_OP_sum, &axis_before, "f32[2, 3]", "!verify: axis -1 does not exist"},
      {VT_OP_sum, &axis_twice, "f32[2, 3]", "!verify: axis 1 is named twice"},
      {VT_OP_sum, &axes_01, "f32[2]", "!verify: axis 1 does not exist: the operand has rank 1"},
      /* accepted, though T may be 0: the rule is checked again when T is bound */
      {VT_OP_max, &axis_2, "f32[2, 3, T]", "f32[2, 3]"},
      {VT_OP_max, &axis_2, "f32[2, 0, 3]", "f32[2, 0]"},
      {VT_OP_max, &axes_01, "f32[2, 0]", "!verify: of nothing: axis 1 of f32[2, 0] is empty"},
      {VT_OP_min, NULL, "f32[0]", "!verify: axis 0 of f32[0] is empty"},
      {VT_OP_min, &axis_twice, "f32[2, 3]", "!verify: axis 1 is named twice"},
      {VT_OP_argmax, &along_1, "f32[B, 3]", "i64[B]"},
      {VT_OP_argmax, &along_0, "u8[B]", "i64[]"},
      {VT_OP_argmax, &along_1, "f32[3]", "!verify: axis 1 does not exist: the operand has rank 1"},
      {VT_OP_argmax, &along_before, "f32[3]", "!verify: axis -1 does not exist"},
      {VT_OP_argmax, &along_0, "f32[0, 3]", "!verify: axis 0 of f32[0, 3] is empty"},
      {VT_OP_argmax, &along_0, "f32[]", "!verify: axis 0 does not exist: the operand has rank 0"},
      {VT_OP_argmin, &along_1, "i8[B, 3]", "i64[B]"},
      {VT_OP_argmin, &along_0, "f32[0, 3]", "!verify: axis 0 of f32[0, 3] is empty"},
      {VT_OP_prod, NULL, "f32[B, 0]", "f32[]"},
      {VT_OP_prod, &axis_2, "f32[2, 3]", "!verify: axis 2 does not exist"},
      {VT_OP_cumsum, &cumsum_1, "u8[B, T]", "u8[B, T]"},
      {VT_OP_cumsum, &cumsum_1, "f32[2, 0]", "f32[2, 0]"},
      {VT_OP_cumsum, &cumsum_1, "f32[2]", "!verify: axis 1 does not exist: the operand has rank 1"},
      {VT_OP_cumsum, &cumsum_before, "f32[2]", "!verify: axis -1 does not exist"},
      {VT_OP_cumsum, NULL, "f32[]", "!verify: does not exist: the operand has rank 0"},
      {VT_OP_mean, &axes_1_keep, "f32[B, 3]", "f32[B, 1]"},
      {VT_OP_mean, &axes_1_keep, "f32[B, 0]", "f32[B, 1]"}, /* accepted: the mean is 0/0, NaN */
      {VT_OP_mean, NULL, "i32[2]", "!verify: operand 1 is i32[2], expected f32 or f64"},
      {VT_OP_softmax, &along_1, "f32[B, T]", "f32[B, T]"},
      {VT_OP_softmax, &along_1, "f32[2, 0]", "!verify: axis 1 of f32[2, 0] is empty"},
      {VT_OP_softmax, &along_1, "f32[0, 2]", "f32[0, 2]"},
      {VT_OP_log_softmax, &along_1, "f32[2]", "!verify: axis 1 does not exist"},
      {VT_OP_log_softmax, &along_0, "f64[2]", "!verify: operand 1 is f64[2], expected f32"},
  };
  CHECK_RULES(cases);
}

static void test_accepted_dtypes(void) {
  check_accepted_dtypes(VT_OP_sum, 1, NULL, NUMBERS);
  check_accepted_dtypes(VT_OP_max, 1, NULL, NUMBERS);
  check_accepted_dtypes(VT_OP_min, 1, NULL, NUMBERS);
  check_accepted_dtypes(VT_OP_argmax, 1, &along_0, NUMBERS);
  check_accepted_dtypes(VT_OP_prod, 1, NULL, NUMBERS);
  check_accepted_dtypes(VT_OP_argmin, 1, &along_0, NUMBERS);
  check_accepted_dtypes(VT_OP_cumsum, 1, &cumsum_0, NUMBERS);
  check_accepted_dtypes(VT_OP_mean, 1, NULL, "f32 f64 ");
  check_accepted_dtypes(VT_OP_softmax, 1, &along_0, "f32 ");
  check_accepted_dtypes(VT_OP_log_softmax, 1, &along_0, "f32 ");
}

int main(void) {
  test_all_sets_of_axes(VT_OP_sum, 101);
  test_all_sets_of_axes(VT_OP_max, 102);
  test_all_sets_of_axes(VT_OP_min, 103);
  test_all_sets_of_axes(VT_OP_prod, 104);
  test_empty_list_of_axes(VT_OP_sum);
  test_empty_list_of_axes(VT_OP_prod);
  test_empty_list_of_axes(VT_OP_max);
  test_reductions_of_all_lengths();
  test_sum_of_many_chunks();
  test_product_of_many_chunks();
  test_axes_reduce_as_one_axis();
  test_zero_and_wrapping_sums();
  test_argmax_and_argmin(VT_OP_argmax);
  test_argmax_and_argmin(VT_OP_argmin);
  test_arg_reductions_by_hand();
  test_cumsums();
  test_type_rules();
  test_accepted_dtypes();
  TEST_DONE();
}
