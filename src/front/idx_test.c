/* SPDX-License-Identifier: Apache-2.0
 * idx_test.c - tests IDX files, with and without gzip, valid and invalid. */
#include <zlib.h>
#include "archive_test.h"

/* Builds an IDX file; each byte of `dims` is one dimension. */
static bytes make_idx(uint8_t code, uint8_t rank, const char *dims, const void *data, size_t n) {
  bytes b = {.n = 0};
  append_little_endian(&b, 0, 2);
  append_little_endian(&b, code, 1);
  append_little_endian(&b, rank, 1);
  for (uint8_t i = 0; i < rank; i++) {
    append_little_endian(&b, 0, 3);
    append_bytes(&b, dims + i, 1);
  }
  append_bytes(&b, data, n);
  return b;
}

static bytes gzip_bytes(const bytes *b) {
  bytes out = {.n = 0}, in = *b;
  z_stream z = {0};
  if (deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) abort();
  z.next_in = in.p;
  z.avail_in = (unsigned)in.n;
  z.next_out = out.p;
  z.avail_out = sizeof out.p;
  if (deflate(&z, Z_FINISH) != Z_STREAM_END) abort();
  out.n = sizeof out.p - z.avail_out;
  deflateEnd(&z);
  return out;
}

static void check_idx_reads_as(const bytes *b, uint32_t dtype, uint32_t rank, const void *data,
                               size_t n) {
  vt_archive *ar;
  vt_fault f;
  vt_diag d;
  vt_tensor t;
  const char *name;
  CHECK(parse_exact_copy(b->p, b->n, 0, &ar, &f, &d) == VT_OK);
  if (ar == NULL) {
    fprintf(stderr, "  %s\n", d.text);
    return;
  }
  CHECK(strcmp(vt_archive_format(ar), "idx") == 0 && vt_archive_count(ar) == 1);
  CHECK(vt_archive_tensor(ar, 0, &name, &t) == VT_OK && name[0] == 0);
  CHECK(t.dtype == dtype && t.rank == rank && memcmp(t.data, data, n) == 0);
  vt_archive_free(ar);
  CHECK(f.live == 0);
}

static void test_valid_files_are_read(void) {
  const bytes bytes_ = make_idx(8, 2, "\2\3", "abcdef", 6), zipped = gzip_bytes(&bytes_);
  check_idx_reads_as(&bytes_, VT_DTYPE_U8, 2, "abcdef", 6);
  check_idx_reads_as(&zipped, VT_DTYPE_U8, 2, "abcdef", 6);
  const bytes small = make_idx(9, 1, "\2", "\x80\x7f", 2);
  check_idx_reads_as(&small, VT_DTYPE_I8, 1, "\x80\x7f", 2);
  const bytes whole = make_idx(12, 1, "\2", "\xff\xff\xff\xfe\0\0\1\2", 8);
  check_idx_reads_as(&whole, VT_DTYPE_I32, 1, "\xfe\xff\xff\xff\2\1\0\0", 8);
  const bytes single = make_idx(13, 1, "\2", "\x3f\x80\0\0\xff\xff\xff\xff", 8);
  /* The second element is a NaN, which became canonical. */
  check_idx_reads_as(&single, VT_DTYPE_F32, 1, "\0\0\x80\x3f\0\0\xc0\x7f", 8);
  const bytes wide = make_idx(14, 3, "\1\1\1", "\x3f\xf0\0\0\0\0\0\1", 8);
  check_idx_reads_as(&wide, VT_DTYPE_F64, 3, "\1\0\0\0\0\0\xf0\x3f", 8);
  const bytes none = make_idx(8, 2, "\0\5", "", 0), none_zipped = gzip_bytes(&none);
  check_idx_reads_as(&none, VT_DTYPE_U8, 2, "", 0);
  check_idx_reads_as(&none_zipped, VT_DTYPE_U8, 2, "", 0);
  const bytes brace = make_idx(8, 1, "\2", "{}", 2); /* byte 8 is '{', as in a safetensors file */
  check_idx_reads_as(&brace, VT_DTYPE_U8, 1, "{}", 2);
}

