/* SPDX-License-Identifier: Apache-2.0
 * undefined_symbol.c - needs a function that does not exist. */
#include "test_plugin.h"

int nobody_has_this(void);
const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  return nobody_has_this() ? NULL : plugin_table();
}
