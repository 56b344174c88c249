/* SPDX-License-Identifier: Apache-2.0
 * comp_test.c - every composition has two implementations: the ops that define it (on reference:0)
 * and its own kernel (on reference:1, where `whole` is 1). The conformance suite (tests/cts) runs
 * both and compares them. This test compares some of them with a third implementation in plain C,
 * and with known results. A trial is one model with its inputs and output, a `mix` the kind of its
 * random float inputs. S and D are the two ordered sums of docs/numerics.md. comp_test NAME... runs
 * only the named compositions. */
#include <stdarg.h>
#include "op_test.h"
#include "volta/volta_tools.h"

enum { MOST_INPUTS = 3, F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64 };
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Kinds of float inputs. ORDINARY: moderate; TINY: subnormal or nearly so; WIDE: of any exponent;
 * SPARSE: moderate with some special values; ANY: random bits; FLAT: all equal; ZEROS: +0 and
 * -0. */
enum { ORDINARY, TINY, WIDE, SPARSE, ANY, FLAT, ZEROS, MIXES };

typedef struct trial {
  const char *comp;    /* name of the composition */
  char text[400];      /* the model */
  int mix;             /* kind of the float inputs */
  int64_t below;       /* integer inputs are in 0 .. below-1; random bits if `below` is 0 */
  int64_t ignore;      /* the value of those integer elements that the op ignores */
  unsigned ignored;    /* how many of 8 integer elements are `ignore`, on average */
  int64_t bad, bad_at; /* an index out of range and its position; if `bad` is 0, there is none */
  /* run_trial sets the fields below. */
  uint32_t n_in;
  vt_tensor in[MOST_INPUTS], out;
  vt_status status;
  vt_diag diag;
} trial;

static uint64_t state = 20240229;

static void report_trial_failure(const trial *t, const char *what) {
  vt_test_failed++;
  fprintf(stderr, "%s, mix %d, seed %llu: %s\n%s", t->comp, t->mix, (unsigned long long)test_seed,
          what, t->text);
}

/* ---- inputs ---- */

static float draw_f32(int mix) {
  const uint64_t r = random_u64(&state);
  const uint32_t u = (uint32_t)r;
  switch (mix) {
    case TINY:
      return vt_f32_from_bits(u & 0x80ffffffu); /* subnormals and the smallest normal numbers */
    case WIDE:
      return vt_f32_from_bits((u & 0x807fffffu) | (uint32_t)((r >> 32) % 255) << 23);
    case SPARSE:
      return r >> 58 == 0 ? any_f32(&state) : ordinary_f32(&state);
    case ANY:
      return any_f32(&state);
    case FLAT:
      return 0.1f;
    case ZEROS:
      return vt_f32_from_bits(u & 0x80000000u);
    default:
      return ordinary_f32(&state);
  }
}

static double draw_f64(int mix) {
  const uint64_t r = random_u64(&state);
  switch (mix) {
    case TINY:
      return vt_f64_from_bits(r & UINT64_C(0x801fffffffffffff));
    case SPARSE:
      return r >> 58 == 0 ? any_f64(&state) : ordinary_f64(&state);
    case WIDE:
    case ANY:
      return any_f64(&state);
    case FLAT:
      return 0.1;
    case ZEROS:
      return vt_f64_from_bits(r & UINT64_C(1) << 63);
    default:
      return ordinary_f64(&state);
  }
}

/* Returns the bits of a random element of an input. */
static uint64_t draw_element_bits(const trial *t, uint32_t dtype) {
  const uint64_t r = random_u64(&state);
  if (dtype == F32) return vt_f32_bits(draw_f32(t->mix));
  if (dtype == F64) return vt_f64_bits(draw_f64(t->mix));
  if (t->below == 0) return any_bits(dtype, &state);
  if (r >> 61 < t->ignored) return (uint64_t)t->ignore;
  return r % (uint64_t)t->below;
}

/* Returns a tensor without data that has the type of the port; reads the dimensions from the text
 * of the type, as in "f32[2, 3]". */
