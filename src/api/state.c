/* SPDX-License-Identifier: Apache-2.0
 * state.c - the states of a model on a device: one shared buffer with the layout that every plan of
 * the model gives the arena STATE, because the layout depends on the declarations only. Creating a
 * state needs only those bindings that the declarations use, so it reduces the model to a graph of
 * nothing but its states and binds that one. */
#include "state.h"
#include "bundle.h"
#include <stdio.h>
#include <string.h>
#include "digest.h"
#include "model.h"
#include "prepare.h"
#include "vt_fpenv.h"
#include "vt_num.h"
#include "vt_sort.h"
#include "volta/volta_tools.h"

static vt_status fail_out_of_memory(vt_diag *d) { return VT_FAIL(d, VT_NOMEM, "out of memory"); }

/* Begins a public function: clears the diag of an earlier failure, and refuses NULL for `p`, which
 * the message calls `what`. */
static vt_status begin_call(const void *p, const char *what, vt_diag *d) {
  vt_diag_clear(d);
  return p != NULL ? VT_OK : VT_FAIL(d, VT_USAGE, "%s is NULL", what);
}

int vt_graph_has_state(const vt_graph *g) {
  for (uint32_t i = 0; i < g->n_ports; i++)
    if (g->ports[i].kind == VT_PORT_STATE) return 1;
  return 0;
}

/* ---- the graph of the states alone ---- */

/* 1 if a type uses the symbolic dimension, directly or in an expression. */
static int uses_symbol(const vt_dims *dims, const vt_type *t, uint32_t symbol) {
  for (uint32_t i = 0; i < t->rank; i++)
    if (vt_dim_uses_symbol(dims, t->dim[i], symbol)) return 1;
  return 0;
}

static int is_used_by_states(const vt_graph *g, uint32_t symbol) {
  for (uint32_t i = 0; i < g->n_ports; i++)
    if (g->ports[i].kind == VT_PORT_STATE &&
        uses_symbol(&g->dims, &g->values[g->ports[i].value].type, symbol))
      return 1;
  return 0;
}

/* The bindings for the graph of states: the caller's for dimensions that states use, and 1 for the
 * others, which occur nowhere in that graph. */
static vt_status choose_bindings(const vt_graph *g, const vt_options *o,
                                 vt_binding out[VT_MAX_SYMBOLS], uint32_t *out_n, vt_diag *d) {
  uint32_t n = 0;
  for (uint32_t s = 0; s < g->dims.n_symbols; s++) {
    const uint32_t before = n;
    const int used = is_used_by_states(g, s);
    if (!used) out[n++] = (vt_binding){g->dims.symbol[s], 1};
    for (uint32_t i = 0; used && i < o->n_bind; i++) {
      if (strcmp(o->bind[i].name, g->dims.symbol[s]) != 0) continue;
      if (n > before)
        return VT_FAIL(d, VT_BIND, "the dimension '%s' is bound twice", g->dims.symbol[s]);
      out[n++] = o->bind[i];
    }
  }
  *out_n = n;
  return VT_OK;
}

/* Builds a graph that has only the states of `g`, which keep their values. */
static vt_status reduce_to_states(const vt_graph *g, vt_alloc a, vt_graph **out, vt_diag *d) {
  vt_graph_builder gb;
  VT_TRY(vt_graph_begin(&gb, g->name, a, d));
  vt_graph_copy_dims(&gb, &g->dims);
  for (uint32_t i = 0; i < g->n_ports && gb.status == VT_OK; i++) {
    const vt_port *p = &g->ports[i];
    if (p->kind != VT_PORT_STATE) continue;
    const uint32_t value = vt_graph_add_port(&gb, p, &g->values[p->value].type);
    vt_graph_set_next(&gb, value, value);
  }
  if (gb.status == VT_OK) return vt_graph_freeze(&gb, out);
  const vt_status s = gb.status;
  vt_graph_drop(&gb);
  return s;
}

static vt_status bind_states(const vt_graph *g, const vt_options *o, vt_alloc a, vt_graph **out,
                             vt_diag *d) {
  vt_binding bindings[VT_MAX_SYMBOLS];
  vt_pass_options passes = {.bind = bindings, .alloc = a};
  vt_graph *alone = NULL;
  VT_TRY(choose_bindings(g, o, bindings, &passes.n_bind, d));
  VT_TRY(reduce_to_states(g, a, &alone, d));
  const vt_status s = vt_pass_run(VT_PASS_bind, alone, &passes, out, d);
  vt_graph_free(alone);
  return s;
}

