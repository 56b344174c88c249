/* SPDX-License-Identifier: Apache-2.0
 * contract_test.c - tests matmul and matmul_masked against order D, restated for each element of
 * the result: depths around the sizes of blocks and groups, transposes, broadcast batches,
 * layouts. Tests their gradients, and the type rules of matmul, linear and attention. A depth is
 * the length of the summed axis. D is the order in which products are added (docs/numerics.md). */
#include "eager_test.h"

enum { F32 = VT_DTYPE_F32, F64 = VT_DTYPE_F64 };

typedef struct problem {
  uint32_t dtype;
  int64_t m, k, n;
  int ta, tb;         /* 1 if a, b is transposed */
  int masked, layout; /* masked: 1 for matmul_masked; layout: of a and of the mask */
  /* 1 for operands with special values, 0 for ordinary values only */
  int any;
  uint32_t lead_a, lead_b, lead_p; /* number of batch axes of a, b and the mask */
  int64_t batch_a[6], batch_b[6], batch_p[6];
} problem;

static vt_view new_operand(uint32_t dtype, uint32_t n_batch, const int64_t *batch, int64_t rows,
                           int64_t columns, int transposed, int layout) {
  int64_t dim[8];
  memcpy(dim, batch, n_batch * sizeof *dim);
  dim[n_batch] = transposed ? columns : rows;
  dim[n_batch + 1] = transposed ? rows : columns;
  return view_new(dtype, n_batch + 2, dim, layout);
}

/* The index of the matrix of x that is used for matrix i of y; the batch axes broadcast. */
static int64_t broadcast_matrix_index(const vt_view *x, const vt_view *y, int64_t y_matrix) {
  int64_t matrix = 0, step = 1;
  for (uint32_t k = 3; k <= y->rank; k++) {
    const int64_t index = y_matrix % y->dim[y->rank - k];
    y_matrix /= y->dim[y->rank - k];
    if (k > x->rank) continue;
    const int64_t dim = x->dim[x->rank - k];
    matrix += (dim == 1 ? 0 : index) * step;
    step *= dim;
  }
  return matrix;
}

/* Element [row, column] of matrix i of x, after the transpose if `transposed` is 1. */
static uint64_t matrix_entry_bits(const vt_view *x, int64_t matrix, int transposed, int64_t row,
                                  int64_t column) {
  const int64_t rows = x->dim[x->rank - 2], columns = x->dim[x->rank - 1];
  const int64_t r = transposed ? column : row, c = transposed ? row : column;
  return get_bits(x, (matrix * rows + r) * columns + c);
}

static uint64_t expected_product_bits(const problem *p, const vt_view *in, const vt_view *y,
                                      int64_t y_matrix, int64_t row, int64_t column) {
  static float a[40000], b[40000];
  static double c[40000], d[40000];
  static uint8_t present[40000];
  const int64_t ia = broadcast_matrix_index(&in[0], y, y_matrix),
                ib = broadcast_matrix_index(&in[1], y, y_matrix);
  const int64_t ip = p->masked ? broadcast_matrix_index(&in[2], y, y_matrix) : 0;
  for (int64_t k = 0; k < p->k; k++) {
    const uint64_t u = matrix_entry_bits(&in[0], ia, p->ta, row, k),
                   v = matrix_entry_bits(&in[1], ib, p->tb, k, column);
    a[k] = vt_f32_from_bits((uint32_t)u);
    b[k] = vt_f32_from_bits((uint32_t)v);
    c[k] = vt_f64_from_bits(u);
    d[k] = vt_f64_from_bits(v);
    present[k] = !p->masked || matrix_entry_bits(&in[2], ip, 0, row, k) != 0;
  }
  return p->dtype == F32 ? vt_f32_bits(d_f32(a, b, present, p->k))
                         : vt_f64_bits(d_f64(c, d, present, p->k));
}

