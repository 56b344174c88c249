/* SPDX-License-Identifier: Apache-2.0
 * gpu_gemm.cuh - one tile of a matrix product, computed by one thread block. Both operands are
 * copied ahead of their use, several steps of BK at a time, to shared memory with k as the
 * outermost axis, for any strides of the operands. Each thread keeps TM x TN chains in registers.
 * The summation order is that of the numerics: chains of 256 products, in registers; sums of 8
 * chains, in shared memory; sums of 8 of those, and of 8 of these, in `levels` and in y. A thread
 * only touches its own sums there. A step is BK values of k, a stage is the shared memory of one
 * step's operands, a block is 256 values of k, a line is the values of one k. Operands are loaded
 * across k (along their rows or columns) or along k. The last step is cut, so products beyond k are
 * not computed. Rows and columns outside of the operands are zeros, and their results are not
 * stored. */
#ifndef VT_GPU_GEMM_CUH
#define VT_GPU_GEMM_CUH
#include "gpu_words.cuh"
#include "gpu_gemm.h"

/* ---- numbers ---- */

VT_GPU_FN float vt_gemm_fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
VT_GPU_FN double vt_gemm_fma(double a, double b, double c) { return __fma_rn(a, b, c); }
VT_GPU_FN float vt_gemm_add(float a, float b) { return __fadd_rn(a, b); }
VT_GPU_FN double vt_gemm_add(double a, double b) { return __dadd_rn(a, b); }

/* Loads 16 bytes as floats or doubles. */
VT_GPU_FN void vt_gemm_load_16(const float *p, float *v) {
  const float4 x = *(const float4 *)p;
  v[0] = x.x;
  v[1] = x.y;
  v[2] = x.z;
  v[3] = x.w;
}
VT_GPU_FN void vt_gemm_load_16(const double *p, double *v) {
  const double2 x = *(const double2 *)p;
  v[0] = x.x;
  v[1] = x.y;
}
VT_GPU_FN void vt_gemm_store_16(float *p, const float *v) {
  *(float4 *)p = make_float4(v[0], v[1], v[2], v[3]);
}
VT_GPU_FN void vt_gemm_store_16(double *p, const double *v) {
  *(double2 *)p = make_double2(v[0], v[1]);
}

/* ---- offsets ---- */

/* Returns the offset of product z in an operand. */
VT_GPU_FN int64_t vt_gemm_product_offset(const vt_gpu_gemm &a, const int64_t *step, int64_t z) {
  int64_t at = 0;
  VT_LOOP
  for (int r = (int)a.rank - 1; r >= 0; r--) {
    const int64_t up = z / a.dim[r];
    at += (z - up * a.dim[r]) * step[r];
    z = up;
  }
  return at;
}

/* Like vt_gemm_product_offset, with a fast path for product 0: most launches have only one product.
 */
VT_GPU_FN int64_t vt_gemm_fast_product_offset(const vt_gpu_gemm &a, const int64_t *step,
                                              int64_t z) {
  return z == 0 ? 0 : vt_gemm_product_offset(a, step, z);
}

/* How a kernel finishes its results: vt_gemm_plain stores them in y; vt_epilogue of
 * gpu_epilogue.cuh runs an epilogue on them. */
struct vt_gemm_plain {
  enum { THERE = 0 };
};

/* G results of a product, in groups of W contiguous ones: group u is row r[u] from column c[u], and
 * its first left[u] results exist. begin[i] is the offset of this product in side i of the
 * epilogue. */
template <class E, int G, int W>
struct vt_epilogue_here {
  enum { GROUPS = G / W };
  const E *made;
  const int64_t *begin;
  int64_t r[GROUPS], c[GROUPS];
  int left[GROUPS];
};

/* ---- an operand on its way into shared memory ---- */

/* A loader copies W elements across k by BK along k with T threads. A tile uses one of three
 * loaders, by the layout of its operand. `finish_load` is called for each k of a step after `load`
 * and completes what `load` started.
 *
 * vt_gemm_any loads any layout: single elements with 8 threads along k or all threads across k, or
 * 16 bytes across k at a time. The choice is the same for the whole launch. Strides between
 * accesses are in shared memory, to save registers. */
