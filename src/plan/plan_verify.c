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
  want[n->first_out].class = VT_CLASS_TEMP;
  want[n->first_out].first = want[n->first_out].last = i;
  return VT_OK;
}

/* Ports are there from the start, node values from their step on; class COUNT: not written yet. */
static vt_status expect_all(const vt_plan *p, vt_buffer *want, vt_diag *d) {
  const vt_graph *g = p->g;
  for (uint32_t v = 0; v < g->n_values; v++)
    want[v] = (vt_buffer){.value = v, .class = VT_CLASS_COUNT};
  for (uint32_t i = 0; i < g->n_ports; i++) {
    vt_buffer *b = &want[g->ports[i].value];
    b->class = g->ports[i].kind == VT_PORT_PARAM ? VT_CLASS_PARAM : VT_CLASS_INPUT;
    b->last = p->n_steps;
  }
  for (uint32_t i = 0; i < p->n_steps; i++) VT_TRY(expect_step(p, i, want, d));
  for (uint32_t i = 0; i < g->n_results; i++) {
    vt_buffer *b = &want[g->results[i].value];
    if (b->class == VT_CLASS_TEMP) b->class = VT_CLASS_OUTPUT;
    b->last = p->n_steps;
  }
  return VT_OK;
}

static vt_status verify_buffer(const vt_plan *p, const vt_buffer *want, vt_diag *d) {
  const vt_buffer *b = &p->buffers[want->value];
  uint64_t count, bytes;
  char name[16];
  VT_TRY(vt_type_size(&p->g->values[want->value].type, &count, &bytes, d));
  if (b->value != want->value || b->class != want->class || b->first != want->first ||
      b->last != want->last || b->bytes != bytes)
    return VT_FAIL(d, VT_INTERNAL, "the plan misstates size or lifetime of '%s'",
                   vt_value_name(p->g, want->value, name));
  const uint64_t room = p->class_bytes[b->class];
  if (b->offset % VT_PLAN_ALIGNMENT == 0 &&
      (bytes == 0 || (bytes <= room && b->offset <= room - bytes)))
    return VT_OK;
  return VT_FAIL(d, VT_INTERNAL, "the plan places '%s' outside its arena",
                 vt_value_name(p->g, want->value, name));
}

static vt_status verify_lifetimes(const vt_plan *p, vt_arena *scratch, vt_diag *d) {
  if (p->n_steps != p->g->n_nodes || p->n_buffers != p->g->n_values)
    return VT_FAIL(d, VT_INTERNAL, "the plan is not of its graph");
  vt_buffer *want = VT_NEW_N(scratch, vt_buffer, p->n_buffers);
  if (want == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  VT_TRY(expect_all(p, want, d));
  for (uint32_t i = 0; i < p->n_buffers; i++) VT_TRY(verify_buffer(p, &want[i], d));
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

static int is_node(const vt_plan *p, const vt_bk_step *s, const vt_node *n) {
  const uint64_t room = p->class_bytes[VT_CLASS_WORK];
  return s->size == sizeof *s && s->op == n->op && s->n_in == n->n_in && s->n_out == n->n_out &&
         s->group == 0 && s->region == 0 && s->attrs == n->attrs &&
         s->attrs_size == vt_op_get(n->op)->attrs->size && s->work_arena == VT_CLASS_WORK &&
         s->work_offset % VT_PLAN_ALIGNMENT == 0 && s->work_bytes <= room &&
         s->work_offset <= room - s->work_bytes;
}

static vt_status verify_step(const vt_plan *p, uint32_t i, vt_diag *d) {
  const vt_bk_step *s = &p->steps[i];
  const vt_node *n = &p->g->nodes[p->step_node[i]];
  if (!is_node(p, s, n)) return VT_FAIL(d, VT_INTERNAL, "step %u of the plan is not its node", i);
  int same = is_tensor(p, n->first_out, &s->out[0]);
  for (uint32_t k = 0; same && k < s->n_in; k++)
    same = is_tensor(p, p->g->operands[n->first_in + k], &s->in[k]);
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

static vt_status sweep(const vt_plan *p, const uint32_t *order, uint32_t *alive, vt_diag *d) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->n_buffers; i++) {
    const vt_buffer *b = &p->buffers[order[i]];
    uint32_t kept = 0;
    char x[16], y[16];
    if (b->bytes == 0 || b->class != VT_CLASS_TEMP) continue;
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

static vt_status verify_overlap(const vt_plan *p, vt_arena *scratch, vt_diag *d) {
  uint32_t *order = VT_NEW_N(scratch, uint32_t, p->n_buffers);
  uint32_t *alive = VT_NEW_N(scratch, uint32_t, (size_t)p->n_buffers + 1);
  if (order == NULL || alive == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < p->n_buffers; i++) order[i] = i;
  if (vt_sort(order, p->n_buffers, sizeof *order, by_place, p->buffers, p->arena.a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "out of memory");
  VT_TRY(verify_kept(p, order, d));
  if (vt_sort(order, p->n_buffers, sizeof *order, by_birth, p->buffers, p->arena.a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "out of memory");
  return sweep(p, order, alive, d);
}

static vt_status verify_all(const vt_plan *p, vt_arena *scratch, vt_diag *d) {
  VT_TRY(verify_lifetimes(p, scratch, d));
  for (uint32_t i = 0; i < p->n_steps; i++) VT_TRY(verify_step(p, i, d));
  return verify_overlap(p, scratch, d);
}

vt_status vt_plan_verify(const vt_plan *p, vt_diag *d) {
  vt_arena scratch;
  vt_arena_init(&scratch, p->arena.a);
  const vt_status s = verify_all(p, &scratch, d);
  vt_arena_done(&scratch);
  return s;
}
