/* SPDX-License-Identifier: Apache-2.0
 * cuda_epilogue.h - private to src/back/cuda: pointwise steps behind a product of matrices or a
 * convolution, done by the kernel of the product where it stores its results. That kernel is
 * compiled when a program is made; where it is not, the steps are a kernel of their own, to the
 * same bits. */
#ifndef VT_CUDA_EPILOGUE_H
#define VT_CUDA_EPILOGUE_H
#include "cuda_conv.h"
#include "gpu_epilogue.h"
#include "vt_emit.h"

/* Of a launch that has an anchor and a chain. NULL in *out when it has no tail of this kind. The
 * chain stays: where operands lie otherwise than their shapes let expect, the product is done by
 * another kernel, and the chain follows it. */
int32_t vt_cuda_epilogue_new(vt_bk_device *dev, const vt_launch *at,
                             vt_cuda_epilogue **out) VT_NODISCARD;
void vt_cuda_epilogue_free(vt_bk_device *dev, vt_cuda_epilogue *tail);

/* The kernels that end products and so can have a tail, numbered, with the type of their results; 0
 * behind the last one. */
int vt_cuda_epilogue_end(uint32_t i, uint32_t *kernel, uint32_t *dtype);
/* The text of one that does what such a kernel does, and then the steps of a chain whose first
 * source is the product; `what` is a vt_cuda_epilogue_kernel. */
typedef struct vt_cuda_epilogue_kernel {
  const vt_chain *chain;
  uint32_t kernel;
} vt_cuda_epilogue_kernel;
void vt_cuda_epilogue_write(const void *what, const char *name, vt_text *out);

/* Issues a kernel that ends a product, args being a vt_gpu_gemm or vt_gpu_conv: with the tail of
 * the call where it was made for this kernel, and c->tailed says so. */
vt_status vt_cuda_launch_end(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid, const void *args,
                             size_t bytes);

/* What an op is as a product; `tiled` is 1 where all of `v` is meant, else it is v->g alone. 0: it
 * is none. */
typedef struct vt_cuda_product {
  vt_gpu_conv v;
  int tiled;
} vt_cuda_product;
int vt_cuda_product_matmul(const vt_cuda_call *c, vt_cuda_product *out);
int vt_cuda_product_linear(const vt_cuda_call *c, vt_cuda_product *out);
int vt_cuda_product_conv(const vt_cuda_call *c, vt_cuda_product *out);
#endif
