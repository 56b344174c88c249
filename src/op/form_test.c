/* SPDX-License-Identifier: Apache-2.0
 * form_test.c - tests that every op whose row says `pointwise` is pointwise, on many shapes and
 * types. The result has the broadcast shape of the operands. Each element has the same bits when it
 * is computed alone. The kernel may write its result over any operand of the same type. */
#include "op_test.h"

enum { MOST_IN = 3, SHAPES = 8 };
typedef struct shape {
  uint32_t rank;
  int64_t dim[4];
} shape;
/* Shapes of operands that broadcast, and the shape to which they broadcast. */
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

typedef struct attempt { /* an op with dtypes and attributes for it, which it may accept or not */
  const vt_op_info *op;
  uint32_t dtype[MOST_IN]; /* dtypes of the operands */
  const void *attrs;
  int accepted; /* number of shapes that the op accepts so far */
} attempt;

static vt_view dense_copy_of_view(const vt_view *x) {
  vt_view y = view_new(x->dtype, x->rank, x->dim, DENSE);
  for (int64_t i = 0; i < count_of_view(x); i++) put_bits(&y, i, get_bits(x, i));
  return y;
}

/* 1 if y has the shape to which the n operands broadcast. */
static int has_broadcast_shape(const vt_view *y, const vt_view *in, uint32_t n) {
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

static void check_elements_computed_alone(const attempt *a, const vt_view *in, uint32_t n,
                                          const vt_view *y) {
  for (int64_t i = 0; i < count_of_view(y); i++) {
    vt_view one[MOST_IN];
    const int before = n_held;
    for (uint32_t k = 0; k < n; k++) {
      one[k] = view_new(in[k].dtype, 0, NULL, DENSE);
      put_bits(&one[k], 0, broadcast_bits(&in[k], y, i));
    }
    const run_result r = run_op(a->op->number, a->attrs, one, n, DENSE);
    if (r.status != VT_OK) {
      report_test_failure(a->op->name, "does not run on one element");
    } else {
      (void)expect_bits(a->op->name, y, i, get_bits(&r.out, 0));
    }
    while (n_held > before) free(held[--n_held].p);
  }
}

static void check_result_over_operand(const attempt *a, const vt_view *in, uint32_t n,
                                      const vt_view *y) {
  for (uint32_t k = 0; k < n; k++) {
    vt_view own[MOST_IN], out;
    const vt_type mine = type_of_view(&in[k]), result_type = type_of_view(y);
    if (!vt_type_equal(&mine, &result_type)) continue;
    for (uint32_t i = 0; i < n; i++) own[i] = dense_copy_of_view(&in[i]);
    out = own[k];
    vt_kernel kernel = {.in = own, .n_in = n, .out = &out, .n_out = 1, .attrs = a->attrs};
    if (a->op->work != NULL) kernel.work = hold_new_memory((size_t)a->op->work(own, n) + 1);
    if (a->op->kernel(&kernel) != VT_OK)
      report_test_failure(a->op->name, "does not run over an operand");
    for (int64_t i = 0; i < count_of_view(y); i++)
      (void)expect_bits(a->op->name, &out, i, get_bits(y, i));
  }
}

static void check_op_on_all_shapes(attempt *a, uint32_t n, uint64_t *state) {
  for (int s = 0; s < SHAPES; s++) {
    vt_view in[MOST_IN];
    vt_type type;
    for (uint32_t k = 0; k < n; k++)
      in[k] =
          fill_any(view_new(a->dtype[k], shapes[s].in[k].rank, shapes[s].in[k].dim, DENSE), state);
    if (infer_type_of_views(a->op, a->attrs, in, n, &type) == VT_OK) {
      const run_result r = run_op(a->op->number, a->attrs, in, n, DENSE);
      a->accepted++;
      if (r.status != VT_OK) report_test_failure(a->op->name, "does not run");
      if (!has_broadcast_shape(&r.out, in, n))
        report_test_failure(a->op->name, "has another shape");
      if (n == MOST_IN && r.out.rank != shapes[s].out.rank)
        report_test_failure(a->op->name, "another rank");
      check_elements_computed_alone(a, in, n, &r.out);
      check_result_over_operand(a, in, n, &r.out);
    } else if (a->accepted > 0 && s <= 2) { /* rows 0..2 of `shapes` have operands of one shape */
      report_test_failure(a->op->name, "accepts a type in one shape and not in another");
    }
    free_held();
  }
}

/* Tries every dtype for all operands, and for ops with three operands also bool for the first. */
static void check_op_on_all_dtypes(const vt_op_info *op, const void *attrs, int *out_accepted,
                                   uint64_t *state) {
  for (uint32_t dtype = VT_DTYPE_F32; dtype <= VT_DTYPE_BF16; dtype++)
    for (int which = 0; which < 2; which++) {
      attempt a = {op, {which ? VT_DTYPE_BOOL : dtype, dtype, dtype}, attrs, 0};
      if (which && (op->min_in != 3 || dtype == VT_DTYPE_BOOL)) continue;
      check_op_on_all_shapes(&a, op->min_in, state);
      *out_accepted += a.accepted;
    }
}

static void check_op_is_pointwise(const vt_op_info *op, uint64_t *state) {
  int accepted = 0;
  if (op->min_in != op->max_in || op->max_in > MOST_IN || vt_op_result_count(op) != 1)
    report_test_failure(op->name, "has operands or results that this test does not know");
  if (op->number == VT_OP_cast) {
    for (uint32_t to = VT_DTYPE_F32; to <= VT_DTYPE_BF16; to++) {
      const vt_attr_cast a = {.size = sizeof a, .dtype = to};
      check_op_on_all_dtypes(op, &a, &accepted, state);
    }
  } else {
    check_op_on_all_dtypes(op, op->attrs->defaults, &accepted, state);
  }
  if (accepted < SHAPES) report_test_failure(op->name, "was hardly tried");
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
    if (form == VT_FORM_POINTWISE) check_op_is_pointwise(op, &state);
    if (form == VT_FORM_ANCHOR && vt_op_result_count(op) != 1)
      report_test_failure(op->name, "has several results");
  }
  CHECK(pointwise > 80 && anchors > 20);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    CHECK(vt_op_form(vt_op_find(known[i])->number) == VT_FORM_POINTWISE);
  CHECK(vt_op_form(VT_OP_matmul) == VT_FORM_ANCHOR && vt_op_form(VT_OP_sum) == VT_FORM_ANCHOR);
  CHECK(vt_op_form(VT_OP_reshape) == VT_FORM_NONE && vt_op_form(VT_OP_loop) == VT_FORM_NONE);
  CHECK(vt_op_form(0) == VT_FORM_NONE && vt_op_form(999999) == VT_FORM_NONE);
  TEST_DONE();
}
