/* SPDX-License-Identifier: Apache-2.0
 * move_test.c - tests the prims that make or move elements: literal, iota, gather, concat, slice,
 * pad, reshape, transpose, broadcast. Bits must be copied unchanged, the payloads of NaNs included,
 * for every dtype. */
#include "op_test.h"

enum { F32 = VT_DTYPE_F32, I32 = VT_DTYPE_I32, I64 = VT_DTYPE_I64, TYPES = 9 };
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

typedef struct index {
  int64_t at[VT_MAX_RANK];
} index;

static index coordinates_of(const vt_view *v, int64_t i) {
  index x = {{0}};
  for (uint32_t axis = v->rank; axis-- > 0; i /= v->dim[axis]) x.at[axis] = i % v->dim[axis];
  return x;
}

static uint64_t bits_at_index(const vt_view *v, const int64_t *at) {
  int64_t i = 0;
  for (uint32_t axis = 0; axis < v->rank; axis++) i = i * v->dim[axis] + at[axis];
  return get_bits(v, i);
}

static vt_view random_view(uint32_t dtype, uint32_t rank, const int64_t *dim, int layout,
                           uint64_t *state) {
  test_seed = *state;
  return fill_any(view_new(dtype, rank, dim, layout), state);
}

static void check_copied(const char *name, const vt_view *y, int64_t i, uint64_t want) {
  if (get_bits(y, i) != want) (void)expect_bits(name, y, i, want);
  CHECK(get_bits(y, i) == want); /* CHECK compares the payload of a NaN too */
}

/* ---- literal and iota ---- */

static void test_literal(void) {
  uint64_t state = 1;
  for (uint32_t dtype = 1; dtype <= TYPES; dtype++)
    for (int i = 0; i < 20; i++) {
      const vt_attr_literal a = {.size = sizeof a, .dtype = dtype, .bits = any_bits(dtype, &state)};
      const run_result r = run_op(VT_OP_literal, &a, NULL, 0, DENSE);
      CHECK(r.status == VT_OK && r.out.dtype == dtype && r.out.rank == 0);
      CHECK(get_bits(&r.out, 0) == a.bits);
      free_held();
    }
}

static uint64_t bits_of_integer(uint32_t dtype, int64_t n) {
  if (dtype == F32) return vt_f32_bits((float)n);
  return dtype == VT_DTYPE_F64 ? vt_f64_bits((double)n) : truncate_bits(dtype, (uint64_t)n);
}

static void test_iota(void) {
  static const uint32_t types[] = {F32, VT_DTYPE_F64, I32, I64};
  static const vt_attr_list shapes[] = {
      {1, {5}},     {1, {0}}, {2, {3, 4}}, {3, {2, 0, 3}}, {8, {2, 1, 2, 1, 3, 1, 1, 2}},
      {2, {1, 257}}};
  for (int64_t s = 0; s < COUNT(shapes); s++)
    for (int64_t t = 0; t < COUNT(types); t++)
      for (int64_t axis = -shapes[s].n; axis < shapes[s].n; axis++) {
        const vt_attr_iota a = {
            .size = sizeof a, .shape = shapes[s], .axis = axis, .dtype = types[t]};
        const int64_t from_start = axis < 0 ? axis + shapes[s].n : axis;
        const run_result r = run_op(VT_OP_iota, &a, NULL, 0, (int)(from_start + t) % LAYOUTS);
        CHECK(r.status == VT_OK && r.out.dtype == types[t]);
        for (int64_t i = 0; i < count_of_view(&r.out); i++)
          check_copied("iota", &r.out, i,
                       bits_of_integer(types[t], coordinates_of(&r.out, i).at[from_start]));
        free_held();
      }
}

/* ---- transpose, broadcast, reshape ---- */

static void test_transpose(void) {
  static const struct {
    uint32_t rank;
    int64_t dim[8], perm[8];
  } rows[] = {{0, {0}, {0}},
              {1, {7}, {0}},
              {2, {3, 5}, {1, 0}},
              {3, {2, 3, 4}, {2, 0, 1}},
              {3, {2, 0, 4}, {1, 2, 0}},
              {4, {1, 2, 1, 3}, {3, 2, 1, 0}},
              {8, {1, 2, 3, 1, 2, 1, 2, 2}, {7, 0, 6, 1, 5, 2, 4, 3}}};
  uint64_t state = 11;
  for (int64_t s = 0; s < COUNT(rows); s++)
    for (uint32_t dtype = 1; dtype <= TYPES; dtype++) {
      vt_attr_perm a = {.size = sizeof a, .perm = {.n = rows[s].rank}};
      memcpy(a.perm.v, rows[s].perm, sizeof a.perm.v);
      const vt_view x = random_view(dtype, rows[s].rank, rows[s].dim, (int)dtype % LAYOUTS, &state);
      const run_result r = run_op(VT_OP_transpose, &a, &x, 1, (int)s % LAYOUTS);
      CHECK(r.status == VT_OK);
      for (int64_t i = 0; i < count_of_view(&r.out); i++) {
        const index to = coordinates_of(&r.out, i);
        index from = {{0}};
        for (uint32_t k = 0; k < x.rank; k++) from.at[rows[s].perm[k]] = to.at[k];
        check_copied("transpose", &r.out, i, bits_at_index(&x, from.at));
      }
      free_held();
    }
}

