/* SPDX-License-Identifier: Apache-2.0
 * cuda_conv_test.c - convolutions of all kinds on a GPU have the bits of the reference kernels:
 * random sizes, strides, dilations, padding and groups, the sizes at which the algorithm changes,
 * and every tile against the reference. A function try_... that returns a number returns how many
 * cases it ran: none if the windows do not fit. Skipped without a device. */
#include "cuda_conv.h"
#include "device_trial_test.h"

typedef struct geometry {
  uint32_t axes;
  int64_t images, groups, depth, rows; /* channels and rows of the weight, per group */
  int64_t dim[3], kernel[3], stride[3], dilation[3], low[3], high[3];
  int bias, wild;
} geometry;

static geometry random_geometry(void) {
  geometry g = {.axes = (uint32_t)random_between(1, 3),
                .images = random_between(1, 3),
                .groups = random_between(0, 2) ? 1 : random_between(1, 4),
                .depth = random_between(1, 40),
                .rows = random_between(1, 20),
                .bias = (int)random_between(0, 1),
                .wild = (int)random_between(0, 1)};
  const int64_t most = g.axes == 1 ? 70 : g.axes == 2 ? 9 : 4;
  for (uint32_t i = 0; i < g.axes; i++) {
    g.dim[i] = random_between(1, most);
    g.kernel[i] = random_between(1, g.axes == 3 ? 3 : 4);
    g.stride[i] = random_between(0, 1) ? 1 : random_between(1, 4);
    g.dilation[i] = random_between(0, 1) ? 1 : random_between(1, 4);
    g.low[i] = random_between(0, 3);
    g.high[i] = random_between(0, 3);
  }
  return g;
}

static int64_t dilated_kernel_length(const geometry *g, uint32_t axis) {
  return (g->kernel[axis] - 1) * g->dilation[axis] + 1;
}
static vt_attr_list attr_list_of(const int64_t *v, uint32_t n) {
  vt_attr_list l = {.n = n};
  memcpy(l.v, v, n * sizeof *v);
  return l;
}
static void join_dims(int64_t first, int64_t second, const int64_t *rest, uint32_t n,
                      int64_t *out) {
  out[0] = first;
  out[1] = second;
  memcpy(out + 2, rest, n * sizeof *rest);
}

/* Adds the operands a and b and the result y to the trial; returns the offset of the result. */
static uint64_t add_operands_and_result(device *d, trial *t, const geometry *g, uint32_t dtype,
                                        const int64_t *a_dim, const int64_t *b_dim,
                                        const int64_t *y_dim) {
  const int64_t outputs = g->rows * g->groups;
  t->n_in = g->bias ? 3 : 2;
  t->in[0] = add_random_layout_tensor(d, dtype, g->axes + 2, a_dim, g->wild, 0);
  t->in[1] = add_random_layout_tensor(d, dtype, g->axes + 2, b_dim, g->wild, 0);
  if (g->bias) t->in[2] = add_random_layout_tensor(d, dtype, 1, &outputs, g->wild, 0);
  const uint64_t first = d->used;
  t->out = add_random_layout_tensor(d, dtype, g->axes + 2, y_dim, 0, 1);
  return first;
}

/* ---- conv ---- */

static int compute_output_dims(const geometry *g, int64_t *places) {
  for (uint32_t i = 0; i < g->axes; i++) {
    const int64_t space = g->dim[i] + g->low[i] + g->high[i] - dilated_kernel_length(g, i);
    if (space < 0) return 0;
    places[i] = space / g->stride[i] + 1;
  }
  return 1;
}

static vt_attr_conv conv_attrs(const geometry *g) {
  return (vt_attr_conv){.size = sizeof(vt_attr_conv),
                        .stride = attr_list_of(g->stride, g->axes),
                        .dilation = attr_list_of(g->dilation, g->axes),
                        .low = attr_list_of(g->low, g->axes),
                        .high = attr_list_of(g->high, g->axes),
                        .groups = g->groups};
}

static uint64_t begin_conv_trial(device *d, trial *t, const geometry *g, uint32_t dtype,
                                 const vt_attr_conv *a, const int64_t *places) {
  int64_t x[5], w[5], y[5];
  join_dims(g->images, g->depth * g->groups, g->dim, g->axes, x);
  join_dims(g->rows * g->groups, g->depth, g->kernel, g->axes, w);
  join_dims(g->images, g->rows * g->groups, places, g->axes, y);
  *t = (trial){.op = VT_OP_conv, .attrs = a};
  return add_operands_and_result(d, t, g, dtype, x, w, y);
}

