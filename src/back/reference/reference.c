/* SPDX-License-Identifier: Apache-2.0
 * reference.c - the reference backend: runs the kernels of the op table, one step after the other,
 * on one thread, behind the plug-in ABI like any other backend. It defines every result.
 *   device 0  runs prims; compositions arrive decomposed into the ops that define them
 *   device 1  runs each composition by its own kernel, a second implementation
 * The two devices must agree to the last bit. */
#include <string.h>
#include "vt_memory.h"
#include "vt_steps.h"

vt_backend_query_fn vt_reference_query;

struct vt_bk_device {
  const vt_bk_host *host;
  uint32_t ordinal;
};

struct vt_bk_program {
  vt_bk_device *dev;
  vt_steps steps;
};

/* ---- devices ---- */

static int32_t device_count(const vt_bk_host *host, uint32_t *out_count) {
  (void)host;
  *out_count = 2;
  return VT_OK;
}

static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out_dev) {
  vt_bk_device *dev = host->resize(host->user, NULL, 0, sizeof *dev);
  if (dev == NULL) return VT_NOMEM;
  *dev = (vt_bk_device){host, ordinal};
  *out_dev = dev;
  return VT_OK;
}

static void device_close(vt_bk_device *dev) {
  const vt_bk_host *host = dev->host;
  host->resize(host->user, dev, sizeof *dev, 0);
}

static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  static const char *const about[2] = {"scalar reference; compositions as the ops that define them",
                                       "scalar reference; compositions by their own kernels"};
  static const char *const print[2] = {"reference-1 prims", "reference-1 whole"};
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = 64,
                           .shares_host = 1,
                           .about = about[dev->ordinal],
                           .fingerprint = print[dev->ordinal],
                           .memory = out->size >= sizeof caps ? vt_memory_available() : 0,
                           .has = VT_STEPS_HAS,
                           .determinism = VT_BK_DETERMINISM_STRICT,
                           .serves = VT_BK_INFERENCE | VT_BK_TRAINING,
                           .updates_in_place = 1};
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return VT_OK;
}

/* ---- steps ---- */

static uint32_t accepted_steps_of(const vt_bk_device *dev) {
  return dev->ordinal == 1 ? VT_STEPS_WHOLE : 0;
}

static int32_t op_listed(vt_bk_device *dev, uint32_t op) {
  return vt_steps_accepts_op(op, accepted_steps_of(dev));
}

static int32_t step_check(vt_bk_device *dev, const vt_bk_step *step) {
  return vt_steps_check(step, accepted_steps_of(dev));
}

static int32_t workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out_bytes) {
  *out_bytes = vt_step_scratch_bytes(step, accepted_steps_of(dev));
  return VT_OK;
}

static int32_t program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n_steps,
                             vt_bk_program **out_prog) {
  vt_bk_program *prog = dev->host->resize(dev->host->user, NULL, 0, sizeof *prog);
  if (prog == NULL) return VT_NOMEM;
  prog->dev = dev;
  const int32_t s = vt_steps_init(dev->host, steps, n_steps, accepted_steps_of(dev), &prog->steps);
  if (s == VT_OK) {
    *out_prog = prog;
  } else {
    dev->host->resize(dev->host->user, prog, sizeof *prog, 0);
  }
  return s;
}

static void program_free(vt_bk_program *prog) {
  const vt_bk_host *host = prog->dev->host;
  vt_steps_done(&prog->steps);
  host->resize(host->user, prog, sizeof *prog, 0);
}

/* ---- memory: a header before 64-byte aligned bytes; a handle is the address of the bytes ---- */

enum { ALIGN = 64 };
typedef struct block {
  uint64_t size; /* bytes of the whole allocation, whose start is `base` */
  void *base;
} block;

static int32_t buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle) {
  const uint64_t size = bytes + sizeof(block) + ALIGN;
  if (size < bytes) return VT_NOMEM;
  char *base = dev->host->resize(dev->host->user, NULL, 0, size);
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
  dev->host->resize(dev->host->user, head.base, head.size, 0);
}

/* Any device can read a buffer in host memory. */
static int32_t buffer_share(vt_bk_device *dev, uint64_t handle, uint32_t writable) {
  (void)dev;
  (void)handle;
  (void)writable;
  return VT_OK;
}

static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  char *at = (char *)(uintptr_t)handle + offset;
  (void)dev;
  if (to_device) {
    memcpy(at, host, (size_t)bytes);
  } else {
    memcpy(host, at, (size_t)bytes);
  }
  return VT_OK;
}

/* ---- running ---- */

static int32_t run(vt_bk_program *prog, const uint64_t *buffers, uint64_t n_buffers) {
  char *base[VT_STEPS_ARENAS] = {NULL};
  if (n_buffers < prog->steps.n_arenas) return VT_INTERNAL;
  for (uint32_t i = 0; i < prog->steps.n_arenas; i++) base[i] = (char *)(uintptr_t)buffers[i];
  vt_steps_run(&prog->steps, base);
  return VT_OK; /* the error of a failed step is returned by wait */
}

static int32_t wait(vt_bk_program *prog, vt_bk_error *out) {
  vt_steps_error(&prog->steps, out);
  return VT_OK;
}

const vt_bk_api *vt_reference_query(const vt_bk_host *host) {
  static const vt_bk_api api = {.size = sizeof api,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "reference",
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
                                .wait = wait,
                                .buffer_share = buffer_share};
  return host->abi_major == VT_BK_ABI_MAJOR ? &api : NULL;
}