static vt_tensor tensor_of_port_without_data(const vt_port_info *port) {
  vt_tensor x = {.dtype = port->dtype, .rank = port->rank};
  const char *s = strchr(port->type, '[') + 1;
  for (uint32_t i = 0; i < port->rank; i++) {
    char *rest;
    x.dim[i] = strtoll(s, &rest, 10);
    s = rest + 2;
  }
  return x;
}

static vt_tensor make_random_input(const trial *t, const vt_port_info *port) {
  vt_tensor x = tensor_of_port_without_data(port);
  uint64_t n = 0, bytes = 0;
  CHECK(vt_tensor_bytes(&x, &n, &bytes, NULL) == VT_OK);
  x.data = malloc((size_t)bytes + 1);
  const size_t size = vt_dtype_bytes(x.dtype);
  for (uint64_t i = 0; i < n; i++) {
    uint64_t bits = draw_element_bits(t, x.dtype);
    if (t->bad != 0 && x.dtype != F32 && i == (uint64_t)t->bad_at) bits = (uint64_t)t->bad;
    memcpy((char *)x.data + i * size, &bits, size);
  }
  return x;
}

/* ---- running ---- */

static vt_status set_inputs_and_run(trial *t, vt_program *p) {
  for (uint32_t i = 0; i < t->n_in; i++) {
    static const char *const names[MOST_INPUTS] = {"x", "y", "z"};
    VT_TRY(vt_program_set_input(p, names[i], &t->in[i], &t->diag));
  }
  return vt_program_run(p, &t->diag);
}

/* Checks that reference:0 decomposed the composition (whole is 0) and that reference:1 ran it as
 * one op (whole is 1). */
static void check_lowering(const trial *t, const vt_program *p, int whole) {
  char call[40];
  snprintf(call, sizeof call, " = %s(", t->comp);
  const int kept = strstr(vt_program_pass_text(p, "lower"), call) != NULL;
  if (kept != whole)
    report_trial_failure(t, whole ? "was decomposed on device 1" : "was kept on device 0");
}

static vt_program *open_program_on(trial *t, const vt_model *m, int whole) {
  const vt_options o = {.size = sizeof o, .backend = whole ? "reference:1" : "reference:0"};
  vt_program *p = NULL;
  t->diag = (vt_diag){0};
  if (vt_program_new(m, &o, &p, &t->diag) != VT_OK) report_trial_failure(t, t->diag.text);
  if (p != NULL) check_lowering(t, p, whole);
  return p;
}

static vt_tensor first_output(trial *t, vt_program *p) {
  const char *name;
  vt_tensor out = {0};
  if (vt_program_output(p, 0, &name, &out, &t->diag) != VT_OK)
    report_trial_failure(t, t->diag.text);
  return out;
}

static void compare_and_store_outputs(trial *t, vt_program *p, vt_program *q) {
  const vt_tensor a = first_output(t, p), b = first_output(t, q);
  vt_compare c = {.size = sizeof c};
  uint64_t n = 0, bytes = 0;
  if (vt_tensor_compare(&a, &b, &c, &t->diag) != VT_OK) report_trial_failure(t, t->diag.text);
  if (c.differing != 0) {
    char what[120];
    snprintf(what, sizeof what, "%llu of %llu differ, element %llu: %llx and %llx",
             (unsigned long long)c.differing, (unsigned long long)c.compared,
             (unsigned long long)c.first, (unsigned long long)c.first_a,
             (unsigned long long)c.first_b);
    report_trial_failure(t, what);
  }
  CHECK(vt_tensor_bytes(&a, &n, &bytes, NULL) == VT_OK && c.compared == n);
  t->out = a;
  t->out.data = malloc((size_t)bytes + 1);
  if (bytes > 0) memcpy(t->out.data, a.data, (size_t)bytes);
}

/* Checks that both devices report the same index fault. */
static void compare_index_faults(trial *t, vt_status s, const vt_diag *d) {
  char words[80];
  snprintf(words, sizeof words, "index %lld at position %lld is out of range", (long long)t->bad,
           (long long)t->bad_at);
  if (s != t->status || s != VT_RANGE || strstr(d->text, words) == NULL ||
      strstr(t->diag.text, words) == NULL)
    report_trial_failure(t, t->diag.text);
}

