/* SPDX-License-Identifier: Apache-2.0
 * cpu_lookup_test.c - ops with an index, and other moves, at sizes that use several threads:
 * gathers and their index faults, scatters, sort, top_k, pools, nonzero and random numbers, each
 * compared with a literal implementation of its definition. */
#include "moved_test.h"

/* ---- running a handler ---- */

static vt_status run_handler_of_op(const vt_cpu_team *t, uint32_t op, const vt_view *in,
                                   uint32_t n_in, const vt_view *out, uint32_t n_out,
                                   const void *attrs, vt_cpu_call *c) {
  const vt_cpu_handler *h = vt_cpu_handler_of(op);
  *c = (vt_cpu_call){.team = t, .in = in, .n_in = n_in, .out = out, .n_out = n_out, .attrs = attrs};
  void *work = moved_alloc_poisoned(h->work == NULL ? 0 : (int64_t)h->work(c) + 64);
  c->work = (char *)work + (64 - (uintptr_t)work % 64);
  const vt_status s = h->run(c);
  free(work);
  return s;
}

static vt_view line_view(uint32_t dtype, int64_t n, void *data) {
  return moved_dense_view(dtype, 1, &n, data);
}

/* Returns a random float; many of them are equal and some are special. */
static float random_f32(uint64_t *seed) {
  static const uint32_t special[] = {0x80000000u, 0u,          0x7f800000u, 0xff800000u,
                                     0x7fc00000u, 0xffc12345u, 1u,          0x80000001u};
  if (moved_random_below(seed, 16) == 0)
    return vt_f32_from_bits(special[moved_random_below(seed, 8)]);
  if (moved_random_below(seed, 2) == 0) return (float)(moved_random_below(seed, 21) - 10);
  return vt_f32_from_bits((uint32_t)moved_random(seed));
}

static int is_same_f32_or_nans(float a, float b) {
  return a != a ? b != b : vt_f32_bits(a) == vt_f32_bits(b);
}

/* ---- gather ---- */

enum { ROWS = 700, WIDTH = 5, LOOKED_UP = 40000 };

static void test_gather_and_its_faults(const vt_cpu_team *t) {
  float *x = moved_alloc_poisoned(ROWS * WIDTH * 4),
        *y = moved_alloc_poisoned(LOOKED_UP * WIDTH * 4);
  int64_t *index = moved_alloc_poisoned(LOOKED_UP * 8);
  const vt_attr_gather a = {.size = sizeof a};
  uint64_t seed = 5;
  vt_cpu_call c;
  for (int i = 0; i < ROWS * WIDTH; i++) x[i] = (float)i;
  for (int i = 0; i < LOOKED_UP; i++) index[i] = moved_random_below(&seed, ROWS);
  const vt_view in[2] = {moved_dense_view(VT_DTYPE_F32, 2, (int64_t[]){ROWS, WIDTH}, x),
                         line_view(VT_DTYPE_I64, LOOKED_UP, index)};
  const vt_view out = moved_dense_view(VT_DTYPE_F32, 2, (int64_t[]){LOOKED_UP, WIDTH}, y);
  CHECK(run_handler_of_op(t, VT_OP_gather, in, 2, &out, 1, &a, &c) == VT_OK);
  int wrong = 0;
  for (int i = 0; i < LOOKED_UP * WIDTH; i++)
    wrong += y[i] != (float)(index[i / WIDTH] * WIDTH + i % WIDTH);
  CHECK(wrong == 0);
  /* With several faults the lowest position is reported, and nothing is written. */
  index[39999] = -1;
  index[31111] = ROWS;
  index[20000] = INT64_MIN;
  index[31112] = -7;
  for (int64_t lowest = 20000; lowest > 0; lowest = lowest == 20000 ? 3 : 0) {
    index[lowest] = lowest == 3 ? INT64_MAX : INT64_MIN;
    memset(y, 0x5a, LOOKED_UP * WIDTH * 4);
    CHECK(run_handler_of_op(t, VT_OP_gather, in, 2, &out, 1, &a, &c) == VT_RANGE);
    CHECK(c.position == (uint64_t)lowest && c.value == index[lowest]);
    for (int i = 0; i < LOOKED_UP * WIDTH; i++) wrong += vt_f32_bits(y[i]) != 0x5a5a5a5au;
    CHECK(wrong == 0);
  }
  free(x);
  free(y);
  free(index);
}