static void check_product(const problem *p, const vt_view *in, const run_result *r) {
  const char *name = p->masked ? "matmul_masked" : "matmul";
  const vt_view *y = &r->out;
  CHECK(r->status == VT_OK && y->dtype == p->dtype);
  if (r->status != VT_OK) return;
  CHECK(y->dim[y->rank - 2] == p->m && y->dim[y->rank - 1] == p->n);
  const int64_t total = count_of_view(y);
  for (int64_t e = 0; e < total; e++) {
    const int64_t column = e % p->n, row = e / p->n % p->m, i = e / p->n / p->m;
    if (!expect_bits(name, y, e, expected_product_bits(p, in, y, i, row, column))) return;
  }
}

static vt_view fill_operand(vt_view v, int any_class, uint64_t *state) {
  return any_class ? fill_any(v, state) : fill_ordinary(v, state);
}

static void check_matmul(const problem *p, uint64_t *state) {
  const vt_attr_matmul a = {
      .size = sizeof a, .transpose_a = p->ta, .transpose_b = p->tb, .order = VT_ORDER_FMA256};
  test_seed = *state;
  vt_view in[3];
  in[0] = fill_operand(new_operand(p->dtype, p->lead_a, p->batch_a, p->m, p->k, p->ta, p->layout),
                       p->any, state);
  in[1] = fill_operand(
      new_operand(p->dtype, p->lead_b, p->batch_b, p->k, p->n, p->tb, (p->layout + 1) % LAYOUTS),
      p->any, state);
  in[2] =
      fill_any(new_operand(VT_DTYPE_BOOL, p->lead_p, p->batch_p, p->m, p->k, 0, p->layout), state);
  const run_result r = run_op(p->masked ? VT_OP_matmul_masked : VT_OP_matmul, &a, in,
                              p->masked ? 3 : 2, (p->layout + 2) % LAYOUTS);
  check_product(p, in, &r);
  free_held();
}

/* ---- depths around the size of a block, 256, and of a group of 8 blocks ---- */

static const int64_t depths[] = {0,    1,    2,    7,    8,    9,    15,   16,    17,   31,
                                 32,   33,   255,  256,  257,  511,  512,  513,   1023, 1024,
                                 1025, 2047, 2048, 2049, 2304, 2305, 4097, 16385, 33000};

static void test_depths(void) {
  uint64_t state = 4711;
  for (int64_t i = 0; i < COUNT(depths); i++)
    for (int bits = 0; bits < 16; bits++) {
      const problem p = {.dtype = bits & 1 ? F64 : F32,
                         .m = 2,
                         .k = depths[i],
                         .n = 3,
                         .ta = bits >> 1 & 1,
                         .tb = bits >> 2 & 1,
                         .masked = bits >> 3 & 1,
                         .layout = bits % LAYOUTS};
      if (depths[i] > 5000 && p.ta != p.tb) continue;
      check_matmul(&p, &state);
    }
}

/* Tests values of every class: NaN, infinities, subnormals, zeros of both signs. */
static void test_special_values(void) {
  uint64_t state = 815;
  for (int round = 0; round < 48; round++) {
    const problem p = {.dtype = round & 1 ? F64 : F32,
                       .m = 3,
                       .k = round % 6,
                       .n = 17,
                       .ta = round >> 1 & 1,
                       .tb = round >> 2 & 1,
                       .masked = round >> 3 & 1,
                       .layout = round % LAYOUTS,
                       .any = 1};
    check_matmul(&p, &state);
  }
}

/* Tests widths of the result around the numbers of columns that a kernel computes at a time. */
static void test_result_widths(void) {
  static const int64_t widths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65};
  uint64_t state = 99;
  for (int64_t w = 0; w < COUNT(widths); w++)
    for (int bits = 0; bits < 12; bits++) {
      const problem p = {.dtype = bits & 1 ? F64 : F32,
                         .m = bits % 3,
                         .k = bits & 4 ? 257 : 5,
                         .n = widths[w],
                         .tb = bits >> 1 & 1,
                         .masked = bits >> 3,
                         .layout = bits % LAYOUTS};
      check_matmul(&p, &state);
    }
}

