/* SPDX-License-Identifier: Apache-2.0
 * cli_cache.c - opens the cache of plans in the folder of --plan-cache or VOLTA_PLAN_CACHE, and
 * prints with -v whether a plan came from it. */
#include "cli_cache.h"
#include <stdlib.h>

vt_status cli_cache_open(const cli_args *a, vt_cache **out, cli_error *e) {
  const char *given = cli_flag_value(a, "plan-cache");
  const char *dir = given != NULL ? given : getenv("VOLTA_PLAN_CACHE");
  if (dir == NULL || dir[0] == '\0') return VT_OK;
  const vt_cache_options o = {.size = sizeof o, .dir = dir, .note = cli_warn};
  return vt_cache_new(&o, out, &e->diag);
}

cli_cache_mark cli_cache_counts_now(vt_cache *c) {
  vt_cache_counts n = {.size = sizeof n};
  if (c != NULL) vt_cache_info(c, &n);
  return (cli_cache_mark){n.hits_memory, n.hits_disk, n.trials};
}

void cli_cache_print_origin(vt_cache *c, cli_cache_mark before) {
  const cli_cache_mark now = cli_cache_counts_now(c);
  if (c == NULL) return;
  cli_narrate_if_verbose("plan: %s\n", now.memory != before.memory ? "found in memory"
                                       : now.disk != before.disk   ? "found on disk"
                                                                   : "made anew");
  if (now.trials != before.trials) cli_narrate_if_verbose("trial: found on disk\n");
}
