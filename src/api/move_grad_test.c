/* SPDX-License-Identifier: Apache-2.0
 * move_grad_test.c - gradients of ops that move, index or sort elements, compared bit by bit. The
 * gradient rule of the last op of a model writes a graph. It runs on both devices of the reference,
 * and its results are compared with formulas on arrays. dy is the incoming gradient; it has zeros
 * of both signs, infinities and NaN, so that a rule which multiplies instead of selecting is
 * noticed. A trial is one such model; S is the ordered sum of docs/numerics.md. */
#include "op_test.h"
#include "volta/volta_tools.h"
#include "vt_graph.h"
#include "vt_parse.h"

enum { MOST = 4096, INPUTS = 6, RESULTS = 3 };

typedef struct trial {
  char text[300]; /* the model, whose last op is differentiated */
  char *gradient; /* the model of the gradient graph, as text */
  vt_model *model;
  vt_tensor in[INPUTS]; /* inputs that were set, and their names */
  char name[INPUTS][8];
  uint32_t n_in;
  float *d[RESULTS]; /* gradient of operand i on reference:0, or NULL */
} trial;

static uint64_t state = 77;

/* ---- the graph ---- */

static int is_f32_type(const vt_type *t) { return t->dtype == VT_DTYPE_F32; }

/* Copies the ports and nodes of the model, adds an input dy0, dy1, ... for each result of the last
 * op, and applies the gradient rule of that op. */
static void copy_graph_and_add_gradient(const vt_graph *g, vt_graph_builder *gb) {
  uint32_t map[64], in[8], out[8], dy[8], d_in[8];
  const vt_node *last = &g->nodes[g->n_nodes - 1];
  for (uint32_t i = 0; i < g->n_ports; i++)
    map[g->ports[i].value] =
        vt_graph_add_port(gb, &g->ports[i], &g->values[g->ports[i].value].type);
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    for (uint32_t k = 0; k < n->n_in; k++) in[k] = map[g->operands[n->first_in + k]];
    const uint32_t first = gb->b.node(&gb->b, n->op, in, n->n_in, n->attrs);
    for (uint32_t k = 0; k < n->n_out; k++) map[n->first_out + k] = out[k] = first + k;
  }
  for (uint32_t k = 0; k < last->n_out; k++) {
    char name[8];
    snprintf(name, sizeof name, "dy%u", k);
    const vt_port port = {.name = name, .kind = VT_PORT_INPUT};
    const vt_type *t = &g->values[last->first_out + k].type;
    dy[k] = is_f32_type(t) ? vt_graph_add_port(gb, &port, t) : VT_NO_VALUE;
  }
  for (uint32_t k = 0; k < 8; k++) d_in[k] = VT_NO_VALUE;
  const vt_gradient grad = {.b = &gb->b,
                            .in = in,
                            .out = out,
                            .n_in = last->n_in,
                            .n_out = last->n_out,
                            .attrs = last->attrs,
                            .d_out = dy,
                            .d_in = d_in};
  vt_op_get(last->op)->grad(&grad);
  for (uint32_t k = 0; k < last->n_in; k++) {
    char name[8];
    snprintf(name, sizeof name, "d%u", k);
    if (d_in[k] != VT_NO_VALUE) vt_graph_add_result(gb, name, d_in[k]);
  }
}

static char *text_of_graph(const vt_graph *g) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_graph_print(g, 1, &t);
  char *copy = malloc(t.n + 1);
  memcpy(copy, t.s, t.n + 1);
  vt_text_done(&t);
  return copy;
}

static void differentiate(trial *t) {
  vt_graph *g = NULL, *made = NULL;
  vt_graph_builder gb;
  vt_diag d = {0};
  CHECK(vt_parse(t->text, strlen(t->text), vt_alloc_default(), &g, &d) == VT_OK);
  CHECK(g != NULL && vt_graph_begin(&gb, "gradient", vt_alloc_default(), &d) == VT_OK);
  if (g != NULL) copy_graph_and_add_gradient(g, &gb);
  if (g == NULL || vt_graph_freeze(&gb, &made) != VT_OK) {
    report_test_failure(t->text, d.text);
    exit(1);
  }
  t->gradient = text_of_graph(made);
  vt_graph_free(made);
  vt_graph_free(g);
}

/* ---- running ---- */

static trial make_trial(const char *body) {
  trial t = {.n_in = 0};
  vt_diag d = {0};
  test_seed = state;
  snprintf(t.text, sizeof t.text, "volta 1\nmodel m {\n%s\n}\n", body);
  differentiate(&t);
  if (vt_model_parse(t.gradient, strlen(t.gradient), NULL, &t.model, &d) != VT_OK) {
    report_test_failure(t.gradient, d.text);
    exit(1);
  }
  return t;
}