/* Tests indices with two coordinates, each with its own limit; x is transposed. */
static void test_gather_nd(const vt_cpu_team *t) {
  enum { N = 30000 };
  static double x[60], y[N];
  static int32_t index[N][2];
  const vt_attr_gather_nd a = {.size = sizeof a};
  uint64_t seed = 7;
  vt_cpu_call c;
  for (int i = 0; i < 60; i++) x[i] = i;
  for (int i = 0; i < N; i++) {
    index[i][0] = (int32_t)moved_random_below(&seed, 5);
    index[i][1] = (int32_t)moved_random_below(&seed, 12);
  }
  vt_view in[2] = {moved_dense_view(VT_DTYPE_F64, 2, (int64_t[]){5, 12}, x),
                   moved_dense_view(VT_DTYPE_I32, 2, (int64_t[]){N, 2}, index)};
  in[0].stride[0] = 1;
  in[0].stride[1] = 5;
  const vt_view out = line_view(VT_DTYPE_F64, N, y);
  CHECK(run_handler_of_op(t, VT_OP_gather_nd, in, 2, &out, 1, &a, &c) == VT_OK);
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += y[i] != index[i][0] + 5.0 * index[i][1];
  CHECK(wrong == 0);
  index[25000][0] = 5;
  index[29000][1] = -3;
  CHECK(run_handler_of_op(t, VT_OP_gather_nd, in, 2, &out, 1, &a, &c) == VT_RANGE);
  CHECK(c.position == 50000 && c.value == 5);
}

/* ---- scatter ---- */

enum { UPDATES = 60000, PLACES = 37, COLUMNS = 3 };
typedef float float_reduce(float a, float b);

/* The expected element of a scatter: updates of place `at` are applied in the order of their
 * positions. combine is NULL for a sum. */
static float expected_scatter(const float *base, const int64_t *index, const float *u, int64_t n,
                              int64_t at, int64_t column, float_reduce *combine) {
  float y = base[at * COLUMNS + column];
  int64_t count = 0;
  vt_sum_f32 s;
  vt_sum_f32_init(&s);
  for (int64_t i = 0; i < n; i++) {
    if (index[i] != at) continue;
    const float x = u[i * COLUMNS + column];
    if (combine != NULL) y = combine(y, x);
    vt_sum_f32_add(&s, x);
    count++;
  }
  return combine != NULL || count == 0 ? y : y + vt_sum_f32_done(&s);
}

