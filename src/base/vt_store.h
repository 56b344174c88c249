/* SPDX-License-Identifier: Apache-2.0
 * vt_store.h - a folder of kept files, plans, compiled kernels and trials, that several processes
 * use at once. Files appear whole, by a rename, and may vanish at any time. Nothing in it is
 * trusted: the folder and each file must belong to the user of this process and be writable by
 * nobody else. A name is digits of a hash and ".plan", ".cubin" or ".trial". */
#ifndef VT_STORE_H
#define VT_STORE_H
#include "vt_file.h"

typedef struct vt_store {
  int folder; /* open; -1: there is none */
  uint64_t limit;
} vt_store;

/* `stale`: seconds after which a file that was never finished is taken away. */
enum { VT_STORE_NAME_MAX = 80, VT_STORE_STALE = 900 };

/* Makes the folder if it is missing, not those around it. */
vt_status vt_store_open(vt_store *s, const char *path, uint64_t limit, vt_diag *d) VT_NODISCARD;
void vt_store_close(vt_store *s);
/* No file of that name: VT_OK and *out_there = 0. A file that is not to be trusted fails. */
vt_status vt_store_read(const vt_store *s, const char *name, vt_alloc a, int *out_there,
                        vt_file *out, vt_diag *d) VT_NODISCARD;
/* It is in use: of the files, the one unused for longest goes first. */
void vt_store_touch(const vt_store *s, const char *name);
/* Puts a file in place of what had its name, then keeps within the limit and takes away what was
 * never finished. */
vt_status vt_store_write(const vt_store *s, const char *name, const void *bytes, size_t n,
                         vt_alloc a, uint64_t *out_removed, vt_diag *d) VT_NODISCARD;
/* Bytes of all that is kept there; 0 when it cannot be told. */
uint64_t vt_store_bytes(const vt_store *s, vt_alloc a);
#endif
