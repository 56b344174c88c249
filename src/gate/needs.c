/* SPDX-License-Identifier: Apache-2.0
 * needs.c - decides, before any memory is taken, whether a device can run a plan. For each step the
 * device must declare the capabilities that the op's row and the types need, and the backend must
 * accept the step. Needed capabilities are bits of vt_bk_caps.has. */
#include <stdio.h>
#include <string.h>
#include "guard.h"
#include "registry.h"

static const vt_capability rows[] = {
#define VT_CAPABILITY(bit, name, help) {bit, name, help},
#include "capabilities.def"
#undef VT_CAPABILITY
};
_Static_assert(sizeof rows / sizeof *rows == VT_CAPABILITIES, "VT_CAPABILITIES counts the rows");

const vt_capability *vt_capability_at(uint32_t i) { return i < VT_CAPABILITIES ? &rows[i] : NULL; }

/* ---- the capabilities that a step needs ---- */

/* The capabilities that an op needs. A composition that the device keeps whole may contain
 * reductions and functions, so it needs those for both. */
static uint64_t caps_needed_by_op(const vt_op_info *op) {
  const int whole = op->numerics == VT_NUMERICS_composed;
  uint64_t needs = 0;
  if (op->needs == VT_NEEDS_reductions || op->numerics == VT_NUMERICS_ordered || whole)
    needs |= VT_BK_DETERMINISTIC_REDUCTIONS;
  if (op->numerics == VT_NUMERICS_rounded || whole) needs |= VT_BK_ROUNDED_MATH;
  if (op->needs == VT_NEEDS_collisions) needs |= VT_BK_ATOMIC_OPS;
  if (op->needs == VT_NEEDS_int8) needs |= VT_BK_INT8_EXACT;
  if (op->needs == VT_NEEDS_regions) needs |= VT_BK_REGIONS;
  return needs;
}

static int is_float_dtype(uint32_t dtype) {
  return dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64 || dtype == VT_DTYPE_F16 ||
         dtype == VT_DTYPE_BF16;
}

/* The capabilities that the types of `n` tensors need. Ops that only move elements do no
 * arithmetic, so they need none for f64 or subnormals. */
static uint64_t caps_needed_by_types(const vt_op_info *op, const vt_bk_tensor *t, uint32_t n) {
  uint64_t needs = 0;
  if (op->numerics == VT_NUMERICS_move || op->numerics == VT_NUMERICS_bodies) return 0;
  for (uint32_t i = 0; i < n; i++) {
    if (t[i].dtype == VT_DTYPE_F64) needs |= VT_BK_FLOAT64;
    if (is_float_dtype(t[i].dtype)) needs |= VT_BK_SUBNORMALS;
  }
  return needs;
}

static uint64_t caps_needed_by_step(const vt_bk_step *s) {
  const vt_op_info *op = vt_op_get(s->op);
  return caps_needed_by_op(op) | caps_needed_by_types(op, s->in, s->n_in) |
         caps_needed_by_types(op, s->out, s->n_out);
}

static uint64_t caps_needed_by_steps(const vt_bk_step *steps, uint64_t n) {
  uint64_t needs = 0;
  for (uint64_t i = 0; i < n; i++) {
    needs |= caps_needed_by_step(&steps[i]);
    for (uint32_t k = 0; k < steps[i].n_body; k++)
      needs |= caps_needed_by_steps(steps[i].body[k].steps, steps[i].body[k].n_steps);
  }
  return needs;
}

uint64_t vt_plan_needed_caps(const vt_plan *p) {
  return caps_needed_by_steps(p->bk_steps, p->n_bk_steps);
}

/* ---- refusals ---- */

/* Reports that the device refuses a backend step, with the reason `why` unless it is "". */
static vt_status fail_refused_step(vt_device *dev, const vt_plan *p, uint32_t index,
                                   const char *why, vt_diag *d) {
  const uint32_t value = p->g->nodes[p->bk_step_node[index]].first_out;
  char name[16], type[VT_TYPE_TEXT];
  (void)VT_FAIL(d, VT_UNSUPPORTED, "backend '%s' does not run '%s' = %s giving %s%s%s", dev->name,
                vt_value_name(p->g, value, name), vt_op_get(p->bk_steps[index].op)->name,
                vt_type_text(&p->g->dims, &p->g->values[value].type, type), why[0] != 0 ? ": " : "",
                why);
  dev->reason[0] = 0;
  return VT_UNSUPPORTED;
}

