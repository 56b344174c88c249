/* SPDX-License-Identifier: Apache-2.0
 * safetensors_test.c - tests safetensors files: valid, hostile and written ones. */
#include <sys/resource.h>
#include "archive_test.h"

static bytes make_safetensors(const char *header, const void *data, size_t n) {
  bytes b = {.n = 0};
  append_little_endian(&b, strlen(header), 8);
  append_bytes(&b, header, strlen(header));
  append_bytes(&b, data, n);
  return b;
}

static vt_tensor make_tensor(uint32_t dtype, uint32_t rank, const int64_t *dim, void *data) {
  vt_tensor t = {.dtype = dtype, .rank = rank, .data = data};
  for (uint32_t i = 0; i < rank && i < VT_MAX_RANK; i++) t.dim[i] = dim[i];
  return t;
}

/* ---- reading ---- */

/* The header of a valid file: it lists the tensors in another order than their data, and has an
 * empty tensor, odd offsets, metadata and an escaped name. */
static const char mixed[] =
    "{\"__metadata__\":{\"by\":\"hand\"},"
    "\"b.w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[3,11]},"
    "\"e\":{\"shape\":[4,0],\"data_offsets\":[3,3],\"dtype\":\"I64\"},"
    "\"\\u00e4 \\\"q\\\"\":{\"dtype\":\"BOOL\",\"shape\":[3,1],\"data_offsets\":[0,3]},"
    "\"s\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[11,13]}}  ";

static const uint8_t mixed_data[13] = {1, 0, 1, 0, 0, 0x80, 0x3f, 1, 0, 0xc0, 0xff, 0x80, 0x3f};

static void test_valid_file_is_read(void) {
  static const char *const names[4] = {"\xc3\xa4 \"q\"", "e", "b.w", "s"};
  const uint32_t types[4] = {VT_DTYPE_BOOL, VT_DTYPE_I64, VT_DTYPE_F32, VT_DTYPE_BF16};
  const bytes b = make_safetensors(mixed, mixed_data, sizeof mixed_data);
  vt_archive *ar;
  vt_fault f;
  vt_diag d;
  vt_tensor t[4];
  CHECK(parse_exact_copy(b.p, b.n, 0, &ar, &f, &d) == VT_OK);
  if (ar == NULL) return;
  CHECK(strcmp(vt_archive_format(ar), "safetensors") == 0 && vt_archive_count(ar) == 4);
  for (uint32_t i = 0; i < 4; i++) {
    const char *name = "";
    CHECK(vt_archive_tensor(ar, i, &name, &t[i]) == VT_OK && strcmp(name, names[i]) == 0);
    CHECK(t[i].dtype == types[i] && t[i].data != NULL);
  }
  CHECK(t[0].rank == 2 && t[0].dim[0] == 3 && t[0].dim[1] == 1);
  CHECK(t[1].rank == 2 && t[1].dim[0] == 4 && t[1].dim[1] == 0);
  CHECK(t[2].rank == 1 && t[2].dim[0] == 2 && t[3].rank == 0);
  CHECK(memcmp(t[0].data, "\1\0\1", 3) == 0);
  CHECK(memcmp(t[2].data, "\0\0\x80\x3f\0\0\xc0\x7f", 8) == 0); /* the NaN became canonical */
  CHECK(memcmp(t[3].data, "\x80\x3f", 2) == 0);
  CHECK(vt_archive_find(ar, "b.w", &t[0], &d) == VT_OK && t[0].data == t[2].data);
  CHECK(vt_archive_find(ar, "b", &t[0], &d) == VT_NAME);
  vt_archive_free(ar);
  CHECK(f.live == 0);
}

