/* SPDX-License-Identifier: Apache-2.0
 * batch_check.c - tests that a row of a batch has the same bits as the row run by itself, for every
 * op with a batch axis and for the examples. Batches have 1, 2, 3, 8 and 17 rows; on cuda with
 * VOLTA_TEST_FULL every number from 1 to 17.
 *   batch_check ROOT BACKEND [ISA [THREADS]]
 * The models are those of the conformance cases and of batch.cts. A model is a batch if the
 * reference computes each row as it does by itself; then the backend must do the same, with the
 * bits of the reference. An op without such a model fails unless batch.excuses has its name with a
 * reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "batch.h"
#include "vt_file.h"

enum {
  MODELS_PER_OP = 3, /* batches to find for each op */
  TRIES_PER_OP = 60  /* models to try for that before all are tried */
};

/* 1: test every number of rows, because kernels for skinny products change at many of them. */
static int every_size;
static int is_tested_size(int64_t n) { return every_size || n <= 3 || n == 8 || n == BATCH_ROWS; }

static const vt_options right = {.size = sizeof right, .backend = "reference:0"};
static unsigned failures;

/* ---- one batch ---- */

static void report_failure(const batch *b, const char *what, const vt_diag *d) {
  failures++;
  printf("FAILED %s: %s%s%s\n", b->name, what, d != NULL ? ": " : "", d != NULL ? d->text : "");
}

/* Returns 1 if the reference gives some rows the same bits by themselves and in the whole batch. */
static int is_batch(const batch *b, batch_run *whole) {
  static const int64_t some[] = {0, 5, BATCH_ROWS - 1};
  int yes = batch_run_outputs_have_rows(whole, BATCH_ROWS);
  for (int i = 0; i < 3 && yes; i++) {
    batch_run alone;
    yes = batch_run_start(b, 1, &whole->in, some[i], &right, &alone, NULL) == VT_OK &&
          batch_run_outputs_have_rows(&alone, 1) && batch_rows_equal(whole, some[i], &alone, 0);
    batch_run_done(&alone);
  }
  return yes;
}

/* Checks a batch of the first n rows on the backend against `whole`, the reference's run of all
 * rows, which check_row_by_itself has compared with the rows by themselves. */
static void check_batch_of_size(const batch *b, int64_t n, batch_run *whole,
                                const vt_options *how) {
  batch_run r;
  vt_diag d = {0};
  char what[96];
  if (batch_run_start(b, n, &whole->in, 0, how, &r, &d) != VT_OK)
    report_failure(b, "a batch fails", &d);
  for (int64_t i = 0; r.p != NULL && d.code == VT_OK && i < n; i++) {
    snprintf(what, sizeof what, "row %lld of %lld differs from the row by itself", (long long)i,
             (long long)n);
    if (!batch_rows_equal(&r, i, whole, i)) report_failure(b, what, NULL);
  }
  batch_run_done(&r);
}

/* Checks row i by itself on the backend against the reference; returns 1 if it ran. There is one
 * program at a time, because those of a large model would not fit into memory together. */
static int check_row_by_itself(const batch *b, int64_t i, batch_run *whole, const vt_options *how) {
  batch_run alone;
  vt_diag d = {0};
  const int ran = batch_run_start(b, 1, &whole->in, i, how, &alone, &d) == VT_OK;
  if (!ran) report_failure(b, "a row by itself fails", &d);
  if (ran && !batch_rows_equal(whole, i, &alone, 0))
    report_failure(b, "a row is not the reference's", NULL);
  batch_run_done(&alone);
  return ran;
}

static void check_batch(const batch *b, batch_run *whole, const vt_options *how) {
  int ran = 1;
  for (int64_t i = 0; i < BATCH_ROWS && ran; i++) ran = check_row_by_itself(b, i, whole, how);
  for (int64_t n = 1; n <= BATCH_ROWS && ran; n++)
    if (is_tested_size(n)) check_batch_of_size(b, n, whole, how);
}

