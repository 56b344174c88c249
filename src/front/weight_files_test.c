/* SPDX-License-Identifier: Apache-2.0
 * weight_files_test.c - tests lists of weights: what they hold, reading in parts, files that are
 * damaged, change or are huge, and every allocation that fails. */
#include "weight_list.h"
#include "weight_test.h"
#include <pthread.h>
#include <sys/resource.h>

/* ---- what a list holds ---- */

/* Tensors of every kind, written to a safetensors and an npz file. */
static float f32[3] = {1.5f, -0.0f, 3e-45f};
static double f64[2] = {0.1, -2};
static uint16_t f16[5] = {0x3c00, 0xffff, 0x7e00, 0x7c01, 0x8000};
static uint8_t truth[4] = {0, 1, 1, 0};
static int64_t none[1] = {0};
static const char *const all_names[] = {"w", "h.0.b", "half", "mask", "empty"};
static const vt_tensor all_tensors[] = {
    {.dtype = VT_DTYPE_F32, .rank = 2, .dim = {3, 1}, .data = f32},
    {.dtype = VT_DTYPE_F64, .rank = 1, .dim = {2}, .data = f64},
    {.dtype = VT_DTYPE_F16, .rank = 1, .dim = {5}, .data = f16},
    {.dtype = VT_DTYPE_BOOL, .rank = 2, .dim = {2, 2}, .data = truth},
    {.dtype = VT_DTYPE_I64, .rank = 2, .dim = {0, 7}, .data = none},
};
enum { ALL = sizeof all_names / sizeof *all_names };

static void check_all(const vt_weight_list *l, int in_files) {
  static const char *const sorted[] = {"empty", "h.0.b", "half", "mask", "w"};
  static const uint16_t canonical[5] = {0x3c00, 0x7e00, 0x7e00, 0x7e00, 0x8000};
  uint8_t to[64];
  vt_diag d;
  CHECK(l->n_entries == ALL);
  for (uint32_t i = 0; i < ALL && i < l->n_entries; i++) {
    const vt_weight_entry *e = &l->entries[i];
    CHECK(strcmp(e->name, sorted[i]) == 0 && strcmp(e->name_read, sorted[i]) == 0);
    CHECK(vt_weight_list_find(l, sorted[i]) == e && (e->tensor.data == NULL) == in_files);
  }
  CHECK(vt_weight_list_find(l, "") == NULL && vt_weight_list_find(l, "h") == NULL);
  CHECK(vt_weight_list_find(l, "x") == NULL && vt_weight_list_find(l, "a") == NULL);
  const vt_weight_entry *w = vt_weight_list_find(l, "w");
  CHECK(w->tensor.rank == 2 && w->tensor.dim[0] == 3 && w->tensor.dim[1] == 1);
  CHECK(w->count == 3 && w->bytes == 12 && w->tensor.dtype == VT_DTYPE_F32);
  for (uint64_t step = 8; step <= 64; step *= 2) {
    CHECK(read_tensor(l, "w", 4, to, &d) == VT_OK && memcmp(to, f32, sizeof f32) == 0);
    CHECK(read_tensor(l, "h.0.b", step, to, &d) == VT_OK && memcmp(to, f64, sizeof f64) == 0);
    CHECK(read_tensor(l, "half", step, to, &d) == VT_OK && memcmp(to, canonical, 10) == 0);
    CHECK(read_tensor(l, "mask", step, to, &d) == VT_OK && memcmp(to, truth, 4) == 0);
    CHECK(read_tensor(l, "empty", step, to, &d) == VT_OK);
  }
}

static void test_formats(void) {
  const char *paths[2] = {file_path("all.safetensors"), file_path("all.npz")};
  vt_diag d;
  CHECK(vt_safetensors_write(paths[0], ALL, all_names, all_tensors, NULL) == VT_OK);
  CHECK(vt_npz_write(paths[1], ALL, all_names, all_tensors, NULL) == VT_OK);
  for (int i = 0; i < 2; i++) {
    vt_fault f = {.left = 0};
    vt_weight_list l;
    CHECK(open_list(1, &paths[i], NULL, &f, &l, &d) == VT_OK);
    CHECK(l.n_files == 1 && strcmp(l.files[0].path, paths[i]) == 0);
    check_all(&l, 1);
    vt_weight_list_done(&l);
    CHECK(f.live == 0);
  }
  check_list_refused(2, paths, NULL, VT_NAME, "two tensors have the name 'empty': 'empty' of ");
}