static const struct {
  uint32_t rank, wide_rank;
  int64_t dim[8], wide[8];
} broadcasts[] = {{0, 0, {0}, {0}},       {0, 3, {0}, {2, 1, 3}},
                  {1, 1, {1}, {33}},      {1, 2, {5}, {4, 5}},
                  {2, 2, {3, 1}, {3, 4}}, {2, 4, {1, 3}, {2, 0, 5, 3}},
                  {1, 1, {1}, {0}},       {4, 8, {2, 1, 2, 1}, {1, 2, 1, 2, 2, 3, 2, 2}}};

static void test_broadcast(void) {
  uint64_t state = 12;
  for (int64_t s = 0; s < COUNT(broadcasts); s++)
    for (uint32_t dtype = 1; dtype <= TYPES; dtype++) {
      vt_attr_shape a = {.size = sizeof a, .shape = {.n = broadcasts[s].wide_rank}};
      memcpy(a.shape.v, broadcasts[s].wide, sizeof a.shape.v);
      const vt_view x =
          random_view(dtype, broadcasts[s].rank, broadcasts[s].dim, (int)s % LAYOUTS, &state);
      const run_result r = run_op(VT_OP_broadcast, &a, &x, 1, (int)dtype % LAYOUTS);
      CHECK(r.status == VT_OK);
      for (int64_t i = 0; i < count_of_view(&r.out); i++)
        check_copied("broadcast", &r.out, i, broadcast_bits(&x, &r.out, i));
      free_held();
    }
}

static void test_reshape(void) {
  static const struct {
    uint32_t rank;
    int64_t dim[8];
    vt_attr_list to;
  } rows[] = {{0, {0}, {0, {0}}},
              {0, {0}, {3, {1, 1, 1}}},
              {2, {4, 6}, {3, {2, 3, 4}}},
              {3, {2, 3, 4}, {1, {24}}},
              {2, {0, 5}, {3, {7, 0, 9}}},
              {1, {64}, {8, {2, 1, 2, 2, 2, 2, 2, 1}}},
              {8, {1, 2, 1, 3, 1, 1, 5, 1}, {2, {5, 6}}}};
  uint64_t state = 13;
  for (int64_t s = 0; s < COUNT(rows); s++)
    for (uint32_t dtype = 1; dtype <= TYPES; dtype++) {
      const vt_attr_shape a = {.size = sizeof a, .shape = rows[s].to};
      const vt_view x = random_view(dtype, rows[s].rank, rows[s].dim, (int)dtype % LAYOUTS, &state);
      const run_result r = run_op(VT_OP_reshape, &a, &x, 1, (int)(dtype + s) % LAYOUTS);
      CHECK(r.status == VT_OK && r.out.rank == (uint32_t)rows[s].to.n);
      for (int64_t i = 0; i < count_of_view(&r.out); i++)
        check_copied("reshape", &r.out, i, get_bits(&x, i));
      free_held();
    }
}

/* ---- slice, pad, concat ---- */

static const struct {
  uint32_t rank;
  int64_t dim[8], start[8], stop[8], step[8], n_step;
} slices[] = {
    {0, {0}, {0}, {0}, {0}, 0},
    {1, {9}, {2}, {7}, {0}, 0},
    {1, {9}, {0}, {9}, {4}, 1},
    {1, {9}, {1}, {9}, {4}, 1},
    {1, {9}, {9}, {9}, {1}, 1},
    {1, {9}, {3}, {3}, {5}, 1},
    {1, {9}, {2}, {9}, {INT64_MAX}, 1}, /* a step that leads past the end leaves one element */
    {2, {4, 1000}, {1, 0}, {4, 1000}, {INT64_C(1) << 60, 3}, 2},
    {2, {3, 5}, {0, 1}, {3, 5}, {2, 2}, 2},
    {3, {2, 3, 4}, {1, 0, 1}, {2, 3, 4}, {0}, 0},
    {3, {2, 0, 4}, {0, 0, 1}, {2, 0, 3}, {1, 1, 1}, 3},
    {8, {2, 1, 3, 1, 2, 1, 2, 5}, {0}, {2, 1, 3, 1, 1, 1, 2, 4}, {1, 1, 2, 1, 1, 1, 1, 3}, 8},
};

