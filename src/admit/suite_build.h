/* SPDX-License-Identifier: Apache-2.0
 * suite_build.h - the steps of building a suite: add every case file, expand the blocks into cases,
 * and give the cases their stored digests. Private to src/admit. */
#ifndef VT_SUITE_BUILD_H
#define VT_SUITE_BUILD_H
#include "vt_suite.h"

vt_status vt_suite_new(const vt_alloc *alloc, vt_suite **out_suite, vt_diag *d) VT_NODISCARD;
/* Adds the blocks of one case file, which messages call `file`. */
vt_status vt_suite_add_file(vt_suite *s, const char *file, const void *bytes, size_t n,
                            vt_diag *d) VT_NODISCARD;
/* Makes the models and cases of all blocks. No file may be added afterwards. */
vt_status vt_suite_expand(vt_suite *s, vt_diag *d) VT_NODISCARD;

/* A named file in a suite image, which owns the bytes. */
typedef struct vt_suite_part {
  const char *name; /* file name, n_name bytes without a byte 0 at the end */
  size_t n_name;
  const uint8_t *bytes; /* content of the file */
  size_t n;
} vt_suite_part;
/* Adds the examples that a file published.digests lists. Their models are among the parts. */
vt_status vt_suite_add_published(vt_suite *s, const vt_suite_part *published,
                                 const vt_suite_part *part, uint32_t n_parts,
                                 vt_diag *d) VT_NODISCARD;

/* Builds a suite from an image; suite_image.c describes the format. The image is not needed
 * afterwards. */
vt_status vt_suite_from_image(const uint8_t *image, size_t n, const vt_alloc *alloc,
                              vt_suite **out_suite, vt_diag *d) VT_NODISCARD;
/* Unpacks the image in the library; the caller frees the `out_n` bytes with `a`. */
vt_status vt_suite_unpack_image(vt_alloc a, uint8_t **out_image, size_t *out_n,
                                vt_diag *d) VT_NODISCARD;
#endif