/* The file has arrays that are big-endian or column-major, which are read into memory, and one that
 * is neither. It is stored in one case and deflated in the other. */
static void test_files_of_numpy(void) {
  static const char *const paths[] = {"tests/golden/files/stored.npz",
                                      "tests/golden/files/deflated.npz"};
  static const int32_t big[6] = {0, 1, 2, 3, 4, 5};
  static const double fortran[6] = {0, 1, 2, 3, 4, 5};
  uint8_t to[64];
  for (int i = 0; i < 2; i++) {
    vt_fault f = {.left = 0};
    vt_weight_list l;
    vt_diag d;
    CHECK(open_list(1, &paths[i], NULL, &f, &l, &d) == VT_OK && l.n_entries == 7);
    CHECK(vt_weight_list_find(&l, "big")->tensor.data != NULL);
    CHECK(vt_weight_list_find(&l, "fortran")->tensor.data != NULL);
    CHECK(vt_weight_list_find(&l, "f32")->tensor.data == NULL);
    CHECK(read_tensor(&l, "big", 8, to, &d) == VT_OK && memcmp(to, big, sizeof big) == 0);
    CHECK(read_tensor(&l, "fortran", 16, to, &d) == VT_OK);
    CHECK(memcmp(to, fortran, sizeof fortran) == 0);
    CHECK(read_tensor(&l, "f32", 8, to, &d) == VT_OK && memcmp(to, "\0\0\xc0\x3f", 4) == 0);
    CHECK(read_tensor(&l, "scalar", 8, to, &d) == VT_OK && to[0] == 7);
    CHECK(read_tensor(&l, "none", 8, to, &d) == VT_OK);
    vt_weight_list_done(&l);
    CHECK(f.live == 0);
  }
}

static void test_copies(void) {
  vt_fault f = {.left = 0};
  vt_weight_list l;
  vt_diag d = {.code = VT_OK};
  const vt_alloc a = vt_fault_alloc(&f);
  const char *const twice[2] = {"a", "a"}, *const bad[2] = {"a", "\n"};
  CHECK(vt_weight_list_copy(ALL, all_names, all_tensors, NULL, a, &l, &d) == VT_OK);
  check_all(&l, 0);
  CHECK(l.n_files == 0);
  vt_weight_list_done(&l);
  CHECK(vt_weight_list_copy(0, NULL, NULL, NULL, a, &l, &d) == VT_OK && l.n_entries == 0);
  vt_weight_list_done(&l);
  CHECK(vt_weight_list_copy(2, twice, all_tensors, NULL, a, &l, &d) == VT_NAME);
  CHECK(strcmp(d.text,
               "two tensors have the name 'a': 'a' of the tensors given and 'a' of the "
               "tensors given") == 0);
  CHECK(vt_weight_list_copy(2, bad, all_tensors, NULL, a, &l, NULL) == VT_NAME);
  vt_tensor t = all_tensors[3];
  truth[2] = 2;
  CHECK(vt_weight_list_copy(1, twice, &t, NULL, a, &l, NULL) == VT_FORMAT);
  truth[2] = 1;
  t.data = NULL;
  CHECK(vt_weight_list_copy(1, twice, &t, NULL, a, &l, NULL) == VT_TENSOR);
  t.rank = 9;
  CHECK(vt_weight_list_copy(1, twice, &t, NULL, a, &l, NULL) == VT_LIMIT);
  CHECK(f.live == 0);
}

static void test_several_files(void) {
  const char *const a[2] = {"x", "y"}, *const b[1] = {"z"};
  const char *paths[2] = {file_path("a.safetensors"), file_path("b.npz")};
  float data[2] = {7, -7};
  const vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {2}, .data = data};
  vt_fault f = {.left = 0};
  vt_weight_list l;
  vt_diag d;
  write_vectors("a.safetensors", 2, a, 1);
  CHECK(vt_npz_write(paths[1], 1, b, &t, NULL) == VT_OK);
  CHECK(open_list(2, paths, NULL, &f, &l, &d) == VT_OK && l.n_entries == 3 && l.n_files == 2);
  check_vector(&l, "x", 1, -1);
  check_vector(&l, "y", 2, -1);
  check_vector(&l, "z", 7, -7);
  CHECK(vt_weight_list_find(&l, "z")->file == 1);
  vt_weight_list_done(&l);
  check_list_refused(0, NULL, "x = y\n", VT_NAME, "no tensor matches 'x'");
  const char *again[2] = {paths[0], paths[0]};
  char want[600];
  snprintf(want, sizeof want, "two tensors have the name 'x': 'x' of %s and 'x' of %s", paths[0],
           paths[0]);
  check_list_refused(2, again, NULL, VT_NAME, want);
}

