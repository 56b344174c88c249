/* SPDX-License-Identifier: Apache-2.0
 * conv_test.c - tests the convolutions against their definitions, restated for each element of the
 * result, over sizes, strides, dilations, padding, groups, layouts and special values. Tests their
 * type rules, and their gradients: all by differences, those of conv also bit for bit. S is the
 * order in which sums are added, D that in which products are (docs/numerics.md). The sides of an
 * element of a result are the arrays of left and of right factors of its products. */
#include "trace_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64 };
#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

typedef struct problem {
  uint32_t axes;
  int64_t n, c, o, groups; /* batch, channels of x, channels of y, groups */
  int64_t in[3], kernel[3], stride[3], dilation[3], low[3], high[3], extra[3];
} problem;

static vt_attr_list attr_list_of(const int64_t *v, uint32_t n) {
  vt_attr_list l = {.n = n};
  memcpy(l.v, v, n * sizeof *v);
  return l;
}

static vt_attr_conv conv_attrs(const problem *p) {
  return (vt_attr_conv){.size = sizeof(vt_attr_conv),
                        .stride = attr_list_of(p->stride, p->axes),
                        .dilation = attr_list_of(p->dilation, p->axes),
                        .low = attr_list_of(p->low, p->axes),
                        .high = attr_list_of(p->high, p->axes),
                        .groups = p->groups,
                        .order = VT_ORDER_FMA256};
}

static vt_attr_conv_transpose conv_transpose_attrs(const problem *p) {
  return (vt_attr_conv_transpose){.size = sizeof(vt_attr_conv_transpose),
                                  .stride = attr_list_of(p->stride, p->axes),
                                  .dilation = attr_list_of(p->dilation, p->axes),
                                  .low = attr_list_of(p->low, p->axes),
                                  .high = attr_list_of(p->high, p->axes),
                                  .extra = attr_list_of(p->extra, p->axes),
                                  .groups = p->groups,
                                  .order = VT_ORDER_FMA256};
}

static vt_view new_spatial_tensor(uint32_t dtype, uint32_t axes, int64_t dim0, int64_t dim1,
                                  const int64_t *spatial, int layout) {
  int64_t dim[5] = {dim0, dim1};
  memcpy(dim + 2, spatial, axes * sizeof *dim);
  return view_new(dtype, axes + 2, dim, layout);
}

/* Element [a, b, i...] of v; +0 if the position i is outside of v, in the padding. */
static double element_or_zero_padding(const vt_view *v, int64_t index0, int64_t index1,
                                      const int64_t *position) {
  int64_t place = index0 * v->dim[1] + index1;
  for (uint32_t k = 2; k < v->rank; k++) {
    if (position[k - 2] < 0 || position[k - 2] >= v->dim[k]) return 0.0;
    place = place * v->dim[k] + position[k - 2];
  }
  return number_at(v, place);
}

/* Converts a row-major index to coordinates. */
static void index_to_coordinates(int64_t index, uint32_t rank, const int64_t *dim, int64_t *out) {
  for (uint32_t i = rank; i-- > 0; index /= dim[i]) out[i] = index % dim[i];
}

static int64_t product_of(const int64_t *dim, uint32_t n) {
  int64_t all = 1;
  for (uint32_t i = 0; i < n; i++) all *= dim[i];
  return all;
}

enum { MOST = 20000 };
static double side_a[MOST], side_b[MOST];

static uint64_t dot_of_sides_in_order_d(uint32_t dtype, int64_t n) {
  static float a[MOST], b[MOST];
  if (dtype == F64) return vt_f64_bits(d_f64(side_a, side_b, NULL, n));
  for (int64_t i = 0; i < n; i++) a[i] = (float)side_a[i];
  for (int64_t i = 0; i < n; i++) b[i] = (float)side_b[i];
  return vt_f32_bits(d_f32(a, b, NULL, n));
}

static uint64_t add_bias(const vt_view *bias, uint64_t bits, int64_t channel) {
  if (bias == NULL) return bits;
  if (bias->dtype == F64) return vt_f64_bits(vt_f64_from_bits(bits) + get_f64(bias, channel));
  return vt_f32_bits(vt_f32_from_bits((uint32_t)bits) + get_f32(bias, channel));
}

