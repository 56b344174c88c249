/* SPDX-License-Identifier: Apache-2.0
 * probe.h - a plug-in is met in a child process first; private to the gateway. */
#ifndef VT_PROBE_H
#define VT_PROBE_H
#include "vt_sealed.h"

enum { VT_PROBE_MS = 10000 }; /* the longest a child may take */
/* Loads the plug-in in a child, asks for its table, opens device `ordinal`, asks what it can do,
 * and closes it. VT_BACKEND or VT_ABI, with a sentence about `path`, when any of this goes wrong in
 * any way. This process is not touched. */
vt_status vt_probe_run(const vt_sealed *plugin, uint32_t ordinal, const char *path, uint32_t ms,
                       vt_diag *d) VT_NODISCARD;
#endif
