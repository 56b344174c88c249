/* SPDX-License-Identifier: Apache-2.0
 * archive.h - declarations shared by the readers and writers of tensor files: the list of tensors
 * that a reader fills, the rules for names, and functions that read and write tensor data. A
 * piece is the part of the data that fits the buffer of a writer. Private to src/front. */
#ifndef VT_ARCHIVE_H
#define VT_ARCHIVE_H
#include "stream.h"
#include "vt_arena.h"
#include "vt_file.h"
#include "vt_text.h"
#include "volta/volta_tools.h"

/* The formats store little-endian elements, which are copied without conversion. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "tensor files need a little-endian host");

/* Most bytes that a file may have, also after unpacking. */
#define VT_ARCHIVE_FILE_LIMIT (UINT64_C(64) << 30)

typedef struct vt_entry {
  const char *name; /* stored in the archive's arena */
  vt_tensor tensor;
  uint64_t count; /* number of elements */
  size_t held;    /* bytes allocated for the data, at least 1 */
} vt_entry;

struct vt_archive {
  vt_alloc a;         /* allocator of the archive and of the data of its tensors */
  vt_arena arena;     /* memory of names and lists */
  const char *format; /* "npy", "npz", "safetensors", "idx", "csv" */
  vt_entry *entries;
  uint32_t count, cap; /* number of tensors, capacity of `entries` */
};

/* The caller's allocator, or the default one if `alloc` is NULL or empty. */
vt_alloc vt_archive_allocator(const vt_alloc *alloc);
/* Creates an archive without tensors. */
vt_status vt_archive_new(const vt_alloc *alloc, vt_archive **out, vt_diag *d) VT_NODISCARD;

/* Appends a tensor with the type and shape of `like` and allocates its data, which the caller must
 * write. The caller has checked before that the file can hold that many bytes. */
vt_status vt_archive_add(vt_archive *ar, const char *name, const vt_tensor *like, void **out_data,
                         vt_diag *d) VT_NODISCARD;

/* Checks the bytes of a bool tensor: VT_FORMAT names the first one that is neither 0 nor 1. `at` is
 * the position of p[0] in the file. */
vt_status vt_archive_check_bools(const uint8_t *p, uint64_t n, uint64_t at,
                                 vt_diag *d) VT_NODISCARD;

/* Checks type, shape and data of a tensor before it is written; writes its size in bytes to
 * `out_bytes`. */
vt_status vt_archive_check_tensor(const vt_tensor *t, const char *name, uint64_t *out_bytes,
                                  vt_diag *d) VT_NODISCARD;
/* Copies tensor data from byte `at` to `piece`, at most `room` bytes, with NaN canonical. Returns
 * the number of bytes. `room` must be a multiple of 8, so that no element is split. */
size_t vt_archive_copy_canonical_piece(const vt_tensor *t, uint64_t bytes, uint64_t at,
                                       uint8_t *piece, size_t room);
/* Writes the data of a checked tensor to a file, with NaN canonical. The caller's data does not
 * change. */
vt_status vt_archive_write_data(vt_file_writer *w, const vt_tensor *t, uint64_t bytes,
                                vt_diag *d) VT_NODISCARD;

/* Length in bytes of the UTF-8 character at `s`; 0 if it is malformed. Overlong forms, surrogates
 * and code points above 10ffff are malformed. */
size_t vt_archive_utf8_char_length(const uint8_t *s, size_t n);
/* 1 if `name` is allowed for a tensor: not empty, UTF-8, no control characters. */
int vt_archive_name_ok(const char *name);

/* Escapes text of a file for messages: control characters and malformed UTF-8 become \xNN, and a
 * long text is cut and ends in "...". Returns `out`. */
enum { VT_QUOTE_MAX = 160 };
const char *vt_archive_escape(const char *s, size_t n, char out[VT_QUOTE_MAX]);

/* Reads the data of a tensor that was just added from the current position of the stream. The bytes
 * of a bool tensor are checked. */
vt_status vt_archive_read_data(vt_stream *s, const vt_tensor *t, void *data, uint64_t bytes,
                               vt_diag *d) VT_NODISCARD;

/* A tensor to be written. */
typedef struct vt_item {
  const char *name;
  const vt_tensor *tensor;
  uint64_t bytes; /* size of its data */
} vt_item;
/* Checks `n` tensors and their names and lists them in ascending order of the names. `reserved` is
 * a name that the format uses itself and refuses for tensors, or NULL. */
vt_status vt_archive_check_and_sort_items(uint32_t n, const char *const *names,
                                          const vt_tensor *tensors, const char *reserved,
                                          vt_alloc a, vt_item *out, vt_diag *d) VT_NODISCARD;

/* Prints the length and the header of a safetensors file of these items, padded with spaces to a
 * multiple of 8 bytes; the data of the items follow it in order. `t` must be empty. */
vt_status vt_safetensors_print_header(vt_text *t, const vt_item *items, uint32_t n,
                                      vt_diag *d) VT_NODISCARD;

/* A reader of one format: parses the whole file `src` and adds its tensors to the empty archive. */
typedef vt_status vt_reader_fn(vt_archive *ar, const vt_source *src, vt_diag *d);
vt_reader_fn vt_npy_parse, vt_npz_parse, vt_safetensors_parse, vt_idx_parse;
/* The header of an npy file. */
typedef struct vt_npy_header {
  vt_tensor type;   /* type and shape, without data */
  uint64_t bytes;   /* bytes of the elements, which end the file */
  int big, fortran; /* 1: elements are big-endian; 1: elements are in column-major order */
} vt_npy_header;
/* Reads the header of an npy file of `n` bytes, after which the stream is at the elements; then
 * the elements, which are put in order and added as a tensor under `name`. */
vt_status vt_npy_read_header(vt_arena *scratch, vt_stream *s, uint64_t n, vt_npy_header *out,
                             vt_diag *d) VT_NODISCARD;
vt_status vt_npy_read_data(vt_archive *ar, const char *name, vt_stream *s, const vt_npy_header *h,
                           vt_diag *d) VT_NODISCARD;
/* Both: reads an npy file of `n` bytes from a stream and adds its tensor under `name`. */
vt_status vt_npy_read(vt_archive *ar, const char *name, vt_stream *s, uint64_t n,
                      vt_diag *d) VT_NODISCARD;

/* Writes the bytes that precede the data in an npy file; VT_UNSUPPORTED for a type that npy does
 * not have. */
enum { VT_NPY_HEAD = 128 };
vt_status vt_npy_print_head(const vt_tensor *t, uint8_t out[VT_NPY_HEAD], vt_diag *d) VT_NODISCARD;

/* Reads a source into a new archive with the given reader, and makes every NaN canonical. */
vt_status vt_archive_read_source(const vt_source *src, vt_reader_fn *reader, vt_alloc a,
                                 vt_archive **out, vt_diag *d) VT_NODISCARD;
#endif