/* Sets the input of this name to a copy of `data`, which has as many elements as the input's
 * type. */
static void set_input(trial *t, const char *name, const void *data, uint32_t dtype) {
  vt_port_info port;
  vt_tensor *x = &t->in[t->n_in];
  for (uint32_t i = 0; vt_model_port(t->model, i, &port) == VT_OK; i++) {
    if (strcmp(port.name, name) != 0) continue;
    const char *s = strchr(port.type, '[') + 1;
    *x = (vt_tensor){.dtype = dtype, .rank = port.rank};
    for (uint32_t k = 0; k < port.rank; k++) {
      char *rest;
      x->dim[k] = strtoll(s, &rest, 10);
      s = rest + 2;
    }
    uint64_t n = 0, bytes = 0;
    CHECK(vt_tensor_bytes(x, &n, &bytes, NULL) == VT_OK);
    x->data = malloc(bytes + 1);
    memcpy(x->data, data, bytes);
    snprintf(t->name[t->n_in++], sizeof *t->name, "%s", name);
    return;
  }
  report_test_failure(name, "no such input");
}

static void run_on_device(trial *t, const char *backend, float *gradients[RESULTS]) {
  const vt_options o = {.size = sizeof o, .backend = backend};
  vt_program *p = NULL;
  vt_diag why = {0};
  vt_status s = vt_program_new(t->model, &o, &p, &why);
  for (uint32_t i = 0; s == VT_OK && i < t->n_in; i++)
    s = vt_program_set_input(p, t->name[i], &t->in[i], &why);
  if (s == VT_OK) s = vt_program_run(p, &why);
  if (s != VT_OK) report_test_failure(t->gradient, why.text);
  for (uint32_t i = 0; s == VT_OK && i < vt_program_outputs(p); i++) {
    const char *name;
    vt_tensor out;
    uint64_t n = 0, bytes = 0;
    CHECK(vt_program_output(p, i, &name, &out, NULL) == VT_OK);
    CHECK(vt_tensor_bytes(&out, &n, &bytes, NULL) == VT_OK && out.dtype == VT_DTYPE_F32);
    float **to = &gradients[name[1] - '0'];
    *to = calloc(n + 1, sizeof **to);
    memcpy(*to, out.data, bytes);
  }
  vt_program_free(p);
}

static void run_on_first_device(trial *t) { run_on_device(t, "reference:0", t->d); }

/* Checks the gradient of an operand on both devices against `want`. */
static void expect_gradient(trial *t, uint32_t operand, const float *want, int64_t n) {
  float *other[RESULTS] = {0};
  run_on_device(t, "reference:1", other);
  if (t->d[operand] == NULL || other[operand] == NULL)
    report_test_failure(t->text, "no such gradient");
  for (int64_t i = 0; t->d[operand] != NULL && other[operand] != NULL && i < n; i++) {
    const float got = t->d[operand][i];
    char what[160];
    if (same_f32(got, want[i]) && same_f32(other[operand][i], want[i])) continue;
    snprintf(what, sizeof what, "d%u[%lld] is %08x and %08x, expected %08x", operand, (long long)i,
             (unsigned)vt_f32_bits(got), (unsigned)vt_f32_bits(other[operand][i]),
             (unsigned)vt_f32_bits(want[i]));
    report_test_failure(t->text, what);
    break;
  }
  for (int i = 0; i < RESULTS; i++) free(other[i]);
}

static void free_trial(trial *t) {
  for (uint32_t i = 0; i < t->n_in; i++) free(t->in[i].data);
  for (uint32_t i = 0; i < RESULTS; i++) free(t->d[i]);
  free(t->gradient);
  vt_model_free(t->model);
}

static const float *fill_with_any_floats(float *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = any_f32(&state);
  return x;
}

static const float *fill_with_ordinary_floats(float *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = ordinary_f32(&state);
  return x;
}

static float x[MOST], dy[MOST], want[MOST], list[MOST];
static int64_t at[MOST]; /* indices */

/* ---- gradients that are sums ---- */

/* For gather and embedding: result p is row at[p] of x, so dx[r] is the sum over p with at[p] ==
 * r. */
