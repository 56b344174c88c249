/* SPDX-License-Identifier: Apache-2.0
 * abort_query.c - calls abort when asked for its table. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  abort();
}
