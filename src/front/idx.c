/* SPDX-License-Identifier: Apache-2.0
 * idx.c - reads IDX, the file format of MNIST, plain or packed by gzip.
 *
 *   byte 0: two zero bytes   2: type   3: rank   4: each dimension, u32 big-endian
 *   then the elements, big-endian, and nothing else */
#include <string.h>
#include "archive.h"

static const struct {
  uint8_t code;
  uint32_t dtype; /* VT_DTYPE_*; 0: Volta does not have this type */
} codes[] = {
    {0x08, VT_DTYPE_U8},  {0x09, VT_DTYPE_I8},  {0x0b, 0},
    {0x0c, VT_DTYPE_I32}, {0x0d, VT_DTYPE_F32}, {0x0e, VT_DTYPE_F64},
};
enum { CODES = sizeof codes / sizeof codes[0] };

static vt_status read_type_and_rank(const uint8_t p[4], vt_tensor *out, vt_diag *d) {
  size_t i = 0;
  while (i < CODES && codes[i].code != p[2]) i++;
  if (p[0] != 0 || p[1] != 0 || i == CODES || p[3] == 0)
    return VT_FAIL(d, VT_FORMAT, "the IDX file does not begin with 0 0, a type and a rank");
  if (codes[i].dtype == 0)
    return VT_FAIL(d, VT_UNSUPPORTED, "the IDX type 0x%02x at byte 2 is not supported", p[2]);
  if (p[3] > VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "the IDX file has rank %u, more than %d (byte 3)", p[3],
                   VT_MAX_RANK);
  out->dtype = codes[i].dtype;
  out->rank = p[3];
  return VT_OK;
}

static vt_status read_header(vt_stream *s, vt_tensor *out, vt_diag *d) {
  uint8_t p[4];
  VT_TRY(vt_stream_read(s, p, 4, d));
  VT_TRY(read_type_and_rank(p, out, d));
  for (uint32_t i = 0; i < out->rank; i++) {
    VT_TRY(vt_stream_read(s, p, 4, d));
    out->dim[i] = (int64_t)p[0] << 24 | (int64_t)p[1] << 16 | (int64_t)p[2] << 8 | p[3];
  }
  return VT_OK;
}

static vt_status check_size(const vt_stream *s, const vt_tensor *t, uint64_t *out_bytes,
                            vt_diag *d) {
  uint64_t bytes;
  if (vt_tensor_bytes(t, NULL, &bytes, NULL) != VT_OK || bytes > VT_ARCHIVE_FILE_LIMIT)
    return VT_FAIL(d, VT_LIMIT, "the IDX shape before byte %llu needs more bytes than are accepted",
                   (unsigned long long)s->given);
  if (bytes > vt_stream_max_left(s))
    return VT_FAIL(d, VT_FORMAT,
                   "the IDX shape before byte %llu needs %llu bytes, and the file "
                   "cannot hold them",
                   (unsigned long long)s->given, (unsigned long long)bytes);
  *out_bytes = bytes;
  return VT_OK;
}

/* Converts big-endian elements to little-endian, in place. */
static void swap_bytes_of_elements(uint8_t *p, uint64_t bytes, size_t size) {
  for (uint64_t at = 0; at < bytes; at += size)
    for (size_t i = 0; i < size / 2; i++) {
      const uint8_t low = p[at + i];
      p[at + i] = p[at + size - 1 - i];
      p[at + size - 1 - i] = low;
    }
}

static vt_status read_file(vt_archive *ar, vt_stream *s, vt_diag *d) {
  vt_tensor t = {.data = NULL};
  uint64_t bytes = 0;
  void *data;
  VT_TRY(read_header(s, &t, d));
  VT_TRY(check_size(s, &t, &bytes, d));
  VT_TRY(vt_archive_add(ar, "", &t, &data, d));
  VT_TRY(vt_archive_read_data(s, &t, data, bytes, d));
  VT_TRY(vt_stream_check_end(s, d));
  swap_bytes_of_elements(data, bytes, (size_t)vt_dtype_bytes(t.dtype));
  return VT_OK;
}

vt_status vt_idx_parse(vt_archive *ar, const vt_source *src, vt_diag *d) {
  vt_stream s;
  uint8_t mark[2] = {0, 0};
  ar->format = "idx";
  if (src->size >= 2) VT_TRY(vt_source_read(src, 0, mark, 2, d));
  const int packed = mark[0] == 0x1f && mark[1] == 0x8b;
  VT_TRY(
      vt_stream_open(src, 0, src->size, packed ? VT_STREAM_GZIP : VT_STREAM_PLAIN, ar->a, &s, d));
  const vt_status status = read_file(ar, &s, d);
  vt_stream_close(&s);
  return status;
}
