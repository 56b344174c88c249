/* SPDX-License-Identifier: Apache-2.0
 * open_error.c - fails to open its device, with an unknown status. */
#include "test_plugin.h"

static int32_t open_device(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out) {
  (void)host, (void)ordinal, (void)out;
  return 9999;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->device_open = open_device;
  return plugin_table();
}
