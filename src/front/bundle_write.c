/* SPDX-License-Identifier: Apache-2.0
 * bundle_write.c - writes a bundle in a staging folder beside its target: the files of a folder, or
 * one zip file with stored members. Everything is synced before it is put in place, so that neither
 * a killed process nor a crash of the machine leaves a part of a bundle under the target's name. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "archive.h"
#include "vt_bundle_files.h"
#include "vt_sort.h"
#include "zip.h"

static const char zip_name[] = "bundle.zip"; /* name of the zip file in the staging folder */

static vt_status fail_no_memory(vt_diag *d) {
  return VT_FAIL(d, VT_NOMEM, "no memory to write a bundle");
}

static int ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), k = strlen(end);
  return n >= k && strcmp(text + n - k, end) == 0;
}

/* ---- opening ---- */

/* Refuses to replace a folder that is not a bundle, or that has files besides those of the bundle:
 * they would be lost. A file is replaced as by any other writer. */
static vt_status check_target(const vt_bundle_writer *w, vt_diag *d) {
  vt_bundle_files old;
  vt_diag why = {.code = VT_OK};
  struct stat st;
  if (!w->staging.exists) return VT_OK;
  if (stat(w->staging.path, &st) != 0)
    return VT_FAIL(d, VT_IO, "%s changed while it was to be replaced", w->staging.path);
  if (w->is_zip) {
    if (S_ISREG(st.st_mode)) return VT_OK;
    return VT_FAIL(d, VT_IO, "%s exists and is not a regular file: it will not be replaced",
                   w->staging.path);
  }
  if (!S_ISDIR(st.st_mode))
    return VT_FAIL(d, VT_IO,
                   "%s exists and is not a folder: it will not be replaced by one; a name that "
                   "ends in .vtz makes one file",
                   w->staging.path);
  const vt_status s = vt_bundle_files_open(w->staging.path, w->a, &old, &why);
  if (s == VT_NOMEM) return fail_no_memory(d);
  if (s != VT_OK) return VT_FAIL(d, VT_IO, "the folder will not be replaced: %.400s", why.text);
  vt_bundle_files_close(&old);
  return VT_OK;
}

static vt_status begin_zip(vt_bundle_writer *w, vt_diag *d) {
  struct stat st;
  const unsigned mode =
      w->staging.exists && stat(w->staging.path, &st) == 0 ? st.st_mode & 0777 : 0666;
  return vt_file_create_in(w->staging.folder, zip_name, mode, &w->file, d);
}

vt_status vt_bundle_writer_open(const char *path, vt_alloc a, vt_bundle_writer *out, vt_diag *d) {
  vt_bundle_writer *w = out;
  *w = (vt_bundle_writer){.a = a, .is_zip = ends_with(path, ".vtz"), .plans = -1};
  w->staging.parent = -1;
  w->file.fd = -1;
  vt_arena_init(&w->arena, a);
  vt_text_init(&w->local, a);
  vt_text_init(&w->directory, a);
  vt_status s = vt_staging_open(path, &w->staging, d);
  if (s == VT_OK) s = check_target(w, d);
  if (s == VT_OK && w->is_zip) s = begin_zip(w, d);
  if (s != VT_OK) vt_bundle_writer_close(w);
  return s;
}

void vt_bundle_writer_close(vt_bundle_writer *w) {
  vt_file_abort(&w->file);
  if (w->plans >= 0) (void)close(w->plans);
  w->plans = -1;
  vt_staging_close(&w->staging);
  vt_text_done(&w->local);
  vt_text_done(&w->directory);
  vt_arena_done(&w->arena);
}

/* ---- one file ---- */

/* Creates "NAME" or "plans/NAME" in the staging folder. */
static vt_status create_file(vt_bundle_writer *w, const char *name, vt_diag *d) {
  const size_t n = strlen(VT_BUNDLE_PLANS);
  if (strncmp(name, VT_BUNDLE_PLANS, n) != 0)
    return vt_file_create_in(w->staging.folder, name, 0666, &w->file, d);
  if (w->plans < 0) {
    if (mkdirat(w->staging.folder, "plans", 0777) == 0)
      w->plans = openat(w->staging.folder, "plans", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->plans < 0) return VT_FAIL(d, VT_IO, "cannot make the folder of plans in a bundle");
  }
  return vt_file_create_in(w->plans, name + n, 0666, &w->file, d);
}

vt_status vt_bundle_writer_begin(vt_bundle_writer *w, const char *name, vt_diag *d) {
  if (!vt_bundle_name_ok(name))
    return VT_FAIL(d, VT_NAME, "no file of a bundle may have the name '%.100s'", name);
  w->now = (vt_bundle_file){.name = vt_arena_string(&w->arena, name, strlen(name))};
  if (w->now.name == NULL) return fail_no_memory(d);
  vt_hash_init(&w->hasher);
  if (!w->is_zip) return create_file(w, name, d);
  w->local.n = 0;
  vt_zip_add_local_header(&w->local, name, "", 0, 0);
  if (vt_text_status(&w->local) != VT_OK) return fail_no_memory(d);
  return vt_file_write(&w->file, w->local.s, w->local.n, d);
}

vt_status vt_bundle_writer_add(vt_bundle_writer *w, const void *p, size_t n, vt_diag *d) {
  if (!vt_size_add(w->now.size, n, &w->now.size) || w->now.size > VT_ARCHIVE_FILE_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "a file of a bundle has at most %llu bytes",
                   (unsigned long long)VT_ARCHIVE_FILE_LIMIT);
  vt_hash_add(&w->hasher, p, n);
  if (w->is_zip) w->now.crc = (uint32_t)crc32_z(w->now.crc, p, n);
  return vt_file_write(&w->file, p, n, d);
}

