/* SPDX-License-Identifier: Apache-2.0
 * cuda_move.c - copies between tensors of one shape. */
#include "cuda_backend.h"
#include "cuda_walk.h"
#include "gpu_copy.h"

vt_view vt_cuda_at(const vt_view *v, uint32_t axis, int64_t i) {
  vt_view at = *v;
  at.rank--;
  at.data = (char *)v->data + i * v->stride[axis] * (int64_t)vt_cuda_bytes_of(v->dtype);
  for (uint32_t k = axis; k < at.rank; k++)
    at.dim[k] = v->dim[k + 1], at.stride[k] = v->stride[k + 1];
  at.dim[at.rank] = at.stride[at.rank] = 0;
  return at;
}

static uint32_t kernel_of(uint32_t bytes) {
  return bytes == 1 ? VT_GPU_copy_1 : bytes == 2 ? VT_GPU_copy_2 : bytes == 4 ? VT_GPU_copy_4 : VT_GPU_copy_8;
}

vt_status vt_cuda_copy_view(vt_cuda_call *c, const vt_view *to, const vt_view *from) {
  const vt_view *const all[2] = {to, from};
  const uint32_t bytes = vt_cuda_bytes_of(to->dtype);
  const vt_gpu_copy args = {.to = to->data, .from = from->data, .walk = vt_cuda_walk(all, 2)};
  if (vt_cuda_is_dense(to) && vt_cuda_is_dense(from))
    return vt_cuda_move(c, to->data, from->data, (uint64_t)args.walk.n * bytes);
  return vt_cuda_launch(c, kernel_of(bytes), vt_cuda_line(c, args.walk.n, 4, 256), &args);
}

vt_status vt_cuda_run_transpose(vt_cuda_call *c) {
  const vt_attr_perm *a = c->attrs;
  vt_view from = c->in[0];
  for (uint32_t i = 0; i < from.rank; i++) {
    const int64_t axis = a->perm.v[i];
    from.dim[i] = c->in[0].dim[axis], from.stride[i] = c->in[0].stride[axis];
  }
  return vt_cuda_copy_view(c, &c->out[0], &from);
}
