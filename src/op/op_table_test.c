/* SPDX-License-Identifier: Apache-2.0
 * op_table_test.c - tests the tables of ops and initialisers: numbers, names, arity and columns of
 * every row. Tests the nodes that initialisers build, and the type rules of relu, gelu, layer_norm,
 * rms_norm and cross_entropy. The fan of a parameter is the number of values that one result sums
 * (fan_in) or of results that one value enters (fan_out). */
#include <ctype.h>
#include "op_test.h"
#include "vt_builder.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Op numbers are stored in files, so this second list of them makes a renumbering fail. The names
 * of a row have consecutive numbers, starting at `first`. */
static const struct {
  uint32_t first;
  const char *names;
} published[] = {
    {1,
     "literal iota neg abs sqrt rsqrt exp log sin cos tanh erf sigmoid add sub mul div mod "
     "pow maximum minimum eq ne lt le gt ge and or not select cast fma sum max min argmax "
     "matmul matmul_masked gather concat slice pad reshape transpose broadcast "
     "random_uniform random_normal loop cond exp2 expm1 log2 log10 log1p tan asin acos "
     "atan sinh cosh asinh acosh atanh sign floor ceil trunc round xor shl shr"},
    {80, "prod argmin cumsum"},
    {90, "conv conv_transpose conv_weight_grad conv_int"},
    {100,
     "gather_nd scatter_nd scatter_nd_add scatter_nd_max scatter_nd_min sort nonzero "
     "random_bits"},
    {110, "matmul_int"},
    {1000,
     "relu silu gelu gelu_tanh mean softmax log_softmax layer_norm rms_norm linear "
     "embedding attention cross_entropy clamp square reciprocal leaky_relu prelu relu6 elu "
     "celu selu softplus mish hardsigmoid hardswish hardtanh softsign log_sigmoid "
     "softshrink hardshrink tanhshrink threshold glu swiglu geglu is_nan is_inf is_finite "
     "where"},
    {1050,
     "logsumexp var std sum_square norm_l1 norm_l2 any all group_norm instance_norm "
     "batch_norm batch_norm_inference nll mse l1 huber smooth_l1 bce bce_with_logits "
     "kl_div"},
    {1080,
     "max_pool max_pool_index max_pool_grad avg_pool avg_pool_grad global_max_pool "
     "global_avg_pool resize resize_grad depth_to_space space_to_depth"},
    {1100,
     "scatter scatter_add scatter_max scatter_min scatter_elements scatter_elements_add "
     "scatter_elements_max scatter_elements_min gather_elements tile flip roll triu tril "
     "one_hot argsort top_k stack split squeeze unsqueeze flatten"},
    {1123, "uniform random_integer bernoulli dropout categorical shuffle"},
    {1130,
     "rope quantize dequantize fake_quantize dynamic_quantize requantize rnn lstm gru "
     "einsum linear_int adaptive_avg_pool adaptive_max_pool diag"},
};

static int is_valid_name(const char *s) {
  if (!islower((unsigned char)*s)) return 0;
  for (; *s != 0; s++)
    if (!islower((unsigned char)*s) && !isdigit((unsigned char)*s) && *s != '_') return 0;
  return 1;
}

/* ---- ops ---- */

static void test_published_op_numbers(void) {
  uint32_t seen = 0;
  for (size_t i = 0; i < COUNT(published); i++) {
    uint32_t number = published[i].first;
    for (const char *at = published[i].names; *at != 0; number++, seen++) {
      const size_t n = strcspn(at, " ");
      const vt_op_info *op = vt_op_get(number);
      CHECK(op != NULL && strlen(op->name) == n && memcmp(op->name, at, n) == 0);
      at += n + (at[n] == ' ');
    }
  }
  CHECK(seen > 200 && vt_op_total() >= seen);
}