static void run_and_compare_devices(trial *t, const vt_model *m) {
  vt_program *p = open_program_on(t, m, 0), *q = open_program_on(t, m, 1);
  if (p != NULL && q != NULL) {
    const vt_status s = set_inputs_and_run(t, p);
    const vt_diag d = t->diag;
    t->diag = (vt_diag){0};
    t->status = set_inputs_and_run(t, q);
    if (t->bad == 0 && s == VT_OK && t->status == VT_OK) {
      compare_and_store_outputs(t, p, q);
    } else if (t->bad != 0) {
      compare_index_faults(t, s, &d);
    } else {
      report_trial_failure(t, s == VT_OK ? t->diag.text : d.text);
    }
  }
  vt_program_free(p);
  vt_program_free(q);
}

static void run_trial(trial *t) {
  vt_model *m = NULL;
  vt_port_info port;
  test_seed = state;
  if (vt_model_parse(t->text, strlen(t->text), NULL, &m, &t->diag) != VT_OK) {
    report_trial_failure(t, t->diag.text);
    return;
  }
  for (uint32_t i = 0; vt_model_port(m, i, &port) == VT_OK; i++)
    if (port.kind == VT_PORT_INPUT) t->in[t->n_in++] = make_random_input(t, &port);
  run_and_compare_devices(t, m);
  vt_model_free(m);
}

static void free_trial(trial *t) {
  for (uint32_t i = 0; i < t->n_in; i++) free(t->in[i].data);
  free(t->out.data);
}

/* Makes a trial of a model whose body is a printf format like "input x: f32[%d]\noutput r =
 * relu(x)". */
static trial VT_PRINTF(3, 4) make_trial(const char *comp, int mix, const char *format, ...) {
  trial t = {.comp = comp, .mix = mix};
  va_list ap;
  size_t at = (size_t)snprintf(t.text, sizeof t.text, "volta 1\nmodel m {\n");
  va_start(ap, format);
  at += (size_t)vsnprintf(t.text + at, sizeof t.text - at, format, ap);
  va_end(ap);
  snprintf(t.text + at, sizeof t.text - at, "\n}\n");
  return t;
}

static void run_and_free_trial(trial t) {
  run_trial(&t);
  free_trial(&t);
}

/* ---- the third implementation ---- */

/* Reports a failure and returns 0 unless element i of the output is `want`. */
static int check_output_element(const trial *t, int64_t i, float want) {
  const float got = ((const float *)t->out.data)[i];
  if (same_f32(got, want)) return 1;
  char what[120];
  snprintf(what, sizeof what, "element %lld is %08x, the plain form gives %08x", (long long)i,
           (unsigned)vt_f32_bits(got), (unsigned)vt_f32_bits(want));
  report_trial_failure(t, what);
  return 0;
}

/* ---- activations ---- */

/* These decimal constants round to the same floats as those in the definition of gelu. */
static float plain_gelu(float x) {
  return (0.5f * x) * (1.0f + vt_f32_erf(x * 0.70710678118654752f));
}

static float plain_gelu_tanh(float x) {
  const float cubic = 0.044715f * ((x * x) * x);
  return (0.5f * x) * (1.0f + vt_f32_tanh(0.7978845608028654f * (x + cubic)));
}

static void test_against_plain(const char *name, float (*plain)(float)) {
  for (int mix = 0; mix < MIXES; mix++) {
    trial t = make_trial(name, mix, "input x: f32[500]\noutput r = %s(x)", name);
    run_trial(&t);
    const float *x = t.in[0].data;
    for (int64_t i = 0; t.out.data != NULL && i < 500; i++)
      if (!check_output_element(&t, i, plain(x[i]))) break;
    free_trial(&t);
  }
}

static void test_gelu(void) { test_against_plain("gelu", plain_gelu); }
static void test_gelu_tanh(void) { test_against_plain("gelu_tanh", plain_gelu_tanh); }

/* ---- along one axis ---- */

static const int lengths[] = {1, 2, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025};

static float greatest(const float *x, int64_t n) {
  float m = x[0];
  for (int64_t i = 1; i < n; i++)
    if (comes_above((double)x[i], (double)m)) m = x[i];
  return m;
}

