/* SPDX-License-Identifier: Apache-2.0
 * prepare.h - from a model and options to a device and a planned pipeline: what a program and a
 * plan that is only looked at have in common. For the library alone. */
#ifndef VT_PREPARE_H
#define VT_PREPARE_H
#include "model.h"
#include "pipeline.h"

/* What a program runs under. */
typedef struct vt_terms {
  vt_policy policy;
  char fallback[480]; /* why it is not on the backend that was asked for; "" when it is */
} vt_terms;

/* The caller's options in full size, and the allocator they mean. */
vt_options vt_options_read(const vt_options *o, vt_alloc *out_alloc);
/* Opens the backend they name, under the policy they state. */
vt_status vt_options_open(const vt_options *o, vt_alloc a, vt_device **dev,
                          vt_diag *d) VT_NODISCARD;
/* Opens the device and plans on it, within the budget, and with OPEN takes the memory; UNTRIED is
 * for those who try a device: nothing that it declares is tried before. Where the
 * policy falls back, all of it on the CPU once the device that was asked for cannot. What is in
 * *dev and *line afterwards is the caller's to close, whatever the outcome. */
enum { VT_PREPARE_OPEN = 1, VT_PREPARE_UNTRIED = 2 };
vt_status vt_prepare(const vt_model *m, const vt_options *o, vt_alloc a, int how, vt_device **dev,
                     vt_pipeline *line, vt_terms *terms, vt_diag *d) VT_NODISCARD;
/* 1 when both are of one backend: a number of a device is no other backend. */
int vt_device_same_backend(const vt_device *a, const vt_device *b);
/* 1 for a device of the reference, which the others are compared with. */
int vt_device_is_reference(const vt_device *dev);
#endif
