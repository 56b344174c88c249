/* SPDX-License-Identifier: Apache-2.0
 * plan_print.c - prints a plan as text, which plan_parse.c reads back. The digests of a plan are
 * hashes of this text. A line has the plan's decisions first, and after a colon details for human
 * readers, which follow from the decisions and the graph. A bk step is a backend step. */
#include "vt_plan.h"

typedef unsigned long long ull;

static const char *const schedules[] = {
    [VT_SCHEDULE_SOURCE] = "source", [VT_SCHEDULE_MEMORY] = "memory"};
static const char *const places[] = {[VT_PLACE_OWN] = "own",
                                     [VT_PLACE_VIEW] = "view",
                                     [VT_PLACE_OVER] = "over",
                                     [VT_PLACE_ARG] = "arg"};

static void print_indent(uint32_t depth, vt_text *out) {
  for (uint32_t i = 0; i < depth; i++) vt_text_add(out, "  ");
}

static void print_buffer(const vt_plan *p, const vt_buffer *b, uint32_t depth, vt_text *out) {
  const vt_type *t = &p->g->values[b->value].type;
  char name[16];
  print_indent(depth, out);
  vt_text_add(out, "value %u %s", b->value, places[b->place]);
  if (b->of != VT_NO_VALUE) vt_text_add(out, " %u", b->of);
  vt_text_add(out, " %s +%llu: %s ", vt_class_name(b->class), (ull)b->offset,
              vt_value_name(p->g, b->value, name));
  vt_type_print(&p->g->dims, t, out);
  vt_text_add(out, ", %llu bytes, steps %u..%u", (ull)b->bytes, b->first, b->last);
  for (uint32_t i = 0; b->place == VT_PLACE_VIEW && i < t->rank; i++)
    vt_text_add(out, "%s%lld", i == 0 ? ", strides " : " ", (long long)b->stride[i]);
  vt_text_add(out, "\n");
}

static void print_transfer(const vt_plan *p, const vt_transfer *t, vt_text *out) {
  char name[16];
  vt_text_add(out, "  transfer %s +%llu: %s %s step %u, %llu bytes\n", vt_class_name(t->class),
              (ull)t->offset, vt_value_name(p->g, t->value, name),
              t->direction == VT_TO_DEVICE ? "in before" : "out before", t->step, (ull)t->bytes);
}

static void print_schedule(const vt_plan *p, uint32_t depth, vt_text *out);

static void print_bodies(const vt_plan *p, uint32_t i, uint32_t depth, vt_text *out) {
  const vt_nested *nested = &p->nested[i];
  if (nested->n > 0) {
    print_indent(depth, out);
    vt_text_add(out, "bodies +%llu %llu bytes\n", (ull)nested->offset, (ull)nested->bytes);
  }
  for (uint32_t k = 0; k < nested->n; k++) {
    print_indent(depth, out);
    vt_text_add(out, "body %u {\n", k);
    print_schedule(nested->plan[k], depth + 1, out);
    print_indent(depth, out);
    vt_text_add(out, "}\n");
  }
}

static void print_node(const vt_plan *p, const vt_node *n, vt_text *out) {
  const vt_op_info *op = vt_op_get(n->op);
  char name[16];
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
}

void vt_plan_print_step(const vt_plan *p, uint32_t i, vt_text *out) {
  print_node(p, &p->g->nodes[p->step_node[i]], out);
}

static void print_step(const vt_plan *p, uint32_t i, uint32_t depth, vt_text *out) {
  print_indent(depth, out);
  vt_text_add(out, "step %u node %u: ", i, p->step_node[i]);
  vt_plan_print_step(p, i, out);
  vt_text_add(out, "\n");
  print_bodies(p, i, depth + 1, out);
}

