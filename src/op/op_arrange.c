/* SPDX-License-Identifier: Apache-2.0
 * op_arrange.c - movement compositions of the prims of op_move.c: tile, flip, roll, triu, tril,
 * diag. Each composition is written twice: as ops (the definition) and as a kernel (the second
 * implementation). In formulas dy is the gradient of the result, dx that of x, and S the ordered
 * sum of docs/numerics.md. */
#include <string.h>
#include "op_move.h"
#include "vt_num.h"

/* ---- tile: y[i] = x[i mod d] ---- */

vt_status shape_tile(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_attr_list *repeats = &((const vt_attr_tile *)r->attrs)->repeats;
  if (repeats->n != (int64_t)r->in[0].rank)
    return VT_FAIL(d, VT_VERIFY, "repeats has %lld entries, the operand has rank %u",
                   (long long)repeats->n, r->in[0].rank);
  *out = r->in[0];
  for (uint32_t i = 0; i < out->rank; i++) {
    const int64_t n = repeats->v[i];
    if (!vt_dim_is_symbolic(n) && (n < 0 || n > VT_DIM_MAX))
      return VT_FAIL(d, VT_VERIFY, "axis %u: %lld repeats: expected 0..2^40", i, (long long)n);
    VT_TRY(vt_dim_mul(r->dims, out->dim[i], n, &out->dim[i], d));
  }
  return VT_OK;
}

/* Whether the result of a tile is empty: an axis of x has length 0 or is repeated 0 times. The
 * other axes may then have any length. */
static int is_tile_empty(const vt_type *x, const vt_attr_list *repeats) {
  int empty = 0;
  for (uint32_t i = 0; i < x->rank; i++) empty |= x->dim[i] == 0 || repeats->v[i] == 0;
  return empty;
}

/* Repeats x along one axis after the other, by a gather at the indices i mod d, where d is the
 * length of the axis in x. */
uint32_t lower_tile(const vt_lowering *l) {
  const vt_attr_list *repeats = &((const vt_attr_tile *)l->attrs)->repeats;
  vt_builder *b = l->b;
  vt_type x;
  if (!vt_build_read_type(b, l->in[0], &x)) return VT_NO_VALUE;
  if (is_tile_empty(&x, repeats)) {
    for (uint32_t i = 0; i < x.rank; i++) x.dim[i] *= repeats->v[i];
    return vt_build_full(b, x.dtype, 0.0, &x);
  }
  uint32_t y = vt_build_reshape(b, l->in[0], x.rank, x.dim);
  for (uint32_t i = 0; i < x.rank; i++) {
    if (repeats->v[i] == 1) continue;
    const vt_attr_gather a = {.size = sizeof a, .axis = i};
    const uint32_t count = vt_build_iota(b, 1, 0, x.dim[i] * repeats->v[i]);
    const uint32_t in[2] = {
        y, vt_build2(b, VT_OP_mod, count, vt_build_int(b, VT_DTYPE_I64, x.dim[i]))};
    y = b->node(b, VT_OP_gather, in, 2, &a);
  }
  return y;
}

/* Second implementation: element by element. */
vt_status kernel_tile(vt_kernel *k) {
  const vt_view *x = &k->in[0];
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype);
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  for (int64_t n = 0; n < w.count; n++, vt_walk_next(&w)) {
    int64_t from = 0;
    for (uint32_t i = 0; i < x->rank; i++) from += w.index[i] % x->dim[i] * x->stride[i];
    memcpy((char *)k->out->data + w.at[0] * size, (const char *)x->data + from * size,
           (size_t)size);
  }
  return VT_OK;
}

/* dx is S over all repeats of an element, as one axis. dy has the axes (r0, d0, r1, d1, ...): the
 * repeats and the length of each axis of x. The loop moves the axes of repeats to the front, each
 * directly behind those that are in front already, so that every transpose has only four axes. */