static int try_conv(device *d, const geometry *g, uint32_t dtype) {
  const vt_attr_conv a = conv_attrs(g);
  int64_t places[3];
  trial t;
  if (!compute_output_dims(g, places)) return 0;
  const uint64_t first = begin_conv_trial(d, &t, g, dtype, &a, places);
  trial_run_and_compare(d, &t, first, "conv");
  return 1;
}

/* ---- every tile ---- */

typedef struct one_variant {
  const geometry *g;
  vt_cuda_variant variant;
} one_variant;

static int describe_tiled_conv(const vt_cuda_call *c, vt_gpu_conv *out) {
  const vt_attr_conv *a = c->attrs;
  const vt_window_lists l = {
      .stride = &a->stride, .dilation = &a->dilation, .low = &a->low, .high = &a->high};
  vt_gpu_direct_conv s = vt_cuda_direct_conv(c, &l, a->groups);
  if (c->n_in > 2) {
    s.bias = c->in[2].data;
    s.bias_step = c->in[2].stride[0];
  }
  return vt_cuda_conv_describe_tiled(c, &s, out);
}

static vt_status issue_variant(vt_cuda_call *c, const void *context) {
  vt_gpu_conv v;
  CHECK(describe_tiled_conv(c, &v));
  return vt_cuda_conv_run_variant(c, &v, &((const one_variant *)context)->variant);
}

/* Tries every variant whose tile has number `first_tile` or a higher one; the first tiles are the
 * largest and the slowest without a GPU. Returns the number of variants. */
static int try_tile_variants(device *d, const geometry *g, uint32_t dtype, uint32_t first_tile) {
  const vt_attr_conv a = conv_attrs(g);
  int64_t places[3];
  trial t;
  vt_gpu_conv v;
  one_variant w = {.g = g};
  int n = 0;
  char what[80];
  if (!compute_output_dims(g, places)) return 0;
  const uint64_t first = begin_conv_trial(d, &t, g, dtype, &a, places);
  const vt_cuda_call c = {.traits = vt_cuda_card_traits(d->dev->card),
                          .in = t.in,
                          .n_in = t.n_in,
                          .out = &t.out,
                          .attrs = &a};
  if (describe_tiled_conv(&c, &v)) {
    trial_compute_expected(d, &t, first);
    for (; vt_cuda_conv_variant_at(c.traits, dtype, &v, (uint32_t)n, &w.variant); n++) {
      if (w.variant.tile < first_tile) continue;
      snprintf(what, sizeof what, "conv, tile %u, slices of %lld", w.variant.tile,
               (long long)w.variant.slice);
      run_trial_on_device(d, &t, vt_cuda_conv_variant_scratch(dtype, &v, &w.variant), issue_variant,
                          &w);
      trial_compare_results(d, &t, first, what);
    }
  }
  d->used = 0;
  return n;
}

/* ---- the others ---- */

static int try_conv_transpose(device *d, const geometry *g, uint32_t dtype) {
  int64_t out[3], x[5], w[5], y[5];
  trial t;
  for (uint32_t i = 0; i < g->axes; i++) {
    out[i] = (g->dim[i] - 1) * g->stride[i] - g->low[i] - g->high[i] + dilated_kernel_length(g, i);
    if (out[i] < 0) return 0;
  }
  const vt_attr_conv_transpose a = {.size = sizeof a,
                                    .stride = attr_list_of(g->stride, g->axes),
                                    .dilation = attr_list_of(g->dilation, g->axes),
                                    .low = attr_list_of(g->low, g->axes),
                                    .high = attr_list_of(g->high, g->axes),
                                    .groups = g->groups};
  join_dims(g->images, g->depth * g->groups, g->dim, g->axes, x);
  join_dims(g->depth * g->groups, g->rows, g->kernel, g->axes, w);
  join_dims(g->images, g->rows * g->groups, out, g->axes, y);
  t = (trial){.op = VT_OP_conv_transpose, .attrs = &a};
  const uint64_t first = add_operands_and_result(d, &t, g, dtype, x, w, y);
  trial_run_and_compare(d, &t, first, "conv_transpose");
  return 1;
}

/* Tries conv_weight_grad. The gradient dy gets a random size, which need not be that of a
 * convolution's result. */
static int try_weight_grad(device *d, geometry *g, uint32_t dtype) {
  int64_t places[3], x[5], dy[5], w[5];
  trial t;
  for (uint32_t i = 0; i < g->axes; i++) places[i] = random_between(1, g->axes == 1 ? 300 : 6);
  const vt_attr_conv_weight_grad a = {.size = sizeof a,
                                      .kernel = attr_list_of(g->kernel, g->axes),
                                      .stride = attr_list_of(g->stride, g->axes),
                                      .dilation = attr_list_of(g->dilation, g->axes),
                                      .low = attr_list_of(g->low, g->axes),
                                      .groups = g->groups};
  join_dims(g->images, g->depth * g->groups, g->dim, g->axes, x);
  join_dims(g->images, g->rows * g->groups, places, g->axes, dy);
  join_dims(g->rows * g->groups, g->depth, g->kernel, g->axes, w);
  g->bias = 0;
  t = (trial){.op = VT_OP_conv_weight_grad, .attrs = &a};
  const uint64_t first = add_operands_and_result(d, &t, g, dtype, x, dy, w);
  trial_run_and_compare(d, &t, first, "conv_weight_grad");
  return 1;
}