static void test_gather_gradient(const char *op, int special_dy) {
  enum { N = 1100 };
  char body[200];
  snprintf(body, sizeof body, "input x: f32[4, 2]\ninput i: i64[1100] in 0..3\noutput y = %s(x, i)",
           op);
  trial t = make_trial(body);
  for (int64_t p = 0; p < N; p++) at[p] = p % 9 == 0 ? 0 : 2;
  at[5] = 3;
  set_input(&t, "x", fill_with_any_floats(x, 8), VT_DTYPE_F32);
  set_input(&t, "i", at, VT_DTYPE_I64);
  set_input(&t, "dy0",
            special_dy ? fill_with_any_floats(dy, 2 * N) : fill_with_ordinary_floats(dy, 2 * N),
            VT_DTYPE_F32);
  dy[10] = -0.0f;
  memcpy(t.in[2].data, dy, 2 * N * sizeof *dy);
  for (int64_t r = 0; r < 4; r++)
    for (int64_t c = 0; c < 2; c++) {
      int64_t n = 0;
      for (int64_t p = 0; p < N; p++)
        if (at[p] == r) list[n++] = dy[2 * p + c];
      want[2 * r + c] = 0.0f + s_f32(list, n);
    }
  run_on_first_device(&t);
  expect_gradient(&t, 0, want, 8);
  free_trial(&t);
}

static void test_broadcast_gradient(void) {
  trial t = make_trial("input x: f32[2, 1]\noutput y = broadcast(x, shape=[30, 2, 37])");
  set_input(&t, "x", fill_with_any_floats(x, 2), VT_DTYPE_F32);
  set_input(&t, "dy0", fill_with_ordinary_floats(dy, 2220), VT_DTYPE_F32);
  for (int64_t i = 0; i < 2; i++) {
    for (int64_t n = 0; n < 1110; n++) list[n] = dy[n / 37 * 74 + i * 37 + n % 37];
    want[i] = s_f32(list, 1110);
  }
  run_on_first_device(&t);
  expect_gradient(&t, 0, want, 2);
  free_trial(&t);
}

/* Each element of x is repeated along both axes; its gradient sums all repeats as one axis. */
static void test_tile_gradient(void) {
  trial t = make_trial("input x: f32[2, 3]\noutput y = tile(x, repeats=[11, 13])");
  set_input(&t, "x", fill_with_any_floats(x, 6), VT_DTYPE_F32);
  set_input(&t, "dy0", fill_with_ordinary_floats(dy, 858), VT_DTYPE_F32);
  for (int64_t i = 0; i < 6; i++) {
    for (int64_t n = 0; n < 143; n++) list[n] = dy[(n / 13 * 2 + i / 3) * 39 + n % 13 * 3 + i % 3];
    want[i] = s_f32(list, 143);
  }
  run_on_first_device(&t);
  expect_gradient(&t, 0, want, 6);
  free_trial(&t);
}

/* The gradient of the padding value is the sum S of all of dy, in which the elements that belong to
 * x are replaced by +0. */
static void test_pad_gradients(void) {
  trial t = make_trial(
      "input x: f32[20, 3]\ninput v: f32[]\n"
      "output y = pad(x, v, low=[3, 1], high=[2, 40])");
  set_input(&t, "x", fill_with_any_floats(x, 60), VT_DTYPE_F32);
  set_input(&t, "v", fill_with_any_floats(x, 1), VT_DTYPE_F32);
  set_input(&t, "dy0", fill_with_ordinary_floats(dy, 25 * 44), VT_DTYPE_F32);
  /* Gradient of x[0, 0], which must not reach the gradient of the padding value. */
  dy[3 * 44 + 1] = INFINITY;
  memcpy(t.in[2].data, dy, 25 * 44 * sizeof *dy);
  for (int64_t i = 0; i < 25 * 44; i++) {
    const int64_t r = i / 44 - 3, c = i % 44 - 1;
    const int inside = r >= 0 && r < 20 && c >= 0 && c < 3;
    list[i] = inside ? 0.0f : dy[i];
    if (inside) want[r * 3 + c] = dy[i];
  }
  run_on_first_device(&t);
  expect_gradient(&t, 0, want, 60);
  want[0] = s_f32(list, 25 * 44);
  expect_gradient(&t, 1, want, 1);
  free_trial(&t);
}

/* ---- selections ---- */

static void test_slice_gradient(void) {
  trial t = make_trial(
      "input x: f32[9, 7]\n"
      "output y = slice(x, start=[1, 2], stop=[9, 6], step=[3, 1])");
  set_input(&t, "x", fill_with_any_floats(x, 63), VT_DTYPE_F32);
  set_input(&t, "dy0", fill_with_any_floats(dy, 12), VT_DTYPE_F32);
  memset(want, 0, sizeof want);
  for (int64_t i = 0; i < 12; i++) want[(1 + i / 4 * 3) * 7 + 2 + i % 4] = dy[i];
  run_on_first_device(&t);
  expect_gradient(&t, 0, want, 63);
  free_trial(&t);
}

