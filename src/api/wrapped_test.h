/* SPDX-License-Identifier: Apache-2.0
 * wrapped_test.h - for tests: the backends of this library behind tables of the test's own, which
 * note every call, ask whether the gateway made it, and lie on request. The registry of a program
 * that includes this is:
 *   reference  CPU   what it is
 *   island     TEST  what it is
 *   fake       GPU   the reference behind a table that `wrapped` bends
 * The file must be included by one source of a program: it stands in for the gateway's own. */
#ifndef WRAPPED_TEST_H
#define WRAPPED_TEST_H
#include <stdatomic.h>
#include <string.h>
#include "hostile_fpenv.h"
#include "registry.h"
#include "vt_test.h"

enum { WRAPPED_ROWS = 3, WRAPPED_OPS = 2048 };
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

/* What is bent is bent in `fake` alone. */
static struct wrapped {
  uint64_t has;                 /* what it declares */
  uint32_t determinism, serves; /* and these */
  uint32_t devices;             /* it has so many */
  uint64_t memory;              /* it claims so much; 0: what the reference claims */
  uint64_t breaks;              /* a capability that it does not keep */
  uint32_t breaks_op;           /* an op that it does not get right; 0: none */
  uint32_t refuses;             /* an op that it does not accept; 0: none */
  uint32_t accepts;             /* the only op that it accepts; 0: all */
  int narrows;                  /* f64 becomes f32 on its way to the device */
  int fails;                    /* a call that fails with `status`; -1: none */
  int32_t status;
  int spoils;        /* runs leave another mode behind */
  const char *print; /* its fingerprint */
  /* noted, of all */
  _Atomic uint32_t outside, bad_modes;
  _Atomic uint32_t calls[WRAPPED_ROWS][WRAPPED_CALLS];
  _Atomic uint32_t ran[WRAPPED_ROWS][WRAPPED_OPS]; /* steps of an op, of programs that ran */
  _Atomic long live;                               /* devices, programs and buffers */
} wrapped;

enum { WRAPPED_REFERENCE, WRAPPED_ISLAND, WRAPPED_FAKE };

/* As the reference is. */
static inline void wrapped_reset(void) {
  memset(&wrapped, 0, sizeof wrapped);
  wrapped.has = UINT64_MAX;
  wrapped.determinism = VT_BK_DETERMINISM_STRICT;
  wrapped.serves = VT_BK_INFERENCE | VT_BK_TRAINING;
  wrapped.devices = 2;
  wrapped.fails = -1;
  wrapped.print = "fake-1";
}

typedef struct shell_device {
  int row;
  const vt_bk_host *host;
  const vt_bk_api *api;
  vt_bk_device *dev;
} shell_device;

typedef struct shell_out {
  uint32_t op;
  vt_bk_tensor t;
} shell_out;

typedef struct shell_program {
  shell_device *of;
  vt_bk_program *prog;
  uint64_t n_steps, n_out;
  uint32_t *op;   /* of each step */
  shell_out *out; /* of all steps */
} shell_program;

static inline int32_t wrapped_note(int row, int call) {
  wrapped.outside += !vt_gate_inside();
  wrapped.bad_modes += !hostile_same(hostile_read(), hostile_numerics());
  wrapped.calls[row][call]++;
  return row == WRAPPED_FAKE && wrapped.fails == call ? wrapped.status : VT_OK;
}

/* ---- devices ---- */

vt_backend_query_fn vt_reference_query, vt_island_query;

static inline const vt_bk_api *inner_of(int row, const vt_bk_host *host) {
  return row == WRAPPED_ISLAND ? vt_island_query(host) : vt_reference_query(host);
}

