/* SPDX-License-Identifier: Apache-2.0
 * prepare.h - from a model and options to a device and a planned pipeline: what a program and a
 * plan that is only looked at have in common. For the library alone. */
#ifndef VT_PREPARE_H
#define VT_PREPARE_H
#include "model.h"
#include "pipeline.h"

/* The caller's options in full size, and the allocator they mean. */
vt_options vt_options_read(const vt_options *o, vt_alloc *out_alloc);
/* Opens the backend they name, under the policy they state. */
vt_status vt_options_open(const vt_options *o, vt_alloc a, vt_device **dev,
                          vt_diag *d) VT_NODISCARD;
/* Opens the device and plans on it, within the budget. What is in *dev and *line afterwards is the
 * caller's to close, whatever the outcome. */
vt_status vt_prepare(const vt_model *m, const vt_options *o, vt_alloc a, vt_device **dev,
                     vt_pipeline *line, vt_diag *d) VT_NODISCARD;
#endif
