/* SPDX-License-Identifier: Apache-2.0
 * vt_store.h - a folder of cached files (plans, compiled kernels, results of capability probes)
 * that several processes use at once. A rename puts each file in place, so that readers see
 * complete files only; any file may vanish at any time. Nothing in the folder is trusted: the
 * folder and each file must belong to the user of this process, and nobody else may have permission
 * to write to them. A name is hexadecimal digits of a hash and ".plan", ".cubin" or ".trial". */
#ifndef VT_STORE_H
#define VT_STORE_H
#include "vt_file.h"

typedef struct vt_store {
  int folder;     /* descriptor of the folder; -1 if the store is closed */
  uint64_t limit; /* most bytes that all files may have together */
} vt_store;

/* VT_STORE_NAME_MAX: bytes of a file name with its 0. VT_STORE_STALE: seconds after which an
 * unfinished file counts as abandoned and is removed. */
enum { VT_STORE_NAME_MAX = 80, VT_STORE_STALE = 900 };

/* Opens the folder. Creates it if it is missing, but not the folders above it. */
vt_status vt_store_open(vt_store *s, const char *path, uint64_t limit, vt_diag *d) VT_NODISCARD;
void vt_store_close(vt_store *s);
/* Reads a file. If no file has that name, returns VT_OK with *out_there = 0. A file with the wrong
 * owner or permissions is an error. */
vt_status vt_store_read(const vt_store *s, const char *name, vt_alloc a, int *out_there,
                        vt_file *out, vt_diag *d) VT_NODISCARD;
/* Marks a file as just used: when the store is full, the file that was unused for longest is
 * removed first. */
void vt_store_touch(const vt_store *s, const char *name);
/* Writes a file, replacing any file of that name. Then removes abandoned unfinished files, and
 * least recently used files until the store is within its limit; *out_removed counts the latter. */
vt_status vt_store_write(const vt_store *s, const char *name, const void *bytes, size_t n,
                         vt_alloc a, uint64_t *out_removed, vt_diag *d) VT_NODISCARD;
/* Returns the bytes of all finished files in the store; 0 if they cannot be listed. */
uint64_t vt_store_bytes(const vt_store *s, vt_alloc a);
#endif