/* At each position the last update gets the gradient; the base, where it is overwritten, and
 * earlier updates get +0. */
static void test_scatter_gradients(void) {
  static const int64_t to[6] = {2, 0, 2, 4, 0, 2};
  static const int last[6] = {0, 0, 0, 1, 1, 1};
  trial t = make_trial(
      "input x: f32[5]\ninput i: i64[6] in 0..4\ninput u: f32[6]\n"
      "output y = scatter(x, i, u)");
  set_input(&t, "x", fill_with_any_floats(x, 5), VT_DTYPE_F32);
  set_input(&t, "i", to, VT_DTYPE_I64);
  set_input(&t, "u", fill_with_any_floats(x, 6), VT_DTYPE_F32);
  set_input(&t, "dy0", fill_with_any_floats(dy, 5), VT_DTYPE_F32);
  run_on_first_device(&t);
  for (int64_t i = 0; i < 5; i++) want[i] = i == 1 || i == 3 ? dy[i] : 0.0f;
  expect_gradient(&t, 0, want, 5);
  for (int64_t i = 0; i < 6; i++) want[i] = last[i] ? dy[to[i]] : 0.0f;
  expect_gradient(&t, 2, want, 6);
  free_trial(&t);
}

/* At each position dy goes to the first value that equals the result: the base, then the updates in
 * order. -0 is below +0, and all NaN are one value. */
static void test_scatter_extreme_gradient(const char *op, const float *base, const float *updates,
                                          const int *update_wins, const int *base_wins) {
  static const int64_t to[8] = {0, 1, 2, 3, 0, 1, 2, 3};
  char body[200];
  snprintf(body, sizeof body,
           "input x: f32[5]\ninput i: i64[8] in 0..4\ninput u: f32[8]\noutput y = %s(x, i, u)", op);
  trial t = make_trial(body);
  set_input(&t, "x", base, VT_DTYPE_F32);
  set_input(&t, "i", to, VT_DTYPE_I64);
  set_input(&t, "u", updates, VT_DTYPE_F32);
  set_input(&t, "dy0", fill_with_ordinary_floats(dy, 5), VT_DTYPE_F32);
  run_on_first_device(&t);
  for (int64_t i = 0; i < 5; i++) want[i] = base_wins[i] ? dy[i] : 0.0f;
  expect_gradient(&t, 0, want, 5);
  for (int64_t i = 0; i < 8; i++) want[i] = update_wins[i] ? dy[to[i]] : 0.0f;
  expect_gradient(&t, 2, want, 8);
  free_trial(&t);
}

static void test_scatter_max_min_gradients(void) {
  static const float base[5] = {-0.0f, 1.0f, NAN, 2.0f, 3.0f};
  static const float u[8] = {0.0f, NAN, NAN, 5.0f, 0.0f, NAN, 7.0f, 5.0f};
  static const int first[8] = {1, 1, 0, 1, 0, 0, 0, 0}, base_first[5] = {0, 0, 1, 0, 1};
  test_scatter_extreme_gradient("scatter_max", base, u, first, base_first);
  static const float low[5] = {0.0f, 1.0f, 4.0f, NAN, 3.0f};
  static const float v[8] = {-0.0f, 1.0f, NAN, 5.0f, -0.0f, 1.0f, NAN, -INFINITY};
  static const int least[8] = {1, 0, 1, 0, 0, 0, 0, 0}, base_least[5] = {0, 1, 0, 1, 1};
  test_scatter_extreme_gradient("scatter_min", low, v, least, base_least);
}

static void test_sort_and_top_k_gradients(void) {
  static const float given[6] = {1.0f, NAN, -0.0f, 1.0f, 0.0f, -INFINITY};
  static const int64_t up[6] = {5, 2, 4, 0, 3, 1}, down[3] = {1, 0, 3};
  trial t = make_trial("input x: f32[6]\nv, i = sort(x)\noutput v");
  set_input(&t, "x", given, VT_DTYPE_F32);
  set_input(&t, "dy0", fill_with_any_floats(dy, 6), VT_DTYPE_F32);
  for (int64_t i = 0; i < 6; i++) want[up[i]] = dy[i];
  run_on_first_device(&t);
  expect_gradient(&t, 0, want, 6);
  free_trial(&t);
  trial k = make_trial("input x: f32[6]\nv, i = top_k(x, k=3)\noutput v");
  set_input(&k, "x", given, VT_DTYPE_F32);
  set_input(&k, "dy0", fill_with_any_floats(dy, 3), VT_DTYPE_F32);
  memset(want, 0, sizeof want);
  for (int64_t i = 0; i < 3; i++) want[down[i]] = dy[i];
  run_on_first_device(&k);
  expect_gradient(&k, 0, want, 6);
  free_trial(&k);
}

