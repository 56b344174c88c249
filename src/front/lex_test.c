/* SPDX-License-Identifier: Apache-2.0
 * lex_test.c - tests the tokens of texts, their positions, and the errors for invalid bytes. */
#include "lex.h"
#include <string.h>
#include "vt_test.h"

/* The tokens of a text as words: a letter for the kind, then the spelling. "N:x M:( I:7 L E" */
static const char *list_tokens(const char *text, size_t n) {
  static char out[4096];
  size_t used = 0;
  vt_lexer l;
  vt_token t = {.kind = 1};
  vt_diag d = {0};
  vt_lex_init(&l, text, n);
  out[0] = 0;
  while (t.kind != VT_TOKEN_END && used < sizeof out - 300) {
    if (vt_lex_next(&l, &t, &d) != VT_OK) {
      snprintf(out, sizeof out, "!%u:%u %s", d.line, d.column, d.text);
      return out;
    }
    const char kind = t.kind == VT_TOKEN_NAME     ? 'N'
                      : t.kind == VT_TOKEN_QUOTED ? 'Q'
                      : t.kind == VT_TOKEN_INT    ? 'I'
                      : t.kind == VT_TOKEN_REAL   ? 'R'
                      : t.kind == VT_TOKEN_LINE   ? 'L'
                      : t.kind == VT_TOKEN_END    ? 'E'
                                                  : 'M';
    used += (size_t)snprintf(out + used, sizeof out - used, "%s%c%s%.*s", used > 0 ? " " : "", kind,
                             t.n > 0 ? ":" : "", (int)t.n, t.s);
  }
  return out;
}

static void expect_tokens(const char *text, const char *tokens) {
  const char *have = list_tokens(text, strlen(text));
  if (strcmp(have, tokens) == 0) return;
  fprintf(stderr, "'%s' gives\n  %s, not\n  %s\n", text, have, tokens);
  vt_test_failed++;
}

static void test_name_tokens(void) {
  expect_tokens("", "E");
  expect_tokens("a _b C9", "N:a N:_b N:C9 E");
  expect_tokens("h.0.attn.weight", "N:h.0.attn.weight E");
  expect_tokens("a.b..c", "N:a.b M:.. N:c E");
  expect_tokens("a. b", "!1:2 unexpected character '.'");
  expect_tokens("infinity nano inf nan true", "N:infinity N:nano R:inf R:nan N:true E");
}

static void test_quoted_tokens(void) {
  expect_tokens("\"ij,jk -> i...k\"=\"\"", "Q:\"ij,jk -> i...k\" M:= Q:\"\" E");
  expect_tokens("a \"b", "!1:3 this quote is not closed on its line");
  expect_tokens("\"b\n\"", "!1:1 this quote is not closed on its line");
  expect_tokens("\"b\r\n\"", "!1:1 this quote is not closed on its line");
  expect_tokens("\"a\tb\"", "!1:1 byte 0x09 inside quotes");
  expect_tokens("\"\xc3\xa9\"", "!1:1 byte 0xc3 inside quotes");
}

static void test_number_tokens(void) {
  expect_tokens("0..95", "I:0 M:.. I:95 E");
  expect_tokens("0..V-1", "I:0 M:.. N:V M:- I:1 E");
  expect_tokens("0.5..1", "R:0.5 M:.. I:1 E");
  expect_tokens("1e-5 1E+7 2e3", "R:1e-5 R:1E+7 R:2e3 E");
  expect_tokens("0x1.8p-3 0x1p0 0X.8p1", "R:0x1.8p-3 R:0x1p0 R:0X.8p1 E");
  expect_tokens("007", "I:007 E");
  expect_tokens("1e", "!1:1 malformed number '1e'");
  expect_tokens("1.", "!1:1 malformed number '1.'");
  expect_tokens("1.5.2", "!1:1 malformed number '1.5.'");
  expect_tokens("12ab", "!1:1 malformed number '12a'");
  expect_tokens("-1", "M:- I:1 E");
}

static void test_operator_tokens(void) {
  expect_tokens("()[]{},:=+-*/<>", "M:( M:) M:[ M:] M:{ M:} M:, M:: M:= M:+ M:- M:* M:/ M:< M:> E");
  expect_tokens("== != <= >= ..", "M:== M:!= M:<= M:>= M:.. E");
  expect_tokens("===", "M:== M:= E");
  expect_tokens("a=b", "N:a M:= N:b E");
}

static void test_line_end_tokens(void) {
  expect_tokens("a\nb\r\nc", "N:a L N:b L N:c E");
  expect_tokens("a # words\nb", "N:a L N:b E");
  expect_tokens("# only", "E");
  expect_tokens("(a\n,\r\nb)\nc", "M:( N:a M:, N:b M:) L N:c E");
  expect_tokens("[a # (\n]\n", "M:[ N:a M:] L E");
  expect_tokens(")\n)\n", "M:) L M:) L E");
  expect_tokens("a\rb", "!1:2 control character 0x0d");
  expect_tokens("a\tb", "N:a N:b E");
}

