/* SPDX-License-Identifier: Apache-2.0
 * hostile_mode_test.c - a calling program whose floating-point mode has another rounding direction,
 * flushes subnormals or traps gets the same bits as any other, in every thread, and gets its mode
 * back. */
#include "hostile_fpenv.h"
#include <pthread.h>
#include <string.h>
#include "vt_pool.h"
#include "vt_test.h"

/* A model with subnormal literals, parameters, inputs and results, and with quotients that each
 * rounding mode rounds differently, so that anything computed in the caller's mode is noticed. */
static const char text[] =
    "volta 1\n"
    "model fragile {\n"
    "  dim B\n"
    "  input x: f32[B, 8]\n"
    "  input given: f32[4]\n"
    "  input index: i32[B] in 0..7\n"
    "  input half: f16[64]\n"
    "  param w: f32[8, 8] = normal(std=0.3)\n"
    "  param small: f32[8] = constant(value=3e-41)\n"
    "  param spread: f32[8] = uniform(low=-1e-38, high=1e-38)\n"
    "  h = gelu(linear fc(layer_norm ln(x), out=8)) / 3\n"
    "  tiny = x * 1e-39 + small\n"
    "  output halves = given * 0.5\n"
    "  output thirds = given / 3\n"
    "  output p = softmax(matmul(h, w))\n"
    "  output small_sum = sum(tiny, axes=[1])\n"
    "  output spread_sum = spread + small\n"
    "  output drawn = half\n"
    "  output rows = embedding(w, index)\n"
    "  output literal = x * 0 + 1.4e-45\n"
    "  output wide = cast(x, dtype=f64) * f64(4.9e-324) / f64(0.1)\n"
    "}\n";

/* Bits of the smallest normal number, a subnormal one, 2 and a signalling NaN; then the right bits
 * of their halves and thirds. */
static const uint32_t given[4] = {0x00800000, 0x00000003, 0x40000000, 0x7f800001};
static const uint32_t halves[4] = {0x00400000, 0x00000002, 0x3f800000, 0x7fc00000};
static const uint32_t thirds[4] = {0x002aaaab, 0x00000001, 0x3f2aaaab, 0x7fc00000};

typedef struct result {
  vt_status status;
  uint8_t digest[32], hash[32], core[32], target[32];
  uint32_t halves[4], thirds[4];
  uint32_t lost; /* number of calls that left the caller in another mode */
} result;

/* Returns `s`; counts in r->lost if the caller is no longer in `mode`. */
static vt_status count_lost_mode(vt_status s, hostile_words mode, result *r) {
  r->lost += !hostile_words_equal(hostile_read_words(), mode);
  return s;
}

static vt_status read_run_results(vt_program *p, hostile_words mode, result *r) {
  const char *name;
  vt_tensor t;
  VT_TRY(count_lost_mode(vt_program_output(p, 1, &name, &t, NULL), mode, r));
  memcpy(r->halves, t.data, sizeof r->halves);
  VT_TRY(vt_program_output(p, vt_program_outputs(p) - 2, &name, &t, NULL));
  memcpy(r->thirds, t.data, sizeof r->thirds);
  vt_program_plan_digest(p, r->core, r->target);
  return count_lost_mode(vt_program_digest(p, r->digest, NULL), mode, r);
}

static vt_status run_program(vt_program *p, hostile_words mode, result *r) {
  uint32_t in[4];
  memcpy(in, given, sizeof in);
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {4}, .data = in};
  VT_TRY(count_lost_mode(vt_program_init_params(p, 5, NULL), mode, r));
  VT_TRY(count_lost_mode(vt_program_set_input(p, "given", &t, NULL), mode, r));
  VT_TRY(count_lost_mode(vt_program_random_inputs(p, 6, NULL), mode, r));
  VT_TRY(count_lost_mode(vt_program_run(p, NULL), mode, r));
  return read_run_results(p, mode, r);
}

static vt_status run_model(const char *backend, hostile_words mode, result *r,
                           void (*progress)(void *, const char *, uint64_t, uint64_t)) {
  const vt_binding b = {"B", 3};
  const vt_options o = {
      .size = sizeof o, .n_bind = 1, .bind = &b, .backend = backend, .progress = progress};
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_status s = count_lost_mode(vt_model_parse(text, strlen(text), NULL, &m, NULL), mode, r);
  if (s == VT_OK) s = count_lost_mode(vt_program_new(m, &o, &p, NULL), mode, r);
  if (s == VT_OK) s = run_program(p, mode, r);
  if (s == VT_OK) vt_model_hash(m, r->hash);
  vt_program_free(p);
  vt_model_free(m);
  return count_lost_mode(s, mode, r);
}

/* Computes everything while the caller is in `mode`, then restores the mode. */
static result compute_in_mode(const char *backend, hostile_words mode) {
  const hostile_words mine = hostile_read_words();
  result r = {0};
  hostile_write_words(mode);
  r.status = run_model(backend, mode, &r, NULL);
  hostile_write_words(mine);
  return r;
}

static result expected; /* results of a caller with the default mode */

