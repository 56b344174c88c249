/* SPDX-License-Identifier: Apache-2.0
 * bundle_make.c - writes a bundle: the text of the model, the tensors of the weights, one at a time
 * and never all in memory, the state, and a plan for each of the options given. */
#include <string.h>
#include "bundle.h"
#include "digest.h"
#include "model.h"
#include "prepare.h"
#include "vt_fpenv.h"
#include "weights.h"

static vt_status fail_no_memory(vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "no memory to write a bundle");
}

typedef struct maker {
  vt_bundle_contents c;
  vt_alloc a;
  vt_arena arena;
  vt_model *model; /* of the text */
  vt_bundle_writer w;
  vt_manifest manifest;
} maker;

/* ---- the model and the options ---- */

static vt_status read_contents(const vt_bundle_contents *c, vt_bundle_contents *out, vt_diag *d) {
  vt_bundle_contents x = {.size = sizeof x};
  if (c == NULL || c->size == 0)
    return VT_FAIL(d, VT_USAGE,
                   "the contents of the bundle are NULL, or their size is 0; it must "
                   "be sizeof(vt_bundle_contents)");
  memcpy(&x, c, c->size < sizeof x ? c->size : sizeof x);
  if (x.model == NULL) return VT_FAIL(d, VT_USAGE, "the model of the bundle is NULL");
  if ((x.n_metadata != 0 && x.metadata == NULL) || (x.n_digests != 0 && x.digests == NULL) ||
      (x.n_plans != 0 && x.plans == NULL))
    return VT_FAIL(d, VT_USAGE, "a list of the contents of the bundle is NULL");
  for (uint32_t i = 0; i < x.n_plans; i++)
    if (x.plans[i] == NULL || x.plans[i]->size == 0)
      return VT_FAIL(d, VT_USAGE, "the options of plan %u are NULL, or their size is 0", i);
  *out = x;
  return VT_OK;
}

static const vt_port *find_port(const vt_model *m, const char *name, uint32_t kind) {
  for (uint32_t i = 0; i < m->g->n_ports; i++)
    if ((m->g->ports[i].kind == kind) && strcmp(m->g->ports[i].name, name) == 0)
      return &m->g->ports[i];
  return NULL;
}

static vt_status check_weights(const maker *k, vt_diag *d) {
  if (k->c.weights != NULL) return vt_weights_check(k->c.weights, k->model, d);
  for (uint32_t i = 0; i < k->model->g->n_ports; i++)
    if (k->model->g->ports[i].kind == VT_PORT_PARAM)
      return VT_FAIL(d, VT_NAME,
                     "the model has parameters, such as '%.100s', so its bundle needs "
                     "weights",
                     k->model->g->ports[i].name);
  return VT_OK;
}

/* ---- the weights ---- */

/* The tensors that are written, in ascending order of their names. */
typedef struct tensors {
  const vt_weight_list *list;
  const vt_weight_entry **entries;
  const char **names;
  vt_tensor *types;
  vt_hash256 *digests;
  uint8_t *leaf; /* VT_DIGEST_LEAF bytes */
  uint32_t n;
} tensors;

static vt_status select_tensors(maker *k, tensors *t, vt_diag *d) {
  const uint32_t most = vt_weights_count(k->c.weights);
  *t = (tensors){.list = k->c.weights != NULL ? &k->c.weights->list : NULL,
                 .entries = VT_NEW_N(&k->arena, const vt_weight_entry *, most),
                 .names = VT_NEW_N(&k->arena, const char *, most),
                 .types = VT_NEW_N(&k->arena, vt_tensor, most),
                 .digests = VT_NEW_N(&k->arena, vt_hash256, most),
                 .leaf = VT_NEW_N(&k->arena, uint8_t, VT_DIGEST_LEAF)};
  if (vt_arena_status(&k->arena) != VT_OK) return fail_no_memory(d);
  for (uint32_t i = 0; i < most; i++) {
    const vt_weight_entry *e = &t->list->entries[i];
    if (find_port(k->model, e->name, VT_PORT_PARAM) == NULL &&
        find_port(k->model, e->name, VT_PORT_STATE) == NULL)
      continue;
    t->entries[t->n] = e;
    t->names[t->n] = e->name;
    t->types[t->n] = e->tensor;
    t->types[t->n++].data = NULL;
  }
  return VT_OK;
}

