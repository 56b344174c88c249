/* SPDX-License-Identifier: Apache-2.0
 * plan_key.h - everything that a plan depends on, and everything that a trial of a device depends
 * on, as one text each. Private to the api. */
#ifndef VT_PLAN_KEY_H
#define VT_PLAN_KEY_H
#include "model.h"
#include "vt_gate.h"
#include "vt_pass.h"

/* Two plans of the same key are the same to the byte, and say the same of the model's file when a
 * run fails. Names are written with their lengths, so that no two keys read alike. */
vt_status vt_plan_key(const vt_model *m, const vt_pass_list *list, const vt_pass_options *passes,
                      const vt_plan_options *plan, vt_device *dev, vt_text *out,
                      vt_diag *d) VT_NODISCARD;
/* A trial of the same key would run the same models through the same kernels on the same card, as
 * far as the device and its backend can tell: this build, the sources of kernels and of the models
 * among it; the device by its number, in its own words and by its fingerprint; what it declares;
 * the instructions it is held to; what the backend says of driver, cards and compilers. VT_NOMEM is
 * the one failure. */
vt_status vt_trial_key(const vt_device *dev, const vt_capability *c, vt_text *out) VT_NODISCARD;
#endif
