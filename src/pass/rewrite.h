/* SPDX-License-Identifier: Apache-2.0
 * rewrite.h - the one walk of the passes: a graph is copied node by node into a builder, bodies
 * included, and a pass says where the copy differs. Private to src/pass. */
#ifndef VT_REWRITE_H
#define VT_REWRITE_H
#include "vt_pass.h"

typedef struct vt_rewrite vt_rewrite;

/* A graph or a body on its way. What `begin` leaves at NULL is as it was. */
typedef struct vt_site {
  const vt_rewrite *how;
  const vt_graph *g;     /* the old one */
  vt_graph_builder *gb;  /* what writes the new one */
  vt_arena *scratch;     /* lives until the pass is done */
  uint32_t *map;         /* value of g -> value in the new graph; VT_NO_VALUE: not written yet */
  const uint32_t *order; /* which nodes are written, in this order */
  uint32_t n_order;
  const uint32_t *same;  /* by value of g: the value of g that stands for it */
  const uint32_t *group; /* by node of g: the fusion group it is written in; 0 = none */
  void *own;             /* the pass's, for this graph */
} vt_site;

struct vt_rewrite {
  const void *self; /* the pass's, for all graphs */
  /* Each may be NULL. `begin` comes before anything of the graph is written; bodies are begun in
   * the order in which they stand in the graph. */
  vt_status (*begin)(vt_site *s);
  vt_status (*port)(const vt_site *s, vt_port *p, vt_type *t, vt_diag *d);
  /* Writes node `n` with the operands `in` and says in out[0 .. n_out) which values stand for its
   * results. The bodies of `n` are written already and wait in the builder. */
  vt_status (*node)(vt_site *s, const vt_node *n, const uint32_t *in, uint32_t *out);
};

/* What happens to a node without a hook: it is written as it is. */
vt_status vt_rewrite_keep(vt_site *s, const vt_node *n, const uint32_t *in,
                          uint32_t *out) VT_NODISCARD;
/* The failure of an allocation in `s->scratch`. */
vt_status vt_rewrite_nomem(const vt_site *s) VT_NODISCARD;
/* The whole copy, frozen and so verified. Symbols are not copied: `port` and `node` bind them. */
vt_status vt_rewrite_run(const vt_rewrite *how, const vt_graph *g, vt_alloc a, vt_graph **out,
                         vt_diag *d) VT_NODISCARD;
#endif
