/* SPDX-License-Identifier: Apache-2.0
 * null.c - the backend that can do nothing: every function of the ABI in its smallest honest form.
 * Copy this folder to write a backend, and fill it in the order in which tests fail: list an op,
 * accept its step, build it, run it. It refuses every step, which is the right default. */
#include <string.h>
#include "volta/volta_backend.h"
#include "volta/volta_status.h"

vt_backend_query_fn vt_null_query;

struct vt_bk_device {
  const vt_bk_host *host;
};

struct vt_bk_program {
  vt_bk_device *dev;
};

static int32_t device_count(const vt_bk_host *host, uint32_t *out_count) {
  (void)host;
  *out_count = 1;
  return VT_OK;
}

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

static int32_t capabilities(vt_bk_device *dev, vt_bk_caps *out) {
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = 64,
                           .about = "runs nothing; the template for new backends",
                           .fingerprint = "null-1",
                           .determinism = VT_BK_DETERMINISM_STRICT,
                           .serves = VT_BK_INFERENCE}; /* `has`: nothing yet */
  (void)dev;
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return VT_OK;
}

static int32_t op_listed(vt_bk_device *dev, uint32_t op) {
  (void)dev;
  (void)op;
  return 0;
}

static int32_t step_check(vt_bk_device *dev, const vt_bk_step *step) {
  (void)step;
  dev->host->diag(dev->host->user, VT_UNSUPPORTED, "this backend has no kernels");
  return VT_UNSUPPORTED;
}

static int32_t workspace(vt_bk_device *dev, const vt_bk_step *step, uint64_t *out_bytes) {
  (void)dev;
  (void)step;
  *out_bytes = 0;
  return VT_OK;
}

/* Only a program without steps gets here: a graph whose outputs are its inputs. */
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

/* A buffer is its size followed by its bytes; a handle is the address of the size. */
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

static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  uint64_t *p = (uint64_t *)(uintptr_t)handle;
  char *at = (char *)(p + 1) + offset;
  (void)dev;
  memcpy(to_device ? at : host, to_device ? host : at, (size_t)bytes);
  return VT_OK;
}

static int32_t run(vt_bk_program *prog, const uint64_t *buffers, uint64_t n_buffers) {
  (void)prog;
  (void)buffers;
  (void)n_buffers;
  return VT_OK;
}

static int32_t wait(vt_bk_program *prog, vt_bk_error *out) {
  const vt_bk_error none = {.size = sizeof none};
  (void)prog;
  memcpy(out, &none, out->size < sizeof none ? out->size : sizeof none);
  return VT_OK;
}

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
