/* SPDX-License-Identifier: Apache-2.0
 * rowwise_test.c - tests that the kernels of composed reductions, norms and losses give the same
 * bits for every layout of their operands and results, and tests the type rules of these ops. */
#include "op_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64, MOST_IN = 5, MOST_OUT = 3 };
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

/* ---- layouts ---- */

typedef struct layout_case {
  uint32_t op, n_in;
  const void *attrs;
  struct {
    uint32_t rank;
    int64_t dim[5];
  } in[MOST_IN];
  int f32_only;
} layout_case;

static const vt_attr_reduce axes_02 = {.size = sizeof axes_02, .axes = {2, {0, 2}}};
static const vt_attr_axis along_1 = {.size = sizeof along_1, .axis = 1};
static const vt_attr_var spread = {.size = sizeof spread, .axes = {1, {1}}, .correction = 1};
static const vt_attr_groups groups_2 = {.size = sizeof groups_2, .groups = 2, .eps = 1e-5};
static const vt_attr_loss each = {.size = sizeof each, .reduction = VT_WORD_none};
static const vt_attr_nll each_row = {
    .size = sizeof each_row, .ignore = 1, .reduction = VT_WORD_none};
static const vt_attr_nll mean_row = {
    .size = sizeof mean_row, .ignore = 1, .reduction = VT_WORD_mean};
static const vt_attr_entropy entropy = {
    .size = sizeof entropy, .ignore = 1, .reduction = VT_WORD_mean, .smoothing = 0.1};

static const layout_case layouts[] = {
    {VT_OP_sum_square, 1, &axes_02, {{3, {3, 4, 5}}}, 0},
    {VT_OP_norm_l1, 1, &axes_02, {{3, {3, 4, 5}}}, 0},
    {VT_OP_norm_l2, 1, &axes_02, {{3, {3, 4, 5}}}, 0},
    {VT_OP_logsumexp, 1, &axes_02, {{3, {3, 4, 5}}}, 1},
    {VT_OP_var, 1, &spread, {{3, {3, 4, 5}}}, 0},
    {VT_OP_std, 1, &spread, {{3, {3, 4, 5}}}, 0},
    {VT_OP_softmax, 1, &along_1, {{3, {3, 4, 5}}}, 1},
    {VT_OP_log_softmax, 1, &along_1, {{3, {3, 4, 5}}}, 1},
    {VT_OP_layer_norm, 3, NULL, {{3, {2, 3, 4}}, {2, {3, 4}}, {2, {3, 4}}}, 0},
    {VT_OP_rms_norm, 2, NULL, {{3, {2, 3, 4}}, {1, {4}}}, 0},
    {VT_OP_group_norm, 3, &groups_2, {{4, {2, 4, 3, 2}}, {1, {4}}, {1, {4}}}, 0},
    {VT_OP_group_norm, 1, &groups_2, {{4, {2, 4, 3, 2}}}, 0},
    {VT_OP_instance_norm, 2, NULL, {{3, {2, 3, 5}}, {1, {3}}}, 0},
    {VT_OP_batch_norm, 5, NULL, {{3, {2, 3, 4}}, {1, {3}}, {1, {3}}, {1, {3}}, {1, {3}}}, 0},
    {VT_OP_batch_norm_inference,
     5,
     NULL,
     {{3, {2, 3, 4}}, {1, {3}}, {1, {3}}, {1, {3}}, {1, {3}}},
     0},
    {VT_OP_mse, 2, &each, {{2, {3, 5}}, {2, {3, 5}}}, 0},
    {VT_OP_l1, 2, NULL, {{2, {3, 5}}, {2, {3, 5}}}, 0},
    {VT_OP_huber, 2, NULL, {{2, {3, 5}}, {2, {3, 5}}}, 0},
    {VT_OP_smooth_l1, 2, NULL, {{2, {3, 5}}, {2, {3, 5}}}, 0},
    {VT_OP_kl_div, 2, &each, {{2, {3, 5}}, {2, {3, 5}}}, 1},
    {VT_OP_bce, 2, &each, {{2, {3, 5}}, {2, {3, 5}}}, 1},
    {VT_OP_bce_with_logits, 2, NULL, {{2, {3, 5}}, {2, {3, 5}}}, 1},
    {VT_OP_nll, 3, &each_row, {{3, {2, 3, 4}}, {2, {2, 3}}, {1, {4}}}, 0},
    {VT_OP_nll, 2, &mean_row, {{3, {2, 3, 4}}, {2, {2, 3}}}, 0},
    {VT_OP_cross_entropy, 2, &entropy, {{3, {2, 3, 4}}, {2, {2, 3}}}, 1},
};

