/* SPDX-License-Identifier: Apache-2.0
 * index_test.c - tests the gathers and the twelve scatters against their definition, restated
 * element by element: to which element of x (or base) each element of the result (or of the
 * updates) belongs. Tests one_hot, nonzero, and the type rules of all of these. A trial is a form
 * of indexing with shapes and attributes; base is the tensor that is gathered from or scattered
 * to. */
#include "move_test.h"

typedef enum index_form { BY_AXIS, BY_ELEMENTS, BY_COORDINATES } index_form;
typedef struct trial {
  index_form form;
  uint32_t rank, index_rank;
  int64_t dim[8], index_dim[8], axis, batch;
} trial;

static const trial trials[] = {
    {BY_AXIS, 1, 0, {5}, {0}, 0, 0},
    {BY_AXIS, 1, 1, {5}, {7}, 0, 0},
    {BY_AXIS, 1, 1, {5}, {0}, 0, 0},
    {BY_AXIS, 2, 2, {4, 3}, {2, 5}, 0, 0},
    {BY_AXIS, 2, 1, {4, 3}, {6}, 1, 0},
    {BY_AXIS, 2, 1, {4, 3}, {4}, 1, 1},
    {BY_AXIS, 3, 2, {2, 5, 3}, {2, 4}, 2, 1},
    {BY_AXIS, 3, 1, {2, 5, 0}, {4}, 1, 0},
    {BY_AXIS, 2, 1, {3, 2}, {1100}, 0, 0},
    {BY_AXIS, 8, 8, {1, 2, 1, 2, 1, 1, 2, 3}, {1, 2, 1, 2, 1, 1, 2, 4}, 7, 7},
    {BY_ELEMENTS, 1, 1, {5}, {7}, 0, 0},
    {BY_ELEMENTS, 2, 2, {4, 3}, {4, 3}, 0, 0},
    {BY_ELEMENTS, 2, 2, {4, 3}, {2, 6}, 1, 0},
    {BY_ELEMENTS, 2, 2, {4, 3}, {9, 2}, 0, 0},
    {BY_ELEMENTS, 3, 3, {2, 3, 2}, {2, 0, 2}, 1, 0},
    {BY_ELEMENTS, 1, 1, {2}, {2100}, 0, 0},
    {BY_ELEMENTS, 8, 8, {1, 2, 1, 2, 1, 1, 2, 3}, {1, 2, 1, 2, 1, 1, 1, 4}, 7, 0},
    {BY_COORDINATES, 1, 2, {5}, {7, 1}, 0, 0},
    {BY_COORDINATES, 2, 2, {4, 4}, {9, 2}, 0, 0},
    {BY_COORDINATES, 2, 2, {4, 3}, {5, 1}, 0, 0},
    {BY_COORDINATES, 3, 3, {3, 4, 2}, {3, 2, 1}, 0, 1},
    {BY_COORDINATES, 3, 3, {2, 3, 3}, {2, 4, 2}, 0, 1},
    {BY_COORDINATES, 1, 2, {3}, {2, 0}, 0, 0},
    {BY_COORDINATES, 2, 2, {4, 0}, {3, 1}, 0, 0},
    {BY_COORDINATES, 2, 1, {4, 2}, {1}, 0, 0},
    {BY_COORDINATES, 1, 2, {2}, {1100, 1}, 0, 0},
    {BY_COORDINATES, 8, 2, {2, 1, 2, 1, 2, 1, 2, 2}, {5, 8}, 0, 0},
};

/* The attributes of each form of indexing; all three start with the size. */
typedef union attrs {
  vt_attr_gather axis;
  vt_attr_axis elements;
  vt_attr_gather_nd nd;
} attrs;

static attrs trial_attrs(const trial *t) {
  attrs a = {.axis = {.size = sizeof a.axis, .axis = t->axis, .batch = t->batch}};
  if (t->form == BY_ELEMENTS) a.elements = (vt_attr_axis){sizeof a.elements, t->axis};
  if (t->form == BY_COORDINATES) a.nd = (vt_attr_gather_nd){sizeof a.nd, t->batch};
  return a;
}

static int64_t read_index_at(const vt_view *idx, const int64_t *at) {
  return integer_of(idx->dtype, bits_at_index(idx, at));
}

