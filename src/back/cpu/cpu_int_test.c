/* SPDX-License-Identifier: Apache-2.0
 * cpu_int_test.c - integer products and convolutions against the reference: pseudo-random types,
 * zero points, batches, strides and geometry, and the largest possible sums. */
#include "contracted_test.h"

static uint32_t random_byte_type(void) { return random_between(0, 1) ? VT_DTYPE_I8 : VT_DTYPE_U8; }

/* Makes a random zero point of the type of operand i: a scalar if `is_scalar`, else n of them, one
 * per column or channel. */
static vt_view random_zero_point(const trial *t, uint32_t i, int64_t n, int is_scalar) {
  return random_view(t->in[i].dtype, is_scalar ? 0 : 1, &n, 0);
}

/* ---- matrices ---- */

typedef struct product {
  int64_t m, n, k;
  uint32_t lead; /* leading axes */
  int64_t batch[3];
  uint32_t operands;
  uint32_t a, b;
} product;

/* Makes an operand that has some of the product's leading axes (none if `without_lead_axes`), of
 * which some have length 1. */
static vt_view random_operand(const product *p, uint32_t dtype, int64_t rows, int64_t columns,
                              int without_lead_axes) {
  int64_t dim[5];
  const uint32_t lead = without_lead_axes ? 0 : (uint32_t)random_between(0, p->lead);
  for (uint32_t i = 0; i < lead; i++)
    dim[i] = random_between(0, 3) ? p->batch[p->lead - lead + i] : 1;
  dim[lead] = rows;
  dim[lead + 1] = columns;
  return random_view(dtype, lead + 2, dim, 0);
}

static vt_view result_view_of_product(const vt_view *a, const vt_view *b) {
  const uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
  int64_t dim[5];
  for (uint32_t i = 0; i + 2 < rank; i++) {
    const int64_t x = i + a->rank >= rank ? a->dim[i + a->rank - rank] : 1;
    const int64_t y = i + b->rank >= rank ? b->dim[i + b->rank - rank] : 1;
    dim[i] = x == 1 ? y : x;
  }
  dim[rank - 2] = a->dim[a->rank - 2];
  dim[rank - 1] = b->dim[b->rank - 1];
  return result_view(VT_DTYPE_I32, rank, dim);
}

static void try_product(const product *p, uint32_t op, const vt_cpu_team *teams, int n) {
  trial t = {.op = op, .n_in = p->operands};
  t.in[0] = random_operand(p, p->a, p->m, p->k, 0);
  t.in[1] = random_operand(p, p->b, p->k, p->n, op == VT_OP_linear_int);
  if (t.n_in > 2) t.in[2] = random_zero_point(&t, 0, 1, 1);
  if (t.n_in > 3) t.in[3] = random_zero_point(&t, 1, p->n, (int)random_between(0, 1));
  if (t.n_in > 4) t.in[4] = random_view(VT_DTYPE_I32, 1, &p->n, 0);
  t.out = result_view_of_product(&t.in[0], &t.in[1]);
  check_trial(&t, teams, n, "product");
}

static void test_random_products(const vt_cpu_team *teams, int n) {
  const int tries = vt_test_is_long() ? 2000 : 120;
  for (int i = 0; i < tries; i++) {
    product p = {.m = random_between(0, 20),
                 .n = random_between(0, 3) ? random_between(0, 60) : random_between(90, 200),
                 .k = random_between(0, 40),
                 .lead = (uint32_t)random_between(0, 3),
                 .batch = {random_between(1, 3), random_between(0, 3), random_between(1, 2)},
                 .operands = (uint32_t)random_between(2, 4),
                 .a = random_byte_type(),
                 .b = random_byte_type()};
    const uint32_t op = random_between(0, 2) ? VT_OP_matmul_int : VT_OP_linear_int;
    if (op == VT_OP_linear_int && random_between(0, 1)) p.operands = 5;
    try_product(&p, op, teams, n);
  }
}

