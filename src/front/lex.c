/* SPDX-License-Identifier: Apache-2.0
 * lex.c - splits .vt text into tokens. The text may be hostile: each byte is examined once, nothing
 * is copied, and a byte that no token allows is reported with its position. */
#include "lex.h"
#include <stdio.h>
#include <string.h>

void vt_lex_init(vt_lexer *l, const char *text, size_t n) {
  *l = (vt_lexer){.text = text, .n = n, .line = 1};
}

/* The byte `ahead` bytes after the current position; 0, which no token contains, past the end. */
static unsigned char peek(const vt_lexer *l, size_t ahead) {
  return ahead < l->n - l->at ? (unsigned char)l->text[l->at + ahead] : 0;
}

static int is_digit(unsigned char c) { return c >= '0' && c <= '9'; }
static int is_alpha_or_underscore(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static int is_name_char(unsigned char c) { return is_alpha_or_underscore(c) || is_digit(c); }
static int is_hex_digit(unsigned char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static vt_token token_at(const vt_lexer *l, uint32_t kind, size_t n) {
  return (vt_token){.kind = kind,
                    .line = l->line,
                    .column = (uint32_t)(l->at - l->line_start + 1),
                    .n = (uint32_t)n,
                    .s = l->text + l->at};
}

static vt_status set_fail_position(const vt_lexer *l, vt_status s, vt_diag *d) {
  if (d != NULL && d->line == 0) {
    d->line = l->line;
    d->column = (uint32_t)(l->at - l->line_start + 1);
  }
  return s;
}

/* Length of the UTF-8 character at `s`; 0 if it is malformed by RFC 3629, which forbids surrogates
 * and overlong forms. */
static size_t utf8_char_length(const unsigned char *s, size_t n) {
  if (s[0] < 0x80) return 1;
  const size_t want = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
  if (s[0] < 0xc2 || s[0] > 0xf4 || n < want) return 0;
  for (size_t i = 1; i < want; i++)
    if ((s[i] & 0xc0) != 0x80) return 0;
  if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)) return 0;
  if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)) return 0;
  return want;
}

int vt_utf8_valid(const char *s, size_t n) {
  for (size_t i = 0; i < n;) {
    const size_t step = utf8_char_length((const unsigned char *)s + i, n - i);
    if (step == 0) return 0;
    i += step;
  }
  return 1;
}

/* Skips a comment up to the end of the line. */
static vt_status skip_comment(vt_lexer *l, vt_diag *d) {
  const char *s = l->text + l->at;
  const char *end = memchr(s, '\n', l->n - l->at);
  const size_t n = end != NULL ? (size_t)(end - s) : l->n - l->at;
  if (!vt_utf8_valid(s, n))
    return set_fail_position(l, VT_FAIL(d, VT_SYNTAX, "this comment is not UTF-8"), d);
  l->at += n;
  return VT_OK;
}

static int at_newline(const vt_lexer *l) {
  return peek(l, 0) == '\n' || (peek(l, 0) == '\r' && peek(l, 1) == '\n');
}

static void skip_newline(vt_lexer *l) {
  l->at += peek(l, 0) == '\r' ? 2 : 1;
  l->line++;
  l->line_start = l->at;
}

/* Skips blanks, comments and, inside brackets, newlines. */
static vt_status skip_blank(vt_lexer *l, vt_diag *d) {
  while (l->at < l->n) {
    if (peek(l, 0) == ' ' || peek(l, 0) == '\t')
      l->at++;
    else if (peek(l, 0) == '#')
      VT_TRY(skip_comment(l, d));
    else if (l->open > 0 && at_newline(l))
      skip_newline(l);
    else
      break;
  }
  return VT_OK;
}

/* Length of a name: identifiers joined by single dots. "a..b" is a name, a range operator and a
 * name. */
static size_t name_length(const vt_lexer *l) {
  size_t n = 1;
  while (is_name_char(peek(l, n)) || (peek(l, n) == '.' && is_name_char(peek(l, n + 1)))) n++;
  return n;
}

static vt_status lex_name(vt_lexer *l, vt_token *out, vt_diag *d) {
  *out = token_at(l, VT_TOKEN_NAME, name_length(l));
  if (out->n > VT_NAME_MAX)
    return set_fail_position(
        l, VT_FAIL(d, VT_LIMIT, "a name of %u bytes; at most %d are accepted", out->n, VT_NAME_MAX),
        d);
  if (vt_token_is(out, "inf") || vt_token_is(out, "nan")) out->kind = VT_TOKEN_REAL;
  return VT_OK;
}

static size_t digits_end(const vt_lexer *l, size_t offset, int (*is_digit_fn)(unsigned char)) {
  while (is_digit_fn(peek(l, offset))) offset++;
  return offset;
}

/* The end of the exponent that starts `offset` bytes after the current position; `offset` itself if
 * none starts at that byte. */
static size_t exponent_end(const vt_lexer *l, size_t offset, char letter) {
  const size_t sign = peek(l, offset + 1) == '+' || peek(l, offset + 1) == '-';
  const int is_exponent =
      (peek(l, offset) | 0x20) == letter && is_digit(peek(l, offset + 1 + sign));
  return is_exponent ? digits_end(l, offset + 1 + sign, is_digit) : offset;
}

static size_t hex_number_length(const vt_lexer *l) {
  size_t n = digits_end(l, 2, is_hex_digit);
  if (peek(l, n) == '.' && peek(l, n + 1) != '.') n = digits_end(l, n + 1, is_hex_digit);
  return exponent_end(l, n, 'p');
}

