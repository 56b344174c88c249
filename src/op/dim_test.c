/* SPDX-License-Identifier: Apache-2.0
 * dim_test.c - tests symbolic dimensions: equal dimensions have equal handles, arithmetic fails
 * instead of overflowing, printing, binding; and the types that are made of dimensions. A table
 * holds the symbols B, T and V and the dimensions that are computed from them. */
#include <string.h>
#include "num_test.h"
#include "vt_op.h"

typedef struct table {
  vt_arena arena;
  vt_dims dims;
  int64_t b, t, v; /* the symbols B, T and V */
} table;

static int64_t declare_symbol(vt_dims *dims, const char *name) {
  int64_t dim = 77;
  CHECK(vt_dim_declare(dims, name, &dim, NULL) == VT_OK && vt_dim_is_symbolic(dim));
  return dim;
}

static void begin_table(table *x) {
  vt_arena_init(&x->arena, vt_alloc_default());
  vt_dims_init(&x->dims, &x->arena);
  x->b = declare_symbol(&x->dims, "B");
  x->t = declare_symbol(&x->dims, "T");
  x->v = declare_symbol(&x->dims, "V");
}

static void end_table(table *x) { vt_arena_done(&x->arena); }

static int64_t add_dims(table *x, int64_t a, int64_t b) {
  int64_t out = 0;
  CHECK(vt_dim_add(&x->dims, a, b, &out, NULL) == VT_OK);
  return out;
}
static int64_t subtract_dims(table *x, int64_t a, int64_t b) {
  int64_t out = 0;
  CHECK(vt_dim_sub(&x->dims, a, b, &out, NULL) == VT_OK);
  return out;
}
static int64_t multiply_dims(table *x, int64_t a, int64_t b) {
  int64_t out = 0;
  CHECK(vt_dim_mul(&x->dims, a, b, &out, NULL) == VT_OK);
  return out;
}

static int prints_as(const table *x, int64_t dim, const char *want) {
  vt_text t;
  vt_text_init(&t, vt_alloc_default());
  vt_dim_print(&x->dims, dim, &t);
  const int same = vt_text_status(&t) == VT_OK && strcmp(t.s, want) == 0;
  if (!same) fprintf(stderr, "printed '%s', expected '%s'\n", t.s, want);
  vt_text_done(&t);
  return same;
}

/* ---- symbols ---- */

static void test_declare_and_find_symbols(void) {
  table x;
  int64_t dim = 5;
  vt_diag d = {0};
  begin_table(&x);
  CHECK(x.b != x.t && x.t != x.v && x.b != x.v);
  CHECK(vt_dim_find(&x.dims, "T", &dim) && dim == x.t);
  dim = 5;
  CHECK(!vt_dim_find(&x.dims, "b", &dim) && !vt_dim_find(&x.dims, "", &dim) && dim == 5);
  static const char *const more[5] = {"C", "D", "E", "F", "G"};
  for (int i = 0; i < 5; i++) (void)declare_symbol(&x.dims, more[i]);
  CHECK(vt_dim_declare(&x.dims, "H", &dim, &d) == VT_LIMIT && dim == 5);
  CHECK(strstr(d.text, "at most 8 symbolic dimensions") != NULL);
  CHECK(!vt_dim_find(&x.dims, "H", &dim) && vt_dim_find(&x.dims, "G", &dim));
  end_table(&x);
}

static void test_is_symbolic(void) {
  static const int64_t constants[] = {0, 1, -1, INT64_MAX, -(INT64_C(1) << 62), INT32_MIN};
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
    CHECK(!vt_dim_is_symbolic(constants[i]));
  CHECK(vt_dim_is_symbolic(INT64_MIN) && vt_dim_is_symbolic(INT64_MIN + INT32_MAX));
}

/* ---- equal dimensions have equal handles ---- */

