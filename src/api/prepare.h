/* SPDX-License-Identifier: Apache-2.0
 * prepare.h - from a model and options to an open device and a planned pipeline: the part that a
 * program (vt_program_new) and a plan that is only inspected (vt_planned_new) have in common.
 * Private to the library. */
#ifndef VT_PREPARE_H
#define VT_PREPARE_H
#include "model.h"
#include "pipeline.h"

/* The terms that a program runs under. */
typedef struct vt_terms {
  vt_policy policy;   /* the policy in force; the backend "auto" turns its fallback on */
  char fallback[480]; /* why the program does not run on the requested backend; "" if it does */
} vt_terms;

/* Returns a copy of the caller's options, in which fields beyond the size that the caller set are
 * zero; `o` may be NULL. `out_alloc` receives the allocator that the options name, or else the
 * default one. */
vt_options vt_options_copy(const vt_options *o, vt_alloc *out_alloc);
/* VT_USAGE if the caller has not set the size of the options; `o` may be NULL. */
vt_status vt_options_check_size(const vt_options *o, vt_diag *d) VT_NODISCARD;
/* Opens the device that the options name, under their policy. "auto" opens the CPU if the GPU does
 * not open. */
vt_status vt_options_open_device(const vt_options *o, vt_alloc a, vt_device **dev,
                                 vt_diag *d) VT_NODISCARD;
/* Flags of vt_prepare. OPEN: also make the execution, which allocates its memory. UNTRIED: do not
 * try the capabilities that the device declares; callers that test a device set it. */
enum { VT_PREPARE_OPEN = 1, VT_PREPARE_UNTRIED = 2 };
/* Opens the device, plans on it and checks the plan against the memory budget. If the policy allows
 * a fallback and the requested device cannot run the plan, does all of it on the CPU instead. The
 * caller closes *dev and *line, on failure as well. */
vt_status vt_prepare(const vt_model *m, const vt_options *o, vt_alloc a, int flags, vt_device **dev,
                     vt_pipeline *line, vt_terms *terms, vt_diag *d) VT_NODISCARD;
/* Returns 1 if both devices belong to the same backend and differ at most in their number. */
int vt_device_same_backend(const vt_device *a, const vt_device *b);
/* Returns 1 for a device of the built-in reference, which all other backends are compared with. */
int vt_device_is_reference(const vt_device *dev);
#endif
