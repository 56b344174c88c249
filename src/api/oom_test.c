/* SPDX-License-Identifier: Apache-2.0
 * oom_test.c - lets each allocation fail in turn, from the parser to the digest. Each time the
 * status is VT_NOMEM with a message, nothing leaks, and objects that existed before still give
 * right bits. A job is a model with the backend that it runs on. The fail_ functions return how
 * many allocations they let fail. */
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

/* A model with compositions, layers and a repeat. */
static const char large[] =
    "volta 1\n"
    "model large {\n"
    "  dim B, T\n"
    "  dim V = 5, C = 4\n"
    "  input tokens: i32[B, T] in 0..V-1\n"
    "  input keep: bool[B, T, 1]\n"
    "  param wpe: f32[8, C] = uniform(low=-0.5, high=0.5)\n"
    "  param bias: f32[C] from f16 = zeros\n"
    "  x = embedding tok(tokens, rows=V, width=C) + slice(wpe, start=[0, 0], stop=[T, C])\n"
    "  x = select(keep, x, 0) + bias\n"
    "  repeat 2 as h {\n"
    "    x = x + attention attn(layer_norm ln1(x), heads=2, causal=true, init=xavier_normal,\n"
    "                           layout=out_in)\n"
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

/* ---- parsing and opening, before which nothing exists ---- */

static vt_status parse_and_open(const job *j, vt_alloc a, vt_model **m, vt_program **p,
                                vt_diag *d) {
  const vt_options o = {
      .size = sizeof o, .n_bind = j->n_bind, .bind = j->bind, .backend = j->backend, .alloc = &a};
  VT_TRY(vt_model_parse(j->text, strlen(j->text), &a, m, d));
  return vt_program_new(*m, &o, p, d);
}

static void expect_out_of_memory(vt_status s, const vt_diag *d, long allocation) {
  const int right = s == VT_NOMEM && d->code == VT_NOMEM && d->text[0] != 0;
  CHECK(right);
  if (!right)
    fprintf(stderr, "  allocation %ld: status %s, diag %s, '%s'\n", allocation, vt_status_name(s),
            vt_status_name(d->code), d->text);
}

/* Lets each allocation of the parser fail in turn; returns their number. */
static long fail_parser_allocations(const job *j) {
  long asked = 0;
  for (long left = 0; left <= asked; left++) {
    vt_fault fault = {.left = left};
    const vt_alloc a = vt_fault_alloc(&fault);
    vt_model *m = NULL;
    vt_diag d = {0};
    const vt_status s = vt_model_parse(j->text, strlen(j->text), &a, &m, &d);
    if (left == 0) asked = fault.asked;
    if (left > 0) expect_out_of_memory(s, &d, left);
    CHECK((s == VT_OK) == (left == 0) && (m == NULL) == (left > 0));
    vt_model_free(m);
    CHECK(fault.live == 0);
  }
  return asked;
}

/* Lets each allocation of parsing and opening fail in turn; returns their number. */
static long fail_opening_allocations(const job *j) {
  vt_fault fault = {0};
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(parse_and_open(j, vt_fault_alloc(&fault), &m, &p, &d) == VT_OK);
  if (p == NULL) fprintf(stderr, "  %s\n", d.text);
  const long asked = fault.asked;
  vt_program_free(p);
  vt_model_free(m);
  CHECK(fault.live == 0);
  const long parsing = fail_parser_allocations(j);
  for (long left = parsing + 1; left <= asked; left++) {
    fault = (vt_fault){.left = left};
    m = NULL;
    p = NULL;
    memset(&d, 0, sizeof d);
    expect_out_of_memory(parse_and_open(j, vt_fault_alloc(&fault), &m, &p, &d), &d, left);
    CHECK(p == NULL);
    vt_model_free(m);
    CHECK(fault.live == 0);
  }
  return asked;
}

/* ---- calls on a program, which stays usable after each failure ---- */

static uint8_t digest[32];

