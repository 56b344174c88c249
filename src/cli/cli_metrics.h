/* SPDX-License-Identifier: Apache-2.0
 * cli_metrics.h - what a run was and what it took, as JSON: totals for reports, --metrics and
 * --trace. All of it is read from the program after the run. */
#ifndef CLI_METRICS_H
#define CLI_METRICS_H
#include "cli_json.h"
#include "cli_params.h"

/* Billions a second; 0 where no time passed. */
double cli_rate(uint64_t count, uint64_t ns);

/* Model, backend, dims, where parameters and inputs came from, plan. */
json_t *cli_run_json(const cli_job *j, const vt_program *p);
/* Policy and stamp, behind all else. */
void cli_terms_json(json_t *o, const vt_program *p);
/* The totals of the last run. */
json_t *cli_metrics_json(const vt_program *p);

vt_status cli_metrics_write(const char *path, const cli_job *j, vt_program *p,
                            cli_error *e) VT_NODISCARD;
vt_status cli_trace_write(const char *path, const cli_job *j, vt_program *p,
                          cli_error *e) VT_NODISCARD;

#endif