static void test_scatter_add_max_min(const vt_cpu_team *t) {
  static float base[PLACES * COLUMNS], u[UPDATES * COLUMNS], y[PLACES * COLUMNS];
  static int64_t index[UPDATES];
  static const uint32_t ops[3] = {VT_OP_scatter_nd_add, VT_OP_scatter_nd_max, VT_OP_scatter_nd_min};
  static float_reduce *const combiners[3] = {NULL, vt_f32_max, vt_f32_min};
  const vt_attr_gather_nd a = {.size = sizeof a};
  uint64_t seed = 11;
  vt_cpu_call c;
  int wrong = 0;
  for (int i = 0; i < PLACES * COLUMNS; i++) base[i] = i % 4 == 0 ? -0.0f : (float)i;
  for (int i = 0; i < UPDATES; i++) /* some destinations get most updates, some none, some one */
    index[i] = moved_random_below(&seed, 3) > 0 ? moved_random_below(&seed, 4)
                                                : moved_random_below(&seed, PLACES - 2);
  index[7] = PLACES - 2;
  for (int i = 0; i < UPDATES * COLUMNS; i++) /* the last column also has special numbers */
    u[i] =
        i % COLUMNS == 2 ? random_f32(&seed) : 1.0f / (float)(1 + moved_random_below(&seed, 1000));
  /* the result is +0: the ordered sum S of a single -0 is +0 */
  u[7 * COLUMNS] = base[(PLACES - 2) * COLUMNS] = -0.0f;
  const vt_view in[3] = {moved_dense_view(VT_DTYPE_F32, 2, (int64_t[]){PLACES, COLUMNS}, base),
                         moved_dense_view(VT_DTYPE_I64, 2, (int64_t[]){UPDATES, 1}, index),
                         moved_dense_view(VT_DTYPE_F32, 2, (int64_t[]){UPDATES, COLUMNS}, u)};
  const vt_view out = moved_dense_view(VT_DTYPE_F32, 2, (int64_t[]){PLACES, COLUMNS}, y);
  for (int o = 0; o < 3; o++) {
    CHECK(run_handler_of_op(t, ops[o], in, 3, &out, 1, &a, &c) == VT_OK);
    for (int64_t p = 0; p < PLACES; p++)
      for (int64_t k = 0; k < COLUMNS; k++)
        wrong += !is_same_f32_or_nans(
            y[p * COLUMNS + k], expected_scatter(base, index, u, UPDATES, p, k, combiners[o]));
    CHECK(wrong == 0);
  }
  CHECK(run_handler_of_op(t, VT_OP_scatter_nd, in, 3, &out, 1, &a, &c) == VT_OK);
  for (int64_t p = 0; p < PLACES; p++) {
    const float *last = &base[p * COLUMNS];
    for (int64_t i = 0; i < UPDATES; i++) last = index[i] == p ? &u[i * COLUMNS] : last;
    for (int64_t k = 0; k < COLUMNS; k++)
      wrong += !is_same_f32_or_nans(y[p * COLUMNS + k], last[k]);
  }
  CHECK(wrong == 0);
}

/* Tests more than 1024 chunks of 1024 updates to one place, so that their ordered sum S has three
 * levels. Updates are transposed. */
static void test_scatter_many_to_one_place(const vt_cpu_team *t) {
  enum { N = 1024 * 1024 + 5 };
  const vt_attr_gather_nd a = {.size = sizeof a};
  double base[2] = {0.5, -0.0}, y[2], *u = moved_alloc_poisoned(2 * N * 8);
  int32_t *index = moved_alloc_poisoned(N * 4);
  uint64_t seed = 13;
  vt_cpu_call c;
  vt_sum_f64 s[2];
  if (t->threads != 2) {
    free(u);
    free(index);
    return;
  }
  memset(index, 0, N * 4);
  vt_sum_f64_init(&s[0]);
  vt_sum_f64_init(&s[1]);
  for (int64_t i = 0; i < 2 * N; i++) u[i] = 1.0 / (double)(1 + moved_random_below(&seed, 100000));
  for (int64_t i = 0; i < 2 * N; i++) vt_sum_f64_add(&s[i / N], u[i]);
  vt_view in[3] = {moved_dense_view(VT_DTYPE_F64, 2, (int64_t[]){1, 2}, base),
                   moved_dense_view(VT_DTYPE_I32, 2, (int64_t[]){N, 1}, index),
                   moved_dense_view(VT_DTYPE_F64, 2, (int64_t[]){N, 2}, u)};
  in[2].stride[0] = 1;
  in[2].stride[1] = N;
  const vt_view out = moved_dense_view(VT_DTYPE_F64, 2, (int64_t[]){1, 2}, y);
  CHECK(run_handler_of_op(t, VT_OP_scatter_nd_add, in, 3, &out, 1, &a, &c) == VT_OK);
  CHECK(y[0] == base[0] + vt_sum_f64_done(&s[0]) && y[1] == base[1] + vt_sum_f64_done(&s[1]));
  free(u);
  free(index);
}

