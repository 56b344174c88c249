/* SPDX-License-Identifier: Apache-2.0
 * tools.c - the rows of the op table for tools, and which ops a backend runs. */
#include <stdio.h>
#include <string.h>
#include "volta/volta_tools.h"
#include "prepare.h"
#include "vt_gate.h"

/* ---- ops ---- */

uint32_t vt_op_count(void) { return vt_op_total(); }

/* Prints a call of the op with its operands, then its attributes with their defaults: "softmax(x,
 * axis=-1)". A required attribute has no default, so only its name is printed. */
static void print_signature(const vt_op_info *op, vt_text *t) {
  vt_arena none;
  vt_dims dims;
  vt_arena_init(&none, vt_alloc_default());
  vt_dims_init(&dims, &none);
  vt_text_add(t, "%s(%s%s", op->name, op->operands,
              op->operands[0] != 0 && op->attrs->n_fields > 0 ? ", " : "");
  for (uint32_t i = 0; i < op->attrs->n_fields; i++) {
    vt_attr_field field = op->attrs->fields[i];
    const vt_attr_field *f = &field;
    const vt_attr_group single = {op->attrs->name, op->attrs->size, op->attrs->defaults, 1, f};
    field.late = 0; /* else vt_attr_print would leave out this default */
    vt_text_add(t, "%s", i == 0 ? "" : ", ");
    if (f->required) {
      vt_text_add(t, "%s", f->name);
    } else {
      vt_attr_print(&single, op->attrs->defaults, &dims, t);
    }
  }
  vt_text_add(t, ")");
}

vt_status vt_op_row_at(uint32_t i, vt_op_row *out) {
  const vt_op_info *op = vt_op_at(i);
  if (op == NULL) return VT_RANGE;
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  print_signature(op, &t);
  const vt_status s = vt_text_status(&t);
  if (s == VT_OK) {
    *out = (vt_op_row){.number = op->number,
                       .min_in = op->min_in,
                       .max_in = op->max_in,
                       .prim = op->prim,
                       .name = op->name,
                       .numerics = vt_numerics_name(op->numerics),
                       .help = op->help,
                       .results = op->results,
                       .needs = vt_needs_name(op->needs),
                       .flat = op->flat,
                       .operands = op->operands[0] != 0 ? op->operands : "none",
                       .attrs = op->words.attrs,
                       .verify = op->words.verify,
                       .shape = op->words.shape,
                       .decomposition = op->words.lower,
                       .kernel = op->words.kernel,
                       .work = op->words.work,
                       .gradient = op->rule};
    snprintf(out->signature, sizeof out->signature, "%s", t.s);
  }
  vt_text_done(&t);
  return s;
}

vt_status vt_op_supported_by(const vt_options *o, uint32_t number, int *out, vt_diag *d) {
  vt_device *dev;
  vt_alloc a;
  const vt_options options = vt_options_copy(o, &a);
  VT_TRY(vt_options_open_device(&options, a, &dev, d));
  *out = vt_device_lists_op(dev, number);
  vt_device_close(dev);
  return VT_OK;
}

vt_status vt_op_supported(const char *backend, uint32_t number, int *out, vt_diag *d) {
  const vt_options o = {.size = sizeof o, .backend = backend};
  return vt_op_supported_by(&o, number, out, d);
}

/* Writes how the device runs the op: the backend's own word or "itself", "decomposed", or "no". */
static void print_support(const vt_device *dev, uint32_t op_number, char out[VT_OP_SUPPORT]) {
  const vt_op_info *op = vt_op_get(op_number);
  out[0] = 0;
  if (vt_device_lists_op(dev, op_number)) {
    vt_device_kernel_variant(dev, op_number, out);
    if (out[0] == 0) snprintf(out, VT_OP_SUPPORT, "itself");
  } else {
    snprintf(out, VT_OP_SUPPORT, "%s", op != NULL && !op->prim ? "decomposed" : "no");
  }
}

_Static_assert(VT_OP_SUPPORT >= (int)VT_DEVICE_VARIANT,
               "the backend's word for a kernel variant fits");

vt_status vt_op_support(const vt_options *o, uint32_t number, char out[VT_OP_SUPPORT], vt_diag *d) {
  vt_device *dev;
  vt_alloc a;
  const vt_options options = vt_options_copy(o, &a);
  VT_TRY(vt_options_open_device(&options, a, &dev, d));
  print_support(dev, number, out);
  vt_device_close(dev);
  return VT_OK;
}
