/* SPDX-License-Identifier: Apache-2.0
 * archive.c - reads a tensor file of any format into a list of named tensors. It recognises the
 * format, owns the list, and has the functions that several formats need. */
#include "archive.h"
#include <stdio.h>
#include <string.h>
#include "vt_memory.h"
#include "vt_num.h"
#include "vt_sort.h"

/* ---- text of files ---- */

static int is_utf8_continuation(uint8_t c) { return (c & 0xc0) == 0x80; }

size_t vt_archive_utf8_char_length(const uint8_t *s, size_t n) {
  if (n >= 1 && s[0] < 0x80) return 1;
  if (n >= 2 && s[0] >= 0xc2 && s[0] <= 0xdf && is_utf8_continuation(s[1])) return 2;
  if (n >= 3 && (s[0] & 0xf0) == 0xe0 && is_utf8_continuation(s[1]) && is_utf8_continuation(s[2])) {
    const unsigned code = (s[0] & 15u) << 12 | (s[1] & 63u) << 6 | (s[2] & 63u);
    return code >= 0x800 && (code < 0xd800 || code > 0xdfff) ? 3 : 0;
  }
  if (n >= 4 && (s[0] & 0xf8) == 0xf0 && is_utf8_continuation(s[1]) && is_utf8_continuation(s[2]) &&
      is_utf8_continuation(s[3])) {
    const unsigned code = (s[0] & 7u) << 18 | (s[1] & 63u) << 12 | (s[2] & 63u) << 6 | (s[3] & 63u);
    return code >= 0x10000 && code <= 0x10ffff ? 4 : 0;
  }
  return 0;
}