static void test_broadcast_batches(void) {
  static const problem shapes[] = {
      {.lead_a = 1, .batch_a = {3}, .lead_b = 1, .batch_b = {3}, .lead_p = 1, .batch_p = {3}},
      {.lead_a = 1, .batch_a = {3}, .lead_b = 0, .lead_p = 1, .batch_p = {1}},
      {.lead_a = 0, .lead_b = 2, .batch_b = {2, 3}, .lead_p = 1, .batch_p = {3}},
      {.lead_a = 2, .batch_a = {2, 1}, .lead_b = 2, .batch_b = {1, 3}, .lead_p = 0},
      {.lead_a = 1, .batch_a = {1}, .lead_b = 1, .batch_b = {1}, .lead_p = 2, .batch_p = {1, 1}},
      {.lead_a = 2, .batch_a = {0, 2}, .lead_b = 1, .batch_b = {2}, .lead_p = 0},
      {.lead_a = 6, .batch_a = {1, 2, 1, 2, 1, 2}, .lead_b = 6, .batch_b = {2, 1, 2, 1, 2, 1}},
      {.lead_a = 1,
       .batch_a = {2},
       .lead_b = 6,
       .batch_b = {1, 2, 1, 1, 3, 1},
       .lead_p = 6,
       .batch_p = {1, 1, 1, 1, 3, 2}}};
  uint64_t state = 3;
  for (int64_t s = 0; s < COUNT(shapes); s++)
    for (int bits = 0; bits < 16; bits++) {
      problem p = shapes[s];
      p.dtype = bits & 1 ? F64 : F32;
      p.ta = bits >> 1 & 1;
      p.tb = bits >> 2 & 1;
      p.masked = bits >> 3;
      p.layout = bits % LAYOUTS;
      p.m = 2, p.k = 9, p.n = 5;
      check_matmul(&p, &state);
    }
}

/* A product that is masked out is not computed, so a NaN or an infinity among its factors does not
 * matter. */
static void test_masked_products_are_left_out(void) {
  const int64_t row[2] = {1, 3}, column[2] = {3, 1};
  const vt_view in[3] = {view_new(F32, 2, row, DENSE), view_new(F32, 2, column, DENSE),
                         view_new(VT_DTYPE_BOOL, 2, row, DENSE)};
  const float a[3] = {2, NAN, INFINITY}, b[3] = {5, 1, 0};
  const uint8_t some[3] = {1, 0, 0}, no[3] = {0, 0, 0};
  memcpy(in[0].data, a, sizeof a);
  memcpy(in[1].data, b, sizeof b);
  memcpy(in[2].data, some, sizeof some);
  const run_result r = run_op(VT_OP_matmul_masked, NULL, in, 3, DENSE);
  CHECK(r.status == VT_OK && get_f32(&r.out, 0) == 10.0f);
  memcpy(in[2].data, no, sizeof no);
  const run_result q = run_op(VT_OP_matmul_masked, NULL, in, 3, DENSE);
  CHECK(q.status == VT_OK && get_bits(&q.out, 0) == 0);
  free_held();
}

/* A block of one product that underflows to -0 gives +0, because order D adds the product to +0. */
static void test_underflow_gives_plus_zero(void) {
  const int64_t one[2] = {1, 1};
  const vt_view in[2] = {view_new(F32, 2, one, DENSE), view_new(F32, 2, one, DENSE)};
  put_bits(&in[0], 0, 0x80000001u);
  put_bits(&in[1], 0, 0x00000001u);
  const run_result r = run_op(VT_OP_matmul, NULL, in, 2, DENSE);
  CHECK(r.status == VT_OK && get_bits(&r.out, 0) == 0);
  free_held();
}

/* ---- type rules ---- */

static const vt_attr_matmul a_transposed = {
    .size = sizeof a_transposed, .transpose_a = 1, .order = 1};
