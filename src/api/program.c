/* SPDX-License-Identifier: Apache-2.0
 * program.c - a program: creates it from a model and options, runs it while its progress goes to
 * the caller's callback, and gives its outputs, its digest, its plan and the texts of its
 * passes. */
#include <stdio.h>
#include <string.h>
#include "digest.h"
#include "program.h"
#include "state.h"
#include "vt_fpenv.h"
#include "vt_num.h"
#include "vt_sort.h"

static vt_status fail_out_of_memory(vt_diag *d) { return VT_FAIL(d, VT_NOMEM, "out of memory"); }

vt_tensor vt_tensor_without_data(const vt_type *t) {
  vt_tensor x = {.dtype = t->dtype, .rank = t->rank};
  memcpy(x.dim, t->dim, sizeof x.dim);
  return x;
}

/* ---- creation ---- */

static int compare_result_names(const void *a, const void *b, const void *context) {
  const vt_graph *g = context;
  return strcmp(g->results[*(const uint32_t *)a].name, g->results[*(const uint32_t *)b].name);
}

/* Returns 1 if the result shares no byte with another result. If it does, its NaNs must not be made
 * canonical in place, because the other result may read the same bytes as another type. */
static int result_shares_no_bytes(const vt_program *p, uint32_t result) {
  const vt_buffer *all = p->line.plan->buffers, *b = &all[p->g->results[result].value];
  for (uint32_t i = 0; i < p->g->n_results; i++) {
    const vt_buffer *other = &all[p->g->results[i].value];
    if (i != result && other->class == b->class && other->offset < b->offset + b->bytes &&
        b->offset < other->offset + other->bytes)
      return 0;
  }
  return 1;
}

/* Sets up output `i`: its data is the device's memory if the host may read that, or else a buffer
 * that read_output_at copies into. */
static vt_status setup_output(vt_program *p, uint32_t i, vt_diag *d) {
  const uint32_t value = p->g->results[p->order[i]].value;
  p->results[i] = vt_tensor_without_data(&p->g->values[value].type);
  if (result_shares_no_bytes(p, p->order[i]))
    p->results[i].data = vt_exec_result_address(p->line.exec, value);
  p->in_place[i] = p->results[i].data != NULL;
  if (p->in_place[i]) return VT_OK;
  p->results[i].data = vt_arena_array(&p->arena, (size_t)p->line.plan->buffers[value].bytes, 1);
  return p->results[i].data != NULL ? VT_OK : fail_out_of_memory(d);
}

/* Sets up all outputs. All buffers are allocated when the program is created, so that runs allocate
 * nothing. */
static vt_status setup_outputs(vt_program *p, vt_diag *d) {
  const vt_graph *g = p->g;
  p->given = VT_NEW_N(&p->arena, uint8_t, g->n_ports);
  p->order = VT_NEW_N(&p->arena, uint32_t, g->n_results);
  p->results = VT_NEW_N(&p->arena, vt_tensor, g->n_results);
  p->in_place = VT_NEW_N(&p->arena, uint8_t, g->n_results);
  p->read = VT_NEW_N(&p->arena, uint8_t, g->n_results);
  if (vt_arena_status(&p->arena) != VT_OK) return fail_out_of_memory(d);
  for (uint32_t i = 0; i < g->n_results; i++) p->order[i] = i;
  if (vt_sort(p->order, g->n_results, sizeof *p->order, compare_result_names, g, p->a) != VT_OK)
    return fail_out_of_memory(d);
  for (uint32_t i = 0; i < g->n_results; i++) VT_TRY(setup_output(p, i, d));
  return VT_OK;
}

static vt_status setup_empty_texts(vt_program *p, vt_diag *d) {
  p->texts = VT_NEW_N(&p->arena, vt_text, (size_t)p->line.n_passes + 1);
  if (p->texts == NULL) return fail_out_of_memory(d);
  for (uint32_t i = 0; i <= p->line.n_passes; i++) vt_text_init(&p->texts[i], p->a);
  return VT_OK;
}

