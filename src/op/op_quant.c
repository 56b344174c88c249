/* SPDX-License-Identifier: Apache-2.0
 * op_quant.c - quantization to eight bits (quantize, dequantize and variants), and products of
 * i8 and u8, which are exact in i32. A scale and a zero point are one number, or one for each
 * index along `axis`. A level is the whole number round(x/scale) + zero point before it is
 * clamped to eight bits. A composition is written as ops (the definition) and as a kernel (the
 * second implementation). */
#include "formula.h"
#include "op_rows.h"
#include "vt_num.h"

static int is_byte(uint32_t dtype) { return dtype == VT_DTYPE_I8 || dtype == VT_DTYPE_U8; }

static vt_status refuse_operand(const vt_rule *r, uint32_t i, const char *expected, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected %s", i + 1,
                 vt_type_text(r->dims, &r->in[i], text), expected);
}

static vt_status check_dtype(const vt_rule *r, uint32_t i, uint32_t dtype, vt_diag *d) {
  return r->in[i].dtype == dtype ? VT_OK : refuse_operand(r, i, vt_dtype_name(dtype), d);
}

static vt_status check_byte(const vt_rule *r, uint32_t i, vt_diag *d) {
  return is_byte(r->in[i].dtype) ? VT_OK : refuse_operand(r, i, "i8 or u8", d);
}

static vt_status check_scalar(const vt_rule *r, uint32_t i, vt_diag *d) {
  return r->in[i].rank == 0 ? VT_OK : refuse_operand(r, i, "a scalar", d);
}

/* ---- types ---- */

vt_status check_quantize(const vt_rule *r, vt_diag *d) {
  VT_TRY(check_dtype(r, 0, VT_DTYPE_F32, d));
  VT_TRY(check_dtype(r, 1, VT_DTYPE_F32, d));
  return check_byte(r, 2, d);
}

vt_status check_dequantize(const vt_rule *r, vt_diag *d) {
  if (r->in[0].dtype != VT_DTYPE_I32) VT_TRY(check_byte(r, 0, d));
  VT_TRY(check_dtype(r, 1, VT_DTYPE_F32, d));
  return check_dtype(r, 2, r->in[0].dtype, d);
}

vt_status check_requantize(const vt_rule *r, vt_diag *d) {
  VT_TRY(check_dtype(r, 0, VT_DTYPE_I32, d));
  for (uint32_t i = 1; i < 4; i++) VT_TRY(check_dtype(r, i, VT_DTYPE_F32, d));
  return check_byte(r, 4, d);
}

/* ---- shapes ---- */

/* The axis of the attributes as 0 .. rank-1. This file resolves it, because it may be given for a
 * scalar, which has no axis and needs none. */
static int64_t axis_of(const void *attrs, uint32_t rank) {
  const int64_t axis = ((const vt_attr_quant *)attrs)->axis;
  return axis < 0 && axis >= -(int64_t)rank ? axis + (int64_t)rank : axis;
}

/* Checks that operand i, a scale or zero point, is one number, or one for each index along the
 * axis. */
static vt_status check_along_axis(const vt_rule *r, uint32_t i, int64_t axis, vt_diag *d) {
  const vt_type *x = &r->in[0], *t = &r->in[i];
  if (t->rank == 0) return VT_OK;
  if (t->rank != 1 || axis < 0 || axis >= (int64_t)x->rank || t->dim[0] != x->dim[axis])
    return refuse_operand(r, i, "one number, or one for each index along the axis", d);
  return VT_OK;
}

static vt_status quantized_shape(const vt_rule *r, uint32_t dtype, vt_type *out, vt_diag *d) {
  const int64_t axis = axis_of(r->attrs, r->in[0].rank);
  for (uint32_t i = 1; i < r->n_in; i++) VT_TRY(check_along_axis(r, i, axis, d));
  *out = r->in[0];
  out->dtype = dtype;
  return VT_OK;
}