/* ---- sizes ---- */

static void try_random_convs(device *d) {
  const int tries = vt_test_is_long() ? 400 : 12;
  int tried[4] = {0};
  for (int i = 0; i < tries; i++) {
    geometry g = random_geometry();
    if (i % 6 == 0) { /* a depthwise convolution: every channel is a group of its own */
      g.depth = 1;
      g.rows = 1;
      g.groups = random_between(1, 70);
    }
    const uint32_t dtype = i % 3 ? VT_DTYPE_F32 : VT_DTYPE_F64;
    tried[0] += try_conv(d, &g, dtype);
    tried[1] += try_tile_variants(d, &g, dtype, 0) > 0;
    tried[2] += try_conv_transpose(d, &g, dtype);
    tried[3] += try_weight_grad(d, &g, dtype);
  }
  for (int i = 0; i < 4; i++) CHECK(tried[i] > 0);
}

/* Tries contractions so long that sums of groups, and of groups of groups, are stored in memory. */
static void try_long_contractions(device *d) {
  static const int64_t depths[] = {229, 1821};
  for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
    geometry g = {.axes = 2,
                  .images = 1,
                  .groups = 1,
                  .depth = depths[i],
                  .rows = 9,
                  .dim = {3, 2},
                  .kernel = {3, 3},
                  .stride = {1, 1},
                  .dilation = {1, 1},
                  .low = {1, 1},
                  .high = {1, 1},
                  .bias = 1};
    CHECK(try_conv(d, &g, VT_DTYPE_F32));
    g.bias = i % 2 == 0;
    /* counts variants that were tried: tiles do not support some of the random layouts */
    int n = 0;
    for (int t = 0; t < 30 && n == 0; t++)
      n = try_tile_variants(d, &g, i == 0 ? VT_DTYPE_F64 : VT_DTYPE_F32, vt_test_is_long() ? 0 : 3);
    CHECK(n > 0);
  }
}

/* Tries windows of one tap, where the last position, or the only one along an axis, reads
 * padding. */
static void try_single_taps(device *d) {
  geometry g = {.axes = 1,
                .images = 2,
                .groups = 1,
                .depth = 17,
                .rows = 8,
                .dim = {11},
                .kernel = {1, 1},
                .stride = {2, 1},
                .dilation = {1, 1},
                .high = {2}};
  CHECK(try_conv(d, &g, VT_DTYPE_F32));
  g.axes = 2;
  g.dim[0] = 3;
  g.stride[0] = 5;
  g.low[0] = 1;
  g.high[0] = 0;
  g.dim[1] = 6;
  CHECK(try_conv(d, &g, VT_DTYPE_F32));
}

/* Tries windows that only read padding, results without taps, and empty tensors. */
static void try_padding_only_and_empty(device *d) {
  geometry g = {.axes = 1,
                .images = 1,
                .groups = 1,
                .depth = 2,
                .rows = 12,
                .dim = {0},
                .kernel = {2},
                .stride = {5},
                .dilation = {1},
                .low = {40},
                .high = {40},
                .bias = 1};
  CHECK(try_conv(d, &g, VT_DTYPE_F32));
  g.dim[0] = 7;
  g.low[0] = 0;
  g.high[0] = 0;
  /* the stride is larger than the kernel, so some results have no tap */
  CHECK(try_conv_transpose(d, &g, VT_DTYPE_F32));
  g.depth = 0;
  CHECK(try_conv(d, &g, VT_DTYPE_F32));
  CHECK(try_conv_transpose(d, &g, VT_DTYPE_F32));
  g.depth = 1;
  g.images = 0;
  CHECK(try_conv(d, &g, VT_DTYPE_F32));
  CHECK(try_weight_grad(d, &g, VT_DTYPE_F32)); /* each result is a sum without terms */
}

int main(void) {
  device d;
  vt_fpenv env;
  if (!test_device_open(&d, &env)) return 77;
  try_random_convs(&d);
  try_long_contractions(&d);
  try_single_taps(&d);
  try_padding_only_and_empty(&d);
  vt_fpenv_leave(&env);
  test_device_close(&d);
  TEST_DONE();
}