static void test_equal_dims_have_equal_handles(void) {
  table x;
  begin_table(&x);
  const int64_t sum = add_dims(&x, x.b, x.t), difference = subtract_dims(&x, x.b, x.t);
  const int64_t squares =
      subtract_dims(&x, multiply_dims(&x, x.b, x.b), multiply_dims(&x, x.t, x.t));
  CHECK(multiply_dims(&x, sum, difference) == squares &&
        multiply_dims(&x, difference, sum) == squares);
  CHECK(add_dims(&x, x.t, x.t) == multiply_dims(&x, 2, x.t) &&
        multiply_dims(&x, x.t, 2) == multiply_dims(&x, 2, x.t));
  CHECK(multiply_dims(&x, x.b, x.t) == multiply_dims(&x, x.t, x.b) &&
        multiply_dims(&x, x.b, x.t) != multiply_dims(&x, x.b, x.v));
  CHECK(subtract_dims(&x, x.b, x.b) == 0 && multiply_dims(&x, 0, x.b) == 0 &&
        multiply_dims(&x, 1, x.b) == x.b);
  CHECK(add_dims(&x, x.b, 0) == x.b && subtract_dims(&x, add_dims(&x, x.b, 7), x.b) == 7);
  CHECK(subtract_dims(&x, add_dims(&x, sum, 5), add_dims(&x, x.t, 5)) == x.b);
  CHECK(add_dims(&x, 3, 4) == 7 && subtract_dims(&x, 3, 4) == -1 &&
        multiply_dims(&x, -3, 4) == -12);
  const uint32_t polys = x.dims.n_polys;
  /* the table already has the result, so nothing is added */
  CHECK(multiply_dims(&x, sum, difference) == squares && x.dims.n_polys == polys);
  end_table(&x);
}

static void test_printed_dims(void) {
  table x;
  begin_table(&x);
  const int64_t bt = multiply_dims(&x, x.b, x.t);
  CHECK(prints_as(&x, 0, "0") && prints_as(&x, 16, "16") && prints_as(&x, -5, "-5"));
  CHECK(prints_as(&x, x.b, "B") && prints_as(&x, add_dims(&x, bt, 1), "B*T + 1"));
  CHECK(prints_as(&x, subtract_dims(&x, 2, x.b), "-B + 2"));
  CHECK(prints_as(&x,
                  subtract_dims(&x, multiply_dims(&x, 2, multiply_dims(&x, x.b, x.b)),
                                multiply_dims(&x, 3, x.t)),
                  "2*B*B - 3*T"));
  CHECK(prints_as(&x, multiply_dims(&x, -1, bt), "-B*T") &&
        prints_as(&x, subtract_dims(&x, x.v, bt), "-B*T + V"));
  end_table(&x);
}

static void test_division(void) {
  table x;
  int64_t out = 77;
  vt_diag d = {0};
  begin_table(&x);
  const int64_t six = add_dims(&x, multiply_dims(&x, 6, x.b), multiply_dims(&x, 9, x.t));
  CHECK(vt_dim_div(&x.dims, six, 3, &out, NULL) == VT_OK);
  CHECK(out == add_dims(&x, multiply_dims(&x, 2, x.b), multiply_dims(&x, 3, x.t)));
  CHECK(vt_dim_div(&x.dims, multiply_dims(&x, 4, x.b), 4, &out, NULL) == VT_OK && out == x.b);
  CHECK(vt_dim_div(&x.dims, 12, 4, &out, NULL) == VT_OK && out == 3);
  CHECK(vt_dim_div(&x.dims, 0, 4, &out, NULL) == VT_OK && out == 0);
  out = 77;
  CHECK(vt_dim_div(&x.dims, six, 2, &out, &d) == VT_VERIFY && out == 77);
  CHECK(strstr(d.text, "does not divide by 2") != NULL);
  CHECK(vt_dim_div(&x.dims, 7, 2, &out, NULL) == VT_VERIFY);
  CHECK(vt_dim_div(&x.dims, 6, 0, &out, NULL) == VT_VERIFY);
  CHECK(vt_dim_div(&x.dims, 6, -2, &out, NULL) == VT_VERIFY);
  CHECK(vt_dim_div(&x.dims, six, x.b, &out, NULL) == VT_VERIFY && out == 77);
  end_table(&x);
}

