/* SPDX-License-Identifier: Apache-2.0
 * exit_caps.c - ends its process when asked for its capabilities. */
#include "test_plugin.h"

static int32_t caps(vt_bk_device *dev, vt_bk_caps *out) {
  (void)dev, (void)out;
  _exit(0);
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->capabilities = caps;
  return plugin_table();
}