/* ---- layout ---- */

/* Lists the states of the bound graph with their places, and returns the bytes of the arena. */
static vt_status list_entries(vt_state *s, const vt_graph *g, uint64_t *out_bytes, vt_diag *d) {
  uint64_t at = 0;
  s->entries = VT_NEW_N(&s->arena, vt_state_entry, g->n_ports);
  if (s->entries == NULL) return fail_out_of_memory(d);
  for (uint32_t i = 0; i < g->n_ports; i++) {
    const vt_port *p = &g->ports[i];
    vt_state_entry e = {.type = g->values[p->value].type, .offset = at};
    uint64_t count;
    VT_TRY(vt_type_size(&e.type, &count, &e.bytes, d));
    e.name = vt_arena_string(&s->arena, p->name, strlen(p->name));
    if (e.name == NULL) return fail_out_of_memory(d);
    at += (e.bytes + VT_PLAN_ALIGNMENT - 1) / VT_PLAN_ALIGNMENT * VT_PLAN_ALIGNMENT;
    if (at > VT_PLAN_MOST_BYTES)
      return VT_FAIL(d, VT_LIMIT, "the states are beyond 2^48 bytes together");
    s->entries[s->n++] = e;
  }
  *out_bytes = at;
  return VT_OK;
}

vt_status vt_state_check_fits(const vt_state *s, const vt_device *dev, const vt_plan *p,
                              vt_diag *d) {
  uint32_t n = 0;
  const char *have = vt_device_name(vt_shared_buffer_home(s->buffer));
  if (!vt_shared_buffer_is_for(s->buffer, dev))
    return VT_FAIL(d, VT_USAGE, "the state is on %s and the program on %s", have,
                   vt_device_name(dev));
  for (uint32_t i = 0; i < p->g->n_ports; i++) {
    const vt_port *port = &p->g->ports[i];
    if (port->kind != VT_PORT_STATE) continue;
    const vt_type *want = &p->g->values[port->value].type;
    const vt_state_entry *e = n < s->n ? &s->entries[n++] : NULL;
    char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
    if (e == NULL || strcmp(e->name, port->name) != 0)
      return VT_FAIL(d, VT_USAGE, "the state is not of this model: it has no '%.100s'", port->name);
    if (!vt_type_equal(&e->type, want) || e->offset != p->buffers[port->value].offset)
      return VT_FAIL(d, VT_TENSOR, "the state '%.100s' is %s, the program needs %s", e->name,
                     vt_type_text(&p->g->dims, &e->type, x), vt_type_text(&p->g->dims, want, y));
  }
  if (n == s->n) return VT_OK;
  return VT_FAIL(d, VT_USAGE, "the state is not of this model, which has no state '%.100s'",
                 s->entries[n].name);
}

/* ---- one user at a time ---- */

vt_status vt_state_enter(vt_state *s, vt_diag *d) {
  if (!atomic_flag_test_and_set_explicit(&s->busy, memory_order_acquire)) return VT_OK;
  return VT_FAIL(d, VT_USAGE, "another thread uses the state: one run or call at a time");
}

void vt_state_leave(vt_state *s) { atomic_flag_clear_explicit(&s->busy, memory_order_release); }

vt_status vt_state_check_not_lost(const vt_state *s, vt_diag *d) {
  for (uint32_t i = 0; i < s->n; i++) {
    if (!s->entries[i].lost) continue;
    const vt_status status = VT_FAIL(
        d, VT_USAGE, "the state '%.100s' was lost when a run failed half way", s->entries[i].name);
    if (d != NULL && d->hint[0] == 0)
      snprintf(d->hint, sizeof d->hint, "set, reset or load it; state_mode \"safe\" keeps it");
    return status;
  }
  return VT_OK;
}

void vt_state_lose(vt_state *s, const vt_plan *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->g->n_ports && n < s->n; i++) {
    const vt_port *port = &p->g->ports[i];
    if (port->kind != VT_PORT_STATE) continue;
    if (port->next != port->value) s->entries[n].lost = 1;
    n++;
  }
}