vt_status shape_quantize(const vt_rule *r, vt_type *out, vt_diag *d) {
  return quantized_shape(r, r->in[2].dtype, out, d);
}
vt_status shape_dequantize(const vt_rule *r, vt_type *out, vt_diag *d) {
  return quantized_shape(r, VT_DTYPE_F32, out, d);
}
vt_status shape_requantize(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(check_scalar(r, 1, d));
  VT_TRY(check_scalar(r, 3, d));
  VT_TRY(check_scalar(r, 4, d));
  return quantized_shape(r, r->in[4].dtype, out, d);
}

vt_status shape_dynamic_quantize(const vt_rule *r, vt_type *out, vt_diag *d) {
  for (uint32_t i = 0; i < r->in[0].rank; i++)
    if (r->in[0].dim[i] == 0) return refuse_operand(r, 0, "at least one element", d);
  out[0] = r->in[0];
  out[0].dtype = VT_DTYPE_U8;
  out[1] = (vt_type){.dtype = VT_DTYPE_F32};
  out[2] = (vt_type){.dtype = VT_DTYPE_U8};
  return VT_OK;
}

/* ---- as ops ---- */

/* Reshapes `values`, a scale or zero point with one number for each index along an axis of x, so
 * that it broadcasts to x. */
static uint32_t align_to_axis(vt_builder *b, uint32_t values, uint32_t x, const void *attrs) {
  const vt_type *t = b->type(b, values), *tx = b->type(b, x);
  int64_t dim[VT_MAX_RANK];
  if (t == NULL || tx == NULL) return VT_NO_VALUE;
  if (t->rank == 0) return values;
  const uint32_t rank = tx->rank - (uint32_t)axis_of(attrs, tx->rank);
  dim[0] = t->dim[0];
  for (uint32_t i = 1; i < rank; i++) dim[i] = 1;
  return rank == 1 ? values : vt_build_reshape(b, values, rank, dim);
}

/* The levels round(x/scale) + f32(zero point), before they are clamped. */
static uint32_t build_levels(vt_builder *b, uint32_t x, uint32_t scale, uint32_t zero) {
  const uint32_t level = vt_build1(b, VT_OP_round, over(b, x, scale));
  return plus(b, level, vt_build_cast(b, zero, VT_DTYPE_F32));
}

static uint32_t dtype_of(vt_builder *b, uint32_t x) {
  const vt_type *t = b->type(b, x);
  return t == NULL ? 0 : t->dtype;
}

static uint32_t build_byte(vt_builder *b, uint32_t level, uint32_t dtype) {
  const int is_signed = dtype == VT_DTYPE_I8;
  const uint32_t low = at_least(b, level, is_signed ? -128.0 : 0.0);
  return vt_build_cast(b, at_most(b, low, is_signed ? 127.0 : 255.0), dtype);
}

static uint32_t build_quantized(vt_builder *b, uint32_t x, uint32_t scale, uint32_t zero) {
  return build_byte(b, build_levels(b, x, scale, zero), dtype_of(b, zero));
}

static uint32_t build_dequantized(vt_builder *b, uint32_t q, uint32_t scale, uint32_t zero) {
  const uint32_t wide = vt_build_cast(b, q, VT_DTYPE_I32);
  const uint32_t off = minus(b, wide, vt_build_cast(b, zero, VT_DTYPE_I32));
  return times(b, vt_build_cast(b, off, VT_DTYPE_F32), scale);
}

uint32_t lower_quantize(const vt_lowering *l) {
  const uint32_t scale = align_to_axis(l->b, l->in[1], l->in[0], l->attrs);
  return build_quantized(l->b, l->in[0], scale, align_to_axis(l->b, l->in[2], l->in[0], l->attrs));
}

uint32_t lower_dequantize(const vt_lowering *l) {
  const uint32_t scale = align_to_axis(l->b, l->in[1], l->in[0], l->attrs);
  return build_dequantized(l->b, l->in[0], scale,
                           align_to_axis(l->b, l->in[2], l->in[0], l->attrs));
}