static void check_right_result(const result *r) {
  CHECK(r->status == VT_OK && r->lost == 0);
  CHECK(memcmp(r->halves, halves, sizeof halves) == 0);
  CHECK(memcmp(r->thirds, thirds, sizeof thirds) == 0);
  CHECK(memcmp(r->digest, expected.digest, 32) == 0 && memcmp(r->hash, expected.hash, 32) == 0);
  /* The digest and the hash were written: they differ, so at least one is not zero. */
  CHECK(r == &expected || memcmp(r->digest, r->hash, 32) != 0);
}

/* ---- modes ---- */

enum { MOST_MODES = 6 };

/* Lists the modes to test: the worst mode of this machine; on x86-64 also each other rounding
 * direction, and traps. */
static int list_modes(hostile_words out[MOST_MODES]) {
  int n = 0;
  out[n++] = hostile_worst_words();
#if defined(__x86_64__)
  out[n++] = (hostile_words){0x3f80, 0x077f}; /* rounds down */
  out[n++] = (hostile_words){0x5f80, 0x0b7f}; /* rounds up */
  out[n++] = (hostile_words){0x9fc0, 0x037f}; /* rounds to nearest, but flushes subnormals */
  out[n++] = (hostile_words){0x1900, 0x037f}; /* traps on invalid, division by 0, overflow */
#endif
  return n;
}

static void test_right_bits_in_caller_modes(void) {
  static const char *const backends[2] = {"reference:0", "reference:1"};
  hostile_words modes[MOST_MODES];
  const int n = list_modes(modes);
  for (int i = 0; i < n; i++)
    for (int b = 0; b < 2; b++) {
      const result r = compute_in_mode(backends[b], modes[i]);
      check_right_result(&r);
    }
}

/* The same operations in plain C give other bits in the worst mode, so the other tests of this file
 * can fail. */
static void test_plain_c_differs_in_worst_mode(void) {
  const hostile_words mine = hostile_read_words();
  uint32_t half[4], third[4];
  hostile_write_words(hostile_worst_words());
  for (int i = 0; i < 4; i++) {
    volatile float x, y, three = 3.0f, point_five = 0.5f;
    float z;
    memcpy(&z, &given[i], sizeof z);
    x = z;
    y = x * point_five;
    z = y;
    memcpy(&half[i], &z, sizeof z);
    y = x / three;
    z = y;
    memcpy(&third[i], &z, sizeof z);
  }
  const hostile_probe probe = hostile_run_probe();
  hostile_write_words(mine);
  CHECK(!hostile_probe_is_right(probe) && hostile_probe_is_right(hostile_run_probe()));
  CHECK(third[2] != thirds[2]); /* the worst mode rounds toward zero */
#if defined(__x86_64__)
  /* Subnormal results were flushed to 0. */
  CHECK(half[0] == 0 && half[1] == 0 && half[0] != halves[0]);
  /* The subnormal result was flushed to 0, and the NaN is not canonical. */
  CHECK(third[0] == 0 && half[3] != halves[3]);
#endif
}

/* ---- threads ---- */

static void *run_in_worst_mode(void *context) {
  result *r = context;
  hostile_write_words(hostile_worst_words());
  r->status = run_model("reference:1", hostile_worst_words(), r, NULL);
  return NULL;
}

static void test_callers_in_threads(void) {
  enum { N = 4 };
  pthread_t thread[N];
  result r[N];
  memset(r, 0, sizeof r);
  for (int i = 0; i < N; i++)
    CHECK(pthread_create(&thread[i], NULL, run_in_worst_mode, &r[i]) == 0);
  for (int i = 0; i < N; i++) {
    CHECK(pthread_join(thread[i], NULL) == 0);
    check_right_result(&r[i]);
  }
}

static void compute_in_pool_job(void *context, uint64_t job) {
  result *all = context;
  all[job] = compute_in_mode(job % 2 ? "reference:0" : "reference:1", hostile_worst_words());
}

static void test_callers_in_thread_pool(void) {
  enum { N = 8 };
  result r[N];
  vt_pool *pool = NULL;
  const hostile_words mine = hostile_read_words();
  memset(r, 0, sizeof r);
  CHECK(vt_pool_new(3, (vt_alloc){0}, &pool, NULL) == VT_OK);
  hostile_write_words(hostile_worst_words());
  vt_pool_run(pool, N, compute_in_pool_job, r);
  const hostile_words after = hostile_read_words();
  hostile_write_words(mine);
  CHECK(hostile_words_equal(after, hostile_worst_words()));
  for (int i = 0; i < N; i++) check_right_result(&r[i]);
  vt_pool_free(pool);
}

/* ---- a progress callback that changes the mode in the middle of a run ---- */

static void change_mode_in_callback(void *user, const char *what, uint64_t done, uint64_t total) {
  (void)user, (void)what, (void)done, (void)total;
  hostile_write_words(hostile_worst_words());
}

static void test_callback_that_changes_mode(void) {
  const hostile_words mine = hostile_read_words();
  result r = {0};
  r.status = run_model("reference:0", mine, &r, change_mode_in_callback);
  hostile_write_words(mine);
  check_right_result(&r);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  expected = compute_in_mode("reference:0", hostile_numerics_words());
  check_right_result(&expected);
  test_right_bits_in_caller_modes();
  test_plain_c_differs_in_worst_mode();
  test_callers_in_threads();
  test_callers_in_thread_pool();
  test_callback_that_changes_mode();
  TEST_DONE();
}