static vt_status call_init_params(vt_program *p, vt_diag *d) {
  return vt_program_init_params(p, 1, d);
}
static vt_status call_random_inputs(vt_program *p, vt_diag *d) {
  return vt_program_random_inputs(p, 2, d);
}
static vt_status call_run(vt_program *p, vt_diag *d) { return vt_program_run(p, d); }
static vt_status call_digest(vt_program *p, vt_diag *d) { return vt_program_digest(p, digest, d); }
typedef vt_status call_fn(vt_program *p, vt_diag *d);

/* Lets each allocation of a call fail in turn, then lets the call succeed; returns their number. */
static long fail_call_allocations(call_fn *call, vt_program *p, vt_fault *fault) {
  long failed = 0;
  for (long k = 1;; k++) {
    vt_diag d = {0};
    const long before = fault->live;
    fault->left = fault->asked + k;
    const vt_status s = call(p, &d);
    const int reached = fault->asked >= fault->left;
    fault->left = 0;
    CHECK(fault->live == before);
    if (!reached) { /* the call succeeded with fewer than k allocations */
      CHECK(s == VT_OK && d.code == VT_OK);
      return failed;
    }
    expect_out_of_memory(s, &d, k);
    failed++;
  }
}

static void fail_each_call_and_digest(const job *j, uint8_t out[32]) {
  vt_fault fault = {0};
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(parse_and_open(j, vt_fault_alloc(&fault), &m, &p, &d) == VT_OK);
  if (p == NULL) exit(1);
  CHECK(fail_call_allocations(call_init_params, p, &fault) > 0);
  CHECK(fail_call_allocations(call_random_inputs, p, &fault) > 0);
  CHECK(fail_call_allocations(call_run, p, &fault) == 0); /* a run allocates nothing */
  CHECK(fail_call_allocations(call_digest, p, &fault) > 0);
  memcpy(out, digest, sizeof digest);
  vt_program_free(p);
  vt_model_free(m);
  CHECK(fault.live == 0);
}

/* Runs the model with the C library's allocator and writes the right digest. */
static void run_without_failures(const job *j, uint8_t out[32]) {
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {0};
  CHECK(parse_and_open(j, (vt_alloc){0}, &m, &p, &d) == VT_OK);
  if (p == NULL) exit(1);
  CHECK(call_init_params(p, &d) == VT_OK && call_random_inputs(p, &d) == VT_OK &&
        call_run(p, &d) == VT_OK);
  CHECK(vt_program_digest(p, out, &d) == VT_OK);
  vt_program_free(p);
  vt_model_free(m);
}

static void check_all_failures(const job *j) {
  uint8_t expected[32], failing[32];
  const long asked = fail_opening_allocations(j);
  run_without_failures(j, expected);
  fail_each_call_and_digest(j, failing);
  CHECK(asked > 20 && memcmp(expected, failing, sizeof expected) == 0);
}

/* ---- vt_program_set_input ---- */

/* vt_program_set_input copies only unaligned data, so only then may an allocation fail. */
static void test_unaligned_input_out_of_memory(void) {
  const job j = {tiny, "reference", tiny_dims, 1};
  vt_fault fault = {0};
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {0};
  int32_t index[3] = {1, 3, 0};
  const vt_tensor t = {.dtype = VT_DTYPE_I32, .rank = 1, .dim = {2}, .data = index};
  vt_tensor odd = t; /* the same data at an odd address, so it is copied */
  odd.data = memmove((char *)index + 1, index, 2 * sizeof *index);
  CHECK(parse_and_open(&j, vt_fault_alloc(&fault), &m, &p, &d) == VT_OK);
  if (p == NULL) exit(1);
  fault.left = fault.asked + 1;
  expect_out_of_memory(vt_program_set_input(p, "i", &odd, &d), &d, 1);
  fault.left = 0;
  CHECK(vt_program_run(p, NULL) == VT_NAME); /* the input has no value */
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
  check_all_failures(&(job){tiny, "reference:0", tiny_dims, 1});
  check_all_failures(&(job){tiny, "reference:1", tiny_dims, 1});
  check_all_failures(&(job){large, "reference:0", large_dims, 2});
  if (vt_test_is_long()) check_all_failures(&(job){large, "reference:1", large_dims, 2});
  test_unaligned_input_out_of_memory();
  TEST_DONE();
}