static const vt_attr_matmul b_transposed = {
    .size = sizeof b_transposed, .transpose_b = 1, .order = 1};
static const vt_attr_matmul no_order = {.size = sizeof no_order, .order = 2};
static const vt_attr_attention other_order = {.size = sizeof other_order, .order = 0};

static const vt_attr_attention below_window = {
    .size = sizeof below_window, .order = 1, .window = -1};

/* ---- gradients: D over the broadcast batch axes and the other operand's free axis together ----
 */

/* a is [m, k] and is broadcast over a batch of 3; b is [3, k, n]; the mask, if any, is [p, m, k].
 */
typedef struct gradient_case {
  uint32_t dtype;
  int64_t m, k, n;
  int masked;
  int64_t p; /* length of the mask's batch axis: 1 or 3 */
} gradient_case;

static double element_as_double(const vt_view *v, int64_t i) {
  return v->dtype == F32 ? (double)get_f32(v, i) : get_f64(v, i);
}

static uint64_t dot_bits_in_order_d(uint32_t dtype, const double *x, const double *y,
                                    const uint8_t *present, int64_t n) {
  static float fx[512], fy[512];
  for (int64_t i = 0; i < n; i++) fx[i] = (float)x[i], fy[i] = (float)y[i];
  return dtype == F32 ? vt_f32_bits(d_f32(fx, fy, present, n))
                      : vt_f64_bits(d_f64(x, y, present, n));
}

static void check_gradient_of_a(const gradient_case *c, const vt_view *in, const vt_view *dy,
                                const vt_view *got) {
  double x[512], y[512];
  uint8_t present[512];
  for (int64_t m = 0; m < c->m; m++)
    for (int64_t k = 0; k < c->k; k++) {
      int64_t length = 0;
      for (int64_t b = 0; b < 3; b++)
        for (int64_t n = 0; n < c->n; n++, length++) {
          x[length] = element_as_double(dy, (b * c->m + m) * c->n + n);
          y[length] = element_as_double(&in[1], (b * c->k + k) * c->n + n);
          present[length] =
              !c->masked || get_bits(&in[2], ((c->p == 1 ? 0 : b) * c->m + m) * c->k + k) != 0;
        }
      expect_bits("da", got, m * c->k + k, dot_bits_in_order_d(c->dtype, x, y, present, length));
    }
}

static void check_gradient_of_b(const gradient_case *c, const vt_view *in, const vt_view *dy,
                                const vt_view *got) {
  double x[512], y[512];
  uint8_t present[512];
  for (int64_t i = 0; i < 3 * c->k * c->n; i++) {
    const int64_t b = i / (c->k * c->n), k = i / c->n % c->k, n = i % c->n;
    for (int64_t m = 0; m < c->m; m++) {
      x[m] = element_as_double(&in[0], m * c->k + k);
      y[m] = element_as_double(dy, (b * c->m + m) * c->n + n);
      present[m] = !c->masked || get_bits(&in[2], ((c->p == 1 ? 0 : b) * c->m + m) * c->k + k) != 0;
    }
    expect_bits("db", got, i, dot_bits_in_order_d(c->dtype, x, y, present, c->m));
  }
}

