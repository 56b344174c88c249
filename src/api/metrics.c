/* SPDX-License-Identifier: Apache-2.0
 * metrics.c - the times, bytes and counts of a program's creation and of its last run, as the
 * gateway recorded them. They are only reported: nothing that computes reads them. A label is the
 * name and the type of a launch's first result, as text. Also the allocator that counts the
 * requests of a program. */
#include <string.h>
#include "program.h"
#include "volta/volta_tools.h"

static void *resize_and_count_requests(void *user, void *p, size_t old_size, size_t new_size) {
  vt_counting *c = user;
  if (new_size > 0) (void)atomic_fetch_add(&c->requests, 1);
  return c->inner.resize(c->inner.user, p, old_size, new_size);
}

vt_alloc vt_counting_alloc(vt_counting *c) {
  return (vt_alloc){.user = c, .resize = resize_and_count_requests};
}

/* ---- the last run ---- */

/* Returns the sum of the costs of all launches. */
static vt_cost total_cost_of_launches(const vt_program *p) {
  vt_cost sum = {0};
  for (uint32_t i = 0; i < p->line.plan->n_bk_steps; i++) {
    const vt_cost c = vt_exec_step_cost(p->line.exec, i);
    vt_cost_add(&sum, &c);
  }
  return sum;
}

void vt_program_info(const vt_program *p, vt_run_info *out) {
  const vt_plan *plan = p->line.plan;
  const vt_exec_counts c = vt_exec_get_counts(p->line.exec);
  const vt_cost cost = total_cost_of_launches(p);
  const vt_run_info info = {
      .size = out->size,
      .steps = plan->n_steps,
      .wall_ns = c.wall_ns,
      .bytes_input = plan->class_bytes[VT_CLASS_INPUT],
      .bytes_param = plan->class_bytes[VT_CLASS_PARAM],
      .bytes_temp = plan->class_bytes[VT_CLASS_TEMP] + plan->class_bytes[VT_CLASS_WORK],
      .bytes_output = plan->class_bytes[VT_CLASS_OUTPUT],
      .runs = c.runs,
      .begin_ns = c.begin_ns,
      .flops = cost.flops,
      .bytes_read = cost.bytes_read,
      .bytes_written = cost.bytes_written,
      .to_device = c.to_device,
      .from_device = c.from_device,
      .copies_to_device = c.copies_to_device,
      .copies_from_device = c.copies_from_device,
      .allocations = p->allocations,
      .timed = c.timed,
      .bytes_state = plan->class_bytes[VT_CLASS_MODEL_STATE]};
  memcpy(out, &info, out->size < sizeof info ? out->size : sizeof info);
}

/* ---- labels ---- */

/* Returns a copy of the text in the arena of the labels, or NULL when memory is out; frees `t`. */
static const char *copy_and_free_text(vt_program *p, vt_text *t) {
  const char *s = vt_text_status(t) == VT_OK ? vt_arena_string(&p->label_arena, t->s, t->n) : NULL;
  vt_text_done(t);
  return s;
}

static const char *type_text_of_value(vt_program *p, uint32_t value) {
  vt_text t;
  vt_text_init(&t, p->a);
  vt_type_print(&p->g->dims, &p->g->values[value].type, &t);
  return copy_and_free_text(p, &t);
}

static const char *name_text_of_value(vt_program *p, uint32_t value) {
  char buffer[16];
  const char *name = vt_value_name(p->g, value, buffer);
  return name != buffer ? name : vt_arena_string(&p->label_arena, name, strlen(name));
}

/* Fills the labels of all launches and the names of all values; returns 0 when memory is out. */
static int fill_labels(vt_program *p, vt_step_label *labels, const char **names) {
  const vt_plan *plan = p->line.plan;
  if (labels == NULL || names == NULL) return 0;
  for (uint32_t v = 0; v < p->g->n_values; v++)
    if ((names[v] = name_text_of_value(p, v)) == NULL) return 0;
  for (uint32_t i = 0; i < plan->n_bk_steps; i++) {
    const uint32_t value = p->g->nodes[plan->bk_step_node[i]].first_out;
    labels[i] = (vt_step_label){names[value], type_text_of_value(p, value)};
    if (labels[i].type == NULL) return 0;
  }
  return 1;
}