/* ---- limits ---- */

static void test_overflow_fails(void) {
  const int64_t big = INT64_C(1) << 40, most = INT64_C(1) << 62;
  table x;
  int64_t out = 77;
  vt_diag d = {0};
  begin_table(&x);
  CHECK(vt_dim_mul(&x.dims, big, big, &out, &d) == VT_LIMIT && out == 77);
  CHECK(strstr(d.text, "overflows") != NULL);
  CHECK(vt_dim_mul(&x.dims, multiply_dims(&x, big, x.b), big, &out, NULL) == VT_LIMIT);
  CHECK(vt_dim_add(&x.dims, most, most, &out, NULL) == VT_LIMIT);
  CHECK(vt_dim_sub(&x.dims, -most, most, &out, NULL) == VT_LIMIT);
  /* -2^62 * 2 is INT64_MIN, which would be the handle of a symbol. */
  CHECK(vt_dim_mul(&x.dims, -most, 2, &out, NULL) == VT_LIMIT);
  CHECK(vt_dim_add(&x.dims, multiply_dims(&x, most, x.b), multiply_dims(&x, most, x.b), &out,
                   NULL) == VT_LIMIT);
  int64_t power = x.b;
  for (int i = 0; i < 7; i++) power = multiply_dims(&x, power, power); /* B^128 */
  CHECK(vt_dim_mul(&x.dims, power, power, &out, NULL) == VT_LIMIT && out == 77);
  CHECK(vt_dim_mul(&x.dims, power, 3, &out, NULL) == VT_OK);
  end_table(&x);
}

static void test_too_many_terms(void) {
  table x;
  int64_t dim = 1, power = 1, out = 77;
  vt_diag d = {0};
  begin_table(&x);
  for (int i = 1; i < VT_MAX_TERMS; i++) {
    power = multiply_dims(&x, power, x.b);
    dim = add_dims(&x, dim, power);
  }
  CHECK(vt_dim_add(&x.dims, dim, x.t, &out, &d) == VT_LIMIT && out == 77);
  CHECK(strstr(d.text, "more than 12 terms") != NULL);
  CHECK(add_dims(&x, dim, 5) != dim && subtract_dims(&x, add_dims(&x, dim, 5), 5) == dim);
  end_table(&x);
}

/* ---- binding ---- */

static int64_t bound_value(const table *x, int64_t dim, int64_t b, int64_t t, int64_t v) {
  const int64_t value[3] = {b, t, v};
  int64_t out = 77;
  CHECK(vt_dim_bind(&x->dims, value, dim, &out, NULL) == VT_OK);
  return out;
}

static void test_bound_values(void) {
  table x;
  begin_table(&x);
  const int64_t dim =
      add_dims(&x,
               subtract_dims(&x, multiply_dims(&x, x.b, multiply_dims(&x, x.b, x.t)),
                             multiply_dims(&x, 3, x.v)),
               10);
  CHECK(bound_value(&x, dim, 4, 5, 6) == 4 * 4 * 5 - 18 + 10 &&
        bound_value(&x, dim, 0, 9, 0) == 10);
  CHECK(bound_value(&x, 42, 1, 1, 1) == 42 &&
        bound_value(&x, subtract_dims(&x, 1, x.b), 5, 0, 0) == -4);
  const int64_t much[3] = {INT64_C(1) << 40, 3, 3};
  int64_t out = 77;
  vt_diag d = {0};
  CHECK(vt_dim_bind(&x.dims, much, dim, &out, &d) == VT_BIND && out == 77);
  CHECK(strstr(d.text, "overflows") != NULL);
  end_table(&x);
}

/* A bound dimension must not have a value in the range of handles, near INT64_MIN, or it would be
 * taken for a symbol. */
static void test_bound_value_is_never_a_handle(void) {
  table x;
  int64_t out = 77;
  const int64_t value[3] = {INT64_C(1) << 21, 0, 0};
  begin_table(&x);
  const int64_t cube = multiply_dims(&x, x.b, multiply_dims(&x, x.b, x.b));
  CHECK(vt_dim_bind(&x.dims, value, multiply_dims(&x, -1, cube), &out, NULL) == VT_BIND &&
        out == 77);
  CHECK(vt_dim_bind(&x.dims, value, cube, &out, NULL) == VT_BIND && out == 77);
  end_table(&x);
}

