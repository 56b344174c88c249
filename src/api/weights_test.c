/* SPDX-License-Identifier: Apache-2.0
 * weights_test.c - tests weights as an object: the public functions with good and bad arguments,
 * digests, the comparison with a model, references, threads, and every allocation that fails. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "vt_test.h"
#include "volta/volta_tools.h"
#include "weights.h"

static char folder[] = "/tmp/volta-weights-XXXXXX";

static const char *file_path(const char *name) {
  static char path[16][256];
  static unsigned at;
  char *p = path[at++ % 16];
  snprintf(p, sizeof path[0], "%s/%s", folder, name);
  return p;
}

static vt_tensor vector(uint32_t dtype, int64_t n, void *data) {
  return (vt_tensor){.dtype = dtype, .rank = 1, .dim = {n}, .data = data};
}

/* A diag as a caller leaves it who does not clear it after a failure. */
static vt_diag stale_diag(void) {
  return (vt_diag){.code = VT_BUDGET, .line = 7, .text = "stale", .hint = "stale"};
}

/* Checks the diag after a call with a stale one. */
static void check_fresh(const vt_diag *d, vt_status want) {
  CHECK(d->code == want && strstr(d->text, "stale") == NULL && strstr(d->hint, "stale") == NULL);
  CHECK((want == VT_OK) == (d->text[0] == '\0') && d->line == 0);
}

/* ---- a small set of weights ---- */

static float w_data[4] = {1, 2, 3, 4};
static uint16_t b_data[2] = {0x3c00, 0xffff}; /* the second is a NaN that is not canonical */
static double scale_data[1] = {0.1};

static vt_weights *make_weights(const vt_weights_options *o) {
  static const char *const names[] = {"w", "b", "scale"};
  const vt_tensor t[] = {
      {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {2, 2}, .data = w_data},
      vector(VT_DTYPE_F16, 2, b_data),
      {.dtype = VT_DTYPE_F64, .rank = 0, .data = scale_data},
  };
  vt_weights *w = NULL;
  vt_diag d = stale_diag();
  CHECK(vt_weights_copy(3, names, t, o, &w, &d) == VT_OK);
  check_fresh(&d, VT_OK);
  if (w == NULL) exit(1);
  return w;
}

static vt_weights *read_weights(const char *path, const vt_weights_options *o) {
  vt_weights *w = NULL;
  vt_diag d = stale_diag();
  CHECK(vt_weights_read(1, &path, o, &w, &d) == VT_OK);
  check_fresh(&d, VT_OK);
  if (w == NULL) exit(1);
  return w;
}

/* ---- what weights hold ---- */

static void check_contents(const vt_weights *w, const char *path) {
  static const char *const names[] = {"b", "scale", "w"};
  static const uint32_t types[] = {VT_DTYPE_F16, VT_DTYPE_F64, VT_DTYPE_F32};
  _Alignas(8) uint8_t to[32];
  CHECK(vt_weights_count(w) == 3);
  for (uint32_t i = 0; i < 3; i++) {
    vt_weight_info info = {.size = sizeof info};
    vt_diag d = stale_diag();
    CHECK(vt_weights_info(w, i, &info, &d) == VT_OK);
    check_fresh(&d, VT_OK);
    CHECK(strcmp(info.name, names[i]) == 0 && strcmp(info.name_read, names[i]) == 0);
    CHECK(info.dtype == types[i] && info.rank == (i == 0 ? 1 : i == 1 ? 0 : 2));
    CHECK(path == NULL ? info.path == NULL : strcmp(info.path, path) == 0);
    CHECK(i != 2 || (info.dim[0] == 2 && info.dim[1] == 2));
  }
  vt_diag d = stale_diag();
  CHECK(vt_weights_get(w, 2, to, &d) == VT_OK && memcmp(to, w_data, sizeof w_data) == 0);
  check_fresh(&d, VT_OK);
  CHECK(vt_weights_get(w, 0, to, NULL) == VT_OK && memcmp(to, "\0\x3c\0\x7e", 4) == 0);
  /* An address that is not aligned works too. */
  CHECK(vt_weights_get(w, 1, to + 1, NULL) == VT_OK && memcmp(to + 1, scale_data, 8) == 0);
  vt_weight_info cut = {.size = 8, .rank = 99};
  CHECK(vt_weights_info(w, 2, &cut, NULL) == VT_OK && cut.dtype == VT_DTYPE_F32);
  CHECK(cut.rank == 99 && cut.size == 8); /* only `size` bytes were written */
}

