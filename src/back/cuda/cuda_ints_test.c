/* SPDX-License-Identifier: Apache-2.0
 * cuda_ints_test.c - products and convolutions of 8-bit integers on a GPU against the reference
 * kernels: all types, zero points and biases, random shapes. Skipped without a device. */
#include "device_trial_test.h"

static uint32_t random_byte_type(void) { return random_between(0, 1) ? VT_DTYPE_I8 : VT_DTYPE_U8; }

static vt_attr_list attr_list_of(const int64_t *v, uint32_t n) {
  vt_attr_list l = {.n = n};
  memcpy(l.v, v, n * sizeof *v);
  return l;
}

/* ---- matmul_int, linear_int ---- */

/* Adds the operands a and b of a product; depending on `leading_axes`, b has the leading axes of a,
 * none, or some that repeat. */
static void add_product_operands(device *d, trial *t, int64_t m, int64_t n, int64_t k,
                                 uint32_t leading_axes) {
  const int64_t a[4] = {random_between(1, 3), random_between(1, 2), m, k}, b[4] = {1, a[1], k, n};
  const uint32_t own = random_between(0, 1) ? leading_axes : 0;
  t->in[0] =
      add_random_layout_tensor(d, random_byte_type(), leading_axes + 2, a + 2 - leading_axes, 0, 0);
  t->in[1] = add_random_layout_tensor(d, random_byte_type(), own + 2, b + 2 - own, 0, 0);
  const uint32_t each = (uint32_t)random_between(0, 1);
  t->in[2] = add_random_layout_tensor(d, t->in[0].dtype, 0, NULL, 0, 0);
  t->in[3] = add_random_layout_tensor(d, t->in[1].dtype, each, &n, 0, 0);
  t->in[4] = add_random_layout_tensor(d, VT_DTYPE_I32, 1, &n, 0, 0);
}

static void try_product(device *d, int64_t m, int64_t n, int64_t k, uint32_t leading_axes,
                        uint32_t n_in) {
  trial t = {.op = n_in == 5 ? VT_OP_linear_int : VT_OP_matmul_int, .n_in = n_in};
  int64_t y[4] = {0, 0, m, n};
  add_product_operands(d, &t, m, n, k, leading_axes);
  if (n_in == 5 && t.in[1].rank != 2) {
    d->used = 0;
    return;
  }
  for (uint32_t i = 0; i < leading_axes; i++) y[2 - leading_axes + i] = t.in[0].dim[i];
  const uint64_t first = d->used;
  t.out = add_random_layout_tensor(d, VT_DTYPE_I32, leading_axes + 2, y + 2 - leading_axes, 0, 1);
  trial_run_and_compare(d, &t, first, n_in == 5 ? "linear_int" : "matmul_int");
}

/* Tries a product that is large enough for the larger tiles on this card; the last tiles are
 * incomplete. */
static void try_large_tiles(device *d, int64_t k, uint32_t n_in) {
  int64_t side = 1;
  while (side * side < vt_cuda_card_traits(d->dev->card)->processors) side++;
  try_product(d, 128 * side, 128 * side - 3, k, 0, n_in);
}

static void try_products(device *d) {
  const int tries = vt_test_is_long() ? 400 : 24;
  for (int i = 0; i < tries; i++)
    try_product(d, random_between(1, 40), random_between(1, 70), random_between(0, 80),
                (uint32_t)random_between(0, 2), (uint32_t)random_between(2, 5));
  try_product(d, 130, 131, 200, 0, 4);
  try_product(d, 128, 128, 64, 0, 2);
  try_product(d, 64, 256, 256, 1, 5);
  try_large_tiles(d, 64, 2);
  try_large_tiles(d, 100, 4);
  try_large_tiles(d, 145, 5);
  for (int64_t m = 1; m <= 17; m += 4)
    for (uint32_t n_in = 2; n_in <= 5; n_in++) {
      try_product(d, m, 75, 16 * random_between(1, 80), 0, n_in);
      try_product(d, m, 96, 4 * random_between(4, 300), n_in % 2, n_in);
    }
  try_product(d, 1, 1, 4096, 0, 2);
  try_product(d, 3, 5, 33025, 0, 4); /* the largest k that cannot overflow */
  try_product(d, 0, 5, 3, 0, 2);
}

/* ---- conv_int ---- */

typedef struct conv_shape {
  uint32_t axes, n_in;
  int dense;                           /* 1 for layouts that the tiled kernels support */
  int64_t images, groups, depth, rows; /* channels and rows of the weight, per group */
  int64_t dim[3], kernel[3], stride[3], dilation[3], low[3], high[3];
} conv_shape;