void grad_tile(const vt_gradient *g) {
  const vt_attr_list *repeats = &((const vt_attr_tile *)g->attrs)->repeats;
  static const uint32_t forward[4] = {0, 2, 1, 3};
  vt_builder *b = g->b;
  vt_type x;
  if (!vt_build_read_type(b, g->in[0], &x)) return;
  if (is_tile_empty(&x, repeats)) { /* x or the result is empty, and an empty sum is +0 */
    g->d_in[0] = vt_build_full(b, x.dtype, 0.0, &x);
    return;
  }
  uint32_t dy = g->d_out[0];
  int64_t front = 1; /* product of the axes of repeats that are in front already */
  for (uint32_t i = 0; i < x.rank; i++) {
    if (repeats->v[i] == 1) continue;
    const int64_t behind = vt_count_elements(x.dim + i, x.rank - i);
    const int64_t later = vt_count_elements(repeats->v + i + 1, x.rank - i - 1);
    const int64_t dim[4] = {front, vt_count_elements(x.dim, i), repeats->v[i],
                            vt_count_elements((int64_t[]){behind, later}, 2)};
    dy = vt_build_transpose(b, vt_build_reshape(b, dy, 4, dim), forward, 4);
    front = vt_count_elements((int64_t[]){front, repeats->v[i]}, 2);
  }
  if (front != 1) {
    dy = vt_build_reshape(b, dy, 2, (int64_t[]){front, vt_count_elements(x.dim, x.rank)});
    dy = vt_build_reduce(b, VT_OP_sum, dy, 0, 0);
  }
  g->d_in[0] = vt_build_reshape(b, dy, x.rank, x.dim);
}

/* ---- flip: y[i] = x[d-1-i] ---- */

static unsigned axes_mask_or_all(const vt_attr_list *axes, uint32_t rank) {
  unsigned mask = axes->n == 0 ? (1u << rank) - 1 : 0;
  for (int64_t i = 0; i < axes->n; i++) mask |= 1u << axes->v[i];
  return mask;
}

static vt_status check_axes(const vt_rule *r, const vt_attr_list *axes, vt_diag *d) {
  char x[VT_TYPE_TEXT];
  unsigned seen = 0;
  if (axes->n < 0 || axes->n > VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "%lld axes: at most %d", (long long)axes->n, VT_MAX_RANK);
  for (int64_t i = 0; i < axes->n; i++) {
    if (axes->v[i] < 0 || axes->v[i] >= (int64_t)r->in[0].rank)
      return VT_FAIL(d, VT_VERIFY, "axis %lld does not exist in %s", (long long)axes->v[i],
                     vt_type_text(r->dims, &r->in[0], x));
    if (seen >> axes->v[i] & 1)
      return VT_FAIL(d, VT_VERIFY, "axis %lld is named twice", (long long)axes->v[i]);
    seen |= 1u << axes->v[i];
  }
  return VT_OK;
}

vt_status shape_flip(const vt_rule *r, vt_type *out, vt_diag *d) {
  VT_TRY(check_axes(r, &((const vt_attr_axes *)r->attrs)->axes, d));
  *out = r->in[0];
  return VT_OK;
}

uint32_t lower_flip(const vt_lowering *l) {
  vt_builder *b = l->b;
  vt_type x;
  if (!vt_build_read_type(b, l->in[0], &x)) return VT_NO_VALUE;
  const unsigned mask = axes_mask_or_all(&((const vt_attr_axes *)l->attrs)->axes, x.rank);
  uint32_t y = vt_build_reshape(b, l->in[0], x.rank, x.dim);
  for (uint32_t i = 0; i < x.rank; i++) {
    if (!(mask >> i & 1)) continue;
    const vt_attr_gather a = {.size = sizeof a, .axis = i};
    const uint32_t last = vt_build_int(b, VT_DTYPE_I64, x.dim[i] - 1);
    const uint32_t in[2] = {y, vt_build2(b, VT_OP_sub, last, vt_build_iota(b, 1, 0, x.dim[i]))};
    y = b->node(b, VT_OP_gather, in, 2, &a);
  }
  return y;
}

/* Second implementation: copies x through a view with negative strides. */
vt_status kernel_flip(vt_kernel *k) {
  const unsigned mask = axes_mask_or_all(&((const vt_attr_axes *)k->attrs)->axes, k->out->rank);
  vt_view flipped = k->in[0];
  if (vt_view_count(k->out) == 0) return VT_OK;
  for (uint32_t i = 0; i < flipped.rank; i++)
    if (mask >> i & 1) {
      flipped = vt_view_slice(&flipped, i, flipped.dim[i] - 1, flipped.dim[i]);
      flipped.stride[i] = -flipped.stride[i];
    }
  vt_view_copy(k->out, &flipped);
  return VT_OK;
}

