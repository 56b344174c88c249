/* SPDX-License-Identifier: Apache-2.0
 * zip.c - the directory of a zip file.
 *
 *   members, each a local header (PK\3\4), its data and, where the sizes were not known before it
 *   was written, a descriptor ([PK\7\10], CRC, both sizes); the directory, a header (PK\1\2) a
 * member; [the zip64 end (PK\6\6) and its locator (PK\6\7)]; the end (PK\5\6) and a comment.
 *
 * The same facts stand in two places, and archives that say different things to different readers
 * live from that: whatever does not agree is refused. The members must tile the file up to the
 * directory, so that no byte is unpacked twice. */
#include "zip.h"
#include <string.h>
#include "vt_sort.h"

enum {
  END = 22,
  COMMENT_MAX = 65535,
  LOCATOR = 20,
  END64 = 56,
  CENTRAL = 46,
  LOCAL = 30,
  DIRECTORY_LIMIT = 100 * 1024 * 1024
};
enum { FLAG_ENCRYPTED = 1, FLAG_DESCRIPTOR = 8, FLAG_STRONG = 64, FLAG_MASKED = 8192 };
enum { STORED = 0, DEFLATED = 8 };

#define NOT_HERE UINT64_C(0xffffffff) /* the value is in the zip64 field */

/* Where the directory lies. */
typedef struct directory {
  uint64_t begin, size, count;
  uint64_t end; /* where what follows it begins */
} directory;

static uint64_t number(const uint8_t *p, int bytes) {
  uint64_t v = 0;
  for (int i = 0; i < bytes; i++) v |= (uint64_t)p[i] << (8 * i);
  return v;
}

static vt_status wrong(vt_diag *d, const char *what, uint64_t at) {
  return VT_FAIL(d, VT_FORMAT, "the zip file has %s at byte %llu", what, (unsigned long long)at);
}

/* ---- the end of the file ---- */

