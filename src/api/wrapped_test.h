/* SPDX-License-Identifier: Apache-2.0
 * wrapped_test.h - for tests: a registry whose backends are wrappers of this library's backends. A
 * wrapper counts every call, and calls that the gateway did not make; `fake` misbehaves on request.
 * The wrapper_ functions are the functions of the backend ABI; each calls the wrapped backend's.
 *   reference  CPU   wrapper of the reference
 *   island     TEST  wrapper of island
 *   fake       GPU   wrapper of the reference that misbehaves as the variable `wrapped` says
 * Only one source file of a program may include this header, because the registry replaces the
 * gateway's own. */
#ifndef WRAPPED_TEST_H
#define WRAPPED_TEST_H
#include <stdatomic.h>
#include <string.h>
#include "hostile_fpenv.h"
#include "registry.h"
#include "vt_test.h"

enum { WRAPPED_ROWS = 3, WRAPPED_OPS = 2048 }; /* number of backends; upper bound of op numbers */
/* The functions of the backend ABI, as indices of their counts and of the one that fails. */
enum {
  WRAPPED_QUERY,
  WRAPPED_COUNT,
  WRAPPED_OPEN,
  WRAPPED_CLOSE,
  WRAPPED_CAPS,
  WRAPPED_LISTED,
  WRAPPED_CHECK,
  WRAPPED_SCRATCH,
  WRAPPED_BUILD,
  WRAPPED_FREE,
  WRAPPED_NEW,
  WRAPPED_DROP,
  WRAPPED_COPY,
  WRAPPED_RUN,
  WRAPPED_WAIT,
  WRAPPED_CALLS
};

static struct wrapped {
  /* The next fields say how the backend `fake` behaves; the other two behave as the backend that
   * they wrap. */
  uint64_t declares;    /* capabilities that `fake` declares */
  uint32_t determinism; /* level of determinism that `fake` declares */
  uint32_t serves;      /* kinds of plans that `fake` declares to serve */
  uint32_t devices;     /* number of devices that `fake` has */
  /* Bytes of memory that `fake` declares; 0: as many as the reference. */
  uint64_t memory;
  uint64_t broken_capability; /* capability that `fake` declares and does not satisfy; 0: none */
  uint32_t broken_op;         /* op whose results `fake` gives with one wrong bit; 0: none */
  uint32_t refused_op;        /* op that `fake` does not accept; 0: none */
  uint32_t only_op;           /* the only op that `fake` accepts; 0: all */
  int narrows;                /* 1: copying to `fake` rounds f64 values to f32 */
  int fails;                  /* the function of `fake` that fails, WRAPPED_*; -1: none */
  int32_t status;             /* what the failing function returns */
  int changes_mode;           /* 1: runs on `fake` leave the floating-point mode changed */
  const char *fingerprint;    /* the fingerprint of `fake` */
  /* The next fields count what happened, in all three backends. */
  _Atomic uint32_t outside;                            /* calls that the gateway did not make */
  _Atomic uint32_t bad_modes;                          /* calls in a wrong floating-point mode */
  _Atomic uint32_t calls[WRAPPED_ROWS][WRAPPED_CALLS]; /* calls of each function */
  _Atomic uint32_t ran[WRAPPED_ROWS][WRAPPED_OPS];     /* steps of each op that ran */
  _Atomic long live; /* devices, programs and buffers that were not released yet */
} wrapped;

enum { WRAPPED_REFERENCE, WRAPPED_ISLAND, WRAPPED_FAKE }; /* rows of the registry */

/* Makes `fake` behave as the reference, and sets all counts to 0. */
static inline void wrapped_reset(void) {
  memset(&wrapped, 0, sizeof wrapped);
  wrapped.declares = UINT64_MAX;
  wrapped.determinism = VT_BK_DETERMINISM_STRICT;
  wrapped.serves = VT_BK_INFERENCE | VT_BK_TRAINING;
  wrapped.devices = 2;
  wrapped.fails = -1;
  wrapped.fingerprint = "fake-1";
}

typedef struct wrapper_device {
  int row; /* row of the registry */
  const vt_bk_host *host;
  const vt_bk_api *api; /* table of functions of the wrapped backend */
  vt_bk_device *dev;    /* its device */
} wrapper_device;

