/* SPDX-License-Identifier: Apache-2.0
 * huge_table.c - has a table that claims an impossible size. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->size = 1u << 20;
  return plugin_table();
}