static void test_slice(void) {
  uint64_t state = 14;
  for (int64_t s = 0; s < COUNT(slices); s++)
    for (uint32_t dtype = 1; dtype <= TYPES; dtype++) {
      const uint32_t rank = slices[s].rank;
      vt_attr_slice a = {.size = sizeof a,
                         .start = {.n = rank},
                         .stop = {.n = rank},
                         .step = {.n = slices[s].n_step}};
      memcpy(a.start.v, slices[s].start, sizeof a.start.v);
      memcpy(a.stop.v, slices[s].stop, sizeof a.stop.v);
      memcpy(a.step.v, slices[s].step, sizeof a.step.v);
      const vt_view x = random_view(dtype, rank, slices[s].dim, (int)dtype % LAYOUTS, &state);
      const run_result r = run_op(VT_OP_slice, &a, &x, 1, (int)(dtype + s) % LAYOUTS);
      CHECK(r.status == VT_OK);
      /* the loop counts the length of the result one by one */
      for (uint32_t k = 0; k < rank; k++) {
        const uint64_t step = slices[s].n_step == 0 ? 1 : (uint64_t)slices[s].step[k];
        int64_t n = 0;
        for (uint64_t at = (uint64_t)a.start.v[k]; at < (uint64_t)a.stop.v[k]; at += step) n++;
        CHECK(r.out.dim[k] == n);
      }
      for (int64_t i = 0; i < count_of_view(&r.out); i++) {
        index from = coordinates_of(&r.out, i);
        for (uint32_t k = 0; k < rank; k++)
          from.at[k] =
              a.start.v[k] + (from.at[k] == 0 ? 0 : from.at[k] * (a.step.n ? a.step.v[k] : 1));
        check_copied("slice", &r.out, i, bits_at_index(&x, from.at));
      }
      free_held();
    }
}

static void test_pad(void) {
  static const struct {
    uint32_t rank;
    int64_t dim[8], low[8], high[8];
  } rows[] = {{0, {0}, {0}, {0}},
              {1, {3}, {2}, {0}},
              {1, {0}, {2}, {3}},
              {2, {2, 3}, {1, 0}, {0, 2}},
              {2, {2, 3}, {0, 0}, {0, 0}},
              {3, {2, 0, 3}, {0, 1, 1}, {1, 0, 1}},
              {3, {2, 0, 3}, {1, 0, 1}, {1, 0, 1}},
              {8, {1, 2, 1, 1, 2, 1, 2, 1}, {1, 0, 0, 1, 0, 0, 1, 0}, {0, 1, 0, 0, 0, 1, 0, 2}}};
  uint64_t state = 15;
  for (int64_t s = 0; s < COUNT(rows); s++)
    for (uint32_t dtype = 1; dtype <= TYPES; dtype++) {
      vt_attr_pad a = {.size = sizeof a, .low = {.n = rows[s].rank}, .high = {.n = rows[s].rank}};
      memcpy(a.low.v, rows[s].low, sizeof a.low.v);
      memcpy(a.high.v, rows[s].high, sizeof a.high.v);
      const vt_view in[2] = {
          random_view(dtype, rows[s].rank, rows[s].dim, (int)dtype % LAYOUTS, &state),
          random_view(dtype, 0, NULL, DENSE, &state)};
      const run_result r = run_op(VT_OP_pad, &a, in, 2, (int)(dtype + s) % LAYOUTS);
      CHECK(r.status == VT_OK);
      for (int64_t i = 0; i < count_of_view(&r.out); i++) {
        index from = coordinates_of(&r.out, i);
        int inside = 1;
        for (uint32_t k = 0; k < rows[s].rank; k++) {
          from.at[k] -= rows[s].low[k];
          inside &= from.at[k] >= 0 && from.at[k] < rows[s].dim[k];
        }
        check_copied("pad", &r.out, i,
                     inside ? bits_at_index(&in[0], from.at) : get_bits(&in[1], 0));
      }
      free_held();
    }
}

static void check_concat(const vt_view *in, uint32_t n, uint32_t axis, const vt_view *y) {
  for (int64_t i = 0; i < count_of_view(y); i++) {
    index from = coordinates_of(y, i);
    uint32_t which = 0;
    while (which < n && from.at[axis] >= in[which].dim[axis])
      from.at[axis] -= in[which++].dim[axis];
    CHECK(which < n);
    if (which < n) check_copied("concat", y, i, bits_at_index(&in[which], from.at));
  }
}

