/* SPDX-License-Identifier: Apache-2.0
 * refusal.c - why a backend is refused: where it parts from the reference, and what shows it. Bits
 * are compared and counted, never measured against a bound. */
#include <stdio.h>
#include <string.h>
#include "admission.h"
#include "diverge_parts.h"

/* ---- differences ---- */

vt_status vt_difference_find(vt_program *p, vt_program *right, vt_difference *out, vt_diag *d) {
  vt_program *const both[VT_SIDES] = {[VT_JUDGED] = p, [VT_RIGHT] = right};
  vt_tensor t[VT_SIDES];
  const char *name;
  vt_compare c;
  uint32_t output;
  VT_TRY(vt_diverge_pair_compare(both, &output, &c, d));
  *out = (vt_difference){0};
  if (output == vt_program_outputs(right)) return VT_OK;
  for (int i = 0; i < VT_SIDES; i++) VT_TRY(vt_program_output(both[i], output, &name, &t[i], d));
  vt_difference x = {.found = 1,
                     .dtype = t[VT_RIGHT].dtype,
                     .bits = c.first_a,
                     .expected = c.first_b,
                     .differing = c.differing,
                     .compared = c.compared};
  VT_TRY(vt_diverge_pair_distance(&t[VT_JUDGED], &t[VT_RIGHT], c.first, &x.distance, d));
  snprintf(x.output, sizeof x.output, "%s", name);
  vt_index_print(&t[VT_RIGHT], c.first, x.index);
  *out = x;
  return VT_OK;
}

/* ---- refusals ---- */

static const char *keep(vt_admission *a, const char *text) {
  const char *s = text == NULL ? "" : vt_arena_string(&a->arena, text, strlen(text));
  return s != NULL ? s : "";
}

static void take_seen(vt_admission *a, const vt_difference *x) {
  vt_refusal *r = &a->refusal;
  r->differs = 1;
  r->output = keep(a, x->output);
  r->index = keep(a, x->index);
  r->dtype = x->dtype;
  r->bits = x->bits;
  r->expected = x->expected;
  r->distance = x->distance;
  r->differing = x->differing;
  r->compared = x->compared;
}

static void take_divergence(vt_admission *a, const vt_divergence *x) {
  const vt_difference seen = {.dtype = x->dtype,
                              .bits = x->bits,
                              .expected = x->expected,
                              .distance = x->distance,
                              .differing = x->differing,
                              .compared = x->compared};
  take_seen(a, &seen);
  a->refusal.output = keep(a, x->output);
  a->refusal.index = keep(a, x->index);
  a->refusal.op = keep(a, x->op);
  a->refusal.signature = keep(a, x->signature);
  a->refusal.model = keep(a, x->model);
}

/* A verdict stands, whatever becomes of the folder. */
static vt_status take_written(vt_admission *a, vt_status s, const vt_diag *why, vt_diag *d) {
  if (s == VT_OK) a->refusal.folder = keep(a, a->o.reproducer);
  if (s != VT_OK && a->o.reproducer != NULL) a->refusal.unwritten = keep(a, why->text);
  return s == VT_NOMEM ? VT_FAIL(d, s, "%s", why->text) : VT_OK;
}

static vt_status write_down(vt_admission *a, const vt_divergence *x, vt_diag *d) {
  vt_text command;
  vt_diag why = {0};
  if (a->o.reproducer == NULL) return VT_OK;
  vt_text_init(&command, a->a);
  const vt_status s = vt_divergence_write(x, a->o.reproducer, a->backend, &command, &why);
  if (s == VT_OK) a->refusal.command = keep(a, command.s);
  vt_text_done(&command);
  return take_written(a, s, &why, d);
}

/* ---- what is seen once ---- */

/* "volta admit ./libfoo.so --short --jobs 1" */
static vt_status name_again(vt_admission *a, vt_diag *d) {
  vt_text t;
  vt_text_init(&t, a->a);
  vt_text_add(&t, "volta admit ");
  vt_text_word(&t, a->o.backend);
  if (a->o.brief) vt_text_add(&t, " --short");
  if (a->o.jobs != 0) vt_text_add(&t, " --jobs %u", a->o.jobs);
  const vt_status s = vt_text_status(&t);
  if (s == VT_OK) a->refusal.again = keep(a, t.s);
  vt_text_done(&t);
  return s == VT_OK ? VT_OK : VT_FAIL(d, s, "out of memory");
}

static vt_status write_seen(vt_admission *a, vt_divergence *x, vt_diag *d) {
  const vt_refusal *r = &a->refusal;
  const vt_sighting seen = {r->check, r->subject, r->reason, r->again};
  vt_diag why = {0};
  x->output = r->output;
  x->index = r->index;
  x->dtype = r->dtype;
  x->bits = r->bits;
  x->expected = r->expected;
  x->distance = r->distance;
  x->differing = r->differing;
  x->compared = r->compared;
  const vt_status s = vt_divergence_write_seen(x, &seen, a->o.reproducer, a->o.backend, &why);
  return take_written(a, s, &why, d);
}

/* Then what was seen stands, with the whole model. */
static vt_status show_seen(vt_admission *a, const vt_evidence *e, vt_diag *d) {
  vt_divergence x;
  vt_diag why = {0};
  if (e->seen != NULL && e->seen->found) take_seen(a, e->seen);
  a->refusal.op = keep(a, e->op);
  a->refusal.model = keep(a, vt_model_text(e->m));
  VT_TRY(name_again(a, d));
  vt_status s = vt_diverge_keep(e->m, e->how, e->give, e->user, &x, &why);
  if (s == VT_NAME) return VT_OK; /* nothing in it is run: its text says all */
  if (s != VT_OK) return take_written(a, s, &why, d);
  if (e->op == NULL || strcmp(x.op, e->op) == 0) {
    a->refusal.op = keep(a, x.op);
    a->refusal.signature = keep(a, x.signature);
  }
  if (a->o.reproducer != NULL) s = write_seen(a, &x, d);
  vt_divergence_done(&x);
  return s;
}

/* A fault that depends on what ran before need not show again. */
static vt_status show(vt_admission *a, const vt_evidence *e, vt_diag *d) {
  vt_divergence x;
  vt_diag why = {0};
  const vt_status s = vt_diverge_find(e->m, e->how, e->give, e->user, &x, &why);
  if (s == VT_NOMEM) return VT_FAIL(d, s, "%s", why.text);
  if (s != VT_OK) return show_seen(a, e, d);
  take_divergence(a, &x);
  const vt_status written = write_down(a, &x, d);
  vt_divergence_done(&x);
  return written;
}

vt_status vt_admission_refuse(vt_admission *a, const char *subject, const char *reason,
                              const vt_evidence *e, vt_diag *d) {
  if (a->refused) return VT_OK;
  a->refused = 1;
  a->refusal = (vt_refusal){.size = sizeof a->refusal,
                            .check = a->check,
                            .subject = keep(a, subject),
                            .reason = keep(a, reason),
                            .op = "",
                            .signature = "",
                            .output = "",
                            .index = "",
                            .model = "",
                            .command = "",
                            .unwritten = "",
                            .folder = "",
                            .again = ""};
  if (e != NULL) VT_TRY(show(a, e, d));
  return vt_arena_status(&a->arena) == VT_OK ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
}
