/* SPDX-License-Identifier: Apache-2.0
 * cuda_cache.h - compiled kernels on disk, in the folder that the host gives. */
#ifndef VT_CUDA_CACHE_H
#define VT_CUDA_CACHE_H
#include "vt_hash.h"
#include "vt_text.h"

/* The folder, and the most bytes that are kept there, whoever's they are. */
typedef struct vt_cuda_cache {
  const char *folder; /* NULL: nothing is kept */
  uint64_t most;
} vt_cuda_cache;

/* Appends what was kept for the key to `out`; *out_there says whether there was anything. A file
 * that is damaged, or may have been written by others, is not used: VT_OK, not there, and the
 * reason in `why`. VT_NOMEM is the one failure. */
vt_status vt_cuda_cache_find(const vt_cuda_cache *c, const vt_hash256 *key, vt_text *out,
                             int *out_there, vt_diag *why) VT_NODISCARD;
/* Keeps it, in place of what was there. */
vt_status vt_cuda_cache_keep(const vt_cuda_cache *c, const vt_hash256 *key, const void *bytes,
                             size_t n, vt_alloc a, vt_diag *d) VT_NODISCARD;
#endif
