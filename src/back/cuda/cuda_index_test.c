/* SPDX-License-Identifier: Apache-2.0
 * cuda_index_test.c - gathers, scatters, sorts and random numbers on a GPU have the bits of the
 * reference kernels: short and long lines, positions that many rows go to, and the first index
 * fault. */
#include "layouts_test.h"

static const uint32_t numbers[] = {VT_DTYPE_F32, VT_DTYPE_F64, VT_DTYPE_I8,
                                   VT_DTYPE_U8,  VT_DTYPE_I32, VT_DTYPE_I64};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* Adds an index tensor with random values below `limit`. */
static void add_index(trial *s, uint32_t dtype, uint32_t rank, const int64_t *dim, layout w,
                      int64_t limit) {
  add_operand(s, dtype, rank, dim, w);
  const vt_bk_tensor *t = &s->in[s->n_in - 1];
  for (int64_t i = element_count_of(t); i-- > 0;) store_int(t, i, random_below(limit));
}

/* ---- gathers ---- */

static void test_gather_and_embedding(uint32_t dtype, layout x, layout index, layout out) {
  const vt_attr_gather a = {.size = sizeof a, .axis = 1, .batch = 1};
  trial s = TRIAL(gather, a);
  add_operand(&s, dtype, DIMS(3, 17, 8), x);
  add_index(&s, VT_DTYPE_I32, DIMS(3, 5, 4), index, 17);
  add_results(&s, out);
  run_and_compare(&s, "in batches");
  const vt_attr_gather last = {.size = sizeof last, .axis = 2};
  s = TRIAL(gather, last);
  add_operand(&s, dtype, DIMS(3, 4, 19), x);
  add_index(&s, VT_DTYPE_I64, DIMS(21), DENSE, 19);
  add_results(&s, out);
  run_and_compare(&s, "along the last axis");
}

static void test_gather_nd_and_elements(uint32_t dtype, layout x, layout index, layout out) {
  const vt_attr_gather_nd nd = {.size = sizeof nd, .batch = 1};
  trial s = TRIAL(gather_nd, nd);
  add_operand(&s, dtype, DIMS(2, 6, 7, 16), x);
  add_index(&s, VT_DTYPE_I64, DIMS(2, 30, 2), index, 6);
  add_results(&s, out);
  run_and_compare(&s, "by two coordinates");
  const vt_attr_axis along = {.size = sizeof along, .axis = 0};
  s = TRIAL(gather_elements, along);
  add_operand(&s, dtype, DIMS(9, 12), x);
  add_index(&s, VT_DTYPE_I32, DIMS(14, 12), index, 9);
  add_results(&s, out);
  run_and_compare(&s, "by elements");
  const vt_attr_none none = {.size = sizeof none};
  s = TRIAL(embedding, none);
  add_operand(&s, dtype, DIMS(40, 64), x);
  add_index(&s, VT_DTYPE_I32, DIMS(2, 11), index, 40);
  add_results(&s, out);
  run_and_compare(&s, "rows of a table");
}

/* Checks that the lowest position with an index out of range is reported, with the index. */
static void test_index_faults(void) {
  static const int64_t wrong[] = {7, -1, INT32_MAX, INT32_MIN};
  const vt_attr_gather_nd nd = {.size = sizeof nd};
  const vt_attr_gather along = {.size = sizeof along};
  for (int i = 0; i < 4; i++) {
    trial s = TRIAL(gather_nd, nd);
    add_operand(&s, VT_DTYPE_F32, DIMS(8, 7, 4), DENSE);
    add_index(&s, i % 2 ? VT_DTYPE_I32 : VT_DTYPE_I64, DIMS(600, 2), i < 2 ? DENSE : TRANSPOSED, 7);
    store_int(&s.in[1], 801, wrong[i]);
    store_int(&s.in[1], 1003, -5);
    add_results(&s, DENSE);
    run_and_compare(&s, "out of range");
  }
  trial s = TRIAL(gather, along);
  add_operand(&s, VT_DTYPE_F32, DIMS(0, 4), DENSE);
  add_index(&s, VT_DTYPE_I32, DIMS(3), DENSE, 5);
  add_results(&s, DENSE);
  run_and_compare(&s, "of an empty tensor");
  s = TRIAL(gather, along);
  add_operand(&s, VT_DTYPE_F32, DIMS(3, 0), DENSE);
  add_index(&s, VT_DTYPE_I32, DIMS(3), DENSE, 3);
  store_int(&s.in[1], 2, 3);
  add_results(&s, DENSE);
  run_and_compare(&s, "of empty rows");
}

/* ---- scatters ---- */

/* Scatters `rows` rows. Three quarters of the coordinates are below `crowded_below`, so that
 * several rows go to the same position. */
