/* SPDX-License-Identifier: Apache-2.0
 * oom_test.c - every allocation failing in turn, from text to digest: each time the answer is "out
 * of memory" with a reason, nothing is kept, and what existed before still gives the right bits. */
#include <string.h>
#include "vt_test.h"

static const char tiny[] =
    "volta 1\n"
    "model tiny {\n"
    "  dim B\n"
    "  input i: i32[B] in 0..3\n"
    "  param w: f32[4, 3] = normal(std=0.5, stream=1)\n"
    "  x = softmax(embedding(w, i))\n"
    "  output y = x * (f32(1) + f32(1)) + 1\n"
    "}\n";
static const vt_binding tiny_dims[] = {{"B", 2}};

/* Every composition, layers and a repeat. */
static const char large[] =
    "volta 1\n"
    "model large {\n"
    "  dim B, T\n"
    "  dim V = 5, C = 4\n"
    "  input tokens: i32[B, T] in 0..V-1\n"
    "  input keep: bool[B, T, 1]\n"
    "  param wpe: f32[8, C] = uniform(low=-0.5, high=0.5)\n"
    "  x = embedding tok(tokens, rows=V, width=C) + slice(wpe, start=[0, 0], stop=[T, C])\n"
    "  x = select(keep, x, 0)\n"
    "  repeat 2 as h {\n"
    "    x = x + attention attn(layer_norm ln1(x), heads=2, causal=true, init=xavier_normal)\n"
    "    m = gelu(linear up(rms_norm ln2(x), out=2*C, init=he_uniform))\n"
    "    m = silu(m) + gelu_tanh(m) * relu(m)\n"
    "    x = x + linear down(m, out=C)\n"
    "  }\n"
    "  logits = matmul(x, tok.weight, transpose_b=true)\n"
    "  flat = reshape(logits, shape=[B*T, V])\n"
    "  output logits\n"
    "  output best = argmax(logits)\n"
    "  output average = mean(log_softmax(logits), axes=[0, 1])\n"
    "  output loss = cross_entropy(flat, reshape(tokens, shape=[B*T]))\n"
    "}\n";
static const vt_binding large_dims[] = {{"B", 2}, {"T", 3}};

typedef struct job {
  const char *text, *backend;
  const vt_binding *bind;
  uint32_t n_bind;
} job;

/* ---- parse and open: nothing exists before ---- */

static vt_status open_all(const job *j, vt_alloc a, vt_model **m, vt_program **p, vt_diag *d) {
  const vt_options o = {
      .size = sizeof o, .n_bind = j->n_bind, .bind = j->bind, .backend = j->backend, .alloc = &a};
  VT_TRY(vt_model_parse(j->text, strlen(j->text), &a, m, d));
  return vt_program_new(*m, &o, p, d);
}

static void check_failure(vt_status s, const vt_diag *d, long left) {
  const int right = s == VT_NOMEM && d->code == VT_NOMEM && d->text[0] != 0;
  CHECK(right);
  if (!right)
    fprintf(stderr, "  allocation %ld: status %s, diag %s, '%s'\n", left, vt_status_name(s),
            vt_status_name(d->code), d->text);
}

/* Each request of parsing alone fails in turn; returns how many there are. */
static long fail_parsing(const job *j) {
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    const vt_alloc a = vt_fault_alloc(&fault);
    vt_model *m = NULL;
    vt_diag d = {0};
    const vt_status s = vt_model_parse(j->text, strlen(j->text), &a, &m, &d);
    if (left == 0) asked = fault.asked;
    if (left > 0) check_failure(s, &d, left);
    CHECK((s == VT_OK) == (left == 0) && (m == NULL) == (left > 0));
    vt_model_free(m);
    CHECK(fault.live == 0);
  }
  return asked;
}

