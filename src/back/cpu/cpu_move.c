/* SPDX-License-Identifier: Apache-2.0
 * cpu_move.c - the ops that copy elements to positions known in advance: each op describes its
 * operands and its result as views of the same elements. */
#include "cpu_move.h"
#include <string.h>

vt_status vt_cpu_run_literal(vt_cpu_call *c) {
  const vt_attr_literal *a = c->attrs;
  memcpy(c->out->data, &a->bits, (size_t)vt_cpu_bytes_of(c->out->dtype));
  return VT_OK;
}

/* Reads the operand in the shape of the result, with stride 0 along broadcast axes. */
vt_status vt_cpu_run_broadcast(vt_cpu_call *c) {
  const vt_view *x = &c->in[0], *y = c->out;
  const uint32_t lead = y->rank - x->rank;
  vt_view wide = vt_cpu_repeat_element(y, x->data);
  for (uint32_t i = 0; i < x->rank; i++)
    if (x->dim[i] != 1) wide.stride[lead + i] = x->stride[i];
  vt_cpu_copy(c->team, y, &wide);
  return VT_OK;
}

vt_status vt_cpu_run_transpose(vt_cpu_call *c) {
  const vt_attr_list *perm = &((const vt_attr_perm *)c->attrs)->perm;
  vt_view transposed = c->in[0];
  for (uint32_t i = 0; i < transposed.rank; i++) {
    transposed.dim[i] = c->in[0].dim[perm->v[i]];
    transposed.stride[i] = c->in[0].stride[perm->v[i]];
  }
  vt_cpu_copy(c->team, c->out, &transposed);
  return VT_OK;
}

/* Strides are multiplied by the step of the slice, except along an axis of one result, where the
 * step may be so large that the product overflows. */
vt_status vt_cpu_run_slice(vt_cpu_call *c) {
  const vt_attr_slice *a = c->attrs;
  vt_view part = c->in[0];
  if (vt_cpu_count(c->out) == 0) return VT_OK;
  for (uint32_t i = 0; i < part.rank; i++) {
    part = vt_cpu_slice(&part, i, a->start.v[i], c->out->dim[i]);
    if (a->step.n != 0 && c->out->dim[i] > 1) part.stride[i] *= a->step.v[i];
  }
  vt_cpu_copy(c->team, c->out, &part);
  return VT_OK;
}

vt_status vt_cpu_run_concat(vt_cpu_call *c) {
  const uint32_t axis = (uint32_t)((const vt_attr_axis *)c->attrs)->axis;
  int64_t at = 0;
  for (uint32_t i = 0; i < c->n_in; at += c->in[i++].dim[axis]) {
    const vt_view part = vt_cpu_slice(c->out, axis, at, c->in[i].dim[axis]);
    vt_cpu_copy(c->team, &part, &c->in[i]);
  }
  return VT_OK;
}

/* Fills along one axis after the other, from the outermost: writes what is before and after x along
 * the axis, then goes on inside. So nothing is written twice. */
vt_status vt_cpu_run_pad(vt_cpu_call *c) {
  const vt_attr_pad *a = c->attrs;
  vt_view rest = *c->out;
  for (uint32_t i = 0; i < rest.rank; i++) {
    const int64_t low = a->low.v[i], n = c->in[0].dim[i], high = a->high.v[i];
    const vt_view before = vt_cpu_slice(&rest, i, 0, low);
    const vt_view after = vt_cpu_slice(&rest, i, low + n, high);
    const vt_view less = vt_cpu_repeat_element(&before, c->in[1].data);
    const vt_view more = vt_cpu_repeat_element(&after, c->in[1].data);
    vt_cpu_copy(c->team, &before, &less);
    vt_cpu_copy(c->team, &after, &more);
    rest = vt_cpu_slice(&rest, i, low, n);
  }
  vt_cpu_copy(c->team, &rest, &c->in[0]);
  return VT_OK;
}

/* ---- reshape ---- */

typedef struct reshape {
  const vt_view *to, *from;
  int64_t count;
  uint64_t jobs;
} reshape;

static void reshape_job(void *context, uint64_t job) {
  const reshape *r = context;
  const int64_t size = (int64_t)vt_cpu_bytes_of(r->to->dtype);
  const int64_t first = vt_cpu_job_first(r->count, r->jobs, job);
  vt_cpu_walk to = vt_cpu_walk_of(r->to), from = vt_cpu_walk_of(r->from);
  vt_cpu_walk_set(&to, first);
  vt_cpu_walk_set(&from, first);
  for (int64_t i = vt_cpu_job_first(r->count, r->jobs, job + 1) - first; i > 0; i--) {
    memcpy((char *)r->to->data + to.at[0] * size, (const char *)r->from->data + from.at[0] * size,
           (size_t)size);
    vt_cpu_walk_advance(&to, 1);
    vt_cpu_walk_advance(&from, 1);
  }
}

/* If x or y is dense, it is viewed in the shape of the other. Plans make results dense, so the case
 * in which neither is dense exists only for completeness. */
