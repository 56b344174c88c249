/* SPDX-License-Identifier: Apache-2.0
 * window.c - implements vt_window.h: reads and checks the windows of convolutions and pools and
 * counts their positions. */
#include "vt_window.h"

int64_t vt_window_entry(const vt_attr_list *list, uint32_t i, int64_t usual) {
  if (list == NULL || list->n == 0) return usual;
  return list->v[list->n == 1 ? 0 : i];
}

vt_status vt_window_check_list(const vt_attr_list *list, const char *name, uint32_t axes,
                               int64_t least, vt_diag *d) {
  if (list == NULL) return VT_OK;
  if (list->n != 0 && list->n != 1 && list->n != (int64_t)axes)
    return VT_FAIL(d, VT_VERIFY, "%s has %lld entries, expected one, or one for each of %u axes",
                   name, (long long)list->n, axes);
  for (int64_t i = 0; i < list->n; i++)
    if (list->v[i] < least || list->v[i] > VT_DIM_MAX)
      return VT_FAIL(d, VT_VERIFY, "%s=%lld: expected %lld..2^40", name, (long long)list->v[i],
                     (long long)least);
  return VT_OK;
}

vt_status vt_window_check_rank(const vt_rule *r, uint32_t operand, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  const uint32_t rank = r->in[operand].rank;
  if (rank >= 3 && rank <= 2 + VT_SPATIAL_MAX) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "operand %u is %s, expected [N, C, ...] with 1 to %d spatial axes",
                 operand + 1, vt_type_text(r->dims, &r->in[operand], text), VT_SPATIAL_MAX);
}

vt_status vt_window_check(const vt_window_lists *l, const int64_t *kernel, uint32_t axes,
                          vt_diag *d) {
  VT_TRY(vt_window_check_list(l->stride, "stride", axes, 1, d));
  VT_TRY(vt_window_check_list(l->dilation, "dilation", axes, 1, d));
  VT_TRY(vt_window_check_list(l->low, "low", axes, 0, d));
  VT_TRY(vt_window_check_list(l->high, "high", axes, 0, d));
  for (uint32_t i = 0; i < axes; i++) {
    if (vt_dim_is_symbolic(kernel[i]))
      return VT_FAIL(d, VT_VERIFY, "kernel axis %u must be known, not a dimension bound later", i);
    if (kernel[i] < 1 || kernel[i] > VT_DIM_MAX)
      return VT_FAIL(d, VT_VERIFY, "kernel axis %u is %lld: expected 1..2^40", i,
                     (long long)kernel[i]);
    if (kernel[i] - 1 > (VT_DIM_MAX - 1) / vt_window_entry(l->dilation, i, 1))
      return VT_FAIL(d, VT_VERIFY, "kernel axis %u with its dilation is longer than 2^40", i);
  }
  return VT_OK;
}

vt_window vt_window_axis(const vt_window_lists *l, uint32_t i, int64_t kernel,
                         int64_t usual_stride) {
  return (vt_window){kernel, vt_window_entry(l->stride, i, usual_stride),
                     vt_window_entry(l->dilation, i, 1), vt_window_entry(l->low, i, 0),
                     vt_window_entry(l->high, i, 0)};
}

int64_t vt_window_extent(const vt_window *w) { return w->dilation * (w->kernel - 1) + 1; }

/* The constant part of a dimension: its value if every symbol is 0. */
static vt_status constant_part(const vt_dims *dims, int64_t dim, int64_t *out, vt_diag *d) {
  static const int64_t zeros[VT_MAX_SYMBOLS];
  return vt_dim_bind(dims, zeros, dim, out, d);
}

/* The remainder of x divided by `by`, in 0 .. by-1. */
static int64_t remainder_of(int64_t x, int64_t by) { return (x % by + by) % by; }

/* Computes span / stride, rounded down, or up if `up`. A symbol times a multiple of the stride
 * leaves no remainder, so only the constant part of the span is rounded. With any other coefficient
 * of a symbol the quotient is not a polynomial, which is an error. */
static vt_status divide_rounded(const vt_rule *r, uint32_t i, int64_t span, int64_t stride, int up,
                                int64_t *out, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  int64_t constant;
  VT_TRY(constant_part(r->dims, span, &constant, d));
  const int64_t rest = remainder_of(constant, stride);
  const int64_t shift = up && rest > 0 ? rest - stride : rest;
  VT_TRY(vt_dim_sub(r->dims, span, shift, &span, d));
  if (vt_dim_div(r->dims, span, stride, out, NULL) == VT_OK) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "axis %u of %s must be known: a stride of %lld does not divide it",
                 i + 2, vt_type_text(r->dims, &r->in[0], text), (long long)stride);
}

vt_status vt_window_count(const vt_rule *r, uint32_t i, const vt_window *w, int ceil, int64_t *out,
                          vt_diag *d) {
  char text[VT_TYPE_TEXT];
  const int64_t slack = w->low + w->high - vt_window_extent(w);
  int64_t span, steps, constant;
  VT_TRY(vt_dim_add(r->dims, r->in[0].dim[2 + i], slack, &span, d));
  VT_TRY(constant_part(r->dims, span, &constant, d));
  VT_TRY(divide_rounded(r, i, span, w->stride, ceil, &steps, d));
  if (!vt_dim_is_symbolic(steps) && steps < -1)
    return VT_FAIL(d, VT_VERIFY, "a kernel of %lld does not fit axis %u of %s",
                   (long long)vt_window_extent(w), i + 2, vt_type_text(r->dims, &r->in[0], text));
  /* How far the last window starts beyond I + low, where I is the length of the axis; negative if
   * it starts before. */
  const int64_t over = slack - w->low + remainder_of(-constant, w->stride);
  if (ceil && over >= 0 && (vt_dim_is_symbolic(steps) || steps >= 0))
    VT_TRY(vt_dim_sub(r->dims, steps, 1, &steps, d));
  return vt_dim_add(r->dims, steps, 1, out, d);
}