/* ---- refused files ---- */

static void test_bad_files(void) {
  const char *path = file_path("bad");
  write_text("bad", "");
  check_list_refused(1, &path, NULL, VT_FORMAT, "bad: weights are read from safetensors, npz, or");
  write_text("bad", "\x93NUMPY\1");
  check_list_refused(1, &path, NULL, VT_FORMAT, "is none of them");
  write_text("bad", "1,2\n3,4\n");
  check_list_refused(1, &path, NULL, VT_FORMAT, "is none of them");
  write_text("bad", "PK\3\4 and nothing else");
  check_list_refused(1, &path, NULL, VT_FORMAT, "bad: the zip file has no end record");
  FILE *f = fopen(path, "wb");
  static const char header[] = "\x04\0\0\0\0\0\0\0{\"\":";
  if (f != NULL) CHECK(fwrite(header, 1, 12, f) == 12 && fclose(f) == 0);
  check_list_refused(1, &path, NULL, VT_FORMAT, "bad: '' cannot be a tensor's name");
  const char *folder = test_folder, *missing = file_path("missing");
  check_list_refused(1, &folder, NULL, VT_IO, "is not a regular file");
  check_list_refused(1, &missing, NULL, VT_IO, "missing: No such file or directory");
}

/* A message shows the start of a long name and the end of a long path, and does not cut the path
 * inside a character. */
static void test_quotes(void) {
  char path[400], q[VT_WEIGHT_QUOTE];
  CHECK(strcmp(vt_weight_quote_path("a/b", q), "a/b") == 0);
  CHECK(strcmp(vt_weight_quote("a\x1b", q), "a\\x1b") == 0);
  for (size_t extra = 0; extra < 4; extra++) {
    size_t n = 0;
    for (int i = 0; i < 100; i++) n += (size_t)snprintf(path + n, sizeof path - n, "\xc3\xa4");
    snprintf(path + n, sizeof path - n, "%.*s/w", (int)extra, "xyz");
    vt_weight_quote_path(path, q);
    const size_t length = strlen(q);
    CHECK(memcmp(q, "...\xc3\xa4", 5) == 0 && length > 110 && length <= 123);
    CHECK(strcmp(q + length - extra - 2, path + n) == 0 && strchr(q, '\\') == NULL);
    vt_weight_quote(path + 200 - 3 * 20, q);
    CHECK(memcmp(q, path + 140, 60) == 0);
  }
  memset(path, 'n', 200);
  path[200] = '\0';
  CHECK(strlen(vt_weight_quote(path, q)) == 67 && strcmp(q + 64, "...") == 0);
  memset(path, 1, 200); /* the escaped name is cut too, once */
  CHECK(strlen(vt_weight_quote(path, q)) < VT_WEIGHT_QUOTE && strstr(q, "......") == NULL);
}

/* Damage to a member of an npz file is noticed when it is read to its end. */
static void test_damage_is_noticed(void) {
  const char *path = file_path("damaged.npz");
  static const char *const name = "w";
  static uint8_t data[3000];
  const vt_tensor t = {.dtype = VT_DTYPE_U8, .rank = 1, .dim = {3000}, .data = data};
  static uint8_t to[3000];
  vt_weight_list l;
  vt_diag d = {.code = VT_OK};
  for (int i = 0; i < 3000; i++) data[i] = (uint8_t)(i * 7);
  CHECK(vt_npz_write(path, 1, &name, &t, NULL) == VT_OK);
  bytes b = read_test_file(path);
  const char *const one = path;
  /* a changed element, and a changed byte of the header that still has the same meaning */
  for (int header = 0; header < 2; header++) {
    bytes m = b;
    const size_t at = header ? 30 + 5 + 20 + 10 + 60 : 30 + 5 + 20 + 128 + 1000;
    CHECK(!header || m.p[at] == ' ');
    m.p[at] = header ? '\t' : m.p[at] ^ 1;
    write_test_file(path, &m);
    CHECK(vt_weight_list_open(1, &one, NULL, vt_alloc_default(), &l, &d) == VT_OK);
    CHECK(read_tensor(&l, "w", 512, to, &d) == VT_FORMAT);
    CHECK(strstr(d.text, "damaged.npz: tensor 'w': its CRC is ") != NULL);
    if (d.code != VT_FORMAT) fprintf(stderr, "  %s\n", d.text);
    vt_weight_list_done(&l);
  }
}

