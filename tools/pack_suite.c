/* SPDX-License-Identifier: Apache-2.0
 * pack_suite.c IMAGE DIGEST DIGESTS FILE... - writes the conformance suite into IMAGE: the FILEs,
 * which are case files and examples, and the stored digests of DIGESTS without the case names,
 * which the case files give. The image is gzip, without a time, so that its bytes depend on the
 * files only. src/admit/suite_image.c describes it and reads it. DIGEST gets the digest of the
 * suite. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "vt_hash.h"

static _Noreturn void fail(const char *path, const char *what) {
  fprintf(stderr, "pack_suite: %s: %s\n", path, what);
  exit(1);
}

/* Returns the content of a file, followed by a 0 byte. */
static char *read_file(const char *path, size_t *out_n) {
  FILE *f = fopen(path, "rb");
  char *bytes = NULL;
  size_t n = 0, capacity = 0, got = 0;
  if (f == NULL) fail(path, "cannot be read");
  do {
    n += got;
    if (n == capacity) bytes = realloc(bytes, (capacity = capacity * 2 + 4096) + 1);
    if (bytes == NULL) fail(path, "out of memory");
    got = fread(bytes + n, 1, capacity - n, f);
  } while (got > 0);
  if (ferror(f)) fail(path, "cannot be read");
  fclose(f);
  bytes[n] = 0;
  *out_n = n;
  return bytes;
}

/* ---- the image ---- */

static void write_bytes(gzFile out, const void *bytes, size_t n) {
  if (n > 0 && gzwrite(out, bytes, (unsigned)n) != (int)n) fail("the image", "cannot be written");
}

/* Writes a line "NAME SIZE", the bytes and a newline. */
static void write_named_part(gzFile out, const char *name, const void *bytes, size_t n) {
  char line[300];
  snprintf(line, sizeof line, "%s %zu\n", name, n);
  write_bytes(out, line, strlen(line));
  write_bytes(out, bytes, n);
  write_bytes(out, "\n", 1);
}

static void write_file_part(gzFile out, const char *path) {
  const char *slash = strrchr(path, '/');
  size_t n;
  char *bytes = read_file(path, &n);
  write_named_part(out, slash == NULL ? path : slash + 1, bytes, n);
  free(bytes);
}

static size_t count_digest_lines(const char *text) {
  size_t n = 0;
  for (const char *at = text; *at != 0; at += strcspn(at, "\n"), at += *at == '\n') n += *at != '#';
  return n;
}

/* Parses a line "0123456789abcdef name"; returns 0 if it has another form. */
static int parse_digest(const char *line, uint8_t out[8]) {
  for (int i = 0; i < 8; i++) {
    char pair[3] = {line[2 * i], line[2 * i] == 0 ? 0 : line[2 * i + 1], 0}, *end;
    out[i] = (uint8_t)strtoul(pair, &end, 16);
    if (end != pair + 2) return 0;
  }
  return line[16] == ' ';
}

/* Writes the digest of the suite to a file of its own, so that the code that reads certificates
 * need not unpack the suite. */
static void write_suite_digest(const char *path, const vt_hash256 *digest) {
  FILE *f = fopen(path, "wb");
  if (f == NULL || fwrite(digest->b, 1, 32, f) != 32 || fclose(f) != 0)
    fail(path, "cannot be written");
}

/* Writes the part "digests": the digest of the suite, computed as vt_suite_digest does, and then
 * eight bytes per case. */
static void write_digests_part(gzFile out, const char *path, const char *digest_path) {
  size_t n;
  char *text = read_file(path, &n);
  const size_t entries = count_digest_lines(text);
  uint8_t *part = malloc(32 + 8 * entries), *next = part + 32;
  const uint8_t stored = 8;
  vt_hasher h;
  if (part == NULL) fail(path, "out of memory");
  vt_hash_init(&h);
  vt_hash_add_u64(&h, entries);
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    if (*line == '#') continue;
    if (!parse_digest(line, next)) fail(path, "a line that is not a digest and a name");
    vt_hash_add(&h, line + 17, strlen(line + 17) + 1);
    vt_hash_add(&h, &stored, 1);
    vt_hash_add(&h, next, 8);
    next += 8;
  }
  const vt_hash256 digest = vt_hash_done(&h);
  memcpy(part, digest.b, 32);
  write_named_part(out, "digests", part, 32 + 8 * entries);
  write_suite_digest(digest_path, &digest);
  free(part);
  free(text);
}

int main(int argc, char **argv) {
  static const char first_line[] = "volta suite 1\n";
  if (argc < 5) fail("IMAGE DIGEST DIGESTS FILE...", "missing");
  gzFile out = gzopen(argv[1], "wb9");
  if (out == NULL) fail(argv[1], "cannot be written");
  write_bytes(out, first_line, strlen(first_line));
  write_digests_part(out, argv[3], argv[2]);
  for (int i = 4; i < argc; i++) write_file_part(out, argv[i]);
  if (gzclose(out) != Z_OK) fail(argv[1], "cannot be written");
  return 0;
}
