// SPDX-License-Identifier: Apache-2.0
// lookup.cu - gathers, the positions of scatters, and nonzero. An index out of range is reported
// by index_check and read as position 0 here: a run with such an index returns an error and no
// result. A row of an index has the coordinates of a position.
#include "gpu_words.cuh"
#include "gpu_scan.cuh"
#include "gpu_lookup.h"
#include "gpu_sort.h"

// ---- the index ----

VT_GPU_FN int64_t load_index(const vt_gpu_lookup &l, int64_t at) {
  return l.wide ? ((const int64_t *)l.index)[at] : (int64_t)((const int32_t *)l.index)[at];
}

VT_GPU_FN int64_t position_of_index_row(const vt_gpu_lookup &l, int64_t at) {
  int64_t place = 0;
  for (unsigned i = 0; i < l.depth; i++, at += l.coordinate_step) {
    const int64_t x = load_index(l, at);
    if ((uint64_t)x < (uint64_t)l.limit[i]) place += x * l.stride[i];
  }
  return place;
}

VT_KERNEL(index_check, vt_gpu_check, 256) {
  for (int64_t i = vt_gpu_first_item(); i < a.walk.n; i += vt_gpu_grid_stride()) {
    int64_t at[1];
    vt_offsets<1>(a.walk, i, at);
    const int64_t limit = a.lookup.limit[a.lookup.depth == 1 ? 0 : i % a.lookup.depth];
    if ((uint64_t)load_index(a.lookup, at[0]) >= (uint64_t)limit)
      atomicMin(&a.fault->pending, (unsigned long long)i);
  }
}

// ---- gathers ----

template <class T>
VT_GPU_FN void gather_elements(const vt_gpu_gather &a) {
  for (int64_t i = vt_gpu_first_item(); i < a.walk.n; i += vt_gpu_grid_stride()) {
    int64_t at[3];
    vt_offsets<3>(a.walk, i, at);
    ((T *)a.to)[at[0]] = ((const T *)a.from)[at[1] + position_of_index_row(a.lookup, at[2])];
  }
}

VT_KERNEL(gather_1, vt_gpu_gather, 256) { gather_elements<uint8_t>(a); }
VT_KERNEL(gather_2, vt_gpu_gather, 256) { gather_elements<uint16_t>(a); }
VT_KERNEL(gather_4, vt_gpu_gather, 256) { gather_elements<uint32_t>(a); }
VT_KERNEL(gather_8, vt_gpu_gather, 256) { gather_elements<uint64_t>(a); }
VT_KERNEL(gather_16, vt_gpu_gather, 256) { gather_elements<uint4>(a); }

// ---- scatters: where each row goes ----

VT_KERNEL(scatter_find, vt_gpu_find, 256) {
  for (int64_t i = vt_gpu_first_item(); i < a.walk.n; i += vt_gpu_grid_stride()) {
    int64_t at[2];
    vt_offsets<2>(a.walk, i, at);
    const uint64_t place = (uint64_t)(at[0] + position_of_index_row(a.lookup, at[1]));
    if (a.wide) {
      vt_gpu_record *r = (vt_gpu_record *)a.records + i;
      r->key = place;
      r->at = (uint64_t)i;
    } else {
      ((uint64_t *)a.records)[i] = place << 32 | (uint64_t)i;
    }
  }
}

// ---- nonzero elements ----

template <class T>
VT_GPU_FN bool is_nonzero(const vt_gpu_list &a, int64_t i) {
  int64_t at[1];
  if (i >= a.walk.n) return false;
  vt_offsets<1>(a.walk, i, at);
  return (((const T *)a.x)[at[0]] & (T)a.mask) != 0;
}

// contiguous elements that a thread of nonzero tests
enum { LISTED_EACH = VT_GPU_LISTED / VT_SCANNED };

// Returns a mask: bit k is set if element k of this thread is nonzero.
template <class T>
VT_GPU_FN unsigned nonzero_bits(const vt_gpu_list &a, int64_t block) {
  const int64_t first = block * VT_GPU_LISTED + threadIdx.x * LISTED_EACH;
  unsigned bits = 0;
  for (int k = 0; k < LISTED_EACH; k++) bits |= (unsigned)is_nonzero<T>(a, first + k) << k;
  return bits;
}

template <class T>
VT_GPU_FN void count_nonzero_per_block(const vt_gpu_list &a, uint64_t *exchange) {
  for (int64_t b = blockIdx.x; b * VT_GPU_LISTED < a.walk.n; b += gridDim.x) {
    uint64_t all;
    vt_scan_block_exclusive((uint64_t)__popc(nonzero_bits<T>(a, b)), exchange, &all);
    if (threadIdx.x == 0) a.before[b] = (int64_t)all;
    __syncthreads();
  }
}

// Writes the coordinates of element i of x to row `row` of the result.
VT_GPU_FN void write_coordinates(const vt_gpu_list &a, int64_t row, int64_t i) {
  for (int r = (int)a.rank - 1; r >= 0; r--) {
    const int64_t up = i / a.dim[r];
    a.places[row * a.row + r * a.column] = i - up * a.dim[r];
    i = up;
  }
}

template <class T>
VT_GPU_FN void write_nonzero_coordinates(const vt_gpu_list &a, uint64_t *exchange) {
  for (int64_t b = blockIdx.x; b * VT_GPU_LISTED < a.walk.n; b += gridDim.x) {
    const unsigned bits = nonzero_bits<T>(a, b);
    const int64_t first = b * VT_GPU_LISTED + threadIdx.x * LISTED_EACH;
    uint64_t all;
    int64_t row =
        a.before[b] + (int64_t)vt_scan_block_exclusive((uint64_t)__popc(bits), exchange, &all);
    for (int k = 0; k < LISTED_EACH; k++) {
      if ((bits >> k & 1) == 0) continue;
      if (row < a.bound) write_coordinates(a, row, first + k);
      row++;
    }
    __syncthreads();
  }
}

#define LIST(bytes, T)                                 \
  VT_KERNEL(nonzero_count_##bytes, vt_gpu_list, 256) { \
    __shared__ uint64_t warps[VT_SCANNED / 32];        \
    count_nonzero_per_block<T>(a, warps);              \
  }                                                    \
  VT_KERNEL(nonzero_list_##bytes, vt_gpu_list, 256) {  \
    __shared__ uint64_t warps[VT_SCANNED / 32];        \
    write_nonzero_coordinates<T>(a, warps);            \
  }
LIST(1, uint8_t)
LIST(2, uint16_t)
LIST(4, uint32_t)
LIST(8, uint64_t)

// Writes -1 to the rows after the last nonzero element.
VT_KERNEL(nonzero_rest, vt_gpu_list, 256) {
  for (int64_t i = vt_gpu_first_item(); i < a.bound * a.rank; i += vt_gpu_grid_stride()) {
    const int64_t row = i / a.rank;
    if (row >= *a.total) a.places[row * a.row + (i - row * a.rank) * a.column] = -1;
  }
}