/* An array that is read into memory when the file is opened is checked then. */
static void test_damage_in_memory(void) {
  const char *path = file_path("damaged.npz");
  bytes b = read_test_file("tests/golden/files/stored.npz");
  size_t at = 0;
  while (at + 3 < b.n && memcmp(b.p + at, ">i4", 3) != 0) at++;
  while (at < b.n && b.p[at] != '\n') at++;
  CHECK(at + 4 < b.n && memcmp(b.p + at + 1, "\0\0\0\0\0\0\0\1", 8) == 0);
  b.p[at + 1] ^= 1;
  write_test_file(path, &b);
  check_list_refused(1, &path, NULL, VT_FORMAT, "damaged.npz: in 'big.npy': its CRC is ");
}

/* Every NaN becomes canonical when it is read, whatever the file has. */
static void test_canonical_nan(void) {
  static const char *const name = "half";
  static const uint16_t want[5] = {0x3c00, 0x7e00, 0x7e00, 0x7e00, 0x8000};
  const char *path = file_path("nan.safetensors");
  uint16_t to[5];
  vt_weight_list l;
  vt_diag d = {.code = VT_OK};
  CHECK(vt_safetensors_write(path, 1, &name, &all_tensors[2], NULL) == VT_OK);
  bytes b = read_test_file(path);
  memcpy(b.p + b.n - sizeof f16, f16, sizeof f16); /* the writer had made them canonical */
  write_test_file(path, &b);
  CHECK(vt_weight_list_open(1, &path, NULL, vt_alloc_default(), &l, NULL) == VT_OK);
  CHECK(read_tensor(&l, name, 4, to, &d) == VT_OK && memcmp(to, want, sizeof want) == 0);
  vt_weight_list_done(&l);
  CHECK(unlink(path) == 0);
}

/* A bool that is neither 0 nor 1 is noticed when it is read, with its position in the file. */
static void test_bad_bool(void) {
  static const char *const name = "m";
  const vt_tensor t = {.dtype = VT_DTYPE_BOOL, .rank = 1, .dim = {4}, .data = truth};
  const char *path = file_path("bool.safetensors");
  uint8_t to[4];
  vt_weight_list l;
  vt_diag d = {.code = VT_OK};
  CHECK(vt_safetensors_write(path, 1, &name, &t, NULL) == VT_OK);
  bytes b = read_test_file(path);
  b.p[b.n - 2] = 2;
  write_test_file(path, &b);
  char want[64];
  snprintf(want, sizeof want, "tensor 'm': byte %zu is 2, and a bool is 0 or 1", b.n - 2);
  CHECK(vt_weight_list_open(1, &path, NULL, vt_alloc_default(), &l, &d) == VT_OK);
  CHECK(read_tensor(&l, "m", 2, to, &d) == VT_FORMAT && strstr(d.text, want) != NULL);
  vt_weight_list_done(&l);
}

/* ---- files that change ---- */

static void append_byte(const char *path) {
  FILE *f = fopen(path, "ab");
  if (f != NULL) CHECK(fputc(0, f) == 0 && fclose(f) == 0);
}

/* A file that changes after it was opened is noticed by the reader that comes after, at its end. */
static void test_changed_file(void) {
  static const char *const names[2] = {"a", "b"};
  const char *path = file_path("changes.safetensors");
  vt_weight_list l;
  vt_diag d = {.code = VT_OK};
  float v[2];
  write_vectors("changes.safetensors", 2, names, 5);
  CHECK(vt_weight_list_open(1, &path, NULL, vt_alloc_default(), &l, &d) == VT_OK);
  check_vector(&l, "a", 5, -5);
  append_byte(path);
  CHECK(read_tensor(&l, "a", 8, v, &d) == VT_IO);
  CHECK(strstr(d.text, "changes.safetensors changed while it was read") != NULL);
  CHECK(truncate(path, 20) == 0);
  CHECK(read_tensor(&l, "b", 8, v, &d) == VT_IO);
  vt_weight_list_done(&l);
}

