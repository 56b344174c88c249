/* SPDX-License-Identifier: Apache-2.0
 * npz.c - reads and writes npz files: a zip file of npy files, each called NAME.npy.
 *
 * Members are written uncompressed, with the same bytes as numpy.savez. The output of a compressor
 * would depend on its version. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include "vt_num.h"
#include "weight_list.h"
#include "zip.h"

static const char suffix[] = ".npy";
enum { SUFFIX = sizeof suffix - 1 };

/* ---- reading ---- */

/* The name of an array: the member's name without ".npy". */
static vt_status array_name(vt_archive *ar, const vt_member *m, const char **out, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  const size_t n = strlen(m->name);
  if (n <= SUFFIX || strcmp(m->name + n - SUFFIX, suffix) != 0)
    return VT_FAIL(d, VT_FORMAT, "the npz file holds '%s', which is not an npy array",
                   vt_archive_escape(m->name, n, q));
  *out = vt_arena_string(&ar->arena, m->name, n - SUFFIX);
  return *out != NULL ? VT_OK : VT_FAIL(d, VT_NOMEM, "no memory for the names of a npz file");
}

/* Reports a failure inside a member, with the member's name in front. */
static vt_status prefix_failure_with_member(const vt_member *m, vt_status s, const vt_diag *why,
                                            vt_diag *d) {
  char q[VT_QUOTE_MAX];
  if (s == VT_OK || s == VT_NOMEM || s == VT_IO)
    return s == VT_OK ? s : VT_FAIL(d, s, "%s", why->text);
  return VT_FAIL(d, s, "in '%s': %s", vt_archive_escape(m->name, strlen(m->name), q), why->text);
}

static vt_status read_member(vt_archive *ar, const vt_source *src, const vt_member *m, vt_diag *d) {
  const char *name;
  vt_stream s;
  vt_diag why = {.code = VT_OK};
  VT_TRY(array_name(ar, m, &name, d));
  VT_TRY(vt_zip_open_member(ar, src, m, &s, d));
  vt_status status = vt_npy_read(ar, name, &s, m->size, &why);
  if (status == VT_OK) status = vt_zip_check_member(m, &s, &why);
  vt_stream_close(&s);
  return prefix_failure_with_member(m, status, &why, d);
}

static vt_status open_directory(vt_archive *ar, const vt_source *src, vt_zip *out, vt_diag *d) {
  uint64_t total = 0;
  VT_TRY(vt_zip_open(ar, src, out, d));
  for (uint32_t i = 0; i < out->count; i++)
    if (!vt_size_add(total, out->members[i].size, &total) || total > VT_ARCHIVE_FILE_LIMIT)
      return VT_FAIL(d, VT_LIMIT, "the npz file unpacks to more than the %llu bytes accepted",
                     (unsigned long long)VT_ARCHIVE_FILE_LIMIT);
  return VT_OK;
}

vt_status vt_npz_parse(vt_archive *ar, const vt_source *src, vt_diag *d) {
  vt_zip zip;
  ar->format = "npz";
  VT_TRY(open_directory(ar, src, &zip, d));
  for (uint32_t i = 0; i < zip.count; i++) VT_TRY(read_member(ar, src, &zip.members[i], d));
  return VT_OK;
}

/* ---- listing, without reading the elements ---- */

/* A member that is being listed. */
typedef struct listing {
  vt_weight_list *list;
  vt_archive *ar; /* scratch: owns the directory and the headers */
  const vt_member *m;
  vt_stream s; /* the content of the member */
  vt_weight_entry e;
} listing;

/* Reads an array whose elements are in another order than in memory, and moves its data from the
 * scratch archive to the list. */
static vt_status list_in_memory(listing *x, const vt_npy_header *h, vt_diag *d) {
  VT_TRY(vt_npy_read_data(x->ar, x->e.name, &x->s, h, d));
  VT_TRY(vt_zip_check_member(x->m, &x->s, d));
  const vt_entry *read = &x->ar->entries[x->ar->count - 1];
  x->e.tensor = read->tensor;
  vt_canonical(x->e.tensor.data, x->e.tensor.dtype, read->count);
  VT_TRY(vt_weight_list_add(x->list, &x->e, d));
  x->ar->count--;
  return VT_OK;
}

static vt_status list_array(listing *x, vt_diag *d) {
  vt_npy_header h;
  VT_TRY(vt_npy_read_header(&x->ar->arena, &x->s, x->m->size, &h, d));
  if (h.big || h.fortran) return list_in_memory(x, &h, d);
  x->e.tensor = h.type;
  x->e.begin = x->m->begin;
  x->e.end = x->m->end;
  x->e.skip = x->s.given;
  x->e.packing = x->s.unpacker != NULL ? VT_STREAM_DEFLATE : VT_STREAM_PLAIN;
  x->e.crc = x->m->crc;
  x->e.has_crc = 1;
  return vt_weight_list_add(x->list, &x->e, d);
}

static vt_status list_member(vt_weight_list *l, uint32_t file, vt_archive *ar, const vt_member *m,
                             vt_diag *d) {
  listing x = {.list = l, .ar = ar, .m = m, .e = {.file = file}};
  vt_diag why = {.code = VT_OK};
  VT_TRY(array_name(ar, m, &x.e.name, d));
  VT_TRY(vt_zip_open_member(ar, &l->files[file].src, m, &x.s, d));
  const vt_status status = list_array(&x, &why);
  vt_stream_close(&x.s);
  return prefix_failure_with_member(m, status, &why, d);
}

