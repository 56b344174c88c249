/* SPDX-License-Identifier: Apache-2.0
 * violation.c - the plug-in around a planted fault. It implements the backend ABI with the
 * reference's kernels, one step after the other, and calls the hooks of vt_violation. The linker
 * replaces functions of the numerics library (--wrap), because the kernels call them by name. */
#include "violation.h"
#include <string.h>

__attribute__((visibility("default"))) vt_backend_query_fn vt_backend_query;

struct vt_bk_device {
  const vt_bk_host *host;
  vt_bk_host quiet; /* copy of *host without `progress`: a list of one step cannot know the step's
                       number in the program */
  uint64_t copies;  /* number of copies into the device so far */
};

static _Thread_local const vt_bk_program *current;
const vt_bk_program *violation_current(void) { return current; }
uint64_t violation_count_copies(const vt_bk_program *p) { return p->dev->copies; }

/* ---- devices ---- */

static int32_t device_count(const vt_bk_host *host, uint32_t *out_count) {
  (void)host;
  *out_count = 1;
  return VT_OK;
}

static void *alloc_zeroed(const vt_bk_host *host, uint64_t bytes) {
  void *p = host->resize(host->user, NULL, 0, bytes);
  if (p != NULL) memset(p, 0, (size_t)bytes);
  return p;
}

static void release(const vt_bk_host *host, void *p, uint64_t bytes) {
  if (p != NULL) host->resize(host->user, p, bytes, 0);
}

static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out_dev) {
  vt_bk_device *dev = alloc_zeroed(host, sizeof *dev);
  (void)ordinal;
  if (dev == NULL) return VT_NOMEM;
  dev->host = host;
  memcpy(&dev->quiet, host, host->size < sizeof dev->quiet ? host->size : sizeof dev->quiet);
  dev->quiet.progress = NULL;
  *out_dev = dev;
  return VT_OK;
}

static void device_close(vt_bk_device *dev) { release(dev->host, dev, sizeof *dev); }

static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = 64,
                           .shares_host = 1,
                           .about = vt_violation.about,
                           .fingerprint = "violation-1",
                           .has = vt_violation.has | VT_BK_SUBNORMALS,
                           .determinism = VT_BK_DETERMINISM_STRICT,
                           .serves = VT_BK_INFERENCE | VT_BK_TRAINING};
  (void)dev;
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return VT_OK;
}

/* ---- steps ---- */

static int32_t op_listed(vt_bk_device *dev, uint32_t number) {
  const vt_op_info *op = vt_op_get(number);
  (void)dev;
  if (op == NULL || vt_violation.ops == NULL) return vt_steps_accepts_op(number, 0);
  for (const char *const *name = vt_violation.ops; *name != NULL; name++)
    if (strcmp(*name, op->name) == 0) return 1;
  return 0;
}

static int32_t step_check(vt_bk_device *dev, const vt_bk_step *step) {
  if (!op_listed(dev, step->op)) return VT_UNSUPPORTED;
  if (vt_violation.accepts != NULL && !vt_violation.accepts(step)) return VT_UNSUPPORTED;
  return vt_steps_check(step, 0);
}

static uint64_t reference_scratch_bytes(const vt_bk_step *step) {
  return (vt_step_scratch_bytes(step, 0) + 63) / 64 * 64;
}

static int32_t workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out_bytes) {
  (void)dev;
  *out_bytes = vt_violation.scratch > 0 ? reference_scratch_bytes(step) + vt_violation.scratch
                                        : vt_step_scratch_bytes(step, 0);
  return VT_OK;
}

void *violation_scratch(const vt_bk_program *p, const vt_bk_step *s) {
  return p->base[s->work_arena] + s->work_offset + reference_scratch_bytes(s);
}

/* ---- programs ---- */

static void program_free(vt_bk_program *p) {
  for (uint64_t i = 0; p->reference != NULL && i < p->n_steps; i++)
    if (p->reference[i].host != NULL) vt_steps_done(&p->reference[i]);
  release(p->host, p->reference, p->n_steps * sizeof *p->reference + 1);
  release(p->host, p, sizeof *p);
}

