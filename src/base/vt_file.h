/* SPDX-License-Identifier: Apache-2.0
 * vt_file.h - files from outside, and files that are never half-written. */
#ifndef VT_FILE_H
#define VT_FILE_H
#include "vt_alloc.h"

/* A file read whole into memory (a private copy: a file that changes under us cannot change
 * what was checked). Regular files only; larger than `limit` is VT_LIMIT. "-" is not special.
 * Diagnostics name the path and the system's reason. */
typedef struct vt_file {
  vt_alloc a;
  uint8_t *data; /* followed by one 0 byte that is not counted in `size` */
  size_t size;
} vt_file;
vt_status vt_file_read(const char *path, uint64_t limit, vt_alloc a, vt_file *out,
                       vt_diag *d) VT_NODISCARD;
void vt_file_done(vt_file *f);

/* Writes to a temporary name in the same folder, syncs, and renames on commit. Abort, or any
 * failure, removes the temporary file. */
typedef struct vt_file_writer {
  int fd;
  char temp[4096], path[4096];
} vt_file_writer;
vt_status vt_file_create(const char *path, vt_file_writer *w, vt_diag *d) VT_NODISCARD;
vt_status vt_file_put(vt_file_writer *w, const void *p, size_t n, vt_diag *d) VT_NODISCARD;
vt_status vt_file_commit(vt_file_writer *w, vt_diag *d) VT_NODISCARD;
void vt_file_abort(vt_file_writer *w); /* a no-op after commit */
#endif
