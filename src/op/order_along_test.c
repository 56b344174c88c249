/* SPDX-License-Identifier: Apache-2.0
 * order_along_test.c - tests sort, argsort and top_k. The position of an element is the number of
 * elements before it, counted one by one. NaN is the greatest value, -0 is below +0, and equal
 * elements keep their order. A line is the elements along the sorted axis that differ only in
 * their index on it. */
#include "move_test.h"

static int comes_before(const vt_view *x, int64_t p, int64_t q, int descending) {
  const uint64_t a = get_bits(x, p), b = get_bits(x, q);
  if (x->dtype == F32)
    return descending ? comes_above((double)get_f32(x, p), (double)get_f32(x, q))
                      : comes_above((double)get_f32(x, q), (double)get_f32(x, p));
  if (x->dtype == F64)
    return descending ? comes_above(get_f64(x, p), get_f64(x, q))
                      : comes_above(get_f64(x, q), get_f64(x, p));
  return descending ? integer_of(x->dtype, a) > integer_of(x->dtype, b)
                    : integer_of(x->dtype, a) < integer_of(x->dtype, b);
}

/* The row-major index of the element at position `position` of the line along `axis` that element i
 * belongs to. */
static int64_t index_in_line(const vt_view *x, int64_t i, uint32_t axis, int64_t position) {
  index at = coordinates_of(x, i);
  at.at[axis] = position;
  return row_major_index(x, at.at);
}

/* The position of element i in its line after sorting. */
static int64_t sorted_position_in_line(const vt_view *x, int64_t i, uint32_t axis, int descending) {
  const int64_t own = coordinates_of(x, i).at[axis];
  int64_t position = 0;
  for (int64_t j = 0; j < x->dim[axis]; j++) {
    const int64_t other = index_in_line(x, i, axis, j);
    position += comes_before(x, other, i, descending) ||
                (j < own && !comes_before(x, i, other, descending));
  }
  return position;
}

static void check_sorted_position(const vt_view *x, int64_t i, uint32_t axis, int descending,
                                  const vt_view *values, const vt_view *indices) {
  const int64_t position = sorted_position_in_line(x, i, axis, descending);
  index to = coordinates_of(x, i);
  if (position >= indices->dim[axis]) return;
  const int64_t own = to.at[axis];
  to.at[axis] = position;
  CHECK((int64_t)bits_at_index(indices, to.at) == own);
  if (values != NULL) check_copied("sort", values, row_major_index(values, to.at), get_bits(x, i));
}

static void check_sort_argsort_top_k(const vt_view *x, uint32_t axis, int descending, int64_t k,
                                     int layout) {
  const vt_attr_sort a = {.size = sizeof a, .axis = axis, .descending = descending};
  const vt_attr_top_k t = {.size = sizeof t, .k = k, .axis = axis, .least = !descending};
  const run_results sort = run_op_with_results(VT_OP_sort, &a, x, 1, layout);
  const run_results top = run_op_with_results(VT_OP_top_k, &t, x, 1, layout);
  const run_result arg = run_op(VT_OP_argsort, &a, x, 1, layout);
  CHECK(sort.status == VT_OK && sort.n == 2 && arg.status == VT_OK);
  CHECK(top.status == VT_OK && top.n == 2 && top.out[0].dim[axis] == k);
  for (int64_t i = 0; i < count_of_view(x); i++) {
    check_sorted_position(x, i, axis, descending, &sort.out[0], &sort.out[1]);
    check_sorted_position(x, i, axis, descending, &top.out[0], &top.out[1]);
    check_sorted_position(x, i, axis, descending, NULL, &arg.out);
  }
}

static const struct {
  uint32_t rank, axis;
  int64_t dim[8];
} lines[] = {{1, 0, {1}},    {1, 0, {2}},    {1, 0, {7}},    {1, 0, {33}},
             {1, 0, {0}},    {2, 0, {5, 3}}, {2, 1, {5, 3}}, {3, 1, {2, 16, 3}},
             {2, 1, {0, 3}}, {2, 1, {3, 0}}, {1, 0, {257}},  {8, 7, {1, 2, 1, 2, 1, 2, 1, 5}}};

