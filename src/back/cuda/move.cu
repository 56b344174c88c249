// SPDX-License-Identifier: Apache-2.0
// move.cu - kernels that move elements: copy, transpose, reshape, pad, tile, iota. A plane is the
// two axes that a transpose swaps.
#include "gpu_words.cuh"
#include "gpu_copy.h"
#include "gpu_fill.h"

// ---- copies ----

template <class T>
VT_GPU_FN void copy_elements(const vt_gpu_copy &a) {
  for (int64_t i = vt_gpu_first_item(); i < a.walk.n; i += vt_gpu_grid_stride()) {
    int64_t at[2];
    vt_offsets<2>(a.walk, i, at);
    ((T *)a.to)[at[0]] = ((const T *)a.from)[at[1]];
  }
}

VT_KERNEL(copy_1, vt_gpu_copy, 256) { copy_elements<uint8_t>(a); }
VT_KERNEL(copy_2, vt_gpu_copy, 256) { copy_elements<uint16_t>(a); }
VT_KERNEL(copy_4, vt_gpu_copy, 256) { copy_elements<uint32_t>(a); }
VT_KERNEL(copy_8, vt_gpu_copy, 256) { copy_elements<uint64_t>(a); }
VT_KERNEL(copy_16, vt_gpu_copy, 256) { copy_elements<uint4>(a); }

// ---- transposes: read along rows, written along columns, through shared memory ----

// lines of a square tile that the threads of a block access at a time
enum { LINES = 256 / VT_GPU_TRANSPOSE_TILE };

// A square of a plane: its first row and column, and the offsets of the plane in both tensors.
typedef struct square {
  int64_t row, column, to, from;
} square;

VT_GPU_FN square transpose_square_of(const vt_gpu_transpose &a, int64_t i) {
  const int64_t across = (a.columns + VT_GPU_TRANSPOSE_TILE - 1) / VT_GPU_TRANSPOSE_TILE;
  const int64_t down = (a.rows + VT_GPU_TRANSPOSE_TILE - 1) / VT_GPU_TRANSPOSE_TILE;
  const int64_t plane = i / (across * down), rest = i - plane * across * down;
  int64_t at[2];
  vt_offsets<2>(a.walk, plane, at);
  return {rest / across * VT_GPU_TRANSPOSE_TILE, rest % across * VT_GPU_TRANSPOSE_TILE, at[0],
          at[1]};
}

template <class T>
VT_GPU_FN void transpose_planes(const vt_gpu_transpose &a, T (*tile)[VT_GPU_TRANSPOSE_TILE + 1]) {
  const int64_t across = (a.columns + VT_GPU_TRANSPOSE_TILE - 1) / VT_GPU_TRANSPOSE_TILE;
  const int64_t n =
      a.walk.n * across * ((a.rows + VT_GPU_TRANSPOSE_TILE - 1) / VT_GPU_TRANSPOSE_TILE);
  const int lane = (int)threadIdx.x % VT_GPU_TRANSPOSE_TILE,
            line = (int)threadIdx.x / VT_GPU_TRANSPOSE_TILE;
  for (int64_t i = blockIdx.x; i < n; i += gridDim.x) {
    const square s = transpose_square_of(a, i);
    const T *from = (const T *)a.from + s.from + s.row;
    T *to = (T *)a.to + s.to + s.column;
    for (int k = line; k < VT_GPU_TRANSPOSE_TILE; k += LINES)
      if (s.row + lane < a.rows && s.column + k < a.columns)
        tile[k][lane] = from[(s.column + k) * a.from_column + lane];
    __syncthreads();
    for (int k = line; k < VT_GPU_TRANSPOSE_TILE; k += LINES)
      if (s.row + k < a.rows && s.column + lane < a.columns)
        to[(s.row + k) * a.to_row + lane] = tile[lane][k];
    __syncthreads();
  }
}

#define TRANSPOSE(name, T)                                               \
  VT_KERNEL(name, vt_gpu_transpose, 256) {                               \
    __shared__ T tile[VT_GPU_TRANSPOSE_TILE][VT_GPU_TRANSPOSE_TILE + 1]; \
    transpose_planes<T>(a, tile);                                        \
  }
TRANSPOSE(transpose_1, uint8_t)
TRANSPOSE(transpose_2, uint16_t)
TRANSPOSE(transpose_4, uint32_t)
TRANSPOSE(transpose_8, uint64_t)

// ---- reshapes ----

template <class T>
VT_GPU_FN void reshape_elements(const vt_gpu_reshape &a) {
  for (int64_t i = vt_gpu_first_item(); i < a.to_walk.n; i += vt_gpu_grid_stride()) {
    int64_t to[1], from[1];
    vt_offsets<1>(a.to_walk, i, to);
    vt_offsets<1>(a.from_walk, i, from);
    ((T *)a.to)[to[0]] = ((const T *)a.from)[from[0]];
  }
}

