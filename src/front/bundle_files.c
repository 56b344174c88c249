/* SPDX-License-Identifier: Apache-2.0
 * bundle_files.c - opens the files of a bundle, which may be hostile, from a folder or a zip file:
 * every file is listed in the manifest with its size, and every listed file is there. Nothing is
 * ever unpacked to a path, and no symbolic link in a folder is followed. */
#include "vt_bundle_files.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "archive.h"
#include "weight_list.h"
#include "zip.h"

static vt_status fail_no_memory(vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "no memory for the files of a bundle");
}

static int by_name(const char *name, const vt_bundle_file *f) { return strcmp(name, f->name); }

static vt_bundle_file *find(const vt_manifest *m, const char *name) {
  uint32_t begin = 0, end = m->n_files;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const int c = by_name(name, &m->files[middle]);
    if (c == 0) return &m->files[middle];
    if (c < 0)
      end = middle;
    else
      begin = middle + 1;
  }
  return NULL;
}

const vt_bundle_file *vt_bundle_files_find(const vt_bundle_files *b, const char *name) {
  return find(&b->manifest, name);
}

/* The path of a file for messages: that of the bundle, a slash and the name. */
static const char *path_of(vt_bundle_files *b, const char *name) {
  const size_t n = strlen(b->path), k = strlen(name);
  char *path = vt_arena_array(&b->arena, n + k + 2, 1);
  if (path == NULL) return NULL;
  memcpy(path, b->path, n);
  path[n] = '/';
  memcpy(path + n + 1, name, k);
  return path;
}

/* ---- the manifest ---- */

static vt_status parse_manifest(vt_bundle_files *b, const vt_file *f, vt_diag *d) {
  const size_t n = f->size;
  char *text = vt_arena_string(&b->arena, (const char *)f->data, n);
  char *work = vt_arena_string(&b->arena, (const char *)f->data, n);
  if (text == NULL || work == NULL) return fail_no_memory(d);
  b->text = text;
  if (memchr(text, 0, n) != NULL)
    return VT_FAIL(d, VT_FORMAT, "the manifest is not a text: it has a zero byte");
  return vt_manifest_parse(work, n, &b->arena, &b->manifest, d);
}

static vt_status read_manifest(vt_bundle_files *b, const vt_source *src, vt_diag *d) {
  vt_diag why = {.code = VT_OK};
  vt_file f = {.a = b->a, .size = (size_t)src->size};
  if (src->size > VT_BUNDLE_MANIFEST_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "%s: the manifest has %llu bytes, more than the %d accepted",
                   b->path, (unsigned long long)src->size, VT_BUNDLE_MANIFEST_LIMIT);
  f.data = vt_alloc_new(b->a, f.size + 1);
  if (f.data == NULL) return fail_no_memory(d);
  vt_status s = vt_source_read(src, 0, f.data, f.size, &why);
  if (s == VT_OK) s = vt_source_check_unchanged(src, &why);
  if (s == VT_OK) s = parse_manifest(b, &f, &why);
  vt_file_done(&f);
  return vt_weight_blame(b->path, s, &why, d);
}

static vt_status check_required_files(const vt_bundle_files *b, vt_diag *d) {
  static const char *const names[] = {VT_BUNDLE_MODEL, VT_BUNDLE_WEIGHTS};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (find(&b->manifest, names[i]) == NULL)
      return VT_FAIL(d, VT_FORMAT, "%s: the manifest does not list '%s'", b->path, names[i]);
  return VT_OK;
}

static vt_status fail_unlisted(const vt_bundle_files *b, const char *name, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  return VT_FAIL(d, VT_FORMAT, "%s: '%s' is in the bundle, but not in its manifest", b->path,
                 vt_archive_escape(name, strlen(name), q));
}

static vt_status check_size(const vt_bundle_files *b, const vt_bundle_file *f, vt_diag *d) {
  if (f->src.size == f->size) return VT_OK;
  return VT_FAIL(d, VT_FORMAT, "%s: '%s' has %llu bytes, but the manifest says %llu", b->path,
                 f->name, (unsigned long long)f->src.size, (unsigned long long)f->size);
}

/* ---- a folder ---- */

static vt_status system_failed(const char *what, const char *path, int error, vt_diag *d) {
  char reason[128];
  if (strerror_r(error, reason, sizeof reason) != 0)
    (void)snprintf(reason, sizeof reason, "error %d", error);
  return VT_FAIL(d, VT_IO, "cannot %s %s: %s", what, path, reason);
}

/* Opens a file of one or two parts: "plans/a.plan" through the folder "plans", which must not be a
 * symbolic link either. */
