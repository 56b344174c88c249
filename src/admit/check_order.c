/* SPDX-License-Identifier: Apache-2.0
 * check_order.c - the check order: results must not depend on programs that ran before or are open
 * at the same time. Cases run in ascending order, in descending order, and in pairs that are open
 * at the same time. */
#include <stdio.h>
#include <string.h>
#include "admission.h"

static void run_case_naming_order(const vt_admission *a, uint32_t i, const char *order,
                                  vt_case_outcome *out) {
  vt_admission_run_case(a, i, out);
  if (out->r.outcome == VT_CASE_DIFFERS)
    snprintf(out->reason, sizeof out->reason, "%s it gives other bits than the reference", order);
}

static void run_case_ascending(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  run_case_naming_order(a, i, "one case after the other,", out);
}

static void run_case_descending(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  run_case_naming_order(a, i, "one case after the other in descending order,", out);
}

/* ---- two programs open at the same time ---- */

typedef struct open_case {
  uint32_t i;
  vt_model *m;
  vt_case_inputs in;
  vt_program *p;
} open_case;

static void close_case(open_case *x) {
  vt_program_free(x->p);
  vt_case_inputs_done(&x->in);
  vt_model_free(x->m);
}

static void run_open_case(const vt_admission *a, open_case *x, vt_case_outcome *out) {
  const vt_options how = vt_admission_options(a, NULL, 0);
  vt_diag d = {0};
  if (x->p == NULL) {
    vt_case_run_opened(a->suite, x->i, x->m, &x->in, &how, &x->p, &out->r);
  } else {
    const vt_status s = vt_program_run(x->p, &d);
    vt_case_result_of_run(a->suite, x->i, x->p, s, &d, &out->r);
  }
  if (out->r.outcome != VT_CASE_DIFFERS) return;
  snprintf(out->reason, sizeof out->reason,
           "while another program is open it gives other bits than the reference");
  if (out->r.status == VT_OK) vt_admission_find_difference(a, x->m, &x->in, x->p, &out->seen);
}

/* Runs case `i`, then the next selected case, then case `i` again, while both are open. */
static void run_case_interleaved(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  uint32_t at = 0;
  while (at + 1 < a->n_selected && a->selected[at] != i) at++;
  open_case x = {.i = i}, y = {.i = a->selected[(at + 1) % a->n_selected]};
  vt_diag d = {0};
  vt_case_outcome other = {0};
  vt_status s = vt_case_open(a->suite, x.i, &a->a, &x.m, &x.in, &d);
  if (s == VT_OK) s = vt_case_open(a->suite, y.i, &a->a, &y.m, &y.in, &d);
  if (s != VT_OK) vt_case_result_of_run(a->suite, i, NULL, s, &d, &out->r);
  if (s == VT_OK) run_open_case(a, &x, out);
  if (s == VT_OK && out->r.outcome == VT_CASE_PASSED) {
    run_open_case(a, &y, &other);
    run_open_case(a, &x, out);
  }
  close_case(&y);
  close_case(&x);
}

/* ---- the check ---- */

vt_status vt_check_order(vt_admission *a, vt_diag *d) {
  uint64_t *count = &a->counts.reordered;
  VT_TRY(vt_admission_select_cases(a, d));
  uint32_t *down = VT_NEW_N(&a->arena, uint32_t, a->n_selected);
  if (down == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t i = 0; i < a->n_selected; i++) down[i] = a->selected[a->n_selected - 1 - i];
  VT_TRY(vt_admission_run_cases(a, a->selected, a->n_selected, 0, run_case_ascending, count, d));
  if (!a->refused)
    VT_TRY(vt_admission_run_cases(a, down, a->n_selected, 0, run_case_descending, count, d));
  if (a->refused) return VT_OK;
  return vt_admission_run_cases(a, a->selected, a->n_selected, 0, run_case_interleaved, count, d);
}
