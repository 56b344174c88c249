/* SPDX-License-Identifier: Apache-2.0
 * pass_canonical.c - the pass `canonical`: replaces nodes by the identities of identities.def, and
 * copies the others. Nodes that are no longer needed are left for the pass `dead`. */
#include "identities.h"

static vt_status write_canonical_node(vt_rewrite_state *s, const vt_node *n, const uint32_t *in,
                                      uint32_t *out) {
  if (n->n_out != 1 || n->n_body != 0) return vt_rewrite_copy_node(s, n, in, out);
  const vt_pending_node spot = {s->gb, n->op,    n->n_in,
                                in,    n->attrs, s->g->values[n->first_out].type};
  out[0] = vt_pending_node_write_simplified(&spot);
  return s->gb->status;
}

vt_status vt_pass_canonical(const vt_graph *g, const vt_pass_options *o, vt_graph **out,
                            vt_diag *d) {
  const vt_rewrite_hooks hooks = {.node = write_canonical_node};
  return vt_rewrite_graph(&hooks, g, o->alloc, out, d);
}
