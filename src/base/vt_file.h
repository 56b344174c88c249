/* SPDX-License-Identifier: Apache-2.0
 * vt_file.h - files from outside, and files that are never half-written. */
#ifndef VT_FILE_H
#define VT_FILE_H
#include "vt_alloc.h"

/* A file read whole into memory (a private copy: a file that changes under us cannot change
 * what was checked). Regular files only; larger than `limit` is VT_LIMIT, one that was written to
 * while it was read VT_IO. "-" is not special. Diagnostics name the path and the system's reason.
 */
typedef struct vt_file {
  vt_alloc a;
  uint8_t *data; /* followed by one 0 byte that is not counted in `size` */
  size_t size;
} vt_file;
vt_status vt_file_read(const char *path, uint64_t limit, vt_alloc a, vt_file *out,
                       vt_diag *d) VT_NODISCARD;
/* The same of a file that the caller has opened, and closes; `path` is what messages call it. */
vt_status vt_file_take(int fd, const char *path, uint64_t limit, vt_alloc a, vt_file *out,
                       vt_diag *d) VT_NODISCARD;
void vt_file_done(vt_file *f);

/* At most `n` bytes from the start of a file into the caller's memory. For what the system shows as
 * files of size 0 (/proc, /sys), which vt_file_read takes for empty. */
vt_status vt_file_peek(const char *path, void *to, size_t n, size_t *out_n,
                       vt_diag *d) VT_NODISCARD;

/* What tells a file that was written to meanwhile: times as seconds and nanoseconds. */
typedef struct vt_file_state {
  int64_t written[2], changed[2], node[2];
  uint64_t size, links;
} vt_file_state;

/* Bytes that are read where they are needed, from memory or from an open regular file. A file is
 * copied by pread(2) and never mapped: a mapping of a file that shrinks ends the process with
 * SIGBUS, and one that is written to changes what was checked already. So a header can be judged
 * before anything behind it is read, and a huge sparse file costs nothing. */
typedef struct vt_source {
  const uint8_t *bytes; /* NULL: a file */
  uint64_t size;
  const char *path; /* the caller's */
  int fd;
  vt_file_state state; /* when it was opened */
} vt_source;
vt_source vt_source_memory(const void *p, size_t n);
/* Regular files only; larger than `limit` is VT_LIMIT. */
vt_status vt_source_open(const char *path, uint64_t limit, vt_source *out, vt_diag *d) VT_NODISCARD;
void vt_source_close(vt_source *s);
/* Exactly `n` bytes from position `at`. The caller has checked them against `size`: a file that
 * has fewer has shrunk, which is VT_IO. */
vt_status vt_source_read(const vt_source *s, uint64_t at, void *to, size_t n,
                         vt_diag *d) VT_NODISCARD;
/* VT_IO when the file is no longer what it was when it was opened. */
vt_status vt_source_check(const vt_source *s, vt_diag *d) VT_NODISCARD;

/* Writes to a temporary name in the same folder, syncs, and renames on commit. Abort, or any
 * failure, removes the temporary file. Behind a symbolic link it is the file that is replaced, not
 * the link; a device or a fifo is refused. */
typedef struct vt_file_writer {
  int fd, folder; /* what names are relative to */
  char temp[4096], path[4096];
} vt_file_writer;
vt_status vt_file_create(const char *path, vt_file_writer *w, vt_diag *d) VT_NODISCARD;
/* `name`, without a slash, in an open folder; with no permissions beyond `mode`. What has the name,
 * a link too, is replaced itself. The folder stays open until commit or abort. */
vt_status vt_file_create_in(int folder, const char *name, unsigned mode, vt_file_writer *w,
                            vt_diag *d) VT_NODISCARD;
vt_status vt_file_put(vt_file_writer *w, const void *p, size_t n, vt_diag *d) VT_NODISCARD;
vt_status vt_file_commit(vt_file_writer *w, vt_diag *d) VT_NODISCARD;
void vt_file_abort(vt_file_writer *w); /* a no-op after commit */
#endif
