// SPDX-License-Identifier: Apache-2.0
// sort.cu - sorting. Few records are sorted by one thread block in shared memory. Many are sorted
// by digits from the lowest: prefix sums of digit counts tell each tile where its records go. The
// number of a record is the last part of its key, so every variant gives the same order. A tile
// is the records that one thread block handles.
#include "gpu_words.cuh"
#include "gpu_scan.cuh"
#include "gpu_sort.h"
#include "vt_words_cuda.h"
#include "order.inc"

// ---- records ----

VT_GPU_FN uint64_t record_key(uint64_t r) { return r >> 32; }
VT_GPU_FN uint64_t record_number(uint64_t r) { return r & UINT32_MAX; }
VT_GPU_FN bool record_is_less(uint64_t a, uint64_t b) { return a < b; }
VT_GPU_FN void record_make(uint64_t key, uint64_t number, uint64_t *out) {
  *out = key << 32 | number;
}

VT_GPU_FN uint64_t record_key(const vt_gpu_record &r) { return r.key; }
VT_GPU_FN uint64_t record_number(const vt_gpu_record &r) { return r.at; }
VT_GPU_FN bool record_is_less(const vt_gpu_record &a, const vt_gpu_record &b) {
  return a.key < b.key || (a.key == b.key && a.at < b.at);
}
VT_GPU_FN void record_make(uint64_t key, uint64_t number, vt_gpu_record *out) {
  out->key = key;
  out->at = number;
}

// A padding record that sorts after every real record.
template <class R>
VT_GPU_FN R padding_record() {
  R r;
  record_make(sizeof(R) == 8 ? (uint64_t)UINT32_MAX : UINT64_MAX,
              sizeof(R) == 8 ? (uint64_t)UINT32_MAX : UINT64_MAX, &r);
  return r;
}

// ---- lines ----

VT_GPU_FN uint64_t key_of_element(const vt_gpu_lines &l, int64_t at) {
  switch (l.kind) {
    case VT_GPU_KEY_F32:
      return vt_s_key(((const float *)l.x)[at]);
    case VT_GPU_KEY_F64:
      return vt_key(((const double *)l.x)[at]);
    case VT_GPU_KEY_I8:
      return ((const uint8_t *)l.x)[at] ^ 0x80u;
    case VT_GPU_KEY_I32:
      return ((const uint32_t *)l.x)[at] ^ 0x80000000u;
    case VT_GPU_KEY_I64:
      return ((const uint64_t *)l.x)[at] ^ UINT64_C(1) << 63;
    default:
      return ((const uint8_t *)l.x)[at];
  }
}

template <class R>
VT_GPU_FN R record_of_element(const vt_gpu_lines &l, const int64_t (&at)[3], int64_t i) {
  R r;
  record_make(key_of_element(l, at[0] + i * l.x_step) ^ l.invert, (uint64_t)i, &r);
  return r;
}

// Stores element `index` of a line as result i of the line.
VT_GPU_FN void store_result(const vt_gpu_lines &l, const int64_t (&at)[3], int64_t i,
                            int64_t index) {
  const int64_t from = at[0] + index * l.x_step, to = at[1] + i * l.values_step;
  l.indices[at[2] + i * l.indices_step] = index;
  if (l.values == nullptr) return;
  if (l.bytes == 1) ((uint8_t *)l.values)[to] = ((const uint8_t *)l.x)[from];
  if (l.bytes == 4) ((uint32_t *)l.values)[to] = ((const uint32_t *)l.x)[from];
  if (l.bytes == 8) ((uint64_t *)l.values)[to] = ((const uint64_t *)l.x)[from];
}

// ---- by one thread block: a bitonic sorting network ----

template <class R>
VT_GPU_FN void bitonic_step(R *r, unsigned slots, unsigned size, unsigned step) {
  for (unsigned p = threadIdx.x; p < slots / 2; p += blockDim.x) {
    const unsigned i = 2 * p - (p & (step - 1)), j = i + step;
    const R low = r[i], high = r[j];
    if (record_is_less(high, low) == ((i & size) == 0)) {
      r[i] = high;
      r[j] = low;
    }
  }
}

template <class R>
VT_GPU_FN void bitonic_sort(R *r, unsigned slots) {
  for (unsigned size = 2; size <= slots; size *= 2)
    for (unsigned step = size / 2; step > 0; step /= 2) {
      __syncthreads();
      bitonic_step(r, slots, size, step);
    }
  __syncthreads();
}

