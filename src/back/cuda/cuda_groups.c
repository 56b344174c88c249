/* SPDX-License-Identifier: Apache-2.0
 * cuda_groups.c - builds the arguments of pointwise kernels. If all operands allow loads of
 * several neighbouring elements, the kernel processes groups (gpu_map.h). Grouping changes no
 * bit. A group is as many neighbouring elements as a thread processes together. */
#include "cuda_chain.h"
#include "cuda_walk.h"

static uint32_t group_size_of(const vt_view *const *v, uint32_t n) {
  uint32_t bytes = 1;
  for (uint32_t k = 0; k < n; k++)
    if (vt_cuda_bytes_of(v[k]->dtype) > bytes) bytes = vt_cuda_bytes_of(v[k]->dtype);
  return VT_GPU_GROUP(bytes);
}

/* Returns 1 if the operand has aligned groups of elements along the last axis, or is an input with
 * one element for the whole axis. */
static int operand_allows_groups(const vt_gpu_fused_walk *w, uint32_t operand, const vt_view *v,
                                 uint32_t group) {
  const uint32_t last = w->rank - 1;
  if (w->stride[operand][last] == 0) return operand > 0;
  int fits = w->stride[operand][last] == 1 &&
             (uintptr_t)v->data % ((uintptr_t)group * vt_cuda_bytes_of(v->dtype)) == 0;
  for (uint32_t r = 0; r < last; r++) fits = fits && w->stride[operand][r] % group == 0;
  return fits;
}

/* Returns 1 if all operands can be read in groups. If the walk has several axes, groups must divide
 * the rows, because a group must not reach into the next row. */
static int operands_allow_groups(const vt_gpu_fused_walk *w, const vt_view *const *v, uint32_t n,
                                 uint32_t group) {
  if (w->rank == 0 || w->n < group) return 0;
  int fits = w->rank == 1 || w->dim[w->rank - 1] % group == 0;
  for (uint32_t k = 0; k < n; k++) fits = fits && operand_allows_groups(w, k, v[k], group);
  return fits;
}

static void group_if_possible(vt_gpu_fused *m, const vt_view *const *v, uint32_t n) {
  vt_gpu_fused_walk *w = &m->walk;
  const uint32_t group = group_size_of(v, n);
  if (!operands_allow_groups(w, v, n, group)) return;
  const uint32_t last = w->rank - 1;
  m->grouped = 1;
  m->rest = (uint32_t)(w->n % group);
  w->n /= group;
  w->dim[last] /= group;
  for (uint32_t k = 0; k < n; k++) {
    if (w->stride[k][last] == 0) m->one |= 1u << (k - 1);
    w->stride[k][last] *= group;
  }
}

static vt_view view_at_address(const vt_bk_tensor *t, char *const *base) {
  vt_view v = vt_step_view(t);
  v.data = base[t->arena] + t->offset;
  return v;
}

void vt_cuda_pointwise_args(const vt_bk_tensor *to, const vt_bk_tensor *const *from, uint32_t n,
                            char *const *base, vt_gpu_fused *out) {
  vt_view view[VT_FUSED_OPERANDS] = {view_at_address(to, base)};
  const vt_view *v[VT_FUSED_OPERANDS] = {&view[0]};
  *out = (vt_gpu_fused){.to = view[0].data};
  for (uint32_t k = 0; k < n; k++) {
    view[k + 1] = view_at_address(from[k], base);
    v[k + 1] = &view[k + 1];
    out->from[k] = view[k + 1].data;
  }
  vt_cuda_fused_walk(v, n + 1, &out->walk);
  group_if_possible(out, v, n + 1);
}
