/* SPDX-License-Identifier: Apache-2.0
 * op_elementwise.c - ops that compute an element of the result from one element of each operand:
 * shape rules, kernels and gradients. A kernel is one loop over three scalar functions: for f32,
 * for f64, and for integers as int64_t, which wrap to their width when stored. A multiply and an
 * add are never contracted unless the graph says fma. In formulas y is the result and dy its
 * gradient; da and db are the gradients of operands a and b. The one order is the total order of
 * numbers: -0 < +0, and NaN is the greatest. */
#include "formula.h"
#include "op_rows.h"
#include "vt_num.h"

/* ---- shapes ---- */

vt_status shape_same(const vt_rule *r, vt_type *out, vt_diag *d) {
  (void)d;
  *out = r->in[0];
  return VT_OK;
}

/* Broadcasts one axis of x and y; from_end counts axes from the last one, which is 1. */
static vt_status broadcast_dim(const vt_rule *r, const vt_type *x, const vt_type *y,
                               uint32_t from_end, int64_t *out, vt_diag *d) {
  const int64_t a = x->dim[x->rank - from_end], b = y->dim[y->rank - from_end];
  if (a == b || b == 1) {
    *out = a;
  } else if (a == 1) {
    *out = b;
  } else if (vt_dim_is_symbolic(a) && !vt_dim_is_symbolic(b)) {
    *out = b; /* once it is bound, a must be b or 1, which is checked then */
  } else if (vt_dim_is_symbolic(b) && !vt_dim_is_symbolic(a)) {
    *out = a;
  } else {
    char tx[VT_TYPE_TEXT], ty[VT_TYPE_TEXT];
    return VT_FAIL(d, VT_VERIFY, "shapes %s and %s do not broadcast: axes must be equal or 1",
                   vt_type_text(r->dims, x, tx), vt_type_text(r->dims, y, ty));
  }
  return VT_OK;
}

vt_status vt_broadcast_shapes(const vt_rule *r, const vt_type *in, uint32_t n, vt_type *out,
                              vt_diag *d) {
  vt_type joined = in[0];
  for (uint32_t i = 1; i < n; i++) {
    const vt_type *x = &in[i];
    vt_type wide = joined.rank >= x->rank ? joined : *x;
    const uint32_t common = joined.rank < x->rank ? joined.rank : x->rank;
    for (uint32_t k = 1; k <= common; k++)
      VT_TRY(broadcast_dim(r, &joined, x, k, &wide.dim[wide.rank - k], d));
    joined = wide;
  }
  *out = joined;
  return VT_OK;
}

vt_status shape_broadcast(const vt_rule *r, vt_type *out, vt_diag *d) {
  return vt_broadcast_shapes(r, r->in, r->n_in, out, d);
}

vt_status shape_compare(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(shape_broadcast(r, out, d));
  out->dtype = VT_DTYPE_BOOL;
  return VT_OK;
}

vt_status shape_select(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(shape_broadcast(r, out, d));
  out->dtype = r->in[1].dtype;
  return VT_OK;
}

vt_status shape_cast(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_cast *a = r->attrs;
  if (a->dtype < 0 || a->dtype > UINT32_MAX || vt_dtype_name((uint32_t)a->dtype) == NULL)
    return VT_FAIL(d, VT_VERIFY, "a cast to type number %lld, which does not exist",
                   (long long)a->dtype);
  *out = r->in[0];
  out->dtype = (uint32_t)a->dtype;
  return VT_OK;
}

/* ---- the loop over elements ---- */

typedef float f32_fn(float a, float b, float c);
typedef double f64_fn(double a, double b, double c);
typedef int64_t int_fn(int64_t a, int64_t b, int64_t c);
typedef struct ew { /* the scalar functions of one op, `whole` for integers; NULL for types that the
                       op does not accept */
  f32_fn *f32;
  f64_fn *f64;
  int_fn *whole;
} ew;

static vt_walk walk_operands(const vt_kernel *k) {
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  for (uint32_t i = 0; i < 3; i++) vt_walk_view(&w, &k->in[i < k->n_in ? i : 0]);
  return w;
}

