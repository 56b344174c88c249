/* SPDX-License-Identifier: Apache-2.0
 * arrange_test.c - tests the kernels and type rules of the compositions that move elements: tile,
 * flip, roll, triu, tril, diag, where, stack, split, squeeze, unsqueeze, flatten. Bits must be
 * copied unchanged, for every dtype. A variant is the number of a choice of attributes. The source
 * of an element of a result is the element of the operand x that is copied to it. */
#include "sized_test.h"
#include "move_test.h"

static const struct {
  uint32_t rank;
  int64_t dim[8];
} shapes[] = {{0, {0}},
              {1, {1}},
              {1, {7}},
              {1, {0}},
              {2, {3, 5}},
              {2, {1, 4}},
              {3, {2, 3, 4}},
              {3, {2, 0, 3}},
              {3, {1, 2, 1}},
              {2, {2, 257}},
              {8, {1, 2, 3, 1, 2, 1, 2, 2}}};

/* Finds the element of x that is copied to element `to` of the result. Returns 0 if that element is
 * +0 instead. */
typedef int source_fn(const vt_view *x, const index *to, const void *attrs, index *from);
/* Writes the attributes of a variant for the shape of x. Returns 0 if there is no such variant. */
typedef int set_attrs_fn(const vt_view *x, int64_t variant, void *attrs);

/* Checks an op of one operand over all shapes, dtypes, layouts and variants of its attributes. */

static void check_moved_elements(uint32_t op, set_attrs_fn *set_attrs, source_fn *source_of) {
  uint64_t state = op;
  _Alignas(16) unsigned char attrs[512];
  for (int64_t s = 0; s < COUNT(shapes); s++)
    for (uint32_t dtype = 1; dtype <= TYPES; dtype++)
      for (int64_t variant = 0; variant < 12; variant++) {
        const vt_view x = random_view(dtype, shapes[s].rank, shapes[s].dim,
                                      (int)(dtype + variant) % LAYOUTS, &state);
        if (set_attrs(&x, variant, attrs)) {
          const run_result r = run_op(op, attrs, &x, 1, (int)(s + dtype) % LAYOUTS);
          CHECK(r.status == VT_OK && r.out.dtype == dtype);
          for (int64_t i = 0; r.status == VT_OK && i < count_of_view(&r.out); i++) {
            const index to = coordinates_of(&r.out, i);
            index from = to;
            const int there = source_of(&x, &to, attrs, &from);
            check_copied(vt_op_get(op)->name, &r.out, i, there ? bits_at_index(&x, from.at) : 0);
          }
        }
        free_held();
      }
}

/* ---- tile, flip, roll ---- */

static int set_tile_attrs(const vt_view *x, int64_t variant, void *attrs) {
  vt_attr_tile a = {.size = sizeof a, .repeats = {.n = x->rank}};
  for (uint32_t i = 0; i < x->rank; i++)
    a.repeats.v[i] = (variant + i) % 4 == 3 ? 0 : 1 + (variant >> (i % 4)) % 2;
  if (variant == 4)
    for (uint32_t i = 0; i < x->rank; i++) a.repeats.v[i] = 2;
  memcpy(attrs, &a, sizeof a);
  return variant < 5;
}

static int tile_source(const vt_view *x, const index *to, const void *attrs, index *from) {
  (void)attrs;
  for (uint32_t i = 0; i < x->rank; i++) from->at[i] = to->at[i] % x->dim[i];
  return 1;
}

static int set_flip_attrs(const vt_view *x, int64_t variant, void *attrs) {
  vt_attr_axes a = {.size = sizeof a};
  for (uint32_t i = x->rank; i-- > 0;)
    if (variant == 1 ? i == 0 : (variant >> i % 3 & 1) != 0) a.axes.v[a.axes.n++] = i;
  memcpy(attrs, &a, sizeof a);
  return variant < 8;
}

static int flip_source(const vt_view *x, const index *to, const void *attrs, index *from) {
  const vt_attr_list *axes = &((const vt_attr_axes *)attrs)->axes;
  for (int64_t i = 0; i < axes->n; i++)
    from->at[axes->v[i]] = x->dim[axes->v[i]] - 1 - to->at[axes->v[i]];
  for (uint32_t i = 0; axes->n == 0 && i < x->rank; i++) from->at[i] = x->dim[i] - 1 - to->at[i];
  return 1;
}