template <class R>
VT_GPU_FN void sort_tiles(const vt_gpu_sort_tiles &a) {
  R *r = vt_shared<R>();
  for (int64_t b = blockIdx.x; b < a.count * a.tiles; b += gridDim.x) {
    const int64_t line = b / a.tiles, tile = b - line * a.tiles, first = tile * a.slots;
    int64_t at[3];
    vt_offsets<3>(a.lines.walk, line, at);
    for (unsigned k = threadIdx.x; k < a.slots; k += blockDim.x) {
      const int64_t i = first + k;
      if (i >= a.n) {
        r[k] = padding_record<R>();
      } else if (a.from != nullptr) {
        r[k] = ((const R *)a.from)[line * a.n + i];
      } else {
        r[k] = record_of_element<R>(a.lines, at, i);
      }
    }
    bitonic_sort(r, a.slots);
    for (unsigned k = threadIdx.x; k < a.best; k += blockDim.x) {
      if (a.to != nullptr) {
        ((R *)a.to)[b * a.best + k] = r[k];
      } else {
        store_result(a.lines, at, k, (int64_t)record_number(r[k]));
      }
    }
    __syncthreads();
  }
}

VT_KERNEL(sort_tiles_short, vt_gpu_sort_tiles, 512) { sort_tiles<uint64_t>(a); }
VT_KERNEL(sort_tiles_long, vt_gpu_sort_tiles, 512) { sort_tiles<vt_gpu_record>(a); }

// ---- radix sort ----

template <class R>
VT_GPU_FN unsigned digit_of(const R &r, unsigned shift) {
  return (unsigned)(record_key(r) >> shift) & (VT_GPU_DIGITS - 1);
}

template <class R>
VT_GPU_FN void count_digits(const vt_gpu_sort_digit &a, unsigned *counts) {
  for (int64_t b = blockIdx.x; b < a.count * a.tiles; b += gridDim.x) {
    const int64_t line = b / a.tiles, tile = b - line * a.tiles, first = tile * VT_GPU_RADIX_TILE;
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int64_t i = first + threadIdx.x; i < first + VT_GPU_RADIX_TILE && i < a.n; i += VT_SCANNED)
      atomicAdd(&counts[digit_of(((const R *)a.from)[line * a.n + i], a.shift)], 1u);
    __syncthreads();
    a.counts[(line * VT_GPU_DIGITS + threadIdx.x) * a.tiles + tile] = counts[threadIdx.x];
  }
}

#define HISTOGRAM(name, R)                  \
  VT_KERNEL(name, vt_gpu_sort_digit, 256) { \
    __shared__ unsigned counts[VT_SCANNED]; \
    count_digits<R>(a, counts);             \
  }
HISTOGRAM(sort_histogram_short, uint64_t)
HISTOGRAM(sort_histogram_long, vt_gpu_record)

// A block's shared memory for a radix pass. counts: per warp, how many records with a digit it has,
// later how many the warps before it have. start: per digit, where the tile's first record with it
// goes.
typedef struct distribution {
  unsigned counts[VT_SCANNED / 32][VT_GPU_DIGITS];
  uint64_t start[VT_GPU_DIGITS], warps[VT_SCANNED / 32];
} distribution;

enum { ROWS = VT_GPU_RADIX_TILE / VT_SCANNED };  // records that a thread moves

// Returns how many of this warp's records before r have the same digit as r.
template <class R>
VT_GPU_FN unsigned rank_in_warp(unsigned *counts, const R &r, bool there, unsigned shift) {
  const unsigned lane = threadIdx.x % 32, digit = there ? digit_of(r, shift) : VT_GPU_DIGITS;
  const unsigned same = __match_any_sync(0xffffffffu, digit);
  const unsigned met = there ? counts[digit] : 0;
  __syncwarp();
  if (there && (same >> lane) == 1)
    // of the lanes with the same digit only the last one writes
    counts[digit] = met + (unsigned)__popc(same);
  __syncwarp();
  return met + (unsigned)__popc(same & ((1u << lane) - 1));
}

VT_GPU_FN void find_digit_starts(const vt_gpu_sort_digit &a, distribution *s, int64_t line,
                                 int64_t tile) {
  const int64_t digit = line * VT_GPU_DIGITS + threadIdx.x;
  uint64_t all;
  const uint64_t lower = vt_scan_block_exclusive(a.totals[digit], s->warps, &all);
  s->start[threadIdx.x] = lower + a.counts[digit * a.tiles + tile];
  unsigned before = 0;
  for (int w = 0; w < VT_SCANNED / 32; w++) {
    const unsigned here = s->counts[w][threadIdx.x];
    s->counts[w][threadIdx.x] = before;
    before += here;
  }
}