/* The bits of the element of conv's result that has the indices y = [n, o, position...]. */
static uint64_t expected_conv_bits(const problem *p, const vt_view *in, uint32_t n_in,
                                   const int64_t *y_index) {
  const vt_view *x = &in[0], *w = &in[1];
  const int64_t depth = w->dim[1], first = y_index[1] / (w->dim[0] / p->groups) * depth;
  const int64_t taps = product_of(p->kernel, p->axes);
  int64_t n = 0, k[3], i[3];
  for (int64_t c = 0; c < depth; c++)
    for (int64_t t = 0; t < taps; t++, n++) {
      index_to_coordinates(t, p->axes, p->kernel, k);
      for (uint32_t j = 0; j < p->axes; j++)
        i[j] = y_index[2 + j] * p->stride[j] + k[j] * p->dilation[j] - p->low[j];
      side_a[n] = element_or_zero_padding(x, y_index[0], first + c, i);
      side_b[n] = element_or_zero_padding(w, y_index[1], c, k);
    }
  return add_bias(n_in == 3 ? &in[2] : NULL, dot_of_sides_in_order_d(x->dtype, n), y_index[1]);
}

/* The bits of the element of conv_transpose's result that has the indices y = [n, o, position...].
 * The shape of w is [C, O/groups, K...]. */
static uint64_t expected_conv_transpose_bits(const problem *p, const vt_view *in, uint32_t n_in,
                                             const int64_t *y_index) {
  const vt_view *x = &in[0], *w = &in[1];
  const int64_t depth = w->dim[0] / p->groups, first = y_index[1] / w->dim[1] * depth;
  const int64_t taps = product_of(p->kernel, p->axes);
  int64_t n = 0, k[3], i[3];
  for (int64_t c = first; c < first + depth; c++)
    for (int64_t t = 0; t < taps; t++) {
      int numbered = 1;
      index_to_coordinates(t, p->axes, p->kernel, k);
      for (uint32_t j = 0; j < p->axes; j++) {
        i[j] = y_index[2 + j] + p->low[j] - k[j] * p->dilation[j];
        numbered &= i[j] % p->stride[j] == 0;
        i[j] = i[j] < 0 ? -1 : i[j] / p->stride[j];
      }
      if (!numbered) continue;
      side_a[n] = element_or_zero_padding(x, y_index[0], c, i);
      side_b[n++] = element_or_zero_padding(w, c, y_index[1] % w->dim[1], k);
    }
  return add_bias(n_in == 3 ? &in[2] : NULL, dot_of_sides_in_order_d(x->dtype, n), y_index[1]);
}

/* The bits of the element of conv_weight_grad's result that has the indices y = [o, c, tap...]: the
 * sum in order D over batch and output positions. */
static uint64_t expected_weight_grad_bits(const problem *p, const vt_view *in, uint32_t n_in,
                                          const int64_t *dw_index) {
  const vt_view *x = &in[0], *dy = &in[1];
  const int64_t positions = product_of(dy->dim + 2, p->axes);
  const int64_t c = dw_index[1] + dw_index[0] / (dy->dim[1] / p->groups) * (x->dim[1] / p->groups);
  int64_t n = 0, q[3], i[3];
  (void)n_in;
  for (int64_t b = 0; b < x->dim[0]; b++)
    for (int64_t e = 0; e < positions; e++, n++) {
      index_to_coordinates(e, p->axes, dy->dim + 2, q);
      for (uint32_t j = 0; j < p->axes; j++)
        i[j] = q[j] * p->stride[j] + dw_index[2 + j] * p->dilation[j] - p->low[j];
      side_a[n] = element_or_zero_padding(dy, b, dw_index[0], q);
      side_b[n] = element_or_zero_padding(x, b, c, i);
    }
  return dot_of_sides_in_order_d(x->dtype, n);
}

typedef uint64_t expected_fn(const problem *p, const vt_view *in, uint32_t n_in, const int64_t *y);

static int check_elements_against(const char *name, const problem *p, const vt_view *in, uint32_t n,
                                  const vt_view *y, expected_fn *expected) {
  const int64_t total = count_of_view(y);
  for (int64_t e = 0; e < total; e++) {
    int64_t index[5];
    index_to_coordinates(e, y->rank, y->dim, index);
    if (!expect_bits(name, y, e, expected(p, in, n, index))) return 0;
  }
  return 1;
}

static vt_view fill_operand(vt_view v, int any_class, uint64_t *state) {
  return any_class ? fill_any(v, state) : fill_ordinary(v, state);
}

