/* SPDX-License-Identifier: Apache-2.0
 * probe.h - probes a plug-in in a child process before this process loads it. Private to the
 * gateway. */
#ifndef VT_PROBE_H
#define VT_PROBE_H
#include "vt_sealed.h"

enum { VT_PROBE_MS = 10000 }; /* most milliseconds that a probe in a child process may take */
/* Starts a child process that loads the plug-in, asks for its table of functions, opens device
 * `ordinal`, asks for its capabilities and ops, and closes it. Returns VT_BACKEND or VT_ABI, with a
 * sentence about `path`, if the child refuses the plug-in, crashes, hangs or exits. This process is
 * not affected. */
vt_status vt_probe_run(const vt_sealed *plugin, uint32_t ordinal, const char *path, uint32_t ms,
                       vt_diag *d) VT_NODISCARD;
#endif
