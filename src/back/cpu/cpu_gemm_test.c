/* SPDX-License-Identifier: Apache-2.0
 * cpu_gemm_test.c - matrix products against the sum D of docs/numerics.md, element by element:
 * every instruction set of this processor, several thread counts, depths around blocks and groups,
 * incomplete tiles, operands and results with any strides, packed or not, and values of all kinds.
 * A problem says what to multiply; a setting is a problem with its matrices in memory. */
#include <string.h>
#include "cpu_gemm.h"
#include "vt_num.h"
#include "vt_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64 };

static vt_fault heap;
static vt_cpu_team team;

/* ---- values ---- */

static uint64_t state = 1;
static uint32_t random_bits(void) {
  state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(state >> 33);
}

/* ORDINARY values are about 1. ANYTHING includes zeros, infinities, subnormals and the ends of the
 * range. TIES gives products that would be ties but for a far smaller addend, which an fma that
 * rounds twice gets wrong. */
enum { ORDINARY, ANYTHING, TIES };
static double random_value(int kind) {
  static const double ties[] = {1 + 0x1p-12, -1 - 0x1p-12, 0x1p-40, -0x1p-40};
  static const double rare[] = {0.0, -0.0, 0x1p-149, -0x1p-126, 0x1.fffffep127, -0x1p100, 0x1p-80};
  if (kind == TIES) return ties[random_bits() % 4];
  if (kind && random_bits() % 8 == 0) return rare[random_bits() % 7];
  if (kind && random_bits() % 400 == 0) return random_bits() % 2 ? 1.0 / 0.0 : -1.0 / 0.0;
  return ((double)random_bits() - 0x1p30) * 0x1p-30;
}

static void store_number(void *at, uint32_t dtype, int64_t i, double x) {
  if (dtype == F32) {
    ((float *)at)[i] = (float)x;
  } else {
    ((double *)at)[i] = x * (1 + 0x1p-40);
  }
}

static void fill_random(void *at, uint32_t dtype, int64_t n, int kind) {
  for (int64_t i = 0; i < n; i++) store_number(at, dtype, i, random_value(kind));
}

static int is_same_number_or_nans(const void *a, const void *b, uint32_t dtype, int64_t i,
                                  int64_t j) {
  if (dtype == F32) {
    const float x = ((const float *)a)[i], y = ((const float *)b)[j];
    return (x != x && y != y) || memcmp(&x, &y, sizeof x) == 0;
  }
  const double x = ((const double *)a)[i], y = ((const double *)b)[j];
  return (x != x && y != y) || memcmp(&x, &y, sizeof x) == 0;
}

/* ---- problems ---- */

typedef struct problem {
  uint32_t dtype;
  int64_t m, n, k;
  int layout; /* layout of a and b: 0 row-major, 1 column-major, 2 with gaps everywhere */
  int packed; /* 1: b is packed beforehand */
  int gaps;   /* 1: columns of c are not contiguous */
  int contiguous, biased, any;
  int64_t products;
} problem;

typedef struct strides {
  int64_t row, column, each; /* strides in elements; `each`: from one matrix to the next */
} strides;

static strides strides_of(int layout, int64_t rows, int64_t columns) {
  if (layout == 0) return (strides){columns, 1, rows * columns};
  if (layout == 1) return (strides){1, rows, rows * columns};
  return (strides){2 * columns + 1, 2, rows * (2 * columns + 1)};
}

typedef struct setting {
  const problem *p;
  strides a, b, c;
  char *at_a, *at_b, *at_c, *want, *bias, *packed;
  int64_t bytes;
} setting;

static vt_cpu_side side_a(const setting *s, int64_t i) {
  return (vt_cpu_side){
      .data = s->at_a + i * s->a.each * s->bytes, .across = s->a.row, .along = s->a.column};
}
static vt_cpu_side side_b(const setting *s, int64_t i) {
  return (vt_cpu_side){
      .data = s->at_b + i * s->b.each * s->bytes, .across = s->b.column, .along = s->b.row};
}

static void get_product(const void *context, int64_t i, vt_cpu_product *out) {
  const setting *s = context;
  const problem *p = s->p;
  out->m = p->m;
  out->n = p->n;
  out->k = p->k;
  out->a = side_a(s, i);
  out->b = side_b(s, i);
  out->packed = s->packed;
  out->c = s->at_c + i * s->c.each * s->bytes;
  out->row = s->c.row;
  out->column = s->c.column;
  out->bias = p->biased ? s->bias : NULL;
  out->bias_step = 1;
}

