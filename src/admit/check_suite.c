/* SPDX-License-Identifier: Apache-2.0
 * check_suite.c - runs cases of the conformance suite. The check suite requires that every case
 * passes and that each op the backend lists is in a case that it supports. This file also selects
 * the cases that other checks run again: it picks them from the candidates, the supported cases.
 * The short form of the suite is a smaller list of cases with every op. */
#include <stdio.h>
#include <string.h>
#include "admission.h"

/* Allocates the arrays with an entry per case, and lists the cases to run: all, or those of the
 * short form. */
static vt_status list_cases_to_run(vt_admission *a, vt_diag *d) {
  const uint32_t n = a->suite->n_cases;
  a->in_short = VT_NEW_N(&a->arena, uint8_t, n);
  a->cases = VT_NEW_N(&a->arena, uint32_t, n);
  a->selected = VT_NEW_N(&a->arena, uint32_t, n);
  a->declared = VT_NEW_N(&a->arena, uint8_t, n);
  a->words = vt_op_at(vt_op_total() - 1)->number / 64 + 1;
  a->step_ops = vt_arena_array(&a->arena, n, a->words * sizeof *a->step_ops);
  a->accepted_ops = vt_arena_array(&a->arena, (size_t)a->words * 64, sizeof *a->accepted_ops);
  if (vt_arena_status(&a->arena) != VT_OK) return VT_FAIL(d, VT_NOMEM, "out of memory");
  VT_TRY(vt_suite_choose_short(a->suite, a->in_short, d));
  for (uint32_t i = 0; i < n; i++)
    if (!a->o.brief || a->in_short[i]) a->cases[a->n_cases++] = i;
  return VT_OK;
}

vt_status vt_admission_load_suite(vt_admission *a, vt_diag *d) {
  if (a->suite != NULL) return VT_OK;
  VT_TRY(vt_suite_built_in(&a->a, &a->suite, d));
  return list_cases_to_run(a, d);
}

/* ---- running cases ---- */

/* Cases run in batches of this size; progress is reported and a failure ends the check after
 * each. */
enum { BATCH = 64 };

typedef struct batch {
  const vt_admission *a;
  const uint32_t *list; /* numbers of the batch's cases in the suite */
  vt_case_fn *run_case;
  vt_case_outcome *out; /* outcome of each case, by position in `list` */
} batch;

static void run_batch_job(void *context, uint64_t job) {
  const batch *p = context;
  p->out[job] = (vt_case_outcome){0};
  p->run_case(p->a, p->list[job], &p->out[job]);
}

static vt_status set_case_inputs(void *user, vt_program *p, vt_diag *d) {
  return vt_case_inputs_set(user, p, d);
}

static const char *failure_reason(const vt_case_outcome *x, char out[600]) {
  if (x->reason[0] != 0) {
    snprintf(out, 600, "%s", x->reason);
  } else if (x->r.outcome == VT_CASE_DIFFERS && x->r.status == VT_OK) {
    snprintf(out, 600, "it gives other bits than the reference");
  } else {
    snprintf(out, 600, "it fails: %s", x->r.text);
  }
  return out;
}

static vt_status refuse_case(vt_admission *a, uint32_t i, const vt_case_outcome *x, vt_diag *d) {
  const vt_options how = vt_admission_options(a, "bind,lower", x->threads);
  const char *name = a->suite->cases[i].name;
  char reason[600];
  vt_model *m = NULL;
  vt_case_inputs in = {0};
  VT_TRY(vt_case_open(a->suite, i, &a->a, &m, &in, d));
  const vt_evidence e = {m,   &how,     set_case_inputs,
                         &in, &x->seen, a->suite->cases[i].model->block->op->name};
  const vt_status s = vt_admission_refuse(a, name, failure_reason(x, reason), &e, d);
  vt_case_inputs_done(&in);
  vt_model_free(m);
  return s;
}

/* 1 if the outcome shows a fault of the backend. */
static int shows_fault_of_backend(const vt_case_outcome *x) {
  return x->r.outcome != VT_CASE_PASSED && x->r.outcome != VT_CASE_UNSUPPORTED;
}

/* Runs a case that failed again, with no other program open, so that the reported reason does not
 * depend on other programs. If it passes now, they caused the fault, and it is reported as one of
 * the check `order`. */
