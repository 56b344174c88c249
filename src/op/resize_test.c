/* SPDX-License-Identifier: Apache-2.0
 * resize_test.c - tests resize and its gradient against their definitions, restated axis by axis
 * on whole arrays. Tests depth_to_space and space_to_depth by the index of each element, kernels
 * against decompositions, gradients by differences, and the type rules. The settings of a resize
 * are its attributes; n is the length of an axis before it is resized, m after. */
#include "trace_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64, MOST = 20000 };
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static const int64_t modes[] = {VT_WORD_nearest, VT_WORD_linear, VT_WORD_cubic};
static const int64_t coordinates[] = {VT_WORD_half_pixel, VT_WORD_pytorch_half_pixel,
                                      VT_WORD_align_corners, VT_WORD_asymmetric};
static const int64_t roundings[] = {VT_WORD_floor, VT_WORD_ceil, VT_WORD_round_prefer_floor,
                                    VT_WORD_round_prefer_ceil};

/* ---- the definition for one axis ---- */

typedef struct settings {
  int64_t mode, coordinates, rounding;
  double a, scale;
} settings;

static double source_position(const settings *z, int64_t i, int64_t n, int64_t m) {
  const double r = z->scale != 0 ? 1 / z->scale : (double)n / (double)m;
  if (z->coordinates == VT_WORD_align_corners)
    return m == 1 ? 0 : (double)(i * (n - 1)) / (double)(m - 1);
  if (z->coordinates == VT_WORD_asymmetric) return (double)i * r;
  if (z->coordinates == VT_WORD_pytorch_half_pixel && m == 1) return 0;
  const double center = ((double)i + 0.5) * r;
  return center - 0.5;
}

static double cubic_weight_near(double a, double t) {
  double v = (a + 2) * t;
  v = v - (a + 3);
  v = v * t;
  v = v * t;
  return v + 1;
}

static double cubic_weight_far(double a, double t) {
  double v = a * t;
  v = v - 5 * a;
  v = v * t;
  v = v + 8 * a;
  v = v * t;
  return v - 4 * a;
}

static int64_t clamp_index(double x, int64_t n) {
  return x < 0 ? 0 : x > (double)(n - 1) ? n - 1 : (int64_t)x;
}

/* Writes the taps of result i and their weights, and returns their number. A tap of weight 0 is not
 * used. */
static int list_taps(const settings *z, int64_t i, int64_t n, int64_t m, int64_t *at,
                     float *weights) {
  double c = source_position(z, i, n, m);
  if (z->mode == VT_WORD_nearest) {
    const double j = z->rounding == VT_WORD_floor                ? floor(c)
                     : z->rounding == VT_WORD_ceil               ? ceil(c)
                     : z->rounding == VT_WORD_round_prefer_floor ? ceil(c - 0.5)
                                                                 : floor(c + 0.5);
    at[0] = clamp_index(j, n);
    weights[0] = 1;
    return 1;
  }
  if (z->mode == VT_WORD_linear) {
    c = fmin(fmax(c, 0), (double)(n - 1));
    at[0] = clamp_index(floor(c), n);
    at[1] = clamp_index(floor(c) + 1, n);
    weights[0] = (float)(1 - (c - floor(c)));
    weights[1] = (float)(c - floor(c));
    return 2;
  }
  const double f = c - floor(c);
  const double weight[4] = {cubic_weight_far(z->a, f + 1), cubic_weight_near(z->a, f),
                            cubic_weight_near(z->a, 1 - f), cubic_weight_far(z->a, 2 - f)};
  for (int t = 0; t < 4; t++) {
    at[t] = clamp_index(floor(c) - 1 + t, n);
    weights[t] = (float)weight[t];
  }
  return 4;
}

/* Resizes the middle axis of x [before, n, after] to y [before, m, after]. */
static void resize_axis(const settings *z, const double *x, double *y, int64_t before, int64_t n,
                        int64_t m, int64_t after) {
  for (int64_t e = 0; e < before * m * after; e++) {
    const int64_t b = e / (m * after), i = e / after % m, k = e % after;
    int64_t at[4];
    float w[4], sum = 0;
    int any = 0;
    const int taps = list_taps(z, i, n, m, at, w);
    if (taps == 1) {
      y[e] = x[(b * n + at[0]) * after + k];
      continue;
    }
    for (int t = 0; t < taps; t++) {
      if (w[t] == 0) continue;
      const float term = w[t] * (float)x[(b * n + at[t]) * after + k];
      sum = any ? sum + term : term;
      any = 1;
    }
    y[e] = (double)sum;
  }
}

