/* SPDX-License-Identifier: Apache-2.0
 * state_test.c - states between runs: several programs of other sizes on one state, values set,
 * read, reset, saved and loaded, what a failed run leaves, one user at a time, and no memory left
 * behind. Numbers are small integers, so every result is exact and known. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "volta/volta_tools.h"
#include "vt_test.h"

/* `sum` counts what has been added; `last` is written in place, by a scatter; `at` is read by a
 * gather that fails beyond 7, after `early` is written and before `late` is. T is in no state. */
static const char text[] =
    "volta 1\n"
    "model m {\n"
    "  dim S, T\n"
    "  input x: f32[T]\n"
    "  state sum: f32[2] = ones\n"
    "  state early: i64[] = zeros\n"
    "  state at: i64[] = zeros\n"
    "  state last: f32[S] = zeros\n"
    "  state late: f32[] = constant(value=5)\n"
    "  next early = early + 1\n"
    "  y = gather(iota(shape=[8], axis=0, dtype=f32), at)\n"
    "  next sum = sum + sum(x) + y - y\n"
    "  next at = at + 1\n"
    "  next last = scatter_nd(last, reshape(at, shape=[1, 1]), reshape(sum(x), shape=[1]))\n"
    "  next late = late + y\n"
    "  output before = sum\n"
    "}\n";
static vt_model *model;
static const char *backends[] = {"reference:0", "reference:1", "island:0", "island:1", "cpu:0"};
static int n_backends = sizeof backends / sizeof *backends;
enum { SIZE = 8 };

static vt_options options_for(const char *backend, vt_binding bind[2], int64_t length) {
  bind[0] = (vt_binding){"S", SIZE};
  bind[1] = (vt_binding){"T", length};
  return (vt_options){.size = sizeof(vt_options), .n_bind = 2, .bind = bind, .backend = backend};
}

static vt_program *new_program(const char *backend, int64_t length, vt_state *state,
                               const char *mode) {
  vt_binding bind[2];
  vt_options o = options_for(backend, bind, length);
  vt_program *p = NULL;
  vt_diag d = {0};
  o.state = state;
  o.state_mode = mode;
  if (vt_program_new(model, &o, &p, &d) != VT_OK) fprintf(stderr, "%s: %s\n", backend, d.text);
  CHECK(p != NULL);
  return p;
}

/* Runs a program whose inputs are all `value`. */
static vt_status run(vt_program *p, int64_t length, float value, vt_diag *d) {
  float x[16];
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {length}, .data = x};
  for (int64_t i = 0; i < length; i++) x[i] = value;
  CHECK(vt_program_set_input(p, "x", &t, d) == VT_OK);
  return vt_program_run(p, d);
}

static float get_f32(vt_state *s, const char *name, int index) {
  float data[SIZE] = {0};
  vt_tensor t = {.dtype = VT_DTYPE_F32, .data = data};
  vt_diag d = {0};
  if (strcmp(name, "sum") == 0) t.rank = 1, t.dim[0] = 2;
  if (strcmp(name, "last") == 0) t.rank = 1, t.dim[0] = SIZE;
  CHECK(vt_state_get(s, name, &t, &d) == VT_OK);
  return data[index];
}

static int64_t get_i64(vt_state *s, const char *name) {
  int64_t data = -1;
  vt_tensor t = {.dtype = VT_DTYPE_I64, .data = &data};
  vt_diag d = {0};
  CHECK(vt_state_get(s, name, &t, &d) == VT_OK);
  return data;
}

static vt_status set_i64(vt_state *s, const char *name, int64_t value) {
  const vt_tensor t = {.dtype = VT_DTYPE_I64, .data = &value};
  return vt_state_set(s, name, &t, NULL);
}

/* ---- several programs ---- */

