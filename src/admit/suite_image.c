/* SPDX-License-Identifier: Apache-2.0
 * suite_image.c - the suite in the library, an image that tools/pack_suite.c makes during the build
 * and gzip packs. It is a line "volta suite 1" and then parts. A part is a line "NAME BYTES", the
 * bytes and a newline:
 *
 *   *.cts              the case files
 *   digests            the value of vt_suite_digest, 32 bytes; then eight bytes for each case, in
 *                      ascending order of names
 *   *.vt               the example models
 *   published.digests  the bindings and seeds of the examples, and their digests
 *
 * The names of the cases are not stored, because they follow from the case files. The digest over
 * names and stored bytes shows if the two do not belong together, as when a case was added without
 * its digest. */
#include <string.h>
#include "stream.h"
#include "suite_build.h"
#include "vt_decimal.h"

static const uint8_t packed[] = {
#include "suite_image.inc"
};

static const char first_line[] = "volta suite 1\n";

static vt_status fail_damaged(const char *what, vt_diag *d) {
  return VT_FAIL(d, VT_INTERNAL, "the suite in the library is damaged: %s", what);
}

/* ---- parts ---- */

typedef struct cursor {
  const uint8_t *at;
  size_t left;
} cursor;

static void skip_bytes(cursor *c, size_t n) {
  c->at += n;
  c->left -= n;
}

/* Reads the next part; returns 0 if it is malformed. */
static int read_next_part(cursor *c, vt_suite_part *out) {
  const uint8_t *end = memchr(c->at, '\n', c->left);
  const uint8_t *space = end == NULL ? NULL : memchr(c->at, ' ', (size_t)(end - c->at));
  int64_t n;
  if (space == NULL) return 0;
  if (!vt_decimal_i64((const char *)space + 1, (size_t)(end - space) - 1, &n) || n < 0) return 0;
  *out = (vt_suite_part){.name = (const char *)c->at, .n_name = (size_t)(space - c->at)};
  skip_bytes(c, (size_t)(end - c->at) + 1);
  if ((uint64_t)n >= c->left || c->at[n] != '\n') return 0;
  out->bytes = c->at;
  out->n = (size_t)n;
  skip_bytes(c, (size_t)n + 1);
  return 1;
}

