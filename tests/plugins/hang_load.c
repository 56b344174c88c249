/* SPDX-License-Identifier: Apache-2.0
 * hang_load.c - hangs in a constructor. */
#include "test_plugin.h"

__attribute__((constructor)) static void start(void) { plugin_hang(); }

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  return plugin_table();
}