static int has_class_targets(const layout_case *c) {
  return c->op == VT_OP_nll || c->op == VT_OP_cross_entropy;
}

/* A copy of v in another layout. */
static vt_view copy_in_layout(const vt_view *v, int layout) {
  const vt_view y = view_new(v->dtype, v->rank, v->dim, layout);
  for (int64_t i = 0; i < count_of_view(v); i++) put_bits(&y, i, get_bits(v, i));
  return y;
}

static uint32_t infer_result_types(const layout_case *c, const vt_view *in, vt_type *out) {
  const vt_op_info *op = vt_op_get(c->op);
  vt_type types[MOST_IN];
  uint32_t n = 0;
  vt_dims dims = {0};
  for (uint32_t i = 0; i < c->n_in; i++) types[i] = type_of_view(&in[i]);
  const vt_rule r = {.dims = &dims,
                     .in = types,
                     .n_in = c->n_in,
                     .attrs = c->attrs == NULL ? op->attrs->defaults : c->attrs};
  vt_diag d = {0};
  if (vt_op_infer(op, &r, out, &n, &d) != VT_OK) report_test_failure(op->name, d.text);
  return n;
}

static void run_with_result_layout(const layout_case *c, const vt_view *in, int layout,
                                   vt_view *out) {
  const vt_op_info *op = vt_op_get(c->op);
  vt_type types[VT_MAX_RESULTS];
  const uint32_t n = infer_result_types(c, in, types);
  for (uint32_t i = 0; i < n; i++)
    out[i] = view_new(types[i].dtype, types[i].rank, types[i].dim, layout);
  vt_kernel k = {.in = in,
                 .n_in = c->n_in,
                 .out = out,
                 .n_out = n,
                 .attrs = c->attrs == NULL ? op->attrs->defaults : c->attrs};
  CHECK(op->kernel(&k) == VT_OK);
  for (uint32_t i = 0; i < n; i++) check_gaps_unwritten(op->name, &out[i]);
}

static void check_bits_same_in_all_layouts(const layout_case *c, uint32_t dtype, int any_class,
                                           uint64_t *state) {
  vt_view dense[MOST_IN], in[MOST_IN], want[MOST_OUT], got[MOST_OUT];
  test_seed = *state;
  for (uint32_t i = 0; i < c->n_in; i++) {
    const int index = has_class_targets(c) && i == 1;
    dense[i] = view_new(index ? VT_DTYPE_I32 : dtype, c->in[i].rank, c->in[i].dim, DENSE);
    dense[i] = any_class ? fill_any(dense[i], state) : fill_ordinary(dense[i], state);
    for (int64_t k = 0; index && k < count_of_view(&dense[i]); k++)
      put_bits(&dense[i], k, random_u64(state) % 4);
  }
  run_with_result_layout(c, dense, DENSE, want);
  for (int layout = DENSE; layout < LAYOUTS; layout++) {
    for (uint32_t i = 0; i < c->n_in; i++)
      in[i] = copy_in_layout(&dense[i], (layout + (int)i) % LAYOUTS);
    run_with_result_layout(c, in, layout, got);
    for (uint32_t o = 0; o < vt_op_result_count(vt_op_get(c->op)); o++)
      for (int64_t i = 0; i < count_of_view(&want[o]); i++)
        if (!expect_bits(vt_op_get(c->op)->name, &got[o], i, get_bits(&want[o], i))) break;
  }
  free_held();
}

static void test_layouts_agree(void) {
  uint64_t state = 5;
  for (int64_t i = 0; i < COUNT(layouts); i++)
    for (int round = 0; round < 8; round++) {
      const uint32_t dtype = round % 2 && !layouts[i].f32_only ? F64 : F32;
      check_bits_same_in_all_layouts(&layouts[i], dtype, round >= 4, &state);
    }
}

/* A target that is out of range is reported with its position and value. */
static void test_target_out_of_range(void) {
  static const int64_t logits[3] = {2, 3, 4};
  uint64_t state = 6;
  for (int64_t bad = -5; bad <= 4; bad += 9) {
    const vt_view in[2] = {fill_ordinary(view_new(F64, 3, logits, GAPS), &state),
                           view_new(VT_DTYPE_I64, 2, logits, TRANSPOSED)};
    for (int64_t i = 0; i < 6; i++) put_bits(&in[1], i, (uint64_t)(i % 4));
    put_bits(&in[1], 4, (uint64_t)bad);
    const run_result r = run_op(VT_OP_nll, NULL, in, 2, DENSE);
    CHECK(r.status == VT_RANGE && r.position == 4 && r.value == bad);
    free_held();
  }
}