static void test_programs_continue_each_other(const char *backend, const char *mode) {
  vt_binding bind[2];
  vt_options o = options_for(backend, bind, 99); /* T is in no state, so any value will do */
  vt_state *s = NULL;
  const char *name;
  vt_tensor before;
  vt_diag d = {0};
  o.n_bind = 1;
  CHECK(vt_state_new(model, &o, 0, &s, &d) == VT_OK);
  if (s == NULL) return;
  vt_program *three = new_program(backend, 3, s, mode), *one = new_program(backend, 1, s, mode);
  CHECK(vt_program_state(three) == s && vt_state_count(s) == 5);
  CHECK(run(three, 3, 2, &d) == VT_OK); /* 1 + 6 */
  CHECK(run(one, 1, 10, &d) == VT_OK);  /* 7 + 10 */
  CHECK(vt_program_output(one, 0, &name, &before, &d) == VT_OK);
  CHECK(((const float *)before.data)[0] == 7); /* the value before the run */
  CHECK(run(three, 3, 1, &d) == VT_OK);
  CHECK(get_f32(s, "sum", 0) == 20 && get_f32(s, "sum", 1) == 20);
  CHECK(get_f32(s, "last", 0) == 6 && get_f32(s, "last", 1) == 10 && get_f32(s, "last", 2) == 3);
  CHECK(get_f32(s, "last", 3) == 0);
  CHECK(get_i64(s, "early") == 3 && get_i64(s, "at") == 3 && get_f32(s, "late", 0) == 8);
  vt_program_free(three);
  CHECK(run(one, 1, 1, &d) == VT_OK && get_f32(s, "sum", 0) == 21);
  CHECK(vt_state_reset(s, 0, &d) == VT_OK);
  CHECK(get_f32(s, "sum", 0) == 1 && get_i64(s, "at") == 0 && get_f32(s, "late", 0) == 5);
  vt_state_free(s); /* the program still uses it */
  CHECK(run(one, 1, 4, &d) == VT_OK && get_f32(vt_program_state(one), "sum", 1) == 5);
  vt_program_free(one);
}

static void test_states_are_swapped(const char *backend) {
  vt_program *p = new_program(backend, 1, NULL, NULL), *q = new_program(backend, 1, NULL, NULL);
  vt_state *first = vt_program_state(p), *second = vt_program_state(q);
  vt_diag d = {0};
  CHECK(first != NULL && second != NULL && first != second);
  for (int i = 0; i < 3; i++) CHECK(run(p, 1, 1, &d) == VT_OK);
  CHECK(vt_program_set_state(p, second, &d) == VT_OK);
  CHECK(run(p, 1, 100, &d) == VT_OK);
  CHECK(get_f32(second, "sum", 0) == 101 && run(q, 1, 1, &d) == VT_OK);
  CHECK(get_f32(second, "sum", 0) == 102 && get_i64(second, "at") == 2);
  CHECK(vt_program_set_state(p, NULL, &d) == VT_USAGE);
  vt_program_free(p);
  vt_program_free(q);
}

/* ---- what a failed run leaves ---- */

static void test_fault_before_any_write(const char *backend) {
  static const char early[] =
      "volta 1\n"
      "model m {\n"
      "  input i: i64[]\n"
      "  state n: f32[4] = ones\n"
      "  y = gather(iota(shape=[8], axis=0, dtype=f32), i)\n"
      "  next n = n + y\n"
      "  output y\n"
      "}\n";
  const vt_options o = {.size = sizeof o, .backend = backend};
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {0};
  float data[4];
  vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {4}, .data = data};
  CHECK(vt_model_parse(early, sizeof early - 1, NULL, &m, &d) == VT_OK);
  CHECK(vt_program_new(m, &o, &p, &d) == VT_OK);
  for (int64_t i = 2; i <= 8; i += 6) {
    const vt_tensor at = {.dtype = VT_DTYPE_I64, .data = &i};
    CHECK(vt_program_set_input(p, "i", &at, &d) == VT_OK);
    CHECK(vt_program_run(p, &d) == (i < 8 ? VT_OK : VT_RANGE));
  }
  d = (vt_diag){0};
  CHECK(!vt_state_is_lost(vt_program_state(p)));
  CHECK(vt_state_get(vt_program_state(p), "n", &t, &d) == VT_OK && data[0] == 3 && data[3] == 3);
  vt_program_free(p);
  vt_model_free(m);
}

/* The gather fails at position 8, after `early` was written in place. In the safe mode nothing has
 * changed; otherwise the states are lost until they are set or reset. */
