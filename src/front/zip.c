/* SPDX-License-Identifier: Apache-2.0
 * zip.c - reads and checks the directory of a zip file:
 *
 *   | member | member | ... | directory | [zip64 end | locator] | end | comment |
 *
 *   member     local header (PK\3\4), data, and a descriptor ([PK\7\10], CRC, both sizes) if the
 *              sizes were not known when the header was written
 *   directory  one header (PK\1\2) per member
 *   zip64 end  PK\6\6; locator PK\6\7; end PK\5\6
 *
 * Local headers repeat facts of the directory. Malicious archives use contradictions between them
 * to show different content to different readers, so every contradiction is refused. The members
 * must cover the file up to the directory without overlap, so that no byte is unpacked twice. */
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

/* This value of a field means that the real value is in the zip64 field. */
#define NOT_HERE UINT64_C(0xffffffff)

/* Position and size of the directory, as an end record gives them. */
typedef struct directory {
  uint64_t begin, size, count; /* first byte, number of bytes, number of members */
  uint64_t end;                /* position of the first record after the directory */
} directory;

static uint64_t read_little_endian(const uint8_t *p, int bytes) {
  uint64_t v = 0;
  for (int i = 0; i < bytes; i++) v |= (uint64_t)p[i] << (8 * i);
  return v;
}

static vt_status fail_because_zip_has(vt_diag *d, const char *finding, uint64_t at) {
  return VT_FAIL(d, VT_FORMAT, "the zip file has %s at byte %llu", finding, (unsigned long long)at);
}

/* ---- the end of the file ---- */

/* Searches the end record backwards from the end of the file. The comment in the end record must
 * end exactly at the end of the file. */
