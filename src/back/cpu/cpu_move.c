/* SPDX-License-Identifier: Apache-2.0
 * cpu_move.c - bits that are copied to places known beforehand. */
#include <string.h>
#include "cpu_backend.h"

int64_t vt_cpu_count(const vt_view *v) {
  int64_t n = 1;
  for (uint32_t i = 0; i < v->rank; i++) n *= v->dim[i];
  return n;
}

uint64_t vt_cpu_bytes_of(uint32_t dtype) { return (uint64_t)vt_dtype_bytes(dtype); }

vt_view vt_cpu_at(const vt_view *v, uint32_t axis, int64_t i) {
  vt_view one = *v;
  one.rank--;
  for (uint32_t k = axis; k < one.rank; k++) {
    one.dim[k] = v->dim[k + 1];
    one.stride[k] = v->stride[k + 1];
  }
  one.dim[one.rank] = one.stride[one.rank] = 0;
  one.data = (char *)v->data + i * v->stride[axis] * (int64_t)vt_cpu_bytes_of(v->dtype);
  return one;
}

void vt_cpu_copy(const vt_cpu_team *t, const vt_view *to, const vt_view *from) {
  const size_t size = (size_t)vt_cpu_bytes_of(to->dtype);
  if (to->rank == 0) {
    memcpy(to->data, from->data, size);
    return;
  }
  for (int64_t i = 0; i < to->dim[0]; i++) {
    const vt_view a = vt_cpu_at(to, 0, i), b = vt_cpu_at(from, 0, i);
    vt_cpu_copy(t, &a, &b);
  }
}

vt_status run_literal(vt_cpu_call *c) {
  const vt_attr_literal *a = c->attrs;
  memcpy(c->out->data, &a->bits, (size_t)vt_cpu_bytes_of(c->out->dtype));
  return VT_OK;
}
