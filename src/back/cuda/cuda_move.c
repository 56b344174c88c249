/* SPDX-License-Identifier: Apache-2.0
 * cuda_move.c - ops that copy elements to positions known in advance. Each op describes operand and
 * result as views of the same shape. */
#include "cuda_backend.h"
#include "cuda_walk.h"
#include "gpu_copy.h"
#include "gpu_fill.h"

vt_status vt_cuda_run_literal(vt_cuda_call *c) {
  const vt_attr_literal *a = c->attrs;
  const vt_gpu_fill args = {
      .to = c->out->data, .bits = (uint64_t)a->bits, .bytes = vt_cuda_bytes_of(c->out->dtype)};
  return vt_cuda_launch(c, VT_GPU_store_one, (vt_cuda_grid){1, 1, 1, 32, 0}, &args);
}

/* ---- views ---- */

/* Returns a view of the `n` elements of a tensor along an axis that begin with element `first`. */
static vt_view view_of_range(const vt_view *v, uint32_t axis, int64_t first, int64_t n) {
  vt_view part = *v;
  part.dim[axis] = n;
  part.data = (char *)v->data + first * v->stride[axis] * (int64_t)vt_cuda_bytes_of(v->dtype);
  return part;
}

/* Returns a view of the dense tensor v in the shape of `like`, which has as many elements. */
static vt_view dense_view_in_shape_of(const vt_view *v, const vt_view *like) {
  vt_view as = *like;
  int64_t step = 1;
  as.data = v->data;
  for (uint32_t i = as.rank; i-- > 0; step *= as.dim[i]) as.stride[i] = step;
  return as;
}

/* ---- ops that are one or several copies ---- */

/* Broadcasting is a copy from a view that has stride 0 along new axes and axes of length 1. */
vt_status vt_cuda_run_broadcast(vt_cuda_call *c) {
  const vt_view *x = &c->in[0], *y = c->out;
  const uint32_t lead = y->rank - x->rank;
  vt_view wide = *y;
  wide.data = x->data;
  for (uint32_t i = 0; i < y->rank; i++)
    wide.stride[i] = i < lead || x->dim[i - lead] == 1 ? 0 : x->stride[i - lead];
  return vt_cuda_copy_view(c, y, &wide);
}

vt_status vt_cuda_run_transpose(vt_cuda_call *c) {
  const vt_attr_perm *a = c->attrs;
  vt_view from = c->in[0];
  for (uint32_t i = 0; i < from.rank; i++) {
    const int64_t axis = a->perm.v[i];
    from.dim[i] = c->in[0].dim[axis];
    from.stride[i] = c->in[0].stride[axis];
  }
  return vt_cuda_copy_view(c, &c->out[0], &from);
}

/* The stride is multiplied by the slice's step only if the result has several elements along the
 * axis; else the product could overflow. */
vt_status vt_cuda_run_slice(vt_cuda_call *c) {
  const vt_attr_slice *a = c->attrs;
  vt_view part = c->in[0];
  if (vt_cuda_element_count(c->out) == 0) return VT_OK;
  for (uint32_t i = 0; i < part.rank; i++) {
    part = view_of_range(&part, i, a->start.v[i], c->out->dim[i]);
    if (a->step.n != 0 && c->out->dim[i] > 1) part.stride[i] *= a->step.v[i];
  }
  return vt_cuda_copy_view(c, c->out, &part);
}

vt_status vt_cuda_run_concat(vt_cuda_call *c) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)c->attrs)->axis;
  int64_t at = 0;
  for (uint32_t i = 0; i < c->n_in; at += c->in[i++].dim[axis]) {
    const vt_view part = view_of_range(c->out, axis, at, c->in[i].dim[axis]);
    VT_TRY(vt_cuda_copy_view(c, &part, &c->in[i]));
  }
  return VT_OK;
}