static vt_status run_elementwise(const vt_kernel *k, const ew *f) {
  vt_walk w = walk_operands(k);
  void *y = k->out->data;
  const void *a = k->in[0].data;
  const void *b = k->in[k->n_in > 1 ? 1 : 0].data, *c = k->in[k->n_in > 2 ? 2 : 0].data;
  const uint32_t dtype = k->in[0].dtype;
  if (dtype == VT_DTYPE_F32 && f->f32 != NULL) {
    for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
      ((float *)y)[w.at[0]] = f->f32(((const float *)a)[w.at[1]], ((const float *)b)[w.at[2]],
                                     ((const float *)c)[w.at[3]]);
  } else if (dtype == VT_DTYPE_F64 && f->f64 != NULL) {
    for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
      ((double *)y)[w.at[0]] = f->f64(((const double *)a)[w.at[1]], ((const double *)b)[w.at[2]],
                                      ((const double *)c)[w.at[3]]);
  } else if (dtype != VT_DTYPE_F32 && dtype != VT_DTYPE_F64 && f->whole != NULL) {
    for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
      vt_store_int(y, dtype, w.at[0],
                   f->whole(vt_load_int(a, dtype, w.at[1]), vt_load_int(b, dtype, w.at[2]),
                            vt_load_int(c, dtype, w.at[3])));
  } else {
    return VT_UNSUPPORTED;
  }
  return VT_OK;
}

/* ---- the ops, one line each ---- */

static int64_t int_abs(int64_t a) { return a < 0 ? vt_i64_wrap_sub(0, a) : a; }

/* The shifts get narrow integers sign-extended to 64 bits, and the store cuts off bits above their
 * width. Only shifts by more than 63 bits therefore need a rule of their own. */
static int64_t int_shl(int64_t a, int64_t n) {
  return n < 0 || n > 63 ? 0 : (int64_t)((uint64_t)a << n);
}
static int64_t int_shr(int64_t a, int64_t n) {
  if (n < 0 || n > 63) return a < 0 ? -1 : 0;
  return a < 0 ? ~(~a >> n) : a >> n;
}

static float abs_f32(float a) { return vt_f32_from_bits(vt_f32_bits(a) & 0x7fffffffu); }
static double abs_f64(double a) { return vt_f64_from_bits(vt_f64_bits(a) & 0x7fffffffffffffffu); }
/* Gives `result` the sign of x: the computation of a zero may have lost it. */
static float with_sign_f32(float result, float x) {
  return vt_f32_bits(x) >> 31 ? -result : result;
}
static double with_sign_f64(double result, double x) {
  return vt_f64_bits(x) >> 63 ? -result : result;
}

/* Returns numbers of at least 2^23 (f32) or 2^52 (f64) in size as they are, because they are whole,
 * and also a NaN, for which the comparison is false. */
static float trunc_f32(float x) {
  const float size = abs_f32(x);
  return size < 0x1p23f ? with_sign_f32((float)(int32_t)size, x) : x;
}
static double trunc_f64(double x) {
  const double size = abs_f64(x);
  return size < 0x1p52 ? with_sign_f64((double)(int64_t)size, x) : x;
}
/* The addition of 2^23 or 2^52 rounds to a whole number, ties to even; the subtraction after it is
 * exact. */
static float round_f32(float x) {
  const float size = abs_f32(x);
  return size < 0x1p23f ? with_sign_f32((size + 0x1p23f) - 0x1p23f, x) : x;
}
static double round_f64(double x) {
  const double size = abs_f64(x);
  return size < 0x1p52 ? with_sign_f64((size + 0x1p52) - 0x1p52, x) : x;
}
/* floor and ceil subtract or add 1 only if x is not whole; a zero is whole and keeps its sign. */
static float floor_f32(float x) { return trunc_f32(x) > x ? trunc_f32(x) - 1.0f : trunc_f32(x); }
static double floor_f64(double x) { return trunc_f64(x) > x ? trunc_f64(x) - 1.0 : trunc_f64(x); }
static float ceil_f32(float x) { return trunc_f32(x) < x ? trunc_f32(x) + 1.0f : trunc_f32(x); }
static double ceil_f64(double x) { return trunc_f64(x) < x ? trunc_f64(x) + 1.0 : trunc_f64(x); }

#define F32(name, formula)                                \
  static float name##_of_f32(float a, float b, float c) { \
    (void)a, (void)b, (void)c;                            \
    return formula;                                       \
  }
#define F64(name, formula)                                    \
  static double name##_of_f64(double a, double b, double c) { \
    (void)a, (void)b, (void)c;                                \
    return formula;                                           \
  }
