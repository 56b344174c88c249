/* SPDX-License-Identifier: Apache-2.0
 * digest.h - the digest of a run. Private to api/; the digest of a tensor is in volta.h. */
#ifndef VT_DIGEST_H
#define VT_DIGEST_H
#include "volta/volta.h"
#include "vt_hash.h"

/* Over the names and digests of `n` outputs. The names must ascend strictly in byte order:
 * VT_INTERNAL otherwise, because whoever calls has ordered them. */
vt_status vt_run_digest(uint64_t n, const char *const *names, const vt_hash256 *digests,
                        uint8_t out[32]) VT_NODISCARD;
#endif
