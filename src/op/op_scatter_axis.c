/* SPDX-License-Identifier: Apache-2.0
 * op_scatter_axis.c - scatters along one axis: `scatter`, the opposite of gather, and
 * `scatter_elements`, the opposite of gather_elements. As ops (the definition) both use
 * scatter_nd. Their kernels (the second implementation) follow a chain, a linked list of the
 * updates of one destination, instead of sorting. A column is the set of elements whose
 * coordinates differ only along the axes of the index. */
#include <string.h>
#include "op_move.h"
#include "vt_num.h"

/* ---- scatter as ops ----
 * base (B..., M..., axis, R...), index (B..., I...) and updates (B..., M..., I..., R...) become (B,
 * axis, M*R), (B, I, 1) and (B, I, M*R). The index keeps its row-major order. */

typedef struct axis_order {
  vt_type base, index, updates;
  uint32_t axis, batch, inner; /* inner: number of axes of the index after its batch axes */
  uint32_t to[VT_MAX_RANK],
      back[VT_MAX_RANK]; /* to: permutation of base that moves its axis directly behind the batch
                            axes; back: its inverse */
  uint32_t from[VT_MAX_RANK]; /* permutation of updates that moves the axes I... directly behind the
                                 batch axes */
} axis_order;

static void compute_axis_permutations(axis_order *p) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < p->batch; i++) p->to[n++] = i;
  p->to[n++] = p->axis;
  for (uint32_t i = p->batch; i < p->base.rank; i++)
    if (i != p->axis) p->to[n++] = i;
  for (uint32_t i = 0; i < n; i++) p->back[p->to[i]] = i;
  n = 0;
  for (uint32_t i = 0; i < p->batch; i++) p->from[n++] = i;
  for (uint32_t i = 0; i < p->inner; i++) p->from[n++] = p->axis + i;
  for (uint32_t i = p->batch; i < p->updates.rank; i++)
    if (i < p->axis || i >= p->axis + p->inner) p->from[n++] = i;
}

static int read_scatter(const vt_lowering *l, axis_order *p) {
  const vt_attr_gather *a = l->attrs;
  if (!vt_build_read_type(l->b, l->in[0], &p->base) ||
      !vt_build_read_type(l->b, l->in[1], &p->index) ||
      !vt_build_read_type(l->b, l->in[2], &p->updates))
    return 0;
  p->axis = (uint32_t)a->axis;
  p->batch = (uint32_t)a->batch;
  p->inner = p->index.rank - p->batch;
  compute_axis_permutations(p);
  return 1;
}

static uint32_t lower_scatter_along_axis(const vt_lowering *l, uint32_t op) {
  const vt_attr_gather_nd by_batch = {.size = sizeof by_batch, .batch = 1};
  vt_builder *b = l->b;
  axis_order p;
  if (!read_scatter(l, &p)) return VT_NO_VALUE;
  int64_t moved[VT_MAX_RANK] = {0};
  for (uint32_t i = 0; i < p.base.rank; i++) moved[i] = p.base.dim[p.to[i]];
  const int64_t batch = vt_count_elements(moved, p.batch), axis = moved[p.batch];
  const int64_t rest = vt_count_elements(moved + p.batch + 1, p.base.rank - p.batch - 1);
  const int64_t rows = vt_count_elements(p.index.dim + p.batch, p.inner);
  const uint32_t base = vt_build_transpose(b, l->in[0], p.to, p.base.rank);
  const uint32_t updates = vt_build_transpose(b, l->in[2], p.from, p.updates.rank);
  uint32_t in[3];
  in[0] = vt_build_reshape(b, base, 3, (int64_t[]){batch, axis, rest});
  in[1] = vt_build_reshape(b, l->in[1], 3, (int64_t[]){batch, rows, 1});
  in[2] = vt_build_reshape(b, updates, 3, (int64_t[]){batch, rows, rest});
  const uint32_t y = b->node(b, op, in, 3, &by_batch);
  return vt_build_transpose(b, vt_build_reshape(b, y, p.base.rank, moved), p.back, p.base.rank);
}

uint32_t lower_scatter(const vt_lowering *l) {
  return lower_scatter_along_axis(l, VT_OP_scatter_nd);
}
uint32_t lower_scatter_add(const vt_lowering *l) {
  return lower_scatter_along_axis(l, VT_OP_scatter_nd_add);
}
uint32_t lower_scatter_max(const vt_lowering *l) {
  return lower_scatter_along_axis(l, VT_OP_scatter_nd_max);
}
uint32_t lower_scatter_min(const vt_lowering *l) {
  return lower_scatter_along_axis(l, VT_OP_scatter_nd_min);
}

/* ---- scatter_elements as ops: base is flattened, and each update has a position in it ---- */

