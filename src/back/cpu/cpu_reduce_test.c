/* SPDX-License-Identifier: Apache-2.0
 * cpu_reduce_test.c - reductions and running sums: every type, many layouts, lengths around the
 * chunks of S. */
#include "reduced_test.h"

typedef struct shape {
  uint32_t rank;
  int64_t dim[VT_MAX_RANK];
  unsigned reduced; /* bit mask of the reduced axes */
} shape;

static const shape shapes[] = {
    {0, {0}, 0},
    {1, {1}, 1},
    {1, {31}, 1},
    {1, {1025}, 1},
    {2, {9, 7}, 2},
    {2, {7, 131}, 1},
    {2, {65, 5}, 1},
    {2, {3, 2049}, 2},
    {2, {2050, 3}, 1},
    {3, {5, 9, 70}, 5},
    {3, {4, 33, 129}, 2},
    {3, {12, 5, 40}, 3},
    {8, {2, 3, 1, 2, 2, 3, 2, 5}, 0x4a},
    {8, {2, 3, 1, 2, 2, 3, 2, 5}, 0xff},
};

static const shape empty[] = {
    {2, {0, 5}, 1}, {2, {5, 0}, 2}, {2, {5, 0}, 1}, {3, {4, 0, 3}, 6}, {1, {0}, 1},
};

static int is_arg_reduction(uint32_t op) { return op == VT_OP_argmax || op == VT_OP_argmin; }

static vt_attr_reduce reduce_attributes(const shape *s, int keep) {
  vt_attr_reduce a = {.size = sizeof a, .keep = keep};
  for (uint32_t i = 0; i < s->rank; i++)
    if (s->reduced >> i & 1) a.axes.v[a.axes.n++] = i;
  return a;
}

static void check_reduction(uint32_t op, uint32_t dtype, const shape *s, reduced_layout layout,
                            int special) {
  const int keep = op != VT_OP_argmax && op != VT_OP_argmin && layout == REDUCED_TRANSPOSED;
  const vt_attr_reduce a = reduce_attributes(s, keep);
  const vt_attr_axis axis = {.size = sizeof axis, .axis = a.axes.n > 0 ? a.axes.v[0] : 0};
  reduced_step step = {
      .op = op, .attrs = is_arg_reduction(op) ? (const void *)&axis : &a, .n_in = 1, .n_out = 1};
  int64_t dim[VT_MAX_RANK];
  uint32_t rank = 0;
  uint64_t seed = op * 1000 + dtype * 100 + (unsigned)layout * 10 + s->reduced;
  if (is_arg_reduction(op) && a.axes.n != 1) return;
  for (uint32_t i = 0; i < s->rank; i++) {
    if (!(s->reduced >> i & 1)) dim[rank++] = s->dim[i];
    if ((s->reduced >> i & 1) && keep) dim[rank++] = 1;
  }
  step.in[0] = reduced_alloc_view(dtype, s->rank, s->dim, layout);
  step.out[0] = reduced_alloc_view(is_arg_reduction(op) ? VT_DTYPE_I64 : dtype, rank, dim,
                                   layout == REDUCED_STRIDED ? REDUCED_STRIDED : REDUCED_DENSE);
  reduced_fill_random(&step.in[0], &seed, special);
  reduced_check_step_on_teams(&step);
}

static void check_reduction_in_layouts(uint32_t op, uint32_t dtype, const shape *s) {
  for (int layout = 0; layout < REDUCED_LAYOUTS; layout++)
    for (int special = 0; special < 2; special++)
      if (special == 0 || dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64)
        check_reduction(op, dtype, s, (reduced_layout)layout, special);
}