static vt_status find_end_record(vt_archive *ar, const vt_source *src, uint64_t *out_at,
                                 vt_diag *d) {
  const uint64_t most = END + COMMENT_MAX;
  const size_t n = (size_t)(src->size < most ? src->size : most);
  uint8_t *p = vt_arena_array(&ar->arena, n, 1);
  if (p == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for the end of a zip file");
  VT_TRY(vt_source_read(src, src->size - n, p, n, d));
  for (size_t i = n >= END ? n - END + 1 : 0; i-- > 0;) {
    if (memcmp(p + i, "PK\5\6", 4) != 0 || read_little_endian(p + i + 20, 2) != n - END - i)
      continue;
    *out_at = src->size - n + i;
    return VT_OK;
  }
  return VT_FAIL(d, VT_FORMAT, "the zip file has no end record; it may be truncated");
}

/* 1 if each number of the old end record equals that of the zip64 end, or is the largest value of
 * its field, which means that the real number does not fit. */
static int end_records_agree(const directory *old, const directory *wide) {
  return (old->count == wide->count || old->count == 0xffff) &&
         (old->size == wide->size || old->size == NOT_HERE) &&
         (old->begin == wide->begin || old->begin == NOT_HERE);
}

/* Reads the zip64 end record, which must be directly before the locator; the locator is directly
 * before the end record at `end_at`. */
static vt_status read_zip64_end_record(const vt_source *src, const uint8_t *locator,
                                       uint64_t end_at, directory *out, vt_diag *d) {
  uint8_t p[END64];
  if (end_at < LOCATOR + END64)
    return fail_because_zip_has(d, "no space for its zip64 end", end_at);
  const uint64_t at = end_at - LOCATOR - END64;
  if (read_little_endian(locator + 4, 4) != 0 || read_little_endian(locator + 8, 8) != at ||
      read_little_endian(locator + 16, 4) > 1)
    return fail_because_zip_has(d, "a wrong zip64 locator", end_at - LOCATOR);
  VT_TRY(vt_source_read(src, at, p, END64, d));
  if (memcmp(p, "PK\6\6", 4) != 0 || read_little_endian(p + 4, 8) != END64 - 12)
    return fail_because_zip_has(d, "no zip64 end", at);
  if (read_little_endian(p + 16, 4) != 0 || read_little_endian(p + 20, 4) != 0 ||
      read_little_endian(p + 24, 8) != read_little_endian(p + 32, 8))
    return fail_because_zip_has(d, "several disks", at);
  const directory r = {read_little_endian(p + 48, 8), read_little_endian(p + 40, 8),
                       read_little_endian(p + 32, 8), at};
  if (!end_records_agree(out, &r)) return fail_because_zip_has(d, "two ends that do not agree", at);
  *out = r;
  return VT_OK;
}

/* Reads the zip64 end record if there is a locator. The numbers of the old end record do not show
 * whether there is a zip64 end: they may be correct in a file with a zip64 end (CPython uses zip64
 * from 2^31), and 65535 members fit into the old record. Without a locator, a number that does not
 * fit is checked like any other, and is found to be wrong. */
static vt_status read_zip64_end_if_present(const vt_source *src, uint64_t end_at, directory *out,
                                           vt_diag *d) {
  uint8_t locator[LOCATOR];
  if (end_at < LOCATOR) return VT_OK;
  VT_TRY(vt_source_read(src, end_at - LOCATOR, locator, LOCATOR, d));
  return memcmp(locator, "PK\6\7", 4) == 0 ? read_zip64_end_record(src, locator, end_at, out, d)
                                           : VT_OK;
}

static vt_status read_end_record(const vt_source *src, uint64_t at, directory *out, vt_diag *d) {
  uint8_t p[END];
  VT_TRY(vt_source_read(src, at, p, END, d));
  if (read_little_endian(p + 4, 2) != 0 || read_little_endian(p + 6, 2) != 0 ||
      read_little_endian(p + 8, 2) != read_little_endian(p + 10, 2))
    return fail_because_zip_has(d, "several disks", at);
  directory r = {read_little_endian(p + 16, 4), read_little_endian(p + 12, 4),
                 read_little_endian(p + 10, 2), at};
  VT_TRY(read_zip64_end_if_present(src, at, &r, d));
  if (r.begin > r.end || r.size != r.end - r.begin)
    return fail_because_zip_has(d, "a directory that does not end where the end begins,", at);
  if (r.size > DIRECTORY_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "the zip directory of %llu bytes is over the limit of %d",
                   (unsigned long long)r.size, DIRECTORY_LIMIT);
  if (r.count > r.size / CENTRAL) return fail_because_zip_has(d, "a wrong number of members", at);
  *out = r;
  return VT_OK;
}

/* ---- one member ---- */

/* The zip64 field among the extra fields, and its length; NULL if it is missing. */
static const uint8_t *find_zip64_field(const uint8_t *extra, size_t n, size_t *out_n) {
  for (size_t i = 0; n - i >= 4;) {
    const size_t id = (size_t)read_little_endian(extra + i, 2),
                 length = (size_t)read_little_endian(extra + i + 2, 2);
    if (length > n - i - 4) return NULL;
    *out_n = length;
    if (id == 1) return extra + i + 4;
    i += 4 + length;
  }
  return NULL;
}

/* Replaces each value that is NOT_HERE by the next value of the zip64 field. Returns 0 if the field
 * is missing or too short. */
static int fill_missing_from_zip64_field(const uint8_t *extra, size_t n, uint64_t *const *values,
                                         int count) {
  size_t left = 0;
  const uint8_t *p = find_zip64_field(extra, n, &left);
  for (int i = 0; i < count; i++) {
    if (*values[i] != NOT_HERE) continue;
    if (p == NULL || left < 8) return 0;
    *values[i] = read_little_endian(p, 8);
    p += 8;
    left -= 8;
  }
  return 1;
}

/* The failure for a local header that contradicts the directory. */
static vt_status fail_contradiction(const vt_member *m, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  return VT_FAIL(d, VT_FORMAT, "the header of '%s' at byte %llu does not agree with the directory",
                 vt_archive_escape(m->name, strlen(m->name), q), (unsigned long long)m->local);
}

static vt_status check_member(const vt_member *m, uint64_t packed_size, vt_diag *d) {
  char q[VT_QUOTE_MAX];
  vt_archive_escape(m->name, strlen(m->name), q);
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
  if (m->method == STORED && m->size != packed_size)
    return VT_FAIL(d, VT_FORMAT, "'%s' is stored, but in %llu bytes instead of %llu", q,
                   (unsigned long long)packed_size, (unsigned long long)m->size);
  if (m->method == DEFLATED && m->size / VT_STREAM_RATIO > packed_size)
    return VT_FAIL(d, VT_FORMAT, "'%s' is said to unpack from %llu bytes to %llu, which cannot be",
                   q, (unsigned long long)packed_size, (unsigned long long)m->size);
  return VT_OK;
}

/* Reads one header of the directory. m->end holds the packed size until read_local_header has found
 * the data. */
static vt_status read_directory_entry(vt_archive *ar, const uint8_t *p, size_t left, uint64_t at,
                                      vt_member *m, size_t *out_length, vt_diag *d) {
  if (left < CENTRAL || memcmp(p, "PK\1\2", 4) != 0)
    return fail_because_zip_has(d, "no member", at);
  const size_t name = (size_t)read_little_endian(p + 28, 2),
               extra = (size_t)read_little_endian(p + 30, 2),
               comment = (size_t)read_little_endian(p + 32, 2),
               length = CENTRAL + name + extra + comment;
  if (length > left) return fail_because_zip_has(d, "a member that does not end", at);
  uint64_t disk = read_little_endian(p + 34, 2);
  m->flags = (uint16_t)read_little_endian(p + 8, 2);
  m->method = (uint16_t)read_little_endian(p + 10, 2);
  m->crc = (uint32_t)read_little_endian(p + 16, 4);
  m->end = read_little_endian(p + 20, 4);
  m->size = read_little_endian(p + 24, 4);
  m->local = read_little_endian(p + 42, 4);
  uint64_t *const values[] = {&m->size, &m->end, &m->local};
  if (disk != 0 || !fill_missing_from_zip64_field(p + CENTRAL + name, extra, values, 3))
    return fail_because_zip_has(d, "a member on another disk or without its zip64 field", at);
  m->name = vt_arena_string(&ar->arena, (const char *)p + CENTRAL, name);
  if (m->name == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for the names of a zip file");
  if (strlen(m->name) != name || !vt_archive_name_ok(m->name))
    return fail_because_zip_has(
        d, "a member whose name is empty, not UTF-8 or has control characters,", at);
  *out_length = length;
  return check_member(m, m->end, d);
}

/* 1 if the local header `p` has the same facts as the directory. Sizes and CRC may be zero if a
 * descriptor follows the data. */
static int local_header_agrees(const vt_member *m, const uint8_t *p, const uint8_t *names,
                               size_t name_length, size_t extra_length) {
  uint64_t size = read_little_endian(p + 22, 4), packed = read_little_endian(p + 18, 4);
  const uint64_t crc = read_little_endian(p + 14, 4);
  uint64_t *const values[] = {&size, &packed};
  const int later = (m->flags & FLAG_DESCRIPTOR) != 0;
  if (read_little_endian(p + 6, 2) != m->flags || read_little_endian(p + 8, 2) != m->method)
    return 0;
  if (name_length != strlen(m->name) || memcmp(names, m->name, name_length) != 0) return 0;
  if (!fill_missing_from_zip64_field(names + name_length, extra_length, values, 2)) return 0;
  if (later && size == 0 && packed == 0 && crc == 0) return 1;
  return size == m->size && packed == m->end && crc == m->crc;
}

/* Checks the local header and finds the data after it. m->end changes from the packed size to the
 * position of the end. */
static vt_status read_local_header(const vt_source *src, uint64_t directory_begin, vt_member *m,
                                   vt_alloc a, vt_diag *d) {
  uint8_t p[LOCAL];
  if (m->local > directory_begin || directory_begin - m->local < LOCAL)
    return fail_contradiction(m, d);
  VT_TRY(vt_source_read(src, m->local, p, LOCAL, d));
  const size_t name = (size_t)read_little_endian(p + 26, 2),
               extra = (size_t)read_little_endian(p + 28, 2);
  const uint64_t begin = m->local + LOCAL + name + extra;
  if (memcmp(p, "PK\3\4", 4) != 0 || begin > directory_begin || m->end > directory_begin - begin)
    return fail_contradiction(m, d);
  uint8_t *names = vt_alloc_new(a, name + extra + 1);
  if (names == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for a header of a zip file");
  vt_status s = vt_source_read(src, m->local + LOCAL, names, name + extra, d);
  if (s == VT_OK && !local_header_agrees(m, p, names, name, extra)) s = fail_contradiction(m, d);
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

static int by_position(const void *a, const void *b, const void *context) {
  const vt_member *const *x = a, *const *y = b;
  (void)context;
  if ((*x)->local != (*y)->local) return (*x)->local < (*y)->local ? -1 : 1;
  return (*x)->index < (*y)->index ? -1 : 1;
}

static vt_status sort_and_check_names_differ(vt_member **order, uint32_t n, vt_alloc a,
                                             vt_diag *d) {
  char q[VT_QUOTE_MAX];
  if (vt_sort(order, n, sizeof *order, by_name, NULL, a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory to order the members of a zip file");
  for (uint32_t i = 1; i < n; i++)
    if (strcmp(order[i - 1]->name, order[i]->name) == 0)
      return VT_FAIL(d, VT_FORMAT, "the zip file has '%s' twice",
                     vt_archive_escape(order[i]->name, strlen(order[i]->name), q));
  return VT_OK;
}

/* Checks the descriptor, which must fill the `length` bytes after a member's data. It may have a
 * signature or not, and sizes of 4 or 8 bytes; the four forms have different lengths. */
static vt_status check_descriptor(const vt_source *src, const vt_member *m, uint64_t length,
                                  vt_diag *d) {
  uint8_t p[24];
  char q[VT_QUOTE_MAX];
  const int marked = length == 16 || length == 24, wide = length >= 20 ? 8 : 4;
  if (length != 12 && length != 16 && length != 20 && length != 24)
    return fail_because_zip_has(
        d, length == 0 ? "no descriptor behind a member" : "bytes that belong to no member",
        m->end);
  VT_TRY(vt_source_read(src, m->end, p, (size_t)length, d));
  const uint8_t *v = marked ? p + 4 : p;
  if ((!marked || memcmp(p, "PK\7\10", 4) == 0) && read_little_endian(v, 4) == m->crc &&
      read_little_endian(v + 4, wide) == m->end - m->begin &&
      read_little_endian(v + 4 + wide, wide) == m->size)
    return VT_OK;
  return VT_FAIL(d, VT_FORMAT,
                 "the descriptor of '%s' at byte %llu does not agree with the directory",
                 vt_archive_escape(m->name, strlen(m->name), q), (unsigned long long)m->end);
}

/* Checks the bytes between the data of `m` and the next member, at `next`: only a descriptor may be
 * there. */
static vt_status check_gap_after_member(const vt_source *src, const vt_member *m, uint64_t next,
                                        vt_diag *d) {
  if (next < m->end) return fail_because_zip_has(d, "members that overlap", next);
  if ((m->flags & FLAG_DESCRIPTOR) != 0) return check_descriptor(src, m, next - m->end, d);
  return next == m->end ? VT_OK : fail_because_zip_has(d, "bytes that belong to no member", m->end);
}

static vt_status sort_and_check_coverage(vt_member **order, uint32_t n, uint64_t directory_begin,
                                         const vt_source *src, vt_alloc a, vt_diag *d) {
  if (vt_sort(order, n, sizeof *order, by_position, NULL, a) != VT_OK)
    return VT_FAIL(d, VT_NOMEM, "no memory to order the members of a zip file");
  if ((n > 0 ? order[0]->local : directory_begin) != 0)
    return fail_because_zip_has(d, "bytes that belong to no member", 0);
  for (uint32_t i = 0; i < n; i++)
    VT_TRY(check_gap_after_member(src, order[i], i + 1 < n ? order[i + 1]->local : directory_begin,
                                  d));
  return VT_OK;
}

static vt_status read_members(vt_archive *ar, const uint8_t *p, const directory *r,
                              const vt_source *src, vt_member *members, vt_diag *d) {
  size_t at = 0, length = 0;
  for (uint32_t i = 0; i < r->count; i++, at += length) {
    members[i].index = i;
    VT_TRY(read_directory_entry(ar, p + at, (size_t)r->size - at, r->begin + at, &members[i],
                                &length, d));
    VT_TRY(read_local_header(src, r->begin, &members[i], ar->a, d));
  }
  return at == r->size ? VT_OK : fail_because_zip_has(d, "a directory that goes on", r->begin + at);
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
  VT_TRY(find_end_record(ar, src, &end_at, d));
  VT_TRY(read_end_record(src, end_at, &r, d));
  const uint32_t n = (uint32_t)r.count;
  vt_member *members = VT_NEW_N(&ar->arena, vt_member, n);
  vt_member **order = VT_NEW_N(&ar->arena, vt_member *, n);
  if (members == NULL || order == NULL)
    return VT_FAIL(d, VT_NOMEM, "no memory for the members of a zip file");
  VT_TRY(read_directory(ar, src, &r, members, d));
  for (uint32_t i = 0; i < n; i++) order[i] = &members[i];
  VT_TRY(sort_and_check_names_differ(order, n, ar->a, d));
  VT_TRY(sort_and_check_coverage(order, n, r.begin, src, ar->a, d));
  *out = (vt_zip){.members = members, .count = n};
  return VT_OK;
}

/* ---- content ---- */

vt_status vt_zip_open_member(const vt_archive *ar, const vt_source *src, const vt_member *m,
                             vt_stream *out, vt_diag *d) {
  VT_TRY(vt_stream_open(src, m->begin, m->end,
                        m->method == DEFLATED ? VT_STREAM_DEFLATE : VT_STREAM_PLAIN, ar->a, out,
                        d));
  out->sums = 1;
  return VT_OK;
}

vt_status vt_zip_check_member(const vt_member *m, vt_stream *s, vt_diag *d) {
  VT_TRY(vt_stream_check_end(s, d));
  if (s->given != m->size) return VT_FAIL(d, VT_FORMAT, "its size is not the declared one");
  if (s->crc != m->crc)
    return VT_FAIL(d, VT_FORMAT, "its CRC is %08x and should be %08x", s->crc, m->crc);
  return VT_OK;
}