/* Returns 1 if the model is a batch, after checking it. */
static int check_model_if_batch(const batch *b, const vt_options *how) {
  batch_run whole;
  vt_diag d = {0};
  const vt_status s = batch_run_start(b, BATCH_ROWS, NULL, 0, &right, &whole, &d);
  const int yes = s == VT_OK && is_batch(b, &whole);
  if (yes) check_batch(b, &whole, how);
  batch_run_done(&whole);
  return yes;
}

/* ---- ops ---- */

/* Lists the sets of inputs that may have rows, as bit masks: all inputs as long as the first, and
 * each input by itself. Returns their number. */
static uint32_t list_masks_of_row_inputs(const vt_case_inputs *in, uint32_t *out) {
  uint32_t n = 0, like_first = 0;
  for (uint32_t i = 0; i < in->n && i < BATCH_MAX_PORTS - 1; i++)
    if (in->input[i].t.rank > 0 && in->input[0].t.rank > 0 &&
        in->input[i].t.dim[0] == in->input[0].t.dim[0])
      like_first |= UINT32_C(1) << i;
  if (like_first != 0) out[n++] = like_first;
  for (uint32_t i = 0; i < in->n && i < BATCH_MAX_PORTS - 1; i++)
    if (in->input[i].t.rank > 0 && like_first != UINT32_C(1) << i) out[n++] = UINT32_C(1) << i;
  return n;
}

/* Returns 1 if the model of the case is a batch for one of the candidates, after checking it. */
static int check_case_if_batch(const vt_suite *s, uint32_t i, const vt_options *how) {
  vt_model *m = NULL;
  vt_case_inputs in = {0};
  uint32_t masks[BATCH_MAX_PORTS], n = 0;
  int yes = 0;
  if (vt_case_open(s, i, NULL, &m, &in, NULL) == VT_OK) n = list_masks_of_row_inputs(&in, masks);
  for (uint32_t k = 0; k < n && !yes; k++) {
    const batch b = {s->cases[i].name, s->cases[i].model->text, masks[k], 0};
    yes = check_model_if_batch(&b, how);
  }
  vt_case_inputs_done(&in);
  vt_model_free(m);
  return yes;
}

static int is_case_for(const vt_case *c, const vt_op_info *op) {
  return c->model->block->op == op && c->mix == VT_MIX_ORDINARY && !c->gradient;
}

/* Checks every `step`th case of the op with ordinary values until MODELS_PER_OP of them are
 * batches; returns how many are. */
static unsigned check_some_cases(const vt_suite *s, const vt_op_info *op, uint32_t step,
                                 const vt_options *how) {
  uint32_t seen = 0;
  unsigned found = 0;
  for (uint32_t i = 0; i < s->n_cases && found < MODELS_PER_OP; i++)
    if (is_case_for(&s->cases[i], op) && seen++ % step == 0)
      found += (unsigned)check_case_if_batch(s, i, how);
  return found;
}

/* Checks cases spread over all cases of the op, and all cases if none of those is a batch. */
static unsigned check_cases_of_op(const vt_suite *s, const vt_op_info *op, const vt_options *how) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < s->n_cases; i++) total += (uint32_t)is_case_for(&s->cases[i], op);
  const uint32_t step = total / TRIES_PER_OP + 1;
  const unsigned found = check_some_cases(s, op, step, how);
  return found > 0 || step == 1 ? found : check_some_cases(s, op, 1, how);
}

/* Returns 1 if the excuses have a line "op reason" for this op. */
static int is_excused(const char *excuses, const char *op) {
  const size_t n = strlen(op);
  for (const char *line = excuses; line != NULL && *line != 0; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, op, n) == 0 && line[n] == ' ') return 1;
  }
  return 0;
}

