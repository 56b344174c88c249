/* SPDX-License-Identifier: Apache-2.0
 * file.c - reads complete files that may be hostile, and writes files that are complete or absent.
 * Every message names the path and the reason that the operating system gives. */
#define _XOPEN_SOURCE 700 /* declares realpath */
#include "vt_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reports a failed system call. strerror is not thread-safe; POSIX's strerror_r writes to our own
 * buffer. */
static vt_status system_failed(const char *what, const char *path, int error, vt_diag *d) {
  char reason[128];
  if (strerror_r(error, reason, sizeof reason) != 0)
    (void)snprintf(reason, sizeof reason, "error %d", error);
  return VT_FAIL(d, VT_IO, "cannot %s %s: %s", what, path, reason);
}

/* ---- reading ------------------------------------------------------------------------------ */

static vt_status read_file_state(int fd, const char *path, vt_file_state *out, int *out_regular,
                                 vt_diag *d) {
  struct stat st;
  if (fstat(fd, &st) != 0) return system_failed("read", path, errno, d);
  *out = (vt_file_state){.written = {(int64_t)st.st_mtim.tv_sec, (int64_t)st.st_mtim.tv_nsec},
                         .changed = {(int64_t)st.st_ctim.tv_sec, (int64_t)st.st_ctim.tv_nsec},
                         .node = {(int64_t)st.st_dev, (int64_t)st.st_ino},
                         .size = (uint64_t)st.st_size,
                         .links = (uint64_t)st.st_nlink};
  *out_regular = S_ISREG(st.st_mode);
  return VT_OK;
}

/* Returns whether two states show the same content. The time of change (ctime) reveals a file that
 * was written to and whose time of writing was then set back. But ctime also changes when a name of
 * the file goes away, for instance when another file is renamed onto that name; the open descriptor
 * then still has the whole old file. So if the number of links differs, ctime is ignored. */
static int same_state(const vt_file_state *a, const vt_file_state *b) {
  if (a->size != b->size || memcmp(a->node, b->node, sizeof a->node) != 0) return 0;
  if (memcmp(a->written, b->written, sizeof a->written) != 0) return 0;
  return a->links != b->links || memcmp(a->changed, b->changed, sizeof a->changed) == 0;
}

static vt_status check_state_unchanged(int fd, const char *path, const vt_file_state *before,
                                       vt_diag *d) {
  vt_file_state now = {.size = 0};
  int regular = 0;
  VT_TRY(read_file_state(fd, path, &now, &regular, d));
  return same_state(before, &now) ? VT_OK : VT_FAIL(d, VT_IO, "%s changed while it was read", path);
}

/* Checks that the file is regular and within the limit. A file larger than half of the address
 * space is over any limit, so that the size plus one byte, for the terminating 0, cannot overflow.
 */
static vt_status read_checked_file_state(int fd, const char *path, uint64_t limit,
                                         vt_file_state *out, vt_diag *d) {
  int regular = 0;
  vt_file_state s = {.size = 0};
  VT_TRY(read_file_state(fd, path, &s, &regular, d));
  if (!regular) return VT_FAIL(d, VT_IO, "%s is not a regular file", path);
  if (s.size > limit || s.size > SIZE_MAX / 2)
    return VT_FAIL(d, VT_LIMIT, "%s has %llu bytes, more than the %llu accepted here", path,
                   (unsigned long long)s.size, (unsigned long long)limit);
  *out = s;
  return VT_OK;
}

/* Reads up to `n` bytes; *out_got is smaller only at the end of the file. */
static vt_status read_up_to(int fd, const char *path, uint8_t *p, size_t n, size_t *out_got,
                            vt_diag *d) {
  size_t got = 0;
  while (got < n) {
    const ssize_t r = read(fd, p + got, n - got);
    if (r < 0 && errno == EINTR) continue;
    if (r < 0) return system_failed("read", path, errno, d);
    if (r == 0) break;
    got += (size_t)r;
  }
  *out_got = got;
  return VT_OK;
}