static void test_gradients_of_products(void) {
  static const gradient_case cases[] = {
      {F32, 4, 3, 5, 0, 0}, {F64, 4, 3, 5, 0, 0}, {F32, 2, 2, 100, 0, 0}, {F32, 300, 2, 1, 0, 0},
      {F32, 4, 3, 5, 1, 1}, {F32, 4, 3, 5, 1, 3}, {F64, 4, 3, 90, 1, 3},  {F32, 260, 2, 1, 1, 3}};
  uint64_t state = 77;
  for (int64_t i = 0; i < COUNT(cases); i++) {
    const gradient_case *c = &cases[i];
    const int64_t a[2] = {c->m, c->k}, b[3] = {3, c->k, c->n}, p[3] = {c->p, c->m, c->k};
    const int64_t y[3] = {3, c->m, c->n};
    const uint32_t op = c->masked ? VT_OP_matmul_masked : VT_OP_matmul;
    vt_view in[3] = {fill_ordinary(view_new(c->dtype, 2, a, TRANSPOSED), &state),
                     fill_ordinary(view_new(c->dtype, 3, b, GAPS), &state)},
            got[3];
    if (c->masked) in[2] = fill_any(view_new(VT_DTYPE_BOOL, 3, p, DENSE), &state);
    for (int64_t k = 0; c->masked && k < c->m; k += 3) put_bits(&in[0], k * c->k, 0x7f800000);
    const vt_view dy = fill_ordinary(view_new(c->dtype, 3, y, DENSE), &state);
    differentiate(op, NULL, in, c->masked ? 3 : 2, dy, dy, got);
    CHECK(got[0].data != NULL && got[1].data != NULL && got[0].rank == 2 && got[1].rank == 3);
    if (got[0].data != NULL) check_gradient_of_a(c, in, &dy, &got[0]);
    if (got[1].data != NULL) check_gradient_of_b(c, in, &dy, &got[1]);
    free_held();
  }
}