static void source_coordinates_of_gather(const trial *t, const vt_view *idx, const int64_t *to,
                                         int64_t *from) {
  const uint32_t axis = (uint32_t)t->axis, batch = (uint32_t)t->batch;
  const uint32_t inner = t->index_rank - batch;
  index where = {{0}};
  for (uint32_t k = 0; k < batch; k++) where.at[k] = to[k];
  for (uint32_t k = 0; k < inner; k++) where.at[batch + k] = to[axis + k];
  for (uint32_t k = 0; k < axis; k++) from[k] = to[k];
  for (uint32_t k = axis + 1; k < t->rank; k++) from[k] = to[k - 1 + inner];
  from[axis] = read_index_at(idx, where.at);
}

static void source_coordinates_of_gather_nd(const trial *t, const vt_view *idx, const int64_t *to,
                                            int64_t *from) {
  const uint32_t lead = t->index_rank - 1, depth = (uint32_t)t->index_dim[lead];
  const uint32_t batch = (uint32_t)t->batch;
  index where = {{0}};
  for (uint32_t k = 0; k < lead; k++) where.at[k] = to[k];
  for (uint32_t k = 0; k < batch; k++) from[k] = to[k];
  for (uint32_t k = 0; k < depth; k++) {
    where.at[lead] = k;
    from[batch + k] = read_index_at(idx, where.at);
  }
  for (uint32_t k = batch + depth; k < t->rank; k++) from[k] = to[lead + k - batch - depth];
}

/* The row-major index in base of the element that a gather copies to element i of its result
 * `gathered`, and to which a scatter writes update i. */
static int64_t base_index(const trial *t, const vt_view *base, const vt_view *idx,
                          const vt_view *gathered, int64_t i) {
  const index to = coordinates_of(gathered, i);
  index from = to;
  if (t->form == BY_AXIS) source_coordinates_of_gather(t, idx, to.at, from.at);
  if (t->form == BY_ELEMENTS) from.at[t->axis] = read_index_at(idx, to.at);
  if (t->form == BY_COORDINATES) source_coordinates_of_gather_nd(t, idx, to.at, from.at);
  return row_major_index(base, from.at);
}

/* Random indices that are in range. In the form BY_COORDINATES (gather_nd, scatter_nd) the limit of
 * each coordinate is the length of the axis of base that it indexes. */
static vt_view random_index_tensor(const trial *t, uint32_t dtype, int layout, uint64_t *state) {
  const vt_view v = view_new(dtype, t->index_rank, t->index_dim, layout);
  for (int64_t i = 0; i < count_of_view(&v); i++) {
    const int64_t axis =
        t->form == BY_COORDINATES ? t->batch + i % t->index_dim[t->index_rank - 1] : t->axis;
    put_bits(&v, i, (random_u64(state) >> 8) % (uint64_t)t->dim[axis]);
  }
  return v;
}

static const uint32_t gathers[3] = {VT_OP_gather, VT_OP_gather_elements, VT_OP_gather_nd};

static void test_gathers(void) {
  uint64_t state = 21;
  for (int64_t n = 0; n < COUNT(trials); n++)
    for (uint32_t dtype = 1; dtype <= TYPES; dtype++) {
      const trial *t = &trials[n];
      const attrs a = trial_attrs(t);
      const int layout = (int)(dtype + n) % LAYOUTS;
      const vt_view in[2] = {
          random_view(dtype, t->rank, t->dim, layout, &state),
          random_index_tensor(t, dtype % 2 ? I32 : I64, (int)dtype % LAYOUTS, &state)};
      const run_result r = run_op(gathers[t->form], &a, in, 2, (layout + 1) % LAYOUTS);
      CHECK(r.status == VT_OK);
      for (int64_t i = 0; r.status == VT_OK && i < count_of_view(&r.out); i++)
        check_copied(vt_op_get(gathers[t->form])->name, &r.out, i,
                     get_bits(&in[0], base_index(t, &in[0], &in[1], &r.out, i)));
      free_held();
    }
}

/* ---- scatter ---- */

