/* SPDX-License-Identifier: Apache-2.0
 * cuda_move_test.c - moves on a GPU have the bits of the reference's kernels: elements of every
 * size, tensors that lie in every way, planes that are turned over, pieces of 16 bytes. And
 * results that the host copies have one NaN: after every run, each as often as it is asked for, in
 * part or whole, and nothing beside them is touched. */
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

/* ---- what leaves ---- */

enum { N = 600 };

typedef struct copying {
  trial s;
  vt_bk_step step;
  vt_bk_program *p;
} copying;

/* Its operands lie behind what is used. */
static void copying_begin(copying *c, uint32_t dtype, uint64_t used) {
  static const vt_attr_perm turn = {.size = sizeof turn, .perm = {.n = 2, .v = {1, 0}}};
  c->s = TRIAL(transpose, turn);
  c->s.used = used;
  give(&c->s, dtype, DIMS(20, N / 20), DENSE);
  infer(&c->s, DENSE);
  c->step = (vt_bk_step){.size = sizeof c->step,
                         .op = c->s.op,
                         .n_in = 1,
                         .n_out = 1,
                         .in = c->s.in,
                         .out = c->s.out,
                         .attrs = &turn,
                         .attrs_size = sizeof turn,
                         .work_arena = 1};
  CHECK(api->program_build(device, &c->step, 1, &c->p) == VT_OK);
  CHECK(api->program_results(c->p, c->s.out, 1) == VT_OK);
}

/* Every third element is a NaN of some kind. */
static void fill(char *x, uint32_t dtype) {
  for (uint32_t i = 0; i < N; i++) {
    const uint32_t sign = i % 2 << 31, plain = 0x3f800000u + i;
    const uint32_t u = i % 3 ? plain : sign | (0x7f800001u + i);
    const uint64_t wide = i % 3 ? (uint64_t)plain << 32 : 0x7ff0000000000001u + i;
    const uint16_t half = (uint16_t)(i % 3 ? 0x3c00 + i % 7 : sign >> 16 | (0x7f81 + i % 9));
    if (dtype == VT_DTYPE_F32) memcpy(x + 4 * i, &u, 4);
    if (dtype == VT_DTYPE_F64) memcpy(x + 8 * i, &wide, 8);
    if (dtype == VT_DTYPE_F16 || dtype == VT_DTYPE_BF16) memcpy(x + 2 * i, &half, 2);
  }
}

static void run(copying *c) {
  vt_bk_error error = {.size = sizeof error};
  CHECK(api->run(c->p, buffers, 2) == VT_OK && api->wait(c->p, &error) == VT_OK);
}

static void test_leaving(uint32_t dtype) {
  static char seen[ARENA];
  memset(arena, 0xff, sizeof arena); /* what is beside has the bits of NaN too */
  copying c;
  copying_begin(&c, dtype, 0);
  const uint64_t from = c.s.out->offset, bytes = N * vt_dtype_bytes(dtype), used = c.s.used;
  vt_kernel k;
  fill(arena + c.s.in->offset, dtype);
  memcpy(expected, arena, (size_t)used);
  CHECK(run_reference(&c.s, &k) == VT_OK);
  vt_canonical(expected + from, dtype, N);
  for (int i = 0; i < 4; i++) { /* issued, recorded, replayed */
    CHECK(api->copy(device, arena, buffers[0], 0, used, 1) == VT_OK);
    run(&c);
    CHECK(api->copy(device, seen, buffers[0], from + bytes / 2, bytes / 4, 0) == VT_OK);
    CHECK(memcmp(seen, expected + from + bytes / 2, (size_t)(bytes / 4)) == 0);
    for (int again = 0; again < 2; again++) {
      CHECK(api->copy(device, seen, buffers[0], 0, used, 0) == VT_OK);
      CHECK(memcmp(seen, expected, (size_t)used) == 0);
    }
  }
  api->program_free(c.p);
}

/* Two programs whose results lie side by side, one of which is gone before they are looked at. */
static void test_gone(int which) {
  static char seen[ARENA];
  copying c[2];
  copying_begin(&c[0], VT_DTYPE_F32, 0);
  copying_begin(&c[1], VT_DTYPE_F32, c[0].s.used);
  const uint64_t used = c[1].s.used;
  for (int i = 0; i < 2; i++) fill(arena + c[i].s.in->offset, VT_DTYPE_F32);
  CHECK(api->copy(device, arena, buffers[0], 0, used, 1) == VT_OK);
  run(&c[0]);
  run(&c[1]);
  api->program_free(c[which].p);
  CHECK(api->copy(device, seen, buffers[0], 0, used, 0) == VT_OK);
  for (int i = 0; i < N; i++) {
    uint32_t u;
    memcpy(&u, seen + c[1 - which].s.out->offset + 4 * i, 4);
    CHECK((u & 0x7fffffffu) <= 0x7f800000u || u == 0x7fc00000u);
  }
  api->program_free(c[1 - which].p);
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
  CHECK(api->buffer_new(device, 256, &buffers[1]) == VT_OK);
  static const uint32_t floats[] = {VT_DTYPE_F32, VT_DTYPE_F64, VT_DTYPE_F16, VT_DTYPE_BF16};
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) test_leaving(floats[i]);
  test_gone(0);
  test_gone(1);
  api->buffer_free(device, buffers[1]);
  placed_end();
  TEST_DONE();
}
