/* SPDX-License-Identifier: Apache-2.0
 * check_order.c - what ran before, and what else is open, must not matter: cases one after the
 * other upwards, downwards, and in pairs that are open at the same time. */
#include <stdio.h>
#include <string.h>
#include "admission.h"

static void run_after(const vt_admission *a, uint32_t i, const char *when, vt_case_outcome *out) {
  vt_admission_run(a, i, out);
  if (out->r.outcome == VT_CASE_DIFFERS)
    snprintf(out->reason, sizeof out->reason, "%s it gives other bits than the reference", when);
}

static void run_up(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  run_after(a, i, "one case after the other,", out);
}

static void run_down(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  run_after(a, i, "one case after the other in descending order,", out);
}

/* ---- two at once ---- */

typedef struct one {
  uint32_t i;
  vt_model *m;
  vt_case_inputs in;
  vt_program *p;
} one;

static void close_one(one *x) {
  vt_program_free(x->p);
  vt_case_inputs_done(&x->in);
  vt_model_free(x->m);
}

static void run_one(const vt_admission *a, one *x, vt_case_outcome *out) {
  const vt_options how = vt_admission_options(a, NULL, 0);
  vt_diag d = {0};
  if (x->p == NULL) {
    vt_case_try(a->suite, x->i, x->m, &x->in, &how, &x->p, &out->r);
  } else {
    const vt_status s = vt_program_run(x->p, &d);
    vt_case_verdict(a->suite, x->i, x->p, s, &d, &out->r);
  }
  if (out->r.outcome != VT_CASE_DIFFERS) return;
  snprintf(out->reason, sizeof out->reason,
           "while another program is open it gives other bits than the reference");
  if (out->r.status == VT_OK) vt_admission_look(a, x->m, &x->in, x->p, &out->seen);
}

/* The case that follows it in the selection is run in between: this one is asked again after it. */
static void run_beside(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  uint32_t at = 0;
  while (at + 1 < a->n_selected && a->selected[at] != i) at++;
  one x = {.i = i}, y = {.i = a->selected[(at + 1) % a->n_selected]};
  vt_diag d = {0};
  vt_case_outcome other = {0};
  vt_status s = vt_case_open(a->suite, x.i, &a->a, &x.m, &x.in, &d);
  if (s == VT_OK) s = vt_case_open(a->suite, y.i, &a->a, &y.m, &y.in, &d);
  if (s != VT_OK) vt_case_verdict(a->suite, i, NULL, s, &d, &out->r);
  if (s == VT_OK) run_one(a, &x, out);
  if (s == VT_OK && out->r.outcome == VT_CASE_PASSED) {
    run_one(a, &y, &other);
    run_one(a, &x, out);
  }
  close_one(&y);
  close_one(&x);
}

/* ---- all of it ---- */

static vt_status reversed(vt_admission *a, uint32_t **out, vt_diag *d) {
  uint32_t *list = VT_NEW_N(&a->arena, uint32_t, a->n_selected);
  if (list == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < a->n_selected; i++) list[i] = a->selected[a->n_selected - 1 - i];
  *out = list;
  return VT_OK;
}

vt_status vt_check_order(vt_admission *a, vt_diag *d) {
  uint64_t *count = &a->counts.reordered;
  uint32_t *down = NULL;
  VT_TRY(vt_admission_select(a, d));
  VT_TRY(reversed(a, &down, d));
  VT_TRY(vt_admission_cases(a, a->selected, a->n_selected, 0, run_up, count, d));
  if (!a->refused) VT_TRY(vt_admission_cases(a, down, a->n_selected, 0, run_down, count, d));
  if (a->refused) return VT_OK;
  return vt_admission_cases(a, a->selected, a->n_selected, 0, run_beside, count, d);
}