#define INT(name, formula)                                       \
  static int64_t name##_whole(int64_t a, int64_t b, int64_t c) { \
    (void)a, (void)b, (void)c;                                   \
    return formula;                                              \
  }
#define KERNEL(name, f, g, h)             \
  vt_status kernel_##name(vt_kernel *k) { \
    static const ew rows = {f, g, h};     \
    return run_elementwise(k, &rows);     \
  }
#define EW_F32(name, f) F32(name, f) KERNEL(name, name##_of_f32, NULL, NULL)
#define EW_FLOAT(name, f, g) \
  F32(name, f) F64(name, g) KERNEL(name, name##_of_f32, name##_of_f64, NULL)
#define EW_INT(name, h) INT(name, h) KERNEL(name, NULL, NULL, name##_whole)
#define EW(name, f, g, h) \
  F32(name, f) F64(name, g) INT(name, h) KERNEL(name, name##_of_f32, name##_of_f64, name##_whole)

EW(neg, -a, -a, vt_i64_wrap_sub(0, a))
EW(abs, abs_f32(a), abs_f64(a), int_abs(a))
EW(sign,
   a > 0    ? 1.0f
   : a < 0  ? -1.0f
   : a == 0 ? 0.0f
            : a,
   a > 0    ? 1.0
   : a < 0  ? -1.0
   : a == 0 ? 0.0
            : a,
   (a > 0) - (a < 0))
EW_FLOAT(floor, floor_f32(a), floor_f64(a))
EW_FLOAT(ceil, ceil_f32(a), ceil_f64(a))
EW_FLOAT(trunc, trunc_f32(a), trunc_f64(a))
EW_FLOAT(round, round_f32(a), round_f64(a))
EW(add, a + b, a + b, vt_i64_wrap_add(a, b))
EW(sub, a - b, a - b, vt_i64_wrap_sub(a, b))
EW(mul, a *b, a *b, vt_i64_wrap_mul(a, b))
EW(div, a / b, a / b, vt_i64_div(a, b))
EW(maximum, vt_f32_max(a, b), vt_f64_max(a, b), a > b ? a : b)
EW(minimum, vt_f32_min(a, b), vt_f64_min(a, b), a < b ? a : b)
EW_FLOAT(sqrt, vt_f32_sqrt(a), vt_f64_sqrt(a))
EW_FLOAT(fma, vt_f32_fma(a, b, c), vt_f64_fma(a, b, c))
EW_F32(rsqrt, vt_f32_rsqrt(a))
EW_F32(exp, vt_f32_exp(a))
EW_F32(log, vt_f32_log(a))
EW_F32(sin, vt_f32_sin(a))
EW_F32(cos, vt_f32_cos(a))
EW_F32(tanh, vt_f32_tanh(a))
EW_F32(erf, vt_f32_erf(a))
EW_F32(sigmoid, vt_f32_sigmoid(a))
EW_F32(exp2, vt_f32_exp2(a))
EW_F32(expm1, vt_f32_expm1(a))
EW_F32(log2, vt_f32_log2(a))
EW_F32(log10, vt_f32_log10(a))
EW_F32(log1p, vt_f32_log1p(a))
EW_F32(tan, vt_f32_tan(a))
EW_F32(asin, vt_f32_asin(a))
EW_F32(acos, vt_f32_acos(a))
EW_F32(atan, vt_f32_atan(a))
EW_F32(sinh, vt_f32_sinh(a))
EW_F32(cosh, vt_f32_cosh(a))
EW_F32(asinh, vt_f32_asinh(a))
EW_F32(acosh, vt_f32_acosh(a))
EW_F32(atanh, vt_f32_atanh(a))
EW_F32(pow, vt_f32_pow(a, b))
EW_INT(mod, vt_i64_mod(a, b))
EW_INT(shl, int_shl(a, b))
EW_INT(shr, int_shr(a, b))
EW_INT(and, a &b)
EW_INT(or, a | b)
EW_INT(xor, a ^ b)
INT(not_truth, a == 0)
INT(not_bits, ~a)

/* The kernel of `not`. A bool is 0 or 1: the other bitwise ops keep it so, but the complement of a
 * bool needs a function of its own. */
vt_status kernel_not(vt_kernel *k) {
  static const ew truth = {NULL, NULL, not_truth_whole}, bits = {NULL, NULL, not_bits_whole};
  return run_elementwise(k, k->in[0].dtype == VT_DTYPE_BOOL ? &truth : &bits);
}

/* ---- comparisons: operands of one type, result bool ---- */

typedef struct compare {
  int (*f32)(float a, float b);
  int (*f64)(double a, double b);
  int (*whole)(int64_t a, int64_t b);
} compare;

static vt_status run_compare(const vt_kernel *k, const compare *f) {
  vt_walk w = walk_operands(k);
  uint8_t *y = k->out->data;
  const void *a = k->in[0].data, *b = k->in[1].data;
  const uint32_t dtype = k->in[0].dtype;
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int64_t p = w.at[1], q = w.at[2];
    int yes;
    if (dtype == VT_DTYPE_F32) {
      yes = f->f32(((const float *)a)[p], ((const float *)b)[q]);
    } else if (dtype == VT_DTYPE_F64) {
      yes = f->f64(((const double *)a)[p], ((const double *)b)[q]);
    } else {
      yes = f->whole(vt_load_int(a, dtype, p), vt_load_int(b, dtype, q));
    }
    y[w.at[0]] = (uint8_t)yes;
  }
  return VT_OK;
}

#define COMPARE(name, op)                                               \
  static int name##_f32(float a, float b) { return a op b; }            \
  static int name##_f64(double a, double b) { return a op b; }          \
  static int name##_whole(int64_t a, int64_t b) { return a op b; }      \
  vt_status kernel_##name(vt_kernel *k) {                               \
    static const compare rows = {name##_f32, name##_f64, name##_whole}; \
    return run_compare(k, &rows);                                       \
  }

COMPARE(eq, ==)
COMPARE(ne, !=)
COMPARE(lt, <)
COMPARE(le, <=)
COMPARE(gt, >)
COMPARE(ge, >=)

/* ---- select and cast ---- */

vt_status kernel_select(vt_kernel *k) {
  vt_walk w = walk_operands(k);
  const size_t size = vt_dtype_bytes(k->out->dtype);
  const uint8_t *which = k->in[0].data;
  char *y = k->out->data;
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const int first = which[w.at[1]] != 0;
    const char *from = k->in[first ? 1 : 2].data;
    const int64_t at = w.at[first ? 2 : 3];
    for (size_t j = 0; j < size; j++)
      y[w.at[0] * (int64_t)size + (int64_t)j] = from[at * (int64_t)size + (int64_t)j];
  }
  return VT_OK;
}

