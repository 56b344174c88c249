/* SPDX-License-Identifier: Apache-2.0
 * cuda_epilogue.h - private to src/back/cuda: runs the pointwise steps that follow a matrix product
 * or a convolution inside the product's kernel, before it stores its results. NVRTC compiles that
 * kernel while the program is built. If it cannot, the steps run as a kernel of their own, with the
 * same bits. */
#ifndef VT_CUDA_EPILOGUE_H
#define VT_CUDA_EPILOGUE_H
#include "cuda_conv.h"
#include "gpu_epilogue.h"
#include "vt_emit.h"

/* Builds the epilogue of a launch with an anchor and a chain. *out is NULL if the anchor's kernel
 * cannot run one. The caller keeps the chain in either case: if a run's operands have strides that
 * select another kernel, that kernel computes the product and the chain runs after it. */
int32_t vt_cuda_epilogue_new(vt_bk_device *dev, const vt_launch *at,
                             vt_cuda_epilogue **out) VT_NODISCARD;
void vt_cuda_epilogue_free(vt_bk_device *dev, vt_cuda_epilogue *epilogue);

/* Enumerates the kernels that store results of products and can run an epilogue: *kernel and the
 * type of its results. Returns 0 if there is no kernel number i. */
int vt_cuda_product_kernel_at(uint32_t i, uint32_t *kernel, uint32_t *dtype);
/* Writes the source text of a kernel that does what `kernel` does and then runs the steps of
 * `chain`, whose first source is the product. `what` is a vt_cuda_epilogue_kernel. */
typedef struct vt_cuda_epilogue_kernel {
  const vt_chain *chain;
  uint32_t kernel;
} vt_cuda_epilogue_kernel;
void vt_cuda_epilogue_write_text(const void *epilogue, const char *name, vt_text *out);

/* Issues a kernel that stores results of a product; args is a vt_gpu_gemm or vt_gpu_conv of `bytes`
 * bytes. If the call has an epilogue that was generated for this kernel, issues that kernel instead
 * and sets c->epilogue_done. */
vt_status vt_cuda_launch_product(vt_cuda_call *c, uint32_t kernel, vt_cuda_grid grid,
                                 const void *args, size_t bytes);

/* A step as a matrix product. The functions below describe it and return 0 if the step is not a
 * matrix product. For a tiled convolution (`tiled` is 1) all of `v` is set, else only v.g. */
typedef struct vt_cuda_product {
  vt_gpu_conv v;
  int tiled;
} vt_cuda_product;
int vt_cuda_product_of_matmul(const vt_cuda_call *c, vt_cuda_product *out);
int vt_cuda_product_of_linear(const vt_cuda_call *c, vt_cuda_product *out);
int vt_cuda_product_of_conv(const vt_cuda_call *c, vt_cuda_product *out);
#endif