static double sum_in_order_s(uint32_t dtype, const double *x, int64_t n) {
  static float narrow[MOST];
  if (dtype == F64) return s_f64(x, n);
  for (int64_t i = 0; i < n; i++) narrow[i] = (float)x[i];
  return (double)s_f32(narrow, n);
}

static void resize_axis_gradient(const settings *z, uint32_t dtype, const double *dy, double *dx,
                                 int64_t before, int64_t n, int64_t m, int64_t after) {
  for (int64_t e = 0; e < before * n * after; e++) {
    const int64_t b = e / (n * after), j = e / after % n, k = e % after;
    double part[MOST];
    int64_t count = 0, at[4];
    float w[4];
    for (int64_t i = 0; i < m; i++) {
      const int taps = list_taps(z, i, n, m, at, w);
      const double g = dy[(b * m + i) * after + k];
      for (int t = 0; t < taps; t++)
        if (at[t] == j && w[t] != 0) part[count++] = taps == 1 ? g : (double)(w[t] * (float)g);
    }
    dx[e] = sum_in_order_s(dtype, part, count);
  }
}

/* ---- whole tensors ---- */

typedef struct problem {
  uint32_t axes;
  int64_t lead[2], from[3], to[3];
  /* the attribute scale, 0 if it is not set; `to` is the result's shape in both cases */
  double scale;
} problem;

static const problem problems[] = {{1, {2, 3}, {5}, {9}, 0},
                                   {1, {1, 2}, {9}, {4}, 0},
                                   {1, {1, 1}, {1}, {7}, 0},
                                   {1, {1, 1}, {7}, {1}, 0},
                                   {1, {1, 1}, {1}, {1}, 0},
                                   {1, {2, 1}, {6}, {6}, 0},
                                   {1, {2, 1}, {4}, {0}, 0},
                                   {1, {0, 1}, {4}, {8}, 0},
                                   {1, {1, 2}, {0}, {0}, 0},
                                   {1, {1, 1}, {3}, {1040}, 0},
                                   {1, {1, 1}, {7}, {11}, 1.7},
                                   {1, {1, 1}, {10}, {3}, 0.3},
                                   {1, {1, 1}, {5}, {10}, 2},
                                   {2, {1, 2}, {4, 5}, {8, 3}, 0},
                                   {2, {2, 1}, {3, 3}, {7, 6}, 0},
                                   {2, {1, 1}, {4, 6}, {10, 15}, 2.5},
                                   {3, {1, 2}, {2, 3, 4}, {3, 5, 2}, 0}};

static double buffer[2][MOST];

static int64_t element_count(const problem *p, const int64_t *dim) {
  int64_t n = p->lead[0] * p->lead[1];
  for (uint32_t i = 0; i < p->axes; i++) n *= dim[i];
  return n;
}

static int64_t extent_before_or_after(const problem *p, const int64_t *dim, uint32_t axis,
                                      int after) {
  int64_t n = after ? 1 : p->lead[0] * p->lead[1];
  for (uint32_t i = 0; i < p->axes; i++) n *= after == (i > axis) && i != axis ? dim[i] : 1;
  return n;
}

/* Resizes all axes, starting with the last, and returns the result. */
static const double *expected_resize(const problem *p, const settings *z, const vt_view *x) {
  int64_t dim[3];
  int now = 0;
  memcpy(dim, p->from, sizeof dim);
  for (int64_t i = 0; i < element_count(p, dim); i++) buffer[0][i] = number_at(x, i);
  for (uint32_t axis = p->axes; axis-- > 0; now ^= 1) {
    resize_axis(z, buffer[now], buffer[now ^ 1], extent_before_or_after(p, dim, axis, 0), dim[axis],
                p->to[axis], extent_before_or_after(p, dim, axis, 1));
    dim[axis] = p->to[axis];
  }
  return buffer[now];
}