static vt_status setup_program(vt_program *p, const vt_model *m, const vt_options *o, int flags,
                               vt_diag *d) {
  VT_TRY(vt_prepare(m, o, p->a, flags | VT_PREPARE_OPEN, &p->dev, &p->line, &p->terms, d));
  p->g = vt_pipeline_final_graph(&p->line);
  VT_TRY(setup_outputs(p, d));
  for (uint32_t i = 0; i < p->g->n_ports; i++)
    p->given[i] = p->g->ports[i].kind == VT_PORT_STATE ||
                  (p->g->ports[i].kind == VT_PORT_PARAM && p->line.weights != NULL);
  return setup_empty_texts(p, d);
}

vt_status vt_program_new(const vt_model *m, const vt_options *o, vt_program **out_program,
                         vt_diag *d) {
  if (m == NULL) return VT_FAIL(d, VT_USAGE, "the model is NULL");
  if (out_program == NULL) return VT_FAIL(d, VT_USAGE, "out_program is NULL");
  VT_TRY(vt_options_check_size(o, d));
  return vt_program_new_with_flags(m, o, 0, out_program, d);
}

vt_status vt_program_new_with_flags(const vt_model *m, const vt_options *o, int flags,
                                    vt_program **out_program, vt_diag *d) {
  const uint64_t begin = vt_phase_begin();
  vt_alloc a;
  const vt_options options = vt_options_copy(o, &a);
  vt_program *p = vt_alloc_new(a, sizeof *p);
  if (p == NULL) return fail_out_of_memory(d);
  p->counting.inner = a;
  p->a = vt_counting_alloc(&p->counting);
  p->progress = options.progress;
  p->progress_user = options.progress_user;
  vt_arena_init(&p->arena, p->a);
  vt_arena_init(&p->label_arena, p->a);
  vt_fpenv saved;
  /* The pass `lower` rounds coefficients, so it needs the numerics' own mode. */
  vt_fpenv_enter(&saved);
  const vt_status s = setup_program(p, m, &options, flags, d);
  vt_fpenv_leave(&saved);
  if (s == VT_OK) {
    vt_phase_end(p->dev, "program", begin);
    *out_program = p;
  } else {
    vt_program_free(p);
  }
  return s;
}

void vt_program_free(vt_program *p) {
  if (p == NULL) return;
  const vt_alloc a = p->counting.inner;
  for (uint32_t i = 0; p->texts != NULL && i <= p->line.n_passes; i++) vt_text_done(&p->texts[i]);
  vt_pipeline_done(&p->line);
  vt_device_close(p->dev);
  vt_arena_done(&p->label_arena);
  vt_arena_done(&p->arena);
  vt_alloc_free(a, p, sizeof *p);
}

/* ---- running ---- */

static void report_progress(void *user, uint64_t done, uint64_t total) {
  const vt_watch *w = user;
  w->p->progress(w->p->progress_user, w->what, done, total);
}

void vt_program_watch_progress(vt_watch *w, vt_exec *x) {
  if (w->p->progress != NULL) vt_exec_set_progress(x, report_progress, w);
}

/* Fails if an input or a param has no value. */
static vt_status check_all_ports_set(const vt_program *p, vt_diag *d) {
  for (uint32_t i = 0; i < p->g->n_ports; i++) {
    const vt_port *port = &p->g->ports[i];
    if (p->given[i]) continue;
    const int input = port->kind == VT_PORT_INPUT;
    const vt_status s =
        VT_FAIL(d, VT_NAME, "the %s '%s' has no value", input ? "input" : "param", port->name);
    if (d != NULL && input && d->hint[0] == 0)
      snprintf(d->hint, sizeof d->hint, "give --in %.80s=FILE.npy or --random-inputs SEED",
               port->name);
    return s;
  }
  return VT_OK;
}

/* Gets output `i` of the last run: copies it from the device unless the host reads it there, and
 * makes its NaNs canonical. */
