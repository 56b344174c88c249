/* SPDX-License-Identifier: Apache-2.0
 * card_test.h - for tests that run steps on a device: a device with one buffer, a copy of that
 * buffer in host memory, and random numbers. If a function is called with `with_specials`, some
 * numbers are zeros, infinities, NaNs or extreme. */
#ifndef VT_CARD_TEST_H
#define VT_CARD_TEST_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "host_test.h"
#include "vt_fpenv.h"
#include "vt_test.h"

enum { CAPACITY = 1 << 25 };

typedef struct device {
  const vt_bk_api *api;
  vt_bk_device *dev;
  uint64_t buffer; /* handle of a buffer of CAPACITY bytes */
  char *host, *want;
  uint64_t used;
} device;

/* ---- numbers ---- */

static uint64_t random_state = 20240607;
static uint64_t random_word(void) { /* returns the next word of the random generator SplitMix64 */
  uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int64_t random_between(int64_t low, int64_t high) {
  return low + (int64_t)(random_word() % (uint64_t)(high - low + 1));
}

static double random_real(int with_specials) {
  static const double odd[] = {0.0, -0.0, 1e-40, -1e-45, 3e38, -3e38, 1e-30};
  if (with_specials && random_between(0, 9) == 0) return odd[random_between(0, 6)];
  if (with_specials && random_between(0, 299) == 0)
    return random_between(0, 1) ? (double)INFINITY : (double)NAN;
  const double x = ldexp((double)(random_word() >> 11), -53 + (int)random_between(0, 8));
  /* the numbers have many nonzero bits, so that sums of them are rounded */
  return random_between(0, 1) ? x : -x;
}

static void store_random(void *at, uint32_t dtype, int with_specials) {
  const double x = random_real(with_specials);
  const float f = (float)x;
  const uint64_t word = random_word();
  const uint8_t edges[] = {0, 127, 128, 255},
                byte = word % 3 ? (uint8_t)(word >> 8) : edges[word / 3 % 4];
  if (dtype == VT_DTYPE_F32) {
    memcpy(at, &f, sizeof f);
  } else if (dtype == VT_DTYPE_F64) {
    memcpy(at, &x, sizeof x);
  } else if (dtype == VT_DTYPE_I8 || dtype == VT_DTYPE_U8) {
    memcpy(at, &byte, 1);
  } else {
    memcpy(at, &word, vt_cuda_bytes_of(dtype));
  }
}

/* ---- tensors ---- */

/* Adds a dense tensor with random values to d->host, the host's copy of the buffer, after the
 * existing tensors and a gap, and returns its view in host memory. Its offset in the buffer is a
 * multiple of 256 plus `bytes_past_aligned`. */
static inline vt_view add_dense_tensor(device *d, uint32_t dtype, uint32_t rank, const int64_t *dim,
                                       uint64_t bytes_past_aligned) {
  const int64_t bytes = (int64_t)vt_cuda_bytes_of(dtype);
  vt_view v = {.dtype = dtype, .rank = rank};
  int64_t step = 1;
  d->used = (d->used + 255) / 256 * 256 + bytes_past_aligned;
  v.data = d->host + d->used;
  for (uint32_t i = rank; i-- > 0; step *= dim[i]) {
    v.dim[i] = dim[i];
    v.stride[i] = step;
  }
  d->used += (uint64_t)(step * bytes) + 64;
  if (d->used > CAPACITY) abort();
  for (int64_t i = 0; i < step; i++) store_random((char *)v.data + i * bytes, dtype, 0);
  return v;
}

/* ---- the log of the emulated driver of tests/fake_cuda ---- */

static char card_log[] = "/tmp/card_test.XXXXXX";

static inline uint32_t count_log_lines(const char *text) {
  char line[512];
  uint32_t n = 0;
  FILE *f = fopen(card_log, "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL) n += strstr(line, text) != NULL;
  if (f != NULL) fclose(f);
  return n;
}
/* Returns 1 if the driver writes a log, as the emulated one does. Without a log tests cannot tell
 * which kernels were launched. */
static inline int driver_is_logged(void) { return count_log_lines("cuInit") > 0; }

/* begin_driver_log starts the log, before a device is opened; remove_driver_log removes it at the
 * end of the process. */
static inline void remove_driver_log(void) { (void)unlink(card_log); }
static inline void begin_driver_log(void) {
  const int file = mkstemp(card_log);
  if (file < 0 || close(file) != 0 || atexit(remove_driver_log) != 0) abort();
  setenv("FAKE_CUDA_LOG", card_log, 1);
}

/* ---- comparing ---- */

/* Returns how many elements of two arrays differ in bits; all NaNs count as equal. */
static int64_t count_differing_elements(const char *a, const char *b, uint64_t bytes,
                                        uint32_t dtype) {
  const uint64_t size = vt_cuda_bytes_of(dtype);
  int64_t bad = 0;
  for (uint64_t i = 0; i + size <= bytes; i += size) {
    float f[2];
    double g[2];
    if (memcmp(a + i, b + i, size) == 0) continue;
    bad++;
    if (dtype == VT_DTYPE_F32) {
      memcpy(&f[0], a + i, 4);
      memcpy(&f[1], b + i, 4);
      bad -= f[0] != f[0] && f[1] != f[1];
    } else if (dtype == VT_DTYPE_F64) {
      memcpy(&g[0], a + i, 8);
      memcpy(&g[1], b + i, 8);
      bad -= g[0] != g[0] && g[1] != g[1];
    }
  }
  return bad;
}

/* ---- the device ---- */

static void test_device_close(device *d) {
  if (d->dev != NULL) d->api->buffer_free(d->dev, d->buffer);
  if (d->dev != NULL) d->api->device_close(d->dev);
  free(d->host);
  free(d->want);
}

/* Opens the device; returns 0 if there is no GPU. Then test_device_close must not be called. */
static int test_device_open(device *d, vt_fpenv *env) {
  uint32_t devices = 0;
  *d = (device){
      .api = vt_cuda_query(&test_host), .host = malloc(CAPACITY), .want = malloc(CAPACITY)};
  if (d->host == NULL || d->want == NULL) abort();
  CHECK(d->api->device_count(&test_host, &devices) == VT_OK);
  if (devices == 0) {
    test_device_close(d);
    return 0;
  }
  CHECK(d->api->device_open(&test_host, 0, &d->dev) == VT_OK);
  CHECK(d->api->buffer_new(d->dev, CAPACITY, &d->buffer) == VT_OK);
  vt_fpenv_enter(env);
  return 1;
}
#endif