static int set_roll_attrs(const vt_view *x, int64_t variant, void *attrs) {
  static const int64_t shifts[] = {0, 1, -1, 5, -9, INT64_MAX, INT64_MIN};
  vt_attr_roll a = {.size = sizeof a, .shift = shifts[variant % COUNT(shifts)]};
  if (x->rank > 0) a.axis = variant % x->rank;
  memcpy(attrs, &a, sizeof a);
  return x->rank > 0;
}

/* Finds the source by moving `shift` times by one position; `shift` is first reduced modulo the
 * axis length. */
static int roll_source(const vt_view *x, const index *to, const void *attrs, index *from) {
  const vt_attr_roll *a = attrs;
  const int64_t d = x->dim[a->axis];
  for (int64_t n = a->shift % d; n > 0; n--)
    from->at[a->axis] = from->at[a->axis] == 0 ? d - 1 : from->at[a->axis] - 1;
  for (int64_t n = a->shift % d; n < 0; n++)
    from->at[a->axis] = from->at[a->axis] == d - 1 ? 0 : from->at[a->axis] + 1;
  (void)to;
  return 1;
}

/* ---- triangles ---- */

static int set_diagonal_attrs(const vt_view *x, int64_t variant, void *attrs) {
  static const int64_t ks[] = {0, 1, -1, 3, -2, INT64_MAX, INT64_MIN, 100, -100};
  const vt_attr_diagonal a = {.size = sizeof a, .k = ks[variant % COUNT(ks)]};
  memcpy(attrs, &a, sizeof a);
  return x->rank >= 2 && variant < COUNT(ks);
}

static int triu_source(const vt_view *x, const index *to, const void *attrs, index *from) {
  (void)from;
  return to->at[x->rank - 1] - to->at[x->rank - 2] >= ((const vt_attr_diagonal *)attrs)->k;
}

static int tril_source(const vt_view *x, const index *to, const void *attrs, index *from) {
  (void)from;
  return to->at[x->rank - 1] - to->at[x->rank - 2] <= ((const vt_attr_diagonal *)attrs)->k;
}

/* ---- ops that change only the axes: the elements keep their row-major order ---- */

static void check_same_element_order(uint32_t op, const void *attrs, const vt_view *x,
                                     const char *want, int layout) {
  const run_result r = run_op(op, attrs, x, 1, layout);
  char type[VT_TYPE_TEXT] = "";
  const vt_type t = type_of_view(&r.out);
  const vt_dims none = {0};
  CHECK(r.status == VT_OK);
  if (r.status != VT_OK) return;
  if (strcmp(vt_type_text(&none, &t, type), want) != 0)
    report_test_failure(vt_op_get(op)->name, type);
  for (int64_t i = 0; i < count_of_view(&r.out); i++)
    check_copied(vt_op_get(op)->name, &r.out, i, get_bits(x, i));
}

