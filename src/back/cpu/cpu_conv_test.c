/* SPDX-License-Identifier: Apache-2.0
 * cpu_conv_test.c - all kinds of convolutions against the reference: pseudo-random sizes, strides,
 * dilations, padding and groups, and the sizes around each change of algorithm. A try returns 0 if
 * the geometry has no outputs, else 1. */
#include "contracted_test.h"

typedef struct geometry {
  uint32_t axes;
  int64_t images, groups, depth, rows; /* depth, rows: input and output channels of a group */
  int64_t dim[3], kernel[3], stride[3], dilation[3], low[3], high[3];
  int bias, wild;
} geometry;

static geometry random_geometry(void) {
  geometry g = {.axes = (uint32_t)random_between(1, 3),
                .images = random_between(1, 3),
                .groups = random_between(0, 2) ? 1 : random_between(1, 4),
                .depth = random_between(1, 5),
                .rows = random_between(1, 10),
                .bias = (int)random_between(0, 1),
                .wild = (int)random_between(0, 1)};
  const int64_t most = g.axes == 1 ? 70 : g.axes == 2 ? 11 : 5;
  for (uint32_t i = 0; i < g.axes; i++) {
    g.dim[i] = random_between(1, most);
    g.kernel[i] = random_between(1, g.axes == 3 ? 3 : 5);
    g.stride[i] = random_between(0, 1) ? 1 : random_between(1, 4);
    g.dilation[i] = random_between(0, 1) ? 1 : random_between(1, 4);
    g.low[i] = random_between(0, 4);
    g.high[i] = random_between(0, 4);
  }
  return g;
}