static int32_t program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n_steps,
                             vt_bk_program **out_prog) {
  vt_bk_program *p = alloc_zeroed(dev->host, sizeof *p);
  if (p == NULL) return VT_NOMEM;
  *p = (vt_bk_program){.dev = dev, .host = dev->host, .step = steps, .n_steps = n_steps};
  p->reference = alloc_zeroed(dev->host, n_steps * sizeof *p->reference + 1);
  int32_t s = p->reference != NULL ? VT_OK : VT_NOMEM;
  for (uint64_t i = 0; s == VT_OK && i < n_steps; i++)
    s = vt_steps_init(&dev->quiet, &steps[i], 1, 0, &p->reference[i]);
  if (s != VT_OK) {
    program_free(p);
    return s;
  }
  if (vt_violation.on_build != NULL) vt_violation.on_build(p);
  *out_prog = p;
  return VT_OK;
}

/* ---- memory: a block is followed by zeroed bytes at a multiple of 64; their address is the handle
 */

enum { ALIGN = 64 };
typedef struct block {
  uint64_t size; /* bytes of the whole allocation */
  void *base;    /* its start */
} block;

static int32_t buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle) {
  const uint64_t size = bytes + sizeof(block) + ALIGN;
  if (size < bytes) return VT_NOMEM;
  char *base = alloc_zeroed(dev->host, size);
  if (base == NULL) return VT_NOMEM;
  char *data = base + sizeof(block);
  data += (ALIGN - (uintptr_t)data % ALIGN) % ALIGN;
  const block head = {size, base};
  memcpy(data - sizeof head, &head, sizeof head);
  *out_handle = (uint64_t)(uintptr_t)data;
  return VT_OK;
}

static void buffer_free(vt_bk_device *dev, uint64_t handle) {
  block head;
  memcpy(&head, (char *)(uintptr_t)handle - sizeof head, sizeof head);
  release(dev->host, head.base, head.size);
}

static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  char *at = (char *)(uintptr_t)handle + offset;
  dev->copies += to_device;
  memcpy(to_device ? at : host, to_device ? host : at, (size_t)bytes);
  return VT_OK;
}

/* ---- running ---- */

void violation_run_reference(vt_bk_program *p, uint64_t i) {
  vt_steps_run(&p->reference[i], p->base);
  if (p->error.status == VT_OK) p->error = p->reference[i].error;
}

static uint64_t run_step_or_group(vt_bk_program *p, uint64_t i) {
  uint64_t n = vt_violation.run_steps != NULL ? vt_violation.run_steps(p, i) : 0;
  if (n == 0) {
    violation_run_reference(p, i);
    n = 1;
  }
  for (uint64_t k = i; vt_violation.after_step != NULL && k < i + n; k++)
    vt_violation.after_step(p, &p->step[k]);
  return n;
}

/* Step numbers, in `progress` and in errors, count the steps inside the bodies of loops and conds.
 */
static int32_t run(vt_bk_program *p, const uint64_t *buffers, uint64_t n_buffers) {
  uint64_t number = 0;
  p->error = (vt_bk_error){.size = sizeof p->error};
  for (uint64_t i = 0; i < n_buffers && i < VT_STEPS_ARENAS; i++)
    p->base[i] = (char *)(uintptr_t)buffers[i];
  current = p;
  for (uint64_t i = 0; i < p->n_steps && p->error.status == VT_OK;) {
    const uint64_t end = i + run_step_or_group(p, i);
    if (p->error.status != VT_OK) p->error.step += number;
    for (; i < end; i++) {
      if (VT_BK_HAS(p->host, vt_bk_host, progress)) p->host->progress(p->host->user, number);
      number += p->reference[i].n_steps;
    }
  }
  current = NULL;
  if (vt_violation.after_run != NULL) vt_violation.after_run(p);
  p->runs++;
  return VT_OK; /* a failure is reported by wait */
}

static int32_t wait(vt_bk_program *p, vt_bk_error *out) {
  memcpy(out, &p->error, out->size < sizeof p->error ? out->size : sizeof p->error);
  return VT_OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  static const vt_bk_api api = {.size = sizeof api,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "violation",
                                .device_count = device_count,
                                .device_open = device_open,
                                .device_close = device_close,
                                .capabilities = capabilities,
                                .op_listed = op_listed,
                                .step_check = step_check,
                                .workspace = workspace,
                                .program_build = program_build,
                                .program_free = program_free,
                                .buffer_new = buffer_new,
                                .buffer_free = buffer_free,
                                .copy = copy,
                                .run = run,
                                .wait = wait};
  return host->abi_major == VT_BK_ABI_MAJOR ? &api : NULL;
}

/* ---- elements ---- */

uint64_t violation_count_elements(const vt_bk_tensor *t) {
  uint64_t n = 1;
  for (uint32_t i = 0; i < t->rank; i++) n *= (uint64_t)t->dim[i];
  return n;
}