uint32_t lower_fake_quantize(const vt_lowering *l) {
  const uint32_t scale = align_to_axis(l->b, l->in[1], l->in[0], l->attrs);
  const uint32_t zero = align_to_axis(l->b, l->in[2], l->in[0], l->attrs);
  return build_dequantized(l->b, build_quantized(l->b, l->in[0], scale, zero), scale, zero);
}

uint32_t lower_requantize(const vt_lowering *l) {
  const uint32_t columns = align_to_axis(l->b, l->in[2], l->in[0], l->attrs);
  const uint32_t scale = times(l->b, l->in[1], columns);
  const uint32_t x = times(l->b, vt_build_cast(l->b, l->in[0], VT_DTYPE_F32), scale);
  return build_quantized(l->b, x, l->in[3], l->in[4]);
}

uint32_t lower_dynamic_quantize(const vt_lowering *l) {
  vt_builder *b = l->b;
  const uint32_t least = at_most(b, vt_build1(b, VT_OP_min, l->in[0]), 0.0);
  const uint32_t most = at_least(b, vt_build1(b, VT_OP_max, l->in[0]), 0.0);
  const uint32_t range = minus(b, most, least);
  const uint32_t scale = over(b, range, vt_build_number(b, VT_DTYPE_F32, 255.0));
  const uint32_t zero = vt_build_number(b, VT_DTYPE_F32, 0.0);
  const uint32_t level = vt_build1(b, VT_OP_round, minus(b, zero, over(b, least, scale)));
  l->out[1] = scale;
  l->out[2] = build_byte(b, level, VT_DTYPE_U8);
  return build_quantized(b, l->in[0], scale, l->out[2]);
}

/* The straight-through gradient: dy where the level is within the range of the type, +0
 * elsewhere. */
void grad_fake_quantize(const vt_gradient *g) {
  vt_builder *b = g->b;
  const int is_signed = dtype_of(b, g->in[2]) == VT_DTYPE_I8;
  const uint32_t scale = align_to_axis(b, g->in[1], g->in[0], g->attrs);
  const uint32_t level =
      build_levels(b, g->in[0], scale, align_to_axis(b, g->in[2], g->in[0], g->attrs));
  const uint32_t inside =
      within(b, level, VT_OP_ge, is_signed ? -128.0 : 0.0, VT_OP_le, is_signed ? 127.0 : 255.0);
  g->d_in[0] = value_or_zero(b, inside, g->d_out[0]);
}

/* ---- second implementation: element by element ---- */

/* Rounds x to the nearest whole number, ties to even. */
static float round_to_even(float x) {
  const float big = 8388608.0f; /* 2^23: every f32 of at least this size is whole */
  if (!(x > -big && x < big)) return x;
  const int64_t down = (int64_t)x - (x < (float)(int64_t)x ? 1 : 0);
  const float part = x - (float)down;
  const int up = part > 0.5f || (part == 0.5f && down % 2 != 0);
  return (float)(down + up);
}

static int64_t clamp_to_byte(float level, uint32_t dtype) {
  const int64_t lo = dtype == VT_DTYPE_I8 ? INT8_MIN : 0;
  const int64_t hi = dtype == VT_DTYPE_I8 ? INT8_MAX : UINT8_MAX;
  if (level != level) return 0;
  if (level <= (float)lo) return lo;
  return level >= (float)hi ? hi : (int64_t)level; /* the cast truncates, but a level that came from
                                                      a finite scale is whole */
}

static float quantized_level(float x, float scale, int64_t zero) {
  const float quotient = x / scale;
  return round_to_even(quotient) + (float)zero;
}

static float dequantized_number(int64_t q, int64_t zero, float scale) {
  const uint32_t low = (uint32_t)q - (uint32_t)zero; /* the difference wraps in i32 */
  const int64_t off = low < 0x80000000u ? (int64_t)low : (int64_t)low - 0x100000000;
  return (float)off * scale;
}

/* The scale or zero point v, broadcast to the shape of x: one number, or its numbers along the
 * axis. */
static vt_view broadcast_along(const vt_view *v, const vt_view *x, int64_t axis) {
  vt_view s = *x;
  s.dtype = v->dtype, s.data = v->data;
  for (uint32_t i = 0; i < s.rank; i++)
    s.stride[i] = v->rank == 1 && (int64_t)i == axis ? v->stride[0] : 0;
  return s;
}