/* For random expressions, binding gives the same number as arithmetic on the bound values, and a
 * sum in another order gives the same handle. */
static void test_bind_of_random_expressions(void) {
  for (uint64_t seed = 1; seed <= 300; seed++) {
    table x;
    uint64_t state = seed;
    begin_table(&x);
    const int64_t value[3] = {(int64_t)(random_u64(&state) % 9), (int64_t)(random_u64(&state) % 9),
                              (int64_t)(random_u64(&state) % 9)};
    int64_t part[6], plain[6], up = 0, down = 0, total = 0;
    for (int i = 0; i < 6; i++) {
      const uint64_t r = random_u64(&state);
      const int64_t symbols[4] = {x.b, x.t, x.v, (int64_t)(r >> 60) - 8};
      const int p = (int)(r % 4), q = (int)(r >> 2 & 3);
      part[i] = multiply_dims(&x, symbols[p], symbols[q]);
      plain[i] = (p < 3 ? value[p] : symbols[3]) * (q < 3 ? value[q] : symbols[3]);
      if (i % 2) part[i] = subtract_dims(&x, 0, part[i]), plain[i] = -plain[i];
    }
    for (int i = 0; i < 6; i++) up = add_dims(&x, up, part[i]), total += plain[i];
    for (int i = 5; i >= 0; i--) down = add_dims(&x, down, part[i]);
    CHECK(up == down);
    CHECK(bound_value(&x, up, value[0], value[1], value[2]) == total);
    if (up != down) fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
    end_table(&x);
  }
}

/* ---- copies ---- */

static void test_copied_table_is_independent(void) {
  table x, y;
  int64_t found = 0;
  begin_table(&x);
  const int64_t bt = multiply_dims(&x, x.b, x.t);
  vt_arena_init(&y.arena, vt_alloc_default());
  vt_dims_copy(&y.dims, &x.dims, &y.arena);
  const uint32_t polys = x.dims.n_polys;
  CHECK(multiply_dims(&y, x.t, x.b) == bt && vt_dim_find(&y.dims, "V", &found) && found == x.v);
  const int64_t grown = add_dims(&y, bt, 9);
  CHECK(x.dims.n_polys == polys && y.dims.n_polys == polys + 1);
  end_table(&x);
  CHECK(prints_as(&y, grown, "B*T + 9")); /* the copy does not need the original */
  end_table(&y);
}

/* ---- types ---- */

static vt_status size_of_type_of_rank_3(uint32_t dtype, int64_t a, int64_t b, int64_t c,
                                        uint64_t *count, uint64_t *bytes) {
  const vt_type t = {dtype, 3, {a, b, c}};
  *count = *bytes = 77;
  return vt_type_size(&t, count, bytes, NULL);
}

static void test_type_size(void) {
  const int64_t big = VT_DIM_MAX;
  const vt_type scalar = {.dtype = VT_DTYPE_F64};
  uint64_t n, b;
  CHECK(vt_type_size(&scalar, &n, &b, NULL) == VT_OK && n == 1 && b == 8);
  CHECK(size_of_type_of_rank_3(VT_DTYPE_F32, 2, 3, 5, &n, &b) == VT_OK && n == 30 && b == 120);
  CHECK(size_of_type_of_rank_3(VT_DTYPE_F32, 2, 0, 5, &n, &b) == VT_OK && n == 0 && b == 0);
  CHECK(size_of_type_of_rank_3(VT_DTYPE_U8, big, 256, 1, &n, &b) == VT_OK && b == UINT64_C(1)
                                                                                      << 48);
  CHECK(size_of_type_of_rank_3(VT_DTYPE_U8, big, 257, 1, &n, &b) == VT_LIMIT && n == 77 && b == 77);
  CHECK(size_of_type_of_rank_3(VT_DTYPE_F16, big, 256, 1, &n, &b) == VT_LIMIT);
  CHECK(size_of_type_of_rank_3(VT_DTYPE_F32, big, big, big, &n, &b) == VT_LIMIT);
  CHECK(size_of_type_of_rank_3(VT_DTYPE_F32, 2, -1, 2, &n, &b) == VT_LIMIT);
  /* Strides are products of dimensions too, so for an empty tensor the limit applies to the product
   * of the dimensions that are not 0. */
  CHECK(size_of_type_of_rank_3(VT_DTYPE_F32, big, big, 0, &n, &b) == VT_LIMIT);
  CHECK(size_of_type_of_rank_3(VT_DTYPE_F32, 0, big, big, &n, &b) == VT_LIMIT);
  CHECK(size_of_type_of_rank_3(VT_DTYPE_F32, 0, big, 0, &n, &b) == VT_OK && n == 0 && b == 0);
}

