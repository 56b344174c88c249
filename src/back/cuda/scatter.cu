// SPDX-License-Identifier: Apache-2.0
// scatter.cu - scatters. Rows of updates are sorted by their position in the result; the first
// row of a position applies all rows of that position in ascending order. A thread has one
// element of a slice. S is the summation order of docs/numerics.md, in chunks of 1024 rows; a
// position with more rows has several chunks.
#include "gpu_words.cuh"
#include "gpu_lookup.h"
#include "gpu_sort.h"
#include "vt_words_cuda.h"
#include "order.inc"

#define REAL float
#define ZERO 0.0f
#define STATE vt_sum_f32
#define NAME(x) scatter_sum_##x
#include "sum.inc"
#define REAL double
#define ZERO 0.0
#define STATE vt_sum_f64
#define NAME(x) scatter_sum_##x
#include "sum.inc"

VT_GPU_FN float add_rounded(float x, float y) { return __fadd_rn(x, y); }
VT_GPU_FN double add_rounded(double x, double y) { return __dadd_rn(x, y); }

// ---- rows ----

VT_GPU_FN uint64_t position_of_sorted_row(const vt_gpu_scatter &a, int64_t i) {
  return a.wide ? ((const vt_gpu_record *)a.records)[i].key
                : ((const uint64_t *)a.records)[i] >> 32;
}
VT_GPU_FN int64_t number_of_sorted_row(const vt_gpu_scatter &a, int64_t i) {
  return (int64_t)(a.wide ? ((const vt_gpu_record *)a.records)[i].at
                          : ((const uint64_t *)a.records)[i] & UINT32_MAX);
}
// Returns whether two sorted rows exist and have the same position.
VT_GPU_FN bool have_same_position(const vt_gpu_scatter &a, int64_t sorted_row, int64_t other_row) {
  return other_row >= 0 && other_row < a.n &&
         position_of_sorted_row(a, other_row) == position_of_sorted_row(a, sorted_row);
}

// Returns the offset in the updates of the element of a sorted row whose offset in the row is
// `offset_in_row`.
VT_GPU_FN int64_t update_offset(const vt_gpu_scatter &a, int64_t sorted_row,
                                int64_t offset_in_row) {
  int64_t row[1];
  vt_offsets<1>(a.rows, number_of_sorted_row(a, sorted_row), row);
  return row[0] + offset_in_row;
}
VT_GPU_FN int64_t result_offset(const vt_gpu_scatter &a, int64_t sorted_row,
                                int64_t offset_in_slice) {
  int64_t place[1];
  vt_offsets<1>(a.places, (int64_t)position_of_sorted_row(a, sorted_row), place);
  return place[0] + offset_in_slice;
}

// Work item k: a sorted row and an element of it. Neighbouring threads have neighbouring elements.
typedef struct work_item {
  int64_t i, to, from, column;
} work_item;
VT_GPU_FN work_item work_item_of(const vt_gpu_scatter &a, int64_t k) {
  const int64_t i = k / a.slice;
  int64_t at[2];
  vt_offsets<2>(a.element, k - i * a.slice, at);
  return {i, at[0], at[1], k - i * a.slice};
}

// ---- scatter: the last row of a position wins ----

template <class T>
VT_GPU_FN void scatter_last_rows(const vt_gpu_scatter &a) {
  for (int64_t k = vt_gpu_first_item(); k < a.n * a.slice; k += vt_gpu_grid_stride()) {
    const work_item s = work_item_of(a, k);
    if (have_same_position(a, s.i, s.i + 1)) continue;
    ((T *)a.to)[result_offset(a, s.i, s.to)] = ((const T *)a.from)[update_offset(a, s.i, s.from)];
  }
}

VT_KERNEL(scatter_1, vt_gpu_scatter, 256) { scatter_last_rows<uint8_t>(a); }
VT_KERNEL(scatter_2, vt_gpu_scatter, 256) { scatter_last_rows<uint16_t>(a); }
VT_KERNEL(scatter_4, vt_gpu_scatter, 256) { scatter_last_rows<uint32_t>(a); }
VT_KERNEL(scatter_8, vt_gpu_scatter, 256) { scatter_last_rows<uint64_t>(a); }