template <class R>
VT_GPU_FN void distribute_records(const vt_gpu_sort_digit &a, distribution *s) {
  const unsigned warp = threadIdx.x / 32;
  for (int64_t b = blockIdx.x; b < a.count * a.tiles; b += gridDim.x) {
    const int64_t line = b / a.tiles, tile = b - line * a.tiles;
    const int64_t first = tile * VT_GPU_RADIX_TILE + warp * (32 * ROWS) + threadIdx.x % 32;
    const R *from = (const R *)a.from + line * a.n;
    R *to = (R *)a.to + line * a.n, r[ROWS];
    unsigned rank[ROWS];
    for (int w = 0; w < VT_SCANNED / 32; w++) s->counts[w][threadIdx.x] = 0;
    __syncthreads();
    VT_UNROLL
    for (int k = 0; k < ROWS; k++) {
      const bool there = first + 32 * k < a.n;
      r[k] = there ? from[first + 32 * k] : padding_record<R>();
      rank[k] = rank_in_warp(s->counts[warp], r[k], there, a.shift);
    }
    __syncthreads();
    find_digit_starts(a, s, line, tile);
    __syncthreads();
    VT_UNROLL
    for (int k = 0; k < ROWS; k++) {
      const unsigned digit = digit_of(r[k], a.shift);
      if (first + 32 * k < a.n) to[s->start[digit] + s->counts[warp][digit] + rank[k]] = r[k];
    }
    __syncthreads();
  }
}

#define DISTRIBUTE(name, R)                 \
  VT_KERNEL(name, vt_gpu_sort_digit, 256) { \
    __shared__ distribution s;              \
    distribute_records<R>(a, &s);           \
  }
DISTRIBUTE(sort_distribute_short, uint64_t)
DISTRIBUTE(sort_distribute_long, vt_gpu_record)

VT_KERNEL(sort_scan, vt_gpu_scan, 256) {
  __shared__ uint64_t warps[VT_SCANNED / 32];
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    uint64_t before = 0, all;
    for (int64_t first = 0; first < a.n; first += VT_SCANNED, before += all) {
      uint64_t *x = a.x + row * a.n + first + threadIdx.x;
      const bool there = first + threadIdx.x < a.n;
      const uint64_t lower = vt_scan_block_exclusive(there ? *x : 0, warps, &all);
      if (there) *x = before + lower;
      __syncthreads();
    }
    if (threadIdx.x == 0) a.totals[row] = before;
  }
}

// Like sort_scan, which computes prefix sums, for short rows: one thread per row.
VT_KERNEL(sort_scan_short, vt_gpu_scan, 256) {
  for (int64_t row = vt_gpu_first_item(); row < a.rows; row += vt_gpu_grid_stride()) {
    uint64_t *x = a.x + row * a.n, before = 0;
    for (int64_t i = 0; i < a.n; i++) {
      const uint64_t here = x[i];
      x[i] = before;
      before += here;
    }
    a.totals[row] = before;
  }
}

// ---- records of lines ----

template <class R>
VT_GPU_FN void make_records(const vt_gpu_sort_keys &a) {
  for (int64_t i = vt_gpu_first_item(); i < a.count * a.n; i += vt_gpu_grid_stride()) {
    int64_t at[3];
    vt_offsets<3>(a.lines.walk, i / a.n, at);
    ((R *)a.records)[i] = record_of_element<R>(a.lines, at, i % a.n);
  }
}

VT_KERNEL(sort_keys_short, vt_gpu_sort_keys, 256) { make_records<uint64_t>(a); }
VT_KERNEL(sort_keys_long, vt_gpu_sort_keys, 256) { make_records<vt_gpu_record>(a); }

template <class R>
VT_GPU_FN void store_best_records(const vt_gpu_sort_keys &a) {
  for (int64_t i = vt_gpu_first_item(); i < a.count * a.best; i += vt_gpu_grid_stride()) {
    const int64_t line = i / a.best, k = i - line * a.best;
    int64_t at[3];
    vt_offsets<3>(a.lines.walk, line, at);
    store_result(a.lines, at, k, (int64_t)record_number(((const R *)a.records)[line * a.n + k]));
  }
}

VT_KERNEL(sort_results_short, vt_gpu_sort_keys, 256) { store_best_records<uint64_t>(a); }
VT_KERNEL(sort_results_long, vt_gpu_sort_keys, 256) { store_best_records<vt_gpu_record>(a); }