static void test_every_type_is_read(void) {
  static const char *const names[] = {"F32", "F64",  "I8",  "U8",  "I32",
                                      "I64", "BOOL", "F16", "BF16"};
  static const uint8_t data[8];
  for (uint32_t i = 0; i < 9; i++) {
    char header[128];
    const unsigned size = (unsigned)vt_dtype_bytes(i + 1);
    snprintf(header, sizeof header,
             "{\"x\":{\"dtype\":\"%s\",\"shape\":[1],\"data_offsets\":[0,%u]}}", names[i], size);
    const bytes b = make_safetensors(header, data, size);
    vt_archive *ar;
    vt_fault f;
    vt_diag d;
    vt_tensor t;
    CHECK(parse_exact_copy(b.p, b.n, 0, &ar, &f, &d) == VT_OK);
    if (ar == NULL) continue;
    CHECK(vt_archive_find(ar, "x", &t, &d) == VT_OK && t.dtype == i + 1);
    vt_archive_free(ar);
  }
}

static void test_empty_file_is_read(void) {
  vt_archive *ar;
  vt_fault f;
  vt_diag d;
  const bytes b = make_safetensors("{}", "", 0);
  CHECK(parse_exact_copy(b.p, b.n, 0, &ar, &f, &d) == VT_OK);
  CHECK(ar != NULL && vt_archive_count(ar) == 0);
  vt_archive_free(ar);
}

/* ---- refused ---- */

