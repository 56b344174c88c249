/* SPDX-License-Identifier: Apache-2.0
 * program_test.c - the public functions of programs, from a model's text to the bits of its
 * outputs. */
#include <string.h>
#include "vt_test.h"

/* ---- helpers ---- */

/* Makes a program of `text`; the model is freed before the program is used. */
static vt_status try_open(const char *text, const vt_options *o, vt_program **out, vt_diag *d) {
  vt_model *m = NULL;
  *out = NULL;
  CHECK(vt_model_parse(text, strlen(text), NULL, &m, d) == VT_OK);
  if (m == NULL) fprintf(stderr, "  %s\n", d->text);
  if (m == NULL) exit(1); /* no later check makes sense */
  const vt_status s = vt_program_new(m, o, out, d);
  vt_model_free(m);
  return s;
}

static vt_program *open_on(const char *text, const char *backend, const vt_binding *b, uint32_t n) {
  const vt_options o = {.size = sizeof o, .n_bind = n, .bind = b, .backend = backend};
  vt_program *p;
  vt_diag d = {0};
  CHECK(try_open(text, &o, &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "  %s\n", d.text);
  if (p == NULL) exit(1);
  return p;
}

static vt_program *open_text(const char *text) { return open_on(text, "reference", NULL, 0); }

static vt_tensor vector(uint32_t dtype, int64_t n, void *data) {
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

/* 1 if the message contains `text`. */
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

static void test_affine(void) {
  float x[3] = {1, -2, 0.25f}, w[3] = {2, 3, 4};
  const float by_init[3] = {1.5f, 0, 1.125f}, by_hand[3] = {3, -5, 2};
  vt_program *p = open_text(affine);
  CHECK(strcmp(vt_program_backend(p), "reference:0") == 0 && vt_program_outputs(p) == 1);
  CHECK(strstr(vt_program_device(p), "scalar reference") != NULL);
  CHECK(vt_program_init_params(p, 0, NULL) == VT_OK);
  set_input(p, "x", vector(VT_DTYPE_F32, 3, x));
  memset(x, 0, sizeof x); /* the program copied it */
  run_program(p);
  const vt_tensor y = output_named(p, "y");
  CHECK(y.dtype == VT_DTYPE_F32 && y.rank == 1 && y.dim[0] == 3);
  CHECK(memcmp(y.data, by_init, sizeof by_init) == 0);
  vt_tensor t = vector(VT_DTYPE_F32, 3, w);
  CHECK(vt_program_set_param(p, "w", &t, NULL) == VT_OK);
  run_program(p); /* the input keeps its value */
  CHECK(memcmp(output_named(p, "y").data, by_hand, sizeof by_hand) == 0);
  vt_program_free(p);
  vt_program_free(NULL);
}

static void test_params(void) {
  float w[3] = {2, 3, 4}, back[3] = {0};
  vt_tensor t = {0}, wrong = vector(VT_DTYPE_F32, 4, back);
  vt_program *p = open_text(affine);
  vt_diag d = {0};
  CHECK(vt_program_get_param(p, "w", &t, &d) ==
        VT_OK); /* with data NULL it gives the declared shape */
  CHECK(t.dtype == VT_DTYPE_F32 && t.rank == 1 && t.dim[0] == 3 && t.data == NULL);
  t.data = back;
  CHECK(vt_program_get_param(p, "w", &t, &d) == VT_NAME && message_has(&d, "'w'"));
  t.data = w;
  CHECK(vt_program_set_param(p, "w", &t, NULL) == VT_OK);
  t.data = back;
  CHECK(vt_program_get_param(p, "w", &t, NULL) == VT_OK && memcmp(back, w, sizeof w) == 0);
  memset(&d, 0, sizeof d);
  CHECK(vt_program_get_param(p, "w", &wrong, &d) == VT_TENSOR && message_has(&d, "f32[4]"));
  CHECK(vt_program_get_param(p, "x", &t, NULL) == VT_NAME); /* x is an input */
  CHECK(vt_program_set_param(p, "x", &t, NULL) == VT_NAME);
  CHECK(vt_program_set_param(p, "nobody", &t, NULL) == VT_NAME);
  CHECK(vt_program_set_param(p, "w", &wrong, NULL) == VT_TENSOR);
  vt_program_free(p);
}

/* ---- tensors that are refused ---- */

static void expect_input(vt_program *p, const char *name, vt_tensor t, vt_status want,
                         const char *text) {
  vt_diag d = {0};
  CHECK(vt_program_set_input(p, name, &t, &d) == want && d.code == want && message_has(&d, text));
  CHECK(vt_program_set_input(p, name, &t, NULL) == want);
}

static void test_inputs(void) {
  float x[4] = {1, 2, 3, 4};
  vt_program *p = open_text(affine);
  const vt_tensor scalar = {.dtype = VT_DTYPE_F32, .data = x};
  const vt_tensor matrix = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {3, 1}, .data = x};
  const vt_tensor deep = {.dtype = VT_DTYPE_F32, .rank = 9, .data = x};
  const vt_tensor deepest = {.dtype = VT_DTYPE_F32, .rank = UINT32_MAX, .data = x};
  expect_input(p, "nobody", vector(VT_DTYPE_F32, 3, x), VT_NAME, "'nobody'");
  expect_input(p, "w", vector(VT_DTYPE_F32, 3, x), VT_NAME, "no input 'w'");
  expect_input(p, "x", vector(VT_DTYPE_F32, 4, x), VT_TENSOR,
               "'x' is f32[4], the model declares f32[3]");
  expect_input(p, "x", vector(VT_DTYPE_I32, 3, x), VT_TENSOR, "i32[3]");
  expect_input(p, "x", vector(0, 3, x), VT_TENSOR, "f32[3]");
  expect_input(p, "x", vector(VT_DTYPE_F32, -3, x), VT_TENSOR, "'x'");
  expect_input(p, "x", vector(VT_DTYPE_F32, 3, NULL), VT_TENSOR, "the tensor for 'x' has no data");
  expect_input(p, "x", scalar, VT_TENSOR, "f32[]");
  expect_input(p, "x", matrix, VT_TENSOR, "f32[3, 1]");
  expect_input(p, "x", deep, VT_TENSOR, "'x'");
  expect_input(p, "x", deepest, VT_TENSOR, "'x'");
  vt_program_free(p);
}

static void test_declared_range(void) {
  int32_t good[10] = {0, 10, 5, 5, 5, 5, 5, 5, 5, 0}, bad[10] = {0};
  vt_program *p = open_on(small, "reference", small_dims, 2);
  vt_tensor t = {.dtype = VT_DTYPE_I32, .rank = 2, .dim = {2, 5}, .data = good};
  CHECK(vt_program_set_input(p, "tokens", &t, NULL) == VT_OK);
  t.data = bad;
  bad[7] = 11;
  expect_input(p, "tokens", t, VT_RANGE, "'tokens' holds 11 at position 7, outside 0..10");
  bad[3] = -1; /* the message names the first one */
  expect_input(p, "tokens", t, VT_RANGE, "'tokens' holds -1 at position 3, outside 0..10");
  vt_program_free(p);
}

static void test_missing_values(void) {
  float x[3] = {0};
  const char *name = "untouched";
  vt_tensor t = vector(VT_DTYPE_F32, 3, x);
  uint8_t digest[32];
  vt_program *p = open_text(affine);
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
    vt_program *p = open_on(pick, backend ? "reference:1" : "reference:0", NULL, 0);
    vt_diag d = {0};
    const char *name;
    vt_tensor t;
    uint8_t digest[32];
    index[3] = 2;
    set_input(p, "table", rows);
    set_input(p, "index", vector(VT_DTYPE_I64, 4, index));
    run_program(p);
    CHECK(memcmp(output_named(p, "y").data, want, sizeof want) == 0);
    index[3] = -9;
    set_input(p, "index", vector(VT_DTYPE_I64, 4, index));
    CHECK(vt_program_run(p, &d) == VT_RANGE && d.code == VT_RANGE);
    CHECK(message_has(&d, "'rows' = gather: index -9 at position 3 is out of range"));
    CHECK(d.line == 5 && d.column == 10);
    CHECK(vt_program_output(p, 0, &name, &t, NULL) == VT_NAME); /* the earlier outputs are gone */
    CHECK(vt_program_digest(p, digest, NULL) == VT_NAME);
    index[3] = 2;
    set_input(p, "index", vector(VT_DTYPE_I64, 4, index));
    run_program(p);
    CHECK(memcmp(output_named(p, "y").data, want, sizeof want) == 0);
    vt_program_free(p);
  }
}

