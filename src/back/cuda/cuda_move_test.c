/* SPDX-License-Identifier: Apache-2.0
 * cuda_move_test.c - moves on a GPU have the bits of the reference's kernels: elements of every
 * size, tensors that lie in every way, planes that are turned over, pieces of 16 bytes. */
#include "placed_test.h"

static const uint32_t types[] = {VT_DTYPE_U8,  VT_DTYPE_F16,  VT_DTYPE_F32,
                                 VT_DTYPE_F64, VT_DTYPE_BOOL, VT_DTYPE_I64};
enum { TYPES = sizeof types / sizeof *types };

static void test_transpose(uint32_t dtype, way in, way out) {
  static const struct {
    uint32_t rank;
    int64_t dim[4], perm[4];
  } cases[] = {{2, {70, 45}, {1, 0}},
               {2, {5, 300}, {1, 0}},
               {3, {3, 40, 33}, {0, 2, 1}},
               {4, {2, 9, 10, 16}, {0, 2, 1, 3}},
               {4, {2, 12, 11, 9}, {3, 0, 2, 1}},
               {3, {4, 1, 64}, {2, 1, 0}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vt_attr_perm a = {.size = sizeof a, .perm = {.n = cases[i].rank}};
    memcpy(a.perm.v, cases[i].perm, sizeof cases[i].perm);
    trial s = TRIAL(transpose, a);
    give(&s, dtype, cases[i].rank, cases[i].dim, in);
    infer(&s, out);
    compare(&s, "turned over");
  }
}

static void test_slice(uint32_t dtype, way in, way out) {
  const vt_attr_slice a = {.size = sizeof a,
                           .start = {.n = 3, .v = {1, 8, 16}},
                           .stop = {.n = 3, .v = {4, 29, 48}},
                           .step = {.n = 3, .v = {1, 2, 1}}};
  trial s = TRIAL(slice, a);
  give(&s, dtype, DIMS(5, 33, 64), in);
  infer(&s, out);
  compare(&s, "a part");
}

static void test_concat(uint32_t dtype, way in, way out) {
  const vt_attr_axis a = {.size = sizeof a, .axis = 1};
  trial s = TRIAL(concat, a);
  give(&s, dtype, DIMS(7, 4, 8), in);
  give(&s, dtype, DIMS(7, 1, 8), in);
  give(&s, dtype, DIMS(7, 16, 8), in);
  infer(&s, out);
  compare(&s, "joined");
}

static void test_pad(uint32_t dtype, way in, way out) {
  const vt_attr_pad a = {
      .size = sizeof a, .low = {.n = 3, .v = {0, 3, 1}}, .high = {.n = 3, .v = {2, 0, 5}}};
  trial s = TRIAL(pad, a);
  give(&s, dtype, DIMS(3, 10, 11), in);
  give(&s, dtype, 0, NULL, DENSE);
  infer(&s, out);
  compare(&s, "in a frame");
}

static void test_reshape(uint32_t dtype, way in, way out) {
  const vt_attr_shape a = {.size = sizeof a, .shape = {.n = 3, .v = {6, 5, 14}}};
  trial s = TRIAL(reshape, a);
  give(&s, dtype, DIMS(4, 105), in);
  infer(&s, out);
  compare(&s, "in another shape");
}

static void test_broadcast(uint32_t dtype, way in, way out) {
  const vt_attr_shape a = {.size = sizeof a, .shape = {.n = 4, .v = {3, 6, 20, 32}}};
  trial s = TRIAL(broadcast, a);
  give(&s, dtype, DIMS(6, 1, 32), in);
  infer(&s, out);
  compare(&s, "repeated");
  s = TRIAL(broadcast, a);
  give(&s, dtype, DIMS(20, 1), in);
  infer(&s, out);
  compare(&s, "repeated along the last axis");
}

static void test_tile(uint32_t dtype, way in, way out) {
  const vt_attr_tile a = {.size = sizeof a, .repeats = {.n = 3, .v = {2, 1, 3}}};
  trial s = TRIAL(tile, a);
  give(&s, dtype, DIMS(4, 9, 5), in);
  infer(&s, out);
  compare(&s, "again and again");
}

static void test_flip(uint32_t dtype, way in, way out) {
  const vt_attr_axes a = {.size = sizeof a, .axes = {.n = 2, .v = {0, 2}}};
  trial s = TRIAL(flip, a);
  give(&s, dtype, DIMS(4, 9, 16), in);
  infer(&s, out);
  compare(&s, "reversed");
}

static void test_moves(uint32_t dtype, way in, way out) {
  test_transpose(dtype, in, out);
  test_slice(dtype, in, out);
  test_concat(dtype, in, out);
  test_pad(dtype, in, out);
  test_reshape(dtype, in, out);
  test_broadcast(dtype, in, out);
  test_tile(dtype, in, out);
  test_flip(dtype, in, out);
}

static void test_made(void) {
  static const uint32_t numbers[] = {VT_DTYPE_I32, VT_DTYPE_I64, VT_DTYPE_F32, VT_DTYPE_F64};
  for (int i = 0; i < 12; i++) {
    const vt_attr_iota a = {.size = sizeof a,
                            .shape = {.n = 3, .v = {5, 40, 7}},
                            .axis = i % 3 == 2 ? -1 : i % 3,
                            .dtype = numbers[i % 4]};
    trial s = TRIAL(iota, a);
    infer(&s, i % 5 == 4 ? TURNED : DENSE);
    compare(&s, "counted");
  }
  for (size_t i = 0; i < TYPES; i++) {
    const vt_attr_literal a = {
        .size = sizeof a, .dtype = types[i], .bits = i == 4 ? 1 : 0x8123456789abcd01};
    trial s = TRIAL(literal, a);
    infer(&s, DENSE);
    compare(&s, "a number");
  }
}

/* Nothing to move, and a tensor of eight axes. */
static void test_ends(void) {
  const vt_attr_perm nothing = {.size = sizeof nothing, .perm = {.n = 3, .v = {2, 0, 1}}};
  trial s = TRIAL(transpose, nothing);
  give(&s, VT_DTYPE_F32, DIMS(4, 0, 3), DENSE);
  infer(&s, DENSE);
  compare(&s, "nothing");
  const vt_attr_tile twice = {.size = sizeof twice,
                              .repeats = {.n = 8, .v = {2, 2, 1, 2, 2, 1, 2, 3}}};
  s = TRIAL(tile, twice);
  give(&s, VT_DTYPE_F32, DIMS(2, 1, 2, 3, 2, 2, 1, 3), SPREAD);
  infer(&s, DENSE);
  compare(&s, "eight axes");
}

int main(void) {
  if (!placed_begin()) return 77;
  for (size_t i = 0; i < TYPES; i++)
    for (int w = DENSE; w < WAYS; w++) {
      test_moves(types[i], (way)w, DENSE);
      if (w != REPEATED && (i == 2 || w == LATE))
        test_moves(types[i], w == LATE ? LATE : DENSE, (way)w);
    }
  test_moves(VT_DTYPE_F32, SPREAD, TURNED);
  test_made();
  test_ends();
  placed_end();
  TEST_DONE();
}