static void test_fault_after_a_write(const char *backend, int safe) {
  vt_program *p = new_program(backend, 2, NULL, safe ? "safe" : NULL);
  vt_state *s = vt_program_state(p);
  vt_diag d = {0};
  int64_t data = 0;
  vt_tensor t = {.dtype = VT_DTYPE_I64, .data = &data};
  CHECK(run(p, 2, 1, &d) == VT_OK);
  CHECK(set_i64(s, "at", 8) == VT_OK);
  CHECK(run(p, 2, 1, &d) == VT_RANGE && strstr(d.text, "index 8") != NULL);
  d = (vt_diag){0};
  if (safe) {
    CHECK(!vt_state_is_lost(s) && get_i64(s, "early") == 1 && get_f32(s, "sum", 0) == 3);
    CHECK(set_i64(s, "at", 1) == VT_OK && run(p, 2, 1, &d) == VT_OK && get_i64(s, "early") == 2);
  } else {
    CHECK(vt_state_is_lost(s));
    CHECK(vt_state_get(s, "early", &t, &d) == VT_USAGE);
    d = (vt_diag){0};
    CHECK(run(p, 2, 1, &d) == VT_USAGE && strstr(d.text, "was lost") != NULL);
    d = (vt_diag){0};
    CHECK(set_i64(s, "early", 3) == VT_OK && get_i64(s, "early") == 3);
    CHECK(vt_state_is_lost(s)); /* the others are */
    CHECK(vt_state_reset(s, 0, &d) == VT_OK && !vt_state_is_lost(s));
    CHECK(run(p, 2, 1, &d) == VT_OK && get_i64(s, "early") == 1);
  }
  vt_program_free(p);
}

/* ---- files and digests ---- */

static void test_save_and_load(const char *backend) {
  char path[] = "/tmp/volta-state-XXXXXX";
  vt_program *p = new_program(backend, 1, NULL, NULL), *q = new_program("reference", 1, NULL, NULL);
  vt_state *from = vt_program_state(p), *to = vt_program_state(q);
  uint8_t a[32], b[32];
  vt_diag d = {0};
  const int file = mkstemp(path);
  CHECK(file >= 0);
  for (int i = 0; i < 2; i++) CHECK(run(p, 1, 3, &d) == VT_OK);
  CHECK(vt_state_digest(from, a, &d) == VT_OK && vt_state_digest(to, b, &d) == VT_OK);
  CHECK(memcmp(a, b, 32) != 0);
  CHECK(vt_state_save(from, path, &d) == VT_OK && vt_state_load(to, path, &d) == VT_OK);
  CHECK(vt_state_digest(to, b, &d) == VT_OK && memcmp(a, b, 32) == 0);
  CHECK(get_f32(to, "last", 1) == 3 && get_i64(to, "at") == 2);
  /* A file of another shape, with a state too many or too few, changes nothing. */
  static int64_t one = 1;
  static float nine[9];
  static const char *const names[] = {"at", "early", "last", "late", "sum", "more"};
  vt_tensor t[] = {{.dtype = VT_DTYPE_I64, .data = &one},
                   {.dtype = VT_DTYPE_I64, .data = &one},
                   {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {9}, .data = nine},
                   {.dtype = VT_DTYPE_F32, .data = nine},
                   {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {2}, .data = nine},
                   {.dtype = VT_DTYPE_F32, .data = nine}};
  CHECK(vt_safetensors_write(path, 5, names, t, &d) == VT_OK);
  CHECK(vt_state_load(to, path, &d) == VT_TENSOR);
  d = (vt_diag){0};
  t[2].dim[0] = SIZE;
  CHECK(vt_safetensors_write(path, 6, names, t, &d) == VT_OK);
  CHECK(vt_state_load(to, path, &d) == VT_NAME);
  d = (vt_diag){0};
  CHECK(vt_safetensors_write(path, 4, names, t, &d) == VT_OK);
  CHECK(vt_state_load(to, path, &d) == VT_NAME);
  d = (vt_diag){0};
  CHECK(vt_state_digest(to, b, &d) == VT_OK && memcmp(a, b, 32) == 0);
  CHECK(vt_safetensors_write(path, 5, names, t, &d) == VT_OK);
  CHECK(vt_state_load(to, path, &d) == VT_OK && get_i64(to, "at") == 1);
  (void)close(file);
  (void)unlink(path);
  vt_program_free(p);
  vt_program_free(q);
}

/* ---- what is refused ---- */

