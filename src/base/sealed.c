/* SPDX-License-Identifier: Apache-2.0
 * sealed.c - sealed files in memory by memfd_create(2), which only Linux has and which needs the
 * macro below. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vt_sealed.h"

enum { FIRST_FD = 10, CHUNK = 1 << 16 };

static vt_status system_failed(const char *what, vt_diag *d) {
  return VT_FAIL(d, errno == ENOMEM || errno == ENOSPC ? VT_NOMEM : VT_IO, "%s: %s", what,
                 strerror(errno));
}

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* Creates an anonymous file in memory. Newer kernels want a flag if the file may be executed; older
 * kernels reject that flag with EINVAL. */
static int create_memory_file(const char *name) {
  const unsigned may_execute = 0x10, flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  char shown[64];
  snprintf(shown, sizeof shown, "%.60s", name);
  const int fd = memfd_create(shown, flags | may_execute);
  return fd >= 0 || errno != EINVAL ? fd : memfd_create(shown, flags);
}

static vt_status create_memory_file_or_fail(const char *name, int *out, vt_diag *d) {
  const int low = create_memory_file(name);
  if (low < 0) return system_failed("cannot make a file in memory", d);
  const int fd = fcntl(low, F_DUPFD_CLOEXEC, FIRST_FD);
  const vt_status s = fd < 0 ? system_failed("cannot make a file in memory", d) : VT_OK;
  close(low);
  if (s == VT_OK) *out = fd;
  return s;
}

static vt_status write_all(int fd, const char *p, size_t n, vt_diag *d) {
  while (n > 0) {
    const ssize_t written = write(fd, p, n);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return system_failed("cannot write to memory", d);
    p += written;
    n -= (size_t)written;
  }
  return VT_OK;
}

static ssize_t read_chunk(int fd, char *to, uint64_t at) {
  ssize_t n;
  do {
    n = pread(fd, to, CHUNK, (off_t)at);
  } while (n < 0 && errno == EINTR);
  return n;
}

/* Seals the file and hashes it, in this order: before sealing, another process could still write to
 * it. */
static vt_status seal_and_hash(int fd, vt_sealed *out, vt_diag *d) {
  char chunk[CHUNK];
  vt_hasher h;
  uint64_t at = 0;
  ssize_t n;
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0)
    return system_failed("cannot seal a file in memory", d);
  vt_hash_init(&h);
  while ((n = read_chunk(fd, chunk, at)) > 0) {
    vt_hash_add(&h, chunk, (size_t)n);
    at += (uint64_t)n;
  }
  if (n < 0) return system_failed("cannot read from memory", d);
  *out = (vt_sealed){.fd = fd, .size = at, .hash = vt_hash_done(&h)};
  return VT_OK;
}

static vt_status copy_content(int from, int to, uint64_t limit, vt_diag *d) {
  char chunk[CHUNK];
  uint64_t at = 0;
  ssize_t n;
  while ((n = read_chunk(from, chunk, at)) > 0) {
    at += (uint64_t)n;
    if (at > limit)
      return VT_FAIL(d, VT_LIMIT, "it is larger than %llu bytes", (unsigned long long)limit);
    VT_TRY(write_all(to, chunk, (size_t)n, d));
  }
  return n < 0 ? system_failed("cannot read it", d) : VT_OK;
}

static vt_status seal_copy(int from, const char *path, uint64_t limit, vt_sealed *out, vt_diag *d) {
  struct stat st;
  int fd = -1;
  if (fstat(from, &st) != 0) return system_failed("cannot look at it", d);
  if (S_ISDIR(st.st_mode)) return VT_FAIL(d, VT_IO, "it is a folder");
  if (!S_ISREG(st.st_mode)) return VT_FAIL(d, VT_IO, "it is not a regular file");
  VT_TRY(create_memory_file_or_fail(base_name(path), &fd, d));
  vt_status s = copy_content(from, fd, limit, d);
  if (s == VT_OK) s = seal_and_hash(fd, out, d);
  if (s != VT_OK) close(fd);
  return s;
}

vt_status vt_sealed_read(const char *path, uint64_t limit, vt_sealed *out, vt_diag *d) {
  const int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (from < 0) return system_failed("cannot open it", d);
  const vt_status s = seal_copy(from, path, limit, out, d);
  close(from);
  return s;
}

vt_status vt_sealed_bytes(const void *p, size_t n, const char *name, vt_sealed *out, vt_diag *d) {
  int fd = -1;
  VT_TRY(create_memory_file_or_fail(name, &fd, d));
  vt_status s = write_all(fd, p, n, d);
  if (s == VT_OK) s = seal_and_hash(fd, out, d);
  if (s != VT_OK) close(fd);
  return s;
}

void vt_sealed_close(vt_sealed *s) {
  if (s->fd > 0) close(s->fd);
  *s = (vt_sealed){0};
}

void vt_sealed_path(int fd, char out[VT_SEALED_PATH]) {
  snprintf(out, VT_SEALED_PATH, "/proc/self/fd/%d", fd);
}
