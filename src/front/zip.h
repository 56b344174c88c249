/* SPDX-License-Identifier: Apache-2.0
 * zip.h - reads and checks the directory of a zip file, opens its members, and writes the
 * headers of one. Private to src/front. */
#ifndef VT_ZIP_H
#define VT_ZIP_H
#include "archive.h"
#include "vt_text.h"

typedef struct vt_member {
  const char *name;
  uint64_t local;         /* position of the member's local header in the file */
  uint64_t begin, end;    /* range of the member's data in the file, as it is stored or packed */
  uint64_t size;          /* declared size after unpacking */
  uint32_t crc, index;    /* CRC-32 of the unpacked data; position in the directory */
  uint16_t method, flags; /* compression method, general purpose flags */
} vt_member;

typedef struct vt_zip {
  vt_member *members; /* members in the order of the directory; in the archive's arena */
  uint32_t count;     /* number of members */
} vt_zip;

/* Reads and checks the directory, every local header and every descriptor. Members must be stored
 * or deflated, not encrypted and on one disk. No name may occur twice, no two members may share
 * bytes, and every byte before the directory must belong to a member. */
vt_status vt_zip_open(vt_archive *ar, const vt_source *src, vt_zip *out, vt_diag *d) VT_NODISCARD;
/* Opens the content of a member as a stream. After all of it was read, vt_zip_check_member compares
 * its size and CRC with the directory. */
vt_status vt_zip_open_member(const vt_archive *ar, const vt_source *src, const vt_member *m,
                             vt_stream *out, vt_diag *d) VT_NODISCARD;
vt_status vt_zip_check_member(const vt_member *m, vt_stream *s, vt_diag *d) VT_NODISCARD;

/* Append to `t` the headers of a stored member, whose name is `name` followed by `suffix`: the
 * local header, which is directly before its data and always has VT_ZIP_LOCAL_HEADER bytes more
 * than the name, and the entry in the directory; vt_zip_add_end_records the end records. They use
 * zip64 for the same sizes as numpy.savez does, although the format requires it only for larger
 * ones. */
enum { VT_ZIP_LOCAL_HEADER = 50 };
void vt_zip_add_local_header(vt_text *t, const char *name, const char *suffix, uint32_t crc,
                             uint64_t size);
void vt_zip_add_directory_entry(vt_text *t, const char *name, const char *suffix, uint32_t crc,
                                uint64_t size, uint64_t header_position);
void vt_zip_add_end_records(vt_text *t, uint64_t count, uint64_t directory_begin,
                            uint64_t directory_size);
#endif