/* ---- options ---- */

static vt_status open_status(const char *backend, const vt_binding *b, uint32_t n, vt_diag *d) {
  const vt_options o = {.size = sizeof o, .n_bind = n, .bind = b, .backend = backend};
  vt_program *p;
  memset(d, 0, sizeof *d);
  const vt_status s = try_open(small, &o, &p, d);
  CHECK((s == VT_OK) == (p != NULL) && d->code == s && (s == VT_OK) == (d->text[0] == 0));
  vt_program_free(p);
  return s;
}

static void test_options(void) {
  vt_diag d;
  CHECK(open_status("reference", small_dims, 2, &d) == VT_OK);
  CHECK(open_status("reference", small_dims, 1, &d) == VT_BIND && message_has(&d, "'T'"));
  CHECK(open_status("nobody", small_dims, 2, &d) == VT_BACKEND && message_has(&d, "'nobody'"));
  CHECK(open_status("reference:2", small_dims, 2, &d) == VT_BACKEND);
  CHECK(open_status("null", small_dims, 2, &d) == VT_UNSUPPORTED);
  CHECK(message_has(&d, "backend 'null:0' does not run") && message_has(&d, "giving f32["));
  const vt_binding long_t[] = {{"B", 2}, {"T", 17}}; /* longer than wpe */
  CHECK(open_status("reference", long_t, 2, &d) == VT_BIND);
}

