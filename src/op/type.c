/* SPDX-License-Identifier: Apache-2.0
 * type.c - types: printing, comparison, size. */
#include <stdio.h>
#include <string.h>
#include "vt_op.h"

void vt_type_print(const vt_dims *dims, const vt_type *t, vt_text *out) {
  const char *name = vt_dtype_name(t->dtype);
  vt_text_add(out, "%s[", name == NULL ? "?" : name);
  for (uint32_t i = 0; i < t->rank; i++) {
    vt_text_add(out, "%s", i == 0 ? "" : ", ");
    vt_dim_print(dims, t->dim[i], out);
  }
  vt_text_add(out, "]");
}

const char *vt_type_text(const vt_dims *dims, const vt_type *t, char out[VT_TYPE_TEXT]) {
  vt_text text;
  vt_text_init(&text, vt_alloc_default());
  vt_type_print(dims, t, &text);
  snprintf(out, VT_TYPE_TEXT, "%s", vt_text_status(&text) == VT_OK ? text.s : "?");
  vt_text_done(&text);
  return out;
}

int vt_type_equal(const vt_type *a, const vt_type *b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         memcmp(a->dim, b->dim, a->rank * sizeof *a->dim) == 0;
}

vt_status vt_type_size(const vt_type *t, uint64_t *out_count, uint64_t *out_bytes, vt_diag *d) {
  uint64_t count = 1, bytes; /* lengths of 0 are left out of the product, because the strides of an
                                empty tensor must not overflow either */
  int empty = 0;
  for (uint32_t i = 0; i < t->rank; i++) {
    empty |= t->dim[i] == 0;
    if (t->dim[i] < 0 || !vt_size_mul(count, (uint64_t)(t->dim[i] == 0 ? 1 : t->dim[i]), &count))
      return VT_FAIL(d, VT_LIMIT, "a tensor has more elements than can be counted");
  }
  if (!vt_size_mul(count, vt_dtype_bytes(t->dtype), &bytes) || bytes > (uint64_t)1 << 48)
    return VT_FAIL(d, VT_LIMIT, "a tensor of %llu elements is beyond 2^48 bytes",
                   (unsigned long long)count);
  *out_count = empty ? 0 : count;
  *out_bytes = empty ? 0 : bytes;
  return VT_OK;
}
