/* SPDX-License-Identifier: Apache-2.0
 * cli_bench.h - what `bench` is made of: the rows of bench.def, a row made ready to run, and lanes
 * that are timed by turns. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H
#include "cli_peer.h"

/* What `volta doctor` says under this key; 0 when there is no such key. */
int cli_fact(const char *key, char *out, size_t n);

/* ---- rows (cli_bench.c) ---- */

enum { CLI_PEER_none, CLI_PEER_gemm, CLI_PEER_gemv, CLI_PEER_gemv_t };

typedef struct cli_kind {
  const char *name, *shape, *inputs, *weights, *result; /* as bench.def says */
  uint32_t dims;
  int peer; /* CLI_PEER_* */
  int64_t least[3];
} cli_kind;

typedef struct cli_work {
  const char *suite;    /* "cpu", "cuda" */
  const cli_kind *kind; /* NULL ends the list */
  int64_t size[3];
} cli_work;

extern const cli_work cli_works[];
/* The same at the sizes of the kind, where those are less. */
cli_work cli_work_least(const cli_work *w);
enum { CLI_WORK_NAME = 64 };
void cli_work_name(const cli_work *w, char out[CLI_WORK_NAME]); /* "sgemm 64x768x3072" */

/* ---- lanes (cli_lanes.c) ---- */

typedef struct cli_timing {
  uint64_t best_ns, median_ns; /* of one call */
  uint64_t calls;
} cli_timing;

/* Who does the work: a program, or the peer where there is none. */
typedef struct cli_lane {
  const char *name;
  vt_program *program;
  const cli_peer *peer;
  cli_setting setting; /* of the peer */
  uint64_t trial_ns;   /* its best call when the setting was chosen */
  cli_product product;
  cli_timing took;
  uint64_t *ns; /* of each call; cli_lanes_time takes and frees it */
  uint64_t n;
} cli_lane;

/* In each round every lane has its turn: it rests, runs once unmeasured, then runs for `turn_ns`.
 * Whatever else the machine does falls on all alike. */
typedef struct cli_pace {
  uint32_t rounds;
  uint64_t turn_ns;
  uint64_t rest_ns;     /* threads of the lane before still look for work for a while */
  uint64_t done, total; /* rounds of the whole suite, for those who watch */
} cli_pace;

enum { CLI_LANES = 3 };
vt_status cli_lane_call(const cli_lane *l, cli_error *e) VT_NODISCARD;
vt_status cli_lanes_time(cli_lane *lanes, uint32_t n, cli_pace *pace, cli_error *e) VT_NODISCARD;

/* ---- a row made ready (cli_bench.c) ---- */

/* On which backend and for how many threads; the peer may be NULL. */
typedef struct cli_place {
  const char *backend;
  uint32_t threads;
  const cli_peer *peer;
  cli_pace trial; /* by which the peer's setting is chosen */
} cli_place;

/* The lanes of one row: Volta's, then the peer's. They work on the same numbers. */
typedef struct cli_stage {
  cli_lane lanes[CLI_LANES];
  uint32_t n;
  vt_tensor x, w; /* of a product; the data is the stage's */
  float *c;       /* of the peer */
} cli_stage;

/* Opens the programs, sets parameters and inputs, chooses the peer's fastest setting, and runs
 * every lane once. Volta's lanes must then have the same bits, and the peer a result in their
 * neighbourhood. */
vt_status cli_stage_open(const cli_work *w, const cli_place *where, cli_stage *out,
                         cli_error *e) VT_NODISCARD;
void cli_stage_close(cli_stage *s);
/* What a tensor costs on its way in, a step and the way out, from one element to a million: on the
 * backend, and beside it the run on the CPU (cli_small.c). Prints. */
vt_status cli_small(const char *backend, int as_json, cli_error *e) VT_NODISCARD;
/* Holds the backend to the reference, bit for bit, at the least sizes of the kind. */
vt_status cli_work_check(const cli_work *w, const cli_place *where, cli_error *e) VT_NODISCARD;

#endif
