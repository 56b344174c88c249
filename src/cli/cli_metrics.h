/* SPDX-License-Identifier: Apache-2.0
 * cli_metrics.h - JSON that describes a run and its costs, for reports, --metrics and --trace. All
 * of it is read from the program after the run. */
#ifndef CLI_METRICS_H
#define CLI_METRICS_H
#include "cli_json.h"
#include "cli_params.h"

/* Rate in 10^9 per second; 0 if `ns` is 0. */
double cli_giga_per_second(uint64_t count, uint64_t ns);

/* A new object with model, backend, dims, plan, and the origin of parameters and inputs. */
json_t *cli_run_description_json(const cli_job *j, const vt_program *p);
/* Appends the members for policy, admission and fallback to a report. */
void cli_add_policy_and_stamp_json(json_t *o, const vt_program *p);
/* A new object with the total costs of the last run. */
json_t *cli_run_totals_json(const vt_program *p);

vt_status cli_metrics_write(const char *path, const cli_job *j, vt_program *p,
                            cli_error *e) VT_NODISCARD;
vt_status cli_trace_write(const char *path, const cli_job *j, vt_program *p,
                          cli_error *e) VT_NODISCARD;

#endif
