/* SPDX-License-Identifier: Apache-2.0
 * cpu_region.c - the ops loop and cond: bodies run one after the other, and the whole team works on
 * each of their steps. */
#include "cpu_backend.h"

static void copy_view(const vt_cpu_call *c, const vt_view *to, const vt_view *from) {
  if (to->data != from->data) vt_cpu_copy(c->team, to, from);
}

/* Runs iteration i. Results of a body never alias its arguments, so they may be copied one by
 * one. */
static vt_status run_iteration(vt_cpu_call *c, int64_t i, uint32_t carried, uint32_t sliced) {
  const vt_launch_body *b = &c->body[0];
  *(int64_t *)b->in[0].data = i;
  for (uint32_t e = carried; e < carried + sliced; e++) {
    const vt_view one = vt_cpu_drop_axis(&c->in[e], 0, i);
    copy_view(c, &b->in[1 + e], &one);
  }
  VT_TRY(vt_cpu_body_run(c, 0));
  for (uint32_t k = 0; k < carried; k++) copy_view(c, &b->in[1 + k], &b->out[k]);
  for (uint32_t k = carried; k < b->n_out; k++) {
    const vt_view one = vt_cpu_drop_axis(&c->out[k], 0, i);
    copy_view(c, &one, &b->out[k]);
  }
  return VT_OK;
}

/* Runs the loop. The arguments of the body hold the carried values between iterations. */
vt_status vt_cpu_run_loop(vt_cpu_call *c) {
  const vt_attr_loop *a = c->attrs;
  const uint32_t carried = (uint32_t)a->carried, each = (uint32_t)a->each;
  const vt_launch_body *b = &c->body[0];
  for (uint32_t i = 0; i < c->n_in; i++)
    if (i < carried || i >= carried + each) copy_view(c, &b->in[1 + i], &c->in[i]);
  for (int64_t i = 0; i < a->count; i++) VT_TRY(run_iteration(c, i, carried, each));
  for (uint32_t k = 0; k < carried; k++) copy_view(c, &c->out[k], &b->in[1 + k]);
  return VT_OK;
}

vt_status vt_cpu_run_cond(vt_cpu_call *c) {
  const uint32_t first = (uint32_t)((const vt_attr_cond *)c->attrs)->first;
  const uint32_t which = *(const uint8_t *)c->in[0].data ? 0 : 1;
  const vt_launch_body *b = &c->body[which];
  const uint32_t from = which == 0 ? 1 : 1 + first;
  for (uint32_t i = 0; i < b->n_in; i++) copy_view(c, &b->in[i], &c->in[from + i]);
  VT_TRY(vt_cpu_body_run(c, which));
  for (uint32_t i = 0; i < b->n_out; i++) copy_view(c, &c->out[i], &b->out[i]);
  return VT_OK;
}