void grad_flip(const vt_gradient *g) {
  g->d_in[0] = g->b->node(g->b, VT_OP_flip, g->d_out, 1, g->attrs);
}

/* ---- roll: y[i] = x[(i - shift) mod d] ---- */

/* The shift modulo the length of the axis, in 0 .. length-1; 0 if the length is 0. */
static int64_t wrap_shift(int64_t shift, int64_t length) {
  if (length == 0) return 0;
  return shift % length < 0 ? shift % length + length : shift % length;
}

vt_status shape_roll(const vt_rule *r, vt_type *out, vt_diag *d) {
  const int64_t axis = ((const vt_attr_roll *)r->attrs)->axis;
  const vt_attr_list axes = {.n = 1, .v = {axis}};
  VT_TRY(check_axes(r, &axes, d));
  *out = r->in[0];
  return VT_OK;
}

uint32_t lower_roll(const vt_lowering *l) {
  const vt_attr_roll *a = l->attrs;
  const uint32_t axis = (uint32_t)a->axis;
  const vt_attr_axis along = {.size = sizeof along, .axis = a->axis};
  vt_type x;
  if (!vt_build_read_type(l->b, l->in[0], &x)) return VT_NO_VALUE;
  const int64_t d = x.dim[axis], cut = d - wrap_shift(a->shift, d);
  uint32_t in[2];
  in[0] = vt_build_slice(l->b, l->in[0], axis, cut, d);
  in[1] = vt_build_slice(l->b, l->in[0], axis, 0, cut);
  return l->b->node(l->b, VT_OP_concat, in, 2, &along);
}

/* Second implementation: element by element. */
vt_status kernel_roll(vt_kernel *k) {
  const vt_attr_roll *a = k->attrs;
  const vt_view *x = &k->in[0];
  const int64_t size = (int64_t)vt_dtype_bytes(x->dtype), d = x->dim[a->axis];
  vt_walk w;
  vt_walk_init(&w, x->rank, x->dim);
  vt_walk_view(&w, x);
  for (int64_t n = 0; n < w.count; n++, vt_walk_next(&w)) {
    int64_t to = 0;
    for (uint32_t i = 0; i < x->rank; i++) {
      const int64_t at = i == a->axis ? (w.index[i] + a->shift % d + d) % d : w.index[i];
      to += at * k->out->stride[i];
    }
    memcpy((char *)k->out->data + to * size, (const char *)x->data + w.at[0] * size, (size_t)size);
  }
  return VT_OK;
}

void grad_roll(const vt_gradient *g) {
  vt_attr_roll back = *(const vt_attr_roll *)g->attrs;
  vt_type x;
  if (!vt_build_read_type(g->b, g->in[0], &x)) return;
  back.shift = -wrap_shift(back.shift, x.dim[back.axis]);
  g->d_in[0] = g->b->node(g->b, VT_OP_roll, g->d_out, 1, &back);
}

/* ---- triu and tril ---- */

vt_status shape_triangle(const vt_rule *r, vt_type *out, vt_diag *d) {
  char x[VT_TYPE_TEXT];
  if (r->in[0].rank < 2)
    return VT_FAIL(d, VT_VERIFY, "%s has rank below 2, so it holds no matrices",
                   vt_type_text(r->dims, &r->in[0], x));
  *out = r->in[0];
  return VT_OK;
}

/* Keeps x[i, j] where compare(j - i, k) holds and writes +0 elsewhere. Neither j - i nor k can
 * overflow. */
static uint32_t lower_triangle(const vt_lowering *l, uint32_t compare) {
  vt_builder *b = l->b;
  vt_type x;
  if (!vt_build_read_type(b, l->in[0], &x)) return VT_NO_VALUE;
  const uint32_t j = vt_build_iota(b, 2, 1, x.dim[x.rank - 1]);
  const uint32_t i = vt_build_iota(b, 2, 0, x.dim[x.rank - 2]);
  const uint32_t k = vt_build_int(b, VT_DTYPE_I64, ((const vt_attr_diagonal *)l->attrs)->k);
  const uint32_t kept = vt_build2(b, compare, vt_build2(b, VT_OP_sub, j, i), k);
  return vt_build3(b, VT_OP_select, kept, l->in[0],
                   vt_build_scalar_of_same_dtype(b, l->in[0], 0.0));
}

uint32_t lower_triu(const vt_lowering *l) { return lower_triangle(l, VT_OP_ge); }
uint32_t lower_tril(const vt_lowering *l) { return lower_triangle(l, VT_OP_le); }

