/* SPDX-License-Identifier: Apache-2.0
 * cuda_move_test.c - data movement on a GPU has the bits of the reference kernels: elements of
 * every size, tensors of every layout, transposes, pieces of 16 bytes. Results that the host copies
 * have canonical NaNs after every run, however often and in whatever parts they are copied, and
 * bytes next to them stay unchanged. */
#include "layouts_test.h"

static const uint32_t types[] = {VT_DTYPE_U8,  VT_DTYPE_F16,  VT_DTYPE_F32,
                                 VT_DTYPE_F64, VT_DTYPE_BOOL, VT_DTYPE_I64};
enum { TYPES = sizeof types / sizeof *types };

static void test_transpose(uint32_t dtype, layout in, layout out) {
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
    add_operand(&s, dtype, cases[i].rank, cases[i].dim, in);
    add_results(&s, out);
    run_and_compare(&s, "transposed");
  }
}

static void test_slice(uint32_t dtype, layout in, layout out) {
  const vt_attr_slice a = {.size = sizeof a,
                           .start = {.n = 3, .v = {1, 8, 16}},
                           .stop = {.n = 3, .v = {4, 29, 48}},
                           .step = {.n = 3, .v = {1, 2, 1}}};
  trial s = TRIAL(slice, a);
  add_operand(&s, dtype, DIMS(5, 33, 64), in);
  add_results(&s, out);
  run_and_compare(&s, "a part");
}

static void test_concat(uint32_t dtype, layout in, layout out) {
  const vt_attr_axis a = {.size = sizeof a, .axis = 1};
  trial s = TRIAL(concat, a);
  add_operand(&s, dtype, DIMS(7, 4, 8), in);
  add_operand(&s, dtype, DIMS(7, 1, 8), in);
  add_operand(&s, dtype, DIMS(7, 16, 8), in);
  add_results(&s, out);
  run_and_compare(&s, "joined");
}

static void test_pad(uint32_t dtype, layout in, layout out) {
  const vt_attr_pad a = {
      .size = sizeof a, .low = {.n = 3, .v = {0, 3, 1}}, .high = {.n = 3, .v = {2, 0, 5}}};
  trial s = TRIAL(pad, a);
  add_operand(&s, dtype, DIMS(3, 10, 11), in);
  add_operand(&s, dtype, 0, NULL, DENSE);
  add_results(&s, out);
  run_and_compare(&s, "padded");
}

static void test_reshape(uint32_t dtype, layout in, layout out) {
  const vt_attr_shape a = {.size = sizeof a, .shape = {.n = 3, .v = {6, 5, 14}}};
  trial s = TRIAL(reshape, a);
  add_operand(&s, dtype, DIMS(4, 105), in);
  add_results(&s, out);
  run_and_compare(&s, "in another shape");
}

static void test_broadcast(uint32_t dtype, layout in, layout out) {
  const vt_attr_shape a = {.size = sizeof a, .shape = {.n = 4, .v = {3, 6, 20, 32}}};
  trial s = TRIAL(broadcast, a);
  add_operand(&s, dtype, DIMS(6, 1, 32), in);
  add_results(&s, out);
  run_and_compare(&s, "repeated");
  s = TRIAL(broadcast, a);
  add_operand(&s, dtype, DIMS(20, 1), in);
  add_results(&s, out);
  run_and_compare(&s, "repeated along the last axis");
}

static void test_tile(uint32_t dtype, layout in, layout out) {
  const vt_attr_tile a = {.size = sizeof a, .repeats = {.n = 3, .v = {2, 1, 3}}};
  trial s = TRIAL(tile, a);
  add_operand(&s, dtype, DIMS(4, 9, 5), in);
  add_results(&s, out);
  run_and_compare(&s, "tiled");
}