static size_t decimal_number_length(const vt_lexer *l) {
  size_t n = digits_end(l, 0, is_digit);
  if (peek(l, n) == '.' && is_digit(peek(l, n + 1))) n = digits_end(l, n + 1, is_digit);
  return exponent_end(l, n, 'e');
}

static vt_status lex_number(vt_lexer *l, vt_token *out, vt_diag *d) {
  const int hex = peek(l, 0) == '0' && (peek(l, 1) | 0x20) == 'x';
  const size_t n = hex ? hex_number_length(l) : decimal_number_length(l);
  const int whole = !hex && n == digits_end(l, 0, is_digit);
  *out = token_at(l, whole ? VT_TOKEN_INT : VT_TOKEN_REAL, n);
  if (is_name_char(peek(l, n)) || (peek(l, n) == '.' && peek(l, n + 1) != '.')) {
    const int shown = (int)(n < 40 ? n + 1 : 40);
    return set_fail_position(l, VT_FAIL(d, VT_SYNTAX, "malformed number '%.*s'", shown, out->s), d);
  }
  return VT_OK;
}

/* Reads a text in double quotes on one line. There are no escapes, so it cannot contain a quote. */
static vt_status lex_quoted(vt_lexer *l, vt_token *out, vt_diag *d) {
  size_t n = 1;
  while (peek(l, n) >= ' ' && peek(l, n) < 127 && peek(l, n) != '"') n++;
  *out = token_at(l, VT_TOKEN_QUOTED, n + 1);
  if (peek(l, n) == '"') return VT_OK;
  if (l->at + n < l->n && peek(l, n) != '\n' && peek(l, n) != '\r')
    return set_fail_position(l, VT_FAIL(d, VT_SYNTAX, "byte 0x%02x inside quotes", peek(l, n)), d);
  return set_fail_position(l, VT_FAIL(d, VT_SYNTAX, "this quote is not closed on its line"), d);
}

/* Kind of the operator or bracket at the current position, and its length in `out_length`; 0: none.
 * Operators of two characters are tried before those of one. */
static uint32_t operator_kind(const vt_lexer *l, size_t *out_length) {
  static const struct {
    char text[3];
    uint32_t kind;
  } pairs[] = {{"==", VT_TOKEN_EQ},
               {"!=", VT_TOKEN_NE},
               {"<=", VT_TOKEN_LE},
               {">=", VT_TOKEN_GE},
               {"..", VT_TOKEN_RANGE}};
  *out_length = 2;
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
    if (peek(l, 0) == pairs[i].text[0] && peek(l, 1) == pairs[i].text[1]) return pairs[i].kind;
  *out_length = 1;
  const unsigned char c = peek(l, 0);
  return c != 0 && strchr("()[]{},:=+-*/<>@", c) != NULL ? c : 0;
}

static vt_status fail_bad_byte(const vt_lexer *l, vt_diag *d) {
  const unsigned char c = peek(l, 0);
  vt_status s;
  if (c > 127)
    s = VT_FAIL(d, VT_SYNTAX, "byte 0x%02x: only comments may contain non-ASCII text", c);
  else if (c < 32 || c == 127)
    s = VT_FAIL(d, VT_SYNTAX, "control character 0x%02x", c);
  else
    s = VT_FAIL(d, VT_SYNTAX, "unexpected character '%c'", c);
  return set_fail_position(l, s, d);
}

static vt_status lex_operator(vt_lexer *l, vt_token *out, vt_diag *d) {
  size_t n;
  const uint32_t kind = operator_kind(l, &n);
  if (kind == 0) return fail_bad_byte(l, d);
  *out = token_at(l, kind, n);
  if (kind == '(' || kind == '[') l->open++;
  if ((kind == ')' || kind == ']') && l->open > 0) l->open--;
  return VT_OK;
}

vt_status vt_lex_next(vt_lexer *l, vt_token *out, vt_diag *d) {
  VT_TRY(skip_blank(l, d));
  vt_token t = token_at(l, VT_TOKEN_END, 0);
  const unsigned char c = peek(l, 0);
  if (l->at < l->n && at_newline(l)) {
    t.kind = VT_TOKEN_LINE;
    skip_newline(l);
  } else if (is_alpha_or_underscore(c)) {
    VT_TRY(lex_name(l, &t, d));
  } else if (is_digit(c)) {
    VT_TRY(lex_number(l, &t, d));
  } else if (c == '"') {
    VT_TRY(lex_quoted(l, &t, d));
  } else if (l->at < l->n) {
    VT_TRY(lex_operator(l, &t, d));
  }
  l->at += t.n;
  *out = t;
  return VT_OK;
}

int vt_token_is(const vt_token *t, const char *word) {
  return t->kind == VT_TOKEN_NAME && strlen(word) == t->n && memcmp(t->s, word, t->n) == 0;
}

const char *vt_token_text(const vt_token *t, char out[VT_TOKEN_TEXT]) {
  const int shown = t->n > 40 ? 40 : (int)t->n;
  if (t->kind == VT_TOKEN_END)
    snprintf(out, VT_TOKEN_TEXT, "end of text");
  else if (t->kind == VT_TOKEN_LINE)
    snprintf(out, VT_TOKEN_TEXT, "end of line");
  else
    snprintf(out, VT_TOKEN_TEXT, "'%.*s%s'", shown, t->s, t->n > 40 ? "..." : "");
  return out;
}