/* Writes the header of a member again, with its size and CRC, which are known now; it has as many
 * bytes as before. */
static vt_status end_member(vt_bundle_writer *w, vt_diag *d) {
  const vt_bundle_file *f = &w->now;
  w->local.n = 0;
  vt_zip_add_local_header(&w->local, f->name, "", f->crc, f->size);
  vt_zip_add_directory_entry(&w->directory, f->name, "", f->crc, f->size, w->at);
  if (vt_text_status(&w->local) != VT_OK || vt_text_status(&w->directory) != VT_OK)
    return fail_no_memory(d);
  VT_TRY(vt_file_write_at(&w->file, w->at, w->local.s, w->local.n, d));
  w->at += w->local.n + f->size;
  w->n_members++;
  if (w->at > VT_ARCHIVE_FILE_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "a bundle in one file has at most %llu bytes",
                   (unsigned long long)VT_ARCHIVE_FILE_LIMIT);
  return VT_OK;
}

vt_status vt_bundle_writer_end(vt_bundle_writer *w, vt_diag *d) {
  w->now.hash = vt_hash_done(&w->hasher);
  VT_TRY(w->is_zip ? end_member(w, d) : vt_file_commit(&w->file, d));
  vt_bundle_file *list =
      vt_arena_grow(&w->arena, w->files, w->n_files, &w->cap_files, sizeof *list);
  if (list == NULL) return fail_no_memory(d);
  list[w->n_files++] = w->now;
  w->files = list;
  return VT_OK;
}

/* ---- tensors ---- */

vt_status vt_bundle_write_tensors(vt_bundle_writer *w, const char *name, uint32_t n,
                                  const char *const *names, const vt_tensor *tensors,
                                  vt_bundle_data_fn *data, void *user, vt_diag *d) {
  vt_arena arena;
  vt_text head;
  vt_status s = VT_OK;
  vt_arena_init(&arena, w->a);
  vt_text_init(&head, w->a);
  vt_item *items = VT_NEW_N(&arena, vt_item, n);
  if (items == NULL) s = fail_no_memory(d);
  for (uint32_t i = 0; i < n && s == VT_OK; i++) {
    uint64_t count;
    items[i] = (vt_item){.name = names[i], .tensor = &tensors[i]};
    s = vt_tensor_bytes(&tensors[i], &count, &items[i].bytes, d);
  }
  if (s == VT_OK) s = vt_safetensors_print_header(&head, items, n, d);
  if (s == VT_OK) s = vt_bundle_writer_begin(w, name, d);
  if (s == VT_OK) s = vt_bundle_writer_add(w, head.s, head.n, d);
  for (uint32_t i = 0; i < n && s == VT_OK; i++) s = data(user, w, i, d);
  if (s == VT_OK) s = vt_bundle_writer_end(w, d);
  vt_text_done(&head);
  vt_arena_done(&arena);
  return s;
}

/* ---- the manifest and the end ---- */

static int by_name(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(((const vt_bundle_file *)a)->name, ((const vt_bundle_file *)b)->name);
}

static vt_status write_manifest(vt_bundle_writer *w, vt_manifest *m, vt_diag *d) {
  vt_text text;
  m->files = w->files;
  m->n_files = w->n_files;
  if (w->n_files != 0 &&
      vt_sort(w->files, w->n_files, sizeof *w->files, by_name, NULL, w->a) != VT_OK)
    return fail_no_memory(d);
  vt_text_init(&text, w->a);
  vt_manifest_print(m, &text);
  vt_status s = vt_text_status(&text) == VT_OK ? VT_OK : fail_no_memory(d);
  if (s == VT_OK && text.n > VT_BUNDLE_MANIFEST_LIMIT)
    s = VT_FAIL(d, VT_LIMIT, "the metadata is too long: a manifest has at most %d bytes",
                VT_BUNDLE_MANIFEST_LIMIT);
  if (s == VT_OK) s = vt_bundle_writer_begin(w, VT_BUNDLE_MANIFEST, d);
  if (s == VT_OK) s = vt_bundle_writer_add(w, text.s, text.n, d);
  if (s == VT_OK) s = vt_bundle_writer_end(w, d);
  vt_text_done(&text);
  return s;
}

static vt_status commit_zip(vt_bundle_writer *w, vt_diag *d) {
  vt_zip_add_end_records(&w->directory, w->n_members, w->at, w->directory.n);
  if (vt_text_status(&w->directory) != VT_OK) return fail_no_memory(d);
  VT_TRY(vt_file_write(&w->file, w->directory.s, w->directory.n, d));
  VT_TRY(vt_file_commit(&w->file, d));
  return vt_staging_publish_file(&w->staging, zip_name, d);
}

vt_status vt_bundle_writer_commit(vt_bundle_writer *w, vt_manifest *m, vt_diag *d) {
  if (w->n_files > VT_BUNDLE_FILES_MAX)
    return VT_FAIL(d, VT_LIMIT, "a bundle has at most %d files", VT_BUNDLE_FILES_MAX);
  VT_TRY(write_manifest(w, m, d));
  if (w->is_zip) return commit_zip(w, d);
  if (w->plans >= 0) VT_TRY(vt_folder_sync(w->plans, w->staging.path, d));
  VT_TRY(check_target(w, d)); /* somebody may have put a file into the old one meanwhile */
  return vt_staging_publish_folder(&w->staging, d);
}