static void test_squeeze_unsqueeze_flatten(void) {
  static const vt_attr_axes all = {.size = sizeof all};
  static const vt_attr_axes first = {.size = sizeof first, .axes = {1, {0}}};
  static const vt_attr_axes both = {.size = sizeof both, .axes = {2, {3, 0}}};
  static const vt_attr_unsqueeze ends = {.size = sizeof ends, .axes = {3, {-1, 0, 3}}};
  static const vt_attr_unsqueeze none = {.size = sizeof none};
  static const vt_attr_flatten whole = {.size = sizeof whole, .end = -1};
  static const vt_attr_flatten inner = {.size = sizeof inner, .start = 1, .end = 2};
  static const vt_attr_flatten last = {.size = sizeof last, .start = -2, .end = -1};
  static const vt_attr_flatten three = {.size = sizeof three, .end = 2};
  static const int64_t ones[4] = {1, 3, 2, 1}, four[4] = {2, 3, 2, 4};
  uint64_t state = 5;
  for (int layout = 0; layout < LAYOUTS; layout++) {
    const vt_view x = random_view(F32, 4, ones, layout, &state),
                  s = random_view(F32, 0, NULL, layout, &state);
    const vt_view y = random_view(F32, 4, four, layout, &state);
    const int to = (layout + 1) % LAYOUTS;
    check_same_element_order(VT_OP_squeeze, &all, &x, "f32[3, 2]", to);
    check_same_element_order(VT_OP_squeeze, &first, &x, "f32[3, 2, 1]", to);
    check_same_element_order(VT_OP_squeeze, &both, &x, "f32[3, 2]", to);
    check_same_element_order(VT_OP_squeeze, &all, &s, "f32[]", to);
    check_same_element_order(VT_OP_unsqueeze, &ends, &x, "f32[1, 1, 3, 1, 2, 1, 1]", to);
    check_same_element_order(VT_OP_unsqueeze, &none, &x, "f32[1, 3, 2, 1]", to);
    check_same_element_order(VT_OP_flatten, &whole, &x, "f32[6]", to);
    check_same_element_order(VT_OP_flatten, &inner, &x, "f32[1, 6, 1]", to);
    check_same_element_order(VT_OP_flatten, &last, &x, "f32[1, 3, 2]", to);
    check_same_element_order(VT_OP_flatten, &whole, &s, "f32[1]", to);
    check_same_element_order(VT_OP_flatten, &three, &y, "f32[12, 4]", to);
    check_same_element_order(VT_OP_flatten, &inner, &y, "f32[2, 6, 4]", to);
    free_held();
  }
}

/* ---- stack and split ---- */

static void test_stack(void) {
  static const int64_t dim[2] = {2, 3};
  uint64_t state = 6;
  for (uint32_t dtype = 1; dtype <= TYPES; dtype++)
    for (int64_t axis = -3; axis < 3; axis++) {
      const vt_attr_stack a = {.size = sizeof a, .axis = axis};
      const vt_view in[3] = {random_view(dtype, 2, dim, DENSE, &state),
                             random_view(dtype, 2, dim, GAPS, &state),
                             random_view(dtype, 2, dim, TRANSPOSED, &state)};
      const run_result r = run_op(VT_OP_stack, &a, in, 3, (int)(axis + 3) % LAYOUTS);
      const uint32_t at = (uint32_t)(axis < 0 ? axis + 3 : axis);
      CHECK(r.status == VT_OK && r.out.rank == 3 && r.out.dim[at] == 3);
      for (int64_t i = 0; i < count_of_view(&r.out); i++) {
        const index to = coordinates_of(&r.out, i);
        index from = {{0}};
        for (uint32_t k = 0, n = 0; k < 3; k++)
          if (k != at) from.at[n++] = to.at[k];
        check_copied("stack", &r.out, i, bits_at_index(&in[to.at[at]], from.at));
      }
      free_held();
    }
}

static void check_split(const vt_attr_split *a, const vt_view *x, const int64_t *sizes, uint32_t n,
                        int layout) {
  const run_results r = run_op_with_results(VT_OP_split, a, x, 1, layout);
  int64_t before = 0;
  CHECK(r.status == VT_OK && r.n == n);
  for (uint32_t p = 0; r.status == VT_OK && p < r.n; before += sizes[p++]) {
    CHECK(r.out[p].dim[a->axis] == sizes[p]);
    for (int64_t i = 0; i < count_of_view(&r.out[p]); i++) {
      index from = coordinates_of(&r.out[p], i);
      from.at[a->axis] += before;
      check_copied("split", &r.out[p], i, bits_at_index(x, from.at));
    }
  }
}

