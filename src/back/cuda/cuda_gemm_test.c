/* SPDX-License-Identifier: Apache-2.0
 * cuda_gemm_test.c - matrix products on a GPU have the bits of the reference kernels: every tile
 * and every slicing of k, operands and results of every layout, and leading axes that are shared,
 * repeated or missing. Skipped without a device. */
#include "cuda_gemm.h"
#include "layouts_test.h"

static const vt_attr_matmul transposes[] = {{sizeof *transposes, 0, 0, VT_ORDER_FMA256},
                                            {sizeof *transposes, 1, 0, VT_ORDER_FMA256},
                                            {sizeof *transposes, 0, 1, VT_ORDER_FMA256},
                                            {sizeof *transposes, 1, 1, VT_ORDER_FMA256}};

/* Adds an operand, mostly of moderate numbers, because a long sum of arbitrary numbers is NaN. */
static void add_moderate_operand(trial *s, uint32_t dtype, uint32_t rank, const int64_t *dim,
                                 layout placement) {
  add_operand(s, dtype, rank, dim, placement);
  const vt_bk_tensor *t = &s->in[s->n_in - 1];
  for (int64_t i = element_count_of(t); i-- > 0;) {
    const double x = random_below(50) == 0 ? -0.0 : (double)random_below(2000001) / 999983.0 - 1;
    if (random_below(5000) != 0) vt_cast(&x, 1, VT_DTYPE_F64, element_address(t, i), 1, dtype, 1);
  }
}

/* ---- every variant against the reference ---- */

/* Describes the product of the trial's operands: the last two axes are those of the matrices, an
 * axis before them numbers products. */
static vt_gpu_gemm product_of(const trial *s, const vt_attr_matmul *transpose) {
  const vt_bk_tensor *a = &s->in[0], *b = &s->in[1], *y = &s->out[0];
  const uint32_t r = y->rank - 2;
  const uint32_t ta = r + (transpose->transpose_a != 0), tb = r + (transpose->transpose_b != 0);
  /* of the last two axes, the one that is not ta or tb: k */
  const uint32_t ka = 2 * r + 1 - ta, kb = 2 * r + 1 - tb;
  char *base = (char *)(uintptr_t)buffers[0];
  vt_gpu_gemm g = {.a = {.data = base + a->offset, .across = a->stride[ta], .along = a->stride[ka]},
                   .b = {.data = base + b->offset, .across = b->stride[kb], .along = b->stride[tb]},
                   .y = base + y->offset,
                   .y_row = y->stride[r],
                   .y_column = y->stride[r + 1],
                   .m = y->dim[r],
                   .n = y->dim[r + 1],
                   .k = a->dim[ka],
                   .rank = r,
                   .products = 1};
  for (uint32_t i = 0; i < r; i++) {
    g.products *= g.dim[i] = y->dim[i];
    g.a.step[i] = a->stride[i];
    g.y_step[i] = y->stride[i];
    g.b.step[i] = b->dim[i] == 1 ? 0 : b->stride[i];
  }
  return g;
}

static vt_status run_variant(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g,
                             const vt_cuda_variant *how) {
  VT_TRY((vt_status)vt_cuda_enter_device(device));
  const vt_status status = vt_cuda_gemm_run_variant(c, dtype, g, how);
  vt_cuda_card_leave(device->card);
  return status;
}

static void try_variant(trial *s, const vt_gpu_gemm *g, const vt_cuda_variant *how) {
  const uint64_t bytes = vt_cuda_gemm_variant_scratch(s->out->dtype, g, how);
  vt_cuda_call c = {.dev = device, .traits = vt_cuda_card_traits(device->card)};
  uint64_t work = 0;
  CHECK(api->buffer_new(device, bytes + 1, &work) == VT_OK);
  c.work = (void *)(uintptr_t)work;
  CHECK(api->copy(device, arena, buffers[0], 0, s->used, 1) == VT_OK);
  CHECK(run_variant(&c, s->out->dtype, g, how) == VT_OK);
  static char seen[ARENA];
  CHECK(api->copy(device, seen, buffers[0], 0, s->used, 0) == VT_OK);
  canonicalize_nans(seen, s->out);
  const int same = memcmp(seen, expected, (size_t)s->used) == 0;
  if (!same)
    fprintf(stderr, "%lldx%lldx%lld by tile %u, slices of %lld: other bits\n", (long long)g->m,
            (long long)g->n, (long long)g->k, how->tile, (long long)how->slice);
  CHECK(same);
  api->buffer_free(device, work);
}

