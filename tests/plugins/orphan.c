/* SPDX-License-Identifier: Apache-2.0
 * orphan.c - leaves a child process behind that keeps the inherited descriptors open. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  if (fork() == 0) plugin_hang();
  return plugin_table();
}
