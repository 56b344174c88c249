/* SPDX-License-Identifier: Apache-2.0
 * digest.c - the digests of tensors and runs. Their definition is published and fixed to the byte.
 * H is BLAKE2b-256; integers are little-endian.
 *
 *   leaf i  H(the i-th MiB of the row-major little-endian elements, NaN canonical, bool 0 or 1)
 *   tensor  H("volta1", u32 dtype, u32 rank, u64 each dimension, the leaves in order)
 *   run     H("volta1 run", u64 outputs, for each in ascending byte order of names:
 *             u64 length of the name, the name, the tensor's digest)
 *
 * A leaf does not depend on other leaves, so leaves can be hashed in any order or in parallel. */
#include "digest.h"
#include <string.h>
#include "vt_num.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are hashed in the byte order of the machine");

/* Bytes of the buffer in which elements become canonical: a multiple of the size of any element. */
enum { PIECE = 16 * 1024 };

/* Hashes canonical copies of the elements, one piece at a time; the caller's data is not
 * changed. */
static vt_hash256 hash_leaf(const uint8_t *p, size_t n, uint32_t dtype) {
  _Alignas(64) uint8_t piece[PIECE];
  vt_hasher h;
  vt_hash_init(&h);
  for (size_t at = 0; at < n; at += PIECE) {
    const size_t m = n - at < PIECE ? n - at : PIECE;
    memcpy(piece, p + at, m);
    vt_canonical(piece, dtype, m / vt_dtype_bytes(dtype));
    vt_hash_add(&h, piece, m);
  }
  return vt_hash_done(&h);
}

void vt_digest_begin(vt_hasher *h, const vt_tensor *t) {
  vt_hash_init(h);
  vt_hash_add(h, "volta1", 6);
  vt_hash_add_u32(h, t->dtype);
  vt_hash_add_u32(h, t->rank);
  for (uint32_t i = 0; i < t->rank; i++) vt_hash_add_u64(h, (uint64_t)t->dim[i]);
}

void vt_digest_add_leaf(vt_hasher *h, const void *p, size_t n, uint32_t dtype) {
  const vt_hash256 leaf = hash_leaf(p, n, dtype);
  vt_hash_add(h, leaf.b, sizeof leaf.b);
}

vt_status vt_tensor_digest(const vt_tensor *t, uint8_t out[32], vt_diag *d) {
  uint64_t bytes;
  VT_TRY(vt_tensor_bytes(t, NULL, &bytes, d));
  if (bytes != 0 && t->data == NULL)
    return VT_FAIL(d, VT_TENSOR, "a tensor without data has no digest");
  vt_hasher h;
  vt_digest_begin(&h, t);
  const uint8_t *p = t->data;
  for (uint64_t at = 0; at < bytes; at += VT_DIGEST_LEAF)
    vt_digest_add_leaf(
        &h, p + at, bytes - at < VT_DIGEST_LEAF ? (size_t)(bytes - at) : VT_DIGEST_LEAF, t->dtype);
  const vt_hash256 digest = vt_hash_done(&h);
  memcpy(out, digest.b, sizeof digest.b);
  return VT_OK;
}

vt_status vt_run_digest(uint64_t n, const char *const *names, const vt_hash256 *digests,
                        uint8_t out[32]) {
  vt_hasher h;
  vt_hash_init(&h);
  vt_hash_add(&h, "volta1 run", 10);
  vt_hash_add_u64(&h, n);
  for (uint64_t i = 0; i < n; i++) {
    if (i > 0 && strcmp(names[i - 1], names[i]) >= 0) return VT_INTERNAL;
    const size_t length = strlen(names[i]);
    vt_hash_add_u64(&h, length);
    vt_hash_add(&h, names[i], length);
    vt_hash_add(&h, digests[i].b, sizeof digests[i].b);
  }
  const vt_hash256 digest = vt_hash_done(&h);
  memcpy(out, digest.b, sizeof digest.b);
  return VT_OK;
}
