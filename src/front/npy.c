/* SPDX-License-Identifier: Apache-2.0
 * npy.c - reads and writes npy, NumPy's format for one array.
 *
 *   byte 0: "\x93NUMPY"   6: major, minor   8: length of the header, u16 LE (version 1) or u32 LE
 *   then the header, a Python dict {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *   padded with spaces and ended by a newline; then the elements and nothing else
 *
 * The parser of the header accepts only this dict: three keys in any order, each once. Every size
 * is checked against the size of the file before memory is allocated. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "archive.h"

/* Kind and width of a type as NumPy writes them, without the byte order. */
static const struct {
  char code[3];
  uint32_t dtype;
} codes[] = {
    {"f4", VT_DTYPE_F32}, {"f8", VT_DTYPE_F64}, {"i1", VT_DTYPE_I8},   {"u1", VT_DTYPE_U8},
    {"i4", VT_DTYPE_I32}, {"i8", VT_DTYPE_I64}, {"b1", VT_DTYPE_BOOL}, {"f2", VT_DTYPE_F16},
};
enum { CODES = sizeof codes / sizeof codes[0] };

/* ---- the header as text ---- */

/* A position in the text of the header. */
typedef struct cursor {
  const uint8_t *p; /* address of byte 0 of the file */
  size_t at, end;   /* position, end of the header; counted from the start of the file */
  vt_diag *d;
} cursor;

typedef struct header {
  vt_npy_header facts;
  int seen_descr, seen_order, seen_shape; /* number of times that each key was read */
} header;

static void skip_space(cursor *c) {
  while (c->at < c->end && (c->p[c->at] == ' ' || (c->p[c->at] >= '\t' && c->p[c->at] <= '\r')))
    c->at++;
}

static int peek(const cursor *c) { return c->at < c->end ? c->p[c->at] : -1; }

static vt_status fail_expected(const cursor *c, const char *what) {
  return VT_FAIL(c->d, VT_FORMAT, "expected %s in the npy header at byte %zu", what, c->at);
}

/* Reads the character `ch` and the space around it. */
static vt_status read_char(cursor *c, char ch, const char *what) {
  skip_space(c);
  if (peek(c) != ch) return fail_expected(c, what);
  c->at++;
  skip_space(c);
  return VT_OK;
}

/* Reads a string in single or double quotes. A backslash is refused, because NumPy writes none in a
 * header. */
static vt_status read_string(cursor *c, const char **out, size_t *out_n) {
  const int quote = peek(c);
  if (quote != '\'' && quote != '"') return fail_expected(c, "a string");
  const size_t start = c->at + 1;
  size_t i = start;
  while (i < c->end && c->p[i] != quote && c->p[i] != '\\' && c->p[i] != '\n') i++;
  if (i == c->end || c->p[i] != quote)
    return VT_FAIL(c->d, VT_FORMAT, "the string at byte %zu of the npy header does not end", c->at);
  *out = (const char *)c->p + start;
  *out_n = i - start;
  c->at = i + 1;
  return VT_OK;
}

static int text_equals(const char *s, size_t n, const char *word) {
  return n == strlen(word) && memcmp(s, word, n) == 0;
}

static vt_status fail_unsupported_type(const cursor *c, size_t at, const char *s, size_t n) {
  char q[VT_QUOTE_MAX];
  return VT_FAIL(c->d, VT_UNSUPPORTED, "the npy type '%s' at byte %zu is not supported",
                 vt_archive_escape(s, n, q), at);
}

/* Reads the type, for instance '<f4'. A type of one byte accepts every byte order mark, a wider
 * type needs < or > or =. */
static vt_status read_descr(cursor *c, header *h) {
  const size_t at = c->at;
  const char *s;
  size_t n;
  if (peek(c) == '[' || peek(c) == '(') /* a structured type */
    return fail_unsupported_type(c, at, (const char *)c->p + at, c->end - at);
  VT_TRY(read_string(c, &s, &n));
  uint32_t dtype = 0;
  for (size_t i = 0; i < CODES; i++)
    if (n == 3 && memcmp(s + 1, codes[i].code, 2) == 0) dtype = codes[i].dtype;
  const int wide = vt_dtype_bytes(dtype) > 1;
  if (dtype == 0 || strchr(wide ? "<>=" : "<>=|", s[0]) == NULL || s[0] == '\0')
    return fail_unsupported_type(c, at, s, n);
  h->facts.type.dtype = dtype;
  h->facts.big = wide && s[0] == '>';
  return VT_OK;
}

static vt_status read_bool(cursor *c, int *out) {
  const char *s = (const char *)c->p + c->at;
  const size_t n = c->end - c->at;
  const int yes = n >= 4 && memcmp(s, "True", 4) == 0;
  if (!yes && (n < 5 || memcmp(s, "False", 5) != 0)) return fail_expected(c, "True or False");
  c->at += yes ? 4 : 5;
  *out = yes;
  return VT_OK;
}

