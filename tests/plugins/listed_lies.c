/* SPDX-License-Identifier: Apache-2.0
 * listed_lies.c - answers the question whether an op is listed with a number other than 0 and 1. */
#include "test_plugin.h"

static int32_t listed(vt_bk_device *dev, uint32_t op) { return (void)dev, (int32_t)op; }

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->op_listed = listed;
  return plugin_table();
}
