/* SPDX-License-Identifier: Apache-2.0
 * exit_query.c - ends its process when asked for its table. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  exit(0);
}
