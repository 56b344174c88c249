/* SPDX-License-Identifier: Apache-2.0
 * prepare.c - checks the options, opens the device, plans the graph, checks the memory budget,
 * tries the declared capabilities, and falls back to the CPU if the policy says so. */
#include "prepare.h"
#include <stdio.h>
#include <string.h>
#include "bundle.h"
#include "cache.h"
#include "certificate.h"
#include "environment.h"
#include "plan_key.h"
#include "probes.h"
#include "state.h"
#include "vt_num.h"

vt_options vt_options_copy(const vt_options *o, vt_alloc *out_alloc) {
  vt_options options = {0};
  if (o != NULL) memcpy(&options, o, o->size < sizeof options ? o->size : sizeof options);
  const int given = options.alloc != NULL && options.alloc->resize != NULL;
  *out_alloc = given ? *options.alloc : vt_alloc_default();
  return options;
}

vt_status vt_options_check_size(const vt_options *o, vt_diag *d) {
  if (o == NULL || o->size != 0) return VT_OK;
  return VT_FAIL(d, VT_USAGE, "the size of vt_options is 0; it must be sizeof(vt_options)");
}

static vt_status parse_schedule(const char *name, uint32_t *out, vt_diag *d) {
  *out = VT_SCHEDULE_SOURCE;
  if (name == NULL || strcmp(name, "source") == 0) return VT_OK;
  *out = VT_SCHEDULE_MEMORY;
  if (strcmp(name, "memory") == 0) return VT_OK;
  return VT_FAIL(d, VT_USAGE, "there is no schedule '%.60s'; there are: source, memory", name);
}

static vt_status parse_state_mode(const char *name, uint32_t *out_safe, vt_diag *d) {
  *out_safe = name != NULL && strcmp(name, "safe") == 0;
  if (name == NULL || *out_safe || strcmp(name, "in_place") == 0) return VT_OK;
  return VT_FAIL(d, VT_USAGE, "there is no mode of states '%.60s'; there are: in_place, safe",
                 name);
}

/* Parses the list of params to stream: "a,b" into names, and "all" into the name "*", which means
 * all params. */
static vt_status parse_streamed_params(const char *list, vt_arena *scratch, vt_plan_options *out,
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
    if (n == 0) return VT_FAIL(d, VT_USAGE, "the list of params to stream has an empty name");
    const char *name = vt_arena_string(scratch, at, n);
    if (name == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
    names[out->n_stream++] = name;
    at += n;
    if (*at == 0) return VT_OK;
  }
}

/* What vt_prepare is asked for: a plan of a model on the backend o.backend. */
typedef struct request {
  const vt_model *m;
  vt_options o;
  vt_device_options opening; /* options for opening the device */
  vt_alloc a;
  int flags; /* VT_PREPARE_* */
} request;

/* Runs the passes and plans, through the cache and the bundle if the options have them. */
static vt_status run_passes_and_plan(const request *r, const vt_pipeline_request *plan,
                                     vt_pipeline *line, vt_diag *d) {
  if (r->o.cache == NULL && plan->bundle == NULL) return vt_pipeline_plan(line, plan, d);
  vt_text key;
  vt_text_init(&key, r->a);
  vt_status s = vt_plan_key(r->m, plan->list, plan->passes, plan->plan, plan->dev, &key, d);
  if (s == VT_OK) s = vt_pipeline_plan_cached(line, plan, r->o.cache, &key, d);
  vt_text_done(&key);
  return s;
}

