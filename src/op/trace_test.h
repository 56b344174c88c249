/* SPDX-License-Identifier: Apache-2.0
 * trace_test.h - a builder that runs the reference kernel of each node as soon as it is added, so
 * that a test can look at the values of a decomposition or a gradient. Checks that an op's kernel
 * and decomposition give the same bits, and that its gradient agrees with a central difference.
 * The grid is the multiples of 2^-12. */
#ifndef VT_TRACE_TEST_H
#define VT_TRACE_TEST_H
#include "op_test.h"
#include "vt_builder.h"

enum { EAGER_MAX = 1500 };
static struct eager {
  vt_builder b;
  vt_arena arena;
  vt_dims dims;
  uint32_t n;
  vt_view value[EAGER_MAX];
  vt_type type[EAGER_MAX];
  char problem[600];
} eager;

/* Adds a contiguous value of type t, whose elements are not initialised, and returns its index. */
static inline uint32_t eager_add_value(const vt_type *t) {
  vt_view v = {.dtype = t->dtype, .rank = t->rank};
  int64_t n = 1;
  for (uint32_t i = t->rank; i-- > 0;) {
    v.dim[i] = t->dim[i];
    v.stride[i] = n;
    n *= t->dim[i] == 0 ? 1 : t->dim[i];
  }
  if (eager.n == EAGER_MAX) {
    fprintf(stderr, "too many values for the test\n");
    exit(1);
  }
  v.data = aligned_alloc(64, ((size_t)n * vt_dtype_bytes(t->dtype) + 64) / 64 * 64);
  eager.type[eager.n] = *t;
  eager.value[eager.n] = v;
  return eager.n++;
}

/* Adds a contiguous copy of a view as a value. */
static inline uint32_t eager_add_copy(const vt_view *x) {
  const vt_type t = type_of_view(x);
  const uint32_t id = eager_add_value(&t);
  const int64_t n = count_of_view(x);
  for (int64_t i = 0; i < n; i++) put_bits(&eager.value[id], i, get_bits(x, i));
  return id;
}

static inline uint32_t eager_run_op(vt_builder *b, uint32_t number, const uint32_t *in, uint32_t n,
                                    const void *attrs) {
  const vt_op_info *op = vt_op_get(number);
  const void *a = attrs == NULL ? op->attrs->defaults : attrs;
  vt_type types[16], out[VT_MAX_RESULTS];
  vt_view views[16];
  vt_diag d = {0};
  uint32_t n_out = 0;
  (void)b;
  for (uint32_t i = 0; i < n; i++) {
    if (in[i] >= eager.n) return VT_NO_VALUE;
    types[i] = eager.type[in[i]];
    views[i] = eager.value[in[i]];
  }
  const vt_rule r = {.dims = &eager.dims, .in = types, .n_in = n, .attrs = a};
  if (vt_op_infer(op, &r, out, &n_out, &d) != VT_OK) {
    snprintf(eager.problem, sizeof eager.problem, "%s: %s", op->name, d.text);
    return VT_NO_VALUE;
  }
  const uint32_t first = eager.n;
  for (uint32_t i = 0; i < n_out; i++) (void)eager_add_value(&out[i]);
  void *work = op->work == NULL ? NULL : aligned_alloc(64, (op->work(views, n) + 64) / 64 * 64);
  vt_kernel k = {
      .in = views, .n_in = n, .out = &eager.value[first], .n_out = n_out, .attrs = a, .work = work};
  if (op->kernel(&k) != VT_OK) snprintf(eager.problem, sizeof eager.problem, "%s fails", op->name);
  free(work);
  return first;
}

static inline const vt_type *eager_value_type(const vt_builder *b, uint32_t value) {
  (void)b;
  return value < eager.n ? &eager.type[value] : NULL;
}

static inline void eager_begin(void) {
  memset(&eager, 0, sizeof eager);
  vt_arena_init(&eager.arena, vt_alloc_default());
  vt_dims_init(&eager.dims, &eager.arena);
  eager.b = (vt_builder){
      .self = &eager, .dims = &eager.dims, .node = eager_run_op, .type = eager_value_type};
}

static inline void eager_end(const char *what) {
  if (eager.problem[0] != 0) report_test_failure(what, eager.problem);
  for (uint32_t i = 0; i < eager.n; i++) free(eager.value[i].data);
  vt_arena_done(&eager.arena);
}

/* ---- kernel and decomposition ---- */

/* Checks that the kernel and the decomposition of a composition give the same bits on contiguous
 * copies of the operands. */
