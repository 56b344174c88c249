/* SPDX-License-Identifier: Apache-2.0
 * elementwise_test.h - special values, shapes that broadcast, and random operands of these shapes,
 * shared by the tests of pointwise ops. */
#ifndef VT_ELEMENTWISE_TEST_H
#define VT_ELEMENTWISE_TEST_H
#include "eager_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64, BOOL = VT_DTYPE_BOOL };

static const uint32_t special_f32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f000000,
    0x3f800000, 0xbf800000, 0x40000000, 0x40490fdb, 0xc0490fdb, 0x42b17218, 0xc2cff1b5, 0x4b800001,
    0xcb000001, 0x5f000000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
    0x7f800001, 0xbf000000, 0x3fc00000, 0xbfc00000, 0x40200000, 0xc0200000, 0x3effffff, 0x3f000001,
    0xbf7fffff, 0x4affffff, 0xcaffffff, 0x4b000000, 0x4afffffd};
static const uint64_t special_f64[] = {0,
                                       UINT64_C(0x8000000000000000),
                                       1,
                                       UINT64_C(0x8000000000000001),
                                       UINT64_C(0x000fffffffffffff),
                                       UINT64_C(0x0010000000000000),
                                       UINT64_C(0x3fe0000000000000),
                                       UINT64_C(0x3ff0000000000000),
                                       UINT64_C(0xbff0000000000001),
                                       UINT64_C(0x400921fb54442d18),
                                       UINT64_C(0x4340000000000001),
                                       UINT64_C(0xc3e0000000000000),
                                       UINT64_C(0x7fefffffffffffff),
                                       UINT64_C(0xffefffffffffffff),
                                       UINT64_C(0x7ff0000000000000),
                                       UINT64_C(0xfff0000000000000),
                                       UINT64_C(0x7ff8000000000000),
                                       UINT64_C(0xfff0000000000001),
                                       UINT64_C(0xbfe0000000000000),
                                       UINT64_C(0x3ff8000000000000),
                                       UINT64_C(0xc004000000000000),
                                       UINT64_C(0x3fdfffffffffffff),
                                       UINT64_C(0xbfefffffffffffff),
                                       UINT64_C(0x432fffffffffffff),
                                       UINT64_C(0xc32fffffffffffff),
                                       UINT64_C(0x4330000000000000)};

static const struct {
  uint32_t rank[3];
  int64_t dim[3][8];
} shapes[] = {
    {{0, 0, 0}, {{0}}},
    {{0, 1, 0}, {{0}, {5}}},
    {{1, 1, 1}, {{1}, {7}, {7}}},
    {{1, 2, 1}, {{9}, {4, 9}, {1}}},
    {{2, 2, 2}, {{8, 1}, {1, 16}, {8, 16}}},
    {{3, 1, 2}, {{2, 3, 33}, {33}, {3, 1}}},
    {{1, 1, 0}, {{0}, {1}}},
    {{3, 1, 1}, {{2, 0, 3}, {3}, {1}}},
    {{2, 4, 3}, {{1, 0}, {3, 1, 5, 1}, {1, 5, 0}}},
    {{1, 3, 2}, {{257}, {2, 1, 1}, {1, 257}}},
    {{8, 8, 8}, {{2, 1, 2, 1, 2, 1, 2, 1}, {1, 2, 1, 2, 1, 2, 1, 2}, {2, 2, 1, 1, 1, 2, 2, 1}}},
    {{8, 3, 0}, {{2, 1, 3, 1, 1, 2, 1, 5}, {1, 3, 5}}},
    {{5, 5, 5}, {{2, 3, 1, 2, 2}, {2, 3, 4, 2, 2}, {1, 1, 4, 1, 1}}},
};

static inline vt_view random_operand(uint32_t dtype, int64_t shape, uint32_t operand, int layout,
                                     uint64_t *state) {
  return fill_any(view_new(dtype, shapes[shape].rank[operand], shapes[shape].dim[operand], layout),
                  state);
}
#endif