/* The gradient of expected_resize: goes back through the axes, starting with the first. */
static const double *expected_resize_gradient(const problem *p, const settings *z,
                                              const vt_view *dy) {
  int64_t dim[3];
  int now = 0;
  memcpy(dim, p->to, sizeof dim);
  for (int64_t i = 0; i < element_count(p, dim); i++) buffer[0][i] = number_at(dy, i);
  for (uint32_t axis = 0; axis < p->axes; axis++, now ^= 1) {
    resize_axis_gradient(z, dy->dtype, buffer[now], buffer[now ^ 1],
                         extent_before_or_after(p, dim, axis, 0), p->from[axis], dim[axis],
                         extent_before_or_after(p, dim, axis, 1));
    dim[axis] = p->from[axis];
  }
  return buffer[now];
}

static vt_view new_spatial_tensor(uint32_t dtype, const problem *p, const int64_t *spatial,
                                  int layout) {
  int64_t dim[5] = {p->lead[0], p->lead[1]};
  memcpy(dim + 2, spatial, p->axes * sizeof *dim);
  return view_new(dtype, p->axes + 2, dim, layout);
}

static void check_result(const char *name, const run_result *r, const double *want) {
  CHECK(r->status == VT_OK);
  if (r->status != VT_OK) return;
  for (int64_t i = 0; i < count_of_view(&r->out); i++)
    if (!expect_bits(name, &r->out, i,
                     r->out.dtype == F64 ? vt_f64_bits(want[i]) : vt_f32_bits((float)want[i])))
      return;
}

static vt_attr_list attr_list_of(const int64_t *v, uint32_t n) {
  vt_attr_list l = {.n = n};
  memcpy(l.v, v, n * sizeof *v);
  return l;
}

static void check_resize(const problem *p, const settings *z, uint32_t dtype, int layout, int any,
                         uint64_t *state) {
  vt_attr_resize a = {.size = sizeof a,
                      .scale = z->scale,
                      .mode = z->mode,
                      .coordinates = z->coordinates,
                      .rounding = z->rounding,
                      .a = z->a};
  const vt_attr_resize_grad back = {.size = sizeof back,
                                    .from = attr_list_of(p->from, p->axes),
                                    .scale = z->scale,
                                    .mode = z->mode,
                                    .coordinates = z->coordinates,
                                    .rounding = z->rounding,
                                    .a = z->a};
  if (z->scale == 0) a.to = attr_list_of(p->to, p->axes);
  vt_view x = new_spatial_tensor(dtype, p, p->from, layout),
          dy = new_spatial_tensor(dtype, p, p->to, layout);
  x = any ? fill_any(x, state) : fill_ordinary(x, state);
  dy = any ? fill_any(dy, state) : fill_ordinary(dy, state);
  const run_result y = run_op(VT_OP_resize, &a, &x, 1, (layout + 1) % LAYOUTS);
  check_result("resize", &y, expected_resize(p, z, &x));
  check_decomposition(VT_OP_resize, &a, &x, 1);
  const run_result dx = run_op(VT_OP_resize_grad, &back, &dy, 1, (layout + 2) % LAYOUTS);
  check_result("resize_grad", &dx, expected_resize_gradient(p, z, &dy));
  check_decomposition(VT_OP_resize_grad, &back, &dy, 1);
}

static void test_resize(void) {
  uint64_t state = 40;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (int m = 0; m < 3; m++)
      for (int c = 0; c < 4; c++)
        for (int k = 0; k < 4; k++) {
          const settings z = {modes[m], coordinates[c], roundings[k],
                              k == 0   ? -0.75
                              : k == 1 ? -0.5
                              : k == 2 ? 0.1
                                       : 1e6,
                              problems[i].scale};
          test_seed = state;
          check_resize(&problems[i], &z, m == 0 && k % 2 ? F64 : F32, (c + k) % LAYOUTS, k >= 2,
                       &state);
          free_held();
        }
}