/* Second implementation of triu (`upper`) and tril: copies the elements of the triangle and fills
 * the others with zero bytes, which are +0 in every type. */
static vt_status copy_triangle(vt_kernel *k, int upper) {
  const int64_t diagonal = ((const vt_attr_diagonal *)k->attrs)->k;
  const int64_t size = (int64_t)vt_dtype_bytes(k->out->dtype);
  const uint32_t last = k->out->rank - 1;
  vt_walk w;
  vt_walk_init(&w, k->out->rank, k->out->dim);
  vt_walk_view(&w, k->out);
  vt_walk_view(&w, &k->in[0]);
  for (int64_t n = 0; n < w.count; n++, vt_walk_next(&w)) {
    const int64_t off = w.index[last] - w.index[last - 1];
    char *y = (char *)k->out->data + w.at[0] * size;
    if (upper ? off >= diagonal : off <= diagonal) {
      memcpy(y, (const char *)k->in[0].data + w.at[1] * size, (size_t)size);
    } else {
      memset(y, 0, (size_t)size);
    }
  }
  return VT_OK;
}

vt_status kernel_triu(vt_kernel *k) { return copy_triangle(k, 1); }
vt_status kernel_tril(vt_kernel *k) { return copy_triangle(k, 0); }

void grad_triu(const vt_gradient *g) {
  g->d_in[0] = g->b->node(g->b, VT_OP_triu, g->d_out, 1, g->attrs);
}

void grad_tril(const vt_gradient *g) {
  g->d_in[0] = g->b->node(g->b, VT_OP_tril, g->d_out, 1, g->attrs);
}

/* ---- diag: from a matrix to its diagonal j - i = k, and from a vector to the matrix ---- */

static int64_t diagonal_offset(const void *attrs) { return ((const vt_attr_diagonal *)attrs)->k; }

/* Checks that a matrix has at most 2^40 elements, because the decomposition reshapes it to one
 * axis. */
static vt_status check_matrix_size(const vt_rule *r, const vt_type *matrix, vt_diag *d) {
  char text[VT_TYPE_TEXT];
  int64_t all;
  if (vt_dim_is_symbolic(matrix->dim[0]) || vt_dim_is_symbolic(matrix->dim[1])) return VT_OK;
  if (vt_i64_mul(matrix->dim[0], matrix->dim[1], &all) && all <= VT_DIM_MAX) return VT_OK;
  return VT_FAIL(d, VT_LIMIT, "the matrix %s has more than 2^40 elements",
                 vt_type_text(r->dims, matrix, text));
}

static vt_status diagonal_length(const vt_rule *r, int64_t k, int64_t *out, vt_diag *d) {
  const vt_type *x = &r->in[0];
  const int64_t m = x->dim[0], n = x->dim[1], off = k < 0 ? -k : k;
  char text[VT_TYPE_TEXT];
  if (m == n && vt_dim_is_symbolic(m)) return vt_dim_sub(r->dims, m, off, out, d);
  if (vt_dim_is_symbolic(m) || vt_dim_is_symbolic(n))
    return VT_FAIL(d, VT_VERIFY,
                   "the length of the diagonal of %s is not known: its symbolic sides differ",
                   vt_type_text(r->dims, x, text));
  const int64_t rows = k < 0 ? m - off : m, columns = k < 0 ? n : n - off;
  if (rows < 0 || columns < 0)
    return VT_FAIL(d, VT_VERIFY, "diagonal %lld is outside of %s", (long long)k,
                   vt_type_text(r->dims, x, text));
  *out = rows < columns ? rows : columns;
  return VT_OK;
}

vt_status shape_diag(const vt_rule *r, vt_type *out, vt_diag *d) {
  const vt_type *x = &r->in[0];
  const int64_t k = diagonal_offset(r->attrs);
  char text[VT_TYPE_TEXT];
  if (k < -VT_DIM_MAX || k > VT_DIM_MAX)
    return VT_FAIL(d, VT_VERIFY, "k=%lld: expected -2^40..2^40", (long long)k);
  if (x->rank != 1 && x->rank != 2)
    return VT_FAIL(d, VT_VERIFY, "%s is neither a vector nor a matrix",
                   vt_type_text(r->dims, x, text));
  *out = (vt_type){.dtype = x->dtype, .rank = 3 - x->rank};
  if (x->rank == 2) VT_TRY(check_matrix_size(r, x, d));
  if (x->rank == 2) return diagonal_length(r, k, &out->dim[0], d);
  VT_TRY(vt_dim_add(r->dims, x->dim[0], k < 0 ? -k : k, &out->dim[0], d));
  out->dim[1] = out->dim[0];
  return check_matrix_size(r, out, d);
}

