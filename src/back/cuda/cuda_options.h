/* SPDX-License-Identifier: Apache-2.0
 * cuda_options.h - compiler options for all kernels, those that nvcc compiles into this binary and
 * those that NVRTC compiles while a program is built. Each operation is rounded by itself,
 * subnormals are not flushed, and quotients and square roots are correctly rounded. The options are
 * part of the precision configuration. The build reads them from this file. */
#ifndef VT_CUDA_OPTIONS_H
#define VT_CUDA_OPTIONS_H
#define VT_CUDA_OPTIONS "-fmad=false -ftz=false -prec-div=true -prec-sqrt=true"
#define VT_CUDA_STANDARD \
  "-std=c++17" /* selects the language of the kernel sources; no bit of a result depends on it */
/* For NVRTC only, which compiles no host code: a function without an attribute is a device
 * function. */
#define VT_CUDA_NO_HOST "-default-device"
#endif