static inline int32_t shell_count(int row, const vt_bk_host *host, uint32_t *out) {
  const int32_t s = wrapped_note(row, WRAPPED_COUNT);
  if (s != VT_OK) return s;
  if (row != WRAPPED_FAKE) return inner_of(row, host)->device_count(host, out);
  *out = wrapped.devices;
  return VT_OK;
}
/* The first device of the reference is behind every device of the fake. */
static inline int32_t shell_open(int row, const vt_bk_host *host, uint32_t ordinal,
                                 vt_bk_device **out) {
  const int32_t noted = wrapped_note(row, WRAPPED_OPEN);
  if (noted != VT_OK) return noted;
  shell_device *dev = host->resize(host->user, NULL, 0, sizeof *dev);
  if (dev == NULL) return VT_NOMEM;
  *dev = (shell_device){.row = row, .host = host, .api = inner_of(row, host)};
  const int32_t s = dev->api->device_open(host, row == WRAPPED_FAKE ? 0 : ordinal, &dev->dev);
  if (s != VT_OK) {
    host->resize(host->user, dev, sizeof *dev, 0);
    return s;
  }
  wrapped.live++;
  *out = (vt_bk_device *)(void *)dev;
  return VT_OK;
}

static inline void shell_close(vt_bk_device *handle) {
  shell_device *dev = (shell_device *)(void *)handle;
  (void)wrapped_note(dev->row, WRAPPED_CLOSE);
  const vt_bk_host *host = dev->host;
  dev->api->device_close(dev->dev);
  host->resize(host->user, dev, sizeof *dev, 0);
  wrapped.live--;
}
static inline int32_t shell_caps(vt_bk_device *handle, vt_bk_caps *out) {
  shell_device *dev = (shell_device *)(void *)handle;
  int32_t s = wrapped_note(dev->row, WRAPPED_CAPS);
  if (s == VT_OK) s = dev->api->capabilities(dev->dev, out);
  if (s != VT_OK) return s;
  if (dev->row != WRAPPED_FAKE || out->size < sizeof *out) return VT_OK;
  out->has = wrapped.has;
  out->determinism = wrapped.determinism;
  out->serves = wrapped.serves;
  out->fingerprint = wrapped.print;
  if (wrapped.memory != 0) out->memory = wrapped.memory;
  return VT_OK;
}
static inline int32_t shell_listed(vt_bk_device *handle, uint32_t op) {
  shell_device *dev = (shell_device *)(void *)handle;
  (void)wrapped_note(dev->row, WRAPPED_LISTED);
  return dev->api->op_listed(dev->dev, op);
}
static inline int32_t shell_check(vt_bk_device *handle, const vt_bk_step *step) {
  shell_device *dev = (shell_device *)(void *)handle;
  const int32_t s = wrapped_note(dev->row, WRAPPED_CHECK);
  if (s != VT_OK) return s;
  if (dev->row == WRAPPED_FAKE && step->op == wrapped.refuses) return VT_UNSUPPORTED;
  if (dev->row == WRAPPED_FAKE && wrapped.accepts != 0 && step->op != wrapped.accepts)
    return VT_UNSUPPORTED;
  return dev->api->step_check(dev->dev, step);
}
static inline int32_t shell_workspace(vt_bk_device *handle, const vt_bk_step *step, uint64_t *out) {
  shell_device *dev = (shell_device *)(void *)handle;
  const int32_t s = wrapped_note(dev->row, WRAPPED_SCRATCH);
  return s == VT_OK ? dev->api->workspace(dev->dev, step, out) : s;
}

/* ---- programs ---- */

