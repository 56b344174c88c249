/* SPDX-License-Identifier: Apache-2.0
 * card_step_test.h - runs a step with all its tensors in one arena, on a card through the ABI and
 * with the op's reference kernel, and compares every byte. Operands have many layouts. The
 * reference kernel works in card_expected, a copy of the arena. */
#ifndef VT_CARD_STEP_TEST_H
#define VT_CARD_STEP_TEST_H
#include <string.h>
#include "cuda_backend.h"
#include "vt_num.h"
#include "vt_test.h"

enum { CARD_ARENA = 48 << 20, CARD_GAP = 256, CARD_OPERANDS = 5, CARD_RESULTS = 3 };
static _Alignas(256) char card_arena[CARD_ARENA], card_expected[CARD_ARENA];
static vt_fault card_fault;
static const vt_bk_api *card_api;
static vt_bk_device *card_device;
static uint64_t card_buffer;

static inline void *card_host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  return vt_fault_resize(user, p, (size_t)old_size, (size_t)new_size);
}
static inline void card_host_report(void *user, int32_t status, const char *text) {
  (void)user;
  (void)fprintf(stderr, "%d: %s\n", status, text);
}
static const vt_bk_host card_host = {.size = sizeof card_host,
                                     .abi_major = VT_BK_ABI_MAJOR,
                                     .user = &card_fault,
                                     .resize = card_host_resize,
                                     .diag = card_host_report};

/* Opens the card; returns 0 on a machine without one. */
static inline int card_open(void) {
  vt_backend_query_fn vt_cuda_query;
  card_api = vt_cuda_query(&card_host);
  if (card_api->device_open(&card_host, 0, &card_device) != VT_OK) return 0;
  CHECK(card_api->buffer_new(card_device, CARD_ARENA, &card_buffer) == VT_OK);
  return 1;
}
static inline void card_close(void) {
  card_api->buffer_free(card_device, card_buffer);
  card_api->device_close(card_device);
  CHECK(card_fault.live == 0);
}

static inline uint64_t card_random_word(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *seed >> 24;
}

/* ---- tensors ---- */

typedef enum card_layout {
  CARD_DENSE,
  CARD_TRANSPOSED, /* transposed: the first axis is innermost */
  CARD_STEPPED,    /* elements have gaps between them */
  CARD_BACK,       /* the last axis has a negative stride */
  CARD_REPEATED,   /* the last axis has stride 0; for operands only */
  CARD_LAYOUTS
} card_layout;

typedef struct card_step {
  uint32_t op;
  const void *attrs;
  uint64_t attrs_size;
  vt_bk_tensor in[CARD_OPERANDS], out[CARD_RESULTS];
  uint32_t n_in, n_out;
  uint64_t used, seed;
  int special;
} card_step;

static inline vt_bk_tensor card_describe_tensor(uint32_t dtype, uint32_t rank, const int64_t *dim,
                                                card_layout layout) {
  vt_bk_tensor t = {.size = sizeof t, .dtype = dtype, .rank = rank};
  int64_t stride = layout == CARD_STEPPED ? 2 : 1;
  for (uint32_t i = 0; i < rank; i++) {
    const uint32_t k = layout == CARD_TRANSPOSED ? i : rank - 1 - i;
    t.dim[k] = dim[k];
    t.stride[k] = layout == CARD_REPEATED && k == rank - 1 ? 0 : stride;
    stride *= t.stride[k] == 0 || dim[k] == 0 ? 1 : dim[k];
  }
  if (layout == CARD_BACK && rank > 0) t.stride[rank - 1] = -t.stride[rank - 1];
  return t;
}

/* Number of elements from the lowest to the highest address; *elements_before is how many of them
 * precede element 0. */
static inline int64_t card_count_spanned_elements(const vt_bk_tensor *t, int64_t *elements_before) {
  int64_t low = 0, high = 0;
  for (uint32_t k = 0; k < t->rank; k++) {
    const int64_t reach = t->dim[k] > 0 ? t->stride[k] * (t->dim[k] - 1) : 0;
    *(reach < 0 ? &low : &high) += reach;
  }
  *elements_before = -low;
  return high - low + 1;
}

static inline double card_random_number(card_step *s) {
  static const uint32_t bits[] = {0x80000000u, 0u,          0x7f800000u, 0xff800000u,
                                  0x7fc00000u, 0xffc12345u, 1u,          0x80000001u};
  if (s->special && card_random_word(&s->seed) % 64 == 0)
    return (double)vt_f32_from_bits(bits[card_random_word(&s->seed) % 8]);
  return ((double)(card_random_word(&s->seed) % 2000001) - 1000000.0) / 131072.0;
}

