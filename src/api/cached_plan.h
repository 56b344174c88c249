/* SPDX-License-Identifier: Apache-2.0
 * cached_plan.h - a cached plan: a lowered graph with its plan, both frozen, which a cache and any
 * number of programs share by reference count. This file also gives its form in a file. A file is
 * not trusted until every part of it has been checked:
 *
 *   volta plan entry 1
 *   key N           number of bytes of each part, one line per part
 *   passes N
 *   graph N
 *   plan N
 *   places N
 *   <key>           everything that the plan depends on
 *   <passes>        a line for each pass: its name and the hash of the graph after it
 *   <graph>         the lowered graph as text
 *   <plan>          the plan as text
 *   <places>        line and column in the model's text of each node
 *   <hash>          BLAKE2b-256 of everything above, 64 hexadecimal digits and the end of the line
 *
 * Private to the api. */
#ifndef VT_CACHED_PLAN_H
#define VT_CACHED_PLAN_H
#include <stdatomic.h>
#include "vt_pass.h"
#include "vt_plan.h"

typedef struct vt_cached_plan {
  atomic_uint holders; /* reference count */
  atomic_ullong bytes; /* bytes of this object, its key, its graph and its plan */
  /* The allocator of all of these; `bytes` counts their size. */
  vt_alloc a;
  char *key;                       /* `n_key` bytes and a NUL */
  size_t n_key;                    /* length of the key in bytes */
  vt_hash256 hash;                 /* hash of the key */
  vt_pass_list list;               /* the passes that made the graph */
  vt_hash256 after[VT_PASS_COUNT]; /* hash of the graph after each pass of the list */
  vt_graph *g;                     /* the graph after the last pass; owned */
  vt_plan *plan;                   /* the plan of `g`; owned */
  /* Neighbours in the list of the cache, whose lock protects them. */
  struct vt_cached_plan *newer, *older;
  /* The value of `bytes` when the cache added the plan to its list. */
  uint64_t weight;
} vt_cached_plan;

/* A new object with one reference and neither graph nor plan; the caller creates these with the
 * allocator of vt_cached_plan_counting_alloc. NULL when memory is out. */
vt_cached_plan *vt_cached_plan_new(const char *key, size_t n_key, const vt_pass_list *list,
                                   vt_alloc a);
/* Returns an allocator that uses k->a and adds what it allocates to k->bytes. */
vt_alloc vt_cached_plan_counting_alloc(vt_cached_plan *k);
/* Adds a reference and returns `k`. */
vt_cached_plan *vt_cached_plan_retain(vt_cached_plan *k);
/* Drops a reference; the last one frees the object. `k` may be NULL. */
void vt_cached_plan_release(vt_cached_plan *k);

/* Appends the bytes of the plan's file to `out`. */
void vt_cached_plan_print(const vt_cached_plan *k, vt_text *out);
/* Parses a file that vt_cached_plan_print wrote for this key and this target. Fails with VT_NAME if
 * the file is intact and has another key, with VT_NOMEM when memory is out, and with VT_FORMAT for
 * everything else: then no part of the file may be trusted. */
vt_status vt_cached_plan_parse(const void *bytes, size_t n, const char *key, size_t n_key,
                               const vt_pass_list *list, const vt_target *t, vt_alloc a,
                               vt_cached_plan **out, vt_diag *d) VT_NODISCARD;
#endif