static const problem problems[] = {
    {1, 2, 3, 4, 1, {7}, {3}, {1}, {1}, {0}, {0}, {0}},
    {1, 1, 4, 6, 2, {9}, {3}, {2}, {1}, {1}, {2}, {1}},
    {1, 2, 4, 4, 4, {8}, {2}, {3}, {2}, {2}, {0}, {2}},
    {1, 1, 1, 1, 1, {1}, {1}, {1}, {1}, {0}, {0}, {0}},
    {1, 2, 2, 2, 1, {0}, {1}, {2}, {1}, {0}, {0}, {0}},
    /* conv has no output: the kernel is longer than x */
    {1, 1, 2, 3, 1, {2}, {3}, {1}, {1}, {0}, {0}, {0}},
    {1, 1, 2, 3, 1, {3}, {2}, {2}, {5}, {4}, {3}, {4}},
    {2, 2, 4, 6, 2, {5, 6}, {3, 2}, {2, 1}, {1, 2}, {1, 0}, {0, 1}, {1, 0}},
    {2, 1, 3, 2, 1, {4, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
    {2, 1, 6, 6, 6, {6, 6}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {2, 0, 2, 3, 1, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}},
    {2, 1, 0, 2, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}},
    {2, 1, 2, 0, 1, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}},
    /* every output sums 261 products, more than one block of D */
    {2, 1, 29, 3, 1, {4, 4}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
    /* every output sums 2304 products, nine blocks of D */
    {2, 1, 256, 2, 1, {3, 3}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
    {3, 1, 4, 2, 2, {3, 4, 5}, {2, 1, 3}, {1, 2, 2}, {1, 1, 2}, {1, 0, 2}, {0, 0, 2}, {0, 1, 1}},
    {3, 2, 1, 2, 1, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}}};

/* Tests conv and conv_transpose on every problem in both dtypes and three layouts, with and without
 * a bias, with ordinary and with special values. */
static void test_conv_and_conv_transpose(void) {
  uint64_t state = 20;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (int bits = 0; bits < 24; bits++) {
      const problem *p = &problems[i];
      const uint32_t dtype = bits & 1 ? F64 : F32, n = bits & 2 ? 3 : 2;
      const int layout = bits / 4 % LAYOUTS, any = bits >= 12;
      const vt_attr_conv a = conv_attrs(p);
      const vt_attr_conv_transpose t = conv_transpose_attrs(p);
      test_seed = state;
      vt_view in[3] = {
          fill_operand(new_spatial_tensor(dtype, p->axes, p->n, p->c, p->in, layout), any, &state),
          fill_operand(new_spatial_tensor(dtype, p->axes, p->o, p->c / p->groups, p->kernel,
                                          (layout + 1) % LAYOUTS),
                       any, &state),
          fill_operand(view_new(dtype, 1, &p->o, layout), any, &state)};
      const run_result y = run_op(VT_OP_conv, &a, in, n, (layout + 2) % LAYOUTS);
      CHECK(y.status == VT_OK);
      if (y.status == VT_OK) check_elements_against("conv", p, in, n, &y.out, expected_conv_bits);
      in[1] = fill_operand(
          new_spatial_tensor(dtype, p->axes, p->c, p->o / p->groups, p->kernel, layout), any,
          &state);
      const run_result z = run_op(VT_OP_conv_transpose, &t, in, n, layout);
      const int64_t least = (p->in[0] - 1) * p->stride[0] + p->dilation[0] * (p->kernel[0] - 1) +
                            1 + p->extra[0] - p->low[0] - p->high[0];
      CHECK(z.status == (least < 0 ? VT_VERIFY : VT_OK));
      if (z.status == VT_OK)
        check_elements_against("conv_transpose", p, in, n, &z.out, expected_conv_transpose_bits);
      free_held();
    }
}

static vt_attr_conv_weight_grad weight_grad_attrs(const problem *p) {
  return (vt_attr_conv_weight_grad){.size = sizeof(vt_attr_conv_weight_grad),
                                    .kernel = attr_list_of(p->kernel, p->axes),
                                    .stride = attr_list_of(p->stride, p->axes),
                                    .dilation = attr_list_of(p->dilation, p->axes),
                                    .low = attr_list_of(p->low, p->axes),
                                    .groups = p->groups,
                                    .order = VT_ORDER_FMA256};
}

static void test_weight_grad(void) {
  static const int64_t positions[][3] = {{3, 4, 2}, {1, 1, 1}, {0, 2, 3}, {20, 15, 2}};
  uint64_t state = 21;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (int bits = 0; bits < 16; bits++) {
      const problem *p = &problems[i];
      const uint32_t dtype = bits & 1 ? F64 : F32;
      const int layout = bits % LAYOUTS, any = bits & 2;
      const vt_attr_conv_weight_grad a = weight_grad_attrs(p);
      test_seed = state;
      const vt_view in[2] = {
          fill_operand(new_spatial_tensor(dtype, p->axes, p->n, p->c, p->in, layout), any, &state),
          fill_operand(new_spatial_tensor(dtype, p->axes, p->n, p->o, positions[bits / 4],
                                          (layout + 1) % LAYOUTS),
                       any, &state)};
      const run_result y = run_op(VT_OP_conv_weight_grad, &a, in, 2, (layout + 2) % LAYOUTS);
      CHECK(y.status == VT_OK);
      if (y.status == VT_OK)
        check_elements_against("conv_weight_grad", p, in, 2, &y.out, expected_weight_grad_bits);
      free_held();
    }
}

/* Products with padding are computed: an infinite weight on padding gives NaN. A sum of products
 * that are all -0 gives +0. */
static void test_padding_is_multiplied(void) {
  const problem p = {1, 1, 1, 1, 1, {1}, {2}, {1}, {1}, {1}, {0}, {0}};
  const vt_attr_conv a = conv_attrs(&p);
  vt_view in[2] = {new_spatial_tensor(F32, 1, 1, 1, p.in, DENSE),
                   new_spatial_tensor(F32, 1, 1, 1, p.kernel, DENSE)};
  put_bits(&in[0], 0, 0x3f800000); /* 1 */
  put_bits(&in[1], 0, 0x7f800000); /* infinity, the weight that is multiplied by padding */
  put_bits(&in[1], 1, 0x80000000);
  run_result y = run_op(VT_OP_conv, &a, in, 2, DENSE);
  CHECK(y.status == VT_OK && isnan(get_f32(&y.out, 0)));
  put_bits(&in[1], 0, 0x80000000);
  y = run_op(VT_OP_conv, &a, in, 2, DENSE);
  CHECK(y.status == VT_OK && get_bits(&y.out, 0) == 0);
  free_held();
}

/* ---- integers ---- */

static int64_t integer_at(const vt_view *v, int64_t i) {
  return integer_of(v->dtype, get_bits(v, i));
}

static uint64_t expected_conv_int_bits(const problem *p, const vt_view *in, uint32_t n_in,
                                       const int64_t *y_index) {
  const vt_view *x = &in[0], *w = &in[1];
  const int64_t depth = w->dim[1], first = y_index[1] / (w->dim[0] / p->groups) * depth;
  const int64_t taps = product_of(p->kernel, p->axes);
  const int64_t zx = n_in > 2 ? integer_at(&in[2], 0) : 0;
  const int64_t zw = n_in > 3 ? integer_at(&in[3], in[3].rank == 0 ? 0 : y_index[1]) : 0;
  int64_t sum = n_in > 4 ? integer_at(&in[4], y_index[1]) : 0, k[3];
  for (int64_t c = 0; c < depth; c++)
    for (int64_t t = 0; t < taps; t++) {
      int64_t place = y_index[0] * x->dim[1] + first + c;
      int inside = 1;
      index_to_coordinates(t, p->axes, p->kernel, k);
      for (uint32_t j = 0; j < p->axes; j++) {
        const int64_t i = y_index[2 + j] * p->stride[j] + k[j] * p->dilation[j] - p->low[j];
        inside &= i >= 0 && i < p->in[j];
        place = place * p->in[j] + i;
      }
      /* elements of the padding are the zero point */
      const int64_t a = inside ? integer_at(x, place) : zx;
      sum += (a - zx) * (integer_at(w, (y_index[1] * depth + c) * taps + t) - zw);
    }
  return (uint32_t)(uint64_t)sum;
}

static void test_conv_int(void) {
  uint64_t state = 22;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (int bits = 0; bits < 40; bits++) {
      const problem *p = &problems[i];
      const uint32_t tx = bits & 1 ? VT_DTYPE_U8 : VT_DTYPE_I8,
                     tw = bits & 2 ? VT_DTYPE_U8 : VT_DTYPE_I8, n = 2 + (uint32_t)bits / 4 % 4;
      const int layout = bits % LAYOUTS;
      const vt_attr_conv c = conv_attrs(p);
      const vt_attr_conv_int a = {.size = sizeof a,
                                  .stride = c.stride,
                                  .dilation = c.dilation,
                                  .low = c.low,
                                  .high = c.high,
                                  .groups = c.groups};
      test_seed = state;
      const vt_view in[5] = {
          fill_any(new_spatial_tensor(tx, p->axes, p->n, p->c, p->in, layout), &state),
          fill_any(new_spatial_tensor(tw, p->axes, p->o, p->c / p->groups, p->kernel,
                                      (layout + 1) % LAYOUTS),
                   &state),
          fill_any(view_new(tx, 0, NULL, layout), &state),
          fill_any(view_new(tw, bits & 32 ? 1 : 0, &p->o, layout), &state),
          fill_any(view_new(VT_DTYPE_I32, 1, &p->o, layout), &state)};
      const run_result y = run_op(VT_OP_conv_int, &a, in, n, (layout + 2) % LAYOUTS);
      CHECK(y.status == VT_OK);
      if (y.status == VT_OK)
        check_elements_against("conv_int", p, in, n, &y.out, expected_conv_int_bits);
      free_held();
    }
}

/* The stride is longer than x, so that only the first element of dy is multiplied by an element of
 * x, however long dy is. */
static void test_weight_grad_stride_beyond_x(void) {
  const vt_attr_conv_weight_grad a = {.size = sizeof a,
                                      .kernel = {1, {1}},
                                      .stride = {1, {INT64_C(1) << 40}},
                                      .groups = 1,
                                      .order = VT_ORDER_FMA256};
  const int64_t dim[3] = {1, 1, 4}, positions[3] = {1, 1, INT64_C(1) << 22};
  const vt_view in[2] = {view_new(F32, 3, dim, DENSE), view_new(F32, 3, positions, DENSE)};
  for (int v = 0; v < 2; v++)
    for (int64_t i = 0; i < count_of_view(&in[v]); i++) put_number(&in[v], i, 1.0);
  const run_result y = run_op(VT_OP_conv_weight_grad, &a, in, 2, DENSE);
  CHECK(y.status == VT_OK && get_f32(&y.out, 0) == 1.0f);
  free_held();
}

/* ---- type rules ---- */

static void test_type_rules(void) {
  static const vt_attr_conv
      s2 = {.size = sizeof s2, .stride = {1, {2}}, .groups = 1, .order = 1},
      p1 = {.size = sizeof p1, .low = {1, {1}}, .high = {2, {1, 1}}, .groups = 1, .order = 1},
      g2 = {.size = sizeof g2, .groups = 2, .order = 1},
      g0 = {.size = sizeof g0, .groups = 0, .order = 1},
      s0 = {.size = sizeof s0, .stride = {1, {0}}, .groups = 1, .order = 1},
      s3 = {.size = sizeof s3, .stride = {3, {1, 1, 1}}, .groups = 1, .order = 1},
      neg = {.size = sizeof neg, .low = {1, {-1}}, .groups = 1, .order = 1},
      far = {.size = sizeof far, .dilation = {1, {INT64_C(1) << 40}}, .groups = 1, .order = 1},
      no_order = {.size = sizeof no_order, .groups = 1, .order = 2};
  static const vt_attr_conv_transpose
      t2 = {.size = sizeof t2, .stride = {1, {2}}, .groups = 1, .order = 1},
      tp = {.size = sizeof tp, .low = {1, {9}}, .groups = 1, .order = 1},
      te = {.size = sizeof te, .extra = {1, {-1}}, .groups = 1, .order = 1};
  static const vt_attr_conv_weight_grad k3 = {.size = sizeof k3,
                                              .kernel = {1, {3}},
                                              .groups = 1,
                                              .order = 1},
                                        k0 = {.size = sizeof k0, .groups = 1, .order = 1},
                                        wide = {.size = sizeof wide,
                                                .kernel = {2, {1, 3}},
                                                .stride = {2, {INT64_C(1) << 40, 1}},
                                                .groups = 1,
                                                .order = 1},
                                        long2 = {.size = sizeof long2,
                                                 .kernel = {1, {2}},
                                                 .stride = {1, {INT64_C(1) << 40}},
                                                 .groups = 1,
                                                 .order = 1};
  static const rule_case cases[] = {
      {VT_OP_conv, NULL, "f32[B, 3, 8, 9]; f32[4, 3, 3, 2]", "f32[B, 4, 6, 8]"},
      {VT_OP_conv, &p1, "f32[B, 3, 8, 9]; f32[4, 3, 3, 2]; f32[4]", "f32[B, 4, 8, 10]"},
      {VT_OP_conv, NULL, "f64[B, V, T]; f64[4, V, 3]", "f64[B, 4, T - 2]"},
      {VT_OP_conv, &s2, "f32[B, 3, 2*T]; f32[4, 3, 3]", "f32[B, 4, T - 1]"},
      {VT_OP_conv, &s2, "f32[B, 3, T]; f32[4, 3, 3]",
       "!verify: axis 2 of f32[B, 3, T] must be known: a stride of 2 does not divide it"},
      {VT_OP_conv, &g2, "f32[1, 4, 5]; f32[6, 2, 1]", "f32[1, 6, 5]"},
      {VT_OP_conv, &g2, "f32[1, 3, 5]; f32[6, 2, 1]", "!verify: is not a multiple of groups=2"},
      {VT_OP_conv, &g2, "f32[1, 4, 5]; f32[5, 2, 1]", "!verify: is not a multiple of groups=2"},
      {VT_OP_conv, &g0, "f32[1, 4, 5]; f32[5, 4, 1]", "!verify: groups=0"},
      {VT_OP_conv, NULL, "f32[1, 4, 5]; f32[5, 3, 1]", "!verify: their channels in a group differ"},
      {VT_OP_conv, NULL, "f32[4, 5]; f32[5, 4]", "!verify: 1 to 3 spatial axes"},
      {VT_OP_conv, NULL, "f32[1, 1, 2, 2, 2, 2]; f32[1, 1, 1, 1, 1, 1]",
       "!verify: 1 to 3 spatial axes"},
      {VT_OP_conv, NULL, "f32[1, 4, 5]; f32[5, 4, 1, 1]", "!verify: the same number of axes"},
      {VT_OP_conv, NULL, "f32[1, 4, 5]; f32[5, 4, 0]", "!verify: kernel axis 0 is 0"},
      {VT_OP_conv, NULL, "f32[1, 4, 5]; f32[5, 4, T]", "!verify: kernel axis 0 must be known"},
      {VT_OP_conv, NULL, "f32[1, 4, 5]; f32[5, 4, 6]", "f32[1, 5, 0]"},
      {VT_OP_conv, NULL, "f32[1, 4, 5]; f32[5, 4, 7]",
       "!verify: a kernel of 7 does not fit axis 2 of f32[1, 4, 5]"},
      {VT_OP_conv, NULL, "f32[1, 4, 5]; f32[5, 4, 1]; f32[4]",
       "!verify: the bias is f32[4], expected one number for each output channel"},
      {VT_OP_conv, NULL, "f32[1, 4, 5]; f64[5, 4, 1]", "!verify: write a cast"},
      {VT_OP_conv, NULL, "i8[1, 4, 5]; i8[5, 4, 1]", "!verify: expected f32 or f64"},
      {VT_OP_conv, &s0, "f32[1, 4, 5]; f32[5, 4, 1]", "!verify: stride=0: expected 1..2^40"},
      {VT_OP_conv, &s3, "f32[1, 4, 5, 5]; f32[5, 4, 1, 1]", "!verify: stride has 3 entries"},
      {VT_OP_conv, &neg, "f32[1, 4, 5]; f32[5, 4, 1]", "!verify: low=-1: expected 0..2^40"},
      {VT_OP_conv, &far, "f32[1, 4, 5]; f32[5, 4, 1]", "f32[1, 5, 5]"},
      {VT_OP_conv, &far, "f32[1, 4, 5]; f32[5, 4, 3]", "!verify: is longer than 2^40"},
      {VT_OP_conv, &no_order, "f32[1, 4, 5]; f32[5, 4, 3]", "!verify: order 2"},
      {VT_OP_conv_transpose, &t2, "f32[B, 4, T]; f32[4, 3, 3]", "f32[B, 3, 2*T + 1]"},
      {VT_OP_conv_transpose, NULL, "f32[B, 4, 0]; f32[4, 3, 3]", "f32[B, 3, 2]"},
      {VT_OP_conv_transpose, &tp, "f32[B, 4, 5]; f32[4, 3, 3]", "!verify: would give -2 positions"},
      {VT_OP_conv_transpose, &te, "f32[B, 4, 5]; f32[4, 3, 3]", "!verify: extra=-1"},
      {VT_OP_conv_transpose, NULL, "f32[B, 4, 5]; f32[3, 4, 3]",
       "!verify: their channels in a group differ"},
      {VT_OP_conv_weight_grad, &k3, "f32[B, 4, T]; f32[B, 6, V]", "f32[6, 4, 3]"},
      {VT_OP_conv_weight_grad, &k0, "f32[B, 4, T]; f32[B, 6, V]", "!verify: kernel has no entries"},
      {VT_OP_conv_weight_grad, &k3, "f32[B, 4, T]; f32[V, 6, T]", "!verify: the same N"},
      {VT_OP_conv_weight_grad, &wide, "f32[1, 1, 4, 4]; f32[1, 1, 4194304, 9]", "f32[1, 1, 1, 3]"},
      {VT_OP_conv_weight_grad, &wide, "f32[1, 1, 4, 4]; f32[1, 1, B, 4194305]", "f32[1, 1, 1, 3]"},
      {VT_OP_conv_weight_grad, &wide, "f32[1, 1, 4, 4]; f32[1, 1, 4194305, 9]",
       "!limit: axis 2 of dy f32[1, 1, 4194305, 9] reaches beyond 2^62 with a stride of 109951162"},
      {VT_OP_conv_weight_grad, &wide, "f32[1, 1, 4, 4]; f32[1, 1, 1099511627776, 9]",
       "!limit: reaches beyond 2^62"},
      {VT_OP_conv_weight_grad, &long2, "f32[1, 1, 4]; f32[1, 1, 16777217]",
       "!limit: reaches beyond 2^62"},
      {VT_OP_conv_weight_grad, &long2, "f32[1, 1, 4]; f32[1, 1, 0]", "f32[1, 1, 2]"},
      {VT_OP_conv_int, NULL, "u8[B, 4, 9]; i8[6, 4, 3]", "i32[B, 6, 7]"},
      {VT_OP_conv_int, NULL, "u8[B, 4, 9]; i8[6, 4, 3]; u8[]; i8[6]; i32[6]", "i32[B, 6, 7]"},
      {VT_OP_conv_int, NULL, "u8[B, 4, 9]; i8[6, 4, 3]; i8[]", "!verify: a zero point of u8"},
      {VT_OP_conv_int, NULL, "u8[B, 4, 9]; i8[6, 4, 3]; u8[1]", "!verify: expected a scalar"},
      {VT_OP_conv_int, NULL, "u8[B, 4, 9]; i8[6, 4, 3]; u8[]; i8[5]",
       "!verify: expected a scalar or"},
      {VT_OP_conv_int, NULL, "u8[B, 4, 9]; i8[6, 4, 3]; u8[]; i8[]; i64[6]",
       "!verify: a bias of i32"},
      {VT_OP_conv_int, NULL, "f32[B, 4, 9]; i8[6, 4, 3]", "!verify: expected i8 or u8"},
      {VT_OP_conv_int, NULL, "i8[B, 131071, 9]; i8[6, 131071, 1]", "i32[B, 6, 9]"},
      {VT_OP_conv_int, NULL, "i8[B, 65536, 9]; i8[6, 65536, 2]", "!limit: at most 131071 products"},
      {VT_OP_conv_int, NULL, "i8[B, 65793, 9]; u8[6, 65793, 1]", "i32[B, 6, 9]"},
      {VT_OP_conv_int, NULL, "i8[B, 65794, 9]; u8[6, 65794, 1]", "!limit: at most 65793 products"},
      {VT_OP_conv_int, NULL, "u8[B, 33026, 9]; u8[6, 33026, 1]", "!limit: at most 33025 products"},
      {VT_OP_conv_int, NULL, "i8[B, 33026, 9]; i8[6, 33026, 1]; i8[]",
       "!limit: at most 33025 products"},
  };
  CHECK_RULES(cases);
}

/* ---- gradients ---- */

static vt_view fill_with_exact_fractions(vt_view v, uint64_t *state) {
  const int64_t n = count_of_view(&v);
  for (int64_t i = 0; i < n; i++) put_number(&v, i, random_on_grid(state));
  return v;
}

static void check_gradients_by_differences(uint32_t op, const void *attrs, const vt_view *in,
                                           uint32_t n, uint64_t *state) {
  const double bound = in[0].dtype == F64 ? 1e-12 : 1e-4;
  for (uint32_t by = 0; by < n; by++)
    check_gradient_by_difference(op, attrs, in, n, by, 0.5, bound, state);
}

static void test_gradients_by_differences(void) {
  uint64_t state = 23;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (int bits = 0; bits < 2; bits++) {
      const problem *p = &problems[i];
      const uint32_t dtype = bits ? F64 : F32;
      const vt_attr_conv a = conv_attrs(p);
      const vt_attr_conv_transpose t = conv_transpose_attrs(p);
      const vt_attr_conv_weight_grad k = weight_grad_attrs(p);
      vt_view in[3] = {
          fill_with_exact_fractions(new_spatial_tensor(dtype, p->axes, p->n, p->c, p->in, DENSE),
                                    &state),
          fill_with_exact_fractions(
              new_spatial_tensor(dtype, p->axes, p->o, p->c / p->groups, p->kernel, DENSE), &state),
          fill_with_exact_fractions(view_new(dtype, 1, &p->o, DENSE), &state)};
      const run_result y = run_op(VT_OP_conv, &a, in, 3, DENSE);
      CHECK(y.status == VT_OK);
      check_gradients_by_differences(VT_OP_conv, &a, in, 3, &state);
      const vt_view pair[2] = {in[0], fill_with_exact_fractions(y.out, &state)};
      check_gradients_by_differences(VT_OP_conv_weight_grad, &k, pair, 2, &state);
      in[1] = fill_with_exact_fractions(
          new_spatial_tensor(dtype, p->axes, p->c, p->o / p->groups, p->kernel, DENSE), &state);
      if (run_op(VT_OP_conv_transpose, &t, in, 3, DENSE).status == VT_OK)
        check_gradients_by_differences(VT_OP_conv_transpose, &t, in, 3, &state);
      free_held();
    }
}

/* Checks the gradients of conv by their formulas. dx is conv_transpose of dy: the sum in order D
 * over the output channels of the group and the taps whose position is divisible by the stride. dw
 * is conv_weight_grad, and db is the sum in order S over batch and positions. */
static void check_conv_gradient_bits(const problem *p, const vt_view *in, const vt_view *dy,
                                     const uint32_t *d_in) {
  static double column[MOST];
  static float narrow[MOST];
  const vt_view pair[2] = {*dy, in[1]}, second[2] = {in[0], *dy};
  problem same = *p; /* the problem serves conv_transpose too: dy has p->o channels */
  check_elements_against("dx of conv", &same, pair, 2, &eager.value[d_in[0]],
                         expected_conv_transpose_bits);
  check_elements_against("dw of conv", p, second, 2, &eager.value[d_in[1]],
                         expected_weight_grad_bits);
  const int64_t positions = product_of(dy->dim + 2, p->axes);
  for (int64_t o = 0; o < p->o; o++) {
    int64_t n = 0;
    for (int64_t b = 0; b < p->n; b++)
      for (int64_t e = 0; e < positions; e++)
        column[n++] = number_at(dy, (b * p->o + o) * positions + e);
    for (int64_t e = 0; e < n; e++) narrow[e] = (float)column[e];
    expect_bits("db of conv", &eager.value[d_in[2]], o,
                dy->dtype == F64 ? vt_f64_bits(s_f64(column, n)) : vt_f32_bits(s_f32(narrow, n)));
  }
}

static void test_gradient_bits(void) {
  uint64_t state = 24;
  for (int64_t i = 0; i < COUNT(problems); i++)
    for (int bits = 0; bits < 4; bits++) {
      const problem *p = &problems[i];
      const uint32_t dtype = bits & 1 ? F64 : F32;
      const vt_attr_conv a = conv_attrs(p);
      const int any = bits & 2;
      test_seed = state;
      const vt_view in[3] = {
          fill_operand(new_spatial_tensor(dtype, p->axes, p->n, p->c, p->in, DENSE), any, &state),
          fill_operand(new_spatial_tensor(dtype, p->axes, p->o, p->c / p->groups, p->kernel, DENSE),
                       any, &state),
          fill_operand(view_new(dtype, 1, &p->o, DENSE), any, &state)};
      eager_begin();
      uint32_t ids[3], d_in[3] = {VT_NO_VALUE, VT_NO_VALUE, VT_NO_VALUE};
      for (int j = 0; j < 3; j++) ids[j] = eager_add_copy(&in[j]);
      const uint32_t y = eager_run_op(&eager.b, VT_OP_conv, ids, 3, &a);
      const uint32_t d_out = eager_add_copy(&eager.value[y]);
      fill_operand(eager.value[d_out], any, &state);
      const vt_gradient g = {&eager.b, ids, &y, 3, 1, &a, &d_out, d_in};
      vt_op_get(VT_OP_conv)->grad(&g);
      CHECK(d_in[0] != VT_NO_VALUE && d_in[1] != VT_NO_VALUE && d_in[2] != VT_NO_VALUE);
      if (eager.problem[0] == 0) check_conv_gradient_bits(p, in, &eager.value[d_out], d_in);
      eager_end("conv");
      free_held();
    }
}

int main(void) {
  test_conv_and_conv_transpose();
  test_weight_grad();
  test_padding_is_multiplied();
  test_conv_int();
  test_weight_grad_stride_beyond_x();
  test_type_rules();
  test_gradients_by_differences();
  test_gradient_bits();
  TEST_DONE();
}
