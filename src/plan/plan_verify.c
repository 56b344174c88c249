/* SPDX-License-Identifier: Apache-2.0
 * plan_verify.c - a plan checked from the outside, sharing nothing with its builder: every node
 * runs once, every operand is written before it is read and still alive, every step says what its
 * node says, every tensor lies inside its arena, and no two that live at once overlap. */
#include "vt_plan.h"
#include "vt_sort.h"

/* ---- lifetimes: what the graph and the order of the steps say about each value ---- */

static vt_status expect_step(const vt_plan *p, uint32_t i, vt_buffer *want, vt_diag *d) {
  const vt_graph *g = p->g;
  const uint32_t node = p->step_node[i];
  if (node >= g->n_nodes || want[g->nodes[node].first_out].class != VT_CLASS_COUNT)
    return VT_FAIL(d, VT_INTERNAL, "step %u of the plan has no node of its own", i);
  const vt_node *n = &g->nodes[node];
  for (uint32_t k = 0; k < n->n_in; k++) {
    vt_buffer *operand = &want[g->operands[n->first_in + k]];
    if (operand->class == VT_CLASS_COUNT)
      return VT_FAIL(d, VT_INTERNAL, "step %u of the plan reads what is not written yet", i);
    if (operand->last < i) operand->last = i;
  }
  for (uint32_t k = 0; k < n->n_out; k++) {
    vt_buffer *b = &want[n->first_out + k];
    b->class = VT_CLASS_TEMP;
    b->first = b->last = i;
  }
  return VT_OK;
}

/* Where a plan stands: at the top, or as a body of a step of another plan. */
typedef struct place {
  const vt_plan *outer;
  uint32_t step, which;
} place;

static uint32_t class_of_port(const place *at, const vt_port *port, uint32_t i) {
  if (at->outer == NULL) return port->kind == VT_PORT_PARAM ? VT_CLASS_PARAM : VT_CLASS_INPUT;
  const vt_plan *p = at->outer;
  const vt_node *n = &p->g->nodes[p->step_node[at->step]];
  uint32_t index;
  switch (vt_op_body_place(n->op, n->attrs, at->which, i, &index)) {
    case VT_ARG_OPERAND:
      return p->buffers[p->g->operands[n->first_in + index]].class;
    case VT_ARG_RESULT:
      return p->buffers[n->first_out + index].class;
    default:
      return VT_CLASS_TEMP;
  }
}

/* Ports are there from the start, node values from their step on; class COUNT: not written yet. */
static vt_status expect_all(const vt_plan *p, const place *at, vt_buffer *want, vt_diag *d) {
  const vt_graph *g = p->g;
  for (uint32_t v = 0; v < g->n_values; v++)
    want[v] = (vt_buffer){.value = v, .class = VT_CLASS_COUNT};
  for (uint32_t i = 0; i < g->n_ports; i++) {
    vt_buffer *b = &want[g->ports[i].value];
    b->class = class_of_port(at, &g->ports[i], i);
    b->last = p->n_steps;
  }
  for (uint32_t i = 0; i < p->n_steps; i++) VT_TRY(expect_step(p, i, want, d));
  for (uint32_t i = 0; i < g->n_results; i++) {
    vt_buffer *b = &want[g->results[i].value];
    if (b->class == VT_CLASS_TEMP && at->outer == NULL) b->class = VT_CLASS_OUTPUT;
    b->last = p->n_steps;
  }
  return VT_OK;
}

/* The stretch in which a buffer must lie: its arena, or for what a body keeps itself the part of
 * the temporaries that was set apart for it. An argument that lies elsewhere lies where the operand
 * or result does, to the byte. */
static void room_of(const vt_plan *p, const place *at, const vt_buffer *b, uint64_t *from,
                    uint64_t *to) {
  *from = 0;
  *to = at->outer == NULL ? p->class_bytes[b->class] : 0;
  if (at->outer == NULL) return;
  const vt_nested *nested = &at->outer->nested[at->step];
  *from = nested->offset;
  *to = nested->offset + nested->bytes;
  const vt_value *v = &p->g->values[b->value];
  if (v->node != VT_NO_NODE) return;
  const vt_node *n = &at->outer->g->nodes[at->outer->step_node[at->step]];
  uint32_t index;
  const vt_arg_place where = vt_op_body_place(n->op, n->attrs, at->which, v->index, &index);
  if (where == VT_ARG_OWN) return;
  const uint32_t value =
      where == VT_ARG_RESULT ? n->first_out + index : at->outer->g->operands[n->first_in + index];
  *from = at->outer->buffers[value].offset;
  *to = *from + b->bytes;
}