static vt_status read_dim(cursor *c, header *h) {
  const size_t start = c->at;
  int64_t v = 0;
  for (; peek(c) >= '0' && peek(c) <= '9'; c->at++)
    if (!vt_i64_mul(v, 10, &v) || !vt_i64_add(v, peek(c) - '0', &v))
      return VT_FAIL(c->d, VT_LIMIT, "the npy dimension at byte %zu is too large", start);
  if (c->at == start) return fail_expected(c, "a whole number");
  if (h->facts.type.rank == VT_MAX_RANK)
    return VT_FAIL(c->d, VT_LIMIT, "the npy array has more than %d dimensions (byte %zu)",
                   VT_MAX_RANK, start);
  h->facts.type.dim[h->facts.type.rank++] = v;
  return VT_OK;
}

/* Reads the shape, a tuple: (), (3,), (3, 4) or (3, 4,). A single number needs the comma, as in
 * Python. */
static vt_status read_shape(cursor *c, header *h) {
  VT_TRY(read_char(c, '(', "'('"));
  int comma = 1;
  while (peek(c) != ')') {
    if (!comma) return fail_expected(c, "',' or ')'");
    VT_TRY(read_dim(c, h));
    skip_space(c);
    comma = peek(c) == ',';
    c->at += (size_t)comma;
    skip_space(c);
  }
  if (h->facts.type.rank == 1 && !comma) return fail_expected(c, "',' after a single dimension");
  c->at++;
  return VT_OK;
}

static vt_status check_key_once(const cursor *c, size_t at, int *seen) {
  if ((*seen)++ == 0) return VT_OK;
  return VT_FAIL(c->d, VT_FORMAT, "the npy header has the same key twice, at byte %zu", at);
}

static vt_status read_key_and_value(cursor *c, header *h) {
  const size_t at = c->at;
  char q[VT_QUOTE_MAX];
  const char *key;
  size_t n;
  VT_TRY(read_string(c, &key, &n));
  VT_TRY(read_char(c, ':', "':'"));
  if (text_equals(key, n, "descr")) {
    VT_TRY(check_key_once(c, at, &h->seen_descr));
    return read_descr(c, h);
  }
  if (text_equals(key, n, "fortran_order")) {
    VT_TRY(check_key_once(c, at, &h->seen_order));
    return read_bool(c, &h->facts.fortran);
  }
  if (text_equals(key, n, "shape")) {
    VT_TRY(check_key_once(c, at, &h->seen_shape));
    return read_shape(c, h);
  }
  return VT_FAIL(c->d, VT_FORMAT, "the npy header has an unknown key '%s' at byte %zu",
                 vt_archive_escape(key, n, q), at);
}

static vt_status parse_header(cursor *c, header *h) {
  VT_TRY(read_char(c, '{', "'{'"));
  int comma = 1;
  while (peek(c) != '}') {
    if (!comma) return fail_expected(c, "',' or '}'");
    VT_TRY(read_key_and_value(c, h));
    skip_space(c);
    comma = peek(c) == ',';
    c->at += (size_t)comma;
    skip_space(c);
  }
  c->at++;
  skip_space(c);
  if (c->at != c->end)
    return VT_FAIL(c->d, VT_FORMAT, "the npy header goes on after its dict at byte %zu", c->at);
  if (!h->seen_descr || !h->seen_order || !h->seen_shape)
    return VT_FAIL(c->d, VT_FORMAT, "the npy header that ends at byte %zu lacks '%s'", c->end,
                   !h->seen_descr   ? "descr"
                   : !h->seen_order ? "fortran_order"
                                    : "shape");
  return VT_OK;
}

/* ---- the elements ---- */

static void copy_byte_swapped(uint8_t *to, const uint8_t *from, size_t size) {
  for (size_t i = 0; i < size; i++) to[i] = from[size - 1 - i];
}

static void copy_element(uint8_t *to, const uint8_t *from, size_t size, int big) {
  if (big)
    copy_byte_swapped(to, from, size);
  else
    memcpy(to, from, size);
}

/* Copies column-major elements in row-major order. It steps through the row-major indices and
 * computes for each the offset in the file, where the first index varies fastest. */