vt_status kernel_cast(vt_kernel *k) {
  const vt_view *x = &k->in[0], *y = k->out;
  const int64_t xs = (int64_t)vt_dtype_bytes(x->dtype), ys = (int64_t)vt_dtype_bytes(y->dtype);
  vt_walk w;
  vt_walk_init(&w, y->rank, y->dim);
  vt_walk_view(&w, y);
  vt_walk_view(&w, x);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    vt_cast((const char *)x->data + w.at[1] * xs, 1, x->dtype, (char *)y->data + w.at[0] * ys, 1,
            y->dtype, 1);
  return VT_OK;
}

/* ---- gradients of arithmetic: an operand that was broadcast gets the sum over the axes along
 * which it was repeated ---- */

void grad_neg(const vt_gradient *g) { g->d_in[0] = negative(g->b, g->d_out[0]); }

void grad_add(const vt_gradient *g) {
  g->d_in[0] = vt_build_sum_to(g->b, g->d_out[0], g->in[0]);
  g->d_in[1] = vt_build_sum_to(g->b, g->d_out[0], g->in[1]);
}

void grad_sub(const vt_gradient *g) {
  g->d_in[0] = vt_build_sum_to(g->b, g->d_out[0], g->in[0]);
  g->d_in[1] = vt_build_sum_to(g->b, negative(g->b, g->d_out[0]), g->in[1]);
}

void grad_mul(const vt_gradient *g) {
  vt_builder *b = g->b;
  g->d_in[0] = vt_build_sum_to(b, times(b, g->d_out[0], g->in[1]), g->in[0]);
  g->d_in[1] = vt_build_sum_to(b, times(b, g->d_out[0], g->in[0]), g->in[1]);
}

void grad_fma(const vt_gradient *g) {
  grad_mul(g);
  g->d_in[2] = vt_build_sum_to(g->b, g->d_out[0], g->in[2]);
}