/* How a scatter combines base and updates: the last update wins, sum, maximum, minimum. */
enum { LAST, SUM, GREATEST, LEAST, MODES, MOST = 4500 };
static const uint32_t scatters[3][MODES] = {
    {VT_OP_scatter, VT_OP_scatter_add, VT_OP_scatter_max, VT_OP_scatter_min},
    {VT_OP_scatter_elements, VT_OP_scatter_elements_add, VT_OP_scatter_elements_max,
     VT_OP_scatter_elements_min},
    {VT_OP_scatter_nd, VT_OP_scatter_nd_add, VT_OP_scatter_nd_max, VT_OP_scatter_nd_min}};

static double float_of_bits(uint32_t dtype, uint64_t bits) {
  return dtype == F32 ? (double)vt_f32_from_bits((uint32_t)bits) : vt_f64_from_bits(bits);
}

static int is_nan(uint32_t dtype, uint64_t bits) {
  return (dtype == F32 || dtype == F64) && isnan(float_of_bits(dtype, bits));
}

/* 1 if a is above b in the total order of its dtype. */
static int is_above_in_total_order(uint32_t dtype, uint64_t a, uint64_t b) {
  if (dtype == F32 || dtype == F64)
    return comes_above(float_of_bits(dtype, a), float_of_bits(dtype, b));
  return integer_of(dtype, a) > integer_of(dtype, b);
}

static uint64_t base_plus_updates(uint32_t dtype, uint64_t base, const uint64_t *updates,
                                  int64_t n) {
  if (dtype == F32) {
    static float x[MOST];
    for (int64_t i = 0; i < n; i++) x[i] = vt_f32_from_bits((uint32_t)updates[i]);
    return vt_f32_bits(vt_f32_from_bits((uint32_t)base) + s_f32(x, n));
  }
  if (dtype == F64) {
    static double x[MOST];
    for (int64_t i = 0; i < n; i++) x[i] = vt_f64_from_bits(updates[i]);
    return vt_f64_bits(vt_f64_from_bits(base) + s_f64(x, n));
  }
  for (int64_t i = 0; i < n; i++) base += updates[i];
  return truncate_bits(dtype, base);
}

/* Applies n updates, which are given in ascending position, to the element `base` and returns the
 * new element. */
static uint64_t apply_updates(int mode, uint32_t dtype, uint64_t base, const uint64_t *updates,
                              int64_t n) {
  if (n == 0) return base;
  if (mode == LAST) return updates[n - 1];
  if (mode == SUM) return base_plus_updates(dtype, base, updates, n);
  for (int64_t i = 0; i < n; i++) {
    if (is_nan(dtype, base)) return base;
    if (is_nan(dtype, updates[i]) ||
        (mode == GREATEST ? is_above_in_total_order(dtype, updates[i], base)
                          : is_above_in_total_order(dtype, base, updates[i])))
      base = updates[i];
  }
  return base;
}

static void check_scatter_result(const trial *t, int mode, const vt_view *in, const vt_view *y) {
  static uint64_t u[MOST];
  static int64_t to[MOST];
  const int64_t n = count_of_view(&in[2]);
  for (int64_t i = 0; i < n; i++) to[i] = base_index(t, &in[0], &in[1], &in[2], i);
  for (int64_t d = 0; d < count_of_view(y); d++) {
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++)
      if (to[i] == d) u[found++] = get_bits(&in[2], i);
    const uint64_t want = apply_updates(mode, y->dtype, get_bits(&in[0], d), u, found);
    if (found == 0 || mode == LAST) check_copied("scatter", y, d, want);
    if (!expect_bits(vt_op_get(scatters[t->form][mode])->name, y, d, want)) return;
  }
}

/* Checks one scatter; its updates have the shape of the result of the gather with the same index.
 */
static void test_scatter(const trial *t, int mode, uint32_t dtype, int ordinary, uint64_t *state) {
  const attrs a = trial_attrs(t);
  const int layout = (int)(dtype + (uint32_t)mode) % LAYOUTS;
  vt_view in[3] = {
      random_view(dtype, t->rank, t->dim, layout, state),
      random_index_tensor(t, ordinary ? I32 : I64, (layout + ordinary) % LAYOUTS, state)};
  vt_type like;
  CHECK(infer_type_of_views(vt_op_get(gathers[t->form]), &a, in, 2, &like) == VT_OK);
  in[2] = view_new(dtype, like.rank, like.dim, (layout + 2) % LAYOUTS);
  in[2] = ordinary ? fill_ordinary(in[2], state) : fill_any(in[2], state);
  if (ordinary) in[0] = fill_ordinary(in[0], state);
  CHECK(count_of_view(&in[2]) <= MOST);
  const run_result r = run_op(scatters[t->form][mode], &a, in, 3, (layout + 1) % LAYOUTS);
  CHECK(r.status == VT_OK);
  if (r.status == VT_OK) check_scatter_result(t, mode, in, &r.out);
  free_held();
}

