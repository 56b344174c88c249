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

/* ---- lanes: the ways in which each case is run ---- */

typedef struct cts_lane {
  const char *backend, *isa; /* isa NULL: VOLTA_ISA, else the best */
  uint32_t threads;          /* 0: VOLTA_THREADS, else as the backend likes */
  int fused;                 /* with every pass, fusion among them */
  char name[256];            /* "cpu avx2 x3" */
} cts_lane;
cts_lane cts_lane_of(const char *backend, const char *isa, uint32_t threads);
vt_options cts_lane_options(const cts_lane *l);
/* 1 when it can be run; 0 when this processor lacks the instructions, which is said; -1 when they
 * are required. A name that no run can use is a mistake in the command, and ends the program. */
int cts_lane_opens(const cts_lane *l);

/* ---- running ---- */

typedef struct cts_outcome {
  int failed;
  uint8_t digest[32];
  char *said; /* why it failed; freed by who asked */
} cts_outcome;
/* A case that is open: its model and its inputs, for any number of lanes. */
typedef struct cts_trial {
  const vt_suite *suite;
  uint32_t i;
  vt_model *m;
  vt_case_inputs in;
} cts_trial;
/* 1 when it is open; otherwise `out` says why not. */
int cts_trial_open(const vt_suite *s, uint32_t i, cts_trial *t, cts_outcome *out);
void cts_trial_close(cts_trial *t);
/* Runs it in one lane. Its digest is to be the stored one, if there is one, and `other` unless that
 * is NULL. */
void cts_trial_run(const cts_trial *t, const cts_lane *lane, const uint8_t *other,
                   cts_outcome *out);
void cts_outcome_say(cts_outcome *out, const char *format, ...) VT_PRINTF(2, 3);

/* Stores the first eight bytes of the digest of each case in the folder; 1 when they are there. */
int cts_digests_write(const char *folder, const vt_suite *s, const uint8_t *const *start);

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
