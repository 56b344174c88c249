/* SPDX-License-Identifier: Apache-2.0
 * certificate_test.c - a certificate is read back as it was written; one that was changed anywhere,
 * cut anywhere, or is of something else, covers nothing. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "certificate.h"
#include "vt_test.h"

static const vt_hash256 content = {{1, 2, 3, 0xff}};

/* ---- one that is right ---- */

static const uint64_t declared = VT_BK_FLOAT64 | VT_BK_REGIONS;

/* The values that cover `bearer`. */
static void right_values(vt_text value[VT_CERTIFICATE_FIELDS]) {
  const vt_hash256 suite = vt_certificate_suite();
  char hex[65];
  for (int i = 0; i < VT_CERTIFICATE_FIELDS; i++) {
    vt_text_init(&value[i], vt_alloc_default());
    if (i < VT_CERTIFICATE_rules) continue;
    vt_text_add(&value[i], "%d", 10 * i);
  }
  vt_certificate_quote(&value[VT_CERTIFICATE_format], VT_CERTIFICATE_FORMAT);
  vt_certificate_quote(&value[VT_CERTIFICATE_backend], "libfoo.so:1");
  vt_text_add(&value[VT_CERTIFICATE_device], "1");
  vt_certificate_quote(&value[VT_CERTIFICATE_about], "says \"caf\xc3\xa9\"\\\n and such");
  vt_hash_hex(&content, hex);
  vt_certificate_quote(&value[VT_CERTIFICATE_content], hex);
  vt_certificate_quote(&value[VT_CERTIFICATE_fingerprint], "foo \"1\"");
  vt_certificate_list(&value[VT_CERTIFICATE_capabilities], declared);
  vt_certificate_quote(&value[VT_CERTIFICATE_isa], "avx2");
  vt_certificate_quote(&value[VT_CERTIFICATE_volta], VT_VERSION);
  vt_text_add(&value[VT_CERTIFICATE_numerics], "%u", VT_NUMERICS_VERSION);
  vt_text_add(&value[VT_CERTIFICATE_abi], "%u", VT_BK_ABI_MAJOR);
  vt_hash_hex(&suite, hex);
  vt_certificate_quote(&value[VT_CERTIFICATE_suite], hex);
}

/* With one field replaced, unless `other` is NULL; sealed rightly. */
static void print_with(int field, const char *other, vt_text *out) {
  vt_text value[VT_CERTIFICATE_FIELDS];
  vt_certificate c;
  right_values(value);
  for (int i = 0; i < VT_CERTIFICATE_FIELDS; i++) {
    c.value[i] = i == field && other != NULL ? other : value[i].s;
    c.n[i] = strlen(c.value[i]);
  }
  vt_text_init(out, vt_alloc_default());
  vt_certificate_print(&c, out);
  CHECK(vt_text_status(out) == VT_OK);
  for (int i = 0; i < VT_CERTIFICATE_FIELDS; i++) vt_text_done(&value[i]);
}

static const vt_bearer bearer = {"./libfoo.so", 1, &content, "avx2", "foo \"1\"", declared};

static void test_round_trip(void) {
  vt_text t, again;
  vt_certificate c;
  vt_diag d = {0};
  char why[VT_WHY_NOT] = "";
  print_with(0, NULL, &t);
  CHECK(vt_certificate_parse(t.s, t.n, &c, &d) == VT_OK);
  CHECK(vt_certificate_covers(&c, &bearer, why) && why[0] == 0);
  vt_text_init(&again, vt_alloc_default());
  vt_certificate_print(&c, &again);
  CHECK(again.n == t.n && memcmp(again.s, t.s, t.n) == 0);
  vt_text_done(&again);
  vt_text_done(&t);
}

/* ---- ones that are not ---- */

/* From memory of exactly its size, so that a sanitizer sees a step beyond. */
static vt_status parse_copy(const char *text, size_t n) {
  vt_certificate c;
  char *copy = malloc(n == 0 ? 1 : n);
  if (copy == NULL) exit(77);
  memcpy(copy, text, n);
  const vt_status s = vt_certificate_parse(copy, n, &c, NULL);
  free(copy);
  return s;
}

