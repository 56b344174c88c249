/* SPDX-License-Identifier: Apache-2.0
 * program_test.c - the public functions of programs, from a model's text to the bits of its
 * outputs. */
#include <string.h>
#include "vt_test.h"

/* ---- helpers ---- */

/* Makes a program of `text`; the model is freed before the program is used. */
static vt_status try_open_program(const char *text, const vt_options *o, vt_program **out,
                                  vt_diag *d) {
  vt_model *m = NULL;
  *out = NULL;
  CHECK(vt_model_parse(text, strlen(text), NULL, &m, d) == VT_OK);
  if (m == NULL) fprintf(stderr, "  %s\n", d->text);
  if (m == NULL) exit(1); /* the rest of the test needs the model */
  const vt_status s = vt_program_new(m, o, out, d);
  vt_model_free(m);
  return s;
}

static vt_program *open_program_on(const char *text, const char *backend, const vt_binding *b,
                                   uint32_t n) {
  const vt_options o = {.size = sizeof o, .n_bind = n, .bind = b, .backend = backend};
  vt_program *p;
  vt_diag d = {0};
  CHECK(try_open_program(text, &o, &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "  %s\n", d.text);
  if (p == NULL) exit(1);
  return p;
}

static vt_program *open_program(const char *text) {
  return open_program_on(text, "reference", NULL, 0);
}

static vt_tensor make_vector(uint32_t dtype, int64_t n, void *data) {
  return (vt_tensor){.dtype = dtype, .rank = 1, .dim = {n}, .data = data};
}

static void set_input(vt_program *p, const char *name, vt_tensor t) {
  vt_diag d = {0};
  const vt_status s = vt_program_set_input(p, name, &t, &d);
  CHECK(s == VT_OK);
  if (s != VT_OK) fprintf(stderr, "  %s\n", d.text);
}

static void run_program(vt_program *p) {
  vt_diag d = {0};
  const vt_status s = vt_program_run(p, &d);
  CHECK(s == VT_OK && d.code == VT_OK);
  if (s != VT_OK) fprintf(stderr, "  %s\n", d.text);
}

static vt_tensor output_named(vt_program *p, const char *name) {
  vt_tensor t = {0};
  for (uint32_t i = 0; i < vt_program_outputs(p); i++) {
    const char *have;
    CHECK(vt_program_output(p, i, &have, &t, NULL) == VT_OK);
    if (strcmp(have, name) == 0) return t;
  }
  fprintf(stderr, "  no output '%s'\n", name);
  exit(1);
}

/* Returns 1 if the message contains `text`. */
static int message_has(const vt_diag *d, const char *text) {
  if (strstr(d->text, text) != NULL) return 1;
  fprintf(stderr, "  '%s' has no '%s'\n", d->text, text);
  return 0;
}

/* ---- models ---- */

static const char affine[] =
    "volta 1\n"
    "model affine {\n"
    "  input x: f32[3]\n"
    "  param w: f32[3] = constant(value=0.5)\n"
    "  param b: f32[3] = ones\n"
    "  output y = x * w + b\n"
    "}\n";

static const char small[] =
    "volta 1\n"
    "model small {\n"
    "  dim B, T\n"
    "  dim V = 11, C = 8\n"
    "  input tokens: i32[B, T] in 0..V-1\n"
    "  param wpe: f32[16, C] = normal(std=0.5)\n"
    "  x = embedding tok(tokens, rows=V, width=C, init=uniform) + slice(wpe, start=[0, 0], "
    "stop=[T, C])\n"
    "  x = x + attention attn(layer_norm ln1(x), heads=2, causal=true, init=he_normal)\n"
    "  x = x + linear down(gelu(linear up(rms_norm ln2(x), out=2*C)), out=C)\n"
    "  logits = linear head(x, out=V, bias=false)\n"
    "  output logits\n"
    "  output p = softmax(logits)\n"
    "  output loss = cross_entropy(reshape(logits, shape=[B*T, V]), reshape(tokens, shape=[B*T]))\n"
    "}\n";
static const vt_binding small_dims[] = {{"B", 2}, {"T", 5}};

static const char pick[] =
    "volta 1\n"
    "model pick {\n"
    "  input table: f32[3, 2]\n"
    "  input index: i64[4]\n"
    "  rows = gather(table, index)\n"
    "  output y = rows + 1\n"
    "}\n";

/* ---- from text to numbers ---- */

static void test_affine_model(void) {
  float x[3] = {1, -2, 0.25f}, w[3] = {2, 3, 4};
  const float by_init[3] = {1.5f, 0, 1.125f}, by_hand[3] = {3, -5, 2};
  vt_program *p = open_program(affine);
  CHECK(strcmp(vt_program_backend(p), "reference:0") == 0 && vt_program_outputs(p) == 1);
  CHECK(strstr(vt_program_device(p), "scalar reference") != NULL);
  CHECK(vt_program_init_params(p, 0, NULL) == VT_OK);
  set_input(p, "x", make_vector(VT_DTYPE_F32, 3, x));
  memset(x, 0, sizeof x); /* the program has its own copy of x */
  run_program(p);
  const vt_tensor y = output_named(p, "y");
  CHECK(y.dtype == VT_DTYPE_F32 && y.rank == 1 && y.dim[0] == 3);
  CHECK(memcmp(y.data, by_init, sizeof by_init) == 0);
  vt_tensor t = make_vector(VT_DTYPE_F32, 3, w);
  CHECK(vt_program_set_param(p, "w", &t, NULL) == VT_OK);
  run_program(p); /* the input x has kept its value */
  CHECK(memcmp(output_named(p, "y").data, by_hand, sizeof by_hand) == 0);
  vt_program_free(p);
  vt_program_free(NULL);
}

static void test_set_and_get_params(void) {
  float w[3] = {2, 3, 4}, back[3] = {0};
  vt_tensor t = {0}, wrong = make_vector(VT_DTYPE_F32, 4, back);
  vt_program *p = open_program(affine);
  vt_diag d = {0};
  /* With data NULL, the call gives the declared type and shape. */
  CHECK(vt_program_get_param(p, "w", &t, &d) == VT_OK);
  CHECK(t.dtype == VT_DTYPE_F32 && t.rank == 1 && t.dim[0] == 3 && t.data == NULL);
  t.data = back;
  CHECK(vt_program_get_param(p, "w", &t, &d) == VT_NAME && message_has(&d, "'w'"));
  t.data = w;
  CHECK(vt_program_set_param(p, "w", &t, NULL) == VT_OK);
  t.data = back;
  CHECK(vt_program_get_param(p, "w", &t, NULL) == VT_OK && memcmp(back, w, sizeof w) == 0);
  memset(&d, 0, sizeof d);
  CHECK(vt_program_get_param(p, "w", &wrong, &d) == VT_TENSOR && message_has(&d, "f32[4]"));
  /* Fails because x is an input, not a param. */
  CHECK(vt_program_get_param(p, "x", &t, NULL) == VT_NAME);
  CHECK(vt_program_set_param(p, "x", &t, NULL) == VT_NAME);
  CHECK(vt_program_set_param(p, "nobody", &t, NULL) == VT_NAME);
  CHECK(vt_program_set_param(p, "w", &wrong, NULL) == VT_TENSOR);
  vt_program_free(p);
}

/* ---- parameters without an initialiser ---- */

static vt_program *open_without_inits(int params) {
  static char text[8000];
  size_t n = (size_t)snprintf(text, sizeof text,
                              "volta 1\nmodel m {\n  input x: f32[3]\n"
                              "  param first: f32[3] from bf16 = ones\n  y = x + first\n");
  for (int i = 0; i < params; i++)
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "  param bare_%d: f32[3] from f16\n  y = y + bare_%d\n", i, i);
  snprintf(text + n, sizeof text - n, "  param last: f32[3] = ones\n  output z = y * last\n}\n");
  return open_program(text);
}

