/* SPDX-License-Identifier: Apache-2.0
 * batch.h - running a model with any number of rows, for batch_check. A batch is a model some of
 * whose inputs have rows: their first dimension can be any number. */
#ifndef VT_BATCH_H
#define VT_BATCH_H
#include "volta/volta.h"
#include "vt_suite.h"

enum {
  BATCH_ROWS = 17,     /* rows of the largest batch */
  BATCH_MAX_PORTS = 32 /* inputs and parameters of a model, at most */
};

/* A model as text, and which of its ports have rows. */
typedef struct batch {
  const char *name, *text;
  uint32_t
      rows_of; /* a bit for each input or parameter, in the order of declaration: it has rows */
  int example; /* 1: an example; all its inputs have rows, and initialisers set its parameters */
} batch;

/* A program that ran with some number of rows, and its inputs. */
typedef struct batch_run {
  vt_model *m;
  vt_case_inputs in;
  vt_program *p;
} batch_run;

/* Runs the model with n rows: rows first .. first+n-1 of `all`, or, if `all` is NULL, values drawn
 * with the name of the batch as seed. batch_run_done frees `out`, also after a failure. */
vt_status batch_run_start(const batch *b, int64_t n, const vt_case_inputs *all, int64_t first,
                          const vt_options *how, batch_run *out, vt_diag *d) VT_NODISCARD;
void batch_run_done(batch_run *r);
/* Returns 1 if every output has n rows. */
int batch_run_outputs_have_rows(batch_run *r, int64_t n);
/* Returns 1 if row i of all outputs of a has the bits of row k of b. */
int batch_rows_equal(batch_run *a, int64_t i, batch_run *b, int64_t k);
#endif
