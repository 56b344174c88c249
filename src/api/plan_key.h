/* SPDX-License-Identifier: Apache-2.0
 * plan_key.h - the keys of the cache: one text with everything that a plan depends on, and one with
 * everything that the result of a device's trial depends on. Private to the api. */
#ifndef VT_PLAN_KEY_H
#define VT_PLAN_KEY_H
#include "model.h"
#include "vt_gate.h"
#include "vt_pass.h"

/* Appends the key of a plan. Two plans with the same key are equal to the byte, and their failing
 * steps name the same line of the model's file. A name is written with its length, so that two
 * different lists of names never give the same text. */
vt_status vt_plan_key(const vt_model *m, const vt_pass_list *list, const vt_pass_options *passes,
                      const vt_plan_options *plan, vt_device *dev, vt_text *out,
                      vt_diag *d) VT_NODISCARD;
/* Appends the key of a trial of capability `c`. Two trials with the same key run the same models
 * through the same kernels on the same card, as far as the device and its backend can tell. The key
 * names this build with a hash of its sources, kernels and probes included. It also has the
 * device's number, description and fingerprint; the capabilities that it declares; the instruction
 * set that it is limited to; and the backend's facts about driver, cards and compilers. The only
 * failure is VT_NOMEM. */
vt_status vt_trial_key(const vt_device *dev, const vt_capability *c, vt_text *out) VT_NODISCARD;
#endif
