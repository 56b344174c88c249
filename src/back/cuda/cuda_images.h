/* SPDX-License-Identifier: Apache-2.0
 * cuda_images.h - what the build embeds in this binary for GPUs: a compiled module for each .cu
 * file, and the source texts that generated kernels may include. A build without nvcc has the texts
 * only. */
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
  const char *module; /* name of the .cu file without its suffix */
  const unsigned char *bytes;
  size_t size;
} vt_cuda_image;

/* Images in the order of VT_CUDA_MODULE_<name>. The count is VT_CUDA_MODULES, or 0 if the build had
 * no nvcc. */
extern const vt_cuda_image vt_cuda_images[VT_CUDA_MODULES + 1];
extern const uint32_t vt_cuda_images_count;
/* Architectures of the kernels, such as "sm_80 sm_90 compute_90". The last one is PTX, for later
 * GPUs. It is "" without kernels, and "none" in a build for the emulated GPU, whose images are one
 * byte each. */
extern const char vt_cuda_architectures[];
/* compiler of the kernels, such as "nvcc 13.0"; "" in a build without kernels */
extern const char vt_cuda_compiler[];

/* A source text that generated kernels may include, and the name under which they include it. */
typedef struct vt_cuda_text {
  const char *name, *text;
} vt_cuda_text;
extern const vt_cuda_text vt_cuda_texts[];
extern const uint32_t vt_cuda_texts_count;
#endif
