/* SPDX-License-Identifier: Apache-2.0
 * pass_dead.c - the pass `dead`: removes the nodes that no output and no next value needs. Ports
 * are kept even if nothing reads them, because callers provide inputs and parameters by name. */
#include "rewrite.h"

static void mark_node_of_value_needed(const vt_graph *g, uint8_t *needed, uint32_t value) {
  if (g->values[value].node != VT_NO_NODE) needed[g->values[value].node] = 1;
}

static vt_status select_needed_nodes(vt_rewrite_state *s) {
  const vt_graph *g = s->g;
  uint8_t *needed = VT_NEW_N(s->scratch, uint8_t, g->n_nodes);
  uint32_t *order = VT_NEW_N(s->scratch, uint32_t, g->n_nodes);
  if (needed == NULL || order == NULL) return vt_rewrite_no_memory(s);
  for (uint32_t i = 0; i < g->n_results; i++)
    mark_node_of_value_needed(g, needed, g->results[i].value);
  for (uint32_t i = 0; i < g->n_ports; i++)
    if (g->ports[i].kind == VT_PORT_STATE) mark_node_of_value_needed(g, needed, g->ports[i].next);
  for (uint32_t i = g->n_nodes; i-- > 0;)
    for (uint32_t k = 0; needed[i] && k < g->nodes[i].n_in; k++)
      mark_node_of_value_needed(g, needed, g->operands[g->nodes[i].first_in + k]);
  for (uint32_t i = 0; i < g->n_nodes; i++)
    if (needed[i]) order[s->n_order++] = i;
  s->order = order;
  return VT_OK;
}

vt_status vt_pass_dead(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  const vt_rewrite_hooks hooks = {.begin = select_needed_nodes};
  return vt_rewrite_graph(&hooks, g, o->alloc, out, d);
}
