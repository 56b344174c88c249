/* SPDX-License-Identifier: Apache-2.0
 * caps_beyond.c - writes all its capabilities without regard to the size that the host offers. */
#include "test_plugin.h"

static int32_t caps(vt_bk_device *dev, vt_bk_caps *out) {
  vt_bk_caps whole = {.size = sizeof whole};
  plugin_caps(dev, &whole);
  memcpy(out, &whole, sizeof whole);
  return OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->capabilities = caps;
  return plugin_table();
}
