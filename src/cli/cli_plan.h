/* SPDX-License-Identifier: Apache-2.0
 * cli_plan.h - the parts of `volta plan`, some of which `run` and `parity` use too: the flags on
 * planning, sizes as text, making one plan, sweeps over dims, and the SVG picture. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H
#include "cli_bind.h"
#include "cli_model.h"

/* ---- flags on planning (cli_planning.c) ---- */

enum { CLI_THREADS_MOST = 16 };
typedef struct cli_planning {
  const char *schedule, *stream;   /* --schedule, --stream; NULL: not given */
  uint64_t budget;                 /* --memory-budget in bytes; 0: not given */
  const char *certificate;         /* --certificate; NULL: the file next to the plug-in */
  uint32_t threads;                /* first number of --threads; 0: not given */
  uint32_t n_threads;              /* number of entries in `each` */
  uint32_t each[CLI_THREADS_MOST]; /* all numbers of --threads */
  vt_policy policy;                /* --fallback, --allow-unadmitted, --untried */
} cli_planning;

/* Parses --schedule, --stream, --memory-budget, --threads, --certificate and the flags of the
 * policy. The values of --schedule and --stream are checked later, by the library. */
vt_status cli_planning_parse(const cli_args *a, cli_planning *out, cli_error *e) VT_NODISCARD;
/* Copies all but the budget to options. The options keep pointers into `p`, which must outlive
 * them. */
void cli_planning_copy_to_options(const cli_planning *p, vt_options *o);
/* Adds schedule, stream and budget as members of the JSON object `o`. */
void cli_planning_add_json(const cli_planning *p, json_t *o);

/* At a terminal, says once which backend was chosen, if neither the flag --backend, whose value is
 * `flag`, nor VOLTA_BACKEND names one. `device` describes the device; NULL: it is left out. */
void cli_choice_print(const char *flag, const char *backend, const char *device);

/* The stamp of a report: which backend gave the results, if that is not the requested one or has
 * no certificate. It is printed on standard error and is part of JSON reports. */
typedef struct cli_stamp {
  const char *backend;
  const uint8_t *plugin; /* content hash of the plug-in; NULL for a built-in backend */
  int unadmitted;        /* 1: no certificate admits the plug-in */
  const char *fallback;  /* why the program fell back to the CPU; NULL: it did not */
} cli_stamp;
void cli_stamp_print(const cli_stamp *s);
void cli_stamp_add_json(json_t *o, const cli_stamp *s);
json_t *cli_policy_json(const vt_policy *p);

/* Parses a size: a whole number with an optional unit, "64MiB", "2GB", "4096". Units are B, kB, MB,
 * GB, TB, KiB, MiB, GiB, TiB. Returns 0 for other texts and for sizes above 2^63-1. */
int cli_size_parse(const char *text, uint64_t *out);
enum { CLI_SIZE_TEXT = 32 };
void cli_size_text(uint64_t bytes, char out[CLI_SIZE_TEXT]); /* "1.5 MiB", "512 B" */

/* ---- the job of `plan` (verb_plan.c) ---- */

/* A model and the flags of `volta plan`. */
typedef struct cli_plan_job {
  const char *path, *backend, *passes; /* as the user wrote them */
  cli_model source;                    /* what `path` names */
  cli_bind bind;
  cli_planning how; /* flags on planning */
  vt_cache *cache;  /* cache of plans; NULL: no cache */
} cli_plan_job;

/* Makes a plan. The budget is ignored, so that a plan that exceeds it can be shown. */
vt_status cli_plan_new(const cli_plan_job *j, const cli_bind *bind, const cli_planning *how,
                       vt_planned **out, cli_error *e) VT_NODISCARD;
double cli_peak_to_live_ratio(
    const vt_plan_info *i); /* the peak divided by the most bytes live at once */
/* The bytes of memory class `class`. */
uint64_t cli_class_bytes(const vt_plan_info *i, uint32_t class);

/* ---- sweeps (cli_sweep.c) ---- */

/* Prints a table with a plan for every combination of the values of --sweep. */
vt_status cli_sweep_report(const cli_args *a, const cli_plan_job *j, cli_error *e) VT_NODISCARD;

/* ---- the picture (cli_svg.c) ---- */

/* Draws the memory of a plan over its steps as SVG. */
vt_status cli_svg_write(const char *path, const cli_plan_job *j, const vt_planned *p,
                        cli_error *e) VT_NODISCARD;

#endif
