/* SPDX-License-Identifier: Apache-2.0
 * op_rope.c - rotary positions: pairs of elements of the last axis are rotated by an angle that
 * grows with the position. Positions are integers that broadcast to x without its last axis. The
 * first `width` elements of that axis are rotated (0: all), the others copied. x0 and x1 are the
 * first and second elements of all pairs, c and s the cosine and sine of their angles. x is seen
 * as [rows, columns], a row being one line of its last axis. */
#include "formula.h"
#include "op_rows.h"
#include "vt_num.h"

vt_status check_rope(const vt_rule *r, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  const vt_rule one = {.dims = r->dims, .in = r->in, .n_in = 1, .attrs = r->attrs};
  VT_TRY(check_f32(&one, d));
  if (r->in[1].dtype == VT_DTYPE_I32 || r->in[1].dtype == VT_DTYPE_I64) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "operand 2 is %s, expected positions of i32 or i64",
                 vt_type_text(r->dims, &r->in[1], text));
}

static vt_status check_width(const vt_rule *r, const vt_attr_rope *a, vt_diag *d) {
  const vt_type *x = &r->in[0];
  char text[VT_TYPE_TEXT];
  const int64_t length = x->dim[x->rank - 1];
  if (vt_dim_is_symbolic(length))
    return VT_FAIL(d, VT_VERIFY, "rope of %s: its last axis must be a number",
                   vt_type_text(r->dims, x, text));
  const int64_t width = a->width == 0 ? length : a->width;
  if (width < 0 || width > length || width % 2 != 0)
    return VT_FAIL(d, VT_VERIFY,
                   "rope rotates an even number of elements of the last axis of %s, not %lld",
                   vt_type_text(r->dims, x, text), (long long)width);
  return VT_OK;
}

vt_status shape_rope(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_rope *a = r->attrs;
  const vt_type *x = &r->in[0], *p = &r->in[1];
  char tx[VT_TYPE_TEXT], tp[VT_TYPE_TEXT];
  if (x->rank == 0) return VT_FAIL(d, VT_VERIFY, "rope needs an axis, its operand is a scalar");
  if (!(a->base > 0)) return VT_FAIL(d, VT_VERIFY, "base=%g, expected a number above 0", a->base);
  VT_TRY(check_width(r, a, d));
  int fits = p->rank < x->rank;
  for (uint32_t i = 0; fits && i < p->rank; i++)
    fits = p->dim[i] == 1 || p->dim[i] == x->dim[x->rank - 1 - p->rank + i];
  if (!fits)
    return VT_FAIL(d, VT_VERIFY, "positions %s do not broadcast to %s without its last axis",
                   vt_type_text(r->dims, p, tp), vt_type_text(r->dims, x, tx));
  *out = *x;
  return VT_OK;
}

/* ---- as ops ---- */

typedef struct rotation { /* what the decomposition and the gradient share; ids of values c and s */
  vt_builder *b;
  int64_t rows, length, half;
  int interleaved;
  vt_type type;  /* type of x */
  uint32_t c, s; /* values: cosine and sine of the angle, [rows, half] */
} rotation;

/* Writes the frequency of each pair j: f = 1 / pow(base, f32(2j) / f32(d)). */
static uint32_t build_frequencies(vt_builder *b, double base, int64_t half) {
  const vt_attr_iota a = {.size = sizeof a, .shape = {.n = 1, .v = {half}}, .dtype = VT_DTYPE_I64};
  const uint32_t j = b->node(b, VT_OP_iota, NULL, 0, &a);
  const uint32_t twice = times(b, j, vt_build_int(b, VT_DTYPE_I64, 2));
  const uint32_t top = vt_build_cast(b, twice, VT_DTYPE_F32);
  const uint32_t e = over(b, top, vt_build_int(b, VT_DTYPE_F32, 2 * half));
  const uint32_t from = vt_build_number(b, VT_DTYPE_F32, base);
  const uint32_t power = vt_build2(b, VT_OP_pow, from, e);
  return over(b, vt_build_number(b, VT_DTYPE_F32, 1.0), power);
}

/* Writes `op` (cos or sin) of the angles, broadcast to every row of x: [rows, half]. */
static uint32_t build_cosines_or_sines_of_rows(const rotation *t, uint32_t op, uint32_t angle) {
  const int64_t flat[2] = {t->rows, t->half};
  vt_type wide = t->type;
  wide.dim[wide.rank - 1] = t->half;
  const uint32_t v = vt_build1(t->b, op, angle);
  return vt_build_reshape(t->b, vt_build_broadcast(t->b, v, wide.rank, wide.dim), 2, flat);
}

static int init_rotation(rotation *t, vt_builder *b, const uint32_t *in, const vt_attr_rope *a) {
  const vt_type *x = b->type(b, in[0]), *p = b->type(b, in[1]);
  if (x == NULL || p == NULL) return 0;
  vt_type of_p = *p;
  *t = (rotation){.b = b, .rows = 1, .type = *x, .interleaved = a->interleaved != 0};
  for (uint32_t i = 0; i + 1 < x->rank; i++) t->rows *= x->dim[i];
  t->length = x->dim[x->rank - 1];
  t->half = (a->width == 0 ? t->length : a->width) / 2;
  of_p.dim[of_p.rank++] = 1;
  const uint32_t f = build_frequencies(b, a->base, t->half);
  const uint32_t at = vt_build_reshape(b, in[1], of_p.rank, of_p.dim);
  const uint32_t angle = times(b, vt_build_cast(b, at, VT_DTYPE_F32), f);
  t->c = build_cosines_or_sines_of_rows(t, VT_OP_cos, angle);
  t->s = build_cosines_or_sines_of_rows(t, VT_OP_sin, angle);
  return 1;
}