/* All products have their extreme value, and k is the largest at which the sum still fits i32. */
static void check_largest_sum(uint32_t type_a, uint32_t type_b, int low_a, int low_b, int64_t k,
                              const vt_cpu_team *teams, int n) {
  const int64_t dims[2][2] = {{2, k}, {k, 3}};
  trial t = {.op = VT_OP_matmul_int, .n_in = 2};
  t.in[0] = result_view(type_a, 2, dims[0]);
  t.in[1] = result_view(type_b, 2, dims[1]);
  const uint8_t end_a = type_a == VT_DTYPE_I8 ? (low_a ? 0x80 : 0x7f) : 0xff;
  const uint8_t end_b = type_b == VT_DTYPE_I8 ? (low_b ? 0x80 : 0x7f) : 0xff;
  memset(t.in[0].data, end_a, (size_t)(2 * k));
  memset(t.in[1].data, end_b, (size_t)(3 * k));
  t.out = result_view_of_product(&t.in[0], &t.in[1]);
  check_trial(&t, teams, n, "largest");
}

/* ---- convolutions ---- */

static void try_random_conv_int(const vt_cpu_team *teams, int n) {
  const uint32_t axes = (uint32_t)random_between(1, 3);
  const int64_t groups = random_between(0, 1) ? 1 : random_between(1, 3);
  const int64_t depth = random_between(1, 6), outputs = groups * random_between(1, 10);
  vt_attr_conv_int a = {.size = sizeof a, .groups = groups};
  int64_t x[5] = {random_between(1, 3), groups * depth}, w[5] = {outputs, depth}, y[5];
  y[0] = x[0];
  y[1] = outputs;
  a.stride.n = a.dilation.n = a.low.n = a.high.n = axes;
  for (uint32_t i = 0; i < axes; i++) {
    x[2 + i] = random_between(5, axes == 1 ? 150 : 9);
    w[2 + i] = random_between(1, 3);
    a.stride.v[i] = random_between(1, 3);
    a.dilation.v[i] = random_between(1, 2);
    a.low.v[i] = random_between(0, 2);
    a.high.v[i] = random_between(0, 2);
    const int64_t extent = (w[2 + i] - 1) * a.dilation.v[i] + 1;
    y[2 + i] = (x[2 + i] + a.low.v[i] + a.high.v[i] - extent) / a.stride.v[i] + 1;
  }
  trial t = {.op = VT_OP_conv_int, .attrs = &a, .n_in = (uint32_t)random_between(2, 5)};
  t.in[0] = random_view(random_byte_type(), axes + 2, x, 0);
  t.in[1] = random_view(random_byte_type(), axes + 2, w, 0);
  if (t.n_in > 2) t.in[2] = random_zero_point(&t, 0, 1, 1);
  if (t.n_in > 3) t.in[3] = random_zero_point(&t, 1, outputs, (int)random_between(0, 1));
  if (t.n_in > 4) t.in[4] = random_view(VT_DTYPE_I32, 1, &outputs, 0);
  t.out = result_view(VT_DTYPE_I32, axes + 2, y);
  check_trial(&t, teams, n, "conv_int");
}

/* Tests the avx512 kernels without VNNI: VNNI is only chosen for the table vt_cpu_avx512 itself,
 * not for a copy of it. */
static void exclude_vnni_from_one_team(vt_cpu_team *teams, int n) {
  static vt_cpu_kernels plain;
  for (int i = 0; i < n; i++) {
    if (strcmp(teams[i].kernels->isa, "avx512") != 0 || teams[i].threads != 1) continue;
    plain = *teams[i].kernels;
    teams[i].kernels = &plain;
    CHECK(vt_cpu_ints_of(&plain) == plain.ints);
  }
}

int main(void) {
  vt_cpu_team teams[TEAMS];
  const int n = teams_open(teams), tries = vt_test_is_long() ? 1500 : 80;
  exclude_vnni_from_one_team(teams, n);
  test_random_products(teams, n);
  for (int i = 0; i < 4; i++)
    check_largest_sum(VT_DTYPE_I8, VT_DTYPE_I8, i & 1, i >> 1, 131071, teams, n);
  for (int i = 0; i < 2; i++) check_largest_sum(VT_DTYPE_U8, VT_DTYPE_I8, 0, i, 65793, teams, n);
  for (int i = 0; i < 2; i++) check_largest_sum(VT_DTYPE_I8, VT_DTYPE_U8, i, 0, 65793, teams, n);
  check_largest_sum(VT_DTYPE_U8, VT_DTYPE_U8, 0, 0, 33025, teams, n);
  for (int i = 0; i < tries; i++) try_random_conv_int(teams, n);
  teams_close(teams, n);
  TEST_DONE();
}
