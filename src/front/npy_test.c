/* SPDX-License-Identifier: Apache-2.0
 * npy_test.c - tests npy files: valid ones as NumPy writes them, invalid ones, and written ones. */
#include "archive_test.h"
#include "vt_memory.h"

/* Builds an npy file from its parts. The header is used as given, without padding. */
static bytes make_npy(int major, const char *header, const void *data, size_t n) {
  bytes b = {.n = 0};
  append_bytes(&b, "\x93NUMPY", 6);
  append_little_endian(&b, (uint64_t)major, 2);
  append_little_endian(&b, strlen(header), major == 1 ? 2 : 4);
  append_bytes(&b, header, strlen(header));
  append_bytes(&b, data, n);
  return b;
}

static vt_tensor make_tensor(uint32_t dtype, uint32_t rank, const int64_t *dim, void *data) {
  vt_tensor t = {.dtype = dtype, .rank = rank, .data = data};
  for (uint32_t i = 0; i < rank && i < VT_MAX_RANK; i++) t.dim[i] = dim[i];
  return t;
}

/* ---- byte for byte ---- */

/* Files of numpy.save of NumPy 2.4.6: the dict, `spaces` spaces, a newline, the data. Made by
 *   f = io.BytesIO(); numpy.save(f, a); b = f.getvalue(); i = b.index(b'}') + 1
 *   print(b[10:i], b.index(b'\n') - i, b[b.index(b'\n') + 1:].hex())                           */
typedef struct known_npy {
  const char *dict;
  int spaces;
  uint32_t dtype, rank;
  int64_t dim[VT_MAX_RANK];
  size_t bytes;
  const char *data;
} known_npy;

static const known_npy files[] = {
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
     58,
     VT_DTYPE_F32,
     2,
     {2, 3},
     24,
     "\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40"},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
     62,
     VT_DTYPE_F64,
     0,
     {0},
     8,
     "\0\0\0\0\0\0\xf8\x3f"},
    {"{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }",
     60,
     VT_DTYPE_BOOL,
     1,
     {3},
     3,
     "\1\0\1"},
    {"{'descr': '<i8', 'fortran_order': False, 'shape': (0, 5), }",
     58,
     VT_DTYPE_I64,
     2,
     {0, 5},
     0,
     ""},
    {"{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }",
     60,
     VT_DTYPE_F16,
     1,
     {2},
     4,
     "\0\x3c\0\xc0"},
    {"{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }",
     60,
     VT_DTYPE_I8,
     1,
     {2},
     2,
     "\xff\x7f"},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2), }",
     58,
     VT_DTYPE_U8,
     2,
     {1, 2},
     2,
     "\xff\0"},
    {"{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }",
     60,
     VT_DTYPE_I32,
     1,
     {1},
     4,
     "\xfe\xff\xff\xff"},
    {"{'descr': '|i1', 'fortran_order': False, 'shape': (0, 10, 10, 10, 10, 10, 10, "
     "1000000000000), }",
     22,
     VT_DTYPE_I8,
     8,
     {0, 10, 10, 10, 10, 10, 10, INT64_C(1000000000000)},
     0,
     ""},
};
enum { FILES = sizeof files / sizeof files[0] };

static bytes make_known_file(const known_npy *k) {
  char header[256];
  snprintf(header, sizeof header, "%s%*s\n", k->dict, k->spaces, "");
  return make_npy(1, header, k->data, k->bytes);
}