static void compute_expected(const setting *s, int64_t i) {
  const problem *p = s->p;
  for (int64_t r = 0; r < p->m; r++)
    for (int64_t j = 0; j < p->n; j++) {
      const char *a = s->at_a + (i * s->a.each + r * s->a.row) * s->bytes;
      const char *b = s->at_b + (i * s->b.each + j * s->b.column) * s->bytes;
      const int64_t at = (i * p->m + r) * p->n + j;
      if (p->dtype == F32) {
        const float y =
            vt_dot_f32((const void *)a, s->a.column, (const void *)b, s->b.row, NULL, 0, p->k);
        ((float *)(void *)s->want)[at] = p->biased ? y + ((float *)(void *)s->bias)[j] : y;
      } else {
        const double y =
            vt_dot_f64((const void *)a, s->a.column, (const void *)b, s->b.row, NULL, 0, p->k);
        ((double *)(void *)s->want)[at] = p->biased ? y + ((double *)(void *)s->bias)[j] : y;
      }
    }
}

static char *alloc_bytes(int64_t bytes) {
  char *p = aligned_alloc(64, (size_t)(bytes / 64 + 2) * 64);
  if (p == NULL) exit(1);
  return p;
}

static setting setting_new(const problem *p) {
  setting s = {.p = p, .bytes = (int64_t)vt_cpu_bytes_of(p->dtype)};
  s.a = strides_of(p->layout, p->m, p->k);
  s.b = strides_of(p->layout, p->k, p->n);
  s.c = strides_of(p->gaps ? 2 : 0, p->m, p->n);
  s.at_a = alloc_bytes(p->products * s.a.each * s.bytes);
  s.at_b = alloc_bytes(p->products * s.b.each * s.bytes);
  s.at_c = alloc_bytes(p->products * s.c.each * s.bytes);
  s.want = alloc_bytes(p->products * p->m * p->n * s.bytes);
  s.bias = alloc_bytes(p->n * s.bytes);
  fill_random(s.at_a, p->dtype, p->products * s.a.each, p->any);
  fill_random(s.at_b, p->dtype, p->products * s.b.each, p->any);
  fill_random(s.bias, p->dtype, p->n, 0);
  for (int64_t i = 0; i < p->products; i++) compute_expected(&s, i);
  return s;
}

static void setting_free(const setting *s) {
  free(s->at_a);
  free(s->at_b);
  free(s->at_c);
  free(s->want);
  free(s->bias);
}

static void pack_b_if_wanted(setting *s) {
  const problem *p = s->p;
  const vt_cpu_side b = side_b(s, 0);
  if (!p->packed) return;
  s->packed = alloc_bytes((int64_t)vt_cpu_gemm_pack_bytes(&team, p->dtype, p->n, p->k));
  vt_cpu_gemm_pack(&team, p->dtype, p->n, p->k, &b, s->packed);
}

/* Counts wrong elements, and elements between them that were overwritten. */
static int64_t count_wrong_elements(const setting *s) {
  const problem *p = s->p;
  char untouched[8];
  int64_t n = 0;
  memset(untouched, 0x55, sizeof untouched);
  for (int64_t e = 0; e < p->products * s->c.each; e++) {
    const int64_t i = e / s->c.each, r = e % s->c.each / s->c.row, c = e % s->c.each % s->c.row;
    if (c % s->c.column == 0 && c / s->c.column < p->n) {
      n += !is_same_number_or_nans(s->at_c, s->want, p->dtype, e,
                                   (i * p->m + r) * p->n + c / s->c.column);
    } else {
      n += memcmp(s->at_c + e * s->bytes, untouched, (size_t)s->bytes) != 0;
    }
  }
  return n;
}

static void run_and_compare(setting *s, const char *isa) {
  const problem *p = s->p;
  const vt_cpu_products all = {.dtype = p->dtype,
                               .n = p->products,
                               .m_each = p->m,
                               .n_each = p->n,
                               .k_each = p->k,
                               .get = get_product,
                               .context = s,
                               .contiguous = p->contiguous,
                               .packed = p->packed};
  const uint64_t bytes = vt_cpu_gemm_scratch_bytes(&team, &all);
  char *work = alloc_bytes((int64_t)bytes + 64);
  memset(work, 0xff, bytes);
  memset(work + bytes, 0x77, 64);
  memset(s->at_c, 0x55, (size_t)(p->products * s->c.each * s->bytes));
  pack_b_if_wanted(s);
  vt_cpu_gemm(&team, &all, work);
  const int64_t n = count_wrong_elements(s);
  if (n != 0)
    fprintf(stderr, "%s x%u %s %lld of [%lld, %lld, %lld] layout %d packed %d: %lld wrong\n", isa,
            team.threads, p->dtype == F32 ? "f32" : "f64", (long long)p->products, (long long)p->m,
            (long long)p->n, (long long)p->k, p->layout, p->packed, (long long)n);
  CHECK(n == 0);
  for (int i = 0; i < 64; i++) CHECK(work[bytes + (uint64_t)i] == 0x77);
  free(work);
  free(s->packed);
  s->packed = NULL;
}

