/* SPDX-License-Identifier: Apache-2.0
 * pass.c - the pipeline as a list, with the verifier between its passes. */
#include "vt_pass.h"

static const vt_pass_info passes[] = {
#define VT_PASS(name, function, help) {#name, function, help},
#include "passes.def"
#undef VT_PASS
};
enum { N_PASSES = sizeof passes / sizeof *passes };

uint32_t vt_pass_total(void) { return N_PASSES; }

const vt_pass_info *vt_pass_at(uint32_t i) { return i < N_PASSES ? &passes[i] : NULL; }

vt_status vt_pass_run(uint32_t i, const vt_graph *g, const vt_pass_options *o, vt_graph **out,
                      vt_diag *d) {
  vt_graph *made = NULL;
  VT_TRY(passes[i].run(g, o, &made, d));
  const vt_status s = vt_graph_verify(made, d);
  if (s != VT_OK) {
    vt_graph_free(made);
    return s;
  }
  *out = made;
  return VT_OK;
}
