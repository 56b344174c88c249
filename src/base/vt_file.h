/* SPDX-License-Identifier: Apache-2.0
 * vt_file.h - reading files that may be hostile or change meanwhile, and writing files that are
 * never half-written. */
#ifndef VT_FILE_H
#define VT_FILE_H
#include "vt_alloc.h"

/* A file read completely into memory. The copy is private, so that a file that changes later cannot
 * change bytes that were checked already. */
typedef struct vt_file {
  vt_alloc a;
  uint8_t *data; /* the content, followed by one 0 byte that `size` does not count */
  size_t size;
} vt_file;
/* Reads a regular file. More than `limit` bytes are VT_LIMIT; a file that was written to while it
 * was read is VT_IO. "-" does not mean standard input. Diagnostics name the path and the system's
 * reason. */
vt_status vt_file_read(const char *path, uint64_t limit, vt_alloc a, vt_file *out,
                       vt_diag *d) VT_NODISCARD;
/* Like vt_file_read, but from a descriptor that the caller opened and closes; messages name `path`.
 */
vt_status vt_file_read_fd(int fd, const char *path, uint64_t limit, vt_alloc a, vt_file *out,
                          vt_diag *d) VT_NODISCARD;
void vt_file_done(vt_file *f);

/* Reads at most `n` bytes from the start of a file into the caller's memory. Needed for files in
 * /proc and /sys: their sizes are wrong (often 0), so vt_file_read would report that they changed.
 */
vt_status vt_file_peek(const char *path, void *to, size_t n, size_t *out_n,
                       vt_diag *d) VT_NODISCARD;

/* 1 if `path` is a folder. */
int vt_folder_is_at(const char *path);

/* The state of a file that reveals a later change. */
typedef struct vt_file_state {
  int64_t written[2]; /* time of the last write to the content: seconds, nanoseconds */
  int64_t changed[2]; /* time of the last change of content or attributes: seconds, nanoseconds */
  int64_t node[2];    /* device number and inode number */
  uint64_t size;      /* bytes */
  uint64_t links;     /* number of names of the file */
} vt_file_state;

/* Bytes that are read on demand, from memory or from an open regular file, so that a header can be
 * checked before anything after it is read, and a huge sparse file costs nothing. A file is read by
 * pread(2) and never mapped: when a mapped file shrinks, reading it ends the process with SIGBUS,
 * and when it is written to, bytes change that were checked already. */
typedef struct vt_source {
  const uint8_t *bytes; /* the bytes in memory; NULL if the source is a file */
  uint64_t size;
  uint64_t first;   /* position in the file of the source's first byte; 0 for a whole file */
  const char *path; /* name of the file for messages; owned by the caller */
  int fd;
  vt_file_state state; /* state of the file when it was opened */
} vt_source;
vt_source vt_source_from_memory(const void *p, size_t n);
/* Opens a regular file; more than `limit` bytes are VT_LIMIT. */
vt_status vt_source_open(const char *path, uint64_t limit, vt_source *out, vt_diag *d) VT_NODISCARD;
/* Like vt_source_open, for the file `name` of an open folder. A symbolic link is VT_IO, because it
 * could lead out of the folder. Messages name `path`. */
vt_status vt_source_open_in(int folder, const char *name, const char *path, uint64_t limit,
                            vt_source *out, vt_diag *d) VT_NODISCARD;
/* Opens bytes begin..end of a source, which must be inside it, as a source of their own; messages
 * name `path`. It stays open when `whole` is closed; a source in memory is shared. */
vt_status vt_source_open_range(const vt_source *whole, const char *path, uint64_t begin,
                               uint64_t end, vt_source *out, vt_diag *d) VT_NODISCARD;
void vt_source_close(vt_source *s);
/* Reads exactly `n` bytes at position `at`. The caller has checked the range against `size`: fewer
 * bytes mean that the file has shrunk, which is VT_IO. */
vt_status vt_source_read(const vt_source *s, uint64_t at, void *to, size_t n,
                         vt_diag *d) VT_NODISCARD;
/* Returns VT_IO when the file has changed since it was opened. */
vt_status vt_source_check_unchanged(const vt_source *s, vt_diag *d) VT_NODISCARD;

/* Writes a file under a temporary name in the same folder; commit syncs it and renames it to its
 * final name. Abort, or any failure, removes the temporary file. If the path is a symbolic link,
 * the file that it names is replaced, not the link; a device or a fifo is refused. */
typedef struct vt_file_writer {
  int fd;          /* the temporary file; -1 when closed */
  int folder;      /* descriptor of the folder that both names are relative to */
  char temp[4096]; /* temporary name; empty if no temporary file exists */
  char path[4096]; /* final name */
} vt_file_writer;
vt_status vt_file_create(const char *path, vt_file_writer *w, vt_diag *d) VT_NODISCARD;
/* Like vt_file_create, for the file `name` (without a slash) of an open folder, created with the
 * permissions `mode`. An existing file or link of that name is replaced itself. The caller keeps
 * the folder open until commit or abort. */
vt_status vt_file_create_in(int folder, const char *name, unsigned mode, vt_file_writer *w,
                            vt_diag *d) VT_NODISCARD;
vt_status vt_file_write(vt_file_writer *w, const void *p, size_t n, vt_diag *d) VT_NODISCARD;
/* Writes over bytes that were written before, for a header that is known only at the end. */
vt_status vt_file_write_at(vt_file_writer *w, uint64_t at, const void *p, size_t n,
                           vt_diag *d) VT_NODISCARD;
vt_status vt_file_commit(vt_file_writer *w, vt_diag *d) VT_NODISCARD;
void vt_file_abort(vt_file_writer *w); /* does nothing after commit */
#endif
