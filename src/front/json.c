/* SPDX-License-Identifier: Apache-2.0
 * json.c - reads JSON from a text, value by value as the caller asks for them, and unescapes
 * strings in place. It follows RFC 8259 and accepts nothing beyond it. */
#include "json.h"
#include <float.h>
#include <string.h>
#include "archive.h"
#include "vt_decimal.h"

vt_status vt_json_fail(const vt_json *j, const char *what) {
  return VT_FAIL(j->d, VT_FORMAT, "%s is wrong at byte %llu: %s", j->name,
                 (unsigned long long)(j->at + j->offset), what);
}

/* ---- lists ---- */

char vt_json_peek(vt_json *j) {
  while (j->at < j->n && memchr(" \t\n\r", j->text[j->at], 4) != NULL) j->at++;
  return j->at < j->n ? j->text[j->at] : '\0';
}

int vt_json_accept(vt_json *j, char c) {
  if (j->at == j->n || vt_json_peek(j) != c) return 0;
  j->at++;
  return 1;
}

vt_status vt_json_begin(vt_json *j, char open) {
  if (vt_json_accept(j, open)) return VT_OK;
  return vt_json_fail(j, open == '{' ? "an object is expected" : "an array is expected");
}

vt_status vt_json_next(vt_json *j, char close, size_t i, int *out_more) {
  *out_more = !vt_json_accept(j, close);
  if (!*out_more || i == 0 || vt_json_accept(j, ',')) return VT_OK;
  return vt_json_fail(j, close == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
}

vt_status vt_json_member(vt_json *j, const char **out) {
  VT_TRY(vt_json_string(j, out));
  return vt_json_accept(j, ':') ? VT_OK : vt_json_fail(j, "':' is expected");
}

vt_status vt_json_end(vt_json *j) {
  (void)vt_json_peek(j);
  return j->at == j->n ? VT_OK : vt_json_fail(j, "it goes on after its end");
}

/* ---- strings ---- */

/* Reads four hexadecimal digits; returns -1 if they are malformed. */
static int32_t read_hex(vt_json *j) {
  int32_t v = 0;
  for (int i = 0; i < 4; i++, j->at++) {
    const char c = j->at < j->n ? j->text[j->at] : '\0';
    if (c >= '0' && c <= '9')
      v = v * 16 + (c - '0');
    else if (c >= 'a' && c <= 'f')
      v = v * 16 + (c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      v = v * 16 + (c - 'A' + 10);
    else
      return -1;
  }
  return v;
}

static size_t encode_utf8(char *to, uint32_t c) {
  const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const uint8_t lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = n; i-- > 1; c >>= 6) to[i] = (char)(0x80 | (c & 0x3f));
  to[0] = (char)(lead[n] | c);
  return n;
}

/* Reads the digits of \u escapes: one UTF-16 unit or a surrogate pair. */
static vt_status read_code_point(vt_json *j, size_t *to) {
  int32_t c = read_hex(j);
  if (c >= 0xd800 && c <= 0xdbff && j->n - j->at >= 2 && memcmp(j->text + j->at, "\\u", 2) == 0) {
    j->at += 2;
    const int32_t low = read_hex(j);
    c = low >= 0xdc00 && low <= 0xdfff ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : -1;
  }
  if (c <= 0 || (c >= 0xd800 && c <= 0xdfff))
    return vt_json_fail(j, "a \\u that is not a character");
  *to += encode_utf8(j->text + *to, (uint32_t)c);
  return VT_OK;
}

static vt_status read_escape(vt_json *j, size_t *to) {
  static const char from[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
  if (j->n - j->at < 2) return vt_json_fail(j, "a string without end");
  const char c = j->text[j->at + 1];
  const char *known = c != '\0' ? strchr(from, c) : NULL;
  if (known == NULL && c != 'u') return vt_json_fail(j, "an unknown escape");
  j->at += 2;
  if (c == 'u') return read_code_point(j, to);
  j->text[(*to)++] = means[known - from];
  return VT_OK;
}

/* The 0 that ends the string overwrites at most its closing quote. */
vt_status vt_json_string(vt_json *j, const char **out) {
  if (!vt_json_accept(j, '"')) return vt_json_fail(j, "a string is expected");
  size_t to = j->at;
  *out = j->text + to;
  while (j->at < j->n && j->text[j->at] != '"') {
    if (j->text[j->at] == '\\') {
      VT_TRY(read_escape(j, &to));
      continue;
    }
    const uint8_t *c = (const uint8_t *)j->text + j->at;
    const size_t length = vt_archive_utf8_char_length(c, j->n - j->at);
    if (length == 0 || c[0] < 0x20) return vt_json_fail(j, "invalid bytes in a string");
    memmove(j->text + to, c, length);
    to += length;
    j->at += length;
  }
  if (j->at == j->n) return vt_json_fail(j, "a string without end");
  j->at++;
  j->text[to] = '\0';
  return VT_OK;
}

/* ---- numbers ---- */

static int is_digit(const vt_json *j, size_t at) {
  return at < j->n && j->text[at] >= '0' && j->text[at] <= '9';
}

vt_status vt_json_scan_whole(vt_json *j, uint64_t max, uint64_t *out) {
  uint64_t v = 0;
  (void)vt_json_peek(j);
  const size_t first = j->at;
  for (; is_digit(j, j->at); j->at++) {
    const uint64_t digit = (uint64_t)(j->text[j->at] - '0');
    if (v > (UINT64_MAX - digit) / 10 || v * 10 + digit > max) return VT_LIMIT;
    v = v * 10 + digit;
  }
  const int zero_first = j->at - first > 1 && j->text[first] == '0';
  const int goes_on = j->at < j->n && memchr(".eE", j->text[j->at], 3) != NULL;
  if (j->at == first || zero_first || goes_on) return VT_FORMAT;
  *out = v;
  return VT_OK;
}

vt_status vt_json_whole(vt_json *j, uint64_t max, uint64_t *out) {
  const vt_status s = vt_json_scan_whole(j, max, out);
  if (s == VT_FORMAT) return vt_json_fail(j, "a whole number is expected");
  if (s == VT_LIMIT)
    return VT_FAIL(j->d, VT_LIMIT, "%s has a number over %llu at byte %llu", j->name,
                   (unsigned long long)max, (unsigned long long)(j->at + j->offset));
  return s;
}

/* Consumes the digits at the position; returns 0 if there is no digit. */
static int accept_digits(vt_json *j) {
  const size_t first = j->at;
  while (is_digit(j, j->at)) j->at++;
  return j->at > first;
}

/* Consumes one byte of `set` at the position. */
static int accept_one_of(vt_json *j, const char *set) {
  if (j->at == j->n || j->text[j->at] == '\0' || strchr(set, j->text[j->at]) == NULL) return 0;
  j->at++;
  return 1;
}

/* Consumes a number and returns 1, or returns 0. JSON is narrower than most readers of numbers: the
 * forms +1, 01, .5, 5. and inf are not JSON. */
static int accept_number(vt_json *j) {
  (void)accept_one_of(j, "-");
  const size_t first = j->at;
  if (!accept_digits(j)) return 0;
  if (j->text[first] == '0' && j->at - first > 1) return 0;
  if (accept_one_of(j, ".") && !accept_digits(j)) return 0;
  if (!accept_one_of(j, "eE")) return 1;
  (void)accept_one_of(j, "+-");
  return accept_digits(j);
}

vt_status vt_json_number(vt_json *j, double *out) {
  double v;
  (void)vt_json_peek(j);
  const size_t first = j->at;
  if (!accept_number(j) || !vt_decimal_f64(j->text + first, j->at - first, &v))
    return vt_json_fail(j, "a number is expected");
  if (v > DBL_MAX || v < -DBL_MAX)
    return VT_FAIL(j->d, VT_LIMIT, "%s has a number beyond the range of f64 at byte %llu", j->name,
                   (unsigned long long)(first + j->offset));
  *out = v;
  return VT_OK;
}

/* ---- words, and values of any kind ---- */

static int accept_word(vt_json *j, const char *word) {
  const size_t n = strlen(word);
  (void)vt_json_peek(j);
  if (j->n - j->at < n || memcmp(j->text + j->at, word, n) != 0) return 0;
  j->at += n;
  return 1;
}

vt_status vt_json_bool(vt_json *j, int *out) {
  const int yes = accept_word(j, "true");
  if (!yes && !accept_word(j, "false")) return vt_json_fail(j, "true or false is expected");
  *out = yes;
  return VT_OK;
}

vt_status vt_json_null(vt_json *j) {
  return accept_word(j, "null") ? VT_OK : vt_json_fail(j, "null is expected");
}

static vt_status skip_value(vt_json *j, int depth);

static vt_status skip_list(vt_json *j, char open, int depth) {
  const char close = open == '{' ? '}' : ']';
  const char *name;
  int more = 1;
  if (depth == VT_JSON_DEPTH_MAX)
    return VT_FAIL(j->d, VT_LIMIT, "%s is nested more than %d deep at byte %llu", j->name,
                   VT_JSON_DEPTH_MAX, (unsigned long long)(j->at + j->offset));
  VT_TRY(vt_json_begin(j, open));
  for (size_t i = 0;; i++) {
    VT_TRY(vt_json_next(j, close, i, &more));
    if (!more) return VT_OK;
    if (open == '{') VT_TRY(vt_json_member(j, &name));
    VT_TRY(skip_value(j, depth + 1));
  }
}

static vt_status skip_value(vt_json *j, int depth) {
  const char *string;
  double number;
  int truth;
  const char c = vt_json_peek(j);
  switch (c) {
    case '{':
    case '[':
      return skip_list(j, c, depth);
    case '"':
      return vt_json_string(j, &string);
    case 't':
    case 'f':
      return vt_json_bool(j, &truth);
    case 'n':
      return vt_json_null(j);
    default:
      break;
  }
  if (c == '-' || is_digit(j, j->at)) return vt_json_number(j, &number);
  return vt_json_fail(j, "a value is expected");
}

vt_status vt_json_skip(vt_json *j) { return skip_value(j, 0); }
