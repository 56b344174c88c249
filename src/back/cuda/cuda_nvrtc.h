/* SPDX-License-Identifier: Apache-2.0
 * cuda_nvrtc.h - NVIDIA's compiler as a library, found when it is first asked for. It is welcome
 * and not needed: the kernels of this binary do the same steps. Every entry point is a row of
 * nvrtc.def; all give 0 when they have done it. */
#ifndef VT_CUDA_NVRTC_H
#define VT_CUDA_NVRTC_H
#include "vt_text.h"

typedef struct vt_nvrtc {
  void *library;
  int major, minor; /* 13, 0 */
#define VT_NVRTC(name, params) int(*name) params;
#include "nvrtc.def"
#undef VT_NVRTC
} vt_nvrtc;

/* VT_OK, or VT_BACKEND with what is missing. Found once in a process; a second call is cheap. */
vt_status vt_nvrtc_get(const vt_nvrtc **out, vt_diag *d) VT_NODISCARD;

/* Everything that is said to it besides the text, a word each: VT_CUDA_OPTIONS and what is needed
 * for a GPU of compute capability <arch>, 90. It makes a cubin of a text, or PTX, not both. */
typedef enum vt_nvrtc_kind { VT_NVRTC_CUBIN, VT_NVRTC_PTX } vt_nvrtc_kind;
enum { VT_NVRTC_WORDS = 16, VT_NVRTC_ROOM = 256 };
typedef struct vt_nvrtc_options {
  vt_nvrtc_kind kind;
  char room[VT_NVRTC_ROOM];
  const char *word[VT_NVRTC_WORDS];
  int n;
} vt_nvrtc_options;
void vt_nvrtc_options_init(vt_nvrtc_options *o, int arch, vt_nvrtc_kind kind);

/* Appends what the text compiles to. The texts of this binary (cuda_images.h) can be included.
 * VT_BACKEND with the first error that the compiler tells. */
vt_status vt_nvrtc_compile(const vt_nvrtc *n, const char *text, const vt_nvrtc_options *o,
                           vt_text *out, vt_diag *d) VT_NODISCARD;
#endif
