/* SPDX-License-Identifier: Apache-2.0
 * pass_init.c - builds a graph that computes the initial values of parameters or of states. They
 * are computed as a program like any other, so they have the same bits on every backend. Parameters
 * without an initialiser have no result in the graph. */
#include "vt_pass.h"

static uint32_t add_scalar_i64_input(vt_graph_builder *gb, const char *name) {
  const vt_type type = {.dtype = VT_DTYPE_I64};
  const vt_port port = {.name = name, .kind = VT_PORT_INPUT};
  return vt_graph_add_port(gb, &port, &type);
}

vt_status vt_pass_build_init(const vt_graph *g, uint32_t kind, const vt_pass_options *o,
                             vt_graph **out, vt_diag *d) {
  vt_graph_builder gb;
  VT_TRY(vt_graph_begin(&gb, g->name, o->alloc, d));
  const uint32_t seed = add_scalar_i64_input(&gb, "seed"), step = add_scalar_i64_input(&gb, "step");
  uint32_t made = 0;
  for (uint32_t i = 0; i < g->n_ports && gb.status == VT_OK; i++) {
    const vt_port *p = &g->ports[i];
    if (p->kind != kind || p->init == 0) continue;
    const vt_init_args args = {&gb.b, &g->values[p->value].type, p->init_attrs, seed, step};
    gb.label = p->name;
    vt_graph_add_result(&gb, p->name, vt_init_get(p->init)->build(&args));
    made++;
  }
  if (made > 0 && gb.status == VT_OK) return vt_graph_freeze(&gb, out);
  const vt_status s = gb.status;
  vt_graph_drop(&gb);
  if (s == VT_OK) *out = NULL;
  return s;
}