static void test_scatters(void) {
  uint64_t state = 22;
  for (int64_t n = 0; n < COUNT(trials); n++)
    for (int mode = LAST; mode < MODES; mode++)
      for (uint32_t dtype = 1; dtype <= TYPES; dtype++) {
        if (mode != LAST && dtype > I64) continue; /* bool, f16 and bf16 are only copied */
        test_scatter(&trials[n], mode, dtype, 0, &state);
        test_scatter(&trials[n], mode, dtype, 1, &state);
      }
}

/* ---- indices out of range ---- */

/* Every op reports the first index out of range in row-major order and writes nothing. */
static void test_index_out_of_range(void) {
  static const struct {
    uint32_t op, n_in;
    int64_t axis;
  } ops[] = {
      {VT_OP_gather_elements, 2, 1},      {VT_OP_gather_nd, 2, 0},        {VT_OP_scatter, 3, 0},
      {VT_OP_scatter_add, 3, 0},          {VT_OP_scatter_elements, 3, 1}, {VT_OP_scatter_nd, 3, 0},
      {VT_OP_scatter_elements_max, 3, 1}, {VT_OP_scatter_nd_add, 3, 0}};
  static const int64_t bad[] = {-1, 3, INT64_MIN, INT64_MAX}, dim[2] = {3, 3};
  for (int64_t o = 0; o < COUNT(ops); o++)
    for (int64_t b = 0; b < COUNT(bad); b++)
      for (int64_t at = 0; at < 6; at++) {
        const int nd = ops[o].op == VT_OP_gather_nd || ops[o].op == VT_OP_scatter_nd ||
                       ops[o].op == VT_OP_scatter_nd_add;
        const int rows = ops[o].op == VT_OP_scatter || ops[o].op == VT_OP_scatter_add;
        const int64_t index_dim[2] = {nd ? 4 : 3, nd ? 2 : 3}, updates[3] = {nd ? 4 : 3, 3, 3};
        const vt_view in[3] = {view_new(F32, 2, dim, DENSE),
                               view_new(I64, 2, index_dim, (int)at % LAYOUTS),
                               view_new(F32,
                                        nd     ? 1
                                        : rows ? 3
                                               : 2,
                                        updates, DENSE)};
        for (int64_t i = 0; i < count_of_view(&in[1]); i++) put_bits(&in[1], i, (uint64_t)i % 3);
        put_bits(&in[1], 7, (uint64_t)-3); /* a later index out of range, which is not reported */
        put_bits(&in[1], at, (uint64_t)bad[b]);
        const run_result r = run_op(ops[o].op, NULL, in, ops[o].n_in, DENSE);
        /* these ops need the axis, because only the text form resolves the default, -1 */
        if (ops[o].axis == 1) {
          const vt_attr_axis a = {.size = sizeof a, .axis = 1};
          const run_result s = run_op(ops[o].op, &a, in, ops[o].n_in, DENSE);
          CHECK(r.status == VT_VERIFY);
          CHECK(s.status == VT_RANGE && s.position == (uint64_t)at && s.value == bad[b]);
          CHECK(get_bits(&s.out, 0) == 0xa5a5a5a5u);
        } else {
          CHECK(r.status == VT_RANGE && r.position == (uint64_t)at && r.value == bad[b]);
          CHECK(get_bits(&r.out, 0) == 0xa5a5a5a5u);
        }
        free_held();
      }
}

/* The limit of a coordinate is the length of its own axis. */
static void test_coordinate_limit_is_own_axis(void) {
  static const int64_t dim[2] = {2, 5}, index_dim[2] = {2, 2};
  static const uint64_t good[4] = {1, 4, 0, 3}, over[4] = {1, 4, 2, 3};
  const vt_view in[2] = {view_new(F32, 2, dim, DENSE), view_new(I32, 2, index_dim, DENSE)};
  for (int64_t i = 0; i < 4; i++) put_bits(&in[1], i, good[i]);
  CHECK(run_op(VT_OP_gather_nd, NULL, in, 2, DENSE).status == VT_OK);
  for (int64_t i = 0; i < 4; i++) put_bits(&in[1], i, over[i]);
  const run_result r = run_op(VT_OP_gather_nd, NULL, in, 2, DENSE);
  CHECK(r.status == VT_RANGE && r.position == 2 && r.value == 2);
  free_held();
}

