/* SPDX-License-Identifier: Apache-2.0
 * hang_query.c - hangs when asked for its table. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_hang();
  return plugin_table();
}