static void test_reductions(void) {
  static const uint32_t any[] = {VT_OP_sum, VT_OP_prod,   VT_OP_max,
                                 VT_OP_min, VT_OP_argmax, VT_OP_argmin};
  static const uint32_t floats[] = {VT_OP_mean, VT_OP_sum_square, VT_OP_norm_l1, VT_OP_norm_l2};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    for (size_t k = 0; k < sizeof any / sizeof *any; k++)
      for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_I64; dtype++)
        check_reduction_in_layouts(any[k], dtype, &shapes[i]);
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++)
      for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_F64; dtype++)
        check_reduction_in_layouts(floats[k], dtype, &shapes[i]);
    check_reduction_in_layouts(VT_OP_any, VT_DTYPE_BOOL, &shapes[i]);
    check_reduction_in_layouts(VT_OP_all, VT_DTYPE_BOOL, &shapes[i]);
  }
}

static void test_empty_tensors(void) {
  for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
    check_reduction_in_layouts(VT_OP_sum, VT_DTYPE_F32, &empty[i]);
    check_reduction_in_layouts(VT_OP_prod, VT_DTYPE_F64, &empty[i]);
    check_reduction_in_layouts(VT_OP_mean, VT_DTYPE_F32, &empty[i]);
    check_reduction_in_layouts(VT_OP_any, VT_DTYPE_BOOL, &empty[i]);
    check_reduction_in_layouts(VT_OP_all, VT_DTYPE_BOOL, &empty[i]);
  }
}

/* Tests lines that are so long that the team splits them at chunks, and that the ordered sum S has
 * a third level. */
static void test_long_lines(void) {
  const shape line = {1, {1024 * 1024 + 5000}, 1}, lines = {2, {2, 20000}, 2};
  const shape side = {2, {9000, 20}, 1}, split = {3, {70, 3, 300}, 5};
  check_reduction(VT_OP_sum, VT_DTYPE_F32, &line, REDUCED_DENSE, 0);
  check_reduction(VT_OP_max, VT_DTYPE_F32, &line, REDUCED_DENSE, 1);
  for (int layout = 0; layout < REDUCED_LAYOUTS; layout++) {
    check_reduction(VT_OP_sum, VT_DTYPE_F32, &lines, (reduced_layout)layout, 0);
    check_reduction(VT_OP_prod, VT_DTYPE_F64, &side, (reduced_layout)layout, 0);
    check_reduction(VT_OP_mean, VT_DTYPE_F32, &side, (reduced_layout)layout, 0);
    check_reduction(VT_OP_norm_l2, VT_DTYPE_F32, &split, (reduced_layout)layout, 0);
    check_reduction(VT_OP_argmin, VT_DTYPE_I32, &side, (reduced_layout)layout, 0);
  }
}

/* ---- running sums ---- */

static void check_cumsum(uint32_t dtype, const shape *s, reduced_layout layout,
                         int exclusive_reverse) {
  const vt_attr_cumsum a = {.size = sizeof a,
                            .axis = s->reduced >> 1 & 1,
                            .exclusive = exclusive_reverse & 1,
                            .reverse = exclusive_reverse >> 1 & 1};
  reduced_step step = {.op = VT_OP_cumsum, .attrs = &a, .n_in = 1, .n_out = 1};
  uint64_t seed = dtype + (unsigned)layout * 10;
  step.in[0] = reduced_alloc_view(dtype, s->rank, s->dim, layout);
  step.out[0] = reduced_alloc_view(dtype, s->rank, s->dim,
                                   layout == REDUCED_REPEATED ? REDUCED_DENSE : layout);
  reduced_fill_random(&step.in[0], &seed, dtype == VT_DTYPE_F64);
  reduced_check_step_on_teams(&step);
}

static void test_cumsum(void) {
  static const shape lines[] = {{1, {1}, 1},       {1, {31}, 1},       {1, {1023}, 1},
                                {2, {3, 2100}, 2}, {2, {1300, 20}, 1}, {2, {5, 0}, 2},
                                {2, {64, 257}, 2}};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_I64; dtype++)
      for (int layout = 0; layout < REDUCED_LAYOUTS; layout++)
        check_cumsum(dtype, &lines[i], (reduced_layout)layout, (int)(i + dtype) % 4);
}

int main(void) {
  reduced_open_teams();
  test_reductions();
  test_empty_tensors();
  test_long_lines();
  test_cumsum();
  reduced_close_teams();
  TEST_DONE();
}