/* ---- type rules ---- */

static const vt_attr_var many = {.size = sizeof many, .correction = INT64_MAX};
static const vt_attr_var less = {.size = sizeof less, .correction = -1};
static const vt_attr_var axis_3 = {.size = sizeof axis_3, .axes = {1, {3}}};
static const vt_attr_groups groups_0 = {.size = sizeof groups_0};
static const vt_attr_groups groups_3 = {.size = sizeof groups_3, .groups = 3};
static const vt_attr_groups groups_far = {.size = sizeof groups_far, .groups = INT64_MIN};
static const vt_attr_batch_norm pushed = {.size = sizeof pushed, .momentum = 1.5};
static const vt_attr_batch_norm unsaid = {.size = sizeof unsaid, .momentum = NAN};
static const vt_attr_loss nearest = {.size = sizeof nearest, .reduction = VT_WORD_nearest};
static const vt_attr_loss unknown = {.size = sizeof unknown, .reduction = INT64_MIN};
static const vt_attr_loss batch = {.size = sizeof batch, .reduction = VT_WORD_batch};
static const vt_attr_loss total = {.size = sizeof total, .reduction = VT_WORD_sum};
static const vt_attr_huber flat = {.size = sizeof flat, .delta = 0, .reduction = 1};
static const vt_attr_huber endless = {.size = sizeof endless, .delta = INFINITY, .reduction = 1};
static const vt_attr_smooth_l1 below = {.size = sizeof below, .beta = -1, .reduction = 1};
static const vt_attr_smooth_l1 corner = {.size = sizeof corner, .beta = 0, .reduction = 1};
static const vt_attr_smooth_l1 no_beta = {.size = sizeof no_beta, .beta = NAN, .reduction = 1};
static const vt_attr_entropy rough = {.size = sizeof rough, .reduction = 1, .smoothing = 1.5};
static const vt_attr_entropy word = {.size = sizeof word, .reduction = VT_WORD_batch};
static const vt_attr_nll far = {.size = sizeof far, .ignore = INT64_MIN, .reduction = 1};

static void test_reduction_rules(void) {
  static const rule_case cases[] = {
      {VT_OP_logsumexp, &axes_02, "f32[B, 3, T]", "f32[3]"},
      {VT_OP_logsumexp, NULL, "f32[2, 0]", "!verify: of nothing: axis 1 of f32[2, 0] is empty"},
      {VT_OP_logsumexp, NULL, "f64[2]", "!verify: operand 1 is f64[2], expected f32"},
      {VT_OP_var, &spread, "f64[B, 3]", "f64[B]"},
      {VT_OP_var, &many, "f32[2]", "!verify: correction=9223372036854775807: it is a count"},
      {VT_OP_std, &less, "f32[2]", "!verify: correction=-1: it is a count of elements"},
      {VT_OP_std, &axis_3, "f32[2]", "!verify: axis 3 does not exist"},
      {VT_OP_any, &axes_02, "bool[B, 3, T]", "bool[3]"},
      {VT_OP_all, NULL, "bool[0]", "bool[]"},
      {VT_OP_all, NULL, "i32[2]", "!verify: operand 1 is i32[2], expected bool"},
      {VT_OP_norm_l2, NULL, "f32[B]", "f32[]"},
  };
  CHECK_RULES(cases);
  check_accepted_dtypes(VT_OP_sum_square, 1, NULL, "f32 f64 ");
  check_accepted_dtypes(VT_OP_norm_l1, 1, NULL, "f32 f64 ");
  check_accepted_dtypes(VT_OP_norm_l2, 1, NULL, "f32 f64 ");
  check_accepted_dtypes(VT_OP_var, 1, NULL, "f32 f64 ");
  check_accepted_dtypes(VT_OP_std, 1, NULL, "f32 f64 ");
  check_accepted_dtypes(VT_OP_any, 1, NULL, "bool ");
  check_accepted_dtypes(VT_OP_all, 1, NULL, "bool ");
}