/* The mode nearest copies the bits of any dtype. */
static void test_nearest_copies_any_dtype(void) {
  const problem *p = &problems[13];
  const vt_attr_resize a = {.size = sizeof a,
                            .to = attr_list_of(p->to, 2),
                            .mode = VT_WORD_nearest,
                            .coordinates = VT_WORD_asymmetric,
                            .rounding = VT_WORD_floor};
  uint64_t state = 41;
  for (uint32_t dtype = 1; dtype <= 9; dtype++) {
    const vt_view x = fill_any(new_spatial_tensor(dtype, p, p->from, GAPS), &state);
    const run_result y = run_op(VT_OP_resize, &a, &x, 1, TRANSPOSED);
    CHECK(y.status == VT_OK);
    for (int64_t e = 0; y.status == VT_OK && e < count_of_view(&y.out); e++) {
      const int64_t w = e % 3, h = e / 3 % 8, c = e / 24;
      const int64_t from = (c * 4 + h / 2) * 5 + (int64_t)floor((double)w * (5.0 / 3.0));
      if (!expect_bits("resize", &y.out, e, get_bits(&x, from))) break;
    }
    free_held();
  }
}

/* A tap of weight 0 is not used, so an infinity there does not make the result NaN. */
static void test_tap_of_weight_zero_is_not_used(void) {
  const problem p = {1, {1, 1}, {2}, {3}, 0};
  const vt_attr_resize a = {.size = sizeof a,
                            .to = attr_list_of(p.to, 1),
                            .mode = VT_WORD_linear,
                            .coordinates = VT_WORD_align_corners,
                            .rounding = VT_WORD_floor};
  const vt_view x = new_spatial_tensor(F32, &p, p.from, DENSE);
  put_bits(&x, 0, 0x80000000); /* -0 is copied, because nothing is added to the only tap */
  put_bits(&x, 1, 0x7f800000);
  const run_result y = run_op(VT_OP_resize, &a, &x, 1, DENSE);
  CHECK(y.status == VT_OK && get_bits(&y.out, 0) == 0x80000000);
  CHECK(get_bits(&y.out, 1) == 0x7f800000 && get_bits(&y.out, 2) == 0x7f800000);
  free_held();
}

/* ---- depth_to_space, space_to_depth ---- */

static void test_depth_to_space_and_back(void) {
  static const int64_t shapes[][5] = {{1, 2, 3, 1, 1}, {2, 1, 2, 2, 3}, {3, 2, 1, 3, 2},
                                      {2, 0, 2, 2, 2}, {2, 1, 0, 2, 2}, {2, 1, 2, 0, 2}};
  uint64_t state = 42;
  for (int64_t i = 0; i < COUNT(shapes); i++)
    for (uint32_t dtype = 1; dtype <= 9; dtype++)
      for (int crd = 0; crd < 2; crd++) {
        const int64_t s = shapes[i][0], n = shapes[i][1], c = shapes[i][2], h = shapes[i][3],
                      w = shapes[i][4];
        const int64_t deep[4] = {n, c * s * s, h, w}, wide[4] = {n, c, h * s, w * s};
        const vt_attr_blocks a = {
            .size = sizeof a, .block = s, .mode = crd ? VT_WORD_CRD : VT_WORD_DCR};
        test_seed = state;
        const vt_view x = fill_any(view_new(dtype, 4, deep, crd ? GAPS : TRANSPOSED), &state);
        const run_result y = run_op(VT_OP_depth_to_space, &a, &x, 1, GAPS);
        CHECK(y.status == VT_OK && memcmp(y.out.dim, wide, sizeof wide) == 0);
        for (int64_t e = 0; e < count_of_view(&y.out); e++) {
          const int64_t column = e % wide[3], line = e / wide[3] % wide[2];
          const int64_t channel = e / wide[3] / wide[2] % c, b = e / wide[3] / wide[2] / c;
          const int64_t i1 = line % s, i2 = column % s;
          const int64_t d = crd ? (channel * s + i1) * s + i2 : (i1 * s + i2) * c + channel;
          const int64_t from = ((b * deep[1] + d) * h + line / s) * w + column / s;
          if (!expect_bits("depth_to_space", &y.out, e, get_bits(&x, from))) break;
        }
        const run_result z = run_op(VT_OP_space_to_depth, &a, &y.out, 1, TRANSPOSED);
        CHECK(z.status == VT_OK && memcmp(z.out.dim, deep, sizeof deep) == 0);
        for (int64_t e = 0; e < count_of_view(&z.out); e++)
          if (!expect_bits("space_to_depth", &z.out, e, get_bits(&x, e))) break;
        check_decomposition(VT_OP_depth_to_space, &a, &x, 1);
        check_decomposition(VT_OP_space_to_depth, &a, &y.out, 1);
        free_held();
      }
}

