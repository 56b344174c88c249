/* SPDX-License-Identifier: Apache-2.0
 * cpu_rows_test.c - softmax, norms, var and std: rows of many lengths and layouts. */
#include "far_rows_test.h"
#include "reduced_test.h"

static reduced_layout layout_of_result(reduced_layout layout) {
  return layout == REDUCED_REPEATED ? REDUCED_DENSE : layout;
}

/* ---- softmax, log_softmax, logsumexp ---- */

static void check_softmax(uint32_t op, const int64_t *dim, int64_t axis, reduced_layout layout,
                          int special) {
  const vt_attr_axis a = {.size = sizeof a, .axis = axis};
  const vt_attr_reduce over = {.size = sizeof over, .axes = {1, {axis}}};
  reduced_step s = {.op = op, .attrs = &a, .n_in = 1, .n_out = 1};
  uint64_t seed = (uint64_t)(dim[0] * 3 + axis);
  s.in[0] = reduced_alloc_view(VT_DTYPE_F32, 2, dim, layout);
  if (op == VT_OP_logsumexp) {
    s.attrs = &over;
    s.out[0] = reduced_alloc_view(VT_DTYPE_F32, 1, &dim[1 - axis], REDUCED_DENSE);
  } else {
    s.out[0] = reduced_alloc_view(VT_DTYPE_F32, 2, dim, layout_of_result(layout));
  }
  reduced_fill_random(&s.in[0], &seed, special);
  reduced_check_step_on_teams(&s);
}

static void test_softmax(void) {
  static const int64_t dims[][2] = {{3, 1},    {5, 7},    {40, 33},  {3, 1025},
                                    {300, 64}, {20, 257}, {2, 3000}, {17, 16}};
  static const uint32_t ops[] = {VT_OP_softmax, VT_OP_log_softmax, VT_OP_logsumexp};
  for (size_t i = 0; i < sizeof dims / sizeof *dims; i++)
    for (size_t k = 0; k < 3; k++)
      for (int layout = 0; layout < REDUCED_LAYOUTS; layout++)
        for (int64_t axis = 0; axis < 2; axis++)
          check_softmax(ops[k], dims[i], axis, (reduced_layout)layout, layout == 1);
  check_softmax(VT_OP_softmax, (int64_t[]){1, 1024 * 1024 + 3000}, 1, REDUCED_DENSE, 0);
}

static void test_softmax_of_far_values(void) {
  enum { N = 100 };
  for (size_t k = 0; k < 3; k++) {
    static const uint32_t ops[] = {VT_OP_softmax, VT_OP_log_softmax, VT_OP_logsumexp};
    const vt_attr_axis a = {.size = sizeof a, .axis = 1};
    const vt_attr_reduce over = {.size = sizeof over, .axes = {1, {1}}};
    reduced_step s = {
        .op = ops[k], .attrs = k < 2 ? (const void *)&a : &over, .n_in = 1, .n_out = 1};
    s.in[0] = reduced_alloc_view(VT_DTYPE_F32, 2, (int64_t[]){FAR_ROWS, N}, REDUCED_DENSE);
    s.out[0] =
        reduced_alloc_view(VT_DTYPE_F32, k < 2 ? 2 : 1, (int64_t[]){FAR_ROWS, N}, REDUCED_DENSE);
    write_far_rows(s.in[0].data, N);
    reduced_check_step_on_teams(&s);
  }
}

/* ---- norms ---- */

typedef struct norm {
  uint32_t op, rank;
  int64_t dim[4];
  uint32_t affine; /* how many of gamma, beta and the statistics the op has; rank of each */
  uint32_t affine_rank;
  int64_t groups;
} norm;

static void check_norm(const norm *n, uint32_t dtype, reduced_layout layout) {
  const vt_attr_norm a = {.size = sizeof a, .eps = 1e-5};
  const vt_attr_groups g = {.size = sizeof g, .groups = n->groups, .eps = 1e-3};
  const vt_attr_batch_norm b = {.size = sizeof b, .eps = 1e-5, .momentum = 0.1};
  const int channels = n->op != VT_OP_layer_norm && n->op != VT_OP_rms_norm;
  reduced_step s = {.op = n->op, .attrs = &a, .n_in = 1 + n->affine, .n_out = 1};
  uint64_t seed = n->op + dtype;
  if (n->op == VT_OP_group_norm) s.attrs = &g;
  s.in[0] = reduced_alloc_view(dtype, n->rank, n->dim, layout);
  s.out[0] = reduced_alloc_view(dtype, n->rank, n->dim, layout_of_result(layout));
  for (uint32_t i = 1; i < s.n_in; i++)
    s.in[i] = reduced_alloc_view(dtype, channels ? 1 : n->affine_rank,
                                 channels ? &n->dim[1] : &n->dim[n->rank - n->affine_rank], layout);
  if (n->op == VT_OP_batch_norm) {
    s.attrs = &b;
    s.n_out = 3;
    s.out[1] = reduced_alloc_view(dtype, 1, &n->dim[1], REDUCED_DENSE);
    s.out[2] = reduced_alloc_view(dtype, 1, &n->dim[1], REDUCED_STRIDED);
  }
  for (uint32_t i = 0; i < s.n_in; i++) reduced_fill_random(&s.in[i], &seed, 0);
  reduced_check_step_on_teams(&s);
}

static void test_norms(void) {
  static const norm norms[] = {{VT_OP_layer_norm, 2, {37, 96}, 2, 1, 0},
                               {VT_OP_layer_norm, 2, {3, 2500}, 1, 1, 0},
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
      for (int layout = 0; layout < REDUCED_LAYOUTS; layout++)
        check_norm(&norms[i], dtype, (reduced_layout)layout);
}

static void test_variance(void) {
  for (int64_t correction = 0; correction < 3; correction++)
    for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_F64; dtype++)
      for (int layout = 0; layout < REDUCED_LAYOUTS; layout++) {
        const vt_attr_var a = {.size = sizeof a, .axes = {2, {0, 2}}, .correction = correction};
        const int64_t dim[3] = {7, 11, 200}, one = correction == 2 ? 1 : 7;
        reduced_step s = {
            .op = layout % 2 ? VT_OP_std : VT_OP_var, .attrs = &a, .n_in = 1, .n_out = 1};
        uint64_t seed = 3;
        s.in[0] =
            reduced_alloc_view(dtype, 3, (int64_t[]){one, dim[1], dim[2]}, (reduced_layout)layout);
        s.out[0] = reduced_alloc_view(dtype, 1, &dim[1], REDUCED_STRIDED);
        reduced_fill_random(&s.in[0], &seed, 0);
        reduced_check_step_on_teams(&s);
      }
}

int main(void) {
  reduced_open_teams();
  test_softmax();
  test_softmax_of_far_values();
  test_norms();
  test_variance();
  reduced_close_teams();
  TEST_DONE();
}
