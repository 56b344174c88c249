/* SPDX-License-Identifier: Apache-2.0
 * layout.c - strides of dense tensors, and the view rules of views.def. */
#include <string.h>
#include "vt_layout.h"

void vt_layout_dense(const vt_type *t, vt_layout *out) {
  int64_t stride = 1;
  *out = (vt_layout){0};
  for (uint32_t i = t->rank; i-- > 0;) {
    out->stride[i] = stride;
    stride *= t->dim[i] > 0 ? t->dim[i] : 1;
  }
}

int vt_layout_is_dense(const vt_type *t, const vt_layout *l) {
  vt_layout dense;
  vt_layout_dense(t, &dense);
  return memcmp(dense.stride, l->stride, sizeof dense.stride) == 0;
}

uint64_t vt_layout_span_bytes(const vt_type *t, const vt_layout *l) {
  uint64_t last = 0;
  for (uint32_t i = 0; i < t->rank; i++) {
    if (t->dim[i] == 0) return 0;
    last += (uint64_t)(t->dim[i] - 1) * (uint64_t)l->stride[i];
  }
  return (last + 1) * vt_dtype_bytes(t->dtype);
}

/* ---- views ---- */

typedef struct vt_view_rule {
  const void *attrs;
  const vt_type *x, *y;  /* types of the operand and of the result */
  const vt_layout *from; /* layout of the operand */
  vt_layout *to;         /* layout of the result, written if it is a view */
} vt_view_rule;

/* A reshape keeps the row-major order of the elements. Its result is therefore only a view if the
 * operand is dense. */
static int view_reshape(const vt_view_rule *r) {
  if (!vt_layout_is_dense(r->x, r->from)) return 0;
  vt_layout_dense(r->y, r->to);
  r->to->first = r->from->first;
  return 1;
}

static int view_transpose(const vt_view_rule *r) {
  const vt_attr_perm *a = r->attrs;
  *r->to = (vt_layout){.first = r->from->first};
  for (uint32_t i = 0; i < r->y->rank; i++) r->to->stride[i] = r->from->stride[a->perm.v[i]];
  return 1;
}

/* An axis along which the operand is repeated gets stride 0. */
static int view_broadcast(const vt_view_rule *r) {
  const uint32_t new_axes = r->y->rank - r->x->rank;
  *r->to = (vt_layout){.first = r->from->first};
  for (uint32_t i = 0; i < r->x->rank; i++)
    if (r->x->dim[i] == r->y->dim[new_axes + i]) r->to->stride[new_axes + i] = r->from->stride[i];
  return 1;
}

/* An empty slice starts at the first element of its operand, because its own start may be beyond
 * the end. */
static int view_slice(const vt_view_rule *r) {
  const vt_attr_slice *a = r->attrs;
  uint64_t first = 0;
  int empty = 0;
  *r->to = (vt_layout){.first = r->from->first};
  for (uint32_t i = 0; i < r->y->rank; i++) {
    const int64_t step = a->step.n == 0 ? 1 : a->step.v[i];
    empty |= r->y->dim[i] == 0;
    first += (uint64_t)a->start.v[i] * (uint64_t)r->from->stride[i];
    r->to->stride[i] = r->y->dim[i] > 1 ? r->from->stride[i] * step : r->from->stride[i];
  }
  r->to->first += empty ? 0 : first;
  return 1;
}

static const struct {
  uint32_t op;
  int (*rule)(const vt_view_rule *r);
} views[] = {
#define VT_VIEW(name, function) {VT_OP_##name, function},
#include "views.def"
#undef VT_VIEW
};

int vt_op_result_view(uint32_t op, const void *attrs, const vt_type *x, const vt_layout *x_layout,
                      const vt_type *y, vt_layout *out_layout) {
  const vt_view_rule r = {attrs, x, y, x_layout, out_layout};
  for (size_t i = 0; i < sizeof views / sizeof *views; i++)
    if (views[i].op == op) return views[i].rule(&r);
  return 0;
}
