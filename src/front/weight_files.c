/* SPDX-License-Identifier: Apache-2.0
 * weight_files.c - the list of the tensors of one or more weight files: opens the files, lists
 * their tensors without reading the elements, finds one by name, and reads the elements of one. */
#include "weight_list.h"
#include <stdio.h>
#include <string.h>
#include "vt_num.h"
#include "vt_sort.h"

/* ---- names and paths in messages ---- */

const char *vt_weight_quote(const char *name, char out[VT_WEIGHT_QUOTE]) {
  enum { MOST = 64 };
  const size_t n = strlen(name);
  vt_archive_escape(name, n < MOST ? n : MOST, out);
  const size_t length = strlen(out);
  if (n > MOST && strcmp(out + length - 3, "...") != 0) memcpy(out + length, "...", 4);
  return out;
}

const char *vt_weight_quote_path(const char *path, char out[VT_WEIGHT_QUOTE]) {
  enum { MOST = 120, DOTS = 3 };
  const size_t n = strlen(path);
  const char *from = n > MOST ? path + (n - MOST) : path;
  while (from > path && ((uint8_t)*from & 0xc0) == 0x80) from++; /* not inside a character */
  if (from == path) return vt_archive_escape(path, n, out);
  memcpy(out, "...", DOTS);
  vt_archive_escape(from, strlen(from), out + DOTS);
  return out;
}

vt_status vt_weight_blame(const char *path, vt_status s, const vt_diag *why, vt_diag *d) {
  char q[VT_WEIGHT_QUOTE];
  if (s == VT_OK) return VT_OK;
  if (s == VT_IO || s == VT_NOMEM) return VT_FAIL(d, s, "%s", why->text);
  return VT_FAIL(d, s, "%s: %s", vt_weight_quote_path(path, q), why->text);
}

/* ---- the list ---- */

static vt_status fail_no_memory(vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "no memory for the list of weights");
}

static size_t held_bytes(const vt_weight_entry *e) { return e->bytes != 0 ? (size_t)e->bytes : 1; }

void vt_weight_list_done(vt_weight_list *l) {
  for (uint32_t i = 0; i < l->n_entries; i++)
    vt_alloc_free(l->a, l->entries[i].tensor.data, held_bytes(&l->entries[i]));
  for (uint32_t i = 0; i < l->n_files; i++) vt_source_close(&l->files[i].src);
  vt_arena_done(&l->arena);
  *l = (vt_weight_list){.a = l->a};
}

vt_status vt_weight_list_add(vt_weight_list *l, const vt_weight_entry *e, vt_diag *d) {
  vt_weight_entry copy = *e;
  VT_TRY(vt_tensor_bytes(&e->tensor, &copy.count, &copy.bytes, d));
  copy.name = copy.name_read = vt_arena_string(&l->arena, e->name, strlen(e->name));
  vt_weight_entry *list =
      vt_arena_grow(&l->arena, l->entries, l->n_entries, &l->cap_entries, sizeof copy);
  if (list == NULL || copy.name == NULL) return fail_no_memory(d);
  list[l->n_entries++] = copy;
  l->entries = list;
  return VT_OK;
}

static int by_name(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(((const vt_weight_entry *)a)->name, ((const vt_weight_entry *)b)->name);
}

/* Describes where an entry comes from, for the message about two entries of one name. */
static void describe_origin(const vt_weight_list *l, const vt_weight_entry *e, char *out,
                            size_t size) {
  char name[VT_WEIGHT_QUOTE], path[VT_WEIGHT_QUOTE];
  const char *file =
      l->n_files != 0 ? vt_weight_quote_path(l->files[e->file].path, path) : "the tensors given";
  snprintf(out, size, "'%s' of %s", vt_weight_quote(e->name_read, name), file);
}

static vt_status fail_two_of_one_name(const vt_weight_list *l, const vt_weight_entry *e,
                                      vt_diag *d) {
  char name[VT_WEIGHT_QUOTE], a[2 * VT_WEIGHT_QUOTE], b[2 * VT_WEIGHT_QUOTE];
  describe_origin(l, e, a, sizeof a);
  describe_origin(l, e + 1, b, sizeof b);
  return VT_FAIL(d, VT_NAME, "two tensors have the name '%s': %s and %s",
                 vt_weight_quote(e->name, name), a, b);
}

