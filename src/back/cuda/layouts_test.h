/* SPDX-License-Identifier: Apache-2.0
 * layouts_test.h - for the tests of data movement, indexing and products: runs a step over tensors
 * of any layout on a device three times (issued, recorded, replayed) and once with the reference
 * kernel. Bytes between and around the results are compared too. */
#ifndef VT_LAYOUTS_TEST_H
#define VT_LAYOUTS_TEST_H
#include <string.h>
#include "cuda_backend.h"
#include "vt_fpenv.h"
#include "vt_num.h"
#include "vt_test.h"

enum { ARENA = 1 << 22, OPERANDS = 4, GAP = 256 };
static _Alignas(256) char arena[ARENA], expected[ARENA];
static const vt_bk_api *api;
static vt_bk_device *device;
static uint64_t buffers[2]; /* handles of the buffers for tensors and for scratch */

/* The layout of a tensor. LATE is contiguous but not aligned, SPREAD has gaps, REVERSED has
 * negative strides, REPEATED has stride 0 along the first axis. */
typedef enum layout { DENSE, LATE, TRANSPOSED, SPREAD, REVERSED, REPEATED, LAYOUTS } layout;

typedef struct trial {
  uint32_t op, n_in, n_out;
  const void *attrs;
  uint64_t attrs_size;
  vt_bk_tensor in[OPERANDS], out[2];
  uint64_t used;
} trial;

/* ---- numbers ---- */

