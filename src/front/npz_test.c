/* SPDX-License-Identifier: Apache-2.0
 * npz_test.c - tests npz files: valid ones as NumPy writes them, malicious ones, and written ones.
 * A part is a member of a zip file that a test builds, with values that may be wrong. A member has
 * a local header, its data and perhaps a descriptor (CRC and sizes); the directory and the end
 * record are at the end of the file. */
#include <fcntl.h>
#include <sys/stat.h>
#include <zlib.h>
#include "archive_test.h"
#include "zip.h"

/* ---- building files ---- */

/* A member to write. */
typedef struct part {
  const char *name;       /* name in the directory */
  const char *local_name; /* name in the local header; NULL: the same */
  uint8_t data[256];
  size_t n;           /* bytes of `data` */
  int deflate, zip64; /* 1: deflate the data; 1: use zip64 fields */
  int strategy;       /* strategy of deflate */
  int descriptor;     /* length of the descriptor: 12, 16, 20, 24; 0: none */
  /* Wrong values to write into the headers; -1: write the correct value. */
  int64_t size, packed, crc, method, flags, local, local_size;
} part;

static part plain_part(const char *name) {
  static const char head[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n";
  part p = {.name = name,
            .size = -1,
            .packed = -1,
            .crc = -1,
            .method = -1,
            .flags = -1,
            .local = -1,
            .local_size = -1};
  bytes b = {.n = 0};
  append_bytes(&b, "\x93NUMPY\1\0", 8);
  append_little_endian(&b, sizeof head - 1, 2);
  append_bytes(&b, head, sizeof head - 1);
  append_bytes(&b, "abc", 3);
  memcpy(p.data, b.p, b.n);
  p.n = b.n;
  return p;
}

static uint64_t wrong_value_or_right(int64_t wrong, uint64_t right) {
  return wrong >= 0 ? (uint64_t)wrong : right;
}

static size_t pack_part_data(const part *p, uint8_t out[512]) {
  z_stream z = {0};
  if (!p->deflate) return memcpy(out, p->data, p->n), p->n;
  if (deflateInit2(&z, 9, Z_DEFLATED, -15, 8, p->strategy) != Z_OK) abort();
  uint8_t copy[256];
  memcpy(copy, p->data, sizeof copy);
  z.next_in = copy;
  z.avail_in = (unsigned)p->n;
  z.next_out = out;
  z.avail_out = 512;
  if (deflate(&z, Z_FINISH) != Z_STREAM_END) abort();
  deflateEnd(&z);
  return 512 - z.avail_out;
}

static void add_packed_and_unpacked_size(bytes *b, const part *p, uint64_t size, uint64_t packed) {
  append_little_endian(b, p->zip64 ? 0xffffffff : packed, 4);
  append_little_endian(b, p->zip64 ? 0xffffffff : size, 4);
}

static uint64_t part_flags(const part *p) {
  return wrong_value_or_right(p->flags, p->descriptor ? 8 : 0);
}

static void add_local_header(bytes *b, const part *p, uint64_t size, uint64_t packed,
                             uint64_t crc) {
  const char *name = p->local_name != NULL ? p->local_name : p->name;
  append_bytes(b, "PK\3\4-\0", 6);
  append_little_endian(b, part_flags(p), 2);
  append_little_endian(b, wrong_value_or_right(p->method, p->deflate ? 8 : 0), 2);
  append_little_endian(b, 0x210000, 4);
  append_little_endian(b, p->descriptor ? 0 : crc, 4);
  size = wrong_value_or_right(p->local_size, size);
  add_packed_and_unpacked_size(b, p, p->descriptor ? 0 : size, p->descriptor ? 0 : packed);
  append_little_endian(b, strlen(name), 2);
  append_little_endian(b, p->zip64 ? 20 : 0, 2);
  append_bytes(b, name, strlen(name));
  if (!p->zip64) return;
  append_bytes(b, "\1\0\x10\0", 4);
  append_little_endian(b, p->descriptor ? 0 : size, 8);
  append_little_endian(b, p->descriptor ? 0 : packed, 8);
}

static void add_descriptor(bytes *b, const part *p, uint64_t size, uint64_t packed, uint64_t crc) {
  const size_t wide = p->descriptor >= 20 ? 8 : 4;
  if (p->descriptor == 16 || p->descriptor == 24) append_bytes(b, "PK\7\10", 4);
  append_little_endian(b, crc, 4);
  append_little_endian(b, packed, wide);
  append_little_endian(b, size, wide);
}

static void add_directory_entry(bytes *b, const part *p, uint64_t size, uint64_t packed,
                                uint64_t crc, uint64_t local) {
  append_bytes(b, "PK\1\2-\3-\0", 8);
  append_little_endian(b, part_flags(p), 2);
  append_little_endian(b, wrong_value_or_right(p->method, p->deflate ? 8 : 0), 2);
  append_little_endian(b, 0x210000, 4);
  append_little_endian(b, crc, 4);
  add_packed_and_unpacked_size(b, p, size, packed);
  append_little_endian(b, strlen(p->name), 2);
  append_little_endian(b, p->zip64 ? 28 : 0, 2);
  append_little_endian(b, 0, 8);
  append_little_endian(b, 0, 2);
  append_little_endian(b, p->zip64 ? 0xffffffff : local, 4);
  append_bytes(b, p->name, strlen(p->name));
  if (!p->zip64) return;
  append_bytes(b, "\1\0\x18\0", 4);
  append_little_endian(b, size, 8);
  append_little_endian(b, packed, 8);
  append_little_endian(b, local, 8);
}

static void add_end_record(bytes *b, size_t count, size_t begin) {
  const size_t size = b->n - begin;
  append_bytes(b, "PK\5\6\0\0\0\0", 8);
  append_little_endian(b, count, 2);
  append_little_endian(b, count, 2);
  append_little_endian(b, size, 4);
  append_little_endian(b, begin, 4);
  append_little_endian(b, 0, 2);
}

static bytes make_npz(const part *parts, size_t count) {
  bytes b = {.n = 0}, directory = {.n = 0};
  for (size_t i = 0; i < count; i++) {
    const part *p = &parts[i];
    uint8_t packed[512];
    const uint64_t local = wrong_value_or_right(p->local, b.n);
    const size_t n = pack_part_data(p, packed);
    const uint64_t crc = wrong_value_or_right(p->crc, crc32(0, p->data, (unsigned)p->n));
    add_local_header(&b, p, p->n, n, crc);
    append_bytes(&b, packed, n);
    if (p->descriptor) add_descriptor(&b, p, p->n, n, crc);
    add_directory_entry(&directory, p, wrong_value_or_right(p->size, p->n),
                        wrong_value_or_right(p->packed, n), crc, local);
  }
  const size_t begin = b.n;
  append_bytes(&b, directory.p, directory.n);
  add_end_record(&b, count, begin);
  return b;
}

/* ---- reading ---- */

static void check_holds_abc(const vt_archive *ar, const char *name) {
  vt_tensor t;
  CHECK(vt_archive_find(ar, name, &t, NULL) == VT_OK);
  if (vt_archive_find(ar, name, &t, NULL) != VT_OK) return;
  CHECK(t.dtype == VT_DTYPE_U8 && t.rank == 1 && t.dim[0] == 3 && memcmp(t.data, "abc", 3) == 0);
}

static void test_valid_files_are_read(void) {
  for (int kind = 0; kind < 20; kind++) {
    part p[2] = {plain_part("a.npy"), plain_part("dir/\xc3\xa4.npy")};
    for (int i = 0; i < 2; i++) {
      p[i].deflate = kind & 1;
      p[i].zip64 = (kind & 2) != 0;
      p[i].descriptor = kind < 4 ? 0 : 8 + kind / 4 * 4;
    }
    const bytes b = make_npz(p, 2);
    vt_archive *ar;
    vt_fault f;
    vt_diag d;
    CHECK(parse_exact_copy(b.p, b.n, 0, &ar, &f, &d) == VT_OK);
    if (ar == NULL) {
      fprintf(stderr, "  %d: %s\n", kind, d.text);
      continue;
    }
    CHECK(strcmp(vt_archive_format(ar), "npz") == 0 && vt_archive_count(ar) == 2);
    check_holds_abc(ar, "a");
    check_holds_abc(ar, "dir/\xc3\xa4");
    vt_archive_free(ar);
    CHECK(f.live == 0);
  }
}

static void check_tensor_equals(const vt_archive *ar, const char *name, uint32_t dtype,
                                uint32_t rank, const void *data, size_t n) {
  vt_tensor t = {.dtype = 0};
  CHECK(vt_archive_find(ar, name, &t, NULL) == VT_OK);
  CHECK(t.dtype == dtype && t.rank == rank);
  if (t.dtype == dtype) CHECK(memcmp(t.data, data, n) == 0);
}

static void test_numpy_file_is_read(const char *path) {
  static const uint32_t f32[6] = {0x3fc00000u, 0x80000000u, 0x7f800000u,
                                  0x7fc00000u, 1u,          0x7f7fc99eu};
  static const int32_t big[6] = {0, 1, 2, 3, 4, 5};
  static const double fortran[6] = {0, 1, 2, 3, 4, 5};
  vt_archive *ar = NULL;
  vt_diag d = {.code = VT_OK};
  CHECK(vt_archive_read(path, NULL, &ar, &d) == VT_OK);
  if (ar == NULL) {
    fprintf(stderr, "%s\n", d.text);
    return;
  }
  CHECK(vt_archive_count(ar) == 7);
  check_tensor_equals(ar, "f32", VT_DTYPE_F32, 2, f32, sizeof f32);
  check_tensor_equals(ar, "big", VT_DTYPE_I32, 2, big, sizeof big);
  check_tensor_equals(ar, "fortran", VT_DTYPE_F64, 2, fortran, sizeof fortran);
  check_tensor_equals(ar, "none", VT_DTYPE_I64, 2, "", 0);
  check_tensor_equals(ar, "scalar", VT_DTYPE_U8, 0, "\7", 1);
  check_tensor_equals(ar, "truth", VT_DTYPE_BOOL, 1, "\1\0", 2);
  check_tensor_equals(ar, "half", VT_DTYPE_F16, 1, "\0\x38\xff\x7b", 4);
  vt_archive_free(ar);
}

/* ---- refused ---- */

static void check_refused(const part *parts, size_t n, vt_status want, const char *says) {
  const bytes b = make_npz(parts, n);
  vt_diag d;
  const vt_status s = parse_only_for_status(b.p, b.n, &d);
  CHECK(s == want && strstr(d.text, says) != NULL);
  if (s != want || strstr(d.text, says) == NULL) fprintf(stderr, "  %s\n", d.text);
}

static void test_one_bad_member_refused(void) {
  part p = plain_part("a.npy");
  p.crc = 1;
  check_refused(&p, 1, VT_FORMAT, "in 'a.npy': its CRC is ");
  p = plain_part("a.npy"), p.size = 1000;
  check_refused(&p, 1, VT_FORMAT, "is stored, but in 71 bytes instead of 1000");
  p = plain_part("a.npy"), p.packed = p.size = 1000, p.local_size = 1000;
  check_refused(&p, 1, VT_FORMAT, "does not agree");
  p = plain_part("a.npy"), p.local_size = 70;
  check_refused(&p, 1, VT_FORMAT, "does not agree");
  p = plain_part("a.npy"), p.local_name = "b.npy";
  check_refused(&p, 1, VT_FORMAT, "does not agree");
  p = plain_part("a.npy"), p.local = 1;
  check_refused(&p, 1, VT_FORMAT, "does not agree");
  p = plain_part("a.npy"), p.local = 1 << 30;
  check_refused(&p, 1, VT_FORMAT, "does not agree");
  p = plain_part("a.npy"), p.zip64 = 1, p.local = INT64_MAX;
  check_refused(&p, 1, VT_FORMAT, "does not agree");
  p = plain_part("a.npy"), p.flags = 1;
  check_refused(&p, 1, VT_UNSUPPORTED, "'a.npy' is encrypted");
  p = plain_part("a.npy"), p.method = 12;
  check_refused(&p, 1, VT_UNSUPPORTED, "is packed by method 12");
  p = plain_part("a.txt");
  check_refused(&p, 1, VT_FORMAT, "'a.txt', which is not an npy array");
  p = plain_part(".npy");
  check_refused(&p, 1, VT_FORMAT, "'.npy', which is not an npy array");
  p = plain_part("a\x1b.npy");
  check_refused(&p, 1, VT_FORMAT, "control characters");
  p = plain_part("\xff.npy");
  check_refused(&p, 1, VT_FORMAT, "not UTF-8");
  p = plain_part("a.npy"), p.data[0] = 'x';
  check_refused(&p, 1, VT_FORMAT, "in 'a.npy': this is not a npy file");
  p = plain_part("a.npy"), p.n--;
  check_refused(&p, 1, VT_FORMAT, "1 bytes short of its shape");
}

static void test_contradicting_members_refused(void) {
  part p[2] = {plain_part("a.npy"), plain_part("a.npy")};
  check_refused(p, 2, VT_FORMAT, "has 'a.npy' twice");
  /* The names are swapped: the local header of each member has the name of the other. */
  p[1].name = "b.npy";
  p[1].local_name = "a.npy", p[0].local_name = "b.npy";
  check_refused(p, 2, VT_FORMAT, "does not agree");
  p[0] = plain_part("a.npy"), p[1] = plain_part("b.npy");
  const bytes b = make_npz(p, 2);
  bytes m = b;
  m.n = 0; /* builds a file with a byte between the members that belongs to no member */
  const size_t first = 30 + 5 + p[0].n, begin = 2 * first;
  append_bytes(&m, b.p, first);
  append_bytes(&m, "x", 1);
  append_bytes(&m, b.p + first, b.n - first);
  m.p[begin + 1 + 51 + 42]++;     /* corrects the position of the second member in the directory */
  m.p[begin + 1 + 2 * 51 + 16]++; /* corrects the position of the directory in the end record */
  vt_diag d;
  CHECK(parse_only_for_status(m.p, m.n, &d) == VT_FORMAT);
  CHECK(strstr(d.text, "bytes that belong to no member at byte 106") != NULL);
  if (strstr(d.text, "belong to no") == NULL) fprintf(stderr, "  %s\n", d.text);
}

/* A descriptor is refused if it contradicts the directory, has a wrong length or is missing. */
static void test_bad_descriptors_refused(void) {
  for (int length = 12; length <= 24; length += 4) {
    part p = plain_part("a.npy");
    p.descriptor = length;
    bytes b = make_npz(&p, 1);
    vt_diag d;
    CHECK(parse_only_for_status(b.p, b.n, &d) == VT_OK);
    for (size_t i = 30 + 5 + p.n; i < 30 + 5 + p.n + (size_t)length; i++) {
      b.p[i] ^= 1;
      CHECK(parse_only_for_status(b.p, b.n, &d) == VT_FORMAT);
      CHECK(strstr(d.text, "the descriptor of 'a.npy' at byte 106 does not agree") != NULL);
      b.p[i] ^= 1;
    }
  }
  part p = plain_part("a.npy");
  p.flags = 8;
  check_refused(&p, 1, VT_FORMAT, "no descriptor behind a member at byte 106");
  p = plain_part("a.npy"), p.descriptor = 16, p.flags = 0;
  check_refused(&p, 1, VT_FORMAT, "does not agree");
  /* 13 is no valid length: a descriptor of 12 bytes is written, and its flag is set. */
  p = plain_part("a.npy"), p.descriptor = 13;
  bytes b = make_npz(&p, 1);
  memmove(b.p + 107, b.p + 106, b.n - 106); /* inserts a byte before the descriptor */
  b.n++;
  b.p[b.n - 6]++;
  vt_diag d;
  CHECK(parse_only_for_status(b.p, b.n, &d) == VT_FORMAT &&
        strstr(d.text, "belong to no member") != NULL);
}

/* A member inside the data of another member is refused, because its bytes would be unpacked
 * twice. */
static void test_nested_member_refused(void) {
  part p[2] = {plain_part("a.npy"), plain_part("b.npy")};
  bytes inner = {.n = 0};
  add_local_header(&inner, &p[1], p[1].n, p[1].n, crc32(0, p[1].data, (unsigned)p[1].n));
  append_bytes(&inner, p[1].data, p[1].n);
  memcpy(p[0].data, inner.p, inner.n);
  p[0].n = inner.n;
  p[1].local = 30 + 5;
  check_refused(p, 2, VT_FORMAT, "members that overlap at byte 35");
}

/* A comment at the end is allowed if its length is correct. */
static void test_file_comment_length_checked(void) {
  const part p = plain_part("a.npy");
  bytes b = make_npz(&p, 1);
  vt_diag d;
  append_bytes(&b, "PK\5\6x", 5);
  CHECK(parse_only_for_status(b.p, b.n, &d) == VT_FORMAT &&
        strstr(d.text, "no end record") != NULL);
  b.p[b.n - 5 - 2] = 5;
  CHECK(parse_only_for_status(b.p, b.n, &d) == VT_OK);
  b.p[b.n - 5 - 2] = 6;
  CHECK(parse_only_for_status(b.p, b.n, &d) == VT_FORMAT);
}

/* Makes a file with a zip64 end record, and adds `add` to the byte at position `change_at` of that
 * record. If `keep_old_end` is 1, the old end record contains the correct numbers, too. */
static bytes make_with_zip64_end(size_t change_at, uint8_t add, int keep_old_end) {
  const part p = plain_part("a.npy");
  bytes b = make_npz(&p, 1);
  const bytes was = b;
  const size_t end = b.n - 22, begin = end - 51;
  b.n = end;
  append_bytes(&b, "PK\6\6", 4);
  append_little_endian(&b, 44, 8);
  append_little_endian(&b, 0x2d002d, 4);
  append_little_endian(&b, 0, 8);
  append_little_endian(&b, 1, 8);
  append_little_endian(&b, 1, 8);
  append_little_endian(&b, 51, 8);
  append_little_endian(&b, begin, 8);
  append_bytes(&b, "PK\6\7\0\0\0\0", 8);
  append_little_endian(&b, end, 8);
  append_little_endian(&b, 1, 4);
  append_bytes(&b, "PK\5\6\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0", 22);
  if (keep_old_end) memcpy(b.p + b.n - 22, was.p + end, 22);
  b.p[end + change_at] = (uint8_t)(b.p[end + change_at] + add);
  return b;
}

static void test_bad_zip64_end_refused(void) {
  /* positions of the fields: signature, length, disk, counts, size and position of the directory;
   * and of the fields of the locator */
  static const size_t changes[] = {0, 4, 16, 24, 32, 40, 48, 56, 60, 64, 72};
  bytes b = make_with_zip64_end(0, 0, 0);
  vt_diag d;
  CHECK(parse_only_for_status(b.p, b.n, &d) == VT_OK);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    b = make_with_zip64_end(changes[i], 3, 0);
    CHECK(parse_only_for_status(b.p, b.n, &d) == VT_FORMAT);
  }
  b = make_with_zip64_end(47, 255, 0); /* the size of the directory becomes more than 2^56 bytes */
  CHECK(parse_only_for_status(b.p, b.n, &d) == VT_FORMAT);
}