static void test_every_byte_flipped(void) {
  vt_text t;
  print_with(0, NULL, &t);
  for (size_t i = 0; i < t.n; i++)
    for (int bit = 0; bit < 8; bit++) {
      t.s[i] = (char)(t.s[i] ^ (1 << bit));
      CHECK(parse_copy(t.s, t.n) == VT_FORMAT);
      t.s[i] = (char)(t.s[i] ^ (1 << bit));
    }
  CHECK(parse_copy(t.s, t.n) == VT_OK);
  vt_text_done(&t);
}

static void test_every_length(void) {
  vt_text t;
  print_with(0, NULL, &t);
  for (size_t n = 0; n < t.n; n++) CHECK(parse_copy(t.s, n) == VT_FORMAT);
  vt_text_bytes(&t, "\n", 1);
  CHECK(parse_copy(t.s, t.n) == VT_FORMAT);
  vt_text_done(&t);
}

/* Rightly sealed, and still not what is written. */
static void test_malformed(void) {
  static const struct {
    int field;
    const char *value;
  } row[] = {{VT_CERTIFICATE_device, "01"},
             {VT_CERTIFICATE_device, "-1"},
             {VT_CERTIFICATE_device, ""},
             {VT_CERTIFICATE_device, "\"1\""},
             {VT_CERTIFICATE_about, "\"a"},
             {VT_CERTIFICATE_about, "\"\\n\""},
             {VT_CERTIFICATE_about, "\"\\u0\""},
             {VT_CERTIFICATE_about, "\"\\u00zz\""},
             {VT_CERTIFICATE_about, "\"a\tb\""},
             {VT_CERTIFICATE_about, "\"\xc3\xa9\""},
             {VT_CERTIFICATE_about, "7"},
             {VT_CERTIFICATE_capabilities, "[\"a\",\"b\"]"},
             {VT_CERTIFICATE_capabilities, "[a]"},
             {VT_CERTIFICATE_capabilities, "[\"a\", ]"},
             {VT_CERTIFICATE_rules, "1,\n  \"rules\": 2"}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    vt_text t;
    print_with(row[i].field, row[i].value, &t);
    CHECK(parse_copy(t.s, t.n) == VT_FORMAT);
    vt_text_done(&t);
  }
  vt_text t;
  print_with(VT_CERTIFICATE_capabilities, "[]", &t);
  CHECK(parse_copy(t.s, t.n) == VT_OK);
  vt_text_done(&t);
}

static void expect_not_covered(int field, const char *value, const vt_bearer *b, const char *says) {
  vt_text t;
  vt_certificate c;
  char why[VT_WHY_NOT] = "";
  print_with(field, value, &t);
  CHECK(vt_certificate_parse(t.s, t.n, &c, NULL) == VT_OK);
  CHECK(!vt_certificate_covers(&c, b, why) && strstr(why, says) != NULL);
  if (strstr(why, says) == NULL) fprintf(stderr, "  '%s', not '%s'\n", why, says);
  vt_text_done(&t);
}

static void test_of_something_else(void) {
  expect_not_covered(VT_CERTIFICATE_format, "\"volta certificate 2\"", &bearer, "another format");
  expect_not_covered(VT_CERTIFICATE_content, "\"00\"", &bearer, "another content");
  expect_not_covered(VT_CERTIFICATE_device, "0", &bearer, "another of its devices");
  expect_not_covered(VT_CERTIFICATE_numerics, "2", &bearer, "version of the numerics");
  expect_not_covered(VT_CERTIFICATE_abi, "2", &bearer, "version of the ABI");
  expect_not_covered(VT_CERTIFICATE_suite, "\"00\"", &bearer, "another conformance suite");
  expect_not_covered(VT_CERTIFICATE_fingerprint, "\"foo\"", &bearer, "another fingerprint");
  const vt_hash256 other = {{1, 2, 3, 0xfe}};
  const vt_bearer changed = {"./libfoo.so", 1, &other, "avx2", NULL, 0},
                  next = {"./libfoo.so", 2, &content, "avx2", NULL, 0};
  expect_not_covered(0, NULL, &changed, "another content");
  expect_not_covered(0, NULL, &next, "another of its devices");
}