/* One message names the params that must be given, and counts those for which it has no space.
 * Nothing is set. */
static void test_params_without_init(void) {
  float three[3] = {1, 2, 3}, back[3];
  const vt_tensor t = make_vector(VT_DTYPE_F32, 3, three);
  vt_tensor to = make_vector(VT_DTYPE_F32, 3, back);
  vt_program *p = open_without_inits(2);
  vt_diag d = {0};
  CHECK(vt_program_init_params(p, 0, &d) == VT_NAME && d.code == VT_NAME);
  CHECK(strcmp(d.text,
               "parameters without an initialiser must be given a value: 'bare_0', "
               "'bare_1'") == 0);
  CHECK(strcmp(d.hint, "give --params FILE") == 0);
  CHECK(vt_program_init_params(p, 0, NULL) == VT_NAME);
  CHECK(vt_program_get_param(p, "first", &to, NULL) == VT_NAME);
  CHECK(vt_program_set_param(p, "bare_1", &t, NULL) == VT_OK);
  memset(&d, 0, sizeof d);
  CHECK(vt_program_init_params(p, 0, &d) == VT_NAME && message_has(&d, "value: 'bare_0'"));
  CHECK(strstr(d.text, "bare_1") == NULL);
  CHECK(vt_program_set_param(p, "bare_0", &t, NULL) == VT_OK);
  set_input(p, "x", t);
  CHECK(vt_program_init_params(p, 0, NULL) == VT_OK); /* keeps the values that were given */
  run_program(p);
  const float want[3] = {4, 7, 10};
  CHECK(memcmp(output_named(p, "z").data, want, sizeof want) == 0);
  vt_program_free(p);
}

