/* SPDX-License-Identifier: Apache-2.0
 * store.c - a folder of cached files: checks who may have written a file, and limits the total
 * size. */
#include "vt_store.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vt_arena.h"
#include "vt_sort.h"

static const char *const suffixes[] = {".plan", ".cubin", ".trial"};
static const char unfinished[] = ".volta-";

static vt_status system_failed(const char *what, int error, vt_diag *d) {
  char reason[128];
  if (strerror_r(error, reason, sizeof reason) != 0)
    (void)snprintf(reason, sizeof reason, "error %d", error);
  return VT_FAIL(d, VT_IO, "%s: %s", what, reason);
}

/* Refuses a file or folder that another user could have written to. */
static vt_status check_only_owner_can_write(const struct stat *st, vt_diag *d) {
  if (st->st_uid != geteuid()) return VT_FAIL(d, VT_IO, "it belongs to another user");
  if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return VT_FAIL(d, VT_IO, "others than its owner may write to it");
  return VT_OK;
}

/* ---- the folder ---- */

/* Copies the path without trailing slashes: with one, open() would follow a symbolic link in spite
 * of O_NOFOLLOW. */
static vt_status strip_slashes(const char *path, char out[4096], vt_diag *d) {
  size_t n = strlen(path);
  while (n > 1 && path[n - 1] == '/') n--;
  if (n == 0 || n >= 4096) return VT_FAIL(d, VT_LIMIT, "its name is empty or too long");
  memcpy(out, path, n);
  out[n] = 0;
  return VT_OK;
}

vt_status vt_store_open(vt_store *s, const char *path, uint64_t limit, vt_diag *d) {
  char name[4096];
  struct stat st;
  VT_TRY(strip_slashes(path, name, d));
  if (mkdir(name, 0700) != 0 && errno != EEXIST)
    return system_failed("it cannot be made", errno, d);
  const int folder = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return system_failed("it cannot be opened", errno, d);
  vt_status status = fstat(folder, &st) == 0 ? check_only_owner_can_write(&st, d)
                                             : system_failed("it cannot be read", errno, d);
  if (status == VT_OK) {
    *s = (vt_store){.folder = folder, .limit = limit};
  } else {
    (void)close(folder);
  }
  return status;
}

void vt_store_close(vt_store *s) {
  if (s->folder >= 0) (void)close(s->folder);
  s->folder = -1;
}

/* ---- reading ---- */

static vt_status check_owner_and_read(int fd, const char *name, uint64_t limit, vt_alloc a,
                                      vt_file *out, vt_diag *d) {
  struct stat st;
  if (fstat(fd, &st) != 0) return system_failed("it cannot be read", errno, d);
  if (!S_ISREG(st.st_mode)) return VT_FAIL(d, VT_IO, "it is not a regular file");
  VT_TRY(check_only_owner_can_write(&st, d));
  return vt_file_read_fd(fd, name, limit, a, out, d);
}

/* Reads a file once. O_NONBLOCK keeps open() from waiting for a fifo's writer that may never come.
 */