static void copy_column_major(uint8_t *to, const uint8_t *from, const vt_npy_header *h,
                              uint64_t count) {
  const vt_tensor *t = &h->type;
  const size_t size = (size_t)vt_dtype_bytes(t->dtype);
  int64_t index[VT_MAX_RANK] = {0};
  size_t stride[VT_MAX_RANK], source = 0, step = size;
  for (uint32_t k = 0; k < t->rank; k++) {
    stride[k] = step;
    step *= (size_t)t->dim[k];
  }
  for (uint64_t i = 0; i < count; i++) {
    copy_element(to + i * size, from + source, size, h->big);
    for (uint32_t k = t->rank; k-- > 0;) {
      source += stride[k];
      if (++index[k] < t->dim[k]) break;
      source -= stride[k] * (size_t)t->dim[k];
      index[k] = 0;
    }
  }
}

static void copy_data(uint8_t *to, const uint8_t *from, const vt_npy_header *h, uint64_t count) {
  const size_t size = (size_t)vt_dtype_bytes(h->type.dtype);
  if (h->fortran) {
    copy_column_major(to, from, h, count);
  } else {
    for (uint64_t i = 0; i < count; i++) copy_byte_swapped(to + i * size, from + i * size, size);
  }
}

/* ---- the file ---- */

enum { HEADER_LIMIT = 1024 * 1024 };

/* Finds the begin and the end of the header from the first `have` bytes of the file, which has `n`
 * bytes. */
static vt_status find_header_range(const uint8_t *p, size_t have, uint64_t n, size_t *out_begin,
                                   size_t *out_end, vt_diag *d) {
  if (have < 10)
    return VT_FAIL(d, VT_FORMAT, "the npy file ends at byte %zu, inside its head", have);
  if (memcmp(p, "\x93NUMPY", 6) != 0) return VT_FAIL(d, VT_FORMAT, "this is not a npy file");
  if (p[6] < 1 || p[6] > 3 || p[7] != 0)
    return VT_FAIL(d, VT_UNSUPPORTED, "npy version %u.%u is not supported (byte 6)", p[6], p[7]);
  const size_t begin = p[6] == 1 ? 10 : 12;
  if (have < begin)
    return VT_FAIL(d, VT_FORMAT, "the npy file ends at byte %zu, inside its head", have);
  size_t length = p[8] | (size_t)p[9] << 8;
  if (begin == 12) length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
  if (length > n - begin)
    return VT_FAIL(d, VT_FORMAT, "the npy header at byte %zu declares %zu bytes, but %llu are left",
                   begin, length, (unsigned long long)(n - begin));
  if (length > HEADER_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "the npy header of %zu bytes is over the limit of %d", length,
                   HEADER_LIMIT);
  *out_begin = begin;
  *out_end = begin + length;
  return VT_OK;
}

/* Checks that exactly the elements follow the header, which ends at byte `begin` of `n`. */
static vt_status check_size(vt_npy_header *h, uint64_t n, size_t begin, vt_diag *d) {
  if (vt_tensor_bytes(&h->type, NULL, &h->bytes, NULL) != VT_OK)
    return VT_FAIL(d, VT_LIMIT, "the shape before byte %zu needs more bytes than can be addressed",
                   begin);
  const uint64_t left = n - begin;
  if (left < h->bytes)
    return VT_FAIL(d, VT_FORMAT, "the npy file ends at byte %llu, %llu bytes short of its shape",
                   (unsigned long long)n, (unsigned long long)(h->bytes - left));
  if (left > h->bytes)
    return VT_FAIL(d, VT_FORMAT, "the npy file goes on after its data at byte %llu",
                   (unsigned long long)(begin + h->bytes));
  return VT_OK;
}

/* Reads and parses the header. The text is placed at its file position in a separate buffer, so
 * that positions in the buffer are positions in the file. */
static vt_status read_header(vt_arena *scratch, vt_stream *s, uint64_t n, header *h,
                             size_t *out_end, vt_diag *d) {
  uint8_t head[12];
  cursor c = {.d = d};
  size_t have = n < 10 ? (size_t)n : 10, more;
  VT_TRY(vt_stream_read(s, head, have, d));
  more = have == 10 && head[6] > 1 ? (n < 12 ? (size_t)n : 12) - have : 0;
  VT_TRY(vt_stream_read(s, head + have, more, d));
  have += more;
  VT_TRY(find_header_range(head, have, n, &c.at, &c.end, d));
  uint8_t *text = vt_arena_array(scratch, c.end, 1);
  if (text == NULL) return VT_FAIL(d, VT_NOMEM, "no memory for the header of a npy file");
  VT_TRY(vt_stream_read(s, text + c.at, c.end - c.at, d));
  c.p = text;
  *out_end = c.end;
  return parse_header(&c, h);
}

vt_status vt_npy_read_header(vt_arena *scratch, vt_stream *s, uint64_t n, vt_npy_header *out,
                             vt_diag *d) {
  header h = {.seen_descr = 0};
  size_t end = 0;
  VT_TRY(read_header(scratch, s, n, &h, &end, d));
  VT_TRY(check_size(&h.facts, n, end, d));
  *out = h.facts;
  return VT_OK;
}