static void test_split(void) {
  static const int64_t dim[3] = {4, 6, 2}, empty[2] = {0, 6}, halves[6] = {3, 3, 3, 3},
                       sizes[3] = {1, 0, 5}, ones[6] = {1, 1, 1, 1, 1, 1};
  uint64_t state = 7;
  for (uint32_t dtype = 1; dtype <= TYPES; dtype++)
    for (int layout = 0; layout < LAYOUTS; layout++) {
      const vt_view x = random_view(dtype, 3, dim, layout, &state),
                    e = random_view(dtype, 2, empty, layout, &state);
      const vt_attr_split two = {.size = sizeof two, .axis = 1, .parts = 2};
      const vt_attr_split six = {.size = sizeof six, .axis = 1, .parts = 6};
      const vt_attr_split listed = {.size = sizeof listed, .axis = 1, .sizes = {3, {1, 0, 5}}};
      check_split(&two, &x, halves, 2, (layout + 1) % LAYOUTS);
      check_split(&six, &x, ones, 6, (layout + 1) % LAYOUTS);
      check_split(&listed, &x, sizes, 3, (layout + 2) % LAYOUTS);
      check_split(&listed, &e, sizes, 3, DENSE);
      free_held();
    }
}

/* ---- where ---- */

static void test_where(void) {
  static const int64_t row[2] = {3, 1}, line[1] = {4}, full[2] = {3, 4};
  uint64_t state = 8;
  for (uint32_t dtype = 1; dtype <= TYPES; dtype++)
    for (int layout = 0; layout < LAYOUTS; layout++) {
      const vt_view in[3] = {random_view(VT_DTYPE_BOOL, 2, row, layout, &state),
                             random_view(dtype, 1, line, layout, &state),
                             random_view(dtype, 2, full, (layout + 1) % LAYOUTS, &state)};
      const run_result r = run_op(VT_OP_where, NULL, in, 3, (layout + 2) % LAYOUTS);
      CHECK(r.status == VT_OK);
      for (int64_t i = 0; i < 12; i++)
        check_copied("where", &r.out, i,
                     broadcast_bits(&in[broadcast_bits(&in[0], &r.out, i) ? 1 : 2], &r.out, i));
      free_held();
    }
}

/* ---- type rules ---- */

static void test_flip_roll_squeeze_tile_rules(void) {
  const int64_t b = INT64_MIN; /* the handle of the symbolic dimension B */
  const vt_attr_tile twice = {.size = sizeof twice, .repeats = {2, {2, b}}};
  const vt_attr_tile less = {.size = sizeof less, .repeats = {1, {-1}}};
  const vt_attr_tile huge = {.size = sizeof huge, .repeats = {1, {INT64_C(1) << 40}}};
  const vt_attr_tile far = {.size = sizeof far, .repeats = {1, {INT64_MAX}}};
  const vt_attr_axes past = {.size = sizeof past, .axes = {1, {2}}};
  const vt_attr_axes again = {.size = sizeof again, .axes = {2, {1, 1}}};
  const vt_attr_axes nine = {.size = sizeof nine, .axes = {9, {0}}};
  const vt_attr_axes minus = {.size = sizeof minus, .axes = {-1, {0}}};
  const vt_attr_axes one = {.size = sizeof one, .axes = {1, {1}}};
  const vt_attr_roll roll = {.size = sizeof roll, .shift = 1, .axis = 1};
  const vt_attr_roll away = {.size = sizeof away, .shift = 1, .axis = -1};
  const rule_case cases[] = {
      {VT_OP_tile, &twice, "f16[B, 3]", "f16[2*B, 3*B]"},
      {VT_OP_tile, &twice, "f32[3]", "!verify: repeats has 2 entries, the operand has rank 1"},
      {VT_OP_tile, &less, "f32[3]", "!verify: axis 0: -1 repeats"},
      {VT_OP_tile, &far, "f32[3]", "!verify: axis 0: 9223372036854775807 repeats"},
      {VT_OP_tile, &huge, "f32[2]", "!verify: dimension 2199023255552 on axis 0"},
      {VT_OP_flip, NULL, "i8[B, 3]", "i8[B, 3]"},
      {VT_OP_flip, &past, "f32[2, 3]", "!verify: axis 2 does not exist in f32[2, 3]"},
      {VT_OP_flip, &again, "f32[2, 3]", "!verify: axis 1 is named twice"},
      {VT_OP_flip, &nine, "f32[2, 3]", "!limit: 9 axes: at most 8"},
      {VT_OP_flip, &minus, "f32[2, 3]", "!limit: -1 axes: at most 8"},
      {VT_OP_roll, &roll, "bool[2, B]", "bool[2, B]"},
      {VT_OP_roll, &roll, "f32[2]", "!verify: axis 1 does not exist in f32[2]"},
      {VT_OP_roll, &away, "f32[2]", "!verify: axis -1 does not exist"},
      {VT_OP_triu, NULL, "f32[B, T]", "f32[B, T]"},
      {VT_OP_tril, NULL, "f32[B]", "!verify: f32[B] has rank below 2"},
      {VT_OP_where, NULL, "bool[B, 1]; f32[3]; f32[]", "f32[B, 3]"},
      {VT_OP_where, NULL, "f32[3]; f32[3]; f32[]", "!verify: operand 1 is f32[3], expected bool"},
      {VT_OP_squeeze, NULL, "f32[1, 3, 1]", "f32[3]"},
      {VT_OP_squeeze, NULL, "f32[1, B]", "!verify: name the axes: whether axis 1 of f32[1, B]"},
      {VT_OP_squeeze, &one, "f32[B, 1]", "f32[B]"},
      {VT_OP_squeeze, &one, "f32[1, 3]", "!verify: axis 1 of f32[1, 3] is not of length 1"},
      {VT_OP_squeeze, &one, "f32[1, B]", "!verify: axis 1 of f32[1, B] is not of length 1"},
      {VT_OP_squeeze, &past, "f32[1, 1]", "!verify: axis 2 does not exist"},
  };
  CHECK_RULES(cases);
}