static unsigned check_ops(const vt_suite *cases, const vt_suite *more, const char *excuses,
                          const vt_options *how) {
  unsigned batched = 0;
  for (uint32_t i = 0; i < vt_op_total(); i++) {
    const vt_op_info *op = vt_op_at(i);
    if (is_excused(excuses, op->name)) continue;
    const int found = check_cases_of_op(cases, op, how) > 0 || check_cases_of_op(more, op, how) > 0;
    if (!found) printf("FAILED %s: no case is a batch, and it is not excused\n", op->name);
    failures += !found;
    batched += (unsigned)found;
  }
  return batched;
}

/* ---- examples ---- */

/* The last two examples take minutes on the reference, so only the long form runs them. */
static unsigned check_examples(const char *root, const vt_options *how) {
  static const char *const names[] = {
      "mlp", "cnn", "quant_mlp", "lstm", "encoder", "tiny_transformer", "resnet18", "gpt2_124m"};
  const unsigned n = getenv("VOLTA_TEST_FULL") != NULL ? 8 : 6;
  for (unsigned i = 0; i < n; i++) {
    char path[4096];
    vt_file f;
    vt_diag d = {0};
    snprintf(path, sizeof path, "%s/examples/%s.vt", root, names[i]);
    if (vt_file_read(path, 1 << 20, vt_alloc_default(), &f, &d) != VT_OK) {
      failures++;
      printf("FAILED %s: %s\n", names[i], d.text);
      continue;
    }
    const batch b = {names[i], (const char *)f.data, 0, 1};
    if (!check_model_if_batch(&b, how))
      report_failure(&b, "the reference gives a row other bits by itself", NULL);
    vt_file_done(&f);
  }
  return n;
}

/* The files that the check reads. */
typedef struct sources {
  vt_suite *cases, *more;
  vt_file excuses;
} sources;

static vt_status read_suites_and_excuses(const char *root, sources *s, vt_diag *d) {
  char path[4096];
  snprintf(path, sizeof path, "%s/tests/cts", root);
  VT_TRY(vt_suite_read_cases(path, NULL, &s->cases, d));
  snprintf(path, sizeof path, "%s/tests/reproducibility", root);
  VT_TRY(vt_suite_read_cases(path, NULL, &s->more, d));
  snprintf(path, sizeof path, "%s/tests/reproducibility/batch.excuses", root);
  return vt_file_read(path, 1 << 20, vt_alloc_default(), &s->excuses, d);
}

int main(int argc, char **argv) {
  static sources s;
  vt_diag d = {0};
  if (argc < 3 || argc > 5) {
    fprintf(stderr, "usage: batch_check ROOT BACKEND [ISA [THREADS]]\n");
    return 2;
  }
  const vt_options how = {.size = sizeof how,
                          .backend = argv[2],
                          .passes = "bind,lower,canonical,fold,cse,dead,fuse",
                          .isa = argc > 3 ? argv[3] : NULL,
                          .threads = argc > 4 ? (uint32_t)atoi(argv[4]) : 0};
  every_size = strncmp(argv[2], "cuda", 4) == 0 && getenv("VOLTA_TEST_FULL") != NULL;
  if (read_suites_and_excuses(argv[1], &s, &d) != VT_OK) {
    fprintf(stderr, "batch_check: %s\n", d.text);
    return 2;
  }
  const unsigned ops = check_ops(s.cases, s.more, (const char *)s.excuses.data, &how);
  const unsigned examples = check_examples(argv[1], &how);
  printf("batch: %u ops of %u and %u examples on", ops, vt_op_total(), examples);
  for (int i = 2; i < argc; i++) printf(" %s", argv[i]);
  printf(": rows by themselves and in batches of %s, %u failures\n",
         every_size ? "1 to 17" : "1, 2, 3, 8 and 17", failures);
  vt_file_done(&s.excuses);
  vt_suite_free(s.cases);
  vt_suite_free(s.more);
  return failures != 0;
}
