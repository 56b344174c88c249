/* SPDX-License-Identifier: Apache-2.0
 * op_sort.c - sorting in the one order along an axis: sort, argsort, top_k; and nonzero, which
 * lists positions. Equal values keep their order, so every result is determined. The one order
 * is the total order of numbers: -0 < +0, and NaN is the greatest. A line is the elements along
 * the axis. dy is the gradient of the sorted values. */
#include <string.h>
#include "op_move.h"
#include "vt_num.h"

/* ---- rules ---- */

static vt_status check_axis(const vt_rule *r, int64_t axis, vt_diag *d) {
  char x[VT_TYPE_TEXT];
  if (axis >= 0 && axis < (int64_t)r->in[0].rank) return VT_OK;
  return VT_FAIL(d, VT_VERIFY, "axis %lld does not exist in %s", (long long)axis,
                 vt_type_text(r->dims, &r->in[0], x));
}

vt_status shape_sort(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(check_axis(r, ((const vt_attr_sort *)r->attrs)->axis, d));
  out[0] = out[1] = r->in[0];
  out[1].dtype = VT_DTYPE_I64;
  return VT_OK;
}

vt_status shape_argsort(const vt_rule *r, vt_type *out, vt_diag *d) {
  vt_type both[2];
  VT_TRY(shape_sort(r, both, d));
  *out = both[1];
  return VT_OK;
}

vt_status shape_top_k(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_top_k *a = r->attrs;
  char x[VT_TYPE_TEXT];
  VT_TRY(check_axis(r, a->axis, d));
  const int64_t length = r->in[0].dim[a->axis];
  if (!vt_dim_is_symbolic(a->k) &&
      (a->k < 0 || a->k > VT_DIM_MAX || (!vt_dim_is_symbolic(length) && a->k > length)))
    return VT_FAIL(d, VT_VERIFY, "k=%lld of axis %lld of %s: expected 0 to its length",
                   (long long)a->k, (long long)a->axis, vt_type_text(r->dims, &r->in[0], x));
  out[0] = r->in[0];
  out[0].dim[a->axis] = a->k;
  out[1] = out[0];
  out[1].dtype = VT_DTYPE_I64;
  return VT_OK;
}

vt_status shape_nonzero(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t bound = ((const vt_attr_nonzero *)r->attrs)->bound;
  if (!vt_dim_is_symbolic(bound) && (bound < 0 || bound > VT_DIM_MAX))
    return VT_FAIL(d, VT_VERIFY, "bound=%lld is outside 0..2^40", (long long)bound);
  out[0] = (vt_type){.dtype = VT_DTYPE_I64, .rank = 2, .dim = {bound, r->in[0].rank}};
  out[1] = (vt_type){.dtype = VT_DTYPE_I64};
  return VT_OK;
}

/* ---- lines of a tensor ---- */

typedef struct line { /* one line of x; `at` is the offset of its first element */
  const vt_view *x;
  int64_t at, stride, n;
  int descending;
} line;

int vt_view_is_above(const vt_view *x, int64_t p, int64_t q) {
  if (x->dtype == VT_DTYPE_F32)
    return vt_f32_above(((const float *)x->data)[p], ((const float *)x->data)[q]);
  if (x->dtype == VT_DTYPE_F64)
    return vt_f64_above(((const double *)x->data)[p], ((const double *)x->data)[q]);
  return vt_load_int(x->data, x->dtype, p) > vt_load_int(x->data, x->dtype, q);
}

/* Whether element i of a line must come before element j. If they are equal, neither must come
 * before the other. */
static int precedes(const line *l, int64_t i, int64_t j) {
  const int64_t p = l->at + i * l->stride, q = l->at + j * l->stride;
  return l->descending ? vt_view_is_above(l->x, p, q) : vt_view_is_above(l->x, q, p);
}

static line line_of(const vt_view *x, int64_t axis, int descending) {
  return (line){.x = x, .stride = x->stride[axis], .n = x->dim[axis], .descending = descending};
}

/* Starts a walk over all lines, along the axes other than `axis`; its views are operand 0 and the
 * first n_out results. */
static vt_walk walk_other_axes(const vt_kernel *k, uint32_t axis, uint32_t n_out) {
  const vt_view x = vt_view_drop_axis(&k->in[0], axis);
  vt_walk w;
  vt_walk_init(&w, x.rank, x.dim);
  vt_walk_view(&w, &x);
  for (uint32_t i = 0; i < n_out; i++) {
    const vt_view y = vt_view_drop_axis(&k->out[i], axis);
    vt_walk_view(&w, &y);
  }
  return w;
}

/* ---- sort: runs of 1, 2, 4, ... merged between two arrays of indices ---- */