static vt_status plan_model(const request *r, vt_device *dev, vt_pipeline *line, vt_arena *scratch,
                            vt_diag *d) {
  vt_alloc a = r->a;
  const vt_eval eval = {vt_pipeline_eval_constants, &a};
  const vt_pass_options passes = {.bind = r->o.bind,
                                  .n_bind = r->o.n_bind,
                                  .listed = vt_device_lists_op,
                                  .target = dev,
                                  .eval = &eval,
                                  .alloc = a};
  vt_plan_options options = {0};
  vt_pass_list list;
  VT_TRY(vt_pass_list_parse(r->o.passes, &list, d));
  VT_TRY(parse_schedule(r->o.schedule, &options.schedule, d));
  VT_TRY(parse_state_mode(r->o.state_mode, &options.safe_state, d));
  VT_TRY(parse_streamed_params(r->o.stream, scratch, &options, d));
  const vt_bundle *plans = vt_bundle_plans(r->o.bundle) != 0 ? r->o.bundle : NULL;
  const vt_pipeline_request plan = {r->m->g, &list, &passes,         &options,
                                    dev,     plans, r->opening.note, r->opening.note_user};
  const vt_status s = run_passes_and_plan(r, &plan, line, d);
  return s == VT_LIMIT ? vt_pass_blame_bindings(&passes, s, d) : s;
}

static vt_status check_memory_budget(const vt_options *o, const vt_pipeline *line, vt_diag *d) {
  const uint64_t need = vt_plan_peak_bytes(line->plan);
  if (o->memory_budget == 0 || need <= o->memory_budget) return VT_OK;
  const vt_status s = VT_FAIL(d, VT_BUDGET, "the plan needs %llu bytes, the budget is %llu",
                              (unsigned long long)need, (unsigned long long)o->memory_budget);
  if (d != NULL && d->hint[0] == 0)
    snprintf(d->hint, sizeof d->hint, "the smallest budget that works is %llu",
             (unsigned long long)need);
  return s;
}

/* ---- policy ---- */

/* Copies and checks the caller's policy; if `given` is NULL, the copy is the strict policy. */
static vt_status read_and_check_policy(const vt_policy *given, vt_policy *out, vt_diag *d) {
  vt_policy p = {0};
  if (given != NULL) memcpy(&p, given, given->size < sizeof p ? given->size : sizeof p);
  p.size = sizeof p;
  if (p.determinism != VT_DETERMINISM_STRICT)
    return VT_FAIL(d, VT_UNSUPPORTED, "the policy's determinism must be strict (0), not %u",
                   p.determinism);
  if (p.precision != VT_PRECISION_LOCKED)
    return VT_FAIL(d, VT_UNSUPPORTED, "the policy's precision must be locked (0), not %u",
                   p.precision);
  if (p.fallback > VT_FALLBACK_CPU || p.mixed_path > VT_MIXED_PATH_ALLOWED ||
      p.admission > VT_ADMISSION_WAIVED || p.capabilities > VT_CAPABILITIES_BELIEVED)
    return VT_FAIL(d, VT_USAGE,
                   "the policy's fallback, mixed_path, admission and capabilities must be 0 or 1");
  *out = p;
  return VT_OK;
}

/* Collects the options for opening the device. A name of an instruction set that is too long is
 * refused, because its first characters could be the name of another one. */
static vt_status read_device_options(const vt_options *o, const vt_policy *policy,
                                     vt_device_options *out, vt_diag *d) {
  *out = (vt_device_options){.admission = policy->admission,
                             .threads = o->threads,
                             .measure = o->measure,
                             .certified = vt_certificate_admits,
                             .user = o->certificate,
                             .isa = o->isa != NULL ? o->isa : vt_environment_isa(),
                             .note = o->note,
                             .note_user = o->note_user};
  if (o->cache != NULL) {
    out->cache = vt_cache_folder(o->cache, &out->cache_bytes);
    out->note = vt_cache_report;
    out->note_user = o->cache;
  }
  if (out->isa != NULL && strlen(out->isa) > VT_ISA_LONGEST)
    return VT_FAIL(d, VT_USAGE, "there is no instruction set '%.60s'", out->isa);
  if (o->threads > VT_THREADS_MOST)
    return VT_FAIL(d, VT_USAGE, "a program has 1 to %d threads, not %u", VT_THREADS_MOST,
                   o->threads);
  return o->threads == 0 ? vt_environment_threads(&out->threads, d) : VT_OK;
}

/* ---- the device ---- */

