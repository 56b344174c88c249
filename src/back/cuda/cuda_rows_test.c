/* SPDX-License-Identifier: Apache-2.0
 * cuda_rows_test.c - softmax, norms and variances on a card: rows of many lengths, so that every
 * kernel variant is used, and many layouts. Far rows are those of far_rows_test.h, whose elements
 * are far apart. Needs a driver: a GPU's, or the emulated one of tests/fake_cuda. */
#include <stdlib.h>
#include "far_rows_test.h"
#include "card_step_test.h"

static card_layout result_layout(card_layout layout) {
  return layout == CARD_REPEATED ? CARD_DENSE : layout;
}

/* ---- softmax, log_softmax, logsumexp ---- */

/* Returns how many of n rows to test: in the short test a tenth, which is enough for the few
 * multiprocessors of the emulated GPU. */
static int64_t scaled_row_count(int64_t n) { return vt_test_is_long() ? n : (n + 9) / 10; }

static const uint32_t softs[] = {VT_OP_softmax, VT_OP_log_softmax, VT_OP_logsumexp};

static void test_one_softmax(uint32_t op, const int64_t *dim, int64_t axis, card_layout layout,
                             void (*change_input)(float *x)) {
  const vt_attr_axis a = {.size = sizeof a, .axis = axis};
  const vt_attr_reduce over = {.size = sizeof over, .axes = {1, {axis}}};
  const int one = op == VT_OP_logsumexp;
  card_step s = {.op = op, .attrs = &a, .attrs_size = sizeof a, .n_in = 1, .n_out = 1};
  if (one) {
    s.attrs = &over;
    s.attrs_size = sizeof over;
  }
  s.seed = (uint64_t)(dim[0] * 3 + axis);
  s.special = layout == CARD_TRANSPOSED;
  s.in[0] = card_place_tensor(&s, card_describe_tensor(VT_DTYPE_F32, 2, dim, layout));
  if (change_input != NULL) change_input((float *)(card_arena + s.in[0].offset));
  s.out[0] = card_place_tensor(
      &s, one ? card_describe_tensor(VT_DTYPE_F32, 1, &dim[1 - axis], CARD_DENSE)
              : card_describe_tensor(VT_DTYPE_F32, 2, dim, result_layout(layout)));
  card_run_and_compare(&s);
}

static void test_softmax(void) {
  static const int64_t dims[][2] = {{3, 1},     {5, 7},     {1100, 3}, {40, 33},  {6, 257},
                                    {5, 513},   {6, 1000},  {3, 1025}, {2, 2048}, {2, 3000},
                                    {1500, 40}, {1024, 65}, {1, 100}};
  for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
    for (size_t k = 0; k < 3; k++)
      for (int layout = 0; layout < CARD_LAYOUTS; layout++)
        for (int64_t axis = 0; axis < 2; axis++)
          test_one_softmax(softs[k], dims[i], axis, (card_layout)layout, NULL);
}

/* The tests of long rows have rows too long for a block's registers, more and fewer of them than
 * multiprocessors, and rows too long for one multiprocessor's shared memory. */
static void fill_with_negatives(float *x) {
  uint64_t seed = 5;
  for (int i = 0; i < 40 * 8200; i++)
    x[i] = -1.0f - (float)(card_random_word(&seed) % 1000) / 100.0f;
}
static void test_softmax_of_long_rows(void) {
  for (size_t k = 0; k < 2; k++) {
    test_one_softmax(softs[k], (int64_t[]){40, 8200}, 1, CARD_DENSE, fill_with_negatives);
    test_one_softmax(softs[k], (int64_t[]){scaled_row_count(40), 8200}, 1, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){scaled_row_count(140), 8200}, 1, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){2, 20000}, 1, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){scaled_row_count(3), 200000}, 1, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){1, 300000}, 1, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){scaled_row_count(33), 57000}, 1, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){scaled_row_count(135), 27001}, 1, CARD_DENSE, NULL);
  }
}

