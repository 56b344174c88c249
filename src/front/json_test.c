/* SPDX-License-Identifier: Apache-2.0
 * json_test.c - tests the JSON reader: each kind of value, what is refused and at which byte, and
 * that skipping a value accepts exactly what reading it accepts. */
#include "json.h"
#include <string.h>
#include "vt_test.h"

/* A reader of a copy of exactly the text, so that a sanitizer notices reads beyond it. */
typedef struct source {
  char *copy;
  vt_json j;
  vt_diag d;
} source;

static void source_open(source *s, const char *text) {
  const size_t n = strlen(text);
  *s = (source){.copy = malloc(n != 0 ? n : 1)};
  if (s->copy == NULL) exit(1);
  memcpy(s->copy, text, n);
  s->j = (vt_json){.text = s->copy, .n = n, .offset = 8, .name = "the text", .d = &s->d};
}

static vt_status skip_all(const char *text, vt_diag *d) {
  source s;
  source_open(&s, text);
  vt_status status = vt_json_skip(&s.j);
  if (status == VT_OK) status = vt_json_end(&s.j);
  *d = s.d;
  free(s.copy);
  return status;
}

/* ---- values ---- */

static void test_object(void) {
  source s;
  const char *name = "", *text = "";
  uint64_t whole = 0;
  double number = 0;
  int more = 0, truth = 0;
  source_open(&s,
              " { \"a\\u00e9\" : \"x\\n\\\"\\ud83d\\ude00/\" ,\"n\":18446744073709551615,\n"
              "\"f\":-1.5e-3, \"t\":true,\"l\":[1 , 2],\"z\":null, \"s\":{\"k\":[{}]} } ");
  CHECK(vt_json_peek(&s.j) == '{' && vt_json_begin(&s.j, '{') == VT_OK);
  CHECK(vt_json_next(&s.j, '}', 0, &more) == VT_OK && more);
  CHECK(vt_json_member(&s.j, &name) == VT_OK && strcmp(name, "a\xc3\xa9") == 0);
  CHECK(vt_json_string(&s.j, &text) == VT_OK && strcmp(text, "x\n\"\xf0\x9f\x98\x80/") == 0);
  CHECK(vt_json_next(&s.j, '}', 1, &more) == VT_OK && more);
  CHECK(vt_json_member(&s.j, &name) == VT_OK && strcmp(name, "n") == 0);
  CHECK(vt_json_whole(&s.j, UINT64_MAX, &whole) == VT_OK && whole == UINT64_MAX);
  CHECK(vt_json_next(&s.j, '}', 2, &more) == VT_OK && vt_json_member(&s.j, &name) == VT_OK);
  CHECK(vt_json_number(&s.j, &number) == VT_OK && number == -0x1.89374bc6a7efap-10);
  CHECK(vt_json_next(&s.j, '}', 3, &more) == VT_OK && vt_json_member(&s.j, &name) == VT_OK);
  CHECK(vt_json_bool(&s.j, &truth) == VT_OK && truth);
  CHECK(vt_json_next(&s.j, '}', 4, &more) == VT_OK && vt_json_member(&s.j, &name) == VT_OK);
  CHECK(vt_json_begin(&s.j, '[') == VT_OK);
  for (uint64_t i = 0; i < 2; i++) {
    CHECK(vt_json_next(&s.j, ']', i, &more) == VT_OK && more);
    CHECK(vt_json_whole(&s.j, 2, &whole) == VT_OK && whole == i + 1);
  }
  CHECK(vt_json_next(&s.j, ']', 2, &more) == VT_OK && !more);
  CHECK(vt_json_next(&s.j, '}', 5, &more) == VT_OK && vt_json_member(&s.j, &name) == VT_OK);
  CHECK(vt_json_null(&s.j) == VT_OK);
  CHECK(vt_json_next(&s.j, '}', 6, &more) == VT_OK && vt_json_member(&s.j, &name) == VT_OK);
  CHECK(strcmp(name, "s") == 0 && vt_json_skip(&s.j) == VT_OK);
  CHECK(vt_json_next(&s.j, '}', 7, &more) == VT_OK && !more);
  CHECK(vt_json_end(&s.j) == VT_OK && s.d.code == VT_OK);
  free(s.copy);
}