/* ---- first values ---- */

/* Copies the results of the initialisers into the buffer. */
static vt_status store_first_values(vt_state *s, vt_pipeline *init, vt_diag *d) {
  const vt_graph *g = vt_pipeline_final_graph(init);
  for (uint32_t i = 0; i < g->n_results; i++) {
    const vt_state_entry *e = &s->entries[i];
    if (strcmp(g->results[i].name, e->name) != 0)
      return VT_FAIL(d, VT_INTERNAL, "the initialisers are not in the order of the states");
    void *data = vt_alloc_raw(s->a, (size_t)e->bytes);
    if (data == NULL) return fail_out_of_memory(d);
    vt_status status = vt_exec_read(init->exec, g->results[i].value, data, d);
    vt_canonical(data, e->type.dtype, e->bytes / vt_dtype_bytes(e->type.dtype));
    if (status == VT_OK) status = vt_shared_buffer_write(s->buffer, e->offset, data, e->bytes, d);
    vt_alloc_free(s->a, data, (size_t)e->bytes);
    VT_TRY(status);
  }
  return VT_OK;
}

static vt_status compute_first_values(vt_state *s, uint64_t seed, vt_diag *d) {
  vt_pipeline init;
  VT_TRY(vt_pipeline_build_init(&init, s->init, vt_shared_buffer_home(s->buffer), s->a, seed, d));
  vt_status status = vt_exec_run(init.exec, d);
  if (status == VT_OK) status = store_first_values(s, &init, d);
  vt_pipeline_done(&init);
  return status;
}

static vt_status load_from_weights(vt_state *s, vt_diag *d) {
  const vt_dims no_symbols = {0};
  for (uint32_t i = 0; s->weights != NULL && i < s->n; i++) {
    const vt_state_entry *e = &s->entries[i];
    const vt_status status =
        vt_weights_load_tensor(s->weights, e->name, &e->type, &no_symbols, s->buffer, e->offset, d);
    if (status != VT_OK && status != VT_NAME) return status;
  }
  return VT_OK;
}

static void mark_all(vt_state *s, int lost) {
  for (uint32_t i = 0; i < s->n; i++) s->entries[i].lost = lost;
}

/* Gives all states their first values. If that fails, they are lost. */
static vt_status reset_entered(vt_state *s, uint64_t seed, vt_diag *d) {
  vt_fpenv saved;
  vt_fpenv_enter(&saved);
  mark_all(s, 1);
  vt_status status = compute_first_values(s, seed, d);
  if (status == VT_OK) status = load_from_weights(s, d);
  if (status == VT_OK) status = vt_shared_buffer_share(s->buffer, d);
  if (status == VT_OK) mark_all(s, 0);
  vt_fpenv_leave(&saved);
  return status;
}

vt_status vt_state_reset(vt_state *s, uint64_t seed, vt_diag *d) {
  VT_TRY(begin_call(s, "the state", d));
  VT_TRY(vt_state_enter(s, d));
  const vt_status status = reset_entered(s, seed, d);
  vt_state_leave(s);
  return status;
}

/* ---- creating ---- */

static vt_status init_state(vt_state *s, const vt_model *m, const vt_options *o, uint64_t seed,
                            vt_diag *d) {
  const vt_pass_options passes = {.alloc = s->a};
  vt_graph *bound = NULL;
  vt_device *home = NULL;
  uint64_t bytes = 0;
  if (!vt_graph_has_state(m->g))
    return VT_FAIL(d, VT_USAGE, "the model '%.100s' has no state", vt_model_name(m));
  VT_TRY(bind_states(m->g, o, s->a, &bound, d));
  vt_status status = list_entries(s, bound, &bytes, d);
  if (status == VT_OK) status = vt_pass_build_init(bound, VT_PORT_STATE, &passes, &s->init, d);
  vt_graph_free(bound);
  VT_TRY(status);
  VT_TRY(vt_options_open_device(o, s->a, &home, d));
  VT_TRY(vt_shared_buffer_new(home, bytes, 1, s->a, &s->buffer, d));
  return reset_entered(s, seed, d);
}

