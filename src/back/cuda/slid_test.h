/* SPDX-License-Identifier: Apache-2.0
 * slid_test.h - for the tests of convolutions, pools and small integers: steps run on a device
 * against the reference kernel of their op, with tensors that are turned, spread, reversed or
 * repeated. The host's memory for a trial is copied to the device as it is, and back. */
#ifndef VT_SLID_TEST_H
#define VT_SLID_TEST_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cuda_backend.h"
#include "vt_fpenv.h"
#include "vt_test.h"

enum { OPERANDS = 5, ROOM = 1 << 25 };

typedef struct device {
  const vt_bk_api *api;
  vt_bk_device *dev;
  uint64_t buffer; /* ROOM bytes */
  char *host, *want;
  uint64_t used;
} device;

typedef struct trial {
  uint32_t op, n_in;
  const void *attrs;
  vt_view in[OPERANDS], out;
} trial;

/* ---- numbers ---- */

static uint64_t random_state = 20240607;
static uint64_t random_word(void) { /* SplitMix64 */
  uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int64_t random_of(int64_t low, int64_t high) {
  return low + (int64_t)(random_word() % (uint64_t)(high - low + 1));
}

static double random_real(int wild) {
  static const double odd[] = {0.0, -0.0, 1e-40, -1e-45, 3e38, -3e38, 1e-30};
  if (wild && random_of(0, 9) == 0) return odd[random_of(0, 6)];
  if (wild && random_of(0, 299) == 0) return random_of(0, 1) ? (double)INFINITY : (double)NAN;
  const double x = ldexp((double)(random_word() >> 11), -53 + (int)random_of(0, 8));
  return random_of(0, 1) ? x : -x; /* all bits of a number count: no sum of them is exact */
}

static void put_random(void *at, uint32_t dtype, int wild) {
  const double x = random_real(wild);
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

/* Axes in any order, with gaps, reversed or repeated; a result is never repeated. */
static vt_view view_random(device *d, uint32_t dtype, uint32_t rank, const int64_t *dim, int wild,
                           int result) {
  const int64_t bytes = (int64_t)vt_cuda_bytes_of(dtype);
  const int dense = random_of(0, 2) > 0, turned = random_of(0, 2) == 0;
  vt_view v = {.dtype = dtype, .rank = rank};
  int64_t step = 1, low = 0;
  for (uint32_t i = 0; i < rank; i++) v.dim[i] = dim[i];
  for (uint32_t i = rank; i-- > 0;) {
    const uint32_t axis = !dense && turned && rank > 1 ? (i + 1) % rank : i;
    v.stride[axis] = step;
    step *= dim[axis] > 0 ? dim[axis] : 1;
    if (!dense && random_of(0, 4) == 0) step += random_of(1, 5);
    if (!dense && !result && random_of(0, 9) == 0) v.stride[axis] = 0;
    if (!dense && random_of(0, 9) == 0 && dim[axis] > 0) {
      low += v.stride[axis] * (dim[axis] - 1);
      v.stride[axis] = -v.stride[axis];
    }
  }
  char *data = d->host + d->used;
  d->used = (d->used + (uint64_t)(step * bytes) + 15) / 16 * 16 + (random_of(0, 3) == 0 ? 8 : 0);
  if (d->used > ROOM) abort();
  for (int64_t i = 0; i < step; i++) put_random(data + i * bytes, dtype, wild);
  v.data = data + low * bytes;
  return v;
}

/* ---- runs ---- */

static void run_reference(const trial *t) {
  const vt_op_info *op = vt_op_get(t->op);
  vt_kernel k = {.in = t->in, .n_in = t->n_in, .out = &t->out, .n_out = 1, .attrs = t->attrs};
  k.work = malloc((op->work != NULL ? (size_t)op->work(t->in, t->n_in) : 0) + 1);
  CHECK(k.work != NULL && op->kernel(&k) == VT_OK);
  free(k.work);
}

static vt_view moved(const device *d, vt_view v) {
  const uint64_t at = d->buffer + (uint64_t)((char *)v.data - d->host);
  memcpy(&v.data, &at, sizeof v.data);
  return v;
}

/* What is issued by `way`, with scratch that holds no numbers. */
typedef vt_status issue_fn(vt_cuda_call *c, const void *context);
static void run_device(device *d, const trial *t, uint64_t work_bytes, issue_fn *issue,
                       const void *context) {
  const vt_cu *cu = vt_cuda_card_driver(d->dev->card);
  vt_view in[OPERANDS], out = moved(d, t->out);
  uint64_t work = 0;
  for (uint32_t i = 0; i < t->n_in; i++) in[i] = moved(d, t->in[i]);
  vt_cuda_call c = {.dev = d->dev,
                    .traits = vt_cuda_card_traits(d->dev->card),
                    .in = in,
                    .n_in = t->n_in,
                    .out = &out,
                    .n_out = 1,
                    .attrs = t->attrs};
  CHECK(d->api->copy(d->dev, d->host, d->buffer, 0, d->used, 1) == VT_OK);
  CHECK(d->api->buffer_new(d->dev, work_bytes + 1, &work) == VT_OK);
  memcpy(&c.work, &work, sizeof c.work);
  CHECK(vt_cuda_card_enter(d->dev->card) == VT_OK);
  CHECK(vt_cuda_fill(&c, c.work, 0xff, work_bytes) == VT_OK);
  CHECK(issue(&c, context) == VT_OK);
  CHECK(cu->cuStreamSynchronize(d->dev->stream) == VT_CU_SUCCESS);
  vt_cuda_card_leave(d->dev->card);
  CHECK(d->api->copy(d->dev, d->host, d->buffer, 0, d->used, 0) == VT_OK);
  d->api->buffer_free(d->dev, work);
}

/* Bytes, except that every NaN is one. */
static int64_t differing(const char *a, const char *b, uint64_t n, uint32_t dtype) {
  const uint64_t size = vt_cuda_bytes_of(dtype);
  int64_t bad = 0;
  for (uint64_t i = 0; i + size <= n; i += size) {
    float f[2];
    double g[2];
    if (memcmp(a + i, b + i, size) == 0) continue;
    bad++;
    if (dtype == VT_DTYPE_F32) {
      memcpy(&f[0], a + i, 4), memcpy(&f[1], b + i, 4);
      bad -= f[0] != f[0] && f[1] != f[1];
    } else if (dtype == VT_DTYPE_F64) {
      memcpy(&g[0], a + i, 8), memcpy(&g[1], b + i, 8);
      bad -= g[0] != g[0] && g[1] != g[1];
    }
  }
  return bad;
}

/* The result of the reference is in `want`, and `host` is as it was before. The result was the last
 * to be made. */
static uint64_t trial_begin(device *d, const trial *t, uint64_t first) {
  memcpy(d->want, d->host, d->used);
  run_reference(t);
  for (uint64_t i = 0; i < d->used; i++) {
    const char was = d->want[i];
    d->want[i] = d->host[i], d->host[i] = was;
  }
  return first;
}

/* Everything from the result on, so that what is written beside it shows too. */
static int trial_end(const device *d, const trial *t, uint64_t first, const char *what) {
  const int64_t bad = differing(d->want + first, d->host + first, d->used - first, t->out.dtype);
  if (bad != 0) fprintf(stderr, "%s: %lld differ\n", what, (long long)bad);
  CHECK(bad == 0);
  return bad == 0;
}

static vt_status issue_handler(vt_cuda_call *c, const void *context) {
  const vt_cuda_handler *h = context;
  return h->run(c);
}
static uint64_t handler_work(device *d, const trial *t) {
  const vt_cuda_handler *h = vt_cuda_handler_of(t->op);
  const vt_cuda_call c = {.dev = d->dev,
                          .traits = vt_cuda_card_traits(d->dev->card),
                          .in = t->in,
                          .n_in = t->n_in,
                          .out = &t->out,
                          .n_out = 1,
                          .attrs = t->attrs};
  return h->work == NULL ? 0 : h->work(&c);
}

/* As programs run it. `first` is where the result begins in the host's memory. */
static void trial_run(device *d, const trial *t, uint64_t first, const char *what) {
  trial_begin(d, t, first);
  run_device(d, t, handler_work(d, t), issue_handler, vt_cuda_handler_of(t->op));
  trial_end(d, t, first, what);
  d->used = 0;
}

/* ---- the device ---- */

extern vt_backend_query_fn vt_cuda_query;

static void *resize(void *user, void *p, uint64_t old_size, uint64_t new_size) {
  (void)user, (void)old_size;
  if (new_size != 0) return realloc(p, (size_t)new_size);
  free(p);
  return NULL;
}
static void say(void *user, int32_t status, const char *text) {
  (void)user;
  fprintf(stderr, "%d: %s\n", (int)status, text);
}

/* 0 when there is none. */
static int device_begin(device *d, vt_fpenv *env) {
  static const vt_bk_host host = {
      .size = sizeof host, .abi_major = VT_BK_ABI_MAJOR, .resize = resize, .diag = say};
  uint32_t devices = 0;
  *d = (device){.api = vt_cuda_query(&host), .host = malloc(ROOM), .want = malloc(ROOM)};
  if (d->host == NULL || d->want == NULL) abort();
  CHECK(d->api->device_count(&host, &devices) == VT_OK);
  if (devices == 0) return 0;
  CHECK(d->api->device_open(&host, 0, &d->dev) == VT_OK);
  CHECK(d->api->buffer_new(d->dev, ROOM, &d->buffer) == VT_OK);
  vt_fpenv_enter(env);
  return 1;
}
static void device_end(device *d) {
  if (d->dev != NULL) d->api->buffer_free(d->dev, d->buffer);
  if (d->dev != NULL) d->api->device_close(d->dev);
  free(d->host);
  free(d->want);
}
#endif