static inline void shell_list(shell_program *p, const vt_bk_step *steps) {
  uint64_t n = 0;
  for (uint64_t i = 0; i < p->n_steps; i++) n += steps[i].n_out;
  p->op = calloc((size_t)p->n_steps + 1, sizeof *p->op);
  p->out = calloc((size_t)n + 1, sizeof *p->out);
  if (p->op == NULL || p->out == NULL) exit(1);
  for (uint64_t i = 0; i < p->n_steps; i++) {
    p->op[i] = steps[i].op;
    for (uint32_t k = 0; k < steps[i].n_out; k++)
      p->out[p->n_out++] = (shell_out){steps[i].op, steps[i].out[k]};
  }
}
static inline int32_t shell_build(vt_bk_device *handle, const vt_bk_step *steps, uint64_t n,
                                  vt_bk_program **out) {
  shell_device *dev = (shell_device *)(void *)handle;
  vt_bk_program *built = NULL;
  int32_t s = wrapped_note(dev->row, WRAPPED_BUILD);
  if (s == VT_OK) s = dev->api->program_build(dev->dev, steps, n, &built);
  if (s != VT_OK) return s;
  shell_program *p = calloc(1, sizeof *p);
  if (p == NULL) exit(1);
  *p = (shell_program){.of = dev, .prog = built, .n_steps = n};
  shell_list(p, steps);
  wrapped.live++;
  *out = (vt_bk_program *)(void *)p;
  return VT_OK;
}
static inline void shell_free(vt_bk_program *handle) {
  shell_program *p = (shell_program *)(void *)handle;
  (void)wrapped_note(p->of->row, WRAPPED_FREE);
  p->of->api->program_free(p->prog);
  free(p->op);
  free(p->out);
  free(p);
  wrapped.live--;
}
static inline int32_t shell_new(vt_bk_device *handle, uint64_t bytes, uint64_t *out) {
  shell_device *dev = (shell_device *)(void *)handle;
  int32_t s = wrapped_note(dev->row, WRAPPED_NEW);
  if (s == VT_OK) s = dev->api->buffer_new(dev->dev, bytes, out);
  wrapped.live += s == VT_OK;
  return s;
}
static inline void shell_drop(vt_bk_device *handle, uint64_t buffer) {
  shell_device *dev = (shell_device *)(void *)handle;
  (void)wrapped_note(dev->row, WRAPPED_DROP);
  dev->api->buffer_free(dev->dev, buffer);
  wrapped.live--;
}
/* As a model of f64 alone is copied. */
static inline int32_t shell_narrow(shell_device *dev, const void *host, uint64_t buffer,
                                   uint64_t offset, uint64_t bytes) {
  double *data = malloc((size_t)bytes + 1);
  if (data == NULL) exit(1);
  memcpy(data, host, (size_t)bytes);
  for (uint64_t i = 0; i < bytes / sizeof *data; i++) data[i] = (double)(float)data[i];
  const int32_t s = dev->api->copy(dev->dev, data, buffer, offset, bytes, 1);
  free(data);
  return s;
}
static inline int32_t shell_copy(vt_bk_device *handle, void *host, uint64_t buffer, uint64_t offset,
                                 uint64_t bytes, uint32_t to_device) {
  shell_device *dev = (shell_device *)(void *)handle;
  const int32_t noted = wrapped_note(dev->row, WRAPPED_COPY);
  if (noted != VT_OK) return noted;
  if (dev->row == WRAPPED_FAKE && wrapped.narrows && to_device != 0)
    return shell_narrow(dev, host, buffer, offset, bytes);
  return dev->api->copy(dev->dev, host, buffer, offset, bytes, to_device);
}

/* ---- lies ---- */

static inline int wrapped_lies(uint32_t op) {
  const vt_op_info *x = vt_op_get(op);
  switch (wrapped.breaks) {
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
      return op == wrapped.breaks_op && op != 0;
  }
}

/* f64 that is f32 inside, and subnormals that are flushed; else the last bit. */
static inline void wrapped_bend(uint8_t *data, uint64_t n, uint32_t dtype, uint32_t op) {
  for (uint64_t i = 0; wrapped.breaks == VT_BK_FLOAT64 && dtype == VT_DTYPE_F64 && i < n; i++) {
    double x;
    memcpy(&x, data + 8 * i, 8);
    x = (double)(float)x;
    memcpy(data + 8 * i, &x, 8);
  }
  for (uint64_t i = 0; wrapped.breaks == VT_BK_SUBNORMALS && dtype == VT_DTYPE_F32 && i < n; i++) {
    uint32_t x;
    memcpy(&x, data + 4 * i, 4);
    if ((x & 0x7f800000) == 0) x &= 0x80000000;
    memcpy(data + 4 * i, &x, 4);
  }
  for (uint64_t i = 0; wrapped_lies(op) && i < n; i++) data[i * vt_dtype_bytes(dtype)] ^= 1;
}

