/* SPDX-License-Identifier: Apache-2.0
 * zip.h - the list of what a zip file holds, believed by nobody until it was checked; and how one
 * is written. Private to front/. */
#ifndef VT_ZIP_H
#define VT_ZIP_H
#include "archive.h"
#include "vt_text.h"

typedef struct vt_member {
  const char *name;
  uint64_t local;      /* where its local header begins */
  uint64_t begin, end; /* its data in the file, as it lies there */
  uint64_t size;       /* unpacked, as declared */
  uint32_t crc, index; /* index: place in the directory */
  uint16_t method, flags;
} vt_member;

typedef struct vt_zip {
  vt_member *members; /* in the order of the directory, in the archive's arena */
  uint32_t count;
} vt_zip;

/* Reads and checks the directory, every local header and every descriptor: stored or deflated, not
 * encrypted, on one disk, no name twice, no two members over the same bytes and no bytes that
 * belong to nobody. */
vt_status vt_zip_open(vt_archive *ar, const vt_source *src, vt_zip *out, vt_diag *d) VT_NODISCARD;
/* The content of a member; after it was read, vt_zip_finish compares its size and CRC. */
vt_status vt_zip_stream(const vt_archive *ar, const vt_source *src, const vt_member *m,
                        vt_stream *out, vt_diag *d) VT_NODISCARD;
vt_status vt_zip_finish(const vt_member *m, vt_stream *s, vt_diag *d) VT_NODISCARD;

/* What is written behind the data of a npz file: "NAME.npy", stored, as the directory has it, and
 * the end. Both turn to zip64 where numpy.savez does, which is earlier than they must. */
void vt_npz_central(vt_text *t, const char *name, uint32_t crc, uint64_t size, uint64_t at);
void vt_npz_end(vt_text *t, uint64_t count, uint64_t begin, uint64_t size);
#endif
