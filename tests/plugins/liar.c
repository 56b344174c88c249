/* SPDX-License-Identifier: Apache-2.0
 * liar.c - declares every capability, accepts every step and computes nothing. Its table keeps
 * every rule. */
#include "test_plugin.h"

static int32_t caps(vt_bk_device *dev, vt_bk_caps *out) {
  const uint32_t size = out->size;
  plugin_caps(dev, out);
  if (size >= sizeof *out) out->has = UINT64_MAX;
  return OK;
}
static int32_t listed(vt_bk_device *dev, uint32_t op) { return (void)dev, (void)op, 0; }
static int32_t check(vt_bk_device *dev, const vt_bk_step *s) { return (void)dev, (void)s, OK; }
static int32_t build(vt_bk_device *dev, const vt_bk_step *s, uint64_t n, vt_bk_program **out) {
  (void)s, (void)n;
  *out = (vt_bk_program *)(void *)dev;
  return OK;
}
static int32_t buffer_new(vt_bk_device *dev, uint64_t bytes, uint64_t *out) {
  void *p = calloc(1, (size_t)bytes + 1);
  (void)dev;
  *out = (uint64_t)(uintptr_t)p;
  return p != NULL ? OK : NOMEM;
}
static void buffer_free(vt_bk_device *dev, uint64_t handle) {
  (void)dev;
  free((void *)(uintptr_t)handle);
}
static int32_t copy(vt_bk_device *dev, void *host, uint64_t handle, uint64_t offset, uint64_t bytes,
                    uint32_t to_device) {
  char *at = (char *)(uintptr_t)handle + offset;
  (void)dev;
  memcpy(to_device ? (void *)at : host, to_device ? host : (void *)at, (size_t)bytes);
  return OK;
}
static int32_t run(vt_bk_program *prog, const uint64_t *buffers, uint64_t n) {
  return (void)prog, (void)buffers, (void)n, OK;
}
static int32_t wait(vt_bk_program *prog, vt_bk_error *out) {
  (void)prog;
  out->status = OK;
  return OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  vt_bk_api *api = plugin_table();
  (void)host;
  api->capabilities = caps;
  api->op_listed = listed;
  api->step_check = check;
  api->program_build = build;
  api->buffer_new = buffer_new;
  api->buffer_free = buffer_free;
  api->copy = copy;
  api->run = run;
  api->wait = wait;
  return api;
}