static void test_golden_files_are_read(void) {
  static const char *const paths[] = {"tests/golden/files/images.idx",
                                      "tests/golden/files/images.idx.gz"};
  for (int k = 0; k < 2; k++) {
    const bytes b = read_test_file(paths[k]);
    uint8_t want[24];
    for (int i = 0; i < 24; i++) want[i] = (uint8_t)i;
    check_idx_reads_as(&b, VT_DTYPE_U8, 3, want, sizeof want);
  }
  const bytes b = read_test_file("tests/golden/files/numbers.idx");
  const float want[3] = {1.5f, -2.25f, 1e30f};
  check_idx_reads_as(&b, VT_DTYPE_F32, 1, want, sizeof want);
}

static void check_refused(const bytes *b, vt_status want, const char *says) {
  vt_diag d;
  const vt_status s = parse_only_for_status(b->p, b->n, &d);
  CHECK(s == want && strstr(d.text, says) != NULL);
  if (s != want || strstr(d.text, says) == NULL) fprintf(stderr, "  %s\n", d.text);
}

static void check_refused_plain_and_gzip(const bytes *b, vt_status want, const char *says) {
  const bytes zipped = gzip_bytes(b);
  check_refused(b, want, says);
  check_refused(&zipped, want, says);
}

static void test_bad_files_refused(void) {
  bytes b = make_idx(11, 1, "\2", "abcd", 4);
  check_refused_plain_and_gzip(&b, VT_UNSUPPORTED, "type 0x0b at byte 2 is not supported");
  b = make_idx(10, 1, "\2", "abcd", 4);
  check_refused_plain_and_gzip(&b, VT_FORMAT, "does not begin with");
  b = make_idx(8, 9, "\1\1\1\1\1\1\1\1\1", "a", 1);
  check_refused_plain_and_gzip(&b, VT_LIMIT, "rank 9, more than 8");
  b = make_idx(8, 1, "\2", "abc", 3);
  check_refused_plain_and_gzip(&b, VT_FORMAT, "");
  b = make_idx(8, 1, "\4", "abc", 3);
  check_refused_plain_and_gzip(&b, VT_FORMAT, "");
  b = make_idx(8, 4, "\1\1\1\1", "a", 1);
  memset(b.p + 4, 0xff, 16);
  check_refused_plain_and_gzip(&b, VT_LIMIT, "more bytes than are accepted");
  b = make_idx(8, 0, "", "abcdefgh", 8);
  check_refused(&b, VT_FORMAT, "not npy");
}

/* Small files that declare gigabytes are refused before memory is allocated. */
static void test_declared_gigabytes_refused(void) {
  bytes b = make_idx(8, 2, "\1\1", "abc", 3);
  b.p[4] = 0x01, b.p[8] = 0, b.p[10] = 1; /* 16 Mi times 257 */
  const bytes zipped = gzip_bytes(&b);
  check_refused(&zipped, VT_FORMAT, "and the file cannot hold them");
  check_refused(&b, VT_FORMAT, "and the file cannot hold them");
}

static void test_damaged_gzip_refused(void) {
  const bytes b = make_idx(8, 1, "\3", "abc", 3), zipped = gzip_bytes(&b);
  bytes m = zipped;
  m.p[m.n - 5] ^= 1; /* the checksum */
  check_refused(&m, VT_FORMAT, "damaged");
  m = zipped;
  m.p[m.n - 1] ^= 1; /* the length */
  check_refused(&m, VT_FORMAT, "damaged");
  m = zipped;
  append_bytes(&m, "x", 1);
  check_refused(&m, VT_FORMAT, "1 bytes follow");
  m = zipped;
  append_bytes(&m, zipped.p, zipped.n); /* a second member */
  check_refused(&m, VT_FORMAT, "bytes follow");
}

int main(void) {
  if (mkdtemp(test_folder) == NULL) return 77;
  const bytes b = make_idx(13, 2, "\1\2", "\x3f\x80\0\0\x40\0\0\0", 8), zipped = gzip_bytes(&b);
  test_valid_files_are_read();
  test_golden_files_are_read();
  test_bad_files_refused();
  test_declared_gigabytes_refused();
  test_damaged_gzip_refused();
  check_truncations_refused(&b);
  check_truncations_refused(&zipped);
  check_mutations_harmless(&b);
  check_mutations_harmless(&zipped);
  check_failing_allocations(&b, 3);
  check_failing_allocations(&zipped, 5);
  check_growing_file_refused("c.idx", &b);
  check_growing_file_refused("c.idx.gz", &zipped);
  CHECK(rmdir(test_folder) == 0);
  TEST_DONE();
}