int violation_first_position(const vt_bk_tensor *t, int64_t at[8]) {
  memset(at, 0, 8 * sizeof *at);
  return violation_count_elements(t) > 0;
}

int violation_next_position(const vt_bk_tensor *t, int64_t at[8]) {
  for (uint32_t i = t->rank; i-- > 0;) {
    if (++at[i] < t->dim[i]) return 1;
    at[i] = 0;
  }
  return 0;
}

void *violation_element(const vt_bk_program *p, const vt_bk_tensor *t, const vt_bk_tensor *like,
                        const int64_t at[8]) {
  int64_t element = 0;
  for (uint32_t i = 0; i < t->rank; i++)
    if (t->dim[i] != 1) element += at[like->rank - t->rank + i] * t->stride[i];
  return p->base[t->arena] + t->offset + element * (int64_t)vt_dtype_bytes(t->dtype);
}

void violation_for_each_element(const vt_bk_program *p, const vt_bk_step *s, uint32_t dtype,
                                void (*f)(void *element)) {
  for (uint32_t k = 0; k < s->n_out; k++) {
    const vt_bk_tensor *t = &s->out[k];
    int64_t at[8];
    if (t->dtype != dtype) continue;
    for (int more = violation_first_position(t, at); more; more = violation_next_position(t, at))
      f(violation_element(p, t, t, at));
  }
}

/* ---- replacements for functions of the numerics library ---- */

float violation_dot_in_blocks(const float *a, int64_t sa, const float *b, int64_t sb, int64_t n,
                              int64_t block_size) {
  enum { GROUP = 8 };
  if (n > block_size * GROUP) {
    int64_t part = block_size * GROUP;
    float t = 0.0f;
    while (part * GROUP < n) part *= GROUP;
    for (int64_t k = 0; k < n; k += part)
      t += violation_dot_in_blocks(a + k * sa, sa, b + k * sb, sb, n - k < part ? n - k : part,
                                   block_size);
    return t;
  }
  float t = 0.0f;
  for (int64_t first = 0; first < n; first += block_size) {
    float chain = 0.0f;
    for (int64_t k = first; k < n && k < first + block_size; k++)
      chain = vt_f32_fma(a[k * sa], b[k * sb], chain);
    t += chain;
  }
  return t;
}

float __real_vt_f32_exp(float x);
float __wrap_vt_f32_exp(float x);
float __wrap_vt_f32_exp(float x) {
  return vt_violation.exp != NULL ? vt_violation.exp(x) : __real_vt_f32_exp(x);
}

float __real_vt_f32_max(float a, float b);
float __wrap_vt_f32_max(float a, float b);
float __wrap_vt_f32_max(float a, float b) {
  return vt_violation.max != NULL ? vt_violation.max(a, b) : __real_vt_f32_max(a, b);
}

void __real_vt_sum_f32_add(vt_sum_f32 *s, float x);
void __wrap_vt_sum_f32_add(vt_sum_f32 *s, float x);
void __wrap_vt_sum_f32_add(vt_sum_f32 *s, float x) {
  if (vt_violation.sum_add != NULL) {
    vt_violation.sum_add(s, x);
  } else {
    __real_vt_sum_f32_add(s, x);
  }
}

float __real_vt_sum_f32_done(vt_sum_f32 *s);
float __wrap_vt_sum_f32_done(vt_sum_f32 *s);
float __wrap_vt_sum_f32_done(vt_sum_f32 *s) {
  return vt_violation.sum_done != NULL ? vt_violation.sum_done(s) : __real_vt_sum_f32_done(s);
}

void __real_vt_dot_row_f32(float *y, int64_t sy, const float *a, int64_t sa, const float *b,
                           int64_t sbk, int64_t sbj, const uint8_t *present, int64_t sp, int64_t n,
                           int64_t m);
void __wrap_vt_dot_row_f32(float *y, int64_t sy, const float *a, int64_t sa, const float *b,
                           int64_t sbk, int64_t sbj, const uint8_t *present, int64_t sp, int64_t n,
                           int64_t m);
void __wrap_vt_dot_row_f32(float *y, int64_t sy, const float *a, int64_t sa, const float *b,
                           int64_t sbk, int64_t sbj, const uint8_t *present, int64_t sp, int64_t n,
                           int64_t m) {
  if (vt_violation.dot == NULL || present != NULL) {
    __real_vt_dot_row_f32(y, sy, a, sa, b, sbk, sbj, present, sp, n, m);
    return;
  }
  for (int64_t j = 0; j < m; j++) y[j * sy] = vt_violation.dot(a, sa, b + j * sbj, sbk, n);
}