static vt_status read_output_at(vt_program *p, uint32_t i, vt_diag *d) {
  const uint32_t value = p->g->results[p->order[i]].value;
  uint64_t count, bytes;
  if (!p->in_place[i]) VT_TRY(vt_exec_read(p->line.exec, value, p->results[i].data, d));
  VT_TRY(vt_tensor_bytes(&p->results[i], &count, &bytes, d));
  if (!vt_exec_has_canonical_nan(p->line.exec))
    vt_canonical(p->results[i].data, p->results[i].dtype, count);
  p->read[i] = 1;
  return VT_OK;
}

/* Makes the outputs of this run readable. Outputs that need a copy are copied when they are first
 * read. */
static vt_status publish_outputs(vt_program *p, vt_diag *d) {
  for (uint32_t i = 0; i < p->g->n_results; i++) {
    p->read[i] = 0;
    const uint32_t value = p->g->results[p->order[i]].value;
    /* A state may change before the caller reads it. */
    const int is_state = p->line.plan->buffers[value].class == VT_CLASS_MODEL_STATE;
    if (p->in_place[i] || is_state) VT_TRY(read_output_at(p, i, d));
  }
  p->published = 1;
  return VT_OK;
}

/* Runs the execution. A failure after the first step that writes a state loses what it writes. */
static vt_status run_with_state(vt_program *p, vt_diag *d) {
  vt_state *state = p->line.state;
  if (state == NULL) {
    VT_TRY(vt_exec_run(p->line.exec, d));
    return publish_outputs(p, d);
  }
  VT_TRY(vt_state_enter(state, d));
  vt_status s = vt_state_check_not_lost(state, d);
  if (s == VT_OK) {
    s = vt_exec_run(p->line.exec, d);
    if (s != VT_OK && vt_exec_may_have_written_state(p->line.exec))
      vt_state_lose(state, p->line.plan);
  }
  if (s == VT_OK) s = publish_outputs(p, d);
  vt_state_leave(state);
  return s;
}

vt_state *vt_program_state(const vt_program *p) { return p != NULL ? p->line.state : NULL; }

vt_status vt_program_set_state(vt_program *p, vt_state *s, vt_diag *d) {
  vt_diag_clear(d);
  if (p == NULL) return VT_FAIL(d, VT_USAGE, "the program is NULL");
  if (s == NULL) return VT_FAIL(d, VT_USAGE, "the state is NULL");
  if (p->line.state == NULL) return VT_FAIL(d, VT_USAGE, "the model has no state");
  VT_TRY(vt_state_check_fits(s, p->dev, p->line.plan, d));
  VT_TRY(vt_exec_set_state(p->line.exec, s->buffer, d));
  vt_state_retain(s);
  vt_state_free(p->line.state);
  p->line.state = s;
  return VT_OK;
}

vt_status vt_program_run(vt_program *p, vt_diag *d) {
  vt_watch watch = {p, "run"};
  const unsigned long long requests = atomic_load(&p->counting.requests);
  p->published = 0;
  VT_TRY(check_all_ports_set(p, d));
  vt_program_watch_progress(&watch, p->line.exec);
  vt_status s = run_with_state(p, d);
  /* The execution must not refer to `watch`, which is on this stack. */
  vt_exec_set_progress(p->line.exec, NULL, NULL);
  p->allocations = atomic_load(&p->counting.requests) - requests;
  return s;
}

uint32_t vt_program_outputs(const vt_program *p) { return p->g->n_results; }

vt_status vt_program_output(vt_program *p, uint32_t i, const char **out_name, vt_tensor *out,
                            vt_diag *d) {
  if (i >= p->g->n_results) return VT_FAIL(d, VT_NAME, "there is no output number %u", i);
  if (!p->published)
    return VT_FAIL(
        d, VT_NAME,
        "the program has no outputs to read: no run has succeeded, or the last one failed");
  if (!p->read[i]) VT_TRY(read_output_at(p, i, d));
  *out_name = p->g->results[p->order[i]].name;
  *out = p->results[i];
  return VT_OK;
}

