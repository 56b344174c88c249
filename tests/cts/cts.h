/* SPDX-License-Identifier: Apache-2.0
 * cts.h - the program around the conformance suite: what its files share. The suite itself, its
 * cases and how one is run, is vt_suite.h's; here are the ways to look at it. */
#ifndef VT_CTS_H
#define VT_CTS_H
#include <stdio.h>
#include "vt_graph.h"
#include "vt_suite.h"
#include "volta/volta_tools.h"

/* Says what is wrong with the suite itself (not with a backend) and ends the program with 2. */
_Noreturn void cts_die(const char *format, ...) VT_PRINTF(1, 2);
/* Ends the program where something of the suite cannot be had. */
void cts_need(vt_status s, const vt_diag *d);

/* ---- values ---- */

/* Uniform in [0, 1). */
double cts_uniform(uint64_t *state);
/* Zeros for everything the model takes. */
void cts_inputs_init(vt_case_inputs *in, const vt_model *m);
/* Integers and bools like an ordinary mix, floats spread over -2..2 or the domain of the block: no
 * two elements of a tensor close together, none close to the middle. */
void cts_inputs_spread(vt_case_inputs *in, const vt_suite_block *b, uint64_t seed);
uint64_t cts_count(const vt_tensor *t);
double cts_load(const vt_tensor *t, uint64_t i); /* f32 and f64 */
void cts_store(vt_tensor *t, uint64_t i, double x);

/* ---- running ---- */

typedef struct cts_outcome {
  int failed;
  uint8_t digest[32];
  char said[700]; /* why it failed */
} cts_outcome;
/* Runs case `i` on one backend. Its digest is to be the stored one, if there is one, and `other`
 * unless that is NULL. */
void cts_run(const vt_suite *s, uint32_t i, const char *backend, const uint8_t *other,
             cts_outcome *out);

/* Stores the digests of all cases in the folder; 1 when they are there. */
int cts_digests_write(const char *folder, const vt_suite *s, const cts_outcome *outcomes);

/* ---- the other ways to look at the suite; each writes to stdout and returns the failures ---- */

typedef struct cts_selection {
  const vt_suite *suite;
  const uint8_t *chosen; /* by case */
  unsigned jobs;
} cts_selection;

unsigned cts_check_gradients(const cts_selection *s);
unsigned cts_check_layouts(const cts_selection *s);
unsigned cts_check_complete(const vt_suite *s, uint32_t least, int gradients_required);
/* The graphs that models become, against graphs.digests in the folder; or that file, written. */
unsigned cts_check_graphs(const vt_suite *s, const char *folder);
unsigned cts_write_graphs(const vt_suite *s, const char *folder);
unsigned cts_dump(const cts_selection *s, const char *folder);
void cts_write_string(FILE *f, const char *s); /* as JSON */
#endif
