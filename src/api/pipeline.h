/* SPDX-License-Identifier: Apache-2.0
 * pipeline.h - the one way from a graph to something that runs: passes, plan, gateway. The model
 * itself, the graph of its initialisers and the constants that are folded all take it. */
#ifndef VT_PIPELINE_H
#define VT_PIPELINE_H
#include "vt_gate.h"
#include "vt_pass.h"

typedef struct vt_pipeline {
  vt_pass_list list;
  uint32_t n_passes; /* of the list, that have run */
  vt_graph *after[VT_PASS_COUNT];
  vt_hash256 hash[VT_PASS_COUNT];
  vt_plan *plan;
  vt_exec *exec;
} vt_pipeline;

/* On failure everything is freed and *p is zero. */
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
