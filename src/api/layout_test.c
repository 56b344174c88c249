/* SPDX-License-Identifier: Apache-2.0
 * layout_test.c - layers with layout=out_in. Each model is run twice: as written, and with
 * layout=out_in and the transposed weights. Both must have the same bits on every backend, must
 * need the same memory where views need no copies, and must be fused in the same way. Also tested:
 * the shapes of the parameters, and what initialisers that read fans from the shape draw. */
#include <string.h>
#include "volta/volta_tools.h"
#include "vt_test.h"

/* A %s stands where the layout is given. Sums are longer than a block of 256 products, a weight has
 * enough elements to be packed, and no extent is a multiple of a vector. */
static const char linear_model[] =
    "volta 1\nmodel m {\n  dim B\n  input x: f32[B, 301]\n"
    "  a = relu(linear wide(x, out=37, init=normal(std=0.1)%s))\n"
    "  b = linear narrow(a, out=3, bias=false, init=uniform%s)\n"
    "  output a\n  output y = linear square(b, out=3, init=uniform%s) * 0.5\n}\n";
static const char attention_model[] =
    "volta 1\nmodel m {\n  dim B\n  input x: f32[B, 5, 24]\n"
    "  output y = attention a(x, heads=4, kv_heads=2, causal=true, init=uniform%s)\n}\n";
static const char recurrent_model[] =
    "volta 1\nmodel m {\n  dim B\n  input x: f32[6, B, 7]\n"
    "  h = lstm one(x, hidden=5, init=uniform%s)\n"
    "  h = gru two(h, hidden=9, bias=false, reverse=true, init=uniform%s)\n"
    "  output y = rnn three(h, hidden=4, init=uniform%s)\n}\n";
static const char body_model[] =
    "volta 1\nmodel m {\n  dim B\n  input x: f32[B, 70]\n"
    "  h = loop(x, count=3, carried=1) (i, h) {\n"
    "    give tanh(linear in_loop(h, out=70, init=uniform%s))\n  }\n"
    "  repeat 2 as r {\n    h = tanh(linear fc(h, out=70, init=uniform%s))\n  }\n"
    "  output y = cond(sum(h * h) > 0) {\n    give linear then(h, out=2, init=uniform%s)\n"
    "  } else {\n    give slice(h, start=[0, 0], stop=[B, 2])\n  }\n}\n";
static const char *const models[] = {linear_model, attention_model, recurrent_model, body_model};
enum { MODELS = sizeof models / sizeof *models };

static const struct config {
  const char *backend, *stream;
  uint32_t threads;
} configs[] = {
    {"reference:0", NULL, 0}, {"reference:1", NULL, 0},  {"island:0", NULL, 0},
    {"island:1", NULL, 0},    {"island:1", "all", 0},    {"cpu", NULL, 1},
    {"cpu", NULL, 3},         {"reference:0", "all", 0}, {"cpu", "all", 2},
    {"cuda", NULL, 0},
};
enum { CONFIGS = sizeof configs / sizeof *configs };
static const int64_t batches[] = {1, 2, 19};

/* ---- programs ---- */

static vt_model *parse_model(const char *format, const char *layout) {
  char text[1000];
  vt_model *m = NULL;
  vt_diag d = {0};
  (void)snprintf(text, sizeof text, format, layout, layout, layout);
  CHECK(vt_model_parse(text, strlen(text), NULL, &m, &d) == VT_OK);
  if (m == NULL) fprintf(stderr, "  %s\n%s", d.text, text);
  if (m == NULL) exit(1);
  return m;
}

/* Returns 0 for cuda if this machine has no GPU and the test does not run with the emulated one. */
static int is_available(const char *backend) {
  static const char text[] = "volta 1\nmodel m {\n  output y = f32(1)\n}\n";
  static int found = -1;
  const vt_options o = {.size = sizeof o, .backend = backend};
  vt_model *m = NULL;
  vt_program *p = NULL;
  if (strcmp(backend, "cuda") != 0) return 1;
  if (found >= 0) return found;
  CHECK(vt_model_parse(text, strlen(text), NULL, &m, NULL) == VT_OK);
  found = vt_program_new(m, &o, &p, NULL) == VT_OK;
  if (!found) fprintf(stderr, "no device for cuda: it is left out\n");
  vt_program_free(p);
  vt_model_free(m);
  return found;
}

