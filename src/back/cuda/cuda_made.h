/* SPDX-License-Identifier: Apache-2.0
 * cuda_made.h - kernels that are compiled while a program is built. */
#ifndef VT_CUDA_MADE_H
#define VT_CUDA_MADE_H
#include "cuda_backend.h"
#include "vt_text.h"

/* A text that has a kernel called `name`. */
typedef void vt_cuda_write_fn(const void *what, const char *name, vt_text *out);

/* The kernel of a text, on the device's card, called `prefix` and a hash of the text: a name of its
 * own, for those who look at what a GPU does. A text is compiled once in a process for each
 * card, and found on disk where another process has kept it; what belongs to a card stays there.
 * VT_UNSUPPORTED when there is no NVRTC or it does not compile: nothing is lost but speed. What a
 * user may want to know of that is noted to the host. */
int32_t vt_cuda_made_get(const vt_bk_device *dev, const char *prefix, vt_cuda_write_fn *write,
                         const void *what, void **out_function) VT_NODISCARD;
#endif
