/* SPDX-License-Identifier: Apache-2.0
 * plugin.h - backends in files; private to the gateway. */
#ifndef VT_PLUGIN_H
#define VT_PLUGIN_H
#include "registry.h"
#include "vt_sealed.h"

enum { VT_PLUGIN_PATH = 4096, VT_PLUGIN_NAME = 64 };

typedef struct vt_plugin {
  vt_sealed image; /* what is loaded; its hash is the identity of the plug-in */
  vt_backend_query_fn *query;
  vt_proofs proofs;
  uint64_t probed; /* devices that a child has opened: a bit each, for the first 64 */
  struct vt_plugin *next;
} vt_plugin;

/* Reads, judges, probes and loads the file at `path` for its device `ordinal`. A plug-in stays
 * loaded until the process ends; the same content is loaded once, and one that was probed is not
 * probed again. */
vt_status vt_plugin_get(const char *path, uint32_t ordinal, const vt_opening *how, vt_plugin **out,
                        vt_diag *d) VT_NODISCARD;
/* From now on `path` means `p`, until vt_hold_release. */
vt_status vt_plugin_hold(vt_plugin *p, const char *path, vt_hold **out, vt_diag *d) VT_NODISCARD;
/* Whether a certificate covers it, which is VT_BACKEND where one must and none does. */
vt_status vt_plugin_admit(const vt_bearer *b, const vt_opening *how, int *out_certified,
                          vt_diag *d) VT_NODISCARD;
/* What a report calls a plug-in: the last part of its path, with nothing in it that a terminal
 * obeys or a report gives a meaning. */
void vt_plugin_show(const char *path, char out[VT_PLUGIN_NAME]);
#endif