static void test_concat(void) {
  static const struct {
    uint32_t n, rank, axis;
    int64_t dim[8], lengths[5];
  } rows[] = {{1, 1, 0, {4}, {4}},
              {2, 1, 0, {0}, {3, 5}},
              {3, 1, 0, {0}, {0, 5, 0}},
              {2, 1, 0, {0}, {0, 0}},
              {5, 2, 1, {3, 0}, {1, 0, 2, 4, 1}},
              {3, 2, 0, {0, 3}, {2, 1, 2}},
              {2, 3, 1, {2, 0, 0}, {2, 3}},
              {3, 8, 4, {1, 2, 1, 2, 0, 1, 2, 1}, {1, 2, 1}}};
  uint64_t state = 16;
  for (int64_t s = 0; s < COUNT(rows); s++)
    for (uint32_t dtype = 1; dtype <= TYPES; dtype++) {
      const vt_attr_axis a = {.size = sizeof a, .axis = rows[s].axis};
      vt_view in[5];
      for (uint32_t i = 0; i < rows[s].n; i++) {
        int64_t dim[8];
        memcpy(dim, rows[s].dim, sizeof dim);
        dim[rows[s].axis] = rows[s].lengths[i];
        in[i] = random_view(dtype, rows[s].rank, dim, (int)(i + dtype) % LAYOUTS, &state);
      }
      const run_result r = run_op(VT_OP_concat, &a, in, rows[s].n, (int)s % LAYOUTS);
      CHECK(r.status == VT_OK);
      check_concat(in, rows[s].n, rows[s].axis, &r.out);
      free_held();
    }
}

/* ---- gather ---- */

static const struct {
  uint32_t rank, index_rank, axis, batch;
  int64_t dim[8], index_dim[8];
} gathers[] = {{1, 0, 0, 0, {5}, {0}},
               {1, 1, 0, 0, {5}, {7}},
               {1, 1, 0, 0, {5}, {0}},
               {1, 1, 0, 0, {0}, {0}},
               {2, 2, 0, 0, {4, 3}, {2, 5}},
               {2, 1, 1, 0, {4, 3}, {6}},
               {2, 1, 1, 1, {4, 3}, {4}},
               {3, 2, 1, 1, {2, 5, 3}, {2, 4}},
               {3, 3, 2, 1, {2, 5, 3}, {2, 4, 2}},
               {3, 2, 2, 2, {2, 5, 3}, {2, 5}},
               {3, 1, 1, 0, {2, 5, 0}, {4}},
               {2, 1, 0, 0, {1, 1}, {1}},
               {5, 4, 2, 0, {2, 1, 3, 1, 2}, {1, 2, 1, 2}},
               {1, 8, 0, 0, {3}, {1, 2, 1, 2, 1, 1, 2, 1}},
               {8, 1, 7, 0, {1, 2, 1, 2, 1, 1, 2, 3}, {2}},
               {8, 8, 7, 7, {1, 2, 1, 2, 1, 1, 2, 3}, {1, 2, 1, 2, 1, 1, 2, 4}}};

static uint64_t expected_gather_bits(int64_t row, const vt_view *in, const vt_view *y, int64_t i) {
  const index to = coordinates_of(y, i);
  const uint32_t axis = gathers[row].axis, batch = gathers[row].batch;
  const uint32_t inner = in[1].rank - batch;
  index where = {{0}}, from = {{0}};
  for (uint32_t k = 0; k < batch; k++) where.at[k] = to.at[k];
  for (uint32_t k = 0; k < inner; k++) where.at[batch + k] = to.at[axis + k];
  for (uint32_t k = 0; k < axis; k++) from.at[k] = to.at[k];
  for (uint32_t k = axis + 1; k < in[0].rank; k++) from.at[k] = to.at[k - 1 + inner];
  from.at[axis] = integer_of(in[1].dtype, bits_at_index(&in[1], where.at));
  return bits_at_index(&in[0], from.at);
}

static vt_view random_gather_indices(int64_t row, uint32_t dtype, int layout, uint64_t *state) {
  const int64_t limit = gathers[row].dim[gathers[row].axis];
  const vt_view v = view_new(dtype, gathers[row].index_rank, gathers[row].index_dim, layout);
  for (int64_t i = 0; i < count_of_view(&v); i++)
    put_bits(&v, i, (uint64_t)((int64_t)(random_u64(state) >> 8) % limit));
  return v;
}

static void test_gather(void) {
  uint64_t state = 18;
  for (int64_t s = 0; s < COUNT(gathers); s++)
    for (uint32_t dtype = 1; dtype <= TYPES; dtype++)
      for (uint32_t wide = 0; wide < 2; wide++) {
        const vt_attr_gather a = {
            .size = sizeof a, .axis = gathers[s].axis, .batch = gathers[s].batch};
        const int layout = (int)(dtype + wide) % LAYOUTS;
        const vt_view in[2] = {
            random_view(dtype, gathers[s].rank, gathers[s].dim, layout, &state),
            random_gather_indices(s, wide ? I64 : I32, (layout + (int)s) % LAYOUTS, &state)};
        const run_result r = run_op(VT_OP_gather, &a, in, 2, (layout + 1) % LAYOUTS);
        CHECK(r.status == VT_OK);
        for (int64_t i = 0; i < count_of_view(&r.out); i++)
          check_copied("gather", &r.out, i, expected_gather_bits(s, in, &r.out, i));
        free_held();
      }
}