/* Tests interleaved lines: several per thread block, and several blocks per line. */
static void test_softmax_of_columns(void) {
  for (size_t k = 0; k < 3; k++) {
    test_one_softmax(softs[k], (int64_t[]){2, 1500}, 0, CARD_DENSE, NULL);
    /* enough lines for some teams of thread blocks to process several bundles */
    test_one_softmax(softs[k], (int64_t[]){17, 17000}, 0, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){128, 70}, 0, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){129, 70}, 0, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){300, 700}, 0, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){5000, 37}, 0, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){30000, 4}, 0, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){3, 9000}, 1, CARD_TRANSPOSED, NULL);
    test_one_softmax(softs[k], (int64_t[]){3, 9000}, 1, CARD_BACK, NULL);
    if (!vt_test_is_long()) continue;
    test_one_softmax(softs[k], (int64_t[]){200000, 3}, 0, CARD_DENSE, NULL);
    test_one_softmax(softs[k], (int64_t[]){9000, 500}, 0, CARD_DENSE, NULL);
  }
}

static int far_n;
static void fill_far_rows(float *x) { write_far_rows(x, far_n); }
static void fill_far_columns(float *x) {
  float *lines = malloc(sizeof(float) * FAR_ROWS * (size_t)far_n);
  if (lines == NULL) exit(2);
  write_far_rows(lines, far_n);
  for (int i = 0; i < FAR_ROWS * far_n; i++) x[i % far_n * FAR_ROWS + i / far_n] = lines[i];
  free(lines);
}
static void test_softmax_of_far_elements(void) {
  static const int64_t lengths[] = {10, 100, 1000, 3000, 8200, 27001};
  const size_t n = sizeof lengths / sizeof *lengths;
  for (size_t i = 0; i < (vt_test_is_long() ? n : n - 1); i++)
    for (size_t k = 0; k < 3; k++) {
      far_n = (int)lengths[i];
      test_one_softmax(softs[k], (int64_t[]){FAR_ROWS, lengths[i]}, 1, CARD_DENSE, fill_far_rows);
      if (lengths[i] <= 3000 || vt_test_is_long())
        test_one_softmax(softs[k], (int64_t[]){lengths[i], FAR_ROWS}, 0, CARD_DENSE,
                         fill_far_columns);
    }
}

/* ---- norms ---- */

typedef struct norm {
  uint32_t op, rank;
  int64_t dim[4];
  uint32_t affine; /* number of operands after x; rank: that of gamma and beta */
  uint32_t affine_rank;
  int64_t groups;
} norm;

static int minus_zeros; /* 1 if tests should fill x with -0 */

static void test_one_norm(const norm *n, uint32_t dtype, card_layout layout) {
  const vt_attr_norm a = {.size = sizeof a, .eps = 1e-5};
  const vt_attr_groups g = {.size = sizeof g, .groups = n->groups, .eps = 1e-3};
  const vt_attr_batch_norm b = {.size = sizeof b, .eps = 1e-5, .momentum = 0.1};
  const int channels = n->op != VT_OP_layer_norm && n->op != VT_OP_rms_norm;
  card_step s = {.op = n->op, .attrs = &a, .attrs_size = sizeof a, .n_in = 1 + n->affine};
  s.n_out = n->op == VT_OP_batch_norm ? 3 : 1;
  s.seed = n->op + dtype;
  s.special = layout == CARD_STEPPED;
  if (n->op == VT_OP_group_norm) {
    s.attrs = &g;
    s.attrs_size = sizeof g;
  }
  if (n->op == VT_OP_batch_norm) {
    s.attrs = &b;
    s.attrs_size = sizeof b;
  }
  s.in[0] = card_place_tensor(&s, card_describe_tensor(dtype, n->rank, n->dim, layout));
  for (int64_t i = 0; minus_zeros && i < n->dim[0] * n->dim[1]; i++)
    memcpy(card_arena + s.in[0].offset + i * (int64_t)vt_cuda_bytes_of(dtype),
           dtype == VT_DTYPE_F64 ? (const void *)&(double){-0.0} : (const void *)&(float){-0.0f},
           vt_cuda_bytes_of(dtype));
  s.out[0] =
      card_place_tensor(&s, card_describe_tensor(dtype, n->rank, n->dim, result_layout(layout)));
  for (uint32_t i = 1; i < s.n_in; i++)
    s.in[i] = card_place_tensor(
        &s,
        card_describe_tensor(dtype, channels ? 1 : n->affine_rank,
                             channels ? &n->dim[1] : &n->dim[n->rank - n->affine_rank], layout));
  for (uint32_t i = 1; i < s.n_out; i++)
    s.out[i] = card_place_tensor(
        &s, card_describe_tensor(dtype, 1, &n->dim[1], i == 1 ? CARD_DENSE : CARD_STEPPED));
  card_run_and_compare(&s);
}

