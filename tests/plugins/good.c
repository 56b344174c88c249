/* SPDX-License-Identifier: Apache-2.0
 * good.c - keeps every rule: it must be let in, or the others prove nothing. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  return plugin_table();
}
