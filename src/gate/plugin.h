/* SPDX-License-Identifier: Apache-2.0
 * plugin.h - plug-ins: backends that are loaded from files. Private to the gateway. */
#ifndef VT_PLUGIN_H
#define VT_PLUGIN_H
#include "registry.h"
#include "vt_sealed.h"

enum { VT_PLUGIN_PATH = 4096, VT_PLUGIN_NAME = 64 };

typedef struct vt_plugin {
  vt_sealed image;            /* sealed copy of the loaded file; its hash identifies the plug-in */
  vt_backend_query_fn *query; /* the plug-in's exported function */
  vt_proofs proofs;           /* the capabilities of its devices that probes have confirmed */
  uint64_t probed;            /* bit i: a child process has probed device i; only the first 64 */
  struct vt_plugin *next;     /* the next plug-in in the list of all that are loaded */
} vt_plugin;

/* Reads the file at `path`, checks its admission, probes it and loads it for device `ordinal`. A
 * plug-in stays loaded until the process ends. The same content is loaded only once, and a probed
 * device is not probed again. */
vt_status vt_plugin_load(const char *path, uint32_t ordinal, const vt_device_options *how,
                         vt_plugin **out, vt_diag *d) VT_NODISCARD;
/* Makes `path` mean the plug-in `p` until vt_hold_release, even if the file changes. */
vt_status vt_plugin_hold(vt_plugin *p, const char *path, vt_hold **out, vt_diag *d) VT_NODISCARD;
/* Writes whether a certificate covers the device; fails with VT_BACKEND if the options require a
 * certificate and none covers the device. */
vt_status vt_plugin_check_admission(const vt_plugin_candidate *b, const vt_device_options *how,
                                    int *out_certified, vt_diag *d) VT_NODISCARD;
/* The name of a plug-in in reports: the last part of its path, with '_' for control characters,
 * spaces, colons and bytes that are not ASCII. */
void vt_plugin_display_name(const char *path, char out[VT_PLUGIN_NAME]);
#endif
