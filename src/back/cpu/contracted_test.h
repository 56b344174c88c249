/* SPDX-License-Identifier: Apache-2.0
 * contracted_test.h - for the tests of convolutions and integer products: runs trials on teams and
 * compares the results with those of the op's reference kernel. A trial is one step with its
 * operands; a team is an instruction set with a number of threads. Operands hold random numbers
 * and have strides of all kinds; wild numbers include tiny and huge ones, infinities and NaN. */
#ifndef VT_CONTRACTED_TEST_H
#define VT_CONTRACTED_TEST_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cpu_backend.h"
#include "vt_test.h"

enum { OPERANDS = 5 };

/* ---- numbers ---- */

static uint64_t random_state = 20240607;
static uint64_t random_word(void) { /* SplitMix64 */
  uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int64_t random_between(int64_t low, int64_t high) {
  return low + (int64_t)(random_word() % (uint64_t)(high - low + 1));
}

static double random_real(int wild) {
  static const double odd[] = {0.0, -0.0, 1e-40, -1e-45, 3e38, -3e38, 1e-30};
  if (wild && random_between(0, 9) == 0) return odd[random_between(0, 6)];
  if (wild && random_between(0, 99) == 0)
    return random_between(0, 1) ? (double)INFINITY : (double)NAN;
  return (double)random_between(-1000000, 1000000) / 65536.0;
}

static void store_random_number(void *at, uint32_t dtype, int wild) {
  const double x = random_real(wild);
  const float f = (float)x;
  const int32_t i = (int32_t)random_word();
  if (dtype == VT_DTYPE_F32) memcpy(at, &f, sizeof f);
  if (dtype == VT_DTYPE_F64) memcpy(at, &x, sizeof x);
  if (dtype == VT_DTYPE_I32) memcpy(at, &i, sizeof i);
  if (dtype == VT_DTYPE_I8 || dtype == VT_DTYPE_U8) {
    const uint8_t edges[] = {0, 127, 128, 255};
    const uint8_t b = random_between(0, 2) ? (uint8_t)i : edges[random_between(0, 3)];
    memcpy(at, &b, 1);
  }
}

/* ---- tensors ---- */

/* Fills the view with random numbers. Exactly the bytes that it spans are allocated, so that
 * sanitizers report any read past them. */
static void alloc_random_data(vt_view *v, int wild) {
  const size_t bytes = (size_t)vt_cpu_bytes_of(v->dtype);
  int64_t last = 0;
  for (uint32_t i = 0; i < v->rank; i++) last += v->dim[i] > 0 ? (v->dim[i] - 1) * v->stride[i] : 0;
  v->data = malloc((size_t)(last + 1) * bytes);
  CHECK(v->data != NULL);
  for (int64_t i = 0; i <= last; i++)
    store_random_number((char *)v->data + (size_t)i * bytes, v->dtype, wild);
}

/* Makes an operand of random numbers whose axes may be permuted, have gaps or be broadcast. */
static vt_view random_view(uint32_t dtype, uint32_t rank, const int64_t *dim, int wild) {
  vt_view v = {.dtype = dtype, .rank = rank};
  const int dense = random_between(0, 1) == 0, swapped = (int)random_between(0, 3);
  int64_t step = 1;
  memcpy(v.dim, dim, rank * sizeof *dim);
  for (uint32_t i = rank; i-- > 0;) {
    const uint32_t axis = !dense && swapped == 0 && rank > 1 ? (i + 1) % rank : i;
    v.stride[axis] = step;
    step *= v.dim[axis] > 0 ? v.dim[axis] : 1;
    if (!dense && random_between(0, 4) == 0) step += random_between(1, 5);
    if (!dense && random_between(0, 9) == 0) v.stride[axis] = 0;
  }
  alloc_random_data(&v, wild);
  return v;
}

static vt_view result_view(uint32_t dtype, uint32_t rank, const int64_t *dim) {
  vt_view v = {.dtype = dtype, .rank = rank};
  int64_t step = 1;
  memcpy(v.dim, dim, rank * sizeof *dim);
  for (uint32_t i = rank; i-- > 0; step *= v.dim[i] > 0 ? v.dim[i] : 1) v.stride[i] = step;
  alloc_random_data(&v, 0);
  return v;
}

static int is_same_number_or_nans(const char *a, const char *b, uint32_t dtype) {
  float f[2];
  double d[2];
  memcpy(&f[0], a, 4);
  memcpy(&f[1], b, 4);
  if (dtype == VT_DTYPE_F32 && f[0] != f[0] && f[1] != f[1]) return 1; /* all NaNs count as equal */
  if (dtype == VT_DTYPE_F64) {
    memcpy(&d[0], a, 8);
    memcpy(&d[1], b, 8);
    if (d[0] != d[0] && d[1] != d[1]) return 1;
  }
  return memcmp(a, b, (size_t)vt_cpu_bytes_of(dtype)) == 0;
}

static int have_same_bits_or_nans(const vt_view *a, const vt_view *b) {
  const int64_t bytes = (int64_t)vt_cpu_bytes_of(a->dtype);
  for (int64_t i = 0; i < vt_cpu_count(a); i++)
    if (!is_same_number_or_nans((char *)a->data + i * bytes, (char *)b->data + i * bytes, a->dtype))
      return 0;
  return 1;
}

/* ---- running ---- */

typedef struct trial {
  uint32_t op;
  const void *attrs;
  vt_view in[OPERANDS];
  uint32_t n_in;
  vt_view out;
} trial;

static void *alloc_scratch(size_t bytes) {
  void *p = aligned_alloc(64, (bytes + 64) / 64 * 64);
  CHECK(p != NULL);
  memset(p, 0xff, bytes); /* NaN bytes, because a handler must not rely on what scratch contains */
  return p;
}

static void run_reference(const trial *t) {
  const vt_op_info *op = vt_op_get(t->op);
  const uint64_t bytes = op->work != NULL ? op->work(t->in, t->n_in) : 0;
  vt_kernel k = {.in = t->in, .n_in = t->n_in, .n_out = 1, .out = &t->out, .attrs = t->attrs};
  k.work = alloc_scratch((size_t)bytes);
  CHECK(op->kernel(&k) == VT_OK);
  free(k.work);
}

/* If operands are placed `as_parameters`, a handler may cache data from them: the step runs twice,
 * so that the second run uses what the first one cached. */
static void run_handler(const trial *t, const vt_cpu_team *team, int as_parameters) {
  const vt_cpu_handler *h = vt_cpu_handler_of(t->op);
  vt_bk_tensor tensor[OPERANDS] = {{0}};
  uint64_t version[OPERANDS] = {0};
  for (int i = 0; i < OPERANDS; i++) tensor[i].arena = as_parameters ? VT_BK_ARENA_PARAMETER : 0;
  for (int i = 0; i < OPERANDS; i++) version[i] = as_parameters ? 5 : 0;
  const vt_bk_step step = {.size = sizeof step, .op = t->op, .in = tensor, .n_in = t->n_in};
  vt_cpu_call c = {.team = team,
                   .step = &step,
                   .in = t->in,
                   .out = &t->out,
                   .n_in = t->n_in,
                   .n_out = 1,
                   .attrs = t->attrs};
  const size_t keep = h->cache != NULL ? (size_t)h->cache(&c) : 0;
  c.work = alloc_scratch((size_t)h->work(&c));
  c.cached = keep > 0 ? memset(alloc_scratch(keep), 0, keep) : NULL;
  c.version = version;
  CHECK(h->run(&c) == VT_OK);
  if (as_parameters) CHECK(h->run(&c) == VT_OK);
  free(c.work);
  free(c.cached);
}

static void *resize_memory(void *user, void *p, size_t old_size, size_t new_size) {
  (void)user;
  (void)old_size;
  if (new_size > 0) return realloc(p, new_size);
  free(p);
  return NULL;
}

/* Opens a team for each instruction set that this processor has, with 1, 2, 3 and 7 threads. */
enum { TEAMS = 16 };
static int teams_open(vt_cpu_team teams[TEAMS]) {
  static const char *const isa[] = {"scalar", "sse2", "avx2", "avx512"};
  static const uint32_t threads[] = {1, 2, 3, 7};
  const vt_alloc a = {.resize = resize_memory};
  vt_diag d = {0};
  int n = 0;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4 && vt_cpu_kernels_of(isa[i]) != NULL; j++, n++) {
      teams[n] = (vt_cpu_team){.kernels = vt_cpu_kernels_of(isa[i]), .threads = threads[j]};
      CHECK(vt_pool_new(threads[j], a, &teams[n].pool, &d) == VT_OK);
    }
  return n;
}
static void teams_close(vt_cpu_team teams[TEAMS], int n) {
  for (int i = 0; i < n; i++) vt_pool_free(teams[i].pool);
}

/* Checks that every team computes the bits of the reference kernel; frees all operands and results.
 * */
static void check_trial(trial *t, const vt_cpu_team *teams, int n, const char *what) {
  const vt_view out = t->out;
  run_reference(t);
  for (int i = 0; i < n; i++) {
    t->out = result_view(out.dtype, out.rank, out.dim);
    run_handler(t, &teams[i], i % 2);
    if (!have_same_bits_or_nans(&out, &t->out)) {
      fprintf(stderr, "%s: %s, %u threads\n", what, teams[i].kernels->isa, teams[i].threads);
      vt_test_failed++;
    }
    free(t->out.data);
  }
  for (uint32_t i = 0; i < t->n_in; i++) free(t->in[i].data);
  free(out.data);
}
#endif