/* 1 for the control characters C0, DEL and C1. */
static int is_control_character(const uint8_t *s, size_t length) {
  if (length == 1) return s[0] < 0x20 || s[0] == 0x7f;
  return length == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

int vt_archive_name_ok(const char *name) {
  const uint8_t *s = (const uint8_t *)name;
  const size_t n = strlen(name);
  for (size_t i = 0; i < n;) {
    const size_t length = vt_archive_utf8_char_length(s + i, n - i);
    if (length == 0 || is_control_character(s + i, length)) return 0;
    i += length;
  }
  return n != 0;
}

const char *vt_archive_escape(const char *s, size_t n, char out[VT_QUOTE_MAX]) {
  /* STEP: most bytes that one character becomes; SUFFIX: bytes of "..." and the final 0. */
  enum { STEP = 4, SUFFIX = 4 };
  const uint8_t *u = (const uint8_t *)s;
  size_t at = 0, i = 0;
  while (i < n && at + STEP + SUFFIX <= VT_QUOTE_MAX) {
    const size_t length = vt_archive_utf8_char_length(u + i, n - i);
    if (length == 0 || is_control_character(u + i, length)) {
      at += (size_t)snprintf(out + at, STEP + 1, "\\x%02x", u[i]);
      i++;
      continue;
    }
    memcpy(out + at, u + i, length);
    at += length;
    i += length;
  }
  snprintf(out + at, SUFFIX, "%s", i < n ? "..." : "");
  return out;
}

/* ---- the list ---- */

vt_alloc vt_archive_allocator(const vt_alloc *alloc) {
  return alloc != NULL && alloc->resize != NULL ? *alloc : vt_alloc_default();
}

vt_status vt_archive_new(const vt_alloc *alloc, vt_archive **out, vt_diag *d) {
  const vt_alloc a = vt_archive_allocator(alloc);
  vt_archive *ar = vt_alloc_new(a, sizeof *ar);
  if (ar == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for a tensor file");
  ar->a = a;
  vt_arena_init(&ar->arena, a);
  *out = ar;
  return VT_OK;
}

void vt_archive_free(vt_archive *ar) {
  if (ar == NULL) return;
  for (uint32_t i = 0; i < ar->count; i++)
    vt_alloc_free(ar->a, ar->entries[i].tensor.data, ar->entries[i].held);
  vt_arena_done(&ar->arena);
  vt_alloc_free(ar->a, ar, sizeof *ar);
}

/* Refuses a tensor that is larger than the available memory. A system that overcommits memory would
 * grant the memory, and kill the process later, when it is filled. */
static vt_status check_free_memory(uint64_t bytes, vt_diag *d) {
  enum { WORTH_ASKING = 64 << 20 };
  const uint64_t left = bytes < WORTH_ASKING ? 0 : vt_memory_available();
  if (left == 0 || bytes <= left) return VT_OK;
  return VT_FAIL(d, VT_NOMEM, "no memory for a tensor of %llu bytes: %llu are left",
                 (unsigned long long)bytes, (unsigned long long)left);
}

vt_status vt_archive_add(vt_archive *ar, const char *name, const vt_tensor *like, void **out_data,
                         vt_diag *d) {
  vt_entry e = {.tensor = *like};
  uint64_t bytes;
  VT_TRY(vt_tensor_bytes(like, &e.count, &bytes, d));
  VT_TRY(check_free_memory(bytes, d));
  vt_entry *list = vt_arena_grow(&ar->arena, ar->entries, ar->count, &ar->cap, sizeof e);
  e.name = vt_arena_string(&ar->arena, name, strlen(name));
  if (vt_arena_status(&ar->arena) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory for the list of tensors");
  ar->entries = list;
  e.held = bytes != 0 ? (size_t)bytes : 1; /* an empty tensor needs an address too */
  /* vt_alloc_new would clear the memory first, but every byte will be written anyway. */
  e.tensor.data = ar->a.resize(ar->a.user, NULL, 0, e.held);
  if (e.tensor.data == NULL)
    return VT_FAIL(d, VT_NOMEM, "no memory for a tensor of %llu bytes", (unsigned long long)bytes);
  *out_data = e.tensor.data;
  list[ar->count++] = e;
  return VT_OK;
}

vt_status vt_archive_check_bools(const uint8_t *p, uint64_t n, uint64_t file_position, vt_diag *d) {
  for (uint64_t i = 0; i < n; i++)
    if (p[i] > 1)
      return VT_FAIL(d, VT_FORMAT, "byte %llu is %u, and a bool is 0 or 1",
                     (unsigned long long)(file_position + i), p[i]);
  return VT_OK;
}

/* ---- writing ---- */

vt_status vt_archive_check_tensor(const vt_tensor *t, const char *name, uint64_t *out_bytes,
                                  vt_diag *d) {
  char q[VT_QUOTE_MAX];
  uint64_t bytes;
  vt_archive_escape(name, strlen(name), q);
  const vt_status s = vt_tensor_bytes(t, NULL, &bytes, NULL);
  if (s != VT_OK) return VT_FAIL(d, s, "tensor '%s' has an impossible type or shape", q);
  if (bytes != 0 && t->data == NULL) return VT_FAIL(d, VT_TENSOR, "tensor '%s' has no data", q);
  *out_bytes = bytes;
  return VT_OK;
}

size_t vt_archive_copy_canonical_piece(const vt_tensor *t, uint64_t bytes, uint64_t offset,
                                       uint8_t *piece, size_t room) {
  const size_t n = bytes - offset < room ? (size_t)(bytes - offset) : room;
  memcpy(piece, (const uint8_t *)t->data + offset, n);
  vt_canonical(piece, t->dtype, n / vt_dtype_bytes(t->dtype));
  return n;
}

vt_status vt_archive_write_data(vt_file_writer *w, const vt_tensor *t, uint64_t bytes, vt_diag *d) {
  enum { PIECE = 16 * 1024 };
  _Alignas(64) uint8_t piece[PIECE];
  for (uint64_t at = 0; at < bytes; at += PIECE) {
    const size_t n = vt_archive_copy_canonical_piece(t, bytes, at, piece, PIECE);
    VT_TRY(vt_file_write(w, piece, n, d));
  }
  return VT_OK;
}

vt_status vt_bytes_write(const char *path, const void *bytes, size_t n, vt_diag *d) {
  vt_file_writer w;
  VT_TRY(vt_file_create(path, &w, d));
  vt_status s = vt_file_write(&w, bytes, n, d);
  if (s == VT_OK) s = vt_file_commit(&w, d);
  vt_file_abort(&w);
  return s;
}

static int by_item_name(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(((const vt_item *)a)->name, ((const vt_item *)b)->name);
}

vt_status vt_archive_check_and_sort_items(uint32_t n, const char *const *names,
                                          const vt_tensor *tensors, const char *reserved,
                                          vt_alloc a, vt_item *out, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  for (uint32_t i = 0; i < n; i++) {
    out[i] = (vt_item){.name = names[i], .tensor = &tensors[i]};
    if (!vt_archive_name_ok(names[i]) || (reserved != NULL && strcmp(names[i], reserved) == 0))
      return VT_FAIL(d, VT_NAME, "'%s' cannot be a tensor's name",
                     vt_archive_escape(names[i], strlen(names[i]), q));
    VT_TRY(vt_archive_check_tensor(&tensors[i], names[i], &out[i].bytes, d));
  }
  if (vt_sort(out, n, sizeof *out, by_item_name, NULL, a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory to order the tensors of a file");
  for (uint32_t i = 1; i < n; i++)
    if (strcmp(out[i - 1].name, out[i].name) == 0)
      return VT_FAIL(d, VT_NAME, "two tensors have the name '%s'",
                     vt_archive_escape(out[i].name, strlen(out[i].name), q));
  return VT_OK;
}

/* ---- reading ---- */

vt_status vt_archive_read_data(vt_stream *s, const vt_tensor *t, void *data, uint64_t bytes,
                               vt_diag *d) {
  const uint64_t at = s->given;
  VT_TRY(vt_stream_read(s, data, bytes, d));
  return t->dtype == VT_DTYPE_BOOL ? vt_archive_check_bools(data, bytes, at, d) : VT_OK;
}

/* 1 if the file begins like an IDX file: two zero bytes, a type and a rank. A safetensors file with
 * a long header may begin with such bytes too, but the length of its header is below 2^32, so bytes
 * 4 to 7 are zero, and byte 8 is '{'. */
static int looks_like_idx(const uint8_t *p, size_t n) {
  static const uint8_t none[4];
  if (n < 4 || p[0] != 0 || p[1] != 0 || p[2] < 8 || p[2] > 14 || p[3] == 0) return 0;
  return n < 9 || p[8] != '{' || memcmp(p + 4, none, 4) != 0;
}

static vt_status parse_by_signature(vt_archive *ar, const vt_source *src, vt_diag *d) {
  uint8_t p[9];
  const size_t n = src->size < sizeof p ? (size_t)src->size : sizeof p;
  VT_TRY(vt_source_read(src, 0, p, n, d));
  if (n >= 6 && memcmp(p, "\x93NUMPY", 6) == 0) return vt_npy_parse(ar, src, d);
  if (n >= 4 && (memcmp(p, "PK\3\4", 4) == 0 || memcmp(p, "PK\5\6", 4) == 0))
    return vt_npz_parse(ar, src, d);
  if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b) return vt_idx_parse(ar, src, d);
  if (looks_like_idx(p, n)) return vt_idx_parse(ar, src, d);
  /* The first 8 bytes are a length, which is not checked here: the reader of safetensors gives a
   * better message if it is wrong. */
  if (n > 8 && p[8] == '{') return vt_safetensors_parse(ar, src, d);
  return VT_FAIL(d, VT_FORMAT, "the file format is not npy, npz, safetensors or IDX");
}

vt_status vt_archive_read_source(const vt_source *src, vt_reader_fn *reader, vt_alloc a,
                                 vt_archive **out, vt_diag *d) {
  vt_archive *ar = NULL;
  VT_TRY(vt_archive_new(&a, &ar, d));
  vt_status s = reader(ar, src, d);
  if (s == VT_OK) s = vt_source_check_unchanged(src, d);
  if (s != VT_OK) {
    vt_archive_free(ar);
    return s;
  }
  for (uint32_t i = 0; i < ar->count; i++) {
    const vt_entry *e = &ar->entries[i];
    vt_canonical(e->tensor.data, e->tensor.dtype, e->count);
  }
  *out = ar;
  return VT_OK;
}

vt_status vt_archive_parse(const void *bytes, size_t n, const vt_alloc *alloc, vt_archive **out,
                           vt_diag *d) {
  const vt_source src = vt_source_from_memory(bytes, n);
  return vt_archive_read_source(&src, parse_by_signature, vt_archive_allocator(alloc), out, d);
}

static int is_csv(const char *path) {
  const size_t n = strlen(path);
  return n >= 4 && strcmp(path + n - 4, ".csv") == 0;
}

/* CSV has no signature, so it is recognised by the file name. */
vt_status vt_archive_read(const char *path, const vt_alloc *alloc, vt_archive **out, vt_diag *d) {
  vt_source src;
  if (is_csv(path)) return vt_csv_read(path, NULL, alloc, out, d);
  VT_TRY(vt_source_open(path, VT_ARCHIVE_FILE_LIMIT, &src, d));
  const vt_status s =
      vt_archive_read_source(&src, parse_by_signature, vt_archive_allocator(alloc), out, d);
  vt_source_close(&src);
  return s;
}

/* ---- access to the tensors ---- */

const char *vt_archive_format(const vt_archive *ar) { return ar->format; }

uint32_t vt_archive_count(const vt_archive *ar) { return ar->count; }

vt_status vt_archive_tensor(const vt_archive *ar, uint32_t i, const char **out_name,
                            vt_tensor *out) {
  if (i >= ar->count) return VT_RANGE;
  *out_name = ar->entries[i].name;
  *out = ar->entries[i].tensor;
  return VT_OK;
}

vt_status vt_archive_find(const vt_archive *ar, const char *name, vt_tensor *out, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  for (uint32_t i = 0; i < ar->count; i++) {
    if (strcmp(ar->entries[i].name, name) != 0) continue;
    *out = ar->entries[i].tensor;
    return VT_OK;
  }
  return VT_FAIL(d, VT_NAME, "the file has no tensor '%s'",
                 vt_archive_escape(name, strlen(name), q));
}