/* A result of a step: the step's op, and where the result is. */
typedef struct wrapper_result {
  uint32_t op;
  vt_bk_tensor t;
} wrapper_result;

typedef struct wrapper_program {
  wrapper_device *of;  /* its device */
  vt_bk_program *prog; /* the program of the wrapped backend */
  uint64_t n_steps, n_out;
  uint32_t *op;        /* op number of each step */
  wrapper_result *out; /* results of all steps */
} wrapper_program;

/* Counts a call of a wrapper's function; returns the status that the function must fail with, or
 * VT_OK. */
static inline int32_t count_call_or_fail(int row, int call) {
  wrapped.outside += !vt_gate_is_inside_call();
  wrapped.bad_modes += !hostile_words_equal(hostile_read_words(), hostile_numerics_words());
  wrapped.calls[row][call]++;
  return row == WRAPPED_FAKE && wrapped.fails == call ? wrapped.status : VT_OK;
}

/* ---- devices ---- */

vt_backend_query_fn vt_reference_query, vt_island_query;

static inline const vt_bk_api *functions_of_wrapped_backend(int row, const vt_bk_host *host) {
  return row == WRAPPED_ISLAND ? vt_island_query(host) : vt_reference_query(host);
}

static inline int32_t wrapper_device_count(int row, const vt_bk_host *host, uint32_t *out) {
  const int32_t s = count_call_or_fail(row, WRAPPED_COUNT);
  if (s != VT_OK) return s;
  if (row != WRAPPED_FAKE) return functions_of_wrapped_backend(row, host)->device_count(host, out);
  *out = wrapped.devices;
  return VT_OK;
}
/* Every device of the fake wraps the first device of the reference. */
static inline int32_t wrapper_device_open(int row, const vt_bk_host *host, uint32_t ordinal,
                                          vt_bk_device **out) {
  const int32_t noted = count_call_or_fail(row, WRAPPED_OPEN);
  if (noted != VT_OK) return noted;
  wrapper_device *dev = host->resize(host->user, NULL, 0, sizeof *dev);
  if (dev == NULL) return VT_NOMEM;
  *dev = (wrapper_device){.row = row, .host = host, .api = functions_of_wrapped_backend(row, host)};
  const int32_t s = dev->api->device_open(host, row == WRAPPED_FAKE ? 0 : ordinal, &dev->dev);
  if (s != VT_OK) {
    host->resize(host->user, dev, sizeof *dev, 0);
    return s;
  }
  wrapped.live++;
  *out = (vt_bk_device *)(void *)dev;
  return VT_OK;
}

static inline void wrapper_device_close(vt_bk_device *handle) {
  wrapper_device *dev = (wrapper_device *)(void *)handle;
  (void)count_call_or_fail(dev->row, WRAPPED_CLOSE);
  const vt_bk_host *host = dev->host;
  dev->api->device_close(dev->dev);
  host->resize(host->user, dev, sizeof *dev, 0);
  wrapped.live--;
}
static inline int32_t wrapper_capabilities(vt_bk_device *handle, vt_bk_caps *out) {
  wrapper_device *dev = (wrapper_device *)(void *)handle;
  int32_t s = count_call_or_fail(dev->row, WRAPPED_CAPS);
  if (s == VT_OK) s = dev->api->capabilities(dev->dev, out);
  if (s != VT_OK) return s;
  if (dev->row != WRAPPED_FAKE || out->size < sizeof *out) return VT_OK;
  out->has = wrapped.declares;
  out->determinism = wrapped.determinism;
  out->serves = wrapped.serves;
  out->fingerprint = wrapped.fingerprint;
  if (wrapped.memory != 0) out->memory = wrapped.memory;
  return VT_OK;
}
static inline int32_t wrapper_op_listed(vt_bk_device *handle, uint32_t op) {
  wrapper_device *dev = (wrapper_device *)(void *)handle;
  (void)count_call_or_fail(dev->row, WRAPPED_LISTED);
  return dev->api->op_listed(dev->dev, op);
}
static inline int32_t wrapper_step_check(vt_bk_device *handle, const vt_bk_step *step) {
  wrapper_device *dev = (wrapper_device *)(void *)handle;
  const int32_t s = count_call_or_fail(dev->row, WRAPPED_CHECK);
  if (s != VT_OK) return s;
  if (dev->row == WRAPPED_FAKE && step->op == wrapped.refused_op) return VT_UNSUPPORTED;
  if (dev->row == WRAPPED_FAKE && wrapped.only_op != 0 && step->op != wrapped.only_op)
    return VT_UNSUPPORTED;
  return dev->api->step_check(dev->dev, step);
}
static inline int32_t wrapper_workspace(vt_bk_device *handle, const vt_bk_step *step,
                                        uint64_t *out) {
  wrapper_device *dev = (wrapper_device *)(void *)handle;
  const int32_t s = count_call_or_fail(dev->row, WRAPPED_SCRATCH);
  return s == VT_OK ? dev->api->workspace(dev->dev, step, out) : s;
}

