/* SPDX-License-Identifier: Apache-2.0
 * suite_build.h - how a suite comes about, step by step: every case file is taken, all are
 * expanded, the stored digests are paired with the cases. Private to the room. */
#ifndef VT_SUITE_BUILD_H
#define VT_SUITE_BUILD_H
#include "vt_suite.h"

vt_status vt_suite_new(const vt_alloc *alloc, vt_suite **out_suite, vt_diag *d) VT_NODISCARD;
/* The blocks of one case file, which messages call `file`. */
vt_status vt_suite_take_file(vt_suite *s, const char *file, const void *bytes, size_t n,
                             vt_diag *d) VT_NODISCARD;
/* Models and cases of all blocks; no file can be taken after it. */
vt_status vt_suite_expand(vt_suite *s, vt_diag *d) VT_NODISCARD;

/* A text that somebody else owns. */
typedef struct vt_suite_part {
  const char *name;
  size_t n_name;
  const uint8_t *bytes;
  size_t n;
} vt_suite_part;
/* The content of a published.digests; the models it names are among the parts. */
vt_status vt_suite_take_published(vt_suite *s, const vt_suite_part *published,
                                  const vt_suite_part *part, uint32_t n_parts,
                                  vt_diag *d) VT_NODISCARD;

/* A suite from an image as the library carries one; suite_image.c says what is in it. It is not
 * kept. */
vt_status vt_suite_from_image(const uint8_t *image, size_t n, const vt_alloc *alloc,
                              vt_suite **out_suite, vt_diag *d) VT_NODISCARD;
/* What the library carries, unpacked; the caller gives the `out_n` bytes back to `a`. */
vt_status vt_suite_image(vt_alloc a, uint8_t **out_image, size_t *out_n, vt_diag *d) VT_NODISCARD;
#endif
