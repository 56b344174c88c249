/* SPDX-License-Identifier: Apache-2.0
 * vt_pool.h - a pool of threads that executes batches of numbered jobs. Every worker computes in
 * the environment of vt_fpenv.h. A job knows its number only, so results cannot depend on which
 * thread executed it. */
#ifndef VT_POOL_H
#define VT_POOL_H
#include "vt_alloc.h"

typedef struct vt_pool vt_pool;
typedef void vt_job_fn(void *context, uint64_t job);

enum { VT_POOL_MAX_THREADS = 1024 }; /* most threads that a pool may have */
/* Creates a pool. `threads` counts the calling thread too, so 1 starts no worker. More than
 * VT_POOL_MAX_THREADS are VT_LIMIT. */
vt_status vt_pool_new(unsigned threads, vt_alloc a, vt_pool **out, vt_diag *d) VT_NODISCARD;
void vt_pool_free(vt_pool *p);
/* Executes jobs 0..n-1 and returns when all are done. The calling thread executes jobs as well,
 * inside the environment of the numerics, and gets its own environment back. Not re-entrant. */
void vt_pool_run(vt_pool *p, uint64_t n, vt_job_fn *fn, void *context);
#endif
