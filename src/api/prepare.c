/* SPDX-License-Identifier: Apache-2.0
 * prepare.c - options checked, device opened, graph planned, budget held. */
#include "prepare.h"
#include <stdio.h>
#include <string.h>
#include "environment.h"
#include "plan_key.h"
#include "vt_num.h"

vt_options vt_options_read(const vt_options *o, vt_alloc *out_alloc) {
  vt_options options = {0};
  if (o != NULL) memcpy(&options, o, o->size < sizeof options ? o->size : sizeof options);
  const int given = options.alloc != NULL && options.alloc->resize != NULL;
  *out_alloc = given ? *options.alloc : vt_alloc_default();
  return options;
}

static vt_status read_schedule(const char *name, uint32_t *out, vt_diag *d) {
  *out = VT_SCHEDULE_SOURCE;
  if (name == NULL || strcmp(name, "source") == 0) return VT_OK;
  *out = VT_SCHEDULE_MEMORY;
  if (strcmp(name, "memory") == 0) return VT_OK;
  return VT_FAIL(d, VT_USAGE, "there is no schedule '%.60s'; there are: source, memory", name);
}

/* "a,b" as names; "all" as the one name that means all. */
static vt_status read_stream(const char *list, vt_arena *scratch, vt_plan_options *out,
                             vt_diag *d) {
  const char **names = VT_NEW_N(scratch, const char *, list == NULL ? 0 : strlen(list) + 1);
  if (names == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  out->stream = names;
  if (list == NULL) return VT_OK;
  if (strcmp(list, "all") == 0) {
    names[out->n_stream++] = "*";
    return VT_OK;
  }
  for (const char *at = list;; at++) {
    const size_t n = strcspn(at, ",");
    if (n == 0) return VT_FAIL(d, VT_USAGE, "an empty name among the params to stream");
    const char *name = vt_arena_string(scratch, at, n);
    if (name == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
    names[out->n_stream++] = name;
    at += n;
    if (*at == 0) return VT_OK;
  }
}

/* From the cache, if there is one; else made. */
static vt_status recall(const vt_model *m, const vt_options *o, const vt_pass_list *list,
                        const vt_pass_options *passes, const vt_plan_options *how, vt_alloc a,
                        vt_device *dev, vt_pipeline *line, vt_diag *d) {
  if (o->cache == NULL) return vt_pipeline_plan(line, m->g, list, passes, how, dev, d);
  vt_text key;
  vt_text_init(&key, a);
  vt_status s = vt_plan_key(m, list, passes, how, dev, &key, d);
  if (s == VT_OK) s = vt_pipeline_recall(line, m->g, list, passes, how, dev, o->cache, &key, d);
  vt_text_done(&key);
  return s;
}

static vt_status plan(const vt_model *m, const vt_options *o, vt_alloc a, vt_device *dev,
                      vt_pipeline *line, vt_arena *scratch, vt_diag *d) {
  const vt_eval eval = {vt_pipeline_eval, &a};
  const vt_pass_options passes = {.bind = o->bind,
                                  .n_bind = o->n_bind,
                                  .listed = vt_device_lists,
                                  .target = dev,
                                  .eval = &eval,
                                  .alloc = a};
  vt_plan_options options = {0};
  vt_pass_list list;
  VT_TRY(vt_pass_choose(o->passes, &list, d));
  VT_TRY(read_schedule(o->schedule, &options.schedule, d));
  VT_TRY(read_stream(o->stream, scratch, &options, d));
  const vt_status s = recall(m, o, &list, &passes, &options, a, dev, line, d);
  return s == VT_LIMIT ? vt_pass_blame(&passes, s, d) : s;
}

static vt_status hold_budget(const vt_options *o, const vt_pipeline *line, vt_diag *d) {
  const uint64_t need = vt_plan_peak(line->plan);
  if (o->memory_budget == 0 || need <= o->memory_budget) return VT_OK;
  const vt_status s = VT_FAIL(d, VT_BUDGET, "the plan needs %llu bytes, the budget is %llu",
                              (unsigned long long)need, (unsigned long long)o->memory_budget);
  if (d != NULL && d->hint[0] == 0)
    snprintf(d->hint, sizeof d->hint, "the smallest budget that works is %llu",
             (unsigned long long)need);
  return s;
}

vt_status vt_options_open(const vt_options *o, vt_alloc a, vt_device **dev, vt_diag *d) {
  const vt_policy policy = {.allow_unadmitted = o->allow_unadmitted != 0};
  const char *backend = o->backend != NULL ? o->backend : vt_environment_backend();
  return vt_device_open_under(&policy, backend, a, dev, d);
}

vt_status vt_prepare(const vt_model *m, const vt_options *o, vt_alloc a, vt_device **dev,
                     vt_pipeline *line, vt_diag *d) {
  const char *broken = vt_num_self_test();
  if (broken != NULL)
    return VT_FAIL(d, VT_NUMERICS, "this build %s: it refuses to compute", broken);
  VT_TRY(vt_options_open(o, a, dev, d));
  vt_arena scratch;
  vt_arena_init(&scratch, a);
  const vt_status s = plan(m, o, a, *dev, line, &scratch, d);
  vt_arena_done(&scratch);
  return s == VT_OK ? hold_budget(o, line, d) : s;
}
