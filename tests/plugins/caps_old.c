/* SPDX-License-Identifier: Apache-2.0
 * caps_old.c - was built before there were capabilities to declare: it is let in, and trusted with
 * nothing. What lies beyond the size it gives is not looked at. */
#include "test_plugin.h"

static int32_t caps(vt_bk_device *dev, vt_bk_caps *out) {
  const uint32_t room = out->size;
  plugin_caps(dev, out);
  if (room >= sizeof *out) {
    out->has = UINT64_MAX;
    out->size = offsetof(vt_bk_caps, has);
  }
  return OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->capabilities = caps;
  return plugin_table();
}
