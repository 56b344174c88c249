/* SPDX-License-Identifier: Apache-2.0
 * pipeline.c - graph -> passes -> plan -> gateway. There is no other way to run anything. */
#include <string.h>
#include "pipeline.h"

static vt_status fill(vt_pipeline *p, const vt_graph *g, const vt_pass_options *o,
                      const vt_plan_options *plan, vt_device *dev, vt_diag *d) {
  VT_TRY(vt_graph_verify(g, d));
  for (; p->n_passes < p->list.n; p->n_passes++) {
    const uint32_t i = p->n_passes;
    VT_TRY(vt_pass_run(p->list.at[i], g, o, &p->after[i], &p->hash[i], d));
    g = p->after[i];
  }
  const vt_target target = vt_device_target(dev);
  return vt_plan_build(g, plan, &target, o->alloc, &p->plan, d);
}

vt_status vt_pipeline_plan(vt_pipeline *p, const vt_graph *g, const vt_pass_list *list,
                           const vt_pass_options *o, const vt_plan_options *plan, vt_device *dev,
                           vt_diag *d) {
  *p = (vt_pipeline){.list = *list};
  const vt_status s = fill(p, g, o, plan, dev, d);
  if (s != VT_OK) vt_pipeline_done(p);
  return s;
}

vt_status vt_pipeline_open(vt_pipeline *p, vt_device *dev, vt_alloc a, vt_diag *d) {
  return vt_exec_new(dev, p->plan, a, &p->exec, d);
}

vt_status vt_pipeline_build(vt_pipeline *p, const vt_graph *g, const vt_pass_list *list,
                            const vt_pass_options *o, vt_device *dev, vt_diag *d) {
  VT_TRY(vt_pipeline_plan(p, g, list, o, NULL, dev, d));
  const vt_status s = vt_pipeline_open(p, dev, o->alloc, d);
  if (s != VT_OK) vt_pipeline_done(p);
  return s;
}

void vt_pipeline_done(vt_pipeline *p) {
  vt_exec_free(p->exec);
  vt_plan_free(p->plan);
  for (uint32_t i = p->n_passes; i-- > 0;) vt_graph_free(p->after[i]);
  memset(p, 0, sizeof *p);
}

const vt_graph *vt_pipeline_graph(const vt_pipeline *p) { return p->after[p->n_passes - 1]; }
