/* SPDX-License-Identifier: Apache-2.0
 * cuda_attention_test.c - attention on a GPU has the bits of the reference kernel: shapes around
 * every size at which the algorithm changes, operands that are transposed, have gaps or negative
 * strides, masks, and NaNs. Skipped without a device. */
#include <string.h>
#include "cuda_backend.h"
#include "host_test.h"
#include "vt_fpenv.h"
#include "vt_num.h"
#include "vt_test.h"

enum { MASK = 1, BIAS = 2, LENGTH = 4, CAPACITY = 1 << 19 };
typedef enum layout { STRAIGHT, SPLIT_HEADS, TRANSPOSED, REVERSED, SPREAD } layout;

typedef struct shape {
  int64_t batch, heads, groups, queries, keys, depth, width;
  int64_t causal, window;
  double scale;
  unsigned extras;
  layout placement;
  int wild; /* 1 if k, v and the bias contain infinities and NaN */
} shape;

static const shape shapes[] = {
    /* shapes with few queries, which the split kernels compute */
    {1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, STRAIGHT, 0},
    {2, 3, 1, 5, 7, 4, 3, 1, 0, 0, 0, STRAIGHT, 0},
    {2, 2, 2, 13, 129, 16, 70, 1, 0, 0, MASK, TRANSPOSED, 1},
    {1, 1, 1, 9, 300, 5, 16, 1, 20, 0, 0, REVERSED, 1},
    {1, 2, 2, 3, 2100, 4, 6, 1, 1030, 0, MASK, STRAIGHT, 1},
    {1, 1, 1, 30, 2100, 4, 6, 1, 0, 0, 0, STRAIGHT, 0},
    {1, 4, 2, 1, 1500, 16, 48, 1, 0, 0, 0, STRAIGHT, 0},
    {2, 4, 2, 1, 700, 8, 20, 1, 0, 0, LENGTH, SPLIT_HEADS, 1},
    {1, 1, 1, 1, 17000, 2, 3, 0, 0, 0, BIAS, STRAIGHT, 0},
    {1, 1, 1, 7, 20, 255, 4, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 7, 20, 257, 4, 0, 0, 0, 0, TRANSPOSED, 0},
    {1, 1, 1, 33, 300, 136, 4, 1, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 7, 20, 2048, 4, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 7, 20, 2049, 4, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 2, 3, 16641, 2, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 15, 4, 6, 2, 1, 0, 0, 0, STRAIGHT, 0}, /* the first queries have no keys */
    {1, 1, 1, 3, 0, 6, 2, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 3, 5, 0, 2, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 3, 5, 0, 2, 0, 0, 0.5, MASK, STRAIGHT, 0},
    {1, 1, 1, 0, 300, 3, 2, 0, 0, 0, 0, STRAIGHT, 0},
    {0, 1, 1, 3, 5, 3, 2, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 3, 5, 3, 0, 0, 0, 0, 0, STRAIGHT, 0},
    /* shapes with many queries, which the tiled kernels compute */
    {1, 2, 2, 50, 70, 64, 64, 1, 0, 0, 0, SPLIT_HEADS, 0},
    {1, 4, 2, 64, 64, 64, 64, 1, 0, 0, 0, SPLIT_HEADS, 1},
    {1, 2, 1, 130, 130, 64, 64, 1, 0, 0, 0, STRAIGHT, 0},
    {1, 2, 1, 49, 130, 33, 17, 0, 0, 0.3, MASK | BIAS | LENGTH, STRAIGHT, 1},
    {1, 2, 2, 97, 97, 8, 8, 1, 0, 0, 0, STRAIGHT, 1},
    {1, 1, 1, 100, 300, 5, 16, 1, 20, 0, 0, REVERSED, 1},
    {1, 1, 1, 60, 300, 5, 16, 0, 9, -2, BIAS, SPREAD, 1},
    {1, 1, 1, 60, 300, 5, 16, 0, 9, 0, MASK, SPREAD, 0},
    {1, 1, 1, 70, 600, 128, 100, 1, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 40, 300, 65, 12, 1, 0, 0, 0, TRANSPOSED, 1},
    {1, 1, 1, 33, 2100, 20, 24, 1, 1030, 0, 0, STRAIGHT, 1},
    {2, 1, 1, 33, 1100, 4, 8, 1, 0, 0, LENGTH, STRAIGHT, 1},
    {1, 1, 1, 32, 17000, 4, 3, 0, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 40, 4, 6, 2, 1, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 40, 0, 6, 2, 1, 0, 0, 0, STRAIGHT, 0},
    {1, 1, 1, 40, 5, 0, 2, 0, 0, 0, 0, STRAIGHT, 0},
};

/* ---- values ---- */

