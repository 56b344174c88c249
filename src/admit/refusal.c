/* SPDX-License-Identifier: Apache-2.0
 * refusal.c - describes why a backend is refused: the first diverging op, the difference, and a
 * reproducer. Bits are compared and counted, never measured against a tolerance. */
#include <stdio.h>
#include <string.h>
#include "admission.h"
#include "diverge_search.h"

/* ---- differences ---- */

vt_status vt_difference_between_runs(vt_program *tested, vt_program *reference, vt_difference *out,
                                     vt_diag *d) {
  vt_program *const both[VT_SIDES] = {[VT_TESTED] = tested, [VT_REFERENCE] = reference};
  vt_tensor t[VT_SIDES];
  const char *name;
  vt_compare c;
  uint32_t output;
  VT_TRY(vt_diverge_pair_compare(both, &output, &c, d));
  *out = (vt_difference){0};
  if (output == vt_program_outputs(reference)) return VT_OK;
  for (int i = 0; i < VT_SIDES; i++) VT_TRY(vt_program_output(both[i], output, &name, &t[i], d));
  vt_difference x = {.found = 1,
                     .dtype = t[VT_REFERENCE].dtype,
                     .bits = c.first_a,
                     .expected = c.first_b,
                     .differing = c.differing,
                     .compared = c.compared};
  VT_TRY(vt_diverge_element_distance(&t[VT_TESTED], &t[VT_REFERENCE], c.first, &x.distance, d));
  snprintf(x.output, sizeof x.output, "%s", name);
  vt_position_print(&t[VT_REFERENCE], c.first, x.index);
  *out = x;
  return VT_OK;
}

/* ---- refusals ---- */

static const char *copy_text_to_arena(vt_admission *a, const char *text) {
  const char *s = text == NULL ? "" : vt_arena_string(&a->arena, text, strlen(text));
  return s != NULL ? s : "";
}

static void set_refusal_difference(vt_admission *a, const vt_difference *x) {
  vt_refusal *r = &a->refusal;
  r->differs = 1;
  r->output = copy_text_to_arena(a, x->output);
  r->index = copy_text_to_arena(a, x->index);
  r->dtype = x->dtype;
  r->bits = x->bits;
  r->expected = x->expected;
  r->distance = x->distance;
  r->differing = x->differing;
  r->compared = x->compared;
}

static void set_refusal_divergence(vt_admission *a, const vt_divergence *x) {
  const vt_difference seen = {.dtype = x->dtype,
                              .bits = x->bits,
                              .expected = x->expected,
                              .distance = x->distance,
                              .differing = x->differing,
                              .compared = x->compared};
  set_refusal_difference(a, &seen);
  a->refusal.output = copy_text_to_arena(a, x->output);
  a->refusal.index = copy_text_to_arena(a, x->index);
  a->refusal.op = copy_text_to_arena(a, x->op);
  a->refusal.signature = copy_text_to_arena(a, x->signature);
  a->refusal.model = copy_text_to_arena(a, x->model);
}

/* Records whether the reproducer's folder was written. A failed write does not change the verdict;
 * only VT_NOMEM is an error. */
static vt_status record_folder_status(vt_admission *a, vt_status s, const vt_diag *why,
                                      vt_diag *d) {
  if (s == VT_OK) a->refusal.folder = copy_text_to_arena(a, a->o.reproducer);
  if (s != VT_OK && a->o.reproducer != NULL)
    a->refusal.unwritten = copy_text_to_arena(a, why->text);
  return s == VT_NOMEM ? VT_FAIL(d, s, "%s", why->text) : VT_OK;
}

static vt_status write_reproducer(vt_admission *a, const vt_divergence *x, vt_diag *d) {
  vt_text command;
  vt_diag why = {0};
  if (a->o.reproducer == NULL) return VT_OK;
  vt_text_init(&command, a->a);
  const vt_status s = vt_divergence_write(x, a->o.reproducer, a->backend, &command, &why);
  if (s == VT_OK) a->refusal.command = copy_text_to_arena(a, command.s);
  vt_text_done(&command);
  return record_folder_status(a, s, &why, d);
}

