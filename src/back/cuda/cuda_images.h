/* SPDX-License-Identifier: Apache-2.0
 * cuda_images.h - what the build has put into this binary for GPUs: the compiled kernels, a module
 * for each .cu file, and the texts that a kernel made while a program is built may include. A build
 * without nvcc has the texts alone. */
#ifndef VT_CUDA_IMAGES_H
#define VT_CUDA_IMAGES_H
#include <stddef.h>
#include <stdint.h>

enum {
#define VT_GPU(name, args)
#define VT_GPU_MODULE(name) VT_CUDA_MODULE_##name,
#include "kernels.def"
#undef VT_GPU
  VT_CUDA_MODULES
};

typedef struct vt_cuda_image {
  const char *module; /* "base": base.cu */
  const unsigned char *bytes;
  size_t size;
} vt_cuda_image;

/* The image of module VT_CUDA_MODULE_... There is one for each, or there are none and the count is
 * 0. */
extern const vt_cuda_image vt_cuda_images[VT_CUDA_MODULES + 1];
extern const uint32_t vt_cuda_images_count;
/* "sm_80 sm_90 compute_90", the last as PTX for what comes later; "" without kernels. A build for
 * tests against a driver of ours has "none": its images are a byte each. */
extern const char vt_cuda_architectures[];
extern const char vt_cuda_compiler[]; /* "nvcc 13.0", or "" */

/* Named as #include names them. */
typedef struct vt_cuda_text {
  const char *name, *text;
} vt_cuda_text;
extern const vt_cuda_text vt_cuda_texts[];
extern const uint32_t vt_cuda_texts_count;
#endif