/* Tests few updates and many destinations, for which the handler sorts without a table of counters.
 * */
static void test_scatter_few_to_many_places(const vt_cpu_team *t) {
  enum { N = 3000, AT = 100003 };
  static float base[AT], u[N], y[AT], want[AT];
  static int32_t index[N];
  const vt_attr_gather_nd a = {.size = sizeof a};
  uint64_t seed = 23;
  vt_cpu_call c;
  for (int i = 0; i < AT; i++) want[i] = base[i] = (float)(i % 100);
  for (int i = 0; i < N; i++) { /* alternate between places that differ only in high bits */
    index[i] =
        (int32_t)(moved_random_below(&seed, 2) ? moved_random_below(&seed, AT) : 7 + i % 2 * 65536);
    u[i] = 1.0f / (float)(1 + i);
  }
  for (int k = 0; k < 2; k++) {
    const int at = 7 + k * 65536;
    vt_sum_f32 s;
    vt_sum_f32_init(&s);
    for (int i = 0; i < N; i++)
      if (index[i] == at) vt_sum_f32_add(&s, u[i]);
    want[at] = base[at] + vt_sum_f32_done(&s);
  }
  const vt_view in[3] = {line_view(VT_DTYPE_F32, AT, base),
                         moved_dense_view(VT_DTYPE_I32, 2, (int64_t[]){N, 1}, index),
                         line_view(VT_DTYPE_F32, N, u)};
  const vt_view out = line_view(VT_DTYPE_F32, AT, y);
  CHECK(run_handler_of_op(t, VT_OP_scatter_nd_add, in, 3, &out, 1, &a, &c) == VT_OK);
  CHECK(y[7] == want[7] && y[65543] == want[65543] && want[7] > base[7]);
}

/* ---- sort ---- */

static int element_is_above(const vt_view *x, int64_t i, int64_t j) {
  if (x->dtype == VT_DTYPE_F32)
    return vt_f32_above(((const float *)x->data)[i], ((const float *)x->data)[j]);
  if (x->dtype == VT_DTYPE_F64)
    return vt_f64_above(((const double *)x->data)[i], ((const double *)x->data)[j]);
  if (x->dtype == VT_DTYPE_I64)
    return ((const int64_t *)x->data)[i] > ((const int64_t *)x->data)[j];
  return ((const int8_t *)x->data)[i] > ((const int8_t *)x->data)[j];
}

static void fill_random_values(const vt_view *x, int64_t n) {
  uint64_t seed = (uint64_t)n;
  for (int64_t i = 0; i < n; i++) {
    const float v = random_f32(&seed);
    if (x->dtype == VT_DTYPE_F32) ((float *)x->data)[i] = v;
    if (x->dtype == VT_DTYPE_F64) ((double *)x->data)[i] = v;
    if (x->dtype == VT_DTYPE_I64) ((int64_t *)x->data)[i] = moved_random_below(&seed, 300) - 150;
    if (x->dtype == VT_DTYPE_I8) ((int8_t *)x->data)[i] = (int8_t)moved_random_below(&seed, 256);
  }
}

/* Sorts rows of n: every index must appear once, neighbours be in order, equal values keep their
 * order. */
