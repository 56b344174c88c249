/* SPDX-License-Identifier: Apache-2.0
 * cli_plan.h - what `plan` is made of and shares with `run` and `parity`: the flags that say how a
 * plan is made, sizes as text, one plan looked at, sweeps over dims, and the picture. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H
#include "cli_bind.h"

/* ---- how a plan is made (cli_planning.c) ---- */

typedef struct cli_planning {
  const char *schedule, *stream; /* NULL: as without the flag */
  uint64_t budget;               /* 0: none */
  uint32_t allow_unadmitted;     /* plug-ins that no certificate covers */
} cli_planning;

/* --schedule, --stream, --memory-budget and --allow-unadmitted. The first two are for the library
 * to check. */
vt_status cli_planning_parse(const cli_args *a, cli_planning *out, cli_error *e) VT_NODISCARD;
/* The first three as JSON members of `o`. */
void cli_planning_json(const cli_planning *p, json_t *o);

/* The stamp of a backend that is not admitted: on standard error, and in a report as JSON. `hash`
 * is the plug-in's content, NULL for a backend that is built in. */
void cli_stamp(const char *backend, const uint8_t *hash, int unadmitted);
void cli_stamp_json(json_t *o, const uint8_t *hash, int unadmitted);

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