/* Reads data that is big-endian or column-major, through a buffer of the same size. */
static vt_status read_reordered(vt_archive *ar, vt_stream *s, const vt_npy_header *h, void *data,
                                vt_diag *d) {
  const size_t held = h->bytes != 0 ? (size_t)h->bytes : 1;
  uint8_t *raw = ar->a.resize(ar->a.user, NULL, 0, held);
  if (raw == NULL) return VT_FAIL(d, VT_NOMEM, "no memory to put a npy array in order");
  const vt_status status = vt_archive_read_data(s, &h->type, raw, h->bytes, d);
  if (status == VT_OK) copy_data(data, raw, h, h->bytes / vt_dtype_bytes(h->type.dtype));
  vt_alloc_free(ar->a, raw, held);
  return status;
}

vt_status vt_npy_read_data(vt_archive *ar, const char *name, vt_stream *s, const vt_npy_header *h,
                           vt_diag *d) {
  void *data;
  VT_TRY(vt_archive_add(ar, name, &h->type, &data, d));
  if (h->fortran || h->big) return read_reordered(ar, s, h, data, d);
  return vt_archive_read_data(s, &h->type, data, h->bytes, d);
}

vt_status vt_npy_read(vt_archive *ar, const char *name, vt_stream *s, uint64_t n, vt_diag *d) {
  vt_npy_header h;
  VT_TRY(vt_npy_read_header(&ar->arena, s, n, &h, d));
  return vt_npy_read_data(ar, name, s, &h, d);
}

vt_status vt_npy_parse(vt_archive *ar, const vt_source *src, vt_diag *d) {
  vt_stream s;
  ar->format = "npy";
  VT_TRY(vt_stream_open(src, 0, src->size, VT_STREAM_PLAIN, ar->a, &s, d));
  return vt_npy_read(ar, "", &s, src->size, d);
}

/* ---- writing ---- */

/* NumPy pads the header so that the first dimension can grow to 21 digits, and then with spaces and
 * a newline to a multiple of 64. Eight dimensions whose product can be addressed have at most 26
 * digits, so header and the 10 bytes before it are always 128 bytes, in version 1.0. */
enum { HEAD = VT_NPY_HEAD, BEFORE = 10 };

static void print_shape(const vt_tensor *t, char *out, size_t n) {
  int at = snprintf(out, n, "(");
  for (uint32_t i = 0; i < t->rank; i++)
    at += snprintf(out + at, n - (size_t)at, "%s%lld", i > 0 ? ", " : "", (long long)t->dim[i]);
  snprintf(out + at, n - (size_t)at, t->rank == 1 ? ",)" : ")");
}

/* Prints the bytes before the data exactly as NumPy does. */
static void print_header(const vt_tensor *t, const char *code, uint8_t out[HEAD]) {
  char shape[VT_MAX_RANK * 24], text[HEAD];
  const char order = vt_dtype_bytes(t->dtype) > 1 ? '<' : '|';
  print_shape(t, shape, sizeof shape);
  const int n =
      snprintf(text, sizeof text, "{'descr': '%c%s', 'fortran_order': False, 'shape': %s, }", order,
               code, shape);
  assert(n > 0 && n < HEAD - BEFORE);
  memset(out, ' ', HEAD);
  memcpy(out, "\x93NUMPY\x01\x00", 8);
  out[8] = HEAD - BEFORE;
  out[9] = 0;
  memcpy(out + BEFORE, text, (size_t)n);
  out[HEAD - 1] = '\n';
}

vt_status vt_npy_print_head(const vt_tensor *t, uint8_t out[VT_NPY_HEAD], vt_diag *d) {
  const char *code = NULL;
  for (size_t i = 0; i < CODES; i++)
    if (codes[i].dtype == t->dtype) code = codes[i].code;
  if (code == NULL)
    return VT_FAIL(d, VT_UNSUPPORTED, "a tensor of %s has no npy form", vt_dtype_name(t->dtype));
  print_header(t, code, out);
  return VT_OK;
}

vt_status vt_npy_write(const char *path, const vt_tensor *t, vt_diag *d) {
  uint8_t head[HEAD];
  uint64_t bytes;
  VT_TRY(vt_archive_check_tensor(t, "", &bytes, d));
  VT_TRY(vt_npy_print_head(t, head, d));
  vt_file_writer w;
  VT_TRY(vt_file_create(path, &w, d));
  vt_status s = vt_file_write(&w, head, HEAD, d);
  if (s == VT_OK) s = vt_archive_write_data(&w, t, bytes, d);
  if (s == VT_OK) s = vt_file_commit(&w, d);
  vt_file_abort(&w);
  return s;
}
