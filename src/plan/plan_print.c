/* SPDX-License-Identifier: Apache-2.0
 * plan_print.c - a plan as text. The core part is what every backend shares; its digest is the
 * hash of these bytes. */
#include "vt_plan.h"

static void print_buffer(const vt_plan *p, const vt_buffer *b, vt_text *out) {
  char name[16];
  vt_text_add(out, "  %s: ", vt_value_name(p->g, b->value, name));
  vt_type_print(&p->g->dims, &p->g->values[b->value].type, out);
  vt_text_add(out, " %s +%llu %llu bytes, steps %u..%u\n", vt_class_name(b->class),
              (unsigned long long)b->offset, (unsigned long long)b->bytes, b->first, b->last);
}

static void print_step(const vt_plan *p, uint32_t i, vt_text *out) {
  const vt_node *n = &p->g->nodes[p->step_node[i]];
  const vt_op_info *op = vt_op_get(n->op);
  char name[16];
  vt_text_add(out, "  step %u: %s = %s(", i, vt_value_name(p->g, n->first_out, name), op->name);
  for (uint32_t k = 0; k < n->n_in; k++)
    vt_text_add(out, "%s%s", k == 0 ? "" : ", ",
                vt_value_name(p->g, p->g->operands[n->first_in + k], name));
  vt_text_add(out, "%s", n->n_in > 0 && op->attrs->n_fields > 0 ? ", " : "");
  vt_attr_print(op->attrs, n->attrs, &p->g->dims, out);
  vt_text_add(out, ")\n");
}

static void print_target(const vt_plan *p, vt_text *out) {
  vt_text_add(out, "target %s {\n  work %llu bytes\n", p->fingerprint,
              (unsigned long long)p->class_bytes[VT_CLASS_WORK]);
  for (uint32_t i = 0; i < p->n_steps; i++)
    if (p->steps[i].work_bytes > 0)
      vt_text_add(out, "  step %u: work +%llu %llu bytes\n", i,
                  (unsigned long long)p->steps[i].work_offset,
                  (unsigned long long)p->steps[i].work_bytes);
  vt_text_add(out, "}\n");
}

void vt_plan_print(const vt_plan *p, int target, vt_text *out) {
  vt_text_add(out, "plan 1, numerics %u\ncore %s {\n", VT_NUMERICS_VERSION, p->g->name);
  for (uint32_t c = 0; c < VT_CLASS_WORK; c++)
    vt_text_add(out, "  %s %llu bytes\n", vt_class_name(c), (unsigned long long)p->class_bytes[c]);
  for (uint32_t i = 0; i < p->n_buffers; i++) print_buffer(p, &p->buffers[i], out);
  for (uint32_t i = 0; i < p->n_steps; i++) print_step(p, i, out);
  vt_text_add(out, "}\n");
  if (target) print_target(p, out);
}
