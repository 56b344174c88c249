/* SPDX-License-Identifier: Apache-2.0
 * cpu_program_test.c - which steps are supported: each row of cpu_handlers.def is found by its op
 * number; a step is refused if it has no handler, or if its result has gaps that the handler does
 * not support. */
#include "cpu_backend.h"
#include "vt_test.h"

static const struct {
  uint32_t op;
  vt_cpu_run_fn *run;
} rows[] = {
#define VT_CPU(op, kind, work, cache, run, traits) {VT_OP_##op, vt_cpu_run_##run},
#include "cpu_handlers.def"
#undef VT_CPU
};
enum { ROWS = sizeof rows / sizeof *rows };

/* No op may both have a handler and be pointwise, because its handler would never be called. */
static void test_op_numbers_of_rows(void) {
  uint32_t found = 0;
  for (int i = 0; i < ROWS; i++) {
    const vt_cpu_handler *h = vt_cpu_handler_of(rows[i].op);
    CHECK(h != NULL && h->run == rows[i].run && !vt_cpu_chain_lists_op(rows[i].op));
  }
  for (uint32_t op = 0; op < 1u << 16; op++) {
    found += vt_cpu_handler_of(op) != NULL;
    if (vt_op_get(op) == NULL) CHECK(vt_cpu_handler_of(op) == NULL && !vt_cpu_chain_lists_op(op));
  }
  CHECK(found == ROWS);
  CHECK(vt_cpu_handler_of(UINT32_MAX) == NULL && !vt_cpu_chain_lists_op(UINT32_MAX));
}

/* ---- steps ---- */

static void *host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  return vt_fault_resize(user, p, (size_t)old_size, (size_t)new_size);
}

/* A tensor f32[4, 4, 4], which both a matmul and a convolution accept. */
static vt_bk_tensor cube_tensor(void) {
  return (vt_bk_tensor){.size = sizeof(vt_bk_tensor),
                        .dtype = VT_DTYPE_F32,
                        .rank = 3,
                        .dim = {4, 4, 4},
                        .stride = {16, 4, 1}};
}

static int is_accepted(vt_bk_device *dev, uint32_t op, const void *attrs, uint64_t size,
                       const vt_bk_tensor *out) {
  const vt_bk_tensor in[] = {cube_tensor(), cube_tensor()};
  const vt_bk_step step = {.size = sizeof step,
                           .op = op,
                           .n_in = 2,
                           .n_out = 1,
                           .in = in,
                           .out = out,
                           .attrs = attrs,
                           .attrs_size = size};
  return vt_cpu_step_check(dev, &step) == VT_OK;
}

static void test_results_with_gaps(vt_bk_device *dev) {
  const vt_attr_matmul matmul = {.size = sizeof matmul};
  const vt_attr_conv conv = {.size = sizeof conv, .groups = 1};
  vt_bk_tensor y = cube_tensor();
  CHECK(is_accepted(dev, VT_OP_matmul, &matmul, sizeof matmul, &y));
  CHECK(is_accepted(dev, VT_OP_conv, &conv, sizeof conv, &y));
  y.stride[0] = 17;
  CHECK(is_accepted(dev, VT_OP_matmul, &matmul, sizeof matmul, &y));
  CHECK(!is_accepted(dev, VT_OP_conv, &conv, sizeof conv, &y));
  y.dim[1] = 0; /* a result without elements has no gaps */
  CHECK(is_accepted(dev, VT_OP_conv, &conv, sizeof conv, &y));
}

static void test_ops_without_handler(vt_bk_device *dev, const vt_fault *memory) {
  const vt_bk_tensor x = cube_tensor();
  const vt_attr_einsum einsum = {.size = sizeof einsum};
  const vt_bk_step step = {.size = sizeof step,
                           .op = VT_OP_einsum,
                           .n_in = 1,
                           .n_out = 1,
                           .in = &x,
                           .out = &x,
                           .attrs = &einsum,
                           .attrs_size = sizeof einsum};
  vt_bk_program *p = NULL;
  CHECK(vt_cpu_step_check(dev, &step) == VT_UNSUPPORTED);
  CHECK(vt_cpu_program_build(dev, &step, 1, &p) == VT_UNSUPPORTED && p == NULL);
  CHECK(memory->live == 0);
}

int main(void) {
  vt_fault memory = {0};
  const vt_bk_host host = {.size = sizeof host, .user = &memory, .resize = host_resize};
  vt_bk_device dev = {.host = &host, .team = {.kernels = vt_cpu_kernels_of(NULL), .threads = 1}};
  test_op_numbers_of_rows();
  test_results_with_gaps(&dev);
  test_ops_without_handler(&dev, &memory);
  TEST_DONE();
}