/* ---- faults that do not show again ---- */

/* Sets the command that repeats the admission: "volta admit ./libfoo.so --short --jobs 1". */
static vt_status set_repeat_command(vt_admission *a, vt_diag *d) {
  vt_text t;
  vt_text_init(&t, a->a);
  vt_text_add(&t, "volta admit ");
  vt_text_add_shell_word(&t, a->o.backend);
  if (a->o.brief) vt_text_add(&t, " --short");
  if (a->o.jobs != 0) vt_text_add(&t, " --jobs %u", a->o.jobs);
  const vt_status s = vt_text_status(&t);
  if (s == VT_OK) a->refusal.again = copy_text_to_arena(a, t.s);
  vt_text_done(&t);
  return s == VT_OK ? VT_OK : VT_FAIL(d, s, "out of memory");
}

static vt_status write_report_folder(vt_admission *a, vt_divergence *x, vt_diag *d) {
  const vt_refusal *r = &a->refusal;
  const vt_fault_report seen = {r->check, r->subject, r->reason, r->again};
  vt_diag why = {0};
  x->output = r->output;
  x->index = r->index;
  x->dtype = r->dtype;
  x->bits = r->bits;
  x->expected = r->expected;
  x->distance = r->distance;
  x->differing = r->differing;
  x->compared = r->compared;
  const vt_status s = vt_divergence_write_report(x, &seen, a->o.reproducer, a->o.backend, &why);
  return record_folder_status(a, s, &why, d);
}

/* Reports a fault that does not show again: the difference that was observed, with the whole
 * model. */
static vt_status report_observed_fault(vt_admission *a, const vt_evidence *e, vt_diag *d) {
  vt_divergence x;
  vt_diag why = {0};
  if (e->seen != NULL && e->seen->found) set_refusal_difference(a, e->seen);
  a->refusal.op = copy_text_to_arena(a, e->op);
  a->refusal.model = copy_text_to_arena(a, vt_model_text(e->m));
  VT_TRY(set_repeat_command(a, d));
  vt_status s = vt_diverge_whole_model(e->m, e->how, e->give, e->user, &x, &why);
  if (s == VT_NAME) return VT_OK; /* the model has no node to run */
  if (s != VT_OK) return record_folder_status(a, s, &why, d);
  if (e->op == NULL || strcmp(x.op, e->op) == 0) {
    a->refusal.op = copy_text_to_arena(a, x.op);
    a->refusal.signature = copy_text_to_arena(a, x.signature);
  }
  if (a->o.reproducer != NULL) s = write_report_folder(a, &x, d);
  vt_divergence_done(&x);
  return s;
}

/* Finds the divergence and writes its reproducer. If the fault does not show again, for instance
 * because it depends on earlier runs, the observed difference is reported instead. */
static vt_status find_and_report_divergence(vt_admission *a, const vt_evidence *e, vt_diag *d) {
  vt_divergence x;
  vt_diag why = {0};
  const vt_status s = vt_diverge_find(e->m, e->how, e->give, e->user, &x, &why);
  if (s == VT_NOMEM) return VT_FAIL(d, s, "%s", why.text);
  if (s != VT_OK) return report_observed_fault(a, e, d);
  set_refusal_divergence(a, &x);
  const vt_status written = write_reproducer(a, &x, d);
  vt_divergence_done(&x);
  return written;
}

vt_status vt_admission_refuse(vt_admission *a, const char *subject, const char *reason,
                              const vt_evidence *e, vt_diag *d) {
  if (a->refused) return VT_OK;
  a->refused = 1;
  a->refusal = (vt_refusal){.size = sizeof a->refusal,
                            .check = a->check,
                            .subject = copy_text_to_arena(a, subject),
                            .reason = copy_text_to_arena(a, reason),
                            .op = "",
                            .signature = "",
                            .output = "",
                            .index = "",
                            .model = "",
                            .command = "",
                            .unwritten = "",
                            .folder = "",
                            .again = ""};
  if (e != NULL) VT_TRY(find_and_report_divergence(a, e, d));
  return vt_arena_status(&a->arena) == VT_OK ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}
