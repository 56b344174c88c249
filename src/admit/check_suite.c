/* SPDX-License-Identifier: Apache-2.0
 * check_suite.c - the cases of the conformance suite: how they are gone through, what the backend
 * makes of each, and whether it stands by the ops that it lists. */
#include <stdio.h>
#include <string.h>
#include "admission.h"

/* All cases, or the short choice among them. */
static vt_status choose_cases(vt_admission *a, vt_diag *d) {
  const uint32_t n = a->suite->n_cases;
  a->few = VT_NEW_N(&a->arena, uint8_t, n);
  a->cases = VT_NEW_N(&a->arena, uint32_t, n);
  a->selected = VT_NEW_N(&a->arena, uint32_t, n);
  a->declared = VT_NEW_N(&a->arena, uint8_t, n);
  a->words = vt_op_at(vt_op_total() - 1)->number / 64 + 1;
  a->steps = vt_arena_array(&a->arena, n, a->words * sizeof *a->steps);
  a->taken = vt_arena_array(&a->arena, (size_t)a->words * 64, sizeof *a->taken);
  if (vt_arena_status(&a->arena) != VT_OK) return VT_FAIL(d, VT_NOMEM, "out of memory");
  VT_TRY(vt_suite_choose_short(a->suite, a->few, d));
  for (uint32_t i = 0; i < n; i++)
    if (!a->o.brief || a->few[i]) a->cases[a->n_cases++] = i;
  return VT_OK;
}

vt_status vt_admission_suite(vt_admission *a, vt_diag *d) {
  if (a->suite != NULL) return VT_OK;
  VT_TRY(vt_suite_built_in(&a->a, &a->suite, d));
  return choose_cases(a, d);
}

/* ---- going through cases ---- */

/* So many are run before progress is reported, and before a failure ends the check. */
enum { PIECE = 64 };

typedef struct piece {
  const vt_admission *a;
  const uint32_t *list;
  vt_case_fn *way;
  vt_case_outcome *out;
} piece;

static void run_job(void *context, uint64_t job) {
  const piece *p = context;
  p->out[job] = (vt_case_outcome){0};
  p->way(p->a, p->list[job], &p->out[job]);
}

static vt_status give_case(void *user, vt_program *p, vt_diag *d) {
  return vt_case_inputs_give(user, p, d);
}

static const char *reason_of(const vt_case_outcome *x, char out[600]) {
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
  const vt_evidence e = {m,   &how,     give_case,
                         &in, &x->seen, a->suite->cases[i].model->block->op->name};
  const vt_status s = vt_admission_refuse(a, name, reason_of(x, reason), &e, d);
  vt_case_inputs_done(&in);
  vt_model_free(m);
  return s;
}

/* 1 for one that ends the check. Memory that is out is no fault of the backend. */
static int is_fault(const vt_case_outcome *x) {
  return x->r.outcome != VT_CASE_PASSED && x->r.outcome != VT_CASE_UNSUPPORTED;
}

/* What fails among others is run again alone, so that it is named for the same whatever else runs.
 * What is right alone is wrong because of the others. */
static void run_alone(vt_admission *a, piece *p, uint32_t job) {
  vt_case_outcome *x = &p->out[job];
  const vt_case_outcome among = *x;
  run_job(p, job);
  if (is_fault(x)) return;
  *x = among;
  a->check = "order";
  if (among.r.outcome == VT_CASE_DIFFERS)
    snprintf(x->reason, sizeof x->reason,
             "while other programs are open it gives other bits than the reference");
}

static vt_status take_outcome(vt_admission *a, uint32_t i, const vt_case_outcome *x,
                              uint64_t *count, vt_diag *d) {
  if (x->r.outcome == VT_CASE_FAILED && x->r.status == VT_NOMEM)
    return VT_FAIL(d, VT_NOMEM, "%s: %.300s", a->suite->cases[i].name, x->r.text);
  a->declared[i] = x->r.outcome == VT_CASE_UNSUPPORTED ? VT_DECLARED_NO : VT_DECLARED_YES;
  *count += x->r.outcome == VT_CASE_PASSED;
  return is_fault(x) ? refuse_case(a, i, x, d) : VT_OK;
}

static vt_status run_piece(vt_admission *a, piece *p, uint32_t n, int at_once, uint64_t *count,
                           vt_diag *d) {
  for (uint32_t i = 0; !at_once && i < n; i++) run_job(p, i);
  if (at_once) vt_pool_run(a->pool, n, run_job, p);
  for (uint32_t i = 0; i < n && !a->refused; i++) {
    if (at_once && is_fault(&p->out[i])) run_alone(a, p, i);
    VT_TRY(take_outcome(a, p->list[i], &p->out[i], count, d));
  }
  return VT_OK;
}

