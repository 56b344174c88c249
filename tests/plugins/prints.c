/* SPDX-License-Identifier: Apache-2.0
 * prints.c - prints to standard output when asked for its table. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  (void)!write(1, "hello from a plug-in\n", 21);
  return plugin_table();
}
