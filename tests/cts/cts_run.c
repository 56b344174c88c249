/* SPDX-License-Identifier: Apache-2.0
 * cts_run.c - runs one case in one lane. If its digest is wrong, the case also runs on the
 * reference, and the failure names the first output and element that differ. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "cts.h"

enum { MESSAGE_BYTES = 700 };

/* The message buffer is allocated with the first message, because few cases fail. */
void cts_outcome_fail(cts_outcome *out, const char *format, ...) {
  va_list ap;
  out->failed = 1;
  if (out->message == NULL) out->message = calloc(1, MESSAGE_BYTES);
  if (out->message == NULL) return;
  const size_t n = strlen(out->message);
  va_start(ap, format);
  vsnprintf(out->message + n, MESSAGE_BYTES - n, format, ap);
  va_end(ap);
}

/* ---- the first difference between two backends ---- */

static void report_differing_element(cts_outcome *out, const char *name, const char *backend,
                                     const vt_compare *c, const vt_tensor *t) {
  cts_outcome_fail(
      out, "output %s (%s): %llu of %llu elements differ; [%llu] is %0*llx, reference has %0*llx",
      name, backend, (unsigned long long)c->differing, (unsigned long long)c->compared,
      (unsigned long long)c->first, (int)vt_dtype_bytes(t->dtype) * 2,
      (unsigned long long)c->first_a, (int)vt_dtype_bytes(t->dtype) * 2,
      (unsigned long long)c->first_b);
}

/* Returns 1, and reports the first difference, if an output differs. */
static int find_differing_output(vt_program *p, vt_program *q, const char *backend,
                                 cts_outcome *out) {
  for (uint32_t i = 0; i < vt_program_outputs(q); i++) {
    vt_tensor a, b;
    const char *name;
    vt_compare c = {.size = sizeof c};
    vt_diag d = {0};
    if (vt_program_output(p, i, &name, &a, &d) != VT_OK ||
        vt_program_output(q, i, &name, &b, &d) != VT_OK ||
        vt_tensor_compare(&a, &b, &c, &d) != VT_OK) {
      cts_outcome_fail(out, "%s", d.text);
      return 1;
    }
    if (c.differing == 0) continue;
    report_differing_element(out, name, backend, &c, &a);
    return 1;
  }
  return 0;
}

/* Reports the first difference from reference:0, or from reference:1 if the lane is reference:0. */
static void explain_difference(const cts_trial *t, vt_program *p, const cts_lane *lane,
                               cts_outcome *out) {
  const char *reference = strcmp(lane->backend, "reference:0") == 0 ? "reference:1" : "reference:0";
  const cts_lane other = cts_lane_of(reference, NULL, 1);
  const vt_options how = cts_lane_options(&other);
  vt_diag d = {0};
  vt_program *q = NULL;
  if (vt_case_run_program(t->m, &t->in, &how, &q, &d) != VT_OK) {
    cts_outcome_fail(out, "%s: %s", reference, d.text);
  } else if (!find_differing_output(p, q, lane->name, out)) {
    cts_outcome_fail(out, "%s and %s agree: the stored digest is wrong", lane->name, reference);
  }
  vt_program_free(q);
}

/* ---- a case ---- */

/* Fails unless device 0 of the reference ran the op decomposed and device 1 ran it as one step.
 * Only then are they two implementations whose agreement means something. */
static void check_decomposed_only_on_device_0(const vt_case *c, const vt_program *p,
                                              const char *backend, cts_outcome *out) {
  const int whole = strcmp(backend, "reference:1") == 0;
  char call[64];
  if (c->gradient || c->model->block->op->prim || strncmp(backend, "reference:", 10) != 0) return;
  snprintf(call, sizeof call, " = %s(", c->model->block->op->name);
  if ((strstr(vt_program_pass_text(p, "lower"), call) != NULL) != whole)
    cts_outcome_fail(out, whole ? "the op was decomposed" : "the op was not decomposed");
}

static void check_result(const vt_case_result *r, const uint8_t *other, const cts_trial *t,
                         vt_program *p, const cts_lane *lane, cts_outcome *out) {
  const int differs = r->outcome == VT_CASE_DIFFERS ||
                      (other != NULL && memcmp(r->digest, other, sizeof r->digest) != 0);
  memcpy(out->digest, r->digest, sizeof out->digest);
  if (r->outcome == VT_CASE_FAILED || r->outcome == VT_CASE_UNSUPPORTED) {
    cts_outcome_fail(out, "%s [%s]", r->text, vt_status_name(r->status));
  } else if (!out->failed && differs && r->status == VT_OK) {
    explain_difference(t, p, lane, out);
  } else if (!out->failed && differs) {
    cts_outcome_fail(out, "%s", r->text[0] != 0 ? r->text : "the devices fail differently");
  }
}

int cts_trial_open(const vt_suite *s, uint32_t i, cts_trial *t, cts_outcome *out) {
  vt_diag d = {0};
  *t = (cts_trial){.suite = s, .i = i};
  const vt_status opened = vt_case_open(s, i, NULL, &t->m, &t->in, &d);
  if (opened == VT_OK) return 1;
  cts_outcome_fail(out, "%s", d.text);
  if (opened == VT_SYNTAX || opened == VT_VERIFY)
    cts_outcome_fail(out, "\n%s", s->cases[i].model->text);
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
  if (p != NULL && !lane->fused)
    check_decomposed_only_on_device_0(&t->suite->cases[t->i], p, lane->backend, out);
  check_result(&r, other, t, p, lane, out);
  vt_program_free(p);
}