static void rerun_case_alone(vt_admission *a, batch *p, uint32_t job) {
  vt_case_outcome *x = &p->out[job];
  const vt_case_outcome among = *x;
  run_batch_job(p, job);
  if (shows_fault_of_backend(x)) return;
  *x = among;
  a->check = "order";
  if (among.r.outcome == VT_CASE_DIFFERS)
    snprintf(x->reason, sizeof x->reason,
             "while other programs are open it gives other bits than the reference");
}

/* Records whether the backend supports the case, counts it if it passed, and refuses the backend
 * for a fault. */
static vt_status record_outcome_of_case(vt_admission *a, uint32_t i, const vt_case_outcome *x,
                                        uint64_t *count, vt_diag *d) {
  if (x->r.outcome == VT_CASE_FAILED && x->r.status == VT_NOMEM)
    return VT_FAIL(d, VT_NOMEM, "%s: %.300s", a->suite->cases[i].name, x->r.text);
  a->declared[i] = x->r.outcome == VT_CASE_UNSUPPORTED ? VT_DECLARED_NO : VT_DECLARED_YES;
  *count += x->r.outcome == VT_CASE_PASSED;
  return shows_fault_of_backend(x) ? refuse_case(a, i, x, d) : VT_OK;
}

static vt_status run_batch(vt_admission *a, batch *p, uint32_t n, int at_once, uint64_t *count,
                           vt_diag *d) {
  for (uint32_t i = 0; !at_once && i < n; i++) run_batch_job(p, i);
  if (at_once) vt_pool_run(a->pool, n, run_batch_job, p);
  for (uint32_t i = 0; i < n && !a->refused; i++) {
    if (at_once && shows_fault_of_backend(&p->out[i])) rerun_case_alone(a, p, i);
    VT_TRY(record_outcome_of_case(a, p->list[i], &p->out[i], count, d));
  }
  return VT_OK;
}

vt_status vt_admission_run_cases(vt_admission *a, const uint32_t *list, uint32_t n, int at_once,
                                 vt_case_fn *run_case, uint64_t *count, vt_diag *d) {
  batch p = {a, list, run_case, vt_alloc_new(a->a, BATCH * sizeof *p.out)};
  vt_status s = p.out != NULL ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t at = 0; s == VT_OK && at < n && !a->refused; at += BATCH) {
    const uint32_t here = n - at < BATCH ? n - at : BATCH;
    vt_admission_report_progress(a, at, n);
    p.list = list + at;
    s = run_batch(a, &p, here, at_once, count, d);
  }
  vt_alloc_free(a->a, p.out, BATCH * sizeof *p.out);
  return s;
}

/* ---- the suite ---- */

/* 1 if any result of the node has elements. A node without elements tests nothing, so its op is not
 * marked as tested. */
static int has_elements(const vt_graph *g, const vt_node *n) {
  uint64_t total = 0, count = 0, bytes;
  for (uint32_t i = 0; i < n->n_out; i++)
    if (vt_type_size(&g->values[n->first_out + i].type, &count, &bytes, NULL) == VT_OK)
      total |= count;
  return total != 0;
}

/* Marks the ops of a program that the backend accepted. */
static void mark_accepted_ops(const vt_admission *a, const vt_graph *g) {
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    if (has_elements(g, n)) atomic_store_explicit(&a->accepted_ops[n->op], 1, memory_order_relaxed);
    for (uint32_t k = 0; k < n->n_body; k++) mark_accepted_ops(a, n->body[k]);
  }
}

/* Marks the ops that the plan has steps of. The nodes of views are not steps. */
static void mark_step_ops(const vt_plan *p, uint64_t *out) {
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *n = &p->g->nodes[p->step_node[i]];
    if (has_elements(p->g, n)) out[n->op / 64] |= UINT64_C(1) << (n->op % 64);
    for (uint32_t k = 0; k < p->nested[i].n; k++) mark_step_ops(p->nested[i].plan[k], out);
  }
}

static void mark_ops_of_case(const vt_admission *a, uint32_t i, const vt_program *p) {
  if (p == NULL) return;
  mark_accepted_ops(a, p->g);
  mark_step_ops(p->line.plan, a->step_ops + (size_t)i * a->words);
}

