/* SPDX-License-Identifier: Apache-2.0
 * cuda_bundle.c - distributes lines along any axis over thread blocks and launches the kernels of
 * bundle.cu. A bundle is some neighbouring lines, which thread blocks process together; S is the
 * summation order of docs/numerics.md. */
#include "cuda_bundle.h"

/* longest line that the kernels support, so that S has two levels and positions fit in an int */
enum { LONGEST = VT_GPU_CHUNK * VT_GPU_CHUNK };

static vt_gpu_bundle_layout bundle_layout_of(const vt_cuda_call *c, const vt_cuda_lines *l) {
  const vt_gpu_bundle_shape w = {l->lines.n, l->along.n, (int64_t)vt_cuda_bytes_of(c->in[0].dtype),
                                 vt_cuda_lines_are_interleaved(l, 0),
                                 vt_cuda_lines_are_interleaved(l, 1)};
  return vt_gpu_bundle_layout_of(vt_cuda_layout_limits(c), &w);
}

/* Returns 1 if one thread can process a line, and the lines of a warp's threads touch few memory
 * sectors. */
static int line_fits_one_thread(const vt_cuda_call *c, const vt_cuda_lines *l) {
  enum { PIECE = 64 };
  const int64_t n = l->along.n, bytes = n * (int64_t)vt_cuda_bytes_of(c->in[0].dtype);
  return n <= VT_GPU_SHORT && l->along.rank <= 1 &&
         (bytes <= PIECE || vt_cuda_lines_are_interleaved(l, 0));
}

int vt_cuda_bundle_fits(const vt_cuda_call *c, const vt_cuda_lines *l) {
  if (l->lines.n == 0 || l->along.n == 0 || l->along.n > LONGEST) return 0;
  if (line_fits_one_thread(c, l)) return 1;
  return bundle_layout_of(c, l).wide > 0;
}

uint64_t vt_cuda_bundle_scratch(const vt_cuda_call *c, const vt_cuda_lines *l) {
  if (line_fits_one_thread(c, l)) return 0;
  const vt_gpu_bundle_layout b = bundle_layout_of(c, l);
  const int64_t exchange =
      vt_gpu_bundle_exchange_bytes(b.wide, l->along.n, (int64_t)vt_cuda_bytes_of(c->in[0].dtype));
  return b.blocks == 1 ? 0 : (uint64_t)(b.teams * exchange);
}

vt_status vt_cuda_bundle_launch(vt_cuda_call *c, vt_cuda_bundle_kernels k, const vt_cuda_lines *l,
                                vt_gpu_bundle *a, void *exchange) {
  a->lines = l->lines;
  a->along = l->along;
  a->n = l->along.n;
  if (line_fits_one_thread(c, l))
    return vt_cuda_launch(c, k.shortest, vt_cuda_grid_over(c, l->lines.n, 1, VT_GPU_SHORT_THREADS),
                          a);
  const vt_gpu_bundle_layout b = bundle_layout_of(c, l);
  const vt_cuda_grid g = {(uint32_t)(b.teams * b.blocks), 1, 1, b.threads, b.shared};
  a->wide = (uint32_t)b.wide;
  a->step = (uint32_t)b.step;
  a->line_step = (uint32_t)b.line_step;
  a->blocks = (uint32_t)b.blocks;
  a->chunks = (uint32_t)b.chunks;
  a->x_interleaved = (uint32_t)vt_cuda_lines_are_interleaved(l, 0);
  a->y_interleaved = (uint32_t)vt_cuda_lines_are_interleaved(l, 1);
  a->exchange = exchange;
  a->arrived = c->dev->counters;
  return b.blocks == 1 ? vt_cuda_launch(c, k.bundle, g, a)
                       : vt_cuda_launch_cooperative(c, k.bundle, g, a);
}
