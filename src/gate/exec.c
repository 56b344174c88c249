/* SPDX-License-Identifier: Apache-2.0
 * exec.c - a plan on a device: steps checked before anything is taken, all memory taken before the
 * first run, every run inside the numerics environment, its first error named. */
#include <stdio.h>
#include <string.h>
#include "registry.h"
#include "vt_clock.h"
#include "vt_fpenv.h"

struct vt_exec {
  vt_alloc a;
  vt_device *dev;
  const vt_plan *p;
  vt_bk_program *prog;
  uint64_t buffer[VT_CLASS_COUNT];
  int taken[VT_CLASS_COUNT];
  uint64_t wall_ns;
  vt_exec_report *report;
  void *report_user;
  uint64_t work_done, work_total;
};

/* Steps are counted as they are written: one, then those of its bodies. Finds the plan and the
 * step that a number means; 0 when there is none. `number` is counted down. */
static int find_step(const vt_plan *p, uint64_t *number, const vt_plan **out, uint32_t *out_step) {
  for (uint32_t i = 0; i < p->n_steps; i++) {
    if ((*number)-- == 0) {
      *out = p;
      *out_step = i;
      return 1;
    }
    for (uint32_t k = 0; k < p->nested[i].n; k++)
      if (find_step(p->nested[i].plan[k], number, out, out_step)) return 1;
  }
  return 0;
}

static const char *node_name(const vt_plan *p, uint32_t step, char buffer[16]) {
  return vt_value_name(p->g, p->g->nodes[p->step_node[step]].first_out, buffer);
}

static vt_status check_steps(vt_exec *x, const vt_plan *p, vt_diag *d) {
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_bk_step *step = &p->steps[i];
    char name[16], type[VT_TYPE_TEXT];
    for (uint32_t k = 0; k < p->nested[i].n; k++) VT_TRY(check_steps(x, p->nested[i].plan[k], d));
    x->dev->reason[0] = 0;
    if (x->dev->api->step_check(x->dev->dev, step) == VT_OK) continue;
    const uint32_t value = p->g->nodes[p->step_node[i]].first_out;
    (void)VT_FAIL(d, VT_UNSUPPORTED, "backend '%s' does not run '%s' = %s giving %s%s%s",
                  x->dev->name, node_name(p, i, name), vt_op_get(step->op)->name,
                  vt_type_text(&p->g->dims, &p->g->values[value].type, type),
                  x->dev->reason[0] != 0 ? ": " : "", x->dev->reason);
    x->dev->reason[0] = 0;
    return VT_UNSUPPORTED;
  }
  return VT_OK;
}

static vt_status take_memory(vt_exec *x, vt_diag *d) {
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++) {
    const uint64_t bytes = x->p->class_bytes[c];
    const int32_t s = x->dev->api->buffer_new(x->dev->dev, bytes, &x->buffer[c]);
    if (s == VT_NOMEM)
      return VT_FAIL(d, VT_NOMEM, "backend '%s' has no %llu bytes for the %s tensors", x->dev->name,
                     (unsigned long long)bytes, vt_class_name(c));
    if (s != VT_OK) return vt_device_fail(x->dev, s, "take memory", d);
    x->taken[c] = 1;
  }
  return VT_OK;
}

static vt_status fill(vt_exec *x, vt_diag *d) {
  VT_TRY(check_steps(x, x->p, d));
  vt_bk_program *built = NULL; /* what a failed call leaves here is not looked at */
  const int32_t s = x->dev->api->program_build(x->dev->dev, x->p->steps, x->p->n_steps, &built);
  if (s != VT_OK) return vt_device_fail(x->dev, s, "build the program", d);
  if (built == NULL)
    return VT_FAIL(d, VT_ABI, "backend '%s' builds a program and does not give it", x->dev->name);
  x->prog = built;
  return take_memory(x, d);
}