VT_KERNEL(reshape_1, vt_gpu_reshape, 256) { reshape_elements<uint8_t>(a); }
VT_KERNEL(reshape_2, vt_gpu_reshape, 256) { reshape_elements<uint16_t>(a); }
VT_KERNEL(reshape_4, vt_gpu_reshape, 256) { reshape_elements<uint32_t>(a); }
VT_KERNEL(reshape_8, vt_gpu_reshape, 256) { reshape_elements<uint64_t>(a); }

// ---- pad and tile ----

template <class T>
VT_GPU_FN void pad_with_border(const vt_gpu_pad &a) {
  for (int64_t i = vt_gpu_first_item(); i < a.n; i += vt_gpu_grid_stride()) {
    int64_t to = 0, from = 0, rest = i;
    bool within = true;
    for (int r = (int)a.rank - 1; r >= 0; r--) {
      const int64_t up = rest / a.dim[r], here = rest - up * a.dim[r], x = here - a.low[r];
      to += here * a.to_stride[r];
      within = within && x >= 0 && x < a.x_dim[r];
      from += x * a.from_stride[r];
      rest = up;
    }
    ((T *)a.to)[to] = within ? ((const T *)a.from)[from] : *(const T *)a.value;
  }
}

VT_KERNEL(pad_1, vt_gpu_pad, 256) { pad_with_border<uint8_t>(a); }
VT_KERNEL(pad_2, vt_gpu_pad, 256) { pad_with_border<uint16_t>(a); }
VT_KERNEL(pad_4, vt_gpu_pad, 256) { pad_with_border<uint32_t>(a); }
VT_KERNEL(pad_8, vt_gpu_pad, 256) { pad_with_border<uint64_t>(a); }

template <class T>
VT_GPU_FN void repeat_tiles(const vt_gpu_pad &a) {
  for (int64_t i = vt_gpu_first_item(); i < a.n; i += vt_gpu_grid_stride()) {
    int64_t to = 0, from = 0, rest = i;
    for (int r = (int)a.rank - 1; r >= 0; r--) {
      const int64_t up = rest / a.dim[r], here = rest - up * a.dim[r];
      to += here * a.to_stride[r];
      from += here % a.x_dim[r] * a.from_stride[r];
      rest = up;
    }
    ((T *)a.to)[to] = ((const T *)a.from)[from];
  }
}

VT_KERNEL(tile_1, vt_gpu_pad, 256) { repeat_tiles<uint8_t>(a); }
VT_KERNEL(tile_2, vt_gpu_pad, 256) { repeat_tiles<uint16_t>(a); }
VT_KERNEL(tile_4, vt_gpu_pad, 256) { repeat_tiles<uint32_t>(a); }
VT_KERNEL(tile_8, vt_gpu_pad, 256) { repeat_tiles<uint64_t>(a); }

// ---- iota, and one value ----

VT_GPU_FN void convert_index(int64_t i, int32_t *to) { *to = (int32_t)(uint32_t)(uint64_t)i; }
VT_GPU_FN void convert_index(int64_t i, int64_t *to) { *to = i; }
VT_GPU_FN void convert_index(int64_t i, float *to) { *to = __ll2float_rn(i); }
VT_GPU_FN void convert_index(int64_t i, double *to) { *to = __ll2double_rn(i); }

template <class T>
VT_GPU_FN void store_axis_indices(const vt_gpu_count &a) {
  for (int64_t i = vt_gpu_first_item(); i < a.walk.n; i += vt_gpu_grid_stride()) {
    int64_t at[2];
    vt_offsets<2>(a.walk, i, at);
    convert_index(at[1], (T *)a.to + at[0]);
  }
}

VT_KERNEL(iota_i32, vt_gpu_count, 256) { store_axis_indices<int32_t>(a); }
VT_KERNEL(iota_i64, vt_gpu_count, 256) { store_axis_indices<int64_t>(a); }
VT_KERNEL(iota_f32, vt_gpu_count, 256) { store_axis_indices<float>(a); }
VT_KERNEL(iota_f64, vt_gpu_count, 256) { store_axis_indices<double>(a); }

VT_KERNEL(store_one, vt_gpu_fill, 32) {
  if (threadIdx.x != 0) return;
  if (a.bytes == 1) *(uint8_t *)a.to = (uint8_t)a.bits;
  if (a.bytes == 2) *(uint16_t *)a.to = (uint16_t)a.bits;
  if (a.bytes == 4) *(uint32_t *)a.to = (uint32_t)a.bits;
  if (a.bytes == 8) *(uint64_t *)a.to = a.bits;
}
