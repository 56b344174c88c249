/* SPDX-License-Identifier: Apache-2.0
 * certificate_test.c - a printed certificate parses to the same values. A certificate that was
 * changed or truncated anywhere, or was issued for something else than `bearer`, the device of this
 * test, covers nothing. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "certificate.h"
#include "vt_test.h"

static const vt_hash256 content = {{1, 2, 3, 0xff}};

/* ---- a right certificate ---- */

/* The capabilities that the device `bearer` declares. */
static const uint64_t declared = VT_BK_FLOAT64 | VT_BK_REGIONS;

/* Sets the field values with which a certificate covers the device `bearer`. */
static void set_right_values(vt_text value[VT_CERTIFICATE_FIELDS]) {
  const vt_hash256 suite = vt_certificate_suite_digest();
  char hex[65];
  for (int i = 0; i < VT_CERTIFICATE_FIELDS; i++) {
    vt_text_init(&value[i], vt_alloc_default());
    if (i < VT_CERTIFICATE_rules) continue;
    vt_text_add(&value[i], "%d", 10 * i);
  }
  vt_certificate_add_quoted_text(&value[VT_CERTIFICATE_format], VT_CERTIFICATE_FORMAT);
  vt_certificate_add_quoted_text(&value[VT_CERTIFICATE_backend], "libfoo.so:1");
  vt_text_add(&value[VT_CERTIFICATE_device], "1");
  vt_certificate_add_quoted_text(&value[VT_CERTIFICATE_about], "says \"caf\xc3\xa9\"\\\n and such");
  vt_hash_hex(&content, hex);
  vt_certificate_add_quoted_text(&value[VT_CERTIFICATE_content], hex);
  vt_certificate_add_quoted_text(&value[VT_CERTIFICATE_fingerprint], "foo \"1\"");
  vt_certificate_add_capabilities(&value[VT_CERTIFICATE_capabilities], declared);
  vt_certificate_add_quoted_text(&value[VT_CERTIFICATE_isa], "avx2");
  vt_certificate_add_quoted_text(&value[VT_CERTIFICATE_volta], VT_VERSION);
  vt_text_add(&value[VT_CERTIFICATE_numerics], "%u", VT_NUMERICS_VERSION);
  vt_text_add(&value[VT_CERTIFICATE_abi], "%u", VT_BK_ABI_MAJOR);
  vt_hash_hex(&suite, hex);
  vt_certificate_add_quoted_text(&value[VT_CERTIFICATE_suite], hex);
}

/* Prints a certificate for `bearer` with a right seal. Unless `replacement` is NULL, it is the
 * value of field number `field`. */
static void print_certificate_with(int field, const char *replacement, vt_text *out) {
  vt_text value[VT_CERTIFICATE_FIELDS];
  vt_certificate c;
  set_right_values(value);
  for (int i = 0; i < VT_CERTIFICATE_FIELDS; i++) {
    c.value[i] = i == field && replacement != NULL ? replacement : value[i].s;
    c.n[i] = strlen(c.value[i]);
  }
  vt_text_init(out, vt_alloc_default());
  vt_certificate_print(&c, out);
  CHECK(vt_text_status(out) == VT_OK);
  for (int i = 0; i < VT_CERTIFICATE_FIELDS; i++) vt_text_done(&value[i]);
}

static const vt_plugin_candidate bearer = {"./libfoo.so", 1,           &content,
                                           "avx2",        "foo \"1\"", declared};

static void test_round_trip(void) {
  vt_text t, again;
  vt_certificate c;
  vt_diag d = {0};
  char why[VT_WHY_BYTES] = "";
  print_certificate_with(0, NULL, &t);
  CHECK(vt_certificate_parse(t.s, t.n, &c, &d) == VT_OK);
  CHECK(vt_certificate_covers(&c, &bearer, why) && why[0] == 0);
  vt_text_init(&again, vt_alloc_default());
  vt_certificate_print(&c, &again);
  CHECK(again.n == t.n && memcmp(again.s, t.s, t.n) == 0);
  vt_text_done(&again);
  vt_text_done(&t);
}

