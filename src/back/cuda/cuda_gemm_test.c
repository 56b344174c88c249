/* SPDX-License-Identifier: Apache-2.0
 * cuda_gemm_test.c - products of matrices on a GPU have the bits of the reference's kernels: every
 * tile and every way to cut k against the reference, operands and results that lie in any way, and
 * leading axes that are shared, repeated or missing. Without a device there is nothing to try. */
#include "cuda_gemm.h"
#include "placed_test.h"

static const vt_attr_matmul turns[] = {{sizeof *turns, 0, 0, VT_ORDER_FMA256},
                                       {sizeof *turns, 1, 0, VT_ORDER_FMA256},
                                       {sizeof *turns, 0, 1, VT_ORDER_FMA256},
                                       {sizeof *turns, 1, 1, VT_ORDER_FMA256}};

/* Long sums of anything are NaN: few numbers stay that are not moderate. */
static void give_calm(trial *s, uint32_t dtype, uint32_t rank, const int64_t *dim, way w) {
  give(s, dtype, rank, dim, w);
  const vt_bk_tensor *t = &s->in[s->n_in - 1];
  for (int64_t i = count_of(t); i-- > 0;) {
    const double x = below(50) == 0 ? -0.0 : (double)below(2000001) / 999983.0 - 1;
    if (below(5000) != 0) vt_cast(&x, 1, VT_DTYPE_F64, element_of(t, i), 1, dtype, 1);
  }
}

/* ---- every way against the reference ---- */