static vt_status copy_leaves(tensors *t, vt_bundle_writer *w, vt_weight_reader *r, vt_hasher *h,
                             vt_diag *d) {
  const vt_weight_entry *e = r->entry;
  for (uint64_t left = e->bytes, n; left != 0; left -= n) {
    n = left < VT_DIGEST_LEAF ? left : VT_DIGEST_LEAF;
    VT_TRY(vt_weight_reader_next(r, t->leaf, n, d));
    vt_digest_add_leaf(h, t->leaf, (size_t)n, e->tensor.dtype);
    VT_TRY(vt_bundle_writer_add(w, t->leaf, (size_t)n, d));
  }
  return vt_weight_reader_check_end(r, d);
}

/* Copies the elements of tensor `i` to the bundle, and computes its digest on the way. */
static vt_status copy_tensor(void *user, vt_bundle_writer *w, uint32_t i, vt_diag *d) {
  tensors *t = user;
  vt_weight_reader r;
  vt_hasher h;
  VT_TRY(vt_weight_reader_open(t->list, t->entries[i], &r, d));
  vt_digest_begin(&h, &t->types[i]);
  const vt_status s = copy_leaves(t, w, &r, &h, d);
  vt_weight_reader_close(&r);
  if (s == VT_OK) t->digests[i] = vt_hash_done(&h);
  return s;
}

static vt_status write_weights(maker *k, vt_diag *d) {
  tensors t;
  VT_TRY(select_tensors(k, &t, d));
  VT_TRY(
      vt_bundle_write_tensors(&k->w, VT_BUNDLE_WEIGHTS, t.n, t.names, t.types, copy_tensor, &t, d));
  if (vt_run_digest(t.n, t.names, t.digests, k->manifest.weights.b) == VT_OK) return VT_OK;
  return VT_FAIL(d, VT_INTERNAL, "the weights of a bundle are not in the order of their names");
}

/* ---- the state ---- */

static vt_status check_state_tensor(const vt_model *m, const char *name, const vt_tensor *t,
                                    const char *path, vt_diag *d) {
  const vt_port *p = find_port(m, name, VT_PORT_STATE);
  if (p == NULL) return VT_FAIL(d, VT_NAME, "%s: the model has no state '%.100s'", path, name);
  const vt_type *want = &m->g->values[p->value].type;
  if (want->dtype != t->dtype || want->rank != t->rank)
    return VT_FAIL(d, VT_TENSOR, "%s: the state '%.100s' has another type or rank in the model",
                   path, name);
  return VT_OK;
}

vt_status vt_bundle_check_state(const vt_model *m, const vt_archive *file, const char *path,
                                vt_diag *d) {
  const char *name = "";
  vt_tensor t;
  for (uint32_t i = 0; i < vt_archive_count(file); i++) {
    VT_TRY(vt_archive_tensor(file, i, &name, &t));
    VT_TRY(check_state_tensor(m, name, &t, path, d));
  }
  for (uint32_t i = 0; i < m->g->n_ports; i++) {
    const vt_port *p = &m->g->ports[i];
    if (p->kind == VT_PORT_STATE && vt_archive_find(file, p->name, &t, NULL) != VT_OK)
      return VT_FAIL(d, VT_NAME, "%s has no value of the state '%.100s'", path, p->name);
  }
  return VT_OK;
}

static vt_status copy_state_tensor(void *user, vt_bundle_writer *w, uint32_t i, vt_diag *d) {
  const char *name;
  vt_tensor t;
  uint64_t count, bytes;
  VT_TRY(vt_archive_tensor(user, i, &name, &t));
  VT_TRY(vt_tensor_bytes(&t, &count, &bytes, d));
  return bytes != 0 ? vt_bundle_writer_add(w, t.data, (size_t)bytes, d) : VT_OK;
}

static vt_status write_state_tensors(maker *k, vt_archive *file, vt_diag *d) {
  const uint32_t n = vt_archive_count(file);
  const char **names = VT_NEW_N(&k->arena, const char *, n);
  vt_tensor *types = VT_NEW_N(&k->arena, vt_tensor, n);
  if (names == NULL || types == NULL) return fail_no_memory(d);
  VT_TRY(vt_bundle_check_state(k->model, file, k->c.state, d));
  for (uint32_t i = 0; i < n; i++) VT_TRY(vt_archive_tensor(file, i, &names[i], &types[i]));
  return vt_bundle_write_tensors(&k->w, VT_BUNDLE_STATE, n, names, types, copy_state_tensor, file,
                                 d);
}

static vt_status write_state(maker *k, vt_diag *d) {
  vt_archive *file = NULL;
  if (k->c.state == NULL) return VT_OK;
  VT_TRY(vt_archive_read(k->c.state, &k->a, &file, d));
  const vt_status s = write_state_tensors(k, file, d);
  vt_archive_free(file);
  return s;
}

/* ---- plans ---- */

