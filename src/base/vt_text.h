/* SPDX-License-Identifier: Apache-2.0
 * vt_text.h - a growing string with sticky failure, into which every printer writes. It may hold
 * zeros. */
#ifndef VT_TEXT_H
#define VT_TEXT_H
#include <stdint.h>
#include "vt_alloc.h"

typedef struct vt_text {
  vt_alloc a;
  char *s;       /* always 0-terminated once anything was added; NULL before */
  size_t n, cap; /* bytes written, without the terminating 0; bytes allocated */
  int failed;    /* 1 after memory ran out; nothing is added any more */
} vt_text;

void vt_text_init(vt_text *t, vt_alloc a);
void vt_text_done(vt_text *t);
vt_status vt_text_status(const vt_text *t) VT_NODISCARD; /* VT_OK or VT_NOMEM */
void vt_text_add(vt_text *t, const char *fmt, ...) VT_PRINTF(2, 3);
void vt_text_add_bytes(vt_text *t, const void *p, size_t n);
/* Writes x in decimal without a terminating 0; returns the number of digits. */
size_t vt_text_digits(char out[20], uint64_t x);

/* Edit distance for "did you mean"; 99 if it is above 3 or if a name has more than 64 bytes. */
unsigned vt_text_distance(const char *a, const char *b);

/* The best candidate so far for "did you mean". */
typedef struct vt_suggestion {
  const char *wanted, *best; /* the unknown word; the best candidate, NULL: none is similar */
  unsigned cost;             /* distance of `best`, lower is better */
} vt_suggestion;
void vt_suggestion_consider(vt_suggestion *s, const char *candidate);
#endif
