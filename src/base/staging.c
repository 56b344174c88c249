/* SPDX-License-Identifier: Apache-2.0
 * staging.c - makes, locks, publishes and removes the temporary folder in which a target is
 * prepared. Every name is relative to an open folder, so nothing depends on a path that somebody
 * else renames meanwhile. */
#define _GNU_SOURCE /* declares renameat2, flock and realpath */
#include "vt_staging.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100, DEPTH_MAX = 3 };

static vt_status system_failed(const char *what, const char *path, int error, vt_diag *d) {
  char reason[128] = "";
  const char *text = strerror_r(error, reason, sizeof reason);
  return VT_FAIL(d, VT_IO, "cannot %s %s: %s", what, path, text);
}

vt_status vt_folder_sync(int folder, const char *path, vt_diag *d) {
  while (fsync(folder) != 0) {
    /* some file systems cannot sync a folder, and need not */
    if (errno == EINVAL) return VT_OK;
    if (errno != EINTR) return system_failed("sync", path, errno, d);
  }
  return VT_OK;
}

/* ---- removing ---- */

static void remove_content(int folder, int depth);

/* Removes a file, a link or a folder with its content. Failures are ignored: what cannot be removed
 * is left to the next writer. */
static void remove_entry(int parent, const char *name, int depth) {
  if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
  const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  if (depth > 0) remove_content(fd, depth - 1);
  (void)close(fd);
  (void)unlinkat(parent, name, AT_REMOVEDIR);
}

static int is_dots(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

/* Opens a list of the entries of a folder, whose descriptor stays open. */
static DIR *open_list(int folder) {
  const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
  if (list == NULL && fd >= 0) (void)close(fd);
  return list;
}

static void remove_content(int folder, int depth) {
  DIR *list = open_list(folder);
  if (list == NULL) return;
  for (const struct dirent *e = readdir(list); e != NULL; e = readdir(list))
    if (!is_dots(e->d_name)) remove_entry(folder, e->d_name, depth);
  (void)closedir(list);
}

/* Returns 1 if `name` is that of a staging folder of the target: ".TARGET.volta-PID-COUNTER". */
static int is_staging_name(const char *name, const char *target) {
  static const char mark[] = ".volta-";
  const size_t n = strlen(target);
  if (name[0] != '.' || strncmp(name + 1, target, n) != 0) return 0;
  if (strncmp(name + 1 + n, mark, sizeof mark - 1) != 0) return 0;
  const char *digits = name + 1 + n + sizeof mark - 1;
  return digits[0] != '\0' && strspn(digits, "0123456789-") == strlen(digits);
}

/* Removes a staging folder unless its writer lives: then the writer has a lock on it. */
static void remove_if_abandoned(int parent, const char *name) {
  const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
    remove_content(fd, DEPTH_MAX);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
  }
  (void)close(fd);
}

static void remove_abandoned(const vt_staging *s) {
  DIR *list = open_list(s->parent);
  if (list == NULL) return;
  for (const struct dirent *e = readdir(list); e != NULL; e = readdir(list))
    if (is_staging_name(e->d_name, s->target)) remove_if_abandoned(s->parent, e->d_name);
  (void)closedir(list);
}

/* ---- opening ---- */

/* Writes the path of the target without symbolic links and trailing slashes. */
static vt_status resolve(const char *path, vt_staging *s, vt_diag *d) {
  struct stat st;
  char *real = NULL;
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') n--;
  if (n == 0) return VT_FAIL(d, VT_IO, "cannot write a file without a name");
  if (n >= sizeof s->path) return VT_FAIL(d, VT_LIMIT, "the path %.64s... is too long", path);
  memcpy(s->path, path, n);
  s->path[n] = '\0';
  s->exists = stat(s->path, &st) == 0;
  if (!s->exists && errno != ENOENT) return system_failed("write", path, errno, d);
  if (!s->exists) return VT_OK;
  real = realpath(s->path, NULL);
  if (real == NULL) return system_failed("write", path, errno, d);
  n = strlen(real);
  if (n < sizeof s->path) memcpy(s->path, real, n + 1);
  free(real);
  return n < sizeof s->path ? VT_OK : VT_FAIL(d, VT_LIMIT, "the path %.64s... is too long", path);
}