static void check_plain_softmax(const trial *t, int64_t rows, int64_t n) {
  float e[1100];
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)t->in[0].data + r * n;
    const float m = greatest(x, n);
    for (int64_t i = 0; i < n; i++) e[i] = vt_f32_exp(x[i] - m);
    const float sum = s_f32(e, n);
    for (int64_t i = 0; i < n; i++)
      if (!check_output_element(t, r * n + i, e[i] / sum)) return;
  }
}

static void test_softmax(void) {
  for (size_t i = 0; i < COUNT(lengths); i++)
    for (int mix = 0; mix < MIXES; mix++) {
      trial t =
          make_trial("softmax", mix, "input x: f32[3, %d]\noutput r = softmax(x)", lengths[i]);
      run_trial(&t);
      if (t.out.data != NULL) check_plain_softmax(&t, 3, lengths[i]);
      free_trial(&t);
    }
}

/* ---- norms ---- */

static void check_plain_layer_norm(const trial *t, int64_t rows, int64_t n, float eps) {
  const float *gamma = t->in[1].data, *beta = t->in[2].data;
  float d[1100], square[1100];
  for (int64_t r = 0; r < rows; r++) {
    const float *x = (const float *)t->in[0].data + r * n;
    const float u = s_f32(x, n) / (float)n;
    for (int64_t i = 0; i < n; i++) d[i] = x[i] - u;
    for (int64_t i = 0; i < n; i++) square[i] = d[i] * d[i];
    const float v = s_f32(square, n) / (float)n;
    const float scale = 1.0f / (float)sqrt((double)(v + eps));
    for (int64_t i = 0; i < n; i++)
      if (!check_output_element(t, r * n + i, ((d[i] * scale) * gamma[i]) + beta[i])) return;
  }
}

static void test_layer_norm(void) {
  for (size_t i = 0; i < COUNT(lengths); i++)
    for (int mix = 0; mix < MIXES; mix++) {
      trial t = make_trial("layer_norm", mix,
                           "input x: f32[3, %d]\ninput y: f32[%d]\ninput z: f32[%d]\n"
                           "output r = layer_norm(x, y, z, eps=0.1)",
                           lengths[i], lengths[i], lengths[i]);
      run_trial(&t);
      if (t.out.data != NULL) check_plain_layer_norm(&t, 3, lengths[i], 0.1f);
      free_trial(&t);
    }
}

/* ---- embedding ---- */

static void run_embedding_with_bad_index(const char *table_type, const char *table_shape,
                                         const char *index_type, int64_t below, int64_t bad,
                                         int64_t bad_at) {
  trial t = make_trial("embedding", ANY, "input x: %s[%s]\ninput y: %s\noutput r = embedding(x, y)",
                       table_type, table_shape, index_type);
  t.below = below;
  t.bad = bad;
  t.bad_at = bad_at;
  run_and_free_trial(t);
}

static void test_embedding_bad_index(void) {
  /* An index out of range fails even if the rows of the table have no elements. */
  run_embedding_with_bad_index("f32", "4, 0", "i64[3]", 4, 9, 1);
  run_embedding_with_bad_index("f32", "4, 2", "i32[2, 3]", 4, -1, 0);
  run_embedding_with_bad_index("f32", "4, 2", "i32[2, 3]", 4, 4, 5);
  run_embedding_with_bad_index("f32", "4, 2", "i64[2, 3]", 4, INT64_MIN, 3);
}

/* ---- attention ---- */

/* Sizes: b batch, h query heads, g key heads, tq queries, tk keys, d length of a key, e length of a
 * value. */
typedef struct heads {
  int b, h, g, tq, tk, d, e;
} heads;

static trial attention_trial(const heads *s, int mix, const char *attributes) {
  return make_trial("attention", mix,
                    "input x: f32[%d, %d, %d, %d]\ninput y: f32[%d, %d, %d, %d]\n"
                    "input z: f32[%d, %d, %d, %d]\noutput r = attention(x, y, z%s)",
                    s->b, s->h, s->tq, s->d, s->b, s->g, s->tk, s->d, s->b, s->g, s->tk, s->e,
                    attributes);
}