struct vt_gemm_steps {
  /* distances in elements: to this thread's next round of loads, and to the k that is 8 further */
  int64_t round, octet;
};
template <int WHICH>
VT_GPU_FN vt_gemm_steps &vt_gemm_shared_steps() {
  __shared__ vt_gemm_steps steps;
  return steps;
}

template <class E, int W, int BK, int T, int WHICH>
struct vt_gemm_any {
  enum {
    WHOLE = 0,
    V = 16 / (int)sizeof(E),
    /* elements from one line to the next, padded so that 8 neighbours along k by 4 across are in
     * different banks */
    PITCH = W + V,
    OCTET = W * 8 / T, /* rounds of loads for 8 values of k, if threads are along k */
    LINES = T / W,     /* values of k per round of loads, if threads are across k */
    WIDE_LINES = LINES * V
  };
  static_assert(OCTET * T == W * 8 && T % W == 0 && BK % 8 == 0 && BK % WIDE_LINES == 0,
                "threads share an operand evenly");
  const vt_gpu_side *side;
  const E *from;
  int to, k; /* offset in a stage of what this thread stores first, and the k to which it belongs */
  /* bit r is set if what this thread loads in round r of 8 values of k is inside of the operand */
  unsigned there;

  __device__ __forceinline__ void begin(const vt_gpu_side &s, int64_t product, int64_t first,
                                        int64_t limit, int64_t k0) {
    const int tid = (int)threadIdx.x, lanes = s.wide ? W / V : W;
    const int i = s.by_k ? tid / 8 : tid % lanes * (s.wide ? V : 1);
    const int64_t left = limit - first - i;
    side = &s;
    if (tid == 0)
      vt_gemm_shared_steps<WHICH>() = {s.by_k ? T / 8 * s.across : T / lanes * s.along,
                                       8 * s.along};
    k = s.by_k ? tid % 8 : tid / lanes;
    there = 0;
    VT_UNROLL
    for (int r = 0; r < OCTET; r++) there |= (unsigned)((s.by_k ? r * (T / 8) : 0) < left) << r;
    to = k * PITCH + i;
    from = (const E *)s.data + product + (first + i) * s.across + (k0 + k) * s.along;
  }

  /* Loads the next BK values of k, of which `left` exist. A barrier must separate the first call
   * from `begin`. */
  __device__ __forceinline__ void load(E *stage, int left) {
    const vt_gemm_steps step = vt_gemm_shared_steps<WHICH>();
    const E *at = from;
    stage += to;
    left -= k;
    if (side->by_k) {
      VT_UNROLL
      for (int h = 0; h < BK; h += 8) {
        const unsigned now = h < left ? there : 0;
        VT_UNROLL
        for (int r = 0; r < OCTET; r++, at += step.round)
          vt_async_copy_one(stage + h * PITCH + r * (T / 8), at, (now >> r & 1) != 0);
        at = from += step.octet;
      }
      return;
    }
    if (side->wide) {
      VT_UNROLL
      for (int r = 0; r < BK; r += WIDE_LINES, at += step.round)
        vt_async_copy_16(stage + r * PITCH, at, there != 0 && r < left);
    } else {
      VT_UNROLL
      for (int r = 0; r < BK; r += LINES, at += step.round)
        vt_async_copy_one(stage + r * PITCH, at, there != 0 && r < left);
    }
    from += BK / 8 * step.octet;
  }
  __device__ __forceinline__ void finish_load(E *, int) {}
};

/* Loads an operand that is contiguous across k, 16 bytes at a time. All steps and all W columns
 * exist; the last vector of a line may contain unused padding. */
template <class E, int W, int BK, int T, int WHICH>
struct vt_gemm_across {
  enum {
    WHOLE = 1,
    V = 16 / (int)sizeof(E),
    PITCH = W,
    LINES = T / (W / V), /* k per round */
    ROUNDS = BK / LINES
  };
  static_assert(LINES * (W / V) == T && ROUNDS * LINES == BK, "threads share an operand evenly");
  const E *from;
  int64_t round;
  int to;