static void test_many_params_without_init(void) {
  vt_program *p = open_without_inits(100);
  vt_diag d = {0};
  uint32_t listed = 0, others = 0;
  CHECK(vt_program_init_params(p, 0, &d) == VT_NAME && message_has(&d, "'bare_0', 'bare_1', "));
  for (const char *s = d.text; (s = strstr(s, "'bare_")) != NULL; s++) listed++;
  const char *rest = strstr(d.text, "' and ");
  CHECK(rest != NULL && sscanf(rest, "' and %u more", &others) == 1);
  CHECK(strcmp(d.text + strlen(d.text) - 5, " more") == 0);
  CHECK(listed > 10 && listed + others == 100);
  vt_program_free(p);
}

/* ---- tensors that are refused ---- */

static void expect_input_status(vt_program *p, const char *name, vt_tensor t, vt_status want,
                                const char *text) {
  vt_diag d = {0};
  CHECK(vt_program_set_input(p, name, &t, &d) == want && d.code == want && message_has(&d, text));
  CHECK(vt_program_set_input(p, name, &t, NULL) == want);
}

static void test_refused_inputs(void) {
  float x[4] = {1, 2, 3, 4};
  vt_program *p = open_program(affine);
  const vt_tensor scalar = {.dtype = VT_DTYPE_F32, .data = x};
  const vt_tensor matrix = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {3, 1}, .data = x};
  const vt_tensor deep = {.dtype = VT_DTYPE_F32, .rank = 9, .data = x};
  const vt_tensor deepest = {.dtype = VT_DTYPE_F32, .rank = UINT32_MAX, .data = x};
  expect_input_status(p, "nobody", make_vector(VT_DTYPE_F32, 3, x), VT_NAME, "'nobody'");
  expect_input_status(p, "w", make_vector(VT_DTYPE_F32, 3, x), VT_NAME, "no input 'w'");
  expect_input_status(p, "x", make_vector(VT_DTYPE_F32, 4, x), VT_TENSOR,
                      "'x' is f32[4], the model declares f32[3]");
  expect_input_status(p, "x", make_vector(VT_DTYPE_I32, 3, x), VT_TENSOR, "i32[3]");
  expect_input_status(p, "x", make_vector(0, 3, x), VT_TENSOR, "f32[3]");
  expect_input_status(p, "x", make_vector(VT_DTYPE_F32, -3, x), VT_TENSOR, "'x'");
  expect_input_status(p, "x", make_vector(VT_DTYPE_F32, 3, NULL), VT_TENSOR,
                      "the tensor for 'x' has no data");
  expect_input_status(p, "x", scalar, VT_TENSOR, "f32[]");
  expect_input_status(p, "x", matrix, VT_TENSOR, "f32[3, 1]");
  expect_input_status(p, "x", deep, VT_TENSOR, "'x'");
  expect_input_status(p, "x", deepest, VT_TENSOR, "'x'");
  vt_program_free(p);
}

static void test_input_outside_range_is_refused(void) {
  int32_t good[10] = {0, 10, 5, 5, 5, 5, 5, 5, 5, 0}, bad[10] = {0};
  vt_program *p = open_program_on(small, "reference", small_dims, 2);
  vt_tensor t = {.dtype = VT_DTYPE_I32, .rank = 2, .dim = {2, 5}, .data = good};
  CHECK(vt_program_set_input(p, "tokens", &t, NULL) == VT_OK);
  t.data = bad;
  bad[7] = 11;
  expect_input_status(p, "tokens", t, VT_RANGE, "'tokens' holds 11 at position 7, outside 0..10");
  bad[3] = -1; /* the message names the first bad element */
  expect_input_status(p, "tokens", t, VT_RANGE, "'tokens' holds -1 at position 3, outside 0..10");
  vt_program_free(p);
}

static void test_run_needs_all_values(void) {
  float x[3] = {0};
  const char *name = "untouched";
  vt_tensor t = make_vector(VT_DTYPE_F32, 3, x);
  uint8_t digest[32];
  vt_program *p = open_program(affine);
  vt_diag d = {0};
  CHECK(vt_program_run(p, &d) == VT_NAME && message_has(&d, "the input 'x' has no value"));
  CHECK(strstr(d.hint, "--in x=") != NULL);
  CHECK(vt_program_set_input(p, "x", &t, NULL) == VT_OK);
  memset(&d, 0, sizeof d);
  CHECK(vt_program_run(p, &d) == VT_NAME && message_has(&d, "the param 'w' has no value"));
  CHECK(vt_program_output(p, 0, &name, &t, NULL) == VT_NAME && strcmp(name, "untouched") == 0);
  CHECK(vt_program_digest(p, digest, NULL) == VT_NAME);
  CHECK(vt_program_output(p, 1, &name, &t, NULL) == VT_NAME);
  vt_program_free(p);
}

/* ---- an index out of range, found by a run ---- */

