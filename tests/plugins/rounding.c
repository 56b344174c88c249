/* SPDX-License-Identifier: Apache-2.0
 * rounding.c - changes the rounding mode of its host. */
#include <fenv.h>
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  fesetround(FE_UPWARD);
  return plugin_table();
}