/* ---- gradients ---- */

static vt_view fill_with_exact_fractions(vt_view v, uint64_t *state) {
  for (int64_t i = 0; i < count_of_view(&v); i++) put_number(&v, i, random_on_grid(state));
  return v;
}

static void test_gradients_by_differences(void) {
  uint64_t state = 43;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (int m = 0; m < 3; m++)
      for (int c = 0; c < 4; c++) {
        const problem *p = &problems[i];
        const uint32_t dtype = m == 0 && c % 2 ? F64 : F32;
        const double bound = dtype == F64 ? 1e-12 : 1e-5;
        vt_attr_resize a = {.size = sizeof a,
                            .scale = p->scale,
                            .mode = modes[m],
                            .coordinates = coordinates[c],
                            .rounding = roundings[c],
                            .a = -0.75};
        const vt_attr_resize_grad back = {
            sizeof back, attr_list_of(p->from, p->axes), a.scale, a.mode, a.coordinates, a.rounding,
            a.a};
        if (p->scale == 0) a.to = attr_list_of(p->to, p->axes);
        const vt_view x =
            fill_with_exact_fractions(new_spatial_tensor(dtype, p, p->from, DENSE), &state);
        const vt_view dy =
            fill_with_exact_fractions(new_spatial_tensor(dtype, p, p->to, DENSE), &state);
        check_gradient_by_difference(VT_OP_resize, &a, &x, 1, 0, 0.5, bound, &state);
        check_gradient_by_difference(VT_OP_resize_grad, &back, &dy, 1, 0, 0.5, bound, &state);
        free_held();
      }
  static const int64_t deep[4] = {2, 8, 3, 2}, wide[4] = {2, 2, 6, 4};
  for (int crd = 0; crd < 2; crd++) {
    const vt_attr_blocks a = {
        .size = sizeof a, .block = 2, .mode = crd ? VT_WORD_CRD : VT_WORD_DCR};
    const vt_view x = fill_with_exact_fractions(view_new(F64, 4, deep, DENSE), &state);
    const vt_view y = fill_with_exact_fractions(view_new(F64, 4, wide, DENSE), &state);
    check_gradient_by_difference(VT_OP_depth_to_space, &a, &x, 1, 0, 0.5, 1e-12, &state);
    check_gradient_by_difference(VT_OP_space_to_depth, &a, &y, 1, 0, 0.5, 1e-12, &state);
    free_held();
  }
}

/* ---- type rules ---- */

