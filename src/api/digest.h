/* SPDX-License-Identifier: Apache-2.0
 * digest.h - the digest of a run, which combines the digests of its outputs. Private to the api;
 * the digest of a tensor is in volta.h. */
#ifndef VT_DIGEST_H
#define VT_DIGEST_H
#include "volta/volta.h"
#include "vt_hash.h"

/* Hashes the names and digests of `n` outputs. The caller must have sorted them by name, in
 * strictly ascending byte order; otherwise it fails with VT_INTERNAL. */
vt_status vt_run_digest(uint64_t n, const char *const *names, const vt_hash256 *digests,
                        uint8_t out[32]) VT_NODISCARD;
#endif