static void test_gather_out_of_range(void) {
  float table[6] = {1, 2, 3, 4, 5, 6};
  int64_t index[4] = {2, 0, 1, 2};
  const float want[8] = {6, 7, 2, 3, 4, 5, 6, 7};
  const vt_tensor rows = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {3, 2}, .data = table};
  for (int backend = 0; backend < 2; backend++) {
    vt_program *p = open_program_on(pick, backend ? "reference:1" : "reference:0", NULL, 0);
    vt_diag d = {0};
    const char *name;
    vt_tensor t;
    uint8_t digest[32];
    index[3] = 2;
    set_input(p, "table", rows);
    set_input(p, "index", make_vector(VT_DTYPE_I64, 4, index));
    run_program(p);
    CHECK(memcmp(output_named(p, "y").data, want, sizeof want) == 0);
    index[3] = -9;
    set_input(p, "index", make_vector(VT_DTYPE_I64, 4, index));
    CHECK(vt_program_run(p, &d) == VT_RANGE && d.code == VT_RANGE);
    CHECK(message_has(&d, "'rows' = gather: index -9 at position 3 is out of range"));
    CHECK(d.line == 5 && d.column == 10);
    /* The outputs of the earlier run can no longer be read. */
    CHECK(vt_program_output(p, 0, &name, &t, NULL) == VT_NAME);
    CHECK(vt_program_digest(p, digest, NULL) == VT_NAME);
    index[3] = 2;
    set_input(p, "index", make_vector(VT_DTYPE_I64, 4, index));
    run_program(p);
    CHECK(memcmp(output_named(p, "y").data, want, sizeof want) == 0);
    vt_program_free(p);
  }
}

/* ---- options ---- */

static vt_status status_of_opening(const char *backend, const vt_binding *b, uint32_t n,
                                   vt_diag *d) {
  const vt_options o = {.size = sizeof o, .n_bind = n, .bind = b, .backend = backend};
  vt_program *p;
  memset(d, 0, sizeof *d);
  const vt_status s = try_open_program(small, &o, &p, d);
  CHECK((s == VT_OK) == (p != NULL) && d->code == s && (s == VT_OK) == (d->text[0] == 0));
  vt_program_free(p);
  return s;
}

static void test_options_of_opening(void) {
  vt_diag d;
  CHECK(status_of_opening("reference", small_dims, 2, &d) == VT_OK);
  CHECK(status_of_opening("reference", small_dims, 1, &d) == VT_BIND && message_has(&d, "'T'"));
  CHECK(status_of_opening("nobody", small_dims, 2, &d) == VT_BACKEND &&
        message_has(&d, "'nobody'"));
  CHECK(status_of_opening("reference:2", small_dims, 2, &d) == VT_BACKEND);
  CHECK(status_of_opening("null", small_dims, 2, &d) == VT_UNSUPPORTED);
  CHECK(message_has(&d, "backend 'null:0' does not run") && message_has(&d, "giving f32["));
  const vt_binding long_t[] = {{"B", 2}, {"T", 17}}; /* T = 17 is more than the rows of wpe */
  CHECK(status_of_opening("reference", long_t, 2, &d) == VT_BIND);
}

/* Fields of vt_options beyond the size that the caller set are not read. */
static void test_option_struct_sizes(void) {
  vt_options o = {.size = offsetof(vt_options, backend), .backend = "nobody"};
  vt_program *p;
  vt_diag d = {0};
  CHECK(try_open_program(affine, &o, &p, &d) == VT_OK);
  vt_program_free(p);
  o.size = sizeof o;
  CHECK(try_open_program(affine, &o, &p, &d) == VT_BACKEND && p == NULL);
  memset(&d, 0, sizeof d);
  CHECK(try_open_program(affine, NULL, &p, &d) == VT_OK);
  vt_program_free(p);
}

static void test_backend_variable(void) {
  CHECK(setenv("VOLTA_BACKEND", "reference:1", 1) == 0);
  vt_program *p = open_program_on(affine, NULL, NULL, 0);
  CHECK(strcmp(vt_program_backend(p), "reference:1") == 0);
  vt_program_free(p);
  p = open_program_on(affine, "reference:0", NULL, 0); /* the option overrides the variable */
  CHECK(strcmp(vt_program_backend(p), "reference:0") == 0);
  vt_program_free(p);
  const char *const unnamed[] = {"", NULL};
  for (int i = 0; i < 2; i++) { /* an empty variable is as if it were not set */
    CHECK((unnamed[i] != NULL ? setenv("VOLTA_BACKEND", unnamed[i], 1)
                              : unsetenv("VOLTA_BACKEND")) == 0);
    p = open_program_on(affine, NULL, NULL, 0);
    const char *name = vt_program_backend(p); /* the GPU if this machine has one */
    CHECK(strcmp(name, "cpu:0") == 0 || strcmp(name, "cuda:0") == 0);
    vt_program_free(p);
  }
}

/* ---- the same bits ---- */

typedef struct result {
  uint8_t digest[32], core[32], target[32];
} result;