static void test_refused_states(void) {
  vt_binding bind[2];
  vt_options o = options_for("cpu", bind, 1);
  vt_state *s = NULL, *wide = NULL;
  vt_program *p = new_program("reference", 1, NULL, NULL);
  int64_t data[3] = {0};
  const vt_tensor t = {.dtype = VT_DTYPE_I64, .rank = 1, .dim = {3}, .data = data};
  const vt_tensor no_data = {.dtype = VT_DTYPE_I64};
  vt_diag d = {0};
  CHECK(vt_state_new(model, &o, 0, &s, &d) == VT_OK);
  CHECK(vt_program_set_state(p, s, &d) == VT_USAGE); /* it is on another device */
  d = (vt_diag){0};
  vt_program_free(p);
  p = new_program("cpu", 1, s, NULL);
  bind[0].value = SIZE + 1;
  CHECK(vt_state_new(model, &o, 0, &wide, &d) == VT_OK);
  CHECK(vt_program_set_state(p, wide, &d) == VT_TENSOR);
  CHECK(strstr(d.text, "'last' is f32[9], the program needs f32[8]") != NULL);
  d = (vt_diag){0};
  o.n_bind = 0;
  vt_state *none = NULL;
  CHECK(vt_state_new(model, &o, 0, &none, &d) == VT_BIND && none == NULL);
  d = (vt_diag){0};
  CHECK(vt_state_set(s, "at", &t, &d) == VT_TENSOR);
  d = (vt_diag){0};
  CHECK(vt_state_set(s, "at", &no_data, &d) == VT_TENSOR);
  d = (vt_diag){0};
  CHECK(vt_state_set(s, "nothing", &t, &d) == VT_NAME && vt_state_set(s, NULL, &t, &d) == VT_NAME);
  d = (vt_diag){0};
  CHECK(vt_state_save(s, NULL, &d) == VT_USAGE);
  vt_program_free(p);
  vt_state_free(wide);
  vt_state_free(s);
}

/* A dimension that is bound more often than there are dimensions. */
static void test_repeated_bindings(void) {
  vt_binding bind[20];
  const vt_options o = {.size = sizeof o, .n_bind = 20, .bind = bind, .backend = "cpu"};
  vt_state *s = NULL;
  vt_diag d = {0};
  for (int i = 0; i < 20; i++) bind[i] = (vt_binding){"S", SIZE};
  CHECK(vt_state_new(model, &o, 0, &s, &d) == VT_BIND && s == NULL);
  CHECK(strstr(d.text, "bound twice") != NULL);
}

/* An output that is the value of a state keeps the value of its run. */
static void test_output_that_is_a_state(void) {
  static const char shown[] =
      "volta 1\nmodel m {\n  input x: f32[1]\n  state k: f32[2] = ones\n  next k = k\n"
      "  output y = x\n  output k\n}\n";
  const vt_options o = {.size = sizeof o, .backend = "cpu"};
  static float seven[2] = {7, 7};
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {2}, .data = seven};
  vt_model *m = NULL;
  vt_program *p = NULL;
  const char *name = "";
  vt_tensor out;
  vt_diag d = {0};
  CHECK(vt_model_parse(shown, sizeof shown - 1, NULL, &m, &d) == VT_OK);
  CHECK(vt_program_new(m, &o, &p, &d) == VT_OK && run(p, 1, 1, &d) == VT_OK);
  CHECK(vt_state_set(vt_program_state(p), "k", &t, &d) == VT_OK);
  CHECK(vt_program_output(p, 0, &name, &out, &d) == VT_OK && strcmp(name, "k") == 0);
  CHECK(((const float *)out.data)[0] == 1);
  vt_program_free(p);
  vt_model_free(m);
}

/* First values from weights are converted only if the weights say so. */
static void test_first_values_of_another_type(void) {
  static const double data[2] = {1, 2};
  static const char *const names[] = {"sum"};
  vt_tensor t = {.dtype = VT_DTYPE_F64, .rank = 1, .dim = {2}};
  vt_binding bind[2];
  vt_options o = options_for("cpu", bind, 1);
  for (uint32_t convert = 0; convert < 2; convert++) {
    const vt_weights_options how = {.size = sizeof how, .convert = convert};
    vt_weights *w = NULL;
    vt_state *s = NULL;
    vt_diag d = {0};
    memcpy(&t.data, &(const void *){data}, sizeof t.data);
    CHECK(vt_weights_copy(1, names, &t, &how, &w, &d) == VT_OK);
    o.weights = w;
    CHECK(vt_state_new(model, &o, 0, &s, &d) == (convert ? VT_OK : VT_TENSOR));
    if (s != NULL) CHECK(get_f32(s, "sum", 1) == 2 && get_f32(s, "late", 0) == 5);
    vt_state_free(s);
    vt_weights_free(w);
  }
}