static void test_scatter(uint32_t op, uint32_t dtype, int64_t rows, int64_t crowded_below,
                         layout w) {
  const vt_attr_gather_nd a = {.size = sizeof a};
  trial s = TRIAL(scatter_nd, a);
  s.op = op;
  add_operand(&s, dtype, DIMS(30, 11, 3), w);
  add_operand(&s, VT_DTYPE_I32, DIMS(rows, 2), w == REPEATED ? DENSE : w);
  for (int64_t i = 0; i < rows; i++) {
    store_int(&s.in[1], 2 * i,
              random_below(4) > 0 ? random_below(crowded_below) : random_below(30));
    store_int(&s.in[1], 2 * i + 1,
              random_below(4) > 0 ? random_below(crowded_below) : random_below(11));
  }
  add_operand(&s, dtype, DIMS(rows, 3), w);
  add_results(&s, w == TRANSPOSED || w == SPREAD ? w : DENSE);
  run_and_compare(&s, "scattered");
}

static void test_scatter_batches_and_fault(uint32_t op) {
  const vt_attr_gather_nd a = {.size = sizeof a, .batch = 1};
  trial s = TRIAL(scatter_nd, a);
  s.op = op;
  add_operand(&s, VT_DTYPE_F32, DIMS(3, 5, 2, 4), DENSE);
  add_index(&s, VT_DTYPE_I64, DIMS(3, 40, 1), TRANSPOSED, 5);
  add_operand(&s, VT_DTYPE_F32, DIMS(3, 40, 2, 4), SPREAD);
  add_results(&s, DENSE);
  run_and_compare(&s, "scattered in batches");
  store_int(&s.in[1], 77, 5);
  run_and_compare(&s, "scattered out of range");
}

static void test_all_scatters(void) {
  static const uint32_t ops[] = {VT_OP_scatter_nd, VT_OP_scatter_nd_add, VT_OP_scatter_nd_max,
                                 VT_OP_scatter_nd_min};
  for (int o = 0; o < 4; o++) {
    for (size_t i = 0; i < NUMBERS; i++)
      test_scatter(ops[o], numbers[i], 90, 4, (layout)((int)i % LAYOUTS));
    test_scatter(ops[o], VT_DTYPE_F32, 2600, 10, DENSE);
    test_scatter_batches_and_fault(ops[o]);
  }
  /* numbers of rows, so that the sum S of a position has one chunk, slightly more than one, or
   * several */
  static const int64_t rows[] = {1, 31, 32, 33, 1024, 1025, 2049, 4100};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_scatter(VT_OP_scatter_nd_add, i % 2 ? VT_DTYPE_F64 : VT_DTYPE_F32, rows[i], 1, DENSE);
    test_scatter(VT_OP_scatter_nd_add, VT_DTYPE_F32, rows[i], 2, DENSE);
  }
}

/* Scatters rows of which most go to a few positions, so that the sums of these positions have many
 * chunks. */
static void test_scatter_of_many_chunks(void) {
  enum { ROWS = 9000 };
  const vt_attr_gather_nd a = {.size = sizeof a};
  trial s = TRIAL(scatter_nd_add, a);
  add_operand(&s, VT_DTYPE_F32, DIMS(70000, 1), DENSE);
  add_operand(&s, VT_DTYPE_I32, DIMS(ROWS, 1), DENSE);
  for (int64_t i = 0; i < ROWS; i++)
    store_int(&s.in[1], i,
              i % 7 == 0  ? random_below(70000)
              : i % 7 < 3 ? 69999
                          : 255 + i % 2 * 256);
  add_operand(&s, VT_DTYPE_F32, DIMS(ROWS, 1), DENSE);
  for (int64_t i = 0; i < ROWS; i++) {
    const float x = 1.0f / (float)(1 + random_below(1000));
    memcpy(element_address(&s.in[2], i), &x, sizeof x);
  }
  add_results(&s, DENSE);
  run_and_compare(&s, "many rows per position");
}

/* ---- sorts ---- */

static void test_sort(uint32_t dtype, int64_t n, int64_t lines, int64_t axis, layout w) {
  const vt_attr_sort a = {.size = sizeof a, .axis = axis, .descending = n % 2};
  for (int o = 0; o < 2; o++) {
    trial s = TRIAL(sort, a);
    s.op = o == 0 ? VT_OP_sort : VT_OP_argsort;
    const int64_t dim[2] = {axis == 0 ? n : lines, axis == 0 ? lines : n};
    add_operand(&s, dtype, 2, dim, w);
    add_results(&s, w == TRANSPOSED || w == SPREAD ? w : DENSE);
    run_and_compare(&s, "sorted");
  }
}