static vt_status open_in_folder(vt_bundle_files *b, int folder, const char *name, vt_source *out,
                                vt_diag *d) {
  const char *slash = strchr(name, '/'), *path = path_of(b, name);
  char part[VT_BUNDLE_NAME_MAX + 1];
  if (path == NULL) return fail_no_memory(d);
  if (slash == NULL) return vt_source_open_in(folder, name, path, VT_ARCHIVE_FILE_LIMIT, out, d);
  memcpy(part, name, (size_t)(slash - name));
  part[slash - name] = '\0';
  const int inner = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) return system_failed("open the folder of", path, errno, d);
  const vt_status s = vt_source_open_in(inner, slash + 1, path, VT_ARCHIVE_FILE_LIMIT, out, d);
  (void)close(inner);
  return s;
}

/* 1 if the manifest lists a file in the folder `name` of the bundle. */
static int has_folder(const vt_manifest *m, const char *name) {
  const size_t n = strlen(name);
  for (uint32_t i = 0; i < m->n_files; i++)
    if (strncmp(m->files[i].name, name, n) == 0 && m->files[i].name[n] == '/') return 1;
  return 0;
}

static vt_status check_listed(const vt_bundle_files *b, int folder, const char *prefix, vt_diag *d);

/* Checks one entry of a folder; `prefix` is "" or the name of the folder with a slash. */
static vt_status check_entry(const vt_bundle_files *b, int folder, const char *prefix,
                             const char *entry, vt_diag *d) {
  char name[VT_BUNDLE_NAME_MAX + 300];
  if (strcmp(entry, ".") == 0 || strcmp(entry, "..") == 0) return VT_OK;
  (void)snprintf(name, sizeof name, "%s%s", prefix, entry);
  if (find(&b->manifest, name) != NULL || strcmp(name, VT_BUNDLE_MANIFEST) == 0) return VT_OK;
  if (prefix[0] != '\0' || !has_folder(&b->manifest, name)) return fail_unlisted(b, name, d);
  const int inner = openat(folder, entry, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner < 0) return fail_unlisted(b, name, d);
  (void)snprintf(name, sizeof name, "%s/", entry);
  return check_listed(b, inner, name, d);
}

/* Checks that the manifest lists all files of a folder, whose descriptor is closed. */
static vt_status check_listed(const vt_bundle_files *b, int folder, const char *prefix,
                              vt_diag *d) {
  vt_status s = VT_OK;
  DIR *list = fdopendir(folder);
  if (list == NULL) {
    const int error = errno;
    (void)close(folder);
    return system_failed("list", b->path, error, d);
  }
  for (const struct dirent *e = readdir(list); s == VT_OK && e != NULL; e = readdir(list))
    s = check_entry(b, folder, prefix, e->d_name, d);
  (void)closedir(list);
  return s;
}

static vt_status open_files_in_folder(vt_bundle_files *b, int folder, vt_diag *d) {
  vt_manifest *m = &b->manifest;
  for (uint32_t i = 0; i < m->n_files; i++) {
    VT_TRY(open_in_folder(b, folder, m->files[i].name, &m->files[i].src, d));
    m->files[i].found = 1;
    VT_TRY(check_size(b, &m->files[i], d));
  }
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return system_failed("list", b->path, errno, d);
  return check_listed(b, again, "", d);
}

static vt_status read_folder(vt_bundle_files *b, int folder, vt_diag *d) {
  vt_source src;
  if (faccessat(folder, VT_BUNDLE_MANIFEST, F_OK, 0) != 0 && errno == ENOENT)
    return VT_FAIL(d, VT_IO, "%s is a folder without '%s', so it is not a bundle", b->path,
                   VT_BUNDLE_MANIFEST);
  VT_TRY(open_in_folder(b, folder, VT_BUNDLE_MANIFEST, &src, d));
  const vt_status s = read_manifest(b, &src, d);
  vt_source_close(&src);
  VT_TRY(s);
  VT_TRY(check_required_files(b, d));
  return open_files_in_folder(b, folder, d);
}

/* ---- a zip file ---- */

static vt_status check_stored(const vt_bundle_files *b, const vt_member *m, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  if (m->method == 0) return VT_OK;
  return VT_FAIL(d, VT_UNSUPPORTED,
                 "%s: '%s' is compressed; the members of a bundle are stored, as zip -0 writes "
                 "them, so that they can be read in place",
                 b->path, vt_archive_escape(m->name, strlen(m->name), q));
}

