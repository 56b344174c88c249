/* SPDX-License-Identifier: Apache-2.0
 * parse_states.c - parses the statements about states: `state`, which declares a value that lives
 * between runs, and `next`, which gives its value after the run. Once the model is read, it checks
 * that every state has a next value. */
#include "parse_state.h"

/* The state whose name has this entry; NULL if it is the name of something else. */
static const vt_port *find_state_of_entry(const vt_parser *p, const vt_entry *e) {
  const vt_graph *g = p->root.g;
  if (e->kind != VT_ENTRY_PORT) return NULL;
  const vt_port *port = &g->ports[g->values[e->value].index];
  return port->kind == VT_PORT_STATE ? port : NULL;
}

/* Parses a state statement: state k: f32[B, H, S, D] = zeros */
vt_status vt_parse_state(vt_parser *p) {
  char name[VT_NAME_MAX + 1], full[VT_NAME_MAX + 1];
  vt_token at;
  vt_param_spec spec = {.kind = VT_PORT_STATE};
  uint32_t value;
  VT_TRY(vt_parse_name(p, "the name of a state", &at, name));
  VT_TRY(vt_parse_expect(p, ':', "':' and the type of the state"));
  VT_TRY(vt_parse_type(p, &spec.type));
  const vt_status s = vt_parse_expect(p, '=', "'=' and the initialiser of the state");
  if (s != VT_OK) vt_parse_add_hint(p, "a state needs a first value: write = zeros");
  VT_TRY(s);
  VT_TRY(vt_parse_init(p, &spec.init));
  VT_TRY(vt_scope_full_name(p, &at, name, "", full));
  return vt_parse_add_param(p, &at, full, &spec, &value);
}

vt_status vt_parse_set_next(vt_parser *p, const vt_token *at, uint32_t state, uint32_t next) {
  p->root.line = at->line;
  p->root.column = at->column;
  vt_graph_set_next(&p->root, state, next);
  return vt_parse_set_failure_position(p, at, p->root.status);
}

vt_status vt_parse_keep_state(vt_parser *p, const vt_token *at, const char *full) {
  const vt_entry *e = vt_names_find(&p->root_names, full);
  if (e == NULL) return VT_FAIL_AT(p, at, VT_INTERNAL, "the state '%s' is not declared", full);
  return vt_parse_set_next(p, at, e->value, e->value);
}

/* Parses a next statement: next k = scatter_nd(k, index, fresh) */
vt_status vt_parse_next(vt_parser *p) {
  char name[VT_NAME_MAX + 1];
  vt_token at;
  vt_operand o;
  VT_TRY(vt_parse_name(p, "the name of a state", &at, name));
  const vt_entry *e = vt_scope_find_in_model(p, name);
  if (e == NULL) return vt_scope_fail_unknown(p, &at, name);
  const vt_port *state = find_state_of_entry(p, e);
  if (state == NULL) {
    const vt_status s =
        VT_FAIL_AT(p, &at, VT_VERIFY, "'%s' is not a state, so it has no next value", name);
    vt_parse_add_hint(p, "states are declared by 'state'");
    return s;
  }
  const uint32_t value = state->value; /* reading the expression may move the ports */
  VT_TRY(vt_parse_expect(p, '=', "'=' and the next value of the state"));
  VT_TRY(vt_parse_named_expr(p, name, p->root.g->values[value].type.dtype, &o));
  return vt_parse_set_next(p, &at, value, o.value);
}

vt_status vt_parse_check_next_values(vt_parser *p) {
  for (uint32_t i = 0; i < p->root.g->n_ports; i++) {
    const vt_port *port = &p->root.g->ports[i];
    if (port->kind != VT_PORT_STATE || port->next != VT_NO_VALUE) continue;
    const vt_entry *e = vt_names_find(&p->root_names, port->name);
    const vt_token at = {.line = e != NULL ? e->line : 0, .column = e != NULL ? e->column : 0};
    return VT_FAIL_AT(p, &at, VT_VERIFY, "the state '%s' has no next value: write next %s = ...",
                      port->name, port->name);
  }
  return VT_OK;
}

int vt_parse_has_state(const vt_parser *p) {
  for (uint32_t i = 0; i < p->root.g->n_ports; i++)
    if (p->root.g->ports[i].kind == VT_PORT_STATE) return 1;
  return 0;
}
