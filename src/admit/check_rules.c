/* SPDX-License-Identifier: Apache-2.0
 * check_rules.c - the check rules: each rule of the numerics is tried on a small model, on the
 * backend and on the reference. It is the first check, so that a refusal names the broken rule. */
#include <stdio.h>
#include <string.h>
#include "admission.h"

typedef struct rule {
  const char *sentence; /* the rule in words; its hash also seeds the input values */
  int mix;              /* kind of input values, VT_MIX_* */
  const char *inputs;   /* declarations of the model's inputs */
  const char *y;        /* expression of the model's output */
} rule;

static const rule rules[] = {
#define VT_RULE(sentence, mix, inputs, y) {sentence, VT_MIX_##mix, inputs, y},
#include "rules.def"
#undef VT_RULE
};
enum { RULES = sizeof rules / sizeof *rules };

static vt_status set_rule_inputs(void *user, vt_program *p, vt_diag *d) {
  return vt_case_inputs_set(user, p, d);
}

/* Runs the model on the backend. If the backend does not support the model, *out stays NULL, which
 * is not a fault; any other failure refuses the backend. */
static vt_status run_rule_on_backend(vt_admission *a, const rule *r, const vt_evidence *e,
                                     vt_program **out, vt_diag *d) {
  char reason[600];
  vt_diag why = {0};
  vt_status s = vt_program_new_with_flags(e->m, e->how, VT_PREPARE_UNTRIED, out, &why);
  if (s == VT_UNSUPPORTED) return VT_OK;
  if (s == VT_OK) s = e->give(e->user, *out, &why);
  if (s == VT_OK) s = vt_program_run(*out, &why);
  if (s == VT_OK) return VT_OK;
  if (s == VT_NOMEM) return VT_FAIL(d, s, "%s: %.300s", r->sentence, why.text);
  snprintf(reason, sizeof reason, "it fails: %s", why.text);
  return vt_admission_refuse(a, r->sentence, reason, e, d);
}

static vt_status refuse_unless_as_reference(vt_admission *a, const rule *r, vt_evidence *e,
                                            vt_program *p, vt_diag *d) {
  const vt_options ours = {.size = sizeof ours, .backend = "reference:0", .alloc = &a->a};
  vt_difference x = {0};
  vt_program *q = NULL;
  vt_status s = vt_program_new_with_flags(e->m, &ours, VT_PREPARE_UNTRIED, &q, d);
  if (s == VT_OK) s = e->give(e->user, q, d);
  if (s == VT_OK) s = vt_program_run(q, d);
  if (s == VT_OK) s = vt_difference_between_runs(p, q, &x, d);
  vt_program_free(q);
  a->counts.rules += s == VT_OK;
  e->seen = &x;
  if (s != VT_OK || !x.found) return s;
  return vt_admission_refuse(a, r->sentence, "it gives other bits than the reference", e, d);
}

static vt_status try_rule_on_model(vt_admission *a, const rule *r, const vt_model *m, vt_diag *d) {
  const vt_options how = vt_admission_options(a, NULL, 0);
  vt_case_inputs in = {0};
  vt_program *p = NULL;
  VT_TRY(vt_case_inputs_init(m, &a->a, &in, d));
  vt_case_inputs_draw(&in, r->mix, vt_case_seed(r->sentence));
  vt_evidence e = {.m = m, .how = &how, .give = set_rule_inputs, .user = &in};
  vt_status s = run_rule_on_backend(a, r, &e, &p, d);
  if (s == VT_OK && p != NULL && !a->refused) s = refuse_unless_as_reference(a, r, &e, p, d);
  vt_program_free(p);
  vt_case_inputs_done(&in);
  return s;
}

static vt_status try_rule(vt_admission *a, const rule *r, vt_diag *d) {
  char text[500];
  vt_model *m = NULL;
  const int n =
      snprintf(text, sizeof text, "volta 1\nmodel rule {\n input %s\n output result = %s\n}\n",
               r->inputs, r->y);
  VT_TRY(vt_model_parse(text, (size_t)n, &a->a, &m, d));
  const vt_status s = try_rule_on_model(a, r, m, d);
  vt_model_free(m);
  return s;
}

vt_status vt_check_rules(vt_admission *a, vt_diag *d) {
  for (uint32_t i = 0; i < RULES && !a->refused; i++) {
    vt_admission_report_progress(a, i, RULES);
    VT_TRY(try_rule(a, &rules[i], d));
  }
  return VT_OK;
}