static void test_numpy_files_read_and_rewritten(void) {
  for (size_t i = 0; i < FILES; i++) {
    const known_npy *k = &files[i];
    const bytes b = make_known_file(k);
    CHECK((b.n - k->bytes) % 64 == 0);
    vt_archive *ar;
    vt_fault f;
    vt_diag d;
    vt_tensor t;
    const char *name;
    CHECK(parse_exact_copy(b.p, b.n, 0, &ar, &f, &d) == VT_OK);
    if (ar == NULL) continue;
    CHECK(strcmp(vt_archive_format(ar), "npy") == 0 && vt_archive_count(ar) == 1);
    CHECK(vt_archive_tensor(ar, 0, &name, &t) == VT_OK && strcmp(name, "") == 0);
    CHECK(vt_archive_tensor(ar, 1, &name, &t) == VT_RANGE);
    CHECK(t.dtype == k->dtype && t.rank == k->rank && t.data != NULL);
    for (uint32_t j = 0; j < k->rank; j++) CHECK(t.dim[j] == k->dim[j]);
    CHECK(memcmp(t.data, k->data, k->bytes) == 0);
    CHECK(vt_npy_write(path_in_test_folder("a.npy"), &t, &d) == VT_OK);
    const bytes back = read_test_file(path_in_test_folder("a.npy"));
    CHECK(same_bytes(&back, &b));
    vt_archive_free(ar);
  }
}

static void test_write_then_read_from_disk(void) {
  const float x[2] = {1.5f, -2.0f};
  float y[2] = {1.5f, -2.0f};
  const vt_tensor t = make_tensor(VT_DTYPE_F32, 2, (const int64_t[]){1, 2}, y);
  vt_archive *ar = NULL;
  vt_fault f = {.left = 0};
  const vt_alloc a = vt_fault_alloc(&f);
  vt_diag d = {.code = VT_OK};
  vt_tensor got;
  CHECK(vt_npy_write(path_in_test_folder("b.npy"), &t, &d) == VT_OK);
  CHECK(vt_archive_read(path_in_test_folder("b.npy"), &a, &ar, &d) == VT_OK);
  if (ar == NULL) return;
  CHECK(vt_archive_find(ar, "", &got, &d) == VT_OK && memcmp(got.data, x, sizeof x) == 0);
  CHECK(vt_archive_find(ar, "x\n", &got, &d) == VT_NAME);
  CHECK(strcmp(d.text, "the file has no tensor 'x\\x0a'") == 0);
  vt_archive_free(ar);
  CHECK(f.live == 0);
  d = (vt_diag){.code = VT_OK};
  CHECK(vt_archive_read(path_in_test_folder("none.npy"), NULL, &ar, &d) == VT_IO);
  CHECK(vt_npy_write(path_in_test_folder("no/such/folder.npy"), &t, NULL) == VT_IO);
}

/* ---- other spellings of the same header ---- */

static void test_other_header_spellings_accepted(void) {
  static const char *const same_meaning[] = {
      "{'descr':'<f4','fortran_order':False,'shape':(2,1)}",
      "  {  \"shape\" : ( 2 ,\t1 , ) , 'fortran_order' : False ,\n 'descr' : '=f4' , } \n",
      "{'fortran_order': True, 'descr': '<f4', 'shape': (2, 1)}\n",
      "{'shape': (02, 1), 'descr': '<f4', 'fortran_order': False}",
  };
  const float x[2] = {3.0f, 4.0f};
  for (size_t i = 0; i < sizeof same_meaning / sizeof *same_meaning; i++)
    for (int major = 1; major <= 3; major++) {
      const bytes b = make_npy(major, same_meaning[i], x, sizeof x);
      vt_archive *ar;
      vt_fault f;
      vt_diag d;
      vt_tensor t;
      CHECK(parse_exact_copy(b.p, b.n, 0, &ar, &f, &d) == VT_OK);
      if (ar == NULL) continue;
      CHECK(vt_archive_find(ar, "", &t, &d) == VT_OK);
      CHECK(t.dtype == VT_DTYPE_F32 && t.rank == 2 && t.dim[0] == 2 && t.dim[1] == 1);
      CHECK(memcmp(t.data, x, sizeof x) == 0);
      vt_archive_free(ar);
    }
}

static void check_reads_as(const bytes *b, const void *want, size_t n) {
  vt_archive *ar;
  vt_fault f;
  vt_diag d;
  vt_tensor t;
  CHECK(parse_exact_copy(b->p, b->n, 0, &ar, &f, &d) == VT_OK);
  if (ar == NULL) return;
  CHECK(vt_archive_find(ar, "", &t, &d) == VT_OK && memcmp(t.data, want, n) == 0);
  vt_archive_free(ar);
}