uint64_t scratch_sort(const vt_view *in, uint32_t n_in) {
  int64_t longest = 0;
  (void)n_in;
  for (uint32_t i = 0; i < in[0].rank; i++)
    if (in[0].dim[i] > longest) longest = in[0].dim[i];
  return vt_view_count(&in[0]) == 0 ? 0 : 2 * sizeof(int64_t) * (uint64_t)longest;
}

static void merge_runs(const line *l, const int64_t *from, int64_t *to, int64_t run) {
  for (int64_t lo = 0; lo < l->n; lo += 2 * run) {
    const int64_t mid = l->n - lo > run ? lo + run : l->n;
    const int64_t hi = l->n - mid > run ? mid + run : l->n;
    for (int64_t i = lo, j = mid, o = lo; o < hi; o++) {
      const int right = i >= mid || (j < hi && precedes(l, from[j], from[i]));
      to[o] = right ? from[j++] : from[i++];
    }
  }
}

/* Sorts the indices 0 .. n-1 of a line by their elements. `work` is scratch for two lists of n
 * indices; returns the list that is sorted. */
static const int64_t *sort_line_indices(const line *l, int64_t *work) {
  int64_t *from = work, *to = work + l->n;
  for (int64_t i = 0; i < l->n; i++) from[i] = i;
  for (int64_t run = 1; run < l->n; run *= 2) {
    merge_runs(l, from, to, run);
    int64_t *swap = from;
    from = to;
    to = swap;
  }
  return from;
}

vt_status kernel_sort(vt_kernel *k) {
  const vt_attr_sort *a = k->attrs;
  const uint32_t axis = (uint32_t)a->axis;
  const vt_view *x = &k->in[0], *values = &k->out[0], *indices = &k->out[1];
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype);
  line l = line_of(x, axis, a->descending != 0);
  vt_walk w = walk_other_axes(k, axis, 2);
  for (int64_t n = 0; l.n > 0 && n < w.count; n++, vt_walk_next(&w)) {
    l.at = w.at[0];
    const int64_t *order = sort_line_indices(&l, k->work);
    for (int64_t i = 0; i < l.n; i++) {
      memcpy((char *)values->data + (w.at[1] + i * values->stride[axis]) * size,
             (const char *)x->data + (l.at + order[i] * l.stride) * size, (size_t)size);
      ((int64_t *)indices->data)[w.at[2] + i * indices->stride[axis]] = order[i];
    }
  }
  return VT_OK;
}

/* Builds dx: zeros into which dy of each sorted value is scattered, to the position that the value
 * had in x. */
static void scatter_dy_back(const vt_gradient *g, int64_t axis) {
  const vt_attr_axis a = {.size = sizeof a, .axis = axis};
  vt_type x, y;
  if (g->d_out[0] == VT_NO_VALUE || !vt_build_read_type(g->b, g->in[0], &x) ||
      !vt_build_read_type(g->b, g->d_out[0], &y))
    return;
  const uint32_t in[3] = {vt_build_full(g->b, y.dtype, 0.0, &x), g->out[1], g->d_out[0]};
  g->d_in[0] = g->b->node(g->b, VT_OP_scatter_elements, in, 3, &a);
}

void grad_sort(const vt_gradient *g) { scatter_dy_back(g, ((const vt_attr_sort *)g->attrs)->axis); }

void grad_top_k(const vt_gradient *g) {
  scatter_dy_back(g, ((const vt_attr_top_k *)g->attrs)->axis);
}

/* ---- ranking: a heap of the best so far, with the last of them at the top ---- */

typedef struct heap {
  vt_before_fn *before;
  const void *context;
  int64_t *at, stride, n;
} heap;

/* Puts `item` at the top of the heap, whose item was removed, and moves it down to its place. */
static void replace_heap_top(const heap *h, int64_t item) {
  int64_t i = 0;
  for (int64_t child = 1; child < h->n; child = 2 * i + 1) {
    if (child + 1 < h->n &&
        h->before(h->context, h->at[child * h->stride], h->at[(child + 1) * h->stride]))
      child++;
    if (h->before(h->context, h->at[child * h->stride], item)) break;
    h->at[i * h->stride] = h->at[child * h->stride];
    i = child;
  }
  h->at[i * h->stride] = item;
}

static void push_heap_item(heap *h, int64_t item) {
  int64_t i = h->n++;
  while (i > 0 && h->before(h->context, h->at[(i - 1) / 2 * h->stride], item)) {
    h->at[i * h->stride] = h->at[(i - 1) / 2 * h->stride];
    i = (i - 1) / 2;
  }
  h->at[i * h->stride] = item;
}