static vt_status read_once(const vt_store *s, const char *name, vt_alloc a, int *out_there,
                           vt_file *out, vt_diag *d) {
  *out_there = 0;
  const int fd = openat(s->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? VT_OK : system_failed("it cannot be opened", errno, d);
  *out_there = 1;
  const vt_status status = check_owner_and_read(fd, name, s->limit, a, out, d);
  (void)close(fd);
  return status;
}

/* Another process may mark the file as used (vt_store_touch) while this one reads it, which looks
 * like a change. So reading is repeated, and fails only if the file changes every time. */
vt_status vt_store_read(const vt_store *s, const char *name, vt_alloc a, int *out_there,
                        vt_file *out, vt_diag *d) {
  enum { TRIES = 32 };
  vt_diag why = {0};
  vt_status status = VT_IO;
  for (int i = 0; i < TRIES && status == VT_IO; i++) {
    why = (vt_diag){0};
    status = read_once(s, name, a, out_there, out, &why);
  }
  if (status != VT_OK && d != NULL && d->code == VT_OK) *d = why;
  return status;
}

void vt_store_touch(const vt_store *s, const char *name) {
  /* An error does not matter: the file may be gone by now. */
  (void)utimensat(s->folder, name, NULL, AT_SYMLINK_NOFOLLOW);
}

/* ---- listing ---- */

typedef struct item {
  char name[VT_STORE_NAME_MAX];
  uint64_t bytes;
  struct timespec used; /* time of the last use */
  int finished;         /* 1 after the rename to its final name; 0 for a temporary file */
} item;
typedef struct listing {
  vt_arena arena;
  item *items;
  uint32_t n, cap; /* number of items; capacity of the array */
  uint64_t bytes;  /* bytes of all finished files */
} listing;

static int is_store_name(const char *name) {
  const size_t digits = strspn(name, "0123456789abcdef");
  for (size_t i = 0; digits > 0 && i < sizeof suffixes / sizeof *suffixes; i++)
    if (strcmp(name + digits, suffixes[i]) == 0) return 1;
  return 0;
}

/* Returns 1 for a finished file of the store, 0 for an unfinished one, -1 for a file of somebody
 * else. */
static int finished_unfinished_or_foreign(const char *name) {
  if (strlen(name) >= VT_STORE_NAME_MAX) return -1;
  if (strncmp(name, unfinished, sizeof unfinished - 1) == 0) return 0;
  return is_store_name(name) ? 1 : -1;
}

static void add_item(listing *l, const vt_store *s, const char *name) {
  const int kind = finished_unfinished_or_foreign(name);
  struct stat st;
  if (kind < 0 || fstatat(s->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISREG(st.st_mode)) return;
  item *items = vt_arena_grow(&l->arena, l->items, l->n, &l->cap, sizeof *items);
  if (items == NULL) return;
  l->items = items;
  item *x = &items[l->n++];
  *x = (item){.bytes = (uint64_t)st.st_size, .used = st.st_mtim, .finished = kind};
  memcpy(x->name, name, strlen(name) + 1);
  if (kind) l->bytes += x->bytes;
}

static vt_status list_folder(listing *l, const vt_store *s, vt_alloc a, vt_diag *d) {
  *l = (listing){0};
  vt_arena_init(&l->arena, a);
  const int fd = openat(s->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
  if (dir == NULL) {
    const vt_status status = system_failed("its folder cannot be read", errno, d);
    if (fd >= 0) (void)close(fd);
    return status;
  }
  for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir))
    add_item(l, s, e->d_name);
  (void)closedir(dir);
  return vt_arena_status(&l->arena) == VT_OK ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}

uint64_t vt_store_bytes(const vt_store *s, vt_alloc a) {
  listing l;
  if (s->folder < 0) return 0;
  const vt_status status = list_folder(&l, s, a, NULL);
  const uint64_t bytes = status == VT_OK ? l.bytes : 0;
  vt_arena_done(&l.arena);
  return bytes;
}

/* ---- keeping within the limit ---- */

static int compare_last_use(const void *a, const void *b, const void *context) {
  const item *x = a, *y = b;
  (void)context;
  if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* Removes abandoned unfinished files, and the least recently used files until the store is within
 * its limit, but not `fresh`, the file just written. A file that another process removed meanwhile
 * counts as removed. `now` is the time of the file system, taken from the file just written. */
static vt_status evict_old_files(const vt_store *s, const char *fresh, int64_t now, vt_alloc a,
                                 uint64_t *removed, vt_diag *d) {
  listing l;
  vt_status status = list_folder(&l, s, a, d);
  if (status == VT_OK && vt_sort(l.items, l.n, sizeof *l.items, compare_last_use, NULL, a) != VT_OK)
    status = VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; status == VT_OK && i < l.n; i++) {
    const item *x = &l.items[i];
    const int too_old = !x->finished && (int64_t)x->used.tv_sec + VT_STORE_STALE < now;
    const int too_much = x->finished && l.bytes > s->limit && strcmp(x->name, fresh) != 0;
    if (!too_old && !too_much) continue;
    const int gone = unlinkat(s->folder, x->name, 0) == 0;
    if (x->finished && (gone || errno == ENOENT)) l.bytes -= x->bytes;
    *removed += (uint64_t)(gone && x->finished);
  }
  vt_arena_done(&l.arena);
  return status;
}

static vt_status write_and_commit(vt_file_writer *w, const void *bytes, size_t n, int64_t *out_now,
                                  vt_diag *d) {
  struct stat st;
  VT_TRY(vt_file_write(w, bytes, n, d));
  *out_now = fstat(w->fd, &st) == 0 ? (int64_t)st.st_mtim.tv_sec : 0;
  return vt_file_commit(w, d);
}

vt_status vt_store_write(const vt_store *s, const char *name, const void *bytes, size_t n,
                         vt_alloc a, uint64_t *out_removed, vt_diag *d) {
  vt_file_writer w;
  int64_t now;
  *out_removed = 0;
  if (n > s->limit) return VT_FAIL(d, VT_LIMIT, "it is larger than all files may be together");
  VT_TRY(vt_file_create_in(s->folder, name, 0600, &w, d));
  const vt_status status = write_and_commit(&w, bytes, n, &now, d);
  vt_file_abort(&w);
  return status == VT_OK ? evict_old_files(s, name, now, a, out_removed, d) : status;
}
