/* SPDX-License-Identifier: Apache-2.0
 * reduced_test.h - for the tests of reductions and rows: runs a step with teams of every
 * instruction set and several thread counts, and compares its bits with those of the op's own
 * kernel. Operands have many kinds of layouts. */
#ifndef VT_REDUCED_TEST_H
#define VT_REDUCED_TEST_H
#include <string.h>
#include "cpu_backend.h"
#include "vt_num.h"
#include "vt_test.h"

enum { REDUCED_TEAMS = 16, REDUCED_OPERANDS = 5, REDUCED_RESULTS = 3 };
static vt_cpu_team reduced_team[REDUCED_TEAMS];
static uint32_t reduced_teams;
static vt_fault reduced_fault;

static inline void reduced_open_teams(void) {
  static const char *const isas[] = {"scalar", "sse2", "avx2", "avx512"};
  static const unsigned threads[] = {1, 2, 3, 7};
  for (int i = 0; i < REDUCED_TEAMS; i++) {
    vt_diag d = {0};
    vt_cpu_team t = {.kernels = vt_cpu_kernels_of(isas[i / 4]), .threads = threads[i % 4]};
    if (t.kernels == NULL) continue;
    CHECK(vt_pool_new(t.threads, vt_fault_alloc(&reduced_fault), &t.pool, &d) == VT_OK);
    reduced_team[reduced_teams++] = t;
  }
}

static inline void reduced_close_teams(void) {
  for (uint32_t i = 0; i < reduced_teams; i++) vt_pool_free(reduced_team[i].pool);
}

static inline uint64_t reduced_random(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 24;
}

static inline void *reduced_alloc_poisoned(int64_t bytes) {
  void *p = malloc((size_t)bytes + 128);
  if (p == NULL) exit(2);
  memset(p, 0xa5, (size_t)bytes + 128);
  return (char *)p;
}

/* Layouts of an operand in memory. */
typedef enum reduced_layout {
  REDUCED_DENSE,
  REDUCED_TRANSPOSED, /* the first axis is innermost */
  REDUCED_STRIDED,    /* every element is followed by a gap */
  REDUCED_REPEATED,   /* the last axis has stride 0 */
  REDUCED_LAYOUTS
} reduced_layout;

static inline int64_t reduced_element_count(uint32_t rank, const int64_t *dim) {
  int64_t n = 1;
  for (uint32_t i = 0; i < rank; i++) n *= dim[i];
  return n;
}

static inline vt_view reduced_alloc_view(uint32_t dtype, uint32_t rank, const int64_t *dim,
                                         reduced_layout layout) {
  vt_view v = {.dtype = dtype, .rank = rank};
  int64_t stride = layout == REDUCED_STRIDED ? 2 : 1;
  for (uint32_t i = 0; i < rank; i++) {
    const uint32_t k = layout == REDUCED_TRANSPOSED ? i : rank - 1 - i;
    v.dim[k] = dim[k];
    v.stride[k] = layout == REDUCED_REPEATED && k == rank - 1 ? 0 : stride;
    stride *= v.stride[k] == 0 || dim[k] == 0 ? 1 : dim[k];
  }
  v.data = reduced_alloc_poisoned(stride * 8);
  return v;
}

static inline double reduced_random_number(uint64_t *seed, int special) {
  static const uint32_t bits[] = {0x80000000u, 0u,          0x7f800000u, 0xff800000u,
                                  0x7fc00000u, 0xffc12345u, 1u,          0x80000001u};
  if (special && reduced_random(seed) % 64 == 0)
    return (double)vt_f32_from_bits(bits[reduced_random(seed) % 8]);
  return ((double)(reduced_random(seed) % 2000001) - 1000000.0) / 131072.0;
}

/* Fills all elements of the operand, and the gaps between them, with random numbers; if `special`,
 * also with infinities and NaN. */
