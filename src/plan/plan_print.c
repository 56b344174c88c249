/* SPDX-License-Identifier: Apache-2.0
 * plan_print.c - a plan as text. The core part is what every backend shares; its digest is the
 * hash of these bytes. */
#include "vt_plan.h"

static void indent(uint32_t depth, vt_text *out) {
  for (uint32_t i = 0; i < depth; i++) vt_text_add(out, "  ");
}

static void print_buffer(const vt_plan *p, const vt_buffer *b, uint32_t depth, vt_text *out) {
  char name[16];
  indent(depth, out);
  vt_text_add(out, "%s: ", vt_value_name(p->g, b->value, name));
  vt_type_print(&p->g->dims, &p->g->values[b->value].type, out);
  vt_text_add(out, " %s +%llu %llu bytes, steps %u..%u\n", vt_class_name(b->class),
              (unsigned long long)b->offset, (unsigned long long)b->bytes, b->first, b->last);
}

static void print_list(const vt_plan *p, uint32_t depth, vt_text *out);

static void print_bodies(const vt_plan *p, uint32_t i, uint32_t depth, vt_text *out) {
  const vt_nested *nested = &p->nested[i];
  for (uint32_t k = 0; k < nested->n; k++) {
    indent(depth, out);
    vt_text_add(out, "body %u, temp +%llu %llu bytes {\n", k, (unsigned long long)nested->offset,
                (unsigned long long)nested->bytes);
    print_list(nested->plan[k], depth + 1, out);
    indent(depth, out);
    vt_text_add(out, "}\n");
  }
}

static void print_step(const vt_plan *p, uint32_t i, uint32_t depth, vt_text *out) {
  const vt_node *n = &p->g->nodes[p->step_node[i]];
  const vt_op_info *op = vt_op_get(n->op);
  char name[16];
  indent(depth, out);
  vt_text_add(out, "step %u: ", i);
  for (uint32_t k = 0; k < n->n_out; k++)
    vt_text_add(out, "%s%s", k == 0 ? "" : ", ", vt_value_name(p->g, n->first_out + k, name));
  vt_text_add(out, " = %s(", op->name);
  for (uint32_t k = 0; k < n->n_in; k++)
    vt_text_add(out, "%s%s", k == 0 ? "" : ", ",
                vt_value_name(p->g, p->g->operands[n->first_in + k], name));
  vt_text_add(out, "%s", n->n_in > 0 && op->attrs->n_fields > 0 ? ", " : "");
  vt_attr_print(op->attrs, n->attrs, &p->g->dims, out);
  vt_text_add(out, ")");
  if (n->group != 0) vt_text_add(out, " @%u", n->group);
  vt_text_add(out, "\n");
  print_bodies(p, i, depth + 1, out);
}

static void print_list(const vt_plan *p, uint32_t depth, vt_text *out) {
  for (uint32_t i = 0; i < p->n_buffers; i++) print_buffer(p, &p->buffers[i], depth, out);
  for (uint32_t i = 0; i < p->n_steps; i++) print_step(p, i, depth, out);
}

/* Steps are counted as they are written: one, then those of its bodies. */
static void print_work(const vt_plan *p, uint32_t *number, vt_text *out) {
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_bk_step *s = &p->steps[i];
    if (s->work_bytes > 0)
      vt_text_add(out, "  step %u: work +%llu %llu bytes\n", *number,
                  (unsigned long long)s->work_offset, (unsigned long long)s->work_bytes);
    ++*number;
    for (uint32_t k = 0; k < p->nested[i].n; k++) print_work(p->nested[i].plan[k], number, out);
  }
}

static void print_target(const vt_plan *p, vt_text *out) {
  uint32_t number = 0;
  vt_text_add(out, "target %s {\n  work %llu bytes\n", p->fingerprint,
              (unsigned long long)p->class_bytes[VT_CLASS_WORK]);
  print_work(p, &number, out);
  vt_text_add(out, "}\n");
}

void vt_plan_print(const vt_plan *p, int target, vt_text *out) {
  vt_text_add(out, "plan 1, numerics %u\ncore %s {\n", VT_NUMERICS_VERSION, p->g->name);
  for (uint32_t c = 0; c < VT_CLASS_WORK; c++)
    vt_text_add(out, "  %s %llu bytes\n", vt_class_name(c), (unsigned long long)p->class_bytes[c]);
  print_list(p, 1, out);
  vt_text_add(out, "}\n");
  if (target) print_target(p, out);
}
