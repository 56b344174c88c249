/* SPDX-License-Identifier: Apache-2.0
 * rewrite.c - copying a graph node by node, bodies included. Names, lines and columns go along;
 * fusion groups do not, unless the pass sets them. */
#include "rewrite.h"

vt_status vt_rewrite_nomem(const vt_site *s) {
  return vt_graph_fail(s->gb, VT_NOMEM, "out of memory");
}

vt_status vt_rewrite_keep(vt_site *s, const vt_node *n, const uint32_t *in, uint32_t *out) {
  const uint32_t first = s->gb->b.node(&s->gb->b, n->op, in, n->n_in, n->attrs);
  for (uint32_t i = 0; i < n->n_out; i++) out[i] = first + i;
  return s->gb->status;
}

static vt_status copy_ports(vt_site *s) {
  const vt_graph *g = s->g;
  for (uint32_t i = 0; i < g->n_ports; i++) {
    vt_port p = g->ports[i];
    vt_type t = g->values[p.value].type;
    vt_diag why = {0};
    const vt_status status = s->how->port == NULL ? VT_OK : s->how->port(s, &p, &t, &why);
    if (status != VT_OK) return vt_graph_fail(s->gb, status, "'%s': %s", p.name, why.text);
    s->map[g->ports[i].value] = vt_graph_add_port(s->gb, &p, &t);
    if (s->gb->status != VT_OK) return s->gb->status;
  }
  return VT_OK;
}

static uint32_t mapped(const vt_site *s, uint32_t value) {
  return s->map[s->same == NULL ? value : s->same[value]];
}

static vt_status copy_body(const vt_site *outer, const vt_graph *body);

static void name_results(vt_site *s, const vt_node *n, const uint32_t *out) {
  for (uint32_t k = 0; k < n->n_out; k++) {
    const char *name = s->g->values[n->first_out + k].name;
    s->map[n->first_out + k] = out[k];
    if (name != NULL) vt_graph_name(s->gb, out[k], name);
  }
}

static vt_status copy_node(vt_site *s, uint32_t index) {
  const vt_graph *g = s->g;
  const vt_node *n = &g->nodes[index];
  vt_graph_builder *gb = s->gb;
  char name[16];
  uint32_t *in = VT_NEW_N(s->scratch, uint32_t, n->n_in), out[VT_MAX_RESULTS];
  if (in == NULL) return vt_rewrite_nomem(s);
  for (uint32_t k = 0; k < n->n_in; k++) in[k] = mapped(s, g->operands[n->first_in + k]);
  gb->line = n->line;
  gb->column = n->column;
  gb->label = vt_value_name(g, n->first_out, name);
  gb->group = s->group == NULL ? 0 : s->group[index];
  for (uint32_t k = 0; k < n->n_body; k++) VT_TRY(copy_body(s, n->body[k]));
  VT_TRY(s->how->node == NULL ? vt_rewrite_keep(s, n, in, out) : s->how->node(s, n, in, out));
  name_results(s, n, out);
  gb->label = NULL; /* `name` ends here */
  return gb->status;
}

static vt_status copy_inside(vt_site *s) {
  s->map = VT_NEW_N(s->scratch, uint32_t, s->g->n_values);
  if (s->map == NULL) return vt_rewrite_nomem(s);
  for (uint32_t i = 0; i < s->g->n_values; i++) s->map[i] = VT_NO_VALUE;
  if (s->how->begin != NULL) VT_TRY(s->how->begin(s));
  VT_TRY(copy_ports(s));
  const uint32_t n = s->order == NULL ? s->g->n_nodes : s->n_order;
  for (uint32_t i = 0; i < n; i++) VT_TRY(copy_node(s, s->order == NULL ? i : s->order[i]));
  return VT_OK;
}

static vt_status copy_body(const vt_site *outer, const vt_graph *body) {
  vt_site s = {.how = outer->how, .g = body, .scratch = outer->scratch};
  uint32_t *out = VT_NEW_N(s.scratch, uint32_t, body->n_results);
  if (out == NULL) return vt_rewrite_nomem(outer);
  s.gb = vt_graph_open(outer->gb, NULL, NULL, 0);
  if (s.gb == NULL) return outer->gb->status;
  VT_TRY(copy_inside(&s));
  for (uint32_t i = 0; i < body->n_results; i++) out[i] = mapped(&s, body->results[i].value);
  vt_graph_close(s.gb, out, body->n_results);
  return outer->gb->status;
}

static vt_status copy_top(vt_site *s) {
  VT_TRY(copy_inside(s));
  for (uint32_t i = 0; i < s->g->n_results; i++)
    vt_graph_add_result(s->gb, s->g->results[i].name, mapped(s, s->g->results[i].value));
  return s->gb->status;
}

vt_status vt_rewrite_run(const vt_rewrite *how, const vt_graph *g, vt_alloc a, vt_graph **out,
                         vt_diag *d) {
  vt_graph_builder gb;
  vt_arena scratch;
  VT_TRY(vt_graph_begin(&gb, g->name, a, d));
  vt_arena_init(&scratch, a);
  vt_site s = {.how = how, .g = g, .gb = &gb, .scratch = &scratch};
  const vt_status status = copy_top(&s);
  vt_arena_done(&scratch);
  if (status == VT_OK) return vt_graph_freeze(&gb, out);
  vt_graph_drop(&gb);
  return status;
}
