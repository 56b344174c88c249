/* SPDX-License-Identifier: Apache-2.0
 * plan_place.c - gives each tensor its offset. Inputs, parameters and states, which live for the
 * whole run, follow each other in the arena of their class. Temporaries and results share one arena
 * over time (plan_pack.c); a result is an item that lives to the end. A value written in place
 * takes no bytes of its own: it extends the lifetime of the bytes below it. An alias is a value
 * that has the bytes of another: a view, a value written in place, or an argument of a body. */
#include "planner.h"

/* ---- values that live for the whole run ---- */

/* Gives offsets to inputs, parameters and states, in the order of declaration. Results are only
 * summed: they get their offsets together with the temporaries. */
static vt_status place_whole_run_values(vt_planner *q) {
  vt_plan *p = q->p;
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    vt_buffer *b = &p->buffers[v];
    if (b->class == VT_CLASS_TEMP || b->place != VT_PLACE_OWN) continue;
    uint64_t *top = &p->class_bytes[b->class];
    if (b->class != VT_CLASS_OUTPUT) b->offset = vt_plan_arena_bytes(p, vt_class_arena(b->class));
    if (!vt_size_add(*top, vt_plan_align_up(b->bytes), top) || *top > VT_PLAN_MOST_BYTES)
      return VT_FAIL(q->d, VT_LIMIT, "the %s tensors are beyond 2^48 bytes together",
                     vt_class_name(b->class));
  }
  return VT_OK;
}

/* ---- the arena of temporaries and results ---- */

void vt_plan_add_item(vt_packing *k, uint32_t first, uint32_t last, uint64_t bytes,
                      uint64_t *offset) {
  if (bytes > 0) k->at[k->n++] = (vt_pack_item){first, last, vt_plan_align_up(bytes), offset};
}

/* By value: the last step at which its bytes are needed, by the value itself or by values written
 * over it. NULL if there is no memory. */
static uint32_t *find_last_uses(const vt_plan *p, vt_arena *scratch) {
  uint32_t *end = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  uint32_t *root = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  if (end == NULL || root == NULL) return NULL;
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    root[v] = v;
    end[v] = p->buffers[v].last;
  }
  for (uint32_t v = 0; v < p->n_buffers; v++) { /* operands have lower numbers than results */
    if (p->buffers[v].place != VT_PLACE_OVER) continue;
    root[v] = root[p->buffers[v].of];
    end[root[v]] = p->buffers[v].last; /* the last value written over has the highest number */
  }
  return end;
}

vt_status vt_plan_list_items(vt_plan *p, vt_arena *scratch, vt_packing *out, vt_diag *d) {
  const uint32_t *end = find_last_uses(p, scratch);
  const size_t values = (size_t)p->n_buffers + p->n_transfers + p->n_steps;
  *out = (vt_packing){.at = VT_NEW_N(scratch, vt_pack_item, values + 3 * (size_t)p->g->n_nodes)};
  if (end == NULL || out->at == NULL) return vt_plan_no_memory(d);
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    vt_buffer *b = &p->buffers[v];
    if (b->place == VT_PLACE_OWN && vt_class_arena(b->class) == VT_CLASS_TEMP)
      vt_plan_add_item(out, b->first, end[v], b->bytes, &b->offset);
  }
  for (uint32_t i = 0; i < p->n_transfers; i++) {
    vt_transfer *t = &p->transfers[i];
    if (t->class == VT_CLASS_TEMP)
      vt_plan_add_item(out, t->step, vt_plan_group_last(p, t->step), t->bytes, &t->offset);
  }
  for (uint32_t i = 0; i < p->n_steps; i++)
    vt_plan_add_item(out, i, i, p->nested[i].bytes, &p->nested[i].offset);
  return VT_OK;
}

