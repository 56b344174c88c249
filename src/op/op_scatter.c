/* SPDX-License-Identifier: Apache-2.0
 * op_scatter.c - scatters write rows of updates to the destinations that an index names: the
 * rules of the whole family, and the prims whose index holds coordinates. Several updates of one
 * destination are combined in ascending row-major position, whatever the order of the
 * computation. A row is the elements of the updates along the axes R, for one line of
 * coordinates.
 *
 *     base (B..., D..., R...), index (B..., I..., depth), updates (B..., I..., R...) */
#include <string.h>
#include "op_move.h"
#include "vt_num.h"

/* ---- rules ---- */

vt_status check_scatter(const vt_rule *r, vt_diag *d) {
  char base[VT_TYPE_TEXT], updates[VT_TYPE_TEXT];
  VT_TRY(check_gather(r, d));
  if (r->in[2].dtype == r->in[0].dtype) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "operand 3 is %s where operand 1 is %s: write a cast",
                 vt_type_text(r->dims, &r->in[2], updates), vt_type_text(r->dims, &r->in[0], base));
}

vt_status check_scatter_number(const vt_rule *r, vt_diag *d) {
  const vt_rule base = {.dims = r->dims, .in = r->in, .n_in = 1, .attrs = r->attrs};
  VT_TRY(check_number(&base, d));
  return check_scatter(r, d);
}

/* Checks that the updates have the type that the gather with the same index, whose shape rule is
 * `gather_shape`, would return. */
static vt_status scatter_shape(const vt_rule *r, vt_shape_fn *gather_shape, vt_type *out,
                               vt_diag *d) {
  char updates[VT_TYPE_TEXT], expected[VT_TYPE_TEXT];
  vt_type want = {0};
  VT_TRY(gather_shape(r, &want, d));
  if (!vt_type_equal(&want, &r->in[2]))
    return VT_FAIL(d, VT_VERIFY, "the updates are %s, expected %s",
                   vt_type_text(r->dims, &r->in[2], updates),
                   vt_type_text(r->dims, &want, expected));
  *out = r->in[0];
  return VT_OK;
}

vt_status shape_scatter(const vt_rule *r, vt_type *out, vt_diag *d) {
  return scatter_shape(r, shape_gather, out, d);
}

vt_status shape_scatter_nd(const vt_rule *r, vt_type *out, vt_diag *d) {
  return scatter_shape(r, shape_gather_nd, out, d);
}

vt_status shape_scatter_elements(const vt_rule *r, vt_type *out, vt_diag *d) {
  return scatter_shape(r, shape_gather_elements, out, d);
}

/* ---- rows by destination ---- */

typedef struct row { /* a row of updates: the offset of its destination in the result and its own
                        offset in the updates */
  int64_t to, from;
} row;

/* The scratch bytes for all rows twice, because the sort merges from one array into another. */
uint64_t scratch_scatter_nd(const vt_view *in, uint32_t n_in) {
  (void)n_in;
  if (vt_view_count(&in[2]) == 0) return 0;
  const vt_view rows = vt_view_drop_axis(&in[1], in[1].rank - 1);
  return 2 * sizeof(row) * (uint64_t)vt_view_count(&rows);
}

static int64_t find_rows(const vt_kernel *k, uint32_t batch, row *rows) {
  const vt_view *index = &k->in[1], *y = k->out;
  const uint32_t last = index->rank - 1;
  const vt_view lead = vt_view_drop_axis(index, last);
  const vt_view from = vt_view_pick_axes(&k->in[2], (1u << last) - 1);
  vt_walk w;
  vt_walk_init(&w, lead.rank, lead.dim);
  vt_walk_view(&w, &lead);
  vt_walk_view(&w, &from);
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w)) {
    int64_t to = 0;
    for (uint32_t b = 0; b < batch; b++) to += w.index[b] * y->stride[b];
    for (int64_t c = 0; c < index->dim[last]; c++)
      to += vt_load_int(index->data, index->dtype, w.at[0] + c * index->stride[last]) *
            y->stride[batch + c];
    rows[i] = (row){to, w.at[1]};
  }
  return w.count;
}

/* Sorts the rows by destination: merges sorted ranges of 1, 2, 4, ... rows between two arrays. Rows
 * with equal destinations keep their order. Returns the array that holds the result. */
static row *sort_rows(row *rows, row *other, int64_t n) {
  for (int64_t run = 1; run < n; run *= 2) {
    for (int64_t lo = 0; lo < n; lo += 2 * run) {
      const int64_t mid = n - lo > run ? lo + run : n, hi = n - mid > run ? mid + run : n;
      for (int64_t i = lo, j = mid, o = lo; o < hi; o++) {
        const int left = j >= hi || (i < mid && rows[i].to <= rows[j].to);
        other[o] = left ? rows[i++] : rows[j++];
      }
    }
    row *swap = rows;
    rows = other;
    other = swap;
  }
  return rows;
}

/* ---- one destination: *y holds base, u + r[i].from are the updates for it ---- */

typedef void combine_fn(uint32_t dtype, void *y, const void *u, const row *r, int64_t n);