/* CPython's zipfile writes a zip64 end record for files of 2^31 bytes or more, and still writes the
 * correct numbers into the old end record. */
static void test_end_records_must_agree(void) {
  vt_diag d;
  bytes b = make_with_zip64_end(0, 0, 1);
  CHECK(parse_only_for_status(b.p, b.n, &d) == VT_OK);
  for (size_t at = 8; at < 20;
       at++) { /* the bytes of the counts, the size and the position of the directory */
    b = make_with_zip64_end(0, 0, 1);
    b.p[b.n - 22 + at]++;
    if (at < 12) b.p[b.n - 22 + (at ^ 2)]++; /* changes both counts in the same way */
    CHECK(parse_only_for_status(b.p, b.n, &d) == VT_FORMAT);
    CHECK(strstr(d.text, "two ends that do not agree") != NULL);
  }
  b = make_with_zip64_end(0, 0, 1);
  b.p[b.n - 22 - 20]++; /* without a locator the zip64 end record belongs to nothing */
  CHECK(parse_only_for_status(b.p, b.n, &d) == VT_FORMAT &&
        strstr(d.text, "a directory that does not end") != NULL);
}

/* ---- bombs ---- */

static void test_wrong_unpacked_size_refused(void) {
  part p = plain_part("a.npy");
  p.deflate = 1;
  p.size = 1 << 30; /* declares more bytes than deflate can pack into the member */
  p.local_size = 1 << 30;
  check_refused(&p, 1, VT_FORMAT, "which cannot be");
  p.size = 50; /* declares fewer bytes than the data unpacks to */
  p.local_size = 50;
  check_refused(&p, 1, VT_FORMAT, "npy");
  p.size = p.local_size = 1000; /* declares more bytes than the data unpacks to */
  check_refused(&p, 1, VT_FORMAT, "npy file goes on after its data");
  p = plain_part("a.npy"), p.zip64 = 1;
  p.size = p.packed = p.local_size = INT64_C(1) << 40;
  check_refused(&p, 1, VT_LIMIT, "more than the 68719476736 accepted");
}

