/* SPDX-License-Identifier: Apache-2.0
 * constant_eval.c - computes the constants for constant folding: the graph without inputs that the
 * pass built runs through the pipeline on the reference. */
#include "pipeline.h"
#include "vt_num.h"

static vt_status run_and_read_results(vt_pipeline *p, void *const *out, vt_diag *d) {
  const vt_graph *g = vt_pipeline_final_graph(p);
  VT_TRY(vt_exec_run(p->exec, d));
  for (uint32_t i = 0; i < g->n_results; i++) {
    const vt_type *t = &g->values[g->results[i].value].type;
    uint64_t count, bytes;
    VT_TRY(vt_type_size(t, &count, &bytes, d));
    VT_TRY(vt_exec_read(p->exec, g->results[i].value, out[i], d));
    vt_canonical(out[i], t->dtype, count);
  }
  return VT_OK;
}

vt_status vt_pipeline_eval_constants(void *user, const vt_graph *g, void *const *out, vt_diag *d) {
  const vt_pass_list list = {2, {VT_PASS_bind, VT_PASS_lower}};
  const vt_pass_options o = {.alloc = *(const vt_alloc *)user};
  vt_device *dev;
  vt_pipeline p;
  VT_TRY(vt_device_open("reference:0", o.alloc, &dev, d));
  const vt_pipeline_request r = {.g = g, .list = &list, .passes = &o, .dev = dev};
  vt_status s = vt_pipeline_build(&p, &r, d);
  if (s == VT_OK) {
    s = run_and_read_results(&p, out, d);
    vt_pipeline_done(&p);
  }
  vt_device_close(dev);
  return s;
}
