/* SPDX-License-Identifier: Apache-2.0
 * crash_end.c - crashes in a destructor. */
#include "test_plugin.h"

__attribute__((destructor)) static void stop(void) { plugin_crash(); }

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  return plugin_table();
}