/* da = dy/b; db = -((dy*y)/b) */
void grad_div(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t dy = g->d_out[0];
  g->d_in[0] = vt_build_sum_to(b, over(b, dy, g->in[1]), g->in[0]);
  const uint32_t full = negative(b, over(b, times(b, dy, g->out[0]), g->in[1]));
  g->d_in[1] = vt_build_sum_to(b, full, g->in[1]);
}

/* x > 0 ? dy : x < 0 ? -dy : +0 */
void grad_abs(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t x = g->in[0], dy = g->d_out[0];
  const uint32_t above = is_positive(b, x), below = compared(b, VT_OP_lt, x, 0.0);
  const uint32_t other = value_or_zero(b, below, negative(b, dy));
  g->d_in[0] = select_by(b, above, dy, other);
}

/* Whether operand x of maximum or minimum equals the result y in the one order. A NaN equals every
 * NaN, and the result is NaN if x is. Zeros of different signs are told apart by their reciprocals;
 * other equal numbers have equal reciprocals. */
static uint32_t holds_result(vt_builder *b, uint32_t x, uint32_t y) {
  const uint32_t one = vt_build_scalar_of_same_dtype(b, x, 1.0);
  const uint32_t over_x = over(b, one, x), over_y = over(b, one, y);
  const uint32_t same_sign = vt_build2(b, VT_OP_eq, over_x, over_y);
  const uint32_t same = vt_build2(b, VT_OP_and, vt_build2(b, VT_OP_eq, x, y), same_sign);
  return vt_build2(b, VT_OP_or, vt_build2(b, VT_OP_ne, x, x), same);
}

static void grad_extremum(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t dy = g->d_out[0], first = holds_result(b, g->in[0], g->out[0]);
  g->d_in[0] = vt_build_sum_to(b, value_or_zero(b, first, dy), g->in[0]);
  g->d_in[1] = vt_build_sum_to(b, zero_or_value(b, first, dy), g->in[1]);
}

void grad_maximum(const vt_gradient *g) { grad_extremum(g); }
void grad_minimum(const vt_gradient *g) { grad_extremum(g); }

/* The +0 has the type of dy, not that of the operand: the gradient of a storage type (f16, bf16) is
 * f32. */
void grad_select(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t which = g->in[0], dy = g->d_out[0];
  g->d_in[1] = vt_build_sum_to(b, value_or_zero(b, which, dy), g->in[1]);
  g->d_in[2] = vt_build_sum_to(b, zero_or_value(b, which, dy), g->in[2]);
}

static int is_floating(uint32_t dtype) {
  return dtype == VT_DTYPE_F32 || dtype == VT_DTYPE_F64 || dtype == VT_DTYPE_F16 ||
         dtype == VT_DTYPE_BF16;
}

/* Only a cast between floating types has a gradient: it is f64 if x is f64, otherwise f32. */
void grad_cast(const vt_gradient *g) {
  vt_builder *b = g->b;
  const vt_type *x = b->type(b, g->in[0]), *y = b->type(b, g->out[0]);
  const vt_type *dy = b->type(b, g->d_out[0]);
  if (x == NULL || y == NULL || dy == NULL || !is_floating(x->dtype) || !is_floating(y->dtype))
    return;
  const uint32_t to = x->dtype == VT_DTYPE_F64 ? VT_DTYPE_F64 : VT_DTYPE_F32;
  g->d_in[0] = dy->dtype == to ? g->d_out[0] : vt_build_cast(b, g->d_out[0], to);
}

/* da = b == 0 ? +0 : dy*(b*pow(a, b - 1)); db = (a == 0 and b > 0) ? +0 : dy*(y*log(a)) */
void grad_pow(const vt_gradient *g) {
  vt_builder *b = g->b;
  const uint32_t base = g->in[0], power = g->in[1], y = g->out[0], dy = g->d_out[0];
  const uint32_t none = compared(b, VT_OP_eq, power, 0.0);
  const uint32_t less = minus(b, power, vt_build_scalar_of_same_dtype(b, power, 1.0));
  const uint32_t lower = times(b, power, vt_build2(b, VT_OP_pow, base, less));
  g->d_in[0] = vt_build_sum_to(b, zero_or_value(b, none, times(b, dy, lower)), base);
  const uint32_t at_zero = compared(b, VT_OP_eq, base, 0.0);
  const uint32_t flat = vt_build2(b, VT_OP_and, at_zero, is_positive(b, power));
  const uint32_t log_y = times(b, y, vt_build1(b, VT_OP_log, base));
  g->d_in[1] = vt_build_sum_to(b, zero_or_value(b, flat, times(b, dy, log_y)), power);
}

