/* SPDX-License-Identifier: Apache-2.0
 * test_plugin.h - a plug-in that keeps every rule and accepts no step. The plug-ins of this folder
 * change its table so that each breaks one rule. */
#ifndef VT_TEST_PLUGIN_H
#define VT_TEST_PLUGIN_H
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "volta_backend.h"

#define EXPORT __attribute__((visibility("default")))
enum { OK = 0, UNSUPPORTED = 12, BACKEND = 13, NOMEM = 15 };

EXPORT const vt_bk_api *vt_backend_query(const vt_bk_host *host);

static inline int32_t plugin_device_count(const vt_bk_host *host, uint32_t *out) {
  (void)host;
  *out = 3;
  return OK;
}
static inline int32_t plugin_device_open(const vt_bk_host *host, uint32_t ordinal,
                                         vt_bk_device **out) {
  static int devices[3];
  (void)host;
  *out = (vt_bk_device *)(void *)&devices[ordinal];
  return OK;
}
static inline void plugin_device_close(vt_bk_device *dev) { (void)dev; }
static inline int32_t plugin_caps(vt_bk_device *dev, vt_bk_caps *out) {
  const vt_bk_caps caps = {.size = sizeof caps,
                           .alignment = 64,
                           .about = "a plug-in",
                           .fingerprint = "plugin-1",
                           .determinism = VT_BK_DETERMINISM_STRICT,
                           .serves = VT_BK_INFERENCE};
  (void)dev;
  memcpy(out, &caps, out->size < sizeof caps ? out->size : sizeof caps);
  return OK;
}
static inline int32_t plugin_op_listed(vt_bk_device *dev, uint32_t op) {
  return (void)dev, (void)op, 0;
}
static inline int32_t plugin_step_check(vt_bk_device *dev, const vt_bk_step *s) {
  return (void)dev, (void)s, UNSUPPORTED;
}
static inline int32_t plugin_workspace(vt_bk_device *dev, const vt_bk_step *s, uint64_t *out) {
  return (void)dev, (void)s, *out = 0, OK;
}
static inline int32_t plugin_program_build(vt_bk_device *dev, const vt_bk_step *s, uint64_t n,
                                           vt_bk_program **out) {
  return (void)dev, (void)s, (void)n, (void)out, UNSUPPORTED;
}
static inline void plugin_program_free(vt_bk_program *prog) { (void)prog; }
static inline int32_t plugin_buffer_new(vt_bk_device *dev, uint64_t n, uint64_t *out) {
  return (void)dev, (void)n, (void)out, NOMEM;
}
static inline void plugin_buffer_free(vt_bk_device *dev, uint64_t handle) {
  (void)dev, (void)handle;
}
static inline int32_t plugin_copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset,
                                  uint64_t bytes, uint32_t to_device) {
  (void)dev, (void)host, (void)handle, (void)offset, (void)bytes, (void)to_device;
  return BACKEND;
}
static inline int32_t plugin_run(vt_bk_program *prog, const uint64_t *buffers, uint64_t n) {
  return (void)prog, (void)buffers, (void)n, BACKEND;
}
static inline int32_t plugin_wait(vt_bk_program *prog, vt_bk_error *out) {
  return (void)prog, (void)out, BACKEND;
}

/* Returns the table, which a plug-in may change before it returns it. */
static inline vt_bk_api *plugin_table(void) {
  static vt_bk_api api = {.size = sizeof api,
                          .abi_major = VT_BK_ABI_MAJOR,
                          .name = "good",
                          .device_count = plugin_device_count,
                          .device_open = plugin_device_open,
                          .device_close = plugin_device_close,
                          .capabilities = plugin_caps,
                          .op_listed = plugin_op_listed,
                          .step_check = plugin_step_check,
                          .workspace = plugin_workspace,
                          .program_build = plugin_program_build,
                          .program_free = plugin_program_free,
                          .buffer_new = plugin_buffer_new,
                          .buffer_free = plugin_buffer_free,
                          .copy = plugin_copy,
                          .run = plugin_run,
                          .wait = plugin_wait};
  return &api;
}

static inline void plugin_crash(void) { *(volatile int *)8 = 1; }
static inline void plugin_hang(void) {
  for (;;) pause();
}
#endif
