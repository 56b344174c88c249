/* SPDX-License-Identifier: Apache-2.0
 * hash_test.c - BLAKE2b-256 gives known digests, streaming equals one call, and hashes of names
 * spread well. */
#include "vt_hash.h"
#include <string.h>
#include "vt_test.h"

static int hash_prints_as(vt_hash256 h, const char *want) {
  char hex[65];
  vt_hash_hex(&h, hex);
  return strcmp(hex, want) == 0;
}

static void test_known_digests(void) {
  uint8_t v[1280];
  for (size_t i = 0; i < sizeof v; i++) v[i] = (uint8_t)i;
  CHECK(hash_prints_as(vt_hash_bytes(NULL, 0),
                       "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8"));
  CHECK(hash_prints_as(vt_hash_bytes("abc", 3),
                       "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"));
  CHECK(hash_prints_as(vt_hash_bytes(v, sizeof v),
                       "82628cbfc9689e234b0923a531f4578fe2e7138a03e2f81ed6cde97517336650"));
}

/* Adding the bytes in pieces of any length gives the digest of the whole. */
static void test_streaming_equals_one_call(void) {
  uint8_t v[1000];
  for (size_t i = 0; i < sizeof v; i++) v[i] = (uint8_t)(i * 31);
  const vt_hash256 want = vt_hash_bytes(v, sizeof v);
  for (size_t piece = 1; piece < 300; piece++) {
    vt_hasher h;
    vt_hash_init(&h);
    for (size_t i = 0; i < sizeof v; i += piece) {
      vt_hash_add(&h, v + i, sizeof v - i < piece ? sizeof v - i : piece);
      vt_hash_add(&h, NULL, 0);
    }
    const vt_hash256 got = vt_hash_done(&h);
    CHECK(memcmp(&got, &want, sizeof got) == 0);
  }
}

static void test_integers_are_little_endian(void) {
  static const uint8_t bytes[] = {4, 3, 2, 1, 8, 7, 6, 5, 4, 3, 2, 1};
  vt_hasher h;
  vt_hash_init(&h);
  vt_hash_add_u32(&h, 0x01020304u);
  vt_hash_add_u64(&h, 0x0102030405060708u);
  const vt_hash256 got = vt_hash_done(&h), want = vt_hash_bytes(bytes, sizeof bytes);
  CHECK(memcmp(&got, &want, sizeof got) == 0);
}

/* The hash depends on the characters only, not on their address, and its low bits spread well over
 * names that count upwards, as names in files do. */
static void test_name_hashes_spread(void) {
  enum { SLOTS = 1 << 12 };
  static uint8_t used[SLOTS];
  char a[16], b[32];
  uint32_t most = 0;
  for (int i = 0; i < SLOTS; i++) {
    snprintf(a, sizeof a, "x%d", i);
    snprintf(b, sizeof b, ".......%s", a);
    CHECK(vt_hash_name(a) == vt_hash_name(b + 7) && vt_hash_name(a) != vt_hash_name(b));
    const uint8_t n = ++used[vt_hash_name(a) % SLOTS];
    if (n > most) most = n;
  }
  CHECK(most < 12);
}

int main(void) {
  test_known_digests();
  test_name_hashes_spread();
  test_streaming_equals_one_call();
  test_integers_are_little_endian();
  TEST_DONE();
}