/* Checks the result of query i of head h. A key that the causal mask hides is left out of the
 * maximum of the scores, counts as +0 in the sum S of the weights, and is skipped in the sum D of
 * the weighted values. */
static int check_plain_attention_query(const trial *t, const heads *s, int64_t b, int64_t h,
                                       int64_t i, float scale) {
  const int64_t group = b * s->g + h * s->g / s->h, head = b * s->h + h;
  const float *q = (const float *)t->in[0].data + (head * s->tq + i) * s->d;
  const float *k = (const float *)t->in[1].data + group * s->tk * s->d;
  const float *v = (const float *)t->in[2].data + group * s->tk * s->e;
  float score[300], e[300] = {0}, column[300];
  uint8_t seen[300] = {0};
  int64_t n = 0;
  for (int64_t j = 0; j < s->tk; j++) {
    seen[j] = j <= i + s->tk - s->tq;
    if (seen[j]) score[n++] = d_f32(q, k + j * s->d, NULL, s->d) * scale;
  }
  for (int64_t j = 0; j < n; j++) e[j] = vt_f32_exp(score[j] - greatest(score, n));
  const float sum = s_f32(e, s->tk);
  for (int64_t c = 0; c < s->e; c++) {
    for (int64_t j = 0; j < s->tk; j++) column[j] = v[j * s->e + c];
    const float o = n == 0 ? 0.0f : d_f32(e, column, seen, s->tk) / sum;
    if (!check_output_element(t, (head * s->tq + i) * s->e + c, o)) return 0;
  }
  return 1;
}

static void check_plain_attention(const trial *t, const heads *s, float scale) {
  for (int64_t b = 0; b < s->b; b++)
    for (int64_t h = 0; h < s->h; h++)
      for (int64_t i = 0; i < s->tq; i++)
        if (!check_plain_attention_query(t, s, b, h, i, scale)) return;
}

/* In the last three rows d is 6, 7 and 17; then 1 / sqrt(d) depends on the rounding of sqrt(d). */
static const heads attentions[] = {
    {1, 1, 1, 1, 1, 1, 1},   {2, 4, 4, 5, 5, 8, 8},    {1, 6, 2, 3, 3, 4, 5},
    {2, 4, 1, 2, 2, 3, 1},   {1, 2, 2, 2, 7, 4, 4},    {1, 2, 1, 7, 2, 4, 4},
    {2, 2, 2, 3, 0, 4, 4},   {1, 2, 2, 0, 3, 4, 4},    {0, 2, 1, 3, 3, 4, 4},
    {1, 0, 1, 3, 3, 4, 4},   {1, 2, 2, 3, 3, 0, 4},    {1, 2, 2, 3, 3, 4, 0},
    {1, 1, 1, 2, 31, 8, 2},  {1, 1, 1, 33, 33, 33, 3}, {1, 2, 1, 2, 256, 4, 2},
    {1, 1, 1, 3, 257, 4, 2}, {1, 1, 1, 2, 40, 257, 2}, {1, 2, 2, 9, 9, 6, 3},
    {1, 2, 1, 9, 9, 7, 3},   {1, 1, 1, 9, 9, 17, 3}};

static void test_attention_against_plain(const heads *s, int mix, const char *attributes,
                                         float scale) {
  trial t = attention_trial(s, mix, attributes);
  run_trial(&t);
  if (t.out.data != NULL) check_plain_attention(&t, s, scale);
  free_trial(&t);
}

static void test_causal_attention(void) {
  for (size_t i = 0; i < COUNT(attentions); i++)
    for (int mix = 0; mix < MIXES; mix++) {
      const heads *s = &attentions[i];
      /* sqrt(d) is rounded, and 1 / root is rounded again. */
      const float root = (float)sqrt((double)s->d);
      test_attention_against_plain(s, mix, ", causal=true", 1.0f / root);
      test_attention_against_plain(s, mix, ", causal=true, scale=0.3", 0.3f);
    }
}