typedef void element_fn(const vt_kernel *k, const int64_t *at);

static vt_status run_elements(const vt_kernel *k, uint32_t scale_operand, uint32_t zero_operand,
                              element_fn *f) {
  const int64_t axis = axis_of(k->attrs, k->in[0].rank);
  const vt_view s = broadcast_along(&k->in[scale_operand], &k->in[0], axis);
  const vt_view z = broadcast_along(&k->in[zero_operand], &k->in[0], axis);
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  vt_walk_view(&w, &k->in[0]);
  vt_walk_view(&w, &s);
  vt_walk_view(&w, &z);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) f(k, w.at);
  return VT_OK;
}

static int64_t load_whole(const vt_view *v, int64_t at) {
  return vt_load_int(v->data, v->dtype, at);
}
static float load_f32(const vt_view *v, int64_t at) { return ((const float *)v->data)[at]; }

static void quantize_element(const vt_kernel *k, const int64_t *at) {
  const float level = quantized_level(load_f32(&k->in[0], at[1]), load_f32(&k->in[1], at[2]),
                                      load_whole(&k->in[2], at[3]));
  vt_store_int(k->out->data, k->out->dtype, at[0], clamp_to_byte(level, k->out->dtype));
}

static void dequantize_element(const vt_kernel *k, const int64_t *at) {
  ((float *)k->out->data)[at[0]] = dequantized_number(
      load_whole(&k->in[0], at[1]), load_whole(&k->in[2], at[3]), load_f32(&k->in[1], at[2]));
}

static void fake_quantize_element(const vt_kernel *k, const int64_t *at) {
  const float scale = load_f32(&k->in[1], at[2]);
  const int64_t zero = load_whole(&k->in[2], at[3]);
  const float level = quantized_level(load_f32(&k->in[0], at[1]), scale, zero);
  ((float *)k->out->data)[at[0]] =
      dequantized_number(clamp_to_byte(level, k->in[2].dtype), zero, scale);
}

static void requantize_element(const vt_kernel *k, const int64_t *at) {
  const float scale = load_f32(&k->in[1], 0) * load_f32(&k->in[2], at[2]);
  const float x = (float)load_whole(&k->in[0], at[1]) * scale;
  const float level = quantized_level(x, load_f32(&k->in[3], 0), load_whole(&k->in[4], 0));
  vt_store_int(k->out->data, k->out->dtype, at[0], clamp_to_byte(level, k->out->dtype));
}

vt_status kernel_quantize(vt_kernel *k) { return run_elements(k, 1, 2, quantize_element); }
vt_status kernel_dequantize(vt_kernel *k) { return run_elements(k, 1, 2, dequantize_element); }
vt_status kernel_fake_quantize(vt_kernel *k) {
  return run_elements(k, 1, 2, fake_quantize_element);
}
vt_status kernel_requantize(vt_kernel *k) { return run_elements(k, 2, 4, requantize_element); }

static void value_range_with_zero(const vt_view *x, float *least, float *most) {
  vt_walk w;
  vt_walk_init(&w, x->rank, x->dim);
  vt_walk_view(&w, x);
  *least = *most = 0.0f;
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    *least = vt_f32_min(*least, load_f32(x, w.at[0]));
    *most = vt_f32_max(*most, load_f32(x, w.at[0]));
  }
}

vt_status kernel_dynamic_quantize(vt_kernel *k) {
  const vt_view *x = &k->in[0];
  float least, most;
  value_range_with_zero(x, &least, &most);
  const float scale = (most - least) / 255.0f, start = least / scale;
  const int64_t zero = clamp_to_byte(round_to_even(0.0f - start), VT_DTYPE_U8);
  *(float *)k->out[1].data = scale;
  vt_store_int(k->out[2].data, VT_DTYPE_U8, 0, zero);
  vt_walk w;
  vt_walk_init(&w, x->rank, x->dim);
  vt_walk_view(&w, &k->out[0]);
  vt_walk_view(&w, x);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const float level = quantized_level(load_f32(x, w.at[1]), scale, zero);
    vt_store_int(k->out[0].data, VT_DTYPE_U8, w.at[0], clamp_to_byte(level, VT_DTYPE_U8));
  }
  return VT_OK;
}