vt_status vt_cpu_run_reshape(vt_cpu_call *c) {
  const vt_view *x = &c->in[0], *y = c->out;
  if (vt_cpu_is_dense(y)) {
    const vt_view as = vt_cpu_reshape_view(y, x->rank, x->dim);
    vt_cpu_copy(c->team, &as, x);
  } else if (vt_cpu_is_dense(x)) {
    const vt_view as = vt_cpu_reshape_view(x, y->rank, y->dim);
    vt_cpu_copy(c->team, y, &as);
  } else {
    reshape r = {y, x, vt_cpu_count(y), 1};
    r.jobs = vt_cpu_job_count(c->team, (uint64_t)r.count, 10.0);
    vt_cpu_run_jobs(c->team, r.jobs, reshape_job, &r);
  }
  return VT_OK;
}

/* ---- iota ---- */

/* Writes each number once, at index 0 of the other axes; the caller then repeats them. */
static void write_iota_line(const vt_view *y, uint32_t axis) {
  const int64_t n = y->dim[axis], step = y->stride[axis];
  for (int64_t i = 0; i < n; i++) {
    if (y->dtype == VT_DTYPE_I32) ((int32_t *)y->data)[i * step] = (int32_t)(uint32_t)(uint64_t)i;
    if (y->dtype == VT_DTYPE_I64) ((int64_t *)y->data)[i * step] = i;
    if (y->dtype == VT_DTYPE_F32) ((float *)y->data)[i * step] = (float)i;
    if (y->dtype == VT_DTYPE_F64) ((double *)y->data)[i * step] = (double)i;
  }
}

vt_status vt_cpu_run_iota(vt_cpu_call *c) {
  const vt_view *y = c->out;
  const int64_t asked = ((const vt_attr_iota *)c->attrs)->axis;
  const uint32_t axis = (uint32_t)(asked < 0 ? asked + (int64_t)y->rank : asked);
  if (vt_cpu_count(y) == 0) return VT_OK;
  write_iota_line(y, axis);
  vt_view done = *y;
  for (uint32_t i = 0; i < y->rank; i++)
    if (i != axis) done.dim[i] = 1;
  for (uint32_t i = y->rank; i-- > 0;) {
    if (i == axis || y->dim[i] == 1) continue;
    vt_view rest = vt_cpu_slice(&done, i, 0, y->dim[i] - 1), from = rest;
    rest.data = (char *)y->data + y->stride[i] * (int64_t)vt_cpu_bytes_of(y->dtype);
    from.stride[i] = 0;
    vt_cpu_copy(c->team, &rest, &from);
    done.dim[i] = y->dim[i];
  }
  return VT_OK;
}

/* ---- compositions that are one copy, or a few ---- */

vt_status vt_cpu_run_flip(vt_cpu_call *c) {
  const vt_attr_list *axes = &((const vt_attr_axes *)c->attrs)->axes;
  vt_view flipped = c->in[0];
  if (vt_cpu_count(c->out) == 0) return VT_OK;
  for (uint32_t i = 0; i < flipped.rank; i++) {
    int named = axes->n == 0;
    for (int64_t k = 0; k < axes->n; k++) named |= axes->v[k] == (int64_t)i;
    if (!named) continue;
    flipped = vt_cpu_slice(&flipped, i, flipped.dim[i] - 1, flipped.dim[i]);
    flipped.stride[i] = -flipped.stride[i];
  }
  vt_cpu_copy(c->team, c->out, &flipped);
  return VT_OK;
}

/* Copies v `times` times, each copy `copy_step` elements further along axis `axis`. A single copy
 * with an added axis does it; if v has as many axes as a view can have, recursion removes the first
 * axis.
 * */
static void repeat_along_axis(const vt_cpu_team *t, const vt_view *v, uint32_t axis,
                              int64_t copy_step, int64_t times) {
  const int64_t distance = copy_step * v->stride[axis] * (int64_t)vt_cpu_bytes_of(v->dtype);
  vt_view from = *v, to = *v;
  to.data = (char *)v->data + distance;
  if (v->rank < VT_MAX_RANK) {
    from.dim[from.rank] = to.dim[to.rank] = times;
    from.stride[from.rank++] = 0;
    to.stride[to.rank++] = copy_step * v->stride[axis];
    vt_cpu_copy(t, &to, &from);
  } else if (axis == 0) {
    for (; times > 0; times--, to.data = (char *)to.data + distance) vt_cpu_copy(t, &to, &from);
  } else {
    for (int64_t i = 0; i < v->dim[0]; i++) {
      const vt_view one = vt_cpu_drop_axis(v, 0, i);
      repeat_along_axis(t, &one, axis - 1, copy_step, times);
    }
  }
}

vt_status vt_cpu_run_tile(vt_cpu_call *c) {
  const vt_view *x = &c->in[0], *y = c->out;
  vt_view done = *y;
  if (vt_cpu_count(y) == 0) return VT_OK;
  memcpy(done.dim, x->dim, sizeof done.dim);
  vt_cpu_copy(c->team, &done, x);
  for (uint32_t i = y->rank; i-- > 0;) {
    repeat_along_axis(c->team, &done, i, x->dim[i], y->dim[i] / x->dim[i] - 1);
    done.dim[i] = y->dim[i];
  }
  return VT_OK;
}