static void test_type_rules(void) {
  static const rule_case cases[] = {
      {VT_OP_matmul, NULL, "f32[B, 3]; f32[3, T]", "f32[B, T]"},
      {VT_OP_matmul, &a_transposed, "f32[3, B]; f32[3, T]", "f32[B, T]"},
      {VT_OP_matmul, &b_transposed, "f64[B, 3]; f64[T, 3]", "f64[B, T]"},
      {VT_OP_matmul, NULL, "f32[2, 0]; f32[0, 3]", "f32[2, 3]"},
      {VT_OP_matmul, NULL, "f32[B, 1, 2, 3]; f32[T, 3, 4]", "f32[B, T, 2, 4]"},
      {VT_OP_matmul, NULL, "f32[1, 1, 1, 1, 1, 1, 2, 3]; f32[2, 2, 2, 2, 2, 2, 3, 4]",
       "f32[2, 2, 2, 2, 2, 2, 2, 4]"}, /* the highest rank, 8 */
      {VT_OP_matmul, NULL, "f32[2, 3]; f32[2, 2, 2, 2, 2, 2, 3, 4]", "f32[2, 2, 2, 2, 2, 2, 2, 4]"},
      {VT_OP_matmul, NULL, "f32[2, 3]; f32[4, 5]",
       "!verify: f32[2, 3] times f32[4, 5]: the contracted axes differ"},
      {VT_OP_matmul, &a_transposed, "f32[2, 3]; f32[3, 5]",
       "!verify: f32[2, 3] transposed times f32[3, 5]: the contracted axes differ"},
      {VT_OP_matmul, &b_transposed, "f32[2, 3]; f32[3, 5]", "!verify: times f32[3, 5] transposed"},
      {VT_OP_matmul, NULL, "f32[2, B]; f32[T, 5]", "!verify: f32[2, B] times f32[T, 5]"},
      {VT_OP_matmul, NULL, "f32[2, B]; f32[3, 5]", "!verify: the contracted axes differ"},
      {VT_OP_matmul, NULL, "f32[3]; f32[3, 5]",
       "!verify: operand 1 is f32[3], expected at least rank 2"},
      {VT_OP_matmul, NULL, "f32[2, 3]; f32[]", "!verify: operand 2 is f32[], expected at least"},
      {VT_OP_matmul, NULL, "f32[2, 2, 3]; f32[4, 3, 5]", "!verify: do not broadcast"},
      {VT_OP_matmul, NULL, "f32[2, 3]; f64[3, 5]",
       "!verify: operand 2 is f64[3, 5] where operand 1 is"},
      {VT_OP_matmul, NULL, "i32[2, 3]; i32[3, 5]",
       "!verify: operand 1 is i32[2, 3], expected f32 or"},
      {VT_OP_matmul, &no_order, "f32[2, 3]; f32[3, 5]", "!verify: order 2 of a contraction does"},
      {VT_OP_matmul_masked, NULL, "f32[B, 3]; f32[3, T]; bool[B, 3]", "f32[B, T]"},
      {VT_OP_matmul_masked, &a_transposed, "f64[3, 2]; f64[3, 4]; bool[5, 2, 3]", "f64[5, 2, 4]"},
      {VT_OP_matmul_masked, NULL, "f32[2, 3]; f32[3, 4]; bool[3, 2]",
       "!verify: operand 3 is bool[3, 2], expected a mask of rows by contracted axis"},
      {VT_OP_matmul_masked, NULL, "f32[2, 3]; f32[3, 4]; bool[1, 3]", "!verify: bool[1, 3]"},
      {VT_OP_matmul_masked, NULL, "f32[2, 3]; f32[3, 4]; bool[3]", "!verify: at least rank 2"},
      {VT_OP_matmul_masked, NULL, "f32[2, 3]; f32[3, 4]; f32[2, 3]",
       "!verify: operand 3 is f32[2, 3], expected bool"},
      {VT_OP_matmul_masked, NULL, "f32[2, 3]; f64[3, 4]; bool[2, 3]", "!verify: write a cast"},
      {VT_OP_matmul_masked, NULL, "bool[2, 3]; bool[3, 4]; bool[2, 3]", "!verify: f32 or f64"},
      {VT_OP_matmul_masked, &no_order, "f32[2, 3]; f32[3, 4]; bool[2, 3]", "!verify: order 2"},
      {VT_OP_matmul_masked, NULL, "f32[6, 2, 3]; f32[3, 4]; bool[5, 2, 3]",
       "!verify: do not broadcast"},
      {VT_OP_linear, NULL, "f32[B, T, 3]; f32[3, 4]; f32[4]", "f32[B, T, 4]"},
      {VT_OP_linear, NULL, "f64[B, 3]; f64[3, 4]", "f64[B, 4]"},
      {VT_OP_linear, NULL, "f32[2, 3]; f32[2, 3, 4]", "!verify: the weight is f32[2, 3, 4]"},
      {VT_OP_linear, NULL, "f32[2, 3]; f32[3, 4]; f32[3]", "!verify: the bias is f32[3], expected"},
      {VT_OP_linear, NULL, "f32[2, 3]; f32[3, 4]; f32[1, 4]", "!verify: the bias is f32[1, 4]"},
      {VT_OP_linear, NULL, "f32[2, 3]; f32[3, 4]; f32[4, 1]", "!verify: the bias is f32[4, 1]"},
      {VT_OP_linear, NULL, "f32[2, 3]; f32[3, 0]; f32[]", "!verify: the bias is f32[], expected"},
      {VT_OP_linear, NULL, "f32[2, 3]; f32[4, 3]", "!verify: f32[2, 3] times f32[4, 3]"},
      {VT_OP_linear, NULL, "f32[3]; f32[3, 4]", "!verify: operand 1 is f32[3]"},
      {VT_OP_linear, NULL, "f32[2, 3]", "!verify: takes 2 to 3 operands (x, w, b?), got 1"},
      {VT_OP_attention, NULL, "f32[B, 4, T, 8]; f32[B, 2, V, 8]; f32[B, 2, V, 5]",
       "f32[B, 4, T, 5]"},
      {VT_OP_attention, NULL, "f32[1, 0, 2, 8]; f32[1, 3, 2, 8]; f32[1, 3, 2, 8]",
       "f32[1, 0, 2, 8]"},
      {VT_OP_attention, NULL, "f32[1, 4, 2, 8]; f32[1, 3, 2, 8]; f32[1, 3, 2, 8]",
       "!verify: attention of q f32[1, 4, 2, 8], k f32[1, 3, 2, 8], v f32[1, 3, 2, 8]"},
      {VT_OP_attention, NULL, "f32[1, 4, 2, 8]; f32[1, 0, 2, 8]; f32[1, 0, 2, 8]", "!verify: H a"},
      {VT_OP_attention, NULL, "f32[1, B, 2, 8]; f32[1, B, 3, 8]; f32[1, B, 3, 8]",
       "f32[1, B, 2, 8]"},
      {VT_OP_attention, NULL, "f32[1, T, 2, 8]; f32[1, B, 2, 8]; f32[1, B, 2, 8]",
       "!verify: k f32[1, B, 2, 8]: head counts that differ must be numbers"},
      {VT_OP_attention, NULL, "f32[1, 2*B, 2, 8]; f32[1, 2, 2, 8]; f32[1, 2, 2, 8]",
       "!verify: head counts that differ must be numbers"},
      {VT_OP_attention, NULL, "f32[1, 4, 2, 8]; f32[1, 2, 3, 8]; f32[1, 2, 2, 8]", "!verify: Tk"},
      {VT_OP_attention, NULL, "f32[1, 4, 2, 7]; f32[1, 2, 3, 8]; f32[1, 2, 3, 8]", "!verify: Tk"},
      {VT_OP_attention, NULL, "f32[2, 4, 2, 8]; f32[1, 2, 3, 8]; f32[1, 2, 3, 8]", "!verify: Tk"},
      {VT_OP_attention, NULL, "f32[4, 2, 8]; f32[4, 2, 8]; f32[4, 2, 8]", "!verify: f32[4, 2, 8]"},
      {VT_OP_attention, &other_order, "f32[1, 1, 1, 1]; f32[1, 1, 1, 1]; f32[1, 1, 1, 1]",
       "!verify: order of a contraction does not exist"},
      {VT_OP_attention, NULL,
       "f32[B, 4, T, 8]; f32[B, 2, V, 8]; f32[B, 2, V, 5]; bool[T, V]; f32[4, 1, V]; i32[B]",
       "f32[B, 4, T, 5]"},
      {VT_OP_attention, NULL, "f32[B, 4, T, 8]; f32[B, 2, V, 8]; f32[B, 2, V, 5]; i64[B]",
       "f32[B, 4, T, 5]"},
      {VT_OP_attention, NULL, "f32[B, 4, T, 8]; f32[B, 2, V, 8]; f32[B, 2, V, 5]; bool[V, T]",
       "!verify: does not broadcast to [B, H, Tq, Tk]"},
      {VT_OP_attention, NULL, "f32[B, 4, T, 8]; f32[B, 2, V, 8]; f32[B, 2, V, 5]; f32[2, T, V]",
       "!verify: operand 4 is f32[2, T, V], which does not broadcast"},
      {VT_OP_attention, NULL, "f32[B, 4, T, 8]; f32[B, 2, V, 8]; f32[B, 2, V, 5]; i64[T]",
       "!verify: the lengths are i64[T]"},
      {VT_OP_attention, NULL, "f32[B, 4, T, 8]; f32[B, 2, V, 8]; f32[B, 2, V, 5]; f32[1]; bool[1]",
       "!verify: operand 5 is bool[1], expected a mask of bool, a bias"},
      {VT_OP_attention, NULL, "f32[B, 4, T, 8]; f32[B, 2, V, 8]; f32[B, 2, V, 5]; u8[1]",
       "!verify: operand 4 is u8[1]"},
      {VT_OP_attention, &below_window, "f32[1, 1, 1, 1]; f32[1, 1, 1, 1]; f32[1, 1, 1, 1]",
       "!verify: window=-1"},
      {VT_OP_attention, NULL, "f64[1, 1, 1, 1]; f64[1, 1, 1, 1]; f64[1, 1, 1, 1]",
       "!verify: operand 1 is f64[1, 1, 1, 1], expected f32"},
  };
  CHECK_RULES(cases);
}

int main(void) {
  test_depths();
  test_special_values();
  test_result_widths();
  test_broadcast_batches();
  test_masked_products_are_left_out();
  test_underflow_gives_plus_zero();
  test_gradients_of_products();
  test_type_rules();
  TEST_DONE();
}
