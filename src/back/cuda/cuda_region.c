/* SPDX-License-Identifier: Apache-2.0
 * cuda_region.c - loop and cond: issues the steps of a body once per execution. A loop's trip
 * count is known when the program is planned; the condition of a cond must be read from the card.
 * Carried values are those that a loop passes from one iteration to the next. */
#include "cuda_backend.h"
#include "gpu_fill.h"

static vt_status copy_unless_same_data(vt_cuda_call *c, const vt_view *to, const vt_view *from) {
  return to->data == from->data ? VT_OK : vt_cuda_copy_view(c, to, from);
}

static vt_status store_iteration_number(vt_cuda_call *c, const vt_view *to, int64_t i) {
  const vt_gpu_fill args = {.to = to->data, .bits = (uint64_t)i, .bytes = 8};
  return vt_cuda_launch(c, VT_GPU_store_one, (vt_cuda_grid){1, 1, 1, 32, 0}, &args);
}

/* Issues iteration i. A body's results never alias its arguments, so the results are copied to the
 * arguments one by one. */
static vt_status issue_iteration(vt_cuda_call *c, int64_t i, uint32_t n_carried,
                                 uint32_t n_sliced) {
  const vt_launch_body *b = &c->body[0];
  VT_TRY(store_iteration_number(c, &b->in[0], i));
  for (uint32_t e = n_carried; e < n_carried + n_sliced; e++) {
    const vt_view one = vt_cuda_subview_at(&c->in[e], 0, i);
    VT_TRY(copy_unless_same_data(c, &b->in[1 + e], &one));
  }
  if (!c->rehearsal || i == 0) VT_TRY(vt_cuda_body_issue(c, 0));
  for (uint32_t k = 0; k < n_carried; k++)
    VT_TRY(copy_unless_same_data(c, &b->in[1 + k], &b->out[k]));
  for (uint32_t k = n_carried; k < b->n_out; k++) {
    const vt_view one = vt_cuda_subview_at(&c->out[k], 0, i);
    VT_TRY(copy_unless_same_data(c, &one, &b->out[k]));
  }
  return VT_OK;
}

/* A rehearsal goes through only 16 iterations. They need all kernels: which kernel copies a slice
 * depends on the slice's address modulo 16, and 16 iterations have every possible remainder. The
 * body's own addresses do not change. */
enum { REHEARSED = 16 };

/* Runs a loop. Between iterations the carried values stay in the body's arguments. */
vt_status vt_cuda_run_loop(vt_cuda_call *c) {
  const vt_attr_loop *a = c->attrs;
  const uint32_t carried = (uint32_t)a->carried, each = (uint32_t)a->each;
  const int64_t count = c->rehearsal ? vt_cuda_min(a->count, REHEARSED) : a->count;
  const vt_launch_body *b = &c->body[0];
  for (uint32_t i = 0; i < c->n_in; i++)
    if (i < carried || i >= carried + each)
      VT_TRY(copy_unless_same_data(c, &b->in[1 + i], &c->in[i]));
  for (int64_t i = 0; i < count; i++) VT_TRY(issue_iteration(c, i, carried, each));
  for (uint32_t k = 0; k < carried; k++)
    VT_TRY(copy_unless_same_data(c, &c->out[k], &b->in[1 + k]));
  return VT_OK;
}

static vt_status issue_branch(vt_cuda_call *c, uint32_t branch) {
  const uint32_t first = (uint32_t)((const vt_attr_cond *)c->attrs)->first;
  const uint32_t from = branch == 0 ? 1 : 1 + first;
  const vt_launch_body *b = &c->body[branch];
  for (uint32_t i = 0; i < b->n_in; i++)
    VT_TRY(copy_unless_same_data(c, &b->in[i], &c->in[from + i]));
  VT_TRY(vt_cuda_body_issue(c, branch));
  for (uint32_t i = 0; i < b->n_out; i++) VT_TRY(copy_unless_same_data(c, &c->out[i], &b->out[i]));
  return VT_OK;
}

vt_status vt_cuda_run_cond(vt_cuda_call *c) {
  uint8_t truth = 0;
  VT_TRY(vt_cuda_fetch_to_host(c, &truth, c->in[0].data, 1));
  /* rehearse both branches, because a run may need either */
  if (c->rehearsal) VT_TRY(issue_branch(c, 0));
  return issue_branch(c, truth ? 0 : 1);
}