static void test_op_numbers_ascend(void) {
  uint32_t last_prim = 0;
  for (uint32_t i = 0; i < vt_op_total(); i++) {
    const vt_op_info *op = vt_op_at(i);
    CHECK(op != NULL && op->number > 0);
    if (op->prim) last_prim = op->number;
    CHECK(i == 0 || vt_op_at(i - 1)->number < op->number);
    CHECK(vt_op_get(op->number) == op && vt_op_find(op->name) == op);
    for (uint32_t k = 0; k < i; k++) CHECK(strcmp(vt_op_at(k)->name, op->name) != 0);
  }
  CHECK(vt_op_at(vt_op_total()) == NULL && vt_op_at(UINT32_MAX) == NULL);
  CHECK(vt_op_get(0) == NULL && vt_op_get(last_prim + 1) == NULL && vt_op_get(999) == NULL);
  CHECK(vt_op_get(UINT32_MAX) == NULL &&
        vt_op_get(vt_op_at(vt_op_total() - 1)->number + 1) == NULL);
  CHECK(vt_op_find("") == NULL && vt_op_find("Add") == NULL && vt_op_find("add ") == NULL);
}

/* Checks that a text like "x, w, b?" names as many operands as the op accepts. The last ones may be
 * optional, marked by a question mark. */
static void check_operand_names_match_arity(const vt_op_info *op) {
  uint32_t names = 0, optional = 0, any = 0;
  for (const char *s = op->operands; *s != 0;) {
    const size_t n = strcspn(s, ",");
    names++;
    const int many = n > 3 && memcmp(s + n - 3, "...", 3) == 0;
    any += (uint32_t)many;
    optional += s[n - 1] == '?' || (many && op->needs == VT_NEEDS_regions);
    s += n;
    s += strspn(s, ", ");
  }
  CHECK(any ? op->max_in == VT_OP_ANY_IN : op->max_in == names);
  CHECK(op->min_in == names - optional);
}

static void test_row_columns(void) {
  for (uint32_t i = 0; i < vt_op_total(); i++) {
    const vt_op_info *op = vt_op_at(i);
    CHECK(is_valid_name(op->name));
    CHECK(op->prim == (op->number < 1000));
    CHECK(op->prim == (op->numerics != VT_NUMERICS_composed));
    CHECK((op->lower == NULL) == (op->prim != 0));
    CHECK(op->check != NULL && op->shape != NULL && op->kernel != NULL && op->attrs != NULL);
    CHECK(strlen(op->help) > 4 && op->help[strlen(op->help) - 1] == '.');
    CHECK(op->min_in <= op->max_in);
    check_operand_names_match_arity(op);
  }
}

static void test_wrong_operand_counts_refused(void) {
  for (uint32_t i = 0; i < vt_op_total(); i++) {
    const vt_op_info *op = vt_op_at(i);
    const vt_type in[6] = {{0}};
    vt_dims dims = {0};
    for (uint32_t n = 0; n <= 5; n++) {
      const vt_rule r = {.dims = &dims, .in = in, .n_in = n, .attrs = op->attrs->defaults};
      vt_type out[VT_MAX_RESULTS];
      uint32_t n_out;
      vt_diag d = {0};
      if (n >= op->min_in && n <= op->max_in) continue;
      CHECK(vt_op_infer(op, &r, out, &n_out, &d) == VT_VERIFY && strstr(d.text, "takes ") != NULL);
    }
  }
}

/* ---- initialisers ---- */

static void test_init_rows(void) {
  static const char *const names[] = {"zeros",      "ones",          "constant",
                                      "normal",     "uniform",       "he_normal",
                                      "he_uniform", "xavier_normal", "xavier_uniform"};
  CHECK(vt_init_count() >= COUNT(names));
  for (uint32_t i = 0; i < vt_init_count(); i++) {
    const vt_init_info *init = vt_init_at(i);
    CHECK(init != NULL && (i == 0 ? init->number > 0 : vt_init_at(i - 1)->number < init->number));
    CHECK(vt_init_get(init->number) == init && vt_init_find(init->name) == init);
    CHECK(is_valid_name(init->name) && init->formula[0] != 0 && init->build != NULL);
    CHECK(init->attrs != NULL);
    for (uint32_t k = 0; k < i; k++) CHECK(strcmp(vt_init_at(k)->name, init->name) != 0);
  }
  for (uint32_t i = 0; i < COUNT(names); i++) {
    const vt_init_info *init = vt_init_find(names[i]);
    CHECK(init != NULL && init->number == i + 1);
  }
  CHECK(vt_init_at(vt_init_count()) == NULL && vt_init_get(0) == NULL && vt_init_get(99) == NULL);
  CHECK(vt_init_find("") == NULL && vt_init_find("Zeros") == NULL);
}

/* The stream is the first four bytes, little-endian, of the BLAKE2b-256 of the name, so any other
 * tool can compute it. */