/* Returns the backend that the options name, else the one that the environment names, else
 * "auto". */
static const char *requested_backend_name(const vt_options *o) {
  return o->backend != NULL ? o->backend : vt_environment_backend();
}

static int is_backend_auto(const vt_options *o) {
  return strcmp(requested_backend_name(o), "auto") == 0;
}

/* Returns "cpu" if this build has no CPU backend, so that opening it reports which ones there
 * are. */
static const char *first_cpu_backend(void) {
  const char *cpu = vt_registry_first_of_kind(VT_KIND_CPU);
  return cpu != NULL ? cpu : "cpu";
}

/* Returns the requested backend, where "auto" means the first GPU of this machine, or the CPU if
 * there is no GPU. Choosing the CPU for "auto" is no fallback, so no reason is reported. */
static const char *resolved_backend_name(const vt_options *o) {
  if (!is_backend_auto(o)) return requested_backend_name(o);
  const char *gpu = vt_registry_first_of_kind(VT_KIND_GPU);
  return gpu != NULL ? gpu : first_cpu_backend();
}

/* Returns 1 if the CPU may succeed: this device is missing, cannot run the plan, or is out of
 * memory. Returns 0 for a misspelt name, which is an error of the caller, and for the CPU itself.
 */
static int is_device_fault(vt_status s, const char *backend) {
  if (!vt_registry_knows_name(backend) || strcmp(backend, first_cpu_backend()) == 0) return 0;
  return s == VT_BACKEND || s == VT_ABI || s == VT_UNSUPPORTED || s == VT_NOMEM;
}

vt_status vt_options_open_device(const vt_options *o, vt_alloc a, vt_device **dev, vt_diag *d) {
  vt_policy policy;
  vt_device_options opening;
  vt_diag why = {0};
  VT_TRY(read_and_check_policy(o->policy, &policy, d));
  VT_TRY(read_device_options(o, &policy, &opening, d));
  const char *name = resolved_backend_name(o);
  vt_status s = vt_device_open_with_options(&opening, name, a, dev, &why);
  if (is_backend_auto(o) && is_device_fault(s, name)) {
    why = (vt_diag){0};
    s = vt_device_open_with_options(&opening, first_cpu_backend(), a, dev, &why);
  }
  if (s != VT_OK && d != NULL && d->code == VT_OK) *d = why;
  return s;
}

int vt_device_same_backend(const vt_device *a, const vt_device *b) {
  const vt_hash256 *x = vt_device_plugin_digest(a), *y = vt_device_plugin_digest(b);
  const char *m = vt_device_name(a), *n = vt_device_name(b);
  if (x != NULL || y != NULL) return x != NULL && y != NULL && memcmp(x->b, y->b, sizeof x->b) == 0;
  const size_t length = (size_t)(strrchr(m, ':') - m);
  return strncmp(m, n, length + 1) == 0;
}

/* A plug-in is never the reference, because it may have any name, "reference" too. */
int vt_device_is_reference(const vt_device *dev) {
  return vt_device_plugin_digest(dev) == NULL &&
         strncmp(vt_device_name(dev), "reference:", 10) == 0;
}

/* ---- plan and device ---- */

/* Plans on an open device; checks the budget and that the device accepts the plan. */
static vt_status plan_and_check_on_device(const request *r, vt_device *dev, vt_pipeline *line,
                                          vt_diag *d) {
  vt_arena scratch;
  vt_arena_init(&scratch, r->a);
  vt_status s = plan_model(r, dev, line, &scratch, d);
  vt_arena_done(&scratch);
  if (s == VT_OK) s = check_memory_budget(&r->o, line, d);
  const uint64_t begin = vt_phase_begin();
  if (s == VT_OK) s = vt_device_check_plan(dev, line->plan, d);
  vt_phase_end(dev, "check", begin);
  return s;
}

