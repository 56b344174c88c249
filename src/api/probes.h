/* SPDX-License-Identifier: Apache-2.0
 * probes.h - trials: a capability that a device declares is tried before its first use, by running
 * small models (probes) on the device and on the reference. Private to the library. */
#ifndef VT_PROBES_H
#define VT_PROBES_H
#include "prepare.h"

/* The output expressions of the probe of rounded functions, separated by ';': each function of
 * functions.def applied to x, then pow(a, b). */
extern const char vt_probe_functions[];

/* Tries each capability that is in the bit set `needs`, that `dev` declares and that this process
 * has not tried yet. The device is opened again with the options `o`. Only the brief probe of a
 * capability runs, unless the device does not accept it or is a plug-in without a certificate: then
 * all its probes run. A passed trial of a GPU is recorded in `o->cache` and is not repeated. The
 * error VT_BACKEND names a capability that the device declares and does not satisfy. */
vt_status vt_capabilities_try(vt_device *dev, const vt_options *o, uint64_t needs, vt_alloc a,
                              vt_diag *d) VT_NODISCARD;
/* A probe: one row of probes.def. */
typedef struct vt_probe vt_probe;
/* Parses the model of a probe. */
vt_status vt_probe_parse_model(const vt_probe *x, const vt_alloc *a, vt_model **out,
                               vt_diag *d) VT_NODISCARD;
/* Sets the inputs of a program of the probe's model to the probe's values. */
vt_status vt_probe_set_inputs(const vt_probe *x, vt_program *p, vt_diag *d) VT_NODISCARD;
/* Tries one capability with all its probes, even if it was tried before. `out_models` receives how
 * many of them the device accepted, and `out_broken` the probe that failed, or NULL. */
vt_status vt_capability_try(const vt_options *o, const vt_capability *c, vt_alloc a,
                            uint32_t *out_models, const vt_probe **out_broken,
                            vt_diag *d) VT_NODISCARD;
#endif
