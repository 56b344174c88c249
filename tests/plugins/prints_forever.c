/* SPDX-License-Identifier: Apache-2.0
 * prints_forever.c - prints without end when asked for its table. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  for (;;) (void)!write(1, "again and again\n", 16);
  return plugin_table();
}
