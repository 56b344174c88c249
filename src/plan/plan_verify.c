/* SPDX-License-Identifier: Apache-2.0
 * plan_verify.c - a plan checked from the outside, sharing nothing with its builder: every operand
 * is written before it is read and still alive, every tensor lies inside its arena, and no two
 * that live at once overlap. */
#include "vt_plan.h"
#include "vt_sort.h"

static vt_status verify_bounds(const vt_plan *p, const vt_buffer *b, vt_diag *d) {
  char name[16];
  if (b->class < VT_CLASS_WORK && b->first <= b->last && b->offset % VT_PLAN_ALIGNMENT == 0 &&
      (b->bytes == 0 ||
       (b->bytes <= p->class_bytes[b->class] && b->offset <= p->class_bytes[b->class] - b->bytes)))
    return VT_OK;
  return VT_FAIL(d, VT_INTERNAL, "the plan places '%s' outside its arena",
                 vt_value_name(p->g, b->value, name));
}

static vt_status verify_operand(const vt_plan *p, uint32_t step, uint32_t value,
                                const vt_bk_tensor *t, vt_diag *d) {
  const vt_buffer *b = &p->buffers[value];
  const vt_type *type = &p->g->values[value].type;
  int same = t->dtype == type->dtype && t->rank == type->rank && t->arena == b->class &&
             t->offset == b->offset;
  for (uint32_t i = 0; same && i < t->rank; i++) same = t->dim[i] == type->dim[i];
  if (same && b->first <= step && b->last >= step) return VT_OK;
  return VT_FAIL(d, VT_INTERNAL, "step %u of the plan uses a tensor outside its lifetime", step);
}

static vt_status verify_step(const vt_plan *p, uint32_t i, vt_diag *d) {
  const vt_bk_step *s = &p->steps[i];
  const vt_node *n = &p->g->nodes[p->step_node[i]];
  if (s->op != n->op || s->n_in != n->n_in || s->n_out != n->n_out ||
      s->work_bytes > p->class_bytes[VT_CLASS_WORK])
    return VT_FAIL(d, VT_INTERNAL, "step %u of the plan is not its node", i);
  for (uint32_t k = 0; k < s->n_in; k++) {
    const uint32_t v = p->g->operands[n->first_in + k];
    const uint32_t def = p->g->values[v].node;
    if (def != VT_NO_NODE && p->buffers[v].first >= i)
      return VT_FAIL(d, VT_INTERNAL, "step %u of the plan reads what is not written yet", i);
    VT_TRY(verify_operand(p, i, v, &s->in[k], d));
  }
  return verify_operand(p, i, n->first_out, &s->out[0], d);
}

/* Sweep: buffers in order of birth against the ones still alive. Ties end in the id. */
static int by_birth(const void *a, const void *b, const void *context) {
  const vt_buffer *x = &((const vt_buffer *)context)[*(const uint32_t *)a];
  const vt_buffer *y = &((const vt_buffer *)context)[*(const uint32_t *)b];
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

static int overlap(const vt_buffer *x, const vt_buffer *y) {
  return x->class == y->class && x->offset < y->offset + y->bytes &&
         y->offset < x->offset + x->bytes;
}

static vt_status sweep(const vt_plan *p, const uint32_t *order, uint32_t *alive, vt_diag *d) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    const vt_buffer *b = &p->buffers[order[i]];
    uint32_t kept = 0;
    char x[16], y[16];
    if (b->bytes == 0) continue;
    for (uint32_t k = 0; k < n; k++) {
      const vt_buffer *other = &p->buffers[alive[k]];
      if (other->last < b->first) continue;
      if (overlap(b, other))
        return VT_FAIL(d, VT_INTERNAL, "the plan lets '%s' and '%s' overlap",
                       vt_value_name(p->g, b->value, x), vt_value_name(p->g, other->value, y));
      alive[kept++] = alive[k];
    }
    alive[kept++] = order[i];
    n = kept;
  }
  return VT_OK;
}

static vt_status verify_overlap(const vt_plan *p, vt_diag *d) {
  vt_arena scratch;
  vt_arena_init(&scratch, p->arena.a);
  uint32_t *order = VT_NEW_N(&scratch, uint32_t, p->n_buffers);
  uint32_t *alive = VT_NEW_N(&scratch, uint32_t, (size_t)p->n_buffers + 1);
  vt_status s = order == NULL || alive == NULL ? VT_FAIL(d, VT_NOMEM, "out of memory") : VT_OK;
  for (uint32_t i = 0; s == VT_OK && i < p->n_buffers; i++) order[i] = i;
  if (s == VT_OK) s = vt_sort(order, p->n_buffers, sizeof *order, by_birth, p->buffers, p->arena.a);
  if (s == VT_OK) s = sweep(p, order, alive, d);
  vt_arena_done(&scratch);
  return s;
}

vt_status vt_plan_verify(const vt_plan *p, vt_diag *d) {
  for (uint32_t i = 0; i < p->n_buffers; i++) VT_TRY(verify_bounds(p, &p->buffers[i], d));
  for (uint32_t i = 0; i < p->n_steps; i++) VT_TRY(verify_step(p, i, d));
  return verify_overlap(p, d);
}