vt_status vt_admission_cases(vt_admission *a, const uint32_t *list, uint32_t n, int at_once,
                             vt_case_fn *way, uint64_t *count, vt_diag *d) {
  piece p = {a, list, way, vt_alloc_new(a->a, PIECE * sizeof *p.out)};
  vt_status s = p.out != NULL ? VT_OK : VT_FAIL(d, VT_NOMEM, "out of memory");
  for (uint32_t at = 0; s == VT_OK && at < n && !a->refused; at += PIECE) {
    const uint32_t here = n - at < PIECE ? n - at : PIECE;
    vt_admission_progress(a, at, n);
    p.list = list + at;
    s = run_piece(a, &p, here, at_once, count, d);
  }
  vt_alloc_free(a->a, p.out, PIECE * sizeof *p.out);
  return s;
}

/* ---- the suite ---- */

/* 1 when there is anything in a result: a step without elements shows nothing. */
static int has_elements(const vt_graph *g, const vt_node *n) {
  uint64_t total = 0, count = 0, bytes;
  for (uint32_t i = 0; i < n->n_out; i++)
    if (vt_type_size(&g->values[n->first_out + i].type, &count, &bytes, NULL) == VT_OK)
      total |= count;
  return total != 0;
}

/* What is in a program that the backend took is what it runs. */
static void mark_ops(const vt_admission *a, const vt_graph *g) {
  for (uint32_t i = 0; i < g->n_nodes; i++) {
    const vt_node *n = &g->nodes[i];
    if (has_elements(g, n)) atomic_store_explicit(&a->taken[n->op], 1, memory_order_relaxed);
    for (uint32_t k = 0; k < n->n_body; k++) mark_ops(a, n->body[k]);
  }
}

/* Ops that the backend itself is given: not views, which are no steps. */
static void mark_steps(const vt_plan *p, uint64_t *out) {
  for (uint32_t i = 0; i < p->n_steps; i++) {
    const vt_node *n = &p->g->nodes[p->step_node[i]];
    if (has_elements(p->g, n)) out[n->op / 64] |= UINT64_C(1) << (n->op % 64);
    for (uint32_t k = 0; k < p->nested[i].n; k++) mark_steps(p->nested[i].plan[k], out);
  }
}

static void mark(const vt_admission *a, uint32_t i, const vt_program *p) {
  if (p == NULL) return;
  mark_ops(a, p->g);
  mark_steps(p->line.plan, a->steps + (size_t)i * a->words);
}

void vt_admission_look(const vt_admission *a, const vt_model *m, const vt_case_inputs *in,
                       vt_program *p, vt_difference *out) {
  const vt_options ours = {.size = sizeof ours, .backend = "reference:0", .alloc = &a->a};
  vt_program *q = NULL;
  vt_diag d = {0};
  vt_status s = vt_case_start(m, in, &ours, &q, &d);
  if (s == VT_OK) s = vt_difference_find(p, q, out, &d);
  if (s != VT_OK) *out = (vt_difference){0};
  vt_program_free(q);
}

void vt_admission_run(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  const vt_options how = vt_admission_options(a, NULL, 0);
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_case_inputs in = {0};
  vt_diag d = {0};
  const vt_status s = vt_case_open(a->suite, i, &a->a, &m, &in, &d);
  if (s != VT_OK) vt_case_verdict(a->suite, i, NULL, s, &d, &out->r);
  if (s == VT_OK) vt_case_try(a->suite, i, m, &in, &how, &p, &out->r);
  mark(a, i, p);
  if (out->r.outcome == VT_CASE_DIFFERS && out->r.status == VT_OK)
    vt_admission_look(a, m, &in, p, &out->seen);
  vt_program_free(p);
  vt_case_inputs_done(&in);
  vt_model_free(m);
}

/* ---- what is listed ---- */

/* An op that is in none of the chosen cases may be in one that was not chosen. */
static vt_status look_further(vt_admission *a, const vt_op_info *op, vt_diag *d) {
  for (uint32_t i = 0; i < a->suite->n_cases && !a->taken[op->number] && !a->refused; i++)
    if (a->suite->cases[i].model->block->op == op && a->declared[i] == VT_DECLARED_UNKNOWN)
      VT_TRY(vt_admission_cases(a, &i, 1, 0, vt_admission_run, &a->counts.cases, d));
  return VT_OK;
}

static vt_status check_listed(vt_admission *a, const vt_op_info *op, vt_diag *d) {
  char reason[200];
  if (!a->taken[op->number]) VT_TRY(look_further(a, op, d));
  if (a->taken[op->number] || a->refused) return VT_OK;
  snprintf(reason, sizeof reason, "it lists the op '%s' and refuses every case of it", op->name);
  return vt_admission_refuse(a, op->name, reason, NULL, d);
}

static vt_status check_list(vt_admission *a, vt_diag *d) {
  const vt_options how = vt_admission_options(a, NULL, 0);
  vt_device *dev = NULL;
  VT_TRY(vt_options_open(&how, a->a, &dev, d));
  vt_status s = VT_OK;
  for (uint32_t i = 0; i < vt_op_total() && s == VT_OK && !a->refused; i++)
    if (vt_device_lists(dev, vt_op_at(i)->number)) s = check_listed(a, vt_op_at(i), d);
  vt_device_close(dev);
  return s;
}