static inline void check_decomposition(uint32_t number, const void *attrs, const vt_view *in,
                                       uint32_t n) {
  const vt_op_info *op = vt_op_get(number);
  const void *a = attrs == NULL ? op->attrs->defaults : attrs;
  uint32_t ids[8], more[VT_MAX_RESULTS];
  eager_begin();
  for (uint32_t i = 0; i < n; i++) ids[i] = eager_add_copy(&in[i]);
  const uint32_t whole = eager_run_op(&eager.b, number, ids, n, a);
  const vt_lowering l = {.b = &eager.b, .in = ids, .n_in = n, .attrs = a, .out = more};
  const uint32_t parts = op->lower(&l);
  if (whole == VT_NO_VALUE || parts == VT_NO_VALUE) {
    report_test_failure(op->name, eager.problem);
  } else if (!vt_type_equal(&eager.type[whole], &eager.type[parts])) {
    report_test_failure(op->name, "kernel and decomposition give different types");
  } else {
    const int64_t total = count_of_view(&eager.value[whole]);
    for (int64_t i = 0; i < total; i++)
      if (!expect_bits(op->name, &eager.value[parts], i, get_bits(&eager.value[whole], i))) break;
  }
  eager_end(op->name);
}

/* ---- gradients ---- */

static inline double number_at(const vt_view *v, int64_t i) {
  return v->dtype == VT_DTYPE_F32 ? (double)get_f32(v, i) : get_f64(v, i);
}

static inline void put_number(const vt_view *v, int64_t i, double x) {
  put_bits(v, i, v->dtype == VT_DTYPE_F32 ? vt_f32_bits((float)x) : vt_f64_bits(x));
}

static inline double random_on_grid(uint64_t *state) { /* a multiple of 2^-12 from -1 to 1 */
  return (double)(int64_t)(random_u64(state) >> 51) * 0x1p-12 - 1.0;
}

/* Adds x + step*v as a value. */
static inline uint32_t eager_add_shifted_copy(uint32_t x, const double *direction, double step) {
  const uint32_t id = eager_add_copy(&eager.value[x]);
  const int64_t n = count_of_view(&eager.value[id]);
  for (int64_t i = 0; i < n; i++)
    put_number(&eager.value[id], i, number_at(&eager.value[x], i) + step * direction[i]);
  return id;
}

static inline double dot_product_of_value(uint32_t value, const double *v) {
  double s = 0;
  const int64_t n = count_of_view(&eager.value[value]);
  for (int64_t i = 0; i < n; i++) s += number_at(&eager.value[value], i) * v[i];
  return s;
}

/* Checks the gradient of one operand. The derivative along a random direction, computed from the
 * gradient, must agree with a central difference of width `step`, to within `bound` times
 * 1 + |derivative| + the number of results. Operands should be on the grid of random_on_grid, so
 * that for a linear op a step by a power of two is exact. */
static inline void check_gradient_by_difference(uint32_t number, const void *attrs,
                                                const vt_view *in, uint32_t n, uint32_t operand,
                                                double step, double bound, uint64_t *state) {
  const vt_op_info *op = vt_op_get(number);
  const void *a = attrs == NULL ? op->attrs->defaults : attrs;
  uint32_t ids[8], d_in[8];
  static double v[200000], dy[200000];
  test_seed = *state;
  eager_begin();
  for (uint32_t i = 0; i < n; i++) ids[i] = eager_add_copy(&in[i]);
  for (uint32_t i = 0; i < 8; i++) d_in[i] = VT_NO_VALUE;
  const uint32_t y = eager_run_op(&eager.b, number, ids, n, a), x = ids[operand];
  const uint32_t d_out = eager_add_copy(&eager.value[y]);
  const int64_t nx = count_of_view(&eager.value[x]), ny = count_of_view(&eager.value[y]);
  for (int64_t i = 0; i < nx; i++) v[i] = random_on_grid(state);
  for (int64_t i = 0; i < ny; i++)
    put_number(&eager.value[d_out], i, dy[i] = random_on_grid(state));
  const vt_gradient g = {.b = &eager.b,
                         .in = ids,
                         .out = &y,
                         .n_in = n,
                         .n_out = 1,
                         .attrs = a,
                         .d_out = &d_out,
                         .d_in = d_in};
  op->grad(&g);
  if (d_in[operand] == VT_NO_VALUE) {
    report_test_failure(op->name, eager.problem[0] ? eager.problem : "gives no gradient");
  } else if (!vt_type_equal(&eager.type[d_in[operand]], &eager.type[x])) {
    report_test_failure(op->name, "the gradient has another type than its operand");
  } else {
    uint32_t at[8];
    memcpy(at, ids, sizeof at);
    at[operand] = eager_add_shifted_copy(x, v, step);
    const double up = dot_product_of_value(eager_run_op(&eager.b, number, at, n, a), dy);
    at[operand] = eager_add_shifted_copy(x, v, -step);
    const double down = dot_product_of_value(eager_run_op(&eager.b, number, at, n, a), dy);
    const double have = dot_product_of_value(d_in[operand], v), want = (up - down) / (2 * step);
    if (!(fabs(have - want) <= bound * (1.0 + fabs(want) + (double)ny))) {
      char detail[120];
      snprintf(detail, sizeof detail, "along operand %u: gradient %.17g, difference %.17g", operand,
               have, want);
      report_test_failure(op->name, detail);
    }
  }
  eager_end(op->name);
}
#endif
