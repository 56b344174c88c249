/* SPDX-License-Identifier: Apache-2.0
 * caps_lines.c - has a fingerprint with a newline, which would be two lines of a printed plan. */
#include "test_plugin.h"

static int32_t caps(vt_bk_device *dev, vt_bk_caps *out) {
  const int whole = out->size >= sizeof *out;
  plugin_caps(dev, out);
  if (whole) out->fingerprint = "plugin-1\nend";
  return OK;
}

const vt_bk_api *vt_backend_query(const vt_bk_host *host) {
  (void)host;
  plugin_table()->capabilities = caps;
  return plugin_table();
}