static result compute_digests(const char *backend, uint64_t seed, uint64_t input_seed) {
  result r;
  vt_program *p = open_program_on(small, backend, small_dims, 2);
  CHECK(vt_program_init_params(p, seed, NULL) == VT_OK);
  CHECK(vt_program_random_inputs(p, input_seed, NULL) == VT_OK);
  run_program(p);
  CHECK(vt_program_digest(p, r.digest, NULL) == VT_OK);
  vt_program_plan_digest(p, r.core, r.target);
  vt_program_free(p);
  return r;
}

static int same_digest(const uint8_t a[32], const uint8_t b[32]) { return memcmp(a, b, 32) == 0; }

static void test_what_digests_depend_on(void) {
  const result a = compute_digests("reference:0", 0, 7), b = compute_digests("reference:0", 0, 7);
  const result whole = compute_digests("reference:1", 0, 7);
  const result seed = compute_digests("reference:0", 1, 7),
               input = compute_digests("reference:0", 0, 8);
  CHECK(same_digest(a.digest, b.digest) && same_digest(a.core, b.core) &&
        same_digest(a.target, b.target));
  /* `a` decomposed the compositions, `whole` ran each as one op. */
  CHECK(same_digest(a.digest, whole.digest));
  CHECK(!same_digest(a.core, whole.core) && !same_digest(a.target, whole.target));
  CHECK(!same_digest(a.digest, seed.digest) && !same_digest(a.digest, input.digest));
  CHECK(same_digest(a.core, seed.core));
}

/* A second run of a program gives the same digest. */
static void test_second_run_gives_same_digest(void) {
  uint8_t first[32], second[32];
  vt_program *p = open_program_on(small, "reference:1", small_dims, 2);
  CHECK(vt_program_init_params(p, 3, NULL) == VT_OK);
  CHECK(vt_program_random_inputs(p, 3, NULL) == VT_OK);
  run_program(p);
  CHECK(vt_program_digest(p, first, NULL) == VT_OK);
  run_program(p);
  CHECK(vt_program_digest(p, second, NULL) == VT_OK && same_digest(first, second));
  vt_program_free(p);
}

static void test_params_depend_on_seed_only(void) {
  vt_program *a = open_program_on(small, "reference:0", small_dims, 2);
  vt_program *b = open_program_on(small, "reference:1", (vt_binding[]){{"B", 1}, {"T", 3}}, 2);
  float x[128], y[128], z[128];
  vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {16, 8}, .data = x};
  CHECK(vt_program_init_params(a, 42, NULL) == VT_OK);
  /* Initialised params do not depend on dims or device. */
  CHECK(vt_program_init_params(b, 42, NULL) == VT_OK);
  CHECK(vt_program_get_param(a, "wpe", &t, NULL) == VT_OK);
  t.data = y;
  CHECK(vt_program_get_param(b, "wpe", &t, NULL) == VT_OK && memcmp(x, y, sizeof x) == 0);
  CHECK(vt_program_init_params(b, 43, NULL) == VT_OK);
  t.data = z;
  CHECK(vt_program_get_param(b, "wpe", &t, NULL) == VT_OK && memcmp(x, z, sizeof x) != 0);
  vt_program_free(a);
  vt_program_free(b);
}

/* ---- random inputs ---- */

static const char drawn[] =
    "volta 1\n"
    "model drawn {\n"
    "  input f: f32[1000]\n"
    "  input g: f32[1000]\n"
    "  input d: f64[100]\n"
    "  input h: f16[100]\n"
    "  input i: i8[1000] in -3..4\n"
    "  input t: bool[1000]\n"
    "  output f\n"
    "  output g\n"
    "  output d\n"
    "  output h\n"
    "  output i\n"
    "  output t\n"
    "}\n";

static void check_uniform_floats(const float *x) {
  uint32_t negative = 0, beyond = 0;
  for (int i = 0; i < 1000; i++) {
    negative += x[i] < 0;
    beyond += !(x[i] >= -1 && x[i] < 1);
  }
  CHECK(beyond == 0 && negative > 400 && negative < 600);
}

static void check_uniform_integers(const int8_t *x) {
  uint32_t count[8] = {0}, beyond = 0;
  for (int i = 0; i < 1000; i++) {
    const int k = x[i] + 3;
    beyond += k < 0 || k > 7;
    if (k >= 0 && k <= 7) count[k]++;
  }
  CHECK(beyond == 0);
  for (int k = 0; k < 8; k++) CHECK(count[k] > 75 && count[k] < 175);
}