static uint32_t lower_scatter_of_elements(const vt_lowering *l, uint32_t op) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)l->attrs)->axis;
  vt_builder *b = l->b;
  vt_type base, index;
  if (!vt_build_read_type(b, l->in[0], &base) || !vt_build_read_type(b, l->in[1], &index))
    return VT_NO_VALUE;
  const int64_t all = vt_count_elements(base.dim, base.rank),
                n = vt_count_elements(index.dim, index.rank);
  const uint32_t at = vt_build_gather_elements_positions(b, &base, l->in[1], axis);
  const uint32_t line = vt_build_reshape(b, l->in[0], 1, &all);
  const uint32_t places = vt_build_reshape(b, at, 2, (int64_t[]){n, 1});
  const uint32_t y = vt_build3(b, op, line, places, vt_build_reshape(b, l->in[2], 1, &n));
  return vt_build_reshape(b, y, base.rank, base.dim);
}

uint32_t lower_scatter_elements(const vt_lowering *l) {
  return lower_scatter_of_elements(l, VT_OP_scatter_nd);
}
uint32_t lower_scatter_elements_add(const vt_lowering *l) {
  return lower_scatter_of_elements(l, VT_OP_scatter_nd_add);
}
uint32_t lower_scatter_elements_max(const vt_lowering *l) {
  return lower_scatter_of_elements(l, VT_OP_scatter_nd_max);
}
uint32_t lower_scatter_elements_min(const vt_lowering *l) {
  return lower_scatter_of_elements(l, VT_OP_scatter_nd_min);
}

/* ---- second implementation ----
 * A column is the set of elements whose coordinates differ only along the axes of the index. For
 * each position of a column, head[] is the first update that goes there and next[] the update after
 * it; -1 ends a chain. */

typedef enum mode { LAST, SUM, GREATEST, LEAST } mode;
typedef struct columns {
  vt_view y, u, index; /* the result, the updates and the index, seen along the axes that enumerate
                          the columns */
  vt_view own_u, own_index; /* updates and index, seen along the axes of one column */
  int64_t length, stride;   /* length and stride of a column in the result */
  int64_t *head, *next;
} columns;

/* The scratch bytes for head[] of the longest axis and next[] of the whole index. */
uint64_t scratch_scatter(const vt_view *in, uint32_t n_in) {
  uint64_t n = (uint64_t)vt_view_count(&in[1]);
  int64_t longest = 0;
  (void)n_in;
  for (uint32_t i = 0; i < in[0].rank; i++)
    if (in[0].dim[i] > longest) longest = in[0].dim[i];
  return n == 0 ? 0 : (n + (uint64_t)longest) * sizeof(int64_t);
}

static void link_chains(const columns *c, int64_t at) {
  const vt_view *index = &c->own_index;
  vt_walk w;
  vt_walk_init(&w, index->rank, index->dim);
  vt_walk_view(&w, index);
  for (int64_t i = 0; i < c->length; i++) c->head[i] = -1;
  for (int64_t i = 0; i < w.count; i++, vt_walk_next(&w))
    c->next[i] = vt_load_int(index->data, index->dtype, at + w.at[0]);
  for (int64_t i = w.count; i-- > 0;) { /* each update is put in front of its chain, so chains
                                           ascend if the updates are taken from last to first */
    const int64_t to = c->next[i];
    c->next[i] = c->head[to];
    c->head[to] = i;
  }
}

/* The offset of element i of a column of updates; i counts the elements of the column in row-major
 * order. */
static int64_t update_offset(const columns *c, int64_t i) {
  int64_t at = 0;
  for (uint32_t k = c->own_u.rank; k-- > 0; i /= c->own_u.dim[k])
    at += i % c->own_u.dim[k] * c->own_u.stride[k];
  return at;
}

static void reduce_chain_f32(const columns *c, mode m, int64_t first, const float *u, float *y) {
  vt_sum_f32 sum;
  vt_sum_f32_init(&sum);
  for (int64_t i = first; i >= 0; i = c->next[i]) {
    const float v = u[update_offset(c, i)];
    if (m == SUM) vt_sum_f32_add(&sum, v);
    if (m == GREATEST) *y = vt_f32_max(*y, v);
    if (m == LEAST) *y = vt_f32_min(*y, v);
  }
  if (m == SUM) *y += vt_sum_f32_done(&sum);
}

static void reduce_chain_f64(const columns *c, mode m, int64_t first, const double *u, double *y) {
  vt_sum_f64 sum;
  vt_sum_f64_init(&sum);
  for (int64_t i = first; i >= 0; i = c->next[i]) {
    const double v = u[update_offset(c, i)];
    if (m == SUM) vt_sum_f64_add(&sum, v);
    if (m == GREATEST) *y = vt_f64_max(*y, v);
    if (m == LEAST) *y = vt_f64_min(*y, v);
  }
  if (m == SUM) *y += vt_sum_f64_done(&sum);
}

