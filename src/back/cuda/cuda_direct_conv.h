/* SPDX-License-Identifier: Apache-2.0
 * cuda_direct_conv.h - private to src/back/cuda: brings conv, conv_transpose and conv_weight_grad
 * into the form of gpu_direct_conv.h. Addresses are those of the step; they are NULL while the step
 * is planned. */
#ifndef VT_CUDA_DIRECT_CONV_H
#define VT_CUDA_DIRECT_CONV_H
#include "cuda_backend.h"
#include "gpu_direct_conv.h"
#include "vt_window.h"

/* A convolution of x [N, C, ...] and w [O, C/groups, ...] to y [N, O, ...], with the windows `l`.
 */
vt_gpu_direct_conv vt_cuda_direct_conv(const vt_cuda_call *c, const vt_window_lists *l,
                                       int64_t groups);
vt_gpu_direct_conv vt_cuda_direct_conv_transpose(const vt_cuda_call *c);
/* Returns 1 if every output of a transposed convolution has at least one tap, inside or outside of
 * x. */
int vt_cuda_direct_conv_covers_all(const vt_gpu_direct_conv *s);
vt_gpu_direct_conv vt_cuda_direct_conv_weight_grad(const vt_cuda_call *c);
/* Returns how many numbers identify the outputs: every class counts as if it were as large as the
 * largest one. */
int64_t vt_cuda_direct_conv_output_count(const vt_gpu_direct_conv *s);
#endif
