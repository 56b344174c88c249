/* SPDX-License-Identifier: Apache-2.0
 * bundle.c - an open bundle: its model, its weights, which are read in place, and its plans. */
#include "bundle.h"
#include <stdio.h>
#include <string.h>
#include "model.h"
#include "state.h"
#include "weights.h"

enum { MODEL_LIMIT = 64 * 1024 * 1024, PLAN_LIMIT = 64 * 1024 * 1024 };

static vt_status fail_no_memory(vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "no memory for a bundle");
}

/* ---- opening ---- */

int vt_bundle_is_at(const char *path) {
  char first[4];
  size_t n = 0;
  if (path == NULL) return 0;
  if (vt_folder_is_at(path)) return 1;
  return vt_file_peek(path, first, sizeof first, &n, NULL) == VT_OK && n == sizeof first &&
         (memcmp(first, "PK\3\4", 4) == 0 || memcmp(first, "PK\5\6", 4) == 0);
}

static int is_plan(const char *name) {
  return strncmp(name, VT_BUNDLE_PLANS, strlen(VT_BUNDLE_PLANS)) == 0;
}

static vt_status parse_model(vt_bundle *b, const vt_file *f, vt_diag *d) {
  VT_TRY(vt_model_parse((const char *)f->data, f->size, &b->a, &b->model, d));
  b->text = vt_arena_string(&b->files.arena, (const char *)f->data, f->size);
  if (b->text == NULL) return fail_no_memory(d);
  if (memcmp(&b->model->hash, &b->files.manifest.model, sizeof b->model->hash) == 0) return VT_OK;
  return VT_FAIL(d, VT_FORMAT, "%s: the model does not have the hash that the manifest says",
                 b->files.path);
}

static vt_status open_model(vt_bundle *b, vt_diag *d) {
  vt_file f;
  const vt_bundle_file *file = vt_bundle_files_find(&b->files, VT_BUNDLE_MODEL);
  VT_TRY(vt_bundle_files_read(&b->files, file, MODEL_LIMIT, &f, d));
  const vt_status s = parse_model(b, &f, d);
  vt_file_done(&f);
  return s;
}

static vt_status open_weights(vt_bundle *b, vt_diag *d) {
  const vt_bundle_file *f = vt_bundle_files_find(&b->files, VT_BUNDLE_WEIGHTS);
  VT_TRY(vt_weights_open_range(&f->src, f->src.path, 0, f->src.size, b->a, &b->weights, d));
  return vt_weights_check(b->weights, b->model, d);
}

static vt_status open_bundle(vt_bundle *b, const char *path, vt_diag *d) {
  b->plans_used = vt_alloc_new(b->a, sizeof *b->plans_used);
  if (b->plans_used == NULL) return fail_no_memory(d);
  atomic_init(b->plans_used, 0);
  VT_TRY(vt_bundle_files_open(path, b->a, &b->files, d));
  const vt_manifest *m = &b->files.manifest;
  if (m->numerics != VT_NUMERICS_VERSION)
    return VT_FAIL(d, VT_UNSUPPORTED,
                   "%s is for version %u of the numerics; this library has version %u, which may "
                   "give other bits",
                   path, m->numerics, VT_NUMERICS_VERSION);
  for (uint32_t i = 0; i < m->n_files; i++) b->n_plans += (uint32_t)is_plan(m->files[i].name);
  VT_TRY(open_model(b, d));
  return open_weights(b, d);
}

vt_status vt_bundle_open(const char *path, const vt_alloc *alloc, vt_bundle **out_bundle,
                         vt_diag *d) {
  const vt_alloc a = alloc != NULL && alloc->resize != NULL ? *alloc : vt_alloc_default();
  vt_diag_clear(d);
  if (path == NULL || out_bundle == NULL)
    return VT_FAIL(d, VT_USAGE, "the path of a bundle, or the bundle to write, is NULL");
  vt_bundle *b = vt_alloc_new(a, sizeof *b);
  if (b == NULL) return fail_no_memory(d);
  b->a = b->files.a = b->files.arena.a = a;
  const vt_status s = open_bundle(b, path, d);
  if (s == VT_OK)
    *out_bundle = b;
  else
    vt_bundle_free(b);
  return s;
}

void vt_bundle_free(vt_bundle *b) {
  if (b == NULL) return;
  const vt_alloc a = b->a;
  vt_weights_free(b->weights);
  vt_model_free(b->model);
  vt_bundle_files_close(&b->files);
  vt_alloc_free(a, b->plans_used, sizeof *b->plans_used);
  vt_alloc_free(a, b, sizeof *b);
}

/* ---- what is in it ---- */

const vt_model *vt_bundle_model(const vt_bundle *b) { return b != NULL ? b->model : NULL; }
vt_weights *vt_bundle_weights(const vt_bundle *b) { return b != NULL ? b->weights : NULL; }
const char *vt_bundle_manifest(const vt_bundle *b) { return b != NULL ? b->files.text : NULL; }
const char *vt_bundle_text(const vt_bundle *b) { return b != NULL ? b->text : NULL; }
uint32_t vt_bundle_plans(const vt_bundle *b) { return b != NULL ? b->n_plans : 0; }

