/* SPDX-License-Identifier: Apache-2.0
 * pipeline.c - takes a graph through the passes, the planner and the gateway to an execution, with
 * or without a cache. Nothing runs by another path. */
#include <string.h>
#include "bundle.h"
#include "cache.h"
#include "pipeline.h"
#include "state.h"

static vt_status run_passes_and_plan(vt_pipeline *p, const vt_pipeline_request *r, vt_diag *d) {
  const vt_graph *g = r->g;
  uint64_t begin;
  for (; p->n_passes < p->list.n; p->n_passes++) {
    const uint32_t i = p->n_passes;
    begin = vt_phase_begin();
    VT_TRY(vt_pass_run(p->list.at[i], g, r->passes, &p->after[i], d));
    vt_phase_end(r->dev, vt_pass_at(p->list.at[i])->name, begin);
    g = p->after[i];
  }
  const vt_target target = vt_device_target(r->dev);
  begin = vt_phase_begin();
  VT_TRY(vt_plan_build(g, r->plan, &target, r->passes->alloc, &p->plan, d));
  vt_phase_end(r->dev, "plan", begin);
  return VT_OK;
}

vt_status vt_pipeline_plan(vt_pipeline *p, const vt_pipeline_request *r, vt_diag *d) {
  *p = (vt_pipeline){.list = *r->list};
  const vt_status s = run_passes_and_plan(p, r, d);
  if (s != VT_OK) vt_pipeline_done(p);
  return s;
}

/* ---- cached plans ---- */

/* Makes *p the pipeline of a cached plan and takes over the caller's reference to that plan. */
static void use_cached_plan(vt_pipeline *p, vt_cached_plan *k) {
  *p = (vt_pipeline){.list = k->list, .n_passes = k->list.n, .plan = k->plan, .cached = k};
  p->after[k->list.n - 1] = k->g;
}

/* Runs the passes, makes the plan, and moves the last graph and the plan into `k`, together with
 * the hashes of all graphs. The earlier graphs are freed before `k` is shared with other
 * threads. */
static vt_status fill_cached_plan(vt_cached_plan *k, const vt_pipeline_request *r, vt_diag *d) {
  vt_pipeline made;
  vt_pass_options passes = *r->passes;
  vt_pipeline_request request = *r;
  passes.alloc = vt_cached_plan_counting_alloc(k);
  request.list = &k->list;
  request.passes = &passes;
  VT_TRY(vt_pipeline_plan(&made, &request, d));
  vt_status s = VT_OK;
  for (uint32_t i = 0; i < made.n_passes && s == VT_OK; i++)
    s = vt_graph_hash(made.after[i], &k->after[i]);
  if (s == VT_OK) {
    k->g = made.after[made.n_passes - 1];
    k->plan = made.plan;
    made.after[made.n_passes - 1] = NULL;
    made.plan = NULL;
  }
  vt_pipeline_done(&made);
  return s == VT_OK ? VT_OK : VT_FAIL(d, s, "out of memory");
}

/* Looks a plan up in the cache, then in the bundle; *out is NULL if neither has it. The plan of a
 * bundle is not added to the cache, which would only store a second copy of it. */
static vt_status find_plan(const vt_pipeline_request *r, vt_cache *cache, const vt_text *key,
                           vt_cached_plan **out, vt_diag *d) {
  const vt_target target = vt_device_target(r->dev);
  const vt_bundle_query query = {key->s, key->n, r->list, &target, r->note, r->note_user};
  if (cache != NULL) VT_TRY(vt_cache_find_plan(cache, key->s, key->n, r->list, &target, out, d));
  if (*out != NULL || r->bundle == NULL) return VT_OK;
  const vt_alloc a = cache != NULL ? vt_cache_alloc(cache) : r->passes->alloc;
  return vt_bundle_find_plan(r->bundle, &query, a, out, d);
}