/* The first index out of range in row-major order is reported, whatever the layout, and nothing is
 * written. */
static void test_gather_index_out_of_range(void) {
  static const int64_t bad[] = {-1, 4, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, -100};
  const int64_t table[2] = {4, 3}, dim[2] = {3, 5};
  static const uint32_t ops[2] = {VT_OP_gather, VT_OP_embedding};
  for (int64_t b = 0; b < COUNT(bad); b++)
    for (int layout = 0; layout < LAYOUTS; layout++)
      for (int64_t at = 0; at < 15; at += 7) {
        const int narrow = bad[b] >= INT32_MIN && bad[b] <= INT32_MAX;
        const vt_view in[2] = {view_new(F32, 2, table, layout),
                               view_new(narrow ? I32 : I64, 2, dim, layout)};
        for (int64_t i = 0; i < 15; i++) put_bits(&in[1], i, (uint64_t)i % 4);
        put_bits(&in[1], 14, (uint64_t)-3); /* a later index out of range, which is not reported */
        put_bits(&in[1], at, truncate_bits(in[1].dtype, (uint64_t)bad[b]));
        const run_result r = run_op(ops[b % 2], NULL, in, 2, DENSE);
        CHECK(r.status == VT_RANGE && r.position == (uint64_t)at && r.value == bad[b]);
        CHECK(r.out.rank == 3 && get_bits(&r.out, 0) == 0xa5a5a5a5u);
        free_held();
      }
}

/* Any index into an axis of length 0 is out of range. A gather with an empty index tensor is
 * accepted. */
static void test_gather_from_empty_axis(void) {
  const int64_t table[2] = {0, 3}, one[1] = {1}, none[1] = {0};
  const vt_view in[2] = {view_new(F32, 2, table, DENSE), view_new(I32, 1, one, DENSE)};
  put_bits(&in[1], 0, 0);
  const run_result r = run_op(VT_OP_gather, NULL, in, 2, DENSE);
  CHECK(r.status == VT_RANGE && r.position == 0 && r.value == 0);
  const vt_view empty[2] = {in[0], view_new(I32, 1, none, DENSE)};
  CHECK(run_op(VT_OP_gather, NULL, empty, 2, DENSE).status == VT_OK);
  free_held();
}

/* ---- type rules ---- */

#define SHAPE(name, ...) \
  static const vt_attr_shape name = {.size = sizeof name, .shape = __VA_ARGS__}
SHAPE(to_6, {1, {6}});
SHAPE(to_2_3, {2, {2, 3}});
SHAPE(to_9_axes, {9, {1}});
SHAPE(to_negative, {1, {-6}});
SHAPE(to_huge, {3, {INT64_C(1) << 40, INT64_C(1) << 40, 1}});
SHAPE(to_2_0, {2, {2, 0}});

static void test_reshape_transpose_rules(void) {
  static const vt_attr_perm swap = {.size = sizeof swap, .perm = {2, {1, 0}}};
  static const vt_attr_perm twice = {.size = sizeof twice, .perm = {2, {1, 1}}};
  static const vt_attr_perm past = {.size = sizeof past, .perm = {2, {0, 2}}};
  static const vt_attr_perm before = {.size = sizeof before, .perm = {2, {0, -1}}};
  static const rule_case cases[] = {
      {VT_OP_reshape, &to_6, "f32[2, 3]", "f32[6]"},
      {VT_OP_reshape, &to_2_3, "bf16[6, 1]", "bf16[2, 3]"},
      {VT_OP_reshape, &to_2_0, "f32[B, 0]", "f32[2, 0]"},
      {VT_OP_reshape, &to_6, "f32[2, 4]",
       "!verify: f32[2, 4] does not have as many elements as f32[6]"},
      {VT_OP_reshape, &to_6, "f32[B]", "!verify: f32[B] does not have as many elements as f32[6]"},
      {VT_OP_reshape, &to_9_axes, "f32[1]", "!limit: a shape of rank 9: at most 8"},
      {VT_OP_reshape, &to_negative, "f32[6]", "!verify: f32[-6]"},
      {VT_OP_reshape, &to_huge, "f32[6]", "!limit: overflows"},
      {VT_OP_reshape, &to_6, "f32[1099511627776, 1099511627776, 0]", "!limit: overflows"},
      {VT_OP_broadcast, &to_2_3, "f32[3]", "f32[2, 3]"},
      {VT_OP_broadcast, &to_2_3, "f16[2, 1]", "f16[2, 3]"},
      {VT_OP_broadcast, &to_2_0, "f32[1]", "f32[2, 0]"},
      {VT_OP_broadcast, &to_2_3, "f32[2]", "!verify: f32[2] does not broadcast to f32[2, 3]"},
      {VT_OP_broadcast, &to_2_3, "f32[B, 3]", "!verify: f32[B, 3] does not broadcast to f32[2, 3]"},
      {VT_OP_broadcast, &to_6, "f32[1, 6]", "!verify: f32[1, 6] does not broadcast to f32[6]"},
      {VT_OP_broadcast, &to_9_axes, "f32[1]", "!limit: a shape of rank 9: at most 8"},
      {VT_OP_broadcast, &to_negative, "f32[1]", "!verify: dimension -6 on axis 0"},
      {VT_OP_transpose, &swap, "f32[B, 3]", "f32[3, B]"},
      {VT_OP_transpose, &swap, "f32[3]", "!verify: perm has 2 axes, the operand has rank 1"},
      {VT_OP_transpose, &twice, "f32[B, 3]", "!verify: perm is not a permutation of 0..1"},
      {VT_OP_transpose, &past, "f32[B, 3]", "!verify: perm is not a permutation of 0..1"},
      {VT_OP_transpose, &before, "f32[B, 3]", "!verify: perm is not a permutation of 0..1"},
  };
  CHECK_RULES(cases);
}

