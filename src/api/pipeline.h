/* SPDX-License-Identifier: Apache-2.0
 * pipeline.h - the only path from a graph to something that runs: passes, then a plan, then an
 * execution of the plan on a device. The model itself, the graph of its initialisers and the
 * constants of constant folding all take it. Private to the api. */
#ifndef VT_PIPELINE_H
#define VT_PIPELINE_H
#include "cached_plan.h"
#include "vt_gate.h"
#include "weights_device.h"

typedef struct vt_pipeline {
  vt_pass_list list; /* the passes, in their order */
  uint32_t n_passes; /* how many of these passes have run */
  /* The graph after each pass; if the plan is a cached one, only the last. */
  vt_graph *after[VT_PASS_COUNT];
  vt_plan *plan;       /* the plan of the last graph */
  vt_exec *exec;       /* the execution of the plan; NULL until vt_pipeline_open */
  vt_weights *weights; /* the weights that its parameters are, or NULL; owned: one reference */
  vt_state *state;     /* what runs use as state, or NULL; owned: one reference */
  /* The copy of the weights that the execution reads; NULL: it has its own. */
  vt_device_weights *copy;
  /* Owner of the plan and of the last graph; if NULL, the pipeline owns them. */
  vt_cached_plan *cached;
} vt_pipeline;

/* The inputs of a pipeline. */
typedef struct vt_pipeline_request {
  const vt_graph *g;             /* the graph before the passes */
  const vt_pass_list *list;      /* the passes to run */
  const vt_pass_options *passes; /* options of the passes; their allocator makes everything */
  const vt_plan_options *plan;   /* options of the planner; NULL: the default */
  vt_device *dev;                /* the device to plan for */
  const vt_bundle *bundle;       /* the bundle whose plans may be used; NULL: none */
  void (*note)(void *user, const char *text); /* is told about a plan that is refused; or NULL */
  void *note_user;
} vt_pipeline_request;

/* Runs the passes and makes the plan. The device is queried; no memory is taken on it. On failure
 * everything is freed and *p is zero. */
vt_status vt_pipeline_plan(vt_pipeline *p, const vt_pipeline_request *r, vt_diag *d) VT_NODISCARD;
/* Does the same as vt_pipeline_plan with a cache or a bundle, or both: the plan of `key` is looked
 * up in the cache, then in the bundle, and if it is missing it is made, and added to the cache.
 * With a cache, `r->passes->alloc` is ignored, because a cached plan uses the cache's allocator. */
vt_status vt_pipeline_plan_cached(vt_pipeline *p, const vt_pipeline_request *r, vt_cache *cache,
                                  const vt_text *key, vt_diag *d) VT_NODISCARD;
/* Makes the execution of the pipeline's plan on a device. This allocates all memory that runs
 * need. */
vt_status vt_pipeline_open(vt_pipeline *p, vt_device *dev, vt_alloc a, vt_diag *d) VT_NODISCARD;
/* Does the same for a program with weights, with a state, or with both. The pipeline keeps a
 * reference to each. `l` is NULL without weights, `state` without states. */
vt_status vt_pipeline_open_with(vt_pipeline *p, vt_device *dev, const vt_weights_load *l,
                                vt_state *state, vt_alloc a, vt_diag *d) VT_NODISCARD;
/* Calls vt_pipeline_plan, then vt_pipeline_open with the same allocator. */
vt_status vt_pipeline_build(vt_pipeline *p, const vt_pipeline_request *r, vt_diag *d) VT_NODISCARD;
/* Builds the pipeline of a graph of initialisers (vt_pass_build_init) and gives it its inputs, this
 * seed and step 0. The caller runs it and reads the results. */
vt_status vt_pipeline_build_init(vt_pipeline *p, const vt_graph *init, vt_device *dev, vt_alloc a,
                                 uint64_t seed, vt_diag *d) VT_NODISCARD;
void vt_pipeline_done(vt_pipeline *p);
/* The graph after the last pass, which is planned and run. */
const vt_graph *vt_pipeline_final_graph(const vt_pipeline *p);
/* Computes the results of a graph without inputs on the reference, into out[] by result. Constant
 * folding calls it as vt_eval.eval; `user` points to the vt_alloc to use. */
vt_status vt_pipeline_eval_constants(void *user, const vt_graph *g, void *const *out,
                                     vt_diag *d) VT_NODISCARD;
#endif