vt_status vt_cuda_run_flip(vt_cuda_call *c) {
  const vt_attr_list *axes = &((const vt_attr_axes *)c->attrs)->axes;
  vt_view flipped = c->in[0];
  if (vt_cuda_element_count(c->out) == 0) return VT_OK;
  for (uint32_t i = 0; i < flipped.rank; i++) {
    int named = axes->n == 0;
    for (int64_t k = 0; k < axes->n; k++) named |= axes->v[k] == (int64_t)i;
    if (!named) continue;
    flipped = view_of_range(&flipped, i, flipped.dim[i] - 1, flipped.dim[i]);
    flipped.stride[i] = -flipped.stride[i];
  }
  return vt_cuda_copy_view(c, c->out, &flipped);
}

/* If the operand or the result is dense, it is viewed in the shape of the other tensor and copied;
 * else a kernel copies element by element. */
vt_status vt_cuda_run_reshape(vt_cuda_call *c) {
  const vt_view *x = &c->in[0], *y = c->out;
  if (vt_cuda_is_dense(y)) {
    const vt_view as = dense_view_in_shape_of(y, x);
    return vt_cuda_copy_view(c, &as, x);
  }
  if (vt_cuda_is_dense(x)) {
    const vt_view as = dense_view_in_shape_of(x, y);
    return vt_cuda_copy_view(c, y, &as);
  }
  const vt_gpu_reshape args = {.to = y->data,
                               .from = x->data,
                               .to_walk = vt_cuda_walk(&y, 1),
                               .from_walk = vt_cuda_walk(&x, 1)};
  return vt_cuda_launch(c, VT_CUDA_SIZES(reshape)[vt_cuda_bytes_of(y->dtype)],
                        vt_cuda_grid_over(c, args.to_walk.n, 1, 256), &args);
}

/* ---- pad and tile ---- */

static vt_status launch_pad_or_tile(vt_cuda_call *c, const uint32_t *sizes,
                                    const vt_attr_list *low) {
  const vt_view *x = &c->in[0], *y = c->out;
  vt_gpu_pad args = {.to = y->data,
                     .from = x->data,
                     .value = c->n_in > 1 ? c->in[1].data : NULL,
                     .n = vt_cuda_element_count(y),
                     .rank = y->rank};
  for (uint32_t i = 0; i < y->rank; i++) {
    args.dim[i] = y->dim[i];
    args.x_dim[i] = x->dim[i];
    args.low[i] = low == NULL ? 0 : low->v[i];
    args.to_stride[i] = y->stride[i];
    args.from_stride[i] = x->stride[i];
  }
  return vt_cuda_launch(c, sizes[vt_cuda_bytes_of(y->dtype)], vt_cuda_grid_over(c, args.n, 1, 256),
                        &args);
}

vt_status vt_cuda_run_pad(vt_cuda_call *c) {
  return launch_pad_or_tile(c, VT_CUDA_SIZES(pad), &((const vt_attr_pad *)c->attrs)->low);
}

vt_status vt_cuda_run_tile(vt_cuda_call *c) {
  return launch_pad_or_tile(c, VT_CUDA_SIZES(tile), NULL);
}

/* ---- iota ---- */

/* The second view has stride 1 along the attribute's axis and 0 elsewhere, so an element's offset
 * in it is the number to store. */
vt_status vt_cuda_run_iota(vt_cuda_call *c) {
  const vt_view *y = c->out;
  const int64_t asked = ((const vt_attr_iota *)c->attrs)->axis;
  const uint32_t axis = (uint32_t)(asked < 0 ? asked + (int64_t)y->rank : asked);
  vt_view numbers = *y;
  for (uint32_t i = 0; i < y->rank; i++) numbers.stride[i] = i == axis;
  const vt_view *const all[2] = {y, &numbers};
  const vt_gpu_count args = {.to = y->data, .walk = vt_cuda_walk(all, 2)};
  const uint32_t kernel = y->dtype == VT_DTYPE_I32   ? VT_GPU_iota_i32
                          : y->dtype == VT_DTYPE_I64 ? VT_GPU_iota_i64
                          : y->dtype == VT_DTYPE_F32 ? VT_GPU_iota_f32
                                                     : VT_GPU_iota_f64;
  return vt_cuda_launch(c, kernel, vt_cuda_grid_over(c, args.walk.n, 4, 256), &args);
}
