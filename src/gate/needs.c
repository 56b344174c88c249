/* SPDX-License-Identifier: Apache-2.0
 * needs.c - can this device run this plan? Decided before anything is taken: what a step needs by
 * its row of the op table and by its types must be declared, and the backend must accept it. */
#include <stdio.h>
#include <string.h>
#include "guard.h"
#include "registry.h"

static const vt_capability rows[] = {
#define VT_CAPABILITY(bit, name, help) {bit, name, help},
#include "capabilities.def"
#undef VT_CAPABILITY
};
_Static_assert(sizeof rows / sizeof *rows == VT_CAPABILITIES, "the number that is said");

const vt_capability *vt_capability_at(uint32_t i) { return i < VT_CAPABILITIES ? &rows[i] : NULL; }

/* ---- what a step needs ---- */

/* A composition that a device keeps whole may sum and call functions within. */
static uint64_t needs_of_row(const vt_op_info *op) {
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

static int is_float(uint32_t dtype) {
  return dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64 || dtype == VT_DTYPE_F16 ||
         dtype == VT_DTYPE_BF16;
}

/* Moving elements is no arithmetic: f64 and subnormals pass through anything. */
static uint64_t needs_of_types(const vt_op_info *op, const vt_bk_tensor *t, uint32_t n) {
  uint64_t needs = 0;
  if (op->numerics == VT_NUMERICS_move || op->numerics == VT_NUMERICS_bodies) return 0;
  for (uint32_t i = 0; i < n; i++) {
    if (t[i].dtype == VT_DTYPE_F64) needs |= VT_BK_FLOAT64;
    if (is_float(t[i].dtype)) needs |= VT_BK_SUBNORMALS;
  }
  return needs;
}

static uint64_t needs_of_step(const vt_bk_step *s) {
  const vt_op_info *op = vt_op_get(s->op);
  return needs_of_row(op) | needs_of_types(op, s->in, s->n_in) |
         needs_of_types(op, s->out, s->n_out);
}

static uint64_t needs_of_list(const vt_bk_step *steps, uint64_t n) {
  uint64_t needs = 0;
  for (uint64_t i = 0; i < n; i++) {
    needs |= needs_of_step(&steps[i]);
    for (uint32_t k = 0; k < steps[i].n_body; k++)
      needs |= needs_of_list(steps[i].body[k].steps, steps[i].body[k].n_steps);
  }
  return needs;
}

uint64_t vt_plan_needs(const vt_plan *p) { return needs_of_list(p->runs, p->n_runs); }

/* ---- refusals ---- */

static vt_status refused(vt_device *dev, const vt_plan *p, uint32_t run, const char *why,
                         vt_diag *d) {
  const uint32_t value = p->g->nodes[p->run_node[run]].first_out;
  char name[16], type[VT_TYPE_TEXT];
  (void)VT_FAIL(d, VT_UNSUPPORTED, "backend '%s' does not run '%s' = %s giving %s%s%s", dev->name,
                vt_value_name(p->g, value, name), vt_op_get(p->runs[run].op)->name,
                vt_type_text(&p->g->dims, &p->g->values[value].type, type), why[0] != 0 ? ": " : "",
                why);
  dev->reason[0] = 0;
  return VT_UNSUPPORTED;
}

static vt_status check_declared(vt_device *dev, const vt_plan *p, uint32_t run, vt_diag *d) {
  const uint64_t missing = needs_of_step(&p->runs[run]) & ~dev->caps.has;
  char why[80];
  for (uint32_t i = 0; i < VT_CAPABILITIES; i++) {
    if ((missing & rows[i].bit) == 0) continue;
    snprintf(why, sizeof why, "it does not declare %s", rows[i].name);
    return refused(dev, p, run, why, d);
  }
  return VT_OK;
}

static vt_status check_runs(vt_device *dev, const vt_plan *p, vt_diag *d) {
  uint32_t step = 0;
  for (uint32_t i = 0; i < p->n_runs; i++) {
    const vt_nested *bodies = vt_plan_bodies(p, i, &step);
    for (uint32_t k = 0; bodies != NULL && k < bodies->n; k++)
      VT_TRY(check_runs(dev, bodies->plan[k], d));
    dev->reason[0] = 0;
    if (dev->api->step_check(dev->dev, &p->runs[i]) != VT_OK)
      return refused(dev, p, i, dev->reason, d);
    VT_TRY(check_declared(dev, p, i, d));
  }
  return VT_OK;
}

/* What is asked of the device as a whole. */
static vt_status check_device(const vt_device *dev, const vt_plan *p, vt_diag *d) {
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

vt_status vt_device_accepts(vt_device *dev, const vt_plan *p, vt_diag *d) {
  vt_guard guard;
  VT_TRY(check_device(dev, p, d));
  if (memcmp(&dev->accepted, &p->target, sizeof p->target) == 0) return VT_OK;
  vt_guard_count(VT_COUNT_CHECKS);
  vt_guard_enter(&guard);
  const vt_status s = check_runs(dev, p, d);
  vt_guard_leave(&guard);
  if (s == VT_OK) dev->accepted = p->target;
  return s;
}