static void test_flip(uint32_t dtype, layout in, layout out) {
  const vt_attr_axes a = {.size = sizeof a, .axes = {.n = 2, .v = {0, 2}}};
  trial s = TRIAL(flip, a);
  add_operand(&s, dtype, DIMS(4, 9, 16), in);
  add_results(&s, out);
  run_and_compare(&s, "reversed");
}

static void test_all_moves(uint32_t dtype, layout in, layout out) {
  test_transpose(dtype, in, out);
  test_slice(dtype, in, out);
  test_concat(dtype, in, out);
  test_pad(dtype, in, out);
  test_reshape(dtype, in, out);
  test_broadcast(dtype, in, out);
  test_tile(dtype, in, out);
  test_flip(dtype, in, out);
}

static void test_iota_and_literal(void) {
  static const uint32_t numbers[] = {VT_DTYPE_I32, VT_DTYPE_I64, VT_DTYPE_F32, VT_DTYPE_F64};
  for (int i = 0; i < 12; i++) {
    const vt_attr_iota a = {.size = sizeof a,
                            .shape = {.n = 3, .v = {5, 40, 7}},
                            .axis = i % 3 == 2 ? -1 : i % 3,
                            .dtype = numbers[i % 4]};
    trial s = TRIAL(iota, a);
    add_results(&s, i % 5 == 4 ? TRANSPOSED : DENSE);
    run_and_compare(&s, "counted");
  }
  for (size_t i = 0; i < TYPES; i++) {
    const vt_attr_literal a = {
        .size = sizeof a, .dtype = types[i], .bits = i == 4 ? 1 : 0x8123456789abcd01};
    trial s = TRIAL(literal, a);
    add_results(&s, DENSE);
    run_and_compare(&s, "a number");
  }
}

/* Tests an empty tensor and a tensor with eight axes. */
static void test_empty_and_eight_axes(void) {
  const vt_attr_perm nothing = {.size = sizeof nothing, .perm = {.n = 3, .v = {2, 0, 1}}};
  trial s = TRIAL(transpose, nothing);
  add_operand(&s, VT_DTYPE_F32, DIMS(4, 0, 3), DENSE);
  add_results(&s, DENSE);
  run_and_compare(&s, "nothing");
  const vt_attr_tile twice = {.size = sizeof twice,
                              .repeats = {.n = 8, .v = {2, 2, 1, 2, 2, 1, 2, 3}}};
  s = TRIAL(tile, twice);
  add_operand(&s, VT_DTYPE_F32, DIMS(2, 1, 2, 3, 2, 2, 1, 3), SPREAD);
  add_results(&s, DENSE);
  run_and_compare(&s, "eight axes");
}

/* ---- canonical NaNs of results ---- */

enum { N = 600 };

typedef struct transposer {
  trial s;
  vt_bk_step step;
  vt_bk_program *p;
} transposer;

/* Builds a program that transposes a tensor, placed after `offset` bytes. */
static void transposer_build(transposer *c, uint32_t dtype, uint64_t offset) {
  static const vt_attr_perm swap_axes = {.size = sizeof swap_axes, .perm = {.n = 2, .v = {1, 0}}};
  c->s = TRIAL(transpose, swap_axes);
  c->s.used = offset;
  add_operand(&c->s, dtype, DIMS(20, N / 20), DENSE);
  add_results(&c->s, DENSE);
  c->step = (vt_bk_step){.size = sizeof c->step,
                         .op = c->s.op,
                         .n_in = 1,
                         .n_out = 1,
                         .in = c->s.in,
                         .out = c->s.out,
                         .attrs = &swap_axes,
                         .attrs_size = sizeof swap_axes,
                         .work_arena = 1};
  CHECK(api->program_build(device, &c->step, 1, &c->p) == VT_OK);
  CHECK(api->program_results(c->p, c->s.out, 1) == VT_OK);
}

