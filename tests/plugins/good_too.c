/* SPDX-License-Identifier: Apache-2.0
 * good_too.c - keeps every rule, and is another file than good. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->name = "good too";
  return plugin_table();
}