/* Renames the entries and puts them in the order of their names. */
static vt_status finish_list(vt_weight_list *l, const char *map, vt_diag *d) {
  if (map != NULL) VT_TRY(vt_weight_list_rename(l, map, d));
  if (vt_sort(l->entries, l->n_entries, sizeof *l->entries, by_name, NULL, l->a) != VT_OK)
    return fail_no_memory(d);
  for (uint32_t i = 1; i < l->n_entries; i++)
    if (strcmp(l->entries[i - 1].name, l->entries[i].name) == 0)
      return fail_two_of_one_name(l, &l->entries[i - 1], d);
  return VT_OK;
}

const vt_weight_entry *vt_weight_list_find(const vt_weight_list *l, const char *name) {
  uint32_t begin = 0, end = l->n_entries;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const int c = strcmp(name, l->entries[middle].name);
    if (c == 0) return &l->entries[middle];
    if (c < 0)
      end = middle;
    else
      begin = middle + 1;
  }
  return NULL;
}

/* ---- opening ---- */

/* Position of the first byte that is not space, or n. */
static size_t skip_space(const uint8_t *p, size_t n) {
  size_t i = 0;
  while (i < n && memchr(" \t\n\r", p[i], 4) != NULL) i++;
  return i;
}

/* An index is JSON text, so it begins with '{' and has no zero bytes. A safetensors file may begin
 * with '{' too, because that is a length of 123; but its length is below 2^32, so bytes 4 to 7 are
 * zero. */
vt_status vt_weight_format_of(const vt_source *src, vt_weight_format *out, vt_diag *d) {
  static const uint8_t none[4];
  uint8_t p[64];
  const size_t n = src->size < sizeof p ? (size_t)src->size : sizeof p, at = 8;
  VT_TRY(vt_source_read(src, 0, p, n, d));
  const size_t first = skip_space(p, n);
  const int length = n >= at && memcmp(p + 4, none, sizeof none) == 0;
  *out = VT_WEIGHTS_UNKNOWN;
  if (n >= 4 && (memcmp(p, "PK\3\4", 4) == 0 || memcmp(p, "PK\5\6", 4) == 0))
    *out = VT_WEIGHTS_NPZ;
  else if (first < n && p[first] == '{' && !length)
    *out = VT_WEIGHTS_INDEX;
  else if (n > at && p[at] == '{')
    *out = VT_WEIGHTS_SAFETENSORS;
  return VT_OK;
}

/* Makes room for a file of the list, whose `src` the caller opens; then n_files is increased. */
static vt_status new_file(vt_weight_list *l, const char *path, vt_weight_file **out, vt_diag *d) {
  if (l->n_files == VT_WEIGHT_FILES_MAX)
    return VT_FAIL(d, VT_LIMIT, "the weights are in more than %d files, which is the limit",
                   VT_WEIGHT_FILES_MAX);
  vt_weight_file *list =
      vt_arena_grow(&l->arena, l->files, l->n_files, &l->cap_files, sizeof *list);
  const char *copy = vt_arena_string(&l->arena, path, strlen(path));
  if (list == NULL || copy == NULL) return fail_no_memory(d);
  l->files = list;
  *out = &list[l->n_files];
  (*out)->path = copy;
  return VT_OK;
}

vt_status vt_weight_list_add_file(vt_weight_list *l, const char *path, uint32_t *out_file,
                                  vt_diag *d) {
  vt_weight_file *f;
  VT_TRY(new_file(l, path, &f, d));
  VT_TRY(vt_source_open(f->path, VT_ARCHIVE_FILE_LIMIT, &f->src, d));
  *out_file = l->n_files++;
  return VT_OK;
}

static vt_status list_tensors(vt_weight_list *l, uint32_t file, vt_weight_format format,
                              vt_diag *d) {
  if (format != VT_WEIGHTS_SAFETENSORS && format != VT_WEIGHTS_NPZ)
    return VT_FAIL(d, VT_FORMAT,
                   "weights are read from safetensors, npz, or the index of safetensors shards, "
                   "and this file is none of them");
  VT_TRY(format == VT_WEIGHTS_NPZ ? vt_npz_list(l, file, d) : vt_safetensors_list(l, file, d));
  return vt_source_check_unchanged(&l->files[file].src, d);
}

vt_status vt_weight_list_add_tensors(vt_weight_list *l, uint32_t file, vt_weight_format format,
                                     vt_diag *d) {
  vt_diag why = {.code = VT_OK};
  const vt_status s = list_tensors(l, file, format, &why);
  return vt_weight_blame(l->files[file].path, s, &why, d);
}