/* Each request of parsing and then opening fails in turn; returns how many there are. */
static long fail_opening(const job *j) {
  vt_fault fault = {0};
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(open_all(j, vt_fault_alloc(&fault), &m, &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "  %s\n", d.text);
  const long asked = fault.asked;
  vt_program_free(p);
  vt_model_free(m);
  CHECK(fault.live == 0);
  const long parsing = fail_parsing(j);
  for (long left = parsing + 1; left <= asked; left++) {
    fault = (vt_fault){.left = left};
    m = NULL;
    p = NULL;
    memset(&d, 0, sizeof d);
    check_failure(open_all(j, vt_fault_alloc(&fault), &m, &p, &d), &d, left);
    CHECK(p == NULL);
    vt_model_free(m);
    CHECK(fault.live == 0);
  }
  return asked;
}

/* ---- what a program does later: it outlives each failure ---- */

static uint8_t digest[32];

static vt_status step_init(vt_program *p, vt_diag *d) { return vt_program_init_params(p, 1, d); }
static vt_status step_random(vt_program *p, vt_diag *d) {
  return vt_program_random_inputs(p, 2, d);
}
static vt_status step_run(vt_program *p, vt_diag *d) { return vt_program_run(p, d); }
static vt_status step_digest(vt_program *p, vt_diag *d) { return vt_program_digest(p, digest, d); }
typedef vt_status step_fn(vt_program *p, vt_diag *d);

/* Fails the step at each of its own requests, then lets it succeed; returns their number. */
static long fail_step(step_fn *step, vt_program *p, vt_fault *fault) {
  long failed = 0;
  for (long k = 1;; k++) {
    vt_diag d = {0};
    const long before = fault->live;
    fault->left = fault->asked + k;
    const vt_status s = step(p, &d);
    const int reached = fault->asked >= fault->left;
    fault->left = 0;
    CHECK(fault->live == before);
    if (!reached) { /* fewer requests than k: it went through */
      CHECK(s == VT_OK && d.code == VT_OK);
      return failed;
    }
    check_failure(s, &d, k);
    failed++;
  }
}

static void fail_steps(const job *j, uint8_t out[32]) {
  vt_fault fault = {0};
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(open_all(j, vt_fault_alloc(&fault), &m, &p, &d) == VT_OK);
  if (p == NULL) exit(1);
  CHECK(fail_step(step_init, p, &fault) > 0);
  CHECK(fail_step(step_random, p, &fault) > 0);
  CHECK(fail_step(step_run, p, &fault) == 0); /* all memory was taken before */
  CHECK(fail_step(step_digest, p, &fault) > 0);
  memcpy(out, digest, sizeof digest);
  vt_program_free(p);
  vt_model_free(m);
  CHECK(fault.live == 0);
}

/* Without any failure and with the C library's memory. */
static void undisturbed(const job *j, uint8_t out[32]) {
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(open_all(j, (vt_alloc){0}, &m, &p, &d) == VT_OK);
  if (p == NULL) exit(1);
  CHECK(step_init(p, &d) == VT_OK && step_random(p, &d) == VT_OK && step_run(p, &d) == VT_OK);
  CHECK(vt_program_digest(p, out, &d) == VT_OK);
  vt_program_free(p);
  vt_model_free(m);
}

static void check_job(const job *j) {
  uint8_t quiet[32], failing[32];
  const long asked = fail_opening(j);
  undisturbed(j, quiet);
  fail_steps(j, failing);
  CHECK(asked > 20 && memcmp(quiet, failing, sizeof quiet) == 0);
}

/* ---- giving a tensor ---- */

static void test_set(void) {
  const job j = {tiny, "reference", tiny_dims, 1};
  vt_fault fault = {0};
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {0};
  int32_t index[3] = {1, 3, 0};
  const vt_tensor t = {.dtype = VT_DTYPE_I32, .rank = 1, .dim = {2}, .data = index};
  vt_tensor odd = t; /* at an odd address: it is copied first */
  odd.data = memmove((char *)index + 1, index, 2 * sizeof *index);
  CHECK(open_all(&j, vt_fault_alloc(&fault), &m, &p, &d) == VT_OK);
  if (p == NULL) exit(1);
  fault.left = fault.asked + 1;
  check_failure(vt_program_set_input(p, "i", &odd, &d), &d, 1);
  fault.left = 0;
  CHECK(vt_program_run(p, NULL) == VT_NAME); /* it has no value yet */
  CHECK(vt_program_set_input(p, "i", &odd, NULL) == VT_OK);
  memmove(index, odd.data, 2 * sizeof *index);
  const long asked = fault.asked;
  CHECK(vt_program_set_input(p, "i", &t, NULL) == VT_OK && fault.asked == asked);
  vt_program_free(p);
  vt_model_free(m);
  CHECK(fault.live == 0);
}

int main(void) {
  unsetenv("VOLTA_BACKEND");
  check_job(&(job){tiny, "reference:0", tiny_dims, 1});
  check_job(&(job){tiny, "reference:1", tiny_dims, 1});
  check_job(&(job){large, "reference:0", large_dims, 2});
  if (vt_test_is_long()) check_job(&(job){large, "reference:1", large_dims, 2});
  test_set();
  TEST_DONE();
}