  __device__ __forceinline__ void begin(const vt_gpu_side &s, int64_t product, int64_t first,
                                        int64_t, int64_t k0) {
    const int i = (int)threadIdx.x % (W / V) * V, k = (int)threadIdx.x / (W / V);
    from = (const E *)s.data + product + first + i + (k0 + k) * s.along;
    round = LINES * s.along;
    to = k * PITCH + i;
  }
  __device__ __forceinline__ void load(E *stage, int left) {
    VT_UNROLL
    for (int r = 0; r < ROUNDS; r++, from += round)
      vt_async_copy_16(stage + to + r * LINES * PITCH, from, left > 0);
  }
  __device__ __forceinline__ void finish_load(E *, int) {}
};

/* Loads an operand that is contiguous along k, 16 bytes at a time; all steps and all W lines exist.
 * The bytes wait in registers and are stored to four lines of the stage while other values are
 * multiplied. A warp stores 16 across by 8 along k, which are in 32 different banks. */
template <class E, int W, int BK, int T, int WHICH>
struct vt_gemm_along {
  enum {
    WHOLE = 1,
    V = 16 / (int)sizeof(E),
    PITCH = W + V,
    WARPS_K = BK / 8, /* warps along k */
    LINES = T / 32 / WARPS_K * 16,
    ROUNDS = W / LINES,
    SPACING = BK / 2 / ROUNDS
  };
  static_assert(V == 4 && ROUNDS * LINES == W && SPACING > 0, "threads share an operand evenly");
  const E *from;
  int64_t round;
  int to;
  E held[ROUNDS][V];

  __device__ __forceinline__ void begin(const vt_gpu_side &s, int64_t product, int64_t first,
                                        int64_t, int64_t k0) {
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5;
    const int i = warp / WARPS_K * 16 + (lane & 15), k = warp % WARPS_K * 8 + (lane >> 4) * V;
    from = (const E *)s.data + product + (first + i) * s.across + k0 + k;
    round = LINES * s.across;
    to = k * PITCH + i;
  }
  /* Starts the loads of a step. After the last step it loads that step once more, so that it needs
   * no branch. */
  __device__ __forceinline__ void load(E *, int left) {
    from -= left > 0 ? 0 : BK;
    VT_UNROLL
    for (int r = 0; r < ROUNDS; r++) vt_load_16_now(from + r * round, held[r]);
    from += BK;
  }
  /* Stores loaded values from registers to shared memory, in the second half of a step, when the
   * loads have completed. */
  __device__ __forceinline__ void finish_load(E *stage, int s) {
    VT_UNROLL
    for (int r = 0; r < ROUNDS; r++) {
      if (s != BK / 2 + r * SPACING) continue;
      VT_UNROLL
      for (int q = 0; q < V; q++) stage[to + r * LINES + q * PITCH] = held[r][q];
    }
  }
};

/* ---- a tile ---- */

/* Bytes of shared memory that a multiprocessor of the target architecture has. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 800
enum { VT_GEMM_SHARED = 164 << 10 };
#elif defined(__CUDA_ARCH__) && (__CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200)
enum { VT_GEMM_SHARED = 100 << 10 };
#else
enum { VT_GEMM_SHARED = 228 << 10 };
#endif
/* bytes of shared memory per block that the system reserves, and that this file declares
 * statically */
enum { VT_GEMM_RESERVED = 1024 + 128 };
__host__ __device__ constexpr int vt_gemm_clamp_1_to(int x, int most) {
  return most < 1 ? 1 : most < x ? most : x;
}

/* The part of the product that a thread block computes. It is in shared memory, because registers
 * are needed for chains. */
