/* SPDX-License-Identifier: Apache-2.0
 * kept.h - a lowered graph with its plan, frozen, which a cache and any number of programs hold at
 * once; the last to let go frees it. And its form in a file, which is hostile until it is read:
 *
 *   volta plan entry 1
 *   key N, passes N, graph N, plan N, places N      how many bytes of each follow, a line each
 *   the bytes: what it is a plan of; the hash after each pass; the graph and the plan as they
 *     print; where in the model's file each node was written
 *   BLAKE2b-256 of all of that, as a line of hexadecimal digits
 *
 * Private to the api. */
#ifndef VT_KEPT_H
#define VT_KEPT_H
#include <stdatomic.h>
#include "vt_pass.h"
#include "vt_plan.h"

typedef struct vt_kept {
  atomic_uint holders;
  atomic_ullong bytes; /* of everything here */
  vt_alloc a;          /* what lies below the counting */
  char *key;
  size_t n_key;
  vt_hash256 hash; /* of the key */
  vt_pass_list list;
  vt_hash256 after[VT_PASS_COUNT]; /* of the graph, by place in the list */
  vt_graph *g;
  vt_plan *plan;
  struct vt_kept *newer, *older; /* in a cache, under its lock */
  uint64_t weight;               /* there */
} vt_kept;

/* With one holder, and neither graph nor plan; these are to be made with vt_kept_alloc. NULL: out
 * of memory. */
vt_kept *vt_kept_new(const char *key, size_t n_key, const vt_pass_list *list, vt_alloc a);
vt_alloc vt_kept_alloc(vt_kept *k);
vt_kept *vt_kept_hold(vt_kept *k);
void vt_kept_release(vt_kept *k); /* NULL is fine */

void vt_kept_print(const vt_kept *k, vt_text *out);
/* Reads what print wrote for this key and this target. VT_NAME: it is of another key. VT_NOMEM, and
 * VT_FORMAT for everything else: the bytes are not to be trusted in any part. */
vt_status vt_kept_parse(const void *bytes, size_t n, const char *key, size_t n_key,
                        const vt_pass_list *list, const vt_target *t, vt_alloc a, vt_kept **out,
                        vt_diag *d) VT_NODISCARD;
#endif