static void reduce_chain_whole(const columns *c, mode m, int64_t first, const void *u, void *y) {
  const uint32_t dtype = c->y.dtype;
  for (int64_t i = first; i >= 0; i = c->next[i]) {
    const int64_t v = vt_load_int(u, dtype, update_offset(c, i)), old = vt_load_int(y, dtype, 0);
    if (m == SUM) vt_store_int(y, dtype, 0, vt_i64_wrap_add(old, v));
    if ((m == GREATEST && v > old) || (m == LEAST && v < old)) vt_store_int(y, dtype, 0, v);
  }
}

static void copy_last_of_chain(const columns *c, int64_t first, const char *u, char *y) {
  const int64_t size = (int64_t)vt_dtype_bytes(c->y.dtype);
  while (c->next[first] >= 0) first = c->next[first];
  memcpy(y, u + update_offset(c, first) * size, (size_t)size);
}

static void combine_chain(const columns *c, mode m, int64_t first, void *y, const void *u) {
  if (m == LAST) {
    copy_last_of_chain(c, first, u, y);
  } else if (c->y.dtype == VT_DTYPE_F32) {
    reduce_chain_f32(c, m, first, u, y);
  } else if (c->y.dtype == VT_DTYPE_F64) {
    reduce_chain_f64(c, m, first, u, y);
  } else {
    reduce_chain_whole(c, m, first, u, y);
  }
}

static void scatter_columns(const columns *c, mode m) {
  const int64_t size = (int64_t)vt_dtype_bytes(c->y.dtype);
  vt_walk w;
  vt_walk_init(&w, c->u.rank, c->u.dim);
  vt_walk_view(&w, &c->y);
  vt_walk_view(&w, &c->u);
  vt_walk_view(&w, &c->index);
  for (int64_t n = 0; n < w.count; n++, vt_walk_next(&w)) {
    link_chains(c, w.at[2]);
    for (int64_t i = 0; i < c->length; i++)
      if (c->head[i] >= 0)
        combine_chain(c, m, c->head[i], (char *)c->y.data + (w.at[0] + i * c->stride) * size,
                      (const char *)c->u.data + w.at[1] * size);
  }
}

/* Scatters along `axis`. `update_axes` and `index_axes` are bit masks of the axes of the updates
 * and of the index that belong to one column; index_kept is the index without its index_axes. */
static vt_status scatter_along_axis(vt_kernel *k, uint32_t axis, unsigned update_axes,
                                    unsigned index_axes, const vt_view *index_kept, mode m) {
  const vt_view *y = k->out, *u = &k->in[2];
  VT_TRY(vt_check_indices(k, k->in[0].dim[axis]));
  vt_view_copy(y, &k->in[0]);
  if (vt_view_count(u) == 0) return VT_OK;
  int64_t *work = k->work;
  const columns c = {.y = vt_view_drop_axis(y, axis),
                     .u = vt_view_pick_axes(u, ~update_axes),
                     .index = *index_kept,
                     .own_u = vt_view_pick_axes(u, update_axes),
                     .own_index = vt_view_pick_axes(&k->in[1], index_axes),
                     .length = y->dim[axis],
                     .stride = y->stride[axis],
                     .head = work,
                     .next = work + y->dim[axis]};
  scatter_columns(&c, m);
  return VT_OK;
}

/* Scatters for the op scatter. Its index differs between columns only along the batch axes; along
 * the other axes that enumerate columns it is repeated, with stride 0. */
static vt_status run_scatter_axis(vt_kernel *k, mode m) {
  const vt_attr_gather *a = k->attrs;
  const uint32_t axis = (uint32_t)a->axis, batch = (uint32_t)a->batch;
  const uint32_t inner = k->in[1].rank - batch;
  vt_view kept = vt_view_pick_axes(&k->in[1], (1u << batch) - 1);
  for (; kept.rank + 1 < k->out->rank; kept.rank++) {
    kept.dim[kept.rank] = 1;
    kept.stride[kept.rank] = 0;
  }
  return scatter_along_axis(k, axis, ((1u << inner) - 1) << axis, ~0u << batch, &kept, m);
}

static vt_status run_scatter_elements(vt_kernel *k, mode m) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)k->attrs)->axis;
  const vt_view kept = vt_view_drop_axis(&k->in[1], axis);
  return scatter_along_axis(k, axis, 1u << axis, 1u << axis, &kept, m);
}

vt_status kernel_scatter(vt_kernel *k) { return run_scatter_axis(k, LAST); }
vt_status kernel_scatter_add(vt_kernel *k) { return run_scatter_axis(k, SUM); }
vt_status kernel_scatter_max(vt_kernel *k) { return run_scatter_axis(k, GREATEST); }
vt_status kernel_scatter_min(vt_kernel *k) { return run_scatter_axis(k, LEAST); }
vt_status kernel_scatter_elements(vt_kernel *k) { return run_scatter_elements(k, LAST); }
vt_status kernel_scatter_elements_add(vt_kernel *k) { return run_scatter_elements(k, SUM); }
vt_status kernel_scatter_elements_max(vt_kernel *k) { return run_scatter_elements(k, GREATEST); }
vt_status kernel_scatter_elements_min(vt_kernel *k) { return run_scatter_elements(k, LEAST); }