static uint32_t slice_columns(const rotation *t, uint32_t x, int64_t from, int64_t to,
                              int64_t step) {
  const vt_attr_slice a = {.size = sizeof a,
                           .start = {.n = 2, .v = {0, from}},
                           .stop = {.n = 2, .v = {t->rows, to}},
                           .step = {.n = 2, .v = {1, step}}};
  return t->b->node(t->b, VT_OP_slice, &x, 1, &a);
}

static uint32_t concat(vt_builder *b, uint32_t x, uint32_t y, int64_t axis) {
  const vt_attr_axis a = {.size = sizeof a, .axis = axis};
  const uint32_t in[2] = {x, y};
  return b->node(b, VT_OP_concat, in, 2, &a);
}

/* Joins y0 and y1, the first and second elements of the rotated pairs, and the elements of x after
 * the pairs, in the shape of x. */
static uint32_t join_pairs(const rotation *t, uint32_t x, uint32_t y0, uint32_t y1) {
  const int64_t thin[3] = {t->rows, t->half, 1}, flat[2] = {t->rows, 2 * t->half};
  uint32_t y;
  if (t->interleaved) {
    const uint32_t left = vt_build_reshape(t->b, y0, 3, thin);
    const uint32_t right = vt_build_reshape(t->b, y1, 3, thin);
    y = vt_build_reshape(t->b, concat(t->b, left, right, 2), 2, flat);
  } else {
    y = concat(t->b, y0, y1, 1);
  }
  if (2 * t->half < t->length)
    y = concat(t->b, y, slice_columns(t, x, 2 * t->half, t->length, 1), 1);
  return vt_build_reshape(t->b, y, t->type.rank, t->type.dim);
}

/* Writes x with its pairs rotated, (x0*c) - (x1*s) and (x1*c) + (x0*s), or with `back` rotated by
 * the opposite angle. */
static uint32_t build_rotated(const rotation *t, uint32_t x, int back) {
  const int64_t flat[2] = {t->rows, t->length}, h = t->half, skip = t->interleaved;
  vt_builder *b = t->b;
  x = vt_build_reshape(b, x, 2, flat);
  const uint32_t x0 = skip ? slice_columns(t, x, 0, 2 * h, 2) : slice_columns(t, x, 0, h, 1);
  const uint32_t x1 = skip ? slice_columns(t, x, 1, 2 * h, 2) : slice_columns(t, x, h, 2 * h, 1);
  const uint32_t c0 = times(b, x0, t->c), s1 = times(b, x1, t->s);
  const uint32_t c1 = times(b, x1, t->c), s0 = times(b, x0, t->s);
  const uint32_t y0 = back ? plus(b, c0, s1) : minus(b, c0, s1);
  const uint32_t y1 = back ? minus(b, c1, s0) : plus(b, c1, s0);
  return join_pairs(t, x, y0, y1);
}

uint32_t lower_rope(const vt_lowering *l) {
  rotation t;
  if (!init_rotation(&t, l->b, l->in, l->attrs)) return VT_NO_VALUE;
  return t.half == 0 ? vt_build_reshape(l->b, l->in[0], t.type.rank, t.type.dim)
                     : build_rotated(&t, l->in[0], 0);
}

void grad_rope(const vt_gradient *g) {
  rotation t;
  if (!init_rotation(&t, g->b, g->in, g->attrs)) return;
  g->d_in[0] = t.half == 0 ? g->d_out[0] : build_rotated(&t, g->d_out[0], 1);
}

/* ---- second implementation: pair by pair ---- */

static void rotate_row(const vt_attr_rope *a, const float *x, int64_t xs, float *y, int64_t ys,
                       int64_t length, float position) {
  const int64_t d = a->width == 0 ? length : a->width;
  for (int64_t j = 0; j < d / 2; j++) {
    const float e = (float)(2 * j) / (float)d;
    const float f = 1.0f / vt_f32_pow((float)a->base, e), angle = position * f;
    const float c = vt_f32_cos(angle), s = vt_f32_sin(angle);
    const int64_t first = a->interleaved ? 2 * j : j,
                  second = a->interleaved ? first + 1 : j + d / 2;
    const float x0 = x[first * xs], x1 = x[second * xs];
    const float left = x0 * c, right = x1 * s, up = x1 * c, down = x0 * s;
    y[first * ys] = left - right;
    y[second * ys] = up + down;
  }
  for (int64_t i = d; i < length; i++) y[i * ys] = x[i * xs];
}

vt_status kernel_rope(vt_kernel *k) {
  const vt_view *x = &k->in[0], *p = &k->in[1], *y = k->out;
  const uint32_t last = x->rank - 1;
  const vt_view row_x = vt_view_drop_axis(x, last), row_y = vt_view_drop_axis(y, last);
  vt_walk w;
  vt_walk_init(&w, row_y.rank, row_y.dim);
  vt_walk_view(&w, &row_y);
  vt_walk_view(&w, &row_x);
  vt_walk_view(&w, p);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    const float position = (float)vt_load_int(p->data, p->dtype, w.at[2]);
    rotate_row(k->attrs, (const float *)x->data + w.at[1], x->stride[last],
               (float *)y->data + w.at[0], y->stride[last], x->dim[last], position);
  }
  return VT_OK;
}
