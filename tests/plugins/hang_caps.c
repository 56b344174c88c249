/* SPDX-License-Identifier: Apache-2.0
 * hang_caps.c - hangs when asked for its capabilities. */
#include "test_plugin.h"

static int32_t caps(vt_bk_device *dev, vt_bk_caps *out) {
  (void)dev, (void)out;
  plugin_hang();
  return OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->capabilities = caps;
  return plugin_table();
}