static void test_split_stack_flatten_rules(void) {
  const int64_t b = INT64_MIN;
  const vt_attr_stack last = {.size = sizeof last, .axis = -1},
                      past = {.size = sizeof past, .axis = 3};
  const vt_attr_split halves = {.size = sizeof halves, .parts = 2};
  const vt_attr_split none = {.size = sizeof none}, many = {.size = sizeof many, .parts = 65};
  const vt_attr_split minus = {.size = sizeof minus, .parts = -2};
  const vt_attr_split both = {.size = sizeof both, .parts = 2, .sizes = {1, {4}}};
  const vt_attr_split sizes = {.size = sizeof sizes, .sizes = {2, {b, 0}}};
  const vt_attr_split wrong = {.size = sizeof wrong, .sizes = {2, {-1, 5}}};
  const vt_attr_split nine = {.size = sizeof nine, .sizes = {9, {1}}};
  const vt_attr_split off = {.size = sizeof off, .axis = 1, .parts = 2};
  const vt_attr_unsqueeze ends = {.size = sizeof ends, .axes = {2, {0, -1}}};
  const vt_attr_unsqueeze same = {.size = sizeof same, .axes = {2, {0, -4}}};
  const vt_attr_unsqueeze out = {.size = sizeof out, .axes = {1, {5}}};
  const vt_attr_unsqueeze minus_n = {.size = sizeof minus_n, .axes = {-1, {0}}};
  const vt_attr_flatten from_second = {.size = sizeof from_second, .start = 1, .end = -1};
  const vt_attr_flatten back = {.size = sizeof back, .start = 1, .end = 0};
  const rule_case cases[] = {
      {VT_OP_stack, &last, "f32[B, 3]; f32[B, 3]", "f32[B, 3, 2]"},
      {VT_OP_stack, &past, "f32[B, 3]; f32[B, 3]", "!verify: axis 3 does not exist in a result of"},
      {VT_OP_stack, NULL, "f32[3]; f32[4]",
       "!verify: operand 2 is f32[4] where operand 1 is f32[3]"},
      {VT_OP_stack, NULL, "f32[B]; f32[T]", "!verify: operand 2 is f32[T] where"},
      {VT_OP_stack, NULL, "f32[3]; i32[3]", "!verify: operand 2 is i32[3] where operand 1 is"},
      {VT_OP_stack, NULL, "f32[1, 1, 1, 1, 1, 1, 1, 1]", "!limit: a rank over 8"},
      {VT_OP_split, &halves, "f32[4*B, 3]", "f32[2*B, 3]"},
      {VT_OP_split, &halves, "f32[B]", "!verify: axis 0 of f32[B] cannot be cut into 2 parts"},
      {VT_OP_split, &halves, "f32[5]", "!verify: axis 0 of f32[5] cannot be cut into 2 parts"},
      {VT_OP_split, &none, "f32[4]", "!verify: split into 0 parts: 1 to 64, or sizes instead"},
      {VT_OP_split, &many, "f32[65]", "!verify: split into 65 parts"},
      {VT_OP_split, &minus, "f32[4]", "!verify: split into -2 parts"},
      {VT_OP_split, &both, "f32[4]", "!verify: split takes parts or sizes, not both"},
      {VT_OP_split, &sizes, "f32[B]", "f32[B]"},
      {VT_OP_split, &sizes, "f32[T]", "!verify: the sizes do not add up to axis 0 of f32[T]"},
      {VT_OP_split, &wrong, "f32[4]", "!verify: part 0 has length -1"},
      {VT_OP_split, &nine, "f32[1]", "!limit: 9 sizes: at most 8"},
      {VT_OP_split, &off, "f32[4]", "!verify: axis 1 does not exist in f32[4]"},
      {VT_OP_unsqueeze, &ends, "f32[B, 3]", "f32[1, B, 3, 1]"},
      {VT_OP_unsqueeze, &same, "f32[B, 3]", "!verify: axis 0 is named twice"},
      {VT_OP_unsqueeze, &out, "f32[B, 3]", "!verify: axis 5 does not exist in a result of rank 3"},
      {VT_OP_unsqueeze, &minus_n, "f32[3]", "!limit: -1 axes more than 1"},
      {VT_OP_unsqueeze, &ends, "f32[1, 1, 1, 1, 1, 1, 1]", "!limit: 2 axes more than 7"},
      {VT_OP_flatten, &from_second, "f32[B, T, 3]", "f32[B, 3*T]"},
      {VT_OP_flatten, &back, "f32[B, T, 3]", "!verify: axes 1 to 0 of f32[B, T, 3]"},
      {VT_OP_flatten, &from_second, "f32[3]", "!verify: axes 1 to -1 of f32[3]"},
      {VT_OP_flatten, NULL, "f32[]", "f32[1]"},
      {VT_OP_flatten, NULL, "f32[1099511627776, 1099511627776]", "!limit: overflows"},
  };
  CHECK_RULES(cases);
}

