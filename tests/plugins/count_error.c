/* SPDX-License-Identifier: Apache-2.0
 * count_error.c - cannot count its devices and returns a reason. */
#include "test_plugin.h"

static int32_t count(const vt_bk_host *host, uint32_t *out) {
  (void)out;
  host->diag(host->user, BACKEND, "the driver \x1b[31mis\nold");
  return BACKEND;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->device_count = count;
  return plugin_table();
}
