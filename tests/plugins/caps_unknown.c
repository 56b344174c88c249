/* SPDX-License-Identifier: Apache-2.0
 * caps_unknown.c - declares all capabilities, also bits that only a later version defines. */
#include "test_plugin.h"

static int32_t caps(vt_bk_device *dev, vt_bk_caps *out) {
  const uint32_t size = out->size;
  plugin_caps(dev, out);
  if (size >= sizeof *out) {
    out->has = UINT64_MAX;
    out->serves = UINT32_MAX;
  }
  return OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->capabilities = caps;
  return plugin_table();
}
