/* SPDX-License-Identifier: Apache-2.0
 * stream.h - reads a range of a file sequentially and unpacks it if needed, so that a reader can
 * check a header before it allocates memory for the data that follows. Private to the library. */
#ifndef VT_STREAM_H
#define VT_STREAM_H
#include "vt_file.h"

enum { VT_STREAM_PLAIN, VT_STREAM_DEFLATE, VT_STREAM_GZIP };

/* Largest compression ratio of deflate. A small file that declares a larger content is refused
 * before memory is allocated for it. */
enum { VT_STREAM_RATIO = 1032 };

typedef struct vt_stream {
  const vt_source *src;
  uint64_t at, end;          /* range of the source that has not been read yet */
  uint64_t given;            /* bytes that the caller has read, after unpacking */
  uint32_t crc;              /* CRC-32 of the bytes that the caller has read, if `sums` is 1 */
  int sums;                  /* 1: compute the CRC; set by the caller after opening */
  struct unpacker *unpacker; /* state of zlib; NULL: the range is not packed */
  vt_alloc a;
} vt_stream;

/* Opens the range begin..end of a source, which must be inside it. `packing` is VT_STREAM_*. */
vt_status vt_stream_open(const vt_source *src, uint64_t begin, uint64_t end, int packing,
                         vt_alloc a, vt_stream *out, vt_diag *d) VT_NODISCARD;
void vt_stream_close(vt_stream *s);
/* Reads exactly `n` bytes; VT_FORMAT if fewer are left. */
vt_status vt_stream_read(vt_stream *s, void *to, uint64_t n, vt_diag *d) VT_NODISCARD;
/* Checks that the range was read to its end, and the checksum of gzip data; VT_FORMAT if not. */
vt_status vt_stream_check_end(vt_stream *s, vt_diag *d) VT_NODISCARD;
/* Upper limit on the number of bytes that can still be read. */
uint64_t vt_stream_max_left(const vt_stream *s);
#endif
