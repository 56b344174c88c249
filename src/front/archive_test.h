/* SPDX-License-Identifier: Apache-2.0
 * archive_test.h - helpers shared by the tests of tensor file formats: files built in memory, and
 * checks that must hold for any bytes. */
#ifndef VT_ARCHIVE_TEST_H
#define VT_ARCHIVE_TEST_H
#include <string.h>
#include <unistd.h>
#include "volta/volta_tools.h"
#include "vt_alloc.h"
#include "vt_test.h"

typedef struct bytes {
  uint8_t p[4096];
  size_t n;
} bytes;

static inline void append_bytes(bytes *b, const void *p, size_t n) {
  if (n > sizeof b->p - b->n) abort();
  if (n != 0) memcpy(b->p + b->n, p, n);
  b->n += n;
}

static inline void append_little_endian(bytes *b, uint64_t v, size_t size) {
  for (size_t i = 0; i < size; i++) b->p[b->n++] = (uint8_t)(v >> (8 * i));
}

/* Parses a copy of exactly `n` bytes, so that a sanitizer notices reads beyond them. Allocation
 * number `fail_at` fails; 0: none. A failure must return no archive, give a message of one line,
 * and free all memory. */
static inline vt_status parse_exact_copy(const uint8_t *p, size_t n, long fail_at, vt_archive **out,
                                         vt_fault *f, vt_diag *d) {
  uint8_t *copy = malloc(n != 0 ? n : 1);
  if (copy == NULL) abort();
  memcpy(copy, p, n);
  *f = (vt_fault){.left = fail_at};
  *d = (vt_diag){.code = VT_OK};
  *out = NULL;
  const vt_alloc a = vt_fault_alloc(f);
  const vt_status s = vt_archive_parse(copy, n, &a, out, d);
  free(copy);
  CHECK((s == VT_OK) == (*out != NULL));
  CHECK(s == d->code);
  CHECK(s == VT_OK || (f->live == 0 && d->text[0] != '\0'));
  for (const char *c = d->text; *c != '\0'; c++) CHECK((uint8_t)*c >= 0x20 && *c != 0x7f);
  return s;
}

/* Parses bytes and returns only the status. The archive is freed, and no memory may remain. */
static inline vt_status parse_only_for_status(const uint8_t *p, size_t n, vt_diag *d) {
  vt_archive *ar;
  vt_fault f;
  const vt_status s = parse_exact_copy(p, n, 0, &ar, &f, d);
  vt_archive_free(ar);
  CHECK(f.live == 0);
  return s;
}

/* Checks that every proper prefix of a file is refused. */
static inline void check_truncations_refused(const bytes *b) {
  vt_diag d;
  CHECK(parse_only_for_status(b->p, b->n, &d) == VT_OK);
  for (size_t n = 0; n < b->n; n++) CHECK(parse_only_for_status(b->p, n, &d) == VT_FORMAT);
}

/* Changes each byte of a file to every value. Each such file may be accepted or refused, but must
 * do no harm. */
static inline void check_mutations_harmless(const bytes *b) {
  bytes m = *b;
  vt_diag d;
  for (size_t i = 0; i < m.n; i++) {
    for (int v = 0; v < 256; v++) {
      m.p[i] = (uint8_t)v;
      const vt_status s = parse_only_for_status(m.p, m.n, &d);
      CHECK(s == VT_OK || s == VT_FORMAT || s == VT_LIMIT || s == VT_UNSUPPORTED);
    }
    m.p[i] = b->p[i];
  }
}

/* Makes every allocation fail in turn, until parsing succeeds; parsing must make at least
 * `min_allocations` allocations. */
static inline void check_failing_allocations(const bytes *b, long min_allocations) {
  vt_archive *ar;
  vt_fault f;
  vt_diag d;
  long k = 1;
  while (parse_exact_copy(b->p, b->n, k, &ar, &f, &d) == VT_NOMEM) k++;
  CHECK(d.code == VT_OK && ar != NULL && k > min_allocations);
  vt_archive_free(ar);
  CHECK(f.live == 0);
}

/* Temporary folder for the files that a test writes. */
static char test_folder[] = "/tmp/volta_test_XXXXXX";

static inline const char *path_in_test_folder(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", test_folder, name);
  return path;
}

static inline bytes read_test_file(const char *path) {
  bytes b = {.n = 0};
  FILE *f = fopen(path, "rb");
  CHECK(f != NULL);
  if (f == NULL) return b;
  b.n = fread(b.p, 1, sizeof b.p, f);
  CHECK(feof(f));
  fclose(f);
  return b;
}

static inline void write_test_file(const char *path, const bytes *b) {
  FILE *f = fopen(path, "wb");
  CHECK(f != NULL && fwrite(b->p, 1, b->n, f) == b->n);
  if (f != NULL) CHECK(fclose(f) == 0);
}

/* An allocator that appends a byte to a file at one of its calls, to test files that change while
 * they are read. */
typedef struct file_changer {
  const char *path; /* the file */
  long left;        /* number of calls up to the call that appends */
} file_changer;

static inline void *resize_and_grow_file(void *user, void *p, size_t old, size_t n) {
  const vt_alloc plain = vt_alloc_default();
  file_changer *m = user;
  if (n != 0 && m->left > 0 && --m->left == 0) {
    FILE *f = fopen(m->path, "ab");
    if (f != NULL) CHECK(fputc(0, f) == 0 && fclose(f) == 0);
  }
  return plain.resize(plain.user, p, old, n);
}

/* Checks that a file is refused if it grows at any time while it is read. The file is written to
 * `name` in the test folder. */
static inline void check_growing_file_refused(const char *name, const bytes *b) {
  char path[256];
  long k = 1;
  snprintf(path, sizeof path, "%s", path_in_test_folder(name));
  for (;; k++) {
    file_changer m = {path, k};
    const vt_alloc a = {.user = &m, .resize = resize_and_grow_file};
    vt_archive *ar = NULL;
    vt_diag d = {.code = VT_OK};
    write_test_file(path, b);
    const vt_status s = vt_archive_read(path, &a, &ar, &d);
    vt_archive_free(ar);
    if (m.left > 0) {
      CHECK(s == VT_OK);
      break;
    }
    CHECK(s == VT_IO && strstr(d.text, "changed while it was read") != NULL);
  }
  CHECK(k > 2 && unlink(path) == 0);
}

static inline int same_bytes(const bytes *a, const bytes *b) {
  return a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}
#endif