/* ---- one_hot ---- */

static void test_one_hot(void) {
  static const int64_t dim[2] = {3, 4}, near[] = {-1, 0, 1, 4, 5, INT32_MIN, INT32_MAX, 2};
  uint64_t state = 23;
  for (uint32_t dtype = 1; dtype <= TYPES; dtype++)
    for (uint32_t wide = 0; wide < 2; wide++)
      for (int64_t depth = 0; depth < 7; depth += 3) {
        const vt_attr_one_hot a = {
            .size = sizeof a, .depth = depth, .on = 0.1, .off = -3.75, .dtype = dtype};
        const vt_view x = view_new(wide ? I64 : I32, 2, dim, (int)dtype % LAYOUTS);
        for (int64_t i = 0; i < 12; i++)
          put_bits(&x, i, truncate_bits(x.dtype, (uint64_t)near[random_u64(&state) >> 61]));
        const run_result r = run_op(VT_OP_one_hot, &a, &x, 1, (int)(dtype + wide) % LAYOUTS);
        CHECK(r.status == VT_OK && r.out.dtype == dtype && r.out.rank == 3);
        for (int64_t i = 0; i < count_of_view(&r.out); i++) {
          const double v = integer_of(x.dtype, get_bits(&x, i / depth)) == i % depth ? 0.1 : -3.75;
          uint64_t want = 0;
          vt_cast(&v, 1, F64, &want, 1, dtype, 1);
          check_copied("one_hot", &r.out, i, want);
        }
        free_held();
      }
}

/* ---- nonzero ---- */

static int is_zero(uint32_t dtype, uint64_t bits) {
  if (dtype == F32) return bits << 33 == 0;
  if (dtype == F64) return bits << 1 == 0;
  if (dtype == VT_DTYPE_F16 || dtype == VT_DTYPE_BF16) return (bits & 0x7fff) == 0;
  return bits == 0;
}

static void test_nonzero(void) {
  static const struct {
    uint32_t rank;
    int64_t dim[8];
  } rows[] = {{0, {0}},    {1, {9}},       {1, {0}},
              {2, {3, 5}}, {3, {2, 0, 3}}, {8, {1, 2, 1, 2, 1, 2, 1, 3}}};
  uint64_t state = 24;
  for (int64_t s = 0; s < COUNT(rows); s++)
    for (uint32_t dtype = 1; dtype <= TYPES; dtype++)
      for (int64_t bound = 0; bound < 30; bound += 7) {
        const vt_attr_nonzero a = {.size = sizeof a, .bound = bound};
        const vt_view x =
            random_view(dtype, rows[s].rank, rows[s].dim, (int)dtype % LAYOUTS, &state);
        for (int64_t i = 0; i < count_of_view(&x); i++)
          if (random_u64(&state) >> 63)
            put_bits(&x, i,
                     dtype == F32 && i % 2   ? 0x80000000u
                     : dtype == VT_DTYPE_F16 ? 0x8000
                                             : 0);
        const run_results r =
            run_op_with_results(VT_OP_nonzero, &a, &x, 1, (int)(dtype + s) % LAYOUTS);
        int64_t found = 0;
        CHECK(r.status == VT_OK && r.n == 2 && r.out[1].rank == 0);
        for (int64_t i = 0; i < count_of_view(&x); i++) {
          if (is_zero(dtype, get_bits(&x, i))) continue;
          const index at = coordinates_of(&x, i);
          for (uint32_t k = 0; found < bound && k < x.rank; k++)
            CHECK((int64_t)get_bits(&r.out[0], found * x.rank + k) == at.at[k]);
          found++;
        }
        CHECK((int64_t)get_bits(&r.out[1], 0) == found);
        for (int64_t i = found * x.rank; i < count_of_view(&r.out[0]); i++)
          CHECK((int64_t)get_bits(&r.out[0], i) == -1);
        free_held();
      }
}