static void test_contents(void) {
  static const char *const names[] = {"w", "b", "scale"};
  vt_weights *w = make_weights(NULL);
  check_contents(w, NULL);
  vt_weights_free(w);
  const vt_tensor t[] = {{.dtype = VT_DTYPE_F32, .rank = 2, .dim = {2, 2}, .data = w_data},
                         vector(VT_DTYPE_F16, 2, b_data),
                         {.dtype = VT_DTYPE_F64, .rank = 0, .data = scale_data}};
  const char *path = file_path("w.safetensors");
  CHECK(vt_safetensors_write(path, 3, names, t, NULL) == VT_OK);
  w = read_weights(path, NULL);
  check_contents(w, path);
  vt_weights_free(w);
}

/* Many elements are read to an address that is not aligned, in pieces. */
static void test_unaligned(void) {
  enum { N = 20000 };
  static uint32_t data[N];
  static uint8_t to[4 * N + 1];
  static const char *const name = "x";
  const vt_tensor t = vector(VT_DTYPE_I32, N, data);
  vt_weights *w = NULL;
  for (uint32_t i = 0; i < N; i++) data[i] = i * 2654435761u;
  CHECK(vt_weights_copy(1, &name, &t, NULL, &w, NULL) == VT_OK);
  CHECK(vt_weights_get(w, 0, to + 1, NULL) == VT_OK && memcmp(to + 1, data, sizeof data) == 0);
  vt_weights_free(w);
}

/* ---- bad arguments ---- */

