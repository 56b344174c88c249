/* SPDX-License-Identifier: Apache-2.0
 * vt_sealed.h - bytes that nobody can change any more: a file in memory, without a name, sealed
 * against writing. What was hashed is what is loaded or executed later. */
#ifndef VT_SEALED_H
#define VT_SEALED_H
#include "vt_alloc.h"
#include "vt_hash.h"

typedef struct vt_sealed {
  int fd; /* closed on exec; never one of the first ten, which a child process rearranges */
  uint64_t size;
  vt_hash256 hash; /* of the whole */
} vt_sealed;

/* As large as a file with code in it may be. */
#define VT_SEALED_MOST (UINT64_C(1) << 30)
/* A regular file's content; larger than `limit` is VT_LIMIT. `name` is what tools show of it. */
vt_status vt_sealed_read(const char *path, uint64_t limit, vt_sealed *out, vt_diag *d) VT_NODISCARD;
vt_status vt_sealed_bytes(const void *p, size_t n, const char *name, vt_sealed *out,
                          vt_diag *d) VT_NODISCARD;
void vt_sealed_close(vt_sealed *s);
/* A path that leads to it within this process, and in a child that inherits the descriptor. */
enum { VT_SEALED_PATH = 32 };
void vt_sealed_path(int fd, char out[VT_SEALED_PATH]);
#endif
