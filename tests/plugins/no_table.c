/* SPDX-License-Identifier: Apache-2.0
 * no_table.c - returns no table, as a plug-in does that cannot serve this version. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  return NULL;
}