static const vt_member *find_member(const vt_zip *zip, const char *name) {
  for (uint32_t i = 0; i < zip->count; i++)
    if (strcmp(zip->members[i].name, name) == 0) return &zip->members[i];
  return NULL;
}

/* Opens the members that the manifest lists; the directory has no name twice. */
static vt_status open_members(vt_bundle_files *b, const vt_source *src, const vt_zip *zip,
                              vt_diag *d) {
  for (uint32_t i = 0; i < zip->count; i++) {
    const vt_member *m = &zip->members[i];
    vt_bundle_file *f = find(&b->manifest, m->name);
    if (strcmp(m->name, VT_BUNDLE_MANIFEST) == 0) continue;
    if (f == NULL) return fail_unlisted(b, m->name, d);
    const char *path = path_of(b, f->name);
    if (path == NULL) return fail_no_memory(d);
    VT_TRY(vt_source_open_range(src, path, m->begin, m->end, &f->src, d));
    f->found = 1;
    f->crc = m->crc;
    VT_TRY(check_size(b, f, d));
  }
  for (uint32_t i = 0; i < b->manifest.n_files; i++)
    if (!b->manifest.files[i].found)
      return VT_FAIL(d, VT_FORMAT, "%s: '%s' is in the manifest, but not in the bundle", b->path,
                     b->manifest.files[i].name);
  return VT_OK;
}

static vt_status read_members(vt_bundle_files *b, const vt_source *src, const vt_zip *zip,
                              vt_diag *d) {
  vt_source manifest;
  for (uint32_t i = 0; i < zip->count; i++) VT_TRY(check_stored(b, &zip->members[i], d));
  const vt_member *m = find_member(zip, VT_BUNDLE_MANIFEST);
  if (m == NULL)
    return VT_FAIL(d, VT_FORMAT, "%s is a zip file without '%s', so it is not a bundle", b->path,
                   VT_BUNDLE_MANIFEST);
  VT_TRY(vt_source_open_range(src, b->path, m->begin, m->end, &manifest, d));
  vt_status s = read_manifest(b, &manifest, d);
  vt_source_close(&manifest);
  VT_TRY(s);
  const uint32_t crc = (uint32_t)crc32_z(0, (const uint8_t *)b->text, (size_t)m->size);
  if (crc != m->crc)
    return VT_FAIL(d, VT_FORMAT, "%s: the CRC of the manifest is %08x, but the zip file says %08x",
                   b->path, crc, m->crc);
  VT_TRY(check_required_files(b, d));
  VT_TRY(open_members(b, src, zip, d));
  return vt_source_check_unchanged(src, d);
}

static vt_status read_zip(vt_bundle_files *b, const vt_source *src, vt_diag *d) {
  vt_archive *ar = NULL;
  vt_zip zip = {.count = 0};
  vt_diag why = {.code = VT_OK};
  VT_TRY(vt_archive_new(&b->a, &ar, d));
  vt_status s = vt_weight_blame(b->path, vt_zip_open(ar, src, &zip, &why), &why, d);
  if (s == VT_OK) s = read_members(b, src, &zip, d);
  vt_archive_free(ar);
  return s;
}

static vt_status open_zip(vt_bundle_files *b, vt_diag *d) {
  vt_source src;
  VT_TRY(vt_source_open(b->path, VT_ARCHIVE_FILE_LIMIT, &src, d));
  const vt_status s = read_zip(b, &src, d);
  vt_source_close(&src);
  return s;
}

/* ---- opening and closing ---- */

void vt_bundle_files_close(vt_bundle_files *b) {
  for (uint32_t i = 0; i < b->manifest.n_files; i++)
    if (b->manifest.files[i].found) vt_source_close(&b->manifest.files[i].src);
  vt_arena_done(&b->arena);
  *b = (vt_bundle_files){.a = b->a};
}

/* 1 if the path no longer names the open folder: a new bundle has been put in its place. */
static int was_replaced(int folder, const char *path) {
  struct stat opened, now;
  return fstat(folder, &opened) == 0 && stat(path, &now) == 0 &&
         (opened.st_dev != now.st_dev || opened.st_ino != now.st_ino);
}

/* Opens the bundle once. A folder that is replaced meanwhile loses its files one by one while they
 * are opened; then the failure means nothing, and *out_again is 1. */
static vt_status open_path(vt_bundle_files *b, const char *path, int *out_again, vt_diag *d) {
  b->path = vt_arena_string(&b->arena, path, strlen(path));
  if (b->path == NULL) return fail_no_memory(d);
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  b->is_zip = folder < 0 && errno == ENOTDIR;
  if (b->is_zip) return open_zip(b, d);
  if (folder < 0) return system_failed("open", path, errno, d);
  const vt_status s = read_folder(b, folder, d);
  *out_again = (s == VT_IO || s == VT_FORMAT) && was_replaced(folder, path);
  (void)close(folder);
  return s;
}