struct vt_gemm_position {
  void *y;        /* where the results of this product and slice of k are stored */
  int64_t m0, n0; /* first row and column of the tile */
  /* first row and column that this tile stores; a neighbouring tile stores those before */
  int64_t m1, n1;
  int64_t number, z; /* number of the tile, and number of its product */
  int64_t k0, k;     /* first k of this slice, and number of its k */
  uint32_t blocks;   /* number of blocks in this slice of k */
  int top;           /* number of levels of sums in memory */
};
VT_GPU_FN vt_gemm_position &vt_gemm_shared_position() {
  __shared__ vt_gemm_position here;
  return here;
}

/* Tiles are numbered in bands of 8 rows of tiles, so that thread blocks that run together share
 * operands in the cache. */
VT_GPU_FN vt_gemm_position vt_gemm_position_of(const vt_gpu_gemm &a, int rows, int columns) {
  vt_gemm_position h;
  h.number = a.first + blockIdx.x;
  const int64_t tiles = (int64_t)a.tiles_m * a.tiles_n;
  h.z = a.products == 1 ? 0 : h.number / tiles;
  const uint32_t at = (uint32_t)(h.number - h.z * tiles), band = 8 * a.tiles_n, b = at / band;
  const uint32_t in = at - b * band, height = min(8u, a.tiles_m - 8 * b);
  h.m0 = (int64_t)(8 * b + in % height) * rows;
  h.n0 = (int64_t)(in / height) * columns;
  h.m1 = h.m0;
  h.n1 = h.n0;
  h.k0 = blockIdx.y * a.slice;
  h.k = min(a.slice, a.k - h.k0);
  h.blocks = (uint32_t)((h.k + VT_GPU_BLOCK - 1) / VT_GPU_BLOCK);
  h.top = 0;
  for (uint64_t most = VT_GPU_GROUP; most < h.blocks; most *= VT_GPU_GROUP) h.top++;
  return h;
}

/* A tile of BM x BN results; A and B are the loaders of the operands. */
template <class E, int BM, int BN, int BK, int TM, int TN, int STAGES,
          template <class, int, int, int, int> class A = vt_gemm_any,
          template <class, int, int, int, int> class B = vt_gemm_any>
struct vt_gemm_tile {
  enum { V = 16 / (int)sizeof(E), T = BM / TM * (BN / TN), WARPS_N = BN / (8 * TN) };
  typedef A<E, BM, BK, T, 0> rows;
  typedef B<E, BN, BK, T, 1> columns;
  enum { STAGE = BK * (rows::PITCH + columns::PITCH), EACH = TM * TN / V };
  static_assert(BM % (4 * TM) == 0 && BN % (8 * TN) == 0 && VT_GPU_BLOCK % BK == 0,
                "a warp is 4 x 8 threads, and no step lies in two blocks");

  /* Returns the wanted number of resident blocks, or fewer if the shared memory of a multiprocessor
   * does not suffice. */
  static constexpr int fit(int wanted) {
    return vt_gemm_clamp_1_to(
        wanted,
        (int)(VT_GEMM_SHARED / ((STAGES * STAGE + BM * BN) * sizeof(E) + VT_GEMM_RESERVED)));
  }

  const vt_gpu_gemm &a;
  E acc[TM][TN];
  E fa[2][TM], fb[2][TN]; /* this thread's values of a and b for one k and for the next k */
  /* this thread's first row and column in the tile; offset of its sums in shared memory */
  int row, column, sums_offset;

  __device__ __forceinline__ vt_gemm_tile(const vt_gpu_gemm &args) : a(args) {}

  /* Sets this thread's row and column so that neighbouring lanes share rows or columns: then one
   * access of shared memory serves two lanes. */
  __device__ __forceinline__ void place_thread() {
    const int lane = (int)threadIdx.x & 31, warp = (int)threadIdx.x >> 5;
    row = warp / WARPS_N * 4 * TM + ((lane >> 3 & 2) | (lane & 1)) * V;
    column = warp % WARPS_N * 8 * TN + (lane >> 1 & 7) * V;
    sums_offset = STAGES * STAGE + (int)threadIdx.x * V;
  }

  /* ---- chains ---- */

