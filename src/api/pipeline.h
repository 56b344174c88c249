/* SPDX-License-Identifier: Apache-2.0
 * pipeline.h - the one way from a graph to something that runs: passes, plan, gateway. The model
 * itself and the graph of its initialisers both take it. */
#ifndef VT_PIPELINE_H
#define VT_PIPELINE_H
#include "vt_gate.h"
#include "vt_pass.h"

enum { VT_PIPELINE_PASSES = 8 };
typedef struct vt_pipeline {
  uint32_t n_passes;
  vt_graph *after[VT_PIPELINE_PASSES]; /* the graph after each pass */
  vt_plan *plan;
  vt_exec *exec;
} vt_pipeline;

/* On failure everything is freed and *p is zero. */
vt_status vt_pipeline_build(vt_pipeline *p, const vt_graph *g, const vt_pass_options *o,
                            vt_device *dev, vt_diag *d) VT_NODISCARD;
void vt_pipeline_done(vt_pipeline *p);
/* The graph that is planned and run. */
const vt_graph *vt_pipeline_graph(const vt_pipeline *p);
#endif