static void try_variants(trial *s, const vt_attr_matmul *transpose, layout w) {
  const vt_cuda_traits *traits = vt_cuda_card_traits(device->card);
  vt_cuda_variant how;
  vt_kernel kernel;
  add_results(s, w == SPREAD ? SPREAD : DENSE);
  memcpy(expected, arena, (size_t)s->used);
  CHECK(run_reference(s, &kernel) == VT_OK);
  canonicalize_nans(expected, s->out);
  const vt_gpu_gemm g = product_of(s, transpose);
  for (uint32_t i = 0; vt_cuda_gemm_variant_at(traits, s->out->dtype, &g, i, &how); i++) {
    const int large = how.tile < 2; /* 1 for the two largest tiles, which are slow without a GPU */
    if (!large || g.k < 3000) try_variant(s, &g, &how);
  }
}

static void test_all_variants(uint32_t dtype, int transpose, int64_t m, int64_t n, int64_t k,
                              layout w) {
  const vt_attr_matmul *t = &transposes[transpose];
  trial s = TRIAL(matmul, *t);
  add_moderate_operand(&s, dtype, DIMS(t->transpose_a ? k : m, t->transpose_a ? m : k), w);
  add_moderate_operand(&s, dtype, DIMS(t->transpose_b ? n : k, t->transpose_b ? k : n), w);
  try_variants(&s, t, w);
}

/* Tests three products, each with its own b or all with the same b. */
static void test_three_products_by_variants(int64_t b_count) {
  trial s = TRIAL(matmul, transposes[2]);
  add_moderate_operand(&s, VT_DTYPE_F32, DIMS(3, 68, 64), DENSE);
  add_moderate_operand(&s, VT_DTYPE_F32, DIMS(b_count, 133, 64), DENSE);
  try_variants(&s, &transposes[2], DENSE);
}

/* ---- steps ---- */

static void test_matmul_with_leading_axes(uint32_t dtype, int transpose, layout a, layout b,
                                          layout y) {
  const int ta = transpose & 1, tb = transpose >> 1;
  trial s = TRIAL(matmul, transposes[transpose]);
  add_moderate_operand(&s, dtype, DIMS(ta ? 70 : 21, ta ? 21 : 70), a);
  add_moderate_operand(&s, dtype, DIMS(2, 3, tb ? 18 : 70, tb ? 70 : 18), b);
  add_results(&s, y);
  run_and_compare(&s, "rows that all products share");
  s = TRIAL(matmul, transposes[transpose]);
  add_moderate_operand(&s, dtype, DIMS(3, 1, ta ? 9 : 5, ta ? 5 : 9), a);
  add_moderate_operand(&s, dtype, DIMS(1, 4, tb ? 6 : 9, tb ? 9 : 6), b);
  add_results(&s, y);
  run_and_compare(&s, "leading axes of length 1");
}

static void test_linear(uint32_t dtype, layout x, layout w, layout y) {
  const vt_attr_none none = {.size = sizeof none};
  static const int64_t sizes[][3] = {{1, 300, 40}, {7, 257, 33}, {23, 40, 20}, {30, 513, 3}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    trial s = TRIAL(linear, none);
    add_moderate_operand(&s, dtype, DIMS(2, sizes[i][0], sizes[i][1]), x);
    add_moderate_operand(&s, dtype, DIMS(sizes[i][1], sizes[i][2]), w);
    if (i != 2) add_operand(&s, dtype, DIMS(sizes[i][2]), x == REVERSED ? REVERSED : DENSE);
    add_results(&s, y);
    run_and_compare(&s, "with a bias");
  }
}

/* Tests products that are large enough for the kernels stream_..., with a bias, and several of them
 * in one step. */
static void test_streamed_products(int64_t rows, int64_t columns) {
  const vt_attr_none none = {.size = sizeof none};
  trial s = TRIAL(linear, none);
  add_moderate_operand(&s, VT_DTYPE_F32, DIMS(rows, 4096), DENSE);
  add_moderate_operand(&s, VT_DTYPE_F32, DIMS(4096, columns), DENSE);
  add_operand(&s, VT_DTYPE_F32, DIMS(columns), DENSE);
  add_results(&s, DENSE);
  run_and_compare(&s, "a stream with a bias");
  for (int transpose = 0; transpose < 4; transpose += 2) {
    s = TRIAL(matmul, transposes[transpose]);
    add_moderate_operand(&s, VT_DTYPE_F32, DIMS(3, rows, 2048), DENSE);
    add_moderate_operand(&s, VT_DTYPE_F32,
                         DIMS(3, transpose ? columns : 2048, transpose ? 2048 : columns), DENSE);
    add_results(&s, DENSE);
    run_and_compare(&s, "streams of several products");
  }
}

static void test_masked_product(uint32_t dtype, int transpose, layout a, layout present) {
  const int ta = transpose & 1, tb = transpose >> 1;
  trial s = TRIAL(matmul_masked, transposes[transpose]);
  add_moderate_operand(&s, dtype, DIMS(2, ta ? 300 : 5, ta ? 5 : 300), a);
  add_moderate_operand(&s, dtype, DIMS(2, tb ? 6 : 300, tb ? 300 : 6), DENSE);
  add_operand(&s, VT_DTYPE_BOOL, DIMS(2, 5, 300), present);
  add_results(&s, DENSE);
  run_and_compare(&s, "with masked products");
}