/* Reads a file whose memory was allocated for the size in `before`. If the file has another size by
 * now, or was written to, the bytes may be a mixture of old and new content, so this fails. Reading
 * one byte more than the size, into the place of the terminating 0, detects a file that grew. */
static vt_status read_if_unchanged(int fd, const char *path, const vt_file_state *before,
                                   uint8_t *p, vt_diag *d) {
  const size_t size = (size_t)before->size;
  size_t got = 0;
  VT_TRY(read_up_to(fd, path, p, size + 1, &got, d));
  if (got != size) return VT_FAIL(d, VT_IO, "%s changed its size while it was read", path);
  p[size] = 0;
  return check_state_unchanged(fd, path, before, d);
}

vt_status vt_file_read_fd(int fd, const char *path, uint64_t limit, vt_alloc a, vt_file *out,
                          vt_diag *d) {
  vt_file_state before = {.size = 0};
  VT_TRY(read_checked_file_state(fd, path, limit, &before, d));
  const size_t size = (size_t)before.size;
  uint8_t *data = vt_alloc_new(a, size + 1);
  if (data == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for the %zu bytes of %s", size, path);
  const vt_status s = read_if_unchanged(fd, path, &before, data, d);
  if (s != VT_OK) {
    vt_alloc_free(a, data, size + 1);
    return s;
  }
  *out = (vt_file){.a = a, .data = data, .size = size};
  return VT_OK;
}

/* O_NONBLOCK keeps open() from waiting for a fifo's writer that may never come. */
vt_status vt_file_read(const char *path, uint64_t limit, vt_alloc a, vt_file *out, vt_diag *d) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return system_failed("open", path, errno, d);
  const vt_status s = vt_file_read_fd(fd, path, limit, a, out, d);
  (void)close(fd); /* an error of close cannot lose data, because nothing was written */
  return s;
}

void vt_file_done(vt_file *f) {
  vt_alloc_free(f->a, f->data, f->size + 1);
  *f = (vt_file){.a = f->a};
}

vt_status vt_file_peek(const char *path, void *to, size_t n, size_t *out_n, vt_diag *d) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return system_failed("open", path, errno, d);
  const vt_status s = read_up_to(fd, path, to, n, out_n, d);
  (void)close(fd);
  return s;
}

int vt_folder_is_at(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- reading in parts --------------------------------------------------------------------- */

vt_source vt_source_from_memory(const void *p, size_t n) {
  static const uint8_t none[1];
  return (vt_source){.bytes = n != 0 ? p : none, .size = n, .fd = -1};
}

static vt_status source_from_descriptor(int fd, const char *path, uint64_t limit, vt_source *out,
                                        vt_diag *d) {
  vt_source s = {.path = path, .fd = fd};
  if (s.fd < 0) return system_failed("open", path, errno, d);
  const vt_status status = read_checked_file_state(s.fd, path, limit, &s.state, d);
  if (status != VT_OK) {
    (void)close(s.fd);
    return status;
  }
  s.size = s.state.size;
  *out = s;
  return VT_OK;
}

vt_status vt_source_open(const char *path, uint64_t limit, vt_source *out, vt_diag *d) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  return source_from_descriptor(fd, path, limit, out, d);
}

vt_status vt_source_open_in(int folder, const char *name, const char *path, uint64_t limit,
                            vt_source *out, vt_diag *d) {
  const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0 && errno == ELOOP)
    return VT_FAIL(d, VT_IO, "%s is a symbolic link, which is not followed here", path);
  return source_from_descriptor(fd, path, limit, out, d);
}

vt_status vt_source_open_range(const vt_source *whole, const char *path, uint64_t begin,
                               uint64_t end, vt_source *out, vt_diag *d) {
  vt_source s = *whole;
  if (begin > end || end > whole->size)
    return VT_FAIL(d, VT_INTERNAL, "a range outside of a file was asked for");
  s.path = path;
  s.size = end - begin;
  if (s.bytes != NULL) {
    s.bytes += begin;
  } else {
    s.first += begin;
    s.fd = fcntl(whole->fd, F_DUPFD_CLOEXEC, 0);
    if (s.fd < 0) return system_failed("open", path, errno, d);
  }
  *out = s;
  return VT_OK;
}