/* Fields beyond the size that the caller set are not read. */
static void test_option_sizes(void) {
  vt_options o = {.size = offsetof(vt_options, backend), .backend = "nobody"};
  vt_program *p;
  vt_diag d = {0};
  CHECK(try_open(affine, &o, &p, &d) == VT_OK);
  vt_program_free(p);
  o.size = sizeof o;
  CHECK(try_open(affine, &o, &p, &d) == VT_BACKEND && p == NULL);
  memset(&d, 0, sizeof d);
  CHECK(try_open(affine, NULL, &p, &d) == VT_OK);
  vt_program_free(p);
}

static void test_environment(void) {
  CHECK(setenv("VOLTA_BACKEND", "reference:1", 1) == 0);
  vt_program *p = open_on(affine, NULL, NULL, 0);
  CHECK(strcmp(vt_program_backend(p), "reference:1") == 0);
  vt_program_free(p);
  p = open_on(affine, "reference:0", NULL, 0); /* the option overrides the variable */
  CHECK(strcmp(vt_program_backend(p), "reference:0") == 0);
  vt_program_free(p);
  CHECK(setenv("VOLTA_BACKEND", "", 1) == 0);
  p = open_on(affine, NULL, NULL, 0);
  CHECK(strcmp(vt_program_backend(p), "reference:0") == 0);
  vt_program_free(p);
  CHECK(unsetenv("VOLTA_BACKEND") == 0);
}

/* ---- the same bits ---- */

typedef struct result {
  uint8_t digest[32], core[32], target[32];
} result;

static result compute_digests(const char *backend, uint64_t seed, uint64_t input_seed) {
  result r;
  vt_program *p = open_on(small, backend, small_dims, 2);
  CHECK(vt_program_init_params(p, seed, NULL) == VT_OK);
  CHECK(vt_program_random_inputs(p, input_seed, NULL) == VT_OK);
  run_program(p);
  CHECK(vt_program_digest(p, r.digest, NULL) == VT_OK);
  vt_program_plan_digest(p, r.core, r.target);
  vt_program_free(p);
  return r;
}

static int same(const uint8_t a[32], const uint8_t b[32]) { return memcmp(a, b, 32) == 0; }

static void test_digests(void) {
  const result a = compute_digests("reference:0", 0, 7), b = compute_digests("reference:0", 0, 7);
  const result whole = compute_digests("reference:1", 0, 7);
  const result seed = compute_digests("reference:0", 1, 7),
               input = compute_digests("reference:0", 0, 8);
  CHECK(same(a.digest, b.digest) && same(a.core, b.core) && same(a.target, b.target));
  CHECK(same(a.digest, whole.digest)); /* compositions decomposed, and as one op each */
  CHECK(!same(a.core, whole.core) && !same(a.target, whole.target));
  CHECK(!same(a.digest, seed.digest) && !same(a.digest, input.digest));
  CHECK(same(a.core, seed.core));
}

/* A second run gives the same digest. */
static void test_run_again(void) {
  uint8_t first[32], second[32];
  vt_program *p = open_on(small, "reference:1", small_dims, 2);
  CHECK(vt_program_init_params(p, 3, NULL) == VT_OK);
  CHECK(vt_program_random_inputs(p, 3, NULL) == VT_OK);
  run_program(p);
  CHECK(vt_program_digest(p, first, NULL) == VT_OK);
  run_program(p);
  CHECK(vt_program_digest(p, second, NULL) == VT_OK && same(first, second));
  vt_program_free(p);
}