static const struct {
  const char *header;
  size_t data;
  vt_status status;
} refused[] = {
    {"{", 0, VT_FORMAT},
    {"{} x", 0, VT_FORMAT},
    {"{}", 1, VT_FORMAT},
    {"{\"x\":1}", 0, VT_FORMAT},
    {"{\"x\":{}}", 0, VT_FORMAT},
    {"{\"__metadata__\":1}", 0, VT_FORMAT},
    {"{\"__metadata__\":{\"a\":1}}", 0, VT_FORMAT},
    {"{\"__metadata__\":{\"a\":\"1\"}}", 1, VT_FORMAT},
    /* malformed JSON */
    {"", 0, VT_FORMAT},
    {"[]", 0, VT_FORMAT},
    {"{,}", 0, VT_FORMAT},
    {"{\"__metadata__\":{},}", 0, VT_FORMAT},
    {"{\"__metadata__\":{} \"a\":{}}", 0, VT_FORMAT},
    {"{\"__metadata__\":{\"a\":\"\",}}", 0, VT_FORMAT},
    {"{\"__metadata__\":{\"a\":\"\t\"}}", 0, VT_FORMAT},
    {"{\"__metadata__\":{\"a\":\"\xc0\x80\"}}", 0, VT_FORMAT},
    {"{\"__metadata__\":{\"a\":\"\\u00g0\"}}", 0, VT_FORMAT},
    {"{\"__metadata__\":{\"a\":\"\\udc00\"}}", 0, VT_FORMAT},
    {"{\"__metadata__\":{\"a\":\"\\ud800\\u0041\"}}", 0, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1,],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1 1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1e0],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[[1]],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    /* headers with repeated, unknown or missing members */
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
     "\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
     2, VT_FORMAT},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, VT_FORMAT},
    {"{\"__metadata__\":{\"a\":\"1\",\"b\":\"\",\"a\":\"2\"}}", 0, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
     VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"more\":0}}", 1, VT_FORMAT},
    {"{\"x\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, VT_FORMAT},
    /* headers with members of the wrong JSON type */
    {"{\"x\":{\"dtype\":1,\"shape\":[1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":1,\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[-1,-1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[-1,0]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,\"1\"]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U16\",\"shape\":[1],\"data_offsets\":[0,2]}}", 2, VT_UNSUPPORTED},
    {"{\"x\":{\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, VT_UNSUPPORTED},
    /* wrong offsets */
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[5,5]}}", 0, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[9223372036854775806,"
     "9223372036854775807]}}",
     1, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
     "\"y\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}",
     3, VT_FORMAT}, /* overlap */
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
     "\"y\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
     2, VT_FORMAT}, /* two tensors with the same bytes */
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},"
     "\"y\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[1,1]}}",
     3, VT_FORMAT}, /* an empty tensor inside another */
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
     "\"y\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,3]}}",
     3, VT_FORMAT}, /* hole */
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2, VT_FORMAT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 2, VT_FORMAT},
    /* absurd sizes */
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[9223372036854775808],\"data_offsets\":[0,1]}}", 1,
     VT_LIMIT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,18446744073709551617]}}", 1,
     VT_LIMIT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[4294967296,4294967296],\"data_offsets\":[0,0]}}", 0,
     VT_LIMIT},
    {"{\"x\":{\"dtype\":\"F64\",\"shape\":[2305843009213693952],\"data_offsets\":[0,0]}}", 0,
     VT_LIMIT},
    {"{\"x\":{\"dtype\":\"F64\",\"shape\":[0,2305843009213693952],\"data_offsets\":[0,0]}}", 0,
     VT_LIMIT},
    {"{\"x\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1,
     VT_LIMIT},
    /* names */
    {"{\"\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"\\u0007\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"\\u007f\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"\\u009b2J\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"a\\u0000b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"\xff\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
    {"{\"\\ud800\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1, VT_FORMAT},
};

static void test_bad_files_refused(void) {
  static const uint8_t data[16];
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    const bytes b = make_safetensors(refused[i].header, data, refused[i].data);
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
  bytes b = make_safetensors("{\"x\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[0,2]}}",
                             "\1\3", 2);
  check_refusal_message(&b, VT_FORMAT, "byte 64 is 3, and a bool is 0 or 1");
  b = make_safetensors("{\"\\u001b[2J\":{\"dtype\":\"\\n\"}}", "", 0);
  check_refusal_message(&b, VT_FORMAT, "'\\x1b[2J' cannot be a tensor's name");
  b = make_safetensors("{\"\\u00e4\":{\"dtype\":\"C64\",\"shape\":[2],\"data_offsets\":[0,2]}}", "",
                       0);
  check_refusal_message(&b, VT_UNSUPPORTED,
                        "the dtype 'C64' of tensor '\xc3\xa4' is not supported");
  b = make_safetensors("{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", "ab", 2);
  check_refusal_message(
      &b, VT_FORMAT,
      "there is a hole before tensor 'x': the data before it ends at byte 0 and it begins "
      "at 1");
  b = make_safetensors("{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,1]}}", "ab", 2);
  check_refusal_message(&b, VT_FORMAT,
                        "tensor 'x' is at bytes 2 to 1, outside the 2 bytes of data");
  b = make_safetensors("{\"x\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}", "ab", 2);
  check_refusal_message(&b, VT_FORMAT,
                        "tensor 'x' is at bytes 0 to 3, outside the 2 bytes of data");
  b = make_safetensors(
      "{\"x\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", "a", 1);
  check_refusal_message(&b, VT_LIMIT, "tensor 'x' has rank 9, more than 8");
  b = make_safetensors("{}", "", 0);
  b.p[0] = 3;
  check_refusal_message(&b, VT_FORMAT,
                        "the safetensors header at byte 8 declares 3 bytes, but 2 are left");
  b = make_safetensors("{\"x\" 1}", "", 0);
  check_refusal_message(&b, VT_FORMAT,
                        "the safetensors header is wrong at byte 13: ':' is expected");
  b = make_safetensors("{\"a\":{\"dtype\":\"U8\",\"shape\":[01],\"data_offsets\":[0,1]}}", "a", 1);
  check_refusal_message(&b, VT_FORMAT, "the shape of tensor 'a' holds a non-integer");
  b = make_safetensors("{\"a\\x\":1}", "", 0);
  check_refusal_message(&b, VT_FORMAT,
                        "the safetensors header is wrong at byte 11: an unknown escape");
  b = make_safetensors("{\"__metadata__\":{\"a\":\"\",\"\\u0061\":\"\"}}", "", 0);
  check_refusal_message(&b, VT_FORMAT, "the safetensors header has 'a' twice");
}

/* The first eight bytes are the length of the header. A wrong length must be refused. */
static void test_wrong_header_length_refused(void) {
  static const uint64_t lengths[] = {0,          1,          3,          60,
                                     UINT32_MAX, INT64_MAX,  UINT64_MAX, UINT64_MAX - 7,
                                     1u << 31,   100u << 20, 101u << 20, UINT64_C(1) << 63};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    bytes b =
        make_safetensors("{\"x\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", "a", 1);
    const size_t n = b.n;
    vt_diag d;
    b.n = 0;
    append_little_endian(&b, lengths[i], 8);
    b.n = n;
    CHECK(parse_only_for_status(b.p, b.n, &d) == VT_FORMAT);
  }
}

