/* SPDX-License-Identifier: Apache-2.0
 * cuda_options.h - how kernels are compiled, those of this binary by nvcc and those made while a
 * program is built by NVRTC: every operation rounded by itself, nothing flushed, quotients and
 * roots exact. A part of the precision configuration. The build takes the words from this file. */
#ifndef VT_CUDA_OPTIONS_H
#define VT_CUDA_OPTIONS_H
#define VT_CUDA_OPTIONS "-fmad=false -ftz=false -prec-div=true -prec-sqrt=true"
#define VT_CUDA_STANDARD "-std=c++17" /* what the texts are written in; no bit depends on it */
/* For NVRTC alone, which knows no host: what is only declared for one counts as the device's. */
#define VT_CUDA_NO_HOST "-default-device"
#endif
