/* SPDX-License-Identifier: Apache-2.0
 * stream.c - reads a part of a file in order and unpacks deflate and gzip. zlib takes its memory
 * from the caller's allocator. */
#include "stream.h"
#include <string.h>
#include <zlib.h>

enum { PIECE = 32 * 1024, STEP = 1 << 30 };

struct unpacker {
  z_stream z;
  vt_alloc a;
  int ended;
  uint8_t in[PIECE];
};

/* ---- zlib's memory ---- */

/* zlib frees without saying how much, so the size is kept in front. */
typedef union kept {
  size_t bytes;
  max_align_t align;
} kept;

static void *zlib_new(void *user, unsigned items, unsigned size) {
  const vt_alloc *a = user;
  uint64_t bytes;
  if (!vt_size_mul(items, size, &bytes) || bytes > SIZE_MAX - sizeof(kept)) return NULL;
  kept *k = vt_alloc_new(*a, sizeof *k + (size_t)bytes);
  if (k == NULL) return NULL;
  k->bytes = sizeof *k + (size_t)bytes;
  return k + 1;
}

static void zlib_free(void *user, void *p) {
  const vt_alloc *a = user;
  kept *k = (kept *)p - 1;
  vt_alloc_free(*a, k, k->bytes);
}

/* ---- opening ---- */

static vt_status open_unpacker(vt_stream *s, int packing, vt_diag *d) {
  struct unpacker *u = vt_alloc_new(s->a, sizeof *u);
  if (u == NULL) return VT_FAIL(d, VT_NOMEM, "no memory to unpack a file");
  u->a = s->a;
  u->z.zalloc = zlib_new;
  u->z.zfree = zlib_free;
  u->z.opaque = &u->a;
  /* 15 bits of window; negative: deflate without a frame, 16 more: the frame of gzip. */
  if (inflateInit2(&u->z, packing == VT_STREAM_GZIP ? 15 + 16 : -15) != Z_OK) {
    vt_alloc_free(s->a, u, sizeof *u);
    return VT_FAIL(d, VT_NOMEM, "no memory to unpack a file");
  }
  s->unpacker = u;
  return VT_OK;
}

vt_status vt_stream_open(const vt_source *src, uint64_t at, uint64_t end, int packing, vt_alloc a,
                         vt_stream *out, vt_diag *d) {
  vt_stream s = {.src = src, .at = at, .end = end, .a = a};
  if (at > end || end > src->size)
    return VT_FAIL(d, VT_INTERNAL, "a stream was opened outside its file");
  if (packing != VT_STREAM_PLAIN) VT_TRY(open_unpacker(&s, packing, d));
  *out = s;
  return VT_OK;
}

void vt_stream_close(vt_stream *s) {
  if (s->unpacker == NULL) return;
  (void)inflateEnd(&s->unpacker->z);
  vt_alloc_free(s->a, s->unpacker, sizeof *s->unpacker);
  s->unpacker = NULL;
}

/* ---- reading ---- */

static vt_status short_of(const vt_stream *s, vt_diag *d) {
  return VT_FAIL(d, VT_FORMAT, "the data ends at byte %llu of the file, before it is complete",
                 (unsigned long long)s->end);
}

static vt_status read_plain(vt_stream *s, uint8_t *to, uint64_t n, vt_diag *d) {
  if (n > s->end - s->at) return short_of(s, d);
  VT_TRY(vt_source_read(s->src, s->at, to, (size_t)n, d));
  s->at += n;
  return VT_OK;
}

static vt_status refill(vt_stream *s, vt_diag *d) {
  struct unpacker *u = s->unpacker;
  const size_t n = s->end - s->at < PIECE ? (size_t)(s->end - s->at) : PIECE;
  if (n == 0) return short_of(s, d);
  VT_TRY(vt_source_read(s->src, s->at, u->in, n, d));
  s->at += n;
  u->z.next_in = u->in;
  u->z.avail_in = (unsigned)n;
  return VT_OK;
}

/* Up to `n` bytes; fewer only at the end of what was packed. All that was packed may have been
 * taken in before all of it has come out, so more is brought only when nothing comes without. */
static vt_status unpack(vt_stream *s, uint8_t *to, unsigned n, unsigned *out_got, vt_diag *d) {
  struct unpacker *u = s->unpacker;
  u->z.next_out = to;
  u->z.avail_out = n;
  while (u->z.avail_out != 0 && !u->ended) {
    const int r = inflate(&u->z, Z_NO_FLUSH);
    u->ended = r == Z_STREAM_END;
    if (r == Z_MEM_ERROR) return VT_FAIL(d, VT_NOMEM, "no memory to unpack a file");
    if (r == Z_BUF_ERROR && u->z.avail_in == 0) {
      VT_TRY(refill(s, d));
    } else if (r != Z_OK && r != Z_STREAM_END) {
      return VT_FAIL(d, VT_FORMAT, "the packed data before byte %llu is damaged",
                     (unsigned long long)(s->at - u->z.avail_in));
    }
  }
  *out_got = n - u->z.avail_out;
  return VT_OK;
}

static vt_status read_packed(vt_stream *s, uint8_t *to, uint64_t n, vt_diag *d) {
  while (n != 0) {
    const unsigned step = n < STEP ? (unsigned)n : STEP;
    unsigned got = 0;
    VT_TRY(unpack(s, to, step, &got, d));
    if (got != step)
      return VT_FAIL(d, VT_FORMAT, "the packed data unpacks to less than it is said to hold");
    to += got;
    n -= got;
  }
  return VT_OK;
}

vt_status vt_stream_read(vt_stream *s, void *to, uint64_t n, vt_diag *d) {
  VT_TRY(s->unpacker != NULL ? read_packed(s, to, n, d) : read_plain(s, to, n, d));
  s->given += n;
  if (s->sums) s->crc = (uint32_t)crc32_z(s->crc, to, (size_t)n);
  return VT_OK;
}

vt_status vt_stream_end(vt_stream *s, vt_diag *d) {
  struct unpacker *u = s->unpacker;
  if (u != NULL) {
    uint8_t more;
    unsigned got = 0;
    VT_TRY(unpack(s, &more, 1, &got, d));
    if (got != 0)
      return VT_FAIL(d, VT_FORMAT, "the packed data unpacks to more than it is said to hold");
  }
  const uint64_t left = s->end - s->at + (u != NULL ? u->z.avail_in : 0);
  if (left != 0)
    return VT_FAIL(d, VT_FORMAT, "%llu bytes follow where the data should end, at byte %llu",
                   (unsigned long long)left, (unsigned long long)(s->end - left));
  return VT_OK;
}

uint64_t vt_stream_most(const vt_stream *s) {
  uint64_t left = s->end - s->at;
  if (s->unpacker == NULL) return left;
  left += s->unpacker->z.avail_in;
  enum { TAKEN = 64 }; /* zlib has taken in a few bits more, and may be inside a match */
  if (!vt_size_mul(left + TAKEN, VT_STREAM_RATIO, &left)) return UINT64_MAX;
  return left;
}