/* ---- diag ---- */

static void test_diag(void) {
  static const struct {
    int64_t m, n, k, length; /* an m x n matrix, the index k of one of its diagonals, and the length
                                of that diagonal */
  } rows[] = {{3, 3, 0, 3},  {3, 3, 1, 2}, {3, 3, -3, 0}, {2, 5, 2, 2},  {2, 5, 4, 1},
              {5, 2, -4, 1}, {5, 2, 0, 2}, {0, 3, 0, 0},  {4, 4, -1, 3}, {17, 33, 20, 13}};
  uint64_t state = 71;
  for (int64_t i = 0; i < COUNT(rows); i++)
    for (uint32_t dtype = 1; dtype <= TYPES; dtype++) {
      const int64_t dim[2] = {rows[i].m, rows[i].n}, off = rows[i].k < 0 ? -rows[i].k : rows[i].k;
      const vt_attr_diagonal a = {.size = sizeof a, .k = rows[i].k};
      const vt_view x = random_view(dtype, 2, dim, (int)dtype % LAYOUTS, &state);
      const run_result line = run_op(VT_OP_diag, &a, &x, 1, GAPS);
      CHECK(line.status == VT_OK && line.out.rank == 1 && line.out.dim[0] == rows[i].length);
      for (int64_t e = 0; e < rows[i].length; e++) {
        const int64_t at[2] = {e + (rows[i].k < 0 ? off : 0), e + (rows[i].k > 0 ? off : 0)};
        check_copied("diag", &line.out, e, bits_at_index(&x, at));
      }
      const run_result square = run_op(VT_OP_diag, &a, &line.out, 1, TRANSPOSED);
      CHECK(square.status == VT_OK && square.out.rank == 2);
      CHECK(square.out.dim[0] == rows[i].length + off && square.out.dim[1] == square.out.dim[0]);
      for (int64_t e = 0; e < count_of_view(&square.out); e++) {
        const index p = coordinates_of(&square.out, e);
        const int64_t along = rows[i].k < 0 ? p.at[1] : p.at[0];
        const int on = p.at[1] - p.at[0] == rows[i].k;
        check_copied("diag", &square.out, e, on ? get_bits(&line.out, along) : 0);
      }
      free_held();
    }
}

