/* SPDX-License-Identifier: Apache-2.0
 * one_nan_test.c - making an array canonical gives the same as making each element canonical: for
 * every length around a block, a NaN at every position, any alignment. */
#include <string.h>
#include "volta/volta_ops.h"
#include "vt_num.h"
#include "vt_test.h"

enum { MAX_LENGTH = 200, EDGES = 10 };

static const uint32_t edges_f32[EDGES] = {0,          0x80000000, 0x3f800000, 0x7f7fffff,
                                          0x7f800000, 0xff800000, 0x7f800001, 0xffc00000,
                                          0x7fc00000, 0xffffffff};
static const uint64_t edges_f64[EDGES] = {0,
                                          UINT64_C(0x8000000000000000),
                                          UINT64_C(0x3ff0000000000000),
                                          UINT64_C(0x7fefffffffffffff),
                                          UINT64_C(0x7ff0000000000000),
                                          UINT64_C(0xfff0000000000000),
                                          UINT64_C(0x7ff0000000000001),
                                          UINT64_C(0xfff8000000000000),
                                          UINT64_C(0x7ff8000000000000),
                                          UINT64_MAX};

static uint64_t edge_pattern(uint32_t dtype, uint32_t i) {
  return dtype == VT_DTYPE_F32 ? edges_f32[i] : edges_f64[i];
}

/* The canonical form of a pattern, computed from patterns only: what is above infinity is a NaN. */
static uint64_t canonical_pattern(uint32_t dtype, uint64_t u) {
  const uint64_t inf = edge_pattern(dtype, 4), sign = edge_pattern(dtype, 1);
  return (u & ~sign) > inf ? edge_pattern(dtype, 8) : u;
}

static void store_pattern(unsigned char *p, uint64_t bytes, uint64_t u) {
  memcpy(p, &u, (size_t)bytes);
}

/* Tests an array of n ones in which element `at` is u; the bytes before and after it must not
 * change. */
static void check_array_with_one_pattern(uint32_t dtype, uint64_t n, uint64_t at, uint64_t u,
                                         uint32_t shift) {
  unsigned char have[8 * MAX_LENGTH + 16], want[8 * MAX_LENGTH + 16];
  const uint64_t bytes = (dtype == VT_DTYPE_F32 ? 4 : 8);
  memset(have, 0xa5, sizeof have);
  memset(want, 0xa5, sizeof want);
  for (uint64_t i = 0; i < n; i++) {
    const uint64_t v = i == at ? u : edge_pattern(dtype, 2);
    store_pattern(have + shift + i * bytes, bytes, v);
    store_pattern(want + shift + i * bytes, bytes, canonical_pattern(dtype, v));
  }
  CHECK(vt_is_canonical(have + shift, dtype, n) == (memcmp(have, want, sizeof have) == 0));
  vt_canonical(have + shift, dtype, n);
  CHECK(memcmp(have, want, sizeof have) == 0);
}

static void check_arrays_of_type(uint32_t dtype) {
  static const uint64_t lengths[] = {0, 1, 63, 64, 65, 127, 128, 129, 192, MAX_LENGTH};
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
    for (uint64_t at = 0; at <= lengths[l]; at++)
      for (uint32_t e = 0; e < EDGES; e++)
        check_array_with_one_pattern(dtype, lengths[l], at, edge_pattern(dtype, e), e % 3);
}

int main(void) {
  check_arrays_of_type(VT_DTYPE_F32);
  check_arrays_of_type(VT_DTYPE_F64);
  TEST_DONE();
}