/* Reads an index, whose file need not stay open. */
static vt_status open_index(vt_weight_list *l, uint32_t file, vt_diag *d) {
  vt_weight_file f = l->files[file];
  l->n_files--;
  const vt_status s = vt_weight_index_read(l, &f.src, d);
  vt_source_close(&f.src);
  return s;
}

static vt_status open_path(vt_weight_list *l, const char *path, vt_diag *d) {
  uint32_t file = 0;
  vt_weight_format format;
  VT_TRY(vt_weight_list_add_file(l, path, &file, d));
  VT_TRY(vt_weight_format_of(&l->files[file].src, &format, d));
  return format == VT_WEIGHTS_INDEX ? open_index(l, file, d)
                                    : vt_weight_list_add_tensors(l, file, format, d);
}

vt_status vt_weight_list_open(uint32_t n, const char *const *paths, const char *map, vt_alloc a,
                              vt_weight_list *out, vt_diag *d) {
  vt_weight_list l = {.a = a};
  vt_status s = VT_OK;
  vt_arena_init(&l.arena, a);
  for (uint32_t i = 0; s == VT_OK && i < n; i++) s = open_path(&l, paths[i], d);
  if (s == VT_OK) s = finish_list(&l, map, d);
  if (s == VT_OK)
    *out = l;
  else
    vt_weight_list_done(&l);
  return s;
}

static vt_status add_range(vt_weight_list *l, const vt_source *src, const char *path,
                           uint64_t begin, uint64_t end, vt_diag *d) {
  vt_weight_file *f;
  VT_TRY(new_file(l, path, &f, d));
  VT_TRY(vt_source_open_range(src, f->path, begin, end, &f->src, d));
  l->n_files++;
  VT_TRY(vt_weight_list_add_tensors(l, 0, VT_WEIGHTS_SAFETENSORS, d));
  return finish_list(l, NULL, d);
}

vt_status vt_weight_list_open_range(const vt_source *src, const char *path, uint64_t begin,
                                    uint64_t end, vt_alloc a, vt_weight_list *out, vt_diag *d) {
  vt_weight_list l = {.a = a};
  vt_arena_init(&l.arena, a);
  const vt_status s = add_range(&l, src, path, begin, end, d);
  if (s == VT_OK)
    *out = l;
  else
    vt_weight_list_done(&l);
  return s;
}

/* ---- copies of tensors ---- */

static vt_status copy_tensor(vt_weight_list *l, const char *name, const vt_tensor *t, vt_diag *d) {
  vt_weight_entry e = {.name = name, .tensor = *t};
  char q[VT_QUOTE_MAX];
  VT_TRY(vt_archive_check_tensor(t, name, &e.bytes, d));
  if (!vt_archive_name_ok(name))
    return VT_FAIL(d, VT_NAME, "'%s' cannot be a tensor's name",
                   vt_archive_escape(name, strlen(name), q));
  if (t->dtype == VT_DTYPE_BOOL) VT_TRY(vt_archive_check_bools(t->data, e.bytes, 0, d));
  e.tensor.data = vt_alloc_raw(l->a, held_bytes(&e));
  if (e.tensor.data == NULL)
    return VT_FAIL(d, VT_NOMEM, "no memory for a copy of %llu bytes", (unsigned long long)e.bytes);
  if (e.bytes != 0) memcpy(e.tensor.data, t->data, (size_t)e.bytes);
  vt_canonical(e.tensor.data, t->dtype, e.bytes / vt_dtype_bytes(t->dtype));
  const vt_status s = vt_weight_list_add(l, &e, d);
  if (s != VT_OK) vt_alloc_free(l->a, e.tensor.data, held_bytes(&e));
  return s;
}

vt_status vt_weight_list_copy(uint32_t n, const char *const *names, const vt_tensor *tensors,
                              const char *map, vt_alloc a, vt_weight_list *out, vt_diag *d) {
  vt_weight_list l = {.a = a};
  vt_status s = VT_OK;
  vt_arena_init(&l.arena, a);
  for (uint32_t i = 0; s == VT_OK && i < n; i++) s = copy_tensor(&l, names[i], &tensors[i], d);
  if (s == VT_OK) s = finish_list(&l, map, d);
  if (s == VT_OK)
    *out = l;
  else
    vt_weight_list_done(&l);
  return s;
}

