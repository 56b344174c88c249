/* SPDX-License-Identifier: Apache-2.0
 * model_test.c - loading models: facts about a model, its text and hash, errors, files, and threads
 * that share one model. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "vt_test.h"

static const char text[] =
    "volta 1\n"
    "# comments and layout do not enter\n"
    "model mlp {\n"
    "  dim B, N\n"
    "  dim H = 4\n"
    "  input x: f32[B, 3]\n"
    "  input label: i32[B, N] in 0..2*N-1\n"
    "  param w: f32[3, H] = he_normal(stream=1)\n"
    "  param b: f32[H] = zeros\n"
    "  h = relu(matmul(x, w) + b)\n"
    "  output h\n"
    "  output label\n"
    "}\n";

static vt_model *parse_model(const char *s) {
  vt_model *m = NULL;
  vt_diag d = {0};
  CHECK(vt_model_parse(s, strlen(s), NULL, &m, &d) == VT_OK && d.code == VT_OK);
  if (m == NULL) fprintf(stderr, "  %s\n", d.text);
  if (m == NULL) exit(1); /* the rest of the test needs the model */
  return m;
}

static void test_model_facts(void) {
  static const struct {
    uint32_t kind, dtype, rank;
    const char *name, *type, *extra;
  } want[] = {
      {VT_PORT_INPUT, VT_DTYPE_F32, 2, "x", "f32[B, 3]", ""},
      {VT_PORT_INPUT, VT_DTYPE_I32, 2, "label", "i32[B, N]", "in 0..2*N - 1"},
      {VT_PORT_PARAM, VT_DTYPE_F32, 2, "w", "f32[3, 4]",
       "= he_normal(fan_in=0, fan_out=0, stream=1)"},
      {VT_PORT_PARAM, VT_DTYPE_F32, 1, "b", "f32[4]", "= zeros"},
      {VT_PORT_OUTPUT, VT_DTYPE_F32, 2, "h", "f32[B, 4]", ""},
      {VT_PORT_OUTPUT, VT_DTYPE_I32, 2, "label", "i32[B, N]", ""},
  };
  enum { N = sizeof want / sizeof *want };
  vt_model *m = parse_model(text);
  vt_port_info info = {.name = "untouched"};
  CHECK(strcmp(vt_model_name(m), "mlp") == 0);
  /* H is a constant, not a symbolic dim, so there is no third dim. */
  CHECK(vt_model_dims(m) == 2 && vt_model_dim(m, 2) == NULL);
  CHECK(strcmp(vt_model_dim(m, 0), "B") == 0 && strcmp(vt_model_dim(m, 1), "N") == 0);
  CHECK(vt_model_nodes(m) == 3 && vt_model_ports(m) == N);
  CHECK(vt_model_port(m, N, &info) == VT_RANGE && strcmp(info.name, "untouched") == 0);
  for (uint32_t i = 0; i < N; i++) {
    CHECK(vt_model_port(m, i, &info) == VT_OK);
    CHECK(info.kind == want[i].kind && info.dtype == want[i].dtype && info.rank == want[i].rank);
    CHECK(strcmp(info.name, want[i].name) == 0 && strcmp(info.type, want[i].type) == 0);
    CHECK(strcmp(info.extra, want[i].extra) == 0);
  }
  vt_model_free(m);
  vt_model_free(NULL);
}

/* A model that is parsed from the printed form has the same text and the same hash. */
static void test_reparsed_text_has_same_hash(void) {
  vt_model *m = parse_model(text), *again = parse_model(vt_model_text(m));
  vt_model *renamed = parse_model(
      "volta 1\nmodel mlp {\n dim B, N\n input x: f32[B, 3]\n"
      " input label: i32[B, N] in 0..N+N-1\n"
      " param w: f32[3, 4] = he_normal(stream=1)\n param b: f32[4] = zeros\n"
      " t = matmul(x, w)\n u = t + b\n output h = relu(u)\n output label\n}\n");
  vt_model *other = parse_model("volta 1\nmodel mlp {\n input x: f32[3]\n output h = relu(x)\n}\n");
  uint8_t a[32], b[32];
  CHECK(strcmp(vt_model_text(m), vt_model_text(again)) == 0);
  vt_model_hash(m, a);
  vt_model_hash(again, b);
  CHECK(memcmp(a, b, 32) == 0);
  vt_model_hash(renamed, b);
  CHECK(memcmp(a, b, 32) == 0);
  vt_model_hash(other, b);
  CHECK(memcmp(a, b, 32) != 0);
  vt_model_free(m);
  vt_model_free(again);
  vt_model_free(renamed);
  vt_model_free(other);
}

