/* SPDX-License-Identifier: Apache-2.0
 * batch_check.c - row i of a batch has the bits of the row run alone, in batches of 1, 2, 3, 8 and
 * 17, on cuda in the long form (VOLTA_TEST_FULL) of 1 to 17, for every op that has a batch axis and
 * for the examples.
 *   batch_check ROOT BACKEND [ISA [THREADS]]
 * The models of the conformance cases give the ops, and batch.cts the rest: a model whose rows the
 * reference computes each by itself is a batch, and the backend is held to it, and to the
 * reference. An op without such a model is excused by name in batch.excuses, with the reason, or it
 * fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "batch.h"
#include "vt_file.h"

enum { MODELS_AN_OP = 3, TRIES_AN_OP = 60 };

/* Kernels for few rows have borders at many numbers of them. */
static int every_size;
static int is_tried(int64_t n) { return every_size || n <= 3 || n == 8 || n == BATCH_ROWS; }

static const vt_options right = {.size = sizeof right, .backend = "reference:0"};
static unsigned failures;

/* ---- one batch ---- */

static void complain(const batch *b, const char *what, const vt_diag *d) {
  failures++;
  printf("FAILED %s: %s%s%s\n", b->name, what, d != NULL ? ": " : "", d != NULL ? d->text : "");
}

/* 1 when the reference computes some rows alone as it does among all. */
static int is_batch(const batch *b, batch_run *whole) {
  static const int64_t some[] = {0, 5, BATCH_ROWS - 1};
  int yes = batch_run_has_rows(whole, BATCH_ROWS);
  for (int i = 0; i < 3 && yes; i++) {
    batch_run alone;
    yes = batch_run_start(b, 1, &whole->in, some[i], &right, &alone, NULL) == VT_OK &&
          batch_run_has_rows(&alone, 1) && batch_row_same(whole, some[i], &alone, 0);
    batch_run_done(&alone);
  }
  return yes;
}

/* Rows of `whole` are by now known to be the rows run alone. */
static void check_size(const batch *b, int64_t n, batch_run *whole, const vt_options *how) {
  batch_run r;
  vt_diag d = {0};
  char what[96];
  if (batch_run_start(b, n, &whole->in, 0, how, &r, &d) != VT_OK) complain(b, "a batch fails", &d);
  for (int64_t i = 0; r.p != NULL && d.code == VT_OK && i < n; i++) {
    snprintf(what, sizeof what, "row %lld of %lld is another when it is run alone", (long long)i,
             (long long)n);
    if (!batch_row_same(&r, i, whole, i)) complain(b, what, NULL);
  }
  batch_run_done(&r);
}

/* Row i alone, which is the reference's; 1 when it could be run. One program at a time: those of a
 * large model would not all fit. */
static int check_row(const batch *b, int64_t i, batch_run *whole, const vt_options *how) {
  batch_run alone;
  vt_diag d = {0};
  const int ran = batch_run_start(b, 1, &whole->in, i, how, &alone, &d) == VT_OK;
  if (!ran) complain(b, "a row alone fails", &d);
  if (ran && !batch_row_same(whole, i, &alone, 0))
    complain(b, "a row is not the reference's", NULL);
  batch_run_done(&alone);
  return ran;
}

static void check_batch(const batch *b, batch_run *whole, const vt_options *how) {
  int ran = 1;
  for (int64_t i = 0; i < BATCH_ROWS && ran; i++) ran = check_row(b, i, whole, how);
  for (int64_t n = 1; n <= BATCH_ROWS && ran; n++)
    if (is_tried(n)) check_size(b, n, whole, how);
}

/* 1 when it is a batch; then it was checked. */
static int try_batch(const batch *b, const vt_options *how) {
  batch_run whole;
  vt_diag d = {0};
  const vt_status s = batch_run_start(b, BATCH_ROWS, NULL, 0, &right, &whole, &d);
  const int yes = s == VT_OK && is_batch(b, &whole);
  if (yes) check_batch(b, &whole, how);
  batch_run_done(&whole);
  return yes;
}

/* ---- ops ---- */