static void test_bad_arguments(void) {
  const char *path = file_path("w.safetensors"), *none = NULL, *name = "x";
  const vt_weights_options zero = {.size = 0}, odd = {.size = sizeof odd, .convert = 2},
                           odder = {.size = sizeof odd, .ignore_extra = 7};
  const vt_tensor t = vector(VT_DTYPE_F32, 4, w_data);
  vt_weights *w = make_weights(NULL), *out = w;
  vt_weight_info info = {.size = 0};
  vt_model *m = NULL;
  uint8_t digest[32];
  char to[64];
  vt_diag d;
  static const char text[] = "volta 1\nmodel m {\n input x: f32[1]\n output y = x\n}\n";
  CHECK(vt_model_parse(text, sizeof text - 1, NULL, &m, NULL) == VT_OK);
#define CHECK_REFUSED(want, call) \
  do {                            \
    d = stale_diag();             \
    CHECK((call) == (want));      \
    check_fresh(&d, (want));      \
    CHECK(out == w);              \
  } while (0)
  CHECK_REFUSED(VT_USAGE, vt_weights_read(1, &path, NULL, NULL, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_read(0, &path, NULL, &out, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_read(1, NULL, NULL, &out, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_read(1, &none, NULL, &out, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_read(1, &path, &zero, &out, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_read(1, &path, &odd, &out, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_read(1, &path, &odder, &out, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_copy(1, &name, &t, NULL, NULL, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_copy(1, NULL, &t, NULL, &out, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_copy(1, &none, &t, NULL, &out, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_copy(1, &name, NULL, NULL, &out, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_copy(1, &name, &t, &zero, &out, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_info(w, 0, &info, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_info(w, 0, NULL, &d));
  info.size = sizeof info;
  CHECK_REFUSED(VT_USAGE, vt_weights_info(NULL, 0, &info, &d));
  CHECK_REFUSED(VT_RANGE, vt_weights_info(w, 3, &info, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_get(NULL, 0, to, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_get(w, 0, NULL, &d));
  CHECK_REFUSED(VT_RANGE, vt_weights_get(w, 3, to, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_digest(NULL, digest, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_digest(w, NULL, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_check(NULL, m, &d));
  CHECK_REFUSED(VT_USAGE, vt_weights_check(w, NULL, &d));
#undef CHECK_REFUSED
  CHECK(vt_weights_read(1, &none, NULL, NULL, NULL) == VT_USAGE); /* without a diag too */
  CHECK(vt_weights_count(NULL) == 0 && vt_weights_retain(NULL) == NULL);
  vt_weights_free(NULL);
  vt_model_free(m);
  vt_weights_free(w);
}

/* ---- the digest ---- */

/* The digest is that of a run with the same outputs: names before renaming, canonical NaN, and the
 * elements as the file has them. */
static void test_digest(void) {
  static const char text[] =
      "volta 1\nmodel m {\n input w: f32[2, 2]\n input z: f32[300000]\n output a = w * f32(1)\n"
      " output m = z * f32(1)\n}\n";
  static const char *const names[] = {"m", "a"};
  enum { N = 300000 }; /* more than one leaf of the digest, and not a whole number of leaves */
  static float z[N];
  for (int i = 0; i < N; i++) z[i] = (float)(i % 1000);
  const vt_tensor big = vector(VT_DTYPE_F32, N, z),
                  small = {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {2, 2}, .data = w_data};
  const vt_tensor t[2] = {big, small};
  const vt_options o = {.size = sizeof o, .backend = "reference"};
  vt_model *m = NULL;
  vt_program *p = NULL;
  uint8_t want[32], got[32];
  CHECK(vt_model_parse(text, sizeof text - 1, NULL, &m, NULL) == VT_OK);
  CHECK(vt_program_new(m, &o, &p, NULL) == VT_OK);
  CHECK(vt_program_set_input(p, "w", &small, NULL) == VT_OK);
  CHECK(vt_program_set_input(p, "z", &big, NULL) == VT_OK);
  CHECK(vt_program_run(p, NULL) == VT_OK && vt_program_digest(p, want, NULL) == VT_OK);
  vt_program_free(p);
  vt_model_free(m);
  const char *path = file_path("digest.npz");
  CHECK(vt_npz_write(path, 2, names, t, NULL) == VT_OK);
  static const char *const maps[] = {NULL, "a = z", "m = 0\n*=x.*"};
  for (int i = 0; i < 3; i++) {
    const vt_weights_options wo = {.size = sizeof wo, .map = maps[i], .convert = 1};
    vt_weights *w = read_weights(path, &wo);
    vt_diag d = stale_diag();
    memset(got, 0, sizeof got);
    CHECK(vt_weights_digest(w, got, &d) == VT_OK && memcmp(got, want, sizeof want) == 0);
    check_fresh(&d, VT_OK);
    vt_weights_free(w);
  }
  const vt_weights_options drop = {.size = sizeof drop, .map = "m ="};
  vt_weights *w = read_weights(path, &drop);
  CHECK(vt_weights_digest(w, got, NULL) == VT_OK && memcmp(got, want, sizeof want) != 0);
  vt_weights_free(w);
  w = make_weights(NULL);
  CHECK(vt_weights_digest(w, got, NULL) == VT_OK);
  b_data[1] = 0x7e00; /* the canonical NaN gives the same digest */
  vt_weights *again = make_weights(NULL);
  CHECK(vt_weights_digest(again, want, NULL) == VT_OK && memcmp(got, want, 32) == 0);
  b_data[1] = 0xffff;
  vt_weights_free(again);
  vt_weights_free(w);
  CHECK(unlink(path) == 0);
}

/* ---- the comparison with a model ---- */

/* Compares weights of f32 vectors of these names, separated by blanks, with a model whose
 * parameters are f32[2] vectors of the names in `params`. */
static void check_fit(const char *params, const char *names, uint32_t ignore_extra, vt_status want,
                      const char *says) {
  char model[4096] = "volta 1\nmodel m {\n  input x: f32[2]\n", list[4096], buffer[4096];
  const char *row[64];
  vt_tensor t[64];
  uint32_t n = 0;
  char *save = NULL;
  snprintf(buffer, sizeof buffer, "%s", params);
  for (char *p = strtok_r(buffer, " ", &save); p != NULL; p = strtok_r(NULL, " ", &save)) {
    const size_t at = strlen(model);
    snprintf(model + at, sizeof model - at, "  param %s: f32[2] = zeros\n", p);
  }
  const size_t at = strlen(model);
  snprintf(model + at, sizeof model - at, "  output y = x\n}\n");
  snprintf(list, sizeof list, "%s", names);
  for (char *p = strtok_r(list, " ", &save); p != NULL; p = strtok_r(NULL, " ", &save)) {
    t[n] = vector(VT_DTYPE_F32, 2, w_data);
    row[n++] = p;
  }
  const vt_weights_options o = {.size = sizeof o, .ignore_extra = ignore_extra};
  vt_model *m = NULL;
  vt_weights *w = NULL;
  vt_diag d = {.code = VT_OK};
  CHECK(vt_model_parse(model, strlen(model), NULL, &m, &d) == VT_OK);
  if (m == NULL) fprintf(stderr, "  %s\n", d.text);
  CHECK(vt_weights_copy(n, row, t, &o, &w, NULL) == VT_OK);
  d = stale_diag();
  const vt_status s = vt_weights_check(w, m, &d);
  CHECK(s == want && strcmp(d.text, says) == 0);
  check_fresh(&d, want);
  if (strcmp(d.text, says) != 0) fprintf(stderr, "  %s\n", d.text);
  vt_weights_free(w);
  vt_model_free(m);
}

static void test_names_against_model(void) {
  check_fit("a b", "b a", 0, VT_OK, "");
  check_fit("", "", 0, VT_OK, "");
  check_fit("a b", "b", 0, VT_NAME, "the weights do not fit model m: missing: 'a'");
  check_fit("a", "a c d", 0, VT_NAME, "the weights do not fit model m: not parameters: 'c', 'd'");
  check_fit("a", "a c d", 1, VT_OK, "");
  check_fit("a b", "a c", 1, VT_NAME, "the weights do not fit model m: missing: 'b'");
  check_fit("weight bias", "wieght bias", 0, VT_NAME,
            "the weights do not fit model m: missing: 'weight'; not parameters: 'wieght' (like "
            "'weight'?)");
  check_fit("bias", "encoder.layer.bias", 0, VT_NAME,
            "the weights do not fit model m: missing: 'bias'; not parameters: 'encoder.layer.bias' "
            "(like 'bias'?)");
  /* a parameter that has its tensor is not what another tensor was meant for */
  check_fit("weight bias", "weight wieght", 0, VT_NAME,
            "the weights do not fit model m: missing: 'bias'; not parameters: 'wieght'");
}

/* Many names are cut, and each section keeps its place in the message. */
static void test_long_message(void) {
  vt_model *m = NULL;
  vt_weights *w = NULL;
  vt_diag d = {.code = VT_OK};
  char model[8192] = "volta 1\nmodel m {\n  dim B\n  input x: f32[2]\n", names[64][80];
  const char *row[64];
  vt_tensor t[64];
  for (uint32_t i = 0; i < 20; i++) {
    const size_t at = strlen(model);
    snprintf(model + at, sizeof model - at,
             "  param missing_parameter_%02u: f32[2] = zeros\n"
             "  param other_parameter_%02u: f32[2, B, 3] = zeros\n",
             i, i);
    snprintf(names[i], sizeof names[i], "left.over.%02u", i);
    snprintf(names[20 + i], sizeof names[20 + i], "other_parameter_%02u", i);
    t[i] = t[20 + i] = vector(VT_DTYPE_F32, 2, w_data);
  }
  for (uint32_t i = 0; i < 40; i++) row[i] = names[i];
  const size_t at = strlen(model);
  snprintf(model + at, sizeof model - at, "  output y = x\n}\n");
  CHECK(vt_model_parse(model, strlen(model), NULL, &m, &d) == VT_OK);
  CHECK(vt_weights_copy(40, row, t, NULL, &w, &d) == VT_OK);
  CHECK(vt_weights_check(w, m, &d) == VT_NAME);
  CHECK(
      strcmp(d.text,
             "the weights do not fit model m: missing: 'missing_parameter_00', "
             "'missing_parameter_01', 'missing_parameter_02', 'missing_parameter_03' and 16 more; "
             "not parameters: 'left.over.00', 'left.over.01', 'left.over.02', 'left.over.03', "
             "'left.over.04', 'left.over.05', 'left.over.06' and 13 more; of another type: "
             "'other_parameter_00' is "
             "f32[2], not f32[2, B, 3], 'other_parameter_01' is f32[2], not f32[2, B, 3], "
             "'other_parameter_02' is f32[2], not f32[2, B, 3] and 17 more") == 0);
  CHECK(strlen(d.text) < sizeof d.text - 1);
  if (vt_test_failed) fprintf(stderr, "  %s\n", d.text);
  vt_weights_free(w);
  vt_model_free(m);
}

static void check_type(const char *param, vt_tensor t, uint32_t convert, vt_status want,
                       const char *says) {
  char model[512];
  static const char *const name = "w";
  const vt_weights_options o = {.size = sizeof o, .convert = convert};
  snprintf(model, sizeof model,
           "volta 1\nmodel m {\n  dim B\n  input x: f32[B]\n  param w: %s = zeros\n"
           "  output y = x\n}\n",
           param);
  vt_model *m = NULL;
  vt_weights *w = NULL;
  vt_diag d = {.code = VT_OK};
  CHECK(vt_model_parse(model, strlen(model), NULL, &m, &d) == VT_OK);
  CHECK(vt_weights_copy(1, &name, &t, &o, &w, NULL) == VT_OK);
  CHECK(vt_weights_check(w, m, &d) == want && strstr(d.text, says) != NULL);
  if (d.code != want) fprintf(stderr, "  %s %s: %s\n", param, says, d.text);
  vt_weights_free(w);
  vt_model_free(m);
}

static void test_types_against_model(void) {
  static uint8_t zeros[64];
  const vt_tensor f32x4 = vector(VT_DTYPE_F32, 4, zeros), f16x4 = vector(VT_DTYPE_F16, 4, zeros),
                  f64x4 = vector(VT_DTYPE_F64, 4, zeros), i32x4 = vector(VT_DTYPE_I32, 4, zeros),
                  bf16x4 = vector(VT_DTYPE_BF16, 4, zeros);
  check_type("f32[4]", f32x4, 0, VT_OK, "");
  check_type("f32[B]", f32x4, 0, VT_OK, ""); /* compared when a program is created */
  check_type("f32[B + 1]", f32x4, 0, VT_OK, "");
  check_type("f32[4, B]", f32x4, 0, VT_TENSOR, "of another type: 'w' is f32[4], not f32[4, B]");
  check_type("f32[5]", f32x4, 0, VT_TENSOR, "'w' is f32[4], not f32[5]");
  check_type("f32[4]", f16x4, 0, VT_TENSOR, "'w' is f16[4], not f32[4]");
  check_type("f32[4]", f16x4, 1, VT_OK, "");
  check_type("f32[4]", bf16x4, 1, VT_OK, "");
  check_type("f32[4]", f64x4, 1, VT_OK, "");
  check_type("f32[3]", f64x4, 1, VT_TENSOR, "'w' is f64[4], not f32[3]");
  check_type("f32[4]", i32x4, 1, VT_TENSOR, "'w' is i32[4], not f32[4]");
  check_type("f16[4]", f32x4, 1, VT_TENSOR, "'w' is f32[4], not f16[4]");
  check_type("f64[4]", f32x4, 1, VT_TENSOR, "'w' is f32[4], not f64[4]");
  check_type("f64[4]", f16x4, 1, VT_TENSOR, "'w' is f16[4], not f64[4]");
  check_type("bf16[4]", f16x4, 1, VT_TENSOR, "'w' is f16[4], not bf16[4]");
  check_type("i64[4]", i32x4, 1, VT_TENSOR, "'w' is i32[4], not i64[4]");
}

static void test_hints(void) {
  vt_weights *w = make_weights(NULL);
  vt_model *m = NULL;
  vt_diag d = {.code = VT_OK};
  static const char text[] =
      "volta 1\nmodel m {\n input x: f32[1]\n param w: f32[2, 2] = zeros\n"
      " param b: f32[2] = zeros\n param scales: f32[1] = zeros\n"
      " output y = x\n}\n";
  CHECK(vt_model_parse(text, sizeof text - 1, NULL, &m, &d) == VT_OK);
  CHECK(vt_weights_check(w, m, &d) == VT_NAME);
  CHECK(strcmp(d.hint,
               "--params-map renames tensors; --ignore-extra accepts tensors that are not "
               "parameters; --convert-params rounds f16, bf16 and f64 to f32") == 0);
  CHECK(strstr(d.text, "'scale' (like 'scales'?); of another type: 'b' is f16[2], not f32[2]") !=
        NULL);
  vt_model_free(m);
  vt_weights_free(w);
}

/* ---- files, references, threads ---- */

static void test_changed_file(void) {
  const char *path = file_path("w.safetensors");
  vt_weights *w = read_weights(path, NULL);
  uint8_t digest[32];
  float to[4];
  vt_diag d = stale_diag();
  FILE *f = fopen(path, "ab");
  if (f != NULL) CHECK(fputc(0, f) == 0 && fclose(f) == 0);
  CHECK(vt_weights_get(w, 2, to, &d) == VT_IO);
  check_fresh(&d, VT_IO);
  d = stale_diag();
  CHECK(vt_weights_digest(w, digest, &d) == VT_IO);
  check_fresh(&d, VT_IO);
  vt_weights_free(w);
}

/* The diag of a bad rule has its line. */
static void test_bad_map(void) {
  const vt_tensor t = vector(VT_DTYPE_F32, 4, w_data);
  const char *const name = "a";
  const vt_weights_options o = {.size = sizeof o, .map = "# rules\na = *"};
  vt_weights *w = NULL;
  vt_diag d = stale_diag();
  CHECK(vt_weights_copy(1, &name, &t, &o, &w, &d) == VT_FORMAT && w == NULL);
  CHECK(d.line == 2 && strcmp(d.source, "a = *") == 0 && d.hint[0] == '\0');
}

enum { THREADS = 4, ROUNDS = 200 };

typedef struct task {
  vt_weights *w;
  uint32_t wrong;
} task;

/* Uses the weights, and drops the reference of this thread. */
static void *use_weights(void *context) {
  task *t = context;
  uint8_t first[32], digest[32];
  float to[4];
  t->wrong += vt_weights_digest(t->w, first, NULL) != VT_OK;
  for (int i = 0; i < ROUNDS; i++) {
    vt_weights *mine = vt_weights_retain(t->w);
    vt_weight_info info = {.size = sizeof info};
    t->wrong += vt_weights_info(mine, 2, &info, NULL) != VT_OK || info.dim[0] != 2;
    t->wrong += vt_weights_get(mine, 2, to, NULL) != VT_OK || memcmp(to, w_data, 16) != 0;
    if (i % 50 == 0)
      t->wrong += vt_weights_digest(mine, digest, NULL) != VT_OK || memcmp(digest, first, 32) != 0;
    vt_weights_free(mine);
  }
  vt_weights_free(t->w);
  return NULL;
}

static void test_threads(vt_weights *w) {
  pthread_t thread[THREADS];
  task tasks[THREADS];
  for (int i = 0; i < THREADS; i++) {
    tasks[i] = (task){.w = vt_weights_retain(w)};
    CHECK(pthread_create(&thread[i], NULL, use_weights, &tasks[i]) == 0);
  }
  vt_weights_free(w); /* the threads still have references */
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_join(thread[i], NULL) == 0 && tasks[i].wrong == 0);
}

/* ---- allocations that fail ---- */

static vt_status use_all(vt_alloc a, const char *path, const vt_model *m, vt_diag *d) {
  const vt_weights_options o = {.size = sizeof o, .alloc = &a, .map = "scale =\n"};
  vt_weights *w = NULL;
  uint8_t digest[32];
  float to[4];
  VT_TRY(vt_weights_read(1, &path, &o, &w, d));
  vt_status s = vt_weights_digest(w, digest, d);
  if (s == VT_OK) s = vt_weights_get(w, 1, to, d);
  if (s == VT_OK) s = vt_weights_check(w, m, d);
  vt_weights_free(w);
  return s;
}

static void test_failing_allocations(void) {
  static const char text[] =
      "volta 1\nmodel m {\n input x: f32[1]\n param w: f32[2, 2] = zeros\n"
      " param b: f16[2] = zeros\n output y = x\n}\n";
  static const char *const names[] = {"w", "b", "scale"};
  const vt_tensor t[] = {{.dtype = VT_DTYPE_F32, .rank = 2, .dim = {2, 2}, .data = w_data},
                         vector(VT_DTYPE_F16, 2, b_data),
                         {.dtype = VT_DTYPE_F64, .rank = 0, .data = scale_data}};
  const char *path = file_path("oom.npz");
  vt_model *m = NULL;
  CHECK(vt_npz_write(path, 3, names, t, NULL) == VT_OK);
  CHECK(vt_model_parse(text, sizeof text - 1, NULL, &m, NULL) == VT_OK);
  for (long k = 1;; k++) {
    vt_fault f = {.left = k};
    vt_diag d = stale_diag();
    const vt_status s = use_all(vt_fault_alloc(&f), path, m, &d);
    CHECK(f.live == 0);
    check_fresh(&d, s);
    if (s == VT_OK) {
      CHECK(k > 15);
      break;
    }
    CHECK(s == VT_NOMEM);
    if (s != VT_NOMEM) break;
  }
  vt_model_free(m);
  CHECK(unlink(path) == 0);
}

int main(void) {
  if (mkdtemp(folder) == NULL) return 77;
  test_contents();
  test_unaligned();
  test_bad_arguments();
  test_digest();
  test_names_against_model();
  test_long_message();
  test_types_against_model();
  test_hints();
  test_bad_map();
  test_threads(make_weights(NULL));
  test_threads(read_weights(file_path("w.safetensors"), NULL));
  test_failing_allocations();
  test_changed_file();
  CHECK(unlink(file_path("w.safetensors")) == 0 && rmdir(folder) == 0);
  TEST_DONE();
}
