/* SPDX-License-Identifier: Apache-2.0
 * registry.h - rows of the registry; private to the gateway. */
#ifndef VT_REGISTRY_H
#define VT_REGISTRY_H
#include "vt_gate.h"

typedef struct vt_registry_row {
  const char *name;
  vt_backend_query_fn *query;
} vt_registry_row;
const vt_registry_row *vt_registry_row_at(uint32_t i);

struct vt_plugin;

/* An opened device, as the gateway's own files see it. */
struct vt_device {
  vt_alloc a;
  vt_bk_host host;
  const vt_bk_api *api;
  vt_bk_device *dev;
  vt_bk_caps caps;
  char name[80];
  const struct vt_plugin *plugin; /* NULL: built in */
  char print[300];                /* of a plug-in: its content and its own fingerprint */
  char reason[240];               /* what the backend said last through host.diag */
  vt_exec *running;               /* the execution under way, for reports of progress */
};
/* Step `step` of an execution is finished. */
void vt_exec_note(vt_exec *x, uint64_t step);
/* A backend's status as a diagnostic; `what` says what was asked of it. */
vt_status vt_device_fail(vt_device *dev, int32_t status, const char *what, vt_diag *d);
#endif
