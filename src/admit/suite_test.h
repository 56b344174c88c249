/* SPDX-License-Identifier: Apache-2.0
 * suite_test.h - helpers of the suite's tests: a temporary folder with a small suite in it. */
#ifndef VT_SUITE_TEST_H
#define VT_SUITE_TEST_H
#include <string.h>
#include <unistd.h>
#include "suite_build.h"
#include "vt_test.h"

static char folder[64];

static inline void make_test_folder(void) {
  (void)snprintf(folder, sizeof folder, "/tmp/volta-suite-XXXXXX");
  if (mkdtemp(folder) == NULL) exit(77);
}

static inline void path_in_folder(const char *name, char path[128]) {
  (void)snprintf(path, 128, "%s/%s", folder, name);
}

static inline void write_file_in_folder(const char *name, const void *bytes, size_t n) {
  char path[128];
  path_in_folder(name, path);
  FILE *f = fopen(path, "wb");
  CHECK(f != NULL && fwrite(bytes, 1, n, f) == n);
  if (f != NULL) CHECK(fclose(f) == 0);
}

static inline void write_text_in_folder(const char *name, const char *text) {
  write_file_in_folder(name, text, strlen(text));
}

static inline void remove_file_in_folder(const char *name) {
  char path[128];
  path_in_folder(name, path);
  (void)unlink(path);
}

/* Two case files: cases with variables, a gradient, and an index that may be out of range. */
static const char small_cases[] =
    "# comment\n"
    "case relu\n"
    "over T = f32 | f64\n"
    "over S & A = 3 & 1 | 0, 2 & 2   # a pair\n"
    "mix ordinary special few\n"
    "  input x: $T[$S]\n"
    "  output y = relu(x)\n"
    "grad x in 0.5..2\n"
    "end\n"
    "\n"
    "case gather lost\n"
    "mix ordinary\n"
    "expect range\n"
    "  input x: f32[2]\n"
    "  input i: i32[9] in 2..3\n"
    "  output y = gather(x, i)\n"
    "end\n";
static const char more_cases[] =
    "case add sizes\n"
    "over N = sizes\n"
    "mix special\n"
    "  input x: i32[$N]\n"
    "  output y = x + x\n"
    "end\n";
enum { SMALL_CASES = 2 * 2 * (3 + 2) + 1 + 15 };

static inline vt_suite *read_small_suite(int with_digests) {
  vt_suite *s = NULL;
  vt_diag d = {0};
  CHECK((with_digests ? vt_suite_read(folder, NULL, &s, &d)
                      : vt_suite_read_cases(folder, NULL, &s, &d)) == VT_OK);
  if (s != NULL) return s;
  fprintf(stderr, "%s\n", d.text);
  exit(1);
}

/* Writes both case files, and cts.digests with the digests that the reference gives. */
static inline void write_small_suite(void) {
  const vt_options how = {.size = sizeof how, .backend = "reference"};
  vt_text lines;
  write_text_in_folder("a.cts", small_cases);
  write_text_in_folder("b.cts", more_cases);
  vt_suite *s = read_small_suite(0);
  vt_text_init(&lines, vt_alloc_default());
  vt_text_add(&lines, "# stored\n");
  for (uint32_t i = 0; i < s->n_cases; i++) {
    vt_case_result r;
    vt_case_run(s, i, &how, &r);
    CHECK(r.outcome == VT_CASE_UNKNOWN && r.text[0] == 0);
    for (int k = 0; k < 8; k++) vt_text_add(&lines, "%02x", r.digest[k]);
    vt_text_add(&lines, " %s\n", s->cases[i].name);
  }
  write_file_in_folder("cts.digests", lines.s, lines.n);
  vt_text_done(&lines);
  vt_suite_free(s);
}

static inline void remove_test_folder(void) {
  remove_file_in_folder("a.cts");
  remove_file_in_folder("b.cts");
  remove_file_in_folder("cts.digests");
  CHECK(rmdir(folder) == 0);
}
#endif
