/* SPDX-License-Identifier: Apache-2.0
 * registry.h - rows of the registry; private to the gateway. */
#ifndef VT_REGISTRY_H
#define VT_REGISTRY_H
#include <stdatomic.h>
#include "vt_gate.h"

/* Capabilities that were tried and kept, of the first devices of a backend: once as they are, and
 * once for each set of instructions that they were held to, the first few of this process. */
enum { VT_PROOFS = 16, VT_PROOF_ISAS = 8 };
typedef struct vt_proofs {
  _Atomic uint64_t kept[VT_PROOFS][VT_PROOF_ISAS];
} vt_proofs;

typedef struct vt_registry_row {
  const char *name;
  vt_backend_query_fn *query;
  vt_kind kind;
  vt_proofs *proofs;
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
  vt_kind kind;
  char name[80];
  char isa[16];     /* host.isa points here */
  char cache[4096]; /* host.cache too */
  void (*note)(void *user, const char *text);
  void *note_user;
  struct vt_plugin *plugin; /* NULL: built in */
  char print[300];          /* of a plug-in: its content and its own fingerprint */
  int unadmitted;           /* a plug-in that no certificate covers */
  vt_hash256 accepted;      /* the digest of the last plan that it accepted every step of */
  _Atomic uint64_t *proven; /* shared by devices of this number; NULL beyond the first ones */
  char reason[240];         /* what the backend said last through host.diag */
  vt_exec *running;         /* the execution under way, for reports of progress */
  uint32_t n_phases;
  vt_phase phases[VT_PHASES];
};
/* The bodies of a run, or NULL when it is the dense copy of a view and no step. `step` follows the
 * runs: it is the step that comes next. */
const vt_nested *vt_plan_bodies(const vt_plan *p, uint32_t run, uint32_t *step);
/* Step `step` of an execution is finished. */
void vt_exec_note(vt_exec *x, uint64_t step);
/* A backend's status as a diagnostic; `what` says what was asked of it. */
vt_status vt_device_fail(vt_device *dev, int32_t status, const char *what, vt_diag *d);
#endif