void vt_admission_find_difference(const vt_admission *a, const vt_model *m,
                                  const vt_case_inputs *in, vt_program *p, vt_difference *out) {
  const vt_options ours = {.size = sizeof ours, .backend = "reference:0", .alloc = &a->a};
  vt_program *q = NULL;
  vt_diag d = {0};
  vt_status s = vt_case_run_program(m, in, &ours, &q, &d);
  if (s == VT_OK) s = vt_difference_between_runs(p, q, out, &d);
  if (s != VT_OK) *out = (vt_difference){0};
  vt_program_free(q);
}

void vt_admission_run_case(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  const vt_options how = vt_admission_options(a, NULL, 0);
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_case_inputs in = {0};
  vt_diag d = {0};
  const vt_status s = vt_case_open(a->suite, i, &a->a, &m, &in, &d);
  if (s != VT_OK) vt_case_result_of_run(a->suite, i, NULL, s, &d, &out->r);
  if (s == VT_OK) vt_case_run_opened(a->suite, i, m, &in, &how, &p, &out->r);
  mark_ops_of_case(a, i, p);
  if (out->r.outcome == VT_CASE_DIFFERS && out->r.status == VT_OK)
    vt_admission_find_difference(a, m, &in, p, &out->seen);
  vt_program_free(p);
  vt_case_inputs_done(&in);
  vt_model_free(m);
}

/* ---- listed ops ---- */

/* Runs cases of the op that have not run, until the backend accepts one. */
static vt_status try_other_cases(vt_admission *a, const vt_op_info *op, vt_diag *d) {
  for (uint32_t i = 0; i < a->suite->n_cases && !a->accepted_ops[op->number] && !a->refused; i++)
    if (a->suite->cases[i].model->block->op == op && a->declared[i] == VT_DECLARED_UNKNOWN)
      VT_TRY(vt_admission_run_cases(a, &i, 1, 0, vt_admission_run_case, &a->counts.cases, d));
  return VT_OK;
}

static vt_status check_listed_op(vt_admission *a, const vt_op_info *op, vt_diag *d) {
  char reason[200];
  if (!a->accepted_ops[op->number]) VT_TRY(try_other_cases(a, op, d));
  if (a->accepted_ops[op->number] || a->refused) return VT_OK;
  snprintf(reason, sizeof reason, "it lists the op '%s' and refuses every case of it", op->name);
  return vt_admission_refuse(a, op->name, reason, NULL, d);
}

static vt_status check_listed_ops(vt_admission *a, vt_diag *d) {
  const vt_options how = vt_admission_options(a, NULL, 0);
  vt_device *dev = NULL;
  VT_TRY(vt_options_open_device(&how, a->a, &dev, d));
  vt_status s = VT_OK;
  for (uint32_t i = 0; i < vt_op_total() && s == VT_OK && !a->refused; i++)
    if (vt_device_lists_op(dev, vt_op_at(i)->number)) s = check_listed_op(a, vt_op_at(i), d);
  vt_device_close(dev);
  return s;
}

vt_status vt_check_suite(vt_admission *a, vt_diag *d) {
  VT_TRY(vt_admission_load_suite(a, d));
  VT_TRY(vt_admission_run_cases(a, a->cases, a->n_cases, 1, vt_admission_run_case, &a->counts.cases,
                                d));
  for (uint32_t i = 0; i < a->suite->n_cases; i++)
    a->counts.undeclared += a->declared[i] == VT_DECLARED_NO;
  return a->refused ? VT_OK : check_listed_ops(a, d);
}

/* ---- selecting cases for other checks ---- */

/* Plans a case without running it, to learn whether the backend supports it. This is needed if the
 * check `suite` was skipped. */
static void plan_case(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  vt_options how = vt_admission_options(a, "bind,lower", 0);
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {0};
  vt_status s = vt_case_model(a->suite, i, &a->a, &m, &d);
  if (s == VT_OK) s = vt_program_new_with_flags(m, &how, VT_PREPARE_UNTRIED, &p, &d);
  out->r.status = s;
  out->r.outcome = s == VT_UNSUPPORTED ? VT_CASE_UNSUPPORTED
                   : s == VT_OK        ? VT_CASE_PASSED
                                       : VT_CASE_FAILED;
  mark_ops_of_case(a, i, p);
  snprintf(out->r.text, sizeof out->r.text, "%s", d.text);
  vt_program_free(p);
  vt_model_free(m);
}