/* A file whose header really has more than 100 MiB is refused. */
static void test_header_size_limit(void) {
  const size_t length = (100u << 20) + 1, n = 8 + length;
  uint8_t *p = malloc(n);
  if (p == NULL) return;
  memset(p, ' ', n);
  for (int i = 0; i < 8; i++) p[i] = (uint8_t)((uint64_t)length >> (8 * i));
  memcpy(p + 8, "{}", 2);
  vt_archive *ar = NULL;
  CHECK(vt_archive_parse(p, n, NULL, &ar, NULL) == VT_LIMIT && ar == NULL);
  p[0]--; /* the header has exactly the largest length, and one byte of data belongs to no tensor */
  CHECK(vt_archive_parse(p, n, NULL, &ar, NULL) == VT_FORMAT && ar == NULL);
  CHECK(vt_archive_parse(p, n - 1, NULL, &ar, NULL) == VT_OK && ar != NULL);
  vt_archive_free(ar);
  free(p);
}

/* A header with every kind of escape, and with characters of one to four bytes, is read. */
static void test_string_escapes_decoded(void) {
  const bytes b = make_safetensors(
      "{\"__metadata__\":{\"\\b\\f\\n\\r\\t\\/\\\\\\\"\":\"\\u0001\"},\n\t"
      "\"\\u0041\\u00e4\\u20AC\\ud83d\\ude00\\/\xf0\x9f\x98\x80\" :\r\n"
      "{\"d\\u0074ype\":\"U8\" , \"shape\" : [ ] ,\"data_offsets\":[0 , 1]} } \n",
      "a", 1);
  vt_archive *ar;
  vt_fault f;
  vt_diag d;
  vt_tensor t;
  CHECK(parse_exact_copy(b.p, b.n, 0, &ar, &f, &d) == VT_OK);
  if (ar == NULL) return;
  CHECK(vt_archive_find(ar, "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80/\xf0\x9f\x98\x80", &t, &d) ==
        VT_OK);
  vt_archive_free(ar);
}

/* ---- memory ---- */

typedef struct meter {
  size_t now, most; /* bytes allocated now, at most so far */
} meter;

static void *metered_resize(void *user, void *p, size_t old_size, size_t new_size) {
  meter *m = (meter *)user;
  m->now = m->now - (p != NULL ? old_size : 0) + new_size;
  if (m->now > m->most) m->most = m->now;
  if (new_size != 0) return realloc(p, new_size);
  free(p);
  return NULL;
}

/* Parses a header of 8 MiB that consists of `head` and repetitions of `repeated`. The parser may
 * allocate at most `max_ratio` times the size of the header. The allocator counts the bytes, and
 * the resident memory of the process is checked too. */
