/* SPDX-License-Identifier: Apache-2.0
 * suite_folder.c - reads a suite from a folder with *.cts and cts.digests. A line of cts.digests
 * has the first eight bytes of a case's digest and its name; lines are sorted by name. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "suite_build.h"
#include "vt_file.h"
#include "vt_sort.h"

enum { MOST_PATH = 4096, MOST_FILE = 1 << 24, MOST_DIGESTS = 1 << 28 };

/* ---- case files ---- */

static int is_case_file(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot != NULL && dot != name && strcmp(dot, ".cts") == 0;
}

static int by_name_bytes(const void *a, const void *b, const void *context) {
  (void)context;
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the case files, sorted by bytes, because the order of a file system or locale
 * varies. */
typedef struct listing {
  vt_arena arena;
  uint32_t n, cap;
  const char **name;
} listing;

static vt_status list_case_files(listing *l, DIR *dir, vt_diag *d) {
  for (const struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
    if (!is_case_file(e->d_name)) continue;
    const char *name = vt_arena_string(&l->arena, e->d_name, strlen(e->d_name));
    const char **more = vt_arena_grow(&l->arena, l->name, l->n, &l->cap, sizeof *l->name);
    if (more == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
    l->name = more;
    l->name[l->n++] = name;
  }
  const vt_status s = vt_sort(l->name, l->n, sizeof *l->name, by_name_bytes, NULL, l->arena.a);
  return s == VT_OK ? VT_OK : VT_FAIL(d, s, "%s", vt_status_text(s));
}

static vt_status list_case_files_of_folder(listing *l, const char *folder, vt_diag *d) {
  DIR *dir = opendir(folder);
  if (dir == NULL) return VT_FAIL(d, VT_IO, "no case files in %.300s: %s", folder, strerror(errno));
  const vt_status s = list_case_files(l, dir, d);
  closedir(dir);
  if (s == VT_OK && l->n == 0) return VT_FAIL(d, VT_IO, "no case files in %.300s", folder);
  return s;
}

static vt_status read_file(const char *folder, const char *name, uint64_t limit, vt_alloc a,
                           vt_file *out, vt_diag *d) {
  char path[MOST_PATH];
  const int n = snprintf(path, sizeof path, "%s/%s", folder, name);
  if (n < 0 || n >= MOST_PATH) return VT_FAIL(d, VT_LIMIT, "the path of %.100s is too long", name);
  return vt_file_read(path, limit, a, out, d);
}

static vt_status add_listed_files_and_expand(vt_suite *s, const listing *l, const char *folder,
                                             vt_diag *d) {
  for (uint32_t i = 0; i < l->n; i++) {
    vt_file f;
    VT_TRY(read_file(folder, l->name[i], MOST_FILE, s->alloc, &f, d));
    const vt_status status = vt_suite_add_file(s, l->name[i], f.data, f.size, d);
    vt_file_done(&f);
    VT_TRY(status);
  }
  return vt_suite_expand(s, d);
}

static vt_status add_cases_of_folder(vt_suite *s, const char *folder, vt_diag *d) {
  listing l = {0};
  vt_arena_init(&l.arena, s->alloc);
  vt_status status = list_case_files_of_folder(&l, folder, d);
  if (status == VT_OK) status = add_listed_files_and_expand(s, &l, folder, d);
  vt_arena_done(&l.arena);
  return status;
}

/* ---- stored digests ---- */

static int value_of_hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses a line "0123456789abcdef name"; returns 0 if it has another form. */
static int read_digest_line(const char *line, uint8_t digest[8], const char **name) {
  if (strlen(line) < 18 || line[16] != ' ') return 0;
  for (int i = 0; i < 8; i++) {
    const int high = value_of_hex_digit(line[2 * i]), low = value_of_hex_digit(line[2 * i + 1]);
    if (high < 0 || low < 0) return 0;
    digest[i] = (uint8_t)(high * 16 + low);
  }
  *name = line + 17;
  return 1;
}

/* The state of pairing cases with lines of cts.digests. Both are sorted by name, so one pass over
 * both suffices. */
typedef struct pairing {
  vt_suite *s;
  uint8_t (*stored)[8]; /* by case: the stored eight bytes of its digest */
  uint32_t at;          /* number of the current case, in ascending order of names */
  uint32_t line;        /* number of the current line */
  const char *last;     /* name in the previous line, or NULL */
} pairing;

/* Stores an entry's digest with its case. Entries without a case are counted, because they show
 * that a case was lost. */
static vt_status store_digest_of_case(pairing *p, const uint8_t digest[8], const char *name,
                                      vt_diag *d) {
  vt_suite *s = p->s;
  while (p->at < s->n_cases && strcmp(s->cases[p->at].name, name) < 0) p->at++;
  if (p->at < s->n_cases && strcmp(s->cases[p->at].name, name) == 0) {
    memcpy(p->stored[p->at], digest, 8);
    s->cases[p->at].expected = p->stored[p->at];
    return VT_OK;
  }
  if (s->n_left_over++ == 0) s->left_over = vt_arena_string(&s->arena, name, strlen(name));
  return s->left_over == NULL ? VT_FAIL(d, VT_NOMEM, "out of memory") : VT_OK;
}

static vt_status store_digests_of_lines(pairing *p, char *text, vt_diag *d) {
  for (char *at = text, *next; at != NULL && *at != 0; at = next) {
    uint8_t digest[8];
    const char *name;
    next = strchr(at, '\n');
    if (next != NULL) *next++ = 0;
    p->line++;
    if (*at == '#') continue;
    if (!read_digest_line(at, digest, &name) || (p->last != NULL && strcmp(p->last, name) >= 0)) {
      (void)VT_FAIL(d, VT_FORMAT, "cts.digests:%u: not a digest and a name, ascending", p->line);
      if (d != NULL && d->line == 0) d->line = p->line;
      return VT_FORMAT;
    }
    p->last = name;
    VT_TRY(store_digest_of_case(p, digest, name, d));
  }
  return VT_OK;
}

static vt_status add_digests_of_folder(vt_suite *s, const char *folder, vt_diag *d) {
  vt_file f;
  pairing p = {.s = s, .stored = vt_arena_array(&s->arena, s->n_cases, 8)};
  if (p.stored == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  VT_TRY(read_file(folder, "cts.digests", MOST_DIGESTS, s->alloc, &f, d));
  const vt_status status = store_digests_of_lines(&p, (char *)f.data, d);
  vt_file_done(&f);
  return status;
}

/* ---- the suite ---- */

static vt_status read_suite_from_folder(const char *folder, int with_digests, const vt_alloc *alloc,
                                        vt_suite **out_suite, vt_diag *d) {
  vt_suite *s = NULL;
  VT_TRY(vt_suite_new(alloc, &s, d));
  vt_status status = add_cases_of_folder(s, folder, d);
  if (status == VT_OK && with_digests) status = add_digests_of_folder(s, folder, d);
  if (status == VT_OK) *out_suite = s;
  if (status != VT_OK) vt_suite_free(s);
  return status;
}

vt_status vt_suite_read(const char *folder, const vt_alloc *alloc, vt_suite **out_suite,
                        vt_diag *d) {
  return read_suite_from_folder(folder, 1, alloc, out_suite, d);
}

vt_status vt_suite_read_cases(const char *folder, const vt_alloc *alloc, vt_suite **out_suite,
                              vt_diag *d) {
  return read_suite_from_folder(folder, 0, alloc, out_suite, d);
}
