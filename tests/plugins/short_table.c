/* SPDX-License-Identifier: Apache-2.0
 * short_table.c - has a table that is too short for version 1 of the ABI. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->size = 96;
  return plugin_table();
}
