/* SPDX-License-Identifier: Apache-2.0
 * cuda_images.c - embeds kernels and source texts in this binary. The build lists them in
 * cuda_images.inc, and the assembler includes the files as they are: a compiler would need minutes
 * for arrays of that size. */
#include "cuda_images.h"

/* Assembler text that defines a symbol with the bytes of a file, followed by a zero. */
#define VT_CUDA_FILE(symbol, path)                                                              \
  __asm__(".pushsection .rodata\n.balign 16\n.globl " #symbol "\n.hidden " #symbol "\n" #symbol \
          ":\n.incbin \"" path "\"\n.byte 0\n.popsection\n");                                   \
  extern const char symbol[] __attribute__((visibility("hidden")));

#define VT_CUDA_IMAGE(name, symbol, size, path) VT_CUDA_FILE(symbol, path)
#define VT_CUDA_TEXT(name, symbol, path) VT_CUDA_FILE(symbol, path)
#include "cuda_images.inc"
#undef VT_CUDA_IMAGE
#undef VT_CUDA_TEXT

/* The last row is empty, because C has no empty tables and there may be no images. */
const vt_cuda_image vt_cuda_images[VT_CUDA_MODULES + 1] = {
#define VT_CUDA_IMAGE(name, symbol, size, path) \
  [VT_CUDA_MODULE_##name] = {#name, (const unsigned char *)symbol, size},
#define VT_CUDA_TEXT(name, symbol, path)
#include "cuda_images.inc"
#undef VT_CUDA_IMAGE
#undef VT_CUDA_TEXT
    [VT_CUDA_MODULES] = {NULL, NULL, 0},
};

enum {
  IMAGES = 0
#define VT_CUDA_IMAGE(name, symbol, size, path) +1
#define VT_CUDA_TEXT(name, symbol, path)
#include "cuda_images.inc"
#undef VT_CUDA_IMAGE
#undef VT_CUDA_TEXT
};
_Static_assert(IMAGES == 0 || (int)IMAGES == (int)VT_CUDA_MODULES,
               "the build has an image for each module of kernels.def, or no images");
const uint32_t vt_cuda_images_count = IMAGES;

const vt_cuda_text vt_cuda_texts[] = {
#define VT_CUDA_IMAGE(name, symbol, size, path)
#define VT_CUDA_TEXT(name, symbol, path) {name, symbol},
#include "cuda_images.inc"
#undef VT_CUDA_IMAGE
#undef VT_CUDA_TEXT
    {NULL, NULL},
};
const uint32_t vt_cuda_texts_count = sizeof vt_cuda_texts / sizeof *vt_cuda_texts - 1;

const char vt_cuda_architectures[] = VT_CUDA_ARCHITECTURES;
const char vt_cuda_compiler[] = VT_CUDA_COMPILER;
