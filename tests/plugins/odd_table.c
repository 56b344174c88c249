/* SPDX-License-Identifier: Apache-2.0
 * odd_table.c - has a table whose size ends within a pointer. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->size += 4;
  return plugin_table();
}