/* Packed data may end inside a byte: then zlib has consumed all input before it has returned all
 * output. */
static void test_packed_data_of_any_length_read(void) {
  for (int padding = 0; padding < 32; padding++)
    for (int value = 0; value < 256; value += 5) {
      part p = plain_part("a.npy");
      bytes b = {.n = 0};
      char head[128];
      const int n =
          snprintf(head, sizeof head, "%s%*s\n",
                   "{'descr': '|u1', 'fortran_order': False, 'shape': (), }", padding, "");
      append_bytes(&b, "\x93NUMPY\1\0", 8);
      append_little_endian(&b, (uint64_t)n, 2);
      append_bytes(&b, head, (size_t)n);
      append_little_endian(&b, (uint64_t)value, 1);
      memcpy(p.data, b.p, b.n);
      p.n = b.n, p.deflate = 1, p.strategy = padding % 2 == 0 ? Z_FIXED : Z_DEFAULT_STRATEGY;
      b = make_npz(&p, 1);
      vt_diag d;
      const int right = parse_only_for_status(b.p, b.n, &d) == VT_OK;
      CHECK(right);
      if (!right) fprintf(stderr, "  %d %d: %s\n", padding, value, d.text);
    }
}

/* Packed data that unpacks to more than the declared size is refused. */
static void test_longer_packed_data_refused(void) {
  part p = plain_part("a.npy");
  const size_t n = p.n;
  p.deflate = 1;
  p.data[p.n++] = 'd';
  p.size = p.local_size = (int64_t)n;
  check_refused(&p, 1, VT_FORMAT, "in 'a.npy': the packed data unpacks to more");
}