/* ---- numbers ---- */

static void test_whole_numbers(void) {
  static const struct {
    const char *text;
    uint64_t max;
    vt_status want;
    uint64_t value;
  } rows[] = {
      {"0", 0, VT_OK, 0},
      {"7", 7, VT_OK, 7},
      {"8", 7, VT_LIMIT, 0},
      {"18446744073709551616", UINT64_MAX, VT_LIMIT, 0},
      {"99999999999999999999", UINT64_MAX, VT_LIMIT, 0},
      {"9223372036854775807", INT64_MAX, VT_OK, INT64_MAX},
      {"9223372036854775808", INT64_MAX, VT_LIMIT, 0},
      {"00", 9, VT_FORMAT, 0},
      {"07", 9, VT_FORMAT, 0},
      {"-1", 9, VT_FORMAT, 0},
      {"+1", 9, VT_FORMAT, 0},
      {"1.0", 9, VT_FORMAT, 0},
      {"1e0", 9, VT_FORMAT, 0},
      {"", 9, VT_FORMAT, 0},
      {"x", 9, VT_FORMAT, 0},
      {"\"1\"", 9, VT_FORMAT, 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    source s;
    uint64_t v = 77;
    source_open(&s, rows[i].text);
    CHECK(vt_json_scan_whole(&s.j, rows[i].max, &v) == rows[i].want && s.d.code == VT_OK);
    CHECK(v == (rows[i].want == VT_OK ? rows[i].value : 77)); /* written only on success */
    free(s.copy);
    source_open(&s, rows[i].text);
    CHECK(vt_json_whole(&s.j, rows[i].max, &v) == rows[i].want && s.d.code == rows[i].want);
    free(s.copy);
  }
}

/* The forms of numbers that JSON has, and some that only other languages have. */
static void test_number_forms(void) {
  static const char *const good[] = {"0",   "-0",  "1",      "10",     "-12.5",  "0.125",
                                     "1e5", "1E5", "1e+005", "2.5e-3", "-0.0e0", "1e-999"};
  static const char *const bad[] = {"+1",  "01",    "-",    "-x",      ".5",  "5.",
                                    "1e",  "1e+",   "1.e2", "0x1p3",   "inf", "nan",
                                    "- 1", "1.5.2", "--1",  "Infinity"};
  vt_diag d;
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    CHECK(skip_all(good[i], &d) == VT_OK);
    if (d.code != VT_OK) fprintf(stderr, "  %s: %s\n", good[i], d.text);
  }
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CHECK(skip_all(bad[i], &d) == VT_FORMAT);
    if (d.code != VT_FORMAT) fprintf(stderr, "  %s\n", bad[i]);
  }
  CHECK(skip_all("1e309", &d) == VT_LIMIT && skip_all("-1e309", &d) == VT_LIMIT);
  CHECK(strcmp(d.text, "the text has a number beyond the range of f64 at byte 8") == 0);
  CHECK(skip_all("1.7976931348623157e308", &d) == VT_OK);
}

/* ---- refused ---- */

