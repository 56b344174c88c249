/* SPDX-License-Identifier: Apache-2.0
 * registry.h - the rows of the registry and the opened device; private to the gateway. */
#ifndef VT_REGISTRY_H
#define VT_REGISTRY_H
#include <stdatomic.h>
#include "vt_gate.h"

/* Capabilities that probes have confirmed, by device and instruction set. There are entries only
 * for the first VT_PROOFS devices of a backend and the first VT_PROOF_ISAS instruction sets of the
 * process, where "no limit" counts as an instruction set. */
enum { VT_PROOFS = 16, VT_PROOF_ISAS = 8 };
typedef struct vt_proofs {
  _Atomic uint64_t confirmed[VT_PROOFS][VT_PROOF_ISAS]; /* bits of vt_bk_caps.has */
} vt_proofs;

typedef struct vt_registry_row {
  const char *name;           /* name of the backend: "cpu" */
  vt_backend_query_fn *query; /* returns the backend's table of functions */
  vt_kind kind;
  vt_proofs *proofs; /* the capabilities of its devices that probes have confirmed */
} vt_registry_row;
const vt_registry_row *vt_registry_row_at(uint32_t i);

struct vt_plugin;

/* An opened device. */
struct vt_device {
  vt_alloc a;
  vt_bk_host host;      /* the host's functions and options, as the backend sees them */
  const vt_bk_api *api; /* the backend's table of functions */
  vt_bk_device *dev;    /* the backend's own device */
  vt_bk_caps caps;
  vt_kind kind;
  char name[80];                              /* name of the device: "cpu:0" */
  char isa[16];                               /* the string that host.isa points to */
  char cache[4096];                           /* the string that host.cache points to */
  void (*note)(void *user, const char *text); /* receives the backend's notes, or NULL */
  void *note_user;                            /* first argument of `note` */
  /* The plug-in that the device belongs to; NULL for a built-in backend. */
  struct vt_plugin *plugin;
  char print[300];     /* fingerprint of a plug-in's device: digest of the plug-in's file, and the
                          fingerprint that the device states */
  int unadmitted;      /* 1: no certificate covers the device, which is a plug-in's */
  vt_hash256 accepted; /* target digest of the last plan whose steps were all accepted */
  _Atomic uint64_t *proven; /* the device's entry in vt_proofs, or NULL */
  char reason[240];         /* the last text that the backend gave to host.diag */
  vt_exec *running;         /* the execution that is running, for progress reports; or NULL */
  uint32_t n_phases;
  vt_phase phases[VT_PHASES];
};
/* The bodies of backend step `index`, or NULL if the backend step is a dense copy. *step must be
 * the schedule step that `index` belongs to; it is increased if `index` is that step itself, not a
 * copy made for it. */
const vt_nested *vt_plan_next_bodies_of_bk_step(const vt_plan *p, uint32_t index, uint32_t *step);
/* Handles a backend's report that step number `step` is done: records its time and calls the
 * listener. */
void vt_exec_step_done(vt_exec *x, uint64_t step);
/* Turns a backend's error status into a diagnostic "backend 'x' cannot <what>: <reason>". */
vt_status vt_device_fail_call(vt_device *dev, int32_t status, const char *what, vt_diag *d);
#endif