static uint64_t random_word(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33;
}

static float random_float(uint64_t *seed, int with_specials) {
  static const uint32_t odd[] = {0x7f800000u, 0xff800000u, 0x7fc00000u,
                                 0x80000000u, 1u,          0x7f7fffffu};
  const uint64_t r = random_word(seed);
  if (with_specials && r % 1999 == 0) return vt_f32_from_bits(odd[r / 1999 % 6]);
  return (float)((double)(r & 0xffffff) * 0x1p-22 - 2.0);
}

/* Sets the strides: swaps axes 1 and 2, or 2 and 3, in memory; or makes all strides negative, or
 * twice as large. */
static void set_strides(vt_view *v, layout placement) {
  int order[4] = {0, 1, 2, 3};
  int64_t step = placement == SPREAD ? 2 : 1;
  if (placement == SPLIT_HEADS) {
    order[1] = 2;
    order[2] = 1;
  }
  if (placement == TRANSPOSED) {
    order[2] = 3;
    order[3] = 2;
  }
  for (int i = 3; i >= 0; i--) {
    v->stride[order[i]] = step;
    step *= v->dim[order[i]] > 0 ? v->dim[order[i]] : 1;
  }
  if (placement != REVERSED) return;
  v->data = (float *)v->data + step - 1;
  for (int i = 0; i < 4; i++) v->stride[i] = -v->stride[i];
}

static vt_view float_view_without_strides(float *data, int64_t batch, int64_t heads, int64_t time,
                                          int64_t width) {
  return (vt_view){
      .dtype = VT_DTYPE_F32, .rank = 4, .dim = {batch, heads, time, width}, .data = data};
}

typedef struct operands { /* all operands, in one struct that is copied to the device as a whole */
  float q[CAPACITY], k[CAPACITY], v[CAPACITY], bias[CAPACITY], out[CAPACITY];
  uint8_t mask[CAPACITY];
  int64_t length[4];
} operands;

typedef struct views {
  vt_view in[6], out;
  uint32_t n;
} views;

/* Adds the optional operands. The mask is shared by all heads, the bias by all queries. */
static void add_optional_operands(operands *o, const shape *s, views *v) {
  if (s->extras & MASK)
    v->in[v->n++] = (vt_view){.dtype = VT_DTYPE_BOOL,
                              .rank = 4,
                              .dim = {s->batch, 1, s->queries, s->keys},
                              .stride = {s->queries * s->keys, 0, s->keys, 1},
                              .data = o->mask};
  if (s->extras & BIAS)
    v->in[v->n++] = (vt_view){.dtype = VT_DTYPE_F32,
                              .rank = 3,
                              .dim = {s->heads, 1, s->keys},
                              .stride = {2 * s->keys, 0, 2},
                              .data = o->bias};
  if (s->extras & LENGTH)
    v->in[v->n++] = (vt_view){
        .dtype = VT_DTYPE_I64, .rank = 1, .dim = {s->batch}, .stride = {1}, .data = o->length};
}

static void fill_and_view_operands(operands *o, const shape *s, uint64_t seed, views *v) {
  for (int i = 0; i < CAPACITY; i++) {
    o->q[i] = random_float(&seed, 0);
    o->k[i] = random_float(&seed, s->wild);
    o->v[i] = random_float(&seed, s->wild);
    o->mask[i] = random_word(&seed) % 3 != 0;
    o->bias[i] = random_float(&seed, s->wild);
    o->out[i] = 77;
  }
  for (int i = 0; i < 4; i++) o->length[i] = s->keys - 2 - i * s->keys / 3;
  v->in[0] = float_view_without_strides(o->q, s->batch, s->heads, s->queries, s->depth);
  v->in[1] = float_view_without_strides(o->k, s->batch, s->groups, s->keys, s->depth);
  v->in[2] = float_view_without_strides(o->v, s->batch, s->groups, s->keys, s->width);
  v->out = float_view_without_strides(o->out, s->batch, s->heads, s->queries, s->width);
  v->n = 3;
  for (int i = 0; i < 3; i++) set_strides(&v->in[i], s->placement);
  set_strides(&v->out, s->placement);
  add_optional_operands(o, s, v);
}

/* ---- runs ---- */

static void run_reference(const views *v, const vt_attr_attention *a) {
  const vt_op_info *op = vt_op_get(VT_OP_attention);
  vt_kernel k = {.in = v->in, .n_in = v->n, .out = &v->out, .n_out = 1, .attrs = a};
  k.work = malloc((size_t)op->work(v->in, v->n) + 1);
  CHECK(k.work != NULL && op->kernel(&k) == VT_OK);
  free(k.work);
}

/* A device, and the traits of a card that the handler gets, which may differ from the device's
 * own. */