  __device__ __forceinline__ void load_fragments(int into, int stage, int at) {
    const E *pa = vt_shared<E>() + stage + at * rows::PITCH + row;
    const E *pb = vt_shared<E>() + stage + BK * rows::PITCH + at * columns::PITCH + column;
    VT_UNROLL
    for (int i = 0; i < TM / V; i++) vt_gemm_load_16(pa + i * 4 * V, &fa[into][i * V]);
    VT_UNROLL
    for (int j = 0; j < TN / V; j++) vt_gemm_load_16(pb + j * 8 * V, &fb[into][j * V]);
  }

  /* Adds the products of one k to the chains. It alternates the direction along the columns, so
   * that the register read last is used first for the next row. */
  __device__ __forceinline__ void multiply(int from) {
    VT_UNROLL
    for (int i = 0; i < TM; i++) VT_UNROLL
    for (int c = 0; c < TN; c++) {
      const int j = i % 2 == 0 ? c : TN - 1 - c;
      acc[i][j] = vt_gemm_fma(fa[from][i], fb[from][j], acc[i][j]);
    }
  }

  __device__ __forceinline__ void clear() {
    VT_UNROLL
    for (int i = 0; i < TM; i++) VT_UNROLL
    for (int j = 0; j < TN; j++) acc[i][j] = 0;
  }

  /* ---- sums, in vectors of V results of a row; e numbers the vectors of this thread ---- */

  __device__ __forceinline__ E *sums_at(int e) { return vt_shared<E>() + sums_offset + e * V * T; }

  __device__ __forceinline__ E *level_at(const vt_gemm_position &h, int l, int e) {
    const int64_t before = (h.number * (h.top - 1) + (l - 1)) * (BM * BN);
    return (E *)a.levels + before + (e * T + (int)threadIdx.x) * V;
  }

  /* Computes the row, column and address of this thread's vector number e of results. Returns
   * whether the vector is inside of the product and stored by this tile. */
  __device__ __forceinline__ bool locate(const vt_gemm_position &h, int e, int64_t *r, int64_t *c,
                                         E **at) {
    const int i = e / (TN / V);
    *r = h.m0 + row + i / V * 4 * V + i % V;
    *c = h.n0 + column + e % (TN / V) * 8 * V;
    *at = (E *)h.y + *r * a.y_row + *c * a.y_column;
    return *r >= h.m1 && *c >= h.n1 && *r < a.m && *c < a.n;
  }

  /* Adds the chains of a complete block of k to the sums of its group. */
  __device__ __forceinline__ void close_chains(bool fresh) {
    VT_UNROLL
    for (int i = 0; i < TM; i++) VT_UNROLL
    for (int j = 0; j < TN; j += V) {
      E t[V] = {};
      if (!fresh) vt_gemm_load_16(sums_at((i * TN + j) / V), t);
      VT_UNROLL
      for (int q = 0; q < V; q++) {
        t[q] = vt_gemm_add(t[q], acc[i][j + q]);
        acc[i][j + q] = 0;
      }
      vt_gemm_store_16(sums_at((i * TN + j) / V), t);
    }
  }

  __device__ __forceinline__ void load_y(int64_t c, const E *at, E *v) {
    if (a.y_wide) {
      vt_gemm_load_16(at, v);
      return;
    }
    VT_UNROLL
    for (int q = 0; q < V; q++)
      if (c + q < a.n) v[q] = at[q * a.y_column];
  }
  __device__ __forceinline__ void store_y(int64_t c, E *at, const E *v) {
    if (a.y_wide) {
      vt_gemm_store_16(at, v);
      return;
    }
    VT_UNROLL
    for (int q = 0; q < V; q++)
      if (c + q < a.n) at[q * a.y_column] = v[q];
  }

  __device__ __forceinline__ void add(E *t, const E *v) {
    VT_UNROLL
    for (int q = 0; q < V; q++) t[q] = vt_gemm_add(t[q], v[q]);
  }