/* A file that another one replaces under its name stays readable. */
static void test_replaced_file(void) {
  static const char *const names[1] = {"a"};
  const char *path = file_path("replaced.safetensors");
  vt_weight_list l;
  vt_diag d = {.code = VT_OK};
  write_vectors("replaced.safetensors", 1, names, 5);
  CHECK(vt_weight_list_open(1, &path, NULL, vt_alloc_default(), &l, &d) == VT_OK);
  write_vectors("replaced.safetensors", 1, names, 6);
  check_vector(&l, "a", 5, -5);
  vt_weight_list_done(&l);
}

/* A file that grows at any allocation while it is opened is refused, or when it is read if it grew
 * after the last check. */
static void test_growing_file(const char *name, const char *tensor) {
  const char *path = file_path(name);
  const bytes b = read_test_file(path);
  long k = 1, refused = 0;
  for (;; k++) {
    file_changer m = {path, k};
    const vt_alloc a = {.user = &m, .resize = resize_and_grow_file};
    vt_weight_list l;
    vt_diag d = {.code = VT_OK};
    write_test_file(path, &b);
    vt_status s = vt_weight_list_open(1, &path, NULL, a, &l, &d);
    refused += s != VT_OK;
    if (s == VT_OK) {
      const long left = m.left;
      uint8_t to[64];
      m.left = 0;
      s = read_tensor(&l, tensor, 8, to, &d);
      m.left = left;
      vt_weight_list_done(&l);
    }
    if (m.left > 0) {
      CHECK(s == VT_OK);
      break;
    }
    /* The memory for the path is allocated before the file is opened, so growth is damage then. */
    CHECK(k == 1 ? s == VT_FORMAT
                 : s == VT_IO && strstr(d.text, "changed while it was read") != NULL);
  }
  CHECK(k > 4 && refused > 3);
  write_test_file(path, &b);
}

/* ---- sizes ---- */

/* A tensor of 32 GiB in a sparse file costs neither memory nor time until it is read; its first
 * elements can be read. */
static void test_sparse_file(void) {
  static const char header[] =
      "{\"big\":{\"dtype\":\"F32\",\"shape\":[8,1073741824],\"data_offsets\":[0,34359738368]}}   ";
  const char *path = file_path("sparse.safetensors");
  bytes b = {.n = 0};
  append_little_endian(&b, sizeof header - 1, 8);
  append_bytes(&b, header, sizeof header - 1);
  write_test_file(path, &b);
  if (truncate(path, (off_t)(b.n + (UINT64_C(32) << 30))) != 0) return; /* no space for its map */
  struct rusage before, after;
  vt_weight_list l;
  vt_weight_reader r;
  vt_diag d = {.code = VT_OK};
  float v[4] = {1, 1, 1, 1};
  CHECK(getrusage(RUSAGE_SELF, &before) == 0);
  CHECK(vt_weight_list_open(1, &path, NULL, vt_alloc_default(), &l, &d) == VT_OK);
  const vt_weight_entry *e = vt_weight_list_find(&l, "big");
  CHECK(e != NULL && e->bytes == UINT64_C(32) << 30);
  CHECK(vt_weight_reader_open(&l, e, &r, &d) == VT_OK);
  CHECK(vt_weight_reader_next(&r, v, sizeof v, &d) == VT_OK && v[0] == 0 && v[3] == 0);
  CHECK(vt_weight_reader_check_end(&r, NULL) == VT_INTERNAL); /* it was not read to its end */
  vt_weight_reader_close(&r);
  vt_weight_list_done(&l);
  CHECK(getrusage(RUSAGE_SELF, &after) == 0);
  CHECK(after.ru_maxrss - before.ru_maxrss < 1024); /* KiB */
  CHECK(unlink(path) == 0);
}

/* Reading behind the end, or a part of an element, is refused. */
static void test_reader_bounds(void) {
  const char *path = file_path("all.safetensors");
  vt_weight_list l;
  vt_weight_reader r;
  double v[3];
  CHECK(vt_weight_list_open(1, &path, NULL, vt_alloc_default(), &l, NULL) == VT_OK);
  CHECK(vt_weight_reader_open(&l, vt_weight_list_find(&l, "h.0.b"), &r, NULL) == VT_OK);
  CHECK(vt_weight_reader_next(&r, v, 4, NULL) == VT_INTERNAL);
  CHECK(vt_weight_reader_next(&r, v, 24, NULL) == VT_INTERNAL);
  CHECK(vt_weight_reader_next(&r, v, 8, NULL) == VT_OK);
  CHECK(vt_weight_reader_next(&r, v, 16, NULL) == VT_INTERNAL);
  CHECK(vt_weight_reader_next(&r, v, 0, NULL) == VT_OK);
  CHECK(vt_weight_reader_next(&r, v, 8, NULL) == VT_OK);
  CHECK(vt_weight_reader_check_end(&r, NULL) == VT_OK);
  vt_weight_reader_close(&r);
  vt_weight_list_done(&l);
}

