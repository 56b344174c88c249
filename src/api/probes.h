/* SPDX-License-Identifier: Apache-2.0
 * probes.h - declared capabilities are tried before they are first used; private to the api. */
#ifndef VT_PROBES_H
#define VT_PROBES_H
#include "prepare.h"

/* Every function of functions.def applied to x, and pow(a, b): expressions of a probe. */
extern const char vt_probe_functions[];

/* Tries what `needs` names, `dev` declares and nobody tried in this process, on a device opened as
 * `o` says, beside the reference: with the brief probe of each capability, or with all probes where
 * the device does not accept that one or is a plug-in without a certificate. A trial of a GPU that
 * passed is kept in `o->cache` and not made again. VT_BACKEND names what the device does not keep.
 */
vt_status vt_capabilities_try(vt_device *dev, const vt_options *o, uint64_t needs, vt_alloc a,
                              vt_diag *d) VT_NODISCARD;
/* A model that a capability is tried with. */
typedef struct vt_probe vt_probe;
vt_status vt_probe_model(const vt_probe *x, const vt_alloc *a, vt_model **out,
                         vt_diag *d) VT_NODISCARD;
/* Gives its values to a program of its model. */
vt_status vt_probe_give(const vt_probe *x, vt_program *p, vt_diag *d) VT_NODISCARD;
/* Tries one capability with all probes, whether it was tried or not; `out_models` is how many of
 * them the device accepts, and `out_broken` the one in which it does not keep the capability, or
 * NULL. */
vt_status vt_capability_try(const vt_options *o, const vt_capability *c, vt_alloc a,
                            uint32_t *out_models, const vt_probe **out_broken,
                            vt_diag *d) VT_NODISCARD;
#endif