static inline void reduced_fill_random(const vt_view *v, uint64_t *seed, int special) {
  int64_t n = 1;
  for (uint32_t i = 0; i < v->rank; i++) n += (v->dim[i] > 0 ? v->dim[i] - 1 : 0) * v->stride[i];
  for (int64_t i = 0; i < n; i++) {
    const double x = reduced_random_number(seed, special);
    if (v->dtype == VT_DTYPE_F32) {
      ((float *)v->data)[i] = (float)x;
    } else if (v->dtype == VT_DTYPE_F64) {
      ((double *)v->data)[i] = x;
    } else if (v->dtype == VT_DTYPE_I32) {
      ((int32_t *)v->data)[i] = (int32_t)(reduced_random(seed) % 31) - 15;
    } else if (v->dtype == VT_DTYPE_I64) {
      ((uint64_t *)v->data)[i] = reduced_random(seed) << 24;
    } else {
      ((uint8_t *)v->data)[i] =
          (uint8_t)(reduced_random(seed) % (v->dtype == VT_DTYPE_BOOL ? 2 : 256));
    }
  }
}

/* ---- one step ---- */

typedef struct reduced_step {
  uint32_t op;
  const void *attrs;
  vt_view in[REDUCED_OPERANDS], out[REDUCED_RESULTS];
  uint32_t n_in, n_out;
} reduced_step;

static inline void reduced_run_handler(const reduced_step *s, const vt_cpu_team *t) {
  const vt_cpu_handler *h = vt_cpu_handler_of(s->op);
  const vt_bk_step step = {.op = s->op};
  vt_cpu_call c = {.team = t,
                   .step = &step,
                   .in = s->in,
                   .out = s->out,
                   .n_in = s->n_in,
                   .n_out = s->n_out,
                   .attrs = s->attrs};
  const uint64_t bytes = h->work == NULL ? 0 : h->work(&c);
  char *work = reduced_alloc_poisoned((int64_t)bytes);
  c.work = work + (64 - (uintptr_t)work % 64) % 64;
  CHECK(h->run(&c) == VT_OK);
  free(work);
}

static inline int64_t reduced_span_bytes(const vt_view *v) {
  int64_t n = 1;
  for (uint32_t i = 0; i < v->rank; i++) n += (v->dim[i] - 1) * v->stride[i];
  return vt_cpu_count(v) == 0 ? 0 : n * (int64_t)vt_cpu_bytes_of(v->dtype);
}

/* Checks that every team writes the bits of the op's own kernel, and nothing between its elements.
 * Frees results and operands. */
static inline void reduced_check_step_on_teams(reduced_step *s) {
  void *expected[REDUCED_RESULTS];
  vt_kernel k = {.in = s->in, .n_in = s->n_in, .out = s->out, .n_out = s->n_out, .attrs = s->attrs};
  CHECK(vt_op_get(s->op)->kernel(&k) == VT_OK);
  for (uint32_t r = 0; r < s->n_out; r++) {
    const int64_t bytes = reduced_span_bytes(&s->out[r]);
    expected[r] = reduced_alloc_poisoned(bytes);
    vt_canonical(s->out[r].data, s->out[r].dtype,
                 (uint64_t)bytes / vt_cpu_bytes_of(s->out[r].dtype));
    memcpy(expected[r], s->out[r].data, (size_t)bytes);
  }
  for (uint32_t i = 0; i < reduced_teams; i++) {
    int wrong = 0;
    for (uint32_t r = 0; r < s->n_out; r++)
      memset(s->out[r].data, 0xa5, (size_t)reduced_span_bytes(&s->out[r]));
    reduced_run_handler(s, &reduced_team[i]);
    for (uint32_t r = 0; r < s->n_out; r++) {
      const int64_t bytes = reduced_span_bytes(&s->out[r]);
      vt_canonical(s->out[r].data, s->out[r].dtype,
                   (uint64_t)bytes / vt_cpu_bytes_of(s->out[r].dtype));
      wrong |= memcmp(s->out[r].data, expected[r], (size_t)bytes) != 0;
    }
    CHECK(!wrong);
    if (wrong)
      (void)fprintf(stderr, "  ... %s on %s with %u threads, type %u, rank %u, [%lld, ...]\n",
                    vt_op_get(s->op)->name, reduced_team[i].kernels->isa, reduced_team[i].threads,
                    s->in[0].dtype, s->in[0].rank, (long long)s->in[0].dim[0]);
  }
  for (uint32_t r = 0; r < s->n_out; r++) {
    free(expected[r]);
    free(s->out[r].data);
  }
  for (uint32_t i = 0; i < s->n_in; i++) free(s->in[i].data);
}
#endif
