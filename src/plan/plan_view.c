/* SPDX-License-Identifier: Apache-2.0
 * plan_view.c - the first stage: gives each value its size, strides and memory class, and decides
 * which values are views. These are the properties that do not depend on the order of the steps. */
#include "planner.h"
#include "vt_layout.h"

/* By value: which views it may be, a vt_plan_viewable. Results are read as dense bytes, and the
 * arguments of a body may alias the operands of its step. A store may overwrite its state before
 * another store reads a view of it. NULL if there is no memory. */
static uint8_t *find_viewable(const vt_planner *q) {
  const vt_graph *g = q->p->g;
  uint8_t *viewable = VT_NEW_N(q->scratch, uint8_t, g->n_values);
  for (uint32_t i = 0; viewable != NULL && i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    for (uint32_t k = 0; k < n->n_in; k++) {
      uint8_t *v = &viewable[g->operands[n->first_in + k]];
      if (n->n_body > 0) *v = VT_PLAN_NO_VIEW;
      if (q->stores[n->first_out] != VT_NO_VALUE && *v == VT_PLAN_ANY_VIEW)
        *v = VT_PLAN_NO_VIEW_OF_STATE;
    }
  }
  for (uint32_t i = 0; viewable != NULL && i < g->n_results; i++)
    viewable[g->results[i].value] = VT_PLAN_NO_VIEW;
  return viewable;
}

static int is_streamed(const vt_plan_options *o, const char *name) {
  for (uint32_t i = 0; i < o->n_stream; i++)
    if (strcmp(o->stream[i], "*") == 0 || strcmp(o->stream[i], name) == 0) return 1;
  return 0;
}

/* Sets the place and class of a port of a model or of a body. */
static void init_port_buffer(const vt_planner *q, const vt_port *port, uint32_t index,
                             vt_buffer *b) {
  uint32_t unused;
  if (q->owner != NULL) {
    const int own = vt_op_body_argument_place(q->owner->op, q->owner->attrs, q->which, index,
                                              &unused) == VT_ARG_OWN;
    b->place = own ? VT_PLACE_OWN : VT_PLACE_ARG;
    b->class = own ? VT_CLASS_TEMP : VT_CLASS_COUNT; /* the class of the aliased value, set later */
  } else if (port->kind == VT_PORT_PARAM) {
    b->class = is_streamed(q->o, port->name) ? VT_CLASS_HOST : VT_CLASS_PARAM;
  } else if (port->kind == VT_PORT_STATE) {
    b->class = VT_CLASS_MODEL_STATE;
  } else {
    b->class = VT_CLASS_INPUT;
  }
}

/* Makes a value a view if it can be one. A view must start at a multiple of the alignment, like
 * every tensor. Its offset counts from the viewed value until vt_plan_place_aliases adds that
 * value's offset. */
int vt_plan_try_view(const vt_planner *q, uint32_t value, vt_buffer *b) {
  const vt_graph *g = q->p->g;
  const vt_node *n = &g->nodes[g->values[value].node];
  if (n->n_out != 1 || n->n_in != 1) return 0;
  const uint32_t of = g->operands[n->first_in];
  const vt_buffer *from = &q->p->buffers[of];
  const vt_type *x = &g->values[of].type, *y = &g->values[value].type;
  const uint64_t size = vt_dtype_bytes(x->dtype);
  vt_layout l = {.first = 0}, made;
  memcpy(l.stride, from->stride, sizeof l.stride);
  if (!vt_op_result_view(n->op, n->attrs, x, &l, y, &made)) return 0;
  if (made.first * size % VT_PLAN_ALIGNMENT != 0) return 0;
  b->place = VT_PLACE_VIEW;
  b->of = of;
  b->class = from->class;
  b->offset = made.first * size;
  b->bytes = vt_layout_span_bytes(y, &made);
  memcpy(b->stride, made.stride, sizeof b->stride);
  q->holder[value] = q->holder[of];
  return 1;
}

vt_status vt_plan_init_buffer(const vt_planner *q, uint32_t value, vt_buffer *b) {
  const vt_type *t = &q->p->g->values[value].type;
  vt_layout dense;
  vt_diag why = {0};
  char name[16];
  uint64_t count;
  *b = (vt_buffer){.value = value, .of = VT_NO_VALUE, .class = VT_CLASS_TEMP};
  q->holder[value] = value;
  const vt_status s = vt_type_size(t, &count, &b->bytes, &why);
  if (s != VT_OK)
    return VT_FAIL(q->d, s, "'%s': %s", vt_value_name(q->p->g, value, name), why.text);
  vt_layout_dense(t, &dense);
  memcpy(b->stride, dense.stride, sizeof b->stride);
  return VT_OK;
}

/* Sets the buffer of a store: it is written over its state, unless the stored value is. */
static void init_store_buffer(const vt_planner *q, uint32_t value, vt_buffer *b) {
  b->place = VT_PLACE_OVER;
  b->of = q->stores[value];
  b->class = VT_CLASS_MODEL_STATE;
}

static vt_status init_buffer_of_value(vt_planner *q, const uint8_t *viewable, uint32_t v) {
  const vt_graph *g = q->p->g;
  vt_buffer *b = &q->p->buffers[v];
  const uint32_t port = g->values[v].index;
  VT_TRY(vt_plan_init_buffer(q, v, b));
  if (g->values[v].node == VT_NO_NODE) {
    init_port_buffer(q, &g->ports[port], port, b);
  } else if (q->stores[v] != VT_NO_VALUE) {
    init_store_buffer(q, v, b);
  } else if (viewable[v] != VT_PLAN_NO_VIEW) {
    const int view = vt_plan_try_view(q, v, b);
    if (view && viewable[v] == VT_PLAN_NO_VIEW_OF_STATE && vt_plan_is_state(g, q->holder[v]))
      return vt_plan_init_buffer(q, v, b);
  }
  return VT_OK;
}

vt_status vt_plan_init_buffers(vt_planner *q) {
  const vt_graph *g = q->p->g;
  const uint8_t *viewable = find_viewable(q);
  q->holder = VT_NEW_N(q->scratch, uint32_t, g->n_values);
  if (viewable == NULL || q->holder == NULL) return vt_plan_no_memory(q->d);
  for (uint32_t v = 0; v < g->n_values; v++) VT_TRY(init_buffer_of_value(q, viewable, v));
  for (uint32_t i = 0; q->owner == NULL && i < g->n_results; i++) {
    vt_buffer *b = &q->p->buffers[g->results[i].value];
    if (b->class == VT_CLASS_TEMP) b->class = VT_CLASS_OUTPUT;
  }
  return vt_plan_choose_states_in_place(q, viewable);
}
