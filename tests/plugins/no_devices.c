/* SPDX-License-Identifier: Apache-2.0
 * no_devices.c - has no device. */
#include "test_plugin.h"

static int32_t count(const vt_bk_host *host, uint32_t *out) {
  (void)host;
  *out = 0;
  return OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->device_count = count;
  return plugin_table();
}
