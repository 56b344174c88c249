/* SPDX-License-Identifier: Apache-2.0
 * pack_suite.c IMAGE DIGEST DIGESTS FILE... - writes the conformance suite as one image: case
 * files, examples, and the stored digests without the names, which the case files give. The image
 * is packed by gzip, the same bytes at any time. src/admit/suite_image.c describes it and reads it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "vt_hash.h"

static _Noreturn void fail(const char *path, const char *what) {
  fprintf(stderr, "pack_suite: %s: %s\n", path, what);
  exit(1);
}

/* A whole file, followed by one 0. */
static char *read_file(const char *path, size_t *out_n) {
  FILE *f = fopen(path, "rb");
  char *bytes = NULL;
  size_t n = 0, room = 0, got = 0;
  if (f == NULL) fail(path, "cannot be read");
  do {
    n += got;
    if (n == room) bytes = realloc(bytes, (room = room * 2 + 4096) + 1);
    if (bytes == NULL) fail(path, "out of memory");
    got = fread(bytes + n, 1, room - n, f);
  } while (got > 0);
  if (ferror(f)) fail(path, "cannot be read");
  fclose(f);
  bytes[n] = 0;
  *out_n = n;
  return bytes;
}

/* ---- the image ---- */

static void put(gzFile out, const void *bytes, size_t n) {
  if (n > 0 && gzwrite(out, bytes, (unsigned)n) != (int)n) fail("the image", "cannot be written");
}

static void put_part(gzFile out, const char *name, const void *bytes, size_t n) {
  char line[300];
  snprintf(line, sizeof line, "%s %zu\n", name, n);
  put(out, line, strlen(line));
  put(out, bytes, n);
  put(out, "\n", 1);
}

static void put_file(gzFile out, const char *path) {
  const char *slash = strrchr(path, '/');
  size_t n;
  char *bytes = read_file(path, &n);
  put_part(out, slash == NULL ? path : slash + 1, bytes, n);
  free(bytes);
}

static size_t count_entries(const char *text) {
  size_t n = 0;
  for (const char *at = text; *at != 0; at += strcspn(at, "\n"), at += *at == '\n') n += *at != '#';
  return n;
}

/* "0123456789abcdef name" */
static int read_digest(const char *line, uint8_t out[8]) {
  for (int i = 0; i < 8; i++) {
    char pair[3] = {line[2 * i], line[2 * i] == 0 ? 0 : line[2 * i + 1], 0}, *end;
    out[i] = (uint8_t)strtoul(pair, &end, 16);
    if (end != pair + 2) return 0;
  }
  return line[16] == ' ';
}

/* By itself too: what reads certificates does not unpack the suite. */
static void write_digest(const char *path, const vt_hash256 *digest) {
  FILE *f = fopen(path, "wb");
  if (f == NULL || fwrite(digest->b, 1, 32, f) != 32 || fclose(f) != 0)
    fail(path, "cannot be written");
}

/* The digest of the suite, as vt_suite_digest makes it, and the eight bytes of every case. */
static void put_digests(gzFile out, const char *path, const char *digest_path) {
  size_t n;
  char *text = read_file(path, &n);
  const size_t entries = count_entries(text);
  uint8_t *part = malloc(32 + 8 * entries), *next = part + 32;
  const uint8_t stored = 8;
  vt_hasher h;
  if (part == NULL) fail(path, "out of memory");
  vt_hash_init(&h);
  vt_hash_add_u64(&h, entries);
  for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    if (*line == '#') continue;
    if (!read_digest(line, next)) fail(path, "a line that is not a digest and a name");
    vt_hash_add(&h, line + 17, strlen(line + 17) + 1);
    vt_hash_add(&h, &stored, 1);
    vt_hash_add(&h, next, 8);
    next += 8;
  }
  const vt_hash256 digest = vt_hash_done(&h);
  memcpy(part, digest.b, 32);
  put_part(out, "digests", part, 32 + 8 * entries);
  write_digest(digest_path, &digest);
  free(part);
  free(text);
}

int main(int argc, char **argv) {
  static const char first_line[] = "volta suite 1\n";
  if (argc < 5) fail("IMAGE DIGEST DIGESTS FILE...", "missing");
  gzFile out = gzopen(argv[1], "wb9");
  if (out == NULL) fail(argv[1], "cannot be written");
  put(out, first_line, strlen(first_line));
  put_digests(out, argv[3], argv[2]);
  for (int i = 4; i < argc; i++) put_file(out, argv[i]);
  if (gzclose(out) != Z_OK) fail(argv[1], "cannot be written");
  return 0;
}
