/* SPDX-License-Identifier: Apache-2.0
 * slice_test.h - tests of whole slices of a function (2^24 consecutive inputs) against
 * exhaustive.digests. A hash of the sources of src/num chooses the slice. */
#ifndef VT_SLICE_TEST_H
#define VT_SLICE_TEST_H
#include <dirent.h>
#include <string.h>
#include "num_test.h"
#include "vt_file.h"
#include "vt_hash.h"

enum { SLICE = 1 << 24, SOURCES = 128, SOURCE_NAME = 64, SOURCE_LIMIT = 1 << 20 };

/* Returns whether a file of src/num may affect a result: a C source that is not a test. */
static inline int is_source_of_results(const char *name) {
  const char *end = strrchr(name, '.');
  const int c = end != NULL && (strcmp(end, ".c") == 0 || strcmp(end, ".h") == 0 ||
                                strcmp(end, ".inc") == 0 || strcmp(end, ".def") == 0);
  return c && strstr(name, "_test.") == NULL;
}

static inline int order_by_name(const void *a, const void *b) { return strcmp(a, b); }

/* Writes the names of the sources, sorted because a folder lists them in any order; returns their
 * number. */
static inline size_t list_source_names(char names[SOURCES][SOURCE_NAME]) {
  size_t n = 0;
  DIR *folder = opendir("src/num");
  CHECK(folder != NULL);
  for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
    if (!is_source_of_results(e->d_name)) continue;
    CHECK(n < SOURCES && strlen(e->d_name) < SOURCE_NAME);
    if (n < SOURCES && strlen(e->d_name) < SOURCE_NAME) strcpy(names[n++], e->d_name);
  }
  if (folder != NULL) closedir(folder);
  qsort(names, n, SOURCE_NAME, order_by_name);
  return n;
}

/* Returns a number below 256 that changes whenever a source changes. */
static inline unsigned choose_slice(void) {
  static char names[SOURCES][SOURCE_NAME];
  const size_t n = list_source_names(names);
  vt_hasher h;
  vt_hash_init(&h);
  for (size_t i = 0; i < n; i++) {
    char path[SOURCE_NAME + 16];
    vt_file f;
    snprintf(path, sizeof path, "src/num/%s", names[i]);
    const int is_read = vt_file_read(path, SOURCE_LIMIT, vt_alloc_default(), &f, NULL) == VT_OK;
    CHECK(is_read);
    if (!is_read) continue;
    vt_hash_add(&h, f.data, f.size);
    vt_file_done(&f);
  }
  CHECK(n > 0);
  return vt_hash_done(&h).b[0];
}

/* Reads exhaustive.digests, a text that ends in 0; returns 0 if it cannot be read. */
static inline int read_digests(vt_file *out) {
  const vt_status status =
      vt_file_read("src/num/exhaustive.digests", SOURCE_LIMIT, vt_alloc_default(), out, NULL);
  CHECK(status == VT_OK);
  return status == VT_OK;
}

/* Returns the published digest of a function and a slice, or NULL. */
static inline const char *published_digest(const vt_file *digests, const char *name,
                                           unsigned slice) {
  char key[32];
  snprintf(key, sizeof key, "%s %3u ", name, slice);
  for (const char *line = (const char *)digests->data; line != NULL && *line != 0;
       line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, key, strlen(key)) == 0) return line + strlen(key);
  }
  return NULL;
}

/* Checks that a slice of a function has its published digest. `results` has space for a slice. */
static inline void test_slice(const char *name, float (*call)(float x), unsigned slice,
                              uint32_t *results, const vt_file *digests) {
  char hex[65];
  for (uint32_t i = 0; i < SLICE; i++) {
    const float y = call(vt_f32_from_bits((uint32_t)slice << 24 | i));
    results[i] = y != y ? 0x7fc00000u : vt_f32_bits(y);
  }
  const vt_hash256 h = vt_hash_bytes(results, (size_t)SLICE * sizeof *results);
  const char *want = published_digest(digests, name, slice);
  vt_hash_hex(&h, hex);
  if (want == NULL || strncmp(hex, want, 32) != 0)
    fprintf(stderr, "%s: slice %u is %.32s\n", name, slice, hex);
  CHECK(want != NULL && strncmp(hex, want, 32) == 0);
}

/* Parses an argument NAME or NAME:SLICE: returns whether its name is `name`, and writes the slice,
 * or SLICE if the argument names only a function. */
static inline int parse_slice_argument(const char *argument, const char *name,
                                       unsigned long *slice) {
  const size_t length = strcspn(argument, ":");
  *slice = argument[length] == 0 ? SLICE : strtoul(argument + length + 1, NULL, 10);
  return strlen(name) == length && strncmp(argument, name, length) == 0;
}
#endif
