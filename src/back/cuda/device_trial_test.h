/* SPDX-License-Identifier: Apache-2.0
 * device_trial_test.h - for the tests of convolutions, pools and 8-bit integers: runs steps on a
 * device and with the op's reference kernel, on tensors that are transposed, have gaps, or have
 * negative or zero strides. A trial's host memory is copied to the device as a whole, and back. */
#ifndef VT_DEVICE_TRIAL_TEST_H
#define VT_DEVICE_TRIAL_TEST_H
#include "card_test.h"

enum { OPERANDS = 5 };

typedef struct trial {
  uint32_t op, n_in;
  const void *attrs;
  vt_view in[OPERANDS], out;
} trial;

/* ---- tensors ---- */

/* Adds a tensor whose axes are stored in random order, with gaps, reversed or repeated; a result
 * never has repeated axes. */
static vt_view add_random_layout_tensor(device *d, uint32_t dtype, uint32_t rank,
                                        const int64_t *dim, int with_specials, int is_result) {
  const int64_t bytes = (int64_t)vt_cuda_bytes_of(dtype);
  const int dense = random_between(0, 2) > 0, transposed = random_between(0, 2) == 0;
  vt_view v = {.dtype = dtype, .rank = rank};
  int64_t step = 1, low = 0;
  for (uint32_t i = 0; i < rank; i++) v.dim[i] = dim[i];
  for (uint32_t i = rank; i-- > 0;) {
    const uint32_t axis = !dense && transposed && rank > 1 ? (i + 1) % rank : i;
    v.stride[axis] = step;
    step *= dim[axis] > 0 ? dim[axis] : 1;
    if (!dense && random_between(0, 4) == 0) step += random_between(1, 5);
    if (!dense && !is_result && random_between(0, 9) == 0) v.stride[axis] = 0;
    if (!dense && random_between(0, 9) == 0 && dim[axis] > 0) {
      low += v.stride[axis] * (dim[axis] - 1);
      v.stride[axis] = -v.stride[axis];
    }
  }
  char *data = d->host + d->used;
  d->used =
      (d->used + (uint64_t)(step * bytes) + 15) / 16 * 16 + (random_between(0, 3) == 0 ? 8 : 0);
  if (d->used > CAPACITY) abort();
  for (int64_t i = 0; i < step; i++) store_random(data + i * bytes, dtype, with_specials);
  v.data = data + low * bytes;
  return v;
}

/* ---- runs ---- */

static void run_reference(const trial *t) {
  const vt_op_info *op = vt_op_get(t->op);
  vt_kernel k = {.in = t->in, .n_in = t->n_in, .out = &t->out, .n_out = 1, .attrs = t->attrs};
  k.work = malloc((op->work != NULL ? (size_t)op->work(t->in, t->n_in) : 0) + 1);
  CHECK(k.work != NULL && op->kernel(&k) == VT_OK);
  free(k.work);
}

static vt_view view_on_device(const device *d, vt_view v) {
  const uint64_t at = d->buffer + (uint64_t)((char *)v.data - d->host);
  memcpy(&v.data, &at, sizeof v.data);
  return v;
}

/* Issues the trial's step on the device by calling `issue`, with scratch that is filled with
 * NaNs. */
typedef vt_status issue_fn(vt_cuda_call *c, const void *context);
static void run_trial_on_device(device *d, const trial *t, uint64_t work_bytes, issue_fn *issue,
                                const void *context) {
  const vt_cu *cu = vt_cuda_card_driver(d->dev->card);
  vt_view in[OPERANDS], out = view_on_device(d, t->out);
  uint64_t work = 0;
  for (uint32_t i = 0; i < t->n_in; i++) in[i] = view_on_device(d, t->in[i]);
  vt_cuda_call c = {.dev = d->dev,
                    .traits = vt_cuda_card_traits(d->dev->card),
                    .in = in,
                    .n_in = t->n_in,
                    .out = &out,
                    .n_out = 1,
                    .attrs = t->attrs};
  CHECK(d->api->copy(d->dev, d->host, d->buffer, 0, d->used, 1) == VT_OK);
  CHECK(d->api->buffer_new(d->dev, work_bytes + 1, &work) == VT_OK);
  memcpy(&c.work, &work, sizeof c.work);
  CHECK(vt_cuda_card_enter(d->dev->card) == VT_OK);
  CHECK(vt_cuda_set_bytes(&c, c.work, 0xff, work_bytes) == VT_OK);
  CHECK(issue(&c, context) == VT_OK);
  CHECK(cu->cuStreamSynchronize(d->dev->stream) == VT_CU_SUCCESS);
  vt_cuda_card_leave(d->dev->card);
  CHECK(d->api->copy(d->dev, d->host, d->buffer, 0, d->used, 0) == VT_OK);
  d->api->buffer_free(d->dev, work);
}

/* Runs the reference kernel in the host's memory, moves that memory to `want`, and restores `host`.
 * The result must be the tensor that was added last. */
static uint64_t trial_compute_expected(device *d, const trial *t, uint64_t first) {
  memcpy(d->want, d->host, d->used);
  run_reference(t);
  for (uint64_t i = 0; i < d->used; i++) {
    const char was = d->want[i];
    d->want[i] = d->host[i];
    d->host[i] = was;
  }
  return first;
}

/* Compares all bytes from the result to the end, so that writes next to the result show too. */
static int trial_compare_results(const device *d, const trial *t, uint64_t first,
                                 const char *what) {
  const int64_t bad =
      count_differing_elements(d->want + first, d->host + first, d->used - first, t->out.dtype);
  if (bad != 0) fprintf(stderr, "%s: %lld differ\n", what, (long long)bad);
  CHECK(bad == 0);
  return bad == 0;
}

static vt_status issue_handler(vt_cuda_call *c, const void *context) {
  const vt_cuda_handler *h = context;
  return h->run(c);
}
static uint64_t handler_scratch_bytes(device *d, const trial *t) {
  const vt_cuda_handler *h = vt_cuda_handler_of(t->op);
  const vt_cuda_call c = {.dev = d->dev,
                          .traits = vt_cuda_card_traits(d->dev->card),
                          .in = t->in,
                          .n_in = t->n_in,
                          .out = &t->out,
                          .n_out = 1,
                          .attrs = t->attrs};
  return h->work == NULL ? 0 : h->work(&c);
}

/* Runs the trial as a program would. `first` is the offset of the result in the host's memory. */
static void trial_run_and_compare(device *d, const trial *t, uint64_t first, const char *what) {
  trial_compute_expected(d, t, first);
  run_trial_on_device(d, t, handler_scratch_bytes(d, t), issue_handler, vt_cuda_handler_of(t->op));
  trial_compare_results(d, t, first, what);
  d->used = 0;
}

#endif