vt_status vt_pipeline_plan_cached(vt_pipeline *p, const vt_pipeline_request *r, vt_cache *cache,
                                  const vt_text *key, vt_diag *d) {
  const uint64_t begin = vt_phase_begin();
  vt_cached_plan *k = NULL;
  VT_TRY(find_plan(r, cache, key, &k, d));
  vt_phase_end(r->dev, "recall", begin);
  if (k == NULL && cache == NULL) return vt_pipeline_plan(p, r, d);
  if (k == NULL) {
    k = vt_cached_plan_new(key->s, key->n, r->list, vt_cache_alloc(cache));
    if (k == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
    const vt_status s = fill_cached_plan(k, r, d);
    if (s != VT_OK) {
      vt_cached_plan_release(k);
      return s;
    }
    vt_cache_add_plan(cache, k);
  }
  use_cached_plan(p, k);
  return VT_OK;
}

/* ---- opening ---- */

vt_status vt_pipeline_open(vt_pipeline *p, vt_device *dev, vt_alloc a, vt_diag *d) {
  const uint64_t begin = vt_phase_begin();
  VT_TRY(vt_exec_new(dev, p->plan, a, &p->exec, d));
  vt_phase_end(dev, "open", begin);
  return VT_OK;
}

/* Loads the weights onto the device unless they are there already. */
static vt_status get_weights(vt_pipeline *p, vt_device *dev, const vt_weights_load *l, vt_diag *d) {
  const uint64_t begin = vt_phase_begin();
  VT_TRY(vt_weights_check_shapes(l->weights, p->plan, d));
  p->weights = vt_weights_retain(l->weights);
  VT_TRY(vt_device_weights_get(l, &p->copy, d));
  vt_phase_end(dev, "weights", begin);
  return VT_OK;
}

vt_status vt_pipeline_open_with(vt_pipeline *p, vt_device *dev, const vt_weights_load *l,
                                vt_state *state, vt_alloc a, vt_diag *d) {
  if (state != NULL) VT_TRY(vt_state_check_fits(state, dev, p->plan, d));
  if (state != NULL) p->state = vt_state_retain(state);
  if (l != NULL) VT_TRY(get_weights(p, dev, l, d));
  const uint64_t begin = vt_phase_begin();
  const vt_exec_shared shared = {.params = vt_device_weights_arena(p->copy),
                                 .state = state != NULL ? state->buffer : NULL};
  VT_TRY(vt_exec_new_shared(dev, p->plan, &shared, a, &p->exec, d));
  if (l != NULL) VT_TRY(vt_weights_fill(l, p->copy, p->exec, d));
  vt_phase_end(dev, "open", begin);
  return VT_OK;
}

vt_status vt_pipeline_build(vt_pipeline *p, const vt_pipeline_request *r, vt_diag *d) {
  VT_TRY(vt_pipeline_plan(p, r, d));
  const vt_status s = vt_pipeline_open(p, r->dev, r->passes->alloc, d);
  if (s != VT_OK) vt_pipeline_done(p);
  return s;
}

static vt_status write_init_inputs(const vt_pipeline *p, uint64_t seed, vt_diag *d) {
  const vt_graph *g = vt_pipeline_final_graph(p);
  const uint64_t step = 0;
  for (uint32_t i = 0; i < g->n_ports; i++)
    VT_TRY(vt_exec_write(p->exec, g->ports[i].value,
                         strcmp(g->ports[i].name, "seed") == 0 ? &seed : &step, d));
  return VT_OK;
}

vt_status vt_pipeline_build_init(vt_pipeline *p, const vt_graph *init, vt_device *dev, vt_alloc a,
                                 uint64_t seed, vt_diag *d) {
  const vt_eval eval = {vt_pipeline_eval_constants, &a};
  const vt_pass_options o = {
      .listed = vt_device_lists_op, .target = dev, .eval = &eval, .alloc = a};
  vt_pass_list list;
  VT_TRY(vt_pass_list_parse(NULL, &list, d));
  const vt_pipeline_request r = {.g = init, .list = &list, .passes = &o, .dev = dev};
  VT_TRY(vt_pipeline_build(p, &r, d));
  const vt_status s = write_init_inputs(p, seed, d);
  if (s != VT_OK) vt_pipeline_done(p);
  return s;
}

void vt_pipeline_done(vt_pipeline *p) {
  vt_exec_free(p->exec);
  vt_device_weights_release(p->weights, p->copy);
  vt_weights_free(p->weights);
  vt_state_free(p->state);
  if (p->cached == NULL) {
    vt_plan_free(p->plan);
    for (uint32_t i = p->n_passes; i-- > 0;) vt_graph_free(p->after[i]);
  }
  vt_cached_plan_release(p->cached);
  memset(p, 0, sizeof *p);
}

const vt_graph *vt_pipeline_final_graph(const vt_pipeline *p) { return p->after[p->n_passes - 1]; }