/* ---- programs ---- */

/* Records the op of each step and all results. */
static inline void record_steps(wrapper_program *p, const vt_bk_step *steps) {
  uint64_t n = 0;
  for (uint64_t i = 0; i < p->n_steps; i++) n += steps[i].n_out;
  p->op = calloc((size_t)p->n_steps + 1, sizeof *p->op);
  p->out = calloc((size_t)n + 1, sizeof *p->out);
  if (p->op == NULL || p->out == NULL) exit(1);
  for (uint64_t i = 0; i < p->n_steps; i++) {
    p->op[i] = steps[i].op;
    for (uint32_t k = 0; k < steps[i].n_out; k++)
      p->out[p->n_out++] = (wrapper_result){steps[i].op, steps[i].out[k]};
  }
}
static inline int32_t wrapper_program_build(vt_bk_device *handle, const vt_bk_step *steps,
                                            uint64_t n, vt_bk_program **out) {
  wrapper_device *dev = (wrapper_device *)(void *)handle;
  vt_bk_program *built = NULL;
  int32_t s = count_call_or_fail(dev->row, WRAPPED_BUILD);
  if (s == VT_OK) s = dev->api->program_build(dev->dev, steps, n, &built);
  if (s != VT_OK) return s;
  wrapper_program *p = calloc(1, sizeof *p);
  if (p == NULL) exit(1);
  *p = (wrapper_program){.of = dev, .prog = built, .n_steps = n};
  record_steps(p, steps);
  wrapped.live++;
  *out = (vt_bk_program *)(void *)p;
  return VT_OK;
}
static inline void wrapper_program_free(vt_bk_program *handle) {
  wrapper_program *p = (wrapper_program *)(void *)handle;
  (void)count_call_or_fail(p->of->row, WRAPPED_FREE);
  p->of->api->program_free(p->prog);
  free(p->op);
  free(p->out);
  free(p);
  wrapped.live--;
}
static inline int32_t wrapper_buffer_new(vt_bk_device *handle, uint64_t bytes, uint64_t *out) {
  wrapper_device *dev = (wrapper_device *)(void *)handle;
  int32_t s = count_call_or_fail(dev->row, WRAPPED_NEW);
  if (s == VT_OK) s = dev->api->buffer_new(dev->dev, bytes, out);
  wrapped.live += s == VT_OK;
  return s;
}
static inline void wrapper_buffer_free(vt_bk_device *handle, uint64_t buffer) {
  wrapper_device *dev = (wrapper_device *)(void *)handle;
  (void)count_call_or_fail(dev->row, WRAPPED_DROP);
  dev->api->buffer_free(dev->dev, buffer);
  wrapped.live--;
}
/* Copies values to the device, rounded to f32; all values of the model must be f64. */
static inline int32_t copy_to_device_as_f32(wrapper_device *dev, const void *host, uint64_t buffer,
                                            uint64_t offset, uint64_t bytes) {
  double *data = malloc((size_t)bytes + 1);
  if (data == NULL) exit(1);
  memcpy(data, host, (size_t)bytes);
  for (uint64_t i = 0; i < bytes / sizeof *data; i++) data[i] = (double)(float)data[i];
  const int32_t s = dev->api->copy(dev->dev, data, buffer, offset, bytes, 1);
  free(data);
  return s;
}
static inline int32_t wrapper_copy(vt_bk_device *handle, void *host, uint64_t buffer,
                                   uint64_t offset, uint64_t bytes, uint32_t to_device) {
  wrapper_device *dev = (wrapper_device *)(void *)handle;
  const int32_t noted = count_call_or_fail(dev->row, WRAPPED_COPY);
  if (noted != VT_OK) return noted;
  if (dev->row == WRAPPED_FAKE && wrapped.narrows && to_device != 0)
    return copy_to_device_as_f32(dev, host, buffer, offset, bytes);
  return dev->api->copy(dev->dev, host, buffer, offset, bytes, to_device);
}

