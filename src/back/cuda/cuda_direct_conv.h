/* SPDX-License-Identifier: Apache-2.0
 * cuda_direct_conv.h - private to src/back/cuda: convolutions of all kinds brought to the form of
 * gpu_direct_conv.h. The addresses are those of the step, NULL while it is planned. */
#ifndef VT_CUDA_DIRECT_CONV_H
#define VT_CUDA_DIRECT_CONV_H
#include "cuda_backend.h"
#include "gpu_direct_conv.h"
#include "vt_window.h"

/* x [N, C, ...], w [O, C/groups, ...] and y [N, O, ...] with the windows of `l`. */
vt_gpu_direct_conv vt_cuda_direct_conv(const vt_cuda_call *c, const vt_window_lists *l,
                                       int64_t groups);
vt_gpu_direct_conv vt_cuda_direct_conv_transpose(const vt_cuda_call *c);
/* 1 when every output of a transposed convolution meets a tap, if only outside of x. */
int vt_cuda_direct_conv_is_covered(const vt_gpu_direct_conv *s);
vt_gpu_direct_conv vt_cuda_direct_conv_weights(const vt_cuda_call *c);
/* Outputs that have a number: those of all classes as if they were as large as the largest. */
int64_t vt_cuda_direct_conv_total(const vt_gpu_direct_conv *s);
#endif
