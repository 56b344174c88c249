/* SPDX-License-Identifier: Apache-2.0
 * stream.h - a part of a file from its beginning to its end, as it is or unpacked on the way, so
 * that a reader sees a header before anything behind it costs memory. For the library alone. */
#ifndef VT_STREAM_H
#define VT_STREAM_H
#include "vt_file.h"

enum { VT_STREAM_PLAIN, VT_STREAM_DEFLATE, VT_STREAM_GZIP };

/* No deflated byte stands for more than this many, so a small file that claims a huge content is
 * refused before memory is taken for it. */
enum { VT_STREAM_RATIO = 1032 };

typedef struct vt_stream {
  const vt_source *src;
  uint64_t at, end; /* of the source: what was not read yet */
  uint64_t given;   /* bytes handed out */
  uint32_t crc;     /* CRC-32 of those */
  int sums;         /* 1: keep the CRC */
  struct unpacker *unpacker;
  vt_alloc a;
} vt_stream;

/* The bytes at..end of a source, which must lie inside it. */
vt_status vt_stream_open(const vt_source *src, uint64_t at, uint64_t end, int packing, vt_alloc a,
                         vt_stream *out, vt_diag *d) VT_NODISCARD;
void vt_stream_close(vt_stream *s);
/* Exactly `n` bytes; VT_FORMAT when there are fewer. */
vt_status vt_stream_read(vt_stream *s, void *to, uint64_t n, vt_diag *d) VT_NODISCARD;
/* Nothing may be left, packed or not; gzip's own checksum is compared here. */
vt_status vt_stream_end(vt_stream *s, vt_diag *d) VT_NODISCARD;
/* The most bytes that can still come out. */
uint64_t vt_stream_most(const vt_stream *s);
#endif