vt_status vt_npz_list(vt_weight_list *l, uint32_t file, vt_diag *d) {
  vt_archive *ar = NULL;
  vt_zip zip = {.count = 0};
  VT_TRY(vt_archive_new(&l->a, &ar, d));
  vt_status s = open_directory(ar, &l->files[file].src, &zip, d);
  for (uint32_t i = 0; s == VT_OK && i < zip.count; i++)
    s = list_member(l, file, ar, &zip.members[i], d);
  vt_archive_free(ar);
  return s;
}

/* ---- writing ---- */

/* CRC of a member. It is stored before the data, so the data is read twice. */
static uint32_t item_crc(const vt_item *x, const uint8_t head[VT_NPY_HEAD]) {
  enum { PIECE = 16 * 1024 };
  _Alignas(64) uint8_t piece[PIECE];
  uLong crc = crc32_z(0, head, VT_NPY_HEAD);
  for (uint64_t at = 0; at < x->bytes; at += PIECE) {
    const size_t n = vt_archive_copy_canonical_piece(x->tensor, x->bytes, at, piece, PIECE);
    crc = crc32_z(crc, piece, n);
  }
  return (uint32_t)crc;
}

typedef struct writer {
  vt_file_writer file;
  vt_text local;     /* local header of the current member */
  vt_text directory; /* directory entries of all members so far */
  uint64_t at;       /* bytes of the file so far */
} writer;

static vt_status write_item(writer *w, const vt_item *x, vt_diag *d) {
  uint8_t head[VT_NPY_HEAD];
  VT_TRY(vt_npy_print_head(x->tensor, head, d));
  const uint32_t crc = item_crc(x, head);
  w->local.n = 0;
  vt_zip_add_local_header(&w->local, x->name, suffix, crc, x->bytes + VT_NPY_HEAD);
  vt_zip_add_directory_entry(&w->directory, x->name, suffix, crc, x->bytes + VT_NPY_HEAD, w->at);
  if (vt_text_status(&w->local) != VT_OK || vt_text_status(&w->directory) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory for the directory of a npz file");
  VT_TRY(vt_file_write(&w->file, w->local.s, w->local.n, d));
  VT_TRY(vt_file_write(&w->file, head, sizeof head, d));
  VT_TRY(vt_archive_write_data(&w->file, x->tensor, x->bytes, d));
  w->at += w->local.n + sizeof head + x->bytes;
  return VT_OK;
}

static vt_status write_members(writer *w, const vt_item *items, uint32_t n, vt_diag *d) {
  for (uint32_t i = 0; i < n; i++) VT_TRY(write_item(w, &items[i], d));
  vt_zip_add_end_records(&w->directory, n, w->at, w->directory.n);
  if (vt_text_status(&w->directory) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory for the directory of a npz file");
  VT_TRY(vt_file_write(&w->file, w->directory.s, w->directory.n, d));
  return vt_file_commit(&w->file, d);
}

/* Refuses tensors that the reader would refuse. */
static vt_status check_items(const vt_item *items, uint32_t n, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  uint8_t head[VT_NPY_HEAD];
  uint64_t total = 0;
  for (uint32_t i = 0; i < n; i++) {
    VT_TRY(vt_npy_print_head(items[i].tensor, head, d));
    if (strlen(items[i].name) > 0xffff - SUFFIX)
      return VT_FAIL(d, VT_LIMIT, "the name '%s' is too long for a npz file",
                     vt_archive_escape(items[i].name, strlen(items[i].name), q));
    if (!vt_size_add(total, items[i].bytes + 2 * VT_NPY_HEAD, &total) ||
        total > VT_ARCHIVE_FILE_LIMIT)
      return VT_FAIL(d, VT_LIMIT, "the tensors are too large for one npz file");
  }
  return VT_OK;
}

static vt_status write_items(const char *path, const vt_item *items, uint32_t n, vt_diag *d) {
  writer w = {.at = 0};
  VT_TRY(vt_file_create(path, &w.file, d));
  vt_text_init(&w.local, vt_alloc_default());
  vt_text_init(&w.directory, vt_alloc_default());
  const vt_status s = write_members(&w, items, n, d);
  vt_file_abort(&w.file);
  vt_text_done(&w.local);
  vt_text_done(&w.directory);
  return s;
}

vt_status vt_npz_write(const char *path, uint32_t n, const char *const *names,
                       const vt_tensor *tensors, vt_diag *d) {
  vt_arena arena;
  vt_arena_init(&arena, vt_alloc_default());
  vt_item *items = VT_NEW_N(&arena, vt_item, n);
  vt_status s = items != NULL ? VT_OK : VT_FAIL(d, VT_NOMEM, "no memory to write tensors");
  if (s == VT_OK)
    s = vt_archive_check_and_sort_items(n, names, tensors, NULL, vt_alloc_default(), items, d);
  if (s == VT_OK) s = check_items(items, n, d);
  if (s == VT_OK) s = write_items(path, items, n, d);
  vt_arena_done(&arena);
  return s;
}