// ---- scatter with add, max or min: rows are applied one after the other ----

template <class T>
struct scatter_add {
  // T is unsigned, because the sum may wrap
  VT_GPU_FN T of(T x, T y) { return (T)(x + y); }
};
template <class T>
struct scatter_max {
  VT_GPU_FN T of(T x, T y) { return x > y ? x : y; }
};
template <class T>
struct scatter_min {
  VT_GPU_FN T of(T x, T y) { return x < y ? x : y; }
};
template <>
struct scatter_max<float> {
  VT_GPU_FN float of(float x, float y) { return vt_s_max(x, y); }
};
template <>
struct scatter_min<float> {
  VT_GPU_FN float of(float x, float y) { return vt_s_min(x, y); }
};
template <>
struct scatter_max<double> {
  VT_GPU_FN double of(double x, double y) { return vt_max(x, y); }
};
template <>
struct scatter_min<double> {
  VT_GPU_FN double of(double x, double y) { return vt_min(x, y); }
};

template <class T, class F>
VT_GPU_FN void scatter_rows_in_order(const vt_gpu_scatter &a) {
  for (int64_t k = vt_gpu_first_item(); k < a.n * a.slice; k += vt_gpu_grid_stride()) {
    const work_item s = work_item_of(a, k);
    if (have_same_position(a, s.i, s.i - 1)) continue;
    T *to = (T *)a.to + result_offset(a, s.i, s.to);
    T y = *to;
    for (int64_t i = s.i; i == s.i || have_same_position(a, s.i, i); i++)
      y = F::of(y, ((const T *)a.from)[update_offset(a, i, s.from)]);
    *to = y;
  }
}

VT_KERNEL(scatter_add_8, vt_gpu_scatter, 256) {
  scatter_rows_in_order<uint8_t, scatter_add<uint8_t>>(a);
}
VT_KERNEL(scatter_add_32, vt_gpu_scatter, 256) {
  scatter_rows_in_order<uint32_t, scatter_add<uint32_t>>(a);
}
VT_KERNEL(scatter_add_64, vt_gpu_scatter, 256) {
  scatter_rows_in_order<uint64_t, scatter_add<uint64_t>>(a);
}
#define SCATTER_TWO(type, T)                           \
  VT_KERNEL(scatter_max_##type, vt_gpu_scatter, 256) { \
    scatter_rows_in_order<T, scatter_max<T>>(a);       \
  }                                                    \
  VT_KERNEL(scatter_min_##type, vt_gpu_scatter, 256) { \
    scatter_rows_in_order<T, scatter_min<T>>(a);       \
  }
SCATTER_TWO(f32, float)
SCATTER_TWO(f64, double)
SCATTER_TWO(i8, int8_t)
SCATTER_TWO(u8, uint8_t)
SCATTER_TWO(i32, int32_t)
SCATTER_TWO(i64, int64_t)

// ---- S ----
//
// The thread with the first row of a chunk adds the rows of that chunk. If a position has one chunk
// only, its result is complete then. Else the sum of each chunk goes to `partial`, and a second
// kernel computes S of these sums. At most two chunks of such positions begin in the same 1024
// sorted rows: the last one of a position and the first of the next.

enum { TERMS = 32, THREADS = 128 };  // TERMS: lanes of S; THREADS: threads of a block

