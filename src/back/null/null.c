/* SPDX-License-Identifier: Apache-2.0
 * null.c - the template for a new backend: every function of the ABI that is not optional, in its
 * smallest honest form. It has one device, memory and copies, and refuses every step, which is the
 * right default. Copy it, then add one op at a time: list it (op_listed), accept its steps
 * (step_check), store them (program_build), run them (run). README.md has the commands. */
#include <string.h>
#include "volta/volta_backend.h"
#include "volta/volta_status.h"

vt_backend_query_fn vt_null_query;

/* State of an open device. `host` gives memory and takes messages; it outlives the device. */
struct vt_bk_device {
  const vt_bk_host *host;
};

/* A program that can run any number of times. A real backend stores the steps here, bound to its
 * kernels. */
struct vt_bk_program {
  vt_bk_device *dev;
};

/* ---- devices ---- */

/* The number of devices that device_open accepts. A backend without hardware reports 0 and tells
 * the host why, by `diag`. */
static int32_t device_count(const vt_bk_host *host, uint32_t *out_count) {
  (void)host;
  *out_count = 1;
  return VT_OK;
}

/* Opens device `ordinal`, which is below the device count. All memory comes from `host`, so that
 * the host can count it and tests can make any allocation fail. On failure *out_dev is not written.
 */
static int32_t device_open(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out_dev) {
  (void)ordinal;
  vt_bk_device *dev = host->resize(host->user, NULL, 0, sizeof *dev);
  if (dev == NULL) return VT_NOMEM;
  dev->host = host;
  *out_dev = dev;
  return VT_OK;
}

static void device_close(vt_bk_device *dev) {
  const vt_bk_host *host = dev->host;
  host->resize(host->user, dev, sizeof *dev, 0);
}

/* Describes the device. out->size is the size of the struct as the host knows it, which may be
 * older or newer: never write more bytes. The fingerprint must change whenever a plan for this
 * device might change, because it is part of the key of cached plans. `has` declares what the
 * device computes exactly; a declared capability is tested before it is first used. */
static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = 64,
                           .about = "runs nothing; the template for new backends",
                           .fingerprint = "null-1",
                           .determinism = VT_BK_DETERMINISM_STRICT,
                           .serves = VT_BK_INFERENCE}; /* and .has = 0: no capability yet */
  (void)dev;
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return VT_OK;
}

/* ---- steps ---- */

/* 1 if the device has a kernel for the op. Listing a composition keeps it whole; otherwise it is
 * decomposed into other ops before planning. */
static int32_t op_listed(vt_bk_device *dev, uint32_t op) {
  (void)dev;
  (void)op;
  return 0;
}

/* Decides, while planning, whether this very step can run: its types, shapes, strides and
 * attributes. A step that was accepted must not be refused later. The message completes the
 * sentence "backend 'null:0' does not run 'x' = ...: ". */
static int32_t step_check(vt_bk_device *dev, const vt_bk_step *step) {
  (void)step;
  dev->host->diag(dev->host->user, VT_UNSUPPORTED, "this backend has no kernels");
  return VT_UNSUPPORTED;
}

/* Bytes of scratch that the step needs while it runs. The plan reserves them in the arena that
 * step->work_arena names. */
static int32_t workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out_bytes) {
  (void)dev;
  (void)step;
  *out_bytes = 0;
  return VT_OK;
}

/* ---- programs ---- */

/* Prepares n_steps steps to run in this order. Every step has passed step_check, so this backend
 * only ever builds programs without steps: models that return their inputs unchanged. `steps` lives
 * at least as long as the program. */
static int32_t program_build(vt_bk_device *dev, const vt_bk_step *steps, uint64_t n_steps,
                             vt_bk_program **out_prog) {
  (void)steps;
  if (n_steps > 0) return VT_UNSUPPORTED;
  vt_bk_program *prog = dev->host->resize(dev->host->user, NULL, 0, sizeof *prog);
  if (prog == NULL) return VT_NOMEM;
  prog->dev = dev;
  *out_prog = prog;
  return VT_OK;
}

static void program_free(vt_bk_program *prog) {
  const vt_bk_host *host = prog->dev->host;
  host->resize(host->user, prog, sizeof *prog, 0);
}

/* ---- memory ---- */

/* A buffer is one arena of a plan. A handle may be any number; here it is the address of the size
 * of the buffer, which is followed by its bytes. Requests of 0 bytes must succeed, and huge ones
 * must fail without overflow. */
static int32_t buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out_handle) {
  uint64_t *p = NULL;
  if (bytes <= UINT64_MAX - sizeof *p)
    p = dev->host->resize(dev->host->user, NULL, 0, bytes + sizeof *p);
  if (p == NULL) return VT_NOMEM;
  *p = bytes;
  *out_handle = (uint64_t)(uintptr_t)p;
  return VT_OK;
}

static void buffer_free(vt_bk_device *dev, uint64_t handle) {
  uint64_t *p = (uint64_t *)(uintptr_t)handle;
  dev->host->resize(dev->host->user, p, *p + sizeof *p, 0);
}

/* Copies bytes between host memory and a buffer, in the direction that `to_device` gives. */
static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  uint64_t *p = (uint64_t *)(uintptr_t)handle;
  char *at = (char *)(p + 1) + offset;
  (void)dev;
  memcpy(to_device ? at : host, to_device ? host : at, (size_t)bytes);
  return VT_OK;
}

/* ---- running ---- */

/* Starts one run of the program; buffers[i] is the handle of arena i of the plan. It may return
 * before the run has finished. */
static int32_t run(vt_bk_program *prog, const uint64_t *buffers, uint64_t n_buffers) {
  (void)prog;
  (void)buffers;
  (void)n_buffers;
  return VT_OK;
}

/* Waits until the run has finished and reports its first error: the lowest step, then the lowest
 * position. Status 0 means that there was no error. */
static int32_t wait(vt_bk_program *prog, vt_bk_error *out) {
  const vt_bk_error none = {.size = sizeof none};
  (void)prog;
  memcpy(out, &none, out->size < sizeof none ? out->size : sizeof none);
  return VT_OK;
}

/* The one exported function. NULL tells the host that this backend was written for another major
 * version of the ABI. Functions that are left out of the table are optional. */
const vt_bk_api *vt_null_query(const vt_bk_host *host) {
  static const vt_bk_api api = {.size = sizeof api,
                                .abi_major = VT_BK_ABI_MAJOR,
                                .name = "null",
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