/* vt_model_parse reads exactly n bytes; bytes after them do not belong to the model. */
static void test_parse_reads_given_length(void) {
  const size_t n = strlen(text);
  char *exact = malloc(n);
  vt_model *m = NULL;
  if (exact == NULL) exit(1);
  memcpy(exact, text, n);
  CHECK(vt_model_parse(exact, n, NULL, &m, NULL) == VT_OK);
  vt_model_free(m);
  m = NULL;
  vt_diag d = {0};
  CHECK(vt_model_parse(exact, n - 3, NULL, &m, &d) == VT_SYNTAX && m == NULL && d.line > 0);
  CHECK(vt_model_parse(exact, 0, NULL, &m, NULL) == VT_SYNTAX && m == NULL);
  free(exact);
}

static void test_parse_errors(void) {
  static const struct {
    const char *text;
    vt_status status;
    uint32_t line;
  } wrong[] = {
      {"", VT_SYNTAX, 1},
      {"volta 1\nmodel m {\n  input x: f32[2]\n  output y = rleu(x)\n}\n", VT_SYNTAX, 4},
      {"volta 1\nmodel m {\n  input x: f32[2]\n  input i: i32[2]\n  output y = x + i\n}\n",
       VT_VERIFY, 5},
      {"volta 1\nmodel m {\n  input x: f32[2]\n}\n", VT_VERIFY, 0},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    vt_model *m = NULL;
    vt_diag d = {0};
    const vt_status s = vt_model_parse(wrong[i].text, strlen(wrong[i].text), NULL, &m, &d);
    CHECK(s == wrong[i].status && m == NULL && d.code == s);
    CHECK(d.text[0] != 0 && (wrong[i].line == 0 || d.line == wrong[i].line));
    if (s != wrong[i].status) fprintf(stderr, "  %zu: %s, %s\n", i, vt_status_name(s), d.text);
    CHECK(vt_model_parse(wrong[i].text, strlen(wrong[i].text), NULL, &m, NULL) == s);
  }
}

static void test_model_file(void) {
  char path[] = "/tmp/volta_model_test_XXXXXX";
  const int fd = mkstemp(path);
  vt_model *m = NULL;
  vt_diag d = {0};
  CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
  CHECK(vt_model_read(path, NULL, &m, &d) == VT_OK && m != NULL);
  vt_model_free(m);
  m = NULL;
  CHECK(ftruncate(fd, 40) == 0);
  CHECK(vt_model_read(path, NULL, &m, &d) == VT_SYNTAX && m == NULL);
  close(fd);
  unlink(path);
  memset(&d, 0, sizeof d);
  CHECK(vt_model_read(path, NULL, &m, &d) == VT_IO && m == NULL && strstr(d.text, path) != NULL);
  CHECK(vt_model_read("/", NULL, &m, NULL) == VT_IO && m == NULL);
}

/* ---- threads that share a model, each with its own program ---- */

typedef struct worker {
  const vt_model *m;
  uint8_t digest[32];
  vt_status status;
} worker;

static vt_status run_own_program(worker *w) {
  const vt_binding bind[] = {{"B", 5}, {"N", 2}};
  const vt_options o = {.size = sizeof o, .n_bind = 2, .bind = bind, .backend = "reference"};
  vt_program *p = NULL;
  VT_TRY(vt_program_new(w->m, &o, &p, NULL));
  vt_status s = vt_program_init_params(p, 3, NULL);
  if (s == VT_OK) s = vt_program_random_inputs(p, 4, NULL);
  if (s == VT_OK) s = vt_program_run(p, NULL);
  if (s == VT_OK) s = vt_program_digest(p, w->digest, NULL);
  vt_program_free(p);
  return s;
}

static void *run_programs(void *context) {
  worker *w = context;
  for (int i = 0; i < 10 && w->status == VT_OK; i++) w->status = run_own_program(w);
  return NULL;
}

static void test_shared_by_threads(void) {
  enum { N = 4 };
  pthread_t thread[N];
  worker w[N];
  vt_model *m = parse_model(text);
  for (int i = 0; i < N; i++) {
    w[i] = (worker){.m = m};
    CHECK(pthread_create(&thread[i], NULL, run_programs, &w[i]) == 0);
  }
  for (int i = 0; i < N; i++) {
    CHECK(pthread_join(thread[i], NULL) == 0 && w[i].status == VT_OK);
    CHECK(memcmp(w[i].digest, w[0].digest, 32) == 0);
  }
  vt_model_free(m);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  test_model_facts();
  test_reparsed_text_has_same_hash();
  test_parse_reads_given_length();
  test_parse_errors();
  test_model_file();
  test_shared_by_threads();
  TEST_DONE();
}
