/* SPDX-License-Identifier: Apache-2.0
 * good_too.c - keeps every rule; another plug-in than good, to tell the two apart. */
#include "test_plugin.h"

static int32_t caps(vt_bk_device *dev, vt_bk_caps *out) {
  const vt_bk_caps own = {
      .size = sizeof own, .alignment = 64, .about = "another plug-in", .fingerprint = "plugin-1"};
  (void)dev;
  memcpy(out, &own, out->size < sizeof own ? out->size : sizeof own);
  return OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->capabilities = caps;
  return plugin_table();
}
