/* SPDX-License-Identifier: Apache-2.0
 * cache.h - the cache as planning and trials use it: it finds and adds plans, in memory and on
 * disk, and records which trials of devices passed. Private to the api. */
#ifndef VT_CACHE_H
#define VT_CACHE_H
#include "cached_plan.h"

/* Number of hexadecimal digits of a key's hash that form the name of its file. */
enum { VT_CACHE_DIGITS = 32 };

/* Creates a cache whose file names have `digits` digits; a test passes a small number, so that
 * different keys get the same name. */
vt_status vt_cache_new_with_name_digits(const vt_cache_options *o, uint32_t digits, vt_cache **out,
                                        vt_diag *d) VT_NODISCARD;
/* The allocator of the cache and of the plans in it. */
vt_alloc vt_cache_alloc(const vt_cache *c);
/* The absolute path of the cache's folder, or NULL if it has no usable folder; `out_limit` receives
 * the most bytes that the files in it may have together. */
const char *vt_cache_folder(const vt_cache *c, uint64_t *out_limit);
/* Counts a problem with the folder or with a file in it, and passes its text to the callback `note`
 * of the caller. A backend that stores files in the folder reports its problems here too; `cache`
 * is a vt_cache. */
void vt_cache_report(void *cache, const char *text);
/* The plan of this key with a reference for the caller, or NULL if there is no such plan. Its only
 * failure is VT_NOMEM. */
vt_status vt_cache_find_plan(vt_cache *c, const char *key, size_t n_key, const vt_pass_list *list,
                             const vt_target *t, vt_cached_plan **out, vt_diag *d) VT_NODISCARD;
/* Stores a complete plan in memory and on disk. A problem with the disk is reported by
 * vt_cache_report and is no failure. */
void vt_cache_add_plan(vt_cache *c, vt_cached_plan *k);
/* Returns 1 if the file of a trial with this key is on disk, which means that the trial passed in
 * some process. The file contains the key and nothing else; a file with other bytes is reported as
 * a problem and ignored. */
int vt_cache_has_trial(vt_cache *c, const vt_text *key);
/* Records on disk that the trial with this key passed. */
void vt_cache_add_trial(vt_cache *c, const vt_text *key);
#endif
