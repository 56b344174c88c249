/* SPDX-License-Identifier: Apache-2.0
 * other_major.c - has another major version of the ABI. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->abi_major = 2;
  return plugin_table();
}
