/* SPDX-License-Identifier: Apache-2.0
 * diverge_write.c - writes a divergence as a folder with the model, its inputs and a page,
 * README.txt, that says what was found and how to run it. The folder is written under a temporary
 * name and then renamed, so that it is complete or does not exist. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "diverge.h"
#include "volta/volta_admit.h"
#include "volta/volta_tools.h"

enum { PATH = 4096 };
static const char MARK[] = VT_DIVERGES;

static vt_status fail_system(const char *what, const char *path, vt_diag *d) {
  char reason[128];
  const int error = errno;
  if (strerror_r(error, reason, sizeof reason) != 0)
    snprintf(reason, sizeof reason, "error %d", error);
  return VT_FAIL(d, VT_IO, "cannot %s %.200s: %s", what, path, reason);
}

/* Prints "FOLDER/NAME" and an ending; VT_LIMIT if it is too long. */
static vt_status join_path(const char *folder, const char *name, const char *ending, char out[PATH],
                           vt_diag *d) {
  const int n = snprintf(out, PATH, "%s/%s%s", folder, name, ending);
  return n > 0 && n < PATH ? VT_OK : VT_FAIL(d, VT_LIMIT, "the name of the folder is too long");
}

/* ---- the command ---- */

static int is_plain_in_shell(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         strchr("_-./:,=+@%", c) != NULL;
}

void vt_text_add_shell_word(vt_text *out, const char *word) {
  int plain = word[0] != 0;
  for (const char *c = word; *c != 0; c++) plain = plain && is_plain_in_shell(*c);
  if (plain) {
    vt_text_add(out, "%s", word);
    return;
  }
  vt_text_add(out, "'");
  for (const char *c = word; *c != 0; c++)
    if (*c == '\'')
      vt_text_add(out, "'\\''");
    else
      vt_text_add_bytes(out, c, 1);
  vt_text_add(out, "'");
}

static int is_in_current_folder(const char *folder) {
  return strchr(folder, '/') == NULL && strcmp(folder, ".") != 0 && strcmp(folder, "..") != 0;
}

/* Appends the list of backends for `volta parity`. The command runs in the folder, but the path of
 * a plug-in is relative to the current folder, so the path is changed. */
static vt_status add_backend_list(vt_text *out, const char *folder, const char *backend,
                                  vt_diag *d) {
  char here[PATH] = "..";
  const int relative = strchr(backend, '/') != NULL && backend[0] != '/';
  vt_text word;
  if (relative && !is_in_current_folder(folder) && getcwd(here, sizeof here) == NULL)
    return fail_system("name", "the current folder", d);
  vt_text_init(&word, out->a);
  vt_text_add(&word, "reference:0,");
  if (relative) {
    while (strncmp(backend, "./", 2) == 0) backend += 2;
    vt_text_add(&word, "%s/", here);
  }
  vt_text_add(&word, "%s", backend);
  if (vt_text_status(&word) == VT_OK) vt_text_add_shell_word(out, word.s);
  const vt_status s = vt_text_status(&word);
  vt_text_done(&word);
  return s == VT_OK ? VT_OK : VT_FAIL(d, s, "out of memory");
}

static const char *file_ending(const vt_tensor *t) {
  return t->dtype == VT_DTYPE_BF16 ? ".safetensors" : ".npy";
}

static vt_status add_command(const vt_divergence *x, const char *folder, const char *backend,
                             vt_text *out, vt_diag *d) {
  if (x->threads != 0) vt_text_add(out, "VOLTA_THREADS=%u ", x->threads);
  vt_text_add(out, "volta parity model.vt");
  for (uint32_t i = 0; i < x->n_inputs; i++)
    vt_text_add(out, " --in %s=%s%s", x->names[i], x->names[i], file_ending(&x->inputs[i]));
  if (x->passes != NULL) vt_text_add(out, " --passes %s", x->passes);
  vt_text_add(out, " --backends ");
  VT_TRY(add_backend_list(out, folder, backend, d));
  if (strchr(backend, '/') != NULL) vt_text_add(out, " --allow-unadmitted");
  if (x->untried) vt_text_add(out, " --untried");
  return vt_text_status(out) == VT_OK ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}

/* ---- the page ---- */

