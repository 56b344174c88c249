/* SPDX-License-Identifier: Apache-2.0
 * gpu_products.cuh - the kernels that store results of products, as structs vt_<kernel>. A struct
 * is constructed from the kernel's arguments. run(end) is the kernel; `end` stores the results or
 * runs an epilogue on them.
 *   T         threads of a thread block
 *   RESIDENT  resident blocks per multiprocessor to limit registers for; 0 for no limit
 * gemm.cu and conv_tiles.cu compile them with vt_gemm_plain as the end. cuda_epilogue.c generates
 * texts that compile one of them with an epilogue as the end. */
#ifndef VT_GPU_PRODUCTS_CUH
#define VT_GPU_PRODUCTS_CUH
#include "gpu_conv.cuh"
#include "gpu_skinny.cuh"
#include "gpu_stream.cuh"
#include "gpu_sums.cuh"

/* ---- tiles ---- */

template <class Tile, int WANTED>
struct vt_product_tile : Tile {
  enum { RESIDENT = Tile::fit(WANTED) };
  using Tile::Tile;
};
#define VT_TILE(name, E, bm, bn, bk, tm, tn, stages, resident, speed, a_layout, b_layout)  \
  typedef vt_product_tile<                                                                 \
      vt_gemm_tile<E, bm, bn, bk, tm, tn, stages, vt_gemm_##a_layout, vt_gemm_##b_layout>, \
      resident>                                                                            \
      vt_##name;
#include "tiles.def"
#undef VT_TILE

template <class Tile, int WANTED>
struct vt_product_conv : Tile {
  enum { RESIDENT = WANTED };
  using Tile::Tile;
};
#define VT_CONV_TILE(name, E, bm, bn, bk, tm, tn, stages, resident, speed) \
  typedef vt_product_conv<vt_conv_tile<E, bm, bn, bk, tm, tn, stages>, resident> vt_##name;
#include "conv_tiles.def"
#undef VT_CONV_TILE

/* ---- skinny products, and sums of slices of k ---- */

template <int ROWS>
struct vt_product_skinny {
  enum { T = VT_GPU_SKINNY_THREADS, RESIDENT = 0 };
  const vt_gpu_gemm &g;
  template <class End>
  __device__ __forceinline__ void run(const End &end) const {
    vt_skinny<ROWS>(g, end);
  }
};
typedef vt_product_skinny<1> vt_skinny_4;
typedef vt_product_skinny<2> vt_skinny_8;
typedef vt_product_skinny<4> vt_skinny_16;

/* The kernel of stream_... FIT is the number of resident blocks that registers and shared memory
 * allow without an epilogue, when no limit is needed. An epilogue, which needs registers only at
 * the end, must not reduce that number. */
template <template <int> class Reader, int ROWS, int FIT>
struct vt_product_stream {
  enum { T = VT_GPU_STREAM_THREADS, RESIDENT = FIT };
  const vt_gpu_gemm &g;
  template <class End>
  __device__ __forceinline__ void run(const End &end) const {
    vt_stream<Reader, ROWS>(g, end);
  }
};
typedef vt_product_stream<vt_stream_across, 1, 10> vt_stream_across_1;
typedef vt_product_stream<vt_stream_across, 4, 6> vt_stream_across_4;
typedef vt_product_stream<vt_stream_along, 1, 6> vt_stream_along_1;
typedef vt_product_stream<vt_stream_along, 4, 5> vt_stream_along_4;

template <class E>
struct vt_product_sum {
  enum { T = 256, RESIDENT = 0 };
  const vt_gpu_gemm &g;
  template <class End>
  __device__ __forceinline__ void run(const End &end) const {
    vt_sum_slices<E>(g, end);
  }
};
typedef vt_product_sum<float> vt_sum_slices_f32;
typedef vt_product_sum<double> vt_sum_slices_f64;

/* ---- kernels ---- */

/* Defines the kernel `name`, which stores its results, with at most `resident` resident blocks per
 * multiprocessor to limit registers for. */
#define VT_KERNEL_PRODUCT(name, args, resident) \
  VT_KERNEL_RESIDENT(name, args, vt_##name::T, resident) { vt_##name{a}.run(vt_gemm_plain()); }
/* Defines a kernel that computes what `name` does and runs an epilogue, the struct
 * vt_epilogue_steps of the generated text. */
#define VT_KERNEL_EPILOGUE(kernel, name, args)                            \
  VT_KERNEL_RESIDENT(kernel, args, vt_##name::T, vt_##name::RESIDENT) {   \
    vt_##name{a.product}.run(vt_epilogue<vt_epilogue_steps>{a.epilogue}); \
  }
#endif
