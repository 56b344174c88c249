/* SPDX-License-Identifier: Apache-2.0
 * cts_run.c - one case in one lane. A case that has the wrong digest is run on the reference too,
 * to show where they part. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cts.h"

enum { SAID = 700 };

/* Adds to what was said. Few cases fail, so few have a text. */
void cts_outcome_say(cts_outcome *out, const char *format, ...) {
  va_list ap;
  out->failed = 1;
  if (out->said == NULL) out->said = calloc(1, SAID);
  if (out->said == NULL) return;
  const size_t n = strlen(out->said);
  va_start(ap, format);
  vsnprintf(out->said + n, SAID - n, format, ap);
  va_end(ap);
}

/* ---- where two backends part ---- */

static void show_element(cts_outcome *out, const char *name, const char *backend,
                         const vt_compare *c, const vt_tensor *t) {
  cts_outcome_say(
      out, "output %s (%s): %llu of %llu elements differ; [%llu] is %0*llx, reference has %0*llx",
      name, backend, (unsigned long long)c->differing, (unsigned long long)c->compared,
      (unsigned long long)c->first, (int)vt_dtype_bytes(t->dtype) * 2,
      (unsigned long long)c->first_a, (int)vt_dtype_bytes(t->dtype) * 2,
      (unsigned long long)c->first_b);
}

/* 1 when an output differs. */
static int compare_outputs(vt_program *p, vt_program *q, const char *backend, cts_outcome *out) {
  for (uint32_t i = 0; i < vt_program_outputs(q); i++) {
    vt_tensor a, b;
    const char *name;
    vt_compare c = {.size = sizeof c};
    vt_diag d = {0};
    if (vt_program_output(p, i, &name, &a, &d) != VT_OK ||
        vt_program_output(q, i, &name, &b, &d) != VT_OK ||
        vt_tensor_compare(&a, &b, &c, &d) != VT_OK) {
      cts_outcome_say(out, "%s", d.text);
      return 1;
    }
    if (c.differing == 0) continue;
    show_element(out, name, backend, &c, &a);
    return 1;
  }
  return 0;
}

/* Beside the reference's other device when the reference itself is at fault. */
static void explain(const cts_trial *t, vt_program *p, const cts_lane *lane, cts_outcome *out) {
  const char *beside = strcmp(lane->backend, "reference:0") == 0 ? "reference:1" : "reference:0";
  const cts_lane other = cts_lane_of(beside, NULL, 1);
  const vt_options how = cts_lane_options(&other);
  vt_diag d = {0};
  vt_program *q = NULL;
  if (vt_case_run_program(t->m, &t->in, &how, &q, &d) != VT_OK) {
    cts_outcome_say(out, "%s: %s", beside, d.text);
  } else if (!compare_outputs(p, q, lane->name, out)) {
    cts_outcome_say(out, "%s and %s agree: what is stored is of something else", lane->name,
                    beside);
  }
  vt_program_free(q);
}

/* ---- a case ---- */

/* The two devices of the reference stand for two implementations only if each really runs its own:
 * device 0 takes compositions apart, device 1 keeps them. */
static void check_lowering(const vt_case *c, const vt_program *p, const char *backend,
                           cts_outcome *out) {
  const int whole = strcmp(backend, "reference:1") == 0;
  char call[64];
  if (c->gradient || c->model->block->op->prim || strncmp(backend, "reference:", 10) != 0) return;
  snprintf(call, sizeof call, " = %s(", c->model->block->op->name);
  if ((strstr(vt_program_pass_text(p, "lower"), call) != NULL) != whole)
    cts_outcome_say(out, whole ? "was taken apart" : "was not taken apart");
}

static void judge(const vt_case_result *r, const uint8_t *other, const cts_trial *t, vt_program *p,
                  const cts_lane *lane, cts_outcome *out) {
  const int apart = r->outcome == VT_CASE_DIFFERS ||
                    (other != NULL && memcmp(r->digest, other, sizeof r->digest) != 0);
  memcpy(out->digest, r->digest, sizeof out->digest);
  if (r->outcome == VT_CASE_FAILED || r->outcome == VT_CASE_UNSUPPORTED) {
    cts_outcome_say(out, "%s [%s]", r->text, vt_status_name(r->status));
  } else if (!out->failed && apart && r->status == VT_OK) {
    explain(t, p, lane, out);
  } else if (!out->failed && apart) {
    cts_outcome_say(out, "%s", r->text[0] != 0 ? r->text : "the devices fail differently");
  }
}

int cts_trial_open(const vt_suite *s, uint32_t i, cts_trial *t, cts_outcome *out) {
  vt_diag d = {0};
  *t = (cts_trial){.suite = s, .i = i};
  const vt_status opened = vt_case_open(s, i, NULL, &t->m, &t->in, &d);
  if (opened == VT_OK) return 1;
  cts_outcome_say(out, "%s", d.text);
  if (opened == VT_SYNTAX || opened == VT_VERIFY)
    cts_outcome_say(out, "\n%s", s->cases[i].model->text);
  return 0;
}

void cts_trial_close(cts_trial *t) {
  vt_case_inputs_done(&t->in);
  vt_model_free(t->m);
}

void cts_trial_run(const cts_trial *t, const cts_lane *lane, const uint8_t *other,
                   cts_outcome *out) {
  const vt_options how = cts_lane_options(lane);
  vt_program *p = NULL;
  vt_case_result r;
  vt_case_run_opened(t->suite, t->i, t->m, &t->in, &how, &p, &r);
  if (p != NULL && !lane->fused) check_lowering(&t->suite->cases[t->i], p, lane->backend, out);
  judge(&r, other, t, p, lane, out);
  vt_program_free(p);
}