/* ---- type rules ---- */

static void test_gather_rules(void) {
  static const vt_attr_axis axis_0 = {.size = sizeof axis_0},
                            axis_1 = {.size = sizeof axis_1, .axis = 1};
  static const vt_attr_axis last = {.size = sizeof last, .axis = -1};
  static const vt_attr_gather_nd batch = {.size = sizeof batch, .batch = 1};
  static const vt_attr_gather_nd less = {.size = sizeof less, .batch = -1};
  static const vt_attr_gather_nd much = {.size = sizeof much, .batch = INT64_MAX};
  static const rule_case cases[] = {
      {VT_OP_gather_nd, NULL, "f16[4, V]; i32[B, 1]", "f16[B, V]"},
      {VT_OP_gather_nd, NULL, "f32[4, V]; i64[B, T, 2]", "f32[B, T]"},
      {VT_OP_gather_nd, &batch, "f32[B, 4, V]; i64[B, T, 1]", "f32[B, T, V]"},
      {VT_OP_gather_nd, NULL, "f32[4]; i32[0]", "f32[4]"},
      {VT_OP_gather_nd, NULL, "f32[4]; i32[B]",
       "!verify: the last axis of the index i32[B] must be"},
      {VT_OP_gather_nd, NULL, "f32[4]; i32[3, 2]",
       "!verify: holds more coordinates than f32[4] has"},
      {VT_OP_gather_nd, NULL, "f32[4]; i32[]", "!verify: f32[4] by coordinates i32[] with 0 batch"},
      {VT_OP_gather_nd, &batch, "f32[B, 4]; i32[T, 1]", "!verify: with 1 batch axes"},
      {VT_OP_gather_nd, &batch, "f32[3, 4]; i32[3]", "!verify: with 1 batch axes"},
      {VT_OP_gather_nd, &less, "f32[3, 4]; i32[3]", "!verify: with -1 batch axes"},
      {VT_OP_gather_nd, &much, "f32[3, 4]; i32[3]", "!verify: batch axes"},
      {VT_OP_gather_nd, NULL, "f32[3, 4]; i32[1, 1, 1, 1, 1, 1, 1, 1]",
       "f32[1, 1, 1, 1, 1, 1, 1, 4]"},
      {VT_OP_gather_nd, NULL, "f32[3, 4, 5]; i32[1, 1, 1, 1, 1, 1, 1, 1]", "!limit: a rank over 8"},
      {VT_OP_gather_nd, NULL, "f32[4]; f32[1]", "!verify: operand 2 is f32[1], expected an index"},
      {VT_OP_gather_elements, &axis_1, "f32[B, 3]; i32[B, 7]", "f32[B, 7]"},
      {VT_OP_gather_elements, &axis_0, "bf16[4, 3]; i64[9, 2]", "bf16[9, 2]"},
      {VT_OP_gather_elements, &axis_0, "f32[4, 3]; i64[9, 4]",
       "!verify: may be longer on that axis"},
      {VT_OP_gather_elements, &axis_0, "f32[4, B]; i64[9, 4]", "f32[9, 4]"},
      {VT_OP_gather_elements, &axis_0, "f32[4, 3]; i64[9]",
       "!verify: f32[4, 3] by an index i64[9]"},
      {VT_OP_gather_elements, &axis_1, "f32[4]; i64[9]", "!verify: along axis 1"},
      {VT_OP_gather_elements, &last, "f32[4]; i64[9]", "!verify: along axis -1"},
      {VT_OP_gather_elements, &axis_0, "f32[4]; u8[9]", "!verify: operand 2 is u8[9], expected an"},
  };
  CHECK_RULES(cases);
}

