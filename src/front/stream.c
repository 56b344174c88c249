/* SPDX-License-Identifier: Apache-2.0
 * stream.c - reads a range of a file sequentially and unpacks deflate and gzip. zlib allocates its
 * memory with the caller's allocator. */
#include "stream.h"
#include <string.h>
#include <zlib.h>

/* PIECE: packed bytes that are read at a time; STEP: most bytes that are unpacked at a time. */
enum { PIECE = 32 * 1024, STEP = 1 << 30 };

struct unpacker {
  z_stream z;
  vt_alloc a;        /* the allocator that zlib uses */
  int ended;         /* 1: zlib has seen the end of the packed data */
  uint8_t in[PIECE]; /* packed bytes that were read from the source */
};

/* ---- zlib's memory ---- */

/* Header of a block of zlib's memory: zlib frees a block without its size, so the size is stored
 * in front of it. */
typedef union block_size {
  size_t bytes;      /* size of the block, the header included */
  max_align_t align; /* keeps the block aligned */
} block_size;

static void *zlib_new(void *user, unsigned items, unsigned size) {
  const vt_alloc *a = user;
  uint64_t bytes;
  if (!vt_size_mul(items, size, &bytes) || bytes > SIZE_MAX - sizeof(block_size)) return NULL;
  block_size *k = vt_alloc_new(*a, sizeof *k + (size_t)bytes);
  if (k == NULL) return NULL;
  k->bytes = sizeof *k + (size_t)bytes;
  return k + 1;
}

static void zlib_free(void *user, void *p) {
  const vt_alloc *a = user;
  block_size *k = (block_size *)p - 1;
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
  /* The argument is 15, the bits of the window: negated for raw deflate without a header, plus 16
   * for data with a gzip header. */
  if (inflateInit2(&u->z, packing == VT_STREAM_GZIP ? 15 + 16 : -15) != Z_OK) {
    vt_alloc_free(s->a, u, sizeof *u);
    return VT_FAIL(d, VT_NOMEM, "no memory to unpack a file");
  }
  s->unpacker = u;
  return VT_OK;
}

vt_status vt_stream_open(const vt_source *src, uint64_t begin, uint64_t end, int packing,
                         vt_alloc a, vt_stream *out, vt_diag *d) {
  vt_stream s = {.src = src, .at = begin, .end = end, .a = a};
  if (begin > end || end > src->size)
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

static vt_status fail_too_short(const vt_stream *s, vt_diag *d) {
  return VT_FAIL(d, VT_FORMAT, "the data ends at byte %llu of the file, before it is complete",
                 (unsigned long long)s->end);
}

static vt_status read_plain(vt_stream *s, uint8_t *to, uint64_t n, vt_diag *d) {
  if (n > s->end - s->at) return fail_too_short(s, d);
  VT_TRY(vt_source_read(s->src, s->at, to, (size_t)n, d));
  s->at += n;
  return VT_OK;
}

static vt_status read_packed_piece(vt_stream *s, vt_diag *d) {
  struct unpacker *u = s->unpacker;
  const size_t n = s->end - s->at < PIECE ? (size_t)(s->end - s->at) : PIECE;
  if (n == 0) return fail_too_short(s, d);
  VT_TRY(vt_source_read(s->src, s->at, u->in, n, d));
  s->at += n;
  u->z.next_in = u->in;
  u->z.avail_in = (unsigned)n;
  return VT_OK;
}

/* Unpacks up to `n` bytes; fewer only at the end of the packed data. zlib may have consumed all
 * input before it has returned all output, so more input is read only if zlib makes no progress
 * without it. */
static vt_status unpack(vt_stream *s, uint8_t *to, unsigned n, unsigned *out_got, vt_diag *d) {
  struct unpacker *u = s->unpacker;
  u->z.next_out = to;
  u->z.avail_out = n;
  while (u->z.avail_out != 0 && !u->ended) {
    const int r = inflate(&u->z, Z_NO_FLUSH);
    u->ended = r == Z_STREAM_END;
    if (r == Z_MEM_ERROR) return VT_FAIL(d, VT_NOMEM, "no memory to unpack a file");
    if (r == Z_BUF_ERROR && u->z.avail_in == 0) {
      VT_TRY(read_packed_piece(s, d));
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
      return VT_FAIL(d, VT_FORMAT, "the packed data unpacks to less than its declared size");
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

vt_status vt_stream_check_end(vt_stream *s, vt_diag *d) {
  struct unpacker *u = s->unpacker;
  if (u != NULL) {
    uint8_t more;
    unsigned got = 0;
    VT_TRY(unpack(s, &more, 1, &got, d));
    if (got != 0)
      return VT_FAIL(d, VT_FORMAT, "the packed data unpacks to more than its declared size");
  }
  const uint64_t left = s->end - s->at + (u != NULL ? u->z.avail_in : 0);
  if (left != 0)
    return VT_FAIL(d, VT_FORMAT, "%llu bytes follow where the data should end, at byte %llu",
                   (unsigned long long)left, (unsigned long long)(s->end - left));
  return VT_OK;
}

uint64_t vt_stream_max_left(const vt_stream *s) {
  uint64_t left = s->end - s->at;
  if (s->unpacker == NULL) return left;
  left += s->unpacker->z.avail_in;
  /* Most input bytes that zlib has consumed without having returned what they unpack to. */
  enum { TAKEN = 64 };
  if (!vt_size_mul(left + TAKEN, VT_STREAM_RATIO, &left)) return UINT64_MAX;
  return left;
}
