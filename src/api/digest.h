/* SPDX-License-Identifier: Apache-2.0
 * digest.h - the digest of a tensor that is read in parts, and that of a run, which combines the
 * digests of its outputs. Private to the api; the digest of a tensor in memory is in volta.h. */
#ifndef VT_DIGEST_H
#define VT_DIGEST_H
#include "volta/volta.h"
#include "vt_hash.h"

/* Bytes of a leaf of a tensor's digest: a multiple of the size of any element. */
enum { VT_DIGEST_LEAF = 1024 * 1024 };
/* Begins the digest of a tensor with its type and shape; `data` is not read. Then each leaf is
 * added in order; only the last one may be shorter. The elements need not be canonical. */
void vt_digest_begin(vt_hasher *h, const vt_tensor *t);
void vt_digest_add_leaf(vt_hasher *h, const void *p, size_t n, uint32_t dtype);

/* Hashes the names and digests of `n` outputs. The caller must have sorted them by name, in
 * strictly ascending byte order; otherwise it fails with VT_INTERNAL. */
vt_status vt_run_digest(uint64_t n, const char *const *names, const vt_hash256 *digests,
                        uint8_t out[32]) VT_NODISCARD;
#endif