static void test_random_inputs(void) {
  vt_program *p = open_program(drawn), *q = open_program(drawn);
  uint8_t a[32], b[32];
  CHECK(vt_program_random_inputs(p, 9, NULL) == VT_OK);
  CHECK(vt_program_random_inputs(q, 9, NULL) == VT_OK);
  run_program(p);
  run_program(q);
  CHECK(vt_program_digest(p, a, NULL) == VT_OK && vt_program_digest(q, b, NULL) == VT_OK);
  CHECK(same_digest(a, b));
  check_uniform_floats(output_named(p, "f").data);
  check_uniform_floats(output_named(p, "g").data);
  /* Each input is drawn from a random stream of its own. */
  CHECK(memcmp(output_named(p, "f").data, output_named(p, "g").data, 4000) != 0);
  check_uniform_integers(output_named(p, "i").data);
  const uint8_t *t = output_named(p, "t").data;
  uint32_t yes = 0;
  for (int i = 0; i < 1000; i++) yes += t[i];
  CHECK(yes > 400 && yes < 600);
  vt_program_free(p);
  vt_program_free(q);
}

/* vt_program_random_inputs does not change inputs that have a value. */
static void test_random_inputs_skip_set_ones(void) {
  float given[1000];
  vt_program *p = open_program(drawn);
  for (int i = 0; i < 1000; i++) given[i] = (float)i;
  set_input(p, "f", make_vector(VT_DTYPE_F32, 1000, given));
  CHECK(vt_program_random_inputs(p, 9, NULL) == VT_OK);
  run_program(p);
  CHECK(memcmp(output_named(p, "f").data, given, sizeof given) == 0);
  check_uniform_floats(output_named(p, "g").data);
  vt_program_free(p);
}

static void test_random_inputs_need_a_range(void) {
  vt_program *p = open_program(pick);
  vt_diag d = {0};
  int64_t index[4] = {0};
  CHECK(vt_program_random_inputs(p, 1, &d) == VT_USAGE && message_has(&d, "'index'"));
  set_input(p, "index", make_vector(VT_DTYPE_I64, 4, index));
  CHECK(vt_program_random_inputs(p, 1, NULL) == VT_OK);
  vt_program_free(p);
  p = open_program("volta 1\nmodel wide {\n  input i: i64[2] in 0..4294967296\n  output i\n}\n");
  memset(&d, 0, sizeof d);
  CHECK(vt_program_random_inputs(p, 1, &d) == VT_USAGE && message_has(&d, "0..4294967296"));
  vt_program_free(p);
}

/* ---- outputs ---- */

/* Outputs are in ascending byte order of their names. */
static void test_output_order(void) {
  static const char *const want[] = {"B", "_z", "a", "a.b", "a1", "ab", "b"};
  static const char text[] =
      "volta 1\n"
      "model order {\n"
      "  input x: f32[1]\n"
      "  output b = x + 1\n"
      "  output ab = x + 2\n"
      "  output a1 = x + 3\n"
      "  output a = x + 4\n"
      "  output B = x + 5\n"
      "  output _z = x + 6\n"
      "  output a.b = x + 7\n"
      "}\n";
  static const float values[] = {5, 6, 4, 7, 3, 2, 1};
  float x = 0;
  vt_program *p = open_program(text);
  set_input(p, "x", make_vector(VT_DTYPE_F32, 1, &x));
  run_program(p);
  CHECK(vt_program_outputs(p) == 7);
  for (uint32_t i = 0; i < 7; i++) {
    const char *name = "";
    vt_tensor t = {0};
    CHECK(vt_program_output(p, i, &name, &t, NULL) == VT_OK);
    CHECK(strcmp(name, want[i]) == 0 && memcmp(t.data, &values[i], 4) == 0);
  }
  vt_program_free(p);
}

/* A model without ops, whose outputs are inputs and params, one of them under two names. */
static void test_outputs_that_are_ports(void) {
  static const char text[] =
      "volta 1\n"
      "model ports {\n"
      "  input x: i32[2]\n"
      "  param w: f32[2] = constant(value=1.5)\n"
      "  output x\n"
      "  output again = x\n"
      "  output w\n"
      "}\n";
  static const char *const backends[] = {"reference:0", "reference:1", "null"};
  for (int i = 0; i < 3; i++) {
    int32_t x[2] = {3, -4};
    float w[2] = {1.5f, 1.5f};
    vt_tensor t = make_vector(VT_DTYPE_F32, 2, w);
    vt_program *p = open_program_on(text, backends[i], NULL, 0);
    set_input(p, "x", make_vector(VT_DTYPE_I32, 2, x));
    CHECK(vt_program_set_param(p, "w", &t, NULL) == VT_OK);
    run_program(p);
    CHECK(memcmp(output_named(p, "x").data, x, sizeof x) == 0);
    CHECK(memcmp(output_named(p, "again").data, x, sizeof x) == 0);
    CHECK(memcmp(output_named(p, "w").data, w, sizeof w) == 0);
    vt_program_free(p);
  }
}

