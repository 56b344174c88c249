/* SPDX-License-Identifier: Apache-2.0
 * cuda_reduce_test.c - reductions, arg-reductions and cumulative sums on a card: every type, many
 * layouts, lengths around the chunks of S. Needs a driver: a GPU's, or the emulated one of
 * tests/fake_cuda. */
#include "card_step_test.h"

typedef struct shape {
  uint32_t rank;
  int64_t dim[8];
  unsigned reduced; /* bit mask of the reduced axes */
} shape;

static const shape shapes[] = {
    {0, {0}, 0},
    {1, {1025}, 1},
    {2, {9, 7}, 2},
    {2, {1100, 15}, 2}, /* enough lines for one thread per line */
    {2, {65, 45}, 1},
    {2, {2050, 3}, 1},
    {3, {5, 9, 70}, 5},
    {3, {4, 33, 40}, 2},
    {8, {2, 3, 1, 2, 2, 3, 2, 5}, 0x4a},
};

static const shape empty[] = {{2, {0, 5}, 1}, {2, {5, 0}, 1}, {3, {4, 0, 3}, 6}};

static int is_arg_reduction(uint32_t op) { return op == VT_OP_argmax || op == VT_OP_argmin; }

static void test_reduction(uint32_t op, uint32_t dtype, const shape *s, card_layout layout,
                           int special) {
  const int keep = !is_arg_reduction(op) && layout == CARD_TRANSPOSED;
  vt_attr_reduce a = {.size = sizeof a, .keep = keep};
  card_step step = {.op = op, .attrs = &a, .attrs_size = sizeof a, .n_in = 1, .n_out = 1};
  int64_t dim[8];
  uint32_t rank = 0;
  for (uint32_t i = 0; i < s->rank; i++) {
    const int gone = s->reduced >> i & 1;
    if (gone) a.axes.v[a.axes.n++] = i;
    if (!gone || keep) dim[rank++] = gone ? 1 : s->dim[i];
  }
  const vt_attr_axis axis = {.size = sizeof axis, .axis = a.axes.n > 0 ? a.axes.v[0] : 0};
  if (is_arg_reduction(op) && a.axes.n != 1) return;
  if (is_arg_reduction(op)) {
    step.attrs = &axis;
    step.attrs_size = sizeof axis;
  }
  step.seed = op * 1000 + dtype * 100 + (unsigned)layout * 10 + s->reduced;
  step.special = special;
  step.in[0] = card_place_tensor(&step, card_describe_tensor(dtype, s->rank, s->dim, layout));
  step.out[0] = card_place_tensor(
      &step, card_describe_tensor(is_arg_reduction(op) ? VT_DTYPE_I64 : dtype, rank, dim,
                                  layout == CARD_STEPPED ? CARD_STEPPED : CARD_DENSE));
  card_run_and_compare(&step);
}

/* Tests every layout; every second one with special numbers. */
static void test_reduction_layouts(uint32_t op, uint32_t dtype, const shape *s) {
  for (int layout = 0; layout < CARD_LAYOUTS; layout++)
    test_reduction(op, dtype, s, (card_layout)layout, layout % 2);
}

static void test_reductions(void) {
  static const uint32_t any[] = {VT_OP_sum, VT_OP_prod,   VT_OP_max,
                                 VT_OP_min, VT_OP_argmax, VT_OP_argmin};
  static const uint32_t floats[] = {VT_OP_mean, VT_OP_sum_square, VT_OP_norm_l1, VT_OP_norm_l2};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    for (size_t k = 0; k < sizeof any / sizeof *any; k++)
      for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_I64; dtype++)
        if (dtype != VT_DTYPE_F16 && dtype != VT_DTYPE_BF16)
          test_reduction_layouts(any[k], dtype, &shapes[i]);
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++)
      for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_F64; dtype++)
        test_reduction_layouts(floats[k], dtype, &shapes[i]);
    test_reduction_layouts(VT_OP_any, VT_DTYPE_BOOL, &shapes[i]);
    test_reduction_layouts(VT_OP_all, VT_DTYPE_BOOL, &shapes[i]);
  }
}

static void test_empty_lines(void) {
  for (size_t i = 0; i < sizeof empty / sizeof *empty; i++) {
    test_reduction_layouts(VT_OP_sum, VT_DTYPE_F32, &empty[i]);
    test_reduction_layouts(VT_OP_prod, VT_DTYPE_F64, &empty[i]);
    test_reduction_layouts(VT_OP_mean, VT_DTYPE_F32, &empty[i]);
    test_reduction_layouts(VT_OP_any, VT_DTYPE_BOOL, &empty[i]);
    test_reduction_layouts(VT_OP_all, VT_DTYPE_BOOL, &empty[i]);
  }
}

/* Tests lines so long that S has three levels and arg-reductions have many spans. */
static void test_long_lines(void) {
  const shape line = {1, {1024 * 1024 + 5000}, 1}, side = {2, {9000, 20}, 1};
  test_reduction(VT_OP_sum, VT_DTYPE_F32, &line, CARD_DENSE, 0);
  test_reduction(VT_OP_argmax, VT_DTYPE_F32, &line, CARD_DENSE, 0);
  for (int layout = 0; layout < CARD_LAYOUTS; layout++) {
    test_reduction(VT_OP_mean, VT_DTYPE_F32, &side, (card_layout)layout, 0);
    test_reduction(VT_OP_argmin, VT_DTYPE_I8, &side, (card_layout)layout, 0);
  }
}

static void test_cumsum(void) {
  static const shape lines[] = {{1, {1}, 1},       {1, {33}, 1},       {2, {2, 1023}, 2},
                                {2, {3, 2100}, 2}, {2, {1300, 20}, 1}, {2, {5, 0}, 2}};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_I64; dtype++)
      for (int layout = 0; layout < CARD_LAYOUTS; layout++) {
        const shape *s = &lines[i];
        const unsigned how = (unsigned)i + dtype + (unsigned)layout;
        const vt_attr_cumsum a = {.size = sizeof a,
                                  .axis = s->reduced >> 1 & 1,
                                  .exclusive = how & 1,
                                  .reverse = how >> 1 & 1};
        card_step step = {
            .op = VT_OP_cumsum, .attrs = &a, .attrs_size = sizeof a, .n_in = 1, .n_out = 1};
        if (dtype == VT_DTYPE_F16 || dtype == VT_DTYPE_BF16) continue;
        step.seed = how;
        step.special = dtype == VT_DTYPE_F64;
        step.in[0] = card_place_tensor(
            &step, card_describe_tensor(dtype, s->rank, s->dim, (card_layout)layout));
        step.out[0] = card_place_tensor(
            &step,
            card_describe_tensor(dtype, s->rank, s->dim,
                                 layout == CARD_REPEATED ? CARD_DENSE : (card_layout)layout));
        card_run_and_compare(&step);
      }
}

int main(void) {
  if (!card_open()) return 77;
  test_reductions();
  test_empty_lines();
  test_long_lines();
  test_cumsum();
  card_close();
  TEST_DONE();
}