/* Prints the values, transfers and steps of a plan or of a body's plan. */
static void print_schedule(const vt_plan *p, uint32_t depth, vt_text *out) {
  for (uint32_t i = 0; i < p->n_buffers; i++) print_buffer(p, &p->buffers[i], depth, out);
  for (uint32_t i = 0; i < p->n_transfers; i++) print_transfer(p, &p->transfers[i], out);
  for (uint32_t i = 0; i < p->n_steps; i++) print_step(p, i, depth, out);
}

/* Prints the backend steps. They are numbered in the order of printing: the steps of a step's
 * bodies come directly after that step. */
static void print_bk_steps(const vt_plan *p, uint32_t *number, vt_text *out) {
  uint32_t step = 0;
  for (uint32_t r = 0; r < p->n_bk_steps; r++) {
    const vt_bk_step *s = &p->bk_steps[r];
    const uint32_t node = p->bk_step_node[r], made = p->g->nodes[node].first_out;
    vt_text_add(out, "  run %u work %llu: node %u", (*number)++, (ull)s->work_bytes, node);
    if (s->work_bytes > 0)
      vt_text_add(out, ", %s +%llu", vt_class_name(VT_CLASS_WORK), (ull)s->work_offset);
    if (p->dense[made] != VT_NO_OFFSET) vt_text_add(out, ", dense copy +%llu", (ull)p->dense[made]);
    vt_text_add(out, "\n");
    if (node != p->step_node[step]) continue;
    for (uint32_t k = 0; k < p->nested[step].n; k++)
      print_bk_steps(p->nested[step].plan[k], number, out);
    step++;
  }
}

static void print_target(const vt_plan *p, vt_text *out) {
  uint32_t number = 0;
  vt_text_add(out, "target {\n  fingerprint %s\n  dense_only %u\n  workspace %llu bytes\n",
              p->fingerprint, p->dense_only, (ull)p->class_bytes[VT_CLASS_WORK]);
  if (p->class_bytes[VT_CLASS_KEPT] > 0)
    vt_text_add(out, "  %s %llu bytes\n", vt_class_name(VT_CLASS_KEPT),
                (ull)p->class_bytes[VT_CLASS_KEPT]);
  vt_text_add(out, "  live %llu bytes at step %u\n", (ull)p->live_bytes, p->live_step);
  print_bk_steps(p, &number, out);
  vt_text_add(out, "}\n");
}

/* The lines about states are printed only if there are any, so that the digests of plans without
 * states are those of versions that had none. */
static void print_core(const vt_plan *p, vt_text *out) {
  vt_text_add(out, "plan 3, numerics %u\ncore %s {\n  schedule %s\n", VT_NUMERICS_VERSION,
              p->g->name, schedules[p->schedule]);
  if (p->safe_state) vt_text_add(out, "  state_mode safe\n");
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (c != VT_CLASS_WORK && c != VT_CLASS_KEPT &&
        (c != VT_CLASS_MODEL_STATE || p->class_bytes[c] > 0))
      vt_text_add(out, "  %s %llu bytes\n", vt_class_name(c), (ull)p->class_bytes[c]);
  print_schedule(p, 1, out);
  vt_text_add(out, "}\n");
}

void vt_plan_print(const vt_plan *p, int with_target, vt_text *out) {
  print_core(p, out);
  if (with_target) print_target(p, out);
}

/* The text of the core part is the start of the whole text, so it is printed and hashed only
 * once. */
vt_status vt_plan_hash(const vt_plan *p, vt_hash256 *out_core, vt_hash256 *out_target) {
  vt_text text;
  vt_hasher h, core;
  vt_text_init(&text, p->arena.a);
  vt_hash_init(&h);
  print_core(p, &text);
  vt_hash_add(&h, text.s, text.n);
  core = h;
  const size_t end = text.n;
  print_target(p, &text);
  const vt_status s = vt_text_status(&text);
  if (s == VT_OK) {
    vt_hash_add(&h, text.s + end, text.n - end);
    *out_core = vt_hash_done(&core);
    *out_target = vt_hash_done(&h);
  }
  vt_text_done(&text);
  return s;
}