static void test_norm_rules(void) {
  static const rule_case cases[] = {
      {VT_OP_layer_norm, NULL, "f32[B, 3]", "f32[B, 3]"},
      {VT_OP_layer_norm, NULL, "f32[B, 3, T]; f32[3, T]; f32[3, T]", "f32[B, 3, T]"},
      {VT_OP_layer_norm, NULL, "f32[B, 3, T]; f32[T, 3]", "!verify: the shape of the last axes"},
      {VT_OP_layer_norm, NULL, "f32[3]; f32[2, 3]", "!verify: operand 2 is f32[2, 3], expected"},
      {VT_OP_layer_norm, NULL, "f32[2, 3]; f32[2, 3]; f32[3]", "!verify: operand 3 is f32[3]"},
      {VT_OP_rms_norm, NULL, "f32[2, 3]; f32[2, 3]", "!verify: operand 2 is f32[2, 3], expected"},
      {VT_OP_rms_norm, NULL, "f64[B, T]", "f64[B, T]"},
      {VT_OP_group_norm, &groups_2, "f32[B, 4, T]; f32[4]; f32[4]", "f32[B, 4, T]"},
      {VT_OP_group_norm, &groups_2, "f32[B, 4*T, 3]", "f32[B, 4*T, 3]"},
      {VT_OP_group_norm, &groups_2, "f32[B, T, 3]",
       "!verify: the channels of f32[B, T, 3] do not divide into 2 groups"},
      {VT_OP_group_norm, &groups_3, "f32[B, 4]", "!verify: do not divide into 3 groups"},
      {VT_OP_group_norm, &groups_0, "f32[B, 4]", "!verify: groups=0: at least 1"},
      {VT_OP_group_norm, &groups_far, "f32[B, 4]", "!verify: groups=-9223372036854775808"},
      {VT_OP_group_norm, &groups_2, "f32[4]", "!verify: operand 1 is f32[4], expected [N, C, ...]"},
      {VT_OP_group_norm, &groups_2, "f32[2, 4]; f32[2]",
       "!verify: operand 2 is f32[2], expected one"},
      {VT_OP_instance_norm, NULL, "f32[B, 4, T]; f32[4]", "f32[B, 4, T]"},
      {VT_OP_instance_norm, NULL, "f32[B, 4]", "!verify: [N, C, ...] with a spatial axis"},
      {VT_OP_batch_norm, NULL, "f32[B, 4]; f32[4]; f32[4]; f32[4]; f32[4]", "f32[B, 4]"},
      {VT_OP_batch_norm, NULL, "f32[1, 4, 1]; f32[4]; f32[4]; f32[4]; f32[4]",
       "!verify: f32[1, 4, 1] has one element for each channel"},
      {VT_OP_batch_norm, &pushed, "f32[2, 4]; f32[4]; f32[4]; f32[4]; f32[4]",
       "!verify: momentum=1.5 is not in 0..1"},
      {VT_OP_batch_norm, &unsaid, "f32[2, 4]; f32[4]; f32[4]; f32[4]; f32[4]",
       "!verify: momentum="},
      {VT_OP_batch_norm, NULL, "f32[2, 4]; f32[4]; f32[4]; f32[4]; f32[3]",
       "!verify: operand 5 is f32[3], expected one number for each channel of f32[2, 4]"},
      {VT_OP_batch_norm, NULL, "f32[2, 4]; f32[4]; f32[4]", "!verify: takes 5 operands"},
      {VT_OP_batch_norm_inference, NULL, "f64[1, 4]; f64[4]; f64[4]; f64[4]; f64[4]", "f64[1, 4]"},
      {VT_OP_batch_norm_inference, NULL, "f32[4]; f32[4]; f32[4]; f32[4]; f32[4]",
       "!verify: operand 1 is f32[4], expected [N, C, ...]"},
  };
  CHECK_RULES(cases);
}