/* Sets p->labels, one for each launch, and p->names, one for each value, unless they are set. After
 * a failure neither is set, and a later call may succeed. */
static vt_status make_labels(vt_program *p, vt_diag *d) {
  if (p->labels != NULL) return VT_OK;
  vt_step_label *labels = VT_NEW_N(&p->label_arena, vt_step_label, p->line.plan->n_bk_steps);
  const char **names = VT_NEW_N(&p->label_arena, const char *, p->g->n_values);
  if (!fill_labels(p, labels, names)) {
    vt_arena_done(&p->label_arena);
    return VT_FAIL(d, VT_NOMEM, "out of memory");
  }
  p->labels = labels;
  p->names = names;
  return VT_OK;
}

/* ---- steps, copies, phases ---- */

uint32_t vt_program_steps(const vt_program *p) { return p->line.plan->n_bk_steps; }

/* Returns 1 if launch number `launch` makes the dense copy of a view, 0 if it is a step of the
 * graph. */
static uint32_t is_dense_copy(const vt_plan *p, uint32_t launch) {
  return p->dense[p->g->nodes[p->bk_step_node[launch]].first_out] != VT_NO_OFFSET;
}

vt_status vt_program_step(vt_program *p, uint32_t i, vt_step_info *out, vt_diag *d) {
  const vt_plan *plan = p->line.plan;
  if (i >= plan->n_bk_steps) return VT_FAIL(d, VT_NAME, "there is no step number %u", i);
  VT_TRY(make_labels(p, d));
  const vt_bk_step *run = &plan->bk_steps[i];
  const vt_cost cost = vt_exec_step_cost(p->line.exec, i);
  vt_step_info info = {.size = out->size,
                       .op = run->op,
                       .group = run->group,
                       .dense_copy = is_dense_copy(plan, i),
                       .name = p->labels[i].name,
                       .op_name = vt_op_get(run->op)->name,
                       .type = p->labels[i].type,
                       .flops = cost.flops,
                       .bytes_read = cost.bytes_read,
                       .bytes_written = cost.bytes_written};
  (void)vt_exec_step_time(p->line.exec, i, &info.begin_ns, &info.end_ns);
  memcpy(out, &info, out->size < sizeof info ? out->size : sizeof info);
  return VT_OK;
}

uint32_t vt_program_copies(const vt_program *p) {
  uint32_t n = 0;
  while (vt_exec_copy_at(p->line.exec, n) != NULL) n++;
  return n;
}

vt_status vt_program_copy(vt_program *p, uint32_t i, vt_copy_info *out, vt_diag *d) {
  const vt_copy_record *c = vt_exec_copy_at(p->line.exec, i);
  if (c == NULL) return VT_FAIL(d, VT_NAME, "there is no copy number %u", i);
  VT_TRY(make_labels(p, d));
  const vt_copy_info info = {.size = out->size,
                             .to_device = c->direction == VT_TO_DEVICE,
                             .name = p->names[c->value],
                             .bytes = c->bytes,
                             .begin_ns = c->begin_ns,
                             .end_ns = c->end_ns};
  memcpy(out, &info, out->size < sizeof info ? out->size : sizeof info);
  return VT_OK;
}

uint32_t vt_program_phases(const vt_program *p) {
  uint32_t n = 0;
  while (vt_device_phase(p->dev, n) != NULL) n++;
  return n;
}

vt_status vt_program_phase(const vt_program *p, uint32_t i, vt_phase_info *out) {
  const vt_phase *phase = vt_device_phase(p->dev, i);
  if (phase == NULL) return VT_NAME;
  const vt_phase_info info = {
      .size = out->size, .name = phase->name, .begin_ns = phase->begin_ns, .end_ns = phase->end_ns};
  memcpy(out, &info, out->size < sizeof info ? out->size : sizeof info);
  return VT_OK;
}
