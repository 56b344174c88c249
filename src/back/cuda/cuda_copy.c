/* SPDX-License-Identifier: Apache-2.0
 * cuda_copy.c - copies between tensors of one shape. Two contiguous tensors take one memory copy.
 * Tensors that are contiguous along the last axis are copied in pieces of up to 16 bytes. If one
 * is contiguous along rows and the other along columns, the copy is a transpose in square tiles.
 * A walk (gpu_walk.h) lists a tensor's axes and each operand's strides. */
#include "cuda_backend.h"
#include "cuda_walk.h"
#include "gpu_copy.h"

vt_view vt_cuda_subview_at(const vt_view *v, uint32_t axis, int64_t i) {
  vt_view at = *v;
  at.rank--;
  at.data = (char *)v->data + i * v->stride[axis] * (int64_t)vt_cuda_bytes_of(v->dtype);
  for (uint32_t k = axis; k < at.rank; k++) {
    at.dim[k] = v->dim[k + 1];
    at.stride[k] = v->stride[k + 1];
  }
  at.dim[at.rank] = at.stride[at.rank] = 0;
  return at;
}

/* ---- pieces ---- */

/* Returns 1 if the operand begins at a multiple of two elements and has even strides on all axes
 * but the last, so that pairs of elements are aligned. */
static int are_pairs_aligned(const vt_gpu_walk *w, uint32_t operand, const void *data,
                             uint32_t element_bytes) {
  int paired = (uintptr_t)data % (2 * element_bytes) == 0;
  for (uint32_t i = 0; i + 1 < w->rank; i++) paired = paired && w->stride[operand][i] % 2 == 0;
  return paired;
}

uint32_t vt_cuda_merge_pieces(vt_gpu_walk *w, uint32_t n, const void *const *data, uint32_t bytes) {
  const uint32_t last = w->rank - 1; /* the last axis; not used if there are no axes */
  int side_by_side = w->rank > 0;
  for (uint32_t k = 0; side_by_side && k < n; k++) side_by_side = w->stride[k][last] == 1;
  while (side_by_side && bytes < 16 && w->dim[last] % 2 == 0) {
    for (uint32_t k = 0; k < n; k++)
      if (!are_pairs_aligned(w, k, data[k], bytes)) return bytes;
    bytes *= 2;
    w->dim[last] /= 2;
    w->n /= 2;
    for (uint32_t k = 0; k < n; k++)
      for (uint32_t i = 0; i < last; i++) w->stride[k][i] /= 2;
  }
  return bytes;
}

/* ---- transposes ---- */

/* fewest rows and columns that are transposed in tiles: with less, most of a tile would be empty */
enum { LEAST_EXTENT = 8 };

static int find_long_contiguous_axis(const vt_gpu_walk *w, uint32_t operand) {
  for (uint32_t i = w->rank; i-- > 0;)
    if (w->stride[operand][i] == 1 && w->dim[i] >= LEAST_EXTENT) return (int)i;
  return -1;
}

/* Returns the walk without two of its axes. */
static vt_gpu_walk without_two_axes(const vt_gpu_walk *w, uint32_t a, uint32_t b) {
  vt_gpu_walk left = {.n = w->n / w->dim[a] / w->dim[b], .small = w->small};
  for (uint32_t i = 0; i < w->rank; i++) {
    if (i == a || i == b) continue;
    left.dim[left.rank] = w->dim[i];
    for (uint32_t k = 0; k < 2; k++) left.stride[k][left.rank] = w->stride[k][i];
    left.rank++;
  }
  return left;
}

/* Returns 1 if the copy is a transpose, with the kernel's arguments in *out. */
static int describe_as_transpose(const vt_gpu_copy *a, vt_gpu_transpose *out) {
  const vt_gpu_walk *w = &a->walk;
  if (w->n == 0) return 0;
  const int column = find_long_contiguous_axis(w, 0), row = find_long_contiguous_axis(w, 1);
  if (column < 0 || row < 0 || column == row) return 0;
  *out = (vt_gpu_transpose){.to = a->to,
                            .from = a->from,
                            .rows = w->dim[row],
                            .columns = w->dim[column],
                            .to_row = w->stride[0][row],
                            .from_column = w->stride[1][column],
                            .walk = without_two_axes(w, (uint32_t)row, (uint32_t)column)};
  return 1;
}

static vt_status run_transpose(vt_cuda_call *c, const vt_gpu_transpose *a, uint32_t element_bytes) {
  const int64_t squares = a->walk.n * vt_cuda_ceil_div(a->rows, VT_GPU_TRANSPOSE_TILE) *
                          vt_cuda_ceil_div(a->columns, VT_GPU_TRANSPOSE_TILE);
  const vt_cuda_grid grid = vt_cuda_grid_over(c, squares * 256, 1, 256);
  return vt_cuda_launch(c, VT_CUDA_SIZES(transpose)[element_bytes], grid, a);
}

/* ---- copies ---- */

vt_status vt_cuda_copy_view(vt_cuda_call *c, const vt_view *to, const vt_view *from) {
  const vt_view *const all[2] = {to, from};
  const void *const data[2] = {to->data, from->data};
  uint32_t bytes = vt_cuda_bytes_of(to->dtype);
  vt_gpu_copy args = {.to = to->data, .from = from->data, .walk = vt_cuda_walk(all, 2)};
  vt_gpu_transpose transpose;
  if (vt_cuda_is_dense(to) && vt_cuda_is_dense(from))
    return vt_cuda_copy_on_device(c, to->data, from->data, (uint64_t)args.walk.n * bytes);
  if (describe_as_transpose(&args, &transpose)) return run_transpose(c, &transpose, bytes);
  bytes = vt_cuda_merge_pieces(&args.walk, 2, data, bytes);
  return vt_cuda_launch(c, VT_CUDA_SIZES_TO_16(copy)[bytes],
                        vt_cuda_grid_over(c, args.walk.n, 4, 256), &args);
}