/* Makes most elements equal to one of the first three. */
static void make_ties(const vt_view *x, uint64_t *state) {
  for (int64_t i = 0; i < count_of_view(x); i++)
    if (random_u64(state) >> 62 != 0) put_bits(x, i, get_bits(x, i % 3));
}

static void test_random_views(void) {
  uint64_t state = 31;
  for (int64_t s = 0; s < COUNT(lines); s++)
    for (uint32_t dtype = 1; dtype <= I64; dtype++)
      for (int n = 0; n < 8; n++) {
        const int64_t length = lines[s].dim[lines[s].axis];
        const vt_view x = random_view(dtype, lines[s].rank, lines[s].dim, n % LAYOUTS, &state);
        if (n >= 4) make_ties(&x, &state);
        check_sort_argsort_top_k(&x, lines[s].axis, n % 2, n == 3 ? length : length / (n + 1),
                                 (n + 1) % LAYOUTS);
        free_held();
      }
}

static void test_order_of_special_values(void) {
  static const float given[8] = {1.0f, NAN, -0.0f, INFINITY, 0.0f, -INFINITY, 1.0f, -1.0f};
  static const int64_t up[8] = {5, 7, 2, 4, 0, 6, 3, 1}, down[8] = {1, 3, 0, 6, 4, 2, 7, 5};
  static const int64_t dim[1] = {8};
  const vt_view x = view_new(F32, 1, dim, GAPS);
  for (int64_t i = 0; i < 8; i++) put_bits(&x, i, vt_f32_bits(given[i]));
  for (int descending = 0; descending < 2; descending++) {
    const vt_attr_sort a = {.size = sizeof a, .descending = descending};
    const run_results r = run_op_with_results(VT_OP_sort, &a, &x, 1, DENSE);
    CHECK(r.status == VT_OK);
    for (int64_t i = 0; i < 8; i++)
      CHECK((int64_t)get_bits(&r.out[1], i) == (descending ? down : up)[i]);
  }
  free_held();
}

static void test_type_rules(void) {
  const int64_t b = INT64_MIN;
  const vt_attr_sort axis_0 = {.size = sizeof axis_0}, last = {.size = sizeof last, .axis = -1};
  const vt_attr_sort axis_1 = {.size = sizeof axis_1, .axis = 1};
  const vt_attr_top_k three = {.size = sizeof three, .k = 3},
                      minus = {.size = sizeof minus, .k = -1};
  const vt_attr_top_k some_b = {.size = sizeof some_b, .k = b};
  const vt_attr_top_k far = {.size = sizeof far, .k = INT64_MAX},
                      off = {.size = sizeof off, .k = 1, .axis = 1};
  const rule_case cases[] = {
      {VT_OP_sort, &axis_0, "f32[B, 3]", "f32[B, 3]"},
      {VT_OP_argsort, &axis_1, "f32[B, 3]", "i64[B, 3]"},
      {VT_OP_sort, &axis_1, "f32[B]", "!verify: axis 1 does not exist in f32[B]"},
      {VT_OP_argsort, &last, "f32[B]", "!verify: axis -1 does not exist"},
      {VT_OP_sort, &axis_0, "f32[]", "!verify: axis 0 does not exist in f32[]"},
      {VT_OP_top_k, &three, "u8[4, B]", "u8[3, B]"},
      {VT_OP_top_k, &three, "u8[T, B]", "u8[3, B]"},
      {VT_OP_top_k, &some_b, "u8[T]", "u8[B]"},
      {VT_OP_top_k, &three, "u8[2]", "!verify: k=3 of axis 0 of u8[2]"},
      {VT_OP_top_k, &minus, "u8[T]", "!verify: k=-1 of axis 0 of u8[T]"},
      {VT_OP_top_k, &far, "u8[T]", "!verify: k=9223372036854775807 of"},
      {VT_OP_top_k, &off, "u8[2]", "!verify: axis 1 does not exist in u8[2]"},
  };
  CHECK_RULES(cases);
  check_accepted_dtypes(VT_OP_sort, 1, &axis_0, "f32 f64 i8 u8 i32 i64 ");
  check_accepted_dtypes(VT_OP_argsort, 1, &axis_0, "f32 f64 i8 u8 i32 i64 ");
}

int main(void) {
  test_random_views();
  test_order_of_special_values();
  test_type_rules();
  TEST_DONE();
}
