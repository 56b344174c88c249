/* SPDX-License-Identifier: Apache-2.0
 * no_name.c - has an empty name. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->name = "";
  return plugin_table();
}
