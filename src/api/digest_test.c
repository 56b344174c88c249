/* SPDX-License-Identifier: Apache-2.0
 * digest_test.c - compares digests with values from an independent definition, the following Python
 * program. t is the number of the type, s the shape, x the canonical bytes. The comment of each
 * test gives the calls of D (a tensor's digest) and R (a run's digest) that made its values.
 *
 *   import hashlib, struct
 *   H = lambda b: hashlib.blake2b(b, digest_size=32).digest()
 *   D = lambda t, s, x: H(b"volta1" + struct.pack(f"<II{len(s)}Q", t, len(s), *s)
 *       + b"".join(H(x[i:i + 2**20]) for i in range(0, len(x), 2**20)))
 *   R = lambda o: H(b"volta1 run" + struct.pack("<Q", len(o))
 *       + b"".join(struct.pack("<Q", len(n)) + n + d for n, d in sorted(o)))
 *   print(D(1, [2, 2], struct.pack("<4f", 1, -2, .5, 3)).hex()) */
#include "digest.h"
#include <string.h>
#include "vt_test.h"

static void check_digest_hex(const uint8_t digest[32], const char *want) {
  vt_hash256 h;
  char hex[65];
  memcpy(h.b, digest, sizeof h.b);
  vt_hash_hex(&h, hex);
  CHECK(strcmp(hex, want) == 0);
  if (strcmp(hex, want) != 0) fprintf(stderr, "  %s\n  %s expected\n", hex, want);
}

static void check_tensor_digest(uint32_t dtype, uint32_t rank, const int64_t *dim, void *data,
                                const char *want) {
  vt_tensor t = {.dtype = dtype, .rank = rank, .data = data};
  uint8_t out[32] = {0};
  vt_diag d = {.code = VT_OK};
  for (uint32_t i = 0; i < rank; i++) t.dim[i] = dim[i];
  CHECK(vt_tensor_digest(&t, out, &d) == VT_OK);
  check_digest_hex(out, want);
}

static const int64_t one[1] = {1};

/* The digests are D(1, [2, 2], ...) as in the header; D(5, [1], struct.pack("<i", -2)); D(6, [1],
 * struct.pack("<q", -2)); D(3, [8], bytes(range(8))). */