/* The last two axes are the matrices', and one before them counts products. */
static vt_gpu_gemm described(const trial *s, const vt_attr_matmul *turn) {
  const vt_bk_tensor *a = &s->in[0], *b = &s->in[1], *y = &s->out[0];
  const uint32_t r = y->rank - 2;
  const uint32_t ta = r + (turn->transpose_a != 0), tb = r + (turn->transpose_b != 0);
  const uint32_t ka = 2 * r + 1 - ta, kb = 2 * r + 1 - tb; /* the other one */
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

static vt_status run_way(vt_cuda_call *c, uint32_t dtype, const vt_gpu_gemm *g,
                         const vt_cuda_variant *how) {
  VT_TRY((vt_status)vt_cuda_enter(device));
  const vt_status status = vt_cuda_gemm_run_variant(c, dtype, g, how);
  vt_cuda_card_leave(device->card);
  return status;
}

static void try_way(trial *s, const vt_gpu_gemm *g, const vt_cuda_variant *how) {
  const uint64_t bytes = vt_cuda_gemm_variant_work(s->out->dtype, g, how);
  vt_cuda_call c = {.dev = device, .traits = vt_cuda_card_traits(device->card)};
  uint64_t work = 0;
  CHECK(api->buffer_new(device, bytes + 1, &work) == VT_OK);
  c.work = (void *)(uintptr_t)work;
  CHECK(api->copy(device, arena, buffers[0], 0, s->used, 1) == VT_OK);
  CHECK(run_way(&c, s->out->dtype, g, how) == VT_OK);
  static char seen[ARENA];
  CHECK(api->copy(device, seen, buffers[0], 0, s->used, 0) == VT_OK);
  one_nan(seen, s->out);
  const int same = memcmp(seen, expected, (size_t)s->used) == 0;
  if (!same)
    fprintf(stderr, "%lldx%lldx%lld by tile %u, units of %lld: other bits\n", (long long)g->m,
            (long long)g->n, (long long)g->k, how->tile, (long long)how->slice);
  CHECK(same);
  api->buffer_free(device, work);
}

static void try_ways(trial *s, const vt_attr_matmul *turn, way w) {
  const vt_cuda_traits *traits = vt_cuda_card_traits(device->card);
  vt_cuda_variant how;
  vt_kernel kernel;
  infer(s, w == SPREAD ? SPREAD : DENSE);
  memcpy(expected, arena, (size_t)s->used);
  CHECK(run_reference(s, &kernel) == VT_OK);
  one_nan(expected, s->out);
  const vt_gpu_gemm g = described(s, turn);
  for (uint32_t i = 0; vt_cuda_gemm_variant(traits, s->out->dtype, &g, i, &how); i++) {
    const int large = how.tile < 2; /* slow without a GPU */
    if (!large || g.k < 3000) try_way(s, &g, &how);
  }
}

static void test_ways(uint32_t dtype, int turn, int64_t m, int64_t n, int64_t k, way w) {
  const vt_attr_matmul *t = &turns[turn];
  trial s = TRIAL(matmul, *t);
  give_calm(&s, dtype, DIMS(t->transpose_a ? k : m, t->transpose_a ? m : k), w);
  give_calm(&s, dtype, DIMS(t->transpose_b ? n : k, t->transpose_b ? k : n), w);
  try_ways(&s, t, w);
}

/* Three products, each with a b of its own, or with one that all have in common. */
static void test_products(int64_t of_b) {
  trial s = TRIAL(matmul, turns[2]);
  give_calm(&s, VT_DTYPE_F32, DIMS(3, 68, 64), DENSE);
  give_calm(&s, VT_DTYPE_F32, DIMS(of_b, 133, 64), DENSE);
  try_ways(&s, &turns[2], DENSE);
}

/* ---- steps ---- */

static void test_matmul(uint32_t dtype, int turn, way a, way b, way y) {
  const int ta = turn & 1, tb = turn >> 1;
  trial s = TRIAL(matmul, turns[turn]);
  give_calm(&s, dtype, DIMS(ta ? 70 : 21, ta ? 21 : 70), a);
  give_calm(&s, dtype, DIMS(2, 3, tb ? 18 : 70, tb ? 70 : 18), b);
  infer(&s, y);
  compare(&s, "rows that all products share");
  s = TRIAL(matmul, turns[turn]);
  give_calm(&s, dtype, DIMS(3, 1, ta ? 9 : 5, ta ? 5 : 9), a);
  give_calm(&s, dtype, DIMS(1, 4, tb ? 6 : 9, tb ? 9 : 6), b);
  infer(&s, y);
  compare(&s, "leading axes of length 1");
}

static void test_linear(uint32_t dtype, way x, way w, way y) {
  const vt_attr_none none = {.size = sizeof none};
  static const int64_t sizes[][3] = {{1, 300, 40}, {7, 257, 33}, {23, 40, 20}, {30, 513, 3}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    trial s = TRIAL(linear, none);
    give_calm(&s, dtype, DIMS(2, sizes[i][0], sizes[i][1]), x);
    give_calm(&s, dtype, DIMS(sizes[i][1], sizes[i][2]), w);
    if (i != 2) give(&s, dtype, DIMS(sizes[i][2]), x == REVERSED ? REVERSED : DENSE);
    infer(&s, y);
    compare(&s, "with a bias");
  }
}

/* As steps choose it: long enough to be a stream, with a bias, and for products of their own. */
static void test_stream(int64_t rows, int64_t columns) {
  const vt_attr_none none = {.size = sizeof none};
  trial s = TRIAL(linear, none);
  give_calm(&s, VT_DTYPE_F32, DIMS(rows, 4096), DENSE);
  give_calm(&s, VT_DTYPE_F32, DIMS(4096, columns), DENSE);
  give(&s, VT_DTYPE_F32, DIMS(columns), DENSE);
  infer(&s, DENSE);
  compare(&s, "a stream with a bias");
  for (int turn = 0; turn < 4; turn += 2) {
    s = TRIAL(matmul, turns[turn]);
    give_calm(&s, VT_DTYPE_F32, DIMS(3, rows, 2048), DENSE);
    give_calm(&s, VT_DTYPE_F32, DIMS(3, turn ? columns : 2048, turn ? 2048 : columns), DENSE);
    infer(&s, DENSE);
    compare(&s, "streams of several products");
  }
}

static void test_masked(uint32_t dtype, int turn, way a, way present) {
  const int ta = turn & 1, tb = turn >> 1;
  trial s = TRIAL(matmul_masked, turns[turn]);
  give_calm(&s, dtype, DIMS(2, ta ? 300 : 5, ta ? 5 : 300), a);
  give_calm(&s, dtype, DIMS(2, tb ? 6 : 300, tb ? 300 : 6), DENSE);
  give(&s, VT_DTYPE_BOOL, DIMS(2, 5, 300), present);
  infer(&s, DENSE);
  compare(&s, "with absent products");
}

static void test_empty(void) {
  static const int64_t sizes[][3] = {{0, 3, 4}, {3, 0, 4}, {3, 4, 0}, {30, 40, 0}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    trial s = TRIAL(matmul, turns[0]);
    give(&s, VT_DTYPE_F32, DIMS(sizes[i][0], sizes[i][2]), DENSE);
    give(&s, VT_DTYPE_F32, DIMS(sizes[i][2], sizes[i][1]), DENSE);
    infer(&s, DENSE);
    compare(&s, "of nothing");
  }
}

int main(void) {
  if (!placed_begin()) return 77;
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  static const uint32_t types[] = {VT_DTYPE_F32, VT_DTYPE_F64};
  for (int t = 0; t < 2; t++) {
    test_ways(types[t], 0, 20, 24, 2308, DENSE);
    test_ways(types[t], 1, 36, 68, 256, DENSE);
    test_ways(types[t], 2, 5, 12, 16640, DENSE);
    test_ways(types[t], 3, 33, 35, 517, LATE);
    test_ways(types[t], 0, 17, 40, 300, SPREAD);
    for (int w = DENSE; w < WAYS; w++) {
      test_matmul(types[t], w % 4, (way)w, (way)((w + 1 + t) % WAYS), w == SPREAD ? SPREAD : DENSE);
      test_linear(types[t], (way)w, (way)((w + 3) % WAYS), w == SPREAD ? SPREAD : DENSE);
      test_masked(types[t], w % 4, (way)w, (way)((w + 2) % WAYS));
    }
  }
  test_ways(VT_DTYPE_F32, 2, 130, 70, 40, DENSE);
  /* Whole steps: the last tiles lie over their neighbours, whose sums they must leave alone. */
  test_ways(VT_DTYPE_F32, 0, 260, 132, 272, DENSE);
  test_ways(VT_DTYPE_F32, 1, 260, 132, 272, DENSE);
  test_ways(VT_DTYPE_F32, 0, 260, 132, 32, LATE);
  test_ways(VT_DTYPE_F32, 0, 68, 132, 2080, DENSE);
  /* b turned over, its lines being no whole vectors. */
  test_ways(VT_DTYPE_F32, 2, 68, 133, 64, DENSE);
  test_ways(VT_DTYPE_F32, 3, 132, 130, 272, DENSE);
  test_ways(VT_DTYPE_F32, 0, 68, 133, 64, DENSE);
  test_ways(VT_DTYPE_F32, 2, 68, 133, 64, LATE);
  test_products(3);
  test_products(1);
  /* One row: blocks of columns that are not full, and more parts than are read at once. */
  test_ways(VT_DTYPE_F32, 0, 1, 68, 8704, DENSE);
  test_ways(VT_DTYPE_F32, 0, 1, 260, 512, DENSE);
  test_ways(VT_DTYPE_F32, 2, 1, 68, 8704, DENSE);
  test_ways(VT_DTYPE_F32, 2, 1, 260, 256, DENSE);
  test_ways(VT_DTYPE_F32, 2, 1, 1, 512, DENSE);
  test_ways(VT_DTYPE_F32, 0, 1, 260, 512, LATE);
  /* Few rows, likewise: as many as a kernel has and fewer, a that lies in either way, k that are
   * no whole blocks, and b where 16 bytes cannot be read at once. */
  test_ways(VT_DTYPE_F32, 0, 2, 132, 512, DENSE);
  test_ways(VT_DTYPE_F32, 2, 4, 68, 2304, DENSE);
  test_ways(VT_DTYPE_F32, 1, 3, 68, 256, DENSE);
  test_ways(VT_DTYPE_F32, 3, 2, 68, 512, DENSE);
  test_ways(VT_DTYPE_F32, 0, 16, 132, 512, DENSE);
  test_ways(VT_DTYPE_F32, 2, 16, 68, 512, DENSE);
  test_ways(VT_DTYPE_F32, 1, 9, 132, 256, DENSE);
  test_ways(VT_DTYPE_F32, 3, 5, 132, 512, DENSE);
  test_ways(VT_DTYPE_F32, 0, 5, 132, 272, DENSE);
  test_ways(VT_DTYPE_F32, 0, 8, 132, 512, LATE);
  test_ways(VT_DTYPE_F32, 2, 8, 68, 512, LATE);
  test_stream(1, 68);
  test_stream(3, 68);
  test_stream(6, 132);
  test_empty();
  vt_fpenv_leave(&saved);
  placed_end();
  TEST_DONE();
}