void vt_source_close(vt_source *s) {
  if (s->fd >= 0) (void)close(s->fd);
  s->fd = -1;
}

vt_status vt_source_read(const vt_source *s, uint64_t at, void *to, size_t n, vt_diag *d) {
  uint8_t *p = to;
  if (at > s->size || n > s->size - at)
    return VT_FAIL(d, VT_INTERNAL, "bytes behind the end of a file were asked for");
  if (s->bytes != NULL) {
    if (n != 0) memcpy(p, s->bytes + at, n);
    return VT_OK;
  }
  at += s->first; /* cannot overflow, because the whole file ends after it */
  while (n != 0) {
    const ssize_t r = pread(s->fd, p, n, (off_t)at);
    if (r < 0 && errno == EINTR) continue;
    if (r < 0) return system_failed("read", s->path, errno, d);
    if (r == 0) return VT_FAIL(d, VT_IO, "%s changed while it was read", s->path);
    p += r;
    at += (uint64_t)r;
    n -= (size_t)r;
  }
  return VT_OK;
}

vt_status vt_source_check_unchanged(const vt_source *s, vt_diag *d) {
  return s->bytes != NULL ? VT_OK : check_state_unchanged(s->fd, s->path, &s->state, d);
}

/* ---- writing ------------------------------------------------------------------------------ */

enum { TEMP_TRIES = 100 };

/* Refuses a target that is a device or a fifo: a file must not replace it. */
static vt_status check_target_is_file(const char *path, int *out_exists, mode_t *out_mode,
                                      vt_diag *d) {
  struct stat st;
  *out_exists = 0;
  if (path[0] == 0) return VT_FAIL(d, VT_IO, "cannot write a file without a name");
  if (stat(path, &st) != 0) return errno == ENOENT ? VT_OK : system_failed("write", path, errno, d);
  *out_exists = 1;
  *out_mode = st.st_mode & 0777;
  if (S_ISREG(st.st_mode)) return VT_OK;
  return VT_FAIL(d, VT_IO, "%s exists and is not a regular file: it will not be replaced", path);
}

/* Writes the final path to w->path. A symbolic link is resolved, because its owner wants the file
 * behind it written. A dangling link has no such file and is replaced itself. */
static vt_status resolve_target(const char *path, int exists, vt_file_writer *w, vt_diag *d) {
  char *real = exists ? realpath(path, NULL) : NULL;
  const char *target = real != NULL ? real : path;
  const size_t n = strlen(target);
  const int fits = n < sizeof w->path;
  if (fits) memcpy(w->path, target, n + 1);
  free(real);
  return fits ? VT_OK : VT_FAIL(d, VT_LIMIT, "the path %.64s... is too long", path);
}

/* Writes the temporary name "folder/.volta-PID-COUNTER". It is in the target's folder because a
 * rename cannot cross file systems. Returns 0 when the name is too long. */
static int format_temp_name(vt_file_writer *w) {
  static atomic_uint counter;
  const char *slash = strrchr(w->path, '/');
  const int folder = slash != NULL ? (int)(slash - w->path) + 1 : 0;
  const int n = snprintf(w->temp, sizeof w->temp, "%.*s.volta-%ld-%u", folder, w->path,
                         (long)getpid(), atomic_fetch_add(&counter, 1));
  return n > 0 && (size_t)n < sizeof w->temp;
}

/* Creates the temporary file. O_EXCL refuses an existing file or link, which belongs to somebody
 * else; it may be the leftover of a killed process that had the same process id, so the next name
 * is tried. */