static void test_type_text_and_equality(void) {
  table x;
  char text[VT_TYPE_TEXT];
  begin_table(&x);
  vt_type t = {VT_DTYPE_BF16, 2, {add_dims(&x, x.b, 1), 16}}, u = t;
  CHECK(strcmp(vt_type_text(&x.dims, &t, text), "bf16[B + 1, 16]") == 0);
  CHECK(vt_type_equal(&t, &u));
  u.dim[1] = 17;
  CHECK(!vt_type_equal(&t, &u));
  u = t;
  u.rank = 1;
  CHECK(!vt_type_equal(&t, &u) && strcmp(vt_type_text(&x.dims, &u, text), "bf16[B + 1]") == 0);
  u.dtype = 99;
  CHECK(!vt_type_equal(&t, &u) && strcmp(vt_type_text(&x.dims, &u, text), "?[B + 1]") == 0);
  const vt_type scalar = {.dtype = VT_DTYPE_BOOL};
  CHECK(strcmp(vt_type_text(&x.dims, &scalar, text), "bool[]") == 0);
  /* the type's text is longer than the buffer, so it is cut */
  vt_type wide = {VT_DTYPE_F32, 8, {0}};
  for (uint32_t i = 0; i < 8; i++)
    wide.dim[i] = add_dims(&x, multiply_dims(&x, VT_DIM_MAX, x.b), x.t);
  CHECK(strlen(vt_type_text(&x.dims, &wide, text)) == VT_TYPE_TEXT - 1);
  end_table(&x);
}

/* ---- out of memory ---- */

static vt_status try_to_fill_table(vt_alloc a) {
  vt_arena arena;
  vt_dims dims;
  int64_t b = 0, dim = 1;
  vt_arena_init(&arena, a);
  vt_dims_init(&dims, &arena);
  vt_status s = vt_dim_declare(&dims, "B", &b, NULL);
  for (int i = 0; s == VT_OK && i < 40; i++) {
    s = vt_dim_mul(&dims, i + 2, b, &dim, NULL);
    if (s == VT_OK) CHECK(vt_dim_is_symbolic(dim));
  }
  CHECK(s == vt_arena_status(&arena));
  vt_arena_done(&arena);
  return s;
}

static void test_dims_out_of_memory(void) {
  vt_fault f = {0};
  CHECK(try_to_fill_table(vt_fault_alloc(&f)) == VT_OK && f.live == 0);
  const long asked = f.asked;
  CHECK(asked > 0);
  for (long k = 1; k <= asked; k++) {
    vt_fault g = {.left = k};
    CHECK(try_to_fill_table(vt_fault_alloc(&g)) == VT_NOMEM && g.live == 0);
  }
}

int main(void) {
  test_declare_and_find_symbols();
  test_is_symbolic();
  test_equal_dims_have_equal_handles();
  test_printed_dims();
  test_division();
  test_overflow_fails();
  test_too_many_terms();
  test_bound_values();
  test_bound_value_is_never_a_handle();
  test_bind_of_random_expressions();
  test_copied_table_is_independent();
  test_type_size();
  test_type_text_and_equality();
  test_dims_out_of_memory();
  TEST_DONE();
}