/* The end is found from the back: its comment must reach exactly to the end of the file. */
static vt_status find_end(vt_archive *ar, const vt_source *src, uint64_t *out_at, vt_diag *d) {
  const uint64_t most = END + COMMENT_MAX;
  const size_t n = (size_t)(src->size < most ? src->size : most);
  uint8_t *p = vt_arena_array(&ar->arena, n, 1);
  if (p == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for the end of a zip file");
  VT_TRY(vt_source_read(src, src->size - n, p, n, d));
  for (size_t i = n >= END ? n - END + 1 : 0; i-- > 0;) {
    if (memcmp(p + i, "PK\5\6", 4) != 0 || number(p + i + 20, 2) != n - END - i) continue;
    *out_at = src->size - n + i;
    return VT_OK;
  }
  return VT_FAIL(d, VT_FORMAT, "the zip file has no end record; it may be truncated");
}

/* What the old end says must be what the zip64 end says, or that it does not fit. */
static int ends_agree(const directory *old, const directory *wide) {
  return (old->count == wide->count || old->count == 0xffff) &&
         (old->size == wide->size || old->size == NOT_HERE) &&
         (old->begin == wide->begin || old->begin == NOT_HERE);
}

/* `locator` stands right before the end, the zip64 end right before the locator. */
static vt_status read_end64(const vt_source *src, const uint8_t *locator, uint64_t end_at,
                            directory *out, vt_diag *d) {
  uint8_t p[END64];
  if (end_at < LOCATOR + END64) return wrong(d, "no room for its zip64 end", end_at);
  const uint64_t at = end_at - LOCATOR - END64;
  if (number(locator + 4, 4) != 0 || number(locator + 8, 8) != at || number(locator + 16, 4) > 1)
    return wrong(d, "a zip64 locator that lies", end_at - LOCATOR);
  VT_TRY(vt_source_read(src, at, p, END64, d));
  if (memcmp(p, "PK\6\6", 4) != 0 || number(p + 4, 8) != END64 - 12)
    return wrong(d, "no zip64 end", at);
  if (number(p + 16, 4) != 0 || number(p + 20, 4) != 0 || number(p + 24, 8) != number(p + 32, 8))
    return wrong(d, "several disks", at);
  const directory r = {number(p + 48, 8), number(p + 40, 8), number(p + 32, 8), at};
  if (!ends_agree(out, &r)) return wrong(d, "two ends that do not agree", at);
  *out = r;
  return VT_OK;
}

/* The locator alone says that there is a zip64 end: the numbers of the old end may be true beside
 * one (CPython turns to zip64 at 2^31), and 65535 members fit the old end. Without a locator a
 * number that does not fit is found wrong like any other. */
static vt_status read_wide(const vt_source *src, uint64_t end_at, directory *out, vt_diag *d) {
  uint8_t locator[LOCATOR];
  if (end_at < LOCATOR) return VT_OK;
  VT_TRY(vt_source_read(src, end_at - LOCATOR, locator, LOCATOR, d));
  return memcmp(locator, "PK\6\7", 4) == 0 ? read_end64(src, locator, end_at, out, d) : VT_OK;
}

static vt_status read_end(const vt_source *src, uint64_t at, directory *out, vt_diag *d) {
  uint8_t p[END];
  VT_TRY(vt_source_read(src, at, p, END, d));
  if (number(p + 4, 2) != 0 || number(p + 6, 2) != 0 || number(p + 8, 2) != number(p + 10, 2))
    return wrong(d, "several disks", at);
  directory r = {number(p + 16, 4), number(p + 12, 4), number(p + 10, 2), at};
  VT_TRY(read_wide(src, at, &r, d));
  if (r.begin > r.end || r.size != r.end - r.begin)
    return wrong(d, "a directory that does not end where the end begins,", at);
  if (r.size > DIRECTORY_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "the zip directory of %llu bytes is over the limit of %d",
                   (unsigned long long)r.size, DIRECTORY_LIMIT);
  if (r.count > r.size / CENTRAL) return wrong(d, "a number of members that lies", at);
  *out = r;
  return VT_OK;
}

/* ---- one member ---- */

/* The zip64 field of `extra`, NULL when there is none; *out_n is its length. */
static const uint8_t *find_zip64(const uint8_t *extra, size_t n, size_t *out_n) {
  for (size_t i = 0; n - i >= 4;) {
    const size_t id = (size_t)number(extra + i, 2), length = (size_t)number(extra + i + 2, 2);
    if (length > n - i - 4) return NULL;
    *out_n = length;
    if (id == 1) return extra + i + 4;
    i += 4 + length;
  }
  return NULL;
}

/* Replaces those of the values that are not here by the next ones of the zip64 field. */
static int widen(const uint8_t *extra, size_t n, uint64_t *const *values, int count) {
  size_t left = 0;
  const uint8_t *p = find_zip64(extra, n, &left);
  for (int i = 0; i < count; i++) {
    if (*values[i] != NOT_HERE) continue;
    if (p == NULL || left < 8) return 0;
    *values[i] = number(p, 8);
    p += 8;
    left -= 8;
  }
  return 1;
}

/* Where a member's header says one thing and the directory another. */
static vt_status disagree(const vt_member *m, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  return VT_FAIL(d, VT_FORMAT, "the header of '%s' at byte %llu does not agree with the directory",
                 vt_archive_quote(m->name, strlen(m->name), q), (unsigned long long)m->local);
}

static vt_status check_packing(const vt_member *m, uint64_t packed, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  vt_archive_quote(m->name, strlen(m->name), q);
  if ((m->flags & (FLAG_ENCRYPTED | FLAG_STRONG | FLAG_MASKED)) != 0)
    return VT_FAIL(d, VT_UNSUPPORTED, "'%s' is encrypted", q);
  if (m->method != STORED && m->method != DEFLATED)
    return VT_FAIL(d, VT_UNSUPPORTED,
                   "'%s' is packed by method %u; stored (0) and deflate (8) are "
                   "supported",
                   q, m->method);
  if (m->size > VT_ARCHIVE_FILE_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "'%s' has %llu bytes, more than the %llu accepted", q,
                   (unsigned long long)m->size, (unsigned long long)VT_ARCHIVE_FILE_LIMIT);
  if (m->method == STORED && m->size != packed)
    return VT_FAIL(d, VT_FORMAT, "'%s' is stored, but in %llu bytes instead of %llu", q,
                   (unsigned long long)packed, (unsigned long long)m->size);
  if (m->method == DEFLATED && m->size / VT_STREAM_RATIO > packed)
    return VT_FAIL(d, VT_FORMAT, "'%s' is said to unpack from %llu bytes to %llu, which cannot be",
                   q, (unsigned long long)packed, (unsigned long long)m->size);
  return VT_OK;
}

/* One header of the directory. `m->end` is the packed size until the data was found. */
static vt_status read_central(vt_archive *ar, const uint8_t *p, size_t left, uint64_t at,
                              vt_member *m, size_t *out_length, vt_diag *d) {
  if (left < CENTRAL || memcmp(p, "PK\1\2", 4) != 0) return wrong(d, "no member", at);
  const size_t name = (size_t)number(p + 28, 2), extra = (size_t)number(p + 30, 2),
               comment = (size_t)number(p + 32, 2), length = CENTRAL + name + extra + comment;
  if (length > left) return wrong(d, "a member that does not end", at);
  uint64_t disk = number(p + 34, 2);
  m->flags = (uint16_t)number(p + 8, 2);
  m->method = (uint16_t)number(p + 10, 2);
  m->crc = (uint32_t)number(p + 16, 4);
  m->end = number(p + 20, 4);
  m->size = number(p + 24, 4);
  m->local = number(p + 42, 4);
  uint64_t *const values[] = {&m->size, &m->end, &m->local};
  if (disk != 0 || !widen(p + CENTRAL + name, extra, values, 3))
    return wrong(d, "a member on another disk or without its zip64 field", at);
  m->name = vt_arena_string(&ar->arena, (const char *)p + CENTRAL, name);
  if (m->name == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for the names of a zip file");
  if (strlen(m->name) != name || !vt_archive_name_ok(m->name))
    return wrong(d, "a member whose name is empty, not UTF-8 or has control characters,", at);
  *out_length = length;
  return check_packing(m, m->end, d);
}

/* The local header repeats the facts; sizes it could not know yet are zero. */
static int agrees(const vt_member *m, const uint8_t *p, const uint8_t *names, size_t name,
                  size_t extra) {
  uint64_t size = number(p + 22, 4), packed = number(p + 18, 4);
  const uint64_t crc = number(p + 14, 4);
  uint64_t *const values[] = {&size, &packed};
  const int later = (m->flags & FLAG_DESCRIPTOR) != 0;
  if (number(p + 6, 2) != m->flags || number(p + 8, 2) != m->method) return 0;
  if (name != strlen(m->name) || memcmp(names, m->name, name) != 0) return 0;
  if (!widen(names + name, extra, values, 2)) return 0;
  if (later && size == 0 && packed == 0 && crc == 0) return 1;
  return size == m->size && packed == m->end && crc == m->crc;
}

/* Finds the data behind the local header; m->end changes from the packed size to a position. */
static vt_status read_local(const vt_source *src, uint64_t limit, vt_member *m, vt_alloc a,
                            vt_diag *d) {
  uint8_t p[LOCAL];
  if (m->local > limit || limit - m->local < LOCAL) return disagree(m, d);
  VT_TRY(vt_source_read(src, m->local, p, LOCAL, d));
  const size_t name = (size_t)number(p + 26, 2), extra = (size_t)number(p + 28, 2);
  const uint64_t begin = m->local + LOCAL + name + extra;
  if (memcmp(p, "PK\3\4", 4) != 0 || begin > limit || m->end > limit - begin) return disagree(m, d);
  uint8_t *names = vt_alloc_new(a, name + extra + 1);
  if (names == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for a header of a zip file");
  vt_status s = vt_source_read(src, m->local + LOCAL, names, name + extra, d);
  if (s == VT_OK && !agrees(m, p, names, name, extra)) s = disagree(m, d);
  vt_alloc_free(a, names, name + extra + 1);
  m->begin = begin;
  m->end += begin;
  return s;
}

/* ---- all of them ---- */

static int by_name(const void *a, const void *b, const void *context) {
  const vt_member *const *x = a, *const *y = b;
  (void)context;
  const int c = strcmp((*x)->name, (*y)->name);
  return c != 0 ? c : (*x)->index < (*y)->index ? -1 : 1;
}

static int by_place(const void *a, const void *b, const void *context) {
  const vt_member *const *x = a, *const *y = b;
  (void)context;
  if ((*x)->local != (*y)->local) return (*x)->local < (*y)->local ? -1 : 1;
  return (*x)->index < (*y)->index ? -1 : 1;
}

static vt_status check_names(vt_member **order, uint32_t n, vt_alloc a, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  if (vt_sort(order, n, sizeof *order, by_name, NULL, a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory to order the members of a zip file");
  for (uint32_t i = 1; i < n; i++)
    if (strcmp(order[i - 1]->name, order[i]->name) == 0)
      return VT_FAIL(d, VT_FORMAT, "the zip file has '%s' twice",
                     vt_archive_quote(order[i]->name, strlen(order[i]->name), q));
  return VT_OK;
}

/* The descriptor in the `n` bytes between a member's data and what follows. It may have its mark
 * or not and sizes of 4 or 8 bytes, and of these four no two are equally long. */
static vt_status check_descriptor(const vt_source *src, const vt_member *m, uint64_t n,
                                  vt_diag *d) {
  uint8_t p[24];
  char q[VT_QUOTE_MAX];
  const int marked = n == 16 || n == 24, wide = n >= 20 ? 8 : 4;
  if (n != 12 && n != 16 && n != 20 && n != 24)
    return wrong(d, n == 0 ? "no descriptor behind a member" : "bytes that belong to no member",
                 m->end);
  VT_TRY(vt_source_read(src, m->end, p, (size_t)n, d));
  const uint8_t *v = marked ? p + 4 : p;
  if ((!marked || memcmp(p, "PK\7\10", 4) == 0) && number(v, 4) == m->crc &&
      number(v + 4, wide) == m->end - m->begin && number(v + 4 + wide, wide) == m->size)
    return VT_OK;
  return VT_FAIL(d, VT_FORMAT,
                 "the descriptor of '%s' at byte %llu does not agree with the directory",
                 vt_archive_quote(m->name, strlen(m->name), q), (unsigned long long)m->end);
}

/* What lies between the data of `m` and the next member, at `next`. */
static vt_status check_gap(const vt_source *src, const vt_member *m, uint64_t next, vt_diag *d) {
  if (next < m->end) return wrong(d, "members that overlap", next);
  if ((m->flags & FLAG_DESCRIPTOR) != 0) return check_descriptor(src, m, next - m->end, d);
  return next == m->end ? VT_OK : wrong(d, "bytes that belong to no member", m->end);
}

static vt_status check_places(vt_member **order, uint32_t n, uint64_t limit, const vt_source *src,
                              vt_alloc a, vt_diag *d) {
  if (vt_sort(order, n, sizeof *order, by_place, NULL, a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory to order the members of a zip file");
  if ((n > 0 ? order[0]->local : limit) != 0) return wrong(d, "bytes that belong to no member", 0);
  for (uint32_t i = 0; i < n; i++)
    VT_TRY(check_gap(src, order[i], i + 1 < n ? order[i + 1]->local : limit, d));
  return VT_OK;
}

static vt_status read_members(vt_archive *ar, const uint8_t *p, const directory *r,
                              const vt_source *src, vt_member *members, vt_diag *d) {
  size_t at = 0, length = 0;
  for (uint32_t i = 0; i < r->count; i++, at += length) {
    members[i].index = i;
    VT_TRY(read_central(ar, p + at, (size_t)r->size - at, r->begin + at, &members[i], &length, d));
    VT_TRY(read_local(src, r->begin, &members[i], ar->a, d));
  }
  return at == r->size ? VT_OK : wrong(d, "a directory that goes on", r->begin + at);
}

static vt_status read_directory(vt_archive *ar, const vt_source *src, const directory *r,
                                vt_member *members, vt_diag *d) {
  const size_t held = (size_t)r->size + 1;
  uint8_t *p = vt_alloc_new(ar->a, held);
  if (p == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for the directory of a zip file");
  vt_status s = vt_source_read(src, r->begin, p, (size_t)r->size, d);
  if (s == VT_OK) s = read_members(ar, p, r, src, members, d);
  vt_alloc_free(ar->a, p, held);
  return s;
}

vt_status vt_zip_open(vt_archive *ar, const vt_source *src, vt_zip *out, vt_diag *d) {
  uint64_t end_at = 0;
  directory r = {0};
  VT_TRY(find_end(ar, src, &end_at, d));
  VT_TRY(read_end(src, end_at, &r, d));
  const uint32_t n = (uint32_t)r.count;
  vt_member *members = VT_NEW_N(&ar->arena, vt_member, n);
  vt_member **order = VT_NEW_N(&ar->arena, vt_member *, n);
  if (members == NULL || order == NULL)
    return VT_FAIL(d, VT_NOMEM, "no memory for the members of a zip file");
  VT_TRY(read_directory(ar, src, &r, members, d));
  for (uint32_t i = 0; i < n; i++) order[i] = &members[i];
  VT_TRY(check_names(order, n, ar->a, d));
  VT_TRY(check_places(order, n, r.begin, src, ar->a, d));
  *out = (vt_zip){.members = members, .count = n};
  return VT_OK;
}

/* ---- content ---- */

vt_status vt_zip_stream(const vt_archive *ar, const vt_source *src, const vt_member *m,
                        vt_stream *out, vt_diag *d) {
  VT_TRY(vt_stream_open(src, m->begin, m->end,
                        m->method == DEFLATED ? VT_STREAM_DEFLATE : VT_STREAM_PLAIN, ar->a, out,
                        d));
  out->sums = 1;
  return VT_OK;
}

vt_status vt_zip_finish(const vt_member *m, vt_stream *s, vt_diag *d) {
  VT_TRY(vt_stream_end(s, d));
  if (s->given != m->size) return VT_FAIL(d, VT_FORMAT, "it does not have the size declared");
  if (s->crc != m->crc)
    return VT_FAIL(d, VT_FORMAT, "its CRC is %08x and should be %08x", s->crc, m->crc);
  return VT_OK;
}
