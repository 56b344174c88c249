/* SPDX-License-Identifier: Apache-2.0
 * cli_cache.h - opens the cache of plans for a verb, and reports with -v where a plan came from. */
#ifndef CLI_CACHE_H
#define CLI_CACHE_H
#include "cli.h"

/* Opens the cache of --plan-cache or VOLTA_PLAN_CACHE; leaves *out unchanged if neither is given.
 * A problem with the folder or a file in it is only a warning. */
vt_status cli_cache_open(const cli_args *a, vt_cache **out, cli_error *e) VT_NODISCARD;

/* Counts of a cache at one moment: plans found in memory, plans found on disk, and probe results of
 * GPUs found on disk. */
typedef struct cli_cache_mark {
  uint64_t memory, disk, trials;
} cli_cache_mark;
cli_cache_mark cli_cache_counts_now(vt_cache *c); /* all counts are 0 if `c` is NULL */
/* Prints with -v whether the plan since `before` was found or made, and whether the probe results
 * of a GPU were found. `c` may be NULL. */
void cli_cache_print_origin(vt_cache *c, cli_cache_mark before);

#endif
