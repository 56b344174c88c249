/* SPDX-License-Identifier: Apache-2.0
 * cuda_random.c - random numbers, each a function of seed, stream, step and position. The kernels
 * read seed and step from device memory. */
#include "cuda_backend.h"
#include "cuda_walk.h"
#include "gpu_random.h"

static vt_status launch_random(vt_cuda_call *c, uint32_t kernel) {
  const vt_view *y = c->out;
  const vt_gpu_random args = {.to = y->data,
                              .seed = c->in[0].data,
                              .step = c->in[1].data,
                              .stream = (uint32_t)((const vt_attr_random *)c->attrs)->stream,
                              .walk = vt_cuda_walk(&y, 1)};
  return vt_cuda_launch(c, kernel, vt_cuda_grid_over(c, args.walk.n, 4, 256), &args);
}

vt_status vt_cuda_run_random_uniform(vt_cuda_call *c) {
  return launch_random(c, VT_GPU_random_uniform);
}
vt_status vt_cuda_run_random_normal(vt_cuda_call *c) {
  return launch_random(c, VT_GPU_random_normal);
}
vt_status vt_cuda_run_random_bits(vt_cuda_call *c) { return launch_random(c, VT_GPU_random_bits); }
