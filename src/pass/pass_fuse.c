/* SPDX-License-Identifier: Apache-2.0
 * pass_fuse.c - marks groups: pointwise nodes that pass a value on to each other alone, with at
 * most one anchor (a contraction or a reduction) whose result they start from. A group is a hint:
 * a backend may run it as one kernel that never writes what is passed on, and no bit depends on it,
 * because every node stays the operation it was.
 *
 * From the last node to the first, a node joins the group of its readers if they all are pointwise
 * and of one group, have its shape, and it is no output. So nothing leaves a group but the value of
 * its last node, and the members can move behind one another, up to that node. */
#include "rewrite.h"

typedef struct fusing {
  const vt_graph *g;
  uint32_t *reader;  /* by value: the root of the group that alone reads it; NOBODY; SEVERAL */
  uint32_t *root;    /* by node: the last node of its group */
  uint8_t *anchored; /* by root: the group has its anchor */
  uint32_t *size;    /* by root */
} fusing;
static const uint32_t NOBODY = UINT32_MAX, SEVERAL = UINT32_MAX - 1;

static int same_shape(const vt_type *a, const vt_type *b) {
  vt_type x = *a;
  x.dtype = b->dtype;
  return vt_type_equal(&x, b);
}

/* The root of the group that node i joins; i itself where there is none. */
static uint32_t find_root(const fusing *f, uint32_t i) {
  const vt_node *n = &f->g->nodes[i];
  const vt_form form = vt_op_form(n->op);
  const uint32_t root = f->reader[n->first_out];
  if (n->n_out != 1 || form == VT_FORM_NONE || root == NOBODY || root == SEVERAL) return i;
  if (f->size[root] == VT_GROUP_MOST || (form == VT_FORM_ANCHOR && f->anchored[root])) return i;
  const vt_value *mine = &f->g->values[n->first_out];
  const vt_value *last = &f->g->values[f->g->nodes[root].first_out];
  return same_shape(&mine->type, &last->type) ? root : i;
}

static void note_reader(fusing *f, uint32_t value, uint32_t root) {
  uint32_t *reader = &f->reader[value];
  *reader = *reader == NOBODY || *reader == root ? root : SEVERAL;
}

static void place_node(fusing *f, uint32_t i) {
  const vt_node *n = &f->g->nodes[i];
  const vt_form form = vt_op_form(n->op);
  const uint32_t root = find_root(f, i);
  f->root[i] = root;
  f->size[root]++;
  if (form == VT_FORM_ANCHOR) f->anchored[root] = 1;
  for (uint32_t k = 0; k < n->n_in; k++)
    note_reader(f, f->g->operands[n->first_in + k], form == VT_FORM_POINTWISE ? root : SEVERAL);
}

/* Members wait for their root; they are then written before it, in their order. `next` is where
 * the next member of a root goes. */
static void write_order(const fusing *f, uint32_t *next, uint32_t *order, uint32_t *group) {
  uint32_t at = 0, groups = 0;
  for (uint32_t i = 0; i < f->g->n_nodes; i++) {
    next[i] = at;
    at += f->size[i]; /* 0 for what is no root */
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

static vt_status begin(vt_site *s) {
  const vt_graph *g = s->g;
  fusing f = {.g = g,
              .reader = VT_NEW_N(s->scratch, uint32_t, g->n_values),
              .root = VT_NEW_N(s->scratch, uint32_t, g->n_nodes),
              .anchored = VT_NEW_N(s->scratch, uint8_t, g->n_nodes),
              .size = VT_NEW_N(s->scratch, uint32_t, g->n_nodes)};
  uint32_t *next = VT_NEW_N(s->scratch, uint32_t, g->n_nodes);
  uint32_t *order = VT_NEW_N(s->scratch, uint32_t, g->n_nodes);
  uint32_t *group = VT_NEW_N(s->scratch, uint32_t, g->n_nodes);
  if (vt_arena_status(s->scratch) != VT_OK) return vt_rewrite_nomem(s);
  for (uint32_t i = 0; i < g->n_values; i++) f.reader[i] = NOBODY;
  for (uint32_t i = 0; i < g->n_results; i++) f.reader[g->results[i].value] = SEVERAL;
  for (uint32_t i = g->n_nodes; i-- > 0;) place_node(&f, i);
  write_order(&f, next, order, group);
  s->order = order;
  s->n_order = g->n_nodes;
  s->group = group;
  return VT_OK;
}

vt_status vt_pass_fuse(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  const vt_rewrite how = {.begin = begin};
  return vt_rewrite_run(&how, g, o->alloc, out, d);
}
