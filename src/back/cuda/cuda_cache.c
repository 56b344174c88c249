/* SPDX-License-Identifier: Apache-2.0
 * cuda_cache.c - compiled kernels on disk. A file is a title line, the key that the kernel was
 * compiled for, the hash of the cubin, and the cubin. It is checked to its last byte before any of
 * it is used. vt_store checks who may have written a file, makes files appear atomically, and
 * limits the folder's size. */
#include "cuda_cache.h"
#include <stdio.h>
#include <string.h>
#include "vt_store.h"

static const char title[] = "volta kernel 1\n";
enum { TITLE = sizeof title - 1, HEAD = TITLE + 2 * (int)sizeof(vt_hash256) };

static void format_file_name(const vt_hash256 *key, char out[VT_STORE_NAME_MAX]) {
  char hex[65];
  vt_hash_hex(key, hex);
  snprintf(out, VT_STORE_NAME_MAX, "%.32s.cubin", hex);
}

/* ---- reading ---- */

static vt_status check_file(const vt_file *f, const vt_hash256 *key, vt_diag *d) {
  if (f->size <= HEAD || memcmp(f->data, title, TITLE) != 0)
    return VT_FAIL(d, VT_FORMAT, "it is damaged: its first line is wrong");
  if (memcmp(f->data + TITLE, key, sizeof *key) != 0)
    return VT_FAIL(d, VT_FORMAT, "it belongs to another kernel");
  const vt_hash256 hash = vt_hash_bytes(f->data + HEAD, f->size - HEAD);
  if (memcmp(f->data + TITLE + sizeof *key, &hash, sizeof hash) != 0)
    return VT_FAIL(d, VT_FORMAT, "it is damaged: its hash does not match");
  return VT_OK;
}

static vt_status read_entry(const vt_store *store, const vt_hash256 *key, vt_text *out, int *there,
                            vt_diag *d) {
  char name[VT_STORE_NAME_MAX];
  vt_file f;
  format_file_name(key, name);
  VT_TRY(vt_store_read(store, name, out->a, there, &f, d));
  if (!*there) return VT_OK;
  const vt_status s = check_file(&f, key, d);
  if (s == VT_OK) {
    vt_text_add_bytes(out, f.data + HEAD, f.size - HEAD);
    vt_store_touch(store, name);
  }
  vt_file_done(&f);
  return s == VT_OK && vt_text_status(out) != VT_OK ? VT_NOMEM : s;
}

vt_status vt_cuda_cache_find(const vt_cuda_cache *c, const vt_hash256 *key, vt_text *out,
                             int *out_there, vt_diag *why) {
  vt_store store;
  *out_there = 0;
  vt_status s = vt_store_open(&store, c->folder, c->most, why);
  if (s == VT_OK) {
    s = read_entry(&store, key, out, out_there, why);
    vt_store_close(&store);
  }
  if (s != VT_OK) *out_there = 0;
  return s == VT_NOMEM ? s : VT_OK;
}

/* ---- writing ---- */

static vt_status write_entry(const vt_store *store, const vt_hash256 *key, const void *bytes,
                             size_t n, vt_alloc a, vt_diag *d) {
  const vt_hash256 hash = vt_hash_bytes(bytes, n);
  char name[VT_STORE_NAME_MAX];
  uint64_t removed;
  vt_text all;
  format_file_name(key, name);
  vt_text_init(&all, a);
  vt_text_add_bytes(&all, title, TITLE);
  vt_text_add_bytes(&all, key, sizeof *key);
  vt_text_add_bytes(&all, &hash, sizeof hash);
  vt_text_add_bytes(&all, bytes, n);
  vt_status s = vt_text_status(&all);
  if (s != VT_OK)
    (void)VT_FAIL(d, s, "out of memory");
  else
    s = vt_store_write(store, name, all.s, all.n, a, &removed, d);
  vt_text_done(&all);
  return s;
}

vt_status vt_cuda_cache_store(const vt_cuda_cache *c, const vt_hash256 *key, const void *bytes,
                              size_t n, vt_alloc a, vt_diag *d) {
  vt_store store;
  VT_TRY(vt_store_open(&store, c->folder, c->most, d));
  const vt_status s = write_entry(&store, key, bytes, n, a, d);
  vt_store_close(&store);
  return s;
}