static vt_program *open_program(const vt_model *m, const struct config *c, int64_t batch) {
  const vt_binding bind = {"B", batch};
  const vt_options o = {.size = sizeof o,
                        .n_bind = vt_model_dims(m),
                        .bind = &bind,
                        .backend = c->backend,
                        .stream = c->stream,
                        .threads = c->threads};
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(vt_program_new(m, &o, &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "  %s: %s\n", c->backend, d.text);
  if (p == NULL) exit(1);
  return p;
}

static void run_for_digest(vt_program *p, uint8_t digest[32]) {
  vt_diag d = {0};
  vt_status s = vt_program_random_inputs(p, 5, &d);
  if (s == VT_OK) s = vt_program_run(p, &d);
  if (s == VT_OK) s = vt_program_digest(p, digest, &d);
  CHECK(s == VT_OK);
  if (s != VT_OK) fprintf(stderr, "  %s\n", d.text);
}

/* ---- parameters ---- */

static vt_tensor get_param(vt_program *p, const char *name) {
  vt_tensor t = {0};
  uint64_t count = 0, bytes = 0;
  CHECK(vt_program_get_param(p, name, &t, NULL) == VT_OK);
  CHECK(vt_tensor_bytes(&t, &count, &bytes, NULL) == VT_OK);
  t.data = malloc((size_t)bytes + 1);
  CHECK(t.data != NULL && vt_program_get_param(p, name, &t, NULL) == VT_OK);
  return t;
}

static vt_tensor transpose_of(const vt_tensor *t) {
  const size_t rows = (size_t)t->dim[0], columns = (size_t)t->dim[1];
  vt_tensor out = {.dtype = t->dtype, .rank = 2, .dim = {t->dim[1], t->dim[0]}};
  out.data = malloc(rows * columns * sizeof(float) + 1);
  for (size_t i = 0; i < rows; i++)
    for (size_t k = 0; k < columns; k++)
      ((float *)out.data)[k * rows + i] = ((const float *)t->data)[i * columns + k];
  return out;
}

/* Sets the params of `to` to those of `from`. If `transposed` is 1, matrices are transposed. */
static void copy_params(const vt_model *m, vt_program *from, vt_program *to, int transposed) {
  vt_port_info port;
  for (uint32_t i = 0; vt_model_port(m, i, &port) == VT_OK; i++) {
    if (port.kind != VT_PORT_PARAM) continue;
    vt_tensor t = get_param(from, port.name);
    vt_tensor swapped = {0};
    vt_diag d = {0};
    const int swap = transposed && t.rank == 2;
    if (swap) swapped = transpose_of(&t);
    CHECK(vt_program_set_param(to, port.name, swap ? &swapped : &t, &d) == VT_OK);
    if (d.code != VT_OK) fprintf(stderr, "  %s\n", d.text);
    free(swapped.data);
    free(t.data);
  }
}

/* ---- the same bits ---- */

static void compare_layouts(const char *format, int64_t batch) {
  vt_model *in_out = parse_model(format, ""), *out_in = parse_model(format, ", layout=out_in");
  uint8_t want[32], other[32], have[32];
  vt_program *first = open_program(in_out, &configs[0], batch);
  vt_program *second = open_program(in_out, &configs[0], batch);
  CHECK(vt_program_init_params(first, 3, NULL) == VT_OK);
  CHECK(vt_program_init_params(second, 4, NULL) == VT_OK);
  run_for_digest(first, want);
  run_for_digest(second, other);
  CHECK(memcmp(want, other, 32) != 0);
  for (int i = 0; i < CONFIGS; i++) {
    if (!is_available(configs[i].backend)) continue;
    vt_program *p = open_program(out_in, &configs[i], batch);
    copy_params(in_out, first, p, 1);
    memset(have, 0, sizeof have);
    run_for_digest(p, have);
    CHECK(memcmp(have, want, 32) == 0);
    if (memcmp(have, want, 32) != 0)
      fprintf(stderr, "  on %s, with B=%lld:\n%s", configs[i].backend, (long long)batch,
              vt_model_text(out_in));
    run_for_digest(p, have); /* the second run uses the packed weights of the first */
    CHECK(memcmp(have, want, 32) == 0);
    copy_params(in_out, second, p, 1); /* what was packed of the old weights is no longer used */
    run_for_digest(p, have);
    CHECK(memcmp(have, other, 32) == 0);
    vt_program_free(p);
  }
  vt_program_free(first);
  vt_program_free(second);
  vt_model_free(in_out);
  vt_model_free(out_in);
}

/* A square weight has one shape in both layouts, so a wrong layout would go unnoticed: it must
 * change the result. */
static void test_layout_matters(void) {
  const char *format =
      "volta 1\nmodel m {\n  input x: f32[2, 8]\n"
      "  output y = linear fc(x, out=8, init=uniform%s)\n}\n";
  vt_model *in_out = parse_model(format, ""), *out_in = parse_model(format, ", layout=out_in");
  uint8_t want[32], have[32];
  vt_program *a = open_program(in_out, &configs[0], 0), *b = open_program(out_in, &configs[0], 0);
  CHECK(vt_program_init_params(a, 3, NULL) == VT_OK);
  run_for_digest(a, want);
  copy_params(in_out, a, b, 0);
  run_for_digest(b, have);
  CHECK(memcmp(have, want, 32) != 0);
  copy_params(in_out, a, b, 1);
  run_for_digest(b, have);
  CHECK(memcmp(have, want, 32) == 0);
  vt_program_free(a);
  vt_program_free(b);
  vt_model_free(in_out);
  vt_model_free(out_in);
}

/* ---- the plan ---- */

static vt_plan_info plan_info(const vt_model *m, const char *backend) {
  const vt_binding bind = {"B", 4};
  const vt_options o = {.size = sizeof o, .n_bind = 1, .bind = &bind, .backend = backend};
  vt_plan_info info = {.size = sizeof info};
  vt_planned *p = NULL;
  vt_diag d = {0};
  CHECK(vt_planned_new(m, &o, &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "  %s\n", d.text);
  if (p == NULL) exit(1);
  vt_planned_info(p, &info);
  vt_planned_free(p);
  return info;
}

/* The `n` transposed weights are views: no memory class needs more bytes. A backend that accepts
 * no strides copies each of them. */
static void test_no_copy(const char *format, uint32_t n) {
  vt_model *in_out = parse_model(format, ""), *out_in = parse_model(format, ", layout=out_in");
  static const char *const strided[] = {"reference:0", "reference:1", "island:0", "cpu"};
  for (size_t i = 0; i < sizeof strided / sizeof *strided; i++) {
    const vt_plan_info a = plan_info(in_out, strided[i]), b = plan_info(out_in, strided[i]);
    CHECK(memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0 && a.peak == b.peak && a.peak > 0);
    CHECK(b.views == a.views + n && b.dense_copies == 0);
  }
  const vt_plan_info a = plan_info(in_out, "island:1"), b = plan_info(out_in, "island:1");
  CHECK(b.dense_copies == a.dense_copies + n);
  if (is_available("cuda")) CHECK(plan_info(out_in, "cuda").dense_copies == 0);
  vt_model_free(in_out);
  vt_model_free(out_in);
}

/* The weights of cells are not copied either, although a loop reads them: only views are added. The
 * CPU's kernels need another amount of scratch for another layout, so workspace is not compared. */
static void test_no_copy_for_cells(void) {
  vt_model *in_out = parse_model(recurrent_model, "");
  vt_model *out_in = parse_model(recurrent_model, ", layout=out_in");
  static const char *const strided[] = {"reference:0", "reference:1", "island:0", "cpu"};
  for (size_t i = 0; i < sizeof strided / sizeof *strided; i++) {
    const vt_plan_info a = plan_info(in_out, strided[i]), b = plan_info(out_in, strided[i]);
    for (uint32_t k = 0; k < sizeof a.bytes / sizeof *a.bytes; k++)
      CHECK(a.bytes[k] == b.bytes[k] || strcmp(vt_memory_class(k), "workspace") == 0);
    CHECK(b.steps == a.steps && b.dense_copies == a.dense_copies && b.views > a.views);
  }
  vt_model_free(in_out);
  vt_model_free(out_in);
}

/* Counts the lines of the pass's result that contain `text`. */
static int count_lines_with(vt_program *p, const char *pass, const char *text) {
  int n = 0;
  for (const char *s = vt_program_pass_text(p, pass); (s = strstr(s, text)) != NULL; s++) n++;
  return n;
}

/* The ops after a product stay in its group, and a product is decomposed where it was before. */
static void test_passes_see_through_view(void) {
  vt_model *in_out = parse_model(linear_model, "");
  vt_model *out_in = parse_model(linear_model, ", layout=out_in");
  for (int i = 0; i < CONFIGS; i++) {
    if (!is_available(configs[i].backend)) continue;
    static const char *const texts[] = {"linear(", "matmul(", ") @1\n", ") @2\n", ") @3\n"};
    vt_program *a = open_program(in_out, &configs[i], 4), *b = open_program(out_in, &configs[i], 4);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
      CHECK(count_lines_with(a, "fuse", texts[k]) == count_lines_with(b, "fuse", texts[k]));
    CHECK(count_lines_with(a, "fuse", ") @1\n") >= 2 && count_lines_with(a, "fuse", ") @2\n") >= 2);
    vt_program_free(a);
    vt_program_free(b);
  }
  vt_model_free(in_out);
  vt_model_free(out_in);
}

/* ---- initialisers ---- */

/* Returns the first element of the param after the initialisers ran. */
static float first_element(const char *lines, const char *name) {
  char text[1000];
  (void)snprintf(text, sizeof text, "volta 1\nmodel m {\n  dim B\n  input x: f32[2, B]\n%s}\n",
                 lines);
  vt_model *m = parse_model(text, "");
  vt_program *p = open_program(m, &configs[0], 50);
  CHECK(vt_program_init_params(p, 3, NULL) == VT_OK);
  vt_tensor t = get_param(p, name);
  const float first = ((const float *)t.data)[0];
  free(t.data);
  vt_program_free(p);
  vt_model_free(m);
  return first;
}

/* The first number that an initialiser draws depends on the stream and the fans only, so it is that
 * of in_out, also where a fan is a symbolic dimension. Without out_in=true it is another. */
static void test_fans(void) {
  static const char *const inits[] = {"he_normal(stream=1)", "he_uniform(stream=1)",
                                      "xavier_normal(fan_in=7, stream=1)",
                                      "xavier_uniform(fan_out=9, stream=1)"};
  for (size_t i = 0; i < sizeof inits / sizeof *inits; i++) {
    char in_out[300], out_in[300], swapped[300];
    (void)snprintf(in_out, sizeof in_out, "output y = linear fc(x, out=8, init=%s)\n", inits[i]);
    (void)snprintf(out_in, sizeof out_in,
                   "output y = linear fc(x, out=8, layout=out_in, init=%s)\n", inits[i]);
    (void)snprintf(swapped, sizeof swapped,
                   "param fc.weight: f32[8, B] = %s\noutput y = matmul(x, fc.weight, "
                   "transpose_b=true)\n",
                   inits[i]);
    const float want = first_element(in_out, "fc.weight");
    CHECK(first_element(out_in, "fc.weight") == want);
    CHECK(first_element(swapped, "fc.weight") != want);
  }
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  for (int i = 0; i < MODELS; i++)
    for (size_t k = 0; k < sizeof batches / sizeof *batches; k++)
      compare_layouts(models[i], batches[k]);
  test_layout_matters();
  test_no_copy(linear_model, 3);
  test_no_copy(attention_model, 4);
  test_no_copy_for_cells();
  test_passes_see_through_view();
  test_fans();
  TEST_DONE();
}