static void test_messages(void) {
  static const struct {
    const char *text, *says;
  } rows[] = {
      {"", "the text is wrong at byte 8: a value is expected"},
      {"  ?", "the text is wrong at byte 10: a value is expected"},
      {"{", "the text is wrong at byte 9: a string is expected"},
      {"{}x", "the text is wrong at byte 10: it goes on after its end"},
      {"{,}", "the text is wrong at byte 9: a string is expected"},
      {"{\"a\" 1}", "the text is wrong at byte 13: ':' is expected"},
      {"{\"a\":1,}", "the text is wrong at byte 15: a string is expected"},
      {"{\"a\":1 \"b\":2}", "the text is wrong at byte 15: ',' or '}' is expected"},
      {"[1,]", "the text is wrong at byte 11: a value is expected"},
      {"[1 2]", "the text is wrong at byte 11: ',' or ']' is expected"},
      {"[1", "the text is wrong at byte 10: ',' or ']' is expected"},
      {"\"a", "the text is wrong at byte 10: a string without end"},
      {"\"a\\", "the text is wrong at byte 10: a string without end"},
      {"\"\t\"", "the text is wrong at byte 9: invalid bytes in a string"},
      {"\"\xff\"", "the text is wrong at byte 9: invalid bytes in a string"},
      {"\"\xed\xa0\x80\"", "the text is wrong at byte 9: invalid bytes in a string"},
      {"\"\\x\"", "the text is wrong at byte 9: an unknown escape"},
      {"\"\\u12\"", "the text is wrong at byte 13: a \\u that is not a character"},
      {"\"\\u0000\"", "the text is wrong at byte 15: a \\u that is not a character"},
      {"\"\\udc00\"", "the text is wrong at byte 15: a \\u that is not a character"},
      {"\"\\ud800\\u0041\"", "the text is wrong at byte 21: a \\u that is not a character"},
      {"tru", "the text is wrong at byte 8: true or false is expected"},
      {"nul", "the text is wrong at byte 8: null is expected"},
      {"truex", "the text is wrong at byte 12: it goes on after its end"},
      {"True", "the text is wrong at byte 8: a value is expected"},
      {"'a'", "the text is wrong at byte 8: a value is expected"},
      {"\xef\xbb\xbf{}", "the text is wrong at byte 8: a value is expected"},
      {"{} // a comment", "the text is wrong at byte 11: it goes on after its end"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    vt_diag d;
    CHECK(skip_all(rows[i].text, &d) == VT_FORMAT && strcmp(d.text, rows[i].says) == 0);
    if (strcmp(d.text, rows[i].says) != 0) fprintf(stderr, "  %s: %s\n", rows[i].text, d.text);
  }
}

/* Lists nested up to the limit are skipped, and not one deeper, however many there are. */
static void test_depth_limit(void) {
  enum { MANY = 100000 };
  static char text[2 * MANY + 1];
  vt_diag d;
  for (int depth = VT_JSON_DEPTH_MAX; depth <= VT_JSON_DEPTH_MAX + 1; depth++) {
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    text[2 * depth] = '\0';
    CHECK(skip_all(text, &d) == (depth == VT_JSON_DEPTH_MAX ? VT_OK : VT_LIMIT));
  }
  CHECK(strcmp(d.text, "the text is nested more than 64 deep at byte 72") == 0);
  memset(text, '[', MANY);
  text[MANY] = '\0';
  CHECK(skip_all(text, &d) == VT_LIMIT);
  for (int i = 0; i < MANY / 4; i++) memcpy(text + 4 * i, "{\"\":", 4);
  CHECK(skip_all(text, &d) == VT_LIMIT);
}

/* Every proper prefix of a value is refused, and no change of one byte reads beyond the text. */
static void test_truncations_and_mutations(void) {
  static const char whole[] =
      "{\"a\\u00e4\\ud83d\\ude00\\n\":[1,-2.5e+3,true,false,null,\"\xc3\xa4\"],\"b\":{\"c\":[]}}";
  char text[sizeof whole];
  vt_diag d;
  CHECK(skip_all(whole, &d) == VT_OK);
  for (size_t n = 0; n < sizeof whole - 1; n++) {
    memcpy(text, whole, n);
    text[n] = '\0';
    CHECK(skip_all(text, &d) == VT_FORMAT);
  }
  memcpy(text, whole, sizeof whole);
  for (size_t i = 0; i < sizeof whole - 1; i++) {
    for (int v = 1; v < 256; v++) {
      text[i] = (char)v;
      const vt_status s = skip_all(text, &d);
      CHECK(s == VT_OK || s == VT_FORMAT || s == VT_LIMIT);
    }
    text[i] = whole[i];
  }
}

int main(void) {
  test_object();
  test_whole_numbers();
  test_number_forms();
  test_messages();
  test_depth_limit();
  test_truncations_and_mutations();
  TEST_DONE();
}