/* numpy.save of asfortranarray(arange(6, dtype='>i4').reshape(2, 3)) has this data. */
static void test_fortran_and_big_endian_read(void) {
  static const char data[] = "\0\0\0\0\0\0\0\3\0\0\0\1\0\0\0\4\0\0\0\2\0\0\0\5";
  const int32_t want[6] = {0, 1, 2, 3, 4, 5};
  const bytes b =
      make_npy(1, "{'descr': '>i4', 'fortran_order': True, 'shape': (2, 3), }", data, 24);
  check_reads_as(&b, want, sizeof want);
  const bytes c =
      make_npy(1, "{'descr': '>f2', 'fortran_order': False, 'shape': (2,), }", "\x3c\0\xc0\1", 4);
  check_reads_as(&c, "\0\x3c\1\xc0", 4);
  const bytes e = make_npy(1, "{'descr': '>f8', 'fortran_order': True, 'shape': (), }",
                           "\x3f\xf0\0\0\0\0\0\1", 8);
  check_reads_as(&e, "\1\0\0\0\0\0\xf0\x3f", 8);
  const bytes z =
      make_npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 0, 2), }", "", 0);
  check_reads_as(&z, "", 0);
  /* Three axes: element (i, j, k) of (2, 3, 4) is at position i + 2j + 6k in the file. */
  uint8_t file[24], row_major[24];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++) {
        file[i + 2 * j + 6 * k] = (uint8_t)(100 * i + 10 * j + k);
        row_major[(i * 3 + j) * 4 + k] = (uint8_t)(100 * i + 10 * j + k);
      }
  const bytes g =
      make_npy(2, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }", file, 24);
  check_reads_as(&g, row_major, 24);
}

static void test_nan_is_canonical(void) {
  uint32_t x[4] = {0xffc00001u, 0x7f800001u, 0x80000000u, 0x7f800000u};
  const uint32_t kept[4] = {0xffc00001u, 0x7f800001u, 0x80000000u, 0x7f800000u};
  const uint32_t want[4] = {0x7fc00000u, 0x7fc00000u, 0x80000000u, 0x7f800000u};
  const bytes b = make_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }", x, 16);
  check_reads_as(&b, want, sizeof want);
  const vt_tensor t = make_tensor(VT_DTYPE_F32, 1, (const int64_t[]){4}, x);
  CHECK(vt_npy_write(path_in_test_folder("n.npy"), &t, NULL) == VT_OK);
  const bytes w = read_test_file(path_in_test_folder("n.npy"));
  CHECK(w.n == 144 && memcmp(w.p + 128, want, 16) == 0);
  CHECK(memcmp(x, kept, sizeof x) == 0);
}

/* ---- refused ---- */