static void test_empty_products(void) {
  static const int64_t sizes[][3] = {{0, 3, 4}, {3, 0, 4}, {3, 4, 0}, {30, 40, 0}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    trial s = TRIAL(matmul, transposes[0]);
    add_operand(&s, VT_DTYPE_F32, DIMS(sizes[i][0], sizes[i][2]), DENSE);
    add_operand(&s, VT_DTYPE_F32, DIMS(sizes[i][2], sizes[i][1]), DENSE);
    add_results(&s, DENSE);
    run_and_compare(&s, "empty");
  }
}

int main(void) {
  if (!layouts_device_open()) return 77;
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  static const uint32_t types[] = {VT_DTYPE_F32, VT_DTYPE_F64};
  for (int t = 0; t < 2; t++) {
    test_all_variants(types[t], 0, 20, 24, 2308, DENSE);
    test_all_variants(types[t], 1, 36, 68, 256, DENSE);
    test_all_variants(types[t], 2, 5, 12, 16640, DENSE);
    test_all_variants(types[t], 3, 33, 35, 517, LATE);
    test_all_variants(types[t], 0, 17, 40, 300, SPREAD);
    for (int w = DENSE; w < LAYOUTS; w++) {
      test_matmul_with_leading_axes(types[t], w % 4, (layout)w, (layout)((w + 1 + t) % LAYOUTS),
                                    w == SPREAD ? SPREAD : DENSE);
      test_linear(types[t], (layout)w, (layout)((w + 3) % LAYOUTS), w == SPREAD ? SPREAD : DENSE);
      test_masked_product(types[t], w % 4, (layout)w, (layout)((w + 2) % LAYOUTS));
    }
  }
  test_all_variants(VT_DTYPE_F32, 2, 130, 70, 40, DENSE);
  /* k has only whole steps, so the last tiles overlap their neighbours, whose sums they must not
   * change. */
  test_all_variants(VT_DTYPE_F32, 0, 260, 132, 272, DENSE);
  test_all_variants(VT_DTYPE_F32, 1, 260, 132, 272, DENSE);
  test_all_variants(VT_DTYPE_F32, 0, 260, 132, 32, LATE);
  test_all_variants(VT_DTYPE_F32, 0, 68, 132, 2080, DENSE);
  /* b is transposed, and its lines have lengths that vectors do not divide. */
  test_all_variants(VT_DTYPE_F32, 2, 68, 133, 64, DENSE);
  test_all_variants(VT_DTYPE_F32, 3, 132, 130, 272, DENSE);
  test_all_variants(VT_DTYPE_F32, 0, 68, 133, 64, DENSE);
  test_all_variants(VT_DTYPE_F32, 2, 68, 133, 64, LATE);
  test_three_products_by_variants(3);
  test_three_products_by_variants(1);
  /* One row: incomplete blocks of columns, and more slices than are read at a time. */
  test_all_variants(VT_DTYPE_F32, 0, 1, 68, 8704, DENSE);
  test_all_variants(VT_DTYPE_F32, 0, 1, 260, 512, DENSE);
  test_all_variants(VT_DTYPE_F32, 2, 1, 68, 8704, DENSE);
  test_all_variants(VT_DTYPE_F32, 2, 1, 260, 256, DENSE);
  test_all_variants(VT_DTYPE_F32, 2, 1, 1, 512, DENSE);
  test_all_variants(VT_DTYPE_F32, 0, 1, 260, 512, LATE);
  /* Few rows: as many as a kernel supports and fewer, a in either layout, k that 256 does not
   * divide, and b that does not allow 16-byte loads. */
  test_all_variants(VT_DTYPE_F32, 0, 2, 132, 512, DENSE);
  test_all_variants(VT_DTYPE_F32, 2, 4, 68, 2304, DENSE);
  test_all_variants(VT_DTYPE_F32, 1, 3, 68, 256, DENSE);
  test_all_variants(VT_DTYPE_F32, 3, 2, 68, 512, DENSE);
  test_all_variants(VT_DTYPE_F32, 0, 16, 132, 512, DENSE);
  test_all_variants(VT_DTYPE_F32, 2, 16, 68, 512, DENSE);
  test_all_variants(VT_DTYPE_F32, 1, 9, 132, 256, DENSE);
  test_all_variants(VT_DTYPE_F32, 3, 5, 132, 512, DENSE);
  test_all_variants(VT_DTYPE_F32, 0, 5, 132, 272, DENSE);
  test_all_variants(VT_DTYPE_F32, 0, 8, 132, 512, LATE);
  test_all_variants(VT_DTYPE_F32, 2, 8, 68, 512, LATE);
  test_streamed_products(1, 68);
  test_streamed_products(3, 68);
  test_streamed_products(6, 132);
  test_empty_products();
  vt_fpenv_leave(&saved);
  layouts_device_close();
  TEST_DONE();
}