vt_status vt_state_new(const vt_model *m, const vt_options *o, uint64_t seed, vt_state **out_state,
                       vt_diag *d) {
  vt_alloc a;
  VT_TRY(begin_call(m, "the model", d));
  if (out_state == NULL) return VT_FAIL(d, VT_USAGE, "out_state is NULL");
  VT_TRY(vt_options_check_size(o, d));
  vt_options options = vt_options_copy(o, &a);
  vt_fpenv saved;
  VT_TRY(vt_bundle_options(m, &options, d));
  vt_state *s = vt_alloc_new(a, sizeof *s);
  if (s == NULL) return fail_out_of_memory(d);
  s->a = a;
  vt_arena_init(&s->arena, a);
  atomic_init(&s->references, 1);
  atomic_flag_clear(&s->busy);
  options.note = NULL; /* the caller's functions may not outlive this call */
  options.progress = NULL;
  if (options.weights != NULL) s->weights = vt_weights_retain(options.weights);
  vt_fpenv_enter(&saved);
  vt_status status = init_state(s, m, &options, seed, d);
  vt_fpenv_leave(&saved);
  if (status == VT_OK && vt_bundle_has_state(options.bundle))
    status = vt_bundle_load_state(options.bundle, s, d);
  if (status == VT_OK) {
    /* The cache of the options, which gets the notes of its devices, may be freed before the state.
     */
    vt_device_set_note_listener(vt_shared_buffer_home(s->buffer), NULL, NULL);
    *out_state = s;
  } else {
    vt_state_free(s);
  }
  return status;
}

vt_state *vt_state_retain(vt_state *s) {
  atomic_fetch_add_explicit(&s->references, 1, memory_order_relaxed);
  return s;
}

void vt_state_free(vt_state *s) {
  if (s == NULL || atomic_fetch_sub_explicit(&s->references, 1, memory_order_acq_rel) != 1) return;
  const vt_alloc a = s->a;
  vt_shared_buffer_free(s->buffer);
  vt_graph_free(s->init);
  vt_weights_free(s->weights);
  vt_arena_done(&s->arena);
  vt_alloc_free(a, s, sizeof *s);
}

/* ---- reading and writing ---- */

uint32_t vt_state_count(const vt_state *s) { return s != NULL ? s->n : 0; }

static vt_tensor tensor_of(const vt_state_entry *e) {
  vt_tensor t = {.dtype = e->type.dtype, .rank = e->type.rank};
  memcpy(t.dim, e->type.dim, sizeof t.dim);
  return t;
}

vt_status vt_state_at(const vt_state *s, uint32_t i, const char **out_name, vt_tensor *out,
                      vt_diag *d) {
  VT_TRY(begin_call(s, "the state", d));
  if (out_name == NULL || out == NULL) return VT_FAIL(d, VT_USAGE, "out_name or out is NULL");
  if (i >= s->n) return VT_FAIL(d, VT_RANGE, "there is no state number %u", i);
  *out_name = s->entries[i].name;
  *out = tensor_of(&s->entries[i]);
  return VT_OK;
}

static vt_status find_entry(const vt_state *s, const char *name, vt_state_entry **out, vt_diag *d) {
  for (uint32_t i = 0; name != NULL && i < s->n; i++)
    if (strcmp(s->entries[i].name, name) == 0) {
      *out = &s->entries[i];
      return VT_OK;
    }
  return VT_FAIL(d, VT_NAME, "the model has no state '%.100s'", name != NULL ? name : "");
}

static vt_status check_tensor(const vt_state_entry *e, const vt_tensor *t, vt_diag *d) {
  const vt_dims no_symbols = {0};
  vt_type have = {.dtype = t->dtype, .rank = t->rank <= VT_MAX_RANK ? t->rank : 0};
  char x[VT_TYPE_TEXT], y[VT_TYPE_TEXT];
  memcpy(have.dim, t->dim, have.rank * sizeof *t->dim);
  if (t->rank > VT_MAX_RANK || !vt_type_equal(&have, &e->type))
    return VT_FAIL(d, VT_TENSOR, "'%.100s' is %s, the state is %s", e->name,
                   vt_type_text(&no_symbols, &have, x), vt_type_text(&no_symbols, &e->type, y));
  if (t->data != NULL || e->bytes == 0) return VT_OK;
  return VT_FAIL(d, VT_TENSOR, "the tensor for '%.100s' has no data", e->name);
}

