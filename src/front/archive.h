/* SPDX-License-Identifier: Apache-2.0
 * archive.h - what the readers and writers of tensor files share: the growing list of tensors, the
 * rules for names, and the way data enters and leaves. Private to front/. */
#ifndef VT_ARCHIVE_H
#define VT_ARCHIVE_H
#include "stream.h"
#include "vt_arena.h"
#include "vt_file.h"
#include "volta/volta_tools.h"

/* The formats hold little-endian elements, and they are copied as they are. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensor files need a little-endian host");

#define VT_ARCHIVE_FILE_LIMIT (UINT64_C(64) << 30) /* bytes of one file that are read */

typedef struct vt_entry {
  const char *name; /* in the archive's arena */
  vt_tensor tensor;
  uint64_t count; /* elements */
  size_t held;    /* bytes allocated for the data */
} vt_entry;

struct vt_archive {
  vt_alloc a;
  vt_arena arena;
  const char *format;
  vt_entry *entries;
  uint32_t count, cap;
};

/* What the embedder gave, or the default. */
vt_alloc vt_archive_alloc(const vt_alloc *alloc);
/* An archive without tensors. */
vt_status vt_archive_new(const vt_alloc *alloc, vt_archive **out, vt_diag *d) VT_NODISCARD;

/* Appends a tensor of the type and shape of `like` and gives the room for its data, not yet
 * written. The size must have been checked against the file before. */
vt_status vt_archive_add(vt_archive *ar, const char *name, const vt_tensor *like, void **out_data,
                         vt_diag *d) VT_NODISCARD;

/* What may be in a file of type bool: VT_FORMAT names the first byte that is neither 0 nor 1. `at`
 * is the position of p[0] in the file. */
vt_status vt_archive_check_bools(const uint8_t *p, uint64_t n, uint64_t at,
                                 vt_diag *d) VT_NODISCARD;

/* Checks a tensor that shall be written and gives its size. */
vt_status vt_archive_check(const vt_tensor *t, const char *name, uint64_t *out_bytes,
                           vt_diag *d) VT_NODISCARD;
/* The next piece of a tensor's data, canonical, copied to `piece`; `room` is a multiple of 8. */
size_t vt_archive_piece(const vt_tensor *t, uint64_t bytes, uint64_t at, uint8_t *piece,
                        size_t room);
/* Writes the data of a checked tensor, canonical; the caller's bytes stay as they are. */
vt_status vt_archive_put(vt_file_writer *w, const vt_tensor *t, uint64_t bytes,
                         vt_diag *d) VT_NODISCARD;

/* Bytes of the UTF-8 sequence at s, 0 when there is none: overlong forms, surrogates and code
 * points above 10ffff are none. */
size_t vt_archive_utf8(const uint8_t *s, size_t n);
/* 1 for a name a tensor may have: not empty, UTF-8, no control characters. */
int vt_archive_name_ok(const char *name);

/* Text from outside as it may be shown: control characters and broken UTF-8 as \xNN, the rest of
 * a long one as "...". Returns `out`. */
enum { VT_QUOTE_MAX = 160 };
const char *vt_archive_quote(const char *s, size_t n, char out[VT_QUOTE_MAX]);

/* The data of a tensor that was just added, from where the stream stands; a bool is checked. */
vt_status vt_archive_fill(vt_stream *s, const vt_tensor *t, void *data, uint64_t bytes,
                          vt_diag *d) VT_NODISCARD;

/* Tensors that shall be written, checked and in ascending order of names. `reserved`
 * is a name that the format keeps for itself, or NULL. */
typedef struct vt_item {
  const char *name;
  const vt_tensor *tensor;
  uint64_t bytes;
} vt_item;
vt_status vt_archive_items(uint32_t n, const char *const *names, const vt_tensor *tensors,
                           const char *reserved, vt_alloc a, vt_item *out, vt_diag *d) VT_NODISCARD;

/* The readers. The source is a whole file of their kind; the archive is empty. */
typedef vt_status vt_reader_fn(vt_archive *ar, const vt_source *src, vt_diag *d);
vt_reader_fn vt_npy_parse, vt_npz_parse, vt_safetensors_parse, vt_idx_parse;
/* One npy array of `n` bytes from a stream, added under `name`. */
vt_status vt_npy_take(vt_archive *ar, const char *name, vt_stream *s, uint64_t n,
                      vt_diag *d) VT_NODISCARD;

/* What stands before the data of a npy file; VT_UNSUPPORTED for a type npy does not have. */
enum { VT_NPY_HEAD = 128 };
vt_status vt_npy_head(const vt_tensor *t, uint8_t out[VT_NPY_HEAD], vt_diag *d) VT_NODISCARD;

/* Hands a source to a reader and makes what it read canonical. */
vt_status vt_archive_take(const vt_source *src, vt_reader_fn *reader, vt_alloc a, vt_archive **out,
                          vt_diag *d) VT_NODISCARD;
#endif