static vt_status plan_short_cases(vt_admission *a, vt_diag *d) {
  uint64_t ignored = 0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->suite->n_cases; i++)
    if (a->in_short[i] && a->declared[i] == VT_DECLARED_UNKNOWN) a->selected[n++] = i;
  return vt_admission_run_cases(a, a->selected, n, 1, plan_case, &ignored, d);
}

/* 1 for a supported case that is not picked yet and that is in the short form (`in_short` 1) or not
 * in it (`in_short` 0). */
static int is_candidate(const vt_admission *a, const uint8_t *picked, uint32_t i, int in_short) {
  return a->declared[i] == VT_DECLARED_YES && !picked[i] && (a->in_short[i] != 0) == in_short;
}

/* Picks about `most` candidates: every nth, and in the short form also the first of every op. The
 * distance n is odd: neighbouring names often alternate between two values of a variable, and an
 * even distance would always pick the same value. */
static uint32_t pick_every_nth(const vt_admission *a, uint8_t *picked, uint32_t most,
                               int in_short) {
  const vt_op_info *last = NULL;
  uint32_t total = 0, at = 0, n = 0;
  for (uint32_t i = 0; i < a->suite->n_cases; i++)
    total += is_candidate(a, picked, i, in_short) != 0;
  const uint32_t step = (most == 0 ? total : total / most) | 1;
  for (uint32_t i = 0; i < a->suite->n_cases; i++) {
    const vt_op_info *op = a->suite->cases[i].model->block->op;
    if (!is_candidate(a, picked, i, in_short)) continue;
    if (at++ % step == 0 || (in_short && op != last)) n += picked[i] = 1;
    last = op;
  }
  return n;
}

/* Adds the ops of the case's steps to `covered`; returns 1 if it did not have one of them yet. */
static int add_step_ops_to_covered(const vt_admission *a, uint32_t i, uint64_t *covered) {
  uint64_t more = 0;
  for (uint32_t k = 0; k < a->words; k++) {
    const uint64_t x = a->step_ops[(size_t)i * a->words + k];
    more |= x & ~covered[k];
    covered[k] |= x;
  }
  return more != 0;
}

/* Picks more cases, until every op that has a step in any supported case has one in a picked case.
 * Picking a case of each op is not enough, because its plan need not have a step of that op. */
static void pick_missing_ops(const vt_admission *a, uint8_t *picked, uint64_t *covered) {
  for (uint32_t i = 0; i < a->suite->n_cases; i++)
    if (picked[i]) (void)add_step_ops_to_covered(a, i, covered);
  for (uint32_t i = 0; i < a->suite->n_cases; i++)
    if (a->declared[i] == VT_DECLARED_YES && !picked[i] && add_step_ops_to_covered(a, i, covered))
      picked[i] = 1;
}

/* Picks from the short form first; if the backend supports too few cases of it, also from the
 * others. */
static vt_status pick_cases(vt_admission *a, vt_diag *d) {
  const uint32_t most = a->o.brief ? 500 : 2500;
  uint8_t *picked = VT_NEW_N(&a->arena, uint8_t, a->suite->n_cases);
  uint64_t *covered = VT_NEW_N(&a->arena, uint64_t, a->words);
  if (picked == NULL || covered == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  const uint32_t n = pick_every_nth(a, picked, most, 1);
  if (n < most) (void)pick_every_nth(a, picked, most - n, 0);
  pick_missing_ops(a, picked, covered);
  for (uint32_t i = 0; i < a->suite->n_cases; i++)
    if (picked[i]) a->selected[a->n_selected++] = i;
  return VT_OK;
}

vt_status vt_admission_select_cases(vt_admission *a, vt_diag *d) {
  if (a->n_selected != 0) return VT_OK;
  VT_TRY(vt_admission_load_suite(a, d));
  VT_TRY(plan_short_cases(a, d));
  return a->refused ? VT_OK : pick_cases(a, d);
}