/* Tries the capabilities that the plan needs. */
static vt_status try_needed_capabilities(const request *r, vt_device *dev, const vt_pipeline *line,
                                         vt_diag *d) {
  if (vt_device_is_reference(dev)) return VT_OK;
  const uint64_t begin = vt_phase_begin();
  VT_TRY(vt_capabilities_try(dev, &r->o, vt_plan_needed_caps(line->plan), r->a, d));
  vt_phase_end(dev, "try", begin);
  return VT_OK;
}

/* Makes the execution, with the weights of the options and the state that its runs will use: that
 * of the options, or a new one. */
static vt_status open_execution(const request *r, vt_device *dev, vt_pipeline *line, vt_diag *d) {
  const vt_weights_load load = {r->o.weights, dev, &r->opening, r->o.backend, line->plan};
  vt_state *state = r->o.state != NULL ? vt_state_retain(r->o.state) : NULL;
  if (state == NULL && vt_graph_has_state(r->m->g)) VT_TRY(vt_state_new(r->m, &r->o, 0, &state, d));
  if (r->o.weights == NULL && state == NULL) return vt_pipeline_open(line, dev, r->a, d);
  const vt_status s =
      vt_pipeline_open_with(line, dev, r->o.weights != NULL ? &load : NULL, state, r->a, d);
  vt_state_free(state);
  return s;
}

/* Does all of vt_prepare on the backend r->o.backend. */
static vt_status prepare_on_backend(const request *r, vt_device **dev, vt_pipeline *line,
                                    vt_diag *d) {
  VT_TRY(vt_device_open_with_options(&r->opening, r->o.backend, r->a, dev, d));
  VT_TRY(plan_and_check_on_device(r, *dev, line, d));
  if ((r->flags & VT_PREPARE_UNTRIED) == 0) VT_TRY(try_needed_capabilities(r, *dev, line, d));
  return (r->flags & VT_PREPARE_OPEN) != 0 ? open_execution(r, *dev, line, d) : VT_OK;
}

/* Closes the first device and prepares on the CPU. */
static vt_status fall_back_to_cpu(request *r, vt_device **dev, vt_pipeline *line, vt_diag *d) {
  vt_pipeline_done(line);
  vt_device_close(*dev);
  *dev = NULL;
  r->o.backend = first_cpu_backend();
  return prepare_on_backend(r, dev, line, d);
}

vt_status vt_prepare(const vt_model *m, const vt_options *o, vt_alloc a, int flags, vt_device **dev,
                     vt_pipeline *line, vt_terms *terms, vt_diag *d) {
  const char *broken = vt_num_self_test();
  if (broken != NULL)
    return VT_FAIL(d, VT_NUMERICS, "this build %s: it refuses to compute", broken);
  request r = {.m = m, .o = *o, .a = a, .flags = flags};
  vt_diag why = {0};
  VT_TRY(vt_bundle_options(m, &r.o, d));
  if (r.o.weights != NULL) VT_TRY(vt_weights_check(r.o.weights, m, d));
  VT_TRY(read_and_check_policy(o->policy, &terms->policy, d));
  VT_TRY(read_device_options(o, &terms->policy, &r.opening, d));
  if (is_backend_auto(o)) terms->policy.fallback = VT_FALLBACK_CPU;
  r.o.backend = resolved_backend_name(o);
  if (terms->policy.capabilities == VT_CAPABILITIES_BELIEVED) r.flags |= VT_PREPARE_UNTRIED;
  vt_status s = prepare_on_backend(&r, dev, line, &why);
  if (terms->policy.fallback != VT_FALLBACK_NONE && is_device_fault(s, r.o.backend)) {
    snprintf(terms->fallback, sizeof terms->fallback, "%s", why.text);
    why = (vt_diag){0};
    s = fall_back_to_cpu(&r, dev, line, &why);
  }
  if (s != VT_OK && d != NULL && d->code == VT_OK) *d = why;
  /* From now on the device's notes, texts of problems, go to the caller, because the cache may be
   * freed before the program. */
  if (s == VT_OK) vt_device_set_note_listener(*dev, o->note, o->note_user);
  return s;
}
