/* SPDX-License-Identifier: Apache-2.0
 * cli_files.c - helpers for files and paths of the command line. A regular file is written by the
 * library, so it appears complete or not at all. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cli.h"

vt_status cli_no_memory(cli_error *e) {
  return VT_FAIL(&e->diag, VT_NOMEM, "no memory for the command line");
}

char *cli_text_copy(const char *text, size_t n) {
  char *p = malloc(n + 1);
  if (p == NULL) return NULL;
  memcpy(p, text, n);
  p[n] = '\0';
  return p;
}

const char *cli_basename(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

int cli_ends_with(const char *text, const char *suffix) {
  const size_t n = strlen(text), m = strlen(suffix);
  return n >= m && strcmp(text + n - m, suffix) == 0;
}

static vt_status fail_with_errno(const char *what, const char *path, cli_error *e) {
  const int reason = errno;
  e->path = NULL; /* the message contains the path; a pointer to `path` may not outlive the error */
  return VT_FAIL(&e->diag, VT_IO, "%s %s: %s", path, what, strerror(reason));
}

/* ---- writing ---- */

/* Writes to a terminal, a pipe or a device in place, because renaming a file over it would replace
 * it. */
static vt_status write_in_place(const char *path, const char *bytes, size_t n, cli_error *e) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return fail_with_errno("cannot be opened for writing", path, e);
  ssize_t k = 0;
  while (n > 0 && k >= 0) {
    k = write(fd, bytes, n);
    if (k < 0 && errno == EINTR) k = 0;
    if (k > 0) bytes += k, n -= (size_t)k;
  }
  const vt_status s =
      k < 0 && errno != EPIPE ? fail_with_errno("cannot be written", path, e) : VT_OK;
  close(fd);
  return s;
}

vt_status cli_file_write(const char *path, const char *bytes, size_t n, cli_error *e) {
  struct stat st;
  if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return write_in_place(path, bytes, n, e);
  e->path = NULL; /* the message contains the path already */
  cli_critical_begin();
  const vt_status s = vt_bytes_write(path, bytes, n, &e->diag);
  cli_critical_end();
  return s;
}

vt_status cli_file_check_writable(const char *path, cli_error *e) {
  struct stat st;
  if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
    if (S_ISDIR(st.st_mode)) errno = EISDIR;
    return !S_ISDIR(st.st_mode) && access(path, W_OK) == 0
               ? VT_OK
               : fail_with_errno("cannot be written", path, e);
  }
  const size_t size = strlen(path) + 40;
  char *probe = malloc(size);
  if (probe == NULL) return cli_no_memory(e);
  snprintf(probe, size, "%s.%ld-tried", path, (long)getpid());
  const int fd = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const vt_status s = fd >= 0 ? VT_OK : fail_with_errno("cannot be written", path, e);
  if (fd >= 0) close(fd);
  if (fd >= 0) unlink(probe);
  free(probe);
  return s;
}

vt_status cli_folder_make(const char *path, cli_error *e) {
  struct stat st;
  if (mkdir(path, 0777) == 0) return VT_OK;
  if (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return VT_OK;
  return fail_with_errno("cannot be created as a folder", path, e);
}

/* A colon may be part of a file name: if a file has the whole text as its name, there is no key. */
vt_status cli_split_file_key(const char *text, char **out_path, const char **out_key,
                             cli_error *e) {
  const char *colon = strrchr(text, ':');
  struct stat st;
  char *path = cli_text_copy(text, strlen(text));
  if (path == NULL) return cli_no_memory(e);
  *out_path = path;
  *out_key = NULL;
  if (colon == NULL || colon == text || colon[1] == '\0' || stat(text, &st) == 0) return VT_OK;
  path[colon - text] = '\0';
  *out_key = path + (colon - text) + 1;
  return VT_OK;
}

/* ---- comparing ---- */

static int stream_equals(FILE *f, const char *text) {
  size_t left = strlen(text);
  char block[4096];
  size_t n;
  while ((n = fread(block, 1, sizeof block, f)) > 0) {
    if (n > left || memcmp(block, text, n) != 0) return 0;
    text += n;
    left -= n;
  }
  return left == 0;
}

vt_status cli_file_equals(const char *path, const char *text, int *out, cli_error *e) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) return fail_with_errno("cannot be read", path, e);
  const int equal = stream_equals(f, text);
  const vt_status s = ferror(f) ? fail_with_errno("cannot be read", path, e) : VT_OK;
  fclose(f);
  if (s == VT_OK) *out = equal;
  return s;
}

/* Reads at most `n` bytes; a file that has as many is longer than the limit. */
static vt_status read_text(FILE *f, const char *path, char *text, size_t n, cli_error *e) {
  const size_t got = fread(text, 1, n, f);
  if (ferror(f)) return fail_with_errno("cannot be read", path, e);
  text[got < n ? got : n - 1] = '\0';
  if (got == n) return VT_FAIL(&e->diag, VT_LIMIT, "%s has more than %zu bytes", path, n - 1);
  if (strlen(text) != got)
    return VT_FAIL(&e->diag, VT_FORMAT, "%s is not a text: byte %zu is zero", path, strlen(text));
  return VT_OK;
}

vt_status cli_file_read(const char *path, size_t limit, char **out, cli_error *e) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) return fail_with_errno("cannot be read", path, e);
  char *text = malloc(limit + 1);
  const vt_status s = text != NULL ? read_text(f, path, text, limit + 1, e) : cli_no_memory(e);
  fclose(f);
  if (s == VT_OK)
    *out = text;
  else
    free(text);
  return s;
}

void cli_file_read_line(const char *path, uint32_t line, char *out, size_t room) {
  out[0] = '\0';
  FILE *f = fopen(path, "rb");
  if (f == NULL) return;
  size_t n = 0;
  int c;
  while (line > 0 && (c = getc(f)) != EOF) {
    if (c == '\n') line--;
    if (line == 1 && c != '\n' && n + 1 < room) out[n++] = (char)c;
  }
  out[n] = '\0';
  fclose(f);
}

/* ---- file names made of output names ---- */

static int is_safe_in_file_name(char c, int is_first) {
  if (c >= 'a' && c <= 'z') return 1;
  if (c >= 'A' && c <= 'Z') return 1;
  if (c >= '0' && c <= '9') return 1;
  return c == '_' || c == '-' || (c == '.' && !is_first);
}

char *cli_path_join_escaped(const char *folder, const char *name, const char *suffix) {
  const size_t room = strlen(folder) + 3 * strlen(name) + strlen(suffix) + 2;
  char *path = malloc(room);
  if (path == NULL) return NULL;
  size_t at = (size_t)snprintf(path, room, "%s/", folder);
  for (const char *p = name; *p != '\0'; p++)
    at +=
        (size_t)snprintf(path + at, room - at,
                         is_safe_in_file_name(*p, p == name) ? "%c" : "%%%02X", (unsigned char)*p);
  snprintf(path + at, room - at, "%s", suffix);
  return path;
}
