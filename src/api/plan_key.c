/* SPDX-License-Identifier: Apache-2.0
 * plan_key.c - writes the key of a plan (this build, the options, the target, the model) and the
 * key of a trial (this build, the device, the capability). Any difference in them makes another
 * key. */
#include <string.h>
#include "plan_key.h"
#include "vt_sort.h"

/* A hash of the sources of passes, planner and kernels, written by the build. Another build with
 * the same version number may plan or compute differently, so the version alone is not enough. */
static const char sources[] =
#include "plan_sources.inc"
    ;

/* Appends the head of a key, which names this build of the library. `key_kind`
 * is "plan" or "trial". */
static void add_head(vt_text *out, const char *key_kind) {
  vt_text_add(out, "volta %s key 1\nnumerics %u\nversion %s\nsources %s\n", key_kind,
              VT_NUMERICS_VERSION, vt_version(), sources);
}

/* Appends "label length:name". With its length, no character of a name can be taken for the end of
 * it. */
static void add_sized_name(vt_text *out, const char *label, const char *name, size_t n) {
  vt_text_add(out, "%s %zu:", label, n);
  vt_text_add_bytes(out, name, n);
}

/* ---- options; names are sorted, because their order does not matter ---- */

static int compare_bindings(const void *a, const void *b, const void *context) {
  const vt_binding *x = a, *y = b;
  (void)context;
  const int order = strcmp(x->name, y->name);
  return order != 0 ? order : (x->value > y->value) - (x->value < y->value);
}

static int compare_texts(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static vt_status add_bindings(const vt_pass_options *o, vt_arena *scratch, vt_text *out) {
  if (o->n_bind == 0) return VT_OK;
  vt_binding *sorted = vt_arena_copy(scratch, o->bind, o->n_bind * sizeof *sorted);
  if (sorted == NULL) return VT_NOMEM;
  VT_TRY(vt_sort(sorted, o->n_bind, sizeof *sorted, compare_bindings, NULL, scratch->a));
  for (uint32_t i = 0; i < o->n_bind; i++) {
    add_sized_name(out, "bind", sorted[i].name, strlen(sorted[i].name));
    vt_text_add(out, " %lld\n", (long long)sorted[i].value);
  }
  return VT_OK;
}

static vt_status add_streamed_names(const vt_plan_options *o, vt_arena *scratch, vt_text *out) {
  if (o->n_stream == 0) return VT_OK;
  const char **sorted = vt_arena_copy(scratch, o->stream, o->n_stream * sizeof *sorted);
  if (sorted == NULL) return VT_NOMEM;
  VT_TRY(vt_sort(sorted, o->n_stream, sizeof *sorted, compare_texts, NULL, scratch->a));
  for (uint32_t i = 0; i < o->n_stream; i++) {
    add_sized_name(out, "stream", sorted[i], strlen(sorted[i]));
    vt_text_add(out, "\n");
  }
  return VT_OK;
}

static vt_status add_options(const vt_pass_list *list, const vt_pass_options *passes,
                             const vt_plan_options *plan, vt_text *out) {
  vt_arena scratch;
  for (uint32_t i = 0; i < list->n; i++)
    vt_text_add(out, "pass %s\n", vt_pass_at(list->at[i])->name);
  vt_text_add(out, "schedule %u\n", plan->schedule);
  vt_text_add(out, "safe_state %u\n", plan->safe_state);
  vt_arena_init(&scratch, out->a);
  vt_status s = add_bindings(passes, &scratch, out);
  if (s == VT_OK) s = add_streamed_names(plan, &scratch, out);
  vt_arena_done(&scratch);
  return s;
}

/* ---- the target ---- */

/* Appends the target. The number of the device is left out: devices with the same fingerprint get
 * the same plans. */
static void add_target(vt_device *dev, vt_text *out) {
  const vt_target t = vt_device_target(dev);
  const char *name = vt_device_name(dev);
  add_sized_name(out, "backend", name, strcspn(name, ":"));
  add_sized_name(out, "\nfingerprint", t.fingerprint, strlen(t.fingerprint));
  vt_text_add(out, "\ndense_only %u\nlists", t.dense_only);
  for (uint32_t i = 0; i < vt_op_total(); i++) {
    const uint32_t op = vt_op_at(i)->number;
    if (vt_device_lists_op(dev, op)) vt_text_add(out, " %u", op);
  }
  vt_text_add(out, "\n");
}

/* ---- the model ---- */

/* Appends line and column of each node in the model's file, because messages of failing steps name
 * them. */
static void add_node_lines(const vt_graph *g, vt_text *out) {
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    vt_text_add(out, " %u:%u", n->line, n->column);
    for (uint32_t b = 0; b < n->n_body; b++) add_node_lines(n->body[b], out);
  }
}

vt_status vt_plan_key(const vt_model *m, const vt_pass_list *list, const vt_pass_options *passes,
                      const vt_plan_options *plan, vt_device *dev, vt_text *out, vt_diag *d) {
  add_head(out, "plan");
  vt_status s = add_options(list, passes, plan, out);
  add_target(dev, out);
  vt_text_add(out, "places");
  add_node_lines(m->g, out);
  vt_text_add(out, "\nmodel\n%s", m->text);
  if (s == VT_OK) s = vt_text_status(out);
  return s == VT_OK ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}

/* ---- trials ---- */

/* Appends the facts that the device's backend reports about this build and machine. */
static void add_backend_facts(const char *device, vt_text *out) {
  const size_t n = strcspn(device, ":");
  const char *key;
  char value[600];
  for (uint32_t i = 0; (key = vt_registry_fact(i, NULL, 0)) != NULL; i++) {
    if (strncmp(key, device, n) != 0 || key[n] != '.') continue;
    (void)vt_registry_fact(i, value, sizeof value);
    add_sized_name(out, key, value, strlen(value));
    vt_text_add(out, "\n");
  }
}

vt_status vt_trial_key(const vt_device *dev, const vt_capability *c, vt_text *out) {
  const vt_bk_caps *caps = vt_device_caps(dev);
  const char *name = vt_device_name(dev), *isa = vt_device_isa(dev);
  add_head(out, "trial");
  add_sized_name(out, "device", name, strlen(name));
  add_sized_name(out, "\nabout", caps->about, strlen(caps->about));
  add_sized_name(out, "\nfingerprint", caps->fingerprint, strlen(caps->fingerprint));
  add_sized_name(out, "\nisa", isa, strlen(isa));
  vt_text_add(out, "\nhas %llx\n", (unsigned long long)caps->has);
  add_backend_facts(name, out);
  vt_text_add(out, "capability %s\n", c->name);
  return vt_text_status(out);
}