/* ---- wrong certificates ---- */

/* Parses a copy in memory of exactly this size, so that a sanitizer finds any read past its end. */
static vt_status parse_exact_copy(const char *text, size_t n) {
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
  print_certificate_with(0, NULL, &t);
  for (size_t i = 0; i < t.n; i++)
    for (int bit = 0; bit < 8; bit++) {
      t.s[i] = (char)(t.s[i] ^ (1 << bit));
      CHECK(parse_exact_copy(t.s, t.n) == VT_FORMAT);
      t.s[i] = (char)(t.s[i] ^ (1 << bit));
    }
  CHECK(parse_exact_copy(t.s, t.n) == VT_OK);
  vt_text_done(&t);
}

static void test_wrong_lengths(void) {
  vt_text t;
  print_certificate_with(0, NULL, &t);
  for (size_t n = 0; n < t.n; n++) CHECK(parse_exact_copy(t.s, n) == VT_FORMAT);
  vt_text_add_bytes(&t, "\n", 1);
  CHECK(parse_exact_copy(t.s, t.n) == VT_FORMAT);
  vt_text_done(&t);
}

/* These texts have a right seal, but vt_certificate_print never writes them. */
static void test_malformed_values(void) {
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
    print_certificate_with(row[i].field, row[i].value, &t);
    CHECK(parse_exact_copy(t.s, t.n) == VT_FORMAT);
    vt_text_done(&t);
  }
  vt_text t;
  print_certificate_with(VT_CERTIFICATE_capabilities, "[]", &t);
  CHECK(parse_exact_copy(t.s, t.n) == VT_OK);
  vt_text_done(&t);
}

static void expect_not_covered(int field, const char *value, const vt_plugin_candidate *b,
                               const char *reason) {
  vt_text t;
  vt_certificate c;
  char why[VT_WHY_BYTES] = "";
  print_certificate_with(field, value, &t);
  CHECK(vt_certificate_parse(t.s, t.n, &c, NULL) == VT_OK);
  CHECK(!vt_certificate_covers(&c, b, why) && strstr(why, reason) != NULL);
  if (strstr(why, reason) == NULL) fprintf(stderr, "  '%s', not '%s'\n", why, reason);
  vt_text_done(&t);
}

static void test_issued_for_another_device(void) {
  expect_not_covered(VT_CERTIFICATE_format, "\"volta certificate 2\"", &bearer, "another format");
  expect_not_covered(VT_CERTIFICATE_content, "\"00\"", &bearer, "other content");
  expect_not_covered(VT_CERTIFICATE_device, "0", &bearer, "another device");
  expect_not_covered(VT_CERTIFICATE_numerics, "2", &bearer, "version of the numerics");
  expect_not_covered(VT_CERTIFICATE_abi, "2", &bearer, "version of the ABI");
  expect_not_covered(VT_CERTIFICATE_suite, "\"00\"", &bearer, "another conformance suite");
  expect_not_covered(VT_CERTIFICATE_fingerprint, "\"foo\"", &bearer, "another fingerprint");
  const vt_hash256 other = {{1, 2, 3, 0xfe}};
  const vt_plugin_candidate changed = {"./libfoo.so", 1, &other, "avx2", NULL, 0},
                            next = {"./libfoo.so", 2, &content, "avx2", NULL, 0};
  expect_not_covered(0, NULL, &changed, "other content");
  expect_not_covered(0, NULL, &next, "another device");
}

/* A certificate for one instruction set does not cover another, whose kernels differ. This is known
 * before the device is open. */
