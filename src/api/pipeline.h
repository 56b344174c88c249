/* SPDX-License-Identifier: Apache-2.0
 * pipeline.h - the one way from a graph to something that runs: passes, plan, gateway. The model
 * itself, the graph of its initialisers and the constants that are folded all take it. */
#ifndef VT_PIPELINE_H
#define VT_PIPELINE_H
#include "kept.h"
#include "vt_gate.h"

typedef struct vt_pipeline {
  vt_pass_list list;
  uint32_t n_passes; /* of the list, that have run */
  vt_graph *after[VT_PASS_COUNT];
  vt_plan *plan;
  vt_exec *exec;
  vt_kept *kept; /* whose the plan and the last graph are, and there are no others; or NULL */
} vt_pipeline;

/* Passes and plan, for a device that is asked and not used. On failure everything is freed and *p
 * is zero. */
vt_status vt_pipeline_plan(vt_pipeline *p, const vt_graph *g, const vt_pass_list *list,
                           const vt_pass_options *o, const vt_plan_options *plan, vt_device *dev,
                           vt_diag *d) VT_NODISCARD;
/* The same, looked up in a cache and else made and kept there. `o->alloc` is left alone. */
vt_status vt_pipeline_recall(vt_pipeline *p, const vt_graph *g, const vt_pass_list *list,
                             const vt_pass_options *o, const vt_plan_options *plan, vt_device *dev,
                             vt_cache *cache, const vt_text *key, vt_diag *d) VT_NODISCARD;
/* Takes the memory of a planned pipeline. */
vt_status vt_pipeline_open(vt_pipeline *p, vt_device *dev, vt_alloc a, vt_diag *d) VT_NODISCARD;
/* Both, the plan as it is by default. */
vt_status vt_pipeline_build(vt_pipeline *p, const vt_graph *g, const vt_pass_list *list,
                            const vt_pass_options *o, vt_device *dev, vt_diag *d) VT_NODISCARD;
void vt_pipeline_done(vt_pipeline *p);
/* The graph that is planned and run. */
const vt_graph *vt_pipeline_graph(const vt_pipeline *p);
/* What folding runs constants with: this pipeline on the reference, with the allocator that `user`
 * points to. */
vt_status vt_pipeline_eval(void *user, const vt_graph *g, void *const *out,
                           vt_diag *d) VT_NODISCARD;
#endif