static void test_scatter_rules(void) {
  static const vt_attr_axis axis_0 = {.size = sizeof axis_0};
  static const vt_attr_gather past = {.size = sizeof past, .axis = 2};
  static const rule_case cases[] = {
      {VT_OP_scatter, NULL, "f16[V, 8]; i32[B]; f16[B, 8]", "f16[V, 8]"},
      {VT_OP_scatter, NULL, "f32[V, 8]; i32[B]; f32[8]",
       "!verify: the updates are f32[8], expected f32[B, 8]"},
      {VT_OP_scatter, NULL, "f32[V, 8]; i32[B]; f32[T, 8]", "!verify: the updates are f32[T, 8]"},
      {VT_OP_scatter, NULL, "f32[4]; i32[2]; f64[2]",
       "!verify: operand 3 is f64[2] where operand 1 is f32[4]: write a cast"},
      {VT_OP_scatter, NULL, "f32[4]; f32[2]; f32[2]",
       "!verify: operand 2 is f32[2], expected an index"},
      {VT_OP_scatter, &past, "f32[4]; i32[2]; f32[2]", "!verify: gather along axis 2"},
      {VT_OP_scatter, NULL, "f32[4]; i32[2]",
       "!verify: takes 3 operands (base, index, updates), got 2"},
      {VT_OP_scatter_add, NULL, "bool[4]; i32[2]; bool[2]",
       "!verify: operand 1 is bool[4], expected f32, f64"},
      {VT_OP_scatter_max, NULL, "f16[4]; i32[2]; f16[2]",
       "!verify: operand 1 is f16[4], expected f32"},
      {VT_OP_scatter_nd, NULL, "f32[4, 3]; i64[B, 2]; f32[B]", "f32[4, 3]"},
      {VT_OP_scatter_nd_add, NULL, "f32[4, 3]; i64[B, 1]; f32[B]",
       "!verify: the updates are f32[B], expected f32[B, 3]"},
      {VT_OP_scatter_elements, &axis_0, "i8[4, 3]; i64[7, 2]; i8[7, 2]", "i8[4, 3]"},
      {VT_OP_scatter_elements_min, &axis_0, "i8[4, 3]; i64[7, 2]; i8[7, 3]",
       "!verify: the updates are i8[7, 3], expected i8[7, 2]"},
  };
  CHECK_RULES(cases);
}

static void test_one_hot_and_nonzero_rules(void) {
  const vt_attr_one_hot hot = {.size = sizeof hot, .depth = INT64_MIN, .dtype = VT_DTYPE_BF16};
  const vt_attr_one_hot minus = {.size = sizeof minus, .depth = -1, .dtype = F32};
  const vt_attr_one_hot far = {.size = sizeof far, .depth = INT64_MAX, .dtype = F32};
  const vt_attr_one_hot odd = {.size = sizeof odd, .depth = 3, .dtype = 10};
  const vt_attr_one_hot wide = {.size = sizeof wide, .depth = 3, .dtype = (INT64_C(1) << 32) + 1};
  const vt_attr_nonzero bound = {.size = sizeof bound, .bound = INT64_MIN};
  const vt_attr_nonzero below = {.size = sizeof below, .bound = -1};
  const vt_attr_nonzero over = {.size = sizeof over, .bound = (INT64_C(1) << 40) + 1};
  const rule_case cases[] = {
      {VT_OP_one_hot, &hot, "i32[T]", "bf16[T, B]"},
      {VT_OP_one_hot, &minus, "i32[T]", "!verify: depth=-1 is outside 0..2^40"},
      {VT_OP_one_hot, &far, "i32[T]", "!verify: depth=9223372036854775807 is outside"},
      {VT_OP_one_hot, &odd, "i32[T]", "!verify: a one_hot of type number 10"},
      {VT_OP_one_hot, &wide, "i32[T]", "!verify: a one_hot of type number 4294967297"},
      {VT_OP_one_hot, &hot, "i8[T]",
       "!verify: operand 1 is i8[T], expected an index of i32 or i64"},
      {VT_OP_one_hot, &hot, "i32[1, 1, 1, 1, 1, 1, 1, 1]", "!limit: a rank over 8"},
      {VT_OP_nonzero, &bound, "bool[T, 3]", "i64[B, 2]"},
      {VT_OP_nonzero, &bound, "f16[]", "i64[B, 0]"},
      {VT_OP_nonzero, &below, "bool[T, 3]", "!verify: bound=-1 is outside 0..2^40"},
      {VT_OP_nonzero, &over, "bool[T, 3]", "!verify: bound=1099511627777 is outside"},
  };
  CHECK_RULES(cases);
}

int main(void) {
  test_gathers();
  test_scatters();
  test_index_out_of_range();
  test_coordinate_limit_is_own_axis();
  test_one_hot();
  test_nonzero();
  test_gather_rules();
  test_scatter_rules();
  test_one_hot_and_nonzero_rules();
  TEST_DONE();
}