static vt_view add_conv_tensor(device *d, const conv_shape *s, uint32_t dtype, const int64_t *dim,
                               int result) {
  return s->dense ? add_dense_tensor(d, dtype, s->axes + 2, dim, 0)
                  : add_random_layout_tensor(d, dtype, s->axes + 2, dim, 0, result);
}

static void try_conv(device *d, const conv_shape *s) {
  const int64_t outputs = s->rows * s->groups;
  int64_t x[5] = {s->images, s->depth * s->groups}, w[5] = {outputs, s->depth};
  int64_t y[5] = {s->images, outputs};
  for (uint32_t i = 0; i < s->axes; i++) {
    const int64_t met = (s->kernel[i] - 1) * s->dilation[i] + 1;
    const int64_t space = s->dim[i] + s->low[i] + s->high[i] - met;
    if (space < 0) return;
    x[2 + i] = s->dim[i];
    w[2 + i] = s->kernel[i];
    y[2 + i] = space / s->stride[i] + 1;
  }
  const vt_attr_conv_int a = {.size = sizeof a,
                              .stride = attr_list_of(s->stride, s->axes),
                              .dilation = attr_list_of(s->dilation, s->axes),
                              .low = attr_list_of(s->low, s->axes),
                              .high = attr_list_of(s->high, s->axes),
                              .groups = s->groups};
  trial t = {.op = VT_OP_conv_int, .n_in = s->n_in, .attrs = &a};
  t.in[0] = add_conv_tensor(d, s, random_byte_type(), x, 0);
  t.in[1] = add_conv_tensor(d, s, random_byte_type(), w, 0);
  t.in[2] = add_random_layout_tensor(d, t.in[0].dtype, 0, NULL, 0, 0);
  t.in[3] =
      add_random_layout_tensor(d, t.in[1].dtype, (uint32_t)random_between(0, 1), &outputs, 0, 0);
  t.in[4] = add_random_layout_tensor(d, VT_DTYPE_I32, 1, &outputs, 0, 0);
  const uint64_t first = d->used;
  t.out = add_conv_tensor(d, s, VT_DTYPE_I32, y, 1);
  trial_run_and_compare(d, &t, first, "conv_int");
}

static void try_random_conv(device *d) {
  conv_shape s = {.axes = (uint32_t)random_between(1, 3),
                  .n_in = (uint32_t)random_between(2, 5),
                  .images = random_between(1, 3),
                  .groups = random_between(0, 2) ? 1 : random_between(1, 3),
                  .depth = random_between(1, 9),
                  .rows = random_between(1, 20)};
  for (uint32_t i = 0; i < s.axes; i++) {
    s.dim[i] = random_between(1, s.axes == 1 ? 60 : 7);
    s.kernel[i] = random_between(1, 3);
    s.stride[i] = random_between(1, 3);
    s.dilation[i] = random_between(1, 2);
    s.low[i] = random_between(0, 3);
    s.high[i] = random_between(0, 3);
  }
  try_conv(d, &s);
}

static void try_conv_and_expect_kernel(device *d, const conv_shape *s, const char *kernel) {
  const uint32_t before = count_log_lines(kernel);
  try_conv(d, s);
  const uint32_t now = count_log_lines(kernel) - before;
  if (driver_is_logged() && now != 1)
    fprintf(stderr, "%s: %u, %u operands\n", kernel, now, s->n_in);
  CHECK(!driver_is_logged() || now == 1);
}

/* Tries convolutions with several steps of k and incomplete tiles at every edge. With enough images
 * the handler uses large tiles, else small ones. */
static void try_tiled_convs(device *d) {
  for (uint32_t n_in = 2; n_in <= 5; n_in++) {
    conv_shape s = {.axes = 2,
                    .n_in = n_in,
                    .dense = 1,
                    .images = 2,
                    .groups = 2,
                    .depth = 23,
                    .rows = 65,
                    .dim = {9, 8},
                    .kernel = {3, 3},
                    .stride = {1, 1},
                    .dilation = {1, 1},
                    .low = {1, 1},
                    .high = {1, 1}};
    try_conv(d, &s); /* which tile the handler uses depends on the card */
    s.images = 1;
    s.groups = 1;
    try_conv_and_expect_kernel(d, &s, "ints_conv_64_64");
    s.images = vt_cuda_card_traits(d->dev->card)->processors;
    s.rows = 9;
    try_conv_and_expect_kernel(d, &s, "ints_conv_128_128");
  }
}

int main(void) {
  device d;
  vt_fpenv env;
  begin_driver_log();
  if (!test_device_open(&d, &env)) return 77;
  try_products(&d);
  for (int i = 0; i < (vt_test_is_long() ? 600 : 40); i++) try_random_conv(&d);
  try_tiled_convs(&d);
  vt_fpenv_leave(&env);
  test_device_close(&d);
  TEST_DONE();
}
