/* SPDX-License-Identifier: Apache-2.0
 * form_test.c - every pointwise row of the op table is proven on many shapes and types: the result
 * has the shape the operands broadcast to; an element computed alone has the bits it has among
 * others; and the kernel may write its result over any operand of the same type and shape. */
#include "op_test.h"

enum { MOST_IN = 3, SHAPES = 8 };
typedef struct shape {
  uint32_t rank;
  int64_t dim[4];
} shape;
/* What goes together, each with what it broadcasts to. */
static const struct {
  shape in[MOST_IN], out;
} shapes[SHAPES] = {
    {{{0, {0}}, {0, {0}}, {0, {0}}}, {0, {0}}},
    {{{1, {7}}, {1, {7}}, {1, {7}}}, {1, {7}}},
    {{{2, {3, 5}}, {2, {3, 5}}, {2, {3, 5}}}, {2, {3, 5}}},
    {{{2, {3, 5}}, {1, {5}}, {0, {0}}}, {2, {3, 5}}},
    {{{1, {5}}, {2, {3, 1}}, {2, {3, 5}}}, {2, {3, 5}}},
    {{{0, {0}}, {3, {2, 1, 4}}, {3, {2, 3, 4}}}, {3, {2, 3, 4}}},
    {{{3, {2, 3, 4}}, {3, {2, 3, 4}}, {2, {1, 4}}}, {3, {2, 3, 4}}},
    {{{2, {0, 5}}, {2, {0, 5}}, {1, {5}}}, {2, {0, 5}}},
};

/* Types and attributes of one case; `ran` counts those that the op accepts. */
typedef struct attempt {
  const vt_op_info *op;
  uint32_t dtype[MOST_IN];
  const void *attrs;
  int ran;
} attempt;

static vt_view copy_of(const vt_view *x) {
  vt_view y = view_new(x->dtype, x->rank, x->dim, DENSE);
  for (int64_t i = 0; i < count_of_view(x); i++) put_bits(&y, i, get_bits(x, i));
  return y;
}

/* The shape by broadcasting, for as many operands as there are. */
static int has_shape(const vt_view *y, const vt_view *in, uint32_t n) {
  uint32_t rank = 0;
  int same = 1;
  for (uint32_t i = 0; i < n; i++) rank = in[i].rank > rank ? in[i].rank : rank;
  for (uint32_t axis = 1; same && axis <= rank && y->rank == rank; axis++) {
    int64_t want = 1;
    for (uint32_t i = 0; i < n; i++)
      if (axis <= in[i].rank && in[i].dim[in[i].rank - axis] != 1)
        want = in[i].dim[in[i].rank - axis];
    same = y->dim[rank - axis] == want;
  }
  return same && y->rank == rank;
}

static void check_alone(const attempt *a, const vt_view *in, uint32_t n, const vt_view *y) {
  for (int64_t i = 0; i < count_of_view(y); i++) {
    vt_view one[MOST_IN];
    const int before = n_held;
    for (uint32_t k = 0; k < n; k++) {
      one[k] = view_new(in[k].dtype, 0, NULL, DENSE);
      put_bits(&one[k], 0, spread_bits(&in[k], y, i));
    }
    const ran r = run_op(a->op->number, a->attrs, one, n, DENSE);
    if (r.status != VT_OK) {
      complain(a->op->name, "does not run on one element");
    } else {
      (void)expect_bits(a->op->name, y, i, get_bits(&r.out, 0));
    }
    while (n_held > before) free(held[--n_held].p);
  }
}

static void check_over(const attempt *a, const vt_view *in, uint32_t n, const vt_view *y) {
  for (uint32_t k = 0; k < n; k++) {
    vt_view own[MOST_IN], out;
    const vt_type mine = type_of_view(&in[k]), given = type_of_view(y);
    if (!vt_type_equal(&mine, &given)) continue;
    for (uint32_t i = 0; i < n; i++) own[i] = copy_of(&in[i]);
    out = own[k];
    vt_kernel kernel = {.in = own, .n_in = n, .out = &out, .n_out = 1, .attrs = a->attrs};
    if (a->op->work != NULL) kernel.work = hold((size_t)a->op->work(own, n) + 1);
    if (a->op->kernel(&kernel) != VT_OK) complain(a->op->name, "does not run over an operand");
    for (int64_t i = 0; i < count_of_view(y); i++)
      (void)expect_bits(a->op->name, &out, i, get_bits(y, i));
  }
}

