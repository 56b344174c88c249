/* SPDX-License-Identifier: Apache-2.0
 * cuda_rows.c - rows on chip. */
#include "cuda_rows.h"

enum { THREADS = 128, ROWS = THREADS / VT_GPU_LANES };
/* Bytes of shared memory: what the kernels have by themselves; a chunk. */
enum { OWN = 8192 + 512, CHUNK_BYTES = VT_GPU_CHUNK * 4 };
enum { MOST_BESIDE = 4 };

static int is_dense(const vt_gpu_walk *along) {
  return along->n == 1 ||
         (along->rank == 1 && along->stride[0][0] == 1 && along->stride[1][0] == 1);
}

/* Few long rows are cut into chunks for the whole card; that takes more reads. */
vt_cuda_rowing vt_cuda_rows_how(const vt_cuda_call *c, const vt_cuda_lines *l) {
  const int64_t n = l->along.n;
  if (!is_dense(&l->along) || n == 0) return VT_CUDA_ROWS_PARTS;
  if (n <= VT_GPU_CHUNK) return VT_CUDA_ROWS_WARPS;
  if (n <= VT_GPU_ROW_CHUNKS * VT_GPU_CHUNK) return VT_CUDA_ROWS_BLOCK;
  if (n > VT_GPU_CHUNK * VT_GPU_CHUNK || 4 * l->lines.n < c->traits->processors)
    return VT_CUDA_ROWS_PARTS;
  return VT_CUDA_ROWS_LONG;
}

/* How long rows are shared: the chunks of one that stay on chip; the warps of its block, which have
 * as many chunks each as nearly as there can be; the blocks that a processor has at once, so that
 * one computes while another waits for memory. A row that has a processor for itself would wait
 * alone: there the next one is sent for early. Of a row that does not stay the rest is read again
 * from the card's cache, which has no room for the next one then. */
typedef struct sharing {
  int64_t keep, warps, beside;
} sharing;

/* The most warps, and then the most blocks, with whole rows on chip if there are several. */
static sharing share(const vt_cuda_call *c, int64_t chunks) {
  sharing best = {0, 0, 0};
  for (int64_t beside = 1; beside <= MOST_BESIDE; beside++) {
    const int64_t bytes = (c->traits->shared + VT_CUDA_SYSTEM) / beside - VT_CUDA_SYSTEM - OWN;
    const int64_t room = vt_cuda_most(bytes, 0) / CHUNK_BYTES;
    const int64_t warps = vt_cuda_parts(chunks, vt_cuda_parts(chunks, VT_GPU_LONG_WARPS / beside));
    if (beside > 1 && room < chunks) break;
    if (beside * warps >= best.beside * best.warps)
      best = (sharing){vt_cuda_least(chunks, room), warps, beside};
  }
  return best;
}

vt_status vt_cuda_rows_launch(vt_cuda_call *c, vt_cuda_rowing how, uint32_t warps, uint32_t block,
                              uint32_t longer, vt_gpu_rows *a) {
  const int64_t chunks = vt_cuda_parts(a->n, VT_GPU_CHUNK);
  const int64_t most = 32 * (int64_t)c->traits->processors;
  const uint32_t quarter = (uint32_t)vt_cuda_parts(a->n, VT_GPU_CHUNK / 4) - 1;
  vt_cuda_grid g = {(uint32_t)vt_cuda_least(a->lines.n, most), 1, 1, THREADS, 0};
  if (how == VT_CUDA_ROWS_WARPS) {
    g.x = (uint32_t)vt_cuda_least(vt_cuda_parts(a->lines.n, ROWS), most);
    return vt_cuda_launch(c, warps + quarter, g, a);
  }
  if (how == VT_CUDA_ROWS_BLOCK) {
    g.threads = (uint32_t)chunks * VT_GPU_LANES;
    return vt_cuda_launch(c, block, g, a);
  }
  const sharing s = share(c, chunks);
  a->keep = (uint32_t)s.keep;
  a->ahead = s.beside == 1 && s.keep == chunks;
  if (a->ahead) g.x = (uint32_t)vt_cuda_least(a->lines.n, c->traits->processors);
  g.threads = (uint32_t)s.warps * VT_GPU_LANES;
  g.shared = (uint32_t)s.keep * CHUNK_BYTES;
  return vt_cuda_launch(c, longer, g, a);
}

vt_status vt_cuda_rows_out(vt_cuda_call *c, uint32_t kernel, vt_gpu_rows *a) {
  const vt_cuda_lines l = {a->lines, a->along};
  a->beside = (uint32_t)vt_cuda_lines_beside(&l);
  return vt_cuda_launch(c, kernel, vt_cuda_line(c, a->lines.n * a->n, 1, 256), a);
}

/* ---- numbers of lines ---- */

static uint64_t mark_bytes(int64_t lines, uint32_t dtype) {
  return vt_cuda_aligned((uint64_t)lines * vt_cuda_bytes_of(dtype));
}

uint64_t vt_cuda_marks_bytes(int64_t lines, int64_t n, uint32_t dtype) {
  return 2 * mark_bytes(lines, dtype) + vt_cuda_fold_bytes(lines, n, dtype);
}

vt_cuda_marks vt_cuda_marks_of(const vt_cuda_call *c, int64_t lines, uint32_t dtype) {
  char *at = c->work;
  const uint64_t bytes = mark_bytes(lines, dtype);
  return (vt_cuda_marks){at, at + bytes, at + 2 * bytes};
}

vt_status vt_cuda_marks_fold(vt_cuda_call *c, const vt_cuda_lines *l, uint32_t kind, uint32_t touch,
                             const void *shift, void *to, void *rest) {
  vt_cuda_folding f = {.x = c->in[0].data,
                       .shift = shift,
                       .y = to,
                       .dtype = c->in[0].dtype,
                       .kind = kind,
                       .touch = touch,
                       .divisor = l->along.n,
                       .at = *l};
  vt_cuda_lines_number(&f.at.lines, 1, 1);
  return vt_cuda_fold(c, &f, rest);
}
