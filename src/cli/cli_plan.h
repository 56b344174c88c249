/* SPDX-License-Identifier: Apache-2.0
 * cli_plan.h - what `plan` is made of and shares with `run` and `parity`: the flags that say how a
 * plan is made, sizes as text, one plan looked at, sweeps over dims, and the picture. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H
#include "cli_bind.h"

/* ---- how a plan is made (cli_planning.c) ---- */

enum { CLI_THREADS_MOST = 16 };
typedef struct cli_planning {
  const char *schedule, *stream;   /* NULL: as without the flag */
  uint64_t budget;                 /* 0: none */
  const char *certificate;         /* of a plug-in; NULL: beside it */
  uint32_t threads;                /* 0: as without the flag */
  uint32_t n_threads;              /* that were given; ... */
  uint32_t each[CLI_THREADS_MOST]; /* ... of which the first is `threads` */
  vt_policy policy;                /* --fallback, --allow-unadmitted, --untried */
} cli_planning;

/* --schedule, --stream, --memory-budget, --threads, --certificate and the flags of the policy. The
 * first two are for the library to check. */
vt_status cli_planning_parse(const cli_args *a, cli_planning *out, cli_error *e) VT_NODISCARD;
/* All of it as options; `p` must outlive them. The budget is left to the caller. */
void cli_planning_options(const cli_planning *p, vt_options *o);
/* The first three as JSON members of `o`. */
void cli_planning_json(const cli_planning *p, json_t *o);

/* What a report says besides results, about where they come from: on standard error, and in a
 * report as JSON. */
typedef struct cli_stamp {
  const char *backend;
  const uint8_t *plugin; /* the content of a plug-in; NULL for a backend that is built in */
  int unadmitted;
  const char *fallback; /* why another backend than the one asked for; NULL when it is that */
} cli_stamp;
void cli_stamp_tell(const cli_stamp *s);
void cli_stamp_json(json_t *o, const cli_stamp *s);
json_t *cli_policy_json(const vt_policy *p);

/* "64MiB", "2GB", "4096": a whole number, alone or with B, kB, MB, GB, TB, KiB, MiB, GiB, TiB. 0
 * when it is none of these or beyond 2^63-1. */
int cli_size_parse(const char *text, uint64_t *out);
enum { CLI_SIZE_TEXT = 32 };
void cli_size_text(uint64_t bytes, char out[CLI_SIZE_TEXT]); /* "1.5 MiB", "512 B" */

/* ---- what is planned (verb_plan.c) ---- */

/* The model and the flags. */
typedef struct cli_plan_job {
  const char *path, *backend, *passes;
  vt_model *model;
  cli_bind bind;
  cli_planning how;
  vt_cache *cache; /* NULL: none */
} cli_plan_job;

/* Without the budget: a plan beyond it is shown too. */
vt_status cli_plan_make(const cli_plan_job *j, const cli_bind *bind, const cli_planning *how,
                        vt_planned **out, cli_error *e) VT_NODISCARD;
double cli_plan_ratio(const vt_plan_info *i); /* the peak over what is alive at most */

/* ---- sweeps (cli_sweep.c) ---- */

/* A plan for every combination of the values that --sweep gives, as a table. */
vt_status cli_sweep_report(const cli_args *a, const cli_plan_job *j, cli_error *e) VT_NODISCARD;

/* ---- the picture (cli_svg.c) ---- */

vt_status cli_svg_write(const char *path, const cli_plan_job *j, const vt_planned *p,
                        cli_error *e) VT_NODISCARD;

#endif