  /* Adds v to level l, or to +0 if the level is empty (fresh). The highest level is y. */
  __device__ __forceinline__ void add_to_level(const vt_gemm_position &h, int l, int e, bool fresh,
                                               const E *v) {
    int64_t r, c;
    E t[V] = {}, *at;
    if (l < h.top) {
      if (!fresh) vt_gemm_load_16(level_at(h, l, e), t);
      add(t, v);
      vt_gemm_store_16(level_at(h, l, e), t);
    } else if (locate(h, e, &r, &c, &at)) {
      if (!fresh) load_y(c, at, t);
      add(t, v);
      store_y(c, at, t);
    }
  }

  /* Adds group g, which is complete or the last, to the next level, and goes on upwards as long as
   * levels are complete. */
  __device__ __forceinline__ void carry_up(const vt_gemm_position &h, uint32_t g, bool last) {
    bool complete = true;
    VT_LOOP
    for (int l = 0; l < h.top && complete; l++) {
      VT_LOOP
      for (int e = 0; e < EACH; e++) {
        E v[V];
        vt_gemm_load_16(l == 0 ? sums_at(e) : level_at(h, l, e), v);
        add_to_level(h, l + 1, e, g % VT_GPU_GROUP == 0, v);
      }
      complete = last || g % VT_GPU_GROUP == VT_GPU_GROUP - 1;
      g /= VT_GPU_GROUP;
    }
  }

  /* Ends block number c of k: adds its chains to the sums of their group, and a complete group to
   * the levels. */
  __device__ __forceinline__ void end_block(uint32_t c) {
    const vt_gemm_position &h = vt_gemm_shared_position();
    const bool last = c + 1 == h.blocks;
    close_chains(c % VT_GPU_GROUP == 0);
    if (h.top > 0 && (last || c % VT_GPU_GROUP == VT_GPU_GROUP - 1))
      carry_up(h, c / VT_GPU_GROUP, last);
  }

  /* Loads the sums of vector number e from shared memory or from y, and adds the bias, if there is
   * one. */
  __device__ __forceinline__ void result(const vt_gemm_position &h, int e, int64_t r, int64_t c,
                                         const E *at, const E *biases, E *t) {
    if (h.top > 0) load_y(c, at, t);
    if (h.top == 0 && h.blocks > 0) vt_gemm_load_16(sums_at(e), t);
    if (biases == nullptr) return;
    const E *bias = biases + r * a.bias_row + c * a.bias_column;
    VT_UNROLL
    for (int q = 0; q < V; q++)
      if (c + q < a.n) t[q] = vt_gemm_add(t[q], bias[q * a.bias_column]);
  }

  __device__ __forceinline__ void store(const E *biases, const vt_gemm_plain &) {
    const vt_gemm_position &h = vt_gemm_shared_position();
    if (h.top > 0 && biases == nullptr) return;
#pragma unroll 2
    for (int e = 0; e < EACH; e++) {
      int64_t r, c;
      E t[V] = {}, *at;
      if (!locate(h, e, &r, &c, &at)) continue;
      result(h, e, r, c, at, biases, t);
      store_y(c, at, t);
    }
  }

  /* Finishes all results of this thread with `end`, four vectors at a time, because the loads of an
   * epilogue have a long latency. */
  template <class End>
  __device__ __forceinline__ void store(const E *biases, const End &end) {
    enum { GROUPS = 4 };
    static_assert(EACH % GROUPS == 0, "all are done");
    const vt_gemm_position &h = vt_gemm_shared_position();
    int64_t begin[End::SIDES];
    end.find(a, h.z, begin);
    VT_LOOP
    for (int e = 0; e < EACH; e += GROUPS) {
      E t[GROUPS * V] = {}, *at;
      vt_epilogue_here<E, GROUPS * V, V> here = {t, begin};
      VT_UNROLL
      for (int u = 0; u < GROUPS; u++) {
        const bool there = locate(h, e + u, &here.r[u], &here.c[u], &at);
        here.left[u] = there ? (int)min((int64_t)V, a.n - here.c[u]) : 0;
        if (there) result(h, e + u, here.r[u], here.c[u], at, biases, t + u * V);
      }
      end.put(here);
    }
  }

  /* ---- the whole ---- */