static void test_slice_pad_concat_rules(void) {
  static const vt_attr_slice one = {.size = sizeof one, .start = {1, {1}}, .stop = {1, {4}}};
  static const vt_attr_slice stepped = {
      .size = sizeof stepped, .start = {1, {1}}, .stop = {1, {4}}, .step = {1, {2}}};
  static const vt_attr_slice still = {
      .size = sizeof still, .start = {1, {1}}, .stop = {1, {4}}, .step = {1, {0}}};
  static const vt_attr_slice low = {.size = sizeof low, .start = {1, {-1}}, .stop = {1, {4}}};
  static const vt_attr_slice back = {.size = sizeof back, .start = {1, {4}}, .stop = {1, {1}}};
  static const vt_attr_pad pad_1 = {.size = sizeof pad_1, .low = {1, {1}}, .high = {1, {2}}};
  static const vt_attr_pad pad_less = {.size = sizeof pad_less, .low = {1, {-1}}, .high = {1, {2}}};
  static const vt_attr_pad pad_much = {
      .size = sizeof pad_much, .low = {1, {INT64_C(1) << 40}}, .high = {1, {1}}};
  static const vt_attr_pad pad_more = {
      .size = sizeof pad_more, .low = {1, {INT64_MAX}}, .high = {1, {INT64_MAX}}};
  static const vt_attr_axis axis_0 = {.size = sizeof axis_0, .axis = 0};
  static const vt_attr_axis axis_1 = {.size = sizeof axis_1, .axis = 1};
  static const rule_case cases[] = {
      {VT_OP_slice, &one, "i8[5]", "i8[3]"},
      {VT_OP_slice, &one, "i8[B]", "i8[3]"},
      {VT_OP_slice, &stepped, "i8[4]", "i8[2]"},
      {VT_OP_slice, &one, "i8[3]", "!verify: axis 0 of i8[3] is sliced up to 4, its length is 3"},
      {VT_OP_slice, &still, "i8[5]", "!verify: step 0 of axis 0 of i8[5]: at least 1"},
      {VT_OP_slice, &low, "i8[5]", "!verify: start -1 of axis 0 of i8[5]: at least 0"},
      {VT_OP_slice, &back, "i8[5]", "!verify: axis 0 of i8[5] is sliced from 4 to 1"},
      {VT_OP_slice, &one, "i8[5, 5]", "!verify: need one entry for each of 2 axes"},
      {VT_OP_pad, &pad_1, "f16[B]; f16[]", "f16[B + 3]"},
      {VT_OP_pad, &pad_1, "f32[0]; f32[]", "f32[3]"},
      {VT_OP_pad, &pad_1, "f32[0]; f32[1]", "!verify: the padding value must be a scalar"},
      {VT_OP_pad, &pad_1, "f32[2]; f64[]", "!verify: operand 2 is f64[] where operand 1 is f32[2]"},
      {VT_OP_pad, &pad_1, "f32[2, 2]; f32[]", "!verify: need one entry for each of 2 axes"},
      {VT_OP_pad, &pad_less, "f32[2]; f32[]", "!verify: axis 0: padding must lie in 0..2^40"},
      {VT_OP_pad, &pad_more, "f32[2]; f32[]", "!verify: axis 0: padding must lie in 0..2^40"},
      {VT_OP_pad, &pad_much, "f32[2]; f32[]", "!verify: dimension 1099511627779 on axis 0"},
      {VT_OP_concat, &axis_0, "f32[B, 3]; f32[T, 3]; f32[2, 3]", "f32[B + T + 2, 3]"},
      {VT_OP_concat, &axis_1, "bool[2, 0]; bool[2, 3]", "bool[2, 3]"},
      {VT_OP_concat, &axis_0, "f32[2, 3]; f32[2, 4]",
       "!verify: f32[2, 3] and f32[2, 4] may differ on axis 0 only"},
      {VT_OP_concat, &axis_0, "f32[2, B]; f32[2, T]",
       "!verify: f32[2, B] and f32[2, T] may differ"},
      {VT_OP_concat, &axis_0, "f32[2]; f32[2, 3]", "!verify: f32[2] and f32[2, 3] may differ"},
      {VT_OP_concat, &axis_1, "f32[2]; f32[2]", "!verify: axis 1 does not exist"},
      {VT_OP_concat, &axis_0, "f32[]; f32[]", "!verify: axis 0 does not exist: the operands have"},
      {VT_OP_concat, &axis_0, "f32[2]; i32[2]",
       "!verify: operand 2 is i32[2] where operand 1 is f32[2]"},
      {VT_OP_concat, &axis_0, "", "!verify: takes at least 1 operand, got 0"},
      {VT_OP_concat, &axis_0, "f32[1099511627776]; f32[1]", "!verify: dimension 1099511627777"},
  };
  CHECK_RULES(cases);
}