static const struct {
  const char *header;
  size_t data;
  vt_status status;
} refused[] = {
    {"", 0, VT_FORMAT},
    {"{", 0, VT_FORMAT},
    {"{}", 0, VT_FORMAT},
    {"{,}", 0, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'shape': ()}", 4, VT_FORMAT},
    {"{'shape': (), 'fortran_order': False}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'more': 1}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'descr': '<f4'}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (), 'shape': ()}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False 'shape': ()}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': ()} x", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (),, }", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': false, 'shape': ()}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': 0, 'shape': ()}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1.0,)}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", 4, VT_FORMAT},
    {"{'fortran_order': False, 'shape': (1,), 'descr': '<f4}", 4, VT_FORMAT},
    {"{'de\\scr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, VT_FORMAT},
    {"{'descr': '<\\f4', 'fortran_order': False, 'shape': (1,)}", 4, VT_FORMAT},
    {"{'descr': 4, 'fortran_order': False, 'shape': (1,)}", 4, VT_FORMAT},
    {"{descr: '<f4', 'fortran_order': False, 'shape': (1,)}", 4, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 3, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 5, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (0,)}", 1, VT_FORMAT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 0)}", 0, VT_LIMIT},
    {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,)}", 4, VT_LIMIT},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (9223372036854775808,)}", 0, VT_LIMIT},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999999,)}", 0, VT_LIMIT},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 0, VT_LIMIT},
    {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}", 0, VT_LIMIT},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 1, VT_LIMIT},
    {"{'descr': '|u1', 'fortran_order': False, 'shape': (1152921504606846976,)}", 1, VT_FORMAT},
    {"{'descr': '<i2', 'fortran_order': False, 'shape': (1,)}", 2, VT_UNSUPPORTED},
    {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", 8, VT_UNSUPPORTED},
    {"{'descr': '|f4', 'fortran_order': False, 'shape': (1,)}", 4, VT_UNSUPPORTED},
    {"{'descr': 'f4', 'fortran_order': False, 'shape': (1,)}", 4, VT_UNSUPPORTED},
    {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", 4, VT_UNSUPPORTED},
    {"{'descr': '<f44', 'fortran_order': False, 'shape': (1,)}", 4, VT_UNSUPPORTED},
    {"{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", 8, VT_UNSUPPORTED},
    {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4, VT_UNSUPPORTED},
};

static void test_bad_files_refused(void) {
  static const uint8_t data[16];
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    for (int major = 1; major <= 3; major++) {
      const bytes b = make_npy(major, refused[i].header, data, refused[i].data);
      vt_diag d;
      const vt_status s = parse_only_for_status(b.p, b.n, &d);
      CHECK(s == refused[i].status);
      if (s != refused[i].status) fprintf(stderr, "  %s: %s\n", refused[i].header, d.text);
    }
}

static void check_refusal_message(const bytes *b, vt_status s, const char *text) {
  vt_diag d;
  CHECK(parse_only_for_status(b->p, b->n, &d) == s);
  CHECK(strcmp(d.text, text) == 0);
  if (strcmp(d.text, text) != 0) fprintf(stderr, "  %s\n", d.text);
}

static void test_refusal_messages(void) {
  static const char ok[] =
      "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }"; /* 57 bytes */
  bytes b = make_npy(1, ok, "\1\2", 2);
  check_refusal_message(&b, VT_FORMAT, "byte 68 is 2, and a bool is 0 or 1");
  b = make_npy(1, ok, "\1", 1);
  check_refusal_message(&b, VT_FORMAT, "the npy file ends at byte 68, 1 bytes short of its shape");
  b = make_npy(1, ok, "\1\1\1", 3);
  check_refusal_message(&b, VT_FORMAT, "the npy file goes on after its data at byte 69");
  b = make_npy(1, "{'descr' '<f4'}", "", 0);
  check_refusal_message(&b, VT_FORMAT, "expected ':' in the npy header at byte 19");
  b = make_npy(1, "{'a\x1b[2J\xff': 1}", "", 0);
  check_refusal_message(&b, VT_FORMAT,
                        "the npy header has an unknown key 'a\\x1b[2J\\xff' at byte 11");
  b = make_npy(1, "{'descr': '<U8\x07'}", "", 0);
  check_refusal_message(&b, VT_UNSUPPORTED, "the npy type '<U8\\x07' at byte 20 is not supported");
  b = make_npy(1, ok, "\1\1", 2);
  b.p[6] = 4;
  check_refusal_message(&b, VT_UNSUPPORTED, "npy version 4.0 is not supported (byte 6)");
  b.p[6] = 1, b.p[7] = 1;
  check_refusal_message(&b, VT_UNSUPPORTED, "npy version 1.1 is not supported (byte 6)");
  b = make_npy(2, ok, "\1\1", 2);
  memset(b.p + 8, 0xff, 4);
  check_refusal_message(&b, VT_FORMAT,
                        "the npy header at byte 12 declares 4294967295 bytes, but 59 are left");
  b.p[8] = 60, memset(b.p + 9, 0, 3);
  check_refusal_message(&b, VT_FORMAT,
                        "the npy header at byte 12 declares 60 bytes, but 59 are left");
  b.n = 11;
  check_refusal_message(&b, VT_FORMAT, "the npy file ends at byte 11, inside its head");
  b = make_npy(1, "{'shape': (1,1,1,1,1,1,1,1,1)}", "", 0);
  check_refusal_message(&b, VT_LIMIT, "the npy array has more than 8 dimensions (byte 37)");
  b = make_npy(1, ok, "\1\1", 2);
  b.p[0] = 0x92;
  check_refusal_message(&b, VT_FORMAT, "the file format is not npy, npz, safetensors or IDX");
}

static void test_bad_tensors_not_written(void) {
  float x[1] = {0};
  const int64_t one[8] = {1, 1, 1, 1, 1, 1, 1, 1}, below[1] = {-1}, huge[2] = {INT64_MAX, 2};
  vt_tensor t = make_tensor(VT_DTYPE_BF16, 1, one, x);
  CHECK(vt_npy_write(path_in_test_folder("x.npy"), &t, NULL) == VT_UNSUPPORTED);
  t = make_tensor(0, 1, one, x);
  CHECK(vt_npy_write(path_in_test_folder("x.npy"), &t, NULL) == VT_TENSOR);
  t = make_tensor(VT_DTYPE_F32, 9, one, x);
  CHECK(vt_npy_write(path_in_test_folder("x.npy"), &t, NULL) == VT_LIMIT);
  t = make_tensor(VT_DTYPE_F32, 1, below, x);
  CHECK(vt_npy_write(path_in_test_folder("x.npy"), &t, NULL) == VT_TENSOR);
  t = make_tensor(VT_DTYPE_F32, 2, huge, x);
  CHECK(vt_npy_write(path_in_test_folder("x.npy"), &t, NULL) == VT_LIMIT);
  t = make_tensor(VT_DTYPE_F32, 1, one, NULL);
  CHECK(vt_npy_write(path_in_test_folder("x.npy"), &t, NULL) == VT_TENSOR);
  CHECK(access(path_in_test_folder("x.npy"), F_OK) != 0);
}

/* A sparse file that is larger than the free memory must be refused. Machines with more free memory
 * than the largest file that is accepted cannot test this. */
static void test_more_than_free_memory_refused(void) {
  const uint64_t left = vt_memory_available(), more = left + (UINT64_C(1) << 30);
  char header[80];
  vt_archive *ar = NULL;
  vt_diag d = {.code = VT_OK};
  if (left == 0 || more > UINT64_C(60) << 30) return;
  snprintf(header, sizeof header, "{'descr':'|u1','fortran_order':False,'shape':(%llu,)}\n",
           (unsigned long long)more);
  const bytes b = make_npy(1, header, "", 0);
  write_test_file(path_in_test_folder("h.npy"), &b);
  CHECK(truncate(path_in_test_folder("h.npy"), (off_t)(b.n + more)) == 0);
  CHECK(vt_archive_read(path_in_test_folder("h.npy"), NULL, &ar, &d) == VT_NOMEM);
  CHECK(strstr(d.text, "are left") != NULL);
  unlink(path_in_test_folder("h.npy"));
}

int main(void) {
  if (mkdtemp(test_folder) == NULL) return 77;
  const bytes f4 = make_known_file(&files[0]), b1 = make_known_file(&files[2]);
  const bytes v2 = make_npy(2, "{'descr':'<i4','fortran_order':True,'shape':(1,)}\n", "abcd", 4);
  test_numpy_files_read_and_rewritten();
  test_write_then_read_from_disk();
  test_other_header_spellings_accepted();
  test_fortran_and_big_endian_read();
  test_nan_is_canonical();
  test_bad_files_refused();
  test_refusal_messages();
  test_bad_tensors_not_written();
  check_truncations_refused(&f4);
  check_truncations_refused(&b1);
  check_truncations_refused(&v2);
  check_mutations_harmless(&f4);
  check_mutations_harmless(&v2);
  check_failing_allocations(&f4, 2);
  check_growing_file_refused("c.npy", &f4);
  test_more_than_free_memory_refused();
  unlink(path_in_test_folder("a.npy"));
  unlink(path_in_test_folder("b.npy"));
  unlink(path_in_test_folder("n.npy"));
  CHECK(rmdir(test_folder) == 0); /* fails if a temporary file was left */
  TEST_DONE();
}