static void test_bad_bytes_refused(void) {
  expect_tokens("a $", "!1:3 unexpected character '$'");
  expect_tokens("a !b", "!1:3 unexpected character '!'");
  expect_tokens("x\n  \x01", "!2:3 control character 0x01");
  expect_tokens("\x7f", "!1:1 control character 0x7f");
  expect_tokens("\xc3\xa4", "!1:1 byte 0xc3: only comments may contain non-ASCII text");
  expect_tokens("# \xc3\xa4 \xf0\x9f\x99\x82", "E");
  expect_tokens("# \xc3", "!1:1 this comment is not UTF-8");
  const char zero[] = {'a', 0, 'b'};
  CHECK(strcmp(list_tokens(zero, sizeof zero), "!1:2 control character 0x00") == 0);
  const char zero_in_comment[] = {'#', 0, '\n', 'b'};
  CHECK(strcmp(list_tokens(zero_in_comment, sizeof zero_in_comment), "L N:b E") == 0);
}

/* The first and the last UTF-8 character of each length are valid; malformed sequences next to them
 * are not. */
static void test_utf8_validity(void) {
  static const char *const good[] = {"\x7f",         "\xc2\x80",         "\xdf\xbf",
                                     "\xe0\xa0\x80", "\xed\x9f\xbf",     "\xee\x80\x80",
                                     "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
  static const char *const bad[] = {"\x80",
                                    "\xc1\xbf",
                                    "\xc2",
                                    "\xc2\xc0",
                                    "\xe0\x9f\xbf",
                                    "\xed\xa0\x80",
                                    "\xe2\x82",
                                    "\xf0\x8f\xbf\xbf",
                                    "\xf4\x90\x80\x80",
                                    "\xf5\x80\x80\x80",
                                    "\xff"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
    CHECK(vt_utf8_valid(good[i], strlen(good[i])));
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    CHECK(!vt_utf8_valid(bad[i], strlen(bad[i])));
}

static void test_token_positions(void) {
  const char *text = "ab (\n  cd\n) == \nx";
  static const uint32_t want[][2] = {{1, 1}, {1, 4}, {2, 3}, {3, 1},
                                     {3, 3}, {3, 6}, {4, 1}, {4, 2}};
  vt_lexer l;
  vt_token t;
  vt_lex_init(&l, text, strlen(text));
  for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
    CHECK(vt_lex_next(&l, &t, NULL) == VT_OK);
    CHECK(t.line == want[i][0] && t.column == want[i][1]);
  }
  CHECK(t.kind == VT_TOKEN_END);
  /* After the end every token is VT_TOKEN_END. */
  CHECK(vt_lex_next(&l, &t, NULL) == VT_OK && t.kind == VT_TOKEN_END);
}

static void test_name_length_limit(void) {
  char text[VT_NAME_MAX + 2], words[VT_TOKEN_TEXT];
  vt_lexer l;
  vt_token t;
  vt_diag d = {0};
  memset(text, 'n', sizeof text);
  vt_lex_init(&l, text, VT_NAME_MAX);
  CHECK(vt_lex_next(&l, &t, &d) == VT_OK && t.n == VT_NAME_MAX);
  /* 40 letters of the name, two quotes and three dots. */
  CHECK(strlen(vt_token_text(&t, words)) == 45);
  vt_lex_init(&l, text, VT_NAME_MAX + 1);
  CHECK(vt_lex_next(&l, &t, &d) == VT_LIMIT && d.line == 1 && d.column == 1);
}

/* Assigning a saved copy of a lexer goes back to its position. */
static void test_lexer_copy_restores_position(void) {
  vt_lexer l, saved;
  vt_token t;
  vt_lex_init(&l, "a\nb", 3);
  saved = l;
  CHECK(vt_lex_next(&l, &t, NULL) == VT_OK && vt_lex_next(&l, &t, NULL) == VT_OK);
  CHECK(vt_lex_next(&l, &t, NULL) == VT_OK && vt_token_is(&t, "b") && t.line == 2);
  l = saved;
  CHECK(vt_lex_next(&l, &t, NULL) == VT_OK && vt_token_is(&t, "a") && t.line == 1);
}

int main(void) {
  test_name_tokens();
  test_number_tokens();
  test_quoted_tokens();
  test_operator_tokens();
  test_line_end_tokens();
  test_bad_bytes_refused();
  test_utf8_validity();
  test_token_positions();
  test_name_length_limit();
  test_lexer_copy_restores_position();
  TEST_DONE();
}