/* What every step has left, after the last has run: a step that reads another's result has read the
 * right one. */
static inline void shell_bend(const shell_program *p, const uint64_t *buffers) {
  for (uint64_t k = 0; k < p->n_out; k++) {
    const vt_bk_tensor *t = &p->out[k].t;
    uint64_t n = 1;
    for (uint32_t i = 0; i < t->rank; i++) n *= (uint64_t)t->dim[i];
    const uint64_t bytes = n * vt_dtype_bytes(t->dtype), handle = buffers[t->arena];
    uint8_t *data = malloc((size_t)bytes + 1);
    if (data == NULL) exit(1);
    (void)p->of->api->copy(p->of->dev, data, handle, t->offset, bytes, 0);
    wrapped_bend(data, n, t->dtype, p->out[k].op);
    (void)p->of->api->copy(p->of->dev, data, handle, t->offset, bytes, 1);
    free(data);
  }
}

static inline int32_t shell_run(vt_bk_program *handle, const uint64_t *buffers, uint64_t n) {
  const shell_program *p = (const shell_program *)(const void *)handle;
  const int32_t noted = wrapped_note(p->of->row, WRAPPED_RUN);
  if (noted != VT_OK) return noted;
  for (uint64_t i = 0; i < p->n_steps; i++) wrapped.ran[p->of->row][p->op[i] % WRAPPED_OPS]++;
  const int32_t s = p->of->api->run(p->prog, buffers, n);
  if (s != VT_OK) return s;
  if (p->of->row == WRAPPED_FAKE && (wrapped.breaks != 0 || wrapped.breaks_op != 0))
    shell_bend(p, buffers);
  return VT_OK;
}
static inline int32_t shell_wait(vt_bk_program *handle, vt_bk_error *out) {
  const shell_program *p = (const shell_program *)(const void *)handle;
  const int32_t noted = wrapped_note(p->of->row, WRAPPED_WAIT);
  const int32_t s = noted == VT_OK ? p->of->api->wait(p->prog, out) : noted;
  if (p->of->row == WRAPPED_FAKE && wrapped.spoils) hostile_write(hostile_worst());
  return s;
}

/* ---- tables: one a row, for what is called without a device ---- */

#define WRAPPED_ROW(row)                                                                    \
  static int32_t count_##row(const vt_bk_host *host, uint32_t *out) {                       \
    return shell_count(row, host, out);                                                     \
  }                                                                                         \
  static int32_t open_##row(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out) { \
    return shell_open(row, host, ordinal, out);                                             \
  }                                                                                         \
  static const vt_bk_api *query_##row(const vt_bk_host *host) {                             \
    static const vt_bk_api api = {.size = sizeof api,                                       \
                                  .abi_major = VT_BK_ABI_MAJOR,                             \
                                  .name = #row,                                             \
                                  .device_count = count_##row,                              \
                                  .device_open = open_##row,                                \
                                  .device_close = shell_close,                              \
                                  .capabilities = shell_caps,                               \
                                  .op_listed = shell_listed,                                \
                                  .step_check = shell_check,                                \
                                  .workspace = shell_workspace,                             \
                                  .program_build = shell_build,                             \
                                  .program_free = shell_free,                               \
                                  .buffer_new = shell_new,                                  \
                                  .buffer_free = shell_drop,                                \
                                  .copy = shell_copy,                                       \
                                  .run = shell_run,                                         \
                                  .wait = shell_wait};                                      \
    (void)host;                                                                             \
    (void)wrapped_note(row, WRAPPED_QUERY);                                                 \
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

uint32_t vt_registry_total(void) { return WRAPPED_ROWS; }
const vt_registry_row *vt_registry_row_at(uint32_t i) {
  return i < WRAPPED_ROWS ? &wrapped_rows[i] : NULL;
}

/* As if no device had been tried yet. */
static inline void wrapped_forget(void) { memset(wrapped_proofs, 0, sizeof wrapped_proofs); }

/* ---- models ---- */

static inline vt_model *model_of(const char *inputs, const char *y) {
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
