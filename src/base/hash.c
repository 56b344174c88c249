/* SPDX-License-Identifier: Apache-2.0
 * hash.c - BLAKE2b-256 and SipHash by libsodium. Its functions fail only for invalid lengths, and
 * all lengths here are valid constants. They work without sodium_init, which only selects a faster
 * compression function. */
#include "vt_hash.h"
#include <sodium/crypto_generichash_blake2b.h>
#include <sodium/crypto_shorthash_siphash24.h>
#include <string.h>

_Static_assert(sizeof(crypto_generichash_blake2b_state) <= sizeof((vt_hasher *)0)->opaque,
               "vt_hasher is too small for libsodium's state");
_Static_assert(_Alignof(crypto_generichash_blake2b_state) <= _Alignof(vt_hasher),
               "vt_hasher is not aligned for libsodium's state");

static crypto_generichash_blake2b_state *libsodium_state(vt_hasher *h) {
  return (crypto_generichash_blake2b_state *)(void *)h->opaque;
}

void vt_hash_init(vt_hasher *h) {
  (void)crypto_generichash_blake2b_init(libsodium_state(h), NULL, 0, sizeof(vt_hash256));
}

void vt_hash_add(vt_hasher *h, const void *p, size_t n) {
  if (n != 0) (void)crypto_generichash_blake2b_update(libsodium_state(h), p, n);
}

static void add_little_endian(vt_hasher *h, uint64_t v, size_t bytes) {
  uint8_t b[8];
  for (size_t i = 0; i < bytes; i++) b[i] = (uint8_t)(v >> (8 * i));
  vt_hash_add(h, b, bytes);
}

void vt_hash_add_u32(vt_hasher *h, uint32_t v) { add_little_endian(h, v, 4); }
void vt_hash_add_u64(vt_hasher *h, uint64_t v) { add_little_endian(h, v, 8); }

vt_hash256 vt_hash_done(vt_hasher *h) {
  vt_hash256 out = {{0}};
  (void)crypto_generichash_blake2b_final(libsodium_state(h), out.b, sizeof out.b);
  return out;
}

vt_hash256 vt_hash_bytes(const void *p, size_t n) {
  vt_hasher h;
  vt_hash_init(&h);
  vt_hash_add(&h, p, n);
  return vt_hash_done(&h);
}

void vt_hash_hex(const vt_hash256 *h, char out[65]) {
  static const char digit[] = "0123456789abcdef";
  for (size_t i = 0; i < sizeof h->b; i++) {
    out[2 * i] = digit[h->b[i] >> 4];
    out[2 * i + 1] = digit[h->b[i] & 15];
  }
  out[64] = 0;
}

/* The key is constant: any value would do, but hashes must not differ between runs. */
uint64_t vt_hash_name(const char *name) {
  static const unsigned char key[crypto_shorthash_siphash24_KEYBYTES] = "volta names";
  unsigned char out[crypto_shorthash_siphash24_BYTES];
  uint64_t v;
  (void)crypto_shorthash_siphash24(out, (const unsigned char *)name, strlen(name), key);
  memcpy(&v, out, sizeof v);
  return v;
}
