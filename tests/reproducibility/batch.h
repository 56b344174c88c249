/* SPDX-License-Identifier: Apache-2.0
 * batch.h - whether a row has the same bits alone and in a batch: what the files of batch_check
 * share. A batch is a model whose inputs have a first dimension that can be any number of rows. */
#ifndef VT_BATCH_H
#define VT_BATCH_H
#include "volta/volta.h"
#include "vt_suite.h"

enum { BATCH_ROWS = 17, BATCH_MOST = 32 };

/* A model as text, and which of the things it takes have rows. */
typedef struct batch {
  const char *name, *text;
  uint32_t rows_of; /* a bit for each thing it takes, in the order of declaration */
  int example;      /* its inputs have, and its parameters come from their initialisers */
} batch;

/* A model of so many rows that ran, and what it took. */
typedef struct batch_run {
  vt_model *m;
  vt_case_inputs in;
  vt_program *p;
} batch_run;

/* Runs rows first .. first+n-1 of `all`, or, where `all` is NULL, of values drawn from the name of
 * the batch. On failure, too, batch_run_done releases what there is. */
vt_status batch_run_start(const batch *b, int64_t n, const vt_case_inputs *all, int64_t first,
                          const vt_options *how, batch_run *out, vt_diag *d) VT_NODISCARD;
void batch_run_done(batch_run *r);
/* 1 when every result has `n` rows. */
int batch_run_has_rows(batch_run *r, int64_t n);
/* 1 when row `i` of all results is row `k` of those of another run. */
int batch_row_same(batch_run *a, int64_t i, batch_run *b, int64_t k);
#endif
