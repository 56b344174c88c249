/* SPDX-License-Identifier: Apache-2.0
 * cuda_cache.h - compiled kernels on disk, in the folder that the host gives. */
#ifndef VT_CUDA_CACHE_H
#define VT_CUDA_CACHE_H
#include "vt_hash.h"
#include "vt_text.h"

/* Appends what was kept for the key to `out`; *out_there says whether there was anything. A file
 * that is damaged, or may have been written by others, is not used: VT_OK, not there, and the
 * reason in `why`. VT_NOMEM is the one failure. */
vt_status vt_cuda_cache_find(const char *folder, const vt_hash256 *key, vt_text *out,
                             int *out_there, vt_diag *why) VT_NODISCARD;
/* Keeps it, in place of what was there; `most` bytes are kept in the folder, whoever's they are. */
vt_status vt_cuda_cache_keep(const char *folder, uint64_t most, const vt_hash256 *key,
                             const void *bytes, size_t n, vt_alloc a, vt_diag *d) VT_NODISCARD;
#endif
