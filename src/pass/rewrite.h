/* SPDX-License-Identifier: Apache-2.0
 * rewrite.h - the walk over a graph that all passes share. It copies a graph, bodies included, node
 * by node into a new one; the hooks of a pass change what is written. Private to src/pass. */
#ifndef VT_REWRITE_H
#define VT_REWRITE_H
#include "vt_pass.h"

typedef struct vt_rewrite_hooks vt_rewrite_hooks;

/* The state of copying one graph or body. The hook `begin` may set order, same, group and data; an
 * array that stays NULL means that nothing changes in that respect. */
typedef struct vt_rewrite_state {
  const vt_rewrite_hooks *hooks;
  const vt_graph *g;     /* the old graph or body */
  vt_graph_builder *gb;  /* builder of the new graph or body */
  vt_arena *scratch;     /* memory that is freed at the end of the pass */
  uint32_t *map;         /* map[value of g]: value of the new graph; VT_NO_VALUE before it exists */
  const uint32_t *order; /* the nodes of g to write, in this order; NULL for all nodes in order */
  uint32_t n_order;      /* number of nodes in `order` */
  const uint32_t *same;  /* same[value of g]: the value of g that replaces it where it is read */
  const uint32_t *group; /* group[node of g]: its fusion group in the new graph; 0 for no group */
  /* next[port of g]: a state's next value in the new graph. result[i]: the value of result i there.
   * The hook `end` may set them. */
  const uint32_t *next, *result;
  void *data; /* data of the pass for this graph or body */
} vt_rewrite_state;

struct vt_rewrite_hooks {
  const void *context; /* data of the pass for all graphs */
  /* Each hook may be NULL. `begin` is called for a graph or body before anything of it is written:
   * first for the graph, then for its bodies in the order in which they are written. */
  vt_status (*begin)(vt_rewrite_state *s);
  /* May change a port and its type before it is declared. */
  vt_status (*port)(const vt_rewrite_state *s, vt_port *p, vt_type *t, vt_diag *d);
  /* Writes what replaces node `n`, whose operands in the new graph are `in`, and stores in
   * out[0 .. n_out) the values that replace its results. The bodies of `n` are written already and
   * wait in the builder. */
  vt_status (*node)(vt_rewrite_state *s, const vt_node *n, const uint32_t *in, uint32_t *out);
  /* Called for the graph, not for its bodies, once its nodes are written; it may write more. */
  vt_status (*end)(vt_rewrite_state *s);
};

/* Copies a node unchanged, as happens to every node if there is no hook `node`. */
vt_status vt_rewrite_copy_node(vt_rewrite_state *s, const vt_node *n, const uint32_t *in,
                               uint32_t *out) VT_NODISCARD;
/* The value of the new graph that replaces `value` of the old one, which is written already. */
uint32_t vt_rewrite_new_value_of(const vt_rewrite_state *s, uint32_t value);
/* Records that an allocation from `s->scratch` failed. */
vt_status vt_rewrite_no_memory(const vt_rewrite_state *s) VT_NODISCARD;
/* Copies a whole graph with the hooks and freezes the copy, which verifies it. Symbolic dimensions
 * are not copied: in a graph that has some, `port` and `node` must bind them. */
vt_status vt_rewrite_graph(const vt_rewrite_hooks *hooks, const vt_graph *g, vt_alloc a,
                           vt_graph **out, vt_diag *d) VT_NODISCARD;
#endif
