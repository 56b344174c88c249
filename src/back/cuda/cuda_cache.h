/* SPDX-License-Identifier: Apache-2.0
 * cuda_cache.h - the cache of compiled kernels on disk, in the folder that the host names. Keys are
 * hashes of what was compiled. */
#ifndef VT_CUDA_CACHE_H
#define VT_CUDA_CACHE_H
#include "vt_hash.h"
#include "vt_text.h"

/* Where the cache is, and its size limit. */
typedef struct vt_cuda_cache {
  const char *folder; /* path of the cache folder; NULL if nothing is cached */
  /* most bytes that all files in the folder may have together, whoever wrote them */
  uint64_t most;
} vt_cuda_cache;

/* Appends the cached bytes of the key to `out`; *out_there says whether there were any. A file that
 * is damaged, or that others could have written, is not used: the result is VT_OK, *out_there is 0
 * and `why` has the reason. The only failure is VT_NOMEM. */
vt_status vt_cuda_cache_find(const vt_cuda_cache *c, const vt_hash256 *key, vt_text *out,
                             int *out_there, vt_diag *why) VT_NODISCARD;
/* Stores n bytes under the key and replaces what was stored before. */
vt_status vt_cuda_cache_store(const vt_cuda_cache *c, const vt_hash256 *key, const void *bytes,
                              size_t n, vt_alloc a, vt_diag *d) VT_NODISCARD;
#endif
