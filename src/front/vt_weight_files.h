/* SPDX-License-Identifier: Apache-2.0
 * vt_weight_files.h - the tensors of one or more weight files. Opening reads and checks only the
 * headers; the elements stay in the files until a reader asks for them, one tensor at a time and
 * from its first byte to its last. So weights go from a file directly to where a program needs
 * them, and no copy of a whole file is ever in memory.
 *
 *   model.safetensors.index.json                      entries, in ascending order of `name`
 *     |- model-00001-of-00002.safetensors   file 0      "h.0.attn.q.weight"  file 0, bytes 96..196
 *     `- model-00002-of-00002.safetensors   file 1      "wte.weight"         file 1, bytes 40..880
 */
#ifndef VT_WEIGHT_FILES_H
#define VT_WEIGHT_FILES_H
#include "stream.h"
#include "volta/volta.h"
#include "vt_arena.h"

typedef struct vt_weight_entry {
  const char *name;      /* after renaming */
  const char *name_read; /* in the file */
  vt_tensor tensor;      /* type and shape; `data` is set only if the elements are in memory */
  uint64_t count, bytes; /* number of elements; bytes of the elements as the file's type */
  uint32_t file;         /* index in `files`; unused if tensor.data is set */
  /* Where the elements are in the file: the range to open as a stream of kind `packing`
   * (VT_STREAM_*), and how many bytes of that stream precede them. */
  uint64_t begin, end, skip;
  uint32_t packing;
  uint32_t crc, has_crc; /* CRC-32 of the whole stream, checked when all of it was read */
} vt_weight_entry;

typedef struct vt_weight_file {
  const char *path; /* owned by the arena */
  vt_source src;    /* open until the list is freed */
} vt_weight_file;

typedef struct vt_weight_list {
  vt_alloc a;
  vt_arena arena; /* owns names, paths and the two arrays */
  vt_weight_entry *entries;
  vt_weight_file *files;
  uint32_t n_entries, n_files, cap_entries, cap_files;
} vt_weight_list;

/* Opens the files, which may be safetensors, npz or an index of safetensors shards, and renames the
 * tensors by the rules of `map`, which may be NULL. VT_NAME if two tensors have the same name. The
 * tensors of an npz file whose elements are not little-endian and in row-major order are read into
 * memory. On failure *out needs no vt_weight_list_done. */
vt_status vt_weight_list_open(uint32_t n, const char *const *paths, const char *map, vt_alloc a,
                              vt_weight_list *out, vt_diag *d) VT_NODISCARD;
/* Makes a list of the tensors of one safetensors file that is open already: bytes begin..end of
 * `src`, which messages call `path`. */
vt_status vt_weight_list_open_range(const vt_source *src, const char *path, uint64_t begin,
                                    uint64_t end, vt_alloc a, vt_weight_list *out,
                                    vt_diag *d) VT_NODISCARD;
/* Makes a list from copies of tensors, with every NaN canonical. */
vt_status vt_weight_list_copy(uint32_t n, const char *const *names, const vt_tensor *tensors,
                              const char *map, vt_alloc a, vt_weight_list *out,
                              vt_diag *d) VT_NODISCARD;
void vt_weight_list_done(vt_weight_list *l);
/* The entry with this name after renaming; NULL if there is none. */
const vt_weight_entry *vt_weight_list_find(const vt_weight_list *l, const char *name);

/* Reads the elements of one entry in order. Several readers of a list may be open at the same time
 * in different threads. */
typedef struct vt_weight_reader {
  const vt_weight_list *list;
  const vt_weight_entry *entry;
  vt_stream stream; /* unused if the elements are in memory */
  uint64_t at;      /* bytes of the elements that have been read */
} vt_weight_reader;
vt_status vt_weight_reader_open(const vt_weight_list *l, const vt_weight_entry *e,
                                vt_weight_reader *out, vt_diag *d) VT_NODISCARD;
/* Reads the next `n` bytes, which must be a multiple of the element size and within entry->bytes.
 * NaN are made canonical and bools are checked. `to` is aligned for the type. */
vt_status vt_weight_reader_next(vt_weight_reader *r, void *to, uint64_t n, vt_diag *d) VT_NODISCARD;
/* Call after the last byte: checks the CRC, and that the file did not change since it was opened
 * (VT_IO). */
vt_status vt_weight_reader_check_end(vt_weight_reader *r, vt_diag *d) VT_NODISCARD;
void vt_weight_reader_close(vt_weight_reader *r);
#endif