/* The row-major positions of diagonal k in a matrix with that many columns, as a vector of `length`
 * elements. */
static uint32_t diagonal_positions(vt_builder *b, int64_t length, int64_t columns, int64_t k) {
  const uint32_t count = vt_build_iota(b, 1, 0, length);
  const uint32_t step = vt_build_int(b, VT_DTYPE_I64, columns + 1);
  const uint32_t at = vt_build2(b, VT_OP_mul, count, step);
  return vt_build2(b, VT_OP_add, at, vt_build_int(b, VT_DTYPE_I64, k < 0 ? -k * columns : k));
}

/* A matrix with x on its diagonal k and +0 elsewhere. */
static uint32_t build_matrix_from_diagonal(vt_builder *b, uint32_t x, const vt_type *matrix,
                                           int64_t k) {
  vt_type t;
  if (!vt_build_read_type(b, x, &t)) return VT_NO_VALUE;
  const vt_type line = {.dtype = t.dtype, .rank = 1, .dim = {vt_count_elements(matrix->dim, 2)}};
  const uint32_t zeros = vt_build_full(b, t.dtype, 0.0, &line);
  const uint32_t places = diagonal_positions(b, t.dim[0], matrix->dim[1], k);
  return vt_build_reshape(b, vt_build3(b, VT_OP_scatter, zeros, places, x), 2, matrix->dim);
}

uint32_t lower_diag(const vt_lowering *l) {
  const int64_t k = diagonal_offset(l->attrs);
  vt_type x, y = {0};
  if (!vt_build_read_type(l->b, l->in[0], &x)) return VT_NO_VALUE;
  const vt_rule r = {.dims = l->b->dims, .in = &x, .n_in = 1, .attrs = l->attrs};
  if (shape_diag(&r, &y, NULL) != VT_OK) return VT_NO_VALUE;
  if (x.rank == 1) return build_matrix_from_diagonal(l->b, l->in[0], &y, k);
  const int64_t all = vt_count_elements(x.dim, 2);
  const uint32_t line = vt_build_reshape(l->b, l->in[0], 1, &all);
  return vt_build2(l->b, VT_OP_gather, line, diagonal_positions(l->b, y.dim[0], x.dim[1], k));
}

/* Diagonal k of a matrix as a view, for the second implementation: its stride is that of a row and
 * of a column together. */
static vt_view diagonal_view(const vt_view *matrix, int64_t length, int64_t k) {
  vt_view v = vt_view_slice(matrix, k < 0 ? 0 : 1, k < 0 ? -k : k, length);
  v.rank = 1;
  v.dim[0] = length;
  v.stride[0] = matrix->stride[0] + matrix->stride[1];
  return v;
}

vt_status kernel_diag(vt_kernel *k) {
  const int64_t off = diagonal_offset(k->attrs), size = (int64_t)vt_dtype_bytes(k->out->dtype);
  if (k->in[0].rank == 2) {
    const vt_view from = diagonal_view(&k->in[0], k->out->dim[0], off);
    vt_view_copy(k->out, &from);
    return VT_OK;
  }
  vt_walk w;
  vt_walk_init(&w, 2, k->out->dim);
  vt_walk_view(&w, k->out);
  for (int64_t n = 0; n < w.count; n++, vt_walk_next(&w))
    memset((char *)k->out->data + w.at[0] * size, 0, (size_t)size);
  const vt_view to = diagonal_view(k->out, k->in[0].dim[0], off);
  vt_view_copy(&to, &k->in[0]);
  return VT_OK;
}

void grad_diag(const vt_gradient *g) {
  vt_type x;
  if (!vt_build_read_type(g->b, g->in[0], &x)) return;
  g->d_in[0] = x.rank == 2
                   ? build_matrix_from_diagonal(g->b, g->d_out[0], &x, diagonal_offset(g->attrs))
                   : g->b->node(g->b, VT_OP_diag, g->d_out, 1, g->attrs);
}
