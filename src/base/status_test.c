/* SPDX-License-Identifier: Apache-2.0
 * status_test.c - the table of statuses is complete and consistent, and a diagnostic keeps the
 * first failure. */
#include "volta/volta_status.h"
#include <string.h>
#include "vt_test.h"

static void test_known_statuses(void) {
  CHECK(strcmp(vt_status_name(VT_OK), "ok") == 0);
  CHECK(strcmp(vt_status_name(VT_VERIFY), "verify") == 0);
  CHECK(strcmp(vt_status_name(VT_INTERRUPTED), "interrupted") == 0);
  CHECK(strcmp(vt_status_text(VT_VERIFY), "graph failed verification") == 0);
  CHECK(vt_status_exit(VT_OK) == 0 && vt_status_exit(VT_DIFFERS) == 1);
  CHECK(vt_status_exit(VT_IO) == 3 && vt_status_exit(VT_NOMEM) == 6);
  CHECK(vt_status_exit(VT_INTERNAL) == 70 && vt_status_exit(VT_INTERRUPTED) == 130);
}

static int is_lower(const char *s) {
  for (; *s != 0; s++)
    if (*s < 'a' || *s > 'z') return 0;
  return 1;
}

/* Every status is found by its name, with and without the prefix, and by its number. */
static void test_every_row_is_found(void) {
  int rows = 0;
  char name[40];
  for (int v = 0; v < 1000; v++) {
    const vt_status s = (vt_status)v;
    if (strcmp(vt_status_text(s), "unknown status") == 0) continue;
    rows++;
    CHECK(is_lower(vt_status_name(s)) && vt_status_name(s)[0] != 0);
    CHECK(vt_status_help(s)[0] != 0);
    CHECK(vt_status_find(vt_status_name(s)) == v);
    (void)snprintf(name, sizeof name, "VT_%s", vt_status_name(s));
    CHECK(vt_status_find(name) == v);
    (void)snprintf(name, sizeof name, "%d", v);
    CHECK(vt_status_find(name) == v);
  }
  CHECK(rows == VT_BUDGET + 1); /* the numbers have no gaps and end at VT_BUDGET */
}

static void test_unknown_statuses(void) {
  const vt_status none = (vt_status)4711;
  CHECK(strcmp(vt_status_text(none), "unknown status") == 0);
  CHECK(vt_status_name(none) != NULL && vt_status_help(none) != NULL);
  CHECK(vt_status_exit(none) == 70);
  const char *const wrong[] = {"",     "verif", "verifyy",    "VT_", "vt_vt_verify", "-1", "8x",
                               "4711", " 8",    "4294967304", "VT"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) CHECK(vt_status_find(wrong[i]) == -1);
  CHECK(vt_status_find(NULL) == -1);
  CHECK(vt_status_find("VERIFY") == VT_VERIFY && vt_status_find("vt_verify") == VT_VERIFY);
}

static void test_first_failure_wins(void) {
  vt_diag d = {0};
  const vt_status first = VT_FAIL(&d, VT_VERIFY, "%s has rank %d", "x", 3);
  const uint32_t line = d.at_line;
  CHECK(first == VT_VERIFY && d.code == VT_VERIFY);
  CHECK(strcmp(d.text, "x has rank 3") == 0);
  CHECK(strstr(d.at_file, "status_test.c") != NULL && line != 0);
  const vt_status second = VT_FAIL(&d, VT_INTERNAL, "second");
  CHECK(second == VT_INTERNAL && d.code == VT_VERIFY && d.at_line == line);
  CHECK(strcmp(d.text, "x has rank 3") == 0);
  CHECK(vt_fail_at(NULL, VT_IO, "f", 1, "%d", 1) == VT_IO);
}

/* A message that quotes a hostile file stays one line and within the buffer. */
static void test_text_is_one_bounded_line(void) {
  vt_diag d = {0};
  char longer[2000];
  memset(longer, 'x', sizeof longer - 1);
  longer[sizeof longer - 1] = 0;
  longer[1] = '\n', longer[2] = '\033';
  CHECK(VT_FAIL(&d, VT_SYNTAX, "%s", longer) == VT_SYNTAX);
  CHECK(strlen(d.text) == sizeof d.text - 1);
  CHECK(strncmp(d.text, "x  x", 4) == 0);
}

static vt_status return_by_vt_try(vt_status inner, int *reached) {
  *reached = 0;
  VT_TRY(inner);
  *reached = 1;
  return VT_OK;
}

static void test_vt_try_propagates_failure(void) {
  int reached;
  CHECK(return_by_vt_try(VT_LIMIT, &reached) == VT_LIMIT && !reached);
  CHECK(return_by_vt_try(VT_OK, &reached) == VT_OK && reached);
}

int main(void) {
  test_known_statuses();
  test_every_row_is_found();
  test_unknown_statuses();
  test_first_failure_wins();
  test_text_is_one_bounded_line();
  test_vt_try_propagates_failure();
  TEST_DONE();
}
