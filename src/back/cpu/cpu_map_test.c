/* SPDX-License-Identifier: Apache-2.0
 * cpu_map_test.c - every pointwise kernel of every instruction set of this processor against the
 * reference kernels; functions also on hard and special inputs, and on a sample of all inputs. */
#include <string.h>
#include "cpu_kernels.h"
#include "vt_num.h"
#include "vt_op.h"
#include "vt_test.h"

enum { MAX_N = 5000, BYTES = MAX_N * 8 };

typedef struct buffer {
  _Alignas(64) unsigned char b[BYTES + 64];
} buffer;

static uint64_t next_random(uint64_t *seed) {
  uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* ---- values: any bit pattern, ordinary numbers, and special cases ---- */

static const double special[] = {0,
                                 -0.0,
                                 0.5,
                                 -0.5,
                                 1,
                                 -1,
                                 1.5,
                                 2.5,
                                 -2.5,
                                 3,
                                 127,
                                 -128,
                                 128,
                                 255,
                                 256,
                                 1e-40,
                                 -1e-3,
                                 65504,
                                 65520,
                                 2147483647,
                                 -2147483648.0,
                                 1e10,
                                 8388607.5,
                                 8388608,
                                 -4503599627370495.5,
                                 0x1p63,
                                 1e300,
                                 -1e300,
                                 1e-310,
                                 3e38};

static double random_value(uint64_t *seed) {
  const uint64_t r = next_random(seed);
  if (r % 4 == 0) return special[(r >> 8) % (sizeof special / sizeof *special)];
  if (r % 16 == 1) return vt_f64_from_bits(UINT64_C(0x7ff0000000000000) | (r >> 63 << 63));
  if (r % 16 == 2) return vt_f64_from_bits(UINT64_C(0x7ff8000000000000));
  return ((double)(r >> 12) * 0x1p-52 - 0.5) * (r % 3 == 0 ? 4 : 300);
}

static void fill_random_values(void *to, uint32_t dtype, int64_t n, uint64_t *seed) {
  for (int64_t i = 0; i < n; i++) {
    const double x = random_value(seed);
    const int64_t bits = (int64_t)next_random(seed);
    const uint64_t width = vt_dtype_bytes(dtype);
    const int whole = dtype >= VT_DTYPE_I8 && dtype <= VT_DTYPE_BOOL && bits % 2 == 0;
    char *at = (char *)to + (uint64_t)i * width;
    if (whole && dtype != VT_DTYPE_BOOL)
      memcpy(at, &bits, width);
    else
      vt_cast(&x, 1, VT_DTYPE_F64, at, 1, dtype, 1);
  }
}

/* ---- against the reference ---- */

static vt_view line_view(void *data, uint32_t dtype, int64_t n) {
  return (vt_view){.dtype = dtype, .rank = 1, .dim = {n}, .stride = {1}, .data = data};
}

static buffer in[3], got, want;

static int results_are_same(uint32_t dtype, int64_t n) {
  vt_canonical(got.b, dtype, (uint64_t)n);
  vt_canonical(want.b, dtype, (uint64_t)n);
  return memcmp(got.b, want.b, (size_t)n * vt_dtype_bytes(dtype)) == 0;
}

/* Runs the reference kernel on the operands in `in`; returns 0 if it does not support the types. */
static int run_reference_if_supported(uint32_t op, const void *attrs, const uint32_t *types,
                                      uint32_t n_in, uint32_t result_type, int64_t n) {
  vt_view x[3], y = line_view(want.b, result_type, n);
  for (uint32_t i = 0; i < n_in; i++) x[i] = line_view(in[i].b, types[i], n);
  vt_kernel k = {.in = x, .n_in = n_in, .n_out = 1, .out = &y, .attrs = attrs};
  return vt_op_get(op)->kernel(&k) == VT_OK;
}

static void compare_kernel(const vt_cpu_kernels *isa, vt_cpu_map_fn *f, const char *name,
                           uint32_t dtype, uint32_t result_type, int64_t n) {
  const void *x[3] = {in[0].b, in[1].b, in[2].b};
  memset(got.b, 0xa5, sizeof got.b);
  f(got.b, x, n);
  const int untouched = got.b[(size_t)n * vt_dtype_bytes(result_type)] == 0xa5;
  const int right = results_are_same(result_type, n);
  if (!right || !untouched)
    fprintf(stderr, "%s: %s of %s to %s, %lld elements: %s\n", isa->isa, name, vt_dtype_name(dtype),
            vt_dtype_name(result_type), (long long)n,
            right ? "writes beyond its end" : "other bits");
  CHECK(right && untouched);
}

/* Compares results that the kernel writes over an operand, for each operand whose elements have the
 * size of the result's. */
static void compare_in_place(const vt_cpu_kernels *isa, vt_cpu_map_fn *f, const char *name,
                             uint32_t n_in, uint32_t result_type, int64_t n,
                             const uint32_t *types) {
  for (uint32_t over = 0; over < n_in; over++) {
    if (vt_dtype_bytes(types[over]) != vt_dtype_bytes(result_type)) continue;
    const void *x[3] = {in[0].b, in[1].b, in[2].b};
    memcpy(got.b, in[over].b, (size_t)n * vt_dtype_bytes(result_type));
    x[over] = got.b;
    f(got.b, x, n);
    if (!results_are_same(result_type, n))
      fprintf(stderr, "%s: %s over operand %u\n", isa->isa, name, over);
    CHECK(results_are_same(result_type, n));
  }
}

static const int64_t lengths[] = {0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 63, 64, 65, 127, 200, 1023};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void check_kernel(const vt_cpu_kernels *isa, vt_cpu_map_fn *f, uint32_t op,
                         const void *attrs, const uint32_t *types, uint32_t n_in,
                         uint32_t result_type) {
  uint64_t seed = op * 131 + types[0] * 17 + result_type;
  for (int i = 0; i < LENGTHS; i++) {
    const int64_t n = lengths[i];
    for (uint32_t k = 0; k < n_in; k++) fill_random_values(in[k].b, types[k], n, &seed);
    if (!run_reference_if_supported(op, attrs, types, n_in, result_type, n)) continue;
    compare_kernel(isa, f, vt_op_get(op)->name, types[n_in - 1], result_type, n);
    if (i % 4 == 0) compare_in_place(isa, f, vt_op_get(op)->name, n_in, result_type, n, types);
  }
}

static const struct {
  uint32_t op, n_in, truth;
} rows[] = {
#define VT_RESULT_same 0
#define VT_RESULT_truth 1
#define VT_MAP(op, n, result, f, i, t, cost) {VT_OP_##op, n, VT_RESULT_##result},
#include "maps.def"
#undef VT_MAP
};

static void test_pointwise_ops(const vt_cpu_kernels *isa) {
  for (int r = 0; r < VT_MAPS; r++)
    for (uint32_t type = VT_DTYPE_F32; type <= VT_DTYPE_BF16; type++) {
      const uint32_t types[3] = {type, type, type};
      vt_cpu_map_fn *f = isa->maps->of[r][type];
      if (f == NULL) continue;
      check_kernel(isa, f, rows[r].op, NULL, types, rows[r].n_in,
                   rows[r].truth ? VT_DTYPE_BOOL : type);
    }
}

static void test_select_and_casts(const vt_cpu_kernels *isa) {
  for (uint32_t type = VT_DTYPE_F32; type <= VT_DTYPE_BF16; type++) {
    const uint32_t types[3] = {VT_DTYPE_BOOL, type, type};
    check_kernel(isa, isa->maps->select[type], VT_OP_select, NULL, types, 3, type);
    for (uint32_t result_type = VT_DTYPE_F32; result_type <= VT_DTYPE_BF16; result_type++) {
      const vt_attr_cast a = {.size = sizeof a, .dtype = result_type};
      check_kernel(isa, isa->maps->cast[type][result_type], VT_OP_cast, &a, &type, 1, result_type);
    }
  }
}

/* ---- functions ---- */

static const struct {
  const char *name;
  int map;
  float (*right)(float x);
} functions[] = {
#define VT_FUNCTION(name, estimate, oracle) {#name, VT_MAP_##name, vt_f32_##name},
#include "functions.def"
#undef VT_FUNCTION
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const uint32_t hard[] = {
#define VT_EDGE(name, x, want) x,
#include "edges.def"
#define VT_HARD(name, x, want) x,
#include "hard.def"
    0, 0x80000000u, 1, 0x807fffffu, 0x7f800000u, 0xff800000u, 0x7fc00000u, 0xffa00001u};
enum { HARD = sizeof hard / sizeof *hard };

static void check_function(const vt_cpu_kernels *isa, int f, int64_t n) {
  const void *x[1] = {in[0].b};
  isa->maps->of[functions[f].map][VT_DTYPE_F32](got.b, x, n);
  for (int64_t i = 0; i < n; i++)
    ((float *)(void *)want.b)[i] = functions[f].right(((const float *)(const void *)in[0].b)[i]);
  if (!results_are_same(VT_DTYPE_F32, n))
    fprintf(stderr, "%s: %s: other bits\n", isa->isa, functions[f].name);
  CHECK(results_are_same(VT_DTYPE_F32, n));
}

/* Tests each function on the inputs that are hard for any of them, then on bit patterns that are a
 * prime number apart. */
static void test_functions(const vt_cpu_kernels *isa) {
  float *x = (float *)(void *)in[0].b;
  const uint32_t rounds = vt_test_is_long() ? 200 : 8;
  for (int f = 0; f < FUNCTIONS; f++) {
    for (int i = 0; i < HARD; i++) x[i] = vt_f32_from_bits(hard[i]);
    check_function(isa, f, HARD);
    for (uint32_t round = 0; round < rounds; round++) {
      for (uint32_t i = 0; i < MAX_N; i++)
        x[i] = vt_f32_from_bits((round * MAX_N + i) * (round % 2 == 0 ? 107377u : 1000003u));
      check_function(isa, f, MAX_N);
    }
  }
}

static void test_exp_of_difference(const vt_cpu_kernels *isa) {
  uint64_t seed = 5;
  float *x = (float *)(void *)in[0].b, *y = (float *)(void *)got.b;
  for (int i = 0; i < LENGTHS; i++) {
    const int64_t n = lengths[i];
    fill_random_values(x, VT_DTYPE_F32, n, &seed);
    isa->maps->exp_sub(y, x, 3.25f, n);
    for (int64_t k = 0; k < n; k++) ((float *)(void *)want.b)[k] = vt_f32_exp(x[k] - 3.25f);
    CHECK(results_are_same(VT_DTYPE_F32, n));
  }
}

int main(void) {
  static const char *const names[] = {
#define VT_ISA(name, has) #name,
#include "isa.def"
#undef VT_ISA
  };
  _Static_assert((int)HARD <= (int)MAX_N, "the hard inputs fit");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const vt_cpu_kernels *isa = vt_cpu_kernels_of(names[i]);
    if (isa == NULL) continue;
    test_pointwise_ops(isa);
    test_select_and_casts(isa);
    test_functions(isa);
    test_exp_of_difference(isa);
  }
  TEST_DONE();
}
