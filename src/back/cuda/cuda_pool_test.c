/* SPDX-License-Identifier: Apache-2.0
 * cuda_pool_test.c - max_pool and avg_pool on a GPU have the bits of the reference kernels: all
 * types, random windows, and averages over windows with several chunks of S. Skipped without a
 * device. */
#include "device_trial_test.h"

typedef struct windows {
  uint32_t axes;
  int64_t x[5], y[5], kernel[3], stride[3], dilation[3], low[3], high[3];
} windows;

static vt_attr_list attr_list_of(const int64_t *v, uint32_t n) {
  vt_attr_list l = {.n = n};
  memcpy(l.v, v, n * sizeof *v);
  return l;
}

/* Draws random windows; returns 0 if they do not fit. Padding is less than a window's extent, so
 * that every window contains an element. */
static int random_windows(windows *w) {
  w->axes = (uint32_t)random_between(1, 3);
  w->x[0] = w->y[0] = random_between(1, 3);
  w->x[1] = w->y[1] = random_between(1, 4);
  for (uint32_t i = 0; i < w->axes; i++) {
    w->x[2 + i] = random_between(1, w->axes == 1 ? 60 : 8);
    w->kernel[i] = random_between(1, 4);
    w->stride[i] = random_between(1, 4);
    w->dilation[i] = random_between(0, 2) ? 1 : 2;
    w->low[i] = random_between(0, (w->kernel[i] - 1) * w->dilation[i]) / 2;
    w->high[i] = random_between(0, (w->kernel[i] - 1) * w->dilation[i]) / 2;
    if (w->dilation[i] > 1) w->low[i] = w->high[i] = 0;
    const int64_t space =
        w->x[2 + i] + w->low[i] + w->high[i] - (w->kernel[i] - 1) * w->dilation[i] - 1;
    if (space < 0) return 0;
    w->y[2 + i] = space / w->stride[i] + 1;
    if ((w->y[2 + i] - 1) * w->stride[i] - w->low[i] >= w->x[2 + i]) return 0;
  }
  return 1;
}

static void try_pool(device *d, const windows *w, uint32_t op, uint32_t dtype, int count_padding) {
  const vt_attr_max_pool max = {.size = sizeof max,
                                .kernel = attr_list_of(w->kernel, w->axes),
                                .stride = attr_list_of(w->stride, w->axes),
                                .dilation = attr_list_of(w->dilation, w->axes),
                                .low = attr_list_of(w->low, w->axes),
                                .high = attr_list_of(w->high, w->axes)};
  const vt_attr_avg_pool avg = {.size = sizeof avg,
                                .kernel = max.kernel,
                                .stride = max.stride,
                                .dilation = max.dilation,
                                .low = max.low,
                                .high = max.high,
                                .count_padding = count_padding};
  trial t = {.op = op, .n_in = 1, .attrs = op == VT_OP_max_pool ? (const void *)&max : &avg};
  t.in[0] = add_random_layout_tensor(d, dtype, w->axes + 2, w->x, (int)random_between(0, 1), 0);
  const uint64_t first = d->used;
  t.out = add_random_layout_tensor(d, dtype, w->axes + 2, w->y, 0, 1);
  trial_run_and_compare(d, &t, first, op == VT_OP_max_pool ? "max_pool" : "avg_pool");
}

static void try_random_pools(device *d) {
  static const uint32_t types[] = {VT_DTYPE_F32, VT_DTYPE_F64, VT_DTYPE_I8,
                                   VT_DTYPE_U8,  VT_DTYPE_I32, VT_DTYPE_I64};
  const int tries = vt_test_is_long() ? 900 : 60;
  int tried = 0;
  for (int i = 0; i < tries; i++) {
    windows w = {0};
    if (!random_windows(&w)) continue;
    try_pool(d, &w, VT_OP_max_pool, types[i % 6], 0);
    try_pool(d, &w, VT_OP_avg_pool, types[i % 2], i / 2 % 2);
    tried++;
  }
  CHECK(tried > tries / 4);
}

static void try_averages_of_many_taps(device *d) {
  static const int64_t taps[] = {4, 5, 16, 17, 32, 33, 1024, 1025, 2100, 33000};
  for (size_t i = 0; i < sizeof taps / sizeof *taps; i++) {
    const windows w = {.axes = 1,
                       .x = {1, 2, taps[i] + 1},
                       .y = {1, 2, 2},
                       .kernel = {taps[i]},
                       .stride = {1},
                       .dilation = {1}};
    try_pool(d, &w, VT_OP_avg_pool, i % 2 ? VT_DTYPE_F64 : VT_DTYPE_F32, 0);
  }
}

int main(void) {
  device d;
  vt_fpenv env;
  if (!test_device_open(&d, &env)) return 77;
  try_random_pools(&d);
  try_averages_of_many_taps(&d);
  vt_fpenv_leave(&env);
  test_device_close(&d);
  TEST_DONE();
}
