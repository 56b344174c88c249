/* SPDX-License-Identifier: Apache-2.0
 * cli_files.c - files the command line writes itself. A regular file appears whole or not at all:
 * it is written under a temporary name in the same folder and renamed. */
#define _XOPEN_SOURCE 700 /* realpath */
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

int cli_ends_with(const char *text, const char *tail) {
  const size_t n = strlen(text), m = strlen(tail);
  return n >= m && strcmp(text + n - m, tail) == 0;
}

static vt_status refuse(const char *what, const char *path, cli_error *e) {
  const int reason = errno;
  e->path = NULL; /* `path` may not outlive the error, so the text names it */
  return VT_FAIL(&e->diag, VT_IO, "%s %s: %s", path, what, strerror(reason));
}

/* ---- writing
 * ----------------------------------------------------------------------------------------- */

static int write_all(int fd, const char *bytes, size_t n) {
  while (n > 0) {
    const ssize_t k = write(fd, bytes, n);
    if (k < 0 && errno == EINTR) continue;
    if (k < 0) return -1;
    bytes += k;
    n -= (size_t)k;
  }
  return 0;
}

/* A terminal, a pipe or a device is written in place: to rename over it would destroy it. */
static vt_status write_in_place(const char *path, const char *bytes, size_t n, cli_error *e) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return refuse("cannot be opened for writing", path, e);
  const int failed = write_all(fd, bytes, n) != 0 && errno != EPIPE;
  const vt_status s = failed ? refuse("cannot be written", path, e) : VT_OK;
  close(fd);
  return s;
}

/* Opens a new file beside `path`; `temp` has room for the name. */
static int open_temp(const char *path, char *temp, size_t room) {
  for (int i = 0; i < 100; i++) {
    snprintf(temp, room, "%s.%ld-%d.tmp", path, (long)getpid(), i);
    const int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

static vt_status write_renamed(const char *path, const char *bytes, size_t n, char *temp,
                               size_t room, cli_error *e) {
  const int fd = open_temp(path, temp, room);
  if (fd < 0) return refuse("cannot be written", path, e);
  int failed = write_all(fd, bytes, n) != 0 || fsync(fd) != 0;
  vt_status s = failed ? refuse("cannot be written", path, e) : VT_OK;
  failed = close(fd) != 0;
  if (s == VT_OK && failed) s = refuse("cannot be written", path, e);
  if (s == VT_OK && rename(temp, path) != 0) s = refuse("cannot be replaced", path, e);
  if (s != VT_OK) unlink(temp);
  return s;
}

static vt_status write_regular(const char *path, const char *bytes, size_t n, cli_error *e) {
  const size_t room = strlen(path) + 64;
  char *temp = malloc(room);
  if (temp == NULL) return cli_no_memory(e);
  cli_critical_begin();
  const vt_status s = write_renamed(path, bytes, n, temp, room, e);
  cli_critical_end();
  free(temp);
  return s;
}

vt_status cli_file_write(const char *path, const char *bytes, size_t n, cli_error *e) {
  struct stat st;
  const int exists = stat(path, &st) == 0;
  if (exists && !S_ISREG(st.st_mode)) return write_in_place(path, bytes, n, e);
  /* Behind a symbolic link it is the file that is replaced, not the link. */
  char *real = exists ? realpath(path, NULL) : NULL;
  const vt_status s = write_regular(real != NULL ? real : path, bytes, n, e);
  free(real);
  return s;
}

vt_status cli_folder_make(const char *path, cli_error *e) {
  struct stat st;
  if (mkdir(path, 0777) == 0) return VT_OK;
  if (errno == EEXIST && stat(path, &st) == 0 && S_ISDIR(st.st_mode)) return VT_OK;
  return refuse("cannot be made a folder", path, e);
}

/* ---- comparing
 * --------------------------------------------------------------------------------------- */

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
  if (f == NULL) return refuse("cannot be read", path, e);
  const int equal = stream_equals(f, text);
  const vt_status s = ferror(f) ? refuse("cannot be read", path, e) : VT_OK;
  fclose(f);
  if (s == VT_OK) *out = equal;
  return s;
}

void cli_file_line(const char *path, uint32_t line, char *out, size_t room) {
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

/* ---- names of outputs as names of files
 * -------------------------------------------------------------- */

static int is_safe(char c, int first) {
  if (c >= 'a' && c <= 'z') return 1;
  if (c >= 'A' && c <= 'Z') return 1;
  if (c >= '0' && c <= '9') return 1;
  return c == '_' || c == '-' || (c == '.' && !first);
}

char *cli_path_join(const char *folder, const char *name, const char *suffix) {
  const size_t room = strlen(folder) + 3 * strlen(name) + strlen(suffix) + 2;
  char *path = malloc(room);
  if (path == NULL) return NULL;
  size_t at = (size_t)snprintf(path, room, "%s/", folder);
  for (const char *p = name; *p != '\0'; p++)
    at += (size_t)snprintf(path + at, room - at, is_safe(*p, p == name) ? "%c" : "%%%02X",
                           (unsigned char)*p);
  snprintf(path + at, room - at, "%s", suffix);
  return path;
}