static void add_difference_lines(const vt_divergence *x, vt_text *out) {
  const int digits = (int)(2 * vt_dtype_bytes(x->dtype));
  vt_text_add(out, "result     %s%s\n", x->output, x->index);
  vt_text_add(out, "it gives   0x%0*llx (%s)\n", digits, (unsigned long long)x->bits,
              vt_dtype_name(x->dtype));
  vt_text_add(out, "expected   0x%0*llx\n", digits, (unsigned long long)x->expected);
  if (x->distance == UINT64_MAX)
    vt_text_add(out, "distance   none: one of the two is NaN\n");
  else
    vt_text_add(out, "distance   %llu, in representable values\n", (unsigned long long)x->distance);
  vt_text_add(out, "differing  %llu of %llu elements\n", (unsigned long long)x->differing,
              (unsigned long long)x->compared);
}

static void add_readme(const vt_divergence *x, const char *backend, const char *command,
                       vt_text *out) {
  vt_text_add(out, "%s\n\n", MARK);
  vt_text_add(out, "backend    %s\n", backend);
  vt_text_add(out, "op         %s\n", x->signature);
  add_difference_lines(x, out);
  vt_text_add(out, "\n%s\n",
              x->isolated ? "model.vt is the smallest model found that shows it."
                          : "No part of the model shows it alone: model.vt is the whole "
                            "model, with its parameters as inputs.");
  vt_text_add(out, "To see it again, run in this folder:\n\n  %s\n", command);
}

static void add_report_readme(const vt_divergence *x, const vt_fault_report *seen,
                              const char *backend, vt_text *out) {
  vt_text_add(out, "%s\n\n", MARK);
  vt_text_add(out, "backend    %s\n", backend);
  vt_text_add(out, "check      %s\n", seen->check);
  vt_text_add(out, "subject    %s\n", seen->subject);
  vt_text_add(out, "reason     %s\n", seen->reason);
  vt_text_add(out, "op         %s\n", x->signature);
  if (x->compared > 0) add_difference_lines(x, out);
  vt_text_add(out, "\nmodel.vt is the model that showed the fault, with its inputs.\n");
  if (x->compared > 0)
    vt_text_add(out,
                "One run of the model alone does not show the fault; the check that found it "
                "is needed.\n");
  vt_text_add(out, "To see it again, run in a folder from which the backend has that name:\n\n");
  vt_text_add(out, "  %s\n", seen->command);
}

/* ---- files ---- */

static vt_status write_input(const char *folder, const char *name, const vt_tensor *t, vt_diag *d) {
  char path[PATH];
  VT_TRY(join_path(folder, name, file_ending(t), path, d));
  if (t->dtype == VT_DTYPE_BF16) return vt_safetensors_write(path, 1, &name, t, d);
  return vt_npy_write(path, t, d);
}

static vt_status write_divergence_files(const vt_divergence *x, const char *folder,
                                        const vt_text *page, vt_diag *d) {
  char path[PATH];
  for (uint32_t i = 0; i < x->n_inputs; i++)
    VT_TRY(write_input(folder, x->names[i], &x->inputs[i], d));
  VT_TRY(join_path(folder, "model.vt", "", path, d));
  VT_TRY(vt_bytes_write(path, x->model, strlen(x->model), d));
  VT_TRY(join_path(folder, "README.txt", "", path, d));
  return vt_bytes_write(path, page->s, page->n, d);
}

static int ends_with(const char *name, const char *ending) {
  const size_t n = strlen(name), m = strlen(ending);
  return n > m && strcmp(name + n - m, ending) == 0;
}

static int is_file_we_write(const char *name) {
  return strcmp(name, "model.vt") == 0 || strcmp(name, "README.txt") == 0 ||
         ends_with(name, ".npy") || ends_with(name, ".safetensors");
}

/* Removes the files that this code writes from a folder, and the folder if it is empty then. */
static void remove_own_files_and_folder(const char *folder) {
  DIR *dir = opendir(folder);
  for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
    char path[PATH];
    if (is_file_we_write(e->d_name) && join_path(folder, e->d_name, "", path, NULL) == VT_OK)
      (void)unlink(path);
  }
  if (dir != NULL) closedir(dir);
  (void)rmdir(folder);
}

/* 1 if all files in the folder have names that this code writes. */
static int has_only_own_files(const char *folder) {
  DIR *dir = opendir(folder);
  int ours = dir != NULL;
  for (struct dirent *e; ours && (e = readdir(dir)) != NULL;)
    ours =
        strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || is_file_we_write(e->d_name);
  if (dir != NULL) closedir(dir);
  return ours;
}