static void test_norms(void) {
  static const norm norms[] = {{VT_OP_layer_norm, 2, {37, 96}, 2, 1, 0},
                               {VT_OP_layer_norm, 2, {3, 2500}, 1, 1, 0},
                               {VT_OP_layer_norm, 2, {3, 500}, 2, 1, 0},
                               {VT_OP_layer_norm, 2, {3, 768}, 2, 1, 0},
                               {VT_OP_layer_norm, 2, {5, 1000}, 2, 1, 0},
                               {VT_OP_layer_norm, 2, {5, 2048}, 2, 1, 0},
                               {VT_OP_layer_norm, 3, {4, 6, 50}, 2, 2, 0},
                               {VT_OP_layer_norm, 1, {33}, 0, 0, 0},
                               {VT_OP_layer_norm, 2, {5, 0}, 0, 0, 0},
                               {VT_OP_rms_norm, 3, {4, 9, 65}, 1, 1, 0},
                               {VT_OP_rms_norm, 2, {2, 1500}, 0, 0, 0},
                               {VT_OP_group_norm, 4, {2, 6, 5, 7}, 2, 1, 3},
                               {VT_OP_group_norm, 2, {3, 12}, 2, 1, 4},
                               {VT_OP_group_norm, 3, {2, 4, 700}, 1, 1, 2},
                               {VT_OP_group_norm, 3, {2, 4, 0}, 0, 1, 2},
                               {VT_OP_instance_norm, 3, {2, 5, 40}, 2, 1, 0},
                               {VT_OP_instance_norm, 4, {3, 2, 9, 1}, 0, 1, 0},
                               {VT_OP_batch_norm, 4, {3, 5, 6, 7}, 4, 1, 0},
                               {VT_OP_batch_norm, 2, {30, 9}, 4, 1, 0},
                               {VT_OP_batch_norm, 2, {0, 9}, 4, 1, 0}};
  for (size_t i = 0; i < sizeof norms / sizeof *norms; i++)
    for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_F64; dtype++)
      for (int layout = 0; layout < CARD_LAYOUTS; layout++)
        test_one_norm(&norms[i], dtype, (card_layout)layout);
}

static void test_norms_of_long_rows(void) {
  static const norm norms[] = {
      {VT_OP_layer_norm, 2, {40, 8200}, 2, 1, 0},  {VT_OP_layer_norm, 2, {33, 57000}, 1, 1, 0},
      {VT_OP_rms_norm, 2, {3, 40000}, 1, 1, 0},    {VT_OP_layer_norm, 2, {135, 27001}, 2, 1, 0},
      {VT_OP_rms_norm, 2, {34, 9000}, 1, 1, 0},    {VT_OP_group_norm, 3, {20, 4, 5000}, 2, 1, 2},
      {VT_OP_layer_norm, 2, {3, 200000}, 2, 1, 0}, {VT_OP_rms_norm, 2, {135, 27001}, 1, 1, 0},
      {VT_OP_rms_norm, 2, {140, 8200}, 0, 0, 0},   {VT_OP_group_norm, 3, {1, 4, 20000}, 2, 1, 2},
      {VT_OP_rms_norm, 2, {1, 300000}, 0, 0, 0}};
  for (size_t i = 0; i < sizeof norms / sizeof *norms; i++) {
    norm n = norms[i];
    n.dim[0] = scaled_row_count(n.dim[0]);
    test_one_norm(&n, VT_DTYPE_F32, CARD_DENSE);
  }
}

/* Tests rows of -0. Sums begin with +0, so the mean u is +0, and x - u is -0. */
static void test_norms_of_minus_zeros(void) {
  static const norm norms[] = {{VT_OP_layer_norm, 2, {3, 16}, 0, 0, 0},
                               {VT_OP_layer_norm, 2, {3, 32}, 0, 0, 0},
                               {VT_OP_batch_norm, 2, {64, 3}, 4, 1, 0},
                               {VT_OP_batch_norm, 2, {1024, 3}, 4, 1, 0}};
  minus_zeros = 1;
  for (size_t i = 0; i < sizeof norms / sizeof *norms; i++)
    for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_F64; dtype++)
      test_one_norm(&norms[i], dtype, CARD_DENSE);
  minus_zeros = 0;
}