/* Which inputs may have the rows: all that are as long as the first, and each by itself. */
static uint32_t candidates(const vt_case_inputs *in, uint32_t *out) {
  uint32_t n = 0, like_first = 0;
  for (uint32_t i = 0; i < in->n && i < BATCH_MOST - 1; i++)
    if (in->input[i].t.rank > 0 && in->input[0].t.rank > 0 &&
        in->input[i].t.dim[0] == in->input[0].t.dim[0])
      like_first |= UINT32_C(1) << i;
  if (like_first != 0) out[n++] = like_first;
  for (uint32_t i = 0; i < in->n && i < BATCH_MOST - 1; i++)
    if (in->input[i].t.rank > 0 && like_first != UINT32_C(1) << i) out[n++] = UINT32_C(1) << i;
  return n;
}

static int try_case(const vt_suite *s, uint32_t i, const vt_options *how) {
  vt_model *m = NULL;
  vt_case_inputs in = {0};
  uint32_t masks[BATCH_MOST], n = 0;
  int yes = 0;
  if (vt_case_open(s, i, NULL, &m, &in, NULL) == VT_OK) n = candidates(&in, masks);
  for (uint32_t k = 0; k < n && !yes; k++) {
    const batch b = {s->cases[i].name, s->cases[i].model->text, masks[k], 0};
    yes = try_batch(&b, how);
  }
  vt_case_inputs_done(&in);
  vt_model_free(m);
  return yes;
}

static int is_tried_for(const vt_case *c, const vt_op_info *op) {
  return c->model->block->op == op && c->mix == VT_MIX_ORDINARY && !c->gradient;
}

/* Every so many of the op's cases of ordinary values, until enough of them are batches. */
static unsigned check_some(const vt_suite *s, const vt_op_info *op, uint32_t step,
                           const vt_options *how) {
  uint32_t seen = 0;
  unsigned found = 0;
  for (uint32_t i = 0; i < s->n_cases && found < MODELS_AN_OP; i++)
    if (is_tried_for(&s->cases[i], op) && seen++ % step == 0)
      found += (unsigned)try_case(s, i, how);
  return found;
}

/* Spread over them, and all where none of those is a batch. */
static unsigned check_op(const vt_suite *s, const vt_op_info *op, const vt_options *how) {
  uint32_t total = 0;
  for (uint32_t i = 0; i < s->n_cases; i++) total += (uint32_t)is_tried_for(&s->cases[i], op);
  const uint32_t step = total / TRIES_AN_OP + 1;
  const unsigned found = check_some(s, op, step, how);
  return found > 0 || step == 1 ? found : check_some(s, op, 1, how);
}

/* A line "op reason" of the excuses. */
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
    const int found = check_op(cases, op, how) > 0 || check_op(more, op, how) > 0;
    if (!found) printf("FAILED %s: no case is a batch, and it is not excused\n", op->name);
    failures += !found;
    batched += (unsigned)found;
  }
  return batched;
}

/* ---- examples ---- */

/* Two of them take minutes on the reference, and wait for the long form. */
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
    if (!try_batch(&b, how)) complain(&b, "the reference gives a row other bits alone", NULL);
    vt_file_done(&f);
  }
  return n;
}

/* What is checked, from the root of the sources. */
typedef struct sources {
  vt_suite *cases, *more;
  vt_file excuses;
} sources;

static vt_status read_sources(const char *root, sources *s, vt_diag *d) {
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
  if (read_sources(argv[1], &s, &d) != VT_OK) {
    fprintf(stderr, "batch_check: %s\n", d.text);
    return 2;
  }
  const unsigned ops = check_ops(s.cases, s.more, (const char *)s.excuses.data, &how);
  const unsigned examples = check_examples(argv[1], &how);
  printf("batch: %u ops of %u and %u examples on", ops, vt_op_total(), examples);
  for (int i = 2; i < argc; i++) printf(" %s", argv[i]);
  printf(": rows alone and among %s, %u failures\n", every_size ? "1 to 17" : "1, 2, 3, 8 and 17",
         failures);
  vt_file_done(&s.excuses);
  vt_suite_free(s.cases);
  vt_suite_free(s.more);
  return failures != 0;
}