static vt_status create_temp_file(vt_file_writer *w, unsigned mode, vt_diag *d) {
  int error = EEXIST;
  for (int i = 0; i < TEMP_TRIES && error == EEXIST; i++) {
    if (!format_temp_name(w)) {
      w->temp[0] = 0;
      return VT_FAIL(d, VT_LIMIT, "the path %.64s... is too long", w->path);
    }
    w->fd = openat(w->folder, w->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
    if (w->fd >= 0) return VT_OK;
    error = errno;
  }
  w->temp[0] = 0;
  return system_failed("write", w->path, error, d);
}

/* Handles any failure after creation: removes the temporary file and reports the error. */
static vt_status abort_failed_write(vt_file_writer *w, int error, vt_diag *d) {
  vt_file_abort(w);
  return system_failed("write", w->path, error, d);
}

/* On failure the writer is left closed, so that aborting it does nothing. */
vt_status vt_file_create(const char *path, vt_file_writer *w, vt_diag *d) {
  w->fd = -1;
  w->folder = AT_FDCWD;
  w->temp[0] = w->path[0] = 0;
  int exists;
  mode_t mode = 0666;
  if (strlen(path) >= sizeof w->path)
    return VT_FAIL(d, VT_LIMIT, "the path %.64s... is too long", path);
  VT_TRY(check_target_is_file(path, &exists, &mode, d));
  VT_TRY(resolve_target(path, exists, w, d));
  VT_TRY(create_temp_file(w, mode, d));
  /* the new file gets the permissions of the file that it replaces */
  return !exists || fchmod(w->fd, mode) == 0 ? VT_OK : abort_failed_write(w, errno, d);
}

vt_status vt_file_create_in(int folder, const char *name, unsigned mode, vt_file_writer *w,
                            vt_diag *d) {
  const size_t n = strlen(name);
  w->fd = -1;
  w->folder = folder;
  w->temp[0] = w->path[0] = 0;
  if (n == 0 || n >= sizeof w->path || strchr(name, '/') != NULL)
    return VT_FAIL(d, VT_IO, "'%.64s' is not the name of a file in a folder", name);
  memcpy(w->path, name, n + 1);
  return create_temp_file(w, mode, d);
}

vt_status vt_file_write(vt_file_writer *w, const void *p, size_t n, vt_diag *d) {
  const uint8_t *from = p;
  if (w->temp[0] == 0) return VT_FAIL(d, VT_INTERNAL, "a file was written after it was closed");
  while (n != 0) {
    const ssize_t r = write(w->fd, from, n);
    if (r < 0 && errno == EINTR) continue;
    if (r <= 0) return abort_failed_write(w, r < 0 ? errno : EIO, d);
    from += r;
    n -= (size_t)r;
  }
  return VT_OK;
}

vt_status vt_file_write_at(vt_file_writer *w, uint64_t at, const void *p, size_t n, vt_diag *d) {
  const uint8_t *from = p;
  if (w->temp[0] == 0) return VT_FAIL(d, VT_INTERNAL, "a file was written after it was closed");
  while (n != 0) {
    const ssize_t r = pwrite(w->fd, from, n, (off_t)at);
    if (r < 0 && errno == EINTR) continue;
    if (r <= 0) return abort_failed_write(w, r < 0 ? errno : EIO, d);
    from += r;
    at += (uint64_t)r;
    n -= (size_t)r;
  }
  return VT_OK;
}

/* Linux closes the descriptor even if close() was interrupted, so close is never repeated. */
static int close_once(vt_file_writer *w) {
  const int r = close(w->fd);
  w->fd = -1;
  return r == 0 || errno == EINTR;
}

vt_status vt_file_commit(vt_file_writer *w, vt_diag *d) {
  if (w->temp[0] == 0) return VT_FAIL(d, VT_INTERNAL, "a file was committed after it was closed");
  while (fsync(w->fd) != 0)
    if (errno != EINTR) return abort_failed_write(w, errno, d);
  if (!close_once(w)) return abort_failed_write(w, errno, d);
  if (renameat(w->folder, w->temp, w->folder, w->path) != 0) return abort_failed_write(w, errno, d);
  w->temp[0] = 0;
  return VT_OK;
}

void vt_file_abort(vt_file_writer *w) {
  if (w->temp[0] == 0) return;
  if (w->fd >= 0) (void)close_once(w);
  (void)unlinkat(w->folder, w->temp, 0);
  w->temp[0] = 0;
}
