/* SPDX-License-Identifier: Apache-2.0
 * crash_close.c - crashes when its device is closed. */
#include "test_plugin.h"

static void close_device(vt_bk_device *dev) {
  (void)dev;
  plugin_crash();
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->device_close = close_device;
  return plugin_table();
}