  /* Runs a full step. The last operands of a stage are loaded to registers before the stage is
   * released, and the first of the next stage before they are needed. */
  template <class F, class G>
  __device__ __forceinline__ void step(int &reads, F load, G arrive) {
    VT_UNROLL
    for (int s = 0; s < BK; s++) {
      arrive(s);
      if (s == BK - 1) reads = next_stage(reads);
      load_fragments((s + 1) % 2, reads, (s + 1) % BK);
      if (s == 0) load();
      multiply(s % 2);
    }
  }

  __device__ __forceinline__ int next_stage(int reads) {
    vt_async_wait<STAGES - 2>();
    __syncthreads();
    return reads == (STAGES - 1) * STAGE ? 0 : reads + STAGE;
  }

  /* Runs all steps of a slice of k with `k` products. send(stage, step, left) issues the loads of a
   * step, of which `left` k exist; after the last step left is 0. finish_load(stage, s) is called
   * for each k of the following step. before(t) is called ahead of step t. Loads are issued without
   * a branch around them, so that the compiler can interleave them with multiplications. */
  template <class S, class G, class F>
  __device__ __forceinline__ void run_steps(int64_t k, S send, G finish_load, F before) {
    const uint32_t steps = (uint32_t)((k + BK - 1) / BK);
    const int rest = (int)(k % BK);
    uint32_t sent = 0;
    /* offsets of the stage being written, of the stage being read, and of the stage written last */
    int writes = 0, reads = 0, last = 0;
    const auto load = [&] {
      const int left = sent + 1 == steps && rest != 0 ? rest : BK;
      send(vt_shared<E>() + writes, sent, sent < steps ? left : 0);
      sent++;
      vt_async_close_group();
      last = writes;
      writes = writes == (STAGES - 1) * STAGE ? 0 : writes + STAGE;
    };
    const auto arrive = [&](int s) { finish_load(vt_shared<E>() + last, s); };

    clear();
    VT_LOOP
    for (int s = 0; s < STAGES - 1; s++) {
      load();
      VT_UNROLL
      for (int at = 0; at < BK; at++) arrive(at);
    }
    vt_async_wait<STAGES - 2>();
    __syncthreads();
    load_fragments(0, reads, 0);
    VT_LOOP
    for (uint32_t t = 0; t < steps; t++) {
      before(t);
      if (t + 1 < steps || rest == 0) {
        step(reads, load, arrive);
      } else {
        VT_LOOP
        for (int s = 0; s < rest; s++) {
          load_fragments(0, reads, s);
          multiply(0);
        }
      }
      if ((t + 1) % (VT_GPU_BLOCK / BK) == 0 || t + 1 == steps) end_block(t / (VT_GPU_BLOCK / BK));
    }
  }

  template <class End>
  __device__ __forceinline__ void run(const End &end) {
    rows ra;
    columns rb;
    vt_gemm_position h = vt_gemm_position_of(a, BM, BN);
    /* The last tile of a row or column is moved back so that it is complete. Lines of b that exist
     * in whole vectors may be longer than those of y. */
    if (rows::WHOLE) h.m0 = min(h.m0, a.m - BM);
    if (columns::WHOLE) h.n0 = min(h.n0, (a.n - BN + V - 1) / V * V);
    ra.begin(a.a, vt_gemm_product_offset(a, a.a.step, h.z), h.m0, a.m, h.k0);
    rb.begin(a.b, vt_gemm_product_offset(a, a.b.step, h.z), h.n0, a.n, h.k0);
    h.y = (E *)a.y + vt_gemm_product_offset(a, a.y_step, h.z) + blockIdx.y * a.y_slice;
    if (threadIdx.x == 0) vt_gemm_shared_position() = h;
    place_thread();
    __syncthreads();
    run_steps(
        h.k,
        [&](E *stage, uint32_t, int left) {
          ra.load(stage, left);
          rb.load(stage + BK * rows::PITCH, left);
        },
        [&](E *stage, int s) {
          ra.finish_load(stage, s);
          rb.finish_load(stage + BK * rows::PITCH, s);
        },
        [](uint32_t) {});
    store((const E *)a.bias, end);
  }
};
#endif