/* ---- allocations that fail ---- */

/* Lets each allocation of opening and reading fail in turn. */
static void test_failing_allocations(const char *path, const char *name, long least) {
  vt_diag d;
  uint8_t to[64];
  long k = 1;
  for (;; k++) {
    vt_fault f = {.left = k};
    vt_weight_list l;
    vt_status s = open_list(1, &path, "w = v\nmask =\n", &f, &l, &d);
    if (s == VT_NOMEM) continue;
    CHECK(s == VT_OK);
    if (s != VT_OK) break;
    s = read_tensor(&l, name, 64, to, &d);
    vt_weight_list_done(&l);
    CHECK(f.live == 0);
    if (s != VT_NOMEM) break;
  }
  CHECK(d.code == VT_OK);
  CHECK(k > least);
}

static void test_all_failing_allocations(void) {
  test_failing_allocations(file_path("all.safetensors"), "half", 6);
  test_failing_allocations(file_path("all.npz"), "half", 12);
  for (long k = 1;; k++) {
    vt_fault f = {.left = k};
    vt_weight_list l;
    vt_diag d = {.code = VT_OK};
    const vt_status s =
        vt_weight_list_copy(ALL, all_names, all_tensors, "mask =", vt_fault_alloc(&f), &l, &d);
    if (s == VT_OK) {
      CHECK(k > 5 && l.n_entries == ALL - 1);
      vt_weight_list_done(&l);
      CHECK(f.live == 0);
      break;
    }
    CHECK(s == VT_NOMEM && d.code == VT_NOMEM && f.live == 0);
    if (s != VT_NOMEM) break;
  }
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 50 };
static vt_weight_list shared;

static void *read_all_tensors(void *context) {
  uint32_t *wrong = context;
  uint8_t to[64];
  vt_diag d;
  for (int i = 0; i < ROUNDS; i++) {
    *wrong += read_tensor(&shared, "w", 4, to, &d) != VT_OK || memcmp(to, f32, 12) != 0;
    *wrong += read_tensor(&shared, "h.0.b", 8, to, &d) != VT_OK || memcmp(to, f64, 16) != 0;
  }
  return NULL;
}

static void test_threads(const char *path) {
  pthread_t thread[THREADS];
  uint32_t wrong[THREADS] = {0};
  CHECK(vt_weight_list_open(1, &path, NULL, vt_alloc_default(), &shared, NULL) == VT_OK);
  for (int i = 0; i < THREADS; i++)
    CHECK(pthread_create(&thread[i], NULL, read_all_tensors, &wrong[i]) == 0);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(thread[i], NULL) == 0 && wrong[i] == 0);
  vt_weight_list_done(&shared);
}

int main(void) {
  if (mkdtemp(test_folder) == NULL) return 77;
  test_sparse_file(); /* runs first, while the process has little resident memory */
  test_formats();
  test_files_of_numpy();
  test_copies();
  test_several_files();
  test_bad_files();
  test_quotes();
  test_damage_is_noticed();
  test_damage_in_memory();
  test_canonical_nan();
  test_bad_bool();
  test_changed_file();
  test_replaced_file();
  test_growing_file("a.safetensors", "x");
  test_growing_file("all.npz", "half");
  test_reader_bounds();
  test_all_failing_allocations();
  test_threads(file_path("all.safetensors"));
  test_threads(file_path("all.npz"));
  static const char *const files[] = {"all.safetensors",
                                      "all.npz",
                                      "a.safetensors",
                                      "b.npz",
                                      "bad",
                                      "damaged.npz",
                                      "bool.safetensors",
                                      "changes.safetensors",
                                      "replaced.safetensors"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) CHECK(unlink(file_path(files[i])) == 0);
  CHECK(rmdir(test_folder) == 0);
  TEST_DONE();
}