static vt_status verify_buffer(const vt_plan *p, const place *at, const vt_buffer *want,
                               vt_diag *d) {
  const vt_buffer *b = &p->buffers[want->value];
  uint64_t count, bytes;
  char name[16];
  VT_TRY(vt_type_size(&p->g->values[want->value].type, &count, &bytes, d));
  if (b->value != want->value || b->class != want->class || b->first != want->first ||
      b->last != want->last || b->bytes != bytes)
    return VT_FAIL(d, VT_INTERNAL, "the plan misstates size or lifetime of '%s'",
                   vt_value_name(p->g, want->value, name));
  uint64_t from, to;
  room_of(p, at, b, &from, &to);
  if (b->offset % VT_PLAN_ALIGNMENT == 0 &&
      (bytes == 0 || (b->offset >= from && bytes <= to && b->offset <= to - bytes)))
    return VT_OK;
  return VT_FAIL(d, VT_INTERNAL, "the plan places '%s' outside its arena",
                 vt_value_name(p->g, want->value, name));
}

static vt_status verify_lifetimes(const vt_plan *p, const place *at, vt_arena *scratch,
                                  vt_diag *d) {
  if (p->n_steps != p->g->n_nodes || p->n_buffers != p->g->n_values)
    return VT_FAIL(d, VT_INTERNAL, "the plan is not of its graph");
  vt_buffer *want = VT_NEW_N(scratch, vt_buffer, p->n_buffers);
  if (want == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  VT_TRY(expect_all(p, at, want, d));
  for (uint32_t i = 0; i < p->n_buffers; i++) VT_TRY(verify_buffer(p, at, &want[i], d));
  return VT_OK;
}

/* ---- steps: each says again what the graph and the buffers say ---- */

/* Dense, row-major, and 0 in what is not used. */
static int is_tensor(const vt_plan *p, uint32_t value, const vt_bk_tensor *t) {
  const vt_buffer *b = &p->buffers[value];
  const vt_type *type = &p->g->values[value].type;
  int64_t stride = 1;
  int same = t->size == sizeof *t && t->dtype == type->dtype && t->rank == type->rank &&
             t->arena == b->class && t->offset == b->offset;
  for (uint32_t i = VT_MAX_RANK; same && i-- > 0;) {
    const int used = i < t->rank;
    same = t->dim[i] == (used ? type->dim[i] : 0) && t->stride[i] == (used ? stride : 0);
    if (used && t->dim[i] > 0) stride *= t->dim[i];
  }
  return same;
}

static int is_node(uint64_t room, const vt_bk_step *s, const vt_node *n) {
  return s->size == sizeof *s && s->op == n->op && s->n_in == n->n_in && s->n_out == n->n_out &&
         s->group == n->group && s->region == 0 && s->attrs == n->attrs &&
         s->attrs_size == vt_op_get(n->op)->attrs->size && s->work_arena == VT_CLASS_WORK &&
         s->work_offset % VT_PLAN_ALIGNMENT == 0 && s->work_bytes <= room &&
         s->work_offset <= room - s->work_bytes && s->n_body == n->n_body && s->reserved == 0 &&
         s->reserved_2 == 0;
}

static int is_body(const vt_plan *body, const vt_bk_body *b) {
  const vt_graph *g = body->g;
  int same = b->size == sizeof *b && b->n_in == g->n_ports && b->n_out == g->n_results &&
             b->n_steps == body->n_steps && b->steps == body->steps && b->reserved == 0;
  for (uint32_t i = 0; same && i < g->n_ports; i++)
    same = is_tensor(body, g->ports[i].value, &b->in[i]);
  for (uint32_t i = 0; same && i < g->n_results; i++)
    same = is_tensor(body, g->results[i].value, &b->out[i]);
  return same;
}

static vt_status verify_step(const vt_plan *p, uint64_t room, uint32_t i, vt_diag *d) {
  const vt_bk_step *s = &p->steps[i];
  const vt_node *n = &p->g->nodes[p->step_node[i]];
  const vt_nested *nested = &p->nested[i];
  if (!is_node(room, s, n) || nested->n != n->n_body)
    return VT_FAIL(d, VT_INTERNAL, "step %u of the plan is not its node", i);
  int same = 1;
  for (uint32_t k = 0; same && k < s->n_out; k++) same = is_tensor(p, n->first_out + k, &s->out[k]);
  for (uint32_t k = 0; same && k < s->n_in; k++)
    same = is_tensor(p, p->g->operands[n->first_in + k], &s->in[k]);
  for (uint32_t k = 0; same && k < s->n_body; k++)
    same = nested->plan[k]->g == n->body[k] && is_body(nested->plan[k], &s->body[k]);
  return same ? VT_OK : VT_FAIL(d, VT_INTERNAL, "step %u of the plan misstates a tensor", i);
}

/* ---- overlap ---- */

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

/* What lies outside `from`..`to` belongs to the plan around this one. */
static vt_status sweep(const vt_plan *p, const uint32_t *order, uint32_t *alive, uint64_t from,
                       uint64_t to, vt_diag *d) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    const vt_buffer *b = &p->buffers[order[i]];
    uint32_t kept = 0;
    char x[16], y[16];
    if (b->bytes == 0 || b->class != VT_CLASS_TEMP || b->offset < from || b->offset >= to) continue;
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

/* What is kept to the end shares nothing with its neighbours in memory, whenever it was born. */
static int by_place(const void *a, const void *b, const void *context) {
  const vt_buffer *x = &((const vt_buffer *)context)[*(const uint32_t *)a];
  const vt_buffer *y = &((const vt_buffer *)context)[*(const uint32_t *)b];
  if (x->class != y->class) return x->class < y->class ? -1 : 1;
  if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

static vt_status verify_kept(const vt_plan *p, const uint32_t *order, vt_diag *d) {
  const vt_buffer *a = NULL; /* the last one that has bytes */
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    const vt_buffer *b = &p->buffers[order[i]];
    char x[16], y[16];
    if (b->class == VT_CLASS_TEMP || b->bytes == 0) continue;
    if (a != NULL && overlap(a, b))
      return VT_FAIL(d, VT_INTERNAL, "the plan lets '%s' and '%s' overlap",
                     vt_value_name(p->g, a->value, x), vt_value_name(p->g, b->value, y));
    a = b;
  }
  return VT_OK;
}

/* What a body uses itself must be free while its step runs. */
static vt_status verify_stretch(const vt_plan *p, uint32_t step, uint64_t from, uint64_t to,
                                vt_diag *d) {
  const vt_nested *nested = &p->nested[step];
  const vt_buffer own = {.class = VT_CLASS_TEMP, .offset = nested->offset, .bytes = nested->bytes};
  if (nested->bytes == 0) return VT_OK;
  if (own.offset % VT_PLAN_ALIGNMENT != 0 || own.offset < from || own.bytes > to ||
      own.offset > to - own.bytes)
    return VT_FAIL(d, VT_INTERNAL, "the plan places the bodies of step %u outside its arena", step);
  for (uint32_t v = 0; v < p->n_buffers; v++) {
    const vt_buffer *b = &p->buffers[v];
    char name[16];
    if (b->first <= step && step <= b->last && b->bytes > 0 && overlap(&own, b))
      return VT_FAIL(d, VT_INTERNAL, "the plan lets '%s' and the bodies of step %u overlap",
                     vt_value_name(p->g, v, name), step);
  }
  return VT_OK;
}

static vt_status verify_overlap(const vt_plan *p, const place *at, uint64_t from, uint64_t to,
                                vt_arena *scratch, vt_diag *d) {
  uint32_t *order = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  uint32_t *alive = VT_NEW_N(scratch, uint32_t, (size_t)p->n_buffers + 1);
  if (order == NULL || alive == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < p->n_buffers; i++) order[i] = i;
  if (vt_sort(order, p->n_buffers, sizeof *order, by_place, p->buffers, p->arena.a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "out of memory");
  if (at->outer == NULL) VT_TRY(verify_kept(p, order, d)); /* a body keeps nothing of its own */
  if (vt_sort(order, p->n_buffers, sizeof *order, by_birth, p->buffers, p->arena.a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "out of memory");
  return sweep(p, order, alive, from, to, d);
}

static vt_status verify_all(const vt_plan *p, const place *at, uint64_t room, vt_arena *scratch,
                            vt_diag *d) {
  const vt_nested *own = at->outer == NULL ? NULL : &at->outer->nested[at->step];
  const uint64_t from = own == NULL ? 0 : own->offset;
  const uint64_t to = own == NULL ? p->class_bytes[VT_CLASS_TEMP] : own->offset + own->bytes;
  VT_TRY(verify_lifetimes(p, at, scratch, d));
  for (uint32_t i = 0; i < p->n_steps; i++) {
    VT_TRY(verify_step(p, room, i, d));
    VT_TRY(verify_stretch(p, i, from, to, d));
    for (uint32_t k = 0; k < p->nested[i].n; k++)
      VT_TRY(verify_all(p->nested[i].plan[k], &(place){p, i, k}, room, scratch, d));
  }
  return verify_overlap(p, at, from, to, scratch, d);
}

vt_status vt_plan_verify(const vt_plan *p, vt_diag *d) {
  vt_arena scratch;
  vt_arena_init(&scratch, p->arena.a);
  const vt_status s =
      verify_all(p, &(place){NULL, 0, 0}, p->class_bytes[VT_CLASS_WORK], &scratch, d);
  vt_arena_done(&scratch);
  return s;
}
