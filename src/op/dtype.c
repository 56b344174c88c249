/* SPDX-License-Identifier: Apache-2.0
 * dtype.c - the rows of dtypes.def as functions, and the size of a tensor. */
#include <stddef.h>
#include <string.h>
#include "vt_alloc.h"

typedef struct dtype_row {
  const char *name;
  uint32_t number, bytes;
} dtype_row;

static const dtype_row rows[] = {
#define VT_DTYPE(name, NAME, number, bytes, class) {#name, number, bytes},
#include "dtypes.def"
#undef VT_DTYPE
};

enum { ROWS = sizeof rows / sizeof rows[0] };

static const dtype_row *row_of(uint32_t dtype) {
  for (size_t i = 0; i < ROWS; i++)
    if (rows[i].number == dtype) return &rows[i];
  return NULL;
}

const char *vt_dtype_name(uint32_t dtype) {
  const dtype_row *r = row_of(dtype);
  return r != NULL ? r->name : NULL;
}

uint32_t vt_dtype_find(const char *name) {
  if (name == NULL) return 0;
  for (size_t i = 0; i < ROWS; i++)
    if (strcmp(rows[i].name, name) == 0) return rows[i].number;
  return 0;
}

uint64_t vt_dtype_bytes(uint32_t dtype) {
  const dtype_row *r = row_of(dtype);
  return r != NULL ? r->bytes : 0;
}

/* The size limit applies to the product of all nonzero dimensions. Thus the strides of an empty
 * tensor can be computed, and whether a tensor is refused does not depend on the order of its
 * dimensions. */
vt_status vt_tensor_bytes(const vt_tensor *t, uint64_t *out_count, uint64_t *out_bytes,
                          vt_diag *d) {
  const uint64_t size = vt_dtype_bytes(t->dtype);
  if (size == 0)
    return VT_FAIL(d, VT_TENSOR, "a tensor has type number %u, which does not exist", t->dtype);
  if (t->rank > VT_MAX_RANK)
    return VT_FAIL(d, VT_LIMIT, "a tensor has rank %u, more than %d", t->rank, VT_MAX_RANK);
  uint64_t span = size;
  int empty = 0;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (t->dim[i] < 0)
      return VT_FAIL(d, VT_TENSOR, "dimension %u of a tensor is %lld, below zero", i,
                     (long long)t->dim[i]);
    empty |= t->dim[i] == 0;
    const uint64_t n = t->dim[i] == 0 ? 1 : (uint64_t)t->dim[i];
    if (!vt_size_mul(span, n, &span) || span > PTRDIFF_MAX)
      return VT_FAIL(d, VT_LIMIT, "a tensor has more bytes than can be addressed");
  }
  if (out_count != NULL) *out_count = empty ? 0 : span / size;
  if (out_bytes != NULL) *out_bytes = empty ? 0 : span;
  return VT_OK;
}
