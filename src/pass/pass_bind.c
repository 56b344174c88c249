/* SPDX-License-Identifier: Apache-2.0
 * pass_bind.c - symbolic dimensions become numbers; every shape is inferred again with them, so
 * what could not be decided before is decided here. */
#include <stdio.h>
#include <string.h>
#include "vt_pass.h"

static vt_status check_names(const vt_graph *g, const vt_pass_options *o, vt_diag *d) {
  for (uint32_t i = 0; i < o->n_bind; i++) {
    int64_t dim;
    if (!vt_dim_find(&g->dims, o->bind[i].name, &dim))
      return VT_FAIL(d, VT_BIND, "the model has no symbolic dimension '%s'", o->bind[i].name);
    for (uint32_t k = 0; k < i; k++)
      if (strcmp(o->bind[i].name, o->bind[k].name) == 0)
        return VT_FAIL(d, VT_BIND, "the dimension '%s' is bound twice", o->bind[i].name);
  }
  return VT_OK;
}

static vt_status find_values(const vt_graph *g, const vt_pass_options *o, int64_t *value,
                             vt_diag *d) {
  VT_TRY(check_names(g, o, d));
  for (uint32_t s = 0; s < g->dims.n_symbols; s++) {
    value[s] = -1;
    for (uint32_t i = 0; i < o->n_bind; i++)
      if (strcmp(o->bind[i].name, g->dims.symbol[s]) == 0) {
        value[s] = o->bind[i].value;
        if (value[s] < 0 || value[s] > VT_DIM_MAX)
          return VT_FAIL(d, VT_BIND, "the dimension '%s' is bound to %lld, outside 0..2^40",
                         g->dims.symbol[s], (long long)value[s]);
      }
    if (value[s] < 0) {
      const vt_status status =
          VT_FAIL(d, VT_BIND, "the dimension '%s' is not bound", g->dims.symbol[s]);
      if (d != NULL && d->hint[0] == 0)
        snprintf(d->hint, sizeof d->hint, "add --bind %s=VALUE", g->dims.symbol[s]);
      return status;
    }
  }
  return VT_OK;
}

static vt_status bind_type(const vt_graph *g, const int64_t *value, vt_type *t, vt_diag *d) {
  for (uint32_t i = 0; i < t->rank; i++) {
    VT_TRY(vt_dim_bind(&g->dims, value, t->dim[i], &t->dim[i], d));
    if (t->dim[i] < 0 || t->dim[i] > VT_DIM_MAX)
      return VT_FAIL(d, VT_BIND, "a dimension becomes %lld, outside 0..2^40", (long long)t->dim[i]);
  }
  return VT_OK;
}

static vt_status bind_port(const vt_graph *g, const int64_t *value, vt_port *p, vt_type *t,
                           vt_diag *d) {
  VT_TRY(bind_type(g, value, t, d));
  if (!p->has_range) return VT_OK;
  VT_TRY(vt_dim_bind(&g->dims, value, p->lo, &p->lo, d));
  return vt_dim_bind(&g->dims, value, p->hi, &p->hi, d);
}

static vt_status bind_ports(const vt_graph *g, const int64_t *value, vt_graph_builder *gb,
                            uint32_t *map, vt_diag *d) {
  for (uint32_t i = 0; i < g->n_ports; i++) {
    vt_port p = g->ports[i];
    vt_type t = g->values[p.value].type;
    vt_diag why = {0};
    const vt_status s = bind_port(g, value, &p, &t, &why);
    if (s != VT_OK) return VT_FAIL(d, s, "'%s': %s", p.name, why.text);
    map[g->ports[i].value] = vt_graph_add_port(gb, &p, &t);
    if (gb->status != VT_OK) return gb->status;
  }
  return VT_OK;
}

static vt_status bind_body(const vt_graph *g, const int64_t *value, vt_graph_builder *gb,
                           vt_arena *scratch, vt_diag *d);

static vt_status bind_nodes(const vt_graph *g, const int64_t *value, vt_graph_builder *gb,
                            uint32_t *map, vt_arena *scratch, vt_diag *d) {
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    char name[16];
    void *attrs;
    vt_diag why = {0};
    uint32_t *in = VT_NEW_N(scratch, uint32_t, n->n_in);
    if (in == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
    for (uint32_t k = 0; k < n->n_in; k++) in[k] = map[g->operands[n->first_in + k]];
    gb->line = n->line;
    gb->column = n->column;
    gb->label = vt_value_name(g, n->first_out, name);
    const vt_status s =
        vt_attr_bind(vt_op_get(n->op)->attrs, n->attrs, &g->dims, value, scratch, &attrs, &why);
    if (s != VT_OK) return vt_graph_fail(gb, s, "'%s': %s", gb->label, why.text);
    for (uint32_t k = 0; k < n->n_body; k++) VT_TRY(bind_body(n->body[k], value, gb, scratch, d));
    const uint32_t made = gb->b.node(&gb->b, n->op, in, n->n_in, attrs);
    if (gb->status != VT_OK) return gb->status;
    for (uint32_t k = 0; k < n->n_out; k++) {
      map[n->first_out + k] = made + k;
      if (g->values[n->first_out + k].name != NULL)
        vt_graph_name(gb, made + k, g->values[n->first_out + k].name);
    }
  }
  return VT_OK;
}

static vt_status bind_body(const vt_graph *g, const int64_t *value, vt_graph_builder *gb,
                           vt_arena *scratch, vt_diag *d) {
  uint32_t *map = VT_NEW_N(scratch, uint32_t, g->n_values);
  uint32_t *out = VT_NEW_N(scratch, uint32_t, g->n_results);
  if (map == NULL || out == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  vt_graph_builder *body = vt_graph_open(gb, NULL, NULL, 0);
  if (body == NULL) return gb->status;
  VT_TRY(bind_ports(g, value, body, map, d));
  VT_TRY(bind_nodes(g, value, body, map, scratch, d));
  for (uint32_t i = 0; i < g->n_results; i++) out[i] = map[g->results[i].value];
  vt_graph_close(body, out, g->n_results);
  return gb->status;
}

static vt_status rebuild(const vt_graph *g, const int64_t *value, vt_graph_builder *gb,
                         vt_arena *scratch, vt_diag *d) {
  uint32_t *map = VT_NEW_N(scratch, uint32_t, g->n_values);
  if (map == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  VT_TRY(bind_ports(g, value, gb, map, d));
  VT_TRY(bind_nodes(g, value, gb, map, scratch, d));
  for (uint32_t i = 0; i < g->n_results; i++)
    vt_graph_add_result(gb, g->results[i].name, map[g->results[i].value]);
  return gb->status;
}

/* A shape that was possible in general and is not with these values is the binding's fault. */
static vt_status blame_binding(vt_status s, vt_diag *d) {
  if (s != VT_VERIFY && s != VT_LIMIT) return s;
  if (d != NULL) d->code = VT_BIND;
  return VT_BIND;
}

vt_status vt_pass_bind(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  int64_t value[VT_MAX_SYMBOLS];
  vt_graph_builder gb;
  vt_arena scratch;
  VT_TRY(find_values(g, o, value, d));
  VT_TRY(vt_graph_begin(&gb, g->name, o->alloc, d));
  vt_arena_init(&scratch, o->alloc);
  vt_status s = rebuild(g, value, &gb, &scratch, d);
  vt_arena_done(&scratch);
  if (s == VT_OK) {
    s = vt_graph_freeze(&gb, out);
  } else {
    vt_graph_drop(&gb);
  }
  return g->dims.n_symbols > 0 ? blame_binding(s, d) : s;
}