static void test_stream_of_name(void) {
  /* the hash of the empty name starts with the bytes 0e 57 51 c0 */
  CHECK(vt_random_stream_of("") == 0xc051570eu);
  CHECK(vt_random_stream_of("w") != vt_random_stream_of("b") &&
        vt_random_stream_of("w") == vt_random_stream_of("w"));
}

/* A builder that writes each node as a line of text, like "7: mul(5, 6)". */
typedef struct recorder {
  vt_builder b;
  uint32_t next;
  char text[800];
} recorder;

static uint32_t record_node(vt_builder *b, uint32_t op, const uint32_t *in, uint32_t n,
                            const void *attrs) {
  recorder *r = b->self;
  size_t at = strlen(r->text);
  at +=
      (size_t)snprintf(r->text + at, sizeof r->text - at, "%u: %s(", r->next, vt_op_get(op)->name);
  for (uint32_t i = 0; i < n; i++)
    at += (size_t)snprintf(r->text + at, sizeof r->text - at, "%s%u", i == 0 ? "" : ", ", in[i]);
  if (op == VT_OP_literal)
    at += (size_t)snprintf(r->text + at, sizeof r->text - at, "%llx",
                           (unsigned long long)((const vt_attr_literal *)attrs)->bits);
  if (op == VT_OP_random_normal || op == VT_OP_random_uniform)
    at += (size_t)snprintf(r->text + at, sizeof r->text - at, " rank %d stream %d",
                           (int)((const vt_attr_random *)attrs)->shape.n,
                           (int)((const vt_attr_random *)attrs)->stream);
  (void)snprintf(r->text + at, sizeof r->text - at, ")\n");
  return r->next++;
}

static const char *record_nodes_of_init(recorder *r, const char *name, const void *attrs,
                                        const vt_type *type) {
  *r = (recorder){.next = 2};
  r->b = (vt_builder){.self = r, .node = record_node};
  const vt_init_args a = {&r->b, type, attrs, 0, 1};
  (void)vt_init_find(name)->build(&a);
  return r->text;
}

static void expect_init_nodes(const char *name, const void *attrs, const vt_type *type,
                              const char *want) {
  recorder r;
  const char *got = record_nodes_of_init(&r, name, attrs, type);
  if (strcmp(got, want) != 0) report_test_failure(name, got);
}

/* Checks the nodes that each initialiser builds. Coefficients are given by their bits: sqrt(2/6) is
 * 3f13cd3a, sqrt(2/9) is 3ef15bef. */