static vt_status check_entry_not_lost(const vt_state_entry *e, vt_diag *d) {
  if (!e->lost) return VT_OK;
  return VT_FAIL(d, VT_USAGE, "the state '%.100s' was lost when a run failed half way", e->name);
}

static vt_status read_entry(const vt_state *s, const vt_state_entry *e, void *data, vt_diag *d) {
  VT_TRY(check_entry_not_lost(e, d));
  VT_TRY(vt_shared_buffer_read(s->buffer, e->offset, data, e->bytes, d));
  vt_canonical(data, e->type.dtype, e->bytes / vt_dtype_bytes(e->type.dtype));
  return VT_OK;
}

/* Writes the caller's elements with every NaN canonical. */
static vt_status write_elements(vt_state *s, const vt_state_entry *e, const void *data,
                                vt_diag *d) {
  void *copy = vt_alloc_raw(s->a, (size_t)e->bytes);
  if (copy == NULL) return fail_out_of_memory(d);
  if (e->bytes > 0) memcpy(copy, data, (size_t)e->bytes);
  vt_canonical(copy, e->type.dtype, e->bytes / vt_dtype_bytes(e->type.dtype));
  const vt_status status = vt_shared_buffer_write(s->buffer, e->offset, copy, e->bytes, d);
  vt_alloc_free(s->a, copy, (size_t)e->bytes);
  return status;
}

/* Writes one state. If that fails, it is lost, because a part of it may have been written. */
static vt_status write_entry(vt_state *s, vt_state_entry *e, const void *data, vt_diag *d) {
  e->lost = 1;
  VT_TRY(write_elements(s, e, data, d));
  VT_TRY(vt_shared_buffer_share(s->buffer, d));
  e->lost = 0;
  return VT_OK;
}

vt_status vt_state_get(vt_state *s, const char *name, vt_tensor *t, vt_diag *d) {
  vt_state_entry *e;
  VT_TRY(begin_call(s, "the state", d));
  if (t == NULL) return VT_FAIL(d, VT_USAGE, "the tensor is NULL");
  VT_TRY(find_entry(s, name, &e, d));
  VT_TRY(check_tensor(e, t, d));
  VT_TRY(vt_state_enter(s, d));
  const vt_status status = read_entry(s, e, t->data, d);
  vt_state_leave(s);
  return status;
}

vt_status vt_state_set(vt_state *s, const char *name, const vt_tensor *t, vt_diag *d) {
  vt_state_entry *e;
  VT_TRY(begin_call(s, "the state", d));
  if (t == NULL) return VT_FAIL(d, VT_USAGE, "the tensor is NULL");
  VT_TRY(find_entry(s, name, &e, d));
  VT_TRY(check_tensor(e, t, d));
  VT_TRY(vt_state_enter(s, d));
  const vt_status status = write_entry(s, e, t->data, d);
  vt_state_leave(s);
  return status;
}

int vt_state_is_lost(const vt_state *s) {
  for (uint32_t i = 0; s != NULL && i < s->n; i++)
    if (s->entries[i].lost) return 1;
  return 0;
}

/* ---- files and digests ---- */

/* Copies of all states in the caller's memory. */
typedef struct copies {
  vt_arena arena;
  const char **names;
  vt_tensor *tensors;
} copies;

static vt_status copy_all(const vt_state *s, copies *c, vt_diag *d) {
  c->names = VT_NEW_N(&c->arena, const char *, s->n);
  c->tensors = VT_NEW_N(&c->arena, vt_tensor, s->n);
  if (c->names == NULL || c->tensors == NULL) return fail_out_of_memory(d);
  for (uint32_t i = 0; i < s->n; i++) {
    const vt_state_entry *e = &s->entries[i];
    c->names[i] = e->name;
    c->tensors[i] = tensor_of(e);
    c->tensors[i].data = vt_arena_array(&c->arena, (size_t)e->bytes + 1, 1);
    if (c->tensors[i].data == NULL) return fail_out_of_memory(d);
    VT_TRY(read_entry(s, e, c->tensors[i].data, d));
  }
  return VT_OK;
}

static vt_status with_copies(vt_state *s, copies *c, vt_diag *d) {
  vt_arena_init(&c->arena, s->a);
  VT_TRY(vt_state_enter(s, d));
  const vt_status status = copy_all(s, c, d);
  vt_state_leave(s);
  return status;
}

