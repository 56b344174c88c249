/* SPDX-License-Identifier: Apache-2.0
 * vt_sealed.h - immutable bytes: an anonymous file in memory, sealed against writing. Bytes that
 * were hashed are therefore exactly the bytes that are loaded or executed later. */
#ifndef VT_SEALED_H
#define VT_SEALED_H
#include "vt_alloc.h"
#include "vt_hash.h"

typedef struct vt_sealed {
  /* Descriptor, closed on exec; at least 10, because child processes rearrange the low ones. */
  int fd;
  uint64_t size;
  vt_hash256 hash; /* hash of the whole content */
} vt_sealed;

/* Size limit, in bytes, for a file that contains code. */
#define VT_SEALED_MAX_BYTES (UINT64_C(1) << 30)
/* Reads a regular file into sealed memory; more than `limit` bytes are VT_LIMIT. vt_sealed_bytes
 * does the same for bytes in memory; tools such as lsof show them under `name`. */
vt_status vt_sealed_read(const char *path, uint64_t limit, vt_sealed *out, vt_diag *d) VT_NODISCARD;
vt_status vt_sealed_bytes(const void *p, size_t n, const char *name, vt_sealed *out,
                          vt_diag *d) VT_NODISCARD;
void vt_sealed_close(vt_sealed *s);
/* Writes a path that opens the sealed file in this process, and in a child that inherits the
 * descriptor. */
enum { VT_SEALED_PATH = 32 };
void vt_sealed_path(int fd, char out[VT_SEALED_PATH]);
#endif