vt_status vt_plan_place_values(vt_planner *q) {
  vt_packing k;
  if (q->owner == NULL) VT_TRY(place_whole_run_values(q));
  VT_TRY(vt_plan_list_items(q->p, q->scratch, &k, q->d));
  VT_TRY(vt_pack(&k, q->scratch, q->d));
  if (k.top > VT_PLAN_MOST_BYTES)
    return VT_FAIL(q->d, VT_LIMIT, "temporaries and results are beyond 2^48 bytes together");
  q->p->class_bytes[VT_CLASS_TEMP] = k.top - q->p->class_bytes[VT_CLASS_OUTPUT];
  return VT_OK;
}

/* ---- values that share the bytes of others ---- */

/* The upload of a streamed parameter for the group of `step`; NULL if the parameter has no
 * bytes. */
static const vt_transfer *find_upload(const vt_plan *p, uint32_t step, uint32_t value) {
  step = vt_plan_group_first(p, step);
  uint32_t low = 0, high = p->n_transfers;
  while (low < high) { /* binary search for the first transfer of this step */
    const uint32_t middle = low + (high - low) / 2;
    if (p->transfers[middle].step < step) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < p->n_transfers && p->transfers[low].step == step; low++)
    if (p->transfers[low].value == value && p->transfers[low].class == VT_CLASS_TEMP)
      return &p->transfers[low];
  return NULL;
}

void vt_plan_locate_value(const vt_plan *p, uint32_t step, uint32_t value, uint32_t holder,
                          uint32_t *class, uint64_t *offset) {
  const vt_buffer *b = &p->buffers[value];
  *class = b->class;
  *offset = b->offset;
  if (b->class != VT_CLASS_HOST) return;
  const vt_transfer *upload = find_upload(p, step, holder);
  *class = VT_CLASS_TEMP;
  *offset = (upload == NULL ? 0 : upload->offset) + (b->offset - p->buffers[holder].offset);
}

/* Gives a body's argument the class and offset of the operand or result of the step that it
 * aliases. Neither is a view. */
static void place_body_argument(const vt_plan *p, uint32_t step, uint32_t which, uint32_t arg,
                                vt_buffer *b) {
  const vt_node *n = &p->g->nodes[p->step_node[step]];
  uint32_t index;
  const vt_arg_place place = vt_op_body_argument_place(n->op, n->attrs, which, arg, &index);
  const uint32_t from =
      place == VT_ARG_RESULT ? n->first_out + index : p->g->operands[n->first_in + index];
  vt_plan_locate_value(p, step, from, from, &b->class, &b->offset);
}

/* Adds the start of the range that the step reserves for its bodies to the offsets of a body. */
static void place_body(const vt_plan *p, uint32_t step, uint32_t which) {
  vt_plan *body = p->nested[step].plan[which];
  const uint64_t base = p->nested[step].offset;
  for (uint32_t i = 0; i < body->n_steps; i++)
    if (body->nested[i].bytes > 0) body->nested[i].offset += base;
  for (uint32_t v = 0; v < body->n_buffers; v++) {
    vt_buffer *b = &body->buffers[v];
    if (b->place == VT_PLACE_ARG) place_body_argument(p, step, which, body->g->values[v].index, b);
    if (b->place == VT_PLACE_OWN && b->bytes > 0) b->offset += base;
  }
  vt_plan_place_aliases(body);
}

void vt_plan_place_aliases(vt_plan *p) {
  for (uint32_t v = 0; v < p->n_buffers; v++) { /* `of` has a lower number than `v` */
    vt_buffer *b = &p->buffers[v];
    if (b->of == VT_NO_VALUE) continue;
    b->class = p->buffers[b->of].class;
    b->offset = p->buffers[b->of].offset + (b->place == VT_PLACE_VIEW ? b->offset : 0);
  }
  for (uint32_t i = 0; i < p->n_transfers; i++) {
    vt_transfer *t = &p->transfers[i];
    if (t->class != VT_CLASS_TEMP) t->offset = p->buffers[t->value].offset;
  }
  for (uint32_t i = 0; i < p->n_steps; i++)
    for (uint32_t k = 0; k < p->nested[i].n; k++) place_body(p, i, k);
}