static void test_loss_rules(void) {
  static const rule_case cases[] = {
      {VT_OP_mse, NULL, "f32[B, 3]; f32[B, 3]", "f32[]"},
      {VT_OP_mse, &each, "f64[B, 3]; f64[B, 3]", "f64[B, 3]"},
      {VT_OP_mse, &total, "f64[0]; f64[0]", "f64[]"},
      {VT_OP_mse, NULL, "f32[3]; f32[1]",
       "!verify: x is f32[3] and t is f32[1]: expected one shape"},
      {VT_OP_mse, &nearest, "f32[3]; f32[3]",
       "!verify: reduction=nearest, expected none, mean or sum"},
      {VT_OP_l1, &batch, "f32[3]; f32[3]", "!verify: reduction=batch, expected none, mean or sum"},
      {VT_OP_l1, &unknown, "f32[3]; f32[3]", "!verify: reduction=?, expected"},
      {VT_OP_kl_div, &batch, "f32[B, 3]; f32[B, 3]", "f32[]"},
      {VT_OP_kl_div, &batch, "f32[]; f32[]", "!verify: it has no first dimension"},
      {VT_OP_kl_div, &nearest, "f32[3]; f32[3]", "!verify: expected none, mean, sum or batch"},
      {VT_OP_kl_div, NULL, "f64[3]; f64[3]", "!verify: operand 1 is f64[3], expected f32"},
      {VT_OP_bce, &batch, "f32[3]; f32[3]", "!verify: reduction=batch, expected none, mean or sum"},
      {VT_OP_bce_with_logits, NULL, "f32[3]; f32[4]", "!verify: expected one shape"},
      {VT_OP_huber, &flat, "f32[3]; f32[3]", "!verify: delta=0: expected a finite number above 0"},
      {VT_OP_huber, &endless, "f32[3]; f32[3]", "!verify: delta=inf: expected a finite number"},
      {VT_OP_smooth_l1, &below, "f32[3]; f32[3]", "!verify: beta=-1: expected a finite number"},
      {VT_OP_smooth_l1, &no_beta, "f32[3]; f32[3]", "!verify: beta=nan: expected a finite number"},
      {VT_OP_smooth_l1, &corner, "f32[3]; f32[3]", "f32[]"},
      {VT_OP_cross_entropy, NULL, "f32[B, 9]; i32[B]; f32[9]", "f32[]"},
      {VT_OP_cross_entropy, NULL, "f32[B, 9]; i32[B]; f32[8]",
       "!verify: weights f32[8]: expected one"},
      {VT_OP_cross_entropy, NULL, "f32[B, 9]; i32[B]; f64[9]", "!verify: operand 3 is f64[9]"},
      {VT_OP_cross_entropy, &rough, "f32[B, 9]; i32[B]", "!verify: smoothing=1.5 is not in 0..1"},
      {VT_OP_cross_entropy, &entropy, "f32[B, 9]; i32[B]; f32[9]",
       "!verify: smoothing and weights of classes do not go together"},
      {VT_OP_cross_entropy, &word, "f32[B, 9]; i32[B]", "!verify: reduction=batch"},
      {VT_OP_nll, &each_row, "f64[B, T, V]; i32[B, T]", "f64[B, T]"},
      {VT_OP_nll, NULL, "f64[B, 9]; i64[B]; f64[9]", "f64[]"},
      {VT_OP_nll, NULL, "f64[B, 9]; i64[B]; f32[9]", "!verify: operand 3 is f32[9], expected f64"},
      {VT_OP_nll, NULL, "i32[B, 9]; i64[B]",
       "!verify: operand 1 is i32[B, 9], expected f32 or f64"},
      {VT_OP_nll, NULL, "f32[B, 9]; f32[B]", "!verify: operand 2 is f32[B], expected an index"},
      {VT_OP_nll, NULL, "f32[B, 0]; i32[B]", "!verify: V > 0"},
      {VT_OP_nll, &far, "f32[B, 9]; i32[B]", "!verify: does not fit i32"},
  };
  CHECK_RULES(cases);
  check_accepted_dtypes(VT_OP_mse, 2, NULL, "f32 f64 ");
  check_accepted_dtypes(VT_OP_l1, 2, NULL, "f32 f64 ");
  check_accepted_dtypes(VT_OP_kl_div, 2, NULL, "f32 ");
  check_accepted_dtypes(VT_OP_bce, 2, NULL, "f32 ");
  check_accepted_dtypes(VT_OP_bce_with_logits, 2, NULL, "f32 ");
}

/* Op numbers are stored in files, so this second list of them makes a renumbering fail. */
static void test_published_op_numbers(void) {
  static const struct {
    const char *name;
    uint32_t number;
  } rows[] = {{"prod", 80},
              {"argmin", 81},
              {"cumsum", 82},
              {"logsumexp", 1050},
              {"var", 1051},
              {"std", 1052},
              {"sum_square", 1053},
              {"norm_l1", 1054},
              {"norm_l2", 1055},
              {"any", 1056},
              {"all", 1057},
              {"group_norm", 1058},
              {"instance_norm", 1059},
              {"batch_norm", 1060},
              {"batch_norm_inference", 1061},
              {"nll", 1062},
              {"mse", 1063},
              {"l1", 1064},
              {"huber", 1065},
              {"smooth_l1", 1066},
              {"bce", 1067},
              {"bce_with_logits", 1068},
              {"kl_div", 1069}};
  for (int64_t i = 0; i < COUNT(rows); i++) {
    const vt_op_info *op = vt_op_find(rows[i].name);
    CHECK(op != NULL && op->number == rows[i].number);
  }
  CHECK(vt_word_find("batch") == 17);
}

int main(void) {
  test_published_op_numbers();
  test_layouts_agree();
  test_target_out_of_range();
  test_reduction_rules();
  test_norm_rules();
  test_loss_rules();
  TEST_DONE();
}
