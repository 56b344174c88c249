/* SPDX-License-Identifier: Apache-2.0 */
#include "cli_plan.h"
vt_status cli_svg_write(const char *path, const cli_plan_job *j, const vt_planned *p,
                        cli_error *e) {
  (void)path;
  (void)j;
  (void)p;
  (void)e;
  return VT_OK;
}
