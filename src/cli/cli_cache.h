/* SPDX-License-Identifier: Apache-2.0
 * cli_cache.h - the cache of plans that the verbs share. */
#ifndef CLI_CACHE_H
#define CLI_CACHE_H
#include "cli.h"

/* *out stays as it is when no cache is asked for. What is wrong with its folder or files is a
 * warning. */
vt_status cli_cache_open(const cli_args *a, vt_cache **out, cli_error *e) VT_NODISCARD;

/* With -v: where the plan came from that was made since `before`, and whether the trial of a GPU
 * was found. `c` may be NULL. */
typedef struct cli_cache_mark {
  uint64_t memory, disk, trials;
} cli_cache_mark;
cli_cache_mark cli_cache_now(vt_cache *c);
void cli_cache_tell(vt_cache *c, cli_cache_mark before);

#endif