static void test_all_sorts(void) {
  static const int64_t lengths[] = {0, 1, 2, 3, 31, 65, 130};
  for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
    for (size_t i = 0; i < NUMBERS; i++)
      test_sort(numbers[i], lengths[k], 3, (int64_t)(i + k) % 2, (layout)((i + k) % LAYOUTS));
  test_sort(VT_DTYPE_F32, 2048, 1, 1, DENSE);
  test_sort(VT_DTYPE_F32, 2049, 2, 1, DENSE);
  test_sort(VT_DTYPE_F32, 9001, 1, 1, DENSE);
  test_sort(VT_DTYPE_F64, 4500, 2, 0, DENSE);
  test_sort(VT_DTYPE_I64, 4097, 1, 1, SPREAD);
  test_sort(VT_DTYPE_I8, 5000, 3, 1, DENSE);
  /* the digit counts have long rows */
  if (vt_test_is_long()) test_sort(VT_DTYPE_F32, 140000, 1, 1, DENSE);
}

static void test_top_k(uint32_t dtype, int64_t n, int64_t k, int64_t lines) {
  for (int least = 0; least < 2; least++) {
    const vt_attr_top_k a = {.size = sizeof a, .k = k, .axis = 1, .least = least};
    trial s = TRIAL(top_k, a);
    const int64_t dim[2] = {lines, n};
    add_operand(&s, dtype, 2, dim, least ? TRANSPOSED : DENSE);
    add_results(&s, DENSE);
    run_and_compare(&s, "the first records");
  }
}

static void test_top_k_by_heads(void) {
  test_top_k(VT_DTYPE_F32, 50, 7, 4);
  test_top_k(VT_DTYPE_F32, 6000, 5, 3);
  test_top_k(VT_DTYPE_I8, 6000, 300, 2);
  test_top_k(VT_DTYPE_F64, 5000, 512, 2);
  test_top_k(VT_DTYPE_F32, 5000, 513, 1);
  /* the best records are selected from tiles three times */
  test_top_k(VT_DTYPE_F32, vt_test_is_long() ? 40000 : 20000, 500, 1);
}

/* ---- nonzero ---- */

static void test_nonzero(uint32_t dtype, int64_t bound, layout w) {
  const vt_attr_nonzero a = {.size = sizeof a, .bound = bound};
  trial s = TRIAL(nonzero, a);
  add_operand(&s, dtype, DIMS(13, 50, 9), w);
  add_results(&s, bound % 2 ? TRANSPOSED : DENSE);
  s.out[1] = unplaced_tensor_of_layout(s.out[1].dtype, 0, NULL, DENSE);
  place_random_tensor(&s, &s.out[1], DENSE);
  run_and_compare(&s, "not zero");
}

static void test_nonzero_types(void) {
  const vt_attr_nonzero a = {.size = sizeof a, .bound = 3};
  static const uint32_t more[] = {VT_DTYPE_BOOL, VT_DTYPE_F16, VT_DTYPE_BF16};
  for (size_t i = 0; i < NUMBERS + 3; i++)
    test_nonzero(i < NUMBERS ? numbers[i] : more[i - NUMBERS], i % 2 ? 100 : 7001,
                 (layout)((int)i % LAYOUTS));
  trial s = TRIAL(nonzero, a);
  add_operand(&s, VT_DTYPE_F32, DIMS(4, 0), DENSE);
  add_results(&s, DENSE);
  run_and_compare(&s, "nonzero of an empty tensor");
  s = TRIAL(nonzero, a);
  add_operand(&s, VT_DTYPE_F32, 0, NULL, DENSE);
  add_results(&s, DENSE);
  run_and_compare(&s, "one number");
}

/* ---- random numbers ---- */

static void test_random_numbers(uint32_t op, int64_t n, layout w) {
  const vt_attr_random a = {.size = sizeof a, .shape = {.n = 2, .v = {3, n}}, .stream = 0x80000009};
  trial s = TRIAL(random_bits, a);
  s.op = op;
  add_operand(&s, VT_DTYPE_I64, 0, NULL, DENSE);
  add_operand(&s, VT_DTYPE_I64, 0, NULL, DENSE);
  add_results(&s, w);
  run_and_compare(&s, "drawn");
}

int main(void) {
  if (!layouts_device_open()) return 77;
  for (int w = DENSE; w < LAYOUTS; w++) {
    test_gather_and_embedding(w % 2 ? VT_DTYPE_F32 : VT_DTYPE_F16, (layout)w,
                              (layout)((w + 2) % LAYOUTS), DENSE);
    test_gather_nd_and_elements(w % 2 ? VT_DTYPE_U8 : VT_DTYPE_F64, (layout)w,
                                (layout)((w + 1) % LAYOUTS), w == SPREAD ? SPREAD : DENSE);
  }
  test_index_faults();
  test_all_scatters();
  test_scatter_of_many_chunks();
  test_all_sorts();
  test_top_k_by_heads();
  test_nonzero_types();
  for (int64_t n = 1; n < 2000; n += n < 5 ? 1 : 497) {
    test_random_numbers(VT_OP_random_bits, n, n % 2 ? DENSE : TRANSPOSED);
    test_random_numbers(VT_OP_random_uniform, n, n % 2 ? TRANSPOSED : DENSE);
    test_random_numbers(VT_OP_random_normal, n, n % 2 ? DENSE : SPREAD);
  }
  layouts_device_close();
  TEST_DONE();
}
