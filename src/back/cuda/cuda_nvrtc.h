/* SPDX-License-Identifier: Apache-2.0
 * cuda_nvrtc.h - NVIDIA's compiler as a library, found when it is first asked for. It is welcome
 * and not needed: the kernels of this binary do the same steps. Every entry point is a row of
 * nvrtc.def; all give 0 when they have done it. */
#ifndef VT_CUDA_NVRTC_H
#define VT_CUDA_NVRTC_H
#include <stddef.h>
#include "volta/volta_status.h"

typedef struct vt_nvrtc {
  void *library;
  int major, minor; /* 13, 0 */
#define VT_NVRTC(name, params) int(*name) params;
#include "nvrtc.def"
#undef VT_NVRTC
} vt_nvrtc;

/* VT_OK, or VT_BACKEND with what is missing. Found once in a process; a second call is cheap. */
vt_status vt_nvrtc_get(const vt_nvrtc **out, vt_diag *d) VT_NODISCARD;
#endif
