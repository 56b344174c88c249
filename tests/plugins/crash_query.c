/* SPDX-License-Identifier: Apache-2.0
 * crash_query.c - crashes when asked for its table. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_crash();
  return plugin_table();
}
