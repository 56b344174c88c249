/* SPDX-License-Identifier: Apache-2.0
 * admission_test.c - tests the verdicts on built-in backends, invalid requests, and running out of
 * memory. Faulty backends are plug-ins in tests/violations. */
#include <string.h>
#include "volta/volta_admit.h"
#include "vt_test.h"

static uint32_t number_of_check(const char *check) {
  uint32_t i = 0;
  while (i < vt_admission_checks() && strcmp(vt_admission_check(i), check) != 0) i++;
  CHECK(i < vt_admission_checks());
  return i;
}

/* The value of the option `skip` that skips every check but this one. */
static uint64_t skip_mask_for_all_but(const char *check) {
  return ~(UINT64_C(1) << number_of_check(check));
}

static void test_check_names_in_order(void) {
  static const char *const order[] = {"rules",   "capabilities", "suite", "repeat",  "spoilt",
                                      "threads", "order",        "mode",  "examples"};
  CHECK(vt_admission_checks() == sizeof order / sizeof *order);
  for (uint32_t i = 0; i < vt_admission_checks(); i++) {
    CHECK(strcmp(vt_admission_check(i), order[i]) == 0);
    CHECK(strlen(vt_admission_check_about(i)) > 20);
  }
  CHECK(vt_admission_check(vt_admission_checks()) == NULL);
  CHECK(vt_admission_check_about(vt_admission_checks()) == NULL);
}

static void test_invalid_requests_fail(void) {
  static const struct {
    const char *backend;
    vt_status want;
  } row[] = {{"nobody", VT_BACKEND},
             {"reference:9", VT_BACKEND},
             {"./nobody.so", VT_BACKEND},
             {NULL, VT_USAGE}};
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const vt_admit_options o = {.size = sizeof o, .brief = 1, .backend = row[i].backend};
    vt_admission *a = NULL;
    vt_diag d = {0};
    CHECK(vt_admit(&o, &a, &d) == row[i].want && a == NULL && d.text[0] != 0);
  }
}

/* ---- verdicts ---- */

typedef struct progress_record {
  char checks[400];
  uint64_t calls;
} progress_record;

static void record_progress(void *user, const char *check, uint64_t done, uint64_t total) {
  progress_record *h = user;
  const size_t n = strlen(h->checks);
  CHECK(done < total);
  h->calls++;
  if (n < strlen(check) || strcmp(h->checks + n - strlen(check), check) != 0)
    snprintf(h->checks + n, sizeof h->checks - n, " %s", check);
}

static void test_single_check_passes(void) {
  progress_record h = {0};
  const vt_admit_options o = {.size = sizeof o,
                              .brief = 1,
                              .backend = "island:1",
                              .skip = skip_mask_for_all_but("rules"),
                              .progress = record_progress,
                              .progress_user = &h};
  vt_admission *a = NULL;
  vt_admission_counts c = {.size = sizeof c};
  vt_refusal r = {.size = sizeof r};
  CHECK(vt_admit(&o, &a, NULL) == VT_OK);
  if (a == NULL) exit(1);
  CHECK(vt_admission_verdict(a) == VT_VERDICT_PASSED);
  CHECK(vt_admission_certificate(a) == NULL && vt_admission_refusal(a, &r) == VT_NAME);
  vt_admission_count(a, &c);
  CHECK(c.size == sizeof c && c.rules > 80 && c.cases == 0 && c.repeated == 0 && c.examples == 0);
  CHECK(strcmp(h.checks, " rules") == 0 && h.calls >= c.rules);
  vt_admission_free(a);
}

static void test_null_backend_is_refused(void) {
  const vt_admit_options o = {.size = sizeof o, .backend = "null"};
  vt_admission *a = NULL;
  vt_refusal r = {.size = sizeof r};
  CHECK(vt_admit(&o, &a, NULL) == VT_OK);
  if (a == NULL) exit(1);
  CHECK(vt_admission_verdict(a) == VT_VERDICT_REFUSED && vt_admission_certificate(a) == NULL);
  CHECK(vt_admission_refusal(a, &r) == VT_OK && r.size == sizeof r);
  CHECK(strcmp(r.reason, "it runs nothing that could be judged") == 0 && !r.differs);
  CHECK(strcmp(r.check, "suite") == 0 && r.op[0] == 0 && r.model[0] == 0 && r.command[0] == 0);
  vt_admission_free(a);
}

/* ---- memory ---- */

/* Each admission that runs out of memory returns VT_NOMEM, frees everything and has no verdict. */
static void test_admission_out_of_memory(void) {
  vt_fault fault = {0};
  const vt_alloc alloc = vt_fault_alloc(&fault);
  vt_admit_options o = {.size = sizeof o,
                        .brief = 1,
                        .backend = "reference",
                        .skip = skip_mask_for_all_but("rules"),
                        .jobs = 1,
                        .alloc = &alloc};
  for (long left = 1; left < 5000; left += 1 + left / 2) {
    vt_admission *a = NULL;
    vt_diag d = {0};
    fault = (vt_fault){.left = left};
    CHECK(vt_admit(&o, &a, &d) == VT_NOMEM && a == NULL && d.text[0] != 0 && fault.live == 0);
    if (fault.live != 0) fprintf(stderr, "  request %ld: %ld kept\n", left, fault.live);
  }
}

int main(void) {
  test_check_names_in_order();
  test_invalid_requests_fail();
  test_single_check_passes();
  test_null_backend_is_refused();
  test_admission_out_of_memory();
  TEST_DONE();
}