static void test_type_rules(void) {
#define USUAL .mode = VT_WORD_linear, .coordinates = VT_WORD_half_pixel, .rounding = VT_WORD_floor
  static const vt_attr_resize to = {.size = sizeof to, .to = {2, {8, 9}}, USUAL},
                              twice = {.size = sizeof twice, .scale = 2, USUAL},
                              half = {.size = sizeof half, .scale = 0.5, USUAL},
                              both = {.size = sizeof both, .to = {1, {8}}, .scale = 2, USUAL},
                              neither = {.size = sizeof neither, USUAL},
                              below = {.size = sizeof below, .scale = -1, USUAL},
                              nan = {.size = sizeof nan, .scale = NAN, USUAL},
                              far = {.size = sizeof far, .scale = 1e12, USUAL},
                              minus = {.size = sizeof minus, .to = {1, {-8}}, USUAL},
                              odd = {.size = sizeof odd,
                                     .to = {1, {8}},
                                     .mode = VT_WORD_mean,
                                     .coordinates = VT_WORD_half_pixel,
                                     .rounding = VT_WORD_floor},
                              no_a = {.size = sizeof no_a, .to = {1, {8}}, .a = INFINITY, USUAL},
                              corners = {.size = sizeof corners,
                                         .to = {1, {INT64_C(1) << 30}},
                                         .mode = VT_WORD_nearest,
                                         .coordinates = VT_WORD_align_corners,
                                         .rounding = VT_WORD_floor};
  static const vt_attr_resize_grad back = {.size = sizeof back, .from = {2, {4, 5}}, USUAL},
                                   scaled = {
                                       .size = sizeof scaled, .from = {1, {4}}, .scale = 2, USUAL};
  static const vt_attr_blocks b2 = {.size = sizeof b2, .block = 2, .mode = VT_WORD_DCR},
                              b0 = {.size = sizeof b0, .block = 0, .mode = VT_WORD_DCR},
                              bw = {.size = sizeof bw, .block = 2, .mode = VT_WORD_mean};
#undef USUAL
  static const rule_case cases[] = {
      {VT_OP_resize, &to, "f32[B, V, T, 5]", "f32[B, V, 8, 9]"},
      {VT_OP_resize, &to, "f32[B, V, 5]", "!verify: to has 2 sizes"},
      {VT_OP_resize, &to, "f32[B, V, 0, 5]", "!verify: axis 2 is resized from nothing"},
      {VT_OP_resize, &to, "f64[B, V, 4, 5]", "!verify: expected f32: its weights are f32"},
      {VT_OP_resize, &twice, "f32[B, V, T, 5]", "f32[B, V, 2*T, 10]"},
      {VT_OP_resize, &half, "f32[B, V, 5]", "f32[B, V, 2]"},
      {VT_OP_resize, &half, "f32[B, V, T]", "!verify: axis 2 of f32[B, V, T] must be known"},
      {VT_OP_resize, &both, "f32[B, V, 5]", "!verify: expected either sizes, to=..., or a scale"},
      {VT_OP_resize, &neither, "f32[B, V, 5]", "!verify: expected either sizes"},
      {VT_OP_resize, &below, "f32[B, V, 5]", "!verify: the scale must be above 0"},
      {VT_OP_resize, &nan, "f32[B, V, 5]", "!verify: the scale must be above 0"},
      {VT_OP_resize, &far, "f32[B, V, 5]", "!verify: would be longer than 2^40"},
      {VT_OP_resize, &minus, "f32[B, V, 5]", "!verify: axis 2 is resized from or to -8"},
      {VT_OP_resize, &odd, "f32[B, V, 5]", "!verify: the mode is nearest, linear or cubic"},
      {VT_OP_resize, &no_a, "f32[B, V, 5]", "!verify: a must be finite"},
      {VT_OP_resize, &corners, "f32[1, 1, 8388609]", "f32[1, 1, 1073741824]"},
      {VT_OP_resize, &corners, "f32[1, 1, 9000000]", "!limit: beyond 2^53"},
      {VT_OP_resize, &to, "f32[B, V]", "!verify: 1 to 3 spatial axes"},
      {VT_OP_resize_grad, &back, "f32[B, V, 9, T]", "f32[B, V, 4, 5]"},
      {VT_OP_resize_grad, &back, "f32[B, V, 9]", "!verify: from has 2 sizes"},
      {VT_OP_resize_grad, &scaled, "f32[B, V, 8]", "f32[B, V, 4]"},
      {VT_OP_resize_grad, &scaled, "f32[B, V, 9]", "!verify: is not what the scale gives"},
      {VT_OP_depth_to_space, &b2, "f32[B, 4*V, T, 5]", "f32[B, V, 2*T, 10]"},
      {VT_OP_depth_to_space, &b2, "f32[B, 6, 2, 2]",
       "!verify: axis 1 of f32[B, 6, 2, 2] is not a mul"},
      {VT_OP_space_to_depth, &b2, "f32[B, V, 2*T, 4]", "f32[B, 4*V, T, 2]"},
      {VT_OP_space_to_depth, &b2, "f32[B, V, T, 4]", "!verify: is not a multiple of 2"},
      {VT_OP_space_to_depth, &b0, "f32[B, 1, 4, 4]", "!verify: block=0"},
      {VT_OP_space_to_depth, &bw, "f32[B, 1, 4, 4]", "!verify: the mode is DCR or CRD"},
      {VT_OP_space_to_depth, &b2, "f32[B, 4, 4]", "!verify: expected [N, C, H, W]"},
  };
  CHECK_RULES(cases);
}

int main(void) {
  test_resize();
  test_nearest_copies_any_dtype();
  test_tap_of_weight_zero_is_not_used();
  test_depth_to_space_and_back();
  test_gradients_by_differences();
  test_type_rules();
  TEST_DONE();
}
