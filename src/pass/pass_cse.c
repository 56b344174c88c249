/* SPDX-License-Identifier: Apache-2.0
 * pass_cse.c - the pass `cse`: of nodes with the same op, operands, attributes and bodies it keeps
 * the first, which replaces the others. Nodes have no side effects, and random numbers are a
 * function of their operands, so equal nodes have equal bits.
 *
 * A node's key is a hash of its op, operands, attributes and bodies. Operands are hashed by number;
 * equal values have the same number, and numbers count distinct values in the order of the graph.
 * So two bodies that differ only in repeated nodes have the same key. */
#include <string.h>
#include "rewrite.h"

/* The numbers of the values of one graph, and the nodes to keep. */
typedef struct numbering {
  const vt_graph *g;
  uint32_t *same;    /* same[value]: the first value that equals it */
  uint32_t *number;  /* number[value]: the same for equal values, different for others */
  vt_hash256 *key;   /* key[node] */
  uint32_t *order;   /* the nodes to keep, in order */
  uint32_t n_order;  /* number of nodes in `order` */
  uint32_t n_values; /* number of distinct values so far */
  uint64_t n_slots;  /* slots of the hash table below, a power of two */
  uint32_t *slot;    /* hash table by key, never iterated: index of a node plus 1, 0 if free */
} numbering;

/* The number of bytes of an attribute that are hashed; unused entries of a list are not hashed. */
static size_t attr_hashed_bytes(vt_attr_kind kind, const void *data) {
  int64_t n = 0;
  switch (kind) {
    case VT_ATTR_AXES:
    case VT_ATTR_INTS:
    case VT_ATTR_DIMS:
      memcpy(&n, data, sizeof n);
      return (size_t)(n + 1) * sizeof n;
    case VT_ATTR_TEXT:
      return sizeof(vt_attr_text);
    case VT_ATTR_FLAG:
    case VT_ATTR_INT:
    case VT_ATTR_REAL:
    case VT_ATTR_DTYPE:
    case VT_ATTR_AXIS:
    case VT_ATTR_BITS:
    case VT_ATTR_ORDER:
    case VT_ATTR_DIM:
    case VT_ATTR_WORD:
      break;
  }
  return sizeof n;
}

static void hash_attrs(vt_hasher *h, const vt_attr_group *g, const void *attrs) {
  for (uint32_t i = 0; i < g->n_fields; i++) {
    const char *data = (const char *)attrs + g->fields[i].offset;
    vt_hash_add(h, data, attr_hashed_bytes(g->fields[i].kind, data));
  }
}

static void hash_type(vt_hasher *h, const vt_type *t) {
  vt_hash_add_u32(h, t->dtype);
  vt_hash_add_u32(h, t->rank);
  for (uint32_t i = 0; i < t->rank; i++) vt_hash_add_u64(h, (uint64_t)t->dim[i]);
}

static vt_status number_graph(const vt_rewrite_state *s, const vt_graph *g, numbering *n);

/* Hashes a body: the types of its arguments, its distinct nodes, and the numbers of its results. */
static vt_status hash_body(const vt_rewrite_state *s, const vt_graph *body, vt_hasher *h) {
  numbering n;
  VT_TRY(number_graph(s, body, &n));
  vt_hash_add_u32(h, body->n_ports);
  for (uint32_t i = 0; i < body->n_ports; i++)
    hash_type(h, &body->values[body->ports[i].value].type);
  vt_hash_add_u32(h, n.n_order);
  for (uint32_t i = 0; i < n.n_order; i++) vt_hash_add(h, n.key[n.order[i]].b, sizeof n.key->b);
  vt_hash_add_u32(h, body->n_results);
  for (uint32_t i = 0; i < body->n_results; i++)
    vt_hash_add_u32(h, n.number[body->results[i].value]);
  return VT_OK;
}

static vt_status hash_node(const vt_rewrite_state *s, numbering *n, uint32_t index) {
  const vt_node *node = &n->g->nodes[index];
  vt_hasher h;
  vt_hash_init(&h);
  vt_hash_add_u32(&h, node->op);
  vt_hash_add_u32(&h, node->n_in);
  for (uint32_t i = 0; i < node->n_in; i++)
    vt_hash_add_u32(&h, n->number[n->g->operands[node->first_in + i]]);
  hash_attrs(&h, vt_op_get(node->op)->attrs, node->attrs);
  for (uint32_t i = 0; i < node->n_body; i++) VT_TRY(hash_body(s, node->body[i], &h));
  n->key[index] = vt_hash_done(&h);
  return VT_OK;
}

/* The slot of the node that has this key, or else a free slot. There is always one, because the
 * table has more than twice as many slots as nodes. */
static uint32_t *find_slot_of_key(const numbering *n, const vt_hash256 *key) {
  uint64_t start;
  memcpy(&start, key->b, sizeof start);
  uint64_t i = start & (n->n_slots - 1);
  while (n->slot[i] != 0 && memcmp(n->key[n->slot[i] - 1].b, key->b, sizeof key->b) != 0)
    i = (i + 1) & (n->n_slots - 1);
  return &n->slot[i];
}

static void number_results(numbering *n, uint32_t index) {
  const vt_node *node = &n->g->nodes[index];
  uint32_t *slot = find_slot_of_key(n, &n->key[index]);
  const int first = *slot == 0;
  if (first) {
    *slot = index + 1;
    n->order[n->n_order++] = index;
  }
  const uint32_t from = n->g->nodes[*slot - 1].first_out;
  for (uint32_t i = 0; i < node->n_out; i++) {
    n->same[node->first_out + i] = from + i;
    n->number[node->first_out + i] = first ? n->n_values++ : n->number[from + i];
  }
}

static vt_status number_graph(const vt_rewrite_state *s, const vt_graph *g, numbering *n) {
  *n = (numbering){.g = g, .n_slots = 1};
  while (n->n_slots < 2 * (uint64_t)g->n_nodes + 1) n->n_slots *= 2;
  n->same = VT_NEW_N(s->scratch, uint32_t, g->n_values);
  n->number = VT_NEW_N(s->scratch, uint32_t, g->n_values);
  n->key = VT_NEW_N(s->scratch, vt_hash256, g->n_nodes);
  n->order = VT_NEW_N(s->scratch, uint32_t, g->n_nodes);
  n->slot = VT_NEW_N(s->scratch, uint32_t, n->n_slots);
  if (vt_arena_status(s->scratch) != VT_OK) return vt_rewrite_no_memory(s);
  for (uint32_t i = 0; i < g->n_ports; i++) {
    n->same[g->ports[i].value] = g->ports[i].value;
    n->number[g->ports[i].value] = n->n_values++;
  }
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    VT_TRY(hash_node(s, n, i));
    number_results(n, i);
  }
  return VT_OK;
}

static vt_status merge_equal_nodes(vt_rewrite_state *s) {
  numbering n;
  VT_TRY(number_graph(s, s->g, &n));
  s->order = n.order;
  s->n_order = n.n_order;
  s->same = n.same;
  return VT_OK;
}

vt_status vt_pass_cse(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  const vt_rewrite_hooks hooks = {.begin = merge_equal_nodes};
  return vt_rewrite_graph(&hooks, g, o->alloc, out, d);
}