static void test_digests_of_plain_tensors(void) {
  float f[4] = {1.0f, -2.0f, 0.5f, 3.0f};
  int32_t i32 = -2;
  int64_t i64 = -2;
  int8_t i8[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  check_tensor_digest(VT_DTYPE_F32, 2, (const int64_t[]){2, 2}, f,
                      "7370fd3ca1a435109aa8a50e71801539c1f15dfd07b7f5be487399e8e07af980");
  check_tensor_digest(VT_DTYPE_I32, 1, one, &i32,
                      "1bc33cdaea2b99de15b3041f23c8656f2aad87cadb47401aa96f17fd09a5d873");
  check_tensor_digest(VT_DTYPE_I64, 1, one, &i64,
                      "98a2174b97996fb1a855b45cb0aec5d48cf851e119508f04818cd36ab3098924");
  check_tensor_digest(VT_DTYPE_I8, 1, (const int64_t[]){8}, i8,
                      "f18805a9333a736244f3b5374ee58a62867ad1ad16cf60d07555090754e4af13");
}

/* The digests are D(1, [1], bytes(4)) for +0 and D(1, [1], bytes.fromhex("00000080")) for -0. */
static void test_zeros_differ(void) {
  uint32_t plus = 0, minus = 0x80000000u;
  check_tensor_digest(VT_DTYPE_F32, 1, one, &plus,
                      "c0ee747d79aaf5253f16a9ac8dbce358546195f370b35fcac73a004a98f7b7e1");
  check_tensor_digest(VT_DTYPE_F32, 1, one, &minus,
                      "4142189141136a2ad801fc957a8ee23620d1d62f544aceb8b0ce1915ce1bac45");
}

/* The digests are D(1, [], bytes.fromhex("0000c07f")), D(2, [1], struct.pack("<Q", 0x7ff8 << 48)),
 * D(8, [1], b"\x00\x7e"), D(9, [1], b"\xc0\x7f") and D(7, [3], b"\x00\x01\x01"). They depend
 * neither on the sign or the payload of a NaN, nor on whether it is signalling. */
static void test_nan_is_one_value(void) {
  uint32_t f32[3] = {0x7fc00000u, 0xffc12345u, 0x7f800001u};
  uint64_t f64[2] = {UINT64_C(0xfff0000000000001), UINT64_C(0x7fffffffffffffff)};
  uint16_t f16[2] = {0xfc01, 0x7fff}, bf16[2] = {0xff81, 0x7fff};
  uint8_t yes[3] = {0, 1, 255};
  for (int i = 0; i < 3; i++)
    check_tensor_digest(VT_DTYPE_F32, 0, NULL, &f32[i],
                        "5fc4e1c26552ddecd81af2863ebe17dac3f10703f63a6db5d2d348d7c271f382");
  for (int i = 0; i < 2; i++) {
    check_tensor_digest(VT_DTYPE_F64, 1, one, &f64[i],
                        "0bbe3074af689b973b672f456927a2da545129e1e3ecbe42b6a402e24c9037f6");
    check_tensor_digest(VT_DTYPE_F16, 1, one, &f16[i],
                        "3fa6e20f20994d314a32d55c29c584b6d90d6dd2941186c6c89e955077babdcf");
    check_tensor_digest(VT_DTYPE_BF16, 1, one, &bf16[i],
                        "1282d2393ae4367b57392f5b892ebfe1ec3274cea25552d8ffb370bf097675ac");
  }
  check_tensor_digest(VT_DTYPE_BOOL, 1, (const int64_t[]){3}, yes,
                      "fcd66ed3a4fc3ab17bf7d71189940cf521132569a0d092a2b6ef1f6c656e27c3");
  CHECK(f32[1] == 0xffc12345u && yes[2] == 255); /* the caller's data is unchanged */
}

/* The digests are D(1, [0, 3], b"") and D(1, [3, 0], b""). Both tensors have no leaf; they differ
 * in their shape. */
static void test_empty_tensors(void) {
  check_tensor_digest(VT_DTYPE_F32, 2, (const int64_t[]){0, 3}, NULL,
                      "9a89cf5e069f071fa5a7699891b23bfa7a7d086f3d13d6af7ca974fc706aee30");
  check_tensor_digest(VT_DTYPE_F32, 2, (const int64_t[]){3, 0}, NULL,
                      "b166f97849446660fd395a968aaedaab0241072ab1ea6acb6d0a6069c71aa425");
}

/* With x = bytes((7*i + 13*(i >> 8)) & 255 for i in range(2**21 + 5)), the digests are D(4, [n],
 * x[:n]) for n of one leaf, one leaf and a byte, and all of x. Then, with n = 2**18 + 3 and a NaN
 * in the second leaf, D(1, [n], bytes(4*(n - 1)) + bytes.fromhex("0000c07f")). */
static void test_several_leaves(void) {
  enum { N = 2 * 1024 * 1024 + 5, F = 256 * 1024 + 3 };
  static uint8_t x[N];
  static uint32_t f[F];
  for (uint32_t i = 0; i < N; i++) x[i] = (uint8_t)(7 * i + 13 * (i >> 8));
  check_tensor_digest(VT_DTYPE_U8, 1, (const int64_t[]){1024 * 1024}, x,
                      "14cd0a6cb1a5716fa8b0fecb59c3aadc8e4508a750f168cae7ec89c819be93a6");
  check_tensor_digest(VT_DTYPE_U8, 1, (const int64_t[]){1024 * 1024 + 1}, x,
                      "ddb26fc42658452f29f583fbc1f9ea11a04847dad64796684b1f0e1242d9c8bb");
  check_tensor_digest(VT_DTYPE_U8, 1, (const int64_t[]){N}, x,
                      "bb1204f1e1457b29f41a32164ee7cf5a5f3f7cc3f2b74b19b011e70408fc04d6");
  f[F - 1] = 0xff800001u;
  check_tensor_digest(VT_DTYPE_F32, 1, (const int64_t[]){F}, f,
                      "9bcb2f02ed80ed5b49591cf69967cc9bbbd92b0f85c4c9f7f65f5a67a035de50");
}

static void test_refused_tensors(void) {
  uint8_t out[32] = {9}, before[32] = {9};
  vt_tensor t = {.dtype = VT_DTYPE_F32, .rank = 1, .dim = {1}};
  vt_diag d = {.code = VT_OK};
  CHECK(vt_tensor_digest(&t, out, &d) == VT_TENSOR && d.code == VT_TENSOR);
  t.dim[0] = -1;
  CHECK(vt_tensor_digest(&t, out, NULL) == VT_TENSOR);
  t.dim[0] = INT64_MAX;
  CHECK(vt_tensor_digest(&t, out, NULL) == VT_LIMIT);
  t.rank = 9;
  CHECK(vt_tensor_digest(&t, out, NULL) == VT_LIMIT);
  t = (vt_tensor){.dtype = 10, .data = out};
  CHECK(vt_tensor_digest(&t, out, NULL) == VT_TENSOR);
  CHECK(memcmp(out, before, sizeof out) == 0);
}

/* The digests are R([]) and R([(b"a", bytes(range(32))), (b"ab", bytes(32))]). */
static void test_run_digest(void) {
  const char *const names[2] = {"a", "ab"}, *const wrong[2] = {"ab", "a"},
                    *const twice[2] = {"a", "a"};
  /* These names are in ascending order, because bytes compare as unsigned. */
  const char *const high[2] = {"z", "\xc3\xa4"};
  vt_hash256 digests[2] = {{{0}}, {{0}}};
  uint8_t out[32];
  for (uint8_t i = 0; i < 32; i++) digests[0].b[i] = i;
  CHECK(vt_run_digest(0, NULL, NULL, out) == VT_OK);
  check_digest_hex(out, "64294777bd5cf114204ad51705a3b575b262f08839cb148041dc75fa9dd3382a");
  CHECK(vt_run_digest(2, names, digests, out) == VT_OK);
  check_digest_hex(out, "822af129f818f184af14278a8c784470563c5289e24f1ed19f04836ea79f45db");
  CHECK(vt_run_digest(2, wrong, digests, out) == VT_INTERNAL);
  CHECK(vt_run_digest(2, twice, digests, out) == VT_INTERNAL);
  check_digest_hex(out, "822af129f818f184af14278a8c784470563c5289e24f1ed19f04836ea79f45db");
  CHECK(vt_run_digest(2, high, digests, out) == VT_OK);
}

int main(void) {
  test_digests_of_plain_tensors();
  test_zeros_differ();
  test_nan_is_one_value();
  test_empty_tensors();
  test_several_leaves();
  test_refused_tensors();
  test_run_digest();
  TEST_DONE();
}
