/* SPDX-License-Identifier: Apache-2.0
 * hang_open.c - hangs when its device is opened. */
#include "test_plugin.h"

static int32_t open_device(const vt_bk_host *host, uint32_t ordinal, vt_bk_device **out) {
  (void)host, (void)ordinal, (void)out;
  plugin_hang();
  return OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->device_open = open_device;
  return plugin_table();
}
