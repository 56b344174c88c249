/* SPDX-License-Identifier: Apache-2.0
 * weights.c - weights as an object that programs and threads share: a list of named tensors with a
 * count of references. Elements are read from the files when somebody asks for them. */
#include "weights.h"
#include <string.h>
#include "digest.h"
#include "vt_arena.h"
#include "vt_sort.h"

void vt_diag_clear(vt_diag *d) {
  if (d != NULL) *d = (vt_diag){.code = VT_OK};
}

/* ---- creation ---- */

static vt_status read_options(const vt_weights_options *o, vt_weights_options *out, vt_diag *d) {
  vt_weights_options x = {.size = sizeof x};
  if (o != NULL && o->size == 0)
    return VT_FAIL(d, VT_USAGE,
                   "the size of vt_weights_options is 0; it must be sizeof(vt_weights_options)");
  if (o != NULL) memcpy(&x, o, o->size < sizeof x ? o->size : sizeof x);
  if (x.ignore_extra > 1 || x.convert > 1)
    return VT_FAIL(d, VT_USAGE, "ignore_extra and convert of vt_weights_options must be 0 or 1");
  *out = x;
  return VT_OK;
}

/* Creates weights without tensors, and one reference to them. */
static vt_status new_weights(const vt_weights_options *o, vt_weights **out, vt_diag *d) {
  const vt_alloc a = o->alloc != NULL && o->alloc->resize != NULL ? *o->alloc : vt_alloc_default();
  vt_weights *w = vt_alloc_new(a, sizeof *w);
  if (w == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for weights");
  if (pthread_mutex_init(&w->lock, NULL) != 0) {
    vt_alloc_free(a, w, sizeof *w);
    return VT_FAIL(d, VT_NOMEM, "no memory for the lock of weights");
  }
  w->a = a;
  w->list.a = a;
  w->ignore_extra = o->ignore_extra;
  w->convert = o->convert;
  atomic_init(&w->references, 1);
  *out = w;
  return VT_OK;
}

static vt_status publish(vt_weights *w, vt_status s, vt_weights **out) {
  if (s == VT_OK)
    *out = w;
  else
    vt_weights_free(w);
  return s;
}

static vt_status check_list(uint32_t n, const char *const *list, const char *what, vt_diag *d) {
  for (uint32_t i = 0; i < n; i++)
    if (list == NULL || list[i] == NULL) return VT_FAIL(d, VT_USAGE, "%s %u is NULL", what, i);
  return VT_OK;
}

vt_status vt_weights_read(uint32_t n, const char *const *paths, const vt_weights_options *o,
                          vt_weights **out_weights, vt_diag *d) {
  vt_weights_options options;
  vt_weights *w;
  vt_diag_clear(d);
  if (out_weights == NULL) return VT_FAIL(d, VT_USAGE, "out_weights is NULL");
  if (n == 0) return VT_FAIL(d, VT_USAGE, "no weight file is given");
  VT_TRY(check_list(n, paths, "path", d));
  VT_TRY(read_options(o, &options, d));
  VT_TRY(new_weights(&options, &w, d));
  return publish(w, vt_weight_list_open(n, paths, options.map, w->a, &w->list, d), out_weights);
}

vt_status vt_weights_open_range(const vt_source *src, const char *path, uint64_t begin,
                                uint64_t end, vt_alloc a, vt_weights **out, vt_diag *d) {
  const vt_weights_options options = {.size = sizeof options, .convert = 1, .alloc = &a};
  vt_weights *w;
  VT_TRY(new_weights(&options, &w, d));
  return publish(w, vt_weight_list_open_range(src, path, begin, end, a, &w->list, d), out);
}

vt_status vt_weights_copy(uint32_t n, const char *const *names, const vt_tensor *tensors,
                          const vt_weights_options *o, vt_weights **out_weights, vt_diag *d) {
  vt_weights_options options;
  vt_weights *w;
  vt_diag_clear(d);
  if (out_weights == NULL) return VT_FAIL(d, VT_USAGE, "out_weights is NULL");
  if (n != 0 && tensors == NULL) return VT_FAIL(d, VT_USAGE, "tensors is NULL");
  VT_TRY(check_list(n, names, "name", d));
  VT_TRY(read_options(o, &options, d));
  VT_TRY(new_weights(&options, &w, d));
  const vt_status s = vt_weight_list_copy(n, names, tensors, options.map, w->a, &w->list, d);
  return publish(w, s, out_weights);
}

vt_weights *vt_weights_retain(vt_weights *w) {
  if (w != NULL) atomic_fetch_add(&w->references, 1);
  return w;
}

void vt_weights_free(vt_weights *w) {
  if (w == NULL || atomic_fetch_sub(&w->references, 1) != 1) return;
  const vt_alloc a = w->a;
  vt_weight_list_done(&w->list);
  (void)pthread_mutex_destroy(&w->lock);
  vt_alloc_free(a, w, sizeof *w);
}

/* ---- the tensors ---- */

uint32_t vt_weights_count(const vt_weights *w) { return w != NULL ? w->list.n_entries : 0; }

static vt_status find_entry(const vt_weights *w, uint32_t i, const vt_weight_entry **out,
                            vt_diag *d) {
  if (w == NULL) return VT_FAIL(d, VT_USAGE, "the weights are NULL");
  if (i >= w->list.n_entries)
    return VT_FAIL(d, VT_RANGE, "there is no tensor %u among %u", i, w->list.n_entries);
  *out = &w->list.entries[i];
  return VT_OK;
}

vt_status vt_weights_info(const vt_weights *w, uint32_t i, vt_weight_info *out, vt_diag *d) {
  const vt_weight_entry *e;
  vt_diag_clear(d);
  if (out == NULL) return VT_FAIL(d, VT_USAGE, "out is NULL");
  if (out->size == 0)
    return VT_FAIL(d, VT_USAGE,
                   "the size of vt_weight_info is 0; it must be "
                   "sizeof(vt_weight_info)");
  VT_TRY(find_entry(w, i, &e, d));
  vt_weight_info info = {.size = out->size,
                         .dtype = e->tensor.dtype,
                         .rank = e->tensor.rank,
                         .name = e->name,
                         .name_read = e->name_read,
                         .path = w->list.n_files != 0 ? w->list.files[e->file].path : NULL};
  memcpy(info.dim, e->tensor.dim, sizeof info.dim);
  memcpy(out, &info, out->size < sizeof info ? out->size : sizeof info);
  return VT_OK;
}

/* Reads elements to memory that is not aligned for them, through a buffer that is. */
static vt_status read_unaligned(vt_weight_reader *r, uint8_t *out, vt_diag *d) {
  enum { PIECE = 16 * 1024 };
  _Alignas(64) uint8_t piece[PIECE];
  for (uint64_t at = 0; at < r->entry->bytes;) {
    const uint64_t left = r->entry->bytes - at, n = left < PIECE ? left : PIECE;
    VT_TRY(vt_weight_reader_next(r, piece, n, d));
    memcpy(out + at, piece, (size_t)n);
    at += n;
  }
  return VT_OK;
}

vt_status vt_weights_get(const vt_weights *w, uint32_t i, void *out, vt_diag *d) {
  const vt_weight_entry *e;
  vt_weight_reader r;
  vt_diag_clear(d);
  VT_TRY(find_entry(w, i, &e, d));
  if (out == NULL && e->bytes != 0) return VT_FAIL(d, VT_USAGE, "out is NULL");
  VT_TRY(vt_weight_reader_open(&w->list, e, &r, d));
  vt_status s = (uintptr_t)out % vt_dtype_bytes(e->tensor.dtype) == 0
                    ? vt_weight_reader_next(&r, out, e->bytes, d)
                    : read_unaligned(&r, out, d);
  if (s == VT_OK) s = vt_weight_reader_check_end(&r, d);
  vt_weight_reader_close(&r);
  return s;
}

/* ---- the digest ---- */

/* Hashes the elements of an open reader leaf by leaf; `leaf` has VT_DIGEST_LEAF bytes. */
static vt_status add_leaves(vt_hasher *h, vt_weight_reader *r, uint8_t *leaf, vt_diag *d) {
  const vt_weight_entry *e = r->entry;
  for (uint64_t left = e->bytes, n; left != 0; left -= n) {
    n = left < VT_DIGEST_LEAF ? left : VT_DIGEST_LEAF;
    VT_TRY(vt_weight_reader_next(r, leaf, n, d));
    vt_digest_add_leaf(h, leaf, (size_t)n, e->tensor.dtype);
  }
  return vt_weight_reader_check_end(r, d);
}

static vt_status digest_entry(const vt_weights *w, const vt_weight_entry *e, uint8_t *leaf,
                              vt_hash256 *out, vt_diag *d) {
  vt_weight_reader r;
  vt_hasher h;
  VT_TRY(vt_weight_reader_open(&w->list, e, &r, d));
  vt_digest_begin(&h, &e->tensor);
  const vt_status s = add_leaves(&h, &r, leaf, d);
  vt_weight_reader_close(&r);
  if (s == VT_OK) *out = vt_hash_done(&h);
  return s;
}

static int by_name_read(const void *a, const void *b, const void *context) {
  const vt_weight_entry *const *x = a, *const *y = b;
  (void)context;
  return strcmp((*x)->name_read, (*y)->name_read);
}

/* Memory for the digest of weights. */
typedef struct digest_memory {
  const vt_weight_entry **order; /* in ascending order of the names before renaming */
  const char **names;
  vt_hash256 *digests;
  uint8_t *leaf;
} digest_memory;

static vt_status digest_entries(const vt_weights *w, const digest_memory *m, uint8_t out[32],
                                vt_diag *d) {
  const uint32_t n = w->list.n_entries;
  for (uint32_t i = 0; i < n; i++) m->order[i] = &w->list.entries[i];
  if (vt_sort(m->order, n, sizeof *m->order, by_name_read, NULL, w->a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory for the digest of weights");
  for (uint32_t i = 0; i < n; i++) {
    m->names[i] = m->order[i]->name_read;
    VT_TRY(digest_entry(w, m->order[i], m->leaf, &m->digests[i], d));
  }
  if (vt_run_digest(n, m->names, m->digests, out) == VT_OK) return VT_OK;
  return VT_FAIL(d, VT_NAME, "two tensors had the same name before they were renamed");
}

vt_status vt_weights_digest(const vt_weights *w, uint8_t out[32], vt_diag *d) {
  vt_arena arena;
  vt_diag_clear(d);
  if (w == NULL || out == NULL)
    return VT_FAIL(d, VT_USAGE, "the weights, or the digest to write, are NULL");
  const size_t n = w->list.n_entries;
  vt_arena_init(&arena, w->a);
  const digest_memory m = {VT_NEW_N(&arena, const vt_weight_entry *, n),
                           VT_NEW_N(&arena, const char *, n), VT_NEW_N(&arena, vt_hash256, n),
                           VT_NEW_N(&arena, uint8_t, VT_DIGEST_LEAF)};
  const vt_status s = vt_arena_status(&arena) == VT_OK
                          ? digest_entries(w, &m, out, d)
                          : VT_FAIL(d, VT_NOMEM, "no memory for the digest of weights");
  vt_arena_done(&arena);
  return s;
}