static inline void card_fill_random(card_step *s, uint32_t dtype, char *at, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const double x = card_random_number(s);
    const uint64_t u = card_random_word(&s->seed) % (dtype == VT_DTYPE_BOOL ? 2 : UINT64_MAX);
    const float narrow = (float)x;
    const size_t size = vt_cuda_bytes_of(dtype);
    memcpy(at + (size_t)i * size,
           dtype == VT_DTYPE_F32   ? (const void *)&narrow
           : dtype == VT_DTYPE_F64 ? (const void *)&x
                                   : (const void *)&u,
           size);
  }
}

/* Places the tensor after the others and fills its whole span with values. */
static inline vt_bk_tensor card_place_tensor(card_step *s, vt_bk_tensor t) {
  int64_t before;
  const int64_t n = card_count_spanned_elements(&t, &before),
                size = (int64_t)vt_cuda_bytes_of(t.dtype);
  if (s->used + (uint64_t)(n * size) + 2 * CARD_GAP > CARD_ARENA) exit(2);
  card_fill_random(s, t.dtype, card_arena + s->used, n);
  t.offset = s->used + (uint64_t)(before * size);
  s->used = (s->used + (uint64_t)(n * size) + 2 * CARD_GAP) / CARD_GAP * CARD_GAP;
  return t;
}

/* ---- one step ---- */

static inline vt_view card_view_of_expected(const vt_bk_tensor *t) {
  vt_view v = {.dtype = t->dtype, .rank = t->rank, .data = card_expected + t->offset};
  memcpy(v.dim, t->dim, sizeof v.dim);
  memcpy(v.stride, t->stride, sizeof v.stride);
  return v;
}

static inline int card_run_on_device(const card_step *s) {
  vt_bk_step step = {.size = sizeof step,
                     .op = s->op,
                     .n_in = s->n_in,
                     .n_out = s->n_out,
                     .in = s->in,
                     .out = s->out,
                     .attrs = s->attrs,
                     .attrs_size = s->attrs_size};
  vt_bk_program *p = NULL;
  vt_bk_error error = {.size = sizeof error};
  step.work_offset = s->used;
  CHECK(card_api->workspace(card_device, &step, &step.work_bytes) == VT_OK);
  if (s->used + step.work_bytes > CARD_ARENA) exit(2);
  int32_t status = card_api->copy(card_device, card_arena, card_buffer, 0, s->used, 1);
  if (status == VT_OK) status = card_api->step_check(card_device, &step);
  if (status == VT_OK) status = card_api->program_build(card_device, &step, 1, &p);
  if (status == VT_OK) status = card_api->run(p, &card_buffer, 1);
  if (status == VT_OK) status = card_api->wait(p, &error);
  if (status == VT_OK) status = card_api->copy(card_device, card_arena, card_buffer, 0, s->used, 0);
  if (p != NULL) card_api->program_free(p);
  return status == VT_OK;
}

/* Compares the arenas after making all NaNs of the results canonical. Bytes between and around
 * elements are compared too. */
static inline int card_arenas_are_equal(const card_step *s) {
  for (uint32_t r = 0; r < s->n_out; r++) {
    int64_t before;
    const int64_t n = card_count_spanned_elements(&s->out[r], &before);
    const uint64_t from = s->out[r].offset - (uint64_t)before * vt_cuda_bytes_of(s->out[r].dtype);
    vt_canonical(card_arena + from, s->out[r].dtype, (uint64_t)n);
    vt_canonical(card_expected + from, s->out[r].dtype, (uint64_t)n);
  }
  return memcmp(card_arena, card_expected, (size_t)s->used) == 0;
}

static inline void card_run_and_compare(card_step *s) {
  vt_view in[CARD_OPERANDS], out[CARD_RESULTS];
  vt_kernel k = {.in = in, .n_in = s->n_in, .out = out, .n_out = s->n_out, .attrs = s->attrs};
  for (uint32_t i = 0; i < s->n_in; i++) in[i] = card_view_of_expected(&s->in[i]);
  for (uint32_t i = 0; i < s->n_out; i++) out[i] = card_view_of_expected(&s->out[i]);
  memcpy(card_expected, card_arena, (size_t)s->used);
  CHECK(vt_op_get(s->op)->kernel(&k) == VT_OK);
  const int ran = card_run_on_device(s), same = ran && card_arenas_are_equal(s);
  CHECK(same);
  if (!same)
    (void)fprintf(stderr, "  ... %s of %s, rank %u, [%lld, %lld ...], stride %lld: %s\n",
                  vt_op_get(s->op)->name, vt_dtype_name(s->in[0].dtype), s->in[0].rank,
                  (long long)s->in[0].dim[0], (long long)s->in[0].dim[1],
                  (long long)s->in[0].stride[0], ran ? "other bits" : "did not run");
}
#endif
