/* SPDX-License-Identifier: Apache-2.0
 * cache.h - what planning asks of a cache. Private to the api. */
#ifndef VT_CACHE_H
#define VT_CACHE_H
#include "kept.h"

/* How many digits of a key's hash name its file. */
enum { VT_CACHE_DIGITS = 32 };

/* With names of `digits` digits, so that a test can make keys collide. */
vt_status vt_cache_make(const vt_cache_options *o, uint32_t digits, vt_cache **out,
                        vt_diag *d) VT_NODISCARD;
vt_alloc vt_cache_alloc(const vt_cache *c);
/* Its folder, or NULL when it has none that can be used, and the most bytes that may lie there. */
const char *vt_cache_folder(const vt_cache *c, uint64_t *out_most);
/* What somebody else who keeps things there has to say; `cache` is a vt_cache. */
void vt_cache_note(void *cache, const char *text);
/* The plan of this key, held for the caller, or NULL. Fails for want of memory alone. */
vt_status vt_cache_find(vt_cache *c, const char *key, size_t n_key, const vt_pass_list *list,
                        const vt_target *t, vt_kept **out, vt_diag *d) VT_NODISCARD;
/* Keeps a plan that is complete, in memory and on disk. What goes wrong is noted. */
void vt_cache_keep(vt_cache *c, vt_kept *k);
/* Whether a trial of this key passed in some process and was kept on disk, and keeping it. A trial
 * is kept as its key and nothing else: a file that has any other byte is noted and says nothing. */
int vt_cache_passed(vt_cache *c, const vt_text *key);
void vt_cache_keep_passed(vt_cache *c, const vt_text *key);
#endif