static vt_status write_file(maker *k, const char *name, const void *p, size_t n, vt_diag *d) {
  VT_TRY(vt_bundle_writer_begin(&k->w, name, d));
  VT_TRY(vt_bundle_writer_add(&k->w, p, n, d));
  return vt_bundle_writer_end(&k->w, d);
}

static vt_status write_cached_plan(maker *k, const vt_cached_plan *plan, vt_diag *d) {
  char name[VT_BUNDLE_PLAN_NAME];
  vt_text text;
  vt_bundle_plan_name(plan->key, plan->n_key, name);
  for (uint32_t i = 0; i < k->w.n_files; i++) /* options that differ in nothing that matters */
    if (strcmp(k->w.files[i].name, name) == 0) return VT_OK;
  vt_text_init(&text, k->a);
  vt_cached_plan_print(plan, &text);
  vt_status s = vt_text_status(&text) == VT_OK ? VT_OK : fail_no_memory(d);
  if (s == VT_OK) s = write_file(k, name, text.s, text.n, d);
  vt_text_done(&text);
  return s;
}

/* Makes a plan as a program would, through a cache in memory, because a plan that is made with a
 * cache has its key. */
static vt_status write_plan(maker *k, const vt_options *given, vt_cache *cache, vt_diag *d) {
  vt_alloc a;
  vt_options o = vt_options_copy(given, &a);
  vt_device *dev = NULL;
  vt_pipeline line = {.plan = NULL};
  vt_terms terms = {.fallback = ""};
  vt_fpenv saved;
  o.cache = cache;
  o.bundle = NULL;
  o.weights = NULL;
  o.state = NULL;
  vt_fpenv_enter(&saved); /* the pass `lower` rounds coefficients */
  vt_status s = vt_prepare(k->model, &o, k->a, VT_PREPARE_UNTRIED, &dev, &line, &terms, d);
  vt_fpenv_leave(&saved);
  if (s == VT_OK) s = write_cached_plan(k, line.cached, d);
  vt_pipeline_done(&line);
  vt_device_close(dev);
  return s;
}

static vt_status write_plans(maker *k, vt_diag *d) {
  const vt_cache_options how = {.size = sizeof how, .alloc = &k->a};
  vt_cache *cache = NULL;
  vt_status s = VT_OK;
  if (k->c.n_plans == 0) return VT_OK;
  VT_TRY(vt_cache_new(&how, &cache, d));
  for (uint32_t i = 0; i < k->c.n_plans && s == VT_OK; i++)
    s = write_plan(k, k->c.plans[i], cache, d);
  vt_cache_free(cache);
  return s;
}

/* ---- all of it ---- */

static vt_status write_files(maker *k, vt_diag *d) {
  VT_TRY(write_file(k, VT_BUNDLE_MODEL, k->c.model, k->c.model_bytes, d));
  VT_TRY(write_plans(k, d));
  VT_TRY(write_state(k, d));
  VT_TRY(write_weights(k, d));
  return vt_bundle_writer_commit(&k->w, &k->manifest, d);
}

static vt_status make_bundle(maker *k, const char *path, vt_diag *d) {
  vt_manifest *m = &k->manifest;
  VT_TRY(vt_model_parse(k->c.model, k->c.model_bytes, &k->a, &k->model, d));
  VT_TRY(check_weights(k, d));
  VT_TRY(
      vt_bundle_pairs_copy(k->c.metadata, k->c.n_metadata, "metadata", &k->arena, &m->metadata, d));
  VT_TRY(vt_bundle_pairs_copy(k->c.digests, k->c.n_digests, "digest", &k->arena, &m->digests, d));
  m->n_metadata = k->c.n_metadata;
  m->n_digests = k->c.n_digests;
  m->numerics = VT_NUMERICS_VERSION;
  m->model = k->model->hash;
  VT_TRY(vt_bundle_writer_open(path, k->a, &k->w, d));
  const vt_status s = write_files(k, d);
  vt_bundle_writer_close(&k->w);
  return s;
}

vt_status vt_bundle_write(const char *path, const vt_bundle_contents *c, vt_diag *d) {
  maker k = {.model = NULL};
  vt_diag_clear(d);
  if (path == NULL) return VT_FAIL(d, VT_USAGE, "the path of the bundle is NULL");
  VT_TRY(read_contents(c, &k.c, d));
  k.a = k.c.alloc != NULL && k.c.alloc->resize != NULL ? *k.c.alloc : vt_alloc_default();
  vt_arena_init(&k.arena, k.a);
  const vt_status s = make_bundle(&k, path, d);
  vt_model_free(k.model);
  vt_arena_done(&k.arena);
  return s;
}
