/* SPDX-License-Identifier: Apache-2.0
 * pass_fuse.c - the pass `fuse`: marks groups of nodes. A group is pointwise nodes whose values
 * only other members read, except for the last member's, and at most one anchor (a contraction or
 * a reduction) whose result they transform. A group is a hint: a backend may run it as one kernel
 * that never stores the values inside. No bit depends on it, because the nodes do not change.
 *
 * Nodes are visited from the last to the first. A node joins the group of its readers if all of
 * them are pointwise, belong to one group and have its shape, and if it is neither an output nor
 * the next value of a state. So only the value of the last node, the root, is read outside, and the
 * members can be moved next to each other, directly before the root. */
#include "rewrite.h"

typedef struct fusing {
  const vt_graph *g;
  uint32_t *reader;  /* reader[value]: root of the only group that reads it, or a mark below */
  uint32_t *root;    /* root[node]: the last node of its group */
  uint8_t *anchored; /* anchored[root]: 1 if the group has its anchor */
  uint32_t *size;    /* size[root]: number of members; 0 for a node that is not a root */
} fusing;
/* Marks for `reader`: no node reads the value yet; more than one group, an op that is not
 * pointwise, an output, or the next value of a state reads it. */
static const uint32_t NO_READER = UINT32_MAX, MANY_READERS = UINT32_MAX - 1;

static int same_shape(const vt_type *a, const vt_type *b) {
  vt_type x = *a;
  x.dtype = b->dtype;
  return vt_type_equal(&x, b);
}

/* The root of the group that node i joins; i itself if it starts a new group. */
static uint32_t find_root(const fusing *f, uint32_t i) {
  const vt_node *n = &f->g->nodes[i];
  const vt_form form = vt_op_form(n->op);
  const uint32_t root = f->reader[n->first_out];
  if (n->n_out != 1 || !vt_form_can_be_in_group(form) || root == NO_READER || root == MANY_READERS)
    return i;
  if (f->size[root] == VT_GROUP_MAX_NODES || (form == VT_FORM_ANCHOR && f->anchored[root]))
    return i;
  const vt_value *mine = &f->g->values[n->first_out];
  const vt_value *last = &f->g->values[f->g->nodes[root].first_out];
  return same_shape(&mine->type, &last->type) ? root : i;
}

static void assign_group(fusing *f, uint32_t i) {
  const vt_node *n = &f->g->nodes[i];
  const vt_form form = vt_op_form(n->op);
  const uint32_t root = find_root(f, i);
  f->root[i] = root;
  f->size[root]++;
  if (form == VT_FORM_ANCHOR) f->anchored[root] = 1;
  const uint32_t reads_as = form == VT_FORM_POINTWISE ? root : MANY_READERS;
  for (uint32_t k = 0; k < n->n_in; k++) {
    uint32_t *reader = &f->reader[f->g->operands[n->first_in + k]];
    *reader = *reader == NO_READER || *reader == reads_as ? reads_as : MANY_READERS;
  }
}

/* Orders the nodes so that the members of a group directly precede its root, in their old order,
 * and numbers the groups of two or more. next[root] is the position for the group's next member. */
static void order_by_group(const fusing *f, uint32_t *next, uint32_t *order, uint32_t *group) {
  uint32_t at = 0, groups = 0;
  for (uint32_t i = 0; i < f->g->n_nodes; i++) {
    next[i] = at;
    at += f->size[i];
  }
  for (uint32_t i = 0; i < f->g->n_nodes; i++) order[next[f->root[i]]++] = i;
  for (uint32_t i = 0; i < f->g->n_nodes; i++) {
    const uint32_t node = order[i], root = f->root[node];
    if (f->size[root] == 1) continue;
    const int first = i == 0 || f->root[order[i - 1]] != root;
    groups += (uint32_t)first;
    group[node] = groups;
  }
}

static vt_status form_groups(vt_rewrite_state *s) {
  const vt_graph *g = s->g;
  fusing f = {.g = g,
              .reader = VT_NEW_N(s->scratch, uint32_t, g->n_values),
              .root = VT_NEW_N(s->scratch, uint32_t, g->n_nodes),
              .anchored = VT_NEW_N(s->scratch, uint8_t, g->n_nodes),
              .size = VT_NEW_N(s->scratch, uint32_t, g->n_nodes)};
  uint32_t *next = VT_NEW_N(s->scratch, uint32_t, g->n_nodes);
  uint32_t *order = VT_NEW_N(s->scratch, uint32_t, g->n_nodes);
  uint32_t *group = VT_NEW_N(s->scratch, uint32_t, g->n_nodes);
  if (vt_arena_status(s->scratch) != VT_OK) return vt_rewrite_no_memory(s);
  for (uint32_t i = 0; i < g->n_values; i++) f.reader[i] = NO_READER;
  for (uint32_t i = 0; i < g->n_results; i++) f.reader[g->results[i].value] = MANY_READERS;
  for (uint32_t i = 0; i < g->n_ports; i++)
    if (g->ports[i].kind == VT_PORT_STATE) f.reader[g->ports[i].next] = MANY_READERS;
  for (uint32_t i = g->n_nodes; i-- > 0;) assign_group(&f, i);
  order_by_group(&f, next, order, group);
  s->order = order;
  s->n_order = g->n_nodes;
  s->group = group;
  return VT_OK;
}

vt_status vt_pass_fuse(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  const vt_rewrite_hooks hooks = {.begin = form_groups};
  return vt_rewrite_graph(&hooks, g, o->alloc, out, d);
}