uint64_t vt_bundle_plans_used(const vt_bundle *b) {
  return b != NULL ? atomic_load(b->plans_used) : 0;
}

int vt_bundle_has_state(const vt_bundle *b) {
  return b != NULL && vt_bundle_files_find(&b->files, VT_BUNDLE_STATE) != NULL;
}

vt_status vt_bundle_load_state(const vt_bundle *b, vt_state *s, vt_diag *d) {
  vt_archive *file = NULL;
  vt_diag_clear(d);
  if (b == NULL || s == NULL) return VT_FAIL(d, VT_USAGE, "the bundle or the state is NULL");
  const vt_bundle_file *f = vt_bundle_files_find(&b->files, VT_BUNDLE_STATE);
  if (f == NULL) return VT_FAIL(d, VT_NAME, "%s has no '%s'", b->files.path, VT_BUNDLE_STATE);
  VT_TRY(vt_bundle_files_read_tensors(&b->files, f, &file, d));
  const vt_status status = vt_state_load_archive(s, file, d);
  vt_archive_free(file);
  return status;
}

vt_status vt_bundle_options(const vt_model *m, vt_options *o, vt_diag *d) {
  if (o->bundle == NULL) return VT_OK;
  if (memcmp(&m->hash, &o->bundle->model->hash, sizeof m->hash) != 0)
    return VT_FAIL(d, VT_USAGE,
                   "the model is not that of the bundle: give vt_bundle_model(bundle)");
  if (o->weights == NULL) o->weights = o->bundle->weights;
  return VT_OK;
}

/* ---- plans ---- */

void vt_bundle_plan_name(const char *key, size_t n_key, char out[VT_BUNDLE_PLAN_NAME]) {
  const vt_hash256 hash = vt_hash_bytes(key, n_key);
  char hex[65];
  vt_hash_hex(&hash, hex);
  (void)snprintf(out, VT_BUNDLE_PLAN_NAME, VT_BUNDLE_PLANS "%.32s.plan", hex);
}

/* Tells the listener why a plan is not used. */
static void note_refusal(const vt_bundle *b, const vt_bundle_query *q, const vt_diag *why) {
  char text[640];
  (void)snprintf(text, sizeof text, "a plan of the bundle is ignored, %.200s: %.400s",
                 b->files.path, why->text);
  if (q->note != NULL) q->note(q->note_user, text);
}

vt_status vt_bundle_find_plan(const vt_bundle *b, const vt_bundle_query *q, vt_alloc a,
                              vt_cached_plan **out, vt_diag *d) {
  char name[VT_BUNDLE_PLAN_NAME];
  vt_diag why = {.code = VT_OK};
  vt_file f;
  vt_bundle_plan_name(q->key, q->n_key, name);
  const vt_bundle_file *file = vt_bundle_files_find(&b->files, name);
  *out = NULL;
  if (file == NULL) return VT_OK;
  vt_status s = vt_bundle_files_read(&b->files, file, PLAN_LIMIT, &f, &why);
  if (s == VT_OK) {
    s = vt_cached_plan_parse(f.data, f.size, q->key, q->n_key, q->list, q->target, a, out, &why);
    vt_file_done(&f);
  }
  if (s == VT_NOMEM) return fail_no_memory(d);
  if (s == VT_OK)
    atomic_fetch_add(b->plans_used, 1);
  else
    note_refusal(b, q, &why);
  return VT_OK;
}

/* ---- checking ---- */

static vt_status check_weights_digest(const vt_bundle *b, vt_diag *d) {
  vt_hash256 digest;
  VT_TRY(vt_weights_digest(b->weights, digest.b, d));
  if (memcmp(&digest, &b->files.manifest.weights, sizeof digest) == 0) return VT_OK;
  return VT_FAIL(d, VT_FORMAT, "%s: the weights do not have the digest that the manifest says",
                 b->files.path);
}

static vt_status check_state(const vt_bundle *b, vt_diag *d) {
  vt_archive *file = NULL;
  const vt_bundle_file *f = vt_bundle_files_find(&b->files, VT_BUNDLE_STATE);
  if (f == NULL) return VT_OK;
  VT_TRY(vt_bundle_files_read_tensors(&b->files, f, &file, d));
  const vt_status s = vt_bundle_check_state(b->model, file, f->src.path, d);
  vt_archive_free(file);
  return s;
}

vt_status vt_bundle_check(const vt_bundle *b, vt_diag *d) {
  vt_diag_clear(d);
  if (b == NULL) return VT_FAIL(d, VT_USAGE, "the bundle is NULL");
  const vt_manifest *m = &b->files.manifest;
  for (uint32_t i = 0; i < m->n_files; i++)
    VT_TRY(vt_bundle_files_check(&b->files, &m->files[i], d));
  VT_TRY(check_weights_digest(b, d));
  return check_state(b, d);
}
