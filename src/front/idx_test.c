/* SPDX-License-Identifier: Apache-2.0
 * idx_test.c - IDX files, packed and not, right and wrong. */
#include <zlib.h>
#include "archive_test.h"

/* The dimensions are one byte each here. */
static bytes make(uint8_t code, uint8_t rank, const char *dims, const void *data, size_t n) {
  bytes b = {.n = 0};
  add_number(&b, 0, 2);
  add_number(&b, code, 1);
  add_number(&b, rank, 1);
  for (uint8_t i = 0; i < rank; i++) {
    add_number(&b, 0, 3);
    add(&b, dims + i, 1);
  }
  add(&b, data, n);
  return b;
}

static bytes gzip(const bytes *b) {
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

static void reads(const bytes *b, uint32_t dtype, uint32_t rank, const void *data, size_t n) {
  vt_archive *ar;
  vt_fault f;
  vt_diag d;
  vt_tensor t;
  const char *name;
  CHECK(parse_exactly(b->p, b->n, 0, &ar, &f, &d) == VT_OK);
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

static void test_reading(void) {
  const bytes bytes_ = make(8, 2, "\2\3", "abcdef", 6), zipped = gzip(&bytes_);
  reads(&bytes_, VT_DTYPE_U8, 2, "abcdef", 6);
  reads(&zipped, VT_DTYPE_U8, 2, "abcdef", 6);
  const bytes small = make(9, 1, "\2", "\x80\x7f", 2);
  reads(&small, VT_DTYPE_I8, 1, "\x80\x7f", 2);
  const bytes whole = make(12, 1, "\2", "\xff\xff\xff\xfe\0\0\1\2", 8);
  reads(&whole, VT_DTYPE_I32, 1, "\xfe\xff\xff\xff\2\1\0\0", 8);
  const bytes single = make(13, 1, "\2", "\x3f\x80\0\0\xff\xff\xff\xff", 8);
  reads(&single, VT_DTYPE_F32, 1, "\0\0\x80\x3f\0\0\xc0\x7f", 8); /* NaN is canonical */
  const bytes wide = make(14, 3, "\1\1\1", "\x3f\xf0\0\0\0\0\0\1", 8);
  reads(&wide, VT_DTYPE_F64, 3, "\1\0\0\0\0\0\xf0\x3f", 8);
  const bytes none = make(8, 2, "\0\5", "", 0), none_zipped = gzip(&none);
  reads(&none, VT_DTYPE_U8, 2, "", 0);
  reads(&none_zipped, VT_DTYPE_U8, 2, "", 0);
  const bytes brace = make(8, 1, "\2", "{}", 2); /* where a safetensors file has its brace */
  reads(&brace, VT_DTYPE_U8, 1, "{}", 2);
}

static void test_golden(void) {
  static const char *const paths[] = {"tests/golden/files/images.idx",
                                      "tests/golden/files/images.idx.gz"};
  for (int k = 0; k < 2; k++) {
    const bytes b = slurp(paths[k]);
    uint8_t want[24];
    for (int i = 0; i < 24; i++) want[i] = (uint8_t)i;
    reads(&b, VT_DTYPE_U8, 3, want, sizeof want);
  }
  const bytes b = slurp("tests/golden/files/numbers.idx");
  const float want[3] = {1.5f, -2.25f, 1e30f};
  reads(&b, VT_DTYPE_F32, 1, want, sizeof want);
}

static void refuses(const bytes *b, vt_status want, const char *says) {
  vt_diag d;
  const vt_status s = judge(b->p, b->n, &d);
  CHECK(s == want && strstr(d.text, says) != NULL);
  if (s != want || strstr(d.text, says) == NULL) fprintf(stderr, "  %s\n", d.text);
}

static void refuses_both(const bytes *b, vt_status want, const char *says) {
  const bytes zipped = gzip(b);
  refuses(b, want, says);
  refuses(&zipped, want, says);
}

static void test_refused(void) {
  bytes b = make(11, 1, "\2", "abcd", 4);
  refuses_both(&b, VT_UNSUPPORTED, "type 0x0b at byte 2 is not supported");
  b = make(10, 1, "\2", "abcd", 4);
  refuses_both(&b, VT_FORMAT, "does not begin with");
  b = make(8, 9, "\1\1\1\1\1\1\1\1\1", "a", 1);
  refuses_both(&b, VT_LIMIT, "rank 9, more than 8");
  b = make(8, 1, "\2", "abc", 3);
  refuses_both(&b, VT_FORMAT, "");
  b = make(8, 1, "\4", "abc", 3);
  refuses_both(&b, VT_FORMAT, "");
  b = make(8, 4, "\1\1\1\1", "a", 1);
  memset(b.p + 4, 0xff, 16);
  refuses_both(&b, VT_LIMIT, "more bytes than are accepted");
  b = make(8, 0, "", "abcdefgh", 8);
  refuses(&b, VT_FORMAT, "none of npy");
}

/* Small files that claim to unpack to gigabytes: no memory is taken for the claim. */
static void test_bomb(void) {
  bytes b = make(8, 2, "\1\1", "abc", 3);
  b.p[4] = 0x01, b.p[8] = 0, b.p[10] = 1; /* 16 Mi times 257 */
  const bytes zipped = gzip(&b);
  refuses(&zipped, VT_FORMAT, "and the file cannot hold them");
  refuses(&b, VT_FORMAT, "and the file cannot hold them");
}

static void test_gzip_damage(void) {
  const bytes b = make(8, 1, "\3", "abc", 3), zipped = gzip(&b);
  bytes m = zipped;
  m.p[m.n - 5] ^= 1; /* the checksum */
  refuses(&m, VT_FORMAT, "damaged");
  m = zipped;
  m.p[m.n - 1] ^= 1; /* the length */
  refuses(&m, VT_FORMAT, "damaged");
  m = zipped;
  add(&m, "x", 1);
  refuses(&m, VT_FORMAT, "1 bytes follow");
  m = zipped;
  add(&m, zipped.p, zipped.n); /* a second member */
  refuses(&m, VT_FORMAT, "bytes follow");
}

int main(void) {
  if (mkdtemp(test_folder) == NULL) return 77;
  const bytes b = make(13, 2, "\1\2", "\x3f\x80\0\0\x40\0\0\0", 8), zipped = gzip(&b);
  test_reading();
  test_golden();
  test_refused();
  test_bomb();
  test_gzip_damage();
  check_truncated(&b);
  check_truncated(&zipped);
  check_mutated(&b);
  check_mutated(&zipped);
  check_no_memory(&b, 3);
  check_no_memory(&zipped, 5);
  check_changing("c.idx", &b);
  check_changing("c.idx.gz", &zipped);
  CHECK(rmdir(test_folder) == 0);
  TEST_DONE();
}