static void try_shapes(attempt *a, uint32_t n, uint64_t *state) {
  for (int s = 0; s < SHAPES; s++) {
    vt_view in[MOST_IN];
    vt_type type;
    for (uint32_t k = 0; k < n; k++)
      in[k] =
          fill_any(view_new(a->dtype[k], shapes[s].in[k].rank, shapes[s].in[k].dim, DENSE), state);
    if (infer_views(a->op, a->attrs, in, n, &type) == VT_OK) {
      const ran r = run_op(a->op->number, a->attrs, in, n, DENSE);
      a->ran++;
      if (r.status != VT_OK) complain(a->op->name, "does not run");
      if (!has_shape(&r.out, in, n)) complain(a->op->name, "has another shape");
      if (n == MOST_IN && r.out.rank != shapes[s].out.rank) complain(a->op->name, "another rank");
      check_alone(a, in, n, &r.out);
      check_over(a, in, n, &r.out);
    } else if (a->ran > 0 && s <= 2) { /* all of one shape; others may be refused */
      complain(a->op->name, "accepts a type in one shape and not in another");
    }
    drop_all();
  }
}

/* All operands of one type, and the first of truth values before two of another. */
static void try_types(const vt_op_info *op, const void *attrs, int *out_ran, uint64_t *state) {
  for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_BF16; dtype++)
    for (int which = 0; which < 2; which++) {
      attempt a = {op, {which ? VT_DTYPE_BOOL : dtype, dtype, dtype}, attrs, 0};
      if (which && (op->min_in != 3 || dtype == VT_DTYPE_BOOL)) continue;
      try_shapes(&a, op->min_in, state);
      *out_ran += a.ran;
    }
}

static void check_op(const vt_op_info *op, uint64_t *state) {
  int accepted = 0;
  if (op->min_in != op->max_in || op->max_in > MOST_IN || vt_op_results(op) != 1)
    complain(op->name, "has operands or results that this test does not know");
  if (op->number == VT_OP_cast) {
    for (uint32_t to = VT_DTYPE_F32; to <= VT_DTYPE_BF16; to++) {
      const vt_attr_cast a = {.size = sizeof a, .dtype = to};
      try_types(op, &a, &accepted, state);
    }
  } else {
    try_types(op, op->attrs->defaults, &accepted, state);
  }
  if (accepted < SHAPES) complain(op->name, "was hardly tried");
}

int main(void) {
  static const char *const known[] = {"add", "select", "cast", "relu"};
  uint64_t state = 20;
  uint32_t pointwise = 0, anchors = 0;
  for (uint32_t i = 0; i < vt_op_total(); i++) {
    const vt_op_info *op = vt_op_at(i);
    const vt_form form = vt_op_form(op->number);
    test_seed = op->number;
    pointwise += form == VT_FORM_POINTWISE;
    anchors += form == VT_FORM_ANCHOR;
    if (form == VT_FORM_POINTWISE) check_op(op, &state);
    if (form == VT_FORM_ANCHOR && vt_op_results(op) != 1) complain(op->name, "has several results");
  }
  CHECK(pointwise > 80 && anchors > 20);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    CHECK(vt_op_form(vt_op_find(known[i])->number) == VT_FORM_POINTWISE);
  CHECK(vt_op_form(VT_OP_matmul) == VT_FORM_ANCHOR && vt_op_form(VT_OP_sum) == VT_FORM_ANCHOR);
  CHECK(vt_op_form(VT_OP_reshape) == VT_FORM_NONE && vt_op_form(VT_OP_loop) == VT_FORM_NONE);
  CHECK(vt_op_form(0) == VT_FORM_NONE && vt_op_form(999999) == VT_FORM_NONE);
  TEST_DONE();
}
