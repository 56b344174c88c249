/* SPDX-License-Identifier: Apache-2.0
 * numbers_test.cc - CUDA primitives of a single thread give the device's results also where C++ by
 * itself would not. */
#include <vector>
#include "vt_test.h"
#include "gpu_words.cuh"

/* Hides a value, so that the compiler does not convert it at compile time, with saturation of its
 * own. */
static double hide_from_compiler(double x) {
  volatile double y = x;
  return y;
}

static void test_conversions() {
  const double nan = __longlong_as_double(0x7ff8000000000000), inf = 1.0 / 0.0;
  const float nan_f = (float)nan, inf_f = (float)inf;
  CHECK(__double2ll_rz(nan) == INT64_MIN && __double2ll_rz(-inf) == INT64_MIN);
  CHECK(__double2ll_rz(inf) == INT64_MAX &&
        __double2ll_rz(hide_from_compiler(0x1p63)) == INT64_MAX);
  CHECK(__double2ll_rz(-1.9) == -1 && __double2ll_rz(-0x1p63) == INT64_MIN);
  CHECK(__double2ll_rz(0x1.fffffffffffffp62) == 0x7ffffffffffffc00);
  CHECK(__double2int_rz(nan) == INT32_MIN && __double2int_rz(-inf) == INT32_MIN);
  CHECK(__double2int_rz(2147483647.9) == INT32_MAX &&
        __double2int_rz(hide_from_compiler(1e300)) == INT32_MAX);
  CHECK(__float2int_rz(nan_f) == 0 && __float2int_rz(inf_f) == INT32_MAX);
  CHECK(__float2int_rz(-0x1p31f) == INT32_MIN && __float2int_rz(0x1.fffffep30f) == 0x7fffff80);
  CHECK(__float2uint_rz(-1.0f) == 0 &&
        __float2uint_rz((float)hide_from_compiler(0x1p32)) == UINT32_MAX);
  CHECK(__float2uint_rz(nan_f) == 0 && __float2uint_rz(0x1p31f) == 0x80000000u);
  CHECK(__float2ll_rz(nan_f) == INT64_MIN && __float2ull_rz(nan_f) == (uint64_t)INT64_MIN);
  CHECK(__double2ull_rz(-0.5) == 0 && __double2ull_rz(hide_from_compiler(0x1p64)) == UINT64_MAX);
  CHECK(__float2int_rn(2.5f) == 2 && __float2int_rn(3.5f) == 4 && __float2int_rd(-0.5f) == -1);
  CHECK(__float2int_ru(0.25f) == 1 && __double2ll_rn(-2.5) == -2);
  CHECK(__int2float_rn(16777217) == 16777216.0f && __ll2double_rn(INT64_MAX) == 0x1p63);
  CHECK(__double2float_rn(1.0 + 0x1p-24) == 1.0f && __double2float_rn(1e300) == inf_f);
}

static void test_bit_operations() {
  CHECK(__clz(0) == 32 && __clz(1) == 31 && __clz(-1) == 0 && __clzll(0) == 64);
  CHECK(__clzll(1) == 63 && __ffs(0) == 0 && __ffs(8) == 4 && __ffsll(1ll << 40) == 41);
  CHECK(__popc(0xf0f0u) == 8 && __popcll(~0ull) == 64);
  CHECK(__brev(1) == 0x80000000u && __brev(0x12345678u) == 0x1e6a2c48u);
  CHECK(__brevll(1) == 0x8000000000000000u);
  CHECK(__byte_perm(0x33221100u, 0x77665544u, 0x7410u) == 0x77441100u);
  CHECK(__funnelshift_l(0x80000000u, 1u, 1) == 3u && __funnelshift_r(1u, 1u, 1) == 0x80000000u);
  CHECK(__mulhi(INT32_MIN, INT32_MIN) == 0x40000000 && __umulhi(~0u, ~0u) == 0xfffffffeu);
  CHECK(__umul64hi(~0ull, ~0ull) == ~0ull - 1 && __mul64hi(-1, 1) == -1);
  CHECK(__dp4a((int)0x80ff0102u, 0x7f010203, 10) == 10 - 128 * 127 - 1 + 2 + 6);
  CHECK(__dp4a(0x80ff0102u, 0x7f010203u, 10u) == 10u + 128 * 127 + 255 + 2 + 6);
  CHECK(__dp4a(0x01010101, 0x7f7f7f7f, INT32_MAX) == INT32_MIN + 507);
}

static void test_arithmetic() {
  const float x = 1.0f + 0x1p-12f;
  CHECK(__fmaf_rn(x, x, -1.0f - 0x1p-11f) == 0x1p-24f);
  CHECK(__fmul_rn(x, x) == 1.0f + 0x1p-11f);
  CHECK(__fadd_rn(1.0f, 0x1p-24f) == 1.0f && __fsub_rn(1.0f, 0x1p-25f) == 1.0f);
  CHECK(__fmul_rn(0x1p-100f, 0x1p-49f) == 0x1p-149f); /* subnormals are not flushed */
  CHECK(__fma_rn(0x1p-600, 0x1p-474, 0.0) == 0x1p-1074);
  CHECK(__float_as_uint(__fsqrt_rn(2.0f)) == 0x3fb504f3u &&
        __fdiv_rn(1.0f, 3.0f) == 0x1.555556p-2f);
  CHECK(min(-1, 2) == -1 && max(~0u, 1u) == ~0u && min(2.0f, 1.0f) == 1.0f);
  CHECK(__double2hiint(1.0) == 0x3ff00000 && __hiloint2double(0x3ff00000, 0) == 1.0);
}

static void test_atomics() {
  int i = 5;
  unsigned u = 5;
  unsigned long long w = ~0ull;
  CHECK(atomicMin(&i, -3) == 5 && i == -3 && atomicMax(&i, 7) == -3 && i == 7);
  CHECK(atomicMin(&w, 9ull) == ~0ull && w == 9 && atomicAdd(&w, ~0ull) == 9 && w == 8);
  CHECK(atomicCAS(&u, 4u, 1u) == 5 && u == 5 && atomicCAS(&u, 5u, 1u) == 5 && u == 1);
  CHECK(atomicExch(&u, 6u) == 1 && atomicOr(&u, 9u) == 6 && atomicAnd(&u, 3u) == 15 && u == 3);
  CHECK(atomicInc(&u, 3u) == 3 && u == 0 && atomicInc(&u, 3u) == 0 && u == 1);
}

int main() {
  test_conversions();
  test_bit_operations();
  test_arithmetic();
  test_atomics();
  TEST_DONE();
}