/* Handles are numbered in order of declaration: B is the first symbol of a rule, T the second. */
static void test_symbolic_rules(void) {
  const int64_t b = INT64_MIN, t = INT64_MIN + 1;
  const vt_attr_slice up_to_t = {.size = sizeof up_to_t, .start = {1, {0}}, .stop = {1, {t}}};
  const vt_attr_slice b_to_t = {.size = sizeof b_to_t, .start = {1, {b}}, .stop = {1, {t}}};
  const vt_attr_slice stepped = {
      .size = sizeof stepped, .start = {1, {0}}, .stop = {1, {t}}, .step = {1, {2}}};
  const vt_attr_shape b_3 = {.size = sizeof b_3, .shape = {2, {b, 3}}};
  const vt_attr_iota iota = {.size = sizeof iota, .shape = {2, {t, b}}, .dtype = I64};
  const rule_case cases[] = {
      {VT_OP_slice, &up_to_t, "f32[256]", "f32[T]"},
      {VT_OP_slice, &up_to_t, "f32[T]", "f32[T]"},
      {VT_OP_slice, &b_to_t, "f32[T]", "f32[-B + T]"},
      {VT_OP_slice, &stepped, "f32[T]", "!verify: axis 0 of f32[T]: a symbolic slice needs step 1"},
      {VT_OP_reshape, &b_3, "f32[3*B]", "f32[B, 3]"},
      {VT_OP_reshape, &b_3, "f32[3*T]",
       "!verify: f32[3*T] does not have as many elements as f32[B"},
      {VT_OP_broadcast, &b_3, "f32[3]", "f32[B, 3]"},
      {VT_OP_broadcast, &b_3, "f32[T, 3]", "!verify: f32[T, 3] does not broadcast to f32[B, 3]"},
      {VT_OP_iota, &iota, "", "i64[T, B]"},
  };
  CHECK_RULES(cases);
}