static void test_diag_rules(void) {
  static const vt_attr_diagonal up = {sizeof up, 2}, down = {sizeof down, -2},
                                far = {sizeof far, INT64_MIN}, more = {sizeof more, VT_DIM_MAX + 1},
                                most = {sizeof most, VT_DIM_MAX - 6};
  static const rule_case cases[] = {
      {VT_OP_diag, &up, "f32[B, B]", "f32[B - 2]"},
      {VT_OP_diag, &down, "bf16[T]", "bf16[T + 2, T + 2]"},
      {VT_OP_diag, &up, "f32[3, 5]", "f32[3]"},
      {VT_OP_diag, &down, "f32[3, 5]", "f32[1]"},
      {VT_OP_diag, &down, "f32[1, 5]", "!verify: diagonal -2 is outside of f32[1, 5]"},
      {VT_OP_diag, &up, "f32[B, T]",
       "!verify: the length of the diagonal of f32[B, T] is not known"},
      {VT_OP_diag, &up, "f32[B, 4]", "!verify: the length of the diagonal"},
      {VT_OP_diag, NULL, "f32[]", "!verify: f32[] is neither a vector nor a matrix"},
      {VT_OP_diag, NULL, "f32[1, 1, 1]", "!verify: neither a vector nor a matrix"},
      {VT_OP_diag, &far, "f32[3]", "!verify: expected -2^40..2^40"},
      {VT_OP_diag, &more, "f32[3]", "!verify: k=1099511627777"},
      {VT_OP_diag, &most, "f32[4]",
       "!limit: the matrix f32[1099511627774, 1099511627774] has more"},
      {VT_OP_diag, &most, "f32[B]", "f32[B + 1099511627770, B + 1099511627770]"},
      {VT_OP_diag, NULL, "f32[1048576]", "f32[1048576, 1048576]"},
      {VT_OP_diag, NULL, "f32[1048577]", "!limit: more than 2^40 elements"},
      {VT_OP_diag, NULL, "f32[1048576, 1048577]", "!limit: more than 2^40 elements"},
      {VT_OP_diag, NULL, "f32[0, 1099511627776]", "f32[0]"},
  };
  CHECK_RULES(cases);
}

/* ---- sizes ---- */

/* If an axis has length 0, the other axes may be as long as possible: the decomposition of an empty
 * result must not need large intermediate values. */
static void test_empty_results_need_little_memory(void) {
  static const vt_attr_tile far = {.size = sizeof far,
                                   .repeats = {2, {VT_DIM_MAX, VT_DIM_MAX / 4}}},
                            none = {.size = sizeof none, .repeats = {2, {VT_DIM_MAX, 0}}};
  check_largest_value_bytes(VT_OP_tile, &far, "f32[0, 4]", 64);
  check_largest_value_bytes(VT_OP_tile, &none, "bool[1, 3]", 64);
  check_largest_value_bytes(VT_OP_diag, NULL, "f32[0, 1099511627776]", 64);
}

int main(void) {
  test_diag();
  test_diag_rules();
  test_empty_results_need_little_memory();
  check_moved_elements(VT_OP_tile, set_tile_attrs, tile_source);
  check_moved_elements(VT_OP_flip, set_flip_attrs, flip_source);
  check_moved_elements(VT_OP_roll, set_roll_attrs, roll_source);
  check_moved_elements(VT_OP_triu, set_diagonal_attrs, triu_source);
  check_moved_elements(VT_OP_tril, set_diagonal_attrs, tril_source);
  test_squeeze_unsqueeze_flatten();
  test_stack();
  test_split();
  test_where();
  test_flip_roll_squeeze_tile_rules();
  test_split_stack_flatten_rules();
  TEST_DONE();
}
