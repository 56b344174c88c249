/* SPDX-License-Identifier: Apache-2.0
 * old_names.c - public functions under the names that they had before they were renamed. Each calls
 * the function of the new name. They are kept for one version; CHANGELOG.md lists them. */
#include "volta/volta_tools.h"

uint32_t vt_planned_stretches(const vt_planned *p) { return vt_planned_lifetimes(p); }

vt_status vt_planned_stretch(const vt_planned *p, uint32_t i, vt_plan_lifetime *out) {
  return vt_planned_lifetime(p, i, out);
}