typedef struct device {
  const vt_cuda_traits *traits;
  const vt_bk_api *api;
  vt_bk_device *dev;
} device;

static vt_view view_on_device(vt_view v, const operands *host, uint64_t device_address) {
  const uint64_t offset = (uint64_t)((const char *)v.data - (const char *)host);
  const uint64_t at = device_address + offset;
  memcpy(&v.data, &at, sizeof v.data);
  return v;
}

static void run_attention_and_wait(const device *d, vt_cuda_call *c, uint64_t work_bytes) {
  uint64_t work = 0;
  const vt_cu *cu = vt_cuda_card_driver(d->dev->card);
  CHECK(d->api->buffer_new(d->dev, work_bytes, &work) == VT_OK);
  memcpy(&c->work, &work, sizeof c->work);
  if (work_bytes == 0) c->work = NULL;
  CHECK(vt_cuda_enter_device(d->dev) == VT_OK);
  CHECK(vt_cuda_set_bytes(c, c->work, 0x7f, work_bytes) == VT_OK);
  CHECK(vt_cuda_run_attention(c) == VT_OK);
  CHECK(cu->cuStreamSynchronize(d->dev->stream) == VT_CU_SUCCESS);
  vt_cuda_card_leave(d->dev->card);
  d->api->buffer_free(d->dev, work);
}

static void run_device(const device *d, operands *o, const views *v, const vt_attr_attention *a) {
  uint64_t buffer = 0;
  views on_device = *v;
  CHECK(d->api->buffer_new(d->dev, sizeof *o, &buffer) == VT_OK);
  CHECK(d->api->copy(d->dev, o, buffer, 0, sizeof *o, 1) == VT_OK);
  for (uint32_t i = 0; i < v->n; i++) on_device.in[i] = view_on_device(v->in[i], o, buffer);
  on_device.out = view_on_device(v->out, o, buffer);
  vt_cuda_call c = {.dev = d->dev,
                    .traits = d->traits,
                    .in = on_device.in,
                    .n_in = v->n,
                    .out = &on_device.out,
                    .n_out = 1,
                    .attrs = a};
  run_attention_and_wait(d, &c, vt_cuda_scratch_attention(&c));
  CHECK(d->api->copy(d->dev, o, buffer, 0, sizeof *o, 0) == VT_OK);
  d->api->buffer_free(d->dev, buffer);
}

static int64_t count_differing(const float *x, const float *y, int64_t n) {
  int64_t bad = 0;
  for (int64_t i = 0; i < n; i++)
    bad += x[i] != x[i] ? y[i] == y[i] : vt_f32_bits(x[i]) != vt_f32_bits(y[i]);
  return bad;
}

/* Compares all of `out`, so that writes next to the result show too. */
static void check_shape_against_reference(const device *d, operands *o, float *want,
                                          const shape *s) {
  const vt_attr_attention a = {
      .size = sizeof a, .causal = s->causal, .window = s->window, .scale = s->scale};
  views v;
  fill_and_view_operands(o, s, 17, &v);
  run_reference(&v, &a);
  memcpy(want, o->out, sizeof o->out);
  for (int i = 0; i < CAPACITY; i++) o->out[i] = 77;
  run_device(d, o, &v, &a);
  const int64_t bad = count_differing(want, o->out, CAPACITY);
  if (bad != 0) fprintf(stderr, "shape %d: %lld differ\n", (int)(s - shapes), (long long)bad);
  CHECK(bad == 0);
}

int main(void) {
  device d = {.api = vt_cuda_query(&test_host)};
  uint32_t devices = 0;
  vt_fpenv env;
  CHECK(d.api->device_count(&test_host, &devices) == VT_OK);
  if (devices == 0) return 77;
  CHECK(d.api->device_open(&test_host, 0, &d.dev) == VT_OK);
  vt_fpenv_enter(&env);
  operands *o = malloc(sizeof *o);
  float *want = malloc(sizeof o->out);
  if (o == NULL || want == NULL || vt_test_failed) return 1;
  /* The test pretends three cards: the real one; one with so few multiprocessors that a thread
   * block gets several tiles of queries; and one without memory for scores, so that the kernel
   * computes them twice. */
  const vt_cuda_traits own = *vt_cuda_card_traits(d.dev->card);
  vt_cuda_traits small = own, poor = own;
  small.processors = 1;
  poor.memory = 0;
  const vt_cuda_traits *const cards[] = {&own, &small, &poor};
  for (size_t k = 0; k < sizeof cards / sizeof *cards; k++) {
    d.traits = cards[k];
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
      check_shape_against_reference(&d, o, want, &shapes[i]);
  }
  d.api->device_close(d.dev);
  free(want);
  free(o);
  TEST_DONE();
}