/* A sparse file that declares a huge size is refused without being read completely. */
static void test_sparse_file_refused(void) {
  const char *path = path_in_test_folder("sparse");
  const int fd = open(path, O_CREAT | O_WRONLY, 0600);
  if (fd < 0 || ftruncate(fd, (off_t)60 << 30) != 0 || pwrite(fd, "PK\3\4", 4, 0) != 4) {
    if (fd >= 0) close(fd);
    unlink(path);
    return;
  }
  vt_fault f = {0};
  const vt_alloc a = vt_fault_alloc(&f);
  vt_archive *ar = NULL;
  CHECK(vt_archive_read(path, &a, &ar, NULL) == VT_FORMAT && f.live == 0);
  CHECK(pwrite(fd, "\x93NUMPY\1\0\xff\xff", 10, 0) == 10);
  CHECK(vt_archive_read(path, &a, &ar, NULL) == VT_FORMAT && f.live == 0);
  CHECK(pwrite(fd, "\x93NUMPY\2\0\xff\xff\xff\x7f", 12, 0) == 12);
  CHECK(vt_archive_read(path, &a, &ar, NULL) == VT_LIMIT && f.live == 0);
  CHECK(pwrite(fd, "\2\0\0\0\0\0\0\0{}", 10, 0) == 10);
  CHECK(vt_archive_read(path, &a, &ar, NULL) == VT_FORMAT && f.live == 0);
  CHECK(pwrite(fd, "\0\0\x08\1\0\0\0\1", 8, 0) == 8);
  CHECK(vt_archive_read(path, &a, &ar, NULL) == VT_FORMAT && f.live == 0);
  close(fd);
  unlink(path);
}

