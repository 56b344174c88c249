/* SPDX-License-Identifier: Apache-2.0
 * good.c - keeps every rule. It must be let in, or the refusals of the others would prove nothing.
 */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  return plugin_table();
}