void vt_rank_best(vt_before_fn *before, const void *context, int64_t n, int64_t *at, int64_t stride,
                  int64_t k) {
  heap h = {before, context, at, stride, 0};
  for (int64_t i = 0; k > 0 && i < n; i++) {
    if (h.n < k) {
      push_heap_item(&h, i);
    } else if (before(context, i, at[0])) {
      replace_heap_top(&h, i);
    }
  }
  while (h.n > 1) { /* the item that ranks last moves from the top to the end, which then is no
                       longer part of the heap */
    const int64_t last = at[0], item = at[--h.n * stride];
    replace_heap_top(&h, item);
    at[h.n * stride] = last;
  }
}

/* The order of `precedes`; of two equal elements the one with the lower index comes first. */
static int is_ranked_before(const void *context, int64_t i, int64_t j) {
  const line *l = context;
  return precedes(l, i, j) || (i < j && !precedes(l, j, i));
}

/* ---- argsort ---- */

uint32_t lower_argsort(const vt_lowering *l) {
  const uint32_t values = l->b->node(l->b, VT_OP_sort, l->in, 1, l->attrs);
  return values == VT_NO_VALUE ? VT_NO_VALUE : values + 1;
}

/* Second implementation of argsort: the result itself holds the heap of indices. */
vt_status kernel_argsort(vt_kernel *k) {
  const vt_attr_sort *a = k->attrs;
  line l = line_of(&k->in[0], a->axis, a->descending != 0);
  vt_walk w = walk_other_axes(k, (uint32_t)a->axis, 1);
  for (int64_t n = 0; n < w.count; n++, vt_walk_next(&w)) {
    l.at = w.at[0];
    vt_rank_best(is_ranked_before, &l, l.n, (int64_t *)k->out->data + w.at[1],
                 k->out->stride[a->axis], l.n);
  }
  return VT_OK;
}

/* ---- top_k ---- */

uint32_t lower_top_k(const vt_lowering *l) {
  const vt_attr_top_k *a = l->attrs;
  const vt_attr_sort by = {.size = sizeof by, .axis = a->axis, .descending = !a->least};
  const uint32_t sorted = l->b->node(l->b, VT_OP_sort, l->in, 1, &by), axis = (uint32_t)a->axis;
  if (sorted == VT_NO_VALUE) return VT_NO_VALUE;
  l->out[1] = vt_build_slice(l->b, sorted + 1, axis, 0, a->k);
  return vt_build_slice(l->b, sorted, axis, 0, a->k);
}

/* Second implementation of top_k: a heap of the k indices that rank first so far; a whole line is
 * never stored. */
vt_status kernel_top_k(vt_kernel *k) {
  const vt_attr_top_k *a = k->attrs;
  const vt_view *x = &k->in[0], *values = &k->out[0], *indices = &k->out[1];
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype), step = indices->stride[a->axis];
  line l = line_of(x, a->axis, !a->least);
  vt_walk w = walk_other_axes(k, (uint32_t)a->axis, 2);
  for (int64_t n = 0; n < w.count; n++, vt_walk_next(&w)) {
    int64_t *best = (int64_t *)indices->data + w.at[2];
    l.at = w.at[0];
    vt_rank_best(is_ranked_before, &l, l.n, best, step, a->k);
    for (int64_t i = 0; i < a->k; i++)
      memcpy((char *)values->data + (w.at[1] + i * values->stride[a->axis]) * size,
             (const char *)x->data + (l.at + best[i * step] * l.stride) * size, (size_t)size);
  }
  return VT_OK;
}

/* ---- nonzero ---- */

vt_status kernel_nonzero(vt_kernel *k) {
  const vt_view *x = &k->in[0], *y = &k->out[0];
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype), bound = y->dim[0];
  int64_t count = 0, *places = y->data;
  vt_walk w;
  vt_walk_init(&w, x->rank, x->dim);
  vt_walk_view(&w, x);
  for (int64_t n = 0; n < w.count; n++, vt_walk_next(&w)) {
    /* whether the element is not 0, by a cast to bool: a NaN is not 0, and both zeros are */
    uint8_t is = 0;
    vt_cast((const char *)x->data + w.at[0] * size, 1, x->dtype, &is, 1, VT_DTYPE_BOOL, 1);
    if (is && count < bound)
      for (uint32_t i = 0; i < x->rank; i++)
        places[count * y->stride[0] + i * y->stride[1]] = w.index[i];
    count += is;
  }
  for (int64_t n = count; n < bound; n++)
    for (uint32_t i = 0; i < x->rank; i++) places[n * y->stride[0] + i * y->stride[1]] = -1;
  *(int64_t *)k->out[1].data = count;
  return VT_OK;
}