vt_status vt_exec_new(vt_device *dev, const vt_plan *p, vt_alloc a, vt_exec **out, vt_diag *d) {
  VT_TRY(vt_plan_verify(p, d));
  vt_exec *x = vt_alloc_new(a, sizeof *x);
  if (x == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  x->a = a;
  x->dev = dev;
  x->p = p;
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  const vt_status s = fill(x, d);
  vt_fpenv_leave(&saved);
  if (s == VT_OK) {
    *out = x;
  } else {
    vt_exec_free(x);
  }
  return s;
}

void vt_exec_free(vt_exec *x) {
  if (x == NULL) return;
  const vt_alloc a = x->a;
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (x->taken[c]) x->dev->api->buffer_free(x->dev->dev, x->buffer[c]);
  if (x->prog != NULL) x->dev->api->program_free(x->prog);
  vt_fpenv_leave(&saved);
  vt_alloc_free(a, x, sizeof *x);
}

static vt_status transfer(vt_exec *x, uint32_t value, void *host, uint32_t to_device, vt_diag *d) {
  const vt_buffer *b = &x->p->buffers[value];
  if (b->bytes == 0) return VT_OK;
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  const int32_t s =
      x->dev->api->copy(x->dev->dev, host, x->buffer[b->class], b->offset, b->bytes, to_device);
  vt_fpenv_leave(&saved);
  return s == VT_OK ? VT_OK : vt_device_fail(x->dev, s, "copy a tensor", d);
}

vt_status vt_exec_write(vt_exec *x, uint32_t value, const void *data, vt_diag *d) {
  void *host;
  memcpy(&host, &data, sizeof host); /* the ABI has one pointer for both directions */
  return transfer(x, value, host, 1, d);
}

vt_status vt_exec_read(vt_exec *x, uint32_t value, void *data, vt_diag *d) {
  return transfer(x, value, data, 0, d);
}

/* An index out of range is the fault of what the model was given: it gets the node's place. */
static vt_status range_error(const vt_plan *p, uint32_t step, const vt_bk_error *e, vt_diag *d) {
  const int first = d != NULL && d->code == VT_OK;
  const vt_node *n = &p->g->nodes[p->step_node[step]];
  char name[16];
  (void)VT_FAIL(d, VT_RANGE, "'%s' = %s: index %lld at position %llu is out of range",
                node_name(p, step, name), vt_op_get(n->op)->name, (long long)e->value,
                (unsigned long long)e->position);
  if (first) {
    d->line = n->line;
    d->column = n->column;
  }
  return VT_RANGE;
}

/* The first error of a run, by name: node, position, index. */
static vt_status name_error(vt_exec *x, const vt_bk_error *e, vt_diag *d) {
  char name[16], what[240];
  const vt_plan *p = NULL;
  uint64_t number = e->step;
  uint32_t step = 0;
  const int known = find_step(x->p, &number, &p, &step);
  if (e->status == VT_RANGE && known) return range_error(p, step, e, d);
  if (e->status == VT_RANGE)
    return VT_FAIL(d, VT_RANGE, "'?' = ?: index %lld at position %llu is out of range",
                   (long long)e->value, (unsigned long long)e->position);
  snprintf(what, sizeof what, "run '%s'", known ? node_name(p, step, name) : "?");
  return vt_device_fail(x->dev, e->status, what, d);
}

/* ---- progress ---- */

/* Elements of the result, times the length of the contraction where there is one; of a loop, what
 * its body does so many times. */
static uint64_t work_of(const vt_bk_step *s) {
  uint64_t n = 1, depth = 1, inner = 0;
  for (uint32_t k = 0; k < s->n_body; k++)
    for (uint64_t i = 0; i < s->body[k].n_steps; i++) inner += work_of(&s->body[k].steps[i]);
  if (s->op == VT_OP_loop) return (uint64_t)((const vt_attr_loop *)s->attrs)->count * inner + 1;
  for (uint32_t i = 0; i < s->out[0].rank; i++) n *= (uint64_t)s->out[0].dim[i];
  if (s->n_in > 1 && s->in[0].rank > 0 && strcmp(vt_op_get(s->op)->numerics, "ordered") == 0)
    depth = (uint64_t)s->in[0].dim[s->in[0].rank - 1];
  return n / 16 * depth + inner + 1; /* scaled so that no sum over a plan overflows */
}

void vt_exec_watch(vt_exec *x, vt_exec_report *report, void *user) {
  x->report = report;
  x->report_user = user;
  x->work_total = 0;
  for (uint32_t i = 0; i < x->p->n_steps; i++) x->work_total += work_of(&x->p->steps[i]);
}

void vt_exec_note(vt_exec *x, uint64_t step) {
  const vt_plan *p = NULL;
  uint32_t index = 0;
  if (x->report == NULL || !find_step(x->p, &step, &p, &index) || p != x->p) return;
  vt_fpenv saved;
  x->work_done += work_of(&p->steps[index]);
  vt_fpenv_enter(&saved);
  x->report(x->report_user, x->work_done, x->work_total);
  vt_fpenv_leave(&saved); /* whatever mode the listener leaves behind */
}

/* ---- runs ---- */

static vt_status run_guarded(vt_exec *x, vt_diag *d) {
  vt_bk_error e = {.size = sizeof e};
  x->dev->reason[0] = 0;
  x->dev->running = x;
  x->work_done = 0;
  int32_t s = x->dev->api->run(x->prog, x->buffer, VT_CLASS_COUNT);
  if (s == VT_OK) s = x->dev->api->wait(x->prog, &e);
  x->dev->running = NULL;
  if (s != VT_OK) return vt_device_fail(x->dev, s, "run", d);
  return e.status == VT_OK ? VT_OK : name_error(x, &e, d);
}

vt_status vt_exec_run(vt_exec *x, vt_diag *d) {
  vt_fpenv saved;
  const uint64_t start = vt_clock_ns();
  vt_fpenv_enter(&saved);
  const vt_status s = run_guarded(x, d);
  vt_fpenv_leave(&saved);
  x->wall_ns = vt_clock_ns() - start;
  return s;
}

uint64_t vt_exec_wall_ns(const vt_exec *x) { return x->wall_ns; }