static void test_nodes_of_initialisers(void) {
  static const vt_type matrix = {VT_DTYPE_F32, 2, {6, 3}}, bytes = {VT_DTYPE_I8, 1, {4}};
  static const vt_type kernel = {VT_DTYPE_F32, 3, {5, 2, 3}}, empty = {VT_DTYPE_F32, 2, {0, 0}};
  static const vt_attr_none none = {.size = sizeof none};
  static const vt_attr_fill fill = {.size = sizeof fill, .value = 0.1};
  static const vt_attr_normal normal = {.size = sizeof normal, .std = 0.02, .stream = 7};
  static const vt_attr_uniform span = {.size = sizeof span, .low = -0.5, .high = 1, .stream = 8};
  static const vt_attr_uniform tenths = {.size = sizeof tenths, .low = 0.1, .high = 0.3};
  static const vt_attr_fan fan = {.size = sizeof fan, .stream = 9};
  static const vt_attr_fan fan_8 = {.size = sizeof fan_8, .fan_in = 8, .fan_out = 24, .stream = 9};
  static const vt_attr_fan swapped = {.size = sizeof swapped, .stream = 9, .out_in = 1};
  static const vt_attr_fan swapped_2 = {
      .size = sizeof swapped_2, .fan_in = 2, .stream = 9, .out_in = 1};
  static const char z_times[] =
      "2: random_normal(0, 1 rank 2 stream 9)\n3: literal(%s)\n"
      "4: mul(2, 3)\n";
  char want[200];
  expect_init_nodes("zeros", &none, &matrix, "2: literal(0)\n3: broadcast(2)\n");
  expect_init_nodes("ones", &none, &bytes, "2: literal(1)\n3: broadcast(2)\n");
  expect_init_nodes("constant", &fill, &matrix, "2: literal(3dcccccd)\n3: broadcast(2)\n");
  expect_init_nodes("normal", &normal, &matrix,
                    "2: random_normal(0, 1 rank 2 stream 7)\n3: literal(3ca3d70a)\n4: mul(2, 3)\n");
  expect_init_nodes("uniform", &span, &matrix,
                    "2: random_uniform(0, 1 rank 2 stream 8)\n3: literal(3fc00000)\n4: mul(2, 3)\n"
                    "5: literal(bf000000)\n6: add(5, 4)\n");
  expect_init_nodes("uniform", &tenths, &matrix, /* f32(0.3 - 0.1), not f32(0.3) - f32(0.1) */
                    "2: random_uniform(0, 1 rank 2 stream 0)\n3: literal(3e4ccccd)\n4: mul(2, 3)\n"
                    "5: literal(3dcccccd)\n6: add(5, 4)\n");
  expect_init_nodes("he_uniform", &fan, &matrix,
                    "2: random_uniform(0, 1 rank 2 stream 9)\n3: literal(40000000)\n4: mul(2, 3)\n"
                    "5: literal(bf800000)\n6: add(5, 4)\n");
  expect_init_nodes("xavier_uniform", &fan_8, &matrix,
                    "2: random_uniform(0, 1 rank 2 stream 9)\n3: literal(3f5db3d7)\n4: mul(2, 3)\n"
                    "5: literal(beddb3d7)\n6: add(5, 4)\n");
  snprintf(want, sizeof want, z_times, "3f13cd3a");
  expect_init_nodes("he_normal", &fan, &matrix, want);
  snprintf(want, sizeof want, z_times, "3ef15bef"); /* sqrt(2/9) */
  expect_init_nodes("xavier_normal", &fan, &matrix, want);
  snprintf(want, sizeof want, z_times, "3f000000"); /* sqrt(2/8) */
  expect_init_nodes("he_normal", &fan_8, &matrix, want);
  snprintf(want, sizeof want, z_times, "3f5105ec"); /* fan_in is 3, the last axis: sqrt(2/3) */
  expect_init_nodes("he_normal", &swapped, &matrix, want);
  snprintf(want, sizeof want, z_times, "3f000000"); /* fan_in is 2, fan_out 6: sqrt(2/8) */
  expect_init_nodes("xavier_normal", &swapped_2, &matrix, want);
  snprintf(want, sizeof want, z_times, "3fb504f3"); /* a fan of 0 counts as 1 */
  expect_init_nodes("he_normal", &fan, &empty, want);
  expect_init_nodes("he_normal", &swapped, &empty, want);
  /* the shape is [out, in, kernel], so fan_in is 2*3 */
  expect_init_nodes("he_normal", &fan, &kernel,
                    "2: random_normal(0, 1 rank 3 stream 9)\n3: literal(3f13cd3a)\n4: mul(2, 3)\n");
  /* a kernel is [out, in, kernel] in any case */
  expect_init_nodes("he_normal", &swapped, &kernel,
                    "2: random_normal(0, 1 rank 3 stream 9)\n3: literal(3f13cd3a)\n4: mul(2, 3)\n");
  expect_init_nodes("xavier_normal", &fan, &kernel, /* fan_in + fan_out is 2*3 + 5*3: sqrt(2/21) */
                    "2: random_normal(0, 1 rank 3 stream 9)\n3: literal(3e9e01b3)\n4: mul(2, 3)\n");
}

/* ---- type rules of ops that have no test file of their own ---- */