// Returns the first sorted row that has the position of `sorted_row`, found by bisection.
VT_GPU_FN int64_t first_row_of_position(const vt_gpu_scatter &a, int64_t sorted_row) {
  const uint64_t place = position_of_sorted_row(a, sorted_row);
  int64_t low = 0, high = sorted_row;  // row `high` has the position, rows before `low` do not
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (position_of_sorted_row(a, middle) == place) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// If a chunk begins with `sorted_row`, returns the first sorted row of its position, else -1.
VT_GPU_FN int64_t first_row_if_chunk_begins(const vt_gpu_scatter &a, int64_t sorted_row) {
  if (!have_same_position(a, sorted_row, sorted_row - 1)) return sorted_row;
  if (!have_same_position(a, sorted_row, sorted_row - VT_GPU_CHUNK)) return -1;
  const int64_t first = first_row_of_position(a, sorted_row);
  return (sorted_row - first) % VT_GPU_CHUNK == 0 ? first : -1;
}

template <class T>
VT_GPU_FN T *partial_sum_at(const vt_gpu_scatter &a, int64_t first_row, int64_t sorted_row,
                            int64_t column) {
  const int64_t row = 2 * (sorted_row / VT_GPU_CHUNK) + (first_row == sorted_row);
  return (T *)a.partial + row * a.slice + column;
}

// Returns the number of rows of the chunk that begins with `sorted_row`.
VT_GPU_FN int count_chunk_rows(const vt_gpu_scatter &a, int64_t sorted_row) {
  int n = 1;
  while (n < VT_GPU_CHUNK && have_same_position(a, sorted_row, sorted_row + n)) n++;
  return n;
}

// Returns S of the chunk that begins with `sorted_row`. The lanes of S are in shared memory, one
// column per thread. An unused lane counts +0, which adds nothing.
template <class T>
VT_GPU_FN T chunk_sum(const vt_gpu_scatter &a, int64_t sorted_row, int64_t from,
                      T (*lane)[THREADS]) {
  const int n = count_chunk_rows(a, sorted_row), me = (int)threadIdx.x;
  const T *u = (const T *)a.from;
  for (int k = 0; k < n; k++) {
    const T x = u[update_offset(a, sorted_row + k, from)];
    lane[k % TERMS][me] = add_rounded(k < TERMS ? (T)0 : lane[k % TERMS][me], x);
  }
  for (int h = TERMS / 2; h > 0; h /= 2)
    for (int l = 0; l < h && l + h < n; l++)
      lane[l][me] = add_rounded(lane[l][me], lane[l + h][me]);
  return lane[0][me];
}

template <class T>
VT_GPU_FN void scatter_chunk_sums(const vt_gpu_scatter &a, T (*lane)[THREADS]) {
  for (int64_t k = vt_gpu_first_item(); k < a.n * a.slice; k += vt_gpu_grid_stride()) {
    const work_item s = work_item_of(a, k);
    const int64_t first = first_row_if_chunk_begins(a, s.i);
    if (first < 0) continue;
    const T sum = chunk_sum<T>(a, s.i, s.from, lane);
    if (first != s.i || have_same_position(a, s.i, s.i + VT_GPU_CHUNK)) {
      *partial_sum_at<T>(a, first, s.i, s.column) = sum;
    } else {
      T *to = (T *)a.to + result_offset(a, s.i, s.to);
      *to = add_rounded(*to, sum);
    }
  }
}

#define SCATTER_SUM(name, T)                 \
  VT_KERNEL(name, vt_gpu_scatter, THREADS) { \
    __shared__ T lane[TERMS][THREADS];       \
    scatter_chunk_sums<T>(a, lane);          \
  }
SCATTER_SUM(scatter_add_f32, float)
SCATTER_SUM(scatter_add_f64, double)

template <class T>
struct chunk_state;
template <>
struct chunk_state<float> {
  typedef vt_sum_f32 type;
};
template <>
struct chunk_state<double> {
  typedef vt_sum_f64 type;
};

template <class T>
VT_GPU_FN void scatter_sums_of_chunks(const vt_gpu_scatter &a) {
  for (int64_t k = vt_gpu_first_item(); k < a.n * a.slice; k += vt_gpu_grid_stride()) {
    const work_item s = work_item_of(a, k);
    if (have_same_position(a, s.i, s.i - 1) || !have_same_position(a, s.i, s.i + VT_GPU_CHUNK))
      continue;
    typename chunk_state<T>::type sum;
    scatter_sum_init(&sum);
    for (int64_t i = s.i; i == s.i || have_same_position(a, s.i, i); i += VT_GPU_CHUNK)
      scatter_sum_push(&sum, 0, *partial_sum_at<T>(a, s.i, i, s.column));
    T *to = (T *)a.to + result_offset(a, s.i, s.to);
    *to = add_rounded(*to, scatter_sum_done(&sum));
  }
}

VT_KERNEL(scatter_add_long_f32, vt_gpu_scatter, 256) { scatter_sums_of_chunks<float>(a); }
VT_KERNEL(scatter_add_long_f64, vt_gpu_scatter, 256) { scatter_sums_of_chunks<double>(a); }