static vt_status check_step_is_declared(vt_device *dev, const vt_plan *p, uint32_t index,
                                        vt_diag *d) {
  const uint64_t missing = caps_needed_by_step(&p->bk_steps[index]) & ~dev->caps.has;
  char why[80];
  for (uint32_t i = 0; i < VT_CAPABILITIES; i++) {
    if ((missing & rows[i].bit) == 0) continue;
    snprintf(why, sizeof why, "it does not declare %s", rows[i].name);
    return fail_refused_step(dev, p, index, why, d);
  }
  return VT_OK;
}

/* Refuses a step that is to be computed by changing its first operand, unless the device can. Only
 * the next value of a state is planned like that. */
static vt_status check_updates_in_place(vt_device *dev, const vt_plan *p, uint32_t index,
                                        vt_diag *d) {
  const vt_node *n = &p->g->nodes[p->bk_step_node[index]];
  if (dev->caps.updates_in_place || vt_op_form(n->op) != VT_FORM_UPDATE ||
      p->buffers[n->first_out].place != VT_PLACE_OVER)
    return VT_OK;
  const vt_status s = fail_refused_step(dev, p, index, "it does not update operands in place", d);
  if (d != NULL && d->hint[0] == 0)
    snprintf(d->hint, sizeof d->hint, "with safe states no operand is updated in place");
  return s;
}

static vt_status check_steps_of_plan(vt_device *dev, const vt_plan *p, vt_diag *d) {
  uint32_t step = 0;
  for (uint32_t i = 0; i < p->n_bk_steps; i++) {
    const vt_nested *bodies = vt_plan_next_bodies_of_bk_step(p, i, &step);
    for (uint32_t k = 0; bodies != NULL && k < bodies->n; k++)
      VT_TRY(check_steps_of_plan(dev, bodies->plan[k], d));
    dev->reason[0] = 0;
    if (dev->api->step_check(dev->dev, &p->bk_steps[i]) != VT_OK)
      return fail_refused_step(dev, p, i, dev->reason, d);
    VT_TRY(check_step_is_declared(dev, p, i, d));
    VT_TRY(check_updates_in_place(dev, p, i, d));
  }
  return VT_OK;
}

/* Checks what the plan needs of the device as a whole, independent of its steps. */
static vt_status check_plan_wide_needs(const vt_device *dev, const vt_plan *p, vt_diag *d) {
  const int trains = p->class_bytes[VT_CLASS_GRAD] > 0 || p->class_bytes[VT_CLASS_STATE] > 0;
  if (dev->caps.determinism != VT_BK_DETERMINISM_STRICT)
    return VT_FAIL(d, VT_UNSUPPORTED,
                   "backend '%s' does not promise the bits of the reference (determinism %u), and "
                   "nothing else is allowed",
                   dev->name, dev->caps.determinism);
  const uint32_t wanted = trains ? VT_BK_TRAINING : VT_BK_INFERENCE;
  if ((dev->caps.serves & wanted) != 0) return VT_OK;
  return VT_FAIL(d, VT_UNSUPPORTED, "backend '%s' does not serve %s", dev->name,
                 trains ? "training" : "inference");
}

vt_status vt_device_check_plan(vt_device *dev, const vt_plan *p, vt_diag *d) {
  vt_guard guard;
  VT_TRY(check_plan_wide_needs(dev, p, d));
  if (memcmp(&dev->accepted, &p->target, sizeof p->target) == 0) return VT_OK;
  vt_guard_count_event(VT_COUNT_CHECKS);
  vt_guard_enter(&guard);
  const vt_status s = check_steps_of_plan(dev, p, d);
  vt_guard_leave(&guard);
  if (s == VT_OK) dev->accepted = p->target;
  return s;
}