/* ---- reading the elements ---- */

/* Reports a failure while an entry is read, with its file and its name in the file. */
static vt_status blame_entry(const vt_weight_reader *r, vt_status s, const vt_diag *why,
                             vt_diag *d) {
  char path[VT_WEIGHT_QUOTE], name[VT_WEIGHT_QUOTE];
  if (s == VT_OK) return VT_OK;
  if (s == VT_IO || s == VT_NOMEM) return VT_FAIL(d, s, "%s", why->text);
  return VT_FAIL(d, s, "%s: tensor '%s': %s",
                 vt_weight_quote_path(r->list->files[r->entry->file].path, path),
                 vt_weight_quote(r->entry->name_read, name), why->text);
}

/* Reads the bytes of the stream that precede the elements, because they are part of its CRC. */
static vt_status skip_header(vt_stream *s, uint64_t n, vt_diag *d) {
  uint8_t piece[4096];
  while (n != 0) {
    const uint64_t step = n < sizeof piece ? n : sizeof piece;
    VT_TRY(vt_stream_read(s, piece, step, d));
    n -= step;
  }
  return VT_OK;
}

vt_status vt_weight_reader_open(const vt_weight_list *l, const vt_weight_entry *e,
                                vt_weight_reader *out, vt_diag *d) {
  vt_weight_reader r = {.list = l, .entry = e};
  vt_diag why = {.code = VT_OK};
  if (e->tensor.data == NULL) {
    VT_TRY(vt_stream_open(&l->files[e->file].src, e->begin, e->end, (int)e->packing, l->a,
                          &r.stream, d));
    r.stream.sums = e->has_crc != 0;
    const vt_status s = skip_header(&r.stream, e->skip, &why);
    if (s != VT_OK) {
      vt_stream_close(&r.stream);
      return blame_entry(&r, s, &why, d);
    }
  }
  *out = r;
  return VT_OK;
}

void vt_weight_reader_close(vt_weight_reader *r) {
  if (r->entry->tensor.data == NULL) vt_stream_close(&r->stream);
}

static vt_status read_from_file(vt_weight_reader *r, void *to, uint64_t n, vt_diag *d) {
  const vt_weight_entry *e = r->entry;
  /* A position in packed data means nothing to a reader of the message, so it is counted from the
   * start of the unpacked member. */
  const uint64_t at = (e->has_crc ? 0 : e->begin) + r->stream.given;
  VT_TRY(vt_stream_read(&r->stream, to, n, d));
  return e->tensor.dtype == VT_DTYPE_BOOL ? vt_archive_check_bools(to, n, at, d) : VT_OK;
}

vt_status vt_weight_reader_next(vt_weight_reader *r, void *to, uint64_t n, vt_diag *d) {
  const vt_weight_entry *e = r->entry;
  const uint64_t size = vt_dtype_bytes(e->tensor.dtype);
  vt_diag why = {.code = VT_OK};
  if (n % size != 0 || n > e->bytes - r->at)
    return VT_FAIL(d, VT_INTERNAL, "elements of '%s' behind its end were asked for", e->name);
  if (e->tensor.data != NULL) {
    if (n != 0) memcpy(to, (const uint8_t *)e->tensor.data + r->at, (size_t)n);
  } else {
    const vt_status s = read_from_file(r, to, n, &why);
    if (s != VT_OK) return blame_entry(r, s, &why, d);
    vt_canonical(to, e->tensor.dtype, n / size);
  }
  r->at += n;
  return VT_OK;
}

static vt_status check_member_end(vt_weight_reader *r, vt_diag *d) {
  VT_TRY(vt_stream_check_end(&r->stream, d));
  if (!r->entry->has_crc || r->stream.crc == r->entry->crc) return VT_OK;
  return VT_FAIL(d, VT_FORMAT, "its CRC is %08x and should be %08x", r->stream.crc, r->entry->crc);
}

vt_status vt_weight_reader_check_end(vt_weight_reader *r, vt_diag *d) {
  vt_diag why = {.code = VT_OK};
  if (r->at != r->entry->bytes)
    return VT_FAIL(d, VT_INTERNAL, "the elements of '%s' were not read to their end",
                   r->entry->name);
  if (r->entry->tensor.data != NULL) return VT_OK;
  vt_status s = check_member_end(r, &why);
  if (s == VT_OK) s = vt_source_check_unchanged(r->stream.src, &why);
  return blame_entry(r, s, &why, d);
}
