/* SPDX-License-Identifier: Apache-2.0
 * pass_canonical.c - every node is written anew unless an identity says what stands for it. What
 * is no longer needed stays for the pass that removes dead code. */
#include "identities.h"

static vt_status write_node(vt_site *s, const vt_node *n, const uint32_t *in, uint32_t *out) {
  if (n->n_out != 1 || n->n_body != 0) return vt_rewrite_keep(s, n, in, out);
  const vt_spot spot = {s->gb, n->op, n->n_in, in, n->attrs, s->g->values[n->first_out].type};
  out[0] = vt_spot_write(&spot);
  return s->gb->status;
}

vt_status vt_pass_canonical(const vt_graph *g, const vt_pass_options *o, vt_graph **out,
                            vt_diag *d) {
  const vt_rewrite how = {.node = write_node};
  return vt_rewrite_run(&how, g, o->alloc, out, d);
}
