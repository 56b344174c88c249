/* SPDX-License-Identifier: Apache-2.0
 * rewrite.c - copies a graph node by node, bodies included. Names, lines and columns are copied
 * too; fusion groups are dropped, unless the pass sets new ones. */
#include "rewrite.h"

vt_status vt_rewrite_no_memory(const vt_rewrite_state *s) {
  return vt_graph_fail(s->gb, VT_NOMEM, "out of memory");
}

vt_status vt_rewrite_copy_node(vt_rewrite_state *s, const vt_node *n, const uint32_t *in,
                               uint32_t *out) {
  const uint32_t first = s->gb->b.node(&s->gb->b, n->op, in, n->n_in, n->attrs);
  for (uint32_t i = 0; i < n->n_out; i++) out[i] = first + i;
  return s->gb->status;
}

static vt_status rewrite_ports(vt_rewrite_state *s) {
  const vt_graph *g = s->g;
  for (uint32_t i = 0; i < g->n_ports; i++) {
    vt_port p = g->ports[i];
    vt_type t = g->values[p.value].type;
    vt_diag why = {0};
    const vt_status status = s->hooks->port == NULL ? VT_OK : s->hooks->port(s, &p, &t, &why);
    if (status != VT_OK) return vt_graph_fail(s->gb, status, "'%s': %s", p.name, why.text);
    s->map[g->ports[i].value] = vt_graph_add_port(s->gb, &p, &t);
    if (s->gb->status != VT_OK) return s->gb->status;
  }
  return VT_OK;
}

uint32_t vt_rewrite_new_value_of(const vt_rewrite_state *s, uint32_t value) {
  return s->map[s->same == NULL ? value : s->same[value]];
}

static vt_status rewrite_body(const vt_rewrite_state *outer, const vt_graph *body);

static vt_status rewrite_node(vt_rewrite_state *s, uint32_t index) {
  const vt_graph *g = s->g;
  const vt_node *n = &g->nodes[index];
  vt_graph_builder *gb = s->gb;
  char name[16];
  uint32_t *in = VT_NEW_N(s->scratch, uint32_t, n->n_in), out[VT_MAX_RESULTS];
  if (in == NULL) return vt_rewrite_no_memory(s);
  for (uint32_t k = 0; k < n->n_in; k++)
    in[k] = vt_rewrite_new_value_of(s, g->operands[n->first_in + k]);
  gb->line = n->line;
  gb->column = n->column;
  gb->label = vt_value_name(g, n->first_out, name);
  gb->group = s->group == NULL ? 0 : s->group[index];
  for (uint32_t k = 0; k < n->n_body; k++) VT_TRY(rewrite_body(s, n->body[k]));
  VT_TRY(s->hooks->node == NULL ? vt_rewrite_copy_node(s, n, in, out)
                                : s->hooks->node(s, n, in, out));
  for (uint32_t k = 0; k < n->n_out; k++) {
    const char *old_name = g->values[n->first_out + k].name;
    s->map[n->first_out + k] = out[k];
    if (old_name != NULL) vt_graph_name_value(gb, out[k], old_name);
  }
  gb->label = NULL; /* the label may point to `name`, which goes out of scope */
  return gb->status;
}

static vt_status rewrite_ports_and_nodes(vt_rewrite_state *s) {
  s->map = VT_NEW_N(s->scratch, uint32_t, s->g->n_values);
  if (s->map == NULL) return vt_rewrite_no_memory(s);
  for (uint32_t i = 0; i < s->g->n_values; i++) s->map[i] = VT_NO_VALUE;
  if (s->hooks->begin != NULL) VT_TRY(s->hooks->begin(s));
  VT_TRY(rewrite_ports(s));
  const uint32_t n = s->order == NULL ? s->g->n_nodes : s->n_order;
  for (uint32_t i = 0; i < n; i++) VT_TRY(rewrite_node(s, s->order == NULL ? i : s->order[i]));
  return VT_OK;
}

static vt_status rewrite_body(const vt_rewrite_state *outer, const vt_graph *body) {
  vt_rewrite_state s = {.hooks = outer->hooks, .g = body, .scratch = outer->scratch};
  uint32_t *out = VT_NEW_N(s.scratch, uint32_t, body->n_results);
  if (out == NULL) return vt_rewrite_no_memory(outer);
  s.gb = vt_graph_open_body(outer->gb, NULL, NULL, 0);
  if (s.gb == NULL) return outer->gb->status;
  VT_TRY(rewrite_ports_and_nodes(&s));
  for (uint32_t i = 0; i < body->n_results; i++)
    out[i] = vt_rewrite_new_value_of(&s, body->results[i].value);
  vt_graph_close_body(s.gb, out, body->n_results);
  return outer->gb->status;
}

/* Gives the states of the new graph their next values, then declares its results. */
static vt_status rewrite_next_values_and_results(vt_rewrite_state *s) {
  const vt_graph *g = s->g;
  for (uint32_t i = 0; i < g->n_ports; i++) {
    const vt_port *p = &g->ports[i];
    if (p->kind == VT_PORT_STATE)
      vt_graph_set_next(s->gb, s->map[p->value],
                        s->next != NULL ? s->next[i] : vt_rewrite_new_value_of(s, p->next));
  }
  for (uint32_t i = 0; i < g->n_results; i++)
    vt_graph_add_result(
        s->gb, g->results[i].name,
        s->result != NULL ? s->result[i] : vt_rewrite_new_value_of(s, g->results[i].value));
  return s->gb->status;
}

vt_status vt_rewrite_graph(const vt_rewrite_hooks *hooks, const vt_graph *g, vt_alloc a,
                           vt_graph **out, vt_diag *d) {
  vt_graph_builder gb;
  vt_arena scratch;
  VT_TRY(vt_graph_begin(&gb, g->name, a, d));
  vt_arena_init(&scratch, a);
  vt_rewrite_state s = {.hooks = hooks, .g = g, .gb = &gb, .scratch = &scratch};
  vt_status status = rewrite_ports_and_nodes(&s);
  if (status == VT_OK && hooks->end != NULL) status = hooks->end(&s);
  if (status == VT_OK) status = rewrite_next_values_and_results(&s);
  vt_arena_done(&scratch);
  if (status == VT_OK) return vt_graph_freeze(&gb, out);
  vt_graph_drop(&gb);
  return status;
}