/* ---- gradients of functions: x the operand, y the result ---- */

#define GRADIENT(name, formula)                                   \
  void grad_##name(const vt_gradient *g) {                        \
    vt_builder *b = g->b;                                         \
    const uint32_t x = g->in[0], y = g->out[0], dy = g->d_out[0]; \
    (void)x, (void)y;                                             \
    g->d_in[0] = formula;                                         \
  }

static uint32_t build_unary(vt_builder *b, uint32_t op, uint32_t x) { return vt_build1(b, op, x); }
static uint32_t build_square(vt_builder *b, uint32_t x) { return times(b, x, x); }
/* x + 1 and x - 1 */
static uint32_t plus_one(vt_builder *b, uint32_t x) {
  return plus(b, x, vt_build_scalar_of_same_dtype(b, x, 1.0));
}
static uint32_t minus_one(vt_builder *b, uint32_t x) {
  return minus(b, x, vt_build_scalar_of_same_dtype(b, x, 1.0));
}
/* (1 - x)*(1 + x) and (x - 1)*(x + 1) */
static uint32_t one_minus_square(vt_builder *b, uint32_t x) {
  const uint32_t left = one_minus(b, x);
  return times(b, left, one_plus(b, x));
}
static uint32_t square_minus_one(vt_builder *b, uint32_t x) {
  const uint32_t left = minus_one(b, x);
  return times(b, left, plus_one(b, x));
}
/* (-0.5*dy) * ((y*y)*y) */
static uint32_t minus_half_dy_y_cubed(vt_builder *b, uint32_t dy, uint32_t y) {
  const uint32_t half = scaled(b, dy, -0.5);
  return times(b, half, times(b, build_square(b, y), y));
}
/* (dy*y)*(1 - y) */
static uint32_t sigmoid_gradient(vt_builder *b, uint32_t dy, uint32_t y) {
  const uint32_t left = times(b, dy, y);
  return times(b, left, one_minus(b, y));
}
/* The derivative of erf: 2/sqrt(pi) * exp(-(x*x)) */
static uint32_t erf_slope(vt_builder *b, uint32_t x) {
  return scaled_bits(b, build_unary(b, VT_OP_exp, negative(b, build_square(b, x))), 0x3f906ebbu);
}

GRADIENT(sqrt, over(b, scaled(b, dy, 0.5), y))
GRADIENT(rsqrt, minus_half_dy_y_cubed(b, dy, y))
GRADIENT(exp, times(b, dy, y))
GRADIENT(exp2, scaled_bits(b, times(b, dy, y), 0x3f317218u)) /* log 2 */
GRADIENT(expm1, times(b, dy, plus_one(b, y)))
GRADIENT(log, over(b, dy, x))
GRADIENT(log2, scaled_bits(b, over(b, dy, x), 0x3fb8aa3bu))  /* 1 / log 2 */
GRADIENT(log10, scaled_bits(b, over(b, dy, x), 0x3ede5bd9u)) /* 1 / log 10 */
GRADIENT(log1p, over(b, dy, one_plus(b, x)))
GRADIENT(sin, times(b, dy, build_unary(b, VT_OP_cos, x)))
GRADIENT(cos, negative(b, times(b, dy, build_unary(b, VT_OP_sin, x))))
GRADIENT(tan, times(b, dy, one_plus(b, build_square(b, y))))
GRADIENT(asin, over(b, dy, square_root(b, one_minus_square(b, x))))
GRADIENT(acos, negative(b, over(b, dy, square_root(b, one_minus_square(b, x)))))
GRADIENT(atan, over(b, dy, one_plus(b, build_square(b, x))))
GRADIENT(sinh, times(b, dy, build_unary(b, VT_OP_cosh, x)))
GRADIENT(cosh, times(b, dy, build_unary(b, VT_OP_sinh, x)))
GRADIENT(tanh, times(b, dy, one_minus(b, build_square(b, y))))
GRADIENT(asinh, over(b, dy, square_root(b, plus_one(b, build_square(b, x)))))
GRADIENT(acosh, over(b, dy, square_root(b, square_minus_one(b, x))))
GRADIENT(atanh, over(b, dy, one_minus_square(b, x)))
GRADIENT(erf, times(b, dy, erf_slope(b, x)))
GRADIENT(sigmoid, sigmoid_gradient(b, dy, y))
