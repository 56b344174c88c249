/* SPDX-License-Identifier: Apache-2.0
 * prints_report.c - writes to the descriptor on which the probe reports, and ends its process. */
#include "test_plugin.h"

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  (void)!write(4, "ok\n", 3);
  _exit(0);
}