/* The gradient of dropout draws the same mask again, from the same seed, step and stream. */
static void test_dropout_gradient(void) {
  static const int64_t seed = 99, step = 3;
  trial t = make_trial(
      "input x: f32[300]\ninput s: i64[]\ninput t: i64[]\n"
      "output y = dropout(x, s, t, p=0.3, stream=7)");
  set_input(&t, "x", fill_with_any_floats(x, 300), VT_DTYPE_F32);
  set_input(&t, "s", &seed, VT_DTYPE_I64);
  set_input(&t, "t", &step, VT_DTYPE_I64);
  set_input(&t, "dy0", fill_with_any_floats(dy, 300), VT_DTYPE_F32);
  for (int64_t i = 0; i < 300; i++) {
    uint32_t words[4];
    vt_philox(99, 7, 3, (uint64_t)i / 4, words);
    want[i] = vt_philox_uniform(words, (uint64_t)i) >= 0.3f ? dy[i] * (float)(1 / (1 - 0.3)) : 0.0f;
  }
  run_on_first_device(&t);
  expect_gradient(&t, 0, want, 300);
  free_trial(&t);
}

/* Axis i of the result of transpose is axis perm[i] of x. Every axis moves, and all have different
 * lengths. */
static void test_transpose_gradient(void) {
  trial t = make_trial("input x: f32[2, 3, 4]\noutput y = transpose(x, perm=[1, 2, 0])");
  set_input(&t, "x", fill_with_any_floats(x, 24), VT_DTYPE_F32);
  set_input(&t, "dy0", fill_with_any_floats(dy, 24), VT_DTYPE_F32);
  for (int64_t i = 0; i < 24; i++) want[i] = dy[i / 4 % 3 * 8 + i % 4 * 2 + i / 12];
  run_on_first_device(&t);
  expect_gradient(&t, 0, want, 24);
  free_trial(&t);
}

/* Ops that reorder or mask x: the gradient moves each element of dy back, bit for bit. */
static void test_reordering_gradients(void) {
  static const struct {
    const char *call;
    int64_t back[6]; /* index in dy of dx[i]; -1 if dx[i] is +0 */
  } rows[] = {
      {"flip(x, axes=1)", {2, 1, 0, 5, 4, 3}},           {"roll(x, shift=-1)", {2, 0, 1, 5, 3, 4}},
      {"triu(x, k=1)", {-1, 1, 2, -1, -1, 5}},           {"tril(x)", {0, -1, -1, 3, 4, -1}},
      {"transpose(x, perm=[1, 0])", {0, 2, 4, 1, 3, 5}}, {"flatten(x)", {0, 1, 2, 3, 4, 5}},
      {"stack(x, axis=1)", {0, 1, 2, 3, 4, 5}},          {"concat(x, axis=0)", {0, 1, 2, 3, 4, 5}}};
  for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
    char body[100];
    snprintf(body, sizeof body, "input x: f32[2, 3]\noutput y = %s", rows[r].call);
    trial t = make_trial(body);
    set_input(&t, "x", fill_with_any_floats(x, 6), VT_DTYPE_F32);
    set_input(&t, "dy0", fill_with_any_floats(dy, 6), VT_DTYPE_F32);
    for (int64_t i = 0; i < 6; i++) want[i] = rows[r].back[i] < 0 ? 0.0f : dy[rows[r].back[i]];
    run_on_first_device(&t);
    expect_gradient(&t, 0, want, 6);
    free_trial(&t);
  }
}

int main(void) {
  for (int special = 0; special < 2; special++) {
    test_gather_gradient("gather", special);
    test_gather_gradient("embedding", special);
  }
  test_broadcast_gradient();
  test_tile_gradient();
  test_pad_gradients();
  test_slice_gradient();
  test_scatter_gradients();
  test_scatter_max_min_gradients();
  test_sort_and_top_k_gradients();
  test_dropout_gradient();
  test_transpose_gradient();
  test_reordering_gradients();
  TEST_DONE();
}