/* Lists all parts; the list is in the arena of the suite. */
static vt_status list_parts(vt_suite *s, cursor c, vt_suite_part **out, uint32_t *out_n,
                            vt_diag *d) {
  vt_suite_part *part = NULL;
  uint32_t n = 0, cap = 0;
  while (c.left > 0) {
    vt_suite_part *more = vt_arena_grow(&s->arena, part, n, &cap, sizeof *part);
    if (more == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
    part = more;
    if (!read_next_part(&c, &part[n++])) return fail_damaged("a part of it", d);
  }
  *out = part;
  *out_n = n;
  return VT_OK;
}

static int part_has_name(const vt_suite_part *p, const char *name) {
  return strlen(name) == p->n_name && memcmp(name, p->name, p->n_name) == 0;
}

static const vt_suite_part *find_part(const vt_suite_part *part, uint32_t n, const char *name) {
  for (uint32_t i = 0; i < n; i++)
    if (part_has_name(&part[i], name)) return &part[i];
  return NULL;
}

/* ---- the contents of the parts ---- */

static vt_status add_case_files_of_image(vt_suite *s, const vt_suite_part *part, uint32_t n,
                                         vt_diag *d) {
  for (uint32_t i = 0; i < n; i++) {
    const vt_suite_part *p = &part[i];
    if (p->n_name < 4 || memcmp(p->name + p->n_name - 4, ".cts", 4) != 0) continue;
    const char *file = vt_arena_string(&s->arena, p->name, p->n_name);
    if (file == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
    VT_TRY(vt_suite_add_file(s, file, p->bytes, p->n, d));
  }
  return vt_suite_expand(s, d);
}

static vt_status add_stored_digests(vt_suite *s, const vt_suite_part *p, vt_diag *d) {
  vt_hash256 digest;
  if (p == NULL || p->n < sizeof digest) return fail_damaged("no digests", d);
  if (p->n - sizeof digest != (size_t)s->n_cases * 8)
    return VT_FAIL(d, VT_INTERNAL,
                   "the library has %u cases and %zu stored digests: run `cts --write`", s->n_cases,
                   (p->n - sizeof digest) / 8);
  const uint8_t *stored = vt_arena_copy(&s->arena, p->bytes + sizeof digest, p->n - sizeof digest);
  if (stored == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < s->n_cases; i++) s->cases[i].expected = stored + (size_t)i * 8;
  vt_suite_digest(s, &digest);
  if (memcmp(&digest, p->bytes, sizeof digest) == 0) return VT_OK;
  return VT_FAIL(d, VT_INTERNAL, "the stored digests in the library belong to other cases");
}

static vt_status load_suite_from_image(vt_suite *s, cursor c, vt_diag *d) {
  vt_suite_part *part = NULL;
  uint32_t n = 0;
  if (c.left < sizeof first_line || memcmp(c.at, first_line, sizeof first_line - 1) != 0)
    return fail_damaged("its first line", d);
  skip_bytes(&c, sizeof first_line - 1);
  VT_TRY(list_parts(s, c, &part, &n, d));
  VT_TRY(add_case_files_of_image(s, part, n, d));
  VT_TRY(add_stored_digests(s, find_part(part, n, "digests"), d));
  const vt_suite_part *published = find_part(part, n, "published.digests");
  return published == NULL ? VT_OK : vt_suite_add_published(s, published, part, n, d);
}

vt_status vt_suite_from_image(const uint8_t *image, size_t n, const vt_alloc *alloc,
                              vt_suite **out_suite, vt_diag *d) {
  vt_suite *s = NULL;
  VT_TRY(vt_suite_new(alloc, &s, d));
  const vt_status status = load_suite_from_image(s, (cursor){image, n}, d);
  if (status == VT_OK) *out_suite = s;
  if (status != VT_OK) vt_suite_free(s);
  return status;
}

/* ---- the built-in suite ---- */

static vt_status unpack_built_in_gzip(uint8_t *to, size_t n, vt_alloc a, vt_diag *d) {
  const vt_source source = vt_source_from_memory(packed, sizeof packed);
  vt_stream stream;
  VT_TRY(vt_stream_open(&source, 0, sizeof packed, VT_STREAM_GZIP, a, &stream, d));
  vt_status s = vt_stream_read(&stream, to, n, d);
  if (s == VT_OK) s = vt_stream_check_end(&stream, d);
  vt_stream_close(&stream);
  return s;
}

vt_status vt_suite_unpack_image(vt_alloc a, uint8_t **out_image, size_t *out_n, vt_diag *d) {
  /* A gzip file ends with its length, little-endian. */
  const uint8_t *end = packed + sizeof packed - 4;
  const size_t n = end[0] | (size_t)end[1] << 8 | (size_t)end[2] << 16 | (size_t)end[3] << 24;
  uint8_t *image = vt_alloc_new(a, n);
  if (image == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  const vt_status s = unpack_built_in_gzip(image, n, a, d);
  if (s != VT_OK) {
    vt_alloc_free(a, image, n);
    return s;
  }
  *out_image = image;
  *out_n = n;
  return VT_OK;
}

vt_status vt_suite_built_in(const vt_alloc *alloc, vt_suite **out_suite, vt_diag *d) {
  const vt_alloc a = alloc != NULL && alloc->resize != NULL ? *alloc : vt_alloc_default();
  uint8_t *image = NULL;
  size_t n = 0;
  VT_TRY(vt_suite_unpack_image(a, &image, &n, d));
  const vt_status s = vt_suite_from_image(image, n, alloc, out_suite, d);
  vt_alloc_free(a, image, n);
  return s;
}
