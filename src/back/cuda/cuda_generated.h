/* SPDX-License-Identifier: Apache-2.0
 * cuda_generated.h - generated kernels: compiles source texts while a program is built, and caches
 * the results in memory and on disk. */
#ifndef VT_CUDA_GENERATED_H
#define VT_CUDA_GENERATED_H
#include "cuda_backend.h"
#include "vt_text.h"

/* The source text of one kernel. */
typedef void vt_cuda_write_fn(const void *what, const char *name, vt_text *out);
typedef struct vt_cuda_source {
  /* Prefix of the kernel's name. A hash of the text follows it, so profilers show which text ran.
   */
  const char *prefix;
  vt_cuda_write_fn *write; /* writes the text, with `name` as the kernel's name */
  const void *what;
  /* end of the note for users: what happens if the text cannot be compiled */
  const char *otherwise;
} vt_cuda_source;

/* Returns the kernel of a source text for the device's card. A process compiles a text at most once
 * per card, or reads it from the disk cache; the compiled kernel stays loaded on the card.
 * VT_UNSUPPORTED if there is no NVRTC or the text does not compile: only speed is lost. The reason
 * is passed to the host as a note for users. */
int32_t vt_cuda_generated_get(const vt_bk_device *dev, const vt_cuda_source *source,
                              void **out_function) VT_NODISCARD;
#endif