/* ---- wrong results ---- */

/* Returns 1 if the last bit of this op's results must be wrong. */
static inline int must_break_op(uint32_t op) {
  const vt_op_info *x = vt_op_get(op);
  switch (wrapped.broken_capability) {
    case VT_BK_INT8_EXACT:
      return x->needs == VT_NEEDS_int8;
    case VT_BK_ATOMIC_OPS:
      return x->needs == VT_NEEDS_collisions;
    case VT_BK_DETERMINISTIC_REDUCTIONS:
      return x->needs == VT_NEEDS_reductions;
    case VT_BK_ROUNDED_MATH:
      return x->numerics == VT_NUMERICS_rounded;
    case VT_BK_REGIONS:
      return x->needs == VT_NEEDS_regions;
    default:
      return op == wrapped.broken_op && op != 0;
  }
}

/* Makes the results of one op wrong: rounds f64 to f32, or flushes subnormals, or flips a bit of
 * each element, as `wrapped.broken_capability` and `wrapped.broken_op` say. */
static inline void corrupt_elements(uint8_t *data, uint64_t n, uint32_t dtype, uint32_t op) {
  for (uint64_t i = 0; wrapped.broken_capability == VT_BK_FLOAT64 && dtype == VT_DTYPE_F64 && i < n;
       i++) {
    double x;
    memcpy(&x, data + 8 * i, 8);
    x = (double)(float)x;
    memcpy(data + 8 * i, &x, 8);
  }
  for (uint64_t i = 0;
       wrapped.broken_capability == VT_BK_SUBNORMALS && dtype == VT_DTYPE_F32 && i < n; i++) {
    uint32_t x;
    memcpy(&x, data + 4 * i, 4);
    if ((x & 0x7f800000) == 0) x &= 0x80000000;
    memcpy(data + 4 * i, &x, 4);
  }
  for (uint64_t i = 0; must_break_op(op) && i < n; i++) data[i * vt_dtype_bytes(dtype)] ^= 1;
}

/* Makes the results of broken ops wrong, but only after the last step has run, so that every step
 * has read right operands. */
static inline void corrupt_results(const wrapper_program *p, const uint64_t *buffers) {
  for (uint64_t k = 0; k < p->n_out; k++) {
    const vt_bk_tensor *t = &p->out[k].t;
    uint64_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++) n *= (uint64_t)t->dim[i];
    const uint64_t bytes = n * vt_dtype_bytes(t->dtype), handle = buffers[t->arena];
    uint8_t *data = malloc((size_t)bytes + 1);
    if (data == NULL) exit(1);
    (void)p->of->api->copy(p->of->dev, data, handle, t->offset, bytes, 0);
    corrupt_elements(data, n, t->dtype, p->out[k].op);
    (void)p->of->api->copy(p->of->dev, data, handle, t->offset, bytes, 1);
    free(data);
  }
}