static void check_sort(const vt_cpu_team *t, uint32_t dtype, int64_t rows, int64_t n, int down) {
  const int64_t size = (int64_t)vt_cpu_bytes_of(dtype), dim[2] = {rows, n};
  const vt_attr_sort a = {.size = sizeof a, .axis = 1, .descending = down};
  char *x = moved_alloc_poisoned(rows * n * size), *y = moved_alloc_poisoned(rows * n * size);
  int64_t *index = moved_alloc_poisoned(rows * n * 8), wrong = 0;
  uint8_t *seen = moved_alloc_poisoned(n);
  vt_cpu_call c;
  const vt_view in = moved_dense_view(dtype, 2, dim, x);
  const vt_view out[2] = {moved_dense_view(dtype, 2, dim, y),
                          moved_dense_view(VT_DTYPE_I64, 2, dim, index)};
  fill_random_values(&in, rows * n);
  CHECK(run_handler_of_op(t, VT_OP_sort, &in, 1, out, 2, &a, &c) == VT_OK);
  for (int64_t r = 0; r < rows; r++) {
    const int64_t *at = index + r * n;
    memset(seen, 0, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
      const int known = at[i] >= 0 && at[i] < n;
      wrong += !known || seen[known ? at[i] : 0]++ != 0;
      wrong +=
          known && memcmp(y + (r * n + i) * size, x + (r * n + at[i]) * size, (size_t)size) != 0;
      if (!known || i == 0) continue;
      const int64_t p = r * n + at[i - 1], q = r * n + at[i];
      wrong += down ? element_is_above(&in, q, p) : element_is_above(&in, p, q);
      wrong += !element_is_above(&in, p, q) && !element_is_above(&in, q, p) && p > q;
    }
  }
  CHECK(wrong == 0);
  free(x);
  free(y);
  free(index);
  free(seen);
}

static void test_sort(const vt_cpu_team *t) {
  static const int64_t lengths[] = {1, 2, 47, 48, 49, 300, 5000};
  static const uint32_t types[] = {VT_DTYPE_F32, VT_DTYPE_F64, VT_DTYPE_I64, VT_DTYPE_I8};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
      check_sort(t, types[k], 4, lengths[i], (int)(i + k) % 2);
}

/* Compares top_k of long lines with the reference kernel, which uses a heap. */
static void test_top_k(const vt_cpu_team *t) {
  enum { LINES = 3, N = 4000 };
  static const uint32_t types[] = {VT_DTYPE_F32, VT_DTYPE_F64, VT_DTYPE_I8};
  static const int64_t heads[] = {1, 40, 499, 3000, N};
  static double x[LINES * N], y[2][LINES * N];
  static int64_t index[2][LINES * N];
  /* each team runs some cases; together they run all */
  for (int i = (int)t->threads; i < 30; i += 4) {
    const uint32_t dtype = types[i % 3];
    const int64_t k = heads[i / 3 % 5], dim[2] = {LINES, N}, head[2] = {LINES, k};
    const vt_attr_top_k a = {.size = sizeof a, .k = k, .axis = 1, .least = i / 15};
    const vt_view in = moved_dense_view(dtype, 2, dim, x);
    vt_view out[2][2];
    for (int j = 0; j < 2; j++) {
      out[j][0] = moved_dense_view(dtype, 2, head, y[j]);
      out[j][1] = moved_dense_view(VT_DTYPE_I64, 2, head, index[j]);
    }
    vt_cpu_call c;
    vt_kernel r = {.in = &in, .n_in = 1, .n_out = 2, .out = out[1], .attrs = &a};
    fill_random_values(&in, LINES * N);
    CHECK(run_handler_of_op(t, VT_OP_top_k, &in, 1, out[0], 2, &a, &c) == VT_OK);
    CHECK(vt_op_get(VT_OP_top_k)->kernel(&r) == VT_OK);
    CHECK(memcmp(index[0], index[1], (size_t)(LINES * k) * 8) == 0);
    CHECK(memcmp(y[0], y[1], (size_t)(LINES * k) * (size_t)vt_cpu_bytes_of(dtype)) == 0);
  }
}

/* ---- pools: against the reference kernel, which computes one window at a time ---- */

typedef struct pool_case {
  int64_t kernel[2], stride[2], dilation[2], low[2], high[2], ceil, counts;
} pool_case;

/* Number of windows along axis i, as docs/ops.md defines it. */
static int64_t count_windows(const pool_case *p, int i, int64_t n) {
  const int64_t extent = (p->kernel[i] - 1) * p->dilation[i] + 1;
  const int64_t room = n + p->low[i] + p->high[i] - extent;
  int64_t last = room / p->stride[i];
  if (p->ceil && room % p->stride[i] != 0 && (last + 1) * p->stride[i] < n + p->low[i]) last++;
  return last + 1;
}

