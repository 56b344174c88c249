/* SPDX-License-Identifier: Apache-2.0
 * cuda_nvrtc.h - loads NVRTC, NVIDIA's compiler library, when it is first needed. NVRTC is
 * optional: without it the kernels of this binary compute the same steps. Every entry point is a
 * row of nvrtc.def; all return 0 on success. */
#ifndef VT_CUDA_NVRTC_H
#define VT_CUDA_NVRTC_H
#include "vt_text.h"

typedef struct vt_nvrtc {
  void *library;
  int major, minor; /* version of NVRTC: 13 and 0 for 13.0 */
#define VT_NVRTC(name, params) int(*name) params;
#include "nvrtc.def"
#undef VT_NVRTC
} vt_nvrtc;

/* Loads NVRTC once per process; later calls return the same table. VT_BACKEND if a library or an
 * entry point is missing, which d names. */
vt_status vt_nvrtc_get(const vt_nvrtc **out, vt_diag *d) VT_NODISCARD;

/* vt_nvrtc_options_init writes the compiler options, one word each: VT_CUDA_OPTIONS, and the target
 * for compute capability `arch` (90 means 9.0), either a cubin or PTX. */
typedef enum vt_nvrtc_kind { VT_NVRTC_CUBIN, VT_NVRTC_PTX } vt_nvrtc_kind;
enum { VT_NVRTC_WORDS = 16, VT_NVRTC_BYTES = 256 };
typedef struct vt_nvrtc_options {
  vt_nvrtc_kind kind;
  char words_text[VT_NVRTC_BYTES];
  const char *word[VT_NVRTC_WORDS];
  int n;
} vt_nvrtc_options;
void vt_nvrtc_options_init(vt_nvrtc_options *o, int arch, vt_nvrtc_kind kind);

/* Compiles `text` and appends the cubin or PTX to `out`. The text may include the texts of
 * cuda_images.h. VT_BACKEND with the compiler's first error if it does not compile. */
vt_status vt_nvrtc_compile(const vt_nvrtc *n, const char *text, const vt_nvrtc_options *o,
                           vt_text *out, vt_diag *d) VT_NODISCARD;
#endif