static void check_parser_memory_use(const char *head, const char *repeated, vt_status want,
                                    size_t max_ratio) {
  const size_t length = 8u << 20, n = 8 + length, step = strlen(repeated);
  uint8_t *p = malloc(n);
  if (p == NULL) return;
  for (int i = 0; i < 8; i++) p[i] = (uint8_t)((uint64_t)length >> (8 * i));
  memcpy(p + 8, head, strlen(head));
  for (size_t i = 8 + strlen(head), k = 0; i < n; i++, k++) p[i] = (uint8_t)repeated[k % step];
  /* '#' and the four characters before it become a number in letters, so each name is different. */
  for (size_t i = 8 + strlen(head), k = 0; i + step <= n; i += step, k++)
    for (size_t j = 0; j < step; j++)
      if (repeated[j] == '#')
        for (unsigned q = 0; q < 5; q++) p[i + j - q] = (uint8_t)('a' + (k >> (4 * q) & 15));
  struct rusage before, after;
  meter m = {0, 0};
  const vt_alloc a = {.user = &m, .resize = metered_resize};
  vt_archive *ar = NULL;
  vt_diag d = {.code = VT_OK};
  CHECK(getrusage(RUSAGE_SELF, &before) == 0);
  CHECK(vt_archive_parse(p, n, &a, &ar, &d) == want && ar == NULL && m.now == 0);
  CHECK(getrusage(RUSAGE_SELF, &after) == 0);
  CHECK(m.most < max_ratio * length);
  CHECK((uint64_t)(after.ru_maxrss - before.ru_maxrss) * 1024 < 2 * max_ratio * length);
  if (m.most >= max_ratio * length || d.code != want)
    fprintf(stderr, "  %s: %zu bytes, %s\n", repeated, m.most, d.text);
  free(p);
}

static void test_parser_memory_is_bounded(void) {
  check_parser_memory_use("[", "[],", VT_FORMAT, 2);
  check_parser_memory_use("{\"x\":", "[", VT_FORMAT, 2);
  check_parser_memory_use("{\"x\":[", "[],", VT_FORMAT, 2);
  check_parser_memory_use("{\"x\":{\"shape\":[", "[],", VT_FORMAT, 2);
  check_parser_memory_use("{\"x\":{\"shape\":[0", ",0", VT_FORMAT, 2);
  check_parser_memory_use("{\"x\":{\"a\":{", "\"a\":{", VT_FORMAT, 2);
  check_parser_memory_use("{", "\"    #\":{},", VT_FORMAT, 2);
  check_parser_memory_use("{\"__metadata__\":{", "\"    #\":\"\",", VT_FORMAT, 8);
  check_parser_memory_use("{", "\"    #\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},",
                          VT_FORMAT, 12);
}

/* ---- writing ---- */

static void test_written_bytes_are_exact(void) {
  uint32_t w[2] = {0x3f800000u, 0xffffffffu};
  uint8_t yes[3] = {0, 7, 1};
  int64_t none[1] = {0};
  const char *const names[3] = {"w", "q\"\\\xc3\xa4", "W.0"};
  const vt_tensor t[3] = {make_tensor(VT_DTYPE_F32, 1, (const int64_t[]){2}, w),
                          make_tensor(VT_DTYPE_BOOL, 2, (const int64_t[]){3, 1}, yes),
                          make_tensor(VT_DTYPE_I64, 2, (const int64_t[]){0, 2}, none)};
  static const char header[] =
      "{\"W.0\":{\"dtype\":\"I64\",\"shape\":[0,2],\"data_offsets\":[0,0]},"
      "\"q\\\"\\\\\xc3\xa4\":{\"dtype\":\"BOOL\",\"shape\":[3,1],\"data_offsets\":[0,3]},"
      "\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[3,11]}}  ";
  const bytes want = make_safetensors(header, "\0\1\1\0\0\x80\x3f\0\0\xc0\x7f", 11);
  CHECK(strlen(header) % 8 == 0);
  vt_diag d = {.code = VT_OK};
  CHECK(vt_safetensors_write(path_in_test_folder("a"), 3, names, t, &d) == VT_OK);
  const bytes got = read_test_file(path_in_test_folder("a"));
  CHECK(same_bytes(&got, &want));
  CHECK(w[1] == 0xffffffffu && yes[1] == 7); /* the caller's data did not change */
  vt_archive *ar = NULL;
  vt_tensor back;
  CHECK(vt_archive_read(path_in_test_folder("a"), NULL, &ar, &d) == VT_OK);
  if (ar == NULL) return;
  CHECK(vt_archive_find(ar, names[1], &back, &d) == VT_OK && back.dtype == VT_DTYPE_BOOL);
  vt_archive_free(ar);
}

/* A written file reads back with the same data, also if the data is longer than the buffer of the
 * writer. */
