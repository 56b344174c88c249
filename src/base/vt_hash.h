/* SPDX-License-Identifier: Apache-2.0
 * vt_hash.h - BLAKE2b-256, the only content hash of the project, and a fast hash for tables keyed
 * by name. */
#ifndef VT_HASH_H
#define VT_HASH_H
#include <stddef.h>
#include <stdint.h>

typedef struct vt_hash256 {
  uint8_t b[32];
} vt_hash256;

typedef struct vt_hasher {
  _Alignas(64) unsigned char opaque[384];
} vt_hasher;

void vt_hash_init(vt_hasher *h);
void vt_hash_add(vt_hasher *h, const void *p, size_t n);
void vt_hash_add_u32(vt_hasher *h, uint32_t v); /* hashes v as 4 bytes, little-endian */
void vt_hash_add_u64(vt_hasher *h, uint64_t v); /* hashes v as 8 bytes, little-endian */
vt_hash256 vt_hash_done(vt_hasher *h);
vt_hash256 vt_hash_bytes(const void *p, size_t n);
/* SipHash of a string, for hash tables that are never iterated; it costs a tenth of a content hash.
 * Names come from files, which may be hostile: no method is known to construct names with colliding
 * SipHashes, short of trying. */
uint64_t vt_hash_name(const char *name);
void vt_hash_hex(const vt_hash256 *h, char out[65]);
#endif