static void try_on_all_teams(const problem *p) {
  static const char *const isas[] = {"scalar", "sse2", "avx2", "avx512"};
  static const uint32_t threads[] = {1, 2, 3, 7};
  static vt_pool *pools[4];
  vt_diag d;
  setting s = setting_new(p);
  for (int i = 0; i < 4; i++)
    for (int t = 0; t < 4; t++) {
      team.kernels = vt_cpu_kernels_of(isas[i]);
      team.threads = threads[t];
      if (team.kernels == NULL) continue;
      if (pools[t] == NULL)
        CHECK(vt_pool_new(threads[t], vt_fault_alloc(&heap), &pools[t], &d) == VT_OK);
      team.pool = pools[t];
      run_and_compare(&s, isas[i]);
    }
  setting_free(&s);
}

/* ---- the cases ---- */

static void try_lengths_of_k(void) {
  static const int64_t depth[] = {0, 1, 2, 255, 256, 257, 513, 2047, 2048, 2049, 4097, 16385};
  for (size_t i = 0; i < sizeof depth / sizeof *depth; i++)
    for (int v = 0; v < 4; v++) {
      const problem p = {.dtype = v % 2 ? F64 : F32,
                         .m = v < 2 ? 5 : 2,
                         .n = 3,
                         .k = depth[i],
                         .contiguous = v >= 2,
                         .gaps = v == 1,
                         .any = depth[i] < 300,
                         .products = 1};
      if (depth[i] < 4000 || v < 2 || vt_test_is_long()) try_on_all_teams(&p);
    }
}

/* Tries every height of a tile, and widths around one, two and several vectors. */
static void try_sizes_of_tiles(void) {
  static const int64_t width[] = {1, 7, 8, 9, 15, 16, 17, 31, 33, 65};
  for (int64_t m = 1; m <= 16; m++)
    for (size_t j = 0; j < sizeof width / sizeof *width; j++) {
      const problem p = {.dtype = (m + (int64_t)j) % 3 ? F32 : F64,
                         .m = m,
                         .n = width[j],
                         .k = 5 + m,
                         .layout = (int)((size_t)m + j) % 3,
                         .packed = j % 2,
                         .biased = m % 2 == 0,
                         .any = 1,
                         .products = 1};
      try_on_all_teams(&p);
    }
}

static void try_shapes_of_products(void) {
  static const problem shapes[] = {
      {F32, 0, 5, 3, 0, 0, 0, 0, 0, 0, 1},      {F32, 5, 0, 3, 0, 0, 0, 0, 0, 0, 1},
      {F32, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0},      {F64, 3, 4, 0, 1, 1, 1, 0, 1, 0, 2},
      {F32, 1, 600, 40, 0, 0, 0, 1, 1, 1, 3},   {F32, 8, 130, 20, 0, 0, 0, 1, 1, 1, 2},
      {F64, 3, 90, 33, 0, 0, 1, 1, 0, 1, 1},    {F32, 4, 300, 19, 1, 1, 0, 0, 1, 1, 1},
      {F32, 2, 300, 300, 1, 1, 0, 0, 0, 0, 1},  {F32, 70, 100, 9, 2, 0, 1, 0, 1, 1, 9},
      {F32, 300, 40, 7, 1, 1, 0, 0, 0, 0, 1},   {F64, 150, 20, 7, 0, 1, 0, 0, 0, 1, 1},
      {F32, 20, 1100, 8, 0, 0, 0, 0, 0, 0, 1},  {F32, 1, 5000, 3, 0, 0, 0, 1, 0, 0, 1},
      {F32, 9, 40, 2, 0, 0, 0, 0, 0, TIES, 1},  {F32, 520, 130, 260, 1, 1, 0, 0, 1, 0, 1},
      {F32, 6, 1030, 2050, 0, 1, 0, 0, 0, 0, 1}};
  const size_t n = sizeof shapes / sizeof *shapes - (vt_test_is_long() ? 0 : 1);
  for (size_t i = 0; i < n; i++) try_on_all_teams(&shapes[i]);
}

int main(void) {
  try_lengths_of_k();
  try_sizes_of_tiles();
  try_shapes_of_products();
  TEST_DONE();
}