static void test_seeded_params(void) {
  vt_program *a = open_on(small, "reference:0", small_dims, 2);
  vt_program *b = open_on(small, "reference:1", (vt_binding[]){{"B", 1}, {"T", 3}}, 2);
  float x[128], y[128], z[128];
  vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {16, 8}, .data = x};
  CHECK(vt_program_init_params(a, 42, NULL) == VT_OK);
  CHECK(vt_program_init_params(b, 42, NULL) ==
        VT_OK); /* the params do not depend on dims or device */
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

static void check_floats(const float *x) {
  uint32_t negative = 0, beyond = 0;
  for (int i = 0; i < 1000; i++) {
    negative += x[i] < 0;
    beyond += !(x[i] >= -1 && x[i] < 1);
  }
  CHECK(beyond == 0 && negative > 400 && negative < 600);
}

static void check_integers(const int8_t *x) {
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
  vt_program *p = open_text(drawn), *q = open_text(drawn);
  uint8_t a[32], b[32];
  CHECK(vt_program_random_inputs(p, 9, NULL) == VT_OK);
  CHECK(vt_program_random_inputs(q, 9, NULL) == VT_OK);
  run_program(p);
  run_program(q);
  CHECK(vt_program_digest(p, a, NULL) == VT_OK && vt_program_digest(q, b, NULL) == VT_OK);
  CHECK(same(a, b));
  check_floats(output_named(p, "f").data);
  check_floats(output_named(p, "g").data);
  CHECK(memcmp(output_named(p, "f").data, output_named(p, "g").data, 4000) !=
        0); /* each name has its own stream */
  check_integers(output_named(p, "i").data);
  const uint8_t *t = output_named(p, "t").data;
  uint32_t yes = 0;
  for (int i = 0; i < 1000; i++) yes += t[i];
  CHECK(yes > 400 && yes < 600);
  vt_program_free(p);
  vt_program_free(q);
}

/* Inputs that have a value keep it. */
static void test_random_inputs_keep(void) {
  float given[1000];
  vt_program *p = open_text(drawn);
  for (int i = 0; i < 1000; i++) given[i] = (float)i;
  set_input(p, "f", vector(VT_DTYPE_F32, 1000, given));
  CHECK(vt_program_random_inputs(p, 9, NULL) == VT_OK);
  run_program(p);
  CHECK(memcmp(output_named(p, "f").data, given, sizeof given) == 0);
  check_floats(output_named(p, "g").data);
  vt_program_free(p);
}

static void test_random_inputs_need_a_range(void) {
  vt_program *p = open_text(pick);
  vt_diag d = {0};
  int64_t index[4] = {0};
  CHECK(vt_program_random_inputs(p, 1, &d) == VT_USAGE && message_has(&d, "'index'"));
  set_input(p, "index", vector(VT_DTYPE_I64, 4, index));
  CHECK(vt_program_random_inputs(p, 1, NULL) == VT_OK);
  vt_program_free(p);
  p = open_text("volta 1\nmodel wide {\n  input i: i64[2] in 0..4294967296\n  output i\n}\n");
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
  vt_program *p = open_text(text);
  set_input(p, "x", vector(VT_DTYPE_F32, 1, &x));
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
static void test_output_is_input(void) {
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
    vt_tensor t = vector(VT_DTYPE_F32, 2, w);
    vt_program *p = open_on(text, backends[i], NULL, 0);
    set_input(p, "x", vector(VT_DTYPE_I32, 2, x));
    CHECK(vt_program_set_param(p, "w", &t, NULL) == VT_OK);
    run_program(p);
    CHECK(memcmp(output_named(p, "x").data, x, sizeof x) == 0);
    CHECK(memcmp(output_named(p, "again").data, x, sizeof x) == 0);
    CHECK(memcmp(output_named(p, "w").data, w, sizeof w) == 0);
    vt_program_free(p);
  }
}

