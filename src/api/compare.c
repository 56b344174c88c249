/* SPDX-License-Identifier: Apache-2.0
 * compare.c - compares two tensors element by element. Two elements are equal if their bits are
 * equal, if both are NaN, or if both are a true bool; the digest treats these as equal too. The
 * distance of two elements is counted in representable values. A reading says how the elements of a
 * type are read. */
#include <string.h>
#include "volta/volta_tools.h"
#include "vt_alloc.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "elements are read in the byte order of the machine");

/* How the elements of one type are read. */
typedef struct reading {
  size_t bytes;      /* bytes of an element */
  uint64_t sign;     /* the sign bit; 0 for a type without one */
  uint64_t infinity; /* bits of +inf; 0 for a type that is not floating point */
  uint64_t nan;      /* the canonical NaN */
  int is_bool;       /* 1 if the type is bool, where every value but 0 is true */
} reading;

static reading reading_of(uint32_t dtype) {
  reading r = {.bytes = (size_t)vt_dtype_bytes(dtype), .is_bool = dtype == VT_DTYPE_BOOL};
  if (dtype != VT_DTYPE_U8 && dtype != VT_DTYPE_BOOL) r.sign = UINT64_C(1) << (8 * r.bytes - 1);
  if (dtype == VT_DTYPE_F32) r.infinity = 0x7f800000, r.nan = 0x7fc00000;
  if (dtype == VT_DTYPE_F16) r.infinity = 0x7c00, r.nan = 0x7e00;
  if (dtype == VT_DTYPE_BF16) r.infinity = 0x7f80, r.nan = 0x7fc0;
  if (dtype == VT_DTYPE_F64)
    r.infinity = UINT64_C(0x7ff0000000000000), r.nan = UINT64_C(0x7ff8000000000000);
  return r;
}

/* The canonical bits of element i. */
static uint64_t canonical_element_bits(const reading *r, const void *data, uint64_t i) {
  uint64_t u = 0;
  memcpy(&u, (const uint8_t *)data + i * r->bytes, r->bytes);
  if (r->is_bool) return u != 0;
  if (r->infinity != 0 && (u & ~r->sign) > r->infinity) return r->nan;
  return u;
}

/* The rank of a value among all values of its type: the next representable value has a rank that is
 * larger by one, and -0 is directly below +0. Signed values are shifted up by half their range, so
 * that no rank is negative. */
static uint64_t rank_of_bits(const reading *r, uint64_t u) {
  if (r->infinity == 0) return u ^ r->sign;
  return (u & r->sign) != 0 ? r->sign - 1 - (u & ~r->sign) : r->sign + u;
}

/* Returns the number of steps from `a` to `b` through the representable values; UINT64_MAX if one
 * of them is NaN. */
static uint64_t distance(const reading *r, uint64_t a, uint64_t b) {
  if (r->infinity != 0 && (a == r->nan || b == r->nan)) return UINT64_MAX;
  const uint64_t x = rank_of_bits(r, a), y = rank_of_bits(r, b);
  return x > y ? x - y : y - x;
}

static vt_status check_comparable(const vt_tensor *a, const vt_tensor *b, uint64_t *out_count,
                                  vt_diag *d) {
  uint64_t count;
  VT_TRY(vt_tensor_bytes(a, &count, NULL, d));
  VT_TRY(vt_tensor_bytes(b, NULL, NULL, d));
  if (a->dtype != b->dtype)
    return VT_FAIL(d, VT_TENSOR, "a tensor of %s cannot be compared with one of %s",
                   vt_dtype_name(a->dtype), vt_dtype_name(b->dtype));
  if (a->rank != b->rank)
    return VT_FAIL(d, VT_TENSOR, "a tensor of rank %u cannot be compared with one of rank %u",
                   a->rank, b->rank);
  for (uint32_t i = 0; i < a->rank; i++)
    if (a->dim[i] != b->dim[i])
      return VT_FAIL(d, VT_TENSOR, "dimension %u of the tensors differs: %lld and %lld", i,
                     (long long)a->dim[i], (long long)b->dim[i]);
  if (count != 0 && (a->data == NULL || b->data == NULL))
    return VT_FAIL(d, VT_TENSOR, "a tensor without data cannot be compared");
  *out_count = count;
  return VT_OK;
}

static void compare_element(const reading *r, const vt_tensor *a, const vt_tensor *b, uint64_t i,
                            vt_compare *out) {
  const uint64_t x = canonical_element_bits(r, a->data, i),
                 y = canonical_element_bits(r, b->data, i);
  if (x == y) return;
  if (out->differing++ == 0) {
    out->first = i;
    out->first_a = x;
    out->first_b = y;
  }
  const uint64_t far = distance(r, x, y);
  if (far > out->largest) out->largest = far;
}

/* Pieces of the tensors with equal bytes are skipped, because equal bytes are equal elements of any
 * type. `out->size` is set to the size of the written struct; the caller's value is not read,
 * because no smaller struct was ever published. */
vt_status vt_tensor_compare(const vt_tensor *a, const vt_tensor *b, vt_compare *out, vt_diag *d) {
  enum { PIECE = 4096 }; /* elements of a piece, which are compared at once */
  vt_compare c = {.size = sizeof c};
  VT_TRY(check_comparable(a, b, &c.compared, d));
  const reading r = reading_of(a->dtype);
  const uint8_t *pa = a->data, *pb = b->data;
  for (uint64_t at = 0; at < c.compared; at += PIECE) {
    const uint64_t n = c.compared - at < PIECE ? c.compared - at : PIECE;
    if (memcmp(pa + at * r.bytes, pb + at * r.bytes, (size_t)n * r.bytes) == 0) continue;
    for (uint64_t i = at; i < at + n; i++) compare_element(&r, a, b, i, &c);
  }
  *out = c;
  return VT_OK;
}
