/* SPDX-License-Identifier: Apache-2.0
 * maps_test.c - which steps are pointwise: those of the ops that have a formula, and only if types
 * and shapes of their operands match. A map is the row of maps.def that a step uses. */
#include "vt_maps.h"
#include "vt_test.h"

static vt_bk_tensor in[4], out;
static vt_bk_step step = {.size = sizeof step, .n_out = 1, .in = in, .out = &out};

/* Returns a step whose n operands and result are f32[2,3]. */
static vt_bk_step *step_of_equal_tensors(uint32_t op, uint32_t n) {
  const vt_bk_tensor t = {
      .size = sizeof t, .dtype = VT_DTYPE_F32, .rank = 2, .dim = {2, 3}, .stride = {3, 1}};
  for (int i = 0; i < 4; i++) in[i] = t;
  out = t;
  step.op = op;
  step.n_in = n;
  step.n_out = 1;
  return &step;
}

static void test_map_of_each_op(void) {
  uint32_t before = 0, n = 0;
#define VT_MAP(op, n_in, result, f, i, t, cost)               \
  CHECK(vt_map_of_op(VT_OP_##op) == VT_MAP_##op &&            \
        vt_map_picoseconds_per_element(VT_MAP_##op) == cost); \
  CHECK(VT_OP_##op > before);                                 \
  before = VT_OP_##op, n++;
#include "maps.def"
#undef VT_MAP
  CHECK(n == VT_MAPS);
  CHECK(vt_map_of_op(VT_OP_cast) == VT_MAP_cast);
  CHECK(vt_map_of_op(VT_OP_select) == VT_MAP_choice && vt_map_of_op(VT_OP_where) == VT_MAP_choice);
  CHECK(vt_map_of_op(VT_OP_matmul) == VT_MAP_none && vt_map_of_op(UINT32_MAX) == VT_MAP_none);
}

static void test_operand_counts(void) {
  CHECK(vt_map_of_step(step_of_equal_tensors(VT_OP_add, 2)) == VT_MAP_add);
  CHECK(vt_map_of_step(step_of_equal_tensors(VT_OP_add, 1)) == VT_MAP_none);
  CHECK(vt_map_of_step(step_of_equal_tensors(VT_OP_add, 3)) == VT_MAP_none);
  CHECK(vt_map_of_step(step_of_equal_tensors(VT_OP_neg, 0)) == VT_MAP_none);
  CHECK(vt_map_of_step(step_of_equal_tensors(VT_OP_fma, 4)) == VT_MAP_none);
  step_of_equal_tensors(VT_OP_neg, 1)->n_out = 2;
  CHECK(vt_map_of_step(&step) == VT_MAP_none);
}

static void test_operand_types(void) {
  step_of_equal_tensors(VT_OP_add, 2);
  in[0].dtype = VT_DTYPE_F64;
  CHECK(vt_map_of_step(&step) == VT_MAP_none);
  step_of_equal_tensors(VT_OP_add, 2);
  out.dtype = VT_DTYPE_I32;
  CHECK(vt_map_of_step(&step) == VT_MAP_none);
  CHECK(vt_map_of_step(step_of_equal_tensors(VT_OP_lt, 2)) == VT_MAP_none);
  step_of_equal_tensors(VT_OP_lt, 2);
  out.dtype = VT_DTYPE_BOOL;
  CHECK(vt_map_of_step(&step) == VT_MAP_lt);
  step_of_equal_tensors(VT_OP_cast, 1);
  out.dtype = VT_DTYPE_BF16;
  CHECK(vt_map_of_step(&step) == VT_MAP_cast);
  out.dtype = 99;
  CHECK(vt_map_of_step(&step) == VT_MAP_none);
  CHECK(vt_map_of_step(step_of_equal_tensors(VT_OP_select, 3)) == VT_MAP_none);
  step_of_equal_tensors(VT_OP_select, 3);
  in[0].dtype = VT_DTYPE_BOOL;
  CHECK(vt_map_of_step(&step) == VT_MAP_choice);
  in[1].dtype = VT_DTYPE_I32;
  CHECK(vt_map_of_step(&step) == VT_MAP_none);
}

static void test_operand_shapes(void) {
  step_of_equal_tensors(VT_OP_add, 2);
  in[1].dim[0] = 1;
  CHECK(vt_map_of_step(&step) == VT_MAP_add);
  in[1].dim[0] = 3;
  CHECK(vt_map_of_step(&step) == VT_MAP_none);
  step_of_equal_tensors(VT_OP_add, 2);
  in[1].rank = 1;
  in[1].dim[0] = 3;
  CHECK(vt_map_of_step(&step) == VT_MAP_add);
  step_of_equal_tensors(VT_OP_add, 2);
  in[0].rank = 0;
  CHECK(vt_map_of_step(&step) == VT_MAP_add);
  step_of_equal_tensors(VT_OP_add, 2);
  in[1].rank = 3;
  in[1].dim[0] = 1;
  in[1].dim[1] = 2;
  in[1].dim[2] = 3;
  CHECK(vt_map_of_step(&step) == VT_MAP_none);
}

int main(void) {
  test_map_of_each_op();
  test_operand_counts();
  test_operand_types();
  test_operand_shapes();
  TEST_DONE();
}