/* Splits the path of the target, and opens the folder that it is in. */
static vt_status open_parent(vt_staging *s, vt_diag *d) {
  enum { ROOM = 40 }; /* bytes that the name of the staging folder has in addition */
  char folder[VT_STAGING_PATH];
  const char *slash = strrchr(s->path, '/'), *name = slash != NULL ? slash + 1 : s->path;
  const size_t n = (size_t)(name - s->path), length = strlen(name);
  if (length == 0 || is_dots(name))
    return VT_FAIL(d, VT_IO, "%s cannot be replaced: give it a name of its own", s->path);
  if (length + ROOM > sizeof s->target)
    return VT_FAIL(d, VT_LIMIT, "the name %.64s... is too long", name);
  memcpy(s->target, name, length + 1);
  memcpy(folder, n != 0 ? s->path : ".", n != 0 ? n : 1);
  folder[n != 0 ? n : 1] = '\0';
  s->parent = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return s->parent >= 0 ? VT_OK : system_failed("open the folder", folder, errno, d);
}

/* Opens and locks the staging folder that was just made. Another writer may have taken it for an
 * abandoned one in between: then it has the lock or has removed the folder, and 0 is returned. */
static int lock_folder(vt_staging *s) {
  struct stat at_name, opened;
  s->folder = openat(s->parent, s->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (s->folder < 0) return 0;
  if (flock(s->folder, LOCK_EX | LOCK_NB) == 0 && fstat(s->folder, &opened) == 0 &&
      fstatat(s->parent, s->name, &at_name, AT_SYMLINK_NOFOLLOW) == 0 &&
      at_name.st_dev == opened.st_dev && at_name.st_ino == opened.st_ino)
    return 1;
  (void)close(s->folder);
  s->folder = -1;
  return 0;
}

static vt_status make_folder(vt_staging *s, vt_diag *d) {
  static atomic_uint counter;
  for (int i = 0; i < TRIES; i++) {
    (void)snprintf(s->name, sizeof s->name, ".%s.volta-%ld-%u", s->target, (long)getpid(),
                   atomic_fetch_add(&counter, 1));
    if (mkdirat(s->parent, s->name, 0777) != 0) {
      if (errno == EEXIST) continue;
      return system_failed("write", s->path, errno, d);
    }
    if (lock_folder(s)) return VT_OK;
  }
  return VT_FAIL(d, VT_IO, "cannot write %s: no temporary folder beside it could be made", s->path);
}

vt_status vt_staging_open(const char *path, vt_staging *out, vt_diag *d) {
  vt_staging s = {.parent = -1, .folder = -1};
  VT_TRY(resolve(path, &s, d));
  VT_TRY(open_parent(&s, d));
  remove_abandoned(&s);
  const vt_status status = make_folder(&s, d);
  if (status == VT_OK)
    *out = s;
  else
    (void)close(s.parent);
  return status;
}

void vt_staging_close(vt_staging *s) {
  if (s->parent < 0) return;
  if (s->name[0] != '\0') {
    /* by name: after an exchange it is the old target that is here, not the folder that is open */
    remove_entry(s->parent, s->name, DEPTH_MAX);
  }
  (void)close(s->folder);
  (void)close(s->parent);
  s->parent = s->folder = -1;
}

/* ---- publishing ---- */

vt_status vt_staging_publish_file(vt_staging *s, const char *name, vt_diag *d) {
  VT_TRY(vt_folder_sync(s->folder, s->path, d));
  if (renameat(s->folder, name, s->parent, s->target) != 0)
    return system_failed("write", s->path, errno, d);
  return vt_folder_sync(s->parent, s->path, d);
}

/* The exchange is one step for every other process, and for one that kills this one. A rename of
 * the old folder to the side would leave a moment without any target, so it is no substitute. */
vt_status vt_staging_publish_folder(vt_staging *s, vt_diag *d) {
  const unsigned how = s->exists ? RENAME_EXCHANGE : RENAME_NOREPLACE;
  VT_TRY(vt_folder_sync(s->folder, s->path, d));
  int failed = renameat2(s->parent, s->name, s->parent, s->target, how) != 0;
  if (failed && !s->exists && (errno == EINVAL || errno == ENOSYS))
    failed = renameat(s->parent, s->name, s->parent, s->target) != 0;
  if (failed && s->exists && (errno == EINVAL || errno == ENOSYS))
    return VT_FAIL(d, VT_IO,
                   "%s cannot be replaced: its file system cannot exchange two folders; remove it "
                   "first, or write one file",
                   s->path);
  if (failed) return system_failed("write", s->path, errno, d);
  if (!s->exists) s->name[0] = '\0';
  return vt_folder_sync(s->parent, s->path, d);
}
