/* SPDX-License-Identifier: Apache-2.0
 * identities.h - the rows of identities.def. Private to src/pass. */
#ifndef VT_IDENTITIES_H
#define VT_IDENTITIES_H
#include "rewrite.h"

/* A node with one result that is about to be written to a graph. */
typedef struct vt_pending_node {
  vt_graph_builder *gb; /* builder of the graph that the node is written to */
  uint32_t op, n_in;    /* the op's number; the number of operands */
  const uint32_t *in;   /* operands, as values of the builder's graph */
  const void *attrs;
  vt_type type; /* type of the node's result */
} vt_pending_node;

typedef struct vt_identity {
  const char *name;
  /* Returns the value that replaces the node; VT_NO_VALUE if the identity does not apply. */
  uint32_t (*apply)(const vt_pending_node *s);
  const char *why; /* why the identity changes no bit of a result */
} vt_identity;

uint32_t vt_identity_total(void);
const vt_identity *vt_identity_at(uint32_t i);
/* Replaces the node by the first identity that applies, or else writes it. Returns its value. */
uint32_t vt_pending_node_write_simplified(const vt_pending_node *s);
#endif