/* 1 if the folder is an older divergence: all its files have our names, and its page starts with
 * our first line. */
static int is_older_divergence(const char *folder) {
  char path[PATH], start[sizeof MARK] = {0};
  if (!has_only_own_files(folder) || join_path(folder, "README.txt", "", path, NULL) != VT_OK)
    return 0;
  FILE *f = fopen(path, "rb");
  if (f == NULL) return 0;
  const size_t n = fread(start, 1, sizeof MARK - 1, f);
  fclose(f);
  return n == sizeof MARK - 1 && memcmp(start, MARK, n) == 0;
}

static vt_status move_into_place(const char *made, const char *folder, vt_diag *d) {
  if (rename(made, folder) == 0) return VT_OK;
  if (errno != ENOTEMPTY && errno != EEXIST) return fail_system("make the folder", folder, d);
  if (!is_older_divergence(folder))
    return VT_FAIL(d, VT_IO, "the folder %.200s exists already and contains something else",
                   folder);
  remove_own_files_and_folder(folder);
  return rename(made, folder) == 0 ? VT_OK : fail_system("replace the folder", folder, d);
}

/* Makes a new folder with a temporary name next to `folder`. */
static vt_status make_temporary_folder(const char *folder, char out[PATH], vt_diag *d) {
  enum { TRIES = 100 };
  for (int i = 0; i < TRIES; i++) {
    const int n = snprintf(out, PATH, "%s.%ld-%d", folder, (long)getpid(), i);
    if (n < 0 || n >= PATH) return VT_FAIL(d, VT_LIMIT, "the name of the folder is too long");
    if (mkdir(out, 0777) == 0) return VT_OK;
    if (errno != EEXIST) break;
  }
  return fail_system("make the folder", folder, d);
}

static vt_status write_folder(const vt_divergence *x, const char *folder, const vt_text *page,
                              vt_diag *d) {
  char made[PATH];
  VT_TRY(make_temporary_folder(folder, made, d));
  vt_status s = write_divergence_files(x, made, page, d);
  if (s == VT_OK) s = move_into_place(made, folder, d);
  if (s != VT_OK) remove_own_files_and_folder(made);
  return s;
}

/* Copies the folder's name without slashes at its end; with a slash, the temporary folder would be
 * made inside the folder. */
static vt_status copy_without_end_slashes(const char *folder, char out[PATH], vt_diag *d) {
  size_t n = strlen(folder);
  while (n > 1 && folder[n - 1] == '/') n--;
  if (n == 0 || n >= PATH) return VT_FAIL(d, VT_USAGE, "'%.100s' cannot name a folder", folder);
  memcpy(out, folder, n);
  out[n] = 0;
  return VT_OK;
}

static vt_status write_folder_if_page_is_complete(const vt_divergence *x, const char *folder,
                                                  const vt_text *page, vt_diag *d) {
  if (vt_text_status(page) != VT_OK) return VT_FAIL(d, VT_NOMEM, "out of memory");
  return write_folder(x, folder, page, d);
}

vt_status vt_divergence_write(const vt_divergence *x, const char *folder, const char *backend,
                              vt_text *out_command, vt_diag *d) {
  char name[PATH];
  vt_text command, page;
  VT_TRY(copy_without_end_slashes(folder, name, d));
  vt_text_init(&command, x->arena.a);
  vt_text_init(&page, x->arena.a);
  vt_status s = add_command(x, name, backend, &command, d);
  if (s == VT_OK) add_readme(x, backend, command.s, &page);
  if (s == VT_OK) s = write_folder_if_page_is_complete(x, name, &page, d);
  if (s == VT_OK) vt_text_add_bytes(out_command, command.s, command.n);
  if (s == VT_OK && vt_text_status(out_command) != VT_OK) s = VT_FAIL(d, VT_NOMEM, "out of memory");
  vt_text_done(&command);
  vt_text_done(&page);
  return s;
}

vt_status vt_divergence_write_report(const vt_divergence *x, const vt_fault_report *seen,
                                     const char *folder, const char *backend, vt_diag *d) {
  char name[PATH];
  vt_text page;
  VT_TRY(copy_without_end_slashes(folder, name, d));
  vt_text_init(&page, x->arena.a);
  add_report_readme(x, seen, backend, &page);
  const vt_status s = write_folder_if_page_is_complete(x, name, &page, d);
  vt_text_done(&page);
  return s;
}