static int64_t kernel_extent(const geometry *g, uint32_t i) {
  return (g->kernel[i] - 1) * g->dilation[i] + 1;
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

static trial new_trial(const geometry *g, uint32_t op, uint32_t dtype, const int64_t *a_dim,
                       const int64_t *b_dim, const int64_t *y_dim) {
  trial t = {.op = op, .n_in = g->bias ? 3 : 2};
  const int64_t outputs = g->rows * g->groups;
  t.in[0] = random_view(dtype, g->axes + 2, a_dim, g->wild);
  t.in[1] = random_view(dtype, g->axes + 2, b_dim, g->wild);
  if (g->bias) t.in[2] = random_view(dtype, 1, &outputs, g->wild);
  t.out = result_view(dtype, g->axes + 2, y_dim);
  return t;
}

/* ---- conv, conv_transpose and conv_weight_grad ---- */

static int try_conv(const geometry *g, uint32_t dtype, const vt_cpu_team *teams, int n) {
  int64_t places[3], x[5], w[5], y[5];
  for (uint32_t i = 0; i < g->axes; i++) {
    const int64_t room = g->dim[i] + g->low[i] + g->high[i] - kernel_extent(g, i);
    if (room < 0) return 0;
    places[i] = room / g->stride[i] + 1;
  }
  const vt_attr_conv a = {.size = sizeof a,
                          .stride = attr_list_of(g->stride, g->axes),
                          .dilation = attr_list_of(g->dilation, g->axes),
                          .low = attr_list_of(g->low, g->axes),
                          .high = attr_list_of(g->high, g->axes),
                          .groups = g->groups};
  join_dims(g->images, g->depth * g->groups, g->dim, g->axes, x);
  join_dims(g->rows * g->groups, g->depth, g->kernel, g->axes, w);
  join_dims(g->images, g->rows * g->groups, places, g->axes, y);
  trial t = new_trial(g, VT_OP_conv, dtype, x, w, y);
  t.attrs = &a;
  check_trial(&t, teams, n, "conv");
  return 1;
}

static int try_conv_transpose(const geometry *g, uint32_t dtype, const vt_cpu_team *teams, int n) {
  int64_t out[3], x[5], w[5], y[5];
  for (uint32_t i = 0; i < g->axes; i++) {
    out[i] = (g->dim[i] - 1) * g->stride[i] - g->low[i] - g->high[i] + kernel_extent(g, i);
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
  trial t = new_trial(g, VT_OP_conv_transpose, dtype, x, w, y);
  t.attrs = &a;
  check_trial(&t, teams, n, "conv_transpose");
  return 1;
}

/* Tests conv_weight_grad with a random size of dy, because the op accepts any, not only the size of
 * the result of a convolution. */
static int try_conv_weight_grad(geometry *g, uint32_t dtype, const vt_cpu_team *teams, int n) {
  int64_t places[3], x[5], dy[5], w[5];
  for (uint32_t i = 0; i < g->axes; i++) places[i] = random_between(1, g->axes == 1 ? 300 : 8);
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
  trial t = new_trial(g, VT_OP_conv_weight_grad, dtype, x, dy, w);
  t.attrs = &a;
  check_trial(&t, teams, n, "conv_weight_grad");
  return 1;
}

/* ---- sizes ---- */

static void test_random_sizes(const vt_cpu_team *teams, int n) {
  const int tries = vt_test_is_long() ? 2000 : 60;
  int tried[3] = {0};
  for (int i = 0; i < tries; i++) {
    geometry g = random_geometry();
    if (i % 6 == 0) { /* depthwise: groups of one channel */
      g.depth = g.rows = 1;
      g.groups = random_between(1, 70);
    }
    const uint32_t dtype = i % 3 ? VT_DTYPE_F32 : VT_DTYPE_F64;
    tried[0] += try_conv(&g, dtype, teams, n);
    tried[1] += try_conv_transpose(&g, dtype, teams, n);
    tried[2] += try_conv_weight_grad(&g, dtype, teams, n);
  }
  for (int i = 0; i < 3; i++) CHECK(tried[i] > tries / 3);
}

/* Tests contractions whose lengths are around blocks of 256 and groups of 8 blocks; the longest has
 * several levels of sums. */
static void test_contraction_lengths(const vt_cpu_team *teams, int n) {
  static const int64_t depth[] = {1, 255, 256, 257, 2047, 2048, 2049, 16385};
  for (int i = 0; i < 8; i++) {
    geometry g = {.axes = 1,
                  .images = 1,
                  .groups = 1,
                  .depth = depth[i],
                  .rows = 2,
                  .dim = {3},
                  .kernel = {1},
                  .stride = {1},
                  .dilation = {1}};
    try_conv(&g, VT_DTYPE_F32, teams, n);
    g.low[0] = 1;
    try_conv(&g, VT_DTYPE_F32, teams, n);
    g = (geometry){.axes = 1,
                   .images = 1,
                   .groups = 1,
                   .depth = 1,
                   .rows = 1,
                   .dim = {depth[i] + 4},
                   .kernel = {depth[i]},
                   .stride = {1},
                   .dilation = {1}};
    if (depth[i] < 3000) try_conv(&g, VT_DTYPE_F32, teams, n);
    try_conv_transpose(&(geometry){.axes = 1,
                                   .images = 1,
                                   .groups = 1,
                                   .depth = depth[i],
                                   .rows = 1,
                                   .dim = {2},
                                   .kernel = {2},
                                   .stride = {2},
                                   .dilation = {1}},
                       VT_DTYPE_F32, teams, n);
  }
}

/* Tests large padding, distant taps and strides larger than x, for which a grid would be too large.
 * */
static void test_taps_too_far_for_a_grid(const vt_cpu_team *teams, int n) {
  const int64_t far = INT64_C(1) << 30;
  geometry g = {.axes = 1,
                .images = 1,
                .groups = 1,
                .depth = 2,
                .rows = 3,
                .dim = {8},
                .kernel = {2},
                .stride = {1},
                .dilation = {far},
                .low = {far}};
  CHECK(try_conv(&g, VT_DTYPE_F32, teams, n));
  CHECK(try_conv_weight_grad(&g, VT_DTYPE_F32, teams, n));
  g.dilation[0] = 1;
  g.stride[0] = far;
  CHECK(try_conv(&g, VT_DTYPE_F32, teams, n));
  g = (geometry){.axes = 2,
                 .images = 2,
                 .groups = 2,
                 .depth = 1,
                 .rows = 1,
                 .dim = {2, 3},
                 .kernel = {2, 2},
                 .stride = {37, 19},
                 .dilation = {5, 19},
                 .low = {1, 0},
                 .bias = 1};
  CHECK(try_conv_transpose(&g, VT_DTYPE_F32, teams, n));
}

/* Tests axes without elements and groups without channels. */
static void test_empty_axes(const vt_cpu_team *teams, int n) {
  geometry g = {.axes = 2,
                .images = 2,
                .groups = 1,
                .rows = 3,
                .dim = {4, 4},
                .kernel = {2, 2},
                .stride = {1, 1},
                .dilation = {1, 1},
                .bias = 1};
  CHECK(try_conv(&g, VT_DTYPE_F32, teams, n));
  CHECK(try_conv_transpose(&g, VT_DTYPE_F64, teams, n));
  g.depth = 1;
  g.images = 0;
  CHECK(try_conv(&g, VT_DTYPE_F32, teams, n));
  CHECK(try_conv_weight_grad(&g, VT_DTYPE_F32, teams, n));
  g.images = 1;
  g.dim[1] = 0;
  g.high[1] = 3;
  CHECK(try_conv(&g, VT_DTYPE_F32, teams, n));
}

int main(void) {
  vt_cpu_team teams[TEAMS];
  const int n = teams_open(teams);
  test_random_sizes(teams, n);
  test_contraction_lengths(teams, n);
  test_taps_too_far_for_a_grid(teams, n);
  test_empty_axes(teams, n);
  teams_close(teams, n);
  TEST_DONE();
}