static void test_empty(void) {
  static const vt_binding none[] = {{"B", 0}, {"T", 4}};
  uint8_t digest[2][32];
  for (int i = 0; i < 2; i++) {
    vt_program *p = open_on(small, i ? "reference:1" : "reference:0", none, 2);
    CHECK(vt_program_init_params(p, 0, NULL) == VT_OK);
    CHECK(vt_program_random_inputs(p, 0, NULL) == VT_OK);
    run_program(p);
    const vt_tensor t = output_named(p, "logits");
    CHECK(t.rank == 3 && t.dim[0] == 0 && t.dim[1] == 4 && t.dim[2] == 11);
    CHECK(vt_program_digest(p, digest[i], NULL) == VT_OK);
    vt_program_free(p);
  }
  CHECK(same(digest[0], digest[1]));
}

/* ---- NaN is one value ---- */

/* Inputs: each NaN becomes the canonical one, and each true bool becomes 1. */
static void test_nan_in_inputs(void) {
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
  vt_program *p = open_text(text);
  set_input(p, "a", vector(VT_DTYPE_F32, 4, a));
  set_input(p, "b", vector(VT_DTYPE_F64, 2, b));
  set_input(p, "c", vector(VT_DTYPE_F16, 2, c));
  set_input(p, "d", vector(VT_DTYPE_BF16, 2, e));
  set_input(p, "e", vector(VT_DTYPE_BOOL, 3, f));
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
static void test_nan_in_params(void) {
  uint32_t w[3] = {0xffc12345, 0x7f800001, 0x40000000}, back[3] = {0};
  const uint32_t want[3] = {0x7fc00000, 0x7fc00000, 0x40000000};
  vt_program *p = open_text(affine);
  vt_tensor t = vector(VT_DTYPE_F32, 3, w);
  CHECK(vt_program_set_param(p, "w", &t, NULL) == VT_OK);
  t.data = back;
  CHECK(vt_program_get_param(p, "w", &t, NULL) == VT_OK && memcmp(back, want, sizeof want) == 0);
  vt_program_free(p);
}

/* NaNs that ops make: the processor's NaN may have a sign bit, an output's NaN never has one. */
static void test_nan_from_ops(void) {
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
  vt_program *p = open_text(text);
  vt_tensor t = vector(VT_DTYPE_F32, 2, w);
  set_input(p, "x", vector(VT_DTYPE_F32, 2, x));
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

static void test_texts(void) {
  vt_program *p = open_on(small, "reference:0", small_dims, 2);
  vt_program *q = open_on(small, "reference:1", small_dims, 2);
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

static void test_info(void) {
  float x[3] = {0};
  vt_program *p = open_text(affine);
  vt_run_info info = {.size = sizeof info}, early = {.size = offsetof(vt_run_info, wall_ns)};
  CHECK(vt_program_init_params(p, 0, NULL) == VT_OK);
  set_input(p, "x", vector(VT_DTYPE_F32, 3, x));
  run_program(p);
  vt_program_info(p, &info);
  CHECK(info.size == sizeof info && info.steps == 2 && info.bytes_input == 256);
  CHECK(info.bytes_param == 512 && info.bytes_temp == 256 && info.bytes_output == 256);
  early.bytes_input = 77;
  vt_program_info(p, &early);
  CHECK(early.steps == 2 && early.bytes_input == 77); /* fields beyond the caller's size stay */
  vt_program_free(p);
}

/* The calls of the progress callback. */
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

static void test_progress(void) {
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
  CHECK(try_open(small, &o, &p, &d) == VT_OK && h.n == 0);
  CHECK(vt_program_init_params(p, 0, NULL) == VT_OK);
  CHECK(h.n > 0 && h.wrong == 0 && h.done == h.total);
  CHECK(vt_program_random_inputs(p, 7, NULL) == VT_OK);
  h = (progress){.what = "run"};
  run_program(p);
  CHECK(h.n > 0 && h.wrong == 0 && h.done == h.total);
  CHECK(vt_program_digest(p, digest, NULL) == VT_OK);
  CHECK(same(digest, compute_digests("reference", 0, 7).digest)); /* the callback changes no bit */
  vt_program_free(p);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  test_affine();
  test_params();
  test_inputs();
  test_declared_range();
  test_missing_values();
  test_gather_out_of_range();
  test_options();
  test_option_sizes();
  test_environment();
  test_digests();
  test_run_again();
  test_seeded_params();
  test_random_inputs();
  test_random_inputs_keep();
  test_random_inputs_need_a_range();
  test_output_order();
  test_output_is_input();
  test_empty();
  test_nan_in_inputs();
  test_nan_in_params();
  test_nan_from_ops();
  test_texts();
  test_info();
  test_progress();
  TEST_DONE();
}