/* NaN and infinity in values and keys that the mask hides must not reach the result. */
static void test_attention_hides_masked(void) {
  const heads s = {1, 1, 1, 3, 3, 2, 2};
  trial t = attention_trial(&s, ORDINARY, ", causal=true");
  vt_model *m = NULL;
  CHECK(vt_model_parse(t.text, strlen(t.text), NULL, &m, NULL) == VT_OK);
  for (int i = 0; i < 3; i++) {
    t.in[i] = (vt_tensor){F32, 4, {1, 1, 3, 2}, malloc(6 * sizeof(float))};
    for (int j = 0; j < 6; j++) /* values so small that softmax makes no weight 0 */
      ((float *)t.in[i].data)[j] = (float)(j + 1) / 8;
  }
  t.n_in = 3;
  for (int j = 2; j < 6; j++)
    ((float *)t.in[2].data)[j] = j % 2 ? INFINITY : NAN; /* NaN, inf in value rows 1 and 2 */
  ((float *)t.in[1].data)[4] = NAN;                      /* in key 2 */
  run_and_compare_devices(&t, m);
  const float *o = t.out.data;
  CHECK(o != NULL && o[0] == ((float *)t.in[2].data)[0] && o[1] == ((float *)t.in[2].data)[1]);
  CHECK(o != NULL && isnan(o[2]) && isinf(o[3]) && isnan(o[4]) && isnan(o[5]));
  vt_model_free(m);
  free_trial(&t);
}

/* A query that sees no key gives +0, not -0 and not NaN. */
static void test_attention_without_keys(void) {
  const heads s = {1, 2, 2, 5, 2, 3, 4};
  trial t = attention_trial(&s, ANY, ", causal=true");
  run_trial(&t);
  for (int h = 0; t.out.data != NULL && h < 2; h++)
    for (int i = 0; i < 3 * 4; i++) CHECK(vt_f32_bits(((float *)t.out.data)[h * 20 + i]) == 0);
  free_trial(&t);
}

static void test_all_attention(void) {
  test_causal_attention();
  test_attention_hides_masked();
  test_attention_without_keys();
}

/* ---- cross_entropy ---- */

static trial entropy_trial(int mix, const char *logits_shape, const char *target_type,
                           int64_t classes, int64_t ignore, unsigned eighths_ignored) {
  trial t = make_trial("cross_entropy", mix,
                       "input x: f32[%s]\ninput y: %s\noutput r = cross_entropy(x, y, ignore=%lld)",
                       logits_shape, target_type, (long long)ignore);
  t.below = classes;
  t.ignore = ignore;
  t.ignored = eighths_ignored;
  return t;
}

static void test_entropy_bad_target(void) {
  static const int64_t bad[] = {-1, 7, -101, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < COUNT(bad); i++) {
    trial t = entropy_trial(ORDINARY, "2, 5, 7", "i32[2, 5]", 7, -100, 2);
    t.bad = bad[i];
    t.bad_at = (int64_t)i * 2;
    run_and_free_trial(t);
  }
}

/* With two equal logits the loss is log 2, whichever class is the target. */
static void test_entropy_known_value(void) {
  trial t = entropy_trial(FLAT, "2, 2", "i32[2]", 2, -100, 0);
  run_trial(&t);
  if (t.out.data != NULL) check_output_element(&t, 0, vt_f32_log(2.0f));
  free_trial(&t);
}

static void test_all_entropy(void) {
  test_entropy_bad_target();
  test_entropy_known_value();
}

/* ---- the list of tests ---- */

static const struct {
  const char *name;
  void (*test)(void);
} comps[] = {{"gelu", test_gelu},
             {"gelu_tanh", test_gelu_tanh},
             {"softmax", test_softmax},
             {"layer_norm", test_layer_norm},
             {"embedding", test_embedding_bad_index},
             {"attention", test_all_attention},
             {"cross_entropy", test_all_entropy}};

static int is_selected(const char *name, int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], name) == 0) return 1;
  return argc < 2;
}

int main(int argc, char **argv) {
  for (size_t i = 0; i < COUNT(comps); i++)
    if (is_selected(comps[i].name, argc, argv)) comps[i].test();
  TEST_DONE();
}
