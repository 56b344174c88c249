/* SPDX-License-Identifier: Apache-2.0
 * caps_short.c - states capabilities that are too short for any field but the size. */
#include "test_plugin.h"

static int32_t caps(vt_bk_device *dev, vt_bk_caps *out) {
  plugin_caps(dev, out);
  out->size = 4;
  return OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->capabilities = caps;
  return plugin_table();
}
