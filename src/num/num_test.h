/* SPDX-License-Identifier: Apache-2.0
 * num_test.h - what the tests of this room share: comparison of bits in which NaN is one value,
 * random patterns of every class from a fixed seed, and the slices of exhaustive.digests. */
#ifndef VT_NUM_TEST_H
#define VT_NUM_TEST_H
#include <dirent.h>
#include <stdint.h>
#include <string.h>
#include "vt_file.h"
#include "vt_hash.h"
#include "vt_num.h"
#include "vt_test.h"

static inline int same_f32(float a, float b) {
  return (a != a && b != b) || vt_f32_bits(a) == vt_f32_bits(b);
}
static inline int same_f64(double a, double b) {
  return (a != a && b != b) || vt_f64_bits(a) == vt_f64_bits(b);
}

/* splitmix64 */
static inline uint64_t random_u64(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

enum {
#define VT_FUNCTION(name, estimate, judge) FUNCTION_##name,
#include "functions.def"
#undef VT_FUNCTION
  N_FUNCTIONS
};

/* The digests of hard.def: results in order, NaN as one value. */
static inline uint64_t digest_add(uint64_t h, float y) {
  h = (h ^ (y != y ? 0x7fc00000u : vt_f32_bits(y))) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

/* The pairs behind VT_RANDOM_POW: x from 2^-16 to 2^17, |y| from 2^-4 to 2^4. */
static inline void random_pow(uint64_t *state, float *x, float *y) {
  const uint64_t r = random_u64(state);
  const uint32_t e = 111 + (uint32_t)(r >> 55) % 33, d = 123 + (uint32_t)(r >> 46) % 8;
  *x = vt_f32_from_bits(e << 23 | ((uint32_t)r & 0x7fffff));
  *y = vt_f32_from_bits((uint32_t)(r >> 54) << 31 | d << 23 | ((uint32_t)(r >> 23) & 0x7fffff));
}

/* Under a sanitizer everything takes several times as long: long tests have a shorter form there.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
#else
enum { SANITIZED = 0 };
#endif

/* `make test-full` asks for the long forms. */
static inline int is_long_form(void) { return getenv("VOLTA_TEST_FULL") != NULL; }

/* About 1, so that sums and products of several stay finite and round. */
static inline float ordinary_f32(uint64_t *state) {
  const uint64_t r = random_u64(state);
  const uint32_t sign = (uint32_t)(r >> 63) << 31, exponent = 120 + (uint32_t)(r >> 40) % 12;
  return vt_f32_from_bits(sign | exponent << 23 | ((uint32_t)r & 0x7fffff));
}
static inline double ordinary_f64(uint64_t *state) {
  const uint64_t r = random_u64(state), e = 1016 + random_u64(state) % 12;
  return vt_f64_from_bits((r & UINT64_C(0x800fffffffffffff)) | e << 52);
}

/* Every class of pattern: plain bits, sparse fractions (ties), zeros, subnormals, inf, NaN. */
static inline float any_f32(uint64_t *state) {
  const uint64_t r = random_u64(state);
  const uint32_t u = (uint32_t)(r >> 32), sign = u & 0x80000000u;
  switch (r % 16) {
    case 0:
      return vt_f32_from_bits(sign);
    case 1:
      return vt_f32_from_bits(sign | (u & 0x7fffff));
    case 2:
      return vt_f32_from_bits(sign | 0x7f800000u);
    case 3:
      return vt_f32_from_bits(u | 0x7fc00000u);
    case 4:
    case 5:
    case 6:
      return vt_f32_from_bits(u & 0xff801001u);
    default:
      return vt_f32_from_bits(u);
  }
}
static inline double any_f64(uint64_t *state) {
  const uint64_t r = random_u64(state), u = random_u64(state), sign = u & UINT64_C(1) << 63;
  switch (r % 16) {
    case 0:
      return vt_f64_from_bits(sign);
    case 1:
      return vt_f64_from_bits(sign | (u & UINT64_C(0xfffffffffffff)));
    case 2:
      return vt_f64_from_bits(sign | UINT64_C(0x7ff0000000000000));
    case 3:
      return vt_f64_from_bits(u | UINT64_C(0x7ff8000000000000));
    case 4:
    case 5:
    case 6:
      return vt_f64_from_bits(u & UINT64_C(0xfff0000004000001));
    default:
      return vt_f64_from_bits(u);
  }
}

/* ---- the slices of exhaustive.digests ---- */

enum { SLICE = 1 << 24, SOURCES = 128, SOURCE_NAME = 64, SOURCE_LIMIT = 1 << 20 };

/* Whether a file of this room may have a part in a result: C, and no test. */
static inline int is_source(const char *name) {
  const char *end = strrchr(name, '.');
  const int c = end != NULL && (strcmp(end, ".c") == 0 || strcmp(end, ".h") == 0 ||
                                strcmp(end, ".inc") == 0 || strcmp(end, ".def") == 0);
  return c && strstr(name, "_test.") == NULL;
}

static inline int by_name(const void *a, const void *b) { return strcmp(a, b); }

/* The names of the sources, sorted: a folder lists them in any order. Their number. */
static inline size_t list_sources(char names[SOURCES][SOURCE_NAME]) {
  size_t n = 0;
  DIR *folder = opendir("src/num");
  CHECK(folder != NULL);
  for (struct dirent *e; folder != NULL && (e = readdir(folder)) != NULL;) {
    if (!is_source(e->d_name)) continue;
    CHECK(n < SOURCES && strlen(e->d_name) < SOURCE_NAME);
    if (n < SOURCES && strlen(e->d_name) < SOURCE_NAME) strcpy(names[n++], e->d_name);
  }
  if (folder != NULL) closedir(folder);
  qsort(names, n, SOURCE_NAME, by_name);
  return n;
}

/* A number below 256 that any change of the sources changes. */
static inline unsigned choose_slice(void) {
  static char names[SOURCES][SOURCE_NAME];
  const size_t n = list_sources(names);
  vt_hasher h;
  vt_hash_init(&h);
  for (size_t i = 0; i < n; i++) {
    char path[SOURCE_NAME + 16];
    vt_file f;
    snprintf(path, sizeof path, "src/num/%s", names[i]);
    const int is_read = vt_file_read(path, SOURCE_LIMIT, vt_alloc_default(), &f, NULL) == VT_OK;
    CHECK(is_read);
    if (!is_read) continue;
    vt_hash_add(&h, f.data, f.size);
    vt_file_done(&f);
  }
  CHECK(n > 0);
  return vt_hash_done(&h).b[0];
}

/* exhaustive.digests, a text that ends in 0; 0 when it cannot be read. */
static inline int read_digests(vt_file *out) {
  const vt_status status =
      vt_file_read("src/num/exhaustive.digests", SOURCE_LIMIT, vt_alloc_default(), out, NULL);
  CHECK(status == VT_OK);
  return status == VT_OK;
}

/* The digest that stands there for a function and a slice, or NULL. */
static inline const char *published_digest(const vt_file *digests, const char *name,
                                           unsigned slice) {
  char key[32];
  snprintf(key, sizeof key, "%s %3u ", name, slice);
  for (const char *line = (const char *)digests->data; line != NULL && *line != 0;
       line = strchr(line, '\n')) {
    line += *line == '\n';
    if (strncmp(line, key, strlen(key)) == 0) return line + strlen(key);
  }
  return NULL;
}

/* A slice of a function has the digest that stands there. `results` has room for a slice. */
static inline void test_digest_slice(const char *name, float (*call)(float x), unsigned slice,
                                     uint32_t *results, const vt_file *digests) {
  char hex[65];
  for (uint32_t i = 0; i < SLICE; i++) {
    const float y = call(vt_f32_from_bits((uint32_t)slice << 24 | i));
    results[i] = y != y ? 0x7fc00000u : vt_f32_bits(y);
  }
  const vt_hash256 h = vt_hash_bytes(results, (size_t)SLICE * sizeof *results);
  const char *want = published_digest(digests, name, slice);
  vt_hash_hex(&h, hex);
  if (want == NULL || strncmp(hex, want, 32) != 0)
    fprintf(stderr, "%s: slice %u is %.32s\n", name, slice, hex);
  CHECK(want != NULL && strncmp(hex, want, 32) == 0);
}

/* An argument NAME:SLICE: whether the name is this one, and the slice; SLICE where there is none.
 */
static inline int is_named(const char *argument, const char *name, unsigned long *slice) {
  const size_t length = strcspn(argument, ":");
  *slice = argument[length] == 0 ? SLICE : strtoul(argument + length + 1, NULL, 10);
  return strlen(name) == length && strncmp(argument, name, length) == 0;
}
#endif