vt_status vt_state_save(vt_state *s, const char *path, vt_diag *d) {
  copies c;
  VT_TRY(begin_call(s, "the state", d));
  if (path == NULL) return VT_FAIL(d, VT_USAGE, "the path is NULL");
  vt_status status = with_copies(s, &c, d);
  if (status == VT_OK) status = vt_safetensors_write(path, s->n, c.names, c.tensors, d);
  vt_arena_done(&c.arena);
  return status;
}

static int by_name(const void *a, const void *b, const void *context) {
  const vt_state_entry *entries = ((const vt_state *)context)->entries;
  return strcmp(entries[*(const uint32_t *)a].name, entries[*(const uint32_t *)b].name);
}

static vt_status digest_copies(const vt_state *s, copies *c, uint8_t out[32], vt_diag *d) {
  uint32_t *order = VT_NEW_N(&c->arena, uint32_t, s->n);
  const char **names = VT_NEW_N(&c->arena, const char *, s->n);
  vt_hash256 *digests = VT_NEW_N(&c->arena, vt_hash256, s->n);
  if (order == NULL || names == NULL || digests == NULL) return fail_out_of_memory(d);
  for (uint32_t i = 0; i < s->n; i++) order[i] = i;
  if (vt_sort(order, s->n, sizeof *order, by_name, s, s->a) != VT_OK) return fail_out_of_memory(d);
  for (uint32_t i = 0; i < s->n; i++) {
    names[i] = s->entries[order[i]].name;
    VT_TRY(vt_tensor_digest(&c->tensors[order[i]], digests[i].b, d));
  }
  return vt_run_digest(s->n, names, digests, out) == VT_OK
             ? VT_OK
             : VT_FAIL(d, VT_INTERNAL, "the states are not in the order of their names");
}

vt_status vt_state_digest(vt_state *s, uint8_t out[32], vt_diag *d) {
  copies c;
  VT_TRY(begin_call(s, "the state", d));
  if (out == NULL) return VT_FAIL(d, VT_USAGE, "out is NULL");
  vt_status status = with_copies(s, &c, d);
  if (status == VT_OK) status = digest_copies(s, &c, out, d);
  vt_arena_done(&c.arena);
  return status;
}

/* Checks that the file has exactly the states, before any of them changes. */
static vt_status check_file(const vt_state *s, const vt_archive *file, vt_diag *d) {
  for (uint32_t i = 0; i < s->n; i++) {
    vt_tensor t;
    VT_TRY(vt_archive_find(file, s->entries[i].name, &t, d));
    VT_TRY(check_tensor(&s->entries[i], &t, d));
  }
  for (uint32_t i = 0; i < vt_archive_count(file); i++) {
    const char *name = "";
    vt_tensor t;
    vt_state_entry *e;
    VT_TRY(vt_archive_tensor(file, i, &name, &t));
    VT_TRY(find_entry(s, name, &e, d));
  }
  return VT_OK;
}

/* Writes all states. If that fails half way, all of them are lost, because they are a mixture. */
static vt_status write_all(vt_state *s, const vt_archive *file, vt_diag *d) {
  mark_all(s, 1);
  for (uint32_t i = 0; i < s->n; i++) {
    vt_tensor t;
    VT_TRY(vt_archive_find(file, s->entries[i].name, &t, d));
    VT_TRY(write_elements(s, &s->entries[i], t.data, d));
  }
  VT_TRY(vt_shared_buffer_share(s->buffer, d));
  mark_all(s, 0);
  return VT_OK;
}

vt_status vt_state_load_archive(vt_state *s, const vt_archive *file, vt_diag *d) {
  VT_TRY(check_file(s, file, d));
  VT_TRY(vt_state_enter(s, d));
  const vt_status status = write_all(s, file, d);
  vt_state_leave(s);
  return status;
}

vt_status vt_state_load(vt_state *s, const char *path, vt_diag *d) {
  vt_archive *file = NULL;
  VT_TRY(begin_call(s, "the state", d));
  if (path == NULL) return VT_FAIL(d, VT_USAGE, "the path is NULL");
  VT_TRY(vt_archive_read(path, &s->a, &file, d));
  const vt_status status = vt_state_load_archive(s, file, d);
  vt_archive_free(file);
  return status;
}
