/* SPDX-License-Identifier: Apache-2.0
 * cli_bench.h - the parts of `volta bench`: rows of bench.def; the stage of a row, which is its
 * programs and operands; and lanes, which are timed in turn. A lane is a program or the peer
 * library, doing the work of one row. */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H
#include "cli_peer.h"

/* Copies the value that `volta doctor` reports for `key` to `out`, which has `n` bytes; returns 0
 * for an unknown key. */
int cli_doctor_fact(const char *key, char *out, size_t n);

/* ---- rows (cli_bench.c) ---- */

enum { CLI_PEER_none, CLI_PEER_gemm, CLI_PEER_gemv, CLI_PEER_gemv_t };

/* A kind of work: a BENCH_KIND row of bench.def. */
typedef struct cli_kind {
  const char *name, *shape, *inputs, *weights, *result; /* columns of bench.def */
  uint32_t dims;                                        /* number of dims: 2 or 3 */
  int peer;                                             /* CLI_PEER_* */
  int64_t least[3]; /* M, N and K of the check against the reference */
} cli_kind;

/* A piece of work to measure: a BENCH_ROW of bench.def. */
typedef struct cli_work {
  const char *suite;    /* "cpu", "cuda" */
  const cli_kind *kind; /* NULL in the row that ends the list */
  int64_t size[3];      /* M, N and K */
} cli_work;

extern const cli_work cli_works[];
/* The same work with each size reduced to the kind's `least` size if it is larger. */
cli_work cli_work_reduced_to_check_sizes(const cli_work *w);
enum { CLI_WORK_NAME = 64 };
void cli_work_name(const cli_work *w, char out[CLI_WORK_NAME]); /* "sgemm 64x768x3072" */

/* ---- lanes (cli_lanes.c) ---- */

typedef struct cli_timing {
  uint64_t best_ns, median_ns; /* shortest and median time of one call */
  uint64_t calls;              /* number of timed calls */
} cli_timing;

/* One of several ways to do the same work: a program, or the peer library if `program` is NULL. */
typedef struct cli_lane {
  const char *name;
  vt_program *program; /* NULL: the lane is the peer */
  const cli_peer *peer;
  cli_setting setting; /* core type and threads of the peer */
  uint64_t trial_ns;   /* the peer's best call when its setting was chosen */
  cli_product product; /* the product that the peer computes */
  cli_timing took;     /* result of cli_lanes_time */
  uint64_t *ns;        /* time of each call; allocated and freed by cli_lanes_time */
  uint64_t n;          /* number of entries in `ns` */
} cli_lane;

/* How lanes are timed. In each round every lane has one slot, a span of time, so that disturbances
 * of the machine affect all lanes alike. In its slot a lane waits for `rest_ns`, runs once untimed,
 * and then runs timed for `slot_ns`. */
typedef struct cli_pace {
  uint32_t rounds;
  uint64_t slot_ns; /* duration of the timed calls of one slot */
  uint64_t rest_ns; /* wait until the threads of the previous lane are asleep */
  /* Rounds that are finished, rounds of the whole suite; for the progress line. */
  uint64_t done, total;
} cli_pace;

enum { CLI_LANES = 3 };
vt_status cli_lane_call(const cli_lane *l, cli_error *e)
    VT_NODISCARD; /* runs the program, or computes the product of the peer, once */
/* Times all lanes in turn and writes the result to the field `took` of each. */
vt_status cli_lanes_time(cli_lane *lanes, uint32_t n, cli_pace *pace, cli_error *e) VT_NODISCARD;

/* ---- the stage of a row (cli_bench.c) ---- */

/* Which backend and peer are measured, with how many threads. */
typedef struct cli_bench_target {
  const char *backend;
  uint32_t threads;
  const cli_peer *peer; /* NULL: no comparison */
  cli_pace trial;       /* pace of the runs that choose the peer's fastest setting */
} cli_bench_target;

/* The lanes of one row: first those of Volta, then the peer. All have the same operands. */
typedef struct cli_stage {
  cli_lane lanes[CLI_LANES];
  uint32_t n;     /* number of lanes */
  vt_tensor x, w; /* operands of a product; the stage owns their data */
  float *c;       /* product that the peer computes, (m,n) */
} cli_stage;

/* Opens the programs, sets parameters and inputs, chooses the peer's fastest setting, and runs
 * every lane once. VT_DIFFERS if Volta's lanes differ in bits, or if the peer's result is too far
 * from theirs to be the same product. */
vt_status cli_stage_open(const cli_work *w, const cli_bench_target *target, cli_stage *out,
                         cli_error *e) VT_NODISCARD;
void cli_stage_close(cli_stage *s);
/* Measures and prints the fixed costs of tensors from one element to a million: upload, one step
 * and download on the backend, and the same step on the CPU (cli_bench_small.c). */
vt_status cli_bench_small(const char *backend, int as_json, cli_error *e) VT_NODISCARD;
/* Runs the work on the backend and on the reference, at the least sizes of its kind; VT_DIFFERS if
 * their bits differ. */
vt_status cli_work_check_against_reference(const cli_work *w, const cli_bench_target *target,
                                           cli_error *e) VT_NODISCARD;

#endif