static inline int32_t wrapper_run(vt_bk_program *handle, const uint64_t *buffers, uint64_t n) {
  const wrapper_program *p = (const wrapper_program *)(const void *)handle;
  const int32_t noted = count_call_or_fail(p->of->row, WRAPPED_RUN);
  if (noted != VT_OK) return noted;
  for (uint64_t i = 0; i < p->n_steps; i++) wrapped.ran[p->of->row][p->op[i] % WRAPPED_OPS]++;
  const int32_t s = p->of->api->run(p->prog, buffers, n);
  if (s != VT_OK) return s;
  if (p->of->row == WRAPPED_FAKE && (wrapped.broken_capability != 0 || wrapped.broken_op != 0))
    corrupt_results(p, buffers);
  return VT_OK;
}
static inline int32_t wrapper_wait(vt_bk_program *handle, vt_bk_error *out) {
  const wrapper_program *p = (const wrapper_program *)(const void *)handle;
  const int32_t noted = count_call_or_fail(p->of->row, WRAPPED_WAIT);
  const int32_t s = noted == VT_OK ? p->of->api->wait(p->prog, out) : noted;
  if (p->of->row == WRAPPED_FAKE && wrapped.changes_mode)
    hostile_write_words(hostile_worst_words());
  return s;
}

/* ---- tables: functions that have no device argument exist once per row ---- */

#define WRAPPED_ROW(row)                                                                    \
  static int32_t count_##row(const vt_bk_host *host, uint32_t *out) {                       \
    return wrapper_device_count(row, host, out);                                            \
  }                                                                                         \
  static int32_t open_##row(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out) { \
    return wrapper_device_open(row, host, ordinal, out);                                    \
  }                                                                                         \
  static const vt_bk_api *query_##row(const vt_bk_host *host) {                             \
    static const vt_bk_api api = {.size = sizeof api,                                       \
                                  .abi_major = VT_BK_ABI_MAJOR,                             \
                                  .name = #row,                                             \
                                  .device_count = count_##row,                              \
                                  .device_open = open_##row,                                \
                                  .device_close = wrapper_device_close,                     \
                                  .capabilities = wrapper_capabilities,                     \
                                  .op_listed = wrapper_op_listed,                           \
                                  .step_check = wrapper_step_check,                         \
                                  .workspace = wrapper_workspace,                           \
                                  .program_build = wrapper_program_build,                   \
                                  .program_free = wrapper_program_free,                     \
                                  .buffer_new = wrapper_buffer_new,                         \
                                  .buffer_free = wrapper_buffer_free,                       \
                                  .copy = wrapper_copy,                                     \
                                  .run = wrapper_run,                                       \
                                  .wait = wrapper_wait};                                    \
    (void)host;                                                                             \
    (void)count_call_or_fail(row, WRAPPED_QUERY);                                           \
    return &api;                                                                            \
  }
WRAPPED_ROW(WRAPPED_REFERENCE)
WRAPPED_ROW(WRAPPED_ISLAND)
WRAPPED_ROW(WRAPPED_FAKE)
#undef WRAPPED_ROW

/* ---- the registry ---- */

static vt_proofs wrapped_proofs[WRAPPED_ROWS];
static const vt_registry_row wrapped_rows[WRAPPED_ROWS] = {
    {"reference", query_WRAPPED_REFERENCE, VT_KIND_CPU, &wrapped_proofs[0]},
    {"island", query_WRAPPED_ISLAND, VT_KIND_TEST, &wrapped_proofs[1]},
    {"fake", query_WRAPPED_FAKE, VT_KIND_GPU, &wrapped_proofs[2]}};

uint32_t vt_registry_backend_count(void) { return WRAPPED_ROWS; }
const vt_registry_row *vt_registry_row_at(uint32_t i) {
  return i < WRAPPED_ROWS ? &wrapped_rows[i] : NULL;
}

/* Makes this process forget which capabilities of which devices it tried. */
static inline void wrapped_forget_capability_trials(void) {
  memset(wrapped_proofs, 0, sizeof wrapped_proofs);
}

/* ---- models ---- */

/* Returns a model with these declarations of inputs and with one output, the expression `y`. */
static inline vt_model *model_of_expression(const char *inputs, const char *y) {
  char text[1200];
  vt_model *m = NULL;
  vt_diag d = {0};
  const int n = snprintf(text, sizeof text,
                         "volta 1\nmodel m {\n input %s\n y = %s\n output y\n}\n", inputs, y);
  CHECK(vt_model_parse(text, (size_t)n, NULL, &m, &d) == VT_OK);
  if (m == NULL) fprintf(stderr, "%s\n%s\n", text, d.text);
  if (m == NULL) exit(1);
  return m;
}
#endif