/* Other instructions are other kernels, whether the device is open yet or not. */
static void test_other_instructions(void) {
  vt_bearer free = bearer, other = bearer, shut = bearer;
  free.isa = NULL;
  other.isa = "scalar";
  shut.isa = "";
  shut.fingerprint = NULL;
  expect_not_covered(0, NULL, &free, "other instructions");
  expect_not_covered(0, NULL, &other, "other instructions");
  expect_not_covered(0, NULL, &shut, "other instructions");
  expect_not_covered(VT_CERTIFICATE_isa, "\"\"", &bearer, "other instructions");
}

/* One more or one less; a device that is not open has declared nothing yet. */
static void test_other_capabilities(void) {
  vt_bearer more = bearer, less = bearer;
  vt_text t;
  vt_certificate c;
  char why[VT_WHY_NOT] = "";
  more.has |= VT_BK_ATOMIC_OPS;
  less.has = VT_BK_FLOAT64;
  expect_not_covered(0, NULL, &more, "other capabilities");
  expect_not_covered(0, NULL, &less, "other capabilities");
  expect_not_covered(VT_CERTIFICATE_capabilities, "[]", &bearer, "other capabilities");
  less.fingerprint = NULL;
  print_with(0, NULL, &t);
  CHECK(vt_certificate_parse(t.s, t.n, &c, NULL) == VT_OK);
  CHECK(vt_certificate_covers(&c, &less, why) && why[0] == 0);
  vt_text_done(&t);
}

/* ---- files ---- */

static char folder[64], plugin[96], beside[128];

static void write_file(const char *path, const char *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  CHECK(f != NULL && fwrite(bytes, 1, n, f) == n);
  if (f != NULL) CHECK(fclose(f) == 0);
}

static int admits(const char *path, const char *says) {
  const vt_bearer b = {plugin, 1, &content, "avx2", "foo \"1\"", declared};
  char why[VT_WHY_NOT] = "";
  const int covers = vt_certificate_admits(path, &b, why);
  CHECK(covers || strstr(why, says) != NULL);
  CHECK(!covers || why[0] == 0);
  if (strstr(why, says) == NULL) fprintf(stderr, "  '%s', not '%s'\n", why, says);
  return covers;
}

static void test_files(void) {
  static char large[20000];
  vt_text t;
  snprintf(folder, sizeof folder, "/tmp/volta-certificate-XXXXXX");
  if (mkdtemp(folder) == NULL) exit(77);
  snprintf(plugin, sizeof plugin, "%s/libfoo.so", folder);
  snprintf(beside, sizeof beside, "%s.1.certificate.json", plugin);
  print_with(0, NULL, &t);
  CHECK(!admits(NULL, "")); /* none there: nothing more to say */
  CHECK(!admits("/nonexistent/c.json", "of no use: cannot open"));
  CHECK(!admits(folder, "of no use"));
  write_file(beside, t.s, t.n);
  CHECK(admits(NULL, "") && admits(beside, ""));
  t.s[t.n / 2] = (char)(t.s[t.n / 2] ^ 1);
  write_file(beside, t.s, t.n);
  CHECK(!admits(NULL, "of no use"));
  write_file(beside, large, sizeof large);
  CHECK(!admits(NULL, "of no use"));
  CHECK(unlink(beside) == 0 && mkfifo(beside, 0600) == 0);
  CHECK(!admits(beside, "of no use")); /* and does not wait for somebody to write */
  CHECK(unlink(beside) == 0 && rmdir(folder) == 0);
  vt_text_done(&t);
}

int main(void) {
  test_round_trip();
  test_every_byte_flipped();
  test_every_length();
  test_malformed();
  test_of_something_else();
  test_other_instructions();
  test_other_capabilities();
  test_files();
  TEST_DONE();
}
