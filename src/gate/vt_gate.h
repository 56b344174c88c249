/* SPDX-License-Identifier: Apache-2.0
 * vt_gate.h - the runtime gateway: the only caller of backends. Owns the registry, devices opened
 * through the ABI, and executions of plans. Sets the floating-point environment around everything
 * that computes, turns a backend's answers into diagnostics, and counts what it does. */
#ifndef VT_GATE_H
#define VT_GATE_H
#include "vt_plan.h"

/* ---- registry ---- */
uint32_t vt_registry_total(void);
/* "reference" with its number of devices; VT_BACKEND when it cannot say. */
vt_status vt_registry_at(uint32_t i, const char **out_name, uint32_t *out_devices,
                         vt_diag *d) VT_NODISCARD;

/* ---- policy ---- */
/* What is let through; zero is strict. */
typedef struct vt_policy {
  int allow_unadmitted; /* plug-ins of which nothing shows that they give the right bits */
} vt_policy;
/* Whether a certificate of admission covers a plug-in of this content. */
int vt_gate_admitted(const vt_hash256 *hash);

/* ---- devices ---- */
typedef struct vt_device vt_device;
/* `name` is "reference" or "reference:1"; with a slash in it, the path of a plug-in, which is
 * probed in a child process before this one loads it: "./libfoo.so", "/opt/libfoo.so:1". */
vt_status vt_device_open_under(const vt_policy *policy, const char *name, vt_alloc a,
                               vt_device **out, vt_diag *d) VT_NODISCARD;
/* Under the strict policy. */
vt_status vt_device_open(const char *name, vt_alloc a, vt_device **out, vt_diag *d) VT_NODISCARD;
void vt_device_close(vt_device *dev);
const char *vt_device_name(const vt_device *dev); /* "reference:0" */
/* The content of the plug-in; NULL for a device that is built in. */
const vt_hash256 *vt_device_plugin(const vt_device *dev);
int vt_device_unadmitted(const vt_device *dev);
const vt_bk_caps *vt_device_caps(const vt_device *dev);
/* 1 when the device has a kernel for op number `op`. The shape fits vt_pass_options.listed. */
int vt_device_lists(const void *dev, uint32_t op);
/* The device as the planner sees it; valid as long as the device. */
vt_target vt_device_target(vt_device *dev);

/* ---- executions: a plan on a device, with its memory ---- */
typedef struct vt_exec vt_exec;
/* Checks every step (VT_UNSUPPORTED names op and types) and that there is memory (VT_NOMEM says how
 * much, before any is taken), builds the programs, takes all memory. */
vt_status vt_exec_new(vt_device *dev, const vt_plan *p, vt_alloc a, vt_exec **out,
                      vt_diag *d) VT_NODISCARD;
void vt_exec_free(vt_exec *x);
/* Between the caller's memory and the buffer of a value, on the device or kept on the host. */
vt_status vt_exec_write(vt_exec *x, uint32_t value, const void *data, vt_diag *d) VT_NODISCARD;
vt_status vt_exec_read(vt_exec *x, uint32_t value, void *data, vt_diag *d) VT_NODISCARD;
vt_status vt_exec_run(vt_exec *x, vt_diag *d) VT_NODISCARD;
/* `report` hears of the steps of later runs: how much of the work is done, in units that grow with
 * the multiplications of a step. It cannot change anything. */
typedef void vt_exec_report(void *user, uint64_t done, uint64_t total);
void vt_exec_watch(vt_exec *x, vt_exec_report *report, void *user);
/* Bytes copied for the last run: inputs before it, parameters that stay on the host while it ran,
 * and whatever was read since. */
void vt_exec_traffic(const vt_exec *x, uint64_t *out_to_device, uint64_t *out_from_device);
uint64_t vt_exec_wall_ns(const vt_exec *x); /* of the last run */
#endif
