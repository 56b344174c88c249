/* SPDX-License-Identifier: Apache-2.0
 * cuda_matmul.c - matmul, linear and matmul_masked as matrix products. Leading axes that are
 * contiguous with the rows are merged into the rows; other leading axes number the products. */
#include "cuda_epilogue.h"

/* Returns the stride of x along one of `leading_axes` leading axes, or 0 if x does not have the
 * axis or repeats along it. */
static int64_t leading_stride(const vt_view *x, uint32_t leading_axes, uint32_t axis) {
  const uint32_t missing = leading_axes + 2 - x->rank;
  return axis < missing || x->dim[axis - missing] == 1 ? 0 : x->stride[axis - missing];
}

static void set_leading_axes(vt_gpu_gemm *g, const vt_view *a, const vt_view *b, const vt_view *y) {
  g->products = 1;
  for (uint32_t i = 0; i + 2 < y->rank; i++) {
    if (y->dim[i] == 1) continue;
    g->dim[g->rank] = y->dim[i];
    g->a.step[g->rank] = leading_stride(a, y->rank - 2, i);
    g->b.step[g->rank] = leading_stride(b, y->rank - 2, i);
    g->y_step[g->rank++] = y->stride[i];
    g->products *= y->dim[i];
  }
}

/* Merges the last leading axis into the rows if b does not change along it and the strides fit. */
static void merge_leading_axes(vt_gpu_gemm *g) {
  while (g->rank > 0 && g->products > 0) {
    const uint32_t i = g->rank - 1;
    const int follows = g->a.step[i] == g->m * g->a.across && g->y_step[i] == g->m * g->y_row;
    if (g->b.step[i] != 0 || (g->m != 1 && !follows)) break;
    if (g->m == 1) {
      g->a.across = g->a.step[i];
      g->y_row = g->y_step[i];
    }
    g->m *= g->dim[i];
    g->products /= g->dim[i];
    g->rank--;
  }
}

static vt_gpu_gemm describe_matrices(const vt_cuda_call *c, int64_t transpose_a,
                                     int64_t transpose_b) {
  const vt_view *a = &c->in[0], *b = &c->in[1], *y = c->out;
  const uint32_t ra = a->rank - (transpose_a ? 1 : 2), ka = a->rank - (transpose_a ? 2 : 1);
  const uint32_t kb = b->rank - (transpose_b ? 1 : 2), nb = b->rank - (transpose_b ? 2 : 1);
  vt_gpu_gemm g = {.a = {.data = a->data, .across = a->stride[ra], .along = a->stride[ka]},
                   .b = {.data = b->data, .across = b->stride[nb], .along = b->stride[kb]},
                   .y = y->data,
                   .y_row = y->stride[y->rank - 2],
                   .y_column = y->stride[y->rank - 1],
                   .m = a->dim[ra],
                   .n = b->dim[nb],
                   .k = a->dim[ka]};
  set_leading_axes(&g, a, b, y);
  return g;
}

static vt_gpu_gemm describe_matmul(const vt_cuda_call *c) {
  const vt_attr_matmul *a = c->attrs;
  vt_gpu_gemm g = describe_matrices(c, a->transpose_a, a->transpose_b);
  merge_leading_axes(&g);
  return g;
}

static vt_gpu_gemm describe_linear(const vt_cuda_call *c) {
  vt_gpu_gemm g = describe_matrices(c, 0, 0);
  merge_leading_axes(&g);
  if (c->n_in == 3) {
    g.bias = c->in[2].data;
    g.bias_column = c->in[2].stride[0];
  }
  return g;
}

int vt_cuda_product_of_matmul(const vt_cuda_call *c, vt_cuda_product *out) {
  *out = (vt_cuda_product){.v.g = describe_matmul(c)};
  return 1;
}
int vt_cuda_product_of_linear(const vt_cuda_call *c, vt_cuda_product *out) {
  *out = (vt_cuda_product){.v.g = describe_linear(c)};
  return 1;
}

uint64_t vt_cuda_scratch_matmul(const vt_cuda_call *c) {
  const vt_gpu_gemm g = describe_matmul(c);
  return vt_cuda_gemm_scratch(c, c->out->dtype, &g);
}
vt_status vt_cuda_run_matmul(vt_cuda_call *c) {
  const vt_gpu_gemm g = describe_matmul(c);
  return vt_cuda_gemm_run(c, c->out->dtype, &g);
}

uint64_t vt_cuda_scratch_linear(const vt_cuda_call *c) {
  const vt_gpu_gemm g = describe_linear(c);
  return vt_cuda_gemm_scratch(c, c->out->dtype, &g);
}
vt_status vt_cuda_run_linear(vt_cuda_call *c) {
  const vt_gpu_gemm g = describe_linear(c);
  return vt_cuda_gemm_run(c, c->out->dtype, &g);
}

/* matmul_masked does not merge leading axes into rows, because the mask differs from row to row. */
vt_status vt_cuda_run_matmul_masked(vt_cuda_call *c) {
  const vt_attr_matmul *a = c->attrs;
  const vt_view *present = &c->in[2], *y = c->out;
  vt_gpu_masked args = {.g = describe_matrices(c, a->transpose_a, a->transpose_b),
                        .present = present->data,
                        .p_row = present->stride[present->rank - 2],
                        .p_column = present->stride[present->rank - 1]};
  uint32_t axis = 0;
  for (uint32_t i = 0; i + 2 < y->rank; i++)
    if (y->dim[i] != 1) args.p_step[axis++] = leading_stride(present, y->rank - 2, i);
  const int64_t n = args.g.products * args.g.m * args.g.n;
  return vt_cuda_launch(c, y->dtype == VT_DTYPE_F64 ? VT_GPU_masked_f64 : VT_GPU_masked_f32,
                        vt_cuda_grid_over(c, n, 1, 256), &args);
}
