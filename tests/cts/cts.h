/* SPDX-License-Identifier: Apache-2.0
 * cts.h - declarations shared by the files of the program cts, which runs the conformance suite and
 * checks it in other ways. The suite itself, its cases and the code that runs one are in
 * vt_suite.h. */
#ifndef VT_CTS_H
#define VT_CTS_H
#include <stdio.h>
#include "vt_graph.h"
#include "vt_suite.h"
#include "volta/volta_tools.h"

/* Prints what is wrong with the suite or the command (not with a backend) and ends the program
 * with 2. */
_Noreturn void cts_die(const char *format, ...) VT_PRINTF(1, 2);
/* Ends the program with the text of `d` unless s is VT_OK. */
void cts_require_ok(vt_status s, const vt_diag *d);

/* ---- values ---- */

/* Returns a random number uniform in [0, 1) and advances the state. */
double cts_uniform(uint64_t *state);
/* Initialises `in` with zeros for every input of the model. */
void cts_inputs_init(vt_case_inputs *in, const vt_model *m);
/* Draws inputs for differences of outputs. Integers and bools are drawn as the mix `ordinary` does.
 * Floats are spread over the domain of the block, or -2..2: no two elements of a tensor are close
 * to each other, and none is close to the middle of the domain. */
void cts_inputs_draw_spread_out(vt_case_inputs *in, const vt_suite_block *b, uint64_t seed);
uint64_t cts_count_elements(const vt_tensor *t);
/* Read and write element i of a tensor of f32 or f64. */
double cts_load_element(const vt_tensor *t, uint64_t i);
void cts_store_element(vt_tensor *t, uint64_t i, double x);

/* ---- lanes: the configurations in which each case is run ---- */

typedef struct cts_lane {
  const char *backend;
  const char *isa;  /* instruction set; NULL: VOLTA_ISA, or the best that there is */
  uint32_t threads; /* number of threads; 0: VOLTA_THREADS, or the backend's default */
  int fused;        /* 1: all passes run, with fusion; 0: only the passes that a run needs */
  char name[256];   /* name of the lane, such as "cpu avx2 x3" */
} cts_lane;
cts_lane cts_lane_of(const char *backend, const char *isa, uint32_t threads);
vt_options cts_lane_options(const cts_lane *l);
/* Returns 1 if the lane can run. If this processor lacks the instructions, prints that and returns
 * 0, or -1 if VOLTA_REQUIRE names them. An unknown backend or instruction set ends the program. */
int cts_lane_opens(const cts_lane *l);

/* ---- running ---- */

typedef struct cts_outcome {
  int failed;
  uint8_t digest[32]; /* digest of the run */
  char *message;      /* why the case failed, or NULL; the caller frees the message */
} cts_outcome;
/* A case that was opened: its model and its inputs, to run in any number of lanes. */
typedef struct cts_trial {
  const vt_suite *suite;
  uint32_t i; /* index of the case in the suite */
  vt_model *m;
  vt_case_inputs in;
} cts_trial;
/* Returns 1 if the case was opened; otherwise `out` gets the reason. */
int cts_trial_open(const vt_suite *s, uint32_t i, cts_trial *t, cts_outcome *out);
void cts_trial_close(cts_trial *t);
/* Runs the case in one lane. It fails unless its digest is the stored one, if there is one, and
 * `other`, if that is not NULL. */
void cts_trial_run(const cts_trial *t, const cts_lane *lane, const uint8_t *other,
                   cts_outcome *out);
/* Marks the outcome as failed and appends to its message. */
void cts_outcome_fail(cts_outcome *out, const char *format, ...) VT_PRINTF(2, 3);

/* Writes cts.digests in the folder: the first eight bytes of the digest of each case, which
 * start[i] has for case i. Returns 1 if the file was written. */
int cts_digests_write(const char *folder, const vt_suite *s, const uint8_t *const *start);

/* ---- other modes; each prints to stdout and returns the number of failures ---- */

typedef struct cts_selection {
  const vt_suite *suite;
  const uint8_t *chosen; /* for each case: 1 if it is chosen */
  unsigned jobs;         /* threads that run cases */
} cts_selection;

unsigned cts_check_gradients(const cts_selection *s);
unsigned cts_check_layouts(const cts_selection *s);
unsigned cts_check_complete(const vt_suite *s, uint32_t least, int gradients_required);
/* Compares the graphs that decompositions and gradients write with graphs.digests in the folder. */
unsigned cts_check_graphs(const vt_suite *s, const char *folder);
/* Writes graphs.digests. */
unsigned cts_write_graphs(const vt_suite *s, const char *folder);
unsigned cts_dump_cases(const cts_selection *s, const char *folder);
/* Writes a string as JSON, with quotes. */
void cts_write_json_string(FILE *f, const char *s);
#endif
