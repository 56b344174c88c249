/* SPDX-License-Identifier: Apache-2.0
 * verb_doctor.c - volta doctor and volta --version: print facts about this build and machine. */
#include <string.h>
#include "cli_json.h"

enum { VALUE_SIZE = 512 };

static const char *fact_value(uint32_t i, char buffer[VALUE_SIZE]) {
  const char *value = vt_doctor_value(i, buffer, VALUE_SIZE);
  return value != NULL ? value : "";
}

static int is_failed_check(const char *key, const char *value) {
  return strncmp(key, "check.", 6) == 0 && strncmp(value, "FAILED", 6) == 0;
}

typedef struct failures {
  /* Number of failed checks; 1 if the check of the chosen backend failed, which may only mean
   * that VOLTA_BACKEND is wrong. */
  int all, choice;
} failures;

static failures print_or_collect_facts(json_t *facts) {
  failures f = {0};
  const char *key;
  for (uint32_t i = 0; (key = vt_doctor_key(i)) != NULL; i++) {
    char buffer[VALUE_SIZE], plain[4 * VALUE_SIZE];
    const char *value = fact_value(i, buffer);
    f.all += is_failed_check(key, value);
    f.choice += is_failed_check(key, value) && strcmp(key, "check.backend") == 0;
    if (facts != NULL) cli_json_set(facts, key, cli_json_text(value));
    if (facts == NULL) cli_print("%-30s  %s\n", key, cli_escape_text(value, plain, sizeof plain));
  }
  return f;
}

vt_status verb_doctor(const cli_args *a, cli_error *e) {
  const int as_json = cli_flag_value(a, "json") != NULL;
  json_t *facts = as_json ? json_object() : NULL;
  const failures f = print_or_collect_facts(facts);
  if (as_json) VT_TRY(cli_json_print(json_pack("{s:b, s:o}", "ok", f.all == 0, "facts", facts), e));
  if (f.all == 0) return VT_OK;
  const vt_status s =
      VT_FAIL(&e->diag, VT_DIFFERS, "%d check%s failed", f.all, f.all == 1 ? "" : "s");
  cli_set_hint(e, f.all == f.choice ? "`volta backends` lists what VOLTA_BACKEND may choose"
                                    : "do not trust results of this build on this machine");
  return s;
}

static void print_fact(const char *label, const char *wanted_key) {
  const char *key;
  for (uint32_t i = 0; (key = vt_doctor_key(i)) != NULL; i++) {
    char buffer[VALUE_SIZE];
    if (strcmp(key, wanted_key) == 0) cli_print("%s %s\n", label, fact_value(i, buffer));
  }
}

vt_status cli_print_version(cli_error *e) {
  cli_print("volta %s\nnumerics %u\n", vt_version(), VT_NUMERICS_VERSION);
  print_fact("isa", "cpu");
  cli_print("backends");
  for (uint32_t i = 0; i < vt_backend_count(); i++) {
    vt_backend_row r = {.size = sizeof r};
    VT_TRY(vt_backend_row_at(i, &r, &e->diag));
    if (r.available) cli_print(" %s", r.name);
  }
  cli_print("\n");
  return VT_OK;
}
