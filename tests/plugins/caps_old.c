/* SPDX-License-Identifier: Apache-2.0
 * caps_old.c - was built for a version of the ABI without declared capabilities. It is let in, but
 * nothing is assumed of it, and fields beyond the size that it gives are ignored. */
#include "test_plugin.h"

static int32_t caps(vt_bk_device *dev, vt_bk_caps *out) {
  const uint32_t size = out->size;
  plugin_caps(dev, out);
  if (size >= sizeof *out) {
    out->has = UINT64_MAX;
    out->size = offsetof(vt_bk_caps, has);
  }
  return OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->capabilities = caps;
  return plugin_table();
}
