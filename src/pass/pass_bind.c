/* SPDX-License-Identifier: Apache-2.0
 * pass_bind.c - the pass `bind`: replaces every symbolic dimension by its number and infers all
 * shapes again, so conditions that a type rule had to leave open are checked with the numbers. */
#include <stdio.h>
#include <string.h>
#include "rewrite.h"

static vt_status check_binding_names_known(const vt_graph *g, const vt_pass_options *o,
                                           vt_diag *d) {
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

static vt_status read_bindings(const vt_graph *g, const vt_pass_options *o, int64_t *value,
                               vt_diag *d) {
  VT_TRY(check_binding_names_known(g, o, d));
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

static vt_status bind_port(const vt_rewrite_state *s, vt_port *p, vt_type *t, vt_diag *d) {
  const int64_t *value = s->hooks->context;
  VT_TRY(bind_type(s->g, value, t, d));
  if (!p->has_range) return VT_OK;
  VT_TRY(vt_dim_bind(&s->g->dims, value, p->lo, &p->lo, d));
  return vt_dim_bind(&s->g->dims, value, p->hi, &p->hi, d);
}

static vt_status bind_node(vt_rewrite_state *s, const vt_node *n, const uint32_t *in,
                           uint32_t *out) {
  vt_node bound = *n;
  void *attrs;
  vt_diag why = {0};
  const vt_status status = vt_attr_bind(vt_op_get(n->op)->attrs, n->attrs, &s->g->dims,
                                        s->hooks->context, s->scratch, &attrs, &why);
  if (status != VT_OK) return vt_graph_fail(s->gb, status, "'%s': %s", s->gb->label, why.text);
  bound.attrs = attrs;
  return vt_rewrite_copy_node(s, &bound, in, out);
}

/* Appends all bindings to the message, because it is not known which of them is wrong. */
static void append_bindings(const vt_pass_options *o, vt_diag *d) {
  size_t at = strlen(d->text);
  for (uint32_t i = 0; i < o->n_bind && at < sizeof d->text; i++)
    at += (size_t)snprintf(d->text + at, sizeof d->text - at, "%s%.64s=%lld",
                           i == 0 ? ", with " : ",", o->bind[i].name, (long long)o->bind[i].value);
}

vt_status vt_pass_blame_bindings(const vt_pass_options *o, vt_status s, vt_diag *d) {
  if (o->n_bind == 0 || (s != VT_VERIFY && s != VT_LIMIT && s != VT_BIND)) return s;
  if (d != NULL) d->code = VT_BIND;
  if (d != NULL) append_bindings(o, d);
  return VT_BIND;
}

vt_status vt_pass_bind(const vt_graph *g, const vt_pass_options *o, vt_graph **out, vt_diag *d) {
  int64_t value[VT_MAX_SYMBOLS];
  VT_TRY(read_bindings(g, o, value, d));
  const vt_rewrite_hooks hooks = {.context = value, .port = bind_port, .node = bind_node};
  const vt_status s = vt_rewrite_graph(&hooks, g, o->alloc, out, d);
  return vt_pass_blame_bindings(o, s, d);
}