/* ---- integer products ---- */

vt_status check_matmul_int(const vt_rule *r, vt_diag *d) {
  for (uint32_t i = 0; i < 2; i++) VT_TRY(check_byte(r, i, d));
  for (uint32_t i = 2; i < r->n_in; i++) VT_TRY(check_dtype(r, i, r->in[i - 2].dtype, d));
  return VT_OK;
}

/* The largest number of products of 8-bit integers whose sum fits i32, whatever the operands
 * hold. */
static int64_t max_exact_products(const vt_rule *r) {
  const uint32_t a = r->in[0].dtype, b = r->in[1].dtype;
  if (r->n_in > 2 || (a == VT_DTYPE_U8 && b == VT_DTYPE_U8)) return 33025;
  return a == VT_DTYPE_I8 && b == VT_DTYPE_I8 ? 131071 : 65793;
}

static vt_status check_zero_points(const vt_rule *r, vt_diag *d) {
  const vt_type *b = &r->in[1];
  if (r->n_in > 2) VT_TRY(check_scalar(r, 2, d));
  if (r->n_in < 4 || r->in[3].rank == 0) return VT_OK;
  if (r->in[3].rank == 1 && r->in[3].dim[0] == b->dim[b->rank - 1]) return VT_OK;
  return refuse_operand(r, 3, "one zero point, or one for each column", d);
}

vt_status shape_matmul_int(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_rule product = {
      .dims = r->dims, .in = r->in, .n_in = 2, .attrs = vt_attr_group_matmul.defaults};
  VT_TRY(shape_matmul(&product, out, d));
  VT_TRY(check_zero_points(r, d));
  const int64_t k = r->in[0].dim[r->in[0].rank - 1];
  if (!vt_dim_is_symbolic(k) && k > max_exact_products(r))
    return VT_FAIL(d, VT_LIMIT, "%lld products of %s and %s may not fit i32; the most is %lld",
                   (long long)k, vt_dtype_name(r->in[0].dtype), vt_dtype_name(r->in[1].dtype),
                   (long long)max_exact_products(r));
  out->dtype = VT_DTYPE_I32;
  return VT_OK;
}

typedef struct factors { /* the operands of one matrix product */
  const vt_view *a, *b;
  int64_t at_a, at_b; /* offsets of the two matrices */
  int64_t za;         /* zero point of a */
} factors;

static int32_t matmul_int_element(const factors *f, int64_t row, int64_t column, int64_t zb) {
  const vt_view *a = f->a, *b = f->b;
  const int64_t depth = a->dim[a->rank - 1];
  int64_t sum = 0;
  for (int64_t k = 0; k < depth; k++) {
    const int64_t pa = f->at_a + row * a->stride[a->rank - 2] + k * a->stride[a->rank - 1];
    const int64_t pb = f->at_b + k * b->stride[b->rank - 2] + column * b->stride[b->rank - 1];
    sum += (load_whole(a, pa) - f->za) * (load_whole(b, pb) - zb);
  }
  return (int32_t)sum; /* the sum fits i32, because the shape rule limits the number of products */
}

vt_status kernel_matmul_int(vt_kernel *k) {
  const vt_view *y = k->out, *zb = k->n_in > 3 ? &k->in[3] : NULL;
  vt_view ly = *y, la = k->in[0], lb = k->in[1];
  factors f = {&k->in[0], &k->in[1], 0, 0, k->n_in > 2 ? load_whole(&k->in[2], 0) : 0};
  vt_walk w;
  ly.rank -= 2, la.rank -= 2, lb.rank -= 2;
  vt_walk_init(&w, ly.rank, ly.dim);
  vt_walk_view(&w, &ly);
  vt_walk_view(&w, &la);
  vt_walk_view(&w, &lb);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    for (int64_t m = 0; m < y->dim[y->rank - 2]; m++)
      for (int64_t n = 0; n < y->dim[y->rank - 1]; n++) {
        const int64_t z = zb == NULL ? 0 : load_whole(zb, zb->rank == 0 ? 0 : n * zb->stride[0]);
        const int64_t at = w.at[0] + m * y->stride[y->rank - 2] + n * y->stride[y->rank - 1];
        f.at_a = w.at[1], f.at_b = w.at[2];
        ((int32_t *)y->data)[at] = matmul_int_element(&f, m, n, z);
      }
  return VT_OK;
}