/* NULL and a size of 0 are errors, and a diag of an earlier failure does not stay. */
static void test_null_and_stale_arguments(void) {
  vt_binding bind[2];
  vt_options o = options_for("cpu", bind, 1), no_size = {0};
  vt_state *s = NULL;
  vt_program *p = NULL;
  const char *name;
  vt_tensor t = {0};
  uint8_t digest[32];
  vt_diag d = {.code = VT_IO, .text = "stale", .hint = "stale"};
  CHECK(vt_state_new(NULL, &o, 0, &s, &d) == VT_USAGE && d.code == VT_USAGE && d.hint[0] == 0);
  CHECK(vt_state_new(model, &o, 0, NULL, &d) == VT_USAGE);
  CHECK(vt_state_new(model, &no_size, 0, &s, &d) == VT_USAGE && s == NULL);
  CHECK(vt_program_new(model, &no_size, &p, NULL) == VT_USAGE && p == NULL);
  CHECK(vt_program_new(NULL, &o, &p, NULL) == VT_USAGE);
  CHECK(vt_program_new(model, &o, NULL, NULL) == VT_USAGE);
  CHECK(vt_state_count(NULL) == 0 && !vt_state_is_lost(NULL) && vt_program_state(NULL) == NULL);
  CHECK(vt_state_at(NULL, 0, &name, &t, &d) == VT_USAGE);
  CHECK(vt_state_get(NULL, "sum", &t, &d) == VT_USAGE);
  CHECK(vt_state_set(NULL, "sum", &t, &d) == VT_USAGE);
  CHECK(vt_state_reset(NULL, 0, &d) == VT_USAGE && vt_state_save(NULL, "x", &d) == VT_USAGE);
  CHECK(vt_state_load(NULL, "x", &d) == VT_USAGE && vt_state_digest(NULL, digest, &d) == VT_USAGE);
  CHECK(vt_program_set_state(NULL, NULL, &d) == VT_USAGE);
  vt_state_free(NULL);
  d = (vt_diag){.code = VT_IO, .text = "stale"};
  CHECK(vt_state_new(model, &o, 0, &s, &d) == VT_OK && d.code == VT_OK);
  CHECK(vt_state_at(s, 0, NULL, &t, &d) == VT_USAGE &&
        vt_state_at(s, 9, &name, &t, &d) == VT_RANGE);
  CHECK(vt_state_get(s, "sum", NULL, &d) == VT_USAGE &&
        vt_state_set(s, "sum", NULL, &d) == VT_USAGE);
  CHECK(vt_state_digest(s, NULL, &d) == VT_USAGE && vt_state_load(s, NULL, &d) == VT_USAGE);
  d = (vt_diag){.code = VT_IO, .text = "stale"};
  CHECK(vt_state_get(s, "nothing", &t, &d) == VT_NAME && d.code == VT_NAME);
  vt_state_free(s);
}

/* ---- threads ---- */

typedef struct worker {
  vt_program *p;
  uint32_t done, refused, wrong;
} worker;

static void *run_often(void *context) {
  worker *w = context;
  for (int i = 0; i < 200; i++) {
    vt_diag d = {0};
    const vt_status s = run(w->p, 1, 1, &d);
    w->done += s == VT_OK;
    w->refused += s == VT_USAGE && strstr(d.text, "another thread") != NULL;
    w->wrong += s != VT_OK && s != VT_USAGE;
  }
  return NULL;
}

/* A scalar that only counts, so that any number of runs works. */
static void test_one_user_at_a_time(void) {
  static const char counter[] =
      "volta 1\nmodel m {\n  input x: f32[1]\n  state at: i64[] = zeros\n  next at = at + 1\n"
      "  output y = x\n}\n";
  enum { THREADS = 4 };
  const vt_options plain = {.size = sizeof plain, .backend = "cpu", .threads = 1};
  vt_options o = plain;
  vt_model *m = NULL;
  vt_state *s = NULL;
  worker w[THREADS] = {{0}};
  pthread_t thread[THREADS];
  uint32_t done = 0;
  vt_diag d = {0};
  CHECK(vt_model_parse(counter, sizeof counter - 1, NULL, &m, &d) == VT_OK);
  CHECK(vt_state_new(m, &o, 0, &s, &d) == VT_OK);
  o.state = s;
  for (int i = 0; i < THREADS; i++) CHECK(vt_program_new(m, &o, &w[i].p, &d) == VT_OK);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&thread[i], NULL, run_often, &w[i]) == 0);
  for (int i = 0; i < THREADS; i++) {
    CHECK(pthread_join(thread[i], NULL) == 0);
    CHECK(w[i].wrong == 0);
    done += w[i].done;
    vt_program_free(w[i].p);
  }
  CHECK(get_i64(s, "at") == (int64_t)done && done > 0);
  vt_state_free(s);
  vt_model_free(m);
}

