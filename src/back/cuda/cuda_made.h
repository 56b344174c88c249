/* SPDX-License-Identifier: Apache-2.0
 * cuda_made.h - kernels that are compiled while a program is built. */
#ifndef VT_CUDA_MADE_H
#define VT_CUDA_MADE_H
#include "cuda_backend.h"
#include "vt_text.h"

/* A text with one kernel, and what to say where it does not compile. */
typedef void vt_cuda_write_fn(const void *what, const char *name, vt_text *out);
typedef struct vt_cuda_source {
  const char *prefix; /* of the kernel's name: a hash of the text follows, for those who look at
                       * what a GPU does */
  vt_cuda_write_fn *write; /* the text, its kernel being called `name` */
  const void *what;
  const char *otherwise; /* what happens without it, for users */
} vt_cuda_source;

/* The kernel of a text, on the device's card. A text is compiled once in a process for each
 * card, and found on disk where another process has kept it; what belongs to a card stays there.
 * VT_UNSUPPORTED when there is no NVRTC or it does not compile: nothing is lost but speed. What a
 * user may want to know of that is noted to the host. */
int32_t vt_cuda_made_get(const vt_bk_device *dev, const vt_cuda_source *source,
                         void **out_function) VT_NODISCARD;
#endif