static void test_type_rules(void) {
  static const vt_attr_entropy far = {
      .size = sizeof far, .ignore = INT64_C(1) << 31, .reduction = VT_WORD_mean};
  static const vt_attr_entropy low = {
      .size = sizeof low, .ignore = INT32_MIN, .reduction = VT_WORD_mean};
  static const rule_case cases[] = {
      {VT_OP_relu, NULL, "f64[B]", "f64[B]"},
      {VT_OP_relu, NULL, "i32[B]", "!verify: operand 1 is i32[B], expected f32 or f64"},
      {VT_OP_gelu, NULL, "f64[B]", "!verify: operand 1 is f64[B], expected f32"},
      {VT_OP_layer_norm, NULL, "f32[B, 3]; f32[3]; f32[3]", "f32[B, 3]"},
      {VT_OP_layer_norm, NULL, "f64[B, V]; f64[V]; f64[V]", "f64[B, V]"},
      {VT_OP_layer_norm, NULL, "f32[B, 0]; f32[0]; f32[0]", "f32[B, 0]"},
      {VT_OP_layer_norm, NULL, "f32[B, 3]; f32[3]; f32[2]",
       "!verify: operand 3 is f32[2], expected one number along the last axis of f32[B, 3]"},
      {VT_OP_layer_norm, NULL, "f32[B, V]; f32[T]; f32[V]", "!verify: operand 2 is f32[T]"},
      {VT_OP_layer_norm, NULL, "f32[2, 3]; f32[1, 3]; f32[3]", "!verify: operand 2 is f32[1, 3]"},
      {VT_OP_layer_norm, NULL, "f32[2, 3]; f32[3]; f32[3, 1]", "!verify: operand 3 is f32[3, 1]"},
      {VT_OP_layer_norm, NULL, "f32[2, 0]; f32[]; f32[0]", "!verify: operand 2 is f32[], expected"},
      {VT_OP_layer_norm, NULL, "f32[]; f32[]; f32[]", "!verify: a norm needs an axis"},
      {VT_OP_layer_norm, NULL, "f32[3]; f64[3]; f32[3]", "!verify: operand 2 is f64[3] where"},
      {VT_OP_layer_norm, NULL, "f32[3]; f32[3]", "f32[3]"},
      {VT_OP_rms_norm, NULL, "f32[3]; f32[3]", "f32[3]"},
      {VT_OP_rms_norm, NULL, "i32[3]; i32[3]", "!verify: operand 1 is i32[3], expected f32 or f64"},
      {VT_OP_rms_norm, NULL, "f32[3]; f32[1]", "!verify: operand 2 is f32[1], expected one number"},
      {VT_OP_cross_entropy, NULL, "f32[B, T, V]; i32[B, T]", "f32[]"},
      {VT_OP_cross_entropy, NULL, "f32[9]; i64[]", "f32[]"},
      {VT_OP_cross_entropy, NULL, "f32[0, 9]; i64[0]", "f32[]"},
      {VT_OP_cross_entropy, &far, "f32[2, 9]; i64[2]", "f32[]"},
      {VT_OP_cross_entropy, &low, "f32[2, 9]; i32[2]", "f32[]"},
      {VT_OP_cross_entropy, &far, "f32[2, 9]; i32[2]",
       "!verify: ignore=2147483648 does not fit i32"},
      {VT_OP_cross_entropy, NULL, "f32[2, 9]; i32[3]",
       "!verify: logits f32[2, 9] and targets i32[3]: expected [..., V] and [...], V > 0"},
      {VT_OP_cross_entropy, NULL, "f32[B, 9]; i32[T]", "!verify: logits f32[B, 9] and targets"},
      {VT_OP_cross_entropy, NULL, "f32[2, 9]; i32[2, 9]", "!verify: logits f32[2, 9] and targets"},
      {VT_OP_cross_entropy, NULL, "f32[]; i32[]", "!verify: logits f32[] and targets i32[]"},
      {VT_OP_cross_entropy, NULL, "f32[2, 0]; i32[2]", "!verify: V > 0"},
      {VT_OP_cross_entropy, NULL, "f64[2, 9]; i32[2]",
       "!verify: operand 1 is f64[2, 9], expected f32"},
      {VT_OP_cross_entropy, NULL, "f32[2, 9]; i8[2]",
       "!verify: operand 2 is i8[2], expected an index"},
  };
  CHECK_RULES(cases);
  check_accepted_dtypes(VT_OP_relu, 1, NULL, "f32 f64 ");
  check_accepted_dtypes(VT_OP_silu, 1, NULL, "f32 ");
  check_accepted_dtypes(VT_OP_gelu, 1, NULL, "f32 ");
  check_accepted_dtypes(VT_OP_gelu_tanh, 1, NULL, "f32 ");
  check_accepted_dtypes(VT_OP_layer_norm, 3, NULL, "f32 f64 ");
  check_accepted_dtypes(VT_OP_rms_norm, 2, NULL, "f32 f64 ");
}

int main(void) {
  test_published_op_numbers();
  test_op_numbers_ascend();
  test_row_columns();
  test_wrong_operand_counts_refused();
  test_init_rows();
  test_stream_of_name();
  test_nodes_of_initialisers();
  test_type_rules();
  TEST_DONE();
}