/* ---- writing ---- */

static vt_tensor make_tensor(uint32_t dtype, uint32_t rank, const int64_t *dim, void *data) {
  vt_tensor t = {.dtype = dtype, .rank = rank, .data = data};
  for (uint32_t i = 0; i < rank; i++) t.dim[i] = dim[i];
  return t;
}

/* The bytes must be those of numpy.savez(path, a=numpy.arange(3, dtype='f4')). */
static void test_written_bytes_equal_numpy(void) {
  static const uint8_t before[] =
      "PK\3\4-\0\0\0\0\0\0\0!\0\xb6\x8c\x86S\xff\xff\xff\xff\xff\xff"
      "\xff\xff\5\0\x14\0a.npy\1\0\x10\0\x8c\0\0\0\0\0\0\0\x8c\0\0\0\0"
      "\0\0\0\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, "
      "'shape': (3,), }";
  static const uint8_t behind[] =
      "\n\0\0\0\0\0\0\x80?\0\0\0@PK\1\2-\3-\0\0\0\0\0\0\0!\0\xb6\x8c\x86S\x8c\0\0\0\x8c\0\0\0\5\0\0"
      "\0\0\0\0\0\0\0\0\0\x80\1\0\0\0\0a.npyPK\5\6\0\0\0\0\1\0\1\0003\0\0\0\xc3\0\0\0\0";
  float x[3] = {0, 1, 2};
  const char *name = "a";
  const vt_tensor t = make_tensor(VT_DTYPE_F32, 1, (const int64_t[]){3}, x);
  bytes want = {.n = 0};
  append_bytes(&want, before, sizeof before - 1);
  while (want.n < 55 + 127) append_bytes(&want, " ", 1);
  append_bytes(&want, behind, sizeof behind);
  CHECK(vt_npz_write(path_in_test_folder("a"), 1, &name, &t, NULL) == VT_OK);
  const bytes got = read_test_file(path_in_test_folder("a"));
  CHECK(want.n == 268 && same_bytes(&got, &want));
}

