/* SPDX-License-Identifier: Apache-2.0
 * prints_errors.c - prints to standard error. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  (void)!write(2, "\033[2Jwarning\n", 12);
  return plugin_table();
}
