/* SPDX-License-Identifier: Apache-2.0
 * caps_error.c - cannot state its capabilities and returns a reason. */
#include "test_plugin.h"

static int32_t caps(vt_bk_device *dev, vt_bk_caps *out) {
  (void)dev, (void)out;
  return NOMEM;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->capabilities = caps;
  return plugin_table();
}