static void combine_last(uint32_t dtype, void *y, const void *u, const row *r, int64_t n) {
  const size_t size = vt_dtype_bytes(dtype);
  memcpy(y, (const char *)u + r[n - 1].from * (int64_t)size, size);
}

static void combine_sum(uint32_t dtype, void *y, const void *u, const row *r, int64_t n) {
  if (dtype == VT_DTYPE_F32) {
    vt_sum_f32 s;
    vt_sum_f32_init(&s);
    for (int64_t i = 0; i < n; i++) vt_sum_f32_add(&s, ((const float *)u)[r[i].from]);
    *(float *)y = *(float *)y + vt_sum_f32_done(&s);
  } else if (dtype == VT_DTYPE_F64) {
    vt_sum_f64 s;
    vt_sum_f64_init(&s);
    for (int64_t i = 0; i < n; i++) vt_sum_f64_add(&s, ((const double *)u)[r[i].from]);
    *(double *)y = *(double *)y + vt_sum_f64_done(&s);
  } else {
    int64_t s = vt_load_int(y, dtype, 0);
    for (int64_t i = 0; i < n; i++) s = vt_i64_wrap_add(s, vt_load_int(u, dtype, r[i].from));
    vt_store_int(y, dtype, 0, s);
  }
}

typedef struct extreme { /* the functions for the maximum or the minimum of two numbers; NaN is
                            above all numbers, -0 below +0 */
  float (*f32)(float, float);
  double (*f64)(double, double);
  int greatest;
} extreme;

static void combine_extreme(uint32_t dtype, void *y, const void *u, const row *r, int64_t n,
                            const extreme *f) {
  for (int64_t i = 0; i < n; i++) {
    const int64_t at = r[i].from;
    if (dtype == VT_DTYPE_F32) {
      *(float *)y = f->f32(*(float *)y, ((const float *)u)[at]);
    } else if (dtype == VT_DTYPE_F64) {
      *(double *)y = f->f64(*(double *)y, ((const double *)u)[at]);
    } else {
      const int64_t a = vt_load_int(y, dtype, 0), b = vt_load_int(u, dtype, at);
      vt_store_int(y, dtype, 0, (f->greatest ? b > a : b < a) ? b : a);
    }
  }
}

static void combine_max(uint32_t dtype, void *y, const void *u, const row *r, int64_t n) {
  static const extreme f = {vt_f32_max, vt_f64_max, 1};
  combine_extreme(dtype, y, u, r, n, &f);
}

static void combine_min(uint32_t dtype, void *y, const void *u, const row *r, int64_t n) {
  static const extreme f = {vt_f32_min, vt_f64_min, 0};
  combine_extreme(dtype, y, u, r, n, &f);
}

/* ---- the prims ---- */

/* Combines the rows r[0 .. n-1], which all have the same destination, element by element. */
static void combine_rows(const vt_kernel *k, vt_walk inner, const row *r, int64_t n,
                         combine_fn *combine) {
  const uint32_t dtype = k->out->dtype;
  const int64_t size = (int64_t)vt_dtype_bytes(dtype);
  for (int64_t i = 0; i < inner.count; i++, vt_walk_next(&inner))
    combine(dtype, (char *)k->out->data + (r->to + inner.at[0]) * size,
            (const char *)k->in[2].data + inner.at[1] * size, r, n);
}

static vt_status run_scatter(vt_kernel *k, combine_fn *combine) {
  const uint32_t batch = (uint32_t)((const vt_attr_gather_nd *)k->attrs)->batch;
  const vt_view *index = &k->in[1], *updates = &k->in[2];
  VT_TRY(vt_check_coordinates(k, batch));
  if (k->out->data != k->in[0].data) vt_view_copy(k->out, &k->in[0]); /* else it is in place */
  if (vt_view_count(updates) == 0) return VT_OK;
  const uint32_t depth = (uint32_t)index->dim[index->rank - 1];
  const vt_view to = vt_view_pick_axes(k->out, ~0u << (batch + depth));
  const vt_view from = vt_view_pick_axes(updates, ~0u << (index->rank - 1));
  vt_walk inner;
  vt_walk_init(&inner, to.rank, to.dim);
  vt_walk_view(&inner, &to);
  vt_walk_view(&inner, &from);
  row *rows = k->work;
  const int64_t n = find_rows(k, batch, rows);
  rows = sort_rows(rows, rows + n, n);
  for (int64_t i = 0, j = 0; i < n; i = j) {
    while (j < n && rows[j].to == rows[i].to) j++;
    combine_rows(k, inner, rows + i, j - i, combine);
  }
  return VT_OK;
}

vt_status kernel_scatter_nd(vt_kernel *k) { return run_scatter(k, combine_last); }
vt_status kernel_scatter_nd_add(vt_kernel *k) { return run_scatter(k, combine_sum); }
vt_status kernel_scatter_nd_max(vt_kernel *k) { return run_scatter(k, combine_max); }
vt_status kernel_scatter_nd_min(vt_kernel *k) { return run_scatter(k, combine_min); }