static void test_batch_of_0(void) {
  static const vt_binding none[] = {{"B", 0}, {"T", 4}};
  uint8_t digest[2][32];
  for (int i = 0; i < 2; i++) {
    vt_program *p = open_program_on(small, i ? "reference:1" : "reference:0", none, 2);
    CHECK(vt_program_init_params(p, 0, NULL) == VT_OK);
    CHECK(vt_program_random_inputs(p, 0, NULL) == VT_OK);
    run_program(p);
    const vt_tensor t = output_named(p, "logits");
    CHECK(t.rank == 3 && t.dim[0] == 0 && t.dim[1] == 4 && t.dim[2] == 11);
    CHECK(vt_program_digest(p, digest[i], NULL) == VT_OK);
    vt_program_free(p);
  }
  CHECK(same_digest(digest[0], digest[1]));
}

/* ---- NaN is one value ---- */

/* When an input is set, each NaN becomes the canonical one, and each true bool becomes 1. */
static void test_input_nan_becomes_canonical(void) {
  static const char text[] =
      "volta 1\n"
      "model nans {\n"
      "  input a: f32[4]\n"
      "  input b: f64[2]\n"
      "  input c: f16[2]\n"
      "  input d: bf16[2]\n"
      "  input e: bool[3]\n"
      "  output a\n"
      "  output b\n"
      "  output c\n"
      "  output d\n"
      "  output e\n"
      "}\n";
  uint32_t a[4] = {0xffc12345, 0x7f800001, 0x3f800000, 0x80000000};
  uint64_t b[2] = {0xfff0000000000001, 0x7ff8000000000000};
  uint16_t c[2] = {0xfe01, 0x7c01}, e[2] = {0xffff, 0x7f81};
  uint8_t f[3] = {0, 1, 2};
  const uint32_t want_a[4] = {0x7fc00000, 0x7fc00000, 0x3f800000, 0x80000000};
  const uint64_t want_b[2] = {0x7ff8000000000000, 0x7ff8000000000000};
  const uint16_t want_c[2] = {0x7e00, 0x7e00}, want_e[2] = {0x7fc0, 0x7fc0};
  const uint8_t want_f[3] = {0, 1, 1};
  vt_program *p = open_program(text);
  set_input(p, "a", make_vector(VT_DTYPE_F32, 4, a));
  set_input(p, "b", make_vector(VT_DTYPE_F64, 2, b));
  set_input(p, "c", make_vector(VT_DTYPE_F16, 2, c));
  set_input(p, "d", make_vector(VT_DTYPE_BF16, 2, e));
  set_input(p, "e", make_vector(VT_DTYPE_BOOL, 3, f));
  CHECK(a[0] == 0xffc12345 && f[2] == 2); /* the caller's data is unchanged */
  run_program(p);
  CHECK(memcmp(output_named(p, "a").data, want_a, sizeof want_a) == 0);
  CHECK(memcmp(output_named(p, "b").data, want_b, sizeof want_b) == 0);
  CHECK(memcmp(output_named(p, "c").data, want_c, sizeof want_c) == 0);
  CHECK(memcmp(output_named(p, "d").data, want_e, sizeof want_e) == 0);
  CHECK(memcmp(output_named(p, "e").data, want_f, sizeof want_f) == 0);
  vt_program_free(p);
}

/* A param is canonical as soon as it is set, because it can be read before any run. */
static void test_param_nan_becomes_canonical(void) {
  uint32_t w[3] = {0xffc12345, 0x7f800001, 0x40000000}, back[3] = {0};
  const uint32_t want[3] = {0x7fc00000, 0x7fc00000, 0x40000000};
  vt_program *p = open_program(affine);
  vt_tensor t = make_vector(VT_DTYPE_F32, 3, w);
  CHECK(vt_program_set_param(p, "w", &t, NULL) == VT_OK);
  t.data = back;
  CHECK(vt_program_get_param(p, "w", &t, NULL) == VT_OK && memcmp(back, want, sizeof want) == 0);
  vt_program_free(p);
}

/* The NaN that an op makes may have a sign bit, as the processor gives it; the NaN of an output
 * never has one. */
static void test_output_nan_is_canonical(void) {
  static const char text[] =
      "volta 1\n"
      "model nans {\n"
      "  input x: f32[2]\n"
      "  param w: f32[2] = constant(value=nan)\n"
      "  output zero = x / x\n"
      "  output endless = x * 1e38 * 1e38 - x * 1e38 * 1e38\n"
      "  output flipped = -w\n"
      "}\n";
  float x[2] = {0, 5};
  uint32_t bits[2], w[2];
  vt_program *p = open_program(text);
  vt_tensor t = make_vector(VT_DTYPE_F32, 2, w);
  set_input(p, "x", make_vector(VT_DTYPE_F32, 2, x));
  CHECK(vt_program_init_params(p, 0, NULL) == VT_OK);
  CHECK(vt_program_get_param(p, "w", &t, NULL) == VT_OK);
  CHECK(w[0] == 0x7fc00000 && w[1] == 0x7fc00000);
  run_program(p);
  memcpy(bits, output_named(p, "zero").data, sizeof bits);
  CHECK(bits[0] == 0x7fc00000 && bits[1] == 0x3f800000);
  memcpy(bits, output_named(p, "endless").data, sizeof bits);
  CHECK(bits[0] == 0 && bits[1] == 0x7fc00000);
  memcpy(bits, output_named(p, "flipped").data, sizeof bits);
  CHECK(bits[0] == 0x7fc00000 && bits[1] == 0x7fc00000);
  vt_program_free(p);
}