static void check_pool(const vt_cpu_team *t, const pool_case *p, uint32_t op, uint32_t dtype) {
  enum { PLANES = 6, H = 37, W = 41 };
  static double x[PLANES * H * W], y[2][PLANES * (H + 9) * (W + 9)];
  vt_attr_avg_pool a = {.size = sizeof a, .ceil = p->ceil, .count_padding = p->counts};
  vt_view in = moved_dense_view(dtype, 4, (int64_t[]){2, 3, H, W}, x);
  fill_random_values(&in, PLANES * H * W);
  a.kernel.n = a.stride.n = a.dilation.n = a.low.n = a.high.n = 2;
  for (int i = 0; i < 2; i++) {
    a.kernel.v[i] = p->kernel[i];
    a.stride.v[i] = p->stride[i];
    a.dilation.v[i] = p->dilation[i];
    a.low.v[i] = p->low[i];
    a.high.v[i] = p->high[i];
  }
  if (p->kernel[0] == 2) { /* the last two axes are transposed */
    in.stride[2] = 1;
    in.stride[3] = H;
  }
  int64_t to[4] = {2, 3, 0, 0};
  for (int i = 0; i < 2; i++) to[2 + i] = count_windows(p, i, in.dim[2 + i]);
  vt_view out[2] = {moved_dense_view(dtype, 4, to, y[0]), moved_dense_view(dtype, 4, to, y[1])};
  vt_cpu_call c;
  vt_kernel r = {.in = &in, .n_in = 1, .n_out = 1, .out = &out[1], .attrs = &a};
  CHECK(run_handler_of_op(t, op, &in, 1, &out[0], 1, &a, &c) == VT_OK);
  CHECK(vt_op_get(op)->kernel(&r) == VT_OK);
  for (int i = 0; i < 2; i++) vt_canonical(y[i], dtype, (uint64_t)vt_cpu_count(&out[i]));
  CHECK(memcmp(y[0], y[1], (size_t)vt_cpu_count(out) * (size_t)vt_cpu_bytes_of(dtype)) == 0);
}