static void check_bytes_are_hex(const vt_text *t, const char *hex) {
  static const char digits[] = "0123456789abcdef";
  int ok = 2 * t->n == strlen(hex);
  for (size_t i = 0; ok && i < t->n; i++) {
    const uint8_t c = (uint8_t)t->s[i];
    ok = hex[2 * i] == digits[c >> 4] && hex[2 * i + 1] == digits[c & 15];
  }
  CHECK(ok);
}

/* Uses zip64 for the same sizes as CPython's zipfile, and so numpy.savez. The expected bytes are
 * the directory and the end that zipfile writes for one member of size `size` at position `at`,
 * with a directory at `begin`. */
static void test_zip64_used_at_numpy_limits(void) {
  const uint64_t most = 0x7fffffff;
  const struct {
    uint64_t size, at, begin;
    const char *hex;
  } cases[] = {
      {most, most, most,
       "504b01022d032d00000000000000210078563412ffffff7fffffff7f050000000000000000000000"
       "8001ffffff7f612e6e7079504b0506000000000100010033000000ffffff7f0000"},
      {most + 1, 5, most + 1,
       "504b01022d032d00000000000000210078563412ffffffffffffffff050014000000000000000000"
       "800105000000612e6e70790100100000000080000000000000008000000000504b06062c00000000"
       "0000002d002d00000000000000000001000000000000000100000000000000470000000000000000"
       "00008000000000504b060700000000470000800000000001000000504b0506000000000100010047"
       "000000000000800000"},
      {7, most + 1, most + 1,
       "504b01022d032d00000000000000210078563412070000000700000005000c000000000000000000"
       "8001ffffffff612e6e7079010008000000008000000000504b06062c000000000000002d002d0000"
       "00000000000000010000000000000001000000000000003f00000000000000000000800000000050"
       "4b0607000000003f0000800000000001000000504b050600000000010001003f0000000000008000"
       "00"},
      {UINT32_MAX, UINT32_MAX, UINT64_C(0x100000009),
       "504b01022d032d00000000000000210078563412ffffffffffffffff05001c000000000000000000"
       "8001ffffffff612e6e707901001800ffffffff00000000ffffffff00000000ffffffff0000000050"
       "4b06062c000000000000002d002d000000000000000000010000000000000001000000000000004f"
       "000000000000000900000001000000504b060700000000580000000100000001000000504b050600"
       "000000010001004f000000ffffffff0000"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    vt_text t;
    vt_text_init(&t, vt_alloc_default());
    vt_zip_add_directory_entry(&t, "a", ".npy", 0x12345678, cases[i].size, cases[i].at);
    vt_zip_add_end_records(&t, 1, cases[i].begin, t.n);
    CHECK(vt_text_status(&t) == VT_OK);
    check_bytes_are_hex(&t, cases[i].hex);
    vt_text_done(&t);
  }
}

/* Writes the largest number of members that needs no zip64 end record, and one member more, which
 * needs it. */
static void test_zip64_end_above_65535_members(void) {
  enum { MOST = 65535, NAME = 6 };
  static char text[MOST + 1][NAME];
  static const char *names[MOST + 1];
  static vt_tensor t[MOST + 1];
  static uint8_t x = 7;
  for (unsigned i = 0; i <= MOST; i++) {
    snprintf(text[i], NAME, "%05u", i % 100000);
    names[i] = text[i];
    t[i] = make_tensor(VT_DTYPE_U8, 0, NULL, &x);
  }
  for (uint32_t n = MOST; n <= MOST + 1; n++) {
    uint8_t end[42] = {0};
    vt_archive *ar = NULL;
    CHECK(vt_npz_write(path_in_test_folder("r"), n, names, t, NULL) == VT_OK);
    FILE *f = fopen(path_in_test_folder("r"), "rb");
    CHECK(f != NULL && fseek(f, -42, SEEK_END) == 0 && fread(end, 1, 42, f) == 42);
    if (f != NULL) fclose(f);
    CHECK(memcmp(end + 20 + 8, "\xff\xff\xff\xff", 4) == 0);
    CHECK((memcmp(end, "PK\6\7", 4) == 0) == (n > MOST));
    CHECK(vt_archive_read(path_in_test_folder("r"), NULL, &ar, NULL) == VT_OK);
    CHECK(ar != NULL && vt_archive_count(ar) == n);
    vt_archive_free(ar);
  }
}

static void test_write_read_round_trip(void) {
  enum { N = 20000 };
  static uint16_t big[N];
  uint8_t yes[2] = {0, 7};
  for (int i = 0; i < N; i++) big[i] = (uint16_t)(i & 0x7bff);
  big[N - 1] = 0xffff; /* a NaN that is not canonical */
  const char *const names[3] = {"z/\xc3\xa4", "b", "a"};
  const vt_tensor t[3] = {make_tensor(VT_DTYPE_F16, 1, (const int64_t[]){N}, big),
                          make_tensor(VT_DTYPE_BOOL, 1, (const int64_t[]){2}, yes),
                          make_tensor(VT_DTYPE_F64, 2, (const int64_t[]){0, 3}, big)};
  vt_archive *ar = NULL;
  vt_tensor back = {.data = NULL};
  const char *name = "";
  CHECK(vt_npz_write(path_in_test_folder("r"), 3, names, t, NULL) == VT_OK);
  CHECK(vt_archive_read(path_in_test_folder("r"), NULL, &ar, NULL) == VT_OK);
  if (ar == NULL) return;
  CHECK(vt_archive_tensor(ar, 0, &name, &back) == VT_OK && strcmp(name, "a") == 0);
  CHECK(vt_archive_find(ar, names[0], &back, NULL) == VT_OK && back.dim[0] == N);
  CHECK(memcmp(back.data, big, sizeof big - 2) == 0);
  CHECK(memcmp((const uint8_t *)back.data + sizeof big - 2, "\x00\x7e", 2) == 0);
  CHECK(vt_archive_find(ar, "b", &back, NULL) == VT_OK && memcmp(back.data, "\0\1", 2) == 0);
  vt_archive_free(ar);
  CHECK(vt_npz_write(path_in_test_folder("none"), 0, NULL, NULL, NULL) == VT_OK);
  CHECK(vt_archive_read(path_in_test_folder("none"), NULL, &ar, NULL) == VT_OK &&
        vt_archive_count(ar) == 0);
  vt_archive_free(ar);
}

static void test_bad_tensors_not_written(void) {
  float x[1] = {0};
  vt_tensor t[2] = {make_tensor(VT_DTYPE_F32, 0, NULL, x), make_tensor(VT_DTYPE_F32, 0, NULL, x)};
  const char *const twice[2] = {"a", "a"};
  const char *bad = "a\n";
  CHECK(vt_npz_write(path_in_test_folder("x"), 2, twice, t, NULL) == VT_NAME);
  CHECK(vt_npz_write(path_in_test_folder("x"), 1, &bad, t, NULL) == VT_NAME);
  t[0].dtype = VT_DTYPE_BF16;
  CHECK(vt_npz_write(path_in_test_folder("x"), 1, twice, t, NULL) == VT_UNSUPPORTED);
  t[0].data = NULL;
  CHECK(vt_npz_write(path_in_test_folder("x"), 1, twice, t, NULL) == VT_TENSOR);
  t[0] = make_tensor(VT_DTYPE_F32, 1, (const int64_t[]){INT64_C(1) << 40}, x);
  CHECK(vt_npz_write(path_in_test_folder("x"), 1, twice, t, NULL) == VT_LIMIT);
  CHECK(access(path_in_test_folder("x"), F_OK) != 0);
}

int main(void) {
  if (mkdtemp(test_folder) == NULL) return 77;
  part p[2] = {plain_part("a.npy"), plain_part("b.npy")};
  p[1].deflate = 1;
  const bytes b = make_npz(p, 2);
  p[0].zip64 = 1;
  const bytes wide = make_npz(p, 1);
  test_valid_files_are_read();
  test_numpy_file_is_read("tests/golden/files/stored.npz");
  test_numpy_file_is_read("tests/golden/files/deflated.npz");
  test_numpy_file_is_read("tests/golden/files/zip64.npz");
  test_numpy_file_is_read("tests/golden/files/piped.npz");
  test_one_bad_member_refused();
  test_contradicting_members_refused();
  test_bad_descriptors_refused();
  test_nested_member_refused();
  test_file_comment_length_checked();
  test_bad_zip64_end_refused();
  test_end_records_must_agree();
  test_wrong_unpacked_size_refused();
  test_longer_packed_data_refused();
  test_packed_data_of_any_length_read();
  test_sparse_file_refused();
  test_written_bytes_equal_numpy();
  test_zip64_used_at_numpy_limits();
  test_zip64_end_above_65535_members();
  check_growing_file_refused("c.npz", &b);
  test_write_read_round_trip();
  test_bad_tensors_not_written();
  check_truncations_refused(&b);
  check_truncations_refused(&wide);
  check_mutations_harmless(&b);
  check_mutations_harmless(&wide);
  check_failing_allocations(&b, 10);
  unlink(path_in_test_folder("a"));
  unlink(path_in_test_folder("r"));
  unlink(path_in_test_folder("none"));
  CHECK(rmdir(test_folder) == 0); /* fails if a temporary file was left */
  TEST_DONE();
}
