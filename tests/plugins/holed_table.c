/* SPDX-License-Identifier: Apache-2.0
 * holed_table.c - has a table in which a required function is NULL. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->copy = NULL;
  return plugin_table();
}