vt_status vt_program_digest(vt_program *p, uint8_t out[32], vt_diag *d) {
  const uint32_t n = p->g->n_results;
  vt_arena scratch;
  vt_arena_init(&scratch, p->a);
  const char **names = VT_NEW_N(&scratch, const char *, n);
  vt_hash256 *digests = VT_NEW_N(&scratch, vt_hash256, n);
  vt_status s = names == NULL || digests == NULL ? fail_out_of_memory(d) : VT_OK;
  for (uint32_t i = 0; s == VT_OK && i < n; i++) {
    vt_tensor t;
    s = vt_program_output(p, i, &names[i], &t, d);
    if (s == VT_OK) s = vt_tensor_digest(&t, digests[i].b, d);
  }
  if (s == VT_OK && vt_run_digest(n, names, digests, out) != VT_OK)
    s = VT_FAIL(d, VT_INTERNAL, "the outputs are not in the order of their names");
  vt_arena_done(&scratch);
  return s;
}

/* ---- queries ---- */

/* Returns the printed text, or NULL if memory ran out while it was printed. */
static const char *text_or_null(const vt_text *t) {
  return vt_text_status(t) == VT_OK ? t->s : NULL;
}

const char *vt_program_plan(const vt_program *p) {
  vt_text *t = &p->texts[p->line.n_passes];
  if (t->s == NULL) vt_plan_print(p->line.plan, 1, t);
  return text_or_null(t);
}

const char *vt_program_backend(const vt_program *p) { return vt_device_name(p->dev); }
const char *vt_program_device(const vt_program *p) { return vt_device_caps(p->dev)->about; }
int vt_program_unadmitted(const vt_program *p) { return vt_device_unadmitted(p->dev); }
int vt_program_mixed(const vt_program *p) { return p->mixed; }

void vt_program_policy(const vt_program *p, vt_policy *out) {
  vt_policy policy = p->terms.policy;
  policy.size = out->size;
  memcpy(out, &policy, out->size < sizeof policy ? out->size : sizeof policy);
}

const char *vt_program_fallback(const vt_program *p) {
  return p->terms.fallback[0] != 0 ? p->terms.fallback : NULL;
}

int vt_program_plugin(const vt_program *p, uint8_t out[32]) {
  const vt_hash256 *hash = vt_device_plugin_digest(p->dev);
  if (hash != NULL) memcpy(out, hash->b, sizeof hash->b);
  return hash != NULL;
}

void vt_program_plan_digest(const vt_program *p, uint8_t out_core[32], uint8_t out_target[32]) {
  memcpy(out_core, p->line.plan->core.b, 32);
  memcpy(out_target, p->line.plan->target.b, 32);
}

uint32_t vt_program_passes(const vt_program *p) { return p->line.n_passes; }

const char *vt_program_pass(const vt_program *p, uint32_t i) {
  return i < p->line.n_passes ? vt_pass_at(p->line.list.at[i])->name : NULL;
}

/* Returns the index of a pass in the pipeline, or n_passes if the pass did not run. */
static uint32_t find_pass(const vt_program *p, const char *pass) {
  uint32_t i = 0;
  while (i < p->line.n_passes && strcmp(vt_program_pass(p, i), pass) != 0) i++;
  return i;
}

const char *vt_program_pass_text(const vt_program *p, const char *pass) {
  const uint32_t i = find_pass(p, pass);
  if (i == p->line.n_passes || p->line.after[i] == NULL) return NULL;
  vt_text *t = &p->texts[i];
  if (t->s == NULL) vt_graph_print(p->line.after[i], 0, t);
  return text_or_null(t);
}

vt_status vt_program_pass_hash(const vt_program *p, const char *pass, uint8_t out[32]) {
  const uint32_t i = find_pass(p, pass);
  if (i == p->line.n_passes) return VT_NAME;
  if (p->line.cached != NULL) {
    memcpy(out, p->line.cached->after[i].b, 32);
    return VT_OK;
  }
  vt_hash256 hash;
  VT_TRY(vt_graph_hash(p->line.after[i], &hash));
  memcpy(out, hash.b, 32);
  return VT_OK;
}