static uint64_t number_state = 7;
static uint64_t random_word(void) {
  uint64_t z = number_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
static int64_t random_below(int64_t n) { return (int64_t)(random_word() % (uint64_t)n); }

/* Returns a random number; many are special, and many are equal. */
static double random_or_special_real(void) {
  static const double special[] = {0, -0.0, 1, -1, 1e-40, -1e-45, 3e38, -3e38, 0.1, 0.25};
  const int64_t r = random_below(40);
  if (r == 0) return vt_f64_from_bits(UINT64_C(0x7ff0000000000000) | random_word() << 63);
  if (r == 1) return vt_f64_from_bits(UINT64_C(0x7ff8000000000000));
  if (r < 12) return special[random_below(10)];
  return (double)random_below(2000001) / 999983.0 - 1;
}

static void store_random(char *at, uint32_t dtype) {
  const double x = random_or_special_real();
  const uint64_t bits = random_word() % 5 == 0 ? 0 : random_word();
  if (dtype == VT_DTYPE_BOOL || dtype == VT_DTYPE_F16 || dtype == VT_DTYPE_BF16 ||
      dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64)
    vt_cast(&x, 1, VT_DTYPE_F64, at, 1, dtype, 1);
  else
    memcpy(at, &bits, vt_dtype_bytes(dtype));
}

/* ---- tensors ---- */

/* Computes *low, the offset of a tensor's lowest element from element 0, and *bytes, the number of
 * bytes from the lowest to the highest element. */
static void byte_span_of(const vt_bk_tensor *t, int64_t *low, int64_t *bytes) {
  int64_t least = 0, most = 0;
  for (uint32_t k = 0; k < t->rank; k++) {
    const int64_t reach = t->dim[k] > 0 ? t->stride[k] * (t->dim[k] - 1) : 0;
    least += reach < 0 ? reach : 0;
    most += reach > 0 ? reach : 0;
  }
  *low = least * (int64_t)vt_dtype_bytes(t->dtype);
  *bytes = (most - least + 1) * (int64_t)vt_dtype_bytes(t->dtype);
}

static vt_bk_tensor unplaced_tensor_of_layout(uint32_t dtype, uint32_t rank, const int64_t *dim,
                                              layout w) {
  vt_bk_tensor t = {.size = sizeof t, .dtype = dtype, .rank = rank};
  int64_t step = w == SPREAD ? 2 : 1;
  for (uint32_t k = 0; k < rank; k++) {
    const uint32_t axis = w == TRANSPOSED ? k : rank - 1 - k;
    t.dim[axis] = dim[axis];
    t.stride[axis] = step;
    step *= dim[axis] > 0 ? dim[axis] : 1;
    if (w == SPREAD) step += 1 + (int64_t)k;
    if (w == REVERSED && k % 2 == 0) t.stride[axis] = -t.stride[axis];
    if (w == REPEATED && k == 0 && rank > 1) t.stride[axis] = 0;
  }
  return t;
}

/* Places a tensor after the others and fills all bytes between its ends with random numbers. */
static void place_random_tensor(trial *s, vt_bk_tensor *t, layout w) {
  const uint64_t size = vt_dtype_bytes(t->dtype);
  int64_t low, bytes;
  byte_span_of(t, &low, &bytes);
  const uint64_t from = s->used + (w == LATE ? size : 0);
  t->offset = from - (uint64_t)low;
  if (from + (uint64_t)bytes + GAP > ARENA) abort();
  for (uint64_t i = 0; i < (uint64_t)bytes / size; i++)
    store_random(arena + from + i * size, t->dtype);
  s->used = (from + (uint64_t)bytes + 2 * GAP) / GAP * GAP;
}

static void add_operand(trial *s, uint32_t dtype, uint32_t rank, const int64_t *dim, layout w) {
  vt_bk_tensor *t = &s->in[s->n_in++];
  *t = unplaced_tensor_of_layout(dtype, rank, dim, w);
  place_random_tensor(s, t, w);
}

static inline int64_t element_count_of(const vt_bk_tensor *t) {
  int64_t n = 1;
  for (uint32_t k = 0; k < t->rank; k++) n *= t->dim[k];
  return n;
}
/* Returns the address of element number i of a tensor, row-major. */
static char *element_address(const vt_bk_tensor *t, int64_t i) {
  int64_t at = 0;
  for (uint32_t k = t->rank; k-- > 0; i /= t->dim[k]) at += i % t->dim[k] * t->stride[k];
  return arena + t->offset + at * (int64_t)vt_dtype_bytes(t->dtype);
}
static inline void store_int(const vt_bk_tensor *t, int64_t i, int64_t x) {
  const int32_t narrow = (int32_t)x;
  memcpy(element_address(t, i), t->dtype == VT_DTYPE_I64 ? (const void *)&x : &narrow,
         vt_dtype_bytes(t->dtype));
}

/* Adds the results; their types come from the op's inference rule. */
static void add_results(trial *s, layout w) {
  vt_type in[OPERANDS], out[VT_MAX_RESULTS] = {{0}};
  vt_diag d = {0};
  vt_dims *dims = NULL;
  for (uint32_t i = 0; i < s->n_in; i++) {
    in[i] = (vt_type){.dtype = s->in[i].dtype, .rank = s->in[i].rank};
    memcpy(in[i].dim, s->in[i].dim, sizeof in[i].dim);
  }
  const vt_rule r = {.dims = dims, .in = in, .n_in = s->n_in, .attrs = s->attrs};
  const vt_status status = vt_op_infer(vt_op_get(s->op), &r, out, &s->n_out, &d);
  if (status != VT_OK) fprintf(stderr, "%s: %s\n", vt_op_get(s->op)->name, d.text);
  if (status != VT_OK) abort();
  for (uint32_t i = 0; i < s->n_out; i++) {
    s->out[i] = unplaced_tensor_of_layout(out[i].dtype, out[i].rank, out[i].dim, w);
    place_random_tensor(s, &s->out[i], w);
  }
}

/* ---- runs ---- */

static vt_view view_of_expected(const vt_bk_tensor *t) {
  vt_view v = vt_step_view(t);
  v.data = expected + t->offset;
  return v;
}

static vt_status run_reference(const trial *s, vt_kernel *k) {
  const vt_op_info *op = vt_op_get(s->op);
  static vt_view views[OPERANDS + 2];
  for (uint32_t i = 0; i < s->n_in; i++) views[i] = view_of_expected(&s->in[i]);
  for (uint32_t i = 0; i < s->n_out; i++) views[OPERANDS + i] = view_of_expected(&s->out[i]);
  *k = (vt_kernel){.in = views, .n_in = s->n_in, .n_out = s->n_out, .out = views + OPERANDS};
  k->attrs = s->attrs;
  const size_t bytes = op->work != NULL ? (size_t)op->work(views, s->n_in) : 0;
  k->work = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (k->work == NULL) abort();
  const vt_status status = op->kernel(k);
  free(k->work);
  return status;
}

static int32_t issue_record_and_replay(vt_bk_program *p, uint64_t used, vt_bk_error *error) {
  int32_t status = VT_OK;
  for (int i = 0; i < 3 && status == VT_OK; i++) {
    status = api->copy(device, arena, buffers[0], 0, used, 1);
    if (status == VT_OK) status = api->run(p, buffers, 2);
    if (status == VT_OK) status = api->wait(p, error);
  }
  return status;
}

static int32_t run_device(const trial *s, vt_bk_error *error) {
  vt_bk_program *p = NULL;
  vt_bk_step step = {.size = sizeof step,
                     .op = s->op,
                     .n_in = s->n_in,
                     .n_out = s->n_out,
                     .in = s->in,
                     .out = s->out,
                     .attrs = s->attrs,
                     .attrs_size = s->attrs_size,
                     .work_arena = 1};
  int32_t status = api->step_check(device, &step);
  if (status == VT_OK) status = api->workspace(device, &step, &step.work_bytes);
  if (status == VT_OK) status = api->buffer_new(device, step.work_bytes + 1, &buffers[1]);
  if (status != VT_OK) return status;
  if (step.work_bytes > 0) { /* scratch must not be assumed to be zero: fill it with junk */
    static char junk[ARENA];
    memset(junk, 0xa5, sizeof junk);
    for (uint64_t at = 0; at < step.work_bytes && status == VT_OK; at += ARENA)
      status = api->copy(device, junk, buffers[1], at,
                         step.work_bytes - at < ARENA ? step.work_bytes - at : ARENA, 1);
  }
  if (status == VT_OK) status = api->program_build(device, &step, 1, &p);
  if (status == VT_OK) status = issue_record_and_replay(p, s->used, error);
  if (p != NULL) api->program_free(p);
  if (status == VT_OK) status = api->copy(device, arena, buffers[0], 0, s->used, 0);
  api->buffer_free(device, buffers[1]);
  return status;
}

static void canonicalize_nans(char *base, const vt_bk_tensor *t) {
  int64_t low, bytes;
  byte_span_of(t, &low, &bytes);
  vt_canonical(base + (int64_t)t->offset + low, t->dtype,
               (uint64_t)bytes / vt_dtype_bytes(t->dtype));
}

/* Runs the step on both sides and compares results, or the error's status, position and value. */
static void run_and_compare(trial *s, const char *how) {
  vt_bk_error error = {.size = sizeof error};
  vt_kernel k;
  memcpy(expected, arena, (size_t)s->used);
  const vt_status want = run_reference(s, &k);
  const int32_t ran = run_device(s, &error);
  int same = ran == VT_OK && error.status == (int32_t)want;
  for (uint32_t i = 0; i < s->n_out; i++) {
    canonicalize_nans(arena, &s->out[i]);
    canonicalize_nans(expected, &s->out[i]);
  }
  if (same && want == VT_OK) same = memcmp(arena, expected, (size_t)s->used) == 0;
  if (same && want == VT_RANGE) same = error.position == k.position && error.value == k.value;
  if (!same)
    fprintf(stderr, "%s of %s, %s: %s\n", vt_op_get(s->op)->name, vt_dtype_name(s->out->dtype), how,
            ran != VT_OK                    ? "did not run"
            : (int32_t)want != error.status ? "another error"
            : want == VT_RANGE              ? "another place"
                                            : "other bits");
  CHECK(same);
}

/* ---- the device ---- */

static vt_fault placed_fault;
static void *layouts_host_resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  return vt_fault_resize(user, p, (size_t)old_size, (size_t)new_size);
}
static void layouts_host_report(void *user, int32_t status, const char *text) {
  (void)user;
  fprintf(stderr, "%d: %s\n", status, text);
}

/* Opens the device; returns 0 on a machine without one. */
static int layouts_device_open(void) {
  static const vt_bk_host host = {.size = sizeof host,
                                  .abi_major = VT_BK_ABI_MAJOR,
                                  .user = &placed_fault,
                                  .resize = layouts_host_resize,
                                  .diag = layouts_host_report};
  vt_backend_query_fn vt_cuda_query;
  api = vt_cuda_query(&host);
  if (api->device_open(&host, 0, &device) != VT_OK) return 0;
  CHECK(api->buffer_new(device, ARENA, &buffers[0]) == VT_OK);
  return 1;
}

static void layouts_device_close(void) {
  api->buffer_free(device, buffers[0]);
  api->device_close(device);
  CHECK(placed_fault.live == 0);
}

#define TRIAL(name, a) \
  (trial) { .op = VT_OP_##name, .attrs = &(a), .attrs_size = sizeof(a) }
#define DIMS(...) \
  (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), ((const int64_t[]){__VA_ARGS__})
#endif
