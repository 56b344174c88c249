/* SPDX-License-Identifier: Apache-2.0
 * exec.c - a plan on a device: steps checked before anything is taken, all memory taken before the
 * first run, every run inside the numerics environment, its first error named. */
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
};

static const char *node_name(const vt_plan *p, uint64_t step, char buffer[16]) {
  if (step >= p->n_steps) return "?";
  return vt_value_name(p->g, p->g->nodes[p->step_node[step]].first_out, buffer);
}

static vt_status check_steps(vt_exec *x, vt_diag *d) {
  for (uint32_t i = 0; i < x->p->n_steps; i++) {
    const vt_bk_step *step = &x->p->steps[i];
    char name[16], type[VT_TYPE_TEXT];
    x->dev->reason[0] = 0;
    if (x->dev->api->step_check(x->dev->dev, step) == VT_OK) continue;
    const uint32_t value = x->p->g->nodes[x->p->step_node[i]].first_out;
    return VT_FAIL(d, VT_UNSUPPORTED, "backend '%s' does not run '%s' = %s giving %s%s%s",
                   x->dev->name, node_name(x->p, i, name), vt_op_get(step->op)->name,
                   vt_type_text(&x->p->g->dims, &x->p->g->values[value].type, type),
                   x->dev->reason[0] != 0 ? ": " : "", x->dev->reason);
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
  VT_TRY(check_steps(x, d));
  const int32_t s = x->dev->api->program_build(x->dev->dev, x->p->steps, x->p->n_steps, &x->prog);
  if (s != VT_OK) return vt_device_fail(x->dev, s, "build the program", d);
  return take_memory(x, d);
}

vt_status vt_exec_new(vt_device *dev, const vt_plan *p, vt_alloc a, vt_exec **out, vt_diag *d) {
  VT_TRY(vt_plan_verify(p, d));
  vt_exec *x = vt_alloc_new(a, sizeof *x);
  if (x == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  x->a = a;
  x->dev = dev;
  x->p = p;
  const vt_status s = fill(x, d);
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
  for (uint32_t c = 0; c < VT_CLASS_COUNT; c++)
    if (x->taken[c]) x->dev->api->buffer_free(x->dev->dev, x->buffer[c]);
  if (x->prog != NULL) x->dev->api->program_free(x->prog);
  vt_alloc_free(a, x, sizeof *x);
}

static vt_status transfer(vt_exec *x, uint32_t value, void *host, uint32_t to_device, vt_diag *d) {
  const vt_buffer *b = &x->p->buffers[value];
  if (b->bytes == 0) return VT_OK;
  const int32_t s =
      x->dev->api->copy(x->dev->dev, host, x->buffer[b->class], b->offset, b->bytes, to_device);
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

/* The first error of a run, by name: node, position, index. */
static vt_status report(vt_exec *x, const vt_bk_error *e, vt_diag *d) {
  char name[16];
  const char *node = node_name(x->p, e->step, name);
  if (e->status == VT_RANGE)
    return VT_FAIL(d, VT_RANGE, "'%s' = %s: index %lld at position %llu is out of range", node,
                   e->step < x->p->n_steps ? vt_op_get(x->p->steps[e->step].op)->name : "?",
                   (long long)e->value, (unsigned long long)e->position);
  return VT_FAIL(d, (vt_status)e->status, "backend '%s' failed at '%s': %s", x->dev->name, node,
                 vt_status_text((vt_status)e->status));
}

static vt_status run_guarded(vt_exec *x, vt_diag *d) {
  vt_bk_error e = {.size = sizeof e};
  x->dev->reason[0] = 0;
  int32_t s = x->dev->api->run(x->prog, x->buffer, VT_CLASS_COUNT);
  if (s == VT_OK) s = x->dev->api->wait(x->prog, &e);
  if (s != VT_OK) return vt_device_fail(x->dev, s, "run", d);
  return e.status == VT_OK ? VT_OK : report(x, &e, d);
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