/* Makes every third element a NaN of some kind. */
static void store_nans(char *x, uint32_t dtype) {
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

static void run_transposer(transposer *c) {
  vt_bk_error error = {.size = sizeof error};
  CHECK(api->run(c->p, buffers, 2) == VT_OK && api->wait(c->p, &error) == VT_OK);
}

static void test_results_have_canonical_nans(uint32_t dtype) {
  static char seen[ARENA];
  /* bytes around the tensors are NaN patterns, which must not become canonical */
  memset(arena, 0xff, sizeof arena);
  transposer c;
  transposer_build(&c, dtype, 0);
  const uint64_t from = c.s.out->offset, bytes = N * vt_dtype_bytes(dtype), used = c.s.used;
  vt_kernel k;
  store_nans(arena + c.s.in->offset, dtype);
  memcpy(expected, arena, (size_t)used);
  CHECK(run_reference(&c.s, &k) == VT_OK);
  vt_canonical(expected + from, dtype, N);
  for (int i = 0; i < 4; i++) { /* the runs are issued, recorded and replayed */
    CHECK(api->copy(device, arena, buffers[0], 0, used, 1) == VT_OK);
    run_transposer(&c);
    CHECK(api->copy(device, seen, buffers[0], from + bytes / 2, bytes / 4, 0) == VT_OK);
    CHECK(memcmp(seen, expected + from + bytes / 2, (size_t)(bytes / 4)) == 0);
    for (int again = 0; again < 2; again++) {
      CHECK(api->copy(device, seen, buffers[0], 0, used, 0) == VT_OK);
      CHECK(memcmp(seen, expected, (size_t)used) == 0);
    }
  }
  api->program_free(c.p);
}

/* Runs two programs with adjacent results and frees program `freed` before the results are read;
 * the other program's NaNs must be canonical. */
static void test_neighbour_of_freed_program(int freed) {
  static char seen[ARENA];
  transposer c[2];
  transposer_build(&c[0], VT_DTYPE_F32, 0);
  transposer_build(&c[1], VT_DTYPE_F32, c[0].s.used);
  const uint64_t used = c[1].s.used;
  for (int i = 0; i < 2; i++) store_nans(arena + c[i].s.in->offset, VT_DTYPE_F32);
  CHECK(api->copy(device, arena, buffers[0], 0, used, 1) == VT_OK);
  run_transposer(&c[0]);
  run_transposer(&c[1]);
  api->program_free(c[freed].p);
  CHECK(api->copy(device, seen, buffers[0], 0, used, 0) == VT_OK);
  for (int i = 0; i < N; i++) {
    uint32_t u;
    memcpy(&u, seen + c[1 - freed].s.out->offset + 4 * i, 4);
    CHECK((u & 0x7fffffffu) <= 0x7f800000u || u == 0x7fc00000u);
  }
  api->program_free(c[1 - freed].p);
}

int main(void) {
  if (!layouts_device_open()) return 77;
  for (size_t i = 0; i < TYPES; i++)
    for (int w = DENSE; w < LAYOUTS; w++) {
      test_all_moves(types[i], (layout)w, DENSE);
      if (w != REPEATED && (i == 2 || w == LATE))
        test_all_moves(types[i], w == LATE ? LATE : DENSE, (layout)w);
    }
  test_all_moves(VT_DTYPE_F32, SPREAD, TRANSPOSED);
  test_iota_and_literal();
  test_empty_and_eight_axes();
  CHECK(api->buffer_new(device, 256, &buffers[1]) == VT_OK);
  static const uint32_t floats[] = {VT_DTYPE_F32, VT_DTYPE_F64, VT_DTYPE_F16, VT_DTYPE_BF16};
  for (size_t i = 0; i < sizeof floats / sizeof *floats; i++)
    test_results_have_canonical_nans(floats[i]);
  test_neighbour_of_freed_program(0);
  test_neighbour_of_freed_program(1);
  api->buffer_free(device, buffers[1]);
  layouts_device_close();
  TEST_DONE();
}