/* ---- texts, metrics, progress ---- */

static void test_pass_and_plan_texts(void) {
  vt_program *p = open_program_on(small, "reference:0", small_dims, 2);
  vt_program *q = open_program_on(small, "reference:1", small_dims, 2);
  CHECK(strstr(vt_program_pass_text(p, "bind"), "softmax(") != NULL);
  CHECK(strstr(vt_program_pass_text(p, "bind"), "input tokens: i32[2, 5] in 0..10\n") != NULL);
  CHECK(strstr(vt_program_pass_text(p, "lower"), "softmax(") == NULL);
  CHECK(strstr(vt_program_pass_text(q, "lower"), "softmax(") != NULL);
  CHECK(vt_program_pass_text(p, "nobody") == NULL && vt_program_pass_text(p, "") == NULL);
  CHECK(strstr(vt_program_plan(p), "  fingerprint reference-1 prims\n") != NULL);
  CHECK(strstr(vt_program_plan(q), "  fingerprint reference-1 whole\n") != NULL);
  vt_program_free(p);
  vt_program_free(q);
}

static void test_run_info(void) {
  float x[3] = {0};
  vt_program *p = open_program(affine);
  vt_run_info info = {.size = sizeof info}, early = {.size = offsetof(vt_run_info, wall_ns)};
  CHECK(vt_program_init_params(p, 0, NULL) == VT_OK);
  set_input(p, "x", make_vector(VT_DTYPE_F32, 3, x));
  run_program(p);
  vt_program_info(p, &info);
  CHECK(info.size == sizeof info && info.steps == 2 && info.bytes_input == 256);
  CHECK(info.bytes_param == 512 && info.bytes_temp == 256 && info.bytes_output == 256);
  early.bytes_input = 77;
  vt_program_info(p, &early);
  /* Fields beyond the size that the caller set are not written. */
  CHECK(early.steps == 2 && early.bytes_input == 77);
  vt_program_free(p);
}

/* Records the calls of the progress callback. */
typedef struct progress {
  uint64_t n, done, total; /* number of calls; arguments of the last one */
  const char *what;        /* the expected activity; NULL: no call is expected */
  int wrong;               /* calls with wrong arguments */
} progress;

static void record_progress(void *user, const char *what, uint64_t done, uint64_t total) {
  progress *h = user;
  h->wrong += h->what == NULL || strcmp(what, h->what) != 0 || done <= h->done || done > total;
  h->n++;
  h->done = done;
  h->total = total;
}

static void test_progress_callback(void) {
  progress h = {.what = "parameters"};
  const vt_options o = {.size = sizeof o,
                        .n_bind = 2,
                        .bind = small_dims,
                        .backend = "reference",
                        .progress = record_progress,
                        .progress_user = &h};
  vt_program *p;
  vt_diag d = {0};
  uint8_t digest[32];
  CHECK(try_open_program(small, &o, &p, &d) == VT_OK && h.n == 0);
  CHECK(vt_program_init_params(p, 0, NULL) == VT_OK);
  CHECK(h.n > 0 && h.wrong == 0 && h.done == h.total);
  CHECK(vt_program_random_inputs(p, 7, NULL) == VT_OK);
  h = (progress){.what = "run"};
  run_program(p);
  CHECK(h.n > 0 && h.wrong == 0 && h.done == h.total);
  CHECK(vt_program_digest(p, digest, NULL) == VT_OK);
  /* The callback changes no bit. */
  CHECK(same_digest(digest, compute_digests("reference", 0, 7).digest));
  vt_program_free(p);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  test_affine_model();
  test_set_and_get_params();
  test_params_without_init();
  test_many_params_without_init();
  test_refused_inputs();
  test_input_outside_range_is_refused();
  test_run_needs_all_values();
  test_gather_out_of_range();
  test_options_of_opening();
  test_option_struct_sizes();
  test_backend_variable();
  test_what_digests_depend_on();
  test_second_run_gives_same_digest();
  test_params_depend_on_seed_only();
  test_random_inputs();
  test_random_inputs_skip_set_ones();
  test_random_inputs_need_a_range();
  test_output_order();
  test_outputs_that_are_ports();
  test_batch_of_0();
  test_input_nan_becomes_canonical();
  test_param_nan_becomes_canonical();
  test_output_nan_is_canonical();
  test_pass_and_plan_texts();
  test_run_info();
  test_progress_callback();
  TEST_DONE();
}