static void test_other_isa(void) {
  vt_plugin_candidate no_isa = bearer, other = bearer, shut = bearer;
  no_isa.isa = NULL;
  other.isa = "scalar";
  shut.isa = "";
  shut.fingerprint = NULL;
  expect_not_covered(0, NULL, &no_isa, "another instruction set");
  expect_not_covered(0, NULL, &other, "another instruction set");
  expect_not_covered(0, NULL, &shut, "another instruction set");
  expect_not_covered(VT_CERTIFICATE_isa, "\"\"", &bearer, "another instruction set");
}

/* A certificate does not cover a device that declares one capability more or less. Before the
 * device is open its capabilities are unknown and are not compared. */
static void test_other_capabilities(void) {
  vt_plugin_candidate more = bearer, less = bearer;
  vt_text t;
  vt_certificate c;
  char why[VT_WHY_BYTES] = "";
  more.has |= VT_BK_ATOMIC_OPS;
  less.has = VT_BK_FLOAT64;
  expect_not_covered(0, NULL, &more, "other capabilities");
  expect_not_covered(0, NULL, &less, "other capabilities");
  expect_not_covered(VT_CERTIFICATE_capabilities, "[]", &bearer, "other capabilities");
  less.fingerprint = NULL;
  print_certificate_with(0, NULL, &t);
  CHECK(vt_certificate_parse(t.s, t.n, &c, NULL) == VT_OK);
  CHECK(vt_certificate_covers(&c, &less, why) && why[0] == 0);
  vt_text_done(&t);
}

/* ---- files ---- */

static char folder[64], plugin[96], default_path[128];

static void write_file(const char *path, const char *bytes, size_t n) {
  FILE *f = fopen(path, "wb");
  CHECK(f != NULL && fwrite(bytes, 1, n, f) == n);
  if (f != NULL) CHECK(fclose(f) == 0);
}

/* Returns whether the certificate file at `path` admits the plug-in; if not, the reason must
 * contain `reason`. */
static int file_admits(const char *path, const char *reason) {
  const vt_plugin_candidate b = {plugin, 1, &content, "avx2", "foo \"1\"", declared};
  char why[VT_WHY_BYTES] = "";
  const int covers = vt_certificate_admits(path, &b, why);
  CHECK(covers || strstr(why, reason) != NULL);
  CHECK(!covers || why[0] == 0);
  if (strstr(why, reason) == NULL) fprintf(stderr, "  '%s', not '%s'\n", why, reason);
  return covers;
}

static void test_certificate_files(void) {
  static char large[20000];
  vt_text t;
  snprintf(folder, sizeof folder, "/tmp/volta-certificate-XXXXXX");
  if (mkdtemp(folder) == NULL) exit(77);
  snprintf(plugin, sizeof plugin, "%s/libfoo.so", folder);
  snprintf(default_path, sizeof default_path, "%s.1.certificate.json", plugin);
  print_certificate_with(0, NULL, &t);
  CHECK(!file_admits(NULL, "")); /* there is no certificate file, so no reason is given */
  CHECK(!file_admits("/nonexistent/c.json", "cannot be used: cannot open"));
  CHECK(!file_admits(folder, "cannot be used"));
  write_file(default_path, t.s, t.n);
  CHECK(file_admits(NULL, "") && file_admits(default_path, ""));
  t.s[t.n / 2] = (char)(t.s[t.n / 2] ^ 1);
  write_file(default_path, t.s, t.n);
  CHECK(!file_admits(NULL, "cannot be used"));
  write_file(default_path, large, sizeof large);
  CHECK(!file_admits(NULL, "cannot be used"));
  CHECK(unlink(default_path) == 0 && mkfifo(default_path, 0600) == 0);
  /* Opening this FIFO does not wait for a writer. */
  CHECK(!file_admits(default_path, "cannot be used"));
  CHECK(unlink(default_path) == 0 && rmdir(folder) == 0);
  vt_text_done(&t);
}

int main(void) {
  test_round_trip();
  test_every_byte_flipped();
  test_wrong_lengths();
  test_malformed_values();
  test_issued_for_another_device();
  test_other_isa();
  test_other_capabilities();
  test_certificate_files();
  TEST_DONE();
}