static void test_pools(const vt_cpu_team *t) {
  static const pool_case cases[] = {{{3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 0, 0},
                                    {{2, 2}, {2, 2}, {1, 1}, {0, 0}, {0, 0}, 0, 0},
                                    {{3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 0, 1},
                                    {{3, 2}, {2, 3}, {2, 3}, {2, 0}, {0, 2}, 1, 0},
                                    {{5, 7}, {4, 4}, {1, 1}, {2, 3}, {2, 3}, 1, 1},
                                    {{37, 41}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, 0, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_pool(t, &cases[i], VT_OP_avg_pool, i % 2 ? VT_DTYPE_F64 : VT_DTYPE_F32);
    pool_case most = cases[i];
    most.counts = 0;
    check_pool(t, &most, VT_OP_max_pool, i % 3 == 2 ? VT_DTYPE_I8 : VT_DTYPE_F32);
  }
}

/* ---- nonzero ---- */

static void test_nonzero(const vt_cpu_team *t) {
  enum { A = 210, B = 190, BOUND = 10000 };
  static float x[A * B];
  static int64_t places[BOUND][2];
  int64_t total = 0, count = 0, wrong = 0;
  uint64_t seed = 17;
  vt_cpu_call c;
  const vt_attr_nonzero a = {.size = sizeof a, .bound = BOUND};
  for (int i = 0; i < A * B; i++) x[i] = moved_random_below(&seed, 3) ? -0.0f : random_f32(&seed);
  const vt_view in = moved_dense_view(VT_DTYPE_F32, 2, (int64_t[]){A, B}, x);
  const vt_view out[2] = {moved_dense_view(VT_DTYPE_I64, 2, (int64_t[]){BOUND, 2}, places),
                          {.dtype = VT_DTYPE_I64, .data = &total}};
  CHECK(run_handler_of_op(t, VT_OP_nonzero, &in, 1, out, 2, &a, &c) == VT_OK);
  for (int i = 0; i < A * B; i++) {
    if (x[i] == 0) continue;
    wrong += count < BOUND && (places[count][0] != i / B || places[count][1] != i % B);
    count++;
  }
  CHECK(wrong == 0 && total == count && count > BOUND);
  for (int i = 0; i < A * B / 2; i++) x[i] = 0; /* now fewer nonzero elements than BOUND */
  CHECK(run_handler_of_op(t, VT_OP_nonzero, &in, 1, out, 2, &a, &c) == VT_OK);
  CHECK(total < BOUND && places[total - 1][0] >= A / 2 && places[total][0] == -1 &&
        places[BOUND - 1][1] == -1);
}

/* ---- random numbers ---- */

static void check_random_ops(const vt_cpu_team *t, int64_t n, int gap) {
  const int64_t seed = INT64_C(0x123456789abcdef), step = 77;
  const vt_view in[2] = {{.dtype = VT_DTYPE_I64, .data = (void *)(uintptr_t)&seed},
                         {.dtype = VT_DTYPE_I64, .data = (void *)(uintptr_t)&step}};
  vt_attr_random a = {.size = sizeof a, .shape = {.n = 1, .v = {n}}, .stream = 9};
  float *u = moved_alloc_poisoned(n * 4 * 2), *z = moved_alloc_poisoned(n * 4 * 2);
  int64_t *w = moved_alloc_poisoned(n * 8 * 2), wrong = 0;
  vt_view out[3] = {line_view(VT_DTYPE_F32, n, u), line_view(VT_DTYPE_F32, n, z),
                    line_view(VT_DTYPE_I64, n, w)};
  vt_cpu_call c;
  for (int i = 0; i < 3; i++) out[i].stride[0] = 1 + gap;
  CHECK(run_handler_of_op(t, VT_OP_random_uniform, in, 2, &out[0], 1, &a, &c) == VT_OK);
  CHECK(run_handler_of_op(t, VT_OP_random_normal, in, 2, &out[1], 1, &a, &c) == VT_OK);
  CHECK(run_handler_of_op(t, VT_OP_random_bits, in, 2, &out[2], 1, &a, &c) == VT_OK);
  for (int64_t i = 0, at = 0; i < n; i++, at += 1 + gap) {
    uint32_t words[4];
    vt_philox((uint64_t)seed, 9, 77, (uint64_t)i / 4, words);
    wrong += vt_f32_bits(u[at]) != vt_f32_bits(vt_philox_uniform(words, (uint64_t)i));
    wrong += vt_f32_bits(z[at]) != vt_f32_bits(vt_philox_normal(words, (uint64_t)i));
    wrong += w[at] != (int64_t)words[i % 4];
  }
  CHECK(wrong == 0);
  free(u);
  free(z);
  free(w);
}

static void test_random_ops(const vt_cpu_team *t) {
  static const int64_t lengths[] = {1, 3, 4, 255, 256, 257, 1027, 20001};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
    check_random_ops(t, lengths[i], (int)i % 2);
  check_random_ops(t, 20001, 0);
}

int main(void) {
  moved_run_on_all_teams(test_gather_and_its_faults);
  moved_run_on_all_teams(test_gather_nd);
  moved_run_on_all_teams(test_scatter_add_max_min);
  moved_run_on_all_teams(test_scatter_many_to_one_place);
  moved_run_on_all_teams(test_scatter_few_to_many_places);
  moved_run_on_all_teams(test_sort);
  moved_run_on_all_teams(test_top_k);
  moved_run_on_all_teams(test_pools);
  moved_run_on_all_teams(test_nonzero);
  moved_run_on_all_teams(test_random_ops);
  TEST_DONE();
}