static void test_gather_rules(void) {
  static const vt_attr_gather axis_1 = {.size = sizeof axis_1, .axis = 1};
  static const vt_attr_gather batch_1 = {.size = sizeof batch_1, .axis = 1, .batch = 1};
  static const vt_attr_gather batch_2 = {.size = sizeof batch_2, .axis = 1, .batch = 2};
  static const vt_attr_gather less = {.size = sizeof less, .axis = 1, .batch = -1};
  static const vt_attr_gather last = {.size = sizeof last, .axis = -1};
  static const rule_case cases[] = {
      {VT_OP_gather, NULL, "f16[4, 3]; i32[B, T]", "f16[B, T, 3]"},
      {VT_OP_gather, &axis_1, "f32[4, 3, V]; i64[B]", "f32[4, B, V]"},
      {VT_OP_gather, &batch_1, "f32[B, 3, 2]; i32[B, 5]", "f32[B, 5, 2]"},
      {VT_OP_gather, &batch_1, "f32[B, 3]; i32[B]", "f32[B]"},
      {VT_OP_gather, NULL, "f32[3]; i32[1, 1, 1, 1, 1, 1, 1, 1]", "f32[1, 1, 1, 1, 1, 1, 1, 1]"},
      {VT_OP_gather, NULL, "f32[3, 2]; i32[1, 1, 1, 1, 1, 1, 1, 1]", "!limit: a rank over 8"},
      {VT_OP_gather, &batch_1, "f32[B, 3]; i32[T, 5]",
       "!verify: batch axis 0 differs between f32[B, 3] and i32[T, 5]"},
      {VT_OP_gather, &batch_2, "f32[2, 2]; i32[2, 2]", "!verify: gather along axis 1 with 2 batch"},
      {VT_OP_gather, &batch_1, "f32[2, 2]; i32[]",
       "!verify: with 1 batch axes from f32[2, 2] by i32[]"},
      {VT_OP_gather, &less, "f32[2, 2]; i32[2]", "!verify: with -1 batch axes"},
      {VT_OP_gather, &last, "f32[2, 2]; i32[2]", "!verify: gather along axis -1"},
      {VT_OP_gather, &axis_1, "f32[2]; i32[2]", "!verify: gather along axis 1"},
      {VT_OP_gather, NULL, "f32[]; i32[2]",
       "!verify: gather along axis 0 with 0 batch axes from f32[]"},
      {VT_OP_gather, NULL, "f32[2]; u8[2]",
       "!verify: operand 2 is u8[2], expected an index of i32 or"},
      {VT_OP_gather, NULL, "f32[2]; f32[2]", "!verify: operand 2 is f32[2], expected an index"},
      {VT_OP_embedding, NULL, "f32[V, 8]; i32[B, T]", "f32[B, T, 8]"},
      {VT_OP_embedding, NULL, "i8[V, 8]; i64[]", "i8[8]"},
      {VT_OP_embedding, NULL, "f32[V]; i32[B]", "!verify: the table is f32[V], expected rank 2"},
      {VT_OP_embedding, NULL, "f32[V, 8]; f32[B]",
       "!verify: operand 2 is f32[B], expected an index"},
      {VT_OP_embedding, NULL, "f32[V, 8]; i32[1, 1, 1, 1, 1, 1, 1, 1]", "!limit: a rank over 8"},
  };
  CHECK_RULES(cases);
}

static void test_iota_literal_rules(void) {
  static const vt_attr_iota plain = {
      .size = sizeof plain, .shape = {2, {3, 4}}, .axis = 1, .dtype = F32};
  static const vt_attr_iota past = {
      .size = sizeof past, .shape = {1, {3}}, .axis = 1, .dtype = I64};
  static const vt_attr_iota none = {.size = sizeof none, .dtype = I64};
  static const vt_attr_iota before = {
      .size = sizeof before, .shape = {1, {3}}, .axis = -2, .dtype = I64};
  static const vt_attr_iota bytes = {.size = sizeof bytes, .shape = {1, {3}}, .dtype = 3};
  static const vt_attr_iota nine = {.size = sizeof nine, .shape = {9, {1}}, .dtype = I64};
  static const vt_attr_iota large = {
      .size = sizeof large, .shape = {1, {(INT64_C(1) << 40) + 1}}, .dtype = I64};
  static const vt_attr_literal half = {.size = sizeof half, .dtype = VT_DTYPE_F16, .bits = 0x3800};
  static const vt_attr_literal odd = {.size = sizeof odd, .dtype = 10};
  static const vt_attr_literal far = {.size = sizeof far, .dtype = (INT64_C(1) << 32) + 1};
  static const rule_case cases[] = {
      {VT_OP_iota, &plain, "", "f32[3, 4]"},
      {VT_OP_iota, &past, "", "!verify: axis 1 of iota does not exist: its shape has rank 1"},
      {VT_OP_iota, &before, "", "!verify: axis -2 of iota does not exist: its shape has rank 1"},
      {VT_OP_iota, &none, "", "!verify: axis 0 of iota does not exist: its shape has rank 0"},
      {VT_OP_iota, &bytes, "", "!verify: iota makes i32, i64, f32 or f64"},
      {VT_OP_iota, &nine, "", "!limit: a shape of rank 9: at most 8"},
      {VT_OP_iota, &large, "", "!verify: dimension 1099511627777 on axis 0"},
      {VT_OP_iota, &plain, "f32[]", "!verify: takes no operands, got 1"},
      {VT_OP_literal, &half, "", "f16[]"},
      {VT_OP_literal, &odd, "", "!verify: a literal of type number 10"},
      {VT_OP_literal, &far, "", "!verify: a literal of type number 4294967297"},
  };
  CHECK_RULES(cases);
}

int main(void) {
  test_reshape_transpose_rules();
  test_slice_pad_concat_rules();
  test_symbolic_rules();
  test_gather_rules();
  test_iota_literal_rules();
  test_literal();
  test_iota();
  test_transpose();
  test_broadcast();
  test_reshape();
  test_slice();
  test_pad();
  test_concat();
  test_gather();
  test_gather_index_out_of_range();
  test_gather_from_empty_axis();
  TEST_DONE();
}