static void test_write_read_round_trip(void) {
  enum { N = 20000 };
  static uint16_t big[N];
  for (int i = 0; i < N; i++) big[i] = (uint16_t)(i & 0x7bff); /* no NaN */
  big[N - 1] = 0xffff;
  const char *const name = "x";
  const vt_tensor t = make_tensor(VT_DTYPE_F16, 1, (const int64_t[]){N}, big);
  vt_archive *ar = NULL;
  vt_tensor back = {.data = NULL};
  CHECK(vt_safetensors_write(path_in_test_folder("r"), 1, &name, &t, NULL) == VT_OK);
  CHECK(vt_archive_read(path_in_test_folder("r"), NULL, &ar, NULL) == VT_OK);
  if (ar == NULL) return;
  CHECK(vt_archive_find(ar, name, &back, NULL) == VT_OK && back.dim[0] == N);
  CHECK(memcmp(back.data, big, sizeof big - 2) == 0);
  CHECK(memcmp((const uint8_t *)back.data + sizeof big - 2, "\x00\x7e", 2) == 0);
  vt_archive_free(ar);
  CHECK(vt_safetensors_write(path_in_test_folder("none"), 0, NULL, NULL, NULL) == VT_OK);
  const bytes none = read_test_file(path_in_test_folder("none")),
              want = make_safetensors("{}      ", "", 0);
  CHECK(same_bytes(&none, &want));
}

static void test_bad_tensors_not_written(void) {
  static const char *const bad[] = {"",
                                    "\n",
                                    "\x7f",
                                    "__metadata__",
                                    "\xc3",
                                    "\xc0\x80",
                                    "\xed\xa0\x80",
                                    "\xf4\x90\x80\x80",
                                    "\xe0\x80\x80",
                                    "\xc2\x9b"};
  float x[1] = {0};
  vt_tensor t[2] = {make_tensor(VT_DTYPE_F32, 0, NULL, x), make_tensor(VT_DTYPE_F32, 0, NULL, x)};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    CHECK(vt_safetensors_write(path_in_test_folder("x"), 1, &bad[i], t, NULL) == VT_NAME);
  const char *const twice[2] = {"a", "a"};
  vt_diag d = {.code = VT_OK};
  CHECK(vt_safetensors_write(path_in_test_folder("x"), 2, twice, t, &d) == VT_NAME);
  CHECK(strcmp(d.text, "two tensors have the name 'a'") == 0);
  t[0].data = NULL;
  CHECK(vt_safetensors_write(path_in_test_folder("x"), 1, twice, t, NULL) == VT_TENSOR);
  t[0].rank = 9;
  CHECK(vt_safetensors_write(path_in_test_folder("x"), 1, twice, t, NULL) == VT_LIMIT);
  t[0] = make_tensor(VT_DTYPE_F32, 1, (const int64_t[]){INT64_C(1) << 40}, x);
  CHECK(vt_safetensors_write(path_in_test_folder("x"), 1, twice, t, NULL) == VT_LIMIT);
  CHECK(access(path_in_test_folder("x"), F_OK) != 0);
}

int main(void) {
  if (mkdtemp(test_folder) == NULL) return 77;
  test_parser_memory_is_bounded(); /* runs first, while the process has little resident memory */
  test_string_escapes_decoded();
  const bytes b = make_safetensors(mixed, mixed_data, sizeof mixed_data);
  test_valid_file_is_read();
  test_every_type_is_read();
  test_empty_file_is_read();
  test_bad_files_refused();
  test_refusal_messages();
  test_wrong_header_length_refused();
  test_header_size_limit();
  test_written_bytes_are_exact();
  test_write_read_round_trip();
  test_bad_tensors_not_written();
  check_truncations_refused(&b);
  check_mutations_harmless(&b);
  check_failing_allocations(&b, 6);
  check_growing_file_refused("c", &b);
  unlink(path_in_test_folder("a"));
  unlink(path_in_test_folder("r"));
  unlink(path_in_test_folder("none"));
  CHECK(rmdir(test_folder) == 0); /* fails if a temporary file was left */
  TEST_DONE();
}