vt_status vt_check_suite(vt_admission *a, vt_diag *d) {
  VT_TRY(vt_admission_suite(a, d));
  VT_TRY(vt_admission_cases(a, a->cases, a->n_cases, 1, vt_admission_run, &a->counts.cases, d));
  for (uint32_t i = 0; i < a->suite->n_cases; i++)
    a->counts.undeclared += a->declared[i] == VT_DECLARED_NO;
  return a->refused ? VT_OK : check_list(a, d);
}

/* ---- a selection ---- */

/* Where the suite itself was left out, cases are planned to learn whether they are declared. */
static void plan_only(const vt_admission *a, uint32_t i, vt_case_outcome *out) {
  vt_options how = vt_admission_options(a, "bind,lower", 0);
  vt_model *m = NULL;
  vt_program *p = NULL;
  vt_diag d = {0};
  vt_status s = vt_case_model(a->suite, i, &a->a, &m, &d);
  if (s == VT_OK) s = vt_program_make(m, &how, VT_PREPARE_UNTRIED, &p, &d);
  out->r.status = s;
  out->r.outcome = s == VT_UNSUPPORTED ? VT_CASE_UNSUPPORTED
                   : s == VT_OK        ? VT_CASE_PASSED
                                       : VT_CASE_FAILED;
  mark(a, i, p);
  snprintf(out->r.text, sizeof out->r.text, "%s", d.text);
  vt_program_free(p);
  vt_model_free(m);
}

static vt_status learn(vt_admission *a, vt_diag *d) {
  uint64_t ignored = 0;
  uint32_t n = 0;
  for (uint32_t i = 0; i < a->suite->n_cases; i++)
    if (a->few[i] && a->declared[i] == VT_DECLARED_UNKNOWN) a->selected[n++] = i;
  return vt_admission_cases(a, a->selected, n, 1, plan_only, &ignored, d);
}

/* One that the backend runs and that is not picked yet: of the short choice, or of all others. */
static int is_open(const vt_admission *a, const uint8_t *picked, uint32_t i, int few) {
  return a->declared[i] == VT_DECLARED_YES && !picked[i] && (a->few[i] != 0) == few;
}

/* The first of every op and every nth of the others, where there are more than `most`. The step is
 * odd: names that differ in one of two ways alternate. */
static uint32_t pick_some(const vt_admission *a, uint8_t *picked, uint32_t most, int few) {
  const vt_op_info *last = NULL;
  uint32_t total = 0, at = 0, n = 0;
  for (uint32_t i = 0; i < a->suite->n_cases; i++) total += is_open(a, picked, i, few) != 0;
  const uint32_t step = (most == 0 ? total : total / most) | 1;
  for (uint32_t i = 0; i < a->suite->n_cases; i++) {
    const vt_op_info *op = a->suite->cases[i].model->block->op;
    if (!is_open(a, picked, i, few)) continue;
    if (at++ % step == 0 || (few && op != last)) n += picked[i] = 1;
    last = op;
  }
  return n;
}

/* 1 when the case has a step of an op that `covered` lacks; then it has it. */
static int adds_steps(const vt_admission *a, uint32_t i, uint64_t *covered) {
  uint64_t more = 0;
  for (uint32_t k = 0; k < a->words; k++) {
    const uint64_t x = a->steps[(size_t)i * a->words + k];
    more |= x & ~covered[k];
    covered[k] |= x;
  }
  return more != 0;
}

/* A case of an op need not give the backend a step of it. Every op that it is given a step of in
 * any case is in one that is picked. */
static void pick_missing(const vt_admission *a, uint8_t *picked, uint64_t *covered) {
  for (uint32_t i = 0; i < a->suite->n_cases; i++)
    if (picked[i]) (void)adds_steps(a, i, covered);
  for (uint32_t i = 0; i < a->suite->n_cases; i++)
    if (a->declared[i] == VT_DECLARED_YES && !picked[i] && adds_steps(a, i, covered)) picked[i] = 1;
}

/* Of the short choice first; a backend that runs little of that is asked what else it runs. */
static vt_status pick(vt_admission *a, vt_diag *d) {
  const uint32_t most = a->o.brief ? 500 : 2500;
  uint8_t *picked = VT_NEW_N(&a->arena, uint8_t, a->suite->n_cases);
  uint64_t *covered = VT_NEW_N(&a->arena, uint64_t, a->words);
  if (picked == NULL || covered == NULL) return VT_FAIL(d, VT_NOMEM, "out of memory");
  const uint32_t n = pick_some(a, picked, most, 1);
  if (n < most) (void)pick_some(a, picked, most - n, 0);
  pick_missing(a, picked, covered);
  for (uint32_t i = 0; i < a->suite->n_cases; i++)
    if (picked[i]) a->selected[a->n_selected++] = i;
  return VT_OK;
}

vt_status vt_admission_select(vt_admission *a, vt_diag *d) {
  if (a->n_selected != 0) return VT_OK;
  VT_TRY(vt_admission_suite(a, d));
  VT_TRY(learn(a, d));
  return a->refused ? VT_OK : pick(a, d);
}