vt_status vt_bundle_files_open(const char *path, vt_alloc a, vt_bundle_files *out, vt_diag *d) {
  enum { TRIES = 100 };
  for (int i = 0;; i++) {
    vt_bundle_files b = {.a = a};
    vt_diag why = {.code = VT_OK};
    int again = 0;
    vt_arena_init(&b.arena, a);
    const vt_status s = open_path(&b, path, &again, &why);
    if (s == VT_OK) {
      *out = b;
      return VT_OK;
    }
    vt_bundle_files_close(&b);
    if (again && i < TRIES) continue;
    if (d != NULL && d->code == VT_OK) *d = why;
    return s;
  }
}

/* ---- content ---- */

enum { PIECE = 256 * 1024 };

static vt_status fail_wrong_hash(const vt_bundle_files *b, const vt_bundle_file *f, vt_diag *d) {
  return VT_FAIL(d, VT_FORMAT,
                 "%s: '%s' is damaged: its content does not have the hash that the "
                 "manifest says",
                 b->path, f->name);
}

vt_status vt_bundle_files_read(const vt_bundle_files *b, const vt_bundle_file *f, uint64_t limit,
                               vt_file *out, vt_diag *d) {
  vt_file file = {.a = b->a, .size = (size_t)f->size};
  if (f->size > limit)
    return VT_FAIL(d, VT_LIMIT, "%s: '%s' has %llu bytes, more than the %llu accepted", b->path,
                   f->name, (unsigned long long)f->size, (unsigned long long)limit);
  file.data = vt_alloc_new(b->a, file.size + 1);
  if (file.data == NULL) return fail_no_memory(d);
  vt_status s = vt_source_read(&f->src, 0, file.data, file.size, d);
  if (s == VT_OK) s = vt_source_check_unchanged(&f->src, d);
  const vt_hash256 hash = vt_hash_bytes(file.data, s == VT_OK ? file.size : 0);
  if (s == VT_OK && memcmp(&hash, &f->hash, sizeof hash) != 0) s = fail_wrong_hash(b, f, d);
  if (s == VT_OK)
    *out = file;
  else
    vt_file_done(&file);
  return s;
}

/* Hashes a file through a buffer of PIECE bytes, and checks the CRC of a member of a zip file. */
static vt_status check_content(const vt_bundle_files *b, const vt_bundle_file *f, uint8_t *piece,
                               vt_diag *d) {
  vt_stream s;
  vt_hasher h;
  VT_TRY(vt_stream_open(&f->src, 0, f->src.size, VT_STREAM_PLAIN, b->a, &s, d));
  s.sums = b->is_zip;
  vt_hash_init(&h);
  for (uint64_t left = f->size, n; left != 0; left -= n) {
    n = left < PIECE ? left : PIECE;
    VT_TRY(vt_stream_read(&s, piece, n, d)); /* a plain stream needs no closing */
    vt_hash_add(&h, piece, (size_t)n);
  }
  VT_TRY(vt_source_check_unchanged(&f->src, d));
  const vt_hash256 hash = vt_hash_done(&h);
  if (memcmp(&hash, &f->hash, sizeof hash) != 0) return fail_wrong_hash(b, f, d);
  if (b->is_zip && s.crc != f->crc)
    return VT_FAIL(d, VT_FORMAT, "%s: the CRC of '%s' is %08x, but the zip file says %08x", b->path,
                   f->name, s.crc, f->crc);
  return VT_OK;
}

vt_status vt_bundle_files_check(const vt_bundle_files *b, const vt_bundle_file *f, vt_diag *d) {
  uint8_t *piece = vt_alloc_raw(b->a, PIECE);
  if (piece == NULL) return fail_no_memory(d);
  const vt_status s = check_content(b, f, piece, d);
  vt_alloc_free(b->a, piece, PIECE);
  return s;
}

vt_status vt_bundle_files_read_tensors(const vt_bundle_files *b, const vt_bundle_file *f,
                                       vt_archive **out, vt_diag *d) {
  vt_diag why = {.code = VT_OK};
  vt_status s = vt_archive_read_source(&f->src, vt_safetensors_parse, b->a, out, &why);
  if (s == VT_OK) {
    s = vt_source_check_unchanged(&f->src, &why);
    if (s != VT_OK) vt_archive_free(*out);
  }
  return vt_weight_blame(f->src.path, s, &why, d);
}
