/* SPDX-License-Identifier: Apache-2.0
 * cuda_rows.c - rows in registers or shared memory: chooses and launches the kernel variant for
 * softmax and norms. A row is the line of a contiguous last axis; line statistics are two numbers
 * per line, for instance its mean and the sum of squares. */
#include "cuda_rows.h"
#include "gpu_row_layout.h"

enum { THREADS = 128, ROWS = THREADS / VT_GPU_LANES };

static int rows_are_dense(const vt_gpu_walk *along) {
  return along->n == 1 ||
         (along->rank == 1 && along->stride[0][0] == 1 && along->stride[1][0] == 1);
}

static vt_gpu_row_layout row_layout_of(const vt_cuda_call *c, int64_t lines, int64_t n) {
  return vt_gpu_row_layout_of(vt_cuda_layout_limits(c), lines, vt_cuda_ceil_div(n, VT_GPU_CHUNK));
}

vt_cuda_rows_variant vt_cuda_rows_choose_any_layout(const vt_cuda_call *c, const vt_cuda_lines *l) {
  return vt_cuda_bundle_fits(c, l) ? VT_CUDA_ROWS_BUNDLE : VT_CUDA_ROWS_PARTS;
}

vt_cuda_rows_variant vt_cuda_rows_choose(const vt_cuda_call *c, const vt_cuda_lines *l) {
  const int64_t n = l->along.n;
  if (!rows_are_dense(&l->along) || n <= VT_GPU_SHORT || n > VT_GPU_CHUNK * VT_GPU_CHUNK)
    return vt_cuda_rows_choose_any_layout(c, l);
  if (n <= VT_GPU_CHUNK) return VT_CUDA_ROWS_WARPS;
  if (n <= VT_GPU_ROW_CHUNKS * VT_GPU_CHUNK) return VT_CUDA_ROWS_BLOCK;
  const int can = c->traits->cooperative || row_layout_of(c, l->lines.n, n).blocks == 1;
  return can ? VT_CUDA_ROWS_LONG : VT_CUDA_ROWS_PARTS;
}

/* ---- long rows ---- */

uint64_t vt_cuda_rows_scratch(const vt_cuda_call *c, vt_cuda_rows_variant how,
                              const vt_cuda_lines *l) {
  if (how == VT_CUDA_ROWS_PARTS)
    return vt_cuda_line_stats_scratch(l->lines.n, l->along.n, c->in[0].dtype);
  if (how == VT_CUDA_ROWS_BUNDLE) return vt_cuda_bundle_scratch(c, l);
  if (how != VT_CUDA_ROWS_LONG) return 0;
  const vt_gpu_row_layout s = row_layout_of(c, l->lines.n, l->along.n);
  return s.blocks == 1 ? 0 : (uint64_t)s.teams * 2 * VT_GPU_CHUNK_BYTES;
}

static vt_status launch_long_rows(vt_cuda_call *c, uint32_t kernel, vt_gpu_rows *a) {
  const vt_gpu_row_layout s = row_layout_of(c, a->lines.n, a->n);
  const vt_cuda_grid g = {(uint32_t)(s.teams * s.blocks), 1, 1, (uint32_t)s.warps * VT_GPU_LANES,
                          s.shared};
  a->blocks = (uint32_t)s.blocks;
  a->chunks = (uint32_t)s.chunks;
  a->keep = (uint32_t)s.keep;
  a->exchange = c->work;
  a->arrived = c->dev->counters;
  return s.blocks == 1 ? vt_cuda_launch(c, kernel, g, a)
                       : vt_cuda_launch_cooperative(c, kernel, g, a);
}

vt_status vt_cuda_rows_launch(vt_cuda_call *c, vt_cuda_rows_variant how,
                              const uint32_t *warp_kernels, uint32_t block_kernel,
                              uint32_t long_kernel, vt_gpu_rows *a) {
  const int64_t chunks = vt_cuda_ceil_div(a->n, VT_GPU_CHUNK);
  const int64_t most = 32 * (int64_t)c->traits->processors;
  const uint32_t quarter = (uint32_t)vt_cuda_ceil_div(a->n, VT_GPU_CHUNK / 4) - 1;
  vt_cuda_grid g = {(uint32_t)vt_cuda_min(a->lines.n, most), 1, 1, THREADS, 0};
  if (how == VT_CUDA_ROWS_WARPS) {
    g.x = (uint32_t)vt_cuda_min(vt_cuda_ceil_div(a->lines.n, ROWS), most);
    return vt_cuda_launch(c, warp_kernels[quarter], g, a);
  }
  if (how == VT_CUDA_ROWS_BLOCK) {
    g.threads = (uint32_t)chunks * VT_GPU_LANES;
    return vt_cuda_launch(c, block_kernel, g, a);
  }
  return launch_long_rows(c, long_kernel, a);
}

vt_status vt_cuda_rows_launch_results(vt_cuda_call *c, uint32_t kernel, vt_gpu_rows *a) {
  const vt_cuda_lines l = {a->lines, a->along};
  a->interleaved = (uint32_t)vt_cuda_lines_are_interleaved(&l, 0);
  return vt_cuda_launch(c, kernel, vt_cuda_grid_over(c, a->lines.n * a->n, 1, 256), a);
}

/* ---- statistics of lines ---- */

static uint64_t line_array_bytes(int64_t lines, uint32_t dtype) {
  return vt_cuda_align_up((uint64_t)lines * vt_cuda_bytes_of(dtype));
}

uint64_t vt_cuda_line_stats_bytes(int64_t lines, uint32_t dtype) {
  return 2 * line_array_bytes(lines, dtype);
}

uint64_t vt_cuda_line_stats_scratch(int64_t lines, int64_t n, uint32_t dtype) {
  return vt_cuda_line_stats_bytes(lines, dtype) + vt_cuda_reduce_scratch(lines, n, dtype);
}

vt_cuda_line_stats vt_cuda_line_stats_in_scratch(const vt_cuda_call *c, int64_t lines,
                                                 uint32_t dtype) {
  char *at = c->work;
  const uint64_t bytes = line_array_bytes(lines, dtype);
  return (vt_cuda_line_stats){at, at + bytes, at + 2 * bytes};
}

vt_status vt_cuda_line_stats_reduce(vt_cuda_call *c, const vt_cuda_lines *l, uint32_t kind,
                                    uint32_t final_steps, const void *shift, void *to,
                                    void *scratch) {
  vt_cuda_reduction f = {.x = c->in[0].data,
                         .shift = shift,
                         .y = to,
                         .dtype = c->in[0].dtype,
                         .kind = kind,
                         .touch = final_steps,
                         .divisor = l->along.n,
                         .at = *l};
  vt_cuda_lines_set_consecutive(&f.at.lines, 1, 1);
  return vt_cuda_reduce(c, &f, scratch);
}