/* ---- linear_int: the product, then + bias ---- */

vt_status check_linear_int(const vt_rule *r, vt_diag *d) {
  vt_rule product = *r;
  if (r->n_in == 5) VT_TRY(check_dtype(r, 4, VT_DTYPE_I32, d));
  product.n_in = r->n_in < 4 ? r->n_in : 4;
  return check_matmul_int(&product, d);
}

vt_status shape_linear_int(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_type *w = &r->in[1];
  vt_rule product = *r;
  product.n_in = r->n_in < 4 ? r->n_in : 4;
  VT_TRY(shape_matmul_int(&product, out, d));
  if (w->rank != 2) return refuse_operand(r, 1, "a weight of rank 2", d);
  if (r->n_in == 5 && (r->in[4].rank != 1 || r->in[4].dim[0] != w->dim[1]))
    return refuse_operand(r, 4, "one number for each column of the weight", d);
  return VT_OK;
}

uint32_t lower_linear_int(const vt_lowering *l) {
  const uint32_t n = l->n_in < 4 ? l->n_in : 4;
  const uint32_t y = l->b->node(l->b, VT_OP_matmul_int, l->in, n, NULL);
  return l->n_in == 5 ? plus(l->b, y, l->in[4]) : y;
}

/* Second implementation of linear_int, one element without its bias. The zero points are multiplied
 * out, which gives the same integer: sum (x - zx)(w - zw) = sum x*w - zw*(sum x) - zx*(sum w) +
 * k*zx*zw. */
static int64_t linear_int_element(const vt_kernel *k, int64_t x_at, int64_t column) {
  const vt_view *x = &k->in[0], *w = &k->in[1];
  const int64_t depth = w->dim[0], zx = k->n_in > 2 ? load_whole(&k->in[2], 0) : 0;
  const int64_t at = k->n_in > 3 && k->in[3].rank == 1 ? column * k->in[3].stride[0] : 0;
  const int64_t zw = k->n_in > 3 ? load_whole(&k->in[3], at) : 0;
  int64_t products = 0, sum_x = 0, sum_w = 0;
  for (int64_t i = 0; i < depth; i++) {
    const int64_t a = load_whole(x, x_at + i * x->stride[x->rank - 1]);
    const int64_t b = load_whole(w, i * w->stride[0] + column * w->stride[1]);
    products += a * b, sum_x += a, sum_w += b;
  }
  return products - zw * sum_x - zx * sum_w + depth * zx * zw;
}

vt_status kernel_linear_int(vt_kernel *k) {
  const vt_view *y = k->out, *x = &k->in[0];
  const vt_view row_y = vt_view_drop_axis(y, y->rank - 1),
                row_x = vt_view_drop_axis(x, x->rank - 1);
  vt_walk rows;
  vt_walk_init(&rows, row_y.rank, row_y.dim);
  vt_walk_view(&rows, &row_y);
  vt_walk_view(&rows, &row_x);
  for (int64_t i = 0; i < rows.count; i++, vt_walk_next(&rows))
    for (int64_t j = 0; j < y->dim[y->rank - 1]; j++) {
      const int64_t bias = k->n_in == 5 ? load_whole(&k->in[4], j * k->in[4].stride[0]) : 0;
      vt_store_int(y->data, VT_DTYPE_I32, rows.at[0] + j * y->stride[y->rank - 1],
                   linear_int_element(k, rows.at[1], j) + bias);
    }
  return VT_OK;
}