/* Tests norms of f64 and of tensors with gaps. */
static void test_norms_of_f64_and_gaps(void) {
  static const norm norms[] = {{VT_OP_layer_norm, 2, {300, 600}, 2, 1, 0},
                               {VT_OP_layer_norm, 2, {40, 5000}, 1, 1, 0},
                               {VT_OP_rms_norm, 2, {5, 30000}, 1, 1, 0},
                               {VT_OP_layer_norm, 2, {1, 200000}, 2, 1, 0},
                               {VT_OP_group_norm, 3, {3, 4, 3000}, 2, 1, 2},
                               {VT_OP_batch_norm, 3, {20, 3, 700}, 4, 1, 0},
                               {VT_OP_batch_norm, 2, {2100, 70}, 4, 1, 0},
                               {VT_OP_instance_norm, 3, {2, 9, 1100}, 2, 1, 0}};
  for (size_t i = 0; i < sizeof norms / sizeof *norms; i++)
    for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_F64; dtype++)
      for (int layout = CARD_DENSE; layout <= CARD_BACK; layout++)
        if (vt_test_is_long() || ((int)i + layout) % 2 == 0)
          test_one_norm(&norms[i], dtype, (card_layout)layout);
}

static void test_one_variance(const int64_t *dim, int64_t correction, uint32_t dtype,
                              card_layout layout) {
  const vt_attr_var a = {.size = sizeof a, .axes = {2, {0, 2}}, .correction = correction};
  card_step s = {.op = layout % 2 ? VT_OP_std : VT_OP_var,
                 .attrs = &a,
                 .attrs_size = sizeof a,
                 .n_in = 1,
                 .n_out = 1,
                 .seed = 3,
                 .special = layout == CARD_STEPPED};
  s.in[0] = card_place_tensor(&s, card_describe_tensor(dtype, 3, dim, layout));
  s.out[0] = card_place_tensor(&s, card_describe_tensor(dtype, 1, &dim[1], CARD_STEPPED));
  card_run_and_compare(&s);
}

static void test_variance(void) {
  for (int64_t correction = 0; correction < 3; correction++)
    for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_F64; dtype++)
      for (int layout = 0; layout < CARD_LAYOUTS; layout++) {
        test_one_variance((int64_t[]){correction == 2 ? 1 : 7, 11, 200}, correction, dtype,
                          (card_layout)layout);
        test_one_variance((int64_t[]){2, 300, 9}, correction, dtype, (card_layout)layout);
        if (correction == 1)
          test_one_variance((int64_t[]){3, 2, 10000}, correction, dtype, (card_layout)layout);
      }
}

/* Tests lines too long for shared memory, which are reduced in several launches. The lengths of the
 * long test are for a GPU, those of the short test for the emulated GPU with its few
 * multiprocessors. */
static void test_lines_beyond_shared_memory(void) {
  const int64_t n = vt_test_is_long() ? 1100000 : 240000, m = vt_test_is_long() ? n : 120000;
  const norm layer = {VT_OP_layer_norm, 2, {1, n}, 2, 1, 0};
  const norm layer_wide = {VT_OP_layer_norm, 2, {1, m}, 2, 1, 0};
  const norm batch = {VT_OP_batch_norm, 3, {2, 1, n / 2}, 4, 1, 0};
  test_one_norm(&layer, VT_DTYPE_F32, CARD_BACK);
  test_one_norm(&layer_wide, VT_DTYPE_F64, CARD_DENSE);
  test_one_norm(&batch, VT_DTYPE_F32, CARD_DENSE);
  for (size_t k = 0; k < 3; k++) test_one_softmax(softs[k], (int64_t[]){n, 2}, 0, CARD_DENSE, NULL);
  test_one_variance((int64_t[]){1, 2, n}, 1, VT_DTYPE_F32, CARD_DENSE);
  test_one_variance((int64_t[]){1, 2, m}, 1, VT_DTYPE_F64, CARD_BACK);
}

int main(void) {
  if (!card_open()) return 77;
  test_softmax();
  test_softmax_of_long_rows();
  test_softmax_of_columns();
  test_softmax_of_far_elements();
  test_norms();
  test_norms_of_minus_zeros();
  test_norms_of_long_rows();
  test_norms_of_f64_and_gaps();
  test_variance();
  test_lines_beyond_shared_memory();
  card_close();
  TEST_DONE();
}