/* ---- out of memory ---- */

static void test_out_of_memory_for_states(const char *backend) {
  vt_status s = VT_NOMEM;
  for (long at = 1; s != VT_OK && at < 5000; at++) {
    vt_fault f = {.left = at};
    const vt_alloc a = vt_fault_alloc(&f);
    vt_binding bind[2];
    vt_options o = options_for(backend, bind, 1);
    vt_state *state = NULL;
    uint8_t digest[32];
    vt_diag d = {0};
    o.alloc = &a;
    s = vt_state_new(model, &o, 0, &state, &d);
    if (s == VT_OK) s = vt_state_digest(state, digest, &d);
    CHECK(s == VT_OK || s == VT_NOMEM);
    vt_state_free(state);
    CHECK(f.live == 0);
  }
  CHECK(s == VT_OK);
}

/* A file that can only be loaded in part, because memory runs out, leaves the states as they were
 * or lost, and never a mixture of old and new ones that a run would accept. */
static void test_out_of_memory_while_loading_states(void) {
  char path[] = "/tmp/volta-state-XXXXXX";
  vt_binding bind[2];
  vt_fault f = {0};
  const vt_alloc a = vt_fault_alloc(&f);
  vt_options o = options_for("cpu", bind, 1);
  vt_state *from = NULL, *to = NULL;
  uint8_t old[32], loaded[32], now[32];
  int lost = 0;
  vt_status s = VT_NOMEM;
  vt_diag d = {0};
  const int file = mkstemp(path);
  CHECK(file >= 0 && vt_state_new(model, &o, 0, &from, &d) == VT_OK);
  CHECK(set_i64(from, "at", 3) == VT_OK && set_i64(from, "early", 4) == VT_OK);
  CHECK(vt_state_digest(from, loaded, &d) == VT_OK && vt_state_save(from, path, &d) == VT_OK);
  o.alloc = &a;
  CHECK(vt_state_new(model, &o, 0, &to, &d) == VT_OK && vt_state_digest(to, old, &d) == VT_OK);
  for (long at = 1; s != VT_OK && at < 1000; at++) {
    f.left = f.asked + at;
    s = vt_state_load(to, path, &d);
    f.left = 0;
    CHECK(s == VT_OK || s == VT_NOMEM);
    lost += vt_state_is_lost(to);
    if (!vt_state_is_lost(to)) {
      CHECK(vt_state_digest(to, now, &d) == VT_OK);
      CHECK(memcmp(now, s == VT_OK ? loaded : old, 32) == 0);
    }
    if (s != VT_OK) CHECK(vt_state_reset(to, 0, &d) == VT_OK);
  }
  CHECK(s == VT_OK && lost > 0);
  (void)close(file);
  (void)unlink(path);
  vt_state_free(from);
  vt_state_free(to);
}

int main(int argc, char **argv) {
  if (argc > 1) backends[0] = argv[1], n_backends = 1;
  vt_diag d = {0};
  if (vt_model_parse(text, sizeof text - 1, NULL, &model, &d) != VT_OK)
    fprintf(stderr, "%s (line %u)\n", d.text, d.line);
  CHECK(model != NULL);
  for (int i = 0; model != NULL && i < n_backends; i++) {
    test_programs_continue_each_other(backends[i], NULL);
    test_programs_continue_each_other(backends[i], "safe");
    test_states_are_swapped(backends[i]);
    test_fault_before_any_write(backends[i]);
    test_fault_after_a_write(backends[i], 0);
    test_fault_after_a_write(backends[i], 1);
    test_save_and_load(backends[i]);
    test_out_of_memory_for_states(backends[i]);
  }
  if (model != NULL) test_refused_states();
  if (model != NULL) test_null_and_stale_arguments();
  if (model != NULL) test_repeated_bindings();
  if (model != NULL) test_out_of_memory_while_loading_states();
  if (model != NULL) test_first_values_of_another_type();
  test_output_that_is_a_state();
  test_one_user_at_a_time();
  vt_model_free(model);
  TEST_DONE();
}
