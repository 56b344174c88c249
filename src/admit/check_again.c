/* SPDX-License-Identifier: Apache-2.0
 * check_again.c - the checks repeat, spoilt, threads and mode: they run cases again, with poisoned
 * memory, with other numbers of threads, and while watching the floating-point mode. Each run of a
 * case is a round, and its bits must be those of the suite. */
#include <stdio.h>
#include <string.h>
#include "admission.h"

/* ---- one case, several rounds ---- */

/* A way to run a case several times. */
typedef struct variation {
  uint32_t rounds; /* number of runs */
  /* By round: the number of threads, with a new program each; NULL: one program for all rounds. */
  const uint32_t *threads;
  vt_status (*before)(vt_program *p, uint32_t round, vt_diag *d); /* called before a run, or NULL */
  /* Prints a reason for the refusal, if the bits of this round differ. */
  void (*describe)(uint32_t round, char *out, size_t capacity);
} variation;

typedef struct open_case {
  vt_model *m;
  vt_case_inputs in;
  vt_program *p;
} open_case;

static vt_status run_round(const vt_admission *a, const variation *w, uint32_t round, open_case *t,
                           vt_diag *d) {
  const vt_options how =
      vt_admission_options(a, "bind,lower", w->threads != NULL ? w->threads[round] : 0);
  if (w->threads != NULL) {
    vt_program_free(t->p);
    t->p = NULL;
  }
  if (t->p == NULL) {
    VT_TRY(vt_program_new_with_flags(t->m, &how, VT_PREPARE_UNTRIED, &t->p, d));
    VT_TRY(vt_case_inputs_set(&t->in, t->p, d));
  }
  if (w->before != NULL) VT_TRY(w->before(t->p, round, d));
  return vt_program_run(t->p, d);
}

static void run_rounds_of_case(const vt_admission *a, uint32_t i, const variation *w,
                               vt_case_outcome *out) {
  open_case t = {0};
  vt_diag d = {0};
  vt_status s = vt_case_open(a->suite, i, &a->a, &t.m, &t.in, &d);
  if (s != VT_OK) vt_case_result_of_run(a->suite, i, NULL, s, &d, &out->r);
  for (uint32_t round = 0; s == VT_OK && round < w->rounds; round++) {
    d = (vt_diag){0};
    const vt_status ran = run_round(a, w, round, &t, &d);
    vt_case_result_of_run(a->suite, i, t.p, ran, &d, &out->r);
    if (out->r.outcome == VT_CASE_PASSED) continue;
    if (w->threads != NULL) out->threads = w->threads[round];
    if (out->r.outcome == VT_CASE_DIFFERS) {
      w->describe(round, out->reason, sizeof out->reason);
      if (ran == VT_OK) vt_admission_find_difference(a, t.m, &t.in, t.p, &out->seen);
    }
    break;
  }
  vt_program_free(t.p);
  vt_case_inputs_done(&t.in);
  vt_model_free(t.m);
}

static vt_status run_selected_cases(vt_admission *a, vt_case_fn *run_case, uint64_t *count,
                                    vt_diag *d) {
  VT_TRY(vt_admission_select_cases(a, d));
  return vt_admission_run_cases(a, a->selected, a->n_selected, 1, run_case, count, d);
}

/* ---- run again ---- */

static void describe_repeat(uint32_t round, char *out, size_t capacity) {
  snprintf(out, capacity, "run number %u of one program gives other bits than the reference",
           round + 1);
}

static void run_case_repeatedly(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  const variation w = {.rounds = 3, .describe = describe_repeat};
  run_rounds_of_case(a, i, &w, out);
}

vt_status vt_check_repeat(vt_admission *a, vt_diag *d) {
  return run_selected_cases(a, run_case_repeatedly, &a->counts.repeated, d);
}

/* ---- poisoned memory ---- */

/* 0xff is NaN and -1; 0x5a is an ordinary number; 0x00 is what fresh memory may contain. */
static const uint8_t pattern[] = {0xff, 0x5a, 0x00};
enum { PATTERNS = sizeof pattern };

static vt_status poison_memory(vt_program *p, uint32_t round, vt_diag *d) {
  return vt_exec_poison(p->line.exec, pattern[round], d);
}

static void describe_poison(uint32_t round, char *out, size_t capacity) {
  snprintf(
      out, capacity,
      "it reads memory that it did not write: with bytes of %02x there before the run it gives "
      "other bits than the reference",
      pattern[round]);
}

static void run_case_poisoned(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  const variation w = {.rounds = PATTERNS, .before = poison_memory, .describe = describe_poison};
  run_rounds_of_case(a, i, &w, out);
}

vt_status vt_check_spoilt(vt_admission *a, vt_diag *d) {
  return run_selected_cases(a, run_case_poisoned, &a->counts.spoilt, d);
}

/* ---- threads ---- */

static const uint32_t threads[] = {1, 2, 3, 7};
enum { THREADS = sizeof threads / sizeof *threads };

static void describe_threads(uint32_t round, char *out, size_t capacity) {
  snprintf(out, capacity, "with %u thread%s it gives other bits than the reference", threads[round],
           threads[round] == 1 ? "" : "s");
}

static void run_case_with_threads(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  const variation w = {.rounds = THREADS, .threads = threads, .describe = describe_threads};
  run_rounds_of_case(a, i, &w, out);
}

vt_status vt_check_threads(vt_admission *a, vt_diag *d) {
  return run_selected_cases(a, run_case_with_threads, &a->counts.threaded, d);
}

/* ---- the floating-point mode ---- */

static void run_case_checking_mode(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  const uint64_t before = vt_gate_count_mode_changes();
  vt_admission_run_case(a, i, out);
  if (vt_gate_count_mode_changes() == before || out->r.outcome != VT_CASE_PASSED) return;
  out->r.outcome = VT_CASE_FAILED;
  snprintf(out->reason, sizeof out->reason,
           "it leaves the floating-point mode of the host changed");
}

vt_status vt_check_mode(vt_admission *a, vt_diag *d) {
  uint64_t watched = 0;
  return run_selected_cases(a, run_case_checking_mode, &watched, d);
}
